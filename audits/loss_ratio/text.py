"""What the finding calls things, and what a reader should beware of."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from audits.data import group_name
from audits.data.encoder_blocks import NumberBlock
from audits.loss_ratio.attack.losses import MIN_LOSS
from audits.loss_ratio.attack.people import OF_TREES, Moves
from audits.loss_ratio.inference import Grounds, worst_group
from audits.loss_ratio.metrics.distances import FairMetrics
from audits.loss_ratio.options import LossRatioOptions
from audits.loss_ratio.ratio_tests import RatioTests
from audits.loss_ratio.result import LossRatioResult
from audits.models import Subject
from audits.stats import EVIDENCE, Judgment
from audits.stats.badges import short_number
from audits.stats.text import count, number, people, people_in, percent
from audits.text import cut_words, join_names, shortest

_FEW_ERRORS = 10
_MAX_NAMED = 3
_TRACE = 0.01  # of a feature's unit vector
_HEAVY = 0.5  # share of the variance


def headline(result: LossRatioResult) -> str:
    """Say what changing only proxies does to the model's error, and how that stands to the limit."""
    judged = result.judged
    if result.words.nothing:
        names = _proxy_names([each.attribute for each in result.metric.told])
        return f"We see no sign that what the model reads reveals {names}, so there is nothing to change."
    ratio = judged.interval if judged.interval.value is not None else result.statistic
    if ratio.value is None or ratio.low is None:
        return f"{people(ratio.n)} are too few to tell whether changing proxies changes the model's error."
    size = _larger(ratio.value)
    larger = f"makes the model's error {size}" if size else "leaves the model's error as it was"
    end = _against(ratio.value, result.tolerance, judged)
    inside = "within" if ratio.value <= result.tolerance else "not clearly beyond"
    of_all = f" on average, {inside} {_limit(result.tolerance)}, but"
    worst = worst_group(result.groups, result.tolerance)
    if worst is not None and judged.see:
        end = f"{of_all} {_larger(worst.statistic.value or 0.0)} for {judged.see}."
    elif judged.badge == "no verdict" and judged.reason and (far := _furthest(result)):
        end = f"{of_all} an estimated {far}."  # the badge says that nothing is cleared
    return shortest(*(f"Changing only {what} {larger}{end}" for what in _what(result)))


def _furthest(result: LossRatioResult) -> str:
    """Name the group whose estimate lies furthest beyond the limit; "" where there is none."""
    beyond = [each for each in result.groups if (each.statistic.low or 0.0) > result.tolerance]
    if not beyond or result.words.told_p > result.options["level"]:  # the directions may be tied to nothing
        return ""
    worst = max(beyond, key=lambda each: each.statistic.value or 0.0)
    who = people_in(group_name({worst.attribute: worst.group}))
    return f"{_larger(worst.statistic.value or 0.0)} for {who}"


def _against(value: float, tolerance: float, judged: Judgment) -> str:
    """Say how a ratio stands to the limit, and what keeps it from being known."""
    limit = _limit(tolerance)
    if judged.verdict == EVIDENCE:
        return f", beyond {limit}."
    inside = f", {'within' if value <= tolerance else 'not clearly beyond'} {limit}"
    if judged.reason and judged.material is False:
        return f"{inside}; {judged.reason}."
    return f". We can't tell whether that is beyond {limit}."


def _limit(tolerance: float) -> str:
    more = round(100 * (tolerance - 1))
    return f"your {more:,}% limit" if more > 0 else "your limit"


def _larger(ratio: float) -> str:
    """Word how much larger something is: from twice on in times, as its interval is told.

    Examples
    --------
    >>> _larger(1.15), _larger(1.0), _larger(5.067), _larger(1266.29)
    ('15% larger', '', '5.07 times as large', '1,266 times as large')
    """
    more = round(100 * (ratio - 1))
    return (
        f"{more}% larger" if 0 < more < 100 else f"{short_number(ratio)} times as large" if more > 0 else ""
    )


