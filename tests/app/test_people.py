"""The comparison of one person with the counterparts, held against a case worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app.flipset.comparing import compare
from app.flipset.listing import flipped_people
from audits.data import build_data, data_spec
from audits.flipset import FlipsetOptions, flipset
from audits.models import make_subject, model_spec


def small():
    people = pd.DataFrame(
        {
            "sex": ["f", "f", "m", "m"],
            "skill": [1.0, 5.0, 1.5, 5.5],
            "town": ["a", "b", "a", "a"],
            "score": [0.2, 0.9, 0.8, 0.9],
        },
        index=pd.Index([11, 12, 13, 14], name="row"),
    )
    spec = data_spec({"protected": ["sex"], "features": ["skill", "town"]})
    data = build_data(people, spec)
    subject = make_subject(data, model_spec({"predictions": {"score": "score"}}))
    options = FlipsetOptions(source={"sex": "f"}, target={"sex": "m"}, permutations=0, bootstrap=100)
    return flipset(subject, options, rng=np.random.default_rng(0)), data


def test_only_the_flipped_woman_is_listed_beside_her_counterpart() -> None:
    result, _ = small()
    table = flipped_people(result, "negative")
    assert list(table.index) == [11]
    shown = table.loc[11, ["flips", "decision", "score", "counterpart", "counterpart score"]]
    assert shown.tolist() == [1.0, "unfavorable", 0.2, 13, 0.8]
    assert flipped_people(result, "positive").empty


def test_differences_are_marked_and_signed_person_minus_counterpart() -> None:
    result, data = small()
    found = compare(result, 11, data)
    assert list(found.table.columns) == ["row 11", "row 13", "difference"]
    assert found.table.loc["decision"].tolist() == ["unfavorable", "favorable", "differs"]
    assert found.table.loc["skill"].tolist() == ["1", "1.5", "−0.500"]
    assert found.table.loc["town"].tolist() == ["a", "a", ""]
    assert found.table.loc["sex"].tolist() == ["f", "m", "differs"]
    assert found.differs == (True, True, True, True, False)
    assert found.more == 0
    assert list(found.table.index) == ["decision", "score", "sex", "skill", "town"]
    assert found.sentence == (
        "The person in row 11 is decided unfavorably, while the counterpart in row 13 is decided favorably. "
        "They differ most in sex (f, not m) and skill (1, not 1.5)."
    )
