"""Figures without a browser, which sees that texts stand apart: well-formed, in scale, and hostile names."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

from app.examples import RESULTS
from audits.drawing.flow import FlowMap, flow_map
from audits.drawing.style import finish
from audits.drawing.svg import to_svg
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.vocabulary import speaking

SVG = "{http://www.w3.org/2000/svg}"


def test_a_group_without_a_band_takes_no_place_from_those_after_it():
    mass = [[50.0, 10.0, 0.0], [0.0, 0.0, 0.01], [5.0, 30.0, 0.0]]
    cells = {"mass": mass, "share": mass, "words": [[""] * 3] * 3, "keys": [[[]] * 3] * 3}
    sankey = flow_map(FlowMap(rows=["a", "few", "b"], columns=["a", "b", "few"], **cells), alt="").data[0]
    linked = {*sankey.link.source, *sankey.link.target}
    assert linked == set(range(len(sankey.node.label))), "Plotly gives places to nodes with bands alone"
    assert len(sankey.node.y) == len(sankey.node.color) == len(linked) == 4
    assert sorted(sankey.node.y[:2]) == list(sankey.node.y[:2])


@pytest.mark.parametrize("file", ["2fae99", "194084", "ba9f1d", "81fae0"])  # one of each audit
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
