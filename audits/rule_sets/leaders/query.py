"""What is looked at in a finished result: the leaderboard under other choices, one group, those near it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from audits.rule_sets.leaders.leaderboard import distinct, leaders, one_row, rank_key
from audits.rule_sets.leaders.tables import read_counted, read_rules, words_of
from audits.rule_sets.result import LeaderRow, RuleSetsResult
from audits.stats.shares import newcombe_ends
from audits.subgroups.attributes import Attribute, rule_words
from audits.subgroups.cells import Cells, memberships
from audits.subgroups.sums import GroupSums
from audits.subgroups.texts import category_shares, reach


def refine(
    result: RuleSetsResult,
    *,
    support: float | None = None,
    tolerance: float | None = None,
    margin: float | None = None,
    attributes: Sequence[str] | None = None,
    direction: str | None = None,
    top: int | None = None,
) -> tuple[LeaderRow, ...]:
    """Return the leaderboard under other choices, from a finished result.

    Parameters
    ----------
    support : float
        A larger smallest share of people (of texts: of those with some term of each category, Eq. 3);
        p-values and intervals, corrected for more, stay valid.
    tolerance : float
        Score that the auditor tolerates: it decides which rows are evidence.
    margin : float
        Only rule sets whose margin of error is at most this.
    attributes : sequence of str
        Only rule sets that constrain all of these.
    direction : {"advantaged", "harmed"}
    top : int
        Rows.
    """
    options = dict(result.options)
    options |= {key: value for key, value in (("tolerance", tolerance), ("top", top)) if value is not None}
    table = result.rule_sets
    keep = np.ones(len(table), dtype=bool)
    if support is not None:
        keep &= _support(result) >= support * (1 - 1e-12)
    if margin is not None and "margin" in table:
        keep &= table["margin"].to_numpy() <= margin
    names = [item["name"] for item in result.attributes]
    for name in attributes or ():
        keep &= table[f"rule {names.index(name)}"].to_numpy() >= 0
    if direction is not None:
        keep &= (table["difference"].to_numpy() > 0) == (direction == "advantaged")
    cells = read_counted(result)
    return leaders(table[keep], cells, options, result.inference)


def _support(result: RuleSetsResult) -> np.ndarray:
    """Share by which a rule set is frequent, (S,)."""
    table = result.rule_sets
    if result.options["text"] is None:
        return table["support"].to_numpy()
    cells = read_counted(result)
    return reach(category_shares(cells), read_rules(table))


def alike(result: RuleSetsResult, number: int, rows: Sequence[LeaderRow]) -> pd.DataFrame:
    """Return the rule sets that count as the finding of row `number` of the rule-set table, best first.

    Parameters
    ----------
    rows : sequence of LeaderRow
        The leaderboard that the finding stands on; what an earlier row has is no other's.
    """
    table = result.rule_sets
    cells = read_counted(result)
    leading = table.index.get_indexer(pd.Index([row.number for row in rows]))
    signs = np.sign(table["difference"].to_numpy())
    options = {**result.options, "top": len(rows)}
    _, finding = distinct(cells, read_rules(table), signs, leading, options)
    place = table.index.get_loc(number)
    held = table[(finding >= 0) & (finding == finding[place]) & (table.index != number)]
    order = (-rank_key(held, result.options["rank_by"])).sort_values(kind="stable").index
    held = held.loc[order]
    columns = ["n_in", "favorable_in", "favorable_out", "difference", "low", "high", "adjusted_p"]
    words = pd.Series(words_of(cells.attributes, held), index=held.index, dtype=object)
    return pd.concat([words.rename("rule_set"), held[columns]], axis=1)


def row_of(result: RuleSetsResult, number: int) -> LeaderRow:
    """Return row `number` of the rule-set table as a leaderboard has it."""
    cells = read_counted(result)
    return one_row(result.rule_sets, number, cells, result.options, result.inference)


def group_neighbours(result: RuleSetsResult, number: int) -> pd.DataFrame:
    """Return the rule sets one step from row `number` of the rule-set table."""
    cells = read_counted(result)
    chosen = read_rules(result.rule_sets.loc[[number]])[0]
    return neighbours(cells, chosen, level=result.options["level"])


def members(result: RuleSetsResult, number: int) -> np.ndarray:
    """Return who is in row `number` of the rule-set table, bool (n,), in the order of ``people``."""
    cells = read_counted(result)
    inside = memberships(cells, read_rules(result.rule_sets.loc[[number]]))[0]
    return inside[cells.row_cell]


def neighbours(cells: Cells, rule_set: np.ndarray, *, level: float = 0.05) -> pd.DataFrame:
    """Return the rule sets one step away, with their scores: what drives the difference.

    A step drops one rule, or widens or narrows it by one level. Intervals are Newcombe's, each by itself:
    they explain a finding, they test nothing.

    Parameters
    ----------
    rule_set : int array (m,)
        Rule of each attribute, -1 where it is free.
    """
    attributes = cells.attributes
    steps: list[tuple[str, np.ndarray]] = [("this group", rule_set)]
    used = [place for place in range(len(attributes)) if rule_set[place] >= 0]
    for place in used:
        dropped = rule_set.copy()
        dropped[place] = -1
        if (dropped >= 0).any():
            steps.append((f"without {attributes[place].words[rule_set[place]]}", dropped))
        steps += _one_level(attributes[place], rule_set, place)
    table = np.array([step for _, step in steps])
    n, good = GroupSums(cells, table).of(np.column_stack([cells.n, cells.favorable])).T
    fits = (n > 0) & (n < cells.total)
    rows = pd.DataFrame(
        {
            "step": [words for words, _ in steps],
            "rule_set": rule_words(attributes, table),
            "n_in": n,
            "good": good,
        }
    )
    rows = rows[fits]
    total, all_good = cells.total, float(cells.favorable.sum())
    rows["favorable_in"] = rows["good"] / rows["n_in"]
    rows["favorable_out"] = (all_good - rows["good"]) / (total - rows["n_in"])
    rows["difference"] = rows["favorable_in"] - rows["favorable_out"]
    counts = rows["good"].to_numpy(), rows["n_in"].to_numpy()
    rest = all_good - counts[0], total - counts[1]
    rows["low"], rows["high"] = newcombe_ends(*counts, *rest, level=level)
    return rows.drop(columns="good").reset_index(drop=True)


def profile(
    frame: pd.DataFrame, inside: np.ndarray, columns: Sequence[str], *, most: int = 12
) -> pd.DataFrame:
    """Return how the people inside differ from those outside in each column, most different first.

    A number shows its means, and their distance in standard deviations of everyone; a category shows the
    value whose share differs most. Rows without a value are left out of that row's figures.

    Parameters
    ----------
    inside : bool array (n,)
    """
    rows = []
    for name in columns:
        column = frame[name]
        if (
            pd.api.types.is_numeric_dtype(column)
            and not pd.api.types.is_bool_dtype(column)
            and column.nunique() > 2
        ):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            spread = float(np.nanstd(values))
            known = ~np.isnan(values)
            if spread > 0 and (known & inside).any() and (known & ~inside).any():
                means = float(values[known & inside].mean()), float(values[known & ~inside].mean())
                rows.append((name, "mean", *means, (means[0] - means[1]) / spread))
        else:
            shares = pd.crosstab(column.astype("string").fillna("(missing)"), inside, normalize="columns")
            if shares.shape[1] == 2 and len(shares) > 1:
                within, without = shares[True].to_numpy(), shares[False].to_numpy()
                most_apart = int(np.abs(within - without).argmax())
                pair = float(within[most_apart]), float(without[most_apart])
                rows.append((name, f"share of {shares.index[most_apart]}", *pair, pair[0] - pair[1]))
    table = pd.DataFrame(rows, columns=["column", "figure", "inside", "outside", "distance"])
    order = table["distance"].abs().sort_values(ascending=False, kind="stable").index
    return table.loc[order].head(most).reset_index(drop=True)


def _one_level(attribute: Attribute, rule_set: np.ndarray, place: int) -> list[tuple[str, np.ndarray]]:
    """The rules of an attribute that admit one level more or one fewer."""
    now = attribute.rules[rule_set[place]]
    changed = attribute.rules != now
    found = []
    for rule in np.flatnonzero(changed.sum(1) == 1):
        step = rule_set.copy()
        step[place] = rule
        grows = attribute.rules[rule].sum() > now.sum()
        found.append((f"{'widened' if grows else 'narrowed'} to {attribute.words[rule]}", step))
    return found
