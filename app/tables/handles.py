"""Tables as pages see them: numbers at hand, and slices fetched when they are shown.

The table itself lies in a process of its own (see `app.tables.client`); what is here has the names that
`audits.data.AuditData` and `audits.data.Table` have, so that a page reads alike.
"""

from __future__ import annotations

import copy
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from app.tables.protocol import pack_arguments, pack_array, pack_rows, unpack_array, unpack_frame
from audits.data import LabelCut, ReadReport
from audits.data.io.tables import FileReport

__all__ = ["ColumnHandle", "DataHandle", "FrameHandle", "TableHandle"]

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
        report = told["report"]
        files = tuple(
            FileReport(
                **{**each, "skipped": tuple(map(tuple, each["skipped"])), "notes": tuple(each["notes"])}
            )
            for each in report["files"]
        )
        self.report = ReadReport(files, report["missing"], tuple(report["notes"]))
        self.shape = (int(told["shape"][0]), int(told["shape"][1]))
        self.first = unpack_frame(told["first"])


class ColumnHandle:
    """A column: its type, and what is asked about its values."""

    def __init__(self, name: str, dtype: np.dtype, ask: Ask) -> None:
        self.name, self.dtype, self._ask = name, dtype, ask

    def nunique(self) -> int:
        """Return how many different values there are, missing ones aside."""
        return int(self._ask("distinct", column=self.name, most=0)["number"])

    def distinct(self, most: int) -> tuple[str, ...]:
        """Return the different values as text, in order; none where there are more than `most`."""
        return tuple(self._ask("distinct", column=self.name, most=most)["values"])


class _Location:
    def __init__(self, frame: FrameHandle) -> None:
        self._frame = frame

    def __getitem__(self, wanted: Any) -> Any:
        rows, columns = wanted if isinstance(wanted, tuple) else (wanted, None)
        one_row, one_column = _single(rows), isinstance(columns, str)
        names = [columns] if one_column else None if columns is None else list(columns)
        found = self._frame.rows([rows] if one_row else rows, names)
        if one_row:
            return found.iloc[0, 0] if one_column else found.iloc[0]
        return found.iloc[:, 0] if one_column else found


