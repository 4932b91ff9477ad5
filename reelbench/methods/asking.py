"""A served model asked a split's questions, without lmms-eval.

It is sent what lmms-eval's `openai` adapter would send, through the room `llm`. Every reply is kept
as it arrives, so a run that ended early goes on where it was, and none is paid for twice.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError, number_of
from reelbench.base.workers import usable_cores
from reelbench.data.loading import find_split
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import (
    UNAVAILABLE,
    UNPARSABLE,
    AskResult,
    Outdated,
    has_seen_pictures,
    reply_failure_kind,
    text_of,
)
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget
from reelbench.llm.endings import ending_of
from reelbench.llm.messages import Message
from reelbench.llm.model_names import takes_completion_limit
from reelbench.llm.own_order import places_in_own_order
from reelbench.llm.parameters import without_removed
from reelbench.llm.prompt_counts import PromptCounts
from reelbench.llm.runner import Runner
from reelbench.llm.store import StoredReply
from reelbench.methods.cached_answers import CachedAnswers, CachePolicy
from reelbench.methods.probe import PictureCheck
from reelbench.methods.questions import QuestionSet, load_questions
from reelbench.methods.scored_answers import MISSING, NOT_SHOWN, score_answers
from reelbench.registry.decoding import Candidates
from reelbench.registry.model_ids import answering_ids
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.reasons import Reason
from reelbench.registry.records import AskedRecord, Doubt, ModelRecord, Sample, SettingsRecord
from reelbench.registry.rows import Row, has_text_answer, timing
from reelbench.registry.sampling import MOST_FRAMES, FrameSampling
from reelbench.registry.strata import Strata
from reelbench.tasks import about as abouts
from reelbench.tasks.earlier import EarlierResult, most_returned
from reelbench.tasks.score import Evaluation, Options
from reelbench.tasks.submissions import Prediction, parse_answer
from reelbench.video.decode_ahead import PAUSE_S, Ahead, Waits, by_video
from reelbench.video.shown_media import Shown

if TYPE_CHECKING:
    from reelbench.judges.judge_options import JudgeOptions

ADAPTER = "reelbench-ask"
"""What a record of such answers has for lmms-eval's adapter."""

MAX_NEW_TOKENS = 512

_TIMED = (
    "the questions ask for times, so each frame is sent with its time; to turn this off, add "
    "times=none to --frames"
)


def questions(
    name: str,
    frames: str = "uniform:32",
    *,
    split: str | None = None,
    limit: int | None = None,
    data: Path | None = None,
    only: QuestionIds | None = None,
    per: Strata | None = None,
) -> QuestionSet:
    """Return the questions of a benchmark or a task.

    Frames go as pictures, with `as=clip` as one video that holds exactly them. `native` sends the
    video as it is. Where answers are times, pictures go with theirs, unless `times=none` is asked
    for. With `only` these questions, or with `per` so many for each label of a field, the result is
    of a part, as with a limit.

    Raises:
        InputError: The name, the split or the frames are none, or a limit is given beside `only`.
        DataUnavailableError: The data are not here, and can't be fetched.
    """
    if only is not None and limit is not None:
        raise InputError("--ids and --limit: give one of them")
    benchmark = find_split(name, split)[0]
    sampling = FrameSampling.parse(frames).with_times(benchmark.row_kind)
    frames_in_result = str(sampling)
    if sampling.decodes and sampling.form_given == "clip":
        frames_in_result = sampling.spec(form=True)
    elif sampling.decodes:
        sampling = sampling.as_images()
    question_set = load_questions(
        name, sampling, split=split, limit=limit, data=data, frames=frames_in_result
    )
    if per is not None:
        drawn_rows = per.draw_rows(question_set.spec, question_set.rows)
        only = QuestionIds(frozenset(row["id"] for row in drawn_rows))
    return replace(question_set, only=only)


