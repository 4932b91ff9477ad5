"""Change the modules that decide a number, one place at a time, and see whether their tests notice.

    python -m tools.mutants --sample 120 --seed 1 --jobs 8 --out mutants.txt
    python -m tools.mutants --module stats --module leaderboard/recompute --sample 40
    python -m tools.mutants --only leaderboard/recompute:106

Each mutant is one comparison, operator, constant or return changed. It is run in a copy of the
checkout, against the tests that the table names for its module, in the table's order and up to the
first failure. Those tests run without a change first; a module whose tests fail as it is, or are
all skipped, isn't measured. What survives is printed: write the test that it lacks, or say in
perf/README.md why the change changes nothing.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TextIO

ROOT = Path(__file__).resolve().parent.parent

ANSWERS = [
    f"scoring/answers/test_{name}.py" for name in ("unseen", "reading", "forms", "languages")
]
STORE = [
    f"leaderboard/test_{name}.py"
    for name in ("site", "ways", "videos", "standing", "tampering", "identity", "evidence", "store")
]
BOARD = [
    f"leaderboard/test_{name}.py"
    for name in ("overall", "published", "site", "headline", "shortcuts", "ranking")
]
TESTS: dict[str, list[str]] = {
    **{
        f"scoring/answers/{name}": ANSWERS
        for name in ("json_literals", "options", "reasoning", "spans", "statements")
    },
    **{f"scoring/answers/{name}": ANSWERS for name in ("patterns", "texts", "vocabulary")},
    "scoring/answers/scored": ["scoring/answers/test_reading.py", *STORE],
    "judges/parsing": ["judges/test_parsing.py", "judges/test_thinking.py"],
    "judges/verdicts": [
        "judges/test_verdicts.py",
        "judges/test_parsing.py",
        "judges/test_engine.py",
    ],
    "scoring/aggregation": [
        *(
            f"scoring/test_{name}.py"
            for name in ("aggregation", "value_bounds", "side_by_side", "comparison")
        ),
        *(
            "leaderboard/test_pairs.py",
            "tasks/test_moviecore.py",
            "tasks/test_rextime.py",
            "tasks/test_curve.py",
        ),
    ],
    "scoring/anchors": ["leaderboard/test_rejudgement.py"],
    "scoring/calibration_file": ["leaderboard/test_about.py"],
    "scoring/candidates": ["scoring/test_candidates.py", "methods/test_candidates.py"],
    "scoring/certificate_length": ["scoring/test_certificate_length.py"],
    "scoring/choice": ["scoring/test_choice.py", "scoring/test_aggregation.py"],
    "scoring/cognitive_profile": [
        "scoring/test_cognitive_profile.py",
        "tasks/test_dramaqa_cogme.py",
    ],
    "scoring/comparison": [
        *("scoring/test_comparison.py", "scoring/test_label_comparison.py", "cli/test_compare.py"),
    ],
    "scoring/exact_match": ["scoring/test_exact_match.py"],
    "scoring/judge_agreement": ["scoring/test_judge_agreement.py"],
    "scoring/metric_table": ["cli/test_score_output.py", "test_api.py"],
    "scoring/option_scores": ["scoring/test_option_scores.py", "leaderboard/test_ways.py"],
    "scoring/panel_agreement": ["cli/test_judge_panel.py", "leaderboard/test_rejudgement.py"],
    "scoring/pilots": ["cli/test_power.py"],
    "scoring/profile_difference": ["scoring/test_profile_difference.py"],
    "scoring/result_files": ["leaderboard/test_bounds.py", *STORE],
    "scoring/shortcuts": ["scoring/test_shortcuts.py", "leaderboard/test_shortcuts.py"],
    "scoring/side_by_side": ["scoring/test_side_by_side.py"],
    "scoring/tag_agreement": ["scoring/test_tag_agreement.py"],
    "scoring/temporal_span": ["scoring/test_temporal_span.py"],
    "scoring/text_overlap": ["scoring/test_text_overlap.py"],
    "scoring/value_bounds": ["scoring/test_value_bounds.py", "leaderboard/test_pairs.py"],
    "scoring/videos": [
        "scoring/test_videos.py",
        "leaderboard/test_tampering.py",
        "leaderboard/test_site.py",
    ],
    **{
        f"studio/evidence/{name}": [f"studio/evidence/test_{name}.py"]
        for name in ("findings", "graphs", "isolation", "timestamps")
    },
    "studio/diagnosis/tagger_agreement": ["studio/test_tagger_agreement.py"],
    "studio/evidence/graph_svg": ["studio/evidence/test_graph_drawing.py"],
    "stats/agreement": ["scoring/test_judge_agreement.py", "scoring/test_tag_agreement.py"],
    "stats/alternative_annotator": ["stats/test_alternative_annotator.py"],
    "stats/intervals": ["stats/test_intervals.py", "scoring/test_aggregation.py"],
    "stats/calibration": ["stats/test_calibration.py"],
    "stats/multiple_comparisons": ["stats/test_multiple_comparisons.py"],
    "stats/power": ["stats/test_power.py"],
    "stats/rank_correlation": [
        "stats/test_rank_correlation.py",
        "scoring/test_profile_difference.py",
    ],
    "stats/student_t": ["stats/test_student_t.py"],
    **{
        f"leaderboard/{name}": STORE
        for name in ("rereading", "standing", "board_state", "identity", "store")
    },
    "leaderboard/against_data": [*STORE, "leaderboard/test_rejudgement.py"],
    "leaderboard/mismatches": ["leaderboard/test_mismatches.py", *STORE],
    "leaderboard/recompute": [
        *STORE,
        "leaderboard/test_about.py",
        "leaderboard/test_ways.py",
        "studio/test_ace.py",
    ],
    "leaderboard/replies": [*STORE, "cli/test_judge_panel.py"],
    **{f"leaderboard/{name}": BOARD for name in ("aliases", "overall", "headline")},
    "leaderboard/board": [*BOARD, "leaderboard/test_standing.py", "leaderboard/test_videos.py"],
    "leaderboard/bridge": ["leaderboard/test_pairs.py", "leaderboard/test_rejudgement.py"],
    "leaderboard/columns": [
        *(
            f"leaderboard/{name}.py"
            for name in ("exports/test_tables", "test_about", "test_publish")
        )
    ],
    "leaderboard/table_differences": ["leaderboard/test_declarations.py"],
    "leaderboard/community": ["leaderboard/test_community.py"],
    "leaderboard/entries": [*BOARD, "leaderboard/test_community.py", "leaderboard/test_about.py"],
    "leaderboard/ranking": [*BOARD, "leaderboard/test_pairs.py"],
    "leaderboard/rejudge": ["leaderboard/test_evidence.py"],
    "leaderboard/rejudgement": ["leaderboard/test_rejudgement.py"],
    "leaderboard/submission": ["leaderboard/test_submission.py", "leaderboard/test_bounds.py"],
}
"""Module -> the test files that hold its numbers, quickest first. Left out is what draws, serves or publishes."""

SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
FORMAL = frozenset({"strict", "encoding", "ensure_ascii", "indent", "timespec"})
"""Arguments that say how, and never what."""
LEFT_ALONE = (ast.Raise, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)
"""What decides no number: messages, imports, and what only a type checker reads."""


@dataclass(frozen=True)
class Mutant:
    """One changed place of a module: its number among the `places`, and what is done there."""

    module: str
    line: int
    what: str
    number: int

    @property
    def text(self) -> str:
        """The module's text with the change."""
        tree = _tree(self.module)
        change(list(places(tree))[self.number])
        return ast.unparse(ast.fix_missing_locations(tree))

    def __str__(self) -> str:
        return f"{self.module}.py:{self.line}  {self.what}"


