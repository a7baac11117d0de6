"""The paper's section 6 on COMPAS in small: the pattern that larger runs show (benchmarks/papers)."""

from __future__ import annotations

from pathlib import Path

import pytest

from audits.data import DataSpec, build_data, read_table
from audits.models import make_subject, model_spec
from audits.sensitivity import SensitivityOptions, sensitivity

pytestmark = pytest.mark.shared


def test_the_audit_of_compas(shared_data: Path):
    features = ("age", "priors_count", "c_charge_degree", "sex")
    spec = DataSpec(label="two_year_recid", favorable=0, protected=("race", "sex"), features=features)
    data = build_data(read_table(shared_data / "compas.csv"), spec)
    options = SensitivityOptions(protected="race", status_model="logistic", bootstrap=100)
    found = sensitivity(make_subject(data, model_spec({"train": "logistic"})), options)
    assert found.rows["used"] == 2164
    black = next(group for group in found.status[0].groups if group.group == "African-American")
    assert 0.6 < black.auc.low < black.auc.high < 0.75
    assert found.by_feature[0].feature in {"age", "priors_count"}
    assert found.match_set is None
