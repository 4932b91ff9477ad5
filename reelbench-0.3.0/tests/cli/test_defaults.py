"""`reelbench.toml`: whose word counts, what a folder may not say, and that what it set is said and recorded."""

import json
from pathlib import Path

import pytest

from reelbench.terminal.defaults import UNTRUSTED

PREDICTIONS = Path(__file__).parents[1] / "fixtures" / "v0_1_0" / "predictions" / "rextime.jsonl"


@pytest.fixture
def score_there(reelbench, tmp_path):
    """Score in a folder with files of defaults; returns the process and the result's record."""

    def run(*arguments, folder="", user="", env=None):
        (tmp_path / "config" / "reelbench").mkdir(parents=True)
        (tmp_path / "config" / "reelbench" / "reelbench.toml").write_text(user, encoding="utf-8")
        (tmp_path / "reelbench.toml").write_text(folder, encoding="utf-8")
        words = (
            "score",
            "rextime_mini",
            "--predictions",
            PREDICTIONS,
            "--output",
            "out",
            *arguments,
        )
        done = reelbench(
            *words, cwd=tmp_path, env={"XDG_CONFIG_HOME": str(tmp_path / "config"), **(env or {})}
        )
        record = tmp_path / "out" / "result.json"
        return done, json.loads(record.read_text(encoding="utf-8")) if record.is_file() else None

    return run


def test_what_a_file_sets_is_printed_and_on_record(score_there):
    done, result = score_there(
        folder='[score]\nby = "category"\n', user='[about]\nlabel = "web search"\n'
    )
    assert "reelbench.toml: --by category" in done.stderr
    assert result["settings"]["label"] == "web search"
    assert result["provenance"]["defaults"] == {"--by": "category", "--label": "web search"}


@pytest.mark.parametrize(
    ("arguments", "env", "expected"),
    [(("--label", "mine"), {"REELBENCH_LABEL": "environment"}, "mine"), ((), {}, "user")],
)
def test_the_command_line_comes_first(score_there, arguments, env, expected):
    _, result = score_there(*arguments, user='[about]\nlabel = "user"\n', env=env)
    assert result["settings"]["label"] == expected


def test_this_folder_s_file_comes_before_the_user_s(score_there):
    done, _ = score_there(folder='[score]\nby = "category"\n', user='[score]\nby = "nonsense"\n')
    assert (done.returncode, "--by category" in done.stderr) == (0, True)


def test_the_environment_stands_before_a_file(score_there):
    user = '[judge]\njudge = "file-model"\njudge-url = "http://127.0.0.1:1/v1"\n'
    done, _ = score_there(
        user=user, env={"REELBENCH_JUDGE": "environment-model", "REELBENCH_JUDGE_API_KEY": "x"}
    )
    assert "file-model" not in done.stderr
    assert "--judge-url http://127.0.0.1:1/v1" in done.stderr


def test_a_folder_s_file_never_says_who_is_asked_where_or_for_how_much(score_there):
    folder = """
    [judge]
    judge = "theirs"
    judge-url = "http://127.0.0.1:1/v1"
    judge-budget = "$500"
    [about]
    model = "renamed"
    """
    done, result = score_there(folder=folder)
    assert done.returncode == 0
    assert result["judge"] is None
    assert result["model"]["id"] == "rextime"
    assert "defaults" not in result["provenance"]
    (line,) = [line for line in done.stderr.splitlines() if "left alone" in line]
    assert all(name in line for name in ("judge,", "judge-url", "judge-budget", "model"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[score]\nnonsense = 1\n", "[score] nonsense: `reelbench score` has no such option"),
        ("[scoree]\nby = 'x'\n", "[scoree] by: no such command or family of options"),
        (
            "[aks]\nframes = 'all'\n",
            "[aks] frames: no such command or family of options; `reelbench help` lists them; did you mean 'ask'?",
        ),
        ("label = 'x'\n", "reelbench.toml: label: no such command or family of options"),
        (
            "[frames]\nframez = 'none'\n",
            "[frames] framez: no such option; see `reelbench help frames`",
        ),
        (
            "[llm]\nllm_url = 'x'\n",
            "[llm] llm_url: no such option; see `reelbench help llm`; did you mean 'llm-url'?",
        ),
        ("[score]\njson = 3\n", "reelbench.toml: score: invalid value for '--json'"),
        ("[score\n", "not valid TOML"),
        (f"limit = {'9' * 5000}\n", "characters of a line: 5,008, and at most 2,000 are taken"),
    ],
)
def test_what_is_wrong_is_one_line(score_there, text, said):
    done, result = score_there(folder=text)
    assert (done.returncode, result) == (2, None)
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_settings_shows_where_a_value_comes_from_and_doctor_ends_well(reelbench, tmp_path):
    (tmp_path / "reelbench.toml").write_text('[frames]\nframes = "uniform:4"\n', encoding="utf-8")
    assert "[frames] frames" in reelbench("doctor", "settings", cwd=tmp_path).stdout
    listed = json.loads(reelbench("doctor", "settings", "--json", cwd=tmp_path).stdout)
    assert listed["[frames] frames"] == {
        "set": True,
        "value": "uniform:4",
        "default": None,
        "about": "from reelbench.toml",
    }
    (tmp_path / "reelbench.toml").write_text("[llm]\nllm_url = 'x'\n", encoding="utf-8")
    done = reelbench("doctor", cwd=tmp_path)
    assert (done.returncode, "did you mean 'llm-url'?" in done.stdout) == (0, True)


