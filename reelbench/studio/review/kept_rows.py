"""The rows of a data set after people's verification: kept, edited or dropped, and the funnel.

MovieCORE had people rate a part of its questions, and a meta-reviewer keep or drop the low-rated
ones (appendix II.3, Figure S3).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_json, read_json_or_jsonl, write_json
from reelbench.base.values import is_object
from reelbench.data import loading
from reelbench.studio.funnel import FunnelRecord
from reelbench.studio.moment_pairs import across_time, cost_per_1000
from reelbench.studio.review.review_kind import Reviews

Cost = Mapping[str, float]
"""Dollars of models, hours of people, and both in dollars, as of `cost_per_1000`."""
STAGE = "people"
FUNNEL = "funnel.json"


@dataclass(frozen=True, slots=True)
class Verification:
    """The outcome of people's work on rows.

    Attributes:
        verified: Ids of rows that people looked at and let stand.
        dropped: Id -> reason of rows that are left out.
        changes: Id -> fields that get other values.
        back: Id -> words on a dropped row to its writer, under `audit` in a file of such rows.
        only_with: Field that an entry must have. Where it is named, rows that nobody looked at are
            left out too.
    """

    verified: set[str]
    dropped: dict[str, str]
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    back: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only_with: str = ""


class _Entry(NamedTuple):
    """A question of the owners' file, under its id."""

    name: str
    fields: dict[str, Any]


class _Entries(NamedTuple):
    """The questions of a file.

    `keyed` where they are an object's, by their ids.
    """

    keyed: bool
    entries: list[_Entry]


class Decision(NamedTuple):
    """A decision (`keep`, `drop`, `edit` or None), and the edited texts."""

    kind: str | None
    edits: dict[str, str]


def write_rows(path: Path, reviews: Reviews, outcome: Verification) -> str:
    """Write the owners' or the chain's entries that stay.

    Return what was written. They have the shape of their file. Where the data lies beside a chain's
    `funnel.json`, that gets a last stage, `people`, and is written beside `path`.
    """
    if not reviews.benchmark:
        raise InputError(
            "--write: these files don't name their benchmark; export tasks that Reelbench wrote"
        )
    sources = loading.locate(reviews.benchmark, reviews.split, reviews.data).paths
    kept_entries: list[_Entry] = []
    back_entries: list[_Entry] = []
    seen: set[str] = set()
    keyed = False
    for source in sources:
        keyed, entries = _question_entries(read_json_or_jsonl(source))
        for name, fields in entries:
            is_of_another_kind = bool(outcome.only_with) and outcome.only_with not in fields
            if name in seen or is_of_another_kind:
                continue
            seen.add(name)
            if name in outcome.back:
                audit = dict(outcome.back[name])
                back_entries.append(_Entry(name, {**fields, "audit": audit}))
            if _is_kept(name, outcome):
                changes = outcome.changes.get(name, {})
                verified = name in outcome.verified
                kept_entries.append(_Entry(name, {**fields, **changes, "verified": verified}))
    _check_known(outcome, seen)
    _write_entries(path, kept_entries, keyed=keyed)
    back_path = path.with_name(f"{path.stem}.back.json")
    if back_entries:
        _write_entries(back_path, back_entries, keyed=keyed)
    else:
        back_path.unlink(missing_ok=True)
    words = (
        f"{number_of(len(kept_entries), 'question')} written to {path}, "
        f"{len(outcome.dropped)} left out, {len(outcome.verified)} verified"
    )
    if back_entries:
        words += _words_on_back(len(back_entries), back_path, reviews.benchmark)
    funnel = sources[0].with_name(FUNNEL)
    cost = _count_people(path, funnel, reviews, outcome, kept_entries)
    return words + _cost_in_words(cost, reviews.wage)


def _words_on_back(number: int, back_path: Path, benchmark: str) -> str:
    """Return the note on questions that go back to who wrote them."""
    command = f"reelbench review page {benchmark} --ask audit --data {back_path}"
    return f"; {number} go back to their writer: correct them in {back_path}, then {command}"


def _is_kept(name: str, outcome: Verification) -> bool:
    if outcome.only_with and name not in outcome.verified:
        return False
    return name not in outcome.dropped


