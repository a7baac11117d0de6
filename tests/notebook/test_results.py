"""Results in memory: one long table, a gate, files and pickles, and comparisons that show in a notebook."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import evenhand
from audits.drawing.svg import media
from audits.errors import InputError
from tests.refused import refused


@pytest.fixture(scope="module")
def made():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"hours": rng.normal(size=600).round(2), "sex": rng.choice(["f", "m"], 600)})
    hired = (people["hours"] + (people["sex"] == "m") * 1.5 + rng.normal(size=600) > 0).astype(int)
    model = LogisticRegression().fit(people[["hours"]] + 1.2 * (people[["sex"]] == "m").to_numpy(), hired)

    def score(frame: pd.DataFrame) -> np.ndarray:
        return model.predict_proba(frame[["hours"]] + 1.2 * (frame[["sex"]] == "m").to_numpy())[:, 1]

    return score, people, hired


@pytest.fixture(scope="module")
def results(made):
    score, people, hired = made
    return evenhand.audit(score, people, hired, favorable=1, protected="sex", audits=["groups", "rule_sets"])


def test_one_long_table_of_every_estimate(results) -> None:
    table = results.tidy()
    assert list(table) == [
        *("audit", "attribute", "group", "measure", "value", "low", "high", "n", "unit", "method", "verdict")
    ]
    rate = table[(table["measure"] == "table.selection_rate") & (table["group"] == "f")].iloc[0]
    row = next(each for each in results["groups"].table if each.group == "f")
    assert (rate["value"], rate["low"], rate["n"]) == (
        row.selection_rate.value,
        row.selection_rate.low,
        row.selection_rate.n,
    )
    assert set(table["audit"]) == {"groups", "rule_sets"}
    units = dict(zip(table["measure"], table["unit"], strict=True))
    assert (units["table.selection_rate"], units["table.impact_ratio"]) == ("share", "ratio")


def test_a_pickle_holds_the_numbers_and_no_model(results) -> None:
    back = pickle.loads(pickle.dumps(results))
    assert back.to_json() == results.to_json()
    assert back.subject is None


def test_a_gate_holds_results_in_memory(results) -> None:
    assert results.check([{"metric": "selection_rate", "at_least": 0.0}]) is results
    with pytest.raises(evenhand.GateFailed, match="impact_ratio"):
        results.check([{"metric": "impact_ratio", "at_least": 0.99}])
    with pytest.raises(evenhand.GateFailed):
        evenhand.check(results)
    with refused("gate.rules[0].metrik"):
        results.check([{"metrik": "impact_ratio", "at_least": 0.9}])
    with refused("fail_on"):
        evenhand.check(results, "material", fail_on="evidence")


def test_a_comparison_shows_in_a_notebook(made, results, capsys) -> None:
    score, people, hired = made
    other = evenhand.audit(
        score, people, hired, favorable=1, protected="sex", audits=["groups"], threshold=0.7
    )
    changes = evenhand.compare(results, other)
    assert changes.verdict in changes._repr_html_() or changes.judged.badge_text in changes._repr_html_()
    changes._ipython_display_()
    assert repr(changes).startswith("<Changes: ")
    assert "HTML" in capsys.readouterr().out
    drawn = media(changes.figure())
    judged = [row for row in changes.audits[0].rows if row.verdict is not None and row.kind != "number"]
    assert len(drawn["application/vnd.plotly.v1+json"]["layout"]["yaxis"]["tickvals"]) == len(judged) > 0
    assert drawn["image/svg+xml"].startswith("<svg")


def test_a_rule_is_refused_by_the_word_that_is_wrong_before_anything_runs(results, tmp_path) -> None:
    spec = {
        "data": {"path": str(tmp_path / "missing.csv"), "protected": ["sex"]},
        "audits": ["groups"],
    }
    wrong = [
        ({"metric": "impact_ration"}, "metric", "'impact_ratio'"),
        ({"metric": "disparate_impact"}, "metric", "impact_ratio"),
        ({"metric": "impact_ratio", "by": "sexx"}, "by", "'sex'"),
        ({"metric": "impact_ratio", "audit": "grops"}, "audit", "'groups'"),
    ]
    for rule, key, meant in wrong:
        for held in (spec, results):
            with pytest.raises(InputError) as said:
                evenhand.check(held, [{**rule, "at_least": 0.8}])
            assert said.value.where == f"gate.rules[0].{key}"
            assert meant in said.value.advice
    with pytest.raises(InputError) as said:
        results.check([{"metric": "impact_ratio", "by": "age", "at_least": 0.8}])
    assert (said.value.where, "'sex'" in said.value.advice) == ("gate.rules[0].by", True)
    with pytest.raises(InputError) as said:
        results.check([{"metric": "impact_ratio", "group": "women", "at_least": 0.8}])
    assert (said.value.where, "'m'" in said.value.advice) == ("gate.rules[0].group", True)


def test_a_failure_says_where_to_look_next(results) -> None:
    with pytest.raises(evenhand.GateFailed) as failed:
        results.check([{"metric": "impact_ratio", "at_least": 0.99}])
    assert failed.value.results is results
    for word in ("evenhand explain groups", "results.tables['groups-people']"):
        assert word in str(failed.value)
    assert "groups-people" in results.tables


def test_everything_public_is_reachable_by_one_name() -> None:
    assert evenhand.groups.__name__ == "audits.groups"
    assert evenhand.__version__
    assert {"audit", "check", "compare", "load", "Monitor", "groups"} <= set(dir(evenhand))
    for name in dir(evenhand):
        getattr(evenhand, name)
    with pytest.raises(AttributeError) as said:
        evenhand.grops  # noqa: B018
    assert (said.value.name, said.value.obj) == ("grops", evenhand)


def test_a_value_with_the_sign_of_intersections_is_named_whole() -> None:
    rng = np.random.default_rng(0)
    race = rng.choice(["Black & Asian", "White & Asian"], 600)
    people = pd.DataFrame({"race": race, "x": rng.normal(size=600)})
    hired = (rng.random(600) < np.where(race == "Black & Asian", 0.3, 0.6)).astype(int)
    sides = {"source": {"race": "Black & Asian"}, "target": {"race": "White & Asian"}}
    asked = {
        "groups": {},
        "flipset": sides | {"permutations": 39},
        "explain": sides | {"explainers": ["x"]},
        "outcome_transport": sides | {"draws": 39},
    }
    told = {"favorable": 1, "protected": "race", "search": False}
    for each in evenhand.audit(None, people, predictions=hired, audits=asked, **told).audits:
        assert "Black & Asian" in each.headline
        assert each.name == "flipset" or each.headline.count("&") in {1, 2}
