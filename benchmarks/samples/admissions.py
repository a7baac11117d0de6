"""Admissions to Blue College: equal rates, two very different rules. More in sample_data/README.md.

L. Kwegyir-Aggrey, R. Santorella, S. M. Brown, "Everything is relative: understanding fairness with optimal
transport", 2021, section 4.1. Every pupil of the expensive School A is admitted with the same chance, the
*rule* (25% there; also 10% and 50%); of School B exactly the top share of the class by grade is. The paper
gives no distribution of grades and no sizes: ours are 4·Beta(9, 3) in both schools, so that all the
difference lies in the policy.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.checks import generator


def generate(
    n: int = 200, *, years: int = 5, rule: float = 0.25, rng: np.random.Generator | int | None = None
) -> pd.DataFrame:
    """Draw `n` applicants of each school for each year, and admit the share `rule` by the two policies.

    Of School B the best ``floor(rule * n)`` get in. `rng` is a source of randomness or its seed.
    """
    rng = generator(rng)
    gpa = 4 * rng.beta(9, 3, (years, 2, n))
    places = int(np.floor(rule * n + 1e-9))  # 0.29 * 100 is a hair under 29 in floating point
    rank = np.argsort(np.argsort(-gpa[:, 1], axis=-1, kind="stable"), axis=-1)
    chance = np.full_like(gpa, rule)
    chance[:, 1] = rank < places
    admitted = rng.random(gpa.shape) < chance
    year, school, _ = np.indices(gpa.shape).reshape(3, -1)
    people = pd.DataFrame({"year": year + 1, "school": np.array(["A", "B"], dtype=object)[school]})
    return people.assign(gpa=gpa.ravel(), chance=chance.ravel(), admitted=admitted.ravel().astype(int))


def wasserstein(rule: float) -> float:
    """Return the distance between the schools' outcomes, ``√2 · 2 · rule · (1 − rule)``.

    Outcomes are the probability vectors (admitted, refused) and the cost their Euclidean distance (Eq. 10).
    School A sits at `rule` whole; School B has the share `rule` at 1 and the rest at 0. Never 0 for a rule
    strictly between 0 and 1, and shrinking as the rule goes to 0: the paper's Figure 2.
    """
    return float(np.sqrt(2)) * 2 * rule * (1 - rule)
