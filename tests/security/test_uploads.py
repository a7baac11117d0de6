"""Uploads that no page takes: bounded by tab, person and server, and refused before their first byte."""

from __future__ import annotations

import contextlib
import http.client
from typing import Any

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.sync.client import connect

from app.serving.uploads import MAX_TAB_MB, UploadRefused, Uploads
from app.workspaces.workspace import new_token
from tests.monitor.conftest import FULL_APP, start

MB = 1_000_000


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


def test_what_no_page_takes_is_bounded_until_its_tab_is_closed(tmp_path):
    server = start(tmp_path, None, "", FULL_APP, EVENHAND_UPLOADS_MB="30")  # type: ignore[arg-type]
    try:
        tab, session = _tab(server.port)
        assert [_put(server.port, session, k) for k in range(10)] == [204] * 3 + [429] * 7
        assert _put(server.port, session, 11, stated=205 * MB) == 413
        assert _put(server.port, "another", 12) == 400
        tab.close()
        tab, session = _tab(server.port)
        assert _put(server.port, session, 13) == 204, "what the closed tab left behind made room"
        tab.close()
    finally:
        server.kill()


def _tab(port: int) -> tuple[Any, str]:
    """Open a page; return its socket and the name of its session."""
    address = f"ws://127.0.0.1:{port}/_stcore/stream"
    tab = connect(address, subprotocols=["streamlit"], max_size=None, legacy=True)  # type: ignore[list-item]
    message = BackMsg()
    message.rerun_script.query_string = f"w={new_token()}"
    tab.send(message.SerializeToString())
    while True:
        told = ForwardMsg.FromString(tab.recv(timeout=60))  # type: ignore[arg-type]
        if told.WhichOneof("type") == "new_session":
            return tab, told.new_session.initialize.session_id


def _put(port: int, session: str, place: int, stated: int = 0) -> int:
    """Send a file of 8 MB, or only say that one of `stated` bytes comes; return the status."""
    head = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\n'
    body = b"" if stated else head + b"x" * 8 * MB + b"\r\n--x--\r\n"
    token = generate_xsrf_token_string()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("PUT", f"/_stcore/upload_file/{session}/{place}")
    told = {"Content-Type": "multipart/form-data; boundary=x", "Content-Length": str(stated or len(body))}
    for name, value in {**told, "X-Xsrftoken": token, "Cookie": f"_streamlit_xsrf={token}"}.items():
        connection.putheader(name, value)
    connection.endheaders()
    with contextlib.suppress(OSError):  # it was refused before all of it went
        connection.send(body)
    try:
        return connection.getresponse().status
    finally:
        connection.close()
