"""Two models' bias of the same people, side by side: each model maps outcomes by a matching of its own."""

from __future__ import annotations

from typing import Any

from audits.comparison.pairs import Pairing
from audits.outcome_transport.result import OutcomeTransportResult

_WHY = "it follows from the whole matching, and each model has its own"


def compare(first: OutcomeTransportResult, second: OutcomeTransportResult, subjects: Any = None) -> Pairing:  # noqa: ARG001
    """Return why no number is paired; see `audits.comparison.pairs`.

    Whom outcomes are mapped to hangs on everybody's outcomes, with either model on others': intervals that
    take both matchings as given leave out most of what other people would change.
    """
    return Pairing(why={"": _WHY})
