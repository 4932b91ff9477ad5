"""Waiting for replies that other processes are asking for: one look at all of them, a few times a second."""

import asyncio
from contextlib import suppress

from reelbench.llm.cache import ReplyCache
from reelbench.llm.pacing import Pacer
from reelbench.registry.errors import ReelbenchError

_EVERY = 0.2  # seconds between looks


class ClaimWatch:
    """Tells when other processes are done with keys. Lives in one event loop."""

    def __init__(self, cache: ReplyCache, pacer: Pacer) -> None:
        self._cache = cache
        self._pacer = pacer
        self._waiting: dict[bytes, asyncio.Future[None]] = {}
        self._task: asyncio.Task[None] | None = None

    async def wait(self, key: bytes) -> None:
        """Wait until no other process is asking for `key`, or asking stops.

        Raises:
            ReelbenchError: The cache can't be read.
        """
        future = self._waiting.get(key)
        if future is None:
            future = self._waiting[key] = asyncio.get_running_loop().create_future()
        if self._task is None:
            self._task = asyncio.ensure_future(self._look())
        await asyncio.shield(future)

    async def close(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _look(self) -> None:
        while self._waiting and self._pacer.stopped is None:
            await self._pacer.sleep(_EVERY)
            try:
                taken = await self._cache.aside(self._cache.taken, list(self._waiting))
            except ReelbenchError as error:
                self._end(error)
                break
            for key in self._waiting.keys() - taken:
                self._waiting.pop(key).set_result(None)
        self._end(None)
        self._task = None

    def _end(self, error: ReelbenchError | None) -> None:
        for future in self._waiting.values():
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)
                future.exception()  # known: who waited may be gone
        self._waiting.clear()
