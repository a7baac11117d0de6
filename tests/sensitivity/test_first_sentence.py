"""No verdict where no feature reveals protected status, no all-clear where the model reads it."""

from __future__ import annotations

import dataclasses

import pytest

from audits.comparison.sensitivity import compare
from audits.sensitivity import SensitivityOptions, SensitivityResult, figures, sensitivity
from audits.sensitivity.text import headline
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from benchmarks.calibration.sensitivity import penalized
from tests.sensitivity.conftest import people, subject_of

ASKED = SensitivityOptions(match_set="off", bootstrap=100)


@pytest.fixture(scope="module")
def at_chance() -> SensitivityResult:
    return sensitivity(penalized(1200, 0.0, 2), ASKED)


def test_a_model_that_reads_the_attribute_is_never_cleared():
    """It takes 4 log-odds from every woman, whom `height` reveals in part."""
    subject = penalized(1200, 0.8, 0)
    women = subject.decisions[subject.data.groups["sex"] == "f"].mean()
    assert women < 0.6 * subject.decisions.mean()
    for seed in range(2):
        found = sensitivity(subject, ASKED, rng=seed)
        assert found.direct == ("sex",)
        assert not found.status[0].at_chance
        if found.verdict != EVIDENCE:
            assert (found.verdict, found.judged.badge) == (INSUFFICIENT, "no verdict")
            assert found.people_needed is None
        assert "sex" in headline(found)


def test_features_that_may_reveal_a_group_are_not_said_to_hide_it(at_chance):
    status = at_chance.status[0]
    wide = dataclasses.replace(status.auc, low=0.4, high=0.99)
    few = tuple(dataclasses.replace(each, auc=wide) for each in status.groups)
    unsure = dataclasses.replace(at_chance, status=(dataclasses.replace(status, groups=few),))
    assert unsure.status[0].at_chance
    assert not unsure.status[0].hidden
    assert headline(unsure) != headline(at_chance)


def test_cross_fits_measure_everybody_of_a_model_that_was_brought_along():
    subject = penalized(800, 1.0, 3)
    brought = dataclasses.replace(subject, training=None)
    found = sensitivity(brought, ASKED)
    assert found.judged.interval.n == brought.data.n > found.rows["used"]
    assert "cross-fits" in found.judged.interval.method
    assert "cross-fits" in found.status[0].auc.method


def test_nor_where_the_status_model_is_given_a_copy_of_it():
    frame = people(800, bias=4.0).assign(badge=lambda table: (table["group"] == "b").astype(int))
    asked = dataclasses.replace(ASKED, status_model="logistic")
    found = sensitivity(subject_of(frame, features=("skill", "badge", "town")), asked)
    assert found.status[0].auc.value > 0.995
    assert found.verdict in {EVIDENCE, INSUFFICIENT}
    inside = dataclasses.replace(found.judged, material=False)  # the limit is no all-clear in words either
    both = [dataclasses.replace(inside, verdict=verdict) for verdict in (INSUFFICIENT, NO_MATERIAL)]
    assert len({headline(dataclasses.replace(found, judged=judged)) for judged in both}) == 2


def test_a_status_model_at_chance_gives_no_verdict(at_chance):
    assert at_chance.status[0].at_chance
    assert at_chance.status[0].hidden
    assert at_chance.status[0].auc.low <= 0.5
    assert (at_chance.verdict, at_chance.judged.badge) == (INSUFFICIENT, "no verdict")
    assert at_chance.people_needed is None
    colors = {trace.marker.color for trace in figures.histogram(at_chance).data}
    assert "#D55E00" not in colors, "nobody is flagged in the color of a finding"


def test_a_pairing_holds_the_spread_of_cross_fits():
    """Audits of 240 people held out by two seeds."""
    options, subject = dataclasses.replace(ASKED, status_model="network"), subject_of(people(800))
    found = [sensitivity(subject, options, rng=seed) for seed in range(2)]
    both = compare(found[0], found[1], (subject, subject)).rows
    row = next(each for each in both if each.where.endswith("ratio"))
    assert row.moved.value == pytest.approx(row.second.value - row.first.value)
    flat = [
        dataclasses.replace(each, groups=tuple(dataclasses.replace(g, spread=0.0) for g in each.groups))
        for each in found
    ]
    bare = next(each for each in compare(*flat, (subject, subject)).rows if each.where == row.where)
    assert row.moved.interval(0.05).low < bare.moved.interval(0.05).low
    assert row.judged == (not any(each.at_chance for each in (*found[0].status, *found[1].status)))
