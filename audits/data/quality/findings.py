"""A finding of the doctor, what would mend it, and the words that both are said in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from audits.text import join_names


@dataclass(frozen=True)
class Mend:
    """What would mend a finding.

    Attributes
    ----------
    button : str
        In words, as a command.
    put : mapping
        Keys of the ``data`` section and their new values; None takes a key away.
    leave_out : tuple of str
        Columns that are no features any more.
    unprotect : tuple of str
        Columns that are no protected attributes any more.
    recode : mapping
        Recodes to add.
    """

    button: str
    put: Mapping[str, Any] = field(default_factory=dict)
    leave_out: tuple[str, ...] = ()
    unprotect: tuple[str, ...] = ()
    recode: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """What was found, in a sentence or two, and the ways to mend it; none where only the user can tell."""

    kind: str
    said: str
    mends: tuple[Mend, ...] = ()


def leave_out(names: Sequence[str]) -> str:
    """Return the button that leaves columns out."""
    return f"Leave out {join_names(names, most=3)}"


def quote_names(names: Sequence[str]) -> str:
    """Return columns in quotes, in words."""
    return join_names(names, quoted=True)


def cell_count(n: int) -> str:
    """Return how many cells, in words."""
    return "1 cell" if n == 1 else f"{n:,} cells"


def be(several: Any) -> str:
    """Return the verb for one or several."""
    return "is" if len(several) == 1 else "are"
