"""Who is let in: names that a proxy gives and names that are forged, roles, links, and the audit log."""

from __future__ import annotations

import asyncio
import io
import time

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from app import jobs
from app.serving import api, limits
from app.serving.limits import RequestLimits
from app.workspaces import auth, deletion
from app.workspaces.shares import Shares
from app.workspaces.workspace import Workspace, issue_token, new_token, workspaces_of
from audits.errors import RunFailed
from audits.runs.storage.audit_log import AuditLog
from tests.refused import refused


@pytest.fixture
def ask():
    """Give what asks the server as from an address; returns status and what the page was told."""

    async def page(request):
        return JSONResponse({"told": request.headers.getlist("x-evenhand-person")})

    app = Starlette(routes=[*api.ROUTES, Route("/{path:path}", page)], middleware=api.MIDDLEWARE)

    def get(path: str, headers=(), *, client: str = "127.0.0.1") -> tuple[int, object]:
        answer = TestClient(app, client=(client, 5000)).get(f"{path}?w={'0' * 32}", headers=list(headers))
        return answer.status_code, answer.json().get("told")

    get.app = app
    return get


@pytest.fixture
def by_proxy(monkeypatch):
    monkeypatch.setenv("EVENHAND_AUTH", "proxy")
    monkeypatch.setenv("EVENHAND_PROXIES", "10.0.0.0/30")
    monkeypatch.setenv("EVENHAND_PROXY_HEADER", "X-Forwarded-User")


_ADA = ("X-Forwarded-User", "Ada@example.org")


_ROOT = ("X-Evenhand-Person", "root@example.org")


@pytest.mark.parametrize("path", ["/", "/media/secret.csv", "/_stcore/upload_file/a/b"])
def test_only_the_named_proxy_is_believed_and_headers_of_our_own_are_dropped(
    ask, by_proxy, monkeypatch, path
):
    for headers in ([_ADA], [_ROOT, _ADA]):
        assert ask(path, headers, client="10.0.0.2") == (200, ["ada%40example.org"])
    assert ask(path, [_ADA], client="10.0.0.9")[0] == 403
    assert ask(path, [_ADA, ("X-Forwarded-For", "10.0.0.2")], client="127.0.0.1")[0] == 403
    for headers in ([], [_ROOT], [_ADA, ("X-Forwarded-User", "root@example.org")]):
        assert ask(path, headers, client="10.0.0.2")[0] == 401
    # what has tokens of its own needs no name
    assert ask("/api/v1/health", client="10.0.0.9")[0] == 200
    assert ask("/api/v1/monitors/" + "0" * 32, client="10.0.0.9")[0] not in {200, 403}
    monkeypatch.setenv("EVENHAND_AUTH", "off")
    assert ask(path, [_ROOT]) == (200, [])


@pytest.mark.parametrize(("client", "headers"), [("10.0.0.9", dict([_ADA])), ("10.0.0.2", {})])
def test_a_socket_past_the_proxy_is_closed(ask, by_proxy, client, headers):
    browser = TestClient(ask.app, client=(client, 5000))
    with (
        pytest.raises(WebSocketDisconnect) as closed,
        browser.websocket_connect("/_stcore/stream", headers=headers),
    ):
        pass
    assert closed.value.code == 1008


