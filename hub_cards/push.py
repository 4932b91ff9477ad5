"""A card goes to the Hub: compared with what is there, shown, then committed in one step or offered as a request."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from reelbench.hub_cards import files, material, merge
from reelbench.hub_cards.counts import Labels
from reelbench.registry.data import hub, loading, sources
from reelbench.registry.data.hub import RemoteFile
from reelbench.registry.data.hub_write import FileChanges, Head, Repository, differs
from reelbench.registry.data.loading import SplitData
from reelbench.registry.data.passing_on import why_withheld
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.spec import BenchmarkSpec, LocalFile

TITLE = "Reelbench: dataset card"
_DESCRIPTION = (
    "Written by `reelbench cards push` from the benchmark's spec and data. Text outside the `reelbench` comments and "
    "metadata that was there are kept."
)
_MAIN = "main"
Listing = Mapping[str, RemoteFile]
"""Path in the repository -> what the Hub states of the file."""


@dataclass(frozen=True)
class PushOptions:
    """How to push. `create_pr` None: a pull request unless the user owns the repository."""

    create_pr: bool | None = None
    dry_run: bool = False
    with_data: bool = False
    eval_yaml: bool = False
    framework: str | None = None
    private: bool = False


@dataclass(frozen=True)
class PushOutcome:
    """What was done, and where it can be seen."""

    done: Literal["unchanged", "shown", "committed", "pull request"]
    url: str


@dataclass(frozen=True)
class _Target:
    """What we compare with: a branch of the repository, and where the push can be seen."""

    revision: str
    head: Head
    create_pr: bool
    url: str


def push(
    spec: BenchmarkSpec,
    repo_id: str,
    options: PushOptions,
    *,
    data: Path | None = None,
    labels: Labels | None = None,
    show: Callable[[str], None],
    note: Callable[[str], None],
) -> PushOutcome:
    """Bring a dataset repository's card, and its rows where asked, up to date.

    Args:
        spec: The benchmark.
        repo_id: Dataset repository, `ORG/NAME`; created where it is not there and the user may.
        options: How.
        data: The user's copy of the benchmark's data, for the statistics and the rows.
        labels: Labels that the rows don't hold, such as CogME's tags.
        show: Called with the difference before anything is changed.
        note: Called with what the user should know, a line at a time.

    Raises:
        InputError: The call is wrong: the data may not be passed on, no such repository, a README that can't be merged.
        ReelbenchError: The Hub refused or broke off; nothing was changed, or only an empty repository made.
    """
    if options.with_data and (why := why_withheld(spec)) is not None:
        raise InputError(f"{why} Push the card without --with-data.{_how_to_get(spec)}")
    if hub.offline():
        raise ReelbenchError(f"{hub.page(repo_id)}: not pushed, because HF_HUB_OFFLINE is set; unset it")
    with TemporaryDirectory(prefix="reelbench-card-") as staged:
        return _Push(spec, repo_id, options, data=data, labels=labels, staged=Path(staged)).run(show, note)


# --- the repository ------------------------------------------------------------------------------------------------


def _target(repository: Repository, options: PushOptions) -> _Target:
    from huggingface_hub.errors import LocalTokenNotFoundError

    api, page = repository.api, repository.page
    namespace = repository.id.partition("/")[0]
    me: str | None = None
    namespaces: set[str] = set()
    try:
        account = api.whoami()
        me = str(account["name"])
        namespaces = {me, *(org["name"] for org in account.get("orgs", ()) if org.get("roleInOrg") != "read")}
    except LocalTokenNotFoundError:
        if not options.dry_run:
            raise
    owned = namespace in namespaces
    create_pr = options.create_pr if options.create_pr is not None else not owned
    head = repository.head()
    if head.commit is None:
        if me is not None and not owned:
            raise InputError(
                f"{page}: no such dataset, or it is private; {me} can't create one there, only under "
                f"{', '.join(sorted(namespaces))}"
            )
        return _Target(_MAIN, head, create_pr=False, url=page)
    if create_pr and me is not None and (num := repository.open_request(TITLE, me)) is not None:
        # A second request would only stand beside the first one.
        revision = f"refs/pr/{num}"
        return _Target(revision, repository.head(revision), create_pr=False, url=f"{page}/discussions/{num}")
    return _Target(_MAIN, head, create_pr=create_pr, url=page)


def _existing(repo_id: str, head: Head) -> dict[str, str]:
    """Return the repository's texts that are merged with, or shown as they were."""
    if head.commit is None:
        return {}
    return {
        path: files.decoded(hub.download(repo_id, path, revision=head.commit).read_bytes(), f"{repo_id}, {path}")
        for path in (files.README, files.EVAL)
        if path in head.files
    }


