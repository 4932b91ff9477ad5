"""A benchmark's rows as a path that appears when it is opened, and the name that tells runs apart.

lmms-eval's YAML names a dataset by path. `RowsOnDisk` is that path. Opening it (`__fspath__`)
materialises the rows, so one YAML serves simple and chat models, the command line and Python, with
no loader of lmms-eval's to patch.
"""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, unquote

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError

if TYPE_CHECKING:
    from reelbench.data.loading import SplitData
    from reelbench.registry.sampling import FrameSampling
    from reelbench.registry.spec import TaskSpec

_PLAIN = "/:,=+ "
"""Characters that stand as they are. Only a label may hold others."""

_DIGITS = 16
_INVALID = "invalid"
_NAME = re.compile(r"reelbench:(?P<task>[\w.-]+)@(?P<fingerprint>[0-9a-z]+)")


@dataclass(frozen=True, slots=True)
class DataName:
    """The rows of a run and how they were shown.

    lmms-eval logs it as text, and scoring reads that text. A part that is None is not in the text.
    """

    task: str

    fingerprint: str
    """The first 16 digits of the source's fingerprint, or `unavailable`."""

    media_missing: int = 0
    """Number of rows left out because their video was not here."""

    frames: str | None = None
    """The sampling that the environment names."""

    encoder: str | None = None
    """Version of the encoder of stored frames, where the sampling decodes."""

    cues: str | None = None
    """16 digits of the cues' sha256, where the questions had some."""

    language: str | None = None
    """Language that the questions were put in. None for their own."""

    translations: str | None = None
    """16 digits of the sha256 of the questions in that language."""

    label: str | None = None
    """The user's words on how the answers are made."""

    candidates: str | None = None
    """Number of answers that the environment names, and their way. None for one."""

    answering: str | None = None
    """How the options' scores are compared, where the task has such."""

    data: str | None = None
    """`own` where the rows are somebody's own and not the owners' of the benchmark."""

    ids: str | None = None
    """16 digits of the hash of the questions that were asked, where not all were."""

    run: str | None = None
    """Number of the run, where all was asked several times."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `reelbench:<task>@<hash>;media_missing=3;…`.

        Parts of a later version are passed over.

        Raises:
            InputError: The text is no such name.
        """
        head, *parts = text.split(";")
        values: dict[str, str] = {}
        for part in parts:
            key, _, value = part.partition("=")
            values[key] = value
        media_missing = values.get("media_missing", "0")
        match = _NAME.fullmatch(head)
        if match is None or not re.fullmatch(r"[0-9]{1,7}", media_missing):
            raise InputError(
                f"{text!r} does not name rows of ours "
                "(`reelbench:<task>@<hash>;media_missing=<number>`)"
            )
        optional = {key: unquote(values[key]) for key in _OPTIONAL if key in values}
        return cls(match["task"], match["fingerprint"], int(media_missing), **optional)

    def __str__(self) -> str:
        text = f"reelbench:{self.task}@{self.fingerprint};media_missing={self.media_missing}"
        for key in _OPTIONAL:
            value = getattr(self, key)
            if value is not None:
                text += f";{key}={quote(value, safe=_PLAIN)}"
        return text

    @property
    def missing_note(self) -> Path:
        """The list of the rows left out of the task's last run on this data."""
        return settings.home() / "media_missing" / f"{self.task}@{self.fingerprint}.json"


_OPTIONAL = [field.name for field in fields(DataName) if field.default is None]


