"""The first sentence where no feature gives protected status away: it claims nothing that leans on it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from audits.sensitivity import SensitivityOptions, sensitivity
from audits.sensitivity.words import headline
from audits.stats import EVIDENCE, INSUFFICIENT, NO_MATERIAL
from tests.sensitivity.conftest import people, subject_of


@pytest.fixture(scope="module")
def of_chance():
    frame = people(600)
    frame["group"] = np.random.default_rng(5).permutation(frame["group"].to_numpy())
    options = SensitivityOptions(protected=("group",), match_set="off", bootstrap=100)
    found = sensitivity(subject_of(frame), options)
    assert found.status[0].auc.low <= 0.5
    return found


@pytest.mark.parametrize(
    ("verdict", "begins"),
    [
        (EVIDENCE, "Predictions about “b” move"),
        (NO_MATERIAL, "Nothing here gives group away beyond chance"),
        (INSUFFICIENT, "Nothing here gives group away beyond chance"),
    ],
)
def test_nothing_leans_on_what_cannot_be_told(of_chance, verdict, begins):
    said = headline(
        dataclasses.replace(of_chance, judged=dataclasses.replace(of_chance.judged, verdict=verdict))
    )
    assert said.startswith(begins)
    assert "lean about equally" not in said
    assert len(said.split()) <= 30
