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

PublishOutcome = Literal["unchanged", "would change", "committed", "pull request"]


@dataclass(frozen=True, slots=True)
class Published:
    """The outcome for one repository, and where it can be seen."""

    done: PublishOutcome
    url: str


def submit_all(store_path: Path, repository: Repository, *, dry_run: bool) -> list[Published]:
    """Open a pull request for each submission of a store that has none yet."""
    outcomes: list[Published] = []
    with repository.errors_in_one_line():
        head = repository.head()
        requests = _requests_by_title(repository)
        for key in _submission_keys(store_path):
            if _is_published(key, head):
                continue
            request_number = requests.get(_title(key))
            if request_number is None:
                outcome = _open_pull_request(store_path, key, repository, head, dry_run=dry_run)
            else:
                page = f"{repository.page}/discussions/{request_number}"
                outcome = Published("unchanged", page)
            outcomes.append(outcome)
    return outcomes


def unsubmitted_keys(store_path: Path, state: BoardState, repository: Repository) -> list[str]:
    """Return the keys of a participant's submissions that nobody else has yet.

    What an owner received lies in his store, too, and is in its ledger.
    """
    received_keys = {file.received.key for file in state.hidden.values()}
    own_keys = [key for key in _submission_keys(store_path) if key not in received_keys]
    if not own_keys:
        return []
    with repository.errors_in_one_line():
        head = repository.head()
        requests = _requests_by_title(repository)
    waiting_keys: list[str] = []
    for key in own_keys:
        if not _is_published(key, head) and _title(key) not in requests:
            waiting_keys.append(key)
    return waiting_keys


def _is_published(key: str, head: Head) -> bool:
    return f"{RESULTS}/{key}/{hidden_submission.FILE}" in head.files


def _requests_by_title(repository: Repository) -> dict[str, int]:
    """Return the number of the user's newest pull request under each title, closed ones too.

    A closed one may be scored already or refused: its submitter opens it again where he wants to.
    """
    account = str(repository.account()["name"])
    discussions = repository.api.get_repo_discussions(
        repository.id, repo_type=repository.kind, author=account, discussion_type="pull_request"
    )
    requests = [request for request in discussions if request.author == account]
    requests.sort(key=lambda request: request.num)
    return {request.title: request.num for request in requests}


def _title(key: str) -> str:
    """Return the title of a submission's request. It begins unlike those of results."""
    return f"Reelbench submission {key.rpartition('/')[2]}"


def _submission_keys(store_path: Path) -> Iterator[str]:
    for file in sorted((store_path / hidden_key.FOLDER).glob(f"*/*/*/{hidden_submission.FILE}")):
        yield file.parent.relative_to(store_path).as_posix()


def _open_pull_request(
    store_path: Path, key: str, repository: Repository, head: Head, *, dry_run: bool
) -> Published:
    if dry_run:
        return Published("would change", repository.page)
    with TemporaryDirectory(prefix="reelbench-publish-") as name:
        folder = Path(name)
        shutil.copytree(store_path / key, folder / RESULTS / key)
        paths = [f"{RESULTS}/{key}/{file}" for file in hidden_submission.FILES]
        changes = FileChanges(folder, paths)
        url = repository.commit(
            head, changes, title=_title(key), description="", create={}, create_pr=True
        )
    return Published("pull request", url)
