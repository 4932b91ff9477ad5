"""Agentic Choice Enhancement (MovieCORE, section 5): choose among candidate answers by a ranker.

The choice is a result of its own, beside its controls. Its worth shows only beside other choices
among the same candidates: the first, one at random, the longest, and the best by the judge. The
model under test is never run again.

A small language model ranks the candidates (`scoring.candidates`): each in a request of its own, or
all in one. The question, where it is known, and the candidates stand verbatim in the user message.
Replies are kept as they come, so a run that ended early goes on where it was, and equal requests
are asked once.
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
from reelbench.llm.structured import Schema, score_schema
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

_LOCAL_TOKENS = 32
"""Longest reply of a model in this process.

A server's model ends by itself. One in this process may never end, and it is not billed by the
token.
"""


@dataclass(frozen=True, slots=True)
class Ranker:
    """The model that ranks, its mode, and its votes for each question."""

    model: AskOptions
    mode: Mode = "pointwise"
    votes: int = 1

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InputError(f"--mode: {self.mode!r} is neither {' nor '.join(MODES)}")

    def record(self, k: int) -> RankerRecord:
        """Return the record, for a result's settings, of a choice among `k` candidates."""
        prompt = _PROMPTS.text(f"{self.mode}.txt")
        return RankerRecord(
            model=self.model.filed_name,
            k=k,
            mode=self.mode,
            votes=self.votes,
            prompt_sha256=sha256(prompt.encode()).hexdigest(),
            sampling=self.model.sampling({}) or None,
        )

    def request(self, case: CandidateSet, index: int, vote: int) -> tuple[list[Message], Read[int]]:
        """Return the request of one vote, and the reader of its reply.

        Pointwise, the request is on the candidate at the index. Listwise, it is on all candidates,
        in an order of its own for each vote.
        """
        count = len(case.candidates)
        material: list[tuple[str, str]] = []
        if case.question.strip():
            material.append(("question", case.question))
        if self.mode == "pointwise":
            material.append(("candidate", case.candidates[index]))
            read_number = stated_number
            scale = f"{LOW} to {HIGH}"
        else:
            order = shuffled_order(case.id, count, vote)
            for place, number in enumerate(order, start=1):
                material.append((f"candidate_{place}", case.candidates[number]))
            read_number = partial(stated_number, low=1, high=count, top=None)
            scale = f"1 to {count}"

        def read(reply: str) -> int:
            number = read_number(reply)
            if number is None:
                raise UnreadableError(f"it is not one whole number from {scale}, with nothing else")
            return number

        mark, text = mark_pieces(material)
        system = _PROMPTS.text(f"{self.mode}.txt").format(mark=mark, count=count)
        messages: list[Message] = [
            {"role": "system", "content": system},
            {"role": "user", "content": text},
        ]
        return messages, read

    def schema(self, case: CandidateSet) -> Schema:
        """Return the schema of a reply on a question."""
        if self.mode == "pointwise":
            return score_schema(LOW, HIGH)
        return score_schema(1, len(case.candidates))

    def requests(self, case: CandidateSet) -> int:
        """Return the number of requests for each vote on a question."""
        return len(case.candidates) if self.mode == "pointwise" else 1


Replies = list[list[str | None]]
"""The replies on one question, by request and vote (as `scoring.candidates.Replies`)."""
Ranked = tuple[dict[str, Replies], Tally]
"""The replies by question id (as `scoring.candidates.Replies`), and the tally of the asker."""


def rank(
    cases: Sequence[CandidateSet], ranker: Ranker, *, note: Callable[[str], None], bar: Bar = no_bar
) -> Ranked:
    """Ask the ranker about all candidates.

    Raises:
        ReelbenchError: Replies can't be had now. Those that came are kept.
    """
    sampling = None
    if ranker.model.local:
        sampling = {"max_tokens": _LOCAL_TOKENS}
    asker = Asker(ranker.model, sampling, on_note=note, reports_totals=True)

    async def ask(case: CandidateSet, index: int, vote: int) -> str | None:
        messages, read = ranker.request(case, index, vote)
        schema = ranker.schema(case)
        result: AskResult[int] = await asker.ask(
            messages, read, vote=vote, again=_PROMPTS.retry, schema=schema
        )
        reason = result.reason
        if reason not in (None, UNPARSABLE, REJECTED):
            runner.note_lacking(result)
        if not result.replies:
            return None
        last_attempt = result.replies[-1]
        return last_attempt.reply.raw

    async def ask_votes(case: CandidateSet, index: int) -> list[str | None]:
        votes = [ask(case, index, vote) for vote in range(ranker.votes)]
        return await asyncio.gather(*votes)

    async def ask_all(case: CandidateSet) -> Replies:
        requests = [ask_votes(case, index) for index in range(ranker.requests(case))]
        return await asyncio.gather(*requests)

    with bar(f"ranking by {ranker.model.model}", len(cases)) as show:
        runner = Runner([asker], show)
        replies = loop.run(runner.results(cases, ask_all))
    runner.check("of the ranker's replies are missing", "the ranker gave no reply")
    ids = [case.id for case in cases]
    return dict(zip(ids, replies, strict=True)), asker.tally


CONTROLS = ("first", "random", "longest", "ace", "oracle")


