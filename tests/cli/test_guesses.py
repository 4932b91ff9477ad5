"""What other tools call it: each guess is taken for a line of ours, and each line that is named is one that runs."""

import re
import shlex
from pathlib import Path

import pytest

import reelbench
from reelbench.base.errors import InputError
from reelbench.cli import guesses
from reelbench.cli.commands import COMMANDS, FIRSTS
from reelbench.cli.families import EXAMPLES
from tools.write_docs import commands

KNOWN = {*COMMANDS, *FIRSTS}
WORDS = dict(commands())
FILLED = guesses.EXAMPLES | {
    "FIRST": "out/a",
    "SECOND": "out/b",
    "A": "out/a",
    "B": "out/b",
    "S": "a.srt",
    "COLON": "openai:m",
    "LOCALSERVER": "lmstudio/q",
    "OTHER": "xai/g",
    "STORE": "store",
    "X": "x",
    "F": "2",
    "T": "0",
    "P": "0.9",
    "M": "m",
    "N": "8",
}

LINE = {
    "run": "run --frames 8",
    "view": "view out/rextime_mini",
    "compare": "compare out/a out/b",
    "leaderboard": "leaderboard add out/a --store store",
    "make": "make tags rextime_mini",
}


def filled(line, begin=""):
    """A line of the table with something in each place."""

    def place(found):
        names, default = found[1].partition(".")[0].split("|"), found[2]
        if names[0] in {"0", "rest", "line", "home"}:
            typed = LINE.get(begin, f"{begin} rextime_mini --model m")
            return {"0": begin, "rest": "", "line": f"reelbench {typed}", "home": "home"}[names[0]]
        value = default or FILLED[names[-1]]
        form = found[1].partition(".")[2]
        return {
            "stem": Path(value).stem,
            "slash": value.replace(":", "/"),
            "last": value.partition("/")[2],
        }.get(form, value)

    return re.sub(r"\{([\w.|-]+)(?::([^{}]*))?\}", place, line)


def parsed(line):
    """Parse a line by the real command line; an option that isn't there raises."""
    line = shlex.split(line.partition(" -- ")[0])
    if line[-1] in {"--help", "--version"}:
        return
    words = next(
        (" ".join(line[:number]) for number in (2, 1) if " ".join(line[:number]) in WORDS), None
    )
    assert words, f"{line}: no command"
    said = ""
    try:
        WORDS[words].make_context(words, line[len(words.split()) :])
    except InputError as error:  # a name or a file that a line is not about may be missing
        said = str(error)
    assert not re.search("no such option|requires an argument", said), (
        f"`{shlex.join(line)}`: {said}"
    )


def begin_of(guess):
    return guess.split(" ")[0].split("|")[0]


@pytest.mark.parametrize("guess", guesses.LINES)
def test_what_a_guess_is_taken_for_is_a_command_with_options_that_are_there(guess):
    begin = begin_of(guess)
    parsed(filled(guesses.LINES[guess], "score" if begin == "*" else begin))


@pytest.mark.parametrize("guess", guesses.SAID)
def test_every_line_that_is_named_is_a_command_with_options_that_are_there(guess):
    begin = begin_of(guess)
    text = filled(guesses.SAID[guess], "score" if begin == "*" else begin)
    for quoted in re.findall(r"`([^`]+)`", text):
        for line in re.findall(
            r"^(?:\w+=\S+ )*reelbench ([^`;&]+)|(?:&& |do |')reelbench ([^`;&']+)", quoted
        ):
            if not "".join(line).startswith("-"):
                parsed("".join(line).strip())


@pytest.mark.parametrize("guess", [*guesses.LINES, *guesses.SAID])
def test_no_guess_is_what_a_command_has_itself(guess):
    words, _, _ = guess.partition(" -")
    options = [
        option
        for part in re.findall(r"(?<!\S)(-[^ ]+)(?! [a-z0])(?=\s|$)", guess)
        for option in part.split("|")
    ]
    for first in words.split(" ")[0].split("|"):
        own = WORDS.get(first)
        if own is not None and options and len(words.split()) == 1:
            there = {option for part in own.params for option in part.opts if not part.hidden}
            assert len(options) > len({*options} & there), f"{first} has {options} itself"


@pytest.mark.parametrize("words", WORDS)
def test_no_option_of_ours_is_taken_for_another(words, capsys):
    for parameter in WORDS[words].params:
        for option in () if parameter.hidden else (*parameter.opts, *parameter.secondary_opts):
            typed = [
                *words.split(),
                *([option] if getattr(parameter, "is_flag", False) else [option, "5"]),
                "--",
            ]
            assert not option.startswith("-") or guesses.correct_arguments(typed, KNOWN) == typed
    assert not capsys.readouterr().err


