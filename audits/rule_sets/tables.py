"""The tables of a result, written once and read back: rule sets, rules, cells, people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.models import Subject
from audits.rule_sets.attributes import Attribute
from audits.rule_sets.cells import Cells
from audits.rule_sets.findings import rule_words
from audits.rule_sets.inference import Halves
from audits.rule_sets.mining import Mined
from audits.rule_sets.sampling import Sampled

__all__ = [
    "cells_table",
    "people_table",
    "read_attributes_table",
    "read_cells_table",
    "read_rules",
    "rule_sets_table",
    "rules_table",
]

MOST_ROWS = 50_000


@dataclass(frozen=True, eq=False)
class Tests:
    """Per rule set: z-score, adjusted p-value, ends of the corrected interval, (S,) each."""

    z: np.ndarray
    adjusted: np.ndarray
    low: np.ndarray
    high: np.ndarray


def rule_sets_table(
    attributes: Sequence[Attribute],
    cells: Cells,
    mined: Mined,
    tests: Tests,
    halves: Halves,
    sampled: Sampled | None,
) -> pd.DataFrame:
    """One row a distinct rule set, in the order of the search; without the words."""
    total, good = cells.total, float(cells.favorable.sum())
    inside, outside = mined.favorable / mined.n, (good - mined.favorable) / (total - mined.n)
    table: dict[str, np.ndarray] = {
        f"rule {place}": mined.rules[:, place].astype(np.int16) for place in range(len(attributes))
    }
    table |= {
        "support": mined.n / total,
        "n_in": mined.n,
        "favorable_n_in": mined.favorable,
        "favorable_in": inside,
        "favorable_out": outside,
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


def cells_table(attributes: Sequence[Attribute], cells: Cells, sampled: Sampled | None) -> pd.DataFrame:
    """One row a cell: the level of each attribute, people and favourable ones, drawn and perturbed."""
    table = {f"level {place}": cells.codes[:, place] for place in range(len(attributes))}
    table |= {"people": cells.n, "favorable": cells.favorable}
    if sampled is not None and sampled.pool is not None:
        table |= {"drawn": sampled.pool.drawn, "drawn_favorable": sampled.pool.favorable}
    return pd.DataFrame(table)


def people_table(subject: Subject, cells: Cells) -> pd.DataFrame:
    """One row a person: cell, decision, score; where rows stand for several people, how many."""
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
