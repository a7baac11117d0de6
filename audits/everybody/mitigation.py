"""What training again does to everybody in a table that is larger than what is held: decisions are counted.

The models, the group and how many samples were chosen are those of people drawn by lot. A batch is counted by
the values that rules are made of, one line for all who agree in them and in every model's decision.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.everybody.adding import UNLIKE, columns_read, taught
from audits.mining.attributes import rule_words
from audits.mining.cells import count_cells
from audits.mining.reading import read_attributes
from audits.mitigation.audit import amounts_of, augmented_by, draw_samples, subject_on
from audits.mitigation.judging import judge_step, level_of_a_step
from audits.mitigation.options import MitigationOptions
from audits.mitigation.result import MitigationResult, Step
from audits.mitigation.treated import TableGroups, Treated, find_worst, group_kind
from audits.mitigation.words import finding
from audits.models import Model, Subject, train_model
from audits.stats import wilson
from audits.stats.intervals import cautious_difference

__all__ = ["MitigationFold", "MitigationPart", "fold_of"]


@dataclass(frozen=True, eq=False)
class MitigationPart:
    """What a batch says, or several.

    Attributes
    ----------
    lines : AuditData
        One row for all who agree, its weights the people.
    decisions : (lines, models) bool
        Of each line, by each model.
    right : (models,) float
        People whose decision is their label.
    left_out : (2,) int
        Rows that a model learned from, and people unlike those drawn.
    """

    lines: AuditData
    decisions: np.ndarray
    right: np.ndarray
    left_out: np.ndarray


def fold_of(
    subject: Subject,
    options: MitigationOptions,
    result: MitigationResult,
    rng: np.random.Generator,  # noqa: ARG001  (nothing is drawn)
    again: np.random.Generator,
) -> MitigationFold | None:
    """Return the fold over everybody, its models trained as the audit trained them; None for texts."""
    assert subject.training is not None and subject.train is not None  # noqa: S101, PT018 - it was trained
    groups = group_kind(subject, options)
    if not isinstance(groups, TableGroups):
        return None
    before = subject_on(subject, subject.training, subject.model)
    group = find_worst(groups, before, options)
    samples, labels, _ = draw_samples(before, groups, group, options, again)
    models = [subject.model]
    for amount in amounts_of(options, round(subject.training.size), len(labels)):
        more = augmented_by(subject.training, samples.iloc[:amount], labels[:amount])
        models.append(train_model(more, subject.train, subject.seed, lambda *_: None))
    return MitigationFold(subject, options, result, groups, group, tuple(models))


@dataclass(frozen=True, eq=False)
class MitigationFold:
    """See the module: `partial`, `merge`, `finish`."""

    subject: Subject
    options: MitigationOptions
    result: MitigationResult
    groups: TableGroups
    group: Treated
    models: tuple[Model, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it reads besides those of groups and label."""
        return columns_read(self.subject)

    def partial(self, data: AuditData) -> tuple[MitigationPart, pd.DataFrame]:
        """Count people; return their part, and one row a person."""
        learned = data.frame.index.isin(taught(self.subject))
        alike = self._alike(data)
        left_out = np.array([learned.sum(), (~alike & ~learned).sum()])
        data = data.take(~learned & alike)
        judged = [subject_on(self.subject, data, model) for model in self.models]
        decisions = np.column_stack([each.decisions for each in judged])
        right = (decisions == np.asarray(data.y)[:, None]).sum(axis=0).astype(float)
        chosen = judged[self.result.chosen]
        people = pd.DataFrame(
            {
                "score": judged[0].scores,
                "decision": judged[0].decisions,
                "score after": chosen.scores,
                "decision after": chosen.decisions,
            },
            index=data.frame.index,
        )
        needed = [name for name in data.protected if name in data.frame]
        data = dataclasses.replace(data, frame=data.frame[needed], weights=np.ones(data.n))
        return self._gathered(MitigationPart(data, decisions, right, left_out)), people

    def _alike(self, data: AuditData) -> np.ndarray:
        """Return who has only values that rules were made of, where each value is a bin of its own."""
        alike = np.ones(data.n, dtype=bool)
        for name, bins in self.groups.options.bins.items():  # type: ignore[union-attr]
            known, column = self.subject.data.frame[name], data.frame[name]
            values = column.to_numpy(dtype=float, na_value=np.nan)
            if isinstance(bins, tuple):
                alike &= ~((values < bins[0]) | (values > bins[-1]))
            else:
                alike &= column.isin(known).to_numpy() | np.isnan(values)
        return alike

    def _gathered(self, part: MitigationPart) -> MitigationPart:
        """Return the same with one line for all who agree."""
        lines, weights = part.lines, np.asarray(part.lines.weights)
        if not lines.n:
            return part
        columns = [codes for codes, _ in (pd.factorize(lines.groups[name]) for name in lines.groups)]
        for name, bins in self.groups.options.bins.items():  # type: ignore[union-attr]
            values = lines.frame[name].to_numpy(dtype=float, na_value=np.nan)
            if isinstance(bins, tuple):
                place = np.searchsorted(bins, values, side="right")
                code = np.where(np.isnan(values), -1, np.clip(place - 1, 0, len(bins) - 2))
                columns[list(lines.groups).index(name)] = code
        table = np.column_stack([*columns, part.decisions])
        _, first, at = np.unique(table, axis=0, return_index=True, return_inverse=True)
        few = dataclasses.replace(
            lines.take(first), weights=np.bincount(at.reshape(-1), weights, len(first)), digest=""
        )
        return dataclasses.replace(part, lines=few, decisions=part.decisions[first])

    def merge(self, first: MitigationPart, second: MitigationPart) -> MitigationPart:
        """Return what both say together."""
        one, other = first.lines, second.lines
        lines = dataclasses.replace(
            one,
            frame=pd.concat([one.frame, other.frame]),
            groups=pd.concat([one.groups, other.groups]),
            y=np.concatenate([np.asarray(one.y), np.asarray(other.y)]),
            weights=np.concatenate([np.asarray(one.weights), np.asarray(other.weights)]),
        )
        decisions = np.concatenate([first.decisions, second.decisions])
        return self._gathered(
            MitigationPart(lines, decisions, first.right + second.right, first.left_out + second.left_out)
        )

    def finish(self, part: MitigationPart) -> MitigationResult:
        """Return the result of everybody; group, samples and what other audits find are of those drawn."""
        result, options = self.result, self.options
        attributes, _ = read_attributes(part.lines, self.groups.options)
        codes, sizes = [each.codes for each in attributes], [len(each.levels) for each in attributes]
        n = float(np.asarray(part.lines.weights).sum())
        level = level_of_a_step(options.level, len(self.models))
        steps = []
        for place, step in enumerate(result.steps):
            cells = count_cells(codes, sizes, part.decisions[:, place], part.lines.weights)
            counted = attributes, cells
            inside = self.groups.members(self.group, counted)
            good = float(cells.favorable.sum())
            mine, favorable = float(cells.n[inside].sum()), float(cells.favorable[inside].sum())
            rules, gaps = self.groups.compared(counted)
            steps.append(
                Step(
                    added=step.added,
                    difference=cautious_difference(favorable, mine, good - favorable, n - mine, level=level),
                    favorable_in=wilson(favorable, mine, level=options.level),
                    favorable_out=wilson(good - favorable, n - mine, level=options.level),
                    accuracy=wilson(float(part.right[place]), n, level=options.level),
                    worst=rule_words(attributes, rules[:1])[0] if len(rules) else "",
                    worst_score=float(abs(gaps[0])) if len(gaps) else 0.0,
                    also=step.also,
                )
            )
        judged = judge_step(steps, result.chosen, level=options.level, material=options.material)
        first, last = steps[0], steps[result.chosen]
        learned, unlike = part.left_out.tolist()
        left_out = {"rows that a model learned from": learned, UNLIKE: unlike}
        return dataclasses.replace(
            result,
            judged=judged,
            finding=finding(self.groups.noun, self.group.words, first, last, judged, len(steps)),
            warnings=(self._of_whom(int(n)), *(f"Of those drawn: {each}" for each in result.warnings)),
            rows={
                "audited": int(n) + learned + unlike,
                "used": int(n),
                "left_out": {why: count for why, count in left_out.items() if count},
            },
            steps=tuple(steps),
        )

    def _of_whom(self, n: int) -> str:
        return (
            f"Shares, differences and accuracy are of {n:,} people, everybody in the table but whom a model "
            f"learned from; the group, the models, how many samples were chosen and what other audits find "
            f"are of {self.subject.data.n:,} held out and {self._learned:,} learned from, drawn by lot."
        )

    @property
    def _learned(self) -> int:
        return 0 if self.subject.training is None else self.subject.training.n
