"""Outcomes that are not known of everybody: where knowing them goes with a group, no verdict rests on them.

References
----------
Lakkaraju, Kleinberg, Leskovec, Ludwig, Mullainathan (2017), The selective labels problem, KDD.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from audits.stats.intervals import cautious_p
from audits.stats.text import count, percent

MAX_UNKNOWN = 0.05
"""Share of people whose outcome is not known from which on those known clear nobody."""

NEGLIGIBLE = 0.001
"""Share of a side that moves its rate by a tenth of a point at most, whoever they are."""


@dataclass(frozen=True, eq=False)
class OutcomeSide:
    """People of whom the outcome may be known more or less often than of the others.

    Attributes
    ----------
    inside : bool array (n,)
    people : str
        What they are called.
    times : float
        How many sides are looked at for one reason: p-values are multiplied by it.
    """

    inside: np.ndarray
    people: str
    times: float = 1.0


def decision_side(decided: np.ndarray, known: np.ndarray) -> OutcomeSide:
    """Return who is decided favorably, (n,), as a side; no chance explains outcomes of one decision alone."""
    one_sided = decided.any() and not decided.all() and len(set(decided[known])) == 1
    return OutcomeSide(decided, "people with the favorable decision", 0.0 if one_sided else 1.0)


def known_unevenly(
    known: np.ndarray, sizes: np.ndarray, sides: Iterable[OutcomeSide], *, level: float
) -> str:
    """Say of whom the outcome is known more or less often than of the others; empty where chance explains it.

    It is empty, too, where it is missing for fewer than 1 in 1,000 of every side.

    Parameters
    ----------
    known : bool array (n,)
    sizes : array (n,)
        People that a row stands for.
    level : float
        Of the two reasons, decision and group, together.

    Examples
    --------
    >>> women = np.arange(200) < 100
    >>> known, sides = ~women | (np.arange(200) < 60), [OutcomeSide(women, "women")]
    >>> known_unevenly(known, np.ones(200), sides, level=0.05)
    'it is known for 60% of women and 100% of the others'
    """
    if known.all():
        return ""
    some = [side for side in sides if side.inside.any() and not side.inside.all()]
    if not any(
        _missing(known, part, sizes) >= NEGLIGIBLE for side in some for part in (side.inside, ~side.inside)
    ):
        return ""
    chances = [_chance(known, side.inside, sizes) * side.times for side in some]
    shares = [1.0 - _missing(known, side.inside, sizes) for side in some]
    p, _, place = min(zip(chances, shares, range(len(some)), strict=True))  # of a tie, the less known
    side = some[place]
    if 2 * p > level:
        return ""
    told = [
        percent(float(sizes[part & known].sum() / sizes[part].sum()), float(sizes[part].sum()))
        for part in (side.inside, ~side.inside)
    ]
    return f"it is known for {told[0]} of {side.people} and {told[1]} of the others"


def _missing(known: np.ndarray, inside: np.ndarray, sizes: np.ndarray) -> float:
    """Share of a side of whom the outcome is not known."""
    return float(np.average(~known[inside], weights=sizes[inside]))


def _chance(known: np.ndarray, inside: np.ndarray, sizes: np.ndarray) -> float:
    """p-value of outcomes known as often inside as outside."""
    hits = [float(sizes[side & known].sum()) for side in (inside, ~inside)]
    p = cautious_p(hits[0], float(sizes[inside].sum()), hits[1], float(sizes[~inside].sum()))
    return 1.0 if p is None else p


@dataclass(frozen=True)
class UnknownOutcomes:
    """People whose outcome is not known, and what that forbids.

    Attributes
    ----------
    people, share : float
    uneven : str
        Of whom it is known more or less often; empty where chance explains that.
    what : str
        What is not known.
    """

    people: float = 0.0
    share: float = 0.0
    uneven: str = ""
    what: str = "outcome"

    @property
    def withheld(self) -> str:
        """Why no verdict rests on the outcomes that are known; empty where one may."""
        if not self.uneven:
            return ""
        return f"the {self.what} is missing for some people more often than for others"

    @property
    def cannot_clear(self) -> str:
        """Why the outcomes that are known clear nobody; empty where they may."""
        few = self.share < MAX_UNKNOWN
        return (
            ""
            if few
            else f"the {self.what} is missing for {percent(self.share, self.people / self.share)} of people"
        )

    def note(self) -> tuple[str, ...]:
        """Say how many there are, in a sentence of its own."""
        if not self.people:
            return ()
        share = percent(self.share, self.people / self.share)
        whom = f": {self.uneven}" if self.uneven else ""
        return (f"The {self.what} is missing for {share} of people ({count(self.people)}){whom}.",)


def unknown_outcomes(
    known: np.ndarray, sizes: np.ndarray, sides: Iterable[OutcomeSide], *, level: float
) -> UnknownOutcomes:
    """Return whose outcome is not known; parameters are those of `known_unevenly`."""
    people = float(sizes[~known].sum())
    return UnknownOutcomes(
        people, people / float(sizes.sum()), known_unevenly(known, sizes, sides, level=level)
    )
