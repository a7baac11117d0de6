"""What a person can change, and the admissible rows on the way to the counterpart (Eq. 15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.checks import choices, one_of
from audits.data import AuditData, FeatureSpace
from audits.data.blocks import LevelBlock, NumberBlock
from audits.data.kinds import Role
from audits.data.values import as_text, text_of
from audits.errors import InputError
from audits.models import Subject
from audits.recourse.options import Limit, RecourseOptions

_TIED = 1e-9  # of a category's weight: what rounding makes of a tie

__all__ = ["GERMAN_ROLES", "Actions", "actions_of"]


@dataclass(frozen=True, eq=False)
class Actions:
    """The columns that can change, how they are encoded, and what is allowed.

    Attributes
    ----------
    columns : tuple of str
        Actionable columns that the model reads.
    space : FeatureSpace
        Of these columns alone, fitted on everybody.
    limits : dict of column to Limit
    costs : array (d,)
        Cost of a change by 1 in each encoded column: by a standard deviation, or to another category (whose
        two entries of 0.5 add up to 1).
    """

    columns: tuple[str, ...]
    space: FeatureSpace
    limits: dict[str, Limit]
    costs: np.ndarray

    def interpolate(
        self, today: pd.DataFrame, start: np.ndarray, goal: np.ndarray, alpha: float
    ) -> pd.DataFrame:
        """Return admissible rows (n, columns) at weight `alpha` of the counterpart (Eq. 15).

        Parameters
        ----------
        today : DataFrame (n, columns)
            What people have now; returned unchanged at α = 0.
        start, goal : arrays (n, d)
            Encoded people and their mean counterparts.
        """
        if alpha == 0:
            return today
        between = (1 - alpha) * start + alpha * goal
        moved = self.space.decode(between)
        moved.index = today.index
        at = 0
        for part in self.space.parts:
            block = between[:, at : at + len(part.names)]
            at += len(part.names)
            # of several nearest categories none is chosen by its name: today's value stays
            if isinstance(part, LevelBlock) and block.shape[1] > 1:
                top = np.sort(block, axis=1)[:, -2:]
                tied = top[:, 1] - top[:, 0] <= _TIED
            elif isinstance(part, NumberBlock) and part.kind == "boolean":
                tied = np.abs(block[:, 0] * part.sd + part.mean - 0.5) <= _TIED
            else:
                continue
            if tied.any():
                moved[part.column] = moved[part.column].where(~tied, today[part.column])
        return self.allowed(today, moved)

    def allowed(self, today: pd.DataFrame, moved: pd.DataFrame) -> pd.DataFrame:
        """Return `moved` (n, columns), with today's value where a limit forbids the move."""
        return moved.assign(
            **{column: self._allowed(column, today[column], moved[column]) for column in self.columns}
        )

    def _allowed(self, column: str, today: pd.Series, moved: pd.Series) -> pd.Series:
        """Keep today's value where the move is not allowed; numbers stop at their bound."""
        limit = self.limits.get(column)
        if limit is None:
            return moved
        if limit.among is not None:
            allowed = as_text(moved).isin({text_of(value) for value in limit.among}).to_numpy()
            moved = moved.where(allowed, today)
        if limit.at_least is not None or limit.at_most is not None:
            moved = _bounded(today, moved, limit)
        if limit.direction is not None:
            part = self.space.parts[self.columns.index(column)]
            new, old = (part.encode(values, unknown="zero")[:, 0] for values in (moved, today))
            forth = new >= old if limit.direction == "up" else new <= old
            known = moved.notna().to_numpy() & today.notna().to_numpy()
            moved = moved.where(forth | ~known, today)
        return moved

    def cost(self, start: np.ndarray, moved: np.ndarray) -> np.ndarray:
        """Return how far each person has to go, (n,): weighted L1 between the encoded rows (n, d)."""
        return np.abs(moved - start) @ self.costs


def _bounded(today: pd.Series, moved: pd.Series, limit: Limit) -> pd.Series:
    """Stop numbers at the bounds; who is beyond one today stays at today's value."""
    low = -np.inf if limit.at_least is None else limit.at_least
    high = np.inf if limit.at_most is None else limit.at_most
    now, new = (values.to_numpy(dtype=float, na_value=np.nan) for values in (today, moved))
    with np.errstate(invalid="ignore"):
        if pd.api.types.is_integer_dtype(moved.dtype):
            low, high = np.ceil(low), np.floor(high)
        stopped = np.clip(new, low, high)
        stopped = np.where((now < low) | (now > high), now, stopped)
    return pd.Series(stopped, index=moved.index, name=moved.name).astype(moved.dtype)


