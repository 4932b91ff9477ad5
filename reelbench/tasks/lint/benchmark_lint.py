"""A benchmark's data, linted: its splits that are here, and the document of what was found."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.data import loading, mapped_rows
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec
from reelbench.registry.splits import is_mini, upstream_split
from reelbench.tasks.lint import accepted
from reelbench.tasks.lint.accepted import Acceptance
from reelbench.tasks.lint.findings import FAMILY_LEVEL, Fault
from reelbench.tasks.lint.linter import Measure, RuleResult, lint
from reelbench.tasks.lint.questions import Question, questions_of


@dataclass(frozen=True, slots=True)
class LintedSplit:
    """A split that was linted.

    Attributes:
        name: The split.
        fingerprint: The fingerprint of its rows.
        rows: The number of its rows that can be read.
        unreadable: The number of those that can't.
        videos: The number of its videos.
        secret: True where its answers are public nowhere, so that no row is named by its answer.
    """

    name: str
    fingerprint: str
    rows: int
    unreadable: int
    videos: int
    secret: bool


@dataclass(frozen=True, slots=True)
class BenchmarkLint:
    """A linted benchmark, with each rule's result.

    Attributes:
        spec: The benchmark.
        splits: The splits that were linted.
        absent: Split -> why its rows aren't here.
        results: What each rule found, in the rules' order.
        acceptances: The findings that the author accepts.
    """

    spec: BenchmarkSpec
    splits: tuple[LintedSplit, ...]
    absent: dict[str, str]
    results: tuple[RuleResult, ...]
    acceptances: tuple[Acceptance, ...]

    @property
    def findings(self) -> int:
        """The number of findings of all rules."""
        return sum(result.findings for result in self.results)

    @property
    def accepted(self) -> int:
        """The number of those that the author accepts."""
        return sum(self.accepted_of(result) for result in self.results)

    def accepted_of(self, result: RuleResult) -> int:
        """Return the number of a rule's findings that the author accepts."""
        count = 0
        for fault in result.faults:
            if self.acceptance(result, fault) is not None:
                count += 1
        for measure in result.measures:
            if measure.is_finding and self.acceptance_of_measure(result, measure) is not None:
                count += 1
        return count

    def acceptance(self, result: RuleResult, fault: Fault) -> Acceptance | None:
        """Return the entry that accepts a fault."""
        for entry in self.acceptances:
            if entry.covers(result.rule.name, fault):
                return entry
        return None

    def acceptance_of_measure(self, result: RuleResult, measure: Measure) -> Acceptance | None:
        """Return the entry that accepts a way to choose."""
        for entry in self.acceptances:
            if entry.covers_split(result.rule.name, measure.split):
                return entry
        return None

    def idle_acceptances(self) -> list[Acceptance]:
        """Return the entries that accept nothing that was found."""
        busy: set[str] = set()
        for result in self.results:
            entries = [self.acceptance(result, fault) for fault in result.faults]
            for measure in result.measures:
                if measure.is_finding:
                    entries.append(self.acceptance_of_measure(result, measure))
            busy.update(entry.where for entry in entries if entry is not None)
        return [entry for entry in self.acceptances if entry.where not in busy]

    def is_secret(self, split: str) -> bool:
        """Return True where a split's rows must not be named by their answers."""
        return any(linted.secret for linted in self.splits if linted.name == split)


def lint_benchmark(name: str, split: str | None = None, data: Path | None = None) -> BenchmarkLint:
    """Lint the rows of a benchmark that are on this machine; nothing is fetched.

    Args:
        name: A benchmark, one of its tasks, or the path of its file or folder.
        split: One split; by default all but the mini ones.
        data: The user's own copy of the annotations.

    Raises:
        InputError: The name or split is unknown, or no row can be read.
        DataUnavailableError: No split's rows are here.
    """
    named = loading.find_split(name, split)
    spec = named.spec
    split_names = [named.split]
    if split is None and named.task is None and not is_mini(named.split):
        split_names = list(spec.splits)
    linted: list[LintedSplit] = []
    absent: dict[str, str] = {}
    questions: list[Question] = []
    for split_name in split_names:
        try:
            located = loading.locate_files(spec, split_name, named.task, data, fetch=False)
        except DataUnavailableError as error:
            absent[split_name] = str(error)
            continue
        read = _read(located)
        split_questions = questions_of(spec, split_name, read.rows)
        questions += split_questions
        linted.append(_linted_split(located, read, split_questions))
    if not linted:
        raise DataUnavailableError("; ".join(absent.values()))
    acceptances = accepted.read(spec.folder, spec.splits)
    return BenchmarkLint(spec, tuple(linted), absent, tuple(lint(questions)), acceptances)


