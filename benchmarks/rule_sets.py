"""Speed of the rule-set audit against the paper's loop and DivExplorer, in one process, printed as ratios.

    python -m benchmarks.rule_sets [adult|communities|items ...]

``items`` needs DivExplorer on the path: pip install --target FOLDER --no-deps divexplorer mlxtend, and
PYTHONPATH=FOLDER.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from audits.data import FeatureSpace, load_data
from audits.data.public import public_section
from audits.data.spec_parser import data_spec
from audits.models import Subject
from audits.rule_sets import RuleSetsOptions, rule_sets
from audits.runs.executors.threads import fixed_threads
from audits.subgroups.attributes import category
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import count_cells, memberships
from audits.subgroups.perturbation import perturbable
from audits.subgroups.scores import margin
from audits.subgroups.search import Search

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
DECADES = list(range(0, 101, 10))


class SixLayers:
    """Six fully connected layers (64-32-16-8-4-1), as in the studies the paper follows."""

    name, classes, invents, sha256 = "six-layer network", None, True, "benchmark"

    def __init__(self, space: FeatureSpace, layers: torch.nn.Sequential) -> None:
        self.space, self.layers, self.columns = space, layers, space.columns

    def score(self, frame: pd.DataFrame) -> np.ndarray:
        with torch.inference_mode():
            return (
                torch.sigmoid(self.layers(torch.from_numpy(self.space.encode(frame, unknown="zero")).float()))
                .squeeze(1)
                .double()
                .numpy()
            )


def six_layers(data, epochs: int = 4, seed: int = 0) -> Subject:
    """Train the network on the data; the subject is everyone, as in the paper."""
    torch.manual_seed(seed)
    space = FeatureSpace.fit(
        data, [name for name in data.features if data.kinds[name] not in {"text", "identifier"}]
    )
    x, y = (
        torch.from_numpy(space.encode(data.frame)).float(),
        torch.from_numpy(data.y.astype(np.float32))[:, None],
    )
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


def adult(rows: str = "adult.data"):
    section = public_section("adult", SHARED)
    section |= {"path": str(SHARED / rows), "protected": ["sex", "race", "age"], "bins": {"age": DECADES}}
    section["features"] = [*section["features"], "sex", "race"]
    section.pop("recode")
    return load_data(data_spec(section))


def timed(work: Callable[[], object], repeat: int = 3) -> tuple[float, object]:
    best, found = np.inf, None
    for _ in range(repeat):
        start = time.perf_counter()
        found = work()
        best = min(best, time.perf_counter() - start)
    return best, found


def paper_loop(
    subject: Subject, masks: list[np.ndarray], predict: Callable[[np.ndarray], bool], columns, steps
) -> float:
    """Algorithm 2 as it stands: one seed, one perturbation, one prediction at a time, on encoded rows."""
    x = subject.model.space.encode(subject.data.frame).astype(np.float32)
    rng = np.random.default_rng(0)
    start = time.perf_counter()
    for mask in masks:
        sides = np.flatnonzero(mask), np.flatnonzero(~mask)
        good, n, reached = [0, 0], 0, False
        while not reached:
            for side, rows in enumerate(sides):
                row = x[rows[rng.integers(len(rows))]].copy()
                column = columns[rng.integers(len(columns))]
                row[column] += steps[column] if rng.random() < 0.5 else -steps[column]
                good[side] += predict(row)
            n += 1
            reached = n >= 1000 and margin(good[0] / n, n, good[1] / n, n, 0.95) <= 0.05
    return time.perf_counter() - start


def bench_adult() -> None:
    subject = six_layers(adult())
    options = {"support": 0.05, "samples": 1000, "error": 0.05}

    def fresh() -> Subject:
        return Subject(subject.data, subject.model, 0.5, subject.space)

    ours, result = timed(lambda: rule_sets(fresh(), RuleSetsOptions(permutations=19, **options)), 5)
    full, _ = timed(lambda: rule_sets(fresh(), RuleSetsOptions(permutations=999, **options)))
    attributes, _ = read_attributes(subject.data, RuleSetsOptions())
    cells = count_cells(attributes, subject.decisions)
    search = Search(cells, support=0.05)
    search.run(10**7)
    mined = search.found()
    picked = np.random.default_rng(0).choice(len(mined.rules), 20, replace=False)
    masks = list(memberships(cells, mined.rules[picked])[:, cells.row_cell])
    blocks = subject.model.space.blocks
    free = [
        k
        for name in perturbable(subject, attributes)
        if name in blocks
        for k in range(*blocks[name].indices(10**6))
    ]
    layers = subject.model.layers

    def by_torch(row: np.ndarray) -> bool:
        return bool(layers(torch.from_numpy(row)) >= 0)

    weights = [
        (part.weight.detach().numpy(), part.bias.detach().numpy())
        for part in layers
        if isinstance(part, torch.nn.Linear)
    ]

    def by_numpy(row: np.ndarray) -> bool:
        for weight, bias in weights[:-1]:
            row = np.maximum(weight @ row + bias, 0)
        return bool(weights[-1][0] @ row + weights[-1][1] >= 0)

    steps = dict.fromkeys(free, 0.05)
    with torch.inference_mode():
        slow = min(paper_loop(subject, masks, predict, free, steps) for predict in (by_torch, by_numpy)) / 20
    mine, _ = timed(lambda: Search(cells, support=0.05).run(10**7))
    boolean, _ = timed(
        lambda: [(subject.decisions[mask].mean(), subject.decisions[~mask].mean()) for mask in masks], 1
    )
    print(
        f"Adult 32,561 rows: {result.n_candidates:,} candidates, {result.n_frequent:,} frequent, "
        f"{result.sampling['people']:,} perturbed people scored; top: {result.leaderboard[0].rule_set}"
    )
    print(f"  whole audit without permutations {ours:.2f} s; with 999 permutations {full:.2f} s")
    print(
        f"  the paper's loop {1000 * slow:.1f} ms a rule set, {slow * result.n_frequent:.0f} s in all: "
        f"{slow * result.n_frequent / ours:.0f} x slower"
    )
    print(
        f"  exact rates of all: {1000 * mine:.1f} ms; with boolean masks "
        f"{boolean / 20 * result.n_frequent:.2f} s"
    )


def communities(favorable: dict[str, float] | None = None):
    """Ten shares as protected attributes, in tenths as in the paper."""
    names = [
        "racepctblack", "racePctWhite", "racePctAsian", "racePctHisp", "agePct12t21", "agePct12t29",
        "agePct16t24", "agePct65up", "MalePctDivorce", "FemalePctDiv",
    ]  # fmt: skip
    section = public_section("communities", SHARED)
    if favorable is not None:
        section["label"] = {"column": "ViolentCrimesPerPop", **favorable}
    section |= {"protected": names, "bins": {name: [round(0.1 * k, 1) for k in range(11)] for name in names}}
    return load_data(data_spec(section))


def bench_communities() -> None:
    subject = six_layers(communities(), epochs=20)
    for words, options in (
        ("one-sided thresholds, depth 3", {"intervals": "thresholds", "depth": 3}),
        ("all intervals, depth 3, first 2,000,000", {"depth": 3}),
    ):
        for permutations in (19, 999):
            fresh = Subject(subject.data, subject.model, 0.5, subject.space)  # nothing scored yet
            seconds, result = timed(
                lambda s=fresh, o=options, p=permutations: rule_sets(s, RuleSetsOptions(permutations=p, **o)),
                1,
            )
            print(
                f"communities, {words}: {result.n_counted:,} of {result.n_candidates:,} candidates, "
                f"{result.n_frequent:,} "
                f"frequent, {result.n_distinct:,} different; {permutations} permutations: {seconds:.1f} s; "
                "top: "
                f"{result.leaderboard[0].rule_set}"
            )


def bench_items() -> None:
    """The same items as DivExplorer: single values of nine attributes."""
    from divexplorer import DivergenceExplorer

    section = public_section("adult", SHARED)
    frame = load_data(data_spec(section)).frame.dropna()
    names = ["workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"]
    items = frame[names].astype(object)
    items["age"] = pd.cut(frame["age"], [0, 28, 37, 48, 100]).astype(str)
    items["hours"] = pd.cut(frame["hours-per-week"], [0, 39, 40, 100]).astype(str)
    items = items.reset_index(drop=True)
    decisions = (frame["income"] == ">50K").to_numpy()
    for support in (0.05, 0.01):

        def ours(support: float = support):
            attributes = []
            for name in items:
                codes, levels = pd.factorize(items[name], sort=True)
                attributes.append(category(name, codes, list(levels), subsets=False))
            cells = count_cells(attributes, decisions)
            search = Search(cells, support=support)
            search.run(10**9)
            return search

        def theirs(support: float = support):
            return DivergenceExplorer(items.assign(outcome=decisions)).get_pattern_divergence(
                min_support=support, boolean_outcomes=["outcome"]
            )

        fast, search = timed(ours)
        slow, patterns = timed(theirs, 1)
        print(
            f"Adult, {len(items):,} rows x 9 attributes, support {support}: {search.n_frequent:,} rule "
            f"sets in {fast:.3f} s "
            f"(DivExplorer {len(patterns) - 1:,} in {slow:.2f} s): {slow / fast:.1f} x"
        )


BENCHES = {
    "adult": bench_adult,
    "communities": bench_communities,
    "items": bench_items,
}

if __name__ == "__main__":
    with fixed_threads():  # as in every run
        for name in sys.argv[1:] or BENCHES:
            BENCHES[name]()
