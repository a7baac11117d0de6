"""People counted batch by batch: the same numbers as of the table read whole, and what cannot be counted."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused

ROWS = 6000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], ROWS),
            "race": rng.choice(["a", "b", "c", "?"], ROWS, p=[0.5, 0.3, 0.18, 0.02]),
            "age": rng.integers(18, 80, ROWS),
            "income": rng.lognormal(10, 1, ROWS).round(2),
            "score": rng.beta(2, 3, ROWS),
            "risk": rng.normal(300, 40, ROWS),
            "weight": rng.integers(0, 4, ROWS),
            "grade": rng.normal(2.5, 1, ROWS),
            "id": [f"p{k}" for k in range(ROWS)],
        }
    )
    frame["repaid"] = (rng.random(ROWS) < frame["score"]).astype(float)
    frame.loc[frame.index[:90], "repaid"] = np.nan
    frame.loc[frame.index[50:120], "income"] = np.nan
    frame["price"] = [Decimal(f"{cents}.25") for cents in rng.lognormal(9.5, 1, ROWS).astype(int)]
    frame["known"] = rng.random(ROWS) < 0.5
    place = tmp_path_factory.mktemp("people")
    for part, rows in enumerate(np.array_split(np.arange(ROWS), 2)):
        table = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        pq.write_table(table, place / f"{part}.parquet", row_group_size=1000)
    return place


LABEL = {"label": "repaid", "favorable": 1}
SCORE, RISK = (
    {"predictions": {"score": "score"}},
    {"predictions": {"score": "risk", "higher_is": "unfavorable"}},
)
GROUPS = [{"groups": {"bootstrap": 50}}]
RULES = [{"rule_sets": {"support": 0.04, "permutations": 49}}]


@pytest.mark.parametrize(
    ("data", "model", "threshold", "audits"),
    [
        (
            {**LABEL, "bins": {"age": [18, 30, 50, 80]}, "protected": ["sex", "race", "age"]},
            SCORE, {"sex": {"f": 0.45, "m": 0.4}}, GROUPS,
        ),
        (
            {**LABEL, "bins": {"income": 5, "age": 3}, "protected": ["income", "age"],
             "keep": [{"column": "grade", "at_least": 1.5}]},
            SCORE, 0.5, GROUPS,
        ),
        (
            {"protected": ["sex", "race"], "label": {"column": "grade", "at_least": 2.5}, "weights": "weight",
             "recode": {"race": {"map": {"c": "b"}}}, "keep": [{"column": "age", "at_most": 70}]},
            SCORE, 0.4, GROUPS + RULES,
        ),
        (
            {**LABEL, "protected": ["sex", "race"], "kinds": {"income": "continuous"}, "keep": [
                {"column": "race", "not_in": ["c"]}, {"column": "grade", "at_least": 1.5},
                {"column": "age", "between": [20, 70]}]}, SCORE, 0.4,
            [{"rule_sets": {"support": 0.04, "permutations": 49, "context": ["income"], "bins": 7,
                            "binning": "quantile"}}],
        ),
        (
            {"protected": ["sex", "race"], "label": {"column": "price", "at_least": 2e4},
             "keep": [{"column": "race", "not_missing": True}, {"column": "income", "above": 2e4}]},
            SCORE, 0.4,
            [{"rule_sets": {"support": 0.04, "permutations": 49, "context": ["income"], "bins": 4}}],
        ),
    ],
    ids=["thresholds", "bins at quantiles", "everything", "quantiles of some", "bins of some"],
)  # fmt: skip
def test_counted_people_give_the_numbers_of_people_held(folder, monkeypatch, data, model, threshold, audits):
    spec = parse_spec(
        {"data": {"path": ".", **data}, "model": model, "threshold": threshold, "audits": audits}, folder
    )
    whole = execute(spec)
    monkeypatch.setattr("audits.runs.source.strategy.COUNTED_FROM", 1)
    assert spec.streamed
    counted = execute(spec)
    for one, other in zip(whole.audits, counted.audits, strict=True):
        found, expected = (json.loads(json.dumps(each.result.to_json())) for each in (other, one))
        same(found, expected)
        assert found["rows"] == expected["rows"]
        assert not len(other.result.people)
    for key in ("rows_read", "rows_used", "excluded", "sha256"):
        assert counted.data[key] == whole.data[key]
    assert counted.data["notes"][-1] not in whole.data["notes"], "that people were counted is said"
    if whole.model["quality"]:
        assert counted.model["quality"]["accuracy"] == whole.model["quality"]["accuracy"]


@pytest.fixture(scope="module")
def text(folder):
    """Return a file of the same people as delimited text, some of whom have no age."""
    frame = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    frame["age"] = frame["age"].astype(str).where(frame["age"] > 19, "?")
    frame.to_csv(folder / "people.csv", index=False)
    return folder


def test_text_is_counted_like_parquet(text, monkeypatch):
    data = {"path": "people.csv", "protected": ["sex"], "keep": [{"column": "age", "at_least": 25}]}
    spec = parse_spec({"data": data, "model": RISK, "audits": GROUPS + RULES}, text)
    whole = execute(spec)
    for module in ("audits.runs.source.strategy", "audits.data.io.limits"):
        monkeypatch.setattr(f"{module}.COUNTED_FROM", 1000)
    assert spec.streamed
    counted = execute(spec)
    for one, other in zip(whole.audits, counted.audits, strict=True):
        same(*(json.loads(json.dumps(each.result.to_json())) for each in (other, one)))
        assert not len(other.result.people)
    for key in ("rows_read", "rows_used", "excluded", "sha256", "files"):
        assert counted.data[key] == whole.data[key]


def same(found, expected, where=""):
    """Counts and what follows from them are equal; sums of scores differ by their rounding alone."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            same(found[key], expected[key], f"{where}.{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            same(one, other, f"{where}[{place}]")
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12), where
    else:
        assert found == expected, where


INCOME, SAMPLED = [{"rule_sets": {"context": ["income"]}}], {"column": "weight", "kind": "sampling"}


@pytest.mark.parametrize(
    ("data", "audits", "refusal"),
    [
        ({"protected": ["id"]}, GROUPS, ("data.protected", "2,000", "'id'")),
        ({"protected": ["sex"], "label": "grade", "favorable": 1}, GROUPS, ("data.label", "2,000")),
        ({"protected": ["sex"], "weights": "weight"}, INCOME, ("rule_sets.bins.income",)),
        ({"protected": ["sex"], "weights": SAMPLED}, GROUPS, ("data.weights: kind: sampling",)),
    ],
)
def test_what_cannot_be_counted_is_named(folder, monkeypatch, data, audits, refusal):
    monkeypatch.setenv("EVENHAND_MAX_FILE_MB", "0.001")
    monkeypatch.setattr("audits.runs.source.streaming.count_rows", None)  # refused before anything is counted
    spec = parse_spec({"data": {"path": ".", **data}, "model": SCORE, "audits": audits}, folder)
    with refused(*refusal):
        execute(spec)
