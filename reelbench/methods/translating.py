"""Translate questions once, into a file that every run across languages reads (CURVE, Fig. 2).

The paper names neither its translator nor what it was told. Only the question is translated:
references stay, since the judge takes an answer in any language or script.
"""

from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from pathlib import Path

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import valid_text, write_jsonl
from reelbench.base.languages import language_of
from reelbench.base.progress import Bar, no_bar
from reelbench.data.loading import locate
from reelbench.llm import loop
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.material import mark_pieces
from reelbench.llm.runner import Runner
from reelbench.registry import question_files
from reelbench.registry.rows import Row
from reelbench.video.library import Library

TranslatedQuestions = dict[tuple[str, str], str]
"""(id, language) -> question."""


def rows_to_translate(
    tasks: Iterable[str],
    languages: Sequence[str],
    *,
    limit: int | None = None,
    shows_videos: bool = True,
) -> dict[tuple[str, str], Row]:
    """Return the rows to translate, by id and language (a BCP-47 tag).

    A row that is in a language by itself is not translated into it. With `limit` only so many rows
    of each task, as lmms-eval counts them; where the run `shows_videos`, rows whose video is
    missing are not asked.
    """
    rows: dict[tuple[str, str], Row] = {}
    for name in sorted(tasks):
        located = locate(name)
        if located.spec.row_kind != "open":
            raise InputError(
                f"--languages: {name} has options, which stay in their language; leave it out"
            )
        asked_rows = located.read()
        if shows_videos:
            library = Library(located.spec, located.split)
            missing_ids = {missing.id for missing in library.missing(asked_rows)}
            asked_rows = [row for row in asked_rows if row["id"] not in missing_ids]
        for row in asked_rows[:limit]:
            for tag in languages:
                if not question_files.is_in(row, tag):
                    rows[row["id"], tag] = row
    return rows


def check(questions: TranslatedQuestions, rows: Iterable[tuple[str, str]], path: Path) -> None:
    """Raise InputError where a file lacks a question that a run needs."""
    lacking = [key for key in rows if key not in questions]
    if lacking:
        name, language = lacking[0]
        raise InputError(
            f"{path}: lacks {number_of(len(lacking), 'question')} (first: {name!r} in {language}); "
            "translate them, or leave --translations out and give --llm translator=MODEL"
        )


def translate(
    rows: dict[tuple[str, str], Row],
    model: AskOptions,
    *,
    note: Callable[[str], None],
    bar: Bar = no_bar,
) -> TranslatedQuestions:
    """Ask a model for each row's question in each language, once.

    Raises:
        ReelbenchError: Some can't be had.
    """
    asker = Asker(model, on_note=note, reports_totals=True)
    folder = resources.files("reelbench.methods").joinpath("prompts")
    prompt = folder.joinpath("translate.txt").read_text(encoding="utf-8").strip()

    async def translate_question(key: tuple[str, str]) -> str | None:
        _, language = key
        mark, text = mark_pieces([("question", rows[key]["question"])])
        language_name = f"the language with the BCP-47 tag {language}"
        system = prompt.format(language=language_name, mark=mark)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        result = await asker.ask(messages, _one_line)
        if result.value is None:
            runner.note_lacking(result)
        return result.value

    with bar(f"translating by {model.model}", len(rows)) as show:
        runner = Runner([asker], show)
        translations = loop.run(runner.results(rows, translate_question))
    runner.check("questions are not translated", "the translator gave no reply")
    questions: TranslatedQuestions = {}
    for key, translation in zip(rows, translations, strict=True):
        if translation is not None:
            questions[key] = translation
    return questions


def _one_line(reply: str) -> str | None:
    """Return a reply in one line, or None where it is empty."""
    return valid_text(" ".join(reply.split())) or None


def write(path: Path, questions: TranslatedQuestions) -> None:
    """Write questions as `--translations` takes them."""
    rows: list[dict[str, str]] = []
    for (name, language), text in questions.items():
        rows.append({"id": name, "language": language, "question": text})
    write_jsonl(path, rows)


def checked_languages(languages: Sequence[str]) -> list[str]:
    """Return the languages in their order.

    Raises:
        InputError: Two tags are of one language, or one is no language's tag.
    """
    codes: set[str] = set()
    for tag in languages:
        code = language_of(tag)
        problem = None
        if code in codes:
            problem = f"{tag!r} occurs twice"
        elif not (code.isalpha() and 2 <= len(code) <= 8):  # noqa: PLR2004 - as BCP 47 has it
            problem = "each is a language's tag"
        if problem is not None:
            raise InputError(f"--languages {','.join(languages)}: {problem}; give e.g. en,es,ja")
        codes.add(code)
    return list(languages)
