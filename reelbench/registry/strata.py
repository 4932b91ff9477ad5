"""Draws of so many questions for each label of a field: the same ones wherever `--per` is given."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from reelbench.base.errors import InputError
from reelbench.registry.rows import Row, facets
from reelbench.registry.spec import BenchmarkSpec

Labels = Mapping[str, Mapping[str, Sequence[str]]]  # Id -> field -> the question's labels


@dataclass(frozen=True, slots=True)
class Strata:
    """So many questions for each label of a field (a facet of the benchmark)."""

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
        """Return label -> ids; InputError, which names the fields there are, where `where` hasn't this one."""
        known = dict.fromkeys(name for of_item in labels.values() for name in of_item)
        if self.field not in known:
            raise InputError(
                f"--per {self.field}: {where} has the fields {', '.join(known) or '(none)'}"
            )
        groups: dict[str, list[str]] = {}
        for name, of_item in labels.items():
            for label in of_item.get(self.field, ()):
                groups.setdefault(label, []).append(name)
        if not groups:
            raise InputError(f"--per {self.field}: no question of {where} has a label of it")
        return groups

    def draw(self, where: str, labels: Labels, seed: int = 0) -> set[str]:
        """Return the ids drawn: of each label its `number`, or all where there are fewer.

        Those with the lowest sha256 of seed, label and id: other questions may come and go, and
        other labels too.
        """
        drawn: set[str] = set()
        for label, names in self.groups(where, labels).items():
            places = {
                sha256(f"{seed}|{label}|{name}".encode("utf-8", "surrogatepass")).digest(): name
                for name in names
            }
            drawn.update(places[place] for place in sorted(places)[: self.number])
        return drawn

    def draw_rows(
        self, spec: BenchmarkSpec, rows: Iterable[Row], seed: int = 0, tags: Labels | None = None
    ) -> list[Row]:
        """Return the rows drawn, in their order; `tags` are labels that the rows don't have."""
        rows = list(rows)
        labels = {
            row["id"]: facets(spec, row) | dict((tags or {}).get(row["id"], {})) for row in rows
        }
        drawn = self.draw(spec.id, labels, seed)
        return [row for row in rows if row["id"] in drawn]
