"""Hand in submissions to a hidden test: each by a pull request of its own."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from reelbench.data.hub_write import FileChanges, Head, Repository
from reelbench.leaderboard import hidden_key
from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.results_dataset import RESULTS
from reelbench.tasks import hidden_submission

Publishing = Literal["unchanged", "would change", "committed", "pull request"]


@dataclass(frozen=True, slots=True)
class Published:
    """The outcome for one repository, and where it can be seen."""

    done: Publishing
    url: str


def offer_all(place: Path, repository: Repository, *, dry_run: bool) -> list[Published]:
    """Offer each submission of a store that isn't offered yet."""
    outcomes: list[Published] = []
    with repository.errors_in_one_line():
        head = repository.head()
        requests = _own_requests(repository)
        for key in _keys(place):
            if _is_there(key, head):
                continue
            request = requests.get(_title(key))
            if request is not None:
                page = f"{repository.page}/discussions/{request}"
                outcomes.append(Published("unchanged", page))
                continue
            outcomes.append(_offer(place, key, repository, head, dry_run=dry_run))
    return outcomes


def not_offered(place: Path, state: BoardState, repository: Repository) -> list[str]:
    """Return the keys of a participant's submissions that nobody else has yet.

    What an owner received lies in his store, too, and is in its ledger.
    """
    received = {file.received.key for file in state.hidden.values()}
    own_keys = [key for key in _keys(place) if key not in received]
    if not own_keys:
        return []
    with repository.errors_in_one_line():
        head = repository.head()
        requests = _own_requests(repository)
    return [key for key in own_keys if not _is_there(key, head) and _title(key) not in requests]


def _is_there(key: str, head: Head) -> bool:
    return f"{RESULTS}/{key}/{hidden_submission.FILE}" in head.files


def _own_requests(repository: Repository) -> dict[str, int]:
    """Return the newest pull request of each title of the user's, closed ones too.

    A closed one may be scored already or refused: its submitter opens it again where he wants to.
    """
    account = str(repository.account()["name"])
    discussions = repository.api.get_repo_discussions(
        repository.id, repo_type=repository.kind, author=account, discussion_type="pull_request"
    )
    own_requests = [request for request in discussions if request.author == account]
    own_requests.sort(key=lambda request: request.num)
    return {request.title: request.num for request in own_requests}


def _title(key: str) -> str:
    """Return the title of a submission's request. It begins unlike those of results."""
    return f"Reelbench submission {key.rpartition('/')[2]}"


def _keys(place: Path) -> Iterator[str]:
    for file in sorted((place / hidden_key.FOLDER).glob(f"*/*/*/{hidden_submission.FILE}")):
        yield file.parent.relative_to(place).as_posix()


def _offer(
    place: Path, key: str, repository: Repository, head: Head, *, dry_run: bool
) -> Published:
    if dry_run:
        return Published("would change", repository.page)
    with TemporaryDirectory(prefix="reelbench-publish-") as name:
        folder = Path(name)
        shutil.copytree(place / key, folder / RESULTS / key)
        written = [f"{RESULTS}/{key}/{file}" for file in hidden_submission.FILES]
        changes = FileChanges(folder, written)
        url = repository.commit(
            head, changes, title=_title(key), description="", create={}, create_pr=True
        )
    return Published("pull request", url)
