"""The monitor under load: the whole app in one process, as many predictions by HTTP as go.

    python -m benchmarks.monitor http [--train forest|boosting|logistic|mlp] [--seconds 5]

Single rows, and batches of 1,000, measured by a network where `--train` does not say otherwise.

Processor time is of the server and of all the processes that it started, which says more than the clock
where others use the machine. Needs ../shared/data (COMPAS). What a request is answered with 200 is on disk.
"""

from __future__ import annotations

import http.client
import itertools
import json
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.measuring import asked, public
from benchmarks.serving import Served, processor, served

COLUMNS = ("age", "priors_count", "c_charge_degree", "sex", "juv_fel_count")


@dataclass(frozen=True)
class Monitored:
    """An app with a monitor in it, and people to send."""

    app: Served
    monitor: str
    token: str
    rows: list[dict[str, Any]]

    def send(self, size: int, until: float) -> list[float]:
        """Send batches of `size` people, each when the last is answered; return the delays."""
        bodies = [json.dumps({"rows": self.rows[k : k + size]}) for k in range(0, len(self.rows), size)]
        head = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        path = f"/api/v1/monitors/{self.monitor}/predictions"
        connection, began = http.client.HTTPConnection("127.0.0.1", self.app.port), [time.monotonic()]
        for body in itertools.takewhile(lambda _: began[-1] < until, itertools.cycle(bodies)):
            connection.request("POST", path, body, head)
            answer = connection.getresponse()
            told = answer.read()
            if answer.status != 200:
                raise SystemExit(told[:2000].decode())
            began.append(time.monotonic())
        return np.diff(began).tolist()

    def busy(self) -> np.ndarray:
        """Return the processor time so far of the server, and of the processes that it started, together."""
        started = psutil.Process(self.app.pid).children(recursive=True)
        return np.array([processor(self.app.pid), sum(processor(each.pid) for each in started)])

    def flat_out(self, senders: int, size: int, seconds: float) -> str:
        """Send batches from so many connections; word how many went, and how fast."""
        before, until = self.busy(), time.monotonic() + seconds
        with ThreadPoolExecutor(senders) as pool:
            sent = pool.map(self.send, [size] * senders, [until] * senders)
            delays = [delay for each in sent for delay in each]
        server, others = 1e6 * (self.busy() - before) / (len(delays) * size)
        rate, (p50, p95) = len(delays) / seconds, 1000 * np.quantile(delays, [0.5, 0.95])
        return (
            f"{senders} senders of {size:,} rows: {rate:,.0f} requests and {rate * size:,.0f} rows a second, "
            f"p50 {p50:.1f} ms, p95 {p95:.1f} ms; processor time a row: {server:,.0f} µs server, "
            f"{others:,.0f} µs its processes"
        )


@contextmanager
def monitored(train: str) -> Iterator[Monitored]:
    """Serve the whole app with the monitor of a model trained on COMPAS."""
    from audits.models import make_subject, model_spec
    from audits.monitor.bundle import MonitorBundle
    from audits.monitor.monitors import Monitors
    from audits.runs.storage.database import Database
    from audits.sensitivity import SensitivityOptions, sensitivity

    data = public("compas", keep=[], protected=["race"], features=list(COLUMNS))
    subject = make_subject(data, model_spec({"train": train}))
    bundle = MonitorBundle.of(sensitivity(subject, SensitivityOptions(match_set="off", bootstrap=100)))
    rows = json.loads(subject.data.frame[list(bundle.reads)].head(1000).to_json(orient="records"))
    with tempfile.TemporaryDirectory() as home:
        monitors = Monitors(Database(f"sqlite:///{home}/evenhand.sqlite"))
        monitor, token = monitors.create(bundle, name="load")
        with served(Path(home), OMP_NUM_THREADS="1") as app:
            yield Monitored(app, monitor.id, token, rows)


if __name__ == "__main__":
    given = asked(__doc__, words=["http"], train="mlp", seconds=5.0)
    with monitored(given.train) as running:
        for size in (1, 1000):  # what is loaded at the first request
            running.flat_out(1, size, 0.5)
        time.sleep(20)  # until it has loaded what it loads unasked
        for senders, size in ((1, 1), (4, 1), (1, 1000), (2, 1000)):
            print(running.flat_out(senders, size, given.seconds), flush=True)
