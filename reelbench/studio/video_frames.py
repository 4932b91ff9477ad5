"""Take the frames of a video that a model is shown, as attachments of a message."""

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
from reelbench.video.row_frames import frames_of_row
from reelbench.video.shown_media import Shown
from reelbench.video.stored_frames import StoredFrames

_IN_A_PLAN = 16  # pictures, where the sampling does not say how many


class VideoFrames:
    """Takes frames of a benchmark's videos, with a few decoders at a time."""

    def __init__(
        self, spec: BenchmarkSpec, frames: str, media: Path | None, split: str | None = None
    ) -> None:
        """Read the sampling, and find the folder of the videos.

        Args:
            spec: The benchmark, which says how its videos are named.
            frames: A sampling as `FrameSampling` reads it: pictures, or with `as=clip` one video.
            media: The folder with the videos. None for the folder of the split.
            split: The split. None for the default one.

        Raises:
            InputError: The sampling takes no frames, or asks for subtitles.
        """
        self.sampling = FrameSampling.parse(frames)
        if self.sampling.decodes and self.sampling.form_given != "clip":
            self.sampling = self.sampling.as_images()
        if not self.sampling.decodes:
            raise InputError(
                f"--frames: {frames} shows no frames; give some, such as uniform:16,as=images"
            )
        if self.sampling.subs != "none":
            raise InputError(
                f"--frames: {frames}: subtitles are only for a model under test; leave out "
                "subs=file"
            )
        self._library = Library(spec, split or spec.default_split, media)
        self._decoders = asyncio.Semaphore(os.cpu_count() or 1)

    @property
    def view(self) -> str:
        """The words of a prompt for what a model is shown."""
        pictures = "pictures taken in order from one video"
        if self.sampling.form == "clip":
            return f"a clip made of {pictures}"
        return pictures

    async def attachments(self, row: Row, *, plan: bool) -> list[Attachment]:
        """Return the frames of a row's video, whose media key is `video`.

        A `plan` decodes nothing: pictures without content stand in.

        Raises:
            DroppedError: The video is missing or can't be read.
        """
        try:
            if plan:
                video = self._library.find(row)
            else:
                async with self._decoders:
                    video = await asyncio.to_thread(
                        frames_of_row, self._library, row, self.sampling
                    )
        except MediaError:
            raise DroppedError("media_unreadable") from None
        except InputError:  # no file can have such a name
            video = None
        if video is None:
            raise DroppedError("media_missing")
        if isinstance(video, StoredFrames):
            return Shown.of(video).media
        if self.sampling.form == "clip":
            return [Attachment("video_url", "video/mp4", b"")]
        count = self.sampling.frames or _IN_A_PLAN
        picture = Attachment("image_url", "image/jpeg", b"")
        return [picture] * count
