"""Flipped people as tables: who they are, and one of them beside the counterparts."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from app.held import DataHeld
from audits.data import AuditData
from audits.data.values import is_missing, text_of
from audits.flipset import FlipsetResult
from audits.stats.words import number

__all__ = [
    "DECIDED",
    "FAVORABLE",
    "SideBySide",
    "beside",
    "compare",
    "flipped_people",
    "most_different",
    "spreads_of",
]

_MOST_COUNTERPARTS, _MOST_TOLD = 3, 2
_MOST_SPREAD = 2_000
FAVORABLE = {True: "favorable", False: "unfavorable"}
DECIDED = {True: "favorably", False: "unfavorably"}
"""A decision in words, as it is and as somebody is decided."""


@dataclass(frozen=True, eq=False)
class SideBySide:
    """One person beside the counterparts.

    Attributes
    ----------
    table : DataFrame
        One row a feature, all as text: the person, each counterpart, and the difference from the first.
    differs : tuple of bool
        Whether the row's value differs from the first counterpart's.
    more : int
        Further counterparts that are not shown, with the smallest shares.
    sentence : str
        How both were decided, and in what they differ most.
    """

    table: pd.DataFrame
    differs: tuple[bool, ...]
    more: int
    sentence: str = ""


def flipped_people(result: FlipsetResult, part: str, rows: pd.Index | None = None) -> pd.DataFrame:
    """Return the people in a flipset, surest flips first, and how they were decided.

    Parameters
    ----------
    part : {"positive", "negative"}
        Which flipset.
    rows : Index, optional
        These source people instead, flipped and not.
    """
    people = result.people[result.people[part] > 0] if rows is None else result.people.loc[rows]
    people = people.iloc[np.lexsort((people.index, people["distance"], -people[part]))]
    return pd.DataFrame(
        {
            "flips": people[part],
            "decision": people["decision"].map(FAVORABLE),
            "score": people["score"],
            **({"counterpart": people["counterpart"]} if result.invented.empty else {}),
            "counterpart score": people["counterpart_score"],
            "distance": people["distance"],
            **({"flips again": _again(people)} if "times" in people else {}),
        }
    )


def _again(people: pd.DataFrame) -> pd.Series:
    """In how many of 100 repeats each person flips, of those who took part in any."""
    often = (100 * people["flips_again"] / people["times"].where(people["times"] > 0)).round()
    return often.map(lambda value: "not drawn" if pd.isna(value) else f"{value:.0f} of 100")


def compare(result: FlipsetResult, row: Hashable, data: AuditData | DataHeld) -> SideBySide:
    """Put the person in `row` beside the counterparts, the largest shares first.

    Parameters
    ----------
    row : hashable
        The user's row number, one of ``result.people.index``.
    """
    person = result.people.loc[[row]].iloc[0]
    if not result.invented.empty:
        return _beside_invented(result, row, data)
    links = result.links[result.links["source_atom"] == person["atom"]]
    links = links.sort_values(["share", "distance"], ascending=[False, True], kind="stable")
    shown = links.head(_MOST_COUNTERPARTS)
    others = [_member(result, atom, person["counterpart"]) for atom in shown["target_atom"]]
    rows = [row, *others]
    headings = [
        f"row {row}",
        *(_heading(other, share) for other, share in zip(others, shown["share"], strict=True)),
    ]
    decided = pd.concat([result.people.loc[[row]], result.counterparts.loc[others]])
    columns = [*data.protected, *(name for name in data.features if name not in data.protected)]
    return _side_by_side(
        decided["decision"].tolist(),
        decided["score"].tolist(),
        data.frame.loc[rows, columns],
        headings,
        len(links) - len(shown),
        _spreads(result),
    )


def _beside_invented(result: FlipsetResult, row: Hashable, data: AuditData | DataHeld) -> SideBySide:
    """Put the person in `row` beside the invented counterpart, feature by feature."""
    person = result.people.loc[[row]].iloc[0]
    invented = result.invented.iloc[[int(person["atom"])]]
    own = data.frame.loc[[row], list(invented.columns)]
    return _side_by_side(
        [person["decision"], person["counterparts_favorable"] > 0.5],
        [person["score"], person["counterpart_score"]],
        pd.concat([own.astype(object), invented.astype(object)]).infer_objects(),
        [f"row {row}", "invented"],
        0,
        _spreads(result),
    )


def _spreads(result: FlipsetResult) -> dict[str, float]:
    """Return the standard deviation of each feature of numbers, for telling large differences from small."""
    told = [*result.positive.transparency, *result.negative.transparency]
    return {
        item.column: item.deviation for item in told if item.feature == item.column and item.deviation > 0
    }


def _side_by_side(
    decisions: Sequence[bool],
    scores: Sequence[float],
    raw: pd.DataFrame,
    headings: list[str],
    more: int,
    spreads: Mapping[str, float],
) -> SideBySide:
    """Lay people side by side, what they differ in most first."""
    pairs = {str(name): raw[name].iloc[:2].tolist() for name in raw.columns}
    far = {name: _far(pair, spreads.get(name)) for name, pair in pairs.items()}
    raw = raw[sorted(raw.columns, key=lambda name: -far[str(name)])]
    values = {
        "decision": [FAVORABLE[bool(value)] for value in decisions],
        "score": [number(value) for value in scores],
    }
    columns = list(raw.columns)
    for name in columns:
        values[name if name not in values else f"{name} (data)"] = [_text(value) for value in raw[name]]
    numbers = {name for name in columns if pd.api.types.is_numeric_dtype(raw[name])}
    gaps = ["", _signed(scores[0], scores[1])]
    gaps[0] = "differs" if values["decision"][0] != values["decision"][1] else ""
    gaps += [_gap(raw[name].iloc[:2].tolist(), name in numbers) for name in columns]
    table = pd.DataFrame(values, index=headings).T
    table.insert(2, "difference", gaps)
    table.index.name = "feature"
    differing = [name for name in columns if far[name] > 0]
    return SideBySide(
        table, tuple(bool(gap) for gap in gaps), more, _sentence(decisions, headings, pairs, differing)
    )


def beside(raw: pd.DataFrame, headings: Sequence[str], spreads: Mapping[str, float]) -> pd.DataFrame:
    """Return people side by side as text, a row a column of theirs, what the first two differ in most on top.

    Parameters
    ----------
    raw : DataFrame
        One row a person, in the order of `headings`; two or more.
    spreads : mapping
        Standard deviation of columns of numbers; where it is not known, another value counts as 1.
    """
    pairs = {str(name): raw[name].iloc[:2].tolist() for name in raw.columns}
    order = sorted(raw.columns, key=lambda name: -_far(pairs[str(name)], spreads.get(str(name))))
    table = pd.DataFrame(
        {name: [_text(value) for value in raw[name]] for name in order}, index=list(headings)
    ).T
    gaps = [_gap(pairs[str(name)], pd.api.types.is_numeric_dtype(raw[name])) for name in order]
    table.insert(2, "difference", gaps)
    table.index.name = "feature"
    return table


def spreads_of(data: DataHeld, rows: pd.Index, columns: Sequence[str]) -> dict[str, float]:
    """Return the standard deviation of each column of numbers, among some of those people."""
    known = data.frame.loc[rows[:_MOST_SPREAD], list(columns)].select_dtypes("number")
    return {str(name): float(value) for name, value in known.std().dropna().items()}


def most_different(table: pd.DataFrame) -> str:
    """Word what two people differ in most, of a table that `beside` made.

    Examples
    --------
    >>> most_different(pd.DataFrame({"a": ["1", "x"], "b": ["2", "x"], "difference": ["−1", ""]}, ["n", "c"]))
    'They differ most in n (1, not 2).'
    """
    differ = table[table["difference"] != ""].head(_MOST_TOLD)
    told = [f"{name} ({row.iloc[0]}, not {row.iloc[1]})" for name, row in differ.iterrows()]
    return f"They differ most in {' and '.join(told)}." if told else "They differ in nothing that is known."


def _far(pair: Sequence[object], spread: float | None) -> float:
    """Return how far two values are apart: in standard deviations, and 1 for another category."""
    first, second = pair
    if _text(first) == _text(second):
        return 0.0
    if spread and not is_missing(first) and not is_missing(second):
        return abs(float(first) - float(second)) / spread  # type: ignore[arg-type]
    return 1.0


def _sentence(
    decisions: Sequence[bool],
    headings: Sequence[str],
    pairs: Mapping[str, Sequence[object]],
    differing: Sequence[str],
) -> str:
    own, other = (DECIDED[bool(value)] for value in decisions[:2])
    who, match = headings[0], headings[1].split(",")[0]
    match = "the invented counterpart" if match == "invented" else f"the counterpart in {match}"
    same = "and so is" if own == other else f"while {match} is"
    told = f"The person in {who} is decided {own}, "
    told += f"{same} {match}." if own == other else f"{same} decided {other}."
    shown = [f"{name} ({', not '.join(_told(pairs[name][:2]))})" for name in differing[:_MOST_TOLD]]
    return (
        f"{told} They differ most in {' and '.join(shown)}."
        if shown
        else f"{told} They differ in nothing else."
    )


_LONG = 5  # letters of a number that nobody reads to the end


def _told(pair: Sequence[object]) -> list[str]:
    """Word two values in a sentence: numbers with three digits, where these still tell them apart.

    Examples
    --------
    >>> _told([15.71035, 1.269335]), _told([10.001, 10.002]), _told([1, "b"])
    (['15.7', '1.27'], ['10.001', '10.002'], ['1', 'b'])
    """
    whole = [_text(value) for value in pair]
    short = [
        number(value) if isinstance(value, float) and "." in text and len(text) > _LONG else text
        for value, text in zip(pair, whole, strict=True)
    ]
    return short if short[0] != short[1] else whole


def _member(result: FlipsetResult, atom: int, preferred: object) -> object:
    """Return one person of a target atom (all alike in what was matched): the preferred one if among them."""
    members = result.counterparts.index[result.counterparts["atom"] == atom]
    return preferred if preferred in members else members[0]


def _heading(row: object, share: float) -> str:
    return f"row {row}" if share > 0.999 else f"row {row}, {100 * share:.0f} %"


def _text(value: object) -> str:
    return "(missing)" if is_missing(value) else text_of(value)


def _gap(pair: Sequence[object], numeric: bool) -> str:
    first, second = pair
    if _text(first) == _text(second):
        return ""
    if numeric and not is_missing(first) and not is_missing(second):
        return _signed(float(first), float(second))  # type: ignore[arg-type]
    return "differs"


def _signed(first: float, second: float) -> str:
    if first == second:
        return ""
    return ("+" if first > second else "−") + number(abs(first - second))
