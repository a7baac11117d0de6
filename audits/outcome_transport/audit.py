"""The outcome-transport audit: compare, couple, measure, say how sure, pack."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from audits.checks import generator
from audits.data import AuditData, FeatureSpace
from audits.data.encoder import MAX_LEVELS
from audits.errors import InputError
from audits.models import Subject
from audits.outcome_transport.assembly import pack
from audits.outcome_transport.bias.groups import (
    FeatureSetBias,
    group_list,
    measure,
    measure_flows,
    tie_ranges,
)
from audits.outcome_transport.comparison.sides import TwoSides, compare
from audits.outcome_transport.inference import ResultParts, Space
from audits.outcome_transport.matching.optimal_face import Face, optimal_face
from audits.outcome_transport.matching.outcomes import Matching, OutcomeCost, OutcomePlan, match_outcomes
from audits.outcome_transport.matching.resampling import distance_error, distance_null, pool, resample
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.outcome_transport.result import OutcomeTransportResult
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.stats.group_means import group_means

_MAX_VECTORS = 10_000  # different outcome vectors of a side that are coupled exactly unless asked for
_MAX_BLURRED = 20_000  # outcomes that a blurred coupling can hold
_MAX_DISTANCES = 200_000_000  # between people, for one role's bias: about half a second
_DRAWS = 999  # resamples behind the interval of a distance on a line, which cost little
_FEW = 20_000  # people of both sides up to whom so many are drawn
_MAX = 1e100
_ROLES = ("actionable", "mutable", "immutable")


@says_what_it_lacks
def outcome_transport(
    subject: Subject,
    options: OutcomeTransportOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> OutcomeTransportResult:
    """Map one set of outcomes onto another: how far apart they are, and who gets whose.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    options : OutcomeTransportOptions
    rng : Generator, int or None
        Draws of bootstrap, permutations and a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Returns
    -------
    OutcomeTransportResult
        A distance of 0 says that both sides have the same outcomes; a bias of 0 that everyone's outcome is
        that of someone with the same features.

    Raises
    ------
    InputError
        If the options name no comparison or two, a group is empty or the two overlap, a label or role is
        missing, or outcomes said to be probabilities are not.

    Notes
    -----
    Kwegyir-Aggrey, Santorella, Brown (2021), sections 3 and 4 and appendix.
    """
    rng = generator(rng)
    progress(0.0, "Gathering outcomes")
    comparison, matching = _with_matching(subject, options, rng)
    _check_size(comparison)
    options = dataclasses.replace(options, matching=matching)
    a, b = comparison.source.people, comparison.target.people
    couple = functools.partial(
        match_outcomes,
        ground=options.cost,
        matching=matching,
        share=options.share,
        price=options.price,
        epsilon=options.epsilon,
        rng=rng,
    )
    matched = couple(
        comparison.source.outcomes,
        comparison.target.outcomes,
        a=a,
        b=b,
        progress=part(progress, 0.02, 0.1),
    )
    spaces = _spaces(subject, options, comparison)
    groups = group_list(comparison.source)
    face = optimal_face(matched)
    measured = _measure(comparison, matched, spaces, face, options, rng, part(progress, 0.1, 0.4))
    ranges = tie_ranges(
        matched,
        measured[0],
        groups,
        distance=options.distance,
        face=face,
        progress=part(progress, 0.4, 0.6),
    )
    if not next(iter(spaces.values())).columns:  # nothing says how unlike people are
        measured = [_unknown(measured[0]), *measured[1:]]
        ranges = [None] * len(ranges)
    parts = ResultParts(
        comparison=comparison,
        matched=matched,
        spaces=spaces,
        groups=groups,
        measured=measured,
        ranges=ranges,
        cells=measure_flows(comparison, matched),
        a=a,
        b=b,
    )
    inferred = _infer(parts, couple, options, rng, part(progress, 0.6, 1.0))
    return pack(subject, options, dataclasses.replace(parts, **inferred))


def _with_matching(
    subject: Subject, options: OutcomeTransportOptions, rng: np.random.Generator
) -> tuple[TwoSides, Matching]:
    """Compare, and settle how outcomes are coupled; a blurred coupling takes fewer people."""
    comparison = compare(subject, options, rng)
    matching: Matching = "exact"
    if options.matching != "automatic":
        matching = options.matching
    elif comparison.source.outcomes.shape[1] > 1:
        sides = comparison.source.outcomes, comparison.target.outcomes
        many = max(len(np.unique(side, axis=0)) for side in sides) > _MAX_VECTORS
        matching = "entropic" if many else "exact"
    largest = max(len(comparison.source.positions), len(comparison.target.positions))
    if matching != "exact" and comparison.kind != "decision" and largest > _MAX_BLURRED:
        comparison = compare(subject, dataclasses.replace(options, max_people=_MAX_BLURRED), rng)
    return comparison, matching


def _check_size(comparison: TwoSides) -> None:
    """Refuse outcomes whose squares float64 does not hold: every distance would be infinite."""
    for side in (comparison.source, comparison.target):
        largest = float(np.abs(side.outcomes).max())
        if largest > _MAX:
            raise InputError(
                "outcome_transport",
                f"must compare outcomes of at most {_MAX:g} in size, but {side.name} has larger ones",
                largest,
                "give them in a larger unit",
            )


def _spaces(subject: Subject, options: OutcomeTransportOptions, comparison: TwoSides) -> dict[str, Space]:
    """Features that bias is taken over: those asked for first, then each role's."""
    data = subject.data
    by_role = {
        role: tuple(
            name
            for name, given in data.roles.items()
            if given == role and name != data.label and _has_distance(data, name)
        )
        for role in _ROLES
    }
    if options.features == "all":
        chosen = {"all": tuple(data.features)}
    elif by_role[options.features]:
        chosen = {options.features: by_role[options.features]}
    else:
        raise InputError(
            "outcome_transport.features",
            f"names the {options.features} columns, but no column in the data has that role",
            advice="set data.roles",
        )
    chosen |= {role: columns for role, columns in by_role.items() if columns and role not in chosen}
    spaces = {}
    for name, columns in chosen.items():
        space = subject.space if name == "all" else FeatureSpace.fit(data, columns)
        encoded = space.encode(data.frame) if columns else np.zeros((data.n, 1))
        spaces[name] = Space(
            columns, encoded[comparison.source.positions], encoded[comparison.target.positions]
        )
    return spaces


