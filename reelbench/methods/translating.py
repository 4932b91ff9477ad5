"""Questions put in other languages once, for runs across languages (CURVE, Fig. 2): a file that every run reads.

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
    tasks: Iterable[str], languages: Sequence[str], *, limit: int | None = None, shown: bool = True
) -> dict[tuple[str, str], Row]:
    """Return the rows of tasks that are to be translated, by id and language (a BCP-47 tag).

    A row that is in a language by itself is not translated into it. With `limit` only so many rows
    of each task, as lmms-eval counts them; where videos are `shown`, rows whose video is missing
    are not asked.
    """
    rows: dict[tuple[str, str], Row] = {}
    for name in sorted(tasks):
        located = locate(name)
        if located.spec.row_kind != "open":
            raise InputError(
                f"--languages: {name} has options, which stay in their language; leave it out"
            )
        asked = located.read()
        if shown:
            missing = {row.id for row in Library(located.spec, located.split).missing(asked)}
            asked = [row for row in asked if row["id"] not in missing]
        for row in asked[:limit]:
            rows |= {
                (row["id"], tag): row for tag in languages if not question_files.is_in(row, tag)
            }
    return rows


def check(questions: TranslatedQuestions, rows: Iterable[tuple[str, str]], path: Path) -> None:
    """Raise InputError where a file lacks a question that a run needs."""
    lacking = [key for key in rows if key not in questions]
    if lacking:
        name, language = lacking[0]
        raise InputError(
            f"{path}: lacks {number_of(len(lacking), 'question')} (first: {name!r} in {language}); translate them, or "
            "leave --translations out and give --llm translator=MODEL"
        )


def translate(
    rows: dict[tuple[str, str], Row],
    model: AskOptions,
    *,
    note: Callable[[str], None],
    bar: Bar = no_bar,
) -> TranslatedQuestions:
    """Ask a model for each row's question in each language, once; ReelbenchError where some can't be had."""
    asker = Asker(model, on_note=note, tells=True)
    folder = resources.files("reelbench.methods").joinpath("prompts")
    prompt = folder.joinpath("translate.txt").read_text(encoding="utf-8").strip()

    async def question(key: tuple[str, str]) -> str | None:
        mark, text = mark_pieces([("question", rows[key]["question"])])
        system = prompt.format(language=f"the language with the BCP-47 tag {key[1]}", mark=mark)
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        asked = await asker.ask(messages, lambda reply: valid_text(" ".join(reply.split())) or None)
        if asked.value is None:
            runner.lacking[str(asked.reason)] += 1
        return asked.value

    with bar(f"translating by {model.model}", len(rows)) as show:
        runner = Runner([asker], show)
        translated = loop.run(runner.results(rows, question))
    runner.check("questions are not translated", "the translator gave no reply")
    return {key: text for key, text in zip(rows, translated, strict=True) if text is not None}


def write(path: Path, questions: TranslatedQuestions) -> None:
    """Write questions as `--translations` takes them."""
    write_jsonl(
        path,
        (
            {"id": name, "language": tag, "question": text}
            for (name, tag), text in questions.items()
        ),
    )


def distinct(languages: Sequence[str]) -> list[str]:
    """Return the languages as given, once each; InputError where two tags are of one language."""
    codes = [language_of(tag) for tag in languages]
    again = next(
        (tag for number, tag in enumerate(languages) if codes[number] in codes[:number]), None
    )
    if again is not None or not all(code.isalpha() and 2 <= len(code) <= 8 for code in codes):  # noqa: PLR2004
        wrong = f"{again!r} occurs twice" if again is not None else "each is a language's tag"
        raise InputError(f"--languages {','.join(languages)}: {wrong}; give e.g. en,es,ja")
    return list(languages)
