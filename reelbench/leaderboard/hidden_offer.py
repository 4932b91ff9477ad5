"""Read a submission to a hidden test from its pull request, in a process that knows no answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.leaderboard import hidden_key, results_dataset
from reelbench.leaderboard.board_state import HiddenFile, same_account
from reelbench.leaderboard.pull_request import Changes, Offer, PullRequests
from reelbench.tasks.hidden_submission import HandedIn

_LARGEST = bounds.PREDICTIONS_BYTES + bounds.BESIDE_BYTES


@dataclass(frozen=True, slots=True)
class OfferedSubmission:
    """A submission as a pull request offers it.

    Attributes:
        number: Of the pull request.
        author: The account that opened it.
        commit: The commit.
        comment: The text of our comment on it, "" without one.
        key: The submission's key.
        handed_in: The submission. None where it can't be read.
        refusal: Why it is refused.
    """

    number: int
    author: str
    commit: str
    comment: str
    key: str
    handed_in: HandedIn | None
    refusal: str = ""

    def is_of(self, file: HiddenFile) -> bool:
        """Return True where a file that was taken is this one of this account."""
        received = file.received
        return received.key == self.key and same_account(received.who, self.author)


def read_offer(
    tell: Callable[[Offer], None],
    dataset_and_account: tuple[str, str],
    number: int,
    folder: Path,
) -> OfferedSubmission | None:
    """Bring a pull request's submission to a folder, and read it."""
    return _Reader(*dataset_and_account).offered(number, folder, tell)


class _Reader(PullRequests):
    """Reads a submission, in a process that has no answers."""

    def offered(
        self, number: int, folder: Path, tell: Callable[[Offer], None]
    ) -> OfferedSubmission | None:
        """Return the submission of an open pull request, refused or not."""
        details = self._details(number)
        if not details.is_pull_request or details.status not in ("open", "draft"):
            return None
        changes = self._changes(number)
        if not changes.paths.submissions:
            return None
        comment = self._own_comment(details)
        offered = OfferedSubmission(
            number=number,
            author=details.author,
            commit=changes.commit,
            comment="",
            key=changes.paths.submissions[0],
            handed_in=None,
        )
        if comment is None:
            tell(Offer(changes.commit, None))
        else:
            tell(Offer(changes.commit, comment.id))
            offered = replace(offered, comment=comment.content)
        try:
            return replace(offered, handed_in=self._one_submission(changes, folder))
        except InputError as error:
            return replace(offered, refusal=str(error))

    def _one_submission(self, changes: Changes, folder: Path) -> HandedIn:
        """Return the one submission of a change. InputError where it is none, or more."""
        paths = changes.paths
        for problem in paths.problems():
            raise InputError(problem)
        if len(paths.submissions) > 1 or paths.keys:
            raise InputError("a pull request contains one submission, and nothing else")
        size = sum(file.size or 0 for file in changes.files.values())
        bounds.hold("bytes of the submission", size, _LARGEST)
        results_dataset.download(self.dataset, changes.commit, changes.files, folder)
        return hidden_key.read_submission(folder / results_dataset.RESULTS, paths.submissions[0])
