"""Videos: where they lie, their exact frames, their sound and subtitles, as any model takes them.

This room imports `registry` and `base`. It decodes each video once, and keeps the frames in a
store that all questions, ranks, models and retries share. It never reads rows and never asks a
model. `take` is the short way for who has a video and a spec.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.frame_store import FrameStore
    from reelbench.video.stored_frames import StoredFrames


def take(
    video: Path | str,
    spec: "FrameSampling | str",
    *,
    even: bool = False,
    store: "FrameStore | None" = None,
) -> "StoredFrames":
    """Return a video's frames as files, decoded now or earlier.

    They are a clip, or with `as=images` pictures. See `StoredFrames` for its `path` or `images`,
    and `timestamps` in seconds from the first frame.

    Args:
        video: The file.
        spec: The frames to take, as read by `FrameSampling` (`"uniform:8,size=448,as=images"`).
        even: Repeat the last frame where their number is odd.
        store: The store, by default the usual one.

    Raises:
        InputError: The spec is not one, or decodes nothing (`none`, `native`).
        MediaError: The video can't be read. It is an InputError too.
    """
    from reelbench.base.errors import InputError
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.frame_store import FrameStore

    sampling = spec if isinstance(spec, FrameSampling) else FrameSampling.parse(spec)
    if not sampling.decodes:
        raise InputError(
            f"frames {sampling}: no frames are taken; the video itself is what is shown, or nothing"
        )
    store = store or FrameStore()
    return store.get(video, sampling, even=even)
