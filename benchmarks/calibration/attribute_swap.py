"""Do the verdicts and intervals of changing one word hold for people like those audited?

Everybody is drawn with chances of gaining and of losing by the change; what is stated is held against these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from audits.data import DataSpec, build_data
from audits.models.subject import subject_of
from audits.stats import EVIDENCE, NO_MATERIAL
from benchmarks.calibration import SLOW, Facts, alarm, audited, covers, found, grid
from benchmarks.measuring import Scorer

_TRAITS = ("as_woman", "as_man", "e")


class World(NamedTuple):
    """Chances of gaining and losing of women as men, in the town and in a part of it of so many people."""

    n: int
    gain: float
    loss: float
    part: float = 0.0
    gain_part: float = 0.0
    counts: bool = False
    read: bool = True

    def share(self, sign: int) -> float:
        """Share of all women whose decision changes (1), or net share of those who gain (-1)."""
        return (1 - self.part) * (self.gain + sign * self.loss) + self.part * self.gain_part

    @property
    def material(self) -> bool:
        """Whether an all-clear would be false: at or beyond its limits, or of what is not read."""
        large = self.part >= 0.1 and self.gain_part >= 0.2  # what the verdict rules cover
        return not self.read or abs(self.share(-1)) >= 0.1 or self.share(1) >= 0.2 or large


def planted(frame: pd.DataFrame) -> np.ndarray:
    """Score people, whose decisions change by what was drawn of each, where the model reads their sex."""
    woman = frame["sex"] == "f" if "sex" in frame else np.ones(len(frame), dtype=bool)
    yes = np.where(woman, frame["as_woman"], frame["as_man"])
    return 0.25 + 0.5 * yes + np.where(woman, 0.0, frame["e"])


def people(world: World, rng: np.random.Generator) -> pd.DataFrame:
    """Draw people and what they are decided as either; with `counts` a row for all of one kind."""
    n = world.n
    inside, u = rng.random(n) < world.part, rng.random(n)
    gains = u < np.where(inside, world.gain_part, world.gain)
    loses = ~gains & ~inside & (u < world.gain + world.loss)
    base = rng.random(n) < 0.5
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "part": np.where(inside, "isle", "town"),
            "as_woman": (loses | (base & ~gains)).astype(int),
            "as_man": (gains | (base & ~loses)).astype(int),
            "e": rng.choice([-0.05, 0.05], n) if world.counts else rng.normal(0, 0.05, n),
        }
    )
    return frame.groupby(list(frame)).size().rename("times").reset_index() if world.counts else frame


def _audit(world: World, number: int) -> Facts:
    spec = DataSpec(
        protected=("sex", "part") if world.part else ("sex",),
        features=("sex", *_TRAITS),
        weights="times" if world.counts else None,
        kinds={"e": "continuous"},
    )
    data = build_data(people(world, np.random.default_rng([number, world.n])), spec)
    model = Scorer(("sex", *_TRAITS) if world.read else _TRAITS, planted, "planted")
    subject = subject_of(data, model, threshold=0.5, score_kind="number")
    told = audited("attribute_swap", subject, 0, attribute=["sex"])
    null = world.gain == world.loss and not (world.part and world.gain_part)
    yield found("evidence of a difference", told.verdict == EVIDENCE, no_difference=null)
    cleared = told.verdict == NO_MATERIAL
    if world.material:
        yield alarm("no material difference, where there is one", cleared)
    else:
        yield found("no material difference", cleared)
    for shown, name, truth in (
        ("net share, all groups together", "net", world.share(-1)),
        ("share changed, all groups together", "changed", world.share(1)),
        ("mean score change, all groups together", "mean_score_change", world.share(-1) / 2),
    ):
        held = True  # by the interval of women as men, and by that of men as women
        for row in (each for each in told.swaps if not each.within):
            stated = getattr(row, name)
            own = truth if row.source == "f" or name == "changed" else -truth
            held &= stated.low is None or stated.low - 1e-12 <= own <= (stated.high or 0.0) + 1e-12
        yield covers(shown, held)


_WORLDS = {
    "400 people, the model does not read it": World(400, 0.0, 0.0, read=False),
    "60 people, read but nothing changes": World(60, 0.0, 0.0),
    "60 people, 8% gain": World(60, 0.08, 0.0),
    "60 people, 10% gain and 10% lose": World(60, 0.1, 0.1),
    "400 people, 3% gain and 3% lose": World(400, 0.03, 0.03),
    "400 people, 4% gain": World(400, 0.04, 0.0),
    "400 people, 10% gain": World(400, 0.1, 0.0),
    "2,000 people, 10% gain": World(2000, 0.1, 0.0),
    "2,000 people, 11% gain and 1% lose": World(2000, 0.11, 0.01),
    "2,000 people, 30% gain and 30% lose": World(2000, 0.3, 0.3),
    "2,000 people, 10% gain and 10% lose": World(2000, 0.1, 0.1),
    "2,000 people, 1% gain": World(2000, 0.01, 0.0),
    "2,000 people, nobody gains but 20% of a tenth": World(2000, 0.0, 0.0, 0.1, 0.2),
    "2,000 people, nobody gains but 40% of 4%": World(2000, 0.0, 0.0, 0.04, 0.4),
    "2,000 people in rows of many, 3% gain and 3% lose": World(2000, 0.03, 0.03, counts=True),
    "2,000 people in rows of many, 4% gain": World(2000, 0.04, 0.0, counts=True),
}
SETTINGS = grid("attribute_swap", "{world}", _audit, world=_WORLDS, part=SLOW)
