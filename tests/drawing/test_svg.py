"""Figures without a browser: well-formed, in scale, and left to Plotly where they hold something else."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from app.examples import RESULTS
from audits.drawing.style import finish
from audits.drawing.svg import to_svg
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.vocabulary import speaking

SVG = "{http://www.w3.org/2000/svg}"


def _texts(picture: str) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


@pytest.mark.parametrize("file", ["2fae99", "194084", "ba9f1d"])  # of groups, a flipset and rule sets
def test_first_figures_of_bundled_results_are_drawn_with_their_interval(file: str, tmp_path: Path) -> None:
    zipfile.ZipFile(next(RESULTS.glob(f"{file}*.zip"))).extractall(tmp_path)
    audit = RunResult.load(tmp_path).audits[0]
    with speaking(audit.words):
        figure = AUDITS[audit.name].section(audit.result).exhibits[0].figure()
    picture = to_svg(figure)
    assert picture is not None
    root = ElementTree.fromstring(picture)
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
    figure = finish(go.Figure(go.Bar(y=[name, "b"], x=[1, 2], orientation="h")), height=200, alt='"<b>"')
    picture = to_svg(figure)
    assert "<script" not in picture
    assert any("é" in text for text in _texts(picture))
    assert to_svg(go.Figure(go.Sankey())) is None
    assert to_svg(go.Figure()) is None


def test_a_long_legend_takes_rows_inside_the_figure() -> None:
    names = [f"people of group number {place}" for place in range(9)]
    lines = [go.Scatter(x=[0, 1], y=[0, k], mode="lines", name=name) for k, name in enumerate(names)]
    figure = go.Figure(lines)
    root = ElementTree.fromstring(to_svg(finish(figure, height=200, alt="many")))
    dots = [(float(each.get("cx")), float(each.get("cy"))) for each in root.findall(f"{SVG}circle")]
    rows = sorted({y for _, y in dots})
    assert len(dots) == len(names)
    assert len(rows) > 1
    assert max(x for x, _ in dots) + 150 < float(root.get("width"))
    assert float(root.get("height")) == 200 + rows[-1] - rows[0]


def test_dots_and_error_bars_take_the_color_of_their_line():
    line = go.Scatter(x=[0, 1], y=[1, 2], line={"color": "#123456"}, error_y={"array": [0.1, 0.1]})
    assert to_svg(go.Figure(line)).count('"#123456"') == 5  # the line, two dots, two bars


def test_a_margin_that_is_asked_for_holds_the_labels():
    low = go.Figure(go.Scatter(x=[-30, 0, 30], y=[0, 0, 0]), {"height": 114, "margin": {"t": 36, "b": 40}})
    low.update_xaxes(title="points")
    shown = {each.strip() for each in ElementTree.fromstring(to_svg(low)).itertext()}
    assert {"−20", "0", "20", "points"} <= shown  # and not turned over, for want of height
