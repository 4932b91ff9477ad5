"""A diagnosis on disk: its settings, graphs and questions, and a folder for each round.

    diagnosis.json      the models that were asked, the prompts, and the other settings
    questions.jsonl     the questions that were asked, with the steps
    graphs.jsonl        their evidence, as far as it was needed or given
    isolation.jsonl     a line per question and round
    rounds/<n>/         asked.json, isolation.jsonl: that round alone, once it is over
    rounds/<n>/run-<k>/ cues.jsonl (the questions), answers.jsonl (once they are judged)

Hinted answers and their scores are nowhere else.
"""

import fcntl
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, RootModel, field_validator

from reelbench.base.base_record import record_of
from reelbench.base.errors import InputError
from reelbench.base.files import read_json, read_jsonl, write_json, write_jsonl
from reelbench.data import loading
from reelbench.registry.rows import LETTERS, STEP_COLUMNS, Row, steps
from reelbench.studio.evidence.graphs import Graph, read_graphs
from reelbench.studio.evidence.isolation import NodeTag, Round

SCHEMA = 1
CUES = "cues.jsonl"
ANSWERS = "answers.jsonl"
ISOLATION = "isolation.jsonl"
GRAPHS = "graphs.jsonl"
_DIAGNOSIS = "diagnosis.json"
_QUESTIONS = "questions.jsonl"
_ASKED = "asked.json"
_LOCK = ".lock"
_SHOWN = 60
"""Characters of a question's id in a message."""
STEPS = "reasoning_steps"
"""The column with a person's steps."""

RecordT = TypeVar("RecordT", bound=BaseModel)


class Spent(BaseModel):
    """The usage of a role's model: replies and tokens, whenever they were paid."""

    model: str
    returned: dict[str, int]
    replies: int
    prompt_tokens: int
    completion_tokens: int


class SpentByRole(RootModel[dict[str, Spent]]):
    """The models' usage by role."""


class ReasonedQuestion(BaseModel):
    """A question with a person's steps to its answer."""

    model_config = ConfigDict(frozen=True)

    id: str
    video: str = ""
    language: str = "en"
    locale: str = ""
    """Errors are counted by it; by the language where rows have no locale."""
    question: str = Field(min_length=1)
    answer: str = Field(min_length=1)
    steps: str = Field(alias=STEPS, min_length=1)
    skills: tuple[str, ...] = ()

    @field_validator("steps", mode="before")
    @classmethod
    def _in_one_text(cls, value: object) -> object:
        if not isinstance(value, list):
            return value
        if not all(isinstance(part, str) for part in value):
            return value
        return "\n".join(value)

    @property
    def cluster(self) -> str:
        """The unit of intervals: its video, or itself."""
        return self.video or self.id

    @property
    def group(self) -> str:
        """The group in which its errors are counted."""
        return self.locale or self.language


class Attempt(BaseModel):
    """A model's answer to a question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    answer: str = ""
    """The answer alone."""
    output: str = ""
    """All that the model wrote."""
    right: bool | None = None
    """True where the judge gave the answer its full score. None where nothing judged it."""
    reason: str | None = None
    """The reason why there is no answer or no judgement."""
    scores: dict[str, float] = {}
    """The judge's."""


@dataclass(frozen=True, slots=True)
class Step:
    """A question in one round: the cue, the model's answer, and the errors in it."""

    question: ReasonedQuestion
    graph: Graph
    """Without nodes where there is none."""
    attempt: Attempt
    record: Round
    cue: str | None
    """The words that the model was told."""

    @property
    def settled_tags(self) -> dict[str, NodeTag]:
        """The tags of the nodes that this round itself settled, in topological order."""
        tags: dict[str, NodeTag] = {}
        for key, tag in self.record.nodes.items():
            if tag.settled == self.record.round:
                tags[key] = tag
        return tags


