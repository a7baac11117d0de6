"""The finding of an outcome-transport audit in words, and what to beware of."""

from __future__ import annotations

import re

import numpy as np

from audits.outcome_transport.comparison.sides import TwoSides
from audits.outcome_transport.inference import BiasJudgments
from audits.outcome_transport.options import OutcomeTransportOptions
from audits.outcome_transport.result import OutcomeTransportResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judgment
from audits.stats.text import count, in_words, number, out_of, p_words, people, people_in, percent
from audits.stats.vocabulary import vocabulary
from audits.text import begun, brief, join_names, of_people, shortest

_MAX_NAMED = 6  # groups in a warning
_OUTCOME = re.compile(r"(?:^|, )((?:un)?favorable)( label)?$")
_CALLED = {"score": "scores", "probability": "probabilities"}


def group_of(subgroup: str) -> str:
    """Return the group of a subgroup's name, without its outcome.

    Examples
    --------
    >>> group_of("female & Velian, unfavorable label"), group_of("favorable")
    ('female & Velian', '')
    """
    return _OUTCOME.sub("", subgroup)


def subgroup_words(subgroup: str, *, by_label: bool = False) -> str:
    """Name a subgroup in the words of the data: ``women, hired``; ``women, qualified`` by its label."""
    found, group, words = _OUTCOME.search(subgroup), group_of(subgroup), vocabulary()
    if found is None:
        return "everybody" if group == "everybody" else people_in(group)
    yes = found[1] == "favorable"
    said = (
        (words.truth_yes if yes else words.truth_no)
        if by_label or found[2]
        else (words.yes if yes else words.no)
    )
    said = said or found[0].removeprefix(", ")
    return f"{people_in(group)}, {said}" if group else said


def source_words(result: OutcomeTransportResult, subgroup: str) -> str:
    """Name a subgroup of the source, whose outcomes are labels where a model is compared with them."""
    return subgroup_words(subgroup, by_label=_is_label(result))


def _is_label(result: OutcomeTransportResult) -> bool:
    split_by_outcome = result.options.get("split_by") == "outcome"
    return result.comparison == "two policies" and result.source.startswith("label ") and split_by_outcome


def focus_group(result: OutcomeTransportResult) -> str:
    """Return the group that the verdict is about; of two groups the one whose outcomes move furthest."""
    row = next((row for row in result.bias if row.difference == result.judged), None)
    if row is not None:
        return row.group
    found = _largest_stranger(result)
    return "" if found is None else group_of(result.flows.rows[found[0]])


def headline(result: OutcomeTransportResult) -> str:
    """Say how many have the favorable outcome on both sides, and which group fares otherwise, if any."""
    text, judged = _both_sides(result), result.judged
    if result.comparison != "two policies":
        outcomes = _CALLED.get(result.outcome, "outcomes")
        ends = {EVIDENCE: f"The {outcomes} differ", NO_MATERIAL: f"The {outcomes} hardly differ"}
        end = ends.get(judged.verdict, f"We can't tell whether the {outcomes} differ")
        if judged.verdict == EVIDENCE and judged.material is False:
            end = f"The {outcomes} differ by less than your limit"
        ours, theirs = people_in(result.source), people_in(result.target)
        n, m = (len(result.options[side] or "") or None for side in ("source", "target"))
        alone = [
            f"{end} between {brief(ours, most, of=n)} and {brief(theirs, most, of=m)}." for most in (99, 8, 5)
        ]
        return shortest(*([f"{text}{end}."] if text else []), *alone)
    row = next((row for row in result.bias if row.level == "group" and row.difference == judged), None)
    if row is None:
        return f"{text}We can't tell whether any group is treated more unevenly than the others."
    others = [each.group for each in result.bias if each.level == "group" and each.group != row.group]
    rest = people_in(others[0]) if len(others) == 1 else "the others"
    uneven = "more unevenly" if (judged.interval.value or 0.0) > 0 else "more evenly"
    told, of = [], len(result.options["by"] or "") or None
    for who in (people_in(row.group), brief(people_in(row.group), of=of)):
        if judged.verdict == EVIDENCE:
            told.append(f"{begun(who)} are treated {uneven} than {rest}.")
        elif judged.material is False:
            told.append(f"{begun(who)} are treated about as evenly as {rest}.")
        else:
            told.append(f"We can't tell whether {who} are treated more unevenly than {rest}.")
    return shortest(*(f"{text}{each}" for each in told), *told)


