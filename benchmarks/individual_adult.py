"""Adult by the protocol of the paper's Appendix F: does the pattern of Table 1 hold over 5 splits?

    python benchmarks/individual_adult.py [SPLITS]

Needs the shared data beside the checkout. Networks have two layers of 64 units and stop early, and the
inference is the audit's own; so the pattern can be compared, not the digits.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from pathlib import Path

import numpy as np

from audits.data import data_spec, load_data, public_section
from audits.individual import LossRatioOptions
from audits.individual.comparison import compare_models
from audits.models import make_subject, model_spec

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
PAPER = {"mlp": (3.676, 1.0), "project": (1.660, 0.9), "reductions": (5.712, 1.0), "sensr": (1.021, 0.0)}


def main(splits: int = 5) -> None:
    section = public_section("adult", FOLDER)
    # as in Appendix F.1: 45,222 rows without missing values, without fnlwgt, education and native-country
    section["keep"] = [{"column": "native-country", "not_missing": True}]
    section["missing"] = "drop"
    section["features"] = [
        each for each in section["features"] if each not in {"education", "native-country"}
    ]
    others = ("Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
    section["recode"]["race"] = {"map": dict.fromkeys(others, "non-White")}
    data = load_data(data_spec(section))
    print(f"{data.n:,} people")
    subject = make_subject(data, model_spec({"train": "logistic"}), test_size=0.2)
    options = dataclasses.replace(LossRatioOptions(splits=splits), compare=tuple(PAPER))
    start = time.perf_counter()

    def progress(fraction: float, doing: str) -> None:
        if "Moving" in doing:
            print(f"\r{100 * fraction:.0f} %, {time.perf_counter() - start:.0f} s", end="", file=sys.stderr)

    rows = compare_models(subject, options, np.random.default_rng(0), progress)
    print("\nmodel        bal-acc  AOD sex  AOD race        T_n  rejected  T_n of errors  rejected", end="")
    print("   paper T_n, rejected")
    for row in rows:
        odds = row["average_odds_difference"]
        print(
            f"{row['model']:12s} {row['balanced_accuracy']:7.3f}  {odds['sex']:7.3f}  {odds['race']:8.3f}  "
            f"{row['lower_bound']:6.3f} ± {row['lower_bound_sd'] or 0:6.3f}  {row['rejected']:4.1f}  "
            f"{row['error_lower_bound']:7.3f} ± {row['error_lower_bound_sd'] or 0:.3f}  "
            f"{row['error_rejected']:4.1f}   {PAPER[row['model']][0]}, {PAPER[row['model']][1]}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
