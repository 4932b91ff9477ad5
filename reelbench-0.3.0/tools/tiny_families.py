"""Write real but tiny models of several families with random weights, which run on a CPU through lmms-eval's adapters.

    python -m tools.tiny_families FOLDER [FAMILY …]

Like `tools.tiny_vlm`'s their answers are noise: they show which frames arrive, and which times are
told.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tools import tiny_vlm

VISION = ("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")
WIDTH = 64
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
SIDE = 56


def tokenizer(specials: Sequence[str], picture: str, video: str = "", **named: str) -> Any:  # noqa: ANN401 - transformers'
    """Return a tokenizer of bytes with more special tokens, whose template puts `picture` and `video` for media."""
    made = tiny_vlm.tokenizer_of_bytes()
    made.add_special_tokens({"additional_special_tokens": [*tiny_vlm.SPECIALS, *specials]})
    for name, token in named.items():
        setattr(made, name, token)
        made.init_kwargs[name] = token
    made.chat_template = (
        "{%- for m in messages -%}<|im_start|>{{ m.role }}\n{%- for p in m.content -%}"
        f"{{%- if p.type == 'image' -%}}{picture}{{%- elif p.type == 'video' -%}}{video}"
        "{%- else -%}{{ p.text }}{%- endif -%}{%- endfor -%}<|im_end|>\n{% endfor -%}"
        "{%- if add_generation_prompt -%}<|im_start|>assistant\n{% endif -%}"
    )
    return made


def text(tokens: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return the configuration of a small language model with these tokens."""
    ids = {name: tokens.convert_tokens_to_ids(token) for name, token in _ENDS.items()}
    shape = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2}
    size = {
        "hidden_size": WIDTH,
        "intermediate_size": 2 * WIDTH,
        "max_position_embeddings": 1 << 15,
    }
    return {"vocab_size": len(tokens), **size, **shape, **ids}


_ENDS = {
    "bos_token_id": "<|im_start|>",
    "eos_token_id": "<|im_end|>",
    "pad_token_id": "<|endoftext|>",
}


def _saved(folder: Path, model: Any, processor: Any) -> Path:  # noqa: ANN401
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def _qwen(tokens: Any) -> dict[str, int]:  # noqa: ANN401
    names = ("vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id")
    return {
        name: tokens.convert_tokens_to_ids(token) for name, token in zip(names, VISION, strict=True)
    }


def qwen2_vl(folder: Path) -> Path:
    """Write a Qwen2-VL."""
    import transformers as hf

    tokens = tokenizer((), *(f"{VISION[0]}{pad}{VISION[1]}" for pad in VISION[2:]))
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e4}
    vision = {
        "depth": 2,
        "embed_dim": 32,
        "num_heads": 2,
        "mlp_ratio": 2,
        "hidden_size": WIDTH,
        "patch_size": 14,
    }
    config = hf.Qwen2VLConfig(
        text_config={**text(tokens), "rope_parameters": rope}, vision_config=vision, **_qwen(tokens)
    )
    processor = hf.Qwen2VLProcessor(
        image_processor=hf.Qwen2VLImageProcessor(),
        tokenizer=tokens,
        video_processor=hf.Qwen2VLVideoProcessor(),
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.Qwen2VLForConditionalGeneration(config), processor)


def _qwen3(folder: Path, kind: str, text_more: dict[str, Any], vision_more: dict[str, Any]) -> Path:
    import transformers as hf

    tokens = tokenizer((), *(f"{VISION[0]}{pad}{VISION[1]}" for pad in VISION[2:]))
    rope = {
        "rope_type": "default",
        "mrope_section": [4, 2, 2],
        "rope_theta": 1e4,
        "mrope_interleaved": True,
    }
    vision = {
        "depth": 2,
        "num_heads": 2,
        "out_hidden_size": WIDTH,
        "patch_size": 16,
        "num_position_embeddings": 64,
    }
    vision |= {"hidden_size": 32, "intermediate_size": 64, **vision_more}
    config = getattr(hf, f"{kind}Config")(
        text_config={**text(tokens), "head_dim": 16, "rope_parameters": rope, **text_more},
        vision_config=vision,
        **_qwen(tokens),
    )
    processor = hf.Qwen3VLProcessor(
        image_processor=hf.Qwen2VLImageProcessor(patch_size=16),
        tokenizer=tokens,
        video_processor=hf.Qwen3VLVideoProcessor(),
        chat_template=tokens.chat_template,
    )
    return _saved(folder, getattr(hf, f"{kind}ForConditionalGeneration")(config), processor)


