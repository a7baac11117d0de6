"""People between two rows, as Eq. 15 is written: parts of categories and numbers that nobody has.

Only a model whose logits exist between two categories can say what they would get (Figure 4).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from audits.data.blocks import LevelBlock, NumberBlock
from audits.data.values import as_text, text_of
from audits.errors import InputError
from audits.models import Subject
from audits.models.networks.gradients import logits_over
from audits.recourse.actions import Actions
from audits.recourse.options import RecourseOptions

if TYPE_CHECKING:
    import torch

__all__ = ["Between", "between_people"]

_WHERE = "recourse.interpolation"
_FEWEST_PARTS = 0.005  # of a category that is told


@dataclass(frozen=True, eq=False)
class Between:
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
        """Return favourable scores (n,) of the people with encoded actionable columns `moved` (n, d)."""
        import torch

        points = self.points.copy()
        for column in self.actions.columns:
            points[:, self.subject.space.blocks[column]] = moved[:, self.actions.space.blocks[column]]
        with torch.no_grad():
            logits = self.network(torch.from_numpy(points)).numpy()
        if logits.shape[1] == 1:
            return np.asarray(expit(logits[:, 0]))
        return np.asarray(softmax(logits, axis=1)[:, self.subject.favorable_classes].sum(axis=1))

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
        kept = [(share, name) for share, name in held if share >= _FEWEST_PARTS]
        whole = kept[0][1] if len(kept) == 1 else ""
        told.append(whole or ", ".join(f"{name} {100 * share:.0f} %" for share, name in kept))
    return pd.Series(told, dtype=object)


def _values(part: NumberBlock | LevelBlock) -> list[tuple[object, bool]]:
    return list(zip(part.levels.tolist(), as_text(part.levels).notna().tolist(), strict=True))


def between_people(
    subject: Subject, options: RecourseOptions, actions: Actions, frame: pd.DataFrame
) -> Between:
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
            "takes people in between, of whom limits on whole values cannot hold",
            "literal",
            "leave limits out, or choose 'snapped'",
        )
    model = subject.differentiable
    if model is None or subject.score_kind != "probability":
        raise InputError(
            _WHERE,
            f"asks about parts of categories, which the {subject.model.name} cannot score: it is no network "
            "whose gradient is known, or gives no probabilities",
            "literal",
            "choose 'snapped'",
        )
    network = logits_over(model, subject.space, subject.data.frame)
    return Between(subject, network, subject.space.encode(frame), actions)
