"""Decide whom a board believes.

That rests on its maintainers' `settings.yaml`, and on which account filed a model first.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from reelbench.base import bounds
from reelbench.base.base_record import Record, record_of
from reelbench.base.files import read_json, read_text, sha256_of
from reelbench.base.yaml_text import read_mapping
from reelbench.judges.identity import returned_ids, single_judges
from reelbench.leaderboard import aliases, checks, identity
from reelbench.leaderboard.checks import CHECK_FILE, Check
from reelbench.registry import discovery
from reelbench.registry.declaration import scoring_sha256
from reelbench.registry.records import BenchmarkRecord, JudgeRecord
from reelbench.scoring import result_files

FILE = "settings.yaml"
BY_OTHERS = "by others' judges"
DECLARED_OTHERWISE = "other declarations"


class BoardSettings(Record):
    """A store's `settings.yaml`: which tables may stand for their benchmark.

    `judges` are ids, as their servers return them, of those whose scores by our own or the owners'
    prompts may. `benchmarks` has the key of a row whose questions and rules are a benchmark's,
    where nobody declares it here: neither Reelbench, nor a package, nor a folder of
    `REELBENCH_BENCHMARKS`.
    """

    judges: tuple[str, ...] = ()
    benchmarks: dict[str, str] = Field(default_factory=dict[str, str])

    def trusted_keys(self, results: Iterable[tuple[str, BenchmarkRecord]]) -> set[str]:
        """Return the keys of results that are scored as the board knows their benchmark.

        It knows a benchmark by its registry, or by a row. None of the results states a newer
        version than is known: the newest is a benchmark's main table.
        """
        results = list(results)
        declarations: dict[str, _Declaration] = {}
        for spec in discovery.specs().values():
            scoring = None if spec.package else scoring_sha256(spec)
            declarations[spec.id] = _Declaration(spec.version, scoring)
        for key, benchmark in results:
            if self.benchmarks.get(benchmark.id) == key:
                declaration = _Declaration(benchmark.version, benchmark.scoring_sha256)
                declarations[benchmark.id] = declaration
        keys: set[str] = set()
        for key, benchmark in results:
            declaration = declarations.get(benchmark.id)
            if declaration is not None and declaration.covers(benchmark):
                keys.add(key)
        return keys

    def names(self, judge: JudgeRecord) -> bool:
        """Return True where it names a judge, or each of a panel."""
        if judge.prompt not in ("official", "reelbench"):
            return False
        trusted_judges = {name.casefold() for name in self.judges}
        judges: set[str] = set()
        for member in single_judges(judge):
            ids = returned_ids(member) or [member.requested]
            judges.update(name.casefold() for name in ids)
        return judges <= trusted_judges


class _Declaration(NamedTuple):
    """A benchmark as the board knows it; `scoring` is None of a package's."""

    version: int
    scoring: str | None

    def covers(self, benchmark: BenchmarkRecord) -> bool:
        """Return True of a result that is scored so, and of no newer version."""
        if benchmark.version > self.version:
            return False
        return self.scoring is None or self.scoring == benchmark.scoring_sha256


def read(store: Path) -> BoardSettings | None:
    """Return a store's settings by its maintainers.

    None without any: each table may then stand for its benchmark.
    """
    path = store / FILE
    if not path.is_file():
        return None
    text = read_text(path, most=bounds.SETTINGS_BYTES)
    return record_of(BoardSettings, read_mapping(text, str(path)), str(path), mark=": ")


# --- whose it is ----------------------------------------------------------------------------------


def same_account(first: str | None, second: str | None) -> bool:
    """Return True where two accounts are one; None is the board's maintainers."""
    return (first or "").casefold() == (second or "").casefold()


