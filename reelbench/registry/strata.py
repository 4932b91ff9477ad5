"""Draws of a number of questions for each label of a field, the same for every `--per`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from reelbench.base.errors import InputError
from reelbench.registry.rows import Row, facets
from reelbench.registry.spec import BenchmarkSpec

Labels = Mapping[str, Mapping[str, Sequence[str]]]
"""Question id -> field -> the question's labels."""


@dataclass(frozen=True, slots=True)
class Strata:
    """A number of questions for each label of a field (a facet of the benchmark)."""

    field: str
    number: int

    @classmethod
    def parse(cls, text: str) -> "Strata":
        """Read `locale=10`."""
        field, _, number = text.partition("=")
        if not field or not number.isdecimal() or int(number) < 1:
            raise InputError(
                f"--per {text}: expected a field and a number of questions, as in locale=10"
            )
        return cls(field, int(number))

    def groups(self, where: str, labels: Labels) -> dict[str, list[str]]:
        """Return the ids of each label.

        Args:
            where: Name of the questions, for errors.
            labels: Their labels.

        Raises:
            InputError: They don't have the field; the line names their fields.
        """
        fields: dict[str, None] = {}
        for labels_by_field in labels.values():
            fields |= dict.fromkeys(labels_by_field)
        if self.field not in fields:
            raise InputError(
                f"--per {self.field}: {where} has the fields {', '.join(fields) or '(none)'}"
            )
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
        for label, question_ids in self.groups(where, labels).items():
            id_by_hash: dict[bytes, str] = {}
            for question_id in question_ids:
                text = f"{seed}|{label}|{question_id}"
                digest = sha256(text.encode("utf-8", "surrogatepass")).digest()
                id_by_hash[digest] = question_id
            lowest_hashes = sorted(id_by_hash)[: self.number]
            drawn_ids.update(id_by_hash[digest] for digest in lowest_hashes)
        return drawn_ids

    def draw_rows(
        self, spec: BenchmarkSpec, rows: Iterable[Row], seed: int = 0, tags: Labels | None = None
    ) -> list[Row]:
        """Return the drawn rows, in their order; `tags` are labels that the rows don't have."""
        rows = list(rows)
        labels: dict[str, dict[str, Sequence[str]]] = {}
        for row in rows:
            labels[row["id"]] = {**facets(spec, row)}
            if tags is not None:
                labels[row["id"]].update(tags.get(row["id"], {}))
        drawn_ids = self.draw(spec.id, labels, seed)
        return [row for row in rows if row["id"] in drawn_ids]
