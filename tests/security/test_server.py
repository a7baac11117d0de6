"""The server from outside: headers on every answer, who may reach it, and who may look into its home."""

from __future__ import annotations

import re
import stat

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from app.serving import api
from app.serving.bind import check_address
from app.serving.headers import HEADERS
from audits.errors import InputError
from audits.runs.storage.database import Database
from audits.runs.storage.store import RunStore
from tests.refused import refused


def test_every_answer_carries_the_headers_and_metrics_are_for_those_who_switched_them_on(monkeypatch):
    async def page(_):
        return PlainTextResponse("page", headers={"X-Frame-Options": "ALLOWALL"})

    routes = [*api.ROUTES, Route("/{path:path}", page)]
    client = TestClient(Starlette(routes=routes, middleware=api.MIDDLEWARE), follow_redirects=False)
    for address in ("/", "/api/v1/health", "/api/nothing"):
        answer = client.get(address)
        assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
        assert answer.headers["x-frame-options"] == "DENY"
    scripts = HEADERS["Content-Security-Policy"].partition("script-src")[2].partition(";")[0]
    assert "unsafe-inline" not in scripts
    assert "unsafe-eval" not in scripts.replace("wasm-unsafe-eval", "")
    assert re.search(r"'sha256-[A-Za-z0-9+/]{43}='", scripts), "no inline script but the known ones runs"
    assert client.get("/_stcore/metrics").status_code == 404
    monkeypatch.setenv("EVENHAND_METRICS", "1")
    assert client.get("/_stcore/metrics").status_code == 200


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
