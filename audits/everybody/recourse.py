"""Who is accepted among everybody in a table that is larger than what is held: scores, batch by batch.

What rejected people could change, and how far they have to go, is of people drawn by lot; everybody's score
and decision are written as they come.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.data import AuditData, group_name
from audits.everybody.adding import columns_read, taught
from audits.models import Subject
from audits.recourse.options import RecourseOptions
from audits.recourse.result import RecourseResult
from audits.stats import Estimate, wilson
from audits.stats.words import percent_interval

__all__ = ["RecourseFold", "RecoursePart", "fold_of"]

_NAMED = 6


@dataclass(frozen=True)
class RecoursePart:
    """What a batch says, or several: people, and those accepted, by group; rows that a model learned from."""

    groups: Mapping[tuple[str, ...], tuple[int, int]]
    learned: int


def fold_of(
    subject: Subject,
    options: RecourseOptions,
    result: RecourseResult,
    rng: np.random.Generator,  # noqa: ARG001  (nothing is drawn)
    again: np.random.Generator,  # noqa: ARG001
) -> RecourseFold:
    """Return the fold over everybody."""
    return RecourseFold(subject, options, result)


@dataclass(frozen=True, eq=False)
class RecourseFold:
    """See the module: `partial`, `merge`, `finish`."""

    subject: Subject
    options: RecourseOptions
    result: RecourseResult

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that it reads besides those of groups and label."""
        return columns_read(self.subject)

    @property
    def _by(self) -> tuple[str, ...]:
        return self.subject.data.protected if self.options.by is None else self.options.by

    def partial(self, data: AuditData) -> tuple[RecoursePart, pd.DataFrame]:
        """Score people; return their part, and one row a person."""
        learned = data.frame.index.isin(taught(self.subject))
        data = data.take(~learned)
        scores = self.subject.favorable_score(data.frame) if data.n else np.empty(0)
        decisions = self.subject.decide(scores, data.groups)
        people = pd.DataFrame({"score": scores, "decision": decisions}, index=data.frame.index)
        counted = people["decision"].groupby([data.groups[name] for name in self._by]).agg(["size", "sum"])
        found = {
            (key if isinstance(key, tuple) else (key,)): (int(n), int(good))
            for key, n, good in zip(counted.index, counted["size"], counted["sum"], strict=True)
        }
        return RecoursePart(found, int(learned.sum())), people

    def merge(self, first: RecoursePart, second: RecoursePart) -> RecoursePart:
        """Return what both say together."""
        both = dict(first.groups)
        for key, (n, good) in second.groups.items():
            before = both.get(key, (0, 0))
            both[key] = before[0] + n, before[1] + good
        return RecoursePart(both, first.learned + second.learned)

    def shares(self, part: RecoursePart) -> dict[str, Estimate]:
        """Return the share accepted of each group, all intervals together, and first of everybody."""
        n, good = (sum(each[k] for each in part.groups.values()) for k in (0, 1))
        level, found = self.options.level, {}
        found["everybody"] = wilson(good, n, level=level)
        for key, (size, accepted) in sorted(part.groups.items()):
            name = group_name(dict(zip(self._by, key, strict=True)))
            found[name] = wilson(accepted, size, level=level / len(part.groups))
        return found

    def finish(self, part: RecoursePart) -> RecourseResult:
        """Return the result of those drawn, and what share of everybody is accepted."""
        found = self.shares(part)
        everybody = found.pop("everybody")
        told = [f"{name} {percent_interval(share)}" for name, share in list(found.items())[:_NAMED]]
        more = f" and {len(found) - _NAMED} more groups" if len(found) > _NAMED else ""
        said = (
            f"Of {everybody.n:,.0f} people, everybody in the table"
            f"{' but whom the model learned from' if part.learned else ''}, the model accepts "
            f"{percent_interval(everybody)}; of groups {', '.join(told)}{more}, their intervals "
            f"together. All else is of {self.subject.data.n:,} drawn by lot."
        )
        return dataclasses.replace(self.result, warnings=(said, *self.result.warnings))
