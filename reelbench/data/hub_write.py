"""Writing to the Hub: a repository is listed with hashes, compared with a folder, and changed in one commit.

The commit goes onto the one that was compared with, so the repository is whole at every moment and
nobody's work is overwritten. Reading is `data.hub`.
"""

import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from json import JSONDecodeError
from pathlib import Path
from typing import Any, Literal, TypeVar

from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.values import is_object
from reelbench.data import hub

RepoType = Literal["space", "dataset"]
T = TypeVar("T")
_BUSY, _TRIES, _LONGEST_WAIT_S = (429, 503), 3, 60
_REFUSED, _AUTH, _PAYMENT, _FORBIDDEN, _CONFLICT, _STALE = 400, 401, 402, 403, 409, 412


@dataclass(frozen=True, slots=True)
class Head:
    """A branch as it is at one moment; `commit` None where there is no repository yet."""

    commit: str | None
    files: Mapping[str, hub.RemoteFile]


@dataclass(frozen=True, slots=True)
class FileChanges:
    """Files to write and to delete, as paths in the repository; those to write lie at the same paths in `folder`."""

    folder: Path
    written: Sequence[str]
    deleted: Sequence[str] = ()


class Repository:
    """A repository of the Hub that is written to; calls to its `api` belong inside `errors_in_one_line`."""

    def __init__(self, repo_id: str, kind: RepoType) -> None:
        """Raises InputError where `repo_id` is not ORG/NAME."""
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HFValidationError
        from huggingface_hub.utils import validate_repo_id

        try:
            validate_repo_id(repo_id)
        except HFValidationError as error:
            raise InputError(
                f"{repo_id}: expected ORG/NAME ({str(error).splitlines()[0]})"
            ) from None
        if "/" not in repo_id:
            raise InputError(f"{repo_id}: expected ORG/NAME")
        self.id = repo_id
        self.kind: RepoType = kind
        self.api = HfApi(endpoint=hub.endpoint())
        self.page = f"{hub.endpoint()}/{kind}s/{repo_id}"

    def head(self, revision: str | None = None) -> Head:
        """Return a branch (`main` by default) with what the Hub states of its files."""
        from huggingface_hub.errors import RepositoryNotFoundError

        try:
            info = patiently(
                lambda: self.api.repo_info(
                    self.id, repo_type=self.kind, revision=revision, files_metadata=True
                )
            )
        except RepositoryNotFoundError:
            return Head(None, {})
        return Head(info.sha, hub.remote_files(info))

    def account(self) -> dict[str, Any]:
        """What the Hub says of the token's account: its `name`, and more; ReelbenchError where it has none."""
        told: Any = self.api.whoami()  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if not is_object(told) or not isinstance(told.get("name"), str):
            raise ReelbenchError(
                f"{hub.endpoint()}: names no account of this token; is it a Hub (HF_ENDPOINT)?"
            )
        return told

    def open_request(self, title: str, me: str | None = None) -> int | None:
        """The number of the newest open pull request of one's own whose title begins with `title`; None without one."""
        me = me or str(self.account()["name"])
        requests = self.api.get_repo_discussions(
            self.id,
            repo_type=self.kind,
            author=me,
            discussion_type="pull_request",
            discussion_status="open",
        )
        own = [
            request
            for request in requests
            if request.is_pull_request and request.title.startswith(title)
        ]
        return max(
            (request.num for request in own if (request.status, request.author) == ("open", me)),
            default=None,
        )

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
        """Change files in one commit onto `head` -> its address; where somebody committed since, nothing is changed.

        A reply that is lost on the way is looked for: what was committed is never called failed.
        `create` says how the repository is made where it is not there yet (`private`, `space_sdk`);
        `create_pr` offers a pull request.
        """
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        parent = head.commit
        if parent is None:
            try:
                patiently(lambda: self.api.create_repo(self.id, repo_type=self.kind, **create))
            except hub.client_errors() as error:
                # It may have been made all the same, with a README of the Hub's own.
                if not isinstance(error, hub.client_errors(cut_off=True)):
                    raise
            parent = self.api.repo_info(self.id, repo_type=self.kind).sha
        known = self.open_request(title) if create_pr else None
        operations = [
            *(CommitOperationAdd(path, changes.folder / path) for path in changes.written),
            *(CommitOperationDelete(path) for path in changes.deleted),
        ]
        try:
            made = patiently(
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
            return str(made.pr_url or made.commit_url)
        except (*hub.client_errors(), RuntimeError) as error:
            inner, status = _cause(error)
            if status is not None or not isinstance(inner, hub.client_errors(cut_off=True)):
                raise
            lost = error
        try:
            if create_pr:
                number = self.open_request(title)
                arrived = number is not None and number != known
                where = f"{self.page}/discussions/{number}"
            else:
                newest = self.api.list_repo_commits(
                    self.id, repo_type=self.kind, revision=revision
                )[0]
                arrived = newest.commit_id != parent and newest.title == title
                where = f"{self.page}/commit/{newest.commit_id}"
        except (*hub.client_errors(), RuntimeError) as unknown:
            raise ReelbenchError(
                f"{self.page}: it may have been committed or not: the reply was lost, and the Hub can't be asked "
                f"({first_line(unknown)}); look there before you run it again"
            ) from lost
        if not arrived:
            raise ReelbenchError(
                f"{self.page}: nothing was committed, run it again ({first_line(lost)})"
            ) from lost
        return where

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
            inner, status = _cause(error)
            reason = " ".join(str(getattr(inner, "server_message", None) or inner).split())
            says = f"(the Hub says: {reason})"
            asked = str(
                getattr(getattr(getattr(inner, "response", None), "request", None), "url", "")
            )
            texts = {
                _REFUSED: f"the Hub refused what was sent: {reason}",
                _AUTH: "the Hub refused the token; check HF_TOKEN, or run `hf auth login`",
                _PAYMENT: f"the Hub asks for a paid plan (it says: {reason}), as for Spaces that run a program; "
                "without one run `reelbench leaderboard webhook` on a machine of your own",
                _FORBIDDEN: (
                    f"your token may not write there; offer a pull request with --create-pr, or use one that may {says}"
                    if re.search("/(commit|preupload|create)", asked)
                    else f"that is not allowed, by the token's rights or as an address expired; run it again {says}"
                ),
                _CONFLICT: f"the repository was being changed; nothing was committed, run it again {says}",
                _STALE: "somebody committed while this ran; nothing was committed, run it again",
            }
            text = texts.get(status or 0) or f"the Hub could not do it now, run it again ({reason})"
            if (
                status is None
                and isinstance(inner, ValueError)
                and not isinstance(inner, JSONDecodeError)
            ):
                text = texts[_REFUSED]
            raise ReelbenchError(f"{self.page}: {text}") from error


def patiently(call: Callable[[], T]) -> T:
    """Call the Hub, and again after the wait that it names where it is busy (429, 503): at most three times, 60 s each.

    The client waits by itself for uploads alone.
    """
    for _ in range(_TRIES - 1):
        try:
            return call()
        except hub.client_errors() as error:
            response = getattr(error, "response", None)
            wait = str(getattr(response, "headers", {}).get("Retry-After", ""))
            if (
                _cause(error)[1] not in _BUSY
                or not wait.isascii()
                or not wait.isdigit()
                or int(wait) > _LONGEST_WAIT_S
            ):
                raise
            time.sleep(int(wait))
    return call()


def differs(path: Path, there: hub.RemoteFile | None) -> bool:
    """Whether a file is another than the repository's, or new to it."""
    return there is None or hub.mismatch(path, there) is not None


def _cause(error: Exception) -> tuple[Exception, int | None]:
    """What went wrong, also where the client wraps what broke an upload off, and the status of the Hub's answer."""
    inner = (
        error.__cause__
        if isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception)
        else error
    )
    return inner, getattr(getattr(inner, "response", None), "status_code", None)
