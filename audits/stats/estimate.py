"""A number with its uncertainty: the form every estimate takes in results, pages and JSON."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """An estimate, its interval, the number of people behind it and the method that made it.

    Attributes
    ----------
    value : float or None
        The estimate; None where it does not exist (0/0), never a silent 0.
    low, high : float or None
        Ends of the interval; None where no interval exists.
    n : float
        People (or total weight) behind the estimate.
    method : str
        What made the interval, with its level ("Wilson 95 %").
    """

    value: float | None
    low: float | None
    high: float | None
    n: float
    method: str
