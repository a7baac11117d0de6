"""The five screens of the demo: one sentence, one picture, and how we know behind a link."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state
from app.pages import page_of
from app.tour import pictures
from app.tour.story import Story
from app.widgets.results.plot import plot
from audits.runs.registry import AUDITS
from audits.runs.result import AuditResult
from audits.stats.badges import interval_text
from audits.stats.text import count

SCREENS: tuple[tuple[str, str], ...] = (
    ("It looks fair.", "groups"),
    ("Until you look closer.", "rule_sets"),
    ("The closest match, a different answer.", "flipset"),
    ("Change one word.", "attribute_swap"),
    ("Your call.", ""),
)
"""Each screen's title, and the audit that says how we know."""

_CALLS = {"use": "Use it", "retrain": "Retrain it", "review": "Review these cases"}


def show_screen(story: Story, audits: Mapping[str, AuditResult], pair: Callable[[], pd.DataFrame]) -> None:
    """Draw the screen that the address names; `pair` gives the values of two people, a column each."""
    with st.container(horizontal=True, vertical_alignment="center", key="tour-head"):
        place = st.segmented_control(
            "Screen",
            range(1, len(SCREENS) + 1),
            default=1,
            required=True,
            label_visibility="collapsed",
            **state.choice("step"),
        )
        title, audit = SCREENS[place - 1]
        st.text("A lending model, in five pictures")
        st.space("stretch")
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            # a button: while a toggle has the focus, Streamlit leaves the arrow keys to it
            now = state.address_value("present")
            st.button(
                "Stop presenting" if now else "Present", key="presenting", type="tertiary", on_click=_present
            )
            with st.popover("How do we know?", type="tertiary", key="how"):
                _how(audits[audit]) if audit else _how_all(audits)
    with st.container(key="tour-title"):
        st.title(title, anchor=False)
    _DRAWN[place - 1](story, pair)
    with st.container(horizontal=True, horizontal_alignment="right", key="tour-foot"):
        if place > 1:
            st.button("Back", key="back", shortcut="ArrowLeft", on_click=_go_to, args=(place - 1,))
        if place < len(SCREENS):
            st.button(
                "Next",
                key="next",
                type="primary",
                shortcut="ArrowRight",
                on_click=_go_to,
                args=(place + 1,),
            )


def _say(before: str, told: str = "", after: str = "") -> None:
    """Write the sentence of a screen, one part of it in the color of the group."""
    focus = f"<strong>{html.escape(told)}</strong>" if told else ""
    st.html(f'<p class="tour-sentence">{html.escape(before)}{focus}{html.escape(after)}</p>')


def _fair(story: Story, _: object) -> None:
    first, second = story.sexes.items()
    _say(f"{first[1].percent} of {first[0]} are approved, and {second[1].percent} of {second[0]}.")
    for column, (name, share) in zip(st.columns(2, gap="large"), (first, second), strict=True):
        with column:
            st.markdown(f"**{count(share.of)} {name}**")
            alt = f"{count(share.of)} {name}, a dot each: {count(share.yes)} approved."
            plot(pictures.crowd(share, alt, across=60, pitch=6.8), f"tour-{name}", tools=False)
            st.caption(f"{count(share.yes)} approved (filled) · {count(share.no)} declined (hollow)")


def _closer(story: Story, _: object) -> None:
    _say(f"{story.group}: ", f"{story.focus.percent} approved", f". Everyone else: {story.rest.percent}.")
    left, right = st.columns([3, 2], gap="large")
    with left:
        alt = f"{count(story.rest.of)} other applicants, a dot each: {count(story.rest.yes)} approved."
        plot(pictures.crowd(story.rest, alt), "tour-rest", tools=False)
        st.caption(f"{count(story.rest.of)} others: filled is approved, hollow is declined")
    with right:
        _group(story)
    most = "stands out most" if story.first else "does not stand out"
    held = ", and again on applicants held back" if story.confirmed else ""
    st.caption(f"Of {count(story.looked_at)} groups searched, this one {most}{held}.")


def _group(story: Story) -> None:
    with st.container(key="tour-group"):
        st.text(f"{story.focus.of} {story.group}")
    alt = f"{story.focus.of} {story.group}, a dot each: {story.focus.yes} approved."
    plot(pictures.group(story.focus, alt), "tour-focus", tools=False)
    st.caption(f"{story.focus.yes} approved · {story.focus.no} declined")


