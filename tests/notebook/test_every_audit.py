"""What results of every audit have in common: one long table, files, pickles, types, and a gate in memory."""

from __future__ import annotations

import pickle
import re
import typing
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import evenhand
from audits.errors import InputError
from audits.findings import Findings
from audits.runs.gates.rules import Rule, check_words, metric_names, numbers
from audits.runs.registry import AUDITS
from tests.refused import refused

ROOT = Path(__file__).resolve().parents[2]
SIDES = {"source": {"row": "f"}, "target": {"row": "m"}}
CHOSEN = {  # columns are called as an argument and an index of pandas are
    "groups": {"bootstrap": 0},
    "flipset": {**SIDES, "permutations": 19, "bootstrap": 100},
    "barycenter": {"by": ["row"], "permutations": 19},
    "explain": {**SIDES, "explainers": ["self", "age"]},
    "rule_sets": {"permutations": 49, "samples": 0},
    "loss_ratio": {"steps": 3},
    "outcome_transport": {"by": ["row"], "against": "label", "permutations": 19, "draws": 20},
    "recourse": {"actionable": ["self"], "steps": [0, 0.5, 1]},
    "attribute_swap": {},
    "sensitivity": {"protected": "row", "bootstrap": 100},
}


def audited(rows: pd.Index, chosen: Iterable[str] = CHOSEN) -> Findings:
    rng = np.random.default_rng(0)
    people = pd.DataFrame({"self": rng.normal(size=150).round(2), "age": rng.integers(18, 70, 150)}, rows)
    people["job"], people["row"] = rng.choice(["a", "b"], 150), rng.choice(["f", "m"], 150)
    hired = (people["self"] + 0.8 * (people["row"] == "m") + rng.normal(size=150) > 0).astype(int)
    columns = make_column_transformer((OneHotEncoder(), ["job", "row"]), remainder="passthrough")
    model = make_pipeline(columns, LogisticRegression()).fit(people, hired)
    roles = {"actionable": ["self"], "immutable": ["age"]}
    asked = [*((name, CHOSEN[name]) for name in chosen), ("groups", {"bootstrap": 0, "level": 0.1})]
    return evenhand.audit(
        model, people, hired, favorable=1, protected="row", roles=roles, search=False,
        audits=[{name: options} for name, options in asked],
    )  # fmt: skip


@pytest.fixture(scope="module")
def results() -> Findings:
    return audited(pd.Index([f"p{k:03}" for k in range(150)]))


def test_people_may_be_named_by_times_as_by_texts(results, tmp_path):
    chosen = ("groups", "flipset", "rule_sets", "attribute_swap")  # each looks people up in a way of its own
    named = audited(pd.date_range("2024", periods=150, tz="UTC"), chosen)
    named.save(tmp_path)
    assert [named[name].verdict for name in chosen] == [results[name].verdict for name in chosen]


def test_the_long_table_names_each_estimate_once(results: Findings) -> None:
    table = results.tidy()
    assert set(table["audit"]) == {*CHOSEN, "groups-2"}
    assert not table.duplicated(["audit", "attribute", "group", "measure"]).any()
    assert table[["value", "unit", "verdict"]].notna().all(axis=None)
    units = dict(zip(table["audit"] + " " + table["measure"], table["unit"], strict=True))
    assert units["outcome_transport interval"] == "cost"
    assert units["recourse by_alpha[0.5].reclassified"] == "share"
    groups = table[(table["audit"] == "barycenter") & table["measure"].str.startswith("groups.")]
    assert set(groups["group"]) == {"f", "m"}, "parts of a group's row stay the group's"
    told = table[(table["measure"] == "table.selection_rate") & (table["group"] == "f")].iloc[0]
    rate = next(row for row in results["groups"].table if row.group == "f").selection_rate
    assert tuple(told[["value", "low", "high", "n"]]) == (rate.value, rate.low, rate.high, rate.n)


def test_each_comes_back_from_files(results: Findings, tmp_path: Path) -> None:
    results.save(str(tmp_path / "kept"))
    back = evenhand.load(tmp_path / "kept")
    assert back.to_json()["audits"] == results.to_json()["audits"]
    assert back["groups"].verdict == results["groups"].verdict
    assert list(back.figures) == list(results.figures)
    pd.testing.assert_frame_equal(back.tidy(), results.tidy())


