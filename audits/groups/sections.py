"""What a report shows of a group comparison."""

from __future__ import annotations

import pandas as pd

from audits.groups.amounts.inference import ordered
from audits.groups.amounts.text import spread_facts
from audits.groups.by_probability import ASSUMPTION
from audits.groups.figures import amounts as figures
from audits.groups.figures import curves, dots, layout, verdict
from audits.groups.inference import MIN_COVERED
from audits.groups.names import title_pair
from audits.groups.result import Amounts, GroupsResult, amounts_frame
from audits.groups.text import four_fifths
from audits.options import MEASURE_WORDS
from audits.records import Exhibit, Section
from audits.stats import EVIDENCE, Estimate
from audits.stats.text import estimate_text, percent, several
from audits.stats.vocabulary import vocabulary
from audits.text import begun

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


_EXTREMES = {"rates": "selection_rate", "scores": "mean_score"}
"""What of the groups the title of a figure tells."""


def heading_and_caption(
    name: str, attribute: str, more: str = "", result: GroupsResult | None = None
) -> tuple[str, str]:
    """Return what stands above a figure of an attribute: its finding, where there is one, and what to see."""
    heading, caption = _SAID[name]
    told = ""
    if result is not None and name == "differences":
        told = _differing(result, attribute)
    elif result is not None and name in _EXTREMES:
        told = _extremes(result, attribute, _EXTREMES[name])
    return told or heading.format(attribute), caption + more


def _extremes(result: GroupsResult, attribute: str, name: str) -> str:
    """Say which groups of enough people have the lowest and the highest rate, or mean score."""
    values = {row.group: getattr(row, name).value for row in result.of(attribute)}
    known = {group: value for group, value in values.items() if value is not None}
    enough = sorted(
        (row for row in result.of(attribute) if row.n >= MIN_COVERED and row.group in known),
        key=lambda row: known[row.group],
    )
    if len(enough) < 2:
        return ""
    ends = (enough[0], enough[-1])
    low, high = (known[row.group] for row in ends)
    begin, told = begun(vocabulary().share_yes), [percent(known[row.group], row.n) for row in ends]
    if name == "mean_score":
        digits = next((n for n in (2, 3, 4) if f"{low:.{n}f}" != f"{high:.{n}f}"), 2)
        begin, told = "Mean score", [f"{value:.{digits}f}" for value in (low, high)]
    who = title_pair(attribute, *(row.group for row in ends))
    # smaller groups that are drawn, and left out of the title
    outside = min(known.values()) < low or max(known.values()) > high
    among = f", in groups of {MIN_COVERED} people or more" if outside else ""
    return f"{begin}: {told[0]} of {who[0]} to {told[1]} of {who[1]}{among}"


def _differing(result: GroupsResult, attribute: str) -> str:
    """Say how many groups differ from the reference by more than chance, in any measure."""
    rows = [row for row in result.of(attribute) if row.differences]
    sure = sum(any(gap.verdict == EVIDENCE for gap in row.differences.values()) for row in rows)
    some = f"{sure} of {several(len(rows), 'group')}" if sure else "No group"
    return f"{some} {'differs' if sure < 2 else 'differ'} by more than chance"


def section(result: GroupsResult) -> Section:
    """Arrange a group comparison."""
    if result.amounts is not None:
        return _section_of_amounts(result, result.amounts)
    facts = _measure_facts(result)
    for spread in result.spreads:
        for name, gap in vars(spread).items():
            if isinstance(gap, Estimate):
                facts[f"{spread.attribute}: {name.replace('_', ' ')}"] = f"{estimate_text(gap)}; {gap.method}"
    known = [exhibit for spread in result.spreads for exhibit in _by(result, spread.attribute)]
    probable = [_probable(result, name) for name in dict.fromkeys(item.attribute for item in result.probable)]
    return Section(
        title="Groups",
        exhibits=(_decides(result), *known, *probable),
        facts=facts,
    )


def _measure_facts(result: GroupsResult) -> dict[str, str]:
    """Say which measure was asked for, and the four-fifths rule where decisions are at stake."""
    measure = result.options.get("measure")
    facts = {} if measure is None else {"Measure asked for": MEASURE_WORDS[measure]}
    if measure in {None, "equal_rates"}:
        for spread in result.spreads:
            gaps = [row.differences.get("selection_rate") for row in result.of(spread.attribute)]
            reason = next((gap.reason for gap in gaps if gap is not None and gap.reason), "")
            told = four_fifths(spread.demographic_parity_ratio, reason)
            facts[f"Four-fifths rule, {spread.attribute}"] = told
    return facts


def _section_of_amounts(result: GroupsResult, amounts: Amounts) -> Section:
    """Arrange a comparison of numbers: the attribute of the sentence first."""
    told = next(ordered(amounts.table))[0].attribute
    attributes = dict.fromkeys([told, *(row.attribute for row in amounts.table)])
    shown = [exhibit for attribute in attributes for exhibit in _amounts(result, amounts, attribute)]
    return Section(title="Groups", exhibits=(_decides(result), *shown), facts=spread_facts(amounts))


