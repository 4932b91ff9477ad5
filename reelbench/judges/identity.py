"""The identity of a judge: the model whose id came back with the replies.

A server may answer with another model than was asked for: a name without a date is the newest
version, a retired model is rerouted. So groups, ranks and headings name a judge by the id that was
returned.
"""

from collections.abc import Iterator

from reelbench.registry.model_ids import answering_ids, other_ids
from reelbench.registry.name_faults import LONGEST, id_faults
from reelbench.registry.records import JudgeRecord

NOT_STATED = "as requested, not stated"
"""Words beside a judge's name where its server returned no id."""

_JUDGE_MARKS = (",", " + ", f"({NOT_STATED})")
"""Signs that join judges' names in a table's heading."""


def single_judges(record: JudgeRecord) -> list[JudgeRecord]:
    """Return the records of a panel's judges; of one judge its own."""
    if record.panel:
        return list(record.panel)
    return [record]


def returned_ids(record: JudgeRecord) -> list[str]:
    """Return the ids under which one judge answered, sorted.

    The requested one isn't counted beside the same one with a date.
    """
    return answering_ids(record.requested, record.returned)


def judge_as_answered(record: JudgeRecord) -> str:
    """Return the judge's name as its replies have it, for groups and headings.

    Several ids are joined by ` + `, the judges of a panel, in the order of their names, by `, `.
    Where no id was returned it is the requested one and `NOT_STATED`.
    """
    names: list[str] = []
    for judge in single_judges(record):
        name = " + ".join(returned_ids(judge))
        names.append(name or f"{judge.requested} ({NOT_STATED})")
    return ", ".join(sorted(names))


def other_than_requested(record: JudgeRecord) -> list[tuple[str, str]]:
    """Return (requested, returned) of each judge that answered as another model."""
    pairs: list[tuple[str, str]] = []
    for judge in single_judges(record):
        for name in other_ids(judge.requested, judge.returned):
            pairs.append((judge.requested, name))
    return pairs


def judges_under_several_ids(record: JudgeRecord) -> list[str]:
    """Return the judges, as requested, that each answered under several ids.

    Their scores aren't one judge's.
    """
    names: list[str] = []
    for judge in single_judges(record):
        ids = returned_ids(judge)
        if len(ids) > 1:
            names.append(judge.requested)
    return names


def judges_by_schema(record: JudgeRecord) -> list[str]:
    """Return a line on each judge with over half of its marks by schema."""
    lines: list[str] = []
    for judge in single_judges(record):
        marks = judge.marks
        if marks is not None and 2 * marks.by_schema > marks.all:
            lines.append(
                f"judge {judge.requested} gave {marks.by_schema} of {marks.all} marks only under "
                "a JSON schema, which makes any model give marks"
            )
    return lines


def judge_name_faults(field: str, name: str) -> Iterator[str]:
    """Yield the faults of a judge's name: a table's heading is made of several."""
    yield from id_faults(field, name)
    marks = [mark for mark in _JUDGE_MARKS if mark in name]
    if marks:
        yield (
            f"{field} is {name[:LONGEST]!r}, and {marks[0]!r} in it would make it pass for "
            "other judges"
        )
