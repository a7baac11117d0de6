"""The three verdicts, and nothing softer or louder than them."""

from __future__ import annotations

from typing import Literal

__all__ = ["EVIDENCE", "INSUFFICIENT", "MATERIAL_DIFFERENCE", "NO_EVIDENCE", "POWER", "Verdict", "verdict"]

Verdict = Literal["evidence of a difference", "no evidence at this size", "insufficient evidence"]

EVIDENCE: Verdict = "evidence of a difference"
NO_EVIDENCE: Verdict = "no evidence at this size"
INSUFFICIENT: Verdict = "insufficient evidence"

MATERIAL_DIFFERENCE = 0.10
"""Difference of two shares that counts as material unless the auditor says otherwise."""

POWER = 0.8
"""Power below which a silent test says nothing."""


def verdict(*, excludes_no_difference: bool, power: float) -> Verdict:
    """Turn a corrected test and its power against a material difference into one of three verdicts.

    Examples
    --------
    >>> verdict(excludes_no_difference=False, power=0.3)
    'insufficient evidence'
    """
    if excludes_no_difference:
        return EVIDENCE
    return NO_EVIDENCE if power >= POWER else INSUFFICIENT
