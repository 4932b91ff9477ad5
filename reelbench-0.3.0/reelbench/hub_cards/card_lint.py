"""The paragraphs of a card on what `data lint --write` found in the rows."""

from reelbench.hub_cards.card_material import Material
from reelbench.tasks.lint import lint_file
from reelbench.tasks.lint.lint_file import LintRecord


def lint(material: Material) -> str | None:
    """Return the findings, accepted ones too. None where nobody has linted the rows.

    Raises:
        InputError: `lint.json` is damaged.
    """
    record = lint_file.read(material.spec.folder)
    if record is None:
        return None
    summary = f"`reelbench data lint` {record.summary}{_other_rows(material, record)}"
    lines = [f"### Faults in the rows\n\n{summary}"]
    points = [_rule_line(rule.title, rule) for rule in record.rules.values() if rule.findings]
    for split, score in record.words_alone.splits.items():
        points.append(f"- {score.in_words(f'`{split}`')}")
    if points:
        lines.append("\n".join(points))
    return "\n\n".join(lines)


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
