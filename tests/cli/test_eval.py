"""`reelbench eval`: one verb; a server is asked as by `ask`, a checkpoint goes to lmms-eval as by `run`."""

import json
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.cli.evaluate import _adapter_of_checkpoint
from tests.servers.judge import Answer, JudgeServer
from tools.write_docs import commands

MINI = "rextime_mini"
TABLE = Path(__file__).parents[1] / "fixtures" / "answers.jsonl"
"""A table whose column of texts has no name that tells."""
GOOD = '{"span": [0, 5], "answer": "A"}'


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ((), "its cost: add --llm-price IN,OUT"),
        # 12 questions of 8 pictures and about 100 tokens of text at $1, and an answer at $4, a
        # million
        (
            ("--frames", 8, "--llm-price", "1,4", "--max-tokens", 200),
            "its cost: about $0.11 at most",
        ),
        (
            ("--frames", 8, "--llm-price", "1,4", "--max-tokens", 20_000),
            "its cost: about $1.06 at most",
        ),
        (("--frames", "fps:1", "--llm-price", "1,4"), "fps:1,max=32 has a limit"),
    ],
)
def test_a_plan_bounds_the_cost_or_says_what_would(reelbench, typed, said):
    done = reelbench("eval", MINI, "--model", "openai/gpt-6-luna", "--plan", *typed)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


@pytest.mark.parametrize("plan", [("--plan",), ()])
def test_every_name_is_checked_before_anything_is_told_or_asked(reelbench, plan):
    server = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    done = reelbench("eval", MINI, "nosuch", *server, *plan)
    assert done.returncode == 2
    assert "unknown benchmark 'nosuch'; there are curve, " in done.stderr
    assert "or give its folder" in done.stderr
    assert done.stdout == ""


