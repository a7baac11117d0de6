"""Results in memory: one long table, a gate, files and pickles, and comparisons that show in a notebook."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import evenhand
from audits.drawing.svg import media
from audits.errors import InputError
from tests.refused import refused


@pytest.fixture(scope="module")
def asked():
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"hours": rng.normal(size=600).round(2), "sex": rng.choice(["f", "m"], 600)})
    merit = people["hours"] + (people["sex"] == "m") * 1.5
    scores = 1 / (1 + np.exp(-merit))
    return {"X": people, "y": (merit + rng.normal(size=600) > 0).astype(int), "scores": scores}


def audited(asked, **more):
    return evenhand.audit(None, favorable=1, protected="sex", audits="groups", **asked, **more)


@pytest.fixture(scope="module")
def results(asked):
    return audited(asked)


def test_a_gate_holds_results_in_memory(results) -> None:
    assert results.check([{"metric": "selection_rate", "at_least": 0.0}]) is results
    assert results.check({"metric": "selection_rate", "at_least": 0.0}) is results
    with pytest.raises(evenhand.GateFailed, match="impact_ratio") as failed:
        results.check([{"metric": "impact_ratio", "at_least": 0.99}])
    assert failed.value.results is results
    assert "results.tables['groups-people']" in str(failed.value)
    assert "groups-people" in results.tables
    with pytest.raises(evenhand.GateFailed):
        evenhand.check(results)


@pytest.mark.parametrize(
    ("ask", "where"),
    [
        (lambda results: results.check([{"metrik": "impact_ratio"}]), "gate.rules[0].metrik"),
        (lambda results: results.check("impact_ratio > 0.8"), "rules"),
        (lambda results: evenhand.check(results, "material", fail_on="evidence"), "fail_on"),
        (lambda results: evenhand.check(print, [{"metric": "selection_rate", "at_least": 0.1}]), "spec"),
        (lambda results: evenhand.compare(results, "other"), "second"),
    ],
)
def test_what_is_no_rule_or_no_result_is_refused(results, ask, where) -> None:
    with refused(where):
        ask(results)


def test_a_comparison_shows_in_a_notebook(asked, results, capsys) -> None:
    changes = evenhand.compare(results, audited(asked, threshold=0.7))
    assert changes.judged.badge_text in changes._repr_html_()
    changes._ipython_display_()
    assert repr(changes).startswith("<Changes: ")
    assert "HTML" in capsys.readouterr().out
    drawn = media(changes.figure())
    judged = [row for row in changes.audits[0].rows if row.verdict is not None and row.kind != "number"]
    assert len(drawn["application/vnd.plotly.v1+json"]["layout"]["yaxis"]["tickvals"]) == len(judged) > 0
    assert drawn["image/svg+xml"].startswith("<svg")


@pytest.mark.parametrize(
    ("rule", "key", "meant"),
    [
        ({"metric": "impact_ration"}, "metric", "'impact_ratio'"),
        ({"metric": "disparate_impact"}, "metric", "impact_ratio"),
        ({"by": "sexx"}, "by", "'sex'"),
        ({"by": "age"}, "by", "'sex'"),
        ({"audit": "grops"}, "audit", "'groups'"),
        ({"group": "women"}, "group", "'m'"),
    ],
)
def test_a_rule_is_refused_by_the_word_that_is_wrong_before_anything_runs(results, rule, key, meant) -> None:
    spec = {"data": {"path": "missing.csv", "protected": ["sex"]}, "audits": ["groups"]}
    for held in (results,) if rule in ({"by": "age"}, {"group": "women"}) else (spec, results):
        with pytest.raises(InputError) as said:
            evenhand.check(held, [{"metric": "impact_ratio", "at_least": 0.8, **rule}])
        assert said.value.where == f"gate.rules[0].{key}"
        assert meant in said.value.advice


def test_everything_public_is_reachable_by_one_name() -> None:
    assert {"audit", "check", "compare", "load", "Monitor", "groups"} <= set(dir(evenhand))
    for name in dir(evenhand):
        getattr(evenhand, name)
    with pytest.raises(AttributeError) as said:
        evenhand.grops  # noqa: B018
    assert (said.value.name, said.value.obj) == ("grops", evenhand)
