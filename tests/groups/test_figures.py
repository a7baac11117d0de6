"""Figures of a group comparison: the numbers of the result, and every group a row of its own."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from audits.drawing.style import CLEAR, distinct
from audits.groups import GroupsOptions, at_threshold, groups
from audits.groups import beside as compare_models
from audits.groups.exhibits import section
from audits.groups.figures.curves import scores
from audits.groups.figures.dots import beside, differences, pooled, probable, rates
from audits.groups.figures.layout import MOST_GROUPS
from tests.groups.test_groups import people, subject_of


def rows_of(figure):
    """Names of the rows, lowest first: beside the first panel, or above each row where they are long."""
    ticks = list(figure.layout.yaxis.ticktext)
    above = [note for note in figure.layout.annotations if note.x == 0 and note.xref == "paper"]
    written = ticks if any(ticks) else [n.text for n in above if n.xshift == CLEAR and n.y == int(n.y)]
    return [re.sub(r"( \([\d,]+\))?( · reference)?$", "", name).strip("“”") for name in written]


def marks(figure):
    """What is drawn, without what only names marks in the legend."""
    return [trace for trace in figure.data if trace.x != (None,)]


def test_differences_are_the_results():
    result = groups(subject_of(people(600)))
    figure = differences(result, "race")
    drawn = {
        (rows_of(figure)[place], trace.xaxis): (value, value - below, value + above)
        for trace in marks(figure)
        for place, value, below, above in zip(
            trace.y, trace.x, trace.error_x.arrayminus, trace.error_x.array, strict=True
        )
    }
    assert len(drawn) == 6
    gap = next(row for row in result.of("race") if row.group == "B").differences["selection_rate"].estimate
    assert drawn["B", "x"] == pytest.approx([100 * end for end in (gap.value, gap.low, gap.high)])


def test_names_that_begin_alike_are_rows_of_their_own():
    frame = people(300)
    long = "x" * 400
    frame["race"] = frame["race"].map({"A": long + "1", "B": long + "2", "C": "<b>&"})
    result = groups(subject_of(frame, protected=("race",)))
    for figure, k in ((rates(result, "race"), 3), (differences(result, "race"), 2)):
        rows = set(rows_of(figure))
        assert len(rows) == k
        assert {place for trace in marks(figure) for place in trace.y} == set(range(k))
        assert max(map(len, rows)) < 60
    names = [trace.name for trace in scores(result, "race").data]
    assert len(set(names)) == 3
    assert not any("<b>" in name for name in names)


def test_a_rate_has_the_colour_of_its_verdict_in_both_figures_and_the_legend_says_so():
    result = groups(subject_of(people(900)))
    told = [trace.name for trace in rates(result, "race").data if trace.x == (None,)]
    assert told[0] == "reference"
    assert all(trace.cliponaxis is False for trace in marks(rates(result, "race"))), "a dot at 0 is whole"
    assert told[-1] == "four fifths of the highest"
    for figure in (rates(result, "race"), differences(result, "race")):
        legend = {trace.name: trace.marker.color for trace in figure.data if trace.x == (None,)}
        looks = {(trace.xaxis, place): trace.marker.color for trace in marks(figure) for place in trace.y}
        names = rows_of(figure)
        for row in result.of("race"):
            for k, (_, gap) in enumerate(row.differences.items()):
                seen = looks["x" if k == 0 else f"x{k + 1}", names.index(row.group)]
                assert seen == legend[gap.verdict]


def test_labels_stay_different_whatever_they_have_in_common():
    names = ["a" * 400, "a" * 401, "b", "a" * 200 + "x" + "a" * 200]
    found = distinct(names)
    assert len(set(found)) == len(names)
    assert found[2] == "b"
    assert distinct(["north", "south"]) == ["north", "south"]


def test_the_four_fifths_line_is_of_the_highest_rate_drawn_or_not():
    """40 towns, the smallest with the highest rate: it is not among those drawn."""
    size = [60 - town for town in range(40)]
    town = np.repeat([f"t{k}" for k in range(40)], size)
    frame = pd.DataFrame({"town": town, "x": 0.0, "y": np.arange(len(town)) % 2, "score": 0.9})
    frame.loc[(frame["town"] != "t39") & (np.arange(len(frame)) % 2 == 0), "score"] = 0.1
    result = groups(subject_of(frame, protected=("town",)))
    figure = rates(result, "town")
    assert len({label for trace in marks(figure) for label in trace.y}) == MOST_GROUPS
    assert figure.layout.shapes[0].x0 == pytest.approx(80.0)


def test_two_models_stand_in_one_row_each_with_its_interval():
    frame = people(400)
    first = groups(subject_of(frame))
    second = at_threshold(first, 0.7)
    table = compare_models(first, second)
    figure = beside(table, "race", ("this", "other"))
    assert [trace.name for trace in figure.data] == ["this", "other"] * 3
    ticks = dict(zip(rows_of(figure), figure.layout.yaxis.tickvals, strict=True))
    row = next(row for row in second.of("race") if row.group == "B")
    other = figure.data[1]
    place = int(np.argmin(np.abs(np.array(other.y) - ticks["B"])))
    rate = row.selection_rate
    assert other.x[place] == pytest.approx(100 * rate.value)
    assert other.x[place] + other.error_x.array[place] == pytest.approx(100 * rate.high)
    assert beside(table, "nothing", ("a", "b")).data == ()


def test_pooled_and_probable_rates_are_drawn_as_they_are():
    frame = people(600).assign(p_b=lambda rows: rows["race"].eq("B") * 0.6 + 0.2, p_a=0.1)
    asked = GroupsOptions(by_probability={"guess": {"B": "p_b", "A": "p_a"}})
    result = groups(subject_of(frame), asked)
    figure = pooled(result, "race × sex")
    table = result.pooled_frame("race × sex")
    drawn = sorted(x for trace in figure.data if trace.name == "pooled" for x in trace.x)
    assert drawn == pytest.approx(sorted(100 * table["pooled"]))
    figure = probable(result, "guess")
    possible, estimated = figure.data
    first = next(item for item in result.probable if item.group == "A")  # drawn lowest: fewer people
    assert possible.x[0] - possible.error_x.arrayminus[0] == pytest.approx(100 * first.bounds.low)
    assert estimated.x[0] + estimated.error_x.array[0] == pytest.approx(100 * first.selection_rate.high)
    keys = [exhibit.key for exhibit in section(result).exhibits]
    assert {"pooled_race × sex", "pooled_race", "probable_guess"} <= set(keys)
    assert "pooled_sex" not in keys, "two groups have nothing to be drawn towards"


@pytest.mark.parametrize("decided", [False, True])
def test_scores_are_drawn_where_they_say_more_than_decisions(decided):
    frame = people(300)
    if decided:
        frame["score"] = (frame["score"] >= 0.5).astype(float)
    keys = [exhibit.key for exhibit in section(groups(subject_of(frame), GroupsOptions())).exhibits]
    assert ("scores_sex" in keys) is not decided


def test_groups_are_drawn_by_their_gap_and_only_those_that_differ_where_asked():
    frame = people(900)
    frame.loc[frame["race"] == "C", "score"] = 0.01
    result = groups(subject_of(frame))
    first, second, *_ = rows_of(rates(result, "race", by_gap=True))[::-1]
    assert first == next(row.group for row in result.of("race") if row.is_reference)
    assert second == "C"
    only = rows_of(differences(result, "race", findings=True))
    assert only == [row.group for row in result.of("race") if row.verdict == "evidence of a difference"][::-1]
    assert "C" in only