def person_sentence(result: LossRatioResult, row: Hashable) -> str:
    """Say how the model's error about one person changes once only what should not matter is changed."""
    person = result.people.loc[[row]].iloc[0]
    wrong, later = (bool(person.get(name, False)) for name in ("wrong", "wrong after"))
    turns = "" if wrong == later else f" and makes it {'wrong' if later else 'right'}"
    score, after = (number(float(person[name])) for name in ("score", "score after"))
    moves = f"leaves the score at {score}" if score == after else f"moves the score from {score} to {after}"
    return (
        f"For the person in row {row}, changing only what should not matter {moves}{turns}: its error is "
        f"{number(float(person['ratio']))} times as large."
    )


def _what(result: LossRatioResult) -> list[str]:
    """Name what people are changed in, with its strongest example among columns not named; then shorter."""
    options = result.options
    if options["metric"] != "learned":
        return ["what should not matter"]
    told = [each.attribute for each in result.metric.told if each.told or each.itself]
    names = told or list(options["sensitive"] or ())
    traces = [each for each in result.features if each.column not in names and each.loading > _TRACE]
    example = max(traces, key=lambda each: each.loading).column if traces else ""
    wide, short = _proxy_names(names), cut_words(names[0], 5) if len(names) == 1 else "protected status"
    whole, least = f"proxies for {wide}", f"proxies for {short}"
    if any(each.itself for each in result.metric.told):  # it is a feature, and changed with the others
        whole = f"{wide} or proxies for {'it' if len(names) == 1 else 'them'}"
        least = f"{short} or its proxies"
    such = [f"{whole}, such as {cut_words(example, 6)},"] if example else []
    return [*such, whole, least]


def _proxy_names(names: Sequence[str]) -> str:
    """Name the attributes whose proxies are changed.

    Examples
    --------
    >>> _proxy_names(["sex", "race", "age"]), _proxy_names(["sex", "race", "age", "region"])
    ('sex, race or age', 'sex, race or others')
    """
    shown = names if len(names) <= _MAX_NAMED else [*names[: _MAX_NAMED - 1], "others"]
    return join_names(shown, "or") if names else "protected status"


def grounds_of(
    subject: Subject, metrics: FairMetrics, tests: RatioTests, options: LossRatioOptions
) -> Grounds:
    """Return in which directions people are moved, and what the verdict rests on beside the test."""
    names = subject.data.protected if options.sensitive is None else options.sensitive
    if options.metric == "learned":
        told = [each.attribute for each in metrics.told if each.told or each.itself]
        directions = f"only in directions tied to {join_names(told or names)}"
        if metrics.nothing:
            directions = f"only in directions that tell {join_names(names)} no better than chance"
    elif options.metric == "expert":
        directions = "only in directions that an expert says should not matter"
    else:
        directions = f"only in directions in which people of the same {options.comparable} differ"
    return Grounds(
        f"{directions}, or hardly in others" if metrics.dimensions else "a little",
        metrics.nothing,
        metrics.p_value,
        tests.reached,
    )


