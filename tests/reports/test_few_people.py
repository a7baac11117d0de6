"""A handful of people: every audit refuses in a sentence, or is drawn, printed and read back as any other."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from audits.reports.card import render_card
from audits.reports.html import render_report
from audits.runs.executors.inline import InlineExecutor
from audits.runs.registry import AUDITS

A, B = {"group": "a"}, {"group": "b"}
FEW = {
    "groups": {},
    "flipset": {"source": A, "target": B, "permutations": 99, "seconds": 1, "repeats": 3},
    "explain": {"source": A, "target": B},
    "barycenter": {"fewest": 2, "permutations": 39, "seconds": 1},
    "loss_ratio": {"sensitive": ["group"], "steps": 5},
    "outcome_transport": {"by": ["group"], "source": A, "target": B, "permutations": 99},
    "recourse": {"actionable": ["skill"], "permutations": 99},
    "rule_sets": {"permutations": 99},
    "attribute_swap": {},
    "sensitivity": {"protected": "group", "bootstrap": 100, "permutations": 99},
    "mitigation": {},
}


def test_every_audit_is_tried():
    assert set(FEW) == set(AUDITS.ours)


@pytest.mark.parametrize("sizes", [(9, 9), (1, 30)], ids=str)
@pytest.mark.parametrize("name", list(FEW))
def test_a_handful_of_people(name, sizes, tmp_path):
    rng = np.random.default_rng(5)
    n = sum(sizes)
    frame = pd.DataFrame({"group": np.repeat(["a", "b"], sizes), "skill": rng.normal(size=n).round(1)})
    frame["town"], frame["score"] = rng.choice(["x", "y"], n), rng.random(n).round(2)
    frame["paid"] = np.arange(n) % 2
    frame.to_csv(tmp_path / "people.csv", index=False)
    data = {"path": "people.csv", "label": "paid", "favorable": 1, "protected": ["group"]}
    model = {"predictions": {"score": "score"}}
    if name in {"loss_ratio", "recourse", "attribute_swap", "sensitivity", "mitigation"}:
        model = {"train": "logistic"}
    spec = {
        "data": {**data, "features": ["skill", "town"], "test_size": 0.9},
        "model": model,
        "audits": [{name: FEW[name]}],
    }
    run = InlineExecutor().submit(spec, tmp_path)
    if run.error is not None:
        assert run.error.kind == "input", run.error.details
        return
    found = run.result()
    for text in (render_report(found), render_card(found), found.audits[0].headline):
        assert not re.search(r" None (?!of \d)", text)
        assert not re.search(r"(?<!\.)\bnan\b", text)  # Plotly has a property of that name
