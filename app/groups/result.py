"""What a group comparison found, with thresholds that move at once and a second model beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import state, work
from app.drawn import drawn, presented
from app.groups.choosing import measure_chooser, measure_tiles
from app.groups.exploring import explored, keep_as_run, preset
from app.groups.strip import survival_strip
from app.tables.listed import Listed
from app.widgets import notices
from app.widgets.people.person import person_card
from app.widgets.people.row_choice import ROWS, choose_row, clicked_row
from app.widgets.people.selected import clickable, only_selected, select
from app.widgets.results.exhibits import titled
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.result_frame import fine_print, headline
from app.widgets.results.verdict_cards import verdict_cards
from app.widgets.subject import model_words
from app.workspaces.workspace import Workspace
from audits.errors import InputError, RunFailed
from audits.groups import GroupRow, GroupsResult, at_threshold, beside, most_telling, words
from audits.groups.exhibits import said
from audits.groups.figures import curves, dots, layout
from audits.groups.metrics import METRICS
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.words import count, in_words, people_in

__all__ = ["show_result"]

_MOST_THRESHOLDS, _FEW_GROUPS = 12, 5


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished comparison, top to bottom."""
    stored: GroupsResult = found.audits[0].result
    if not stored.table:
        headline(words.headline(stored), stored.judged)
        _probable(stored)
        fine_print(found, draft, "groups")
        return
    top = st.container()
    attribute = _attribute(stored)
    result = _moved(found, stored, attribute, space, draft)
    with top:
        _headline(result, changed=result is not stored)
    _decides(result)
    measure_tiles(result, attribute)
    measure_chooser(result)
    metrics = st.pills(
        "Rates",
        [metric.name for metric in METRICS if result.table[0].metric(metric.name) is not None],
        selection_mode="multi",
        default=[m.name for m in METRICS if m.judged and result.table[0].metric(m.name) is not None],
        format_func=lambda name: METRICS[name].words,
        **state.choice("rates"),
    )
    order = _order(result, attribute)
    rates = drawn(dots.rates, result, attribute, metrics=tuple(metrics), **order)
    titled(said("rates", attribute))
    figure_card("group-rates", rates, lambda: _rows(result, attribute))
    shown, k = (
        len(layout.drawn(result, attribute, most=layout.MOST_GROUPS, **order)),
        len(result.of(attribute)),
    )
    if shown < k:
        st.caption(f"Drawn are {shown} of {k} groups; the table holds all.")
    notices.notes(result.warnings)
    _differences(result, attribute, order)
    if found.model["score_kind"] != "label":
        explored(stored, result, attribute, found.model["higher_is"])
    _pooled(result, attribute)
    _probable(result)
    survival_strip(space, draft, result, attribute)
    verdict_cards(space, draft)
    if curves.graded(result, attribute):
        titled(said("scores", attribute))
        figure_card(
            "group-scores", drawn(curves.scores, result, attribute), lambda: result.scores_frame(attribute)
        )
    else:
        st.caption("These predictions are decisions alone: no scores lie between them that could be drawn.")
    if result.table[0].calibration is not None:
        titled(said("calibration", attribute))
        figure_card(
            "group-calibration",
            drawn(curves.calibration, result, attribute),
            lambda: result.calibration_frame(attribute),
        )
    _people(found, space, result)
    _second_model(space, found, stored, attribute)
    fine_print(found, draft, "groups")


def _decides(result: GroupsResult) -> None:
    exhibit = presented(AUDITS["groups"], result).exhibit("deciding")
    titled((exhibit.heading, exhibit.caption))
    figure_card("group-deciding", exhibit.figure(), exhibit.table)


def _headline(result: GroupsResult, *, changed: bool = False) -> None:
    headline(words.headline(result), result.judged)
    if changed:
        notices.note("Moved thresholds: what follows is recomputed here, and is not the saved result.")


def _attribute(result: GroupsResult) -> str:
    options = [spread.attribute for spread in result.spreads]
    told = most_telling(result.table)[0].attribute  # of the sentence above
    first = options.index(told) if told in options else 0
    return st.selectbox("Groups of", options, index=first, width=420, **state.choice("groups-of"))


