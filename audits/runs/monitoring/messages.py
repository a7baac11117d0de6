"""Messages of alarms: queued with the alarm, tried again when they fail, kept where they never arrive."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from audits.runs.monitoring.tables import MESSAGES

__all__ = ["HOOKS", "RETRIES", "Message", "claim", "note", "queue", "rendered", "ways_of"]

HOOKS = ("plain", "slack", "teams", "discord")
"""Forms of a webhook's body. Mattermost, Rocket.Chat and Google Chat read Slack's."""

RETRIES = (10.0, 60.0, 600.0, 3600.0, 21_600.0)
"""Seconds until a message is tried again; after the last it is dead, until somebody asks for another try."""

_LEASE = 120.0  # a claim of a process that ended is free again after so many seconds


@dataclass(frozen=True)
class Message:
    """One message on one way: ``state`` is waiting, told or dead."""

    id: str
    monitor: str
    place: int
    way: str
    address: str
    body: str
    state: str
    tries: int
    made: float
    due: float
    outcome: str


def ways_of(webhook: str, settings: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return how and where a monitor's alarms are told."""
    ways = [(str(settings.get("hook", "plain")), webhook)] if webhook else []
    return ways + [("email", address) for address in settings.get("email", ())]


def queue(
    connection: sa.Connection,
    ways: Sequence[tuple[str, str]],
    monitor: str,
    name: str,
    case: Mapping[str, Any],
    now: float,
) -> None:
    """Queue an alarm's messages."""
    event = {
        "monitor": monitor,
        "name": name,
        "alarm": case["place"],
        "kind": case["kind"],
        "about": case["about"],
        "severity": case["severity"],
        "person": case["person"],
        "raised": datetime.fromtimestamp(case["raised"], UTC).isoformat(),
        "sentence": case["sentence"],
    }
    rows = [
        {
            "id": secrets.token_hex(16),
            "monitor": monitor,
            "place": case["place"],
            "way": way,
            "address": address,
            "body": json.dumps(event, ensure_ascii=False),
            "state": "waiting",
            "tries": 0,
            "made": now,
            "due": now,
            "outcome": "",
        }
        for way, address in ways
    ]
    if rows:
        connection.execute(sa.insert(MESSAGES), rows)


def claim(connection: sa.Connection, now: float, busy: frozenset[str], most: int = 16) -> list[Message]:
    """Take messages that are due, one an address and none of the `busy`: nobody else takes them now."""
    asked = (
        sa.select(MESSAGES)
        .where(MESSAGES.c.state == "waiting", MESSAGES.c.due <= now)
        .order_by(MESSAGES.c.due, MESSAGES.c.made, MESSAGES.c.place)
        .limit(50 * most)
    )
    found: dict[str, Message] = {}
    for row in connection.execute(asked):
        if row.address not in busy:
            found.setdefault(row.address, Message(**row._mapping))
    taken = list(found.values())[:most]
    for message in taken:
        changed = sa.update(MESSAGES).where(MESSAGES.c.id == message.id)
        connection.execute(changed.values(due=now + _LEASE, tries=message.tries + 1))
    return taken


def note(connection: sa.Connection, message: Message, outcome: str, arrived: bool, now: float) -> str:
    """Note how a try went; return the state that the message is in then."""
    tries, state, due = message.tries + 1, "told" if arrived else "waiting", now
    if not arrived:
        state = "dead" if tries > len(RETRIES) else "waiting"
        due = now + RETRIES[min(tries, len(RETRIES)) - 1]
    mine = MESSAGES.c.id == message.id
    connection.execute(
        sa.update(MESSAGES).where(mine).values(state=state, due=due, outcome=outcome[:500], tries=tries)
    )
    return state


def rendered(message: Message) -> dict[str, Any]:
    """Return the body of a webhook in the form that its way wants."""
    event: dict[str, Any] = json.loads(message.body)
    text = (
        f"Evenhand monitor {event['name']}: {event['severity']} alarm {event['alarm']}. {event['sentence']}"
    )
    if message.way == "slack":
        plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return {"text": plain}
    if message.way == "discord":
        return {"content": text[:2000], "allowed_mentions": {"parse": []}}
    if message.way == "teams":
        card = {
            "type": "AdaptiveCard",
            "version": "1.4",
            "body": [{"type": "TextBlock", "text": text, "wrap": True}],
        }
        kind = "application/vnd.microsoft.card.adaptive"
        return {"type": "message", "attachments": [{"contentType": kind, "content": card}]}
    return event
