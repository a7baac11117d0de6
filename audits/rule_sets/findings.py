"""From thousands of overlapping rule sets to different findings, and from one to what drives it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from audits.rule_sets.attributes import Attribute
from audits.rule_sets.cells import Cells, memberships
from audits.rule_sets.scoring import differences
from audits.rule_sets.sums import GroupSums
from audits.stats.shares import newcombe_ends

__all__ = ["Findings", "distinct", "neighbours", "profile", "rule_words"]


@dataclass(frozen=True, eq=False)
class Findings:
    """Rule sets gathered into findings.

    Attributes
    ----------
    leaders : int array (k,)
        The best-ranked rule set of each finding, in rank order.
    finding : int array (S,)
        Finding of every rule set, -1 where it belongs to none of the first k.
    """

    leaders: np.ndarray
    finding: np.ndarray


def distinct(
    cells: Cells,
    attributes: Sequence[Attribute],
    rules: np.ndarray,
    signs: np.ndarray,
    order: np.ndarray,
    *,
    most: int,
    overlap: float,
    leftover: float,
) -> Findings:
    """Walk down the ranking; a rule set too like an earlier one, or driven by it, is the same finding.

    Two rule sets are alike when the people in both make up at least `overlap` of the people in either and
    the difference points the same way, or when one is so like the rest of the other: then it is the same
    difference seen from the other side. A rule set is driven by an earlier one when, without that one's
    people, less than `leftover` of its difference is left: narrower groups of the same direction, and wider
    ones that differ only because of the people of the earlier one.

    Parameters
    ----------
    signs : array (S,)
        Sign of each difference.
    order : int array (S,)
        Rule sets from first to last.
    overlap : float in (0, 1]
    leftover : float in [0, 1)
        0 leaves nested groups apart.
    """
    finding = np.full(len(rules), -1)
    leaders: list[int] = []
    groups = GroupSums(cells, attributes, rules)
    everyone = np.array([cells.total, float(cells.favorable.sum())])
    sums = groups.of(np.column_stack([cells.n, cells.favorable]))
    position = 0
    while position < len(order) and len(leaders) < most:
        leader = int(order[position])
        if finding[leader] < 0:
            inside = memberships(cells, attributes, rules[leader : leader + 1])[0]
            both = groups.of(np.where(inside[:, None], np.column_stack([cells.n, cells.favorable]), 0.0))
            alike = _alike(sums, both, sums[leader], everyone, signs, signs[leader], overlap)
            if leftover > 0:
                alike |= _driven(sums, both, sums[leader], everyone, signs, signs[leader], leftover)
            finding[(finding < 0) & (alike | (np.arange(len(rules)) == leader))] = len(leaders)
            leaders.append(leader)
        position += 1
    return Findings(np.array(leaders, dtype=int), finding)


def _alike(
    sums: np.ndarray,
    both: np.ndarray,
    here: np.ndarray,
    everyone: np.ndarray,
    signs: np.ndarray,
    sign: float,
    overlap: float,
) -> np.ndarray:
    """Which rule sets share most of their people with the leader, or with everyone but the leader, (S,)."""
    n, shared = sums[:, 0], both[:, 0]
    same = shared / (n + here[0] - shared)
    rest = (n - shared) / np.maximum(everyone[0] - here[0] + shared, 1e-300)
    return ((same >= overlap) & (signs == sign)) | ((rest >= overlap) & (signs == -sign))


def _driven(
    sums: np.ndarray,
    both: np.ndarray,
    here: np.ndarray,
    everyone: np.ndarray,
    signs: np.ndarray,
    sign: float,
    leftover: float,
) -> np.ndarray:
    """Which rule sets lose most of their difference when the leader's people are left aside, (S,)."""
    inside, outside = sums - both, everyone - sums - here + both
    nobody_in, nobody_out = inside[:, 0] < 1e-9, outside[:, 0] < 1e-9
    with np.errstate(invalid="ignore", divide="ignore"):
        left = inside[:, 1] / inside[:, 0] - outside[:, 1] / outside[:, 0]
    gap = differences(sums[:, 0], sums[:, 1], everyone[0], everyone[1])
    # a part of the leader differs with it; what holds all others differs against it
    part = (nobody_in & (signs == sign)) | (nobody_out & (signs == -sign))
    return part | (~nobody_in & ~nobody_out & (left * signs < leftover * np.abs(gap)))


def neighbours(
    cells: Cells, attributes: Sequence[Attribute], rule_set: np.ndarray, *, level: float = 0.05
) -> pd.DataFrame:
    """Return the rule sets one step away, with their scores: what drives the difference.

    A step drops one rule, or widens or narrows it by one level. Intervals are Newcombe's, each by itself:
    they explain a finding, they test nothing.

    Parameters
    ----------
    rule_set : int array (m,)
        Rule of each attribute, -1 where it is free.
    """
    steps: list[tuple[str, np.ndarray]] = [("this group", rule_set)]
    used = [place for place in range(len(attributes)) if rule_set[place] >= 0]
    for place in used:
        dropped = rule_set.copy()
        dropped[place] = -1
        if (dropped >= 0).any():
            steps.append((f"without {attributes[place].words[rule_set[place]]}", dropped))
        steps += _one_level(attributes[place], rule_set, place)
    table = np.array([step for _, step in steps])
    n, good = GroupSums(cells, attributes, table).of(np.column_stack([cells.n, cells.favorable])).T
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


def rule_words(attributes: Sequence[Attribute], rules: np.ndarray) -> list[str]:
    """Return rule sets as a reader sees them: ``sex = Male, 40 ≤ age < 60``."""
    words = np.full(len(rules), "", dtype=object)
    for place, attribute in enumerate(attributes):
        used = rules[:, place] >= 0
        if used.any():
            own = np.array(attribute.words, dtype=object)[rules[used, place]]
            words[used] = np.where(words[used] == "", own, words[used] + ", " + own)
    return words.tolist()


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
