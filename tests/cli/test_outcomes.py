"""Outcome transport and recourse on the command line: bad input is one sentence, oddities are warnings."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from audits.runs.documents import load_document
from audits.runs.execute import execute
from audits.runs.spec import parse_spec

FLOWS = {"outcome_transport": {"permutations": 19, "draws": 0}}
RECOURSE = {"recourse": {"permutations": 19}}


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"skill": rng.normal(size=80), "luck": rng.normal(size=80)})
    frame["sex"] = rng.choice(["f", "m"], 80)
    frame["score"] = rng.random(80).round(2)
    frame["hired"] = (frame["skill"] + 0.3 * rng.normal(size=80) > 0).astype(int)
    return frame


def spec_of(folder: Path, audit: dict, frame: pd.DataFrame | None = None, **changes: object) -> Path:
    (people() if frame is None else frame).to_csv(folder / "people.csv", index=False)
    data = {
        "path": "people.csv",
        "label": "hired",
        "favorable": 1,
        "protected": ["sex"],
        "features": ["skill", "luck"],
        "roles": {"actionable": ["skill"]},
        **changes.pop("data", {}),
    }
    document = {"data": data, "model": {"train": "logistic"}, "seed": 0, "audits": [audit], **changes}
    path = folder / "spec.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


BAD = [
    (
        RECOURSE,
        {"data": {"roles": {}}},
        "roles.actionable must name at least one column that the model reads",
    ),
    (RECOURSE, {"threshold": 0.0}, "has nobody to help: the model accepts everyone audited"),
    (
        {"recourse": {"actionable": ["score"]}},
        {},
        "names only columns that the model does not read ('score')",
    ),
    (
        {"outcome_transport": {"source": "rejected", "target": "accepted"}},
        {"threshold": 0.0},
        "nobody in the audited data is in 'rejected'",
    ),
    (
        {"outcome_transport": {"source": {"sex": "f"}, "target": {"sex": "m"}, "outcome": "probability"}},
        {"model": {"predictions": {"score": "luck"}}, "data": {"features": ["skill"]}},
        "which must lie in [0, 1]",
    ),
    (
        {"outcome_transport": {"against": {"score": "luck"}}},
        {"data": {"features": ["skill"]}},
        "which must lie in [0, 1]",
    ),
]


@pytest.mark.parametrize(("audit", "changes", "words"), BAD)
def test_bad_input_is_one_sentence(cli, tmp_path, audit, changes, words):
    answer = cli("run", spec_of(tmp_path, audit, **changes), "--executor", "inline")
    assert answer.status == 2
    assert words in answer.err
    assert "Traceback" not in answer.err
    assert len(answer.err.strip().splitlines()) == 1


def warnings_of(cli, tmp_path: Path, spec: Path) -> list[str]:
    answer = cli("run", spec, "--out", tmp_path / "out", "--executor", "inline")
    assert answer.status == 0, answer.err
    found: list[str] = json.loads((tmp_path / "out" / "results.json").read_text())["audits"][0]["warnings"]
    return found


def test_identical_outcomes_and_groups_of_one_are_said(cli, tmp_path):
    frame = people().assign(score=0.25)
    frame.loc[0, "sex"] = "x"
    groups = {"source": {"sex": "f"}, "target": {"sex": "m"}}
    audit = {"outcome_transport": {**FLOWS["outcome_transport"], **groups}}
    same = spec_of(tmp_path, audit, frame, model={"predictions": {"score": "score"}})
    assert any("All outcomes are the same" in text for text in warnings_of(cli, tmp_path, same))
    alone = spec_of(tmp_path, FLOWS, frame, model={"predictions": {"label": "hired"}})
    found = warnings_of(cli, tmp_path, alone)
    assert any("One person alone says nothing about a group: “x" in text for text in found)


def test_a_role_for_a_column_that_the_model_does_not_read_warns(cli, tmp_path):
    spec = spec_of(tmp_path, RECOURSE, data={"roles": {"actionable": ["skill", "score"]}})
    found = warnings_of(cli, tmp_path, spec)
    assert any("does not read 'score': changing it cannot help" in text for text in found)


KINDS = [
    ({"against": "label"}, "two policies", "decision"),
    ({"against": "equal_opportunity"}, "two policies", "decision"),
    ({"against": {"train": "forest"}}, "two policies", "probability"),
    ({"against": {"score": "score"}}, "two policies", "probability"),
    ({"against": {"label": "hired"}}, "two policies", "decision"),
    ({"source": {"sex": "f"}, "target": {"sex": "m"}}, "two groups", "probability"),
    ({"source": {"sex": "f"}, "target": {"sex": {"not": "f"}}}, "two groups", "probability"),
    ({"source": "rejected", "target": "accepted"}, "two groups", "probability"),
]


def test_every_kind_of_comparison_runs_from_a_spec(tmp_path):
    document = load_document(spec_of(tmp_path, FLOWS))
    document["audits"] = [
        {"outcome_transport": {"permutations": 19, "draws": 0, **options}} for options, _, _ in KINDS
    ]
    found = [audit.result for audit in execute(parse_spec(document, tmp_path)).audits]
    assert [(one.comparison, one.outcome) for one in found] == [(sides, kind) for _, sides, kind in KINDS]
    for one in found:
        assert sum(map(sum, one.flows.mass)) == pytest.approx(1.0)
        assert one.finding
    label, fair = found[0], found[1]
    assert found[4].wasserstein.value == label.wasserstein.value  # the label by its role, and as a column
    # of those who deserve it each group gets as large a share, or nearer to that than by the model
    deserve = label.people["outcome"] == 1
    gaps = []
    for side in (fair.people, fair.counterparts):
        rates = side[deserve].groupby("group")["outcome"].mean()
        assert set(rates.index) == {"f", "m"}
        gaps.append(rates.max() - rates.min())
    assert gaps[0] <= gaps[1]
