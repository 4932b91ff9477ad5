"""The loop: a model answers, its answers are judged and tagged, and what it still got wrong is asked again with a cue.

A round is asked of all questions that are still open at once. What has ended on disk is never done
again: a round that is over is read, a run of the model that has ended is read, and replies of the
tagger come from the cache.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
from reelbench.studio.evidence.isolation import ROUNDS, Round, Stop, advance, stopped_round

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
        ReelbenchError: A model can't be asked now, or failed on a question; the same call goes on
            from there.
    """
    folder = Folder(out)
    with folder.locked(plan.models.note) as lock:
        asked = plan.models.options
        sampling = {
            role: sent
            for role in asking.ROLES
            if role in asked and (sent := asked[role].sampling({}))
        }
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
                attempts = _attempts_of(folder, number, cues, plan, lambda run: answer(run, lock))
                graphs = dict(folder.graphs if number > 1 else plan.graphs)
                records, spent = _tag_attempts(plan, number, attempts.values(), history, graphs)
                if number == 1:
                    questions = {question.id: question for question in plan.questions}
                    asked_of = [questions[key] for key in attempts]
                    folder.keep(asked_of, [graphs[key] for key in attempts if key in graphs])
                folder.end(number, records, spent)
            for record in records:
                history.setdefault(record.id, []).append(record)
            folder.tell(record for rounds in history.values() for record in rounds)
            cues = {record.id: record.cue for record in records if record.cue is not None}
            if not cues:
                break
    return folder


def _attempts_of(
    folder: Folder,
    number: int,
    cues: Mapping[str, str],
    plan: Plan,
    answer: Callable[[Path], Sequence[Attempt]],
) -> dict[str, Attempt]:
    """Return every question's attempt in a round: those that came, and, where some are lacking, those of a new run."""

    def there() -> tuple[dict[str, Attempt], list[str]]:
        attempts = folder.answers(number)
        if not attempts:
            return {}, list(cues)
        # What a first round left out, by lmms-eval's --limit, is not asked.
        failed = {
            key: attempts[key].reason == Reason.MODEL_FAILED if key in attempts else number > 1
            for key in cues
        }
        return attempts, [key for key in cues if failed[key]]

    attempts, lacking = there()
    if lacking and not (attempts and plan.skip_failed):
        run = folder.run(number, folder.runs(number) + 1)
        write_jsonl(run / CUES, ({"id": key, "cue": cues[key]} for key in lacking))
        write_records(run / ANSWERS, answer(run))  # the mark that it has ended
        attempts, lacking = there()
    if lacking and not plan.skip_failed:
        raise ReelbenchError(
            f"round {number}: the model failed on {len(lacking)} of {len(cues)} questions; the rest is kept: run the "
            "same command again to ask those, or with --skip-failed to leave them"
        )
    attempts |= {key: Attempt(id=key, reason=Reason.MODEL_FAILED) for key in lacking}
    return {key: attempts[key] for key in cues if key in attempts}


def _tag_attempts(
    plan: Plan,
    number: int,
    attempts: Iterable[Attempt],
    history: Mapping[str, Sequence[Round]],
    graphs: dict[str, Graph],
) -> tuple[list[Round], dict[str, Any]]:
    """Tag a round's attempts -> its records and what asking came to; graphs that are made are added to `graphs`.

    Nothing is found before every question has been dealt with: ReelbenchError where a reply can't
    be had now.
    """
    questions, prompts = {question.id: question for question in plan.questions}, plan.models.prompts
    askers, lacking = plan.models.askers(asking.ROLES), dict[str, str]()

    def ended(key: str, reason: Stop) -> Round:
        if key not in graphs:
            return Round(id=key, round=number, nodes={}, stop=reason)
        return stopped_round(graphs[key], history.get(key, ()), reason)

    async def tagged(attempt: Attempt) -> Round:
        key, before = attempt.id, history.get(attempt.id, ())
        if attempt.reason in _ENDS:
            return ended(key, _ENDS[str(attempt.reason)])
        if key not in graphs:
            graph = await asking.graph_of(questions[key], askers[asking.GRAPH], prompts)
            if isinstance(graph, str):
                if graph != asking.GRAPH_INVALID:
                    lacking[key] = graph
                return ended(key, "graph_invalid")
            graphs[key] = graph
        if attempt.right is None or (attempt.right and not plan.right):
            return ended(key, "answer_right" if attempt.right else "unjudged")
        found = await asking.tag(
            questions[key], graphs[key], before, attempt, askers, prompts=prompts, votes=plan.votes
        )
        if isinstance(found, str):
            lacking[key] = found
            return ended(key, "tagger_unavailable")
        votes, cues = found
        right = attempt.right is True
        return advance(
            graphs[key], before, votes, answer_right=right, rounds=plan.rounds, cues=cues
        )

    # A first answer that could not be judged may be right: it does not enter.
    entering = [
        attempt
        for attempt in attempts
        if number > 1
        or attempt.right is False
        or attempt.reason in _ENDS
        or (plan.right and attempt.right)
    ]
    with plan.progress(f"round {number}", len(entering)) as show:
        records = loop.run(Runner(askers.values(), show).results(entering, tagged))
    if not plan.skip_failed:
        asking.check_answered(lacking.values(), "questions")
    return records, asking.spent(askers)
