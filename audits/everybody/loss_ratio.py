"""The loss ratio of everybody in a table that is larger than what is held: people are moved batch by batch.

The fair metric is that of sampled people, each fold of whom is moved by what the others taught; of everybody
else, who taught nothing, the row's number decides. How far it may be off is as among those sampled. What is
kept of those moved is moments of their ratios, by group and along the flow, so that means, bounds and tests
are those of everybody held at once, up to rounding; bars of the figure count people by the first 12 binary
digits of their ratio.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.ranked import ranked
from audits.everybody.adding import (
    UNLIKE,
    Moments,
    added,
    columns_read,
    like_those_drawn,
    mean_of,
    moments_of,
    taught,
)
from audits.loss_ratio.judging import stand
from audits.loss_ratio.metrics.choosing import choose_metric
from audits.loss_ratio.metrics.distances import FairMetrics
from audits.loss_ratio.moving.losses import LEAST_LOSS, loss_ratios
from audits.loss_ratio.moving.people import (
    AUTOGRAD,
    MovedPeople,
    answers_at,
    curve_steps,
    differentiable_of,
    move_points,
)
from audits.loss_ratio.moving.targets import Target, target_of
from audits.loss_ratio.options import LossRatioOptions
from audits.loss_ratio.packing import histogram_of, people_table
from audits.loss_ratio.result import CurvePoint, Floored, GroupRatio, LossRatioResult, PaperBounds
from audits.loss_ratio.testing.moved import ROBUST_FLOOR, floor_of
from audits.models import Subject
from audits.models.labels import class_codes, label_numbers
from audits.models.networks.gradients import logits_over
from audits.models.subspaces import category_units
from audits.stats.means import MeanMethod
from audits.stats.paired import PairedMethod, PairedRatio

if TYPE_CHECKING:
    import torch

__all__ = ["LossRatioFold", "LossRatioPart", "fold_of"]

_DIGITS = 12
_ALL, _CAREFUL = "everybody", "losses counted as at least"
_ODD = np.uint64(0x9E3779B97F4A7C15)  # its products with row numbers have upper digits like drawn ones


@dataclass(frozen=True, eq=False)
class LossRatioPart:
    """What a batch says, or several.

    Attributes
    ----------
    moments : Moments
        Of ratios: of all, of all with careful losses, after each number of steps, of each group.
    wrong : (4,) float
        People who are wrong both times, only after, only before, never.
    digits, people, total : (k,)
        First digits that occur among ratios, sorted; people, and sums of ratios.
    shift : (2, d) float
        Sums of how far people moved, with its sign and without.
    left_out : (2,) int
        Rows that a model learned from, and people unlike those drawn.
    fell : int
        As `Flow.fell`.
    """

    moments: Moments
    wrong: np.ndarray
    digits: np.ndarray
    people: np.ndarray
    total: np.ndarray
    shift: np.ndarray
    left_out: np.ndarray
    fell: int


def fold_of(
    subject: Subject,
    options: LossRatioOptions,
    result: LossRatioResult,
    rng: np.random.Generator,  # noqa: ARG001  (nothing is drawn)
    again: np.random.Generator,
) -> LossRatioFold | None:
    """Return the fold over everybody; None where no gradient moves people, or a sample or range is asked for.

    Without gradient a person takes thousands of scorings; the range that people are kept within is that of
    everybody, who would have to be read first.
    """
    if result.method != AUTOGRAD or options.max_people is not None or options.within_range:
        return None
    data, units = subject.data, category_units(subject.space)
    metrics = choose_metric(data, subject.space, subject.space.encode(data.frame) * units, options, again)
    model = differentiable_of(subject)
    network = logits_over(model, subject.space, data.frame, units)  # type: ignore[arg-type]
    target = target_of(subject, data, options.loss)
    return LossRatioFold(subject, options, result, metrics, network, target, units)


@dataclass(frozen=True, eq=False)
class LossRatioFold:
    """See the module: `partial`, `merge`, `finish`."""

    subject: Subject
    options: LossRatioOptions
    result: LossRatioResult
    metrics: FairMetrics
    network: torch.nn.Module
    target: Target
    units: np.ndarray

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it reads besides those of groups and label."""
        return columns_read(self.subject)

    @property
    def _how(self) -> tuple[MeanMethod, PairedMethod]:
        return ("skewness", "score") if self.options.inference == "robust" else ("normal", "delta")

    @property
    def _floor(self) -> float:
        return floor_of(self.options, self.target, exact=True)

    def partial(self, data: AuditData) -> tuple[LossRatioPart, pd.DataFrame]:
        """Move people; return their part, and one row a person."""
        learned = data.frame.index.isin(taught(self.subject))
        alike = like_those_drawn(self.subject.space, data.frame)
        left_out = np.array([learned.sum(), (~alike & ~learned).sum()])
        data = data.take(~learned & alike)
        moved = self._moved(data)
        flow, floor = moved.flow, self._floor
        ratios = loss_ratios(flow.before, flow.after, floor)
        found: dict[Hashable, np.ndarray] = {}
        nought = np.zeros(len(ratios), dtype=np.int64)
        found |= moments_of(ratios, nought, [_ALL])
        found |= moments_of(
            loss_ratios(flow.before, flow.after, max(floor, ROBUST_FLOOR)), nought, [_CAREFUL]
        )
        for steps, after in flow.curve.items():
            found |= moments_of(loss_ratios(flow.before, after, floor), nought, [steps])
        for name in data.protected:
            codes, groups = pd.factorize(data.groups[name], sort=True)
            found |= moments_of(ratios, codes, [(name, str(group)) for group in groups])
        after, before = moved.after.wrong, moved.before.wrong
        wrong = [(after & before).sum(), (after & ~before).sum(), (~after & before).sum()]
        digits, at = ranked(ratios.view(np.int64) >> np.int64(52 - _DIGITS))
        shift = flow.positions - moved.start
        part = LossRatioPart(
            found,
            np.array([*wrong, len(ratios) - sum(wrong)], dtype=float),
            digits,
            np.bincount(at, minlength=len(digits)).astype(float),
            np.bincount(at, ratios, len(digits)),
            np.stack([shift.sum(axis=0), np.abs(shift).sum(axis=0)]),
            left_out,
            flow.fell,
        )
        return part, people_table(data, moved, ratios)

    def _moved(self, data: AuditData) -> MovedPeople:
        """Move the people of a batch, as `moving.move_people` moves those that are held."""
        target, steps = self._target(data), int(self.result.options["steps"])
        x = self.subject.space.encode(data.frame) * self.units
        metrics = dataclasses.replace(self.metrics, place=self._place(data.frame.index))
        flow, after = move_points(self.network, x, target, metrics, self.options, steps=steps)
        answers = target.answers(answers_at(self.network, x, target)), target.answers(after)
        return MovedPeople(np.arange(data.n), {}, x, flow, target, *answers, steps, AUTOGRAD, True)

    def _target(self, data: AuditData) -> Target:
        """Return what losses of a batch compare, on the scale of those drawn."""
        known = self.target
        y = np.asarray(data.y)
        if known.kind == "number":
            y = (label_numbers(data) - known.centre) / known.unit
        elif known.kind == "classes":
            y = class_codes(data, known.classes)
        return dataclasses.replace(known, data=data, y=y)

    def _place(self, rows: pd.Index) -> np.ndarray:
        """Return whose metric each row is moved by: those drawn by theirs, others by lot."""
        if len(self.metrics.parts) == 1:
            return np.zeros(len(rows), dtype=int)
        lot = ((rows.to_numpy().astype(np.uint64) * _ODD) >> np.uint64(40)) % np.uint64(
            len(self.metrics.parts)
        )
        at = self.subject.data.frame.index.get_indexer(rows)
        return np.where(at >= 0, self.metrics.place[at], lot.astype(int))

    def merge(self, first: LossRatioPart, second: LossRatioPart) -> LossRatioPart:
        """Return what both say together."""
        digits, at = ranked(np.concatenate([first.digits, second.digits]))
        people, total = (
            np.bincount(at, np.concatenate([getattr(first, name), getattr(second, name)]), len(digits))
            for name in ("people", "total")
        )
        return LossRatioPart(
            added(first.moments, second.moments),
            first.wrong + second.wrong,
            digits,
            people,
            total,
            first.shift + second.shift,
            first.left_out + second.left_out,
            first.fell + second.fell,
        )

    def finish(self, part: LossRatioPart) -> LossRatioResult:
        """Return the result of all people moved; the metric, and who is listed, are of those drawn."""
        result, options = self.result, self.options
        mean, pairs = self._how
        loss = mean_of(part.moments[_ALL], mean)
        careful = mean_of(part.moments[_CAREFUL], mean)
        both, later, before, neither = part.wrong.tolist()
        errors = PairedRatio(both, later, before, neither, pairs)
        level, floor = options.level, self._floor
        standing = stand(
            (loss, *result.loss_ends),
            (errors, *result.error_ends),
            result.words,
            tolerance=options.tolerance,
            level=level,
            material=options.material,
        )
        n = int(loss.n)
        learned, unlike = part.left_out.tolist()
        left_out = {"rows that a model learned from": learned, UNLIKE: unlike}
        signed, absolute = part.shift / n
        shifts = dict(zip(self.subject.space.names, zip(signed, absolute, strict=True), strict=True))
        features = [
            dataclasses.replace(
                each,
                mean_move=float(shifts[each.feature][0]),
                mean_absolute_move=float(shifts[each.feature][1]),
            )
            for each in result.features
        ]
        curve = [
            (steps, mean_of(part.moments[steps], mean)) for steps in curve_steps(int(result.options["steps"]))
        ]
        return dataclasses.replace(
            result,
            judged=standing.judged,
            finding=standing.finding,
            warnings=(self._of_whom(n, unlike), *(f"Of those drawn: {each}" for each in result.warnings)),
            rows={
                "audited": n + learned + unlike,
                "used": n,
                "left_out": {why: count for why, count in left_out.items() if count},
            },
            **vars(standing.loss),
            error_ratio=standing.errors,
            paper=PaperBounds(
                dataclasses.replace(loss, method="normal").lower_bound(level),
                dataclasses.replace(errors, method="delta").lower_bound(level),
            ),
            floored=Floored(max(floor, ROBUST_FLOOR), careful.mean, careful.lower_bound(level)),
            loss_test=loss,
            error_test=errors,
            features=tuple(sorted(features, key=lambda each: (-each.loading, -each.mean_absolute_move))),
            curve=tuple(CurvePoint(steps, test.mean, test.lower_bound(level)) for steps, test in curve),
            groups=self._groups(part.moments),
            histogram=histogram_of(np.maximum(part.total / part.people, LEAST_LOSS), part.people),
        )

    def _groups(self, moments: Moments) -> tuple[GroupRatio, ...]:
        """Return ratios by group, as `testing.run_tests` does of rows."""
        keys = [key for key in moments if isinstance(key, tuple)]
        order = {name: place for place, name in enumerate(self.subject.data.protected)}
        tests = {
            key: mean_of(moments[key], self._how[0])
            for key in sorted(keys, key=lambda key: (order[key[0]], key[1]))
        }
        looks = max(1, sum(test.enough for test in tests.values()))
        found = []
        for (attribute, value), test in tests.items():
            estimate = test.interval(self.options.level / looks)
            method = test.interval(self.options.level).method  # all of them together
            if looks > 1 and test.enough:
                method += f", all {looks} groups together (Bonferroni)"
            found.append(GroupRatio(attribute, value, dataclasses.replace(estimate, method=method)))
        return tuple(found)

    def _of_whom(self, n: int, unlike: int) -> str:
        also = f" {unlike:,} people were not moved, as they have {UNLIKE}." if unlike else ""
        listed = f"{len(self.result.people):,} drawn by lot"
        return (
            f"Ratios, tests, groups, moves and figures are of {n:,} people, everybody in the table but whom "
            f"a model learned from; the fair metric and the people listed are of {listed}.{also}"
        )