def warnings_for(
    subject: Subject, metric: FairMetrics, moved: Moves, tests: RatioTests, options: LossRatioOptions
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = list(metric.doubts)
    if metric.nothing:
        found.append(
            f"There is no verdict, because {metric.nothing}. Moving people along directions that are noise "
            "raises losses wherever the model reads them."
        )
    found += _moving(subject, moved, tests, options)
    zeros = int(np.count_nonzero(moved.flow.before <= MIN_LOSS))
    if zeros:
        found.append(
            f"The model's loss is 0 for {people(zeros)}; it counts as {tests.floor:.2g} there, so that "
            "nobody is dropped."
        )
    found += [*_concentration_note(tests), *_long_tailed(tests)]
    wrong = float(tests.errors.both + tests.errors.before)
    if wrong == 0:
        found.append("Nobody is misclassified before the move, so the ratio of error rates does not exist.")
    elif wrong < _FEW_ERRORS:
        found.append(
            f"Only {'1 person is' if wrong == 1 else f'{wrong:g} people are'} misclassified before the move: "
            "the ratio of error rates says little."
        )
    if subject.training is None:
        found.append(
            "The test holds if the model was not trained on the people audited, which cannot be checked here."
        )
    return tuple(found)


def _moving(subject: Subject, moved: Moves, tests: RatioTests, options: LossRatioOptions) -> list[str]:
    """Say what kept the people moved from being those of the paper's map."""
    found, flow = [], moved.flow
    if moved.searched is not None:
        if moved.method == OF_TREES:
            between = "the nearest possible rows. Its trees' split points were crossed one column at a time."
            doubt = "may be too small"
        else:
            between = (
                "possible rows. Between two categories its log-odds were assumed to be linear, and only "
                "its answers on whole rows count as evidence."
            )
            doubt = "may be too small, or too large where the model bends between categories"
        found.append(
            f"The {subject.model.name} has no gradient: people were moved by {moved.searched.steps} long "
            "steps of finite differences on numbers and every category of each column, and the model was "
            f"asked about {between} So the ratio is an estimate and {doubt}. A search of three times as many "
            f"steps took the mean ratio from {number(tests.shorter)} to {number(tests.loss.mean)}."
        )
        if options.schedule != "constant":
            found.append("A step schedule does not apply to it, because its steps have one length.")
    if moved.target.kind == "number":
        found.append(
            "The model predicts a number, so a loss is its squared error in standard deviations of the "
            f"label, counted as at least {tests.floor:.2g}. It is unbounded, so people were moved for "
            f"{count(moved.steps)} steps{' (the default)' if options.steps is None else ''}."
        )
    if moved.left_out:
        found.append(
            f"A random {moved.data.size:,.0f} of {subject.data.size:,.0f} people were moved: "
            f"{', '.join(moved.left_out)}."
        )
    if moved.kept_inside:
        found.append(
            "The model gives no score to people beyond the observed ranges, so people were kept within "
            "them. The paper's unfair map differs."
        )
    elif options.within_range:
        found.append("People were kept within the observed ranges. The paper's unfair map differs.")
    outside = outside_of(subject, moved)
    if outside > 0.05:
        found.append(
            f"{percent(outside, moved.data.size)} of the people end outside the observed range of some "
            "number, because the flow has no bounds unless people are kept within observed ranges."
        )
    if flow.fell:
        found.append(
            f"For {people(flow.fell)} the penalized loss ended below its start, so the steps are too long "
            f"there. Try a step size of {options.step_size / 2:g}."
        )
    return found


def outside_of(subject: Subject, moved: Moves) -> float:
    """Share of people moved beyond the smallest or largest value seen of a number."""
    columns = [
        subject.space.blocks[part.column].start
        for part in subject.space.parts
        if isinstance(part, NumberBlock) and part.kind != "boolean"
    ]
    start, end = moved.start[:, columns], moved.flow.positions[:, columns]
    if not columns:
        return 0.0
    slack = 1e-3
    beyond = (end < start.min(axis=0) - slack) | (end > start.max(axis=0) + slack)
    return float(np.average(beyond.any(axis=1), weights=moved.data.weights))


def _concentration_note(tests: RatioTests) -> list[str]:
    """Say whether a hundredth of the people carries most of the variance."""
    apart = np.sort(np.square(tests.ratios - tests.loss.mean))[::-1]
    few = max(1, len(apart) // 100)
    total = float(apart.sum())
    if total == 0 or len(apart) < 50 or apart[:few].sum() < _HEAVY * total:
        return []
    careful = tests.floored
    floor, mean, bound = (number(each) for each in (careful.floor, careful.statistic, careful.lower_bound))
    largest = "largest ratio carries" if few == 1 else f"{few:,} largest ratios carry"
    return [
        f"The {largest} {100 * apart[:few].sum() / total:.0f}% of the variance: tiny losses inflate it, "
        "and the test loses power. With losses counted as at least "
        f"{floor} the mean ratio is {mean}, at least {bound} with the same confidence."
    ]


def _long_tailed(tests: RatioTests) -> list[str]:
    if not tests.loss.long_tailed:
        return []
    return [
        f"The ratios have a long right tail for {people(tests.loss.n)}: in simulations of such tails, 95% "
        "intervals missed the true mean ratio in about one sample in ten, mostly because it was larger. The "
        "test against the tolerance kept its error rate."
    ]
