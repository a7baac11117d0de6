"""Telling of alarms: webhooks on allowed hosts without redirects, and e-mail, tried again later."""

from __future__ import annotations

import json
import logging
import os
import smtplib
import ssl
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from audits.errors import InputError, RunFailed
from audits.runs.monitoring.messages import Message, rendered
from audits.runs.monitoring.monitors import Monitors, check_webhook

__all__ = ["Teller", "mail_is_set", "webhook_hosts"]

_SECONDS = 5.0
_AT_ONCE = 16
_log = logging.getLogger("evenhand")


def webhook_hosts() -> tuple[str, ...]:
    """Return the hosts that alarms may be told to: ``EVENHAND_WEBHOOK_HOSTS``, separated by commas."""
    text = os.environ.get("EVENHAND_WEBHOOK_HOSTS", "")
    return tuple(host.strip() for host in text.split(",") if host.strip())


def mail_is_set() -> bool:
    """Tell whether the server can send e-mail: ``EVENHAND_SMTP_URL`` and ``EVENHAND_SMTP_FROM``."""
    return bool(os.environ.get("EVENHAND_SMTP_URL") and os.environ.get("EVENHAND_SMTP_FROM"))


class Teller:
    """Tells messages of alarms, each address one at a time: who does not answer keeps nobody else waiting."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="evenhand-tell")
        self._busy: set[str] = set()

    def deliver(self, monitors: Monitors) -> int:
        """Begin to tell the messages that are due; return how many."""
        due = monitors.due_messages(frozenset(self._busy))
        for message in due:
            self._busy.add(message.address)
            self._pool.submit(self._deliver, monitors, message)
        return len(due)

    def close(self) -> None:
        """End; what was not told is told after the next start."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _deliver(self, monitors: Monitors, message: Message) -> None:
        try:
            outcome = _mailed(message) if message.way == "email" else _posted(message)
            arrived = True
        except (InputError, OSError, smtplib.SMTPException, ValueError) as error:
            outcome, arrived = f"not told: {error}", False
        try:
            monitors.note_message(message, outcome, arrived)
        except RunFailed:  # it is told again: better twice than never
            _log.exception("That an alarm was told could not be noted")
        finally:
            self._busy.discard(message.address)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An allowed host must not send us on to another."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _posted(message: Message) -> str:
    check_webhook(message.address, webhook_hosts())
    data = json.dumps(rendered(message)).encode()
    head = {"Content-Type": "application/json", "Idempotency-Key": message.id}
    request = urllib.request.Request(message.address, data, head)  # noqa: S310  (checked)
    with urllib.request.build_opener(_NoRedirect).open(request, timeout=_SECONDS) as response:
        return f"told ({response.status})"


def _mailed(message: Message) -> str:
    """Send an e-mail by ``smtp://user:password@host:587`` (STARTTLS unless ``?tls=no``) or ``smtps://``."""
    if not mail_is_set():
        raise InputError("EVENHAND_SMTP_URL and EVENHAND_SMTP_FROM", "must be set on the server")
    event = json.loads(message.body)
    mail = EmailMessage()
    mail["From"], mail["To"] = os.environ["EVENHAND_SMTP_FROM"], message.address
    name = " ".join(event["name"].split())
    mail["Subject"] = f"Evenhand monitor {name}: {event['severity']} alarm {event['alarm']}"
    mail["Message-ID"] = f"<{message.id}@evenhand>"
    mail.set_content(f"{event['sentence']}\n\nMonitor {event['monitor']}, raised {event['raised']}.\n")
    parts = urlsplit(os.environ["EVENHAND_SMTP_URL"])
    secure = ssl.create_default_context()
    if parts.scheme == "smtps":
        server: smtplib.SMTP = smtplib.SMTP_SSL(
            parts.hostname or "", parts.port or 465, timeout=_SECONDS, context=secure
        )
    else:
        server = smtplib.SMTP(parts.hostname or "", parts.port or 587, timeout=_SECONDS)
    with server:
        if parts.scheme != "smtps" and parse_qs(parts.query).get("tls") != ["no"]:
            server.starttls(context=secure)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(mail)
    return "mailed"
