"""A served model asked a split's questions, without lmms-eval: what its `openai` adapter would send, through `llm`.

Every reply is kept as it arrives, so a run that ended early goes on where it was, and none is paid
for twice.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError, number_of
from reelbench.base.workers import usable_cores
from reelbench.data.loading import find_split
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions, takes_completion_limit
from reelbench.llm.ask_result import UNPARSABLE, AskResult, Outdated, unfinished
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget
from reelbench.llm.messages import Message
from reelbench.llm.runner import Runner
from reelbench.methods.kept import Keeping, KeptAnswers
from reelbench.methods.questions import MISSING, NOT_SHOWN, QuestionSet
from reelbench.registry.decoding import Candidates
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.reasons import Reason
from reelbench.registry.records import ModelRecord
from reelbench.registry.rows import Row, in_words, timing
from reelbench.registry.sampling import MOST_FRAMES, FrameSampling
from reelbench.registry.strata import Strata
from reelbench.tasks import about as abouts
from reelbench.tasks.earlier import EarlierResult, most_returned
from reelbench.tasks.score import Evaluation, Options
from reelbench.tasks.submissions import Prediction, answered
from reelbench.video.decode_ahead import PAUSE_S, Ahead, Waits, by_video
from reelbench.video.shown_media import Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reelbench.judges.judge_options import JudgeOptions

ADAPTER = "reelbench-ask"
"""What a record of such answers has for lmms-eval's adapter."""

MAX_NEW_TOKENS = 512

_TIMED = "the questions ask for times, so each frame is sent with its time; to turn this off, add times=none to --frames"


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
    """Return the questions of a benchmark or a task, with what is to be shown of their videos.

    Frames go as pictures, with `as=clip` as one video that holds exactly them; `native` sends the
    video as it is. Where answers are times, pictures go with theirs, unless `times=none` is asked
    for. With `only` these questions, or with `per` so many for each label of a field, the result is
    of a part, as with a limit.

    Raises:
        InputError: The name, the split or the frames are none, or a limit is given beside `only`.
        DataUnavailableError: The data are not here, and can't be fetched.
    """
    if only is not None and limit is not None:
        raise InputError("--ids and --limit: give one of them")
    sampling = FrameSampling.parse(frames).with_times(find_split(name, split)[0].row_kind)
    stated = str(sampling)
    if sampling.decodes and sampling.form_given != "clip":
        sampling = sampling.as_images()
    elif sampling.decodes:
        stated = sampling.spec(form=True)
    asked = QuestionSet.load(name, sampling, split=split, limit=limit, data=data, frames=stated)
    if per is not None:
        only = QuestionIds(frozenset(row["id"] for row in per.draw_rows(asked.spec, asked.rows)))
    return replace(asked, only=only)


