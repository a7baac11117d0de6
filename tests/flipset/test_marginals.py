"""Marginals of a flipset: by hand, with missing values and heavy tails, and their p-values under chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.data.selection import selected_rows
from audits.drawing.style import alt_text
from audits.flipset.comparisons.marginals import bars_of, joint_marginal, marginals
from audits.flipset.figures import pairs
from audits.flipset.figures.bars import bar_rules
from audits.flipset.result import Marginal
from tests.flipset.conftest import audited, subject_of

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