def qwen3_vl(folder: Path) -> Path:
    """Write a Qwen3-VL."""
    return _qwen3(folder, "Qwen3VL", {}, {"deepstack_visual_indexes": [0, 1]})


def qwen3_5(folder: Path) -> Path:
    """Write a Qwen3.5: one layer of linear attention, one of full."""
    layers = {"layer_types": ["linear_attention", "full_attention"], "partial_rotary_factor": 1.0}
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": 2}
    return _qwen3(
        folder,
        "Qwen3_5",
        {**layers, **heads, "linear_key_head_dim": 16, "linear_value_head_dim": 16},
        {},
    )


def gemma3(folder: Path) -> Path:
    """Write a Gemma 3."""
    import transformers as hf

    soft, begin, end = specials = ("<image_soft_token>", "<start_of_image>", "<end_of_image>")
    tokens = tokenizer(specials, begin, image_token=soft, boi_token=begin, eoi_token=end)
    for name, token in zip(
        ("image_token_id", "boi_token_id", "eoi_token_id"), specials, strict=True
    ):
        setattr(tokens, name, tokens.convert_tokens_to_ids(token))
    config = hf.Gemma3Config(
        text_config={**text(tokens), "head_dim": 16},
        vision_config={**SMALL, "image_size": SIDE, "patch_size": 14, "vision_use_head": False},
        mm_tokens_per_image=4,
        image_token_index=tokens.convert_tokens_to_ids(soft),
        boi_token_index=tokens.convert_tokens_to_ids(begin),
        eoi_token_index=tokens.convert_tokens_to_ids(end),
    )
    processor = hf.Gemma3Processor(
        image_processor=hf.Gemma3ImageProcessor(size={"height": SIDE, "width": SIDE}),
        tokenizer=tokens,
        image_seq_length=4,
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.Gemma3ForConditionalGeneration(config), processor)


def llava_onevision(folder: Path) -> Path:
    """Write a LLaVA-OneVision."""
    import transformers as hf

    tokens = tokenizer(("<image>", "<video>"), "<image>", "<video>")
    size, grid = {"height": SIDE, "width": SIDE}, [[SIDE, SIDE]]
    config = hf.LlavaOnevisionConfig(
        vision_config=hf.SiglipVisionConfig(
            **SMALL, image_size=SIDE, patch_size=14, vision_use_head=False
        ),
        text_config=hf.Qwen2Config(**text(tokens)),
        image_token_index=tokens.convert_tokens_to_ids("<image>"),
        video_token_index=tokens.convert_tokens_to_ids("<video>"),
        image_grid_pinpoints=grid,
        vision_feature_layer=-1,
    )
    processor = hf.LlavaOnevisionProcessor(
        image_processor=hf.LlavaOnevisionImageProcessor(size=size, image_grid_pinpoints=grid),
        tokenizer=tokens,
        video_processor=hf.LlavaOnevisionVideoProcessor(size=size),
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.LlavaOnevisionForConditionalGeneration(config), processor)


def idefics2(folder: Path) -> Path:
    """Write an Idefics2."""
    import transformers as hf

    tokens = tokenizer(("<image>", "<fake_token_around_image>", "<end_of_utterance>"), "<image>")
    resampler = {
        "resampler_n_latents": 4,
        "resampler_depth": 1,
        "resampler_n_heads": 4,
        "resampler_head_dim": 16,
    }
    config = hf.Idefics2Config(
        vision_config={**SMALL, "image_size": SIDE, "patch_size": 14},
        perceiver_config={"hidden_size": WIDTH, "num_key_value_heads": 2, **resampler},
        text_config=hf.MistralConfig(**text(tokens)),
        image_token_id=tokens.convert_tokens_to_ids("<image>"),
    )
    pictures = hf.Idefics2ImageProcessor(
        size={"longest_edge": SIDE, "shortest_edge": 28}, do_image_splitting=False
    )
    processor = hf.Idefics2Processor(
        image_processor=pictures,
        tokenizer=tokens,
        image_seq_len=4,
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.Idefics2ForConditionalGeneration(config), processor)


