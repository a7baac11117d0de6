"""The flipset audit: check, match, count, compare with chance, pack."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from audits.checks import build, generator
from audits.flipset.causal import check_counterfactuals
from audits.flipset.changes import class_changes
from audits.flipset.counterparts import match_all, matching_share, permuted
from audits.flipset.counting import count_flips
from audits.flipset.encoding import encode
from audits.flipset.groups import choose
from audits.flipset.inventing import Inventor
from audits.flipset.judging import judge
from audits.flipset.options import FlipsetOptions, Transport, map_options
from audits.flipset.packing import causal_part, flipset_part, pack
from audits.flipset.result import FlipsetResult
from audits.flipset.scene import arrows, boundary
from audits.flipset.tables import people_tables
from audits.flipset.validation import validate
from audits.models import Subject
from audits.progress import Progress, part, silent

__all__ = ["flipset", "flipset_audit"]


def flipset(
    subject: Subject,
    *,
    source: dict[str, Any],
    target: dict[str, Any],
    transport: Transport = "exact",
    map: dict[str, Any] | None = None,  # noqa: A002 - the option's name in a spec
    cost: Literal["l1_squared", "l2_squared", "l1", "l2"] = "l1_squared",
    feature_weights: dict[str, float] | None = None,
    condition_on: str | None = None,
    counterfactuals: dict[str, str] | None = None,
    reverse: bool = True,
    level: float = 0.05,
    material: float = 0.10,
    permutations: int = 99,
    noise_people: int = 300,
    bootstrap: int = 500,
    max_people: int | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> FlipsetResult:
    """Find the people whose decision differs from that of their counterparts in another group.

    Parameters
    ----------
    subject : Subject
        Data, model and threshold under audit.
    source, target : dict
        The two groups, such as ``{"race": "African-American"}``; several attributes intersect.
    rng : Generator, int or None
        Draws of the bootstrap, the permutations and a subsample; None is seed 0.
    progress : callable
        Told how far the work is; may raise to cancel it.

    Other parameters are those of `FlipsetOptions`.

    Returns
    -------
    FlipsetResult
        Flipsets of equal size say demographic parity; two empty ones say that everyone is decided as
        their counterparts are.

    Raises
    ------
    InputError
        A group is empty, overlaps the other or has one person; an option is out of its range; a map is to
        invent people and the decisions are a column of the data.
    RunFailed
        Training of a map diverged.

    Notes
    -----
    Definitions 1 and 2 of Black, Yeom, Fredrikson (2020). A source person i whose counterparts are
    decided favourably with share g_i is in the positive flipset with share h_i (1 - g_i) and in the
    negative one with share (1 - h_i) g_i.
    """
    options = {
        "source": source,
        "target": target,
        "transport": transport,
        "map": map,
        "cost": cost,
        "feature_weights": feature_weights,
        "condition_on": condition_on,
        "counterfactuals": counterfactuals,
        "reverse": reverse,
        "level": level,
        "material": material,
        "permutations": permutations,
        "noise_people": noise_people,
        "bootstrap": bootstrap,
        "max_people": max_people,
    }
    return flipset_audit(subject, build(FlipsetOptions, options, "flipset"), rng=rng, progress=progress)


def flipset_audit(
    subject: Subject,
    options: FlipsetOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> FlipsetResult:
    """Run `flipset` with checked options: what a spec's run calls."""
    rng = generator(rng)
    data = subject.data
    details = map_options(options)
    progress(0.0, "Scoring people")
    decisions = np.asarray(subject.decisions, dtype=bool)
    sizes = np.ones(data.n) if data.weights is None else data.weights
    progress(0.03, "Encoding people")
    encoded = encode(subject, options)
    inventor = Inventor(subject, encoded, options.cost)
    if options.counterfactuals:
        check_counterfactuals(inventor, options.counterfactuals)
    chosen = choose(data, options, decisions, encoded.values.shape[1], rng)
    matching = 0.05 + 0.85 * matching_share(chosen, encoded.values.shape[1], options)
    matched = match_all(chosen, inventor, sizes, options, details, rng, part(progress, 0.05, matching))
    flips = count_flips(matched, decisions, sizes)
    null = permuted(matched, inventor, decisions, sizes, options, details, rng, part(progress, matching, 0.9))
    progress(0.9, "Comparing flipped people with their counterparts")
    judged = judge(matched, flips, decisions, sizes, null, options)
    parts = [
        flipset_part(data, encoded, flips, name, sizes, null, options, rng)
        for name in ("positive", "negative")
    ]
    progress(0.94, "Checking the counterparts")
    checked = validate(
        matched,
        flips,
        sizes,
        [axis.name for axis in encoded.axes],
        [axis.index for axis in encoded.axes],
        learned=options.transport != "exact",
        cost=options.cost,
        weights=encoded.weights,
        rng=rng,
    )
    progress(0.97, "Writing the people's table")
    tables = people_tables(subject, matched, flips, sizes, cost=options.cost, weights=encoded.weights)
    tables["arrows"] = arrows(subject, encoded, tables["people"], tables["invented"], rng)
    tables["boundary"] = boundary(subject, encoded, tables["arrows"])
    tables["classes"] = class_changes(subject, matched, sizes)
    causal = causal_part(inventor, matched, flips, decisions, sizes, options, rng)
    progress(0.98, "Looking for other matchings that are as good")
    return pack(
        subject,
        decisions,
        sizes,
        options,
        chosen,
        encoded,
        matched,
        flips,
        judged,
        parts,
        checked,
        causal,
        tables,
    )
