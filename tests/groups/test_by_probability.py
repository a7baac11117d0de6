"""Groups known only by probability: bounds, a proxy that may be wrong, few people, refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.groups import GroupsOptions, GroupsResult, groups
from audits.groups.by_probability import column_name, compare_probable, probability_columns
from audits.models import Subject, make_subject, model_spec
from audits.stats import INSUFFICIENT
from tests.refused import refused

ASKED = {"race": {"Black": "p_black", "White": "p_white"}}


def world(n: int, seed: int, *, by_group: float = 0.0, sharp: float = 1.0) -> tuple[pd.DataFrame, np.ndarray]:
    """People with probabilities of being Black, and who is; decisions follow probability and group."""
    rng = np.random.default_rng(seed)
    p = rng.beta(sharp, sharp, n)
    black = rng.random(n) < p
    chance = 0.6 - 0.2 * p - by_group * (black - p)
    frame = pd.DataFrame({"p_black": p, "p_white": 1 - p, "x": 0.0})
    return frame.assign(score=np.where(rng.random(n) < chance, 0.9, 0.1)), black


def subject_of(frame: pd.DataFrame, **data: object) -> Subject:
    spec = DataSpec(features=("x",), **data)
    return make_subject(
        build_data(frame, spec), model_spec({"predictions": {"score": "score"}}), threshold=0.5
    )


def audited(frame: pd.DataFrame, **options: object) -> GroupsResult:
    return groups(subject_of(frame), GroupsOptions(by_probability=ASKED, **options))


def test_without_anything_known_the_bounds_are_frechets():
    """One probability for all: of d = 60% favorable, a group of 50% has between 20% and all."""
    n = 4000
    frame = pd.DataFrame({"p_black": 0.5, "p_white": 0.5, "x": 0.0, "score": np.arange(n) % 5 < 3})
    black, white = audited(frame.astype({"score": float})).probable
    assert "0.200 to 1.000" in black.bounds.method
    assert black.selection_rate.value == pytest.approx(0.6)
    gap = white.difference_bounds
    assert (gap.low, gap.high) == (pytest.approx(-0.8, abs=0.06), pytest.approx(0.8, abs=0.06))
    assert white.verdict == "insufficient evidence"


def test_a_proxy_that_may_be_wrong_makes_everything_wider():
    frame, _ = world(2000, 3, sharp=0.3)
    right, wrong = audited(frame).probable, audited(frame, proxy_error=0.05).probable
    for one, other in zip(right, wrong, strict=True):
        assert other.selection_rate.low < one.selection_rate.low < one.selection_rate.high
        assert one.selection_rate.high < other.selection_rate.high
        assert other.bounds.low < one.bounds.low < one.bounds.high < other.bounds.high


@pytest.mark.parametrize(
    ("change", "asked", "where", "tells"),
    [
        ({"p_black": 1.2}, ASKED, "groups.by_probability.race.Black", ("300",)),
        ({"p_black": np.nan}, ASKED, "groups.by_probability.race.Black", ("300",)),
        ({"p_black": 0.0}, ASKED, "groups.by_probability.race.Black", ()),
        ({"p_black": "much"}, ASKED, "groups.by_probability.race.Black", ()),
        ({"p_black": 0.9, "p_white": 0.3}, ASKED, "groups.by_probability.race", ()),
        ({}, {"race": {"Black": "p_blac"}}, "groups.by_probability.race.Black", ("'p_black'",)),
    ],
)
def test_what_is_no_probability_is_refused(change, asked, where, tells):
    frame, _ = world(300, 0)
    with refused(where, *tells):
        probability_columns(frame.assign(**change), asked)
    with refused("groups.reference"):
        audited(frame, reference={"race": "Green"})


@pytest.mark.parametrize(("few", "many"), [(5, 5), (10, 10), (5, 200)])
def test_few_people_decided_alike_are_neither_cleared_nor_accused(few, many):
    """All were cleared or, of 5 beside 200 people who are as often favored, accused in 3 of 4 samples."""
    member = np.repeat([1.0, 0.0], [few, many])
    options = GroupsOptions(by_probability={"race": {"a": "pa", "b": "pb"}})
    for others in (1.0, 0.95):
        decided = np.r_[np.ones(few), np.arange(many) < others * many].astype(float)
        table = {"decision": decided, "people": 1.0}
        table |= {column_name("race", name): p for name, p in (("a", member), ("b", 1 - member))}
        found = compare_probable(
            pd.DataFrame(table), "race", options, corrected=0.05, rng=np.random.default_rng(0)
        )
        for each in found:
            assert each.bounds.high - each.bounds.low > 0.01
            assert each.is_reference or each.verdict == INSUFFICIENT
            assert each.is_reference or each.p_value > 0.05 or others == 1


def test_certain_probabilities_are_groups():
    """Probabilities of 0 and 1 leave nothing open: bounds, estimate and the known groups' rates agree."""
    frame, black = world(3000, 1)
    frame = frame.assign(p_black=black.astype(float), p_white=1.0 - black)
    frame["race"] = np.where(black, "Black", "White")
    known = groups(subject_of(frame, protected=("race",)), GroupsOptions(by_probability=ASKED))
    rows = {row.group: row for row in known.table}
    for item in known.probable:
        rate, own = rows[item.group].selection_rate, item.selection_rate
        assert (own.value, own.low, own.high) == pytest.approx((rate.value, rate.low, rate.high))
        assert (item.bounds.low, item.bounds.high) == pytest.approx((rate.low, rate.high), abs=0.003)
