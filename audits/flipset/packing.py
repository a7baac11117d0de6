"""From matched people and counted flips to the result and its words."""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from audits.flipset.chance import Chance
from audits.flipset.checking import tie_range
from audits.flipset.comparing import (
    agreement,
    causal_match,
    class_changes,
    comparison,
    same_values,
    score_change,
)
from audits.flipset.describing import marginals, report
from audits.flipset.inventing import Inventor
from audits.flipset.judging import Judgement, by_chance
from audits.flipset.matching import FlipLinks, Flips, Matched, count_flips
from audits.flipset.people import Compared
from audits.flipset.result import (
    Causal,
    FlipsetPart,
    FlipsetResult,
    Reverse,
    Stratum,
    Validation,
)
from audits.flipset.tables import arrows, boundary, people_tables
from audits.flipset.words import again_words, distrust, finding, tie_words, unmatched_words, warnings_for
from audits.results import Optimum
from audits.stats import Estimate, wilson

__all__ = ["Counted", "causal_part", "flipset_part", "pack", "strata_parts", "tables"]

Side = Literal["positive", "negative"]
SIDES: tuple[Side, Side] = ("positive", "negative")


@dataclass(frozen=True, eq=False)
class Counted:
    """Everybody's counterparts, the flips they make, and how many chance alone gives."""

    compared: Compared
    matched: list[Matched]
    flips: Flips
    chance: Chance | None


def flipset_part(found: Counted, name: Side, rng: np.random.Generator) -> FlipsetPart:
    """Describe one flipset: its size, who is in it, and how they differ from their counterparts."""
    links: list[FlipLinks] = getattr(found.flips, f"{name}_links")
    part = _described(found, name, slice(None), links, found.compared.options.level, rng)
    n = float(found.compared.sizes[found.flips.source].sum())
    chance = by_chance(found.chance, 0 if name == "positive" else 1, n, found.compared.options.level)
    return replace(part, expected_by_chance=chance)


def _described(
    found: Counted, name: Side, rows: slice, links: list[FlipLinks], level: float, rng: np.random.Generator
) -> FlipsetPart:
    """Describe the flipset among some of the source people, `rows` of them."""
    compared, source = found.compared, found.flips.source[rows]
    encoded, ours = compared.encoded, compared.sizes[source]
    flipped = getattr(found.flips, name)[rows] * ours
    size = float(flipped.sum())
    return FlipsetPart(
        size=size,
        share=given_matching(size, float(ours.sum()), level),
        expected_by_chance=None,
        transparency=report(links, encoded.axes, rng, draws=compared.options.bootstrap, level=level),
        marginals=marginals(compared.raw.iloc[source], encoded.scaled, flipped, ours, rng),
    )


def strata_parts(found: Counted, rng: np.random.Generator) -> list[dict[str, FlipsetPart]]:
    """Describe both flipsets within each stratum, corrected for how many there are; empty for one."""
    many = len(found.matched)
    if many < 2:
        return []
    ends = np.cumsum([0, *(len(part.source) for part in found.matched)])
    level = found.compared.options.level / many
    parts: list[dict[str, FlipsetPart]] = []
    for k, (start, stop) in enumerate(itertools.pairwise(ends)):
        parts.append({})
        for name in SIDES:
            links = [getattr(found.flips, f"{name}_links")[k]]
            part = _described(found, name, slice(start, stop), links, level, rng)
            corrected = tuple(
                item
                if item.adjusted_p is None
                else replace(item, adjusted_p=min(1.0, many * item.adjusted_p))
                for item in part.marginals
            )
            parts[-1][name] = replace(part, marginals=corrected)
    return parts


def given_matching(size: float, n: float, level: float) -> Estimate:
    """Share of source people, with the range that drawing other people of them gives, counterparts kept."""
    share = wilson(size, n, level=level)
    return replace(share, method=f"{share.method}, given this matching")


def causal_part(found: Counted, rng: np.random.Generator) -> Causal | None:
    """Count the flipsets of the true counterfactuals, where columns of the data hold them."""
    compared = found.compared
    columns = compared.options.counterfactuals
    if not columns:
        return None
    lives = causal_match(Inventor(compared), found.matched, columns)
    others = Counted(compared, lives, count_flips(compared, lives), None)
    return Causal(
        flipset_part(others, "positive", rng),
        flipset_part(others, "negative", rng),
        agreement(found.flips, others.flips, compared.sizes, compared.options.level),
    )


