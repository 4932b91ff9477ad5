"""The lines of a benchmark's page on what `data lint --write` found in its rows."""

import logging
from collections.abc import Iterator

from reelbench.base.errors import InputError
from reelbench.data import ownership
from reelbench.registry import discovery
from reelbench.registry.spec import BenchmarkSpec
from reelbench.tasks.lint import lint_file
from reelbench.tasks.lint.lint_file import LintRecord

log = logging.getLogger("reelbench")


def of_split(benchmark: str, split: str) -> list[str]:
    """Return the lines on a split's rows.

    There are none where nobody has linted it, or its answers are secret.
    """
    spec = discovery.specs().get(benchmark)
    if spec is None or split not in spec.splits or ownership.has_secret_answers(spec, split):
        return []
    record = _record(spec)
    if record is None or split not in record.splits:
        return []
    linted_splits = [name for name in record.splits if name in spec.splits]
    secret_splits = [name for name in linted_splits if ownership.has_secret_answers(spec, name)]
    return list(_lines(record, split, with_counts=not secret_splits))


def _record(spec: BenchmarkSpec) -> LintRecord | None:
    """Return the record beside a benchmark, of its present version."""
    try:
        record = lint_file.read(spec.folder)
    except InputError as error:
        log.warning("the page of %s says nothing of its rows: %s", spec.id, error)
        return None
    if record is None or record.version != spec.version:
        return None
    return record


def _lines(record: LintRecord, split: str, *, with_counts: bool) -> Iterator[str]:
    """Yield the lines.

    The counts are of all splits, and are left out where one of them is secret.
    """
    score = record.words_alone.splits.get(split)
    if score is not None:
        words = score.in_words("the questions")
        yield (
            f"{words[0].upper()}{words[1:]}. That model saw no video and read questions and "
            "options alone; it learnt from those about other videos."
        )
    if not with_counts:
        return
    found_rules: list[str] = []
    for rule in record.rules.values():
        if rule.findings:
            found_rules.append(f"{rule.title} ({rule.findings:,})")
    if any(score.finding for score in record.words_alone.splits.values()):
        found_rules.append(record.words_alone.title)
    listed_rules = ""
    if found_rules:
        listed_rules = f" They are: {'; '.join(found_rules)}."
    rows = "the rows"
    if len(record.splits) > 1:
        rows = "the rows of all splits"
    yield f"Faults in {rows}: reelbench data lint {record.summary}{listed_rules}"
