"""`docs/api.md`: the public functions and classes, each with its signature and its docstring."""

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module

import reelbench

ROOMS = {
    "reelbench.registry": ("get", "load", "locate", "specs"),
    "reelbench.registry.frames": ("take",),
    "reelbench.judges.temporal_span": ("compute_score",),
    "reelbench.judges.choice": ("compute_score",),
    "reelbench.judges.text_overlap": ("compute_score",),
    "reelbench.judges.exact_match": ("compute_score",),
    "reelbench.judges.hf_metrics": ("TemporalSpan", "Choice", "TextOverlap", "ExactMatch"),
    "reelbench.judges.llm": ("JudgeOptions",),
    "reelbench.judges.answers": ("parse", "strip_reasoning"),
    "reelbench.judges.agreement": ("agree", "cohen_kappa", "krippendorff_alpha"),
    "reelbench.judges.bootstrap": ("confidence_interval", "mean_over_clusters"),
    "reelbench.judges.compare": ("compare", "mcnemar"),
    "reelbench.judges.power": ("power", "smallest_difference", "videos_needed", "holm"),
    "reelbench.judges.calibration": ("calibrate",),
    "reelbench.leaderboard.store": ("add", "read", "remove"),
    "reelbench.leaderboard.recompute": ("verify",),
    "reelbench.making.readability": ("flesch_kincaid",),
}
"""What of the rooms is meant to be called from outside; the rest may change with any version."""

_SECTION = re.compile(r"^(Args|Attributes|Returns|Yields|Raises):$")
_ENTRY = re.compile(r"^    (\*{0,2}\w+):\s+(.*)")


def names() -> Iterator[tuple[str, str]]:
    """Yield (module, name) of everything that the page lists."""
    yield from (("reelbench", name) for name in reelbench.__all__ if not name.startswith("__"))
    for module, listed in ROOMS.items():
        yield from ((module, name) for name in listed)


def api_page() -> str:
    """Return `docs/api.md`."""
    head = (
        "# From Python\n\nWritten by `make docs`. `import reelbench` is cheap: what is heavy is loaded where it is "
        f"used. `reelbench.__version__` is `{reelbench.__version__}`.\n"
    )
    return head + "".join(_entry(module, name) for module, name in names())


def _entry(module: str, name: str) -> str:
    thing = getattr(import_module(module), name)
    signature = f"\n```python\n{_signature(thing, name)}\n```\n"
    return f"\n## {module}.{name}\n{signature}\n{_prose(inspect.getdoc(thing) or '')}\n"


def _signature(thing: object, name: str) -> str:
    # As it stands in the source, so that it doesn't depend on how a Python prints types.
    tree = ast.parse(inspect.getsource(inspect.getmodule(thing)))  # type: ignore[arg-type]
    node = next(node for node in tree.body if getattr(node, "name", None) == getattr(thing, "__name__", name))
    if isinstance(node, ast.ClassDef):
        return f"class {name}"
    assert isinstance(node, ast.FunctionDef)  # noqa: S101 - a module holds functions and classes
    arguments = [ast.unparse(ast.arguments([], [one], None, [], [], None, [])) for one in node.args.args]
    defaults = [ast.unparse(value) for value in node.args.defaults]
    split = len(arguments) - len(defaults)
    shown = arguments[:split] + [f"{one} = {value}" for one, value in zip(arguments[split:], defaults, strict=True)]
    shown += ["*"] if node.args.kwonlyargs else []
    for one, value in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        text = ast.unparse(ast.arguments([], [one], None, [], [], None, []))
        shown.append(text if value is None else f"{text} = {ast.unparse(value)}")
    inner = "".join(f"    {one},\n" for one in shown)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return re.sub(r"'([^']*)'(?=,$| = | *->|$)", r"\1", f"{name}(\n{inner}){returns}", flags=re.MULTILINE)


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
