"""How long work says how far it is, and how it is stopped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

Progress = Callable[[float, str], None]
"""``progress(fraction in [0, 1], what is being done)``; raises `RunCancelled` to stop the work.

One that also has a method ``draw(point)`` is handed the points of a training curve: see `draw`.
"""

CurvePoint = Mapping[str, str | float | None]
"""A point of a training curve: plain names to plain numbers, and what is being trained."""


def silent(fraction: float, doing: str) -> None:
    """Report nothing: the default of every audit."""


def draw(progress: Progress, point: CurvePoint) -> None:
    """Hand a point of a training curve to whoever follows the work, if they draw it."""
    take = getattr(progress, "draw", None)
    if take is not None:
        take(point)


def part(progress: Progress, start: float, stop: float) -> Progress:
    """Return a progress callback whose 0 to 1 fills `start` to `stop` of `progress`."""
    return _Part(progress, start, stop)


class _Part:
    def __init__(self, whole: Progress, start: float, stop: float) -> None:
        self._whole, self._start, self._stop = whole, start, stop

    def __call__(self, fraction: float, doing: str) -> None:
        reached = self._start + (self._stop - self._start) * min(max(fraction, 0.0), 1.0)
        self._whole(reached, doing[:1].upper() + doing[1:])

    def draw(self, point: CurvePoint) -> None:
        draw(self._whole, point)
