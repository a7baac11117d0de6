"""Two groups of known kind, decided by a column: without a difference, with one, with other features."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.models import Subject
from tests.flipset.conftest import subject_of

KINDS = {
    "alike": "both groups from one distribution, one rule",
    "shifted": "the source has more of the first feature, one rule that reads it",
    "hangs together otherwise": "features correlate by .7 in the source, -.7 in the target; one rule",
    "proxy": "the source has more of the last feature, which the rule does not read",
    "turned": "alike, but a tenth of the source's people turned each way",
    "turned one way": "alike, but a tenth of the source's people turned down",
    "by lot": "the source decided by lot, the target by rank",
    "parents": "equal rates; of the parents, a fifth, 30% of the source and 70% of the target are favored",
    "equal by lot": "both decided by lot, at one rate at every level; a fifth are parents",
}


def drawn(kind: str, n: int, d: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features (2n, d), membership of the source and decisions (2n,) of `n` people a group."""
    source = np.repeat([True, False], n)
    x = rng.normal(size=(2 * n, d))
    if kind == "shifted":
        x[source, 0] += 0.5
    if kind == "proxy":
        x[source, -1] += 0.8
    if kind == "hangs together otherwise":
        for k in range(0, d - 1, 2):
            x[:, k + 1] = np.where(source, 0.7, -0.7) * x[:, k] + np.sqrt(0.51) * x[:, k + 1]
    read = x[:, :-1] if kind == "proxy" else x
    # along the sum nobody would flip: the cheapest way from one correlation to the other keeps its sign
    decided = (x[:, ::2] if kind == "hangs together otherwise" else read).sum(1) > 0
    if kind == "by lot":
        decided = np.where(source, rng.random(2 * n) < 0.25, x[:, 0] > np.quantile(x[~source, 0], 0.75))
    if kind in {"parents", "equal by lot"}:
        x[:, -1] = rng.random(2 * n) < 0.2
        gap = np.where(x[:, -1] > 0, -0.2, 0.05) * (kind == "parents")
        decided = rng.random(2 * n) < 0.5 + np.where(source, gap, -gap)
    for favored in {"turned": (True, False), "turned one way": (True,)}.get(kind, ()):
        rows = np.flatnonzero(source & (decided == favored))
        decided[rng.choice(rows, min(round(0.1 * n), len(rows)), replace=False)] = not favored
    return x, source, decided


def subject(kind: str, n: int, d: int, seed: int) -> Subject:
    """The same as a subject whose model is a column of decisions."""
    x, source, decided = drawn(kind, n, d, np.random.default_rng(seed))
    frame = pd.DataFrame(x, columns=[f"x{k}" for k in range(d)])
    return subject_of(frame.assign(group=np.where(source, "a", "b"), decision=decided.astype(int)))
