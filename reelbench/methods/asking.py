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
from reelbench.methods.kept import Keeping, KeptAnswers
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
    stated_frames = str(sampling)
    if sampling.decodes and sampling.form_given == "clip":
        stated_frames = sampling.spec(form=True)
    elif sampling.decodes:
        sampling = sampling.as_images()
    question_set = load_questions(
        name, sampling, split=split, limit=limit, data=data, frames=stated_frames
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
    keeping: Keeping = Keeping(),  # noqa: B008 - it is frozen
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
    generation_settings = _generation_of(question_set, model, candidates)
    record = ModelRecord(id=model.filed_name, adapter=ADAPTER, args=dict(model.extra))
    model = _at_temperature_of(candidates, model)
    settings = question_set.settings(candidates).model_copy(
        update={
            "generation": without_removed(model.sampling(generation_settings)),
            "preset": options.preset,
            "seed": model.extra.get("seed"),
        }
    )
    part = _part_to_ask(question_set, record, settings, options)
    _check_media(question_set, model, part.rows, options)
    asker = Asker(
        model, generation_settings, on_note=options.note, budget=budget, accepts_cut_off=True
    )
    kept_answers = KeptAnswers(asker, keeping, part.revision, _name_of(question_set))
    sends_pictures = question_set.sampling.decodes and question_set.sampling.form == "images"
    is_checked = keeping.probe and sends_pictures and not model.batch and not model.local
    picture_check = PictureCheck(asker, is_wanted=is_checked)
    votes = _vote_numbers(run, candidates)
    answers = _ask_rows(
        question_set, part.rows, options, asker, kept_answers, check=picture_check, votes=votes
    )
    about = None
    if options.earlier is not None:
        about = options.earlier.result.model.about
    scored = score_answers(
        question_set,
        answers.predictions,
        answers.shown_media,
        options,
        model=record.model_copy(update={"about": about}),
        settings=settings,
        sample_fields=answers.sample_fields,
    )
    asked_record = kept_answers.record().model_copy(
        update={"probed": picture_check.calls or None, "pictures": answers.doubt()}
    )
    _note_answering_models(record.id, asked_record, options)
    return replace(scored, come_by=asked_record)


def _note_answering_models(model: str, record: AskedRecord, options: Options) -> None:
    """Say where several models may have answered."""
    returned = record.returned or {}
    names = answering_ids(model, returned)
    if len(names) > 1:
        replies = ", ".join(f"{returned[name]} by {name}" for name in names)
        options.note(
            f"{model}: answered under several ids ({replies}): these may be several models, so a "
            "board lists the result and doesn't rank it"
        )


class _Part(NamedTuple):
    """The rows that are asked, and the revision of the model that is stated."""

    rows: Sequence[Row]
    revision: str | None


def _part_to_ask(
    question_set: QuestionSet, record: ModelRecord, settings: SettingsRecord, options: Options
) -> _Part:
    """Return the rows to ask: all, or those of an earlier result.

    Raises:
        InputError: The earlier result was asked otherwise, or the result's place is another's.
    """
    rows = question_set.rows
    earlier = options.earlier
    errata = options.errata_of(question_set.questions)  # wrong ones are told before any call
    if earlier is not None:
        earlier.refuse_unlike(
            question_set.questions,
            record.id,
            options.labelled(settings),
            judge=options.judge,
            question_ids=question_set.ids,
            errata=errata,
        )
        rows = [row for row in rows if row["id"] in earlier.ids]
        return _Part(rows, earlier.result.model.revision)
    spec = question_set.spec
    applied = abouts.applied(options.about, spec.id, record, options.labelled(settings))
    options.check_place(spec, question_set.questions.split, *applied, len(rows))
    stated_model = applied[0]
    return _Part(rows, stated_model.revision)


def _check_media(
    question_set: QuestionSet, model: AskOptions, rows: Sequence[Row], options: Options
) -> None:
    """Check that the model takes such media, and that videos are here."""
    name = question_set.spec.id
    sampling = question_set.sampling
    model.check_taken("whole videos", sampling.kind == "native")
    model.check_taken("video", sampling.decodes and sampling.form == "clip")
    if sampling.form == "images":
        model.check_taken("images", sampling.frames)
    missing_line = question_set.media.missing_line()
    if missing_line is not None and all(row["id"] in question_set.media.missing for row in rows):
        raise DataUnavailableError(missing_line)
    for media_note in question_set.media.notes():
        options.note(media_note)
    if sampling.times == "text" and sampling.times_given is None:
        options.note(f"{name}: {_TIMED}")
    subtitles_line = question_set.media.subtitles_line()
    if subtitles_line is not None:
        options.note(f"{name}: {subtitles_line}")


def _name_of(question_set: QuestionSet) -> str:
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
    kept_answers: KeptAnswers,
    *,
    check: PictureCheck,
    votes: range,
) -> "_Run":
    """Ask the questions of rows, videos decoded ahead, and return the run with its answers."""
    name = question_set.spec.id
    ordered = [rows[place] for place in by_video(rows)]
    if asker.cache.is_shared:
        videos = [row["video"] for row in ordered]
        ordered = [ordered[place] for place in places_in_own_order(videos)]
    waits = Waits()
    decoding = Ahead(question_set.media.decoders(ordered))
    with options.bar(f"asking {name}", len(rows)) as show, decoding as ahead:

        def show_with_videos(done: float, line: str, **more: Any) -> None:  # noqa: ANN401
            videos = ""
            if question_set.sampling.kind != "none":
                videos = number_of(len(run.videos), "video")
            parts = [part for part in (line, videos, str(waits)) if part]
            show(done, ", ".join(parts), **more)

        runner = Runner([asker], show_with_videos)
        run = _Run(question_set, asker, runner, votes, options, kept_answers, check, waits, ahead)
        loop.run(run.ask_all(ordered))
        if waits.worth_saying():
            videos = ""
            if question_set.sampling.kind != "none":
                videos = f"{number_of(len(run.videos), 'video')} shown, "
            options.note(f"{name}: {videos}{waits}")
    run.check(len(rows), options.note)
    return run


