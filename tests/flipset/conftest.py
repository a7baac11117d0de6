"""Small real subjects for flipset tests: decisions lie in a column of the data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from audits.checks import build
from audits.data import DataSpec, build_data
from audits.flipset import FlipsetOptions, FlipsetResult, flipset
from audits.flipset.comparisons import conditional_test
from audits.models import Subject, make_subject, model_spec
from audits.progress import Progress, silent


def audited(
    subject: Subject, *, rng: int | None = None, progress: Progress = silent, **options: object
) -> FlipsetResult:
    """Run the audit with options as a spec gives them."""
    options = {"bootstrap": 100, **options}
    return flipset(subject, build(FlipsetOptions, options, "flipset"), rng=rng, progress=progress)


def subject_of(frame: pd.DataFrame, **data: object) -> Subject:
    """Return a subject whose model is the column ``decision`` (1 is favorable)."""
    features = tuple(name for name in frame.columns if name not in {"group", "decision", "label", "weight"})
    spec = DataSpec(
        label=data.pop("label", "decision"),
        favorable=1,
        protected=("group",),
        features=data.pop("features", features),
        **data,
    )
    return make_subject(build_data(frame, spec), model_spec({"predictions": {"label": "decision"}}))


def draw_crowd(
    n: int, m: int, *, d: int = 2, seed: int = 0, ties: bool = False, weights: bool = False
) -> Subject:
    """Two random groups of people, of any size, features, ties and weights."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n + m, d)) + np.r_[np.zeros(n), np.ones(m)][:, None]
    frame = pd.DataFrame(np.round(x) if ties else x, columns=[f"x{k}" for k in range(d)])
    frame["group"] = ["a"] * n + ["b"] * m
    frame["decision"] = (rng.uniform(size=n + m) < 1 / (1 + np.exp(-x.sum(1)))).astype(int)
    # both classes of the label must occur
    frame.loc[[0, 1], "decision"] = [0, 1]
    if weights:
        frame["weight"] = rng.integers(1, 5, n + m)
        return subject_of(frame, weights="weight")
    return subject_of(frame)


@pytest.fixture(scope="package", autouse=True)
def _small_kernels() -> Iterator[None]:
    """Compare people alike among at most 200 of a group, not 500: a twelfth of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conditional_test, "MAX_OVERLAP", 200)
        yield
