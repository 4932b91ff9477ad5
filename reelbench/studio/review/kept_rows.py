"""What people's verification leaves of a data set: rows kept, edited or dropped, `verified` in each, and the funnel.

MovieCORE had people rate a part of its questions, and a meta-reviewer keep or drop what was rated
low (appendix II.3, Figure S3).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import read_json, read_json_or_jsonl, write_json
from reelbench.base.values import is_object
from reelbench.data import loading
from reelbench.studio.funnel import FunnelRecord
from reelbench.studio.moment_pairs import across_time, cost_per_1000
from reelbench.studio.review.review_kind import Reviews

STAGE = "people"
FUNNEL = "funnel.json"


@dataclass(frozen=True, slots=True)
class Verification:
    """What people made of rows.

    Attributes:
        verified: Ids of rows that people looked at and let stand.
        dropped: Id -> reason of rows that are left out.
        changes: Id -> fields that get other values.
        back: Id -> what is said of a dropped row to its writer, under `audit` in a file of such
            rows.
        only_with: Field that an entry must have; where it is named, rows that nobody looked at are
            left out too.
    """

    verified: set[str]
    dropped: dict[str, str]
    changes: dict[str, dict[str, Any]] = field(default_factory=dict)
    back: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only_with: str = ""


def write_rows(path: Path, reviews: Reviews, outcome: Verification) -> str:
    """Write the owners' or the chain's entries that stay, in the shape of their file, and return what was written.

    Where the data lies beside a chain's `funnel.json`, that gets a last stage, `people`, and is
    written beside `path`.
    """
    if not reviews.benchmark:
        raise InputError(
            "--write: these files don't say which benchmark they are of; export tasks that we wrote"
        )
    sources = loading.locate(reviews.benchmark, reviews.split, reviews.data).paths
    kept: list[tuple[str, dict[str, Any]]] = []
    back: list[tuple[str, dict[str, Any]]] = []
    seen, keyed = set[str](), False
    for source in sources:
        keyed, entries = _entries(read_json_or_jsonl(source))
        for name, entry in entries:
            if name in seen or (outcome.only_with and outcome.only_with not in entry):
                continue
            seen.add(name)
            if name in outcome.back:
                back.append((name, {**entry, "audit": dict(outcome.back[name])}))
            if name in outcome.dropped or (outcome.only_with and name not in outcome.verified):
                continue
            kept.append(
                (
                    name,
                    {
                        **entry,
                        **outcome.changes.get(name, {}),
                        "verified": name in outcome.verified,
                    },
                )
            )
    if unknown := sorted(
        (outcome.verified | outcome.dropped.keys() | outcome.changes.keys()) - seen
    ):
        strangers = number_of(len(unknown), "question is", "questions are")
        raise InputError(
            f"--write: {strangers} not in the benchmark's data ({unknown[0]}); is it this one?"
        )
    write_json(path, dict(kept) if keyed else [entry for _, entry in kept])
    to_writer = path.with_name(f"{path.stem}.back.json")
    if back:
        write_json(to_writer, dict(back) if keyed else [entry for _, entry in back])
    else:
        to_writer.unlink(missing_ok=True)
    written = f"{number_of(len(kept), 'question')} written to {path}"
    said = f"{written}, {len(outcome.dropped)} left out, {len(outcome.verified)} verified"
    if back:
        again = f"reelbench review page {reviews.benchmark} --ask audit --data {to_writer}"
        said += f"; {len(back)} go back to their writer: mend them in {to_writer}, then {again}"
    return said + _count_people(path, sources[0].with_name(FUNNEL), reviews, outcome, kept)


def _entries(document: Any) -> tuple[bool, list[tuple[str, dict[str, Any]]]]:  # noqa: ANN401 - any JSON value
    """Return whether the questions are an object's, by their ids, or a list; and (id, entry) of each."""
    keyed = is_object(document) and "qid" not in document
    listed = document if isinstance(document, list) else [document]
    pairs = (
        list(document.items())
        if is_object(document) and keyed
        else [("", entry) for entry in listed]
    )
    if not all(is_object(entry) for _, entry in pairs):
        raise InputError(
            "--write: the data is keyed by video; only questions by their id, or a list of them, can be kept"
        )
    names = ("question_id", "qid", "id", "key")
    return keyed, [
        (str(next(filter(None, map(entry.get, names)), key)), entry) for key, entry in pairs
    ]


def _count_people(
    path: Path,
    funnel: Path,
    reviews: Reviews,
    outcome: Verification,
    rows: Sequence[tuple[str, dict[str, Any]]],
) -> str:
    """Add people's stage to a chain's funnel; return what 1,000 kept questions cost, "" where nobody knows."""
    kept = len(rows)
    if not funnel.is_file():
        cost = cost_per_1000(None, reviews.seconds, kept, reviews.wage)
    else:
        document = FunnelRecord.model_validate(read_json(funnel)).model_dump(
            mode="json", by_alias=True
        )
        document["stages"] = [stage for stage in document["stages"] if stage["name"] != STAGE]
        reasons = Counter(outcome.dropped.values())
        stage = {
            "name": STAGE,
            "in": kept + reasons.total(),
            "out": kept,
            "dropped": dict(sorted(reasons.items())),
        }
        document["stages"].append(stage)
        cost = cost_per_1000(document["cost_usd"], reviews.seconds, kept, reviews.wage)
        document["per_1000_kept"] = cost
        if document.get("across_time") is not None:
            timed = {name for name, fields in outcome.changes.items() if "span" in fields}
            unmarked = set(document.get("unmarked") or ()) - timed
            document["unmarked"] = [name for name, _ in rows if name in unmarked]
            document["across_time"] = across_time(
                (row.get("question_span"), None if name in unmarked else row["span"], row["vid"])
                for name, row in rows
            )
        write_json(path.with_name(FUNNEL), document)
    if cost is None:
        return ""
    return (
        f"; 1,000 kept cost ${cost['models_usd']:.2f} of models and {cost['people_hours']:.1f} h of people, "
        f"${cost['usd']:.2f} at ${reviews.wage:g} an hour"
    )


def parse_decision(marks: Mapping[str, Any], where: str) -> tuple[str | None, dict[str, str]]:
    """Return an item's decision: `keep`, `drop`, `edit` or None, and the edited texts."""
    decision = marks.get("decision")
    edits = {
        name: text.strip()
        for name in ("question", "answer", "caption")
        if (text := marks.get(name) or "").strip()
    }
    if decision == "edit" and not edits:
        raise InputError(f"{where}: is to be edited, and no text is; edit it, or keep or drop it")
    return decision, edits if decision == "edit" else {}
