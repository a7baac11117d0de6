"""The monitors' HTTP routes besides predictions: reading, alarms, messages, tokens, settings."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from app.serving.monitor_windows import WINDOW, audit_of, audits_told, submit_window
from app.serving.webhooks import webhook_hosts
from audits.errors import InputError
from audits.runs.monitoring.arrivals import read_object
from audits.runs.monitoring.monitors import KeptMonitor, Monitors
from audits.runs.monitoring.written import meanings
from audits.sensitivity.monitor.streams import SHARES

__all__ = ["QUESTIONS", "Question", "Reading", "as_csv", "described"]

_MOST = 10_000
_ALARM = ("acknowledge", "resolve", "snooze_hours", "note", "owner", "severity")


@dataclass(frozen=True)
class Reading:
    """What a request holds: the monitor, the rest of the address, its query and its body."""

    monitors: Monitors
    monitor: KeptMonitor
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes

    def number(self, name: str, default: int, most: int = _MOST) -> int:
        """Return a whole number from the query.

        Raises
        ------
        InputError
            If it is none, or out of range.
        """
        text = self.query.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit()) or len(text) > 15 or int(text) > most:
            raise InputError(name, f"must be a whole number from 0 to {most:,}", text[:40])
        return int(text)

    def place(self, name: str) -> int:
        """Return a number in the address."""
        text = self.path[name]
        if not (text.isascii() and text.isdigit()) or len(text) > 15:
            raise InputError(name, "must be one of this monitor", text[:40])
        return int(text)


@dataclass(frozen=True)
class Question:
    """One thing that the API answers.

    Attributes
    ----------
    path : str
        Behind ``/api/v1/monitors/{monitor}``.
    scope : str
        What a token must be allowed to.
    query : tuple of str
        What may be asked for.
    """

    method: str
    path: str
    scope: str
    summary: str
    answer: Callable[[Reading], Any]
    query: tuple[str, ...] = ()


def described(monitor: KeptMonitor) -> dict[str, Any]:
    """Return what is said of a monitor."""
    bundle = monitor.bundle
    return {
        "id": monitor.id,
        "name": monitor.name,
        "note": monitor.note,
        "created": monitor.created,
        "reads": list(bundle.reads),
        "values": meanings(bundle),
        "threshold": bundle.threshold,
        "protected": bundle.about["protected"],
        "people": monitor.people,
        "flagged": monitor.flagged,
        "people_between_false_alarms": monitor.budget,
        "shares": SHARES if bundle.known is not None else {"flags": 1.0},
        "window_days": monitor.settings.get("window_days", 30),
        "keep_days": monitor.keep_days,
        "keep_people": monitor.keep_people,
        "keep_rows": monitor.keeps_rows,
        "webhook": bool(monitor.webhook),
        "hook": monitor.settings.get("hook", "plain"),
        "email": len(monitor.settings.get("email", ())),
        "chart": {**dataclasses.asdict(monitor.chart), "value": monitor.chart_value},
    }


def _about(asked: Reading) -> dict[str, Any]:
    return described(asked.monitors.get(asked.monitor.id))


def _change(asked: Reading) -> dict[str, Any]:
    changed = read_object(asked.body, ("name", "note", "webhook", "hook", "email", "keep_rows"))
    asked.monitors.change(asked.monitor.id, webhook_hosts(), **changed)
    return _about(asked)


def _history(asked: Reading) -> dict[str, Any]:
    points = asked.monitors.points(asked.monitor.id, max(1, asked.number("most", 512)))
    return {"history": [dataclasses.asdict(point) for point in points]}


def _alarms(asked: Reading) -> dict[str, Any]:
    found = asked.monitors.alarms(asked.monitor.id, asked.number("most", 200))
    state = asked.query.get("state", "all")
    if state not in {"all", "waiting", "lasting"}:
        raise InputError("state", "must be all, waiting or lasting", state[:40])
    kept = [each for each in found if state == "all" or (each.waits if state == "waiting" else each.lasts)]
    return {
        "waiting": asked.monitors.waiting(asked.monitor.id)[0],
        "alarms": [dataclasses.asdict(each) for each in kept],
    }


def _alarm(asked: Reading) -> dict[str, Any]:
    changed = read_object(asked.body, _ALARM)
    for name in ("acknowledge", "resolve"):
        if not isinstance(changed.get(name), bool | None):
            raise InputError(name, "must be true or false", changed[name])
    hours = changed.get("snooze_hours")
    if hours is not None and (isinstance(hours, bool) or not isinstance(hours, (int, float))):
        raise InputError("snooze_hours", "must be a number", hours)
    place = asked.place("alarm")
    asked.monitors.change_alarm(asked.monitor.id, place, **changed)
    return dataclasses.asdict(asked.monitors.alarm(asked.monitor.id, place))


def _people(asked: Reading) -> dict[str, Any]:
    alarm = asked.number("alarm", -1, 10**15)
    within = None
    if alarm >= 0:
        found = asked.monitors.alarm(asked.monitor.id, alarm)
        within = (found.person, found.last_person)
    flags = asked.monitors.flags(asked.monitor.id, asked.number("most", 200), within)
    return {"people": [dataclasses.asdict(each) for each in flags]}


def _groups(asked: Reading) -> dict[str, Any]:
    return {"groups": [dataclasses.asdict(each) for each in asked.monitors.rates(asked.monitor.id)]}


def _inputs(asked: Reading) -> dict[str, Any]:
    return {"columns": asked.monitors.counted(asked.monitor.id)}


def _messages(asked: Reading) -> dict[str, Any]:
    found = asked.monitors.messages(asked.monitor.id, asked.query.get("state"), asked.number("most", 200))
    return {"messages": [dataclasses.asdict(each) for each in found]}


def _again(asked: Reading) -> dict[str, Any]:
    asked.monitors.try_again(asked.monitor.id, asked.path["message"])
    return {"state": "waiting"}


def _tokens(asked: Reading) -> dict[str, Any]:
    kept = asked.monitors.get(asked.monitor.id).tokens
    names = ("id", "name", "scope", "created", "expires")
    return {"tokens": [{name: getattr(each, name) for name in names} for each in kept]}


def _make_token(asked: Reading) -> dict[str, Any]:
    given = read_object(asked.body, ("name", "scope", "days"), "scope")
    days = given.get("days")
    if days is not None and (isinstance(days, bool) or not isinstance(days, (int, float))):
        raise InputError("days", "must be a number or null", days)
    token, text = asked.monitors.make_token(
        asked.monitor.id, name=given.get("name", ""), scope=given["scope"], days=days
    )
    return {"id": token.id, "scope": token.scope, "expires": token.expires, "token": text}


def _rotate(asked: Reading) -> dict[str, Any]:
    hours = (read_object(asked.body, ("hours",)) if asked.body else {}).get("hours", 24.0)
    if isinstance(hours, bool) or not isinstance(hours, (int, float)) or not math.isfinite(hours):
        raise InputError("hours", "must be a number", hours)
    return {"token": asked.monitors.rotate(asked.monitor.id, hours=hours)}


def _drop_token(asked: Reading) -> dict[str, Any]:
    asked.monitors.remove_token(asked.monitor.id, asked.path["token"])
    return {"removed": asked.path["token"]}


def _submit_window(asked: Reading) -> dict[str, Any]:
    given = read_object(asked.body, WINDOW)
    return submit_window(asked.monitors, asked.monitors.get(asked.monitor.id), given).told


def _audits(asked: Reading) -> dict[str, Any]:
    return {"audits": audits_told(asked.monitor)}


def _audit(asked: Reading) -> dict[str, Any]:
    return audit_of(asked.monitor, asked.path["audit"])


QUESTIONS = (
    Question("GET", "", "read", "What a monitor reads, promises, and where it stands", _about),
    Question(
        "PATCH", "", "manage", "Change its name, note, webhook, hook, e-mail addresses or keep_rows", _change
    ),
    Question("GET", "/history", "read", "Its history in stretches, at most 512", _history, ("most",)),
    Question("GET", "/alarms", "read", "Its alarms, latest first", _alarms, ("state", "most", "format")),
    Question(
        "PATCH", "/alarms/{alarm}", "manage", "Acknowledge, snooze, resolve, assign or grade an alarm", _alarm
    ),
    Question("GET", "/people", "read", "Flagged people, latest first", _people, ("alarm", "most", "format")),
    Question("GET", "/groups", "read", "Rates of groups, with intervals that hold at all times", _groups),
    Question("GET", "/inputs", "read", "Missing, unseen and impossible values by column so far", _inputs),
    Question("GET", "/audits", "read", "Audits of windows of what it received, latest first", _audits),
    Question(
        "POST", "/audits", "manage", "Audit a window: the last so many people, or dates", _submit_window
    ),
    Question("GET", "/audits/{audit}", "read", "How such an audit stands; its results once done", _audit),
    Question(
        "GET", "/messages", "read", "Messages of alarms: waiting, told, dead", _messages, ("state", "most")
    ),
    Question("POST", "/messages/{message}", "manage", "Try a dead message once more", _again),
    Question("GET", "/tokens", "manage", "Its further tokens", _tokens),
    Question("POST", "/tokens", "manage", "Make a token that may send, read or manage", _make_token),
    Question(
        "POST", "/tokens/rotate", "manage", "A new first token; the old one lives on for hours", _rotate
    ),
    Question("DELETE", "/tokens/{token}", "manage", "Have a token open nothing any more", _drop_token),
)


def as_csv(answer: Mapping[str, Any]) -> str:
    """Return the list in an answer as CSV; what a spreadsheet would compute begins with an apostrophe."""
    [rows] = [value for value in answer.values() if isinstance(value, list)]
    text = io.StringIO()
    if rows:
        table = csv.DictWriter(text, list(rows[0]))
        table.writeheader()
        for row in rows:
            table.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue()


def _cell(value: Any) -> Any:
    return (
        f"'{value}"
        if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
        else value
    )
