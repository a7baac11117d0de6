"""The finding of an outcome-transport audit in words, and what to beware of."""

from __future__ import annotations

import re

import numpy as np

from audits.brief import begun, brief, of_people, shortest
from audits.outcome_transport.comparison.sides import ComparedSides
from audits.outcome_transport.judging import JudgedBiases
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.outcome_transport.result import OutcomeTransportResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judged
from audits.stats.words import count, in_words, number, out_of, p_words, people, people_in, percent

__all__ = ["closing", "finding", "headline", "interval_words", "warnings_for"]

_NAMED = 5  # groups in a warning
_FAVORABLE = re.compile(r"(?:^|, )favorable(?: label)?$")
_EITHER = re.compile(r"(?:^|, )(?:un)?favorable(?: label)?$")
_CALLED = {"score": "scores", "probability": "probabilities"}


def headline(result: OutcomeTransportResult) -> str:
    """Say how many have the favorable outcome on both sides, and which group fares otherwise, if any."""
    text = _both_sides(result)
    judged = result.judged
    if result.comparison != "two policies":
        outcomes = _CALLED.get(result.outcome, "outcomes")
        ends = {EVIDENCE: f"The {outcomes} differ", NO_MATERIAL: f"The {outcomes} hardly differ"}
        end = ends.get(judged.verdict, f"We can't tell whether the {outcomes} differ")
        if judged.verdict == EVIDENCE and judged.material is False:
            end = f"The {outcomes} differ by less than matters"
        ours, theirs = people_in(result.source), people_in(result.target)
        alone = [f"{end} between {brief(ours, most)} and {brief(theirs, most)}." for most in (99, 8, 5)]
        return shortest(*([f"{text}{end}."] if text else []), *alone)
    rows = [row for row in result.bias if row.level == "group" and row.difference == judged]
    if not rows:
        return f"{text}We can't tell whether any group is treated more unevenly than the others."
    who = people_in(rows[0].group)
    if judged.verdict == EVIDENCE:
        uneven = "more unevenly" if (judged.interval.value or 0.0) > 0 else "more evenly"
        told = [f"{begun(name)} are treated {uneven} than the others." for name in (who, brief(who))]
    elif judged.material is False:
        told = [f"{begun(name)} are treated about as evenly as the others." for name in (who, brief(who))]
    else:
        told = [
            f"We can't tell whether {name} are treated more unevenly than the others."
            for name in (who, brief(who))
        ]
    return shortest(*(f"{text}{each}" for each in told), *told)


def _both_sides(result: OutcomeTransportResult) -> str:
    """Count the favorable outcomes of both sides, where outcomes are favorable or not."""
    flows = result.flows
    ours, theirs = (
        [size for name, size in zip(names, sizes, strict=True) if _FAVORABLE.search(name)]
        for names, sizes in ((flows.rows, flows.row_people), (flows.columns, flows.column_people))
    )
    named = (*flows.rows, *flows.columns)
    by_label = all(name.endswith(" label") for name in named)
    if not all(map(_EITHER.search, named)) or (by_label and result.comparison == "two policies"):
        return ""
    first = of_people(out_of(sum(ours), result.n_source))
    second = of_people(out_of(sum(theirs), result.n_target))
    if result.comparison != "two policies":
        sides = f"{people_in(result.source)} and {second} {people_in(result.target)}"
        return f"{begun(first)} {sides} have the favorable {'label' if by_label else 'outcome'}. "
    if result.source.startswith("label "):
        are = "is" if second.startswith("1 of") else "are"
        turned = first if first.startswith("all ") else first.split(" of ")[0]
        return f"{begun(second)} {are} decided favorably, where {turned} turned out so. "
    return f"Favorable by {result.source}: {first}; by {result.target}: {second}. "


def finding(
    result: OutcomeTransportResult,
    comparison: ComparedSides,
    found: JudgedBiases,
    options: OutcomeTransportOptions,
) -> str:
    """Say how far outcomes lie apart, which subgroup is mapped where, and how sure that is."""
    distance = result.wasserstein
    order = "order 1" if options.cost == "euclidean" else "order 2"
    p = "" if result.distance_p_value is None else f", p {p_words(result.distance_p_value)}"
    ours, theirs = comparison.source.name, comparison.target.name
    of = (
        f"Outcomes of {people(result.n_source)} by {ours} and by {theirs}"
        if comparison.same_people
        else f"Outcomes of {people(result.n_source)} ({ours}) and {count(result.n_target)} ({theirs})"
    )
    text = (
        f"{of} lie {number(distance.value)} apart{interval_words(distance)}, Wasserstein distance of "
        f"{order}{p}."
    )
    judged = found.judged
    if not comparison.same_people and judged.interval != distance:
        exactly = judged.interval
        text += (
            f" That is the {options.matching} coupling's mean cost; the distance itself is "
            f"{number(exactly.value)}{interval_words(exactly)}."
        )
    text += _largest_stranger(result)
    if comparison.same_people:
        text += _groups(result, found)
    return text + closing(judged, "in the smaller group" if not comparison.same_people else "in that group")


