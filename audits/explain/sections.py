"""What is shown of an explain audit: what is left, one column level by level, and each level."""

from __future__ import annotations

from audits.explain import figures
from audits.explain.result import Attribution, ExplainResult
from audits.explain.text import left_words, place_words, size_words
from audits.records import Exhibit, Section
from audits.stats import Estimate
from audits.stats.text import amount_stated, people_in, percent_interval, several
from audits.stats.vocabulary import vocabulary
from audits.text import begun, cut_apart, in_points

_MAX_WORDS = 6  # of a group in a title


def section(result: ExplainResult) -> Section:
    """Arrange an explain audit."""
    exhibits = [
        Exhibit(
            "left",
            _title(result),
            "Thick line: the interval that decides. Dotted: the gap overall. Dashed gray: fewer than 80% of "
            "the source are comparable.",
            lambda: figures.left(result),
            result.to_frame,
        )
    ]
    if result.values:
        exhibits.append(
            Exhibit(
                "values",
                _levels_title(result),
                f"{_rate_name(result)} at each level. If the dots meet in every row, this factor "
                f"accounts for the gap. In brackets: {vocabulary().people} of both groups.",
                lambda: figures.values(result),
                result.values_frame,
                tab="apart",
            )
        )
    if covered := sum(row.covered for row in result.levels):
        exhibits.append(
            Exhibit(
                "levels",
                "What is left at each level",
                "Difference adjusted for all factors, largest first. The intervals hold together."
                + (f" Showing {figures.MAX_ROWS} of {covered:,}." if covered > figures.MAX_ROWS else ""),
                lambda: figures.levels(result),
                result.levels_frame,
                tab="apart",
            )
        )
    if result.attribution is not None:
        exhibits.append(_attribution(result, result.attribution))
    ours, theirs = people_in(result.source), people_in(result.target)
    return Section(
        title=f"What explains the gap: {ours} and {theirs}",
        exhibits=tuple(exhibits),
        facts={
            begun(ours): _rate_words(result, result.source_rate),
            begun(theirs): _rate_words(result, result.target_rate),
            "Adjusted for": result.together.name if result.together.columns else "nothing",
            "Comparable": f"{100 * result.overlap.share:.0f}% of {ours}",
        },
    )


def _levels_title(result: ExplainResult) -> str:
    """Say at how many levels of the first factor the source does worse, and at how many better."""
    known = [row for row in result.values if row.source_rate is not None and row.target_rate is not None]
    below = sum((row.source_rate or 0.0) < (row.target_rate or 0.0) for row in known)
    above = sum((row.source_rate or 0.0) > (row.target_rate or 0.0) for row in known)
    often, k = ("less", below) if below >= above else ("more", above)
    levels = f"{k} of {several(len(known), 'level')} of {result.each[0].name}"
    source = people_in(result.source)
    if len(source.split()) > _MAX_WORDS:
        source = people_in(cut_apart(result.source, result.target, _MAX_WORDS))
    if result.amount is not None:
        way = "lower" if often == "less" else "higher"
        return f"Mean {result.amount.of_which} of {source} is {way} at {levels}"
    return f"{begun(source)} {vocabulary().are_yes} {often} often at {levels}"


def _attribution(result: ExplainResult, found: Attribution) -> Exhibit:
    """Return the exhibit of the features' parts, with what they do not say."""
    first = found.features[0]
    part, gap = first.part.value or 0.0, found.gap.value or 0.0
    adds = "adds" if part * gap >= 0 else "takes"
    some = f"{adds} {in_points(abs(part))} points {'to' if adds == 'adds' else 'from'} a gap of"
    return Exhibit(
        "attribution",
        f"“{first.feature}” {some} {in_points(abs(gap))} points in mean score",
        f"What each feature adds to the mean score of {people_in(result.source)} minus that of "
        f"{people_in(result.target)}; all add up to the gap. Line: interval. This is what the model uses, "
        "not what is justified. Correlated features share their part by convention.",
        lambda: figures.attribution(result),
        result.attribution_frame,
        tab="Which features?",
    )


def _rate_name(result: ExplainResult) -> str:
    return begun(vocabulary().rate_yes) if result.amount is None else f"Mean of {result.amount.of_which}"


def _rate_words(result: ExplainResult, rate: Estimate) -> str:
    """Word a group's share, or its mean."""
    if result.amount is not None:
        return f"mean of {result.amount.of_which} {amount_stated(rate, result.amount.unit)}"
    return f"{vocabulary().share_yes} {percent_interval(rate)}"


def _title(result: ExplainResult) -> str:
    judged, gap = result.judged, result.gap.value
    if gap is None or judged.interval.low is None or not result.together.columns:
        return "What is left of the gap"
    minus = "−" * ((judged.interval.value or 0.0) * gap < 0)  # what is left favors the other group
    of = f"{minus}{left_words(judged)} left like for like{place_words(judged)}"
    return f"{of}; the gap overall is {size_words(result, abs(gap))}"
