"""Writing to the Hub: a folder is compared with a repository, which is then changed in one commit.

The commit goes onto the one that was compared with, so the repository is whole at every moment and
nobody's work is overwritten. Reading is `data.hub`.
"""

import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.values import is_object
from reelbench.data import hub

RepoType = Literal["space", "dataset"]
T = TypeVar("T")

_BUSY = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_TRIES = 3
_LONGEST_WAIT_S = 60


@dataclass(frozen=True, slots=True)
class Head:
    """A branch at one moment. `commit` is None where there is no repository."""

    commit: str | None
    files: Mapping[str, hub.RemoteFile]


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Files to write and to delete, as paths in the repository."""

    folder: Path
    """Those to write lie in this folder, at the same paths."""

    written: Sequence[str]
    deleted: Sequence[str] = ()


class Repository:
    """A repository of the Hub that is written to.

    Calls to its `api` belong inside `errors_in_one_line`.
    """

    def __init__(self, repo_id: str, kind: RepoType) -> None:
        """Raise InputError where `repo_id` is not ORG/NAME."""
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import validate_repo_id

        try:
            validate_repo_id(repo_id)
        except HFValidationError as error:
            reason = str(error).splitlines()[0]
            raise InputError(f"{repo_id}: expected ORG/NAME ({reason})") from None
        if "/" not in repo_id:
            raise InputError(f"{repo_id}: expected ORG/NAME")
        self.id = repo_id
        self.kind: RepoType = kind
        self.api = HfApi(endpoint=hub.endpoint())
        self.page = f"{hub.endpoint()}/{kind}s/{repo_id}"

    def head(self, revision: str | None = None) -> Head:
        """Return a branch, `main` by default, with what the Hub states of its files."""
        from huggingface_hub.errors import RepositoryNotFoundError

        try:
            info = call_when_free(
                lambda: self.api.repo_info(
                    self.id, repo_type=self.kind, revision=revision, files_metadata=True
                )
            )
        except RepositoryNotFoundError:
            return Head(None, {})
        return Head(info.sha, hub.remote_files(info))

    def account(self) -> dict[str, Any]:
        """Return the Hub's record of the token's account: its `name`, and more.

        Raises:
            ReelbenchError: The Hub names none.
        """
        record: Any = self.api.whoami()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if not is_object(record) or not isinstance(record.get("name"), str):
            raise ReelbenchError(
                f"{hub.endpoint()}: names no account of this token; is it a Hub (HF_ENDPOINT)?"
            )
        return record

    def open_request(self, title: str, me: str | None = None) -> int | None:
        """Return the number of the user's newest open pull request. None without one.

        Args:
            title: The words that its title begins with.
            me: The user's name, if the caller knows it.
        """
        me = me or str(self.account()["name"])
        discussions = self.api.get_repo_discussions(
            self.id,
            repo_type=self.kind,
            author=me,
            discussion_type="pull_request",
            discussion_status="open",
        )
        newest: int | None = None
        for request in discussions:
            is_open = request.is_pull_request and request.status == "open"
            if not is_open or request.author != me or not request.title.startswith(title):
                continue
            if newest is None or request.num > newest:
                newest = request.num
        return newest

    def commit(
        self,
        head: Head,
        changes: FileChanges,
        *,
        title: str,
        description: str,
        create: Mapping[str, Any],
        revision: str | None = None,
        create_pr: bool = False,
    ) -> str:
        """Change files in one commit onto `head`. Return its address.

        Where somebody committed since, nothing is changed. A reply that is lost on the way is
        looked for: what was committed is never called failed.

        Args:
            head: The branch that the files were compared with.
            changes: The files.
            title: The commit's title.
            description: Its description.
            create: How the repository is made where it is not there yet (`private`, `space_sdk`).
            revision: The branch, `main` by default.
            create_pr: Offer a pull request.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        parent = head.commit
        if parent is None:
            parent = self._create_repository(create)
        last_request: int | None = None
        if create_pr:
            last_request = self.open_request(title)
        operations: list[CommitOperationAdd | CommitOperationDelete] = []
        for path in changes.written:
            operations.append(CommitOperationAdd(path, changes.folder / path))
        for path in changes.deleted:
            operations.append(CommitOperationDelete(path))
        try:
            info = call_when_free(
                lambda: self.api.create_commit(
                    self.id,
                    operations,
                    commit_message=title,
                    commit_description=description,
                    repo_type=self.kind,
                    revision=revision,
                    create_pr=create_pr,
                    parent_commit=parent,
                )
            )
            return str(info.pr_url or info.commit_url)
        except (*hub.client_errors(), RuntimeError) as error:
            cause = _cause_of(error)
            is_cut_off = isinstance(cause.error, hub.client_errors(cut_off=True))
            if cause.status is not None or not is_cut_off:
                raise
            lost_reply = error
        try:
            if create_pr:
                address = self._address_of_new_request(title, last_request)
            else:
                address = self._address_of_new_commit(title, parent, revision)
        except (*hub.client_errors(), RuntimeError) as error:
            raise ReelbenchError(
                f"{self.page}: it may have been committed or not: the reply was lost, and the Hub "
                f"can't be asked ({first_line(error)}); look there before you run it again"
            ) from lost_reply
        if address is None:
            raise ReelbenchError(
                f"{self.page}: nothing was committed, run it again ({first_line(lost_reply)})"
            ) from lost_reply
        return address

    def _create_repository(self, create: Mapping[str, Any]) -> str | None:
        """Create the repository. Return its first commit."""
        try:
            call_when_free(lambda: self.api.create_repo(self.id, repo_type=self.kind, **create))
        except hub.client_errors() as error:
            # It may have been made all the same, with a README of the Hub's own.
            if not isinstance(error, hub.client_errors(cut_off=True)):
                raise
        return self.api.repo_info(self.id, repo_type=self.kind).sha

    def _address_of_new_request(self, title: str, last_request: int | None) -> str | None:
        """Return the address of a pull request that is newer than the last known one."""
        number = self.open_request(title)
        if number is None or number == last_request:
            return None
        return f"{self.page}/discussions/{number}"

    def _address_of_new_commit(
        self, title: str, parent: str | None, revision: str | None
    ) -> str | None:
        """Return the address of a branch's newest commit if it was sent here."""
        commits = self.api.list_repo_commits(self.id, repo_type=self.kind, revision=revision)
        newest = commits[0]
        if newest.commit_id == parent or newest.title != title:
            return None
        return f"{self.page}/commit/{newest.commit_id}"

    @contextmanager
    def errors_in_one_line(self) -> Generator[None]:
        """Turn the client's errors into one line each: what is wrong, and what to do."""
        from huggingface_hub import errors

        try:
            yield
        except errors.LocalTokenNotFoundError as error:
            raise InputError(
                "writing to the Hub needs a token: set HF_TOKEN or run `hf auth login`"
            ) from error
        except errors.GatedRepoError as error:
            raise ReelbenchError(
                f"{self.page}: it is gated; accept its terms there, with the token's account"
            ) from error
        except (*hub.client_errors(), RuntimeError) as error:
            raise ReelbenchError(f"{self.page}: {_explain_error(_cause_of(error))}") from error


