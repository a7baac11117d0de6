"""Does every interval, test and verdict that a page shows hold what it says? All simulations at once.

    make calibrate                                   # every row, at a size that resolves a point
    python -m benchmarks.calibration [--worlds N] [--only WORD] [--processes N] [--resume]

Each ``benchmarks/*_calibration.py`` offers ``simulations()``: a `Simulation` a setting, which is asked for
worlds by their numbers and gives a `Row` for each thing shown. All settings go round by round through twice
as many worlds, and what a round found is kept at once in docs/calibration.json and docs/calibration.md; with
``--resume`` the worlds counted there are not drawn again. A setting of which every row holds beyond doubt is
drawn no further. Whoever changes the code behind an interval draws its rows anew (``--only``).
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import math
import multiprocessing
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from scipy.stats import beta

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "calibration.json"
PAGE = ROOT / "docs" / "calibration.md"
DEFAULT_WORLDS = 2000
SLOW = 0.25  # of the worlds, where one takes long: 500 resolve a point
_FIRST_ROUND = 100  # worlds
_POINT = 0.01
_DOUBT = 0.01


@dataclass(frozen=True)
class Row:
    """What one simulation measured.

    Attributes
    ----------
    audit : str
        The audit, or "all" for what several share.
    shown : str
        The interval, test or verdict, in the words of the page.
    setting : str
        People, features, truth.
    kind : {"coverage", "false alarms", "power"}
    nominal : float
        Coverage or error rate that is claimed; of power, what was aimed at.
    hits, worlds : int
        Simulated worlds, and in how many the interval held the truth, or evidence was stated.
    said : str
        Where it does not hold: what the page says of it instead.
    """

    audit: str
    shown: str
    setting: str
    kind: str
    nominal: float
    hits: int
    worlds: int
    said: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What is the same of two rows whose worlds count together."""
        return self.audit, self.setting, self.shown, self.kind

    @property
    def measured(self) -> float:
        """The share of worlds."""
        return self.hits / self.worlds

    @property
    def error(self) -> float:
        """Monte-Carlo standard error, at the nominal rate."""
        return math.sqrt(self.nominal * (1 - self.nominal) / self.worlds)

    @property
    def words(self) -> str:
        """The row as it is printed."""
        what = f"{self.audit}: {self.shown}; {self.setting}"
        return f"{what}: {self.measured:.3f} ({self.kind}, {self.nominal:g})"

    @property
    def line(self) -> str:
        """The row of a Markdown table."""
        holds = "–" if self.kind == "power" else "yes" if self.holds else f"no: {self.said}"
        measured = f"{self.measured:.3f} ± {self.error:.3f}"
        cells = (
            self.shown,
            self.setting,
            self.kind,
            f"{self.nominal:g}",
            measured,
            f"{self.worlds:,}",
            holds,
        )
        return f"| {' | '.join(cells)} |"

    @property
    def holds(self) -> bool:
        """Coverage at most 1.5 points and two Monte-Carlo errors short, alarms at most two errors over."""
        if self.kind == "coverage":
            return self.measured >= self.nominal - 0.015 - 2 * self.error
        return self.kind == "power" or self.measured <= self.nominal + 2 * self.error

    @property
    def settled(self) -> bool:
        """Whether it holds beyond doubt: the end of Clopper and Pearson's interval that matters says so."""
        n, k = self.worlds, self.hits
        if self.kind == "power" or n < _FIRST_ROUND:
            return self.kind == "power"
        if self.kind == "coverage":
            return bool(k and beta.ppf(_DOUBT, k, n - k + 1) >= self.nominal - 0.015)
        return bool(k < n and beta.isf(_DOUBT, k + 1, n - k) <= self.nominal)


@dataclass(frozen=True)
class Simulation:
    """One setting.

    Attributes
    ----------
    audit, setting : str
        As in the rows that it gives.
    run : callable
        ``run(numbers)`` draws the worlds of these numbers, each from its own number, and returns rows.
    part : float
        Of the worlds asked for, how many are drawn: below 1 where a world takes long.
    """

    audit: str
    setting: str
    run: Callable[[range], Iterable[Row]]
    part: float = 1.0

    @property
    def name(self) -> str:
        """What its count of worlds is kept under."""
        return f"{self.audit}: {self.setting}"

    def worlds(self, asked: int) -> int:
        """How many worlds it draws when so many are asked for."""
        return max(round(asked * self.part), 20)


