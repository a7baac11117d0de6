"""A spec's plain `data` section, made into a `DataSpec`."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from audits.checks import build
from audits.data.io.tables import ReadOptions
from audits.data.spec import DataSpec, LabelCut, Weights, check_spec
from audits.errors import InputError
from audits.stats.vocabulary import DataWords

_FIELDS = frozenset(DataSpec.__dataclass_fields__)
_SCALARS = (str, int, float, datetime.date)
_SHAPES: dict[str, tuple[tuple[type, ...], str]] = {
    "path": ((str, list, tuple), "a file, or a list of files with the same columns"),
    "label": ((str, Mapping, LabelCut), "a column, or {column: ..., at_least: ...}"),
    "favorable": ((*_SCALARS, list, tuple), "a label value, or a list of them"),
    "protected": ((list, tuple), "a list of columns"),
    "features": ((list, tuple), "a list of columns"),
    "read": ((Mapping, ReadOptions), "a mapping of reading options"),
    "keep": ((list, tuple), "a list of filters such as {column: age, at_least: 18}"),
    "among": ((list, tuple), "a list of filters such as {column: age, at_least: 18}"),
    "recode": ((Mapping,), "a mapping of column to {from: ..., map: {old: new}} or {where: [...]}"),
    "kinds": ((Mapping,), "a mapping of column to kind"),
    "roles": ((Mapping,), "a mapping of role to a list of columns"),
    "bins": ((Mapping,), "a mapping of column to a list of edges or a number of bins"),
    "weights": ((str, Mapping, Weights), "a column of counts, or {column: ..., kind: sampling}"),
    "person": ((str,), "the column that repeats for one person"),
    "labels": ((Mapping,), "a mapping of column to {value: what it means}"),
    "words": ((Mapping, DataWords), "a mapping such as {people: applicants, yes: approved, no: declined}"),
    "units": ((Mapping,), "a mapping of column to its unit"),
    "mended": ((list, tuple), "a list of sentences"),
}


_YAML_KEYS: dict[Any, str] = {True: "yes", False: "no"}  # what YAML 1.1 makes of a bare yes and no


def data_spec(section: Mapping[str, Any], where: str = "data") -> DataSpec:
    """Build a `DataSpec` from a spec's plain `data` section.

    Nested parts are built first, so that a message names the key inside them.

    Raises
    ------
    InputError
        For the first key or value at fault.

    Examples
    --------
    >>> data_spec({"label": {"column": "gpa", "at_least": 3}, "protected": ["sex"]}).label.name
    'gpa >= 3'
    """
    if not isinstance(section, Mapping):
        return build(DataSpec, section, where)
    # An empty key in YAML is null: the same as left out; a single name may stand for a list of one
    made = {key: value for key, value in section.items() if value is not None or key not in _FIELDS}
    for key in ("protected", "features"):
        if isinstance(made.get(key), str):
            made[key] = [made[key]]
    for key, (shape, rule) in _SHAPES.items():
        if key in made and not isinstance(made[key], shape):
            raise InputError(f"{where}.{key}", f"must be {rule}", made[key])
    if isinstance(made.get("read"), Mapping):
        made["read"] = _read_options(made["read"], f"{where}.read")
    if isinstance(made.get("label"), Mapping):
        made["label"] = build(LabelCut, made["label"], f"{where}.label")
    if isinstance(made.get("weights"), Mapping):
        made["weights"] = build(Weights, made["weights"], f"{where}.weights")
    if isinstance(made.get("words"), Mapping):
        told = {_YAML_KEYS.get(key, key): said for key, said in made["words"].items()}
        made["words"] = build(DataWords, told, f"{where}.words")
    for column, edges in (made.get("bins") or {}).items():
        if isinstance(edges, float):
            line = f"{column}: [LOWEST, {edges:g}, HIGHEST]"
            rule = "must be a list of edges, or a whole number of bins"
            raise InputError(f"{where}.bins.{column}", rule, edges, f"write {line}")
    spec = build(DataSpec, made, where)
    check_spec(spec, where)
    return spec


def _read_options(options: Mapping[str, Any], where: str) -> ReadOptions:
    # YAML reads a bare `missing: "?"` as one text
    lists = {"missing", "names"}
    made = {
        key: [value] if key in lists and isinstance(value, str) else value for key, value in options.items()
    }
    skip = made.get("skip_rows")
    numbers = skip if isinstance(skip, (list, tuple)) else [] if skip is None else [skip]
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in numbers):
        raise InputError(f"{where}.skip_rows", "must be a number of lines, or a list with one per file", skip)
    return build(ReadOptions, made, where)
