"""The monitor under load: the whole app in one process, predictions by HTTP, pages in real Chromium.

    python -m benchmarks.monitor http       as many requests as go: single rows, and batches of 1,000
    python -m benchmarks.monitor pages      500 single rows a second while a visitor switches pages

`--train forest` or `boosting` measures by trees, `--train xgboost`, `lightgbm` or `catboost` by a file of 100
trees, otherwise by a network.

Processor time is of the server and of all the processes that it started, which says more than the clock
where others use the machine. `pages` needs Playwright and Chromium. Both need ../shared/data (COMPAS). What
a request is answered with 200 is on disk.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from benchmarks.serving import ROOT, browsing, served

SHARED = ROOT.parent / "shared" / "data"
COLUMNS = ("age", "priors_count", "c_charge_degree", "sex", "juv_fel_count")
FILES = {"xgboost": ".ubj", "lightgbm": ".txt", "catboost": ".cbm"}
PAGES = ("Flipsets", "Monitor", "Prediction sensitivity", "Monitor")


@dataclass(frozen=True)
class Running:
    """An app with a monitor in it."""

    port: int
    monitor: str
    token: str
    workspace: str
    rows: list[dict[str, Any]]
    pid: int

    def requests(self, size: int) -> list[bytes]:
        """Return requests of batches of `size` people each, everyone once."""
        found = []
        for start in range(0, len(self.rows), size):
            body = json.dumps({"rows": self.rows[start : start + size]}).encode()
            lines = (
                f"POST /api/v1/monitors/{self.monitor}/predictions HTTP/1.1",
                "Host: 127.0.0.1",
                "Content-Type: application/json",
                f"Authorization: Bearer {self.token}",
                f"Content-Length: {len(body)}",
            )
            found.append("\r\n".join([*lines, "", ""]).encode() + body)
        return found


@contextmanager
def monitored(train: str) -> Iterator[Running]:
    """Serve the whole app with a workspace, a model trained on COMPAS, and its monitor."""
    from app.workspaces.workspace import issue_token
    from audits.data import DataSpec, build_data
    from audits.models import make_subject, model_spec
    from audits.monitor.bundle import MonitorBundle
    from audits.monitor.monitors import Monitors
    from audits.runs.storage.database import Database
    from audits.sensitivity import SensitivityOptions, sensitivity

    frame = pd.read_csv(SHARED / "compas.csv")
    spec = DataSpec(label="two_year_recid", favorable=0, protected=("race",), features=COLUMNS)
    data = build_data(frame, spec)
    with tempfile.TemporaryDirectory() as folder:
        model = {"path": str(_file(train, frame, Path(folder)))} if train in FILES else {"train": train}
        subject = make_subject(data, model_spec(model))
    bundle = MonitorBundle.of(sensitivity(subject, SensitivityOptions(match_set="off", bootstrap=100)))
    rows = json.loads(subject.data.frame[list(bundle.reads)].head(1000).to_json(orient="records"))
    workspace = issue_token()
    with tempfile.TemporaryDirectory() as home:
        monitors = Monitors(Database(f"sqlite:///{home}/evenhand.sqlite"))
        monitor, token = monitors.create(bundle, name="load", owner=workspace)
        (Path(home) / "workspaces" / workspace).mkdir(parents=True)  # else the page takes it for made up
        with served(Path(home), OMP_NUM_THREADS="1") as app:
            yield Running(app.port, monitor.id, token, workspace, rows, app.pid)


def _file(library: str, frame: pd.DataFrame, folder: Path) -> Path:
    """Fit boosting of 100 trees in a library, and return its file."""
    path = folder / f"model{FILES[library]}"
    x, y = frame[list(COLUMNS)], frame["two_year_recid"]
    x = x.astype(dict.fromkeys(("c_charge_degree", "sex"), "category"))
    if library == "xgboost":
        import xgboost

        xgboost.XGBClassifier(n_jobs=1, enable_categorical=True).fit(x, y).save_model(path)
    elif library == "lightgbm":
        import lightgbm

        lightgbm.LGBMClassifier(n_jobs=1, verbose=-1).fit(x, y).booster_.save_model(path)
    else:
        import catboost

        made = catboost.CatBoostClassifier(100, verbose=0, allow_writing_files=False, thread_count=1)
        made.fit(x, y, cat_features=["c_charge_degree", "sex"]).save_model(path)
    return path


def processor_seconds(pid: int) -> dict[str, float]:
    """Return the processor time so far of the server, and of the processes that it started, together."""
    parents: dict[int, tuple[int, float]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        spent = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        parents[int(path.parent.name)] = (int(fields[1]), spent)
    found = {"server": parents[pid][1], "its processes": 0.0}
    for own in parents:
        at = parents[own][0]
        while at in parents and at != pid:
            at = parents[at][0]
        if at == pid:
            found["its processes"] += parents[own][1]
    return found


def settle(pid: int) -> None:
    """Wait until the server has loaded what it loads unasked."""
    for _ in range(60):
        before = sum(processor_seconds(pid).values())
        time.sleep(1)
        if sum(processor_seconds(pid).values()) - before < 0.05:
            return


class _Sender(asyncio.Protocol):
    """One connection that is kept: sends one request after another, each when the last is answered."""

    def __init__(self, requests: Iterator[bytes], due: Iterator[float], taken: list[float]) -> None:
        self._requests, self._due, self._taken = requests, due, taken
        self._came, self._began = bytearray(), 0.0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._next()

    def _next(self) -> None:
        began = next(self._due, None)
        if began is None:
            self._transport.close()
            return
        # without a time of its own a request is due when the one before it is answered
        self._began = began or time.perf_counter()
        wait = self._began - time.perf_counter()
        if wait > 0:
            asyncio.get_running_loop().call_later(wait, self._transport.write, next(self._requests))
        else:
            self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        """Note how long a whole answer took, and send again."""
        self._came += data
        head = self._came.find(b"\r\n\r\n")
        if head < 0:
            return
        if not self._came.startswith(b"HTTP/1.1 200"):
            raise SystemExit(bytes(self._came[:2000]).decode())
        at = self._came.lower().index(b"content-length:", 0, head) + 15
        if len(self._came) < head + 4 + int(self._came[at : self._came.index(b"\r\n", at)]):
            return
        self._taken.append(time.perf_counter() - self._began)
        self._came.clear()
        self._next()

    def connection_lost(self, error: Exception | None) -> None:
        """Tell that it is over."""
        self.done.set_result(error)


async def _send(running: Running, senders: int, size: int, seconds: float, rate: float) -> list[float]:
    """Send for so long, over several connections: at `rate` a second, or as many as go; return the delays."""
    requests = itertools.cycle(running.requests(size))
    taken: list[float] = []
    begun = time.perf_counter()

    def due(first: int) -> Iterator[float]:
        turn = first
        while time.perf_counter() < begun + seconds:
            yield begun + turn / rate if rate else 0.0
            turn += senders

    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(lambda k=k: _Sender(requests, due(k), taken), "127.0.0.1", running.port)
        for k in range(senders)
    ]
    await asyncio.gather(*(sender.done for _, sender in made))
    return taken


def _sending(running: Running, senders: int, size: int, seconds: float, rate: float = 0.0) -> Any:
    """Send from a process of its own, so that neither waits for the other's interpreter."""
    told = json.dumps({"running": vars(running), "how": [senders, size, seconds, rate]})
    command = [sys.executable, "-m", "benchmarks.monitor", "--sender", told]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)