def ask(
    asked: QuestionSet,
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
    Of several candidates the first is scored and all are kept: samples only; a question that lacks
    one of them is unscored, until the same call has them all. The budget may be shared with other
    runs; `run` is the number of one that has answers of its own.

    Returns:
        The scores. A question that the server did not answer is unscored (`model_failed`), and so
        is one whose answer ended at the limit (`cut_off`) or in a content filter (`refused`) before
        it said anything that can be read; of an open answer nobody knows that, so whatever was cut
        short is unscored.

    Raises:
        DataUnavailableError: No video of theirs is here.
        ReelbenchError: Nothing was answered at all, a reply can't be kept, or those that are kept
            are another's.
        InputError: The candidates can't be had of the model, or the earlier result was asked
            otherwise.
    """
    task = asked.questions.task
    own = _generation_of(asked, model, candidates)
    record = ModelRecord(id=model.model, adapter=ADAPTER, args=dict(model.extra))
    model = _at_temperature_of(candidates, model)
    settings = asked.settings(candidates).model_copy(
        update={
            "generation": model.sampling(own),
            "preset": options.preset,
            "seed": model.extra.get("seed"),
        }
    )
    rows, revision = asked.rows, None
    if (earlier := options.earlier) is not None:
        earlier.refuse_unlike(
            asked.questions, model.model, settings, judge=options.judge, known=asked.ids
        )
        rows = [row for row in rows if row["id"] in earlier.ids]
        revision = earlier.result.model.revision
    else:
        said = abouts.applied(options.about, asked.spec.id, record, options.labelled(settings))
        revision = said[0].revision
        options.check_place(asked.spec, asked.questions.split, *said, len(rows))
    name, sampling = asked.spec.id, asked.sampling
    model.check_taken("whole videos", sampling.kind == "native")
    model.check_taken("video", sampling.decodes and sampling.form == "clip")
    model.check_taken("images", sampling.frames if sampling.form == "images" else None)
    if (line := asked.lacking_videos()) is not None:
        if all(row["id"] in asked.missing for row in rows):
            raise DataUnavailableError(line)
        options.note(line)
    if sampling.times == "text" and sampling.times_given is None:
        options.note(f"{name}: {_TIMED}")
    if (lacking := asked.library.check_subtitles(asked.rows, sampling)) is not None:
        options.note(f"{name}: {lacking}")
    asker = Asker(model, own, on_note=options.note, budget=budget, as_it_stands=True)
    kept = KeptAnswers(
        asker, keeping, revision, task.name if task else f"{name} {asked.questions.split}"
    )
    ordered = [rows[place] for place in by_video(rows)]
    with options.bar(f"asking {name}", len(rows)) as show, Ahead(asked.work(ordered)) as ahead:
        votes, waits = (
            range(run * (each := candidates.k if candidates else 1), (run + 1) * each),
            Waits(),
        )

        def shown(done: float, line: str, **more: Any) -> None:  # noqa: ANN401
            videos = f"{len(work.videos)} videos" if sampling.kind != "none" else ""
            show(done, ", ".join(filter(None, (line, videos, str(waits)))), **more)

        work = _Run(asked, asker, Runner([asker], shown), votes, options, kept, waits, ahead)
        loop.run(work.ask_all(rows, ordered))
        if waits.worth_saying():
            options.note(f"{name}: {len(work.videos)} videos shown, {waits}")
    work.check(len(rows), options.note)
    record = record.model_copy(update={"about": earlier.result.model.about if earlier else None})
    scored = asked.score(
        work.predictions, work.shown, options, model=record, settings=settings, beside=work.beside
    )
    return replace(scored, come_by=kept.record())


def sent_sampling(
    asked: QuestionSet, model: AskOptions, candidates: Candidates | None = None
) -> dict[str, Any]:
    """Return the settings of generation that are sent with each question."""
    generation_settings = _generation_of(asked, model, candidates)
    return _at_temperature_of(candidates, model).sampling(generation_settings)


def _generation_of(
    asked: QuestionSet, model: AskOptions, candidates: Candidates | None
) -> dict[str, Any]:
    max_new_tokens = MAX_NEW_TOKENS
    if asked.questions.task is not None:
        max_new_tokens = asked.questions.task.max_new_tokens
    return generation(model.model, max_new_tokens, asked.sampling, candidates)


def _at_temperature_of(candidates: Candidates | None, model: AskOptions) -> AskOptions:
    """Return a model that thinks with the candidates' temperature, which was asked for."""
    if candidates is None or not model.thinking:
        return model
    return replace(model, extra={"temperature": candidates.temperature, **model.extra})


def generation(
    model: str, max_new_tokens: int, sampling: FrameSampling, candidates: Candidates | None = None
) -> dict[str, Any]:
    """Return the settings of a question, as lmms-eval's `openai` adapter sends them (0.7.3, `build_payload_for_index`).

    A server that takes a video is told to take as many frames of it as were asked for: all that the
    clip has.
    """
    if candidates is not None and candidates.temperature is None:
        raise InputError(
            f"{candidates}: a server gives samples only; try sample:{candidates.k},t=0.7"
        )
    if takes_completion_limit(model):
        if candidates is not None:
            raise InputError(
                f"{candidates}: {model} takes no temperature, so it can't be asked for such samples"
            )
        sent: dict[str, Any] = {
            "response_format": {"type": "text"},
            "max_completion_tokens": max_new_tokens,
        }
    else:
        sent = {
            "max_tokens": max_new_tokens,
            "temperature": candidates.temperature if candidates else 0,
        }
    if sampling.decodes and sampling.form == "clip":
        sent["media_io_kwargs"] = {"video": {"num_frames": sampling.frames or MOST_FRAMES}}
    return sent


def messages(
    prompt: str, shown: Shown, language: str = "en", *, first: bool = False
) -> list[Message]:
    """Return the one message that asks a question: what is shown, with its times in a language, then the words.

    The words stand `first` where that is asked for.
    """
    pieces = shown.attachments(language)
    return [{"role": "user", "content": [prompt, *pieces] if first else [*pieces, prompt]}]


@dataclass(slots=True)
class _Run:
    """Questions of one split, asked many at once; `votes` are the numbers of the answers wanted to each."""

    questions: QuestionSet
    asker: Asker
    runner: Runner
    votes: range
    options: Options
    kept: KeptAnswers
    waits: Waits
    ahead: Ahead[str]
    decoding: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(usable_cores()))
    videos: set[str] = field(default_factory=set[str])  # those that were shown
    wanting: int = 0  # questions that wait for their frames
    predictions: dict[str, Prediction] = field(default_factory=dict[str, Prediction])
    shown: dict[str, Shown] = field(default_factory=dict[str, Shown])
    beside: dict[str, "Mapping[str, Any]"] = field(default_factory=dict[str, "Mapping[str, Any]"])

    async def ask_all(self, rows: Sequence[Row], ordered: Sequence[Row]) -> None:
        async with self.asker:
            await self.kept.begin(rows)
            looking = asyncio.ensure_future(self._sample_waits())
            try:
                predictions = await self.runner.results(ordered, self._prediction)
            finally:
                looking.cancel()
            await self.kept.check(self._reads_as)
        self.predictions = {row["id"]: made for row, made in zip(ordered, predictions, strict=True)}

    async def _sample_waits(self) -> None:
        """Look what is waited for: frames only where another call could be in flight."""
        while True:
            await asyncio.sleep(PAUSE_S)
            calls = self.asker.in_flight
            for_frames = self.wanting and calls < self.asker.options.concurrency
            self.waits["frames" if for_frames else "the server" if calls else None] += 1

    def check(self, asked: int, note: Callable[[str], None]) -> None:
        """Say how many questions the server gave no answer to; ReelbenchError where it gave none at all."""
        lacking, shown = self.runner.lacking.total(), self.runner.lacking_shown
        if lacking and lacking == asked:
            why = self.runner.why_lacking("the server gave no answer")
            raise ReelbenchError(
                f"{why}; no question of {self.questions.spec.id} is answered ({shown})"
            )
        if lacking:
            again = "rerun the command to continue"
            if self.runner.lacking.keys() == {UNPARSABLE}:
                again = "the replies have no text; ask once more by --only unscored --from RESULT"
            note(
                f"{number_of(lacking, 'question is', 'questions are')} not answered ({shown}); {again}"
            )

    async def _prediction(self, row: Row) -> Prediction:
        questions = self.questions
        if row["id"] in questions.missing:
            return MISSING
        self.wanting += 1
        try:
            if (ready := self.ahead.reached(row["video"])) is not None:
                await asyncio.shield(
                    asyncio.wrap_future(ready)
                )  # all of a video's questions go on together
            if questions.sampling.kind == "none" and questions.sampling.subs != "file":
                shown = questions.show(
                    row
                )  # nothing is read: a thread would cost more than the question
            else:
                async with self.decoding:
                    shown = await asyncio.to_thread(questions.show, row)
        finally:
            self.wanting -= 1
        self.videos.add(row["video"])
        if shown is None:
            return NOT_SHOWN
        self.shown[row["id"]] = shown
        language = questions.asked(row)["language"]
        preset = self.options.preset
        first = preset is not None and preset.get("prompt") == "before"
        question = messages(
            shown.subtitle_text(language) + questions.prompt(row), shown, language, first=first
        )
        answers = [self._answer(row, question, vote) for vote in self.votes]
        replies = (
            [await answers[0]] if len(answers) == 1 else await asyncio.gather(*answers)
        )  # a task costs 40 µs
        texts = [asked.value for asked in replies if asked.value is not None]
        if len(texts) < len(replies):
            self.runner.lacking[
                next(str(asked.reason) for asked in replies if asked.value is None)
            ] += 1
            return Prediction(None, reason=Reason.MODEL_FAILED)
        # The tokens and seconds behind a question's answers, as its sample has them; of all answers
        # together.
        sent = [asked.replies[-1].reply for asked in replies]
        counts: dict[str, list[float | None]] = {
            "prompt": [reply.prompt_tokens or None for reply in sent],
            "completion": [reply.completion_tokens or None for reply in sent],
            "reasoning": [reply.reasoning_tokens for reply in sent],
            "cached": [reply.cached_tokens for reply in sent],
            "seconds": [reply.seconds for reply in sent],
        }
        known = {
            name: sum(filter(None, values)) for name, values in counts.items() if None not in values
        }
        seconds = known.pop("seconds", None)
        cost = {"tokens": known or None, "seconds": seconds}
        self.beside[row["id"]] = cost | {"candidates": texts if len(texts) > 1 else None}
        for text, result in zip(texts, replies, strict=True):
            reason = unfinished(result.replies[-1].reply)
            if reason is not None and (
                in_words(questions.spec, row) or self._read(row, text).flags
            ):
                return Prediction(text, reason=Reason(reason))
        read = self._read(row, texts[0])
        if not read.flags:
            letter = (read.parsed or {}).get("answer")
            wrong = letter is not None and letter != row.get("answer")
            self.kept.note_answer(row, question, texts[0], replies[0].replies[-1].at, wrong=wrong)
        return read

    async def _answer(self, row: Row, question: Sequence[Message], vote: int) -> AskResult[str]:
        outdated = await self.asker.cache.aside(
            passed_over, self.asker, self.options.earlier, row["id"], question, vote
        )
        return await self.asker.finish(await self.kept.cursor(question, vote, outdated))

    def _reads_as(self, row: Row, text: str) -> object:
        read = self._read(row, text)
        return (
            (read.parsed or {}).get("text", text)
            if in_words(self.questions.spec, row)
            else read.parsed
        )

    def _read(self, row: Row, text: str) -> Prediction:
        return answered(self.questions.spec, text, row.get("options", ()), timing(row))


