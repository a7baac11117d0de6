"""The finding of an explain audit in sentences, and what to beware of."""

from __future__ import annotations

from dataclasses import replace

from audits.brief import begun, between, brief, cut_apart, in_points, named_apart, shortest
from audits.explain.result import Explained, ExplainResult
from audits.stats import EVIDENCE, NO_MATERIAL, Estimate, Judged
from audits.stats.words import people, people_in

__all__ = ["finding", "headline", "interval_words", "points", "warnings_for"]

_MOST_NAMED = 3


def headline(result: ExplainResult) -> str:
    """Say in one sentence whether the gap stays among people alike."""
    gap, alike = result.gap.value, result.together.columns
    rates = {result.source_rate.value, result.target_rate.value}
    if rates in ({0.0}, {1.0}):
        every = "No decision" if rates == {0.0} else "Every decision"
        told = [f"{every} on {both} is favorable, so there is no gap to explain." for both in _both(result)]
        return shortest(*told)
    if gap is None:
        return shortest(*(f"How far {both} lie apart is not known." for both in _both(result)))
    named = " and ".join(f"“{name}”" for name in alike[:2]) + (" and more" if len(alike) > 2 else "")
    among = f"among people alike in {brief(named)}" if alike else "among people alike"
    if (result.gap.low or 0.0) <= 0 <= (result.gap.high or 0.0):
        return _no_sure_gap(result, among if alike else "")
    ends = {EVIDENCE: "stays", NO_MATERIAL: "all but vanishes"}
    stays = ends.get(result.verdict, "may stay or vanish")
    if alike and result.together.kind == "reversed":
        stays = "turns round"
    size = f"{100 * abs(gap):.0f}-point gap" if abs(gap) >= 0.005 else "gap of less than a point"
    left = result.together.unexplained
    if alike and result.judged.reason and ((left.low or 0.0) > 0 or (left.high or 0.0) < 0):
        tail = "but these data do not settle whether anything is left"
        told = [f"The {size} between {both} is {_about(left)}" for both in _both(result)]
        return shortest(*(f"{each} {end}, {tail}." for end in (among, "among people alike") for each in told))
    if alike and stays == "stays" and left.value is not None and abs(abs(left.value) - abs(gap)) >= 0.01:
        stays = f"is {_about(left)}"
    if not alike and result.verdict not in ends:
        told = [f"These data cannot tell whether the {size} between {both} stays" for both in _both(result)]
    else:
        told = [f"The {size} between {both} {stays}" for both in _both(result)]
    short = "among people alike"
    return shortest(*(f"{each} {end}." for end in (among, short) for each in told))


def _about(left: Estimate) -> str:
    """Word what is left in whole points."""
    size = 100 * abs(left.value or 0.0)
    return (
        "less than a point" if size < 0.5 else "about 1 point" if size < 1.5 else f"about {size:.0f} points"
    )


def _both(result: ExplainResult) -> list[str]:
    """Name both groups, in ever fewer words: what they share is said once."""
    ours, theirs = people_in(result.source), people_in(result.target)
    apart = people_in(named_apart(result.target, result.source))
    like = "" if theirs == apart else "otherwise equal "
    return [
        f"{ours} and {theirs}",
        f"{brief(ours, 99)} and {like}{apart}",
        f"{people_in(cut_apart(result.source, result.target, 4))} and "
        f"{like}{people_in(cut_apart(named_apart(result.target, result.source), result.source, 3))}",
    ]


def _no_sure_gap(result: ExplainResult, among: str) -> str:
    """Say in one sentence what there is to say where the gap itself may be chance."""
    told = []
    for where in dict.fromkeys((among, among and "among people alike")):
        if result.verdict == EVIDENCE:
            form = (
                f"In all, {{}} may be decided alike; {where or 'on the half of them looked at'} they are not."
            )
        elif result.verdict == NO_MATERIAL and where:
            first = begun(where)
            form = f"{first}, {{}} are decided about alike; in all, no difference is sure."
        elif result.verdict == NO_MATERIAL:
            form = "The favorable decision is about as frequent for {}."
        else:
            more = f", in all or {where}" if where else ""
            form = f"These data cannot tell whether {{}} are decided differently{more}."
        told += [(form, both) for both in _both(result)]
    return shortest(*(both.join(form.split("{}", 1)) for form, both in told))


