"""Hand in submissions to a hidden test: each by a pull request of its own."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from reelbench.data.hub_write import FileChanges, Head, Repository
from reelbench.leaderboard import hidden_key
from reelbench.leaderboard.results_dataset import RESULTS
from reelbench.tasks import hidden_submission

Done = Literal["unchanged", "would change", "committed", "pull request"]


@dataclass(frozen=True, slots=True)
class Published:
    """The outcome for one repository, and where it can be seen."""

    done: Done
    url: str


def offer_all(place: Path, repository: Repository, *, dry_run: bool) -> list[Published]:
    """Offer each submission of a store that isn't offered yet."""
    outcomes: list[Published] = []
    with repository.errors_in_one_line():
        head = repository.head()
        for key in _keys(place):
            if f"{RESULTS}/{key}/{hidden_submission.FILE}" not in head.files:
                outcomes.append(_offer(place, key, repository, head, dry_run=dry_run))
    return outcomes


def _keys(place: Path) -> Iterator[str]:
    for file in sorted((place / hidden_key.FOLDER).glob(f"*/*/*/{hidden_submission.FILE}")):
        yield file.parent.relative_to(place).as_posix()


def _offer(
    place: Path, key: str, repository: Repository, head: Head, *, dry_run: bool
) -> Published:
    title = f"Reelbench: submission {key.rpartition('/')[2]}"
    request = repository.open_request(title)
    if request is not None:
        return Published("unchanged", f"{repository.page}/discussions/{request}")
    if dry_run:
        return Published("would change", repository.page)
    with TemporaryDirectory(prefix="reelbench-publish-") as name:
        folder = Path(name)
        shutil.copytree(place / key, folder / RESULTS / key)
        written = [f"{RESULTS}/{key}/{file}" for file in hidden_submission.FILES]
        changes = FileChanges(folder, written)
        url = repository.commit(
            head, changes, title=title, description="", create={}, create_pr=True
        )
    return Published("pull request", url)
