"""Figures of a group comparison: the numbers of the result, and every group a row of its own."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from audits.drawing.marks import legend_name
from audits.drawing.style import CLEAR
from audits.groups import groups
from audits.groups.figures.curves import scores
from audits.groups.figures.dots import differences, rates
from audits.groups.figures.layout import MAX_GROUPS
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
    assert all(trace.cliponaxis is False for trace in marks(rates(result, "race"))), "a dot at 0 is whole"
    for figure in (rates(result, "race"), differences(result, "race")):
        legend = {trace.name: trace.marker.color for trace in figure.data if trace.x == (None,)}
        looks = {(trace.xaxis, place): trace.marker.color for trace in marks(figure) for place in trace.y}
        names = rows_of(figure)
        for row in result.of("race"):
            for k, (_, gap) in enumerate(row.differences.items()):
                seen = looks["x" if k == 0 else f"x{k + 1}", names.index(row.group)]
                assert seen == legend[legend_name(gap.verdict)]


def test_the_four_fifths_line_is_of_the_rate_that_impact_ratios_divide_by_drawn_or_not():
    """40 towns: the smallest has the highest rate but under 2% of all, and the next highest is not drawn."""
    size = [60 - town for town in range(40)]
    town = np.repeat([f"t{k}" for k in range(40)], size)
    frame = pd.DataFrame({"town": town, "x": 0.0, "y": np.arange(len(town)) % 2, "score": 0.9})
    every = np.where(frame["town"] == "t27", 3, 2)
    frame.loc[(frame["town"] != "t39") & (np.arange(len(frame)) % every == 0), "score"] = 0.1
    result = groups(subject_of(frame, protected=("town",)))
    figure = rates(result, "town")
    assert len({label for trace in marks(figure) for label in trace.y}) == MAX_GROUPS
    assert figure.layout.shapes[0].x0 == pytest.approx(80.0 * 22 / 33)
    ratios = {row.selection_rate.value: row.impact_ratio.value for row in result.table}
    assert (ratios[22 / 33], ratios[1.0]) == (1.0, pytest.approx(1.5))
