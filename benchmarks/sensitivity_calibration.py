"""Type I error of sensitivity ratios at 5 %, the corrected interval and studentised permutations together.

    python -m benchmarks.sensitivity_calibration [REPLICATIONS]

Both groups have the same mean; spread and shape differ. Beside what decides stand the interval alone, and
permutations of the plain difference of means, which take a difference of spread for one of means.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from audits.data import DataSpec, build_data
from audits.models import Subject, make_subject, model_spec
from audits.models.quality import area_under_curve
from audits.sensitivity.inference import baseline_of, feature_shares, ratio_p_value, threshold_of
from audits.sensitivity.measurement.status_models import calibration_bins
from audits.sensitivity.options import SensitivityOptions
from audits.stats import EVIDENCE, NO_MATERIAL, p_value, wilson
from audits.stats.curves import area_equally_far, area_within, roc_curves
from audits.stats.means import mean_test
from audits.stats.ratios import mean_ratio
from benchmarks.calibration import SLOW, Row, Simulation

Draw = Callable[[np.random.Generator, int], np.ndarray]


def lognormal(spread: float) -> Draw:
    """Mean 1, standard deviation of the logarithm `spread`."""
    return lambda rng, n: np.exp(spread * rng.normal(size=n) - spread**2 / 2)


def gamma(variation: float) -> Draw:
    """Mean 1, standard deviation `variation`."""
    return lambda rng, n: rng.gamma(variation**-2, variation**2, n)


WORLDS: dict[str, tuple[Draw, Draw]] = {
    "alike, lognormal 0.8": (lognormal(0.8), lognormal(0.8)),
    "group wider, lognormal 1 against 0.5": (lognormal(1.0), lognormal(0.5)),
    "group narrower, lognormal 0.5 against 1": (lognormal(0.5), lognormal(1.0)),
    "group wider, gamma 0.9 against 0.3": (gamma(0.9), gamma(0.3)),
    "group narrower, gamma 0.3 against 0.9": (gamma(0.3), gamma(0.9)),
}
SIZES = ((20, 400), (50, 400), (150, 600), (300, 300), (500, 4500))


def rejected(
    mine: np.ndarray, rest: np.ndarray, rng: np.random.Generator, draws: int = 199
) -> tuple[bool, bool, bool]:
    """Whether equal means are rejected: by what decides, by the interval alone, by plain permutations."""
    values, inside = np.r_[mine, rest], np.arange(len(mine) + len(rest)) < len(mine)
    weights = np.ones(len(values))
    ratio = mean_ratio(mean_test(mine), mean_test(rest), level=0.05)
    excluded = (ratio.low is not None and ratio.low > 1) or (ratio.high is not None and ratio.high < 1)
    p = ratio_p_value(values, weights, inside, rng, draws=draws)
    plain = permuted(values, inside, rng, draws)
    return bool(excluded and p <= 0.05), bool(excluded), bool(plain <= 0.05)


def permuted(values: np.ndarray, inside: np.ndarray, rng: np.random.Generator, draws: int) -> float:
    """Two-sided p-value of the mean of those `inside`, membership permuted."""
    shuffled = rng.permuted(np.tile(values, (draws, 1)), axis=1)
    own, null = float(values[inside].mean()), shuffled[:, : inside.sum()].mean(axis=1)
    return min(1.0, 2 * min(p_value(own, null), p_value(-own, -null)))


def main(replications: int = 2000) -> None:
    """Print a row for each world and size."""
    print(f"{replications:,} replications\n{'':42s} sizes       decides interval permutations")
    for name, (group, others) in WORLDS.items():
        for first, second in SIZES:
            rng = np.random.default_rng(first)
            found = [rejected(group(rng, first), others(rng, second), rng) for _ in range(replications)]
            shares = "   ".join(f"{share:.3f}" for share in np.mean(found, axis=0))
            print(f"{name:42s} {first:4d} {second:5d}   {shares}", flush=True)


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for name in WORLDS:
        for first, second in SIZES:
            setting = f"equal means, {name}, {first:,} and {second:,} people"
            run = partial(_ratio, name, first, second, setting)
            found.append(Simulation("sensitivity", setting, run, part=SLOW))
    for n in (300, 1000):
        setting = f"whole audits, groups alike, {n:,} people"
        found.append(Simulation("sensitivity", setting, partial(_audits, n, setting), part=SLOW))
    for name in _DIRECT:
        setting = f"reads the attribute: {name}, 600 people"
        run = partial(_direct, name, 600, setting)
        found.append(Simulation("sensitivity", setting, run, part=SLOW))
    for name in _ALIKE:
        setting = f"does not read it: {name}, 600 people"
        run = partial(_unread, name, 600, setting)
        found.append(Simulation("sensitivity", setting, run, part=SLOW))
    for n, share in ((200, 0.1), (200, 0.3), (1000, 0.1)):
        setting = f"{n:,} people, {100 * share:.0f} % of them decided otherwise"
        found.append(Simulation("sensitivity", setting, partial(_areas, n, share, setting), part=SLOW))
    for n in (100, 1000):
        setting = f"{n:,} people, exponential sensitivities"
        found.append(Simulation("sensitivity", setting, partial(_alone, n, setting), part=SLOW))
        setting = f"{n:,} people, a tenth of them decided otherwise, sensitivity follows the distance in part"
        found.append(Simulation("sensitivity", setting, partial(_beside, n, setting), part=SLOW))
        setting = f"{n:,} people, probabilities of group membership that are right"
        found.append(Simulation("sensitivity", setting, partial(_status, n, setting), part=SLOW))
    return found


def _alone(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Quantiles, the threshold, whom it flags of people to come, and each feature's part."""
    options = SensitivityOptions(bootstrap=200)
    quantiles = limit = flagged = of_group = features = 0
    parts = np.array([0.5, 0.3, 0.2])
    for number in numbers:
        rng = np.random.default_rng([number, n, 12])
        values, ones = rng.exponential(size=n), np.ones(n)
        found = baseline_of(values, ones, level=0.05).quantiles
        hits = [
            (each.low is None or each.low <= -np.log1p(-float(share)))
            and (each.high is None or -np.log1p(-float(share)) <= each.high)
            for share, each in found.items()
        ]
        quantiles += float(np.mean(hits))
        threshold = threshold_of(values, ones, options)
        truth = -np.log(options.false_alarm_rate)
        limit += (threshold.low is None or threshold.low <= truth) and (
            threshold.high is None or truth <= threshold.high
        )
        above, to_come = values > threshold.value, float(np.exp(-(threshold.value or 0.0)))
        share = wilson(float(above.sum()), float(n))
        flagged += (share.low or 0.0) <= to_come <= (share.high or 1.0)
        own = wilson(float(above[: n // 2].sum()), float(n // 2))
        of_group += (own.low or 0.0) <= to_come <= (own.high or 1.0)
        contributions = values[:, None] * rng.dirichlet(5 * parts, n)
        each = feature_shares(contributions, ("a", "b", "c"), above, ones, options, rng)
        features += all(
            (one.share.low or 0.0) <= true <= (one.share.high or 1.0)
            for one in each
            for true in (parts["abc".index(one.feature)],)
        )
    worlds = len(numbers)
    for shown, hits_of in (
        ("quantiles of sensitivity", round(quantiles)),
        ("threshold", limit),
        ("share flagged, of people to come", flagged),
        ("share of a group flagged, of people to come", of_group),
        ("each feature's part, all together", features),
    ):
        said = _FEW if n <= 100 and shown.startswith("each feature") else ""
        yield Row("sensitivity", shown, setting, "coverage", 0.95, int(hits_of), worlds, said=said)


def _beside(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Area among people of one band of distance, and equally far: .5 where a score is distance and noise."""
    within = beside = banded = stated = 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 13])
        distance = rng.exponential(size=n)
        member = rng.random(n) < 0.2 * np.exp(-distance)
        if min(member.sum(), (~member).sum()) < 5:
            continue
        stated += 1
        band = np.digitize(distance, np.quantile(distance, [0.25, 0.5, 0.75]))
        noise = rng.normal(size=n)  # tells nothing within a band, whatever the distance
        one = area_within(noise, member, band, rng, draws=200)
        within += one.low is not None and one.low <= 0.5 <= (one.high or 1.0)
        two = area_equally_far(-distance, member, distance, rng, draws=200)
        three = area_equally_far(noise, member, distance, rng, draws=200)
        beside += all(each.low is None or each.low <= 0.5 <= (each.high or 1.0) for each in (two, three))
        own = area_under_curve(noise[band == 0], member[band == 0], np.ones((band == 0).sum()))
        banded += own.low is None or own.low <= 0.5 <= (own.high or 1.0)
    for shown, hits in (
        ("area within bands of distance", within),
        ("area in one band", banded),
        ("area among people equally far", beside),
    ):
        said = _FEW_OTHERWISE if n <= 100 and shown.startswith("area within") else ""
        yield Row("sensitivity", shown, setting, "coverage", 0.95, hits, stated, said=said)


def _status(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """A protected-status model's area and its bins, where what it states is so."""
    drawn = np.random.default_rng(0).normal(size=400_000)
    chance = 1 / (1 + np.exp(-1.5 * drawn))
    truth, held, bins = outscored(drawn, np.random.default_rng(1).random(len(drawn)) < chance), 0, 0.0
    for number in numbers:
        rng = np.random.default_rng([number, n, 14])
        z = rng.normal(size=n)
        p = 1 / (1 + np.exp(-1.5 * z))
        member = rng.random(n) < p
        area = area_under_curve(z, member, np.ones(n))
        held += (area.low or 0.0) <= truth <= (area.high or 1.0)
        found = calibration_bins(np.maximum(p, 1 - p), member == (p > 0.5), np.ones(n), 0.05)
        bins += float(
            np.mean([(b.observed.low or 0.0) <= b.stated <= (b.observed.high or 1.0) for b in found])
        )
    worlds = len(numbers)
    yield Row("sensitivity", "area of a protected-status model", setting, "coverage", 0.95, held, worlds)
    shown = "bins of a protected-status model"
    yield Row("sensitivity", shown, setting, "coverage", 0.95, round(bins), worlds)


def outscored(scores: np.ndarray, member: np.ndarray) -> float:
    """Area under the curve of so many people that it is the truth."""
    return float(area_under_curve(scores, member, np.ones(len(member))).value or 0.0)


def _ratio(name: str, first: int, second: int, setting: str, numbers: range) -> Iterator[Row]:
    group, others = WORLDS[name]
    hits = covered = 0
    for number in numbers:
        rng = np.random.default_rng([number, first])
        mine, rest = group(rng, first), others(rng, second)
        hits += rejected(mine, rest, rng)[0]
        interval = mean_test(mine).interval(0.05)
        covered += (interval.low or -np.inf) <= 1 <= (interval.high or np.inf)
    shown, worlds = "ratio of mean sensitivities", len(numbers)
    yield Row("sensitivity", shown, setting, "false alarms", 0.05, hits, worlds)
    shown = "mean sensitivity of the group"
    said = _SKEWED if first <= 50 else ""
    yield Row("sensitivity", shown, setting, "coverage", 0.95, covered, worlds, said=said)


_SKEWED = (
    "“Among 50 people or fewer … an interval of their mean holds in about 87 to 90 of 100 samples, not 95”"
)


_FEW = "“Of about 100 people, all intervals hold together in 91 of 100 samples, not 95”"
_FEW_OTHERWISE = (
    "“With 20 people or fewer decided otherwise, intervals of areas hold in about 90 of 100 samples, and in "
    "87 within bands, not in 95”"
)


def penalized(n: int, apart: float, seed: int, penalty: float = 4.0) -> Subject:
    """People half of whom are women, `apart` deviations taller; the model takes log-odds from every woman.

    It is trained on labels that do so.
    """
    rng = np.random.default_rng([seed, 21])
    woman = rng.random(2 * n) < 0.5
    frame = pd.DataFrame({"skill": rng.normal(size=2 * n), "height": rng.normal(size=2 * n) + apart * woman})
    score = 1.2 * frame["skill"] + 0.6 * frame["height"] - penalty * woman + 1.4
    frame["hired"] = (rng.random(2 * n) < expit(score)).astype(int)
    frame["sex"] = np.where(woman, "f", "m")
    features = ("skill", "height", "sex") if penalty else ("skill", "height")
    spec = DataSpec(label="hired", favorable=1, protected=("sex",), features=features)
    return make_subject(build_data(frame, spec), model_spec({"train": "logistic"}), test_size=0.5, seed=seed)


_DIRECT = {
    "4 log-odds from every woman, whom nothing reveals": (0.0, 4.0),
    "4 log-odds from every woman, revealed in part": (0.8, 4.0),
    "1 log-odds from every woman, revealed in part": (0.8, 1.0),
}
_ALIKE = {"proxies used alike, revealed in part": 0.8, "proxies used alike, hardly revealed": 0.25}


def _direct(name: str, n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Whole audits of a model that reads the attribute: how often it is cleared."""
    from audits.sensitivity import sensitivity

    apart, penalty = _DIRECT[name]
    options = SensitivityOptions(match_set="off", bootstrap=100)
    cleared = evidence = 0
    for number in numbers:
        verdict = sensitivity(penalized(n, apart, number, penalty), options, rng=number).verdict
        cleared += verdict == NO_MATERIAL
        evidence += verdict == EVIDENCE
    yield Row("sensitivity", "all-clear of direct use", setting, "false alarms", 0.05, cleared, len(numbers))
    if not apart:
        shown = "verdict of a status model at chance"
        yield Row("sensitivity", shown, setting, "false alarms", 0.05, cleared + evidence, len(numbers))


def _unread(name: str, n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Whole audits of a model that reads only proxies, whose slopes are the same for both groups."""
    from audits.sensitivity import sensitivity

    options = SensitivityOptions(match_set="off", bootstrap=100)
    hits = 0
    for number in numbers:
        rng = np.random.default_rng([number, 22])
        woman = rng.random(2 * n) < 0.5
        frame = pd.DataFrame({"skill": rng.normal(size=2 * n)})
        frame["height"] = rng.normal(size=2 * n) + _ALIKE[name] * (woman - 0.5)
        frame["hired"] = (rng.random(2 * n) < expit(1.2 * frame["skill"])).astype(int)
        frame["sex"] = np.where(woman, "f", "m")
        spec = DataSpec(label="hired", favorable=1, protected=("sex",), features=("skill", "height"))
        model = model_spec({"train": "logistic"})
        subject = make_subject(build_data(frame, spec), model, test_size=0.5, seed=number)
        hits += sensitivity(subject, options, rng=number).verdict == EVIDENCE
    yield Row("sensitivity", "evidence of a difference", setting, "false alarms", 0.05, hits, len(numbers))


def _audits(n: int, setting: str, numbers: range) -> Iterator[Row]:
    """Whole audits of a logistic model, groups drawn alike."""
    from audits.sensitivity import sensitivity
    from benchmarks.loss_ratio_worlds import people, subject_of

    options = SensitivityOptions(status_model="logistic", match_set="off", bootstrap=100)
    hits = 0
    for number in numbers:
        told = {"sex": 0.4}
        frame = people(2 * n, 4, told, np.random.default_rng([number, n]))
        hits += sensitivity(subject_of(frame, told, "logistic", number), options, rng=number).verdict == (
            EVIDENCE
        )
    shown = "evidence of a difference"
    yield Row("sensitivity", shown, setting, "false alarms", 0.05, hits, len(numbers))


def _areas(n: int, share: float, setting: str, numbers: range) -> Iterator[Row]:
    """Areas of two scores, normal with means one and a half apart."""
    truth, covered, apart = (float(norm.cdf(gap / np.sqrt(2))) for gap in (1.0, 0.5)), 0, 0
    first, second = truth
    for number in numbers:
        rng = np.random.default_rng([number, n, 7])
        member = np.arange(n) < round(share * n)
        scores = rng.normal(size=(2, n)) + np.outer([1.0, 0.5], member)
        found = roc_curves(scores, member, rng, draws=200)
        low, high = np.quantile(found.draws[:, 0], [0.025, 0.975])
        covered += bool(low <= first <= high)
        gap = found.difference(0, 1, float(n))
        apart += bool((gap.low or -1.0) <= first - second <= (gap.high or 1.0))
    worlds = len(numbers)
    said = _FEW_OTHERWISE if share * n <= 20 else ""
    yield Row("sensitivity", "area under the curve", setting, "coverage", 0.95, covered, worlds, said=said)
    yield Row("sensitivity", "difference of two areas", setting, "coverage", 0.95, apart, worlds)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
