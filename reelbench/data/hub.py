"""The Hugging Face Hub as a source: the one place that asks it for commits, lists and files.

Every download names a commit, so results stay comparable. Where a spec knows none, `main` is
resolved once and the commit is recorded under `$REELBENCH_HOME/revisions`. It is used from then on,
until the user refreshes it. The client reads `HF_HOME`, `HF_ENDPOINT` and `HF_HUB_OFFLINE` when it
is imported. Here they are read at each call, so a program that sets them late is not surprised.
"""
# pyright: reportUnknownVariableType=false

import hashlib
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from reelbench.base import settings
from reelbench.base.errors import DataUnavailableError, InputError, first_line
from reelbench.base.files import is_full, read_json, write_json
from reelbench.base.values import is_object

_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TRUE = {"1", "ON", "YES", "TRUE"}
_TIMEOUT_S = 20.0


Token = Literal[False] | None
"""How the Hub is asked: False without the user's token, None with it, if there is one."""


@dataclass(frozen=True)
class RemoteFile:
    """The Hub's statements about a file.

    A large file has a sha256, a small one a git blob id.
    """

    size: int | None = None
    sha256: str | None = None
    git_sha1: str | None = None


@dataclass(frozen=True)
class Listing:
    """A dataset repository at one commit."""

    repo_id: str
    commit: str
    files: dict[str, RemoteFile]
    token: Token = None


def endpoint() -> str:
    """Return the Hub's address: `$HF_ENDPOINT`, else the client's default."""
    from huggingface_hub import constants

    return (settings.HF_ENDPOINT.get() or constants.ENDPOINT).rstrip("/")


def offline() -> bool:
    """Return True where the user forbade the network."""
    for setting in (settings.HF_HUB_OFFLINE, settings.TRANSFORMERS_OFFLINE):
        if setting.get().upper() in _TRUE:
            return True
    return False


def cache_dir() -> Path:
    """Return the folder of the Hub client's file cache."""
    folder = settings.HF_HUB_CACHE.get() or settings.HUGGINGFACE_HUB_CACHE.get()
    if not folder:
        hf_home = settings.HF_HOME.get() or f"{settings.XDG_CACHE_HOME.get()}/huggingface"
        folder = f"{hf_home}/hub"
    return settings.with_home_expanded(os.path.expandvars(folder))


def page(repo_id: str) -> str:
    """Return the address of a dataset's page."""
    return f"{endpoint()}/datasets/{repo_id}"


# --- commits and lists
# ----------------------------------------------------------------------------------------------


def _folder_name(repo_id: str) -> str:
    return f"datasets--{repo_id.replace('/', '--')}"


def _record_path(repo_id: str) -> Path:
    return settings.home() / "revisions" / f"{_folder_name(repo_id)}.json"


def recorded_commit(repo_id: str) -> str | None:
    """Return the commit recorded for a dataset without a pinned one, or None."""
    path = _record_path(repo_id)
    if not path.exists():
        return None
    record = read_json(path)
    commit = record.get("commit") if is_object(record) else None
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise InputError(
            f"{path}: names no commit of {repo_id}; delete the file to resolve `main` again"
        )
    return commit


