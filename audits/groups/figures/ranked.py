"""One ranked figure of the groups: the worst, those that were asked about, the reference and everyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from audits.data import group_name, named_with
from audits.drawing.style import CONTEXT, FOCUS, INK, annotate, describe, finish, rows_named, where_narrow
from audits.groups.figures.layout import beside_values, people_of, value_column
from audits.groups.inference import MIN_COVERED, most_telling
from audits.groups.metrics import METRICS
from audits.groups.result import GroupRow, GroupsResult
from audits.groups.text import among_words, rate_words
from audits.stats import EVIDENCE
from audits.stats.text import in_words, named_group, percent, several
from audits.stats.vocabulary import vocabulary
from audits.text import begun

_WORST, _SMALL = 5, 2  # groups of enough people, and smaller ones
_LETTER = 6.6  # pixels, of a value


@dataclass(frozen=True)
class RankedGroups:
    """The groups that lie lowest in the rate that the verdict rests on, lowest first.

    Attributes
    ----------
    rate : str
    rows : tuple of GroupRow
        The five lowest of enough people, the two lowest smaller ones, the groups asked about, the reference.
    focus : GroupRow or None
        The group that the audit's sentence is about, where there is evidence.
    everyone : float
        The rate of all people.
    of : int
        Groups of the attribute in all.
    """

    rate: str
    attribute: str
    rows: tuple[GroupRow, ...]
    focus: GroupRow | None
    everyone: float
    of: int

    def value(self, row: GroupRow) -> float:
        """Return the rate of a group."""
        return _rate(row, self.rate)

    def text(self, row: GroupRow) -> str:
        """Return a group's rate and count: ``45% (56 of 124)``."""
        return rate_words(row, self.rate)

    @property
    def title(self) -> str:
        """The figure's finding."""
        enough = [row for row in self.rows if not _is_small(row)]
        row = self.focus or (enough or self.rows)[0]
        everyone = f"{_percent(self.everyone)} of everyone"
        return f"{begun(_name(row))}: {self.text(row).partition(' ')[0]}, against {everyone}"

    @property
    def caption(self) -> str:
        """Measure and unit, and which groups are drawn."""
        about = among_words(self.rate)
        whom = f", {vocabulary().people}{about}" if about else ""
        small = f" Dashed: fewer than 50 {vocabulary().people}." if any(map(_is_small, self.rows)) else ""
        shown = sum(row.attribute == self.attribute for row in self.rows)
        some = f"{shown} of {several(self.of, 'group')}" if shown < self.of else several(self.of, "group")
        words = begun(METRICS[self.rate].words)
        return f"{words} by {self.attribute}{whom}; {some}, lowest first. Line: interval.{small}"


def ranked_groups(result: GroupsResult, asked: Sequence[Mapping[str, str]] = ()) -> RankedGroups | None:
    """Return the groups to draw; None where nobody can be compared.

    Parameters
    ----------
    asked : sequence of mapping
        Groups that someone asked about, each its attributes' values.
    """
    if not result.table:
        return None
    told, reference, rate = most_telling(result.table, result.options.get("measure"))
    known = [
        row for row in result.table if (found := row.metric(rate)) is not None and found.value is not None
    ]
    rows = sorted((row for row in known if row.attribute == told.attribute), key=lambda row: _rate(row, rate))
    if told not in rows or reference not in rows:
        return None
    enough = [row for row in rows if not _is_small(row)]
    small = [row for row in rows if _is_small(row)]
    named = [row for row in known if any(_is_group(row, values) for values in asked)]
    chosen = [*enough[:_WORST], *small[:_SMALL], told, reference, *named]
    shown = sorted((row for row in known if row in chosen), key=lambda row: _rate(row, rate))
    people = [row.n if rate == "selection_rate" else row.metric(rate).n for row in rows]  # type: ignore[union-attr]
    everyone = sum(n * _rate(row, rate) for n, row in zip(people, rows, strict=True)) / sum(people)
    rarer = min(told, reference, key=lambda row: _rate(row, rate))
    focus = rarer if result.verdict == EVIDENCE else None
    return RankedGroups(rate, told.attribute, tuple(shown), focus, everyone, len(rows))


