"""Requests that come at once are measured first and then stored together; one alone is stored as well."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from app.serving.ingestion import Answer, Ingest
from audits.monitor.monitors import Batch, KeptMonitor, Monitors
from tests.monitor.conftest import ROW, store_of

BODY = json.dumps({"rows": [ROW]}).encode()


@pytest.mark.parametrize("many", [1, 8])
def test_requests_that_are_there_share_a_transaction(bundle, tmp_path: Path, monkeypatch, many):
    monitors = Monitors(store_of(tmp_path))
    monitor, _ = monitors.create(bundle, name="m")
    together = list[int]()

    def store(batches: list[Batch]) -> list:
        together.append(len(batches))
        return Monitors.store(monitors, batches)

    monkeypatch.setattr(monitors, "store", store)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # the writing thread gets its turn whenever it has something to do
    service = Ingest(monitors, tick_seconds=60.0)
    service.start()
    try:
        answers = asyncio.run(at_once(service, monitor, many))
    finally:
        service.close()
        sys.setswitchinterval(interval)
    assert together == [many]
    assert sorted(json.loads(each.text)["batch"] for each in answers) == list(range(many))


async def at_once(service: Ingest, monitor: KeptMonitor, many: int) -> list[Answer]:
    return await asyncio.gather(*(service.answer(monitor, BODY, "json", None) for _ in range(many)))
