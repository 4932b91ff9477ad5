"""`reelbench cache`: the replies that are kept of language models."""

import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
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
        models, size, batches = store.models(), store.size(), store.under_way()
        name = store.name
    if as_json:
        listed = [
            {
                "model": one.model,
                "replies": one.replies,
                "first": _day(one.first),
                "last": _day(one.last),
            }
            for one in models
        ]
        console.write_json({"place": name, "bytes": size, "batches": batches, "models": listed})
        return
    under_way = number_of(batches, "batch", "batches")
    console.write(f"{name}: {_count_in_words(models)}, {size / 1e6:,.1f} MB, {under_way} under way")
    if models:
        table = console.table("", "model", "#replies", "first", "last")
        for one in models:
            table.add_row(
                one.model, f"{one.replies:,}", _day(one.first) or "?", _day(one.last) or "?"
            )
        console.show(table)


@reports_status
def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help=f"{_PLACE}.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Likewise; its own replies stay.")],
) -> None:
    """Copy replies from a file into a database, or back; skip what is already there."""
    from reelbench.llm.store import AwayError
    from reelbench.llm.store import copy as copied_over

    with _open_store(source) as store, _open_store(target, new=True) as other:
        total = sum(stored.replies for stored in store.models())
        with console.progress("replies", total) as show:
            try:
                done = copied_over(store, other, show)
            except AwayError as error:
                raise ReelbenchError(f"{error}; run again: what was copied is kept") from None
        if batches := store.under_way():
            console.note(
                f"{store.name}: {batches} batches are under way, and stay: collect them there first"
            )
        left_out = f", {done.damaged} damaged and left out" if done.damaged else ""
        console.write(
            f"{number_of(done.copied, 'reply', 'replies')} copied, {done.there} were there "
            f"already{left_out}"
        )


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
    """Remove old replies, or a model's; a reply that is needed again is paid for again."""
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
    with _open_store(place) as store:
        meant = _count_in_words(store.models(before, model))
        if yes:
            console.write(
                f"{number_of(store.remove(before, model), 'reply', 'replies')} removed from "
                f"{store.name}"
            )
        else:
            console.write(f"{store.name}: {meant} would be removed; add --yes to do it")


@contextmanager
def _open_store(place: str | None, *, new: bool = False) -> "Generator[SqlStore]":
    """Open a place of replies; InputError for a file that is not there, unless it may be `new`."""
    from reelbench.llm.ask_options import cache_place
    from reelbench.llm.cache import open_store
    from reelbench.llm.store import is_address

    if place and not new and not is_address(place) and not Path(place).is_file():
        raise InputError(f"{place}: no such file")
    store = open_store(place or cache_place(), console.note)
    try:
        yield store
    finally:
        store.close()


def _count_in_words(models: "Sequence[ModelReplies]") -> str:
    return f"{number_of(sum(one.replies for one in models), 'reply', 'replies')} of {number_of(len(models), 'model')}"


def _day(at: float) -> str | None:
    """Return a moment's day.

    None where a damaged file has no moment there, but a text or a number beyond all years.
    """
    try:
        return datetime.fromtimestamp(at, UTC).date().isoformat()
    except (TypeError, ValueError, OverflowError):
        return None
