"""How often a flipset audit finds a difference where there is none: whole audits of groups that are alike.

    python -m benchmarks.flipset_calibration [studies]      default 240

Two groups from one normal distribution in two features, decided by their noisy sum; 39 permutations, level
5 %. A study that says "evidence of a difference" is a false alarm; at most 5 % of them may be.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd

from audits.data import DataSpec, FeatureSpace, build_data
from audits.models import Subject
from audits.stats import EVIDENCE, wilson
from benchmarks.case_studies import Scorer
from tests.flipset.conftest import audited

SETTINGS = (("exact", 25, 30), ("exact", 100, 100), ("linear", 100, 100), ("entropic", 100, 100))


def alike(seed: int, n: int, m: int) -> Subject:
    """Two groups of `n` and `m` people who differ in nothing, and a model of the sum of their features."""
    x = np.round(np.random.default_rng(seed).normal(size=(n + m, 2)), 1)
    frame = pd.DataFrame(x, columns=["x0", "x1"]).assign(group=["a"] * n + ["b"] * m)
    data = build_data(frame, DataSpec(protected=("group",), features=("x0", "x1")))
    return Subject(data, Scorer(("x0", "x1"), lambda rows: rows.sum(1)), 0.0, FeatureSpace.fit(data))


def false_alarms(transport: Any, n: int, m: int, studies: int) -> int:
    """How many of so many studies say evidence of a difference."""
    return sum(
        audited(
            alike(seed, n, m),
            source={"group": "a"},
            target={"group": "b"},
            transport=transport,
            permutations=39,
            bootstrap=100,
            rng=seed,
        ).verdict
        == EVIDENCE
        for seed in range(studies)
    )


def main() -> None:
    """Print one line a setting."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 240
    for transport, n, m in SETTINGS:
        found = false_alarms(transport, n, m, studies)
        share = wilson(found, studies)
        print(
            f"{transport:<9} {n:>4} and {m:<4} people: {found} of {studies} false alarms "
            f"({share.value:.1%}, 95 % interval {share.low:.1%} to {share.high:.1%})",
            flush=True,
        )


if __name__ == "__main__":
    main()
