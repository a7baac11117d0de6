"""Whether changed code still gives the same numbers, so that the worlds drawn before it still count.

    python -m benchmarks.calibration --unchanged FILE [--worlds N] [--only WORD] [--processes N]

Before a change, where FILE is not there yet, it keeps a digest of all numbers that a few worlds of each
simulation give: every `Estimate` and `Judged` made on the way, and the rows. After the change the same worlds
are drawn again, and each simulation whose numbers are the same is stamped with the code as it is. A
world comes from its own number and no clock decides anything; a simulation is drawn twice before the change
all the same, and one that differs from itself cannot be compared.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audits.stats import Estimate, Judged
from benchmarks.calibration import Kept, Simulation, code_of

WORLDS = 3
_ROWS_ALONE = 100  # worlds of a simulation that is known by its rows alone


@contextmanager
def noting() -> Iterator[set[str]]:
    """Note the numbers of every `Estimate` and `Judged` that is made inside: which, not how often."""
    made: set[str] = set()
    before: dict[Any, Callable[..., None]] = {kind: kind.__init__ for kind in (Estimate, Judged)}
    for kind, make in before.items():
        kind.__init__ = functools.partialmethod(_made, make, made)
    try:
        yield made
    finally:
        for kind, make in before.items():
            kind.__init__ = make


def _made(self: Any, make: Callable[..., None], made: set[str], /, *values: Any, **named: Any) -> None:
    make(self, *values, **named)
    found = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
    # what Judged holds as its interval has been noted, and how a thing is worded is no number
    numbers = {
        name: value
        for name, value in found.items()
        if name == "verdict" or not isinstance(value, (str, Estimate))
    }
    made.add(_plain(type(self).__name__, numbers))


def _plain(what: str, numbers: dict[str, Any]) -> str:
    """Numbers to the last bit, whether Python's or NumPy's."""
    return json.dumps([what, numbers], default=float)


def digest(simulation: Simulation, worlds: int) -> str:
    """Return a digest of all numbers that the first worlds of a simulation give."""
    with noting() as found:
        rows = list(simulation.run(range(worlds)))
        alone = len(found) < worlds
    found |= {_plain("Row", {"key": row.key, "hits": row.hits, "worlds": row.worlds}) for row in rows}
    if alone:
        for number in range(_ROWS_ALONE):
            found |= {
                _plain(row.shown, {str(number): row.hits})
                for row in simulation.run(range(number, number + 1))
            }
    return hashlib.sha256("\n".join(sorted(found)).encode()).hexdigest()


def _digests(simulation: Simulation, worlds: int, times: int) -> set[str]:
    """What so many drawings of the same worlds give, in a process of their own."""
    list(simulation.run(range(1)))  # what is worked out once in a process belongs to no world
    return {digest(simulation, worlds) for _ in range(times)}


def _drawn(chosen: Sequence[Simulation], worlds: int, times: int, processes: int) -> dict[str, str | None]:
    """Return the digest of each simulation by its name; None of what differs from itself."""
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        going = {each.name: pool.submit(_digests, each, worlds, times) for each in chosen}
        found = {name: done.result() for name, done in going.items()}
    return {name: each.pop() if len(each) == 1 else None for name, each in found.items()}


def keep_before(chosen: Sequence[Simulation], file: Path, worlds: int, processes: int) -> list[str]:
    """Write what the code as it is gives to `file`, and return what cannot be compared."""
    found = _drawn(chosen, worlds, 2, processes)
    code = {each.name: code_of(each.audit) for each in chosen}
    file.write_text(
        json.dumps({"worlds": worlds, "code": code, "digests": found}, indent=1), encoding="utf-8"
    )
    return [name for name, each in found.items() if each is None]


def stamp_unchanged(kept: Kept, chosen: Sequence[Simulation], file: Path, processes: int) -> dict[str, str]:
    """Stamp what `kept` holds of simulations whose numbers are those of `file` with the code as it is.

    Returns
    -------
    dict of str to str
        Why, by the name of each other simulation whose code has changed, it stays outdated.
    """
    before = json.loads(file.read_text(encoding="utf-8"))
    stay: dict[str, str] = {}
    again = []
    for each in kept.outdated(chosen):
        if each.name not in before["digests"]:
            stay[each.name] = "was not drawn before the change"
        elif kept.code[each.name] != before["code"][each.name]:
            stay[each.name] = "its worlds are of older code than the numbers to compare with"
        elif before["digests"][each.name] is None:
            stay[each.name] = "cannot be compared: the same code gives other numbers each time"
        else:
            again.append(each)
    for name, found in _drawn(again, before["worlds"], 1, processes).items():
        if found != before["digests"][name]:
            stay[name] = "gives other numbers"
    for each in again:
        if each.name not in stay:
            kept.code[each.name] = code_of(each.audit)
    return stay
