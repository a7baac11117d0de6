"""Digests: equal for equal content, different for any other, whatever the memory looks like."""

from __future__ import annotations

import os
from hashlib import file_digest

import numpy as np
import pandas as pd
import pyarrow as pa

from audits.data import DataSpec, build_data
from audits.data.digests import frame_digest
from audits.runs import digests as files

FRAME = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, np.nan, -0.0], "c": ["x", None, "é"]})
FRAME["d"] = pd.to_datetime(["2024-01-01", None, "1969-12-31"])
FRAME["e"] = [True, False, True]


def test_known_digest():
    """Pinned: a digest that changes with a version of pandas would break every saved audit."""
    assert frame_digest(FRAME) == "5238f0905fab1d70864b086ee0184cc76928132d092561d66ca02519e5db3c2f"


def test_layout_does_not_matter():
    for same in (
        pd.concat([FRAME, FRAME], ignore_index=True).iloc[:3],  # a slice of a larger array
        FRAME.iloc[::-1].iloc[::-1],  # negative strides
        FRAME.assign(a=FRAME["a"].astype("int32"), b=[0.5, None, 0.0]),
        FRAME.assign(c=FRAME["c"].astype(object)),
        FRAME.assign(c=pa.chunked_array([["x"], [None, "é"]]).to_pandas().astype("str")),
    ):
        assert frame_digest(same) == frame_digest(FRAME)


def test_every_content_matters():
    frames = [
        FRAME,
        FRAME.iloc[::-1],
        FRAME[["b", "a", "c", "d", "e"]],
        FRAME.rename(columns={"a": "A"}),
        FRAME.assign(a=[1, 2, 4]),
        FRAME.assign(a=[1.0, 2.0, 3.0]),
        FRAME.assign(a=["1", "2", "3"]),
        FRAME.assign(b=[0.5, 0.0, -0.0]),
        FRAME.assign(c=["x", "", "é"]),
        FRAME.assign(c=["xé", None, ""]),
        FRAME.assign(c=[None, "x", "é"]),
        FRAME.assign(d=FRAME["d"] + pd.Timedelta(microseconds=1)),
        FRAME.set_axis([1, 2, 3]),
        FRAME.iloc[:2],
        FRAME[["a"]],
    ]
    assert len({frame_digest(frame) for frame in frames}) == len(frames)


def test_data_digest_follows_content_and_roles():
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "sex": ["f", "m"] * 2, "y": [0, 1, 1, 0], "w": [1, 1, 2, 1]})
    named = {"label": "y", "favorable": 1, "protected": ("sex",)}
    more = [{}, {"favorable": 0}, {"label": None, "favorable": ()}, {"protected": ()}, {"features": ("x",)}]
    more += [{"weights": "w"}, {"roles": {"actionable": ("x",)}}, {"kinds": {"x": "categorical"}}]
    specs = [DataSpec(**{**named, **each}) for each in [*more, {"missing": "impute"}]]
    digests = {build_data(frame, spec).digest for spec in specs}
    assert len(digests) == len(specs)
    assert build_data(frame.copy(), specs[0]).digest in digests
    assert build_data(frame.assign(x=[1, 2, 3, 5]), specs[0]).digest not in digests


def test_a_file_at_rest_is_read_once_and_a_changed_one_again(tmp_path, monkeypatch):
    path, reads = tmp_path / "people.csv", []
    path.write_text("a\n1\n")
    monkeypatch.setattr(files, "_known", {})
    monkeypatch.setattr(files, "_AT_REST", -1)
    monkeypatch.setattr(
        files.hashlib, "file_digest", lambda file, name: reads.append(file.name) or file_digest(file, name)
    )
    first = files.path_digest(path, "data.path", path.name)
    assert files.path_digest(path, "data.path", path.name) == first
    assert len(reads) == 1
    told = path.stat()
    path.write_text("a\n2\n")  # as long, and its time set back
    os.utime(path, ns=(told.st_atime_ns, told.st_mtime_ns))
    assert files.path_digest(path, "data.path", path.name) != first
