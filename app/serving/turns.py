"""Pages are drawn a few at a time, so that whoever opens hundreds of tabs at once holds up nobody else.

Each page is drawn by a thread of its own, and all of them share one processor with the loop that answers
everybody: with hundreds drawn at once, no request is answered for many seconds. What asks for a page waits
here, in the server's loop, until fewer than `MOST` are being drawn; whose turn it is goes round among those
who wait. A page that takes longer than `LONG_SECONDS` waits for something else, it seems, and counts no more.

They are few since all share one processor: of pages that take about as long, the first is done the sooner the
fewer others are drawn beside it, and the last is done no later. Fifty visitors at nine tenths of what the
processor can do wait for 1.1 s instead of 1.6 s (95th percentile, simulated) with 4 at once instead of 16.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from urllib.parse import parse_qs

from google.protobuf.message import DecodeError
from starlette.types import Message, Receive, Send
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

__all__ = ["LONG_SECONDS", "MOST", "Turns"]

MOST = 4
LONG_SECONDS = 0.5
_LONGEST_READ = 100_000  # bytes of a message from a tab that is looked into
_LONGEST_END = 200  # bytes of the message that a page is drawn


class Turns:
    """Which tabs' pages are being drawn, and who waits; all in one thread, the server's loop."""

    def __init__(self, most: int = MOST, seconds: float = LONG_SECONDS) -> None:
        self._most, self._seconds = most, seconds
        self._drawn: dict[object, asyncio.TimerHandle] = {}
        self._waiting: OrderedDict[str, deque[tuple[object, asyncio.Future[None]]]] = OrderedDict()

    def tab(self, who: str, receive: Receive, send: Send) -> tuple[Receive, Send]:
        """Return how a tab's messages come and go when it takes its turns.

        Parameters
        ----------
        who : str
            His name or address; workspaces of one address take turns among each other.
        """
        tab = object()

        async def heard() -> Message:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                self.end(tab)
            elif (space := _asks_for_page(message.get("bytes") or b"")) is not None:
                await self.begin(tab, f"{who} {space}")
            return message

        async def said(message: Message) -> None:
            if _is_drawn(message.get("bytes") or b""):
                self.end(tab)
            await send(message)

        return heard, said

    async def begin(self, tab: object, who: str) -> None:
        """Wait until a page of `tab` may be drawn: at once where one of it is, which gives way."""
        if tab in self._drawn:
            return
        if len(self._drawn) < self._most and not self._waiting:
            self._let(tab)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(who, deque()).append((tab, turn))
        await turn

    def end(self, tab: object) -> None:
        """Note that the page of `tab` is drawn, or is counted no more."""
        clock = self._drawn.pop(tab, None)
        if clock is None:
            return
        clock.cancel()
        while self._waiting and len(self._drawn) < self._most:
            who, queue = self._waiting.popitem(last=False)
            waiting, turn = queue.popleft()
            if queue:
                self._waiting[who] = queue  # behind all others who wait
            if not turn.done():  # the tab is there still
                self._let(waiting)
                turn.set_result(None)

    def _let(self, tab: object) -> None:
        self._drawn[tab] = asyncio.get_running_loop().call_later(self._seconds, self.end, tab)


def _asks_for_page(content: bytes) -> str | None:
    """Return the workspace of which a message asks for a page; None where it asks for none."""
    if len(content) > _LONGEST_READ:
        return ""
    try:
        message = BackMsg.FromString(content)
    except DecodeError:
        return None  # streamlit's to tell
    if message.WhichOneof("type") != "rerun_script":
        return None
    return next(iter(parse_qs(message.rerun_script.query_string).get("w", ())), "")


def _is_drawn(content: bytes) -> bool:
    if not 0 < len(content) < _LONGEST_END:
        return False
    message = ForwardMsg.FromString(content)
    early = ForwardMsg.FINISHED_EARLY_FOR_RERUN  # for an act of the same visitor: the page is drawn again
    return message.WhichOneof("type") == "script_finished" and message.script_finished != early
