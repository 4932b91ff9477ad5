"""Publish the site as a static Space and the results as a dataset, or submit results to one.

A submission is a pull request to the dataset. Beside them is a Space that checks submissions, a
Dockerfile around `reelbench leaderboard webhook`. Only what differs is uploaded, in one commit for
each repository.
"""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.base.files import read_text, write_json, write_text
from reelbench.base.workers import ALONE, Workers
from reelbench.data import hub
from reelbench.data.hub_write import FileChanges, Head, Repository, RepoType, differs
from reelbench.data.redistribution import why_withheld
from reelbench.leaderboard import (
    aliases,
    board_settings,
    board_state,
    columns,
    community,
    hand_in,
    hidden_key,
    hidden_rows,
    history,
    ledger,
    ledger_merge,
    maintainers_files,
    publish_sync,
    results_dataset,
    rows_only,
    site,
    store,
)
from reelbench.leaderboard import board as boards
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.entries import HUB_ID, BoardEntry, RankingGroup
from reelbench.leaderboard.hand_in import Published, PublishOutcome
from reelbench.leaderboard.site_files import SiteFiles
from reelbench.leaderboard.store import StoredResult
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import Result
from reelbench.scoring import result_files

Note = Callable[[str], None]

_RESULTS = results_dataset.RESULTS
_PARQUET = "data/results.parquet"
_GENERATED_FOLDERS: dict[RepoType, tuple[str, ...]] = {
    "space": ("data/", "downloads/"),
    "dataset": (f"{_RESULTS}/{store.ROWS_FOLDER}/",),
}
"""Folders that Reelbench alone writes: files in them that are no longer made are deleted.

Of results those are deleted that the ledger withdraws.
"""
_Content = Literal["results", "site", "webhook"]
_SDK: dict[_Content, str] = {"site": "static", "webhook": "docker"}
_MAX_NOTED_FILES = 10
_TITLE = "Reelbench: "
_ASSETS = "leaderboard.assets"
_NEXT_STEP = (
    "next: `hf spaces secrets add {space} -s HF_TOKEN -s WEBHOOK_SECRET` (from your environment), "
    "then the webhook, as its README says"
)
_FORM_CHECKED_ONLY = (
    "answers are never uploaded: of submissions to a hidden test the Space checks the form alone; "
    "`reelbench leaderboard check --answers FILE` scores them on your machine"
)
_SYNC_ADVICE = "publish with --dataset {dataset} too, which brings it into the store"
_SQUASHED = "Squash the history, in which withdrawn results were"
_PINNED_WHEEL = re.compile(r"https://[a-zA-Z0-9._~:/%+-]+\.whl#sha256=[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """Options of publishing.

    Attributes:
        create_pr: Offer pull requests; to the dataset only results that are new there, or newer.
        dry_run: Change nothing.
        private: Make new repositories private. What has no licence may go there.
        install: Address of the wheel that the checking Space and the mirror's workflow install,
            with its sha256.
        forget: Keys of results that are to vanish from the page though nobody withdrew them.
        squash_history: Make one commit of the dataset's history, so that withdrawn results are in
            none.
    """

    create_pr: bool = False
    dry_run: bool = False
    private: bool = False
    install: str | None = None
    forget: Collection[str] = ()
    squash_history: bool = False


def publish(
    path: Path,
    *,
    space: str | None = None,
    dataset: str | None = None,
    webhook: str | None = None,
    options: PublishOptions | None = None,
    workers: Workers = ALONE,
    note: Note = lambda _: None,
) -> list[Published]:
    """Bring a Space and a results dataset up to date with a store.

    Each repository, `ORG/NAME`, is made where it is not there, the dataset never by a pull request.

    Args:
        path: The store.
        space: The static Space.
        dataset: The results.
        webhook: The Space that checks pull requests to these.
        options: How to publish.
        workers: They read the store and write the page.
        note: Called with each line that people should read.

    Raises:
        InputError: The call is wrong, the store and the dataset contradict each other, or the page
            shows results that this store lacks.
        ReelbenchError: The Hub refused or broke off. Each repository is as it was, or changed
            whole.
    """
    options = options or PublishOptions()
    _check_call(dataset, webhook, options)
    repositories = _repositories(space, dataset, webhook)
    if not repositories:
        raise InputError(
            "nothing to publish to: give --repo ORG/NAME (the site), --dataset ORG/NAME "
            "(the results)"
        )
    if hub.offline():
        raise ReelbenchError("not published, because HF_HUB_OFFLINE is set; unset it")
    store.refuse_no_store(path)
    with TemporaryDirectory(prefix="reelbench-publish-") as name:
        folder = Path(name)
        synced_head: Head | None = None
        if dataset and not options.create_pr and not options.dry_run:
            synced_head = _sync_store(path, repositories["results"], folder / "brought", note)
        board = boards.make(path, workers=workers)
        for key, why in board.left_out.items():
            note(f"left out: {key}: {why}")
        state = board_state.read(path)
        new_entries: list[ledger.Published] = []
        if not options.create_pr:
            new_entries = _new_ledger_entries(board, state)
            state.apply(new_entries)
            board = boards.with_history(board, state)
        uploads: list[_Upload] = []
        for content, repository in repositories.items():
            upload = _Upload(
                repository=repository,
                folder=folder / content / "new",
                content=content,
                store=path,
                board=board,
                space=space,
                dataset=dataset,
                options=options,
                note=note,
                state=state,
                new_entries=new_entries,
                workers=workers,
            )
            if content == "results":
                upload.synced_head = synced_head
            uploads.append(upload)
        # All of them are prepared and checked before anything is sent.
        heads = [upload.stage() for upload in uploads]
        outcomes = _send_uploads(uploads, heads, webhook, note)
    if dataset and options.create_pr:
        outcomes += hand_in.submit_all(path, repositories["results"], dry_run=options.dry_run)
    elif dataset:
        outcomes = _note_unsubmitted(outcomes, path, repositories["results"], note)
    return outcomes


def _repositories(
    space: str | None, dataset: str | None, webhook: str | None
) -> dict[_Content, Repository]:
    repositories: dict[_Content, Repository] = {}
    if dataset:
        repositories["results"] = Repository(dataset, "dataset")
    if space:
        repositories["site"] = Repository(space, "space")
    if webhook:
        repositories["webhook"] = Repository(webhook, "space")
    return repositories


def _append_to_ledger(entries: Sequence[ledger.Entry], store_path: Path) -> None:
    """Append the entries that were published to the store's own ledger.

    If the command is ended between the two, the next one brings them from the dataset; without a
    dataset it dates them anew.
    """
    if entries:
        board_ledger = board_state.BoardLedger(store_path)
        with board_ledger.locked():
            board_ledger.append(*entries)


def _new_ledger_entries(board: Board, state: BoardState) -> list[ledger.Published]:
    """Return the ledger entries on the main tables that changed since they were published."""
    values_by_table: dict[str, dict[str, float]] = {}
    for group, table in board.history.items():
        values_by_table[group.id] = table.values
    return history.new_entries(values_by_table, state, ledger.now())


def _note_unsubmitted(
    outcomes: list[Published], store_path: Path, repository: Repository, note: Note
) -> list[Published]:
    """Note how many submissions to hidden tests were not submitted, and return the outcomes.

    "unchanged" would mislead beside such a note, so these outcomes are left out then.
    """
    waiting = hand_in.unsubmitted_keys(store_path, board_state.read(store_path), repository)
    if not waiting:
        return outcomes
    verb = "is" if len(waiting) == 1 else "are"
    note(f"{number_of(len(waiting), 'submission')} {verb} not submitted: add --create-pr")
    return [outcome for outcome in outcomes if outcome.done != "unchanged"]


def _sync_store(store_path: Path, repository: Repository, folder: Path, note: Note) -> Head:
    """Bring the store up to the dataset, and return the commit that was read."""
    with repository.errors_in_one_line():
        head = repository.head()
        publish_sync.sync(store_path, repository, head, folder, note)
    return head


def _check_call(dataset: str | None, webhook: str | None, options: PublishOptions) -> None:
    """Raise InputError where options contradict or lack each other."""
    if webhook and not dataset:
        raise InputError(
            "--webhook needs --dataset ORG/NAME, the results whose pull requests it checks"
        )
    expected_address = "a wheel's address with its hash (https://….whl#sha256=…)"
    if options.install is not None and not _PINNED_WHEEL.fullmatch(options.install):
        raise InputError(
            f"--install {options.install[:200]!r}: expected {expected_address}; Reelbench is not "
            "on a package registry, and whoever took the name there could run code next to the "
            "checker's tokens"
        )
    if webhook and options.install is None:
        raise InputError(
            f"--webhook needs --install: {expected_address}, which its machine installs"
        )


def _send_uploads(
    uploads: "list[_Upload]", heads: list[Head], webhook: str | None, note: Note
) -> list[Published]:
    """Send all uploads in order.

    If one fails, the outcomes of those before it are noted.
    """
    outcomes: list[Published] = []
    for index, upload in enumerate(uploads):
        try:
            outcome = upload.send(heads[index])
        except ReelbenchError:
            for earlier in outcomes:
                note(f"{earlier.done}: {earlier.url}; the same command goes on from here")
            raise
        outcomes.append(outcome)
        if index == 0 and not upload.options.dry_run:
            _append_to_ledger(upload.new_entries, upload.store)
        if upload.synced_head is not None:
            published = [upload.folder / _RESULTS / name for name in maintainers_files.FILES]
            maintainers_files.record_published(published, upload.store)
        if upload.content == "webhook" and outcome.done == "committed":
            note(_NEXT_STEP.format(space=webhook))
        if upload.content == "webhook" and _has_hidden_test(upload.board):
            note(_FORM_CHECKED_ONLY)
    return outcomes


def _has_hidden_test(board: Board) -> bool:
    """Return True where the answers of a split are its owner's alone."""
    for spec in board.specs.values():
        if any(split.hidden_answers for split in spec.splits.values()):
            return True
    return False


def write_parquet(board: Board, path: Path) -> None:
    """Write the results as Parquet: one row per result and metric."""
    import pyarrow as pa
    from pyarrow import parquet

    names_by_type: dict[columns.Type, list[str]] = {
        "text": ["key"],
        "integer": [],
        "number": [],
        "boolean": [],
    }
    for column in columns.COLUMNS:
        names_by_type[column.type].append(column.id)
    names_by_type["text"] += ["metric", "unit"]
    names_by_type["integer"] += ["n"]
    names_by_type["number"] += ["value", "low", "high"]
    arrow_types: dict[columns.Type, Any] = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
    }
    schema_fields: list[tuple[str, Any]] = []
    for column_type, arrow_type in arrow_types.items():
        for name in names_by_type[column_type]:
            schema_fields.append((name, arrow_type))
    records = list(columns.metric_records(board))
    arrow_table = pa.Table.from_pylist(records, schema=pa.schema(schema_fields))
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(arrow_table, path)


