"""How the worlds of all settings are drawn and counted, and what is kept of them.

All go round by round through twice as many worlds; what a round found is kept at once in
docs/calibration.csv, of which docs/calibration.md tells.
"""

from __future__ import annotations

import datetime
import importlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from joblib import Parallel, delayed, parallel_config

from audits.runs.registry import AUDITS
from audits.runs.version import stamp
from audits.stats import Estimate
from benchmarks.calibration import FIRST_ROUND, Facts, Row, inside
from benchmarks.serving import ROOT

TABLE = ROOT / "docs" / "calibration.csv"
PAGE = ROOT / "docs" / "calibration.md"
SETTINGS = Path(__file__).with_name("settings.yaml")
_COLUMNS = [
    *("audit", "shown", "setting", "kind", "claimed", "hits", "worlds", "said", "drawn", "code"),
    *("measured", "error", "holds", "older", "asked"),
]
_COMMIT = "commit "  # in place of a stamp: what recorded the row


@dataclass(frozen=True)
class Simulation:
    """One setting: ``run(numbers)`` draws worlds by their numbers and gives rows.

    `part` is how many of the worlds asked for are drawn: below 1 where a world takes long.
    """

    audit: str
    setting: str
    run: Callable[[range], Iterable[Row]]
    part: float

    @property
    def name(self) -> str:
        """The setting with its audit, as it is asked for."""
        return f"{self.audit}: {self.setting}"

    def worlds(self, asked: int) -> int:
        """How many worlds it draws when so many are asked for."""
        return max(round(asked * self.part), 20)


def simulations(only: str = "", *, more: bool = False) -> list[Simulation]:
    """Return all simulations of settings.yaml, or those with `only` in the name of their module or setting.

    Rivals are among them where they are asked for.
    """
    listed = []
    for name, settings in yaml.safe_load(SETTINGS.read_text(encoding="utf-8")).items():
        for told in settings:
            if not told.pop("rival", False) or only or more:
                own = _simulations(name, told)
                listed += [each for each in own if only in name or only in each.name]
    return listed


def _simulations(name: str, told: dict[str, Any]) -> Iterator[Simulation]:
    """Yield the simulations of all combinations of axes, which a setting names in braces."""
    axes = {"of": name, "part": 1.0, "given": ()} | told
    of, draw, setting, part, given = (axes.pop(key) for key in ("of", "draw", "setting", "part", "given"))
    own, named = importlib.import_module(f"benchmarks.calibration.{name}"), []
    drawn = getattr(own, f"_{draw}")
    for values in axes.values():
        of_module = getattr(own, values) if isinstance(values, str) else values
        named.append(of_module.items() if isinstance(of_module, dict) else [(at, at) for at in of_module])
    for point in product(*named):
        words = setting.format(**{axis: shown for axis, (shown, _) in zip(axes, point, strict=True)})
        values = (*given, *(value for _, value in point))
        run = drawn if draw == "round" else partial(_summed, drawn)
        yield Simulation(of, words, partial(run, of, words, values), part)


def _summed(
    draw: Callable[..., Facts], audit: str, setting: str, given: tuple[Any, ...], numbers: range
) -> Iterator[Row]:
    """Rows of what the worlds of these numbers found; a world may have nothing to state."""
    drawn: dict[tuple[str, str, float], list[float | Estimate]] = {}
    for number in numbers:
        for each in draw(*given, number=number):
            drawn.setdefault((each.shown, each.kind, each.claimed), []).append(each.hit)
    for (shown, kind, claimed), hits in drawn.items():
        if known := [each for each in hits if isinstance(each, Estimate) and each.low is not None]:
            truth = sum(each.value for each in known) / len(known)
            hits = [inside(each, truth) for each in known]
        yield Row(audit, shown, setting, kind, claimed, round(sum(hits)), len(hits))


