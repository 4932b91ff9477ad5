"""The command as a whole: what it lists, and what an error looks like."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from reelbench import __version__, registry
from reelbench.registry import gallery
from reelbench.terminal import console
from tests.program import app
from tools.write_docs import commands


def test_list_knows_every_benchmark_and_task(reelbench):
    listed = json.loads(reelbench("list", "--json").stdout)
    assert listed.keys() == registry.specs().keys()
    for name, spec in registry.specs().items():
        assert set(listed[name]["tasks"]) == {task.name for task in spec.tasks}
    assert "moviecore_mini" in reelbench("list").stdout


@pytest.mark.parametrize("words", [words for words, _ in commands()])
def test_the_help_of_every_command_is_drawn(words):
    done = CliRunner().invoke(app, [*words.split(), "--help"])
    assert done.exit_code == 0, done.exception
    assert "Usage" in done.output


def test_a_note_of_any_length_keeps_its_beginning_and_its_end(capsys):
    console.note(f"replies are from {'9' * 50_000}; name --judge-url\nfilm.mp4: missing")
    long, short = capsys.readouterr().err.splitlines()
    assert long.startswith("replies are from 999")
    assert long.endswith("999; name --judge-url")
    assert (len(long) <= 2000, short) == (True, "film.mp4: missing")


def test_path_is_the_folder_with_the_yaml(reelbench, tmp_path):
    done = reelbench("path", cwd=tmp_path)
    assert (Path(done.stdout.strip()) / "moviecore" / "moviecore.yaml").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score"], "nothing to score"),
        (["score", "mvcore", "--predictions", "x"], "did you mean 'moviecore'"),
        (["score", "moviecore", "--run", "x"], "leave out NAME"),
        (["score", "--run", "/no/such/folder"], "no such folder"),
        (["score", "moviecore", "--predictions", "/no/such/file"], "no such file"),
        (
            ["score", "moviecore", "--predictions", "x", "--judge", "m", "--judge-budget", "lots"],
            "--judge-budget",
        ),
        (
            ["score", "moviecore", "--predictions", "x", "--judge", "m", "--judge-url", "nonsense"],
            "--judge-url",
        ),
        (["run"], "nothing to run"),
        (
            ["score", "moviecore", "--predictions", "x", "--predictions", "y"],
            "--predictions is given twice",
        ),
        (["compare", __file__, __file__], "no result; score it first"),
        (["view", __file__], "no result; score it first"),
        (["ask", "rextime_mini", "--videos", "x"], "REELBENCH_MEDIA"),
        (["ask", "rextime_mini", "--api-key", "x"], "REELBENCH_LLM_API_KEY"),
        (
            ["ask", "rextime_mini", "--framse", "x"],
            "no such option: --framse; did you mean `reelbench ask rextime_mini --frames x`?",
        ),
        (
            ["ask", "rextime_mini", "--llm", "m", "--llm-url", "http://x/v1/chat/completions"],
            "leave /chat/completions out",
        ),
        (
            ["leaderboard", "build", "--out", "x"],
            "as in `reelbench leaderboard build --store results --out site`",
        ),
        (
            ["score", "rextime_mini", "--predictions", "x", "--by", "x"],
            "rextime_mini is broken down by category",
        ),
        (
            ["new", "n" * 900, "--from", __file__],
            "File name too long; choose a shorter one (255 bytes at most)",
        ),
        (["compare", "power", "rextime_mini"], "give a result's folder"),
        (
            ["cards", "nonsense"],
            "cards: no such command 'nonsense'; `reelbench cards render NAME --out DIR` writes",
        ),
        (["diagnose", "errors", "x"], "diagnose errors: missing option '--out'"),
        (["compare", "power", "--nonsense"], "power: no such option: --nonsense"),
        (
            ["leaderboard", "build", "--store"],
            "leaderboard build: option '--store' requires an argument",
        ),
        (["compare", "power", "rextime", "--effect", "abc"], "power: invalid value for '--effect'"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_status_2(arguments, said, reelbench):
    done = reelbench(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "sk-secret" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 + done.stderr.count(": taken for ")
    assert "Traceback" not in done.stderr


def test_debug_shows_the_traceback_and_changes_no_exit_status(reelbench):
    done = reelbench("--debug", "score", "mvcore", "--predictions", "x")
    assert "Traceback" in done.stderr
    assert done.returncode == 2
    assert "did you mean 'moviecore'" in done.stderr.strip().splitlines()[-1]


HEAVY = {
    *(
        "aiohttp",
        "av",
        "datasets",
        "evaluate",
        "huggingface_hub",
        "numpy",
        "openai",
        "pandas",
        "PIL",
        "pyarrow",
    ),
    *("pydantic", "rich", "torch", "transformers"),
    *("http.client", "ssl", "urllib.request", "statistics", "asyncio"),
}
"""None of these is needed to say what there is; each would take longer than a tenth of the whole command."""

DECLARED = {"yaml"}
"""What reads benchmarks that a file declares: whatever names all benchmarks needs it, and nothing else does."""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["list"], ["path"], ["settings"], ["score", "--help"]], ids=" ".join
)
def test_help_and_list_import_nothing_heavy(arguments):
    heavy = HEAVY if arguments[0] in {"list", "settings"} else HEAVY | DECLARED
    code = (
        "import sys; sys.argv = ['reelbench', *sys.argv[1:]]\n"
        "from reelbench.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        f"print('HEAVY', sorted({heavy} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().splitlines()[-1] == "HEAVY []"


OPENED = """
import sys
opened = []
def noted(event, arguments):
    if event in ("open", "os.scandir", "os.listdir") and "gallery" in str(arguments[0]):
        opened.append(str(arguments[0]))
