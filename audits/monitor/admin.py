"""What people change of a monitor: acknowledgments, the webhook's messages, tokens, settings."""

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
from audits.monitor.alarms import RETRIES
from audits.monitor.tables import CASES, MESSAGES, MONITORS, PREDICTIONS, TOKENS, WAITS
from audits.runs.storage.database import Database

SCOPES = ("send", "read", "manage")
_MAX_NAME, _MAX_NOTE, _MAX_TOKENS = 200, 10_000, 50
_STORABLE = re.compile("[^\x00\ud800-\udfff]*")
_DAY = 86_400.0
_LEASE = 120.0  # a claim of a process that ended is free again after so many seconds
_MAX_DELIVERIES = 16


@dataclass(frozen=True)
class Token:
    """A token beside a monitor's first; what it opens is kept nowhere, only its digest."""

    id: str
    name: str
    scope: str
    created: float
    expires: float | None
    sha256: str


class Admin:
    """What people change of the monitors of a database."""

    _database: Database
    _clock: Any

    def acknowledge(
        self, identity: str, place: int, note: str | None = None, *, acknowledged: bool = True
    ) -> None:
        """Note that someone has looked at an alarm, or that nobody has; a `note` of None stays.

        Raises
        ------
        InputError
            If there is no such alarm, or the note is too long.
        """
        changed: dict[str, Any] = {"acknowledged": self._clock() if acknowledged else None}
        if note is not None:
            changed["note"] = check_text("note", note)
        mine = sa.and_(CASES.c.monitor == identity, CASES.c.place == place)
        if self._database.change(sa.update(CASES).where(mine).values(**changed)) == 0:
            raise InputError("alarm", "must be one of this monitor", place)

    def acknowledge_all(self, identity: str, note: str) -> int:
        """Note that someone has looked at every alarm that waits; return how many."""
        check_text("note", note)
        waits = sa.update(CASES).where(CASES.c.monitor == identity, WAITS)
        return self._database.change(waits.values(acknowledged=self._clock(), note=note))

    def change(
        self,
        identity: str,
        hosts: Sequence[str] = (),
        *,
        name: str | None = None,
        note: str | None = None,
        webhook: str | None = None,
        keep_rows: bool | None = None,
    ) -> None:
        """Change what is given; rows that are no longer to be kept are removed.

        Raises
        ------
        InputError
            If there is no such monitor, or a value is wrong.
        """
        row: dict[str, Any] = {}
        if name is not None:
            row["name"] = check_name(name)
        if note is not None:
            row["note"] = check_text("note", note).strip()
        if webhook is not None:
            row["webhook"] = check_text("webhook", webhook, 2000)
            check_webhook(webhook, hosts)
        if not row and keep_rows is None:
            raise InputError("the change", "must be of name, note, webhook or keep_rows")
        with self._database.writing() as connection:
            mine = MONITORS.c.id == identity
            found = connection.execute(sa.select(MONITORS.c.settings).where(mine)).first()
            if found is None:
                raise InputError("monitor", "must be one that exists", identity)
            if keep_rows is not None:
                row["settings"] = json.dumps({**json.loads(found.settings), "keep_rows": keep_rows})
            connection.execute(sa.update(MONITORS).where(mine).values(**row))
            if keep_rows is False:
                own = PREDICTIONS.c.monitor == identity
                connection.execute(sa.delete(PREDICTIONS).where(own, PREDICTIONS.c.client_id == ""))
                connection.execute(sa.update(PREDICTIONS).where(own).values(features=""))
        if keep_rows is False:
            self._database.scrub()

    def due_messages(self, busy: frozenset[str] = frozenset()) -> list[sa.Row[Any]]:
        """Take messages that are due, one an address and none of the `busy`: nobody else takes them now."""
        now = self._clock()
        due = sa.select(MESSAGES).where(MESSAGES.c.state == "waiting", MESSAGES.c.due <= now)
        if not self._database.rows(due.limit(1)):
            return []
        asked = due.where(MESSAGES.c.address.not_in(busy))
        asked = asked.order_by(MESSAGES.c.due, MESSAGES.c.made, MESSAGES.c.place).limit(50 * _MAX_DELIVERIES)
        by_address: dict[str, sa.Row[Any]] = {}
        with self._database.writing() as connection:
            for row in connection.execute(asked):
                by_address.setdefault(row.address, row)
            taken = list(by_address.values())[:_MAX_DELIVERIES]
            for message in taken:
                lease = {"due": now + _LEASE, "tries": message.tries + 1}
                connection.execute(sa.update(MESSAGES).where(MESSAGES.c.id == message.id).values(lease))
        return taken

    def note_message(self, message: sa.Row[Any], fault: str = "") -> None:
        """Note how a delivery went, on its alarm too: `fault` says why it did not arrive."""
        tries, due = message.tries + 1, self._clock()
        if not fault:
            state, said = "told", "webhook told"
        elif tries > len(RETRIES):
            state, said = "dead", f"webhook not told after {tries} tries: {fault}"
        else:
            state, said = "waiting", f"webhook not told yet: {fault}; tried again later"
            due += RETRIES[tries - 1]
        row = {"state": state, "due": due, "outcome": (fault or "told")[:500], "tries": tries}
        mine = sa.and_(CASES.c.monitor == message.monitor, CASES.c.place == message.place)
        with self._database.writing() as connection:
            connection.execute(sa.update(MESSAGES).where(MESSAGES.c.id == message.id).values(row))
            connection.execute(sa.update(CASES).where(mine).values(told=said[:500]))

    def make_token(
        self, identity: str, *, name: str, scope: str, days: float | None = None
    ) -> tuple[Token, str]:
        """Make a further token, and return it and its text, which is kept nowhere."""
        one_of("scope", scope, SCOPES)
        check_text("name", name, _MAX_NAME)
        if days is not None and not 0 < days <= 36_500:
            raise InputError("days", "must lie between 0 and 36,500", days)
        text, now = secrets.token_urlsafe(32), self._clock()
        expires = None if days is None else now + _DAY * days
        token = Token(secrets.token_hex(16), name, scope, now, expires, digest(text))
        with self._database.writing() as connection:
            _insert_token(connection, identity, token)
        return token, text

    def remove_token(self, identity: str, token: str) -> None:
        """Revoke a token."""
        mine = sa.and_(TOKENS.c.monitor == identity, TOKENS.c.id == token)
        if self._database.change(sa.delete(TOKENS).where(mine)) == 0:
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
                kept = Token(secrets.token_hex(16), "before", "manage", now, now + 3600 * hours, old)
                _insert_token(connection, identity, kept)
            connection.execute(sa.update(MONITORS).where(mine).values(token_sha256=digest(text)))
        return text

    def opened_by(self, token: str) -> list[str]:
        """Return the ids of the monitors that a token is of, whatever it may do there."""
        given = digest(token)
        first = sa.select(MONITORS.c.id).where(MONITORS.c.token_sha256 == given)
        further = sa.select(TOKENS.c.monitor).where(TOKENS.c.sha256 == given)
        return [row[0] for row in self._database.rows(first.union_all(further))]


