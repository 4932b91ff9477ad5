"""`reelbench cards`: dataset cards, rendered to a folder or pushed to the Hub."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.terminal import console
from reelbench.terminal.option_groups import benchmark_names

if TYPE_CHECKING:
    from reelbench.hub_cards.split_counts import Labels

_CARD_FILES = ("README.md", "eval.yaml", "plots")

_OUTCOMES = {
    "unchanged": "Nothing to change",
    "shown": "Dry run, nothing was changed",
    "committed": "Committed",
    "pull request": "Pull request",
}

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Benchmark or task.", autocompletion=benchmark_names)
]
Data = Annotated[
    Path | None,
    typer.Option(
        "--data", help="Path of the data to count; default: what this machine already has."
    ),
]
Framework = Annotated[
    str,
    typer.Option(
        "--framework",
        metavar="ID",
        help="Evaluation framework in eval.yaml: an id known to the Hub.",
    ),
]
Tags = Annotated[
    Path | None, typer.Option("--tags", help="CogME tags (JSON Lines) to count, for dramaqa_cogme.")
]


def render(
    name: Name,
    *,
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="Output folder for README.md, eval.yaml and plots/; may be a clone."
        ),
    ],
    data: Data = None,
    repo: Annotated[
        str | None, typer.Option("--repo", help="Dataset repository of the card, ORG/NAME.")
    ] = None,
    tags: Tags = None,
    framework: Framework = "reelbench",
) -> None:
    """Write a dataset card: README.md, eval.yaml, and plots if the data is here.

    It needs no network.
    """
    from reelbench.data.loading import find_split
    from reelbench.hub_cards import card_material, merge

    spec = find_split(name).spec
    data_splits: list[str] | None = None
    if out.is_dir() and not all(path.name in _CARD_FILES for path in out.iterdir()):
        # In a clone the card may name only rows that lie there: `load_dataset` ends at the first
        # file that doesn't.
        data_splits = [
            split for split in spec.splits if (out / card_material.data_path(split)).is_file()
        ]
    material = card_material.gather(
        spec,
        data,
        repo_id=repo,
        data_splits=data_splits,
        labels=_labels_of_tags(tags),
        framework=framework,
        bar=console.progress,
    )
    for note in merge.write(material, out):
        console.note(note)
    uncounted = [split.name for split in material.splits if split.counted is None]
    if uncounted:
        fetch = ""
        if spec.open_data:
            fetch = f"`reelbench data fetch {name}` or "
        console.note(
            f"Not counted, because the data is not on this machine: {', '.join(uncounted)}; "
            f"{fetch}--data PATH brings it."
        )
    console.write(str(out / merge.README))


def push(
    name: Name,
    *,
    repo: Annotated[
        str,
        typer.Option(
            "--repo", help="Dataset repository, ORG/NAME; created if you have permission."
        ),
    ],
    create_pr: Annotated[
        bool | None,
        typer.Option(
            "--create-pr/--no-create-pr",
            help="Open a pull request; the default unless you own the repository.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the difference; change nothing.")
    ] = False,
    with_data: Annotated[
        bool,
        typer.Option(
            "--with-data", help="Also push the rows as Parquet, if the licence allows it."
        ),
    ] = False,
    eval_yaml: Annotated[
        bool, typer.Option("--eval-yaml", help="Push eval.yaml too; the Hub must know --framework.")
    ] = False,
    private: Annotated[
        bool, typer.Option("--private", help="Make a new repository private.")
    ] = False,
    data: Data = None,
    tags: Tags = None,
    framework: Framework = "reelbench",
) -> None:
    """Merge a dataset card with the one on the Hub, and push it.

    The difference is shown, then committed or opened as a pull request.
    """
    from reelbench.data.loading import find_split
    from reelbench.hub_cards.push import PushOptions, push

    options = PushOptions(
        create_pr,
        dry_run=dry_run,
        with_data=with_data,
        eval_yaml=eval_yaml,
        framework=framework,
        private=private,
        bar=console.progress,
    )
    spec = find_split(name).spec
    try:
        outcome = push(
            spec,
            repo,
            options,
            data=data,
            labels=_labels_of_tags(tags),
            show=console.write,
            note=console.note,
        )
    except ReelbenchError as error:
        if not dry_run or isinstance(error, InputError):
            raise
        raise ReelbenchError(
            f"{error}; `reelbench cards render {name} --out card` writes it without the Hub"
        ) from None
    console.note(f"{_OUTCOMES[outcome.done]}: {outcome.url}")


def _labels_of_tags(tags: Path | None) -> "Labels | None":
    if tags is None:
        return None
    from reelbench.scoring.cognitive_profile import read_tags

    return {question: record.facets for question, record in read_tags(tags).items()}
