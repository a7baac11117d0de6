"""A bundle, stores in SQLite and PostgreSQL, and a server of the routes that can be killed."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import onnx
import pyarrow as pa
import pytest

from audits.monitor.bundle import MonitorBundle
from audits.monitor.monitors import Monitors, StoredMonitor
from audits.runs.documents import load_document
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from audits.runs.storage.database import Database
from audits.sensitivity import SensitivityOptions, sensitivity
from tests.free_port import free_port
from tests.runs.postgres import serve
from tests.sensitivity.conftest import people, subject_of

ROOT = Path(__file__).resolve().parents[2]
ROW = {"skill": 0.5, "height": 170, "town": "north"}


@pytest.fixture(scope="session")
def bundle() -> MonitorBundle:
    return MonitorBundle.of(sensitivity(subject_of(people()), SensitivityOptions(bootstrap=100)))


@pytest.fixture(scope="session")
def carried(tmp_path_factory: pytest.TempPathFactory) -> MonitorBundle:
    """A bundle with a stranger's ONNX file in it; with all standard steps, its network were carried."""
    document = load_document(ROOT / "sample_data" / "hiring.yaml")
    model = onnx.load(ROOT / "sample_data" / "hiring.onnx")
    (output,) = [node for node in model.graph.node if node.op_type == "Sigmoid"]
    last = output.output[0]
    output.output[0] = "chance"
    model.graph.node.append(onnx.helper.make_node("IsInf", ["chance"], ["never"]))
    model.graph.node.append(onnx.helper.make_node("Where", ["never", "chance", "chance"], [last]))
    path = tmp_path_factory.mktemp("carried") / "hiring.onnx"
    onnx.save(model, path)
    document["model"] = {"path": str(path)}
    document["audits"] = [{"sensitivity": {"bootstrap": 100, "max_people": 300}}]
    return MonitorBundle.of(execute(parse_spec(document, ROOT / "sample_data")).audits[0].result)


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    with serve() as url:
        yield url


@pytest.fixture
def monitors(request: pytest.FixtureRequest, tmp_path: Path) -> Monitors:
    """In SQLite, or where a test asks for it in PostgreSQL."""
    if getattr(request, "param", "sqlite") == "postgresql":
        return Monitors(Database(request.getfixturevalue("postgres")))
    return Monitors(Database(f"sqlite:///{tmp_path / 'evenhand.sqlite'}"))


@dataclass
class Server:
    """A running server of the monitors' routes."""

    home: Path
    port: int
    process: subprocess.Popen[bytes]
    monitor: StoredMonitor
    token: str

    def post(self, body: Any, monitor: str | None = None, **headers: str) -> tuple[int, dict[str, Any]]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        usual = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        return self.ask(
            "POST", f"/api/v1/monitors/{monitor or self.monitor.id}/predictions", data, {**usual, **headers}
        )

    def call(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """Ask what lies below the monitor, with its token or another."""
        head = {"Authorization": f"Bearer {token or self.token}", "Content-Type": "application/json"}
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        return self.ask(method, f"/api/v1/monitors/{self.monitor.id}{path}", data, head)

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Any = None) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


ROUTES_ALONE = ("uvicorn", "tests.monitor.server:app", "--log-level", "error", "--port")
FULL_APP = ("streamlit", "run", "app/server.py", "--server.address", "127.0.0.1", "--server.port")


def start(
    home: Path, monitor: StoredMonitor, token: str, serving: tuple[str, ...] = ROUTES_ALONE, **settings: str
) -> Server:
    port = free_port()
    command = [sys.executable, "-m", *serving, str(port)]
    environment = {**os.environ, "EVENHAND_HOME": str(home), "OMP_NUM_THREADS": "1", **settings}
    with (home / "server.log").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    server = Server(home, port, process, monitor, token)
    for _ in range(600):
        try:
            server.ask("GET", "/api/v1/openapi.json")
        except OSError:
            time.sleep(0.1)
        else:
            return server
    raise RuntimeError("the server did not come up")


SECRET = "let prometheus in"


@pytest.fixture(scope="session")
def server(bundle: MonitorBundle, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("home")
    monitor, token = Monitors(store_of(home)).create(bundle, name="hiring", people_between=5000)
    settings = {"EVENHAND_METRICS_TOKEN": SECRET, "EVENHAND_WEBHOOK_HOSTS": "hooks.ours"}
    running = start(home, monitor, token, EVENHAND_WORKERS="1", **settings)
    yield running
    running.kill()


def another(server: Server, bundle: MonitorBundle, **settings: Any) -> Server:
    """Make another monitor on a server, and return the server as whoever sends to that one sees it."""
    monitor, token = Monitors(store_of(server.home)).create(bundle, **{"name": "m", **settings})
    return replace(server, monitor=monitor, token=token)


def store_of(home: Path) -> Database:
    return Database(f"sqlite:///{home / 'evenhand.sqlite'}")


def arrow(
    columns: dict[str, list[Any]], unit: str = "", *, twice: bool = False, compression: str | None = None
) -> bytes:
    """Pack columns; the last one as times in a `unit`, or the first one `twice`."""
    names, arrays = list(columns), [pa.array(values) for values in columns.values()]
    if unit:
        arrays[-1] = arrays[-1].cast(pa.timestamp(unit))
    if twice:
        names, arrays = [names[0], *names], [arrays[0], *arrays]
    table, sink = pa.Table.from_arrays(arrays, names=names), pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()
