"""Write a real but tiny Qwen2.5-VL with random weights: under 1 MB, it runs on a CPU through lmms-eval's own adapter.

    python tools/tiny_vlm.py FOLDER

Its answers are noise. It shows that frames, prompts, generation and scoring meet, and nothing about
quality.
"""

import sys
from pathlib import Path

SPECIALS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)

# Roles and media between the marks that the model's processor expands into one token per patch.
CHAT_TEMPLATE = """\
{%- macro media(kind) -%}<|vision_start|><|{{ kind }}_pad|><|vision_end|>{%- endmacro -%}
{%- for message in messages -%}
<|im_start|>{{ message.role }}
{% if message.content is string -%}
{{ message.content }}
{%- else -%}
{%- for part in message.content -%}
{%- if part.type in ('image', 'video') -%}{{ media(part.type) }}{%- else -%}{{ part.text }}{%- endif -%}
{%- endfor -%}
{%- endif -%}
<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}<|im_start|>assistant
{% endif -%}
"""

CORPUS = (
    "the square crosses the field from 0 to 10 seconds and the answer is A B C D or E",
    "why how what when",
)


def write(folder: Path, seed: int = 0, vision_depth: int = 2) -> Path:
    """Write model, tokenizer and processor to `folder` and return it.

    Args:
        folder: The checkpoint's folder.
        seed: The same seed gives the same weights.
        vision_depth: Layers of the part that sees. llama.cpp's converter takes three at least.
    """
    import torch
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
    )
    from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor

    tokenizer = tokenizer_of_bytes()
    token = {special: tokenizer.convert_tokens_to_ids(special) for special in SPECIALS}
    width, heads = 64, 4
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": width,
        "intermediate_size": 2 * width,
        "num_hidden_layers": 2,
        "num_attention_heads": heads,
        "num_key_value_heads": heads // 2,
        "max_position_embeddings": 1 << 15,
        # Time, height and width share a head's width / 2 rotary pairs.
        "rope_scaling": {"type": "mrope", "rope_type": "default", "mrope_section": [2, 3, 3]},
        "bos_token_id": token["<|im_start|>"],
        "eos_token_id": token["<|im_end|>"],
        "pad_token_id": token["<|endoftext|>"],
    }
    vision = {
        "depth": vision_depth,
        "hidden_size": 32,
        "num_heads": 2,
        "intermediate_size": 64,
        "out_hidden_size": width,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "window_size": 112,
        "fullatt_block_indexes": [1],
    }
    config = Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=token["<|image_pad|>"],
        video_token_id=token["<|video_pad|>"],
        vision_start_token_id=token["<|vision_start|>"],
        vision_end_token_id=token["<|vision_end|>"],
    )
    torch.manual_seed(seed)
    Qwen2_5_VLForConditionalGeneration(config).save_pretrained(folder)
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=CHAT_TEMPLATE,
    )
    processor.save_pretrained(folder)
    return folder


def tokenizer_of_bytes():  # noqa: ANN201 - a transformers class that is imported late
    """Return a tokenizer whose alphabet is the 256 bytes, with the special tokens of Qwen2.5-VL."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=512,
        special_tokens=list(SPECIALS),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    bpe.train_from_iterator(CORPUS * 20, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        eos_token="<|im_end|>",  # noqa: S106 - a token of text
        pad_token="<|endoftext|>",  # noqa: S106
        additional_special_tokens=list(SPECIALS),
        chat_template=CHAT_TEMPLATE,
    )


if __name__ == "__main__":
    write(Path(sys.argv[1]))
