"""How lmms-eval's adapters are made to take a clip's frames as they are: all of them, and no other.

Every adapter samples the video that it is given once more, each by a rule and with arguments of its own. What stands
here was read from lmms-eval 0.7.3 and qwen_vl_utils 0.0.14. An adapter that is not here may still be exact; nobody
has looked.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from reelbench.registry.errors import InputError
from reelbench.registry.frames.sampling import MOST_FRAMES, TIMED_KINDS, FrameSampling

EVERY_FRAME = "1000000"
"""A rate in frames per second that no clip has: at it, qwen_vl_utils takes every frame, however few there are. With a
number of frames instead (`nframes`), it fails on a clip that has fewer."""

PASS_VIDEO = "pass_video_url"  # noqa: S105 - no password
"""The argument with which an adapter sends a video on as it is, for the server to read."""

running: str | None = None
"""The adapter that this process evaluates, as `--model` names it; None where lmms-eval did not say."""

passes_video = False
"""Whether that adapter sends videos on as they are."""

task_type = "simple"
"""How the model that runs is asked, in lmms-eval's words: `simple` or `chat`."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One of lmms-eval's adapters.

    `arguments` are the --model_args that make it take a clip whole, with `{n}` for the number of frames; `batched`
    those that do where several questions are asked at once; `others` are those with which a user chooses frames too.
    `even`: it takes pairs of frames, from 2 up. `images`: it is given pictures unless a clip is asked for. `server`:
    it sends them on, as pictures whatever was asked for; but with the arguments `video` it sends a video as it is,
    which `as=clip` asks for. `needs`: the module, with FFmpeg's libraries, without which it reads no clip. `spreads`:
    it takes one number of frames of every clip, and fails or repeats where there are fewer. `sees`: whether it looks at
    videos at all. `caveat`: what may go wrong all the same.
    """

    arguments: Mapping[str, str] = field(default_factory=dict)
    batched: Mapping[str, str] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    even: bool = False
    images: bool = False
    server: bool = False
    video: Mapping[str, str] = field(default_factory=dict)
    needs: str = ""
    spreads: bool = False
    sees: bool = True
    caveat: str = ""


PICTURE_SIZE = 448
"""Pixels of the short side of pictures that stand in for a clip, unless `size=` says otherwise: a model's own limit on
a video's pixels doesn't hold for them."""

_SHORT_FAILS = "it fails on a video that gives fewer frames than asked; as=images avoids that"
_QWEN3 = Adapter({"fps": EVERY_FRAME, "max_num_frames": "{n}"}, others=("max_frames",), even=True)
_CLIPS_OF_QWEN = Adapter({"fps": EVERY_FRAME, "max_frame_num": "{n}"}, others=("nframes",), even=True)
# It sends a video as images in any case, and mixes them up on the way: it keeps what it has encoded under `id()` of a
# picture that is gone by then (`lmms_eval.protocol.ChatMessages.to_openai_messages`). Images on disk it keeps by path.
_SENDS_IMAGES = Adapter(images=True, server=True)
# With this argument the server reads the video, as many frames of it as it is told (vLLM's `media_io_kwargs`).
_SENDS_VIDEO_TOO = replace(_SENDS_IMAGES, others=("video_fps",), video={PASS_VIDEO: "True", "max_frames_num": "{n}"})
# These spread max_frames_num positions evenly over the clip: as many as it has are each of them once.
_SPREADS = Adapter({"max_frames_num": "{n}"}, spreads=True)
_PICTURES = Adapter(images=True)

SINGLE = frozenset(
    {
        *("cambrians_vsc", "cambrians_vsc_streaming", "cambrians_vsr", "cogvlm2", "internvideo2", "lfm2_5_vl"),
        *("minicpm_v", "minimonkey", "moviechat", "mplug_owl_video", "qwen2_5_vl_interleave", "reka", "video_chatgpt"),
        *("video_llava", "videochat2", "llama_vid"),
    }
)
"""Adapters that take one picture, or one video and no pictures, by their code: they get clips."""

ADAPTERS: Mapping[str, Adapter] = {
    # Counts the clip's frames and takes min(max_num_frames, that), rounded down to pairs; of a batch, the first clip's
    # for all. At a rate each clip's own are counted, up to 768 (qwen_vl_utils).
    "qwen2_5_vl": Adapter({"max_num_frames": "{n}"}, {"fps": EVERY_FRAME}, ("fps",), even=True),
    "qwen2_vl": Adapter(
        {"max_num_frames": "{n}"},
        even=True,
        images=True,
        caveat="it reads clips at 2 frames per second, so it drops frames where more fall into a second; "
        "as=images avoids that",
    ),
    "qwen3_vl": _QWEN3,
    "qwen3_5": _QWEN3,
    "vllm_generate": _CLIPS_OF_QWEN,
    "sglang": replace(_CLIPS_OF_QWEN, caveat="untested: its engine reads the clip, perhaps by rules of its own"),
    "vllm": _SENDS_IMAGES,
    "openai": _SENDS_VIDEO_TOO,
    "openai_compatible": _SENDS_VIDEO_TOO,
    "openai_compatible_chat": _SENDS_VIDEO_TOO,
    "async_openai": _SENDS_IMAGES,
    "async_openai_compatible": _SENDS_IMAGES,
    "async_openai_compatible_chat": _SENDS_IMAGES,
    "litellm": _SENDS_IMAGES,
    "litellm_chat": _SENDS_IMAGES,
    "litellm_compatible": _SENDS_IMAGES,
    "llava_onevision1_5": Adapter({"max_num_frames": "{n}"}, even=True, caveat=_SHORT_FAILS),
    "internvl_hf": Adapter(
        {"num_frames": "{n}"}, others=("fps",), needs="torchcodec", spreads=True, caveat=_SHORT_FAILS
    ),
    # Each takes 32 frames of a clip, or 16, or none at all, whatever it is told.
    "gemma3": _PICTURES,
    "gemma4": replace(_PICTURES, needs="torchcodec"),
    "idefics2": _PICTURES,
    "llama_vision": _PICTURES,
    "llava_hf": _PICTURES,
    "mistral3_vl": _PICTURES,
    "llava_onevision": _SPREADS,
    "longva": _SPREADS,
    "gpt4v": replace(_SPREADS, images=True),  # it sends pictures in any case
    "claude": replace(_SPREADS, images=True),
    "gemini": Adapter(
        caveat="untested: the server takes 1 frame per second of a clip, so it sees every frame where no more of them "
        "fall into a second",
    ),
    "reelbench_baseline": Adapter(sees=False),
    "dummy": Adapter(sees=False),
}


FRAME_COUNTS = frozenset(
    name
    for adapter in ADAPTERS.values()
    for name, value in {**adapter.arguments, **adapter.video}.items()
    if value == "{n}"
)
"""Arguments that are a number of frames: read anew for each question, so that a model that is there takes another."""

LISTENERS = frozenset({"gemini", "ola", "omnivinci"})
"""Adapters that give a model a video's sound by themselves. Qwen's omni models are not among them: lmms-eval hands them
`use_audio_in_video=False`."""


NO_TIMES = "times=text needs a chat adapter, and this one takes pictures alone"

ENCODES_AGAIN = frozenset({"gpt4v", "claude"})
"""Adapters that open pictures and encode them for their server themselves, each question anew."""

THINKERS = frozenset({"qwen3_5"})
"""Adapters whose model thinks unless it is told not to."""


def row(model: str) -> dict[str, str]:
    """Return the facts known of an adapter: its form of `uniform:4`, and the frames seen to reach its model."""
    sampling = FrameSampling.parse("uniform:4")
    added, notes = matched(model, {}, sampling)
    shown = delivered(model, sampling, "", chat=False) if sees(model) else None
    what = "no video" if shown is None else "pictures" if shown.form == "images" else "a clip"
    facts = {"is shown": what + ("" if model in ADAPTERS else "; nobody has looked at this adapter")}
    facts |= {"arguments added": ",".join(f"{name}={value}" for name, value in added.items())} if added else {}
    facts |= {"note": "; ".join(notes)} if notes else {}
    seen = json.loads(Path(__file__).with_name("adapters_seen.json").read_text(encoding="utf-8"))
    for way, by_batch in seen["adapters"].get(model, {}).items():
        facts |= {way if batch == "plain" else f"{way}, {batch}": found for batch, found in by_batch.items()}
    if model in seen["adapters"]:
        facts["seen with"] = ", ".join(f"{name} {version}" for name, version in seen["versions"].items())
    return facts


def drops(model: str | None, setting: str) -> bool:
    """Whether an adapter's code never names a setting of generation, so that its model never hears of it."""
    names, code = [str(model)], ""
    for name in names:  # and what it is made of: a class of another adapter's
        for path in kinds(name).values():
            code += (text := path.read_text(encoding="utf-8"))
            based = re.findall(r"from lmms_eval\.models\.(?:chat|simple)\.(\w+) import", text)
            names += [base for base in based if base not in names]
    handed_on = re.search(r"\b(?:generate|chat|create|SamplingParams)\((?:[^()]|\([^()]*\))*\*\*\w*gen_kwargs", code)
    return bool(code) and setting not in code and handed_on is None


