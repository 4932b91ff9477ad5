"""The videos that a result had.

Videos vanish from the web, and two runs are comparable on the videos that both had.
"""

from collections.abc import Collection, Iterable

from reelbench.base.files import sha256_of_names
from reelbench.registry.reasons import NO_VIDEO
from reelbench.registry.records import MediaRecord, Sample


def videos_had(samples: Iterable[Sample]) -> set[str]:
    """Return the media keys of the videos that were there."""
    return {sample.video for sample in samples if sample.video and sample.reason not in NO_VIDEO}


def videos_asked(samples: Iterable[Sample]) -> set[str]:
    """Return the media keys of all videos that a result's questions are about.

    A run may not list those that it lacked.
    """
    return {sample.video for sample in samples if sample.video}


def media_record(samples: Collection[Sample]) -> MediaRecord:
    """Return a result's record of the videos it had."""
    return record_of_videos(videos_had(samples), len(videos_asked(samples)))


def record_of_videos(present: Iterable[str], number_asked: int) -> MediaRecord:
    """Return the record of videos, by the keys of those that were there."""
    keys = sorted(present)
    return MediaRecord(sha256=sha256_of_names(keys), of=number_asked, videos=keys)
