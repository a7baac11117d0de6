"""Sockets that the server listens on pass on that small answers leave at once."""

from __future__ import annotations

import socket
from pathlib import Path

from app.serving.promptness import answer_at_once


def test_connections_inherit_the_option_and_nothing_stays_open() -> None:
    with socket.socket() as listening:  # without the protocol, as the server's own
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        before = len(list(Path("/dev/fd").iterdir()))
        assert answer_at_once() >= 1
        assert len(list(Path("/dev/fd").iterdir())) == before
        with socket.create_connection(listening.getsockname()):
            accepted = listening.accept()[0]
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
