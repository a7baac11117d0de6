"""One small run of every audit in the registry, on people whose group names are as nasty as names can be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from audits.runs.documents import dump_yaml

PEOPLE = 700
HTML = "</script><img src=x onerror=alert(1)>"
FORMULA = "=HYPERLINK(1)"
EMOJI = "women \N{WOMAN}\U0001f3fd\u200d\N{PERSONAL COMPUTER} Ω Ж 日本"
LONG = "x" * 400


def write_project(folder: Path, *, nasty: bool = True) -> Path:
    """Write people.csv and spec.yaml with every audit; return the spec's path."""
    rng = np.random.default_rng(0)
    races = [HTML, FORMULA, LONG] if nasty else ["Ash", "Birch", "Cedar"]
    sexes = [EMOJI, "men & all | `others` *"] if nasty else ["women", "men"]
    race, sex = rng.choice(races, PEOPLE, p=[0.5, 0.4, 0.1]), rng.choice(sexes, PEOPLE)
    skill = rng.normal(0, 1, PEOPLE) + 0.8 * (race == races[0])
    frame = pd.DataFrame({"race": race, "sex": sex, "skill": skill.round(3)})
    frame["hours"], frame["debt"] = rng.integers(5, 60, PEOPLE), rng.normal(0, 1, PEOPLE).round(3)
    frame["paid"] = (skill + rng.normal(0, 1, PEOPLE) > 0.4).astype(int)
    frame.to_csv(folder / "people.csv", index=False)
    path = folder / "spec.yaml"
    path.write_text(dump_yaml(spec_of(races, sexes)), encoding="utf-8")
    return path


FEW = {"permutations": 19, "bootstrap": 100}


def spec_of(races: list[str], sexes: list[str]) -> dict[str, Any]:
    return {
        "data": {
            "path": "people.csv",
            "label": "paid",
            "favorable": 1,
            "protected": ["race", "sex"],
            "features": ["skill", "hours", "debt"],
            "roles": {"actionable": ["hours", "debt"]},
            "test_size": 0.5,
        },
        "model": {"train": "logistic"},
        "audits": [
            {"groups": {}},
            {"flipset": {"source": {"race": races[1]}, "target": {"race": races[0]}, **FEW}},
            {"loss_ratio": {"sensitive": ["sex"], "steps": 20}},
            {"outcome_transport": {"by": ["race"], "against": "label", "permutations": 19, "draws": 20}},
            {"explain": {"source": {"sex": sexes[1]}, "target": {"sex": sexes[0]}, "draws": 200}},
            {"barycenter": {"by": ["race"], "permutations": 39, "seconds": 1}},
            {"recourse": {"steps": [0, 0.5, 1], "permutations": 19, "resolution": 0.2}},
            {"rule_sets": {"protected": ["race", "sex"], "support": 0.1, "samples": 50}},
            {"attribute_swap": {"attribute": ["sex"]}},
            {"sensitivity": {"protected": "sex", "bootstrap": 100}},
            {"mitigation": {"protected": ["race", "sex"], "amounts": [0.1], "also": {"groups": {}}}},
        ],
    }
