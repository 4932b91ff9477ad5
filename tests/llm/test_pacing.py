"""Who is let in while asking stops."""

import asyncio

import pytest

from reelbench.llm.pacing import Pacer, StoppedError


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
        assert pacer._active == 0

    asyncio.run(go())
