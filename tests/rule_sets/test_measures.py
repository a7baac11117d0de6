"""Rule sets over errors: measures against plain counting, Shapley shares, and what they need."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.rule_sets import RuleSetsOptions, RuleSetsResult, members, rule_sets
from audits.rule_sets.leaders.contributions import contributions
from audits.rule_sets.options import MEASURES
from audits.rule_sets.sections import section
from audits.stats import EVIDENCE, INSUFFICIENT
from audits.subgroups.attributes import category
from audits.subgroups.cells import count_cells
from tests.refused import refused
from tests.rule_sets.conftest import crowd


@pytest.fixture(scope="module")
def subject() -> Subject:
    """Scores that are right for all but women of group d, whose good label is missed half of the time."""
    frame, rng = crowd(1500, seed=3), np.random.default_rng(3)
    missed = (frame["sex"] == "f") & (frame["race"] == "d") & (rng.random(1500) < 0.7)
    frame["label"] = frame.pop("decision")
    good = (frame["label"] == 1) & ~missed
    frame["p"] = np.clip(0.2 + 0.6 * good + rng.normal(0, 0.05, 1500), 0, 1)
    spec = DataSpec(label="label", favorable=1, protected=("sex", "race"), features=("income",))
    return make_subject(build_data(frame, spec), model_spec({"predictions": {"score": "p"}}))


@pytest.fixture(scope="module")
def result(subject: Subject) -> RuleSetsResult:
    options = RuleSetsOptions(measures=MEASURES, permutations=199)
    income = {"income": lambda audited: audited.data.frame["income"].to_numpy()}
    return rule_sets(subject, options, functions=income)


def test_labels_known_of_one_group_more_often_leave_measures_without_a_verdict(subject: Subject) -> None:
    groups, men = subject.data.groups, (subject.data.groups["sex"] == "m") & (np.arange(1500) % 2 == 0)
    frame = subject.data.frame.assign(**groups, p=subject.scores, label=np.asarray(subject.data.y, float))
    spec = DataSpec(label="label", favorable=1, protected=("sex", "race"), features=("income",))
    options = RuleSetsOptions(measures=("false_negative_rate",), permutations=99)
    for gone, verdict in ((men & False, EVIDENCE), (men, INSUFFICIENT)):
        data = build_data(frame.assign(label=frame["label"].mask(gone)), spec)
        found = rule_sets(make_subject(data, model_spec({"predictions": {"score": "p"}})), options)
        assert found.measures[0].judged.verdict == verdict


def test_every_measure_is_what_pandas_counts(subject: Subject, result: RuleSetsResult) -> None:
    y, p = np.asarray(subject.data.y), subject.scores
    d = p >= 0.5
    by_hand = {
        "false_positive_rate": (d, ~y),
        "false_negative_rate": (~d, y),
        "precision": (y, d),
        "calibration_error": (y - p, y | ~y),
        "log_loss": (-np.log(np.where(y, p, 1 - p).clip(1e-12)), y | ~y),
        "squared_error": ((y - p) ** 2, y | ~y),
        "amount": (subject.numbers, y | ~y),
        "income": (subject.data.frame["income"].to_numpy(), y | ~y),
    }
    assert [each.measure for each in result.measures] == list(by_hand)
    for each in result.measures:
        values, about = (np.asarray(part) for part in by_hand[each.measure])
        for number in result.rule_sets.index[:10]:
            inside = members(result, number)
            gap = values[inside & about].mean() - values[~inside & about].mean()
            assert result.rule_sets.loc[number, f"{each.measure} difference"] == pytest.approx(gap)
            assert result.rule_sets.loc[number, f"{each.measure} people"] == (inside & about).sum()


def test_the_planted_error_is_found_and_decisions_keep_their_numbers(
    subject: Subject, result: RuleSetsResult
) -> None:
    found = {each.measure: each for each in result.measures}
    assert found["false_negative_rate"].judged.verdict == EVIDENCE
    assert found["false_negative_rate"].leaderboard[0].rule_set == "sex = f, race = d"
    assert found["income"].judged.verdict != EVIDENCE
    alone = rule_sets(subject, RuleSetsOptions(permutations=199))
    assert alone.to_json()["leaderboard"] == result.to_json()["leaderboard"]
    exhibits = {exhibit.key: exhibit for exhibit in section(result).exhibits}
    assert {*MEASURES, "income", "conditions", "lattice"} <= set(exhibits)
    for exhibit in exhibits.values():
        assert exhibit.figure().layout.meta["alt"]
        assert len(exhibit.table())


def test_shares_of_conditions_are_shapley_values_over_all_orders() -> None:
    rng = np.random.default_rng(0)
    sizes = dict(zip("xyz", (2, 3, 2), strict=True))
    codes = {name: rng.integers(0, size, 400) for name, size in sizes.items()}
    attributes = tuple(category(name, codes[name], list("pqr")[:size]) for name, size in sizes.items())
    good = rng.random(400) < 0.3 + 0.3 * (codes["x"] == 0) * (codes["z"] == 1)
    cells, chosen = count_cells(attributes, good), np.array([0, 1, 1])

    def gap(used: set[int]) -> float:
        inside = np.ones(400, dtype=bool)
        for place in used:
            inside &= attributes[place].rules[chosen[place]][codes["xyz"[place]]]
        return good[inside].mean() - good[~inside].mean() if not inside.all() else 0.0

    slow = np.zeros(3)
    for order in permutations(range(3)):
        for step, place in enumerate(order):
            slow[place] += (gap(set(order[: step + 1])) - gap(set(order[:step]))) / 6
    fast = contributions(cells, chosen)
    assert fast == pytest.approx(slow)
    assert fast.sum() == pytest.approx(gap({0, 1, 2}))
    assert len(contributions(cells, np.tile(chosen, 5))) == 0  # too many subsets


def test_measures_say_what_they_need(subject: Subject) -> None:
    people, model = crowd(100), model_spec({"predictions": {"label": "decision"}})
    told = {"favorable": 1, "protected": ("sex",), "features": ("income",)}
    unlabeled = make_subject(build_data(people, DataSpec(**told)), model)
    decided = make_subject(build_data(people, DataSpec(**told, label="decision")), model)
    for asked, measure in ((unlabeled, "precision"), (decided, "log_loss")):
        with refused("rule_sets.measures"):
            rule_sets(asked, RuleSetsOptions(measures=(measure,)))
    with refused("rule_sets.measures['half']", "1,500"):
        rule_sets(subject, functions={"half": lambda audited: np.zeros(3)})
    certain = rule_sets(decided, RuleSetsOptions(measures=("false_positive_rate",), permutations=19))
    assert certain.measures[0].judged.verdict != EVIDENCE
    assert {row.difference.value for row in certain.measures[0].leaderboard} == {0.0}  # never wrong


@pytest.mark.parametrize("people", [5, 40])
def test_few_people_with_one_loss_clear_nobody(people):
    """All are surely right: the losses of either group have no spread."""
    table = pd.DataFrame({"sex": np.repeat(["f", "m"], people), "s": np.tile([0.75, 0.25], people)})
    table["y"] = (table["s"] > 0.5).astype(int)
    data = build_data(table, DataSpec(label="y", favorable=1, protected=("sex",), features=("s",)))
    asked = make_subject(data, model_spec({"predictions": {"score": "s"}}))
    options = RuleSetsOptions(measures=("log_loss", "calibration_error"), samples=0, permutations=99)
    loss, calibration = (each.judged.verdict for each in rule_sets(asked, options, rng=0).measures)
    assert loss == INSUFFICIENT
    assert calibration == INSUFFICIENT or people > 5
