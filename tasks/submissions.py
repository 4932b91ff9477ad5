"""Predictions from files joined with their references: what every benchmark's `formats.py` ends in."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from reelbench.judges import answers
from reelbench.registry import rows
from reelbench.registry.data.loading import imported, locate, upstream_split
from reelbench.registry.errors import InputError
from reelbench.registry.files import sha256_of, write_jsonl, write_text
from reelbench.registry.records import Item, Sample, SourceRecord
from reelbench.registry.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class Prediction:
    """One prediction as a file gives it: raw, and what was read from it."""

    prediction: Any
    parsed: dict[str, Any] | None = None
    flags: tuple[str, ...] = ()

    @classmethod
    def of_text(cls, spec: BenchmarkSpec, text: str, options: Sequence[str] = ()) -> "Prediction":
        """Return what a model's text says, as a run's answer would be read."""
        parsed = answers.parse(spec, text, options)
        return cls(text, parsed, answers.flags(text, parsed))


@dataclass(frozen=True, slots=True)
class Reference:
    """What a prediction is held against."""

    id: str
    video: str
    target: dict[str, Any]
    facets: dict[str, list[str]] = field(default_factory=dict)
    question: str = ""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files that a score command names."""

    predictions: Path
    references: Path | None = None
    tags: Path | None = None
    split: str | None = None
    data: Path | None = None


@dataclass(frozen=True, slots=True)
class Tagged:
    """Items with the labels that a tags file gives them, and the ids that only one side has."""

    items: list[Item]
    without_question: list[str]
    without_tags: list[str]

    @property
    def notes(self) -> list[str]:
        """Say what did not fit, a line each."""
        counts = (
            (len(self.without_question), "tags belong to no question here"),
            (len(self.without_tags), "questions have no tags and are in no cognitive profile"),
        )
        return [f"{number} {what}" for number, what in counts if number]


@dataclass(frozen=True, slots=True)
class Submission:
    """A submission, ready to be scored; `extra` and `duplicate` list the ids that don't fit.

    `tags_without_question` and `questions_without_tags` are counted where tags were given.
    """

    items: list[Item]
    source: SourceRecord
    split: str
    extra: list[str] = field(default_factory=list)
    duplicate: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    tags_without_question: int = 0
    questions_without_tags: int = 0

    def with_tags(self, tagged: Tagged) -> "Submission":
        """Return the submission with tagged items."""
        return replace(
            self,
            items=tagged.items,
            notes=[*self.notes, *tagged.notes],
            tags_without_question=len(tagged.without_question),
            questions_without_tags=len(tagged.without_tags),
        )

    @property
    def missing(self) -> list[str]:
        """Ids of the references that nothing was predicted for."""
        return [item.id for item in self.items if item.reason == "prediction_missing"]


class Formats(Protocol):
    """What a benchmark's `formats.py` has: `read`, and what else applies to the benchmark.

    - `tagged` (`TagFormats`), where labels of facets come from a tags file;
    - `submission_row` and, unless it is `.jsonl`, `SUBMISSION_SUFFIX` (`SubmissionFormats`), where the owners' server
      scores a split with hidden answers;
    - `reread(entry) -> parsed`, where a prediction that is an entry of the owners' file, kept whole in a sample, is
      read by a rule of the file's and not as a model's text; recomputation finds it by that name.
    """

    def read(self, spec: BenchmarkSpec, inputs: Inputs) -> Submission:
        """Read predictions in the owners' formats and join them with their references.

        Raises:
            InputError: A file is wrong; with its name, the line and the field.
        """
        ...


class TagFormats(Protocol):
    """Reads the labels of a tags file."""

    def tagged(self, items: Sequence[Item], path: Path) -> Tagged:
        """Return the items with the labels that a tags file gives them."""
        ...


class SubmissionFormats(Protocol):
    """Writes what the owners' server takes. The module may set `SUBMISSION_SUFFIX` (`.json`: one list)."""

    def submission_row(self, sample: Sample) -> dict[str, Any]:
        """Return a sample as the owners' file has it."""
        ...


def read_submission(spec: BenchmarkSpec, inputs: Inputs) -> Submission:
    """Read predictions by the benchmark's `formats`; InputError names file, line and field."""
    formats: Formats = imported(spec.formats)
    return formats.read(spec, inputs)


def tagged(spec: BenchmarkSpec, items: Sequence[Item], path: Path) -> Tagged:
    """Read a tags file by the benchmark's `formats`; InputError names file, line and field."""
    formats: TagFormats = imported(spec.formats)
    return formats.tagged(items, path)


def join(
    predictions: Mapping[str, Prediction],
    references: Sequence[Reference],
    source: SourceRecord,
    *,
    path: Path,
    split: str,
    duplicate: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Submission:
    """Hold predictions against references, in the references' order; InputError where no id is shared at all."""
    known = {reference.id for reference in references}
    extra = [name for name in predictions if name not in known]
    if len(extra) == len(predictions):
        raise InputError(
            f"{path}: none of its {len(predictions)} ids (first: {extra[0]!r}) is among the {len(known)} references "
            f"(first: {references[0].id!r}); are both of the same benchmark and split?"
        )
    items = []
    for reference in references:
        found = predictions.get(reference.id)
        items.append(
            Item(
                id=reference.id,
                video=reference.video,
                target=reference.target,
                facets=reference.facets,
                question=reference.question,
                prediction=found.prediction if found else None,
                parsed=found.parsed if found else None,
                flags=found.flags if found else (),
                reason=None if found else "prediction_missing",
            )
        )
    return Submission(items, source, split, extra, list(duplicate), list(notes))


def references_of(
    spec: BenchmarkSpec, inputs: Inputs, read: Callable[[Path], list[Reference]]
) -> tuple[list[Reference], SourceRecord, str]:
    """Return the references, where they are from, and their split: a file's, by `read`, else the benchmark's own.

    Nothing is fetched. InputError where the split's answers are hidden, DataUnavailableError where it is not here.
    """
    if inputs.references is not None:
        path = inputs.references
        return read(path), file_source(spec, path, sha256_of(path)), inputs.split or spec.default_split
    located = locate(spec.id, inputs.split, inputs.data, fetch=False)
    if spec.splits[upstream_split(spec, located.split)].hidden_answers:
        raise InputError(
            f"{spec.id}: the answers of {located.split!r} are hidden; submit the file to the owners' server"
        )
    found = [
        Reference(row["id"], row["video"], rows.target(spec, row), rows.facets(spec, row), row["question"])
        for row in located.read()
    ]
    return found, located.source, located.split


def file_source(spec: BenchmarkSpec, path: Path, fingerprint: str) -> SourceRecord:
    """Return the record of a references file that the user named; its folder is nobody's business."""
    return SourceRecord(kind="files", location=path.name, revision=None, fingerprint=f"{spec.id}:{fingerprint}")


# --- files for the owners' servers ----------------------------------------------------------------------------------


def submission_suffix(spec: BenchmarkSpec) -> str:
    """Return the suffix of the owners' submission file: `.json` for one list, else JSON Lines."""
    return getattr(imported(spec.formats), "SUBMISSION_SUFFIX", ".jsonl")


def write_submission(spec: BenchmarkSpec, samples: Sequence[Sample], path: Path) -> None:
    """Write the owners' submission file, in the order of the ids."""
    formats: SubmissionFormats = imported(spec.formats)
    table = [formats.submission_row(sample) for sample in sorted(samples, key=lambda sample: sample.id)]
    if submission_suffix(spec) == ".json":
        write_text(path, json.dumps(table, ensure_ascii=False))
    else:
        write_jsonl(path, table)
