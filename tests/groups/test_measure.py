"""Which measure fits: it leads, is checked against the data, and stays in the spec."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.groups.inference import most_telling
from audits.runs.execute import execute
from audits.runs.spec import parse_spec
from tests.refused import refused


def _run(folder: Path, *, label: bool = True, **change):
    """People of whom b are chosen less often, err on more often, and turn out better where chosen."""
    rng = np.random.default_rng(1)
    group, good = rng.choice(["a", "b"], 3000), rng.random(3000) < 0.5
    rate = np.where(group == "a", np.where(good, 0.9, 0.5), np.where(good, 0.6, 0.1))
    chosen = (rng.random(3000) < rate).astype(int)
    table = pd.DataFrame({"group": group, "good": good.astype(int), "chosen": chosen})
    table.to_csv(folder / "people.csv", index=False)
    data = {
        "path": "people.csv",
        "favorable": 1,
        "protected": ["group"],
        **({"label": "good"} if label else {}),
    }
    asked = {"model": {"predictions": {"label": "chosen"}}, "audits": [{"groups": {"bootstrap": 0}}]}
    spec = parse_spec({"data": data, **asked, **change}, folder)
    return execute(spec), spec


@pytest.mark.parametrize(
    ("measure", "rates"),
    [
        ("equal_rates", {"selection_rate"}),
        ("equal_errors", {"true_positive_rate", "false_positive_rate"}),
        ("calibration", {"precision"}),
    ],
)
def test_the_measure_asked_for_leads_and_comes_back(tmp_path, measure, rates):
    run, spec = _run(tmp_path, measure=measure)
    result = run.audits[0].result
    assert most_telling(result.table, measure)[2] in rates
    row = next(each for each in result.table if not each.is_reference)
    decisive = {gap.estimate.value for name, gap in row.differences.items() if name in rates}
    assert result.judged.interval.value in decisive
    assert parse_spec(spec.to_dict(), tmp_path) == spec
    assert spec.to_dict()["measure"] == measure
    stated = any("Four-fifths" in name for name in run.audits[0].section.facts)
    assert stated == (measure == "equal_rates")


@pytest.mark.parametrize(
    ("measure", "label", "where"),
    [
        ("amounts", True, "audits[0].groups.measure"),
        ("equal_errors", False, "audits[0].groups.measure"),
        ("fairness", True, "measure"),
    ],
)
def test_what_the_data_do_not_allow_is_refused(tmp_path, measure, label, where):
    with refused(where):
        _run(tmp_path, label=label, measure=measure)
