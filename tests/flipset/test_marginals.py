"""Marginals of a flipset by hand, its figures, and whether the same people would flip again."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.data.selection import selected_rows
from audits.drawing.style import alt_text
from audits.flipset.comparisons.marginals import bars_of, joint_marginal, marginals
from audits.flipset.figures import blocks, maps, pairs
from audits.flipset.figures import flipsets as figures
from audits.flipset.figures import maps as flipset_maps
from audits.flipset.figures.bars import bar_rules
from audits.flipset.result import Marginal
from audits.flipset.sections import section
from audits.flipset.text import larger_first
from tests.flipset.conftest import audited, draw_crowd, subject_of
from tests.flipset.test_maps import two_groups

SIDES = {"source": {"group": "a"}, "target": {"group": "b"}}


def one(values: list, flips: list[float], *, scaled: bool):
    frame = pd.DataFrame({"x": values})
    (found,) = marginals(frame, {"x": scaled}, np.array(flips), np.ones(len(frame)), np.random.default_rng(0))
    return found


def test_by_hand():
    found = one([1, 1, 2, 3], [1, 0, 0, 1], scaled=True)
    assert found.edges == (0.5, 1.5, 2.5, 3.5)
    assert found.population == (2, 1, 1)
    assert found.flipset == (1, 0, 1)
    # cumulative shares .5, .5, 1 against .5, .75, 1
    assert found.distance == pytest.approx(0.25)
    words = one(["a", "a", "b", "c"], [0, 0, 0.5, 0.5], scaled=False)
    # shares 0, .5, .5 against .5, .25, .25: half the summed gaps
    assert words.distance == pytest.approx(0.5)


def test_missing_numbers_are_a_value_of_their_own_and_nobody_is_lost():
    found = one([1.0, np.nan, 50.0, 3.5], [0, 1, 0, 0], scaled=True)
    assert found.categories is None
    assert found.bars[-1] == ("(missing)", 1, 1)
    assert found.missing == (1, 1)
    assert sum(found.population) == 3
    assert sum(everyone for _, everyone, _ in found.bars) == 4
    # three of four are known and nobody of them flipped: the last bin's gap is the largest
    assert found.distance == pytest.approx(0.75)
    everyone = one([np.nan, np.nan], [1, 0], scaled=True)
    assert everyone.categories == ("(missing)",)


def bar_names(item: Marginal) -> list[str]:
    return list(dict.fromkeys([*item.labels, *item.joined.labels]))


def in_bar(item: Marginal, values: pd.Series, name: str) -> np.ndarray:
    item = item if name in item.labels else item.joined
    return bars_of(item, values) == item.labels.index(name)


def test_the_people_of_all_bars_are_everyone_once():
    values = pd.Series([1.0, np.nan, 50.0, 3.5, 1e9, -7.0] * 40)
    found = one(values.tolist(), [0.0] * 240, scaled=True)
    bars = bars_of(found, values)
    assert np.bincount(bars).tolist() == [everyone for _, everyone, _ in found.bars]
    names = bar_names(found)
    fine, joined = names[: len(found.bars)], found.joined.labels  # the last may be in both
    for bar in (fine, joined):  # ranges, and neighboring ranges joined
        assert sum(in_bar(found, values, name) for name in bar).tolist() == [1] * 240
    words = one(["a", "b", None], [0, 0, 0], scaled=False)
    assert bars_of(words, pd.Series(["b", None, "a", "never seen"])).tolist() == [2, 0, 1, -1]


@pytest.mark.parametrize(
    "values",
    [
        [1.0, np.nan, 50.0, 3.5, 1e9, -7.0] * 20,
        [*range(1000), 10**6],
        ["a", "b", None, "(a, b)"] * 5,
        [True, False, True] * 5,
    ],
)
def test_the_filters_of_a_bar_choose_its_very_people(values):
    found = one(values, [1.0] * len(values), scaled=not isinstance(values[0], (str, bool)))
    data = build_data(pd.DataFrame({"x": pd.Series(values)}), data_spec({"features": ["x"]}))
    for name in bar_names(found):
        inside = in_bar(found, data.frame["x"], name)
        assert selected_rows(data, bar_rules(found, name)).tolist() == data.frame.index[inside].tolist(), name


def test_two_features_at_once_by_hand():
    x, y = pd.Series([1, 1, 2, 2, np.nan]), pd.Series(["u", "v", "u", "u", "u"])
    flips, sizes = np.array([1, 0, 0.5, 1, 0]), np.array([1, 1, 1, 2, 1.0])
    frame, rng = pd.DataFrame({"x": x, "y": y}), np.random.default_rng(0)
    both = marginals(frame, {"x": True, "y": False}, flips, sizes, rng)
    first, second = sorted(both, key=lambda item: item.feature)
    table = joint_marginal(first, x, second, y, flips, sizes)
    found = table.set_index(["x", "y"])[["people", "in the flipset"]].to_dict("index")
    cell = {key: tuple(value.values()) for key, value in found.items()}
    assert cell == {(0, 0): (1, 1), (0, 1): (1, 0), (1, 0): (3, 1.5), (2, 0): (1, 0)}
    figure = pairs.joint_marginal(table, first, second, "negative")
    assert list(figure.data[0].marker.color) == [100 * share for share in table["share"]]
    assert "2 people" in alt_text(figure)


def test_missing_values_do_not_enter_the_transparency_report():
    frame = pd.DataFrame({"x": [0.0, 1, 2, np.nan, 10, 11, 12, 13], "group": list("aaaabbbb")})
    frame = frame.assign(z=[0.0, 1, 2, 3] * 2, decision=[0] * 4 + [1] * 4)
    result = audited(subject_of(frame, missing="category"), **SIDES, permutations=0)
    report = {item.feature: item for item in result.negative.transparency}
    assert report["x"].mean_difference.n == 3
    assert report["x"].mean_sign.value == -1
    assert report["x is missing"].mean_difference.value == pytest.approx(0.25)


def test_twelve_who_all_differ_by_one_have_no_interval():
    """Their draws all agree, and of 12 people one in ten of whom differ the bootstrap held in 68 of 100."""
    frame = pd.DataFrame(
        {"x": np.r_[np.arange(12.0), np.arange(1.0, 13.0)], "group": np.repeat(["a", "b"], 12)}
    )
    frame["decision"] = np.repeat([0, 1], 12)
    (line,) = audited(subject_of(frame), **SIDES, permutations=0).negative.transparency
    assert (line.mean_difference.value, line.mean_difference.low) == (pytest.approx(-1.0), None)
    assert line.mean_sign.low < line.mean_sign.high


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
