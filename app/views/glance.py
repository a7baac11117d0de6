"""At a glance: the headline of all audits, the groups ranked, and the five questions."""

from __future__ import annotations

import json

import plotly.graph_objects as go
import streamlit as st

from app import state
from app.drafts.validation import whole_model
from app.figure_cache import cached_figure, cached_section
from app.glance.matrix import badge_matrix
from app.glance.questions import question_cards
from app.glance.runs import begin_example, runs_under_way, usual_options, watch_runs
from app.latest_runs import earlier_runs, latest_comparison, latest_together
from app.widgets import notices
from app.widgets.audit_page import open_data, to_data
from app.widgets.results.exhibits import show_section
from app.widgets.results.figure_card import figure_card
from app.widgets.results.result_frame import headline as result_headline
from audits.errors import InputError
from audits.groups.figures.ranked import draw_ranked, ranked_groups
from audits.groups.result import GroupsResult
from audits.records import Section
from audits.runs.headline import findings_of, headline_of
from audits.runs.registry import AUDITS


def _ranked(result: GroupsResult, asked: str) -> go.Figure:
    """Draw the groups of the headline; `asked` are those asked about, as JSON."""
    return draw_ranked(result, ranked_groups(result, json.loads(asked)))  # type: ignore[arg-type]  # some are there


space = state.workspace()
draft, data, _summary = open_data(space, "At a glance")
try:
    whole_model(draft["spec"]["model"])
    usual = usual_options(draft, data)
    begun = runs_under_way(space, draft, usual)
except InputError as error:
    notices.problem(str(error))
    to_data()
    st.stop()

example = draft["source"]["kind"] == "sample"
latest, together = latest_together(space, draft)
first = AUDITS.first
if example and not space.read_only and begin_example(space, draft, usual, {*latest, *begun}):
    st.rerun()

findings = findings_of(together) if latest else []
headline = headline_of(together, usual=usual) if findings else None
if headline is not None:
    result_headline(headline.leads.sentence, headline.leads.judged)
    if headline.asked is not None:
        badge, _, why = headline.asked.badge_text.partition(" · ")
        badge = badge if why in headline.asked.sentence else headline.asked.badge_text  # said once
        st.text(f"Asked: {badge}. {headline.asked.sentence}")
    if len(latest) > 1:
        st.caption(f"Corrected for all {len(latest)} audits (Holm). {headline.leads.across.note}")
elif earlier_runs(space, draft):
    st.text("No audit has been run with these settings. Earlier results are saved.")
    query = state.address("Report & saved audits")
    st.page_link("views/saved.py", label="Open saved audits", query_params=query)
elif latest_comparison(space, draft) is None:
    st.text("No audit has been run on these data and this model.")
going = {name: each.run for name, each in begun.items() if each.going and each.run is not None}
if going:
    watch_runs(going)

if first in latest:
    result = together.audits[list(latest).index(first)].result
    asked = [draft["options"][key] for key in ("source", "target") if key in draft["options"]]
    if (groups := ranked_groups(result, asked)) is not None:
        figure_card(
            "glance-groups",
            cached_figure(_ranked, result, json.dumps(asked)),
            result.to_frame,
            heading=groups.title,
            caption=groups.caption,
        )
    elif result.amounts is not None:
        show_section(Section("", cached_section(AUDITS[first], result).exhibits[:1]), prefix="glance-")
    badge_matrix(result)

question_cards(space, draft, findings, headline, latest, usual, begun)
