"""The questions that are diagnosed: any rows with a question, an answer, and the steps by which a person got there."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator

from reelbench.registry.base_record import checked
from reelbench.registry.data import loading
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_jsonl
from reelbench.registry.rows import LETTERS, STEP_COLUMNS, steps

STEPS = "reasoning_steps"
"""The column with a person's steps."""


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
        return "\n".join(value) if isinstance(value, list) and all(isinstance(part, str) for part in value) else value

    @property
    def cluster(self) -> str:
        """What intervals are over: its video, or itself."""
        return self.video or self.id

    @property
    def group(self) -> str:
        """What its errors are counted under."""
        return self.locale or self.language


def read(
    name: str, split: str | None = None, data: Path | None = None, *, fetch: bool = True
) -> list[ReasonedQuestion]:
    """Return the questions of a benchmark, one of its tasks, or a file of JSON Lines.

    A file's lines have `id`, `question`, `answer` and `reasoning_steps` (text, or a list of texts), and may have
    `language` (default `en`), `locale`, `video` and `skills` (a list). With `fetch=False` nothing reaches for the
    network.

    Raises:
        InputError: There is no such benchmark or column, or a line is wrong; it names the line and the field.
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
                # A row as a question in words: of options, which answers name by letter, the question shows them all.
                asked = {**row, "locale": next(iter(row.get("locale", ())), ""), STEPS: steps(row)}
                if options := row.get("options"):
                    lettered = [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False)]
                    asked["question"] = "\n".join([row["question"], *lettered])
                    asked["answer"] = next((line for line in lettered if line[0] == row["answer"]), "")
                reasoned.append((f"{name}: {row['id']}", asked))
        rows = reasoned
    questions: dict[str, ReasonedQuestion] = {}
    for where, row in rows:
        if not isinstance(row, Mapping):
            raise InputError(f"{where}: is not an object with id, question, answer and {STEPS}")
        question = checked(ReasonedQuestion, row, where)
        if question.id in questions:
            raise InputError(f"{where}: the id {question.id!r} is there already; keep one of them")
        questions[question.id] = question
    if not questions:
        raise InputError(f"{name}: no question has {STEPS}")
    return list(questions.values())