def _check_known(outcome: Verification, seen: set[str]) -> None:
    names = outcome.verified | outcome.dropped.keys() | outcome.changes.keys()
    unknown = sorted(names - seen)
    if unknown:
        strangers = number_of(len(unknown), "question is", "questions are")
        raise InputError(
            f"--write: {strangers} not in the benchmark's data ({unknown[0]}); is it this one?"
        )


def _write_entries(path: Path, entries: Sequence[_Entry], *, keyed: bool) -> None:
    if keyed:
        write_json(path, dict(entries))
    else:
        write_json(path, [entry.fields for entry in entries])


def _question_entries(document: Any) -> _Entries:  # noqa: ANN401 - any JSON value
    """Return the questions of a data file.

    Raises:
        InputError: It is keyed by something else.
    """
    keyed = is_object(document) and "qid" not in document
    if keyed:
        keys = list(document.keys())
        values = list(document.values())
    else:
        values = document if isinstance(document, list) else [document]
        keys = [""] * len(values)
    entries: list[_Entry] = []
    for key, fields in zip(keys, values, strict=True):
        if not is_object(fields):
            raise InputError(
                "--write: the data is keyed by video; "
                "only questions by their id, or a list of them, can be kept"
            )
        entries.append(_Entry(_id_of(fields) or str(key), fields))
    return _Entries(keyed, entries)


def _id_of(fields: Mapping[str, Any]) -> str | None:
    for name in ("question_id", "qid", "id", "key"):
        if fields.get(name):
            return str(fields[name])
    return None


def _count_people(
    path: Path, funnel: Path, reviews: Reviews, outcome: Verification, entries: Sequence[_Entry]
) -> Cost | None:
    """Add people's stage to a chain's funnel.

    Return the cost of 1,000 kept questions.
    """
    number_kept = len(entries)
    if not funnel.is_file():
        return cost_per_1000(None, reviews.seconds, number_kept, reviews.wage)
    record = FunnelRecord.model_validate(read_json(funnel))
    document = record.model_dump(mode="json", by_alias=True)
    stages = [stage for stage in document["stages"] if stage["name"] != STAGE]
    stages.append(_people_stage(outcome, number_kept))
    document["stages"] = stages
    cost = cost_per_1000(document["cost_usd"], reviews.seconds, number_kept, reviews.wage)
    document["per_1000_kept"] = cost
    if document.get("across_time") is not None:
        unmarked = set(document.get("unmarked") or ())
        for name, fields in outcome.changes.items():
            if "span" in fields:
                unmarked.discard(name)
        document["unmarked"] = [name for name, _ in entries if name in unmarked]
        document["across_time"] = _across_time(entries, unmarked)
    write_json(path.with_name(FUNNEL), document)
    return cost


def _people_stage(outcome: Verification, number_kept: int) -> dict[str, Any]:
    reasons = Counter(outcome.dropped.values())
    return {
        "name": STAGE,
        "in": number_kept + reasons.total(),
        "out": number_kept,
        "dropped": dict(sorted(reasons.items())),
    }


def _across_time(entries: Iterable[_Entry], unmarked: Collection[str]) -> Any:  # noqa: ANN401 - as measured
    triples: list[tuple[Any, Any, Any]] = []
    for name, fields in entries:
        question_span = fields.get("question_span")
        answer_span = fields["span"]
        if name in unmarked:
            answer_span = None
        triples.append((question_span, answer_span, fields["vid"]))
    return across_time(triples)


def _cost_in_words(cost: Cost | None, wage: float) -> str:
    """Return the cost of 1,000 kept questions in words, "" where nobody knows."""
    if cost is None:
        return ""
    return (
        f"; 1,000 kept cost ${cost['models_usd']:.2f} for models and "
        f"{cost['people_hours']:.1f} h of people's time, ${cost['usd']:.2f} at ${wage:g} an hour"
    )


def parse_decision(marks: Mapping[str, Any], where: str) -> Decision:
    """Return an item's decision.

    Raises:
        InputError: It is `edit` and no text is edited.
    """
    decision = marks.get("decision")
    if decision != "edit":
        return Decision(decision, {})
    edits: dict[str, str] = {}
    for name in ("question", "answer", "caption"):
        text = (marks.get(name) or "").strip()
        if text:
            edits[name] = text
    if not edits:
        raise InputError(
            f"{where}: is marked to be edited, but no text was changed; edit it, or keep or drop it"
        )
    return Decision(decision, edits)
