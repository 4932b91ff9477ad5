"""`check.json`: what was verified of a stored result. It may come from a stranger: it is compared, never believed."""

import json
from pathlib import Path
from typing import Literal, TypeVar, get_args

from pydantic import AwareDatetime, ValidationError

from reelbench.base.base_record import Omittable, Name, Record
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.judges.identity import judges_under_several_ids, other_than_requested
from reelbench.leaderboard import against_data
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.rejudge import Rejudged
from reelbench.leaderboard.rereading import is_current
from reelbench.registry import discovery
from reelbench.registry.records import Result
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import answers, result_files

CHECK_FILE = "check.json"
Ids = Literal["checked", "unchecked"]
"""Whether the items were held to the benchmark's own data, or that data is not on this machine."""
Stated = Literal["references", "labels", "answers", "judge replies", "ranker replies"]
"""What a result's numbers follow from and nobody but the submitter vouches for."""

_NEARLY = 0.98
RecordT = TypeVar("RecordT", bound=Record)


class Check(Record):
    """`check.json`: what was verified of a stored result; `stated` is absent where an earlier version wrote it.

    `answers_sha256` is over the ids and right answers of its items, by which results that state the
    same questions are held to each other where nobody here has these. `taken` says when this board
    took it first (null: an earlier version did), `account` who handed it in (null: the board's
    maintainers), `judged` whether these asked its judge themselves. Only the board says so
    (`trust.Filing`).
    """

    ids: Ids
    subset: Name | None
    partial: Name | None
    stated: tuple[Stated, ...] | None = None
    rejudged: Rejudged | None = None
    result_sha256: str
    samples_sha256: str
    calibration_sha256: Omittable[str | None] = None
    answers_sha256: Omittable[str | None] = None
    taken: Omittable[AwareDatetime | None] = None
    account: Omittable[Name | None] = None
    judged: Omittable[bool] = False

    @property
    def text(self) -> str:
        """What `check.json` holds."""
        return json.dumps(self.model_dump(mode="json")) + "\n"

    @property
    def vouched(self) -> bool:
        """Whether the maintainers asked its judge: for all of its scores, or again for some, most of which agreed."""
        return self.judged or (
            self.rejudged is not None and 2 * self.rejudged.agree > self.rejudged.scores
        )


def known_spec(result: Result) -> BenchmarkSpec | None:
    """Return a result's benchmark; None where it is not known here and the result doesn't declare it."""
    try:
        return discovery.spec_of(result.benchmark)
    except InputError:
        return None


def read_own(kind: type[RecordT], path: Path, what: str, todo: str) -> RecordT:
    """Read a file that the board wrote; InputError where it is not `what`, with what to do."""
    try:
        return kind.model_validate(read_json(path))
    except ValidationError as error:
        raise InputError(
            f"{path}: is not {what} ({error.error_count()} fields are wrong); {todo}"
        ) from None


def read_check(path: Path) -> Check:
    """Read a check; InputError where it is not one."""
    return read_own(
        Check, path, "a check of a result", f"`reelbench leaderboard add {path.parent}` rewrites it"
    )


def summary(check: Check, result: Result) -> str:
    """Return in one line what a reader must know of a result that holds; empty where it is whole and recomputed."""
    parts = [f"partial, so not ranked: {check.partial}"] if check.partial else []
    if result.judge is not None:
        several = judges_under_several_ids(result.judge)
        parts += [f"not ranked: judge {judge} answered under several ids" for judge in several]
        pairs = other_than_requested(result.judge) if not several else []
        parts += [
            f"judge {requested} was asked for, {returned} answered" for requested, returned in pairs
        ]
    if not is_current(result):
        parts.append(
            f"answers of version {result.answers} of the rules are read again by version {answers.VERSION}"
        )
    if check.stated:
        parts.append(f"recomputed from stated {', '.join(check.stated)}")
    if check.rejudged is not None:
        parts.append(str(check.rejudged))
    return "; ".join(parts)


def compare(path: Path, here: Check, result: Result) -> None:
    """Refuse a check.json that says other than the check made `here`; without the data, less can be compared."""
    check = read_check(path)
    spec = discovery.spec_of(result.benchmark)
    # As today's rules word it: an earlier version called a result partial for a single unscored
    # item.
    partial = check.partial and against_data.partial(
        spec, result, result.counts.items, check.partial
    )
    names = ["partial", "result_sha256", "samples_sha256"]
    if here.ids == "checked":
        names += ["subset", *(["stated"] if check.stated is not None else [])]
    for name in names:
        stated, found = partial if name == "partial" else getattr(check, name), getattr(here, name)
        if name == "stated" and not is_current(
            result
        ):  # its own version's rules read its answers as it states them
            stated, found = (
                tuple(what for what in made.stated or () if what != "answers")
                for made in (check, here)
            )
        if stated != found and not (here.ids == "unchecked" and name == "partial" and check.subset):
            raise InputError(
                f"{path}: {name} is {stated!r}, the samples say {found!r}; `reelbench leaderboard add` rewrites it"
            )


def carry_over(old: Check, new: Check) -> Check:
    """Return a new check of the same files, with what only the old one could know."""
    if (old.result_sha256, old.samples_sha256) != (new.result_sha256, new.samples_sha256):
        return new
    both = {
        name: getattr(new, name) or getattr(old, name)
        for name in ("rejudged", "calibration_sha256", "answers_sha256")
    }
    known = old.ids == "checked" and new.ids == "unchecked" and old.stated is not None
    return (old if known else new).model_copy(update=both)


def revalidate(check: Check, result: Result, folder: Path, known: KnownRows) -> Check:
    """Return a stored check, corrected by what the result itself says: nothing is whole because a check says so."""
    spec = known_spec(result)
    if spec is None:
        return check
    rows_here, items = known.rows_of(result), result.counts.items
    subset, split = check.subset, spec.splits.get(result.benchmark.split)
    if subset is not None and rows_here is not None:
        subset = against_data.subset(spec, list(result_files.read_samples(folder)), rows_here)
    # Data can have a few questions fewer than a paper says; where it was at hand, its own number
    # was looked at.
    published = split.rows if split else None
    nearly = check.ids == "checked" and published is not None and items >= _NEARLY * published
    wanted = items if nearly else None
    if check.subset is not None:
        wanted = items
    elif rows_here is not None:
        wanted = len(rows_here)
    stated: set[Stated] = set(check.stated or ())
    if check.ids == "unchecked":
        stated.add("references")
    if result.judge is not None:
        stated.add("judge replies")
    if check.judged:
        stated.discard("judge replies")
    return check.model_copy(
        update={
            "subset": subset,
            "partial": against_data.partial(spec, result, wanted, check.partial),
            "stated": tuple(name for name in get_args(Stated) if name in stated),
        }
    )