def test_a_served_model_is_asked_as_ask_does_it(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        words = (MINI, "--frames", "none", "--limit", 3, "--json")
        done = reelbench(
            "eval", *words, "--model", "m", "--base-url", server.url, "--output", tmp_path / "one"
        )
        assert done.returncode == 0, done.stderr
        sent = server.calls[0].body
        asked = reelbench(
            "ask", *words, "--llm", "m", "--llm-url", server.url, "--output", tmp_path / "two"
        )
        assert (
            len(server.calls) == 3 + 3
        )  # kept under the same keys, and asked once more to look whose they are
    assert sent["model"] == "m"
    assert json.loads(done.stdout)["metrics"] == json.loads(asked.stdout)["metrics"]
    assert "--llm" not in done.stderr  # what one typed is --model and --base-url
    assert (
        f"the model m is asked at 127.0.0.1:{server.url.split(':')[2].split('/')[0]}, with no key"
        in done.stderr
    )


def test_what_a_file_sets_is_printed_applied_and_recorded(reelbench, tmp_path):
    """Both were printed, and not applied: sixteen times the pictures were paid for."""
    (tmp_path / "reelbench.toml").write_text(
        '[eval]\nframes = "uniform:2"\nlimit = 1\n', encoding="utf-8"
    )
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        words = ("--model", "m", "--base-url", server.url, "--output", "out")
        done = reelbench("eval", MINI, *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        contents = [call.body["messages"][0]["content"] for call in server.calls]
    for setting in ("--frames uniform:2", "--limit 1"):
        assert f"{setting}" in done.stderr
    [content] = contents
    assert [part["type"] for part in content].count("image_url") == 2
    result = json.loads((tmp_path / "out" / MINI / "result.json").read_text("utf-8"))
    assert result["settings"]["frames"].startswith("uniform:2")
    assert result["counts"]["items"] == 1
    assert result["provenance"]["defaults"] == {"--frames": "uniform:2", "--limit": "1"}


def test_what_a_file_sets_reaches_a_checkpoint(reelbench, tmp_path):
    (tmp_path / "reelbench.toml").write_text(
        '[eval]\nframes = "uniform:2"\nlimit = 1\n', encoding="utf-8"
    )
    model = ("--model", "hf/org/m", "--adapter", "qwen2_vl")
    done = reelbench("eval", MINI, *model, "--plan", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("reelbench run")]
    assert "--frames uniform:2" in line
    assert "--limit 1" in line


def test_what_others_type_is_taken_for_ours_and_told_where_a_model_is_asked(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        words = (
            f"{MINI},curve_mini",
            "-m",
            "m",
            "--base_url",
            server.url,
            "--out",
            tmp_path,
            "-n",
            1,
        )
        done = reelbench("eval", *words, "--frames", "1fps")
        assert done.returncode == 0, done.stderr
        shown = [part for call in server.calls for part in call.body["messages"][0]["content"]]
    for told in (
        "-m: taken for --model",
        "--base_url: taken for",
        "-n: taken for --limit",
    ):
        assert told in done.stderr
    assert {path.parent.name for path in tmp_path.glob("*/result.json")} == {MINI, "curve_mini"}
    frames = json.loads((tmp_path / MINI / "result.json").read_text())["settings"]["frames"]
    assert frames.startswith("fps:1")
    assert any(part["type"] == "image_url" for part in shown)


def test_what_others_ask_with_is_taken_and_a_plan_asks_nothing(reelbench, tmp_path):
    typed = (
        "--frames",
        "fps:1",
        "--llm-extra",
        '{"temperature": 0.7}',
        "--runs",
        2,
        "--max-connections",
        4,
        "--limit",
        1,
    )
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        words = (
            "eval",
            MINI,
            "--model",
            "m",
            "--base-url",
            server.url,
            "--output",
            tmp_path,
            *typed,
        )
        planned = reelbench(*words, "--dry-run")
        assert (planned.returncode, len(server.calls)) == (0, 0), planned.stderr
        done = reelbench(*words)
        assert done.returncode == 0, done.stderr
        calls = server.calls
    assert (
        "1 questions with their videos, frames fps:1,times=text, to m at 127.0.0.1:"
        in planned.stdout
    )
    assert ": 2 requests, fewer if answers are saved; nothing was sent" in planned.stdout
    assert [call.body["temperature"] for call in calls] == [0.7, 0.7]
    runs = [json.loads(path.read_text()) for path in tmp_path.rglob("result.json")]
    assert [run["settings"]["frames"] for run in runs] == ["fps:1,times=text"] * 2


def test_several_models_have_a_folder_each(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        models = ("--model", "a", "--model", "b")
        done = reelbench(
            "eval",
            MINI,
            *models,
            "--base-url",
            server.url,
            "--frames",
            "none",
            "--output",
            tmp_path,
        )
    assert done.returncode == 0, done.stderr
    assert {
        path.name for path in tmp_path.iterdir() if (path / MINI / "result.json").is_file()
    } == {"a", "b"}


@pytest.mark.lmms
@pytest.mark.slow
def test_a_checkpoint_goes_through_lmms_eval_beside_a_served_model(
    reelbench, tiny_vlm, tmp_path, monkeypatch
):
    loaded = (
        "--model-args",
        "device=cpu,device_map=cpu,attn_implementation=eager,min_pixels=3136,max_pixels=12544",
    )
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        monkeypatch.setenv("REELBENCH_LLM_URL", server.url)
        models = ("--model", f"{tiny_vlm},m", *loaded)
        done = reelbench(
            "eval", MINI, *models, "--frames", 2, "--limit", 1, "--output", tmp_path, timeout=1800
        )
    assert done.returncode == 0, done.stderr
    assert "--model qwen2_5_vl" in done.stderr
    of_lmms, asked = sorted(
        tmp_path.rglob("result.json"), key=lambda path: "m" in path.relative_to(tmp_path).parts
    )
    results = [json.loads(path.read_text()) for path in (of_lmms, asked)]
    assert [result["settings"]["frames"] for result in results] == [
        "uniform:2",
        "uniform:2,times=text",
    ]
    assert [result["model"]["id"] for result in results] == ["local/tiny-vlm", "m"]
    assert [result["counts"]["scored"] for result in results] == [1, 1]


@pytest.mark.parametrize(
    ("model", "filed"),
    [
        ("/models/ft", "ft"),
        ("/home/ada/runs/kitchen-7b/checkpoint-300", "kitchen-7b"),
        ("~/q", "q"),
        ("C:\\models\\q", "q"),
        ("q.gguf", "q.gguf"),
        ("/models/q.gguf", "q.gguf"),
        ("./x", "x"),
        ("team=blue", "team=blue"),
        ("a,b", "a,b"),
        ("hf/org/m", "hf/org/m"),
    ],
)
def test_a_served_model_may_have_any_name_and_no_path_is_filed(model, filed, reelbench, tmp_path):
    said = Answer(GOOD, model=model)
    with JudgeServer(lambda _: said) as server:
        words = (MINI, "--frames", "none", "--limit", 1, "--output", tmp_path / "out")
        done = reelbench("eval", *words, "--model", model, "--base-url", server.url)
        assert done.returncode == 0, done.stderr
        assert server.calls[0].body["model"] == model
    text = (tmp_path / "out" / MINI / "result.json").read_text("utf-8")
    result = json.loads(text)
    assert result["model"]["id"] == filed
    assert result["provenance"]["asked"]["returned"] == {filed: 1}
    assert "answered as" not in done.stdout
    for folder in ("/models", "/home", "models\\", "~/"):
        assert folder not in text
    added = reelbench("leaderboard", "add", tmp_path / "out" / MINI, "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr


def test_a_folder_of_a_served_models_name_changes_nothing(reelbench, tmp_path):
    (tmp_path / "ft").mkdir()
    (tmp_path / "ft" / "config.json").write_text('{"model_type": "qwen2_5_vl"}')
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        words = (MINI, "--frames", "none", "--limit", 1, "--output", "out")
        for model in ("./ft", str(tmp_path / "ft"), "ft"):
            done = reelbench(
                "eval", *words, "--fresh", "--model", model, "--base-url", server.url, cwd=tmp_path
            )
            assert done.returncode == 0, done.stderr
            assert server.calls[-1].body["model"] == model
        done = reelbench(
            "eval", *words, "--model", "./ft", "--base-url", server.url, "--adapter", "llava_hf"
        )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--adapter: is for a checkpoint" in done.stderr


@pytest.mark.parametrize(
    ("model", "line"),
    [
        ("gpt\u0430", "looks like another letter"),
        ("-m", "begins with a hyphen"),
        ("m" * 201, "the maximum is 200"),
        ("reelbench/mine", "is for Reelbench's own baselines"),
        ("org/.../m", "--name NAME calls it otherwise"),
    ],
)
def test_a_name_that_no_board_would_take_is_refused_before_a_call(model, line, reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        words = (MINI, "--frames", "none", "--limit", 1, "--output", tmp_path / "out")
        done = reelbench("eval", *words, f"--model={model}", "--base-url", server.url)
        assert (done.returncode, done.stderr.count("\n"), len(server.calls)) == (2, 1, 0)
        assert line in done.stderr
        named = reelbench(
            "eval", *words, f"--model={model}", "--base-url", server.url, "--name", "ours"
        )
    assert named.returncode == 0, named.stderr


@pytest.mark.parametrize("model", ["/home/ada", "models/", "/models/final/checkpoint-3", "/"])
def test_a_path_that_names_no_model_asks_for_a_name_before_a_call(model, reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD, model=model)) as server:
        words = (MINI, "--frames", "none", "--limit", 1, "--output", tmp_path / "out")
        asked = ("--model", model, "--base-url", server.url)
        done = reelbench("eval", *words, *asked)
        assert (done.returncode, done.stderr.count("\n"), len(server.calls)) == (2, 1, 0)
        assert "--name NAME" in done.stderr
        named = reelbench("eval", *words, *asked, "--name", "Kitchen 7B")
        assert named.returncode == 0, named.stderr
    result = json.loads((tmp_path / "out" / MINI / "result.json").read_text("utf-8"))
    assert result["model"]["id"] == "Kitchen 7B"
    assert result["provenance"]["asked"]["returned"] == {"Kitchen 7B": 1}


@pytest.mark.parametrize(
    ("model", "adapter"),
    [
        ("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_5_vl"),
        ("Qwen/Qwen3-VL-8B-Instruct", "qwen3_vl"),
        ("OpenGVLab/InternVL3-8B", "internvl3"),
        ("OpenGVLab/InternVL3-8B-hf", "internvl_hf"),
        ("llava-hf/llava-onevision-qwen2-7b-ov-hf", "llava_hf"),
        ("google/gemma-3-4b-it", None),  # a provider's too: `ask` ends with both lines
        ("hf/google/gemma-3-4b-it", "gemma3"),
        ("anthropic/claude-opus-4-6", None),
        ("gpt-6-luna", None),
    ],
)
def test_who_serves_a_model_is_told_by_its_name(model, adapter, monkeypatch):
    for variable in ("OPENAI_BASE_URL", "REELBENCH_LLM_URL"):
        monkeypatch.delenv(variable, raising=False)
    assert _adapter_of_checkpoint(model, None) == adapter
    assert _adapter_of_checkpoint(f"{model}@http://127.0.0.1:1/v1", None) is None


def test_a_folder_is_a_checkpoint_by_its_config(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "qwen2_5_vl"}')
    assert _adapter_of_checkpoint(str(tmp_path), None) == "qwen2_5_vl"
    (tmp_path / "config.json").write_text('{"model_type": "unheard_of"}')
    with pytest.raises(InputError, match="--adapter"):
        _adapter_of_checkpoint(str(tmp_path), None)


def test_a_folder_of_a_served_models_name_is_not_loaded(tmp_path, monkeypatch):
    (tmp_path / "gpt-6-luna").mkdir()
    (tmp_path / "gpt-6-luna" / "config.json").write_text('{"model_type": "internvl_chat"}')
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"write \./gpt-6-luna or --base-url URL"):
        _adapter_of_checkpoint("gpt-6-luna", None)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("run", "--", "--tasks", "curve_jja", "--model", "openai"), "did you mean 'curve_ja-JP'?"),
        (("run", "--", "--tasks", MINI, "--model", "opanai"), "did you mean 'openai'?"),
        (("run", "--onyl", "--", "--tasks", MINI), "did you mean --only"),
        (
            ("eval", MINI, "--model", "groq/q", "--frames", "64"),
            "Groq takes at most 5 pictures a request, and not 64",
        ),
        (
            ("eval", MINI, "--model", "google/gemma-3-4b"),
            "--model gemini/gemma-3-4b asks Google's Gemini API",
        ),
        (("power", "moviecore", "--icc", "2"), "`power`: taken for `compare power`"),
        (("check", "README.md"), "`reelbench new NAME --from README.md`"),
        (
            ("score", MINI, "--predictions", TABLE),
            "generated_text, text, predicted_answer, predicted answer); it has",
        ),
        (("new",), "as in `reelbench new kitchen --from rows.jsonl"),
        (
            ("leaderboard", "build", "--output", "site"),
            "as in `reelbench leaderboard build --store results --out site`",
        ),
        (("cache", "prune", "--yes"), "give --older-than DAYS, --model MODEL, or both"),
        (
            ("eval", MINI, "--model", "qwen2_5_vl"),
            "name the checkpoint: --model Qwen/Qwen2.5-VL-7B-Instruct",
        ),
    ],
)
def test_a_wrong_guess_ends_in_one_line_that_names_the_right_one(words, line, reelbench):
    done = reelbench(*words)
    assert done.returncode == 2, done.stderr
    assert line in done.stderr
    assert len(done.stderr.splitlines()) <= 2, done.stderr


def test_at_most_22_commands_stand_at_the_top(reelbench):
    told = reelbench("--help").stdout.partition("\nMeasure:")[2]
    assert (
        len([line for line in told.splitlines() if line.startswith("  ") and line[2] != " "]) <= 22
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("score", MINI, "--template", "--silent"), "--silent: taken for --quiet"),
    ],
)
def test_what_others_call_it_is_taken_for_ours_and_told(words, told, reelbench):
    done = reelbench(*words)
    assert done.returncode == 0, done.stderr
    assert told in done.stderr


