"""Option scores through real lmms-eval runs: three architectures against a plain forward, and a server like vLLM."""

import json
import math
from functools import partial

import pytest

import reelbench
from reelbench.base.errors import ReelbenchError
from reelbench.leaderboard import store
from reelbench.tasks.lmms import logprobs
from tests import lmms_runs
from tests.lmms_runs import evaluate, samples
from tests.servers import vllm
from tests.servers.judge import Answer, JudgeServer

pytestmark = [pytest.mark.lmms, pytest.mark.slow]

TASK = "rextime_options_mini"


@pytest.fixture(scope="module", params=["qwen2_5_vl", "llava_hf", "huggingface"])
def adapter(request, tiny_vlm, tmp_path_factory):
    return request.param, *lmms_runs.small(request.param, tiny_vlm, tmp_path_factory)


@pytest.fixture
def asked(monkeypatch):
    """What models were asked: (model, inputs, tokens) of each question."""
    real, calls = logprobs.of_model, []

    def watched(model, inputs, tokens):
        calls.append((model, inputs, tokens))
        return real(model, inputs, tokens)

    monkeypatch.setattr("reelbench.tasks.lmms.logprobs.of_model", watched)
    return calls


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("REELBENCH_FRAMES", "none")
    with JudgeServer(vllm.reply) as running:
        yield running


def model_at(server, concurrent=4):
    return f"model=m,base_url={server.url},num_concurrent={concurrent},prefix_aware_queue=False,max_retries=1"


def plain_forward(model, inputs, continuation):
    """The sum of a continuation's log-probabilities: one forward over the prompt and it."""
    import torch

    length, more = inputs["input_ids"].shape[1], torch.tensor([continuation])
    whole = dict(inputs) | {"input_ids": torch.cat([inputs["input_ids"], more], dim=1)}
    whole["attention_mask"] = torch.ones_like(whole["input_ids"])
    if "mm_token_type_ids" in inputs:  # Qwen's: what is said is text
        whole["mm_token_type_ids"] = torch.cat(
            [inputs["mm_token_type_ids"], torch.zeros_like(more)], dim=1
        )
    with torch.no_grad():
        logits = model(**whole).logits[0].float()
    return sum(
        float(torch.log_softmax(logits[length + place - 1], dim=-1)[token])
        for place, token in enumerate(continuation)
    )


@pytest.mark.parametrize("norm", ["mean", "sum"])
def test_scores_are_those_of_a_plain_forward(adapter, asked, norm, monkeypatch):
    import torch

    model, args, frames, options = adapter
    monkeypatch.setenv("REELBENCH_FRAMES", frames)
    monkeypatch.setenv("REELBENCH_ANSWERING", f"options:norm={norm},span=truth")
    found = samples(evaluate(model, args, TASK, limit=3, **options))
    rows = list(reelbench.load(TASK))[:3]
    for sample, row in zip(found, rows, strict=True):
        start, end = row["span"]
        sentences = [f"From {start:g} to {end:g}, {option}." for option in row["options"]]
        # The prompts are asked in an order of the adapter's own: the question is known by its
        # sentences.
        used, inputs, tokens = next(
            call for call in asked if len(call[2]) == 4 and spelled(call, model) == sentences
        )
        sums = [plain_forward(used, inputs, ids) for ids in tokens]
        # Rounding: of bfloat16 some 0.8 % of a log-probability of about 6, for each token.
        exact = next(used.parameters()).dtype == torch.float32
        within = [1e-3 if exact else 0.05 * len(ids) for ids in tokens]
        kept = sample["option_scores"]
        for score, total, ids, sentence, option, allowed in zip(
            kept, sums, tokens, sentences, row["options"], within, strict=True
        ):
            assert score["sentence"]["sum"] == pytest.approx(total, abs=allowed)
            assert score["sentence"]["tokens"] == len(ids)
            assert (score["sentence"]["characters"], score["option"]["characters"]) == (
                len(sentence),
                len(option),
            )
        weights = [1 if norm == "sum" else score["sentence"]["tokens"] for score in kept]
        values = [
            score["sentence"]["sum"] / weight for score, weight in zip(kept, weights, strict=True)
        ]
        assert sample["parsed"] == {"answer": "ABCD"[values.index(max(values))]}
        assert sample["prediction"] is None
        assert sample["scores"] == {"correct": float(sample["parsed"]["answer"] == row["answer"])}
    # The prompt was read once from the second question on, and gave what whole forwards give.
    assert logprobs.reads_once[asked[0][0]] is True


