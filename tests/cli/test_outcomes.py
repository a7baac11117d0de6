"""Outcome transport on the command line: every kind of comparison, and what is odd as a warning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from audits.runs.execute import execute
from audits.runs.spec import parse_spec


def people() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"skill": rng.normal(size=80), "luck": rng.normal(size=80)})
    frame["sex"] = rng.choice(["f", "m"], 80)
    frame["score"] = rng.random(80).round(2)
    frame["hired"] = (frame["skill"] + 0.3 * rng.normal(size=80) > 0).astype(int)
    return frame


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
    people().to_csv(tmp_path / "people.csv", index=False)
    data = {"path": "people.csv", "label": "hired", "favorable": 1, "protected": ["sex"]}
    data["features"] = ["skill", "luck"]
    audits = [{"outcome_transport": {"permutations": 19, "draws": 0, **options}} for options, _, _ in KINDS]
    spec = parse_spec({"data": data, "model": {"train": "logistic"}, "audits": audits}, tmp_path)
    found = [audit.result for audit in execute(spec).audits]
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
