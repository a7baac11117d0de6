"""Coverage of 95 % intervals and Type I error at 5 %, default against the paper's formulas.

    python -m benchmarks.loss_ratio_calibration [REPLICATIONS] [WORLDS]

Then worlds in which the protected attributes are independent of everything (`loss_ratio_worlds`), WORLDS
draws of each: how often some attribute counts as told by the features, without which there is no evidence,
and the verdicts of a twentieth of as many whole audits; and what the search without gradient finds of the
mean ratio that exact gradients give, in ten models.

2,000 replications have a Monte-Carlo error of 0.005. At the true ratio the test must reject in at most 5 %.
The bootstrap-t (Efron and Tibshirani, 1993, section 12.5) stands beside them where people are few or tails
heavy, because it is what else there is: it covers no more under heavy tails.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np

from audits.loss_ratio import LossRatioOptions, loss_ratio
from audits.stats.means import mean_test
from audits.stats.paired import PairedRatio
from audits.stats.verdicts import EVIDENCE
from benchmarks.calibration import SLOW, Row, Simulation
from benchmarks.loss_ratio_worlds import (
    WORLDS,
    found_by_search,
    people,
    subject_of,
    tied,
    told_of,
    verdicts,
)

Draw = Callable[[np.random.Generator, int], np.ndarray]
MEANS: dict[str, tuple[Draw, float]] = {
    "lognormal, σ 0.5": (lambda rng, n: np.exp(0.5 * rng.normal(size=n)), float(np.exp(0.125))),
    "lognormal, σ 1": (lambda rng, n: np.exp(rng.normal(size=n)), float(np.exp(0.5))),
    "lognormal, σ 1.5": (lambda rng, n: np.exp(1.5 * rng.normal(size=n)), float(np.exp(1.125))),
    "10 % of people far above 1": (
        lambda rng, n: 1 + np.where(rng.random(n) < 0.1, rng.exponential(5, n), 0.02 * rng.random(n)),
        1.509,
    ),
    "Pareto, index 3": (lambda rng, n: 1 + rng.pareto(3, n), 1.5),
}
_RESAMPLES, _FEW = 499, 100
# share wrong before, share wrong after only, share wrong before only
RATIOS = ((0.05, 0.03, 0.0), (0.1, 0.05, 0.01), (0.2, 0.1, 0.02), (0.15, 0.04, 0.005), (0.3, 0.3, 0.0))


def judge(tests: list, truth: float) -> str:
    """Shares of tests whose interval covers the truth, and that reject it."""
    covered = rejected = 0
    for test in tests:
        interval, bound = test.interval(0.05), test.lower_bound(0.05)
        low = -np.inf if interval.low is None else interval.low
        high = np.inf if interval.high is None else interval.high
        # without a ratio there is no interval to cover with
        covered += interval.value is not None and low <= truth <= high
        rejected += bound is not None and bound > truth
    return f"{covered / len(tests):.3f} {rejected / len(tests):.3f}"


def bootstrap_t(values: np.ndarray, truth: float, rng: np.random.Generator) -> tuple[bool, bool]:
    """Whether the 95 % interval covers the truth, and whether the one-sided test rejects it."""
    n = len(values)
    drawn = values[rng.integers(0, n, (_RESAMPLES, n))]
    t = (drawn.mean(axis=1) - values.mean()) / (drawn.std(axis=1, ddof=1) / np.sqrt(n))
    far, near, one_sided = values.mean() - values.std(ddof=1) / np.sqrt(n) * np.quantile(
        t, [0.975, 0.025, 0.95]
    )
    return bool(far <= truth <= near), bool(one_sided > truth)


def judge_ratios(tests: list[PairedRatio], truth: float) -> str:
    """The same of ratios, whose interval holds what its test does not reject: no end need be searched for."""
    p = [(test.p_value(truth), test.value) for test in tests]
    covered = sum(each is not None and value is not None and 0.025 <= each <= 0.975 for each, value in p)
    rejected = sum(each is not None and each < 0.05 for each, _ in p)
    return f"{covered / len(tests):.3f} {rejected / len(tests):.3f}"


def main(replications: int = 2000, draws: int = 600) -> None:
    print(f"{replications:,} replications; coverage and Type I error\n")
    means(replications)
    ratios(replications)
    nothing(draws)
    searched()


def nothing(draws: int) -> None:
    """How often attributes that are independent of everything are told, and make evidence."""
    print(f"\n{'attributes independent of everything':44s} told in")
    for world in WORLDS:
        told = told_of(world, range(draws))[True] / draws
        print(f"{world:44s} {told:.3f}", flush=True)
    for world, model in product(WORLDS, ("logistic", "mlp")):
        found = verdicts(world, model, range(max(1, draws // 20)))
        share = found[EVIDENCE] / found.total()
        print(f"{world:44s} {model:9s} evidence in {share:.3f} of {found.total()} audits", flush=True)


def searched() -> None:
    """What the search without gradient finds of the exact mean ratio."""
    print(f"\n{'search without gradient':28s} exact  found  found / exact")
    shares = []
    for seed, model in product(range(5), ("logistic", "mlp")):
        told = {"sex": 0.5}
        frame = people(600, 3 + seed, told, np.random.default_rng(seed), trace=1.0 + seed / 4)
        if seed % 2:  # a category that the attribute leaves its trace in
            drawn = np.random.default_rng(seed).random(len(frame)) < 0.3 + 0.3 * (frame["sex"] == "a")
            frame["job"] = np.where(drawn, "cook", "judge")
        exact, found = found_by_search(subject_of(frame, told, model, seed))
        shares.append(found / exact)
        print(
            f"{model:9s} {3 + seed} features{'':7s} {exact:7.3f} {found:6.3f} {shares[-1]:7.3f}", flush=True
        )
    print(f"median {np.median(shares):.3f}")


def means(replications: int) -> None:
    """Mean ratios of losses."""
    print(f"{'mean ratio':28s} {'n':>5s}  default      paper")
    for name, (draw, truth) in MEANS.items():
        for n in (30, 100, 400, 2000):
            rng = np.random.default_rng(n)
            samples = [draw(rng, n) for _ in range(replications)]
            found = [
                judge([mean_test(values, method=method) for values in samples], truth)
                for method in ("skewness", "normal")
            ]
            print(f"{name:28s} {n:5d}  {found[0]}  {found[1]}")
            if n <= _FEW:
                covered, rejected = np.mean([bootstrap_t(values, truth, rng) for values in samples], axis=0)
                print(f"{'':28s} {'':5s}  bootstrap-t: {covered:.3f} {rejected:.3f}", flush=True)


def ratios(replications: int) -> None:
    """Ratios of error rates."""
    print(f"\n{'ratio of error rates':28s} {'n':>5s}  default      paper")
    for wrong, new, gone in RATIOS:
        for n in (100, 400, 2000):
            rng = np.random.default_rng(n)
            counts = rng.multinomial(n, [wrong - gone, new, gone, 1 - wrong - new], replications).astype(
                float
            )
            truth = (wrong - gone + new) / wrong
            found = [
                judge_ratios([PairedRatio(*row, method=method) for row in counts], truth)
                for method in ("score", "delta")
            ]
            print(f"{wrong:.2f} wrong, ratio {truth:.2f}".ljust(28) + f" {n:5d}  {found[0]}  {found[1]}")


def simulations() -> list[Simulation]:
    """Return the settings of `benchmarks.calibration`."""
    found = []
    for world in WORLDS:
        run = partial(_told, world)
        found.append(Simulation("loss_ratio", f"independent, {world}", run, part=SLOW))
        for model in ("logistic", "mlp"):
            run = partial(_verdicts, world, model)
            setting = f"independent, {world}, {model}"
            found.append(Simulation("loss_ratio", setting, run, part=SLOW))
    for tie, column, model in _TIES:
        use = "uses" if column == "x0" else "does not use"
        setting = f"a tie of {tie:g} deviations that a {model} model {use}, 2,000 rows"
        run = partial(_tied, tie, column, model, setting)
        found.append(Simulation("loss_ratio", setting, run, part=SLOW))
    for name in MEANS:
        for n in (100, 400, 2000):
            found.append(Simulation("loss_ratio", f"{name}, {n:,} people", partial(_means, name, n)))
    for shares in RATIOS:
        for n in (100, 400, 2000):
            found.append(Simulation("loss_ratio", _ratio_words(shares, n), partial(_ratios, shares, n)))
    return found


def _told(world: str, numbers: range) -> Iterator[Row]:
    told = told_of(world, numbers)[True]
    shown = "an attribute counts as told by the features"
    yield Row("loss_ratio", shown, f"independent, {world}", "false alarms", 0.05, told, len(numbers))


def _verdicts(world: str, model: str, numbers: range) -> Iterator[Row]:
    hits = verdicts(world, model, numbers)[EVIDENCE]
    setting = f"independent, {world}, {model}"
    yield Row("loss_ratio", "evidence of a difference", setting, "false alarms", 0.05, hits, len(numbers))


_TIES = (
    (0.25, "x5", "logistic"),
    (0.35, "x5", "logistic"),
    (0.5, "x5", "logistic"),
    (0.35, "x5", "mlp"),
    (1.0, "x0", "logistic"),
)


def _tied(tie: float, column: str, model: str, setting: str, numbers: range) -> Iterator[Row]:
    """A real tie that the model uses or not: evidence, and the true direction's ratio."""
    evidence = covered = 0
    for number in numbers:
        subject = tied(tie, column, np.random.default_rng([number, 31]), model=model)
        told = {"steps": 200}
        found = loss_ratio(subject, LossRatioOptions(**told), rng=number)
        truth = LossRatioOptions(metric="expert", directions=({column: 1.0},), **told)
        ratio = float(loss_ratio(subject, truth, rng=0).statistic.value or 0.0)
        said = found.judged.interval
        evidence += found.verdict == EVIDENCE
        covered += (said.low or 0.0) <= ratio <= (said.high or np.inf)
    worlds = len(numbers)
    kind, aim = ("power", 0.8) if column == "x0" else ("false alarms", 0.05)
    yield Row("loss_ratio", "evidence of a difference", setting, kind, aim, evidence, worlds)
    yield Row("loss_ratio", "ratio of the true direction", setting, "coverage", 0.95, covered, worlds)


