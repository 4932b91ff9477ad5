"""`reelbench leaderboard`: results into a store, and from there to a table, a page and the Hub."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal

import typer

from reelbench.cli import console

app = typer.Typer(help="Verified results, the leaderboard's page, and publishing.", no_args_is_help=True)

Store = Annotated[Path, typer.Option(help="Folder of the results store.")]
_SHOWN = 20


@app.command()
def add(
    run_dir: Annotated[Path, typer.Argument(help="Folder with result.json and samples.jsonl, or with such folders.")],
    *,
    store: Store,
) -> None:
    """Compute every number of a result again from its samples, and file it; refuse what does not match."""
    from reelbench.leaderboard import store as stores
    from reelbench.registry.errors import InputError

    done = stores.add(run_dir, store)
    for one in [one for one in done if one.outcome != "refused"][:_SHOWN]:
        console.note(f"{one.outcome}: {one.place}" + (f" ({one.why})" if one.why else ""))
    if len(done) > _SHOWN:
        console.note(
            ", ".join(f"{number} {outcome}" for outcome, number in sorted(Counter(o.outcome for o in done).items()))
        )
    _refuse([one.why for one in done if one.outcome == "refused"], len(done), InputError)


@app.command()
def build(
    *,
    store: Store,
    out: Annotated[Path, typer.Option(help="Folder for the site; what an earlier build left there is replaced.")],
    published: Annotated[bool, typer.Option(help="List what others published, too.")] = True,
) -> None:
    """Write the leaderboard's page, which works from a disk and on any static host."""
    from reelbench.leaderboard import site

    made = site.build(store, out, published=published)
    runs = sum(entry.stored is not None for entry in made.entries)
    console.note(f"{runs} results of runs and {len(made.entries) - runs} published ones")
    console.write(str(out / "index.html"))


@app.command()
def check(folder: Annotated[Path, typer.Argument(help="Folder of a pull request to the results dataset.")]) -> None:
    """Check results as the results dataset's CI does: every number again from the samples, and where they lie."""
    from reelbench.leaderboard import store as stores
    from reelbench.registry.errors import InputError

    checked = stores.check(folder)
    for one in checked:
        if one.outcome != "refused":
            console.note(f"holds: {one.source}" + (f" ({one.why})" if one.why else ""))
    _refuse([one.why for one in checked if one.outcome == "refused"], len(checked), InputError)
    console.write(f"{len(checked)} results hold")


@app.command()
def tables(
    *,
    store: Store,
    style: Annotated[Literal["markdown", "latex"], typer.Option("--format", help="What to write.")] = "markdown",
    benchmark: Annotated[str | None, typer.Option(help="One benchmark only.")] = None,
    published: Annotated[bool, typer.Option(help="List what others published, too.")] = True,
) -> None:
    """Print a table per benchmark, split and judge, ready for a paper."""
    from reelbench.leaderboard import board
    from reelbench.leaderboard.exports import tables as files
    from reelbench.registry import discovery

    if benchmark is not None:
        discovery.get(benchmark)
    console.write(files.tables(board.make(store, published=published), style, benchmark=benchmark).rstrip("\n"))


@app.command()
def publish(
    *,
    store: Store,
    repo: Annotated[str | None, typer.Option(help="Static Space for the page, ORG/NAME; made where you may.")] = None,
    dataset: Annotated[str | None, typer.Option(help="Dataset for the results, ORG/NAME; made where you may.")] = None,
    create_pr: Annotated[
        bool, typer.Option("--create-pr", help="Offer pull requests; to the dataset, of the results alone.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> None:
    """Publish the page as a static Space, and the results as a dataset."""
    from reelbench.leaderboard import publish as publishing

    done = publishing.publish(
        store, space=repo, dataset=dataset, create_pr=create_pr, dry_run=dry_run, note=console.note
    )
    for one in done:
        console.write(f"{one.done}: {one.url}")


@app.command()
def export(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE...", help="Results stores.")],
    *,
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    style: Annotated[
        Literal["eval-results", "eee"],
        typer.Option("--format", help="eval-results: for models' repositories on the Hub; eee: Every Eval Ever 0.3.0."),
    ],
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="BENCHMARK=ORG/NAME", help="Dataset repository with the eval.yaml.")
    ] = None,
    organization: Annotated[str | None, typer.Option(help="Who ran the evaluations (eee).")] = None,
    relationship: Annotated[
        str, typer.Option(help="Theirs to the models: first_party, third_party, collaborative or other (eee).")
    ] = "other",
) -> None:
    """Write results for others' leaderboards; what they can't show is left out and said."""
    from reelbench.leaderboard import store as stores_
    from reelbench.leaderboard.exports import every_eval_ever, hub_results
    from reelbench.registry.errors import InputError

    pairs = [pair.partition("=") for pair in dataset or ()]
    if not all(name and repository for name, _, repository in pairs):
        raise InputError("--dataset: expected BENCHMARK=ORG/NAME, like rextime=ReXTime/ReXTime")
    stored = [one for store in stores for one in stores_.read(store)]
    if style == "eee":
        done = every_eval_ever.export(stored, out, organization=organization, relationship=relationship)
    else:
        done = hub_results.export(stored, out, {name: repository for name, _, repository in pairs})
    for one in done:
        if one.why:
            console.note(f"left out: {one.key}: {one.why}")
        for path in one.files:
            console.write(str(path))


def _refuse(reasons: list[str], of: int, error: type[Exception]) -> None:
    for reason in reasons[1:_SHOWN]:
        console.note(f"refused: {reason}")
    if reasons:
        raise error(f"refused {len(reasons)} of {of}: {reasons[0]}")
