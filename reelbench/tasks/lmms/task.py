"""What an lmms-eval task of ours is made of: the functions that its YAML names, the same for every benchmark.

Each benchmark has one `LmmsTask`, which YAML's `!function` reaches through `codegen`. Nothing here
raises into lmms-eval's worker threads: it would retry five times, throw the whole run away and
still exit with 0.
"""

import json
import logging
import os
from argparse import Namespace
from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any

from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.files import valid_text, write_text
from reelbench.base.settings import home
from reelbench.data.rows_on_disk import RowsOnDisk
from reelbench.judges.judge_run import LiveJudge
from reelbench.registry import decoding, rows
from reelbench.registry.decoding import Answering, Candidates
from reelbench.registry.prompts import prompt_template
from reelbench.registry.question_files import QuestionCues, QuestionIds, Translations
from reelbench.registry.reasons import Reason
from reelbench.registry.records import Item, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, Corpus, Mean, MeanOf, Metric, TaskSpec
from reelbench.registry.splits import upstream_split
from reelbench.scoring import aggregation
from reelbench.scoring.answers.reasoning import last_line
from reelbench.tasks import submissions
from reelbench.tasks.lmms import adapter_patches, adapters, arrivals, option_scores
from reelbench.tasks.lmms import visuals as frames
from reelbench.tasks.prompting import CUE, prompt_of
from reelbench.video.library import Library, where_looked

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

log = logging.getLogger("reelbench")

FUNCTIONS = (
    *(
        "process_docs",
        "doc_to_messages",
        "doc_to_visual",
        "doc_to_text",
        "doc_to_target",
        "process_results",
    ),
    "aggregate",
)
"""Methods of `LmmsTask` that YAML names."""

SUBMISSION = "submission"
"""The one metric of a task whose answers are hidden: it has no score; its aggregation writes the owners' file."""


def name_of_rows(task: TaskSpec) -> str:
    """Return YAML's name of a task's rows."""
    return task.name.upper().replace("-", "_")


