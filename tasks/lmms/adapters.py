"""How lmms-eval's adapters are made to take a clip's frames as they are: all of them, and no other.

Every adapter samples the video that it is given once more, each by a rule and with arguments of its own. What stands
here was read from lmms-eval 0.7.3 and qwen_vl_utils 0.0.14. An adapter that is not here may still be exact; nobody
has looked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reelbench.registry.frames.sampling import MOST_FRAMES, FrameSampling

EVERY_FRAME = "1000000"
"""A rate in frames per second that no clip has: at it, qwen_vl_utils takes every frame, however few there are. With a
number of frames instead (`nframes`), it fails on a clip that has fewer."""

running: str | None = None
"""The adapter that this process evaluates, as `--model` names it; None where lmms-eval did not say."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One of lmms-eval's adapters.

    `arguments` are the --model_args that make it take a clip whole, with `{n}` for the number of frames; `others` are
    those with which a user chooses frames too. `even`: it takes pairs of frames, from 2 up. `images`: it is given
    images whatever was asked for. `sees`: whether it looks at videos at all. `caveat`: what may go wrong all the same.
    """

    arguments: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    even: bool = False
    images: bool = False
    sees: bool = True
    caveat: str = ""


_SHORT_FAILS = "it fails on a video that gives fewer frames than asked; as=images avoids that"
_QWEN3 = Adapter({"fps": EVERY_FRAME, "max_num_frames": "{n}"}, ("max_frames",), even=True)
_CLIPS_OF_QWEN = Adapter({"fps": EVERY_FRAME, "max_frame_num": "{n}"}, ("nframes",), even=True)
# It sends a video as images in any case, and mixes them up on the way: it keeps what it has encoded under `id()` of a
# picture that is gone by then (`lmms_eval.protocol.ChatMessages.to_openai_messages`). Images on disk it keeps by path.
_SENDS_IMAGES = Adapter(images=True)
_MAX_FRAMES_NUM = Adapter({"max_frames_num": "{n}"})

ADAPTERS: Mapping[str, Adapter] = {
    # Counts the clip's frames and takes min(max_num_frames, that), rounded down to pairs.
    "qwen2_5_vl": Adapter({"max_num_frames": "{n}"}, ("fps",), even=True),
    "qwen2_vl": Adapter(
        {"max_num_frames": "{n}"},
        even=True,
        caveat="it reads clips at 2 frames per second, so it drops frames where more fall into a second; "
        "as=images avoids that",
    ),
    "qwen3_vl": _QWEN3,
    "qwen3_5": _QWEN3,
    "vllm_generate": _CLIPS_OF_QWEN,
    "sglang": _CLIPS_OF_QWEN,
    "vllm": _SENDS_IMAGES,
    "openai": _SENDS_IMAGES,
    "openai_compatible": _SENDS_IMAGES,
    "openai_compatible_chat": _SENDS_IMAGES,
    "async_openai": _SENDS_IMAGES,
    "async_openai_compatible": _SENDS_IMAGES,
    "async_openai_compatible_chat": _SENDS_IMAGES,
    "litellm": _SENDS_IMAGES,
    "litellm_chat": _SENDS_IMAGES,
    "litellm_compatible": _SENDS_IMAGES,
    "llava_onevision1_5": Adapter({"max_num_frames": "{n}"}, even=True, caveat=_SHORT_FAILS),
    "internvl_hf": Adapter({"num_frames": "{n}"}, ("fps",), caveat=_SHORT_FAILS),
    # These spread max_frames_num positions evenly over the clip: as many as it has are each of them once.
    "llava_onevision": _MAX_FRAMES_NUM,
    "longva": _MAX_FRAMES_NUM,
    "gpt4v": _MAX_FRAMES_NUM,
    "claude": _MAX_FRAMES_NUM,
    "reelbench_baseline": Adapter(sees=False),
}


def pairs(model: str | None) -> bool:
    """Whether a clip for this adapter needs an even number of frames; an adapter nobody knows gets one, to be safe."""
    adapter = ADAPTERS.get(model or "")
    return adapter is None or adapter.even


def images(model: str | None) -> bool:
    """Whether this adapter is given images whatever was asked for."""
    adapter = ADAPTERS.get(model or "")
    return adapter is not None and adapter.images


def sees(model: str | None) -> bool:
    """Whether this adapter looks at videos."""
    adapter = ADAPTERS.get(model or "")
    return adapter is None or adapter.sees


def matched(model: str | None, given: Mapping[str, str], sampling: FrameSampling) -> tuple[dict[str, str], list[str]]:
    """Return the arguments to add for an adapter to take each clip whole, and what the user should know.

    `given` are the user's own arguments: where one of them chooses frames, none is added.
    """
    if not sampling.decodes or sampling.form == "images":
        return {}, []
    adapter = ADAPTERS.get(model or "")
    if adapter is None:
        who = f"the adapter {model}" if model else "an adapter that the command line does not name"
        advice = "set its own number of frames to match, or add as=images"
        return {}, [f"frames {sampling}: how {who} samples is not known here; {advice}"]
    if adapter.images or not adapter.sees:
        return {}, []
    wanted = _arguments(adapter, sampling)
    notes = [f"frames {sampling}: {model}: {adapter.caveat}"] if adapter.caveat else []
    own = {name: given[name] for name in (*wanted, *adapter.others) if name in given}
    if not own:
        return wanted, notes
    if any(wanted.get(name) != value for name, value in own.items()):
        shown = ",".join(f"{name}={value}" for name, value in own.items())
        would = ",".join(f"{name}={value}" for name, value in wanted.items())
        notes.append(
            f"frames {sampling}: {model} keeps your {shown} and may sample the clips again; without it: {would}"
        )
    return {}, notes


def _arguments(adapter: Adapter, sampling: FrameSampling) -> dict[str, str]:
    frames = sampling.frames or MOST_FRAMES  # no number named: allow for any
    if adapter.even:
        frames += frames % 2
    return {name: value.format(n=frames) for name, value in adapter.arguments.items()}
