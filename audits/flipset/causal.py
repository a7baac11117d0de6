"""Flipsets of true counterfactuals, where the data hold them, beside those of transport (section 5.4)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from audits.data import counterfactuals as data_columns
from audits.flipset.counting import Flips
from audits.flipset.inventing import Invented, Inventor
from audits.flipset.matching import Counterparts, Matched
from audits.stats import Estimate, wilson
from audits.transport.maps import mean_cost

__all__ = ["agreement", "causal_match", "check_counterfactuals"]


def check_counterfactuals(inventor: Inventor, columns: dict[str, str]) -> None:
    """Check which columns hold what the features would have been.

    Raises
    ------
    InputError
        A key is no feature that people are matched on, a column is absent, has missing values or another
        kind of values than its feature, or the model cannot decide on people who are not in the data.
    """
    where = "flipset.counterfactuals"
    inventor.check(where, "needs decisions on counterfactual people")
    data_columns.check_counterfactuals(
        where,
        columns,
        inventor.subject.data,
        inventor.encoded.columns,
        what="a feature that people are matched on",
    )


def causal_match(
    inventor: Inventor, matched: list[Matched], columns: dict[str, str], sizes: np.ndarray
) -> list[Matched]:
    """The same people, each with the counterpart that `columns` give: the person's own other life.

    Features without a column keep the person's own value; the attributes compared are the target group's.
    """
    data, encoded = inventor.subject.data, inventor.encoded
    space, found = inventor.subject.space, []
    lives = data_columns.counterfactual_frame(data, columns)
    for part in matched:
        frame = lives.iloc[part.source].reset_index(drop=True)
        near = inventor.nearest(encoded.values[part.source], part.target)
        for name in space.columns:
            if name not in encoded.columns:
                frame[name] = data.frame[name].iloc[near].array
        points = space.encode(frame)[:, encoded.keep]
        scores = inventor.subject.favorable_score(frame)
        decided = inventor.subject.decide(scores, inventor.groups(frame, near)).astype(bool)
        n = len(part.source)
        size = sizes[part.source]
        found.append(
            Matched(
                value=part.value,
                source=part.source,
                target=part.target,
                source_atom=np.arange(n),
                target_atom=part.target_atom,
                x=encoded.values[part.source],
                y=part.y,
                source_size=size,
                target_size=part.target_size,
                there=Counterparts(
                    points,
                    sparse.csr_array(sparse.eye_array(n)),
                    np.ones(n),
                    part.there.weights,
                    Invented(frame[list(space.columns)], points, scores, decided),
                ),
                back=None,
                cost=mean_cost(
                    encoded.values[part.source],
                    points,
                    cost=inventor.cost,
                    a=size,
                    feature_weights=encoded.weights,
                ),
                slack=None,
                method="causal counterfactuals",
            )
        )
    return found


def agreement(ours: Flips, causal: Flips, sizes: np.ndarray, level: float) -> Estimate:
    """Share of source people of whom both say the same: in the positive flipset, the negative, neither."""
    same = (
        causal.positive * ours.positive
        + causal.negative * ours.negative
        + (1 - causal.positive - causal.negative) * (1 - ours.positive - ours.negative)
    )
    people = sizes[ours.source]
    return wilson(float(same @ people), float(people.sum()), level=level)
