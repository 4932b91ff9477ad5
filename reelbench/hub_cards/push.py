"""A card goes to the Hub, in one commit or as a pull request.

It is compared with what is there, and the difference is shown, before anything is changed.
"""

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.base.progress import Bar, no_bar
from reelbench.data import hub, loading
from reelbench.data.hub_write import FileChanges, Head, Repository, differs
from reelbench.data.redistribution import why_withheld
from reelbench.hub_cards import card_material, merge
from reelbench.hub_cards.split_counts import Labels
from reelbench.registry.spec import BenchmarkSpec, LocalFile
from reelbench.registry.splits import user_data

TITLE = "Reelbench: dataset card"
_DESCRIPTION = (
    "Written by `reelbench cards push` from the benchmark's spec and data. Text outside the "
    "`reelbench` comments and existing metadata are kept."
)
_MAIN = "main"


@dataclass(frozen=True)
class PushOptions:
    """The user's options of a push."""

    create_pr: bool | None = None
    """None: a pull request unless the user owns the repository."""

    dry_run: bool = False
    with_data: bool = False
    eval_yaml: bool = False
    framework: str | None = None
    private: bool = False
    bar: Bar = no_bar
    """Shows how many splits are counted."""


class PushOutcome(NamedTuple):
    """The outcome of a push, and its address."""

    done: Literal["unchanged", "shown", "committed", "pull request"]
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

    The repository is created where it is not there and the user may.

    Args:
        spec: The benchmark.
        repo_id: The repository, ORG/NAME.
        options: The user's options.
        data: The user's copy of the benchmark's data.
        labels: Labels that the rows don't hold.
        show: Gets the difference before anything is changed.
        note: Gets the notes for the user, a line each.

    Raises:
        InputError: The call is wrong: the data may not be passed on, no such repository, a README
            that can't be merged.
        ReelbenchError: The Hub refused or broke off. Nothing was changed, or only an empty
            repository made.
    """
    if options.with_data:
        _refuse_withheld(spec)
    if hub.offline():
        raise ReelbenchError(
            f"{hub.page(repo_id)}: not pushed, because HF_HUB_OFFLINE is set; unset it"
        )
    repository = Repository(repo_id, "dataset")
    with repository.errors_in_one_line():
        target = _target_branch(repository, options)
    rows: dict[str, loading.SplitData] = {}
    if options.with_data:
        rows = _publishable_splits(spec, data)
    existing = _existing_texts(repo_id, target.head)
    card = _card_texts(
        spec, repo_id, options, target.head, existing=existing, rows=rows, data=data, labels=labels
    )
    with TemporaryDirectory(prefix="reelbench-card-") as folder:
        staged = Path(folder)
        paths = list(card.files)
        for path, text in card.files.items():
            merge.write_bytes(staged / path, text.encode())
        if rows:
            paths += merge.write_rows(rows, staged)
        for line in card.notes:
            note(line)
        files = target.head.files
        changed = [path for path in paths if differs(staged / path, files.get(path))]
        if not changed:
            return PushOutcome("unchanged", target.url)
        show(_difference_text(staged, changed, existing, target.head))
        if options.dry_run:
            return PushOutcome("shown", target.url)
        with repository.errors_in_one_line():
            url = repository.commit(
                target.head,  # with which they were compared
                FileChanges(staged, changed),
                title=TITLE,
                description=_DESCRIPTION,
                create={"private": options.private},
                revision=target.revision,
                create_pr=target.create_pr,
            )
    if target.create_pr:
        return PushOutcome("pull request", url)
    if target.revision != _MAIN:
        url = target.url
    return PushOutcome("committed", url)


# --- the repository
# ----------------------------------------------------------------------------------------------


class _Target(NamedTuple):
    """The branch that is compared with, and where the push can be seen."""

    revision: str
    head: Head
    create_pr: bool
    url: str


class _Account(NamedTuple):
    """The user's name on the Hub, and the owners in whose names he may write."""

    name: str
    namespaces: set[str]


def _target_branch(repository: Repository, options: PushOptions) -> _Target:
    """Find the branch to compare with: `main`, or our open pull request."""
    page = repository.page
    owner = repository.id.partition("/")[0]
    account = _token_account(repository, options)
    is_owner = account is not None and owner in account.namespaces
    create_pr = not is_owner if options.create_pr is None else options.create_pr
    head = repository.head()
    if head.commit is None:
        if account is not None and not is_owner:
            raise InputError(
                f"{page}: no such dataset, or it is private; {account.name} can't create one "
                f"there, only under {', '.join(sorted(account.namespaces))}"
            )
        return _Target(_MAIN, head, create_pr=False, url=page)
    if create_pr and account is not None:
        # A second request would only stand beside the first one.
        number = repository.open_request(TITLE, account.name)
        if number is not None:
            revision = f"refs/pr/{number}"
            url = f"{page}/discussions/{number}"
            return _Target(revision, repository.head(revision), create_pr=False, url=url)
    return _Target(_MAIN, head, create_pr=create_pr, url=page)


