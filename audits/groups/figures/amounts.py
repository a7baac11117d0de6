"""Figures of a numeric outcome: how it is spread in groups, its quantiles, and who is over-predicted."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from audits.drawing.marks import add_legend, dashes, dot, reaching
from audits.drawing.selected import of_group, people_id
from audits.drawing.style import CONTEXT, FOCUS, INK, describe, distinct, finish, rows_named
from audits.groups.amounts.inference import worse_first
from audits.groups.figures.layout import LEGEND, colors, leading
from audits.groups.names import people_of
from audits.groups.result import AmountRow, Amounts, GroupsResult
from audits.stats import Estimate
from audits.stats.text import amount, count, named_group

_MAX_LINES, _MAX_ROWS = 4, 12
_MEASURES = {"mean": "mean", "median": "median", "q10": "10th percentile", "q90": "90th percentile"}


def distributions(result: GroupsResult, attribute: str) -> go.Figure:
    """Draw how the number is spread in the largest groups: step outlines, each a share of its people."""
    amounts = _of(result)
    rows = _shown(amounts, attribute, _MAX_LINES)
    edges = result.score_edges
    figure = go.Figure()
    labels = distinct([people_of(row) for row in rows], longest=LEGEND)
    for row, label, color in zip(rows, labels, colors(rows, worse_first(amounts)[:2]), strict=True):
        total = sum(row.counts) or 1.0
        shares = [100 * n / total for n in row.counts]
        figure.add_scatter(
            x=[*edges[:1], *edges],
            y=[0.0, *shares, 0.0],
            mode="lines",
            line={"color": color, "shape": "hv", "width": 2},
            name=f"{label} ({count(row.n)})",
            hovertemplate="from %{x:.4g}: %{y:.1f}%<extra></extra>",
        )
    figure.update_xaxes(title=_axis(amounts))
    figure.update_yaxes(title="share of the group (%)", rangemode="tozero")
    told = "; ".join(f"{people_of(row)}: median {_said(row.median, amounts)}" for row in rows)
    return finish(figure, height=320, alt=f"How {amounts.name} is spread in {len(rows)} groups. {told}.")


def quantiles(result: GroupsResult, attribute: str) -> go.Figure:
    """Draw of every group the median with its interval, the mean, and the 10th and 90th percentile."""
    amounts = _of(result)
    rows = _shown(amounts, attribute)[::-1]
    figure, places = go.Figure(), list(range(len(rows)))
    ends = [
        end
        for place, row in zip(places, rows, strict=True)
        for end in ((row.q10.value, place), (row.q90.value, place), (None, None))
    ]
    figure.add_trace(_line(ends))
    colors = [FOCUS if row is worse_first(amounts)[0] else INK for row in rows]
    for name, size, symbol in (
        ("q10", 8, "line-ns-open"),
        ("q90", 8, "line-ns-open"),
        ("mean", 9, "diamond-open"),
        ("median", 11, "circle"),
    ):
        found = [row.measure(name) for row in rows]
        figure.add_scatter(
            x=[None if each is None else each.value for each in found],
            y=places,
            mode="markers",
            marker={"color": colors, "size": size, "symbol": symbol, "line": {"width": 2}},
            error_x=reaching([each for each in found if each is not None], thickness=3)
            if name == "median"
            else None,
            customdata=[f"{_MEASURES[name]} {_said(each, amounts)}" for each in found],
            meta=[_people(row) for row in rows],
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    add_legend(figure, [("median, with interval", dot(INK)), ("mean", dot(INK, "diamond-open"))])
    add_legend(figure, [("10th to 90th percentile", dashes(CONTEXT, "solid"))])
    figure.update_xaxes(title=_axis(amounts), zeroline=False)
    pitch = rows_named(figure, [_label(row) for row in rows])
    told = "; ".join(
        f"{people_of(row)}: 10th percentile {_said(row.q10, amounts)}, "
        f"median {_said(row.median, amounts)}, 90th percentile {_said(row.q90, amounts)}"
        for row in rows[::-1][:4]
    )
    return finish(figure, height=110 + pitch * len(rows), alt=f"{amounts.name} by group. {told}.")


def tails(result: GroupsResult, attribute: str) -> go.Figure:
    """Draw each group's difference from the reference at mean, median and both percentiles."""
    amounts = _of(result)
    others = [row for row in _shown(amounts, attribute) if not row.is_reference]
    measures = list(_MEASURES) if len(others) * len(_MEASURES) <= _MAX_ROWS else ["mean"]
    rows = [(row, name) for row in others[:_MAX_ROWS] for name in measures if name in row.differences][::-1]
    gaps = [row.differences[name].estimate for row, name in rows]
    labels = [
        f"{describe(named_group(row.group), longest=30)} · {_MEASURES[name]}"
        if len(measures) > 1
        else _label(row)
        for row, name in rows
    ]
    title = f"{amounts.unit or amounts.name} from the reference group"
    figure = _intervals(gaps, labels, title, amounts, [_people(row) for row, _ in rows])
    limits = {row.differences["mean"].limit for row in others if "mean" in row.differences}
    for limit in sorted(each for each in limits if each):
        for end in (-limit, limit):
            figure.add_vline(x=end, line={"color": CONTEXT, "dash": "dot"})
    told = "; ".join(
        f"{label}: {_said(gap, amounts)}" for label, gap in list(zip(labels, gaps, strict=True))[::-1]
    )
    figure.layout.meta = {
        **figure.layout.meta,
        "alt": f"Differences of {amounts.name} from the reference group. {told}.",
    }
    return figure


