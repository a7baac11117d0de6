"""People selected by what is shown of them: who they are, and the group of a spec that they can become.

A selection is plain data: a list of terms, each a row filter as of ``data.keep`` (``{"column": "age",
"at_least": 25}``) or a group (``{"group": {"sex": "female"}}``). A person meets all of them. Filters are on
the prepared data, whose values are named and filled in as they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from audits.checks import build
from audits.data.audit_data import AuditData
from audits.data.io.tables import Table
from audits.data.preprocessing.filters import apply_recodes, kept_rows, numbers_in_ranges
from audits.data.preprocessing.groups import bin_names
from audits.data.spec import DataSpec, Keep, check_rules
from audits.data.values import MISSING, as_text, date_of_year, match_level, text_of
from audits.errors import InputError

Terms = Sequence[Mapping[str, Any]]


def rule_of(term: Mapping[str, Any]) -> Keep:
    """Return the row filter that a term is.

    Raises
    ------
    InputError
        If it is none.
    """
    rule: Keep = build(Keep, dict(term), "selection")
    check_rules([rule], "selection")
    return rule


def selected_rows(data: AuditData, terms: Terms) -> pd.Index:
    """Return the rows of the people who meet all terms.

    Raises
    ------
    InputError
        If a term is wrong, or names a column or a value that the data lack.
    """
    inside = np.ones(data.n, dtype=bool)
    for term in terms:
        if "group" in term:
            inside &= data.members(term["group"], argument="selection")
        else:
            inside &= kept_rows(data.frame, [rule_of(_fitting(term, data))], where="selection")[0]
    return data.frame.index[inside]


def group_of(
    table: Table, spec: DataSpec, data: AuditData, terms: Terms, rows: pd.Index | None
) -> dict[str, Any]:
    """Return the recode of a spec that makes a group of the people selected.

    Its conditions are on the table as the file has it. Where these do not choose the very same people (values
    that were filled in), and where `rows` does, their row numbers say who they are.

    Parameters
    ----------
    table : Table
        Of which `data` was made by `spec`.
    rows : Index, optional
        Who else must be met: only these rows.

    Raises
    ------
    InputError
        As `selected_rows`; or if nobody is in the group, or everyone.
    """
    chosen = selected_rows(data, terms)
    wanted = chosen if rows is None else chosen.intersection(rows)
    if not 0 < len(wanted) < data.n:
        raise InputError(
            "the group",
            "must have people in it and people beside it",
            f"{len(wanted):,} of {data.n:,}",
            "select others",
        )
    where = [rule for term in terms for rule in _in_the_file(term, spec, data)]
    frame, _ = apply_recodes(table.frame, spec.recode)
    try:
        rules = [rule_of(each) for each in where]
        found = frame.index[kept_rows(frame, rules, where="selection")[0]].intersection(data.frame.index)
    except InputError:  # the file has another type: a number as text, say
        found = pd.Index([])
    same = bool(where) and found.equals(chosen)
    made: dict[str, Any] = {"where": where} if same else {}
    if rows is not None or not same:
        made["rows"] = numbers_in_ranges(wanted.tolist())
    return made


def _fitting(term: Mapping[str, Any], data: AuditData) -> dict[str, Any]:
    """Return a term with bounds and values of its column's own type."""
    column = term.get("column")
    if column not in data.frame:
        return dict(term)  # told by whoever applies it
    own, made = data.frame[column], dict(term)
    if pd.api.types.is_datetime64_any_dtype(own.dtype):
        made = {key: _date(value) if key in _BOUNDS else value for key, value in made.items()}
    for key in ("in", "not_in"):
        if key in made:
            levels = as_text(own).dropna().unique().tolist()
            made[key] = [_level(value, levels) for value in made[key]]
    return made


_BOUNDS = {"at_least", "at_most", "above", "below"}


def _date(year: Any) -> Any:
    """Return a year with a fraction, as figures draw dates, as a date."""
    if isinstance(year, str):
        return year
    return str(date_of_year(year).isoformat())


def _level(value: Any, levels: Sequence[str]) -> Any:
    """Return a value as the data write it: a figure may write 2.0 for a category 2."""
    if match_level(value, levels) is None and isinstance(value, str):
        try:
            return text_of(float(value))
        except ValueError:
            return value
    return value


def _in_the_file(term: Mapping[str, Any], spec: DataSpec, data: AuditData) -> list[dict[str, Any]]:
    """Return the filters on the file's own values that a term on prepared data amounts to."""
    if "group" in term:
        return [rule for name, value in term["group"].items() for rule in _of_group(name, value, spec, data)]
    fitting = _fitting(term, data)
    for key in ("in", "not_in"):
        if key in fitting:
            fitting[key] = [_code(term["column"], value, spec) for value in fitting[key]]
    return [fitting]


def _of_group(name: str, value: Any, spec: DataSpec, data: AuditData) -> list[dict[str, Any]]:
    if value == MISSING:
        return [{"column": name, "missing": True}]
    edges = data.bins.get(name)
    if edges is None:
        return [{"column": name, "in": [_code(name, value, spec)]}]
    place = bin_names(edges).index(value)
    low = [{"column": name, "at_least": edges[place - 1]}] if place else []
    if place == len(edges):
        return [{"column": name, "above": edges[-1]}]
    upper = "at_most" if place == len(edges) - 1 else "below"
    return [*low, {"column": name, upper: edges[place]}]


def _code(column: str, value: Any, spec: DataSpec) -> Any:
    """Return what stands in the file for a value that was given a name."""
    means = spec.labels.get(column, {})
    return next((code for code, said in means.items() if said == value), value)
