"""Bodies on their way: what the web process reads itself, what is measured together, and what is traced."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.serving import tracing
from app.serving.ingestion import Ingest
from audits.errors import InputError
from audits.monitor.monitors import Monitors
from audits.monitor.scoring import Scorer
from audits.runs.executors.job import Run, RunError
from tests.monitor.conftest import ROW, store_of


class Slow(Scorer):
    """Notes how many people it is asked about at a time."""

    def __init__(self, pause: float = 0.1) -> None:
        super().__init__()
        self.pause = pause
        self.asked: list[int] = []

    def score(self, identity, bundle, columns, people):
        self.asked.append(people)
        time.sleep(self.pause)
        return super().score(identity, bundle, columns, people)


def test_what_waits_is_measured_together(bundle, tmp_path: Path):
    """A row that is wrong is its sender's alone."""
    monitors, scorer = Monitors(store_of(tmp_path)), Slow()
    monitor, _ = monitors.create(bundle, name="m")
    service = Ingest(monitors, scorer, tick_seconds=60.0)
    rows = [{**ROW, "skill": place / 10} for place in range(8)]
    rows[5]["skill"] = "many"
    bodies = [json.dumps({"rows": [row], "ids": [str(place)]}).encode() for place, row in enumerate(rows)]

    async def send() -> list:
        asked = [service.answer(monitor, body, "json", None) for body in bodies]
        return await asyncio.gather(*asked, return_exceptions=True)

    service.start()
    try:
        answers = asyncio.run(send())
    finally:
        service.close()
    refused = [place for place, each in enumerate(answers) if isinstance(each, InputError)]
    assert refused == [5]
    assert max(scorer.asked) > 1, "who waits is measured with others"
    for place, answer in enumerate(answers):
        if place not in refused:
            [row] = answer["rows"]
            assert row["id"] == str(place)
            assert row["sensitivity"] == pytest.approx(bundle.score([rows[place]]).sensitivity[0])
    assert monitors.get(monitor.id).people == 8 - len(refused)


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    tracing.set_up(exporter)
    yield exporter
    tracing.close()


def sent(service: Ingest, *bodies: dict) -> None:
    async def go() -> None:
        for body in bodies:
            with contextlib.suppress(InputError):
                await service.answer(monitor, json.dumps(body).encode(), "json", None)

    [monitor] = [service.monitors.get(each) for each in service.monitors.identities()]
    service.start()
    try:
        asyncio.run(go())
    finally:
        service.close()


def test_a_batch_is_traced_without_anything_of_anybody(bundle, tmp_path, spans):
    monitors = Monitors(store_of(tmp_path))
    monitor, token = monitors.create(bundle, name="Secret desk")
    row = {**ROW, "skill": 0.123456, "town": "north"}
    good = {"rows": [row, row], "ids": ["Jane Doe", "b"], "persons": ["Jane Doe", "c"]}
    sent(Ingest(monitors), good, {"rows": [{**row, "skill": "Jane Doe"}]})
    found = spans.get_finished_spans()
    assert {each.name for each in found} == {"monitor.batch", "monitor.score", "monitor.store"}
    batches = [each for each in found if each.name == "monitor.batch"]
    assert (batches[0].attributes["people"], batches[1].status.description) == (2, "InputError")
    told = " ".join(each.to_json() for each in found)
    assert monitor.id[:8] in told
    for secret in ("Jane", "Doe", "0.123456", "north", "Secret desk", monitor.id, token):
        assert secret not in told


def test_a_run_is_traced_until_it_is_over(spans):
    run = Run("0123456789abcdef", None)
    tracing.follow(run, ["groups", "flipset"])
    run.begin()
    run.fail(RunError("failed", "It read Jane Doe."))
    [found] = spans.get_finished_spans()
    assert dict(found.attributes) == {"run": "01234567", "audits": ("groups", "flipset"), "status": "failed"}
    assert "Jane" not in found.to_json()
