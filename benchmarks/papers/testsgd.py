"""TestSGD: Tables 3, 4, 5, 7 and 8 with networks trained here, of six data sets.

    python -m benchmarks.papers testsgd [DATA …]
    python -m benchmarks.papers testsgd-times

Each data set has three six-layer networks that differ in their seed (the paper averages three runs). Printed
are the paper's own worst group and the largest score among all rule sets of at least 5%, also on perturbed
people; what training again with perturbed people of the paper's group does to its score (Table 7); and what
two other searches find on the same decisions (Table 8). Scores are in points, with favorable shares inside
and outside. The other searches:

* The largest gap between any two subgroups, in the spirit of Themis (Galhotra, Brun, Meliou 2017): for every
  combination of attributes, the subgroup with the largest favorable share against the one with the smallest.
  Themis draws inputs uniformly; here shares are those of the people, in subgroups of at least 30.
* A linear threshold of all protected attributes, in the spirit of GerryFair's auditor (Kearns, Neel, Roth, Wu
  2018): least squares of the decision on the attributes (their heuristic oracle), cut where the two sides
  differ most. It is fitted on one half of the people and stated on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain, combinations, count, islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from audits.data import AuditData, FeatureSpace, public_section
from audits.mitigation.audit import amounts_of, augmented_by, draw_samples, subject_on
from audits.mitigation.options import MitigationOptions
from audits.mitigation.treated import TableGroups, TreatedRuleSet
from audits.models import Subject
from audits.rule_sets import LeaderRow, RuleSetsOptions, RuleSetsResult, rule_sets
from audits.rule_sets.inference.permutation import split_halves, whole_people
from audits.rule_sets.leaders.tables import read_counted, words_of
from audits.runs.executors.threads import fixed_threads
from audits.subgroups.attributes import Attribute
from audits.subgroups.binning import read_attributes
from audits.subgroups.cells import count_cells
from audits.subgroups.scores import differences
from benchmarks.measuring import SHARED, Scorer, line, public, taken

NETWORKS, MIN_PEOPLE = 3, 30
TABLES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def six_layers(data: AuditData, epochs: int = 4, seed: int = 0) -> Subject:
    """Train layers of 64-32-16-8-4-1, as in the studies the paper follows; the subject is everyone."""
    import torch

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

    def score(frame: pd.DataFrame) -> np.ndarray:
        with torch.inference_mode():
            points = torch.from_numpy(space.encode(frame, unknown="zero")).float()
            return torch.sigmoid(layers(points)).squeeze(1).double().numpy()

    return Subject(data, Scorer(space.columns, score), 0.5, FeatureSpace.fit(data))


def table(name: str, **changed: Any) -> tuple[AuditData, int]:
    """Return the data, and the epochs of training."""
    told, file = TABLES[name], name.partition("-")[0]
    section, features = told["data"] | changed, public_section(file, SHARED)["features"]
    if name != "communities":
        section["features"] = list(dict.fromkeys([*features, *section["protected"]]))
    data = public(file, **section)
    return data, told.get("epochs") or max(6, 300_000 // data.n)


def largest_pair(decisions: np.ndarray, attributes: Sequence[Attribute]) -> tuple[float, str]:
    """Return the largest gap between subgroups by the same attributes, and the favored one."""
    frame = pd.DataFrame({each.name: np.array(each.levels)[each.codes] for each in attributes})
    found = [(0.0, "")]
    for names in chain.from_iterable(combinations(frame, size) for size in (1, 2, 3)):
        shares = frame.assign(favored=decisions).groupby(list(names))["favored"].agg(["mean", "size"])
        rate = shares.loc[shares["size"] >= MIN_PEOPLE, "mean"]
        if len(rate) > 1:
            highest = zip(names, np.atleast_1d(rate.index[rate.argmax()]), strict=True)
            found.append((float(np.ptp(rate)), ", ".join(f"{name} = {value}" for name, value in highest)))
    return max(found, key=lambda each: each[0])


def linear_threshold(
    decisions: np.ndarray, attributes: Sequence[Attribute], *, support: float
) -> tuple[float, str]:
    """Return the score and words of the linear threshold group that differs most from the rest.

    It is chosen on one half of the people, with at least the share `support` of them on either side, and
    stated on the other half.
    """
    cells = count_cells(attributes, decisions)
    first, second = split_halves(whole_people(cells), np.random.default_rng(0).spawn(7)[4])
    columns = {}
    for each, code in zip(attributes, cells.codes.T, strict=True):
        if each.ordered:  # a bin's position in [0, 1], or one column a category but the first
            columns[each.name] = code / max(len(each.levels) - 1, 1)
        else:
            columns |= {f"{each.name} = {name}": code == k for k, name in enumerate(each.levels) if k}
    x, weight = pd.DataFrame(columns, dtype=float), np.sqrt(first.n.astype(float))
    target = first.favorable / np.maximum(first.n, 1) - first.rate * (first.n > 0)
    design = np.column_stack([np.ones(len(x)), x])
    solved, *_ = np.linalg.lstsq(design * weight[:, None], target * weight, rcond=None)
    index = (x.to_numpy() @ solved[1:]).round(12)
    sums = pd.DataFrame({"n": first.n, "good": first.favorable}).groupby(index).sum()[::-1].cumsum()
    sums = sums[np.minimum(sums["n"], first.total - sums["n"]) >= max(support * first.total, 1.0)]
    gaps = differences(sums["n"], sums["good"], first.total, first.favorable.sum())
    inside = index >= sums.index[np.abs(gaps).argmax()]
    own, rest = (second.favorable[side].sum() / second.n[side].sum() for side in (inside, ~inside))
    largest = np.argsort(-np.abs(solved[1:]), kind="stable")[:5]
    words = " ".join(f"{solved[1 + k]:+.3g} × [{x.columns[k]}]" for k in largest)
    return float(own - rest), f"{words} … ≥ {index[inside].min():.3g}"


def rivals(subject: Subject, options: RuleSetsOptions) -> dict[str, tuple[float, str]]:
    """Return what both methods find in the decisions on the people of `subject`: a score and a group each."""
    attributes, decisions = (
        read_attributes(subject.data, options)[0],
        np.asarray(subject.decisions, dtype=bool),
    )
    return {
        "largest gap between two subgroups": largest_pair(decisions, attributes),
        "linear threshold of all attributes": linear_threshold(
            decisions, attributes, support=options.support
        ),
    }


def points(inside: float, outside: float) -> str:
    """Word a score and the favorable shares behind it."""
    return f"{100 * abs(inside - outside):.1f} ({100 * inside:.1f}, {100 * outside:.1f})"


def shares(good: np.ndarray, inside: np.ndarray) -> str:
    """Word the score of a group, and how many are in it."""
    if not inside.any() or inside.all():
        return "nobody here"
    return f"{points(good[inside].mean(), good[~inside].mean())}, {int(inside.sum()):,} people"


def largest(result: RuleSetsResult) -> str:
    """Word the rule set that the paper's ranking puts first."""
    table = result.rule_sets.loc[[result.rule_sets["difference"].abs().idxmax()]]
    [words], row = words_of(read_counted(result).attributes, table), table.iloc[0]
    given, drawn = ((row[f"{of}_in"], row[f"{of}_out"]) for of in ("favorable", "sampled"))
    told = f"{words}: {points(*given)}, perturbed {points(*drawn)}"
    return f"{told}, support {100 * row['support']:.1f}%, p {row['adjusted_p']:.3f}"


