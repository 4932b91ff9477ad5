"""Other ways to a real model: lmms-eval's adapter, LiteLLM's proxy, and models that see pictures."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers.real import litellm_program, litellm_proxy, llama_cpp, transformers_serve
from tools.tiny_vlm import write

pytestmark = pytest.mark.slow
MODEL = "smollm2"
PICTURES = (1, 8, 32)
CONVERTER = Path(__file__).with_name("weights_of_llama_cpp.py")


def prompt_tokens(folder):
    """Return the tokens of the first prompt of the one result below a folder."""
    [path] = folder.rglob("samples.jsonl")
    first = path.read_text(encoding="utf-8").splitlines()[0]
    return json.loads(first)["tokens"]["prompt"]


def test_lmms_eval_asks_by_its_own_adapter(text_server, reelbench, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    arguments = f"model={MODEL},base_url={text_server.url},max_retries=1"
    done = reelbench(
        *("run", "--frames", "none", "--json", "--", "--tasks", "rextime_mini"),
        *("--model", "openai", "--model_args", arguments, "--limit", "4"),
        *("--gen_kwargs", "max_new_tokens=32", "--output_path", tmp_path / "out"),
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["items"] == 4


@pytest.mark.skipif(litellm_program() is None, reason="no litellm[proxy] here: LITELLM names one")
def test_a_proxy_in_between_is_asked_by_the_names_that_it_has(
    text_server, reelbench, tmp_path, monkeypatch
):
    key = "sk-of-this-test"  # the proxy starts with one alone
    monkeypatch.setenv("REELBENCH_LLM_API_KEY", key)
    settings = tmp_path / "proxy.yaml"
    lines = ["general_settings:", f"  master_key: {key}", "model_list:"]
    for name in ("team/small", "other"):
        lines += [
            f"  - model_name: {name}",
            "    litellm_params:",
            f"      model: openai/{MODEL}",
            f"      api_base: {text_server.url}",
            "      api_key: none",
        ]
    settings.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with litellm_proxy(settings, tmp_path / "log.txt") as proxy:
        for name in ("team/small", "other", "absent"):
            given = ("--model", name, "--base-url", proxy.url, "--frames", "none", "--limit", "3")
            words = ("--max-tokens", "16", "--output", tmp_path / name)
            done = reelbench("eval", "rextime_mini", *given, *words)
            if name == "absent":
                assert done.returncode == 1
                assert "team/small" in done.stderr
            else:
                assert done.returncode == 0, done.stderr


# --- models that see pictures


def with_pictures(reelbench, server, name, number, output):
    """Show a model so many pictures of two questions; returns the process."""
    words = ("--model", name, "--base-url", server.url, "--frames", number, "--limit", "2")
    options = ("--name", "tiny", "--max-tokens", "16", "--no-probe", "--output", output)
    return reelbench("eval", "rextime_mini", *words, *options)


@pytest.mark.usefixtures("folder")  # opt-in, as its neighbours
def test_more_pictures_are_more_tokens_behind_transformers_serve(reelbench, tmp_path):
    model = write(tmp_path / "tiny-vlm")
    tokens = []
    with transformers_serve(model, tmp_path / "log.txt") as server:
        for number in PICTURES:
            done = with_pictures(reelbench, server, model, number, tmp_path / str(number))
            assert "Traceback" not in done.stderr
            tokens.append(prompt_tokens(tmp_path / str(number)))
    assert tokens == sorted(set(tokens)), tokens


def test_more_pictures_are_more_tokens_behind_llama_cpp(folder, reelbench, tmp_path):
    source = folder / "llama.cpp"
    model = write(tmp_path / "tiny-vlm", vision_depth=3)
    for words in ((), ("--mmproj",)):
        output = tmp_path / f"model{''.join(words)}.gguf"
        command = [sys.executable, CONVERTER, source, model, output, *words]
        subprocess.run([str(word) for word in command], check=True, cwd=source)
    projector = tmp_path / "model--mmproj.gguf"
    words = ("--alias", "tiny", "-c", "16384", "--parallel", "1", "--mmproj", projector)
    tokens = []
    log = tmp_path / "log.txt"
    with llama_cpp(folder, log, *words, model=tmp_path / "model.gguf") as server:
        for number in PICTURES:
            done = with_pictures(reelbench, server, "tiny", number, tmp_path / str(number))
            assert "Traceback" not in done.stderr
            tokens.append(prompt_tokens(tmp_path / str(number)))
    assert tokens == sorted(set(tokens)), tokens
