"""A card goes to the Hub: compared with what is there, shown, then committed in one step or offered as a request."""

import difflib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal

from reelbench.hub_cards import folder, material, merge
from reelbench.hub_cards.statistics import Labels
from reelbench.registry.data import hub, loading, sources
from reelbench.registry.data.loading import SplitData
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.spec import BenchmarkSpec, LocalFile

if TYPE_CHECKING:
    from huggingface_hub import HfApi

TITLE = "Reelbench: dataset card"
_DESCRIPTION = (
    "Written by `reelbench cards push` from the benchmark's spec and data. Text outside the `reelbench` comments and "
    "metadata that was there are kept."
)
_MAIN = "main"


@dataclass(frozen=True)
class Options:
    """How to push. `create_pr` None: a pull request unless the user owns the repository."""

    create_pr: bool | None = None
    dry_run: bool = False
    with_data: bool = False
    eval_yaml: bool = False
    private: bool = False


@dataclass(frozen=True)
class Outcome:
    """What was done, and where it can be seen."""

    done: Literal["unchanged", "shown", "committed", "pull request"]
    url: str


@dataclass(frozen=True)
class _Target:
    """What we compare with: a branch of the repository, at a commit; `commit` None where there is no repository yet."""

    revision: str
    commit: str | None
    create_pr: bool
    url: str


def push(
    spec: BenchmarkSpec,
    repo_id: str,
    options: Options,
    *,
    data: Path | None = None,
    labels: Labels | None = None,
    show: Callable[[str], None],
    note: Callable[[str], None],
) -> Outcome:
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
    if options.with_data and (why := material.why_not_redistributed(spec)) is not None:
        raise InputError(f"{why} Push the card without --with-data.{_how_to_get(spec)}")
    if hub.offline():
        raise ReelbenchError(f"{hub.page(repo_id)}: not pushed, because HF_HUB_OFFLINE is set; unset it")
    with TemporaryDirectory(prefix="reelbench-card-") as staged:
        return _Push(spec, repo_id, options, data=data, labels=labels, staged=Path(staged)).run(show, note)


# --- the repository ------------------------------------------------------------------------------------------------


def _check_id(repo_id: str) -> None:
    from huggingface_hub.utils import validate_repo_id

    validate_repo_id(repo_id)
    if "/" not in repo_id:
        raise InputError(f"--repo {repo_id}: expected ORG/NAME")


def _target(api: "HfApi", repo_id: str, options: Options) -> _Target:
    from huggingface_hub.errors import LocalTokenNotFoundError, RepositoryNotFoundError

    namespace = repo_id.partition("/")[0]
    me: str | None = None
    namespaces: set[str] = set()
    try:
        account = api.whoami()
        me = str(account["name"])
        namespaces = {me, *(org["name"] for org in account.get("orgs", ()) if org.get("roleInOrg") != "read")}
    except LocalTokenNotFoundError:
        if not options.dry_run:
            raise InputError("pushing needs a token of the Hub: set HF_TOKEN or run `hf auth login`") from None
    owned = namespace in namespaces
    create_pr = options.create_pr if options.create_pr is not None else not owned
    page = hub.page(repo_id)
    try:
        commit = api.dataset_info(repo_id).sha
    except RepositoryNotFoundError:
        if me is not None and not owned:
            raise InputError(
                f"{page}: no such dataset, or it is private; {me} can't create one there, only under "
                f"{', '.join(sorted(namespaces))}"
            ) from None
        return _Target(_MAIN, None, create_pr=False, url=page)
    if create_pr and me is not None and (num := _our_pull_request(api, repo_id, me)) is not None:
        # A second request would only stand beside the first one.
        revision = f"refs/pr/{num}"
        found = api.dataset_info(repo_id, revision=revision).sha
        return _Target(revision, found, create_pr=False, url=f"{page}/discussions/{num}")
    return _Target(_MAIN, commit, create_pr=create_pr, url=page)


def _our_pull_request(api: "HfApi", repo_id: str, me: str) -> int | None:
    found = api.get_repo_discussions(
        repo_id, repo_type="dataset", author=me, discussion_type="pull_request", discussion_status="open"
    )
    numbers = [
        one.num
        for one in found
        if one.is_pull_request and one.status == "open" and one.author == me and one.title == TITLE
    ]
    return max(numbers, default=None)


