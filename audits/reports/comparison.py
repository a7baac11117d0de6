"""A second model compared with the first: what changes, audit by audit, for pages and reports alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from audits.comparison.text import change_words, stated_words
from audits.data import named_with
from audits.drawing.marks import decisive, reaching, verdict_look, verdicts_named
from audits.drawing.selected import of_group, people_id
from audits.drawing.style import CONTEXT, INK, distinct, empty, finish, rows_named, wrap_title
from audits.records import Exhibit
from audits.reports.blocks import Block, FindingBlock, Text
from audits.runs.registry import AUDITS
from audits.stats import VERDICTS, Judgment
from audits.stats.text import people_in
from audits.stats.vocabulary import vocabulary
from audits.text import begun

if TYPE_CHECKING:
    from audits.runs.comparison.changes import AuditChange, ChangeRow, Changes
    from audits.runs.multiple_testing import RunCorrection

_MOST = 15
_MAX = 48  # letters above a row, on a phone too
_READS = (
    "The second model's number minus the first's, with its paired interval, most certain change first. "
    "The intervals are corrected for all changes."
)
_OTHERWISE = "Right: newly favored by the second model, as a share of the group. Left: no longer favored."
ABOUT = (
    "Both models were audited on the same people with the same settings. Intervals of changes are paired: "
    "what is particular to these people affects both models' numbers and does not count as a change."
)


def title_of(change: AuditChange) -> str:
    """Return the title of the audit that changed, or its name where it is not known any more."""
    return AUDITS[change.audit].title if change.audit in AUDITS else change.audit


def changes_figure(change: AuditChange) -> go.Figure:
    """Draw the changes that are judged, in points where they are of shares: one row a number."""
    known = _comparable(change)
    points = bool(known) and known[0].kind != "number"
    rows = known[:_MOST][::-1]
    if not rows:
        return empty("No change of this audit has a paired interval.")
    unit = 100.0 if points else 1.0
    figure = go.Figure()
    for verdict in VERDICTS:
        part = [(place, row) for place, row in enumerate(rows) if row.verdict == verdict]
        if part:
            figure.add_trace(_dots(part, unit, *verdict_look(verdict)))
    verdicts_named(figure, [row.verdict for row in rows])
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    names = [wrap_title(name, _MAX) for name in distinct([row.name for row in rows], longest=3 * _MAX)]
    each = rows_named(figure, names) + 17 * max(name.count("<br>") for name in names)
    what = "change (percentage points)" if points else "change"
    figure.update_xaxes(title=what)
    return finish(figure, height=140 + each * len(rows), alt=f"{title_of(change)}: {change.headline}")


def _comparable(change: AuditChange) -> list[ChangeRow]:
    """Return the changes that are judged, those in points where there are some: one axis has one unit."""
    judged = [row for row in change.rows if row.verdict is not None]
    return [row for row in judged if row.kind != "number"] or judged


def _showing(everyone: int, of_what: str) -> str:
    """Say how many are drawn, where not all are."""
    return f" Showing {_MOST} of {everyone:,} {of_what}." if everyone > _MOST else ""


def _dots(part: list[tuple[int, ChangeRow]], unit: float, color: str, symbol: str) -> go.Scatter:
    return go.Scatter(
        x=[unit * float(row.change.value or 0.0) for _, row in part],
        y=[place for place, _ in part],
        mode="markers",
        marker={
            "color": color,
            "symbol": symbol,
            "size": 10,
            "line": {"color": color, "width": 2},
        },
        error_x=reaching([row.change for _, row in part], unit, color=color, thickness=1.6),
        customdata=[[distinct([row.name], longest=_MAX)[0], row.verdict] for _, row in part],
        hovertemplate="%{customdata[0]}: %{x:+.3g} (%{customdata[1]})<extra></extra>",
        showlegend=False,
    )


def slope_figure(change: AuditChange, judged: Judgment) -> go.Figure:
    """Draw the change that decides: its interval first, and the number it is of, before and after.

    Parameters
    ----------
    judged : Judgment
        As the page or report states it: after correction for all audits.
    """
    row = deciding_row(change)
    unit = 1.0 if row is None or row.kind == "number" else 100.0
    figure = go.Figure(decisive(judged, 0, unit))
    names = ["change"]
    if row is not None and row.first.value is not None and row.second.value is not None:
        names += ["second model", "first model"]
        both = [unit * float(each.value or 0.0) for each in (row.second, row.first)]
        figure.add_scatter(
            x=both,
            y=[1, 2],
            mode="lines+markers+text",
            line={"color": CONTEXT, "width": 2},
            marker={"color": [INK, CONTEXT], "size": 12},
            error_x=reaching([row.second, row.first], unit, color=CONTEXT),
            text=[stated_words(each, row.kind) for each in (row.second, row.first)],
            textposition="top center",
            hoverinfo="skip",
            showlegend=False,
            cliponaxis=False,
        )
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    for end in (judged.immaterial_low, judged.immaterial_high):
        if end is not None:
            figure.add_vline(x=unit * end, line={"color": CONTEXT, "dash": "dot"})
    figure.update_xaxes(title="points" if unit > 1 else "", zeroline=False)
    each = rows_named(figure, names)
    return finish(figure, height=110 + each * len(names), alt=f"{title_of(change)}: {change.headline}")


def deciding_row(change: AuditChange) -> ChangeRow | None:
    """Return the number whose change the verdict on an audit rests on."""
    interval = change.judged.interval
    return next((row for row in change.rows if row.verdict and row.change == interval), None)


def slope_exhibit(change: AuditChange, judged: Judgment) -> Exhibit:
    """Return the figure of the change that decides, with the table of all changes of its audit."""
    row = deciding_row(change)
    return Exhibit(
        "slope",
        title_of(change) if row is None else f"{begun(row.name)}, before and after",
        "Dots: the number with either model. Thick line: the interval of the change, which decides. "
        "Dotted: your limit.",
        lambda: slope_figure(change, judged),
        change.worded,
    )


def decided_figure(changes: Changes) -> go.Figure:
    """Draw how many of each group gain and lose the favorable decision, as shares of the group."""
    rows = sorted(changes.decided[1:], key=lambda row: -(row.gained + row.lost) / row.n)[:_MOST][::-1]
    rows = [*rows, *changes.decided[:1]]
    if not rows:
        return empty("We don't know whose decision changes.")
    names = [people_in(named_with(row.attribute, row.group)) if row.attribute else row.group for row in rows]
    inside = [people_id(of_group(row.attribute, row.group)) if row.attribute else "" for row in rows]
    figure = go.Figure()
    yes, no = vocabulary().yes or "favored", vocabulary().no or "not favored"
    for name, sign, color in ((f"newly {yes}", 1.0, INK), (f"newly {no}", -1.0, CONTEXT)):
        people = [row.gained if sign > 0 else row.lost for row in rows]
        figure.add_bar(
            x=[100 * sign * part / row.n for part, row in zip(people, rows, strict=True)],
            y=list(range(len(rows))),
            orientation="h",
            name=name,
            marker={"color": color},
            customdata=people,
            meta=inside,
            hovertemplate="%{customdata:,.0f} people, %{x:.1f}% of the group<extra></extra>",
        )
    figure.update_layout(barmode="relative")
    figure.add_vline(x=0, line={"color": INK, "width": 1})
    each = rows_named(figure, distinct(names, longest=_MAX))
    figure.update_xaxes(title="share of the group (%)")
    return finish(figure, height=140 + each * len(rows), alt=changes.finding)


def change_exhibit(change: AuditChange) -> Exhibit:
    """Return the figure of an audit's changes with its table."""
    caption = _READS + _showing(len(_comparable(change)), "changes")
    return Exhibit("changes", "What changes", caption, lambda: changes_figure(change), change.worded)


