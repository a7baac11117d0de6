"""What the audited people looked like, and a batch beside them: cells, notes, counts by column.

Everything is told from encoded points, on which a monitor and its audit agree to the last digit. Of the
audited people only counts are kept: by sixteenths of a column's values or by level, of scores, sensitivities
and decisions, by group where the audit knew groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from audits.sensitivity.monitor.bins import (
    FACTOR,
    cells_of,
    number_cells,
    out_of_range_counts,
    pad,
    range_of,
    row_hashes,
)
from audits.stats.control import flag_rate_bound
from audits.stats.text import count, number, percent

MAX_DISTANCE = 0.005
"""How far a score that was sent may be from the bundle's own: rounding."""

_LONG = 1e9  # from here on a number's digits say less than its power of ten
_UNITS = {  # how many times too large, or too small, and between which units that is so
    365.25: "days and years",
    52.18: "weeks and years",
    12.0: "months and years",
    30.44: "days and months",
    7.0: "days and weeks",
    24.0: "hours and days",
    60.0: "minutes and hours",
    3600.0: "seconds and hours",
    25.0: "a scale of 100 and one of 4",
    100.0: "percent and shares",
    1000.0: "single units and thousands",
    1e6: "single units and millions",
}
_MIN_TO_TELL = 5  # values from which a unit is guessed, unless none of them can be
_TIMES = 3.0  # from which values of no known unit are said to be so many times the audited ones
_SURE = 0.15  # how far off the times may be by chance, for a unit to be named
_MAX_INSIDE = 0.5  # of values that are in another unit
_LOOKS_LIKE = 0.9  # of the values must lie in the audited range once divided


@dataclass(frozen=True)
class BatchContext:
    """What a sender may say beside the rows; each empty, or one entry a person.

    Attributes
    ----------
    scores : tuple of float or None
        The deployed model's own probability of the favorable outcome.
    decisions : tuple of bool or None
        Whether the decision was favorable.
    persons : tuple of str
        Who a row is about: counted once a window.
    protected : dict of str to tuple of str or None
        Values of protected attributes.
    """

    scores: tuple[float | None, ...] = ()
    decisions: tuple[bool | None, ...] = ()
    persons: tuple[str, ...] = ()
    protected: dict[str, tuple[str | None, ...]] = field(default_factory=dict)

    def part(self, rows: slice) -> BatchContext:
        """Return what was said of some of the rows."""
        protected = {name: values[rows] for name, values in self.protected.items()}
        return BatchContext(self.scores[rows], self.decisions[rows], self.persons[rows], protected)


@dataclass(frozen=True, eq=False)
class Look:
    """A batch of n people beside the audited ones.

    Attributes
    ----------
    cells : (n, columns) int
        In the order of the profile's columns, then of those looked at beside all others.
    impossible : (n,) bool
        Whether a value of the row cannot be.
    counts : dict of str to dict of str to int
        By column: ``missing``, ``unseen``, ``below``, ``above``, ``impossible``, those that there are.
    notes : tuple of str
    rows : (n,) uint64
        Equal for equal rows.
    """

    cells: np.ndarray
    impossible: np.ndarray
    counts: dict[str, dict[str, int]]
    notes: tuple[str, ...]
    rows: np.ndarray


@dataclass(frozen=True, eq=False)
class Profile:
    """See the module; `plain` is what a bundle keeps, `encoding` the bundle's own."""

    plain: Mapping[str, Any]
    encoding: Sequence[Mapping[str, Any]]
    starts: Sequence[int]

    @cached_property
    def columns(self) -> list[str]:
        """The columns that are looked at."""
        return [str(each["column"]) for each in self.plain["columns"]]

    def check(self) -> None:
        """Try what is kept on nobody.

        Raises
        ------
        KeyError, TypeError, ValueError, IndexError
            If it is damaged.
        """
        width = self.starts[-1] + 2 + len(self.encoding[-1]["levels"]) if self.encoding else 0
        self.look(np.zeros((1, width)), {})
        for name in {"score", "sensitivity"} & self.plain.keys():
            number_cells(np.zeros(1), self.plain[name])
        pad([self.plain["decisions"], *(each["counts"] for each in self.plain["columns"])])

    def look(self, z: np.ndarray, unseen: Mapping[int, Sequence[str]]) -> Look:
        """Hold points (n, d), and by row the columns with a value never seen, against the people audited."""
        n = len(z)
        cells = np.full((n, len(self.columns)), -1)
        impossible = np.zeros(n, dtype=bool)
        counts: dict[str, dict[str, int]] = {}
        notes: list[str] = []
        entries = {
            str(entry["column"]): (entry, at) for entry, at in zip(self.encoding, self.starts, strict=True)
        }
        for place, own in enumerate(self.plain["columns"]):
            entry, at = entries[own["column"]]
            strange = np.array([k for k, names in unseen.items() if own["column"] in names], dtype=int)
            cells[:, place] = cells_of(z, entry, at, own, strange)
            found = out_of_range_counts(cells[:, place], own)
            if "edges" in own:
                cannot, words = _beyond(z[:, at], cells[:, place], entry, own)
                impossible |= cannot
                notes += words
                found["impossible"] = int(cannot.sum())
            notes += _missing(found, n, own)
            if found.get("unseen"):
                notes.append(f"{own['column']}: {_of(found['unseen'], n)} never seen in the audit.")
            if any(found.values()):
                counts[own["column"]] = {name: size for name, size in found.items() if size}
        beside = []
        for own in self.plain.get("joint", ()):
            place, direction = self.columns.index(own["column"]), np.asarray(own["direction"])
            places = number_cells(z[:, : len(direction)] @ direction, own)
            places[cells[:, place] == len(self.plain["columns"][place]["counts"]) - 1] = -1  # no number
            beside.append(places)
        cells = np.column_stack([cells, *beside])
        rows = row_hashes(z)
        return Look(cells, impossible, counts, (*notes, *self._repeats(rows)), rows)

    def _repeats(self, rows: np.ndarray) -> list[str]:
        repeats, n = self.plain.get("repeats"), len(rows)
        again = n - len(np.unique(rows))
        if repeats is None or again <= 3 + 1.5 * n * (n - 1) * repeats["pairs"]:
            return []  # as among the audited people
        return [
            f"{_of(again, n)} repeat another row of the batch exactly, more than chance would make identical."
        ]


