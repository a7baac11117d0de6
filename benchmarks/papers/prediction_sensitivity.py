"""Sections 5 and 6: the paper's experiments, on data from known causes and on copies.

Two features and a label come from scikit-learn's `make_classification`, as the paper says; how many
points, and how far apart the classes lie, it does not say. In the unbiased data (Figure 3b) gender is a
coin; in the biased data (Figure 3a) it follows the label: P(woman) is .25 for positive, .75 for negative.
F learns from the biased data, its unbiased twin from the unbiased, and A tells gender in the biased data.

    python -m benchmarks.papers prediction-sensitivity synthetic|adult|compas [--trials 30] [--epochs 40]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from audits.data import public_section
from audits.models.networks.dense import Dense
from audits.models.networks.training import Training, fit_dense
from audits.sensitivity.match_sets.sets import MatchSet, match_set
from audits.sensitivity.measurement.gradients import AuditedModel, Status, measure
from benchmarks.measuring import SHARED, asked, screened


def judge(
    models: Sequence[Dense],
    people: tuple[np.ndarray, np.ndarray],
    column: int,
    rng: np.random.Generator,
    *,
    augment: bool = False,
    literal: bool = False,
    draws: int = 100,
) -> tuple[float, MatchSet]:
    """Return how often F decides right, and its match set, on people `z` (n, d) with labels (Table 2).

    `models` are F, its twin (of unbiased data, or of copies with the attribute flipped) and A; `column` is
    where the binary protected attribute is. With `augment` people's copies are judged, too; with `literal`
    A's gradient is taken at its probability.
    """
    (audited, twin, status), (z, label) = models, people
    if augment:
        z, label = _flipped(z, column), np.tile(label, 2)
    blocks = [slice(k, k + 1) for k in range(z.shape[1])]
    model = Status("protected", ("0", "1"), status)
    found = measure(z, AuditedModel(audited), (model,), blocks, literal=literal)
    ours, other = found.score >= 0.5, expit(twin.outputs(z)[:, 0]) >= 0.5
    given = found.sensitivity, found.influence, np.abs(found.score - 0.5), other != ours
    matched = match_set(*given, twin="the experiment's twin", draws=draws, rng=rng)
    return float(np.mean(ours == (label == 1))), matched


def synthetic_trial(rng: np.random.Generator, *, n: int = 5000, **options: Any) -> tuple[float, MatchSet]:
    """Carry out section 5's experiment once: half of `n` points to learn from, half to test.

    The network has one hidden layer ("a single hidden layer", section 6.2) of 32; 40 epochs of Adam at 0.001.
    """
    kinds = {"n_informative": 2, "n_redundant": 0, "n_clusters_per_class": 1}
    x, label = make_classification(n, 2, **kinds, random_state=int(rng.integers(2**31)))
    x = (x - x.mean(0)) / x.std(0)
    fair = rng.random(n) < 0.5
    biased = rng.random(n) < np.where(label == 1, 0.25, 0.75)
    z, unbiased = (np.column_stack([x, gender.astype(float)]) for gender in (biased, fair))
    half = n // 2
    training = Training((32,), 40, None, 1e-3, 0.0, min(256, half // 8))
    targets = (z, label), (unbiased, label), (z, biased.astype(int))
    models = [fit_dense(x[:half], y[:half], 2, rng, training=training) for x, y in targets]
    return judge(models, (z[half:], label[half:]), 2, rng, **options)


def augmented_trial(
    x: np.ndarray, label: np.ndarray, column: int, rng: np.random.Generator, *, training: Training
) -> Callable[..., tuple[float, MatchSet]]:
    """Train the models of section 6 once, and return what judges them on a fifth of the points `x` (n, d).

    The twin learns from rows copied with `column` flipped, the protected attribute, 0 or 1.
    """
    order = rng.permutation(len(x))
    test, rows = np.split(order, [round(0.2 * len(x))])
    member, copies = x[rows, column].astype(int), (_flipped(x[rows], column), np.tile(label[rows], 2))
    targets = (x[rows], label[rows]), copies, (x[rows], member)
    models = [fit_dense(*target, 2, rng, training=training) for target in targets]
    return partial(judge, models, (x[test], label[test]), column, rng)


def _flipped(points: np.ndarray, column: int) -> np.ndarray:
    """The points, and below them their copies with the attribute flipped, (2n, d)."""
    copies = points.copy()
    copies[:, column] = 1.0 - copies[:, column]
    return np.concatenate([points, copies])


def summary(name: str, trials: list[tuple[float, MatchSet]]) -> None:
    """Mean and standard deviation over trials of the areas, where there is a curve."""
    accuracies, found = zip(*trials, strict=True)
    shown = [each for each in found if each.curves]
    areas = np.array([[curve.auc.value for curve in each.curves] for each in shown])
    within = np.array([each.equally_far.value for each in shown])
    outside = np.mean([each.mismatched.value for each in found])
    columns = " ".join(f"{a:.3f} ± {s:.3f}" for a, s in zip(areas.mean(0), areas.std(0), strict=True))
    told = f"{name:30} {len(shown)} of {len(trials)} trials  accuracy {np.mean(accuracies):.3f}  "
    told += f"outside {outside:.3f}  AUC of sensitivity, |∇F|, −|p − ½|: {columns}"
    print(f"{told}; equally far {within.mean():.3f} ± {within.std():.3f}", flush=True)


def table_2(which: str, trials: int, epochs: int) -> None:
    """Trials of sex and race, on original and augmented test people, with A's gradient in both forms."""
    frame, label, protected = adult() if which == "adult" else compas()
    # "a single hidden layer", 32 and 256 wide; Adam at 0.001, as section 6.2 says; the batch is not said
    training = Training((32,) if which == "adult" else (256,), epochs, None, 1e-3, 0.0, 256)
    tests = {"log-odds, original": {}, "log-odds, augmented": {"augment": True}}
    tests["literal, original"] = {"literal": True}
    for name, members in protected.items():
        x, column = encode(frame.drop(columns=name), members)
        rngs = (np.random.default_rng(k) for k in range(trials))
        trained = [augmented_trial(x, label, column, rng, training=training) for rng in rngs]
        for test, options in tests.items():
            summary(f"{which} {name}, {test}", [judged(draws=20, **options) for judged in trained])


