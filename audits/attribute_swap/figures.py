"""What is shown of changing one word, and how it is drawn."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from audits.attribute_swap.result import AttributeSwapResult, SwapRow
from audits.drawing.marks import decisive, dot, named, reaching
from audits.drawing.style import CONTEXT, FOCUS, INK, distinct, empty, finish, rows_named
from audits.records import Exhibit, Section
from audits.stats.words import count, in_words, people, stated

__all__ = ["moved", "net", "rates", "section"]

_MOST = 12
_LONGEST = 44  # letters above a row, on a phone too


def section(result: AttributeSwapResult) -> Section:
    """Arrange the result."""
    exhibits = [
        Exhibit(
            "net",
            "Who gains and who loses",
            "Dot: those who gain the favorable decision minus those who lose it. Line: interval, for all "
            "groups together. The thick one decides the verdict.",
            lambda: net(result),
            result.to_frame,
        )
    ]
    if len(_moved(result)):
        exhibits.append(
            Exhibit(
                "moved",
                "The most moved people",
                "Score as it is and with the one value changed; changed decisions first. Filled: favorable "
                "decision; hollow: not.",
                lambda: moved(result),
                lambda: _moved(result),
            )
        )
    exhibits.append(
        Exhibit(
            "rates",
            "Before and after",
            "Gray: share with the favorable decision as they are. Dark: with the one value changed.",
            lambda: rates(result),
            result.to_frame,
        )
    )
    whole = [row for row in result.swaps if not row.within]
    changed, asked = sum(row.people(row.changed) for row in whole), sum(row.n for row in whole)
    facts = {
        "Decisions changed": f"{count(changed)} of {count(asked)} asked about",
        "Pairs of values": f"{result.pairs_asked:,} of {result.pairs:,}",
        "Verdict": f"{result.verdict}: {stated(result.judged.interval, 100, ' points')}",
    }
    return Section(title="Everything else as it is", exhibits=tuple(exhibits), facts=facts)


def _shown(result: AttributeSwapResult) -> list[SwapRow]:
    """Return the row that decides and those of the largest net shares, the largest last."""
    first = result.deciding
    others = sorted(
        (row for row in result.swaps if row is not first), key=lambda row: -abs(row.net.value or 0.0)
    )
    shown = [first, *others[: _MOST - 1]]
    return sorted(shown, key=lambda row: (abs(row.net.value or 0.0), row is first))


def _labels(rows: list[SwapRow]) -> list[str]:
    return distinct([f"{row.group} → {row.target}" for row in rows], longest=_LONGEST)


def net(result: AttributeSwapResult) -> go.Figure:
    """Draw the net share of each group; the interval that decides first and thickest."""
    rows, deciding = _shown(result), result.deciding
    figure = go.Figure(decisive(result.judged, rows.index(deciding), 100.0))
    rest = [(y, row) for y, row in enumerate(rows) if row is not deciding]
    figure.add_trace(
        go.Scatter(
            x=[100 * (row.net.value or 0.0) for _, row in rest],
            y=[y for y, _ in rest],
            mode="markers",
            marker={"color": INK, "size": 8},
            error_x=reaching([row.net for _, row in rest], 100.0, thickness=1.0),
            customdata=[[people(row.n), row.group] for _, row in rest],
            hovertemplate="%{customdata[1]} (%{customdata[0]}): %{x:.1f} points<extra></extra>",
            showlegend=False,
        )
    )
    figure.add_vline(x=0, line={"color": CONTEXT, "width": 1})
    each = rows_named(figure, _labels(rows))
    figure.update_xaxes(title="gained minus lost (percentage points)")
    alt = f"Net share of {deciding.group} with {deciding.target}: {stated(deciding.net, 100, ' points')}."
    return finish(figure, height=110 + each * len(rows), alt=alt)


def _moved(result: AttributeSwapResult) -> pd.DataFrame:
    """Return those whose score moves at all, the most moved first."""
    columns = ["attribute", "from", "to", "score", "score_after", "decision", "decision_after"]
    return result.people.loc[result.people["score"] != result.people["score_after"], columns].head(100)


def moved(result: AttributeSwapResult) -> go.Figure:
    """Draw scores of the most moved people before and after."""
    table = _moved(result).head(_MOST)[::-1]
    if table.empty:
        return empty("Nobody's score moves.")
    places = list(range(len(table)))
    figure = go.Figure(
        go.Scatter(
            x=[x for pair in zip(table["score"], table["score_after"], strict=True) for x in (*pair, None)],
            y=[y for place in places for y in (place, place, None)],
            mode="lines",
            line={"color": CONTEXT, "width": 2},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    for score, decision, color in (("score", "decision", CONTEXT), ("score_after", "decision_after", FOCUS)):
        figure.add_trace(
            go.Scatter(
                x=table[score],
                y=places,
                mode="markers",
                marker={
                    "color": color,
                    "size": 10,
                    "symbol": ["circle" if yes else "circle-open" for yes in table[decision]],
                    "line": {"color": color, "width": 1.5},
                },
                hovertemplate="%{x:.3f}<extra></extra>",
                showlegend=False,
            )
        )
    named(figure, [("as they are", dot(CONTEXT)), ("with the value changed", dot(FOCUS))])
    labels = [
        f"row {row}: {in_words(str(source))} → {in_words(str(target))}"
        for row, source, target in zip(table.index, table["from"], table["to"], strict=True)
    ]
    each = rows_named(figure, distinct(labels, longest=_LONGEST))
    figure.update_xaxes(title="score")
    first = table.iloc[-1]
    alt = (
        f"Row {table.index[-1]}: score {first['score']:.3f}, {first['score_after']:.3f} with “{first['to']}”."
    )
    return finish(figure, height=120 + each * len(table), alt=alt)


def rates(result: AttributeSwapResult) -> go.Figure:
    """Draw the favorable share of each group as it is and with the value changed."""
    rows = _shown(result)
    places = list(range(len(rows)))
    figure = go.Figure()
    for share, color, name in (("before", CONTEXT, "as they are"), ("after", INK, "with the value changed")):
        figure.add_trace(
            go.Scatter(
                x=[100 * (getattr(row, share).value or 0.0) for row in rows],
                y=places,
                mode="markers",
                marker={"color": color, "size": 10},
                name=name,
                customdata=[people(row.n) for row in rows],
                hovertemplate="%{x:.1f} % of %{customdata}<extra>" + name + "</extra>",
            )
        )
    each = rows_named(figure, _labels(rows))
    figure.update_xaxes(title="favorable (%)", range=[-3, 103])
    row = result.deciding
    alt = (
        f"Favorable of {row.group}: {stated(row.before, 100, ' %')}; changed {stated(row.after, 100, ' %')}."
    )
    return finish(figure, height=130 + each * len(rows), alt=alt)
