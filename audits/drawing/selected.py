"""Where people who were selected lie among all: two histograms, one over the other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from audits.data.values import MISSING
from audits.drawing.style import CONTRAST, GRAY, describe, empty, finish
from audits.stats.text import count, number
from audits.stats.vocabulary import vocabulary

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


def within_edges(column: str, edges: Sequence[float], k: int) -> list[dict[str, Any]]:
    """Return the terms of bin `k` of a column of the run that is drawn; the outermost ends are open.

    Examples
    --------
    >>> within_edges("score", (0.0, 0.5, 1.0, 2.0), 1)
    [{'run': '', 'column': 'score', 'at_least': 0.5}, {'run': '', 'column': 'score', 'below': 1.0}]
    """
    low = [] if k == 0 else [of_run(column, at_least=float(edges[k]))]
    return low if k == len(edges) - 2 else [*low, of_run(column, below=float(edges[k + 1]))]


def of_value(column: str, value: str, values: Sequence[str]) -> list[dict[str, Any]]:
    """Return the row filters of a value, or of a range of numbers, as results word it; none of a rest.

    Parameters
    ----------
    values : sequence of str
        All values of the column that are worded: only where they all are ranges is one of them a range.

    Examples
    --------
    >>> of_value("job", "clerk", ["clerk", "5 to 9"]), of_value("job", "(missing)", ["clerk"])
    ([{'column': 'job', 'in': ['clerk']}], [{'column': 'job', 'missing': True}])
    >>> of_value("income", "1,000 to under 2,500", ["below 1,000", "1,000 to under 2,500", "2,500 or more"])
    [{'column': 'income', 'at_least': 1000.0}, {'column': 'income', 'below': 2500.0}]
    >>> of_value("income", "5 to 9.5", ["5 to 9.5", "9.5 to 12"])
    [{'column': 'income', 'at_most': 9.5}]
    >>> days = ["2020-01-01 to 2020-01-09", "2020-01-09 to 2020-01-20"]
    >>> of_value("hired", days[1], days)
    [{'column': 'hired', 'above': '2020-01-09'}, {'column': 'hired', 'at_most': '2020-01-20'}]
    """
    if value == MISSING:
        return [{"column": column, "missing": True}]
    known = [each for each in values if each != MISSING]
    ranges = [_RANGE.fullmatch(each) for each in known]
    if not all(ranges):
        return [] if _OTHERS.fullmatch(value) else [{"column": column, "in": [value]}]
    found = _RANGE.fullmatch(value)
    assert found is not None  # noqa: S101  (all are)
    low, high = (None if end is None else _end(end) for end in found.group("low", "high"))
    if found["upper"]:
        return [{"column": column, "below": float(found["upper"].replace(",", ""))}]
    if found["lower"]:
        return [{"column": column, "at_least": float(found["lower"].replace(",", ""))}]
    if found["open"]:
        return [{"column": column, "at_least": low}, {"column": column, "below": high}]
    # bins of equally many people hold their upper end alone; what the first holds has no other below it
    first = is_first(
        low, high, [(_end(one["low"]), _end(one["high"])) for one in ranges if one and one["low"]]
    )
    above = [] if first else [{"column": column, "above": low}]
    return [*above, {"column": column, "at_most": high}]


def is_first(low: Any, high: Any, ranges: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a range of equally many people is the lowest, which holds its lower end, too.

    Examples
    --------
    >>> ranges = [(0, 0), (0, 10), (10, 12)]
    >>> [is_first(*ends, ranges) for ends in ranges]
    [True, False, False]
    """
    return bool((low, high) == min(ranges))


def _end(text: str) -> Any:
    """Return the end of a range: a number, or a date as it is written."""
    return text if _DATE.fullmatch(text) else float(text.replace(",", ""))


_DATE = re.compile(r"\d{4}-\d\d-\d\d(?: \d\d:\d\d:\d\d)?")
_NUMBER = r"-?\d[\d.,]*(?:e[+-]?\d+)?"
_RANGE = re.compile(
    rf"(?P<low>{_NUMBER}|{_DATE.pattern}) to (?P<open>under )?(?P<high>{_NUMBER}|{_DATE.pattern})"
    rf"|below (?P<upper>{_NUMBER})|(?P<lower>{_NUMBER}) or more"
)
_OTHERS = re.compile(r"[\d,]+ other values")


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
    """Draw everyone in gray and those selected over them, each as shares of their own people.

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
    for label, column, size, color, opacity in (
        (f"all {count(n)} people", "people", n, GRAY, 0.75),
        (f"selected ({count(chosen)})", "selected", chosen, CONTRAST, 0.65),
    ):
        figure.add_bar(
            x=(table["from"] + table["to"]) / 2,
            y=100 * table[column] / size,
            width=table["to"] - table["from"],
            marker={"color": color, "opacity": opacity, "line": {"width": 0}},
            name=label,
            customdata=[
                [number(low), number(high), count(people)]
                for low, high, people in zip(table["from"], table["to"], table[column], strict=True)
            ],
            hovertemplate="%{customdata[0]} to %{customdata[1]}: %{y:.1f}% "
            "(%{customdata[2]} people)<extra></extra>",
        )
    figure.update_layout(barmode="overlay", bargap=0)
    figure.update_xaxes(title=describe(name))
    figure.update_yaxes(title=f"share of {vocabulary().people} (%)", rangemode="tozero")
    middle = [float(np.average((table["from"] + table["to"]) / 2, weights=table[c])) for c in _SIDES]
    alt = (
        f"{name} of the {count(chosen)} people selected over that of all {count(n)}; "
        f"about {number(middle[1])} on average, {number(middle[0])} for all."
    )
    figure = finish(figure, height=300, alt=alt)
    return figure.update_layout(legend={"entrywidth": 190})


_SIDES = ("people", "selected")