def _moved(
    found: RunResult, result: GroupsResult, attribute: str, space: Workspace, draft: Mapping[str, Any]
) -> GroupsResult:
    """Draw the thresholds, and return the comparison under them: the stored one while they are untouched."""
    if found.model["score_kind"] == "label" or not len(
        result.people
    ):  # nobody is kept where they are counted
        return result
    sign = -1.0 if found.model["higher_is"] == "unfavorable" else 1.0
    scores = sign * result.people["score"]
    low, high = float(min(scores.min(), 0.0)), float(max(scores.max(), 1.0))
    spec = found.model["threshold"]
    values = [row.group for row in result.table if row.attribute == attribute]
    single = " × " not in attribute and len(values) <= _MOST_THRESHOLDS
    by_group = isinstance(spec, dict)
    with st.container(border=True, key="thresholds"):
        if single:
            by_group = st.toggle(
                f"A threshold for each group of {notices.label(attribute)}",
                value=isinstance(spec, dict) and attribute in spec,
                **state.choice("by-group"),
            )
        elif by_group:
            return result  # thresholds by an attribute that is not shown
        at = preset(result, attribute, values if single else [], found.model["higher_is"])
        st.caption("Decided favorably where the score is " + ("below" if sign < 0 else "at least"))
        by_group = by_group or bool(at)
        asked = _by_group(attribute, values, spec, low, high, at) if by_group else _one(spec, low, high)
        moved = result
        if asked != spec:
            try:
                moved = at_threshold(result, asked, higher_is=found.model["higher_is"])
            except InputError as error:
                notices.problem(str(error))
        if asked != spec:
            keep_as_run(space, draft, found, asked)
    return moved


def _one(spec: Any, low: float, high: float) -> float:
    """Draw one threshold: a slider where scores lie in [0, 1], else a number."""
    first = spec if isinstance(spec, float) else (low + high) / 2
    low, high = min(low, first), max(high, first)
    if (low, high) == (0.0, 1.0):
        return st.slider("Threshold", low, high, first, step=0.005, **state.choice("cut"))
    return st.number_input(
        "Threshold", low, high, first, step=_step(low, high), format="%.6g", **state.choice("cut")
    )


def _step(low: float, high: float) -> float:
    """Return a hundredth of the range, and no whole number: those ask for whole numbers alone."""
    step = (high - low) / 100
    return step + 0.5 if step.is_integer() else step


def _by_group(
    attribute: str, values: list[str], spec: Any, low: float, high: float, at: Mapping[str, float]
) -> Any:
    known = at or (spec.get(attribute, {}) if isinstance(spec, dict) else {})
    mark = f"-{state.widget('preset')}".replace(" ", "-") if at else ""
    common = spec if isinstance(spec, float) else (low + high) / 2
    found = {}
    with st.grid(3, min_column_width=200, border=False):
        for place, value in enumerate(values):
            first = (
                min(max(float(known.get(value, common)), low), high)
                if at
                else float(known.get(value, common))
            )
            found[value] = st.number_input(
                notices.label(in_words(value)),
                min(low, first),
                max(high, first),
                first,
                step=_step(low, high),
                format="%.6g",
                **state.choice(f"cut-{place}{mark}"),
            )
    return {attribute: found}


def _rows(result: GroupsResult, attribute: str) -> Any:
    table = result.to_frame()
    return table[table["attribute"] == attribute].drop(columns="attribute")


def _order(result: GroupsResult, attribute: str) -> dict[str, bool]:
    """Draw which groups the figures show, and in which order, where there are more than a few."""
    if len(result.of(attribute)) <= _FEW_GROUPS:
        return {}
    with st.container(horizontal=True):
        by_gap = st.toggle("Largest gap first", **state.choice("by-gap"))
        findings = st.toggle("Only groups that differ beyond chance", **state.choice("findings-only"))
    return {"by_gap": by_gap, "findings": findings}


def _differences(result: GroupsResult, attribute: str, order: Mapping[str, bool]) -> None:
    """Draw each group's differences with its verdicts, and write the spreads of the attribute."""
    spread = next(item for item in result.spreads if item.attribute == attribute)
    named = {
        "Demographic parity difference": spread.demographic_parity_difference,
        "Smallest impact ratio (four fifths: 0.8)": spread.demographic_parity_ratio,
        "Equal opportunity difference": spread.equal_opportunity_difference,
        "Equalized odds difference": spread.equalized_odds_difference,
        "Average odds difference": spread.average_odds_difference,
    }
    lines = [f"{name}: {words.spread_words(item)}" for name, item in named.items() if item is not None]
    titled(said("differences", attribute))
    st.text(f"The reference group: {people_in(spread.reference)}.")
    figure_card(
        "group-differences",
        drawn(dots.differences, result, attribute, **order),
        lambda: result.differences_frame(attribute),
    )
    verdicts = pd.DataFrame(
        [
            (in_words(row.group), count(row.n), row.verdict, _needed(row))
            for row in result.of(attribute)
            if row.verdict
        ],
        columns=["group", "people", "verdict", "people needed in the group"],
    )
    _group_rows(
        result,
        attribute,
        verdicts,
        [row.group for row in result.of(attribute) if row.verdict],
        "group-verdicts",
        alt="Verdict of each group; a click selects its people",
    )
    with st.expander("The same in one number each"):
        notices.bullets(lines)
    again = result.bootstrap_frame(attribute)
    if len(again):
        with st.expander("Balanced accuracy by the bootstrap"):
            st.text("A second interval, by resampling people, beside the one that is drawn.")
            _group_rows(
                result,
                attribute,
                again,
                again["group"].tolist(),
                "group-again",
                alt="Two intervals for each group; a click selects its people",
            )


