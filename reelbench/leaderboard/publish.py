"""Publishing: the site as a static Space, the results as a dataset, and a submission as a pull request to it.

Beside them a Space that checks submissions, which is a Dockerfile around `reelbench leaderboard
webhook`. Only what differs is uploaded, in one commit for each repository.
"""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from reelbench.base.errors import InputError, ReelbenchError, number_of
from reelbench.base.files import read_text, write_json, write_text
from reelbench.data import hub
from reelbench.data.hub_write import FileChanges, Head, Repository, RepoType, differs
from reelbench.data.redistribution import why_withheld
from reelbench.leaderboard import board as boards
from reelbench.leaderboard import columns, community, site, store, withheld
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.checks import CHECK_FILE, read_check
from reelbench.pages.shell_page import page_asset
from reelbench.registry.records import Result
from reelbench.scoring import result_files

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
_TITLE = "Reelbench: "
_RESULT = f"/{result_files.RESULT_FILE}"
_ASSETS = "leaderboard.assets"


@dataclass(frozen=True, slots=True)
class Published:
    """What was done with one repository, and where it can be seen."""

    done: Done
    url: str


def publish(
    path: Path,
    *,
    space: str | None = None,
    dataset: str | None = None,
    webhook: str | None = None,
    options: "PublishOptions | None" = None,
    note: Note = lambda _: None,
) -> list[Published]:
    """Bring a Space and a results dataset up to date with a store.

    Each repository, `ORG/NAME`, is made where it is not there, the dataset never by a pull request:
    the static Space `space`, the results `dataset`, the Space `webhook` that checks pull requests
    to these.

    Raises:
        InputError: The call is wrong, or what is there has results, or newer ones, that this store
            lacks.
        ReelbenchError: The Hub refused or broke off; each repository is as it was, or changed
            whole.
    """
    options = options or PublishOptions()
    if webhook and not dataset:
        raise InputError(
            "--webhook needs --dataset ORG/NAME, the results whose pull requests it checks"
        )
    if webhook and not _PINNED.search(options.install or ""):
        raise InputError(
            "--webhook needs --install: what its machine installs, an archive's address with its hash (https://….tar.gz"
            "#sha256=…) or a version (reelbench==…); Reelbench is on no package registry yet"
        )
    named: dict[_What, str | None] = {"results": dataset, "site": space, "webhook": webhook}
    repositories: dict[_What, Repository] = {
        what: Repository(repo, "dataset" if what == "results" else "space")
        for what, repo in named.items()
        if repo
    }
    if not repositories:
        raise InputError(
            "nothing to publish to: give --repo ORG/NAME (the site), --dataset ORG/NAME (the results)"
        )
    if hub.offline():
        raise ReelbenchError("not published, because HF_HUB_OFFLINE is set; unset it")
    board = boards.make(path)
    for key, why in board.left_out.items():
        note(f"left out: {key}: {why}")
    done: list[Published] = []
    with TemporaryDirectory(prefix="reelbench-publish-") as folder:
        uploads = [
            _Upload(
                repository,
                Path(folder) / what / "new",
                what,
                path,
                board,
                space,
                dataset,
                options,
                note,
            )
            for what, repository in repositories.items()
        ]
        looked = [
            (upload, upload.look()) for upload in uploads
        ]  # all of them, before anything is sent
        for upload, head in looked:
            try:
                done.append(upload.send(head))
                if upload.what == "webhook" and done[-1].done == "committed":
                    note(_NEXT.format(space=webhook))
            except ReelbenchError:
                for one in done:
                    note(f"{one.done}: {one.url}; the same command goes on from here")
                raise
    return done


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishOptions:
    """How to publish.

    With `create_pr` pull requests are offered; to the dataset only results that are new there, or
    newer. New repositories are made `private`; what has no licence may go there. `install` is what
    the checking Space, and the mirror's workflow, install: pinned by a hash or a version. `forget`
    are keys of results that are to vanish from the page or the table though they are in the
    dataset.
    """

    create_pr: bool = False
    dry_run: bool = False
    private: bool = False
    install: str | None = None
    forget: Collection[str] = ()


