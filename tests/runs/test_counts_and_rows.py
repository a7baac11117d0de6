"""The same people as rows with counts or one row each, in any order and at any place: the same numbers."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.explain import doubly_robust
from audits.models import Subject, make_subject, model_spec
from audits.notebook import audit
from audits.runs.execute import carry_out, execute
from audits.runs.registry import _OURS
from audits.runs.spec import audit_request, parse_spec
from audits.sensitivity.measurement import crossfit
from audits.stats import EVIDENCE, INSUFFICIENT
from tests.runs.conftest import make_spec

SECTION = {
    "label": "hired",
    "favorable": 1,
    "protected": ["sex"],
    "features": ["place", "grade", "sex"],
    "roles": {"actionable": ["grade"]},
    "kinds": {"grade": "continuous"},
}
PAIR = {"source": {"sex": "f"}, "target": {"sex": "m"}}
ASKED: dict[str, tuple[dict[str, Any], float]] = {
    "groups": ({"bootstrap": 0}, 0.0),
    # three standard errors of what 999 permutations give by chance
    "flipset": ({**PAIR, "permutations": 999, "bootstrap": 100, "repeats": 5}, 0.001),
    "barycenter": ({"by": ["sex"], "permutations": 99}, 0.001),
    # ends of intervals from 400 draws
    "outcome_transport": ({**PAIR, "permutations": 99, "draws": 400}, 0.001),
    "recourse": ({"by": ["sex"], "permutations": 1999, "fewest": False}, 0.001),
    # shares of 1,000 perturbed samples
    "rule_sets": ({"protected": ["sex"], "permutations": 199}, 0.05),
    "attribute_swap": ({"attribute": ["sex"]}, 0.0),
    "mitigation": ({"protected": ["sex"], "amounts": [0.05], "also": {}}, 0.001),
    # which fold's direction a row of several people is moved along
    "loss_ratio": ({"sensitive": ["sex"], "steps": 50}, 0.01),
    # ends that permutations decide
    "sensitivity": ({"protected": "sex", "bootstrap": 200}, 0.002),
}
"""Options of each audit, and how far a share may be from that of the other form of the table; 0 where
nothing is drawn. Numbers of people may lie three times as far apart, relative to them or a tenth of all."""

JUDGED = ("value", "low", "high")


def cells(seed: int = 0) -> pd.DataFrame:
    """A table of 36 cells of 1 to 500 people."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        itertools.product("fm", "abc", [0.31, 1.27, 2.94], [0, 1]), columns=["sex", "place", "grade", "hired"]
    )
    chance = 1 / (
        1 + np.exp(1.2 - frame["grade"] - 0.7 * (frame["sex"] == "m") + 0.5 * (frame["place"] == "c"))
    )
    weight = rng.lognormal(3.5, 1, 18).repeat(2) * np.where(frame["hired"] == 1, chance, 1 - chance)
    return frame.assign(n=np.clip(np.rint(weight), 1, 500).astype(int))


def both(model: dict[str, Any], seed: int = 0) -> tuple[Subject, Subject]:
    """The people of `cells` as counts, and one row each in another order."""
    table = cells(seed)
    each = table.loc[table.index.repeat(table["n"])].drop(columns="n").sample(frac=1, random_state=seed)
    made = [
        make_subject(build_data(frame, data_spec(SECTION | more)), model_spec(model), seed=seed)
        for frame, more in ((table, {"weights": "n"}), (each.reset_index(drop=True), {}))
    ]
    return made[0], made[1]


def sums(data: Any) -> pd.Series:
    """People of each cell."""
    frame = data.frame.assign(people=1.0 if data.weights is None else data.weights)
    return frame.groupby(["sex", "place", "grade", "hired"])["people"].sum()


@pytest.mark.parametrize("kind", ["forest", "reductions"])
def test_a_split_divides_people_and_a_model_learns_from_people(kind: str) -> None:
    counts, rows = both({"train": kind})
    for one, other in ((counts.data, rows.data), (counts.training, rows.training)):
        pd.testing.assert_series_equal(sums(one), sums(other))
    together = sums(counts.data).add(sums(counts.training), fill_value=0)
    assert together.sum() == cells()["n"].sum()
    for sex, hired in itertools.product("fm", (0, 1)):  # stratified by group and label
        wanted = 0.3 * together.xs((sex, hired), level=("sex", "hired")).sum()
        held = sums(counts.data).xs((sex, hired), level=("sex", "hired")).sum()
        assert abs(held - wanted) <= 1
    score = counts.model.score(cells()), rows.model.score(cells())
    np.testing.assert_allclose(*score, atol=1e-9)


def stated(part: Any, path: str = "") -> Iterator[tuple[str, float, float]]:
    """Yield values and ends of all estimates in a result's JSON, and how many people each is of."""
    if isinstance(part, dict):
        if {"value", "low", "high", "n", "method"} <= part.keys():
            yield from ((f"{path}.{key}", part[key], part["n"]) for key in JUDGED if part[key] is not None)
            return
        for key, each in part.items():
            yield from stated(each, f"{path}.{key}")
    elif isinstance(part, list):
        for place, each in enumerate(part):
            yield from stated(each, f"{path}[{place}]")


