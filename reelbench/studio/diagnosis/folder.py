"""A diagnosis on disk: what it is of, its graphs, its questions, and a folder for each round.

    diagnosis.json     what was asked of which models, by which prompts
    questions.jsonl    the questions that were asked, with the steps
    graphs.jsonl       their evidence, as far as it was needed or given
    isolation.jsonl    a line per question and round
    rounds/<n>/        asked.json, isolation.jsonl: that round alone; it is there once the round is over
    rounds/<n>/run-<k>/  cues.jsonl: what was asked; answers.jsonl: what came, once it is judged

Hinted answers and their scores are nowhere else.
"""

import fcntl
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json, read_jsonl, write_json, write_jsonl
from reelbench.data import loading
from reelbench.registry.rows import LETTERS, STEP_COLUMNS, steps
from reelbench.studio.evidence.graphs import Graph, read_graphs
from reelbench.studio.evidence.isolation import NodeTag, Round

SCHEMA = 1
CUES, ANSWERS, ISOLATION = "cues.jsonl", "answers.jsonl", "isolation.jsonl"
GRAPHS, _DIAGNOSIS, _QUESTIONS = "graphs.jsonl", "diagnosis.json", "questions.jsonl"
_ASKED, _LOCK = "asked.json", ".lock"
STEPS = "reasoning_steps"
"""The column with a person's steps."""

RecordT = TypeVar("RecordT", bound=BaseModel)


class Spent(BaseModel):
    """What asking a role's model came to: replies and tokens behind the answers, whenever they were paid."""

    model: str
    returned: dict[str, int]
    replies: int
    prompt_tokens: int
    completion_tokens: int


class SpentByRole(RootModel[dict[str, Spent]]):
    """What asking came to, by role."""


class ReasonedQuestion(BaseModel):
    """A question; `locale` is what errors are counted by, its language where rows have no locale."""

    model_config = ConfigDict(frozen=True)

    id: str
    video: str = ""
    language: str = "en"
    locale: str = ""
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    steps: str = Field(alias=STEPS, min_length=1)
    skills: tuple[str, ...] = ()

    @field_validator("steps", mode="before")
    @classmethod
    def _in_one_text(cls, value: object) -> object:
        return (
            "\n".join(value)
            if isinstance(value, list) and all(isinstance(part, str) for part in value)
            else value
        )

    @property
    def cluster(self) -> str:
        """What intervals are over: its video, or itself."""
        return self.video or self.id

    @property
    def group(self) -> str:
        """What its errors are counted under."""
        return self.locale or self.language


class Attempt(BaseModel):
    """What a model made of a question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    answer: str = ""
    """The answer alone."""
    output: str = ""
    """All that the model wrote."""
    right: bool | None = None
    """Whether the judge gave the answer its full score; None where nothing judged it."""
    reason: str | None = None
    """Why there is no answer or no judgement."""
    scores: dict[str, float] = {}
    """The judge's."""


@dataclass(frozen=True, slots=True)
class Step:
    """A question in one round: what was asked, what the model wrote, and what was found in it."""

    question: ReasonedQuestion
    graph: Graph
    """Without nodes where there is none."""
    attempt: Attempt
    record: Round
    cue: str | None
    """What the model was told."""

    @property
    def settled_tags(self) -> dict[str, NodeTag]:
        """The tags of the nodes that this round itself settled, in topological order."""
        return {
            key: tag for key, tag in self.record.nodes.items() if tag.settled == self.record.round
        }


