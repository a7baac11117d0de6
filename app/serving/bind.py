"""Where the server may be reached from: this machine alone, unless its owner says otherwise."""

from __future__ import annotations

import ipaddress
import os
import socket

import psutil
import uvicorn.config
from starlette.types import ASGIApp

from app.workspaces.auth import secrets, settings
from audits.errors import InputError


def see_who_connects() -> None:
    """Have uvicorn tell who really connects: it takes a sender's word for it if he sits on this machine.

    Its settings are made before this app is loaded, from the environment of the command that began it: to
    change that environment here would come too late.
    """
    uvicorn.config.ProxyHeadersMiddleware = _as_it_came  # type: ignore[misc, assignment]


def _as_it_came(app: ASGIApp, **_: object) -> ASGIApp:
    return app


def answer_at_once() -> None:
    """Have small answers sent without waiting for what was sent before to be acknowledged.

    asyncio would do so, but not on a socket made without naming its protocol, as Streamlit's is: every answer
    came 40 milliseconds late. Connections inherit the option of the socket that listens.
    """
    for each in psutil.Process().net_connections("tcp"):
        if each.status == psutil.CONN_LISTEN and each.fd >= 0:  # Windows tells none
            with socket.socket(fileno=os.dup(each.fd)) as listening:
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def check_address(address: str | None) -> None:
    """Refuse to listen where others reach the server while nobody has to sign in.

    Parameters
    ----------
    address : str or None
        Where the server listens; None means everywhere.

    Raises
    ------
    InputError
        If that is not this machine alone, ``EVENHAND_AUTH`` is off and ``EVENHAND_OPEN=1`` does not allow it;
        or if what ``EVENHAND_AUTH`` needs is missing.
    """
    secrets()
    if settings().way != "off" or _is_loopback(address) or os.environ.get("EVENHAND_OPEN") == "1":
        return
    raise InputError(
        "server.address",
        "must be 127.0.0.1, because this server lets in anyone who can reach it",
        address or "all addresses",
        "set EVENHAND_AUTH=oidc or proxy, or EVENHAND_OPEN=1 to allow that",
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
