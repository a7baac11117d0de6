"""What a person can change, and the admissible rows on the way to the counterpart (Eq. 15).

Also people between two rows as Eq. 15 is written, with parts of categories and numbers that nobody has. Only
a model whose logits exist between two categories can say what they would get (Figure 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from audits.checks import choices, one_of
from audits.data import AuditData, FeatureSpace
from audits.data.encoder_blocks import LevelBlock, NumberBlock
from audits.data.frames import with_columns
from audits.data.kinds import Role
from audits.data.values import as_text, text_of
from audits.errors import InputError, is_installed, not_installed
from audits.models import Subject
from audits.models.networks.gradients import logits_over
from audits.recourse.options import Limit, RecourseOptions

if TYPE_CHECKING:
    import torch

_TIED = 1e-9  # of a category's weight: what rounding makes of a tie


@dataclass(frozen=True, eq=False)
class Actions:
    """The columns that can change, how they are encoded, and what is allowed.

    Attributes
    ----------
    columns : tuple of str
        Actionable columns that the model reads.
    space : FeatureSpace
        Of these columns alone, fitted on everyone.
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
        for part in self.space.parts:
            block = between[:, self.space.blocks[part.column]]
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
        limited = {name: self._enforce_limit(name, today[name], moved[name]) for name in self.columns}
        return with_columns(moved, limited)

    def _enforce_limit(self, column: str, today: pd.Series, moved: pd.Series) -> pd.Series:
        """Keep today's value where the move is not allowed; numbers stop at their bound."""
        limit = self.limits.get(column)
        if limit is None:
            return moved
        if limit.among is not None:
            allowed = as_text(moved).isin({text_of(value) for value in limit.among}).to_numpy()
            moved = moved.where(allowed, today)
        if limit.at_least is not None or limit.at_most is not None:
            moved = _clip_to_bounds(today, moved, limit)
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


def _clip_to_bounds(today: pd.Series, moved: pd.Series, limit: Limit) -> pd.Series:
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
    wanted = _actionable_columns(data, options)
    read = set(subject.model.columns)
    ignored = [name for name in wanted if name not in read]
    columns = tuple(name for name in wanted if name in read)
    warnings = []
    if ignored:
        warnings.append(
            f"The model does not read {choices(ignored)}: changing {'it' if len(ignored) == 1 else 'them'} "
            "cannot help, so "
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


def _actionable_columns(data: AuditData, options: RecourseOptions) -> list[str]:
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


_WHERE = "recourse.interpolation"
_MIN_PARTS = 0.005  # of a category that is told


@dataclass(frozen=True, eq=False)
class PairScore:
    """What scores points between people.

    Attributes
    ----------
    subject : Subject
    network : torch.nn.Module
        Its logits over points of `subject.space`.
    points : array (n, D)
        The rejected people as they are, in that space.
    actions : Actions
    """

    subject: Subject
    network: torch.nn.Module
    points: np.ndarray
    actions: Actions

    def score(self, moved: np.ndarray) -> np.ndarray:
        """Return favorable scores (n,) of the people with encoded actionable columns `moved` (n, d)."""
        import torch

        points = self.points.copy()
        for column in self.actions.columns:
            points[:, self.subject.space.blocks[column]] = moved[:, self.actions.space.blocks[column]]
        with torch.no_grad():
            logits = self.network(torch.from_numpy(points)).numpy()
        if logits.shape[1] == 1:
            return np.asarray(expit(logits[:, 0]))
        return self.subject.favorable_of(np.asarray(softmax(logits, axis=1)))

    def rows(self, moved: np.ndarray) -> pd.DataFrame:
        """Return the actionable columns in words that say parts: numbers unrounded, shares of categories."""
        space = self.actions.space
        return pd.DataFrame(
            {part.column: _words(part, moved[:, space.blocks[part.column]]) for part in space.parts}
        )


def _words(part: NumberBlock | LevelBlock, block: np.ndarray) -> pd.Series:
    if isinstance(part, NumberBlock) and not len(part.levels) and part.kind != "datetime":
        return pd.Series(block[:, 0] * part.sd + part.mean)
    if isinstance(part, NumberBlock) and (part.kind != "boolean" or len(part.levels) < 2):
        return part.decode(block)  # a date or a rank is said by the nearest one
    two = isinstance(part, NumberBlock)
    shares = np.column_stack([1 - block[:, 0], block[:, 0]]) if two else 2.0 * block
    names = [text_of(value) if known else "missing" for value, known in _values(part)]
    told = []
    for row in shares.tolist():
        held = sorted(((share, name) for share, name in zip(row, names, strict=True)), reverse=True)
        kept = [(share, name) for share, name in held if share >= _MIN_PARTS]
        whole = kept[0][1] if len(kept) == 1 else ""
        told.append(whole or ", ".join(f"{name} {100 * share:.0f}%" for share, name in kept))
    return pd.Series(told, dtype=object)


def _values(part: NumberBlock | LevelBlock) -> list[tuple[object, bool]]:
    return list(zip(part.levels.tolist(), as_text(part.levels).notna().tolist(), strict=True))


def between_people(
    subject: Subject, options: RecourseOptions, actions: Actions, frame: pd.DataFrame
) -> PairScore:
    """Make what scores points between people from the model's own network.

    Parameters
    ----------
    frame : DataFrame (n, columns)
        The rejected people.

    Raises
    ------
    InputError
        The model has no gradient, or gives no probabilities; limits are given, which are of whole values.
    """
    if options.limits:
        raise InputError(
            _WHERE,
            "uses values in between, to which limits on whole values cannot apply",
            "literal",
            "leave limits out, or choose 'snapped'",
        )
    if not is_installed("torch"):
        raise not_installed("recourse", "torch")
    model = subject.differentiable
    if model is None or subject.score_kind != "probability":
        raise InputError(
            _WHERE,
            f"asks about parts of categories, which the {subject.model.name} cannot score: its gradient is "
            "not known, or it gives no probabilities",
            "literal",
            "choose 'snapped'",
        )
    network = logits_over(model, subject.space, subject.data.frame)
    return PairScore(subject, network, subject.space.encode(frame), actions)