def _delays(sender: Any) -> list[float]:
    answer = sender.communicate()[0]
    if sender.returncode:
        raise SystemExit("The sender failed; see above.")
    return list(json.loads(answer))


def flat_out(running: Running, senders: int, size: int, seconds: float, *, silent: bool = False) -> None:
    """Send batches one after another from `senders` connections; print how many went, and how fast."""
    before = processor_seconds(running.pid)
    taken = _delays(_sending(running, senders, size, seconds))
    after = processor_seconds(running.pid)
    rate = len(taken) / seconds
    if silent:
        return
    print(
        f"{senders} senders of {size:,} rows: {rate:,.0f} requests and {rate * size:,.0f} rows a second, p50 "
        f"{1000 * np.quantile(taken, 0.5):.1f} ms, p95 {1000 * np.quantile(taken, 0.95):.1f} ms; processor "
        "time a row: "
        + ", ".join(
            f"{1e6 * (after[name] - before[name]) / (len(taken) * size):,.0f} µs {name}" for name in after
        ),
        flush=True,
    )


def pages(running: Running, rate: float, seconds: float) -> None:
    """Switch pages without and with predictions coming in; print both, and the answers' delays."""
    with browsing() as browser:
        page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        page.goto(f"http://127.0.0.1:{running.port}/monitor?w={running.workspace}")
        page.wait_for_selector(".st-key-figure-monitor-drift", timeout=60_000)  # it is the monitor's own page
        switches(page, 4)  # first visits load what the later ones find loaded
        quiet = switches(page, 12)
        sender = _sending(running, 8, 1, seconds + 3, rate)
        time.sleep(3)
        began, loaded = time.perf_counter(), []
        while time.perf_counter() - began < seconds:
            loaded += switches(page, 4)
        delays = _delays(sender)
    for name, found in (("nothing else to do", quiet), (f"{rate:.0f} single rows a second", loaded)):
        print(
            f"page switch with {name:28} median {statistics.median(found):.2f} s, longest {max(found):.2f} s "
            f"of {len(found)}"
        )
    p50, p95, p99 = (1000 * np.quantile(delays, share) for share in (0.5, 0.95, 0.99))
    print(
        f"{len(delays):,} requests meanwhile: p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms, ", end=""
    )
    print(f"longest {1000 * max(delays):.0f} ms (each from when it was due)")


def switches(page: Any, times: int) -> list[float]:
    """Go through `PAGES` and return the seconds of each switch, until the script has run."""
    found = []
    for turn in range(times):
        name = PAGES[turn % len(PAGES)]
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
        page.wait_for_timeout(300)
        began = time.perf_counter()
        page.get_by_role("link", name=name, exact=True).first.click()
        page.wait_for_selector(f'h1:has-text("{name}")', timeout=60_000)
        page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=60_000)
        found.append(time.perf_counter() - began)
    return found


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--sender"]:
        told = json.loads(sys.argv[2])
        print(json.dumps(asyncio.run(_send(Running(**told["running"]), *told["how"]))))
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["http", "pages"])
    parser.add_argument("--train", choices=["mlp", "logistic", "forest", "boosting", *FILES], default="mlp")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--rate", type=float, default=500.0)
    given = parser.parse_args()
    with monitored(given.train) as running:
        if given.what == "pages":
            flat_out(running, 1, 1000, 0.5, silent=True)  # a monitor without people draws nothing
            settle(running.pid)
            pages(running, given.rate, given.seconds or 45.0)
            return
        for size in (1, 1000):  # what is loaded at the first request
            flat_out(running, 1, size, 0.5, silent=True)
        settle(running.pid)
        for senders, size in ((1, 1), (4, 1), (1, 1000), (2, 1000)):
            flat_out(running, senders, size, given.seconds or 5.0)


if __name__ == "__main__":
    main()