class Enhancement:
    """A ranker's choice among each question's candidates, and its controls."""

    def __init__(
        self, cases: Sequence[CandidateSet], ranker: Ranker, ranked: Ranked, answers: Answers | None
    ) -> None:
        self.cases = cases
        self.ranker = ranker
        self.answers = answers
        self.replies, self.tally = ranked
        self.choices: dict[str, choice.RankedChoice] = {}
        self.chosen: dict[str, int] = {}
        """The index of the chosen candidate, by question id."""
        self.k = 0
        """Largest number of candidates of a question."""
        for case in cases:
            count = len(case.candidates)
            replies = self.replies[case.id]
            chosen = choice.choose(ranker.mode, case.id, count, replies)
            self.choices[case.id] = chosen
            self.chosen[case.id] = chosen.index
            self.k = max(self.k, count)

    def document(self, controls: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the document of `--json`."""
        choices = self.choices.values()
        similarities: list[float] = []
        candidates = 0
        for case in self.cases:
            candidates += len(case.candidates)
            similarity = choice.similarity(case.candidates)
            if similarity is not None:
                similarities.append(similarity)
        tally = self.tally.record_fields()
        mean_similarity = fmean(similarities) if similarities else None
        ranker = self.ranker.record(self.k).model_dump(mode="json")
        for name in ("returned", "calls", "cached"):
            ranker[name] = tally[name]
        return {
            "k": self.k,
            "chosen": self.chosen,
            "ties": sum(chosen.tied for chosen in choices),
            "unparsed": sum(chosen.unparsed for chosen in choices),
            "not_first": sum(chosen.index != 0 for chosen in choices),
            "controls": controls,
            "questions": len(self.cases),
            "candidates": candidates,
            "similarity": mean_similarity,
            "ranker": ranker,
        }

    def evaluation(self, answers: Answers, options: Options) -> Evaluation:
        """Return the chosen answers, scored.

        They are the answers of a model of its own, beside the one that gave the candidates.
        """
        texts: dict[str, str] = {}
        evidence: dict[str, dict[str, Any]] = {}
        for case in self.cases:
            texts[case.id] = case.candidates[self.chosen[case.id]]
            evidence[case.id] = {
                "candidates": list(case.candidates),
                "ranker_replies": self.replies[case.id],
            }
        no_evidence = {"candidates": None, "ranker_replies": None}
        items = [
            item.model_copy(update=evidence.get(item.id, no_evidence))
            for item in with_texts(answers, texts)
        ]
        name = f"{answers.model.id} + ACE"
        ranker = self.ranker.record(self.k)
        enhanced = replace(
            answers,
            submission=replace(answers.submission, items=items),
            model=answers.model.model_copy(update={"id": name}),
            settings=answers.settings.model_copy(update={"ranker": ranker}),
        )
        result = evaluation(enhanced, options)
        scored = result.scored
        unread = choice.unread(self.ranker.mode, scored.samples)
        beside = {**scored.beside, "unread_candidates": unread}
        return replace(result, scored=replace(scored, beside=beside))

    def controls(self, options: Options) -> dict[str, dict[str, Any]]:
        """Return each control's metrics and mean words.

        Every candidate is judged where a judge is named, so that the best one is known (`oracle`).
        Without a judge there is no oracle; without a benchmark there are no metrics.
        """
        longest: dict[str, int] = {}
        for case in self.cases:
            longest[case.id] = choice.longest(case.candidates)
        picks = {
            "first": dict.fromkeys(self.chosen, 0),
            "longest": longest,
            "ace": self.chosen,
        }
        metrics: dict[str, Metrics] = {}
        if self.answers:
            table = CandidateTable(self.answers, self.cases, options)
            oracle = table.oracle()
            if oracle is not None:
                picks["oracle"] = oracle
            with text_overlap.one_meteor():
                for name, indices in picks.items():
                    metrics[name] = table.metrics(indices)
                metrics["random"] = table.random(self._random_draws())
        mean_words = self._mean_words(picks)
        controls: dict[str, dict[str, Any]] = {}
        for name in CONTROLS:
            if name not in mean_words:
                continue
            values: dict[str, Any] = {}
            for key, value in metrics.get(name, {}).items():
                values[key] = value.model_dump(mode="json")
            controls[name] = {"metrics": values, "mean_words": mean_words[name]}
        return controls

    def _random_draws(self) -> list[dict[str, int]]:
        """Return as many random choices as there are candidates.

        Together they take each candidate equally often. So their mean is that of all random
        choices, for everything that is a mean over items.
        """
        draws: list[dict[str, int]] = []
        for number in range(self.k):
            draw: dict[str, int] = {}
            for case in self.cases:
                count = len(case.candidates)
                order = choice.shuffled_order(f"random {case.id}", count)
                draw[case.id] = order[number % count]
            draws.append(draw)
        return draws

    def _mean_words(self, picks: Mapping[str, Mapping[str, int]]) -> dict[str, float]:
        """Return the mean words of each control's answers, and of random ones."""
        word_counts: dict[str, list[int]] = {}
        for case in self.cases:
            word_counts[case.id] = [len(words(text)) for text in case.candidates]
        means: dict[str, float] = {}
        for name, indices in picks.items():
            picked_counts: list[int] = []
            for question, index in indices.items():
                picked_counts.append(word_counts[question][index])
            means[name] = fmean(picked_counts)
        means_by_question = map(fmean, word_counts.values())
        means["random"] = fmean(means_by_question)
        return means

    @property
    def name(self) -> str:
        """The name of the choice's folder, the same for an equal choice."""
        identity = (self.ranker.record(self.k), sorted(self.chosen.items()))
        digest = sha256(repr(identity).encode("utf-8", "replace")).hexdigest()
        return f"ace-{self.ranker.mode}-k{self.k}-{digest[:12]}"
