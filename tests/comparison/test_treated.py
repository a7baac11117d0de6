"""The first model treated by mitigation as the second one, and audits that are paired or stand beside."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.reports.html import render_report
from audits.runs.comparison.changes import Changes
from audits.runs.execute import execute
from audits.runs.result import RunResult
from audits.runs.spec import parse_spec
from tests.refused import refused

TREATED = {"treated": {"protected": ["g"], "amounts": [0.2]}}
LABEL = {"predictions": {"label": "paid"}}
MITIGATION = {"mitigation": TREATED["treated"] | {"also": {}, "level": 0.1, "measure": "true_positive_rate"}}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """900 people of three groups; the smallest had been refused more often."""
    folder = tmp_path_factory.mktemp("treated")
    rng = np.random.default_rng(1)
    group, skill = rng.choice(list("abc"), 900, p=[0.5, 0.3, 0.2]), rng.normal(size=900)
    paid = (skill + rng.normal(size=900) - 1.2 * (group == "c") > 0).astype(int)
    frame = pd.DataFrame({"g": group, "skill": skill, "hours": rng.integers(1, 60, 900), "paid": paid})
    frame.to_csv(folder / "people.csv", index=False)
    return folder


def spec(*audits: Any, **changes: Any) -> dict[str, Any]:
    data = {"path": "people.csv", "label": "paid", "favorable": 1, "protected": ["g"]}
    data["features"] = ["skill", "hours", "g"]
    return {"data": data, "model": {"train": "logistic"}, "audits": list(audits)} | changes


@pytest.fixture(scope="module")
def found(base: Path) -> RunResult:
    return execute(parse_spec(spec(MITIGATION, "groups", compare=TREATED), base))


def row(found: RunResult, place: int, where: str) -> Any:
    return next(each for each in found.compared.changes.audits[place].rows if each.where == where)


def test_the_treated_model_is_the_one_that_mitigation_chose(found: RunResult) -> None:
    mitigation, changes = found.audits[0].result, found.compared.changes
    step = mitigation.steps[mitigation.chosen]
    assert mitigation.chosen > 0
    group = row(found, 1, "table[g: c].selection_rate")
    assert group.second.value == pytest.approx(step.favorable_in.value)
    assert group.first.value == pytest.approx(mitigation.steps[0].favorable_in.value)
    assert any(f"{step.added} " in note for note in changes.notes)


def test_an_audit_that_is_not_paired_stands_beside_and_counts_in_no_correction(found: RunResult) -> None:
    changes = found.compared.changes
    told = changes.audits[0]
    assert told.judged.interval.low is None
    assert told.rows
    assert all(each.change.low is None and each.change.method for each in told.rows)
    own = found.audits[0].result.steps[0].accuracy.value
    assert row(found, 0, "steps[0].accuracy").first.value == own
    rest = Changes(changes.models, changes.audits[1:])
    assert [each.verdict for each in rest.across()] == [each.verdict for each in changes.across()][1:]
    assert told.headline in html.unescape(render_report(found, template="comparison"))


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        ({"compare": {**TREATED, "model": {"train": "mlp"}}}, ("compare", "model", "treated")),
        ({"compare": {"treated": {"also": {}}}}, ("compare.treated.also", "audits")),
        ({"compare": {"treated": {"amounts": [2]}}}, ("compare.treated.amounts[0]", "2")),
        ({"compare": {"treated": {"support": 0.9}}}, ("compare.treated.support", "0.9")),
        ({"compare": TREATED, "model": LABEL}, ("compare.treated", "model: {train: logistic}")),
    ],
)
def test_what_is_wrong_with_the_treatment_is_told(base: Path, change: Any, refusal: Any) -> None:
    with refused(*refusal):
        execute(parse_spec(spec("groups", **change), base))
