"""The finding of a flipset audit in one or two sentences, and what to beware of."""

from __future__ import annotations

from typing import Any

import numpy as np

from audits.flipset.judging import Judgement
from audits.flipset.options import FlipsetOptions
from audits.flipset.parts import FlipsetPart
from audits.stats import EVIDENCE, INSUFFICIENT, Estimate
from audits.stats.words import count, percent, percent_interval

__all__ = ["DISTRUST", "distrust", "finding", "tie_words", "unmatched_words", "warnings_for"]

DISTRUST = "This map cannot be trusted: "


def finding(
    source: str,
    target: str,
    outcome: str,
    n: float,
    positive: FlipsetPart,
    negative: FlipsetPart,
    judged: Judgement,
    material: float,
) -> str:
    """Say who flips, how many of how many, compared with whom, and how sure that is."""
    more, less, way, other = negative, positive, "not ", ""  # rejected here, accepted there
    if round(positive.size) > round(negative.size):
        more, less, way, other = positive, negative, "", " not"
    text = (
        f"{_people(more.size)} of {count(n)} {source} people ({percent_interval(more.share)}) "
        f"are {way}decided favorably ({outcome}) while their {target} counterparts are{other}; "
        f"{_people(less.size)} the other way ({percent(less.share.value, n)})."
    )
    noise = judged.noise
    if noise is not None and n > noise.n_source:
        text += (
            f" Among {noise.n_source:,} of them the larger flipset holds {percent(noise.observed, 0)}; "
            f"by chance alone it would hold about {percent(noise.null_quantiles['0.5'], 0)}."
        )
    elif more.expected_by_chance is not None and less.expected_by_chance is not None:
        expected = [count(part.expected_by_chance.value or 0.0) for part in (more, less)]  # type: ignore[union-attr]
        text += (
            f" By chance alone: about {expected[0]} each way."
            if expected[0] == expected[1]
            else f" By chance alone: about {expected[0]} and {expected[1]}."
        )
    points = f"{100 * material:.3g}-point"
    if judged.verdict == INSUFFICIENT and judged.people_needed is None:
        return (
            f"{text} So few permutations, or people in them, could not have seen a {points} difference: ask "
            "for 199 permutations or more, then for more noise_people."
        )
    if judged.verdict == INSUFFICIENT:
        needed = f"{judged.people_needed:,}"
        return f"{text} About {needed} people in each group would be needed to see a {points} difference."
    if judged.verdict != EVIDENCE:
        return f"{text} A {points} difference would have been seen at this size."
    return text


def _people(size: float) -> str:
    """Word a flipset's size: whole people, or one decimal where counterparts disagree and it shows."""
    return count(size) if abs(size - round(size)) < 0.05 or size >= 100 else f"{size:.1f}"


def distrust(validation: dict[str, Any]) -> tuple[str, ...]:
    """Say first of all why a map cannot be trusted, then what else is doubtful about it."""
    failed = [check for check in validation["checks"] if not check["passed"]]
    serious = [check["trouble"] for check in failed if check["serious"]]
    doubts = [check["trouble"] for check in failed if not check["serious"]]
    return (
        *(f"{DISTRUST}{trouble}." for trouble in serious),
        *(f"Beware: {trouble}." for trouble in doubts),
    )


def tie_words(ties: tuple[float, float] | None, transport: str) -> tuple[str, ...]:
    """Say how far the flipsets depend on which of several equally good matchings was taken."""
    if ties is None and transport == "exact":
        return (
            "How far the flipsets depend on which of several equally good matchings was taken was not worked "
            "out: too many people can be exchanged. The difference of the two flipsets is the same in all.",
        )
    if ties is None or ties[1] - ties[0] < 0.5:
        return ()
    return (
        f"Several matchings are equally good: the positive flipset has between {_people(ties[0])} "
        f"and {_people(ties[1])} people in them, and the negative one moves along. The difference of the two "
        "is the same in all.",
    )


def unmatched_words(unmatched: Estimate | None, source: str, n: float) -> tuple[str, ...]:
    """Say how many people have no counterpart."""
    if unmatched is None or unmatched.value is None:
        return ()
    return (
        f"{count(unmatched.value * n)} of {count(n)} {source} people ({percent_interval(unmatched)}) are "
        "left without a counterpart and cannot flip; the net difference is of everybody.",
    )


def warnings_for(
    judged: Judgement,
    options: FlipsetOptions,
    n: float,
    source_decisions: np.ndarray,
    target_decisions: np.ndarray,
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    both = np.concatenate([source_decisions, target_decisions])
    if both.all() or not both.any():
        found.append(
            f"The model decides {'favorably' if both.all() else 'unfavorably'} on everyone compared here, "
            "so nobody can flip: check the threshold."
        )
    if judged.noise is not None and n > judged.noise.n_source:
        found.append(
            f"The level of chance was measured on {judged.noise.n_source:,} and "
            f"{judged.noise.n_target:,} people; among all {count(n)} chance gives fewer flips than "
            "the grey range shows."
        )
    if judged.noise is None and options.permutations == 0:
        found.append("The level of chance was not measured: flips that cancel out were not tested.")
    return tuple(found)
