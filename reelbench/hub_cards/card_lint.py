"""The paragraphs of a card on what `data lint --write` found in the rows."""

from reelbench.base.errors import number_of
from reelbench.hub_cards.card_material import Material
from reelbench.tasks.lint import lint_file
from reelbench.tasks.lint.lint_file import LintRecord, WordsRecord


def lint(material: Material) -> str | None:
    """Return the findings, accepted ones too; None where nobody has linted the rows.

    Raises:
        InputError: `lint.json` is damaged.
    """
    record = lint_file.read(material.spec.folder)
    if record is None:
        return None
    lines = [f"### Faults in the rows\n\n{_summary(record)}{_other_rows(material, record)}"]
    found_rules = [rule for rule in record.rules.values() if rule.findings]
    if found_rules:
        lines.append("\n".join(_rule_line(rule.title, rule) for rule in found_rules))
    if record.words_alone.splits:
        lines.append("\n".join(_words_line(*part) for part in record.words_alone.splits.items()))
    return "\n\n".join(lines)


def _summary(record: LintRecord) -> str:
    rows = sum(split.rows for split in record.splits.values())
    questions = number_of(rows, "question")
    line = f"`reelbench data lint` ({record.reelbench}) looked at {questions}: "
    if not record.findings:
        return f"{line}nothing found."
    line += number_of(record.findings, "finding")
    if record.accepted:
        line += f", {record.accepted:,} of them accepted by the authors"
    return f"{line}."


def _other_rows(material: Material, record: LintRecord) -> str:
    """Return a sentence where the counted rows are others than those that were linted."""
    other_splits: list[str] = []
    for split in material.splits:
        linted = record.splits.get(split.name)
        if split.counted is None or linted is None:
            continue
        if split.counted.source.fingerprint != linted.fingerprint:
            other_splits.append(f"`{split.name}`")
    if not other_splits:
        return ""
    return f" The rows of {', '.join(other_splits)} have changed since."


def _rule_line(title: str, rule: lint_file.RuleRecord) -> str:
    line = f"- {title}: {rule.findings:,}"
    if rule.accepted:
        line += f" ({rule.accepted:,} accepted)"
    return line


def _words_line(split: str, score: WordsRecord) -> str:
    line = f"- words alone, trained: {score.value:.1f} % of `{split}` (chance {score.chance:.1f}"
    if score.ci95 is not None:
        low, high = score.ci95
        line += f"; 95 % interval {low:.1f} to {high:.1f}"
    return f"{line}); always one letter: {score.constant:.1f} %"