def places(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what can be changed below a node."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if (
                isinstance(child, ast.AST)
                and not isinstance(child, LEFT_ALONE)
                and not _only_read(child)
            ):
                if _changeable(child):
                    yield child
                yield from places(child)


def _changeable(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    if isinstance(node, ast.Return):
        return not isinstance(node.value, ast.Constant | type(None))
    return isinstance(node, ast.Compare | ast.BinOp | ast.BoolOp | ast.Constant)


def _only_read(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        text = node.value if isinstance(node.value, str) else "-"
        return node.value is None or node.value is ... or not text or text.count(" ") > 2  # noqa: PLR2004 - a sentence
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    named = isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
    checked = isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"
    typed = isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in {
        "Literal",
        "Callable",
    }
    formal = isinstance(node, ast.keyword) and node.arg in FORMAL
    return docstring or named or checked or typed or formal


def change(node: ast.AST) -> str | None:
    """Change a node in place; returns what was done, or None where there is nothing to do."""
    before = ast.unparse(node)
    if isinstance(node, ast.Compare):
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[assignment]
    elif isinstance(node, (ast.BinOp, ast.BoolOp)):
        if type(node.op) not in SWAPS:
            return None
        node.op = SWAPS[type(node.op)]()  # type: ignore[assignment]
    elif isinstance(node, ast.UnaryOp):
        node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
    elif isinstance(node, ast.Return):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.Constant):
        node.value = _other(node.value)
    return f"{before}  ->  {ast.unparse(node)}"


def _other(value: object) -> object:
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return value + "XX" if isinstance(value, str) else b"XX"


def mutants(module: str, seed: int) -> Iterator[Mutant]:
    """Yield every mutant of a module, in an order drawn by the seed and the module's name alone."""
    nodes = list(enumerate(places(_tree(module))))
    random.Random(f"{seed} {module}").shuffle(nodes)  # noqa: S311 - a sample, not a secret
    for number, node in nodes:
        if (what := change(copy.deepcopy(node))) is not None:
            yield Mutant(module, getattr(node, "lineno", 0), what, number)


def _tree(module: str) -> ast.Module:
    return ast.parse((ROOT / f"{module}.py").read_text(encoding="utf-8"))


def copied(folder: Path) -> Path:
    """Copy the checkout; where links lead to the rooms there stand the rooms themselves."""
    for name in ("reelbench", "tests", "tools", "perf", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder.parent / "shared").symlink_to(shared)
    return folder


@dataclass(frozen=True)
class Run:
    """How a module's tests ended in a copy: "passed", "failed" or "time out", and what they printed."""

    ended: str
    output: str

    @property
    def measures(self) -> bool:
        """Whether a mutant can be held to these tests: some ran, and none failed."""
        return self.ended == "passed" and bool(self.count("passed"))

    @property
    def failed_test(self) -> str:
        """The test that failed, as pytest names it; "" where none did."""
        match = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", self.output, re.MULTILINE)
        return match[1] if match else ""

    def count(self, state: str) -> int:
        """How many tests ended so, by pytest's summary; warnings of what ends with the process may stand below it."""
        numbers = re.findall(rf"^.*\b(\d+) {state}\b.* in [\d.]+s\b", self.output, re.MULTILINE)
        return int(numbers[-1]) if numbers else 0


def run_tests(folder: Path, module: str, timeout: float) -> Run:
    """Run a module's tests in a copy."""
    for cached in (folder / "reelbench" / module).parent.glob("__pycache__/*"):
        cached.unlink()  # two mutants made within one second may have the same size, and so look the same
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-m", "not lmms and not browser", *(f"tests/{file}" for file in TESTS[module])]
    environ = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "COLUMNS": "200",
        "TMPDIR": str(folder.parent),
    }
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environ,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            return Run("time out", "")
        finally:
            _end(process)
        printed.seek(0)
        output = printed.read().decode(errors="replace").rstrip()
    return Run("failed" if status else "passed", output)


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # and whatever a stopped test had started
    process.wait()


