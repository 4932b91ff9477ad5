"""Which videos a result had: they vanish from the web, and two runs are comparable on what both still saw."""

import hashlib
from collections.abc import Collection, Iterable

from reelbench.registry.reasons import NO_VIDEO
from reelbench.registry.records import MediaRecord, Sample


def videos_had(samples: Iterable[Sample]) -> set[str]:
    """Return the media keys of the videos that were there."""
    return {sample.video for sample in samples if sample.video and sample.reason not in NO_VIDEO}


def videos_asked(samples: Iterable[Sample]) -> set[str]:
    """Return the media keys of all videos that a result's questions are about; a run may not list those it lacked."""
    return {sample.video for sample in samples if sample.video}


def media_record(samples: Collection[Sample]) -> MediaRecord:
    """Return what a result records of the videos it had."""
    keys, asked = sorted(videos_had(samples)), videos_asked(samples)
    digest = hashlib.sha256("\n".join(keys).encode("utf-8", "surrogatepass")).hexdigest()
    return MediaRecord(sha256=digest, of=len(asked), videos=keys)
