"""Rule sets from the command line: what is refused or said of awkward input, and texts end to end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from audits.runs.documents import dump_yaml
from tests.cli.test_bad_input import refused

FAST = {"permutations": 99, "samples": 0}


@pytest.fixture
def folder(tmp_path) -> Path:
    """2,000 people of two towns; those of the south with no area on record are always refused."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "town": rng.choice(["north", "south"], 2000),
            "area": rng.choice(["a", "b", None], 2000, p=[0.5, 0.3, 0.2]),
            "postcode": [f"p{place}" for place in range(2000)],
            "income": (1e5 * rng.random(2000)).round(2),
            "skill": rng.normal(size=2000).round(3),
        }
    )
    refused_ = (frame["town"] == "south") & frame["area"].isna()
    frame["score"] = np.where(refused_, 0.1, rng.random(2000)).round(4)
    frame["paid"] = (rng.random(2000) < frame["score"]).astype(int)
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def change(folder: Path, **columns: Any) -> None:
    pd.read_csv(folder / "people.csv").assign(**columns).to_csv(folder / "people.csv", index=False)


def spec(folder: Path, audit: str = "rule_sets", *, data=None, model=None, **options: Any) -> Path:
    section = {
        "path": "people.csv",
        "label": "paid",
        "favorable": 1,
        "protected": ["town", "area"],
        "features": ["skill"],
        **(data or {}),
    }
    document = {
        "data": {key: value for key, value in section.items() if value is not None},
        "model": model or {"predictions": {"score": "score"}},
        "audits": [{audit: options}],
    }
    (folder / "spec.yaml").write_text(dump_yaml(document), encoding="utf-8")
    return folder / "spec.yaml"


def run(cli, path: Path):
    return cli("run", path, "--out", path.parent / "out", "--executor", "inline", "--no-save")


def audited(cli, path: Path) -> dict[str, Any]:
    """Run a spec that must succeed and return its audit's part of results.json."""
    answer = run(cli, path)
    assert answer.status == 0, answer.err
    document = json.loads((path.parent / "out" / "results.json").read_text(encoding="utf-8"))
    found = document["audits"][0]
    return found.get("result", found)


def test_a_support_that_no_group_has_names_one_that_would_do(cli, folder):
    answer = run(cli, spec(folder, support=0.95, **FAST))
    refused(answer, "audits[0].rule_sets.support", "0.95")
    would_do = float(re.findall(r"0\.\d+", answer.err.replace("0.95", ""))[0])
    found = audited(cli, spec(folder, support=would_do, **FAST))
    assert len(found["leaderboard"]) == 1
    answer = run(cli, spec(folder, support=round(would_do + 1e-3, 4), **FAST))
    refused(answer, "audits[0].rule_sets.support", would_do)


def test_weights_that_add_up_to_one_are_no_evidence(cli, folder):
    """Shares for weights: 2,000 rows that stand for one person tell nothing, and that is said."""
    change(folder, weight=1 / 2000)
    found = audited(cli, spec(folder, data={"weights": {"column": "weight", "kind": "counts"}}, **FAST))
    assert found["verdict"] == "insufficient evidence"
    assert min(row["adjusted_p"] for row in found["leaderboard"]) == 1.0
    assert any("2,000" in each and "1.00" in each for each in found["warnings"])


def test_half_weights_are_half_the_people(cli, folder):
    """Weights of one half keep every tenth of the evidence that half as many people have."""
    change(folder, weight=0.5)
    found = audited(cli, spec(folder, data={"weights": {"column": "weight", "kind": "counts"}}, **FAST))
    first = found["leaderboard"][0]
    assert (found["n"], first["adjusted_p"], first["verdict"]) == (1000, 0.01, "evidence of a difference")
    assert found["warnings"]


def talk(path: Path, **columns: Any) -> pd.DataFrame:
    """1,200 texts; those with "gay" are called toxic more often than others."""
    rng = np.random.default_rng(2)
    who = rng.choice(["gay", "male", "Muslims", "christian", "neighbour"], 1200)
    mood = rng.choice(["nice", "awful"], 1200)
    texts = [f"my {a} friend {k} was {b} today" for k, (a, b) in enumerate(zip(who, mood, strict=True))]
    toxic = (mood == "awful") | ((who == "gay") & (rng.random(1200) < 0.8))
    frame = pd.DataFrame({"words": texts, "verdict": np.where(toxic, "toxic", "fine")})
    frame["score"] = np.where(toxic, 0.2, 0.9)
    frame.to_csv(path / "people.csv", index=False)
    return frame


def test_texts_with_scores_only(cli, tmp_path):
    """A column of text and one of scores, no label and no protected column: nothing is exchanged."""
    frame = talk(tmp_path)
    data = {"label": None, "favorable": None, "protected": None, "features": None, "kinds": {"words": "text"}}
    found = audited(cli, spec(tmp_path, data=data, text="words", **{**FAST, "samples": 200}))
    first = found["leaderboard"][0]
    held = frame["words"].str.contains("gay")
    good = frame["score"] >= 0.5
    assert first["rule_set"] == "“gay”"
    assert first["n_in"] == held.sum()
    assert first["difference"]["value"] == pytest.approx(good[held].mean() - good[~held].mean(), abs=1e-12)
    assert found["verdict"] == "evidence of a difference"
    assert found["sampling"] is None
    assert found["warnings"]
    refused(
        run(cli, spec(tmp_path, data=data, text="words", terms={"mood": ["splendid"]}, **FAST)),
        "audits[0].rule_sets.text",
    )
    refused(run(cli, spec(tmp_path, data=data, text="word", **FAST)), "audits[0].rule_sets.text", "'words'")
