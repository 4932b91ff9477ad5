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
    from reelbench.registry.benchmark_keys import KEYS
    from reelbench.tasks.benchmark_folder import NewBenchmark, make

    if discovery.knows(new_id):
        raise InputError(f"{new_id}: there is a benchmark or a task of this name; choose another")
    folder = out or Path(new_id)
    stated: dict[str, str] = {}
    for text in keys or ():
        name, _, value = text.partition("=")
        if name not in KEYS or not value:
            raise InputError(
                f"--set {text}: expected KEY=VALUE, with a key of a benchmark.yaml: "
                f"{', '.join(KEYS)}"
            )
        stated[name] = value
    columns: dict[str, Column] = {}
    for text in column or ():
        ours, _, theirs = text.partition("=")
        if not ours or not theirs:
            raise InputError(f"--column {text}: expected OURS=THEIRS, such as answer=gold")
        parts = tuple(theirs.split(","))
        columns[ours.strip()] = parts if len(parts) > 1 and "{" not in theirs else theirs
    wanted = NewBenchmark(
        new_id,
        rows,
        kind,
        media,
        columns,
        answer_is,
        span_unit,
        fps,
        keys=stated,
        without=without or (),
    )
    spec, guessed = make(wanted, folder)
    _show_guess(guessed)
    problem = ""
    try:
        discovery.open_file(folder)
        for row in locate(spec.id).read()[:_SHOWN_ROWS]:
            console.write("")
            for field, value in row.items():
                if value not in ("", []) and field != "split":
                    text = visible(
                        " | ".join(map(str, value)) if isinstance(value, list) else str(value)
                    )
                    console.write(
                        f"  {field}: {text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'}"
                    )
    except InputError as error:
        problem = f"{error}; "
    console.write("")
    console.note(
        f"{problem}written to {folder}; look at {folder / 'benchmark.yaml'}, then: reelbench "
        f"check {folder}"
    )


def _sent(spec: "BenchmarkSpec", splits: "Sequence[CheckedSplit]") -> dict[str, Any]:
    """What a model would be asked, by the first row.

    Which server is asked where no option says; what is read.
    """
    from reelbench.base import settings
    from reelbench.llm.ask_options import OPENAI_URL
    from reelbench.registry import prompts
    from reelbench.tasks.prompting import prompt_of

    shown: dict[
        tuple[str, bool], Row
    ] = {}  # of languages, and kinds of questions, that have one prompt, the first
    for row in (row for split in splits for row in split.rows):
        template = prompts.prompt_template(spec, language=row["language"])
        shown.setdefault((template, bool(row.get("options"))), row)
    judge = sorted(prompts.judge_folder(spec, spec.judge).glob("*.txt")) if spec.judge else []
    files = [
        spec.file,
        spec.folder / spec.prompt,
        *judge,
        *(file for split in splits for file in split.files),
    ]
    judge_url = settings.first(settings.JUDGE_URL, settings.OPENAI_BASE_URL) or OPENAI_URL
    url = settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL) or OPENAI_URL
    return {
        "prompts": [
            {"language": row["language"], "prompt": prompt_of(spec, row)} for row in shown.values()
        ],
        "server": without_credentials(url),
        "judge_server": without_credentials(judge_url) if spec.judge else None,
        "files": list(dict.fromkeys(map(str, files))),
        "videos": list(dict.fromkeys(str(video) for split in splits for video in split.videos)),
    }


_MOST_SENT = 100_000  # characters of a question that a terminal is shown; --json has all


def _show_sent(sent: Mapping[str, Any]) -> None:
    for number, asked in enumerate(sent["prompts"]):
        which = visible(f" in {asked['language']} that is asked otherwise") if number else ""
        console.write(f"a question as it is sent, for the first row{which}:")
        for line in cut_in_the_middle(asked["prompt"], _MOST_SENT).split("\n"):
            console.write(f"  | {visible(line)}")
    console.write(
        f"nothing is sent now; `ask` sends it to {visible(sent['server'])}, or to --llm-url"
    )
    if sent["judge_server"]:
        console.write(
            f"its answers are judged at {visible(sent['judge_server'])}, or at --judge-url"
        )
    folders = Counter(str(Path(video).parent) for video in sent["videos"])
    videos = [
        f"{number_of(count, 'file')} of videos in {folder}" for folder, count in folders.items()
    ]
    console.write("read: " + visible("; ".join([*sent["files"], *videos])))


def _show_guess(guessed: "Guess") -> None:
    from reelbench.tasks.column_guess import OPTIONS_SEEN

    console.write(f"kind: {guessed.kind}")
    for name, theirs in guessed.columns.items():
        why = guessed.why.get(name)
        shown = visible(theirs if isinstance(theirs, str) else ", ".join(theirs))
        console.write(f"{name} <- {shown}" + (f"  ({visible(why)})" if why else ""))
    if guessed.answer_is:
        console.write(f"the answer is {guessed.answer_is}")
    if guessed.options:
        console.write(f"options <- {guessed.options}, as {OPTIONS_SEEN[guessed.options]}")
    if guessed.facets:
        console.write(visible(f"facets: {', '.join(guessed.facets)}"))
    if guessed.unused:
        console.write(
            visible(
                f"not used, as no key of `kind: {guessed.kind}` needs them: "
                f"{', '.join(guessed.unused)}"
            )
        )


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
    from reelbench.registry import discovery, rows
    from reelbench.registry.benchmark_file import file_of

    for folder in outside or ():
        containment.allow(
            file_of(path).parent if Path(path).exists() else discovery.find(path).folder, folder
        )
    spec = discovery.find(path)
    if spec.mapping is None:
        raise InputError(
            f"{path}: no benchmark.yaml declares it; its data: reelbench data check {path}"
        )
    splits = list(declared_check.check(spec, media=media))
    problems = [problem for split in splits for problem in split.problems]
    if as_json:
        counted = {
            split.name: {"rows": len(split.rows), "problems": split.problems} for split in splits
        }
        console.write_json({"benchmark": spec.id, "splits": counted, **_sent(spec, splits)})
    else:
        for split in splits:
            videos = number_of(
                len({key for row in split.rows for key in rows.videos(row)}), "video"
            )
            console.write(
                f"{spec.id} {split.name}: {number_of(len(split.rows), 'question')} on {videos}"
            )
        _show_sent(_sent(spec, splits))
    for note in [note for split in splits for note in split.notes]:
        console.note(note)
    for problem in problems[:_SHOWN_PROBLEMS]:
        console.note(problem)
    if len(problems) > _SHOWN_PROBLEMS:
        console.note(f"and {len(problems) - _SHOWN_PROBLEMS} more; --json has all")
    if problems:
        raise typer.Exit(InputError.exit_code)
