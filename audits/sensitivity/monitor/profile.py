"""What the audited people looked like, and a batch beside them: cells, notes, counts by column.

Everything is told from encoded points, on which a monitor and its audit agree to the last digit. Of the
audited people only counts are kept: by sixteenths of a column's values or by level, of scores, sensitivities
and decisions, by group where the audit knew groups.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from audits.data import FeatureSpace
from audits.models import Subject
from audits.stats.change import CELLS
from audits.stats.control import flag_rate_bound
from audits.stats.words import count, number, percent

__all__ = ["FACTOR", "MOST_APART", "Look", "Profile", "Sent", "profile_of"]

FACTOR = 3.0
"""A number beyond the audited range by more than so many times its width cannot be."""

MOST_APART = 0.005
"""How far a score that was sent may lie from the bundle's own: rounding."""

_PARTS = 16
_LONG = 1e9  # from here on a number's digits say less than its power of ten
_MOST_LEVELS = CELLS - 3
_MOST_GROUPS = 12
_LEAST_IN_GROUP = 30
_BLOCKS = (50, 20, 10, 5, 2)
_MOST_REPEATS = 0.2
_UNITS = {  # how many times too large or too small: what that looks like
    365.25: "days where the audit had years",
    52.18: "weeks where the audit had years",
    12.0: "months where the audit had years",
    30.44: "days where the audit had months",
    7.0: "days where the audit had weeks",
    24.0: "hours where the audit had days",
    60.0: "minutes where the audit had hours",
    3600.0: "seconds where the audit had hours",
    100.0: "per cent where the audit had shares",
    1000.0: "thousandths where the audit had whole units",
    1e6: "millionths where the audit had whole units",
    1 / 365.25: "years where the audit had days",
    1 / 12: "years where the audit had months",
    1 / 30.44: "months where the audit had days",
    1 / 100: "shares where the audit had per cent",
    1 / 1000: "thousands where the audit had single units",
    1e-6: "millions where the audit had single units",
}
_LEAST_TO_TELL = 5  # values from which a unit is guessed, unless none of them can be
_LOOKS_LIKE = 0.9  # of the values must lie in the audited range once divided


@dataclass(frozen=True)
class Sent:
    """What a sender may say beside the rows; each empty, or one entry a person.

    Attributes
    ----------
    scores : tuple of float or None
        The deployed model's own probability of the favourable outcome.
    decisions : tuple of bool or None
        Whether the decision was favourable.
    persons : tuple of str
        Who a row is about: counted once a window.
    protected : dict of str to tuple of str or None
        Values of protected attributes.
    """

    scores: tuple[float | None, ...] = ()
    decisions: tuple[bool | None, ...] = ()
    persons: tuple[str, ...] = ()
    protected: dict[str, tuple[str | None, ...]] = field(default_factory=dict)

    def part(self, rows: slice) -> Sent:
        """Return what was said of some of the rows."""
        protected = {name: values[rows] for name, values in self.protected.items()}
        return Sent(self.scores[rows], self.decisions[rows], self.persons[rows], protected)

    @classmethod
    def joined(cls, parts: Sequence[Sent], sizes: Sequence[int]) -> Sent:
        """Return what was said of batches of `sizes` people, one after another."""
        if len(parts) == 1:
            return parts[0]
        names = dict.fromkeys(name for part in parts for name in part.protected)
        return cls(
            _one_after_another([part.scores for part in parts], sizes, None),
            _one_after_another([part.decisions for part in parts], sizes, None),
            _one_after_another([part.persons for part in parts], sizes, ""),
            {
                name: _one_after_another([part.protected.get(name, ()) for part in parts], sizes, None)
                for name in names
            },
        )

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Sent:
        """Return what `dataclasses.asdict` made plain and JSON carried."""
        protected = {name: tuple(values) for name, values in plain["protected"].items()}
        return cls(tuple(plain["scores"]), tuple(plain["decisions"]), tuple(plain["persons"]), protected)