def _group_rows(
    result: GroupsResult, attribute: str, table: pd.DataFrame, groups: list[str], key: str, *, alt: str
) -> None:
    """Draw a table of a row a group; a click on a row selects the group's people."""
    clicks = clickable(key)
    st.dataframe(
        table,
        key=clicks,
        hide_index=True,
        column_config=number_columns(table),
        on_select=lambda: _select_group(result, attribute, groups, key, clicks),
        selection_mode=ROWS,
        alt=alt,
    )


def _select_group(result: GroupsResult, attribute: str, rows: list[str], key: str, clicks: str) -> None:
    place = clicked_row(clicks, len(rows))
    terms = None if place is None else layout.people_of(result, attribute).get(rows[place])
    if terms is not None:
        select(json.loads(terms), key)


def _pooled(result: GroupsResult, attribute: str) -> None:
    """Lay partially pooled rates beside the raw ones, which verdicts rest on."""
    table = result.pooled_frame(attribute)
    if table.empty:
        return
    exhibit = presented(AUDITS["groups"], result).exhibit(f"pooled_{attribute}")
    with st.expander(exhibit.heading):
        st.text(exhibit.caption)
        figure_card("group-pooled", exhibit.figure(), exhibit.table)


def _probable(result: GroupsResult) -> None:
    """Draw what probabilities of membership say of groups that no row names."""
    for place, name in enumerate(dict.fromkeys(item.attribute for item in result.probable)):
        exhibit = presented(AUDITS["groups"], result).exhibit(f"probable_{name}")
        st.subheader(exhibit.heading, anchor=False)
        st.text(exhibit.caption)
        figure_card(f"group-probable-{place}", exhibit.figure(), exhibit.table, wide=True)


def _needed(row: GroupRow) -> str:
    needs = [gap.people_needed for gap in row.differences.values() if gap.people_needed]
    return f"about {count(float(f'{max(needs):.2g}'))}" if needs else ""


def _people(found: RunResult, space: Workspace, result: GroupsResult) -> None:
    """Show how the people selected are decided, where some are."""
    if only_selected(result.people) is None:
        return
    st.subheader("The people selected", anchor=False)
    hidden = ["people"] if (result.people["people"] == 1).all() else []

    people = Listed(found, "decided", {"hidden": hidden})
    row = choose_row(people, "group-people", "group-person", alt="The people selected", number="score")
    if row is not None:
        person_card(space, found, row)


def _second_model(space: Workspace, found: RunResult, result: GroupsResult, attribute: str) -> None:
    """Lay another run's model beside this one, on the same people."""
    records = [record for record in space.runs() if _comparable(record, found)]
    if not records:
        return
    st.subheader("Another model on the same people", anchor=False)
    labels = {record["key"][:8]: _model_words(record["spec"]) for record in records}
    chosen = st.selectbox(
        "Beside it",
        ["(none)", *labels],
        format_func=lambda key: labels.get(key, key),
        **state.choice("beside"),
    )
    record = next((item for item in records if item["key"][:8] == chosen), None)
    if record is None:
        return
    try:
        table = beside(result, work.result(space, record["spec"]).audits[0].result)
    except (InputError, RunFailed) as error:
        notices.problem(str(error))
        return
    if attribute not in set(table["attribute"]):
        notices.note(f"The other run does not compare by {attribute}.")
        return
    figure = dots.beside(
        table,
        attribute,
        (f"this: {_model_words(found.spec)}", f"beside it: {labels[chosen]}"),
        people=layout.people_of(result, attribute),
    )
    figure_card("group-models", figure, lambda: table, wide=True)
    mine = table[table["attribute"] == attribute].drop(columns="attribute")
    _group_rows(
        result,
        attribute,
        mine,
        mine["group"].tolist(),
        "group-beside",
        alt="Rates of both models by group, and the change; a click selects the group's people",
    )


def _model_words(spec: Mapping[str, Any]) -> str:
    """Name a run's model and threshold in a line."""
    threshold = spec.get("threshold")
    if threshold is None:
        return model_words(spec["model"])
    words = str(threshold) if isinstance(threshold, float) else json.dumps(threshold)
    return f"{model_words(spec['model'])} at {words}"


def _comparable(record: Mapping[str, Any], found: RunResult) -> bool:
    """Whether a record is a finished comparison of the same people by another model or threshold."""
    spec = record["spec"]
    audits = spec.get("audits") or [{}]
    same = spec.get("data", {}).get("path") == found.spec["data"]["path"]
    other = spec.get("model") != found.spec["model"] or spec.get("threshold") != found.spec["threshold"]
    return "groups" in audits[0] and same and other
