"""`reelbench new`: a benchmark of one's own, in one file."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from reelbench.base.errors import InputError, visible
from reelbench.base.progress import counted
from reelbench.terminal import console
from reelbench.terminal.option_groups import reports_status

if TYPE_CHECKING:
    from reelbench.registry.rows import Row
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.tasks.column_guess import Guess
    from reelbench.tasks.table_columns import Column

_SHOWN_ROWS = 3
_TRIED_ROWS = 200
_LONGEST = 70


@reports_status
def new(
    new_id: Annotated[
        str, typer.Argument(metavar="NAME", help="Id of the new benchmark: lower case, digits, _.")
    ],
    *,
    rows: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Its rows: JSON, JSON Lines, CSV, TSV, Parquet or Excel."
        ),
    ] = None,
    like: Annotated[
        str,
        typer.Option(
            "--like", metavar="ID", help="Copy a benchmark of `list --gallery`, instead of --from."
        ),
    ] = "",
    twin: Annotated[
        str,
        typer.Option(
            "--twin",
            metavar="TASK",
            help="Take the rows of a task of the installed lmms-eval from the Hub, instead of "
            "--from; `score --run` reads its logs.",
        ),
    ] = "",
    kind: Annotated[
        Literal["choice", "span", "grounded_choice", "open", "exact"] | None,
        typer.Option("--kind", help="Kind of question; default: guessed from the columns."),
    ] = None,
    media: Annotated[
        Path | None, typer.Option("--media", metavar="DIR", help="Folder with its videos.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Output folder; default: ./NAME.")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            "--column",
            metavar="OURS=THEIRS",
            help="A column that can't be guessed: answer=gold, options=a,b,c, "
            "id={film}_{n} (repeat).",
        ),
    ] = None,
    answer_is: Annotated[
        Literal["letter", "index0", "index1", "text"] | None,
        typer.Option("--answer-is", help="How the right option is given."),
    ] = None,
    span_unit: Annotated[
        Literal["seconds", "milliseconds", "minutes", "frames", "ratio", "percent", "clock"] | None,
        typer.Option(
            "--span-unit",
            help="Unit of the spans, if their columns' names or values don't show "
            "that they are in seconds.",
        ),
    ] = None,
    fps: Annotated[
        str,
        typer.Option(
            "--fps", metavar="NUMBER|COLUMN", help="With --span-unit frames: frames per second."
        ),
    ] = "",
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A further key of its file: each={film}/qa/{n}, windows=union, "
            "skip=unreadable (repeat).",
        ),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without",
            metavar="COLUMN",
            help="A column to leave unused, whatever it contains (repeat).",
        ),
    ] = None,
    sheet: Annotated[
        str,
        typer.Option("--sheet", metavar="NAME", help="Sheet to read, if a workbook has several."),
    ] = "",
) -> None:
    """Make a benchmark's folder from a file of questions.

    Columns are guessed, and each guess is shown. With --like it is a copy from the gallery, with
    --twin a benchmark of a task of lmms-eval.
    """
    from reelbench.registry import discovery
    from reelbench.registry.benchmark_judge import judge_in_words
    from reelbench.registry.row_columns import ASKED
    from reelbench.tasks.benchmark_folder import STEPS, NewBenchmark, make, refuse_existing_folder

    folder = out or Path(new_id)
    refuse_existing_folder(folder)
    if discovery.is_known_name(new_id):
        raise InputError(f"{new_id}: there is a benchmark or a task of this name; choose another")
    if like:
        about_rows = {
            "--from": rows,
            "--twin": twin,
            "--kind": kind,
            "--media": media,
            "--column": column,
            "--answer-is": answer_is,
            "--span-unit": span_unit,
            "--fps": fps,
            "--set": keys,
            "--without": without,
            "--sheet": sheet,
        }
        _copy_from_gallery(new_id, like, folder, about_rows)
        return
    further_keys = _further_keys(keys or ())
    if twin:
        rows, further_keys = _rows_of_twin(twin, rows, further_keys)
    if rows is None:
        raise InputError(
            "new: give its rows with --from FILE, --like ID (`list --gallery`) or --twin TASK"
        )
    new_benchmark = NewBenchmark(
        new_id,
        rows,
        kind,
        media,
        _typed_columns(column or ()),
        answer_is,
        span_unit,
        fps,
        keys=further_keys,
        without=without or (),
        sheet=sheet,
    )
    with console.progress(f"making {new_id}", STEPS) as show:
        spec, guess = make(new_benchmark, folder, show)
    if twin:  # its rows stay on the Hub
        (folder / f"rows{rows.suffix.lower()}").unlink()
    if "facets" in further_keys:
        guess.facets = [facet.name for facet in spec.facets if facet.name != ASKED.name]
    _show_guess(guess)
    if spec.judge is not None:
        console.write(visible(judge_in_words(spec, spec.judge)))
    trial = _first_rows(discovery.open_file(folder))
    for row in trial.rows[:_SHOWN_ROWS]:
        _show_row(row)
    console.write("")
    if _answers_are_numbers(spec, trial.rows):
        console.note(
            "every answer is a number, but is matched word for word: `numbers: mra`, `within_one` "
            "or "
            "`mae` scores it by its distance"
        )
    problem = f"{trial.problem}; " if trial.problem else ""
    console.note(
        f"{problem}written to {folder}; look at {folder / 'benchmark.yaml'}, then: reelbench "
        f"check {folder}"
    )
    if trial.is_in_vain:
        raise typer.Exit(InputError.exit_code)


class _Trial(NamedTuple):
    """The first readable rows of a new benchmark, and what is wrong with it."""

    rows: "list[Row]"
    problem: str = ""
    is_in_vain: bool = False
    """True where no row can be read, or right answers score nothing."""


def _first_rows(spec: "BenchmarkSpec") -> _Trial:
    """Read a new benchmark's rows, and score right answers to the first of them."""
    from reelbench.data import mapped_rows
    from reelbench.data.loading import locate
    from reelbench.tasks.round_trip import round_trip

    rows: list[Row] = []
    faults: list[str] = []
    split = spec.default_split
    try:
        entries = mapped_rows.read_rows_or_errors(spec, locate(spec.id).paths, split)
        with console.progress("reading its rows", None) as show:
            for entry in counted(entries, show):
                if isinstance(entry.row, InputError):
                    faults.append(str(entry.row))
                elif len(rows) < _TRIED_ROWS:
                    rows.append(entry.row)
    except InputError as error:
        faults.append(str(error))
    if not rows:
        fault = faults[0] if faults else "there are no rows"
        return _Trial(rows, f"no row can be read: {fault}", is_in_vain=True)
    trip = round_trip(spec, split, rows)
    if trip is not None and not trip.perfect:
        line = f"right answers score nothing ({trip.metric.name})"
        return _Trial(rows, line, is_in_vain=True)
    skips = spec.mapping is not None and spec.mapping.skip is not None
    if skips or not faults:
        return _Trial(rows)
    return _Trial(rows, faults[0])


