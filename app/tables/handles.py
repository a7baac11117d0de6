"""Tables as pages see them: numbers at hand, and slices fetched when they are shown.

The table itself lies in a process of its own (see `app.tables.client`); what is here has the names that
`audits.data.AuditData` and `audits.data.Table` have, so that a page reads alike.
"""

from __future__ import annotations

import copy
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.tables.protocol import pack, unpack
from app.tables.summary import Summary
from audits.checks import adapter
from audits.data import ReadReport

Ask = Callable[..., dict[str, Any]]


class TableHandle:
    """A table as read: how it was read, its shape, and its first rows.

    Attributes
    ----------
    report : ReadReport
        How it was read.
    shape : tuple of int
        Rows and columns.
    first : DataFrame
        The first 50 rows.
    """

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.report = adapter(ReadReport).validate_python(told["report"])
        self.shape = (int(told["shape"][0]), int(told["shape"][1]))
        self.first: pd.DataFrame = unpack(told["first"])


class FrameHandle:
    """A frame of prepared data: its columns' names, and by `loc` rows by their numbers, of some columns."""

    def __init__(self, part: str, columns: Iterable[str], ask: Callable[..., Any]) -> None:
        self.columns = pd.Index(list(columns))
        self._part, self._ask = part, ask

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    @property
    def loc(self) -> FrameHandle:
        """Itself, which is asked as a frame's `loc` is: with lists of rows and of columns."""
        return self

    def __getitem__(self, wanted: Any) -> pd.DataFrame:
        rows, columns = wanted if isinstance(wanted, tuple) else (wanted, None)
        names = None if columns is None else list(columns)
        return self._ask("rows", part=self._part, rows=pd.Index(rows), columns=names)


class DataHandle:
    """Prepared data as pages use them; attributes as of `audits.data.AuditData`.

    Attributes
    ----------
    labeled : bool
        Whether each row has a label.
    numeric : bool
        Whether the outcome is a number that is taken as it is.
    types : mapping of str to str
        Of the columns, the letters of NumPy: "f" of numbers with a fraction.
    question : mapping
        What another process is told that is to prepare the same data.
    """

    def __init__(self, known: Summary, ask: Ask) -> None:
        self._asks, self._told = ask, OrderedDict[str, Any]()
        self.question: Mapping[str, Any] = getattr(ask, "question", {})
        self.kinds, self.features, self.protected = known.kinds, known.features, tuple(known.groups)
        self.label, self.roles, self.digest = known.label, known.roles, known.digest
        self.numeric, self.labeled, self.types = known.numeric, known.labeled, known.types
        self.frame = FrameHandle("frame", known.types, self._ask)
        self.groups = FrameHandle("groups", self.protected, self._ask)

    def _ask(self, what: str, **told: Any) -> Any:
        """Ask about the data; what has a short answer only the first time, as a page asks at each view."""
        packed = {name: pack(each) for name, each in told.items()}
        if what not in _SHORT or any(isinstance(each, (np.ndarray, pd.Index)) for each in told.values()):
            return unpack(self._asks(what, told=packed)["found"])
        key = json.dumps([what, packed], sort_keys=True)
        if key not in self._told:
            self._told[key] = unpack(self._asks(what, told=packed)["found"])
            while len(self._told) > _REMEMBERED_ANSWERS:
                self._told.popitem(last=False)
        return copy.deepcopy(self._told[key])

    def without_feature(self, column: object) -> DataHandle:
        """Return the same data without a column of predictions among the features."""
        found = copy.copy(self)
        found.features = tuple(name for name in self.features if name != column)
        return found

    def distinct(self, column: str, most: int) -> tuple[str, ...]:
        """Return a column's different values as text, in order; none where there are more than `most`."""
        return tuple(self._ask("distinct", column=column, most=most))

    def members(self, where: Mapping[str, object], *, argument: str = "group") -> np.ndarray:
        """Return who belongs to a group, as `AuditData.members` does."""
        return self._ask("members", where=dict(where), argument=argument)

    def selected(self, terms: Sequence[Mapping[str, Any]], among: pd.Index | None) -> tuple[pd.Index, float]:
        """Return the rows of those `among` some who meet all terms, and how many people they stand for.

        The terms are as of `audits.data.selection.selected_rows`; None: among everyone.
        """
        found = self._ask("selected", terms=list(terms), among=among)
        return found.index, float(found["people"].sum())

    def group_of(self, terms: Sequence[Mapping[str, Any]], rows: pd.Index | None) -> dict[str, Any]:
        """Return the recode that makes a group of people, as `audits.data.selection.group_of` does."""
        return dict(self._asks("group of", terms=list(terms), rows=pack(rows))["recode"])

    def asked(self, audit: str, what: str, **told: Any) -> Any:
        """Return what an audit's record `asks` about the data; remembered unless arrays are told."""
        return self._ask("of audit", audit=audit, asked=what, **told)

    def usual_audits(self, model: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return every audit that needs no choice on these data and with this model, with its options."""
        predictions = model.get("predictions") or {}
        column = predictions.get("label") or predictions.get("score")
        return dict(self._ask("usual audits", trained=model.get("train"), predictions=column))


_REMEMBERED_ANSWERS = 50
_SHORT = frozenset({"distinct", "of audit", "usual audits"})
