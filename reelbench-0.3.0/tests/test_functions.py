"""No function of the product is long, and none takes many parameters but a command, whose options these are."""

import ast
from functools import cache
from itertools import chain

import pytest

from reelbench.cli.commands import COMMANDS
from tests.rooms import PACKAGE, ROOMS, modules

FOLDERS = (PACKAGE.name, *ROOMS, "tools", "perf")
MOST_LINES, MOST_PARAMETERS = 120, 8
PLACES = {"self", "cls"}


@cache
def tree(file):
    return ast.parse(file.read_text(encoding="utf-8"))


def functions(folder):
    for file in modules(folder):
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield file, node


def parameters(function):
    given = chain(function.args.posonlyargs, function.args.args, function.args.kwonlyargs)
    return [parameter.arg for parameter in given if parameter.arg not in PLACES]


@cache
def groups(file):
    types = [node for node in ast.walk(tree(file)) if isinstance(node, ast.Subscript)]
    return {
        ast.unparse(node.slice.elts[-1]) for node in types if ast.unparse(node.value) == "Annotated"
    }


def declares_options(file, function):
    """Whether the parameters are options: of a command, or of a group of them that several commands take."""
    if not {"cli", "terminal", "commands", "command.py"} & set(file.parts):
        return False
    declared = ("typer.Option", "'--")
    options = [
        part
        for part in function.args.kwonlyargs
        if any(word in ast.unparse(part) for word in declared)
    ]
    return bool(options) or function.name in groups(file) or is_command(file, function)


def is_command(file, function):
    module = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts)
    return f"{module}:{function.name}" in {entry.place for entry in COMMANDS.values()}


def test_the_scan_tells_options_from_parameters():
    folders = ("reelbench", "terminal", "studio")
    commands = [
        node.name
        for folder in folders
        for file, node in functions(folder)
        if declares_options(file, node)
    ]
    assert {"score", "judge_options", "page", "discussion"} <= set(commands)
    assert not {"write_template", "draw_content", "commands_of"} & set(commands)


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_function_is_long_or_takes_many_parameters(folder):
    long, many = [], []
    for file, function in functions(folder):
        where = f"{file}:{function.lineno} {function.name}"
        if function.end_lineno - function.body[0].lineno >= MOST_LINES:  # options are no steps
            long.append(where)
        if len(parameters(function)) > MOST_PARAMETERS and not declares_options(file, function):
            many.append(where)
    assert (long, many) == ([], [])
