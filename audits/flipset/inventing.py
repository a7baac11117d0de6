"""Invented people: where a map sends someone, as an admissible row that the model decides on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.errors import InputError
from audits.flipset.encoding import Encoded
from audits.models import Subject
from audits.progress import Progress, silent
from audits.transport import Cost, pairwise_cost

__all__ = ["Invented", "Inventor"]

_ROWS = 20_000  # scored at a time, so that progress is shown and a run can be cancelled
_NEIGHBOURS = 2000  # people of the other group among whom the nearest is looked for
_PAIRS = 2_000_000


@dataclass(frozen=True, eq=False)
class Invented:
    """Invented people (k): raw features, matched features encoded (k, d), scores and decisions (k,)."""

    frame: pd.DataFrame
    values: np.ndarray
    scores: np.ndarray
    decisions: np.ndarray


@dataclass(frozen=True, eq=False)
class Inventor:
    """Makes people of encoded points, for one subject and one choice of features matched on."""

    subject: Subject
    encoded: Encoded
    cost: Cost

    def check(self, where: str, what: str) -> None:
        """Refuse a model that cannot decide on people who are not in the data, as `what` at `where` needs.

        Raises
        ------
        InputError
            The decisions are a column of the data, or the model reads a column that is no feature.
        """
        if not self.subject.model.invents:
            raise InputError(
                where,
                f"{what}, but the decisions are a column of the data: nobody invented has one",
                advice="choose exact, entropic or unbalanced transport, or audit the model itself",
            )
        unread = [name for name in self.subject.model.columns if name not in self.subject.space.columns]
        if unread:
            raise InputError(
                where,
                f"cannot invent the column {unread[0]!r}, which the model reads but is not a feature",
                advice="choose exact, or add it to data.features",
            )

    def admissible(self, z: np.ndarray, pool: np.ndarray) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
        """Raw rows of the points `z` (k, d), their encoded features, and the nearest person of `pool` (k,).

        The attributes compared are those of that person: they tell the groups apart, so no map moves them.
        """
        space, data = self.subject.space, self.subject.data
        near = self.nearest(z, pool)
        frame = data.frame.iloc[near]
        full = space.encode(frame)
        full[:, self.encoded.keep] = z
        rows = space.decode(full)
        for column in space.columns:
            if column not in self.encoded.columns:
                rows[column] = frame[column].array
        return rows, space.encode(rows)[:, self.encoded.keep], near

    def invent(self, z: np.ndarray, pool: np.ndarray, progress: Progress = silent) -> Invented:
        """Make people of the points `z` (k, d) and have the model decide on them.

        Parameters
        ----------
        pool : array of int (m,)
            Positions of the real people of the group that the points were mapped to.
        """
        frames, values, scores, decisions = [], [], [], []
        for start in range(0, max(len(z), 1), _ROWS):
            progress(start / max(len(z), 1), f"Scoring counterparts: {start:,} of {len(z):,}")
            frame, encoded, near = self.admissible(z[start : start + _ROWS], pool)
            score = self.subject.favorable_score(frame)
            frames.append(frame)
            values.append(encoded)
            scores.append(score)
            decisions.append(self.subject.decide(score, self.groups(frame, near)))
        return Invented(
            pd.concat(frames, ignore_index=True),
            np.concatenate(values),
            np.concatenate(scores),
            np.concatenate(decisions).astype(bool),
        )

    def nearest(self, z: np.ndarray, pool: np.ndarray) -> np.ndarray:
        """Position of the person of `pool` nearest to each point (k,), among at most 2,000 evenly spread."""
        compared = [name for name in self.subject.space.columns if name not in self.encoded.columns]
        frame = self.subject.data.frame[compared].iloc[pool]
        if not compared or len(frame.drop_duplicates()) == 1:
            return np.full(len(z), pool[0])  # anyone's attributes are everyone's
        some = pool[np.linspace(0, len(pool) - 1, min(len(pool), _NEIGHBOURS)).astype(np.int64)]
        y = self.encoded.values[some]
        found = np.empty(len(z), dtype=np.int64)
        step = max(1, _PAIRS // len(some))
        for start in range(0, len(z), step):
            costs = pairwise_cost(z[start : start + step], y, self.cost, self.encoded.weights)
            found[start : start + step] = some[costs.argmin(1)]
        return found

    def groups(self, frame: pd.DataFrame, near: np.ndarray) -> pd.DataFrame:
        """Protected groups of invented people: the nearest person's where compared, else by own value."""
        data = self.subject.data
        groups = data.groups.iloc[near].reset_index(drop=True)
        if not isinstance(self.subject.threshold, Mapping):
            return groups  # nobody's threshold depends on them
        for name in groups.columns:
            if name in self.encoded.columns:
                groups[name] = _group_of(frame[name], data.frame[name], data.groups[name])
        return groups


def _group_of(values: pd.Series, known: pd.Series, groups: pd.Series) -> np.ndarray:
    """Group of each value: that of the same value in the data, or of the nearest number there."""
    table = pd.DataFrame({"value": known.to_numpy(), "group": groups.to_numpy()}).drop_duplicates("value")
    numeric = pd.api.types.is_numeric_dtype(known) and not pd.api.types.is_bool_dtype(known)
    missing = table["group"][table["value"].isna()]
    there = table[table["value"].notna()].sort_values("value") if numeric else table[table["value"].notna()]
    if not numeric:
        found = values.map(dict(zip(there["value"], there["group"], strict=True)))
    else:
        levels = there["value"].to_numpy(dtype=float)
        numbers = values.to_numpy(dtype=float, na_value=np.nan)
        after = np.clip(np.searchsorted(levels, numbers), 1 if len(levels) > 1 else 0, len(levels) - 1)
        before = np.maximum(after - 1, 0)
        nearer = np.where(np.abs(numbers - levels[before]) <= np.abs(levels[after] - numbers), before, after)
        found = pd.Series(there["group"].to_numpy()[nearer], index=values.index)
    if len(missing):
        found = found.where(values.notna(), missing.iloc[0])
    return found.to_numpy()
