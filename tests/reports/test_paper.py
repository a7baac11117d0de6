"""Figures on paper: every mark where its number says, nothing left out in silence."""

from __future__ import annotations

import math

import plotly.graph_objects as go
import pytest
from plotly.subplots import make_subplots
from reportlab.graphics.shapes import Circle, Drawing, Group, Line, PolyLine, Rect, String, Wedge
from reportlab.pdfbase.pdfmetrics import stringWidth

from audits.drawing.columns import rows_in_columns
from audits.drawing.style import empty, finish
from audits.reports.paper import drawing_of
from audits.reports.paper.ink import SMALL, colour_of, on_scale

WIDTH = 500.0
RED = "#FF0000"


def draw(figure: go.Figure) -> Drawing:
    found = drawing_of(figure, WIDTH, "Helvetica", str)
    assert found is not None
    return found[0]


def every(drawing, kind):
    for item in drawing.contents:
        if isinstance(item, kind):
            yield item
        if isinstance(item, Group):
            yield from every(item, kind)


def texts(drawing) -> list[str]:
    return [item.text for item in every(drawing, String)]


def red(items):
    return [item for item in items if (item.fillColor or item.strokeColor) == colour_of(RED)]


def test_dots_and_intervals_lie_where_their_numbers_say():
    figure = go.Figure(
        go.Scatter(
            x=[0, 5, None, 10],
            y=[1, 2, 3, 4],
            mode="markers",
            marker={"color": RED},
            error_x={"array": [1, 2, 1, 0], "arrayminus": [0, 1, 1, 5], "symmetric": False},
        )
    )
    figure.update_xaxes(range=[0, 20]).update_yaxes(range=[0, 5])
    drawing = draw(figure)
    dots = red(every(drawing, Circle))
    assert len(dots) == 3, "a missing value has no dot"
    x, y = [dot.cx for dot in dots], [dot.cy for dot in dots]
    assert x[1] - x[0] == pytest.approx(x[2] - x[1])
    step = (x[2] - x[0]) / 10
    assert y[1] - y[0] == pytest.approx((y[2] - y[1]) / 2)
    lines = [line for line in every(drawing, Line) if line.strokeColor == colour_of(RED)]
    ends = [((line.x1 - x[0]) / step, (line.x2 - x[0]) / step) for line in lines]
    assert [end for pair in ends for end in pair] == pytest.approx([0, 1, 4, 7, 5, 10], abs=1e-9)
    assert {"0", "5", "10", "15", "20"} <= set(texts(drawing))


def test_bars_stand_beside_on_and_over_each_other():
    def boxes(mode: str) -> list[Rect]:
        figure = go.Figure(
            [
                go.Bar(x=["a", "b"], y=[2, 4], marker={"color": RED}),
                go.Bar(x=["a", "b"], y=[1, 1], marker={"color": RED}),
            ]
        )
        return red(every(draw(figure.update_layout(barmode=mode, showlegend=False)), Rect))

    beside, on, over = boxes("group"), boxes("stack"), boxes("overlay")
    assert [box.height / beside[0].height for box in beside] == pytest.approx([1, 2, 0.5, 0.5])
    assert beside[2].x == pytest.approx(beside[0].x + beside[0].width)
    assert on[2].x == pytest.approx(on[0].x)
    assert on[2].y == pytest.approx(on[0].y + on[0].height)
    assert over[2].y == pytest.approx(over[0].y)
    assert over[2].width == pytest.approx(2 * beside[2].width)


def test_bars_lie_with_given_places_widths_and_bases():
    figure = go.Figure(
        go.Bar(x=[3, -1], y=[0, 10], base=[1, 0], orientation="h", width=[4, 2], marker={"color": RED})
    )
    first, second = red(every(draw(figure), Rect))
    assert first.width == pytest.approx(3 * second.width)
    assert first.height == pytest.approx(2 * second.height)
    assert second.x + second.width == pytest.approx(first.x - second.width)  # -1..0, then 1..4