# --- the files -----------------------------------------------------------------------------------------------------


def _how_to_get(spec: BenchmarkSpec) -> str:
    forms = [split.source.form_url for split in spec.splits.values() if isinstance(split.source, LocalFile)]
    return f" Others ask for the data at {forms[0]}" if forms else ""


def _rows(spec: BenchmarkSpec, data: Path | None) -> dict[str, SplitData]:
    """Find the splits to push: those of the user's copy, else all, fetched where they are not here."""
    if sources.user_data(spec, data) is not None:
        return material.located(spec, data)
    return {split: loading.locate(spec.id, split) for split in spec.splits}


def _difference(staged: Path, changed: list[str], existing: dict[str, str], listing: Listing) -> str:
    parts: list[str] = []
    others: list[str] = []
    for path in changed:
        if path in (files.README, files.EVAL):
            old = existing.get(path, "").splitlines(keepends=True)
            new = (staged / path).read_bytes().decode().splitlines(keepends=True)
            lines = difflib.unified_diff(old, new, f"a/{path}" if old else "/dev/null", f"b/{path}")
            parts.append("".join(line if line.endswith("\n") else f"{line}\n" for line in lines).replace("\r\n", "\n"))
        else:
            what = "changed" if path in listing else "new"
            others.append(f"{what} {path} ({(staged / path).stat().st_size:,} bytes)")
    return "\n".join([*(part.rstrip("\n") for part in parts), *others])


# --- the commit ----------------------------------------------------------------------------------------------------


class _Push:
    """One push: what it is of, where to, and the folder in which the files are prepared."""

    def __init__(
        self,
        spec: BenchmarkSpec,
        repo_id: str,
        options: PushOptions,
        *,
        data: Path | None,
        labels: Labels | None,
        staged: Path,
    ) -> None:
        self.repository = Repository(repo_id, "dataset")
        self.spec, self.repo_id, self.options = spec, repo_id, options
        self.data, self.labels, self.staged = data, labels, staged

    def run(self, show: Callable[[str], None], note: Callable[[str], None]) -> PushOutcome:
        """Compare, show, commit."""
        with self.repository.errors_in_one_line():
            target = _target(self.repository, self.options)
        rows = _rows(self.spec, self.data) if self.options.with_data else {}
        listing = target.head.files
        existing = _existing(self.repo_id, target.head)
        paths, notes = self.stage(existing.get(files.README), listing, rows)
        changed = [path for path in paths if differs(self.staged / path, listing.get(path))]
        for line in notes:
            note(line)
        if not changed:
            return PushOutcome("unchanged", target.url)
        show(_difference(self.staged, changed, existing, listing))
        if self.options.dry_run:
            return PushOutcome("shown", target.url)
        with self.repository.errors_in_one_line():
            return self.commit(target, changed)

    def stage(
        self, readme: str | None, listing: Listing, rows: dict[str, SplitData]
    ) -> tuple[list[str], tuple[str, ...]]:
        """Write what the repository should hold to the folder; return the paths, and notes."""
        ours = merge.has_our_rows(readme)
        for path in map(material.data_path, rows):
            if not ours and path in listing:
                raise InputError(
                    f"{self.repo_id} has {path} already, not from Reelbench; move it or take another repository"
                )
        here = [split for split in self.spec.splits if split in rows or (ours and material.data_path(split) in listing)]
        made = material.gather(
            self.spec,
            self.data,
            repo_id=self.repo_id,
            config=merge.config_name(readme),
            data_splits=here,
            labels=self.labels,
            framework=self.options.framework,
        )
        texts, notes = files.texts(made, readme, f"{self.repo_id}, {files.README}")
        if not self.options.eval_yaml:
            texts.pop(files.EVAL, None)
        for path, text in texts.items():
            files.write_bytes(self.staged / path, text.encode())
        return [*texts, *(files.write_rows(rows, self.staged) if rows else ())], notes

    def commit(self, target: _Target, changed: list[str]) -> PushOutcome:
        """Commit the changed files in one step, onto the commit that they were compared with."""
        url = self.repository.commit(
            target.head,
            FileChanges(self.staged, changed),
            title=TITLE,
            description=_DESCRIPTION,
            create={"private": self.options.private},
            revision=target.revision,
            create_pr=target.create_pr,
        )
        if target.create_pr:
            return PushOutcome("pull request", url)
        return PushOutcome("committed", target.url if target.revision != _MAIN else url)
