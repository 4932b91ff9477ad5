"""Run each pattern of the product on the texts that make patterns slow.

    python -m tools.linear_patterns             # run them all
    python -m tools.linear_patterns --listed    # only see that each is known, as `make lint` does

A text of one sign, or of two that take turns, over and over, makes a pattern quadratic where two
of its repeats may share it, or where it is searched from each sign anew. Each pattern is called as
the product calls it, on every such text of its own signs. What takes more than `SECONDS` of
processor time is named; a linear one takes a hundredth of it.

Patterns are read off the source. One that is put together when the product runs can't be: it
stands in `MADE`, with an example of it. Those in `OURS` read nothing that others write.
"""

import argparse
import ast
import importlib
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

LENGTH = 200_000
SECONDS = 2.0
METHODS = ("search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split")
ANSWERS = "reelbench.scoring.answers.patterns"
_SEVERAL = 100  # repeats that count as many as one likes
_MOST_SIGNS = 8

OURS: dict[str, str] = {
    "reelbench.terminal.app:_TYPE": "the help of our own options",
    "reelbench.llm.reading:_REFUSAL": "a text of 400 characters at most",
}
"""Module and pattern -> why it reads no long text of others."""

MADE: dict[str, str] = {
    "reelbench.cli.evaluate:_adapter_of_checkpoint": "names of adapters that we know, searched in a model's type",
    "reelbench.data.fetch:_source_of": "a media source of ours",
    "reelbench.data.row_tables:_rows_of_lines": "a column ends at the first place of what follows",
    "reelbench.judges.parsing:_any_of": "each is an attribute of its module, and run as such",
    "reelbench.judges.parsing:_answer_states_score": "repeats with a bound",
    "reelbench.llm.model_names:takes_completion_limit": "the user's own name of a model",
    "reelbench.llm.model_names:_is_checkpoint": "the user's own name of a model",
    "reelbench.llm.model_names:read_model_name": "the user's own name of a model",
    "reelbench.llm.refusals:_table": "words of refusals.json, with bounded joints",
    "reelbench.llm.reading:_tokens": "strings and brackets, each sign of which is read once",
    "reelbench.registry.benchmark_block:_check_text": "forms of ours, of a value with a bound",
    "reelbench.registry.declaration:_check": "the name of a folder of ours",
    "reelbench.scoring.answers.patterns:patterns_of": "the patterns of patterns.txt, which are run",
    "reelbench.studio.gates:_no_answer_pattern": "an attribute of its module, and run as such",
    "reelbench.tasks.lmms.process:_is_task_of": "a task's name, without repeats",
    "reelbench.video.picture_folders:_pictures_in": "a pattern of ours, of a file's name",
}
"""Module and function that makes a pattern -> what it is made of."""


@dataclass(frozen=True, slots=True)
class Written:
    """A pattern as it is written in the source, and the ways in which it is called."""

    place: str
    pattern: re.Pattern[str]
    methods: tuple[str, ...]


def all_patterns() -> tuple[list[Written], list[str]]:
    """Return the patterns of the product, and the places of those that can't be read."""
    trees: dict[str, ast.Module] = {}
    for file in sorted(Path("reelbench").rglob("*.py")):
        name = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
        trees[name] = ast.parse(file.read_text(encoding="utf-8"))
    calls = _Calls(trees)
    written: list[Written] = []
    unread: list[str] = []
    for name, tree in trees.items():
        if not any(_is_of_re(node) for node in ast.walk(tree)):
            continue
        module = importlib.import_module(name)
        for function, node, target in _makers(tree):
            pattern = _pattern_of(node, module)
            if pattern is None:
                unread.append(f"{name}:{function}")
                continue
            methods = calls.of(name, target)
            if node.func.attr != "compile":
                methods = (node.func.attr,)
            place = f"{name}:{target or pattern.pattern}"
            written.append(Written(place, pattern, methods))
        written += _of_attributes(name, module, calls)
    written += _of_answers(calls)
    return list(dict.fromkeys(written)), unread


