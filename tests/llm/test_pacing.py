"""Who is let in, and how many: the pace of a server, and the end of asking."""

import asyncio

import pytest

from reelbench.llm.pace import FIRST, Pace
from reelbench.llm.pacing import CallSlot, ModelSlots, Pacer, StoppedError


def pacer_of(most):
    pacer = Pacer(Pace())
    pacer.pace.allow(most, 120.0, first=True)
    return pacer


def test_a_call_that_is_let_in_while_asking_stops_is_not_made():
    async def go():
        pacer = pacer_of(1)
        await pacer.enter()
        waiting = asyncio.create_task(pacer.enter())
        await asyncio.sleep(0)  # it waits at its gate
        pacer.leave()  # opens the gate, before the other goes on
        pacer.stop(StoppedError("unavailable", "the disk is full"))
        with pytest.raises(StoppedError, match="the disk is full"):
            await waiting
        assert pacer.in_flight == 0

    asyncio.run(go())


def test_what_is_made_for_a_turn_is_given_up_with_it_and_is_none_where_it_can_not_be_made():
    def gone():
        raise FileNotFoundError("the picture")

    async def go():
        pacer = pacer_of(1)
        places = ModelSlots(1)
        async with CallSlot(pacer, places, lambda: b"request") as turn:
            assert await turn.result() == b"request"
            turn.leave()
            assert await turn.result() is None
        async with CallSlot(pacer, places, gone) as turn:
            assert await turn.result() is None
        assert pacer.in_flight == 0

    asyncio.run(go())


def limits(pace, *, rounds, seconds, slots):
    """Play a server of so many slots, each reply `seconds` long; return the limit of each round."""
    seen = []
    now = 0.0
    pace.begin_work(now)
    for _ in range(rounds):
        in_flight = pace.limit
        seen.append(in_flight)
        for done in range(1, in_flight + 1):
            if done % slots == 1 or slots == 1:
                now += seconds
            pace.finish(now, seconds * -(-done // slots))
            pace.prove()
    return seen


def paced(most, time_limit, *, stated=False):
    pace = Pace()
    pace.allow(most, time_limit, first=True, is_stated=stated)
    return pace


def test_few_calls_go_out_before_the_first_answer_then_twice_as_many_each_round():
    assert limits(paced(64, 120.0), rounds=5, seconds=0.2, slots=64) == [FIRST, 8, 16, 32, 64]
    assert limits(paced(3, 120.0), rounds=2, seconds=0.2, slots=64) == [3, 3]


def test_a_number_that_the_user_named_is_reached_after_the_first_answer():
    assert limits(paced(64, 120.0, stated=True), rounds=3, seconds=0.2, slots=64) == [FIRST, 64, 64]
    # A server of one slot gets no longer line for it: 6 s of its limit and one call's own time.
    assert limits(paced(64, 12.0, stated=True), rounds=3, seconds=0.6, slots=1)[1:] == [11, 11]


@pytest.mark.parametrize(("slots", "seconds", "in_line"), [(1, 0.6, 11), (2, 1.2, 12), (1, 6.0, 4)])
def test_no_call_stands_in_line_for_longer_than_half_its_time(slots, seconds, in_line):
    # With 12 s: half of it, and the call's own time, at 1 ÷ 0.6 or 2 ÷ 1.2 replies a second.
    # A line of FIRST is never too long, as a call in it is not given up while others are finished.
    assert max(limits(paced(64, 12.0), rounds=9, seconds=seconds, slots=slots)) == in_line


def test_a_refusal_halves_the_limit_and_four_good_rounds_give_one_more():
    pace = paced(64, 120.0)
    limits(pace, rounds=3, seconds=0.2, slots=64)
    assert pace.limit == 32
    pace.refuse()
    assert limits(pace, rounds=9, seconds=0.2, slots=64) == [16] * 4 + [17] * 4 + [18]


def test_a_server_s_own_number_of_slots_is_taken_after_the_first_answer():
    pace = paced(64, 120.0)
    pace.slots = 2
    pace.prove()
    assert pace.limit == 2


def test_time_without_a_call_in_flight_does_not_count():
    pace = paced(64, 12.0)
    limits(pace, rounds=4, seconds=0.1, slots=64)
    before = pace.limit
    pace.end_work(1.0)
    pace.begin_work(1000.0)
    pace.finish(1000.1, 0.1)
    assert pace.limit >= before