@dataclass(frozen=True, eq=False)
class Look:
    """A batch of n people beside the audited ones.

    Attributes
    ----------
    cells : (n, columns) int
        In the order of the profile's columns.
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

    @classmethod
    def joined(cls, parts: Sequence[Look]) -> Look:
        """Return batches one after another as one."""
        if len(parts) == 1:
            return parts[0]
        counts: dict[str, dict[str, int]] = {}
        for part in parts:
            for column, found in part.counts.items():
                own = counts.setdefault(column, {})
                for name, size in found.items():
                    own[name] = own.get(name, 0) + size
        return cls(
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.impossible for part in parts]),
            counts,
            tuple(note for part in parts for note in part.notes),
            np.concatenate([part.rows for part in parts]),
        )


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
        for name in ("score", "sensitivity"):
            number_cells(np.zeros(1), self.plain[name])
        padded([self.plain["decisions"], *(each["counts"] for each in self.plain["columns"])])

    def look(self, z: np.ndarray, unseen: Mapping[int, Sequence[str]]) -> Look:
        """Hold points (n, d), and by row the columns with a value never seen, against the people audited."""
        ordinary = self._ordinary(z) if len(z) == 1 and not unseen else None
        return ordinary or self._look(z, unseen)

    @cached_property
    def _cells(self) -> list[_Cells]:
        places = {
            str(entry["column"]): (entry, at) for entry, at in zip(self.encoding, self.starts, strict=True)
        }
        return [_Cells.of(*places[own["column"]], own) for own in self.plain["columns"]]

    def _ordinary(self, z: np.ndarray) -> Look | None:
        """Return what `_look` says of one person of whom there is nothing to say; None where there is.

        Most people who come alone are such, and arrays of one number each take longer than numbers.
        """
        row, cells = z[0].tolist(), []
        for own in self._cells:
            cell = own.ordinary(row)
            if cell is None:
                return None
            cells.append(cell)
        return Look(np.array([cells], dtype=int), np.zeros(1, dtype=bool), {}, (), hashed(z))

    def _look(self, z: np.ndarray, unseen: Mapping[int, Sequence[str]]) -> Look:
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
            found = _counted(cells[:, place], own)
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
        rows = hashed(z)
        return Look(cells, impossible, counts, (*notes, *self._repeats(rows)), rows)

    def _repeats(self, rows: np.ndarray) -> list[str]:
        repeats, n = self.plain.get("repeats"), len(rows)
        again = n - len(np.unique(rows))
        if repeats is None or again <= 3 + 1.5 * n * (n - 1) * repeats["pairs"]:
            return []  # as among the audited people
        return [f"{_of(again, n)} repeat another row of the batch exactly: more than chance makes alike."]


@dataclass(frozen=True, eq=False)
class _Cells:
    """How the cell of one person in one column is found.

    Attributes
    ----------
    at : int
        The column's first place in a row of points.
    sd, mean : float
    least, most : float
        A number's range among the people audited.
    low, high : float
        The range of the column, in its own units, with some slack for rounding.
    edges : list of float
    levels : int
        How many the column has; 0 of a number.
    is_category : bool
        Whether each level has a place of its own.
    places : list of int
        The cell by level; then of a missing one.
    marks_missing : bool
    """

    at: int
    sd: float
    mean: float
    least: float
    most: float
    low: float
    high: float
    edges: list[float]
    levels: int
    is_category: bool
    places: list[int]
    marks_missing: bool

    @classmethod
    def of(cls, entry: Mapping[str, Any], at: int, own: Mapping[str, Any]) -> _Cells:
        """Make ready what `cells_of` and `_beyond` look up."""
        levels = len(entry["levels"]) if "levels" in own else 0
        places = [] if "levels" not in own else _places(entry, own).tolist()
        is_category = entry["kind"] == "categorical"
        low, high, slack = (0.0, 0.0, 0.0) if "levels" in own else _range(entry)
        return cls(
            at,
            float(entry.get("sd") or 1.0),
            float(entry.get("mean") or 0.0),
            float(own.get("low", 0.0)),
            float(own.get("high", 0.0)),
            low - slack,
            high + slack,
            [float(edge) for edge in own.get("edges", ())],
            levels,
            is_category,
            places,
            bool(entry.get("marks_missing")),
        )

    def ordinary(self, row: Sequence[float]) -> int | None:
        """Return the cell of a person (d,); None of one of whom more is to be said."""
        value = row[self.at]
        if self.places and self.is_category:
            own = row[self.at : self.at + self.levels]
            return self._known(own.index(max(own))) if any(own) else None
        if self.marks_missing and row[self.at + 1] > 0:
            return None
        x = value * self.sd + self.mean
        if self.places:
            return self._known(round(x)) if 0 <= round(x) < self.levels else None
        if self.least <= value <= self.most and self.low <= x <= self.high:
            return 1 + bisect_right(self.edges, value)
        return None

    def _known(self, level: int) -> int | None:
        cell = self.places[level]
        return None if cell == self.places[-1] else cell


_T = TypeVar("_T")


def _one_after_another(parts: Sequence[tuple[_T, ...]], sizes: Sequence[int], nothing: _T) -> tuple[_T, ...]:
    """Return entries a person; `nothing` for those of batches that have none, and none where no batch has."""
    if not any(parts):
        return ()
    return tuple(
        each for part, size in zip(parts, sizes, strict=True) for each in (part or (nothing,) * size)
    )


def padded(counts: Sequence[Sequence[float]]) -> np.ndarray:
    """Return counts as rows of CELLS."""
    found = np.zeros((len(counts), CELLS))
    for row, own in zip(found, counts, strict=True):
        row[: len(own)] = own
    return found


def hashed(z: np.ndarray) -> np.ndarray:
    """Return a number a row, (n,), equal for equal rows."""
    odd = _odd_numbers(z.shape[1])
    bits = np.ascontiguousarray(z + 0.0).view(np.uint64)  # no minus zero
    with np.errstate(over="ignore"):
        mixed = (bits ^ (bits >> np.uint64(29))) * odd
        return ((mixed ^ (mixed >> np.uint64(31))) * odd[::-1]).sum(axis=1, dtype=np.uint64)


@lru_cache(maxsize=64)
def _odd_numbers(width: int) -> np.ndarray:
    numbers = np.asarray(np.random.default_rng(7).integers(1 << 62, size=width)).astype(np.uint64)
    odd: np.ndarray = numbers | np.uint64(1)
    return odd


def cells_of(
    z: np.ndarray, entry: Mapping[str, Any], at: int, own: Mapping[str, Any], strange: np.ndarray
) -> np.ndarray:
    """Return the cell of each person in one column; `strange` are rows whose value was never seen."""
    if "levels" in own:
        if entry["kind"] == "categorical":
            block = z[:, at : at + len(entry["levels"])]
            codes = np.where(block.any(axis=1), block.argmax(axis=1), -1)
        else:
            codes = np.rint(z[:, at] * entry["sd"] + entry["mean"]).astype(int)
            if entry["marks_missing"]:
                codes[z[:, at + 1] > 0] = len(entry["levels"])
            codes[strange] = -1
        return _places(entry, own)[np.clip(codes, -1, len(entry["levels"]))]
    cells = number_cells(z[:, at], own)
    gone = len(own["edges"]) + 3
    cells[strange] = gone
    if entry["marks_missing"]:
        cells[z[:, at + 1] > 0] = gone
    return cells


def _places(entry: Mapping[str, Any], own: Mapping[str, Any]) -> np.ndarray:
    """Return the cell of each level of a column, of a missing one, and last of one never seen."""
    place = np.full(len(entry["levels"]) + 2, len(own["levels"]))  # a rare one
    place[own["levels"]] = np.arange(len(own["levels"]))
    place[-1] = len(own["levels"]) + 1  # never seen
    return place


def _range(entry: Mapping[str, Any]) -> tuple[float, float, float]:
    """Return the range of a column's numbers, and what rounding may add to it."""
    low, high = float(entry["low"]), float(entry["high"])
    return low, high, 1e-9 * max(abs(low), abs(high), high - low)


