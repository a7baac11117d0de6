"""The run's search: a group that every average hides is named, and nothing is where there is nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.runs import execute as execution
from audits.runs import search
from audits.runs.execute import execute
from audits.runs.gates.gate import MATERIAL, STRICT, judge
from audits.runs.headline import findings_of, headline_of
from audits.runs.result import RunResult
from audits.runs.source import strategy
from audits.runs.spec import parse_spec
from audits.stats import EVIDENCE
from audits.stats.badges import size_against_limit


def people(n: int, seed: int, rate: float = 0.6) -> pd.DataFrame:
    """People of whom women over 50 with children (3.4%) are accepted at `rate`, all others at 60%."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"sex": rng.choice(["woman", "man"], n), "age": rng.integers(18, 71, n)})
    frame["children"] = rng.choice([0, 1], n, p=[0.83, 0.17])
    frame["income"], frame["debt"] = rng.normal(size=(2, n)).round(3)
    hidden = (frame["sex"] == "woman") & (frame["age"] > 50) & (frame["children"] == 1)
    frame["accepted"] = (rng.random(n) < np.where(hidden, rate, 0.6)).astype(int)
    return frame


def run(frame: pd.DataFrame, folder, **more) -> RunResult:
    frame.to_csv(folder / "people.csv", index=False)
    data = {"path": "people.csv", "favorable": 1, "protected": ["sex"]}
    data["features"] = ["age", "children", "income", "debt"]
    spec = {"data": data, "model": {"predictions": {"label": "accepted"}}, "audits": [{"groups": {}}]}
    return execute(parse_spec({**spec, **more}, folder))


def test_the_group_that_nobody_named_is_named(tmp_path):
    result = run(people(4000, 1, rate=0.15), tmp_path)
    [groups] = result.audits
    assert groups.result.judged.badge in {"no material difference", "small difference"}
    assert result.search.result.verdict == EVIDENCE
    first = result.search.result.leaderboard[0]
    assert {rule["attribute"] for rule in first.rules} == {"sex", "age", "children"}
    assert first.direction == "harmed"
    assert first.rule_set.split(", ")[0] == "sex = woman"
    assert "sex = woman" in groups.result.judged.badge_text
    assert result.headline().leads.place is None
    assert [item.name for item in judge(result, STRICT).stopped][-1] == "search.rule_sets"
    assert [item.name for item in judge(result, MATERIAL).stopped] == ["search.rule_sets"]
    result.save(tmp_path / "saved")
    assert RunResult.load(tmp_path / "saved").to_json() == result.to_json()


def test_an_all_clear_that_could_not_be_searched_behind_says_so(tmp_path):
    frame = people(8000, 1, rate=0.3).assign(w=np.tile([0.5, 1.5], 4000))
    data = {"path": "people.csv", "favorable": 1, "protected": ["sex"]}
    data |= {"weights": {"column": "w", "kind": "sampling"}, "features": ["age", "income"]}
    told = {
        way: run(frame, tmp_path, data=data, search=way).audits[0].result.warnings for way in ("on", "off")
    }
    assert set(told["off"]) < set(told["on"])


@pytest.mark.parametrize("values", [4, 4000])
def test_neither_order_nor_form_of_a_large_table_changes_what_is_found(tmp_path, monkeypatch, values):
    """People alike are counted as one; where they are too many kinds, the same ones are drawn."""
    monkeypatch.setattr(search, "_MAX_ROWS", 1500)
    frame = people(4000, 1, rate=0.3)
    frame = frame.assign(age=frame["age"] // 17, income=frame["income"].rank(pct=True).mul(values).round())
    frame["debt"] = 0.0
    counts = frame.groupby(list(frame.columns), as_index=False).size()
    forms = [frame, frame.sample(frac=1, random_state=3), counts]
    found = []
    for form in forms:
        data = {"favorable": 1, "protected": ["sex"], "features": ["age", "children", "income"]}
        if form is counts:
            data["weights"] = {"column": "size", "kind": "counts"}
        result = run(
            form, tmp_path, data={"path": "people.csv", **data}, audits=[{"groups": {"material": 0.2}}]
        )
        found.append([result.search.result.n, *map(str, result.search.result.leaderboard)])
    assert len(found[0]) > 1
    assert found[0][0] == (4000 if values == 4 else 1500)
    assert found[0] == found[1] == found[2]


def test_a_table_that_is_counted_is_searched_with_its_features(tmp_path, monkeypatch):
    """People are drawn for it, with what they are described by; the note says of how many."""
    monkeypatch.setattr(strategy, "COUNTED_FROM", 1000)
    monkeypatch.setattr(execution, "_SEARCHED", 3000)
    frame = people(6000, 1, rate=0.15)
    frame.to_parquet(tmp_path / "people.parquet")
    data = {"path": "people.parquet", "favorable": 1, "protected": ["sex"], "features": ["age", "children"]}
    spec = {"data": data, "model": {"predictions": {"label": "accepted"}}, "audits": [{"groups": {}}]}
    result = execute(parse_spec(spec, tmp_path))
    assert parse_spec(spec, tmp_path).streamed
    assert result.audits[0].result.table[0].n + result.audits[0].result.table[1].n == 6000
    first = result.search.result.leaderboard[0]
    assert {rule["attribute"] for rule in first.rules} == {"sex", "age", "children"}
    assert result.search.result.n == 3000
    assert any("3,000" in each and "6,000" in each for each in result.search.result.warnings)


def test_what_follows_from_features_alone_is_no_finding(tmp_path):
    """Income decides, alike for women and men: women of small income differ from all, not from such men."""
    frame = people(4000, 2)
    frame["accepted"] = (frame["income"] > 0.2).astype(int)
    result = run(frame, tmp_path)
    assert result.search is not None
    assert result.search.result.verdict != EVIDENCE
    assert len(result.findings()) == 1
    assert result.audits[0].result.judged.see == ""


def test_a_small_difference_in_a_sample_does_not_lead_that_of_everyone(tmp_path, monkeypatch):
    monkeypatch.setattr(search, "_MAX_ROWS", 12_000)
    rng = np.random.default_rng(5)
    frame = people(16_000, 5)
    frame["accepted"] = (rng.random(len(frame)) < np.where(frame["sex"] == "woman", 0.55, 0.6)).astype(int)
    result = run(frame, tmp_path)
    assert result.search.result.verdict == EVIDENCE
    assert {each.judged.material for each in findings_of(result)} == {False}
    sizes = [size_against_limit(each.judged) for each in findings_of(result)]
    assert sizes[0] < sizes[1], "what was sampled is the larger one here"
    assert headline_of(result).leads.place == 0