def leader(row: LeaderRow) -> str:
    """Word a row of the leaderboard."""
    told = points(row.favorable_in.value, row.favorable_out.value)
    sampled = "" if row.sampled is None else f", perturbed {100 * (row.sampled.score.value or 0.0):.1f}"
    return f"{row.rule_set}: {told}{sampled}; {row.verdict}{', confirmed' if row.confirmed else ''}"


def accuracy(subject: Subject) -> float:
    """Share of people decided as they turned out, in percent."""
    return float(100 * (subject.decisions == subject.data.y).mean())


def compare(name: str) -> None:
    """Print one row of each table beside three networks trained here."""
    (data, epochs), worst, options = table(name), TABLES[name]["worst"], TABLES[name].get("options", {})
    inside = data.frame.eval(worst).to_numpy(dtype=bool)
    print(f"{name} ({data.n:,} rows): the paper's worst group is {worst}")
    trained = ((seed, six_layers(data, epochs, seed)) for seed in count())
    usable = (each for each in trained if 0 < each[1].decisions.sum() < data.n)  # not everyone decided alike
    for seed, subject in islice(usable, NETWORKS):
        result = rule_sets(subject, RuleSetsOptions(permutations=199, **options))
        print(f"  seed {seed}, accuracy {accuracy(subject):.1f}%, {result.n_frequent:,} rule sets")
        print(f"    the paper's group here  {shares(subject.decisions, inside)}")
        print(f"    largest score           {largest(result)}")
        print(f"    first on the leaderboard {leader(result.leaderboard[0])}")
        for method, (gap, words) in rivals(subject, RuleSetsOptions(**options)).items():
            print(f"    {method}: {100 * abs(gap):.1f}, {words}")
        print(f"    trained again           {retrained(subject, inside, epochs, seed)}", flush=True)


