"""The five papers' numbers again: ``python -m benchmarks.papers [NAME] [WORD ...]``, without a name a list.

Each is a function of a module here, named in its `RUNS`; the words are its own. docs/papers.md has the last
figures, and says how many seeds and people they are of.
"""

from __future__ import annotations

import sys

from benchmarks.papers import (
    everything_is_relative,
    fliptest,
    individual_fairness,
    prediction_sensitivity,
    testsgd,
)

RUNS = (
    fliptest.RUNS
    | individual_fairness.RUNS
    | testsgd.RUNS
    | everything_is_relative.RUNS
    | prediction_sensitivity.RUNS
)

if __name__ == "__main__":
    if len(sys.argv) > 1:
        RUNS[sys.argv[1]](*sys.argv[2:])
    else:
        print("\n".join(f"{name:24} {(run.__doc__ or '').splitlines()[0]}" for name, run in RUNS.items()))
