"""What a flipset audit says, in a table of situations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.flipset import FlipsetOptions, flipset
from audits.flipset.text import interval_words
from audits.models import make_subject, model_spec
from tests.sentences import all_read_well


def _crowd(ours: str, theirs: str, lower: float, n: int = 40, m: int = 40) -> pd.DataFrame:
    """People of two groups, the first that much lower; the score follows from x alone."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=n + m) - lower * (np.arange(n + m) < n)
    frame = pd.DataFrame({"x": x.round(3), "who": [ours] * n + [theirs] * m, "part": np.arange(n + m) % 2})
    return frame.assign(score=1 / (1 + np.exp(-frame["x"])), part=frame["part"].map({0: "Other", 1: "1"}))


SAME = _crowd("south", "north", 0.0)
SITUATIONS: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
    "fewer than by chance": (SAME, {}),
    "a large gap": (_crowd("south", "north", 2.0), {"permutations": 199}),
    "numbers and Other": (_crowd("Other", "1", 0.8), {}),
    "no and yes": (_crowd("no", "yes", 0.8), {}),
    "made groups": (_crowd("reached", "everyone else", 0.8), {}),
    "60 letters": (_crowd("a" * 60, "b" * 60, 0.8), {}),
    "nobody": (SAME.assign(score=0.1), {}),
    "everybody": (SAME.assign(score=0.9), {}),
    "one person": (SAME.assign(score=np.where(SAME.index == SAME["x"][:40].idxmax(), 0.9, 0.1)), {}),
    "exactly equal": (pd.concat([SAME[:40], SAME[:40].assign(who="north")], ignore_index=True), {}),
    "parts of people": (_crowd("Other", "1", 0.8, 40, 27), {}),
    "two people": (_crowd("south", "north", 0.8, 2, 9), {}),
    "without chance": (SAME, {"permutations": 0}),
    "within values": (_crowd("Other", "1", 1.5), {"condition_on": "part"}),
    "left without a counterpart": (_crowd("Other", "1", 1.5), {"transport": "unbalanced"}),
    "again": (_crowd("Other", "1", 0.5), {"repeats": 4}),
    "a blurred coupling": (_crowd("Other", "1", 0.0), {"transport": "entropic"}),
    "risks": (_crowd("south", "north", -1.0), {"reverse": True}),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_sentence_reads_well(name: str) -> None:
    frame, options = SITUATIONS[name]
    spec = {"protected": ["who"], "features": ["x"], "kinds": {"who": "categorical", "part": "categorical"}}
    data = build_data(frame.astype({"who": str}), data_spec(spec))
    subject = make_subject(data, model_spec({"predictions": {"score": "score"}}), threshold=0.5)
    given = {"permutations": 19, "noise_people": 60, **options}
    who = frame["who"].iloc[0], frame["who"].iloc[-1]
    chosen = FlipsetOptions(source={"who": who[0]}, target={"who": who[1]}, **given)
    result = flipset(subject, chosen, rng=0)
    told = " ".join([*all_read_well("flipset", result), interval_words(result.judged)])
    assert "-point" in told or "−" not in interval_words(result.judged), "less is said in words"
    if name == "fewer than by chance":
        assert "less than that (" in result.finding
    if name == "one person":
        assert "1 of 40 south people gets the favorable decision while" in told
    if name in {"nobody", "everybody"}:
        assert result.finding.startswith("None of 40 south people ")
