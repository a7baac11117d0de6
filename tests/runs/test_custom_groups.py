"""A group made of rules leaves the model, who is held out, and what other audits found as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.runs.execute import execute
from audits.runs.spec import parse_spec

YOUNG = {"young": {"where": [{"column": "age", "below": 30}]}}


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    """900 people of 500 persons, many alike in all that a model sees and not in their age."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 900),
            "x": rng.normal(size=900).round(),
            "age": rng.integers(18, 70, 900),
            "who": rng.integers(0, 500, 900),
        }
    )
    frame["hired"] = (frame["x"] + 0.4 * (frame["sex"] == "m") + rng.normal(size=900) > 0).astype(int)
    return frame


@pytest.mark.parametrize(("kind", "persons"), [("logistic", {"person": "who"}), ("forest", {})])
def test_a_group_made_changes_nothing_that_was_found_before(people, tmp_path, kind, persons) -> None:
    audits = [{"groups": {"by": ["sex"]}}]
    before = run(people, tmp_path, kind, audits, **persons)
    after = run(people, tmp_path, kind, audits, protected=["sex", "young"], recode=YOUNG, **persons)
    for ours, theirs in zip(found(before), found(after), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-12)


def test_who_of_a_made_group_is_held_out_hangs_on_no_order_and_no_form_of_the_table(people, tmp_path) -> None:
    audits = [{"groups": {"by": ["young"]}}]
    made = {"protected": ["sex", "young"], "recode": YOUNG}
    counts = people.groupby(["sex", "x", "age", "hired"]).size().reset_index(name="n")
    tables = [
        run(people, tmp_path, "logistic", audits, **made),
        run(people.sample(frac=1, random_state=1), tmp_path, "logistic", audits, **made),
        run(counts, tmp_path, "logistic", audits, weights="n", **made),
    ]
    assert found(tables[0]) == found(tables[1]) == found(tables[2])


def found(run: Any) -> list[tuple[float | None, ...]]:
    """Return size, rate and its interval of each group, in one order."""
    rows = sorted(run.audits[0].result.table, key=lambda row: row.group)
    return [(row.n, *(getattr(row.selection_rate, end) for end in ("value", "low", "high"))) for row in rows]


def run(frame: pd.DataFrame, folder: Any, kind: str, audits: list[dict[str, Any]], **data: Any) -> Any:
    frame.to_csv(folder / "t.csv", index=False)
    told = {"path": "t.csv", "label": "hired", "favorable": 1, "protected": ["sex"], "features": ["x"]}
    document = {"data": told | data, "model": {"train": kind}, "audits": audits}
    return execute(parse_spec(document, folder))
