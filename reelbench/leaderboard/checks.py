"""`check.json`: what was verified of a stored result.

It may come from a stranger: it is compared, never believed.
"""

import json
from pathlib import Path
from typing import Literal, TypeVar, get_args

from pydantic import AwareDatetime, ValidationError

from reelbench.base import bounds
from reelbench.base.base_record import Name, Omittable, Record
from reelbench.base.errors import InputError
from reelbench.base.files import read_json
from reelbench.judges.identity import judges_under_several_ids, other_than_requested
from reelbench.leaderboard import against_data
from reelbench.leaderboard.against_data import KnownRows
from reelbench.leaderboard.rejudge import Rejudged
from reelbench.leaderboard.rereading import is_current
from reelbench.registry import discovery
from reelbench.registry.records import JudgeRecord, Result
from reelbench.registry.spec import BenchmarkSpec
from reelbench.scoring import answers, result_files

CHECK_FILE = "check.json"
Ids = Literal["checked", "unchecked"]
"""`checked` where the items were compared with the benchmark's own data; else it isn't here."""
Stated = Literal["references", "labels", "answers", "judge replies", "ranker replies"]
"""Parts that a result's numbers follow from, for which nobody but the submitter vouches."""

_NEARLY = 0.98
RecordT = TypeVar("RecordT", bound=Record)


class Check(Record):
    """`check.json`: what was verified of a stored result.

    `answers_sha256` is over the ids and right answers of its items, by which results that state the
    same questions are compared with each other where nobody here has these. `taken` says when this
    board took it first, `account` who handed it in (null: the board's maintainers), `judged`
    whether these asked its judge themselves. Only the board says so (`trust.Filing`).
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
        """The content of `check.json`."""
        return json.dumps(self.model_dump(mode="json")) + "\n"

    @property
    def vouched(self) -> bool:
        """True where the maintainers vouch for its judge's scores.

        They asked the judge for all of these, or again for some, most of which agreed.
        """
        if self.judged:
            return True
        return self.rejudged is not None and 2 * self.rejudged.agree > self.rejudged.scores


def known_spec(result: Result) -> BenchmarkSpec | None:
    """Return a result's benchmark; None where nobody declares it."""
    try:
        return discovery.spec_of(result.benchmark)
    except InputError:
        return None


def read_own(
    kind: type[RecordT], path: Path, what: str, todo: str, *, most: int = bounds.FILE_BYTES
) -> RecordT:
    """Read a file that the board wrote, of at most so many bytes.

    Raises:
        InputError: If it is not `what`, with what to do, or too large.
    """
    try:
        return kind.model_validate(read_json(path, most=most))
    except ValidationError as error:
        number = error.error_count()
        raise InputError(f"{path}: is not {what} ({number} fields are wrong); {todo}") from None


def read_check(path: Path) -> Check:
    """Read a check; InputError where it is not one."""
    todo = f"`reelbench leaderboard add {path.parent}` rewrites it"
    return read_own(Check, path, "a check of a result", todo, most=bounds.SETTINGS_BYTES)


def summary(check: Check, result: Result) -> str:
    """Return in one line what a reader must know of a result that holds.

    It is empty where the result is whole and all was computed again.
    """
    parts: list[str] = []
    if check.partial:
        parts.append(f"partial, so not ranked: {check.partial}")
    if result.judge is not None:
        parts += _judge_lines(result.judge)
    if not is_current(result):
        parts.append(
            f"answers of version {result.answers} of the rules are read again by version "
            f"{answers.VERSION}"
        )
    if check.stated:
        parts.append(f"recomputed from stated {', '.join(check.stated)}")
    if check.rejudged is not None:
        parts.append(str(check.rejudged))
    return "; ".join(parts)


def _judge_lines(judge: JudgeRecord) -> list[str]:
    ambiguous = judges_under_several_ids(judge)
    if ambiguous:
        return [f"not ranked: judge {name} answered under several ids" for name in ambiguous]
    pairs = other_than_requested(judge)
    return [
        f"judge {requested} was asked for, {returned} answered" for requested, returned in pairs
    ]