def sent_sampling(
    question_set: QuestionSet, model: AskOptions, candidates: Candidates | None = None
) -> dict[str, Any]:
    """Return the settings of generation that are sent with each question."""
    generation_settings = _generation_of(question_set, model, candidates)
    return without_removed(_at_temperature_of(candidates, model).sampling(generation_settings))


def _generation_of(
    question_set: QuestionSet, model: AskOptions, candidates: Candidates | None
) -> dict[str, Any]:
    max_new_tokens = MAX_NEW_TOKENS
    if question_set.questions.task is not None:
        max_new_tokens = question_set.questions.task.max_new_tokens
    return generation(model.model, max_new_tokens, question_set.sampling, candidates)


def _at_temperature_of(candidates: Candidates | None, model: AskOptions) -> AskOptions:
    """Return a model that thinks with the candidates' temperature, which was asked for."""
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
    prompt: str, shown_media: Shown, language: str = "en", *, first: bool = False
) -> list[Message]:
    """Return the one message that asks a question: the video's pieces, then the words.

    Times are in the language. The words stand `first` where that is asked for.
    """
    pieces = shown_media.attachments(language)
    if first:
        return [{"role": "user", "content": [prompt, *pieces]}]
    return [{"role": "user", "content": [*pieces, prompt]}]


class _Outcome(NamedTuple):
    """The replies to a question, and the answer in them."""

    name: str
    results: "Sequence[AskResult[str]]"
    prediction: Prediction


