"""How long an exact coupling will take and how much memory, before it is begun.

Fitted to the measurements that `benchmarks/speed.py` prints; a coupling of people with many equal rows
is faster. Half or twice the time is a hit.
"""

from __future__ import annotations

DENSE_PAIRS = 1_000_000  # pairs up to which the whole matrix is solved at once


def estimated_seconds(n: int, m: int, d: int) -> float:
    """Return the expected duration of `exact_coupling` in seconds on two cores.

    Parameters
    ----------
    n, m : int
        Source and target points, different ones.
    d : int
        Features. Past the first twenty they are taken to be mostly one-hot columns, which are cheaper.

    Examples
    --------
    >>> estimated_seconds(1_000, 1_000, 8) < 1 < estimated_seconds(10_000, 10_000, 8) < 10
    True
    """
    if d <= 1:
        return 2e-3 + 1e-6 * (n + m)
    pairs = n * m
    if pairs <= DENSE_PAIRS:
        return 1e-2 + 2.5e-7 * pairs
    a_pair = 1.8e-8 + 1.5e-9 * min(d, 20) + 3.5e-10 * max(d - 20, 0)
    return 0.3 + 6e-5 * (n + m) + a_pair * pairs


def estimated_bytes(n: int, m: int, d: int) -> int:
    """Return the memory in bytes that `exact_coupling` is expected to need; as `estimated_seconds`.

    The plan written out person by person is not part of it: see `Coupling.entries`.
    """
    points = 8 * d * (n + m) * 4  # the points, their atoms, and both sides' blocks
    if d <= 1:
        return points + 200 * (n + m)
    pairs = n * m
    if pairs <= DENSE_PAIRS:
        return points + 50 * pairs
    return points + 50 * DENSE_PAIRS + 10_000 * (n + m)
