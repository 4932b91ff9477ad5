"""Check a pull request to a results dataset on the Hub, and say the outcome in one comment on it.

Only results are read, each from the commit that was offered, by a process that is ended when it
takes too much. Nothing of it is run. A comment names its commit, so a second check of the same
commit writes nothing, and the comment on a new commit replaces the old one.
"""

import os
import shutil
import threading
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal, NamedTuple

from reelbench.base.bounded import Bounds, EndedError, OverrunError, run_bounded
from reelbench.base.errors import InputError
from reelbench.base.settings import home
from reelbench.data.hub import RemoteFile
from reelbench.data.hub_write import Head, Repository, differs
from reelbench.leaderboard import changed_files, results_dataset, submission_page
from reelbench.leaderboard.changed_files import ChangedFiles
from reelbench.leaderboard.submission import Report

if TYPE_CHECKING:
    from huggingface_hub import DiscussionComment, DiscussionWithDetails

CheckOutcome = Literal["commented", "updated", "unchanged", "skipped", "not in time"]

_NOT_FOUND = 404


class OfferedCommit(NamedTuple):
    """The commit that a pull request offers, and our comment's id, if any."""

    commit: str
    comment_id: str | None


class PullRequestChanges(NamedTuple):
    """The changes that a pull request makes.

    Attributes:
        commit: The commit that it offers.
        paths: What it touches and removes.
        files: The files of the results that it touches.
    """

    commit: str
    paths: ChangedFiles
    files: dict[str, RemoteFile]


