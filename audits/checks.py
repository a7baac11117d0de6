"""Validation shared by every package: values in, the same values out or an `InputError`."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import json
import os
import re
import typing
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar
from urllib.parse import urlsplit

import numpy as np
from pydantic import TypeAdapter, ValidationError

from audits.aliases import american, key_line, value_line
from audits.errors import InputError, quoted

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

T = TypeVar("T")

_MAX_KEY = 200  # letters of one that are shown


class Strict:
    """What a dataclass of a spec derives from: a key that it does not have is refused."""

    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


def choices(options: Iterable[object], *, most: int = 12) -> str:
    """Word a list of options: ``'a', 'b' or 'c'``, shortened after `most`."""
    names = [quoted(option) for option in options]
    if len(names) > most:
        return ", ".join(names[:most]) + f" … ({len(names)} in all)"
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def one_of(where: str, value: T, options: Iterable[T], *, what: str = "") -> T:
    """Return `value` if it is one of `options`; the error suggests the nearest one."""
    options = list(options)
    if value in options:
        return value
    near = difflib.get_close_matches(str(value), [str(option) for option in options], n=1)
    advice = f"did you mean {near[0]!r}?"[:-1] if near else f"choose {choices(options)}"
    raise InputError(where, f"must be {what or 'one of its options'}", value, advice)


def check_apart(audit: str, source: np.ndarray, target: np.ndarray, named: Any) -> None:
    """Raise `InputError` where an audit's target, as `named`, has people (n,) of its source."""
    if shared := int((source & target).sum()):
        rule = f"must not share people with the source, but {shared:,} are in both"
        raise InputError(f"{audit}.target", rule, named, "choose another value")


def allowed_address(where: str, address: str, hosts: Iterable[str], variable: str) -> None:
    """Raise `InputError` unless `address` is http(s) on one of `hosts`, a port named as there.

    `variable` is the environment variable that lists the hosts, for the message.
    """
    hosts = list(hosts)
    listed = f"allowed are {', '.join(hosts)} ({variable} lists them)" if hosts else f"{variable} names none"
    rule = "must be an http(s) address on an allowed host"
    with contextlib.suppress(ValueError):
        parts = urlsplit(address)
        place = parts.netloc.lower()
        allowed = {host.lower() for host in hosts}
        if parts.scheme in {"http", "https"} and "@" not in place and place in allowed:
            return
        if parts.hostname in {urlsplit(f"//{host}").hostname for host in allowed}:
            rule = (
                f"must be an http(s) address on an allowed host and port, but {variable} lists another port"
            )
            listed += f"; add {place} to it"
    raise InputError(where, rule, address, listed)


def finite(where: str, values: np.ndarray) -> np.ndarray:
    """Return `values` (any shape, float) if all are finite, else say how many are not."""
    values = np.asarray(values, dtype=float)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            where,
            f"must be finite numbers, but {bad.size:,} of {values.size:,} are not "
            f"(first at position {bad[0]:,})",
            advice="drop or replace the missing and infinite values",
        )
    return values


def number_from(name: str, default: float, *, least: float, most: float) -> float:
    """Return the number that the environment variable `name` holds, or `default`.

    Raises
    ------
    InputError
        If it is no number from `least` to `most`.
    """
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        ends = (f"{end:,.5f}".rstrip("0").rstrip(".") for end in (least, most))
        raise InputError(name, f"must be a number from {' to '.join(ends)}", text)
    return value


def list_from(name: str, default: str = "") -> tuple[str, ...]:
    """Return what the environment variable `name` lists, separated by commas."""
    return tuple(each.strip() for each in os.environ.get(name, default).split(",") if each.strip())


def keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON; of a key given twice nobody knows which value was meant.

    Raises
    ------
    ValueError
        Naming the first such key.
    """
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {twice[:_MAX_KEY]!r} occurs twice")
    return found


def check_seed(seed: object) -> None:
    """Raise `InputError` unless `seed` can seed every generator used here."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise InputError("seed", "must be a whole number from 0 to 4,294,967,295", seed)


def generator(rng: np.random.Generator | int | None) -> np.random.Generator:
    """Return a NumPy generator; an integer seeds a new one, None gives seed 0."""
    if isinstance(rng, np.random.Generator):
        return rng
    return np.random.default_rng(0 if rng is None else rng)


_HALVES = re.compile(rb"\\u[dD][89a-fA-F]")


