"""Which measure fits the decision: a few questions, and what each measure would mean here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from app import state
from app.widgets import notices
from app.workspaces.workspace import Workspace
from audits.groups import GroupsResult
from audits.groups.inference import ASKED_FIRST, judged_of, settled_by
from audits.groups.metrics import METRICS
from audits.groups.names import people_of
from audits.groups.text import counted_words
from audits.options import MEASURE_WORDS
from audits.stats import EVIDENCE
from audits.stats.text import count, percent
from audits.text import begun

_TRUST = {
    "yes": "Yes: it was observed, and in the same way for every group",
    "no": "No: people decided it, or it is known for only some",
}
_GIVES = {
    "help": "It gives something: a loan, a job, a place",
    "burden": "It burdens someone: a search, a detention, a suspicion",
}
_SHORT = {"many": "There is enough for everyone who deserves it", "few": "Only a few can get it"}
_MEASURES = {**ASKED_FIRST, "equal_errors": (*ASKED_FIRST["equal_errors"], "false_negative_rate")}
_FIT = {
    "selection_rate": (
        "Compare how often each group gets the favorable decision. This needs no outcome; four-fifths is "
        "the usual line. It says nothing about who deserved it."
    ),
    "true_positive_rate": (
        "Compare, among people with a favorable outcome, how often each group gets the favorable decision: "
        "do those who deserve it have the same chance?"
    ),
    "false_negative_rate": (
        "Compare, among people with a favorable outcome, how often each group is burdened all the same: who "
        "is wronged by mistake?"
    ),
    "precision": (
        "Compare, among people with the favorable decision, how often the outcome was favorable, too. A "
        "higher share means the group had to be better to be chosen."
    ),
}


def measure_tiles(result: GroupsResult, attribute: str) -> None:
    """Draw a tile for each rate that verdicts look at: its verdict, and the group that is farthest off."""
    reference = next(row for row in result.of(attribute) if row.is_reference)
    asked = ASKED_FIRST.get(result.options.get("measure") or "", ())
    told = [
        (
            metric,
            [
                (row, row.differences[metric.name])
                for row in result.of(attribute)
                if metric.name in row.differences
            ],
        )
        for metric in sorted(METRICS, key=lambda each: each.name not in asked)
        if metric.judged or metric.name in asked
    ]
    with st.grid(3, min_column_width=220, border=False):
        for metric, rows in told:
            rows = [(row, gap) for row, gap in rows if gap.estimate.value is not None]
            if not rows:
                continue
            found = [(row, gap) for row, gap in rows if gap.verdict == EVIDENCE] or rows
            row, gap = max(found, key=lambda each: abs(each[1].estimate.value or 0.0))
            own, other = row.metric(metric.name), reference.metric(metric.name)
            who = f"{people_of(row)}{metric.about}"
            sides = [(share.n, people_of(each)) for each, share in ((row, own), (reference, other)) if share]
            sides = [(n, f"{name}{metric.about}") for n, name in sides]
            judged = settled_by(judged_of(gap, float(result.options["material"])), sides, row.n)
            with st.container(border=True, height="stretch", key=f"tile-{metric.name}"):
                st.markdown(f"**{metric.words.capitalize()}**")
                st.badge(judged.badge_text, color="gray")
                if own is not None and other is not None and None not in (own.value, other.value):
                    mine, theirs = (
                        counted_words(each, metric.name) or percent(rate.value, rate.n)
                        for each, rate in ((row, own), (reference, other))
                    )
                    st.text(f"{begun(who)}: {mine}, against {theirs}.")
                differ = sum(each.verdict == EVIDENCE for _, each in rows)
                if len(rows) > 1:
                    verb = "differs" if differ == 1 else "differ"
                    st.caption(f"{count(differ)} of {count(len(rows))} groups {verb} by more than chance")


def measure_chooser(result: GroupsResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Ask what the decision is like, show the rate that fits it, and remember it where that is wanted."""
    with st.expander("Which measure fits your decision?", key="measure-chooser"):
        known = list(result.metrics)
        name = _fitting()
        if name not in known:
            notices.note("That measure needs an outcome, which these data lack.")
            name = "selection_rate"
        st.markdown(f"**{METRICS.words(name).capitalize()}**")
        st.text(_FIT[name])
        with st.container(horizontal=True):
            st.button("Show this rate", key="show-measure", on_click=state.set_widget, args=("rates", [name]))
            measure = next((each for each, rates in _MEASURES.items() if name in rates), None)
            if measure is not None and measure != draft["spec"].get("measure"):
                st.button(
                    "Lead with it",
                    key="lead-measure",
                    help=f"Headline and report then begin with {MEASURE_WORDS[measure]}.",
                    disabled=space.read_only,
                    on_click=_remember,
                    args=(space, draft, measure),
                )


@state.report_errors
def _remember(space: Workspace, draft: Mapping[str, Any], measure: str) -> None:
    space.save_draft({**draft, "spec": {**draft["spec"], "measure": measure}})


def _ask(question: str, answers: dict[str, str], key: str, *, matters: bool = True) -> str:
    # grayed, not gone: the address would drop its answer, and the back button stop where nothing changes
    return st.radio(
        question,
        list(answers),
        format_func=answers.__getitem__,
        disabled=not matters,
        **state.choice(f"fit-{key}"),
    )


def _fitting() -> str:
    """Ask about the decision; return the rate to compare, in the sense of Aequitas' tree of decisions."""
    trusted = _ask("Can the outcome be trusted?", _TRUST, "trust") == "yes"
    helps = _ask("What does the decision do?", _GIVES, "gives", matters=trusted) == "help"
    few = _ask("How much is there to give?", _SHORT, "scarce", matters=trusted and helps) == "few"
    if not trusted:
        return "selection_rate"
    if not helps:
        return "false_negative_rate"
    return "precision" if few else "true_positive_rate"
