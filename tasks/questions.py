"""`questions.jsonl`, beside a result's samples: what was asked, for whoever looks at the answers on this machine.

It holds the owners' sentences, which `samples.jsonl` is free of: no store takes it and nothing publishes it.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from reelbench.registry.data.declared_check import lengths_of
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.files import write_jsonl
from reelbench.registry.media.library import Library
from reelbench.registry.records import Sample
from reelbench.scoring import temporal_span
from reelbench.scoring.result_files import QUESTIONS_FILE
from reelbench.tasks.submissions import Questions, Words

_FILES_OPENED = 100


def write(folder: Path, questions: Questions, asked: Iterable[tuple[Sample, Words]]) -> None:
    """Write a line for each sample: `id`, `question`, `options` (empty where none is known) and `media`.

    `media` is the video's file, of a video in pictures the first one, and null where it is not on this machine.
    """
    library = Library(questions.spec, questions.split, questions.data, make=False)

    @cache
    def media(video: str) -> str | None:
        try:
            path = library.find({"video": video})
        except ReelbenchError:  # a submission may name what no file can be called
            return None
        return str(path.absolute()) if path else None

    lines: Iterator[dict[str, Any]] = (
        {
            "id": sample.id,
            "question": question,
            "options": list(options) if any(options) else [],
            "media": media(sample.video),
        }
        for sample, (question, options) in asked
    )
    write_jsonl(folder / QUESTIONS_FILE, lines)


def unit_doubt(questions: Questions, samples: Sequence[Sample]) -> str | None:
    """Say where a run's windows look as if they were no seconds, held to the lengths that rows or video files state.

    Of files, which are opened for it, the first `_FILES_OPENED` are looked at.
    """
    windows = {
        sample.id: (sample.parsed["span"], sample.target["spans"][0])
        for sample in samples
        if sample.parsed and sample.parsed.get("span") and sample.target.get("spans")
    }
    lengths: dict[str, float] = {}
    rows = [row for row in questions.rows if row["id"] in windows] if windows else []
    with suppress(ReelbenchError):  # a name that no file can have
        library = Library(questions.spec, questions.split, make=False)
        unstated = dict.fromkeys(row["video"] for row in rows if not row.get("duration"))
        opened = set(islice(unstated, _FILES_OPENED))
        files = ((row["video"], library.find(row)) for row in rows if row["video"] in opened)
        lengths = lengths_of(rows, {video: path for video, path in files if path is not None})
    return temporal_span.unit_doubt(windows, lengths)
