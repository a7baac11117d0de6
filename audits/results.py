"""Results to JSON and Arrow and back without loss, for any frozen result dataclass.

A result is a frozen dataclass whose fields are plain data, nested frozen dataclasses, or
`pandas.DataFrame` tables with one row a person. The plain part becomes JSON; each table lies beside
it as an Arrow file, keyed by the user's row number, and is mapped when the result is loaded.
"""

from __future__ import annotations

import dataclasses
import html
import importlib
import importlib.util
import inspect
import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from pydantic import ConfigDict, TypeAdapter

from audits.arrow_io import read_mapped, write_mapped
from audits.checks import adapter
from audits.errors import RunFailed

R = TypeVar("R")
_HEAD = 12  # rows shown in a notebook
_INSUFFICIENT = "insufficient evidence"
_NO_INTERVAL = {"value": None, "low": None, "high": None, "n": 0.0, "method": "not kept"}
_TOLD = ("decided_by", "material", "interval", "p_value", "people_needed", "reason")
_BEFORE = "an earlier version stated this verdict without its interval"


@dataclasses.dataclass(frozen=True)
class Optimum:
    """Mean cost of a matching, and the proof of its optimality.

    The cost can lie at most `slack` above the least possible; None for a map or a blurred coupling, which
    have no such proof.
    """

    cost: float
    slack: float | None
    method: str


# pydantic would write NaN and infinity as null, as if the number did not exist
_ANYTHING: TypeAdapter[Any] = TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants"))


def tables(result: Any) -> dict[str, pd.DataFrame]:
    """Return the tables of a result by field name."""
    values = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    return {name: value for name, value in values.items() if isinstance(value, pd.DataFrame)}


def plain(result: Any) -> dict[str, Any]:
    """Return everything but the tables as JSON-ready data; every float survives exactly.

    Raises
    ------
    RunFailed
        If a number is not finite: names the field. A number that does not exist must be None.
    """
    hidden = tables(result)
    fields = {
        field.name: getattr(result, field.name)
        for field in dataclasses.fields(result)
        if field.name not in hidden
    }
    values = {name: _ANYTHING.dump_python(value, mode="json") for name, value in fields.items()}
    check_finite(type(result).__name__, values)
    return values


def check_finite(what: str, values: Any) -> None:
    """Raise `RunFailed` where `what` states a number that is not finite."""
    for path, number in numbers(values):
        if not math.isfinite(number):
            raise RunFailed(f"{what} states {number} at {path}; a number that does not exist must be null.")


