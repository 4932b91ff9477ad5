"""The loop: a model answers, its answers are judged and tagged, and what it still got wrong is asked again with a cue.

A round is asked of all questions that are still open at once. What has ended on disk is never done again: a round that
is over is read, a run of the model that has ended is read, and replies of the tagger come from the cache.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.llm import loop
from reelbench.llm.runner import Runner
from reelbench.registry.errors import ReelbenchError
from reelbench.registry.files import write_jsonl
from reelbench.registry.progress import Bar, no_bar
from reelbench.registry.reasons import Reason
from reelbench.studio.diagnosis import asking
from reelbench.studio.diagnosis.folder import CUES, Attempt, Folder, ReasonedQuestion, keep_answers
from reelbench.studio.evidence.graphs import Graph
from reelbench.studio.evidence.isolation import ROUNDS, Round, Stop, advance, stopped

_ENDS: dict[str, Stop] = {
    Reason.MODEL_FAILED: "model_failed",
    Reason.CUT_OFF: "model_failed",
    Reason.REFUSED: "model_failed",
    Reason.MEDIA_MISSING: "media_missing",
    Reason.MEDIA_UNREADABLE: "media_missing",
}
"""Why there is no answer -> why the question ends."""

UNREAD: frozenset[Stop] = frozenset({"graph_invalid", "tagger_unparsable"})
"""Ends of a question of which no reply could be read: they are asked again where the models' options say so."""

Answer = Callable[[Path, int], Sequence[Attempt]]
"""(a run's folder with the `cues.jsonl` of what is asked, a file descriptor for child processes to hold open) -> what
came, judged; called again for a run that did not end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is diagnosed, and how."""

    questions: Sequence[ReasonedQuestion]
    """All that may be asked."""
    graphs: Mapping[str, Graph]
    """Known evidence by question; where it is missing it is made, for questions that are lost."""
    models: asking.RoleModels
    about: Mapping[str, Any]
    """What else the folder's `diagnosis.json` says."""
    votes: int = asking.VOTES
    """Replies of the tagger per attempt."""
    rounds: int = ROUNDS
    right: bool = False
    """Whether right answers are tagged too, to be counted apart."""
    skip_failed: bool = False
    """Whether a question ends where the model, or the tagger, failed on it; else the next call asks it again."""
    progress: Bar = no_bar


def isolate(plan: Plan, answer: Answer, out: Path) -> Folder:
    """Run the loop in `out`, from where it stands, until every question has ended -> the folder.

    Raises:
        InputError: The folder has another diagnosis.
        ReelbenchError: A model can't be asked now, or failed on a question; the same call goes on from there.
    """
    folder = Folder(out)
    with folder.held(plan.models.note) as lock:
        asked = plan.models.options
        sampling = {role: sent for role in asking.ROLES if role in asked and (sent := asked[role].sampling({}))}
        folder.begin(
            {
                **plan.about,
                "models": {role: asked[role].model for role in asking.ROLES if role in asked},
                **({"sampling": sampling} if sampling else {}),
                "prompts": plan.models.prompts.hashes(),
                "votes": plan.votes,
                "rounds": plan.rounds,
                **({"right": True} if plan.right else {}),
            }
        )
        history: dict[str, list[Round]] = {}
        cues = {question.id: "" for question in plan.questions}
        retry, reopened = any(model.retry_unread for model in asked.values()), False
        for number in range(1, plan.rounds + 1):
            records = None if reopened else folder.over(number)
            if records is not None and retry and any(record.stop in UNREAD for record in records):
                records, reopened = None, True  # and what follows from it
            if records is None:
                attempts = _answered(folder, number, cues, plan, lambda run: answer(run, lock))
                # Tag a round's attempts; what is found is written once every question has been dealt with.
                # A first answer that could not be judged may be right: it does not enter.
                tagged = [
                    attempt
                    for attempt in attempts.values()
                    if number > 1 or attempt.right is False or attempt.reason in _ENDS or (plan.right and attempt.right)
                ]
                tagging = _Tagging(plan, history, dict(folder.graphs if number > 1 else plan.graphs))
                with plan.progress(f"round {number}", len(tagged)) as show:
                    runner = Runner(tagging.askers.values(), show)
                    records = loop.run(runner.results(tagged, tagging.record))
                if not plan.skip_failed:
                    asking.check_answered(tagging.lacking.values(), "questions")
                if number == 1:
                    folder.keep_questions(tagging.questions[key] for key in attempts)
                    folder.keep_graphs(tagging.graphs[key] for key in attempts if key in tagging.graphs)
                folder.end(number, records, asking.spent(tagging.askers))
            for record in records:
                history.setdefault(record.id, []).append(record)
            folder.tell(record for rounds in history.values() for record in rounds)
            cues = {record.id: record.cue for record in records if record.cue is not None}
            if not cues:
                break
    return folder