@dataclass(slots=True)
class _Run:
    """Questions of one split, asked many at once.

    Attributes:
        votes: The numbers of the answers wanted to each question.
        videos: The videos that were shown_media.
        waiting_for_frames: Questions that wait for their frames.
        prompt_counts: The tokens that the server counts of prompts.
        outcomes: Those that the asker isn't told of, as the counts don't tell of them yet.
        kept_low: Kept replies that may not have seen their pictures, by the question's id.
        asked_again: Questions whose kept replies did not.
        sample_fields: Further fields of each question's sample, by its id.
    """

    questions: QuestionSet
    asker: Asker
    runner: Runner
    votes: range
    options: Options
    kept_answers: KeptAnswers
    picture_check: PictureCheck
    waits: Waits
    ahead: Ahead[str]
    decoding: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(usable_cores()))
    videos: set[str] = field(default_factory=set[str])
    waiting_for_frames: int = 0
    prompt_counts: PromptCounts = field(default_factory=PromptCounts)
    outcomes: list[_Outcome] = field(default_factory=list[_Outcome])
    kept_low: "dict[str, Sequence[AskResult[str]]]" = field(
        default_factory=dict[str, "Sequence[AskResult[str]]"]
    )
    asked_again: set[str] = field(default_factory=set[str])
    predictions: dict[str, Prediction] = field(default_factory=dict[str, Prediction])
    shown_media: dict[str, Shown] = field(default_factory=dict[str, Shown])
    sample_fields: dict[str, Mapping[str, Any]] = field(
        default_factory=dict[str, Mapping[str, Any]]
    )

    async def ask_all(self, ordered: Sequence[Row]) -> None:
        """Ask all questions, and check that kept answers are the model's own.

        The rows are in the order of their videos.

        Raises:
            ReelbenchError: Asking on was of no use, or kept answers are another model's.
        """
        async with self.asker:
            await self.kept_answers.begin()
            self._check_modalities()
            self.prompt_counts.context = self.asker.statement.context
            sampling_waits = asyncio.ensure_future(self._sample_waits())
            try:
                predictions = await self.runner.results(ordered, self._ask_row)
                predictions = await self._with_unseen_asked_again(ordered, predictions)
                self._note_outcomes()
            finally:
                sampling_waits.cancel()
            if self.asker.end_line is not None:
                raise ReelbenchError(self.asker.end_line)
            await self.kept_answers.check(self._reads_as, self._question_again)
            await self.picture_check.recall()
        if self.doubt() == "uncounted":
            self.options.note(
                f"{self.questions.spec.id}: not verified that the model saw its pictures: this "
                "server reports no token counts"
            )
        faults = self.prompt_counts.faults()
        for row, prediction in zip(ordered, predictions, strict=True):
            self.predictions[row["id"]] = prediction
            fault = faults.get(row["id"])
            if fault is not None:
                unscored = Prediction(prediction.prediction, reason=Reason(fault))
                self.predictions[row["id"]] = unscored

    async def _with_unseen_asked_again(
        self, ordered: Sequence[Row], predictions: Sequence[Prediction]
    ) -> list[Prediction]:
        """Return the predictions, where kept replies saw no pictures with those of new ones.

        All counts are needed to know these, so they are asked again when all others are done.
        """
        rows: list[Row] = []
        for row in ordered:
            name = row["id"]
            if name not in self.kept_low:
                continue
            if self.prompt_counts.fault_by_now(name) != Reason.MEDIA_NOT_SEEN:
                continue
            rows.append(row)
            self.asked_again.add(name)
            self.prompt_counts.forget(name)
            for result in self.kept_low[name]:
                self.asker.take_back(result)
        if not rows:
            return list(predictions)
        questions = number_of(len(rows), "question")
        self.options.note(
            f"{self.questions.spec.id}: kept replies to {questions} did not see their pictures; "
            "asked again"
        )
        new_predictions = await self.runner.results(rows, self._ask_row)
        by_id = {row["id"]: new for row, new in zip(rows, new_predictions, strict=True)}
        whole: list[Prediction] = []
        for row, prediction in zip(ordered, predictions, strict=True):
            whole.append(by_id.get(row["id"], prediction))
        return whole

    def doubt(self) -> Doubt | None:
        """Return the doubt about what the model saw of its pictures, if any."""
        sight = self.picture_check.sight
        if sight is not None:
            if sight.is_right and not sight.is_in_order:
                return "reordered"
            if sight.is_right:
                return None
            if not self.prompt_counts.are_unverifiable:
                return "misnamed"
        if self.prompt_counts.are_unverifiable:
            return "uncounted"
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

    async def _sample_waits(self) -> None:
        """Count what is waited for: frames only where another call could be in flight."""
        while True:
            await asyncio.sleep(PAUSE_S)
            if self.waiting_for_frames and self.asker.has_room:
                self.waits["frames"] += 1
            elif self.asker.in_flight:
                self.waits["the server"] += 1
            else:
                self.waits[None] += 1

    def check(self, number: int, note: Callable[[str], None]) -> None:
        """Say how many of the asked questions the server gave no answer to.

        Raises:
            ReelbenchError: It gave none at all.
        """
        lacking = self.runner.lacking.total()
        if not lacking:
            return
        reasons = self.runner.lacking_shown
        if lacking == number:
            why = self.runner.why_lacking("the server gave no answer")
            line = f"{why}; no question of {self.questions.spec.id} is answered"
            if len(self.runner.causes) > 1 or len(self.runner.lacking) > 1:
                line += f" ({reasons})"
            if self.runner.lacking.keys() == {UNPARSABLE}:
                line += "; then --fresh asks all again"
            if self.runner.lacking.keys() == {UNAVAILABLE}:
                line += "; `reelbench score NAME --template` makes a file of answers to fill in"
            raise ReelbenchError(line)
        advice = "rerun the command to continue"
        if self.runner.lacking.keys() == {UNPARSABLE}:
            advice = (
                "the replies have no text; ask once more with --only unscored --from RESULT "
                "--output OTHER"
            )
        elif self.runner.has_timeouts:
            advice += f"; {self.asker.options.advice_on_timeouts}"
        count = number_of(lacking, "question is", "questions are")
        note(f"{count} not answered ({reasons}); {advice}")

    async def _ask_row(self, row: Row) -> Prediction:
        """Ask a question, and return its answer."""
        if row["id"] in self.questions.media.missing:
            return MISSING
        shown_media = await self._shown_media(row)
        self.videos.add(row["video"])
        if shown_media is None:
            return NOT_SHOWN
        self.shown_media[row["id"]] = shown_media
        question = self._question_messages(row, shown_media)
        answers = [self._ask_for_answer(row, question, vote) for vote in self.votes]
        if len(answers) == 1:
            results = [await answers[0]]  # a task of its own costs 40 µs
        else:
            results = await asyncio.gather(*answers)
        texts: list[str] = []
        for result in results:
            if result.value is None:
                self.runner.note_lacking(result)
                return Prediction(None, reason=Reason.MODEL_FAILED)
            texts.append(result.value)
        self.sample_fields[row["id"]] = _sample_fields(results, texts)
        self._note_counts(row, question, results)
        self._note_kept_low(row, question, results)
        prediction = self._cut_short(row, results, texts)
        if prediction is None:
            prediction = self._read_prediction(row, texts[0])
            if self.prompt_counts.fault_by_now(row["id"]) is None and not prediction.flags:
                self._note_kept_answer(row, results[0])
        self.outcomes.append(_Outcome(row["id"], results, prediction))
        if not self.prompt_counts.is_undecided:
            self._note_outcomes()
        return prediction

    def _note_counts(
        self, row: Row, question: Sequence[Message], results: "Sequence[AskResult[str]]"
    ) -> None:
        """Note the tokens that the server counted of a question's prompt."""
        media = None
        if self.questions.sampling.kind != "none":
            shown_media = self.shown_media[row["id"]]
            media = f"{row['video']} {shown_media.timestamps} {shown_media.extra_pictures}"
        for result in results:
            last = result.replies[-1]
            self.prompt_counts.note(row["id"], question, last.reply, last.at, media)

    def _note_kept_low(
        self, row: Row, question: Sequence[Message], results: "Sequence[AskResult[str]]"
    ) -> None:
        """Note kept replies with fewer tokens than pictures."""
        for result in results:
            last = result.replies[-1]
            is_kept = last.at < self.asker.tally.since
            if is_kept and not has_seen_pictures(last.reply, question):
                self.kept_low[row["id"]] = results

    def _note_outcomes(self) -> None:
        """Tell the asker whether its new replies were answers."""
        outcomes = self.outcomes
        self.outcomes = []
        for outcome in outcomes:
            failure: str | None = self.prompt_counts.fault_by_now(outcome.name)
            if failure is None and outcome.prediction.reason is not None:
                failure = str(outcome.prediction.reason)
            finding = None
            if failure == Reason.MEDIA_NOT_SEEN:
                finding = self.prompt_counts.unseen_in_words(outcome.name)
            for result in outcome.results:
                last = result.replies[-1]
                if last.at >= self.asker.tally.since:
                    self.asker.note_outcome(failure, last.reply.raw, finding)

    def _note_kept_answer(self, row: Row, result: AskResult[str]) -> None:
        """Note an answer that can be read, to be asked for once more."""
        last = result.replies[-1]
        self.kept_answers.note_answer(row, str(result.value), last.at)

    def _question_again(self, row: Row) -> list[Message]:
        """Return the messages of a question that was asked before."""
        return self._question_messages(row, self.shown_media[row["id"]])

    async def _shown_media(self, row: Row) -> Shown | None:
        """Return the row's video as it is shown, once its frames are there."""
        self.waiting_for_frames += 1
        try:
            ready = self.ahead.reached(row["video"])
            if ready is not None:
                # All of a video's questions go on together.
                await asyncio.shield(asyncio.wrap_future(ready))
            sampling = self.questions.sampling
            if sampling.kind == "none" and sampling.subs != "file":
                # Nothing is read: a thread would cost more than the question.
                return self.questions.media.show(row)
            async with self.decoding:
                return await asyncio.to_thread(self.questions.media.show, row)
        finally:
            self.waiting_for_frames -= 1

    def _question_messages(self, row: Row, shown_media: Shown) -> list[Message]:
        language = self.questions.translated(row)["language"]
        subtitles = shown_media.subtitle_text(language)
        prompt = subtitles + self.questions.prompt(row)
        is_prompt_first = False
        if self.options.preset is not None:
            is_prompt_first = self.options.preset.get("prompt") == "before"
        return messages(prompt, shown_media, language, first=is_prompt_first)

    def _cut_short(
        self, row: Row, results: "Sequence[AskResult[str]]", texts: Sequence[str]
    ) -> Prediction | None:
        """Return the first answer that ended before it said anything that can be read.

        Of an open answer nobody knows that, so it is returned whenever it was cut short.
        """
        for result, text in zip(results, texts, strict=True):
            reply = result.replies[-1].reply
            reason = reply_failure_kind(reply)
            if reason is not None and has_text_answer(self.questions.spec, row):
                return Prediction(text, reason=Reason(reason))
            if reason is None and ending_of(reply.finish).group == "unknown":
                reason = Reason.ENDED_UNKNOWN
            if reason is not None and self._read_prediction(row, text).flags:
                return Prediction(text, reason=Reason(reason))
        return None

    async def _ask_for_answer(
        self, row: Row, question: Sequence[Message], vote: int
    ) -> AskResult[str]:
        earlier = self.options.earlier
        outdated = await self.asker.cache.run_off_loop(
            passed_over, self.asker, earlier, row["id"], question, vote
        )
        if row["id"] in self.asked_again:
            outdated = partial(_has_unseen_pictures, question)
        cursor = await self.kept_answers.cursor(question, vote, outdated)
        return await self.picture_check.finish(cursor)

    def _reads_as(self, row: Row, text: str) -> object:
        """Return the reading of a text, by which two texts are compared."""
        read = self._read_prediction(row, text)
        if has_text_answer(self.questions.spec, row):
            return (read.parsed or {}).get("text", text)
        return read.parsed

    def _read_prediction(self, row: Row, text: str) -> Prediction:
        options = row.get("options", ())
        return parse_answer(self.questions.spec, text, options, timing(row), row["question"])