class RowsOnDisk(os.PathLike[str]):
    """The folder with a task's rows as a saved `datasets.DatasetDict`, made on first use."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.media_missing = 0
        """Rows left out because their video is not here. Set when the task is loaded."""
        self.problem: str | None = None
        """A line on why the task can't be run though its rows are here. Set when it is loaded."""
        self._failure: ReelbenchError | None = None
        self._located: SplitData | None = None
        self._is_by_user: bool | None = None
        """True where they are somebody's own rows. None until that was looked up."""

    def ready(self) -> str | None:
        """Try anew to have the rows here. Return why that fails, or None."""
        self._failure = None
        self.problem = None
        self._located = None
        self._is_by_user = None
        try:
            self.__fspath__()
        except ReelbenchError as error:
            return str(error)
        return None

    def __fspath__(self) -> str:
        """Return the folder.

        Raises:
            ReelbenchError: The data is not available. The same error each time.
        """
        # lmms-eval tries a failing load five times and then hides the reason: remember it, so that
        # the retries cost nothing and whoever reports it can.
        if self._failure is not None:
            raise self._failure
        try:
            return str(self._locate(fetch=True).materialise())
        except ReelbenchError as error:
            self._failure = error
            raise

    def _locate(self, *, fetch: bool) -> "SplitData":
        from reelbench.data.loading import locate

        if self._located is None:
            self._located = locate(self.task, fetch=fetch)
        return self._located

    @property
    def name(self) -> DataName:
        """The data's name, with how its frames are sampled and how it is asked."""
        from reelbench.registry import discovery
        from reelbench.registry.decoding import Candidates
        from reelbench.registry.question_files import QuestionCues, QuestionIds, Translations
        from reelbench.registry.sampling import FrameSampling

        fingerprint = "unavailable"
        data: str | None = None
        with suppress(ReelbenchError):
            located = self._locate(fetch=False)
            fingerprint = located.source.fingerprint[:_DIGITS]
            if self._are_users_rows(located):
                data = "own"
        named_task = discovery.find_task(self.task)
        task = None if named_task is None else named_task[1]
        cues: str | None = None
        if task is not None and task.reasoned:
            cues = _name_of(_value_or_invalid(lambda: settings.CUES.read(QuestionCues.read)))
        # A sampling in a task's YAML is in lmms-eval's config by itself.
        sampling = _value_or_invalid(lambda: settings.FRAMES.read(FrameSampling.parse))
        frames = _name_of(sampling)
        encoder: str | None = None
        if isinstance(sampling, FrameSampling):
            frames = sampling.spec(words=True)
            encoder = _encoder_of(sampling)
        translations = _value_or_invalid(Translations.from_environment)
        return DataName(
            self.task,
            fingerprint,
            self.media_missing,
            frames=frames,
            encoder=encoder,
            cues=cues,
            language=getattr(translations, "language", settings.LANGUAGE.get() or None),
            translations=_name_of(translations),
            label=settings.LABEL.get() or None,
            candidates=_name_of(
                _value_or_invalid(lambda: settings.CANDIDATES.read(Candidates.parse))
            ),
            answering=_answering_of(task),
            data=data,
            ids=_name_of(_value_or_invalid(lambda: settings.IDS.read(QuestionIds.read))),
            run=settings.RUN.get() or None,
        )

    def _are_users_rows(self, located: "SplitData") -> bool:
        """Return True where the rows are somebody's own. They are looked at once."""
        from reelbench.data.ownership import entry_of, rows_owner

        if located.source.kind != "local":
            return False
        if self._is_by_user is None:
            spec = located.spec
            entries = (entry_of(spec, row) for row in located.rows)
            owner = rows_owner(spec, located.split, located.source, entries, located)
            self._is_by_user = owner == "own"
        return self._is_by_user

    def __str__(self) -> str:
        """Return the name as text, by which lmms-eval's response cache tells settings apart."""
        return str(self.name)

    __repr__ = __str__


def _encoder_of(sampling: "FrameSampling") -> str | None:
    from reelbench.video.frame_store import ENCODER_VERSIONS

    if not sampling.decodes:
        return None
    return str(ENCODER_VERSIONS[sampling.form])


def _answering_of(task: "TaskSpec | None") -> str | None:
    """Return the name of how options' scores are compared, where the task has options."""
    from reelbench.registry.decoding import Answering

    if task is None or task.options is None:
        return None

    def answering_of_task() -> Answering:
        answering = settings.ANSWERING.read(Answering.parse) or Answering()
        return answering.for_task(task)

    return _name_of(_value_or_invalid(answering_of_task))


def _value_or_invalid(read: Callable[[], Any]) -> Any:  # noqa: ANN401 - any value of the environment
    """Return a value that the environment names, or `invalid` where it can't be read."""
    try:
        return read()
    except ReelbenchError:
        return _INVALID


def _name_of(value: Any) -> str | None:  # noqa: ANN401 - any value of the environment
    """Return a value as text. A file's is the first digits of its hash."""
    if value is None:
        return None
    if hasattr(value, "sha256"):
        return (value.sha256 or "")[:_DIGITS] or None
    return str(value)
