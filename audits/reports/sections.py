"""What a report shows of each audit: figures, each with the table behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audits.figures import flipsets as flipset_figures
from audits.figures import groups as group_figures
from audits.flipsets import FlipsetResult
from audits.groups import GroupsResult
from audits.reports.exhibits import Exhibit, Section
from audits.reports.individual import loss_ratio_section
from audits.reports.outcomes import outcome_transport_section, recourse_section
from audits.reports.rulesets import mitigation_section, rule_sets_section
from audits.reports.sensitivity import sensitivity_section
from audits.stats.words import count, number, p_words, percent_interval

__all__ = ["SECTIONS", "Exhibit", "Section"]


def flipset_section(result: FlipsetResult) -> Section:
    """Arrange a flipset audit."""
    larger = "negative" if result.negative.size >= result.positive.size else "positive"
    exhibits = [
        Exhibit(
            "Share of people in each flipset, with its interval and the range that chance alone gives.",
            flipset_figures.sizes(result),
            result.to_frame(),
        )
    ]
    for name in (larger, "positive" if larger == "negative" else "negative"):
        if getattr(result, name).size <= 0:
            continue
        exhibits += [
            Exhibit(
                f"Who is in the {name} flipset: the features that set it apart most from all source people.",
                flipset_figures.marginals(result, name),  # type: ignore[arg-type]
                result.marginals_frame(name),
            ),
            Exhibit(
                f"Transparency report of the {name} flipset: person minus counterpart, by feature.",
                flipset_figures.transparency(result, name),  # type: ignore[arg-type]
                result.transparency_frame(name),
            ),
        ]
    if result.causal is not None:
        exhibits.append(
            Exhibit(
                "Flipsets of transport beside those of the true counterfactuals.",
                flipset_figures.causal(result),
                result.causal_frame(),
            )
        )
    if result.validation["checks"]:
        exhibits.append(
            Exhibit(
                "How far each feature of the counterparts lies from the target group's (KS distance).",
                flipset_figures.fit(result),
                result.fit_frame(),
            )
        )
    if result.training:
        exhibits.append(
            Exhibit("How the map was trained.", flipset_figures.training(result), result.training_frame())
        )
    if not result.arrows.empty:
        exhibits.append(
            Exhibit(
                "Some people and their main counterparts; arrows in colour change the decision.",
                flipset_figures.arrows(result),
                result.arrows,
            )
        )
    facts = {
        "Favorable in the source group": percent_interval(result.source_rate),
        "Favorable in the target group": percent_interval(result.target_rate),
        "Difference": f"{number(result.net.value)} ({number(result.net.low)} to {number(result.net.high)}, "
        f"{result.net.method})",
        "Matching": _matching(result),
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited"
        + "".join(f"; {count(n)} {reason}" for reason, n in result.rows["left_out"].items()),
    }
    if result.noise is not None:
        facts["Chance level"] = (
            f"p {p_words(result.noise.p_value)} from {result.noise.permutations} permutations among "
            f"{result.noise.n_source} and {result.noise.n_target} people, {result.noise.method}"
        )
    return Section(
        title=f"Flipset: {result.source} → {result.target}",
        question="Had these people belonged to the other group, would the model have decided otherwise?",
        exhibits=tuple(exhibits),
        facts=facts,
        limits=(
            "A counterpart is a statistical match, not the same person's other life. A flipset shows who is "
            "decided differently from similar people of the other group; it does not prove that the group "
            "membership caused it, nor that the difference is unjustified."
        ),
    )


def _matching(result: FlipsetResult) -> str:
    cost, slack = number(result.certificate["cost"]), result.certificate["slack"]
    text = f"{result.certificate['method']}; mean cost {cost}"
    if slack is not None:
        return f"{text}, proved to lie within {slack:.1e} of the least possible"
    return f"{text}, where exact matching has {number(result.validation['exact_distance'])}"


def groups_section(result: GroupsResult) -> Section:
    """Arrange a group comparison."""
    table = result.to_frame()
    exhibits = []
    for spread in result.spreads:
        mine = table[table["attribute"] == spread.attribute]
        exhibits += [
            Exhibit(
                f"Rates by {spread.attribute} with intervals; the dotted line is four fifths of the highest "
                "selection rate, hollow groups are too small to say anything.",
                group_figures.rates(result, spread.attribute),
                mine,
            ),
            Exhibit(
                f"Distribution of scores by {spread.attribute}.",
                group_figures.scores(result, spread.attribute),
                mine[["group", "people", "mean score", "mean score low", "mean score high"]],
            ),
        ]
    facts = {}
    for spread in result.spreads:
        gap = spread.demographic_parity_difference
        facts[f"{spread.attribute}: demographic parity difference"] = (
            f"{number(gap.value)} ({number(gap.low)} to {number(gap.high)}, {gap.method})"
        )
        odds = spread.equalized_odds_difference
        if odds is not None:
            facts[f"{spread.attribute}: equalized odds difference"] = (
                f"{number(odds.value)} ({number(odds.low)} to {number(odds.high)}, {odds.method})"
            )
    return Section(
        title="Groups",
        question="How do the groups compare at all?",
        exhibits=tuple(exhibits),
        facts=facts,
        limits=(
            "Equal rates do not mean that similar people are treated alike, and unequal ones can have "
            "reasons that the data do not hold. Error rates take the label as the truth."
        ),
    )


SECTIONS: dict[str, Callable[[Any], Section]] = {
    "groups": groups_section,
    "flipset": flipset_section,
    "outcome_transport": outcome_transport_section,
    "recourse": recourse_section,
    "rule_sets": rule_sets_section,
    "mitigation": mitigation_section,
    "loss_ratio": loss_ratio_section,
    "sensitivity": sensitivity_section,
}
