"""What a loss-ratio audit says, in a table of situations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.loss_ratio.text import headline, person_sentence
from audits.models import make_subject, model_spec
from tests.sentences import all_read_well


def _crowd(names: list[str], n: int = 160, apart: float = 1.5) -> pd.DataFrame:
    """People of some groups, every other of which lies higher in x."""
    rng = np.random.default_rng(7)
    who = np.arange(n) % len(names)
    frame = pd.DataFrame({"x": rng.normal(size=n) + apart * (who % 2), "z": rng.normal(size=n)}).round(3)
    pay = (100 + 10 * frame["x"] + 5 * rng.normal(size=n)).round(1)
    good = rng.random(n) < 1 / (1 + np.exp(-frame["x"] - frame["z"]))
    return frame.assign(who=np.array(names, dtype=object)[who], y=good.astype(int), pay=pay)


TWO = _crowd(["south", "north"])
LEARNED: dict[str, Any] = {"metric": "learned", "free_features": ()}
NUMBER = {"label": {"column": "pay", "at_least": 100}, "favorable": True}
SITUATIONS: dict[str, tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]] = {
    "numbers and Other": (_crowd(["Other", "1"]), {}, LEARNED),
    "nothing tells": (_crowd(["south", "north"], apart=0.0), {}, LEARNED),
    "nothing moves": (TWO, {}, {"step_size": 1e-9}),
    "evidence": (TWO, {}, {"steps": 400, "free_features": ("x",)}),
    "too few": (TWO[:30], {}, {}),
    "twenty": (_crowd([f"group {name}" for name in "abcdefghijklmnopqrst"]), {}, {}),
    "60 letters": (_crowd(["a" * 60, "b" * 60]), {}, {}),
    "parts of people": (TWO.assign(w=0.55), {"weights": {"column": "w", "kind": "counts"}}, {}),
    "missing": (TWO.assign(who=TWO["who"].where(TWO.index % 5 > 0)), {}, LEARNED),
    "a number": (TWO, NUMBER, {}),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_sentence_reads_well(name: str) -> None:
    frame, more, options = SITUATIONS[name]
    spec = {"label": "y", "favorable": 1, "protected": ["who"], "features": ["x", "z"]}
    data = build_data(frame, data_spec({**spec, "kinds": {"who": "categorical"}, **more}))
    model = {"train": "logistic", **({"predict": "label"} if name == "a number" else {})}
    subject = make_subject(data, model_spec(model), test_size=0.5)
    asked = {"metric": "expert", "free_features": ("z",), "steps": 5, **options}
    result = loss_ratio(subject, LossRatioOptions(**asked), rng=0)
    told = [*all_read_well("loss_ratio", result), person_sentence(result, result.worst[0])]
    assert "1.00 times as large" not in headline(result)
    if name == "nothing moves":
        assert "leaves the score at" in told[-1]
    if name == "nothing tells":
        assert "that tell who no better than chance, or hardly in others" in result.finding
