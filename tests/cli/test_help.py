"""What a command says of itself: its help with examples that hold, what a shell completes, what Ctrl-C leaves."""

import math
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reelbench.cli.commands import COMMANDS as TABLE
from reelbench.registry import discovery
from reelbench.terminal.families import FAMILIES
from tests.servers.judge import Answer, JudgeServer
from tools.write_docs import commands

COMMANDS = dict(commands())
OLD = Path(__file__).parents[1] / "fixtures" / "v0_1_0"
PREDICTIONS = next((OLD / "predictions").glob("moviecore*"))


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_examples_that_it_takes(words):
    assert TABLE[words].examples, f"`reelbench {words}` has no example in its table"
    for example in TABLE[words].examples:
        own, _, _ = example.partition(" -- ")  # what follows is lmms-eval's
        with COMMANDS[words].make_context(
            words, shlex.split(own)
        ) as context:  # an option that isn't there raises
            named = {name for name in ("name", "names") if context.params.get(name)}
            for name in (context.params[key] for key in named):
                for benchmark in [name] if isinstance(name, str) else name:
                    assert discovery.find_task(benchmark) or discovery.get(benchmark)


def test_the_table_has_every_command_with_the_first_sentence_of_its_help():
    assert [*TABLE] == [*COMMANDS]
    for words, entry in TABLE.items():
        paragraph = (COMMANDS[words].help or "").split("\n\n")[0].replace("\n", " ")
        assert re.split(r"(?<=\.)\s", paragraph)[0].removesuffix(".") == entry.summary


def test_help_shows_options_families_and_then_the_examples_as_they_are_typed(reelbench):
    printed = reelbench("score", "--help", env={"COLUMNS": "80"}).stdout
    headings = [
        line for line in printed.splitlines() if line.endswith(":") and not line.startswith(" ")
    ]
    assert headings == [
        "Arguments:",
        "Options:",
        "More options (`reelbench help NAME`):",
        "Examples:",
    ]
    assert "  judge      --judge, --judge-budget, and " in printed
    assert "--judge-votes" not in printed
    assert printed.rstrip().endswith("\n  reelbench score rextime --template --output answers.csv")
    assert "-- LMMS_EVAL_ARGUMENTS" in reelbench("run", "--help").stdout.splitlines()[0]


@pytest.mark.parametrize("words", ["", *COMMANDS])
def test_a_command_s_help_fits_two_screens(words, reelbench):
    printed = reelbench(*words.split(), "--help", env={"COLUMNS": "80"}).stdout.splitlines()
    rows = sum(
        max(1, math.ceil(len(line) / 80)) for line in printed
    )  # examples are wrapped by the terminal alone
    assert rows <= 60
    assert sum(re.match(r" +(-\w, )?--\w", line) is not None for line in printed) <= 20
    assert not re.search(r"\.\.\.|[{}]", printed[0])


def test_the_top_help_is_whole_and_by_what_one_wants(reelbench):
    printed = reelbench("--help", env={"COLUMNS": "80"}).stdout
    assert "..." not in printed
    assert "…" not in printed
    top = {words.partition(" ")[0] for words in COMMANDS} - {"help"}
    assert top <= set(re.findall(r"^  (\w+)  ", printed, re.MULTILINE))
    wanted = ["Measure", "Look", "Compare and publish", "Make", "People", "Diagnose", "Manage"]
    assert re.findall(r"^(\S.*):$", printed, re.MULTILINE) == ["Options", *wanted]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_is_whole_in_its_page(family, reelbench):
    printed = reelbench("help", family, env={"COLUMNS": "80"}).stdout
    options = set(re.findall(r"--[a-z][a-z-]+", printed))
    declared = {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        for option in parameter.opts
        if getattr(parameter, "rich_help_panel", None) in FAMILIES[family].panels
        and not getattr(parameter, "hidden", False)
    }
    assert set(FAMILIES[family].main) <= options
    assert {option for option in declared if option.startswith("--")} <= options


def test_help_alone_lists_the_families(reelbench):
    printed = reelbench("help").stdout
    assert all(
        f"  {name} " in printed and family.about in printed for name, family in FAMILIES.items()
    )


def test_help_of_a_command_is_its_help_and_of_nothing_is_one_line(reelbench):
    assert (
        reelbench("help", "review", "page").stdout.rstrip()
        == reelbench("review", "page", "--help").stdout.rstrip()
    )
    done = reelbench("help", "nope")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no command 'nope'" in done.stderr


def completed(reelbench, line):
    words = line.split(" ")
    asked = {
        "_REELBENCH_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    return reelbench(env=asked).stdout.split()


def test_a_shell_completes_names_of_benchmarks_and_tasks(reelbench):
    assert {"rextime", "rextime_mini"} <= set(completed(reelbench, "reelbench score rext"))
    assert all(name.startswith("rext") for name in completed(reelbench, "reelbench score rext"))
    assert completed(reelbench, "reelbench data check mo") == ["moviechat", "moviecore"]
    assert "curve_mini" in completed(reelbench, "reelbench ask rextime_mini ")
    assert completed(reelbench, "reelbench leaderb") == ["leaderboard"]


@pytest.fixture
def heeds_interrupts():
    """A suite that a script runs in the background ignores the signal, and so would what it starts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.usefixtures("heeds_interrupts")
def test_ctrl_c_ends_with_130_and_says_that_the_same_command_goes_on(tmp_path, program):
    files = ["score", "moviecore", "--predictions", PREDICTIONS, "--split", "mini", "--no-overlap"]
    asked = threading.Event()

    def never_answers(_):
        asked.set()
        return Answer(delay=600)

    with JudgeServer(never_answers) as server:
        process = subprocess.Popen(
            [
                program,
                *files,
                "--judge",
                "m",
                "--judge-url",
                server.url,
                "--output",
                tmp_path / "out",
            ],
            env={**os.environ, "REELBENCH_JUDGE_API_KEY": "x"},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert asked.wait(timeout=300)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=300)
    assert process.returncode == 130
    *_, last = said.strip().splitlines()
    assert last == "stopped; rerun the command to resume: nothing is paid for twice"
