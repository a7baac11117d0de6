"""One person, beside the closest match where there is one: scores, what differs, and what would change it."""

from __future__ import annotations

import html
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import state
from app.serving.headers import INTO_VIEW
from app.tables.people import MAX_ASSOCIATION, far, spreads_of, value_text
from app.widgets import notices
from app.widgets.people.what_if import ask_model, can_ask, what_if_section
from app.widgets.waiting import data_of
from app.workspaces.workspace import Workspace
from audits.data import named_with
from audits.data.values import is_missing
from audits.runs.result import RunResult
from audits.stats.text import number
from audits.stats.vocabulary import vocabulary
from audits.text import begun, join_names, value_words

_YEARS = 1500, 2200  # numbers that may be years


@dataclass(frozen=True, eq=False)
class Beside:
    """Whom a person is matched with.

    Attributes
    ----------
    row : hashable or None
        Row number of a real person; None for one whom a map invents.
    values : Series
        The features, as the data hold them.
    favorable : bool
    score : float
    more : str
        What else is to be said of the match, such as how many further ones there are.
    """

    row: Hashable | None
    values: pd.Series
    favorable: bool
    score: float
    more: str = ""


@dataclass(frozen=True, eq=False)
class _Sides:
    """Both people of a card: names, decisions, scores, and the features in which they differ or agree."""

    names: list[str]
    who: list[str]
    favorable: list[bool]
    scores: list[float]
    values: pd.DataFrame
    differ: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)


def person_card(
    space: Workspace,
    found: RunResult,
    row: Hashable,
    *,
    match: Beside | None = None,
    said: str = "",
    beside: Mapping[str, Any] | None = None,
    of: str = "",
) -> None:
    """Draw one person of a result, beside the closest match where there is one.

    Parameters
    ----------
    row : hashable
        The user's row number, in the result's table ``people``.
    said : str
        What the audit says of this person, beside the decision.
    beside, of
        As `app.widgets.people.what_if.what_if_section` takes them.
    """
    sides = _sides(space, found, row, match)
    words, apart = vocabulary(), found.model.get("higher_is")
    with card_of(row):
        is_so = [words.is_yes if each else words.is_no for each in sides.favorable]
        told = f"{sides.names[0]} {is_so[0]}."
        if match is not None:
            closest = sides.names[1][:1].lower() + sides.names[1][1:]
            told += f" {begun(closest)} {is_so[1]}."
        st.subheader(notices.label(told, 160), anchor=False)
        differ = (
            f"They differ most in {' and '.join(sides.differ[:MAX_ASSOCIATION])}." if sides.differ else ""
        )
        with st.container(key="quiet-person"):
            st.text(" ".join(filter(None, (differ, said, "" if match is None else match.more))))
        with st.container(horizontal=True, key="person-cards"):
            for k in range(len(sides.names)):
                st.html(_card(sides, k, found.model["threshold"], apart == "unfavorable"), width="stretch")
        answer = None
        if can_ask(found):
            values = {name: _plain(sides.values[name].iloc[-1]) for name in sides.differ}
            answer = ask_model(space, found, row, values)
        if match is not None:
            _differences(sides, {} if answer is None else answer["effects"], found.spec)
        if answer is not None:
            _alternatives(answer, sides)
        what_if_section(space, found, row, beside=beside, of=of)


def steps(rows: Sequence[Hashable], row: Hashable) -> None:
    """Draw the way to the person before and after `row` among some: ``‹ 3 of 39 ›``."""
    if row not in rows or len(rows) < 2:
        return
    place = list(rows).index(row)

    def to(step: int) -> None:
        state.set_widget("person", str(rows[(place + step) % len(rows)]))

    with st.container(horizontal=True, vertical_alignment="center", key="person-steps"):
        st.button("‹", key="person-before", on_click=to, args=(-1,), type="tertiary", help="Person before")
        st.text(f"{place + 1:,} of {len(rows):,}", width="content")
        st.button("›", key="person-after", on_click=to, args=(1,), type="tertiary", help="Next person")


