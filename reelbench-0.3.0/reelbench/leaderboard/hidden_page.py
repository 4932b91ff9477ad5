"""Write the comment on a submission to a hidden test.

All that it says follows from the ledger, the rules and the submitter's own files.
"""

from collections.abc import Mapping, Sequence

from reelbench.base.errors import number_of
from reelbench.base.text_tables import interval, number
from reelbench.leaderboard.hidden_rules import Quota, moment_in_words
from reelbench.leaderboard.submission_page import TITLE, verbatim
from reelbench.pages.markdown import table
from reelbench.registry.records import MetricValue
from reelbench.registry.spec import BenchmarkSpec

_SCORED = f"{TITLE} scored by the owner"
_LONGEST_REASON = 1000


def says_scored(text: str, commit: str) -> bool:
    """Return True of a comment that says that this commit was scored."""
    return text.startswith(f"{_SCORED}\n\n{_commit_line(commit)}")


def _commit_line(commit: str) -> str:
    return f"Commit: `{commit}`\n"


def comment_on_refusal(commit: str, why: str) -> str:
    """Return the comment on a submission that is refused. It used up nothing."""
    reason = verbatim(why, _LONGEST_REASON)
    return f"{TITLE} refused\n\n{_commit_line(commit)}\n- **refused**: {reason}\n"


def comment_on_wait(commit: str, place: int, why: str, limits: Sequence[str]) -> str:
    """Return the comment on a submission that is scored later."""
    lines = [f"- **waits**: {why}; place {place} in the queue"]
    lines += [f"- {limit}" for limit in limits]
    return f"{TITLE} waits\n\n{_commit_line(commit)}\n" + "\n".join(lines) + "\n"


def comment_on_score(
    commit: str,
    spec: BenchmarkSpec,
    totals: Mapping[str, MetricValue],
    limits: Sequence[str],
    *,
    takes_row: bool,
) -> str:
    """Return the comment on a scored submission: what its account's row shows from then on."""
    intro = "This file is now your row:"
    if not takes_row:
        intro = "It is less than one standard error better than your best file, so your row stays:"
    heads = ("metric", "unit", "#total", "#95 % interval", "#questions")
    cells: list[tuple[str, ...]] = []
    for name, total in totals.items():
        unit = spec.metric(name).in_unit
        ends = interval(total.ci95, unit.digits)
        cells.append((name, unit.label, number(total.value, unit.digits), ends, str(total.n)))
    lines = [intro, "", table(heads, cells), "", *(f"- {limit}" for limit in limits)]
    return f"{_SCORED}\n\n{_commit_line(commit)}\n" + "\n".join(lines) + "\n"


def quota_in_words(whose: str, quota: Quota, span: str) -> str:
    """Return a line on a quota."""
    text = f"{whose}: {quota.remaining} of {number_of(quota.most, 'file')} left in {span}"
    if quota.next_at is not None:
        text += f", the next one from {moment_in_words(quota.next_at)} on"
    return text
