"""Change the modules that decide a number, one place at a time, and see whether their tests notice.

    python -m tools.mutants --sample 120 --seed 1
    python -m tools.mutants --module leaderboard/recompute --sample 40

Each mutant is one comparison, operator, constant or return changed. It is run in a copy of the checkout, against the
tests that the table names for its module, in the table's order and up to the first failure. What survives is printed:
write the test that it lacks, or say why the change changes nothing.
"""

import argparse
import ast
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tools.link_rooms import ROOMS, ROOT

ANSWERS = [f"scoring/answers/test_{name}.py" for name in ("unseen", "reading", "forms", "languages")]
STORE = [
    f"leaderboard/test_{name}.py"
    for name in ("site", "ways", "videos", "standing", "tampering", "identity", "evidence", "store")
]
BOARD = [f"leaderboard/test_{name}.py" for name in ("overall", "published", "site", "headline", "shortcuts", "ranking")]
TESTS: dict[str, list[str]] = {
    **{f"scoring/answers/{name}": ANSWERS for name in ("json_literals", "options", "reasoning", "spans", "statements")},
    **{f"scoring/answers/{name}": ANSWERS for name in ("texts", "times", "vocabulary")},
    "scoring/answers/scored": ["scoring/answers/test_reading.py", *STORE],
    "judges/parsing": ["judges/test_parsing.py", "judges/test_thinking.py"],
    "judges/verdicts": ["judges/test_verdicts.py", "judges/test_parsing.py", "judges/test_engine.py"],
    "scoring/aggregation": [
        *(f"scoring/test_{name}.py" for name in ("aggregation", "value_bounds", "side_by_side", "comparison")),
        *("leaderboard/test_pairs.py", "tasks/test_moviecore.py", "tasks/test_rextime.py", "tasks/test_curve.py"),
    ],
    "scoring/anchors": ["leaderboard/test_rejudgement.py"],
    "scoring/calibration_file": ["leaderboard/test_about.py"],
    "scoring/candidates": ["scoring/test_candidates.py", "methods/test_repeated.py"],
    "scoring/certificate_length": ["scoring/test_certificate_length.py"],
    "scoring/choice": ["scoring/test_choice.py", "scoring/test_aggregation.py"],
    "scoring/cognitive_profile": ["scoring/test_cognitive_profile.py", "tasks/test_dramaqa_cogme.py"],
    "scoring/comparison": ["scoring/test_comparison.py", "cli/test_compare.py"],
    "scoring/exact_match": ["scoring/test_exact_match.py"],
    "scoring/judge_agreement": ["scoring/test_judge_agreement.py"],
    "scoring/label_comparison": ["scoring/test_label_comparison.py"],
    "scoring/metric_table": ["cli/test_score_output.py", "test_api.py"],
    "scoring/option_scores": ["scoring/test_option_scores.py", "leaderboard/test_ways.py"],
    "scoring/pairing": [f"scoring/test_{name}.py" for name in ("choice", "temporal_span", "text_overlap")],
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
    "scoring/videos": ["leaderboard/test_tampering.py", "leaderboard/test_site.py"],
    **{
        f"scoring/evidence/{name}": [f"scoring/evidence/test_{name}.py"]
        for name in ("findings", "graph_text", "graphs", "isolation", "tagger_agreement", "timestamps")
    },
    "scoring/evidence/graph_export": ["scoring/evidence/test_graph_drawing.py"],
    "stats/agreement": ["scoring/test_judge_agreement.py", "scoring/test_tag_agreement.py"],
    "stats/alternative_annotator": ["stats/test_alternative_annotator.py"],
    "stats/intervals": ["stats/test_intervals.py", "scoring/test_aggregation.py"],
    "stats/calibration": ["stats/test_calibration.py"],
    "stats/power": ["stats/test_power.py"],
    "stats/rank_correlation": ["scoring/test_profile_difference.py", "leaderboard/test_rejudgement.py"],
    "stats/student_t": ["stats/test_student_t.py"],
    **{
        f"leaderboard/{name}": STORE
        for name in ("against_data", "differences", "rereading", "standing", "checks", "identity", "store")
    },
    "leaderboard/recompute": [*STORE, "leaderboard/test_about.py"],
    "leaderboard/replies": [*STORE, "cli/test_judge_panel.py"],
    **{f"leaderboard/{name}": BOARD for name in ("aliases", "overall", "ranking", "headline")},
    "leaderboard/board": [*BOARD, "leaderboard/test_standing.py", "leaderboard/test_about.py"],
    "leaderboard/bridge": ["leaderboard/test_pairs.py", "leaderboard/test_rejudgement.py"],
    **{f"leaderboard/{name}": ["leaderboard/test_about.py"] for name in ("calibrations", "usage")},
    "leaderboard/choices": ["leaderboard/test_ways.py", "methods/test_ace.py", "tasks/test_every_way_is_added.py"],
    "leaderboard/columns": [
        *(f"leaderboard/{name}.py" for name in ("exports/test_tables", "test_about", "test_publish"))
    ],
    "leaderboard/common_videos": ["leaderboard/test_videos.py"],
    "leaderboard/community": ["leaderboard/test_community.py"],
    "leaderboard/easy_questions": ["leaderboard/test_overall.py", "leaderboard/test_shortcuts.py"],
    "leaderboard/entries": [*BOARD, "leaderboard/test_community.py", "leaderboard/test_about.py"],
    "leaderboard/pairs": ["leaderboard/test_pairs.py", "leaderboard/test_headline.py"],
    "leaderboard/rejudge": ["leaderboard/test_evidence.py"],
    "leaderboard/rejudgement": ["leaderboard/test_rejudgement.py"],
    "leaderboard/submission": ["leaderboard/test_submission.py"],
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
    """One changed place of a module, and the module's text with it."""

    module: str
    line: int
    what: str
    text: str


def places(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what can be changed below a node."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, LEFT_ALONE) and not _only_read(child):
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
    typed = isinstance(node, ast.Subscript) and getattr(node.value, "id", "") in {"Literal", "Callable"}
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


def mutants(module: str, draw: random.Random) -> Iterator[Mutant]:
    """Yield every mutant of a module, in an order drawn by `draw`."""
    tree = ast.parse((ROOT / f"{module}.py").read_text(encoding="utf-8"))
    order = list(range(sum(1 for _ in places(tree))))
    draw.shuffle(order)
    for number in order:
        changed = copy.deepcopy(tree)
        node = list(places(changed))[number]
        what = change(node)
        if what is not None:
            yield Mutant(module, getattr(node, "lineno", 0), what, ast.unparse(ast.fix_missing_locations(changed)))


def copied(folder: Path) -> Path:
    """Copy the checkout, with its rooms inside the package, so that no import hook is needed to find them."""
    for name in ("reelbench", "tests", "tools", "perf", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for room in ROOMS:
        shutil.copytree(ROOT / room, folder / "reelbench" / room, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (folder.parent / "shared").symlink_to(shared)
    return folder


def run_tests(folder: Path, module: str, timeout: float) -> str:
    """Run a module's tests in a copy; returns "passed", "failed" or "time out"."""
    for cached in (folder / "reelbench" / module).parent.glob("__pycache__/*"):
        cached.unlink()  # two mutants made within one second may have the same size, and so look the same
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    command += ["-m", "not lmms and not browser", *(f"tests/{file}" for file in TESTS[module])]
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            return "time out"
        finally:
            _end(process)
        output.seek(0)
        told = output.read().decode(errors="replace")
    if status not in (0, 1, 2):  # 2: the mutant can't be imported
        raise SystemExit(f"{module}: its tests can't be run\n{told}")
    return "failed" if status else "passed"


def _end(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # and whatever a stopped test had started
    process.wait()


def sample(modules: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw `number` mutants, as many of each module as there are."""
    draw = random.Random(seed)  # noqa: S311 - a sample, not a secret
    left = [mutants(module, draw) for module in modules]
    drawn: list[Mutant] = []
    while left and len(drawn) < number:
        for source in list(left):
            mutant = next(source, None)
            if mutant is None:
                left.remove(source)
            elif len(drawn) < number:
                drawn.append(mutant)
    return sorted(drawn, key=lambda mutant: (mutant.module, mutant.line))


def main() -> int:
    """Run a sample and print what survived; ends with 1 where less than nine in ten were killed."""
    parser = argparse.ArgumentParser(description="Change what decides a number and see whether tests notice.")
    parser.add_argument("--sample", type=int, default=120, help="mutants in all, as many of each module")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", default="1/1", metavar="K/N", help="the Kth of N parts of the sample")
    parser.add_argument("--module", action="append", choices=TESTS, metavar="ROOM/NAME", help="only this one")
    options = parser.parse_args()
    survivors: list[Mutant] = []
    part, parts = map(int, options.part.split("/"))
    drawn = sample(options.module or list(TESTS), options.sample, options.seed)
    drawn = drawn[len(drawn) * (part - 1) // parts : len(drawn) * part // parts]
    seconds: dict[tuple[str, ...], float] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = copied(Path(place) / "checkout")
        for number, mutant in enumerate(drawn, start=1):
            file = folder / "reelbench" / f"{mutant.module}.py"
            original = file.read_text(encoding="utf-8")
            tests = tuple(TESTS[mutant.module])
            if tests not in seconds:
                started = time.monotonic()
                if run_tests(folder, mutant.module, 900) != "passed":
                    raise SystemExit(f"{mutant.module}: its tests fail as it is")
                seconds[tests] = time.monotonic() - started
            file.write_text(mutant.text, encoding="utf-8")
            came = run_tests(folder, mutant.module, 30 + 5 * seconds[tests])
            file.write_text(original, encoding="utf-8")
            if came == "passed":
                survivors.append(mutant)
            told = "SURVIVED" if came == "passed" else "killed" if came == "failed" else "killed (time out)"
            print(f"{number}/{len(drawn)} {told}  {mutant.module}.py:{mutant.line}  {mutant.what}", flush=True)  # noqa: T201
    killed = len(drawn) - len(survivors)
    print(f"{killed} of {len(drawn)} killed, {100 * killed / max(1, len(drawn)):.1f} %")  # noqa: T201
    for mutant in survivors:
        print(f"  {mutant.module}.py:{mutant.line}  {mutant.what}")  # noqa: T201
    return 0 if killed >= 0.9 * len(drawn) else 1


if __name__ == "__main__":
    sys.exit(main())
