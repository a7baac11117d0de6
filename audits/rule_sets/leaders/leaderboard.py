"""The leaderboard: rule sets ranked, and gathered into different findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from audits.rule_sets.inference.permutation import exact_p
from audits.rule_sets.inference.verdicts import difference_of, is_evidence, judge_row
from audits.rule_sets.leaders.contributions import stated_contributions
from audits.rule_sets.leaders.tables import read_rules, words_of
from audits.rule_sets.result import LeaderRow, SampledScore, SweepRow
from audits.stats import Estimate, newcombe, wilson
from audits.subgroups.attributes import Attribute
from audits.subgroups.cells import Cells, memberships
from audits.subgroups.scores import differences, margin
from audits.subgroups.sums import GroupSums
from audits.subgroups.texts import reach

_SWEPT = (0.01, 0.05, 0.10, 0.20, 0.50)


def leaders(
    table: pd.DataFrame, cells: Cells, options: dict[str, Any], inference: dict[str, Any]
) -> tuple[LeaderRow, ...]:
    """Return the first different findings of a rule-set table: those with evidence first, by their score.

    By score alone (the paper's order) luck would lead: the smallest groups, and those that leave out a
    handful.
    """
    if table.empty:
        return ()
    table = _whole(table, cells)
    key = rank_key(table, options["rank_by"])
    evident = is_evidence(table, options)
    signs = np.sign(table["difference"].to_numpy())
    # a group and those whom it is compared with score alike: the smaller one names the finding; in a context
    # the one that is worse off
    narrowed = table["narrowed"].to_numpy() if "narrowed" in table else np.zeros(len(table), dtype=bool)
    first = np.where(narrowed, signs, table["n_in"].to_numpy())
    order = np.lexsort((first, -key.round(12).to_numpy(), ~evident))
    leading, finding = distinct(cells, read_rules(table), signs, order, options)
    sizes = np.bincount(finding[finding >= 0], minlength=len(leading))
    return _rows(table.iloc[leading], cells, options, inference, sizes - 1)


def rank_key(table: pd.DataFrame, rank_by: str) -> pd.Series:
    """Return what rule sets are ranked by, the largest first."""
    if rank_by == "sampled" and "sampled_in" in table:
        return (table["sampled_in"] - table["sampled_out"]).abs()
    return table["z" if rank_by == "evidence" else "difference"].abs()


def one_row(
    table: pd.DataFrame, number: int, cells: Cells, options: dict[str, Any], inference: dict[str, Any]
) -> LeaderRow:
    """Return row `number` of the rule-set table as a leaderboard has it, by itself."""
    shown = _whole(table.loc[[number]], cells)
    return _rows(shown, cells, options, inference, np.zeros(1))[0]


def _rows(
    shown: pd.DataFrame, cells: Cells, options: dict[str, Any], inference: dict[str, Any], similar: np.ndarray
) -> tuple[LeaderRow, ...]:
    """Return rows of the rule-set table as leaderboards have them, each counted with so many others."""
    rules, words = read_rules(shown), words_of(cells.attributes, shown)
    items = [{str(name): value for name, value in row.items()} for row in shown.to_dict("records")]
    return tuple(
        _row(
            item,
            options,
            inference,
            rule_set=rule_set,
            rules=_stated_rules(cells.attributes, chosen),
            number=int(number),
            similar=int(others),
            contributions=stated_contributions(cells, chosen),
        )
        for item, rule_set, chosen, number, others in zip(
            items, words, rules, shown.index, similar, strict=True
        )
    )


def _whole(table: pd.DataFrame, cells: Cells) -> pd.DataFrame:
    """Return a table with how many people each group is compared with: in earlier versions everyone else."""
    return table if "n_out" in table else table.assign(n_out=cells.total - table["n_in"])


def support_sweep(
    table: pd.DataFrame,
    attributes: Sequence[Attribute],
    support: float,
    n_frequent: int,
    shares: Mapping[tuple[int, ...], float] | None = None,
) -> tuple[SweepRow, ...]:
    """Rule sets and the largest score at each support threshold (Table 6) from `support` up.

    Parameters
    ----------
    n_frequent : int
        Frequent rule sets at `support`: of people those of everyone, which the table leaves out, are more.
    shares : mapping of categories to share
        Of texts: by what a rule set is frequent (`category_shares`).
    """
    of_everyone = n_frequent - int((table["equal"] + 1).sum())
    own = table["support"].to_numpy() if shares is None else reach(shares, read_rules(table))
    rows = []
    for threshold in sorted({support, *(swept for swept in _SWEPT if swept > support)}):
        least = threshold * (1 - 1e-12)
        kept = table[own >= least]
        gaps = kept["difference"].abs().to_numpy()
        best = int(gaps.argmax()) if len(kept) else None
        frequent = of_everyone + int((kept["equal"] + 1).sum())
        if shares is not None:
            sizes = {chosen: prod(len(attributes[k].rules) for k in chosen) for chosen in shares}
            frequent = sum(sizes[chosen] for chosen, share in shares.items() if share >= least)
        rows.append(
            SweepRow(
                support=float(threshold),
                n_frequent=frequent,
                n_distinct=len(kept),
                rule_set=None if best is None else words_of(attributes, kept.iloc[[best]])[0],
                score=None if best is None else float(gaps[best]),
            )
        )
    return tuple(rows)


def _row(item: dict[str, Any], options: dict[str, Any], inference: dict[str, Any], **named: Any) -> LeaderRow:
    """Return what the numbers of a rule set say, beside its rules, as they are `named`."""
    level = options["level"]
    n, good = item["n_in"], item["favorable_n_in"]
    rest = item["n_out"]
    rest_good = item["favorable_out"] * rest
    compared = n + rest
    gap, low, high = item["difference"], item["low"], item["high"]
    difference = difference_of(item, level, inference)
    score = Estimate(abs(gap), max(0.0, low, -high), max(abs(low), abs(high)), compared, difference.method)
    judged = judge_row(item, options, inference)
    sampled = _sampled_score(item, options)
    own_margin = float(margin(item["favorable_in"], n, item["favorable_out"], rest, options["confidence"]))
    return LeaderRow(
        **named,
        direction="advantaged" if gap > 0 else "harmed",
        verdict=judged.verdict,
        support=item["support"],
        score=score,
        difference=difference,
        favorable_in=wilson(good, n, level=level),
        favorable_out=wilson(rest_good, rest, level=level),
        margin=own_margin if sampled is None else sampled.margin,
        confidence=options["confidence"] ** 2,
        n_in=n,
        n_out=rest,
        p_value=float(exact_p(np.array(n), np.array(good), compared, good + rest_good)),
        adjusted_p=item["adjusted_p"],
        confirmed=bool(item["confirmed"]),
        sampled=sampled,
        equal=int(item["equal"]),
        material=judged.material,
        people_needed=judged.people_needed,
        within=difference if item.get("narrowed") else None,
        favorable_context=item["favorable_out"] if item.get("narrowed") else None,
    )


def _sampled_score(item: dict[str, Any], options: dict[str, Any]) -> SampledScore | None:
    if "sampled_in" not in item:
        return None
    inside, outside = item["sampled_in"], item["sampled_out"]
    n, rest = item["sampled_n_in"], item["sampled_n_out"]
    gap = newcombe(inside * n, n, outside * rest, rest, level=options["level"])
    if gap.value is None or gap.low is None or gap.high is None:
        return None
    low, high = max(0.0, gap.low, -gap.high), max(abs(gap.low), abs(gap.high))
    score = Estimate(abs(gap.value), low, high, n + rest, gap.method)
    return SampledScore(score, inside, outside, item["margin"], options["confidence"] ** 2)


def _stated_rules(attributes: Sequence[Attribute], chosen: np.ndarray) -> tuple[dict[str, Any], ...]:
    """Return each rule of a rule set: its attribute, its words, and the values that it admits."""
    found = []
    for attribute, rule in zip(attributes, chosen, strict=True):
        if rule >= 0:
            values = [
                level for level, inside in zip(attribute.levels, attribute.rules[rule], strict=True) if inside
            ]
            found.append({"attribute": attribute.name, "words": attribute.words[rule], "values": values})
    return tuple(found)


def distinct(
    cells: Cells, rules: np.ndarray, signs: np.ndarray, order: np.ndarray, options: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
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
    options : mapping
        ``top`` findings at most; ``overlap`` in (0, 1]; ``leftover`` in [0, 1), 0 leaves nested groups apart.

    Returns
    -------
    leaders : int array (k,)
        The best-ranked rule set of each finding, in rank order.
    finding : int array (S,)
        Finding of every rule set, -1 where it belongs to none of the first k.
    """
    finding = np.full(len(rules), -1)
    leaders: list[int] = []
    groups = GroupSums(cells, rules)
    columns = np.column_stack([cells.n, cells.favorable])
    sums = groups.of(columns)
    for leader in order.tolist():
        if len(leaders) >= options["top"]:
            break
        if finding[leader] < 0:
            inside = memberships(cells, rules[leader : leader + 1])[0]
            both = groups.of(np.where(inside[:, None], columns, 0.0))
            same = _same_finding(leader, sums, both, columns.sum(0), signs, options)
            finding[(finding < 0) & same] = len(leaders)
            leaders.append(leader)
    return np.array(leaders, dtype=int), finding


def _same_finding(
    leader: int,
    sums: np.ndarray,
    both: np.ndarray,
    everyone: np.ndarray,
    signs: np.ndarray,
    options: Mapping[str, Any],
) -> np.ndarray:
    """Which rule sets share most people with the leader or with all others, or differ by its people, (S,)."""
    here, sign = sums[leader], signs[leader]
    n, shared = sums[:, 0], both[:, 0]
    same = shared / (n + here[0] - shared)
    rest = (n - shared) / np.maximum(everyone[0] - here[0] + shared, 1e-300)
    alike = ((same >= options["overlap"]) & (signs == sign)) | (
        (rest >= options["overlap"]) & (signs == -sign)
    )
    alike[leader] = True
    if not options["leftover"]:
        return alike
    inside, outside = sums - both, everyone - here - sums + both
    nobody_in, nobody_out = inside[:, 0] < 1e-9, outside[:, 0] < 1e-9
    with np.errstate(invalid="ignore", divide="ignore"):
        left = inside[:, 1] / inside[:, 0] - outside[:, 1] / outside[:, 0]
    gap = differences(n, sums[:, 1], everyone[0], everyone[1])
    # a part of the leader differs with it; what holds all others differs against it
    part = (nobody_in & (signs == sign)) | (nobody_out & (signs == -sign))
    driven = ~nobody_in & ~nobody_out & (left * signs < options["leftover"] * np.abs(gap))
    return alike | part | driven
