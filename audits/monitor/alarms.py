"""Alarms: what they say, how grave they are, and the webhook's messages of them, with retries."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from audits.data import named_with
from audits.monitor.detectors import Detector
from audits.monitor.profile import Look
from audits.monitor.tables import MESSAGES
from audits.stats.control import Chart
from audits.stats.text import count, people_in, percent
from audits.stats.text import people as people_words
from audits.text import join_names

RETRIES = (10.0, 60.0, 600.0, 3600.0, 21_600.0)
"""Seconds until a message is tried again. After the last try it is given up, and its alarm says so."""

SEVERITIES = ("low", "medium", "high")
_INPUTS, _UNIT = ("inputs", "impossible", "joint"), "values look like"
_MOVED = ("sensitivity", "scores", "decisions", "flags")
_SAME_INCIDENT = 4000  # people within which what moves is put down to inputs that are wrong
_GRAVE = frozenset({"flags", "model", "impossible", "groups", "outcomes"})
_SENTENCES = {
    "inputs": "Values of {about} are no longer distributed as among the people audited",
    "joint": "Values of {about}, alone or beside the other columns, are not as among the people audited",
    "sensitivity": "Sensitivities are no longer distributed as among the people audited",
    "scores": "The model's scores are no longer distributed as among the people audited",
    "decisions": "The share of favorable decisions is no longer that of the people audited",
    "impossible": "Values of {about} are impossible, judging by the range of the people audited",
    "repeats": "Identical rows arrive more often than chance would make them. The same people may have "
    "been sent again",
    "model": "The deployed model's scores or decisions differ from the audited model's. It may be another "
    "version",
    "share": "The shares of the groups of “{attribute}” are no longer those of the people audited",
    "selection": "The share of favorable decisions among {who} is no longer that of the audit",
    "true positives": "The true positive rate of {who} is no longer that of the audit",
    "false positives": "The false positive rate of {who} is no longer that of the audit",
    "calibration": "The gap between outcomes and scores of {who} is no longer that of the audit",
}


@dataclass(frozen=True)
class Alarm:
    """One alarm: it lasts while its condition does, however often that is found again.

    Attributes
    ----------
    place : int
        Its number among the monitor's alarms, from 0.
    kind, about : str
        See `audits.monitor.detectors`.
    person, last_person : int
        At whom the condition was found first and latest.
    batch : int
        The batch in which it was found first.
    times : int
        How often it was found.
    raised, latest : float
        When.
    ended : float or None
        When it had not been found for so long that it is over.
    acknowledged : float or None
        When someone looked at it.
    told : str
        How the webhook's delivery went.
    """

    place: int
    kind: str
    about: str
    severity: str
    sentence: str
    person: int
    last_person: int
    batch: int
    times: int
    raised: float
    latest: float
    ended: float | None
    acknowledged: float | None
    note: str
    told: str

    @property
    def waits(self) -> bool:
        """Whether nobody has looked at it."""
        return self.acknowledged is None

    @property
    def lasts(self) -> bool:
        """Whether its condition lasts."""
        return self.ended is None


def alarm_of(row: Any) -> Alarm:
    """Return a stored alarm; one that an earlier version closed is over and acknowledged, its owner noted."""
    stored = dict(row._mapping)
    for name in ("monitor", "snoozed"):
        del stored[name]
    owner, resolved = stored.pop("owner"), stored.pop("resolved")
    if owner:
        stored["note"] = f"Owner: {owner}. {stored['note']}".strip()
    if resolved is not None:
        stored |= {name: stored[name] or resolved for name in ("ended", "acknowledged")}
    return Alarm(**stored)


def alarm_name(place: int, about: str) -> tuple[str, str]:
    """Return an alarm's number, from 1, and what it is about, as pages write both.

    Examples
    --------
    >>> alarm_name(0, "inputs:income")
    ('1', 'inputs: income')
    """
    kind, _, rest = about.partition(":")
    return count(place + 1), f"{kind}: {rest.replace(':', ', ')}" if rest else kind


def severity_of(kind: str) -> str:
    """Return how grave an alarm of a kind is."""
    return "high" if kind in _GRAVE else "medium"


def columns_of(detector: Detector, look: Look | None) -> list[str]:
    """Return the columns that a condition of inputs is about."""
    if detector.kind not in _INPUTS:
        return []
    if detector.about:
        return [detector.about]
    return [name for name, found in (look.counts if look else {}).items() if found.get("impossible")]


def detector_sentence(detector: Detector, people: int, budget: float, look: Look | None = None) -> str:
    """Say that a detector alarmed after `people`, and in which unit the column of the batch seems to be."""
    columns = columns_of(detector, look)
    text = _SENTENCES[detector.rate or detector.kind].format(
        about=join_names([f"“{name}”" for name in columns]) if columns else "a row",
        attribute=detector.attribute,
        who=people_in(named_with(detector.attribute, detector.group)),
    )
    said = look.notes if look else ()
    units = [note for name in columns for note in said if note.startswith(f"{name}: {_UNIT}")]
    return " ".join([f"{text} (after {people_words(people)}).", *units, _promise(budget)])


def is_part(kind: str, columns: Sequence[str], case: Mapping[str, Any], person: int) -> bool:
    """Tell whether a condition is part of the incident of an alarm: wrong values move all the rest.

    What they move is part of it for some people, and until somebody acknowledges the alarm; then it is news.
    """
    if case["kind"] not in _INPUTS:
        return False
    if kind in _INPUTS and kind != "joint":
        return bool(columns) and all(f"“{name}”" in case["sentence"] for name in columns)
    if case["acknowledged"] is not None or person - case["person"] > _SAME_INCIDENT:
        return False
    if kind == "joint":  # one column that moves is beside all others otherwise
        return True
    wrong = case["kind"] == "impossible" or _UNIT in case["sentence"]  # else other people came
    return wrong and kind in _MOVED


def flags_sentence(chart: Chart, people: int, flagged: int, budget: float) -> str:
    """Say that the chart of flags alarmed."""
    return (
        f"More people are flagged than the {percent(chart.rate, 1000)} that chance allows. The chart reached "
        f"its limit after {people_words(people)} ({count(flagged)} flagged so far). {_promise(budget)}"
    )


def _promise(budget: float) -> str:
    return (
        f"Without any change, an alarm of any kind is raised at most once in {count(budget)} people on "
        "average."
    )


def queue(
    connection: sa.Connection, webhook: str, monitor: str, name: str, alarm: Mapping[str, Any], now: float
) -> None:
    """Queue an alarm's message to the `webhook`, in the transaction that raises it."""
    if not webhook:
        return
    keys = ("kind", "about", "severity", "person", "sentence")
    event = {"monitor": monitor, "name": name, "alarm": alarm["place"], **{key: alarm[key] for key in keys}}
    event["raised"] = datetime.fromtimestamp(alarm["raised"], UTC).isoformat()
    message = {
        "id": secrets.token_hex(16),
        "monitor": monitor,
        "place": alarm["place"],
        "way": "plain",
        "address": webhook,
        "body": json.dumps(event, ensure_ascii=False),
        "state": "waiting",
        "tries": 0,
        **dict.fromkeys(("made", "due"), now),
        "outcome": "",
    }
    connection.execute(sa.insert(MESSAGES), [message])
