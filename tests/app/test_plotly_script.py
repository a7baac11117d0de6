"""The script that draws figures: whole, packed for browsers that take it so, kept by them for good."""

from __future__ import annotations

import gzip
from importlib.metadata import version

import plotly.offline
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.serving.headers import PAGE
from app.serving.plotly_script import ROUTES, SCRIPT


def test_it_is_plotlys_own_and_a_browser_asks_for_it_once():
    client = TestClient(Starlette(routes=ROUTES))
    packed, plain = (
        client.get(f"/{SCRIPT}", headers={"accept-encoding": way}) for way in ("gzip", "identity")
    )
    assert packed.text == plain.text == plotly.offline.get_plotlyjs()
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert int(packed.headers["content-length"]) == len(gzip.compress(plain.content, mtime=0))
    assert version("plotly") in SCRIPT
    assert SCRIPT in PAGE
    for answer in (packed, plain):
        assert answer.headers["content-type"].startswith("text/javascript")
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["vary"] == "accept-encoding"