def ask(
    question_set: QuestionSet,
    model: AskOptions,
    options: Options,
    *,
    candidates: Candidates | None = None,
    budget: Budget | None = None,
    cache_policy: CachePolicy = CachePolicy(),  # noqa: B008 - it is frozen
    run: int = 0,
) -> Evaluation:
    """Ask a model questions, and score its answers, in the data's order.

    The options' `note` is told what the user should know, their `bar` how far asking has come;
    where they have an earlier result, some of that one's questions are asked again, and no others.
    Of several candidates the first is scored and all are kept: samples only. A question that lacks
    one of them is unscored, until the same call has them all. The budget may be shared with other
    runs. `run` is the number of one that has answers of its own.

    Returns:
        The scores. A question that the server did not answer is unscored (`model_failed`), and so
        is one whose answer ended at the limit (`cut_off`) or in a content filter (`refused`) before
        it said anything that can be read; of an open answer nobody knows that, so whatever was cut
        short is unscored. So are an unreadable answer that ended for an unknown reason
        (`ended_unknown`), and one for which the server counted fewer tokens than pictures
        (`media_not_seen`).

    Raises:
        DataUnavailableError: No video of theirs is here.
        ReelbenchError: Nothing was answered at all, the server says that the model takes text
            alone, a reply can't be kept, or those that are kept are another's.
        InputError: The candidates can't be had of the model, or the earlier result was asked
            otherwise.
    """
    generation_settings = _generation_settings(question_set, model, candidates)
    record = ModelRecord(id=model.filed_name, adapter=ADAPTER, args=dict(model.extra))
    model = _with_candidates_temperature(candidates, model)
    settings = question_set.settings(candidates).model_copy(
        update={
            "generation": without_removed(model.sampling(generation_settings)),
            "preset": options.preset,
            "seed": model.extra.get("seed"),
        }
    )
    to_ask = _rows_to_ask(question_set, record, settings, options)
    _check_media_support(question_set, model, to_ask.rows, options)
    asker = Asker(
        model, generation_settings, on_note=options.note, budget=budget, accepts_cut_off=True
    )
    cached_answers = CachedAnswers(
        asker, cache_policy, to_ask.model_revision, _task_name(question_set)
    )
    sends_pictures = question_set.sampling.decodes and question_set.sampling.form == "images"
    is_checked = cache_policy.probe and sends_pictures and not model.batch and not model.local
    picture_check = PictureCheck(asker, is_wanted=is_checked)
    asking_run = _ask_rows(
        question_set,
        to_ask.rows,
        options,
        asker,
        cached_answers,
        picture_check=picture_check,
        votes=_vote_numbers(run, candidates),
    )
    about = None
    if options.earlier is not None:
        about = options.earlier.result.model.about
    scored = score_answers(
        question_set,
        asking_run.predictions,
        asking_run.media,
        options,
        model=record.model_copy(update={"about": about}),
        settings=settings,
        sample_fields=asking_run.sample_fields,
    )
    asked_record = cached_answers.record().model_copy(
        update={"probed": picture_check.calls or None, "pictures": asking_run.picture_doubt()}
    )
    _note_answering_models(record.id, asked_record, options)
    return replace(scored, come_by=asked_record)


def _note_answering_models(model: str, record: AskedRecord, options: Options) -> None:
    """Note that several models may have answered, where replies came under several ids."""
    returned = record.returned or {}
    ids = answering_ids(model, returned)
    if len(ids) > 1:
        replies = ", ".join(f"{returned[model_id]} by {model_id}" for model_id in ids)
        options.note(
            f"{model}: answered under several ids ({replies}): these may be several models, so a "
            "board lists the result and doesn't rank it"
        )


class _RowsToAsk(NamedTuple):
    """The rows that are asked, and the model's revision as the user states it."""

    rows: Sequence[Row]
    model_revision: str | None


def _rows_to_ask(
    question_set: QuestionSet, record: ModelRecord, settings: SettingsRecord, options: Options
) -> _RowsToAsk:
    """Return the rows to ask: all, or those of an earlier result.

    Raises:
        InputError: The earlier result was asked otherwise, or the result's folder is another's.
    """
    errata = options.errata_of(question_set.questions)  # wrong ones are told before any call
    labelled_settings = options.labelled(settings)
    earlier = options.earlier
    if earlier is not None:
        earlier.refuse_unlike(
            question_set.questions,
            record.id,
            labelled_settings,
            judge=options.judge,
            question_ids=question_set.ids,
            errata=errata,
        )
        rows = [row for row in question_set.rows if row["id"] in earlier.ids]
        return _RowsToAsk(rows, earlier.result.model.revision)
    spec = question_set.spec
    rows = question_set.rows
    stated_model, stated_settings = abouts.applied(
        options.about, spec.id, record, labelled_settings
    )
    options.check_place(
        spec, question_set.questions.split, stated_model, stated_settings, len(rows)
    )
    return _RowsToAsk(rows, stated_model.revision)