def spelled(call, model):
    """The sentences that a model's tokens spell, by the tokenizer beside its weights."""
    from transformers import AutoTokenizer

    used, _, tokens = call
    tokenizer = AutoTokenizer.from_pretrained(
        used.config._name_or_path, trust_remote_code=model == "huggingface"
    )
    return [tokenizer.decode(ids, clean_up_tokenization_spaces=False) for ids in tokens]


def test_a_model_that_can_not_go_on_from_a_prompt_is_asked_by_whole_forwards(tmp_path):
    import torch

    from tests import tiny_models

    tiny_models.stripe(tmp_path)
    model = tiny_models.StripeModel.from_pretrained(tmp_path).eval()
    whole, seen = model.forward, []

    def forgets(past_key_values=None, **inputs):  # the prompt, where it should be known
        seen.append(past_key_values is not None)
        return whole(**inputs)

    model.forward = forgets
    inputs = {
        "input_ids": torch.tensor([[5, 6, 7, 8]]),
        "attention_mask": torch.ones(1, 4, dtype=torch.long),
    }
    tokens = [[9, 10, 11], [12, 13]]
    expected = [plain_forward(model, inputs, ids) for ids in tokens]
    for _ in range(2):
        held = logprobs.of_model(model, inputs, tokens)
        assert [sum(ids) for ids in held.logprobs] == pytest.approx(expected, abs=1e-4)
    assert any(seen[:-2])  # tried once, with the first question
    assert not any(seen[-2:])


def test_dramaqa_s_options_stand_by_themselves(adapter, asked, monkeypatch):
    model, args, frames, options = adapter
    if model == "llava_hf":
        pytest.skip("a scene's pictures are more than its prompt holds")
    monkeypatch.setenv("REELBENCH_FRAMES", frames)
    [sample] = samples(evaluate(model, args, "dramaqa_cogme_options_mini", limit=1, **options))
    row = next(iter(reelbench.load("dramaqa_cogme_options_mini")))
    assert spelled(asked[0], model) == row["options"]
    assert len(sample["option_scores"]) == 5


# --- a server
# --------------------------------------------------------------------------------------------------------


def weighed(sentence):
    """What the server of these tests gives a sentence: (log-probability, tokens)."""
    parts = sentence.split()
    return sum(vllm.logprob(word) for word in parts), len(parts)


def test_a_server_is_asked_for_the_likelihood_of_its_own_turn(server):
    found = samples(evaluate("openai", model_at(server), TASK, limit=3))
    for sample, row in zip(found, reelbench.load(TASK), strict=False):
        assert sample["prediction"] == "[2, 7.5]"
        sentences = [f"From 2 to 7.5, {option}." for option in row["options"]]
        kept = [score["sentence"] for score in sample["option_scores"]]
        expected = [weighed(sentence) for sentence in sentences]
        assert [score["tokens"] for score in kept] == [tokens for _, tokens in expected]
        assert [score["sum"] for score in kept] == pytest.approx([total for total, _ in expected])
        means = [score["sum"] / score["tokens"] for score in kept]
        assert sample["parsed"] == {"answer": "ABCD"[means.index(max(means))], "span": [2.0, 7.5]}
        assert sample["scores"]["iou"] >= 0
    assert len(server.calls) == 3 * (1 + 1 + 4)
    scored = [call.body for call in server.calls if "prompt_logprobs" in call.body]
    assert {body["max_tokens"] for body in scored} == {1}
    assert not any("Options" in json.dumps(call.body["messages"]) for call in server.calls)


def test_a_server_without_prompt_log_probabilities_ends_the_run_with_one_line(server):
    server.script(lambda _: Answer("[2, 7.5]"))
    with pytest.raises(ReelbenchError, match="this server gives no log-probabilities of a prompt"):
        evaluate("openai", model_at(server), TASK)
    assert len(server.calls) == 3  # the span, the prompt and one option


def test_a_template_that_changes_the_prompt_is_refused(server):
    def thinks(call):
        if call.body.get("continue_final_message"):
            call.body["messages"][0] = {"role": "user", "content": "/think"}
        return vllm.reply(call)

    server.script(thinks)
    with pytest.raises(
        ReelbenchError,
        match="its chat template writes the prompt otherwise where an answer follows",
    ):
        evaluate("openai", model_at(server), TASK)


def test_a_question_that_the_server_failed_on_is_unscored(server):
    rows = list(reelbench.load(TASK))

    def fails(call):
        told = json.dumps(call.body["messages"])
        return (
            Answer(status=500)
            if "prompt_logprobs" in call.body and rows[1]["options"][3] in told
            else vllm.reply(call)
        )

    server.script(fails)
    first, second = samples(evaluate("openai", model_at(server), TASK))
    assert (first["state"], second["state"], second["reason"]) == (
        "scored",
        "unscored",
        "model_failed",
    )
    assert "option_scores" not in second


