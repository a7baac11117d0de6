"""``explain``: what a key of the spec means, read from where the key is defined."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Mapping
from typing import Any, get_origin, get_type_hints

from audits.checks import one_of
from audits.cli.text import wrap
from audits.data import DataSpec, Keep, LabelCut, ReadOptions, Recode
from audits.data.spec import Weights
from audits.models.spec import Endpoint, ModelSpec, Predictions
from audits.options import options_of
from audits.runs.gates.gate import Gate
from audits.runs.gates.rules import BaselineRule, Rule, Waiver
from audits.runs.registry import AUDITS
from audits.runs.spec import Comparing, SpecKeys

_SECTIONS: dict[str, type] = {
    "data": DataSpec,
    "data.read": ReadOptions,
    "data.keep": Keep,
    "data.recode": Recode,
    "data.label": LabelCut,
    "data.weights": Weights,
    "model": ModelSpec,
    "model.predictions": Predictions,
    "model.endpoint": Endpoint,
    "compare": Comparing,
    "gate": Gate,
    "gate.rules": Rule,
    "gate.baseline": BaselineRule,
    "gate.waivers": Waiver,
}


_VALUES = {"switch": "true or false.", "integer": "A whole number.", "number": "A number."}


def explain(key: str) -> str:
    """Return what a key means: a section, an audit, or ``section.key``.

    Raises
    ------
    InputError
        If there is no such key: suggests the nearest.
    """
    name = key.strip().strip(".").removeprefix("audits.")
    known = _known()
    found = [each for each in known if each.split(".")[-1] == name] if name not in known else [name]
    if not found:
        one_of("KEY", name, known, what="a key of the spec")
    return "\n\n".join(known[each] for each in found)


def _known() -> dict[str, str]:
    """Return what is said of every key, by its full name."""
    found = {}
    for name, said in _attribute_docs(SpecKeys).items():
        found[name] = _entry(name, said, _keys(_SECTIONS.get(name)))
    for name, kind in _SECTIONS.items():
        for key, said in _fields(kind).items():
            full = f"{name}.{key}"
            found[full] = _entry(full, said, _keys(_SECTIONS.get(full)))
    for name, audit in AUDITS.items():
        about = f"{audit.question} {audit.limits}"
        found[name] = _entry(name, about, _keys(audit.options))
        for key, said in _fields(audit.options).items():
            found[f"{name}.{key}"] = _entry(f"{name}.{key}", said, "")
    return found


def _entry(name: str, said: str, keys: str) -> str:
    parts = [
        name,
        *(wrap(part, "  ") for part in said.split("\n")),
        *([wrap(keys, "  ")] if keys else []),
    ]
    return "\n".join(parts)


def _keys(kind: type | None) -> str:
    return "" if kind is None else f"Its keys: {', '.join(_names(kind).values())}."


def _names(kind: type) -> dict[str, str]:
    """Return the keys of a spec by field name: an alias where it has one."""
    found = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        if name.startswith("_") or (get_origin(hint) is not None and "ClassVar" in str(hint)):
            continue
        aliases = [getattr(each, "alias", None) for each in getattr(hint, "__metadata__", ())]
        found[name] = next((alias for alias in aliases if alias), name)
    return found


def _fields(kind: type) -> dict[str, str]:
    """Return what is said of each field: its meaning, values and default."""
    told, names = _attribute_docs(kind), _names(kind)
    about = " ".join((inspect.getdoc(kind) or "").split("\n\n")[0].split())
    found = {}
    for each in options_of(kind):
        if each.name in names:
            some = "Some" if each.kind == "several" else "One"
            values = f"{some} of {', '.join(map(str, each.choices))}." if each.choices else None
            values = values or _VALUES.get(each.kind)
            said = None if dataclasses.is_dataclass(each.default) else _plain(each.default)
            default = "Must be given." if each.required else said and f"Left out: {said}."
            more = " ".join(filter(None, [values, default]))
            help_ = told.get(each.name) or each.help or about
            found[names[each.name]] = "\n".join(filter(None, [help_, more]))
    return found


def _attribute_docs(kind: type) -> dict[str, str]:
    """Return the text of each name in the docstring's section of attributes."""
    text = inspect.getdoc(kind) or ""
    section = re.search(r"Attributes\n-+\n(.*?)(?:\n\n[A-Z]\w+\n-+\n|\Z)", text, flags=re.DOTALL)
    found: dict[str, str] = {}
    if section is None:
        return found
    for head, body in re.findall(
        r"^(\w[^\n:]*?)(?: :[^\n]*)?$\n?((?:(?:    [^\n]*)?\n?)*)", section[1], flags=re.MULTILINE
    ):
        said = " ".join(textwrap.dedent(body).split()).replace("`", "")
        for name in head.split(","):
            found[name.strip()] = said
    return found


def _plain(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (tuple, list, Mapping)) and not value:
        return "none"
    return str(value)
