"""Data of published experiments, drawn as their authors drew them."""

from __future__ import annotations

import numpy as np


def lipton_hiring(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (work, hair) of `n` women and `n` men, z-scored over both: Lipton et al. (2018), FlipTest §5.3.

    NumPy's legacy generator, seeded 0 for work and 1 for hair, is what the reference code draws with.
    """
    random = np.random.RandomState(0)
    work_men = random.poisson(31, n) - random.normal(20, 0.2, n)
    work_women = random.poisson(25, n) - random.normal(20, 0.2, n)
    random = np.random.RandomState(1)
    hair_men, hair_women = 35 * random.beta(2, 7, n), 35 * random.beta(2, 2, n)
    people = np.column_stack([np.r_[work_women, work_men], np.r_[hair_women, hair_men]])
    people = (people - people.mean(axis=0)) / people.std(axis=0)
    return people[:n], people[n:]
