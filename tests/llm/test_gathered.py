"""Small requests that go together."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from reelbench.llm.cache import Batcher
from tests.alarms import PATIENCE_S


def test_what_is_asked_for_meanwhile_goes_together_in_the_next():
    begun, go_on, batches = threading.Event(), threading.Event(), []

    def doubled(items):
        batches.append(list(items))
        begun.set()
        go_on.wait(PATIENCE_S)
        return [2 * item for item in items]

    async def go():
        with ThreadPoolExecutor(1) as threads:
            gathered = Batcher(doubled, threads)
            first = asyncio.ensure_future(gathered.do(0))
            await asyncio.to_thread(begun.wait, 30)
            others = [asyncio.ensure_future(gathered.do(number)) for number in range(1, 6)]
            await asyncio.sleep(0)
            others[0].cancel()  # it is done all the same
            go_on.set()
            results = await asyncio.gather(first, *others, return_exceptions=True)
            await gathered.wait_until_done()
            return results

    results = asyncio.run(go())
    assert batches == [[0], [1, 2, 3, 4, 5]]
    assert [result for result in results if isinstance(result, int)] == [0, 4, 6, 8, 10]
    assert isinstance(results[1], asyncio.CancelledError)


def test_what_goes_wrong_is_everybodys_and_the_next_are_asked_anew():
    failing = [True]

    def work(items):
        if failing.pop() if failing else False:
            raise OSError("the disk")
        return items

    async def go():
        with ThreadPoolExecutor(1) as threads:
            gathered = Batcher(work, threads)
            with pytest.raises(OSError, match="the disk"):
                await gathered.do(1)
            return await gathered.do(2)

    assert asyncio.run(go()) == 2
