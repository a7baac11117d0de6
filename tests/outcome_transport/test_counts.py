"""Weights are counts: what a table of counts says about chance is what its people, one by one, say."""

from __future__ import annotations

import numpy as np

from tests.outcome_transport.conftest import crowd, scored
from tests.outcome_transport.subjects import A, B, flows_of


def test_p_values_of_counts_are_those_of_the_people():
    """A difference that 40 rows cannot show, and the 600 people in them can."""
    frame = crowd(40, seed=4).assign(weight=np.random.default_rng(4).integers(10, 20, 40))
    frame["score"] += 0.15 * (frame["group"] == "a")
    people = frame.loc[frame.index.repeat(frame["weight"])].reset_index(drop=True).drop(columns="weight")
    for table, data in ((frame, {"weights": "weight"}), (people, {}), (frame, {})):
        found = flows_of(scored(table, **data), source=A, target=B, draws=0).distance_p_value
        assert (found <= 0.01) == (len(table) > 40 or bool(data))
