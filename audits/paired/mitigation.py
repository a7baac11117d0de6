"""Two models' mitigations side by side: each was trained again for a worst group of its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from audits.mitigation.result import MitigationResult, Step
from audits.paired.pairing import Kind, Pairing, Row, beside
from audits.stats.words import count

__all__ = ["paired"]

_OWN = "each model was trained again with samples of its own, and nobody's decision is kept"
_OTHERS = "the two models were treated for other groups, or with other numbers of samples"
_NUMBERS: dict[str, tuple[str, Kind]] = {
    "difference": ("gap in favorable decisions between {who} and everyone else", "gap"),
    "favorable_in": ("favorable share of {who}", "share"),
    "favorable_out": ("favorable share of everyone but {who}", "share"),
    "accuracy": ("accuracy", "share"),
}


def paired(first: MitigationResult, second: MitigationResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return both models' numbers step by step, without intervals; see `audits.paired.pairing`.

    What two treatments leave of two gaps is no sum over people whose decisions are kept. The models as they
    were are on the same people: other audits of the comparison pair them.
    """
    rows = tuple(
        row
        for place, steps in enumerate(zip(first.steps, second.steps, strict=False))
        for row in _rows(place, steps, second.rule_set, alike=first.rule_set == second.rule_set)
    )
    return Pairing(rows, why={"": _OWN})


def _rows(place: int, steps: tuple[Step, Step], rule_set: str, *, alike: bool) -> Iterator[Row]:
    before, after = steps
    alike = alike and before.added == after.added
    how = f"with {count(after.added)} samples" if after.added else "as the model was"
    for name, (words, kind) in _NUMBERS.items():
        sides = getattr(before, name), getattr(after, name)
        said = f"{words.format(who=f'people with {rule_set}')}, {how}"
        yield beside(f"steps[{place}].{name}", said, sides, kind, _OWN if alike else _OTHERS, alike=alike)