def card_of(row: Hashable) -> DeltaGenerator:
    """Return the container of what is said of the person in `row`; it scrolls into view once."""
    card = st.container(border=True, key="person-card")
    # another row is another element, which the browser runs again; the same one stays where it is
    card.html(
        f'<span data-row="{html.escape(str(row))}"></span><script>{INTO_VIEW}</script>',
        unsafe_allow_javascript=True,
    )
    return card


def in_units(table: pd.DataFrame, spec: Mapping[str, Any]) -> pd.DataFrame:
    """Return a table with a row a column of the data, its unit behind its name where one is given."""
    units: Mapping[str, str] = spec["data"].get("units") or {}
    return table.rename(index=lambda name: f"{name} ({units[name]})" if name in units else name)


def _sides(space: Workspace, found: RunResult, row: Hashable, match: Beside | None) -> _Sides:
    """Return what the cards say, the features in which both differ most first."""
    data, _ = data_of(space, found.spec)
    people = found.audits[0].result.people
    person = people.loc[[row]].iloc[0]
    decided = person["decision" if "decision" in person else "favorable"]
    columns = [*data.protected, *(name for name in data.features if name not in data.protected)]
    rows = [row] if match is None or match.row is None else [row, match.row]
    values = data.frame.loc[rows, columns]
    noun = begun(vocabulary().person)
    names, who = [f"{noun} {row}"], [_group(data.groups.loc[[row]])]
    favorable, scores = [bool(decided)], [float(person["score"])]
    if match is None:
        return _Sides(names, who, favorable, scores, values)
    if match.row is None:
        values = pd.concat([values[match.values.index].astype(object), match.values.to_frame().T])
        names, who = [*names, "The closest match, made by a map,"], [*who, ""]
    else:
        names = [*names, f"The closest match, {vocabulary().person} {match.row},"]
        who = [*who, _group(data.groups.loc[[match.row]])]
    spreads = spreads_of(data, people.index, columns)
    apart = {name: far(values[name].iloc[:2].tolist(), spreads.get(str(name))) for name in values}
    order = sorted(apart, key=lambda name: -apart[name])
    differ = [str(name) for name in order if apart[name] > 0]
    same = [str(name) for name in values if apart[name] == 0]
    both = [*favorable, match.favorable], [*scores, match.score]
    return _Sides(names, who, *both, values, differ, same)


def _group(groups: pd.DataFrame) -> str:
    """Return the noun phrase of someone's protected groups: ``Velian woman under 30``."""
    values = {str(name): str(value) for name, value in groups.iloc[0].items()}
    said = vocabulary().group(" & ".join(values.values()), one=True)
    return said or ", ".join(named_with(name, value) for name, value in values.items())


def _card(sides: _Sides, k: int, threshold: object, reverse: bool) -> str:
    """Return one card: name, who it is, the score as a bar with the cut-off, and the decision."""
    words, score = vocabulary(), sides.scores[k]
    decision = (words.yes or "favorable") if sides.favorable[k] else (words.no or "unfavorable")
    name = sides.names[k].strip(",").removeprefix("The ")
    cut = threshold if isinstance(threshold, (int, float)) and 0 <= threshold <= 1 else None
    bar = ""
    if 0 <= score <= 1:
        at = "" if cut is None else f'<i class="cut" style="left:{100 * cut:.4g}%"></i>'
        bar = f'<div class="bar"><b class="side-{k}" style="width:{100 * score:.4g}%"></b>{at}</div>'
    limit = "" if cut is None else f" · cut-off {number(cut)}{', favorable below' if reverse else ''}"
    return (
        f'<div class="person"><strong>{html.escape(begun(name))}</strong><br>{html.escape(sides.who[k])}{bar}'
        f"<span>score {number(score)}{limit}</span><br><strong>{html.escape(begun(decision))}</strong></div>"
    )


