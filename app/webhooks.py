"""Telling a monitor's webhook of its alarms: allowed hosts only, no redirects, three attempts."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from datetime import UTC, datetime
from typing import Any

from audits.errors import InputError
from audits.runs.monitors import Monitors, check_webhook

__all__ = ["tell", "webhook_hosts"]

_WEBHOOK_SECONDS = 5.0


def webhook_hosts() -> tuple[str, ...]:
    """Return the hosts that alarms may be told to: ``EVENHAND_WEBHOOK_HOSTS``, separated by commas."""
    text = os.environ.get("EVENHAND_WEBHOOK_HOSTS", "")
    return tuple(host.strip() for host in text.split(",") if host.strip())


def tell(monitors: Monitors, identity: str) -> None:
    """Tell a monitor's webhook of the alarms that it was not told of; note how that went."""
    monitor = monitors.get(identity)
    for alarm in monitors.alarms(identity):
        if alarm.told or not monitor.webhook:
            continue
        message = {
            "monitor": monitor.id,
            "name": monitor.name,
            "person": alarm.person,
            "raised": datetime.fromtimestamp(alarm.raised, UTC).isoformat(),
            "sentence": alarm.sentence,
        }
        monitors.note_webhook(identity, alarm.place, _post(monitor.webhook, message))


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """An allowed host must not send us on to another."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _post(address: str, message: dict[str, Any]) -> str:
    """Post `message` as JSON, at most three times; return in words how it went."""
    try:
        check_webhook(address, webhook_hosts())
    except InputError as error:
        return str(error)
    data = json.dumps(message).encode()
    opener = urllib.request.build_opener(_NoRedirect)
    outcome = ""
    for attempt in range(3):
        request = urllib.request.Request(address, data, {"Content-Type": "application/json"})  # noqa: S310  (checked)
        try:
            with opener.open(request, timeout=_WEBHOOK_SECONDS) as response:
                return f"told ({response.status})"
        except OSError as error:
            outcome = f"not told: {error}"
            time.sleep(0.5 * 2**attempt)
    return outcome