@dataclass(frozen=True, slots=True)
class _ReadRows:
    """The readable rows of a split, and the number of the others."""

    rows: Sequence[Row]
    unreadable: int = 0


def _read(located: loading.SplitData) -> _ReadRows:
    """Return a split's rows; of a declared table, those that can be read.

    Raises:
        InputError: None can be read.
    """
    spec = located.spec
    if spec.mapping is None or located.task is not None:
        return _ReadRows(located.rows)
    rows: list[Row] = []
    faults: list[InputError] = []
    split = upstream_split(spec, located.split)
    for entry in mapped_rows.read_each(spec, located.paths, split):
        if isinstance(entry.row, InputError):
            faults.append(entry.row)
        else:
            rows.append(entry.row)
    if not rows and faults:
        raise faults[0]
    return _ReadRows(rows, len(faults))


def _linted_split(
    located: loading.SplitData, read: _ReadRows, questions: Sequence[Question]
) -> LintedSplit:
    videos: set[str] = set()
    for question in questions:
        videos.update(question.videos)
    declared_split = located.spec.splits[upstream_split(located.spec, located.split)]
    return LintedSplit(
        located.split,
        located.source.fingerprint,
        len(read.rows),
        read.unreadable,
        len(videos),
        secret=declared_split.secret,
    )


# --- the document
# ----------------------------------------------------------------------------------------------


def document(report: BenchmarkLint, reelbench: str) -> dict[str, Any]:
    """Return the report as JSON has it.

    It has ids, rules and numbers, and no text of a row.

    Args:
        report: The report.
        reelbench: The version of Reelbench.
    """
    splits: dict[str, Any] = {}
    for linted in report.splits:
        splits[linted.name] = {
            "rows": linted.rows,
            "unreadable": linted.unreadable,
            "videos": linted.videos,
            "fingerprint": linted.fingerprint,
        }
    rules: dict[str, Any] = {}
    for result in report.results:
        fields: dict[str, Any] = {
            "title": result.rule.title,
            "threshold": result.rule.threshold,
            "findings": result.findings,
            "accepted": report.accepted_of(result),
        }
        if result.rule.look is not None:
            fields["faults"] = [_fault_fields(report, result, fault) for fault in result.faults]
        if result.rule.ways is not None:
            fields["measures"] = [_measure_fields(report, result, part) for part in result.measures]
        rules[result.rule.name] = fields
    return {
        "benchmark": report.spec.id,
        "version": report.spec.version,
        "reelbench": reelbench,
        "family_level": FAMILY_LEVEL,
        "splits": splits,
        "absent": report.absent,
        "findings": report.findings,
        "accepted": report.accepted,
        "rules": rules,
    }


def _fault_fields(report: BenchmarkLint, result: RuleResult, fault: Fault) -> dict[str, Any]:
    rows = [{"split": question.split, "id": question.id} for question in fault.rows]
    fields: dict[str, Any] = {"rows": rows, "what": fault.what}
    acceptance = report.acceptance(result, fault)
    if acceptance is not None:
        fields["accepted"] = acceptance.reason
    return fields


def _measure_fields(report: BenchmarkLint, result: RuleResult, measure: Measure) -> dict[str, Any]:
    """Return a measure's numbers, in percent, and the rows of a finding.

    Of a secret split no row is named.
    """
    interval = measure.test.estimate.ci95
    ci95 = None
    if interval is not None:
        ci95 = [100 * end for end in interval]
    fields = {
        "split": measure.split,
        "what": measure.way.what,
        "rows": measure.rows,
        "videos": measure.videos,
        "value": 100 * measure.test.value,
        "chance": 100 * measure.test.chance,
        "ci95": ci95,
        "smallest_effect": 100 * measure.way.smallest,
        "p": measure.p,
        "p_holm": measure.p_adjusted,
        "finding": measure.is_finding,
    }
    if not measure.is_finding:
        return fields
    acceptance = report.acceptance_of_measure(result, measure)
    if acceptance is not None:
        fields["accepted"] = acceptance.reason
    if measure.right_rows and not report.is_secret(measure.split):
        fields["ids"] = [question.id for question in measure.right_rows]
    return fields
