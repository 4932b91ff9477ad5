"""Presets: a family's own settings, each with its source, applied where the user says nothing, and on record."""

import json

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.registry.presets import preset, shipped_presets
from reelbench.tasks.lmms import process
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
GOOD = '{"span": [0, 5], "answer": "A"}'
SOURCE = "https://example.org/card"


def reelbench(*words):
    done = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def ask(server, out, *options):
    reelbench(
        "ask", MINI, "--llm", "m", "--llm-url", server.url, "--limit", 1, "--output", out, *options
    )
    return json.loads((out / MINI / "result.json").read_text(encoding="utf-8"))["settings"]


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.yaml"
    stated = {"frames": "none", "temperature": 0.4, "top_k": 5, "max_tokens": 77, "pixels": 9000, "thinking": True,
              "prompt": "before"}  # fmt: skip
    lines = [
        f"  {name}: {{value: {json.dumps(value)}, source: {SOURCE}}}"
        for name, value in stated.items()
    ]
    path.write_text("\n".join(["about: Of my own", "values:", *lines]) + "\n", encoding="utf-8")
    return path


def test_it_says_what_the_user_does_not_and_is_on_record(own, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        settings = ask(server, tmp_path / "a", "--preset", own)
        changed = ask(
            server,
            tmp_path / "b",
            "--preset",
            own,
            "--max-tokens",
            99,
            "--llm-extra",
            '{"top_k": 7}',
        )
        first, second = (call.body for call in server.calls)
    sent = {"temperature": 0.4, "top_k": 5, "max_tokens": 77, "mm_processor_kwargs": {"max_pixels": 9000},
            "chat_template_kwargs": {"enable_thinking": True}}  # fmt: skip
    assert {name: first[name] for name in sent} == sent
    assert settings["frames"] == "none"
    assert settings["generation"] == sent
    assert settings["preset"]["values"]["top_k"] == {"value": 5, "source": SOURCE}
    assert "changed" not in settings["preset"]
    assert (second["max_tokens"], second["top_k"], second["temperature"]) == (99, 7, 0.4)
    assert changed["preset"]["changed"] == ["max_tokens", "top_k"]
    told = json.loads(reelbench("compare", tmp_path / "a" / MINI, tmp_path / "b" / MINI, "--json"))
    assert told["settings"]["settings.generation.top_k"] == [5, 7]


def test_the_question_stands_where_the_preset_says(own, tmp_path):
    own.write_text(own.read_text().replace('"none"', '"uniform:2"'))
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        ask(server, tmp_path / "a", "--preset", own)
        (call,) = server.calls
    kinds = [part["type"] for part in call.body["messages"][0]["content"]]
    assert (kinds[0], kinds.count("image_url"), kinds[-1]) == ("text", 2, "image_url")


def test_lmms_eval_is_told_and_what_is_given_stays():
    given = ["--model", "qwen3_vl", "--model_args", "pretrained=x", "--gen_kwargs", "top_p=0.5"]
    arguments, taken = process.with_preset(given, shipped_presets()["qwen3-vl-thinking"])
    pairs = process.option_value(arguments, "--gen_kwargs").split(",")
    assert set(pairs) == {"top_p=0.5", "temperature=0.6", "top_k=20", "repetition_penalty=1.0",
                          "presence_penalty=0.0", "max_new_tokens=40960", "do_sample=True"}  # fmt: skip
    assert process.option_value(arguments, "--seed") == "1234"
    assert process.option_value(arguments, "--model_args") == "pretrained=x,max_pixels=401408"
    assert taken.changed == ("top_p",)
    _, other = process.with_preset(["--model", "llava_hf"], shipped_presets()["qwen3-vl-thinking"])
    assert (
        {"pixels"} <= set(other.changed) <= {"pixels", "top_k", "top_p"}
    )  # its chat class passes on what it names


def test_what_an_adapter_never_hands_on_is_changed_and_not_sent():
    pytest.importorskip("lmms_eval")
    arguments, taken = process.with_preset(
        ["--model", "qwen3_vl"], shipped_presets()["qwen3-vl-instruct"]
    )
    assert "presence_penalty" in taken.changed  # 1.5, which Hugging Face's generate doesn't know
    assert "repetition_penalty" not in taken.changed  # 1.0 changes nothing
    assert "presence_penalty" not in process.option_value(arguments, "--gen_kwargs")


def test_what_lmms_eval_cant_be_told_is_refused(own):
    with pytest.raises(InputError, match="use `reelbench ask`"):
        process.with_preset([], preset(str(own)))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("values: {top_k: 5}", "top_k: names no source"),
        (
            f"values: {{top_k: {{value: a lot, source: '{SOURCE}'}}}}",
            "'a lot' is not a whole number",
        ),
        (
            f"values: {{beams: {{value: 2, source: '{SOURCE}'}}}}",
            "'beams' is not a value of a preset",
        ),
        (
            f"values: {{frames: {{value: 'many:2', source: '{SOURCE}'}}}}",
            "'many' is not a kind of sampling",
        ),
        ("about: x", "expected `about` and `values`"),
    ],
)
def test_a_preset_that_is_wrong_is_a_line(text, line, tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=line):
        preset(str(path))


def test_every_value_that_is_shipped_has_a_source_at_a_commit():
    told = json.loads(reelbench("list", "presets", "--json"))
    assert set(told) == {"qwen3-vl-instruct", "qwen3-vl-thinking", "internvl", "videollama3"}
    sources = [value["source"] for one in told.values() for value in one["values"].values()]
    assert all(
        source.startswith("https://github.com/") and len(source.split("/")[6]) == 40
        for source in sources
    )
    assert "presets are" not in reelbench("list", "presets")
    with pytest.raises(InputError, match="there are qwen3-vl-instruct"):
        preset("gpt-9")
