"""The loop: a model answers, its answers are tagged, and its errors are asked again with a cue.

A round is asked of all questions that are still open at once. What has ended on disk is never done
again: a round that is over is read, a run of the model that has ended is read, and replies of the
tagger come from the cache.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import ReelbenchError
from reelbench.base.files import write_jsonl
from reelbench.base.progress import Bar, no_bar
from reelbench.llm import loop
from reelbench.llm.runner import Runner
from reelbench.registry.reasons import Reason
from reelbench.studio.diagnosis import asking
from reelbench.studio.diagnosis.folder import (
    ANSWERS,
    CUES,
    Attempt,
    Folder,
    ReasonedQuestion,
    write_records,
)
from reelbench.studio.evidence.graphs import Graph
from reelbench.studio.evidence.isolation import ROUNDS, Round, Stop, next_round, stopped_round

_ENDS: dict[str, Stop] = {
    Reason.MODEL_FAILED: "model_failed",
    Reason.CUT_OFF: "model_failed",
    Reason.REFUSED: "model_failed",
    Reason.ENDED_UNKNOWN: "model_failed",
    Reason.MEDIA_NOT_SEEN: "model_failed",
    Reason.PROMPT_CUT: "model_failed",
    Reason.MEDIA_MISSING: "media_missing",
    Reason.MEDIA_UNREADABLE: "media_missing",
}
"""Reason why there is no answer -> end of the question."""

UNREAD: frozenset[Stop] = frozenset({"graph_invalid", "tagger_unparsable"})
"""Ends of a question without a readable reply: asked again where the models' options say so."""

Answer = Callable[[Path, int], Sequence[Attempt]]
"""Asks the model, and returns the judged answers.

It takes a run's folder, with the `cues.jsonl` of the questions, and a file descriptor for child
processes to hold open. It is called again for a run that did not end.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The questions of a diagnosis, the models, and the settings."""

    questions: Sequence[ReasonedQuestion]
    """All that may be asked."""
    graphs: Mapping[str, Graph]
    """Known evidence by question; where it is missing it is made, for questions that are lost."""
    models: asking.RoleModels
    about: Mapping[str, Any]
    """Further fields of the folder's `diagnosis.json`."""
    votes: int = asking.VOTES
    """Replies of the tagger per attempt."""
    rounds: int = ROUNDS
    right: bool = False
    """True to tag right answers too, to be counted apart."""
    skip_failed: bool = False
    """True to end a question on which the model or the tagger failed; else it is asked again."""
    progress: Bar = no_bar

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the diagnosis, as its folder records them."""
        models: dict[str, str] = {}
        sampling: dict[str, Any] = {}
        for role in asking.ROLES:
            options = self.models.options.get(role)
            if options is None:
                continue
            models[role] = options.filed_name
            role_sampling = options.sampling({})
            if role_sampling:
                sampling[role] = role_sampling
        settings: dict[str, Any] = {**self.about, "models": models}
        if sampling:
            settings["sampling"] = sampling
        settings |= {
            "prompts": self.models.prompts.hashes(),
            "votes": self.votes,
            "rounds": self.rounds,
        }
        if self.right:
            settings["right"] = True
        return settings

    @property
    def retries_unread(self) -> bool:
        """True where a model's options ask again for replies that could not be read."""
        return any(options.retry_unread for options in self.models.options.values())


def isolate(plan: Plan, answer: Answer, out: Path) -> Folder:
    """Run the loop in `out`, from where it stands, until every question has ended.

    Raises:
        InputError: The folder has another diagnosis.
        ReelbenchError: A model can't be asked now, or failed on a question. The same call goes on
            from there.
    """
    folder = Folder(out)
    with folder.locked(plan.models.note) as lock:
        folder.begin(plan.settings)
        history: dict[str, list[Round]] = {}
        cues = {question.id: "" for question in plan.questions}
        reopened = False
        for number in range(1, plan.rounds + 1):
            records = None if reopened else folder.over(number)
            if records is not None and plan.retries_unread and _has_unread(records):
                # The rounds that follow from this one are done again, too.
                reopened = True
                records = None
            if records is None:
                new_round = _NewRound(plan, folder, number, cues, history)
                records = new_round.run(lambda run: answer(run, lock))
            for record in records:
                history.setdefault(record.id, []).append(record)
            folder.tell(chain.from_iterable(history.values()))
            cues = {record.id: record.cue for record in records if record.cue is not None}
            if not cues:
                break
    return folder


def _has_unread(records: Iterable[Round]) -> bool:
    return any(record.stop in UNREAD for record in records)


class _Attempts(NamedTuple):
    """The attempts of a round, and the questions on which the model failed."""

    attempts: dict[str, Attempt]
    lacking: list[str]