_NEXT = (
    "next: `hf spaces secrets add {space} -s HF_TOKEN -s WEBHOOK_SECRET` (from your environment), then the webhook, as "
    "its README says"
)
_BRING = (
    "get what is there with `hf download {dataset} --repo-type dataset --local-dir DIR` and "
    "`reelbench leaderboard add DIR --store STORE --as-maintainer`"
)
_PINNED = re.compile(r"#sha256=[0-9a-f]{64}$|==\d")


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
    schema = pa.schema(
        [(name, pa.string()) for name in (*names["text"], "metric", "unit")]
        + [(name, pa.int64()) for name in (*names["integer"], "n")]
        + [(name, pa.float64()) for name in (*names["number"], "value", "low", "high")]
        + [(name, pa.bool_()) for name in names["boolean"]]
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(
        pa.Table.from_pylist(list(columns.metric_records(board)), schema=schema), path
    )


# --- the repository
# --------------------------------------------------------------------------------------------------


def _withheld_files(board: Board, *, private: bool) -> Iterator[tuple[str, withheld.Withheld]]:
    """Yield name and content of the file of each benchmark that has runs whose samples may not be passed on."""
    for benchmark, groups in board.groups.items():
        tables = []
        for group in groups:
            kept, noise = board.withheld.get(group), board.noise[group]
            why = why_withheld(board.specs[benchmark], group.split, private=private) or (
                kept and kept.why
            )
            rows = [
                withheld.Row(
                    **withheld.Row.of_entry(entry),
                    result=_without_video_names(entry.stored.result),
                    check=entry.stored.check,
                    without_shortcuts=board.without_shortcuts.get(entry.key),
                    other_judges=board.other_judges.get(entry.key),
                )
                for entry in (board.rows[group] if why else ())
                if entry.stored is not None
            ]
            if why and rows:
                table = withheld.Table(
                    group=group,
                    why=why,
                    rows=rows,
                    ranges=dict(noise.ranges),
                    smallest=noise.smallest,
                    pairs=[(*keys, found) for keys, found in noise.pairs.items()],
                    videos=noise.videos,
                    shares=board.shares(group),
                    relations=board.relations(group),
                )
                tables.append(table)
        if tables:
            made = withheld.Withheld(
                benchmark=benchmark, tables=tables, bridges=board.bridge_documents(benchmark)
            )
            yield f"{withheld.FOLDER}/{benchmark}.json", made


def _without_video_names(result: Result) -> Result:
    media = result.media.model_copy(update={"videos": []})
    return store.public(result).model_copy(update={"media": media})


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

    def look(self) -> Head:
        """Write what the repository should hold -> what it is now; InputError where it can't be brought to that."""
        repository, create_pr = self.repository, self.options.create_pr
        self.folder.mkdir(parents=True)
        if self.what == "results":
            self._stage_results()
        elif self.what == "site":
            site.write(self.board, self.folder, private=self.options.private, dataset=self.dataset)
            links = f"datasets:\n- {self.dataset}\n" if self.dataset else ""
            self._write_asset(
                "README.md", "space_readme.md", ("pinned: false\n", f"pinned: false\n{links}")
            )
        else:
            self._write_asset("README.md", "webhook_readme.md")
            self._write_asset(
                "Dockerfile",
                "webhook_dockerfile.txt",
                ("REELBENCH=", f"REELBENCH={self.options.install}"),
            )
        with repository.errors_in_one_line():
            head = repository.head()
            if head.commit is None and not self.options.dry_run:
                repository.api.whoami()  # with a bad token every repository looks as if it were not there
            elif head.commit is None:
                self.note(
                    f"{repository.page}: not there yet, or private and the token may not see it"
                )
        if head.commit is None and create_pr:
            raise InputError(
                f"{repository.page}: not there, or private; a pull request needs one that is"
            )
        with repository.errors_in_one_line():
            if "README.md" in head.files:
                self._refuse_a_readme_that_breaks_it(head)
            if self.what != "webhook" and not create_pr:
                self._refuse_to_forget(head)
            if self.what == "results" and create_pr:
                self._as_submitted(head)
            if self.what == "results":
                self._leave_out_older(head)
        return head

    def send(self, head: Head) -> Published:
        """Commit what differs from what is there, or offer it."""
        repository, create_pr = self.repository, self.options.create_pr
        with repository.errors_in_one_line():
            number = (
                repository.open_request(_TITLE) if create_pr and not self.options.dry_run else None
            )
            # A second request would only stand beside the first one.
            revision = f"refs/pr/{number}" if number is not None else None
            compared = repository.head(revision) if revision else head
            there = compared.files
        paths = sorted(
            path.relative_to(self.folder).as_posix()
            for path in self.folder.rglob("*")
            if path.is_file()
        )
        changed = [path for path in paths if differs(self.folder / path, there.get(path))]
        # People may write their own card; ours is only there so that there is one.
        changed = [path for path in changed if path != "README.md" or path not in there]
        if revision:  # what others had merged since is no part of one's own request
            changed = [
                path for path in changed if differs(self.folder / path, head.files.get(path))
            ]
        ours = _OURS[repository.kind]
        gone = (
            [path for path in there if path.startswith(ours) and path not in set(paths)]
            if ours
            else []
        )
        url = f"{repository.page}/discussions/{number}" if revision else repository.page
        if not (changed or gone):
            return Published("unchanged", url)
        self.note(
            f"{repository.page}: {number_of(len(changed), 'file')} to write, {len(gone)} to delete"
        )
        for path in changed[:_SHOWN]:
            self.note(f"  {'change' if path in there else 'add'} {path}")
        if len(changed) > _SHOWN:
            self.note(f"  and {len(changed) - _SHOWN} more")
        if self.options.dry_run:
            return Published("would change", url)
        with repository.errors_in_one_line():
            count = len({key for path in changed if (key := _key_of_path(path))})
            what = number_of(count, "result") if self.what == "results" and count else "leaderboard"
            sdk = _SDK.get(self.what)
            committed = repository.commit(
                compared,
                FileChanges(self.folder, changed, gone),
                title=f"{_TITLE}{what}",
                description="Written by `reelbench leaderboard publish`.",
                create=({"space_sdk": sdk} if sdk else {})
                | ({"private": True} if self.options.private else {}),
                revision=revision,
                create_pr=create_pr and revision is None,
            )
        return Published(
            "pull request" if create_pr else "committed", url if revision else committed
        )

    def _write_asset(self, name: str, asset: str, *parts: tuple[str, str]) -> None:
        text = page_asset(asset, _ASSETS)
        for mark, part in (("ORG/RESULTS", self.dataset or "ORG/RESULTS"), *parts):
            text = text.replace(mark, part)
        write_text(self.folder / name, text)

    def _stage_results(self) -> None:
        left_out: Counter[str] = Counter()
        for entry in self.board.entries:
            if (
                entry.stored is None or entry.stored.videos is not None
            ):  # a row on some of a run's videos is no result
                continue
            spec = self.board.specs[entry.group.benchmark]
            why = (
                why_withheld(spec, entry.group.split, private=self.options.private)
                or entry.stored.withheld
            )
            if why:
                left_out[why] += 1
                continue
            for one in entry.stored.each:
                target = self.folder / _RESULTS / one.key
                target.mkdir(parents=True)
                for name in store.FILES:
                    if (one.folder / name).is_file():
                        shutil.copyfile(one.folder / name, target / name)
        for why, number in left_out.items():
            rows = "left out" if self.options.create_pr else "as rows only"
            self.note(f"{rows}: {number_of(number, 'result')} whose samples repeat the data: {why}")
        if self.options.create_pr:
            return
        for name, kept in _withheld_files(self.board, private=self.options.private):
            write_json(self.folder / _RESULTS / name, kept.model_dump(mode="json"))
        boards = sorted((self.store / community.FOLDER).glob("*.json"))
        for path in (*boards, *(self.store / name for name in withheld.OWN)):
            if path.is_file():
                write_text(self.folder / _RESULTS / path.relative_to(self.store), read_text(path))
        shown = f"\n{self._link_to_space}\n" if self.space else ""
        told = [
            f"| `{one.id}` | {one.title}{one.about and f': {one.about}'} |"
            for one in columns.COLUMNS
        ]
        parts = ("<!--SHOWN-->\n", shown), ("<!--COLUMNS-->", "\n".join(told))
        self._write_asset("README.md", "dataset_readme.md", *parts)
        self._write_asset(
            ".github/workflows/check.yaml",
            "check_submissions.yaml",
            ("INSTALL", self.options.install or ""),
        )
        write_parquet(self.board, self.folder / _PARQUET)

    @property
    def _link_to_space(self) -> str:
        return f"They are shown at [{self.space}]({hub.endpoint()}/spaces/{self.space})."

    def _as_submitted(self, head: Head) -> None:
        """Let the checks that a pull request offers say who hands in, and nothing that only the board says."""
        offered = sorted(self.folder.rglob(CHECK_FILE))
        me = self.repository.account()["name"] if offered and not self.options.dry_run else None
        for path in offered:
            place = path.parent.relative_to(self.folder).as_posix()
            rest = [
                name
                for name in store.FILES
                if name != CHECK_FILE and path.with_name(name).is_file()
            ]
            if not any(
                differs(path.with_name(name), head.files.get(f"{place}/{name}")) for name in rest
            ):
                shutil.rmtree(
                    path.parent
                )  # the board has it, whoever checked it: no part of one's own request
                continue
            said = {"taken": None, "account": me, "judged": False}
            write_text(path, read_check(path).model_copy(update=said).text)

    def _refuse_a_readme_that_breaks_it(self, head: Head) -> None:
        """A README that people wrote stays; where its front matter keeps the page from working, say which line."""
        (text, stated), ours = self._readme(head), _SDK.get(self.what)
        if ours is not None and (sdk := stated.get("sdk")) != ours:
            raise InputError(
                f"{self.repository.page}: its README.md says `sdk: {sdk}`, and this needs `sdk: {ours}`; "
                "change that line, or delete the file, which is then written"
            )
        if self.what == "results" and "configs" not in stated:
            self.note(
                f"{self.repository.page}: its README.md names no `configs`, so `load_dataset` reads other files "
                f"for the table; add `configs: [{{config_name: default, data_files: {_PARQUET}}}]` to it"
            )
        other, line = (
            (self.space, self._link_to_space)
            if self.what == "results"
            else (self.dataset, f"datasets: [{self.dataset}]")
        )
        if self.what != "webhook" and other is not None and other not in text:
            self.note(
                f"{self.repository.page}: its README.md does not name {other}; add `{line}` to it"
            )

    def _readme(self, head: Head) -> tuple[str, Mapping[str, Any]]:
        """The README that is there, and what its front matter says."""
        import yaml

        found = hub.download(
            self.repository.id, "README.md", revision=str(head.commit), kind=self.repository.kind
        )
        text = found.read_text(encoding="utf-8", errors="replace")
        parts = re.match(r"---\s*\n(.*?)\n---\s*\n", text + "\n", flags=re.DOTALL)
        try:
            stated = yaml.safe_load(parts[1]) if parts else {}
        except yaml.YAMLError as error:
            why = " ".join(str(error).split())
            raise InputError(
                f"{self.repository.page}: its README.md can't be read as YAML: {why}; mend it"
            ) from None
        return text, stated if isinstance(stated, dict) else {}

    def _refuse_to_forget(self, head: Head) -> None:
        """Where others' results were merged, a table or a page made without them would not show them."""
        datasets = {str(self.dataset): head} if self.what == "results" else {}
        if self.what == "site" and self.dataset is None and "README.md" in head.files:
            stated = self._readme(head)[1].get("datasets")
            names = (
                [name for name in stated if isinstance(name, str)]
                if isinstance(stated, list)
                else []
            )
            datasets = {name: Repository(name, "dataset").head() for name in names}
        stored = [entry.stored for entry in self.board.entries if entry.stored is not None]
        mine = {one.key for several in stored for one in several.each} | set(self.options.forget)
        mine |= {
            f"{community.FOLDER}/{path.stem}"
            for path in (self.store / community.FOLDER).glob("*.json")
        }
        boards = f"{_RESULTS}/{community.FOLDER}/"
        for name, its in datasets.items():
            there = {
                key for path in its.files if path.endswith(_RESULT) and (key := _key_of_path(path))
            }
            there |= {
                path.removeprefix(f"{_RESULTS}/")[:-5]
                for path in its.files
                if path.startswith(boards)
            }
            there |= self._dates_withheld(name, its).keys()
            lacking = sorted(there - mine)
            if kept := [key for key in lacking if key in self.board.left_out]:
                raise InputError(
                    f"{hub.page(name)} has {number_of(len(kept), 'row')} without samples, the first {kept[0]}: "
                    f"{self.board.left_out[kept[0]]}; publish from the store that has them, or take your own out with "
                    "`reelbench leaderboard remove KEY --store STORE`"
                )
            if lacking:
                raise InputError(
                    f"{hub.page(name)} has {number_of(len(lacking), 'result')} that the store lacks, the first "
                    f"{lacking[0]}; {_BRING.format(dataset=name)}, or leave it out with --forget KEY"
                )
        shown = set[str]()  # what only the page has: its dataset, or nobody, knows
        for path in head.files if self.what == "site" else ():
            if path.startswith("data/runs/") and not (self.folder / path).is_file():
                file = hub.download(
                    self.repository.id, path, revision=str(head.commit), kind="space"
                )
                shown |= set(
                    re.findall(
                        r'"key":"([^"#]+)"', file.read_text(encoding="utf-8", errors="replace")
                    )
                )
        if lacking := sorted(shown - mine):
            raise InputError(
                f"{self.repository.page} shows {number_of(len(lacking), 'result')} that the store lacks, the first "
                f"{lacking[0]}; publish from the store that has it, or leave it out with --forget KEY"
            )

    def _leave_out_older(self, head: Head) -> None:
        """Leave what is older here than there out of a pull request; InputError where it would be replaced."""
        newer = {}
        for path, file in head.files.items():
            mine, key = self.folder / path, _key_of_path(path)
            if (
                not key
                or not path.endswith(_RESULT)
                or not mine.is_file()
                or not differs(mine, file)
            ):
                continue
            there = store.made_at(
                result_files.read(self._fetch(self.repository.id, head, path).parent)
            )
            if there > store.made_at(result_files.read(mine.parent)):
                newer[key] = there
        if not self.options.create_pr:
            dates = {
                entry.key: store.made_at(entry.stored.result)
                for entry in self.board.entries
                if entry.stored
            }
            rows = self._dates_withheld(self.repository.id, head)
            newer |= {key: made for key, made in rows.items() if key in dates and made > dates[key]}
        if self.options.create_pr:
            for key in newer:
                self.note(f"left out: {key}: a newer result is there")
                shutil.rmtree(self.folder / _RESULTS / key)
        elif newer:
            key, made = next(iter(newer.items()))
            raise InputError(
                f"{self.repository.page} has a newer result than the store in {number_of(len(newer), 'place')}, the "
                f"first {key} of {made:%Y-%m-%d %H:%M}; {_BRING.format(dataset=self.repository.id)}"
            )

    def _dates_withheld(self, dataset: str, head: Head) -> dict[str, datetime]:
        """When each row that a dataset has without its samples was made."""
        dates: dict[str, datetime] = {}
        for path, file in head.files.items():
            mine = self.folder / path
            if path.startswith(f"{_RESULTS}/{withheld.FOLDER}/") and (
                not mine.is_file() or differs(mine, file)
            ):
                kept = withheld.parse(self._fetch(dataset, head, path))
                dates |= {
                    row.key: store.made_at(row.result)
                    for table in kept.tables
                    for row in table.rows
                }
        return dates

    def _fetch(self, dataset: str, head: Head, path: str) -> Path:
        return hub.download(
            dataset, path, revision=str(head.commit), folder=self.folder.parent / "there"
        )


def _key_of_path(path: str) -> str:
    """The key of the result that a file in a results dataset belongs to; "" of any other file."""
    found = re.fullmatch(rf"{_RESULTS}/((?:[^/]+/){{3}}[^/]+)/[^/]+", path)
    return found[1] if found else ""
