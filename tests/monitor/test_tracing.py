"""Traces: off unless asked for; what was done with how many, and nothing of anyone."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.serving import tracing
from app.serving.ingestion import Ingest
from audits.errors import InputError
from audits.monitor.monitors import Monitors
from audits.runs.executors.job import Run, RunError
from tests.monitor.conftest import ROW, store_of


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


def test_a_batch_is_traced_without_anything_of_anybody(bundle, forest, tmp_path, spans):
    for place, each in enumerate((bundle, forest)):
        home = tmp_path / str(place)
        home.mkdir()
        monitors = Monitors(store_of(home))
        monitor, token = monitors.create(each, name="Secret desk")
        row = {**ROW, "skill": 0.123456, "town": "north"}
        wrong = {**row, "skill": "Jane Doe"}
        good = {"rows": [row, row], "ids": ["Jane Doe", "b"], "persons": ["Jane Doe", "c"]}
        sent(Ingest(monitors), good, {"rows": [wrong]})
        found = {each.name: each for each in spans.get_finished_spans()}
        assert set(found) == {"monitor.batch", "monitor.score", "monitor.store"}
        batches = [each for each in spans.get_finished_spans() if each.name == "monitor.batch"]
        assert batches[0].attributes["people"] == 2
        assert batches[1].status.description == "InputError"
        [score] = [
            each
            for each in spans.get_finished_spans()
            if each.name == "monitor.score" and each.parent.span_id == batches[0].context.span_id
        ]
        assert score.attributes["people"] == 2
        told = " ".join(each.to_json() for each in spans.get_finished_spans())
        assert monitor.id[:8] in told
        for secret in ("Jane", "Doe", "0.123456", "north", "Secret desk", monitor.id, token):
            assert secret not in told
        spans.clear()


def test_a_run_is_traced_until_it_is_over(spans):
    run = Run("0123456789abcdef", None)
    tracing.follow(run, ["groups", "flipset"])
    assert not spans.get_finished_spans()
    run.begin()
    run.fail(RunError("failed", "It read Jane Doe."))
    [found] = spans.get_finished_spans()
    assert dict(found.attributes) == {"run": "01234567", "audits": ("groups", "flipset"), "status": "failed"}
    assert "Jane" not in found.to_json()


def test_nothing_is_traced_unasked(monkeypatch):
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    tracing.set_up()
    assert tracing._provider is None
    with tracing.span("monitor.batch", people=1) as told:
        told["alarms"] = 0
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    tracing.set_up()
    assert tracing._provider is not None
    tracing.close()
