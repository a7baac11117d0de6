"""The record of `flipset`: what everything else knows of it."""

from __future__ import annotations

from audits.flipset.options import FlipsetOptions, seconds
from audits.records import Audit

__all__ = ["AUDIT"]

AUDIT = Audit(
    name="flipset",
    title="Flipsets",
    question="Had these people belonged to the other group, would the model have decided otherwise?",
    limits=(
        "A counterpart is a statistical match, not the same person's other life. A flipset shows who "
        "is decided differently from similar people of the other group; it does not prove that the "
        "group membership caused it, nor that the difference is unjustified."
    ),
    options=FlipsetOptions,
    result="audits.flipset.result:FlipsetResult",
    runs="audits.flipset.audit:flipset",
    presents="audits.flipset.exhibits:section",
    seconds=seconds,
)
