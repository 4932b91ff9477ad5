"""Whom a board believes: what its maintainers say in `settings.yaml`, and which account filed a model first."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field

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
BY_OTHERS, DECLARED_OTHERWISE = "by others' judges", "other declarations"


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
        """Return the keys of results that are scored as the board knows their benchmark: by its registry, or a row.

        None of them states a newer version than is known: the newest is a benchmark's main table.
        """
        of = list(results)
        specs = {spec.id: spec for spec in discovery.specs().values()}
        known = {
            name: (None if spec.package else scoring_sha256(spec), spec.version)
            for name, spec in specs.items()
        }
        known |= {
            one.id: (one.scoring_sha256, one.version)
            for key, one in of
            if self.benchmarks.get(one.id) == key
        }
        return {
            key
            for key, one in of
            for scoring, version in [known.get(one.id, ("", 0))]
            if one.version <= version and scoring in (None, one.scoring_sha256)
        }

    def names(self, judge: JudgeRecord) -> bool:
        """Whether it names a judge, or each of a panel."""
        named = {name.casefold() for name in self.judges}
        ids = [
            name for one in single_judges(judge) for name in returned_ids(one) or [one.requested]
        ]
        return (
            judge.prompt in ("official", "reelbench") and {name.casefold() for name in ids} <= named
        )


def read(store: Path) -> BoardSettings | None:
    """Return a store's settings by its maintainers; None without any: each table may stand for its benchmark."""
    path = store / FILE
    if not path.is_file():
        return None
    return record_of(BoardSettings, read_mapping(read_text(path), str(path)), str(path), mark=": ")


# --- whose it is
# -----------------------------------------------------------------------------------------------------


def same_account(one: str | None, other: str | None) -> bool:
    """Whether two accounts are one; None is the board's maintainers."""
    return (one or "").casefold() == (other or "").casefold()


@dataclass(frozen=True, slots=True)
class Filing:
    """Who files results, and when; `account` is None where they are the maintainers' own.

    These say `as_maintainer` that results may be filed, whoever filed their model first, and that
    what lies beside them (their checks, rows without samples) is this board's own; `judged` that
    they asked the judge of these themselves.
    """

    account: str | None = None
    as_maintainer: bool = False
    judged: bool = False
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def with_owner(self, folder: Path, check: Check, there: Check | None) -> Check:
        """Return a new check with whose it is; `there` is the check of the result of that key in the store."""
        said = None  # the check beside the result, where it is one of these very files
        if self.as_maintainer and (folder / CHECK_FILE).is_file():
            said = checks.read_check(folder / CHECK_FILE)
            here = tuple(
                sha256_of(folder / name)
                for name in (result_files.RESULT_FILE, result_files.SAMPLES_FILE)
            )
            said = said if here == (said.result_sha256, said.samples_sha256) else None
        account = said.account if said is not None else self.account
        judged = self.judged or (said is not None and said.judged)
        taken, rejudged = (
            (said and said.taken) or self.at,
            check.rejudged or (said and said.rejudged),
        )
        if there is not None:
            taken = there.taken
            if there.samples_sha256 == check.samples_sha256 and not self.judged:
                account, judged = there.account, there.judged
        update = {"taken": taken, "account": account, "judged": judged, "rejudged": rejudged}
        return check.model_copy(update=update)


def misstatement(
    said: Check, there: Check | None, newest: datetime | None, account: str | None
) -> str | None:
    """Return the misstatement, of when and by whom it was taken, in a check that a submitter hands in, or None.

    `there` is the board's own check of that key, `newest` when the board took what it took last,
    `account` who hands it in, where that is known.
    """
    if (
        said.taken not in (None, there and there.taken)
        and newest is not None
        and said.taken <= newest
    ):
        return f"{CHECK_FILE}: taken is {said.taken:%Y-%m-%d %H:%M}, before what this board has; leave that out"
    if said.judged and not (there and there.judged):
        return f"{CHECK_FILE}: judged is true, and only the board's maintainers ask its judges; leave that out"
    if account is not None and not same_account(said.account, account):
        return f"{CHECK_FILE}: account is {said.account!s:.60}, and {account} hands it in; `add --account {account}`"
    return None


def refusals(store: Path, models: Collection[str], account: str | None) -> dict[str, str]:
    """Return model -> why an account may file none of it: another one filed it first, under whatever name of its.

    What an earlier version filed is nobody's; None is the board's maintainers.
    """
    if not store.is_dir():
        return {}
    known, folders = aliases.read(store), defaultdict[str, list[Path]](list)
    for folder in store.iterdir():
        folders[identity.stem(folder.name)].append(folder)
    refused: dict[str, str] = {}
    for model in models:
        names = known.names_of(model)
        filed = [
            (check.taken, check.account)
            for folder in {
                folder
                for name in names
                for folder in folders[identity.stem(identity.model_folder(name))]
            }
            for path in folder.glob(f"*/*/*/{CHECK_FILE}")
            if (check := checks.read_check(path)).taken is not None
            and str(read_json(path.parent / result_files.RESULT_FILE)["model"]["id"]).casefold()
            in names
        ]
        taken, owner = min(filed, key=lambda one: one[0], default=(None, account))
        if not same_account(owner, account):
            first = f"{owner or 'the maintainers of this board'}, {taken:%Y-%m-%d}"
            refused[model] = (
                f"{model} was filed first by {first}; who else files it needs their word, or --as-maintainer"
            )
    return refused
