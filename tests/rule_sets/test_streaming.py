"""Counts from Parquet, batch by batch, equal those of the rows in memory."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.errors import InputError
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.rule_sets.conftest import crowd


@pytest.fixture
def scored(tmp_path):
    """Parquet with text, numbers, gaps and a risk score; read whole or, where files are small, streamed."""
    frame = crowd(4000, seed=3, effect=0.4, missing=0.05).drop(columns="income")
    frame["risk"] = np.where(frame["decision"] == 1, 0.2, 0.8)
    frame.loc[frame.index[:40], "race"] = "?"  # missing, as in a table that is read whole
    frame["known"] = np.random.default_rng(1).random(4000) < 0.5
    frame["children"] = np.random.default_rng(2).integers(0, 4, 4000)
    for part, rows in enumerate(np.array_split(np.arange(4000), 2)):
        pq.write_table(
            pa.Table.from_pandas(frame.iloc[rows], preserve_index=False), tmp_path / f"{part}.parquet"
        )
    return tmp_path


SCORES = {"predictions": {"score": "risk", "higher_is": "unfavorable"}}


@pytest.mark.parametrize(
    ("data", "model", "options"),
    [
        ({"bins": {"age": [18, 30, 45, 60]}}, SCORES, {}),
        ({}, SCORES, {"bins": {"age": 5}, "intervals": "thresholds", "categories": "values"}),
        (
            {"kinds": {"children": "integer", "age": "continuous"}},
            SCORES,
            {"context": ["children"], "depth": 2},
        ),
        ({"favorable": 1}, {"predictions": {"label": "decision"}}, {"bins": {"age": [0, 40, 80]}}),
    ],
)
def test_a_spec_of_a_table_too_large_finds_what_one_of_a_table_read_whole_finds(
    scored, monkeypatch, data, model, options
):
    document = {
        "data": {"path": ".", "protected": ["sex", "race", "age", "known"], **data},
        "model": model,
        "audits": [{"rule_sets": {"support": 0.03, "permutations": 99, **options}}],
    }
    spec = parse_spec(document, scored)
    whole = execute(spec)
    assert not spec.streamed
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    assert spec.streamed
    large = execute(spec)
    first, second = whole.to_json()["audits"][0], large.to_json()["audits"][0]
    first, second = json.loads(json.dumps(first)), json.loads(json.dumps(second))
    outcomes = first.pop("outcome"), second.pop("outcome")  # a label's name, or the column's
    said = [
        item.pop("finding").replace(f" ({own})", "")
        for item, own in zip((first, second), outcomes, strict=True)
    ]
    assert said[0] == said[1]
    assert first == second
    assert large.data["rows_read"] == large.data["rows_used"] == 4000
    assert "counted batch by batch" in large.data["notes"][-1]
    assert large.data["files"][0]["sha256"] == whole.data["files"][0]["sha256"]


def test_other_audits_still_refuse_a_table_too_large(scored, monkeypatch):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    document = {
        "data": {"path": ".", "protected": ["sex"]},
        "model": SCORES,
        "audits": [{"rule_sets": {}}, {"loss_ratio": {"sensitive": ["sex"]}}],
    }
    with pytest.raises(InputError, match="at most 0 MB are read"):
        execute(parse_spec(document, scored))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"data": {"person": "age"}}, "data.person cannot be used with a table whose people are counted"),
        ({"data": {"missing": "drop"}}, "data.missing: drop cannot be used"),
        ({"data": {"protected": []}}, "rule_sets.protected must name at least one attribute"),
        ({"data": {"protected": ["sexx"]}}, "'sexx'"),
        (
            {"data": {"protected": ["sex"]}, "model": {"predictions": {"score": "race"}}},
            "must name a column of numbers, but 'race' does not hold",
        ),
        ({"model": {"predictions": {"score": "age"}}}, "a finite prediction, but column 'age'"),
        ({"model": {"predictions": {"label": "decision"}}}, "data.favorable is missing"),
        ({"threshold": {"sex": {"f": 0.5}}}, "must give a number for every value, but lacks 'm'"),
        ({"audits": [{"rule_sets": {"text": "race"}}]}, "rule_sets.text cannot be used"),
        (
            {"audits": [{"groups": {"by_probability": {"race": {"a": "risk", "b": "age"}}}}]},
            "by_probability cannot",
        ),
        ({"audits": [{"rule_sets": {"support": 0.999}}]}, "give at most 0."),
    ],
)  # fmt: skip
def test_what_needs_all_rows_is_refused(scored, monkeypatch, change, message):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    document = {
        "data": {"path": ".", "protected": ["sex", "race"]},
        "model": SCORES,
        "audits": [{"rule_sets": {"permutations": 99}}],
    }
    for key, value in change.items():
        document[key] = {**document[key], **value} if key == "data" else value
    with pytest.raises(InputError, match=message):
        execute(parse_spec(document, scored))