def test_wrong_tokens_and_floods_are_answered_with_later(ask, by_proxy, monkeypatch, tmp_path):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))

    async def unknown(request):
        return JSONResponse({}, 200 if request.headers.get("authorization") == "Bearer right" else 401)

    async def slow(_):
        await asyncio.sleep(0.2)
        return JSONResponse({})

    routes = [
        Route("/api/v1/monitors", unknown),
        Route("/api/v1/monitors/{name}", unknown),
        Route("/_stcore/upload_file/{a}/{b}", slow, methods=["PUT"]),
    ]
    app = Starlette(routes=routes, middleware=[Middleware(RequestLimits)])

    async def many(number, path, method="GET", client="10.1.1.1", **told):
        transport = httpx2.ASGITransport(app, client=(client, 1))
        async with httpx2.AsyncClient(transport=transport, base_url="http://a") as sender:
            answers = await asyncio.gather(*(sender.request(method, path, **told) for _ in range(number)))
        return [answer.status_code for answer in answers]

    def statuses(number, path="monitors/a", method="GET", base="/api/v1/", **told):
        return asyncio.run(many(number, base + path, method, **told))

    right = {"headers": [("authorization", "Bearer right")]}
    other = {"client": "10.1.1.2"}
    assert statuses(1, **right) == [200]
    statuses(1, **other)
    assert statuses(30, "monitors").count(429) == 0
    assert statuses(31).count(429) == 1
    assert statuses(1, **other) == [401], "others go on"
    assert statuses(1, **right) == [200], "so does who shares the address"
    assert statuses(1, "monitors/b", **right) == [429]
    monkeypatch.setenv("EVENHAND_API_PER_MINUTE", "5")
    assert statuses(7, headers=[("authorization", "Bearer a")], client="10.1.1.3").count(429) == 2
    upload = {"path": "a/b", "method": "PUT", "base": "/_stcore/upload_file/"}
    assert statuses(1, **upload, headers=[("transfer-encoding", "chunked")]) == [411]
    assert sorted(statuses(10, **upload, content=b"x")) == [200] * 8 + [429] * 2
    assert statuses(2, **upload, content=b"x") == [200, 200]


def test_too_many_tabs_and_bodies_that_do_not_arrive_hold_nobody_up(monkeypatch):
    told = []
    scope = {"path": "/_stcore/stream", "headers": [], "client": ("10.1.1.1", 1)}

    async def page(scope, receive, send):
        while (await receive())["type"] not in {"websocket.disconnect", "http.request"}:
            await asyncio.sleep(0)

    async def send(message):
        told.append(message.get("code") or message.get("status"))

    def receiver(*kinds):
        waiting = iter(kinds)

        async def receive():
            kind = next(waiting, None)
            await asyncio.sleep(0 if kind else 60)
            return {"type": kind}

        return receive

    async def tabs():
        acts = ["websocket.receive"] * 50 + ["websocket.disconnect"]
        given = {"type": "websocket", **scope}
        await asyncio.gather(*(bounded(given, receiver(*acts), send) for _ in range(12)))

    bounded = RequestLimits(page)
    monkeypatch.setenv("EVENHAND_TABS", "1")
    asyncio.run(tabs())
    assert told == [1013, 1013]
    monkeypatch.setattr(limits, "_BODY_SECONDS", 0.05)
    asyncio.run(bounded({"type": "http", "method": "POST", **scope, "path": "/"}, receiver(), send))
    assert 408 in told


def test_roles_come_from_patterns_of_names_and_what_lacks_is_said(monkeypatch):
    monkeypatch.setenv("EVENHAND_AUTH", "proxy")
    monkeypatch.setenv("EVENHAND_ADMINS", "Root@example.org")
    monkeypatch.setenv("EVENHAND_AUDITORS", "*@audit.example.org")
    names = ("root@example.org", "a@audit.example.org", "b@x.org")
    assert [auth.settings().person(name).role for name in names] == ["admin", "auditor", "viewer"]
    monkeypatch.setenv("EVENHAND_AUTH", "oidc")
    with refused("EVENHAND_AUTH=oidc", "EVENHAND_OIDC_URL", "EVENHAND_OIDC_CLIENT_ID"):
        auth.secrets()
    monkeypatch.setenv("EVENHAND_AUTH", "ldap")
    with refused("EVENHAND_AUTH", "'ldap'"):
        auth.settings()