def _both_sides(result: OutcomeTransportResult) -> str:
    """Count the favorable outcomes of both sides, where outcomes are favorable or not."""
    flows, words = result.flows, vocabulary()
    found = [_OUTCOME.search(name) for name in (*flows.rows, *flows.columns)]
    by_label = all(each is not None and each[2] for each in found)
    if not all(found) or (by_label and result.comparison == "two policies"):
        return ""
    ours, theirs = (
        sum(
            n
            for name, n in zip(names, sizes, strict=True)
            if (_OUTCOME.search(name) or "  ")[1] == "favorable"
        )
        for names, sizes in ((flows.rows, flows.row_people), (flows.columns, flows.column_people))
    )
    if result.comparison != "two policies":
        verb = "have the favorable label" if by_label else words.are_yes
        first = f"{_share(ours, result.n_source, people_in(result.source))} {verb}"
        return f"{first}, against {_share(theirs, result.n_target, people_in(result.target))}. "
    second = of_people(out_of(theirs, result.n_target))
    if _is_label(result):
        label = words.truth_yes or "have the favorable label"
        verb = words.are_yes if not second.startswith("1 of") else words.is_yes
        return f"{begun(second)} {words.people} {verb}; {count(ours)} {label}. "
    first = of_people(out_of(ours, result.n_source))
    return f"By {result.source}, {first} {words.people} {words.are_yes}; by {result.target}, {second}. "


def _share(some: float, n: float, whose: str) -> str:
    return f"{percent(some / n if n else None, n)} of {whose} ({out_of(some, n)})"


def finding(
    result: OutcomeTransportResult,
    comparison: TwoSides,
    found: BiasJudgments,
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
        else f"Outcomes of {count(result.n_source)} {people_in(ours)} and {count(result.n_target)} "
        f"{people_in(theirs)}"
    )
    apart = f"{number(distance.value)} apart{interval_words(distance)}"
    text = f"{of} are {apart}: Wasserstein distance of {order}{p}."
    judged = found.judged
    if not comparison.same_people and judged.interval != distance:
        exactly = f"{number(judged.interval.value)}{interval_words(judged.interval)}"
        text += f" That is the {options.matching} coupling's mean cost; the distance itself is {exactly}."
    text += _stranger(result)
    if comparison.same_people:
        text += _groups(result, found)
    return text + _closing(judged, "in all" if comparison.same_people else "in the smaller group")


