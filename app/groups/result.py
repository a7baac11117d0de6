"""What a group comparison found: rates by any measure, thresholds to try, scores, all combinations."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from app import jobs, state
from app.figure_cache import cached_figure, cached_section
from app.groups.explain_panel import survival_strip
from app.groups.metric_advisor import measure_chooser, measure_tiles
from app.groups.threshold_explorer import other_thresholds
from app.tables.listed import PeopleTable
from app.widgets import notices
from app.widgets.people.person import person_card
from app.widgets.people.row_choice import choose_row, clickable_table
from app.widgets.people.selected import only_selected, select
from app.widgets.results.exhibits import folded, folded_exhibit, show_exhibit
from app.widgets.results.figure_card import figure_card, number_columns
from app.widgets.results.plot import plot
from app.widgets.results.result_page import result_page
from app.widgets.subject import model_words
from app.workspaces.workspace import Workspace
from audits.data import named_with
from audits.errors import InputError, RunFailed
from audits.groups import GroupsResult, beside, most_telling
from audits.groups.figures import dots, layout
from audits.groups.figures.threshold import can_move, threshold_slider
from audits.groups.inference import lower_first
from audits.groups.metrics import METRICS
from audits.groups.sections import heading_and_caption
from audits.records import Exhibit
from audits.runs.registry import AUDITS
from audits.runs.result import RunResult
from audits.stats.text import in_words, people_in
from audits.stats.vocabulary import vocabulary

_FEW_GROUPS, _MAX_ROWS = 5, 8


def show_result(found: RunResult, space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw a finished comparison."""
    result: GroupsResult = found.audits[0].result
    section = cached_section(AUDITS["groups"], result)
    if not result.table:
        result_page(found, draft)
        return
    exhibits = {each.key: each for each in section.exhibits}
    panels: dict[str, Callable[[], object]] = {"who": lambda: _who(result, exhibits, space, draft)}
    pair = lower_first(result)
    if found.model["score_kind"] != "label" and can_move(result, pair[0]):
        panels["Threshold"] = lambda: _threshold(found, pair, space, draft)
    panels["Errors and scores"] = lambda: _scores(result, exhibits)
    if result.table[0].calibration is not None:
        panels["Calibration"] = lambda: _calibration(result, exhibits)
    panels |= {
        "All combinations": lambda: _combinations(result),
        "Like for like?": lambda: _like(found, space, draft, result),
        "tested": lambda: _test_tab(result, exhibits),
        "people": lambda: _people(found, space, result),
    }
    own = dict.fromkeys(each.key for each in section.exhibits[1:])
    result_page(found, draft, panels=panels, instead=own)


def _attribute(result: GroupsResult) -> str:
    options = [spread.attribute for spread in result.spreads]
    told = most_telling(result.table, result.options.get("measure"))[0].attribute  # of the sentence above
    first = options.index(told) if told in options else 0
    return st.selectbox("Groups of", options, index=first, width=420, **state.choice("groups-of"))


def _who(
    result: GroupsResult, exhibits: Mapping[str, Exhibit], space: Workspace, draft: Mapping[str, Any]
) -> None:
    """Draw the rates of all groups by the measures chosen."""
    attribute = _attribute(result)
    known = list(result.metrics)
    judged = [metric.name for metric in METRICS if metric.judged]
    metrics = st.pills(
        "Measures",
        known,
        selection_mode="multi",
        default=[name for name in known if name in judged],
        format_func=METRICS.words,
        **state.choice("rates"),
    )
    order = _order(result, attribute)
    rates = cached_figure(dots.rates, result, attribute, metrics=tuple(metrics), **order)
    _card(result, "rates", rates, attribute, lambda: _rows(result, attribute))
    measure_chooser(result, space, draft)
    for exhibit in exhibits.values():
        if exhibit.key.startswith("probable_"):
            show_exhibit(exhibit, name=f"group-{exhibit.key}")
        elif exhibit.key == f"further_{attribute}":
            folded_exhibit(exhibit, "group-further")


def _card(
    result: GroupsResult, kind: str, figure: Any, attribute: str, table: Callable[[], pd.DataFrame]
) -> None:
    heading, caption = heading_and_caption(kind, attribute, result=result)
    figure_card(f"group-{kind}", figure, table, heading=heading, caption=caption)


def _rows(result: GroupsResult, attribute: str) -> pd.DataFrame:
    table = result.to_frame()
    return table[table["attribute"] == attribute].drop(columns="attribute")


def _order(result: GroupsResult, attribute: str) -> dict[str, Any]:
    """Draw which groups the figure shows, and in which order, where there are more than a few."""
    groups = len(result.of(attribute))
    if groups <= _FEW_GROUPS:
        return {}
    with st.container(horizontal=True):
        by_gap = st.toggle("Largest gap first", value=groups > _MAX_ROWS, **state.choice("by-gap"))
        findings = st.toggle("Only groups that differ by more than chance", **state.choice("findings-only"))
        every = groups > _MAX_ROWS and st.toggle(f"Show all {groups}", **state.choice("every-group"))
    return {"by_gap": by_gap, "findings": findings, "most": layout.MAX_GROUPS if every else _MAX_ROWS}


