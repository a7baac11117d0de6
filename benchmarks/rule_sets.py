"""The rule-set audit against the paper's loop: ``python -m benchmarks.rule_sets [adult|communities ...]``."""

from __future__ import annotations

import sys
import time
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import torch

from audits.data import AuditData, FeatureSpace, public_section
from audits.models import Subject
from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.runs.executors.threads import fixed_threads
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import count_cells, memberships
from audits.subgroups.perturbation import perturbable
from audits.subgroups.scores import margin
from audits.subgroups.search import Search
from benchmarks.measuring import SHARED, line, public, taken

DECADES = list(range(0, 101, 10))


class SixLayers:
    """Six fully connected layers (64-32-16-8-4-1), as in the studies the paper follows."""

    name, classes, invents, sha256 = "six-layer network", None, True, "benchmark"

    def __init__(self, space: FeatureSpace, layers: torch.nn.Sequential) -> None:
        self.space, self.layers, self.columns = space, layers, space.columns

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        with torch.inference_mode():
            x = torch.from_numpy(self.space.encode(frame, unknown="zero")).float()
            return torch.sigmoid(self.layers(x)).squeeze(1).double().numpy()


def six_layers(data: AuditData, epochs: int = 4, seed: int = 0) -> Subject:
    """Train the network on the data; the subject is everyone, as in the paper."""
    torch.manual_seed(seed)
    read = [name for name in data.features if data.kinds[name] not in {"text", "identifier"}]
    space = FeatureSpace.fit(data, read)
    x = torch.from_numpy(space.encode(data.frame)).float()
    y = torch.from_numpy(data.y.astype(np.float32))[:, None]
    widths = [x.shape[1], 64, 32, 16, 8, 4, 1]
    parts = [part for a, b in pairwise(widths) for part in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    layers = torch.nn.Sequential(*parts[:-1])
    optimizer = torch.optim.Adam(layers.parameters(), 3e-3)
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(256):
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(layers(x[rows]), y[rows]).backward()
            optimizer.step()
    return Subject(data, SixLayers(space, layers), 0.5, FeatureSpace.fit(data))


def adult() -> AuditData:
    """The training file of Adult, by sex, race and decades of age, all of which are features."""
    features = [*public_section("adult", SHARED)["features"], "sex", "race"]
    ages = {"protected": ["sex", "race", "age"], "bins": {"age": DECADES}}
    return public("adult", path=str(SHARED / "adult.data"), recode={}, features=features, **ages)


def communities(label: dict[str, object] | None = None) -> AuditData:
    """Ten shares as protected attributes, in tenths as in the paper."""
    names = [
        "racepctblack", "racePctWhite", "racePctAsian", "racePctHisp", "agePct12t21", "agePct12t29",
        "agePct16t24", "agePct65up", "MalePctDivorce", "FemalePctDiv",
    ]  # fmt: skip
    bins = {name: [round(0.1 * k, 1) for k in range(11)] for name in names}
    return public("communities", protected=names, bins=bins, **({"label": label} if label else {}))


def paper_loop(subject: Subject, masks: list[np.ndarray], columns: list[int]) -> float:
    """Seconds of Algorithm 2 as it stands, on encoded rows: one seed, perturbation and prediction at a time.

    Each column moves by a twentieth of its deviation; the network is predicted by NumPy, the faster way.
    """
    x = subject.model.space.encode(subject.data.frame).astype(np.float32)
    linear = [part for part in subject.model.layers if isinstance(part, torch.nn.Linear)]
    weights = [(part.weight.detach().numpy(), part.bias.detach().numpy()) for part in linear]
    rng = np.random.default_rng(0)

    def predict(row: np.ndarray) -> bool:
        for weight, bias in weights[:-1]:
            row = np.maximum(weight @ row + bias, 0)
        return bool(weights[-1][0] @ row + weights[-1][1] >= 0)

    start = time.perf_counter()
    for mask in masks:
        sides = np.flatnonzero(mask), np.flatnonzero(~mask)
        good, n, reached = [0, 0], 0, False
        while not reached:
            for side, rows in enumerate(sides):
                row = x[rows[rng.integers(len(rows))]].copy()
                row[columns[rng.integers(len(columns))]] += 0.05 if rng.random() < 0.5 else -0.05
                good[side] += predict(row)
            n += 1
            reached = n >= 1000 and margin(good[0] / n, n, good[1] / n, n, 0.95) <= 0.05
    return time.perf_counter() - start


def audited(subject: Subject, **options: object) -> object:
    """Audit a subject of which nothing is scored yet."""
    fresh = Subject(subject.data, subject.model, 0.5, subject.space)
    return rule_sets(fresh, RuleSetsOptions(**options))


def bench_adult() -> None:
    """Whole audits, and the loop on twenty of the rule sets."""
    subject = six_layers(adult())
    options = {"support": 0.05, "samples": 1000, "error": 0.05}
    tries = {n: taken(partial(audited, subject, permutations=n, **options), 3) for n in (19, 999)}
    for n, each in tries.items():
        print(line(f"Adult, {subject.data.n:,} rows, {n} permutations", each))
    attributes, _ = read_attributes(subject.data, RuleSetsOptions())
    cells = count_cells(attributes, subject.decisions)
    search = Search(cells, support=0.05)
    search.run(10**7)
    rules, blocks = search.found().rules, subject.model.space.blocks
    picked = np.random.default_rng(0).choice(len(rules), 20, replace=False)
    masks = list(memberships(cells, rules[picked])[:, cells.row_cell])
    free = [name for name in perturbable(subject, attributes) if name in blocks]
    columns = [k for name in free for k in range(*blocks[name].indices(10**6))]
    slow, n = paper_loop(subject, masks, columns) / len(masks), tries[19].result.n_frequent
    times = n * slow / tries[19].seconds
    print(
        f"  the paper's loop {1000 * slow:.1f} ms for each of {n:,} rule sets, in all {times:.0f} × as long"
    )


def bench_communities() -> None:
    """One-sided thresholds, and all intervals best first."""
    subject = six_layers(communities(), epochs=20)
    for options in ({"intervals": "thresholds", "depth": 3}, {"depth": 3}):
        for permutations in (19, 999):
            ours = taken(partial(audited, subject, permutations=permutations, **options))
            told = ours.result
            note = f"{told.n_counted:,} of {told.n_candidates:,} candidates, {told.n_frequent:,} frequent"
            words = f"communities, {options.get('intervals', 'all intervals')}, {permutations} permutations"
            print(line(words, ours, note=note))


BENCHES = {"adult": bench_adult, "communities": bench_communities}

if __name__ == "__main__":
    with fixed_threads():  # as in every run
        for name in sys.argv[1:] or BENCHES:
            BENCHES[name]()
