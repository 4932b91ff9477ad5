"""A served model asked a split's questions, without lmms-eval: what its `openai` adapter would send, through `llm`.

Every reply is kept as it arrives, so a run that ended early goes on where it was, and none is paid for twice.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.judges.judge_options import JudgeOptions
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions, takes_completion_limit
from reelbench.llm.ask_result import UNPARSABLE, AskResult, Outdated, unfinished
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Budget
from reelbench.llm.messages import Message
from reelbench.llm.runner import Runner
from reelbench.methods.kept import Keeping, KeptAnswers
from reelbench.methods.questions import MISSING, NOT_SHOWN, QuestionSet
from reelbench.registry import about as abouts
from reelbench.registry.credentials import without_secrets
from reelbench.registry.data.loading import named
from reelbench.registry.decoding import Candidates
from reelbench.registry.errors import DataUnavailableError, InputError, ReelbenchError, number_of
from reelbench.registry.frames.sampling import MOST_FRAMES, FrameSampling
from reelbench.registry.frames.shown import Shown
from reelbench.registry.question_ids import QuestionIds
from reelbench.registry.reasons import Reason
from reelbench.registry.records import ModelRecord
from reelbench.registry.rows import Row, timing
from reelbench.registry.strata import Strata
from reelbench.tasks.earlier import EarlierResult, most_returned
from reelbench.tasks.score import Evaluation, Options
from reelbench.tasks.submissions import Prediction, answered

if TYPE_CHECKING:
    from collections.abc import Mapping

ADAPTER = "reelbench-ask"
"""What a record of such answers has for lmms-eval's adapter."""

_MAX_NEW_TOKENS = 512


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

    Args:
        name: A benchmark, or one of its tasks.
        frames: Which frames. They go as pictures, with `as=clip` as one video that holds exactly them; `native` sends
            the video as it is. Where answers are times, pictures go with theirs, unless `times=none` is asked for.
        split: The split, if not the task's or the benchmark's default one.
        limit: Only the first so many questions.
        data: The benchmark's own data, where it isn't found by itself.
        only: These questions alone; the result is of a part then, as with a limit.
        per: In its place so many questions for each label of a field.

    Raises:
        InputError: The name, the split or the frames are none, or a limit is given beside `only`.
        DataUnavailableError: The data are not here, and can't be fetched.
    """
    if only is not None and limit is not None:
        raise InputError("--ids and --limit: give one of them")
    sampling = FrameSampling.parse(frames).with_times(named(name, split)[0].row_kind)
    stated = str(sampling)
    if sampling.decodes and sampling.form_given != "clip":
        sampling = sampling.as_images()
    elif sampling.decodes:
        stated = sampling.stated
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

    Args:
        asked: The questions.
        model: The model and how to ask it.
        options: How to score; its `note` is told what the user should know, and its `bar` how far asking has come.
            Where it has an earlier result, some of that one's questions are asked again, and no others.
        candidates: How many answers to each question, of which the first is scored and all are kept; samples only. A
            question that lacks one of them is unscored, until the same call has them all.
        budget: Shared with other runs; by default the model's own.
        keeping: What is done with answers that are kept.
        run: Number of the run among several, each of which has answers of its own.

    Returns:
        The scores. A question that the server did not answer is unscored (`model_failed`), and so is one whose answer
        ended at the limit (`cut_off`) or in a content filter (`refused`) before it said anything that can be read; of
        an open answer nobody knows that, so whatever was cut short is unscored.

    Raises:
        DataUnavailableError: No video of theirs is here.
        ReelbenchError: Nothing was answered at all, a reply can't be kept, or those that are kept are another's.
        InputError: The candidates can't be had of the model, or the earlier result was asked otherwise.
    """
    task = asked.located.task
    own = generation(model.model, task.max_new_tokens if task else _MAX_NEW_TOKENS, asked.sampling, candidates)
    record = ModelRecord(id=model.model, adapter=ADAPTER, args=without_secrets(dict(model.extra)))
    if candidates is not None and model.thinking:  # their temperature was asked for
        model = replace(model, extra={"temperature": candidates.temperature, **model.extra})
    settings = asked.settings(candidates).model_copy(
        update={"generation": model.sampling(own), "preset": options.preset, "seed": model.extra.get("seed")}
    )
    rows, revision = asked.rows, None
    if (earlier := options.earlier) is not None:
        split = asked.located.split
        earlier.check(asked.spec, split, model.model, settings, judge=options.judge, known=asked.ids)
        rows = [row for row in rows if row["id"] in earlier.ids]
        revision = earlier.result.model.revision
    else:
        said = abouts.applied(options.about, asked.spec.id, record, options.labelled(settings))
        revision = said[0].revision
        options.check_place(asked.spec, asked.located.split, *said, len(rows))
    if (line := asked.lacking_videos()) is not None:
        if all(row["id"] in asked.missing for row in rows):
            raise DataUnavailableError(line)
        options.note(line)
    if asked.sampling.times == "text" and asked.sampling.times_given is None:
        options.note(
            f"{asked.spec.id}: asks for times, so each frame goes with its own; times=none in --frames turns that off"
        )
    if (lacking := asked.check_subtitles()) is not None:
        options.note(f"{asked.spec.id}: {lacking}")
    asker = Asker(model, own, on_note=options.note, budget=budget, as_it_stands=True)
    kept = KeptAnswers(asker, keeping, revision, task.name if task else f"{asked.spec.id} {asked.located.split}")
    with options.bar(f"asking {asked.spec.id}", len(rows)) as show:
        answers = candidates.k if candidates else 1
        votes = range(run * answers, (run + 1) * answers)
        work = _Run(asked, asker, Runner([asker], show), votes, options, kept)
        loop.run(work.ask_all(rows))
    work.check(len(rows), options.note)
    record = record.model_copy(update={"about": earlier.result.model.about if earlier else None})
    scored = asked.scored(work.predictions, work.shown, options, model=record, settings=settings, beside=work.beside)
    return replace(scored, come_by=kept.record())