# --- rows without samples -------------------------------------------------------------------------


def _rows_only_files(board: Board, *, private: bool) -> Iterator[rows_only.RowsOnly]:
    """Yield each benchmark's file of rows whose samples may not be passed on."""
    for benchmark, groups in board.groups.items():
        tables: list[rows_only.Table] = []
        for group in groups:
            reason = why_withheld(board.specs[benchmark], group.split, private=private)
            if not reason and group in board.withheld:
                reason = board.withheld[group].why
            if not reason:
                continue
            table = _withheld_table(board, group, reason)
            if table.rows:
                tables.append(table)
        if tables:
            yield rows_only.RowsOnly(
                benchmark=benchmark, tables=tables, bridges=board.bridge_documents(benchmark)
            )


def _withheld_table(board: Board, group: RankingGroup, reason: str) -> rows_only.Table:
    noise = board.noise[group]
    runs = [entry for entry in board.rows[group] if entry.stored is not None]
    pairs = [(first, second, test) for (first, second), test in noise.pairs.items()]
    return rows_only.Table(
        group=group,
        why=reason,
        rows=[_withheld_row(board, run) for run in runs],
        ranges=dict(noise.ranges),
        smallest=noise.smallest,
        pairs=pairs,
        videos=noise.videos,
        shares=board.shares(group),
        relations=board.relations(group),
    )


