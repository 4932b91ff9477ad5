"""Which videos a result had, by hand."""

import hashlib

import pytest

from reelbench.registry.records import Sample
from reelbench.scoring.videos import media_record


def sample(name, video, reason=None):
    return Sample(
        id=name, video=video, prediction="x", target={}, state="unscored" if reason else "scored", reason=reason,
        scores={},
    )  # fmt: skip


@pytest.mark.parametrize("reason", ["media_missing", "media_unreadable"])
def test_what_was_not_there_was_asked_and_not_had(reason):
    samples = [
        sample("1", "b"),
        sample("2", "a"),
        sample("3", "c", reason),
        sample("4", "d", "model_failed"),
    ]
    record = media_record([*samples, sample("5", "a"), sample("6", "")])
    assert (record.of, record.videos) == (4, ["a", "b", "d"])
    assert record.sha256 == hashlib.sha256(b"a\nb\nd").hexdigest()  # the keys in order, a line each