def _check_media_support(
    question_set: QuestionSet, model: AskOptions, rows: Sequence[Row], options: Options
) -> None:
    """Check that the model takes such media, and that videos are here."""
    name = question_set.spec.id
    sampling = question_set.sampling
    media = question_set.media
    model.check_taken("whole videos", sampling.kind == "native")
    model.check_taken("video", sampling.decodes and sampling.form == "clip")
    if sampling.form == "images":
        model.check_taken("images", sampling.frames)
    missing_line = media.missing_line()
    if missing_line is not None and all(row["id"] in media.missing for row in rows):
        raise DataUnavailableError(missing_line)
    for line in media.notes():
        options.note(line)
    if sampling.times == "text" and sampling.times_given is None:
        options.note(f"{name}: {_TIMED}")
    subtitles_line = media.subtitles_line()
    if subtitles_line is not None:
        options.note(f"{name}: {subtitles_line}")


def _task_name(question_set: QuestionSet) -> str:
    """Return the task's name, or the benchmark's with the split."""
    task = question_set.questions.task
    if task is not None:
        return task.name
    return f"{question_set.spec.id} {question_set.questions.split}"


def _vote_numbers(run: int, candidates: Candidates | None) -> range:
    """Return the numbers of a run's answers to each question."""
    answers_of_run = 1
    if candidates is not None:
        answers_of_run = candidates.k
    return range(run * answers_of_run, (run + 1) * answers_of_run)


def _ask_rows(
    question_set: QuestionSet,
    rows: Sequence[Row],
    options: Options,
    asker: Asker,
    cached_answers: CachedAnswers,
    *,
    picture_check: PictureCheck,
    votes: range,
) -> "_AskingRun":
    """Ask the questions of rows, while videos are decoded ahead."""
    name = question_set.spec.id
    shows_videos = question_set.sampling.kind != "none"
    ordered_rows = [rows[index] for index in by_video(rows)]
    if asker.cache.is_shared:
        # Machines that share a cache begin at different videos.
        videos = [row["video"] for row in ordered_rows]
        ordered_rows = [ordered_rows[index] for index in places_in_own_order(videos)]
    waits = Waits()
    decoding = Ahead(question_set.media.decoders(ordered_rows))
    with options.bar(f"asking {name}", len(rows)) as show, decoding as ahead:

        def show_with_videos(done: float, line: str, **more: Any) -> None:  # noqa: ANN401
            videos = number_of(len(run.videos), "video") if shows_videos else ""
            parts = [part for part in (line, videos, str(waits)) if part]
            show(done, ", ".join(parts), **more)

        runner = Runner([asker], show_with_videos)
        run = _AskingRun(
            question_set,
            asker,
            runner,
            votes,
            options,
            cached_answers,
            picture_check,
            waits,
            ahead,
        )
        loop.run(run.ask_all(ordered_rows))
        if waits.worth_saying():
            videos = f"{number_of(len(run.videos), 'video')} shown, " if shows_videos else ""
            options.note(f"{name}: {videos}{waits}")
    run.report_unanswered(len(rows), options.note)
    return run


def sent_sampling(
    question_set: QuestionSet, model: AskOptions, candidates: Candidates | None = None
) -> dict[str, Any]:
    """Return the settings of generation that are sent with each question."""
    generation_settings = _generation_settings(question_set, model, candidates)
    return without_removed(
        _with_candidates_temperature(candidates, model).sampling(generation_settings)
    )


def _generation_settings(
    question_set: QuestionSet, model: AskOptions, candidates: Candidates | None
) -> dict[str, Any]:
    max_new_tokens = MAX_NEW_TOKENS
    if question_set.questions.task is not None:
        max_new_tokens = question_set.questions.task.max_new_tokens
    return generation(model.model, max_new_tokens, question_set.sampling, candidates)