def _answered(
    folder: Folder, number: int, cues: Mapping[str, str], plan: Plan, answer: Callable[[Path], Sequence[Attempt]]
) -> dict[str, Attempt]:
    """Return every question's attempt in a round: those that came, and, where some are lacking, those of a new run."""
    attempts = folder.answers(number)
    lacking = _lacking(number, cues, attempts)
    if lacking and not (attempts and plan.skip_failed):
        run = folder.run(number, folder.runs(number) + 1)
        write_jsonl(run / CUES, ({"id": key, "cue": cues[key]} for key in lacking))
        keep_answers(run, answer(run))
        attempts = folder.answers(number)
        lacking = _lacking(number, cues, attempts)
    if lacking and not plan.skip_failed:
        raise ReelbenchError(
            f"round {number}: the model failed on {len(lacking)} of {len(cues)} questions; the rest is kept: run the "
            "same command again to ask those, or with --skip-failed to leave them"
        )
    attempts |= {key: Attempt(id=key, reason=Reason.MODEL_FAILED) for key in lacking}
    return {key: attempts[key] for key in cues if key in attempts}


def _lacking(number: int, cues: Mapping[str, str], attempts: Mapping[str, Attempt]) -> list[str]:
    """Return the questions that are to be asked; what a first round left out, by lmms-eval's --limit, is not."""
    if not attempts:
        return list(cues)
    return [key for key in cues if (attempts[key].reason == Reason.MODEL_FAILED if key in attempts else number > 1)]


class _Tagging:
    """One round's tagging: fills `graphs` and, where a reply can't be had, `lacking`, by question."""

    def __init__(self, plan: Plan, history: Mapping[str, Sequence[Round]], graphs: dict[str, Graph]) -> None:
        self.questions = {question.id: question for question in plan.questions}
        self.graphs = graphs
        self.lacking: dict[str, str] = {}
        self._plan = plan
        self._history = history
        self.askers = plan.models.askers(asking.ROLES)

    async def record(self, attempt: Attempt) -> Round:
        key, plan, history = attempt.id, self._plan, self._history.get(attempt.id, ())
        if attempt.reason in _ENDS:
            return self._ended(key, _ENDS[str(attempt.reason)])
        if key not in self.graphs:
            graph = await asking.graph_of(self.questions[key], self.askers[asking.GRAPH], plan.models.prompts)
            if isinstance(graph, str):
                if graph != asking.GRAPH_INVALID:
                    self.lacking[key] = graph
                return self._ended(key, "graph_invalid")
            self.graphs[key] = graph
        if attempt.right is None or (attempt.right and not plan.right):
            return self._ended(key, "answer_right" if attempt.right else "unjudged")
        asked, graph, right = self.questions[key], self.graphs[key], attempt.right is True
        tagged = await asking.tag(
            asked, graph, history, attempt, self.askers, prompts=plan.models.prompts, votes=plan.votes
        )
        if tagged.lacking is not None:
            self.lacking[key] = tagged.lacking
            return self._ended(key, "tagger_unavailable")
        return advance(graph, history, tagged.votes, answer_right=right, rounds=plan.rounds, cues=tagged.cues)

    def _ended(self, key: str, reason: Stop) -> Round:
        history = self._history.get(key, ())
        if key not in self.graphs:
            return Round(id=key, round=len(history) + 1, nodes={}, stop=reason)
        return stopped(self.graphs[key], history, reason)
