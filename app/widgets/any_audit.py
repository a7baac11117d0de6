"""The page of an audit that another package brings: all of it made from the audit's record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import streamlit as st
import yaml

from app import state
from app.tables.handles import DataHandle
from app.tables.summary import Summary
from app.widgets.audit_page import ChosenOptions, audit_page
from app.widgets.choices.stated import NOTHING, number_control
from app.widgets.results.result_page import result_page
from audits.errors import InputError
from audits.options import Option, options_of
from audits.records import Audit
from audits.runs.registry import AUDITS
from audits.text import begun

_ATTRIBUTES = {
    "attribute",
    "by",
    "protected",
    "sensitive",
}  # what audits call the protected attributes they go by


def any_audit_page(name: str, check: Callable[[Mapping[str, Any]], None] | None = None) -> None:
    """Draw the page of the audit `name`; `check` raises `InputError` for a draft that it cannot audit."""
    record = AUDITS[name]

    def choose(draft: Mapping[str, Any], data: DataHandle, _summary: Summary) -> ChosenOptions | None:
        if check is not None:
            check(draft)
        return _choose(record, tuple(data.protected))

    needed = [_label(record, each) for each in options_of(record.options) if each.required]
    audit_page(
        name,
        needs=f"Choose first: {', '.join(needed)}.",
        choose=choose,
        show=lambda found, _, draft: result_page(found, draft),
    )


def _choose(record: Audit, protected: tuple[str, ...]) -> ChosenOptions | None:
    """Draw a control for every option; None while one that is needed has nothing chosen."""
    stated = options_of(record.options)
    chosen = _chosen(record, stated, protected)
    if any(each.required and each.name not in chosen for each in stated):
        return None
    told = ", ".join(f"{name} {_brief(value)}" for name, value in chosen.items())
    return ChosenOptions(chosen, f"{record.title}: {told}" if told else record.title)


def options_fold(name: str) -> Any:
    """Draw the fold that `other_options` of the audit `name` fill once it is open."""
    return st.expander("More options", key=f"options-{name}", on_change="rerun")


def other_options(name: str, drawn: Collection[str], fold: Any) -> dict[str, Any]:
    """Draw a control in `fold` for every option of the audit `name` but `drawn`; return what is no default.

    While it is closed and the address sets none of them they are not drawn: they were a quarter of a page's
    work.
    """
    record = AUDITS[name]
    left = [each for each in options_of(record.options) if each.name not in drawn]
    if not fold.open and all(state.address_value(_key(record, each)) is None for each in left):
        return {}
    with fold:
        return _chosen(record, left, ())


def _chosen(record: Audit, options: Sequence[Option], protected: tuple[str, ...]) -> dict[str, Any]:
    """Draw a control for each of some options; return what is chosen and no default."""
    chosen = {}
    for each in options:
        value = _control(record, each, protected)
        if value not in (None, "", []) and (each.required or value != _plain(each.default)):
            chosen[each.name] = value
    return chosen


def _key(record: Audit, option: Option) -> str:
    """Name a control: what is chosen for one audit is not chosen for the others' options of that name."""
    return f"with-{record.name}-{option.name}"


def _control(record: Audit, option: Option, protected: tuple[str, ...]) -> Any:
    """Draw the control of one option; return what is chosen as a spec writes it, None where nothing is."""
    label = _label(record, option)
    told = " ".join(filter(None, [option.help, option.bounds and f"{begun(option.bounds)}."]))
    kept = {"help": told or None, **state.choice(_key(record, option))}
    if option.name in _ATTRIBUTES and option.kind in {"text", "other"}:
        return _attributes(option, label, protected, kept)
    if option.kind in {"number", "integer"}:
        return number_control(option, label, **kept)
    if option.kind == "switch" and not option.optional:
        return st.toggle(label, value=bool(option.default), **kept)
    if option.kind in {"switch", "choice"}:
        values = [*((None,) if option.optional else ()), *(option.choices or (False, True))]
        first = values.index(option.default) if option.default in values else 0
        words = {NOTHING if value is None else str(value): value for value in values}
        return words[st.selectbox(label, list(words), index=first, **kept)]
    if option.kind == "several":
        return st.multiselect(label, option.choices, default=option.default, **kept)
    if option.kind == "text":
        return st.text_input(label, value=option.default or "", **kept)
    return _yaml_control(option, label, kept)


def _attributes(option: Option, label: str, protected: tuple[str, ...], kept: dict[str, Any]) -> Any:
    if option.kind == "text":
        return st.selectbox(label, list(protected), **kept) if protected else None
    default = [name for name in option.default or protected if name in protected]
    chosen = st.multiselect(label, list(protected), default=default, **kept)
    # what an audit takes unless told otherwise is no choice: the run is the one that At a glance asks for
    return None if chosen == default and not option.required else chosen


def _yaml_control(option: Option, label: str, kept: dict[str, Any]) -> Any:
    """Draw what no control can ask for, as text in YAML."""
    plain = _plain(option.default)
    first = "" if plain is None else yaml.safe_dump(plain, default_flow_style=True, width=10_000).strip()
    text = st.text_area(f"{label} (YAML)", value=first.removesuffix("\n..."), height=80, **kept)
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        place = getattr(error, "problem_mark", None)
        where = f" (line {place.line + 1})" if place is not None else ""
        raise InputError(
            option.name, f"must be YAML{where}", text, "such as {sex: female} or [1, 2]"
        ) from None


def _label(record: Audit, option: Option) -> str:
    return f"{begun(record.label(option.name))}{f' ({option.unit})' if option.unit else ''}"


def _plain(value: Any) -> Any:
    """Return a default as a spec writes it."""
    if isinstance(value, (tuple, list, set, frozenset)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return value


def _brief(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