class Kept:
    """The rows that were found so far, as docs/calibration.csv has them."""

    def __init__(self) -> None:
        table = pd.read_csv(TABLE, keep_default_na=False, dtype={"code": str})
        own = table[[each.name for each in fields(Row)]]
        self.rows = [Row(*values) for values in own.itertuples(index=False)]

    def of(self, each: Simulation) -> list[Row]:
        """Return the rows of a simulation."""
        return [row for row in self.rows if (row.audit, row.setting) == (each.audit, each.setting)]

    def asked(self, each: Simulation) -> int:
        """Return for how many worlds a simulation was asked."""
        return max((row.asked for row in self.of(each)), default=0)

    def settled(self, each: Simulation) -> bool:
        """Whether more worlds would tell nothing: every row of a simulation holds beyond doubt."""
        own, enough = self.of(each), self.asked(each) >= FIRST_ROUND
        return enough and any(row.kind != "power" for row in own) and all(row.settled for row in own)

    def add(self, each: Simulation, rows: Iterable[Row], upto: int) -> None:
        """Count in what further worlds of a simulation gave, drawn now."""
        own = {(row.shown, row.kind): row for row in self.of(each)}
        at = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%MZ")
        now = {"drawn": at, "code": stamp()["source"][:12]}
        for row in rows:
            hits, worlds = int(row.hits), int(row.worlds)
            if (before := own.get((row.shown, row.kind))) is not None:
                hits, worlds = hits + before.hits, worlds + before.worlds
                if before.code != now["code"]:  # the oldest code that has a part in it
                    now |= {"drawn": before.drawn, "code": before.code}
            own[row.shown, row.kind] = replace(row, hits=hits, worlds=worlds, **now)
        self.drop(each)
        self.rows += [replace(row, asked=upto) for row in own.values()]

    def drop(self, each: Simulation) -> None:
        """Forget a simulation."""
        own = self.of(each)
        self.rows = [row for row in self.rows if row not in own]

    def lacking(self, order: Iterable[Simulation]) -> list[str]:
        """Return the simulations of which no world has been drawn."""
        return [each.name for each in order if not self.of(each)]

    def write(self, order: Sequence[Simulation]) -> None:
        """Write docs/calibration.csv and docs/calibration.md, of the simulations that there are."""
        rows, lines = [row for each in order for row in self.of(each)], []
        stamped = [row for row in rows if not row.code.startswith(_COMMIT)]
        newest = max(stamped, key=lambda row: row.drawn).code if stamped else ""
        for row in rows:
            told = {"said": row.said, "measured": f"{row.measured:.4f}", "error": f"{row.error:.4f}"}
            told["holds"] = "" if row.kind == "power" else "yes" if row.holds else "no"
            recorded = "recorded before rows had a stamp" if row.code.startswith(_COMMIT) else "older code"
            told["older"] = "" if row.code == newest else recorded
            lines.append(asdict(row) | told)
        pd.DataFrame(lines, columns=_COLUMNS).to_csv(TABLE, index=False, lineterminator="\n")
        PAGE.write_text(page(rows, self.lacking(order)), encoding="utf-8")


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
    given = {"titles": _TITLES, "kinds": _KINDS, "few": few, "broken": _broken(rows), "lacking": lacking}
    return pages.get_template("calibration.j2").render(rows=rows, **given)


def _broken(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield what does not hold by what pages and docs say of it, the worst setting first."""
    broken = sorted((row for row in rows if not row.holds), key=lambda row: row.audit)
    for audit, said in dict.fromkeys((row.audit, row.said) for row in broken):
        own = [row for row in broken if (row.audit, row.said) == (audit, said)]
        yield sorted(own, key=lambda row: row.measured - row.claimed, reverse=own[0].kind != "coverage")


def _measured(each: Simulation, numbers: range) -> tuple[Simulation, range, list[Row]]:
    return each, numbers, list(each.run(numbers))


def measure(chosen: list[Simulation], worlds: int, processes: int, kept: Kept) -> None:
    """Draw what `kept` lacks of so many worlds of each simulation, and keep it as it comes."""
    order, start, upto = simulations(), time.perf_counter(), min(FIRST_ROUND, worlds)
    with (
        parallel_config("loky", inner_max_num_threads=1),
        Parallel(processes, return_as="generator_unordered") as pool,
    ):
        while True:
            open_ones = [each for each in chosen if not kept.settled(each)]
            going = [(each, range(kept.asked(each), each.worlds(upto))) for each in open_ones]
            for each, numbers, rows in pool(delayed(_measured)(*one) for one in going if one[1]):
                kept.add(each, rows, numbers.stop)
                kept.write(order)
                for row in kept.of(each):
                    print(f"{time.perf_counter() - start:6.0f} s  {row.words}", flush=True)
            if upto >= worlds:
                return
            upto = min(2 * upto, worlds)
