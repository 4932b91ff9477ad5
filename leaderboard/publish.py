"""Publishing: the site as a static Space, the results as a dataset, and a submission as a pull request to it.

Beside them a Space that checks submissions, which is a Dockerfile around `reelbench leaderboard webhook`.
Only what differs is uploaded, in one commit for each repository.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from reelbench.leaderboard import board as boards
from reelbench.leaderboard import columns, site, store
from reelbench.leaderboard.board import Board
from reelbench.pages.shell_page import page_asset
from reelbench.registry.data import hub
from reelbench.registry.data.hub import RemoteFile
from reelbench.registry.data.hub_write import FileChanges, Head, Repository, RepoType, differs
from reelbench.registry.errors import InputError, ReelbenchError, number_of
from reelbench.scoring import calibration_file, result_files

Done = Literal["unchanged", "would change", "committed", "pull request"]
Note = Callable[[str], None]

_RESULTS = "results"
_PARQUET = "data/results.parquet"
_OURS: dict[RepoType, tuple[str, ...]] = {"space": ("data/", "downloads/", "lib/"), "dataset": ()}
"""Folders that are ours alone: what is in them and no longer made is deleted (`lib/` is of the first version).

Results are never deleted."""
_What = Literal["results", "site", "webhook"]
_SDK: dict[_What, str] = {"site": "static", "webhook": "docker"}
_SHOWN = 10
_ASSETS = "leaderboard.assets"


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
    webhook: str | None = None,
    create_pr: bool = False,
    dry_run: bool = False,
    note: Note = lambda _: None,
) -> list[Published]:
    """Bring a Space and a results dataset up to date with a store.

    Args:
        path: The store.
        space: Repository of the static Space, `ORG/NAME`; made where it is not there.
        dataset: Repository of the results dataset; made where it is not there.
        webhook: Repository of the Space that checks pull requests to the dataset; made where it is not there.
        create_pr: Offer pull requests. To the dataset only the results themselves are offered.
        dry_run: Say what would change, and change nothing.
        note: Called with each line that the user should know.

    Raises:
        InputError: The call is wrong, or the dataset has results that this store lacks.
        ReelbenchError: The Hub refused or broke off; each repository is as it was, or changed whole.
    """
    if webhook and not dataset:
        raise InputError("--webhook needs --dataset ORG/NAME, the results whose pull requests it checks")
    named: dict[_What, str | None] = {"results": dataset, "site": space, "webhook": webhook}
    repositories: dict[_What, Repository] = {
        what: Repository(repo, "dataset" if what == "results" else "space") for what, repo in named.items() if repo
    }
    if not repositories:
        raise InputError("nothing to publish to: give --repo ORG/NAME (the site), --dataset ORG/NAME (the results)")
    if hub.offline():
        raise ReelbenchError("not published, because HF_HUB_OFFLINE is set; unset it")
    board = boards.make(path)
    for key, why in board.left_out.items():
        note(f"left out: {key}: {why}")
    stage: dict[_What, Callable[[Path], None]] = {
        "results": lambda folder: _stage_results(board, folder, note, pull_request=create_pr),
        "site": lambda folder: _stage_site(board, folder),
        "webhook": lambda folder: _stage_webhook(str(dataset), folder),
    }
    done = []
    with TemporaryDirectory(prefix="reelbench-publish-") as folder:
        for what, repository in repositories.items():
            staged = Path(folder) / what
            staged.mkdir()
            stage[what](staged)
            upload = _Upload(repository, staged, sdk=_SDK.get(what), create_pr=create_pr, dry_run=dry_run, note=note)
            done.append(upload.run())
    return done


def _stage_site(board: Board, folder: Path) -> None:
    site.write(board, folder)
    (folder / "README.md").write_text(page_asset("space_readme.md", _ASSETS), encoding="utf-8")


def _stage_webhook(dataset: str, folder: Path) -> None:
    for name, asset in (("README.md", "webhook_readme.md"), ("Dockerfile", "webhook_dockerfile.txt")):
        (folder / name).write_text(page_asset(asset, _ASSETS).replace("ORG/RESULTS", dataset), encoding="utf-8")


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
        for name in (result_files.RESULT_FILE, result_files.SAMPLES_FILE, store.CHECK_FILE, calibration_file.FILE):
            if name != calibration_file.FILE or (entry.stored.folder / name).is_file():
                (target / name).write_bytes((entry.stored.folder / name).read_bytes())
    if withheld:
        withheld_results = number_of(withheld, "result")
        note(f"left out: {withheld_results} whose benchmark's data is under an agreement, and samples repeat it")
    if not pull_request:
        (folder / "README.md").write_text(page_asset("dataset_readme.md", _ASSETS), encoding="utf-8")
        workflow = folder / ".github" / "workflows" / "check.yaml"
        workflow.parent.mkdir(parents=True)
        workflow.write_text(page_asset("check_submissions.yaml", _ASSETS), encoding="utf-8")
        write_parquet(board, folder / _PARQUET)


def write_parquet(board: Board, path: Path) -> None:
    """Write one row per result and metric."""
    import pyarrow as pa
    from pyarrow import parquet

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
    parquet.write_table(pa.Table.from_pylist(list(columns.metric_records(board)), schema=schema), path)


# --- the repository --------------------------------------------------------------------------------------------------


class _Upload:
    """One repository and the folder with what it should hold."""

    def __init__(
        self, repository: Repository, folder: Path, *, sdk: str | None, create_pr: bool, dry_run: bool, note: Note
    ) -> None:
        self.repository, self.folder, self.sdk = repository, folder, sdk
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
        suffix = f"/{result_files.RESULT_FILE}"
        lacking = sorted(
            path
            for path in there
            if path.startswith(f"{_RESULTS}/") and path.endswith(suffix) and not (self.folder / path).is_file()
        )
        if lacking:
            raise InputError(
                f"{repository.page} has {number_of(len(lacking), 'result')} that the store lacks, the first "
                f"{lacking[0]}; get them with `hf download {repository.id} --repo-type dataset --local-dir DIR` and "
                "`reelbench leaderboard add DIR`"
            )

    def _show(self, changed: Sequence[str], gone: Sequence[str], there: Mapping[str, RemoteFile]) -> None:
        self.note(f"{self.repository.page}: {number_of(len(changed), 'file')} to write, {len(gone)} to delete")
        for path in changed[:_SHOWN]:
            self.note(f"  {'change' if path in there else 'add'} {path}")
        if len(changed) > _SHOWN:
            self.note(f"  and {len(changed) - _SHOWN} more")

    def _commit(self, head: Head, changed: Sequence[str], gone: Sequence[str]) -> Published:
        kind = self.repository.kind
        count = len({path.rpartition("/")[0] for path in changed if path.startswith(f"{_RESULTS}/")})
        info = self.repository.commit(
            head,
            FileChanges(self.folder, changed, gone),
            title=f"Reelbench: {f'{count} results' if kind == 'dataset' and count else 'leaderboard'}",
            description="Written by `reelbench leaderboard publish`.",
            create={"space_sdk": self.sdk} if self.sdk else {},
            create_pr=self.create_pr,
        )
        if self.create_pr:
            return self._published("pull request", info.pr_url)
        return self._published("committed", str(info.commit_url))
