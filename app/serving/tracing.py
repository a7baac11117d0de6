"""Traces by OpenTelemetry: batches of predictions, their scoring and storing, and runs. Off unless asked for.

``OTEL_EXPORTER_OTLP_ENDPOINT`` (or ``…_TRACES_ENDPOINT``) says where spans go, and further variables of
OpenTelemetry's own how; the extra ``telemetry`` brings what sends them. A span holds counts, kinds and short
ids, never a value, an id of a sender's or the words of an error, which may quote one.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from audits.errors import how_to_install
from audits.runs.executors.job import Run

_ASKED = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_SHORT = 8  # letters of an id: the whole one opens things
_log = logging.getLogger("evenhand")
_provider: Any = None


def set_up(exporter: Any = None) -> None:
    """Begin to trace, if the environment asks for it or an `exporter` of spans is given."""
    global _provider
    if exporter is None and not any(os.environ.get(name) for name in _ASKED):
        return
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor, SimpleSpanProcessor

        if exporter is None:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            processor: Any = BatchSpanProcessor(OTLPSpanExporter())
        else:
            processor = SimpleSpanProcessor(exporter)
    except ModuleNotFoundError as error:
        _log.warning("Nothing is traced: %s", how_to_install(str(error.name)))
        return
    name = os.environ.get("OTEL_SERVICE_NAME", "evenhand")
    _provider = TracerProvider(resource=Resource.create({"service.name": name}))
    _provider.add_span_processor(processor)


def close() -> None:
    """Send what waits, and trace no more."""
    global _provider
    if _provider is not None:
        _provider.shutdown()
    _provider = None


@contextmanager
def span(name: str, **facts: Any) -> Iterator[dict[str, Any]]:
    """Trace what is done within, with `facts` and what is added to them; of an error its kind alone."""
    if _provider is None:
        yield facts
        return
    tracer = _provider.get_tracer("evenhand")
    with tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as own:
        try:
            yield facts
        except BaseException as error:
            _mark_failed(own, type(error).__name__)
            raise
        finally:
            own.set_attributes(_plain(facts))


def follow(run: Run, audits: list[str]) -> None:
    """Trace a run from now, when it was asked for, until it is over."""
    if _provider is None:
        return
    facts = _plain({"run": run.key, "audits": audits})
    own = _provider.get_tracer("evenhand").start_span("run", attributes=facts)

    def end() -> None:
        own.set_attribute("status", run.status)
        if run.error is not None:
            _mark_failed(own, run.error.kind)
        own.end()

    run.on_end(end)


def _mark_failed(own: Any, kind: str) -> None:
    from opentelemetry.trace import StatusCode

    own.set_status(StatusCode.ERROR, kind)


def _plain(facts: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value[:_SHORT] if isinstance(value, str) and name in {"monitor", "run"} else value
        for name, value in facts.items()
    }
