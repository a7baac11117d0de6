"""Arrests: two groups that differ in one number, with everything about the audit known by theory.

Source
------
E. Black, S. Yeom, M. Fredrikson, "FlipTest: fairness testing via optimal transport", FAT* 2020, section 5.5.
Prior arrests are Geometric(1/4) − 1 in the paper's group S (here ``north``) and Geometric(1/2) − 1 in its
group S' (here ``south``). Two or more arrests mean high risk, none means low risk, and a fair coin decides at
exactly one. The coin is thrown once and stored, so that the rating is a column of the data.
The flip counts printed in the paper (2,572 of 10,000 and a mean difference of 1.44) come from its GAN
approximation; the theory here is of the exact coupling, which in one dimension joins equal ranks.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.checks import generator

COLUMNS = {
    "group": "north (more arrests) or south (fewer)",
    "prior_arrests": "number of earlier arrests, 0 or more",
    "high_risk": "the model's decision: 1 = rated high risk, 0 = rated low risk",
}
NORTH, SOUTH = 1 / 4, 1 / 2
"""Chance that the counting of arrests stops, in each group."""

_TAIL = 1e-15  # mass beyond this is left out of the sums: below the rounding of a double


def generate(n: int = 2_000, *, rng: np.random.Generator | int | None = None) -> pd.DataFrame:
    """Return 2n rows, north first, columns as in `COLUMNS`; `rng` is a source of randomness or its seed."""
    rng = generator(rng)
    arrests = np.concatenate([rng.geometric(NORTH, n) - 1, rng.geometric(SOUTH, n) - 1])
    coin = rng.random(2 * n) < 0.5
    high = (arrests >= 2) | ((arrests == 1) & coin)
    return pd.DataFrame(
        {"group": ["north"] * n + ["south"] * n, "prior_arrests": arrests, "high_risk": high.astype(int)}
    )


def theory() -> tuple[float, float, float]:
    """Return what exact transport north → south finds in an infinitely large sample.

    That is the shares of the north that are rated high and the counterpart low, and the other way round, and
    the mean of own less counterpart's arrests among the first. The coupling gives the pair (i, j) the overlap
    of the rank intervals that i arrests take up in one group and j in the other; the coin is independent.

    Examples
    --------
    >>> [round(each, 5) for each in theory()]
    [0.28125, 0.0, 1.64583]
    """
    counts = np.arange(int(np.ceil(np.log(_TAIL) / np.log(1 - min(NORTH, SOUTH)))))
    risk = np.select([counts == 0, counts == 1], [0.0, 0.5], 1.0)
    north, south = (1 - (1 - chance) ** (counts + 1) for chance in (NORTH, SOUTH))
    before_north, before_south = (np.concatenate([[0.0], ranks[:-1]]) for ranks in (north, south))
    overlap = np.minimum.outer(north, south) - np.maximum.outer(before_north, before_south)
    mass = np.clip(overlap, 0, None)  # (arrests in the north, arrests in the south)
    to_low, to_high = mass * np.outer(risk, 1 - risk), mass * np.outer(1 - risk, risk)
    apart = (to_low * np.subtract.outer(counts, counts)).sum() / to_low.sum()
    return float(to_low.sum()), float(to_high.sum()), float(apart)
