"""A pull request to a results dataset on the Hub: what it changes is checked, and said in one comment on it.

Only results are read, each from the commit that was offered, by a process that is ended when it
takes too much; nothing of it is run. A comment names its commit, so a second look at the same
commit writes nothing, and a new commit's text takes the place of the old one.
"""

import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from reelbench.base import bounds
from reelbench.base.bounded import Bounds, EndedError, OverrunError, run_bounded
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.settings import home
from reelbench.base.workers import ALONE
from reelbench.data import hub
from reelbench.data.hub import RemoteFile
from reelbench.data.hub_write import Repository, differs
from reelbench.leaderboard import store, submission, submission_page
from reelbench.leaderboard.submission import Report

Done = Literal["commented", "updated", "unchanged", "skipped", "not in time"]

LARGEST = bounds.SUBMITTED_BYTES
"""Bytes of all files of a pull request; more is left to the maintainers."""

# As the store names folders: no other name is one of ours, and not every name can be written here.
_OF_RESULT = re.compile(
    rf"results((?:/(?!\.\.?/)[A-Za-z0-9._-]{{1,128}}){{4}})/(?:{'|'.join(map(re.escape, store.FILES))})"
)
_DOWNLOADS = 8
_UNREADABLE = "which can't be read"
_NOT_FOUND = 404


class Offer(NamedTuple):
    """The commit that a pull request offers, and the comment on it that is ours already, if any."""

    commit: str
    comment: str | None


