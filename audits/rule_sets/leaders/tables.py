"""The tables of a result, written once and read back: rule sets, rules, cells, people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from audits.models import Subject
from audits.rule_sets.family import RuleSetFamily
from audits.rule_sets.inference.permutation import Halves, LeaderInterval
from audits.rule_sets.perturbation.sampling import PerturbationScores
from audits.rule_sets.result import RuleSetsResult
from audits.subgroups.attributes import Attribute, rule_words
from audits.subgroups.cells import Cells
from audits.subgroups.scores import differences

MAX_ROWS = 50_000
_MAX_NODES, _MOST_RINGS = 600, 3


@dataclass(frozen=True, eq=False)
class RuleSetTests:
    """What the tests of every rule set say.

    Attributes
    ----------
    z, adjusted, low, high : float arrays (S,)
        z-score, p-value and interval, corrected for all.
    inference : dict
        How they were corrected.
    halves : Halves
    first : LeaderInterval
    bias : float
        How far the largest score lies above the truth because it was picked as the largest.
    """

    z: np.ndarray
    adjusted: np.ndarray
    low: np.ndarray
    high: np.ndarray
    inference: dict[str, Any]
    halves: Halves
    first: LeaderInterval
    bias: float


def rule_sets_table(
    family: RuleSetFamily, tests: RuleSetTests, sampled: PerturbationScores | None
) -> pd.DataFrame:
    """One row a distinct rule set, in the order of the search; without the words."""
    mined, counts, halves = family.mined, family.counts, tests.halves
    inside, outside = counts[0] / counts[1], counts[2] / counts[3]
    table: dict[str, np.ndarray] = {
        f"rule {place}": rules.astype(np.int16) for place, rules in enumerate(mined.rules.T)
    }
    table |= {
        "support": mined.n / family.cells.total,
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
    if family.contexts is not None:
        table["narrowed"] = family.contexts.narrowed
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


def cells_table(cells: Cells, sampled: PerturbationScores | None) -> pd.DataFrame:
    """One row a cell: the level of each attribute, people and favorable ones, drawn and perturbed."""
    table = {f"level {place}": codes for place, codes in enumerate(cells.codes.T)}
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


def read_counted(result: RuleSetsResult, measure: str | None = None) -> Cells:
    """Rebuild the cells, and their attributes without the rows' levels, from a result.

    Parameters
    ----------
    measure : str, optional
        One of the result's measures, whose people and sums the cells then hold; favorable decisions where it
        is left out.
    """
    attributes = []
    for item in result.attributes:
        own = result.rules[result.rules["attribute"] == item["name"]]
        admitted = np.zeros((len(own), len(item["levels"])), dtype=bool)
        for place, text in enumerate(own["levels"]):
            admitted[place, [int(level) for level in text.split()]] = True
        attributes.append(
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
    table, names = result.cells, ("people", "favorable")
    if measure is not None:
        names = f"{measure} people", f"{measure} sum"
    codes = table[[name for name in table if str(name).startswith("level ")]].to_numpy(dtype=np.int64)
    n, favorable = (table[name].to_numpy() for name in names)
    return Cells(tuple(attributes), codes, n, favorable, result.people["cell"].to_numpy())


def read_rules(table: pd.DataFrame) -> np.ndarray:
    """Return the rules of every row of the rule-set table, (S, m)."""
    return table[[name for name in table if str(name).startswith("rule ")]].to_numpy(dtype=np.int16)


def words_of(attributes: Sequence[Attribute], table: pd.DataFrame) -> list[str]:
    """Return each row's rule set in words."""
    return rule_words(attributes, read_rules(table))


def combination_tree(result: RuleSetsResult) -> pd.DataFrame:
    """Return people and favorable shares of every combination of levels, ring by ring from the inside out.

    The rings are the attributes of the first finding, then the others: 3 at most, and fewer where there would
    be more than 600 combinations.

    Returns
    -------
    DataFrame
        ``id``, ``parent`` ("" for the first ring), ``attribute``, ``level``, ``people``, ``favorable``
        (share) and ``difference`` from everyone else's share.
    """
    names = [item["name"] for item in result.attributes]
    first = [rule["attribute"] for rule in result.leaderboard[0].rules] if result.leaderboard else []
    rings = [*first, *(name for name in names if name not in first)][:_MOST_RINGS]
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
        gap = np.where(people < total, differences(people, favorable, total, good), 0.0)
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
