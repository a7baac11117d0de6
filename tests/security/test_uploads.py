"""A real server behind its proxy: forged names, heads without an end, and uploads that no page takes."""

from __future__ import annotations

import select
import socket
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from app.serving.uploads import MAX_TAB_MB, UploadRefused, Uploads
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


def ask(
    port: int, headers: dict[str, str], source: str = "127.0.0.1", path: str = "/", method: str = "GET"
) -> int:
    """Return the status that a request from `source` is answered with."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", port), 60, (source, 0)) as line:
        line.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{lines}\r\n".encode("latin-1")
        )
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


def test_no_page_no_file_and_no_models_are_loaded(server):
    token = generate_xsrf_token_string()
    told = {**ADA, "Content-Length": str(MB), "X-Xsrftoken": token, "Cookie": f"_streamlit_xsrf={token}"}
    assert ask(server.port, told, PROXY, "/_stcore/upload_file/another/a.csv", "PUT") == 400
    loaded = Path(f"/proc/{server.process.pid}/maps").read_text()
    libraries = ("torch", "sklearn", "onnxruntime", "ot")
    assert not [each for each in libraries if f"site-packages/{each}/" in loaded], "models run elsewhere"


def test_what_no_page_takes_is_bounded_and_goes_with_its_tab(monkeypatch):
    held: dict[str, dict[str, Any]] = defaultdict(dict)
    files = SimpleNamespace(file_storage=held, remove_session_files=held.pop)
    tabs = SimpleNamespace(uploaded_file_mgr=files, is_active_session="abc".__contains__)
    monkeypatch.setattr("app.serving.uploads.runtime.exists", lambda: True)
    monkeypatch.setattr("app.serving.uploads.runtime.get_instance", lambda: tabs)
    monkeypatch.setenv("EVENHAND_UPLOADS_MB", "30")
    uploads = Uploads()

    def put(tab: str, size: int = 8 * MB, *, kept: bool = True) -> int:
        try:
            with uploads.admitted(tab, _scope(size=size)):
                if kept:
                    held[tab][str(len(held[tab]))] = SimpleNamespace(data=bytes(size))
        except UploadRefused as refused:
            return refused.status
        return 204

    assert [put("a") for _ in range(5)] == [204] * 3 + [429] * 2
    assert [put(tab) for tab in "bc"] == [429] * 2
    assert (put("b", 205 * MB), put("b", -1), put("d")) == (413, 411, 400)
    tabs.is_active_session = "bc".__contains__
    assert [put("b", kept=False) for _ in range(8)] == [204] * 8, (
        "the closed tab made room, what is taken too"
    )
