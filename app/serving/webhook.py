"""Delivery of alarms to webhooks: on allowed hosts, without redirects, tried again later."""

from __future__ import annotations

import contextlib
import http.client
import logging
import socket
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import sqlalchemy as sa

from audits.checks import list_from
from audits.errors import RunFailed
from audits.monitor.admin import check_webhook
from audits.monitor.monitors import Monitors

_SECONDS = 5.0  # for the next byte
_WHOLE_SECONDS = 15.0
_STUCK_SECONDS = 60.0
_AT_ONCE = 16
_log = logging.getLogger("evenhand")


def webhook_hosts() -> tuple[str, ...]:
    """Return the hosts that alarms may be told to: ``EVENHAND_WEBHOOK_HOSTS``, separated by commas."""
    return list_from("EVENHAND_WEBHOOK_HOSTS")


class Delivery:
    """Delivers messages, one at a time to each address: who does not answer keeps nobody else waiting."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="evenhand-webhook")
        self._since: dict[str, float] = {}

    @property
    def stuck(self) -> list[str]:
        """The addresses that a delivery has been under way to for more than a minute."""
        old = time.monotonic() - _STUCK_SECONDS
        return [address for address, since in list(self._since.items()) if since < old]

    @property
    def busy(self) -> bool:
        """Whether a delivery is under way."""
        return bool(self._since)

    def begin(self, monitors: Monitors) -> int:
        """Begin to deliver the messages that are due; return how many."""
        due = monitors.due_messages(frozenset(self._since))
        for message in due:
            self._since[message.address] = time.monotonic()
            self._pool.submit(self._deliver, monitors, message)
        return len(due)

    def close(self) -> None:
        """End; what was not delivered is delivered after the next start."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _deliver(self, monitors: Monitors, message: sa.Row[Any]) -> None:
        try:
            fault = ""
            try:
                _post(message)
            except Exception as error:  # noqa: BLE001  (whatever answers there, the alarm must say)
                fault = _printable(str(error)) or type(error).__name__
            monitors.note_message(message, fault)
        except RunFailed:  # it is delivered again: better twice than never
            _log.exception("The result of a delivery could not be recorded")
        finally:
            self._since.pop(message.address, None)


def _printable(text: str) -> str:
    """Return a text that may hold what a stranger answered: PostgreSQL stores no zero bytes."""
    return "".join(each if each.isprintable() else " " for each in text).strip()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An allowed host must not send us on to another."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Limited(http.client.HTTPConnection):
    """Ends what is not answered in time, however often another byte comes: a timeout is of each byte."""

    _timer: threading.Timer | None = None

    def connect(self) -> None:
        self._timer = threading.Timer(_WHOLE_SECONDS, self._end)
        self._timer.daemon = True
        self._timer.start()
        super().connect()

    def _end(self) -> None:
        with contextlib.suppress(AttributeError, OSError):  # not connected, or over
            self.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        super().close()


class _LimitedTLS(_Limited, http.client.HTTPSConnection):
    pass


class _Plain(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_Limited, request)


class _TLS(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> Any:
        return self.do_open(_LimitedTLS, request)


def _post(message: sa.Row[Any]) -> None:
    if message.way == "email":
        raise ValueError("e-mail is no longer sent; have Alertmanager send it")
    check_webhook(message.address, webhook_hosts())
    head = {"Content-Type": "application/json", "Idempotency-Key": message.id}
    request = urllib.request.Request(message.address, message.body.encode(), head)  # noqa: S310  (checked)
    began = time.monotonic()
    try:
        with urllib.request.build_opener(_NoRedirect, _Plain, _TLS).open(request, timeout=_SECONDS):
            pass
    except (OSError, http.client.HTTPException):
        if time.monotonic() - began < _WHOLE_SECONDS:
            raise
        raise TimeoutError(f"no complete answer came within {_WHOLE_SECONDS:g} seconds") from None
