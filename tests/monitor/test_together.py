"""Requests that wait together are stored together, each once; one alone is stored as well."""

from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path

import pytest

from app.serving.ingest import Answer, Ingest
from audits.runs.monitoring.monitors import Batch, KeptMonitor, Monitors
from tests.monitor.conftest import ROW, store_of

BODY = json.dumps({"rows": [ROW]}).encode()


@pytest.mark.parametrize("many", [0, 8])
def test_requests_that_wait_share_a_transaction(bundle, tmp_path: Path, monkeypatch, many):
    """The first request is held inside its transaction until all the others wait."""
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle, name="m")
    together = list[int]()
    writing, go_on = threading.Event(), threading.Event()

    def store(batches: list[Batch]) -> list:
        together.append(len(batches))
        writing.set()
        assert go_on.wait(60)
        return Monitors.store(monitors, batches)

    monkeypatch.setattr(monitors, "store", store)
    service = Ingest(monitors, tick_seconds=60.0)
    service.start()
    try:
        answers = asyncio.run(one_and_then(service, monitor, many, writing, go_on))
    finally:
        go_on.set()
        service.close()
    assert sum(together) == 1 + many
    assert len(together) == (2 if many else 1), "those who waited share one transaction"
    assert sorted(json.loads(each.text)["batch"] for each in answers) == list(range(1 + many))


async def one_and_then(
    service: Ingest, monitor: KeptMonitor, many: int, writing: threading.Event, go_on: threading.Event
) -> list[Answer]:
    first = asyncio.create_task(service.answer(monitor, BODY, "json", None))
    assert await asyncio.to_thread(writing.wait, 60)
    rest = [asyncio.create_task(service.answer(monitor, BODY, "json", None)) for _ in range(many)]
    while service._waiting < 1 + many or any(kept._jobs for kept in service._gathering.values()):
        await asyncio.sleep(0.01)
    go_on.set()
    return [await first, *await asyncio.gather(*rest)]
