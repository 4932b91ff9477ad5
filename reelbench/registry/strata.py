"""Draws of a number of questions for each label of a field, the same for every `--per`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256

from reelbench.base.errors import InputError
from reelbench.registry.rows import Row, facets
from reelbench.registry.spec import BenchmarkSpec

LabelsByField = Mapping[str, Sequence[str]]
Labels = Mapping[str, LabelsByField]
"""Question id -> field -> the question's labels."""


@dataclass(frozen=True, slots=True)
class Strata:
    """A number of questions for each label of a field (a facet of the benchmark)."""

    field: str
    number: int

    @classmethod
    def parse(cls, text: str) -> "Strata":
        """Read `locale=10`."""
        field, _, digits = text.partition("=")
        number = 0
        if digits.isdecimal():
            number = int(digits)
        if not field or number < 1:
            raise InputError(
                f"--per {text}: expected a field and a number of questions, as in locale=10"
            )
        return cls(field, number)

    def groups(self, where: str, labels: Labels) -> dict[str, list[str]]:
        """Return the ids of each label.

        Args:
            where: Name of the questions, for errors.
            labels: Their labels.

        Raises:
            InputError: They don't have the field. The line names their fields.
        """
        fields: list[str] = []
        for labels_by_field in labels.values():
            for field in labels_by_field:
                if field not in fields:
                    fields.append(field)
        if self.field not in fields:
            names = ", ".join(fields) or "(none)"
            raise InputError(f"--per {self.field}: {where} has the fields {names}")
        groups: dict[str, list[str]] = {}
        for question_id, labels_by_field in labels.items():
            for label in labels_by_field.get(self.field, ()):
                groups.setdefault(label, []).append(question_id)
        if not groups:
            raise InputError(f"--per {self.field}: no question of {where} has a label of it")
        return groups

    def draw(self, where: str, labels: Labels, seed: int = 0) -> set[str]:
        """Return the drawn ids: of each label its `number`, or all where there are fewer.

        They are those with the lowest sha256 of seed, label and id. So other questions may come and
        go, and other labels too.
        """
        drawn_ids: set[str] = set()
        groups = self.groups(where, labels)
        for label, question_ids in groups.items():
            hash_of = partial(_draw_hash, seed, label)
            shuffled_ids = sorted(set(question_ids), key=hash_of)
            drawn_ids.update(shuffled_ids[: self.number])
        return drawn_ids

    def draw_rows(
        self, spec: BenchmarkSpec, rows: Iterable[Row], seed: int = 0, tags: Labels | None = None
    ) -> list[Row]:
        """Return the drawn rows, in their order. `tags` are labels that the rows don't have."""
        rows = list(rows)
        labels: dict[str, LabelsByField] = {}
        for row in rows:
            row_id = row["id"]
            labels_by_field: dict[str, Sequence[str]] = dict(facets(spec, row))
            if tags is not None:
                labels_by_field.update(tags.get(row_id, {}))
            labels[row_id] = labels_by_field
        drawn_ids = self.draw(spec.id, labels, seed)
        return [row for row in rows if row["id"] in drawn_ids]


def _draw_hash(seed: int, label: str, question_id: str) -> bytes:
    text = f"{seed}|{label}|{question_id}"
    encoded = text.encode("utf-8", "surrogatepass")
    return sha256(encoded).digest()
