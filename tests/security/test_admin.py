"""What the server says of itself, cancelling, the admin's page, and logs with the ids of requests."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from app import jobs
from app.serving import logs
from app.serving.maintenance import Maintenance, snapshot
from app.workspaces import auth
from app.workspaces.workspace import Workspace, issue_token
from audits.cli.main import main
from audits.runs.storage import control
from audits.runs.storage.audit_log import AuditLog, short

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def base(tmp_path, monkeypatch, own_worker):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_a_run_is_seen_from_outside_and_cancelled(base, capsys):
    space = Workspace(issue_token(), person="ada")
    rows = "".join(f"{'fm'[k % 2]},{k % 9},{int(k % 9 > 4)}\n" for k in range(400))
    path = space.add_file("people.csv", io.BytesIO(f"sex,skill,hired\n{rows}".encode()))
    data = {"path": str(path), "label": "hired", "favorable": 1, "protected": ["sex"]}
    spec = {"data": data, "model": {"train": "mlp"}, "audits": [{"groups": {"bootstrap": 9999}}], "seed": 0}
    run = jobs.submit(space, spec, "long")
    control.tell(base, snapshot())
    assert main(["admin", "status", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (going,) = told["servers"][0]["runs"]
    assert going["id"] == run.id
    assert going["person"] == "ada"
    assert space.token not in json.dumps(told), "whoever sees to the server gets no keys of workspaces"
    assert told["disk"][short(space.token)] > 0
    assert main(["admin", "cancel", run.id[:8]]) == 0
    assert main(["admin", "cancel", "ffff"]) == 2
    Maintenance().cancel()
    assert run.wait(60)
    assert run.status == "cancelled"
    assert not control.asked_to_cancel(base)
    assert main(["admin", "log", "--check"]) == 0
    assert [entry["act"] for entry in AuditLog(base).entries()] == ["ran", "cancelled"]


@pytest.mark.parametrize("role", ["admin", "auditor"])
def test_the_page_is_for_administrators(base, monkeypatch, role):
    AuditLog(base).note("opened", who="bob")
    monkeypatch.setattr(auth, "person", lambda: auth.Person("ada", role))
    page = AppTest.from_file(str(ROOT / "app" / "views" / "admin.py"), default_timeout=60).run()
    assert not page.exception
    if role == "admin":
        assert page.dataframe[1].value["who"].tolist()[-1] == "bob"
    else:
        assert not page.dataframe


def test_log_lines_are_json_with_the_id_of_the_request_and_no_tokens(monkeypatch):
    monkeypatch.setenv("EVENHAND_LOG", "json")
    token = "0123456789abcdef" * 2
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonLines())
    logger = logging.getLogger("evenhand")
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "level", logging.INFO)
    logging.getLogger("evenhand.access")._cache.clear()

    async def broken(_):
        try:
            raise ValueError(f"no {token}")
        except ValueError:
            logger.exception("Broken at %s", token)
        return JSONResponse({})

    app = Starlette(routes=[Route(f"/{token}", broken)], middleware=[Middleware(logs.RequestLog)])
    answer = TestClient(app).get(f"/{token}", headers={"X-Request-Id": "from-the-proxy"})
    assert answer.headers["X-Request-Id"] == "from-the-proxy"
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["request"] for line in lines] == ["from-the-proxy"] * 2
    assert "ValueError" in lines[0]["exception"]
    assert lines[1]["status"] == 200
    assert token not in stream.getvalue()
