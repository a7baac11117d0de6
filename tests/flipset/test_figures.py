"""Figures show the result's own numbers, say so in words, and cope with empty and hostile input."""

from __future__ import annotations

import numpy as np
import pytest

from audits.drawing.style import alt_text
from audits.flipset.figures import blocks, maps
from audits.flipset.figures import flipsets as figures
from audits.flipset.figures import maps as flipset_maps
from audits.flipset.sections import section
from audits.flipset.text import larger_first
from tests.flipset.conftest import audited, draw_crowd
from tests.flipset.test_maps import two_groups

A, B = {"group": "a"}, {"group": "b"}


@pytest.fixture(scope="module")
def result():
    return audited(draw_crowd(80, 60, d=3, seed=4), source=A, target=B, permutations=19)


def test_transparency_bars_are_the_report(result):
    figure = figures.transparency(result)
    names = figure.layout.yaxis.ticktext
    for way, dots in zip(larger_first(result), (figure.data[0], figure.data[2]), strict=True):
        expected = {each.feature: each.standardized_difference for each in getattr(result, way).transparency}
        told = dict(zip([label.split(":")[0] for label, _ in dots.customdata], dots.x, strict=True))
        assert told == pytest.approx(expected)
    # the first of the larger direction's report is drawn on top, that is last
    assert names[-1] == getattr(result, larger_first(result)[0]).transparency[0].feature


@pytest.mark.parametrize("n", [(80, 60), (700, 60)])
def test_blocks_show_a_person_or_some_as_a_dot(n):
    found = audited(draw_crowd(*n, d=3, seed=4), source=A, target=B, permutations=19, noise_people=60)
    figure = blocks.blocks(found)
    decides, each = figure.data[0], -(-n[0] // 320)
    assert decides.meta["value"] == found.judged.interval.value
    for k, way in enumerate(larger_first(found)):
        flipped, declined, favored = figure.data[1 + 4 * k : 4 + 4 * k]
        assert len(flipped.x) == pytest.approx(getattr(found, way).size / each, abs=0.51)
        assert len(flipped.x) + len(declined.x) + len(favored.x) == -(-n[0] // each)
        hollow = flipped.marker.color == "white"
        assert hollow == (way == "negative"), "hollow is declined"
        if each == 1:
            rows = [row for _, row, _ in flipped.customdata]
            assert set(rows) <= set(found.people.index[found.people[way] > 0])


@pytest.fixture(scope="module")
def mapped():
    return audited(two_groups(), source=A, target=B, transport="gan", map={"iterations": 60}, permutations=0)


def test_arrows_lead_from_people_to_counterparts(mapped):
    figure = flipset_maps.arrows(mapped)
    lines = [trace for trace in figure.data if trace.type == "scatter"]
    starts = sorted(x for trace in lines for x in trace.x[::3])
    assert starts == sorted(mapped.arrows["x"])
    assert all(alt_text(exhibit.figure()) for exhibit in section(mapped).exhibits)
    assert sum(len(trace.x) for trace in lines) == 3 * len(mapped.arrows)
    boundary = next(trace for trace in figure.data if trace.type == "contour")
    # the rule is work - 0.4 hair >= 0.3: the grid must say so wherever the drawing looks
    hair, work = np.meshgrid(boundary.x, boundary.y)
    assert (np.asarray(boundary.z, dtype=bool) == (work - 0.4 * hair >= 0.3)).all()


A, B = {"group": "a"}, {"group": "b"}
QUICK = {"source": A, "target": B, "permutations": 0, "bootstrap": 100}


@pytest.fixture(scope="module")
def again():
    return audited(draw_crowd(60, 50, seed=3), repeats=30, **QUICK)


def test_a_map_whose_counterparts_are_decided_otherwise_fails():
    """A generator without training sends everyone to one place: all or nobody is hired there."""
    result = audited(two_groups(300, 300), transport="gan", map={"iterations": 1}, **QUICK)
    rate, people = result.validation.rates[0], result.people
    pushed = np.average(people["counterparts_favorable"], weights=people["people"])
    assert rate.counterparts == pytest.approx(pushed)
    assert rate.group == pytest.approx(result.target_rate.value)
    gap = pytest.approx(abs(pushed - rate.group))
    check = next(check for check in result.validation.checks if check.value == gap)
    assert (check.passed, check.serious) == (False, True)
    assert any(check.trouble in warning for warning in result.warnings)
    good = audited(two_groups(300, 300), transport="linear", **QUICK)
    assert all(check.passed for check in good.validation.checks)


def test_repeats_count_everyone_in_half_of_them(again):
    found, people = again.again, again.people
    assert found.repeats == len(found.runs) == 30
    assert people["times"].mean() == pytest.approx(15)
    assert (people["flips_again"] <= people["times"] + 1e-9).all()
    share = (people["flips_again"] / people["times"]).dropna()
    assert found.nearly_always == (share >= 0.9).sum()
    assert sum(found.histogram["people"]) == found.people == len(share)
    runs = again.again_frame()
    assert found.negative.value == pytest.approx(runs["negative"].mean())
    assert found.negative.low == pytest.approx(runs["negative"].quantile(0.05))
    assert runs["ks"].max() < 1e-9  # an exact coupling reaches the whole group
    assert len(maps.repeats(again).data) == 3