def sample(modules: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw `number` mutants, as many of each module as there are."""
    left = [mutants(module, seed) for module in modules]
    drawn: list[Mutant] = []
    while left and len(drawn) < number:
        for source in list(left):
            mutant = next(source, None)
            if mutant is None:
                left.remove(source)
            elif len(drawn) < number:
                drawn.append(mutant)
    return sorted(drawn, key=lambda mutant: (mutant.module, mutant.line))


class Copies:
    """Copies of the checkout, in each of which one module's tests run at a time."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._free: SimpleQueue[Path] = SimpleQueue()
        for folder in folders:
            self._free.put(folder)
        self.unchanged: dict[tuple[str, ...], tuple[Run, float]] = {}
        """Tests -> how they end without a change, and after how many seconds."""

    def run_unchanged(self, module: str) -> None:
        """Run a module's tests as it is."""
        folder = self._free.get()
        started = time.monotonic()
        run = run_tests(folder, module, 1800)
        self.unchanged[tuple(TESTS[module])] = (run, time.monotonic() - started)
        self._free.put(folder)

    def run_mutant(self, mutant: Mutant) -> Run:
        """Run a mutant's tests."""
        folder = self._free.get()
        file = folder / "reelbench" / f"{mutant.module}.py"
        original = file.read_text(encoding="utf-8")
        file.write_text(mutant.text, encoding="utf-8")
        run = run_tests(
            folder, mutant.module, 30 + 5 * self.unchanged[tuple(TESTS[mutant.module])][1]
        )
        file.write_text(original, encoding="utf-8")
        self._free.put(folder)
        return run


def measure(drawn: Sequence[Mutant], jobs: int, out: TextIO | None) -> bool:
    """Run mutants, `jobs` at once, and print each as it ends and what survived.

    Returns whether nine in ten of those that could be measured were killed.
    """

    def tell(line: str) -> None:
        for stream in filter(None, (sys.stdout, out)):
            print(line, file=stream, flush=True)

    survivors: list[Mutant] = []
    killed = 0
    with ExitStack() as stack:
        places = [stack.enter_context(tempfile.TemporaryDirectory()) for _ in range(jobs)]
        copies = Copies([copied(Path(place) / "checkout") for place in places])
        pool = stack.enter_context(ThreadPoolExecutor(jobs))
        list(
            pool.map(
                copies.run_unchanged,
                {tuple(TESTS[mutant.module]): mutant.module for mutant in drawn}.values(),
            )
        )
        measured: list[Mutant] = []
        for module, number in Counter(mutant.module for mutant in drawn).items():
            run, seconds = copies.unchanged[tuple(TESTS[module])]
            if run.measures:
                measured += (mutant for mutant in drawn if mutant.module == module)
                tell(
                    f"{module}: {run.count('passed')} tests, {run.count('skipped')} skipped, "
                    f"{seconds:.0f} s"
                )
            else:
                why = run.failed_test or run.output.rpartition("\n")[2] or run.ended
                tell(f"{module}: NOT MEASURED ({number} mutants): {why}")
        waiting = {pool.submit(copies.run_mutant, mutant): mutant for mutant in measured}
        for number, future in enumerate(as_completed(waiting), start=1):
            mutant, run = waiting[future], future.result()
            if run.ended == "passed":
                survivors.append(mutant)
            else:
                killed += 1
            state = {"passed": "SURVIVED", "failed": "killed", "time out": "killed (time out)"}[
                run.ended
            ]
            tell(f"{number}/{len(measured)} {state}  {mutant}  {run.failed_test}".rstrip())
    tell(f"{killed} of {len(measured)} killed, {100 * killed / max(1, len(measured)):.1f} %")
    if len(measured) < len(drawn):
        tell(f"{len(drawn) - len(measured)} not measured")
    for mutant in sorted(survivors, key=lambda mutant: (mutant.module, mutant.line)):
        tell(f"  {mutant}")
    return killed >= 0.9 * len(measured)


def _named(name: str) -> list[str]:
    """The modules of the table that a room's or a module's name stands for."""
    if modules := [module for module in TESTS if module == name or module.startswith(f"{name}/")]:
        return modules
    raise argparse.ArgumentTypeError(f"{name} is no room and no module of the table TESTS")


def _place(text: str) -> tuple[str, int]:
    module, _, line = text.removeprefix("./").replace(".py:", ":").partition(":")
    if module in TESTS and line.isdecimal():
        return module, int(line)
    raise argparse.ArgumentTypeError(f"{text} is not ROOM/NAME:LINE of a module of the table TESTS")


def main() -> int:
    """Run a sample and print what survived; ends with 1 where less than nine in ten were killed."""
    parser = argparse.ArgumentParser(
        description="Change what decides a number and see whether tests notice."
    )
    parser.add_argument(
        "--sample", type=int, default=120, help="mutants in all, as many of each module"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--part", default="1/1", metavar="K/N", help="the Kth of N parts of the sample"
    )
    parser.add_argument(
        "--module", action="extend", type=_named, metavar="ROOM[/NAME]", help="only this one"
    )
    parser.add_argument(
        "--only", action="append", type=_place, metavar="ROOM/NAME:LINE", help="every mutant there"
    )
    parser.add_argument("--list", action="store_true", help="print what is drawn, and run nothing")
    parser.add_argument(
        "--jobs", type=int, default=1, help="mutants at once, each in a copy of its own"
    )
    parser.add_argument("--out", type=Path, help="a file for what is printed")
    options = parser.parse_args()
    if options.only:
        modules = dict.fromkeys(module for module, _ in options.only)
        drawn = [
            m
            for module in modules
            for m in mutants(module, options.seed)
            if (module, m.line) in options.only
        ]
    else:
        drawn = sample(options.module or list(TESTS), options.sample, options.seed)
    part, parts = map(int, options.part.split("/"))
    drawn = drawn[len(drawn) * (part - 1) // parts : len(drawn) * part // parts]
    if options.list:
        print(*drawn, sep="\n")
        return 0
    with ExitStack() as stack:
        out = stack.enter_context(options.out.open("w", encoding="utf-8")) if options.out else None
        return 0 if measure(drawn, options.jobs, out) else 1


if __name__ == "__main__":
    sys.exit(main())
