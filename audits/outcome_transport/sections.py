"""What a report shows of an outcome-transport audit."""

from __future__ import annotations

from functools import partial

import pandas as pd

from audits.outcome_transport import figures as figures
from audits.outcome_transport.result import OutcomeTransportResult
from audits.records import Exhibit, Section
from audits.stats.badges import interval_text
from audits.stats.text import count, number, p_words, percent

MAX_NARROW = 3  # columns that a phone has room for
_LINES = "Thick line: the interval that decides. Gray band: too little to matter."


def section(result: OutcomeTransportResult) -> Section:
    """Arrange an outcome-transport audit."""
    flows, table = result.flows_frame(), result.to_frame()
    groups = any(row.difference is not None for row in result.bias)
    exhibits = [
        Exhibit(
            "judged",
            f"{'Unevenness' if groups else 'Distance of outcomes'}: "
            f"{interval_text(result.judged) or 'no interval'}",
            f"Right of 0: less like the people with the same outcome. {_LINES}" if groups else _LINES,
            lambda: figures.verdict_figure(result),
            result.judged_frame,
        ),
        Exhibit(
            "flows",
            f"Largest flow: {figures.largest_flow(result)}",
            "Bands link people to those with the nearest outcome. Number: share of the row's people.",
            lambda: figures.sankey(result),
            lambda: flows,
            wide=True,
            tab="who",
        ),
        Exhibit(
            "flow_matrix",
            "Where each group's outcomes go",
            "Bar: share of the row's people who are mapped to the column. Each row adds up to 100%.",
            lambda: figures.flow_matrix(result),
            lambda: flows,
            wide=len(result.flows.columns) > MAX_NARROW,
            tab="who",
        ),
    ]
    for level, other, heading in (
        ("group", "subgroup", "How different, by group"),
        ("subgroup", "group", "How different, by group and outcome"),
    ):
        if any(row.level == level and row.mean.value is not None for row in result.bias):
            exhibits.append(
                Exhibit(
                    "bias" if level == "group" else "subgroup_bias",
                    heading,
                    "Further right: less like the people with the same outcome. Thick: interval. Thin: every "
                    "optimal matching.",
                    partial(figures.bias, result, level=level),
                    partial(_without, table, other),
                    tab="apart",
                )
            )
    if any(row.bias.value is not None for row in result.by_role):
        exhibits.append(
            Exhibit(
                "roles",
                "How different in what people can and cannot change",
                "Distance over the features of one role. Thick: interval of the mean. Thin: the middle nine "
                "tenths of the people.",
                lambda: figures.roles(result),
                result.roles_frame,
                tab="apart",
            )
        )
    return Section(f"Transport flows: {result.source} → {result.target}", tuple(exhibits), _facts(result))


def _without(table: pd.DataFrame, level: str) -> pd.DataFrame:
    return table[table["level"] != level]


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
        "People used": result.people_used,
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
