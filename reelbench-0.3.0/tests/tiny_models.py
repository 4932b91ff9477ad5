"""Real but tiny models of other architectures than `tools.tiny_vlm`'s, with random weights: LLaVA, and one by its code.

`Stripe` is what a model is whose code lies beside its weights (`trust_remote_code`): this very file
is copied there.
"""

from transformers import LlamaConfig, LlamaForCausalLM
from transformers.feature_extraction_utils import BatchFeature
from transformers.processing_utils import ProcessorMixin

SPECIALS = ("<pad>", "<s>", "</s>", "<image>")
WIDTH = 32
MARKS = {"pad_token": SPECIALS[0], "bos_token": SPECIALS[1], "eos_token": SPECIALS[2]}
LLAMA = {
    "hidden_size": WIDTH,
    "intermediate_size": 2 * WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 4096,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
SPOKEN = (
    "{% for m in messages %}{{ m.role.upper() }}: "
    "{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content if p.type == 'text' %}{{ p.text }}"
    "{% endfor %}{% endif %}\n{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
)


class StripeConfig(LlamaConfig):
    model_type = "stripe"


class StripeModel(LlamaForCausalLM):
    """A Llama whose first token also knows the mean colour of what is shown."""

    config_class = StripeConfig

    def __init__(self, config):
        super().__init__(config)
        from torch import nn

        self.colour = nn.Linear(3, config.hidden_size)
        self.post_init()

    def forward(self, input_ids=None, colours=None, past_key_values=None, **kwargs):
        embeds = self.get_input_embeddings()(input_ids)
        if colours is not None and (
            past_key_values is None or past_key_values.get_seq_length() == 0
        ):
            embeds = embeds.clone()
            embeds[:, 0] += self.colour(colours.to(embeds.dtype))
        return super().forward(inputs_embeds=embeds, past_key_values=past_key_values, **kwargs)


class StripeProcessor(ProcessorMixin):
    attributes = ("tokenizer",)
    tokenizer_class = "AutoTokenizer"

    def __init__(self, tokenizer=None, chat_template=None, **_):
        super().__init__(tokenizer, chat_template=chat_template)

    def __call__(self, *, text, videos, padding, return_tensors, **_):
        import av
        import torch

        encoded = self.tokenizer(
            text, padding=padding, return_tensors=return_tensors, add_special_tokens=False
        )
        means = []
        for path in videos:
            with av.open(str(path)) as video:
                means += [
                    frame.to_ndarray(format="rgb24").mean(axis=(0, 1))
                    for frame in video.decode(video=0)
                ]
        colour = sum(means) / len(means) if means else [0, 0, 0]
        return BatchFeature(
            {**encoded, "colours": torch.tensor([[float(value) for value in colour]]) / 255}
        )


def _tokenizer():
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from tools.tiny_vlm import CORPUS

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        CORPUS * 20,
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=list(SPECIALS), initial_alphabet=alphabet
        ),
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        **MARKS,
        additional_special_tokens=["<image>"],
        chat_template=SPOKEN,
    )


def llava(folder, seed=0):
    """Write a LLaVA (CLIP and Llama) to `folder` and return it."""
    import torch
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = _tokenizer()
    vision = CLIPVisionConfig(
        hidden_size=WIDTH,
        intermediate_size=2 * WIDTH,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=28,
        patch_size=14,
        projection_dim=WIDTH,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=LlamaConfig(vocab_size=len(tokenizer), **LLAMA),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        image_seq_length=4,
    )
    torch.manual_seed(seed)
    LlavaForConditionalGeneration(config).save_pretrained(folder)
    LlavaProcessor(
        image_processor=CLIPImageProcessor(
            size={"shortest_edge": 28}, crop_size={"height": 28, "width": 28}
        ),
        tokenizer=tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=SPOKEN,
    ).save_pretrained(folder)
    return folder


def stripe(folder, seed=0):
    """Write the model whose code is this file to `folder` and return it."""
    import torch

    tokenizer = _tokenizer()
    StripeConfig.register_for_auto_class()
    StripeModel.register_for_auto_class("AutoModel")
    StripeProcessor.register_for_auto_class("AutoProcessor")
    torch.manual_seed(seed)
    StripeModel(StripeConfig(vocab_size=len(tokenizer), **LLAMA)).save_pretrained(folder)
    StripeProcessor(tokenizer, chat_template=SPOKEN).save_pretrained(folder)
    return folder