def _differences(sides: _Sides, effects: Mapping[str, float], spec: Mapping[str, Any]) -> None:
    """Draw only what differs, marked by whom the model favors for it; what is the same is named below."""
    mine, its = sides.names[0].split()[-1], sides.names[1].strip(",").split()[-1]
    its = its if its != mine else "match"
    rows = []
    for name in sides.differ:
        effect = effects.get(name)
        better = "" if effect is None or abs(effect) < 1e-9 else its if effect > 0 else mine
        if effect is not None and abs(effect) < 1e-9:
            better = "neither"
        rows.append((name, *pair_words(sides.values[name]), better))
    table = pd.DataFrame(rows, columns=["only what differs", mine, its, "better for"])
    table = in_units(table.set_index("only what differs"), spec)
    if table["better for"].eq("").all():
        table = table.drop(columns="better for")
    if len(table):
        names = {"_index": st.column_config.Column(width=130)}  # all columns fit a phone
        about = f"What differs between {mine} and {its}, and for whom the model finds it better"
        st.dataframe(table, height="content", column_config=names, alt=about)
    if sides.same:
        st.caption(notices.label(f"The same: {', '.join(sides.same)}", 600))


def _alternatives(answer: Mapping[str, Any], sides: _Sides) -> None:
    """Say what another protected value would do, and which of the match's values would be enough."""
    words, before = vocabulary(), answer["before"]
    with st.container(horizontal=True, key="person-alternatives"):
        if answer["swaps"]:
            with st.container(gap="xxsmall"):
                for (column, score, favorable), values in _swapped(answer["swaps"]).items():
                    decided = (words.yes if favorable else words.no) or "another decision"
                    turned = "" if favorable == before["favorable"] else f", {decided}"
                    st.text(f"What if {column} were {values}? {number(before['score'])} → {score}{turned}")
        if answer["enough"]:
            told = [f"{name} {' → '.join(pair_words(sides.values[name]))}" for name in answer["enough"]]
            st.text(f"What would be enough? {' and '.join(told)}: {words.yes or 'favorable'}")
        elif sides.differ and not before["favorable"]:
            st.text("What would be enough? Not even the match's values in what can be changed.")


def _swapped(swaps: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, bool], str]:
    """Return the values that lead to the same answer, together: ``Ostrian, Tamar or Norrin``."""
    found: dict[tuple[str, str, bool], list[str]] = {}
    for each in swaps:
        answer = (str(each["column"]), number(each["score"]), bool(each["favorable"]))
        found.setdefault(answer, []).append(str(each["value"]))
    return {answer: join_names(values, "or", most=len(values)) for answer, values in found.items()}


def pair_words(values: pd.Series) -> list[str]:
    """Return the first two values of a column in words, alike: 9,900 beside 13,100, but the year 2024."""
    pair = values.iloc[:2].tolist()
    told = [value_words(float(each)) if _is_number(each) else value_text(each) for each in pair]
    numbers = [text for text, each in zip(told, pair, strict=True) if _is_number(each)]
    sizes = [abs(float(each)) for each in pair if _is_number(each)]
    if all(size < 1000 or _YEARS[0] <= size <= _YEARS[1] for size in sizes):
        return told
    return [f"{int(text):,}" if text in numbers and text.lstrip("-").isdecimal() else text for text in told]


def _is_number(value: object) -> bool:
    plain = isinstance(value, (int, float, np.number)) and not isinstance(value, (bool, np.bool_))
    return plain and not is_missing(value)


def _plain(value: Any) -> Any:
    """Return a value of a table as a question to the model holds it."""
    if is_missing(value):
        return None
    if isinstance(value, (bool, str)):
        return str(value)
    plain = value.item() if hasattr(value, "item") else value
    return plain if isinstance(plain, (int, float)) and not isinstance(plain, bool) else value_text(value)