def tables(found: Counted, rng: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Return the result's tables, one row a person beside the plain numbers."""
    compared = found.compared
    written = people_tables(compared, found.matched, found.flips)
    written["arrows"] = arrows(compared, written["people"], written["invented"], rng)
    written["boundary"] = boundary(compared, written["arrows"])
    written["classes"] = class_changes(compared, found.matched)
    return written


def pack(
    found: Counted,
    judgement: Judgement,
    checked: Validation,
    described: dict[str, Any],
    written: dict[str, Any],
) -> FlipsetResult:
    """Put the result together, with its finding and warnings in words.

    Parameters
    ----------
    described : dict
        ``positive``, ``negative`` and ``causal``; ``strata``: both flipsets of each; ``again``.
    written : dict
        The tables.
    """
    compared, flips, options = found.compared, found.flips, found.compared.options
    sizes, decisions, chosen = compared.sizes, compared.decisions, compared.chosen
    ours, theirs = sizes[flips.source], sizes[flips.target]
    n, m = float(ours.sum()), float(theirs.sum())
    positive, negative = described["positive"], described["negative"]
    larger = positive if positive.size > negative.size else negative
    ties = tie_range(compared, found.matched)
    alike = same_values(compared, flips)
    unmatched = None
    if options.transport == "unbalanced":
        unmatched = wilson(float((1 - flips.found) @ ours), n, level=options.level)
    return FlipsetResult(
        options=dataclasses.asdict(options),
        source=chosen.source,
        target=chosen.target,
        outcome=compared.subject.outcome,
        judged=judgement.judged,
        finding=finding(compared, n, positive, negative, judgement),
        warnings=(
            *distrust(checked),
            *chosen.warnings,
            *tie_words(ties, options.transport),
            *again_words(described["again"]),
            *unmatched_words(unmatched, chosen.source, n),
            *warnings_for(judgement, options, n, decisions[flips.source], decisions[flips.target]),
        ),
        n_source=n,
        n_target=m,
        rows={
            "audited": compared.subject.data.n,
            "used": len(flips.source) + len(flips.target),
            "left_out": chosen.left_out,
        },
        net=judgement.net,
        source_rate=wilson(float(ours @ decisions[flips.source]), n, level=options.level),
        target_rate=wilson(float(theirs @ decisions[flips.target]), m, level=options.level),
        noise=judgement.noise,
        above_chance=judgement.above,
        strata=_strata(judgement, described.pop("strata")),
        reverse=_reverse(flips, theirs, m, options.level) if options.reverse else None,
        validation=checked,
        certificate=_certificate(found.matched, n),
        features=compared.encoded.columns,
        same_values=alike,
        disagreement=comparison(alike, judgement.net, larger, chosen.source, chosen.target),
        tie_range=ties,
        score_change=score_change(compared, found.matched),
        training=tuple(
            {"map": name, **point._asdict()}
            for item in found.matched
            for name, points in item.curves.items()
            for point in points
        ),
        unmatched=unmatched,
        **described,
        **written,
    )


def _strata(judgement: Judgement, parts: list[dict[str, FlipsetPart]]) -> tuple[Stratum, ...]:
    if not parts:
        return judgement.strata
    return tuple(
        replace(item, positive=both["positive"], negative=both["negative"])
        for item, both in zip(judgement.strata, parts, strict=True)
    )


def _reverse(flips: Flips, theirs: np.ndarray, m: float, level: float) -> Reverse | None:
    if flips.back_positive is None or flips.back_negative is None:
        return None
    positive, negative = float(flips.back_positive @ theirs), float(flips.back_negative @ theirs)
    return Reverse(
        n=m,
        positive=given_matching(positive, m, level),
        negative=given_matching(negative, m, level),
        positive_size=positive,
        negative_size=negative,
    )


def _certificate(matched: list[Matched], n: float) -> Optimum:
    share = [float(item.source_size.sum()) / n for item in matched]
    slack = [item.slack for item in matched if item.slack is not None]
    return Optimum(
        cost=sum(w * item.cost for w, item in zip(share, matched, strict=True)),
        slack=sum(w * gap for w, gap in zip(share, slack, strict=True)) if slack else None,
        method=", ".join(sorted({item.method for item in matched})),
    )
