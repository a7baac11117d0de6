"""Small subjects with known truth, and audits of them that several tests read."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.sensitivity import SensitivityOptions, SensitivityResult, sensitivity
from audits.sensitivity.measurement import crossfit


def people(n: int = 1200, seed: int = 0, bias: float = 0.0) -> pd.DataFrame:
    """Draw people: `height` tells the group, `skill` does not, `town` a little; the group by `bias`."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, n)
    skill, height = rng.normal(size=n), rng.normal(size=n) + 1.5 * group
    north, other = rng.random(n) < 0.4 + 0.2 * group, np.where(rng.random(n) < 0.5, "south", "west")
    town = np.where(north, "north", other)
    odds = 1.2 * skill + 0.8 * height - 0.6 + 0.5 * (town == "west") - bias * group
    hired = (rng.random(n) < 1 / (1 + np.exp(-odds))).astype(int)
    read = {"skill": skill.round(6), "height": (170 + 10 * height).round(), "town": town}
    return pd.DataFrame({**read, "group": np.where(group, "b", "a"), "hired": hired})


def subject_of(frame: pd.DataFrame, train: str = "logistic", **data: object) -> Subject:
    usual = {"protected": ("group",), "features": ("skill", "height", "town")}
    spec = DataSpec(label="hired", favorable=1, **{**usual, **data})
    return make_subject(build_data(frame, spec), model_spec({"train": train}), seed=0)


@pytest.fixture(scope="package", autouse=True)
def _few_fits() -> Iterator[None]:
    """Cross-fit 5 times, as where people are many, in place of 20; test_crossfit.py has all of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossfit, "FEW_ROWS_FITS", crossfit.FITS)
        yield


@pytest.fixture(scope="package")
def logistic() -> Subject:
    return subject_of(people())


@pytest.fixture(scope="package")
def fed() -> Subject:
    """A model that reads the protected attribute itself."""
    return subject_of(people(1200, bias=1.5), features=("skill", "height", "town", "group"))


@pytest.fixture(scope="package")
def audited(logistic: Subject) -> SensitivityResult:
    return sensitivity(logistic, SensitivityOptions(bootstrap=100))


@pytest.fixture(scope="package")
def audited_pair(logistic: Subject) -> SensitivityResult:
    """A logistic regression compared with another."""
    return sensitivity(logistic, SensitivityOptions(bootstrap=100, status_model="logistic"))


@pytest.fixture(scope="package")
def audited_fed(fed: Subject) -> SensitivityResult:
    return sensitivity(fed, SensitivityOptions(give_protected=True, bootstrap=100))
