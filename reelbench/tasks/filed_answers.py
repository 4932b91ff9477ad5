"""Samples and questions in files beside their result's, while they are made."""

import hashlib
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.base.settings import home
from reelbench.data.ownership import QuestionsHash
from reelbench.registry.records import Sample
from reelbench.scoring.filed_samples import FiledLines, FiledSamples
from reelbench.scoring.result_files import question_rows
from reelbench.tasks.submissions import Questions, Words

if TYPE_CHECKING:
    from filelock import BaseFileLock


class FiledAnswers:
    """The files of one scoring. What a process that ended wrote there stays.

    Attributes:
        samples: The samples so far.
        questions: The lines on their questions.
    """

    def __init__(self, folder: Path, inputs: str, questions: Questions) -> None:
        """Open the files.

        Args:
            folder: Where the result belongs, or the folder of results.
            inputs: The hash of all that the samples are made of.
            questions: The questions.
        """
        self._folder = folder
        self._has_made_folder = not folder.exists()
        name = self._take_name(inputs)
        self._remove_ended(inputs)
        self.samples = FiledSamples(FiledLines(_samples_file(folder, name)))
        self.questions = FiledLines(_questions_file(folder, name))
        self._row = question_rows(questions.library)
        self._are_rows = questions.file is None
        self._hash = QuestionsHash(questions.spec, questions.split)

    def _take_name(self, inputs: str) -> str:
        """Return the first name for files that no other process has."""
        names = _names(inputs)
        name = next(names)
        lock = _lock_if_free(name)
        while lock is None:
            name = next(names)
            lock = _lock_if_free(name)
        self._lock = lock
        return name

    def _remove_ended(self, inputs: str) -> None:
        """Remove the files of names whose processes have ended."""
        for name in _names(inputs):
            if not _lock_file(name).exists():
                return
            lock = _lock_if_free(name)  # that of this process is not free either
            if lock is not None:
                _samples_file(self._folder, name).unlink(missing_ok=True)
                _questions_file(self._folder, name).unlink(missing_ok=True)
                lock.release()

    def extend(
        self,
        samples: Sequence[Sample],
        questions: Sequence[Words],
        stated_targets: Mapping[str, dict[str, Any]],
    ) -> None:
        """Write the next samples and their questions.

        Args:
            samples: The samples.
            questions: Their questions and options.
            stated_targets: Id -> the right answer of the rows, where errata changed it.
        """
        self.samples.extend(samples)
        lines_there = self.questions.pass_over(len(samples))
        of_samples = list(zip(samples, questions, strict=True))
        self.questions.extend(
            [self._row(sample, *words) for sample, words in of_samples[lines_there:]]
        )
        for sample, (question, options) in of_samples:
            target = stated_targets.get(sample.id, sample.target)
            self._hash.add(sample.id, question, options, target)

    @property
    def questions_sha256(self) -> str | None:
        """The hash of the questions. None where one of a file isn't known."""
        if self._are_rows or self._hash.all_known:
            return self._hash.sha256()
        return None

    @contextmanager
    def writing(self) -> Generator[None]:
        """Close the files at the end. Where the input is wrong, they go."""
        try:
            yield
        except (InputError, DataUnavailableError):
            self.remove()
            raise
        finally:
            self.samples.lines.close()
            self.questions.close()

    def remove(self) -> None:
        """Remove the files, and the folder where it was made for them."""
        self.samples.lines.remove()
        self.questions.remove()
        if self._has_made_folder:
            with suppress(OSError):  # somebody has put something there
                self._folder.rmdir()
        self.release()

    def release(self) -> None:
        """Let others have files of these names, as these are gone from there."""
        self._lock.release()


def _names(inputs: str) -> Iterator[str]:
    """Yield names for files with the samples of the same inputs, one a process."""
    yield inputs
    for number in count(2):
        yield f"{inputs}-{number}"


def _lock_file(name: str) -> Path:
    return home() / "scoring" / f"{name}.lock"


def _lock_if_free(name: str) -> "BaseFileLock | None":
    """Return the lock on a name, or None where another process has it."""
    from filelock import FileLock, Timeout

    path = _lock_file(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return None
    return lock


def _samples_file(folder: Path, name: str) -> Path:
    return folder / f".samples.jsonl.{name}.tmp"


def _questions_file(folder: Path, name: str) -> Path:
    return folder / f".questions.jsonl.{name}.tmp"


def hash_of_inputs(*inputs: object) -> str:
    """Return a hash of all that samples are made of."""
    text = json.dumps([str(part) for part in inputs])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