def _has_distance(data: AuditData, name: str) -> bool:
    kind = data.kinds[name]
    few = kind != "categorical" or data.frame[name].nunique() <= MAX_LEVELS
    return few and kind not in {"text", "identifier"}


def _measure(
    comparison: TwoSides,
    matched: OutcomePlan,
    spaces: dict[str, Space],
    face: Face | None,
    options: OutcomeTransportOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> list[FeatureSetBias]:
    """Measure bias over the features asked for, and over each role's; of drawn people, if there are many."""
    steps = np.linspace(0, 1, len(spaces) + 1)
    code = comparison.source.subgroup
    found = []
    for k, space in enumerate(spaces.values()):
        many = k > 0 and len(space.x) * len(space.y) > _MAX_DISTANCES
        found.append(
            measure(
                comparison,
                matched,
                space.x,
                space.y,
                distance=options.distance,
                face=face if k == 0 else None,
                drawn=pool(code, _MAX_DISTANCES // len(space.y), rng) if many else None,
                progress=part(progress, steps[k], steps[k + 1]),
            )
        )
    return found


def _unknown(measured: FeatureSetBias) -> FeatureSetBias:
    """Return a measurement of which no number is known."""
    names = ("value", "normalised", "least", "most", "parts")
    blank: dict[str, Any] = {
        name: np.full_like(getattr(measured, name), np.nan, dtype=float) for name in names
    }
    return dataclasses.replace(measured, **blank)


def _infer(
    parts: ResultParts,
    couple: Callable[..., OutcomePlan],
    options: OutcomeTransportOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> dict[str, Any]:
    """Resample people, measure chance and compare groups, as far as that is asked for."""
    comparison, sides, both = parts.comparison, {"a": parts.a, "b": parts.b}, parts.matched.on_a_line
    found: dict[str, Any] = {}
    if options.draws and not parts.alone:
        found["resampled"] = resample(
            comparison,
            [(space.x, space.y) for space in parts.spaces.values()],
            parts.groups.members,
            **sides,
            couple=couple,
            exact=parts.matched.exact,
            distance=options.distance,
            draws=options.draws,
            rng=rng,
            progress=part(progress, 0.0, 0.7),
        )
        apart = rng.spawn(1)[0]  # so that other draws stay what they were
        many = max(options.draws, _DRAWS if both and len(parts.a) + len(parts.b) <= _FEW else 0)
        grounds: tuple[OutcomeCost, ...] = ("euclidean", "squared_euclidean") if both else (options.cost,)
        found["errors"] = {
            ground: distance_error(comparison, **sides, ground=ground, draws=many, rng=apart)
            for ground in ([] if parts.of_two else grounds)
        }
    progress(0.7, "Measuring chance")
    if options.permutations:
        found["observed"], found["null"] = distance_null(
            comparison,
            **sides,
            ground=options.cost,
            permutations=options.permutations,
            rng=rng,
            progress=part(progress, 0.7, 0.9),
        )
    bias, mass = parts.measured[0].value, parts.mass
    known = np.isfinite(bias) & (mass > 0)
    if known.any():
        found["tested"] = group_means(
            np.where(known, bias, np.nan),
            mass,
            comparison.source.group,
            level=options.level,
            permutations=options.permutations,
            rng=rng,
        )
    return found
