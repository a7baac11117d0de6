"""Training again with the harmed group's missing examples, and what that does everywhere (RQ3, Table 7).

As in the paper: people of the worst rule set are perturbed, those whom the model decides against the group's
trend are kept with the model's own label, and the model is trained again with growing numbers of them, from
50 to a tenth of the training rows.

Departures, and why: the worst rule set is picked on the training rows and every figure is stated on held-out
people, so that luck does not look like improvement; and beside the one score the whole family's largest score
and other audits' findings are stated before and after, so that harm that moved elsewhere shows.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import generator
from audits.data import AuditData
from audits.errors import InputError
from audits.models import Model, Subject, train_model
from audits.progress import Progress, part, silent
from audits.rulesets.attributes import Attribute
from audits.rulesets.cells import Cells, count_cells, memberships
from audits.rulesets.findings import rule_words
from audits.rulesets.mining import Search
from audits.rulesets.mitigated import Headline, MitigationOptions, MitigationResult, Step
from audits.rulesets.options import RuleSetsOptions
from audits.rulesets.reading import read_attributes
from audits.rulesets.sampling import perturb, perturbable
from audits.rulesets.scoring import differences
from audits.stats import (
    EVIDENCE,
    newcombe,
    people_needed,
    power_of_difference,
    verdict,
    wilson,
)
from audits.stats.words import count, number, percent

__all__ = ["mitigation_audit"]

_FIRST_AMOUNT = 50
_MOST_TRIES = 40
_ACCURACY_LOST = 0.01


def mitigation_audit(
    subject: Subject,
    options: MitigationOptions,
    *,
    others: Mapping[str, Callable[[Subject], Any]] | None = None,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> MitigationResult:
    """Train the model again with samples against the trend of its worst rule set.

    Parameters
    ----------
    subject : Subject
        Its model must have been trained here: the training rows are needed.
    others : mapping of str to callable
        Other audits by name: each takes a subject and returns a result with ``verdict`` and ``finding``.

    Raises
    ------
    InputError
        The model was not trained here, or the data cannot make rules.
    """
    rng = generator(rng)
    if subject.training is None or subject.train is None:
        raise InputError(
            "model.train", "is needed to train again", subject.model.name, "train the model here"
        )
    if subject.train == "text":
        raise InputError("mitigation", "does not change texts yet", subject.train, "audit a model of a table")
    progress(0.0, "Finding the worst rule set on the training rows")
    before = _on(subject, subject.training, subject.model)
    group, held = _worst(before, options), _Held(subject, options)
    samples, labels, tried = _samples(before, group, options, rng)
    amounts = _amounts(options, subject.training.n, len(labels))
    steps = [held.step(subject.model, 0, group, others or {})]
    for place, added in enumerate(amounts):
        share = part(progress, (place + 0.2) / (len(amounts) + 1), (place + 1.0) / (len(amounts) + 1))
        share(0.0, f"Training with {added:,} more people")
        augmented = _augmented(subject.training, samples.iloc[:added], labels[:added])
        model = train_model(augmented, subject.train, subject.seed, share)
        steps.append(held.step(model, added, group, others or {}))
    progress(1.0, "Done")
    return _pack(subject, options, group, tuple(steps), tried)


@dataclass(frozen=True, eq=False)
class _Group:
    """The rule set under treatment: its levels by attribute, its words, and which way it is decided."""

    admitted: dict[str, tuple[str, ...]]
    words: str
    direction: str
    inside: np.ndarray

    def members(self, attributes: tuple[Attribute, ...], cells: Cells) -> np.ndarray:
        """Who of the people in `cells` belongs to it: levels are compared by name."""
        inside = np.ones(len(cells.n), dtype=bool)
        for place, attribute in enumerate(attributes):
            if attribute.name in self.admitted:
                admitted = np.isin(np.array(attribute.levels, dtype=object), self.admitted[attribute.name])
                inside &= admitted[cells.codes[:, place]]
        return inside


class _Held:
    """Held-out people, on whom every model is judged."""

    def __init__(self, subject: Subject, options: MitigationOptions) -> None:
        self.subject, self.options = subject, options

    def step(
        self, model: Model, added: int, group: _Group, others: Mapping[str, Callable[[Subject], Any]]
    ) -> Step:
        data, options = self.subject.data, self.options
        judged = _on(self.subject, data, model)
        attributes, cells = _cells(judged, options)
        inside = group.members(attributes, cells)
        total, good = cells.total, float(cells.favorable.sum())
        n, favorable = float(cells.n[inside].sum()), float(cells.favorable[inside].sum())
        rules, gaps = _compared(cells, attributes, options)
        weights = np.ones(data.n) if data.weights is None else data.weights
        right = float(weights[judged.decisions == data.y].sum())
        return Step(
            added=added,
            difference=newcombe(favorable, n, good - favorable, total - n, level=options.level),
            favorable_in=wilson(favorable, n, level=options.level),
            favorable_out=wilson(good - favorable, total - n, level=options.level),
            accuracy=wilson(right, total, level=options.level),
            worst=rule_words(attributes, rules[:1])[0] if len(rules) else "",
            worst_score=float(abs(gaps[0])) if len(gaps) else 0.0,
            also=tuple(_headline(name, run, judged) for name, run in others.items()),
        )


def _headline(name: str, run: Callable[[Subject], Any], subject: Subject) -> Headline:
    result = run(subject)
    return Headline(name, result.verdict, result.finding)


def _on(subject: Subject, data: AuditData, model: Model) -> Subject:
    """The subject with other people or another model; nothing remembered of the old ones."""
    return Subject(
        data,
        model,
        subject.threshold,
        subject.space,
        subject.training,
        score_kind=subject.score_kind,
        train=subject.train,
        seed=subject.seed,
    )


def _cells(subject: Subject, options: MitigationOptions) -> tuple[tuple[Attribute, ...], Cells]:
    chosen = RuleSetsOptions(
        protected=options.protected, support=options.support, bins=options.bins, depth=options.depth
    )
    attributes, _ = read_attributes(subject.data, chosen)
    sizes = [len(item.levels) for item in attributes]
    return attributes, count_cells(
        [item.codes for item in attributes], sizes, subject.decisions, subject.data.weights
    )


def _worst(subject: Subject, options: MitigationOptions) -> _Group:
    attributes, cells = _cells(subject, options)
    if any(item.ordered and item.name not in subject.data.bins for item in attributes):
        numbers = [item.name for item in attributes if item.ordered and item.name not in subject.data.bins]
        raise InputError(
            "data.bins", f"must cut {numbers[0]!r}, so that training and held-out people have the same bins"
        )
    rules, gaps = _compared(cells, attributes, options)
    if not len(gaps):
        raise InputError(
            "mitigation.support",
            "must leave a group and as many people outside it",
            options.support,
            "lower it",
        )
    chosen = rules[:1]
    admitted = {
        item.name: tuple(np.array(item.levels, dtype=object)[item.rules[rule]])
        for item, rule in zip(attributes, chosen[0], strict=True)
        if rule >= 0
    }
    inside = memberships(cells, attributes, chosen)[0][cells.row_cell]
    return _Group(
        admitted, rule_words(attributes, chosen)[0], "advantaged" if gaps[0] > 0 else "harmed", inside
    )


def _compared(
    cells: Cells, attributes: tuple[Attribute, ...], options: MitigationOptions
) -> tuple[np.ndarray, np.ndarray]:
    """Rule sets with the support on both sides (a handful differ by luck), largest difference first."""
    search = Search(cells, attributes, support=options.support, depth=options.depth)
    search.run(2_000_000)
    mined = search.found()
    gaps = differences(mined.n, mined.favorable, cells.total, float(cells.favorable.sum()))
    # a group and the rest of everyone score alike: the smaller comes first
    order = np.lexsort((mined.n, -np.abs(gaps).round(12)))
    order = order[(cells.total - mined.n >= search.least)[order]]
    return mined.rules[order], gaps[order]


def _samples(
    subject: Subject, group: _Group, options: MitigationOptions, rng: np.random.Generator
) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Perturbed people of the group whom the model decides against the group's trend, with that label."""
    attributes, _ = _cells(subject, options)
    columns = perturbable(subject, attributes)
    if not columns:
        raise InputError(
            "data.features", "must hold a column that no rule uses, to perturb", list(subject.data.features)
        )
    rows = np.flatnonzero(group.inside)
    wanted = max(_FIRST_AMOUNT, round(max(options.amounts) * subject.data.n))
    kept: list[pd.DataFrame] = []
    found = tried = 0
    opposite = group.direction == "harmed"
    while found < wanted and tried < _MOST_TRIES * wanted:
        drawn = rng.choice(rows, wanted)
        frame = perturb(subject, drawn, columns, rng)
        groups = subject.data.groups.iloc[drawn].reset_index(drop=True)
        take = subject.decide(subject.favorable_score(frame), groups) == opposite
        kept.append(frame[take].assign(**{_SEED: drawn[take]}))
        found, tried = found + int(take.sum()), tried + wanted
    samples = pd.concat(kept, ignore_index=True).head(wanted)
    return samples, np.full(len(samples), opposite), tried