def interval_words(estimate: Estimate) -> str:
    """Return the interval in brackets, empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" ({number(estimate.low)} to {number(estimate.high)})"


def closing(judged: Judged, where: str) -> str:
    """Say what the verdict leaves to be said: that it is a small one, or how many people would settle it."""
    if judged.verdict == EVIDENCE:
        return "" if judged.material is not False else " It is smaller than what was said to matter."
    if judged.verdict == NO_MATERIAL:
        return f" Whatever difference there is lies within what was said not to matter{_room(judged)}."
    if judged.people_needed is not None:
        return f" About {people(judged.people_needed)} {where} would settle it."
    return ""


def _room(judged: Judged) -> str:
    return "" if judged.immaterial_high is None else f" (up to {number(judged.immaterial_high)})"


def _largest_stranger(result: OutcomeTransportResult) -> str:
    """The largest flow between two different subgroups."""
    flows = result.flows
    mass = np.array(flows.mass)
    same = np.array([[row == column for column in flows.columns] for row in flows.rows])
    mass = np.where(same, 0.0, mass)
    if not mass.any():
        return ""
    r, c = np.unravel_index(int(mass.argmax()), mass.shape)
    n = flows.row_people[r]
    said = []
    if flows.sampling_low is not None and flows.sampling_high is not None:
        said.append(_range(flows.sampling_low[r][c], flows.sampling_high[r][c], n))
    if flows.low is not None and flows.high is not None and flows.high[r][c] - flows.low[r][c] > 0.005:
        said.append(f"{_range(flows.low[r][c], flows.high[r][c], n)} over all optimal couplings")
    between = f" ({'; '.join(said)})" if said else ""
    return (
        f" {percent(flows.share[r][c], n)} of the outcomes of “{in_words(flows.rows[r])}” ({people(n)}) are "
        f"mapped to “{in_words(flows.columns[c])}”{between}."
    )


def _range(low: float, high: float, n: float) -> str:
    return f"{percent(low, n).removesuffix(' %')}–{percent(high, n)}"


def _groups(result: OutcomeTransportResult, found: JudgedBiases) -> str:
    """State the group's difference that the verdict rests on, with the interval of every optimal coupling."""
    name = next((name for name, one in found.groups.items() if one is found.judged), None)
    if name is None:
        return ""
    row = next(row for row in result.bias if row.level == "group" and row.group == name)
    interval, even = found.judged.interval, found.even[name].interval
    p = "" if found.judged.p_value is None else f", p {p_words(found.judged.p_value)}"
    where = "" if interval == even else "in the even coupling "
    text = (
        f" Mean bias of {people_in(name)} is {where}{number(row.mean.value)}; minus that of the others "
        f"{number(interval.value)}"
    )
    if interval == even:
        return f"{text}{interval_words(interval)}{p}."
    ends = interval_words(interval).replace(")", " over samples and all optimal couplings)")
    text += f"{ends}{p}."
    if found.judged.verdict == EVIDENCE:
        return f"{text} That holds in every optimal coupling."
    told = ""
    if found.even[name].verdict == EVIDENCE:
        told = " The difference holds for the even coupling only."
    if found.judged.reason:
        told += f" {begun(found.judged.reason)}."
    return text + told


def _apart(comparison: ComparedSides) -> bool:
    """Whether outcomes are numbers, and those of the two sides do not overlap."""
    ours, theirs = comparison.source.outcomes, comparison.target.outcomes
    if ours.shape[1] > 1 or ours.min() == theirs.max() == theirs.min() == ours.max():
        return False
    return bool(ours.max() <= theirs.min() or theirs.max() <= ours.min())


def warnings_for(
    result: OutcomeTransportResult, comparison: ComparedSides, options: OutcomeTransportOptions
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    both = np.concatenate([comparison.source.outcomes, comparison.target.outcomes])
    if (both == both[0]).all():
        found.append(
            "All outcomes are the same, so every person is mapped to everybody and the distance is 0."
        )
    found += _ties(result, comparison, options)
    if max(result.unmatched.values()) > 0.001:
        found.append(
            f"{percent(result.unmatched['source'], result.n_source)} of the source and "
            f"{percent(result.unmatched['target'], result.n_target)} of the target people are left "
            f"unmatched; bias "
            "and flows are those of the matched."
        )
    if result.certificate.slack is None and "did not converge" in result.certificate.method:
        found.append("The blurred coupling did not converge: raise epsilon.")
    if result.certificate.slack is None:
        found.append(
            "A blurred coupling's cost is not the least possible one; the p-value of the distance is that of "
            "the exact one."
        )
    alone = [row.group for row in result.bias if row.level != "all" and row.n < 2]
    if result.n_target < 2 and comparison.target.name not in alone:
        alone.append(comparison.target.name)
    if alone:
        more = f" and {len(alone) - _NAMED} more" if len(alone) > _NAMED else ""
        named = ", ".join(f"“{in_words(name)}”" for name in alone[:_NAMED])
        found.append(f"One person alone says nothing about a group: {named}{more}.")
    if comparison.kind == "decision" and options.split_by == "outcome" and len(result.flows.rows) > 2:
        found.append(
            "Outcomes have two values, so that everybody with the same outcome is mapped to the same people "
            "in the even coupling: rows of the flow matrix with the same outcome are equal by construction. "
            "Where both sides give probabilities, comparing these tells people apart."
        )
    if not options.permutations:
        found.append(
            "Chance was not measured: permutations is 0, so there is no verdict but insufficient evidence."
        )
    return tuple(found)


def _ties(
    result: OutcomeTransportResult, comparison: ComparedSides, options: OutcomeTransportOptions
) -> list[str]:
    """Say how far the bias is settled by the outcomes."""
    found = []
    if all(row.mean.value is None for row in result.bias):
        found.append(
            "The data name no features, so how unlike the people behind the outcomes are (their bias) was "
            "not measured: outcomes alone are compared."
        )
    elif not result.tie_range:
        why = "the coupling is blurred" if result.certificate.slack is None else "there are too many outcomes"
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
    return found