# --- errors
# ----------------------------------------------------------------------------------------------


def call_when_free(call: Callable[[], T]) -> T:
    """Call the Hub, and again after the wait that it names where it is busy.

    At most three times, with waits of 60 s at most. The client waits by itself for uploads alone.
    """
    for _ in range(_TRIES - 1):
        try:
            return call()
        except hub.client_errors() as error:
            headers = getattr(getattr(error, "response", None), "headers", {})
            wait = str(headers.get("Retry-After", ""))
            is_number = wait.isascii() and wait.isdigit()
            if _cause_of(error).status not in _BUSY or not is_number:
                raise
            if int(wait) > _LONGEST_WAIT_S:
                raise
            time.sleep(int(wait))
    return call()


def differs(path: Path, remote_file: hub.RemoteFile | None) -> bool:
    """Return True where a file is another than the repository's, or new to it."""
    return remote_file is None or hub.mismatch(path, remote_file) is not None


class _Cause(NamedTuple):
    """An error, and the status of the Hub's answer where there was one."""

    error: Exception
    status: int | None


def _cause_of(error: Exception) -> _Cause:
    """Return an error, unwrapped where the client wraps what broke an upload off."""
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception):
        error = error.__cause__
    response = getattr(error, "response", None)
    return _Cause(error, getattr(response, "status_code", None))


def _explain_error(cause: _Cause) -> str:
    """Return a line on what is wrong, and what to do."""
    error, status = cause
    reason = " ".join(str(getattr(error, "server_message", None) or error).split())
    hub_says = f"(the Hub says: {reason})"
    texts: dict[int, str] = {
        HTTPStatus.BAD_REQUEST: f"the Hub refused what was sent: {reason}",
        HTTPStatus.UNAUTHORIZED: (
            "the Hub refused the token; check HF_TOKEN, or run `hf auth login`"
        ),
        HTTPStatus.PAYMENT_REQUIRED: (
            f"the Hub asks for a paid plan (it says: {reason}), as for Spaces that run a program; "
            "without one run `reelbench leaderboard webhook` on a machine of your own"
        ),
        HTTPStatus.FORBIDDEN: f"{_explain_forbidden(error)} {hub_says}",
        HTTPStatus.CONFLICT: (
            f"the repository was being changed; nothing was committed, run it again {hub_says}"
        ),
        HTTPStatus.PRECONDITION_FAILED: (
            "somebody committed while this ran; nothing was committed, run it again"
        ),
    }
    is_refused_value = isinstance(error, ValueError) and not isinstance(error, JSONDecodeError)
    if status is None and is_refused_value:
        status = HTTPStatus.BAD_REQUEST
    return texts.get(status or 0, f"the Hub could not do it now, run it again ({reason})")


def _explain_forbidden(error: Exception) -> str:
    request = getattr(getattr(error, "response", None), "request", None)
    if re.search("/(commit|preupload|create)", str(getattr(request, "url", ""))):
        return (
            "your token may not write there; offer a pull request with --create-pr, or use one "
            "that may"
        )
    return "that is not allowed, by the token's rights or as an address expired; run it again"