def draw_ranked(result: GroupsResult, groups: RankedGroups) -> go.Figure:
    """Draw the groups with intervals on one axis; values stand in a column of their own."""
    rows = groups.rows[::-1]
    names = [describe(_name(row), longest=40) for row in rows]
    labels = [name + " (reference)" * row.is_reference for name, row in zip(names, rows, strict=True)]
    figure = go.Figure()
    order = sorted(range(len(rows)), key=lambda place: rows[place] != groups.focus)  # the focus first
    inside = people_of(result, groups.attribute)
    for place in order:
        row = rows[place]
        figure.add_trace(_mark(groups, row, place, inside.get(row.group, "")))
    values = [groups.text(row) for row in rows]
    pitch = rows_named(figure, labels, beside=beside_values(values))
    ends = [row.metric(groups.rate) for row in rows]
    highest = max([groups.everyone, *(end.high or 0.0 for end in ends if end is not None)])
    last = 30 if highest < 0.3 else 100  # small rates are drawn on a scale of their own
    ticks = [last * part / 4 for part in range(5)]
    text = [f"{at:g}%" for at in ticks]
    figure.update_xaxes(range=[0, last], tickvals=ticks, ticktext=text, zeroline=False)
    where_narrow(figure, "xaxis", {"tickvals": ticks[::2], "ticktext": text[::2]})
    figure.add_vline(x=100 * groups.everyone, line={"color": INK, "width": 1})
    top = {"x": 100 * groups.everyone, "xref": "x", "y": 1, "yref": "paper", "yanchor": "bottom"}
    everyone = {"text": f"everyone {_percent(groups.everyone)}", "showarrow": False}
    notes = value_column(values, [_color(groups, row) for row in rows])
    annotate(figure, [{**top, **everyone, "font": {"size": 12}}, *notes])
    alt = f"{groups.title}. {groups.caption}"
    finish(figure, height=70 + pitch * len(rows), alt=alt)
    left = 14 + 7 * max(map(len, labels)) if pitch == 30 else 18
    if "margin" in figure.layout.meta.get("narrow", {}):
        where_narrow(figure, "margin", {"l": 18})  # the label of 0 is half as wide
    figure.layout.margin = {"l": left, "r": 14 + _LETTER * max(map(len, values)), "t": 24, "b": 24}
    return figure


def _mark(groups: RankedGroups, row: GroupRow, place: int, people: str) -> go.Scatter:
    """Return a group's rate and interval: dashed and gray where people are few."""
    found = row.metric(groups.rate)
    value = groups.value(row)
    low, high = (value if found is None or end is None else end for end in (found.low, found.high))  # type: ignore[union-attr]
    color = CONTEXT if _is_small(row) and row != groups.focus else _color(groups, row, CONTEXT)
    return go.Scatter(
        x=[100 * low, 100 * value, 100 * high],
        y=[place] * 3,
        mode="lines+markers",
        line={
            "color": color,
            "width": 4 if row == groups.focus else 2,
            "dash": "dash" if _is_small(row) else "solid",
        },
        marker={"color": color, "size": [0, 12 if row == groups.focus else 9, 0], "opacity": 1},
        meta=["", people, ""],
        customdata=[[in_words(row.group), groups.text(row)]] * 3,
        hovertemplate="%{customdata[1]}<extra>%{customdata[0]}</extra>",
        showlegend=False,
        cliponaxis=False,
    )


def _color(groups: RankedGroups, row: GroupRow, other: str = INK) -> str:
    return FOCUS if row == groups.focus else INK if row.is_reference else other


def _is_small(row: GroupRow) -> bool:
    return row.n < MIN_COVERED


def _is_group(row: GroupRow, values: Mapping[str, str]) -> bool:
    names = row.attribute.split(" × ")
    return set(names) == set(values) and row.group == group_name({name: values[name] for name in names})


def _rate(row: GroupRow, rate: str) -> float:
    found = row.metric(rate)
    return float(found.value) if found is not None and found.value is not None else 0.0


def _name(row: GroupRow) -> str:
    return named_group(named_with(row.attribute, row.group))


def _percent(share: float) -> str:
    return percent(share, 1)
