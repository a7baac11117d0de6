"""What a report shows of a flipset audit."""

from __future__ import annotations

from audits.flipset import FlipsetResult
from audits.flipset.figures import comparisons, flipsets, maps
from audits.reports.exhibits import Exhibit, Section
from audits.stats.words import count, number, p_words, percent_interval

__all__ = ["flipset_section"]


def flipset_section(result: FlipsetResult) -> Section:
    """Arrange a flipset audit."""
    larger = "negative" if result.negative.size >= result.positive.size else "positive"
    exhibits = [
        Exhibit(
            "Share of people in each flipset, with its interval and the range that chance alone gives.",
            flipsets.sizes(result),
            result.to_frame(),
        )
    ]
    for name in (larger, "positive" if larger == "negative" else "negative"):
        if getattr(result, name).size <= 0:
            continue
        exhibits += [
            Exhibit(
                f"Who is in the {name} flipset: the features that set it apart most from all source people.",
                flipsets.marginals(result, name),  # type: ignore[arg-type]
                result.marginals_frame(name),
            ),
            Exhibit(
                f"Transparency report of the {name} flipset: person minus counterpart, by feature.",
                flipsets.transparency(result, name),  # type: ignore[arg-type]
                result.transparency_frame(name),
            ),
        ]
    if result.same_values:
        exhibits.append(
            Exhibit(
                "The groups compared among people who agree in one feature. "
                + (result.disagreement or "Nowhere does that contradict the flipsets."),
                comparisons.same_values(result),
                result.same_values_frame(),
            )
        )
    if result.causal is not None:
        exhibits.append(
            Exhibit(
                "Flipsets of transport beside those of the true counterfactuals.",
                comparisons.causal(result),
                result.causal_frame(),
            )
        )
    if result.score_change is not None:
        exhibits.append(
            Exhibit(
                "How the score changes from person to counterpart; above 0 counterparts score better.",
                comparisons.score_change(result),
                result.score_change_frame(),
            )
        )
    if result.validation["checks"]:
        exhibits.append(
            Exhibit(
                "How far each feature of the counterparts lies from the target group's (KS distance).",
                maps.fit(result),
                result.fit_frame(),
            )
        )
    if result.training:
        exhibits.append(Exhibit("How the map was trained.", maps.training(result), result.training_frame()))
    if not result.arrows.empty:
        exhibits.append(
            Exhibit(
                "Some people and their main counterparts; arrows in colour change the decision.",
                maps.arrows(result),
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
