"""`reelbench new` and `reelbench check`: a benchmark of one's own, in one file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from reelbench.base.credentials import without_credentials
from reelbench.base.errors import InputError, cut_in_the_middle, number_of, visible
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json

if TYPE_CHECKING:
    from reelbench.data.declared_check import CheckedSplit
    from reelbench.registry.rows import Row
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.tasks.column_guess import Column, Guess

_SHOWN_ROWS = 3
_SHOWN_PROBLEMS = 20
_LONGEST = 70


def new(
    new_id: Annotated[
        str, typer.Argument(metavar="NAME", help="Id of the new benchmark: lower case, digits, _.")
    ],
    *,
    rows: Annotated[
        Path,
        typer.Option(
            "--from", metavar="FILE", help="Its rows: JSON, JSON Lines, CSV, TSV, Parquet or Excel."
        ),
    ],
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
        Literal["seconds", "milliseconds", "frames", "ratio", "percent", "clock"] | None,
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
            help="A column that is left unused, whatever it holds (repeat).",
        ),
    ] = None,
) -> None:
    """Make a benchmark's folder from a file of questions.

    Columns are guessed, and each guess is shown.
    """
    from reelbench.data.loading import locate
    from reelbench.registry import discovery
    from reelbench.tasks.benchmark_folder import NewBenchmark, make

    if discovery.knows(new_id):
        raise InputError(f"{new_id}: there is a benchmark or a task of this name; choose another")
    folder = out or Path(new_id)
    new_benchmark = NewBenchmark(
        new_id,
        rows,
        kind,
        media,
        _columns(column or ()),
        answer_is,
        span_unit,
        fps,
        keys=_keys(keys or ()),
        without=without or (),
    )
    spec, guess = make(new_benchmark, folder)
    _show_guess(guess)
    problem = ""
    try:
        discovery.open_file(folder)
        for row in locate(spec.id).read()[:_SHOWN_ROWS]:
            _show_row(row)
    except InputError as error:
        problem = f"{error}; "
    console.write("")
    console.note(
        f"{problem}written to {folder}; look at {folder / 'benchmark.yaml'}, then: reelbench "
        f"check {folder}"
    )


def _keys(typed: Sequence[str]) -> dict[str, str]:
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


def _columns(typed: Sequence[str]) -> "dict[str, Column]":
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


def _sent(spec: "BenchmarkSpec", splits: "Sequence[CheckedSplit]") -> dict[str, Any]:
    """Return the prompts as they are sent, the servers, and the files that are read.

    The servers are those that are asked where no option says.
    """
    from reelbench.base import settings
    from reelbench.llm.ask_options import OPENAI_URL
    from reelbench.registry import prompts

    files = [spec.file, spec.folder / spec.prompt]
    judge_url = None
    if spec.judge:
        files += sorted(prompts.judge_folder(spec, spec.judge).glob("*.txt"))
        server = settings.first(settings.JUDGE_URL, settings.OPENAI_BASE_URL) or OPENAI_URL
        judge_url = without_credentials(server)
    url = settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL) or OPENAI_URL
    videos: list[Path] = []
    for split in splits:
        files += split.files
        videos += split.videos
    return {
        "prompts": _distinct_prompts(spec, splits),
        "server": without_credentials(url),
        "judge_server": judge_url,
        "files": list(dict.fromkeys(map(str, files))),
        "videos": list(dict.fromkeys(map(str, videos))),
    }


def _distinct_prompts(
    spec: "BenchmarkSpec", splits: "Sequence[CheckedSplit]"
) -> list[dict[str, str]]:
    """Return each prompt for the first row that has it.

    Languages and kinds of questions may have one prompt.
    """
    from reelbench.registry import prompts
    from reelbench.tasks.prompting import prompt_of

    first_row: dict[tuple[str, bool], Row] = {}
    for split in splits:
        for row in split.rows:
            template = prompts.prompt_template(spec, language=row["language"])
            first_row.setdefault((template, bool(row.get("options"))), row)
    return [
        {"language": row["language"], "prompt": prompt_of(spec, row)} for row in first_row.values()
    ]


_MOST_SENT = 100_000  # characters of a question that a terminal is shown; --json has all


def _show_sent(sent: Mapping[str, Any]) -> None:
    for number, prompt in enumerate(sent["prompts"]):
        which = ""
        if number:
            which = visible(f" in {prompt['language']} that is asked otherwise")
        console.write(f"a question as it is sent, for the first row{which}:")
        for line in cut_in_the_middle(prompt["prompt"], _MOST_SENT).split("\n"):
            console.write(f"  | {visible(line)}")
    console.write(
        f"nothing is sent now; `ask` sends it to {visible(sent['server'])}, or to --llm-url"
    )
    if sent["judge_server"]:
        console.write(
            f"its answers are judged at {visible(sent['judge_server'])}, or at --judge-url"
        )
    folders = Counter(str(Path(video).parent) for video in sent["videos"])
    parts = list(sent["files"])
    for folder, count in folders.items():
        parts.append(f"{number_of(count, 'file')} of videos in {folder}")
    console.write("read: " + visible("; ".join(parts)))


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
    if guess.answer_is:
        console.write(f"the answer is {guess.answer_is}")
    if guess.options:
        console.write(f"options <- {guess.options}, as {OPTIONS_SEEN[guess.options]}")
    if guess.facets:
        console.write(visible(f"facets: {', '.join(guess.facets)}"))
    if guess.unused:
        names = ", ".join(guess.unused)
        console.write(visible(f"not used, as no key of `kind: {guess.kind}` needs them: {names}"))


def check(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A benchmark.yaml, its folder, or the id of one.")
    ],
    *,
    outside: Annotated[
        list[Path] | None,
        typer.Option(
            "--allow-outside",
            metavar="DIR",
            help="Permanently allow it to read files in DIR (repeat).",
        ),
    ] = None,
    media: Annotated[
        bool, typer.Option("--media/--no-media", help="Look for the videos too; without, as in CI.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Check a benchmark's file, rows, prompts and videos.

    Shows a prompt as it is sent, to whom, and every file that is read; then one line for each
    problem.
    """
    from reelbench.base import containment
    from reelbench.data import declared_check
    from reelbench.registry import discovery
    from reelbench.registry.benchmark_file import file_of

    for folder in outside or ():
        if Path(path).exists():
            benchmark_folder = file_of(path).parent
        else:
            benchmark_folder = discovery.find(path).folder
        containment.allow(benchmark_folder, folder)
    spec = discovery.find(path)
    if spec.mapping is None:
        raise InputError(
            f"{path}: no benchmark.yaml declares it; its data: reelbench data check {path}"
        )
    splits = list(declared_check.check(spec, media=media))
    problems: list[str] = []
    for split in splits:
        problems += split.problems
    if as_json:
        counts = {
            split.name: {"rows": len(split.rows), "problems": split.problems} for split in splits
        }
        console.write_json({"benchmark": spec.id, "splits": counts, **_sent(spec, splits)})
    else:
        for split in splits:
            _show_counts(spec, split)
        _show_sent(_sent(spec, splits))
    for split in splits:
        for note in split.notes:
            console.note(note)
    if problems:
        _show_problems(problems)
        raise typer.Exit(InputError.exit_code)


def _show_problems(problems: Sequence[str]) -> None:
    for problem in problems[:_SHOWN_PROBLEMS]:
        console.note(problem)
    if len(problems) > _SHOWN_PROBLEMS:
        console.note(f"and {len(problems) - _SHOWN_PROBLEMS} more; --json has all")


def _show_counts(spec: "BenchmarkSpec", split: "CheckedSplit") -> None:
    """Print how many questions a split has, and on how many videos."""
    from reelbench.registry import rows

    video_keys: set[str] = set()
    for row in split.rows:
        video_keys.update(rows.videos(row))
    questions = number_of(len(split.rows), "question")
    videos = number_of(len(video_keys), "video")
    console.write(f"{spec.id} {split.name}: {questions} on {videos}")
