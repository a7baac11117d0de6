"""The loss-ratio audit in a report."""

from __future__ import annotations

import pandas as pd

from audits.loss_ratio import LossRatioResult, figures
from audits.records import Exhibit, Section
from audits.stats.badges import interval_text
from audits.stats.text import count, number, p_words, people, percent, several
from audits.stats.vocabulary import vocabulary
from audits.text import begun


def section(result: LossRatioResult) -> Section:
    """Arrange a loss-ratio audit."""
    limit, end = number(result.tolerance), result.curve[-1]
    beyond = sum(bar.people for bar in result.histogram if bar.low >= result.tolerance)
    everyone = people(result.statistic.n)
    of = f"All {everyone}" if beyond >= result.statistic.n else f"About {count(beyond)} of {everyone}"
    groups, features = (
        f" Showing {most} of {many:,}." if many > most else ""
        for most, many in (
            (figures.MAX_GROUPS, len(result.groups)),
            (figures.MAX_FEATURES, sum(item.loading > figures.NOT_MOVED for item in result.features)),
        )
    )
    exhibits = [
        Exhibit(
            "against_tolerance",
            f"Error after the move: {interval_text(result.judged) or 'no interval'}",
            "Thick: the interval that decides. Dashed line: your limit. Groups' intervals hold together."
            + groups,
            lambda: figures.against_tolerance(result),
            lambda: _ratios(result),
        ),
        Exhibit(
            "ratios",
            f"{of} have an error more than {limit} times as large",
            f"Bar: {vocabulary().people} by how many times larger their error becomes.",
            lambda: figures.ratios(result),
            result.histogram_frame,
            bars=True,
            tab="who",
        ),
        Exhibit(
            "subspace",
            f"Moved most: {result.features[0].feature}" if result.features else "Nothing was moved",
            f"{begun(str(result.metric.source))}. Long bar: mostly what should not matter.{features}",
            lambda: figures.subspace(result),
            result.features_frame,
            tab="apart",
        ),
        Exhibit(
            "along_flow",
            f"After {several(end.steps, 'step')}: {number(end.statistic)} times on average",
            "If the line still rises at the right end, longer moves would find more.",
            lambda: figures.along_flow(result),
            result.curve_frame,
            tab="Stopping time",
        ),
    ]
    if result.misspecified:
        exhibits.append(
            Exhibit(
                "misspecified",
                _off(result),
                "Dot: mean ratio with the metric turned by that angle. Flat: the finding does not depend "
                "on it.",
                lambda: figures.misspecified_metric(result),
                result.misspecified_frame,
                tab="Misspecified metric",
            )
        )
    return Section(title="Individual fairness: loss ratio", exhibits=tuple(exhibits), facts=_facts(result))


def _ratios(result: LossRatioResult) -> pd.DataFrame:
    """Return both ratios of everyone, and the loss ratio by group beneath them in the same column."""
    groups = result.groups_frame().rename(columns={"mean ratio": "ratio"})
    groups.insert(0, "ratio of", "loss")
    return pd.concat([result.to_frame(), groups], ignore_index=True)


def _off(result: LossRatioResult) -> str:
    """Say between what the mean ratio stays where the metric is off by some degrees."""
    far = max(abs(row.degrees) for row in result.misspecified)
    means = [row.statistic.value for row in result.misspecified if row.statistic.value is not None]
    reach = f"{number(min(means))} to {number(max(means))} times" if means else "no mean"
    return f"Metric off by up to {far:g} degrees: {reach}"


def _facts(result: LossRatioResult) -> dict[str, str]:
    """Return what is written below the exhibits, by name."""
    facts = {
        "Loss": str(result.options["loss"]).replace("_", "-"),
        "Moved by": result.method,
        "Fair metric": f"{result.metric.source}: {result.metric.dimensions} of "
        f"{result.metric.encoded} encoded directions are free",
        "Intervals": f"{result.statistic.method}; {result.error_ratio.statistic.method}",
        "By the paper's own formulas": f"T {number(result.paper.lower_bound)}; of error rates "
        f"{number(result.paper.error_lower_bound)}",
        "People used": result.people_used,
    }
    for each in result.metric.told:
        facts[f"Predicted in people held out: {each.attribute}"] = f"p {p_words(each.p_value)}" + (
            "" if each.told else ", so no direction is tied to it"
        )
    if result.search is not None:
        facts["Length of the search"] = (
            f"{result.search.steps} steps, then {2 * result.search.steps}: from a mean ratio of "
            f"{number(result.search.first)} to {number(result.search.whole)}; "
            + (
                "numbers within the observed ranges"
                if result.search.within_range
                else f"{percent(result.search.outside, result.statistic.n)} of the people end outside the "
                "observed range of some number"
            )
        )
    if result.p_value is not None:
        facts["Test at the tolerance"] = f"p {p_words(result.p_value)}"
    for row in result.comparison:
        facts[f"Compared: {row['model']}"] = (
            f"balanced accuracy {number(row['balanced_accuracy'])}, T {number(row['lower_bound'])}, above "
            f"the tolerance in {100 * row['rejected']:.0f}% of {row['splits']} splits"
        )
    return facts
