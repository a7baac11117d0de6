"""Where the server may be reached from: this machine alone, unless its owner says otherwise."""

from __future__ import annotations

import ipaddress
import os

from audits.errors import InputError

__all__ = ["check_address"]


def check_address(address: str | None) -> None:
    """Refuse to listen where others reach the server while nobody has to say who he is.

    Parameters
    ----------
    address : str or None
        Where the server listens; None means everywhere.

    Raises
    ------
    InputError
        If that is not this machine alone and ``EVENHAND_OPEN=1`` does not allow it; or if ``EVENHAND_AUTH``
        asks for a way to sign in that this version does not have.
    """
    auth = os.environ.get("EVENHAND_AUTH", "off").strip().lower()
    if auth != "off":
        raise InputError(
            "EVENHAND_AUTH",
            "must be off: this version asks nobody who he is",
            auth,
            "put a proxy that does in front of it",
        )
    if _is_loopback(address) or os.environ.get("EVENHAND_OPEN") == "1":
        return
    raise InputError(
        "server.address",
        "must be this machine's own (127.0.0.1) while anybody who reaches the server is let in",
        address or "all addresses",
        "put a proxy that asks who it is in front, or set EVENHAND_OPEN=1 to let everybody in",
    )


def _is_loopback(address: str | None) -> bool:
    if address is None:
        return False
    if address == "localhost" or address.startswith("unix:"):
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
