"""`reelbench check`: the state of a benchmark that a file declares, as it would be asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.credentials import without_credentials
from reelbench.base.errors import InputError, cut_in_the_middle, number_of, visible
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json

if TYPE_CHECKING:
    from reelbench.data.declared_check import CheckedSplit
    from reelbench.registry.rows import Row
    from reelbench.registry.spec import BenchmarkSpec

_SHOWN_PROBLEMS = 20


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
