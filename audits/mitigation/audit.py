"""Training again with the harmed group's missing examples, and what that does everywhere (RQ3, Table 7).

As in the paper: people of the worst rule set are perturbed, those whom the model decides against the group's
trend are kept with the model's own label, and the model is trained again with growing numbers of them, from
50 to a tenth of the training rows. A model of words is treated for the worst identity terms: samples are
texts with the terms exchanged.

Departures, and why: the worst rule set is picked on the training rows and every figure is stated on held-out
people, so that luck does not look like improvement; the gap before and after is found again in further splits
of the people, and its interval reaches over all of them; and beside the one score the whole family's largest
score and other audits' findings are stated before and after, so that harm that moved elsewhere shows.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from audits.checks import check_options, generator
from audits.errors import InputError
from audits.mitigation.frontier import (
    Candidate,
    Maker,
    TrainedHere,
    frontier_of,
    group_attribute,
    least_gap,
    subject_on,
)
from audits.mitigation.inference import judge_step
from audits.mitigation.options import SPLITS, MitigationOptions
from audits.mitigation.result import NOT_RUN, Headline, MitigationResult, Step
from audits.mitigation.samples import amounts_of, augmented_by, draw_samples
from audits.mitigation.splits import SplitGap, counts_in, in_other_splits, over_splits
from audits.mitigation.text import finding
from audits.mitigation.treated import GroupKind, TreatedRuleSet, find_worst, group_kind
from audits.models import Subject
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.stats import wilson
from audits.stats.intervals import cautious_difference
from audits.stats.text import number
from audits.subgroups.attributes import rule_words

_ACCURACY_LOST = 0.01


@says_what_it_lacks
def mitigation(
    subject: Subject,
    options: MitigationOptions | None = None,
    *,
    others: Mapping[str, Callable[[Subject, Progress], Any]] | None = None,
    maker: Maker | None = None,
    kept: list[Candidate] | None = None,
    splits: int = SPLITS,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> MitigationResult:
    """Train the model again with samples against the trend of its worst rule set.

    Parameters
    ----------
    subject : Subject
        Its model must have been trained here: the training rows are needed.
    options : MitigationOptions
        What the auditor chose; the defaults where it is left out.
    others : mapping of str to callable
        Other audits by name: each takes a subject and a progress callback, and returns a result with
        ``verdict`` and ``finding``.
    maker : Maker, optional
        What trains models again; of a model trained here its own kind, if left out.
    kept : list, optional
        Is filled with the candidates of the frontier, in its order.
    splits : int
        In how many splits of the people the gap is found, where its verdict is asked for.

    Raises
    ------
    InputError
        The model was not trained here, or the data cannot make rules.
    """
    rng, options = generator(rng), check_options(MitigationOptions, options, "mitigation")
    if subject.training is None or (subject.train is None and maker is None):
        raise InputError(
            "model.train", "must be set: other models cannot be trained again", advice="train one in Evenhand"
        )
    maker = TrainedHere(subject) if maker is None else maker
    progress(0.0, "Finding the worst rule set on the training rows")
    before = subject_on(subject, subject.training, subject.model)
    groups = group_kind(subject.everyone, options)
    group = find_worst(groups, before, options)
    samples, labels, tried = draw_samples(before, groups, group, options, rng)
    amounts = amounts_of(options, round(subject.training.size), len(labels))
    level = options.level / (1 + len(amounts))  # one is chosen, so that all must hold together
    judged = [subject_on(subject, subject.data, subject.model)]
    treated = [Candidate("as it was", 0.0, subject)]
    steps = [_step(judged[0], groups, group, 0, options.level, level)]
    trained, split = (0.15, 0.2) if others else (0.6, 0.95)  # other audits take far longer than training
    for place, added in enumerate(amounts):
        begun, width = place + 0.2, trained / (len(amounts) + 1)
        share = part(progress, begun * width, (place + 1) * width)
        share(0.0, f"Training with {added:,} more {groups.noun}")
        augmented = augmented_by(subject.training, samples.iloc[:added], labels[:added])
        model, estimator = maker.retrained(augmented, share)
        judged.append(subject_on(subject, subject.data, model))
        steps.append(_step(judged[-1], groups, group, added, options.level, level))
        if "retraining" in options.methods:
            treated.append(Candidate("retraining", float(added), judged[-1], estimator))
    chosen = chosen_step(steps)
    stated = sorted({0, chosen})
    again = in_other_splits(
        subject, maker, group, options, [steps[place].added for place in stated],
        rngs=rng.spawn(splits - 1), level=level, progress=part(progress, trained, split),
    )  # fmt: skip
    alone = steps[chosen].difference
    for turn, place in enumerate(stated):
        reaching = over_splits(steps[place].difference, [each[turn].difference for each in again])
        steps[place] = dataclasses.replace(steps[place], difference=reaching)
        width = (0.95 - split) / len(stated)
        share = part(progress, split + turn * width, split + (turn + 1) * width)
        also = tuple(_headlines(judged[place], others or {}, share))
        steps[place] = dataclasses.replace(steps[place], also=also)
    over = (SplitGap(alone), *(each[-1] for each in again))
    result = _pack(subject, options, groups.noun, group, tuple(steps), chosen, tried, over)
    by = group_attribute(subject.data, options)
    if by is not None:
        result = _with_frontier(
            result, [*treated, *maker.treated(options, by, part(progress, 0.95, 1.0))], by, options, kept
        )
    progress(1.0, "Done")
    return result


def _with_frontier(
    result: MitigationResult,
    candidates: list[Candidate],
    by: str,
    options: MitigationOptions,
    kept: list[Candidate] | None,
) -> MitigationResult:
    """Return the result with the points of all candidates; of an attribute without two groups with none."""
    unknown = candidates[0].subject.unknown_labels(level=options.level)
    if unknown.withheld and options.measure != "selection_rate":
        why = f"No frontier of {options.measure.replace('_', ' ')}s: {unknown.withheld}."
        return dataclasses.replace(result, warnings=(*result.warnings, why))
    try:
        points, small = frontier_of(candidates, by, options)
    except InputError as error:
        if options.by is not None:
            raise
        return dataclasses.replace(result, warnings=(*result.warnings, f"No frontier: {error}."))
    if kept is not None:
        kept += candidates
    said = (f"Too small for the frontier: {small}.",) if small else ()
    return dataclasses.replace(
        result,
        warnings=(*result.warnings, *said),
        frontier=points,
        frontier_by=by,
        frontier_measure=options.measure,
        best=least_gap([(each.accuracy, each.gap) for each in points], options.accuracy_lost),
    )


mitigation_audit = mitigation  # as the run that knows the other audits imports it


def _step(
    judged: Subject, groups: GroupKind, group: TreatedRuleSet, added: int, level: float, together: float
) -> Step:
    """Judge a model's decisions on everyone held out, with a label or without, and its accuracy.

    All models' differences hold together at the level `together`.
    """
    data, everyone = judged.data, judged.everyone
    cells = groups.counted(everyone)
    favorable, n, good, total = counts_in(groups, group, cells)
    rules, gaps = groups.compared(cells)
    right = float(data.row_weights[judged.decisions == data.y].sum())
    return Step(
        added=added,
        difference=cautious_difference(favorable, n, good, total, level=together),
        favorable_in=wilson(favorable, n, level=level),
        favorable_out=wilson(good, total, level=level),
        accuracy=wilson(right, data.size, level=level),
        worst=rule_words(cells.attributes, rules[:1])[0] if len(rules) else "",
        worst_score=float(abs(gaps[0])) if len(gaps) else 0.0,
        also=(),
    )


def _headlines(
    judged: Subject, others: Mapping[str, Callable[[Subject, Progress], Any]], progress: Progress
) -> Iterator[Headline]:
    """Yield what other audits find, or why they cannot be run on these people."""
    for place, (name, run) in enumerate(others.items()):
        try:
            result = run(judged, part(progress, place / len(others), (place + 1) / len(others)))
        except InputError as error:
            yield Headline(name, NOT_RUN, str(error))
        else:
            yield Headline(name, result.verdict, result.finding)


def chosen_step(steps: Sequence[Step]) -> int:
    """Place of the smallest difference among the steps that lost at most one point of accuracy."""
    return least_gap([(step.accuracy, step.difference) for step in steps], _ACCURACY_LOST)


def _pack(
    subject: Subject,
    options: MitigationOptions,
    noun: str,
    group: TreatedRuleSet,
    steps: tuple[Step, ...],
    chosen: int,
    tried: int,
    splits: Sequence[SplitGap],
) -> MitigationResult:
    first = steps[0]
    last = steps[chosen]
    how = {key: getattr(options, key) for key in ("level", "material", "material_on")}
    alone = splits[0].difference
    judged = judge_step(steps, chosen, **how, alone=alone, again=splits[1:])
    this = (*steps[:chosen], dataclasses.replace(last, difference=alone), *steps[chosen + 1 :])
    verdict = judge_step(this, chosen, **how).verdict
    warnings = [*subject.unknown_labels(level=options.level).note()]
    if verdict != judged.verdict:
        warnings.append(
            f"Other splits into people who are learned from and people held out disagree: of this one alone "
            f"the verdict would be “{verdict}”."
        )
    if len(steps) == 1:
        warnings.append(
            f"None of {tried:,} new {noun} of the group got a decision against its trend, so there is "
            "nothing to add."
        )
    elif steps[-1].added < round(max(options.amounts) * (subject.training.size if subject.training else 0)):
        warnings.append(
            f"Only {steps[-1].added:,} of {tried:,} new {noun} got a decision against the group's trend."
        )
    if last.worst_score > abs(last.difference.value or 0.0) + options.material:
        warnings.append(
            f"The largest difference is now elsewhere: {last.worst}, {number(100 * last.worst_score)} points "
            f"({first.worst} had {number(100 * first.worst_score)} before)."
        )
    warnings.append(f"The number of samples was chosen on the same held-out {noun}: check it on others.")
    return MitigationResult(
        options=dataclasses.asdict(options),
        judged=judged,
        finding=finding(noun, group.people, first, last, judged, (len(steps), len(splits))),
        warnings=tuple(warnings),
        rows={"audited": subject.data.n, "used": subject.data.n, "left_out": {}},
        rule_set=group.words,
        group=group.people,
        direction=group.direction,
        steps=steps,
        chosen=chosen,
        splits=tuple(each.difference for each in splits),
    )
