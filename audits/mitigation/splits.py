"""The gap before and after in further splits of the same people: no verdict rests on one of them.

The group and the number of samples are those of the run's own split, which keeps the error rate; in each
further split the model is trained as it was and with as many samples drawn anew. The interval reaches over
what all splits give.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits.data import AuditData
from audits.data.partition import content_order, joined
from audits.errors import InputError
from audits.mitigation.frontier import Maker, subject_on
from audits.mitigation.options import MitigationOptions
from audits.mitigation.samples import augmented_by, draw_samples
from audits.mitigation.treated import GroupKind, TreatedRuleSet, group_kind
from audits.models import Subject
from audits.models.trained.training import check_parts
from audits.progress import Progress, part, silent
from audits.stats import Estimate
from audits.stats.intervals import cautious_difference, cautious_p
from audits.subgroups.cells import Cells


@dataclass(frozen=True)
class SplitGap:
    """The group's difference in one split, the p-value of none, and the rates of the others and of all."""

    difference: Estimate
    p_value: float | None = None
    outside: float | None = None
    overall: float | None = None


def in_other_splits(
    subject: Subject,
    maker: Maker,
    group: TreatedRuleSet,
    options: MitigationOptions,
    amounts: Sequence[int],
    *,
    rngs: Sequence[np.random.Generator],
    level: float,
    progress: Progress,
) -> list[list[SplitGap]]:
    """Return the group's difference with so many samples each, in a further split for each of `rngs`.

    A split with too few of one outcome to learn from is left out.
    """
    found = []
    for turn, rng in enumerate(rngs):
        share = part(progress, turn / len(rngs), (turn + 1) / len(rngs))
        share(0.0, f"Training in another split of the people: {turn + 1} of {len(rngs)}")
        training, held = _split_again(subject, rng)
        try:
            check_parts(training, held)
        except InputError:
            continue
        model = maker.retrained(training, silent)[0]
        own = dataclasses.replace(subject_on(subject, held, model), training=training)
        before, groups = subject_on(own, training, model), group_kind(own.everyone, options)
        cells = groups.counted(before)
        mine = dataclasses.replace(group, inside=groups.members(group, cells)[cells.row_cell])
        gaps = []
        for amount in amounts:
            if amount:
                samples, labels, _ = draw_samples(before, groups, mine, options, rng)
                more = augmented_by(training, samples.iloc[:amount], labels[:amount])
                own = subject_on(own, held, maker.retrained(more, share)[0])
            favorable, n, good, total = counts_in(groups, mine, groups.counted(own.everyone))
            gap = cautious_difference(favorable, n, good, total, level=level)
            p, rate = cautious_p(favorable, n, good, total), good / total if total else None
            gaps.append(SplitGap(gap, p, rate, (favorable + good) / (n + total)))
        found.append(gaps)
    return found


def counts_in(groups: GroupKind, group: TreatedRuleSet, cells: Cells) -> tuple[float, float, float, float]:
    """Return favorable ones and people of a group, and those of everyone else."""
    inside = groups.members(group, cells)
    n, favorable = float(cells.n[inside].sum()), float(cells.favorable[inside].sum())
    return favorable, n, float(cells.favorable.sum()) - favorable, cells.total - n


def over_splits(own: Estimate, others: Sequence[Estimate]) -> Estimate:
    """Return the difference of the run's own split, its interval reaching over those of the others.

    Examples
    --------
    >>> one, two = Estimate(-0.2, -0.3, -0.1, 90, "Newcombe 95%"), Estimate(-0.1, -0.25, 0.05, 90, "")
    >>> over_splits(one, [two])
    Estimate(value=-0.2, low=-0.3, high=0.05, n=90, method='Newcombe 95%, over 2 splits of the people')
    """
    ends = [each for each in (own, *others) if each.low is not None and each.high is not None]
    if own.low is None or len(ends) < 2:
        return own
    return Estimate(
        own.value,
        min(each.low for each in ends if each.low is not None),
        max(each.high for each in ends if each.high is not None),
        own.n,
        f"{own.method}, over {len(ends)} splits of the people",
    )


def _split_again(subject: Subject, rng: np.random.Generator) -> tuple[AuditData, AuditData]:
    """Return training rows and held-out people of another split, with about as many held out."""
    training, held = subject.training, subject.data
    assert training is not None  # noqa: S101 - the audit has looked
    if training.design is not None:  # of a person held out one row is left
        training = training.one_row_each(rng)
    whole = joined(training, held)
    share = held.size / (training.audited.size + held.size)
    first, second = whole.take(content_order(whole)).split(share, rng)
    second = second.audited
    return first, dataclasses.replace(second, unlabeled=held.unlabeled)
