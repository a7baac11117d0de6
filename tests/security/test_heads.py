"""Senders whose requests never end, over real sockets: they are let go, and nobody else is."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

MOST_UNREAD, MOST_AHEAD = 65_536, 1000
MANY = 4_000_000  # bytes that a hostile sender sends: kept, they would be seen
POST = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"


async def length(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer how many bytes of headers and of the body came."""
    size, more = 0, scope["type"] == "http"
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    said = f"{sum(len(name) + len(value) for name, value in scope['headers'])} {size}".encode()
    head = [(b"content-length", str(len(said)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": said})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    server = uvicorn.Server(uvicorn.Config(length, http="h11", lifespan="off", log_level="critical", port=0))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 120
    while not server.started:
        assert time.monotonic() < until
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(30)


def told(port: int, *parts: bytes) -> tuple[bytes, int]:
    """Send until the server has closed, and return what it said and how many bytes could be sent."""
    said, sent = b"", 0
    with socket.create_connection(("127.0.0.1", port), 30) as line:
        try:
            for part in parts:
                line.sendall(part)
                sent += len(part)
            while more := line.recv(65_536):
                said += more
        except OSError:  # it was closed while there was more to send
            line.settimeout(1)
    return said, sent


@pytest.mark.parametrize(
    ("begins", "goes_on"),
    [
        (b"GET /", b"a"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: ", b"a"),
        (b"GET / HTTP/1.1\r\nHost: a\r\n", b"X: a\r\n"),
        (POST + b"1;", b"a"),
        (POST + b"1\r\na\r\n0\r\n", b"X: a\r\n"),
        (POST + b"1\r\na\r\n0\r\nX: ", b"a"),
    ],
    ids=["address", "value", "headers", "extension", "trailers", "trailer"],
)
def test_what_never_ends_is_not_kept(port, begins, goes_on):
    parts = [begins, *[goes_on * 2000] * (MANY // len(goes_on) // 2000)]
    said, sent = told(port, *parts)
    assert sent < sum(map(len, parts))
    assert said.count(b"HTTP/1.1 400 ") <= 1
    assert b"200 OK" not in said


def endless(port: int) -> bytes:
    """Send a head that never ends, not faster than it is read; return what is said to it."""
    with socket.create_connection(("127.0.0.1", port), 30) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n")
        for _ in range(40):
            line.sendall(b"X: abc\r\n" * (MOST_UNREAD // 16))
            if select.select([line], [], [], 0.1)[0]:
                break
        return line.recv(65_536)


def test_a_head_that_never_ends_is_told_so(port):
    assert endless(port).startswith(b"HTTP/1.1 400 ")


def test_a_large_head_and_a_large_body_are_read(port):
    large = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: " + b"a" * 14_000 + b"\r\n\r\n"
    said, _ = told(port, *(large[at : at + 7000] for at in range(0, len(large), 7000)))
    assert said.endswith(b"14021 0")
    chunks = [b"2710;name=value\r\n" + b"a" * 10_000 + b"\r\n"] * 100
    said, _ = told(port, POST.replace(b"Host", b"Connection: close\r\nHost"), *chunks, b"0\r\nX: a\r\n\r\n")
    assert said.endswith(b" 1000000")


def test_requests_ahead_are_answered_in_order(port):
    one, last = (
        b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    )
    said, _ = told(port, one * (MOST_AHEAD - 1) + last)
    assert said.count(b"200 OK") == MOST_AHEAD


@pytest.mark.parametrize(
    "offer",
    [
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n",
        b"Connection: upgrade\r\n",
    ],
    ids=["HTTP/2, as Java's client", "nothing, as a proxy set up for WebSockets"],
)
def test_whoever_offers_to_speak_otherwise_has_his_body_read(port, offer):
    head = b"POST / HTTP/1.1\r\nHost: a\r\n" + offer + b"Content-Length: 6\r\n\r\n"
    last = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab"
    said, _ = told(port, head, b"abcdef", last)
    assert said.count(b"200 OK") == 2
    assert b" 6HTTP/1.1" in said
