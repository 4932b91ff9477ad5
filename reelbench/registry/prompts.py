"""The prompt files of a benchmark: `str.format` templates over a row's columns."""

import json
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from string import Formatter
from typing import NamedTuple

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_line
from reelbench.registry import rows
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec, TaskSpec

JUDGE_FIELDS = frozenset({"question", "reference", "answer", "criterion", "mark"})
"""Names that a judge's prompt can have."""

COLUMN_OF_JUDGE_FIELD = {"also": rows.ALSO.name, "rubric": rows.RUBRIC.name}
"""Further fields of a judge's prompt -> the column that rows must have."""

_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


def prompt_template(spec: BenchmarkSpec, file: str | None = None, language: str = "en") -> str:
    """Return a prompt of the benchmark, or the `file`: a template over the row's columns.

    A .json file has one per language (BCP-47). Where it lacks one, that of the tag's first part is
    taken, else English.
    """
    name = file or spec.prompt
    text = _prompt_text(spec.folder / name)
    if not name.endswith(".json"):
        return text
    templates = _templates(text)
    for tag in (language, language.partition("-")[0]):
        if templates.get(tag):
            return templates[tag]
    return templates["en"]


def prompt_sha256(spec: BenchmarkSpec, file: str | None = None) -> str:
    """Return the hash of a prompt file, as results record it."""
    return _sha256_of(_prompt_text(spec.folder / (file or spec.prompt)))


@lru_cache(maxsize=8)
def _sha256_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def judge_folder(spec: BenchmarkSpec, judge: JudgeSpec) -> Path:
    """Return the folder with our prompts for the benchmark's judge."""
    package, _, folder = judge.prompts.rpartition(":")
    if not package:
        return spec.folder / folder
    package_folder = import_module(package).__path__[0]
    return Path(package_folder) / folder


def check(spec: BenchmarkSpec) -> None:
    """Raise InputError where a prompt is missing, or names what no row has."""
    columns = {column.name for column in rows.columns(spec)} | {"options"}
    for task in spec.tasks:
        names = columns | {"cue"} if task.reasoned else columns
        for file in _prompt_files(spec, task):
            for template in _templates_of(spec, file):
                _check_template(f"{spec.id}: ", file, template, names)
    if spec.judge is None:
        return
    user_prompt = judge_folder(spec, spec.judge) / "user.txt"
    if user_prompt.is_file():
        where = f"{spec.id}: {user_prompt.parent.name}/user.txt"
        fields = set(JUDGE_FIELDS)
        for name, column in COLUMN_OF_JUDGE_FIELD.items():
            if column in columns:
                fields.add(name)
        _refuse_unknown(where, _FIELD.findall(_prompt_text(user_prompt)), fields)


def places_lacking(spec: BenchmarkSpec) -> list[str]:
    """Return the places that the judge's prompt lacks: `question`, `reference`, `answer`."""
    if spec.judge is None:
        return []
    user_prompt = judge_folder(spec, spec.judge) / "user.txt"
    if not user_prompt.is_file():
        return []
    places = _FIELD.findall(_prompt_text(user_prompt))
    return [name for name in ("question", "reference", "answer") if name not in places]


def _prompt_files(spec: BenchmarkSpec, task: TaskSpec) -> list[str]:
    files = [task.prompt or spec.prompt]
    options = task.options
    if options is not None and options.locate:
        files.append(options.locate)
    return files


def _templates_of(spec: BenchmarkSpec, file: str) -> list[str]:
    try:
        text = _prompt_text(spec.folder / file)
        templates = [text]
        if file.endswith(".json"):
            templates = list(json.loads(text).values())
    except (OSError, ValueError) as error:
        raise InputError(
            f"{spec.id}: the prompt {file} can't be read ({first_line(error)})"
        ) from None
    return templates


def _check_template(prefix: str, file: str, template: str, names: Collection[str]) -> None:
    try:
        parts = list(Formatter().parse(template))
    except ValueError as error:
        raise InputError(
            f"{prefix}the prompt {file} is not a template ({first_line(error)}); write a literal "
            f"brace as {{ or }}"
        ) from None
    for _, name, format_spec, conversion in parts:
        if format_spec or conversion:
            raise InputError(f"{prefix}the prompt {file}: {{{name}…}} has a form; write {{{name}}}")
    _refuse_unknown(f"{prefix}{file}", [name for _, name, _, _ in parts], names)


def _refuse_unknown(where: str, names: Iterable[str | None], allowed: Collection[str]) -> None:
    for name in names:
        if name is not None and re.split(r"[.\[]", name)[0] not in allowed:
            raise InputError(f"{where} names {{{name}}}; it can name {', '.join(sorted(allowed))}")


@lru_cache(maxsize=8)
def _templates(text: str) -> dict[str, str]:
    """Return the template of each language."""
    return json.loads(text)


_texts: dict[Path, "_Text"] = {}


class _Text(NamedTuple):
    """The text of a file, and the time of the file's last change in nanoseconds."""

    text: str
    changed_ns: int


def _prompt_text(path: Path) -> str:
    """Return the text of a file, which is read anew where it was written anew."""
    status = path.stat()
    text_before = _texts.get(path)
    if text_before is not None and text_before.changed_ns == status.st_mtime_ns:
        return text_before.text
    bounds.hold(f"{path}: bytes", status.st_size, bounds.SETTINGS_BYTES)
    text = path.read_text(encoding="utf-8").rstrip("\n")
    _texts[path] = _Text(text, status.st_mtime_ns)
    return text
