"""Counts from Parquet, batch by batch, equal those of the rows in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused
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


def test_other_audits_still_refuse_a_table_too_large(scored, monkeypatch):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    document = {
        "data": {"path": ".", "protected": ["sex"]},
        "model": SCORES,
        "audits": [{"rule_sets": {}}, {"loss_ratio": {"sensitive": ["sex"]}}],
    }
    with refused("0.parquet"):
        execute(parse_spec(document, scored))


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"data": {"person": "age"}}, ("data.person",)),
        ({"data": {"missing": "drop"}}, ("data.missing: drop",)),
        ({"data": {"protected": []}}, ("audits[0].rule_sets.protected",)),
        ({"data": {"protected": ["sexx"]}}, ("data.protected", "'sexx'")),
        (
            {"data": {"protected": ["sex"]}, "model": {"predictions": {"score": "race"}}},
            ("model.predictions.score", "'race'"),
        ),
        ({"model": {"predictions": {"score": "age"}}}, ("model.predictions.score", "'age'")),
        ({"model": {"predictions": {"label": "decision"}}}, ("data.favorable",)),
        ({"threshold": {"sex": {"f": 0.5}}}, ("threshold.sex", "'m'")),
        ({"audits": [{"rule_sets": {"text": "race"}}]}, ("rule_sets.text",)),
        (
            {"audits": [{"groups": {"by_probability": {"race": {"a": "risk", "b": "age"}}}}]},
            ("groups.by_probability",),
        ),
        ({"audits": [{"rule_sets": {"support": 0.999}}]}, ("audits[0].rule_sets.support",)),
    ],
)  # fmt: skip
def test_what_needs_all_rows_is_refused(scored, monkeypatch, change, refusal):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    document = {
        "data": {"path": ".", "protected": ["sex", "race"]},
        "model": SCORES,
        "audits": [{"rule_sets": {"permutations": 99}}],
    }
    for key, value in change.items():
        document[key] = {**document[key], **value} if key == "data" else value
    with refused(*refusal):
        execute(parse_spec(document, scored))


def test_files_with_other_columns_are_named(scored, monkeypatch):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    pq.write_table(pa.table({"sex": ["f"], "race": ["a"]}), scored / "2.parquet")
    document = {"data": {"path": ".", "protected": ["sex"]}, "model": SCORES, "audits": ["rule_sets"]}
    with refused("2.parquet", "'age'"):
        execute(parse_spec(document, scored))
