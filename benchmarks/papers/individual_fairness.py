"""Statistical inference for individual fairness, Tables 1, 3 and 4: four models over splits.

    python -m benchmarks.papers individual-fairness [adult|compas] [SPLITS] [MODEL …]

Needs the shared data beside the checkout. Networks have two layers of 64 units and stop early, and the
inference is the audit's own; so the pattern can be compared, not the digits. Naming models runs these
only, on the same splits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from audits.data import AuditData, public_section
from audits.loss_ratio import LossRatioOptions
from audits.loss_ratio.model_comparison import compare_models
from audits.models import make_subject, model_spec
from audits.progress import silent
from benchmarks.measuring import SHARED, public

MODELS = ("mlp", "project", "reductions", "sensr")
SLACK = {"adult": 0.03, "compas": 0.16}  # what reductions may violate: Appendices F.3.3 and G
# Appendix F.4; Appendix G names no steps: at 100 baseline and reductions come out as in Table 4, at 500 at 11
STEPS = {"adult": 500, "compas": 100}


def adult() -> AuditData:
    """Appendix F.1: 45,222 rows without missing values; no fnlwgt, education, native-country."""
    section = public_section("adult", SHARED)
    others = ("Black", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other")
    recode = section["recode"] | {"race": {"map": dict.fromkeys(others, "non-White")}}
    features = [each for each in section["features"] if each not in {"education", "native-country"}]
    keep = [{"column": "native-country", "not_missing": True}]
    return public("adult", keep=keep, missing="drop", features=features, recode=recode)


def compas() -> AuditData:
    """Appendix G: sex, race, number of priors, age category and degree of charge, all of them features."""
    others = ("African-American", "Hispanic", "Asian", "Native American", "Other")
    recode = {"race": {"map": dict.fromkeys(others, "not Caucasian")}}
    features = ["sex", "race", "priors_count", "age_cat", "c_charge_degree"]
    return public("compas", recode=recode, features=features, kinds={"age_cat": "categorical"})


def main(name: str = "adult", splits: str = "5", *models: str) -> None:
    """Tables 1, 3 and 4: models compared over splits."""
    data = {"adult": adult, "compas": compas}[name]()
    subject = make_subject(data, model_spec({"train": "logistic"}), test_size=0.2)
    compared: Any = models or MODELS
    options = LossRatioOptions(
        splits=int(splits), compare=compared, odds_slack=SLACK[name], steps=STEPS[name]
    )
    print(f"{name}: {data.n:,} people")
    print(pd.DataFrame(compare_models(subject, options, np.random.default_rng(0), silent)).T.to_string())


RUNS = {"individual-fairness": main}