def _withheld_row(board: Board, entry: BoardEntry) -> rows_only.Row:
    assert entry.stored is not None  # noqa: S101 - a run
    return rows_only.Row(
        **rows_only.Row.of_entry(entry),
        result=_without_video_names(entry.stored.result),
        without_shortcuts=board.without_shortcuts.get(entry.key),
        other_judges=board.other_judges.get(entry.key),
    )


def _without_video_names(result: Result) -> Result:
    media = result.media.model_copy(update={"videos": []})
    return store.public(result).model_copy(update={"media": media})


def models_on_the_hub(board: Board) -> list[str]:
    """Return the Hub's names of the models that were run and are open.

    The Hub lists a Space on the pages of the models that its card names.
    """
    names: set[str] = set()
    for entry in board.entries:
        if entry.kind == "run" and entry.open_weights and HUB_ID.fullmatch(entry.model):
            names.add(entry.model)
    return sorted(names)


def _front_matter_list(name: str, values: Sequence[str]) -> str:
    """Return a list of a card's front matter as YAML. It is empty without values."""
    if not values:
        return ""
    lines = [f"{name}:\n", *(f"- {value}\n" for value in values)]
    return "".join(lines)


# --- a repository ---------------------------------------------------------------------------------


class _Readme(NamedTuple):
    """A README, and what its front matter says."""

    text: str
    front_matter: Mapping[str, Any]