def _means(name: str, n: int, numbers: range) -> Iterator[Row]:
    draw, truth = MEANS[name]
    tests = [mean_test(draw(np.random.default_rng([number, n, 5]), n)) for number in numbers]
    covered = rejected = 0
    for test in tests:
        interval, bound = test.interval(0.05), test.lower_bound(0.05)
        covered += (interval.low or -np.inf) <= truth <= (interval.high or np.inf)
        rejected += bound is not None and bound > truth
    setting = f"{name}, {n:,} people"
    yield Row("loss_ratio", "mean ratio", setting, "coverage", 0.95, covered, len(tests), said=_TAILS)
    shown = "lower bound of the mean ratio above the truth"
    yield Row("loss_ratio", shown, setting, "false alarms", 0.05, rejected, len(tests), said=_TAILS)


_TAILS = "“in simulations of such tails 95 % intervals missed the true mean ratio in about one sample of ten”"


def _ratio_words(shares: tuple[float, float, float], n: int) -> str:
    wrong, new, gone = shares
    return f"{100 * wrong:.0f} % wrong, true ratio {(wrong - gone + new) / wrong:.2f}, {n:,} people"


def _ratios(shares: tuple[float, float, float], n: int, numbers: range) -> Iterator[Row]:
    wrong, new, gone = shares
    truth, covered, rejected = (wrong - gone + new) / wrong, 0, 0
    for number in numbers:
        rng = np.random.default_rng([number, n, 6])
        counts = rng.multinomial(n, [wrong - gone, new, gone, 1 - wrong - new]).astype(float)
        test = PairedRatio(*counts, method="score")
        p = test.p_value(truth)
        covered += p is None or 0.025 <= p <= 0.975
        rejected += p is not None and p < 0.05
    setting = _ratio_words(shares, n)
    yield Row("loss_ratio", "ratio of error rates", setting, "coverage", 0.95, covered, len(numbers))
    shown = "lower bound of the ratio of error rates above the truth"
    yield Row("loss_ratio", shown, setting, "false alarms", 0.05, rejected, len(numbers))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
