"""`reelbench shortcuts`: questions that are answered right without frames, or with one."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import InputError
from reelbench.base.text_tables import interval, number
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json

if TYPE_CHECKING:
    from reelbench.registry.records import Result
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.scoring.shortcuts import Shortcuts
    from reelbench.stats.intervals import Estimate


@dataclass(frozen=True, slots=True)
class BenchmarkShortcuts:
    """A benchmark, and how often its questions were answered right with few frames."""

    spec: "BenchmarkSpec"
    shortcuts: "Shortcuts"


@dataclass(frozen=True, slots=True)
class _ShownShare:
    """A row of the table: the frames, the runs, and the share of questions."""

    frames: str
    runs: int
    questions: int
    share: "Estimate"


def show_shortcuts(
    runs: Annotated[
        list[Path],
        typer.Argument(metavar="RUN...", help="Results, or folders of results, with any frames."),
    ],
    *,
    write: Annotated[
        Path | None,
        typer.Option(
            "--write", metavar="FILE", help="Write each question's columns to FILE (JSON Lines)."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List questions that need no video.

    Most runs without frames, or with one, answer these right.

    Make such runs with --frames none and --frames uniform:1. With one such run, lucky guesses
    count. Several filter most of them out. With runs of several frames, it also tells how often
    frames matter: most of those runs are right, and most runs without frames, and with one, are
    wrong.
    """
    from reelbench.base.files import write_jsonl

    benchmarks = read_shortcuts(runs)
    if write is not None:
        write_jsonl(write, _question_rows(benchmarks))
    columns = ("benchmark", "shown", "#runs", "#questions", "#%", "#95 % interval")
    table = console.table(
        "Questions that most of these runs have right",
        *columns,
    )
    shares: dict[str, dict[str, Any]] = {}
    for benchmark in benchmarks:
        benchmark_id = benchmark.spec.id
        shares[benchmark_id] = {}
        for row in _shown_shares(benchmark.shortcuts):
            shares[benchmark_id][row.frames] = {
                "runs": row.runs,
                "questions": row.questions,
                **asdict(row.share),
            }
            table.add_row(
                benchmark_id,
                row.frames,
                str(row.runs),
                str(row.questions),
                *_percent_cells(row.share),
            )
    if as_json:
        console.write_json(shares)
    else:
        console.show(table)


def _shown_shares(shortcuts: "Shortcuts") -> Iterator[_ShownShare]:
    from reelbench.scoring.shortcuts import share_of

    for name, tallies in shortcuts.tallies.items():
        yield _ShownShare(name, shortcuts.runs[name], len(tallies), shortcuts.share(name))
    frames_matter = shortcuts.frames_matter
    if frames_matter:
        share = share_of(frames_matter, shortcuts.videos)
        yield _ShownShare("frames matter", shortcuts.watching, len(frames_matter), share)


def _percent_cells(share: "Estimate") -> tuple[str, str]:
    """Return a share and its interval in percent, as cells."""
    value = None
    if share.value is not None:
        value = 100 * share.value
    ends = None
    if share.ci95:
        ends = [100 * end for end in share.ci95]
    return number(value, 1), interval(ends, 1)


def read_shortcuts(paths: Sequence[Path]) -> list[BenchmarkShortcuts]:
    """Return the tallies of results, by benchmark.

    Raises:
        InputError: No run showed 0 or 1 frames, or runs of a benchmark differ in version or split.
    """
    from reelbench.scoring import result_files
    from reelbench.scoring.shortcuts import shortcuts

    by_benchmark = _results_by_benchmark(paths)
    if not by_benchmark:
        raise InputError(
            f"{paths[0]}: none of these runs showed 0 or 1 frames; run with --frames none, or "
            "--frames uniform:1"
        )
    benchmarks: list[BenchmarkShortcuts] = []
    for name, result_of_folder in by_benchmark.items():
        _check_one_version(name, result_of_folder)
        spec = result_files.shared_spec(result_of_folder.values())
        # Samples are read as they are counted: those of all runs may be more than memory holds.
        runs = (
            (result.settings, result_files.read_samples(folder))
            for folder, result in result_of_folder.items()
        )
        benchmarks.append(BenchmarkShortcuts(spec, shortcuts(spec, runs, watching=True)))
    return benchmarks


def _check_one_version(name: str, result_of_folder: "dict[Path, Result]") -> None:
    """Raise InputError for results of several versions or splits of a benchmark."""
    versions: set[tuple[int, str]] = set()
    for result in result_of_folder.values():
        versions.add((result.benchmark.version, result.benchmark.split))
    if len(versions) > 1:
        folder = next(iter(result_of_folder))
        raise InputError(
            f"{folder}: {name} is here in several versions or splits; give the runs of one"
        )


def _results_by_benchmark(paths: Sequence[Path]) -> "dict[str, dict[Path, Result]]":
    """Return the results, by benchmark and folder, where some run showed 0 or 1 frames."""
    from reelbench.scoring import result_files
    from reelbench.scoring.shortcuts import column_of, showed_frames

    folders: dict[Path, Path] = {}
    for path in paths:
        for folder in result_files.folders(path):
            folders[folder.resolve()] = folder
    by_benchmark: dict[str, dict[Path, Result]] = {}
    with_few_frames: set[str] = set()
    for folder in folders.values():
        result = result_files.read(folder)
        has_few_frames = column_of(result.settings) is not None
        if has_few_frames:
            with_few_frames.add(result.benchmark.id)
        if has_few_frames or showed_frames(result.settings):
            by_benchmark.setdefault(result.benchmark.id, {})[folder] = result
    return {name: by_benchmark[name] for name in by_benchmark if name in with_few_frames}


def _question_rows(benchmarks: Sequence[BenchmarkShortcuts]) -> Iterator[dict[str, Any]]:
    """Yield a line for each question: how often runs with few frames had it right."""
    for benchmark in benchmarks:
        shortcuts = benchmark.shortcuts
        question_ids: dict[str, None] = {}
        for tallies in shortcuts.tallies.values():
            question_ids.update(dict.fromkeys(tallies))
        for question_id in question_ids:
            row: dict[str, Any] = {"id": question_id, "video": shortcuts.videos[question_id]}
            for column, tallies in shortcuts.tallies.items():
                tally = tallies.get(question_id)
                if tally is not None:
                    row[column] = {
                        "shortcut": tally.is_shortcut,
                        "right": tally.right,
                        "runs": tally.runs,
                    }
            yield row