class Folder:
    """A diagnosis' folder.

    Every file in it is whole or not there.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    # --- settings
    # ---------------------------------------------------------------------------------------------

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Write the diagnosis' settings.

        Raises:
            InputError: The folder has a diagnosis with other settings.
        """
        settings = {"schema_version": SCHEMA, **settings}
        path = self.path / _DIAGNOSIS
        if not path.is_file():
            write_json(path, settings)
            return
        old_settings = self.settings()
        for key in sorted(settings.keys() | old_settings.keys()):
            value = settings.get(key)
            old_value = old_settings.get(key)
            if value != old_value:
                raise InputError(
                    f"{self.path}: has a diagnosis with other settings "
                    f"({key}: {old_value}, now {value}); give another --out"
                )

    def settings(self) -> dict[str, Any]:
        """Return the diagnosis' settings.

        Raises:
            InputError: The folder has no diagnosis.
        """
        path = self.path / _DIAGNOSIS
        if not path.is_file():
            raise InputError(
                f"{self.path}: is not a diagnosis; "
                "give the --out of `reelbench diagnose errors` or `run`"
            )
        settings = read_json(path)
        if not isinstance(settings, dict) or settings.get("schema_version") != SCHEMA:
            raise InputError(f"{path}: is not a diagnosis of schema version {SCHEMA}")
        return settings

    @contextmanager
    def locked(self, note: Callable[[str], None]) -> Iterator[int]:
        """Hold the folder against other processes.

        Yields:
            The descriptor that a child process keeps open to hold it as well.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        with open(self.path / _LOCK, "w", opener=_open_no_link) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                note(f"{self.path}: another process is using this folder; waiting for it to end")
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield lock.fileno()

    # --- questions and graphs
    # ---------------------------------------------------------------------------------------------

    @property
    def questions(self) -> list[ReasonedQuestion]:
        """The questions that were asked."""
        return _read_records(self.path / _QUESTIONS, ReasonedQuestion)

    def keep(self, questions: Iterable[ReasonedQuestion], graphs: Iterable[Graph]) -> None:
        """Write the questions that were asked, and their graphs."""
        rows = [question.model_dump(mode="json", by_alias=True) for question in questions]
        write_jsonl(self.path / _QUESTIONS, rows)
        write_records(self.path / GRAPHS, graphs)

    @property
    def graphs(self) -> dict[str, Graph]:
        """Question id -> its evidence.

        It is empty where no question has any.
        """
        path = self.path / GRAPHS
        if not path.is_file() or not path.stat().st_size:
            return {}
        return {graph.id: graph for graph in read_graphs(path)}

    # --- rounds
    # ---------------------------------------------------------------------------------------------

    def steps(self) -> list[Step]:
        """Return every question's rounds that are over, by question and round.

        Raises:
            InputError: Something in the folder is wrong.
        """
        path = self.path / ISOLATION
        if not path.is_file():
            return []
        records = _read_records(path, Round)
        if not records:
            return []
        questions = {question.id: question for question in self.questions}
        graphs = self.graphs
        answers: dict[int, dict[str, Attempt]] = {}
        records_by_question: dict[str, list[Round]] = {key: [] for key in questions}
        for record in records:
            if record.round not in answers:
                answers[record.round] = self.answers(record.round)
            self._check(record, questions, graphs)
            records_by_question[record.id].append(record)
        steps: list[Step] = []
        for key, rounds in records_by_question.items():
            graph = graphs.get(key, Graph(id=key, nodes=()))
            cue = None
            for record in sorted(rounds, key=lambda record: record.round):
                step = Step(
                    question=questions[key],
                    graph=graph,
                    attempt=answers[record.round].get(key, Attempt(id=key)),
                    record=record,
                    cue=cue,
                )
                steps.append(step)
                cue = record.cue
        return steps

    def _check(self, record: Round, questions: Collection[str], graphs: Collection[str]) -> None:
        name = repr(record.id[:_SHOWN])
        if record.id not in questions:
            path = self.path / ISOLATION
            raise InputError(
                f"{path}: round {record.round} is on {name}, which is not in {_QUESTIONS}"
            )
        if record.nodes and record.id not in graphs:
            path = self.path / GRAPHS
            raise InputError(f"{path}: lacks {name}, whose nodes were tagged")

    def over(self, number: int) -> list[Round] | None:
        """Return a round's records.

        None where it is not over.
        """
        path = self._round(number) / ISOLATION
        if not path.is_file():
            return None
        return _read_records(path, Round)

    def end(self, number: int, records: Sequence[Round], spent: Mapping[str, Any]) -> None:
        """Write that a round is over: its records, and the models' usage."""
        folder = self._round(number)
        write_json(folder / _ASKED, spent)
        write_records(folder / ISOLATION, records)

    def tell(self, records: Iterable[Round]) -> None:
        """Write the records of all rounds that are over."""
        write_records(self.path / ISOLATION, records)

    def spent(self) -> list[dict[str, Spent]]:
        """Return the models' usage by round and role."""
        spent: list[dict[str, Spent]] = []
        for path in sorted(self.path.glob(f"rounds/*/{_ASKED}")):
            record = record_of(SpentByRole, read_json(path), str(path))
            spent.append(record.root)
        return spent

    def run(self, number: int, run: int) -> Path:
        """Return the folder of one of a round's runs."""
        return self._round(number) / f"run-{run}"

    def answers(self, number: int) -> dict[str, Attempt]:
        """Return a round's attempts by question.

        Of a question that was asked again, it is the last one.
        """
        attempts: dict[str, Attempt] = {}
        for run in range(1, self.runs(number) + 1):
            path = self.run(number, run) / ANSWERS
            for attempt in _read_records(path, Attempt):
                attempts[attempt.id] = attempt
        return attempts

    def runs(self, number: int) -> int:
        """Return the number of a round's runs that have ended."""
        ended_runs = 0
        while (self.run(number, ended_runs + 1) / ANSWERS).is_file():
            ended_runs += 1
        return ended_runs

    def _round(self, number: int) -> Path:
        return self.path / "rounds" / str(number)


