"""Two features at once: in which corner of a group its flipped people are."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go

from audits.drawing.selected import of_run, people_id
from audits.drawing.style import FOCUS, GRAY, describe, empty, finish, short
from audits.flipset.figures.bars import bar_rules, bar_words
from audits.flipset.result import Marginal, Way
from audits.flipset.text import way_words
from audits.stats.text import count, percent

_MAX = 34.0  # pixels across
_SIDE_BY_SIDE = 3  # values whose names have room beside each other on a narrow screen


def joint_marginal(table: pd.DataFrame, one: Marginal, other: Marginal, part: Way) -> go.Figure:
    """Draw the people of each cell as a dot: its area by how many they are, its color by the share flipped.

    Parameters
    ----------
    table : DataFrame
        Of `audits.flipset.comparisons.marginals.joint_marginal`.
    one, other : Marginal
        The two features, with the bars that were crossed.
    """
    first, second = one.feature, other.feature
    if table.empty:
        return empty("Nobody has a value of both features.")
    most = float(table["people"].max())
    figure = go.Figure(
        go.Scatter(
            x=table["x"],
            y=table["y"],
            mode="markers",
            marker={
                "size": [max(5.0, _MAX * (people / most) ** 0.5) for people in table["people"]],
                "color": [100 * share for share in table["share"]],
                "colorscale": [[0, GRAY], [1, FOCUS]],
                "cmin": 0,
                "cmax": max(1.0, 100 * float(table["share"].max())),
                "colorbar": {"title": "flip (%)", "thickness": 12},
                "line": {"width": 0.5, "color": "white"},
            },
            customdata=[
                [count(row[4]), f"{describe(row[2])}, {describe(row[3])}"]
                for row in table.itertuples(index=False)
            ],
            meta=[
                people_id(
                    *bar_rules(one, row[2]),
                    *bar_rules(other, row[3]),
                    of_run("decision", not_missing=True),
                )
                for row in table.itertuples(index=False)
            ],
            hovertemplate="%{customdata[1]}<br>%{customdata[0]} people, %{marker.color:.1f}% flip"
            "<extra></extra>",
            showlegend=False,
        )
    )
    for axis, place, item in ((figure.update_xaxes, "x", one), (figure.update_yaxes, "y", other)):
        ticks, words = sorted(set(table[place].tolist())), bar_words(item.joined, short)
        axis(
            title=describe(item.feature),
            tickmode="array",
            tickvals=ticks,
            ticktext=[describe(words[bar], longest=18) for bar in ticks],
            tickangle=-90 if place == "x" and len(ticks) > _SIDE_BY_SIDE else 0,
        )
    densest = table.to_dict("records")[int(table["in the flipset"].argmax())]
    alt = (
        f"{first} by {second}: {way_words(part)}: most of them, {count(densest['in the flipset'])} people, "
        f"are where {first} is {densest['value']} and {second} {densest['other value']}: "
        f"{percent(densest['share'], densest['people'])} of the people there."
    )
    return finish(figure, height=150 + 30 * table["y"].nunique(), alt=alt)