def _sample_fields(results: "Sequence[AskResult[str]]", texts: Sequence[str]) -> dict[str, Any]:
    """Return the tokens and seconds behind a question's answers, all together, and candidates.

    A number that some reply lacks is left out.
    """
    replies = [result.replies[-1].reply for result in results]
    counts: dict[str, list[int | None]] = {
        "prompt": [reply.prompt_tokens or None for reply in replies],
        "completion": [reply.completion_tokens or None for reply in replies],
        "reasoning": [reply.reasoning_tokens for reply in replies],
        "cached": [reply.cached_tokens for reply in replies],
    }
    tokens: dict[str, int] = {}
    for name, values in counts.items():
        total = _sum_or_none(values)
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


# Questions of an earlier result asked again.


def passed_over(
    asker: Asker, earlier: EarlierResult | None, name: str, messages: Sequence[Message], vote: int
) -> Outdated | None:
    """Return the rule that passes over replies in the cache, or None.

    What is no whole answer is passed over each time. An answer that was one is, with all replies
    before it, passed over once: the next reply counts, even if it is the same, so the same command
    again pays for nothing.
    """
    if earlier is None:
        return None
    sample = earlier.samples[name]
    if sample.reason == Reason.PROMPT_CUT:
        return partial(_has_count_of, sample)
    if sample.state == "unscored":
        return partial(_is_no_answer, messages)
    texts = sample.candidates or [sample.prediction]
    text = None
    if vote < len(texts):
        text = texts[vote]
    cached_texts = [reply.raw for reply in asker.cached_replies(messages, vote=vote)]
    number_passed = 0
    if text in cached_texts:
        number_passed = cached_texts.index(text) + 1
    old_texts = iter(cached_texts[:number_passed])
    return lambda _: next(old_texts, None) is not None