def _with_candidates_temperature(candidates: Candidates | None, model: AskOptions) -> AskOptions:
    """Return a thinking model's options with the temperature asked for by the candidates.

    For other models it is among the settings of generation.
    """
    if candidates is None or not model.thinking:
        return model
    return replace(model, extra={"temperature": candidates.temperature, **model.extra})


def generation(
    model: str, max_new_tokens: int, sampling: FrameSampling, candidates: Candidates | None = None
) -> dict[str, Any]:
    """Return the settings of a question, as lmms-eval's `openai` adapter sends them.

    These are those of 0.7.3 (`build_payload_for_index`). A server that takes a video is told to
    take as many frames of it as were asked for: all that the clip has.
    """
    if candidates is not None and candidates.temperature is None:
        raise InputError(
            f"{candidates}: a server gives samples only; try sample:{candidates.k},t=0.7"
        )
    settings: dict[str, Any] = {}
    if takes_completion_limit(model):
        if candidates is not None:
            raise InputError(
                f"{candidates}: {model} takes no temperature, so it can't be asked for such samples"
            )
        settings["response_format"] = {"type": "text"}
        settings["max_completion_tokens"] = max_new_tokens
    else:
        settings["max_tokens"] = max_new_tokens
        settings["temperature"] = 0
        if candidates is not None:
            settings["temperature"] = candidates.temperature
    if sampling.decodes and sampling.form == "clip":
        number_of_frames = sampling.frames or MOST_FRAMES
        settings["media_io_kwargs"] = {"video": {"num_frames": number_of_frames}}
    return settings


def messages(
    prompt: str, media: Shown, language: str = "en", *, prompt_first: bool = False
) -> list[Message]:
    """Return the one message that asks a question.

    It has the video's frames or clip, then the prompt. Times between the frames are in the
    language. With `prompt_first` the prompt comes first.
    """
    attachments = media.attachments(language)
    if prompt_first:
        return [{"role": "user", "content": [prompt, *attachments]}]
    return [{"role": "user", "content": [*attachments, prompt]}]


class _Outcome(NamedTuple):
    """The replies to a question, and the answer in them."""

    question_id: str
    results: "Sequence[AskResult[str]]"
    prediction: Prediction


