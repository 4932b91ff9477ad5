"""Who judged: the model whose id came back with the replies, beside the one that was asked for.

A server may answer with another model than was asked for: a name without a date is the newest
version, a retired model is rerouted. So groups, ranks and headings name a judge by the id that was
returned.
"""

import re

from reelbench.registry.records import JudgeRecord

NOT_STATED = "as requested, not stated"
"""What stands beside a judge's name where its server said no id."""

_DATE = re.compile(
    r"-(?:\d{4}-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01]))"
)
"""A date behind a model's name: `-2024-07-18`, `-20240718`, or month and day, `-0613`."""


def same_model(requested: str, returned: str) -> bool:
    """Whether a returned id is the one that was asked for, or that one and a date. Two dates are two models."""
    if requested == returned:
        return True
    return (
        returned.startswith(requested) and _DATE.fullmatch(returned[len(requested) :]) is not None
    )


def single_judges(record: JudgeRecord) -> list[JudgeRecord]:
    """Return the records of a panel's judges; of one judge its own."""
    return list(record.panel) if record.panel else [record]


def returned_ids(record: JudgeRecord) -> list[str]:
    """Return the ids under which one judge answered, sorted; the requested one isn't counted beside it with a date."""
    ids = sorted(record.returned)
    dated = any(name != record.requested and same_model(record.requested, name) for name in ids)
    return [name for name in ids if not (dated and name == record.requested)]


def judge_as_answered(record: JudgeRecord) -> str:
    """Return the judge's name as its replies have it, for groups and headings.

    Several ids are joined by ` + `, the judges of a panel, in the order of their names, by `, `.
    Where no id was returned it is the requested one and `NOT_STATED`.
    """
    names = [
        " + ".join(returned_ids(one)) or f"{one.requested} ({NOT_STATED})"
        for one in single_judges(record)
    ]
    return ", ".join(sorted(names))


def other_than_requested(record: JudgeRecord) -> list[tuple[str, str]]:
    """Return (requested, returned) of each judge that answered as another model, dates apart."""
    return [
        (one.requested, name)
        for one in single_judges(record)
        for name in returned_ids(one)
        if not same_model(one.requested, name)
    ]


def judges_under_several_ids(record: JudgeRecord) -> list[str]:
    """Return the judges, as requested, of which each answered under several ids: their scores aren't one judge's."""
    return [one.requested for one in single_judges(record) if len(returned_ids(one)) > 1]
