"""Publishing: the site as a static Space, the results as a dataset, and a submission as a pull request to it.

Only what differs is uploaded, in one commit for each repository.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from reelbench.judges import calibrated, results
from reelbench.leaderboard import board as boards
from reelbench.leaderboard import columns, site, store
from reelbench.leaderboard.board import Board
from reelbench.registry.data import hub
from reelbench.registry.data.hub import RemoteFile
from reelbench.registry.data.hub_write import Head, Repository, RepoType, differs
from reelbench.registry.errors import InputError, ReelbenchError

Done = Literal["unchanged", "would change", "committed", "pull request"]
Note = Callable[[str], None]

_RESULTS = "results"
_PARQUET = "data/results.parquet"
_OURS: dict[RepoType, tuple[str, ...]] = {"space": ("data/", "downloads/", "lib/"), "dataset": ()}
"""Folders that are ours alone: what is in them and no longer made is deleted (`lib/` is of the first version).

Results are never deleted."""
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Published:
    """What was done with one repository, and where it can be seen."""

    repo: str
    kind: RepoType
    done: Done
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
    repositories = [Repository(repo, kind) for repo, kind in wanted]
    if hub.offline():
        raise ReelbenchError("not published, because HF_HUB_OFFLINE is set; unset it")
    board = boards.make(path)
    done = []
    with TemporaryDirectory(prefix="reelbench-publish-") as folder:
        for repository in repositories:
            staged = Path(folder) / repository.kind
            staged.mkdir()
            (_stage_site if repository.kind == "space" else _stage_results)(board, staged, note, pull_request=create_pr)
            done.append(_Push(repository, staged, create_pr=create_pr, dry_run=dry_run, note=note).run())
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
        for name in (results.RESULT_FILE, results.SAMPLES_FILE, store.CHECK_FILE, calibrated.FILE):
            if name != calibrated.FILE or (entry.stored.folder / name).is_file():
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
    names: dict[columns.Type, list[str]] = {"text": ["key"], "integer": [], "number": [], "boolean": []}
    for column in columns.COLUMNS:
        names[column.type].append(column.id)
    schema = pa.schema(
        [(name, pa.string()) for name in (*names["text"], "metric", "unit")]
        + [(name, pa.int64()) for name in (*names["integer"], "n")]
        + [(name, pa.float64()) for name in (*names["number"], "value", "low", "high")]
        + [(name, pa.bool_()) for name in names["boolean"]]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows, schema=schema), path)


def _asset(name: str) -> str:
    return (resources.files("reelbench.leaderboard.assets") / name).read_text(encoding="utf-8")


# --- the repository --------------------------------------------------------------------------------------------------


class _Push:
    """One repository and the folder with what it should hold."""

    def __init__(self, repository: Repository, folder: Path, *, create_pr: bool, dry_run: bool, note: Note) -> None:
        self.repository, self.folder = repository, folder
        self.create_pr, self.dry_run, self.note = create_pr, dry_run, note

    def run(self) -> Published:
        repository = self.repository
        with repository.errors_in_one_line():
            head = repository.head()
            if head.commit is None and not self.dry_run:
                repository.api.whoami()  # with a bad token every repository looks as if it were not there
        there = head.files
        paths = sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())
        self._refuse_to_forget(there)
        changed = [path for path in paths if differs(self.folder / path, there.get(path))]
        # People may write their own card; ours is only there so that there is one.
        changed = [path for path in changed if path != "README.md" or path not in there]
        ours = _OURS[repository.kind]
        gone = [path for path in there if path.startswith(ours) and path not in set(paths)] if ours else []
        if not changed and not gone:
            return self._published("unchanged")
        self._show(changed, gone, there)
        if self.dry_run:
            return self._published("would change")
        with repository.errors_in_one_line():
            return self._commit(head, changed, gone)

    def _published(self, done: Done, url: str | None = None) -> Published:
        return Published(self.repository.id, self.repository.kind, done, url or self.repository.page)

    def _refuse_to_forget(self, there: Mapping[str, RemoteFile]) -> None:
        """Where others' results were merged, a table made without them would not show them."""
        repository = self.repository
        if repository.kind != "dataset" or self.create_pr:
            return
        suffix = f"/{results.RESULT_FILE}"
        lacking = sorted(
            path
            for path in there
            if path.startswith(f"{_RESULTS}/") and path.endswith(suffix) and not (self.folder / path).is_file()
        )
        if lacking:
            raise InputError(
                f"{repository.page} has {len(lacking)} results that the store lacks, the first {lacking[0]}; get them "
                f"with `hf download {repository.id} --repo-type dataset --local-dir DIR` and "
                "`reelbench leaderboard add DIR`"
            )

    def _show(self, changed: Sequence[str], gone: Sequence[str], there: Mapping[str, RemoteFile]) -> None:
        self.note(f"{self.repository.page}: {len(changed)} files to write, {len(gone)} to delete")
        for path in changed[:_SHOWN]:
            self.note(f"  {'change' if path in there else 'add'} {path}")
        if len(changed) > _SHOWN:
            self.note(f"  and {len(changed) - _SHOWN} more")

    def _commit(self, head: Head, changed: Sequence[str], gone: Sequence[str]) -> Published:
        kind = self.repository.kind
        count = len({path.rpartition("/")[0] for path in changed if path.startswith(f"{_RESULTS}/")})
        info = self.repository.commit(
            head,
            self.folder,
            changed,
            gone,
            title=f"Reelbench: {f'{count} results' if kind == 'dataset' and count else 'leaderboard'}",
            description="Written by `reelbench leaderboard publish`.",
            create={"space_sdk": "static"} if kind == "space" else {},
            create_pr=self.create_pr,
        )
        if self.create_pr:
            return self._published("pull request", info.pr_url)
        return self._published("committed", str(info.commit_url))
