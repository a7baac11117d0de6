"""Baselines: what a run found, small enough to lie beside a spec, for later runs to be compared with.

A baseline keeps every estimate, and one bit a person where an audit's numbers rest on decisions: of the
same people the change since has a paired interval. Of other people, or for numbers that rest on more than
decisions, both intervals are combined as if nobody were in both (MOVER), which is too wide where the same
people are.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.errors import InputError
from audits.records import resolve
from audits.runs.gates.places import group_rows, in_order, records_in
from audits.runs.registry import AUDITS
from audits.stats import Estimate, exceeds
from audits.stats.intervals import weighted_sum

if TYPE_CHECKING:
    import pandas as pd

    from audits.runs.gates.rules import Number

Since = tuple[float | None, Estimate | None, bool]
FORMAT = 1
_MAX = 50_000_000
_ENDS = ("value", "low", "high", "n")
_LEFT_OUT = {"options", "calibration", "estimate"}


@dataclass(frozen=True)
class GateBaseline:
    """What a baseline file holds: the data's digest, and each audit's numbers and decisions."""

    data: str
    audits: list[dict[str, Any]]

    def since(self, result: Any, place: int, *, level: float) -> Callable[[Number], Since]:
        """Return what tells of a number of one audit what it was and how it has changed.

        Where the same people were decided on then, changes are paired. Of others it is told as if of other
        people: a difference is from the same group now and then, or where that group is new, from the one
        that was compared with then. Of several audits of the same name in the baseline it is the one with
        the same options, else in the same place among them, of those that know the number.

        Parameters
        ----------
        result : RunResult
            The run now.
        place : int
            The audit's place in it.
        level : float
            Error rate of each paired interval.

        Returns
        -------
        callable
            Gives what a number was, its change, and whether that is of the same people; None, None and False
            where it was not known.
        """
        audit, entry = result.audits[place], result.audits[place].to_json()
        alike = self._alike(audit, [each.name for each in result.audits[:place]].count(audit.name))
        paired = self._paired(audit, alike, level) if result.data["sha256"] == self.data else {}

        def told(number: Number) -> Since:
            change = paired.get(number.path)
            if change is None:
                return *self._unpaired(number, entry, alike), False
            return None if change.value is None else number.estimate["value"] - change.value, change, True

        return told

    def _paired(self, audit: Any, alike: Sequence[int], level: float) -> dict[str, Estimate]:
        """Return the paired changes of an audit's numbers, by place; empty where they cannot be paired."""
        rows = _decisions(audit)
        if rows is None:
            return {}
        same = _digest(rows), len(rows)
        then = (self.audits[place].get("people") for place in alike)
        people = next((each for each in then if each and (each["rows"], each["n"]) == same), None)
        if people is None:
            return {}
        bits = np.frombuffer(base64.b64decode(people["decisions"]), dtype=np.uint8)
        before = np.unpackbits(bits, count=len(rows)).astype(bool)
        found: dict[str, Estimate] = resolve(AUDITS[audit.name].since)(audit.result, before, level=level)
        return found

    def _unpaired(
        self, number: Number, entry: Mapping[str, Any], alike: Sequence[int]
    ) -> tuple[float, Estimate] | tuple[None, None]:
        path, reference = in_order(number.path), in_order(_reference_now(entry, number))
        row, _, rate = path.partition(".differences.")
        known = (self._numbers[each] for each in alike)
        known_then = next((each for each in known if path in each or f"{row}.{rate}" in each), None)
        if known_then is None:
            return None, None
        value, low, high, n, method = (number.estimate[key] for key in (*_ENDS, "method"))
        now: Estimate | None = Estimate(value, low, high, n or 0.0, method)
        then = _stated(known_then, path)
        if reference and f"{reference}.{rate}" not in known_then:
            reference = _reference_in(known_then, row, rate)
            now = _minus(_placed(estimates_in(entry)), row, reference, rate)
            then = _minus(known_then, row, reference, rate)
        elif reference and (then is None or f"{reference}.differences.{rate}" in known_then):
            then = _minus(known_then, row, reference, rate)
        if then is None or now is None or then.value is None or reference == row:
            return None, None
        change = weighted_sum([now, then], [1.0, -1.0])
        method = f"MOVER from {now.method}, as if of other people"
        return then.value, replace(change, n=now.n, method=method)

    def gone(
        self, audits: Sequence[Any], entries: Sequence[Mapping[str, Any]]
    ) -> Iterator[tuple[str, int, str]]:
        """Yield the differences of groups that no audit states any more: its name, place and the path.

        Parameters
        ----------
        audits, entries : sequence
            The audits now, and their parts of results.json.
        """
        now: dict[str, set[str]] = {}
        places: dict[str, int] = {}
        for place, (audit, entry) in enumerate(zip(audits, entries, strict=True)):
            now.setdefault(audit.name, set()).update(_placed(estimates_in(entry)))
            places.setdefault(audit.name, place)
        told = set()
        for audit, known in zip(self.audits, self._numbers, strict=True):
            name = AUDITS.now(audit["audit"])
            for path in known:
                row, differs, rate = path.partition(".differences.")
                if not differs or (name, path) in told or f"{row}.{rate}" in now.get(name, ()):
                    continue
                told.add((name, path))
                yield name, places.get(name, len(audits)), path

    @cached_property
    def _numbers(self) -> list[dict[str, Any]]:
        return [_placed(each["numbers"].items()) for each in self.audits]

    def _alike(self, audit: Any, kth: int) -> list[int]:
        """Return where audits of the same name are, the likeliest first: the same options, the same place."""
        named = [place for place, each in enumerate(self.audits) if AUDITS.now(each["audit"]) == audit.name]
        asked = _asked(audit.options)

        def unlike(nth: int) -> tuple[bool, bool]:
            return self.audits[named[nth]].get("options") != asked, nth != kth

        return [named[nth] for nth in sorted(range(len(named)), key=unlike)]