def actions_of(subject: Subject, options: RecourseOptions) -> tuple[Actions, tuple[str, ...]]:
    """Return what can be changed, and warnings about roles that cannot help.

    Raises
    ------
    InputError
        If no actionable column is left that the model reads, a name is unknown, or a limit does not fit its
        column's kind.
    """
    data = subject.data
    wanted = _wanted(data, options)
    read = set(subject.model.columns)
    ignored = [name for name in wanted if name not in read]
    columns = tuple(name for name in wanted if name in read)
    warnings = []
    if ignored:
        warnings.append(
            f"The model does not read {choices(ignored)}: changing "
            f"{'it' if len(ignored) == 1 else 'them'} cannot help, so "
            f"{'it is' if len(ignored) == 1 else 'they are'} left out."
        )
    if not columns:
        found = (
            f"names only columns that the model does not read ({choices(ignored)})" if ignored else "is empty"
        )
        raise InputError(
            "roles.actionable",
            f"must name at least one column that the model reads, but {found}",
            advice=f"give a role to some of {choices(sorted(read))}",
        )
    space = FeatureSpace.fit(data, columns)
    for where, names in (("limits", options.limits), ("cost_weights", options.cost_weights)):
        for name in names:
            one_of(f"recourse.{where}", name, columns, what="an actionable column")
    for name, limit in options.limits.items():
        _check_limit(space.parts[columns.index(name)], limit)
    weights = np.concatenate(
        [np.full(len(part.names), options.cost_weights.get(part.column, 1.0)) for part in space.parts]
    )
    if not weights.any():
        raise InputError(
            "recourse.cost_weights", "must leave some change a cost above 0", options.cost_weights
        )
    return Actions(columns, space, dict(options.limits), weights), tuple(warnings)


def _wanted(data: AuditData, options: RecourseOptions) -> list[str]:
    if options.actionable is not None:
        for name in options.actionable:
            one_of("recourse.actionable", name, data.frame.columns, what="a column of the data")
        if data.label in options.actionable:
            raise InputError("recourse.actionable", "must not name the label", data.label)
        return list(dict.fromkeys(options.actionable))
    if options.preset is not None:
        known = [name for name, role in GERMAN_ROLES.items() if role == "actionable"]
        absent = [name for name in known if name not in data.frame.columns]
        if absent:
            raise InputError(
                "recourse.preset",
                f"is for the German credit data, but there is no column {choices(absent)}",
                options.preset,
                "leave it out and set data.roles",
            )
        return known
    return [name for name, role in data.roles.items() if role == "actionable" and name != data.label]


def _check_limit(part: NumberBlock | LevelBlock, limit: Limit) -> None:
    where = f"recourse.limits.{part.column}"
    number = isinstance(part, NumberBlock) and not len(part.levels)
    if limit.direction is not None and isinstance(part, LevelBlock):
        raise InputError(
            f"{where}.direction",
            "needs a number, a date or ranks, but the column holds categories",
            advice="use among",
        )
    if limit.at_least is not None or limit.at_most is not None:
        if not number or part.kind == "datetime":  # type: ignore[union-attr]
            raise InputError(where, "can bound numbers only", advice="use among or direction")
        if limit.at_least is not None and limit.at_most is not None and limit.at_least > limit.at_most:
            raise InputError(
                where, "must have at_least no larger than at_most", (limit.at_least, limit.at_most)
            )
    if limit.among is not None:
        if number:
            raise InputError(f"{where}.among", "is for categories", advice="use at_least and at_most")
        levels = {text_of(value) for value in part.levels.dropna()}
        for value in limit.among:
            one_of(f"{where}.among", text_of(value), sorted(levels), what="a value of the column")


GERMAN_ROLES: dict[str, Role] = {
    "savings": "actionable",
    "credit_history": "actionable",
    "installment_plans": "actionable",
    "other_debtors": "actionable",
    "people_liable_for": "actionable",
    "property": "actionable",
    "number_of_credits": "actionable",
    "investment_as_income_percentage": "actionable",
    "credit_amount": "mutable",
    "month": "mutable",
    "purpose": "mutable",
    "telephone": "mutable",
    "personal_status": "immutable",
    "sex": "immutable",
    "age": "immutable",
    "foreign_worker": "immutable",
    "employment": "immutable",
    "skill_level": "immutable",
    "residence_since": "immutable",
}
