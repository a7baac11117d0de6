"""The server from outside: headers on every answer, who may reach it, and who may look into its home."""

from __future__ import annotations

import re
import socket
import stat
from collections.abc import Mapping

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.serving import api
from app.serving.bind import answer_at_once, check_address
from app.serving.headers import HEADERS
from audits.errors import InputError
from audits.runs.storage.database import Database
from audits.runs.storage.store import RunStore
from tests.refused import refused


@pytest.fixture
def get():
    """Give what asks the server for an address and returns status and headers."""

    async def page(_):
        return PlainTextResponse("page", headers={"X-Frame-Options": "ALLOWALL"})

    app = Starlette(routes=[*api.ROUTES, Route("/{path:path}", page)], middleware=api.MIDDLEWARE)

    def ask(address: str) -> tuple[int, Mapping[str, str]]:
        answer = TestClient(app).get(address, follow_redirects=False)
        return answer.status_code, answer.headers

    return ask


_ADDRESSES = ["/", "/api/v1/health", "/api/nothing"]


@pytest.mark.parametrize("address", _ADDRESSES)
def test_every_answer_carries_the_headers(get, address):
    _, headers = get(address)
    for name, value in HEADERS.items():
        assert headers[name.lower()] == value


def test_no_inline_script_but_the_known_ones_runs():
    policy = HEADERS["Content-Security-Policy"]
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))
    assert "unsafe-inline" not in scripts
    assert "unsafe-eval" not in scripts.replace("wasm-unsafe-eval", "")
    assert re.search(r"'sha256-[A-Za-z0-9+/]{43}='", scripts)


def test_metrics_are_for_those_who_switched_them_on(get, monkeypatch):
    assert get("/_stcore/metrics")[0] == 404
    monkeypatch.setenv("EVENHAND_METRICS", "1")
    assert get("/_stcore/metrics")[0] == 200


def test_the_server_listens_to_others_only_if_that_is_said(monkeypatch):
    for own in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        check_address(own)
    for address in (None, "0.0.0.0", "::", "192.168.1.5", "evenhand.example"):
        with refused("server.address"):
            check_address(address)
    monkeypatch.setenv("EVENHAND_OPEN", "1")
    check_address("0.0.0.0")
    monkeypatch.setenv("EVENHAND_AUTH", "oidc")
    with refused("EVENHAND_AUTH=oidc", "EVENHAND_OIDC_URL"):
        check_address("127.0.0.1")


def test_a_home_that_others_could_read_is_taken_from_them(tmp_path):
    base = tmp_path / "home"
    base.mkdir(mode=0o755)
    RunStore(base)
    assert stat.S_IMODE(base.stat().st_mode) == 0o700


def test_no_sentence_names_the_host_of_the_database(caplog):
    url = "postgresql+psycopg://clerk:secret@database.invalid:1/people"
    with pytest.raises(InputError) as found:
        Database(url)
    assert "database.invalid" not in str(found.value)
    assert "clerk" not in str(found.value)
    assert "database.invalid" in caplog.text
    assert "secret" not in caplog.text


def test_connections_of_a_socket_that_listens_send_at_once() -> None:
    with socket.socket() as listening:  # without the protocol, as the server's own
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        answer_at_once()
        with socket.create_connection(listening.getsockname()):
            accepted = listening.accept()[0]
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
