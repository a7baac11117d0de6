"""The comparison of one person with the counterparts, compared with a case worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from app.flipset.people import match_of
from app.flipset.people_table import flipped_people
from app.widgets.people.person import pair_words
from audits.data import build_data, data_spec
from audits.flipset import FlipsetOptions, flipset
from audits.models import make_subject, model_spec


def test_only_the_flipped_woman_is_listed_beside_her_counterpart() -> None:
    people = pd.DataFrame(
        {"sex": ["f", "f", "m", "m"], "skill": [1.0, 5.0, 1.5, 5.5], "town": list("abaa")},
        index=pd.Index([11, 12, 13, 14], name="row"),
    ).assign(score=[0.2, 0.9, 0.8, 0.9])
    data = build_data(people, data_spec({"protected": ["sex"], "features": ["skill", "town"]}))
    subject = make_subject(data, model_spec({"predictions": {"score": "score"}}))
    options = FlipsetOptions(source={"sex": "f"}, target={"sex": "m"}, permutations=0, bootstrap=100)
    result = flipset(subject, options, rng=np.random.default_rng(0))
    table = flipped_people(result, "negative")
    assert list(table.index) == [11]
    shown = table.loc[11, ["flips", "decision", "score", "counterpart", "counterpart score"]]
    assert shown.tolist() == [1.0, "unfavorable", 0.2, 13, 0.8]
    assert flipped_people(result, "positive").empty
    found = match_of(result, 11)
    assert (found.row, found.favorable, found.score, found.more) == (13, True, 0.8, "")


def test_amounts_of_four_digits_have_separators_beside_years_that_have_none() -> None:
    assert pair_words(pd.Series([9900, 16_900])) == ["9,900", "16,900"]
    assert pair_words(pd.Series([2024, 1998])) == ["2024", "1998"]
    assert pair_words(pd.Series([0.25, 3])) == ["0.25", "3"]