def gemma4(folder: Path) -> Path:
    """Write a Gemma 4 without its ear."""
    import transformers as hf

    specials = {"image": "<|image|>", "boi": "<|image>", "eoi": "<image|>", "video": "<|video|>"}
    specials |= {"audio": "<|audio|>", "boa": "<|audio>", "eoa": "<audio|>"}
    named = {f"{name}_token": token for name, token in specials.items()}
    tokens = tokenizer([*specials.values()], specials["image"], specials["video"], **named)
    ids = {f"{name}_id": tokens.convert_tokens_to_ids(token) for name, token in named.items()}
    for name, number in ids.items():
        setattr(tokens, name, number)
    words = {
        "head_dim": 16,
        "global_head_dim": 16,
        "layer_types": ["sliding_attention", "full_attention"],
    }
    words |= {
        "vocab_size_per_layer_input": len(tokens),
        "hidden_size_per_layer_input": 0,
        "num_kv_shared_layers": 0,
    }
    sight = {
        **SMALL,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "patch_size": 16,
        "position_embedding_size": 256,
    }
    config = hf.Gemma4Config(
        text_config={**text(tokens), **words},
        vision_config={**sight, "pooling_kernel_size": 3},
        audio_config=None,
        **ids,
    )
    processor = hf.Gemma4Processor(
        feature_extractor=hf.Gemma4AudioFeatureExtractor(),
        image_processor=hf.Gemma4ImageProcessor(),
        tokenizer=tokens,
        video_processor=hf.Gemma4VideoProcessor(),
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.Gemma4ForConditionalGeneration(config), processor)


def internvl(folder: Path) -> Path:
    """Write an InternVL as transformers has it."""
    import transformers as hf

    named = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
    }
    named |= {"video_token": "<video>"}
    tokens = tokenizer([*named.values()], "<IMG_CONTEXT>\n", "<video>\n", **named)
    for name, token in named.items():
        setattr(tokens, f"{name}_id", tokens.convert_tokens_to_ids(token))
    size = {"height": SIDE, "width": SIDE}
    config = hf.InternVLConfig(
        vision_config={**SMALL, "image_size": [SIDE, SIDE], "patch_size": [14, 14]},
        text_config=hf.Qwen2Config(**text(tokens)),
        image_token_id=tokens.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=4,
        downsample_ratio=0.5,
    )
    processor = hf.InternVLProcessor(
        image_processor=hf.GotOcr2ImageProcessor(size=size),
        tokenizer=tokens,
        video_processor=hf.InternVLVideoProcessor(size=size),
        image_seq_length=4,
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.InternVLForConditionalGeneration(config), processor)


def mllama(folder: Path) -> Path:
    """Write a Llama 3.2 Vision, whose second layer looks at the pictures."""
    import transformers as hf

    named = {"bos_token": "<|begin_of_text|>"}
    tokens = tokenizer(("<|image|>", *named.values()), "<|image|>", **named)
    sight = {name: size for name, size in SMALL.items() if name != "num_attention_heads"}
    sight |= {
        "attention_heads": 2,
        "num_global_layers": 1,
        "vision_output_dim": WIDTH,
        "max_num_tiles": 4,
    }
    config = hf.MllamaConfig(
        vision_config={
            **sight,
            "image_size": SIDE,
            "patch_size": 14,
            "intermediate_layers_indices": [0],
        },
        text_config={**text(tokens), "cross_attention_layers": [1]},
        image_token_index=tokens.convert_tokens_to_ids("<|image|>"),
    )
    processor = hf.MllamaProcessor(
        image_processor=hf.MllamaImageProcessor(
            size={"height": SIDE, "width": SIDE}, max_image_tiles=4
        ),
        tokenizer=tokens,
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.MllamaForConditionalGeneration(config), processor)


