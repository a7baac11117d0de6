"""Names for values: what a column's codes mean, in everything that is shown."""

from __future__ import annotations

import pandas as pd

from audits.data.frames import with_columns
from audits.data.preprocessing.filters import known_column
from audits.data.spec import DataSpec
from audits.data.values import TEXT, match_level, near, text_of
from audits.errors import InputError

_MOST = 100


def named_values(
    frame: pd.DataFrame, spec: DataSpec, orders: dict[str, tuple[str, ...]], *, counted: bool = False
) -> tuple[pd.DataFrame, dict[str, pd.Series]]:
    """Return the frame with values replaced by what `DataSpec.labels` says they mean, and how to go back.

    Values that are not named stay as they are, as text. The label's own values stay too, as a model knows
    them: their names are for words only. What was of the kind "ordinal" keeps the order of its values.

    Raises
    ------
    InputError
        For a column or value that the data lack, one that is used as a number, and two values of one name.
    """
    made, meant = {}, {}
    for name, means in spec.labels.items():
        if counted and name not in frame:  # only what the audit asks of is read
            continue
        where = f"data.labels.{name}"
        column = frame[known_column(where, name, frame)]
        codes, distinct = pd.factorize(column, sort=True)
        levels = [text_of(value) for value in distinct]
        if len(levels) > _MOST:
            raise InputError(where, f"must name values of a column with at most {_MOST}", len(levels))
        said = {text: text for text in levels}
        for value, meaning in means.items():
            level = match_level(value, levels)
            if level is None:
                raise InputError(where, "must name values of the data", value, near(text_of(value), levels))
            said[level] = meaning.strip() or level
        twice = [each for each in said.values() if list(said.values()).count(each) > 1]
        if twice:
            raise InputError(
                where, "must give each value a different name", twice[0], "recode to merge values"
            )
        if name == spec.label_column:
            continue
        if (
            name in spec.bins
            or name in spec.design_columns
            or spec.kinds.get(name) in {"continuous", "integer"}
        ):
            raise InputError(where, "must be of categories, but the column is used as a number", name)
        if spec.kinds.get(name) == "ordinal" and name not in spec.orders:
            orders[name] = tuple(said[text] for text in levels)
        names = pd.array([said[text] for text in levels], dtype=TEXT)
        made[name] = pd.Series(names.take(codes, allow_fill=True), index=frame.index, name=name)
        meant[name] = pd.Series(distinct, index=names)
    return with_columns(frame, made) if made else frame, meant
