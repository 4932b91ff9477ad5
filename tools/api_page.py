"""`docs/api.md`: the public functions and classes, each with its signature and its docstring."""

import ast
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import reelbench

FOR_PACKAGES = {
    "reelbench.registry.spec": (
        "BenchmarkSpec",
        "SplitSpec",
        "HubFile",
        "UrlFile",
        "LocalFile",
        "MediaSource",
        "ImageFolders",
        "TaskSpec",
        "OptionWords",
        "Metric",
        "Mean",
        "Macro",
        "MeanOf",
        "Corpus",
        "Facet",
        "JudgeSpec",
        "Paper",
        "PublishedResult",
    ),
    "reelbench.base.files": ("read_json", "read_jsonl"),
    "reelbench.tasks.submissions": ("Questions", "Prediction", "Reference"),
    "reelbench.scoring.hf_metrics": ("TemporalSpan", "Choice", "TextOverlap", "ExactMatch"),
}
"""What the package of another benchmark imports, beside the Python face; all else may change with any version."""

_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises):$")
_DEFAULT = re.compile(r" = field\(default(?:_factory)?=(\w+).*")
_ENTRY = re.compile(r"^    (\*{0,2}\w+):\s+(.*)")


def names() -> Iterator[tuple[str, str]]:
    """Yield (module, name) of everything that the page lists."""
    yield from _face()
    yield from _for_packages()


def _face() -> Iterator[tuple[str, str]]:
    yield from (("reelbench", name) for name in reelbench.__all__ if not name.startswith("__"))


def _for_packages() -> Iterator[tuple[str, str]]:
    for module, listed in FOR_PACKAGES.items():
        yield from ((module, name) for name in listed)


def api_page() -> str:
    """Return `docs/api.md`."""
    face = "".join(_entry(module, name) for module, name in _face())
    for_packages = "".join(_entry(module, name) for module, name in _for_packages())
    return (
        "# From Python\n\n`make docs` writes this page. `import reelbench` is fast: large "
        "packages are loaded when "
        "they are needed. `reelbench.__version__` is the installed version.\n\n"
        f"<!-- contents -->\n<!-- /contents -->\n{face}\n"
        "# For the package of another benchmark"
        "\n\nA Python package that declares a benchmark can import these "
        "(`docs/recipes/add_benchmark.md`).\n"
        f"{for_packages}"
    )


def _entry(module: str, name: str) -> str:
    node = definition(module, name)
    signature, prose = _signature(node, module), _prose(ast.get_docstring(node) or "")
    entry = f"\n## {module}.{name}\n\n```python\n{signature}\n```\n\n{prose}\n"
    methods = [
        part
        for part in deepcopy(node.body)
        if isinstance(part, ast.FunctionDef) and part.name[0] != "_"
    ]
    for method in methods if module == "reelbench" and isinstance(node, ast.ClassDef) else ():
        method.args.args = method.args.args[1:]  # without `self`
        if not method.decorator_list:
            told = _prose(ast.get_docstring(method) or "")
            entry += (
                "\n### "
                f"{name}.{method.name}\n\n```python\n{_signature(method, module)}\n```\n\n{told}\n"
            )
    return entry


@cache
def _tree(module: str) -> ast.Module:
    origin = (find_spec(module) or find_spec("reelbench")).origin  # type: ignore[union-attr]
    return ast.parse(Path(origin or "").read_text(encoding="utf-8"))


def definition(module: str, name: str) -> ast.FunctionDef | ast.ClassDef:
    """Return a name's definition, from the source: nothing heavy is imported, and types stand as they were written."""
    for node in ast.walk(_tree(module)):
        overloads = "overload" in map(ast.unparse, getattr(node, "decorator_list", ()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name and not overloads:
            return node
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return definition(node.module or "", name)
    raise LookupError(f"{module} has no {name}")


def _fields(node: ast.ClassDef, module: str) -> dict[str, str]:
    """The fields of a class that is made by keyword (a keyword-only dataclass), its bases' first."""
    found: dict[str, str] = {}
    for base in node.bases:
        if isinstance(parent := _base(ast.unparse(base), module), ast.ClassDef):
            found |= _fields(parent, module)
    for one in node.body:
        if (
            isinstance(one, ast.AnnAssign)
            and isinstance(one.target, ast.Name)
            and not one.target.id.startswith("_")
        ):
            text = ast.unparse(one)
            if "ClassVar" not in text and "init=False" not in text:
                found[one.target.id] = re.sub(
                    r" = field\(default_factory=(\w+).*| = field\(default=(\w+).*", r" = \1\2", text
                )
    return found


def _base(name: str, module: str) -> ast.AST | None:
    try:
        return definition(module, name)
    except LookupError:
        return next(
            (definition(m, name) for m in ("reelbench.llm.ask_options",) if name == "AskOptions"),
            None,
        )


def _signature(node: ast.FunctionDef | ast.ClassDef, module: str) -> str:
    if isinstance(node, ast.ClassDef):
        keywords = any(
            "kw_only=True" in ast.unparse(decorator) for decorator in node.decorator_list
        )
        lines = _fields(node, module).values() if keywords and module == "reelbench" else ()
        return f"class {node.name}" + (
            f"(\n    *,\n{''.join(f'    {one},{chr(10)}' for one in lines)})" if lines else ""
        )
    given = node.args
    several = [*given.posonlyargs, *given.args]
    before = len(several) - len(given.defaults)
    shown = [
        _typed(one, value)
        for one, value in zip(several, [None] * before + given.defaults, strict=True)
    ]
    shown += (
        [f"*{_typed(given.vararg, None)}"] if given.vararg else ["*"] if given.kwonlyargs else []
    )
    shown += [
        _typed(one, value) for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    shown += [f"**{_typed(given.kwarg, None)}"] if given.kwarg else []
    returns = f" -> {_type(node.returns)}" if node.returns else ""
    inner = f"\n{''.join(f'    {one},{chr(10)}' for one in shown)}" if shown else ""
    return f"{node.name}({inner}){returns}"


def _typed(argument: ast.arg, default: ast.expr | None) -> str:
    text = f"{argument.arg}: {_type(argument.annotation)}" if argument.annotation else argument.arg
    return text if default is None else f"{text} = {ast.unparse(default)}"


def _type(annotation: ast.expr) -> str:
    return (
        str(annotation.value) if isinstance(annotation, ast.Constant) else ast.unparse(annotation)
    )


def _prose(text: str) -> str:
    """Return a docstring as Markdown: its sections' entries become lists, what is set in stays code."""
    lines, section = [], ""
    for line in text.splitlines():
        match, entry = _SECTION.match(line), _ENTRY.match(line)
        if match:
            section = match[1]
            lines += [f"**{section}**", ""]
        elif section in ("Args", "Attributes", "Raises") and entry:
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        elif section in ("Returns", "Yields") and line.startswith("    "):
            lines.append(line.strip())
        else:
            lines.append(line if not section or not line.strip() else f"  {line.strip()}")
    return "\n".join(lines)