def number_cells(values: np.ndarray, own: Mapping[str, Any]) -> np.ndarray:
    """Return cells of numbers: below the audited ones, sixteenths of them, above."""
    edges = np.asarray(own["edges"], dtype=float)
    cells = 1 + np.searchsorted(edges, values, side="right")
    cells[values < own["low"]] = 0
    cells[values > own["high"]] = len(edges) + 2
    return cells


def _counted(cells: np.ndarray, own: Mapping[str, Any]) -> dict[str, int]:
    if "levels" in own:
        return {"unseen": int((cells == len(own["levels"]) + 1).sum())}
    top = len(own["edges"]) + 2
    named = {"below": 0, "above": top, "missing": top + 1}
    return {name: int((cells == cell).sum()) for name, cell in named.items()}


def _beyond(
    z: np.ndarray, cells: np.ndarray, entry: Mapping[str, Any], own: Mapping[str, Any]
) -> tuple[np.ndarray, list[str]]:
    """Return whose number cannot be (n,), and notes on numbers outside the audited range."""
    top = len(own["edges"]) + 2
    there = cells <= top
    with np.errstate(over="ignore"):
        x = z * entry["sd"] + entry["mean"]
    low, high, slack = _range(entry)
    width = high - low
    outside = there & ((x < low - slack) | (x > high + slack))
    if not outside.any():
        return np.zeros(len(z), dtype=bool), []
    cannot = outside & ((x < low - FACTOR * width) | (x > high + FACTOR * width) | ((x < 0) & (low >= 0)))
    name, far = own["column"], x[outside & ~cannot]
    if entry["kind"] == "datetime":
        return cannot, [f"{name}: {_of(int(outside.sum()), len(z))} outside the audited dates."]
    notes = []
    spread = f"from {_worded(low)} to {_worded(high)}"
    if cannot.any():
        worst = x[cannot][np.argmax(np.abs(x[cannot] - entry["mean"]))]
        notes.append(
            f"{name}: {_of(int(cannot.sum()), len(z))} values that cannot be ({_worded(float(worst))}): the "
            f"audited ones lie {spread}; these are below 0, or beyond by over {FACTOR:g} times that width."
        )
    tells = there.sum() >= _LEAST_TO_TELL or cannot[there].all()
    unit = _unit(x[there], low, high, float(entry["mean"])) if tells else ""
    if unit:
        notes.append(f"{name}: {unit}")
    elif (outside & ~cannot).mean() > 2 * flag_rate_bound(0, int(sum(own["counts"]))):
        notes.append(
            f"{name}: {_of(int((outside & ~cannot).sum()), len(z))} outside the audited range {spread} "
            f"({_worded(float(far.min()))} to {_worded(float(far.max()))} were sent)."
        )
    return cannot, notes


