"""What is shown of a barycenter audit."""

from __future__ import annotations

from functools import partial

from audits.barycenter import figures
from audits.barycenter.result import AgainstEverybody, BarycenterResult, GroupFlips
from audits.barycenter.text import COSTS, interval_words, way_words
from audits.records import Exhibit, Section
from audits.stats import AVERAGE
from audits.stats.badges import interval_text
from audits.stats.text import p_words, people_in, percent
from audits.stats.vocabulary import vocabulary
from audits.text import begun


def section(result: BarycenterResult) -> Section:
    """Arrange a barycenter audit."""
    worst = result.group(result.rests_on)
    who, told = begun(people_in(worst.group)), interval_text(result.judged)
    decides, drawn = result.judged.decided_by.removeprefix("level: "), figures.MAX_ROWS
    first = "" if decides == AVERAGE else f" The first row decides and is another share: {decides}."
    some = f" {drawn} of {len(result.groups)} groups." if len(result.groups) > drawn else ""
    exhibits = [
        Exhibit(
            "judged",
            f"{who}: {told or 'no interval'}",
            f"Dot: {vocabulary().rate_yes} minus that of all other groups. Line: interval, corrected "
            f"for all groups. Thick: the one that decides.{first}{some}",
            partial(figures.gaps, result),
            result.to_frame,
        ),
        Exhibit(
            "flips",
            f"{who}: {_both_ways(worst, worst.people)}",
            f"Right, filled: {way_words('only_self')}. Left, hollow: {way_words('only_counterpart')}. "
            "Chance alone explains part of both.",
            partial(figures.flips, result),
            result.to_frame,
            tab="who",
        ),
        *(
            marginals_exhibit(result, worst.group, way)
            for way in ("only_self", "only_counterpart")
            if result.marginals(worst.group, way)
        ),
    ]
    if result.report(worst.group, worst.way):
        exhibits.append(transparency_exhibit(result, worst.group))
    if all(each.everybody is not None for each in result.groups):
        exhibits.append(
            Exhibit(
                "everybody",
                f"{who} matched with everyone: {_both_ways(worst.everybody, worst.people)}",
                "Every group matched with all people, including its own. The larger a group, the more of "
                "its people meet their own.",
                partial(figures.everybody, result),
                result.to_frame,
                tab="Against everyone",
            )
        )
    far = max(result.groups, key=lambda each: each.distance)
    exhibits.append(
        Exhibit(
            "distances",
            f"{begun(people_in(far.group))} are furthest from their matches",
            "Near the gray dots: the group is like everyone else. Far: its matches differ from it.",
            partial(figures.distances, result),
            result.distances_frame,
            tab="Against everyone",
        )
    )
    return Section(
        title=f"All groups by {' and '.join(result.by)} at once",
        exhibits=tuple(exhibits),
        facts=_facts(result),
    )


def _both_ways(shares: GroupFlips | AgainstEverybody | None, people: float) -> str:
    """Say how many flip in either direction."""
    if shares is None:
        return "not known"
    own, other = percent(shares.only_self, people), percent(shares.only_counterpart, people)
    return f"{own} {way_words('only_self')}, {other} the reverse"


def _facts(result: BarycenterResult) -> dict[str, str]:
    near = result.nearness
    rounds = f"{near.rounds} round{'' if near.rounds == 1 else 's'}"
    above = "–" if near.above is None else f"at most {100 * max(near.above, 0.0):.1f}%"
    return {
        "Verdict": f"{result.verdict}: {interval_words(result.judged, result.group(result.rests_on))}",
        f"{begun(vocabulary().share_yes)} where all groups meet": percent(result.reference_rate, result.n),
        "Equal rates and features": "not tested"
        if result.differ_p is None
        else f"p {p_words(result.differ_p)}",
        "Chance": result.chance,
        "Cost": f"{COSTS[result.cost]} ({result.cost})",
        "Distance above the least possible": f"{above} ({near.points:,} points, {rounds})",
    }


def marginals_exhibit(result: BarycenterResult, group: str, way: str) -> Exhibit:
    """Show who flips one way in one group."""
    found = result.marginals(group, way)
    first = f": {found[0].feature} sets them apart most" if found else ""
    return Exhibit(
        f"marginals_{way}",
        f"{begun(people_in(group))} {way_words(way)}{first}",
        "Up: people who flip. Down: everyone in the group. The features that differ most first.",
        partial(figures.marginals, result, group, way),
        partial(result.marginals_frame, group, way),
        bars=True,
        wide=True,
        tab="who",
    )


def transparency_exhibit(result: BarycenterResult, group: str, *, by_sign: bool = False) -> Exhibit:
    """Show which features set those of a group who flip apart from their matches."""
    lines = result.report(group, result.group(group).way, by_sign=by_sign)
    most = f": most in {lines[0].feature}" if lines else ""
    return Exhibit(
        "transparency",
        f"{begun(people_in(group))} who flip differ from their matches{most}",
        "Transparency report: person minus match, by feature. Lines: intervals given this matching. Gray: "
        f"may be chance. Orange: {way_words(result.group(group).way)}.",
        partial(figures.transparency, result, group, by_sign=by_sign),
        partial(result.transparency_frame, group, by_sign=by_sign),
        wide=True,
        tab="apart",
    )
