"""Other words for our commands and options, and answers to the words of other tools."""

import re
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.terminal import synonyms
from tools.write_docs import commands

WORDS = dict(commands())
OPTIONS = {option for command in WORDS.values() for part in command.params for option in part.opts}
CHANGES = ("clean", "force", "fresh", "overwrite", "redo", "restart", "rerun")
MINI = "rextime_mini"


def test_synonyms_are_few_and_none_changes_or_asks_again():
    assert len(synonyms.COMMANDS) + len(synonyms.OPTIONS) <= 40
    for word in (*synonyms.COMMANDS, *synonyms.OPTIONS):
        assert not re.search("|".join(CHANGES), word)
    assert not {"--fresh", "--yes"} & {ours for of in synonyms.OPTIONS.values() for ours in of}


@pytest.mark.parametrize(("typed", "ours"), synonyms.COMMANDS.items())
def test_a_synonym_of_a_command_is_none_itself_and_stands_for_one(typed, ours):
    assert typed not in WORDS
    assert ours in WORDS
    notes = []
    replaced = synonyms.with_our_command([*typed.split(), "--json"], notes.append)
    assert replaced == [*ours.split(), "--json"]
    assert notes == [f"`{typed}`: taken for `{ours}`"]


@pytest.mark.parametrize("ours", synonyms.OPTIONS.values())
def test_a_synonym_of_an_option_stands_for_one(ours):
    assert {*ours} <= OPTIONS


def test_options_are_replaced_with_their_values_and_told():
    notes = []
    typed = ["--llm=m", "--base_url", "u", "-n", "3"]
    own = {"--model", "--base-url", "--limit"}
    replaced = synonyms.with_our_options(typed, own, notes.append)
    assert replaced == ["--model=m", "--base-url", "u", "--limit", "3"]
    assert [note.partition(":")[0] for note in notes] == ["--llm", "--base_url", "-n"]


