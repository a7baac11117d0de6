"""Simulate every interval, test and verdict, and write docs/calibration.csv and docs/calibration.md.

    make calibrate                                   # every row, at a size that resolves a point
    python -m benchmarks.calibration [--worlds N] [--only WORD] [--processes N] [--resume]

With ``--only`` settings whose name or module's has the word; with ``--resume`` the worlds counted there are
not drawn again. A setting of which every row holds beyond doubt is drawn no further. Whoever changes the code
behind an interval draws its rows anew.
"""

from benchmarks.calibration.harness import Kept, measure, simulations
from benchmarks.measuring import asked

if __name__ == "__main__":
    given = asked(__doc__, worlds=2000, only="", processes=2, resume=False)
    chosen, kept = simulations(given.only), Kept()
    if not given.resume:
        for each in chosen:
            kept.drop(each)
    measure(chosen, given.worlds, given.processes, kept)
    rows = [row for each in simulations() for row in kept.of(each)]
    if broken := [row.words for row in rows if not row.holds and not row.said]:
        raise SystemExit("\n  ".join([f"{len(broken)} rows do not hold, and no page says so:", *broken]))
