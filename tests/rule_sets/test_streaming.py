"""Tables too large to be held: what needs all rows is refused by its place."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused
from tests.rule_sets.conftest import crowd

RULES = {"rule_sets": {"permutations": 99}}


PROXY = {"groups": {"by_probability": {"race": {"a": "risk", "b": "age"}}}}


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """Parquet with text, numbers, gaps and a risk score, too large to be read whole."""
    frame = crowd(4000, seed=3, effect=0.4, missing=0.05).drop(columns="income")
    frame["risk"] = np.where(frame["decision"] == 1, 0.2, 0.8)
    frame.to_parquet(tmp_path / "0.parquet")
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    return tmp_path


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"audits": [RULES, "outcome_transport"]}, ("0.parquet",)),
        ({"data": {"person": "age"}}, ("data.person",)),
        ({"data": {"missing": "drop"}}, ("data.missing: drop",)),
        ({"data": {"protected": []}}, ("audits[0].rule_sets.protected",)),
        ({"data": {"protected": ["sexx"]}}, ("data.protected", "'sexx'")),
        ({"model": {"predictions": {"score": "race"}}}, ("model.predictions.score", "'race'")),
        ({"model": {"predictions": {"score": "age"}}}, ("model.predictions.score", "'age'")),
        ({"model": {"predictions": {"label": "decision"}}}, ("data.favorable",)),
        ({"threshold": {"sex": {"f": 0.5}}}, ("threshold.sex", "'m'")),
        ({"audits": [{"rule_sets": {"text": "race"}}]}, ("rule_sets.text",)),
        ({"audits": [PROXY]}, ("groups.by_probability",)),
        ({"audits": [{"rule_sets": {"support": 0.999}}]}, ("audits[0].rule_sets.support",)),
        ({"beside": {"sex": ["f"], "race": ["a"]}}, ("2.parquet", "'age'")),
    ],
)
def test_what_needs_all_rows_is_refused(scored, change, refusal):
    document = {"model": {"predictions": {"score": "risk", "higher_is": "unfavorable"}}, "audits": [RULES]}
    data = {"path": ".", "protected": ["sex", "race"] if "model" not in change else ["sex"]}
    data |= change.pop("data", {})
    if other := change.pop("beside", None):  # a file with other columns is named
        pq.write_table(pa.table(other), scored / "2.parquet")
    with refused(*refusal):
        execute(parse_spec({**document, **change, "data": data}, scored))
