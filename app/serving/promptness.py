"""Answers leave at once, whatever the pages are doing.

An answer goes out as head and body. Streamlit binds its socket itself, without the protocol by which asyncio
knows TCP, so asyncio leaves Nagle's algorithm on: the body then waits until the client has acknowledged the
head, 40 ms on Linux. Connections inherit the option from the socket they came in by.

A page's script computes in the same process, and Python lets a thread compute for 5 ms before another one
gets its turn. Measuring, storing and answering one person takes about five turns.

Every view of a page begins with the theme, which Streamlit puts together from its settings anew, option by
option, in the loop that answers everybody: a sixteenth of all that the server computed under load.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
from pathlib import Path

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

__all__ = ["answer_at_once", "take_turns", "tell_theme_once"]

_OPEN = Path("/dev/fd")
_TURN_SECONDS = 0.0005


def take_turns() -> None:
    """Have threads that compute give way to the others after half a millisecond."""
    sys.setswitchinterval(_TURN_SECONDS)


def answer_at_once() -> int:
    """Turn Nagle's algorithm off on this process's listening TCP sockets; return how many there were."""
    found = 0
    for name in [path.name for path in _OPEN.iterdir()] if _OPEN.is_dir() else ():
        with contextlib.suppress(OSError):  # closed meanwhile
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as listening:
                internet = listening.family in {socket.AF_INET, socket.AF_INET6}
                if internet and listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    found += 1
    return found


def tell_theme_once() -> None:
    """Have the theme put together once: its settings are read when the server starts, and stay."""
    made: dict[str, CustomThemeConfig] = {}
    populate = getattr(app_session, "_populate_theme_msg", None)
    if populate is None:  # another Streamlit: it is put together each time
        return

    def told(message: CustomThemeConfig, section: str = "theme") -> None:
        if section not in made:
            made[section] = CustomThemeConfig()
            populate(made[section], section)
        message.MergeFrom(made[section])

    setattr(app_session, "_populate_theme_msg", told)  # noqa: B010