def test_each_comes_back_from_a_pickle_without_the_model_and_shows_itself(results: Findings) -> None:
    back = pickle.loads(pickle.dumps(results))
    assert back.to_json() == results.to_json()
    assert back.subject is None
    for name in CHOSEN:
        result = back[name]
        assert result.judged.badge_text in repr(result)
        assert result.to_frame().shape[1] > 1
        assert "<table" in result._repr_html_()


def test_types_say_the_class_of_each_result() -> None:
    stated = {}
    for each in typing.get_overloads(Findings.__getitem__):
        text, kind = each.__annotations__["name"], each.__annotations__["return"]
        if found := re.fullmatch(r"Literal\[['\"](\w+)['\"]\]", text):
            stated[found[1]] = kind
    assert stated == {name: AUDITS[name].result_type.__name__ for name in AUDITS.ours}


def test_the_docs_list_names_that_rules_may_have(results: Findings) -> None:
    entries = results.to_json()["audits"]
    page = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")
    listed = {
        audit: re.findall(r"`([\w.]+)`", names)
        for audit, names in re.findall(r"^\| `?(\w+)`? \| (`.*) \|$", page, flags=re.MULTILINE)
        if audit in {*CHOSEN, "any"}
    }
    assert set(listed) == {*CHOSEN, "any"}
    for audit, names in listed.items():
        whose = None if audit == "any" else audit
        known = metric_names(CHOSEN if whose is None else [audit])
        for name in names:
            assert numbers(entries, Rule(metric=name, audit=whose, at_least=-1.0), "gate.rules[0]"), name
            assert name.split(".")[-1] in known, name
    stated = {re.sub(r"\[.*?\]", "", path).rpartition(".")[2] for path in results.tidy()["measure"]}
    # none is taken for a mistake before a run
    check_words([Rule(metric=name, at_least=0.0) for name in sorted(stated)], {"audits": list(CHOSEN)})


def test_a_gate_holds_results_in_memory(results: Findings) -> None:
    assert results.check({"metric": "selection_rate", "at_least": 0.0}) is results
    with pytest.raises(evenhand.GateFailed, match="impact_ratio") as failed:
        results.check([{"metric": "impact_ratio", "audit": "groups", "at_least": 0.99}])
    assert failed.value.results is results
    assert re.search(r"results.tables\['(.+?)'\]", str(failed.value))[1] in results.tables
    for ask, where in (
        (lambda: results.check([{"metrik": "impact_ratio"}]), "gate.rules[0].metrik"),
        (lambda: results.check("impact_ratio > 0.8"), "rules"),
        (lambda: evenhand.check(results, "material", fail_on="evidence"), "fail_on"),
        (lambda: evenhand.check(print, [{"metric": "selection_rate", "at_least": 0.1}]), "spec"),
        (lambda: evenhand.compare(results, "other"), "second"),
    ):
        with refused(where):
            ask()


@pytest.mark.parametrize(
    ("rule", "meant"),
    [
        ({"metric": "impact_ration"}, "'impact_ratio'"),
        ({"metric": "disparate_impact"}, "impact_ratio"),
        ({"by": "roww"}, "'row'"),
        ({"audit": "grops"}, "'groups'"),
        ({"group": "women"}, "'m'"),
    ],
)
def test_a_rule_is_refused_by_the_word_that_is_wrong_before_anything_runs(results, rule, meant) -> None:
    spec = {"data": {"path": "missing.csv", "protected": ["row"]}, "audits": ["groups"]}
    for held in [results] if "group" in rule else [spec, results]:  # who is there is in the results
        with pytest.raises(InputError) as said:
            evenhand.check(held, [{"metric": "impact_ratio", "at_least": 0.8, **rule}])
        assert said.value.where == f"gate.rules[0].{next(iter(rule))}"
        assert meant in said.value.advice


def test_everything_public_is_reachable_by_one_name() -> None:
    assert {"audit", "check", "compare", "load", "Monitor", "groups"} <= set(dir(evenhand))
    for name in dir(evenhand):
        getattr(evenhand, name)
    with pytest.raises(AttributeError) as said:
        evenhand.grops  # noqa: B018
    assert (said.value.name, said.value.obj) == ("grops", evenhand)
