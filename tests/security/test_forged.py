"""A real server that only its proxy may reach, and senders who say that they are the proxy, or never end."""

from __future__ import annotations

import select
import socket
import sys

import pytest

from tests.monitor.conftest import FULL_APP, start

_PROXY = "127.0.0.9"


@pytest.fixture(scope="module")
def port(tmp_path_factory):
    settings = {"EVENHAND_AUTH": "proxy", "EVENHAND_PROXIES": _PROXY}
    server = start(tmp_path_factory.mktemp("home"), None, "", FULL_APP, **settings)  # type: ignore[arg-type]
    yield server.port
    server.kill()


def ask(port: int, headers: dict[str, str], source: str = "127.0.0.1", path: str = "/") -> int:
    """Return the status that a request from `source` is answered with."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", port), 60, (source, 0)) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{lines}\r\n".encode("latin-1"))
        return int(line.makefile("rb").readline().split()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")
def test_nobody_becomes_the_proxy_by_saying_so(port):
    for forged in (
        {},
        {"X-Forwarded-For": _PROXY},
        {"X-Forwarded-For": f"1.2.3.4, {_PROXY}"},
        {"Forwarded": f"for={_PROXY}"},
        {"X-Real-IP": _PROXY},
        {"X-Evenhand-Person": "root@example.org"},
    ):
        assert ask(port, {"X-Forwarded-User": "root@example.org", **forged}) == 403, forged
        assert ask(port, forged, path="/_stcore/host-config") == 403, forged


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")
def test_the_proxy_itself_is_believed_wherever_it_says_that_the_request_comes_from(port):
    assert ask(port, {"X-Forwarded-User": "ada@example.org"}, _PROXY) < 400
    assert ask(port, {"X-Forwarded-User": "ada@example.org", "X-Forwarded-For": "10.1.1.1"}, _PROXY) < 400
    assert ask(port, {"X-Forwarded-For": "10.1.1.1"}, _PROXY) == 401


def test_the_whole_server_keeps_no_head_that_never_ends(port):
    """Sent not faster than it is read."""
    with socket.create_connection(("127.0.0.1", port), 30) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        for _ in range(40):
            line.sendall(b"X: abc\r\n" * 4096)
            if select.select([line], [], [], 0.1)[0]:
                break
        assert line.recv(65_536).startswith(b"HTTP/1.1 400 ")
