"""Whether flipset verdicts and intervals hold: whole audits, in worlds of which the truth is known.

    python -m benchmarks.flipset_calibration [studies [KIND]]      default 200, all kinds

One line a world of tests/flipset/worlds.py: how often the verdict is evidence of a difference, how often
no material difference; what lies above chance on average, how much that varies and how often its
interval covers the average of all studies (what it is an interval for); and how often the test of people
alike rejects. Where groups are alike, or one rule decides and rates are equal, evidence is a false
alarm, at most 5 % of studies.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd

from audits.flipset import AboveChance, FlipsetOptions, flipset
from audits.flipset.comparisons.marginals import marginals
from audits.stats import EVIDENCE, NO_MATERIAL, wilson
from benchmarks.calibration import SLOW, Row, Simulation
from tests.flipset.worlds import subject

SETTINGS = (
    ("alike", 100, 1),
    ("alike", 100, 2),
    ("alike", 100, 8),
    ("alike", 400, 2),
    ("alike", 1_000, 8),
    ("alike", 2_000, 2),
    ("proxy", 100, 8),
    ("proxy", 400, 2),
    ("proxy", 1_000, 2),
    ("hangs together otherwise", 100, 2),
    ("hangs together otherwise", 400, 2),
    ("hangs together otherwise", 200, 8),
    ("hangs together otherwise", 1_000, 2),
    ("hangs together otherwise", 2_000, 8),
    ("shifted", 100, 2),
    ("shifted", 400, 8),
    ("turned", 100, 2),
    ("turned", 200, 8),
    ("turned", 1_000, 8),
    ("turned one way", 200, 2),
    ("by lot", 200, 1),
    ("by lot", 1_000, 1),
    ("parents", 400, 2),
    ("equal by lot", 400, 2),
)


def main() -> None:
    """Print one line a setting."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    options = FlipsetOptions(source={"group": "a"}, target={"group": "b"}, seconds=5.0, bootstrap=100)
    for kind, n, d in SETTINGS:
        if len(sys.argv) > 2 and kind not in sys.argv[2:]:
            continue
        found = [flipset(subject(kind, n, d, seed), options, rng=seed) for seed in range(studies)]
        above: list[AboveChance] = [each.above_chance for each in found if each.above_chance is not None]
        values = np.array([each.excess.value for each in above], dtype=float)
        ends = np.array([(each.excess.low, each.excess.high) for each in above], dtype=float)
        truth = values.mean()
        covered = wilson(float(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).sum()), studies)
        evidence = wilson(sum(each.verdict == EVIDENCE for each in found), studies)
        cleared = sum(each.verdict == NO_MATERIAL for each in found) / studies
        alike = np.mean([(each.conditional.p_value or 0.0) <= 0.025 for each in above])
        print(
            f"{kind:<25} {n:>5} a group, {d} features: evidence {evidence.value:.1%} "
            f"({evidence.low:.1%} to {evidence.high:.1%}), no material difference {cleared:.1%}; "
            f"above chance {100 * truth:.1f} points, "
            f"sd {100 * values.std():.1f}, covered "
            f"{covered.value:.1%} ({covered.low:.1%} to {covered.high:.1%}); "
            f"people alike rejected {alike:.1%}",
            flush=True,
        )


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for kind, n, d in SETTINGS:
        setting = f"{kind}, {n:,} a group, {d} feature{'s' if d > 1 else ''}"
        run = partial(_audits, kind, n, d, setting)
        found.append(Simulation("flipset", setting, run, part=SLOW))
    for n, size in ((100, 10), (400, 40)):
        setting = f"{n:,} people, {size} of them by lot, four features"
        found.append(Simulation("flipset", setting, partial(_by_lot, n, size, setting)))
    found.append(Simulation("flipset", _STABLE, _stability, part=0.05))
    found.append(Simulation("flipset", _NEEDED, _cleared, part=0.02))
    return found


_STABLE = "100 a group, 2 features, data sets of five kinds in turn, 20 seeds each"


_NEEDED = "equal by lot, as many people as 400 a group say are needed, 2 features"