class Folder:
    """A diagnosis' folder; every file in it is whole or not there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # --- what it is of
    # ----------------------------------------------------------------------------------------------

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Write what the diagnosis is of; InputError where the folder has another one."""
        wanted = {"schema_version": SCHEMA, **settings}
        path = self.path / _DIAGNOSIS
        if not path.is_file():
            write_json(path, wanted)
            return
        there = self.settings()
        differing = [
            key for key in wanted.keys() | there.keys() if wanted.get(key) != there.get(key)
        ]
        if differing:
            key = min(differing)
            raise InputError(
                f"{self.path}: has a diagnosis with other settings ({key}: {there.get(key)}, now {wanted.get(key)}); "
                "give another --out"
            )

    def settings(self) -> dict[str, Any]:
        """Return the diagnosis' settings; InputError where the folder has none."""
        path = self.path / _DIAGNOSIS
        if not path.is_file():
            raise InputError(
                f"{self.path}: is not a diagnosis; give the --out of `reelbench diagnose errors` or `run`"
            )
        settings = read_json(path)
        if not isinstance(settings, dict) or settings.get("schema_version") != SCHEMA:
            raise InputError(f"{path}: is not schema version {SCHEMA} of a diagnosis")
        return settings

    @contextmanager
    def locked(self, note: Callable[[str], None]) -> Iterator[int]:
        """Hold the folder against other processes; yields what a child process keeps open to hold it as well."""
        self.path.mkdir(parents=True, exist_ok=True)
        # A link in its place, of a folder that a stranger made, would have its file emptied.
        with open(
            self.path / _LOCK, "w", opener=lambda path, flags: os.open(path, flags | os.O_NOFOLLOW)
        ) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                note(f"{self.path}: another process is at work here; waiting until it ends")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield lock.fileno()

    # --- questions and graphs
    # ---------------------------------------------------------------------------------------

    @property
    def questions(self) -> list[ReasonedQuestion]:
        """The questions that were asked."""
        return _records(self.path / _QUESTIONS, ReasonedQuestion)

    def keep(self, questions: Iterable[ReasonedQuestion], graphs: Iterable[Graph]) -> None:
        """Write the questions that were asked, and their graphs."""
        write_jsonl(
            self.path / _QUESTIONS,
            (question.model_dump(mode="json", by_alias=True) for question in questions),
        )
        write_records(self.path / GRAPHS, graphs)

    @property
    def graphs(self) -> dict[str, Graph]:
        """Question id -> its evidence; empty where no question has any."""
        path = self.path / GRAPHS
        if not path.is_file() or not path.stat().st_size:
            return {}
        return {graph.id: graph for graph in read_graphs(path)}

    # --- rounds
    # -----------------------------------------------------------------------------------------------------

    def steps(self) -> list[Step]:
        """Return every question's rounds that are over, in this order; InputError where something here is wrong."""
        path = self.path / ISOLATION
        records = _records(path, Round) if path.is_file() else []
        questions = {question.id: question for question in self.questions} if records else {}
        place, graphs = {key: number for number, key in enumerate(questions)}, self.graphs
        answers = {number: self.answers(number) for number in {record.round for record in records}}
        for record in records:
            key = record.id
            if key not in questions:
                raise InputError(
                    f"{path}: round {record.round} is of {key[:60]!r}, which {_QUESTIONS} lacks"
                )
            if record.nodes and key not in graphs:
                raise InputError(
                    f"{self.path / GRAPHS}: lacks {key[:60]!r}, whose nodes were tagged"
                )
        steps, cues = list[Step](), dict[str, str | None]()
        for record in sorted(records, key=lambda record: (place[record.id], record.round)):
            key = record.id
            graph, attempt = (
                graphs.get(key) or Graph(id=key, nodes=()),
                answers[record.round].get(key),
            )
            steps.append(
                Step(questions[key], graph, attempt or Attempt(id=key), record, cues.get(key))
            )
            cues[key] = record.cue
        return steps

    def over(self, number: int) -> list[Round] | None:
        """Return a round's records; None where it is not over."""
        path = self._round(number) / ISOLATION
        return _records(path, Round) if path.is_file() else None

    def end(self, number: int, records: Sequence[Round], spent: Mapping[str, Any]) -> None:
        """Write that a round is over: what it found, and what asking came to."""
        write_json(self._round(number) / _ASKED, spent)
        write_records(self._round(number) / ISOLATION, records)

    def tell(self, records: Iterable[Round]) -> None:
        """Write the records of all rounds that are over."""
        write_records(self.path / ISOLATION, records)

    def spent(self) -> list[dict[str, Spent]]:
        """Return the models' usage by round and role."""
        paths = sorted(self.path.glob(f"rounds/*/{_ASKED}"))
        return [record_of(SpentByRole, read_json(path), str(path)).root for path in paths]

    def run(self, number: int, run: int) -> Path:
        """Return the folder of one of a round's runs."""
        return self._round(number) / f"run-{run}"

    def answers(self, number: int) -> dict[str, Attempt]:
        """Return a round's attempts by question; of a question that was asked again, the last one."""
        attempts: dict[str, Attempt] = {}
        for run in range(1, self.runs(number) + 1):
            attempts |= {
                attempt.id: attempt
                for attempt in _records(self.run(number, run) / ANSWERS, Attempt)
            }
        return attempts

    def runs(self, number: int) -> int:
        """Return the number of a round's runs that have ended."""
        return next(run for run in count() if not (self.run(number, run + 1) / ANSWERS).is_file())

    def _round(self, number: int) -> Path:
        return self.path / "rounds" / str(number)