def resolve_commit(
    repo_id: str, revision: str | None, *, refresh: bool = False, token: Token = None
) -> str:
    """Return the commit to read: the pinned, the recorded, or `main`'s, which is then recorded.

    Args:
        repo_id: The dataset repository.
        revision: The pinned commit, which always stays.
        refresh: Resolve `main` anew and record what it is now.
        token: How the Hub is asked.

    Raises:
        DataUnavailableError: There is no record and the Hub can't be asked.
    """
    if revision is not None:
        return revision
    if not refresh:
        recorded = recorded_commit(repo_id)
        if recorded is not None:
            return recorded
    can_ask = refresh or not offline()
    commit = list_files(repo_id, token=token).commit if can_ask else _commit_in_cache(repo_id)
    record = {
        "repo_id": repo_id,
        "commit": commit,
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_json(_record_path(repo_id), record)
    return commit


def _commit_in_cache(repo_id: str) -> str:
    """Return the commit of `main` in the client's own cache.

    It is there for somebody who ran `hf download` before going offline.
    """
    ref = cache_dir() / _folder_name(repo_id) / "refs" / "main"
    commit = ""
    if ref.is_file():
        commit = ref.read_text(encoding="utf-8").strip()
    if not _COMMIT.fullmatch(commit):
        raise DataUnavailableError(
            f"dataset {repo_id} is not in the cache and HF_HUB_OFFLINE is set; unset it and fetch "
            "once"
        )
    return commit


def list_files(repo_id: str, commit: str | None = None, *, token: Token = None) -> Listing:
    """List a dataset's files at `commit`, with sizes and hashes where the Hub states them.

    Without a commit the files of `main` are listed, by their names alone.
    """
    from huggingface_hub import HfApi

    if offline():
        raise DataUnavailableError(
            f"{page(repo_id)}: not asked, because HF_HUB_OFFLINE is set; unset it"
        )
    with _explaining_errors(repo_id):
        info = HfApi(endpoint=endpoint(), token=token).dataset_info(
            repo_id, revision=commit, files_metadata=commit is not None, timeout=_TIMEOUT_S
        )
    return Listing(repo_id, info.sha or commit or "", remote_files(info), token)


def remote_files(info: Any) -> dict[str, RemoteFile]:  # noqa: ANN401 - DatasetInfo, SpaceInfo
    """Return the size and hash of a repository's files, by path.

    `info` is what the client returns with `files_metadata`.
    """
    files: dict[str, RemoteFile] = {}
    for sibling in info.siblings or ():
        if sibling.lfs:
            remote_file = RemoteFile(size=sibling.lfs.size, sha256=sibling.lfs.sha256)
        else:
            remote_file = RemoteFile(size=sibling.size, git_sha1=sibling.blob_id)
        files[sibling.rfilename] = remote_file
    return files


def leaderboard(repo_id: str) -> "list[Any] | None":
    """Return the rows of a dataset's own leaderboard on the Hub, the best first.

    Each has `model_id`, `value`, `verified`, `source`, `pull_request`, `notes`
    (`DatasetLeaderboardEntry`). None where the dataset has no leaderboard.
    """
    from huggingface_hub import HfApi, errors

    with _explaining_errors(repo_id):
        if offline():
            raise errors.OfflineModeIsEnabled
        try:
            api = HfApi(endpoint=endpoint())
            return api.get_dataset_leaderboard(repo_id, base_model_only=False, timeout=_TIMEOUT_S)
        except (errors.RepositoryNotFoundError, errors.GatedRepoError):
            raise
        except errors.HfHubHTTPError as error:
            if _http_status(error) == HTTPStatus.NOT_FOUND:
                return None
            raise
        except (KeyError, TypeError, AttributeError) as error:
            raise DataUnavailableError(
                f"{page(repo_id)}: its leaderboard can't be read ({first_line(error)})"
            ) from None


def check_access(repo_id: str, *, token: Token = None) -> None:
    """Check that the user may read a dataset's files.

    Raises:
        DataUnavailableError: It is gated or private, or the token is bad.
    """
    from huggingface_hub import HfApi

    with _explaining_errors(repo_id):
        HfApi(endpoint=endpoint(), token=token).auth_check(repo_id, repo_type="dataset")


# --- files
# ----------------------------------------------------------------------------------------------


def download(
    repo_id: str,
    filename: str,
    *,
    revision: str,
    kind: str = "dataset",
    folder: Path | None = None,
    token: Token = None,
    tqdm_class: Any = None,  # noqa: ANN401 - a class with tqdm's interface, of which there is no public type
) -> Path:
    """Download one file of a repository at a commit, or find it in the cache.

    This is the only caller of `hf_hub_download`.

    Args:
        repo_id: The repository.
        filename: The file's path in it.
        revision: The commit. Branches are refused: they move.
        kind: The repository's type.
        folder: Put the file here, at its path in the repository. Else it goes into the client's
            cache, where it is checked against the hash that the Hub stated for it.
        token: How the Hub is asked.
        tqdm_class: A progress bar.

    Raises:
        DataUnavailableError: The file can't be had. Its line says what to do.
    """
    from huggingface_hub import hf_hub_download

    if not _COMMIT.fullmatch(revision):
        raise InputError(f"{repo_id}: revision {revision!r} is not a commit (40 hex digits)")
    with _explaining_errors(repo_id, filename):
        path = Path(
            hf_hub_download(
                repo_id,
                filename,
                repo_type=kind,
                revision=revision,
                endpoint=endpoint(),
                cache_dir=cache_dir(),
                local_dir=folder,
                local_files_only=offline(),
                token=token,
                tqdm_class=tqdm_class,
            )
        )
    if folder is None:
        _check_cached(path, f"{repo_id}, {filename}")
    return path


def _check_cached(path: Path, where: str) -> None:
    """Remove a file of the cache that is damaged, and raise."""
    # The cache's blobs are named by the hash that the Hub stated, and the client checks nothing but
    # the length. Where the cache holds copies in place of links there is no such name, and nothing
    # to compare with.
    blob = path.resolve()
    statement = RemoteFile()
    if _SHA256.fullmatch(blob.name):
        statement = RemoteFile(sha256=blob.name)
    elif _COMMIT.fullmatch(blob.name):
        statement = RemoteFile(git_sha1=blob.name)
    difference = mismatch(blob, statement)
    if difference is not None:
        path.unlink(missing_ok=True)
        blob.unlink(missing_ok=True)
        raise DataUnavailableError(
            f"{where}: arrived damaged ({difference}); removed, fetch it again"
        )


def cached_file(repo_id: str, filename: str, commit: str) -> Path | None:
    """Return the cached file of that commit, without network. None where it isn't there."""
    path = cache_dir() / _folder_name(repo_id) / "snapshots" / commit / filename
    return path if path.is_file() else None


def mismatch(path: Path, statement: RemoteFile) -> str | None:
    """Return the difference between a file and the Hub's statements about it, or None."""
    size = path.stat().st_size
    if statement.size is not None and size != statement.size:
        return f"{size} bytes, and the Hub states {statement.size}"
    # Git names a blob by the SHA-1 of its length and bytes.
    blob = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    hashes = (
        ("sha256", hashlib.sha256(), statement.sha256),
        ("git blob id", blob, statement.git_sha1),
    )
    for name, digest, expected in hashes:
        if expected is None:
            continue
        with path.open("rb") as file:
            actual = hashlib.file_digest(file, lambda digest=digest: digest).hexdigest()
        if actual != expected:
            return f"{name} {actual}, and the Hub states {expected}"
    return None


# --- errors
# ----------------------------------------------------------------------------------------------


def client_errors(*, cut_off: bool = False) -> tuple[type[Exception], ...]:
    """Return the kinds of error that the client raises.

    The client has changed its HTTP library twice (requests, httpx, httpx2) and lets that library's
    errors through.

    Args:
        cut_off: Only those of a connection that broke, so that the request may have arrived.
    """
    kinds: list[type[Exception]] = [OSError, ValueError]
    library_error = "HTTPError"
    if cut_off:
        kinds = [ConnectionError, TimeoutError]
        library_error = "TransportError"
    for library in ("httpx2", "httpx"):
        with suppress(ImportError):
            kinds.append(getattr(import_module(library), library_error))
    return tuple(kinds)


@contextmanager
def _explaining_errors(repo_id: str, filename: str | None = None) -> Generator[None]:
    """Turn the client's error into one line: what is wrong, and what to do."""
    try:
        yield
    except client_errors() as error:
        where = page(repo_id)
        if filename:
            where += f", {filename}"
        text = _explain_error(_cause_of(error), repo_id)
        raise DataUnavailableError(f"{where}: {text}") from error


def _cause_of(error: BaseException) -> BaseException:
    """Return the error behind "not in the cache", which the client raises for any failure."""
    from huggingface_hub import errors

    if offline():
        return error
    while isinstance(error, errors.LocalEntryNotFoundError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _explain_error(error: BaseException, repo_id: str) -> str:
    from huggingface_hub import errors

    not_cached = "not in the cache, and the Hub could not be reached"
    if offline():
        not_cached = "not in the cache and HF_HUB_OFFLINE is set; unset it and fetch once"
    terms = f"accept its terms at {page(repo_id)}, then set HF_TOKEN or run `hf auth login`"
    advice = "check the address, HF_ENDPOINT and HF_TOKEN"
    # The first that fits: some kinds are of another's kind.
    texts: dict[type[Exception], str] = {
        errors.GatedRepoError: f"the dataset is gated; {terms}",
        errors.RepositoryNotFoundError: f"no such dataset, or it is private; {advice}",
        errors.RevisionNotFoundError: "the commit asked for is not there (any more)",
        errors.LocalEntryNotFoundError: not_cached,
        errors.EntryNotFoundError: "no such file there",
        errors.OfflineModeIsEnabled: "not asked, because HF_HUB_OFFLINE is set; unset it",
    }
    for kind, text in texts.items():
        if isinstance(error, kind):
            return text
    status = _http_status(error)
    if status == HTTPStatus.UNAUTHORIZED:
        return "the Hub refused the token; check HF_TOKEN, or run `hf auth login`"
    if status is not None:
        return f"the Hub answered {status}; try again later"
    if isinstance(error, OSError) and is_full(error):
        return "the disk is full; make room, try again"
    return f"could not be reached or broke off ({first_line(error)}); check the network, try again"


def _http_status(error: BaseException) -> int | None:
    """Return the status of the Hub's answer, where an error has one."""
    response = getattr(error, "response", None)
    return getattr(response, "status_code", None)