class PullRequests:
    """The pull requests to one results dataset, as the account of `HF_TOKEN` sees them."""

    def __init__(self, dataset: str, me: str | None = None) -> None:
        """Raise InputError where `dataset` is not there.

        ReelbenchError where the Hub refuses the token.
        """
        self._repository = Repository(dataset, "dataset")
        self._download_lock = threading.Lock()
        self.dataset = dataset
        with self._repository.errors_in_one_line():
            self._account = me or self._repository.account()["name"]
            if me is None and self._repository.head().commit is None:
                raise InputError(
                    f"{self._repository.page}: not there, or private and not yours; "
                    "name the results dataset"
                )

    def open(self) -> dict[int, str]:
        """Return the authors of the open ones by their numbers, the oldest first."""
        with self._repository.errors_in_one_line():
            discussions = self._repository.api.get_repo_discussions(
                self.dataset,
                repo_type="dataset",
                discussion_type="pull_request",
                discussion_status="open",
            )
            authors = {discussion.num: discussion.author for discussion in discussions}
        return dict(sorted(authors.items()))

    def author(self, number: int) -> str:
        """Return the account that opened a pull request."""
        return self._details(number).author

    def _details(self, number: int) -> "DiscussionWithDetails":
        with self._repository.errors_in_one_line():
            return self._repository.api.get_discussion_details(
                self.dataset, number, repo_type="dataset"
            )

    def check(self, number: int, bounds: Bounds, is_last_try: bool) -> CheckOutcome:
        """Check the commit that a pull request offers now, and comment on it.

        Args:
            number: Number of the pull request.
            bounds: Time and memory of the check. One that exceeds them is `not in time`.
            is_last_try: Comment on a check that exceeds its bounds, instead.

        Raises:
            ReelbenchError: If the Hub refused or broke off.
        """
        store = self._download_main()
        # The review runs in another process, and sends the commit as soon as it knows it.
        offered_commits: list[OfferedCommit] = []
        with TemporaryDirectory(prefix="reelbench-pull-request-") as folder:
            arguments = ((self.dataset, self._account), number, store, Path(folder))
            try:
                text = run_bounded(
                    _review_in_process, *arguments, bounds=bounds, hear=offered_commits.append
                )
            except EndedError as error:
                if isinstance(error, OverrunError) and not is_last_try:
                    return "not in time"
                if not offered_commits:
                    raise
                commit = offered_commits[-1].commit
                text = submission_page.markdown_unchecked(commit, str(error))
        if not offered_commits:
            return "skipped"
        if text is None:
            return "unchanged"
        return self._write_comment(number, offered_commits[-1].comment_id, text)

    def _write_comment(self, number: int, comment_id: str | None, text: str) -> CheckOutcome:
        """Write a comment on a pull request, or replace the text of our earlier one."""
        api = self._repository.api
        with self._repository.errors_in_one_line():
            if comment_id is None:
                api.comment_discussion(self.dataset, number, text, repo_type="dataset")
                return "commented"
            api.edit_discussion_comment(self.dataset, number, comment_id, text, repo_type="dataset")
            return "updated"

    def review(
        self, number: int, store: Path, folder: Path, on_offer: Callable[[OfferedCommit], None]
    ) -> str | None:
        """Return the comment to write on a pull request. None where none is needed.

        Args:
            number: Number of the pull request.
            store: The store with whose results its own are compared.
            folder: Folder to which its results are downloaded.
            on_offer: Called with the offered commit, before it is checked.
        """
        details = self._details(number)
        if not details.is_pull_request or details.status not in ("open", "draft", "merged"):
            return None
        previous_comment = self._previous_comment(details)
        if details.status == "merged":
            return self._comment_on_unchecked_merge(number, previous_comment, on_offer)
        changes = self._changes(number)
        if not changes.paths.touched and not changes.paths.removed:
            return None
        if previous_comment is None:
            on_offer(OfferedCommit(changes.commit, None))
        else:
            on_offer(OfferedCommit(changes.commit, previous_comment.id))
            if submission_page.commit_of(previous_comment.content) == changes.commit:
                return None
        report = self._report(changes, store, folder, details.author)
        return submission_page.markdown(report, commit=changes.commit)

    def _comment_on_unchecked_merge(
        self,
        number: int,
        previous_comment: "DiscussionComment | None",
        on_offer: Callable[[OfferedCommit], None],
    ) -> str | None:
        """Return the comment on a merged commit that was not checked.

        None where the merged commit is the checked one, or none was ever checked.
        """
        if previous_comment is None:
            return None
        checked_commit = submission_page.commit_of(previous_comment.content)
        with self._repository.errors_in_one_line():
            merged_commit = str(self._repository.head(f"refs/pr/{number}").commit)
        if checked_commit is None or checked_commit == merged_commit:
            return None
        on_offer(OfferedCommit(merged_commit, previous_comment.id))
        reason = (
            f"it was merged with this commit, and {checked_commit[:12]} was checked; "
            "`reelbench leaderboard add` checks what it files"
        )
        return submission_page.markdown_unchecked(merged_commit, reason)

    def _previous_comment(self, details: "DiscussionWithDetails") -> "DiscussionComment | None":
        """Return our last comment on a pull request."""
        from huggingface_hub import DiscussionComment

        previous_comment: DiscussionComment | None = None
        for event in details.events:
            if not isinstance(event, DiscussionComment) or event.hidden:
                continue
            if event.author == self._account and event.content.startswith(submission_page.TITLE):
                previous_comment = event
        return previous_comment

    def _changes(self, number: int) -> PullRequestChanges:
        """Return the changes of a pull request since it left `main`."""
        revision = f"refs/pr/{number}"
        with self._repository.errors_in_one_line():
            head = self._repository.head(revision)
            bases = [self._repository.head(commit) for commit in self._merge_bases(revision)]
        touched: set[str] = set()
        removed: set[str] = set()
        for base in bases:
            for path, file in head.files.items():
                if base.files.get(path) != file:
                    touched.add(path)
            removed.update(base.files.keys() - head.files.keys())
        paths = ChangedFiles(tuple(sorted(touched)), tuple(sorted(removed)))
        changed_keys = {*paths.keys, *paths.submissions}
        files: dict[str, RemoteFile] = {}
        for path, file in head.files.items():
            key = results_dataset.key_of_path(path) or results_dataset.key_of_submission(path)
            if key in changed_keys:
                files[path] = file
        return PullRequestChanges(str(head.commit), paths, files)

    def _merge_bases(self, revision: str) -> list[str | None]:
        """Return the commits at which a revision left `main`, as `git merge-base --all` does.

        They are common commits, none of which is in the history of another. The order of the Hub's
        lists doesn't tell which those are: it goes by dates that authors write. [None], for the
        head of `main`, where there is no common commit.
        """
        commits_of_revision = set(self._history(revision))
        common_commits = [
            commit for commit in self._history("main") if commit in commits_of_revision
        ]
        candidates: list[str] = []
        ancestors_of_candidates: set[str] = set()
        for commit in common_commits:
            if commit not in ancestors_of_candidates:
                candidates.append(commit)
                ancestors_of_candidates.update(self._history(commit)[1:])
        bases: list[str | None] = []
        for commit in candidates:
            if commit not in ancestors_of_candidates:
                bases.append(commit)
        return bases or [None]

    def _history(self, revision: str) -> list[str]:
        """Return the ids of a revision's commits, the newest first."""
        commits = self._repository.api.list_repo_commits(
            self.dataset, repo_type="dataset", revision=revision
        )
        return [commit.commit_id for commit in commits]

    def _report(
        self, changes: PullRequestChanges, store: Path, folder: Path, author: str
    ) -> Report:
        """Download the changed results, and report on them."""
        total_size = sum(file.size or 0 for file in changes.files.values())
        if total_size > changed_files.MAX_BYTES:
            problems = [*changes.paths.problems(), changed_files.size_problem()]
            return Report((), tuple(problems))
        results_dataset.download(self.dataset, changes.commit, changes.files, folder)
        may_submit_for = partial(self._may_submit_for, author)
        return changed_files.report(
            changes.paths, folder, store, account=author, may_submit_for=may_submit_for
        )

    def _may_submit_for(self, author: str, organisation: str) -> bool:
        """Return True for the organisation's own people and for the dataset's owners.

        Those are the account itself, and the public members of an organisation.
        """
        owner = self.dataset.partition("/")[0]
        account = author.casefold()
        return account in self._members_of(organisation) or account in self._members_of(owner)

    def _members_of(self, organisation: str) -> set[str]:
        """Return an organisation's own name and its public members, in lower case."""
        from huggingface_hub.errors import HfHubHTTPError

        members = {organisation.casefold()}
        with self._repository.errors_in_one_line():
            try:
                for user in self._repository.api.list_organization_members(organisation):
                    members.add(user.username.casefold())
            except HfHubHTTPError as error:
                # There is no such organisation, or it is a person.
                if error.response.status_code != _NOT_FOUND:
                    raise
        return members

    def _download_main(self) -> Path:
        """Download the results of `main`, and return the folder of that store.

        Each commit has a folder of its own, in which nothing changes. Checks against the commit
        before may still be running, so its folder stays until a further commit is downloaded.
        """
        with self._download_lock:
            with self._repository.errors_in_one_line():
                main = self._repository.head()
            folder = home() / "submissions" / self.dataset.replace("/", "--")
            commit_folder = folder / str(main.commit)
            if not commit_folder.is_dir():
                self._download_commit(main, folder)
            return commit_folder / "results"

    def _download_commit(self, commit: Head, folder: Path) -> None:
        """Download a commit's results, and delete all folders but the last two."""
        older_folders = sorted(folder.glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime)
        partial_folder = folder / f".{commit.commit}"
        (partial_folder / "results").mkdir(parents=True, exist_ok=True)
        files = _files_of_board(commit)
        if older_folders:
            _link_unchanged(files, older_folders[-1], partial_folder)
        results_dataset.download(self.dataset, str(commit.commit), files, partial_folder)
        partial_folder.rename(folder / str(commit.commit))
        for older_folder in older_folders[:-1]:
            shutil.rmtree(older_folder)


def _review_in_process(
    on_offer: Callable[[OfferedCommit], None],
    dataset_and_account: tuple[str, str],
    number: int,
    store: Path,
    folder: Path,
) -> str | None:
    pull_requests = PullRequests(*dataset_and_account)
    return pull_requests.review(number, store, folder, on_offer)


def _files_of_board(head: Head) -> dict[str, RemoteFile]:
    files: dict[str, RemoteFile] = {}
    for path, file in head.files.items():
        if results_dataset.is_part_of_board(path):
            files[path] = file
    return files


def _link_unchanged(files: Mapping[str, RemoteFile], old_folder: Path, new_folder: Path) -> None:
    """Hard-link the files that an older commit's folder already has."""
    for path, file in files.items():
        old_file = old_folder / path
        new_file = new_folder / path
        if not new_file.exists() and old_file.is_file() and not differs(old_file, file):
            new_file.parent.mkdir(parents=True, exist_ok=True)
            os.link(old_file, new_file)
