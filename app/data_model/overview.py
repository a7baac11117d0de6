"""The first screen of Data & model: what there is in one line, and what still needs an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from app import jobs
from app.drafts.validation import Problems
from app.latest_runs import latest_audits
from app.tables.summary import Summary
from app.widgets import notices
from app.workspaces.workspace import Workspace
from audits.errors import RunFailed
from audits.runs.registry import AUDITS
from audits.stats.text import count, percent, several
from audits.stats.vocabulary import vocabulary

_PLACES = {"columns": "Columns", "outcome": "Decision", "rows": "Rows", "model": "Decision", "rest": ""}


def overview(space: Workspace, draft: Mapping[str, Any], found: Problems, trial: str = "ready") -> None:
    """Write what there is, and below it what needs an answer before an audit can run.

    `trial` says how far the trial of the first audits is: only after it the data are ready.
    """
    with st.container(key="data-overview"):
        known = None if found.model is None else found.model.favored
        st.text(
            overview_words(
                found, _share_favored(space, draft, found.summary) if known is None else known, trial
            )
        )
    asked = [(_PLACES.get(place, ""), said) for place, each in found.sentences.items() for said in each]
    if asked:
        st.text("These need an answer:")
        notices.bullets([f"{place}: {said}" if place else said for place, said in asked])


def overview_words(found: Problems, favored: float | None, trial: str = "ready") -> str:
    """Say it in a line: ``5,000 applicants, 12 inputs, 72% approved, ready``."""
    words, summary = vocabulary(), found.summary
    if summary is None:
        return f"Not ready: {several(sum(map(len, found.sentences.values())), 'answer')} needed"
    told = [f"{count(summary.people)} {words.people}", several(found.inputs, "input")]
    if favored is not None:
        told.append(f"{percent(favored, 1)} {words.yes or 'favored'}")
    elif summary.favorable is not None:
        told.append(f"{percent(summary.favorable, 1)} {words.truth_yes or 'with a favorable outcome'}")
    needed = sum(map(len, found.sentences.values()))
    last = {"ready": ["ready"], "trying": [], "refused": ["not every audit can run"]}[trial]
    return ", ".join([*told, *(last if found.ready else [f"{several(needed, 'answer')} needed"])])


def _share_favored(space: Workspace, draft: Mapping[str, Any], summary: Summary | None) -> float | None:
    """Return the share of people whom the model favors, where their groups have been compared."""
    record = latest_audits(space, draft).get(AUDITS.first) if summary is not None else None
    if record is None:
        return None
    try:
        people = jobs.result(space, record["spec"]).audits[0].result.people
    except RunFailed:
        return None
    if not len(people) or "decision" not in people:
        return None
    return float(np.average(people["decision"].astype(bool), weights=people["people"]))
