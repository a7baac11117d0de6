"""Hiring by work experience and hair length: the synthetic data of Lipton et al.

Z. Lipton, A. Chouldechova, J. McAuley, "Does mitigating ML's impact disparity require treatment disparity?",
NeurIPS 2018, section 4.1 (the distributions); E. Black, S. Yeom, M. Fredrikson, "FlipTest: fairness testing
via optimal transport", FAT* 2020, section 5.3 (the linear model and its flipsets). The draws follow the order
of FlipTest's public experiment with NumPy's legacy generator, whose streams are frozen, so the published
people come out one by one and the flipset counts can be checked to the person. FlipTest's text swaps the
names of the two weights: the larger one belongs to work experience.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.samples.onnx_graph import Graph


class LinearModel(NamedTuple):
    """Hire when ``work * z_work + hair * z_hair > cut``; z is standardized over both genders together."""

    work: float
    hair: float
    cut: float


PUBLISHED = {10_000: LinearModel(1.4028, 1.1688, 0.8684), 1_000: LinearModel(1.2956, 1.0862, 0.8668)}
"""People of each gender -> the model that FlipTest's public experiment trained on that many."""


def generate(n: int = 1_000, *, seed: int = 0) -> pd.DataFrame:
    """Draw `n` men and `n` women, men first, in raw units.

    Men: Poisson(31) − Normal(20, 0.2) years of work, hair 35·Beta(2, 7); women: Poisson(25) − Normal(20, 0.2)
    years, hair 35·Beta(2, 2). Qualified with chance 1 / (1 + exp(25.5 − 2.5·work)). `seed` is of the work
    experience, ``seed + 1`` of hair and qualification; 0 gives the published people.
    """
    work = np.random.RandomState(seed)
    men = work.poisson(31, n) - work.normal(20, 0.2, n)
    women = work.poisson(25, n) - work.normal(20, 0.2, n)
    rest = np.random.RandomState(seed + 1)
    hair = 35 * np.concatenate([rest.beta(2, 7, n), rest.beta(2, 2, n)])
    years = np.concatenate([men, women])
    qualified = rest.uniform(size=2 * n) < 1 / (1 + np.exp(25.5 - 2.5 * years))
    people = pd.DataFrame({"gender": ["male"] * n + ["female"] * n, "work_years": years})
    return people.assign(hair_length=hair, qualified=qualified.astype(int))


def onnx_model(people: pd.DataFrame, weights: LinearModel) -> bytes:
    """Return an ONNX file of the model that reads the raw columns and gives the chance of being hired.

    The z-scores of `people` are folded into the weights, so the file scores anyone on that scale. Its output,
    a logistic function of the linear score, is above 0.5 exactly where the linear model hires.
    """
    graph = Graph("hiring")
    terms, offset = [], -weights.cut
    for column, weight in (("work_years", weights.work), ("hair_length", weights.hair)):
        values = people[column].to_numpy()
        slope = float(weight / values.std())
        terms.append(graph.op("Mul", graph.number(column), slope))
        offset -= slope * float(values.mean())
    return graph.to_bytes(graph.op("Sigmoid", graph.add([*terms, offset]), name="chance_of_hiring"))