def _token_account(repository: Repository, options: PushOptions) -> _Account | None:
    """Return the token's account. None without a token, which a dry run doesn't need."""
    from huggingface_hub.errors import LocalTokenNotFoundError

    try:
        record = repository.account()
    except LocalTokenNotFoundError:
        if options.dry_run:
            return None
        raise
    name = str(record["name"])
    namespaces = {org["name"] for org in record.get("orgs", ()) if org.get("roleInOrg") != "read"}
    namespaces.add(name)
    return _Account(name, namespaces)


# --- the rows
# ----------------------------------------------------------------------------------------------


def _refuse_withheld(spec: BenchmarkSpec) -> None:
    """Raise InputError where the rows may not be passed on."""
    reason = why_withheld(spec)
    if reason is None:
        return
    way = ""
    for split in reversed(spec.splits.values()):
        if isinstance(split.source, LocalFile):
            way = f" Others ask for the data at {split.source.form_url}"
    raise InputError(f"{reason} Push the card without --with-data.{way}")


def _publishable_splits(spec: BenchmarkSpec, data: Path | None) -> dict[str, loading.SplitData]:
    """Return the splits that may be passed on.

    They are those of the user's copy, else all, fetched where they are not here.
    """
    located: dict[str, loading.SplitData] = {}
    if user_data(spec, data) is not None:
        located |= card_material.locate_splits(spec, data)
    else:
        for name in spec.splits:
            located[name] = loading.locate(spec.id, name)
    publishable: dict[str, loading.SplitData] = {}
    for name, split in located.items():
        if why_withheld(spec, name) is None:
            publishable[name] = split
    return publishable


# --- the texts
# ----------------------------------------------------------------------------------------------


def _existing_texts(repo_id: str, head: Head) -> dict[str, str]:
    """Return the card's texts that are in the repository, by path."""
    texts: dict[str, str] = {}
    for path in (merge.README, merge.EVAL):
        if path not in head.files:
            continue
        file = hub.download(repo_id, path, revision=str(head.commit))
        content = file.read_bytes()
        texts[path] = merge.decode(content, f"{repo_id}, {path}")
    return texts


def _card_texts(
    spec: BenchmarkSpec,
    repo_id: str,
    options: PushOptions,
    head: Head,
    *,
    existing: Mapping[str, str],
    rows: Mapping[str, loading.SplitData],
    data: Path | None,
    labels: Labels | None,
) -> merge.CardTexts:
    """Return the card's texts, merged with those that are in the repository.

    Raises:
        InputError: Rows would take the place of somebody else's.
    """
    readme = existing.get(merge.README)
    config = merge.own_config(readme)
    data_splits: list[str] = []
    for split in spec.splits:
        path = card_material.data_path(split)
        is_there = path in head.files
        if split in rows and is_there and not config.declared:
            raise InputError(
                f"{repo_id} already has {path}, which is not from Reelbench; move it or choose "
                "another repository"
            )
        if split in rows or (is_there and config.declared):
            data_splits.append(split)
    material = card_material.gather(
        spec,
        data,
        repo_id=repo_id,
        config=config.name,
        data_splits=data_splits,
        labels=labels,
        framework=options.framework,
        bar=options.bar,
    )
    card = merge.texts(material, readme, f"{repo_id}, {merge.README}")
    if not options.eval_yaml:
        card.files.pop(merge.EVAL, None)
    return card


def _difference_text(
    staged: Path, changed: Sequence[str], existing: Mapping[str, str], head: Head
) -> str:
    """Return the difference of the texts, then a line for each other file."""
    texts: list[str] = []
    files: list[str] = []
    for path in changed:
        if path in (merge.README, merge.EVAL):
            new = (staged / path).read_bytes().decode()
            texts.append(_text_difference(path, existing.get(path, ""), new))
        else:
            state = "changed" if path in head.files else "new"
            size = (staged / path).stat().st_size
            files.append(f"{state} {path} ({size:,} bytes)")
    return "\n".join([*texts, *files])


def _text_difference(path: str, old: str, new: str) -> str:
    old_name = f"a/{path}" if old else "/dev/null"
    old_lines = old.splitlines(keepends=True)
    new_lines = new.splitlines(keepends=True)
    lines: list[str] = []
    for line in difflib.unified_diff(old_lines, new_lines, old_name, f"b/{path}"):
        if not line.endswith("\n"):
            line += "\n"  # noqa: PLW2901
        lines.append(line)
    return "".join(lines).replace("\r\n", "\n").rstrip("\n")
