"""`RowsOnDisk`: a benchmark's rows as a path that appears when it is opened, and its name, which tells runs apart.

lmms-eval's YAML names a dataset by path; this object is that path. Opening it (`__fspath__`)
materialises the rows, so one YAML serves simple and chat models, the command line and Python, with
no loader of lmms-eval's to patch.
"""

import os
import re
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, unquote

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from reelbench.data.loading import SplitData

_PLAIN = "/:,=+ "  # stand as they are: a sampling is plain text, and only a label may hold the rest
_INVALID = "invalid"
_NAME = re.compile(r"reelbench:(?P<task>[\w.-]+)@(?P<fingerprint>[0-9a-z]+)")


@dataclass(frozen=True, slots=True)
class DataName:
    """What a run's rows were and how they were shown: lmms-eval logs it as text, and scoring reads that text."""

    task: str
    fingerprint: str  # the first 16 digits of its source's, or `unavailable`
    media_missing: int = 0  # rows left out because their video was not here
    frames: str | None = None  # the sampling asked for by the environment
    encoder: str | None = (
        None  # version of the encoder of stored frames, where the sampling decodes
    )
    cues: str | None = (
        None  # 16 digits of the cues' sha256, where the questions were asked with some
    )
    language: str | None = None  # that the questions were put in; None for their own
    translations: str | None = None  # 16 digits of the sha256 of the questions in it
    label: str | None = None  # what the user says of how the answers are made
    candidates: str | None = (
        None  # how many answers the environment asked for, and how; None for one
    )
    answering: str | None = None  # how the options' scores are compared, where the task has such
    data: str | None = (
        None  # `own` where the rows are somebody's own and not the owners' of the benchmark
    )
    ids: str | None = (
        None  # 16 digits of the hash of the questions that were asked, where not all were
    )
    run: str | None = None  # number of the run, where all was asked several times

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `reelbench:<task>@<hash>;media_missing=3;…`, without a later version's parts; InputError for others."""
        head, *parts = text.split(";")
        stated = {key: value for key, _, value in (part.partition("=") for part in parts)}
        missing = stated.get("media_missing", "0")
        named = _NAME.fullmatch(head)
        if named is None or not re.fullmatch(r"[0-9]{1,7}", missing):
            raise InputError(
                f"{text!r} does not name rows of ours (`reelbench:<task>@<hash>;media_missing=<number>`)"
            )
        optional = {part: unquote(stated[part]) if part in stated else None for part in _OPTIONAL}
        return cls(named["task"], named["fingerprint"], int(missing), **optional)

    def __str__(self) -> str:
        given = ((part, getattr(self, part)) for part in _OPTIONAL)
        stated = "".join(
            f";{part}={quote(value, safe=_PLAIN)}" for part, value in given if value is not None
        )
        return (
            f"reelbench:{self.task}@{self.fingerprint};media_missing={self.media_missing}{stated}"
        )

    @property
    def missing_note(self) -> Path:
        """The file that lists the rows left out of the task's last run on this data."""
        return settings.home() / "media_missing" / f"{self.task}@{self.fingerprint}.json"


_OPTIONAL = [field.name for field in fields(DataName) if field.default is None]


class RowsOnDisk(os.PathLike[str]):
    """The folder with a task's rows as a saved `datasets.DatasetDict`, made on first use."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.media_missing = 0
        """Rows left out because their video is not here; set when the task is loaded."""
        self.problem: str | None = None
        """Why the task can't be run although its rows are here, in one line; set when the task is loaded."""
        self._failure: ReelbenchError | None = None
        self._here: SplitData | None = None
        self._own: bool | None = None  # whether they are somebody's own rows; None until asked

    def ready(self) -> str | None:
        """Try anew to have the rows here; return why that fails, in one line, or None."""
        self._failure = self.problem = self._here = self._own = None
        try:
            self.__fspath__()
        except ReelbenchError as error:
            return str(error)
        return None

    def __fspath__(self) -> str:
        """Return the folder; raises the same one-line error each time where the data is not available."""
        from reelbench.data.loading import locate

        # lmms-eval tries a failing load five times and then hides the reason: remember it, so that
        # the retries cost nothing and whoever reports it can.
        if self._failure is not None:
            raise self._failure
        try:
            self._here = self._here or locate(self.task)
            return str(self._here.materialise())
        except ReelbenchError as error:
            self._failure = error
            raise

    @property
    def name(self) -> DataName:
        """Name the data, how its frames are sampled and how it is asked."""
        from reelbench.data.loading import locate
        from reelbench.data.ownership import entry_of, whose
        from reelbench.registry import discovery
        from reelbench.registry.decoding import Answering, Candidates
        from reelbench.registry.question_files import QuestionCues, QuestionIds, Translations
        from reelbench.registry.sampling import FrameSampling
        from reelbench.video.frame_store import ENCODER_VERSIONS

        data, fingerprint = None, "unavailable"
        with suppress(ReelbenchError):
            here = self._here = self._here or locate(self.task, fetch=False)
            fingerprint = here.source.fingerprint[:16]
            if self._own is None and here.source.kind == "local":
                entries = (entry_of(here.spec, row) for row in here.rows)
                self._own = whose(here.spec, here.split, here.source, entries, here) == "own"
            data = "own" if self._own else None
        known = discovery.find_task(self.task)
        task = known[1] if known is not None else None
        # A sampling in a task's YAML is in lmms-eval's config by itself.
        sampling = _value_named(lambda: settings.FRAMES.read(FrameSampling.parse))
        translations = _value_named(Translations.from_environment)
        decodes = isinstance(sampling, FrameSampling) and sampling.decodes
        reasoned = task is not None and task.reasoned
        cues = _value_named(lambda: settings.CUES.read(QuestionCues.read)) if reasoned else None
        answering = None
        if task is not None and task.options is not None:
            answering = _value_named(
                lambda: (settings.ANSWERING.read(Answering.parse) or Answering()).for_task(task)
            )
        return DataName(
            self.task,
            fingerprint,
            self.media_missing,
            frames=sampling.spec(given=True)
            if isinstance(sampling, FrameSampling)
            else _told(sampling),
            encoder=str(ENCODER_VERSIONS[sampling.form]) if decodes else None,
            cues=_told(cues),
            language=getattr(translations, "language", settings.LANGUAGE.get() or None),
            translations=_told(translations),
            label=settings.LABEL.get() or None,
            candidates=_told(_value_named(lambda: settings.CANDIDATES.read(Candidates.parse))),
            answering=_told(answering),
            data=data,
            ids=_told(_value_named(lambda: settings.IDS.read(QuestionIds.read))),
            run=settings.RUN.get() or None,
        )

    def __str__(self) -> str:
        """Return the name as text: what lmms-eval's response cache tells settings apart by."""
        return str(self.name)

    __repr__ = __str__


def _value_named(read: "Callable[[], Any]") -> Any:  # noqa: ANN401 - what it reads
    """Return the value that the environment names, None where none, `invalid` where it can't be read."""
    try:
        return read()
    except ReelbenchError:
        return _INVALID


def _told(named: Any) -> str | None:  # noqa: ANN401 - what was read
    """Return what was read as text: of a file the first digits of its hash; None where nothing was."""
    if named is not None and hasattr(named, "sha256"):
        return (named.sha256 or "")[:16] or None
    return None if named is None else str(named)
