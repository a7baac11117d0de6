"""From matched people and counted flips to the result and its words."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

import numpy as np

from audits.data import AuditData
from audits.flipset.causal import agreement, causal_match
from audits.flipset.changes import score_change
from audits.flipset.counting import Flips, count_flips
from audits.flipset.encoding import Encoded
from audits.flipset.groups import Chosen
from audits.flipset.inventing import Inventor
from audits.flipset.judging import Judgement, chance
from audits.flipset.marginals import marginals
from audits.flipset.matching import Matched
from audits.flipset.noise import NullFlips
from audits.flipset.options import FlipsetOptions
from audits.flipset.parts import Causal, FlipsetPart, Reverse
from audits.flipset.result import FlipsetResult
from audits.flipset.same_values import comparison, same_values
from audits.flipset.ties import tie_range
from audits.flipset.transparency import report
from audits.flipset.words import distrust, finding, tie_words, unmatched_words, warnings_for
from audits.models import Subject
from audits.stats import wilson

__all__ = ["causal_part", "flipset_part", "pack"]


def flipset_part(
    data: AuditData,
    encoded: Encoded,
    flips: Flips,
    name: Literal["positive", "negative"],
    sizes: np.ndarray,
    null: NullFlips | None,
    options: FlipsetOptions,
    rng: np.random.Generator,
) -> FlipsetPart:
    """Describe one flipset: its size, who is in it, and how they differ from their counterparts."""
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


def causal_part(
    inventor: Inventor,
    matched: list[Matched],
    flips: Flips,
    decisions: np.ndarray,
    sizes: np.ndarray,
    options: FlipsetOptions,
    rng: np.random.Generator,
) -> Causal | None:
    """Count the flipsets of the true counterfactuals, where columns of the data hold them."""
    if not options.counterfactuals:
        return None
    lives = count_flips(causal_match(inventor, matched, options.counterfactuals, sizes), decisions, sizes)
    data, encoded = inventor.subject.data, inventor.encoded
    positive = flipset_part(data, encoded, lives, "positive", sizes, None, options, rng)
    negative = flipset_part(data, encoded, lives, "negative", sizes, None, options, rng)
    return Causal(positive, negative, agreement(flips, lives, sizes, options.level))


def pack(
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
    """Put the result together, with its finding and warnings in words."""
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
            *tie_words(ties, options.transport),
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
        training=tuple(
            {"map": name, **point._asdict()}
            for item in matched
            for name, points in item.curves.items()
            for point in points
        ),
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
