"""Candidates through real lmms-eval runs: beams of three architectures, samples, and what is refused."""

import json

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.tasks import score as scoring_runs
from tests import lmms_runs
from tests.lmms_runs import evaluate, samples, texts
from tests.program import app
from tests.scored import score_run
from tests.servers.judge import Answer, JudgeServer

pytestmark = [pytest.mark.lmms, pytest.mark.slow]

TASK = "rextime_mini"


@pytest.fixture(scope="module", params=["qwen2_5_vl", "llava_hf", "huggingface"])
def adapter(request, tiny_vlm, tmp_path_factory):
    return request.param, *lmms_runs.small(request.param, tiny_vlm, tmp_path_factory)


@pytest.fixture
def qwen(tiny_vlm, tmp_path_factory, monkeypatch):
    args, frames, _ = lmms_runs.small("qwen2_5_vl", tiny_vlm, tmp_path_factory)
    monkeypatch.setenv("REELBENCH_FRAMES", frames)
    return args


@pytest.fixture
def _registered():
    """Register adapters of `tests.lmms_adapters` under their names."""
    from lmms_eval.models import MODEL_REGISTRY_V2
    from lmms_eval.models.registry_v2 import ModelManifest

    for name in ("Edits", "Fails"):
        path = f"tests.lmms_adapters.{name}"
        MODEL_REGISTRY_V2.register_manifest(
            ModelManifest(name.lower(), chat_class_path=path), overwrite=True
        )


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("REELBENCH_FRAMES", "none")
    with JudgeServer(
        lambda call: Answer(f'{{"span": [0, {call.number}], "answer": "A"}}')
    ) as running:
        yield running


def model_at(server):
    return f"model=m,base_url={server.url},num_concurrent=1,prefix_aware_queue=False"


def test_beams_are_the_adapter_s_own_and_its_answer_is_the_first(adapter, monkeypatch):
    model, args, frames, options = adapter
    monkeypatch.setenv("REELBENCH_FRAMES", frames)
    # lmms-eval's own way to the best of five beams; what the others are it never says.
    best = texts(evaluate(model, args, TASK, gen_kwargs={"num_beams": 5}, **options))
    monkeypatch.setenv("REELBENCH_CANDIDATES", "beam:5")
    first, second = samples(evaluate(model, args, TASK, **options))
    for sample, answer in zip((first, second), best, strict=True):
        assert len(sample["candidates"]) == 5
        assert sample["candidates"][0] == sample["prediction"] == answer
    if (
        model == "qwen2_5_vl"
    ):  # bytes that are no text look alike, so others may seem to say a thing twice
        assert len(set(first["candidates"])) == 5
    assert len(set(second["candidates"])) > 1


def test_a_plain_run_is_what_it_was(qwen, monkeypatch, tmp_path):
    cache = str(tmp_path)
    plain = samples(evaluate("qwen2_5_vl", qwen, TASK, use_cache=cache))
    assert not any("candidates" in sample for sample in plain)
    monkeypatch.setenv("REELBENCH_CANDIDATES", "beam:3")
    beams = samples(evaluate("qwen2_5_vl", qwen, TASK, use_cache=cache))
    assert [len(sample["candidates"]) for sample in beams] == [
        3,
        3,
    ]  # no answer is taken from the plain run's cache
    # Where the cache answers, nothing can be counted on its way to the model.
    unseen = {"frames_arrived": "unknown"}
    assert samples(evaluate("qwen2_5_vl", qwen, TASK, use_cache=cache)) == [
        sample | unseen for sample in beams
    ]
    monkeypatch.delenv("REELBENCH_CANDIDATES")
    assert samples(evaluate("qwen2_5_vl", qwen, TASK, use_cache=cache)) == [
        sample | unseen for sample in plain
    ]


@pytest.mark.usefixtures("_registered")
def test_an_adapter_that_edits_its_text_is_refused(qwen, monkeypatch):
    monkeypatch.setenv("REELBENCH_CANDIDATES", "beam:3")
    with pytest.raises(
        ReelbenchError,
        match=r"^Edits edits its text: it says 'Answer: .* try candidates sample:3,t=0.7",
    ):
        evaluate("edits", qwen, TASK)