def _is_of_re(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    is_re = isinstance(node.func.value, ast.Name) and node.func.value.id == "re"
    return is_re and node.func.attr in (*METHODS, "compile")


def _makers(tree: ast.Module) -> Iterator[tuple[str, Any, str]]:
    """Yield each call of `re`, behind its function's name, before the name that it gets."""
    targets: dict[ast.AST, str] = {}
    functions: dict[ast.AST, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            targets[node.value] = node.targets[0].id
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.update(dict.fromkeys(ast.walk(node), node.name))
    for node in ast.walk(tree):
        if _is_of_re(node):
            yield functions.get(node, ""), node, targets.get(node, "")


def _pattern_of(call: Any, module: ModuleType) -> re.Pattern[str] | None:  # noqa: ANN401 - of `re`
    """Return the pattern that a call makes; None where the module alone doesn't say it."""
    flags: Any = 0
    texts = {"compile": 1, "sub": 3, "subn": 3}.get(call.func.attr, 2)
    if call.func.attr != "split" and len(call.args) > texts:
        flags = call.args[texts]
    for keyword in call.keywords:
        if keyword.arg == "flags":
            flags = keyword.value
    with suppress(NameError, AttributeError, TypeError):
        text = _value_of(call.args[0], module)
        number = _value_of(flags, module) if isinstance(flags, ast.AST) else flags
        if isinstance(text, str):
            return re.compile(text, number)
    return None


def _value_of(node: Any, module: ModuleType) -> Any:  # noqa: ANN401 - whatever it is
    code = compile(ast.Expression(node), "<pattern>", "eval")
    return eval(code, vars(module))  # noqa: S307 - an expression of our own source


class _Calls:
    """The methods that are called of each name."""

    def __init__(self, trees: dict[str, ast.Module]) -> None:
        self._methods: dict[tuple[str, str], set[str]] = {}
        for module, tree in trees.items():
            for node in ast.walk(tree):
                if not isinstance(node, ast.Attribute) or node.attr not in METHODS:
                    continue
                holder = node.value
                name = getattr(holder, "id", "") or getattr(holder, "attr", "")
                # A private name is its module's own.
                home = module if name.startswith("_") else ""
                self._methods.setdefault((home, name), set()).add(node.attr)

    def of(self, module: str, name: str) -> tuple[str, ...]:
        """Return the methods of a module's pattern; two that stand for all where none is seen."""
        home = module if name.startswith("_") else ""
        return tuple(sorted(self._methods.get((home, name), {"search", "sub"})))

    def has(self, name: str) -> bool:
        """Return True where a method is called of a public name."""
        return ("", name) in self._methods


def _of_attributes(name: str, module: ModuleType, calls: _Calls) -> Iterator[Written]:
    """Yield a module's patterns that a function of it made when it was imported."""
    for attribute, value in vars(module).items():
        if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
            yield Written(f"{name}:{attribute}", value, calls.of(name, attribute))


def _of_answers(calls: _Calls) -> Iterator[Written]:
    from reelbench.scoring.answers import patterns

    for name in patterns.pattern_texts():
        if not calls.has(name) and not _is_named(name):
            continue  # a part of others
        for pattern in patterns.patterns_of(name):
            yield Written(f"{ANSWERS}:{name}", pattern, calls.of(ANSWERS, name))


def _is_named(name: str) -> bool:
    """Return True where `several` is called with a name of `patterns.txt`."""
    files = Path("reelbench/scoring/answers").rglob("*.py")
    return any(f'"{name}"' in file.read_text(encoding="utf-8") for file in files)


# --- the texts


def hostile_texts(pattern: re.Pattern[str], length: int = LENGTH) -> Iterator[str]:
    """Yield long texts of the signs that a pattern repeats, with and without a foreign end."""
    signs = list(dict.fromkeys(_repeated_signs(pattern)))[:_MOST_SIGNS]
    start = _literal_start(pattern)
    units = [*signs, *("".join(pair) for pair in combinations(signs, 2))]
    if start:
        units += [start, *(start + sign for sign in signs)]
    for unit in dict.fromkeys(units):
        text = unit * (length // len(unit))
        yield text
        yield f"{text}\x00"
        if start:
            yield f"{start}{text}\x00"


def _parsed(pattern: re.Pattern[str]) -> Any:  # noqa: ANN401 - a private class
    parser = importlib.import_module("re._parser")
    return parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


def _literal_start(pattern: re.Pattern[str]) -> str:
    start = ""
    for operation, value in _parsed(pattern):
        if str(operation) != "LITERAL":
            break
        start += chr(value)
    return start


def _repeated_signs(pattern: re.Pattern[str]) -> Iterator[str]:
    """Yield a sign of each class that stands under a repeat without a bound."""

    def walk(parts: Any, *, is_repeated: bool) -> Iterator[str]:  # noqa: ANN401 - a private class
        for operation, value in parts:
            name = str(operation)
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                most = value[1]
                is_long = not isinstance(most, int) or most >= _SEVERAL or is_repeated
                yield from walk(value[2], is_repeated=is_long)
            elif name == "BRANCH":
                for branch in value[1]:
                    yield from walk(branch, is_repeated=is_repeated)
            elif name in ("SUBPATTERN", "ASSERT", "ASSERT_NOT"):
                yield from walk(value[-1], is_repeated=is_repeated)
            elif name == "ATOMIC_GROUP":
                yield from walk(value, is_repeated=is_repeated)
            elif is_repeated:
                yield from _signs_of(name, value)

    yield from walk(_parsed(pattern), is_repeated=False)


_CATEGORIES = {
    "CATEGORY_DIGIT": "1",
    "CATEGORY_WORD": "a",
    "CATEGORY_SPACE": " \n",
    "CATEGORY_NOT_SPACE": "a",
    "CATEGORY_NOT_WORD": " ",
    "CATEGORY_NOT_DIGIT": "a",
}


def _signs_of(name: str, value: Any) -> Iterator[str]:  # noqa: ANN401 - as it is parsed
    if name == "LITERAL":
        yield chr(value)
    elif name in ("ANY", "NOT_LITERAL"):
        yield from "a "
    elif name == "CATEGORY":
        yield from _CATEGORIES.get(str(value), "a")
    elif name == "IN":
        if str(value[0][0]) == "NEGATE":
            excluded = set(_signs_in(value[1:]))
            yield from (sign for sign in "a 1\n-" if sign not in excluded)
        else:
            yield from _signs_in(value)


def _signs_in(value: Any) -> Iterator[str]:  # noqa: ANN401 - as it is parsed
    for operation, part in value:
        name = str(operation)
        if name == "RANGE":
            yield chr(part[0])
        elif name != "NEGATE":
            yield from _signs_of(name, part)


# --- the run


class _OverTimeError(Exception):
    """A call took more than its seconds."""


def _stop(_: int, __: FrameType | None) -> None:
    raise _OverTimeError


def is_slow(pattern: re.Pattern[str], method: str, text: str) -> bool:
    """Return True where a call takes more than `SECONDS` of processor time."""
    arguments = ("", text) if method in ("sub", "subn") else (text,)
    before = signal.signal(signal.SIGVTALRM, _stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        result = getattr(pattern, method)(*arguments)
        if method == "finditer":
            for _ in result:
                pass
    except _OverTimeError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return False


def slow_ones(patterns: list[Written]) -> Iterator[str]:
    """Yield a line for each pattern that is slow, with the text that shows it."""
    for written in patterns:
        if written.place in OURS:
            continue
        for method in written.methods:
            for text in hostile_texts(written.pattern):
                if is_slow(written.pattern, method, text):
                    yield f"{written.place}: {method} of {text[:12]!r}…{text[-4:]!r}"
                    break


def main() -> int:
    """Print what is slow or not known; return the exit status."""
    parser = argparse.ArgumentParser(description="Run each pattern on hostile texts.")
    parser.add_argument("--listed", action="store_true", help="run none of them")
    parser.add_argument("--only", default="", help="those whose place holds this")
    options = parser.parse_args()
    patterns, unread = all_patterns()
    lines = [
        f"{place}: made when it runs: put it into MADE" for place in unread if place not in MADE
    ]
    if not options.listed:
        lines += slow_ones([each for each in patterns if options.only in each.place])
    print("\n".join(lines))
    print(f"{len(patterns)} patterns, {len(unread)} made when they run", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
