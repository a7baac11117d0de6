"""YAML and JSON documents to plain data and back, strict enough that nothing is read but what was written.

YAML's older rules turn ``no`` into false, ``12:30`` into 750, ``0123`` into 83 and ``2020-01-01`` into a
date. Label values and group names look like that, so here only ``true``, ``false``, ``null`` and plain
numbers are more than text (the core schema of YAML 1.2; numbers with a leading zero stay text). Keys that
occur twice are errors, and so are aliases, which let a small file grow without bound.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from audits.checks import keys_once
from audits.errors import InputError

_MAX = 1_000_000
_MAX_RESULTS = 64 * _MAX
_DEEPEST = 50
_TAG = "tag:yaml.org,2002:"
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?\.inf|\.nan")
_RESOLVERS = (
    ("null", re.compile(r"~|null|Null|NULL|"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")),
    ("int", re.compile(r"[-+]?(?:0|[1-9][0-9]*)"), list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the rules above."""

    yaml_implicit_resolvers: dict[Any, Any] = {}  # noqa: RUF012  (the name and form are PyYAML's)

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.composer.ComposerError(
                None, None, "aliases (*) are not allowed: write the value out", self.peek_event().start_mark
            )
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.Node, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            key = str(self.construct_object(key_node, deep=True))
            if key in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} occurs twice", key_node.start_mark
                )
            seen.add(key)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Quotes every text that PyYAML's rules or the ones above would read as something else."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  (PyYAML's signature)
        return True


for _name, _pattern, _first in _RESOLVERS:
    _whole = re.compile(f"^(?:{_pattern.pattern})$")
    _Loader.add_implicit_resolver(_TAG + _name, _whole, _first)
    _Dumper.add_implicit_resolver(_TAG + _name, _whole, _first)


def load_document(path: Path) -> Any:
    """Read a YAML file, or a JSON file by its suffix, into plain data: of a run's results its spec.

    Raises
    ------
    InputError
        If there is no such file, or it is larger than 1 MB (of results 64), not UTF-8, empty or not well
        formed (says the line), or a key occurs twice in one mapping.
    """
    name = str(path)
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(name, "does not exist", advice="check the path") from None
    except OSError as error:
        raise InputError(name, f"cannot be read ({error.strerror})") from None
    is_json = path.suffix.lower() == ".json"
    large = InputError(name, "must be at most 1 MB", advice="is this the spec, or the data?")
    if len(content) > (_MAX_RESULTS if is_json else _MAX):
        raise large
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(name, f"must be UTF-8 text, but byte {error.start:,} is not") from None
    if not text.strip():
        raise InputError(name, "is empty", advice="a spec has the keys data, model and audits")
    try:
        found = _load_json(text, name) if is_json else _load_yaml(text, name)
    except RecursionError:
        raise InputError(name, f"must be nested at most {_DEEPEST} levels deep") from None
    if isinstance(found, dict) and {"evenhand", "spec", "audits"} <= set(found):  # what a run wrote
        return found["spec"]
    if len(content) > _MAX:
        raise large
    return found


def _load_yaml(text: str, name: str) -> Any:
    try:
        return yaml.load(text, _Loader)  # noqa: S506  (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}, line {mark.line + 1}, column {mark.column + 1}" if mark else name
        raise InputError(where, f"is not a valid document: {error.problem}") from None
    except yaml.YAMLError as error:
        raise InputError(name, f"is not a valid document: {' '.join(str(error).split())}") from None
    except ValueError:
        raise InputError(name, "is not a valid document: a number has too many digits") from None


def _load_json(text: str, name: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=keys_once)
    except json.JSONDecodeError as error:
        where = f"{name}, line {error.lineno}, column {error.colno}"
        raise InputError(where, f"is not a valid document: {error.msg}") from None
    except ValueError as error:
        reason = "a number has too many digits" if "4300 digits" in str(error) else error
        raise InputError(name, f"is not a valid document: {reason}") from None


def plain_data(value: Any, where: str, _depth: int = 0) -> Any:
    """Return `value` with text keys, lists for sequences, and finite Python numbers.

    Parameters
    ----------
    value : object
        Nested mappings, sequences, text, numbers, bools, None, paths.
    where : str
        Key path, for messages.

    Raises
    ------
    InputError
        For a number that is not finite, a key that occurs twice as text (1 and "1"), nesting deeper
        than 50 levels, or anything else that a document cannot hold.
    """
    if _depth > _DEEPEST:
        raise InputError(where, f"must be nested at most {_DEEPEST} levels deep")
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InputError(where, r"holds half a character (a lone surrogate, \ud800 to \udfff)") from None
        return value
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(where, "must be a finite number", value)
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        result: dict[str, Any] = {}
        for key, item in value.items():
            if str(key) in result:
                raise InputError(f"{where}.{key}".lstrip("."), "occurs twice")
            result[str(key)] = plain_data(item, f"{where}.{key}".lstrip("."), _depth + 1)
        return result
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return [plain_data(item, f"{where}[{place}]", _depth + 1) for place, item in enumerate(value)]
    raise InputError(where, "must be text, a number, a list or a mapping", value)


def dump_yaml(value: Any) -> str:
    """Write plain data as YAML that `load_document`, and any YAML reader, reads back the same."""
    return yaml.dump(
        value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=100
    )
