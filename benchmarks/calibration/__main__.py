"""Simulate every interval, test and verdict, and write docs/calibration.csv and docs/calibration.md.

    make calibrate                                   # every row, at a size that resolves a point
    python -m benchmarks.calibration [--worlds N] [--only WORD] [--processes N] [--resume]

With ``--resume`` the worlds counted there are not drawn again. A setting of which every row holds beyond
doubt is drawn no further. Whoever changes the code behind an interval draws its rows again (``--only``).
"""

from __future__ import annotations

import argparse

from benchmarks.calibration.harness import Kept, measure, simulations

DEFAULT_WORLDS = 2000


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--worlds", type=int, default=DEFAULT_WORLDS)
    parser.add_argument("--only", default="", help="a word of the module's or the setting's name")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--resume", action="store_true", help="keep the worlds that were drawn before")
    asked = parser.parse_args()
    chosen, kept = simulations(asked.only), Kept.read()
    if not asked.resume:
        for each in chosen:
            kept.drop(each)
    measure(chosen, asked.worlds, asked.processes, kept)
    broken = [row for row in kept.rows if not row.holds and not row.said]
    if broken:
        print(f"{len(broken)} rows do not hold, and no page says so:")
        for row in broken:
            print(f"  {row.words}")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
