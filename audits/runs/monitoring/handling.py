"""What people do with a monitor: its alarms, its messages, its tokens, its settings."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from audits.checks import allowed_address, one_of
from audits.errors import InputError
from audits.runs.monitoring.messages import HOOKS, Message, claim, note
from audits.runs.monitoring.tables import CASES, MESSAGES, MONITORS, PREDICTIONS, TOKENS
from audits.runs.storage.database import Database
from audits.sensitivity.monitor.words import SEVERITIES

__all__ = ["SCOPES", "Handling", "Token", "check_webhook", "digest", "tokens_of"]

SCOPES = ("send", "read", "manage")
_LONGEST_NAME, _LONGEST_NOTE, _MOST_EMAILS, _MOST_TOKENS = 200, 10_000, 20, 50
_EMAIL = re.compile(r"[^\s@<>,;\"\\]{1,64}@[A-Za-z0-9.-]{1,190}")
_STORABLE = re.compile("[^\x00\ud800-\udfff]*")
_DAY = 86_400.0


@dataclass(frozen=True)
class Token:
    """A token beside a monitor's first; what it opens is kept nowhere, only its digest."""

    id: str
    name: str
    scope: str
    created: float
    expires: float | None
    sha256: str


class Handling:
    """What people do with the monitors of a database."""

    _database: Database
    _clock: Any

    def acknowledge(self, identity: str, place: int, note: str) -> None:
        """Note that somebody has looked at an alarm."""
        self.change_alarm(identity, place, acknowledge=True, note=note)

    def acknowledge_all(self, identity: str, note: str) -> int:
        """Note that somebody has looked at every alarm that waits; return how many."""
        _check_text("note", note, _LONGEST_NOTE)
        waits = sa.and_(
            CASES.c.monitor == identity, CASES.c.acknowledged.is_(None), CASES.c.resolved.is_(None)
        )
        with self._database.writing() as connection:
            changed = sa.update(CASES).where(waits).values(acknowledged=self._clock(), note=note)
            return int(connection.execute(changed).rowcount)

    def change_alarm(
        self,
        identity: str,
        place: int,
        *,
        acknowledge: bool | None = None,
        resolve: bool | None = None,
        snooze_hours: float | None = None,
        note: str | None = None,
        owner: str | None = None,
        severity: str | None = None,
    ) -> None:
        """Change what people say of an alarm; what is None stays.

        Parameters
        ----------
        resolve : bool
            Close it: the condition, found again, is a new alarm.
        snooze_hours : float
            Tell nobody for so long; if the condition is found after that, it is told again. 0 ends it.

        Raises
        ------
        InputError
            If there is no such alarm, or a value is out of range.
        """
        now, changed = self._clock(), dict[str, Any]()
        for name, asked in (("acknowledged", acknowledge), ("resolved", resolve)):
            if asked is not None:
                changed[name] = now if asked else None
        if snooze_hours is not None:
            if not 0 <= snooze_hours <= 8760:
                raise InputError("snooze_hours", "must lie between 0 and 8,760", snooze_hours)
            changed["snoozed"] = now + 3600 * snooze_hours if snooze_hours else None
        if severity is not None:
            changed["severity"] = one_of("severity", severity, SEVERITIES)
        for name, text, longest in (("note", note, _LONGEST_NOTE), ("owner", owner, _LONGEST_NAME)):
            if text is not None:
                changed[name] = _check_text(name, text, longest)
        if not changed:
            raise InputError("the change", "must say what to change")
        with self._database.writing() as connection:
            mine = sa.and_(CASES.c.monitor == identity, CASES.c.place == place)
            if connection.execute(sa.update(CASES).where(mine).values(**changed)).rowcount == 0:
                raise InputError("alarm", "must be one of this monitor", place)

    def change(self, identity: str, hosts: Sequence[str] = (), **changed: Any) -> None:
        """Change a monitor's ``name``, ``note``, ``webhook``, ``hook`` (its form), ``email``, ``keep_rows``.

        Where rows are no longer to be kept, those that are kept are removed.

        Raises
        ------
        InputError
            If there is no such monitor, or a value is wrong.
        """
        row: dict[str, Any] = {}
        for name, longest in (("name", _LONGEST_NAME), ("note", _LONGEST_NOTE)):
            if name in changed:
                row[name] = _check_text(name, changed.pop(name), longest).strip()
        if row.get("name") == "":
            raise InputError("name", "must not be empty")
        if "webhook" in changed:
            row["webhook"] = _check_text("webhook", changed.pop("webhook"), 2000)
            check_webhook(row["webhook"], hosts)
        settings = {name: changed.pop(name) for name in ("hook", "email", "keep_rows") if name in changed}
        if changed or not (row or settings):
            raise InputError(
                "the change", "must be of name, note, webhook, hook, email or keep_rows", list(changed)
            )
        if not isinstance(settings.get("keep_rows", False), bool):
            raise InputError("keep_rows", "must be true or false", settings["keep_rows"])
        if "hook" in settings:
            one_of("hook", settings["hook"], HOOKS)
        if "email" in settings:
            _check_emails(settings["email"])
        with self._database.writing() as connection:
            mine = MONITORS.c.id == identity
            found = connection.execute(sa.select(MONITORS.c.settings).where(mine)).first()
            if found is None:
                raise InputError("monitor", "must be one that exists", identity)
            row["settings"] = json.dumps({**json.loads(found.settings), **settings})
            connection.execute(sa.update(MONITORS).where(mine).values(**row))
            if settings.get("keep_rows") is False:
                own = PREDICTIONS.c.monitor == identity
                connection.execute(sa.delete(PREDICTIONS).where(own, PREDICTIONS.c.client_id == ""))
                connection.execute(sa.update(PREDICTIONS).where(own).values(features=""))
        if settings.get("keep_rows") is False:
            self._database.scrub()

    def messages(self, identity: str, state: str | None = None, most: int = 200) -> list[Message]:
        """Return messages of alarms, latest first: all, or those waiting, told or dead."""
        asked = sa.select(MESSAGES).where(MESSAGES.c.monitor == identity)
        if state is not None:
            asked = asked.where(MESSAGES.c.state == one_of("state", state, ("waiting", "told", "dead")))
        with self._database.reading() as connection:
            rows = connection.execute(asked.order_by(MESSAGES.c.made.desc()).limit(most)).all()
        return [Message(**row._mapping) for row in rows]

    def try_again(self, identity: str, message: str) -> None:
        """Have a message that is dead told once more, as if it were new."""
        with self._database.writing() as connection:
            mine = sa.and_(
                MESSAGES.c.monitor == identity, MESSAGES.c.id == message, MESSAGES.c.state == "dead"
            )
            changed = sa.update(MESSAGES).where(mine).values(state="waiting", tries=0, due=self._clock())
            if connection.execute(changed).rowcount == 0:
                raise InputError("message", "must be a dead one of this monitor", message)

    def due_messages(self, busy: frozenset[str] = frozenset()) -> list[Message]:
        """Take the messages that are due, to tell them; those to addresses that are `busy` wait."""
        now = self._clock()
        waits = sa.select(MESSAGES.c.id).where(MESSAGES.c.state == "waiting", MESSAGES.c.due <= now).limit(1)
        with self._database.reading() as connection:
            if connection.execute(waits).first() is None:
                return []
        with self._database.writing() as connection:
            return claim(connection, now, busy)

    def note_message(self, message: Message, outcome: str, arrived: bool) -> None:
        """Note how telling went."""
        with self._database.writing() as connection:
            state = note(connection, message, outcome, arrived, self._clock())
            mine = sa.and_(CASES.c.monitor == message.monitor, CASES.c.place == message.place)
            told = f"{message.way}: {outcome}" + ("; tried again later" if state == "waiting" else "")
            connection.execute(sa.update(CASES).where(mine).values(told=told[:500]))

    def make_token(
        self, identity: str, *, name: str, scope: str, days: float | None = None
    ) -> tuple[Token, str]:
        """Make a further token, and return it and its text, which is kept nowhere."""
        one_of("scope", scope, SCOPES)
        _check_text("name", name, _LONGEST_NAME)
        if days is not None and not 0 < days <= 36_500:
            raise InputError("days", "must lie between 0 and 36,500", days)
        text, now = secrets.token_urlsafe(32), self._clock()
        expires = None if days is None else now + _DAY * days
        token = Token(secrets.token_hex(16), name, scope, now, expires, digest(text))
        with self._database.writing() as connection:
            if len(tokens_of(connection, identity)) >= _MOST_TOKENS:
                raise InputError("tokens", f"must be at most {_MOST_TOKENS}", advice="remove one first")
            connection.execute(sa.insert(TOKENS), [{"monitor": identity, **vars(token)}])
        return token, text

    def remove_token(self, identity: str, token: str) -> None:
        """Have a token open nothing any more."""
        with self._database.writing() as connection:
            mine = sa.and_(TOKENS.c.monitor == identity, TOKENS.c.id == token)
            if connection.execute(sa.delete(TOKENS).where(mine)).rowcount == 0:
                raise InputError("token", "must be one of this monitor", token)

    def rotate(self, identity: str, *, hours: float = 24.0) -> str:
        """Return a new first token; the old one goes on to work for so many hours."""
        if not 0 <= hours <= 8760:
            raise InputError("hours", "must lie between 0 and 8,760", hours)
        text, now = secrets.token_urlsafe(32), self._clock()
        with self._database.writing() as connection:
            mine = MONITORS.c.id == identity
            old = connection.execute(sa.select(MONITORS.c.token_sha256).where(mine)).scalar()
            if old is None:
                raise InputError("monitor", "must be one that exists", identity)
            if hours:
                gone = sa.and_(TOKENS.c.monitor == identity, TOKENS.c.expires <= now)
                connection.execute(sa.delete(TOKENS).where(gone))
                if len(tokens_of(connection, identity)) >= _MOST_TOKENS:
                    raise InputError("tokens", f"must be at most {_MOST_TOKENS}", advice="remove one first")
                kept = Token(secrets.token_hex(16), "before", "manage", now, now + 3600 * hours, old)
                connection.execute(sa.insert(TOKENS), [{"monitor": identity, **vars(kept)}])
            connection.execute(sa.update(MONITORS).where(mine).values(token_sha256=digest(text)))
        return text

    def opened_by(self, token: str) -> list[str]:
        """Return the ids of the monitors that a token is of, whatever it may do there."""
        given = digest(token)
        first = sa.select(MONITORS.c.id).where(MONITORS.c.token_sha256 == given)
        further = sa.select(TOKENS.c.monitor).where(TOKENS.c.sha256 == given)
        with self._database.reading() as connection:
            return [row[0] for asked in (first, further) for row in connection.execute(asked)]