def adult() -> tuple[pd.DataFrame, np.ndarray, dict[str, pd.Series]]:
    """Columns, labels and members of the training file without gaps."""
    names = public_section("adult", SHARED)["read"]["names"]
    read = {"names": names, "skipinitialspace": True, "na_values": "?"}
    frame = pd.read_csv(SHARED / "adult.data", **read).dropna()
    members = {"sex": frame["sex"] == "Male", "race": frame["race"] == "White"}
    label = (frame["income"] == ">50K").to_numpy(dtype=int)
    return frame.drop(columns=["income", "fnlwgt", "education"]), label, members


def compas() -> tuple[pd.DataFrame, np.ndarray, dict[str, pd.Series]]:
    """Columns, labels and members of those who were screened within 30 days."""
    frame, young = screened(), ["juv_fel_count", "juv_misd_count", "juv_other_count"]
    members = {"sex": frame["sex"] == "Male", "race": frame["race"] == "African-American"}
    columns = frame[["age", "sex", "race", "priors_count", "c_charge_degree", *young]]
    return columns, frame["two_year_recid"].to_numpy(dtype=int), members


def encode(frame: pd.DataFrame, members: pd.Series) -> tuple[np.ndarray, int]:
    """Numbers z-scored, categories 0 and 1, and last who is a member; and the column of that."""
    hot, numbers = pd.get_dummies(frame, dtype=float), frame.select_dtypes("number").columns
    hot[numbers] = (hot[numbers] - hot[numbers].mean()) / hot[numbers].std(ddof=0)
    return np.column_stack([hot.to_numpy(dtype=float), members.astype(float)]), hot.shape[1]


def main(*given: str) -> None:
    """Table 2 (adult, compas) and section 5 (synthetic), over trials."""
    chosen = asked(__doc__, given, words=["synthetic"], trials=30, epochs=40)
    with threadpool_limits(1):
        for which in chosen.words:
            if which != "synthetic":
                table_2(which, chosen.trials, chosen.epochs)
                continue
            for form in ("log-odds", "literal"):
                told, seeds = {"literal": form == "literal", "draws": 20}, range(chosen.trials)
                drawn = [synthetic_trial(np.random.default_rng(seed), **told) for seed in seeds]
                summary(f"synthetic, {form}", drawn)


RUNS = {"prediction-sensitivity": main}