@dataclass(slots=True)
class _AskingRun:
    """Questions of one split, asked many at once.

    Attributes:
        votes: The numbers of the answers wanted to each question.
        videos: The videos that were shown.
        waiting_for_frames: Questions that wait for their frames.
        prompt_counts: The tokens that the server counts of prompts.
        unreported_outcomes: Those that the asker isn't told of yet: token counts may refute them.
        suspect_results: Results of cached replies with too few tokens for their pictures, by the
            question's id.
        asked_again: Questions whose cached replies did not see their pictures.
        sample_fields: Further fields of each question's sample, by its id.
    """

    questions: QuestionSet
    asker: Asker
    runner: Runner
    votes: range
    options: Options
    cached_answers: CachedAnswers
    picture_check: PictureCheck
    waits: Waits
    ahead: Ahead[str]
    decoding: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(usable_cores()))
    videos: set[str] = field(default_factory=set[str])
    waiting_for_frames: int = 0
    prompt_counts: PromptCounts = field(default_factory=PromptCounts)
    unreported_outcomes: list[_Outcome] = field(default_factory=list[_Outcome])
    suspect_results: "dict[str, Sequence[AskResult[str]]]" = field(
        default_factory=dict[str, "Sequence[AskResult[str]]"]
    )
    asked_again: set[str] = field(default_factory=set[str])
    predictions: dict[str, Prediction] = field(default_factory=dict[str, Prediction])
    media: dict[str, Shown] = field(default_factory=dict[str, Shown])
    sample_fields: dict[str, Mapping[str, Any]] = field(
        default_factory=dict[str, Mapping[str, Any]]
    )

    async def ask_all(self, ordered_rows: Sequence[Row]) -> None:
        """Ask all questions, and check that cached answers are the model's own.

        The rows are in the order of their videos.

        Raises:
            ReelbenchError: Asking on was of no use, or cached answers are another model's.
        """
        async with self.asker:
            await self.cached_answers.begin()
            self._check_modalities()
            self.prompt_counts.context = self.asker.statement.context
            counting_waits = asyncio.ensure_future(self._count_waits())
            try:
                predictions = await self.runner.results(ordered_rows, self._ask_row)
                predictions = await self._ask_unseen_again(ordered_rows, predictions)
                self._report_outcomes()
            finally:
                counting_waits.cancel()
            if self.asker.end_line is not None:
                raise ReelbenchError(self.asker.end_line)
            await self.cached_answers.check(self._comparable_reading, self._messages_of)
            await self.picture_check.recall()
        if self.picture_doubt() == "uncounted":
            self.options.note(
                f"{self.questions.spec.id}: not verified that the model saw its pictures: this "
                "server reports no token counts"
            )
        faults = self.prompt_counts.faults()
        for row, prediction in zip(ordered_rows, predictions, strict=True):
            question_id = row["id"]
            self.predictions[question_id] = prediction
            fault = faults.get(question_id)
            if fault is not None:
                unscored = Prediction(prediction.prediction, reason=Reason(fault))
                self.predictions[question_id] = unscored

    async def _ask_unseen_again(
        self, ordered_rows: Sequence[Row], predictions: Sequence[Prediction]
    ) -> list[Prediction]:
        """Ask again where a cached reply did not see its pictures, and return all predictions.

        All token counts are needed to know these, so they are asked when all others are done.
        """
        unseen_rows: list[Row] = []
        for row in ordered_rows:
            question_id = row["id"]
            if question_id not in self.suspect_results:
                continue
            if self.prompt_counts.fault_by_now(question_id) != Reason.MEDIA_NOT_SEEN:
                continue
            unseen_rows.append(row)
            self.asked_again.add(question_id)
            self.prompt_counts.forget(question_id)
            for result in self.suspect_results[question_id]:
                self.asker.take_back(result)
        if not unseen_rows:
            return list(predictions)
        questions = number_of(len(unseen_rows), "question")
        self.options.note(
            f"{self.questions.spec.id}: kept replies to {questions} did not see their pictures; "
            "asked again"
        )
        new_predictions = await self.runner.results(unseen_rows, self._ask_row)
        new_by_id: dict[str, Prediction] = {}
        for row, prediction in zip(unseen_rows, new_predictions, strict=True):
            new_by_id[row["id"]] = prediction
        all_predictions: list[Prediction] = []
        for row, prediction in zip(ordered_rows, predictions, strict=True):
            all_predictions.append(new_by_id.get(row["id"], prediction))
        return all_predictions

    def picture_doubt(self) -> Doubt | None:
        """Return the reason to doubt that the model saw its pictures rightly, if any."""
        answers = self.picture_check.answers
        if answers is not None and answers.are_right:
            return None if answers.are_in_order else "reordered"
        if self.prompt_counts.are_unverifiable:
            return "uncounted"
        if answers is not None:
            return "misnamed"
        return None

    def _check_modalities(self) -> None:
        """Check what the server says of the model: it may take text alone.

        Raises:
            ReelbenchError: It does, and there is something to be shown.
        """
        if self.asker.takes_text_alone and self.questions.sampling.kind != "none":
            options = self.asker.options
            raise ReelbenchError(
                f"{options.host} reports a text-only model, {options.model}: ask it without "
                "pictures (--frames none), or start it with its projector "
                "(llama.cpp: --mmproj FILE)"
            )

    async def _count_waits(self) -> None:
        """Count, at short intervals, what the run is waiting for.

        It waits for frames only while another call could be in flight.
        """
        while True:
            await asyncio.sleep(PAUSE_S)
            if self.waiting_for_frames and self.asker.has_room:
                self.waits["frames"] += 1
            elif self.asker.in_flight:
                self.waits["the server"] += 1
            else:
                self.waits[None] += 1

    def report_unanswered(self, number_asked: int, note: Callable[[str], None]) -> None:
        """Note how many of the asked questions the server gave no answer to.

        Raises:
            ReelbenchError: It answered none at all.
        """
        unanswered = self.runner.lacking.total()
        if not unanswered:
            return
        reasons = self.runner.lacking_shown
        has_unreadable_replies_only = self.runner.lacking.keys() == {UNPARSABLE}
        if unanswered == number_asked:
            reason = self.runner.why_lacking("the server gave no answer")
            line = f"{reason}; no question of {self.questions.spec.id} is answered"
            if len(self.runner.causes) > 1 or len(self.runner.lacking) > 1:
                line += f" ({reasons})"
            if has_unreadable_replies_only:
                line += "; then --fresh asks all again"
            if self.runner.lacking.keys() == {UNAVAILABLE}:
                line += "; `reelbench score NAME --template` makes a file of answers to fill in"
            raise ReelbenchError(line)
        advice = "rerun the command to continue"
        if has_unreadable_replies_only:
            advice = (
                "the replies have no text; ask once more with --only unscored --from RESULT "
                "--output OTHER"
            )
        elif self.runner.has_timeouts:
            advice += f"; {self.asker.options.advice_on_timeouts}"
        count = number_of(unanswered, "question is", "questions are")
        note(f"{count} not answered ({reasons}); {advice}")

    async def _ask_row(self, row: Row) -> Prediction:
        """Ask a question, and return its answer."""
        question_id = row["id"]
        if question_id in self.questions.media.missing:
            return MISSING
        media = await self._load_media(row)
        self.videos.add(row["video"])
        if media is None:
            return NOT_SHOWN
        self.media[question_id] = media
        question = self._question_messages(row, media)
        asking = [self._ask_for_answer(row, question, vote) for vote in self.votes]
        if len(asking) == 1:
            results = [await asking[0]]  # `gather` would make a task, which costs 40 µs
        else:
            results = await asyncio.gather(*asking)
        texts: list[str] = []
        for result in results:
            if result.value is None:
                self.runner.note_lacking(result)
                return Prediction(None, reason=Reason.MODEL_FAILED)
            texts.append(result.value)
        self.sample_fields[question_id] = _sample_fields(results, texts)
        self._note_token_counts(row, question, results)
        self._note_suspect_results(row, question, results)
        prediction = self._truncated_answer(row, results, texts)
        if prediction is None:
            prediction = self._prediction_of(row, texts[0])
            has_fault = self.prompt_counts.fault_by_now(question_id) is not None
            if not has_fault and not prediction.flags:
                self._note_cached_answer(row, results[0])
        self.unreported_outcomes.append(_Outcome(question_id, results, prediction))
        if not self.prompt_counts.is_undecided:
            self._report_outcomes()
        return prediction

    def _note_token_counts(
        self, row: Row, question: Sequence[Message], results: "Sequence[AskResult[str]]"
    ) -> None:
        """Note the tokens that the server counted in a question's prompt."""
        media_key = None  # questions with the same one had the same media in their prompts
        if self.questions.sampling.kind != "none":
            media = self.media[row["id"]]
            media_key = f"{row['video']} {media.timestamps} {media.extra_pictures}"
        for result in results:
            last = result.replies[-1]
            self.prompt_counts.note(row["id"], question, last.reply, last.at, media_key)

    def _note_suspect_results(
        self, row: Row, question: Sequence[Message], results: "Sequence[AskResult[str]]"
    ) -> None:
        """Note cached replies that counted fewer tokens than pictures need."""
        for result in results:
            last = result.replies[-1]
            is_cached = last.at < self.asker.tally.since
            if is_cached and not has_seen_pictures(last.reply, question):
                self.suspect_results[row["id"]] = results

    def _report_outcomes(self) -> None:
        """Tell the asker which of its new replies were answers, and which were failures."""
        outcomes = self.unreported_outcomes
        self.unreported_outcomes = []
        for outcome in outcomes:
            failure: str | None = self.prompt_counts.fault_by_now(outcome.question_id)
            if failure is None and outcome.prediction.reason is not None:
                failure = str(outcome.prediction.reason)
            finding = None
            if failure == Reason.MEDIA_NOT_SEEN:
                finding = self.prompt_counts.unseen_in_words(outcome.name)
            for result in outcome.results:
                last = result.replies[-1]
                if last.at >= self.asker.tally.since:
                    self.asker.note_outcome(failure, last.reply.raw, finding)

    def _note_cached_answer(self, row: Row, result: AskResult[str]) -> None:
        """Note an answer that can be read, to be asked for once more."""
        last = result.replies[-1]
        self.cached_answers.note_answer(row, str(result.value), last.at)

    def _messages_of(self, row: Row) -> list[Message]:
        """Return the messages of a question that was asked before."""
        return self._question_messages(row, self.media[row["id"]])

    async def _load_media(self, row: Row) -> Shown | None:
        """Return the frames or clip of a row's video, once they are decoded."""
        self.waiting_for_frames += 1
        try:
            decoded = self.ahead.reached(row["video"])
            if decoded is not None:
                # All of a video's questions go on together.
                await asyncio.shield(asyncio.wrap_future(decoded))
            sampling = self.questions.sampling
            if sampling.kind == "none" and sampling.subs != "file":
                # Nothing is read: a thread would cost more than the question.
                return self.questions.media.show(row)
            async with self.decoding:
                return await asyncio.to_thread(self.questions.media.show, row)
        finally:
            self.waiting_for_frames -= 1

    def _question_messages(self, row: Row, media: Shown) -> list[Message]:
        language = self.questions.translated(row)["language"]
        prompt = media.subtitle_text(language) + self.questions.prompt(row)
        prompt_first = False
        if self.options.preset is not None:
            prompt_first = self.options.preset.get("prompt") == "before"
        return messages(prompt, media, language, prompt_first=prompt_first)

    def _truncated_answer(
        self, row: Row, results: "Sequence[AskResult[str]]", texts: Sequence[str]
    ) -> Prediction | None:
        """Return the first answer that is unscored because it was cut short. None without one.

        An answer that was cut short after it could be read counts as any other. Of an open answer
        nobody knows that, so it is unscored whenever it was cut short.
        """
        is_open = has_text_answer(self.questions.spec, row)
        for result, text in zip(results, texts, strict=True):
            reply = result.replies[-1].reply
            reason = reply_failure_kind(reply)
            if reason is not None and is_open:
                return Prediction(text, reason=Reason(reason))
            if reason is None and ending_of(reply.finish).group == "unknown":
                reason = Reason.ENDED_UNKNOWN
            if reason is not None and self._prediction_of(row, text).flags:
                return Prediction(text, reason=Reason(reason))
        return None

    async def _ask_for_answer(
        self, row: Row, question: Sequence[Message], vote: int
    ) -> AskResult[str]:
        outdated = await self.asker.cache.run_off_loop(
            outdated_rule, self.asker, self.options.earlier, row["id"], question, vote
        )
        if row["id"] in self.asked_again:
            outdated = partial(_has_unseen_pictures, question)
        cursor = await self.cached_answers.cursor(question, vote, outdated)
        return await self.picture_check.finish(cursor)

    def _comparable_reading(self, row: Row, text: str) -> object:
        """Return the content of an answer, by which two answers are compared."""
        prediction = self._prediction_of(row, text)
        if has_text_answer(self.questions.spec, row):
            return (prediction.parsed or {}).get("text", text)
        return prediction.parsed

    def _prediction_of(self, row: Row, text: str) -> Prediction:
        options = row.get("options", ())
        return parse_answer(self.questions.spec, text, options, timing(row), row["question"])


