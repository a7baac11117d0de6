"""How many bytes of memory tables and results take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from audits.results import tables

if TYPE_CHECKING:
    from audits.runs.result import RunResult

__all__ = ["frame_bytes", "result_bytes"]

_BESIDE = 2_200_000  # numbers and sentences of an audit, and the figures that pages keep of it, about


def frame_bytes(frame: pd.DataFrame) -> int:
    """Return the bytes of a frame, its texts included."""
    return int(frame.memory_usage(deep=True).sum())


def result_bytes(found: RunResult) -> int:
    """Return about how many bytes a result takes."""
    frames = (table for audit in found.audits for table in tables(audit.result).values())
    second = 0 if found.compared is None else result_bytes(found.compared.second)
    return sum(map(frame_bytes, frames)) + _BESIDE * len(found.audits) + second