def _amounts(result: GroupsResult, amounts: Amounts, attribute: str) -> list[Exhibit]:
    """Return the exhibits of a numeric outcome by one attribute."""
    found = [
        Exhibit(
            f"distributions_{attribute}",
            f"How {amounts.numbers} is spread, by {attribute}",
            "Outline: share of the group in each range. The outermost ranges include everyone beyond.",
            lambda: figures.distributions(result, attribute),
            lambda: result.scores_frame(attribute),
            bars=True,
            tab="Distribution",
        ),
        Exhibit(
            f"quantiles_{attribute}",
            f"Low, middle and high {amounts.numbers}, by {attribute}",
            "Dot: median, with its interval. Diamond: mean. Line: from the 10th to the 90th percentile.",
            lambda: figures.quantiles(result, attribute),
            lambda: amounts_frame(amounts, attribute).drop(columns="attribute"),
            tab="Distribution",
        ),
        Exhibit(
            f"amount_differences_{attribute}",
            f"Differences from the reference group, by {attribute}",
            "A line that doesn't touch 0 is more than chance, corrected for all comparisons. Gray band: "
            "too little to matter.",
            lambda: figures.tails(result, attribute),
            lambda: result.differences_frame(attribute),
            tab="who",
        ),
    ]
    if amounts.predicted and any(row.residual is not None for row in amounts.of(attribute)):
        found.append(
            Exhibit(
                f"residuals_{attribute}",
                f"Who is over-predicted, by {attribute}",
                f"Dot: mean of {amounts.name} minus its prediction. Left of 0: predictions are too high.",
                lambda: figures.residuals(result, attribute),
                lambda: amounts_frame(amounts, attribute).drop(columns="attribute"),
                tab="Residuals",
            )
        )
    return found


def _decides(result: GroupsResult) -> Exhibit:
    """Return the exhibit of the interval that the verdict follows from."""
    return Exhibit(
        "deciding",
        verdict.title(result),
        verdict.caption(result),
        lambda: verdict.deciding(result),
        lambda: _differences(result) if result.table or result.amounts else result.probable_frame(),
    )


def _differences(result: GroupsResult) -> pd.DataFrame:
    """Return every difference from a reference group, by attribute."""
    table = result.table if result.amounts is None else result.amounts.table
    frames = {row.attribute: result.differences_frame(row.attribute) for row in table if row.is_reference}
    return pd.concat(frames, names=["attribute"]).reset_index(level=0)


def _probable(result: GroupsResult, attribute: str) -> Exhibit:
    """Return the exhibit of an attribute of which each person has only probabilities."""
    return Exhibit(
        f"probable_{attribute}",
        f"Selection rates by {attribute}, known only by probability",
        "Thin lines: where the rate can lie at all, given the probabilities. Dots with thick lines: the rate "
        f"if {ASSUMPTION}. Nobody was assigned to a group.",
        lambda: dots.probable(result, attribute),
        lambda: result.probable_frame(attribute),
    )


def _further(result: GroupsResult, attribute: str, drawn: str) -> Exhibit:
    """Return the exhibit of metrics that have a verdict beside that of the rates."""
    return Exhibit(
        f"further_{attribute}",
        f"Further metrics by {attribute}, minus the reference group's",
        "Each in its own unit. A line that doesn't touch 0 is more than chance, corrected for all "
        f"comparisons.{drawn}",
        lambda: dots.differences(result, attribute, further=result.further),
        lambda: result.differences_frame(attribute),
    )


def _by(result: GroupsResult, attribute: str) -> list[Exhibit]:
    """Return the exhibits of one attribute."""
    table = result.to_frame()
    k, most = len(result.of(attribute)), layout.MAX_GROUPS
    drawn = f" Showing the {most} largest of {k} groups." if k > most else ""
    found = [
        Exhibit(
            f"rates_{attribute}",
            *heading_and_caption("rates", attribute, drawn, result),
            lambda: dots.rates(result, attribute),
            lambda: table[table["attribute"] == attribute].drop(columns="attribute"),
        ),
        Exhibit(
            f"differences_{attribute}",
            *heading_and_caption("differences", attribute, drawn, result),
            lambda: dots.differences(result, attribute),
            lambda: result.differences_frame(attribute),
        ),
    ]
    if result.further:
        found.append(_further(result, attribute, drawn))
    if curves.has_scores(result, attribute):
        found.append(
            Exhibit(
                f"scores_{attribute}",
                *heading_and_caption("scores", attribute, result=result),
                lambda: curves.scores(result, attribute),
                lambda: result.scores_frame(attribute),
                bars=True,
            )
        )
    if len(result.pooled_frame(attribute)):
        found.append(_pooled(result, attribute, drawn))
    calibration = result.calibration_frame(attribute)
    if len(calibration):
        found.append(
            Exhibit(
                f"calibration_{attribute}",
                *heading_and_caption("calibration", attribute),
                lambda: curves.calibration(result, attribute),
                lambda: calibration,
            )
        )
    return found


def _pooled(result: GroupsResult, attribute: str, drawn: str) -> Exhibit:
    return Exhibit(
        f"pooled_{attribute}",
        f"Rates by {attribute}, small groups pooled with groups like them",
        f"Raw rates by {attribute}, and partially pooled ones beside them. Pooling helps small "
        "groups, on average over groups. It moves a group that differs from all others too far. "
        f"Verdicts rest on the raw rates.{drawn}",
        lambda: dots.pooled_rates(result, attribute),
        lambda: result.pooled_frame(attribute),
    )
