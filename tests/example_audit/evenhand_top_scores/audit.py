"""The audit: shares of each group among the best-scored people, and the largest difference between two."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from audits.errors import InputError
from audits.stats import judge, largest_gap, wilson
from evenhand_top_scores.options import TopScoresOptions
from evenhand_top_scores.result import Group, TopScoresResult


def top_scores_audit(subject: Any, options: TopScoresOptions, *, rng: Any, progress: Any) -> TopScoresResult:
    """Count who is among the best; every row is one person."""
    data = subject.data
    for name in options.by:
        if name not in data.protected:
            raise InputError(
                "by", "must be protected attributes", name, f"choose among {list(data.protected)}"
            )
    progress(0.2, "Ordering people by score")
    scores = np.asarray(subject.scores, dtype=float)
    line = float(np.quantile(scores, 1 - options.best))
    best = scores >= line if options.ties == "in" else scores > line
    groups = pd.Series(data.groups[list(options.by)].astype(str).agg(" × ".join, axis=1).to_numpy())
    groups = groups.replace(dict(options.names))
    counts = pd.DataFrame({"group": groups, "best": best}).groupby("group")["best"].agg(["sum", "size"])
    kept = counts[counts["size"] >= options.smallest]
    left = int(counts["size"].sum() - kept["size"].sum())
    if len(kept) < 2:
        raise InputError("smallest", "must leave two groups", options.smallest, "take a smaller number")
    progress(0.7, "Comparing groups")
    table = tuple(
        Group(str(name), int(size), wilson(float(count), float(size), level=options.level))
        for name, (count, size) in zip(kept.index, kept.to_numpy(), strict=True)
    )
    gap = largest_gap(kept["sum"].to_numpy(), kept["size"].to_numpy(), level=options.level)
    most = max(table, key=lambda row: row.share.value or 0.0)
    least = min(table, key=lambda row: row.share.value or 0.0)
    people = pd.DataFrame(
        {"group": groups.to_numpy()[best], "score": scores[best]}, index=data.frame.index[best]
    )
    return TopScoresResult(
        options=asdict(options),
        judged=judge(gap, immaterial=(-options.material, options.material), level=options.level),
        finding=f"{_words(most)} are among the best {100 * options.best:g}%, against {_words(least)}.",
        warnings=(f"{left} people of smaller groups were left out.",) if left else (),
        table=table,
        people=people if options.list_people else people.iloc[:0],
    )


def _words(row: Group) -> str:
    share = row.share.value or 0.0
    return f"{round(share * row.n)} of {row.n} {row.group} people ({100 * share:.0f}%)"
