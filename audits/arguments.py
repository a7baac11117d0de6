"""What a call from Python is given, as a spec has it: columns beside X, groups, weights, predictions."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import pandas as pd

from audits.checks import choices, one_of
from audits.data.adapters import GivenTable, column_of, given_table
from audits.errors import InputError
from audits.models.spec import Predictions


class JoinedTable:
    """The table with the columns that lie outside it, under names that are free."""

    def __init__(self, given: GivenTable) -> None:
        self.given = given
        self._outside: dict[str, pd.Series] = {}

    def take(self, values: Any, argument: str, name: str) -> str | None:
        """Return the column that holds `values`: the one of X that a text names, or a new one."""
        if values is None:
            return None
        if isinstance(values, str):
            return str(one_of(argument, values, self.given.frame.columns, what="a column of X"))
        column = column_of(values, self.given, argument)
        own = column.name if isinstance(column.name, str) and column.name else name
        return self.add(own, column)

    def add(self, name: str, column: pd.Series) -> str:
        """Add a column; where X has one of the name, it must hold the same, or gets another name."""
        frame = self.given.frame
        if name in frame.columns and column.reset_index(drop=True).equals(frame[name].reset_index(drop=True)):
            return name
        while name in frame.columns or name in self._outside:
            name += "_"
        self._outside[name] = column.rename(name)
        return name

    def need(self, name: str | None, argument: str) -> str:
        """Return `name`; raise `InputError` where there is none."""
        if name is None:
            raise InputError(argument, "is missing", advice="the true outcome of everyone in X")
        return name

    def frame(self) -> pd.DataFrame:
        """Return the table with those columns."""
        return pd.concat([self.given.frame, *self._outside.values()], axis=1)


def weights_of(table: JoinedTable, weights: Any) -> Any:
    """Return the spec's ``weights``: a column of counts, or a mapping that names columns and a kind."""
    if not isinstance(weights, Mapping):
        return table.take(weights, "weights", "weights")
    known = ("column", "kind", "strata", "cluster")
    for key in weights:
        one_of("weights", key, known, what="column, kind, strata or cluster")
    columns = {
        key: table.take(each, f"weights.{key}", "weights" if key == "column" else key)
        for key, each in weights.items()
        if key != "kind" and each is not None
    }
    return {**columns, **({"kind": weights["kind"]} if "kind" in weights else {})}


def protected_of(table: JoinedTable, protected: Any) -> list[str]:
    """Return the columns of the protected attributes, those that lie outside the table added to it."""
    if protected is None or (isinstance(protected, (str, list, tuple, Mapping)) and not protected):
        columns = choices(table.given.frame.columns)
        raise InputError(
            "protected", f"is missing: it names the groups to compare; X holds {columns}",
            advice="write protected='COLUMN', or protected={'sex': values} for values outside X",
        )  # fmt: skip
    if isinstance(protected, str):
        protected = [protected]
    listed = isinstance(protected, (list, tuple))
    if listed and all(isinstance(each, str) for each in protected):
        absent = [each for each in protected if each not in table.given.frame.columns]
        if not absent:
            return list(dict.fromkeys(protected))
        if not len(protected) == len(table.given.frame) > 1:  # else they are the values themselves
            _need_column("protected", absent[0], table)
    if isinstance(protected, (Mapping, pd.DataFrame)):
        named: list[tuple[Any, Any]] = list(protected.items())
    elif listed and all(isinstance(each, pd.Series) for each in protected):
        named = [(each.name or f"group{place}", each) for place, each in enumerate(protected)]
    elif hasattr(protected, "columns"):
        frame = given_table(protected, "protected").frame
        named = [(name, frame[name].to_numpy()) for name in frame.columns]
    else:
        values = list(protected) if listed else protected
        named = [(getattr(protected, "name", None) or "group", values)]
    return [_outside(table, str(name), values) for name, values in named]


def _need_column(argument: str, name: str, table: JoinedTable) -> None:
    """Raise `InputError` for an attribute that is no column: the nearest one, or how to give its values."""
    known = list(table.given.frame.columns)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        values = f"of values outside X, give them: protected={{{name!r}: values}}"
        advice = f"did you mean {near[0]!r}" if near else f"X holds {choices(known)}; {values}"
        raise InputError(argument, "must be a column of X", name, advice)


def _outside(table: JoinedTable, name: str, values: Any) -> str:
    if isinstance(values, str):
        _need_column(f"protected[{name!r}]", values, table)
        return values
    return table.add(name, column_of(values, table.given, f"protected[{name!r}]"))


def stored_predictions(
    table: JoinedTable, predictions: Any, scores: Any, higher_is: Any, made: Any
) -> Predictions:
    """Add what the model said to the table, and say which column holds it."""
    if scores is not None:
        return Predictions(score=table.take(scores, "scores", "score"), higher_is=higher_is, made=made)
    column = str(table.take(predictions, "predictions", "prediction"))
    values = table.frame()[column].dropna().unique()
    if values.dtype.kind == "f" and len(values) > 2 and not (values == values.round()).all():
        raise InputError(
            "predictions", "must be predicted labels, but they look like scores",
            float(values[0]), "give them as scores=…",
        )  # fmt: skip
    return Predictions(label=column, made=made)


def plain_values(value: Any) -> Any:
    """Return favorable values as a spec has them: NumPy's own kinds of numbers as Python's."""
    if isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ in {"ndarray", "Series"}:
        return [plain_values(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def is_matrix(table: Any) -> bool:
    """Whether a table has no names of columns."""
    kind = type(table)  # of a lazy frame itself the names are worked out, with a warning
    return not hasattr(kind, "columns") and not hasattr(kind, "column_names")
