"""What if one person's values were others: the model is asked again, in a process of its own."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app import jobs, state
from app.widgets import notices
from app.widgets.run_bar import ended_badly, progress
from app.workspaces.workspace import Workspace
from audits.data.values import MISSING, text_of
from audits.errors import InputError, RunFailed
from audits.runs.digests import digest_of
from audits.runs.executors.job import Run
from audits.runs.result import RunResult
from audits.stats.text import number
from audits.stats.vocabulary import vocabulary
from audits.text import begun, join_names

_PATIENCE_SECONDS, _REMEMBERED, _FIRST = 2.0, 60, 3
_NUMBERS = {"continuous", "integer"}
_MAX = 2**53  # whole numbers beyond it, browsers round


def what_if_section(
    space: Workspace,
    found: RunResult,
    row: Hashable,
    *,
    beside: Mapping[str, Any] | None = None,
    of: str = "",
    towards: Sequence[str] = (),
) -> None:
    """Draw an editor of one person's values, and what the model says with them.

    Parameters
    ----------
    row : hashable
        The user's row number of a person audited.
    beside : mapping, optional
        A group: who of it is most similar to the person, before and after; `of` names such a person.
    towards : sequence of str
        Columns that a person can change, offered first: what of them differs from the most similar person
        who is decided favorably, before and after.
    """
    if not can_ask(found):
        st.text("There is no model to ask about other values: the data hold only decisions.")
        return
    if not st.toggle("Try other values", **state.choice("what-if")):
        return
    asked = {"row": row, "changes": {}, "beside": beside, "towards": list(towards)}
    first = _answer(space, found.spec, asked)
    if first is None:
        return
    columns = {str(each["name"]): each for each in first["columns"]}
    # offered first is what people can change, then what they have, not what they are
    offered = sorted(columns, key=lambda name: (name not in towards, columns[name]["protected"]))[:_FIRST]
    chosen = st.multiselect("Values to change", list(columns), default=offered, **state.choice(f"if-{row}"))
    units: Mapping[str, str] = found.spec["data"].get("units") or {}
    changes = {}
    with st.grid(3, min_column_width=230, border=False):
        for name in chosen:
            key = f"if-{row}-{list(columns).index(name)}"
            value = _value(columns[name], key, units.get(name))
            if value != columns[name]["value"]:
                changes[name] = value
    said = first if not changes else _answer(space, found.spec, {**asked, "changes": changes})
    if said is None:
        return
    with st.container(key="what-if-said"):
        st.text(_sentence(said, columns, changes, units))
    for note in said["notes"]:
        notices.note(note)
    if changes:
        _side_by_side(said, columns, changes, units)
        if told := _matching(said["nearest"], of):
            st.text(told)
    if said["accepted"] is not None:
        _way_left(said["accepted"], bool(changes), units)


def can_ask(found: RunResult) -> bool:
    """Return whether there is a model that can be asked about other values."""
    return "predictions" not in found.spec["model"]


def ask_model(
    space: Workspace, found: RunResult, row: Hashable, match: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """Return what the model says of a person as known, and of single values of the match; None meanwhile."""
    return _answer(space, found.spec, {"row": row, "changes": {}, "match": dict(match)})


def _answer(space: Workspace, spec: Mapping[str, Any], asked: dict[str, Any]) -> Mapping[str, Any] | None:
    """Return what the model says; None while it is being asked, and where it cannot say."""
    kept: dict[str, Run] = state.remember("what if", dict)
    key = digest_of([dict(spec), asked])
    if key not in kept:
        while len(kept) >= _REMEMBERED:
            kept.pop(next(iter(kept)))
        try:
            kept[key] = jobs.ask(space, spec, asked)
        except (InputError, RunFailed) as error:
            notices.problem(str(error))
            return None
    run = kept[key]
    run.wait(_PATIENCE_SECONDS)
    if not run.finished:
        progress(run, key="ask-")
        return None
    if run.status != "done":
        kept.pop(key)
        ended_badly(run)
        return None
    return run.answer


def _value(column: Mapping[str, Any], key: str, unit: str | None) -> Any:
    """Draw the control of one value; None is a missing one."""
    name, value = notices.label(_name_with_unit(str(column["name"]), unit)), column["value"]
    if column["kind"] in _NUMBERS:
        whole = column["kind"] == "integer" and (
            value is None or (float(value).is_integer() and abs(value) < _MAX)
        )
        number_kind: Any = int if whole else float
        seen = (
            None if column["low"] is None else f"Seen here: {_text(column['low'])} to {_text(column['high'])}"
        )
        with st.container(gap="xxsmall"):
            given = st.number_input(
                name,
                value=None if value is None else number_kind(value),
                step=1 if whole else None,
                format=None if whole else "%g",
                placeholder=MISSING,
                help=seen,
                **state.choice(key),
            )
            gone = value is not None and st.checkbox("missing", **state.choice(f"{key}-missing"))
        return None if gone else given
    if column["levels"] is not None:
        levels = list(dict.fromkeys([*([value] if value is not None else []), *column["levels"]]))
        shown = st.selectbox(
            name,
            [*levels, MISSING],
            index=levels.index(value) if value is not None else len(levels),
            **state.choice(key),
        )
        return None if shown == MISSING and MISSING not in levels else shown
    if column["kind"] == "text":
        return st.text_area(name, value=value or "", **state.choice(key)) or None
    return st.text_input(name, value=value or "", **state.choice(key)) or None


def _sentence(
    said: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, Any]],
    changes: Mapping[str, Any],
    units: Mapping[str, str],
) -> str:
    """Return what the decision is, or would be, in one sentence."""
    before, after = said["before"], said["after"]
    if not changes:
        return f"As recorded, this {vocabulary().person} {_is(before)}{_score_text(said, before)}."
    listed = [
        f"{name} {_text(value, units.get(name))} instead of {_text(columns[name]['value'])}"
        for name, value in changes.items()
    ]
    still = "still " if before["favorable"] == after["favorable"] else ""
    would = _is(after).replace("is ", "be ", 1).replace("gets", "get", 1).replace("does not", "not", 1)
    with_these = join_names(listed, most=len(listed))
    return f"With {with_these} this {vocabulary().person} would {still}{would}{_score_text(said, after)}."


def _is(side: Mapping[str, Any]) -> str:
    words = vocabulary()
    return words.is_yes if side["favorable"] else words.is_no


def _score_text(said: Mapping[str, Any], side: Mapping[str, Any]) -> str:
    if said["labels"]:
        return ""
    way = ", favorable below it" if said["higher_is"] == "unfavorable" else ""
    return f": score {number(side['score'])}, threshold {number(side['threshold'])}{way}"


def _side_by_side(
    said: Mapping[str, Any],
    columns: Mapping[str, Mapping[str, Any]],
    changes: Mapping[str, Any],
    units: Mapping[str, str],
) -> None:
    before, after = said["before"], said["after"]
    rows = [("decision", begun(_is(before)), begun(_is(after)))]
    if not said["labels"]:
        rows.append(("score", number(before["score"]), number(after["score"])))
    rows += [
        (_name_with_unit(name, units.get(name)), _text(columns[name]["value"]), _text(value))
        for name, value in changes.items()
    ]
    table = pd.DataFrame(rows, columns=["", "as recorded", "what if"]).set_index("")
    right = {name: st.column_config.TextColumn(alignment="right") for name in table.columns}
    st.dataframe(table, height="content", column_config=right, alt=_sentence(said, columns, changes, units))


def _matching(nearest: Mapping[str, Any] | None, of: str) -> str:
    """Return what the change does to whom the person is matched with."""
    if nearest is None:
        return ""
    before, after = nearest["before"], nearest["after"]
    told = (
        f"Across all features, the closest {of} is still row {before}"
        if before == after
        else f"Across all features, the closest {of} would be row {after}, not row {before}"
    )
    return f"{told}. The audit matches everyone at once; its matching stays as it was."


def _way_left(accepted: Mapping[str, Any], changed: bool, units: Mapping[str, str]) -> None:
    """Say who of the accepted is most similar, and in what of what can be changed they differ."""
    for side in ("before", "after") if changed else ("before",):
        told = accepted[side]
        listed = "; ".join(
            f"{_name_with_unit(name, units.get(name))}: {theirs} instead of {mine}"
            for name, mine, theirs in told["differs"]
        )
        differs = f"has {listed}" if listed else "has the same values in everything that can be changed"
        who = "With these values" if side == "after" else "As recorded"
        yes = vocabulary().yes or "favored"
        st.text(f"{who}, the closest {vocabulary().person} who is {yes}, row {told['row']}, {differs}.")


def _name_with_unit(name: str, unit: str | None) -> str:
    return f"{name} ({unit})" if unit else name


def _text(value: Any, unit: str | None = None) -> str:
    if value is None:
        return MISSING
    told = f"{value:,.6g}" if isinstance(value, float) else text_of(value)
    return f"{told} {unit}" if unit else told
