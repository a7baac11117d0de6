"""Of forty headers as public tables have them, outcome and good answer are right, or are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from audits.data import describe, read_table
from audits.data.role_guesses import guess_good_answer, guess_outcome

ASK = "ask"
CORPUS = yaml.safe_load((Path(__file__).parent / "headers.yaml").read_text(encoding="utf-8"))


def _column(kind: str, rng: np.random.Generator, n: int) -> np.ndarray:
    if kind == "#":
        return np.arange(7, 7 + n)
    if kind == "~":
        return rng.normal(50, 12, n).round(2)
    if kind == "@":
        return np.array([f"text {chr(97 + k % 26)} of row {k}" for k in range(n)])
    if kind == "d":
        return np.array([f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}" for k in range(n)])
    if "|" in kind:
        return rng.choice(kind.split("|"), n)
    low, high = map(int, kind.rsplit("-", 1))
    return rng.integers(low, high + 1, n)


def _outcome(folder: Path, header: dict[str, str]) -> tuple[Any, Any]:
    """The outcome and its good answer as proposed for a table on disk."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({name: _column(kind, rng, 240) for name, kind in header.items()})
    path = folder / "people.csv"
    frame.to_csv(path, index=False)
    table = read_table(path)
    guess = guess_outcome(describe(table)["columns"], rows=len(table.frame))
    if guess.column is None:
        assert guess.why
        return ASK, None
    answer = guess_good_answer(
        sorted(table.frame[guess.column].dropna().unique().tolist(), key=str), guess.column
    )
    return guess.column, ASK if answer.value is None else answer.value


def _same(found: Any, good: Any) -> bool:
    return str(found).lower() == str(good).lower() or (str(found), str(good)) in {
        ("True", "TRUE"),
        ("False", "N"),
    }


def test_the_corpus_is_right_or_asked(tmp_path: Path) -> None:
    right, wrong, asked = [], [], []
    for case in CORPUS:
        name, outcome, good = case["name"], case["outcome"], case["good"]
        found = _outcome(tmp_path, case["columns"])
        if found[0] == ASK:
            (right if outcome == ASK else asked).append(name)
        elif found[0] != outcome:
            wrong.append((name, found))
        elif found[1] == ASK:
            (right if good == ASK else asked).append(name)
        elif _same(found[1], good):
            right.append(name)
        else:
            wrong.append((name, found))
    assert len(CORPUS) >= 40
    assert not wrong, wrong
    assert len(right) >= 36, asked


@pytest.mark.parametrize(
    "answers", [["no", "yes"], ["No", "Yes"], [False, True], ["N", "Y"], ["FALSE", "TRUE"]]
)
def test_yes_to_harm_is_never_good(answers) -> None:
    for name in ("deny", "injury", "arrested", "readmitted", "is_fraud", "charged"):
        assert str(guess_good_answer(answers, name).value) == str(answers[0]), name
    assert str(guess_good_answer(answers, "hired").value) == str(answers[1])
