"""Pages take turns: a few are drawn at once, and whoever asks for hundreds holds up nobody else."""

from __future__ import annotations

import asyncio

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from app.serving.turns import Turns


def asked(space: str) -> dict:
    message = BackMsg()
    message.rerun_script.query_string = f"w={space}"
    return {"type": "websocket.receive", "bytes": message.SerializeToString()}


def ended(how: int = ForwardMsg.FINISHED_SUCCESSFULLY) -> dict:
    return {"type": "websocket.send", "bytes": ForwardMsg(script_finished=how).SerializeToString()}


class Tab:
    """One that has asked for a page, and whose page is drawn when it is told so."""

    def __init__(self, turns: Turns, space: str) -> None:
        self.sent = []
        self._left = [asked(space)] * 9

        async def receive():
            return self._left.pop() if self._left else {"type": "websocket.disconnect"}

        async def send(message):
            self.sent.append(message)

        self.hear, self.say = turns.tab("10.1.1.1", receive, send)

    def leave(self):
        self._left.clear()


def test_only_so_many_pages_are_drawn_at_once_and_all_have_their_turn():
    async def many():
        turns, at_once, most, drawn = Turns(3, 60), 0, 0, 0

        async def visit(tab):
            nonlocal at_once, most, drawn
            await tab.hear()
            at_once += 1
            most = max(most, at_once)
            await asyncio.sleep(0.001)
            at_once -= 1
            drawn += 1
            await tab.say(ended())

        await asyncio.gather(*(visit(Tab(turns, "a")) for _ in range(100)))
        return most, drawn

    assert asyncio.run(many()) == (3, 100)


def test_whoever_asks_once_does_not_wait_for_all_of_somebody_elses_tabs():
    async def flooded():
        turns, order = Turns(1, 60), []

        async def visit(space):
            tab = Tab(turns, space)
            await tab.hear()
            order.append(space)
            await tab.say(ended())

        first = Tab(turns, "a")
        await first.hear()
        visits = [asyncio.create_task(visit(space)) for space in ["a"] * 50 + ["b"]]
        await asyncio.sleep(0)
        await first.say(ended())
        await asyncio.gather(*visits)
        return order

    assert asyncio.run(flooded()).index("b") == 1


def test_a_page_that_takes_long_or_whose_tab_is_gone_keeps_nobody_waiting():
    async def held(how):
        turns = Turns(1, 0.05 if how == "long" else 60)
        holder, other = Tab(turns, "a"), Tab(turns, "b")
        await holder.hear()
        gone = asyncio.create_task(Tab(turns, "c").hear())
        waiting = asyncio.create_task(other.hear())
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.sleep(0)
        if how == "closed":
            holder.leave()
            await holder.hear()
        if how == "never":
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(waiting, 0.2)
            return
        await asyncio.wait_for(waiting, 5)

    for how in ("long", "closed", "never"):
        asyncio.run(held(how))


def test_an_act_while_the_page_is_drawn_is_heard_at_once_and_keeps_the_turn():
    async def acts():
        turns = Turns(1, 60)
        own, other = Tab(turns, "a"), Tab(turns, "b")
        await own.hear()
        await asyncio.wait_for(own.hear(), 5)
        await own.say(ended(ForwardMsg.FINISHED_EARLY_FOR_RERUN))
        waiting = asyncio.create_task(other.hear())
        await asyncio.sleep(0.05)
        assert not waiting.done(), "the page is drawn again for the second act"
        await own.say(ended(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY))
        await asyncio.wait_for(waiting, 5)
        assert len(own.sent) == 2, "everything is passed on"

    asyncio.run(acts())


def test_what_is_no_message_of_a_tab_is_passed_on():
    async def odd():
        turns, given = Turns(1, 60), [b"\xff" * 50, b"", b"\x00" * 200_000]

        async def receive():
            return {"type": "websocket.receive", "bytes": given.pop(0)}

        hear, _ = turns.tab("10.1.1.1", receive, receive)
        return [len((await hear())["bytes"]) for _ in range(3)]

    assert asyncio.run(odd()) == [50, 0, 200_000]
