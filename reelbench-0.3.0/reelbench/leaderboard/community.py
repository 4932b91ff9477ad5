"""Keep the numbers of the Hub's own board of a dataset, which its community states.

Nobody can compute them again, and they don't say by which judge or over how many items. So they are
shown in a group of their own, and never ranked. A store keeps them in
`community/<benchmark>.json`.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

from reelbench.base.errors import InputError
from reelbench.base.files import write_json
from reelbench.data import hub
from reelbench.leaderboard.marks import read_own
from reelbench.registry.records import Record
from reelbench.registry.spec import BenchmarkSpec, HubFile

FOLDER = "community"


class CommunityRow(Record):
    """One model on the Hub's board."""

    model: str
    value: float = Field(
        description="As it is stated there, in the unit of the benchmark's primary metric."
    )
    verified: bool = Field(description="Whether the Hub says that it was verified.")
    url: str | None = None
    pull_request: int | None = Field(
        default=None, description="Open on the model's repository; null where merged."
    )
    notes: str = ""


class Community(Record):
    """The whole file: a board as it was on a day."""

    benchmark: str
    dataset: str = Field(description="Repository whose board it is.")
    fetched: str
    rows: list[CommunityRow]


def fetch(spec: BenchmarkSpec, store: Path, dataset: str | None = None) -> Community:
    """Read a dataset's board on the Hub into a store.

    It takes the place of the one that was there.

    Raises:
        InputError: If the benchmark has no repository on the Hub and none is named, or it has no
            board.
    """
    source = spec.splits[spec.default_split].source
    repo_id = dataset
    if repo_id is None and isinstance(source, HubFile):
        repo_id = source.repo_id
    if repo_id is None:
        raise InputError(
            f"{spec.id}: its data is not on the Hub; name the repository with the board: "
            "--dataset ORG/NAME"
        )
    listed = hub.leaderboard(repo_id)
    if listed is None:
        raise InputError(
            f"{hub.page(repo_id)} has no leaderboard; its owners make one with eval.yaml"
        )
    rows = [
        CommunityRow(
            model=entry.model_id,
            value=entry.value,
            verified=bool(entry.verified),
            url=(entry.source or {}).get("url"),
            pull_request=entry.pull_request,
            notes=entry.notes or "",
        )
        for entry in listed
    ]
    fetched = datetime.now(UTC).isoformat(timespec="seconds")
    community = Community(benchmark=spec.id, dataset=repo_id, fetched=fetched, rows=rows)
    write_json(store / FOLDER / f"{spec.id}.json", community.model_dump(mode="json"))
    return community


def read(store: Path) -> Iterator[Community]:
    """Yield the boards that a store keeps. InputError where a file is not one."""
    for path in sorted((store / FOLDER).glob("*.json")):
        yield read_own(
            Community,
            path,
            "a board of the Hub",
            "import it again with `reelbench leaderboard import-hub`",
        )
