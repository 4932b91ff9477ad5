"""Read the settings of a board: which tables may stand for their benchmark."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from reelbench.base import bounds
from reelbench.base.base_record import Record, record_of
from reelbench.base.files import read_text
from reelbench.base.yaml_text import read_mapping
from reelbench.judges.identity import returned_ids, single_judges
from reelbench.leaderboard.hidden_rules import HiddenRules
from reelbench.registry import discovery
from reelbench.registry.declaration import scoring_sha256
from reelbench.registry.records import BenchmarkRecord, JudgeRecord

FILE = "settings.yaml"
BY_OTHERS = "by others' judges"
DECLARED_OTHERWISE = "other declarations"


class BoardSettings(Record):
    """A store's `settings.yaml`: which tables may stand for their benchmark.

    `judges` are ids, as their servers return them, of those whose scores by our own or the owners'
    prompts may. `benchmarks` has the key of a row whose questions and rules are a benchmark's,
    where nobody declares it here: neither Reelbench, nor a package, nor a folder of
    `REELBENCH_BENCHMARKS`. `hidden_tests` has the rules of hidden tests, by benchmark.
    """

    judges: tuple[str, ...] = ()
    benchmarks: dict[str, str] = Field(default_factory=dict[str, str])
    hidden_tests: dict[str, HiddenRules] = Field(default_factory=dict[str, HiddenRules])

    def trusted_keys(self, results: Iterable[tuple[str, BenchmarkRecord]]) -> set[str]:
        """Return the keys of results that are scored as the board knows their benchmark.

        It knows a benchmark by its registry, or by a row. None of the results states a newer
        version than is known: the newest is a benchmark's main table.
        """
        results = list(results)
        declarations: dict[str, _Declaration] = {}
        for spec in discovery.specs().values():
            scoring = None if spec.package else scoring_sha256(spec)
            declarations[spec.id] = _Declaration(spec.version, scoring)
        for key, benchmark in results:
            if self.benchmarks.get(benchmark.id) == key:
                declaration = _Declaration(benchmark.version, benchmark.scoring_sha256)
                declarations[benchmark.id] = declaration
        keys: set[str] = set()
        for key, benchmark in results:
            declaration = declarations.get(benchmark.id)
            if declaration is not None and declaration.covers(benchmark):
                keys.add(key)
        return keys

    def names(self, judge: JudgeRecord) -> bool:
        """Return True where it names a judge, or each of a panel."""
        if judge.prompt not in ("official", "reelbench"):
            return False
        trusted_judges = {name.casefold() for name in self.judges}
        judges: set[str] = set()
        for member in single_judges(judge):
            ids = returned_ids(member) or [member.requested]
            judges.update(name.casefold() for name in ids)
        return judges <= trusted_judges


class _Declaration(NamedTuple):
    """A benchmark as the board knows it. `scoring` is None of a package's."""

    version: int
    scoring: str | None

    def covers(self, benchmark: BenchmarkRecord) -> bool:
        """Return True of a result that is scored so, and of no newer version."""
        if benchmark.version > self.version:
            return False
        return self.scoring is None or self.scoring == benchmark.scoring_sha256


def read(store: Path) -> BoardSettings | None:
    """Return a store's settings by its maintainers.

    None without any: each table may then stand for its benchmark.
    """
    path = store / FILE
    if not path.is_file():
        return None
    text = read_text(path, most=bounds.SETTINGS_BYTES)
    return record_of(BoardSettings, read_mapping(text, str(path)), str(path), mark=": ")
