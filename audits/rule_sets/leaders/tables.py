"""The tables of a result, written once and read back: rule sets, rules, cells, people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.models import Subject
from audits.rule_sets.inference.permutation import Halves
from audits.rule_sets.perturbation.sampling import PerturbationScores
from audits.rule_sets.result import RuleSetsResult
from audits.subgroups.attributes import Attribute, rule_words
from audits.subgroups.cells import Cells
from audits.subgroups.search import FrequentRuleSets

__all__ = [
    "cells_table",
    "combination_tree",
    "people_table",
    "read_attributes_table",
    "read_cells_table",
    "read_rules",
    "rule_sets_table",
    "rules_table",
]

MAX_ROWS = 50_000
_MAX_NODES = 600


@dataclass(frozen=True, eq=False)
class RuleSetTests:
    """Per rule set: z-score, adjusted p-value, ends of the corrected interval, (S,) each."""

    z: np.ndarray
    adjusted: np.ndarray
    low: np.ndarray
    high: np.ndarray


def rule_sets_table(
    attributes: Sequence[Attribute],
    cells: Cells,
    mined: FrequentRuleSets,
    counts: tuple[np.ndarray, ...],
    tests: RuleSetTests,
    halves: Halves,
    sampled: PerturbationScores | None,
) -> pd.DataFrame:
    """One row a distinct rule set, in the order of the search; without the words."""
    inside, outside = counts[0] / counts[1], counts[2] / counts[3]
    table: dict[str, np.ndarray] = {
        f"rule {place}": mined.rules[:, place].astype(np.int16) for place in range(len(attributes))
    }
    table |= {
        "support": mined.n / cells.total,
        "n_in": mined.n,
        "favorable_n_in": mined.favorable,
        "favorable_in": inside,
        "favorable_out": outside,
        "n_out": counts[3],
        "difference": inside - outside,
        "low": tests.low,
        "high": tests.high,
        "z": tests.z,
        "adjusted_p": tests.adjusted,
        "discovered": halves.discovered,
        "confirmed": halves.confirmed,
        "equal": mined.same - 1,
    }
    if sampled is not None:
        table |= {
            "sampled_in": sampled.inside,
            "sampled_out": sampled.outside,
            "sampled_n_in": sampled.n_inside,
            "sampled_n_out": sampled.n_outside,
            "margin": sampled.margin,
        }
    return pd.DataFrame(table)


def rules_table(attributes: Sequence[Attribute]) -> pd.DataFrame:
    """One row a rule, with the positions of the levels it admits."""
    rows: list[tuple[Any, ...]] = [
        (attribute.name, rule, words, int(length), " ".join(map(str, np.flatnonzero(admitted))))
        for attribute in attributes
        for rule, (words, length, admitted) in enumerate(
            zip(attribute.words, attribute.length, attribute.rules, strict=True)
        )
    ]
    return pd.DataFrame(rows, columns=["attribute", "rule", "words", "length", "levels"])


def cells_table(
    attributes: Sequence[Attribute], cells: Cells, sampled: PerturbationScores | None
) -> pd.DataFrame:
    """One row a cell: the level of each attribute, people and favorable ones, drawn and perturbed."""
    table = {f"level {place}": cells.codes[:, place] for place in range(len(attributes))}
    table |= {"people": cells.n, "favorable": cells.favorable}
    if sampled is not None and sampled.pool is not None:
        table |= {"drawn": sampled.pool.drawn, "drawn_favorable": sampled.pool.favorable}
    return pd.DataFrame(table)


def people_table(subject: Subject, cells: Cells) -> pd.DataFrame:
    """One row per person: cell, decision, score; where rows stand for several people, how many."""
    counts = {} if subject.data.weights is None else {"people": subject.data.weights}
    return pd.DataFrame(
        {"cell": cells.row_cell, "favorable": subject.decisions, "score": subject.scores, **counts},
        index=subject.data.frame.index.rename("row"),
    )


def read_attributes_table(described: Sequence[dict[str, Any]], rules: pd.DataFrame) -> tuple[Attribute, ...]:
    """Rebuild the attributes (without the rows' levels) from a result."""
    found = []
    for item in described:
        own = rules[rules["attribute"] == item["name"]]
        admitted = np.zeros((len(own), len(item["levels"])), dtype=bool)
        for place, text in enumerate(own["levels"]):
            admitted[place, [int(level) for level in text.split()]] = True
        found.append(
            Attribute(
                item["name"],
                tuple(item["levels"]),
                np.empty(0, dtype=np.int64),
                admitted,
                tuple(own["words"]),
                own["length"].to_numpy(),
                item["protected"],
            )
        )
    return tuple(found)


def read_cells_table(table: pd.DataFrame, row_cell: np.ndarray) -> Cells:
    """Rebuild the cells from a result."""
    codes = table[[name for name in table if str(name).startswith("level ")]].to_numpy(dtype=np.int64)
    return Cells(codes, table["people"].to_numpy(), table["favorable"].to_numpy(), np.asarray(row_cell))


def read_rules(table: pd.DataFrame) -> np.ndarray:
    """Return the rules of every row of the rule-set table, (S, m)."""
    return table[[name for name in table if str(name).startswith("rule ")]].to_numpy(dtype=np.int16)


def words_of(attributes: Sequence[Attribute], table: pd.DataFrame) -> list[str]:
    """Return each row's rule set in words."""
    return rule_words(attributes, read_rules(table))


def combination_tree(
    result: RuleSetsResult, attributes: Sequence[str] | None = None, *, most_rings: int = 3
) -> pd.DataFrame:
    """Return people and favorable shares of every combination of levels, ring by ring.

    Parameters
    ----------
    attributes : sequence of str, optional
        Rings from the inside out; by default the attributes of the first finding, then the others.
    most_rings : int
        Rings at most; fewer where there would be more than 600 combinations.

    Returns
    -------
    DataFrame
        ``id``, ``parent`` ("" for the first ring), ``attribute``, ``level``, ``people``, ``favorable``
        (share) and ``difference`` from everyone else's share.
    """
    names = [item["name"] for item in result.attributes]
    first = [rule["attribute"] for rule in result.leaderboard[0].rules] if result.leaderboard else []
    rings = list(attributes or [*first, *(name for name in names if name not in first)])[:most_rings]
    total, good = float(result.cells["people"].sum()), float(result.cells["favorable"].sum())
    parts: list[pd.DataFrame] = []
    for depth in range(1, len(rings) + 1):
        columns = [f"level {names.index(name)}" for name in rings[:depth]]
        counted = result.cells.groupby(columns, sort=True)[["people", "favorable"]].sum().reset_index()
        if depth > 1 and sum(map(len, parts)) + len(counted) > _MAX_NODES:
            break
        levels = result.attributes[names.index(rings[depth - 1])]["levels"]
        path = ["/".join(map(str, row)) for row in counted[columns].to_numpy()]
        people, favorable = counted["people"].to_numpy(), counted["favorable"].to_numpy()
        others = total - people
        with np.errstate(invalid="ignore", divide="ignore"):
            gap = np.where(others > 0, favorable / people - (good - favorable) / others, 0.0)
        parts.append(
            pd.DataFrame(
                {
                    "id": path,
                    "parent": [step.rpartition("/")[0] for step in path],
                    "attribute": rings[depth - 1],
                    "level": [levels[place] for place in counted[columns[-1]]],
                    "people": people,
                    "favorable": favorable / people,
                    "difference": gap,
                }
            )
        )
    return pd.concat(parts, ignore_index=True)