def _unit(x: np.ndarray, low: float, high: float, mean: float) -> str:
    """Say in which other unit values seem to be: most lie outside, and inside once divided."""
    inside = (x >= low) & (x <= high)
    if not len(x) or inside.mean() > 1 - _LOOKS_LIKE or high <= low:
        return ""
    found = []
    for factor, words in _UNITS.items():
        there = x / factor
        if ((there >= low) & (there <= high)).mean() >= _LOOKS_LIKE:
            found.append((abs(float(np.median(there)) - mean), factor, words))
    if not found:
        return ""
    _, factor, words = min(found)
    by = f"divided by {factor:g}" if factor > 1 else f"multiplied by {1 / factor:g}"
    return f"values look like {words}: {by} they lie in its range from {_worded(low)} to {_worded(high)}."


def _missing(found: dict[str, int], n: int, own: Mapping[str, Any]) -> list[str]:
    gone = found.get("missing", 0)
    if not gone:
        return []
    before, people = own["counts"][-1], sum(own["counts"])
    if gone / n <= 2 * flag_rate_bound(int(before), int(people)) or (gone < 3 and before):
        return []
    return [f"{own['column']}: {_of(gone, n)} missing; {percent(before / people, people)} in the audit."]


def _worded(value: float) -> str:
    return number(value) if abs(value) < _LONG else f"{value:.3g}"


def _of(some: int, n: int) -> str:
    return f"{count(some)} of {count(n)}"


def profile_of(
    subject: Subject,
    space: FeatureSpace,
    z: np.ndarray,
    scores: np.ndarray,
    sensitivity: np.ndarray,
    weights: np.ndarray,
    encoding: Sequence[Mapping[str, Any]],
    reads: Sequence[str],
) -> dict[str, Any]:
    """Return what is kept of the people audited, plain data."""
    columns = []
    for entry, part in zip(encoding, space.parts, strict=True):
        at = space.blocks[part.column].start
        if part.column in reads:
            columns.append(_column(z, entry, at, weights))
    decisions = subject.decisions
    threshold = subject.threshold
    return {
        "people": float(weights.sum()),
        "columns": columns,
        "score": numbers(scores, weights),
        "sensitivity": numbers(sensitivity, weights),
        "decisions": _two(decisions, weights),
        "threshold": float(threshold) if isinstance(threshold, (int, float)) else None,
        "unfavorable": subject.higher_is == "unfavorable",
        "groups": _groups(subject, scores, weights),
        "repeats": None if subject.data.weights is not None else _repeats(z),
    }