@pytest.mark.parametrize("model", ["reelbench_baseline", "async_openai"])
def test_an_adapter_without_option_scores_says_so(model, server, monkeypatch):
    monkeypatch.setenv("REELBENCH_ANSWERING", "options:span=none")
    args = "" if model == "reelbench_baseline" else f"model=m,base_url={server.url}"
    with pytest.raises(ReelbenchError, match="has no option scores: "):
        evaluate(model, args, TASK)
    assert server.calls == []


# --- what is left on disk
# --------------------------------------------------------------------------------------------


def test_every_variant_is_scored_again_without_the_model(server, monkeypatch, tmp_path):
    invoke = partial(lmms_runs.run_here, monkeypatch)
    words = [
        "--tasks",
        TASK,
        "--model",
        "openai",
        "--model_args",
        model_at(server),
        "--log_samples",
    ]
    invoke(
        "run", "--answering", "options:norm=chars", "--", *words, "--output_path", tmp_path / "run"
    )
    lmms_runs.command(monkeypatch, [*words, "--output_path", tmp_path / "bare"], {})
    asked = len(server.calls)
    rows = {row["id"]: row for row in reelbench.load(TASK)}
    for variant in ("mean", "sum", "chars"):
        folder = tmp_path / variant
        invoke(
            "score",
            "--run",
            tmp_path / "bare",
            "--answering",
            f"options:norm={variant}",
            "--output",
            folder,
        )
        result = json.loads((folder / TASK / "result.json").read_text())
        assert (
            result["settings"]["answering"]
            == f"options:norm={variant},over=sentence,span=predicted"
        )
        lines = [
            json.loads(line) for line in (folder / TASK / "samples.jsonl").read_text().splitlines()
        ]
        right = []
        for line in lines:
            row = rows[line["id"]]
            sentences = [f"From 2 to 7.5, {option}." for option in row["options"]]
            per = {"mean": lambda s: len(s.split()), "sum": lambda _: 1, "chars": len}[variant]
            values = [weighed(sentence)[0] / per(sentence) for sentence in sentences]
            assert line["parsed"]["answer"] == "ABCD"[values.index(max(values))]
            right.append(line["parsed"]["answer"] == row["answer"])
        assert result["metrics"]["accuracy"]["value"] == pytest.approx(
            100 * math.fsum(right) / len(right)
        )
        [added] = store.add(folder / TASK, tmp_path / "store")
        assert added.outcome == "added", added.why
    assert len(server.calls) == asked
    by_run = next((tmp_path / "run").rglob("samples.jsonl"))
    assert by_run.read_text() == (tmp_path / "chars" / TASK / "samples.jsonl").read_text()

    # An answer that does not follow from the scores is refused.
    path = tmp_path / "sum" / TASK
    edited = path / "samples.jsonl"
    first, *others = edited.read_text().splitlines(keepends=True)
    sample = json.loads(first)
    sample["parsed"]["answer"] = "ABCD"["ABCD".index(sample["parsed"]["answer"]) - 1]
    edited.write_text("".join([json.dumps(sample) + "\n", *others]))
    from reelbench.base.files import sha256_of

    result = json.loads((path / "result.json").read_text())
    result["provenance"]["samples_sha256"] = sha256_of(edited)
    (path / "result.json").write_text(json.dumps(result))
    [refused] = store.add(path, tmp_path / "store")
    assert refused.outcome == "refused"
    assert "the answer was edited" in refused.why

    out = invoke("score", "--run", tmp_path / "bare", "--answering", "options:span=truth", status=2)
    assert "was run with span=predicted" in out


def test_a_task_that_writes_its_answers_is_not_answered_by_options(monkeypatch, server):
    invoke = partial(lmms_runs.run_here, monkeypatch)
    out = invoke(
        "run",
        "--answering",
        "options",
        "--",
        "--tasks",
        "rextime_mini",
        "--model",
        "openai",
        status=2,
    )
    assert "rextime_mini: its answers are free text" in out
    out = invoke(
        "run", "--candidates", "beam:5", "--", "--tasks", TASK, "--model", "openai", status=2
    )
    assert "its options are scored and no text is written" in out
    monkeypatch.setenv("REELBENCH_ANSWERING", "options")
    with pytest.raises(Exception, match="rextime_mini: its answers are free text"):
        evaluate("openai", model_at(server), "rextime_mini")
    assert server.calls == []
