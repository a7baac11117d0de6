"""People of a flow between two subgroups as a table, a row each."""

from __future__ import annotations

import pandas as pd

from audits.outcome_transport import OutcomeTransportResult


def _of_flow(result: OutcomeTransportResult, source: str, target: str) -> pd.DataFrame:
    return result.cell(source, target)[["share", "bias", "least", "most", "counterpart"]]


TABLES = {"of flow": _of_flow}
