"""What a report shows of an outcome-transport audit."""

from __future__ import annotations

from audits.outcome_transport import figures as figures
from audits.outcome_transport.result import OutcomeTransportResult
from audits.records import Exhibit, Section
from audits.stats.words import count, number, p_words, percent

__all__ = ["SAID", "judged_as", "said", "section"]

SAID = {
    "judged": (
        "What the verdict rests on",
        "Thick line: the interval that decides. A line that doesn't touch 0 is more than chance. Gray band: "
        "too little to matter.",
    ),
    "flows": (
        "Whose outcomes become whose",
        "Bands link people to those with the nearest outcome. Wider bands are more people.",
    ),
    "flow_matrix": (
        "The same as shares",
        "Share of each row's people who are mapped to each column. Each row adds up to 100%.",
    ),
    "bias": (
        "How unlike, by group",
        "Further right: less like the people with the same outcome. The thick bar is the sampling "
        "interval, the thin one holds every optimal matching.",
    ),
    "subgroup_bias": (
        "How unlike, by group and outcome",
        "The same for the people of each outcome.",
    ),
    "roles": (
        "How unlike in what people can and cannot change",
        "The distance over the features of one role only, with its interval.",
    ),
    "role_spread": (
        "How far single people are apart",
        "A long box: some people of the group have no counterpart like them.",
    ),
}
"""What stands above each figure: a heading, and what to see."""


_APART = "Thick line: how far the outcomes lie apart. Gray band: too little to matter."


def said(name: str, instead: str = "") -> tuple[str, str]:
    """Return what stands above a figure, with another caption where this result needs one."""
    heading, caption = SAID[name]
    return heading, instead or caption


def judged_as(result: OutcomeTransportResult) -> str:
    """Return what to see of what was judged, where it is the outcomes and not groups against the others."""
    return "" if any(row.difference is not None for row in result.bias) else _APART


def section(result: OutcomeTransportResult) -> Section:
    """Arrange an outcome-transport audit."""
    flows = result.flows_frame()
    exhibits = [
        Exhibit(
            "judged",
            *said("judged", judged_as(result)),
            lambda: figures.judged(result),
            result.judged_frame,
        ),
        Exhibit(
            "flows",
            *SAID["flows"],
            lambda: figures.sankey(result),
            lambda: flows,
            wide=True,
        ),
        Exhibit(
            "flow_matrix",
            *SAID["flow_matrix"],
            lambda: figures.flow_matrix(result),
            lambda: flows,
            wide=True,
        ),
        *_unlike(result),
    ]
    return Section(
        title=f"Transport flows: {result.source} → {result.target}",
        exhibits=tuple(exhibits),
        facts=_facts(result),
    )


def _unlike(result: OutcomeTransportResult) -> list[Exhibit]:
    """How unlike people are whose outcomes are mapped to each other; what this result has of it."""
    table, exhibits = result.to_frame(), []
    if any(row.mean.value is not None for row in result.bias):
        exhibits.append(
            Exhibit(
                "bias",
                *SAID["bias"],
                lambda: figures.bias(result),
                lambda: table[table["level"] != "subgroup"],
            )
        )
    if any(row.level == "subgroup" and row.mean.value is not None for row in result.bias):
        exhibits.append(
            Exhibit(
                "subgroup_bias",
                *SAID["subgroup_bias"],
                lambda: figures.bias(result, level="subgroup"),
                lambda: table[table["level"] != "group"],
            )
        )
    if any(row.quantiles for row in result.by_role):
        exhibits += [
            Exhibit(
                "roles",
                *SAID["roles"],
                lambda: figures.roles(result),
                result.roles_frame,
            ),
            Exhibit(
                "role_spread",
                *SAID["role_spread"],
                lambda: figures.role_spread(result),
                result.roles_frame,
            ),
        ]
    return exhibits


def _facts(result: OutcomeTransportResult) -> dict[str, str]:
    """Return what is written below the exhibits, by name."""
    distance = result.wasserstein
    ends = "" if distance.low is None else f"{number(distance.low)} to {number(distance.high)}; "
    facts = {
        "Wasserstein distance": f"{number(distance.value)} ({ends}{distance.method})",
        "Outcomes compared": f"{result.outcome}, cost {result.options['cost'].replace('_', ' ')}; "
        f"a difference of 1 counts {_unit(result)}",
        "Coupling": f"{result.certificate.method}; {count(result.certificate.source_outcomes)} and "
        f"{count(result.certificate.target_outcomes)} different outcomes",
        "People used": f"{count(result.rows['used'])} of {count(result.rows['audited'])} rows audited"
        + "".join(f"; {count(n)} {reason}" for reason, n in result.rows["left_out"].items()),
    }
    if result.distance_p_value is not None:
        facts["Distance by chance"] = f"p {p_words(result.distance_p_value)}"
    if result.group_p_value is not None:
        facts["Groups' bias by chance"] = f"p {p_words(result.group_p_value)} in the even coupling"
    if result.group_p_value_everywhere is not None:
        p = p_words(result.group_p_value_everywhere)
        facts["Groups' bias by chance, whichever optimal coupling"] = f"p {p} at most"
    if max(result.unmatched.values()) > 0:
        facts["Left unmatched"] = (
            f"{percent(result.unmatched['source'], result.n_source)} of the source, "
            f"{percent(result.unmatched['target'], result.n_target)} of the target people"
        )
    return facts


def _unit(result: OutcomeTransportResult) -> str:
    """Distance that a difference of 1 makes: a probability p, of a column as of a model, is (p, 1 - p)."""
    return "√2 (Eq. 10: p stands for p and 1 − p)" if result.outcome in {"decision", "probability"} else "1"
