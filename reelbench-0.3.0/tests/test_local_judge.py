# pyright: reportArgumentType=false
"""The recipe of local judges against the server of its title: `transformers serve` with a tiny random model."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.alarms import PATIENCE_S

pytestmark = [pytest.mark.lmms, pytest.mark.slow]

BIN = Path(sys.executable).parent
PREDICTIONS = Path(__file__).parent / "fixtures" / "v0_1_0" / "predictions" / "curve.jsonl"
WAIT = 600


@pytest.fixture(scope="module")
def tiny_llm(tiny_vlm, tmp_path_factory):
    """A real Qwen2 of under 1 MB, whose answers are noise."""
    import torch
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    folder = tmp_path_factory.mktemp("tiny-llm")
    words = AutoTokenizer.from_pretrained(tiny_vlm)
    torch.manual_seed(0)
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "max_position_embeddings": 1 << 13,
    }
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    config = Qwen2Config(vocab_size=len(words), eos_token_id=words.eos_token_id, **sizes, **heads)
    Qwen2ForCausalLM(config).save_pretrained(folder)
    words.save_pretrained(folder)
    stated = folder / "tokenizer_config.json"
    # The VLM's, which would have the server look for pictures' preprocessing.
    stated.write_text(
        json.dumps(
            {k: v for k, v in json.loads(stated.read_text()).items() if k != "processor_class"}
        )
    )
    return folder


@pytest.fixture(scope="module")
def server(tiny_llm, tmp_path_factory):
    """The URL of the server, once it answers."""
    pytest.importorskip(
        "fastapi",
        reason="transformers serve needs fastapi and uvicorn: pip install fastapi uvicorn",
    )
    pytest.importorskip("uvicorn")
    said = tmp_path_factory.mktemp("serve") / "said.txt"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    command = [BIN / "transformers", "serve", tiny_llm, "--host", "127.0.0.1", "--port", str(port)]
    with said.open("w") as file:
        process = subprocess.Popen(
            command, stdout=file, stderr=file, env={**os.environ, "HF_HUB_OFFLINE": "1"}
        )
    try:
        for _ in range(WAIT):
            assert process.poll() is None, said.read_text()
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).close()
                break
            except (urllib.error.URLError, TimeoutError):
                time.sleep(1)
        else:
            pytest.fail(f"no answer in {WAIT} s: {said.read_text()}")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def test_a_judge_behind_transformers_serve(server, tiny_llm, reelbench, tmp_path):
    lines = PREDICTIONS.read_text().splitlines()[:2]
    (tmp_path / "two.jsonl").write_text("\n".join(lines) + "\n")
    command = [
        "score",
        "curve",
        "--predictions",
        tmp_path / "two.jsonl",
        "--split",
        "mini",
        "--output",
        tmp_path / "out",
    ]
    command += [
        "--judge",
        tiny_llm,
        "--judge-url",
        server,
        "--judge-timeout",
        "300",
        "--judge-concurrency",
        "1",
    ]
    command += ["--judge-extra", '{"max_tokens": 8}', "--json"]
    done = reelbench(*command, timeout=WAIT)
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    samples = [
        json.loads(line) for line in (tmp_path / "out" / "samples.jsonl").read_text().splitlines()
    ]
    judged = [sample for sample in samples if sample["judge_replies"]]
    assert len(judged) == 2, done.stderr
    replies = [reply for sample in judged for reply in sample["judge_replies"]]
    # Noise is kept as it came, and scored only where it is a verdict: then the item is, and else it
    # says why not.
    assert all(isinstance(reply["raw"], str) for reply in replies)
    for sample in judged:
        verdict = any(reply["score"] is not None for reply in sample["judge_replies"])
        assert sample["state"] == ("scored" if verdict else "unscored")
        assert verdict or sample["reason"] in {"judge_unparsable", "judge_cut_off"}
    scored = sum(sample["state"] == "scored" for sample in judged)
    assert done.returncode == int(5 * scored < len(judged))
    judge = result["judge"]
    assert judge["requested"] == tiny_llm.name  # no path of this machine
    assert (judge["calls"], judge["extra"]) == (len(replies), {"max_tokens": 8})
    assert judge["prompt_tokens"] > 0
    assert 0 < judge["completion_tokens"] <= 8 * len(replies)

    again = reelbench(*command, timeout=WAIT)
    assert again.returncode == done.returncode
    judge = json.loads((tmp_path / "out" / "result.json").read_text())["judge"]
    assert (judge["calls"], judge["cached"]) == (0, len(replies))
