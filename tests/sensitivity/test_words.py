"""What a sensitivity audit says, in a table of situations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.models import make_subject, model_spec
from audits.sensitivity import SensitivityOptions, sensitivity
from audits.sensitivity.text import person_sentence
from tests.sentences import all_read_well


def _crowd(names: list[str], n: int = 120, apart: float = 1.5) -> pd.DataFrame:
    """People of some groups, every other of which lies higher in x."""
    rng = np.random.default_rng(7)
    who = np.arange(n) % len(names)
    frame = pd.DataFrame({"x": rng.normal(size=n) + apart * (who % 2), "z": rng.normal(size=n)}).round(3)
    good = rng.random(n) < 1 / (1 + np.exp(-frame["x"] - frame["z"]))
    return frame.assign(who=np.array(names, dtype=object)[who], y=good.astype(int))


TWO = _crowd(["south", "north"])
SITUATIONS: dict[str, tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]] = {
    "numbers and Other": (_crowd(["Other", "1"]), {}, {}),
    "no and yes": (_crowd(["no", "yes"]), {}, {}),
    "nothing tells": (_crowd(["south", "north"], apart=0.0), {}, {}),
    "too few": (TWO[:64], {}, {}),
    "a group of few": (TWO.assign(who=TWO["who"].where(TWO.index > 7, "Other")), {}, {}),
    "60 letters": (_crowd(["a" * 60, "b" * 60]), {}, {}),
    "parts of people": (TWO.assign(w=0.55), {"weights": {"column": "w", "kind": "counts"}}, {}),
    "missing": (TWO.assign(who=TWO["who"].where(TWO.index % 5 > 0)), {}, {}),
    "a threshold of one's own": (TWO, {}, {"threshold": 0.2}),
    "nobody above": (TWO, {}, {"threshold": 1e6}),
    "read itself, and copied": (
        TWO,
        {"features": ["x", "z", "who"]},
        {"match_set": "auto", "gradient": "literal", "give_protected": True},
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_sentence_reads_well(name: str) -> None:
    frame, more, options = SITUATIONS[name]
    spec = {"label": "y", "favorable": 1, "protected": ["who"], "features": ["x", "z"]}
    data = build_data(frame, data_spec({**spec, "kinds": {"who": "categorical"}, **more}))
    subject = make_subject(data, model_spec({"train": "logistic"}), threshold=0.5, test_size=0.5)
    asked = {"match_set": "off", "bootstrap": 100, **options}
    result = sensitivity(subject, SensitivityOptions(**asked), rng=0)
    told = all_read_well("sensitivity", result)
    told.append(person_sentence(result, result.people.index[0]))
    assert not [each for each in told if each.startswith("A ") or " A's " in each or "good as A" in each]
    assert "points on average" in " ".join(told)
    if name == "nobody above":
        assert "0% of people (none of 60) are above the threshold of 1,000,000. " in result.finding
    if name == "too few":
        assert any("(at least " in each for each in told)