class FrameHandle:
    """The frame of prepared data: its columns' names and types, and rows by their numbers."""

    def __init__(self, columns: Sequence[str], types: Sequence[str], n: int, ask: Ask) -> None:
        self.columns = pd.Index(list(columns))
        self._types = dict(zip(columns, types, strict=True))
        self._n, self._ask = n, ask

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def __iter__(self) -> Iterator[str]:
        return iter(self._types)

    def __len__(self) -> int:
        return self._n

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._n, len(self._types)

    @property
    def loc(self) -> _Location:
        """Rows by their numbers, and columns by their names."""
        return _Location(self)

    def __getitem__(self, name: str) -> ColumnHandle:
        return ColumnHandle(name, np.dtype(_TYPES[self._types[name]]), self._ask)

    def rows(self, rows: Any, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Return rows by their numbers, in the order asked for; of all columns unless some are named."""
        numbers = pack_array(np.asarray(pd.Index(rows), dtype=np.int64))
        return unpack_frame(self._ask("rows", rows=numbers, columns=columns)["frame"])


class DataHandle:
    """Prepared data as pages use them; attributes as of `audits.data.AuditData`.

    Attributes
    ----------
    labeled : bool
        Whether each row has a label.
    numeric : bool
        Whether the outcome is a number that is taken as it is.
    question : mapping
        What another process is told that is to prepare the same data.
    """

    def __init__(self, facts: Mapping[str, Any], ask: Ask) -> None:
        self._ask, self._told = ask, OrderedDict[str, dict[str, Any]]()
        self.question: Mapping[str, Any] = getattr(ask, "question", {})
        self.kinds: dict[str, Any] = dict(facts["kinds"])
        self.features: tuple[str, ...] = tuple(facts["features"])
        self.protected: tuple[str, ...] = tuple(facts["protected"])
        self.label: str | None = facts["label"]
        self.favorable: tuple[object, ...] = tuple(facts["favorable"])
        self.roles: dict[str, Any] = dict(facts["roles"])
        self.missing: str = facts["missing"]
        self.rows_read: int = facts["rows_read"]
        self.excluded: dict[str, int] = dict(facts["excluded"])
        self.imputed: dict[str, int] = dict(facts["imputed"])
        self.sha256: str = facts["sha256"]
        self.digest: str = facts["digest"]
        self.notes: tuple[str, ...] = tuple(facts["notes"])
        self.orders = {name: tuple(levels) for name, levels in facts["orders"].items()}
        self.bins = {name: tuple(edges) for name, edges in facts["bins"].items()}
        self.cut = None if facts["cut"] is None else LabelCut(**facts["cut"])
        self.numeric: bool = facts["numeric"]
        self.n: int = facts["n"]
        self.size: float = facts["size"]
        self.labeled: bool = facts["labeled"]
        self._weighted: bool = facts["weighted"]
        self.frame = FrameHandle(facts["columns"], facts["types"], self.n, self._values)

    def _once(self, what: str, **more: Any) -> dict[str, Any]:
        """Ask what a page asks at each of its views, and what has a short answer, only the first time."""
        key = json.dumps([what, more], sort_keys=True)
        if (told := self._told.get(key)) is None:
            told = self._told[key] = self._ask(what, **more)
            while len(self._told) > _REMEMBERED_ANSWERS:
                self._told.popitem(last=False)
        return told

    def _values(self, what: str, **more: Any) -> dict[str, Any]:
        return (self._once if what == "distinct" else self._ask)(what, **more)

    @property
    def y(self) -> np.ndarray | None:
        """Whether each row's label is favorable, fetched."""
        return unpack_array(self._ask("labels")["y"]) if self.labeled else None

    @property
    def weights(self) -> np.ndarray | None:
        """How many people each row stands for, fetched."""
        return unpack_array(self._ask("weights")["weights"]) if self._weighted else None

    @property
    def groups(self) -> pd.DataFrame:
        """The value of each protected attribute of each row, fetched."""
        return unpack_frame(self._ask("groups")["frame"])

    def members(self, where: Mapping[str, object], *, argument: str = "group") -> np.ndarray:
        """Return who belongs to a group, as `AuditData.members` does."""
        return unpack_array(self._ask("members", where=dict(where), argument=argument)["mask"])

    def selected(self, terms: Sequence[Mapping[str, Any]], among: pd.Index | None) -> tuple[pd.Index, float]:
        """Return the rows of those `among` some who meet all terms, and how many people they stand for.

        The terms are as of `audits.data.selection.selected_rows`; None: among everyone.
        """
        told = self._ask("selected", terms=list(terms), rows=pack_rows(among))
        return pd.Index(unpack_array(told["rows"]), name="row"), float(told["people"])

    def group_of(self, terms: Sequence[Mapping[str, Any]], rows: pd.Index | None) -> dict[str, Any]:
        """Return the recode that makes a group of people, as `audits.data.selection.group_of` does."""
        return dict(self._ask("group of", terms=list(terms), rows=pack_rows(rows))["recode"])

    def asked(self, audit: str, what: str, **told: Any) -> Any:
        """Return what an audit's record `asks` about the data; tables each time, all else is remembered."""
        question = {"audit": audit, "asked": what, "told": pack_arguments(told)}
        if any(isinstance(each, np.ndarray) for each in told.values()):
            answer = self._ask("of audit", **question)
        else:
            answer = self._once("of audit", **question)
        return unpack_frame(answer["frame"]) if "frame" in answer else answer["found"]

    def usual_audits(self, model: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Return every audit that needs no choice on these data and with this model, with its options."""
        predictions = model.get("predictions") or {}
        column = predictions.get("label") or predictions.get("score")
        answer = self._once("usual audits", trained=model.get("train"), predictions=column)
        return copy.deepcopy(dict(answer["audits"]))


_REMEMBERED_ANSWERS = 50
_TYPES = {"i": "int64", "u": "uint64", "f": "float64", "b": "bool", "M": "datetime64[us]", "O": "object"}


def _single(rows: object) -> bool:
    return isinstance(rows, Hashable) and not isinstance(rows, (tuple, slice))
