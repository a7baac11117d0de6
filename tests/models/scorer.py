"""A service that scores people over real HTTP on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

Rows = list[dict[str, Any]]


def probability(row: dict[str, Any]) -> float:
    """Return the chance of being hired by a rule of the service's own."""
    logit = (row["age"] - 50) / 10 + 2.0 * (row["job"] == "judge") - float(row["flag"])
    return float(1 / (1 + np.exp(-logit)))


@dataclass
class Scorer:
    """A service, what it answers, and what it was sent."""

    url: str = ""
    answer: Callable[[Rows], Any] = lambda rows: {"predictions": [probability(row) for row in rows]}
    status: list[int] = field(default_factory=list)
    location: str = ""
    raw: bytes | None = None
    requests: list[Any] = field(default_factory=list)
    headers: list[Any] = field(default_factory=list)


@contextmanager
def serve() -> Iterator[Scorer]:
    """Serve on a free port until the end of the block."""
    told = Scorer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # head and body in one packet

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told.requests.append(body)
            told.headers.append(dict(self.headers))
            status = told.status.pop(0) if told.status else 200
            (rows,) = body.values()
            content = told.raw if told.raw is not None else json.dumps(told.answer(rows)).encode()
            content = b"not now" if status != 200 else content
            self.send_response(status)
            if told.location:
                self.send_header("Location", told.location)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *_: None  # where a caller has hung up
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_address[1]}/score"
    try:
        yield told
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
