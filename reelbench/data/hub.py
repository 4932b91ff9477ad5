"""The Hugging Face Hub as a source: the one place that asks it for commits, lists and files.

Every download names a commit, so results stay comparable. Where a spec knows none, `main` is
resolved once and the commit is recorded under `$REELBENCH_HOME/revisions`; it is used from then on,
until the user refreshes it. The client reads `HF_HOME`, `HF_ENDPOINT` and `HF_HUB_OFFLINE` when it
is imported; here they are read at each call, so a program that sets them late is not surprised.
"""
# pyright: reportUnknownVariableType=false

import hashlib
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from reelbench.base import settings
from reelbench.base.errors import DataUnavailableError, InputError, first_line
from reelbench.base.files import is_full, read_json, write_json
from reelbench.base.values import is_object

_COMMIT = re.compile(r"[0-9a-f]{40}")
_TRUE = {"1", "ON", "YES", "TRUE"}
_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class RemoteFile:
    """What the Hub states of a file: bytes, and its sha256 (large files) or git blob id (small ones)."""

    size: int | None = None
    sha256: str | None = None
    git_sha1: str | None = None


@dataclass(frozen=True)
class Listing:
    """A dataset repository at one commit."""

    repo_id: str
    commit: str
    files: dict[str, RemoteFile]


def endpoint() -> str:
    """Return the Hub's address: `$HF_ENDPOINT`, else the client's default."""
    from huggingface_hub import constants

    return (settings.HF_ENDPOINT.get() or constants.ENDPOINT).rstrip("/")


def offline() -> bool:
    """Return whether the user forbade the network (`HF_HUB_OFFLINE`, `TRANSFORMERS_OFFLINE`)."""
    return any(
        setting.get().upper() in _TRUE
        for setting in (settings.HF_HUB_OFFLINE, settings.TRANSFORMERS_OFFLINE)
    )


def cache_dir() -> Path:
    """Return the folder of the Hub client's file cache."""
    named = settings.HF_HUB_CACHE.get() or settings.HUGGINGFACE_HUB_CACHE.get()
    if not named:
        named = f"{settings.HF_HOME.get() or settings.XDG_CACHE_HOME.get() + '/huggingface'}/hub"
    return settings.expanded(os.path.expandvars(named))


def page(repo_id: str) -> str:
    """Return the address of a dataset's page."""
    return f"{endpoint()}/datasets/{repo_id}"


def _record_path(repo_id: str) -> Path:
    return settings.home() / "revisions" / f"datasets--{repo_id.replace('/', '--')}.json"


def recorded_commit(repo_id: str) -> str | None:
    """Return the commit recorded for a dataset without a pinned one; None where there is no record yet."""
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