def form_for(model: str, sampling: FrameSampling, row_kind: str) -> tuple[FrameSampling, bool]:
    """Return the form in which frames are decoded for an adapter, or for `ask`, and whether clips are of pairs.

    InputError where lmms-eval has no such adapter, as far as can be seen.
    """
    if model == "ask":
        return sampling if sampling.form_given == "clip" else sampling.as_images(), False
    adapter, known = ADAPTERS.get(model), kinds(model)
    if adapter is None and not known:
        raise InputError(f"--for {model}: lmms-eval has no such adapter; `ask` stands for reelbench ask")
    as_it_is = adapter is not None and bool(adapter.video) and sampling.form_given == "clip"
    shown = sampling if as_it_is else delivered(model, sampling, row_kind, chat="chat" in known)
    return shown.decoded, shown.form == "clip" and pairs(model)


def kinds(model: str | None) -> dict[str, Path]:
    """Return lmms-eval's code of an adapter of this name for "chat" and for "simple" models, as far as there is any."""
    found = find_spec("lmms_eval")
    folders = [Path(place) / "models" for place in (found and found.submodule_search_locations) or ()]
    files = {kind: folder / kind / f"{model}.py" for folder in folders for kind in ("chat", "simple")}
    return {kind: file for kind, file in files.items() if file.is_file()}


