"""What an audit says of two results on the same people: which numbers moved, and how each is paired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from audits.paired.moved import Moved, People
from audits.stats import Estimate

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Kind", "Pairing", "Row", "beside", "other_people", "people_of", "same_people"]

Kind = Literal["gap", "share", "number"]
"""A signed difference of two shares, 0 where groups are alike; a share; any other number."""


@dataclass(frozen=True, eq=False)
class Row:
    """One number under both models.

    Attributes
    ----------
    where : str
        Its place in the audit's part of results.json.
    name : str
        What it is, in words: ``selection rate of female people``.
    first, second : Estimate
        What either model's own result states; without value where it states none.
    moved : Moved
    kind : {"gap", "share", "number"}
    judged : bool
        Whether the comparison's verdict looks at it: it is then corrected for all that are.
    material : float
        Smallest change that matters.
    """

    where: str
    name: str
    first: Estimate
    second: Estimate
    moved: Moved
    kind: Kind
    judged: bool = True
    material: float = 0.1


@dataclass(frozen=True, eq=False)
class Pairing:
    """The numbers of an audit that are paired, and why others are not.

    Attributes
    ----------
    rows : tuple of Row
    given : str
        What the intervals take as given, a sentence; empty where they are of the people alone.
    looked_at : int
        Numbers that judged intervals are corrected for, where it is more than the rows say.
    why : mapping of str to str
        For numbers that are not paired, by how their place begins, why not; ``""`` for all others.
    """

    rows: tuple[Row, ...] = ()
    given: str = ""
    looked_at: int = 0
    why: Mapping[str, str] = field(default_factory=dict)

    def reason(self, where: str) -> str:
        """Return why the number at a place has no paired interval."""
        starts = [start for start in self.why if where.startswith(start)]
        return self.why[max(starts, key=len)] if starts else _UNPAIRED


_UNPAIRED = "no paired interval is known for it"


def same_people(first: pd.DataFrame, second: pd.DataFrame) -> bool:
    """Whether two tables have the same rows in the same order."""
    return len(first) > 0 and first.index.equals(second.index)


def beside(
    where: str, name: str, both: tuple[Estimate, Estimate], kind: Kind, why: str, *, alike: bool = True
) -> Row:
    """Return a number of both models side by side, whose change has no interval, and why.

    Parameters
    ----------
    alike : bool
        Whether the two are about the same, so that their difference says anything.
    """
    import numpy as np

    first, second = both
    known = alike and first.value is not None and second.value is not None
    value = float(second.value or 0.0) - float(first.value or 0.0) if known else None
    moved = Moved(value, second.n, np.zeros(0), None, f"no interval: {why}")
    return Row(where, name, first, second, moved, kind, judged=False)


def other_people() -> Pairing:
    """Return what there is to say of results that were not measured on the same people."""
    return Pairing(why={"": "the two were not measured on the same people"})


def people_of(table: pd.DataFrame) -> People:
    """Return the people of an audit's table: each row one, or as many as its column ``people`` says."""
    import numpy as np

    return People.counted(table["people"].to_numpy(dtype=float) if "people" in table else np.ones(len(table)))
