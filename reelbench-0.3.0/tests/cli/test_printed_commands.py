"""Every command that a message, a page or a file of ours prints is one that the command line takes.

What is printed stands in string literals and in the package's text files. Placeholders of f-strings
count as one word.
"""

import ast
import re
import shlex
from pathlib import Path

import pytest

import reelbench
from reelbench.base.errors import InputError
from tools.write_docs import commands

PACKAGE = Path(reelbench.__file__).parent
COMMANDS = dict(commands())
TEXTS = (".md", ".html", ".txt", ".js", ".yaml", ".json")
PLACEHOLDER = "X1"
QUOTED = re.compile(r"`(reelbench [^`]+)`")
PLAIN = re.compile(r"(?:^|[\n:,.(“\"] ?|e\.g\. |or |run )\s*(reelbench [a-z][^\n`;”]*)")
ENDS = re.compile(r"\"[,)]|\"$| \(|, | #|, or |\. |\)|…|\\$| takes | has no |$")


def literals(path):
    """Yield the lines and texts of a module's strings, but for docstrings, f-strings whole."""
    tree = ast.parse(path.read_text("utf-8"))
    passed_over = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            passed_over.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            passed_over.update(id(part) for part in node.values)
    for node in ast.walk(tree):
        if id(node) in passed_over:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.JoinedStr):
            parts = []
            for part in node.values:
                is_text = isinstance(part, ast.Constant)
                parts.append(part.value if is_text else PLACEHOLDER)
            yield node.lineno, "".join(parts)


def printed():
    """Yield (place, command) of everything that is printed."""
    for path in sorted(PACKAGE.rglob("*")):
        place = path.relative_to(PACKAGE)
        if path.suffix == ".py":
            for line, text in literals(path):
                for command in commands_in(text):
                    yield f"{place}:{line}", command
        elif path.suffix in TEXTS:
            text = path.read_text("utf-8")
            for command in commands_in(re.sub(r"\$?\{[^{}\n]*\}+", PLACEHOLDER, text)):
                yield str(place), command


def commands_in(text):
    text = text.replace("\\\n", " ")
    found = QUOTED.findall(text)
    for command in PLAIN.findall(QUOTED.sub("", text)):
        found.append(command[: ENDS.search(command).start()])
    return [command for command in found if command_of(command)]


def command_of(line):
    """Return the words of the command that a line begins with, the longest that there are."""
    words = line.split()[1:]
    for length in (3, 2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS:
            return name
    return None


PRINTED = sorted({(command, place) for place, command in printed()})


def test_the_commands_are_found():
    assert len(PRINTED) > 90
    assert commands_in("so: reelbench list (and more), or `reelbench view RUN`; end") == [
        "reelbench view RUN",
        "reelbench list",
    ]


@pytest.mark.parametrize("line", sorted({command for command, _ in PRINTED}))
def test_a_printed_command_is_taken_as_it_is_printed(line):
    places = [place for command, place in PRINTED if command == line]
    words = command_of(line)
    own, _, _ = line.partition(" -- ")  # what follows is lmms-eval's
    arguments = shlex.split(own)[1 + len(words.split()) :]
    command = COMMANDS[words]
    options = {name for parameter in command.params for name in parameter.opts}
    typed_options = [argument for argument in arguments if argument.startswith("--")]
    assert set(typed_options) <= {*options, "--help"}, places
    if arguments == typed_options:
        return  # the command is named, with an option of it
    try:
        command.make_context(words, arguments).close()
    except InputError as error:
        pytest.fail(f"{places}: {error}")
