"""`questions.jsonl`, beside a result's samples: what was asked, for whoever looks at the answers on this machine.

It holds the owners' sentences, which `samples.jsonl` is free of: no store takes it and nothing publishes it.
"""

from collections.abc import Iterable
from pathlib import Path

from reelbench.judges.results import QUESTIONS_FILE
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.files import write_jsonl
from reelbench.registry.media.library import Library
from reelbench.registry.records import Item
from reelbench.registry.spec import BenchmarkSpec


def write(folder: Path, spec: BenchmarkSpec, split: str, items: Iterable[Item], data: Path | None = None) -> None:
    """Write a line per item: `id`, `question`, `options` (empty where there are none, or none is known) and `media`.

    `media` is the video's file, of a video in pictures the first one, and null where it is not on this machine.
    """
    library = Library(spec, split, data, make=False)
    media: dict[str, str | None] = {}
    lines = []
    for item in items:
        if item.video not in media:
            media[item.video] = _media(library, item.video)
        options = list(item.options) if any(item.options) else []
        lines.append({"id": item.id, "question": item.question, "options": options, "media": media[item.video]})
    write_jsonl(folder / QUESTIONS_FILE, lines)


def _media(library: Library, video: str) -> str | None:
    try:
        path = library.find({"video": video})
    except ReelbenchError:  # a submission may name what no file can be called
        return None
    return str(path.absolute()) if path else None
