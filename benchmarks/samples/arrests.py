"""Arrests: two groups that differ in one number. What is true of them: sample_data/README.md.

E. Black, S. Yeom, M. Fredrikson, "FlipTest: fairness testing via optimal transport", FAT* 2020, section 5.5.
The coin is thrown once and stored, so that the rating is a column of the data. The paper's flip counts (2,572
of 10,000 and a mean difference of 1.44) come from its GAN; what is known by theory is of the exact coupling.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.checks import generator

NORTH, SOUTH = 1 / 4, 1 / 2
"""Chance that the counting of arrests stops, in each group: the paper's S and S'."""


def generate(n: int = 2_000, *, rng: np.random.Generator | int | None = None) -> pd.DataFrame:
    """Return 2n rows, north first; `rng` is a source of randomness or its seed."""
    rng = generator(rng)
    arrests = np.concatenate([rng.geometric(NORTH, n) - 1, rng.geometric(SOUTH, n) - 1])
    coin = rng.random(2 * n) < 0.5
    high = (arrests >= 2) | ((arrests == 1) & coin)
    return pd.DataFrame(
        {"group": ["north"] * n + ["south"] * n, "prior_arrests": arrests, "high_risk": high.astype(int)}
    )