@pytest.mark.parametrize("words", WORDS)
def test_no_line_of_ours_is_taken_for_another(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for folder in ("out", "store", "build", "add", "rextime_mini", "agree", *words.split()):
        (tmp_path / folder).mkdir(
            exist_ok=True
        )  # a folder called like a command or a benchmark changes nothing
    rest = (
        () if words.startswith("leaderboard ") else ("out/a out/b --json",)
    )  # these take no result, but for `add`
    rest = ("./kitchen --predictions a.csv",) if words == "score" else rest
    for example in (*EXAMPLES[words], "--help", "rextime_mini", *rest):
        typed = [*words.split(), *shlex.split(example)]
        if typed != ["list", "rextime_mini"]:
            assert guesses.correct_arguments(typed, KNOWN) == typed
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("guess", "ours"), [("list_benchmarks", "benchmarks"), ("load_benchmark", "load")]
)
def test_what_others_call_a_function_is_ours_and_told(guess, ours):
    with pytest.warns(UserWarning, match=f"reelbench.{guess}: taken for reelbench.{ours}"):
        assert getattr(reelbench, guess) is getattr(reelbench, ours)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        reelbench.nonsense  # noqa: B018


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("errors out/x", "view out/x --only wrong"),
        ("show rextime_mini --sample 0", "info rextime_mini"),
        ("template rextime_mini --output a.csv", "score rextime_mini --template --output a.csv"),
        (
            "score --benchmark rextime_mini --predictions a.csv",
            "score rextime_mini --predictions a.csv",
        ),
        ("score a.jsonl --task rextime_mini", "score rextime_mini --predictions a.jsonl"),
        ("run rextime_mini -m openai/gpt-4o", "eval --model openai/gpt-4o rextime_mini"),
        (
            "eval x --fps 1 --max_frames=32 --device cuda:0",
            "eval --model-args device=cuda:0 --frames fps:1,max=32 x",
        ),
        ("eval curve_mini --lang zh --model m", "eval curve_zh --model m"),
        ("download rextime --videos", "data fetch --media rextime"),
        ("init mine --from-csv q.csv", "new --from q.csv mine"),
        ("new 'my rows.csv'", "new my_rows --from 'my rows.csv'"),
        (
            "judge moviecore_mini a.csv --model m",
            "score moviecore_mini --predictions a.csv --judge m",
        ),
        ("eval help", "eval --help"),
        ("eval x --model openai:gpt-4o", "eval --model openai/gpt-4o x"),
        ("eval x --split mini --judge none", "eval --no-judge x_mini"),
        (
            "run --frames 8 -- --tasks x --model m --seed 1",
            "run --frames 8 -- --tasks x --model m --seed 1",
        ),
    ],
)
def test_a_guess_is_taken_with_what_was_typed(typed, line):
    assert guesses.correct_arguments(shlex.split(typed), KNOWN) == shlex.split(line)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("errors", "`errors`: as in `reelbench view out/rextime_mini --only wrong`"),
        (
            "config set openai_api_key sk-x",
            "`config set`: a key stands in a variable: `export OPENAI_API_KEY=KEY`",
        ),
        (
            "export out --format latex",
            "`reelbench leaderboard add out --store store && reelbench leaderboard tables ",
        ),
        ("push out/x --repo me/x", "publish --store store --repo me/x --dry-run`"),
        (
            "eval x --model m --csv a.csv",
            "eval x --model m --output out`, then `reelbench view out/x --csv a.csv`",
        ),
        (
            "eval x --model m --k 3",
            "`reelbench ask x --llm m --candidates sample:3,t=0.7 --output out`",
        ),
        (
            "leaderboard add out/a out/b",
            "add out/a --store store && reelbench leaderboard add out/b --store store`",
        ),
        (
            "eval rextime_mini --model dummy",
            'a function stands for a model, without a server or a key: `python -c "',
        ),
    ],
)
def test_what_can_t_be_sure_is_said_as_a_whole_line(typed, said):
    with pytest.raises(InputError) as told:
        guesses.correct_arguments(shlex.split(typed), KNOWN)
    assert said in str(told.value)
    assert "sk-x" not in str(told.value)


def test_a_dry_run_that_finds_no_hub_names_the_line_that_needs_none(reelbench):
    env = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "0"}
    done = reelbench("cards", "push", "rextime", "--repo", "me/x", "--dry-run", env=env)
    assert done.returncode == 1
    assert "`reelbench cards render rextime --out card` writes it without the Hub" in done.stderr


def test_a_table_whose_rows_lack_the_main_metric_has_their_others(reelbench, tmp_path):
    done = reelbench("leaderboard", "tables", "rextime", "--store", tmp_path, "--format", "latex")
    assert r"\caption{ReXTime, test: Accuracy, \%; mIoU, \%; " in done.stdout, done.stderr
    assert ": . " not in done.stdout
