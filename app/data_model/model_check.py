"""What a model file was found to be: what feeds what, and what it says of the first people."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from app.widgets import notices
from audits.checks import choices
from audits.models.inspection import ModelReport
from audits.stats.text import several

_MAX_SHOWN = 11


def checked_section(found: ModelReport) -> None:
    """Show the columns that feed the model with the first person's values, and five people's scores.

    Of a column of predictions what was noticed about them is all that there is to say.
    """
    if found.format == "predictions":
        notices.bullets(found.notes)
        return
    gives = f" and predicts {choices(found.classes)}" if found.classes else ""
    opened = "The service answered" if found.format == "endpoint" else f"{found.format} model loaded"
    st.text(f"{opened}: it reads {several(len(found.feeds), 'column')}{gives}.")
    table = pd.DataFrame(
        [(each.input, each.column, each.first) for each in found.feeds],
        columns=["model input", "column", "first person"],
    )
    st.dataframe(
        table,
        hide_index=True,
        height="content" if len(table) <= _MAX_SHOWN else 388,
        alt="Which column feeds which input of the model, with the first person's values",
    )
    scores = ", ".join(f"{score:.4g}" for score in found.scores)
    st.text(f"Favorable scores of the first {len(found.scores)} people: {scores}.")
    notices.bullets(found.notes)