def _match(story: Story, pair: Callable[[], pd.DataFrame]) -> None:
    _say(
        "",
        f"{story.flips} of {story.focus.of}",
        f" {story.group} are declined while the most similar man is approved. Chance gives about "
        f"{story.by_chance}.",
    )
    values = pair()
    different = values[values.iloc[:, 0] != values.iloc[:, 1]]
    same = [name for name in values.index if name not in different.index]
    for place, column in enumerate(st.columns(2, gap="large")):
        with column:
            st.html(_card(values, different, place))
    st.caption(f"The same for both: {', '.join(same)}. Of the {story.flips}, these two are the closest.")


def _card(values: pd.DataFrame, different: pd.DataFrame, place: int) -> str:
    """Return one of two people: the decision, the score with the cut-off, and what differs."""
    person = values.attrs["people"][place]
    score, cut = 100 * person["score"], 100 * values.attrs["threshold"]
    cells = [
        (html.escape(str(name)), html.escape(_value(row.iloc[place]))) for name, row in different.iterrows()
    ]
    rows = "".join(f"<tr><th scope='row'>{name}</th><td>{value}</td></tr>" for name, value in cells)
    told = "approved" if person["decision"] else "declined"
    mark = "●" if person["decision"] else "○"
    bar = f"<div style='width:{score:.0f}%'></div><i style='left:{cut:.0f}%'></i>"
    return (
        f"<section class='tour-person {told}'><h3>{mark} {told.capitalize()}</h3>"
        f"<p>Applicant {person['row']}: score {score / 100:.2f}, approved from {cut / 100:.2f}</p>"
        f"<div class='tour-score' role='presentation'>{bar}</div><table>{rows}</table></section>"
    )


def _value(value: object) -> str:
    """Word a value of a person: whole numbers without decimals, thousands apart."""
    return f"{value:,.6g}" if isinstance(value, (int, float)) else str(value)


def _word(story: Story, _: object) -> None:
    _say(
        "Write “male” for “female”, change nothing else, and ",
        f"{story.gained} of {story.focus.no} declined",
        f" {story.group} are approved.",
    )
    left, right = st.columns(2, gap="large")
    with left:
        _group(story)
    with right:
        with st.container(key="tour-after"):
            st.text("The same applications, one word changed")
        _change_screen(story)


def _change_screen(story: Story) -> None:
    alt = f"With one word changed {story.swapped.yes} of {story.swapped.of} are approved."
    plot(pictures.group(story.swapped, alt, new=story.gained), "tour-swapped", tools=False)
    lost = "nobody loses" if not story.lost else f"{story.lost} lose"
    st.caption(f"{story.swapped.yes} approved: {story.gained} more (●), {lost}")


def _call(story: Story, _: object) -> None:
    call = st.segmented_control(
        "What would you do?",
        list(_CALLS),
        default="use",
        format_func=_CALLS.__getitem__,
        label_visibility="collapsed",
        **state.choice("call"),
    )
    if call == "retrain":
        _say(
            "A model that treats them as it treats men approves ",
            f"{story.swapped.yes} of {story.swapped.of}",
            f": {story.swapped.percent}, against {story.rest.percent} of everyone else.",
        )
        _change_screen(story)
        _link("data_model.py", "Data & model", "Open your own data and model →")
    elif call == "review":
        _say(
            "That is ",
            f"{story.focus.no} of {count(story.declined)} declined applications",
            f" to read again. {story.repaid} of those {story.focus.no} repaid in the end.",
        )
        _group(story)
        _link("monitor.py", "Monitor", "See how decisions are watched →")
    else:
        _say(
            "Then ",
            f"{story.gained} of {story.focus.of}",
            f" {story.group} are declined for one word, and someone will ask why.",
        )
        _group(story)
        _link("saved.py", "Report & saved audits", "Get the report →")


_DRAWN = (_fair, _closer, _match, _word, _call)


def _link(view: str, title: str, label: str) -> None:
    st.page_link(f"views/{view}", label=label, query_params=state.address(title))


def _how(audit: AuditResult) -> None:
    """Say what stands behind a screen: the audit's own verdict, sentence, interval and limits."""
    record, judged = AUDITS[audit.name], audit.result.judged
    st.badge(judged.badge_text, color="gray")
    st.text(audit.headline)
    if certainty := interval_text(judged):
        st.text(f"How sure? {certainty}")
    st.caption(record.limits)
    page = page_of(audit.name)
    if page is not None:
        st.page_link(
            page, label=f"{record.title} on your own data →", query_params=state.address(record.title)
        )


def _how_all(audits: Mapping[str, Any]) -> None:
    for audit in audits.values():
        st.badge(audit.result.judged.badge_text, color="gray")
        st.text(audit.headline)


def _present() -> None:
    """Begin to present, or stop."""
    if state.address_value("present"):
        state.drop_from_address("present")
    else:
        state.put_in_address("present", "true")


def _go_to(place: int) -> None:
    state.set_widget("step", place)
