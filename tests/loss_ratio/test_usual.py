"""What is moved along where nobody has chosen leaves a direction that matters."""

from __future__ import annotations

import numpy as np
import pandas as pd

from audits.data import DataSpec, build_data
from audits.loss_ratio.metrics.selection import usual_options


def _data(features: tuple[str, ...], protected: tuple[str, ...] = ("race", "sex")):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "race": rng.choice(["a", "b"], 60),
            "sex": rng.choice(["f", "m"], 60),
            "one": rng.normal(size=60),
            "two": rng.normal(size=60),
            "town": rng.choice(["x", "y", "z"], 60),
            "y": np.arange(60) % 2,
        }
    )
    return build_data(
        frame, DataSpec(label="y", favorable=1, protected=list(protected), features=list(features))
    )


def test_attributes_are_taken_while_a_direction_is_left() -> None:
    # race and sex are features, and each takes one direction of the two numbers: both would take all
    assert usual_options(_data(("one", "two", "race", "sex"))) == {"sensitive": ["race"]}
    assert usual_options(_data(("one", "two", "town", "race", "sex"))) == {"sensitive": ["race", "sex"]}
    assert usual_options(_data(("one", "two"))) == {"sensitive": ["race"]}


def test_of_one_number_only_what_the_model_reads_itself_can_be_free() -> None:
    told = {"metric": "expert", "free_features": ["race"]}
    assert usual_options(_data(("one", "race"), ("race",))) == told
    assert usual_options(_data(("one",), ("race",))) is None
    assert usual_options(_data(("race",), ("race",))) is None
