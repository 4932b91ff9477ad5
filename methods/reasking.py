"""Questions of an earlier result asked again: which replies in the cache are passed over, and a judge asked again."""

from collections.abc import Sequence
from dataclasses import replace

from reelbench.judges.judge_options import JudgeOptions
from reelbench.llm.asker import Asker
from reelbench.llm.messages import Message
from reelbench.llm.retry_cursor import Outdated, unfinished
from reelbench.methods.questions import QuestionSet
from reelbench.registry.records import Sample
from reelbench.tasks.earlier import EarlierResult, most_returned
from reelbench.tasks.score import Evaluation, Options


def passed_over(
    asker: Asker, earlier: EarlierResult | None, name: str, messages: Sequence[Message], vote: int
) -> Outdated | None:
    """Return what says of a reply in the cache that it is not taken for a question; None where it is as usual.

    What is no whole answer is passed over each time. An answer that was one is, with all replies before it, passed over
    once: the next reply counts, even if it is the same, so the same command again pays for nothing.
    """
    if earlier is None:
        return None
    sample = earlier.samples[name]
    if sample.state == "unscored":
        return lambda stored: stored.reply.raw is None or unfinished(stored.reply) is not None
    before = [reply.raw for reply in asker.cached(messages, vote=vote)]
    text = _answer(sample, vote)
    old = iter(before[: before.index(text) + 1] if text in before else ())
    return lambda _: next(old, None) is not None


def _answer(sample: Sample, vote: int) -> str | None:
    texts = sample.candidates or [sample.prediction]
    return texts[vote] if vote < len(texts) else None


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
    again = questions.scored(
        {},
        {},
        options,
        model=then.model,
        settings=settings.model_copy(update={"generation": then.settings.generation}),
    )
    return [again]