@dataclass
class Kept:
    """What was found so far: worlds drawn by simulation, and rows."""

    worlds: dict[str, int]
    rows: list[Row]

    @classmethod
    def read(cls) -> Kept:
        """Read docs/calibration.json."""
        if not KEPT.is_file():
            return cls({}, [])
        document = json.loads(KEPT.read_text(encoding="utf-8"))
        return cls(document["worlds"], [Row(**row) for row in document["rows"]])

    def add(self, simulation: Simulation, rows: Iterable[Row], upto: int) -> None:
        """Count in what further worlds of `simulation` gave."""
        known = {row.key: row for row in self.rows}
        for row in rows:
            before = known.get(row.key)
            hits, worlds = (before.hits, before.worlds) if before else (0, 0)
            known[row.key] = dataclasses.replace(
                row, hits=int(row.hits) + hits, worlds=int(row.worlds) + worlds
            )
        self.rows = list(known.values())
        self.worlds[simulation.name] = upto

    def drop(self, simulation: Simulation) -> None:
        """Forget a simulation."""
        self.worlds.pop(simulation.name, None)
        own = (simulation.audit, simulation.setting)
        self.rows = [row for row in self.rows if (row.audit, row.setting) != own]

    def settled(self, simulation: Simulation) -> bool:
        """Whether more worlds would tell nothing: every row of `simulation` holds beyond doubt."""
        own = [row for row in self.rows if (row.audit, row.setting) == (simulation.audit, simulation.setting)]
        enough = self.worlds.get(simulation.name, 0) >= _FIRST_ROUND
        return enough and any(row.kind != "power" for row in own) and all(row.settled for row in own)

    def lacking(self, order: Iterable[Simulation]) -> list[str]:
        """Return the simulations of which no world has been drawn."""
        return [each.name for each in order if each.name not in self.worlds]

    def write(self, order: Sequence[Simulation]) -> None:
        """Write docs/calibration.json and docs/calibration.md, rows in the order of the simulations."""
        place = {(each.audit, each.setting): k for k, each in enumerate(order)}
        # rows of simulations that are no more go with them
        rows = [row for row in self.rows if (row.audit, row.setting) in place]
        rows.sort(key=lambda row: place[row.audit, row.setting])
        self.rows = rows
        document = {
            "worlds": self.worlds,
            "rows": [dataclasses.asdict(row) for row in rows],
        }
        KEPT.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        PAGE.write_text(page(rows, self.lacking(order)), encoding="utf-8")


def scripts() -> list[str]:
    """Return the modules that offer simulations."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*_calibration.py"))


def simulations(only: str = "") -> list[Simulation]:
    """Return the simulations of every script, or those with `only` in the name of script or setting."""
    return [
        each
        for name in scripts()
        for each in importlib.import_module(f"benchmarks.{name}").simulations()
        if only in name or only in each.name
    ]


def page(rows: Iterable[Row], lacking: Sequence[str] = ()) -> str:
    """Return docs/calibration.md, which names what is `lacking`."""
    lines = [
        "# Calibration",
        "",
        "Made by `make calibrate`: each row is a simulation of what the pages, reports and results show, "
        "with and without a difference. *Claimed* is what is stated; *measured* the share of simulated "
        "worlds, ± one Monte-Carlo error. A coverage holds if it is at most 1.5 points and two errors below "
        "the claim, false alarms if at most two errors above it; more is on the safe side. Power is stated "
        "for reading only. Where a claim does not hold, what the page says of it stands in the last column. "
        "A setting is drawn until its error is at most one point, or until all of its rows hold beyond doubt "
        "(an exact interval of level 0.99 has them on the safe side, from 100 worlds on). Rows that are "
        "neither are of few worlds: they can show a gross defect and no small one.",
        "",
    ]
    rows = list(rows)
    few = sum(row.error > _POINT and row.kind != "power" and not row.settled for row in rows)
    lines += [
        f"{len(rows):,} rows, of {sum(row.worlds for row in rows):,} simulated worlds; {few:,} of them are "
        "neither within a point nor beyond doubt.",
        "",
    ]
    if lacking:
        lines += [f"Not drawn yet (`make calibrate` does): {'; '.join(lacking)}.", ""]
    for audit in sorted(dict.fromkeys(row.audit for row in rows)):
        lines += [
            f"## {audit}",
            "",
            "| shown | setting | kind | claimed | measured | worlds | holds |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [row.line for row in rows if row.audit == audit]
        lines.append("")
    return "\n".join(lines)


def _measured(simulation: Simulation, numbers: range) -> list[Row]:
    """Rows of worlds, in a process of their own."""
    import torch

    torch.set_num_threads(1)
    return list(simulation.run(numbers))


def measure(chosen: list[Simulation], worlds: int, processes: int, kept: Kept) -> None:
    """Draw what `kept` lacks of so many worlds of each simulation, and keep it as it comes."""
    order, start = simulations(), time.perf_counter()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        upto = min(_FIRST_ROUND, worlds)
        while True:
            going: dict[Future[list[Row]], tuple[Simulation, int]] = {}
            for each in chosen:
                first, last = kept.worlds.get(each.name, 0), each.worlds(upto)
                if first < last and not kept.settled(each):
                    going[pool.submit(_measured, each, range(first, last))] = (each, last)
            for done in as_completed(going):
                each, last = going[done]
                rows = done.result()
                kept.add(each, rows, last)
                kept.write(order)
                for row in rows:
                    print(f"{time.perf_counter() - start:6.0f} s  {row.words}", flush=True)
            if upto >= worlds:
                return
            upto = min(2 * upto, worlds)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--worlds", type=int)
    parser.add_argument("--only", default="", help="a word of the script's or the setting's name")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="keep the worlds that were drawn before")
    asked = parser.parse_args()
    chosen, kept = simulations(asked.only), Kept.read()
    if not asked.resume:
        for each in chosen:
            kept.drop(each)
    measure(chosen, asked.worlds or DEFAULT_WORLDS, asked.processes, kept)
    broken = [row for row in kept.rows if not row.holds and not row.said]
    if broken:
        print(f"{len(broken)} rows do not hold, and no page says so:")
        for row in broken:
            print(f"  {row.words}")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
