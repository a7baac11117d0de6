"""What a monitor's alarms say, and how grave each kind is."""

from __future__ import annotations

from audits.data import named_with
from audits.sensitivity.monitor.streams import Stream
from audits.stats.control import Chart
from audits.stats.words import count, people_in, percent
from audits.stats.words import people as told

__all__ = ["SEVERITIES", "flags_sentence", "severity_of", "stream_sentence"]

SEVERITIES = ("low", "medium", "high")

_GRAVE = {"flags": "high", "model": "high", "impossible": "high", "groups": "high", "outcomes": "high"}
_SAYS = {
    "inputs": "Values of “{about}” are no longer distributed as among the audited people",
    "sensitivity": "Sensitivities are no longer distributed as among the audited people",
    "scores": "The model's scores are no longer distributed as among the audited people",
    "decisions": "The share of favorable decisions is no longer that of the audited people",
    "impossible": "Values come in that cannot be, by the range of the audited people",
    "repeats": "Equal rows come in more often than chance makes them: the same people may be sent again",
    "model": "The deployed model scores or decides otherwise than the audited one: it may be another version",
}
_RATES = {
    "share": "The shares of the groups of “{attribute}” are no longer those of the audited people",
    "selection": "The share of favorable decisions among {who} is no longer that of the audit",
    "true positives": "The true positive rate of {who} is no longer that of the audit",
    "false positives": "The false positive rate of {who} is no longer that of the audit",
    "calibration": "Outcomes of {who} lie apart from the scores otherwise than in the audit",
}


def severity_of(kind: str) -> str:
    """Return how grave an alarm of a kind is, until somebody says otherwise."""
    return _GRAVE.get(kind, "medium")


def stream_sentence(stream: Stream, people: int, budget: float) -> str:
    """Say that a stream alarmed after `people`."""
    text = _RATES[stream.rate] if stream.rate else _SAYS[stream.kind]
    said = text.format(
        about=stream.about,
        attribute=stream.attribute,
        who=people_in(named_with(stream.attribute, stream.group)),
    )
    return f"{said} (after {told(people)}). {_promise(budget)}"


def flags_sentence(chart: Chart, people: int, flagged: int, budget: float) -> str:
    """Say that the chart of flags alarmed."""
    return (
        f"More people are flagged than the {percent(chart.rate, 1000)} that chance allows: the chart reached "
        f"its limit after {told(people)} ({count(flagged)} flagged so far). {_promise(budget)}"
    )


def _promise(budget: float) -> str:
    return f"Without a change, all kinds together alarm once in {count(budget)} people on average at most."
