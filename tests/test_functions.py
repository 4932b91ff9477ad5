"""No function of the product is long, and none takes many parameters but a command, whose options these are."""

import ast
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = [
    *("reelbench", "studio", "leaderboard", "hub_cards", "methods", "tasks", "scoring", "judges", "llm", "pages"),
    *("stats", "registry", "tools", "perf"),
]
MOST_LINES, MOST_PARAMETERS = 80, 8
PLACES = {"self", "cls"}

MODULES = {
    file.relative_to(ROOT): ast.parse(file.read_text(encoding="utf-8"))
    for room in ROOMS
    for file in sorted((ROOT / room).rglob("*.py"))
}


def functions(room):
    for file, module in MODULES.items():
        if file.parts[0] == room:
            yield from ((file, node) for node in ast.walk(module) if isinstance(node, ast.FunctionDef))
            yield from ((file, node) for node in ast.walk(module) if isinstance(node, ast.AsyncFunctionDef))


def parameters(function):
    given = chain(function.args.posonlyargs, function.args.args, function.args.kwonlyargs)
    return [parameter.arg for parameter in given if parameter.arg not in PLACES]


@cache
def groups(file):
    calls = [node for node in ast.walk(MODULES[file]) if isinstance(node, ast.Call)]
    return {ast.unparse(call.args[1]) for call in calls if ast.unparse(call.func) == "takes" and len(call.args) > 1}


def declares_options(file, function):
    """Whether the parameters are options: of a command, or of a group of them that `takes` hands on to several."""
    if not {"cli", "commands", "command.py"} & set(file.parts[1:]):
        return False
    options = [parameter for parameter in function.args.kwonlyargs if "typer.Option" in ast.unparse(parameter)]
    return bool(options) or function.name in groups(file) or any(map(is_command, function.decorator_list))


def is_command(decorator):
    return ast.unparse(decorator).startswith(("app.command", "takes"))


def test_the_scan_tells_options_from_parameters():
    rooms = ("reelbench", "studio")
    commands = [node.name for room in rooms for file, node in functions(room) if declares_options(file, node)]
    assert {"score", "judge_options", "page", "discussion"} <= set(commands)
    assert not {"write_template", "draw_content", "commands_of"} & set(commands)


@pytest.mark.parametrize("room", ROOMS)
def test_no_function_is_long_or_takes_many_parameters(room):
    long, many = [], []
    for file, function in functions(room):
        where = f"{file}:{function.lineno} {function.name}"
        if function.end_lineno - function.lineno >= MOST_LINES:
            long.append(where)
        if len(parameters(function)) > MOST_PARAMETERS and not declares_options(file, function):
            many.append(where)
    assert (long, many) == ([], [])
