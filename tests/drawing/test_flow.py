"""Maps of flows: names of small groups stand apart, and heads of columns have room."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from audits.drawing.flow import FlowMap, flow_bars, flow_map

NAMES = ["applicants in “A201”, favorable (200)", "applicants in “A201”, no (89)", "a (10)", "b (1)"]
FLOWS = FlowMap(
    rows=NAMES,
    columns=NAMES,
    mass=[[195, 0, 5, 0], [26, 60, 1, 2], [9, 0, 1, 0], [0.3, 0.7, 0, 0]],
    share=[[0.97, 0, 0.03, 0], [0.26, 0.7, 0.01, 0.03], [0.9, 0, 0.1, 0], [0.3, 0.7, 0, 0]],
    words=[[""] * 4] * 4,
    keys=[[[]] * 4] * 4,
)


def test_names_of_small_groups_stand_apart_within_the_figure() -> None:
    figure = flow_map(FLOWS, alt="")
    inner = figure.layout.height - figure.layout.margin.t - figure.layout.margin.b
    for anchor in ("left", "right"):
        notes = [note for note in figure.layout.annotations if note.xanchor == anchor and "(" in note.text]
        assert len(notes) == 4
        high = [17 * (note.text.count("<br>") + 1) for note in notes]
        assert {note.yanchor for note in notes} == {"middle"}
        middles = [inner * (1 - note.y) for note in notes]
        ends = [(middle - h / 2, middle + h / 2) for middle, h in zip(middles, high, strict=True)]
        assert all(above[1] <= below[0] + 1e-6 for above, below in pairwise(ends))
        assert ends[0][0] >= -1e-6
        assert ends[-1][1] <= inner + 1e-6


def test_heads_of_columns_have_the_lines_they_need() -> None:
    figure = flow_bars(FLOWS, alt="")
    lines = max(note.text.count("<br>") + 1 for note in figure.layout.annotations[:4])
    assert figure.layout.margin.t >= 17 * lines


def test_a_group_without_a_band_takes_no_place_from_those_after_it():
    mass = [[50.0, 10.0, 0.0], [0.0, 0.0, 0.01], [5.0, 30.0, 0.0]]
    flows = replace(FLOWS, rows=["a", "few", "b"], columns=["a", "b", "few"], mass=mass, share=mass)
    cells = [[[] for _ in row] for row in mass]
    sankey = flow_map(replace(flows, words=[["" for _ in row] for row in mass], keys=cells), alt="").data[0]
    linked = {*sankey.link.source, *sankey.link.target}
    assert linked == set(range(len(sankey.node.label))), "Plotly gives places to nodes with bands alone"
    assert len(sankey.node.y) == len(sankey.node.color) == len(linked) == 4
    assert sorted(sankey.node.y[:2]) == list(sankey.node.y[:2])
