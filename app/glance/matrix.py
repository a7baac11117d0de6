"""Measures and attributes as a table of badges; a click on one opens its groups."""

from __future__ import annotations

import html
from collections.abc import Iterable
from urllib.parse import urlencode

import streamlit as st

from app import state
from audits.groups import GroupsResult
from audits.groups.amounts.inference import MEASURES, amount_judged
from audits.groups.inference import ASKED_FIRST, judged_of
from audits.groups.metrics import METRICS
from audits.groups.text import among_words
from audits.stats import Judgment
from audits.stats.badges import BADGES, ICONS, size_against_limit
from audits.stats.text import amount
from audits.stats.vocabulary import vocabulary
from audits.text import begun

_WORDS = {
    "small difference": "small",
    "cannot tell yet": "can't tell yet",
    "no verdict": "no verdict",
    "no material difference": "no material difference",
}


def cell(result: GroupsResult, attribute: str, measure: str) -> Judgment | None:
    """Return the verdict on the group of `attribute` that weighs most in `measure`; None where none has one.

    The order is that of badges, then the size against the limit.
    """
    if (amounts := result.amounts) is not None:
        unit = amounts.unit or amounts.name
        found = [row.differences[measure] for row in amounts.of(attribute) if measure in row.differences]
        numbers = [amount_judged(gap, unit) for gap in found]
        return min(numbers, key=_weight, default=None)
    gaps = [row.differences[measure] for row in result.of(attribute) if measure in row.differences]
    judged = [judged_of(gap, float(result.options["material"])) for gap in gaps]
    return min(judged, key=_weight, default=None)


def _weight(judged: Judgment) -> tuple[int, float]:
    return BADGES.index(judged.badge), -size_against_limit(judged)


def badge_matrix(result: GroupsResult) -> None:
    """Draw the table, on a phone as a card a measure; it scrolls inside itself where attributes are many."""
    amounts = result.amounts
    attributes = [spread.attribute for spread in result.spreads]
    asked = ASKED_FIRST.get(result.options.get("measure") or "", ())
    known = [metric.name for metric in METRICS if metric.judged or metric.name in asked]
    known.sort(key=lambda name: name not in asked)
    measures = {name: measure_words(name) for name in known}
    if amounts is not None:
        attributes = list(dict.fromkeys(row.attribute for row in amounts.table))
        measures = {name: f"{amounts.of_which(name)}, {words}" for name, words in MEASURES.items()}
    heads = _row("th", ["", *(html.escape(_head(name, attributes)) for name in attributes)])
    lines = []
    for measure, words in measures.items():
        cells = [cell(result, name, measure) for name in attributes]
        if any(cells):
            said = [
                f"<td data-of='{html.escape(_head(name, attributes))}'>{_badge_link(each, name)}</td>"
                for each, name in zip(cells, attributes, strict=True)
            ]
            head = html.escape(begun(words))
            lines.append(f"<tr><th scope='row'>{head}</th>{''.join(said)}</tr>")
    with st.container(key="matrix"):
        st.html(f"<table><thead>{heads}</thead><tbody>{''.join(lines)}</tbody></table>")


def measure_words(name: str) -> str:
    """Name a rate in the words of the data: ``approved, of those with the outcome “repaid”``."""
    words = vocabulary()
    if not words.yes or name not in {"selection_rate", "true_positive_rate", "false_positive_rate"}:
        return METRICS[name].words
    return f"{words.yes}{among_words(name).replace(' with', ', of those with', 1)}"


def _head(attribute: str, attributes: list[str]) -> str:
    whole = " × ".join(name for name in attributes if " × " not in name)
    return "all combinations" if " × " in attribute and attribute == whole else attribute


def _row(tag: str, cells: Iterable[str]) -> str:
    return f"<tr>{''.join(f'<{tag} scope=col>{each}</{tag}>' for each in cells)}</tr>"


def _badge_link(judged: Judgment | None, attribute: str) -> str:
    if judged is None:
        return ""
    query = urlencode({**state.where(), "groups-of": [attribute]}, doseq=True)
    words = _WORDS.get(judged.badge) or _size(judged)
    strong = ("<strong>", "</strong>") if judged.badge == "difference" else ("", "")
    return (
        f'<a href="groups?{html.escape(query)}" target="_self">{ICONS[judged.badge]} '
        f"{strong[0]}{html.escape(words)}{strong[1]}</a>"
    )


def _size(judged: Judgment) -> str:
    value = judged.interval.value or 0.0
    if judged.unit:
        return amount(abs(value), judged.unit)
    return f"{value:.2g} times" if judged.none_low == 1.0 else f"{abs(100 * value):.0f} points"