def generation(
    model: str, max_new_tokens: int, sampling: FrameSampling, candidates: Candidates | None = None
) -> dict[str, Any]:
    """Return the settings of a question, as lmms-eval's `openai` adapter sends them (0.7.3, `build_payload_for_index`).

    A server that takes a video is told to take as many frames of it as were asked for: all that the clip has.

    Raises:
        InputError: The candidates are beams, which no server gives, or the model takes no temperature.
    """
    if candidates is not None and candidates.temperature is None:
        raise InputError(f"{candidates}: a server gives samples only; try sample:{candidates.k},t=0.7")
    if takes_completion_limit(model):
        if candidates is not None:
            raise InputError(f"{candidates}: {model} takes no temperature, so it can't be asked for such samples")
        sent: dict[str, Any] = {"response_format": {"type": "text"}, "max_completion_tokens": max_new_tokens}
    else:
        sent = {"max_tokens": max_new_tokens, "temperature": candidates.temperature if candidates else 0}
    if sampling.decodes and sampling.form == "clip":
        sent["media_io_kwargs"] = {"video": {"num_frames": sampling.frames or MOST_FRAMES}}
    return sent


def messages(prompt: str, shown: Shown, language: str = "en", *, first: bool = False) -> list[Message]:
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
    decoding: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))  # by one thread
    predictions: dict[str, Prediction] = field(default_factory=dict[str, Prediction])
    shown: dict[str, Shown] = field(default_factory=dict[str, Shown])
    beside: dict[str, "Mapping[str, Any]"] = field(default_factory=dict[str, "Mapping[str, Any]"])

    async def ask_all(self, rows: Sequence[Row]) -> None:
        await asyncio.to_thread(lambda: self.questions.missing)  # it looks for files, once
        async with self.asker:
            await self.kept.begin()
            predictions = await self.runner.results(rows, self._prediction)
            await self.kept.check(self._reads_as)
        self.predictions = {row["id"]: made for row, made in zip(rows, predictions, strict=True)}

    def check(self, asked: int, note: Callable[[str], None]) -> None:
        """Say how many questions the server gave no answer to; ReelbenchError where it gave none at all."""
        lacking, shown = self.runner.lacking.total(), self.runner.lacking_shown
        if lacking and lacking == asked:
            why = self.runner.why_lacking("the server gave no answer")
            raise ReelbenchError(f"{why}; no question of {self.questions.spec.id} is answered ({shown})")
        if lacking:
            again = "rerun the command to continue"
            if self.runner.lacking.keys() == {UNPARSABLE}:
                again = "the replies have no text; ask once more by --only unscored --from RESULT"
            note(f"{number_of(lacking, 'question is', 'questions are')} not answered ({shown}); {again}")

    async def _prediction(self, row: Row) -> Prediction:
        questions = self.questions
        if row["id"] in questions.missing:
            return MISSING
        async with self.decoding:
            shown = await asyncio.to_thread(questions.show, row)
        if shown is None:
            return NOT_SHOWN
        self.shown[row["id"]] = shown
        language = questions.language(row)
        preset = self.options.preset
        first = preset is not None and preset.get("prompt") == "before"
        question = messages(shown.said(language) + questions.prompt(row), shown, language, first=first)
        replies = await asyncio.gather(*(self._answer(row, question, vote) for vote in self.votes))
        texts = [asked.value for asked in replies if asked.value is not None]
        if len(texts) < len(replies):
            self.runner.lacking[next(str(asked.reason) for asked in replies if asked.value is None)] += 1
            return Prediction(None, reason=Reason.MODEL_FAILED)
        self.beside[row["id"]] = _cost(replies) | {"candidates": texts if len(texts) > 1 else None}
        for text, result in zip(texts, replies, strict=True):
            reason = unfinished(result.replies[-1].reply)
            if reason is not None and (questions.spec.row_kind == "open" or self._read(row, text).flags):
                return Prediction(text, reason=Reason(reason))
        read = self._read(row, texts[0])
        if not read.flags:
            letter = (read.parsed or {}).get("answer")
            self.kept.answered(row, question, texts[0], wrong=letter is not None and letter != row.get("answer"))
        return read

    async def _answer(self, row: Row, question: Sequence[Message], vote: int) -> AskResult[str]:
        outdated = await self.asker.cache.aside(
            passed_over, self.asker, self.options.earlier, row["id"], question, vote
        )
        return await self.asker.finish(await self.kept.cursor(question, vote, outdated))

    def _reads_as(self, row: Row, text: str) -> object:
        read = self._read(row, text)
        return (read.parsed or {}).get("text", text) if self.questions.spec.row_kind == "open" else read.parsed

    def _read(self, row: Row, text: str) -> Prediction:
        return answered(self.questions.spec, text, row.get("options", ()), timing(row))


