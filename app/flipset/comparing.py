"""One of the flipped people beside the counterparts, as a table."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from app.tables.held import DataHeld
from app.tables.people import DECIDED, FAVORABLE, MOST_TOLD, far, gap, signed_gap, value_text
from audits.data import AuditData
from audits.flipset import FlipsetResult
from audits.stats.words import number

__all__ = ["SideBySide", "compare"]

_MOST_COUNTERPARTS = 3
_LONG = 5  # letters of a number that nobody reads to the end


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
    apart = {name: far(pair, spreads.get(name)) for name, pair in pairs.items()}
    raw = raw[sorted(raw.columns, key=lambda name: -apart[str(name)])]
    values = {
        "decision": [FAVORABLE[bool(value)] for value in decisions],
        "score": [number(value) for value in scores],
    }
    columns = list(raw.columns)
    for name in columns:
        values[name if name not in values else f"{name} (data)"] = [value_text(value) for value in raw[name]]
    numbers = {name for name in columns if pd.api.types.is_numeric_dtype(raw[name])}
    gaps = ["", signed_gap(scores[0], scores[1])]
    gaps[0] = "differs" if values["decision"][0] != values["decision"][1] else ""
    gaps += [gap(raw[name].iloc[:2].tolist(), name in numbers) for name in columns]
    table = pd.DataFrame(values, index=headings).T
    table.insert(2, "difference", gaps)
    table.index.name = "feature"
    differing = [name for name in columns if apart[name] > 0]
    return SideBySide(
        table, tuple(bool(gap) for gap in gaps), more, _sentence(decisions, headings, pairs, differing)
    )


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
    shown = [f"{name} ({', not '.join(_told(pairs[name][:2]))})" for name in differing[:MOST_TOLD]]
    return (
        f"{told} They differ most in {' and '.join(shown)}."
        if shown
        else f"{told} They differ in nothing else."
    )


def _told(pair: Sequence[object]) -> list[str]:
    """Word two values in a sentence: numbers with three digits, where these still tell them apart.

    Examples
    --------
    >>> _told([15.71035, 1.269335]), _told([10.001, 10.002]), _told([1, "b"])
    (['15.7', '1.27'], ['10.001', '10.002'], ['1', 'b'])
    """
    whole = [value_text(value) for value in pair]
    short = [
        number(value) if isinstance(value, float) and "." in text and len(text) > _LONG else text
        for value, text in zip(pair, whole, strict=True)
    ]
    return short if short[0] != short[1] else whole


def _heading(row: object, share: float) -> str:
    return f"row {row}" if share > 0.999 else f"row {row}, {100 * share:.0f} %"


def _member(result: FlipsetResult, atom: int, preferred: object) -> object:
    """Return one person of a target atom (all alike in what was matched): the preferred one if among them."""
    members = result.counterparts.index[result.counterparts["atom"] == atom]
    return preferred if preferred in members else members[0]
