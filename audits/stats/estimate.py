"""A number with its uncertainty: the form every estimate takes in results, pages and JSON."""

from __future__ import annotations

from dataclasses import dataclass


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
        What made the interval, with its level ("Wilson 95%").
    """

    value: float | None
    low: float | None
    high: float | None
    n: float
    method: str


def estimate_columns(name: str) -> tuple[str, str, str]:
    """Return the names of an estimate's columns in a table: its value and its ends."""
    return name, f"{name} low", f"{name} high"


def estimate_cells(name: str, estimate: Estimate) -> dict[str, float | None]:
    """Return an estimate as cells of a row, by the names of their columns."""
    cells = (estimate.value, estimate.low, estimate.high)
    return dict(zip(estimate_columns(name), cells, strict=True))