def _column(z: np.ndarray, entry: Mapping[str, Any], at: int, weights: np.ndarray) -> dict[str, Any]:
    if entry["levels"]:
        own: dict[str, Any] = {"column": entry["column"], "levels": list(range(len(entry["levels"])))}
        everyone = np.arange(len(entry["levels"]) + 2)
        if entry["kind"] == "categorical" and len(entry["levels"]) > _MOST_LEVELS:
            block = z[:, at : at + len(entry["levels"])]
            common = np.argsort(-(weights @ (block > 0)), kind="stable")[:_MOST_LEVELS]
            own["levels"] = sorted(common.tolist())
        elif len(everyone) > CELLS:
            own["levels"] = own["levels"][:_MOST_LEVELS]
        size = len(own["levels"]) + 2
    else:
        values = z[:, at]
        there = z[:, at + 1] == 0 if entry["marks_missing"] else np.ones(len(z), dtype=bool)
        own = {"column": entry["column"], **_edges(values[there])}
        size = len(own["edges"]) + 4
    cells = cells_of(z, entry, at, own, np.empty(0, dtype=int))
    own["counts"] = np.bincount(cells, weights, minlength=size).tolist()
    return own


def _edges(values: np.ndarray) -> dict[str, Any]:
    if not len(values):
        return {"edges": [], "low": 0.0, "high": 0.0}
    inner = np.unique(np.quantile(values, np.arange(1, _PARTS) / _PARTS, method="inverted_cdf"))
    return {
        "edges": inner[inner > values.min()].tolist(),
        "low": float(values.min()),
        "high": float(values.max()),
    }


def numbers(values: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Return edges and counts of numbers that are never missing."""
    own = _edges(values)
    own["counts"] = np.bincount(number_cells(values, own), weights, minlength=len(own["edges"]) + 3).tolist()
    return own


def _two(events: np.ndarray, weights: np.ndarray) -> list[float]:
    return [float(weights[~events].sum()), float(weights[events].sum())]


def _groups(subject: Subject, scores: np.ndarray, weights: np.ndarray) -> dict[str, Any]:
    """Return decisions, and where labels are known what they were given the label, by attribute and group."""
    data, found = subject.data, dict[str, Any]()
    good = None if data.y is None else np.asarray(data.y).astype(bool)
    chances = subject.model.classes is not None
    for attribute in data.protected:
        values = data.groups[attribute].to_numpy()
        sizes = {str(name): float(weights[values == name].sum()) for name in pd.unique(values)}
        own: dict[str, Any] = {}
        for name in sorted(sizes, key=lambda each: -sizes[each])[:_MOST_GROUPS]:
            mine = values == name
            if sizes[name] < _LEAST_IN_GROUP:
                continue
            own[name] = {"people": sizes[name], "decisions": _two(subject.decisions[mine], weights[mine])}
            if good is not None:
                for key, label in (("good", True), ("bad", False)):
                    given = mine & (good == label)
                    own[name][key] = _two(subject.decisions[given], weights[given])
                if chances:
                    own[name]["apart"] = numbers(good[mine] - scores[mine], weights[mine])
        found[attribute] = own
    return found


def _repeats(z: np.ndarray) -> dict[str, Any] | None:
    """Return how many people to look at together for equal rows, and how rarely there are any by chance."""
    rows = np.random.default_rng(0).permutation(hashed(z))
    for block in _BLOCKS:
        blocks = len(rows) // block
        if blocks < 20:
            continue
        parts = np.sort(rows[: blocks * block].reshape(blocks, block), axis=1)
        equal = int((parts[:, 1:] == parts[:, :-1]).any(axis=1).sum())
        bound = flag_rate_bound(equal, blocks) if equal < blocks else 1.0
        if bound <= _MOST_REPEATS:
            _, sizes = np.unique(rows, return_counts=True)
            pairs = float((sizes * (sizes - 1)).sum() / (len(rows) * (len(rows) - 1)))
            return {"block": block, "bound": bound, "pairs": pairs}
    return None