def test_an_unsigned_cookie_names_nobody(ask, monkeypatch):
    monkeypatch.setenv("EVENHAND_AUTH", "oidc")
    cookie = ("Cookie", '_streamlit_user="{\\"email\\": \\"root@example.org\\", \\"is_logged_in\\": true}"')
    assert ask("/media/secret.csv", [cookie])[0] == 401
    assert ask("/", [cookie]) == (200, []), "the page that offers to sign in"


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_HOME", str(tmp_path))
    return tmp_path


def test_a_workspace_is_of_whoever_first_keeps_something_in_it(base):
    space = Workspace(new_token(), person="ada")
    assert space.owner == ""
    space.save_draft({"spec": {}})
    assert Workspace(space.token).owner == "ada"
    Workspace(space.token, person="bob").claim()
    assert Workspace(space.token).owner == "ada"
    assert workspaces_of("ada") == [space.token]
    assert workspaces_of("bob") == []
    space.forget()
    assert workspaces_of("ada") == []
    assert not list((base / "people").iterdir())


def test_one_persons_uploads_count_together(base, monkeypatch):
    monkeypatch.setenv("EVENHAND_DISK_MB", "1")
    Workspace(new_token(), person="ada").add_file("a.csv", io.BytesIO(b"x" * 700_000))
    with refused("workspace"):
        Workspace(new_token(), person="ada").add_file("b.csv", io.BytesIO(b"x" * 700_000))
    Workspace(new_token(), person="bob").add_file("b.csv", io.BytesIO(b"x" * 700_000))


def test_a_link_shows_expires_and_is_revoked(base, monkeypatch):
    space = Workspace(new_token(), person="ada")
    space.save_draft({"spec": {}})
    shares = Shares()
    share, secret = shares.make(space, 2, "ada")
    assert shares.find(secret).workspace == space.token
    assert shares.find(secret + "x") is None
    assert secret not in "".join(path.read_text() + path.name for path in (base / "shares").iterdir())
    other, second = shares.make(space, 1)
    shares.revoke(share)
    assert shares.find(secret) is None
    assert shares.of(space) == [other]
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 86_401)
    assert shares.find(second) is None
    shares.tidy()
    assert not list((base / "shares").iterdir())


def test_what_is_only_looked_at_changes_in_no_way(base):
    space = Workspace(issue_token())
    space.save_draft({"spec": {}})
    seen = Workspace(space.token, read_only=True)
    for act in (
        lambda: seen.save_draft({}),
        lambda: seen.note_run({"id": "a", "key": "b"}),
        lambda: seen.add_file("a.csv", io.BytesIO(b"a\n1\n")),
        lambda: seen.forget(),
        lambda: jobs.submit(seen, {}, ""),
        lambda: deletion.delete(seen, "a"),
        lambda: deletion.erase(seen),
        lambda: jobs.restart_run(seen, "a"),
        lambda: Shares().make(seen, 1),
    ):
        with refused("this workspace"):
            act()
    assert seen.draft() == {"spec": {}}


def test_the_audit_log_only_grows_and_shows_what_was_changed(base):
    log = AuditLog(base)
    token = new_token()
    for act in ("opened", "ran", "exported", "shared", "deleted"):
        log.note(act, who="ada", workspace=token, what="x")
    assert log.check() == 5
    assert [entry["act"] for entry in log.entries(act="ran")] == ["ran"]
    text = log.path.read_text()
    assert token not in text, "a log that holds tokens lets its readers in"
    with log.path.open("a") as file:
        file.write('{"half')
    log.note("opened", who="bob")
    assert log.check() == 6, "a half line of a full disk is cut off"
    lines = log.path.read_text().splitlines(keepends=True)
    log.path.write_text("".join(lines[:2] + lines[3:]))
    with pytest.raises(RunFailed, match="Line 3"):
        log.check()
    log.path.write_text("".join(lines).replace('"ada"', '"eve"', 1))
    with pytest.raises(RunFailed, match="Line 2"):
        log.check()
