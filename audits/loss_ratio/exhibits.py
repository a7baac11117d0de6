"""The loss-ratio audit in a report."""

from __future__ import annotations

from audits.loss_ratio import LossRatioResult
from audits.loss_ratio import figures as figures
from audits.records import Exhibit, Section
from audits.stats.words import count, number, p_words, percent

__all__ = ["SAID", "section"]

SAID = {
    "against_tolerance": (
        "How many times as large",
        "Thick: the interval that decides. Dashed line: your limit. Short stroke: the one-sided bound.",
    ),
    "along_flow": (
        "How long people were moved",
        "Where the line still rises at the right end, longer moves would find more.",
    ),
    "ratios": (
        "Whose loss grows",
        "Bars right of the dashed line are people whose loss grows by more than you accept.",
    ),
    "by_group": (
        "Which groups' loss grows",
        "Each group's mean with its interval; right of the dashed line it is more than you accept.",
    ),
    "subspace": (
        "What was moved",
        "Long bars: features that mostly say what should not matter.",
    ),
    "misspecified": (
        "If the metric is off by some degrees",
        "Dot: mean ratio under the metric turned so far. Flat: the finding does not depend on the metric.",
    ),
    "heat_map": (
        "Other models of these two features",
        "The lower bound of how many times as large, one cell a model with these two weights.",
    ),
}
"""What stands above each figure: a heading, and what to see."""


def section(result: LossRatioResult) -> Section:
    """Arrange a loss-ratio audit."""
    exhibits = [
        Exhibit(
            "against_tolerance",
            *SAID["against_tolerance"],
            lambda: figures.against_tolerance(result),
            result.to_frame,
        ),
        Exhibit(
            "along_flow",
            *SAID["along_flow"],
            lambda: figures.along_flow(result),
            result.curve_frame,
        ),
        Exhibit(
            "ratios",
            *SAID["ratios"],
            lambda: figures.ratios(result),
            result.histogram_frame,
            bars=True,
        ),
        Exhibit(
            "by_group",
            *SAID["by_group"],
            lambda: figures.by_group(result),
            result.groups_frame,
        ),
        Exhibit(
            "subspace",
            *SAID["subspace"],
            lambda: figures.subspace(result),
            result.features_frame,
        ),
    ]
    if result.misspecified:
        exhibits.append(
            Exhibit(
                "misspecified",
                *SAID["misspecified"],
                lambda: figures.misspecified(result),
                result.misspecified_frame,
            )
        )
    if len(result.heat_map):
        exhibits.append(
            Exhibit(
                "heat_map",
                *SAID["heat_map"],
                lambda: figures.heat_map(result),
                lambda: result.heat_map,
            )
        )
    return Section(
        title="Individual fairness: loss ratio",
        exhibits=tuple(exhibits),
        facts=_facts(result),
    )


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
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited"
        + "".join(f"; {count(n)} {reason}" for reason, n in result.rows["left_out"].items()),
    }
    for each in result.metric.told:
        facts[f"Told in people held out: {each.attribute}"] = f"p {p_words(each.p_value)}" + (
            "" if each.told else ", so no direction is tied to it"
        )
    if result.search is not None:
        facts["How far the search went"] = (
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
            f"the tolerance in {100 * row['rejected']:.0f} % of {row['splits']} splits"
        )
    return facts
