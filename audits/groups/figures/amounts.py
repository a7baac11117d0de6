"""Figures of a numeric outcome: how it is spread in groups, its quantiles, and who is over-predicted."""

from __future__ import annotations

import plotly.graph_objects as go

from audits.data import named_with
from audits.drawing.differences import differences
from audits.drawing.marks import add_legend, dashes, dot, reaching, segments
from audits.drawing.selected import of_group, people_id
from audits.drawing.style import CONTEXT, FOCUS, INK, distinct, finish, rows_named
from audits.groups.amounts.inference import worse_first
from audits.groups.figures.layout import LEGEND, colors, leading
from audits.groups.names import people_of
from audits.groups.result import AmountRow, Amounts, GroupsResult
from audits.stats import Estimate
from audits.stats.text import amount, count, named_group
from audits.text import begun

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
    return finish(figure, height=320, alt=f"How {amounts.numbers} is spread in {len(rows)} groups. {told}.")


def quantiles(result: GroupsResult, attribute: str) -> go.Figure:
    """Draw of every group the median with its interval, the mean, and the 10th and 90th percentile."""
    amounts = _of(result)
    rows = _shown(amounts, attribute)[::-1]
    figure, places = go.Figure(), list(range(len(rows)))
    ends = [((row.q10.value, place), (row.q90.value, place)) for place, row in enumerate(rows)]
    figure.add_trace(segments(ends, CONTEXT, 3))
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
    pitch = rows_named(figure, distinct([_label(row) for row in rows], longest=44))
    told = "; ".join(
        f"{people_of(row)}: 10th percentile {_said(row.q10, amounts)}, "
        f"median {_said(row.median, amounts)}, 90th percentile {_said(row.q90, amounts)}"
        for row in rows[::-1][:4]
    )
    return finish(figure, height=110 + pitch * len(rows), alt=f"{begun(amounts.numbers)} by group. {told}.")


def tails(result: GroupsResult, attribute: str) -> go.Figure:
    """Draw each group's difference from the reference at mean, median and both percentiles."""
    amounts = _of(result)
    others = [row for row in _shown(amounts, attribute) if not row.is_reference]
    measures = list(_MEASURES) if len(others) * len(_MEASURES) <= _MAX_ROWS else ["mean"]
    rows = [
        (
            f"{_name(row)} · {_MEASURES[name]}" if len(measures) > 1 else _label(row),
            row.differences[name].estimate,
            _people(row),
        )
        for row in others[:_MAX_ROWS]
        for name in measures
        if name in row.differences
    ]
    title = f"{amounts.unit or amounts.numbers} from the reference group"
    most = max((gap.limit or 0.0 for row in others for gap in row.differences.values()), default=0.0)
    limit = (-most, most) if most else (None, None)
    return differences(result.judged, rows, title=title, limit=limit, ordered=False)


def residuals(result: GroupsResult, attribute: str) -> go.Figure:
    """Draw each group's mean residual with its interval: left of 0 it is over-predicted."""
    amounts = _of(result)
    rows = [(row, row.residual) for row in _shown(amounts, attribute) if row.residual is not None]
    title = f"what turned out minus what was predicted ({amounts.unit or amounts.name})"
    drawn = [(_label(row), left, _people(row)) for row, left in rows]
    return differences(result.judged, drawn, title=title, limit=(None, None), ordered=False)


def _of(result: GroupsResult) -> Amounts:
    assert result.amounts is not None  # noqa: S101 - of a numeric outcome
    return result.amounts


def _axis(amounts: Amounts) -> str:
    return f"{amounts.numbers} ({amounts.unit})" if amounts.unit else amounts.numbers


def _label(row: AmountRow) -> str:
    return f"{_name(row)} ({count(row.n)}){' · reference' * row.is_reference}"


def _name(row: AmountRow) -> str:
    return named_group(named_with(row.attribute, row.group))


def _said(found: Estimate | None, amounts: Amounts) -> str:
    return "no value" if found is None or found.value is None else amount(found.value, amounts.unit)


def _people(row: AmountRow) -> str:
    return people_id(of_group(row.attribute, row.group)) if " × " not in row.attribute else ""


def _shown(amounts: Amounts, attribute: str, most: int = _MAX_ROWS) -> list[AmountRow]:
    return leading(amounts.of(attribute), worse_first(amounts)[:2], most)
