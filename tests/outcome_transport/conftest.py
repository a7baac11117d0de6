"""Small real subjects and arrays for the outcome audits' tests."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec


def scored(frame: pd.DataFrame, *, threshold: float = 0.5, **data: object) -> Subject:
    """Return a subject whose model is the column ``score`` (higher is better)."""
    outside = {"group", "score", "label", "weight"}
    spec = DataSpec(
        label=data.pop("label", "label" if "label" in frame.columns else None),
        favorable=1 if "label" in frame.columns else None,
        protected=data.pop("protected", ("group",)),
        features=data.pop("features", tuple(name for name in frame.columns if name not in outside)),
        **data,
    )
    model = model_spec({"predictions": {"score": "score"}})
    return make_subject(build_data(frame, spec), model, threshold=threshold)


def crowd(n: int, *, seed: int = 0, ties: bool = True, groups: str = "ab") -> pd.DataFrame:
    """Random people: two features, a group, a score (few different ones with `ties`), a label."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"x": rng.normal(size=n), "z": rng.integers(0, 4, n).astype(float)})
    frame["group"] = rng.choice(list(groups), n)
    score = rng.integers(0, 5, n) / 4 if ties else rng.random(n)
    frame["score"] = score
    frame["label"] = (rng.random(n) < 0.2 + 0.6 * score).astype(int)
    frame.loc[[0, 1], "label"] = [0, 1]
    frame.loc[[0, 1], "group"] = list(groups)[:2]
    return frame


def lp_range(
    costs: np.ndarray, values: np.ndarray, a: np.ndarray, b: np.ndarray
) -> tuple[float, float, float]:
    """The slow obvious way: least cost, then smallest and largest mean of `values` at that cost."""
    n, m = costs.shape
    a, b = a / a.sum(), b / b.sum()
    rows = np.kron(np.eye(n), np.ones(m))
    columns = np.kron(np.ones(n), np.eye(m))
    marginals, masses = np.vstack([rows, columns])[:-1], np.concatenate([a, b])[:-1]
    scale = max(float(costs.max()), 1e-300)
    least = linprog(costs.ravel() / scale, A_eq=marginals, b_eq=masses, method="highs")
    bound = {"A_ub": costs.ravel()[None] / scale, "b_ub": [least.fun + 1e-10]}
    ends = []
    for sign in (1.0, -1.0):
        found = linprog(sign * values.ravel(), A_eq=marginals, b_eq=masses, method="highs", **bound)
        assert found.success, found.message
        ends.append(sign * found.fun)
    return least.fun * scale, ends[0], ends[1]