def write_records(path: Path, records: Iterable[BaseModel]) -> None:
    """Write records as JSON Lines."""
    write_jsonl(path, (record.model_dump(mode="json") for record in records))


def _records(path: Path, model: type[RecordT]) -> list[RecordT]:
    return [record_of(model, line, f"{path}, line {number}") for number, line in read_jsonl(path)]


def read_questions(
    name: str, split: str | None = None, data: Path | None = None, *, fetch: bool = True
) -> list[ReasonedQuestion]:
    """Return the questions of a benchmark, one of its tasks, or a file of JSON Lines.

    A file's lines have `id`, `question`, `answer` and `reasoning_steps` (text, or a list of texts),
    and may have `language` (default `en`), `locale`, `video` and `skills` (a list). With
    `fetch=False` nothing reaches for the network.

    Raises:
        InputError: There is no such benchmark or column, or a line is wrong; it names the line and
            the field.
        DataUnavailableError: The benchmark's rows are not here.
    """
    if name.endswith(".jsonl"):
        rows = [(f"{name}, line {number}", row) for number, row in read_jsonl(name)]
    else:
        located = loading.locate(name, split, data, fetch=fetch)
        if not any(column.name in STEP_COLUMNS for column in located.spec.columns):
            raise InputError(
                f"{located.spec.id} has no column {STEPS}; give a file of JSON Lines with id, question, answer, {STEPS}"
            )
        reasoned = []
        for row in located.read():
            if steps(row):
                # A row as a question in words: of options, which answers name by letter, the
                # question shows them all.
                asked = {**row, "locale": next(iter(row.get("locale", ())), ""), STEPS: steps(row)}
                if options := row.get("options"):
                    lettered = [
                        f"{letter}. {option}"
                        for letter, option in zip(LETTERS, options, strict=False)
                    ]
                    asked["question"] = "\n".join([row["question"], *lettered])
                    asked["answer"] = next(
                        (line for line in lettered if line[0] == row["answer"]), ""
                    )
                reasoned.append((f"{name}: {row['id']}", asked))
        rows = reasoned
    questions: dict[str, ReasonedQuestion] = {}
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{where}: is not an object with id, question, answer and {STEPS}")
        question = record_of(ReasonedQuestion, row, where)
        if question.id in questions:
            raise InputError(f"{where}: the id {question.id!r} is there already; keep one of them")
        questions[question.id] = question
    if not questions:
        raise InputError(f"{name}: no question has {STEPS}")
    return list(questions.values())


def judged_steps(folder: Folder) -> list[Step]:
    """Return every attempt on which the tagger settled a node; InputError as of `settings` and `steps`."""
    folder.settings()
    return [step for step in folder.steps() if step.settled_tags]
