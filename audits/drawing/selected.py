"""Where people who were selected lie among all: two histograms, one over the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audits.drawing.style import CONTRAST, GREY, describe, empty, finish
from audits.stats.words import count, number

__all__ = ["of_group", "of_run", "people_id", "selected_among", "selected_bins"]

_BINS, _FEW = 24, 12


def people_id(*terms: Mapping[str, Any]) -> str:
    """Return what a point of a figure says of the people it stands for: the terms that all of them meet.

    A term is a row filter as of ``data.keep``, or ``{"group": {attribute: value}}``; with ``"run": ""`` it is
    about the table of people of the very run that is drawn. Where the `meta` of a trace lists these in the
    order of its points, pages let a click on a point select them.

    Examples
    --------
    >>> people_id({"column": "age", "at_least": 25})
    '[{"column":"age","at_least":25}]'
    """
    return json.dumps(terms, ensure_ascii=False, separators=(",", ":"))


def of_run(column: str, **condition: Any) -> dict[str, Any]:
    """Return a term about the table of people of the run that is drawn; ``in`` is written ``within``."""
    return {"run": "", "column": column, **{_NAMES.get(key, key): told for key, told in condition.items()}}


def of_group(attribute: str, group: str) -> dict[str, Any]:
    """Return the term of a group of a protected attribute."""
    return {"group": {attribute: group}}


_NAMES = {"within": "in"}


def selected_bins(values: pd.Series, inside: np.ndarray, sizes: np.ndarray) -> pd.DataFrame:
    """Return how many of all people, and of those selected, lie in each range of a number.

    Parameters
    ----------
    values : Series (n,)
        A number of each person; missing ones are left out.
    inside : bool array (n,)
        Who is selected.
    sizes : array (n,)
        People that each row stands for.
    """
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=float)
    known = np.isfinite(numbers)
    if not known.any():
        return pd.DataFrame({"from": [], "to": [], "people": [], "selected": []})
    low, high = numbers[known].min(), numbers[known].max()
    different = np.unique(numbers[known])
    if low == high:
        edges = np.array([low - 0.5, high + 0.5])
    elif len(different) <= _FEW:
        middle = (different[1:] + different[:-1]) / 2
        edges = np.array([2 * low - middle[0], *middle, 2 * high - middle[-1]])
    else:
        edges = np.linspace(low, high, _BINS + 1)
    everyone, chosen = (
        np.histogram(numbers[part], edges, weights=sizes[part])[0] for part in (known, known & inside)
    )
    return pd.DataFrame({"from": edges[:-1], "to": edges[1:], "people": everyone, "selected": chosen})


def selected_among(table: pd.DataFrame, name: str) -> go.Figure:
    """Draw everybody in grey and those selected over them, each as shares of their own people.

    Parameters
    ----------
    table : DataFrame
        Of `selected_bins`.
    name : str
        Of the number.
    """
    n, chosen = float(table["people"].sum()), float(table["selected"].sum())
    if not n or not chosen:
        return empty("None of the people selected has this number.")
    figure = go.Figure()
    for label, column, size, colour, opacity in (
        (f"all {count(n)} people", "people", n, GREY, 0.75),
        (f"selected ({count(chosen)})", "selected", chosen, CONTRAST, 0.65),
    ):
        figure.add_trace(
            go.Bar(
                x=(table["from"] + table["to"]) / 2,
                y=100 * table[column] / size,
                width=table["to"] - table["from"],
                marker={"color": colour, "opacity": opacity, "line": {"width": 0}},
                name=label,
                customdata=[
                    [number(low), number(high), count(people)]
                    for low, high, people in zip(table["from"], table["to"], table[column], strict=True)
                ],
                hovertemplate="%{customdata[0]} to %{customdata[1]}: %{y:.1f} % "
                "(%{customdata[2]} people)<extra></extra>",
            )
        )
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title=describe(name))
    figure.update_yaxes(title="share of people (%)", rangemode="tozero")
    middle = [float(np.average((table["from"] + table["to"]) / 2, weights=table[c])) for c in _SIDES]
    alt = (
        f"{name} of the {count(chosen)} people selected over that of all {count(n)}; "
        f"about {number(middle[1])} on average, {number(middle[0])} for all."
    )
    figure = finish(figure, height=300, alt=alt)
    return figure.update_layout(legend={"entrywidth": 190})


_SIDES = ("people", "selected")
