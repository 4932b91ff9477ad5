"""Who is let in while asking stops."""

import asyncio

import pytest

from reelbench.llm.pacing import Pacer, StoppedError, Turn


def test_a_call_that_is_let_in_while_asking_stops_is_not_made():
    async def go():
        pacer = Pacer(1)
        await pacer.enter()
        waiting = asyncio.create_task(pacer.enter())
        await asyncio.sleep(0)  # it waits at its gate
        pacer.leave()  # opens the gate, before the other goes on
        pacer.stop(StoppedError("unavailable", "the disk is full"))
        with pytest.raises(StoppedError, match="the disk is full"):
            await waiting
        assert pacer.in_flight == 0

    asyncio.run(go())


def test_the_first_call_goes_alone_unless_the_server_is_proven():
    async def entered(pacer):
        waiting = [asyncio.create_task(pacer.enter()) for _ in range(5)]
        await asyncio.sleep(0)
        inside = sum(task.done() for task in waiting)
        pacer.stop(StoppedError("unavailable", ""))
        await asyncio.gather(*waiting, return_exceptions=True)
        return inside

    async def go():
        assert await entered(Pacer(3)) == 1
        assert await entered(Pacer(3, proven=True)) == 3

    asyncio.run(go())


def test_what_is_made_for_a_turn_is_given_up_with_it_and_is_none_where_it_can_not_be_made():
    def gone():
        raise FileNotFoundError("the picture")

    async def go():
        pacer = Pacer(1)
        async with Turn(pacer, lambda: b"request") as turn:
            assert await turn.result() == b"request"
            turn.leave()
            assert await turn.result() is None
        async with Turn(pacer, gone) as turn:
            assert await turn.result() is None
        assert pacer.in_flight == 0

    asyncio.run(go())
