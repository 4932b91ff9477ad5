"""Agentic Choice Enhancement (MovieCORE, section 5): a ranker's choice as a result of its own, beside its controls.

What the choice is worth shows only beside what else the same candidates give: the first, one at
random, the longest, and the best by the judge. The model under test is never run again.

Candidates are ranked by a small language model (`scoring.candidates`): each in a request of its
own, or all in one. The question, where it is known, and the candidates stand verbatim in the user
message. Replies are kept as they come, so a run that ended early goes on where it was, and equal
requests are asked once.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from importlib import resources
from statistics import fmean
from typing import TYPE_CHECKING, Any, get_args

from reelbench.base.errors import InputError
from reelbench.base.languages import words
from reelbench.base.progress import Bar, no_bar
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.ask_result import REJECTED, UNPARSABLE, AskResult, Read
from reelbench.llm.asker import Asker
from reelbench.llm.budget import Tally
from reelbench.llm.material import PromptFiles, mark_pieces
from reelbench.llm.messages import Message
from reelbench.llm.reading import UnreadableError
from reelbench.llm.runner import Runner
from reelbench.methods.candidates import CandidateSet, CandidateTable, with_texts
from reelbench.registry.records import RankerRecord
from reelbench.scoring import candidates as choice
from reelbench.scoring import text_overlap
from reelbench.scoring.candidates import HIGH, LOW, Mode, shuffled_order, stated_number
from reelbench.tasks.score import Answers, Evaluation, Options, evaluation

if TYPE_CHECKING:
    from reelbench.registry.records import Metrics

MODES: tuple[Mode, ...] = get_args(Mode)
_PROMPTS = PromptFiles(resources.files("reelbench.studio").joinpath("prompts", "ace"))

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
        digest = sha256(_PROMPTS.text(f"{self.mode}.txt").encode()).hexdigest()
        sampling = self.model.sampling({}) or None
        return RankerRecord(
            model=self.model.model,
            k=k,
            mode=self.mode,
            votes=self.votes,
            prompt_sha256=digest,
            sampling=sampling,
        )

    def request(self, case: CandidateSet, index: int, vote: int) -> tuple[list[Message], Read[int]]:
        """Return the request of one vote, and the reader of its reply: on one candidate, or listwise on all of them.

        Listwise, each vote has an order of its own.
        """
        count = len(case.candidates)
        material = [("question", case.question)] if case.question.strip() else []
        if self.mode == "pointwise":
            material.append(("candidate", case.candidates[index]))
            read, scale = stated_number, f"{LOW} to {HIGH}"
        else:
            order = shuffled_order(case.id, count, vote)
            material += [
                (f"candidate_{place}", case.candidates[n]) for place, n in enumerate(order, start=1)
            ]
            read, scale = partial(stated_number, low=1, high=count, top=None), f"1 to {count}"

        def number(reply: str) -> int:
            if (found := read(reply)) is None:
                raise UnreadableError(f"it is not one whole number from {scale}, with nothing else")
            return found

        mark, text = mark_pieces(material)
        system = _PROMPTS.text(f"{self.mode}.txt").format(mark=mark, count=count)
        return [{"role": "system", "content": system}, {"role": "user", "content": text}], number


Ranked = tuple[dict[str, list[list[str | None]]], Tally]
"""The replies by question id (as `scoring.candidates.Replies`), and what asking came to."""


def rank(
    cases: Sequence[CandidateSet], ranker: Ranker, *, note: Callable[[str], None], bar: Bar = no_bar
) -> Ranked:
    """Ask the ranker about all candidates; ReelbenchError where replies can't be had now (what came is kept)."""
    asker = Asker(
        ranker.model,
        {"max_tokens": _LOCAL_TOKENS} if ranker.model.local else None,
        on_note=note,
        tells=True,
    )

    async def reply(case: CandidateSet, index: int, vote: int) -> str | None:
        messages, read = ranker.request(case, index, vote)
        asked: AskResult[int] = await asker.ask(messages, read, vote=vote, again=_PROMPTS.retry)
        if asked.reason not in (None, UNPARSABLE, REJECTED):
            runner.lacking[str(asked.reason)] += 1
        return asked.replies[-1].reply.raw if asked.replies else None

    async def replies(case: CandidateSet) -> list[list[str | None]]:
        several, votes = (
            range(len(case.candidates) if ranker.mode == "pointwise" else 1),
            range(ranker.votes),
        )
        return await asyncio.gather(
            *(asyncio.gather(*(reply(case, n, vote) for vote in votes)) for n in several)
        )

    with bar(f"ranking by {ranker.model.model}", len(cases)) as show:
        runner = Runner([asker], show)
        ranked = loop.run(runner.results(cases, replies))
    runner.check("of the ranker's replies are lacking", "the ranker gave no reply")
    return {case.id: given for case, given in zip(cases, ranked, strict=True)}, asker.tally


