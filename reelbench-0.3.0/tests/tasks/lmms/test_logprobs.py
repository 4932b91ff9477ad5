"""Option scores of a prompt as adapters make it: padded, or with a thought that its template opens."""

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.tasks.lmms import logprobs

pytestmark = pytest.mark.lmms

PROMPT = [5, 9, 2, 7, 11]
SENTENCES = [[3, 8], [4, 6, 12]]


@pytest.fixture(scope="module")
def model():
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    shape = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    return Qwen2ForCausalLM(
        Qwen2Config(vocab_size=32, hidden_size=32, intermediate_size=64, **shape)
    ).eval()


def plain(model, ids):
    """The log-probability of a sentence's tokens by one forward of transformers' own."""
    import torch

    with torch.no_grad():
        logits = model(input_ids=torch.tensor([PROMPT + ids])).logits[0].log_softmax(-1)
    return [float(logits[len(PROMPT) - 1 + place, token]) for place, token in enumerate(ids)]


@pytest.mark.parametrize("pads", [0, 3])
def test_pads_at_a_prompts_right_are_no_positions(model, pads):
    import torch

    inputs = {
        "input_ids": torch.tensor([PROMPT + [0] * pads]),
        "attention_mask": torch.tensor([[1] * len(PROMPT) + [0] * pads]),
    }
    for _ in range(2):  # by whole forwards and by the prompt's cache; then by the cache alone
        scored = logprobs.of_model(model, inputs, SENTENCES)
        for found, ids in zip(scored.logprobs, SENTENCES, strict=True):
            assert found == pytest.approx(plain(model, ids), abs=1e-5)


@pytest.mark.parametrize("opened", ["<think>\n", "<reasoning>", "◁think▷"])
def test_a_prompt_that_opens_a_thought_is_refused(opened):
    import torch

    class Tokenizer:
        def decode(self, ids):
            return "".join(map(chr, ids))

        batch_decode = decode

    class Adapter:
        tokenizer = Tokenizer()

    call = logprobs._GenerateCall(Adapter(), ["a sentence"])
    prompt = torch.tensor([[ord(letter) for letter in f"assistant\n{opened}"]])
    with pytest.raises(ReelbenchError, match="scored as its first thought"):
        call(input_ids=prompt)
    assert "enable_thinking=False" in call.problem
