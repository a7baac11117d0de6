"""The finding of a sensitivity audit, and what to beware of."""

from __future__ import annotations

from collections.abc import Hashable

from audits.data import group_name
from audits.sensitivity.inference import GroupsJudgment
from audits.sensitivity.measurement.status_models import WEAK, StatusQuality
from audits.sensitivity.options import SensitivityOptions
from audits.sensitivity.result import Baseline, SensitivityResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate
from audits.stats.badges import short_number
from audits.stats.means import MIN
from audits.stats.text import count, estimate_text, named_group, number, out_of, people, people_in, percent
from audits.stats.vocabulary import vocabulary
from audits.text import begun, brief, cut_words

PERFECT = 0.995
"""Area from which some feature is as good as the attribute itself."""

_MISCALIBRATED = 0.1


def headline(result: SensitivityResult) -> str:
    """Say whose predictions depend most on proxies for protected status, or why that cannot be said."""
    judged, ratio = result.judged, result.judged.interval
    about = cut_words(" or ".join(result.protected[:2]), 6)
    read = cut_words(" and ".join(result.direct[:2]), 6)
    itself = "itself" if len(result.direct) == 1 else "themselves"
    also = f" The model reads {read} {itself}: see “Change one word”." if read else ""
    if at_chance := [each for each in result.status if each.at_chance]:
        named = cut_words(" or ".join(each.attribute for each in at_chance), 6)
        if all(each.hidden for each in at_chance):
            return f"The other features don't reveal {named}.{also}"
        return f"We can't tell whether the other features reveal {named}.{also}"
    group = next((item for item in result.groups if item.ratio == ratio), None)
    if group is None or ratio.value is None:
        return f"We can't tell whose predictions depend most on proxies for {about}.{also}"
    who = brief(named_group(group_name({group.attribute: group.group})), 8, of=1)
    if judged.verdict == EVIDENCE:
        times = f"{short_number(ratio.value)} times as much"
        return f"Predictions for {who} depend {times} on proxies for {about} as others'.{also}"
    if judged.verdict == NO_MATERIAL:
        return f"Predictions for all groups depend about equally on proxies for {about}.{also}"
    return f"We can't tell whether predictions for {who} depend more on proxies for {about}.{also}"


def status_sentence(status: StatusQuality) -> str:
    """Say how well one attribute is guessed from the features, on people not seen before."""
    auc = status.auc
    reach = "" if auc.low is None or auc.high is None else f" ({auc.low:.2f}–{auc.high:.2f})"
    level = f",{'' if status.hidden else ' perhaps'} no better than a coin toss" if status.at_chance else ""
    value = "unknown" if auc.value is None else f"{auc.value:.2f}"
    own = " (with that column given)" if status.given_protected else ""
    return (
        f"{begun(status.attribute)} guessed from the other features{own}: AUC {value}{reach}{level}; "
        f"{status.kind}, trained on {count(status.trained_on)} people."
    )


def flagged_sentence(result: SensitivityResult) -> str:
    """Say how many people lie above the threshold, and what it is."""
    n = result.flagged.n
    return (
        f"{percent(result.above / n if n else 0.0, n)} of people are flagged "
        f"({out_of(result.above, n)}): their sensitivity is above {_with_interval(result.threshold)}."
    )


def person_sentence(result: SensitivityResult, row: Hashable) -> str:
    """Say what one person gets, and how far that depends on proxies for protected status."""
    person, parts = result.people.loc[[row]].iloc[0], result.contributions.loc[[row]].iloc[0]
    words = vocabulary()
    who = f"{begun(words.person)} {row} {words.is_yes if bool(person['decision']) else words.is_no}"
    about, value = " or ".join(result.protected[:2]), float(person["sensitivity"])
    if value <= 0 or parts.sum() <= 0:
        return f"{who}; no proxy for {about} affects that."
    mean = result.baseline.mean.value or 0.0
    times = "" if mean <= 0 else f" {number(value / mean)} times as much as the average person's"
    return f"{who}. The score depends on proxies for {about}{times}, most of all on {parts.idxmax()}."


def finding(
    compared: GroupsJudgment,
    baseline: Baseline,
    threshold: Estimate,
    above: float,
    n: float,
    options: SensitivityOptions,
) -> str:
    """Say whose predictions depend most on what tells the groups apart, and how many are flagged."""
    judged = compared.judged
    share = percent(above / n, n)
    text = (
        f"{_group_phrase(compared)} {share} of people ({out_of(above, n)}) are above the threshold of "
        f"{_with_interval(threshold)}. The mean is {_with_interval(baseline.mean)}."
    )
    material = f"your limit of {options.material:.3g} times"
    if judged.verdict == EVIDENCE:
        return text if judged.material is not False else f"{text} The ratio itself is below {material}."
    if judged.verdict == NO_MATERIAL:
        return f"{text} All groups lie within {material}."
    if judged.reason and judged.interval.value is not None:
        return f"{text} There is no verdict: {judged.reason}."
    if judged.people_needed is None:
        return text
    return f"{text} About {people(judged.people_needed)} in all would be needed to settle it."


