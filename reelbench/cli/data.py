"""`reelbench data`: fetch annotations and videos, and check what is here."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base import settings
from reelbench.registry.splits import is_mini
from reelbench.terminal import console
from reelbench.terminal.option_groups import (
    Kind,
    Per,
    Split,
    benchmark_names,
    reports_status,
    strata,
)

if TYPE_CHECKING:
    from reelbench.data.split_check import CheckReport, Upstream
    from reelbench.registry.strata import Strata


Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Benchmark or task.", autocompletion=benchmark_names)
]
Data = Annotated[
    Path | None, typer.Option(help="Your own annotations: a file, or a folder in upstream layout.")
]

_COMES_ALONG = (
    "{spec} {split}: comes with Reelbench, and its clips are made on first use; "
    "there is nothing to fetch"
)


@reports_status
def fetch(
    name: Name,
    *,
    split: Split = None,
    data: Data = None,
    media: Annotated[bool, typer.Option("--media", help="Fetch the videos too.")] = False,
    limit: Annotated[
        int | None, typer.Option(help="Only the first N videos.", min=1), Kind.LIMIT
    ] = None,
    per: Per = None,
    refresh: Annotated[
        bool, typer.Option(help="Check upstream again; updates an unpinned revision.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option("--to", help="Save it in this folder instead of REELBENCH_HOME.")
    ] = None,
) -> None:
    """Fetch annotations, and videos with --media.

    Resumable. Every file is verified, and failures are listed at the end.
    """
    from reelbench.data import fetch, loading

    if to is not None:
        os.environ[settings.HOME.name] = str(to.absolute())
        console.note(f"for the commands that use it: export {settings.HOME.name}={to.absolute()}")
    spec, split, _ = loading.find_split(name, split)
    if is_mini(split):
        console.write(_COMES_ALONG.format(spec=spec.id, split=split))
        return
    of_each = strata(per, limit=limit)
    failures: list[fetch.Failure] = []

    def bring(keys: list[str]) -> None:
        plan = fetch.plan(spec, split, media_keys=keys, limit=limit, data=data, refresh=refresh)
        console.note(plan.summary())
        size = None if plan.unknown else plan.size
        with console.progress(spec.id, size, in_bytes=True) as show:
            report = fetch.run(plan, show)
        new_failures = [failure for failure in report.failed if failure not in failures]
        failures.extend(new_failures)

    bring([])
    if media and not failures:
        # The rows name the videos, so these come second.
        bring(wanted_videos(name, split, data, of_each))
    for failure in failures:
        console.note(f"not fetched: {failure.name}: {failure.reason}")
    if failures:
        console.note(f"{len(failures)} could not be fetched; rerun the command to continue")
        raise typer.Exit(1)


def check(name: Name, *, split: Split = None, data: Data = None) -> None:
    """Show which files exist, are missing or broken, and whether the source has changed.

    Exits with 1 if anything is missing or broken.
    """
    from reelbench.data import loading, sources
    from reelbench.data import split_check as checking

    spec, split, _ = loading.find_split(name, split)
    if is_mini(split):
        console.write(_COMES_ALONG.format(spec=spec.id, split=split))
        return
    keys: list[str] = []
    if sources.present(spec, split, data) is not None:
        keys = wanted_videos(name, split, data)
    report = checking.check(spec, split, data, keys)
    _write_files(report)
    for upstream in report.upstream:
        _write_upstream(upstream)
    if not report.complete:
        raise typer.Exit(1)


def _write_files(report: "CheckReport") -> None:
    """Write which annotations and videos are here, missing or broken."""
    if report.annotations is None:
        console.write(f"annotations: missing: {report.problem}")
    else:
        line = f"annotations: {report.annotations.location}"
        if report.annotations.revision:
            line += f" at {report.annotations.revision}"
        console.write(line)
        total = len(report.here) + len(report.missing) + len(report.broken)
        absent = f"{len(report.missing)} missing, {len(report.broken)} broken"
        console.write(f"videos: {len(report.here)} of {total} here, {absent}")
    lengths = report.seconds
    if lengths:
        mean = sum(lengths) / len(lengths)
        console.write(
            f"lengths: {mean:.1f} s in the mean, {min(lengths):.1f} to {max(lengths):.1f} s"
        )
    for key in report.missing:
        console.write(f"missing: {key}")
    for key, path, reason in report.broken:
        console.write(f"broken: {key}: {path}: {reason}")
    if report.missing:
        console.write(f"looked in: {', '.join(map(str, report.looked_in))}")


def _write_upstream(upstream: "Upstream") -> None:
    """Write whether a source has changed since it was taken."""
    if upstream.moved is None:
        state = "could not be asked"
    elif upstream.moved:
        state = f"has moved to {upstream.now}"
    else:
        state = "has not moved"
    line = f"upstream: {upstream.what} at {upstream.used}: {state}"
    if upstream.note:
        line += f" ({upstream.note})"
    console.write(line)


def wanted_videos(
    name: str, split: str, data: Path | None, per: "Strata | None" = None
) -> list[str]:
    """Return the media keys of a split's rows, in order.

    With `per`, those of the rows that it draws.
    """
    from reelbench.data import loading
    from reelbench.registry.rows import videos

    located = loading.locate(name, split, data)
    rows = located.read()
    if per is not None:
        rows = per.draw_rows(located.spec, rows)
    keys: list[str] = []
    for row in rows:
        keys.extend(videos(row))
    return keys
