"""Publishing: the site as a static Space, the results as a dataset, and a submission as a pull request to it.

Each repository is changed in one commit, onto the commit that it was compared with, so it is whole at every moment and
nobody's work is overwritten. Only what differs is uploaded.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from reelbench.judges import results
from reelbench.leaderboard import board as boards
from reelbench.leaderboard import columns, site, store
from reelbench.leaderboard.board import Board
from reelbench.registry.data import hub
from reelbench.registry.errors import InputError, ReelbenchError

RepoType = Literal["space", "dataset"]
Note = Callable[[str], None]

_RESULTS = "results"
_PARQUET = "data/results.parquet"
_OURS: dict[RepoType, tuple[str, ...]] = {"space": ("data/", "downloads/", "lib/"), "dataset": ()}
"""Folders that are ours alone: what is in them and no longer made is deleted (`lib/` is of the first version).

Results are never deleted."""
_SHOWN = 10
_AUTH, _FORBIDDEN, _CONFLICT, _STALE = 401, 403, 409, 412


@dataclass(frozen=True, slots=True)
class Published:
    """What was done with one repository, and where it can be seen."""

    repo: str
    kind: RepoType
    done: Literal["unchanged", "would change", "committed", "pull request"]
    url: str


def publish(
    path: Path,
    *,
    space: str | None = None,
    dataset: str | None = None,
    create_pr: bool = False,
    dry_run: bool = False,
    note: Note = lambda _: None,
) -> list[Published]:
    """Bring a Space and a results dataset up to date with a store.

    Args:
        path: The store.
        space: Repository of the static Space, `ORG/NAME`; made where it is not there.
        dataset: Repository of the results dataset; made where it is not there.
        create_pr: Offer pull requests. To the dataset only the results themselves are offered.
        dry_run: Say what would change, and change nothing.
        note: Called with each line that the user should know.

    Raises:
        InputError: The call is wrong, or the dataset has results that this store lacks.
        ReelbenchError: The Hub refused or broke off; each repository is as it was, or changed whole.
    """
    wanted: list[tuple[str, RepoType]] = []
    if dataset:
        wanted.append((dataset, "dataset"))
    if space:
        wanted.append((space, "space"))
    if not wanted:
        raise InputError("nothing to publish to: give --repo ORG/NAME (the site), --dataset ORG/NAME (the results)")
    for repo, _ in wanted:
        if repo.count("/") != 1 or not all(repo.split("/")):
            raise InputError(f"{repo}: expected ORG/NAME")
    if hub.offline():
        raise ReelbenchError("not published, because HF_HUB_OFFLINE is set; unset it")
    board = boards.make(path)
    done = []
    with TemporaryDirectory(prefix="reelbench-publish-") as folder:
        for repo, kind in wanted:
            staged = Path(folder) / kind
            staged.mkdir()
            (_stage_site if kind == "space" else _stage_results)(board, staged, note, pull_request=create_pr)
            done.append(_Push(repo, kind, staged, create_pr=create_pr, dry_run=dry_run, note=note).run())
    return done


def _stage_site(board: Board, folder: Path, note: Note, *, pull_request: bool) -> None:  # noqa: ARG001 - one shape
    site.write(board, folder)
    (folder / "README.md").write_text(_asset("space_readme.md"), encoding="utf-8")


def _stage_results(board: Board, folder: Path, note: Note, *, pull_request: bool) -> None:
    withheld = 0
    for entry in board.entries:
        if entry.stored is None:
            continue
        if not site.may_show_samples(board.specs[entry.group.benchmark], entry.group.split):
            withheld += 1
            continue
        target = folder / _RESULTS / entry.stored.key
        target.mkdir(parents=True)
        for name in (results.RESULT_FILE, results.SAMPLES_FILE, store.CHECK_FILE):
            (target / name).write_bytes((entry.stored.folder / name).read_bytes())
    if withheld:
        note(f"{withheld} results are left out: their benchmark's data is under an agreement, and samples repeat it")
    if not pull_request:
        (folder / "README.md").write_text(_asset("dataset_readme.md"), encoding="utf-8")
        workflow = folder / ".github" / "workflows" / "check.yaml"
        workflow.parent.mkdir(parents=True)
        workflow.write_text(_asset("check_submissions.yaml"), encoding="utf-8")
        write_parquet(board, folder / _PARQUET)


def write_parquet(board: Board, path: Path) -> None:
    """Write one row per result and metric."""
    import pyarrow as pa
    from pyarrow import parquet

    rows: list[dict[str, Any]] = []
    for entry in board.entries:
        shared = {"key": entry.stored.key if entry.stored else None, **columns.record(board, entry)}
        units = {metric.name: metric.unit for metric in board.specs[entry.group.benchmark].metrics}
        for name, found in entry.metrics.items():
            low, high = found.ci95 or (None, None)
            numbers = {"metric": name, "value": found.value, "low": low, "high": high, "n": found.n}
            rows.append(shared | numbers | {"unit": units[name]})
    names: dict[columns.Type, list[str]] = {"text": ["key"], "integer": [], "boolean": []}
    for column in columns.COLUMNS:
        names[column.type].append(column.id)
    schema = pa.schema(
        [(name, pa.string()) for name in (*names["text"], "metric", "unit")]
        + [(name, pa.int64()) for name in (*names["integer"], "n")]
        + [(name, pa.float64()) for name in ("value", "low", "high")]
        + [(name, pa.bool_()) for name in names["boolean"]]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)


def _asset(name: str) -> str:
    return (resources.files("reelbench.leaderboard.assets") / name).read_text(encoding="utf-8")


# --- the repository --------------------------------------------------------------------------------------------------


class _Push:
    """One repository and the folder with what it should hold."""

    def __init__(self, repo: str, kind: RepoType, folder: Path, *, create_pr: bool, dry_run: bool, note: Note) -> None:
        from huggingface_hub import HfApi

        self.api = HfApi(endpoint=hub.endpoint())
        self.repo, self.folder = repo, folder
        self.kind: RepoType = kind
        self.create_pr, self.dry_run, self.note = create_pr, dry_run, note
        self.page = f"{hub.endpoint()}/{kind}s/{repo}"

    def run(self) -> Published:
        with self._told():
            parent, there = self._there()
        paths = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())
        self._refuse_to_forget(there)
        changed = [p for p in paths if p not in there or hub.mismatch(self.folder / p, there[p]) is not None]
        # People may write their own card; ours is only there so that there is one.
        changed = [p for p in changed if p != "README.md" or p not in there]
        gone = [p for p in there if p.startswith(_OURS[self.kind]) and p not in set(paths)] if _OURS[self.kind] else []
        if not changed and not gone:
            return Published(self.repo, self.kind, "unchanged", self.page)
        self._show(changed, gone, there)
        if self.dry_run:
            return Published(self.repo, self.kind, "would change", self.page)
        with self._told():
            return self._commit(parent, changed, gone)

    def _there(self) -> tuple[str | None, dict[str, hub.RemoteFile]]:
        from huggingface_hub.errors import RepositoryNotFoundError

        try:
            info = self.api.repo_info(self.repo, repo_type=self.kind, files_metadata=True)
        except RepositoryNotFoundError:
            if not self.dry_run:
                self.api.whoami()  # with a token that is none, every repository looks as if it were not there
            return None, {}
        found = {
            sibling.rfilename: hub.RemoteFile(
                size=sibling.lfs.size if sibling.lfs else sibling.size,
                sha256=sibling.lfs.sha256 if sibling.lfs else None,
                git_sha1=None if sibling.lfs else sibling.blob_id,
            )
            for sibling in getattr(info, "siblings", None) or ()
        }
        return info.sha, found

    def _refuse_to_forget(self, there: dict[str, hub.RemoteFile]) -> None:
        """Where others' results were merged, a table made without them would not show them."""
        if self.kind != "dataset" or self.create_pr:
            return
        suffix = f"/{results.RESULT_FILE}"
        lacking = sorted(
            path
            for path in there
            if path.startswith(f"{_RESULTS}/") and path.endswith(suffix) and not (self.folder / path).is_file()
        )
        if lacking:
            raise InputError(
                f"{self.page} has {len(lacking)} results that the store lacks, the first {lacking[0]}; get them with "
                f"`hf download {self.repo} --repo-type dataset --local-dir DIR` and `reelbench leaderboard add DIR`"
            )

    def _show(self, changed: Sequence[str], gone: Sequence[str], there: dict[str, hub.RemoteFile]) -> None:
        self.note(f"{self.page}: {len(changed)} files to write, {len(gone)} to delete")
        for path in changed[:_SHOWN]:
            self.note(f"  {'change' if path in there else 'add'} {path}")
        if len(changed) > _SHOWN:
            self.note(f"  and {len(changed) - _SHOWN} more")

    def _commit(self, parent: str | None, changed: Sequence[str], gone: Sequence[str]) -> Published:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        if parent is None:
            self.api.create_repo(self.repo, repo_type=self.kind, space_sdk="static" if self.kind == "space" else None)
            parent = self.api.repo_info(self.repo, repo_type=self.kind).sha
        count = len({path.rpartition("/")[0] for path in changed if path.startswith(f"{_RESULTS}/")})
        what = f"{count} results" if self.kind == "dataset" and count else "leaderboard"
        info = self.api.create_commit(
            self.repo,
            [
                *(CommitOperationAdd(path, self.folder / path) for path in changed),
                *(CommitOperationDelete(path) for path in gone),
            ],
            commit_message=f"Reelbench: {what}",
            commit_description="Written by `reelbench leaderboard publish`.",
            repo_type=self.kind,
            create_pr=self.create_pr,
            parent_commit=parent,
        )
        if self.create_pr:
            return Published(self.repo, self.kind, "pull request", info.pr_url or self.page)
        return Published(self.repo, self.kind, "committed", str(info.commit_url))

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn the client's errors into one line each."""
        try:
            yield
        except (*hub.client_errors(), RuntimeError) as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> ReelbenchError:
        from huggingface_hub.errors import LocalTokenNotFoundError

        if isinstance(error, LocalTokenNotFoundError):
            return InputError("publishing needs a token of the Hub: set HF_TOKEN or run `hf auth login`")
        if isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception):
            error = error.__cause__
        status = getattr(getattr(error, "response", None), "status_code", None)
        said = " ".join(str(getattr(error, "server_message", None) or error).split())
        texts = {
            _AUTH: "the Hub refused the token; check HF_TOKEN, or run `hf auth login`",
            _FORBIDDEN: "your token may not write there; offer a pull request with --create-pr, or use one that may "
            f"(the Hub says: {said})",
            _CONFLICT: f"the repository was being changed; nothing was committed, publish again (the Hub says: {said})",
            _STALE: "somebody committed while this ran; nothing was committed, publish again",
        }
        if status in texts:
            return ReelbenchError(f"{self.page}: {texts[status]}")
        return ReelbenchError(f"{self.page}: nothing was committed, publish again ({said})")
