"""Does every interval, test and verdict that a page shows hold what it says? All simulations at once.

    make calibrate                                   # every row, at a size that resolves a point
    python -m benchmarks.calibration [--worlds N] [--only WORD] [--write]

Each ``benchmarks/*_calibration.py`` offers ``rows(worlds)``, which yields a `Row` a setting. ``--write``
keeps the rows in docs/calibration.json and writes docs/calibration.md from them; rows of scripts that were
not asked for stay.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "docs" / "calibration.json"
PAGE = ROOT / "docs" / "calibration.md"
DEFAULT_WORLDS = 1000


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


def scripts() -> list[str]:
    """Return the modules that offer rows."""
    return sorted(path.stem for path in Path(__file__).parent.glob("*_calibration.py"))


def measure(only: str, worlds: int) -> Iterator[Row]:
    """Yield the rows of every script whose name holds `only`, printing each."""
    for name in scripts():
        if only not in name:
            continue
        module = importlib.import_module(f"benchmarks.{name}")
        if not hasattr(module, "rows"):
            continue
        start = time.perf_counter()
        for row in module.rows(worlds):
            print(row.words, flush=True)
            yield row
        print(f"{name}: {time.perf_counter() - start:.0f} s")


def page(rows: Iterable[Row]) -> str:
    """Return docs/calibration.md."""
    lines = [
        "# Calibration",
        "",
        "Made by `make calibrate`: each row is a simulation of what the pages, reports and results show, "
        "with and without a difference. *Claimed* is what is stated; *measured* the share of simulated "
        "worlds, ± one Monte-Carlo error. A coverage holds if it is at most 1.5 points and two errors below "
        "the claim, false alarms if at most two errors above it; more is on the safe side. Where it does not "
        "hold, the page says what stands in the last column.",
        "",
    ]
    rows = list(rows)
    for audit in dict.fromkeys(row.audit for row in rows):
        lines += [
            f"## {audit}",
            "",
            "| shown | setting | kind | claimed | measured | worlds | holds |",
            "|---|---|---|---|---|---|---|",
        ]
        lines += [row.line for row in rows if row.audit == audit]
        lines.append("")
    return "\n".join(lines)


def kept() -> list[Row]:
    """Return the rows kept in docs/calibration.json."""
    if not KEPT.is_file():
        return []
    return [Row(**row) for row in json.loads(KEPT.read_text(encoding="utf-8"))]


def keep(rows: list[Row]) -> None:
    """Keep `rows` in the place of those of the same audit, statement and setting, and write the page."""
    new = {(row.audit, row.shown, row.setting, row.kind): row for row in rows}
    old = {(row.audit, row.shown, row.setting, row.kind): row for row in kept()}
    both = list({**old, **new}.values())
    both.sort(key=lambda row: row.audit)
    text = json.dumps([dataclasses.asdict(row) for row in both], indent=1, ensure_ascii=False)
    KEPT.write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(page(both), encoding="utf-8")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--worlds", type=int, default=DEFAULT_WORLDS)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    chosen = parser.parse_args()
    rows = list(measure(chosen.only, chosen.worlds))
    if chosen.write:
        keep(rows)
    broken = [row for row in rows if not row.holds and not row.said]
    if broken:
        print(f"{len(broken)} rows do not hold, and no page says so:")
        for row in broken:
            print(f"  {row.words}")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
