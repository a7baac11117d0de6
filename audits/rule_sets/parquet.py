"""The rule-set audit of decisions in Parquet files that need not fit into memory.

`rule_sets_parquet` is for a notebook; `rule_sets_streamed` does what a spec says.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from audits.checks import build, generator
from audits.data import DataSpec
from audits.errors import InputError
from audits.models import ModelSpec
from audits.progress import Progress, part, silent
from audits.rule_sets.attributes import Attribute
from audits.rule_sets.audit import audit_cells
from audits.rule_sets.cells import Cells
from audits.rule_sets.decided import decided_by
from audits.rule_sets.levels import Ruled
from audits.rule_sets.options import RuleSetsOptions
from audits.rule_sets.packing import Audited
from audits.rule_sets.result import RuleSetsResult
from audits.rule_sets.streaming import count_parquet, open_parquet, true_or_false

__all__ = ["rule_sets_parquet", "rule_sets_streamed"]


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
    leftover: float = 0.5,
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
        "leftover": leftover,
        "rank_by": rank_by,
    }
    options = build(RuleSetsOptions, given, "rule_sets")
    ruled = [Ruled(name=name, bins=bins, intervals=intervals) for name in protected]
    attributes, cells = count_parquet(
        open_parquet([Path(path)]), ruled, true_or_false(favorable), progress=part(progress, 0.0, 0.5)
    )
    return _audit(attributes, cells, options, favorable, rng, progress)


def rule_sets_streamed(
    paths: Sequence[Path],
    data: DataSpec,
    model: ModelSpec,
    threshold: float | dict[str, dict[str, float]],
    options: RuleSetsOptions,
    *,
    rng: np.random.Generator | int | None = None,
    progress: Progress = silent,
) -> RuleSetsResult:
    """Run the rule-set audit of a spec whose Parquet data hold the predictions, batch by batch.

    Parameters
    ----------
    paths : sequence of path
        Files or folders of ``data.path``.
    data, model, threshold
        As the spec has them; ``model.predictions`` names the column.

    Raises
    ------
    InputError
        What needs all rows at once, such as a filter or quantiles; and as `rule_sets_parquet`.
    """
    _check_streamed(data, threshold, options)
    names = data.protected if options.protected is None else options.protected
    if not names:
        raise InputError(
            "rule_sets.protected", "must name at least one attribute", advice="name one in data.protected"
        )
    ruled = [_ruled(name, data, options, protected=True) for name in names]
    ruled += [_ruled(name, data, options, protected=False) for name in options.context]
    decided, outcome = decided_by(model, data, float(threshold))  # type: ignore[arg-type]
    attributes, cells = count_parquet(open_parquet(paths), ruled, decided, progress=part(progress, 0.0, 0.5))
    return _audit(attributes, cells, options, outcome, rng, progress)


def _check_streamed(data: DataSpec, threshold: object, options: RuleSetsOptions) -> None:
    """Refuse what would need every row at once, or would be passed over in silence."""
    given = {
        "data.keep": bool(data.keep),
        "data.recode": bool(data.recode),
        "data.label": data.label is not None,
        "data.weights": data.weights is not None,
        "data.missing": data.missing == "drop",
        "data.read": data.read.missing is not None or data.read.names is not None,
        "threshold by group": not isinstance(threshold, int | float),
        "rule_sets.text": options.text is not None,
        "rule_sets.binning: quantile": options.binning == "quantile",
    }
    for where, there in given.items():
        if there:
            raise InputError(
                where,
                "cannot be used with a table too large to be read whole",
                advice="leave it out, apply it to the file, or draw a sample",
            )


def _ruled(name: str, data: DataSpec, options: RuleSetsOptions, *, protected: bool) -> Ruled:
    own = isinstance(options.bins, dict) and name in options.bins
    chosen = options.bins.get(name) if isinstance(options.bins, dict) else options.bins
    return Ruled(
        name=name,
        bins=10 if chosen is None else chosen,
        ranges=data.bins.get(name) if protected and not own else None,
        subsets=options.categories == "subsets",
        intervals=options.intervals,
        kind=data.kinds.get(name),
        protected=protected,
    )


def _audit(
    attributes: tuple[Attribute, ...],
    cells: Cells,
    options: RuleSetsOptions,
    outcome: str,
    rng: np.random.Generator | int | None,
    progress: Progress,
) -> RuleSetsResult:
    nobody = pd.DataFrame(
        {"cell": np.empty(0, np.int64), "favorable": np.empty(0, bool), "score": np.empty(0)},
        index=pd.RangeIndex(0, name="row"),
    )
    audited = Audited(rows=int(cells.total), outcome=outcome, invents=False, people=nobody)
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
