"""The open judge: pinned, said to be unvalidated, never asked unless it is named."""

import json

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from tests.program import app
from tests.servers.judge import JudgeServer, always

REVISION = "9216db5781bf21249d130ec9da846c4624c16137"


def invoke(*words):
    return CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)


def test_a_preset_is_what_is_asked_and_what_is_on_record(tmp_path):
    (tmp_path / "answers.jsonl").write_text('{"id": "mini1", "prediction": "Three times."}\n')
    named = (
        "score",
        "curve_mini",
        "--predictions",
        tmp_path / "answers.jsonl",
        "--output",
        tmp_path / "out",
    )
    with JudgeServer(always("2")) as server:
        done = invoke(
            *(*named, "--judge-preset", "qwen3-32b", "--judge-url", server.url),
            *("--judge-extra", '{"max_tokens": 64}'),
        )
        assert done.exit_code == 0
        [call] = server.calls
    sent = {name: value for name, value in call.body.items() if name != "messages"}
    assert sent == {
        "model": "Qwen/Qwen3-32B@9216db5781bf",
        "temperature": 0,
        "chat_template_kwargs": {"enable_thinking": False},
        "max_tokens": 64,  # the user's word
        "seed": 0,
    }
    assert "unvalidated" in done.stderr
    judge = json.loads((tmp_path / "out" / "result.json").read_text())["judge"]
    assert (judge["requested"], judge["temperature"]) == ("Qwen/Qwen3-32B@9216db5781bf", 0)
    assert judge["extra"] == {
        "chat_template_kwargs": {"enable_thinking": False},
        "max_tokens": 64,
        "seed": 0,
    }
    with pytest.raises(InputError, match="give one of them"):
        invoke(*named, "--judge-preset", "qwen3-32b", "--judge", "other")
    with pytest.raises(InputError, match="'gpt' is not one of qwen3-32b"):
        invoke(*named, "--judge-preset", "gpt")


def test_presets_say_how_to_serve_them_and_that_nobody_validated_them():
    [preset] = json.loads(invoke("list", "judges", "--json").stdout)["presets"]
    assert preset["validated"] is False
    assert preset["sources"]
    printed = invoke("list", "judges").stdout
    assert "unvalidated" in printed
    assert (
        f"vllm serve Qwen/Qwen3-32B --revision {REVISION} --tokenizer-revision {REVISION}"
        in printed
    )