def numbers(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield every float in plain data with where it stands (``table[0].score.low``)."""
    if isinstance(value, float):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, f"{path}.{key}".lstrip("."))
    elif isinstance(value, (list, tuple)):
        for place, item in enumerate(value):
            yield from numbers(item, f"{path}[{place}]")


def save_result(result: Any, folder: Path, name: str) -> None:
    """Write ``NAME.json`` and ``NAME.TABLE.arrow`` into `folder`."""
    text = json.dumps(plain(result), allow_nan=False, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    for field, table in tables(result).items():
        write_mapped(table, folder / f"{name}.{field}.arrow")


def load_result(kind: type[R], folder: Path, name: str) -> R:
    """Read what `save_result` wrote back into the dataclass `kind`."""
    values = _as_now(json.loads((folder / f"{name}.json").read_text(encoding="utf-8")))
    if "judged" not in values and "judged" in {field.name for field in dataclasses.fields(kind)}:  # type: ignore[arg-type]
        values["judged"] = {
            "verdict": values.pop("verdict", _INSUFFICIENT),
            "interval": _NO_INTERVAL,
            "people_needed": values.get("people_needed"),
            "reason": _BEFORE,
        }
    for path in folder.glob(f"{name}.*.parquet"):  # as earlier versions kept tables
        values[path.suffixes[-2][1:]] = pd.read_parquet(path)
    for path in folder.glob(f"{name}.*.arrow"):
        values[path.suffixes[-2][1:]] = read_mapped(path)
    config = {"arbitrary_types_allowed": True}
    if not hasattr(kind, "__pydantic_config__"):
        kind.__pydantic_config__ = config  # type: ignore[attr-defined]
    return adapter(kind).validate_python(values)


def head(result: Any) -> dict[str, Any]:
    """Return the part of results.json that every audit's entry begins with, from its `judged`.

    ``interval`` is the one that the verdict follows from, ``decided_by`` what it is of; ``material`` says
    whether it lies outside the limit (true), inside it (false) or neither (null); ``p_value`` is the audit's,
    corrected within it; ``badge`` is what pages and reports show, ``badge_text`` in their words.
    """
    judged = _ANYTHING.dump_python(result.judged, mode="json")
    return {
        "verdict": judged["verdict"],
        "badge": result.judged.badge,
        "badge_text": result.judged.badge_text,
        **{name: judged[name] for name in _TOLD},
        "finding": result.finding,
        "warnings": list(result.warnings),
    }


def frame_of(rows: Iterable[Any], columns: Mapping[Any, str | Callable[[Any], Any]]) -> pd.DataFrame:
    """Return rows of a result as a table.

    Parameters
    ----------
    columns : dict
        Name of a column to the field that it shows: ``"n"``, or further in ``"rate.value"``; or to a function
        of the row. Three names to an estimate are its value and its ends. What is of None is None.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from audits.stats import Estimate
    >>> row = SimpleNamespace(group="a", rate=Estimate(0.2, 0.1, 0.3, 9, "Wilson 95%"))
    >>> frame_of([row], {"group": "group", ("rate", "low", "high"): "rate", "people": "rate.n"})
      group  rate  low  high  people
    0     a   0.2  0.1   0.3       9
    """
    names = [each for name in columns for each in ((name,) if isinstance(name, str) else name)]
    return pd.DataFrame([list(_cells(row, columns)) for row in rows], columns=names)


def _cells(row: Any, columns: Mapping[Any, str | Callable[[Any], Any]]) -> Iterator[Any]:
    for name, what in columns.items():
        found = _within(row, what) if isinstance(what, str) else what(row)
        if isinstance(name, str):
            yield found
        else:
            yield from (_within(found, end) for end in ("value", "low", "high"))


def _within(row: Any, path: str) -> Any:
    for field in path.split("."):
        row = None if row is None else getattr(row, field)
    return row


def _as_now(value: Any) -> Any:
    """Return plain data of an earlier version with its verdicts in the words of this one."""
    if isinstance(value, dict):
        return {key: _as_now(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_now(item) for item in value]
    return verdict_as_now(value)


def verdict_as_now(value: Any) -> Any:
    """Return a verdict of an earlier version in the words of this one; anything else as it is.

    ``no evidence at this size`` rested on prospective power and not on an interval: there is no saying that
    the interval lay within what is immaterial.
    """
    return _INSUFFICIENT if value == "no evidence at this size" else value


class NotebookDisplay:
    """What notebooks show of a result that has `judged`, ``finding``, ``warnings`` and ``to_frame()``."""

    judged: Any
    finding: Any
    warnings: Any

    def __init_subclass__(cls) -> None:
        cls.__repr__ = NotebookDisplay.__repr__  # type: ignore[method-assign]  # a dataclass would list every number

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.judged.badge_text}. {self.finding}>"

    def explain(self) -> None:
        """Print the finding, and the method and source that the audit's package states."""
        package = sys.modules[type(self).__module__.rpartition(".")[0] or type(self).__module__]
        method = inspect.cleandoc(package.__doc__ or "").replace("``", "`")
        print(f"{self.judged.badge_text}. {self.finding}\n\n{method}")

    def _ipython_display_(self) -> None:
        """Show it as the record of its audit does, which lies in its package, if it has one."""
        package = type(self).__module__.rpartition(".")[0]
        if importlib.util.find_spec(f"{package}.record") is not None:
            importlib.import_module(f"{package}.record").AUDIT.show(self)
            return
        from IPython.display import HTML, display

        display(HTML(self._repr_html_()))  # type: ignore[no-untyped-call]
        if hasattr(self, "figure"):
            media = importlib.import_module("audits.drawing.svg").media
            display(media(self.figure()), raw=True)  # type: ignore[no-untyped-call]

    def _repr_html_(self) -> str:
        notes = "".join(f"<p><small>{html.escape(warning)}</small></p>" for warning in self.warnings)
        table = self.to_frame()  # type: ignore[attr-defined]
        more = f"<p><small>{len(table) - _HEAD:,} more rows</small></p>" if len(table) > _HEAD else ""
        by_row = table.index.name is not None
        cells = _narrow(table.head(_HEAD)).to_html(index=by_row, border=0, float_format=_cell, na_rep="–")
        finding = html.escape(self.finding)
        return (
            f"<div><p><b>{html.escape(self.judged.badge_text)}.</b> {finding}</p>{notes}{cells}{more}</div>"
        )


def _narrow(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table with the ends of intervals beside their values, and the verdict before these."""
    ends = {name: (f"{name} low", f"{name} high") for name in table if f"{name} low" in table}
    shown = table.drop(columns=[end for both in ends.values() for end in both if end in table])
    for name, (low, high) in ends.items():
        shown[name] = [
            _cell(value) if pd.isna(bottom) else f"{_cell(value)} ({_cell(bottom)} to {_cell(top)})"
            for value, bottom, top in zip(table[name], table[low], table[high], strict=True)
        ]
    if ends and "verdict" in shown:
        shown.insert(list(shown).index(next(iter(ends))), "verdict", shown.pop("verdict"))
    return shown


def _cell(value: float) -> str:
    if pd.isna(value):
        return "–"

    return f"{value:,.0f}" if abs(value) >= 1 and float(value).is_integer() else f"{value:.3g}"