@pytest.mark.usefixtures("_registered")
def test_a_question_that_generate_failed_on_is_no_empty_answer(qwen, monkeypatch):
    from transformers import Qwen2_5_VLForConditionalGeneration

    monkeypatch.setenv("REELBENCH_CANDIDATES", "beam:3")

    def full(*_, **__):
        raise MemoryError("no memory for 3 beams")

    monkeypatch.setattr(Qwen2_5_VLForConditionalGeneration, "generate", full)
    [sample] = samples(evaluate("fails", qwen, TASK, limit=1))
    assert (sample["state"], sample["reason"]) == ("unscored", "model_failed")
    assert "no memory for 3 beams" in sample["prediction"]


@pytest.mark.parametrize("model", ["openai", "reelbench_baseline"])
def test_an_adapter_without_beams_says_so_and_asks_nothing(model, server, monkeypatch):
    monkeypatch.setenv("REELBENCH_CANDIDATES", "beam:5")
    args = model_at(server) if model == "openai" else ""
    with pytest.raises(
        ReelbenchError,
        match="has no beams: it doesn't call Hugging Face's generate; try candidates",
    ):
        evaluate(model, args, TASK)
    assert server.calls == []


def test_samples_are_all_kept_however_they_are_asked_for(server, monkeypatch, tmp_path):
    asked = {"repeats": 3, "gen_kwargs": {"temperature": 0.7}}
    by_repeats = evaluate("openai", model_at(server), TASK, **asked)
    monkeypatch.setenv("REELBENCH_CANDIDATES", "sample:3,t=0.7")
    by_name = evaluate("openai", model_at(server), TASK)
    for done, before in ((by_repeats, 0), (by_name, 6)):
        for number, sample in enumerate(samples(done)):
            said = [
                f'{{"span": [0, {before + 3 * number + turn}], "answer": "A"}}' for turn in range(3)
            ]
            assert sample["candidates"] == said
            assert sample["prediction"] == said[0]
        folder = lmms_runs.written(done, tmp_path / str(before))
        [outcome] = score_run(folder, None, scoring_runs.Options())
        assert outcome.result.settings.candidates == "sample:3,t=0.7"
    assert {call.body["temperature"] for call in server.calls} == {0.7}


def test_run_and_a_bare_lmms_eval_leave_the_same(server, monkeypatch, tmp_path):
    words = [
        "--tasks",
        TASK,
        "--model",
        "openai",
        "--model_args",
        model_at(server),
        "--limit",
        "2",
        "--log_samples",
    ]
    server.script(
        lambda call: Answer(
            f'{{"span": [0, {call.number % 3}], "answer": "{"ABC"[call.number % 3]}"}}'
        )
    )
    asked_for = ("--candidates", "sample:3,t=0.7")
    lmms_runs.run_here(
        monkeypatch, "run", *asked_for, "--", *words, "--output_path", tmp_path / "run"
    )
    lmms_runs.command(
        monkeypatch,
        [*words, "--output_path", tmp_path / "bare"],
        {"REELBENCH_CANDIDATES": "sample:3,t=0.7"},
    )
    lmms_runs.run_here(monkeypatch, "score", "--run", tmp_path / "bare")
    of_run, of_bare = (next((tmp_path / way).rglob("samples.jsonl")) for way in ("run", "bare"))
    assert of_run.read_text() == of_bare.read_text()
    assert [len(json.loads(line)["candidates"]) for line in of_run.read_text().splitlines()] == [
        3,
        3,
    ]
    settings = [
        json.loads(path.with_name("result.json").read_text())["settings"]
        for path in (of_run, of_bare)
    ]
    assert [found["candidates"] for found in settings] == ["sample:3,t=0.7"] * 2
    assert settings[0]["generation"]["temperature"] == 0.7


def test_what_is_not_candidates_ends_before_anything_is_run(server, monkeypatch):
    done = CliRunner().invoke(app, ["run", "--candidates", "beam", "--", "--tasks", TASK])
    assert isinstance(done.exception, InputError)
    monkeypatch.setenv("REELBENCH_CANDIDATES", "sample:5")
    with pytest.raises(Exception, match="candidates 'sample:5': give beam:K or sample:K,t=T"):
        evaluate("openai", model_at(server), TASK)
    assert server.calls == []
