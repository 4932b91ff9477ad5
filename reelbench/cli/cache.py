"""`reelbench cache`: the replies that are kept of language models."""

import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.base.settings import kept_tables
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json, reports_status

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from reelbench.llm.store import ModelReplies, SqlStore


_PLACE = "A file, or a database's address (postgresql://USER@HOST/DATABASE)"
_DAY = 86_400.0


def info(
    place: Annotated[
        str | None, typer.Argument(help=f"{_PLACE}; default: the cache of this machine.")
    ] = None,
    *,
    as_json: Json = False,
) -> None:
    """Count the stored replies of each model, and show since when."""
    with _open_store(place) as store:
        models = store.models()
        size = store.size()
        batches = store.under_way()
        name = store.name
    if as_json:
        documents = [
            {
                "model": of_model.model,
                "replies": of_model.replies,
                "first": _utc_day(of_model.first),
                "last": _utc_day(of_model.last),
            }
            for of_model in models
        ]
        console.write_json({"place": name, "bytes": size, "batches": batches, "models": documents})
        return
    under_way = number_of(batches, "batch", "batches")
    console.write(f"{name}: {_count_in_words(models)}, {size / 1e6:,.1f} MB, {under_way} under way")
    if models:
        table = console.table("", "model", "#replies", "first", "last")
        for of_model in models:
            first = _utc_day(of_model.first) or "?"
            last = _utc_day(of_model.last) or "?"
            table.add_row(of_model.model, f"{of_model.replies:,}", first, last)
        console.show(table)


@reports_status
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help=f"{_PLACE}.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Likewise; its own replies stay.")],
) -> None:
    """Copy replies from a file into a database, or back. Skip what is already there."""
    from reelbench.llm.store import AwayError
    from reelbench.llm.store import copy as copied_over

    with _open_store(source) as store, _open_store(target, new=True) as target_store:
        total = sum(of_model.replies for of_model in store.models())
        with console.progress("replies", total) as show:
            try:
                done = copied_over(store, target_store, show)
            except AwayError as error:
                raise ReelbenchError(f"{error}; run again: what was copied is kept") from None
        batches = store.under_way()
        if batches:
            console.note(
                f"{store.name}: {batches} batches are in progress and were not copied: collect "
                "them there first"
            )
        line = f"{number_of(done.copied, 'reply', 'replies')} copied"
        line += f", {done.there} were there already"
        if done.damaged:
            line += f", {done.damaged} damaged and left out"
        console.write(line)


def prune(
    place: Annotated[
        str | None, typer.Argument(help=f"{_PLACE}; default: the cache of this machine.")
    ] = None,
    *,
    older_than: Annotated[
        int | None,
        typer.Option("--older-than", metavar="DAYS", min=0, help="Older than this many days."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="Of this model, by the name that requests gave it."),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Remove them; without it they are only counted.")
    ] = False,
) -> None:
    """Remove old replies, or a model's.

    A reply that is needed again is paid for again. Without PLACE and --model, the old tests that
    builds of leaderboards keep are removed too: the next build makes them again.
    """
    if older_than is None and model is None:
        if yes:
            raise InputError("cache prune: give --older-than DAYS, --model MODEL, or both")
        console.note(
            "nothing is removed: give --older-than DAYS, --model MODEL, or both, with --yes; "
            "kept are"
        )
        info(place)
        return
    before = None if older_than is None else time.time() - older_than * _DAY
    if place is None and model is None and before is not None:
        _prune_tables(before, yes=yes)
    with _open_store(place) as store:
        to_remove = _count_in_words(store.models(before, model))
        if yes:
            removed = number_of(store.remove(before, model), "reply", "replies")
            console.write(f"{removed} removed from {store.name}")
        else:
            console.write(f"{store.name}: {to_remove} would be removed; add --yes to do it")


def _prune_tables(before: float, *, yes: bool) -> None:
    """Remove the kept tests of tables from before a time, or count them."""
    size = 0
    old_files: list[Path] = []
    for path in sorted(kept_tables().glob("*")):
        with suppress(FileNotFoundError):  # a build replaces them
            status = path.lstat()
            if status.st_mtime < before:
                size += status.st_size
                old_files.append(path)
    if not old_files:
        return
    counted = f"kept tests of {number_of(len(old_files), 'table')}, {size / 1e6:,.1f} MB"
    if not yes:
        console.write(f"{kept_tables()}: {counted} would be removed")
        return
    for path in old_files:
        path.unlink(missing_ok=True)
    console.write(f"{counted} removed from {kept_tables()}")


@contextmanager
def _open_store(place: str | None, *, new: bool = False) -> "Generator[SqlStore]":
    """Open a place of replies.

    Raises:
        InputError: It is a file that is not there, and may not be `new`.
    """
    from reelbench.llm.ask_options import cache_location
    from reelbench.llm.cache import open_store
    from reelbench.llm.store import is_address

    if place and not new and not is_address(place) and not Path(place).is_file():
        raise InputError(f"{place}: no such file")
    store = open_store(place or cache_location(), console.note)
    try:
        yield store
    finally:
        store.close()


def _count_in_words(models: "Sequence[ModelReplies]") -> str:
    replies = sum(of_model.replies for of_model in models)
    return f"{number_of(replies, 'reply', 'replies')} of {number_of(len(models), 'model')}"


def _utc_day(at: float) -> str | None:
    """Return a moment's day in UTC.

    None where a damaged file has a text for the moment, or a number beyond all years.
    """
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (TypeError, ValueError, OverflowError):
        return None