def whole_text(where: str, source: bytes, read: Any) -> None:
    r"""Raise `InputError` where what was `read` from JSON holds half a character (``\ud800`` alone).

    No file, page or database takes such a text.
    """
    if not _HALVES.search(source):
        return
    try:
        json.dumps(read, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise InputError(where, r"holds half a character (a lone surrogate, \ud800 to \udfff)") from None
    except RecursionError:
        raise InputError(where, "is nested too deeply") from None


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def adapter(kind: type[T]) -> TypeAdapter[T]:
    """Return what checks and writes the dataclass `kind`; making it takes longer than most that it does."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def build(kind: type[T], values: Mapping[str, Any], where: str) -> T:
    """Build the dataclass `kind` from plain `values`, as a spec or a keyword call gives them.

    Parameters
    ----------
    kind : type
        A dataclass whose annotations state types and bounds.
    values : mapping
        Field name to value. Unknown names are an error.
    where : str
        Prefix of the key in messages (``"audits[0].flipset"``).

    Raises
    ------
    InputError
        For the first value that breaks a rule: names the key, the rule and the value.
    """
    if not isinstance(values, Mapping):
        raise InputError(where, "must be a mapping", values)
    try:
        return adapter(kind).validate_python(_in_our_spelling(kind, values))
    except ValidationError as error:
        problems = error.errors()
        first = next((each for each in problems if each["type"] in _UNKNOWN), problems[0])
        raise _explain(first, where, list(_keys(_holder(kind, first["loc"])))) from None


def _in_our_spelling(kind: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return `values` with British keys under the names of the fields that they mean."""
    known = _keys(kind)
    return {
        ours
        if key not in known and (ours := american(str(key))) in known and ours not in values
        else key: each
        for key, each in values.items()
    }


def _holder(kind: type, steps: Iterable[object]) -> type:
    """Return the dataclass, of those in each other, whose key the last of `steps` is."""
    for step in list(steps)[:-1]:
        inside = [typing.get_type_hints(kind).get(_keys(kind).get(str(step), ""))]
        while inside:
            each = inside.pop()
            if isinstance(each, type) and dataclasses.is_dataclass(each):
                kind = each
                break
            inside += typing.get_args(each)
    return kind


def _keys(kind: type) -> dict[str, str]:
    """Return the keys of a dataclass as a spec writes them, with the names of their fields."""
    found = {}
    for name, stated in dict(getattr(kind, "__dataclass_fields__", {})).items():
        extras = re.findall(r"""alias=['"](\w+)['"]""", str(stated.type))
        if not name.startswith("_"):
            found[extras[0] if extras else name] = name
    return found


_ALTERNATIVE = re.compile(
    r"(int|float|str|bool|constrained-\w+|(tuple|list|dict|set|frozenset|literal|union|function-\w+)\[.*\])$"
)
"""How pydantic names the branch of a union that it tried, among the keys."""
_UNKNOWN = {"unexpected_keyword_argument", "extra_forbidden"}
_COMPARED = {
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
    "greater than": "above",
    "less than": "below",
}
_MEANT = {
    "tuple_type": "a list",
    "list_type": "a list",
    "set_type": "a list",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "dataclass_type": "a mapping",
    "dataclass_exact_type": "a mapping",
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
}


def check_options(kind: type[T], options: T | None, where: str) -> T:
    """Return options whose values keep to what `kind` states, however they were made; None is the defaults.

    Raises
    ------
    InputError
        As `build`.
    """
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    return build(kind, {} if options is None else {name: getattr(options, name) for name in names}, where)


def _explain(problem: ErrorDetails, where: str, known: list[str]) -> InputError:
    steps = [step for step in problem["loc"] if not _ALTERNATIVE.match(str(step))]
    kind, last, given = problem["type"], steps[-1] if steps else "", problem["input"]
    path = where
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step != "[key]":
            path += f".{step}" if path else str(step)
    if kind in _UNKNOWN:
        near, ours = difflib.get_close_matches(str(last), known, n=1), key_line(str(last))
        advice = f"did you mean {near[0]!r}" if near else f"known keys are {choices(known, most=20)}"
        return InputError(path, "is not a known key", advice=f"write {ours}" if ours else advice)
    if kind in {"missing", "missing_argument"}:
        return InputError(
            path, "is missing", advice="add it" if isinstance(last, int) else f"add it: {last}: …"
        )
    if kind == "int_type" and isinstance(given, str) and given.strip().isdigit():
        return InputError(path, "must be a whole number", given, _line(last, given.strip()))
    if kind in _MEANT:
        tried = kind.startswith("int_") and problem["loc"][-1:] == ("int",)  # before other kinds of numbers
        meant = "a number" if tried else _MEANT[kind]
        return InputError(path, f"must be {meant}", given, _corrected_line(meant, last, given))
    rule = re.sub(r"^(\w+ should|value error, must)", "must", problem["msg"][0].lower() + problem["msg"][1:])
    for theirs, ours in _COMPARED.items():
        rule = rule.replace(theirs, ours)
    return InputError(path, rule, given, _nearest(problem, given))


def _line(key: object, value: object) -> str:
    """Return what to write under a key, or as an entry of a list, whose `key` is its place."""
    return f"write {value}" if isinstance(key, int) else f"write {key}: {value}"


def _corrected_line(shape: str, key: object, given: object) -> str:
    """Return the line that puts a lone value into a list, or names a mapping's shape."""
    if shape == "a list" and isinstance(given, (str, int, float)):
        return _line(key, f"[{given}]")
    return _line(key, "{NAME: VALUE}") if shape == "a mapping" else ""


def _nearest(problem: ErrorDetails, given: object) -> str:
    """Return the value that was likely meant; empty where none is near."""
    last = problem["loc"][-1] if problem["loc"] else ""
    if problem["type"] == "literal_error":
        options = tuple(re.findall(r"'([^']+)'", problem["msg"]))
        near = difflib.get_close_matches(str(given), options, n=1)
        if last == "[key]":  # misspelled, or a mapping the wrong way round
            return f"did you mean {near[0]!r}" if near else f"write {{{options[-1]}: [{given}]}}"
        ours = value_line(given, options) or (near[0] if near else None)
        return _line(last, ours) if ours else ""
    bounds = problem.get("ctx", {})
    share = bounds.get("lt", bounds.get("le")) == 1
    if share and isinstance(given, (int, float)) and 1 < given <= 100:
        return f"{_line(last, f'{given / 100:g}')}, a share"
    return ""