def tokens_of(connection: sa.Connection, identity: str) -> tuple[Token, ...]:
    """Return a monitor's further tokens, oldest first."""
    columns = TOKENS.c["id", "name", "scope", "created", "expires", "sha256"]
    asked = sa.select(*columns).where(TOKENS.c.monitor == identity).order_by(TOKENS.c.created)
    return tuple(Token(*row) for row in connection.execute(asked))


def _insert_token(connection: sa.Connection, identity: str, token: Token) -> None:
    if len(tokens_of(connection, identity)) >= _MAX_TOKENS:
        raise InputError("tokens", f"must be at most {_MAX_TOKENS}", advice="remove one first")
    connection.execute(sa.insert(TOKENS), [{"monitor": identity, **vars(token)}])


def digest(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def check_webhook(address: str, hosts: Sequence[str]) -> None:
    """Raise `InputError` unless `address` is empty, or http(s) on one of `hosts` (maybe with a port)."""
    if any(each.isspace() for each in address):
        raise InputError("webhook", "must be an address without blanks and line ends", address)
    if address:
        allowed_address("webhook", address, hosts, "EVENHAND_WEBHOOK_HOSTS")


def check_name(name: str) -> str:
    """Return a monitor's name without blanks around it; raise `InputError` if it is empty or too long."""
    if not check_text("name", name, _MAX_NAME).strip():
        raise InputError("name", "must not be empty")
    return name.strip()


def check_text(where: str, text: Any, longest: int = _MAX_NOTE) -> str:
    """Return a text that is not too long and that a database can hold; raise `InputError` otherwise."""
    if not isinstance(text, str) or len(text) > longest or not _STORABLE.fullmatch(text):
        raise InputError(where, f"must be text of at most {longest:,} characters")
    return text
