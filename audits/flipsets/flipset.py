"""The flipset audit: check, match, count, compare with chance, pack."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

from audits.checks import build, generator
from audits.data import AuditData
from audits.flipsets.causal import agreement, causal_match, check_counterfactuals
from audits.flipsets.changes import class_changes, score_change
from audits.flipsets.counting import Flips, count_flips
from audits.flipsets.encoding import Encoded, encode
from audits.flipsets.groups import Chosen, choose
from audits.flipsets.inventing import Inventor
from audits.flipsets.judging import Judgement, chance, judge
from audits.flipsets.learned import map_match
from audits.flipsets.marginals import marginals
from audits.flipsets.matching import Matched, match
from audits.flipsets.noise import NullFlips, Pool, permute, permute_maps
from audits.flipsets.options import FlipsetOptions, Transport, map_options
from audits.flipsets.result import Causal, FlipsetPart, FlipsetResult, Reverse
from audits.flipsets.same_values import comparison, same_values
from audits.flipsets.scene import arrows, boundary
from audits.flipsets.tables import people_tables
from audits.flipsets.ties import tie_range
from audits.flipsets.transparency import report
from audits.flipsets.validation import validate
from audits.flipsets.words import distrust, finding, tie_words, unmatched_words, warnings_for
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.stats import wilson
from audits.transport import estimated_seconds

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
    matching = 0.05 + 0.85 * _matching_share(chosen, encoded.values.shape[1], options)
    matched = _match(chosen, inventor, sizes, options, details, rng, part(progress, 0.05, matching))
    flips = count_flips(matched, decisions, sizes)
    null = _null(matched, inventor, decisions, sizes, options, rng, part(progress, matching, 0.9))
    progress(0.9, "Comparing flipped people with their counterparts")
    judged = judge(matched, flips, decisions, sizes, null, options)
    parts = [
        _part(data, encoded, flips, name, sizes, null, options, rng) for name in ("positive", "negative")
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
    causal = _causal(inventor, matched, flips, decisions, sizes, options, rng)
    return _pack(
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


def _matching_share(chosen: Chosen, width: int, options: FlipsetOptions) -> float:
    """Part of the work that is matching everyone, the rest being permutations: for honest progress."""
    if options.transport != "exact":
        return 0.8
    full = sum(estimated_seconds(len(ours), len(theirs), width) for _, ours, theirs in chosen.strata)
    n, m = (min(sum(len(item[side]) for item in chosen.strata), options.noise_people) for side in (1, 2))
    return full / (full + options.permutations * estimated_seconds(n, m, width))


def _match(
    chosen: Chosen,
    inventor: Inventor,
    sizes: np.ndarray,
    options: FlipsetOptions,
    details: Any,
    rng: np.random.Generator,
    progress: Progress,
) -> list[Matched]:
    steps = np.linspace(0, 1, len(chosen.strata) + 1)
    found = []
    for k, (value, ours, theirs) in enumerate(chosen.strata):
        report = part(progress, steps[k], steps[k + 1])
        if options.transport == "exact":
            values, weights = inventor.encoded.values, inventor.encoded.weights
            found.append(
                match(value, ours, theirs, values, sizes, cost=options.cost, weights=weights, progress=report)
            )
        else:
            found.append(
                map_match(
                    value,
                    ours,
                    theirs,
                    inventor,
                    sizes,
                    kind=options.transport,
                    options=details,
                    reverse=options.reverse,
                    rng=rng,
                    progress=report,
                )
            )
    return found


def _null(
    matched: list[Matched],
    inventor: Inventor,
    decisions: np.ndarray,
    sizes: np.ndarray,
    options: FlipsetOptions,
    rng: np.random.Generator,
    progress: Progress,
) -> NullFlips | None:
    if options.permutations == 0:
        return None
    asked: dict[str, Any] = {
        "permutations": options.permutations,
        "people": options.noise_people,
        "rng": rng,
        "progress": progress,
    }
    strata = [(item.source, item.target) for item in matched]
    if any(item.there.invented is not None for item in matched):
        return permute_maps(strata, inventor, decisions, sizes, **asked)
    x = inventor.encoded.values
    pools = [Pool(x[s], decisions[s], sizes[s], x[t], decisions[t], sizes[t]) for s, t in strata]
    return permute(pools, cost=options.cost, weights=inventor.encoded.weights, **asked)


def _part(
    data: AuditData,
    encoded: Encoded,
    flips: Flips,
    name: Literal["positive", "negative"],
    sizes: np.ndarray,
    null: NullFlips | None,
    options: FlipsetOptions,
    rng: np.random.Generator,
) -> FlipsetPart:
    ours = sizes[flips.source]
    flipped = getattr(flips, name) * ours
    size, n = float(flipped.sum()), float(ours.sum())
    frame = data.frame[list(encoded.columns)].iloc[flips.source]
    return FlipsetPart(
        size=size,
        share=wilson(size, n, level=options.level),
        expected_by_chance=chance(null, 0 if name == "positive" else 1, n, options.level),
        transparency=report(
            getattr(flips, f"{name}_links"),
            encoded.axes,
            rng,
            draws=options.bootstrap,
            level=options.level,
        ),
        marginals=marginals(frame, encoded.scaled, flipped, ours, rng),
    )


def _causal(
    inventor: Inventor,
    matched: list[Matched],
    flips: Flips,
    decisions: np.ndarray,
    sizes: np.ndarray,
    options: FlipsetOptions,
    rng: np.random.Generator,
) -> Causal | None:
    if not options.counterfactuals:
        return None
    lives = count_flips(causal_match(inventor, matched, options.counterfactuals, sizes), decisions, sizes)
    data, encoded = inventor.subject.data, inventor.encoded
    positive = _part(data, encoded, lives, "positive", sizes, None, options, rng)
    negative = _part(data, encoded, lives, "negative", sizes, None, options, rng)
    return Causal(positive, negative, agreement(flips, lives, sizes, options.level))


def _pack(
    subject: Subject,
    decisions: np.ndarray,
    sizes: np.ndarray,
    options: FlipsetOptions,
    chosen: Chosen,
    encoded: Encoded,
    matched: list[Matched],
    flips: Flips,
    judged: Judgement,
    parts: list[FlipsetPart],
    checked: dict[str, Any],
    causal: Causal | None,
    tables: dict[str, Any],
) -> FlipsetResult:
    data = subject.data
    ours, theirs = sizes[flips.source], sizes[flips.target]
    n, m = float(ours.sum()), float(theirs.sum())
    outcome = subject.outcome
    positive, negative = parts
    larger = positive if positive.size > negative.size else negative
    ties = tie_range(matched, decisions, sizes, cost=options.cost, weights=encoded.weights)
    raw = data.frame[list(encoded.columns)]
    alike = same_values(raw, encoded.scaled, flips.source, flips.target, decisions, sizes, options.level)
    unmatched = None
    if options.transport == "unbalanced":
        unmatched = wilson(float((1 - flips.found) @ ours), n, level=options.level)
    return FlipsetResult(
        options=dataclasses.asdict(options),
        source=chosen.source,
        target=chosen.target,
        outcome=outcome,
        verdict=judged.verdict,
        finding=finding(
            chosen.source, chosen.target, outcome, n, positive, negative, judged, options.material
        ),
        warnings=(
            *distrust(checked),
            *chosen.warnings,
            *tie_words(ties),
            *unmatched_words(unmatched, chosen.source, n),
            *warnings_for(judged, options, n, decisions[flips.source], decisions[flips.target]),
        ),
        n_source=n,
        n_target=m,
        rows={
            "audited": data.n,
            "used": len(flips.source) + len(flips.target),
            "left_out": chosen.left_out,
        },
        positive=positive,
        negative=negative,
        net=judged.net,
        source_rate=wilson(float(ours @ decisions[flips.source]), n, level=options.level),
        target_rate=wilson(float(theirs @ decisions[flips.target]), m, level=options.level),
        people_needed=judged.people_needed,
        noise=judged.noise,
        strata=judged.strata,
        reverse=_reverse(flips, theirs, m, options.level) if options.reverse else None,
        validation=checked,
        certificate=_certificate(matched, n),
        features=encoded.columns,
        same_values=alike,
        disagreement=comparison(alike, judged.net, larger, chosen.source, chosen.target),
        causal=causal,
        tie_range=ties,
        score_change=score_change(matched, subject.scores, sizes),
        training=tuple(point._asdict() for point in matched[0].history),
        unmatched=unmatched,
        **tables,
    )


def _reverse(flips: Flips, theirs: np.ndarray, m: float, level: float) -> Reverse | None:
    if flips.back_positive is None or flips.back_negative is None:
        return None
    positive, negative = float(flips.back_positive @ theirs), float(flips.back_negative @ theirs)
    return Reverse(
        n=m,
        positive=wilson(positive, m, level=level),
        negative=wilson(negative, m, level=level),
        positive_size=positive,
        negative_size=negative,
    )


def _certificate(matched: list[Matched], n: float) -> dict[str, Any]:
    share = [float(item.source_size.sum()) / n for item in matched]
    slack = [item.slack for item in matched if item.slack is not None]
    return {
        "cost": sum(w * item.cost for w, item in zip(share, matched, strict=True)),
        "slack": sum(w * gap for w, gap in zip(share, slack, strict=True)) if slack else None,
        "method": ", ".join(sorted({item.method for item in matched})),
    }
