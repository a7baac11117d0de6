"""What a report shows of a group comparison."""

from __future__ import annotations

import pandas as pd

from audits.groups.by_probability import ASSUMPTION
from audits.groups.figures import curves, deciding, dots, layout
from audits.groups.result import GroupsResult
from audits.groups.words import spread_words
from audits.records import Exhibit, Section

__all__ = ["said", "section"]

_SAID = {
    "rates": (
        "Rates by {}",
        "Dot: rate. Line: interval. Left of the dotted line: less than four-fifths of the highest rate.",
    ),
    "differences": (
        "Differences from the reference group, by {}",
        "A line that doesn't touch 0 is more than chance, corrected for all comparisons.",
    ),
    "scores": (
        "Scores by {}",
        "A line that lies further right: a group with higher scores, better for the person.",
    ),
    "calibration": (
        "Do scores mean the same, by {}?",
        "On the dotted line: probabilities are right. Above it, a group turns out better than its scores.",
    ),
}


def said(name: str, attribute: str, more: str = "") -> tuple[str, str]:
    """Return what stands above a figure of an attribute: a heading, and what to see."""
    heading, caption = _SAID[name]
    return heading.format(attribute), caption + more


def section(result: GroupsResult) -> Section:
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
                facts[f"{spread.attribute}: {name.replace('_', ' ')}"] = spread_words(gap)
    known = [exhibit for spread in result.spreads for exhibit in _by(result, spread.attribute)]
    probable = [_probable(result, name) for name in dict.fromkeys(item.attribute for item in result.probable)]
    return Section(
        title="Groups",
        exhibits=(_decides(result), *known, *probable),
        facts=facts,
    )


def _decides(result: GroupsResult) -> Exhibit:
    """Return the exhibit of the interval that the verdict follows from."""
    return Exhibit(
        "deciding",
        deciding.title(result),
        deciding.caption(result),
        lambda: deciding.deciding(result),
        lambda: _differences(result) if result.table else result.probable_frame(),
    )


def _differences(result: GroupsResult) -> pd.DataFrame:
    """Return every difference from a reference group, by attribute."""
    names = dict.fromkeys(row.attribute for row in result.table)
    frames = {name: result.differences_frame(name) for name in names}
    return pd.concat(frames, names=["attribute"]).reset_index(level=0)


def _probable(result: GroupsResult, attribute: str) -> Exhibit:
    """Return the exhibit of an attribute of which each person has only probabilities."""
    return Exhibit(
        f"probable_{attribute}",
        f"Selection rates by {attribute}, known only by probability",
        "Thin lines: where the rate can lie at all, given the probabilities. Dots with thick lines: the rate "
        f"if {ASSUMPTION}. Nobody was put into a group.",
        lambda: dots.probable(result, attribute),
        lambda: result.probable_frame(attribute),
    )


def _by(result: GroupsResult, attribute: str) -> list[Exhibit]:
    """Return the exhibits of one attribute."""
    table = result.to_frame()
    k, most = len(result.of(attribute)), layout.MOST_GROUPS
    drawn = f" Showing the {most} largest of {k} groups." if k > most else ""
    found = [
        Exhibit(
            f"rates_{attribute}",
            *said("rates", attribute, drawn),
            lambda: dots.rates(result, attribute),
            lambda: table[table["attribute"] == attribute].drop(columns="attribute"),
        ),
        Exhibit(
            f"differences_{attribute}",
            *said("differences", attribute, drawn),
            lambda: dots.differences(result, attribute),
            lambda: result.differences_frame(attribute),
        ),
    ]
    if result.further:
        found.append(
            Exhibit(
                f"further_{attribute}",
                f"Further metrics by {attribute}, minus the reference group's",
                "Each in its own unit. A line that doesn't touch 0 is more than chance, corrected for all "
                f"comparisons.{drawn}",
                lambda: dots.differences(result, attribute, further=result.further),
                lambda: result.differences_frame(attribute),
            )
        )
    if curves.graded(result, attribute):
        found.append(
            Exhibit(
                f"scores_{attribute}",
                *said("scores", attribute),
                lambda: curves.scores(result, attribute),
                lambda: result.scores_frame(attribute),
                bars=True,
            )
        )
    pooled = result.pooled_frame(attribute)
    if len(pooled):
        found.append(
            Exhibit(
                f"pooled_{attribute}",
                f"Rates by {attribute}, small groups pooled with groups like them",
                f"Raw rates by {attribute}, and partially pooled ones beside them. Pooling helps small "
                "groups, on average over groups. It moves a group that differs from all others too far. "
                f"Verdicts rest on the raw rates.{drawn}",
                lambda: dots.pooled(result, attribute),
                lambda: pooled,
            )
        )
    calibration = result.calibration_frame(attribute)
    if len(calibration):
        found.append(
            Exhibit(
                f"calibration_{attribute}",
                *said("calibration", attribute),
                lambda: curves.calibration(result, attribute),
                lambda: calibration,
            )
        )
    return found
