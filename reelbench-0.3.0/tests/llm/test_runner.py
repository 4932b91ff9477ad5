"""The runner of many questions: order, bounds, the account, and an end in the middle."""

import asyncio
from collections import Counter

import pytest

from reelbench.llm import runner as runner_of_items
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.own_order import places_in_own_order
from reelbench.llm.pacing import Cause
from reelbench.llm.runner import Runner, causes_shown
from tests.servers.judge import Answer, JudgeServer


def test_results_come_in_order_while_a_bounded_number_is_at_work():
    at_work, most, shown = 0, 0, []

    async def work(number):
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        for _ in range(10 - number % 10):  # later items are done before earlier ones
            await asyncio.sleep(0)
        at_work -= 1
        return number * number

    async def go():
        runner = Runner([], lambda done, line, **_: shown.append((done, line)), at_once=3)
        return [pair async for pair in runner.run(range(200), work)]

    assert asyncio.run(go()) == [(number, number * number) for number in range(200)]
    assert most == 3
    assert [done for done, _ in shown] == list(range(1, 201))


def test_progress_is_shown_again_while_no_item_ends(monkeypatch):
    """The calls in flight of five minutes ago stood in a log for as long as nothing ended."""
    monkeypatch.setattr(runner_of_items, "SHOWN_EVERY_S", 0.001)
    shown = []

    async def go():
        is_shown = asyncio.Event()

        def show(done, line, **_):
            shown.append((done, line))
            is_shown.set()

        async def work(_):
            await is_shown.wait()  # for ever, were nothing shown before it ends

        runner = Runner([], show)
        return [pair async for pair in runner.run(range(2), work)]

    assert len(asyncio.run(go())) == 2
    assert shown[0] == (0, "0 calls, 0.0/s, $0.00, 0 in flight, 0 waiting")


@pytest.mark.parametrize(
    ("numbers", "line"),
    [
        ([3], "a"),
        ([1, 2], "2 times b; 1 time a"),
        ([5, 4, 3, 1, 1], "5 times a; 4 times b; 3 times c; 2 times other causes"),
    ],
)
def test_the_commonest_causes_are_shown_and_the_rest_is_counted(numbers, line):
    causes = Counter()
    for name, number in zip("abcde", numbers, strict=False):
        causes[Cause(name)] = number
    assert causes_shown(causes) == line


def test_items_are_taken_as_they_are_needed():
    taken = []

    async def work(number):
        await asyncio.sleep(0)
        return number

    async def go():
        ahead = []
        async for number, _ in Runner([], at_once=2).run(
            (taken.append(n) or n for n in range(1000)), work
        ):
            ahead.append(len(taken) - number)
        return max(ahead)

    assert asyncio.run(go()) <= 64


@pytest.mark.parametrize("wrong", [0, 3])
def test_an_error_ends_the_run_and_leaves_nothing_at_work(wrong):
    async def work(number):
        if number == wrong:
            raise ValueError(number)
        await asyncio.sleep(60 if number > wrong else 0)

    async def go():
        with pytest.raises(ValueError, match=str(wrong)):
            await Runner([], at_once=8).results(range(20), work)
        return len(asyncio.all_tasks())

    assert asyncio.run(go()) == 1


def test_two_roles_of_one_asker_count_once_and_what_lacks_is_said():
    async def go(server):
        options = AskOptions(model="m", url=server.url, backoff=0.01, budget_calls=3, concurrency=2)
        async with Asker(options, on_note=lambda _: None) as asker:
            runner = Runner([asker, asker])

            async def work(number):
                asked = await asker.ask([{"role": "user", "content": f"{number}?"}], str)
                if asked.value is None:
                    runner.lacking[asked.reason] += 1
                return asked.value

            return await runner.results(range(5), work), runner

    with JudgeServer(lambda call: Answer(call.user.upper())) as server:
        values, runner = asyncio.run(go(server))
    assert sorted(filter(None, values)) == ["0?", "1?", "2?"]
    assert (runner.tally.calls, runner.lacking_shown) == (3, "2 budget")
    assert "budget of 3 calls" in runner.why_lacking("nobody knows")


def test_each_machine_takes_blocks_of_whole_videos_in_an_order_of_its_own():
    videos = [f"v{number // 10}" for number in range(1_000)]  # ten questions each
    first = places_in_own_order(videos)
    second = places_in_own_order(videos)
    assert sorted(first) == sorted(second) == list(range(1_000))
    assert first != second  # 1 in 14! orders of blocks
    starts = [
        place for number, place in enumerate(first) if number == 0 or place != first[number - 1] + 1
    ]
    assert all(start % 70 == 0 for start in starts)  # the first whole video beyond 64 questions


def test_few_questions_keep_their_order():
    assert places_in_own_order(["v"] * 200) == list(range(200))
    assert places_in_own_order([f"v{number}" for number in range(64)]) == list(range(64))
    assert places_in_own_order([]) == []
