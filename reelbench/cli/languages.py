"""`reelbench run --languages`: the same questions in several languages, and the scores of each locale in each."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.cli import console
from reelbench.cli.asking import by_role
from reelbench.cli.sweep import NATIVE, by_task, first_metric
from reelbench.registry.errors import InputError
from reelbench.registry.files import write_json, write_text
from reelbench.tasks.lmms import process

if TYPE_CHECKING:
    from rich.table import Table

    from reelbench.llm.ask_options import AskOptions

LANGUAGES_FILE, TRANSLATIONS_FILE = "languages.json", "translations.jsonl"
TRANSLATOR = "translator"
SCHEMA = 1
_FACET = "locale"


def tags(text: str) -> list[str]:
    """Return the languages of `--languages`; InputError where one is no tag, or there twice."""
    from reelbench.methods import translating

    return translating.distinct([part.strip() for part in text.split(",") if part.strip() != NATIVE])


def translated(
    arguments: list[str],
    languages: Sequence[str],
    given: Path | None,
    llm: "dict[str, AskOptions]",
    output: Path,
    *,
    shown: bool,
) -> Path:
    """Return the file with the questions in these languages, in the run's folder: the user's, or made by a model.

    `shown` says whether the model is shown the videos.

    Raises:
        InputError: Neither is given, or the file lacks a question.
    """
    from reelbench.methods import translating
    from reelbench.registry.question_files import read_translations

    tasks = process.wanted_tasks(arguments)
    if not tasks:
        raise InputError("--languages: name a task of ours with --tasks, e.g. curve")
    limit = process.option_value(arguments, "--limit") or ""
    # A limit below 1 is a share of the rows: then all are made ready.
    asked = int(float(limit)) if re.fullmatch(r"[0-9]+(\.0*)?", limit) else 0
    rows = translating.wanted(tasks, languages, limit=asked or None, shown=shown)
    if given is not None:
        questions = read_translations(given)
        translating.check(questions, rows, given)
        questions = {key: questions[key] for key in rows}
    else:
        model = by_role(llm, (TRANSLATOR,))[TRANSLATOR]
        questions = translating.translate(rows, model, note=console.note, bar=console.progress)
    path = output / TRANSLATIONS_FILE
    translating.write(path, questions)
    return path


def report_matrix(rows: Sequence[dict[str, Any]], output: Path, note: Callable[[str], None]) -> "list[Table]":
    """Write the scores of each locale in each language, by task, and return them as tables."""
    from reelbench.pages.figures import matrix
    from reelbench.registry.languages import language_of

    documents, tables = [], []
    for task, points in by_task(rows).items():
        metric = first_metric(points)
        if metric is None:
            continue
        languages = [point["language"] for point in points]
        locales = sorted({label for point in points for label in point["breakdowns"].get(_FACET, {})})
        by_locale = {"all": {point["language"]: point["metrics"][metric.name] for point in points}}
        for locale in locales:
            cells = {point["language"]: point["breakdowns"].get(_FACET, {}).get(locale, {}) for point in points}
            by_locale[locale] = {tag: values[metric.name] for tag, values in cells.items() if metric.name in values}
        known = {
            name: {tag: cell for tag, cell in cells.items() if cell["value"] is not None}
            for name, cells in by_locale.items()
        }
        documents.append({"task": task, "metric": metric.name, "languages": languages, "locales": known})
        drawn = {
            name: {tag: (cell["value"], cell["ci95"], cell["n"]) for tag, cell in cells.items()}
            for name, cells in known.items()
        }
        # The diagonal of CURVE's Fig. 2: questions in the language of the video.
        own = {
            (name, tag) for name in drawn for tag in languages if tag == NATIVE or language_of(tag) == language_of(name)
        }
        head = f"{task} · {points[0]['model']}", f"{metric.title}, {metric.in_unit.label}"
        write_text(
            output / f"languages_{task}.svg",
            matrix(*head, drawn, languages, marked=own, mark="outlined: the video's own language"),
        )
        table = console.table(f"{task}: {metric.title}", _FACET, *(f"#{tag}" for tag in languages))
        for name, cells in known.items():
            table.add_row(name, *(f"{cells[tag]['value']:.2f}" if tag in cells else "" for tag in languages))
        tables.append(table)
    write_json(output / LANGUAGES_FILE, {"schema_version": SCHEMA, "tasks": documents})
    note(f"written to {output / LANGUAGES_FILE}; {NATIVE} is a plain run's")
    return tables