@dataclass(frozen=True, slots=True)
class Filing:
    """The account that files results, and the time.

    Attributes:
        account: None where they are the maintainers' own.
        as_maintainer: The maintainers say that results may be filed, whoever filed their model
            first, and that what lies beside them (their checks, rows without samples) is this
            board's own.
        judged: The maintainers say that they asked the judge of these themselves.
        at: When.
    """

    account: str | None = None
    as_maintainer: bool = False
    judged: bool = False
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def with_owner(self, folder: Path, check: Check, old_check: Check | None) -> Check:
        """Return a new check with whose it is.

        `old_check` is that of the result of that key in the store.
        """
        taken_at: datetime | None = self.at
        account = self.account
        judged = self.judged
        rejudged = check.rejudged
        own_check = self._own_check(folder)
        if own_check is not None:
            taken_at = own_check.taken or self.at
            account = own_check.account
            judged = judged or own_check.judged
            rejudged = rejudged or own_check.rejudged
        if old_check is not None:
            taken_at = old_check.taken
            if old_check.samples_sha256 == check.samples_sha256 and not self.judged:
                account = old_check.account
                judged = old_check.judged
        update = {"taken": taken_at, "account": account, "judged": judged, "rejudged": rejudged}
        return check.model_copy(update=update)

    def _own_check(self, folder: Path) -> Check | None:
        """Return the board's own check beside a result, if it is of these very files."""
        if not self.as_maintainer or not (folder / CHECK_FILE).is_file():
            return None
        check = checks.read_check(folder / CHECK_FILE)
        if sha256_of(folder / result_files.RESULT_FILE) != check.result_sha256:
            return None
        if sha256_of(folder / result_files.SAMPLES_FILE) != check.samples_sha256:
            return None
        return check


def misstatement(
    check: Check, old_check: Check | None, newest: datetime | None, account: str | None
) -> str | None:
    """Return the misstatement in a submitter's check, or None.

    It is of when and by whom the result was taken.

    Args:
        check: The check that is handed in.
        old_check: The board's own check of that key.
        newest: When the board took what it took last.
        account: Who hands it in, where that is known.
    """
    old_taken = None if old_check is None else old_check.taken
    is_known_date = check.taken is None or check.taken == old_taken
    if check.taken and newest and not is_known_date and check.taken <= newest:
        return (
            f"{CHECK_FILE}: taken is {check.taken:%Y-%m-%d %H:%M}, before what this board has; "
            "leave that out"
        )
    was_judged = old_check is not None and old_check.judged
    if check.judged and not was_judged:
        return (
            f"{CHECK_FILE}: judged is true, and only the board's maintainers ask its judges; "
            "leave that out"
        )
    if account is not None and not same_account(check.account, account):
        return (
            f"{CHECK_FILE}: account is {check.account!s:.60}, and {account} hands it in; "
            f"`add --account {account}`"
        )
    return None


def refusals(store: Path, models: Collection[str], account: str | None) -> dict[str, str]:
    """Return model -> why an account may file none of it.

    Another one filed it first, under whatever name of the model's. None is the board's maintainers.
    """
    if not store.is_dir():
        return {}
    names = aliases.read(store)
    folders: dict[str, list[Path]] = defaultdict(list)
    for folder in store.iterdir():
        folders[identity.stem(folder.name)].append(folder)
    reasons: dict[str, str] = {}
    for model in models:
        model_names = names.names_of(model)
        model_folders: set[Path] = set()
        for name in model_names:
            model_folders.update(folders[identity.stem(identity.model_folder(name))])
        first_check = _first_check(model_folders, model_names)
        if first_check is None or same_account(first_check.account, account):
            continue
        owner = first_check.account or "the maintainers of this board"
        reasons[model] = (
            f"{model} was filed first by {owner}, {first_check.taken:%Y-%m-%d}; "
            "who else files it needs their word, or --as-maintainer"
        )
    return reasons


def _first_check(folders: Iterable[Path], names: Collection[str]) -> Check | None:
    """Return the check of the model's result that was taken first."""
    first_check: Check | None = None
    for folder in folders:
        for path in folder.glob(f"*/*/*/{CHECK_FILE}"):
            check = checks.read_check(path)
            if check.taken is None:
                continue
            document = read_json(path.parent / result_files.RESULT_FILE)
            if str(document["model"]["id"]).casefold() not in names:
                continue
            if first_check is None or first_check.taken is None or check.taken < first_check.taken:
                first_check = check
    return first_check