def _existing(repo_id: str, commit: str | None, listing: dict[str, hub.RemoteFile]) -> dict[str, str]:
    """Return the repository's texts that are merged with, or shown as they were."""
    if commit is None:
        return {}
    return {
        path: folder.decoded(hub.download(repo_id, path, revision=commit).read_bytes(), f"{repo_id}, {path}")
        for path in (folder.README, folder.EVAL)
        if path in listing
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


def _difference(staged: Path, changed: list[str], existing: dict[str, str], listing: dict[str, hub.RemoteFile]) -> str:
    parts: list[str] = []
    others: list[str] = []
    for path in changed:
        if path in (folder.README, folder.EVAL):
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
        options: Options,
        *,
        data: Path | None,
        labels: Labels | None,
        staged: Path,
    ) -> None:
        from huggingface_hub import HfApi

        self.api = HfApi(endpoint=hub.endpoint())
        self.spec, self.repo_id, self.options = spec, repo_id, options
        self.data, self.labels, self.staged = data, labels, staged

    def run(self, show: Callable[[str], None], note: Callable[[str], None]) -> Outcome:
        """Compare, show, commit."""
        with _told(self.repo_id):
            _check_id(self.repo_id)
            target = _target(self.api, self.repo_id, self.options)
        rows = _rows(self.spec, self.data) if self.options.with_data else {}
        listing = hub.list_files(self.repo_id, target.commit).files if target.commit else {}
        existing = _existing(self.repo_id, target.commit, listing)
        paths, notes = self.stage(existing.get(folder.README), listing, rows)
        changed = [path for path in paths if not _same(self.staged / path, listing.get(path))]
        for line in notes:
            note(line)
        if not changed:
            return Outcome("unchanged", target.url)
        show(_difference(self.staged, changed, existing, listing))
        if self.options.dry_run:
            return Outcome("shown", target.url)
        with _told(self.repo_id):
            return self.commit(target, changed)

    def stage(
        self, readme: str | None, listing: dict[str, hub.RemoteFile], rows: dict[str, SplitData]
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
        )
        texts, notes = folder.texts(made, readme, f"{self.repo_id}, {folder.README}")
        if not self.options.eval_yaml:
            del texts[folder.EVAL]
        for path, text in texts.items():
            folder.write_bytes(self.staged / path, text.encode())
        return [*texts, *(folder.write_rows(rows, self.staged) if rows else ())], notes

    def commit(self, target: _Target, changed: list[str]) -> Outcome:
        """Commit the changed files in one step, onto the commit that they were compared with."""
        from huggingface_hub import CommitOperationAdd

        parent = target.commit
        if parent is None:
            self.api.create_repo(self.repo_id, repo_type="dataset", private=self.options.private)
            parent = self.api.dataset_info(self.repo_id).sha
        info = self.api.create_commit(
            self.repo_id,
            [CommitOperationAdd(path, self.staged / path) for path in changed],
            commit_message=TITLE,
            commit_description=_DESCRIPTION,
            repo_type="dataset",
            revision=target.revision,
            create_pr=target.create_pr,
            parent_commit=parent,
        )
        if target.create_pr:
            return Outcome("pull request", info.pr_url or target.url)
        return Outcome("committed", target.url if target.revision != _MAIN else str(info.commit_url))


def _same(path: Path, there: hub.RemoteFile | None) -> bool:
    return there is not None and hub.mismatch(path, there) is None


@contextmanager
def _told(repo_id: str) -> Iterator[None]:
    """Turn the client's errors into one line each."""
    try:
        yield
    except (*hub.client_errors(), RuntimeError) as error:
        raise _explained(error, repo_id) from error


def _explained(error: Exception, repo_id: str) -> ReelbenchError:
    from huggingface_hub import errors

    page = hub.page(repo_id)
    if isinstance(error, RuntimeError) and isinstance(error.__cause__, Exception):
        told = _explained(error.__cause__, repo_id)
        return type(told)(f"{told} ({error}; nothing was committed, push again)")
    if isinstance(error, errors.HFValidationError):
        return InputError(f"--repo {repo_id}: expected ORG/NAME ({str(error).splitlines()[0]})")
    status = getattr(getattr(error, "response", None), "status_code", None)
    said = " ".join(str(getattr(error, "server_message", None) or error).split())
    texts = {
        400: f"{page}: the Hub refused the card: {said}",
        403: f"{page}: your token may not write there; push with --create-pr to offer a pull request, or use a token "
        f"with the right to write (the Hub says: {said})",
        412: f"{page}: somebody committed while this ran; nothing was pushed, push again to merge with it",
    }
    if status in texts and not isinstance(error, errors.GatedRepoError):
        return ReelbenchError(texts[status])
    if status is None and isinstance(error, ValueError):
        return ReelbenchError(f"{page}: the Hub refused the card: {' '.join(str(error).split())}")
    return hub.explain(error, repo_id)
