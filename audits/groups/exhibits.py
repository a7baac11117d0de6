"""What a report shows of a group comparison."""

from __future__ import annotations

from audits.groups import GroupsResult, figures
from audits.reports.exhibits import Exhibit, Section
from audits.stats.words import number

__all__ = ["groups_section"]


def groups_section(result: GroupsResult) -> Section:
    """Arrange a group comparison."""
    facts = {}
    for spread in result.spreads:
        for name in (
            "demographic_parity_difference",
            "demographic_parity_ratio",
            "equal_opportunity_difference",
            "equalized_odds_difference",
            "average_odds_difference",
        ):
            gap = getattr(spread, name)
            if gap is not None:
                facts[f"{spread.attribute}: {name.replace('_', ' ')}"] = (
                    f"{number(gap.value)} ({number(gap.low)} to {number(gap.high)}, {gap.method})"
                )
    return Section(
        title="Groups",
        question="How do the groups compare at all?",
        exhibits=tuple(exhibit for spread in result.spreads for exhibit in _by(result, spread.attribute)),
        facts=facts,
        limits=(
            "Equal rates do not mean that similar people are treated alike, and unequal ones can have "
            "reasons that the data do not hold. Error rates take the label as the truth."
        ),
    )


def _by(result: GroupsResult, attribute: str) -> list[Exhibit]:
    """Return the exhibits of one attribute."""
    table = result.to_frame()
    k, most = len(result.of(attribute)), figures.MOST_GROUPS
    drawn = f" Drawn are the {most} largest of {k} groups." if k > most else ""
    found = [
        Exhibit(
            f"Rates by {attribute} with intervals; the dotted line is four fifths of the highest "
            f"selection rate, hollow groups are too small to say anything.{drawn}",
            figures.rates(result, attribute),
            table[table["attribute"] == attribute].drop(columns="attribute"),
        ),
        Exhibit(
            f"Differences from the reference group of {attribute}, with intervals that hold for all groups "
            f"and rates together.{drawn}",
            figures.differences(result, attribute),
            result.differences_frame(attribute),
        ),
        Exhibit(
            f"Distribution of scores by {attribute}.",
            figures.scores(result, attribute),
            result.scores_frame(attribute),
        ),
    ]
    calibration = result.calibration_frame(attribute)
    if len(calibration):
        found.append(
            Exhibit(
                f"Calibration by {attribute}: on the dotted line scores mean what they say.",
                figures.calibration(result, attribute),
                calibration,
            )
        )
    return found
