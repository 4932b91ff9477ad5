"""What a model is shown of a video: frames from the frame store, as attachments of a message."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.llm.messages import Attachment
from reelbench.making.funnel import DroppedError
from reelbench.registry import discovery
from reelbench.registry.errors import InputError, MediaError
from reelbench.registry.frames.sampling import FrameSampling
from reelbench.registry.media.library import Library

if TYPE_CHECKING:
    from reelbench.registry.frames.stored import StoredFrames

_IN_A_PLAN = 16  # pictures, where the sampling does not say how many


class Pictures:
    """Finds videos as a benchmark's lie, takes their frames, and keeps a few decoders busy at most."""

    def __init__(self, benchmark: str, frames: str, media: Path | None = None, *, plan: bool = False) -> None:
        """Set up.

        Args:
            benchmark: Whose layouts the videos lie in.
            frames: Which frames, as `registry.frames` reads it.
            media: Folder searched first.
            plan: Decode nothing: pictures without content stand in.

        Raises:
            InputError: `frames` is none, or takes no frames.
        """
        spec = discovery.get(benchmark)
        self.sampling = FrameSampling.parse(frames)
        if not self.sampling.decodes:
            raise InputError(f"--frames: {frames} takes no frames; give some, like uniform:16,as=images")
        self._library = Library(spec, spec.default_split, media)
        self._plan = plan
        self._decoders = asyncio.Semaphore(os.cpu_count() or 1)

    async def of(self, video: str) -> list[Attachment]:
        """Return a video's frames; DroppedError where it is missing (`media_missing`) or can't be read."""
        try:
            path = self._library.find({"video": video})
        except InputError:
            path = None  # no file can have such a name
        if path is None:
            raise DroppedError("media_missing")
        if self._plan:
            return [Attachment("image_url", "image/jpeg", b"")] * (self.sampling.frames or _IN_A_PLAN)
        async with self._decoders:
            try:
                stored = await asyncio.to_thread(self._take, path)
            except MediaError:
                raise DroppedError("media_unreadable") from None
        if stored.path is not None:
            return [Attachment("video_url", "video/mp4", stored.path)]
        return [Attachment("image_url", "image/jpeg", image) for image in stored.images]

    def _take(self, path: Path) -> "StoredFrames":
        from reelbench.registry import frames

        return frames.take(path, self.sampling)
