"""Blue College (section 4.1, Figure 2): disparate impact sees nothing, the Wasserstein distance does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.checks import generator
from audits.outcome_transport.matching.outcomes import match_outcomes
from benchmarks.samples import admissions


def blue_college(
    rules: Sequence[float] = (0.1, 0.25, 0.5),
    *,
    years: int = 30,
    n: int = 200,
    rng: np.random.Generator | int | None = None,
) -> pd.DataFrame:
    """Simulate years of admissions under several rules, and measure both criteria.

    Parameters
    ----------
    rules : sequence of float
        Share of applicants that each rule admits, in [0, 1].
    years : int
        At least 1.
    n : int
        Applicants of each school a year, at least 1.
    rng : Generator or int, optional
        Source of randomness, or its seed (default 0); each rule starts from it again.

    Returns
    -------
    DataFrame
        One row a rule and year: ``impact`` is Eq. 14's ratio in that year, School B over School A (NaN where
        School A admits nobody), ``impact_so_far`` the ratio over all years up to it, ``distance_so_far`` the
        Wasserstein distance between the schools' outcomes so far, ``distance`` that year's, ``limit`` the
        distance by theory.

    Examples
    --------
    >>> last = blue_college([0.25], years=5, n=100).iloc[-1]
    >>> round(float(last["distance_so_far"]), 4), round(float(last["limit"]), 4)
    (0.5303, 0.5303)
    """
    seed = generator(rng).integers(2**63)
    frames = []
    for rule in rules:
        people = admissions.generate(n, years=years, rule=rule, rng=np.random.default_rng(seed))
        frames.append(_measured(people, rule, years))
    return pd.concat(frames, ignore_index=True)


def _measured(people: pd.DataFrame, rule: float, years: int) -> pd.DataFrame:
    rows = []
    for year in range(1, years + 1):
        told = {"rule": rule, "year": year, "limit": admissions.wasserstein(rule)}
        for words, some in (("", people["year"] == year), ("_so_far", people["year"] <= year)):
            told[f"impact{words}"], told[f"distance{words}"] = _impact(people[some]), _distance(people[some])
        rows.append(told)
    return pd.DataFrame(rows)


def _impact(people: pd.DataFrame) -> float:
    """Eq. 14: School B's rate of admission over School A's."""
    rate = {school: people.loc[people["school"] == school, "admitted"].mean() for school in ("A", "B")}
    return float(rate["B"] / rate["A"]) if rate["A"] > 0 else float("nan")


def _distance(people: pd.DataFrame) -> float:
    """Eq. 8 with Eq. 10's cost: distance of the schools' chances as vectors (p, 1 - p)."""
    sides = [
        people.loc[people["school"] == school, "chance"].to_numpy()[:, None] * np.sqrt(2.0)
        for school in ("A", "B")
    ]
    return match_outcomes(*sides).cost
