"""What a report shows of each audit: figures, each with the table behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from audits.figures import flipset_comparisons, flipset_maps
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
    if result.same_values:
        exhibits.append(
            Exhibit(
                "The groups compared among people who agree in one feature. "
                + (result.disagreement or "Nowhere does that contradict the flipsets."),
                flipset_comparisons.same_values(result),
                result.same_values_frame(),
            )
        )
    if result.causal is not None:
        exhibits.append(
            Exhibit(
                "Flipsets of transport beside those of the true counterfactuals.",
                flipset_comparisons.causal(result),
                result.causal_frame(),
            )
        )
    if result.score_change is not None:
        exhibits.append(
            Exhibit(
                "How the score changes from person to counterpart; above 0 counterparts score better.",
                flipset_comparisons.score_change(result),
                result.score_change_frame(),
            )
        )
    if result.validation["checks"]:
        exhibits.append(
            Exhibit(
                "How far each feature of the counterparts lies from the target group's (KS distance).",
                flipset_maps.fit(result),
                result.fit_frame(),
            )
        )
    if result.training:
        exhibits.append(
            Exhibit("How the map was trained.", flipset_maps.training(result), result.training_frame())
        )
    if not result.arrows.empty:
        exhibits.append(
            Exhibit(
                "Some people and their main counterparts; arrows in colour change the decision.",
                flipset_maps.arrows(result),
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
    k, most = len(result.of(attribute)), group_figures.MOST_GROUPS
    drawn = f" Drawn are the {most} largest of {k} groups." if k > most else ""
    found = [
        Exhibit(
            f"Rates by {attribute} with intervals; the dotted line is four fifths of the highest "
            f"selection rate, hollow groups are too small to say anything.{drawn}",
            group_figures.rates(result, attribute),
            table[table["attribute"] == attribute].drop(columns="attribute"),
        ),
        Exhibit(
            f"Differences from the reference group of {attribute}, with intervals that hold for all groups "
            f"and rates together.{drawn}",
            group_figures.differences(result, attribute),
            result.differences_frame(attribute),
        ),
        Exhibit(
            f"Distribution of scores by {attribute}.",
            group_figures.scores(result, attribute),
            result.scores_frame(attribute),
        ),
    ]
    calibration = result.calibration_frame(attribute)
    if len(calibration):
        found.append(
            Exhibit(
                f"Calibration by {attribute}: on the dotted line scores mean what they say.",
                group_figures.calibration(result, attribute),
                calibration,
            )
        )
    return found


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
