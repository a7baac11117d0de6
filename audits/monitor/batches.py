"""Batches of measured people, and several of them as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from audits.monitor.bundle import Scored
from audits.monitor.profile import Look, Sent

__all__ = ["Batch", "Everybody", "joined", "parts"]

_AT_ONCE = 10_000  # people followed together


@dataclass(frozen=True, eq=False)
class Batch:
    """People measured together, to be stored.

    Attributes
    ----------
    sha256 : str
        Of the bytes as they came: a replay under the same key must have the same.
    ids : tuple of str
        The sender's own, one a person or none at all.
    stated : str
        The sender's time, kept as it was said; the server's own counts.
    look : Look or None
        The batch beside the audited people, where the bundle knows them.
    sent : Sent
    columns : mapping of str to sequence, optional
        The rows themselves, for monitors that keep them.
    """

    monitor: str
    scored: Scored
    sha256: str
    key: str | None = None
    ids: tuple[str, ...] = ()
    stated: str = ""
    source: str = "http"
    look: Look | None = None
    sent: Sent = field(default_factory=Sent)
    columns: Mapping[str, Sequence[Any]] | None = None


@dataclass(frozen=True, eq=False)
class Everybody:
    """The people of several batches, one after another."""

    flagged: np.ndarray
    scores: np.ndarray
    sensitivity: np.ndarray
    look: Look | None
    sent: Sent


def parts(batches: Sequence[Batch]) -> Iterator[list[Batch]]:
    """Part batches into as many as are followed at once: one at least, and not more people than so many."""
    part, people = list[Batch](), 0
    for batch in batches:
        size = len(batch.scored.flagged)
        if part and people + size > _AT_ONCE:
            yield part
            part, people = [], 0
        part.append(batch)
        people += size
    if part:
        yield part


def joined(batches: Sequence[Batch], sizes: Sequence[int]) -> Everybody:
    """Return several batches of one monitor as one."""
    scored = [batch.scored for batch in batches]
    looks = [batch.look for batch in batches if batch.look is not None]
    return Everybody(
        np.concatenate([each.flagged for each in scored]),
        np.concatenate([each.score for each in scored]),
        np.concatenate([each.sensitivity for each in scored]),
        Look.joined(looks) if len(looks) == len(batches) else None,
        Sent.joined([batch.sent for batch in batches], sizes),
    )