def test_categories_keep_the_order_asked_for_and_run_backwards():
    figure = go.Figure(go.Scatter(x=[1, 1, 1], y=["c", "a", "b"], mode="markers", marker={"color": RED}))
    figure.update_yaxes(categoryorder="array", categoryarray=["a", "b", "c"])
    heights = [dot.cy for dot in red(every(draw(figure), Circle))]
    assert heights[1] < heights[2] < heights[0]
    figure.update_yaxes(autorange="reversed")
    heights = [dot.cy for dot in red(every(draw(figure), Circle))]
    assert heights[1] > heights[2] > heights[0]


def test_a_logarithmic_axis_is_even_in_factors():
    figure = go.Figure(go.Scatter(x=[1, 10, 100, 0], y=[1, 1, 1, 1], mode="markers", marker={"color": RED}))
    dots = red(every(draw(figure.update_xaxes(type="log")), Circle))
    assert len(dots) == 3, "0 is nowhere on it"
    assert dots[1].cx - dots[0].cx == pytest.approx(dots[2].cx - dots[1].cx)


def test_lines_break_at_gaps_and_step():
    plain = go.Figure(go.Scatter(x=[0, 1, 2, 3, 4], y=[0, 1, None, 3, 4], mode="lines"))
    assert [len(line.points) for line in every(draw(plain), PolyLine)] == [4, 4]
    steps = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="lines", line={"shape": "hvh"}))
    [line] = every(draw(steps), PolyLine)
    x, y = line.points[::2], line.points[1::2]
    assert x[1] == x[2] == pytest.approx((x[0] + x[3]) / 2)
    assert (y[1], y[2]) == (y[0], y[3])


def test_the_axis_holds_a_line_across_it():
    figure = go.Figure(go.Scatter(x=[1, 2], y=[0, 0], mode="markers", marker={"color": RED}))
    figure.add_vline(x=4, line={"color": "#00FF00"})
    drawing = draw(figure)
    first, second = (dot.cx for dot in red(every(drawing, Circle)))
    [line] = [item for item in every(drawing, Line) if item.strokeColor == colour_of("#00FF00")]
    assert line.x1 == line.x2 == pytest.approx(first + 3 * (second - first))


def test_notes_stand_where_they_say():
    figure = go.Figure(go.Scatter(x=[0, 4], y=[0, 4], mode="markers", marker={"color": RED}))
    figure.add_annotation(x=4, y=4, text="top<br>right", showarrow=False)
    figure.add_annotation(x=0.5, y=0.5, xref="paper", yref="paper", text="middle &amp; more", showarrow=False)
    drawing = draw(figure)
    assert {"top", "right", "middle & more"} <= set(texts(drawing))
    first, last = red(every(drawing, Circle))
    places = {
        item.contents[0].text: item.transform[4:] for item in drawing.contents if isinstance(item, Group)
    }
    assert places["top"][0] == pytest.approx(last.cx)
    assert first.cx < places["middle & more"][0] < last.cx


def test_labels_in_columns_end_where_the_next_column_begins():
    figure = go.Figure(go.Scatter(x=[0, 1], y=[0, 1], mode="markers"))
    rows_in_columns(figure, [["W" * 60, "42"], ["W" * 59 + "M", "7"]], ["district", "people"])
    drawing = draw(finish(figure, height=200, alt="x"))
    placed = [item for item in drawing.contents if isinstance(item, Group)]
    ends = {item.transform[4:]: item.contents[0].text for item in placed}
    for (x, y), text in ends.items():
        beside = [other for other, level in ends if level == y and other > x]
        if beside and text.startswith("W"):
            assert x + stringWidth(text, "Helvetica", SMALL) < min(beside)
    assert sum(text.startswith("W") for text in ends.values()) == 2


