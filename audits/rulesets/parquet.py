"""The rule-set audit of decisions in Parquet files that need not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from audits.checks import build, generator
from audits.progress import Progress, part, silent
from audits.rulesets.options import RuleSetsOptions
from audits.rulesets.packing import Audited
from audits.rulesets.result import RuleSetsResult
from audits.rulesets.ruleset import audit_cells
from audits.rulesets.streaming import count_parquet

__all__ = ["rule_sets_parquet"]


def rule_sets_parquet(
    path: Path | str,
    *,
    protected: Sequence[str],
    favorable: str,
    support: float = 0.05,
    bins: int = 10,
    intervals: Literal["runs", "thresholds", "bins"] = "runs",
    depth: int | None = None,
    max_candidates: int = 2_000_000,
    permutations: int = 999,
    correction: Literal["max", "holm", "bh"] = "max",
    level: float = 0.05,
    tolerance: float = 0.0,
    material: float = 0.10,
    top: int = 20,
    overlap: float = 0.5,
    rank_by: Literal["score", "evidence"] = "score",
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RuleSetsResult:
    """Find the groups that were decided differently, in Parquet files read twice, batch by batch.

    Parameters
    ----------
    path : path
        A file, or a folder of files with the same columns.
    protected : sequence of str
        Columns of the rules: numbers are cut into `bins` of equal width, others are categories.
    favorable : str
        Column of favourable decisions, true or false, without gaps.

    Other parameters are those of `RuleSetsOptions`.

    Returns
    -------
    RuleSetsResult
        As of `rule_sets`, but its ``people`` have no rows, and nothing is perturbed: no model is called.

    Raises
    ------
    InputError
        No such file or column, too many values or combinations, decisions that are not true or false,
        or no group as large as the support.
    """
    given = {
        "protected": tuple(protected),
        "support": support,
        "bins": bins,
        "intervals": intervals,
        "depth": depth,
        "max_candidates": max_candidates,
        "samples": 0,
        "permutations": permutations,
        "correction": correction,
        "level": level,
        "tolerance": tolerance,
        "material": material,
        "top": top,
        "overlap": overlap,
        "rank_by": rank_by,
    }
    options = build(RuleSetsOptions, given, "rule_sets")
    attributes, cells = count_parquet(
        path, protected, favorable, bins=bins, intervals=intervals, progress=part(progress, 0.0, 0.5)
    )
    nobody = pd.DataFrame(
        {"cell": np.empty(0, np.int64), "favorable": np.empty(0, bool), "score": np.empty(0)},
        index=pd.RangeIndex(0, name="row"),
    )
    audited = Audited(rows=int(cells.total), outcome=favorable, invents=False, people=nobody)
    notes = tuple(
        f"Everyone has the same {item.name}, so no rule can use it."
        for item in attributes
        if not len(item.rules)
    )
    return audit_cells(
        audited,
        attributes,
        cells,
        options,
        notes,
        generator(rng).spawn(5),
        lambda *_: None,
        part(progress, 0.5, 1.0),
    )
