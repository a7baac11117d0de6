"""The first sentence of every audit, over the situations in which sentences go wrong."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from audits.flipset import words as flipset_words
from audits.runs.executors.pool import InlineExecutor
from audits.stats.words import out_of, people_in

MOST_WORDS = 38
N = 120
WHO = {
    "two groups": ["female", "male"],
    "a number and Other": ["Other", "1"],
    "long names": [
        "people of the northern upper district, counted in the last census of 1991",
        "people of the southern lower district, counted in the last census of 1991",
    ],
    "twenty groups": [f"group {letter}{letter}" for letter in "abcdefghijklmnopqrst"],
}
CUTS = {"nobody": 2.0, "everybody": -1.0, "one person": None, "half": 0.5}


def _people(values: list[str]) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    who = np.arange(N) % len(values)
    x = rng.normal(size=(N, 2)) + (who % 2)[:, None] * 0.6
    score = 1 / (1 + np.exp(-x[:, 0] - 0.5 * x[:, 1]))
    return pd.DataFrame(
        {
            "who": np.array(values)[who],
            "skill": x[:, 0].round(4),
            "years": x[:, 1].round(4),
            "label": (rng.random(N) < score).astype(int),
            "score": score.round(6),
        }
    )


def _sentences(
    folder: Path, table: pd.DataFrame, model: dict, threshold: float, audits: list, **more: object
) -> list[str]:
    table.to_csv(folder / "people.csv", index=False)
    data = {
        "path": "people.csv",
        "label": "label",
        "favorable": 1,
        "protected": ["who"],
        "kinds": {"who": "categorical"},
        "features": ["skill", "years"],
        **more,
    }
    spec = {"data": data, "model": model, "threshold": threshold, "seed": 0, "audits": audits}
    found = InlineExecutor().submit(spec, folder).result()
    for audit in found.audits:
        folded = re.search(r"(?<!“)\bOther people|\b1 people(?! are)", audit.result.finding)
        assert not folded, f"a value as a word: {audit.result.finding}"
    return [audit.headline for audit in found.audits]


def _reads_well(sentence: str) -> None:
    assert len(sentence.split()) <= MOST_WORDS, sentence
    assert sentence[0].isupper() or sentence[0].isdigit(), sentence
    assert sentence.endswith("."), sentence
    assert not re.search(r"[-−]0\.?0*(?!\d)|favour|\bNone\b (?!of)|nan|\binf\b", sentence), sentence
    assert not re.search(r"\d\.\d+ (?:of|people|others)|of \d+\.\d", sentence), (
        f"part of a person: {sentence}"
    )
    assert not re.search(r"(?<!“)\bOther people|\b[01] people", sentence), f"a value as a word: {sentence}"
    assert "permutation" not in sentence
    assert "Wasserstein" not in sentence


@pytest.mark.parametrize(
    ("who", "cut"),
    [
        *(("two groups", cut) for cut in CUTS),
        ("a number and Other", "half"),
        ("long names", "half"),
        ("twenty groups", "one person"),
    ],
)
def test_of_stored_scores(tmp_path: Path, who: str, cut: str) -> None:
    table = _people(WHO[who])
    threshold = float(table["score"].max()) if CUTS[cut] is None else CUTS[cut]
    first, second = WHO[who][:2]
    told = _sentences(
        tmp_path,
        table,
        {"predictions": {"score": "score"}},
        threshold,
        [
            {"groups": {}},
            {"flipset": {"source": {"who": first}, "target": {"who": second}, "permutations": 19}},
            {"rule_sets": {"protected": ["who"], "permutations": 19, "support": 0.01}},
            {"explain": {"source": {"who": first}, "target": {"who": second}}},
            {"barycenter": {"fewest": 2, "permutations": 39, "seconds": 0.5}},
            *(
                [{"outcome_transport": {"by": ["who"], "against": "label", "permutations": 19}}]
                * (cut == "half")
            ),
        ],
    )
    for sentence in told:
        _reads_well(sentence)
    if cut in {"nobody", "everybody"}:
        assert told[0].startswith(cut.capitalize())
        assert "None of 60 female people get another answer" in told[1]


@pytest.mark.parametrize(
    ("who", "cut"),
    [
        ("two groups", 0.6),
        ("two groups", 0.0),
        ("two groups", 1.0),
        ("a number and Other", 0.6),
        ("long names", 0.6),
    ],
)
def test_of_a_model(tmp_path: Path, who: str, cut: float) -> None:
    table = _people(WHO[who]).drop(columns="score")
    told = _sentences(
        tmp_path,
        table,
        {"train": "logistic"},
        cut,
        [
            *(
                [{"recourse": {"actionable": ["skill"], "by": ["who"], "steps": [0, 1], "permutations": 19}}]
                * (0 < cut < 1)  # else it says that there is nobody to help, or nobody to be like
            ),
            {"sensitivity": {"protected": "who", "match_set": "off", "status_model": "logistic"}},
            {"loss_ratio": {"steps": 10, "metric": "expert", "free_features": ["years"]}},
        ],
    )
    for sentence in told:
        _reads_well(sentence)


def test_long_names_are_cut_where_they_are_alike() -> None:
    """The ninth word tells these apart: from their beginning they could be either."""
    ours, theirs = (f"people who were counted in the old town's {side} district in 1991" for side in "ab")
    for us, them, _ in flipset_words._sides(SimpleNamespace(source=ours, target=theirs)):
        assert " a district" in us.replace("…", " ")
        assert them == "others" or " b district" in them.replace("…", " ")


def test_whole_people_and_values_as_values() -> None:
    assert [out_of(k, 120) for k in (0, 1, 119, 120)] == ["none of 120", "1 of 120", "119 of 120", "all 120"]
    assert out_of(119.8, 120.2) == "119 of 120", "somebody is missing"
    assert people_in("Other") == "people in “Other”"
    assert people_in("Black") == "Black people"