@pytest.fixture(scope="module", autouse=True)
def _few_fits() -> Iterator[None]:
    """Cross-fit and learn in as few parts as where people are many; two forms of a table differ as little."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossfit, "FEW_ROWS_FITS", crossfit.FITS)
        patch.setattr(doubly_robust, "_MORE_FOLDS", doubly_robust._FOLDS)
        yield


@pytest.fixture(scope="module")
def trained() -> tuple[Subject, Subject]:
    return both({"train": "logistic"})


def found(name: str, subject: Subject) -> dict[str, Any]:
    request = audit_request(name, ASKED[name][0], name)
    if name == "sensitivity":  # of a model that was brought along: halves of the people teach
        subject = dataclasses.replace(subject, training=None)
    told: dict[str, Any] = json.loads(json.dumps(carry_out(request, 0, subject, 0).to_json()))
    return told


def test_every_audit_is_held_here() -> None:
    assert {*ASKED, "explain"} == set(_OURS)


@pytest.mark.parametrize("name", ASKED)
def test_counts_and_rows_in_any_order_have_the_same_numbers(
    name: str, trained: tuple[Subject, Subject]
) -> None:
    counts, rows = (found(name, subject) for subject in trained)
    near = ASKED[name][1]
    assert counts["verdict"] == rows["verdict"]
    ours, theirs = ({path: each for path, *each in stated(told)} for told in (counts, rows))
    assert ours.keys() == theirs.keys()
    assert ours
    for path, (value, _) in ours.items():
        other, people = theirs[path]
        size = 3 * max(abs(other), people / 10) if abs(other) > 1.2 else 1.0
        assert abs(value - other) <= max(near * size, 1e-9), path


def _people(seed: int = 3, n: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n).round(2), "z": rng.normal(size=n)})
    frame["sex"] = rng.choice(["f", "m"], n)
    frame["race"] = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    frame["x"] += 0.4 * (frame["sex"] == "m")
    frame["y"] = (rng.random(n) < 1 / (1 + np.exp(-frame["x"] - 0.5 * frame["z"]))).astype(int)
    return frame.assign(who=rng.integers(0, 300, n))


ORDERED: dict[str, dict[str, Any]] = {
    "groups": {"by": ["sex"]},
    "explain": {**PAIR, "attribution": True},
    "outcome_transport": {**PAIR, "permutations": 19, "draws": 40},
    "recourse": {"permutations": 99, "fewest": False, "refits": 2},
    "loss_ratio": {"steps": 10},
    "rule_sets": {"permutations": 49, "samples": 200},
    "mitigation": {"protected": ["sex"], "amounts": [0.05], "also": {}, "methods": ["thresholds"]},
}


def test_no_order_of_rows_attributes_or_features_decides() -> None:
    frame = _people()
    shuffled = frame.sample(frac=1, random_state=1).reset_index(drop=True)
    judged: list[dict[str, list[float]]] = []
    for table, protected, features in (
        (frame, ["sex", "race"], ["x", "z", "sex"]),
        (shuffled, ["race", "sex"], ["z", "sex", "x"]),
    ):
        section = {"label": "y", "favorable": 1, "protected": protected, "features": features}
        section |= {"roles": {"actionable": ["x"]}, "person": "who"}
        subject = make_subject(
            build_data(table, data_spec(section)), model_spec({"train": "logistic"}), seed=0
        )
        judged.append({})
        for name, options in ORDERED.items():
            told = carry_out(audit_request(name, options, name), 0, subject, 0).to_json()
            parts = told["attribution"]["features"] if name == "explain" else []
            estimates = [told["interval"], *(each["part"] for each in parts)]
            judged[-1][name] = [each[key] for each in estimates for key in JUDGED]
    for name, ends in judged[0].items():
        assert judged[1][name] == pytest.approx(ends, abs=1e-6), name


def test_weights_that_add_up_to_one_person_are_no_evidence():
    """Shares for weights: 2,000 rows of which all of one town are refused stand for one person."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"town": rng.choice(["north", "south"], 2000), "x": rng.normal(size=2000)})
    frame["hired"] = (frame["town"] == "north").astype(int)
    for weight, verdict in ((1 / 2000, INSUFFICIENT), (0.5, EVIDENCE)):
        told = {"weights": {"column": "weight", "kind": "counts"}, "favorable": 1, "protected": ["town"]}
        asked = [{"rule_sets": {"permutations": 99, "samples": 0}}]
        found = audit(
            None, frame.assign(weight=weight), predictions="hired", audits=asked, search=False, **told
        )
        result = found.audits[0].result
        assert (result.verdict, result.n) == (verdict, pytest.approx(2000 * weight))
        assert result.warnings


def test_a_word_of_texts_is_a_group_without_any_protected_column(tmp_path):
    """Those with "gay" are called toxic more often; there is a text, a score, and nothing to exchange."""
    rng = np.random.default_rng(2)
    who = rng.choice(["gay", "male", "neighbour"], 600)
    texts = [f"my {each} friend {k} was here today" for k, each in enumerate(who)]
    score = np.where((who == "gay") & (rng.random(600) < 0.8), 0.2, 0.9)
    pd.DataFrame({"words": texts, "score": score}).to_csv(tmp_path / "people.csv", index=False)
    spec = make_spec({"rule_sets": {"text": "words", "permutations": 99, "samples": 0}})
    spec["data"] = {"path": "people.csv", "kinds": {"words": "text"}}
    result = execute(parse_spec(spec, tmp_path)).audits[0].result
    assert (result.verdict, result.leaderboard[0].n_in) == (EVIDENCE, (who == "gay").sum())