class PullRequests:
    """The pull requests to one results dataset, as whoever `HF_TOKEN` names sees them."""

    def __init__(self, dataset: str, me: str | None = None) -> None:
        """Raises InputError where `dataset` is not there, ReelbenchError where the Hub refuses the token."""
        self._repository = Repository(dataset, "dataset")
        self._bringing = threading.Lock()
        self.dataset = dataset
        with self._repository.errors_in_one_line():
            self._me = me or self._repository.account()["name"]
            if me is None and self._repository.head().commit is None:
                raise InputError(
                    f"{self._repository.page}: not there, or private and not yours; name the results dataset"
                )

    def open(self) -> dict[int, str]:
        """Return the numbers of the open ones, the oldest first, and who opened each."""
        with self._repository.errors_in_one_line():
            pull_requests = self._repository.api.get_repo_discussions(
                self.dataset,
                repo_type="dataset",
                discussion_type="pull_request",
                discussion_status="open",
            )
            return {one.num: one.author for one in sorted(pull_requests, key=lambda one: one.num)}

    def author(self, number: int) -> str:
        """Return the account that opened a pull request."""
        with self._repository.errors_in_one_line():
            return self._repository.api.get_discussion_details(
                self.dataset, number, repo_type="dataset"
            ).author

    def check(self, number: int, bounds: Bounds, last: bool) -> Done:
        """Check what a pull request offers at this moment, and say so in the one comment that is ours.

        What takes longer than it may is `not in time`; with `last` the comment says so, as of any
        look that was ended. ReelbenchError where the Hub refused or broke off.
        """
        table, offers = self._results_of_main(), list[Offer]()
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
        api, comment = self._repository.api, offers[-1].comment
        with self._repository.errors_in_one_line():
            if comment is not None:
                api.edit_discussion_comment(
                    self.dataset, number, comment, text, repo_type="dataset"
                )
                return "updated"
            api.comment_discussion(self.dataset, number, text, repo_type="dataset")
            return "commented"

    def look(
        self, number: int, table: Path, folder: Path, tell: Callable[[Offer], None]
    ) -> str | None:
        """Return the comment on a pull request, None where there is nothing to say.

        Its results are brought to `folder` and compared with the store `table`; `tell` gets the
        offer first, where there is one.
        """
        from huggingface_hub import DiscussionComment

        with self._repository.errors_in_one_line():
            details = self._repository.api.get_discussion_details(
                self.dataset, number, repo_type="dataset"
            )
        if not details.is_pull_request or details.status not in ("open", "draft"):
            return None
        ours = [
            event
            for event in details.events
            if isinstance(event, DiscussionComment)
            and event.author == self._me
            and not event.hidden
            and event.content.startswith(submission_page.TITLE)
        ]
        # What is offered is compared with where it left `main`.
        with self._repository.errors_in_one_line():
            head = self._repository.head(f"refs/pr/{number}")
            mine, main = (
                self._repository.api.list_repo_commits(
                    self.dataset, repo_type="dataset", revision=revision
                )
                for revision in (f"refs/pr/{number}", "main")
            )
            common = {commit.commit_id for commit in main}
            base = self._repository.head(
                next((one.commit_id for one in mine if one.commit_id in common), None)
            )
        touched = [path for path, file in head.files.items() if base.files.get(path) != file]
        gone = sorted(base.files.keys() - head.files.keys())
        if not any(path.startswith("results/") for path in (*touched, *gone)):
            return None
        folders = {path.rpartition("/")[0] for path in touched if _OF_RESULT.fullmatch(path)}
        files = {
            path: file
            for path, file in head.files.items()
            if _OF_RESULT.fullmatch(path) and path.rpartition("/")[0] in folders
        }
        problems = [f"{path}: removed, and a submission removes nothing" for path in gone]
        problems += [
            f"{path}: not a file of a result" for path in touched if not _OF_RESULT.fullmatch(path)
        ]
        if sum(file.size or 0 for file in files.values()) > LARGEST:
            problems.append(f"more than {LARGEST // 1_000_000} MB: too much to be checked here")
            files = {}
        commit, notes = str(head.commit), list[str]()
        tell(Offer(commit, ours[-1].id if ours else None))
        told = ours and submission_page.COMMIT.match(ours[-1].content)
        if told and told[1] == commit:
            return None
        _download(self.dataset, commit, files, folder)
        handed_in = sorted({(folder / path).parent for path in files})
        # In this process alone, which has bounds, and with which all that it began ends.
        checked = store.check(*handed_in, workers=ALONE) if handed_in else []
        is_of = partial(self._is_of, details.author)
        read = partial(submission.read, checked, below=folder, is_of=is_of, account=details.author)
        try:
            results = read(
                table,
                left_out=lambda key, why: notes.append(
                    f"not compared with {key}, {_UNREADABLE}: {why}"
                ),
            )
        except InputError as error:  # `main` itself: no fault of the submission's
            notes.append(f"not compared with the table, {_UNREADABLE}: {error}")
            results = read()
        return submission_page.markdown(
            Report(results, tuple(problems), tuple(notes)), commit=commit
        )

    def _is_of(self, author: str, organisation: str) -> bool:
        """Whether an author is an organisation, or one of its public members, or of those whose dataset this is."""
        from huggingface_hub.errors import HfHubHTTPError

        for owner in (organisation, self.dataset.partition("/")[0]):
            people = {owner.casefold()}
            with self._repository.errors_in_one_line():
                try:
                    members = self._repository.api.list_organization_members(owner)
                    people |= {member.username.casefold() for member in members}
                except HfHubHTTPError as error:
                    if (
                        error.response.status_code != _NOT_FOUND
                    ):  # no such organisation, or it is a person
                        raise
            if author.casefold() in people:
                return True
        return False

    def _results_of_main(self) -> Path:
        """Bring the results of `main` here, and return the store: a folder for each commit, in which nothing changes.

        Looks of the commit before may still be going on: its folder stays until the one after it is
        here.
        """
        with self._bringing:
            with self._repository.errors_in_one_line():
                main = self._repository.head()
            folder = home() / "submissions" / self.dataset.replace("/", "--")
            here = folder / str(main.commit)
            if not here.is_dir():
                before = sorted(folder.glob("[0-9a-f]*"), key=lambda path: path.stat().st_mtime)
                aside = folder / f".{main.commit}"
                (aside / "results").mkdir(parents=True, exist_ok=True)
                files = {
                    path: file for path, file in main.files.items() if _OF_RESULT.fullmatch(path)
                }
                for path, file in files.items():  # what the commit before has already
                    there, target = (before[-1] if before else aside) / path, aside / path
                    if not target.exists() and there.is_file() and not differs(there, file):
                        target.parent.mkdir(parents=True, exist_ok=True)
                        os.link(there, target)
                _download(self.dataset, str(main.commit), files, aside)
                aside.rename(here)
                for older in before[:-1]:
                    shutil.rmtree(older)
            return here / "results"


def _look(
    tell: Callable[[Offer], None], whose: tuple[str, str], number: int, table: Path, folder: Path
) -> str | None:
    return PullRequests(*whose).look(number, table, folder, tell)


def _download(dataset: str, commit: str, files: Mapping[str, RemoteFile], folder: Path) -> None:
    """Fetch the files that are not there yet, and hold each to its hash."""

    def fetch(path: str) -> None:
        hub.download(dataset, path, revision=commit, folder=folder)
        if (difference := hub.mismatch(folder / path, files[path])) is not None:
            raise ReelbenchError(f"{dataset}, {path}: arrived damaged ({difference})")

    lacking: Sequence[str] = [
        path
        for path, file in files.items()
        if not (folder / path).is_file() or differs(folder / path, file)
    ]
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        list(pool.map(fetch, lacking))