def test_without_a_file_settings_and_doctor_say_where_one_may_stand(reelbench, tmp_path):
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    where = str(tmp_path / "reelbench" / "reelbench.toml")
    for command in ("settings", "doctor"):
        shown = reelbench(command, cwd=tmp_path, env=environ).stdout
        [line] = [line for line in shown.splitlines() if where in line]
        assert "reelbench.toml" in line.replace(where, "")


def test_settings_shows_what_of_a_folder_s_file_is_left_alone(reelbench, tmp_path):
    text = """
    [llm]
    llm = "theirs"
    [diagnose.errors]
    llm-votes = 99
    [cards.push]
    repo = "theirs/cards"
    [cache.prune]
    yes = true
    [frames]
    frames = "uniform:4"
    [score]
    by = "category"
    """
    (tmp_path / "reelbench.toml").write_text(text, encoding="utf-8")
    env = {"XDG_CONFIG_HOME": str(tmp_path), "REELBENCH_FRAMES": "uniform:2"}
    listed = json.loads(reelbench("doctor", "settings", "--json", cwd=tmp_path, env=env).stdout)
    idle = {
        name: value["about"]
        for name, value in listed.items()
        if name.startswith("[") and not value["set"]
    }
    untrusted = f"from reelbench.toml, left alone: {UNTRUSTED}"
    assert idle == {
        "[llm] llm": untrusted,
        "[diagnose.errors] llm-votes": untrusted,
        "[cards.push] repo": untrusted,
        "[cache.prune] yes": untrusted,
        "[frames] frames": "from reelbench.toml, left alone: REELBENCH_FRAMES is set",
    }
    assert listed["[score] by"]["set"]
    assert "--yes" in reelbench("cache", "prune", "--older-than", "0", cwd=tmp_path, env=env).stdout


def test_this_folder_s_default_comes_before_the_user_s_in_settings_too(reelbench, tmp_path):
    (tmp_path / "reelbench").mkdir()
    for folder, facet in ((tmp_path, "folder"), (tmp_path / "reelbench", "user")):
        (folder / "reelbench.toml").write_text(f'[score]\nby = "{facet}"\n', encoding="utf-8")
    shown = reelbench(
        "doctor", "settings", cwd=tmp_path, env={"XDG_CONFIG_HOME": str(tmp_path)}
    ).stdout
    assert "= folder (from reelbench.toml)" in shown
    assert "left alone: reelbench.toml comes first" in shown


def test_an_option_is_named_as_it_is_typed(score_there):
    done, result = score_there(user="[score]\njson = true\n")
    assert "reelbench.toml: --json True" in done.stderr
    assert result["provenance"]["defaults"] == {"--json": "True"}


