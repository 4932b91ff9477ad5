"""The times that Qwen's models are told of a clip of ours, beside those of the video as their adapters sample it."""

import re

import numpy as np
import pytest

from reelbench.video import take
from tests.video import clips
from tools import tiny_families

pytestmark = pytest.mark.lmms

FPS, FRAMES = 25, 250
FRAME = 1 / FPS


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    return clips.encode(
        tmp_path_factory.mktemp("v") / "v.mp4",
        codec="libx264",
        gop=50,
        ticks=clips.constant(FRAMES),
    )


@pytest.fixture(scope="module")
def processor(tmp_path_factory):
    import torch
    from transformers import AutoProcessor

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models")
    made = {
        name: tiny_families.FAMILIES[name](folder / name) for name in ("qwen3_vl", "qwen2_5_vl")
    }
    return {name: AutoProcessor.from_pretrained(path) for name, path in made.items()}


@pytest.fixture(autouse=True)
def _home(reelbench_home):
    """Clips are kept in a home of the test's own."""


def asked(processor, path, name, **chosen):
    """Process a video as the adapter does, which samples it as was chosen -> what reaches the model."""
    from qwen_vl_utils import process_vision_info

    part = {"type": "video", "video": str(path), "min_pixels": 3136, "max_pixels": 12544, **chosen}
    messages = [{"role": "user", "content": [part, {"type": "text", "text": "When?"}]}]
    text = processor[name].apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    patch = {"image_patch_size": 16} if name == "qwen3_vl" else {}
    _, videos, more = process_vision_info(
        messages, return_video_kwargs=True, return_video_metadata=True, **patch
    )
    videos, known = zip(*videos, strict=True)
    given = {**more, "do_resize": False} if name == "qwen3_vl" else {}
    return processor[name](
        text=[text],
        videos=[*videos],
        video_metadata=[*known],
        padding=True,
        return_tensors="pt",
        **given,
    )


def prompt_times(processor, made):
    words = processor["qwen3_vl"].tokenizer.decode(made["input_ids"][0])
    return [float(time) for time in re.findall(r"<(\d+\.\d) seconds>", words)]


def pair_means(timestamps):
    return np.asarray(timestamps).reshape(-1, 2).mean(axis=1)


@pytest.mark.parametrize(
    ("spec", "native"),
    [
        ("uniform:4", {"nframes": 4}),
        ("uniform:8", {"nframes": 8}),
        ("uniform:32", {"nframes": 32}),
        ("fps:1", None),
    ],
)
def test_qwen3_vl_is_told_when_its_frames_are_and_natively_the_same(processor, video, spec, native):
    stored = take(video, spec, even=True)
    told = prompt_times(
        processor, asked(processor, stored.path, "qwen3_vl", fps=1_000_000, max_frames=1000)
    )
    assert told == pytest.approx(
        pair_means(stored.timestamps), abs=FRAME + 0.05
    )  # it writes tenths
    if native:  # at a rate it samples other frames
        natively = prompt_times(processor, asked(processor, video, "qwen3_vl", **native))
        assert told == pytest.approx(natively, abs=FRAME + 0.1)


@pytest.mark.parametrize("spec", ["uniform:4", "uniform:8", "uniform:32", "fps:1"])
def test_qwen2_5_vls_steps_are_those_of_its_frames(processor, video, spec):
    stored = take(video, spec, even=True)
    count = len(stored.timestamps)
    step = float(
        asked(processor, stored.path, "qwen2_5_vl", nframes=count)["second_per_grid_ts"][0]
    )
    means = pair_means(stored.timestamps)
    assert step * np.arange(count // 2) == pytest.approx(means - means[0], abs=FRAME)


@pytest.mark.parametrize("count", [4, 8, 32])
def test_natively_qwen2_5_vls_steps_are_the_duration_through_the_frames(processor, video, count):
    """So they are too short by 1 in `count`: transformers' own, which a clip's true clock can't be equal to."""
    natively = float(asked(processor, video, "qwen2_5_vl", nframes=count)["second_per_grid_ts"][0])
    assert natively == pytest.approx(2 * FRAMES / FPS / count)
    ours = take(video, f"uniform:{count}").path
    step = float(asked(processor, ours, "qwen2_5_vl", nframes=count)["second_per_grid_ts"][0])
    assert step * (count - 1) / count == pytest.approx(
        natively, rel=0.005
    )  # its last frame lasts, too
