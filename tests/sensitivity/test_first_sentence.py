"""No verdict where no feature reveals protected status, and no all-clear where the model reads it."""

from __future__ import annotations

import dataclasses

import pytest

from audits.sensitivity import SensitivityOptions, SensitivityResult, figures, sensitivity
from audits.sensitivity.text import headline
from audits.stats import EVIDENCE, INSUFFICIENT
from benchmarks.calibration.sensitivity import penalized
from tests.sensitivity.conftest import people, subject_of

ASKED = SensitivityOptions(match_set="off", bootstrap=100)


@pytest.fixture(scope="module")
def direct() -> list[SensitivityResult]:
    """A model that takes 4 log-odds from every woman, whom `height` reveals in part."""
    subject = penalized(1200, 0.8, 0)
    rates = subject.decisions[subject.data.groups["sex"] == "f"].mean(), subject.decisions.mean()
    assert rates[0] < 0.6 * rates[1]
    return [sensitivity(subject, ASKED, rng=seed) for seed in range(4)]


def test_a_model_that_reads_the_attribute_is_never_cleared(direct):
    for found in direct:
        assert found.direct == ("sex",)
        assert not found.status[0].at_chance
        if found.verdict != EVIDENCE:
            assert (found.verdict, found.judged.badge, found.people_needed) == (
                INSUFFICIENT,
                "no verdict",
                None,
            )
        assert "sex" in headline(found)


@pytest.mark.parametrize("given", [False, True])
def test_nor_where_the_status_model_is_given_it_or_a_copy_of_it(given):
    if given:
        subject, options = penalized(1200, 0.8, 1), SensitivityOptions(give_protected=True, match_set="off")
    else:
        frame = people(1200, bias=4.0)
        frame["badge"] = (frame["group"] == "b").astype(int)
        subject = subject_of(frame, features=("skill", "badge", "town"))
        options = ASKED
    found = sensitivity(subject, options)
    assert found.status[0].auc.value > 0.995
    assert found.verdict in {EVIDENCE, INSUFFICIENT}


def test_a_status_model_at_chance_gives_no_verdict_whatever_the_seed():
    subject = penalized(1200, 0.0, 2)
    for seed in range(3):
        found = sensitivity(subject, ASKED, rng=seed)
        assert found.status[0].at_chance
        assert found.status[0].auc.low <= 0.5
        assert (found.verdict, found.judged.badge, found.people_needed) == (INSUFFICIENT, "no verdict", None)
    assert "sex" in headline(found)
    colors = {trace.marker.color for trace in figures.histogram(found).data}
    assert "#D55E00" not in colors, "nobody is flagged in the color of a finding"


def test_features_that_may_reveal_a_group_are_not_said_to_hide_it():
    found = sensitivity(penalized(1200, 0.0, 2), ASKED)
    status = found.status[0]
    wide = dataclasses.replace(status.auc, low=0.4, high=0.99)
    few = [dataclasses.replace(each, auc=wide) for each in status.groups]
    unsure = dataclasses.replace(found, status=(dataclasses.replace(status, groups=tuple(few)),))
    assert found.status[0].hidden
    assert unsure.status[0].at_chance
    assert not unsure.status[0].hidden
    assert headline(unsure) != headline(found)


def test_cross_fits_measure_everybody_of_a_model_that_was_brought_along():
    subject = penalized(800, 1.0, 3)
    brought = dataclasses.replace(subject, training=None)
    found = sensitivity(brought, ASKED)
    assert found.judged.interval.n == brought.data.n > found.rows["used"]
    assert "cross-fits" in found.judged.interval.method
    assert "cross-fits" in found.status[0].auc.method
