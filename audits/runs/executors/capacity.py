"""Whether an audit fits into the memory and the time that a run may take, told before it begins.

Estimates come from the audits' records and are wrong by half or twice: what they say is refused only where
that does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audits.errors import InputError
from audits.models import Subject
from audits.records import Audit, Size
from audits.runs.executors.sandbox import memory_left

__all__ = ["check_needs", "check_subject"]

_MOST_MEMORY, _MOST_TIME = (
    1.5,
    3.0,
)  # times the limit, from which an estimate that is wrong refuses all the same
_ADVICE = "keep fewer rows (data.keep) or features, ask for less, or ask whoever runs the server for more"


def check_needs(
    needs: float, takes: float, size: Size, where: str, memory: float | None, seconds: float | None
) -> None:
    """Raise `InputError` where an audit would take more than a run may.

    Parameters
    ----------
    needs, takes : float
        Bytes besides its data and model, and seconds, as its record expects them.
    size : Size
        Of the audit, for the sentence.
    where : str
        What the error calls the audit.
    memory, seconds : float or None
        What a run may take; None: no limit.
    """
    people = f"{size.rows:,} people and {size.width:,} columns of encoded features"
    if memory is not None and needs > _MOST_MEMORY * memory:
        rule = f"would take about {_amount(needs)} of memory for {people}; a run has {_amount(memory)}"
        raise InputError(where, rule, advice=_ADVICE)
    if seconds is not None and takes > _MOST_TIME * seconds:
        rule = f"would take about {takes / 60:,.0f} minutes for {people}; a run has {seconds / 60:,.0f}"
        raise InputError(where, rule, advice=_ADVICE)


def check_subject(audit: Audit, options: Any, subject: Subject, where: str) -> None:
    """Raise `InputError` where an audit of `subject` would take more memory than this process has left."""
    data = subject.data
    groups: dict[str, Mapping[str, int]] = {
        name: {str(value): int(n) for value, n in data.groups[name].value_counts().items()}
        for name in data.protected
    }
    size = Size(data.n, len(subject.space.names), subject.train, groups)
    check_needs(audit.expected_bytes(options, size), 0.0, size, where, memory_left(), None)


def _amount(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.0f} MB"
