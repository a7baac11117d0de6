"""Law school: a causal model that can say what a person's grades would have been in the other group.

M. Kusner, J. Loftus, C. Russell, R. Silva, "Counterfactual fairness", NeurIPS 2017, section 5 (the model);
E. Black, S. Yeom, M. Fredrikson, "FlipTest: fairness testing via optimal transport", FAT* 2020, section 5.4
(race black or white, "top half of the class" as the outcome). sample_data/README.md states the equations.
FlipTest prints the LSAT's rate without the exponential; the authors' Stan model has it, and so have we. The
first-year average has no intercept in the Stan model, where each race has its own weight; `base` is the white
one and `base` + `black` the black one here.

The weights are ours, not a published posterior: rounded least-squares (LSAT: Poisson) fits to the white and
black applicants of the public law school data, and loadings on knowledge from the correlations of their
residuals. A Poisson LSAT spreads wider than the real one (deviation 6.6 against 4.9): that is the model's, so
is a GPA without an upper bound. Black applicants are a quarter here, 6.6% in the public data, so that a small
file holds enough of them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from audits.checks import generator

OTHER_LIVES = {"lsat": "lsat_other_race", "gpa": "gpa_other_race"}
"""Feature to the column of what it would have been: the counterfactuals of what the audited model reads."""


GPA, LSAT, FYA = (3.20, 0.14, -0.39, 0.13), (3.63, 0.068, -0.24, -0.014), (0.22, 0.33, -1.04, -0.016)
"""A line of the causal model each: base, and weights of knowledge, being black and female. LSAT's is of the
logarithm of the Poisson rate."""
GPA_DEVIATION, SHARE_BLACK = 0.37, 0.25  # the deviation of GPA is that given everything else


def generate(
    n: int = 3_000, *, rng: np.random.Generator | int | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw `n` applicants, and their knowledge, and lsat, gpa and fya had race been the other one.

    `rng` is a source of randomness or its seed.
    """
    rng = generator(rng)
    black = rng.random(n) < SHARE_BLACK
    causes = pd.DataFrame({"black": black, "female": rng.random(n) < np.where(black, 0.62, 0.42)})
    causes["knowledge"], causes["gpa_noise"] = rng.standard_normal(n), rng.standard_normal(n)
    causes["lsat_quantile"] = rng.uniform(np.nextafter(0, 1), 1, n)  # a quantile of 0 would be an LSAT of -1
    causes["fya_noise"] = rng.standard_normal(n)
    applicants, other = outcomes(causes), outcomes(causes.assign(black=~black))
    counterfactuals = other[["lsat", "gpa", "fya"]].add_suffix("_other_race")
    counterfactuals.insert(0, "knowledge", causes["knowledge"])
    return applicants, counterfactuals


def outcomes(causes: pd.DataFrame) -> pd.DataFrame:
    """Follow the causal model from its causes (n, 6) to grades (n, 5).

    A counterfactual is this function again with another race and all else kept, the quantile of the (other)
    Poisson distribution, too.
    """

    def line(base: float, knowledge: float, black: float, female: float) -> pd.Series:
        own = base + knowledge * causes["knowledge"]
        return own + black * causes["black"] + female * causes["female"]

    table = {"race": np.where(causes["black"], "black", "white").astype(object)}
    table["sex"] = np.where(causes["female"], "female", "male").astype(object)
    lsat = stats.poisson.ppf(causes["lsat_quantile"], np.exp(line(*LSAT))).astype(int)
    gpa = line(*GPA) + GPA_DEVIATION * causes["gpa_noise"]
    return pd.DataFrame(table).assign(lsat=lsat, gpa=gpa, fya=line(*FYA) + causes["fya_noise"])
