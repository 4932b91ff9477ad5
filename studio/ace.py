"""Agentic Choice Enhancement (MovieCORE, section 5): a ranker's choice as a result of its own, beside its controls.

What the choice is worth shows only beside what else the same candidates give: the first, one at random, the longest,
and the best by the judge. The model under test is never run again.

Candidates are ranked by a small language model (`scoring.candidates`): each in a request of its own, or all in one. The
question, where it is known, and the candidates stand verbatim in the user message. Replies are kept as they come, so a
run that ended early goes on where it was, and equal requests are asked once.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from hashlib import sha256
from importlib import resources
from statistics import fmean
from typing import TYPE_CHECKING, Any, get_args

from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import REJECTED, UNPARSABLE, AskResult, Read
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Tally
from reelbench.llm.material import PromptFiles, marked
from reelbench.llm.messages import Message
from reelbench.llm.reading import UnreadableError
from reelbench.llm.runner import Runner
from reelbench.methods.candidates import CandidateSet, CandidateTable, with_texts
from reelbench.registry.errors import InputError
from reelbench.registry.languages import words
from reelbench.registry.progress import Bar, no_bar
from reelbench.registry.records import RankerRecord
from reelbench.scoring import candidates as choice
from reelbench.scoring import text_overlap
from reelbench.scoring.candidates import HIGH, LOW, Mode, place_of, score_of, shuffled
from reelbench.tasks.score import Answers, Evaluation, Options, evaluation

if TYPE_CHECKING:
    from reelbench.registry.records import Metrics

MODES: tuple[Mode, ...] = get_args(Mode)

_LOCAL_TOKENS = 32  # a server's model ends by itself; one in this process may never, and is not billed by the token


@dataclass(frozen=True, slots=True)
class Ranker:
    """The model that ranks, and how it is asked."""

    model: AskOptions
    mode: Mode = "pointwise"
    votes: int = 1

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(f"--mode: {self.mode!r} is neither {' nor '.join(MODES)}")

    def record(self, k: int) -> RankerRecord:
        """Return the record, for a result's settings, of a choice among `k` candidates."""
        digest = sha256(_prompts().text(f"{self.mode}.txt").encode()).hexdigest()
        return RankerRecord(
            model=self.model.model,
            k=k,
            mode=self.mode,
            votes=self.votes,
            prompt_sha256=digest,
            sampling=self.model.sampling({}) or None,
        )


Ranked = tuple[dict[str, list[list[str | None]]], Tally]
"""The replies by question id (as `scoring.candidates.Replies`), and what asking came to."""


def rank(cases: Sequence[CandidateSet], ranker: Ranker, *, note: Callable[[str], None], bar: Bar = no_bar) -> Ranked:
    """Ask the ranker about all candidates; `note` is told each line that the user should know.

    Raises:
        ReelbenchError: Some replies can't be had now; what came is kept.
    """
    asker = Asker(ranker.model, {"max_tokens": _LOCAL_TOKENS} if ranker.model.local else None, on_note=note, tells=True)

    async def reply(messages: list[Message], read: Read[int], vote: int) -> str | None:
        asked: AskResult[int] = await asker.ask(messages, read, vote=vote, again=_prompts().again)
        if asked.reason not in (None, UNPARSABLE, REJECTED):
            runner.lacking[str(asked.reason)] += 1
        return asked.replies[-1].reply.raw if asked.replies else None

    async def replies(case: CandidateSet) -> list[list[str | None]]:
        requests: list[list[Message] | None] = [None]
        if ranker.mode == "pointwise":
            requests = [_messages("pointwise", case.question, [("candidate", text)]) for text in case.candidates]
        return await asyncio.gather(
            *(
                asyncio.gather(*(reply(*_request(case, request, vote), vote) for vote in range(ranker.votes)))
                for request in requests
            )
        )

    with bar(f"ranking by {ranker.model.model}", len(cases)) as show:
        runner = Runner([asker], show)
        ranked = loop.run(runner.results(cases, replies))
    runner.check("of the ranker's replies are lacking", "the ranker gave no reply")
    return {case.id: given for case, given in zip(cases, ranked, strict=True)}, asker.tally


def _request(case: CandidateSet, messages: list[Message] | None, vote: int) -> tuple[list[Message], Read[int]]:
    """Return the request of one vote, and the reader of its reply; listwise, each vote has an order of its own."""
    if messages is not None:
        return messages, partial(_number, read=score_of, scale=f"{LOW} to {HIGH}")
    count = len(case.candidates)
    order = shuffled(case.id, count, vote)
    numbered = [(f"candidate_{place}", case.candidates[n]) for place, n in enumerate(order, start=1)]
    read = partial(_number, read=lambda reply: place_of(reply, count), scale=f"1 to {count}")
    return _messages("listwise", case.question, numbered, count=count), read


def _number(reply: str, *, read: Read[int], scale: str) -> int:
    number = read(reply)
    if number is None:
        raise UnreadableError(f"it is not one whole number from {scale}, with nothing else")
    return number


