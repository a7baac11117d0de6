"""What a report is made of, before it is HTML, PDF or Markdown: headings, texts, facts, tables, figures."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from audits.records import Exhibit
from audits.stats.text import count, number, p_words


@dataclass(frozen=True)
class Heading:
    """A heading of level 2 or 3; `anchor` is what findings link to, `page` begins a new one on paper."""

    text: str
    level: Literal[2, 3] = 2
    anchor: str = ""
    page: bool = False


@dataclass(frozen=True)
class Text:
    """A paragraph of plain text."""

    text: str
    kind: Literal["plain", "quiet", "finding", "warning"] = "plain"


@dataclass(frozen=True)
class FindingBlock:
    """A finding with its badge in words, and where its section begins."""

    badge: str
    title: str
    finding: str
    anchor: str = ""


@dataclass(frozen=True)
class Facts:
    """Names with what is known under them."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Cell:
    """One cell as shown, with the exact numbers behind it (value, low, high) where it is one."""

    text: str
    exact: tuple[float | None, ...] = ()

    @property
    def digits(self) -> str:
        """The exact numbers, apart by spaces; ``-`` is none."""
        return " ".join("-" if value is None else repr(value) for value in self.exact)


@dataclass(frozen=True)
class Grid:
    """A table: headers, rows of cells, and how many rows there are in all.

    Attributes
    ----------
    whole : int
        Rows of the table behind it; more than are shown where it is long.
    name : str
        What it shows, for a reader who cannot see where it stands.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    whole: int
    name: str = ""


@dataclass(frozen=True)
class Figure:
    """A figure with its caption, and the table under it."""

    exhibit: Exhibit
    name: str
    table: Grid


@dataclass(frozen=True)
class Code:
    """Text to be copied as it is."""

    text: str


Block = Heading | Text | FindingBlock | Facts | Grid | Figure | Code


@dataclass(frozen=True)
class Document:
    """A whole report."""

    title: str
    subtitle: str
    blocks: tuple[Block, ...]


_MAX_ROWS = 200


def grid(frame: pd.DataFrame, *, most: int = _MAX_ROWS, name: str = "") -> Grid:
    """Return a table as it is shown: an estimate and its interval in one cell, at most `most` rows.

    Columns ``X``, ``X low``, ``X high`` (or ``X`` followed by ``low`` and ``high``) become one.

    Examples
    --------
    >>> shown = grid(pd.DataFrame({"group": ["a"], "rate": [0.25], "rate low": [0.1], "rate high": [None]}))
    >>> shown.head, [cell.text for cell in shown.rows[0]]
    (('group', 'rate'), ['a', '0.250 (0.100 to –)'])
    >>> grid(pd.DataFrame({"p": [1e-20]})).rows[0][0].text
    '< 0.001'
    """
    parts = columns_of(frame)
    whole = {places[0] for _, places in parts if len(places) == 1 and _all_whole(frame.iloc[:, places[0]])}
    rows = [
        tuple(
            _cell(
                [line[place] for place in places], whole=places[0] in whole, chance=head.split()[:1] == ["p"]
            )
            for head, places in parts
        )
        for line in frame.head(most).itertuples(index=False, name=None)
    ]
    return Grid(tuple(head for head, _ in parts), tuple(rows), len(frame), name)


def columns_of(frame: pd.DataFrame) -> list[tuple[str, tuple[int, ...]]]:
    """Return the columns as shown: name, and the places of value (and low and high) in `frame`."""
    names = [str(name) for name in frame.columns]
    found: list[tuple[str, tuple[int, ...]]] = []
    place = 0
    while place < len(names):
        name, after = names[place], names[place + 1 : place + 3]
        triple = after in ([f"{name} low", f"{name} high"], ["low", "high"])
        width = 3 if triple and frame.iloc[:, place].dtype.kind != "b" else 1
        found.append((name, tuple(range(place, place + width))))
        place += width
    return found


def shorten(text: str, most: int) -> str:
    """Return `text` with at most `most` characters, cut between words where there are any."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > most // 2 else cut).rstrip() + "…"


def _all_whole(column: pd.Series) -> bool:
    """Whether a column holds nothing but whole numbers, as counts of people are."""
    if column.dtype.kind not in "iuf":
        return False
    known = column.dropna()
    return bool(len(known)) and bool((known == known.round()).all())


def _cell(values: list[object], *, whole: bool, chance: bool) -> Cell:
    """Word a value, or one with its ends; `whole` where it is a count, `chance` where it is a p-value."""
    exact = tuple(_exact(value) for value in values)
    value = values[0]
    if len(values) == 3:
        ends = "" if exact[1] is None and exact[2] is None else f" ({number(exact[1])} to {number(exact[2])})"
        return Cell(number(exact[0]) + ends, exact)
    if isinstance(value, (bool, np.bool_)):
        return Cell("yes" if value else "no")
    if exact[0] is not None:
        return Cell((p_words if chance else count if whole else number)(exact[0]), exact)
    if value is None or value is pd.NA or isinstance(value, float):
        return Cell("–")
    return Cell(str(value))


def _exact(value: object) -> float | None:
    """Return a number that exists as a float, else None."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)