def compare(path: Path, own_check: Check, result: Result) -> None:
    """Refuse a check.json that says other than the check made here.

    Without the benchmark's data less can be compared.
    """
    check = read_check(path)
    spec = discovery.spec_of(result.benchmark)
    # As today's rules word it.
    partial = check.partial
    if partial:
        partial = against_data.partial(spec, result, result.counts.items, partial)
    # Without the data a part isn't known to be one.
    is_unknown_part = own_check.ids == "unchecked" and check.subset
    if not is_unknown_part:
        _refuse_difference(path, "partial", partial, own_check.partial)
    _refuse_difference(path, "result_sha256", check.result_sha256, own_check.result_sha256)
    _refuse_difference(path, "samples_sha256", check.samples_sha256, own_check.samples_sha256)
    if own_check.ids != "checked":
        return
    _refuse_difference(path, "subset", check.subset, own_check.subset)
    if check.stated is not None:
        stated_parts = check.stated
        own_parts = own_check.stated or ()
        if not is_current(result):
            # Its own version's rules read its answers as it states them.
            stated_parts = _without_answers(stated_parts)
            own_parts = _without_answers(own_parts)
        _refuse_difference(path, "stated", stated_parts, own_parts)


def _without_answers(parts: tuple[Stated, ...]) -> tuple[Stated, ...]:
    return tuple(part for part in parts if part != "answers")


def _refuse_difference(path: Path, name: str, value: object, own_value: object) -> None:
    if value != own_value:
        raise InputError(
            f"{path}: {name} is {value!r}, the samples say {own_value!r}; "
            "`reelbench leaderboard add` rewrites it"
        )


def carry_over(old: Check, new: Check) -> Check:
    """Return a new check with what only the old one of these files could know."""
    if old.result_sha256 != new.result_sha256 or old.samples_sha256 != new.samples_sha256:
        return new
    check = new
    if old.ids == "checked" and new.ids == "unchecked" and old.stated is not None:
        check = old
    update = {
        "rejudged": new.rejudged or old.rejudged,
        "calibration_sha256": new.calibration_sha256 or old.calibration_sha256,
        "answers_sha256": new.answers_sha256 or old.answers_sha256,
    }
    return check.model_copy(update=update)


def revalidate(check: Check, result: Result, folder: Path, known_rows: KnownRows) -> Check:
    """Return a stored check, corrected by what the result itself says.

    Nothing is whole because a check says so.
    """
    spec = known_spec(result)
    if spec is None:
        return check
    local_rows = known_rows.rows_of(result)
    subset = check.subset
    if subset is not None and local_rows is not None:
        samples = list(result_files.read_samples(folder))
        subset = against_data.subset(spec, samples, local_rows)
    local_items = None if local_rows is None else len(local_rows)
    task_items = _task_items(spec, check, result, local_items)
    stated_parts = set(check.stated or ())
    if check.ids == "unchecked":
        stated_parts.add("references")
    if result.judge is not None:
        stated_parts.add("judge replies")
    if check.judged:
        stated_parts.discard("judge replies")
    update = {
        "subset": subset,
        "partial": against_data.partial(spec, result, task_items, check.partial),
        "stated": tuple(name for name in get_args(Stated) if name in stated_parts),
    }
    return check.model_copy(update=update)


def _task_items(
    spec: BenchmarkSpec, check: Check, result: Result, local_items: int | None
) -> int | None:
    """Return the number of items of a result's task; None where it isn't known."""
    items = result.counts.items
    if check.subset is not None:
        return items
    if local_items is not None:
        return local_items
    # Data can have a few questions fewer than a paper says; where it was at hand, its own number
    # was looked at.
    split = spec.splits.get(result.benchmark.split)
    published = split.rows if split else None
    if check.ids == "checked" and published is not None and items >= _NEARLY * published:
        return items
    return None
