"""The bodies that the web process itself reads: 16 kB of JSON, which cannot become much of anything."""

from __future__ import annotations

import tracemalloc

import pytest

from app.serving.ingestion import MAX_IN_PROCESS
from audits.errors import InputError
from audits.monitor.ingestion import read_json

_WORST = {
    "objects": b'{"rows":[' + b",".join([b"{}"] * 5400) + b"]}",
    "rows": b'{"rows":[' + b",".join([b'{"a":1}'] * 2000) + b"]}",
    "deep": b'{"rows":' + b"[" * 16_000,
    "lists": b'{"rows":[' + b"[]," * 5000 + b"1]}",
    "digits": b'{"rows":[{"a":' + b"9" * 16_000 + b"}]}",
    "keys": b'{"rows":[{' + b",".join(b'"%x":1' % number for number in range(1500)) + b"}]}",
    "letters": b'{"rows":[{"a":"' + b"\\u0041" * 2600 + b'"}]}',
    "ids": b'{"rows":[],"ids":[' + b"1," * 7900 + b"1]}",
}


@pytest.mark.parametrize("name", list(_WORST))
def test_a_small_body_takes_no_more_than_a_megabyte_whatever_is_in_it(name):
    body = _WORST[name]
    assert len(body) <= MAX_IN_PROCESS
    tracemalloc.start()
    try:
        read_json(body, ("a",))
    except InputError:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert most < 1_000_000
