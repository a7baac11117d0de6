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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from audits.errors import InputError
from audits.records import resolve
from audits.runs.gates.places import parts_of
from audits.runs.registry import AUDITS
from audits.stats import Estimate
from audits.stats.intervals import weighted_sum

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
_MAX = 50_000_000
_ENDS = ("value", "low", "high", "n")
_LEFT_OUT = {"options", "calibration", "estimate"}


@dataclass(frozen=True)
class GateBaseline:
    """What a baseline file holds: the data's digest, and each audit's numbers and decisions."""

    data: str
    audits: list[dict[str, Any]]

    def changes(self, audit: Any, place: int, data: str, *, level: float) -> dict[str, Estimate]:
        """Return the paired changes of an audit's numbers, by place; empty where they cannot be paired.

        Parameters
        ----------
        audit : AuditResult
            The audit now, in `place` of its run's.
        data : str
            Digest of its data.
        level : float
            Error rate of each interval.
        """
        kept = self._baseline_audit(audit.name, place)
        rows = _decisions(audit)
        if not kept or rows is None or data != self.data or not kept.get("people"):
            return {}
        people = kept["people"]
        if people["rows"] != _digest(rows) or people["n"] != len(rows):
            return {}
        bits = np.frombuffer(base64.b64decode(people["decisions"]), dtype=np.uint8)
        before = np.unpackbits(bits, count=len(rows)).astype(bool)
        found: dict[str, Estimate] = resolve(AUDITS[audit.name].since)(audit.result, before, level=level)
        return found

    def change(
        self,
        audit: str,
        place: int,
        path: str,
        entry: Mapping[str, Any],
        now: Mapping[str, Any],
        reference: str,
    ) -> tuple[float, Estimate] | None:
        """Return what a number was and how it has changed as if of other people; None where it was not known.

        A difference is from the same group now and then: `reference`, or where that group is new, the one
        that was compared with then.

        Parameters
        ----------
        path : str
            Place of the number in `entry`, the audit's part of results.json.
        now : mapping
            The number now: value, low, high, n, method.
        reference : str
            Place of the group that a difference is from now; empty for another number.
        """
        kept = self._baseline_audit(audit, place)
        if not kept:
            return None
        known_then: dict[str, Any] = kept["numbers"]
        then = _stated(known_then, path)
        known: Estimate | None = Estimate(
            now["value"], now["low"], now["high"], now["n"] or 0.0, now["method"]
        )
        row, _, rate = path.partition(".differences.")
        if reference and f"{reference}.{rate}" not in known_then:
            reference = _reference_in(known_then, row, rate)
            known = _minus(dict(estimates_in(entry)), row, reference, rate)
            then = _minus(known_then, row, reference, rate)
        elif reference and (then is None or f"{reference}.differences.{rate}" in known_then):
            then = _minus(known_then, row, reference, rate)
        if then is None or known is None or then.value is None or reference == row:
            return None
        change = weighted_sum([known, then], [1.0, -1.0])
        return then.value, Estimate(
            change.value, change.low, change.high, known.n,
            f"MOVER from {known.method}, as if of other people",
        )  # fmt: skip

    def _baseline_audit(self, audit: str, place: int) -> dict[str, Any] | None:
        """The audit of the same name: as many others of that name before it, where one is asked for twice."""
        if place < len(self.audits) and AUDITS.now(self.audits[place]["audit"]) == audit:
            return self.audits[place]
        return next((each for each in self.audits if AUDITS.now(each["audit"]) == audit), None)


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
        kept: dict[str, Any] = {"audit": audit.name, "numbers": dict(estimates_in(entry))}
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


def growth(change: Estimate, before: float | None) -> Estimate:
    """Return by how much a difference has moved away from 0, from its signed change.

    The size of ``before + change`` minus that of `before`, over the change's interval: towards 0 and beyond
    it counts as growth only from where the difference is as large on the other side.

    Examples
    --------
    >>> round(growth(Estimate(-0.05, -0.08, -0.02, 200, ""), -0.1).low, 3)  # a group falls further behind
    0.02
    >>> round(growth(Estimate(0.05, 0.02, 0.08, 200, ""), -0.1).high, 3)  # it catches up
    -0.02
    """
    if before is None or change.value is None or change.low is None or change.high is None:
        return Estimate(None, None, None, change.n, change.method)

    def grown(by: float) -> float:
        return abs(before + by) - abs(before)

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


def estimates_in(value: Any, path: str = "") -> Iterator[tuple[str, list[float | None]]]:
    """Yield every estimate with its place, as value, ends and people."""
    if isinstance(value, dict) and {*_ENDS, "method"} <= value.keys():
        yield path.lstrip("."), [value[key] for key in _ENDS]
        return
    if isinstance(value, dict) and isinstance(value.get("estimate"), dict):
        yield from estimates_in(value["estimate"], path)
    for where, item in parts_of(value, path, without=_LEFT_OUT):
        yield from estimates_in(item, where)
