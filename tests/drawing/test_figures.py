"""Figures without a browser: in scale, with room for names, on narrow screens, and drawn without Plotly."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots

from app.examples import RESULTS
from audits.drawing.flow import FlowMap, flow_bars, flow_map
from audits.drawing.style import finish, rows_named, stacked_panels
from audits.drawing.svg import to_svg
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.vocabulary import speaking

SVG = "{http://www.w3.org/2000/svg}"
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
        assert {note.yanchor for note in notes} == {"middle"}
        sizes = [(inner * (1 - note.y), 17 * (note.text.count("<br>") + 1)) for note in notes]
        ends = [(middle - high / 2, middle + high / 2) for middle, high in sizes]
        assert len(ends) == 4
        assert all(above[1] <= below[0] + 1e-6 for above, below in pairwise(ends))
        assert ends[0][0] >= -1e-6
        assert ends[-1][1] <= inner + 1e-6
    bars = flow_bars(FLOWS, alt="")  # heads of columns have the lines they need
    assert bars.layout.margin.t >= 17 * max(
        note.text.count("<br>") + 1 for note in bars.layout.annotations[:4]
    )


def test_a_group_without_a_band_takes_no_place_from_those_after_it():
    mass = [[50.0, 10.0, 0.0], [0.0, 0.0, 0.01], [5.0, 30.0, 0.0]]
    flows = replace(FLOWS, rows=["a", "few", "b"], columns=["a", "b", "few"], mass=mass, share=mass)
    flows = replace(flows, words=[[""] * 3] * 3, keys=[[[]] * 3] * 3)
    sankey = flow_map(flows, alt="").data[0]
    linked = {*sankey.link.source, *sankey.link.target}
    assert linked == set(range(len(sankey.node.label))), "Plotly gives places to nodes with bands alone"
    assert len(sankey.node.y) == len(sankey.node.color) == len(linked) == 4
    assert sorted(sankey.node.y[:2]) == list(sankey.node.y[:2])


@pytest.mark.parametrize("length", ["short", "of more than thirty letters, as names of groups may be"])
def test_panels_stand_below_each_other_on_a_narrow_screen_with_their_rows_names(length: str) -> None:
    figure = make_subplots(rows=1, cols=3, shared_yaxes=True, subplot_titles=["one", "two", "three"])
    for col in (1, 2, 3):
        figure.add_trace(go.Scatter(x=[1, 2], y=[0, 1], mode="markers"), row=1, col=col)
    rows_named(figure, [f"first {length}", f"last {length}"])
    finish(figure, height=300, alt="three panels")
    stacked_panels(figure)
    narrow, notes = figure.layout.meta["narrow"], figure.layout.annotations
    parts = [narrow[axis]["domain"] for axis in ("yaxis", "yaxis2", "yaxis3")]
    assert parts[0][1] == 1
    assert abs(parts[2][0]) < 1e-9
    assert all(above[0] > below[1] for above, below in pairwise(parts))
    assert narrow["height"] > 3 * 200
    if length == "short":
        assert narrow["yaxis3"]["ticktext"] == ["first short", "last short"]
    else:  # names above rows are repeated in each panel, and hidden where there is room
        hidden = [note.yref for note in notes if note.visible is False]
        assert hidden == ["y2", "y2", "y3", "y3"]
        assert len([told for told in narrow["annotations"] if told.get("visible")]) == len(hidden)


@pytest.mark.parametrize("file", ["2fae99", "194084", "ba9f1d"])  # of groups, a flipset and rule sets
def test_first_figures_of_bundled_results_are_drawn_with_their_interval(file: str, tmp_path: Path) -> None:
    zipfile.ZipFile(next(RESULTS.glob(f"{file}*.zip"))).extractall(tmp_path)
    audit = RunResult.load(tmp_path).audits[0]
    with speaking(audit.words):
        figure = AUDITS[audit.name].section(audit.result).exhibits[0].figure()
    root = ElementTree.fromstring(to_svg(figure))
    assert root.get("aria-label") == figure.layout.meta["alt"]
    assert list(root.iter(f"{SVG}circle"))
    assert list(root.iter(f"{SVG}path"))


def test_dots_lines_errors_and_bars_stand_in_scale() -> None:
    errors = {"array": [1, 1, 2], "arrayminus": [0, 1, 2]}
    dots = go.Scatter(x=[0, 5, 10], y=[0, 1, 2], mode="markers", error_x=errors)
    figure = finish(go.Figure(dots), height=200, alt="three")
    figure.update_xaxes(range=[0, 10])
    root = ElementTree.fromstring(to_svg(figure))
    across = [float(each.get("cx")) for each in root.iter(f"{SVG}circle")]
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)
    thick = [each for each in root.iter(f"{SVG}line") if each.get("stroke-width") == "2"]
    lengths = [float(each.get("x2")) - float(each.get("x1")) for each in thick]
    assert lengths == pytest.approx([lengths[0], 2 * lengths[0], 4 * lengths[0]], abs=0.3)

    bars = finish(go.Figure(go.Bar(x=["a", "b"], y=[10, 20])), height=200, alt="two")
    bars = ElementTree.fromstring(to_svg(bars)).iter(f"{SVG}rect")
    highs = [float(each.get("height")) for each in bars][1:]
    assert highs[1] == pytest.approx(2 * highs[0], abs=0.3)


def test_hostile_names_are_text_and_other_figures_are_left_to_plotly() -> None:
    name = "</text><script>alert(1)</script>&amp;\u201cé\u201d"
    bars = go.Bar(y=[name, "b"], x=[1, 2], orientation="h")
    picture = to_svg(finish(go.Figure(bars), height=200, alt='"<b>"'))
    assert "<script" not in picture
    assert any("é" in text for text in ElementTree.fromstring(picture).itertext())
    assert to_svg(go.Figure(go.Sankey())) is None
    assert to_svg(go.Figure()) is None
