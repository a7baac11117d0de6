"""Audits of models brought along against each other: ``python -m benchmarks.models`` beside the shared data.

Two tables: S and T of a network in torch and of its ONNX file; and what the search without gradient finds of
the exact mean ratio, for ten models of made-up people and ten on five tables.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from audits.data import build_data, data_spec, load_data, public_section, read_table
from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.models import ModelSpec, Subject, make_subject, model_spec
from benchmarks.calibration.loss_ratio import people, subject_of
from benchmarks.measuring import SHARED, adult_names, show
from benchmarks.serving import ROOT

NUMBERS = ["age", "education-num", "hours-per-week"]


def statistics(folder: Path) -> Iterator[dict[str, object]]:
    """Yield S and T of a network audited as torch has it, and as the ONNX file exported from it."""
    import torch

    import audits

    names = list(adult_names())
    raw = pd.read_csv(SHARED / "adult.data", names=names, skipinitialspace=True, nrows=2000)
    x = raw[NUMBERS].to_numpy("float32")
    torch.manual_seed(0)
    network = torch.nn.Sequential(
        torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 20), torch.nn.ReLU(), torch.nn.Linear(20, 1)
    )
    y = torch.from_numpy((raw["income"] == ">50K").to_numpy("float32"))
    steps = torch.optim.Adam(network.parameters(), 0.01)
    for _ in range(200):
        steps.zero_grad()
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(torch.from_numpy(x))[:, 0], y)
        loss.backward()
        steps.step()
    network = torch.nn.Sequential(network, torch.nn.Sigmoid()).eval()
    example = (torch.from_numpy(x[:2]),)
    any_number = {"dynamic_shapes": ({0: torch.export.Dim("people")},), "verbose": False}
    torch.onnx.export(network, example, folder / "n.onnx", dynamo=True, external_data=False, **any_number)
    raw[[*NUMBERS, "sex", "income"]].to_csv(folder / "n.csv", index=False)
    section = {"label": "income", "favorable": ">50K", "protected": ["sex"], "features": NUMBERS}
    data = build_data(read_table(folder / "n.csv"), data_spec(section))
    file = make_subject(data, ModelSpec(path=str(folder / "n.onnx"), columns=tuple(NUMBERS)))
    memory = audits.audit(
        network, raw[NUMBERS], raw["income"], favorable=">50K", protected={"sex": raw["sex"]},
        audits={"groups": {"bootstrap": 0}},
    ).subject  # fmt: skip
    for name, subject in (("torch module", memory), ("its ONNX file", file)):
        found = loss_ratio(subject, LossRatioOptions(), rng=0)
        yield {"network": name, "S": found.statistic.value, "T": found.lower_bound}


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


class Unopened:
    """A model that gives its scores only."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.name, self.columns, self.classes = model.name, model.columns, model.classes
        self.invents, self.sha256 = True, model.sha256

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        """Scores of the model."""
        return self._model.score(frame)


def searched(of: str, kind: str, subject: Subject, **options: Any) -> dict[str, object]:
    """Return the mean ratio by exact gradients, and by scores of the same model alone."""
    told = LossRatioOptions(loss_floor=0.01, **options)
    blind = dataclasses.replace(subject, model=Unopened(subject.model))
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
    with tempfile.TemporaryDirectory() as folder:
        show(statistics(Path(folder)), 7)
    for found in (made_up_searches(), searches()):
        print(f"median {show(found, 3)['found / exact'].median():.3f}")