OUTSIDE = {
    "score": (
        "status-file",
        "output",
        "references",
        "tags",
        "data",
        "run",
        "ids",
        "from",
        "predictions",
        "looked",
        "quiet",
    ),
    "about": ("label", "model", "organisation", "about", "url"),
    "ask": ("candidates", "max-tokens", "preset", "cache-patience"),
    "run": ("processes", "sweep", "frames-sweep", "translations"),
    "judge": ("judge", "judge-votes", "judge-concurrency", "judge-prompts", "judge-extra"),
    "llm": ("llm", "llm-url", "llm-concurrency"),
    "compare": ("picture", "items"),
    "compare.shortcuts": ("write",),
    "view": ("out",),
    "make.moments": ("out", "captions", "prompts", "gate"),
    "leaderboard.check": ("markdown", "workers", "store"),
    "leaderboard.build": ("out", "workers", "engine"),
    "leaderboard.publish": ("repo", "dataset", "webhook", "create-pr", "dry-run"),
    "cards.push": ("with-data", "private", "dry-run", "repo", "create-pr"),
    "frames.extract": ("workers",),
    "cache.prune": ("yes", "older-than"),
}


def test_a_folder_s_file_sets_nothing_that_is_written_read_published_or_paid_for(
    reelbench, tmp_path
):
    tables = {
        table: "".join(f"{name} = 'theirs'\n" for name in names) for table, names in OUTSIDE.items()
    }
    text = "".join(f"[{table}]\n{lines}" for table, lines in tables.items())
    (tmp_path / "reelbench.toml").write_text(text, encoding="utf-8")
    listed = json.loads(reelbench("doctor", "settings", "--json", cwd=tmp_path).stdout)
    entries = {name: entry["set"] for name, entry in listed.items() if name.startswith("[")}
    assert entries == {
        f"[{table}] {name}": False for table, names in OUTSIDE.items() for name in names
    }


REFUSED = {"path", "who is asked", "the user's own", "typed alone: no file sets it"}
FOLDERS = {
    *(
        "--alignment-from",
        "--by",
        "--causal-from",
        "--coverage",
        "--format",
        "--frames",
        "--gap",
        "--id-column",
    ),
    *(
        "--json",
        "--keep",
        "--labels",
        "--languages",
        "--latex",
        "--least-coverage",
        "--least-events",
        "--limit",
    ),
    *(
        "--long-event-drops",
        "--longest-event",
        "--means-from",
        "--most-windows",
        "--no-overlap",
        "--not-causal",
    ),
    *("--overlap", "--per", "--query-answers", "--similar-from", "--size", "--split", "--strict"),
    *("--text-column", "--verified-from", "--whole-tolerance"),
}


def test_every_option_s_kind_is_listed_and_no_path_is_a_folder_s(reelbench):
    kinds = json.loads(reelbench("doctor", "settings", "--json").stdout)["options"]
    assert kinds["ask"]["--frames"] == "frames"
    assert kinds["score"]["--id-column"] == "columns"
    assert kinds["leaderboard check"]["--markdown"] == "path"
    assert kinds["score"]["--judge-url"] == "who is asked"
    assert kinds["cards push"]["--with-data"] == "the user's own"
    given = {
        option
        for options in kinds.values()
        for option, kind in options.items()
        if kind not in REFUSED
    }
    assert given == FOLDERS  # whoever lets a stranger's folder set one more writes it down here


def test_a_clone_s_file_overwrites_nothing(score_there, tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("key", encoding="utf-8")
    done, result = score_there(folder=f"[score]\nstatus-file = '{mine}'\noutput = '{mine}'\n")
    assert (done.returncode, mine.read_text(encoding="utf-8")) == (0, "key")
    assert "left alone: [score] status-file, [score] output" in done.stderr
    assert result is not None


@pytest.mark.parametrize(
    "text",
    ["a=" + "[" * 100_000, ".".join("a" * 5000) + "=1", "#" * 5_000_000],
    ids=["lists", "tables", "long"],
)
def test_what_is_nested_too_deep_or_too_long_is_one_line(text, tmp_path, reelbench):
    (tmp_path / "reelbench.toml").write_text(text)
    done = reelbench("list", cwd=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith("reelbench: reelbench.toml: ")


@pytest.mark.parametrize("whose", ["folder", "user"])
def test_what_must_be_typed_is_set_by_no_file(score_there, whose):
    done, result = score_there(**{whose: "[score]\nallow-http-key = true\n"})
    assert done.returncode == 0
    assert "--allow-http-key" not in result["provenance"].get("defaults", {})
