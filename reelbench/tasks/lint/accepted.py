"""`lint.yaml`: the findings that a benchmark's author accepts, each with a reason.

    accept:
      - rule: two_answers
        rows: [q12, q13]
        reason: The two are asked at different times of the film.
      - rule: letters
        reason: The test set is too small to be balanced.

Without `rows` the whole rule is accepted, and with `split` that of one split.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.base.files import read_text
from reelbench.base.values import is_array, is_object
from reelbench.base.yaml_text import read_mapping
from reelbench.tasks.lint.findings import RowIssue
from reelbench.tasks.lint.rules import ALL_RULES

NAME = "lint.yaml"

_KEYS = ("rule", "rows", "split", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceptance:
    """Findings that the author accepts.

    Attributes:
        rule: The rule's name.
        rows: Ids of the rows. None for all findings of the rule.
        split: The split. None for all.
        reason: The author's reason.
        where: Its place in the file.
    """

    rule: str
    rows: frozenset[str] | None
    split: str | None
    reason: str
    where: str

    def covers(self, rule: str, issue: RowIssue) -> bool:
        """Return True where it accepts a fault: each of its rows is named."""
        if rule != self.rule:
            return False
        for question in issue.rows:
            if self.split not in (None, question.split):
                return False
            if self.rows is not None and question.id not in self.rows:
                return False
        return True

    def covers_split(self, rule: str, split: str) -> bool:
        """Return True where it accepts a rule's ways to choose on a split."""
        return rule == self.rule and self.rows is None and self.split in (None, split)


def read(folder: Path, splits: Iterable[str]) -> tuple[Acceptance, ...]:
    """Return the acceptances of a benchmark's folder. None where it has no such file.

    Args:
        folder: The benchmark's folder.
        splits: The names of its splits.

    Raises:
        InputError: The file is wrong. The entry is named.
    """
    path = folder / NAME
    if not path.is_file():
        return ()
    text = read_text(path, most=bounds.SETTINGS_BYTES)
    document = read_mapping(text, str(path), as_text=True)
    entries = document.get("accept")
    if list(document) != ["accept"] or not is_array(entries):
        raise InputError(f"{path}: expected `accept:` and a list of rule, rows and reason under it")
    accepted: list[Acceptance] = []
    for number, entry in enumerate(entries, start=1):
        accepted.append(_acceptance(entry, f"{path}: entry {number}", list(splits)))
    return tuple(accepted)


def _acceptance(entry: Any, where: str, splits: list[str]) -> Acceptance:  # noqa: ANN401 - any YAML
    if not is_object(entry) or not set(entry) <= set(_KEYS):
        raise InputError(f"{where}: expected the keys {', '.join(_KEYS)}")
    rule = _text(entry, "rule", where)
    names = [known_rule.name for known_rule in ALL_RULES]
    if rule not in names:
        raise InputError(f"{where}: there is no rule {rule!r}; there are {', '.join(names)}")
    split: str | None = None
    if "split" in entry:
        split = _text(entry, "split", where)
        if split not in splits:
            raise InputError(f"{where}: there is no split {split!r}; there are {', '.join(splits)}")
    return Acceptance(
        rule=rule,
        rows=_rows(entry, where),
        split=split,
        reason=_text(entry, "reason", where),
        where=where,
    )


def _text(entry: Mapping[str, Any], key: str, where: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{where}: {key} is missing or not text")
    return " ".join(value.split())


def _rows(entry: Mapping[str, Any], where: str) -> frozenset[str] | None:
    if "rows" not in entry:
        return None
    rows = entry["rows"]
    if is_array(rows) and rows and all(isinstance(name, str) for name in rows):
        return frozenset(rows)
    raise InputError(f"{where}: rows is not a list of ids; leave it out to accept the whole rule")