# --- questions of an earlier result asked again
# -----------------------------------------------------------------------


def passed_over(
    asker: Asker, earlier: EarlierResult | None, name: str, messages: Sequence[Message], vote: int
) -> Outdated | None:
    """Return the rule by which a reply in the cache is passed over for a question; None where it is as usual.

    What is no whole answer is passed over each time. An answer that was one is, with all replies
    before it, passed over once: the next reply counts, even if it is the same, so the same command
    again pays for nothing.
    """
    if earlier is None:
        return None
    sample = earlier.samples[name]
    if sample.state == "unscored":
        return lambda stored: stored.reply.raw is None or unfinished(stored.reply) is not None
    before = [reply.raw for reply in asker.cached_replies(messages, vote=vote)]
    texts = sample.candidates or [sample.prediction]
    text = texts[vote] if vote < len(texts) else None
    old = iter(before[: before.index(text) + 1] if text in before else ())
    return lambda _: next(old, None) is not None


def judged_again(
    questions: QuestionSet, options: Options, earlier: EarlierResult
) -> list[Evaluation]:
    """Ask the judge again about the answers that another model than its usual one judged -> one evaluation."""
    then = earlier.result
    settings = questions.settings().model_copy(update={"candidates": then.settings.candidates})
    earlier.refuse_unlike(
        questions.questions, then.model.id, settings, judge=options.judge, known=questions.ids
    )
    most = most_returned(earlier.samples)

    if options.judge is not None:
        judges: list[JudgeOptions] = []
        for judge in options.judge.members:
            usual = most.get(judge.model, most.get(None))
            outdated = usual and (lambda stored, usual=usual: stored.reply.returned != usual)
            judges.append(replace(judge, outdated=outdated or None))
        options = replace(options, judge=replace(judges[0], others=tuple(judges[1:])))
    settings = settings.model_copy(update={"generation": then.settings.generation})
    return [questions.score({}, {}, options, model=then.model, settings=settings)]