def residuals(result: GroupsResult, attribute: str) -> go.Figure:
    """Draw each group's mean residual with its interval: left of 0 it is over-predicted."""
    amounts = _of(result)
    rows = [row for row in _shown(amounts, attribute) if row.residual is not None][::-1]
    found = [row.residual for row in rows if row.residual is not None]
    title = f"what turned out minus what was predicted ({amounts.unit or amounts.name})"
    figure = _intervals(found, [_label(row) for row in rows], title, amounts, [_people(row) for row in rows])
    told = "; ".join(f"{people_of(row)}: {_said(row.residual, amounts)}" for row in rows[::-1])
    figure.layout.meta = {**figure.layout.meta, "alt": f"Mean residuals by group. {told}."}
    return figure


def _intervals(
    found: Sequence[Estimate], labels: Sequence[str], title: str, amounts: Amounts, people: Sequence[str]
) -> go.Figure:
    """Draw estimates with their intervals below each other, the first lowest, around 0."""
    figure = go.Figure(
        go.Scatter(
            x=[each.value for each in found],
            y=list(range(len(found))),
            mode="markers",
            marker={"color": [INK if each.low is not None else CONTEXT for each in found], "size": 9},
            error_x=reaching(found, thickness=2),
            customdata=[_said(each, amounts) for each in found],
            meta=list(people),
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    figure.update_xaxes(title=title, zeroline=False)
    pitch = rows_named(figure, list(labels))
    return finish(figure, height=90 + pitch * len(labels), alt=title)


def _line(ends: Sequence[tuple[float | None, int | None]]) -> go.Scatter:
    return go.Scatter(
        x=[x for x, _ in ends],
        y=[y for _, y in ends],
        mode="lines",
        line={"color": CONTEXT, "width": 3},
        hoverinfo="skip",
        showlegend=False,
    )


def _of(result: GroupsResult) -> Amounts:
    assert result.amounts is not None  # noqa: S101 - of a numeric outcome
    return result.amounts


def _axis(amounts: Amounts) -> str:
    name = f"predicted {amounts.name}" if amounts.predicted else amounts.name
    return f"{name} ({amounts.unit})" if amounts.unit else name


def _label(row: AmountRow) -> str:
    return (
        f"{describe(named_group(row.group), longest=40)} ({count(row.n)}){' · reference' * row.is_reference}"
    )


def _said(found: Estimate | None, amounts: Amounts) -> str:
    return "no value" if found is None or found.value is None else amount(found.value, amounts.unit)


def _people(row: AmountRow) -> str:
    return people_id(of_group(row.attribute, row.group)) if " × " not in row.attribute else ""


def _shown(amounts: Amounts, attribute: str, most: int = _MAX_ROWS) -> list[AmountRow]:
    return leading(amounts.of(attribute), worse_first(amounts)[:2], most)