def test_panels_share_an_axis_that_they_match():
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, subplot_titles=["left", "right"])
    figure.add_trace(go.Scatter(x=[1], y=["a"], mode="markers", marker={"color": RED}), row=1, col=1)
    figure.add_trace(go.Scatter(x=[1, 1], y=["b", "a"], mode="markers", marker={"color": RED}), row=1, col=2)
    drawing = draw(figure)
    one, two, three = red(every(drawing, Circle))
    assert one.cy == pytest.approx(three.cy)
    assert one.cx < 0.5 * WIDTH < three.cx
    assert two.cy > one.cy
    assert {"left", "right", "a", "b"} <= set(texts(drawing))


def test_flows_are_as_wide_as_their_mass():
    figure = go.Figure(
        go.Sankey(
            node={"label": ["one", "two", "three"], "color": [RED, "#00FF00", "#0000FF"]},
            link={"source": [0, 0], "target": [1, 2], "value": [3, 1], "color": ["#AAAAAA", "#AAAAAA"]},
        )
    )
    drawing = draw(figure)
    whole, big, small = every(drawing, Rect)
    assert big.height == pytest.approx(3 * small.height)
    assert whole.height == pytest.approx(big.height + small.height)
    assert {"one", "two", "three"} <= set(texts(drawing))


def test_rings_are_as_wide_as_their_people():
    figure = go.Figure(
        go.Sunburst(
            ids=["a", "b", "a/x"],
            labels=["a", "b", "x"],
            parents=["", "", "a"],
            values=[3, 1, 1],
            branchvalues="total",
        )
    )
    angles = [wedge.endangledegrees - wedge.startangledegrees for wedge in every(draw(figure), Wedge)]
    assert sorted(angles) == pytest.approx([90, 90, 270], abs=0.1)


def test_cells_have_the_colour_of_their_value():
    figure = go.Figure(
        go.Heatmap(z=[[0, 1], [0.5, None]], x=["a", "b"], y=["c", "d"], colorscale=[[0, "#FFFFFF"], [1, RED]])
    )
    cells = list(every(draw(figure), Rect))
    assert [cell.fillColor.rgb() for cell in cells] == [(1, 1, 1), (1, 0, 0), (1, 0.5, 0.5)]
    assert on_scale("Viridis", 0.0).rgb() == pytest.approx((68 / 255, 1 / 255, 84 / 255))


def test_what_cannot_be_drawn_is_not_drawn_by_halves():
    assert drawing_of(go.Figure([go.Bar(y=[1]), go.Pie(values=[1, 2])]), WIDTH, "Helvetica", str) is None
    assert drawing_of(empty("Nobody is here."), WIDTH, "Helvetica", str) is None


def test_many_points_are_thinned_out_and_it_says_so():
    figure = go.Figure(go.Scattergl(x=list(range(5000)), y=[0] * 5000, mode="markers", marker={"color": RED}))
    drawing, notes = drawing_of(figure, WIDTH, "Helvetica", str)
    assert len(red(every(drawing, Circle))) == 2000
    assert notes == ["2,000 of 5,000 points are drawn."]


@pytest.mark.parametrize("name", ["x" * 400, "<b>bold</b> & <i>", "=1+1", "a\nb"])
def test_long_and_odd_names_stay_inside_as_plain_text(name):
    shown = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")  # as our figures hold them
    figure = go.Figure(go.Bar(x=[1, 2], y=[shown, "other"], orientation="h", name=shown, showlegend=True))
    drawing = draw(figure)
    assert any(text.rstrip("…") and name.startswith(text.rstrip("…")) for text in texts(drawing))
    for item in every(drawing, String):
        assert stringWidth(item.text, "Helvetica", item.fontSize) < WIDTH


@pytest.mark.parametrize("values", [[0, 0], [1e-12, 2e-12], [1e12, 3e12], [-5, -5], [math.nan, 1]])
def test_any_range_has_ticks(values):
    drawing = draw(go.Figure(go.Scatter(x=[0, 1], y=values, mode="lines+markers")))
    assert len(texts(drawing)) > 3