def _answers_are_numbers(spec: "BenchmarkSpec", rows: "Sequence[Row]") -> bool:
    """Return True where words are asked for and each answer is a number."""
    if spec.kinds != ("exact_match",) or not rows:
        return False
    return all(re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", row["answer"]) for row in rows)


def _rows_of_twin(
    twin: str, rows: Path | None, keys: dict[str, str]
) -> tuple[Path, dict[str, str]]:
    """Return the first file of a task's rows, and the keys that name them."""
    from reelbench.tasks.lmms.twin_source import twin_source

    if rows is not None:
        raise InputError(
            f"--twin: give its rows with --from FILE --set twin={twin}, without --twin"
        )
    source = twin_source(twin)
    return source.first_file, {"source": source.key, "twin": twin, **keys}


def _copy_from_gallery(
    new_id: str, like: str, folder: Path, about_rows: Mapping[str, object]
) -> None:
    """Write a copy of a benchmark of the gallery, whose rows no option describes."""
    from reelbench.tasks.gallery_copy import copy_from_gallery

    option_names = [name for name, value in about_rows.items() if value]
    if option_names:
        raise InputError(
            f"--like: leave out {', '.join(option_names)}; the copied file says where its rows are "
            "and what they contain, and can be changed afterwards"
        )
    copy_from_gallery(new_id, like, folder)
    console.note(f"written to {folder}; then: reelbench data fetch {folder}")


def _further_keys(typed: Sequence[str]) -> dict[str, str]:
    """Return the further keys of a benchmark's file, by name."""
    from reelbench.registry.benchmark_keys import KEYS

    values: dict[str, str] = {}
    for text in typed:
        name, _, value = text.partition("=")
        if name not in KEYS or not value:
            raise InputError(
                f"--set {text}: expected KEY=VALUE, with a key of a benchmark.yaml: "
                f"{', '.join(KEYS)}"
            )
        values[name] = value
    return values


def _typed_columns(typed: Sequence[str]) -> "dict[str, Column]":
    """Return the columns of `--column`, by our field's name."""
    columns: dict[str, Column] = {}
    for text in typed:
        field, _, file_column = text.partition("=")
        if not field or not file_column:
            raise InputError(f"--column {text}: expected OURS=THEIRS, such as answer=gold")
        is_list = "," in file_column and "{" not in file_column
        if is_list:
            columns[field.strip()] = tuple(file_column.split(","))
        else:
            columns[field.strip()] = file_column
    return columns


def _show_row(row: "Row") -> None:
    """Print the fields of a row that hold something."""
    console.write("")
    for field, value in row.items():
        if value in ("", []) or field == "split":
            continue
        text = str(value)
        if isinstance(value, list):
            text = " | ".join(map(str, value))
        text = visible(text)
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}…"
        console.write(f"  {field}: {text}")


def _show_guess(guess: "Guess") -> None:
    from reelbench.tasks.column_guess import OPTIONS_SEEN

    console.write(f"kind: {guess.kind}")
    for name, file_column in guess.columns.items():
        text = file_column
        if not isinstance(text, str):
            text = ", ".join(text)
        line = f"{name} <- {visible(text)}"
        why = guess.why.get(name)
        if why:
            line += f"  ({visible(why)})"
        console.write(line)
    if guess.videos_found:
        console.write(visible(guess.videos_found))
    if guess.answer_is:
        console.write(f"the answer is {guess.answer_is}")
    if guess.options:
        console.write(f"options <- {guess.options}, as {OPTIONS_SEEN[guess.options]}")
    if guess.facets:
        console.write(visible(f"facets: {', '.join(guess.facets)}"))
    if guess.unused:
        columns = [f"{name} ({content})" for name, content in guess.unused.items()]
        names = ", ".join(columns)
        console.write(visible(f"unused columns (`kind: {guess.kind}` needs none of them): {names}"))
        label_columns = [name for name, content in guess.unused.items() if content == "labels"]
        facets = ", ".join([*guess.facets, *label_columns])
        if label_columns:
            console.write(visible(f"`--set 'facets=[{facets}]'` breaks results down by labels"))
