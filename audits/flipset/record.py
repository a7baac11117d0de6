"""The record of `flipset`: what everything else knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from audits.flipset.options import FlipsetOptions, memory, seconds
from audits.records import Audit, OnPages

if TYPE_CHECKING:
    from audits.data import AuditData


def _usual(data: AuditData) -> dict[str, Any] | None:
    """Between the two largest groups of the first protected attribute."""
    from audits.data.preprocessing.groups import group_pair, group_sizes

    if not data.protected or not data.features:
        return None
    attribute = data.protected[0]
    pair = group_pair(group_sizes(data, attribute))
    return None if pair is None else {"source": {attribute: pair[0]}, "target": {attribute: pair[1]}}


def _windows(groups: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Between the two largest groups of the first attribute."""
    attribute, people = next(iter(groups.items()))
    target, source = sorted(people, key=lambda group: (-people[group], group))[:2]
    return {"source": {attribute: source}, "target": {attribute: target}}


AUDIT = Audit(
    name="flipset",
    title="Flipsets",
    question="Had these people belonged to the other group, would the decision have been different?",
    also_called="fliptest counterfactual counterfactuals counterfactualfairness flip matching",
    then=("explain", "sensitivity", "recourse"),
    limits=(
        "A counterpart is a statistical match. It does not show how the same person would have lived in "
        "another group. A flipset shows who gets another decision than similar people in the other group. "
        "It does not prove that group membership caused it, or that the difference is unjustified."
    ),
    options=FlipsetOptions,
    result="audits.flipset.result:FlipsetResult",
    runs="audits.flipset.audit:flipset",
    paired="audits.comparison.flipset:compare",
    decisions_alone=lambda options, data: options.condition_on not in ("label", data.label),
    compares=lambda _, subject: subject.unseen_fills,
    keys="audits.flipset:keys.json",
    says="audits.flipset.text:headline",
    distances=True,
    needs=("ot",),
    presents="audits.flipset.sections:section",
    seconds=seconds,
    memory=memory,
    usual=_usual,
    windows=_windows,
    pages=OnPages(
        does="Match people with the other group",
        labels={
            "condition_on": "Compare only people with the same",
            "transport": "Counterparts",
            "map": "Counterparts",
            "cost": "Distance",
            "feature_weights": "Weight features differently",
            "max_people": "Match everyone",
            "permutations": "Permutations for measuring chance",
            "repeats": "Stability repeats",
            "repeat_maps": "Repeat with",
            "repeat_people": "Draw half of each group each time",
            "reverse": "Also count flips in the other direction",
        },
        former_choices={
            **{name: f"with-{name}" for name in ("cost", "level", "repeats", "reverse")},
            "shuffles": "with-permutations",
            "patience": "with-seconds",
            "repeat-people": "with-repeat_people",
            "repeat-maps": "with-repeat_maps",
        },
        selected={
            "positive": "flipped (favorable here only)",
            "negative": "flipped (unfavorable here only)",
            "flips again": "share of repeats they flip in",
        },
        former=("flipsets",),
    ),
)
