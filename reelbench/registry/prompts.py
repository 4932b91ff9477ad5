"""The prompt files of a benchmark: `str.format` templates over a row's columns, in its package."""

import json
import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from string import Formatter

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_line
from reelbench.registry import rows
from reelbench.registry.spec import BenchmarkSpec, JudgeSpec


def prompt_template(spec: BenchmarkSpec, file: str | None = None, language: str = "en") -> str:
    """Return a prompt of the benchmark, or the `file`: a `str.format` template over the row's columns.

    A .json file has one per language (BCP-47); where it lacks one, that of the tag's first part is
    taken, else English.
    """
    text = _text(spec.folder / (file or spec.prompt))
    if not (file or spec.prompt).endswith(".json"):
        return text
    templates = _languages(text)
    return templates.get(language) or templates.get(language.partition("-")[0]) or templates["en"]


def prompt_sha256(spec: BenchmarkSpec, file: str | None = None) -> str:
    """Return the hash of a prompt file, as results record it."""
    return sha256(_text(spec.folder / (file or spec.prompt)).encode()).hexdigest()


def judge_folder(spec: BenchmarkSpec, judge: JudgeSpec) -> Path:
    """Return the folder with our prompts for the benchmark's judge."""
    package, _, folder = judge.prompts.rpartition(":")
    return (Path(next(iter(import_module(package).__path__))) if package else spec.folder) / folder


JUDGE_FIELDS = frozenset(
    {"question", "reference", "answer", "criterion", "mark"}
)  # what a judge's prompt can name

_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


def check(spec: BenchmarkSpec) -> None:
    """Raise InputError where a prompt of the benchmark is not there, or names what no row has."""
    columns = {column.name for column in rows.columns(spec)} | {"options"}
    for task in spec.tasks:
        known = columns | {"cue"} if task.reasoned else columns
        located = task.options.locate if task.options else None
        for file in (task.prompt or spec.prompt, *([located] if located else [])):
            try:
                text = _text(spec.folder / file)
                templates: list[str] = (
                    list(json.loads(text).values()) if file.endswith(".json") else [text]
                )
            except (OSError, ValueError) as error:
                raise InputError(
                    f"{spec.id}: the prompt {file} can't be read ({first_line(error)})"
                ) from None
            for template in templates:
                try:
                    found = list(Formatter().parse(template))
                except ValueError as error:
                    what = f"the prompt {file} is no template ({first_line(error)}); a brace of its own is {{{{ or }}}}"
                    raise InputError(f"{spec.id}: {what}") from None
                if wide := next((name for _, name, width, how in found if width or how), None):
                    raise InputError(
                        f"{spec.id}: the prompt {file}: {{{wide}…}} has a form; write {{{wide}}}"
                    )
                _refuse_unknown(f"{spec.id}: {file}", [name for _, name, *_ in found], known)
    user = judge_folder(spec, spec.judge) / "user.txt" if spec.judge else None
    if user is not None and user.is_file():
        where = f"{spec.id}: {user.parent.name}/user.txt"
        _refuse_unknown(where, _FIELD.findall(_text(user)), JUDGE_FIELDS)


def _refuse_unknown(where: str, names: Iterable[str | None], known: Collection[str]) -> None:
    for name in names:
        if name is not None and re.split(r"[.\[]", name)[0] not in known:
            raise InputError(f"{where} names {{{name}}}; it can name {', '.join(sorted(known))}")


_languages = lru_cache(maxsize=8)(json.loads)
_read: dict[Path, tuple[int, str]] = {}


def _text(path: Path) -> str:
    found = path.stat()
    if (
        path not in _read or _read[path][0] != found.st_mtime_ns
    ):  # a file that was written anew is read anew
        bounds.hold(f"{path}: bytes", found.st_size, bounds.SETTINGS_BYTES)
        _read[path] = found.st_mtime_ns, path.read_text(encoding="utf-8").rstrip("\n")
    return _read[path][1]