CONTROLS = ("first", "random", "longest", "ace", "oracle")


class Enhancement:
    """A ranker's choice among each question's candidates, and what else the same candidates give."""

    def __init__(
        self, cases: Sequence[CandidateSet], ranker: Ranker, ranked: Ranked, answers: Answers | None
    ) -> None:
        self.cases, self.ranker, self.answers = cases, ranker, answers
        self.replies, self.tally = ranked
        self.choices = {
            case.id: choice.choose(
                ranker.mode, case.id, len(case.candidates), self.replies[case.id]
            )
            for case in cases
        }

        self.chosen = {name: made.index for name, made in self.choices.items()}
        """Question id -> the index of what was chosen."""
        self.k = max(len(case.candidates) for case in cases)
        """Candidates of the question with the most."""

    def document(self, controls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the document of `--json`."""
        made, taken = self.choices.values(), self.tally.record_fields()
        alike = [
            value
            for case in self.cases
            if (value := choice.similarity(case.candidates)) is not None
        ]
        return {
            "k": self.k,
            "chosen": self.chosen,
            "ties": sum(one.tied for one in made),
            "unparsed": sum(one.unparsed for one in made),
            "not_first": sum(one.index != 0 for one in made),
            "controls": controls,
            "questions": len(self.cases),
            "candidates": sum(len(case.candidates) for case in self.cases),
            "similarity": fmean(alike) if alike else None,
            "ranker": {
                **self.ranker.record(self.k).model_dump(mode="json"),
                **{name: taken[name] for name in ("returned", "calls", "cached")},
            },
        }

    def evaluation(self, answers: Answers, options: Options) -> Evaluation:
        """Return the chosen answers, scored: a model of its own beside the one that gave the candidates."""
        texts = {case.id: case.candidates[self.chosen[case.id]] for case in self.cases}
        kept = {
            case.id: {"candidates": list(case.candidates), "ranker_replies": self.replies[case.id]}
            for case in self.cases
        }
        nothing = {"candidates": None, "ranker_replies": None}
        items = [
            item.model_copy(update=kept.get(item.id, nothing))
            for item in with_texts(answers, texts)
        ]
        enhanced = replace(
            answers,
            submission=replace(answers.submission, items=items),
            model=answers.model.model_copy(update={"id": f"{answers.model.id} + ACE"}),
            settings=answers.settings.model_copy(update={"ranker": self.ranker.record(self.k)}),
        )
        result = evaluation(enhanced, options)
        unread = choice.unread(self.ranker.mode, result.scored.samples)
        beside = {**result.scored.beside, "unread_candidates": unread}
        return replace(result, scored=replace(result.scored, beside=beside))

    def controls(self, options: Options) -> dict[str, dict[str, Any]]:
        """Return each control's metrics and mean words.

        Every candidate is judged where a judge is named, so that the best one is known (`oracle`);
        without one, and without a benchmark, what needs either is left out.
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
                # As many random choices as there are candidates, which together take each candidate
                # equally often: so their mean is that of all random choices, for everything that is
                # a mean over items.
                orders = {
                    case.id: choice.shuffled_order(f"random {case.id}", len(case.candidates))
                    for case in self.cases
                }
                draws = [
                    {name: order[n % len(order)] for name, order in orders.items()}
                    for n in range(self.k)
                ]
                metrics["random"] = table.random(draws)
        lengths = {
            name: fmean(counts[key][index] for key, index in indices.items())
            for name, indices in picks.items()
        }
        lengths["random"] = fmean(fmean(each) for each in counts.values())
        return {
            name: {
                "metrics": {
                    key: value.model_dump(mode="json")
                    for key, value in metrics.get(name, {}).items()
                },
                "mean_words": lengths[name],
            }
            for name in CONTROLS
            if name in lengths
        }

    @property
    def name(self) -> str:
        """A name for the choice's folder: the same for the same ranker and the same choice."""
        digest = sha256(
            repr((self.ranker.record(self.k), sorted(self.chosen.items()))).encode(
                "utf-8", "replace"
            )
        )
        return f"ace-{self.ranker.mode}-k{self.k}-{digest.hexdigest()[:12]}"
