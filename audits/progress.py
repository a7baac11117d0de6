"""How long work says how far it is, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Progress", "part", "silent"]

Progress = Callable[[float, str], None]
"""``progress(fraction in [0, 1], what is being done)``; raises `RunCancelled` to stop the work."""


def silent(fraction: float, doing: str) -> None:
    """Report nothing: the default of every audit."""


def part(progress: Progress, start: float, stop: float) -> Progress:
    """Return a progress callback whose 0 to 1 fills `start` to `stop` of `progress`."""

    def report(fraction: float, doing: str) -> None:
        progress(start + (stop - start) * min(max(fraction, 0.0), 1.0), doing[:1].upper() + doing[1:])

    return report
