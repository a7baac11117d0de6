"""Prediction sensitivity: speed beside the forward passes alone, and the paper's experiments again.

    python -m benchmarks.sensitivity speed                      the pass over very many people
    python -m benchmarks.sensitivity synthetic --trials 30      section 5
    python -m benchmarks.sensitivity adult|compas --trials 30   Table 2, from ../shared/data
    python -m benchmarks.sensitivity adult --first 10 --trials 10 --keep areas.jsonl    a part of it
    python -m benchmarks.sensitivity kept --keep areas.jsonl                            all parts together
    python -m benchmarks.sensitivity chart                      the control chart's promise

Times are the best of several in one process; on a machine that is shared, the ratio is what counts.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from audits.models.networks.dense import Dense
from audits.models.networks.fitting import Training
from audits.sensitivity.measuring.gradients import CHUNK, Audited, Status, totals
from audits.stats.control import design_chart, flag_rate_bound
from benchmarks.sensitivity_trials import SyntheticTrial, augmented_trial, synthetic_trial

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data"
FEATURES, WIDTH, PEOPLE = 95, 32, 400_000  # the paper's Adult networks
PUBLISHED = {
    ("adult", "sex"): (84.4, 69.8, 69.9),
    ("adult", "race"): (84.6, 66.7, 66.3),
    ("compas", "sex"): (66.7, 76.4, 77.5),
    ("compas", "race"): (66.6, 74.8, 75.1),
}


def best(work: Callable[[], object], times: int = 5) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def speed(threads: int) -> None:
    rng = np.random.default_rng(0)

    def draw() -> Dense:
        pairs = pairwise((FEATURES, WIDTH, WIDTH, 1))
        weights = tuple(rng.normal(size=pair) / np.sqrt(pair[0]) for pair in pairs)
        return Dense(weights, (np.zeros(WIDTH), np.zeros(WIDTH), np.zeros(1))).astype(np.float32)

    audited, status = Audited(draw()), Status("sex", ("f", "m"), draw())
    z = rng.normal(size=(PEOPLE, FEATURES)).astype(np.float32)
    parts = [z[start : start + CHUNK] for start in range(0, len(z), CHUNK)]

    def forward() -> None:
        def one(part: np.ndarray) -> None:
            audited.network.outputs(part)
            status.network.outputs(part)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(one, parts))

    with threadpool_limits(1):
        # in turns, so that what else the machine does falls on both alike
        turns = [
            (best(forward, 1), best(lambda: totals(z, audited, status, threads=threads), 1)) for _ in range(9)
        ]
    plain, whole = (min(times) for times in zip(*turns, strict=True))
    ratio = np.median([after / before for before, after in turns])
    with threadpool_limits(1):
        start = time.process_time()
        totals(z, audited, status)
        spent = time.process_time() - start
    print(f"{PEOPLE / spent:,.0f} people a second of processor time on one core")
    print(f"{PEOPLE / whole:,.0f} people a second on {threads} threads; {whole / plain:.2f} times the two")
    print(f"forward passes (best of 9; median of the ratios in turn {ratio:.2f})")


def facts(name: str, seed: int, trial: SyntheticTrial) -> dict[str, object]:
    """What is kept of a trial; areas only where there is a curve."""
    found = trial.matched
    areas = [curve.auc.value for curve in found.curves]
    return {
        "name": name,
        "seed": seed,
        "accuracy": trial.accuracy,
        "mismatched": found.mismatched.value,
        "areas": areas or None,
        "equally_far": found.equally_far.value if areas else None,
    }


def summary(name: str, trials: list[dict[str, Any]]) -> None:
    """Mean and standard deviation over trials of the areas, where there is a curve."""
    shown = [trial for trial in trials if trial["areas"]]
    areas = np.array([trial["areas"] for trial in shown])
    within = np.array([trial["equally_far"] for trial in shown])
    mismatched = np.mean([trial["mismatched"] for trial in trials])
    accuracy = np.mean([trial["accuracy"] for trial in trials])
    columns = " ".join(f"{a:.3f} ± {s:.3f}" for a, s in zip(areas.mean(0), areas.std(0), strict=True))
    print(
        f"{name:30} {len(shown)} of {len(trials)} trials  accuracy {accuracy:.3f}  mismatched "
        f"{mismatched:.3f}  AUC of sensitivity, |∇F|, −|p − ½|: {columns}; equally far {within.mean():.3f} ± "
        f"{within.std():.3f}",
        flush=True,
    )


def keep(file: Path | None, name: str, found: list[dict[str, Any]]) -> None:
    """Print the summary of these trials, and append them to `file`."""
    summary(name, found)
    if file is not None:
        with file.open("a", encoding="utf-8") as lines:
            lines.writelines(json.dumps(each) + "\n" for each in found)


def kept(file: Path) -> None:
    """Print the summaries of all trials in `file`, each seed once, beside the paper's."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        trial = json.loads(line)
        found.setdefault(trial["name"], {})[trial["seed"]] = trial
    for name, trials in found.items():
        summary(name, list(trials.values()))
    for (which, attribute), (accuracy, original, augmented) in PUBLISHED.items():
        print(f"paper, {which} {attribute}: accuracy {accuracy}, AUC {original}, augmented {augmented}")


