"""Training again with the harmed group's missing examples, and what that does everywhere (RQ3, Table 7).

As in the paper: people of the worst rule set are perturbed, those whom the model decides against the group's
trend are kept with the model's own label, and the model is trained again with growing numbers of them, from
50 to a tenth of the training rows. A model of words is treated for the worst identity terms: samples are
texts with the terms exchanged.

Departures, and why: the worst rule set is picked on the training rows and every figure is stated on held-out
people, so that luck does not look like improvement; and beside the one score the whole family's largest score
and other audits' findings are stated before and after, so that harm that moved elsewhere shows.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import check_options, generator
from audits.data import AuditData
from audits.data.frames import with_columns
from audits.errors import InputError
from audits.mitigation.frontier import (
    Candidate,
    Maker,
    TrainedHere,
    chosen_point,
    frontier_of,
    group_attribute,
    subject_on,
)
from audits.mitigation.inference import judge_step
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import NOT_RUN, Headline, MitigationResult, Step
from audits.mitigation.text import finding
from audits.mitigation.treated import GroupKind, TreatedRuleSet, find_worst, group_kind
from audits.models import Subject
from audits.models.protocol import row_weights
from audits.progress import Progress, part, silent
from audits.records import says_what_it_lacks
from audits.stats import wilson
from audits.stats.intervals import cautious_difference
from audits.stats.text import number
from audits.subgroups.attributes import rule_words

_FIRST_AMOUNT = 50
_MAX_TRIES = 40
_ACCURACY_LOST = 0.01


@says_what_it_lacks
def mitigation(
    subject: Subject,
    options: MitigationOptions | None = None,
    *,
    others: Mapping[str, Callable[[Subject], Any]] | None = None,
    maker: Maker | None = None,
    kept: list[Candidate] | None = None,
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
        Other audits by name: each takes a subject and returns a result with ``verdict`` and ``finding``.
    maker : Maker, optional
        What trains models again; of a model trained here its own kind, if left out.
    kept : list, optional
        Is filled with the candidates of the frontier, in its order.

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
    for place, added in enumerate(amounts):
        share = part(
            progress, 0.6 * (place + 0.2) / (len(amounts) + 1), 0.6 * (place + 1) / (len(amounts) + 1)
        )
        share(0.0, f"Training with {added:,} more {groups.noun}")
        augmented = augmented_by(subject.training, samples.iloc[:added], labels[:added])
        model, estimator = maker.retrained(augmented, share)
        judged.append(subject_on(subject, subject.data, model))
        steps.append(_step(judged[-1], groups, group, added, options.level, level))
        if "retraining" in options.methods:
            treated.append(Candidate("retraining", float(added), judged[-1], estimator))
    chosen = chosen_step(steps)
    stated = sorted({0, chosen})
    for turn, place in enumerate(stated):
        share = part(progress, 0.6 + 0.4 * turn / len(stated), 0.6 + 0.4 * (turn + 1) / len(stated))
        also = tuple(_headlines(judged[place], others or {}, share))
        steps[place] = dataclasses.replace(steps[place], also=also)
    result = _pack(subject, options, groups.noun, group, tuple(steps), chosen, tried)
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
        best=chosen_point(points, options.accuracy_lost),
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
    inside = groups.members(group, cells)
    total, good = cells.total, float(cells.favorable.sum())
    n, favorable = float(cells.n[inside].sum()), float(cells.favorable[inside].sum())
    rules, gaps = groups.compared(cells)
    right = float(row_weights(data)[judged.decisions == data.y].sum())
    return Step(
        added=added,
        difference=cautious_difference(favorable, n, good - favorable, total - n, level=together),
        favorable_in=wilson(favorable, n, level=level),
        favorable_out=wilson(good - favorable, total - n, level=level),
        accuracy=wilson(right, data.size, level=level),
        worst=rule_words(cells.attributes, rules[:1])[0] if len(rules) else "",
        worst_score=float(abs(gaps[0])) if len(gaps) else 0.0,
        also=(),
    )


def _headlines(
    judged: Subject, others: Mapping[str, Callable[[Subject], Any]], progress: Progress
) -> Iterator[Headline]:
    """Yield what other audits find, or why they cannot be run on these people."""
    for place, (name, run) in enumerate(others.items()):
        progress(place / len(others), f"Running {name.replace('_', ' ')} on the held-out people")
        try:
            result = run(judged)
        except InputError as error:
            yield Headline(name, NOT_RUN, str(error))
        else:
            yield Headline(name, result.verdict, result.finding)


def chosen_step(steps: Sequence[Step]) -> int:
    """Place of the smallest difference among the steps that lost at most one point of accuracy."""
    least = (steps[0].accuracy.value or 0.0) - _ACCURACY_LOST
    kept = [
        place
        for place, step in enumerate(steps)
        if (step.accuracy.value or 0.0) >= least and step.difference.value is not None
    ]
    return min(kept, key=lambda place: abs(steps[place].difference.value or 0.0)) if kept else 0


def draw_samples(
    subject: Subject,
    groups: GroupKind,
    group: TreatedRuleSet,
    options: MitigationOptions,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, np.ndarray, int]:
    """New samples of the group that the model decides against the group's trend, with that label."""
    wanted = max(_FIRST_AMOUNT, round(max(options.amounts) * subject.data.size))
    kept: list[pd.DataFrame] = []
    found = tried = 0
    opposite = group.direction == "harmed"
    while found < wanted and tried < _MAX_TRIES * wanted:
        frame, drawn = groups.draw(subject, group, wanted, rng)
        its_groups = subject.data.groups.iloc[drawn].reset_index(drop=True)
        take = subject.decide(subject.favorable_score(frame), its_groups) == opposite
        kept.append(with_columns(frame[take], {_SEED: drawn[take]}))
        found, tried = found + int(take.sum()), tried + wanted
    samples = pd.concat(kept, ignore_index=True).head(wanted)
    return samples, np.full(len(samples), opposite), tried