def _beyond(
    z: np.ndarray, cells: np.ndarray, entry: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[np.ndarray, list[str]]:
    """Return whose number cannot be (n,), and notes on numbers outside the audited range."""
    top = len(own["edges"]) + 2
    there = cells <= top
    with np.errstate(over="ignore"):
        x = z * entry["sd"] + entry["mean"]
    low, high, slack = range_of(entry)
    width = high - low
    outside = there & ((x < low - slack) | (x > high + slack))
    if not outside.any():
        return np.zeros(len(z), dtype=bool), []
    cannot = outside & ((x < low - FACTOR * width) | (x > high + FACTOR * width) | ((x < 0) & (low >= 0)))
    name, far = own["column"], x[outside & ~cannot]
    if entry["kind"] == "datetime":
        return cannot, [f"{name}: {_of(int(outside.sum()), len(z))} outside the audited dates."]
    notes = []
    spread = f"from {_number_text(low)} to {_number_text(high)}"
    if cannot.any():
        worst = x[cannot][np.argmax(np.abs(x[cannot] - entry["mean"]))]
        notes.append(
            f"{name}: {_of(int(cannot.sum()), len(z))} impossible values ({_number_text(float(worst))}). "
            f"The audited ones range {spread}; these are below 0, or more than {FACTOR:g} times that width "
            "beyond."
        )
    tells = there.sum() >= _MIN_TO_TELL or cannot[there].all()
    unit = _unit(x[there], (low, high), float(entry["mean"]), float(entry["sd"])) if tells else ""
    if unit:
        notes.append(f"{name}: {unit}")
    elif (outside & ~cannot).mean() > 2 * flag_rate_bound(0, int(sum(own["counts"]))):
        notes.append(
            f"{name}: {_of(int((outside & ~cannot).sum()), len(z))} outside the audited range {spread} "
            f"({_number_text(float(far.min()))} to {_number_text(float(far.max()))} were sent)."
        )
    return cannot, notes


def _unit(x: np.ndarray, span: tuple[float, float], mean: float, sd: float) -> str:
    """Say in which other unit values seem to be: most lie outside, and inside once divided.

    Of years from 0 on, a tenth lies inside as months too: then the middle and the spread have to fit as well.
    """
    low, high = span
    inside = ((x >= low) & (x <= high)).mean() if len(x) else 1.0
    if inside > _MAX_INSIDE or high <= low:
        return ""
    found = []
    own = float(np.median(x) / mean) if mean and np.median(x) / mean > 0 else 1.0
    others = [own] if not 1 / _TIMES < own < _TIMES else []  # as money of another country
    for factor in (*_UNITS, *(1 / each for each in _UNITS), *others):
        there = x / factor
        off = abs(float(np.median(there)) - mean)
        fits = off <= sd / 2 and sd / 2 <= np.std(there) <= 2 * sd
        if ((there >= low) & (there <= high)).mean() >= _LOOKS_LIKE and (fits or inside <= 1 - _LOOKS_LIKE):
            found.append((off, factor))
    if not found:
        return ""
    kept = x[np.abs(x / min(found)[1] - mean) <= 2 * (high - low)]
    # of values around 0 the spread tells how many times, of others their middle
    times = float(np.std(kept) / sd if abs(mean) < sd else np.mean(kept) / mean)
    if not 0 < times < np.inf:  # one value again and again
        return ""
    error = 0.01 + 2 * sd / max(abs(mean), sd) / np.sqrt(len(kept))
    near = [each for _, each in found if each not in others and abs(each / times - 1) <= error <= _SURE]
    named = f", as between {_UNITS[_whole(near[0])]}" if len(near) == 1 else ""
    factor = near[0] if named else float(f"{times:.2g}")
    by = f"divided by {factor:g}" if factor > 1 else f"multiplied by {_whole(factor):g}"
    ends = f"{_number_text(low)} to {_number_text(high)}"
    size = f"{factor:g} times" if factor > 1 else f"1/{_whole(factor):g} of"
    about = "" if named else "about "
    return f"values look like {about}{size} the audited ones{named}: {by} they are in its range, {ends}."


def _whole(factor: float) -> float:
    """Return a factor, or of one below 1 what it divides by."""
    return factor if factor >= 1 else round(1 / factor, 6)


def _missing(found: dict[str, int], n: int, own: Mapping[str, Any]) -> list[str]:
    gone = found.get("missing", 0)
    if not gone:
        return []
    before, people = own["counts"][-1], sum(own["counts"])
    if gone / n <= 2 * flag_rate_bound(int(before), int(people)) or (gone < 3 and before):
        return []
    return [f"{own['column']}: {_of(gone, n)} missing; {percent(before / people, people)} in the audit."]


def _number_text(value: float) -> str:
    return number(value) if abs(value) < _LONG else f"{value:.3g}"


def _of(some: int, n: int) -> str:
    return f"{count(some)} of {count(n)}"
