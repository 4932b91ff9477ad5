"""Draws of so many questions for each label of a facet."""

import random
from collections.abc import Iterable
from dataclasses import dataclass

from reelbench.registry.errors import InputError
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec


@dataclass(frozen=True, slots=True)
class Strata:
    """So many questions for each label of a facet."""

    facet: str
    number: int

    @classmethod
    def parse(cls, text: str) -> "Strata":
        """Read `locale=10`."""
        facet, _, number = text.partition("=")
        if not facet or not number.isdecimal() or int(number) < 1:
            raise InputError(f"--per {text}: expected a facet and a number of questions, as in locale=10")
        return cls(facet, int(number))

    def draw(self, spec: BenchmarkSpec, rows: Iterable[Row], seed: int = 0) -> list[Row]:
        """Return the rows drawn, in their order: of each label its `number`, or all where there are fewer.

        A label's draw depends on its own questions alone, so that other labels may come and go.
        """
        known = [facet.name for facet in spec.facets if facet.in_rows]
        if self.facet not in known:
            raise InputError(f"--per {self.facet}: {spec.id} has the facets {', '.join(known) or '(none)'}")
        rows = list(rows)
        by_label: dict[str, list[str]] = {}
        for row in rows:
            for label in row[self.facet]:
                by_label.setdefault(label, []).append(row["id"])
        drawn: set[str] = set()
        for label, names in by_label.items():
            chance = random.Random(f"{seed}|{label}")  # noqa: S311 - no secret
            drawn |= set(chance.sample(sorted(names), min(self.number, len(names))))
        return [row for row in rows if row["id"] in drawn]
