"""What a rule-set audit says, in a table of situations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.models import make_subject, model_spec
from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.rule_sets.text import headline
from audits.stats import INSUFFICIENT, NO_MATERIAL
from tests.sentences import all_read_well


def _crowd(sizes: dict[str, tuple[int, int]]) -> pd.DataFrame:
    """People of each group: so many favored, of so many."""
    parts = [
        pd.DataFrame({"who": name, "score": np.where(np.arange(n) < good, 0.9, 0.1), "y": np.arange(n) % 2})
        for name, (good, n) in sizes.items()
    ]
    return pd.concat(parts, ignore_index=True)


SITUATIONS: dict[str, tuple[pd.DataFrame, dict[str, Any], dict[str, Any]]] = {
    "may be chance": (_crowd({"south": (20, 60), "north": (30, 60)}), {}, {}),
    "evidence": (_crowd({"1": (300, 500), "Other": (20, 300)}), {}, {}),
    "nobody": (_crowd({"south": (0, 60), "north": (0, 70)}), {}, {}),
    "everybody": (_crowd({"south": (60, 60), "north": (70, 70)}), {}, {}),
    "one person": (_crowd({"south": (1, 60), "north": (0, 60)}), {}, {}),
    "a group of one": (_crowd({"south": (20, 60), "Other": (1, 1)}), {}, {}),
    "exactly equal": (_crowd({"south": (30, 60), "north": (30, 60)}), {}, {}),
    "equal, many": (_crowd({"south": (1500, 3000), "north": (1500, 3000)}), {}, {}),
    "three": (_crowd({"south": (10, 60), "north": (40, 60), "Other": (30, 60)}), {}, {}),
    "twenty": (_crowd({f"group {name}": (3, 12) for name in "abcdefghijklmnopqrst"}), {}, {}),
    "60 letters": (_crowd({"a" * 60: (9, 30), "b" * 60: (20, 30)}), {}, {}),
    "parts of people": (
        _crowd({"a": (20, 60), "b": (30, 60)}).assign(w=0.55),
        {"weights": {"column": "w", "kind": "counts"}},
        {},
    ),
    "missing": (_crowd({"a": (20, 60), "b": (30, 60), "none": (5, 9)}).replace("none", None), {}, {}),
    "errors, too": (
        _crowd({"south": (20, 60), "north": (30, 60)}),
        {},
        {"measures": ("false_negative_rate", "log_loss")},
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_sentence_reads_well(name: str) -> None:
    frame, more, options = SITUATIONS[name]
    spec = {
        "label": "y",
        "favorable": 1,
        "protected": ["who"],
        "features": [],
        "kinds": {"who": "categorical"},
    }
    data = build_data(frame, data_spec({**spec, **more}))
    subject = make_subject(data, model_spec({"predictions": {"score": "score"}}), threshold=0.5)
    result = rule_sets(subject, RuleSetsOptions(permutations=99, support=0.01, **options), rng=0)
    all_read_well("rule_sets", result)
    if name in {"nobody", "everybody"}:
        assert headline(result) == f"{name.capitalize()} gets the favorable decision, so no group stands out."
        assert result.verdict == NO_MATERIAL
    if name == "may be chance":
        assert result.verdict == INSUFFICIENT
    if name == "a group of one":
        assert "of at least 1 person" in result.finding