_SEED = "\0seed"  # no column of a user has this name


def _amounts(options: MitigationOptions, people: int, available: int) -> list[int]:
    asked = {max(_FIRST_AMOUNT, round(share * people)) for share in options.amounts} | {_FIRST_AMOUNT}
    return sorted({min(amount, available) for amount in asked if min(amount, available) > 0})


def _augmented(training: AuditData, samples: pd.DataFrame, labels: np.ndarray) -> AuditData:
    """The training rows and the samples below them, under new row numbers."""
    seeds, added = samples[_SEED].to_numpy(), samples.drop(columns=_SEED)
    if training.label is not None:
        wanted = [
            training.frame[training.label][np.asarray(training.y) == side].iloc[0] for side in (False, True)
        ]
        added = added.assign(
            **{training.label: pd.Series([wanted[int(label)] for label in labels], index=added.index)}
        )
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
        digest=mark.hexdigest(),
    )


def _pack(
    subject: Subject,
    options: MitigationOptions,
    group: _Group,
    steps: tuple[Step, ...],
    tried: int,
) -> MitigationResult:
    first = steps[0]
    kept = [
        place
        for place, step in enumerate(steps)
        if (step.accuracy.value or 0.0) >= (first.accuracy.value or 0.0) - _ACCURACY_LOST
        and step.difference.value is not None
    ]
    chosen = min(kept, key=lambda place: abs(steps[place].difference.value or 0.0)) if kept else 0
    last = steps[chosen]
    gap, n = last.difference, last.favorable_in.n
    seen = gap.low is not None and gap.high is not None and (gap.low > 0 or gap.high < 0)
    share = (last.favorable_in.value or 0.0) * n / max(gap.n, 1.0) + (last.favorable_out.value or 0.0) * (
        1 - n / max(gap.n, 1.0)
    )
    power = power_of_difference(share, options.material, n, gap.n - n, level=options.level)
    judged = verdict(excludes_no_difference=seen, power=power)
    needed = (
        people_needed(share, options.material, level=options.level)
        if judged not in (EVIDENCE, "no evidence at this size")
        else None
    )
    warnings = []
    if len(steps) == 1:
        warnings.append(
            "No perturbed person of the group was decided against its trend, so nothing could be added."
        )
    elif steps[-1].added < round(max(options.amounts) * (subject.training.n if subject.training else 0)):
        warnings.append(
            f"Only {steps[-1].added:,} of {tried:,} perturbed people were decided against the group's trend."
        )
    if last.worst_score > abs(gap.value or 0.0) + options.material:
        warnings.append(
            f"The largest difference is now elsewhere: {last.worst}, {number(100 * last.worst_score)} points "
            f"({first.worst} had {number(100 * first.worst_score)} before)."
        )
    warnings.append(
        "The number of samples was chosen on the held-out people it is stated for: try it on others."
    )
    return MitigationResult(
        options=dataclasses.asdict(options),
        verdict=judged,
        finding=_finding(group, first, last),
        warnings=tuple(warnings),
        rows={"audited": subject.data.n, "used": subject.data.n, "left_out": {}},
        rule_set=group.words,
        direction=group.direction,
        steps=steps,
        chosen=chosen,
        people_needed=needed,
    )


def _finding(group: _Group, first: Step, last: Step) -> str:
    def gap(step: Step) -> str:
        ends = step.difference.value, step.difference.low, step.difference.high
        value, low, high = (number(None if end is None else 100 * end) for end in ends)
        return f"{value} ({low} to {high})"

    people = first.difference.n
    begin = (
        f"On {count(people)} held-out people, the favorable share of {group.words} "
        f"({count(first.favorable_in.n)}) differs from the others' by"
    )
    accuracy = f"{percent(first.accuracy.value, people)}"
    if last.added == 0:
        return (
            f"{begin} {gap(first)} points; no samples made it smaller without losing accuracy ({accuracy})."
        )
    return (
        f"{begin} {gap(first)} points; after training with {count(last.added)} samples against the trend, "
        f"by {gap(last)}. "
        f"Accuracy {accuracy} before, {percent(last.accuracy.value, people)} after; the largest difference "
        "of any group "
        f"{number(100 * first.worst_score)} points before, {number(100 * last.worst_score)} after."
    )