def tokens_of(connection: sa.Connection, identity: str) -> tuple[Token, ...]:
    """Return a monitor's further tokens, oldest first."""
    asked = sa.select(TOKENS).where(TOKENS.c.monitor == identity).order_by(TOKENS.c.created)
    return tuple(
        Token(**{name: value for name, value in row._mapping.items() if name != "monitor"})
        for row in connection.execute(asked)
    )


def digest(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def check_webhook(address: str, hosts: Sequence[str]) -> None:
    """Raise `InputError` unless `address` is empty, or http(s) on one of `hosts` (maybe with a port)."""
    if address:
        allowed_address("webhook", address, hosts, "EVENHAND_WEBHOOK_HOSTS")


def _check_emails(addresses: Any) -> None:
    if not isinstance(addresses, list) or len(addresses) > _MOST_EMAILS:
        raise InputError("email", f"must be a list of at most {_MOST_EMAILS} addresses", addresses)
    for address in addresses:
        if not isinstance(address, str) or not _EMAIL.fullmatch(address):
            raise InputError("email", "must be addresses such as name@example.org", address)


def _check_text(where: str, text: Any, longest: int) -> str:
    if not isinstance(text, str) or len(text) > longest or not _STORABLE.fullmatch(text):
        raise InputError(where, f"must be text of at most {longest:,} characters")
    return text
