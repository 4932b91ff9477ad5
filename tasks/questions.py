"""`questions.jsonl`, beside a result's samples: what was asked, for whoever looks at the answers on this machine.

It holds the owners' sentences, which `samples.jsonl` is free of: no store takes it and nothing publishes it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from reelbench.registry.errors import ReelbenchError
from reelbench.registry.files import write_jsonl
from reelbench.registry.media.library import Library
from reelbench.registry.records import Item, Sample
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring.result_files import QUESTIONS_FILE


@dataclass(frozen=True, slots=True)
class Asked:
    """What the questions were, in the order of samples, which have only their ids; lists, for they may be many."""

    texts: list[str]
    options: list[tuple[str, ...]]

    @classmethod
    def by_items(cls, items: Sequence[Item]) -> "Asked":
        """Return the questions of `items`."""
        return cls([item.question for item in items], [item.options for item in items])

    def of_samples(self, samples: Sequence[Sample]) -> Iterator[tuple[Sample, str, tuple[str, ...]]]:
        """Yield each sample with its question and that one's options."""
        return zip(samples, self.texts, self.options, strict=True)


def write(
    folder: Path,
    spec: BenchmarkSpec,
    split: str,
    asked: Iterable[tuple[Sample, str, tuple[str, ...]]],
    data: Path | None = None,
) -> None:
    """Write a line for each of `Asked.of_samples`: `id`, `question`, `options` (empty where none is known) and `media`.

    `media` is the video's file, of a video in pictures the first one, and null where it is not on this machine.
    """
    library = Library(spec, split, data, make=False)

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
        for sample, question, options in asked
    )
    write_jsonl(folder / QUESTIONS_FILE, lines)