_FEW = 100  # simulated in benchmarks/explain_calibration.py


def finding(
    source: str,
    target: str,
    gap: Estimate,
    each: tuple[Explained, ...],
    together: Explained,
    judged: Judged,
    material: float,
) -> str:
    """Say how large the gap is, what of it is left among people alike, and what turns round.

    Everything is told in the direction of the gap: what is below 0 goes the other way.
    """
    told = _along(gap, gap)
    said = [
        f"In all, {people_in(source)} are decided favorably {_apart(gap)} {people_in(target)}"
        + (f" ({between(told)})." if gap.low is not None else "."),
    ]
    if together.columns:
        left = _along(together.unexplained, gap)
        said.append(
            f"Among people alike in {together.name}, {_points_left(left)} ({between(left)}), measured on the "
            "half of the people that did not choose these."
        )
    else:
        said.append("No explainer goes with it beyond chance.")
    for item in [item for item in each if item.kind][:_MOST_NAMED]:
        left = _along(item.unexplained, gap)
        within, end = "about 0", ""
        if item.kind == "reversed":
            within, end = f"{points(abs(left.value or 0.0))} the other way", ": a Simpson reversal"
        said.append(
            f"{points(told.value or 0.0)} in all, {within} within {item.name} ({between(left)}){end}."
        )
    if judged.verdict == NO_MATERIAL:
        said.append(f"A difference of {100 * material:.3g} points among people alike is ruled out.")
    elif judged.verdict != EVIDENCE and judged.people_needed is not None and not judged.reason:
        said.append(f"About {judged.people_needed:,} people in each group would be needed to tell.")
    elif judged.reason:
        said.append(f"{begun(judged.reason)}.")
    return " ".join(said)


def _along(found: Estimate, gap: Estimate) -> Estimate:
    """Return a difference counted in the direction of the gap."""
    if (gap.value or 0.0) >= 0 or found.value is None:
        return found
    low, high = (None if end is None else -end for end in (found.high, found.low))
    return replace(found, value=-found.value, low=low, high=high)


def interval_words(judged: Judged) -> str:
    """Word the one interval that the verdict follows from."""
    value = judged.interval
    if value.value is None or value.low is None:
        return "what is left among people alike: no interval"
    return f"{points(value.value)} left among people alike, {between(value)}"


def points(share: float) -> str:
    """Word a difference of shares: ``4.7 points``."""
    return f"{in_points(share)} points"


def _apart(gap: Estimate) -> str:
    if gap.value is None:
        return "as far as can be told not otherwise than"
    size = in_points(abs(gap.value))
    if float(size) == 0:
        return "as often as"
    return f"{size} points {'more' if gap.value > 0 else 'less'} often than"


def _points_left(left: Estimate) -> str:
    if left.value is None:
        return "it is not known how much of it is left"
    way = "of it are left" if left.value >= 0 else "the other way are left"
    return f"{points(abs(left.value))} {way}"


def warnings_for(
    each: tuple[Explained, ...], together: Explained, chosen: tuple[str, ...]
) -> tuple[str, ...]:
    """Say what a reader could misread."""
    found = []
    if not each:
        found.append(
            "No column may explain anything: all features are protected or immutable. Name some, or give "
            "them other roles."
        )
    if chosen and together.unexplained.n < _FEW:
        found.append(
            "What is left within the columns taken together is measured on "
            f"{people(together.unexplained.n)} of the smaller group: below {_FEW} its interval covers "
            "less often than it claims."
        )
    thin = [item.name for item in each if min(item.source_covered, item.target_covered) < 0.8]
    if thin:
        found.append(
            f"Fewer than 80 % of a group have people alike in the other by {', '.join(thin[:5])}: these say "
            "little, and come last."
        )
    hidden = [item for item in (together, *each) if item.within_p <= 0.05 / (1 + len(each))]
    hidden = [item for item in hidden if _cancels(item)]
    if hidden:
        found.append(
            f"Within values of {hidden[0].name} the groups differ both ways, which cancels: by "
            f"{points(hidden[0].distance)} on average, {points(hidden[0].by_chance)} by chance."
        )
    if chosen:
        found.append("Explained is arithmetic, not a cause: a column can itself come of unequal treatment.")
    return tuple(found)


def _cancels(item: Explained) -> bool:
    left = item.unexplained
    return left.low is not None and left.high is not None and left.low <= 0 <= left.high