def _threshold(found: RunResult, pair: tuple[Any, Any], space: Workspace, draft: Mapping[str, Any]) -> None:
    """Draw the two groups of the sentence with a threshold to drag, and thresholds by group to try."""
    result, threshold = found.audits[0].result, found.model["threshold"]
    if isinstance(threshold, float):
        plot(threshold_slider(result, pair, threshold), "group-threshold", tools=False)
        yes = notices.label(vocabulary().yes) or "favored"
        st.caption(
            f"Bars: people by score. Filled: {yes} at this threshold. Drag the slider, or use the "
            "arrow keys. This describes the people audited; others may differ."
        )
    moved = any(state.address_value(key) for key in ("cut", "preset", "by-group"))
    folded(
        "Thresholds by group, and the trade-off",
        "thresholds-more",
        lambda: other_thresholds(found, _attribute(result), space, draft),
        expanded=moved or not isinstance(threshold, float),
    )


def _scores(result: GroupsResult, exhibits: Mapping[str, Exhibit]) -> None:
    """Draw errors by measure, and the spread of scores."""
    attribute = _attribute(result)
    measure_tiles(result, attribute)
    if (exhibit := exhibits.get(f"scores_{attribute}")) is not None:
        show_exhibit(exhibit, name="group-scores")
    else:
        st.caption("These predictions are decisions only, so there are no scores to show.")


def _calibration(result: GroupsResult, exhibits: Mapping[str, Exhibit]) -> None:
    """Draw whether scores mean the same in every group."""
    if (exhibit := exhibits.get(f"calibration_{_attribute(result)}")) is not None:
        show_exhibit(exhibit, name="group-calibration")


def _combinations(result: GroupsResult) -> None:
    """Draw each group's differences from the reference, and list every group."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        attribute = _attribute(result)
        order = _order(result, attribute)
    spread = next(item for item in result.spreads if item.attribute == attribute)
    drawing = cached_figure(dots.differences, result, attribute, **order)
    _card(result, "differences", drawing, attribute, lambda: result.differences_frame(attribute))
    st.text(f"Reference group: {people_in(named_with(attribute, spread.reference))}.")
    table = _rows(result, attribute)
    groups = table["group"].tolist()
    told = table.assign(group=table["group"].map(in_words))
    _group_rows(result, attribute, told, groups, "group-verdicts", alt="Click a group to select its people")


def _test_tab(result: GroupsResult, exhibits: Mapping[str, Exhibit]) -> None:
    """Draw the second looks: small groups pooled, and the bootstrap."""
    attribute = _attribute(result)
    if (pooled := exhibits.get(f"pooled_{attribute}")) is not None:
        folded_exhibit(pooled, "group-pooled")
    again = result.bootstrap_frame(attribute)
    if len(again):
        with st.expander("Balanced accuracy by the bootstrap", key="group-bootstrap"):
            st.text("A second interval, by resampling people, beside the one shown.")
            st.dataframe(again, hide_index=True, column_config=number_columns(again))


def _group_rows(
    result: GroupsResult, attribute: str, table: pd.DataFrame, groups: list[str], key: str, *, alt: str
) -> None:
    """Draw a table of a row a group; a click on a row selects the group's people."""

    def opens(place: int | None) -> None:
        terms = None if place is None else layout.people_of(result, attribute).get(groups[place])
        if terms is not None:
            select(json.loads(terms), key)

    height = min(36 * (len(table) + 1), 196)
    clickable_table(table, key, opens, height=height, column_config=number_columns(table), alt=alt)


def _like(found: RunResult, space: Workspace, draft: Mapping[str, Any], result: GroupsResult) -> None:
    """Draw whether the gap remains like for like, and another model's rates beside these."""
    attribute = _attribute(result)
    survival_strip(space, draft, result, attribute)
    _second_model(space, found, result, attribute)


def _people(found: RunResult, space: Workspace, result: GroupsResult) -> None:
    """Show how the people selected are decided, where some are."""
    if only_selected(result.people) is None:
        st.text("Select people: click a group in a figure or a table.")
        return
    hidden = ["people"] if (result.people["people"] == 1).all() else []
    people = PeopleTable(found, "decided", {"hidden": hidden})
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
        "Compare with",
        ["(none)", *labels],
        format_func=lambda key: labels.get(key, key),
        **state.choice("beside"),
    )
    record = next((item for item in records if item["key"][:8] == chosen), None)
    if record is None:
        return
    try:
        table = beside(result, jobs.result(space, record["spec"]).audits[0].result)
    except (InputError, RunFailed) as error:
        notices.problem(str(error))
        return
    if attribute not in set(table["attribute"]):
        notices.note(f"The other run does not compare by {attribute}.")
        return
    figure = dots.beside(
        table,
        attribute,
        (f"this: {_model_words(found.spec)}", f"other: {labels[chosen]}"),
        people=layout.people_of(result, attribute),
    )
    figure_card("group-models", figure, lambda: table, wide=True)
    mine = table[table["attribute"] == attribute].drop(columns="attribute")
    _group_rows(
        result, attribute, mine, mine["group"].tolist(), "group-beside", alt="Rates of both models by group"
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
