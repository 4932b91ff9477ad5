"""`reelbench shortcuts`: which questions are answered right without frames, or with one, and how many those are."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import InputError
from reelbench.base.text_tables import interval, number
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json

if TYPE_CHECKING:
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.scoring.shortcuts import Shortcuts


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
    count; several filter most of them out. With runs of several frames, it also tells how often
    frames matter: most of those runs are right, and most runs without frames, and with one, are
    wrong.
    """
    from reelbench.base.files import write_jsonl
    from reelbench.scoring.shortcuts import share_of

    by_benchmark = read_shortcuts(runs)
    if write is not None:
        write_jsonl(write, (row for _, found in by_benchmark for row in _rows(found)))
    columns = ("benchmark", "shown", "#runs", "#questions", "#%", "#95 % interval")
    shares: dict[str, dict[str, Any]] = {spec.id: {} for spec, _ in by_benchmark}
    rows = []
    for spec, found in by_benchmark:
        told = [
            (name, found.runs[name], len(tallies), found.share(name))
            for name, tallies in found.tallies.items()
        ]
        if matter := found.frames_matter:
            told.append(
                ("frames matter", found.watching, len(matter), share_of(matter, found.videos))
            )
        for column, of_runs, questions, share in told:
            shares[spec.id][column] = {"runs": of_runs, "questions": questions, **asdict(share)}
            ends = share.ci95 and [100 * end for end in share.ci95]
            value = None if share.value is None else 100 * share.value
            rows.append(
                (spec.id, column, str(of_runs), str(questions), number(value, 1), interval(ends, 1))
            )
    if as_json:
        console.write_json(shares)
        return
    console.show(console.table("Questions that most of these runs have right", *columns, rows=rows))


def read_shortcuts(paths: Sequence[Path]) -> "list[tuple[BenchmarkSpec, Shortcuts]]":
    """Return the tallies of results, by benchmark; InputError where none showed 0 or 1 frames, or versions differ."""
    from reelbench.scoring import result_files
    from reelbench.scoring.shortcuts import column_of, shortcuts, showed_frames

    folders = {folder.resolve(): folder for path in paths for folder in result_files.folders(path)}
    by_benchmark: dict[str, list[tuple[Path, Any]]] = {}
    for folder in folders.values():
        result = result_files.read(folder)
        if column_of(result.settings) is not None or showed_frames(result.settings):
            by_benchmark.setdefault(result.benchmark.id, []).append((folder, result))
    by_benchmark = {
        name: results
        for name, results in by_benchmark.items()
        if any(column_of(result.settings) is not None for _, result in results)
    }
    if not by_benchmark:
        raise InputError(
            f"{paths[0]}: none of these runs showed 0 or 1 frames; run with --frames none, or --frames uniform:1"
        )
    made = []
    for name, results in by_benchmark.items():
        first, *others = (result.benchmark for _, result in results)
        if any((other.version, other.split) != (first.version, first.split) for other in others):
            raise InputError(
                f"{results[0][0]}: {name} is here in several versions or splits; give the runs of one"
            )
        spec = result_files.shared_spec(result for _, result in results)
        read = ((result.settings, result_files.read_samples(folder)) for folder, result in results)
        made.append((spec, shortcuts(spec, read, watching=True)))
    return made


def _rows(found: "Shortcuts") -> list[dict[str, Any]]:
    ids = dict.fromkeys(question for tallies in found.tallies.values() for question in tallies)
    return [
        {
            "id": question,
            "video": found.videos[question],
            **{
                column: {"shortcut": tally.is_shortcut, "right": tally.right, "runs": tally.runs}
                for column, tallies in found.tallies.items()
                if (tally := tallies.get(question)) is not None
            },
        }
        for question in ids
    ]