def _messages(prompt: str, question: str, candidates: list[tuple[str, str]], **places: object) -> list[Message]:
    mark, text = marked([*([("question", question)] if question.strip() else []), *candidates])
    system = _prompts().text(f"{prompt}.txt").format(mark=mark, **places)
    return [{"role": "system", "content": system}, {"role": "user", "content": text}]


@cache
def _prompts() -> PromptFiles:
    return PromptFiles(resources.files("reelbench.studio").joinpath("prompts", "ace"))


CONTROLS = ("first", "random", "longest", "ace", "oracle")


class Enhancement:
    """A ranker's choice among each question's candidates, and what else the same candidates give."""

    def __init__(self, cases: Sequence[CandidateSet], ranker: Ranker, ranked: Ranked, answers: Answers | None) -> None:
        self.cases, self.ranker, self.answers = cases, ranker, answers
        self.replies, self.tally = ranked
        self.choices = {
            case.id: choice.chosen(ranker.mode, case.id, len(case.candidates), self.replies[case.id]) for case in cases
        }

    @cached_property
    def k(self) -> int:
        """Candidates of the question with the most."""
        return max(len(case.candidates) for case in self.cases)

    @cached_property
    def chosen(self) -> dict[str, int]:
        """Question id -> the index of what was chosen."""
        return {name: made.index for name, made in self.choices.items()}

    def document(self, controls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the document of `--json`."""
        taken = self.tally.taken()
        alike = [value for case in self.cases if (value := choice.similarity(case.candidates)) is not None]
        return {
            "k": self.k,
            "chosen": self.chosen,
            "ties": sum(made.tied for made in self.choices.values()),
            "unparsed": sum(made.unparsed for made in self.choices.values()),
            "not_first": sum(index != 0 for index in self.chosen.values()),
            "controls": controls,
            "questions": len(self.cases),
            "candidates": sum(len(case.candidates) for case in self.cases),
            "similarity": fmean(alike) if alike else None,
            "ranker": {
                **self.ranker.record(self.k).model_dump(mode="json"),
                **{name: taken[name] for name in ("returned", "calls", "cached")},
            },
        }

    def evaluation(self, options: Options) -> Evaluation:
        """Return the chosen answers, scored: a model of its own beside the one that gave the candidates."""
        answers = self.answers
        if answers is None:
            raise InputError("the candidates of no benchmark have no scores; name it with --benchmark")
        texts = {case.id: case.candidates[self.chosen[case.id]] for case in self.cases}
        kept = {case.id: list(case.candidates) for case in self.cases}
        items = [
            item.model_copy(update={"candidates": kept.get(item.id), "ranker_replies": self.replies.get(item.id)})
            for item in with_texts(answers, texts)
        ]
        result = evaluation(
            replace(
                answers,
                submission=replace(answers.submission, items=items),
                model=answers.model.model_copy(update={"id": f"{answers.model.id} + ACE"}),
                settings=answers.settings.model_copy(update={"ranker": self.ranker.record(self.k)}),
            ),
            options,
        )
        counts = result.scored.counts.model_copy(
            update={"unread_candidates": choice.unread(self.ranker.mode, result.scored.samples)}
        )
        return replace(result, scored=replace(result.scored, counts=counts))

    def controls(self, options: Options) -> dict[str, dict[str, Any]]:
        """Return each control's metrics and mean words.

        Every candidate is judged where a judge is named, so that the best one is known (`oracle`); without one, and
        without a benchmark, what needs either is left out.
        """
        picks = {
            "first": dict.fromkeys(self.chosen, 0),
            "longest": {case.id: choice.longest(case.candidates) for case in self.cases},
            "ace": self.chosen,
        }
        table = CandidateTable(self.answers, self.cases, options) if self.answers else None
        if table is not None and (oracle := table.oracle()) is not None:
            picks["oracle"] = oracle
        counts = {case.id: [len(words(text)) for text in case.candidates] for case in self.cases}
        metrics: dict[str, Metrics] = {}
        if table is not None:
            with text_overlap.one_meteor():
                metrics = {name: table.metrics(indices) for name, indices in picks.items()}
                # As many random choices as there are candidates, which together take each candidate equally often: so
                # their mean is that of all random choices, for everything that is a mean over items.
                orders = {case.id: choice.shuffled(f"random {case.id}", len(case.candidates)) for case in self.cases}
                draws = [{name: order[n % len(order)] for name, order in orders.items()} for n in range(self.k)]
                metrics["random"] = table.random(draws)
        lengths = {name: fmean(counts[key][index] for key, index in indices.items()) for name, indices in picks.items()}
        lengths["random"] = fmean(fmean(each) for each in counts.values())
        return {
            name: {
                "metrics": {key: value.model_dump(mode="json") for key, value in metrics.get(name, {}).items()},
                "mean_words": lengths[name],
            }
            for name in CONTROLS
            if name in lengths
        }

    @property
    def name(self) -> str:
        """A name for the choice's folder: the same for the same ranker and the same choice."""
        digest = sha256(repr((self.ranker.record(self.k), sorted(self.chosen.items()))).encode("utf-8", "replace"))
        return f"ace-{self.ranker.mode}-k{self.k}-{digest.hexdigest()[:12]}"
