"""What is compared with what (section 3.1): two policies on one population, or one policy on two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.checks import check_apart
from audits.data import group_name
from audits.data.intersections import group_codes
from audits.data.partition import sample_people
from audits.errors import InputError
from audits.models import Subject
from audits.models.protocol import class_text, label_values
from audits.outcome_transport.comparison.policies import PolicyOutcomes, model_outcomes, reference_outcomes
from audits.outcome_transport.options import OutcomeTransportOptions


@dataclass(frozen=True, eq=False)
class Side:
    """One side of a comparison.

    Attributes
    ----------
    name : str
        Whose outcomes, in words.
    positions : array (n,)
        The rows, as positions in the audited data.
    people : array (n,)
        How many people each stands for.
    outcomes : array (n, c)
        Scaled so that their Euclidean distance is Eq. 10's.
    group, subgroup : arrays (n,)
        Codes into `groups` and `subgroups`.
    """

    name: str
    positions: np.ndarray
    people: np.ndarray
    outcomes: np.ndarray
    group: np.ndarray
    groups: tuple[str, ...]
    subgroup: np.ndarray
    subgroups: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class TwoSides:
    """Two sides, what their outcomes are, and who was left out.

    Attributes
    ----------
    same_people : bool
        Whether the same people stand on both sides, in the same order.
    kind : {"decision", "probability", "score", "classes"}
    unit : float
        Distance that a difference of 1 in the outcome makes: √2 for (p, 1 - p), 1 for scores.
    """

    source: Side
    target: Side
    same_people: bool
    kind: str
    unit: float
    left_out: dict[str, int]
    warnings: tuple[str, ...]


def compare(subject: Subject, options: OutcomeTransportOptions, rng: np.random.Generator) -> TwoSides:
    """Put together the two sides that the options ask for.

    Raises
    ------
    InputError
        If the options name no comparison, or two; if a side is empty or the sides share people; if outcomes
        are not what was asked for.
    """
    given = (options.source is not None) + (options.target is not None)
    if given and options.against is not None:
        raise InputError(
            "outcome_transport",
            "must compare two policies (against) or two groups (source and target), not both",
            advice="leave one of them out",
        )
    if given == 1:
        missing = "target" if options.target is None else "source"
        raise InputError(f"outcome_transport.{missing}", "is missing", advice="name both groups")
    return _two_groups(subject, options, rng) if given else _two_policies(subject, options, rng)


def _put_together(
    subject: Subject,
    options: OutcomeTransportOptions,
    outcomes: Sequence[PolicyOutcomes],
    people: Sequence[np.ndarray],
    rng: np.random.Generator,
    warnings: Sequence[str],
    names: Sequence[str],
    *,
    same_people: bool,
) -> TwoSides:
    """Draw the people of both sides, if they are too many, and say what that leaves out."""
    most = options.max_people
    drawn = [sample_people(subject.data, positions, most, rng) for positions in people]
    lost = sum(len(before) - len(after) for before, (after, _) in zip(people, drawn, strict=True))
    left_out = {"not drawn into the subsample": lost} if lost else {}
    if lost:
        said = f"At most {most:,} people a side are compared, drawn at random. {lost:,} rows were left out."
        warnings = [*warnings, said]
    neither = subject.data.n - sum(map(len, people))
    if neither:
        left_out["in neither group"] = neither
    source, target = (
        _side(subject, options, outcome, *of_side, name)
        for outcome, of_side, name in zip(outcomes, (drawn[0], drawn[-1]), names, strict=True)
    )
    kind, unit = outcomes[1].kind, outcomes[1].unit
    return TwoSides(source, target, same_people, kind, unit, left_out, tuple(warnings))


def _two_policies(subject: Subject, options: OutcomeTransportOptions, rng: np.random.Generator) -> TwoSides:
    ours, theirs, warnings = reference_outcomes(subject, options)
    everyone, names = [np.arange(subject.data.n)], [ours.name, theirs.name]
    both = [ours, theirs]
    return _put_together(subject, options, both, everyone, rng, warnings, names, same_people=True)


def _two_groups(subject: Subject, options: OutcomeTransportOptions, rng: np.random.Generator) -> TwoSides:
    masks = [_members(subject, options, side) for side in ("source", "target")]
    check_apart("outcome_transport", masks[0], masks[1], options.target)
    both = [model_outcomes(subject, options.outcome)] * 2
    people = [np.flatnonzero(mask) for mask in masks]
    names = [_name(options.source), _name(options.target)]
    return _put_together(subject, options, both, people, rng, (), names, same_people=False)


def _name(members: Any) -> str:
    return members if isinstance(members, str) else group_name(members)


def _members(subject: Subject, options: OutcomeTransportOptions, side: str) -> np.ndarray:
    wanted = getattr(options, side)
    if isinstance(wanted, str):
        decided = np.asarray(subject.decisions, dtype=bool)
        mask = decided if wanted == "accepted" else ~decided
        advice = "check the threshold"
    else:
        mask = subject.data.members(wanted)
        advice = "choose a larger group, or audit more rows"
    if not mask.any():
        raise InputError(
            f"outcome_transport.{side}",
            f"must have people in it, but nobody in the audited data is in {_name(wanted)!r}",
            advice=advice,
        )
    return mask


def _side(
    subject: Subject,
    options: OutcomeTransportOptions,
    outcomes: PolicyOutcomes,
    positions: np.ndarray,
    people: np.ndarray,
    name: str,
) -> Side:
    data = subject.data
    group, groups = group_codes(data, options.by, "outcome_transport.by")
    split, names = _split(subject, options, outcomes)
    code = group * len(names) + split
    present, subgroup = np.unique(code[positions], return_inverse=True)
    kept, group = np.unique(group[positions], return_inverse=True)
    labels = [groups[one // len(names)] for one in present]
    ends = [names[one % len(names)] for one in present]
    return Side(
        name=name,
        positions=positions,
        people=people,
        outcomes=outcomes.values[positions] * outcomes.unit,
        group=group,
        groups=tuple(groups[one] for one in kept),
        subgroup=subgroup,
        subgroups=tuple(f"{one}, {end}" if end else one for one, end in zip(labels, ends, strict=True)),
    )


def _split(
    subject: Subject, options: OutcomeTransportOptions, outcomes: PolicyOutcomes
) -> tuple[np.ndarray, list[str]]:
    n = subject.data.n
    if options.split_by == "none":
        return np.zeros(n, dtype=int), [""]
    if options.split_by == "label":
        if subject.data.y is None:
            raise InputError(
                "outcome_transport.split_by", "needs a label, but the data have none", advice="set data.label"
            )
        return (~subject.data.y).astype(int), ["favorable label", "unfavorable label"]
    if options.split_by == "outcome" and outcomes.kind == "classes":
        names = [class_text(value) for value in subject.model.classes or label_values(subject.data)]
        return outcomes.values.argmax(axis=1), names
    favorable = subject.decisions if options.split_by == "prediction" else outcomes.favorable
    return (~np.asarray(favorable, dtype=bool)).astype(int), ["favorable", "unfavorable"]
