"""The finding of an outcome-transport audit in words, and what to beware of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from audits.outcome_transport.comparison import Comparison
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.outcome_transport.result import OutcomeTransportResult
from audits.stats import EVIDENCE, INSUFFICIENT, NO_EVIDENCE, Verdict
from audits.stats.words import count, number, p_words, percent

__all__ = ["Judged", "finding", "warnings_for"]


@dataclass(frozen=True)
class Judged:
    """The verdict, the p-values behind it, and the people that a better one would need.

    `group_p` and `even` are of the even coupling alone, `everywhere` is the largest p-value over all optimal
    couplings; None where groups' bias is not what is judged. `leeway` says whether some of them could set two
    groups materially apart, which more people would not change.
    """

    verdict: Verdict
    distance_p: float | None
    group_p: float | None
    people_needed: int | None
    everywhere: float | None = None
    even: Verdict | None = None
    leeway: bool = False


def finding(
    result: OutcomeTransportResult, comparison: Comparison, judged: Judged, options: OutcomeTransportOptions
) -> str:
    """Say how far outcomes lie apart, which subgroup is mapped where, and how sure that is."""
    distance = result.wasserstein
    between = "" if distance.low is None else f" ({number(distance.low)} to {number(distance.high)})"
    order = "order 1" if options.cost == "euclidean" else "order 2"
    p = "" if judged.distance_p is None else f", p {p_words(judged.distance_p)}"
    text = (
        f"Outcomes of {count(result.n_source)} people ({comparison.source.name}) and "
        f"{count(result.n_target)} "
        f"({comparison.target.name}) lie {number(distance.value)} apart{between}, Wasserstein distance "
        f"of {order}{p}."
    )
    text += _largest_stranger(result)
    if comparison.same_people:
        text += _groups(result, judged)
    if judged.verdict == INSUFFICIENT:
        if judged.people_needed is not None:
            unit = "in the smallest group" if comparison.same_people else "in each group"
            text += (
                f" About {judged.people_needed:,} people {unit} would be needed to see a material difference."
            )
    elif judged.verdict == NO_EVIDENCE:
        text += " A material difference would have been seen at this size."
    return text


def _largest_stranger(result: OutcomeTransportResult) -> str:
    """The largest flow between two different subgroups."""
    flows = result.flows
    mass = np.array(flows.mass)
    same = np.array([[row == column for column in flows.columns] for row in flows.rows])
    mass = np.where(same, 0.0, mass)
    if not mass.any():
        return ""
    r, c = np.unravel_index(int(mass.argmax()), mass.shape)
    people = flows.row_people[r]
    said = []
    if flows.sampling_low is not None and flows.sampling_high is not None:
        said.append(_range(flows.sampling_low[r][c], flows.sampling_high[r][c], people))
    if flows.low is not None and flows.high is not None and flows.high[r][c] - flows.low[r][c] > 0.005:
        said.append(f"{_range(flows.low[r][c], flows.high[r][c], people)} over all optimal couplings")
    between = f" ({'; '.join(said)})" if said else ""
    return (
        f" {percent(flows.share[r][c], people)} of the outcomes of {flows.rows[r]} ({count(people)} "
        f"people) are "
        f"mapped to {flows.columns[c]}{between}."
    )


def _range(low: float, high: float, people: float) -> str:
    return f"{percent(low, people).removesuffix(' %')}–{percent(high, people)}"


def _groups(result: OutcomeTransportResult, judged: Judged) -> str:
    rows = [row for row in result.bias if row.level == "group" and row.mean is not None]
    if len(rows) < 2 or judged.group_p is None:
        return ""
    top, low = max(rows, key=lambda row: row.mean or 0.0), min(rows, key=lambda row: row.mean or 0.0)
    if top.mean == low.mean:
        text = f" In the even coupling bias is the same in all groups (mean {number(top.mean)})."
    else:
        text = (
            f" In the even coupling bias is largest for {top.group} (mean {number(top.mean)}) and smallest "
            f"for {low.group} ({number(low.mean)}); p {p_words(judged.group_p)} that groups differ by chance."
        )
    return text + _whichever(result, judged, top.group, low.group)


def _whichever(result: OutcomeTransportResult, judged: Judged, top: str, low: str) -> str:
    """Whether all optimal couplings say so, and otherwise how far they leave it open."""
    ranges = {item.group: item for item in result.tie_range if item.level == "group"}
    if judged.verdict == EVIDENCE:
        return " That holds in every optimal coupling." if ranges else ""
    open_even = judged.even == INSUFFICIENT
    known = top in ranges and low in ranges
    if open_even and not (known and judged.leeway):
        return ""
    said = "that difference" if judged.even == EVIDENCE else "that no material difference was found"
    if not known:
        return f" Whether {said} holds in other optimal couplings is not known, so it is no evidence."
    of = " and ".join(
        f"{number(ranges[name].low)} to {number(ranges[name].high)} for {name}" for name in (top, low)
    )
    held = "" if open_even else f"{said} holds for the even coupling only, and "
    return f" Other optimal couplings give any mean bias from {of}, so {held}more people would not settle it."


def _apart(comparison: Comparison) -> bool:
    """Whether outcomes are numbers, and those of the two sides do not overlap."""
    ours, theirs = comparison.source.outcomes, comparison.target.outcomes
    if ours.shape[1] > 1 or ours.min() == theirs.max() == theirs.min() == ours.max():
        return False
    return bool(ours.max() <= theirs.min() or theirs.max() <= ours.min())


def warnings_for(
    result: OutcomeTransportResult, comparison: Comparison, options: OutcomeTransportOptions
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    both = np.concatenate([comparison.source.outcomes, comparison.target.outcomes])
    if (both == both[0]).all():
        found.append(
            "All outcomes are the same, so every person is mapped to everybody and the distance is 0."
        )
    if all(row.mean is None for row in result.bias):
        found.append(
            "The data name no features, so how unlike the people behind the outcomes are (their bias) was "
            "not measured: outcomes alone are compared."
        )
    elif not result.tie_range:
        why = (
            "the coupling is blurred"
            if result.certificate["slack"] is None
            else "there are too many outcomes"
        )
        found.append(f"The range over all optimal couplings is not known, because {why}.")
    elif not all(item.exact for item in result.tie_range):
        found.append(
            "For some groups the range over all optimal couplings is an outer bound: it holds every optimal "
            "coupling's bias, but may be wider than need be."
        )
    apart = _apart(comparison) and options.cost == "euclidean"
    if apart and result.tie_range:
        told = (
            ""
            if comparison.kind == "decision"
            else (" The squared norm (order 2) singles out the pairing in order, whose numbers are shown.")
        )
        found.append(
            "All outcomes of one side lie below all of the other, so that every pairing costs the same under "
            f"the plain norm: shares and bias can be anything the sizes of the groups allow.{told}"
        )
    everybody = next((item for item in result.tie_range if item.level == "all" and not apart), None)
    if everybody is not None and everybody.high - everybody.low > 0.1 * max(everybody.value, 1e-300):
        found.append(
            f"The optimal coupling is far from unique: everybody's mean bias can be anything from "
            f"{number(everybody.low)} to {number(everybody.high)}; the even coupling gives "
            f"{number(everybody.value)}."
        )
    if max(result.unmatched.values()) > 0.001:
        found.append(
            f"{percent(result.unmatched['source'], result.n_source)} of the source and "
            f"{percent(result.unmatched['target'], result.n_target)} of the target people are left "
            f"unmatched; bias "
            "and flows are those of the matched."
        )
    if result.certificate["slack"] is None and "did not converge" in result.certificate["method"]:
        found.append("The blurred coupling did not converge: raise epsilon.")
    if result.certificate["slack"] is None:
        found.append(
            "A blurred coupling's cost is not the least possible one; the p-value of the distance is that of "
            "the exact one."
        )
    alone = [row.group for row in result.bias if row.level != "all" and row.n < 2]
    if result.n_target < 2 and comparison.target.name not in alone:
        alone.append(comparison.target.name)
    if alone:
        found.append(f"One person alone says nothing about a group: {', '.join(alone)}.")
    if not options.permutations:
        found.append(
            "Chance was not measured: permutations is 0, so there is no verdict but insufficient evidence."
        )
    return tuple(found)
