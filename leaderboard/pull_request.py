"""A pull request to a results dataset on the Hub: what it changes is checked, and said in one comment on it.

Only results are read, each from the commit that was offered; nothing of it is run. A comment names its commit, so a
second look at the same commit writes nothing, and a new commit's text takes the place of the old one.
"""

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from reelbench.leaderboard import store, submission, submission_page
from reelbench.leaderboard.submission import Report
from reelbench.registry import discovery
from reelbench.registry.data import hub
from reelbench.registry.data.hub import RemoteFile
from reelbench.registry.data.hub_write import Repository, differs
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.home import home
from reelbench.scoring import calibration_file, result_files

Done = Literal["commented", "updated", "unchanged", "skipped"]

LARGEST = 200_000_000
"""Bytes of all files of a pull request; more is left to the maintainers."""

_FILES = (result_files.RESULT_FILE, result_files.SAMPLES_FILE, store.CHECK_FILE, calibration_file.FILE)
_OF_RESULT = re.compile(rf"results((?:/(?!\.\.?/)[^/]+){{4}})/(?:{'|'.join(map(re.escape, _FILES))})")
_DOWNLOADS = 8


@dataclass(frozen=True, slots=True)
class Change:
    """What a pull request changes.

    Attributes:
        commit: The commit that is offered.
        files: Files of the results that it touches, all of each.
        problems: What no submission does.
    """

    commit: str
    files: Mapping[str, RemoteFile]
    problems: tuple[str, ...]


class PullRequests:
    """The pull requests to one results dataset, as whoever `HF_TOKEN` names sees them."""

    def __init__(self, dataset: str) -> None:
        """Raises InputError where `dataset` is not ORG/NAME, ReelbenchError where the Hub refuses the token."""
        self._repository = Repository(dataset, "dataset")
        self.dataset = dataset
        with self._repository.errors_in_one_line():
            self._me = self._repository.api.whoami()["name"]

    def open(self) -> list[int]:
        """Return the numbers of the open ones, the oldest first."""
        with self._repository.errors_in_one_line():
            pull_requests = self._repository.api.get_repo_discussions(
                self.dataset, repo_type="dataset", discussion_type="pull_request", discussion_status="open"
            )
            return sorted(pull_request.num for pull_request in pull_requests)

    def comment(self, number: int) -> Done:
        """Check what a pull request offers at this moment, and say so in the one comment that is ours.

        Raises:
            ReelbenchError: The Hub refused or broke off.
        """
        from huggingface_hub import DiscussionComment

        with self._repository.errors_in_one_line():
            details = self._repository.api.get_discussion_details(self.dataset, number, repo_type="dataset")
        if not details.is_pull_request or details.status not in ("open", "draft"):
            return "skipped"
        ours = [
            event
            for event in details.events
            if isinstance(event, DiscussionComment)
            and event.author == self._me
            and not event.hidden
            and event.content.startswith(submission_page.TITLE)
        ]
        change = self._change(number)
        if change is None:
            return "skipped"
        if ours and change.commit in ours[-1].content:
            return "unchanged"
        text = submission_page.markdown(self._report(change), commit=change.commit)
        with self._repository.errors_in_one_line():
            api = self._repository.api
            if ours:
                api.edit_discussion_comment(self.dataset, number, ours[-1].id, text, repo_type="dataset")
                return "updated"
            api.comment_discussion(self.dataset, number, text, repo_type="dataset")
            return "commented"

    def _change(self, number: int) -> Change | None:
        """Compare what is offered with where it left `main`; None where it touches no results."""
        with self._repository.errors_in_one_line():
            head = self._repository.head(f"refs/pr/{number}")
            mine = self._history(f"refs/pr/{number}")
            common = set(self._history("main"))
            base = self._repository.head(next((commit for commit in mine if commit in common), None))
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
        problems += [f"{path}: not a file of a result" for path in touched if not _OF_RESULT.fullmatch(path)]
        if sum(file.size or 0 for file in files.values()) > LARGEST:
            problems.append(f"more than {LARGEST // 1_000_000} MB: too much to be checked here")
            files = {}
        return Change(str(head.commit), files, tuple(problems))

    def _history(self, revision: str) -> list[str]:
        commits = self._repository.api.list_repo_commits(self.dataset, repo_type="dataset", revision=revision)
        return [commit.commit_id for commit in commits]

    def _report(self, change: Change) -> Report:
        notes: list[str] = []
        with discovery.learning_apart(), TemporaryDirectory(prefix="reelbench-pull-request-") as name:
            offered = Path(name)
            _download(self.dataset, change.commit, change.files, offered)
            folders = sorted({(offered / path).parent for path in change.files})
            checked = store.check(*folders) if folders else []
            try:
                rows = self._rows({folder.parent.name for folder in folders})
                results = submission.read(
                    checked,
                    rows,
                    below=offered,
                    left_out=lambda key, why: notes.append(f"not held against {key}, which can't be read: {why}"),
                )
            except InputError as error:  # `main` itself: no fault of the submission's
                notes.append(f"not held against the table, which can't be read: {error}")
                results = submission.read(checked, below=offered)
        return Report(results, change.problems, tuple(notes))

    def _rows(self, benchmarks: set[str]) -> Path:
        """Bring the results of `main` on these benchmarks here, and return the store."""
        with self._repository.errors_in_one_line():
            main = self._repository.head()
        wanted = benchmarks & discovery.specs().keys()
        files = {
            path: file
            for path, file in main.files.items()
            if _OF_RESULT.fullmatch(path) and path.split("/")[3] in wanted
        }
        folder = home() / "submissions" / self.dataset.replace("/", "--")
        there = folder / "results"
        there.mkdir(parents=True, exist_ok=True)
        for path in there.rglob("*"):
            if path.is_file() and path.relative_to(folder).as_posix() not in files:
                path.unlink()
        _download(self.dataset, str(main.commit), files, folder)
        return there


def _download(dataset: str, commit: str, files: Mapping[str, RemoteFile], folder: Path) -> None:
    """Fetch the files that are not there yet, and hold each to its hash."""

    def fetch(path: str) -> None:
        hub.download(dataset, path, revision=commit, folder=folder)
        if (difference := hub.mismatch(folder / path, files[path])) is not None:
            raise ReelbenchError(f"{dataset}, {path}: arrived damaged ({difference})")

    lacking: Sequence[str] = [
        path for path, file in files.items() if not (folder / path).is_file() or differs(folder / path, file)
    ]
    with ThreadPoolExecutor(_DOWNLOADS) as pool:
        list(pool.map(fetch, lacking))