@pytest.mark.parametrize("words", WORDS)
def test_no_option_of_ours_is_taken_for_another(words):
    own = {option for part in WORDS[words].params for option in part.opts}
    typed = [option for option in own if option.startswith("-")]
    assert synonyms.with_our_options(typed, own, print) == typed


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((MINI, "--datasets", "curve_mini"), "the tasks are arguments"),
        ((MINI, "--num_fewshot", "5"), "questions are asked without examples"),
        ((MINI, "--log_samples"), "samples.jsonl of the output folder"),
        ((MINI, "--limit", "0.1"), "N is a number of questions"),
        ((MINI, "-T", "x=1"), "a task has no arguments"),
        ((MINI, "--api-key", "sk-secret"), "set a key in a variable"),
        ((MINI, "-M", "base_url=u"), "--base-url URL is a server's address"),
        ((MINI, "-k", "cause"), "--limit N asks the first N"),
        ((MINI, "--collect-only"), "--plan says what would be asked"),
        ((MINI, "--maxfail", "1"), "--keep-going continues"),
        ((MINI, "--log-dir", "x"), "`reelbench view OUT`"),
        ((MINI, "--fps", "1"), "`--frames fps:1` shows one frame a second"),
        ((MINI, "--device", "cuda"), "--model-args device=cpu"),
        ((MINI, "-v"), "put --verbose before the command"),
        ((MINI, "--port", "8000"), "--base-url URL is a server's whole address"),
        ((MINI, "--temperature", "0.7"), "--llm-extra '{"),
        ((MINI, "--workers", "4"), "--llm-concurrency N"),
        ((MINI, "--num-workers", "4"), "--llm-concurrency N"),
        ((MINI, "--provider", "ollama"), "--model ollama/"),
        ((MINI, "--blind"), "--frames none"),
        ((MINI, "--max_frames", "8"), "--frames N"),
        ((MINI, "--no-cache"), "--fresh asks every question again"),
        ((MINI, "--resume"), "continues where a run stopped"),
        ((MINI, "--cache-dir", "x"), "REELBENCH_HOME names the folder"),
        ((MINI, "--system-prompt", "x"), "`reelbench new NAME --like ID`"),
        ((MINI, "--split", "val"), "rextime_mini is mini data, without a split val; rextime has"),
        (("video_holmes_mini", "--split", "test"), "video_holmes has"),
        (("--task", MINI), "the tasks are arguments"),
        ((MINI, "--clean"), "no such option: --clean"),
        ((MINI, "--force"), "no such option: --force"),
        ((MINI, "--overwrite"), "no such option: --overwrite; no option overwrites"),
        (("rextime-mini",), "did you mean 'rextime_mini'?"),
        (("Rextime",), "did you mean 'rextime'?"),
        (("movicore",), "did you mean 'moviecore'?"),
    ],
)
def test_what_is_not_ours_ends_in_one_line_and_runs_nothing(words, line, reelbench):
    done = reelbench("eval", *words, "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert done.returncode == 2
    assert line in done.stderr
    assert "sk-secret" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_slip_in_a_command_is_asked_about(reelbench):
    done = reelbench("evall", MINI)
    assert done.returncode == 2
    assert "did you mean `reelbench eval rextime_mini`?" in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("log", "dump", "out"), "`reelbench view OUT` shows a run's answers"),
        (("available-tasks",), "`reelbench list` shows all tasks"),
        (("eval-retry", "out"), "continues where a run stopped"),
        (("resume", "out"), "continues where a run stopped"),
        (("--list-tasks",), "`reelbench list` shows all tasks"),
        (("data", "list"), "`reelbench list` shows every benchmark"),
        (("data", "show", MINI), "`reelbench data check NAME`"),
        (("new", "kitchen", "--csv", "rows.csv"), "given by --from FILE"),
        (("new", "kitchen", "--rows=rows.csv"), "given by --from FILE"),
        (("new", "kitchen", "--data", "rows.csv"), "given by --from FILE"),
        (("new", "kitchen", "--videos", "clips"), "--media DIR"),
        (("new", "--name", "kitchen", "--from", "rows.csv"), "the name comes first"),
        (("predict", MINI), "`reelbench eval NAME --model MODEL`"),
        (("data", "download", "moviecore"), "`reelbench data fetch NAME`"),
        (("leaderboard", "update", "--store", "st"), "`reelbench leaderboard build --store STORE"),
        (("leaderboard", "push", "--store", "st"), "`reelbench leaderboard publish`"),
        (("list", "--tasks"), "`reelbench list` shows every benchmark"),
        (("view", "out", "--port", "8000"), "needs no server"),
        (("compare", "a", "b", "--format", "latex"), "--latex prints"),
        (("run", "--data", MINI), "as in `reelbench run --frames"),
        (
            ("run", MINI, "--model", "m", "--base-url", "http://localhost:1/v1", "--output", "o"),
            "`reelbench eval NAME --model MODEL --base-url URL`",
        ),
        (("cite",), "CITATION.cff"),
    ],
)
def test_a_command_of_another_tool_is_answered(words, line, reelbench):
    done = reelbench(*words)
    assert done.returncode == 2
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("download rextime", "`reelbench data fetch NAME`"),
        ("validate rextime", "`reelbench check NAME`"),
        ("init kitchen", "`reelbench new NAME --from FILE`"),
        ("leaderboard show", "`reelbench leaderboard tables --store STORE`"),
        ("leaderboard rank", "`reelbench leaderboard tables --store STORE`"),
        ("leaderboard serve", "`reelbench leaderboard build --store STORE --out site`"),
        ("report out", "`reelbench view OUT`"),
        ("submit out", "`reelbench leaderboard publish --store STORE --dataset ORG/RESULTS --c"),
        ("lint rextime", "`reelbench data lint NAME`"),
        ("card rextime", "`reelbench cards render NAME --out DIR`"),
        ("cards rextime", "`reelbench cards render NAME --out DIR`"),
        ("version", "`reelbench --version`"),
        ("reproduce rextime", "docs/recipes/papers.md"),
        ("judge rextime", "`reelbench score NAME --predictions FILE --judge MODEL`"),
        ("list benchmarks", "`reelbench list` shows every benchmark"),
        ("compare a b --html", "`reelbench view OUT OTHER`"),
        ("eval --benchmark rextime_mini", "the name comes first"),
        ("eval rextime_mini --n-frames 8", "--frames N says"),
        ("new kitchen rows.csv", "--from FILE"),
        ("score rextime answers.csv", "answers are given by --predictions FILE"),
        ("score answers.csv --benchmark rextime", "the name comes first"),
        ("summary out", "`reelbench view OUT` makes a page of a run"),
        ("describe rextime", "`reelbench info NAME` describes a benchmark"),
        ("cache clear", "`reelbench cache prune`"),
        ("update", "`reelbench --version` shows yours"),
        ("examples", "docs/recipes"),
        ("show out", "`reelbench view OUT` makes a page of a run"),
        ("show rextime", "`reelbench info NAME` describes a benchmark"),
        ("export out", "OUT/NAME/samples.jsonl"),
        ("plot out", "`reelbench leaderboard figures --store STORE --out DIR`"),
        ("ui", "`reelbench leaderboard build --store STORE --out site`"),
        ("import rows.csv", "`reelbench new NAME --from FILE`"),
        ("leaderboard --store results", "`reelbench leaderboard build --store STORE --out site`"),
        ("benchmark list", "`reelbench list` shows every benchmark"),
        ("datasets", "`reelbench list` shows every benchmark"),
        ("metrics rextime", "`reelbench info NAME`"),
        ("models", "docs/keys.md"),
        ("config", "`reelbench doctor settings`"),
        ("login", "OPENAI_API_KEY"),
        ("test", "`reelbench check NAME`"),
        ("cite", "`reelbench info NAME` ends with the paper to cite"),
        ("check rextime --media videos", "`--allow-outside DIR` lets the benchmark read one"),
    ],
)
def test_a_word_that_was_guessed_is_answered_in_our_words(typed, line, reelbench):
    done = reelbench(*typed.split())
    assert done.returncode == 2
    assert line in done.stderr
    assert "did you mean" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("answer", sorted({*synonyms.GUESSES.values()}))
def test_an_answer_to_a_guess_names_commands_and_files_that_are_there(answer):
    for line in re.findall(r"`reelbench ([^`]+)`", answer):
        words = line.split()
        is_there = " ".join(words[:2]) in WORDS or words[0] in WORDS or words[0] == "--version"
        assert is_there, line
    for page in re.findall(r"docs/\S+\.md", answer):
        assert Path(page).is_file()


def test_a_task_s_slip_is_never_taken():
    with pytest.raises(InputError, match="did you mean 'moviecore'"):
        discovery.get("movicore")


def test_a_dry_run_that_finds_no_hub_names_the_line_that_needs_none(reelbench):
    env = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "0"}
    done = reelbench("cards", "push", "rextime", "--repo", "me/x", "--dry-run", env=env)
    assert done.returncode == 1
    assert "`reelbench cards render rextime --out card` writes it without the Hub" in done.stderr


def test_a_table_whose_rows_lack_the_main_metric_has_their_others(reelbench, tmp_path):
    done = reelbench("leaderboard", "tables", "rextime", "--store", tmp_path, "--format", "latex")
    assert r"\caption{ReXTime, test: Accuracy, \%; mIoU, \%; " in done.stdout, done.stderr
    assert ": . " not in done.stdout
