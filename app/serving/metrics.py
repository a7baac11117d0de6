"""``/metrics`` for Prometheus: what monitors count, for whoever has the server's token for it."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from app.serving.monitor_api import INGEST
from audits.errors import RunFailed
from audits.runs.version import VERSION

_FAMILIES: dict[str, tuple[type[CounterMetricFamily | GaugeMetricFamily], str, str]] = {
    "people": (CounterMetricFamily, "people", "People measured"),
    "flagged": (CounterMetricFamily, "flagged", "People flagged"),
    "batches": (CounterMetricFamily, "batches", "Batches stored"),
    "chart": (GaugeMetricFamily, "chart_ratio", "Chart of flags as a share of its limit"),
    "waiting": (GaugeMetricFamily, "alarms_waiting", "Unacknowledged alarms"),
    "lasting": (GaugeMetricFamily, "alarms_lasting", "Alarms whose condition persists"),
    "dead": (GaugeMetricFamily, "messages_dead", "Undelivered messages"),
}
_TOKEN = "EVENHAND_METRICS_TOKEN"  # noqa: S105  (the name of the variable)


async def metrics(request: Request) -> Response:
    """Answer Prometheus; everyone else is told how to switch this on."""
    wanted = os.environ.get(_TOKEN, "")
    if not wanted:
        return JSONResponse({"error": f"Metrics are switched on by {_TOKEN}."}, status_code=404)
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), wanted.encode()):
        sentence = f"Send what {_TOKEN} says as Authorization: Bearer TOKEN."
        return JSONResponse({"error": sentence}, status_code=401, headers={"WWW-Authenticate": "Bearer"})
    try:
        text = await run_in_threadpool(_text)
    except RunFailed as error:
        return JSONResponse({"error": str(error)}, status_code=503)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


def _text() -> bytes:
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Monitors())
    return generate_latest(registry)


class _Monitors:
    """What Prometheus collects: one row of numbers a monitor, by its id and name."""

    def collect(self) -> Iterator[Metric]:
        """Read the numbers."""
        families = {
            key: family(f"evenhand_monitor_{name}", words, labels=["monitor", "name"])
            for key, (family, name, words) in _FAMILIES.items()
        }
        version = GaugeMetricFamily("evenhand_info", "The version that runs", labels=["version"])
        version.add_metric([VERSION], 1)
        for row in INGEST.monitors.overview():
            for key, family in families.items():
                family.add_metric([row["id"], row["name"]], row[key])
        yield version
        yield from families.values()