def _is_no_answer(messages: Sequence[Message], stored: StoredReply) -> bool:
    """Return True for a reply that is no whole answer to what was sent."""
    reply = stored.reply
    if text_of(reply) is None or ending_of(reply.finish).group != "ended":
        return True
    return not has_seen_pictures(reply, messages)


def _has_unseen_pictures(messages: Sequence[Message], stored: StoredReply) -> bool:
    """Return True for a reply whose pictures were not seen."""
    return not has_seen_pictures(stored.reply, messages)


def _has_count_of(sample: Sample, stored: StoredReply) -> bool:
    """Return True for a reply with the count of a prompt that was cut."""
    replies = len(sample.candidates or [sample.prediction])
    counted = (sample.tokens or {}).get("prompt")
    return counted is None or stored.reply.prompt_tokens * replies == counted


def judged_again(
    questions: QuestionSet, options: Options, earlier: EarlierResult
) -> list[Evaluation]:
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
        judges = _judges_of_usual_models(options.judge, earlier)
        options = replace(options, judge=replace(judges[0], others=tuple(judges[1:])))
    settings = settings.model_copy(update={"generation": result.settings.generation})
    return [score_answers(questions, {}, {}, options, model=result.model, settings=settings)]


def _judges_of_usual_models(judge: "JudgeOptions", earlier: EarlierResult) -> "list[JudgeOptions]":
    """Return a panel's judges, which pass over replies of another model than the usual one."""
    usual_model = most_returned(earlier.samples)
    judges: list[JudgeOptions] = []
    for member in judge.members:
        usual = usual_model.get(member.filed_name, usual_model.get(None))
        outdated = None
        if usual:
            outdated = _returned_by_another(usual, member)
        judges.append(replace(member, outdated=outdated))
    return judges


def _returned_by_another(usual: str, judge: "JudgeOptions") -> Outdated:
    """Return the rule that passes over replies of another model than usual."""

    def is_of_another(stored: StoredReply) -> bool:
        returned = stored.reply.returned
        return returned is None or judge.filed_id(returned) != usual

    return is_of_another