class LmmsTask:
    """One benchmark's functions for lmms-eval; `data` has the rows of each of its tasks."""

    def __init__(self, spec: BenchmarkSpec) -> None:
        self.spec = spec
        self.data = {task.name: RowsOnDisk(task.name) for task in spec.tasks}
        self._frames: dict[str, frames.Frames] = {}  # by split
        self._judge = LiveJudge(spec)
        self._translations: Translations | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "LmmsTask":
        # lmms-eval copies a task's config, and with a bound method what it is bound to: what is
        # known here is shared.
        return self

    def named(self, name: str) -> Any:  # noqa: ANN401 - a function, or rows
        """Return the object that YAML calls `name`: a function, or a task's rows."""
        if name in FUNCTIONS:
            return getattr(self, name)
        for task in self.spec.tasks:
            if name_of_rows(task) == name:
                return self.data[task.name]
        raise AttributeError(f"{self.spec.id}: there is no {name}")

    # --- what the model sees
    # ----------------------------------------------------------------------------------------

    def doc_to_text(
        self, doc: Row, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> str:
        """Return the prompt for a row, from the benchmark's prompt file or the one that the task's YAML names.

        It says so where the row's video is known to give no frames; nothing is decoded for it.
        """
        kwargs = lmms_eval_specific_kwargs or {}
        asked = self._in_language(doc)
        prompt = prompt_of(self.spec, asked, kwargs.get("prompt"))
        shown = self._frames_of(doc).prepared(doc, kwargs)
        if shown is not None:
            prompt = shown.subtitle_text(asked["language"]) + prompt
        return f"{prompt}\n{frames.NOT_SHOWN}" if shown is not None and shown.problem else prompt

    def doc_to_visual(
        self, doc: Row, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> "list[str | Image]":
        """Return the row's video or frames, for simple models; nothing where nothing is to be or can be shown."""
        if (asked := frames.sampling(lmms_eval_specific_kwargs)).times == "text":
            self._frames_of(doc).refuse(doc, asked, adapters.NO_TIMES)
            return []
        shown = self._frames_of(doc).view(doc, lmms_eval_specific_kwargs)
        arrivals.hand_over(doc, len(shown.timestamps or ()))
        return shown.visuals()

    def doc_to_messages(
        self, doc: Row, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the row's one user message, for chat models."""
        shown = self._frames_of(doc).view(doc, lmms_eval_specific_kwargs)
        text = {"type": "text", "text": self.doc_to_text(doc, lmms_eval_specific_kwargs)}
        arrivals.hand_over(doc, len(shown.timestamps or ()), text["text"])
        content = frames.content(
            shown, self._in_language(doc)["language"], as_data=adapters.passes_video
        )
        return [{"role": "user", "content": [*content, text]}]

    def _in_language(self, doc: Row) -> Row:
        """Return a row in the language that it is asked in."""
        return self._translations.translated(doc) if self._translations else doc

    def doc_to_target(self, doc: Row) -> str:
        """Return the reference, as lmms-eval logs it."""
        return str(doc["answer"] if "answer" in doc else doc["span"])

    def process_docs(self, dataset: "Dataset") -> "Dataset":
        """Leave out the rows whose video is missing; say how many before the run starts, and note which for scoring.

        Where that leaves nothing to ask, the task can't be run, and its data's `problem` says why.
        """
        self._judge = LiveJudge(self.spec)  # each run's own: another run may name another judge
        data = self.data[str(dataset.info.dataset_name)]
        # Say which column the task's prompt needs and no row has: a file that was not joined.
        task = next(task for task in self.spec.tasks if task.name == data.task)
        template = prompt_template(self.spec, task.prompt, dataset[0]["language"])
        needed = {field for _, field, _, _ in Formatter().parse(template) if field and field != CUE}
        empty = sorted(field for field in needed if not any(dataset[field]))
        if not empty:
            data.problem = None
        else:
            of_split = self.spec.splits[upstream_split(self.spec, task.split)]
            files = (
                f"; put {' or '.join(of_split.joined)} beside the questions"
                if of_split.joined
                else ""
            )
            data.problem = f"its prompt needs {', '.join(empty)}, and no question has any{files}"
        split = dataset[0]["split"]
        library = Library(self.spec, split)  # anew: files may have come since the last run
        self._frames[split] = frames.Frames(library)
        sampling = None
        try:
            sampling = frames.sampling()
            adapters.check_times(sampling, {adapters.task_type} if adapters.running else ())
            if (named := settings.IDS.read(QuestionIds.read)) is not None:
                named.check(dataset["id"], data.task)
                dataset = _select_rows(dataset, named.ids)
            dataset = _asked_as_chosen(dataset, task)
            if task.reasoned:
                dataset = _with_cues(dataset)
            self._translations = Translations.from_environment()
            if self._translations is not None:
                absent = self._translations.lacking(self.spec, dataset)  # type: ignore[arg-type] - rows are dicts
                dataset = _select_rows(dataset, set(dataset["id"]) - absent)
            if (lacking := library.check_subtitles(dataset, sampling)) is not None:  # type: ignore[arg-type] - rows are dicts
                log.warning("%s: %s", data.task, lacking)
        except InputError as error:
            data.problem = str(error)
        if sampling is None or data.problem is not None:
            return dataset.select([])
        arrivals.forget(split)
        if sampling.kind == "none":  # asked in words only, a question needs no video
            data.media_missing = 0
            return dataset
        missing = library.missing(dataset)
        data.media_missing = len(missing)
        note = data.name.missing_note
        note.unlink(missing_ok=True)
        if not missing:
            return dataset
        where = where_looked(self.spec, missing)
        if len(missing) == len(dataset):
            data.problem = f"none of its {len(dataset)} videos is here {where}"
            return dataset.select([])
        write_text(
            note, json.dumps({"rows": [{"id": row.id, "video": row.video} for row in missing]})
        )
        left_out = "%s: %d of %d questions are left out because their video is not here or can't be read %s"
        log.warning(left_out, data.task, len(missing), len(dataset), where)
        return _select_rows(dataset, set(dataset["id"]) - {row.id for row in missing})

    def _frames_of(self, doc: Row) -> frames.Frames:
        split = doc["split"]
        if split not in self._frames:
            self._frames[split] = frames.Frames(Library(self.spec, split))
        return self._frames[split]

    # --- what its answer is worth
    # -----------------------------------------------------------------------------------

    def item(self, doc: Row, answer: str, *others: str) -> Item:
        """Return a row with a model's raw answer, ready to be scored; of steps with an answer, the answer is.

        `others` are further answers to the same question, which are kept and not scored.
        """
        shown = self._frames_of(doc).recorded(doc)
        reasoned = CUE in doc and not aggregation.is_failure(answer)
        scores = None
        if option_scores.ANSWERING in doc:
            given, scores = option_scores.read_scores(doc, answer)
        else:
            given = submissions.answered(
                self.spec,
                last_line(answer) if reasoned else answer,
                doc.get("options", ()),
                rows.timing(doc),
            )
        reason = given.reason or (Reason.CUT_OFF if submissions.cut_off(answer) else None)
        if reason is None and submissions.hides(self.spec, doc["split"]):
            reason = Reason.ANSWERS_HIDDEN
        if shown.problem is not None:
            reason = Reason.MEDIA_UNREADABLE
        # Count the frames that arrived where others were handed over; None too where a model was
        # shown none.
        number, handed = arrivals.arrived(doc), len(shown.timestamps or ())
        arrived = (
            "unknown"
            if number is None
            else number
            if handed - number not in {0, shown.padding}
            else None
        )
        if not handed or shown.problem is not None:
            arrived = None
        return submissions.reference_of(self.spec, doc).item(
            given,
            parsed={"output": answer} if reasoned else given.parsed,
            reason=reason,
            flags=given.flags if reason not in {Reason.MEDIA_UNREADABLE, Reason.CUT_OFF} else (),
            frame_timestamps=list(shown.timestamps) if shown.timestamps is not None else None,
            frame_padding=shown.padding,
            frame_times_told=list(shown.told) if shown.told is not None else None,
            frames_arrived=arrived,
            subtitles=shown.lines,
            candidates=[text for text in (answer, *others) if not aggregation.is_failure(text)]
            if others
            else None,
            option_scores=scores,
        )

    def process_results(self, doc: Row, results: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Score one answer; every metric's dict says which metric and item it is, the first has the whole sample."""
        item = self.item(doc, *(map(valid_text, results) if results else [""]))
        try:
            sample = aggregation.to_sample(self.spec, item, self._judge.judge(item))
        except (
            Exception
        ):  # a scorer's bug must not cost the run its answers: it is logged and counted
            log.exception("%s: %s could not be scored", self.spec.id, item.id)
            sample = item.sample(Reason.SCORER_FAILED)
        if submissions.hides(self.spec, doc["split"]):
            return {
                SUBMISSION: {
                    "metric": SUBMISSION,
                    "sample": sample.model_dump(),
                    "split": doc["split"],
                }
            }
        details = {metric.name: _detail(self.spec, metric, sample) for metric in self.spec.metrics}
        audio = self._frames_of(doc).recorded(doc).audio
        first = details[self.spec.primary.name]
        first |= {"sample": sample.model_dump(), "question": item.question, "audio": audio}
        if (delivered := self._frames_of(doc).delivered()) is not None:
            first["delivered"] = delivered
        if (record := self._judge.record()) is not None:
            first["judge"] = {"process": os.getpid(), **record.model_dump()}
        return details

    def aggregate(
        self, items: Sequence[Mapping[str, Any]], args: Namespace | None = None
    ) -> float | None:
        """Return a metric over its items; None, shown as N/A, where nothing was scored or it could not be computed."""
        name = items[0]["metric"]
        if name == SUBMISSION:
            self._write_submission(items, args)
            return None
        metric = self.spec.metric(name)
        # An empty one is set by `reelbench run`, which asks the judge afterwards.
        if metric.judged and metric == self.spec.primary and settings.JUDGE.name not in os.environ:
            log.warning(
                "%s: no judge is named, so its judged metrics are N/A; name one in %s, or later, of a run with "
                "--log_samples: reelbench score --run OUTPUT_PATH --judge MODEL",
                self.spec.id,
                settings.JUDGE.name,
            )
        samples = [
            Sample(
                state="unscored" if item.get("reason") else "scored",
                **{
                    name: item.get(name)
                    for name in ("id", "video", "prediction", "parsed", "reason")
                },
                **{name: item.get(name, {}) for name in ("target", "scores", "facets")},
            )
            for item in items
        ]
        if isinstance(metric.aggregate, Corpus):
            log.warning("%s: computing %s of %d answers, by Java", self.spec.id, name, len(samples))
        try:
            return aggregation.metric_value(self.spec, metric, samples)
        except ReelbenchError as error:
            log.warning("%s: %s is not computed: %s", self.spec.id, name, error)
            return None

    def _write_submission(self, items: Sequence[Mapping[str, Any]], args: Namespace | None) -> None:
        output = getattr(args, "output_path", None)
        folder = Path(output) if output else home() / "submissions"
        stamp = datetime.now(UTC).strftime("%Y%m%d_%H%M%S")
        task = next(task.name for task in self.spec.tasks if task.split == items[0]["split"])
        path = folder / f"{stamp}_submission_{task}{submissions.submission_suffix(self.spec)}"
        samples = [Sample.model_validate(item["sample"]) for item in items]
        try:
            submissions.write_submission(self.spec, samples, path)
        except OSError as error:
            log.warning(
                "%s: the submission could not be written to %s: %s", self.spec.id, path, error
            )
        else:
            todo = submissions.submission_advice(items[0]["split"], path, "the owners' server")
            log.warning("%s: the answers are hidden; %s", self.spec.id, todo)


def _select_rows(dataset: "Dataset", ids: Container[str]) -> "Dataset":
    """Return the questions with these ids, in the data's order."""
    return dataset.select([number for number, row_id in enumerate(dataset["id"]) if row_id in ids])


def _asked_as_chosen(dataset: "Dataset", task: TaskSpec) -> "Dataset":
    """Return the rows with how they are answered, where options are scored.

    InputError where the environment's way of asking is none, or not for this task, or no adapter
    was patched.
    """
    candidates = settings.CANDIDATES.read(Candidates.parse)
    answering = settings.ANSWERING.read(Answering.parse)
    decoding.check(task, candidates, answering)
    beams = candidates is not None and candidates.how == "beam"
    if (beams or task.options is not None) and not adapter_patches.any_adapter:
        raise InputError(
            "the model is not from lmms-eval's list of models: it has neither beams nor option scores"
        )
    if task.options is None:
        return dataset
    stated = str((answering or Answering()).for_task(task))
    return dataset.add_column(option_scores.ANSWERING, [stated] * len(dataset))  # type: ignore[call-arg] - see `_with_cues`


def _with_cues(dataset: "Dataset") -> "Dataset":
    """Keep the questions that the environment's cues name, with their cue; without such a file, all without a cue."""
    cues = settings.CUES.read(QuestionCues.read)
    if cues is None:
        return dataset.add_column(CUE, [""] * len(dataset))  # type: ignore[call-arg] - its second parameter is optional
    kept = _select_rows(dataset, cues.by_id)
    if not len(kept):
        raise InputError(
            f"{settings.CUES.name}: the file names no question of {dataset.info.dataset_name}"
        )
    return kept.add_column(CUE, [cues.by_id[row_id] for row_id in kept["id"]])  # type: ignore[call-arg]


def _detail(spec: BenchmarkSpec, metric: Metric, sample: Sample) -> dict[str, Any]:
    detail: dict[str, Any] = {"metric": metric.name, "id": sample.id, "video": sample.video}
    if isinstance(metric.aggregate, Corpus):
        # The aggregation sees nothing but these dicts, and in a run on several machines only these
        # are gathered.
        return detail | {
            "prediction": sample.prediction,
            "parsed": sample.parsed,
            "target": sample.target,
            "reason": sample.reason,
        }
    detail |= {"scores": sample.scores, "facets": sample.facets}
    if isinstance(metric.aggregate, Mean | MeanOf):
        value = aggregation.metric_value(spec, metric, [sample])
        if value is not None:  # without a `score`, lmms-eval's standard errors leave the item out
            detail["score"] = value
    return detail