def _open_no_link(path: str, flags: int) -> int:
    # A link in its place, of a folder that a stranger made, would have its file emptied.
    return os.open(path, flags | os.O_NOFOLLOW)


def write_records(path: Path, records: Iterable[BaseModel]) -> None:
    """Write records as JSON Lines."""
    write_jsonl(path, (record.model_dump(mode="json") for record in records))


def _read_records(path: Path, model: type[RecordT]) -> list[RecordT]:
    records: list[RecordT] = []
    for number, line in read_jsonl(path):
        record = record_of(model, line, f"{path}, line {number}")
        records.append(record)
    return records


def read_questions(
    name: str, split: str | None = None, data: Path | None = None, *, fetch: bool = True
) -> list[ReasonedQuestion]:
    """Return the questions that have steps.

    They are of a benchmark, one of its tasks, or a file of JSON Lines (`name`). A file's lines have
    `id`, `question`, `answer` and `reasoning_steps` (text, or a list of texts), and may have
    `language` (default `en`), `locale`, `video` and `skills` (a list). With `fetch=False` nothing
    reaches for the network.

    Raises:
        InputError: There is no such benchmark or column, or a line is wrong. It names the line and
            the field.
        DataUnavailableError: The benchmark's rows are not here.
    """
    if name.endswith(".jsonl"):
        rows = [(f"{name}, line {number}", row) for number, row in read_jsonl(name)]
    else:
        located = loading.locate(name, split, data, fetch=fetch)
        rows = _rows_of_benchmark(name, located)
    questions: dict[str, ReasonedQuestion] = {}
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{where}: is not an object with id, question, answer and {STEPS}")
        question = record_of(ReasonedQuestion, row, where)
        if question.id in questions:
            raise InputError(f"{where}: the id {question.id!r} occurs twice; keep one of them")
        questions[question.id] = question
    if not questions:
        raise InputError(f"{name}: no question has {STEPS}")
    return list(questions.values())


def _rows_of_benchmark(name: str, located: loading.SplitData) -> list[tuple[str, object]]:
    """Return the name and the row of each question that has steps."""
    spec = located.spec
    if not any(column.name in STEP_COLUMNS for column in spec.columns):
        raise InputError(
            f"{spec.id} has no column {STEPS}; "
            f"give a file of JSON Lines with id, question, answer, {STEPS}"
        )
    rows: list[tuple[str, object]] = []
    for row in located.read():
        if not steps(row):
            continue
        where = f"{name}: {row['id']}"
        rows.append((where, _row_in_words(row)))
    return rows


def _row_in_words(row: Row) -> dict[str, Any]:
    """Return a row as a question in words.

    An answer names an option by its letter, so the question shows all options.
    """
    locales = row.get("locale") or [""]
    words = {**row, "locale": locales[0], STEPS: steps(row)}
    options = row.get("options")
    if options:
        lines: list[str] = []
        words["answer"] = ""
        for letter, option in zip(LETTERS, options, strict=False):
            line = f"{letter}. {option}"
            lines.append(line)
            if letter == row["answer"]:
                words["answer"] = line
        words["question"] = "\n".join([row["question"], *lines])
    return words


def judged_steps(folder: Folder) -> list[Step]:
    """Return every attempt on which the tagger settled a node.

    Raises:
        InputError: The folder has no diagnosis, or something in it is wrong.
    """
    folder.settings()
    return [step for step in folder.steps() if step.settled_tags]