def _placed(numbers: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    return {in_order(path): estimate for path, estimate in numbers}


def _stated(numbers: Mapping[str, Any], path: str) -> Estimate | None:
    if path not in numbers:
        return None
    value, low, high, n = numbers[path]
    return Estimate(value, low, high, n, "")


def _minus(numbers: Mapping[str, Any], row: str, reference: str, rate: str) -> Estimate | None:
    """Return the rate of one group minus that of another; None where either is not known."""
    both = [_stated(numbers, f"{group}.{rate}") for group in (row, reference)]
    return None if None in both else weighted_sum([each for each in both if each], [1.0, -1.0])


def _reference_in(numbers: Mapping[str, Any], row: str, rate: str) -> str:
    """Return the place of the group that others of its attribute were compared with; empty if unknown."""
    attribute, end = f"{row.partition(': ')[0]}: ", f".{rate}"
    places = [path.removesuffix(end) for path in numbers if path.startswith(attribute) and path.endswith(end)]
    whole = (place for place in places if place.endswith("]"))
    return next((place for place in whole if f"{place}.differences.{rate}" not in numbers), "")


def _reference_now(entry: Mapping[str, Any], number: Number) -> str:
    """Return the place of the group that a difference is from; empty for another number."""
    if ".differences." not in number.path:
        return ""
    table = number.path.partition("[")[0]
    for where, row in group_rows(entry):
        same = where.startswith(f"{table}[") and row.get("attribute") == number.attribute
        if same and row.get("is_reference"):
            return where
    return ""


def baseline_in(result: Any) -> GateBaseline:
    """Return a run as a baseline for another one, without a file in between."""
    document = _document(result)
    return GateBaseline(document["data"], document["audits"])


def baseline_of(result: Any) -> str:
    """Return a run as a baseline file: JSON, without any person's values."""
    return json.dumps(_document(result), ensure_ascii=False, indent=1) + "\n"


def _document(result: Any) -> dict[str, Any]:
    audits = []
    for audit, entry in zip(result.audits, result.to_json()["audits"], strict=True):
        numbers = dict(estimates_in(entry))
        kept: dict[str, Any] = {"audit": audit.name, "options": _asked(audit.options), "numbers": numbers}
        rows = _decisions(audit)
        if rows is not None:
            bits = base64.b64encode(np.packbits(rows.to_numpy()).tobytes()).decode()
            kept["people"] = {"n": len(rows), "rows": _digest(rows), "decisions": bits}
        audits.append(kept)
    return {
        "evenhand_baseline": FORMAT,
        "evenhand": result.evenhand,
        "data": result.data["sha256"],
        "audits": audits,
    }


def read_baseline(path: Path, where: str) -> GateBaseline:
    """Read a baseline file.

    Raises
    ------
    InputError
        If there is none, or it is no baseline of this version.
    """
    advice = "write one with: evenhand baseline RESULTS --out FILE"
    try:
        if path.stat().st_size > _MAX:
            raise InputError(where, f"must be at most {_MAX // 1_000_000} MB", str(path))
        document = json.loads(path.read_text(encoding="utf-8"))
        if document["evenhand_baseline"] != FORMAT:
            raise InputError(where, f"must be a baseline of format {FORMAT}", str(path), advice)
        return GateBaseline(document["data"], document["audits"])
    except OSError as error:
        raise InputError(where, f"cannot be read ({error.strerror})", str(path), advice) from None
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(where, "must be a baseline file", str(path), advice) from None


def growth(change: Estimate, before: float | None, material: float) -> Estimate:
    """Return by how much a difference has moved away from 0, from its signed change.

    The size of ``before + change`` minus that of `before`, over the change's interval. Beyond 0 it is
    another group that falls behind: from where that difference is `material`, the whole move counts.

    Examples
    --------
    >>> round(growth(Estimate(-0.05, -0.08, -0.02, 200, ""), -0.1, 0.1).low, 3)  # a group falls behind
    0.02
    >>> round(growth(Estimate(0.05, 0.02, 0.08, 200, ""), -0.1, 0.1).high, 3)  # it catches up
    -0.02
    >>> round(growth(Estimate(0.9, 0.8, 1.0, 200, ""), -0.4, 0.1).low, 3)  # the others fall behind
    0.8
    """
    if before is None or change.value is None or change.low is None or change.high is None:
        return Estimate(None, None, None, change.n, change.method)

    def grown(by: float) -> float:
        after = before + by
        reversed_to = abs(after) if before * after < 0 else 0.0
        return abs(by) if exceeds(reversed_to, material) else abs(after) - abs(before)

    ends = [grown(change.low), grown(change.high)]
    if change.low < -before < change.high:
        ends.append(-abs(before))
    return Estimate(grown(change.value), min(ends), max(ends), change.n, change.method)


def _decisions(audit: Any) -> pd.Series | None:
    record = AUDITS[audit.name]
    if record.decided is None or record.since is None:
        return None
    found: pd.Series | None = resolve(record.decided)(audit.result)
    return found


def _digest(rows: pd.Series) -> str:
    return hashlib.sha256("\n".join(map(str, rows.index)).encode()).hexdigest()


def _asked(options: Mapping[str, Any]) -> str:
    """Return a digest of an audit's options, which may name groups of people."""
    return hashlib.sha256(json.dumps(options, sort_keys=True, default=str).encode()).hexdigest()


def estimates_in(value: Any) -> Iterator[tuple[str, list[float | None]]]:
    """Yield every estimate with its place, as value, ends and people."""
    for path, record in records_in(value, without=_LEFT_OUT):
        for found in (record, record.get("estimate")):
            if isinstance(found, dict) and {*_ENDS, "method"} <= found.keys():
                yield path.lstrip("."), [found[key] for key in _ENDS]