def _with_interval(found: Estimate) -> str:
    """Word a number with its interval; one that was given, or has too few people, has no two ends."""
    if found.low is not None and found.high is not None:
        return f"{number(found.value)} ({number(found.low)}–{number(found.high)})"
    return estimate_text(found).removesuffix(", no interval")


def _group_phrase(compared: GroupsJudgment) -> str:
    """Name the group whose ratio and interval the verdict follows from."""
    ratio = compared.judged.interval
    named = [item for item in compared.groups if item.ratio == ratio]
    if ratio.value is None or not named:
        return f"No two groups of {MIN} people or more could be compared."
    name = group_name({named[0].attribute: named[0].group})
    times, reach = f"{number(ratio.value)} times as much", ""
    if ratio.low is not None and ratio.high is not None:
        reach = f" ({number(ratio.low)}–{number(ratio.high)})"
    return f"Predictions for {people_in(name)} depend on proxies {times} as others'{reach}."


def too_few(compared: GroupsJudgment) -> tuple[str, ...]:
    """Name the groups that are too small to be compared, most people first; nothing if there are none."""
    small = sorted((item for item in compared.groups if item.n < MIN), key=lambda item: -item.n)
    if not small:
        return ()
    named = ", ".join(f"{group_name({item.attribute: item.group})} ({count(item.n)})" for item in small[:8])
    more = f" and {len(small) - 8} more" if len(small) > 8 else ""
    return (
        f"Groups of fewer than {MIN} people cannot be judged, so they do not count in the verdict: "
        f"{named}{more}.",
    )


def warnings_for(
    options: SensitivityOptions,
    status: tuple[StatusQuality, ...],
    baseline: Baseline,
    threshold: Estimate,
    estimated: str,
    reads_protected: tuple[str, ...],
    no_features: tuple[str, ...] = (),
    withheld: str = "",
) -> tuple[str, ...]:
    """Say what a reader could misread.

    Parameters
    ----------
    estimated
        Why slopes are finite differences; empty for gradients.
    reads_protected, no_features
        Protected attributes that the audited model reads, and those that are no features.
    withheld
        Why no verdict follows, a clause; empty where one does.
    """
    found = []
    if withheld:
        found.append(f"There is no verdict: {withheld}.")
    if estimated:
        found.append(estimated)
        if options.smooth:
            found.append(
                f"smooth: {options.smooth} had no effect: SmoothGrad averages gradients, and this model "
                "has none."
            )
    if options.give_protected:
        found += [
            f"give_protected had no effect for {name}, which is not a feature: the protected-status model "
            f"can only read features. Add {name} to data.features to give it."
            for name in no_features
        ]
    if options.gradient == "literal":
        found.append(
            "The protected-status model's gradient is taken at its probability, as in Definition 3.1. "
            "Where that model is sure, the gradient vanishes, and sensitivity with it "
            f"({percent(baseline.zeros, baseline.mean.n)} of the people are at exactly 0). The log-odds do "
            "not saturate."
        )
    elif baseline.zeros > 0.05:
        found.append(
            f"{percent(baseline.zeros, baseline.mean.n)} of the people have a sensitivity of exactly 0."
        )
    for name in reads_protected:
        if not options.give_protected:
            found.append(
                f"The audited model reads {name} itself, but the protected-status model was not given it. "
                "So only effects through other features count here, not what the audited model does with "
                f"{name} directly; give_protected counts that, too."
            )
    for each in status:
        found += _about(each)
    if threshold.value is not None and threshold.high is None and options.threshold is None:
        found.append(
            f"There are too few people for the upper end of a threshold that "
            f"{percent(options.false_alarm_rate, 0)} exceed."
        )
    return tuple(found)


def _about(status: StatusQuality) -> list[str]:
    auc, found = status.auc, []
    if auc.value is None:
        return [
            f"The people audited have one group of {status.attribute} only: the protected-status model could "
            "not be judged."
        ]
    words = f"held-out AUC {number(auc.value)}, {number(auc.low)}–{number(auc.high)}"
    if auc.value >= PERFECT:
        because = "it is given the column itself" if status.given_protected else "some feature reveals it"
        found.append(
            f"The protected-status model predicts {status.attribute} almost without error ({words}): "
            f"{because}."
        )
    elif auc.low is not None and auc.low < WEAK:
        found.append(
            f"The protected-status model can hardly predict {status.attribute} from the features ({words}): "
            "sensitivity is only as good as that model."
        )
    if status.calibration_error > _MISCALIBRATED:
        found.append(
            f"The protected-status model's probabilities of {status.attribute} are off by "
            f"{100 * status.calibration_error:.0f} percentage points on average."
        )
    return found
