"""Statistical inference for individual fairness, Tables 1, 3 and 4: four models over splits.

    python -m benchmarks.papers individual-fairness [adult|compas] [SPLITS] [MODEL …]

Needs the shared data beside the checkout. Networks have two layers of 64 units and stop early, and the
inference is the audit's own; so the pattern can be compared, not the digits. Naming models runs these
only, on the same splits.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from audits.data import data_spec, load_data, public_section
from audits.loss_ratio import LossRatioOptions
from audits.loss_ratio.testing.models import compare_models
from audits.models import make_subject, model_spec

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
# balanced accuracy, T_n, share rejected: Tables 3 and 4
PAPER: dict[str, dict[str, tuple[float, float, float]]] = {
    "adult": {
        "mlp": (0.817, 3.676, 1.0),
        "project": (0.825, 1.660, 0.9),
        "reductions": (0.800, 5.712, 1.0),
        "sensr": (0.765, 1.021, 0.0),
    },
    "compas": {
        "mlp": (0.675, 2.385, 1.0),
        "project": (0.641, 1.161, 0.2),
        "reductions": (0.652, 1.763, 1.0),
        "sensr": (0.640, 1.098, 0.0),
    },
}
SLACK = {"adult": 0.03, "compas": 0.16}  # what reductions may violate: Appendices F.3.3 and G
# Appendix F.4; Appendix G names no steps: at 100 baseline and reductions come out as in Table 4, at 500 at 11
STEPS = {"adult": 500, "compas": 100}


def adult() -> dict[str, Any]:
    """Appendix F.1: 45,222 rows without missing values; no fnlwgt, education, native-country."""
    section = public_section("adult", FOLDER)
    section["keep"] = [{"column": "native-country", "not_missing": True}]
    section["missing"] = "drop"
    section["features"] = [
        each for each in section["features"] if each not in {"education", "native-country"}
    ]
    others = ("Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
    section["recode"]["race"] = {"map": dict.fromkeys(others, "non-White")}
    return section


def compas() -> dict[str, Any]:
    """Appendix G: sex, race, number of priors, age category and degree of charge, all of them features."""
    section = public_section("compas", FOLDER)
    others = ("African-American", "Hispanic", "Asian", "Native American", "Other")
    section["recode"] = {"race": {"map": dict.fromkeys(others, "not Caucasian")}}
    section["features"] = ["sex", "race", "priors_count", "age_cat", "c_charge_degree"]
    section["kinds"] = {"age_cat": "categorical"}
    return section


def main(name: str = "adult", splits: str = "5", *models: str) -> None:
    """Tables 1, 3 and 4: models compared over splits."""
    data = load_data(data_spec({"adult": adult, "compas": compas}[name]()))
    print(f"{name}: {data.n:,} people")
    subject = make_subject(data, model_spec({"train": "logistic"}), test_size=0.2)
    compared: Any = models or tuple(PAPER[name])
    options = LossRatioOptions(
        splits=int(splits), compare=compared, odds_slack=SLACK[name], steps=STEPS[name]
    )
    start = time.perf_counter()

    def progress(fraction: float, doing: str) -> None:  # noqa: ARG001  (a progress says what it does)
        print(f"\r{100 * fraction:.0f} %, {time.perf_counter() - start:.0f} s  ", end="", file=sys.stderr)

    rows = compare_models(subject, options, np.random.default_rng(0), progress)
    print("\nmodel        bal-acc  AOD sex  AOD race        T_n  rejected  T_n of errors  rejected", end="")
    print("   paper: bal-acc, T_n, rejected")
    for row in rows:
        odds = row["average_odds_difference"]
        print(
            f"{row['model']:12s} {row['balanced_accuracy']:7.3f}  {odds['sex']:7.3f}  {odds['race']:8.3f}  "
            f"{row['lower_bound']:6.3f} ± {row['lower_bound_sd'] or 0:6.3f}  {row['rejected']:4.1f}  "
            f"{row['error_lower_bound']:7.3f} ± {row['error_lower_bound_sd'] or 0:.3f}  "
            f"{row['error_rejected']:4.1f}   {', '.join(map(str, PAPER[name][row['model']]))}"
        )


RUNS = {"individual-fairness": main}
