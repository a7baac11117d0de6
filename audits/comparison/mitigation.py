"""Two models' mitigations side by side: each was trained again for a worst group of its own."""

from __future__ import annotations

from typing import Any

from audits.comparison.pairs import Kind, Pairing, Row, estimates_of, without_interval
from audits.mitigation.result import MitigationResult
from audits.stats.text import count

_OWN = "each model was retrained with its own samples, and individual decisions are not kept"
_OTHERS = "the two models were treated for other groups, or with other numbers of samples"
_NUMBERS: dict[str, tuple[str, Kind]] = {
    "difference": ("gap in favorable decisions between {who} and everyone else", "gap"),
    "favorable_in": ("favorable share of {who}", "share"),
    "favorable_out": ("favorable share of everyone but {who}", "share"),
    "accuracy": ("accuracy", "share"),
}


def compare(first: MitigationResult, second: MitigationResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return both models' numbers step by step, without intervals; see `audits.comparison.pairs`.

    What two treatments leave of two gaps is no sum over people whose decisions are kept. The models as they
    were are on the same people: other audits of the comparison pair them.
    """
    rows, whose = list[Row](), f"people with {second.rule_set}"
    for place, steps in enumerate(zip(first.steps, second.steps, strict=False)):
        added = steps[1].added
        alike = first.rule_set == second.rule_set and steps[0].added == added
        how = f"with {count(added)} samples" if added else "as the model was"
        for name, (words, kind) in _NUMBERS.items():
            both, said = estimates_of(steps, name), f"{words.format(who=whose)}, {how}"
            moved = without_interval(both, _OWN if alike else _OTHERS, alike=alike)
            rows.append(Row(f"steps[{place}].{name}", said, *both, moved, kind, judged=False))
    return Pairing(tuple(rows), why={"": _OWN})
