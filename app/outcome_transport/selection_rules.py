"""People selected by the flow from one subgroup to another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from app.selection import WHERE, Kind, SelectionRules
from audits.errors import InputError
from audits.outcome_transport import OutcomeTransportResult


def _of_flow(result: OutcomeTransportResult, flow: Sequence[str]) -> pd.Index:
    source, target = flow
    if source not in result.flows.rows or target not in result.flows.columns:
        raise InputError(WHERE, "is of a flow that this audit did not find", f"{source} → {target}")
    return result.cell(source, target).index


def _is_flow(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(isinstance(name, str) for name in value)


OWN = SelectionRules({"flow": Kind(_is_flow, _of_flow, lambda _, flow: " with counterparts in ".join(flow))})
