"""Counts from Parquet, batch by batch, equal those of the rows in memory."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.errors import InputError
from audits.mining.cells import count_cells
from audits.mining.search import Search
from audits.rule_sets import RuleSetsOptions, rule_sets, rule_sets_parquet
from audits.rule_sets.parquet import Ruled, count_parquet, open_parquet, true_or_false
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.rule_sets.conftest import crowd, subject_of


@pytest.fixture
def folder(tmp_path):
    frame = crowd(5000, seed=9, missing=0.1)
    for part, rows in enumerate(np.array_split(np.arange(5000), 3)):
        piece = frame.iloc[rows]
        table = pa.table(
            {
                "sex": pa.array(piece["sex"]).dictionary_encode(),
                "race": pa.array(piece["race"].astype(object).where(piece["race"] != "d", None)),
                "age": pa.array(piece["age"], pa.float64(), from_pandas=True),
                "good": pa.array(piece["decision"] == 1),
                "note": pa.array(["x"] * len(piece)),
            }
        )
        pq.write_table(table, tmp_path / f"part-{part}.parquet")
    return tmp_path, frame


def counted(path, protected, favorable, *, bins=10):
    ruled = [Ruled(name=name, bins=bins) for name in protected]
    return count_parquet(open_parquet([path]), ruled, true_or_false(favorable))


def test_counts_of_parts_are_counts_of_the_whole(folder):
    path, frame = folder
    attributes, cells = counted(path, ["sex", "race", "age"], "good", bins=6)
    assert cells.total == 5000
    assert cells.favorable.sum() == (frame["decision"] == 1).sum()
    edges = np.linspace(frame["age"].min(), frame["age"].max(), 7)
    age = np.clip(np.searchsorted(edges, frame["age"], side="right") - 1, 0, 5)
    age = np.where(frame["age"].isna(), 6, age)
    race = frame["race"].map({"d": 0, "a": 1, "b": 2, "c": 3}).to_numpy()  # missing sorts first
    codes = [(frame["sex"] == "m").to_numpy().astype(int), race, age]
    expected = count_cells(codes, [2, 4, 7], (frame["decision"] == 1).to_numpy())
    assert [len(item.levels) for item in attributes] == [2, 4, 7]
    order = np.lexsort(expected.codes.T[::-1])
    assert (cells.codes == expected.codes[order]).all()
    assert (cells.n == expected.n[order]).all()
    assert (cells.favorable == expected.favorable[order]).all()
    search = Search(cells, attributes, support=0.05)
    search.run(10**7)
    assert search.found().n_candidates == 3 * 15 * (1 + 6 * 7 // 2 + 1) - 1


def test_the_audit_of_the_file_is_the_audit_of_the_rows(tmp_path):
    frame = crowd(6000, seed=3, effect=0.3)
    frame["children"] = np.random.default_rng(0).integers(0, 5, 6000)  # no more values than bins
    pq.write_table(pa.Table.from_pandas(frame.assign(good=frame["decision"] == 1)), tmp_path / "all.parquet")
    names = ("sex", "race", "age", "children")
    options = {"support": 0.03, "bins": 5, "permutations": 199, "depth": 3}
    streamed = rule_sets_parquet(
        tmp_path / "all.parquet", RuleSetsOptions(protected=names, **options), favorable="good", rng=4
    )
    kinds = {"children": "integer"}
    subject = subject_of(frame, names, kinds=kinds, features=("income",))
    held = rule_sets(subject, RuleSetsOptions(samples=0, **options), rng=4)
    assert streamed.leaderboard == held.leaderboard
    assert streamed.leaderboard[0].verdict == "evidence of a difference"
    assert streamed.finding.replace("good", "decision = 1") == held.finding
    assert (streamed.n_candidates, streamed.n_frequent) == (held.n_candidates, held.n_frequent)
    assert streamed.top_score == held.top_score
    assert streamed.discovery == held.discovery
    assert streamed.comparisons == held.comparisons
    assert streamed.rows == {"audited": 6000, "used": 6000, "left_out": {}}
    assert streamed.people.empty


def test_a_constant_column_makes_no_rules_and_a_note(tmp_path):
    frame = crowd(600).assign(constant=7)
    pq.write_table(pa.Table.from_pandas(frame.assign(good=frame["decision"] == 1)), tmp_path / "a.parquet")
    found = rule_sets_parquet(
        tmp_path, RuleSetsOptions(protected=["sex", "constant"], permutations=99), favorable="good"
    )
    assert found.warnings[0] == "Everyone has the same “constant”, so no rule can use it."
    assert found.n_candidates == 2


def test_nan_is_missing_and_not_the_largest_number(tmp_path):
    ages = np.r_[np.arange(20.0, 60.0), [np.nan] * 10]
    good = np.r_[np.zeros(40, bool), np.ones(10, bool)]
    pq.write_table(pa.table({"age": pa.array(ages), "good": good}), tmp_path / "a.parquet")
    attributes, cells = counted(tmp_path, ["age"], "good", bins=4)
    assert attributes[0].levels[-1] == "(missing)"
    assert cells.n.tolist() == [10, 10, 10, 10, 10]
    assert cells.favorable.tolist() == [0, 0, 0, 0, 10]


@pytest.mark.parametrize(
    ("content", "protected", "message"),
    [
        ({"age": [1.0, np.inf], "good": [True, False]}, ["age"], "column 'age' must hold finite numbers"),
        ({"age": [1, 2], "good": [True, None]}, ["age"], "must be true or false for everyone, but 1 rows"),
        ({"age": [1, 2], "good": [True, False]}, [], "protected must name at least one column"),
        ({"age": [1, 2], "good": [True, False]}, ["age", "age"], "must name every column once"),
        ({"age": [1, 2], "good": [True, False]}, ["good"], "and not the decisions"),
        ({"age": [1, 1], "good": [True, False]}, ["age"], "rule_sets.support must leave at least one group"),
        ({"street": [f"s{k}" for k in range(200)], "good": [True] * 200}, ["street"], "at most 100 values"),
        ({"age": pa.array([], pa.int64()), "good": pa.array([], pa.bool_())}, ["age"], "at least one row"),
    ],
)
def test_bad_files_are_refused_in_a_sentence(tmp_path, content, protected, message):
    pq.write_table(pa.table(content), tmp_path / "bad.parquet")
    with pytest.raises(InputError, match=message):
        rule_sets_parquet(tmp_path, RuleSetsOptions(protected=protected, permutations=99), favorable="good")


def test_files_that_are_no_parquet(tmp_path):
    with pytest.raises(InputError, match="path must be a Parquet file"):
        rule_sets_parquet(tmp_path / "none", RuleSetsOptions(protected=["a"]), favorable="b")
    (tmp_path / "x.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="path must hold Parquet files that can be read"):
        rule_sets_parquet(tmp_path, RuleSetsOptions(protected=["a"]), favorable="b")


@pytest.mark.parametrize(
    ("protected", "favorable", "message"),
    [
        (["sexx"], "good", "column must be a column of the Parquet data"),
        (["sex"], "age", "favorable must be a column of true and false"),
    ],
)
def test_bad_columns(folder, protected, favorable, message):
    with pytest.raises(InputError, match=message):
        counted(folder[0], protected, favorable)


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


def test_files_with_other_columns_are_named(scored):
    pq.write_table(pa.table({"sex": ["f"], "race": ["a"]}), scored / "2.parquet")
    with pytest.raises(
        InputError, match=r"2\.parquet must have the same columns as the first file, but 'age'"
    ):
        rule_sets_parquet(scored, RuleSetsOptions(protected=["sex"]), favorable="known")