def mistral3(folder: Path) -> Path:
    """Write a Mistral 3 with Pixtral's eye."""
    import transformers as hf

    tokens = tokenizer(("[IMG]", "[IMG_BREAK]", "[IMG_END]"), "[IMG]")
    config = hf.Mistral3Config(
        vision_config=hf.PixtralVisionConfig(**SMALL, image_size=SIDE, patch_size=14),
        text_config=hf.MistralConfig(**text(tokens), head_dim=16),
        image_token_index=tokens.convert_tokens_to_ids("[IMG]"),
        spatial_merge_size=2,
    )
    processor = hf.PixtralProcessor(
        image_processor=hf.PixtralImageProcessor(
            size={"longest_edge": SIDE}, patch_size={"height": 14, "width": 14}
        ),
        tokenizer=tokens,
        patch_size=14,
        spatial_merge_size=2,
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.Mistral3ForConditionalGeneration(config), processor)


def video_llava(folder: Path) -> Path:
    """Write a Video-LLaVA."""
    import transformers as hf

    tokens = tokenizer(("<image>", "<video>"), "<image>", "<video>")
    sight = hf.CLIPVisionConfig(**SMALL, image_size=SIDE, patch_size=14)
    config = hf.VideoLlavaConfig(
        vision_config=sight,
        text_config=hf.LlamaConfig(**text(tokens)),
        image_token_index=tokens.convert_tokens_to_ids("<image>"),
        video_token_index=tokens.convert_tokens_to_ids("<video>"),
        image_seq_length=16,
        video_seq_length=17 * 8,
    )
    size = {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}}
    processor = hf.VideoLlavaProcessor(
        image_processor=hf.VideoLlavaImageProcessor(**size),
        video_processor=hf.VideoLlavaVideoProcessor(**size),
        tokenizer=tokens,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.VideoLlavaForConditionalGeneration(config), processor)


def lfm2(folder: Path) -> Path:
    """Write an LFM2-VL: one layer of convolution, one of attention."""
    import transformers as hf

    named = {
        "image_token": "<image>",
        "image_start_token": "<|image_start|>",
        "image_end_token": "<|image_end|>",
    }
    named |= {"image_thumbnail_token": "<|img_thumbnail|>"}
    tokens = tokenizer([*named.values()], "<image>", **named)
    for name, token in named.items():
        setattr(tokens, f"{name}_id", tokens.convert_tokens_to_ids(token))
    layers = {"layer_types": ["conv", "full_attention"], "block_ff_dim": WIDTH}
    config = hf.Lfm2VlConfig(
        vision_config=hf.Siglip2VisionConfig(
            **SMALL, patch_size=16, num_patches=64, vision_use_head=False
        ),
        text_config=hf.Lfm2Config(**text(tokens), **layers),
        image_token_id=tokens.convert_tokens_to_ids("<image>"),
        projector_hidden_size=WIDTH,
        downsample_factor=2,
    )
    processor = hf.Lfm2VlProcessor(
        image_processor=hf.Lfm2VlImageProcessor(
            do_image_splitting=False, min_image_tokens=4, max_image_tokens=16
        ),
        tokenizer=tokens,
        chat_template=tokens.chat_template,
    )
    return _saved(folder, hf.Lfm2VlForConditionalGeneration(config), processor)


FAMILIES: dict[str, Callable[[Path], Path]] = {
    "qwen2_5_vl": tiny_vlm.write,
    "qwen2_vl": qwen2_vl,
    "qwen3_vl": qwen3_vl,
    "qwen3_5": qwen3_5,
    "gemma3": gemma3,
    "gemma4": gemma4,
    "internvl_hf": internvl,
    "llama_vision": mllama,
    "mistral3_vl": mistral3,
    "llava_hf": llava_onevision,
    "idefics2": idefics2,
    "video_llava": video_llava,
    "lfm2_5_vl": lfm2,
    "huggingface": tiny_vlm.write,
    "async_hf_model": tiny_vlm.write,
}
"""An adapter of lmms-eval's -> what writes a model of its family."""


def main(folder: Path, names: Sequence[str]) -> None:
    """Write the families that are named, or all, each to a folder of its name; one seed, so always the same weights."""
    import torch

    for name in names or FAMILIES:
        torch.manual_seed(0)
        FAMILIES[name](folder / name)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
