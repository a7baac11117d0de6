"""What comes by HTTP is read by httptools, in C, and what a sender may have the server keep has an end.

To read a request in Python takes a fifth of all that one person measured takes. But uvicorn sets no bound to
what httptools keeps: a head that never ends, or requests by the thousand ahead of the first one's answer,
would fill the server's memory before anybody is asked who he is.
"""

from __future__ import annotations

import socket

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import Server

__all__ = ["MOST_AHEAD", "MOST_UNREAD", "BoundedHeads", "read_bounded"]

MOST_UNREAD = 65_536
"""Bytes that may come, beside those of one read, while no head ends and nothing of a body comes."""

MOST_AHEAD = 1000
"""Requests of one connection that may wait for the answer to the one before."""

_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class BoundedHeads(HttpToolsProtocol):
    """A connection that is closed where what it sends comes to nothing."""

    _unread, _goes_on = 0, False

    def data_received(self, data: bytes) -> None:
        """Count what ends no head and is no body: names and values, lengths of chunks, trailers."""
        if self.cycle is None and b"h2c" in data:
            self._hand_over(data)
            return
        self._goes_on = False
        super().data_received(data)
        self._unread = 0 if self._goes_on else self._unread + len(data)
        if self._unread > MOST_UNREAD and not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete:  # nothing else is being said
                self.transport.write(_TOO_LARGE)
            self.transport.close()

    def _hand_over(self, data: bytes) -> None:
        """Have h11 read whoever offers to speak HTTP/2, as Java's own client does: httptools skips bodies."""
        self.connections.discard(self)
        other = H11Protocol(self.config, self.server_state, self.app_state, self.loop)
        other.connection_made(self.transport)
        self.transport.set_protocol(other)
        other.data_received(data)

    def on_headers_complete(self) -> None:
        """Note that a head ended; one too many is answered as what cannot be read."""
        self._goes_on = True
        if len(self.pipeline) >= MOST_AHEAD:
            raise ValueError("too many requests were sent ahead")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Note that there is more of a body."""
        self._goes_on = True
        super().on_body(body)


def read_bounded() -> None:
    """Have uvicorn read so, which has chosen what it reads with before this app is loaded."""
    start = Server.startup

    async def startup(self: Server, sockets: list[socket.socket] | None = None) -> None:
        self.config.http_protocol_class = BoundedHeads
        await start(self, sockets)

    Server.startup = startup  # type: ignore[method-assign]
