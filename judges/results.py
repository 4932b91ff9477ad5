"""A result on disk: `result.json` and `samples.jsonl`, written whole, and the JSON that scripts read."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any

from pydantic import ValidationError

from reelbench.judges import answers
from reelbench.judges.scoring import Scored
from reelbench.registry.errors import InputError
from reelbench.registry.files import read_json, read_jsonl, sha256_of, write_jsonl, write_text
from reelbench.registry.records import (
    BenchmarkRecord,
    ModelRecord,
    Provenance,
    Result,
    Sample,
    SettingsRecord,
    SourceRecord,
)
from reelbench.registry.spec import BenchmarkSpec

RESULT_FILE = "result.json"
SAMPLES_FILE = "samples.jsonl"

_PACKAGES = ("reelbench", "lmms_eval", "numpy", "pycocoevalcap", "openai", "av", "transformers", "torch")


def write(
    folder: Path,
    spec: BenchmarkSpec,
    scored: Scored,
    *,
    split: str,
    source: SourceRecord,
    model: ModelRecord,
    settings: SettingsRecord,
    citation: str | None = None,
    url: str | None = None,
    note: str | None = None,
) -> Result:
    """Write both files to `folder` (made if needed) and return the result; samples first, since it names their hash."""
    samples = folder / SAMPLES_FILE
    write_jsonl(samples, (sample.model_dump(mode="json") for sample in scored.samples))
    result = Result(
        benchmark=BenchmarkRecord(id=spec.id, version=spec.version, split=split, source=source),
        model=model,
        settings=settings,
        judge=scored.judge,
        metrics=scored.metrics,
        breakdowns=scored.breakdowns,
        counts=scored.counts,
        software=software(),
        answers=answers.VERSION,
        provenance=Provenance(
            kind="run",
            url=url,
            citation=citation,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
            samples_sha256=sha256_of(samples),
            note=note,
        ),
    )
    write_text(folder / RESULT_FILE, json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n")
    return result


def read(folder: Path) -> Result:
    """Read `result.json` in a folder; InputError names the field that is wrong."""
    path = folder / RESULT_FILE
    try:
        return Result.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(f"{path}: {_first(error)}") from None


def read_samples(folder: Path) -> Iterator[Sample]:
    """Yield the samples in a folder; InputError names the line and the field that is wrong."""
    path = folder / SAMPLES_FILE
    for number, row in read_jsonl(path):
        try:
            yield Sample.model_validate(row)
        except ValidationError as error:
            raise InputError(f"{path}, line {number}: {_first(error)}") from None


def as_json(result: Result) -> dict[str, Any]:
    """Return what `--json` prints: the benchmark, its counts, metrics and breakdowns."""
    document = result.model_dump(mode="json", include={"counts", "metrics", "breakdowns"})
    return {"benchmark": result.benchmark.id, "version": result.benchmark.version, **document}


def software(packages: Iterable[str] = _PACKAGES) -> dict[str, str]:
    """Return the versions of what made the numbers, as far as it is installed."""
    found = {"python": python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"field {where}: {first['msg']} (found {first['input']!r:.60})"
