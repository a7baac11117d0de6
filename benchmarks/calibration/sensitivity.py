"""Do verdicts and intervals of sensitivity and of changing one word hold? Ratios, areas, whole audits.

Of ratios the corrected interval and studentised permutations decide together; both groups have the same mean,
spread and shape differ. Of the change of a word everybody is drawn with chances of gaining and of losing by
it; what is stated is held against these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from audits.data import DataSpec, build_data
from audits.models import Subject
from audits.models.quality import area_under_curve
from audits.models.subject import subject_of as as_subject
from audits.sensitivity.inference import baseline_of, feature_shares, ratio_p_value, threshold_of
from audits.sensitivity.measurement.status_models import calibration_bins
from audits.sensitivity.options import SensitivityOptions
from audits.stats import EVIDENCE, NO_MATERIAL, wilson
from audits.stats.curves import area_equally_far, area_within, roc_curves
from audits.stats.means import mean_test
from audits.stats.ratios import mean_ratio
from benchmarks.calibration import LEVEL, Facts, alarm, audited, covers, found, inside, trained
from benchmarks.calibration.loss_ratio import people, subject_of
from benchmarks.measuring import Scorer

# of mean 1, by the deviation of the logarithm and by that of the values
SHAPES: dict[str, Callable[[float, np.random.Generator, int], np.ndarray]] = {
    "lognormal": lambda spread, rng, n: np.exp(spread * rng.normal(size=n) - spread**2 / 2),
    "gamma": lambda variation, rng, n: rng.gamma(variation**-2, variation**2, n),
}


_QUICK = {"match_set": "off", "bootstrap": 100}
_TRAITS = ("as_woman", "as_man", "e")
_HIRED = {"label": "hired", "favorable": 1, "protected": ["sex"]}


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
    return trained(frame, "logistic", seed, **_HIRED, features=["skill", "height", *["sex"] * bool(penalty)])


def _ratio(world: tuple[str, float, float], sizes: tuple[int, int], number: int) -> Facts:
    """Whether equal means are rejected, by interval and permutations together."""
    (shape, *spreads), (first, second) = world, sizes
    rng = np.random.default_rng([number, first])
    mine, rest = (SHAPES[shape](spread, rng, n) for spread, n in zip(spreads, sizes, strict=True))
    members = np.arange(first + second) < first
    ratio = mean_ratio(mean_test(mine), mean_test(rest), level=LEVEL)
    p = ratio_p_value(np.r_[mine, rest], np.ones(first + second), members, rng, draws=199)
    yield alarm("ratio of mean sensitivities", not inside(ratio, 1) and p <= LEVEL)
    yield covers("mean sensitivity of the group", mean_test(mine).interval(LEVEL), 1)


def _alone(n: int, number: int) -> Facts:
    """Quantiles, the threshold, whom it flags of people to come, and each feature's part."""
    options, parts = SensitivityOptions(bootstrap=200), np.array([0.5, 0.3, 0.2])
    rng = np.random.default_rng([number, n, 12])
    values, ones = rng.exponential(size=n), np.ones(n)
    told = baseline_of(values, ones, level=LEVEL).quantiles.items()
    held = np.mean([inside(each, -np.log1p(-float(share))) for share, each in told])
    yield covers("quantiles of sensitivity", float(held))
    threshold = threshold_of(values, ones, options)
    yield covers("threshold", threshold, -np.log(options.false_alarm_rate))
    above, to_come = values > threshold.value, float(np.exp(-(threshold.value or 0.0)))
    yield covers("share flagged, of people to come", wilson(float(above.sum()), float(n)), to_come)
    own = wilson(float(above[: n // 2].sum()), float(n // 2))
    yield covers("share of a group flagged, of people to come", own, to_come)
    contributions = values[:, None] * rng.dirichlet(5 * parts, n)
    features = feature_shares(contributions, ("a", "b", "c"), above, ones, options, rng)
    together = all(inside(one.share, parts["abc".index(one.feature)]) for one in features)
    yield covers("each feature's part, all together", together)


def _beside(n: int, number: int) -> Facts:
    """Area among people of one band of distance, and equally far: .5 where a score is distance and noise."""
    rng = np.random.default_rng([number, n, 13])
    distance = rng.exponential(size=n)
    member = rng.random(n) < 0.2 * np.exp(-distance)
    if min(member.sum(), (~member).sum()) < 5:
        return
    band = np.digitize(distance, np.quantile(distance, [0.25, 0.5, 0.75]))
    noise = rng.normal(size=n)  # tells nothing within a band, whatever the distance
    one = area_within(noise, member, band, rng, draws=200)
    held = one.low is not None and inside(one, 0.5)
    yield covers("area within bands of distance", held)
    two = area_equally_far(-distance, member, distance, rng, draws=200)
    three = area_equally_far(noise, member, distance, rng, draws=200)
    own = area_under_curve(noise[band == 0], member[band == 0], np.ones((band == 0).sum()))
    yield covers("area in one band", own, 0.5)
    yield covers("area among people equally far", inside(two, 0.5) and inside(three, 0.5))


@cache
def _outscored() -> float:
    """Area under the curve of so many people that it is the truth."""
    drawn = np.random.default_rng(0).normal(size=400_000)
    member = np.random.default_rng(1).random(len(drawn)) < 1 / (1 + np.exp(-1.5 * drawn))
    return float(area_under_curve(drawn, member, np.ones(len(member))).value or 0.0)


def _status(n: int, number: int) -> Facts:
    """A protected-status model's area and its bins, where what it states is so."""
    rng = np.random.default_rng([number, n, 14])
    z = rng.normal(size=n)
    p = 1 / (1 + np.exp(-1.5 * z))
    member = rng.random(n) < p
    area = area_under_curve(z, member, np.ones(n))
    yield covers("area of a protected-status model", area, _outscored())
    bins = calibration_bins(np.maximum(p, 1 - p), member == (p > 0.5), np.ones(n), 0.05)
    held = float(np.mean([inside(each.observed, each.stated) for each in bins]))
    yield covers("bins of a protected-status model", held)


def _areas(drawn: tuple[int, float], number: int) -> Facts:
    """Areas of two scores, normal with means one and a half apart."""
    n, share = drawn
    first, second = (float(norm.cdf(gap / np.sqrt(2))) for gap in (1.0, 0.5))
    rng = np.random.default_rng([number, n, 7])
    member = np.arange(n) < round(share * n)
    scores = rng.normal(size=(2, n)) + np.outer([1.0, 0.5], member)
    curves = roc_curves(scores, member, rng, draws=200)
    low, high = np.quantile(curves.draws[:, 0], [0.025, 0.975])
    yield covers("area under the curve", bool(low <= first <= high))
    yield covers("difference of two areas", curves.difference(0, 1, float(n)), first - second)


def _direct(drawn: tuple[float, float], number: int) -> Facts:
    """Whole audits of a model that reads the attribute: how often it is cleared."""
    apart, penalty = drawn
    told = audited("sensitivity", penalized(600, apart, number, penalty), number, **_QUICK)
    yield alarm("all-clear of direct use", told.verdict == NO_MATERIAL)
    if not apart:
        yield alarm("verdict of a status model at chance", told.verdict in {NO_MATERIAL, EVIDENCE})


def _unread(apart: float, number: int) -> Facts:
    """Whole audits of a model that reads only proxies, whose slopes are the same for both groups."""
    rng = np.random.default_rng([number, 22])
    woman, skill = rng.random(1200) < 0.5, rng.normal(size=1200)
    height = rng.normal(size=1200) + apart * (woman - 0.5)
    frame = pd.DataFrame({"skill": skill, "height": height, "sex": np.where(woman, "f", "m")})
    frame["hired"] = (rng.random(1200) < expit(1.2 * skill)).astype(int)
    subject = trained(frame, "logistic", number, **_HIRED, features=["skill", "height"])
    told = audited("sensitivity", subject, number, **_QUICK)
    yield alarm("evidence of a difference", told.verdict == EVIDENCE)


def _audits(n: int, number: int) -> Facts:
    """Whole audits of a logistic model, groups drawn alike."""
    told = {"sex": 0.4}
    frame = people(2 * n, 4, told, np.random.default_rng([number, n]))
    subject = subject_of(frame, told, "logistic", number)
    result = audited("sensitivity", subject, number, status_model="logistic", **_QUICK)
    yield alarm("evidence of a difference", result.verdict == EVIDENCE)


def planted(frame: pd.DataFrame) -> np.ndarray:
    """Score people, whose decisions change by what was drawn of each, where the model reads their sex."""
    woman = frame["sex"] == "f" if "sex" in frame else np.ones(len(frame), dtype=bool)
    yes = np.where(woman, frame["as_woman"], frame["as_man"])
    return 0.25 + 0.5 * yes + np.where(woman, 0.0, frame["e"])


def _swap(world: dict[str, Any], number: int) -> Facts:
    """Women gain or lose as men with these chances, in the town and in a `part` of it of so many people.

    With `counts` there is a row for all of one kind; without `read` the model does not read their sex.
    """
    n, gain, loss, part, gain_part = (world.get(of, 0.0) for of in ("n", "gain", "loss", "part", "gain_part"))
    counts, read = "counts" in world, "read" not in world
    # net share of those who gain, and share of all women whose decision changes
    net, changed = ((1 - part) * (gain + sign * loss) + part * gain_part for sign in (-1, 1))
    rng = np.random.default_rng([number, n])
    isle, u = rng.random(n) < part, rng.random(n)
    gains = u < np.where(isle, gain_part, gain)
    loses = ~gains & ~isle & (u < gain + loss)
    base = rng.random(n) < 0.5
    frame = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "part": np.where(isle, "isle", "town")})
    frame["as_woman"] = (loses | (base & ~gains)).astype(int)
    frame["as_man"] = (gains | (base & ~loses)).astype(int)
    frame["e"] = rng.choice([-0.05, 0.05], n) if counts else rng.normal(0, 0.05, n)
    frame = frame.groupby(list(frame)).size().rename("times").reset_index() if counts else frame
    protected, weights = ("sex", "part") if part else ("sex",), "times" if counts else None
    told = {"features": ("sex", *_TRAITS), "weights": weights, "kinds": {"e": "continuous"}}
    data = build_data(frame, DataSpec(protected=protected, **told))
    model = Scorer(("sex", *_TRAITS) if read else _TRAITS, planted, "planted")
    subject = as_subject(data, model, threshold=0.5, score_kind="number")
    result = audited("attribute_swap", subject, 0, attribute=["sex"])
    null, cleared = gain == loss and not (part and gain_part), result.verdict == NO_MATERIAL
    yield found("evidence of a difference", result.verdict == EVIDENCE, no_difference=null)
    # an all-clear would be false at or beyond the limits that the verdict covers, or of what is not read
    if not read or abs(net) >= 0.1 or changed >= 0.2 or (part >= 0.1 and gain_part >= 0.2):
        yield alarm("no material difference, where there is one", cleared)
    else:
        yield found("no material difference", cleared)
    for shown, name, truth in (
        ("net share, all groups together", "net", net),
        ("share changed, all groups together", "changed", changed),
        ("mean score change, all groups together", "mean_score_change", net / 2),
    ):
        held = True  # by the interval of women as men, and by that of men as women
        for row in (each for each in result.swaps if not each.within):
            stated = getattr(row, name)
            own = truth if row.source == "f" or name == "changed" else -truth
            held &= stated.low is None or stated.low - 1e-12 <= own <= (stated.high or 0.0) + 1e-12
        yield covers(shown, held)