def decided_exhibit(changes: Changes) -> Exhibit:
    """Return the figure of who is decided otherwise with its table."""
    heading = "Whose decision changes"
    caption = _OTHERWISE + _showing(len(changes.decided) - 1, "groups")
    return Exhibit("decided", heading, caption, lambda: decided_figure(changes), changes.decided_frame)


def leading_first(changes: Changes) -> list[tuple[AuditChange, RunCorrection]]:
    """Return every audit's change and what the run's correction leaves of it, evidence first."""
    told = zip(changes.audits, changes.across(), strict=True)
    return sorted(told, key=lambda each: VERDICTS.index(each[1].verdict))


def finding_block(change: AuditChange, across: RunCorrection) -> Block:
    """Return a change with its badge; without one where nothing was tested."""
    if not change.tested and not change.refused:
        return Text(change.headline, "finding")
    told = " ".join(filter(None, (change.headline, across.doubt, across.note)))
    return FindingBlock(across.judged.badge_text, "", told)


def accuracy_words(changes: Changes) -> str:
    """Word the accuracy of both models and its change; empty without a label."""
    row = changes.accuracy
    if row is None:
        return ""
    first, second = (stated_words(side, row.kind) for side in (row.first, row.second))
    return f"{first} with the first model, {second} with the second: {change_words(row.change, row.kind)}"