class _Changes(NamedTuple):
    """Paths to write and to delete in a repository."""

    changed: list[str]
    deleted: list[str]


@dataclass(slots=True)
class _Upload:
    """One repository and the folder with what it should hold."""

    repository: Repository
    folder: Path
    content: _Content
    store: Path
    board: Board
    space: str | None
    dataset: str | None
    options: PublishOptions
    note: Note
    state: BoardState
    new_entries: Sequence[ledger.Entry]
    workers: Workers
    synced_head: Head | None = None

    def stage(self) -> Head:
        """Write what the repository should hold to the folder, and return its present commit.

        Raises:
            InputError: If the repository can't be brought to that.
        """
        self.folder.mkdir(parents=True)
        if self.content == "results":
            self._write_results()
        elif self.content == "site":
            self._write_site()
        else:
            self._write_webhook()
        head = self._head()
        create_pr = self.options.create_pr
        with self.repository.errors_in_one_line():
            if "README.md" in head.files:
                self._check_readme(head)
            if self.content == "site" and not create_pr:
                self._check_nothing_vanishes(head)
            if self.content == "results" and create_pr:
                self._leave_out_published(head)
            elif self.content == "results":
                self._check_head_is_unchanged(head)
                self._check_rows_without_samples()
                self._note_unfiled_results(head)
        return head

    def _check_head_is_unchanged(self, head: Head) -> None:
        """Refuse a commit that is not the one whose ledger came into the store."""
        if self.synced_head is None:
            self._note_unread_entries(head)
        elif self.synced_head.commit != head.commit:
            raise ReelbenchError(
                f"{self.repository.page}: somebody committed while this ran; nothing was "
                "committed, run it again"
            )

    def _note_unread_entries(self, head: Head) -> None:
        """Note in a dry run that publishing would first bring others' entries into the store."""
        published_lines = publish_sync.published_lines(self.repository, head)
        stored_lines = ledger.Ledger(self.store).lines
        if ledger_merge.merge(stored_lines, published_lines) != stored_lines:
            self.note(
                f"{self.repository.page}: other maintainers published since; publishing brings "
                "that into the store first"
            )

    def _check_rows_without_samples(self) -> None:
        """Refuse to leave out rows whose samples only another maintainer has."""
        missing_keys = sorted(self.board.left_out.keys() & store.rows_only_keys(self.store))
        if missing_keys:
            first = missing_keys[0]
            rows = number_of(len(missing_keys), "row")
            raise InputError(
                f"{self.repository.page} has {rows} without samples, the "
                f"first {first}: {self.board.left_out[first]}; publish from the store that has "
                "them, or take your own out with `reelbench leaderboard remove KEY --store STORE`"
            )

    def _note_unfiled_results(self, head: Head) -> None:
        """Note which results were merged into the dataset and are in no ledger yet."""
        unfiled_keys: set[str] = set()
        for path in head.files:
            key = results_dataset.key_of_path(path)
            if key is not None and key not in self.state.rows and not self._is_withdrawn(key):
                unfiled_keys.add(key)
        if unfiled_keys:
            self.note(
                f"{self.repository.page}: {number_of(len(unfiled_keys), 'result')} there that "
                f"nobody filed, the first {min(unfiled_keys)}; they stay, and show on no page "
                "until `reelbench leaderboard add` files them"
            )

    def _is_withdrawn(self, key: str) -> bool:
        return key not in self.state.rows and bool(self.state.withdrawn_of(key))

    def _head(self) -> Head:
        repository = self.repository
        with repository.errors_in_one_line():
            head = repository.head()
            if head.commit is None and not self.options.dry_run:
                # With a bad token every repository looks as if it were not there.
                repository.api.whoami()
            elif head.commit is None:
                self.note(
                    f"{repository.page}: not there yet, or private and the token may not see it"
                )
        if head.commit is None and self.options.create_pr:
            raise InputError(
                f"{repository.page}: not there, or private; a pull request needs one that is"
            )
        return head

    def send(self, head: Head) -> Published:
        """Commit what differs from what is there, or offer it by a pull request."""
        repository = self.repository
        options = self.options
        base = head
        url = repository.page
        revision: str | None = None
        if options.create_pr and not options.dry_run:
            # An open pull request is updated: a second one would only stand beside it.
            with repository.errors_in_one_line():
                request = repository.open_request(_TITLE)
                if request is not None:
                    revision = f"refs/pr/{request}"
                    url = f"{repository.page}/discussions/{request}"
                    base = repository.head(revision)
        changes = self._changes(base)
        if revision is not None:
            # What others had merged since is no part of one's own request.
            changes = changes._replace(changed=self._differing_paths(changes.changed, head))
        if not changes.changed and not changes.deleted:
            if self._squashes_history:
                self._squash_or_note(changes)
            return Published("unchanged", url)
        self._note_changes(changes, base)
        if options.dry_run:
            return Published("would change", url)
        committed_url = self._commit(base, changes, revision)
        if self.content == "results" and not options.create_pr:
            self._squash_or_note(changes)
        if revision is None:
            url = committed_url
        outcome: PublishOutcome = "pull request" if options.create_pr else "committed"
        return Published(outcome, url)

    @property
    def _squashes_history(self) -> bool:
        """True where the dataset's history becomes one commit."""
        options = self.options
        is_offer = options.create_pr or options.dry_run
        return options.squash_history and self.content == "results" and not is_offer

    def _squash_or_note(self, changes: _Changes) -> None:
        """Remove withdrawn results from the history, or note that they are in it."""
        repository = self.repository
        if self._squashes_history:
            with repository.errors_in_one_line():
                repository.api.super_squash_history(
                    repository.id, repo_type="dataset", commit_message=f"{_TITLE}{_SQUASHED}"
                )
            self.note(
                f"{repository.page}: its history is one commit now; pull requests keep theirs"
            )
        elif any(results_dataset.key_of_path(path) for path in changes.deleted):
            self.note(
                f"{repository.page}: earlier commits still have the withdrawn results; "
                "--squash-history makes one commit of all"
            )

    def _changes(self, head: Head) -> _Changes:
        """Return the differences of the staged files from a commit."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        staged_paths = sorted(path.relative_to(self.folder).as_posix() for path in files)
        changed = self._differing_paths(staged_paths, head)
        if "README.md" in head.files and "README.md" in changed:
            # People may write their own card; ours is only there so that there is one.
            changed.remove("README.md")
        deleted: list[str] = []
        if not self.options.create_pr:
            for path in head.files:
                if path not in staged_paths and self._is_obsolete(path):
                    deleted.append(path)
        return _Changes(changed, deleted)

    def _is_obsolete(self, path: str) -> bool:
        """Return True for a published file that is deleted unless made again.

        Such are files of generated folders, of withdrawn results, and an earlier version's checks.
        """
        if path.startswith(_GENERATED_FOLDERS[self.repository.kind]):
            return True
        if self.content != "results":
            return False
        if path.startswith(f"{_RESULTS}/") and path.endswith("/check.json"):
            return True
        key = results_dataset.key_of_path(path) or results_dataset.key_of_earlier(path)
        return key is not None and self._is_withdrawn(key)

    def _differing_paths(self, paths: list[str], head: Head) -> list[str]:
        return [path for path in paths if differs(self.folder / path, head.files.get(path))]

    def _note_changes(self, changes: _Changes, head: Head) -> None:
        changed = changes.changed
        self.note(
            f"{self.repository.page}: {number_of(len(changed), 'file')} to write, "
            f"{len(changes.deleted)} to delete"
        )
        for path in changed[:_MAX_NOTED_FILES]:
            verb = "change" if path in head.files else "add"
            self.note(f"  {verb} {path}")
        if len(changed) > _MAX_NOTED_FILES:
            self.note(f"  and {len(changed) - _MAX_NOTED_FILES} more")

    def _commit(self, head: Head, changes: _Changes, revision: str | None) -> str:
        """Commit the changes, and return where they can be seen."""
        keys = {results_dataset.key_of_path(path) for path in changes.changed} - {None}
        title = "leaderboard"
        if self.content == "results" and keys:
            title = number_of(len(keys), "result")
        create: dict[str, Any] = {}
        if self.content in _SDK:
            create["space_sdk"] = _SDK[self.content]
        if self.options.private:
            create["private"] = True
        with self.repository.errors_in_one_line():
            return self.repository.commit(
                head,
                FileChanges(self.folder, changes.changed, changes.deleted),
                title=f"{_TITLE}{title}",
                description="Written by `reelbench leaderboard publish`.",
                create=create,
                revision=revision,
                create_pr=self.options.create_pr and revision is None,
            )

    # --- what it should hold

    def _write_asset(self, name: str, asset: str, replacements: Mapping[str, str]) -> None:
        """Write a text file of the package, with its placeholders replaced."""
        text = page_asset(asset, _ASSETS)
        text = text.replace("ORG/RESULTS", self.dataset or "ORG/RESULTS")
        for placeholder, replacement in replacements.items():
            text = text.replace(placeholder, replacement)
        write_text(self.folder / name, text)

    def _write_site(self) -> None:
        picture = f"{self.repository.page}/resolve/main/{site.PICTURE}"
        site.write(
            self.board,
            SiteFiles(self.folder),
            self.workers,
            private=self.options.private,
            dataset=self.dataset,
            address=site.PageAddress(self.repository.page, picture),
        )
        links = f"thumbnail: {picture}\n"
        links += _front_matter_list("models", models_on_the_hub(self.board))
        if self.dataset:
            links += _front_matter_list("datasets", [self.dataset])
        replacements = {"pinned: false\n": f"pinned: false\n{links}"}
        self._write_asset("README.md", "space_readme.md", replacements)

    def _write_webhook(self) -> None:
        self._write_asset("README.md", "webhook_readme.md", {})
        parts = {"REELBENCH=": f"REELBENCH={self.options.install}"}
        self._write_asset("Dockerfile", "webhook_dockerfile.txt", parts)

    def _write_results(self) -> None:
        self._copy_results()
        if self.options.create_pr:
            return
        results_folder = self.folder / _RESULTS
        for file in _rows_only_files(self.board, private=self.options.private):
            path = results_folder / store.ROWS_FOLDER / f"{file.benchmark}.json"
            write_json(path, file.model_dump(mode="json"))
        self._copy_settings(results_folder)
        if (self.store / ledger.FILE).is_file():
            lines = ledger.Ledger(self.store).with_entries(self.new_entries)
            results_folder.mkdir(parents=True, exist_ok=True)
            (results_folder / ledger.FILE).write_bytes(ledger.as_bytes(lines))
        link_to_space = f"\n{self._link_to_space}\n" if self.space else ""
        column_lines = [_column_line(column) for column in columns.COLUMNS]
        replacements = {"<!--SHOWN-->\n": link_to_space, "<!--COLUMNS-->": "\n".join(column_lines)}
        self._write_asset("README.md", "dataset_readme.md", replacements)
        workflow = ".github/workflows/check.yaml"
        install = {"INSTALL": self.options.install or ""}
        self._write_asset(workflow, "check_submissions.yaml", install)
        write_parquet(self.board, self.folder / _PARQUET)

    def _copy_settings(self, results_folder: Path) -> None:
        """Copy the store's imported boards, names of models and settings."""
        files = sorted((self.store / community.FOLDER).glob("*.json"))
        files += [self.store / name for name in (aliases.FILE, board_settings.FILE)]
        for path in files:
            if path.is_file():
                write_text(results_folder / path.relative_to(self.store), read_text(path))

    def _copy_results(self) -> None:
        """Copy the results whose samples may be passed on. Note how many may not."""
        withheld: Counter[str] = Counter()
        for entry in self.board.entries:
            stored = entry.stored
            # A row on some of a run's videos is no result.
            if stored is None or stored.videos is not None:
                continue
            spec = self.board.specs[entry.group.benchmark]
            reason = why_withheld(spec, entry.group.split, private=self.options.private)
            reason = reason or stored.withheld
            if reason:
                withheld[reason] += 1
                continue
            for run in stored.each:
                _copy_result(run.folder, self.folder / _RESULTS / run.key)
                if not self.options.create_pr:
                    self._copy_replaced_answers(run.key)
        if not self.options.create_pr:
            self._copy_shown_submissions()
        fate = "left out" if self.options.create_pr else "published as a row alone"
        for reason, number in withheld.items():
            results = number_of(number, "result")
            self.note(f"{fate}: {results} whose samples repeat the data: {reason}")

    def _copy_replaced_answers(self, key: str) -> None:
        """Copy the earlier answers of a result that were replaced."""
        replaced_folder = self.store / store.REPLACED_FOLDER / key
        if not replaced_folder.is_dir():
            return
        for folder in sorted(replaced_folder.iterdir()):
            replaced_key = f"{store.REPLACED_FOLDER}/{key}/{folder.name}"
            _copy_result(folder, self.folder / _RESULTS / replaced_key)

    def _copy_shown_submissions(self) -> None:
        """Copy the submissions to hidden tests that a table shows, if they are complete here."""
        for received, _ in hidden_rows.shown_files(self.state):
            folder = self.store / received.key
            if hidden_key.is_whole(folder, received.files):
                shutil.copytree(folder, self.folder / _RESULTS / received.key)

    @property
    def _link_to_space(self) -> str:
        return f"They are shown at [{self.space}]({hub.endpoint()}/spaces/{self.space})."

    def _leave_out_published(self, head: Head) -> None:
        """Leave out of a pull request what is there, newer there, or withdrawn there."""
        published_lines = publish_sync.published_lines(self.repository, head)
        published_state = board_state.state_of(published_lines)
        for entry in self.board.entries:
            stored = entry.stored
            if stored is None or stored.videos is not None:
                continue
            for run in stored.each:
                folder = self.folder / _RESULTS / run.key
                if not folder.is_dir():
                    continue
                if self._is_published(folder, head):
                    shutil.rmtree(folder)
                    continue
                reason = self._why_left_out(run, head, published_state)
                if reason is not None:
                    shutil.rmtree(folder)
                    self.note(f"left out: {run.key}: {reason}")

    def _why_left_out(
        self, run: StoredResult, head: Head, published_state: BoardState
    ) -> str | None:
        """Return why a result is left out of a pull request, or None."""
        names = aliases.read(self.store) if published_state.withdrawn else aliases.NO_ALIASES
        answers = run.filed_row.answers
        removed = published_state.tombstone(run.key, run.result.model.id, answers, names)
        if removed is not None:
            return f"these answers were withdrawn there on {removed.at:%Y-%m-%d}: {removed.reason}"
        path = f"{_RESULTS}/{run.key}/{result_files.RESULT_FILE}"
        if path not in head.files:
            return None
        published_file = self._fetch(self.repository.id, head, path)
        published_result = result_files.read(published_file.parent)
        if store.made_at(published_result) > store.made_at(run.result):
            return "a newer result is there"
        return None

    def _is_published(self, folder: Path, head: Head) -> bool:
        """Return True where a commit has exactly these files of a result."""
        key = folder.relative_to(self.folder).as_posix()
        for name in store.FILES:
            file = folder / name
            if file.is_file() and differs(file, head.files.get(f"{key}/{name}")):
                return False
        return True

    # --- what is there

    def _check_readme(self, head: Head) -> None:
        """Refuse a README whose front matter keeps the page from working.

        A README that people wrote stays. The message says which line to change.
        """
        page = self.repository.page
        readme = self._readme(head)
        sdk = readme.front_matter.get("sdk")
        needed_sdk = _SDK.get(self.content)
        if needed_sdk is not None and sdk != needed_sdk:
            raise InputError(
                f"{page}: its README.md says `sdk: {sdk}`, and this needs `sdk: {needed_sdk}`; "
                "change that line, or delete the file, which is then written"
            )
        if self.content == "results" and "configs" not in readme.front_matter:
            self.note(
                f"{page}: its README.md names no `configs`, so `load_dataset` reads other files "
                f"for the table; add `configs: [{{config_name: default, data_files: {_PARQUET}}}]` "
                "to it"
            )
        if self.content == "results":
            self._note_missing_link(readme, self.space, self._link_to_space)
        elif self.content == "site":
            self._note_missing_link(readme, self.dataset, f"datasets: [{self.dataset}]")

    def _note_missing_link(self, readme: _Readme, repository: str | None, line: str) -> None:
        if repository is not None and repository not in readme.text:
            page = self.repository.page
            self.note(f"{page}: its README.md does not name {repository}; add `{line}` to it")

    def _readme(self, head: Head) -> _Readme:
        """Return the README that is there."""
        import yaml

        path = hub.download(
            self.repository.id, "README.md", revision=str(head.commit), kind=self.repository.kind
        )
        text = path.read_text(encoding="utf-8", errors="replace")
        match = re.match(r"---[ \t]*\n(.*?)\n---[ \t]*\n", text + "\n", flags=re.DOTALL)
        if match is None:
            return _Readme(text, {})
        try:
            front_matter = yaml.safe_load(match[1])
        except yaml.YAMLError as error:
            why = " ".join(str(error).split())
            raise InputError(
                f"{self.repository.page}: its README.md can't be read as YAML: {why}; fix it"
            ) from None
        if not isinstance(front_matter, dict):
            front_matter = {}
        return _Readme(text, front_matter)

    def _check_nothing_vanishes(self, head: Head) -> None:
        """Refuse a page that would no longer show what others published."""
        shown_keys = self._shown_or_withdrawn_keys()
        for name, dataset_head in self._linked_datasets(head).items():
            lines = publish_sync.published_lines(Repository(name, "dataset"), dataset_head)
            published_keys = board_state.state_of(lines).rows.keys()
            missing_keys = sorted(published_keys - shown_keys)
            if missing_keys:
                raise InputError(
                    f"{hub.page(name)} has {number_of(len(missing_keys), 'result')} that the store "
                    f"lacks, the first {missing_keys[0]}; {_SYNC_ADVICE.format(dataset=name)}, "
                    "or leave it out with --forget KEY"
                )
        missing_keys = sorted(self._keys_of_site(head) - shown_keys)
        if missing_keys:
            raise InputError(
                f"{self.repository.page} shows {number_of(len(missing_keys), 'result')} that the "
                f"store lacks, the first {missing_keys[0]}; publish from the store that has it, "
                "or leave it out with --forget KEY"
            )

    def _linked_datasets(self, head: Head) -> dict[str, Head]:
        """Return the datasets that the site's README names, whose results must not vanish.

        There are none where a dataset is published too: its results came into the store first.
        """
        if self.dataset is not None or "README.md" not in head.files:
            return {}
        names = self._readme(head).front_matter.get("datasets")
        if not isinstance(names, list):
            return {}
        datasets: dict[str, Head] = {}
        for name in names:
            if isinstance(name, str):
                datasets[name] = Repository(name, "dataset").head()
        return datasets

    def _shown_or_withdrawn_keys(self) -> set[str]:
        """Return the keys that the board shows, those withdrawn and those to be forgotten."""
        keys = set(self.options.forget)
        for entry in self.board.entries:
            if entry.stored is not None:
                keys.update(run.key for run in entry.stored.each)
        keys.update(key for key, _ in self.state.withdrawn)
        return keys

    def _keys_of_site(self, head: Head) -> set[str]:
        """Return the keys of the runs that the published page would lose now."""
        keys: set[str] = set()
        for path in head.files:
            if not path.startswith("data/runs/") or (self.folder / path).is_file():
                continue
            file = hub.download(self.repository.id, path, revision=str(head.commit), kind="space")
            text = file.read_text(encoding="utf-8", errors="replace")
            keys.update(re.findall(r'"key":"([^"#]+)"', text))
        return keys

    def _fetch(self, dataset: str, head: Head, path: str) -> Path:
        folder = self.folder.parent / "there"
        return hub.download(dataset, path, revision=str(head.commit), folder=folder)


def _column_line(column: columns.BoardColumn) -> str:
    """Return a column's line in the dataset's card."""
    text = column.title
    if column.about:
        text += f": {column.about}"
    return f"| `{column.id}` | {text} |"


def _copy_result(folder: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for name in store.FILES:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, target / name)
