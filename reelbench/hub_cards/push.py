"""A card goes to the Hub: compared with what is there, shown, then committed in one step or offered as a request."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.data import hub, loading
from reelbench.data.hub_write import FileChanges, Head, Repository, differs
from reelbench.data.redistribution import why_withheld
from reelbench.hub_cards import card_material, merge
from reelbench.hub_cards.split_counts import Labels
from reelbench.registry.spec import BenchmarkSpec, LocalFile
from reelbench.registry.splits import user_data

TITLE = "Reelbench: dataset card"
_DESCRIPTION = (
    "Written by `reelbench cards push` from the benchmark's spec and data. Text outside the `reelbench` comments and "
    "metadata that was there are kept."
)
_MAIN = "main"
Listing = Mapping[str, hub.RemoteFile]
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


class PushOutcome(NamedTuple):
    """What was done, and where it can be seen."""

    done: Literal["unchanged", "shown", "committed", "pull request"]
    url: str


class _Target(NamedTuple):
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

    It is created where it is not there and the user may. `data` is the user's copy of the
    benchmark's data, `labels` are those that the rows don't hold. `show` gets the difference before
    anything is changed.

    Raises:
        InputError: The call is wrong: the data may not be passed on, no such repository, a README
            that can't be merged.
        ReelbenchError: The Hub refused or broke off; nothing was changed, or only an empty
            repository made.
    """
    if options.with_data and (why := why_withheld(spec)) is not None:
        forms = [
            split.source.form_url
            for split in spec.splits.values()
            if isinstance(split.source, LocalFile)
        ]
        how = f" Others ask for the data at {forms[0]}" if forms else ""
        raise InputError(f"{why} Push the card without --with-data.{how}")
    if hub.offline():
        raise ReelbenchError(
            f"{hub.page(repo_id)}: not pushed, because HF_HUB_OFFLINE is set; unset it"
        )
    repository = Repository(repo_id, "dataset")
    with repository.errors_in_one_line():
        target = _target(repository, options)
    rows: dict[
        str, loading.SplitData
    ] = {}  # those of the user's copy, else all, fetched where they are not here
    if options.with_data and user_data(spec, data) is not None:
        rows = card_material.locate_splits(spec, data)
    elif options.with_data:
        rows = {split: loading.locate(spec.id, split) for split in spec.splits}
    rows = {split: found for split, found in rows.items() if why_withheld(spec, split) is None}
    listing = target.head.files
    with TemporaryDirectory(prefix="reelbench-card-") as folder:
        staged = Path(folder)
        texts, existing, notes = _texts(
            spec, repo_id, options, target.head, rows=rows, data=data, labels=labels
        )
        if not options.eval_yaml:
            texts.pop(merge.EVAL, None)
        for path, text in texts.items():
            merge.write_bytes(staged / path, text.encode())
        paths = [*texts, *(merge.write_rows(rows, staged) if rows else ())]
        changed = [path for path in paths if differs(staged / path, listing.get(path))]
        for line in notes:
            note(line)
        if not changed:
            return PushOutcome("unchanged", target.url)
        show(_difference(staged, changed, existing, listing))
        if options.dry_run:
            return PushOutcome("shown", target.url)
        with repository.errors_in_one_line():
            url = repository.commit(
                target.head,  # what they were compared with
                FileChanges(staged, changed),
                title=TITLE,
                description=_DESCRIPTION,
                create={"private": options.private},
                revision=target.revision,
                create_pr=target.create_pr,
            )
    if target.create_pr:
        return PushOutcome("pull request", url)
    return PushOutcome("committed", target.url if target.revision != _MAIN else url)


def _target(repository: Repository, options: PushOptions) -> _Target:
    from huggingface_hub.errors import LocalTokenNotFoundError

    page = repository.page
    namespace = repository.id.partition("/")[0]
    me: str | None = None
    namespaces: set[str] = set()
    try:
        account = repository.account()
        me = str(account["name"])
        namespaces = {
            me,
            *(org["name"] for org in account.get("orgs", ()) if org.get("roleInOrg") != "read"),
        }
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
        return _Target(
            revision, repository.head(revision), create_pr=False, url=f"{page}/discussions/{num}"
        )
    return _Target(_MAIN, head, create_pr=create_pr, url=page)


def _texts(
    spec: BenchmarkSpec,
    repo_id: str,
    options: PushOptions,
    head: Head,
    *,
    rows: Mapping[str, loading.SplitData],
    data: Path | None,
    labels: Labels | None,
) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    """Return the card's texts, those that are there and are merged with or shown as they were, and notes.

    InputError where rows would take the place of somebody else's.
    """
    existing = {
        path: merge.decode(
            hub.download(repo_id, path, revision=str(head.commit)).read_bytes(),
            f"{repo_id}, {path}",
        )
        for path in (merge.README, merge.EVAL)
        if path in head.files
    }
    readme = existing.get(merge.README)
    config, ours = merge.own_config(readme)
    for path in map(card_material.data_path, rows):
        if not ours and path in head.files:
            raise InputError(
                f"{repo_id} has {path} already, not from Reelbench; move it or take another repository"
            )
    made = card_material.gather(
        spec,
        data,
        repo_id=repo_id,
        config=config,
        data_splits=[
            s
            for s in spec.splits
            if s in rows or (ours and card_material.data_path(s) in head.files)
        ],
        labels=labels,
        framework=options.framework,
    )
    texts, notes = merge.texts(made, readme, f"{repo_id}, {merge.README}")
    return texts, existing, notes


def _difference(
    staged: Path, changed: list[str], existing: dict[str, str], listing: Listing
) -> str:
    parts: list[str] = []
    others: list[str] = []
    for path in changed:
        if path in (merge.README, merge.EVAL):
            old = existing.get(path, "").splitlines(keepends=True)
            new = (staged / path).read_bytes().decode().splitlines(keepends=True)
            lines = difflib.unified_diff(old, new, f"a/{path}" if old else "/dev/null", f"b/{path}")
            parts.append(
                "".join(line if line.endswith("\n") else f"{line}\n" for line in lines).replace(
                    "\r\n", "\n"
                )
            )
        else:
            what = "changed" if path in listing else "new"
            others.append(f"{what} {path} ({(staged / path).stat().st_size:,} bytes)")
    return "\n".join([*(part.rstrip("\n") for part in parts), *others])
