"""Match sets from a known causal generator (section 5): what the model decides about true counterfactuals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from audits.data import AuditData
from audits.data.counterfactuals import check_counterfactuals, counterfactual_frame
from audits.data.frames import with_columns
from audits.data.groups import cut
from audits.data.values import MISSING, as_text
from audits.errors import InputError
from audits.models import Subject
from audits.sensitivity.options import SensitivityOptions

__all__ = ["check_known", "decided_otherwise"]

_WHERE = "sensitivity.counterfactuals"


def check_known(subject: Subject, attributes: tuple[str, ...], options: SensitivityOptions) -> None:
    """Check the columns that hold counterfactual features, where the options name any.

    Raises
    ------
    InputError
        Several protected attributes, no match set asked for, columns that cannot be used (see
        `check_counterfactuals`), or a protected attribute that the model reads and of which nobody says
        what it would have been: it has no column, and more than two groups or bins.
    """
    columns = options.counterfactuals
    if not columns:
        return
    if options.match_set == "off":
        raise InputError(
            _WHERE, "make a match set, which match_set: off leaves out", advice="drop one of the two"
        )
    if len(attributes) > 1:
        raise InputError(
            _WHERE,
            "belong to one protected attribute",
            attributes,
            "set protected to the attribute that they change",
        )
    could = dict.fromkeys((*subject.space.columns, *attributes))
    check_counterfactuals(_WHERE, columns, subject.data, could, what="a feature", known=_known(subject))
    if attributes[0] not in columns and _depends(subject, attributes[0]):
        _other_value(subject, attributes[0])


def decided_otherwise(subject: Subject, attribute: str, columns: Mapping[str, str]) -> tuple[np.ndarray, str]:
    """Return whom the model decides otherwise than their counterfactuals (n,), and how these were made.

    A counterfactual has the features that `columns` give and the other value of the protected attribute;
    every other feature stays the person's own. The same model decides, by the other group's threshold.
    """
    data = subject.data
    frame = counterfactual_frame(data, columns, known=_known(subject))
    groups = {name: _groups_of(frame[name], name, data) for name in data.protected if name in columns}
    if attribute not in columns and _depends(subject, attribute):
        values, texts = _other_value(subject, attribute)
        own = data.groups[attribute].to_numpy(dtype=str)
        at = (own == texts[0]).astype(int)  # the place of the other one
        frame[attribute] = values.array.take(at)
        groups[attribute] = texts[at]
    decided = subject.decide(subject.favorable_score(frame), with_columns(data.groups, groups))
    named = ", ".join(columns.values())
    return decided != subject.decisions, f"true counterfactuals with another {attribute} ({named})"


def _known(subject: Subject) -> pd.DataFrame:
    """Everybody there is, to know all values of categories."""
    parts = [subject.data.frame, *([] if subject.training is None else [subject.training.frame])]
    return pd.concat(parts)


def _depends(subject: Subject, attribute: str) -> bool:
    """Whether decisions depend on the attribute itself: as a feature, or by thresholds of its groups."""
    by_group = isinstance(subject.threshold, Mapping) and attribute in subject.threshold
    return attribute in subject.model.columns or by_group


def _groups_of(values: pd.Series, name: str, data: AuditData) -> np.ndarray:
    edges = data.bins.get(name)
    texts = as_text(values) if edges is None else cut(values, edges)
    return texts.fillna(MISSING).to_numpy(dtype=str)


def _other_value(subject: Subject, attribute: str) -> tuple[pd.Series, np.ndarray]:
    """Return the two values of an attribute, (2,) raw and as text."""
    data = subject.data
    values = _known(subject)[attribute].drop_duplicates().reset_index(drop=True)
    if len(values) != 2 or values.isna().any() or data.bins.get(attribute):
        raise InputError(
            f"{_WHERE}.{attribute}",
            "must name a column of what it would have been: the model reads it (or thresholds depend on "
            "it), and it is not one of two values, known for everybody",
            advice="add the column to the data, or recode the attribute to two groups",
        )
    return values, as_text(values).to_numpy(dtype=str)