def interval_words(estimate: Estimate) -> str:
    """Return the interval in brackets, empty where there is none."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" ({number(estimate.low)} to {number(estimate.high)})"


def _closing(judged: Judgment, where: str) -> str:
    """Say what the verdict leaves to be said: that it is a small one, or how many people would settle it."""
    if judged.verdict == EVIDENCE:
        return "" if judged.material is not False else " That is less than your limit."
    if judged.verdict == NO_MATERIAL:
        high = judged.immaterial_high
        return f" Any difference lies within your limit{'' if high is None else f' ({number(high)})'}."
    if judged.people_needed is not None:
        return f" About {people(judged.people_needed)} {where} would settle it."
    return ""


def _largest_stranger(result: OutcomeTransportResult) -> tuple[int, int] | None:
    """Return row and column of the largest flow between two different subgroups."""
    flows = result.flows
    mass = np.array(flows.mass)
    same = np.array([[row == column for column in flows.columns] for row in flows.rows])
    mass = np.where(same, 0.0, mass)
    if not mass.any():
        return None
    r, c = np.unravel_index(int(mass.argmax()), mass.shape)
    return int(r), int(c)


def _stranger(result: OutcomeTransportResult) -> str:
    """State the largest flow between two different subgroups."""
    flows, found = result.flows, _largest_stranger(result)
    if found is None:
        return ""
    r, c = found
    n = flows.row_people[r]
    said = []
    if flows.sampling_low is not None and flows.sampling_high is not None:
        said.append(_range(flows.sampling_low[r][c], flows.sampling_high[r][c], n))
    if flows.low is not None and flows.high is not None and flows.high[r][c] - flows.low[r][c] > 0.005:
        said.append(f"{_range(flows.low[r][c], flows.high[r][c], n)} over all optimal couplings")
    between = f" ({'; '.join(said)})" if said else ""
    return (
        f" {percent(flows.share[r][c], n)} of the outcomes of {source_words(result, flows.rows[r])} "
        f"({people(n)}) are mapped to {subgroup_words(flows.columns[c])}{between}."
    )


def _range(low: float, high: float, n: float) -> str:
    return f"{percent(low, n).removesuffix('%')}–{percent(high, n)}"


def _groups(result: OutcomeTransportResult, found: BiasJudgments) -> str:
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
        told = " In the even coupling alone the difference is beyond chance."
    if found.judged.reason:
        told += f" {begun(found.judged.reason)}."
    return text + told


def _apart(comparison: TwoSides) -> bool:
    """Whether outcomes are numbers, and those of the two sides do not overlap."""
    ours, theirs = comparison.source.outcomes, comparison.target.outcomes
    if ours.shape[1] > 1 or ours.min() == theirs.max() == theirs.min() == ours.max():
        return False
    return bool(ours.max() <= theirs.min() or theirs.max() <= ours.min())


def warnings_for(
    result: OutcomeTransportResult, comparison: TwoSides, options: OutcomeTransportOptions
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    both = np.concatenate([comparison.source.outcomes, comparison.target.outcomes])
    if (both == both[0]).all():
        found.append(
            "All outcomes are the same, so every person is mapped to everyone and the distance is 0."
        )
    found += _ties(result, comparison, options)
    if max(result.unmatched.values()) > 0.001:
        found.append(
            f"{percent(result.unmatched['source'], result.n_source)} of the source and "
            f"{percent(result.unmatched['target'], result.n_target)} of the target people are left "
            "unmatched; bias and flows cover those matched."
        )
    if result.certificate.slack is None and "did not converge" in result.certificate.method:
        found.append("The blurred coupling did not converge: raise epsilon.")
    if result.certificate.slack is None:
        found.append(
            "A blurred coupling's cost is not the least possible. The distance's p-value comes from the "
            "exact coupling."
        )
    alone = [row.group for row in result.bias if row.level != "all" and row.n < 2]
    if result.n_target < 2 and comparison.target.name not in alone:
        alone.append(comparison.target.name)
    if alone:
        named = join_names((f"“{in_words(name)}”" for name in alone), most=_MAX_NAMED)
        found.append(f"One person alone says nothing about a group: {named}.")
    if comparison.kind == "decision" and options.split_by == "outcome" and len(result.flows.rows) > 2:
        found.append(
            "Outcomes have two values, so the even coupling maps everyone with the same outcome to the "
            "same people, and rows of the flow matrix with the same outcome are equal by construction. If "
            "both sides give probabilities, comparing these tells people apart."
        )
    if not options.permutations:
        found.append("Chance was not measured (permutations is 0), so the verdict is insufficient evidence.")
    return tuple(found)


def _ties(
    result: OutcomeTransportResult, comparison: TwoSides, options: OutcomeTransportOptions
) -> list[str]:
    """Say how far the bias is settled by the outcomes."""
    found = []
    if all(row.mean.value is None for row in result.bias):
        found.append(
            "The data name no features, so only outcomes are compared. How different the people behind "
            "them are (their bias) was not measured."
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
            "All outcomes of one side are below all of the other, so every pairing costs the same under "
            f"the plain norm. Shares and bias can be anything the group sizes allow.{told}"
        )
    everybody = next((item for item in result.tie_range if item.level == "all" and not apart), None)
    if everybody is not None and everybody.high - everybody.low > 0.1 * max(everybody.value, 1e-300):
        found.append(
            f"The optimal coupling is far from unique. Everyone's mean bias can be anything from "
            f"{number(everybody.low)} to {number(everybody.high)}; the even coupling gives "
            f"{number(everybody.value)}."
        )
    return found
