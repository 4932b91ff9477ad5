"""A Python function as the model: every question of a split asked, and the answers scored as a file's are."""

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from reelbench.registry.data.loading import locate
from reelbench.registry.errors import ReelbenchError, first_line
from reelbench.registry.files import valid_text
from reelbench.registry.frames.sampling import FrameSampling
from reelbench.registry.media.library import Library
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.records import Item, ModelRecord, SettingsRecord
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.lmms.shown import UNREADABLE, Shown, show
from reelbench.tasks.prompting import prompt_of
from reelbench.tasks.score import Evaluation, Options, evaluation
from reelbench.tasks.submissions import Prediction, answered, hides, join, reference_of

ADAPTER = "reelbench-function"
"""What a record of such answers has for lmms-eval's adapter."""

Function = Callable[[str, Any, Mapping[str, Any]], str]
"""A prompt, what is shown of the video, and the row -> the answer's text."""

log = logging.getLogger("reelbench")


def evaluate(
    fn: Function,
    name: str,
    options: Options,
    *,
    split: str | None = None,
    frames: str = "uniform:32",
    limit: int | None = None,
    model: str | None = None,
    data: Path | None = None,
) -> Evaluation:
    """Ask `fn` the questions of a benchmark or a task, in their order, one at a time.

    For the arguments, and for how a question ends that can't be asked, see `reelbench.evaluate`.
    """
    sampling = FrameSampling.parse(frames)
    located = locate(name, split, data)
    spec = located.spec
    prompt = located.task.prompt if located.task else None
    rows = located.read()[:limit]
    library = Library(spec, located.split, data)
    missing = {row.id for row in library.missing(rows)} if sampling.kind != "none" else set()
    asked = _Asked(fn, spec, library, sampling, prompt)
    predictions = {
        row["id"]: Prediction(None, reason="media_missing") if row["id"] in missing else asked.answer(row)
        for row in rows
    }
    submission = join(
        predictions,
        [reference_of(spec, row) for row in rows],
        located.source,
        path=Path(located.split),
        split=located.split,
    )
    if hides(spec, located.split):
        submission = submission.with_hidden_answers()
    submission = replace(submission, items=[asked.shown_to(item) for item in submission.items])
    return evaluation(
        spec,
        submission,
        options,
        model=ModelRecord(id=model or getattr(fn, "__name__", type(fn).__name__), adapter=ADAPTER),
        settings=SettingsRecord(
            frames=str(sampling),
            frames_given=_counted(submission.items),
            prompt_sha256=prompt_sha256(spec, prompt),
            limit=limit,
        ),
        data=data,
    )


class _Asked:
    """The questions that a function is asked, and what it was shown."""

    def __init__(
        self, fn: Function, spec: BenchmarkSpec, library: Library, sampling: FrameSampling, prompt: str | None
    ) -> None:
        self._fn = fn
        self._spec = spec
        self._library = library
        self._sampling = sampling
        self._prompt = prompt
        self._shown: dict[str, Shown] = {}
        self._answers = 0

    def answer(self, row: Row) -> Prediction:
        """Ask one question; a function that has answered before may fail at one, which is then unscored."""
        try:
            shown = self._shown[row["id"]] = show(self._library, row, self._sampling)
        except ReelbenchError as error:
            log.warning("%s: %s is not asked (%s): %s", self._spec.id, row["id"], UNREADABLE, error)
            return Prediction(None, reason=UNREADABLE)
        try:
            text = self._fn(prompt_of(self._spec, row, self._prompt), _given(shown), row)
        except Exception as error:
            if not self._answers:
                raise
            log.warning(
                "%s: %s has no answer: %s: %s", self._spec.id, row["id"], type(error).__name__, first_line(error)
            )
            return Prediction(None, reason="model_failed")
        if not isinstance(text, str):
            raise TypeError(f"the function returned a {type(text).__name__} for {row['id']!r}, expected text")
        self._answers += 1
        return answered(self._spec, valid_text(text), row.get("options", ()))

    def shown_to(self, item: Item) -> Item:
        """Return an item with the times of the frames that were shown for it."""
        shown = self._shown.get(item.id)
        if shown is None or shown.timestamps is None:
            return item
        return replace(item, frame_timestamps=list(shown.timestamps), frame_padding=shown.padding)


def _given(shown: Shown) -> Any:  # noqa: ANN401 - a path, pictures, or nothing
    if shown.video is not None:
        return shown.video
    return shown.visuals() or None


def _counted(items: Sequence[Item]) -> dict[str, int]:
    given = Counter(
        len(item.frame_timestamps) - item.frame_padding for item in items if item.frame_timestamps is not None
    )
    return {str(frames): number for frames, number in given.items()}
