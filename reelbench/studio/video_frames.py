"""What a model is shown of a video: frames from the frame store, as attachments of a message."""

import asyncio
import os
from pathlib import Path

from reelbench.base.attachment import Attachment
from reelbench.base.errors import InputError, MediaError
from reelbench.registry.rows import Row
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec
from reelbench.studio.funnel import DroppedError
from reelbench.video.library import Library
from reelbench.video.shown_media import Shown
from reelbench.video.stored_frames import StoredFrames

_IN_A_PLAN = 16  # pictures, where the sampling does not say how many


class VideoFrames:
    """Finds videos as a benchmark's lie, takes their frames, and keeps a few decoders busy at most."""

    def __init__(
        self, spec: BenchmarkSpec, frames: str, media: Path | None, split: str | None = None
    ) -> None:
        """Set up: `frames` as `FrameSampling` reads it; they are pictures, or with `as=clip` one video.

        Videos are in the folder `media`, or where a split's are, by default the default one's.
        """
        self.sampling = FrameSampling.parse(frames)
        if self.sampling.decodes and self.sampling.form_given != "clip":
            self.sampling = self.sampling.as_images()
        if not self.sampling.decodes:
            raise InputError(
                f"--frames: {frames} takes no frames; give some, like uniform:16,as=images"
            )
        if self.sampling.subs != "none":
            raise InputError(
                f"--frames: {frames}: subtitles go to a model under test alone; leave subs=file out"
            )
        self._library = Library(spec, split or spec.default_split, media)
        self._decoders = asyncio.Semaphore(os.cpu_count() or 1)

    @property
    def view(self) -> str:
        """What a prompt says that a model is shown."""
        pictures = "pictures taken in order from one video"
        return f"a clip made of {pictures}" if self.sampling.form == "clip" else pictures

    async def attachments(self, row: Row, *, plan: bool) -> list[Attachment]:
        """Return the frames of a row's video (its media key is `video`); DroppedError where there are none.

        A `plan` decodes nothing: pictures without content stand in.
        """
        try:
            if plan:
                there = self._library.find(row)
            else:
                async with self._decoders:
                    there = await asyncio.to_thread(self._library.frames, row, self.sampling)
        except MediaError:
            raise DroppedError("media_unreadable") from None
        except InputError:  # no file can have such a name
            there = None
        if there is None:
            raise DroppedError("media_missing")
        if isinstance(there, StoredFrames):
            return Shown.of(there).media
        if self.sampling.form == "clip":
            return [Attachment("video_url", "video/mp4", b"")]
        return [Attachment("image_url", "image/jpeg", b"")] * (self.sampling.frames or _IN_A_PLAN)