def test_two_models_never_write_one_folder(reelbench, tmp_path):
    words = ("eval", MINI, "--base-url", "http://127.0.0.1:1/v1", "--output", tmp_path / "out")
    for first, second in (("a/b", "a-b"), ("a/b", "A/B"), ("m", "m")):
        done = reelbench(*words, "--model", first, "--model", second)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "two of them share a folder in --output; run them separately" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("config", ["[]", "3", '"x"', "null", "{", '{"model_type": ["a"]}'])
def test_a_checkpoint_s_config_that_is_none_is_said_in_a_line(config, tmp_path):
    (tmp_path / "config.json").write_text(config)
    with pytest.raises(InputError, match="no lmms-eval adapter is known for this checkpoint"):
        _adapter_of_checkpoint(str(tmp_path), None)


def test_what_is_quiet_does_not_tell_what_it_was_taken_for(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        done = reelbench(
            "ask",
            MINI,
            "--model",
            "m",
            "--url",
            server.url,
            "-q",
            "--limit",
            1,
            "--output",
            tmp_path,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_every_option_of_ask_is_one_of_eval_and_every_option_of_run():
    commands_by_words = dict(commands())
    options = {
        words: {option for part in commands_by_words[words].params for option in part.opts}
        for words in ("ask", "run", "eval")
    }
    assert options["ask"] | options["run"] <= options["eval"]


def test_options_of_ask_work_for_a_served_model(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        words = ("eval", MINI, "--model", "m", "--base-url", server.url, "--frames", "none")
        more = ("--candidates", "sample:2,t=0.7", "--per", "category=1", "--label", "twice")
        done = reelbench(*words, *more, "--output", tmp_path)
        assert done.returncode == 0, done.stderr
        temperatures = {call.body["temperature"] for call in server.calls}
    assert temperatures == {0.7}
    result = json.loads((tmp_path / MINI / "result.json").read_text())
    assert result["settings"]["label"] == "twice"
    assert result["settings"]["candidates"] == "sample:2,t=0.7"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--processes", "2"), "--processes: m is a served model, which has no such option"),
        (("--strict",), "--strict: m is a served model"),
        (("--llm", "translator=x"), "--llm: m is a served model"),
        (("--llm-batch",), "no such option: --llm-batch"),
    ],
)
def test_an_option_that_a_served_model_has_not_is_told(words, line, reelbench):
    url = "http://127.0.0.1:9/v1"
    done = reelbench("eval", MINI, "--model", "m", "--base-url", url, *words)
    assert done.returncode == 2
    assert line in done.stderr


def test_an_option_that_a_checkpoint_has_not_is_told(reelbench, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "qwen3_vl"}')
    done = reelbench("eval", MINI, "--model", tmp_path, "--data", "x", "--plan")
    assert done.returncode == 2
    assert f"--data: {tmp_path} is a checkpoint, which has no such option" in done.stderr
    done = reelbench("eval", MINI, "--model", tmp_path, "--strict", "--processes", 2, "--plan")
    assert done.returncode == 0, done.stderr
    assert "reelbench run --processes 2 --strict -- --tasks rextime_mini" in done.stderr


def test_the_warning_about_runs_comes_before_they_are_paid_for(reelbench, tmp_path):
    warning = "at temperature 0 runs are usually equal"
    with JudgeServer(lambda _: Answer(status=401, error={"message": "wrong key"})) as server:
        words = ("eval", MINI, "--model", "m", "--base-url", server.url, "--frames", "none")
        done = reelbench(*words, "--runs", 2, "--output", tmp_path)
    assert done.returncode == 1
    assert warning in done.stderr
    assert done.stderr.index(warning) < done.stderr.index("wrong key")
