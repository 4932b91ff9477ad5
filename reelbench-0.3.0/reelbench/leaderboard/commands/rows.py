"""`reelbench leaderboard`: a row's whole life, and a store made of a published dataset."""

from pathlib import Path
from typing import Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.base.text_tables import number
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json, Store

Keys = Annotated[
    list[str], typer.Argument(metavar="KEY...", help="Keys, as `leaderboard list` shows them.")
]
Key = Annotated[str, typer.Argument(metavar="KEY", help="Key of a row.")]

Submitter = Annotated[
    str | None,
    typer.Option(
        "--account",
        metavar="NAME",
        help="Who handed it in; default: it is the board's maintainers' own.",
    ),
]


def remove(
    keys: Keys,
    *,
    store: Store,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; the published ledger says it.")
    ] = "withdrawn",
) -> None:
    """Withdraw results. If one is missing, nothing is withdrawn.

    The same answers are not added again until `restore`. `publish` deletes them from the dataset.
    """
    from reelbench.leaderboard import row_life

    for key in row_life.remove(keys, store, reason):
        console.note(f"removed: {key}")


def restore(key: Key, *, store: Store) -> None:
    """Put a withdrawn result back."""
    from reelbench.leaderboard import row_life

    if row_life.restore(key, store):
        console.note(f"restored: {key}")
    else:
        console.note(
            f"{key} is withdrawn no longer; its files are not in this store: "
            "`reelbench leaderboard add` takes them again"
        )


def rename(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A model's name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name that it gets.")],
    *,
    store: Store,
) -> None:
    """Give a model another name, everywhere on the board.

    Results that are added under the old name are its too, and old addresses lead to the new one.
    """
    from reelbench.leaderboard import row_life

    rows = row_life.rename(old, new, store)
    console.note(f"renamed: {old} to {new}, {number_of(rows, 'result')}")


def move(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model's name.")],
    *,
    store: Store,
    account: Annotated[
        str | None,
        typer.Option(
            "--account",
            metavar="NAME",
            help="Who may file its results from now on; default: the board's maintainers.",
        ),
    ] = None,
) -> None:
    """Let a model's results belong to another account."""
    from reelbench.leaderboard import row_life

    row_life.move(model, account, store)
    console.note(f"moved: {model} to {account or 'the maintainers'}")


def replace(
    run_dir: Annotated[
        Path, typer.Argument(help="Folder of the corrected run: result.json and samples.jsonl.")
    ],
    *,
    store: Store,
    account: Submitter = None,
    as_maintainer: Annotated[
        bool,
        typer.Option("--as-maintainer", help="Replace it even if another account submitted it."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Put a corrected run in the place of a filed one.

    The old answers stay in the folder `replaced` of the store and of the dataset.
    """
    from reelbench.leaderboard import store as stores

    filing = stores.Filing(account, as_maintainer, replaces=True)
    outcomes = stores.add(run_dir, store, filing=filing)
    if as_json:
        console.write_json({"results": [added.as_json() for added in outcomes]})
    refused: list[str] = []
    for added in outcomes:
        if added.outcome == "refused":
            refused.append(added.why)
        else:
            reason = f" ({added.why})" if added.why else ""
            console.note(f"{added.outcome}: {added.place}{reason}")
    if refused:
        raise InputError(f"refused {len(refused)} of {len(outcomes)}: {refused[0]}")


def log(
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="One row; default: the whole ledger.")
    ] = None,
    *,
    store: Store,
) -> None:
    """Print a store's ledger: what was done, when, and by whom."""
    from reelbench.leaderboard import row_life

    for line in row_life.log(store, key):
        console.write(line)


def clone(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="Results dataset on the Hub, ORG/NAME, or a folder with a copy."
        ),
    ],
    *,
    store: Annotated[Path, typer.Option("--store", help="Store to make; not there yet.")],
) -> None:
    """Make a store of a published results dataset: the same board, byte for byte."""
    from reelbench.leaderboard import cloning

    rows = cloning.clone(source, store, console.note)
    console.note(f"cloned: {number_of(rows, 'result')} of {source}")


def reveal(
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK", help="The benchmark, or its folder, with answers in its rows."
        ),
    ],
    *,
    store: Store,
) -> None:
    """Recompute the rows of a hidden test whose answers are public now.

    Each is filed as any other result, and its numbers are held to what was published.
    """
    from reelbench.leaderboard import hidden_reveal

    table = console.table("", "model", "metric", "#published", "#recomputed", "")
    differing = 0
    for row in hidden_reveal.reveal(benchmark, store):
        comment = row.why
        if not row.is_same:
            differing += 1
            comment = comment or "differs"
        values = [row.published.value, row.recomputed]
        cells = [number(value, row.digits) for value in values]
        table.add_row(row.model, row.metric, *cells, comment)
    console.show(table)
    if differing:
        raise ReelbenchError(f"{number_of(differing, 'number')} unlike what was published")