def _sample_fields(results: "Sequence[AskResult[str]]", texts: Sequence[str]) -> dict[str, Any]:
    """Return a sample's fields on its replies: summed tokens and seconds, and the candidates.

    A number that some reply lacks is left out.
    """
    replies = [result.replies[-1].reply for result in results]
    token_counts: dict[str, list[int | None]] = {
        "prompt": [reply.prompt_tokens or None for reply in replies],
        "completion": [reply.completion_tokens or None for reply in replies],
        "reasoning": [reply.reasoning_tokens for reply in replies],
        "cached": [reply.cached_tokens for reply in replies],
    }
    tokens: dict[str, int] = {}
    for name, counts in token_counts.items():
        total = _sum_or_none(counts)
        if total is not None:
            tokens[name] = total
    fields: dict[str, Any] = {
        "tokens": tokens or None,
        "seconds": _sum_or_none([reply.seconds for reply in replies]),
        "candidates": None,
    }
    if len(texts) > 1:
        fields["candidates"] = list(texts)
    return fields


def _sum_or_none(values: Sequence[Any]) -> Any:  # noqa: ANN401 - a number, or None
    """Return the sum of values, or None where one is unknown."""
    if None in values:
        return None
    return sum(values)


# --- questions of an earlier result, asked again


def outdated_rule(
    asker: Asker,
    earlier: EarlierResult | None,
    question_id: str,
    messages: Sequence[Message],
    vote: int,
) -> Outdated | None:
    """Return the rule by which cached replies are outdated, or None.

    An incomplete answer is outdated each time. A complete one is outdated once, with all replies
    before it: the next reply counts, even if it is the same, so the same command again pays for
    nothing.
    """
    if earlier is None:
        return None
    sample = earlier.samples[question_id]
    if sample.reason == Reason.PROMPT_CUT:
        return partial(_has_same_prompt_count, sample)
    if sample.state == "unscored":
        return partial(_is_incomplete, messages)
    earlier_answers = sample.candidates or [sample.prediction]
    earlier_answer = None
    if vote < len(earlier_answers):
        earlier_answer = earlier_answers[vote]
    cached_texts = [reply.raw for reply in asker.cached_replies(messages, vote=vote)]
    number_outdated = 0
    if earlier_answer in cached_texts:
        number_outdated = cached_texts.index(earlier_answer) + 1
    outdated_texts = iter(cached_texts[:number_outdated])
    # The rule is called once for each cached reply, in their order.
    return lambda _: next(outdated_texts, None) is not None


