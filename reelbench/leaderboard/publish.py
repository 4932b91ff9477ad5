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
from reelbench.leaderboard.hand_in import Published, Publishing
from reelbench.leaderboard.site_files import SiteFiles
from reelbench.leaderboard.store import StoredResult
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import Result
from reelbench.scoring import result_files

Note = Callable[[str], None]

_RESULTS = results_dataset.RESULTS
_PARQUET = "data/results.parquet"
_OWN_FOLDERS: dict[RepoType, tuple[str, ...]] = {
    "space": ("data/", "downloads/"),
    "dataset": (f"{_RESULTS}/{store.ROWS_FOLDER}/",),
}
"""Folders that are ours alone: what is in them and no longer made is deleted.

Of results those are deleted that the ledger withdraws.
"""
_What = Literal["results", "site", "webhook"]
_SDK: dict[_What, str] = {"site": "static", "webhook": "docker"}
_MOST_NOTED = 10
_TITLE = "Reelbench: "
_ASSETS = "leaderboard.assets"
_NEXT = (
    "next: `hf spaces secrets add {space} -s HF_TOKEN -s WEBHOOK_SECRET` (from your environment), "
    "then the webhook, as its README says"
)
_FORM_ALONE = (
    "answers are never uploaded: of submissions to a hidden test the Space checks the form alone; "
    "`reelbench leaderboard check --answers FILE` scores them on your machine"
)
_BRING = "publish with --dataset {dataset} too, which brings it into the store"
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
    _refuse_wrong_call(dataset, webhook, options)
    repositories = _repositories(space, dataset, webhook)
    if not repositories:
        raise InputError(
            "nothing to publish to: give --repo ORG/NAME (the site), --dataset ORG/NAME "
            "(the results)"
        )
    if hub.offline():
        raise ReelbenchError("not published, because HF_HUB_OFFLINE is set; unset it")
    store.refuse_no_store(path)
    with TemporaryDirectory(prefix="reelbench-publish-") as folder:
        read_head: Head | None = None
        if dataset and not options.create_pr and not options.dry_run:
            read_head = _synced(path, repositories["results"], Path(folder) / "brought", note)
        board = boards.make(path, workers=workers)
        for key, why in board.left_out.items():
            note(f"left out: {key}: {why}")
        state = board_state.read(path)
        new_entries: list[ledger.Published] = []
        if not options.create_pr:
            new_entries = _entries_on_tables(board, state)
            state.apply(new_entries)
            board = boards.with_history(board, state)
        uploads: list[_Upload] = []
        for what, repository in repositories.items():
            upload = _Upload(
                repository=repository,
                folder=Path(folder) / what / "new",
                what=what,
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
            if what == "results":
                upload.read_head = read_head
            uploads.append(upload)
        # All of them are looked at before anything is sent.
        heads = [upload.look() for upload in uploads]
        outcomes = _send_all(uploads, heads, webhook, note)
    if dataset and options.create_pr:
        outcomes += hand_in.offer_all(path, repositories["results"], dry_run=options.dry_run)
    elif dataset:
        outcomes = _with_note_on_hand_in(outcomes, path, repositories["results"], note)
    return outcomes


def _repositories(
    space: str | None, dataset: str | None, webhook: str | None
) -> dict[_What, Repository]:
    repositories: dict[_What, Repository] = {}
    if dataset:
        repositories["results"] = Repository(dataset, "dataset")
    if space:
        repositories["site"] = Repository(space, "space")
    if webhook:
        repositories["webhook"] = Repository(webhook, "space")
    return repositories


def _append(entries: Sequence[ledger.Entry], place: Path) -> None:
    """Append the entries on tables that were sent to a store's ledger.

    A command may be ended between the two. Then the next one brings them from the dataset, and
    without a dataset it dates them anew.
    """
    if entries:
        board_ledger = board_state.BoardLedger(place)
        with board_ledger.locked():
            board_ledger.append(*entries)


def _entries_on_tables(board: Board, state: BoardState) -> list[ledger.Published]:
    """Return the ledger's entries on the main tables that changed since they were published."""
    values: dict[str, dict[str, float]] = {}
    for group, table in board.history.items():
        values[group.id] = table.values
    return history.new_entries(values, state, ledger.now())


def _with_note_on_hand_in(
    outcomes: list[Published], place: Path, repository: Repository, note: Note
) -> list[Published]:
    """Say which submissions stay in the store. Nothing is "unchanged" beside them."""
    waiting = hand_in.not_offered(place, board_state.read(place), repository)
    if not waiting:
        return outcomes
    are = "is" if len(waiting) == 1 else "are"
    note(f"{number_of(len(waiting), 'submission')} {are} not submitted: add --create-pr")
    return [outcome for outcome in outcomes if outcome.done != "unchanged"]


def _synced(place: Path, repository: Repository, folder: Path, note: Note) -> Head:
    """Bring the store up to the dataset, and return the commit that was read."""
    with repository.errors_in_one_line():
        head = repository.head()
        publish_sync.sync(place, repository, head, folder, note)
    return head


def _refuse_wrong_call(dataset: str | None, webhook: str | None, options: PublishOptions) -> None:
    if webhook and not dataset:
        raise InputError(
            "--webhook needs --dataset ORG/NAME, the results whose pull requests it checks"
        )
    wheel = "a wheel's address with its hash (https://….whl#sha256=…)"
    if options.install is not None and not _PINNED_WHEEL.fullmatch(options.install):
        raise InputError(
            f"--install {options.install[:200]!r}: expected {wheel}; Reelbench is not on a package "
            "registry, and whoever took the name there could run code next to the checker's tokens"
        )
    if webhook and options.install is None:
        raise InputError(f"--webhook needs --install: {wheel}, which its machine installs")


def _send_all(
    uploads: "list[_Upload]", heads: list[Head], webhook: str | None, note: Note
) -> list[Published]:
    outcomes: list[Published] = []
    for upload, head in zip(uploads, heads, strict=True):
        try:
            outcome = upload.send(head)
        except ReelbenchError:
            for outcome in outcomes:
                note(f"{outcome.done}: {outcome.url}; the same command goes on from here")
            raise
        outcomes.append(outcome)
        if upload is uploads[0] and not upload.options.dry_run:
            _append(upload.new_entries, upload.store)
        if upload.read_head is not None:
            published = [upload.folder / _RESULTS / name for name in maintainers_files.FILES]
            maintainers_files.remember(published, upload.store)
        if upload.what == "webhook" and outcome.done == "committed":
            note(_NEXT.format(space=webhook))
        if upload.what == "webhook" and _has_hidden_test(upload.board):
            note(_FORM_ALONE)
    return outcomes


def _has_hidden_test(board: Board) -> bool:
    """Return True where the answers of a split are its owner's alone."""
    for spec in board.specs.values():
        if any(split.hidden_answers for split in spec.splits.values()):
            return True
    return False


def write_parquet(board: Board, path: Path) -> None:
    """Write one row per result and metric."""
    import pyarrow as pa
    from pyarrow import parquet

    names: dict[columns.Type, list[str]] = {
        "text": ["key"],
        "integer": [],
        "number": [],
        "boolean": [],
    }
    for column in columns.COLUMNS:
        names[column.type].append(column.id)
    names["text"] += ["metric", "unit"]
    names["integer"] += ["n"]
    names["number"] += ["value", "low", "high"]
    arrow_types: dict[columns.Type, Any] = {
        "text": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
    }
    schema_fields: list[tuple[str, Any]] = []
    for kind, arrow_type in arrow_types.items():
        schema_fields += [(name, arrow_type) for name in names[kind]]
    path.parent.mkdir(parents=True, exist_ok=True)
    records = list(columns.metric_records(board))
    arrow_table = pa.Table.from_pylist(records, schema=pa.schema(schema_fields))
    parquet.write_table(arrow_table, path)


# --- rows without samples -------------------------------------------------------------------------


def _withheld_files(board: Board, *, private: bool) -> Iterator[rows_only.RowsOnly]:
    """Yield the file of each benchmark with samples that may not be passed on."""
    for benchmark, groups in board.groups.items():
        tables: list[rows_only.Table] = []
        for group in groups:
            why = why_withheld(board.specs[benchmark], group.split, private=private)
            if not why and group in board.withheld:
                why = board.withheld[group].why
            if why:
                table = _withheld_table(board, group, why)
                if table.rows:
                    tables.append(table)
        if tables:
            yield rows_only.RowsOnly(
                benchmark=benchmark, tables=tables, bridges=board.bridge_documents(benchmark)
            )


def _withheld_table(board: Board, group: RankingGroup, why: str) -> rows_only.Table:
    noise = board.noise[group]
    entries = [entry for entry in board.rows[group] if entry.stored is not None]
    return rows_only.Table(
        group=group,
        why=why,
        rows=[_withheld_row(board, entry) for entry in entries],
        ranges=dict(noise.ranges),
        smallest=noise.smallest,
        pairs=[(first, second, pair) for (first, second), pair in noise.pairs.items()],
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


def _as_list(name: str, values: Sequence[str]) -> str:
    """Return a list of a card's front matter. It is empty without values."""
    if not values:
        return ""
    return f"{name}:\n" + "".join(f"- {value}\n" for value in values)


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
    what: _What
    store: Path
    board: Board
    space: str | None
    dataset: str | None
    options: PublishOptions
    note: Note
    state: BoardState
    new_entries: Sequence[ledger.Entry]
    workers: Workers
    read_head: Head | None = None

    def look(self) -> Head:
        """Write what the repository should hold, and return what it is now.

        Raises:
            InputError: If it can't be brought to that.
        """
        self.folder.mkdir(parents=True)
        if self.what == "results":
            self._stage_results()
        elif self.what == "site":
            self._stage_site()
        else:
            self._stage_webhook()
        head = self._head()
        create_pr = self.options.create_pr
        with self.repository.errors_in_one_line():
            if "README.md" in head.files:
                self._refuse_a_readme_that_breaks_it(head)
            if self.what == "site" and not create_pr:
                self._refuse_to_forget(head)
            if self.what == "results" and create_pr:
                self._leave_out_known(head)
            elif self.what == "results":
                self._refuse_other_head(head)
                self._refuse_rows_without_samples()
                self._note_unfiled(head)
        return head

    def _refuse_other_head(self, head: Head) -> None:
        """Refuse a commit that is not the one whose ledger came into the store."""
        if self.read_head is not None and self.read_head.commit != head.commit:
            raise ReelbenchError(
                f"{self.repository.page}: somebody committed while this ran; nothing was "
                "committed, run it again"
            )
        if self.read_head is None:
            self._note_unread(head)

    def _note_unread(self, head: Head) -> None:
        """Say in a dry run what publishing would bring into the store first."""
        lines = publish_sync.published_lines(self.repository, head)
        own_lines = ledger.Ledger(self.store).lines
        with_published = ledger_merge.merge(own_lines, lines)
        if with_published != own_lines:
            self.note(
                f"{self.repository.page}: other maintainers published since; publishing brings "
                "that into the store first"
            )

    def _refuse_rows_without_samples(self) -> None:
        """Refuse to leave out rows whose samples only another maintainer has."""
        lacking = sorted(self.board.left_out.keys() & store.rows_only_keys(self.store))
        if lacking:
            first = lacking[0]
            raise InputError(
                f"{self.repository.page} has {number_of(len(lacking), 'row')} without samples, the "
                f"first {first}: {self.board.left_out[first]}; publish from the store that has "
                "them, or take your own out with `reelbench leaderboard remove KEY --store STORE`"
            )

    def _note_unfiled(self, head: Head) -> None:
        """Say which results were merged there and are in no ledger yet."""
        keys: set[str] = set()
        for path in head.files:
            key = results_dataset.key_of_path(path)
            if key is not None and key not in self.state.rows and not self._is_withdrawn(key):
                keys.add(key)
        if keys:
            self.note(
                f"{self.repository.page}: {number_of(len(keys), 'result')} there that nobody filed,"
                f" the first {min(keys)}; they stay, and show on no page until "
                "`reelbench leaderboard add` files them"
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
        """Commit what differs from what is there, or offer it."""
        repository = self.repository
        options = self.options
        request: int | None = None
        compared = head
        revision: str | None = None
        url = repository.page
        with repository.errors_in_one_line():
            # A second request would only stand beside the first one.
            if options.create_pr and not options.dry_run:
                request = repository.open_request(_TITLE)
            if request is not None:
                revision = f"refs/pr/{request}"
                url = f"{repository.page}/discussions/{request}"
                compared = repository.head(revision)
        changes = self._changes(compared)
        if revision is not None:
            # What others had merged since is no part of one's own request.
            changes = changes._replace(changed=self._differing(changes.changed, head))
        if not changes.changed and not changes.deleted:
            if self._squashes:
                self._squash_or_say(changes)
            return Published("unchanged", url)
        self._note_changes(changes, compared)
        if options.dry_run:
            return Published("would change", url)
        committed_url = self._commit(compared, changes, revision)
        if self.what == "results" and not options.create_pr:
            self._squash_or_say(changes)
        if revision is None:
            url = committed_url
        done: Publishing = "pull request" if options.create_pr else "committed"
        return Published(done, url)

    @property
    def _squashes(self) -> bool:
        """True where the dataset's history becomes one commit."""
        options = self.options
        is_offer = options.create_pr or options.dry_run
        return options.squash_history and self.what == "results" and not is_offer

    def _squash_or_say(self, changes: _Changes) -> None:
        """Remove withdrawn results from the history as well, or say that they are in it."""
        repository = self.repository
        if self._squashes:
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
        """Return the differences from a commit."""
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        paths = sorted(path.relative_to(self.folder).as_posix() for path in files)
        changed = self._differing(paths, head)
        if "README.md" in head.files and "README.md" in changed:
            # People may write their own card; ours is only there so that there is one.
            changed.remove("README.md")
        deleted: list[str] = []
        for path in head.files:
            is_own = path.startswith(_OWN_FOLDERS[self.repository.kind])
            if (is_own or self._is_gone(path)) and path not in paths:
                deleted.append(path)
        if self.options.create_pr:
            deleted = []
        return _Changes(changed, deleted)

    def _is_gone(self, path: str) -> bool:
        """Return True of a file of a withdrawn result, and of an earlier version's checks."""
        if self.what != "results":
            return False
        if path.startswith(f"{_RESULTS}/") and path.endswith("/check.json"):
            return True
        key = results_dataset.key_of_path(path) or results_dataset.key_of_earlier(path)
        return key is not None and self._is_withdrawn(key)

    def _differing(self, paths: list[str], head: Head) -> list[str]:
        return [path for path in paths if differs(self.folder / path, head.files.get(path))]

    def _note_changes(self, changes: _Changes, head: Head) -> None:
        changed = changes.changed
        self.note(
            f"{self.repository.page}: {number_of(len(changed), 'file')} to write, "
            f"{len(changes.deleted)} to delete"
        )
        for path in changed[:_MOST_NOTED]:
            verb = "change" if path in head.files else "add"
            self.note(f"  {verb} {path}")
        if len(changed) > _MOST_NOTED:
            self.note(f"  and {len(changed) - _MOST_NOTED} more")

    def _commit(self, head: Head, changes: _Changes, revision: str | None) -> str:
        """Commit the changes, and return where they can be seen."""
        keys = {results_dataset.key_of_path(path) for path in changes.changed} - {None}
        title = "leaderboard"
        if self.what == "results" and keys:
            title = number_of(len(keys), "result")
        create: dict[str, Any] = {}
        if self.what in _SDK:
            create["space_sdk"] = _SDK[self.what]
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

    def _write_asset(self, name: str, asset: str, parts: Mapping[str, str]) -> None:
        """Write a file of the package, with parts in place of its marks."""
        text = page_asset(asset, _ASSETS)
        text = text.replace("ORG/RESULTS", self.dataset or "ORG/RESULTS")
        for mark, part in parts.items():
            text = text.replace(mark, part)
        write_text(self.folder / name, text)

    def _stage_site(self) -> None:
        files = SiteFiles(self.folder)
        picture = f"{self.repository.page}/resolve/main/{site.PICTURE}"
        address = site.PageAddress(self.repository.page, picture)
        site.write(
            self.board,
            files,
            self.workers,
            private=self.options.private,
            dataset=self.dataset,
            address=address,
        )
        links = f"thumbnail: {picture}\n"
        links += _as_list("models", models_on_the_hub(self.board))
        if self.dataset:
            links += _as_list("datasets", [self.dataset])
        parts = {"pinned: false\n": f"pinned: false\n{links}"}
        self._write_asset("README.md", "space_readme.md", parts)

    def _stage_webhook(self) -> None:
        self._write_asset("README.md", "webhook_readme.md", {})
        parts = {"REELBENCH=": f"REELBENCH={self.options.install}"}
        self._write_asset("Dockerfile", "webhook_dockerfile.txt", parts)

    def _stage_results(self) -> None:
        self._copy_results()
        if self.options.create_pr:
            return
        results_folder = self.folder / _RESULTS
        for file in _withheld_files(self.board, private=self.options.private):
            path = results_folder / store.ROWS_FOLDER / f"{file.benchmark}.json"
            write_json(path, file.model_dump(mode="json"))
        own_files = sorted((self.store / community.FOLDER).glob("*.json"))
        own_files += [self.store / name for name in (aliases.FILE, board_settings.FILE)]
        for path in own_files:
            if path.is_file():
                write_text(results_folder / path.relative_to(self.store), read_text(path))
        ledger_file = self.store / ledger.FILE
        if ledger_file.is_file():
            lines = ledger.Ledger(self.store).with_entries(self.new_entries)
            (results_folder / ledger.FILE).parent.mkdir(parents=True, exist_ok=True)
            (results_folder / ledger.FILE).write_bytes(ledger.as_bytes(lines))
        link_to_space = ""
        if self.space:
            link_to_space = f"\n{self._link_to_space}\n"
        column_lines = [_column_line(column) for column in columns.COLUMNS]
        parts = {"<!--SHOWN-->\n": link_to_space, "<!--COLUMNS-->": "\n".join(column_lines)}
        self._write_asset("README.md", "dataset_readme.md", parts)
        workflow = ".github/workflows/check.yaml"
        install = {"INSTALL": self.options.install or ""}
        self._write_asset(workflow, "check_submissions.yaml", install)
        write_parquet(self.board, self.folder / _PARQUET)

    def _copy_results(self) -> None:
        """Copy the results whose samples may be passed on. Note how many may not."""
        left_out: Counter[str] = Counter()
        for entry in self.board.entries:
            stored = entry.stored
            # A row on some of a run's videos is no result.
            if stored is None or stored.videos is not None:
                continue
            spec = self.board.specs[entry.group.benchmark]
            why = why_withheld(spec, entry.group.split, private=self.options.private)
            why = why or stored.withheld
            if why:
                left_out[why] += 1
                continue
            for run in stored.each:
                _copy_result(run.folder, self.folder / _RESULTS / run.key)
                earlier_folder = self.store / store.REPLACED_FOLDER / run.key
                if self.options.create_pr or not earlier_folder.is_dir():
                    continue
                for folder in sorted(earlier_folder.iterdir()):
                    key = f"{store.REPLACED_FOLDER}/{run.key}/{folder.name}"
                    _copy_result(folder, self.folder / _RESULTS / key)
        if not self.options.create_pr:
            for received, _ in hidden_rows.shown_files(self.state):
                folder = self.store / received.key
                if hidden_key.is_whole(folder, received.files):
                    shutil.copytree(folder, self.folder / _RESULTS / received.key)
        rows = "left out" if self.options.create_pr else "published as a row alone"
        for why, number in left_out.items():
            results = number_of(number, "result")
            self.note(f"{rows}: {results} whose samples repeat the data: {why}")

    @property
    def _link_to_space(self) -> str:
        return f"They are shown at [{self.space}]({hub.endpoint()}/spaces/{self.space})."

    def _leave_out_known(self, head: Head) -> None:
        """Leave out of a pull request what is there, newer there, or withdrawn there."""
        published = board_state.state_of(publish_sync.published_lines(self.repository, head))
        for entry in self.board.entries:
            stored = entry.stored
            if stored is None or stored.videos is not None:
                continue
            for run in stored.each:
                folder = self.folder / _RESULTS / run.key
                if not folder.is_dir():
                    continue
                reason = self._why_known(run, folder, head, published)
                if reason is not None:
                    shutil.rmtree(folder)
                if reason:
                    self.note(f"left out: {run.key}: {reason}")

    def _why_known(
        self, run: StoredResult, folder: Path, head: Head, published: BoardState
    ) -> str | None:
        """Return why a result is no part of one's request. None where it is.

        It is "" where the very result is there.
        """
        if self._is_there(folder, head):
            return ""
        names = aliases.read(self.store) if published.withdrawn else aliases.NO_ALIASES
        answers = run.filed_row.answers
        removed = published.tombstone(run.key, run.result.model.id, answers, names)
        if removed is not None:
            return f"these answers were withdrawn there on {removed.at:%Y-%m-%d}: {removed.reason}"
        path = f"{_RESULTS}/{run.key}/{result_files.RESULT_FILE}"
        if path not in head.files:
            return None
        downloaded = self._fetch(self.repository.id, head, path)
        date = store.made_at(result_files.read(downloaded.parent))
        if date > store.made_at(run.result):
            return "a newer result is there"
        return None

    def _is_there(self, folder: Path, head: Head) -> bool:
        """Return True where a commit has a result's files."""
        key = folder.relative_to(self.folder).as_posix()
        for name in store.FILES:
            if not (folder / name).is_file():
                continue
            if differs(folder / name, head.files.get(f"{key}/{name}")):
                return False
        return True

    # --- what is there

    def _refuse_a_readme_that_breaks_it(self, head: Head) -> None:
        """Refuse a README whose front matter keeps the page from working.

        A README that people wrote stays. The message says which line to change.
        """
        page = self.repository.page
        readme = self._readme(head)
        sdk = readme.front_matter.get("sdk")
        needed_sdk = _SDK.get(self.what)
        if needed_sdk is not None and sdk != needed_sdk:
            raise InputError(
                f"{page}: its README.md says `sdk: {sdk}`, and this needs `sdk: {needed_sdk}`; "
                "change that line, or delete the file, which is then written"
            )
        if self.what == "results" and "configs" not in readme.front_matter:
            self.note(
                f"{page}: its README.md names no `configs`, so `load_dataset` reads other files "
                f"for the table; add `configs: [{{config_name: default, data_files: {_PARQUET}}}]` "
                "to it"
            )
        if self.what == "results":
            self._note_missing_link(readme, self.space, self._link_to_space)
        elif self.what == "site":
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

    def _refuse_to_forget(self, head: Head) -> None:
        """Refuse a page that would no longer show what others published."""
        own_keys = self._own_keys()
        for name, dataset_head in self._datasets(head).items():
            lines = publish_sync.published_lines(Repository(name, "dataset"), dataset_head)
            lacking = sorted(board_state.state_of(lines).rows.keys() - own_keys)
            if lacking:
                raise InputError(
                    f"{hub.page(name)} has {number_of(len(lacking), 'result')} that the store "
                    f"lacks, the first {lacking[0]}; {_BRING.format(dataset=name)}, or leave it "
                    "out with --forget KEY"
                )
        lacking = sorted(self._keys_of_site(head) - own_keys)
        if lacking:
            raise InputError(
                f"{self.repository.page} shows {number_of(len(lacking), 'result')} that the store "
                f"lacks, the first {lacking[0]}; publish from the store that has it, or leave it "
                "out with --forget KEY"
            )

    def _datasets(self, head: Head) -> dict[str, Head]:
        """Return the results datasets whose results must not vanish from the page."""
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

    def _own_keys(self) -> set[str]:
        """Return the keys that the board shows, those that are withdrawn or to be forgotten."""
        keys = set(self.options.forget)
        for entry in self.board.entries:
            if entry.stored is not None:
                keys.update(run.key for run in entry.stored.each)
        keys.update(key for key, _ in self.state.withdrawn)
        return keys

    def _keys_of_site(self, head: Head) -> set[str]:
        """Return the keys of the runs that the page shows."""
        keys: set[str] = set()
        for path in head.files:
            if path.startswith("data/runs/") and not (self.folder / path).is_file():
                file = hub.download(
                    self.repository.id, path, revision=str(head.commit), kind="space"
                )
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
