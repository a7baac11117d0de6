"""Counts from Parquet, batch by batch, equal those of the rows in memory."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audits.errors import InputError
from audits.rulesets import rule_sets, rule_sets_parquet
from audits.rulesets.cells import count_cells
from audits.rulesets.mining import Search
from audits.rulesets.streaming import count_parquet
from tests.rulesets.conftest import crowd, subject_of


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


def test_counts_of_parts_are_counts_of_the_whole(folder):
    path, frame = folder
    attributes, cells = count_parquet(path, ["sex", "race", "age"], "good", bins=6)
    assert cells.total == 5000
    assert cells.favorable.sum() == (frame["decision"] == 1).sum()
    edges = np.linspace(frame["age"].min(), frame["age"].max(), 7)
    age = np.clip(np.searchsorted(edges, frame["age"], side="right") - 1, 0, 5)
    age = np.where(frame["age"].isna(), 6, age)
    race = frame["race"].map({"a": 0, "b": 1, "c": 2, "d": 3}).to_numpy()
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
        tmp_path / "all.parquet", protected=names, favorable="good", rng=4, **options
    )
    kinds = {"age": "continuous", "children": "integer"}
    subject = subject_of(frame, names, kinds=kinds, features=("income",))
    held = rule_sets(subject, samples=0, rng=4, **options)
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
    found = rule_sets_parquet(tmp_path, protected=["sex", "constant"], favorable="good", permutations=99)
    assert found.warnings[0] == "Everyone has the same constant, so no rule can use it."
    assert found.n_candidates == 2


def test_nan_is_missing_and_not_the_largest_number(tmp_path):
    ages = np.r_[np.arange(20.0, 60.0), [np.nan] * 10]
    good = np.r_[np.zeros(40, bool), np.ones(10, bool)]
    pq.write_table(pa.table({"age": pa.array(ages), "good": good}), tmp_path / "a.parquet")
    attributes, cells = count_parquet(tmp_path, ["age"], "good", bins=4)
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
        rule_sets_parquet(tmp_path, protected=protected, favorable="good", permutations=99)


def test_files_that_are_no_parquet(tmp_path):
    with pytest.raises(InputError, match="path must be a Parquet file"):
        rule_sets_parquet(tmp_path / "none", protected=["a"], favorable="b")
    (tmp_path / "x.parquet").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="path must hold Parquet files that can be read"):
        rule_sets_parquet(tmp_path, protected=["a"], favorable="b")


@pytest.mark.parametrize(
    ("protected", "favorable", "message"),
    [
        (["sexx"], "good", "column must be a column of the Parquet data"),
        (["sex"], "age", "favorable must be a column of true and false"),
    ],
)
def test_bad_columns(folder, protected, favorable, message):
    with pytest.raises(InputError, match=message):
        count_parquet(folder[0], protected, favorable)
