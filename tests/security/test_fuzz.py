"""Damaged inputs by the thousand: each is read, or refused in a sentence; nothing else ever happens.

``make fuzz`` tries ``EVENHAND_FUZZ`` of them; the usual run under two hundred.
"""

from __future__ import annotations

import io
import json
import os

import numpy as np
import pandas as pd
import pytest

from audits.data import read_table
from audits.errors import InputError
from audits.models.onnx.file import parse_onnx
from audits.monitor.ingestion import read_arrow, read_json
from audits.runs.spec import parse_spec
from tests.security.corpus import _arrow, _loop, _parquet, _workbook, pa

_TIMES = int(os.environ.get("EVENHAND_FUZZ", "180"))


def _seeds() -> dict[str, bytes]:
    frame = pd.DataFrame({"a": [1, 2, 3] * 5, "b": ["x", "y", "z"] * 5, "c": [0.5, None, 2.0] * 5})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    csv, rows = io.BytesIO(), frame.astype(object).where(frame.notna(), None).to_dict("records")
    frame.to_csv(csv, index=False)
    spec = {"data": {"path": "t.csv"}, "model": {"train": "logistic"}, "audits": [{"groups": {}}]}
    return {
        "csv": csv.getvalue(),
        "jsonl": "\n".join(map(json.dumps, rows)).encode(),
        "parquet": _parquet(table),
        "arrow": _arrow(table),
        "xlsx": _workbook(lambda _, part: part),
        "body": json.dumps({"rows": rows, "ids": [str(k) for k in range(15)]}).encode(),
        "arrow body": _arrow(table),
        "model": _loop(3),
        "spec": json.dumps(spec).encode(),
    }


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Return content with a few bytes changed, cut out, repeated or from elsewhere."""
    made = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        place, length = int(rng.integers(len(made) + 1)), int(rng.integers(1, 9))
        other, part = int(rng.integers(len(made) + 1)), slice(place, place + length)
        ways = (rng.bytes(length), b"", made[part] * int(rng.integers(2, 5)), made[other : other + length])
        made[part] = ways[int(rng.integers(4))]
    return bytes(made)


@pytest.mark.parametrize("kind", list(_seeds()))
def test_a_damaged_input_is_read_or_refused(kind, tmp_path):
    seed = _seeds()[kind]
    rng = np.random.default_rng([_TIMES, len(kind)])
    (tmp_path / "t.csv").write_bytes(_seeds()["csv"])
    refused = 0
    for _ in range(max(1, _TIMES // len(_seeds()))):
        content = _damaged(seed, rng)
        try:
            _read(kind, content, tmp_path)
        except InputError:
            refused += 1
        except json.JSONDecodeError:
            assert kind == "spec", "only this test decodes it"
    assert refused or kind in {"csv", "spec"}, "damage that nothing notices is no test"


def _read(kind, content, folder):
    if kind == "body":
        read_json(content, ("a", "b", "c"))
    elif kind == "arrow body":
        read_arrow(content, ("a", "b", "c"))
    elif kind == "model":
        parse_onnx(content, "model.onnx")
    elif kind == "spec":
        parse_spec(json.loads(content.decode("utf-8", "replace")), folder)
    else:
        path = folder / f"damaged.{kind}"
        path.write_bytes(content)
        read_table(path)
