"""A batch of measured people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audits.monitor.bundle import MonitorBundle, Scored
from audits.monitor.profile import BatchContext, Look


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
    sha256: str = ""
    key: str | None = None
    ids: tuple[str, ...] = ()
    stated: str = ""
    source: str = "http"
    look: Look | None = None
    sent: BatchContext = field(default_factory=BatchContext)
    columns: Mapping[str, Sequence[Any]] | None = None

    @classmethod
    def of(
        cls, monitor: str, bundle: MonitorBundle, scored: Scored, sent: BatchContext, **more: Any
    ) -> Batch:
        """Return a batch of rows that `bundle` measured, held against the audited people.

        Raises
        ------
        InputError
            If a row has neither the score nor the decision that the monitor needs.
        """
        scored = bundle.with_sent(scored, sent)
        return cls(monitor, scored, look=bundle.look(scored), sent=sent, **more)