def _is_incomplete(messages: Sequence[Message], stored: StoredReply) -> bool:
    """Return True for a reply that is no complete answer to what was sent."""
    reply = stored.reply
    if text_of(reply) is None or ending_of(reply.finish).group != "ended":
        return True
    return not has_seen_pictures(reply, messages)


def _has_unseen_pictures(messages: Sequence[Message], stored: StoredReply) -> bool:
    """Return True for a reply whose pictures were not seen."""
    return not has_seen_pictures(stored.reply, messages)


def _has_same_prompt_count(sample: Sample, stored: StoredReply) -> bool:
    """Return True for a reply whose prompt was cut as a sample's was."""
    number_of_replies = len(sample.candidates or [sample.prediction])
    sample_count = (sample.tokens or {}).get("prompt")
    return sample_count is None or stored.reply.prompt_tokens * number_of_replies == sample_count


def rejudge(questions: QuestionSet, options: Options, earlier: EarlierResult) -> list[Evaluation]:
    """Ask the judge again about answers that another model than its usual one judged.

    One evaluation is returned.
    """
    result = earlier.result
    settings = questions.settings().model_copy(update={"candidates": result.settings.candidates})
    earlier.refuse_unlike(
        questions.questions,
        result.model.id,
        options.labelled(settings),
        judge=options.judge,
        question_ids=questions.ids,
        errata=options.errata_of(questions.questions),
    )
    if options.judge is not None:
        first, *further = _judges_refusing_other_models(options.judge, earlier)
        options = replace(options, judge=replace(first, others=tuple(further)))
    settings = settings.model_copy(update={"generation": result.settings.generation})
    return [score_answers(questions, {}, {}, options, model=result.model, settings=settings)]


def _judges_refusing_other_models(
    judge: "JudgeOptions", earlier: EarlierResult
) -> "list[JudgeOptions]":
    """Return a panel's judges, for which cached replies of other models are outdated.

    A judge's own model is the one that most replies of the earlier result came from.
    """
    usual_models = most_returned(earlier.samples)
    judges: list[JudgeOptions] = []
    for member in judge.members:
        usual_model = usual_models.get(member.filed_name, usual_models.get(None))
        outdated = None
        if usual_model:
            outdated = partial(_is_of_another_model, usual_model, member)
        judges.append(replace(member, outdated=outdated))
    return judges


def _is_of_another_model(usual_model: str, judge: "JudgeOptions", stored: StoredReply) -> bool:
    """Return True for a judge's reply that its usual model did not give."""
    returned_id = stored.reply.returned
    return returned_id is None or judge.filed_id(returned_id) != usual_model