def check_times(sampling: FrameSampling, known: Collection[str]) -> None:
    """Raise InputError where an adapter of these kinds can't be told a picture's time."""
    if sampling.times == "text" and {*known} == {"simple"}:
        raise InputError(f"frames {sampling}: {NO_TIMES}")


def pairs(model: str | None) -> bool:
    """Whether a clip for this adapter needs an even number of frames; an adapter nobody knows gets one, to be safe."""
    adapter = ADAPTERS.get(model or "")
    return adapter is None or adapter.even


def sends(model: str | None) -> bool:
    """Whether this adapter sends pictures on to a server, whatever was asked for; not where it sends videos on."""
    adapter = ADAPTERS.get(model or "")
    return adapter is not None and adapter.server and not passes_video


def delivered(model: str | None, sampling: FrameSampling, row_kind: str, *, chat: bool | None = None) -> FrameSampling:
    """Return a sampling's form for an adapter: a clip or pictures, and these with their times or not.

    Args:
        model: The adapter, as `--model` names it; None where nobody said.
        sampling: What was asked for.
        row_kind: The kind of the rows: where they are answered with times, a server's pictures carry theirs, and so do
            those of a sampling whose times no clip can tell (frames that aren't even, or don't begin with the video).
        chat: Whether it takes messages, in which times can stand; by default as the one that runs.
    """
    if not sampling.decodes or not sees(model):
        return sampling
    chat = task_type == "chat" if chat is None else chat
    adapter = ADAPTERS.get(model or "")
    if sends(model):
        timed = sampling.with_times(row_kind) if chat else sampling
        return timed if timed.form == "images" else replace(timed, form="images")
    if sampling.form_given is not None or sampling.times_given is not None or sampling.keeps_sound or passes_video:
        return sampling
    by_default = adapter is None and model is not None and model not in SINGLE
    if adapter is not None:
        varies = adapter.spreads and sampling.kind in {"fps", "all"}
        by_default = adapter.images or varies or not _has_reader(adapter.needs)
    pictures = replace(sampling.as_images(), size=sampling.size or PICTURE_SIZE)
    timed = replace(pictures, times="text") if chat and row_kind in TIMED_KINDS else pictures
    if by_default:
        return timed
    return timed if timed.times == "text" and sampling.kind in {"window", "keyframe"} else sampling


