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

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Theory:
    """What exact transport north → south finds in an infinitely large sample.

    Attributes
    ----------
    high_risk_north, high_risk_south : float
        Share of each group that is rated high risk.
    flips_to_low : float
        Share of the source group that is rated high risk while the counterpart is rated low risk.
    flips_to_high : float
        Share flipped the other way.
    mean_difference : float
        Mean of own less counterpart's arrests among the people in `flips_to_low`.
    """

    high_risk_north: float
    high_risk_south: float
    flips_to_low: float
    flips_to_high: float
    mean_difference: float


def generate(n: int = 2_000, *, rng: np.random.Generator | int | None = None) -> pd.DataFrame:
    """Draw `n` people of each group and rate them.

    Parameters
    ----------
    n : int
        People of each group, at least 1.
    rng : Generator or int, optional
        Source of randomness, or its seed (default 0).

    Returns
    -------
    DataFrame
        2n rows, north first, columns as in `COLUMNS`.
    """
    rng = generator(rng)
    arrests = np.concatenate([rng.geometric(NORTH, n) - 1, rng.geometric(SOUTH, n) - 1])
    coin = rng.random(2 * n) < 0.5
    high = (arrests >= 2) | ((arrests == 1) & coin)
    return pd.DataFrame(
        {"group": ["north"] * n + ["south"] * n, "prior_arrests": arrests, "high_risk": high.astype(int)}
    )


def theory() -> Theory:
    """Return the exact values.

    The coupling gives the pair (i, j) the overlap of the rank intervals that i arrests take up in one group
    and j in the other. Where the coin decides on a side it is independent of the counterpart's.

    Examples
    --------
    >>> result = theory()
    >>> round(result.flips_to_low, 12), round(result.flips_to_high, 12), round(result.mean_difference, 3)
    (0.28125, 0.0, 1.646)
    """
    counts = np.arange(int(np.ceil(np.log(_TAIL) / np.log(1 - min(NORTH, SOUTH)))))
    risk = np.select([counts == 0, counts == 1], [0.0, 0.5], 1.0)
    north, south = (1 - (1 - chance) ** (counts + 1) for chance in (NORTH, SOUTH))
    before_north, before_south = (np.concatenate([[0.0], ranks[:-1]]) for ranks in (north, south))
    overlap = np.minimum.outer(north, south) - np.maximum.outer(before_north, before_south)
    mass = np.clip(overlap, 0, None)  # (arrests in the north, arrests in the south)
    to_low = mass * np.outer(risk, 1 - risk)
    difference = np.subtract.outer(counts, counts)
    return Theory(
        high_risk_north=(1 - NORTH) ** 2 + NORTH * (1 - NORTH) / 2,
        high_risk_south=(1 - SOUTH) ** 2 + SOUTH * (1 - SOUTH) / 2,
        flips_to_low=float(to_low.sum()),
        flips_to_high=float((mass * np.outer(1 - risk, risk)).sum()),
        mean_difference=float((to_low * difference).sum() / to_low.sum()),
    )