def _cleared(numbers: range) -> Iterator[Row]:
    """How often the number of people stated settles that there is nothing, in another sample of so many."""
    options = FlipsetOptions(source={"group": "a"}, target={"group": "b"}, bootstrap=100)
    needed = {seed: flipset(subject("equal by lot", 400, 2, seed), options, rng=seed) for seed in numbers}
    people = {seed: each.people_needed for seed, each in needed.items() if each.people_needed is not None}
    settled = 0
    for seed, n in people.items():
        settled += (
            flipset(subject("equal by lot", n, 2, 1000 + seed), options, rng=seed).verdict == NO_MATERIAL
        )
    yield Row("flipset", NO_MATERIAL, _NEEDED, "power", 0.8, settled, len(people))


def _stability(numbers: range) -> Iterator[Row]:
    """How often 19 of 20 seeds give one verdict, in data sets whose p-value is not at the border.

    At the border is a mean p-value within two Monte-Carlo errors of 199 permutations from the level.
    """
    options = FlipsetOptions(source={"group": "a"}, target={"group": "b"}, seconds=1.0, bootstrap=100)
    kinds = ("alike", "hangs together otherwise", "shifted", "turned", "turned one way")
    agreed = sets = 0
    for number in numbers:
        people = subject(kinds[number % len(kinds)], 100, 2, number)
        found = [flipset(people, options, rng=seed) for seed in range(20)]
        p = float(np.mean([each.judged.p_value for each in found]))
        if abs(p - 0.05) > 2 * np.sqrt(0.05 * 0.95 / 199):
            sets += 1
            agreed += Counter(each.verdict for each in found).most_common(1)[0][1] >= 19
    yield Row("flipset", "one verdict in 19 of 20 seeds", _STABLE, "coverage", 0.95, agreed, sets)


def _by_lot(n: int, size: int, setting: str, numbers: range) -> Iterator[Row]:
    """Marginals of a flipset that was drawn by lot: how often some feature is said to differ."""
    hits = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 21])
        frame = pd.DataFrame({"x": rng.normal(size=n), "y": rng.exponential(size=n)})
        frame["few"], frame["many"] = rng.choice(["a", "b"], n), rng.choice(list("abcdefgh"), n)
        flips = np.zeros(n)
        flips[rng.choice(n, size, replace=False)] = 1.0
        scaled = {"x": True, "y": True, "few": False, "many": False}
        hits += (
            min(each.adjusted_p or 0.0 for each in marginals(frame, scaled, flips, np.ones(n), rng)) <= 0.05
        )
    yield Row("flipset", "features of a flipset by lot", setting, "false alarms", 0.05, hits, len(numbers))


def _audits(kind: str, n: int, d: int, setting: str, numbers: range) -> Iterator[Row]:
    """Whole audits, a second for the level of chance each, and how often what lies above it is covered."""
    options = FlipsetOptions(source={"group": "a"}, target={"group": "b"}, seconds=1.0, bootstrap=100)
    found = [flipset(subject(kind, n, d, seed), options, rng=seed) for seed in numbers]
    same = kind in NO_DIFFERENCE
    kind_of_row, nominal = ("false alarms", 0.05) if same else ("power", 0.8)
    hits = sum(each.verdict == EVIDENCE for each in found)
    yield Row("flipset", "evidence of a difference", setting, kind_of_row, nominal, hits, len(found))
    if kind in PLANTED:
        wrong = sum(each.verdict == NO_MATERIAL for each in found)
        shown = "no material difference, where there is one"
        yield Row("flipset", shown, setting, "false alarms", 0.05, wrong, len(found))
    ends = [each.above_chance.excess for each in found if each.above_chance is not None]
    ends = [each for each in ends if each.value is not None and each.low is not None]
    truth = float(np.mean([each.value for each in ends]))
    held = sum((each.low or 0.0) <= truth <= (each.high or 0.0) for each in ends)
    shown = "flips above chance (their mean over studies)"
    yield Row("flipset", shown, setting, "coverage", 0.95, held, len(ends))


NO_DIFFERENCE = ("alike", "hangs together otherwise", "proxy", "equal by lot")
"""Kinds of world in which evidence is a false alarm."""

PLANTED = ("turned", "turned one way", "by lot", "parents")
"""Kinds in which people with the same features are decided differently, a tenth of them or more."""


if __name__ == "__main__":
    main()
