"""Many small requests to a server sent as few: what is asked for while one is under way goes together in the next."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Generic, TypeVar

_MOST = 500  # in one request

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Gathered(Generic[ItemT, ResultT]):
    """Does `work` on several items at once, in a thread; used in one event loop. Without threads it is done at once."""

    def __init__(self, work: Callable[[Sequence[ItemT]], Sequence[ResultT]], threads: Executor | None) -> None:
        self._work = work
        self._threads = threads
        self._waiting: list[tuple[ItemT, asyncio.Future[ResultT]]] = []
        self._task: asyncio.Task[None] | None = None

    async def do(self, item: ItemT) -> ResultT:
        """Return the result of `work` on an item; what is begun is done, though nobody waits for it any more."""
        if self._threads is None:
            return self._work((item,))[0]
        future: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, future))
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        return await asyncio.shield(future)

    async def drained(self) -> None:
        """Wait until all that was asked for is done."""
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            try:
                work = asyncio.get_running_loop().run_in_executor(
                    self._threads, self._work, [item for item, _ in batch]
                )
                results = await asyncio.shield(work)
            except Exception as error:  # noqa: BLE001 - whoever waits gets it
                for _, future in batch:
                    future.set_exception(error)
                    future.exception()  # known: who waited may be gone
            else:
                for (_, future), result in zip(batch, results, strict=True):
                    future.set_result(result)
        self._task = None