def retrained(subject: Subject, inside: np.ndarray, epochs: int, seed: int) -> str:
    """Word the smallest score of the paper's group after training again, at one point of accuracy at most."""
    if not inside.any():
        return "nobody here"
    good = subject.decisions
    direction = "harmed" if good[inside].mean() < good[~inside].mean() else "advantaged"
    options = MitigationOptions()
    group = TreatedRuleSet(np.zeros((1, 0), dtype=int), {}, "", "", direction, inside)
    drawn, labels, tried = draw_samples(
        subject, TableGroups(subject, options), group, options, np.random.default_rng(seed)
    )
    found = []
    for added in amounts_of(options, subject.data.n, len(labels)):
        augmented = augmented_by(subject.data, drawn.iloc[:added], labels[:added])
        model = six_layers(augmented, epochs, seed).model
        again = subject_on(subject, subject.data, model)
        if accuracy(again) >= accuracy(subject) - 1.0 and 0 < again.decisions.sum() < subject.data.n:
            score = abs(again.decisions[inside].mean() - again.decisions[~inside].mean())
            found.append((score, added, again))
    if not found:
        return f"no model within a point of accuracy ({len(labels):,} samples kept of {tried:,})"
    _, added, best = min(found, key=lambda one: one[0])
    return f"{shares(best.decisions, inside)}, {added:,} samples, accuracy {accuracy(best):.1f}%"


def main(*names: str) -> None:
    """Tables 3, 4, 7 and 8 of the data sets named, or all."""
    with fixed_threads():
        for chosen in names or TABLES:
            compare(chosen)


def times() -> None:
    """Table 5: whole audits of Adult, and of communities by one-sided thresholds and by all intervals."""
    with fixed_threads():  # as in every run
        census = six_layers(table("adult", path=str(SHARED / "adult.data"), recode={})[0])
        label = public_section("communities", SHARED)["label"]
        crime = six_layers(table("communities", label=label)[0], epochs=20)
        for words, subject, options in (
            ("Adult", census, {"support": 0.05, "samples": 1000, "error": 0.05}),
            ("communities, thresholds", crime, {"intervals": "thresholds", "depth": 3}),
            ("communities, all intervals", crime, {"depth": 3}),
        ):
            for permutations in (19, 999):
                ours = taken(partial(audited, subject, permutations=permutations, **options), 3)
                told = ours.result
                note = f"{told.n_counted:,} of {told.n_candidates:,} candidates, {told.n_frequent:,} frequent"
                print(line(f"{words}, {subject.data.n:,} rows, {permutations} permutations", ours, note=note))


def audited(subject: Subject, **options: object) -> RuleSetsResult:
    """Audit a subject of which nothing is scored yet."""
    fresh = Subject(subject.data, subject.model, 0.5, subject.space)
    return rule_sets(fresh, RuleSetsOptions(**options))


RUNS = {"testsgd": main, "testsgd-times": times}