def sees(model: str | None) -> bool:
    """Whether this adapter looks at videos."""
    adapter = ADAPTERS.get(model or "")
    return adapter is None or adapter.sees


def _has_reader(module: str) -> bool:
    """Whether the module that an adapter reads clips with, if it needs one, is here and found FFmpeg's libraries."""
    if not module or find_spec(module) is None:
        return not module
    try:  # torchcodec before 0.16 can't be imported without these, later ones say so
        return getattr(import_module(module), "ffmpeg_major_version", 0) is not None
    except (ImportError, OSError, RuntimeError):
        return False


def matched(model: str | None, given: Mapping[str, str], sampling: FrameSampling) -> tuple[dict[str, str], list[str]]:
    """Return the arguments to add for an adapter to take each clip whole, and what the user should know.

    `given` are the user's own arguments, and `batch_size`: where one of them chooses frames, none is added.
    """
    adapter = ADAPTERS.get(model or "")
    costs = [f"frames {sampling}: {model} encodes each picture anew: some 0.3 s of the processor for one of 720p"]
    costs = costs if model in ENCODES_AGAIN and sampling.decodes else []
    if not sampling.decodes or sampling.form == "images":
        needs = adapter.needs if adapter is not None and sampling.kind == "native" else ""
        return {}, costs if _has_reader(needs) else [
            f"{model} reads no video without {needs}: --frames shows it pictures"
        ]
    heard = [f"frames {sampling}: {model} hears a video's sound, and these clips have none; audio=keep keeps it"]
    heard = heard if model in LISTENERS and not sampling.keeps_sound else []
    if not sends(model) and delivered(model, sampling, "", chat=False).form == "images":
        why = "how it samples a clip is not known here" if adapter is None else "it doesn't take each frame of a clip"
        if adapter is not None and not adapter.images and not _has_reader(adapter.needs):
            why = f"it reads no clip without {adapter.needs}"
        size = "" if sampling.size else f", size={PICTURE_SIZE}"
        return {}, [
            f"frames {sampling}: {model} is shown pictures{size}: {why}; as=clip hands over a clip",
            *costs,
            *heard,
        ]
    if adapter is None:
        who = f"the adapter {model}" if model else "an adapter that the command line does not name"
        return {}, [f"frames {sampling}: {who} takes what it likes of a clip: how is not known here", *heard]
    if not _has_reader(adapter.needs):
        raise InputError(f"frames {sampling.in_full}: {model} reads no clip without {adapter.needs}; leave as=clip out")
    if adapter.spreads and sampling.kind in {"fps", "all"}:
        why = "takes one number of frames of every clip"
        raise InputError(f"frames {sampling.in_full}: {model} {why}; give uniform:N, or leave as=clip out")
    as_it_is = given.get(PASS_VIDEO, "").lower() == "true"
    if not adapter.sees or (adapter.server and not as_it_is and not (adapter.video and sampling.form_given == "clip")):
        return {}, []
    frames = sampling.frames or MOST_FRAMES  # no number named: allow for any
    frames += frames % 2 if adapter.even else 0
    by_batch = adapter.batched if given.get("batch_size", "1") != "1" and adapter.batched else adapter.arguments
    wanted = {name: value.format(n=frames) for name, value in (adapter.video or by_batch).items()}
    notes = [f"frames {sampling}: {model}: {adapter.caveat}"] if adapter.caveat else []
    notes += heard
    own = {name: given[name] for name in (*wanted, *adapter.others) if name in given and name != PASS_VIDEO}
    if not own:
        return {name: value for name, value in wanted.items() if not (name == PASS_VIDEO and as_it_is)}, notes
    if any(wanted.get(name) != value for name, value in own.items()):
        shown = ",".join(f"{name}={value}" for name, value in own.items())
        would = ",".join(f"{name}={value}" for name, value in wanted.items())
        notes.append(
            f"frames {sampling}: {model} keeps your {shown} and may sample the clips again; without it: {would}"
        )
    passed = {name: value for name, value in wanted.items() if name == PASS_VIDEO and not as_it_is}
    return passed, notes
