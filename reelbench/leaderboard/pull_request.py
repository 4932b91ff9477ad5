"""Check a pull request to a results dataset on the Hub, and say the outcome in one comment on it.

Only results are read, each from the commit that was offered, by a process that is ended when it
takes too much. Nothing of it is run. A comment names its commit, so a second look at the same
commit writes nothing, and a new commit's text takes the place of the old one.
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

Commenting = Literal["commented", "updated", "unchanged", "skipped", "not in time"]

_NOT_FOUND = 404


class Offer(NamedTuple):
    """The commit that a pull request offers, and our comment on it, if any."""

    commit: str
    comment: str | None


class Changes(NamedTuple):
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
        self._bringing = threading.Lock()
        self.dataset = dataset
        with self._repository.errors_in_one_line():
            self._me = me or self._repository.account()["name"]
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

    def check(self, number: int, bounds: Bounds, last: bool) -> Commenting:
        """Check what a pull request offers now, and say so in one comment.

        Args:
            number: Of the pull request.
            bounds: What a look may take. What takes longer is `not in time`.
            last: The comment then says so, as of any look that was ended.

        Raises:
            ReelbenchError: If the Hub refused or broke off.
        """
        table = self._results_of_main()
        offers: list[Offer] = []
        with TemporaryDirectory(prefix="reelbench-pull-request-") as folder:
            arguments = ((self.dataset, self._me), number, table, Path(folder))
            try:
                text = run_bounded(_look, *arguments, bounds=bounds, hear=offers.append)
            except EndedError as error:
                if isinstance(error, OverrunError) and not last:
                    return "not in time"
                if not offers:
                    raise
                text = submission_page.markdown_unchecked(offers[-1].commit, str(error))
        if not offers:
            return "skipped"
        if text is None:
            return "unchanged"
        return self._comment(number, offers[-1].comment, text)

    def _comment(self, number: int, comment: str | None, text: str) -> Commenting:
        """Write the comment, in the place of our old one."""
        api = self._repository.api
        with self._repository.errors_in_one_line():
            if comment is None:
                api.comment_discussion(self.dataset, number, text, repo_type="dataset")
                return "commented"
            api.edit_discussion_comment(self.dataset, number, comment, text, repo_type="dataset")
            return "updated"

    def look(
        self, number: int, table: Path, folder: Path, tell: Callable[[Offer], None]
    ) -> str | None:
        """Return the comment on a pull request, None where there is nothing to say.

        Args:
            number: Of the pull request.
            table: The store with which its results are compared.
            folder: Where they are brought to.
            tell: Called with the offer first, where there is one.
        """
        details = self._details(number)
        if not details.is_pull_request or details.status not in ("open", "draft", "merged"):
            return None
        old_comment = self._own_comment(details)
        if details.status == "merged":
            return self._other_head(number, old_comment, tell)
        changes = self._changes(number)
        if not changes.paths.touched and not changes.paths.removed:
            return None
        comment_id = old_comment.id if old_comment else None
        tell(Offer(changes.commit, comment_id))
        if old_comment is not None:
            checked_commit = submission_page.COMMIT.match(old_comment.content)
            if checked_commit and checked_commit[1] == changes.commit:
                return None
        report = self._report(changes, table, folder, details.author)
        return submission_page.markdown(report, commit=changes.commit)

    def _other_head(
        self, number: int, comment: "DiscussionComment | None", tell: Callable[[Offer], None]
    ) -> str | None:
        """Return the comment on a merge of another commit than the one that was checked."""
        if comment is None:
            return None
        with self._repository.errors_in_one_line():
            commit = str(self._repository.head(f"refs/pr/{number}").commit)
        checked_commit = submission_page.COMMIT.match(comment.content)
        if checked_commit is None or checked_commit[1] == commit:
            return None
        tell(Offer(commit, comment.id))
        why = (
            f"it was merged with this commit, and {checked_commit[1][:12]} was checked; "
            "`reelbench leaderboard add` checks what it files"
        )
        return submission_page.markdown_unchecked(commit, why)

    def _own_comment(self, details: "DiscussionWithDetails") -> "DiscussionComment | None":
        """Return our last comment on a pull request."""
        from huggingface_hub import DiscussionComment

        own_comment: DiscussionComment | None = None
        for event in details.events:
            if not isinstance(event, DiscussionComment) or event.hidden:
                continue
            if event.author == self._me and event.content.startswith(submission_page.TITLE):
                own_comment = event
        return own_comment

    def _changes(self, number: int) -> Changes:
        """Return the changes of a pull request since it left `main`."""
        revision = f"refs/pr/{number}"
        with self._repository.errors_in_one_line():
            head = self._repository.head(revision)
            bases = [self._repository.head(commit) for commit in self._bases_of(revision)]
        touched: set[str] = set()
        removed: set[str] = set()
        for base in bases:
            touched.update(
                path for path, file in head.files.items() if base.files.get(path) != file
            )
            removed.update(base.files.keys() - head.files.keys())
        paths = ChangedFiles(tuple(sorted(touched)), tuple(sorted(removed)))
        keys = {*paths.keys, *paths.submissions}
        files: dict[str, RemoteFile] = {}
        for path, file in head.files.items():
            key = results_dataset.key_of_path(path) or results_dataset.key_of_submission(path)
            if key in keys:
                files[path] = file
        return Changes(str(head.commit), paths, files)

    def _bases_of(self, revision: str) -> list[str | None]:
        """Return the commits at which a revision left `main`.

        As `git merge-base --all` has them: commits of both, none of which is in another's history.
        Lists alone don't tell which are: their order goes by dates that authors write. [None], for
        the head of `main`, where there is none.
        """
        own_commits = set(self._history(revision))
        common = [commit for commit in self._history("main") if commit in own_commits]
        bases: list[str | None] = []
        earlier: set[str] = set()
        for commit in common:
            if commit in earlier:
                continue
            earlier.update(self._history(commit)[1:])
            bases.append(commit)
        return [commit for commit in bases if commit not in earlier] or [None]

    def _history(self, revision: str) -> list[str]:
        """Return the ids of a revision's commits, its own first."""
        commits = self._repository.api.list_repo_commits(
            self.dataset, repo_type="dataset", revision=revision
        )
        return [commit.commit_id for commit in commits]

    def _report(self, changes: Changes, table: Path, folder: Path, author: str) -> Report:
        files = changes.files
        if sum(file.size or 0 for file in files.values()) > changed_files.LARGEST:
            megabytes = changed_files.LARGEST // 1_000_000
            problem = f"more than {megabytes} MB: too much to be checked here"
            return Report((), (*changes.paths.problems(), problem))
        results_dataset.download(self.dataset, changes.commit, files, folder)
        is_of = partial(self._is_of, author)
        return changed_files.report(changes.paths, folder, table, account=author, is_of=is_of)

    def _is_of(self, author: str, organisation: str) -> bool:
        """Return True where an author is of an organisation, or of the dataset's owners.

        That is as the organisation itself, or as one of its public members.
        """
        owner = self.dataset.partition("/")[0]
        account = author.casefold()
        return account in self._people_of(organisation) or account in self._people_of(owner)

    def _people_of(self, organisation: str) -> set[str]:
        from huggingface_hub.errors import HfHubHTTPError

        people = {organisation.casefold()}
        with self._repository.errors_in_one_line():
            try:
                members = self._repository.api.list_organization_members(organisation)
                people.update(member.username.casefold() for member in members)
            except HfHubHTTPError as error:
                # There is no such organisation, or it is a person.
                if error.response.status_code != _NOT_FOUND:
                    raise
        return people

    def _results_of_main(self) -> Path:
        """Bring the results of `main` here, and return the store.

        Each commit has a folder, in which nothing changes. Looks of the commit before may still be
        going on: its folder stays until the one after it is here.
        """
        with self._bringing:
            with self._repository.errors_in_one_line():
                main = self._repository.head()
            folder = home() / "submissions" / self.dataset.replace("/", "--")
            commit_folder = folder / str(main.commit)
            if not commit_folder.is_dir():
                self._bring(main, folder)
            return commit_folder / "results"

    def _bring(self, main: Head, folder: Path) -> None:
        """Bring a commit's results to its folder."""
        older_folders = sorted(folder.glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime)
        aside = folder / f".{main.commit}"
        (aside / "results").mkdir(parents=True, exist_ok=True)
        files = _files_of_board(main)
        if older_folders:
            _link_unchanged(files, older_folders[-1], aside)
        results_dataset.download(self.dataset, str(main.commit), files, aside)
        aside.rename(folder / str(main.commit))
        for older_folder in older_folders[:-1]:
            shutil.rmtree(older_folder)


def _look(
    tell: Callable[[Offer], None],
    dataset_and_account: tuple[str, str],
    number: int,
    table: Path,
    folder: Path,
) -> str | None:
    pull_requests = PullRequests(*dataset_and_account)
    return pull_requests.look(number, table, folder, tell)


def _files_of_board(head: Head) -> dict[str, RemoteFile]:
    return {
        path: file for path, file in head.files.items() if results_dataset.is_part_of_board(path)
    }


def _link_unchanged(files: Mapping[str, RemoteFile], old: Path, new: Path) -> None:
    """Link the files that an older commit has already."""
    for path, file in files.items():
        old_file = old / path
        new_file = new / path
        if not new_file.exists() and old_file.is_file() and not differs(old_file, file):
            new_file.parent.mkdir(parents=True, exist_ok=True)
            os.link(old_file, new_file)
