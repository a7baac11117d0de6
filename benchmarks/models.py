"""What the search without gradient finds of the exact mean loss ratio: ``python -m benchmarks.models``.

Of ten models of made-up people, and of ten on five tables, which lie in the shared data.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from audits.data import data_spec, load_data, public_section
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models import Subject, make_subject, model_spec
from benchmarks.calibration.loss_ratio import people, subject_of
from benchmarks.measuring import SHARED, Scorer, show
from benchmarks.serving import ROOT

NUMBERS = ["age", "education-num", "hours-per-week"]


ADULT = public_section("adult", SHARED) | {"path": str(SHARED / "adult.data"), "recode": {}}
TABLES: dict[str, dict[str, object]] = {
    "Adult": {**ADULT, "protected": ["sex"],
              "features": [*NUMBERS, "workclass", "occupation", "relationship"]},
    "COMPAS": {"path": str(SHARED / "compas.csv"), "label": "two_year_recid", "favorable": 0,
               "protected": ["race"],
               "features": ["age", "priors_count", "juv_fel_count", "c_charge_degree"]},
    "German credit": {"path": str(SHARED / "german.csv"), "label": "credit", "favorable": 1,
                      "protected": ["age"], "bins": {"age": [18, 25, 80]},
                      "features": ["month", "credit_history", "credit_amount", "savings", "housing"]},
    "law school": {"path": str(SHARED / "law_school.csv"), "label": {"column": "ZFYA", "at_least": 0},
                   "protected": ["race"], "features": ["LSAT", "UGPA", "region_first"]},
    "hiring": {"path": str(ROOT / "sample_data" / "hiring.csv"), "label": "qualified", "favorable": 1,
               "protected": ["gender"], "features": ["work_years", "hair_length"]},
}  # fmt: skip


def searched(of: str, kind: str, subject: Subject, **options: Any) -> dict[str, object]:
    """Return the mean ratio by exact gradients, and by scores of the same model alone."""
    told = LossRatioOptions(loss_floor=0.01, **options)
    model = subject.model
    unopened = Scorer(model.columns, model.score, model.name, model.classes, sha256=model.sha256)
    blind = dataclasses.replace(subject, model=unopened)
    exact, found = (loss_ratio(each, told, rng=0).statistic.value or 0.0 for each in (subject, blind))
    return {"people": of, "model": kind, "exact": exact, "found": found, "found / exact": found / exact}


def searches(most: int = 200) -> Iterator[dict[str, object]]:
    """Yield the mean ratio by exact gradients and by scores of the same model alone."""
    for name, section in TABLES.items():
        data = load_data(data_spec(section))
        drawn = np.sort(np.random.default_rng(0).choice(data.n, min(data.n, 4 * most), replace=False))
        for kind in ("logistic", "mlp"):
            subject = make_subject(data.take(drawn), model_spec({"train": kind}), test_size=0.5, seed=0)
            yield searched(name, kind, subject, max_people=most)


def made_up_searches() -> Iterator[dict[str, object]]:
    """The same of ten models of made-up people, in whose first feature the attribute leaves its trace."""
    for seed, kind in product(range(5), ("logistic", "mlp")):
        told = {"sex": 0.5}
        frame = people(600, 3 + seed, told, np.random.default_rng(seed), trace=1.0 + seed / 4)
        if seed % 2:  # a category that the attribute leaves its trace in
            drawn = np.random.default_rng(seed).random(len(frame)) < 0.3 + 0.3 * (frame["sex"] == "a")
            frame["job"] = np.where(drawn, "cook", "judge")
        yield searched(f"{3 + seed} features", kind, subject_of(frame, told, kind, seed))


if __name__ == "__main__":
    for found in (made_up_searches(), searches()):
        print(f"median {show(found, 3)['found / exact'].median():.3f}")
