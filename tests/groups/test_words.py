"""What a group comparison says, in a table of situations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.data import build_data, data_spec
from audits.groups import GroupsOptions, groups
from audits.groups.words import interval_words
from audits.models import make_subject, model_spec
from tests.sentences import all_read_well


def _crowd(sizes: dict[str, tuple[int, int]]) -> pd.DataFrame:
    """People of each group: so many favored, of so many."""
    parts = [
        pd.DataFrame({"who": name, "score": np.where(np.arange(n) < good, 0.9, 0.1), "y": np.arange(n) % 2})
        for name, (good, n) in sizes.items()
    ]
    return pd.concat(parts, ignore_index=True)


SITUATIONS: dict[str, tuple[pd.DataFrame, dict[str, Any]]] = {
    "a beginning in small letters": (_crowd({"south": (20, 60), "north": (30, 60)}), {}),
    "nobody": (_crowd({"south": (0, 60), "north": (0, 70)}), {}),
    "everybody": (_crowd({"south": (60, 60), "north": (70, 70)}), {}),
    "one person": (_crowd({"south": (1, 60), "north": (0, 60)}), {}),
    "all but one": (_crowd({"south": (59, 60), "north": (60, 60)}), {}),
    "a group of one": (_crowd({"south": (20, 60), "Other": (1, 1)}), {}),
    "numbers and Other": (_crowd({"1": (200, 500), "Other": (20, 300)}), {}),
    "no and yes": (_crowd({"no": (20, 60), "yes": (30, 60)}), {}),
    "made groups": (_crowd({"reached": (20, 60), "everyone else": (30, 60)}), {}),
    "exactly equal": (_crowd({"south": (30, 60), "north": (30, 60)}), {}),
    "exactly equal, many": (_crowd({"south": (1500, 3000), "north": (1500, 3000)}), {}),
    "three alike": (_crowd(dict.fromkeys(("a", "Other", "c"), (1500, 3000))), {}),
    "twenty": (_crowd({f"group {name}": (3, 12) for name in "abcdefghijklmnopqrst"}), {}),
    "60 letters": (_crowd({"a" * 60: (9, 30), "b" * 60: (20, 30)}), {}),
    "parts of people": (
        _crowd({"south": (20, 60), "north": (30, 60)}).assign(w=0.55),
        {"weights": {"column": "w", "kind": "counts"}},
    ),
    "less than one person": (
        _crowd({"south": (2, 6), "north": (3, 6)}).assign(w=0.01),
        {"weights": {"column": "w", "kind": "counts"}},
    ),
    "missing": (_crowd({"south": (20, 60), "north": (30, 60), "none": (5, 9)}).replace("none", None), {}),
    "a number in bins": (
        _crowd({"20": (20, 60), "40": (30, 60)}).astype({"who": float}),
        {"bins": {"who": [18.0, 30.0, 60.0]}, "kinds": {}},
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_every_sentence_reads_well(name: str) -> None:
    frame, more = SITUATIONS[name]
    spec: dict[str, Any] = {
        "label": "y",
        "favorable": 1,
        "protected": ["who"],
        "features": [],
        "kinds": {"who": "categorical"},
    }
    data = build_data(frame, data_spec({**spec, **more}))
    subject = make_subject(data, model_spec({"predictions": {"score": "score"}}), threshold=0.5)
    result = groups(subject, GroupsOptions(bootstrap=0), rng=0)
    told = " ".join([*all_read_well("groups", result), interval_words(result)])
    assert " minus " not in told or "minus that of" in told
    if name in {"exactly equal", "three alike"}:
        assert "rarer" not in told
    if name == "numbers and Other":
        assert "people in “Other” minus that of people in “who 1”" in result.finding
