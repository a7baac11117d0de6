"""Multiplicity: verdicts corrected for all audits of a run, one p-value an audit, Holm over the run.

Within an audit a verdict is corrected for what that audit looked at. A run of eight audits has eight
chances of a false alarm; Holm's procedure bounds the chance of any at the level, whatever the audits'
dependence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from audits.stats import EVIDENCE, Judgment, Verdict, holm, judge_across
from audits.stats.text import p_words
from audits.stats.verdicts import DEFAULT_LEVEL, judged_of


@dataclass(frozen=True)
class RunCorrection:
    """What is left of an audit's verdict after correction for all audits that are counted together.

    Attributes
    ----------
    judged : Judgment
        The audit's own, with what is left of its verdict.
    p_value : float
        Adjusted by Holm.
    doubt : str
        That what was found alone can be chance, where the correction leaves another verdict; else empty.
    note : str
        That permutations are too few to tell; else empty.
    """

    judged: Judgment
    p_value: float
    doubt: str = ""
    note: str = ""

    @property
    def verdict(self) -> Verdict:
        """What is left."""
        return self.judged.verdict


def counted_together(results: Sequence[Any], options: Sequence[dict[str, Any]]) -> list[RunCorrection]:
    """Return what is left of each verdict, with the options that each audit ran with."""
    levels = [level_of(each) for each in options]
    adjusted = adjusted_p_values(results, levels)
    found = []
    for result, p, each, level in zip(results, adjusted, options, levels, strict=True):
        judged = judge_across(judged_of(result), float(p), level=level)
        doubt = ""
        if judged.verdict != result.verdict:
            doubt = (
                f"Corrected for all {len(results)} audits counted together (Holm, p {p_words(float(p))}), "
                f"that can be chance; alone, it is {result.verdict}."
            )
        found.append(RunCorrection(judged, float(p), doubt, _note(len(results), each, level)))
    return found


def _note(number: int, options: dict[str, Any], level: float) -> str:
    """Say where permutations are too few for a p-value that outlasts so many audits."""
    permutations = options.get("permutations")
    exact = options.get("correction", "max") != "max" or options.get("context")  # then none are needed
    if not exact and isinstance(permutations, int) and 0 < permutations < math.ceil(number / level) - 1:
        return (
            f"With {permutations} permutations no p-value can be below {1 / (permutations + 1):.2g}, and "
            f"among {number} audits evidence can need {level / number:.2g}. Use at least "
            f"{math.ceil(number / level) - 1:,}."
        )
    return ""


def adjusted_p_values(results: Sequence[Any], levels: Sequence[float]) -> np.ndarray:
    """Return Holm-adjusted p-values, one a result.

    An audit that states evidence without a p-value has an interval at its level that excludes no difference:
    its p-value is at most the level, which is what counts. One that states neither counts as 1.
    """
    return holm(np.array([_p_value(result, level) for result, level in zip(results, levels, strict=True)]))


def level_of(options: Mapping[str, Any]) -> float:
    """Return the error rate of an audit from its options; `DEFAULT_LEVEL` where it has none."""
    return float(options.get("level") or DEFAULT_LEVEL)


def _p_value(result: Any, level: float) -> float:
    judged = judged_of(result)
    if judged.p_value is not None:
        return judged.p_value
    return level if judged.verdict == EVIDENCE else 1.0
