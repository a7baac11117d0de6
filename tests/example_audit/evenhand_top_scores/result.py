"""What the audit found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from audits.results import head, plain
from audits.stats import BaseResult, Estimate, Judgment


@dataclass(frozen=True)
class Group:
    """One group: its people, and the share of them who are among the best."""

    group: str
    n: int
    share: Estimate


@dataclass(frozen=True, eq=False)
class TopScoresResult(BaseResult):
    """Result of the audit; `people` are those among the best, by the user's row number."""

    options: dict[str, Any]
    judged: Judgment
    finding: str
    warnings: tuple[str, ...]
    table: tuple[Group, ...]
    people: pd.DataFrame

    def to_json(self) -> dict[str, Any]:
        """Return the result as it stands in results.json."""
        return {**head(self), "table": plain(self)["table"]}

    def to_frame(self) -> pd.DataFrame:
        """Return a row a group."""
        rows = [(row.group, row.n, row.share.value, row.share.low, row.share.high) for row in self.table]
        return pd.DataFrame(rows, columns=["group", "people", "among the best", "low", "high"])