_SEED = "\0seed"  # no column of a user has this name


def amounts_of(options: MitigationOptions, people: int, available: int) -> list[int]:
    """Return how many samples to add, rising: the shares asked for, and a few; no more than there are."""
    asked = {max(_FIRST_AMOUNT, round(share * people)) for share in options.amounts} | {_FIRST_AMOUNT}
    return sorted({min(amount, available) for amount in asked if min(amount, available) > 0})


def augmented_by(training: AuditData, samples: pd.DataFrame, labels: np.ndarray) -> AuditData:
    """The training rows and the samples below them, under new row numbers."""
    seeds, added = samples[_SEED].to_numpy(), samples.drop(columns=_SEED)
    if training.label is not None:
        wanted = [
            training.frame[training.label][np.asarray(training.y) == side].iloc[0] for side in (False, True)
        ]
        named = pd.Series([wanted[int(label)] for label in labels], index=added.index)
        added = with_columns(added, {training.label: named})
    last = int(pd.to_numeric(pd.Series(training.frame.index), errors="coerce").max(skipna=True) or 0)
    added.index = pd.RangeIndex(last + 1, last + 1 + len(added), name="row")
    added = added.astype({name: training.frame[name].dtype for name in added.columns})
    groups = training.groups.iloc[seeds].set_axis(added.index)
    mark = hashlib.sha256(training.digest.encode() + pd.util.hash_pandas_object(added).to_numpy().tobytes())
    return dataclasses.replace(
        training,
        frame=pd.concat([training.frame, added]),
        groups=pd.concat([training.groups, groups]),
        y=np.concatenate([np.asarray(training.y), labels]),
        weights=None
        if training.weights is None
        else np.concatenate([training.weights, np.ones(len(labels))]),
        design=None,  # samples are nobody's
        digest=mark.hexdigest(),
    )


def _pack(
    subject: Subject,
    options: MitigationOptions,
    noun: str,
    group: TreatedRuleSet,
    steps: tuple[Step, ...],
    chosen: int,
    tried: int,
) -> MitigationResult:
    first = steps[0]
    last = steps[chosen]
    judged = judge_step(
        steps, chosen, level=options.level, material=options.material, material_on=options.material_on
    )
    warnings = [*subject.unknown_labels(level=options.level).note()]
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
        finding=finding(noun, group.people, first, last, judged, len(steps)),
        warnings=tuple(warnings),
        rows={"audited": subject.data.n, "used": subject.data.n, "left_out": {}},
        rule_set=group.words,
        group=group.people,
        direction=group.direction,
        steps=steps,
        chosen=chosen,
    )