def resolve_commit(repo_id: str, revision: str | None, *, refresh: bool = False) -> str:
    """Return the 40-hex commit to read: the pinned one, the recorded one, else `main`'s, which is then recorded.

    `refresh` resolves `main` anew and records what it is now; a pinned `revision` stays.
    DataUnavailableError where there is no record and the Hub can't be asked.
    """
    if revision is not None:
        return revision
    if not refresh and (commit := recorded_commit(repo_id)) is not None:
        return commit
    if refresh or not offline():
        commit = list_files(repo_id).commit
    else:
        # Somebody who ran `hf download` before going offline has the commit in the client's own
        # cache.
        ref = cache_dir() / f"datasets--{repo_id.replace('/', '--')}" / "refs" / "main"
        commit = ref.read_text(encoding="utf-8").strip() if ref.is_file() else ""
        if not _COMMIT.fullmatch(commit):
            raise DataUnavailableError(
                f"dataset {repo_id} is not in the cache and HF_HUB_OFFLINE is set; unset it and fetch once"
            )
    record = {
        "repo_id": repo_id,
        "commit": commit,
        "recorded": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_json(_record_path(repo_id), record)
    return commit


def list_files(repo_id: str, commit: str | None = None) -> Listing:
    """List a dataset's files at `commit`, with sizes and hashes where the Hub states them.

    Without one: at the commit that `main` is at this moment, by their names alone.
    """
    from huggingface_hub import HfApi

    if offline():
        raise DataUnavailableError(
            f"{page(repo_id)}: not asked, because HF_HUB_OFFLINE is set; unset it"
        )
    with _explaining_errors(repo_id):
        info = HfApi(endpoint=endpoint()).dataset_info(
            repo_id, revision=commit, files_metadata=commit is not None, timeout=_TIMEOUT_S
        )
    return Listing(repo_id, info.sha or commit or "", remote_files(info))


def remote_files(info: Any) -> dict[str, RemoteFile]:  # noqa: ANN401 - DatasetInfo, SpaceInfo
    """Return the stated size and hash of a repository's files, by path; `info` was asked for with `files_metadata`."""
    return {
        sibling.rfilename: RemoteFile(
            size=sibling.lfs.size if sibling.lfs else sibling.size,
            sha256=sibling.lfs.sha256 if sibling.lfs else None,
            git_sha1=None if sibling.lfs else sibling.blob_id,
        )
        for sibling in info.siblings or ()
    }


def leaderboard(repo_id: str) -> "list[Any] | None":
    """Return the rows of a dataset's own leaderboard on the Hub, the best first; None where it has none.

    Each has `model_id`, `value`, `verified`, `source`, `pull_request`, `notes`
    (`DatasetLeaderboardEntry`).
    """
    from huggingface_hub import HfApi, errors

    with _explaining_errors(repo_id):
        if offline():
            raise errors.OfflineModeIsEnabled
        try:
            api = HfApi(endpoint=endpoint())
            return api.get_dataset_leaderboard(repo_id, base_model_only=False, timeout=_TIMEOUT_S)
        except errors.HfHubHTTPError as error:
            known = not isinstance(error, errors.RepositoryNotFoundError | errors.GatedRepoError)
            if known and getattr(error.response, "status_code", None) == 404:  # noqa: PLR2004 - HTTP
                return None
            raise
        except (KeyError, TypeError, AttributeError) as error:
            what = f"its leaderboard can't be read ({first_line(error)})"
            raise DataUnavailableError(f"{page(repo_id)}: {what}") from None


def check_access(repo_id: str) -> None:
    """Raise DataUnavailableError where the user may not read a dataset's files (gated, private, a bad token)."""
    from huggingface_hub import HfApi

    with _explaining_errors(repo_id):
        HfApi(endpoint=endpoint()).auth_check(repo_id, repo_type="dataset")


def download(
    repo_id: str,
    filename: str,
    *,
    revision: str,
    kind: str = "dataset",
    folder: Path | None = None,
    tqdm_class: Any = None,  # noqa: ANN401 - a class with tqdm's interface, of which there is no public type
) -> Path:
    """Download one file of a repository at a commit, or find it in the cache; the only caller of `hf_hub_download`.

    Branches are refused: they move. With a `folder` the file goes there, at its path in the
    repository, and not into the client's cache; in the cache it is checked against the hash that
    the Hub stated for it. DataUnavailableError says in one line why it can't be had, and what to
    do.
    """
    from huggingface_hub import hf_hub_download

    if not _COMMIT.fullmatch(revision):
        raise InputError(f"{repo_id}: revision {revision!r} is not a commit (40 hex digits)")
    with _explaining_errors(repo_id, filename):
        found = hf_hub_download(
            repo_id,
            filename,
            repo_type=kind,
            revision=revision,
            endpoint=endpoint(),
            cache_dir=cache_dir(),
            local_dir=folder,
            local_files_only=offline(),
            tqdm_class=tqdm_class,
        )
    path = Path(found)
    # The cache's blobs are named by the hash that the Hub stated, and the client checks nothing but
    # the length. Where the cache holds copies in place of links there is no such name, and nothing
    # to compare with.
    blob = path.resolve()
    stated = RemoteFile(
        sha256=blob.name if re.fullmatch(r"[0-9a-f]{64}", blob.name) else None,
        git_sha1=blob.name if _COMMIT.fullmatch(blob.name) else None,
    )
    if folder is None and (difference := mismatch(blob, stated)) is not None:
        path.unlink(missing_ok=True)
        blob.unlink(missing_ok=True)
        raise DataUnavailableError(
            f"{repo_id}, {filename}: arrived damaged ({difference}); removed, fetch it again"
        )
    return path


def in_cache(repo_id: str, filename: str, commit: str) -> Path | None:
    """Return the cached file of that commit, without network; None where it isn't there."""
    path = cache_dir() / f"datasets--{repo_id.replace('/', '--')}" / "snapshots" / commit / filename
    return path if path.is_file() else None


def mismatch(path: Path, stated: RemoteFile) -> str | None:
    """Compare a file with what the Hub states of it; None where all that is stated agrees, else the difference."""
    size = path.stat().st_size
    if stated.size is not None and size != stated.size:
        return f"{size} bytes, and the Hub states {stated.size}"
    # Git names a blob by the SHA-1 of its length and bytes.
    blob = hashlib.sha1(f"blob {size}\0".encode(), usedforsecurity=False)
    hashes = (("sha256", hashlib.sha256(), stated.sha256), ("git blob id", blob, stated.git_sha1))
    for name, digest, expected in hashes:
        if expected is None:
            continue
        with path.open("rb") as file:
            found = hashlib.file_digest(file, lambda begun=digest: begun).hexdigest()
        if found != expected:
            return f"{name} {found}, and the Hub states {expected}"
    return None


def client_errors(*, cut_off: bool = False) -> tuple[type[Exception], ...]:
    """Return the kinds of error that the client raises, or where the connection broke and the request may have arrived.

    The client has changed its HTTP library twice (requests, httpx, httpx2) and lets that library's
    errors through.
    """
    kinds: list[type[Exception]] = (
        [ConnectionError, TimeoutError] if cut_off else [OSError, ValueError]
    )
    for library in ("httpx2", "httpx"):
        with suppress(ImportError):
            kinds.append(
                getattr(import_module(library), "TransportError" if cut_off else "HTTPError")
            )
    return tuple(kinds)


@contextmanager
def _explaining_errors(repo_id: str, filename: str | None = None) -> Generator[None]:
    """Turn the client's error into one line: what is wrong, and what to do."""
    try:
        yield
    except client_errors() as raised:
        from huggingface_hub import errors

        error: BaseException = raised
        while (
            isinstance(error, errors.LocalEntryNotFoundError)
            and not offline()
            and error.__cause__ is not None
        ):
            error = error.__cause__
        terms = f"accept its terms at {page(repo_id)}, then set HF_TOKEN or run `hf auth login`"
        check = "check the address, HF_ENDPOINT and HF_TOKEN"
        unset = "and HF_HUB_OFFLINE is set; unset it and fetch once"
        texts: dict[type[Exception], str] = {
            errors.GatedRepoError: f"the dataset is gated; {terms}",
            errors.RepositoryNotFoundError: f"no such dataset, or it is private; {check}",
            errors.RevisionNotFoundError: "the commit asked for is not there (any more)",
            errors.LocalEntryNotFoundError: (
                f"not in the cache {unset}"
                if offline()
                else "not in the cache, and the Hub could not be reached"
            ),
            errors.EntryNotFoundError: "no such file there",
            errors.OfflineModeIsEnabled: "not asked, because HF_HUB_OFFLINE is set; unset it",
        }
        status = getattr(getattr(error, "response", None), "status_code", None)
        text = next((text for kind, text in texts.items() if isinstance(error, kind)), None)
        if text is None and status == 401:  # noqa: PLR2004 - HTTP
            text = "the Hub refused the token; check HF_TOKEN, or run `hf auth login`"
        elif text is None and status is not None:
            text = f"the Hub answered {status}; try again later"
        elif text is None and isinstance(error, OSError) and is_full(error):
            text = "the disk is full; make room, try again"
        elif text is None:
            text = f"could not be reached or broke off ({first_line(error)}); check the network, try again"
        raise DataUnavailableError(
            f"{page(repo_id)}{f', {filename}' if filename else ''}: {text}"
        ) from raised
