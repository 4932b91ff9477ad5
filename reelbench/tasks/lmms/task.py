"""Functions of our lmms-eval tasks, which their YAML names: the same for every benchmark.

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
from reelbench.registry.sampling import FrameSampling
from reelbench.registry.spec import BenchmarkSpec, Corpus, Mean, MeanOf, Metric, TaskSpec
from reelbench.registry.splits import upstream_split
from reelbench.scoring import aggregation
from reelbench.scoring.answers.reasoning import last_line
from reelbench.tasks import submissions
from reelbench.tasks.lmms import adapter_patches, adapters, arrivals, option_scores
from reelbench.tasks.lmms import visuals as frames
from reelbench.tasks.prompting import CUE, prompt_of
from reelbench.video.library import Library, where_looked
from reelbench.video.shown_media import Shown

if TYPE_CHECKING:
    from datasets import Dataset
    from PIL.Image import Image

log = logging.getLogger("reelbench")

FUNCTIONS = (
    "process_docs",
    "doc_to_messages",
    "doc_to_visual",
    "doc_to_text",
    "doc_to_target",
    "process_results",
    "aggregate",
)
"""Methods of `LmmsTask` that YAML names."""

SUBMISSION = "submission"
"""The one metric of a task whose answers are hidden.

It has no score. Its aggregation writes the owners' file.
"""


def name_of_rows(task: TaskSpec) -> str:
    """Return YAML's name of a task's rows."""
    return task.name.upper().replace("-", "_")


class LmmsTask:
    """One benchmark's functions for lmms-eval. `data` has the rows of each of its tasks."""

    def __init__(self, spec: BenchmarkSpec) -> None:
        self.spec = spec
        self.data = {task.name: RowsOnDisk(task.name) for task in spec.tasks}
        self._frames: dict[str, frames.Frames] = {}  # by split
        self._judge = LiveJudge(spec)
        self._translations: Translations | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> "LmmsTask":
        # lmms-eval copies a task's config, and with a bound method its object: the facts here are
        # shared.
        return self

    def named(self, name: str) -> Any:  # noqa: ANN401 - a function, or rows
        """Return the object that YAML calls `name`: a function, or a task's rows."""
        if name in FUNCTIONS:
            return getattr(self, name)
        for task in self.spec.tasks:
            if name_of_rows(task) == name:
                return self.data[task.name]
        raise AttributeError(f"{self.spec.id}: there is no {name}")

    # --- the question as the model sees it
    # ----------------------------------------------------------------------------------------

    def doc_to_text(
        self, doc: Row, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> str:
        """Return the prompt for a row.

        It is from the benchmark's prompt file, or from the one that the task's YAML names. It says
        so where the row's video is known to give no frames. Nothing is decoded for it.
        """
        kwargs = lmms_eval_specific_kwargs or {}
        row = self._in_language(doc)
        prompt = prompt_of(self.spec, row, kwargs.get("prompt"))
        view = self._frames_of(doc).prepared(doc, kwargs)
        if view is not None:
            prompt = view.subtitle_text(row["language"]) + prompt
            if view.problem:
                prompt = f"{prompt}\n{frames.NOT_SHOWN}"
        return prompt

    def doc_to_visual(
        self, doc: Row, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> "list[str | Image]":
        """Return the row's video or frames, for simple models.

        There is nothing where nothing is to be, or can be, shown.
        """
        sampling = frames.sampling(lmms_eval_specific_kwargs)
        if sampling.times == "text":
            self._frames_of(doc).refuse(doc, sampling, adapters.NO_TIMES)
            return []
        view = self._frames_of(doc).view(doc, lmms_eval_specific_kwargs)
        arrivals.hand_over(doc, view.picture_count)
        return view.visuals()

    def doc_to_messages(
        self, doc: Row, lmms_eval_specific_kwargs: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """Return the row's one user message, for chat models."""
        view = self._frames_of(doc).view(doc, lmms_eval_specific_kwargs)
        prompt = self.doc_to_text(doc, lmms_eval_specific_kwargs)
        arrivals.hand_over(doc, view.picture_count, prompt)
        language = self._in_language(doc)["language"]
        content = frames.content(view, language, as_data=adapters.passes_video)
        content.append({"type": "text", "text": prompt})
        return [{"role": "user", "content": content}]

    def _in_language(self, doc: Row) -> Row:
        """Return a row in the language that it is asked in."""
        return self._translations.translated(doc) if self._translations else doc

    def doc_to_target(self, doc: Row) -> str:
        """Return the reference, as lmms-eval logs it."""
        if "answer" in doc:
            return str(doc["answer"])
        return str(doc["span"])

    def process_docs(self, dataset: "Dataset") -> "Dataset":
        """Leave out the rows whose video is missing, and note them for scoring.

        Their number is logged before the run starts. Where nothing is left to ask, the task can't
        be run, and its data's `problem` has the reason.
        """
        self._judge = LiveJudge(self.spec)  # each run's own: another run may name another judge
        data = self.data[str(dataset.info.dataset_name)]
        task = next(task for task in self.spec.tasks if task.name == data.task)
        data.problem = self._prompt_problem(dataset, task)
        split = dataset[0]["split"]
        library = Library(self.spec, split)  # anew: files may have come since the last run
        self._frames[split] = frames.Frames(library)
        sampling = None
        try:
            sampling = frames.sampling()
            dataset = self._asked_rows(dataset, task, sampling)
            subtitle_note = library.check_subtitles(dataset, sampling)  # type: ignore[arg-type] - rows are dicts
            if subtitle_note is not None:
                log.warning("%s: %s", data.task, subtitle_note)
        except InputError as error:
            data.problem = str(error)
        if sampling is None or data.problem is not None:
            return dataset.select([])
        arrivals.forget_split(split)
        if sampling.kind == "none":  # asked in words only, a question needs no video
            data.media_missing = 0
            return dataset
        return self._with_videos(dataset, data, library)

    def _prompt_problem(self, dataset: "Dataset", task: TaskSpec) -> str | None:
        """Return the columns that the task's prompt needs and no row has, as a problem.

        They are of a file that was not joined.
        """
        template = prompt_template(self.spec, task.prompt, dataset[0]["language"])
        columns: set[str] = set()
        for _, field, _, _ in Formatter().parse(template):
            if field and field != CUE:
                columns.add(field)
        empty_columns = [column for column in sorted(columns) if not any(dataset[column])]
        if not empty_columns:
            return None
        problem = f"its prompt needs {', '.join(empty_columns)}, and no question has any"
        joined_files = self.spec.splits[upstream_split(self.spec, task.split)].joined
        if joined_files:
            problem += f"; put {' or '.join(joined_files)} beside the questions"
        return problem

    def _asked_rows(self, dataset: "Dataset", task: TaskSpec, sampling: FrameSampling) -> "Dataset":
        """Return the rows that are asked, by the environment's variables.

        Raises:
            InputError: A variable is wrong, or not for this task.
        """
        if adapters.running:
            adapters.check_times(sampling, {adapters.task_type})
        chosen_ids = settings.IDS.read(QuestionIds.read)
        if chosen_ids is not None:
            chosen_ids.check(dataset["id"], task.name)
            dataset = _select_rows(dataset, chosen_ids.ids)
        dataset = _asked_as_chosen(dataset, task)
        if task.reasoned:
            dataset = _with_cues(dataset)
        self._translations = Translations.from_environment()
        if self._translations is not None:
            untranslated = self._translations.lacking(self.spec, dataset)  # type: ignore[arg-type] - rows are dicts
            dataset = _select_rows(dataset, set(dataset["id"]) - untranslated)
        return dataset

    def _with_videos(self, dataset: "Dataset", data: RowsOnDisk, library: Library) -> "Dataset":
        """Return the rows whose video is here, and note the others in a file."""
        missing = library.missing(dataset)
        data.media_missing = len(missing)
        names_line = library.note_on_other_names()
        if names_line is not None:
            log.warning("%s: %s", data.task, names_line)
        note = data.name.missing_note
        note.unlink(missing_ok=True)
        if not missing:
            return dataset
        where = where_looked(self.spec, missing)
        if len(missing) == len(dataset):
            data.problem = f"none of its {len(dataset)} videos is here {where}"
            return dataset.select([])
        rows_without_video = [{"id": row.id, "video": row.video} for row in missing]
        write_text(note, json.dumps({"rows": rows_without_video}))
        log.warning(
            "%s: %d of %d questions are left out because their video is not here "
            "or can't be read %s",
            data.task,
            len(missing),
            len(dataset),
            where,
        )
        return _select_rows(dataset, set(dataset["id"]) - {row.id for row in missing})

    def _frames_of(self, doc: Row) -> frames.Frames:
        split = doc["split"]
        if split not in self._frames:
            self._frames[split] = frames.Frames(Library(self.spec, split))
        return self._frames[split]

    # --- the score of its answer
    # -----------------------------------------------------------------------------------

    def item(self, doc: Row, answer: str, *further: str) -> Item:
        """Return a row with a model's raw answer, ready to be scored.

        Of steps with an answer, only the answer counts. `further` are more answers to the same
        question, which are kept and not scored.
        """
        view = self._frames_of(doc).recorded(doc)
        is_reasoned = CUE in doc and not aggregation.is_failure(answer)
        scores = None
        if option_scores.ANSWERING in doc:
            prediction, scores = option_scores.read_scores(doc, answer)
        else:
            text = last_line(answer) if is_reasoned else answer
            options = doc.get("options", ())
            prediction = submissions.parse_answer(
                self.spec, text, options, rows.timing(doc), doc["question"]
            )
        reason = prediction.reason
        if reason is None and submissions.is_cut_off_while_reasoning(answer):
            reason = Reason.CUT_OFF
        if reason is None and submissions.has_hidden_answers(self.spec, doc["split"]):
            reason = Reason.ANSWERS_HIDDEN
        if view.problem is not None:
            reason = Reason.MEDIA_UNREADABLE
        flags = prediction.flags
        if reason in {Reason.MEDIA_UNREADABLE, Reason.CUT_OFF}:
            flags = ()
        candidates = None
        if further:
            candidates = [text for text in (answer, *further) if not aggregation.is_failure(text)]
        parsed = {"output": answer} if is_reasoned else prediction.parsed
        return submissions.reference_of(self.spec, doc).item(
            prediction,
            parsed=parsed,
            reason=reason,
            flags=flags,
            frame_timestamps=_as_list(view.timestamps),
            frame_padding=view.padding,
            frame_times_told=_as_list(view.told),
            frames_arrived=_frames_arrived(doc, view),
            subtitles=view.lines,
            candidates=candidates,
            option_scores=scores,
        )

    def process_results(self, doc: Row, results: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Score one answer.

        Every metric's dict has the metric and the item's id. The first one has the whole sample.
        """
        answers = list(map(valid_text, results)) or [""]
        item = self.item(doc, *answers)
        try:
            sample = aggregation.to_sample(self.spec, item, self._judge.judge(item))
        except Exception:
            # A scorer's bug must not cost the run its answers: it is logged and counted.
            log.exception("%s: %s could not be scored", self.spec.id, item.id)
            sample = item.sample(Reason.SCORER_FAILED)
        if submissions.has_hidden_answers(self.spec, doc["split"]):
            detail = {"metric": SUBMISSION, "sample": sample.model_dump(), "split": doc["split"]}
            return {SUBMISSION: detail}
        details = {
            metric.name: _metric_detail(self.spec, metric, sample) for metric in self.spec.metrics
        }
        first = details[self.spec.primary.name]
        first["sample"] = sample.model_dump()
        first["question"] = item.question
        first["audio"] = self._frames_of(doc).recorded(doc).audio
        delivered = self._frames_of(doc).delivered()
        if delivered is not None:
            first["delivered"] = delivered
        judge_record = self._judge.record()
        if judge_record is not None:
            first["judge"] = {"process": os.getpid(), **judge_record.model_dump()}
        return details

    def aggregate(
        self, items: Sequence[Mapping[str, Any]], args: Namespace | None = None
    ) -> float | None:
        """Return a metric over its items.

        None, shown as N/A, where nothing was scored or it could not be computed.
        """
        name = items[0]["metric"]
        if name == SUBMISSION:
            self._write_submission(items, args)
            return None
        metric = self.spec.metric(name)
        # An empty one is set by `reelbench run`, which asks the judge afterwards.
        if metric.judged and metric == self.spec.primary and settings.JUDGE.name not in os.environ:
            log.warning(
                "%s: no judge is named, so its judged metrics are N/A; name one in %s, or later, "
                "of a run with --log_samples: reelbench score --run OUTPUT_PATH --judge MODEL",
                self.spec.id,
                settings.JUDGE.name,
            )
        samples = [_sample_of(item) for item in items]
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
            advice = submissions.submission_advice(items[0]["split"], path, "the owners' server")
            log.warning("%s: the answers are hidden; %s", self.spec.id, advice)


def _as_list(values: Sequence[float] | None) -> list[float] | None:
    return None if values is None else list(values)


def _frames_arrived(doc: Row, view: Shown) -> int | str | None:
    """Return the number of frames that arrived, where others were handed over.

    "unknown" where nobody counted. None too where a model was shown none.
    """
    handed_over = view.picture_count
    if not handed_over or view.problem is not None:
        return None
    count = arrivals.frames_arrived(doc)
    if count is None:
        return "unknown"
    if handed_over - count in {0, view.padding}:
        return None
    return max(0, count - len(view.extra_pictures))


def _sample_of(detail: Mapping[str, Any]) -> Sample:
    """Return the parts of a sample that a metric needs, from its detail."""
    state = "unscored" if detail.get("reason") else "scored"
    return Sample(
        state=state,
        id=detail["id"],
        video=detail["video"],
        prediction=detail.get("prediction"),
        parsed=detail.get("parsed"),
        reason=detail.get("reason"),
        target=detail.get("target", {}),
        scores=detail.get("scores", {}),
        facets=detail.get("facets", {}),
    )


def _select_rows(dataset: "Dataset", ids: Container[str]) -> "Dataset":
    """Return the questions with these ids, in the data's order."""
    places = [place for place, row_id in enumerate(dataset["id"]) if row_id in ids]
    return dataset.select(places)


def _asked_as_chosen(dataset: "Dataset", task: TaskSpec) -> "Dataset":
    """Return the rows; where options are scored, with the way in which they are answered.

    Raises:
        InputError: The environment's way of asking is none, or not for this task, or no adapter was
            patched.
    """
    candidates = settings.CANDIDATES.read(Candidates.parse)
    answering = settings.ANSWERING.read(Answering.parse)
    decoding.check(task, candidates, answering)
    beams = candidates is not None and candidates.how == "beam"
    if (beams or task.options is not None) and not adapter_patches.any_adapter:
        raise InputError(
            "the model is not from lmms-eval's list of models: "
            "it has neither beams nor option scores"
        )
    if task.options is None:
        return dataset
    way = str((answering or Answering()).for_task(task))
    return dataset.add_column(option_scores.ANSWERING, [way] * len(dataset))  # type: ignore[call-arg] - see `_with_cues`


def _with_cues(dataset: "Dataset") -> "Dataset":
    """Return the questions that the environment's cues name, with their cue.

    Without a file of cues it is all of them, with an empty cue.
    """
    cues = settings.CUES.read(QuestionCues.read)
    if cues is None:
        return dataset.add_column(CUE, [""] * len(dataset))  # type: ignore[call-arg] - its second parameter is optional
    cued_rows = _select_rows(dataset, cues.by_id)
    if not len(cued_rows):
        raise InputError(
            f"{settings.CUES.name}: the file names no question of {dataset.info.dataset_name}"
        )
    return cued_rows.add_column(CUE, [cues.by_id[row_id] for row_id in cued_rows["id"]])  # type: ignore[call-arg]


def _metric_detail(spec: BenchmarkSpec, metric: Metric, sample: Sample) -> dict[str, Any]:
    detail: dict[str, Any] = {"metric": metric.name, "id": sample.id, "video": sample.video}
    if isinstance(metric.aggregate, Corpus):
        # The aggregation sees only these dicts, and in a run on several machines only these are
        # gathered.
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