def _cost(answers: Sequence[AskResult[str]]) -> dict[str, Any]:
    """Return the tokens and seconds behind a question's answers, as its sample has them; of all answers together."""
    replies = [asked.replies[-1].reply for asked in answers]
    counts: dict[str, list[float | None]] = {
        "prompt": [reply.prompt_tokens or None for reply in replies],
        "completion": [reply.completion_tokens or None for reply in replies],
        "reasoning": [reply.reasoning_tokens for reply in replies],
        "cached": [reply.cached_tokens for reply in replies],
        "seconds": [reply.seconds for reply in replies],
    }
    known = {name: sum(filter(None, values)) for name, values in counts.items() if None not in values}
    seconds = known.pop("seconds", None)
    return {"tokens": known or None, "seconds": seconds}


# --- questions of an earlier result asked again -----------------------------------------------------------------------


def passed_over(
    asker: Asker, earlier: EarlierResult | None, name: str, messages: Sequence[Message], vote: int
) -> Outdated | None:
    """Return the rule by which a reply in the cache is passed over for a question; None where it is as usual.

    What is no whole answer is passed over each time. An answer that was one is, with all replies before it, passed over
    once: the next reply counts, even if it is the same, so the same command again pays for nothing.
    """
    if earlier is None:
        return None
    sample = earlier.samples[name]
    if sample.state == "unscored":
        return lambda stored: stored.reply.raw is None or unfinished(stored.reply) is not None
    before = [reply.raw for reply in asker.cached(messages, vote=vote)]
    texts = sample.candidates or [sample.prediction]
    text = texts[vote] if vote < len(texts) else None
    old = iter(before[: before.index(text) + 1] if text in before else ())
    return lambda _: next(old, None) is not None


def judged_again(questions: QuestionSet, options: Options, earlier: EarlierResult) -> list[Evaluation]:
    """Ask the judge again about the answers that another model than its usual one judged -> one evaluation.

    Raises:
        InputError: No judge is named, or another one, or the questions are not the result's.
    """
    then = earlier.result
    settings = questions.settings().model_copy(update={"candidates": then.settings.candidates})
    split = questions.located.split
    earlier.check(questions.spec, split, then.model.id, settings, judge=options.judge, known=questions.ids)
    most = most_returned(earlier.samples)

    def once_more(judge: JudgeOptions) -> JudgeOptions:
        usual = most.get(judge.model, most.get(None))
        return replace(judge, outdated=lambda stored: usual is not None and stored.reply.returned != usual)

    if options.judge is not None:
        first, *others = [once_more(judge) for judge in options.judge.members]
        options = replace(options, judge=replace(first, others=tuple(others)))
    settings = settings.model_copy(update={"generation": then.settings.generation})
    return [questions.scored({}, {}, options, model=then.model, settings=settings)]
