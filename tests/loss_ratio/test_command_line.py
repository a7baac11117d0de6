"""Bad input of a loss-ratio audit from a spec file: one sentence, exit status 2, no traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from audits.__main__ import main
from tests.loss_ratio.conftest import people

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    frame = people(200)
    frame["shared"] = 0.5
    frame.to_csv(tmp_path / "people.csv", index=False)

    def command(options: dict[str, Any], model: dict[str, Any] | None = None, **data: Any) -> tuple[int, str]:
        section = {
            "path": "people.csv",
            "label": "hired",
            "favorable": "yes",
            "protected": ["sex"],
            "features": ["hair", "skill"],
            "test_size": 0.5,
            **data,
        }
        section = {key: value for key, value in section.items() if value is not None}
        spec = {
            "data": section,
            "model": model or {"train": "logistic"},
            "audits": [{"loss_ratio": {"steps": 20, **options}}],
        }
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(spec))
        arguments = [
            "run",
            str(tmp_path / "spec.yaml"),
            "--executor",
            "inline",
            "--out",
            str(tmp_path / "out"),
        ]
        status = main(arguments)
        return status, capsys.readouterr().err

    return command


HAIR = {"metric": "expert", "free_features": ["hair"]}


@pytest.mark.parametrize(
    ("options", "more", "message"),
    [
        ({"tolerance": 1.0}, {}, "audits[0].loss_ratio.tolerance must be greater than 1"),
        ({"tolerance": 0.8}, {}, "audits[0].loss_ratio.tolerance must be greater than 1"),
        ({"step_size": 0.05}, {}, "a step size of 0.01 does not"),
        (
            {"metric": "expert", "free_features": ["hair", "skill"]},
            {},
            "must leave at least one direction that matters, but the sensitive subspace spans all 2",
        ),
        ({}, {"features": ["hair"]}, "the sensitive subspace spans the only encoded feature"),
        ({}, {"keep": [{"column": "hired", "in": ["yes"]}]}, "must have two values, but 'hired' is 'yes'"),
        (
            {},
            {"label": None, "favorable": None, "model": {"predictions": {"score": "shared"}}},
            "data.label is missing: a loss compares the model with the true outcome",
        ),
        (
            {},
            {"model": {"predictions": {"score": "shared"}}},
            "must be able to score people who do not exist, and a column of predictions cannot",
        ),
        ({**HAIR, "loss": "hinge"}, {}, "audits[0].loss_ratio.loss"),
        ({"metric": "factor", "comparable": "job", "factors": 9}, {}, "factors must be at most 2"),
        ({"metric": "explore", "comparable": "jobb"}, {}, "did you mean 'job'"),
        ({"metric": "factor", "comparable": "shared", "factors": 2}, {}, "spans all 2"),
        ({"metric": "expert", "matrix": [[1, 0], [0, -1]]}, {}, "must have no negative eigenvalue"),
        ({"metric": "expert", "directions": [{"hairr": 1}]}, {}, "did you mean 'hair'"),
        ({**HAIR, "odds_slack": 0}, {}, "odds_slack must be greater than 0"),
    ],
)
def test_bad_input_in_one_sentence(run, options, more, message):
    status, told = run(options, **more)
    assert status == 2, told
    assert message in told
    assert "Traceback" not in told


@pytest.mark.parametrize("metric", [{"metric": "factor", "factors": 1}, {"metric": "explore"}])
def test_comparable_people_from_a_spec(run, metric):
    status, told = run({**metric, "comparable": "job"})
    assert (status, told.count("Traceback")) == (0, 0), told


def test_a_model_without_gradient_runs_and_says_so(run, tmp_path):
    status, told = run({**HAIR, "steps": 5}, {"train": "forest"})
    assert status == 0, told
    assert "estimate without gradient" in (tmp_path / "out" / "results.json").read_text()