def synthetic(seeds: range, file: Path | None) -> None:
    for literal in (False, True):
        name = "synthetic, literal" if literal else "synthetic, log-odds"
        trials = (synthetic_trial(np.random.default_rng(k), literal=literal, draws=20) for k in seeds)
        keep(file, name, [facts(name, k, trial) for k, trial in zip(seeds, trials, strict=True)])


def table_2(which: str, seeds: range, epochs: int, file: Path | None) -> None:
    frame, label, protected = adult() if which == "adult" else compas()
    # "a single hidden layer", 32 and 256 wide; Adam at 0.001, as section 6.2 says; the batch is not said
    training = Training((32,) if which == "adult" else (256,), epochs, None, 1e-3, 0.0, 256)
    for name, members in protected.items():
        x, column = encode(frame, members)
        rngs = [np.random.default_rng(k) for k in seeds]
        trained = [augmented_trial(x, label, column, rng, training=training) for rng in rngs]
        for test, options in (
            ("log-odds, original", {}),
            ("log-odds, augmented", {"augment_test": True}),
            ("literal, original", {"literal": True}),
        ):
            judged = [each.judge(rng, draws=20, **options) for each, rng in zip(trained, rngs, strict=True)]
            called = f"{which} {name}, {test}"
            keep(file, called, [facts(called, k, trial) for k, trial in zip(seeds, judged, strict=True)])
        accuracy, original, augmented = PUBLISHED[which, name]
        print(f"  paper, 40 epochs: accuracy {accuracy}, AUC {original}, augmented test set {augmented}")


def adult() -> tuple[pd.DataFrame, np.ndarray, dict[str, np.ndarray]]:
    names = [
        *("age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation"),
        *("relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week"),
        *("native-country", "income"),
    ]
    frame = pd.read_csv(SHARED / "adult.data", names=names, skipinitialspace=True, na_values="?").dropna()
    label = (frame["income"] == ">50K").to_numpy(dtype=int)
    groups = {"sex": (frame["sex"] == "Male").to_numpy(), "race": (frame["race"] == "White").to_numpy()}
    return frame.drop(columns=["income", "fnlwgt", "education"]), label, groups


def compas() -> tuple[pd.DataFrame, np.ndarray, dict[str, np.ndarray]]:
    frame = pd.read_csv(SHARED / "compas.csv")
    keep = frame["days_b_screening_arrest"].between(-30, 30) & (frame["is_recid"] != -1)
    frame = frame[keep & (frame["c_charge_degree"] != "O")]
    label = frame["two_year_recid"].to_numpy(dtype=int)
    groups = {
        "sex": (frame["sex"] == "Male").to_numpy(),
        "race": (frame["race"] == "African-American").to_numpy(),
    }
    wanted = ["age", "sex", "race", "priors_count", "c_charge_degree"]
    wanted += [name for name in ("juv_fel_count", "juv_misd_count", "juv_other_count") if name in frame]
    return frame[wanted], label, groups


def encode(frame: pd.DataFrame, members: np.ndarray) -> tuple[np.ndarray, int]:
    """Numbers z-scored, categories 0 and 1; the protected attribute last, in place of its own column."""
    hot = pd.get_dummies(frame, dtype=float)
    mine = [
        name
        for name in hot
        if np.array_equal(hot[name] == 1, members) or np.array_equal(hot[name] == 0, members)
    ]
    source = mine[0].partition("_")[0] if mine else ""
    hot = hot[[name for name in hot if not name.startswith(f"{source}_")]] if source else hot
    numbers = frame.select_dtypes("number").columns
    hot[numbers] = (hot[numbers] - hot[numbers].mean()) / hot[numbers].std(ddof=0)
    return np.column_stack([hot.to_numpy(dtype=float), members.astype(float)]), hot.shape[1]


def chart(trials: int) -> None:
    """Draw a reference, set the threshold at 5 %, design the chart, and let it watch people alike."""
    rng = np.random.default_rng(0)
    kept, lengths = 0, []
    for _ in range(trials):
        n, promised = 2000, 2000.0
        values = np.sort(rng.gamma(2.0, size=n))
        above = int(0.05 * n)
        threshold = values[n - above - 1]
        designed = design_chart(flag_rate_bound(above, n), people_between=promised)
        flags = rng.gamma(2.0, size=400_000) > threshold
        alarms = len(designed.follow(flags).alarms)
        lengths.append(400_000 / max(alarms, 1))
        kept += lengths[-1] >= promised
    print(
        f"{kept} of {trials} charts kept their promise of {promised:,.0f} people between false alarms (95 "
        f"% are "
        f"promised); median {np.median(lengths):,.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["speed", "synthetic", "adult", "compas", "kept", "chart"])
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--first", type=int, default=0, help="seed of the first trial")
    parser.add_argument("--keep", type=Path, help="file of JSON lines to which trials are added")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    if given.what == "speed":
        speed(given.threads)
    elif given.what == "chart":
        chart(given.trials)
    elif given.what == "kept":
        kept(given.keep)
    else:
        seeds = range(given.first, given.first + given.trials)
        with threadpool_limits(1):
            if given.what == "synthetic":
                synthetic(seeds, given.keep)
            else:
                table_2(given.what, seeds, given.epochs, given.keep)


if __name__ == "__main__":
    main()
