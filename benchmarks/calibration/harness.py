"""How the worlds of all settings are drawn and counted, and what is kept of them.

All go round by round through twice as many worlds; what a round found is kept at once in
docs/calibration.csv, of which docs/calibration.md tells.
"""

from __future__ import annotations

import datetime
import importlib
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from audits.runs.registry import AUDITS
from audits.runs.version import stamp
from benchmarks.calibration import FIRST_ROUND, Row, Simulation
from benchmarks.serving import ROOT

TABLE = ROOT / "docs" / "calibration.csv"
PAGE = ROOT / "docs" / "calibration.md"
_COMMIT = "commit "  # in place of a stamp: what recorded the row


def modules() -> list[str]:
    """Return the names of the modules that state settings."""
    here = {"__init__", "__main__", "harness"}
    return sorted(path.stem for path in Path(__file__).parent.glob("*.py") if path.stem not in here)


def simulations(only: str = "", *, more: bool = False) -> list[Simulation]:
    """Return all simulations, or those with `only` in the name of their module or setting.

    A module's `MORE` are rivals and settings that the page does not tell of: drawn where they are asked for,
    printed and not kept.
    """
    listed = []
    for name in modules():
        module = importlib.import_module(f"benchmarks.calibration.{name}")
        own = [*module.SETTINGS, *(getattr(module, "MORE", ()) if only or more else ())]
        listed += [each for each in own if only in name or only in each.name]
    return listed


@dataclass
class Kept:
    """What was found so far: how many worlds each simulation was asked for, and rows."""

    worlds: dict[str, int]
    rows: list[Row]

    @classmethod
    def read(cls) -> Kept:
        """Read docs/calibration.csv."""
        if not TABLE.is_file():
            return cls({}, [])
        table = pd.read_csv(TABLE, keep_default_na=False, dtype={"code": str})
        worlds = dict(zip(table["audit"] + ": " + table["setting"], table["asked"], strict=True))
        own = table[[each.name for each in fields(Row)]]
        return cls(worlds, [Row(*values) for values in own.itertuples(index=False)])

    def add(self, each: Simulation, rows: Iterable[Row], upto: int) -> None:
        """Count in what further worlds of a simulation gave, drawn now."""
        known = {row.key: row for row in self.rows}
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        now = {"drawn": today, "code": stamp()["source"][:12]}
        for row in rows:
            hits, worlds = int(row.hits), int(row.worlds)
            if (before := known.get(row.key)) is not None:
                hits, worlds = hits + before.hits, worlds + before.worlds
                if before.code != now["code"]:  # the oldest code that has a part in it
                    now |= {"drawn": before.drawn, "code": before.code}
            known[row.key] = replace(row, hits=hits, worlds=worlds, **now)
        self.rows = list(known.values())
        self.worlds[each.name] = upto

    def drop(self, each: Simulation) -> None:
        """Forget a simulation."""
        own = self._of(each)
        self.worlds.pop(each.name, None)
        self.rows = [row for row in self.rows if row not in own]

    def settled(self, each: Simulation) -> bool:
        """Whether more worlds would tell nothing: every row of a simulation holds beyond doubt."""
        own, enough = self._of(each), self.worlds.get(each.name, 0) >= FIRST_ROUND
        return enough and any(row.kind != "power" for row in own) and all(row.settled for row in own)

    def _of(self, each: Simulation) -> list[Row]:
        return [row for row in self.rows if (row.audit, row.setting) == (each.audit, each.setting)]

    def lacking(self, order: Iterable[Simulation]) -> list[str]:
        """Return the simulations of which no world has been drawn."""
        return [each.name for each in order if each.name not in self.worlds]

    def write(self, order: Sequence[Simulation]) -> None:
        """Write docs/calibration.csv and docs/calibration.md; rows of simulations that are no more go."""
        place = {(each.audit, each.setting): k for k, each in enumerate(order)}
        self.rows = [row for row in self.rows if (row.audit, row.setting) in place]
        self.rows.sort(key=lambda row: place[row.audit, row.setting])
        stamped = [row for row in self.rows if not row.code.startswith(_COMMIT)]
        newest = max(stamped, key=lambda row: row.drawn).code if stamped else ""
        lines = []
        for row in self.rows:
            told = {"measured": f"{row.measured:.4f}", "error": f"{row.error:.4f}"}
            told["holds"] = "" if row.kind == "power" else "yes" if row.holds else "no"
            recorded = "recorded before rows had a stamp" if row.code.startswith(_COMMIT) else "older code"
            told["older"] = "" if row.code == newest else recorded
            lines.append(asdict(row) | told | {"asked": self.worlds[f"{row.audit}: {row.setting}"]})
        pd.DataFrame(lines).to_csv(TABLE, index=False, lineterminator="\n")
        PAGE.write_text(page(self.rows, self.lacking(order)), encoding="utf-8")


_TITLES = {name: AUDITS[name].title for name in AUDITS} | {
    "all": "Intervals and tests that all audits share",
    "monitor": "Alarms of a monitor",
    "paired": "Changes between two models",
    "quality": "Measures of a model's quality",
}
_KINDS = {"coverage": "contains the truth", "false alarms": "false alarm", "power": "finds a difference"}


def page(rows: Sequence[Row], lacking: Sequence[str] = ()) -> str:
    """Return docs/calibration.md: how it was drawn, what holds, what does not, and each audit's table."""
    few = sum(row.error > 0.01 and row.kind != "power" and not row.settled for row in rows)
    folder = FileSystemLoader(ROOT / "docs" / "templates")
    pages = Environment(loader=folder, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    pages.filters |= {"holding": _holding, "span": _span}
    given = {"titles": _TITLES, "kinds": _KINDS, "few": few, "broken": _broken(rows), "lacking": lacking}
    return pages.get_template("calibration.j2").render(rows=rows, **given)


def _holding(rows: list[Row], kind: str) -> str:
    own = [row.holds for row in rows if row.kind == kind]
    return f"{sum(own)} of {len(own)}" if own else "–"


def _span(rows: list[Row]) -> str:
    return "–".join(dict.fromkeys(each(rows, key=lambda row: row.measured).percent for each in (min, max)))


def _broken(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield what does not hold by what pages and docs say of it, the worst setting first."""
    broken = sorted((row for row in rows if not row.holds), key=lambda row: row.audit)
    for audit, said in dict.fromkeys((row.audit, row.said) for row in broken):
        own = [row for row in broken if (row.audit, row.said) == (audit, said)]
        yield sorted(own, key=lambda row: row.measured - row.claimed, reverse=own[0].kind != "coverage")


@cache
def _every() -> dict[str, Simulation]:
    return {each.name: each for each in simulations(more=True)}


def _measured(name: str, numbers: range) -> list[Row]:
    """Rows of worlds, in a process of their own, which is told a simulation's name: draws may be lambdas."""
    import torch

    torch.set_num_threads(1)
    return list(_every()[name].run(numbers))


def measure(chosen: list[Simulation], worlds: int, processes: int, kept: Kept) -> None:
    """Draw what `kept` lacks of so many worlds of each simulation, and keep it as it comes."""
    order, start = simulations(), time.perf_counter()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        upto = min(FIRST_ROUND, worlds)
        while True:
            going: dict[Future[list[Row]], tuple[Simulation, int]] = {}
            for each in chosen:
                first, last = kept.worlds.get(each.name, 0), each.worlds(upto)
                if first < last and not kept.settled(each):
                    going[pool.submit(_measured, each.name, range(first, last))] = (each, last)
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
