"""Frame sampling: which frames of a video a model is shown, decoded once and delivered to any model.

`sampling` says which frames, `index` lists what a file holds, `decoder` fetches exactly those
frames, `clip` writes them down with the sound beside them, and `store` keeps them so that all
questions, ranks, models and retries share one decode. `take` is the short way for who has a video
and a spec.
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
    """Return a video's frames as files: a clip, or with `as=images` pictures, decoded now or earlier.

    `spec` is read by `FrameSampling` (`"uniform:8,size=448,as=images"`); `even` repeats the last
    frame where their number is odd. For what comes back (`path` or `images`, `timestamps` in
    seconds from the first frame) see `StoredFrames`. InputError where the spec is not one or
    decodes nothing (`none`, `native`); MediaError, one too, where the video can't be read.
    """
    from reelbench.base.errors import InputError
    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.frame_store import FrameStore

    sampling = FrameSampling.parse(spec) if isinstance(spec, str) else spec
    if not sampling.decodes:
        raise InputError(
            f"frames {sampling}: no frames are taken; the video itself is what is shown, or nothing"
        )
    return (store or FrameStore()).get(video, sampling, even=even)