sys.addaudithook(noted)
from reelbench.cli import main
try: main()
except SystemExit: pass
for path in opened: print("OPENED", path)
"""
"""Runs the command, and prints each file and folder of the gallery that it opens."""


def opened_of_the_gallery(*arguments):
    done = subprocess.run(
        [sys.executable, "-c", OPENED, *arguments], capture_output=True, text=True, check=True
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("OPENED ")]
    return [line for line in lines if not line.endswith((".py", ".pyc"))]


@pytest.mark.parametrize("arguments", [["--help"], ["list"], ["list", "--help"]], ids=" ".join)
def test_help_and_list_open_nothing_of_the_gallery(arguments):
    assert not opened_of_the_gallery(*arguments)


def test_the_list_of_the_gallery_opens_each_file_once():
    opened = opened_of_the_gallery("list", "--gallery", "--json")
    files = [line for line in opened if line.endswith((".yaml", ".json"))]
    assert len(files) == len(set(files)) == len(gallery.names()) + 1


def test_a_run_wants_the_tasks_of_our_tags_too():
    from reelbench.tasks.lmms.process import wanted_tasks

    wanted = wanted_tasks(["--model", "m", "--tasks", "reelbench_mini,mmmu_val,moviecore"])
    assert {"moviecore", "moviecore_mini", "rextime_mini", "curve_mini"} <= wanted
    assert not {"mmmu_val", "reelbench_mini", "rextime"} & wanted


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_output_is_no_failure(closed):
    command = f"{Path(sys.executable).with_name('reelbench')} list {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_ids_do_nothing_to_the_terminal(reelbench, tmp_path):
    line = {"qid": "a\x1b[2Jb\x07\u202ec", "ans": "A"}
    (tmp_path / "predictions.jsonl").write_text(
        json.dumps(line) + '\n{"qid": "mini1", "ans": "A"}\n'
    )
    done = reelbench(
        "score", "rextime", "--split", "mini", "--predictions", tmp_path / "predictions.jsonl"
    )
    assert done.returncode == 0
    assert "1 extra id: a [2Jb  c\n" in done.stderr


def test_debug_may_stand_behind_the_command_but_is_lmms_eval_s_behind_the_dashes(reelbench):
    assert "Traceback" in reelbench("score", "mvcore", "--predictions", "x", "--debug").stderr
    assert (
        "Traceback"
        not in reelbench("run", "--frames", "nonsense", "--", "--tasks", "x", "--debug").stderr
    )


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "reelbench", "--version"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.strip()) == (0, __version__)


def test_a_table_by_a_facet_is_shown_beside_the_whole(reelbench):
    predictions = (
        Path(__file__).parents[1] / "fixtures" / "v0_1_0" / "predictions" / "rextime.jsonl"
    )
    words = ("score", "rextime_mini", "--predictions", predictions)
    shown = reelbench(*words, "--by", "category").stdout
    lines = shown[shown.index("rextime by category") :].splitlines()
    document = json.loads(reelbench(*words, "--json").stdout)
    labels = document["breakdowns"]["category"]
    assert {line.split("  ")[0] for line in lines[2 : 2 + len(labels)]} == labels.keys()
    done = reelbench(*words, "--by", "colour")
    assert done.returncode == 2
    assert "broken down by category" in done.stderr


def test_a_letter_without_its_span_is_told_so(reelbench, tmp_path):
    (tmp_path / "a.csv").write_text("id,prediction\nmini1,A\n", encoding="utf-8")
    shown = reelbench("score", "rextime_mini", "--predictions", tmp_path / "a.csv").stdout
    assert "unreadable (an option without its span), mini1: A" in shown
