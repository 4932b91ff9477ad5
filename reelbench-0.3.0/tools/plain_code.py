"""Hold product code to the rules of "Plain code" in CONTRIBUTING.md that ruff does not have.

`python -m tools.plain_code [PATH…]` prints a line for each place that breaks one, and then ends
with 1.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
CLAUSE = re.compile(r"(Return )?(what|who|whose|whom|whether|how|which|where)\b", re.IGNORECASE)
MOST_WORDS = 15
NO_NAMES = frozenset(
    {
        "found",
        "given",
        "known",
        "made",
        "one",
        "some",
        "held",
        "kept",
        "theirs",
        "said",
        "meant",
        "had",
        "there",
        "here",
        "other",
        "others",
        "own",
        "left",
        "lost",
        "asked",
        "taken",
        "told",
        "wanted",
        "stated",
        "got",
        "shown",
        "put",
        "had_",
        "all_",
        "them",
        "it",
    }
)


def faults(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the fault of each place in a module that breaks a rule."""
    fields = _fields(tree)
    for node in ast.walk(tree):
        if isinstance(node, COMPREHENSIONS):
            yield from _of_comprehension(node)
        elif isinstance(node, ast.NamedExpr):
            yield node.lineno, "assignment in an expression: write the assignment"
        elif isinstance(node, ast.IfExp | ast.JoinedStr | ast.Call):
            yield from _of_expression(node)
        elif isinstance(node, ast.BinOp | ast.Starred):
            yield from _of_trick(node)
        elif isinstance(node, DOCUMENTED):
            yield from _of_docstring(node)
        name = _bound_name(node)
        if name in NO_NAMES and node not in fields:
            yield node.lineno, f"{name}: a name says what the thing is"


def _fields(tree: ast.AST) -> set[ast.AST]:
    """Return the targets of annotated fields: files and other packages hold these names."""
    fields: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            fields.update(part.target for part in node.body if isinstance(part, ast.AnnAssign))
    return fields


def _of_comprehension(node: ast.expr) -> Iterator[tuple[int, str]]:
    inner = [part for part in ast.walk(node) if part is not node]
    if any(isinstance(part, COMPREHENSIONS) for part in inner):
        yield node.lineno, "a comprehension in a comprehension: write a loop"
    if len(node.generators) > 1:
        yield node.lineno, "a comprehension with two `for`s: write a loop"
    if any(isinstance(part, ast.IfExp) for part in inner):
        yield node.lineno, "a conditional value in a comprehension: write a loop"


def _of_expression(node: ast.expr) -> Iterator[tuple[int, str]]:
    parts = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call):
        parts += [keyword.value for keyword in node.keywords]
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
    for part in parts:
        if isinstance(part, ast.IfExp):
            yield part.lineno, "a conditional expression inside another expression: write an if"


def _of_trick(node: ast.expr) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Starred):
        tricky = isinstance(node.value, ast.IfExp | ast.List | ast.Tuple)
    else:
        sides = [node.left, node.right]
        called = [getattr(getattr(side, "func", None), "id", "") for side in sides]
        truths = [isinstance(side, ast.Compare | ast.BoolOp) for side in sides]
        tricky = isinstance(node.op, ast.Mult) and ("bool" in called or any(truths))
    if tricky:
        yield node.lineno, "a value out of a trick: write an if"


def _of_docstring(node: ast.AST) -> Iterator[tuple[int, str]]:
    text = ast.get_docstring(node)
    if not text:
        return
    first = text.splitlines()[0]
    if CLAUSE.match(text):
        yield node.lineno, f"{node.name}: its docstring begins with a clause"
    if len(first.split()) > MOST_WORDS:
        yield node.lineno, f"{node.name}: its docstring's first line has over {MOST_WORDS} words"


def _bound_name(node: ast.AST) -> str | None:
    if isinstance(node, ast.arg):
        return node.arg
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return node.id
    return None


def main() -> int:
    """Print the faults of the product's files, or of those named; return the exit status."""
    places = [Path(name) for name in sys.argv[1:]] or [Path("reelbench")]
    files: list[Path] = []
    for place in places:
        files += sorted(place.rglob("*.py")) if place.is_dir() else [place]
    lines = []
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        lines += [f"{file}:{number}: {fault}" for number, fault in sorted(set(faults(tree)))]
    print("\n".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
