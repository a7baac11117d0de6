"""A real server behind its proxy: forged names, heads without an end, and uploads that no page takes."""

from __future__ import annotations

import contextlib
import http.client
import select
import socket
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileUploaderState, UploadedFileInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.sync.client import connect

from app.serving.uploads import MAX_TAB_MB, UploadRefused, Uploads
from app.workspaces.workspace import new_token
from audits.runs.executors.sandbox import resident_memory
from tests.monitor.conftest import FULL_APP, start

MB = 1_000_000
PROXY = "127.0.0.9"
ADA = {"X-Forwarded-User": "ada@example.org"}
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")


def _scope(name: str = "", size: int = MB) -> dict[str, Any]:
    headers = [(b"content-length", str(size).encode()), (b"x-evenhand-person", name.encode())]
    return {"type": "http", "headers": headers}


def test_a_viewer_brings_no_files_and_one_persons_tabs_count_together(monkeypatch):
    monkeypatch.setenv("EVENHAND_AUTH", "proxy")
    monkeypatch.setenv("EVENHAND_AUDITORS", "ada")
    uploads = Uploads()
    with pytest.raises(UploadRefused) as refused, uploads.admitted("a", _scope("bob")):
        pass
    assert refused.value.status == 403
    half = _scope("ada", MAX_TAB_MB * MB // 2)
    with uploads.admitted("a", half), uploads.admitted("b", half):
        with pytest.raises(UploadRefused) as refused, uploads.admitted("c", _scope("ada")):
            pass
        assert refused.value.status == 429
    with uploads.admitted("c", _scope("ada")):
        pass


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    settings = {"EVENHAND_AUTH": "proxy", "EVENHAND_PROXIES": PROXY, "EVENHAND_UPLOADS_MB": "30"}
    running = start(home, None, "", FULL_APP, **settings)  # type: ignore[arg-type]
    yield running
    running.kill()


def ask(port: int, headers: dict[str, str], source: str = "127.0.0.1", path: str = "/") -> int:
    """Return the status that a request from `source` is answered with."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", port), 60, (source, 0)) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{lines}\r\n".encode("latin-1"))
        return int(line.makefile("rb").readline().split()[1])


def test_nobody_becomes_the_proxy_by_saying_so(server):
    for forged in (
        {},
        {"X-Forwarded-For": PROXY},
        {"X-Forwarded-For": f"1.2.3.4, {PROXY}"},
        {"Forwarded": f"for={PROXY}"},
        {"X-Real-IP": PROXY},
        {"X-Evenhand-Person": "root@example.org"},
    ):
        assert ask(server.port, {"X-Forwarded-User": "root@example.org", **forged}) == 403, forged
        assert ask(server.port, forged, path="/_stcore/host-config") == 403, forged
    assert ask(server.port, ADA, PROXY) < 400
    assert ask(server.port, {**ADA, "X-Forwarded-For": "10.1.1.1"}, PROXY) < 400, "wherever it comes from"
    assert ask(server.port, {"X-Forwarded-For": "10.1.1.1"}, PROXY) == 401


def test_the_whole_server_keeps_no_head_that_never_ends(server):
    """Sent not faster than it is read."""
    with socket.create_connection(("127.0.0.1", server.port), 30) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        for _ in range(40):
            line.sendall(b"X: abc\r\n" * 4096)
            if select.select([line], [], [], 0.1)[0]:
                break
        assert line.recv(65_536).startswith(b"HTTP/1.1 400 ")


def test_what_no_page_takes_is_bounded_and_goes_with_its_tab(server):
    with contextlib.ExitStack() as stack:
        tabs = [stack.enter_context(Tab(server.port)) for _ in range(3)]
        before = resident_memory(server.process.pid)
        assert [tabs[0].put() for _ in range(5)] == [204] * 3 + [429] * 2
        assert [tab.put() for tab in tabs[1:] for _ in range(5)] == [429] * 10
        assert resident_memory(server.process.pid) - before < 60 * MB, "30 MB, and as much on its way"
        assert tabs[1].put(stated=205 * MB) == 413
        assert tabs[1].put(stated=-1) == 411
        assert Tab.put(tabs[1], session="another") == 400
        tabs[0].socket.close()
        for _ in range(8):
            tabs[1].put(cut=True)
        deadline = time.monotonic() + 30
        while (answer := tabs[1].put()) == 429 and time.monotonic() < deadline:
            time.sleep(0.1)  # the server sees an end of a connection when its turn comes
        assert answer == 204, "what the closed tab and the uploads cut short left behind made room"
    with Tab(server.port) as tab:
        for _ in range(5):  # what a page takes is held no longer
            assert tab.put("a.csv") == 204
            tab.take("a.csv")
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text()
    assert "site-packages/pandas" in loaded
    libraries = ("torch", "sklearn", "onnxruntime", "ot")
    assert not [each for each in libraries if f"site-packages/{each}/" in loaded], "models run elsewhere"


class Tab:
    """A page in a browser: its session, and what it sends."""

    def __init__(self, port: int) -> None:
        self.port, self.token = port, new_token()
        self.socket = connect(
            f"ws://127.0.0.1:{port}/_stcore/stream",
            subprotocols=["streamlit"],
            max_size=None,
            additional_headers=ADA,
            source_address=(PROXY, 0),
            legacy=True,  # type: ignore[list-item, call-arg]
        )
        self.session = self.uploader = ""
        self.ask()

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, **changed: Any) -> None:
        """Have the page's script run, and wait until it has."""
        message = BackMsg()
        message.rerun_script.query_string = f"w={self.token}"
        if changed:
            message.rerun_script.widget_states.widgets.add(**changed)
        self.socket.send(message.SerializeToString())
        while True:
            told = ForwardMsg.FromString(self.socket.recv(timeout=60))  # type: ignore[arg-type]
            kind = told.WhichOneof("type")
            if kind == "new_session":
                self.session = told.new_session.initialize.session_id
            elif kind == "delta" and told.delta.new_element.WhichOneof("type") == "file_uploader":
                self.uploader = told.delta.new_element.file_uploader.id
            elif kind == "script_finished" and told.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return

    def take(self, name: str) -> None:
        """Say that a file has arrived, as a browser does."""
        info = UploadedFileInfo(file_id=name, name=name, size=8 * MB)
        self.ask(id=self.uploader, file_uploader_state_value=FileUploaderState(uploaded_file_info=[info]))

    def put(self, name: str = "", *, session: str = "", stated: int = 0, cut: bool = False) -> int:
        """Send a file of 8 MB, half of it, or only say that one of `stated` bytes comes; return the status.

        If `stated` is negative, do not say how long it is.
        """
        head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n'
        body = b"" if stated else head + b"a\n" + b"1\n" * 4 * MB + b"\r\n--x--\r\n"
        token = generate_xsrf_token_string()
        told = {**ADA, "Content-Type": "multipart/form-data; boundary=x"}
        told |= {"X-Xsrftoken": token, "Cookie": f"_streamlit_xsrf={token}"}
        length = str(stated or len(body))
        told |= {"Transfer-Encoding": "chunked"} if stated < 0 else {"Content-Length": length}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, 60, (PROXY, 0))
        name = name or uuid.uuid4().hex
        connection.putrequest("PUT", f"/_stcore/upload_file/{session or self.session}/{name}")
        for field, value in told.items():
            connection.putheader(field, value)
        connection.endheaders()
        with contextlib.suppress(OSError):  # it was refused before all of it went
            connection.send(body[: len(body) // 2] if cut else body)
        try:
            return 0 if cut else connection.getresponse().status
        finally:
            connection.close()