class _NewRound:
    """A round that is not over: its questions are asked and tagged.

    Args:
        plan: The diagnosis.
        folder: Its folder.
        number: The round's number.
        cues: Question id -> the words that the model is told.
        history: The rounds before, by question.
    """

    def __init__(
        self,
        plan: Plan,
        folder: Folder,
        number: int,
        cues: Mapping[str, str],
        history: Mapping[str, Sequence[Round]],
    ) -> None:
        self._plan = plan
        self._folder = folder
        self._number = number
        self._cues = cues
        self._history = history

    def run(self, answer: Callable[[Path], Sequence[Attempt]]) -> list[Round]:
        """Ask and tag the round, write that it is over, and return its records."""
        attempts = self._attempts_by_question(answer)
        is_first = self._number == 1
        known_graphs = self._plan.graphs if is_first else self._folder.graphs
        graphs = dict(known_graphs)
        tagging = _Tagging(self._plan, self._number, self._history, graphs)
        records = tagging.run(attempts.values())
        if is_first:
            questions = {question.id: question for question in self._plan.questions}
            round_questions = [questions[key] for key in attempts]
            round_graphs = [graphs[key] for key in attempts if key in graphs]
            self._folder.keep(round_questions, round_graphs)
        self._folder.end(self._number, records, asking.spent(tagging.askers))
        return records

    def _attempts_by_question(
        self, answer: Callable[[Path], Sequence[Attempt]]
    ) -> dict[str, Attempt]:
        """Return every question's attempt, from disk or from a new run."""
        attempts, lacking = self._attempts_on_disk()
        if lacking and not (attempts and self._plan.skip_failed):
            run_number = self._folder.runs(self._number) + 1
            run = self._folder.run(self._number, run_number)
            cue_rows = [{"id": key, "cue": self._cues[key]} for key in lacking]
            write_jsonl(run / CUES, cue_rows)
            write_records(run / ANSWERS, answer(run))  # the mark that it has ended
            attempts, lacking = self._attempts_on_disk()
        if lacking and not self._plan.skip_failed:
            raise ReelbenchError(
                f"round {self._number}: the model failed on {len(lacking)} of {len(self._cues)} "
                "questions; the other answers are saved: run the same command again to ask "
                "these, or with --skip-failed to skip them"
            )
        for key in lacking:
            attempts[key] = Attempt(id=key, reason=Reason.MODEL_FAILED)
        return {key: attempts[key] for key in self._cues if key in attempts}

    def _attempts_on_disk(self) -> _Attempts:
        attempts = self._folder.answers(self._number)
        if not attempts:
            return _Attempts({}, list(self._cues))
        lacking: list[str] = []
        for key in self._cues:
            if key in attempts:
                failed = attempts[key].reason == Reason.MODEL_FAILED
            else:
                # What a first round left out, by lmms-eval's --limit, is not asked.
                failed = self._number > 1
            if failed:
                lacking.append(key)
        return _Attempts(attempts, lacking)


class _Tagging:
    """Tags the attempts of a round.

    Graphs that are made are added to `graphs`.
    """

    def __init__(
        self,
        plan: Plan,
        number: int,
        history: Mapping[str, Sequence[Round]],
        graphs: dict[str, Graph],
    ) -> None:
        self._plan = plan
        self._number = number
        self._history = history
        self._graphs = graphs
        self._questions = {question.id: question for question in plan.questions}
        self._prompts = plan.models.prompts
        self._lacking: dict[str, str] = {}
        self.askers = plan.models.askers(asking.ROLES)

    def run(self, attempts: Iterable[Attempt]) -> list[Round]:
        """Return the records of the round.

        Raises:
            ReelbenchError: A reply can't be had now. Every question has been dealt with by then.
        """
        entering = [attempt for attempt in attempts if self._is_tagged_or_last(attempt)]
        with self._plan.progress(f"round {self._number}", len(entering)) as show:
            runner = Runner(self.askers.values(), show)
            records = loop.run(runner.results(entering, self._tag_attempt))
        if not self._plan.skip_failed:
            asking.check_answered(self._lacking.values(), "questions")
        return records

    def _is_tagged_or_last(self, attempt: Attempt) -> bool:
        """Return True where an attempt is tagged, or ends its question.

        A first answer that could not be judged may be right: it does not enter.
        """
        if self._number > 1 or attempt.right is False or attempt.reason in _ENDS:
            return True
        return self._plan.right and attempt.right is True

    async def _tag_attempt(self, attempt: Attempt) -> Round:
        key = attempt.id
        if attempt.reason in _ENDS:
            return self._end_question(key, _ENDS[str(attempt.reason)])
        if key not in self._graphs and not await self._make_graph(key):
            return self._end_question(key, "graph_invalid")
        if attempt.right is None:
            return self._end_question(key, "unjudged")
        if attempt.right and not self._plan.right:
            return self._end_question(key, "answer_right")
        graph = self._graphs[key]
        history = self._history.get(key, ())
        votes = await asking.tag(
            self._questions[key],
            graph,
            history,
            attempt,
            self.askers,
            prompts=self._prompts,
            votes=self._plan.votes,
        )
        if isinstance(votes, str):
            self._lacking[key] = votes
            return self._end_question(key, "tagger_unavailable")
        return next_round(
            graph,
            history,
            votes.votes,
            answer_right=attempt.right,
            rounds=self._plan.rounds,
            cues=votes.cues,
        )

    async def _make_graph(self, key: str) -> bool:
        """Add a question's graph.

        Return False where there is none.
        """
        asker = self.askers[asking.GRAPH]
        graph = await asking.graph_of(self._questions[key], asker, self._prompts)
        if isinstance(graph, Graph):
            self._graphs[key] = graph
            return True
        if graph != asking.GRAPH_INVALID:
            self._lacking[key] = graph
        return False

    def _end_question(self, key: str, reason: Stop) -> Round:
        if key not in self._graphs:
            return Round(id=key, round=self._number, nodes={}, stop=reason)
        return stopped_round(self._graphs[key], self._history.get(key, ()), reason)
