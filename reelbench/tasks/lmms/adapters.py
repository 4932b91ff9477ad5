"""How lmms-eval's adapters are made to take a clip's frames as they are: all of them, and no other.

Every adapter samples the video that it is given once more, each by a rule and with arguments of its
own. What `adapters.yaml` says was read from lmms-eval 0.7.3 and qwen_vl_utils 0.0.14. An adapter
that is not there may still be exact; nobody has looked.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from pydantic import TypeAdapter

from reelbench.base.errors import InputError
from reelbench.base.yaml_text import read_mapping
from reelbench.registry.sampling import MOST_FRAMES, TIMED_KINDS, FrameSampling

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

    `arguments` are the --model_args that make it take a clip whole, with `{n}` for the number of
    frames; `batched` those that do where several questions are asked at once; `others` are those
    with which a user chooses frames too. `even`: it takes pairs of frames, from 2 up. `images`: it
    is given pictures unless a clip is asked for. `server`: it sends them on, as pictures whatever
    was asked for; but with the arguments `video` it sends a video as it is, which `as=clip` asks
    for. `needs`: the module, with FFmpeg's libraries, without which it reads no clip. `spreads`: it
    takes one number of frames of every clip, and fails or repeats where there are fewer. `sees`:
    whether it looks at videos at all. `caveat`: what may go wrong all the same. `listens`: it gives
    a model a video's sound by itself (not Qwen's omni models, to which lmms-eval hands
    `use_audio_in_video=False`). `encodes_anew`: it opens pictures and encodes them for its server
    itself, for each question. `thinks`: its model does unless it is told not to. `miscounts`: it
    gives one answer too many where a question fails. Where nobody `looked_at` how it takes a clip,
    it gets one of pairs, to be safe.
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
    listens: bool = False
    encodes_anew: bool = False
    thinks: bool = False
    miscounts: bool = False
    looked_at: bool = True

    def varies(self, sampling: FrameSampling) -> bool:
        """Whether clips under a sampling have different numbers of frames, and it takes one number."""
        return self.spreads and sampling.kind in {"fps", "all"}


_TABLE = read_mapping(
    Path(__file__).with_name("adapters.yaml").read_text(encoding="utf-8"), "adapters.yaml"
)
_ENTRIES = TypeAdapter(dict[str, Adapter]).validate_python(_TABLE)
ADAPTERS = {name: adapter for names, adapter in _ENTRIES.items() for name in names.split(", ")}

FRAME_COUNTS = frozenset(
    name
    for adapter in ADAPTERS.values()
    for name, value in {**adapter.arguments, **adapter.video}.items()
    if value == "{n}"
)
"""Arguments that are a number of frames: read anew for each question, so that a model that is there takes another."""

PICTURE_SIZE = 448
"""Pixels of the short side of pictures that stand in for a clip, unless `size=` says otherwise: a model's own limit on
a video's pixels doesn't hold for them."""

NO_TIMES = "times=text needs a chat adapter, and this one takes pictures alone"


def of(model: str | None) -> Adapter:
    """Return what is known of an adapter by name; of one that nobody has looked at only that it takes pictures."""
    return ADAPTERS.get(model or "") or Adapter(
        images=model is not None, even=True, looked_at=False
    )


def values_in(given: str | None) -> dict[str, str]:
    """Return the values in a list such as `--model_args` has, `name=value` each, by name."""
    pairs = (part.strip().partition("=") for part in (given or "").split(",") if part)
    return {name.strip(): value for name, _, value in pairs}


def row(model: str) -> dict[str, str]:
    """Return the facts known of an adapter: its form of `uniform:4`, and the frames seen to reach its model."""
    sampling = FrameSampling.parse("uniform:4")
    added, notes = added_arguments(model, {}, sampling)
    shown = adapt(model, sampling, "", chat=False) if of(model).sees else None
    what = "no video" if shown is None else "pictures" if shown.form == "images" else "a clip"
    facts = {
        "is shown": what + ("" if of(model).looked_at else "; nobody has looked at this adapter")
    }
    facts |= (
        {"arguments added": ",".join(f"{name}={value}" for name, value in added.items())}
        if added
        else {}
    )
    facts |= {"note": "; ".join(notes)} if notes else {}
    seen = json.loads(Path(__file__).with_name("adapters_seen.json").read_text(encoding="utf-8"))
    for way, by_batch in seen["adapters"].get(model, {}).items():
        facts |= {
            way if batch == "plain" else f"{way}, {batch}": found
            for batch, found in by_batch.items()
        }
    if model in seen["adapters"]:
        facts["seen with"] = ", ".join(
            f"{name} {version}" for name, version in seen["versions"].items()
        )
    return facts


def drops(model: str | None, setting: str) -> bool:
    """Whether an adapter's code never names a setting of generation, so that its model never hears of it."""
    names, code = [str(model)], ""
    for name in names:  # and what it is made of: a class of another adapter's
        for path in kinds(name).values():
            code += (text := path.read_text(encoding="utf-8"))
            based = re.findall(r"from lmms_eval\.models\.(?:chat|simple)\.(\w+) import", text)
            names += [base for base in based if base not in names]
    handed_on = re.search(
        r"\b(?:generate|chat|create|SamplingParams)\((?:[^()]|\([^()]*\))*\*\*\w*gen_kwargs", code
    )
    return bool(code) and setting not in code and handed_on is None


def form_for(model: str, sampling: FrameSampling, row_kind: str) -> tuple[FrameSampling, bool]:
    """Return the form in which frames are decoded for an adapter, or for `ask`, and whether clips are of pairs.

    InputError where lmms-eval has no such adapter, as far as can be seen.
    """
    if model == "ask":
        return sampling if sampling.form_given == "clip" else sampling.as_images(), False
    adapter, known = of(model), kinds(model)
    if not adapter.looked_at and not known:
        raise InputError(
            f"--for {model}: lmms-eval has no such adapter; `ask` stands for reelbench ask"
        )
    as_it_is = adapter.video and sampling.form_given == "clip"
    shown = sampling if as_it_is else adapt(model, sampling, row_kind, chat="chat" in known)
    return shown.decoded, shown.form == "clip" and adapter.even


def kinds(model: str | None) -> dict[str, Path]:
    """Return lmms-eval's code of an adapter of this name for "chat" and for "simple" models, as far as there is any."""
    found = find_spec("lmms_eval")
    folders = [
        Path(place) / "models" for place in (found and found.submodule_search_locations) or ()
    ]
    files = {
        kind: folder / kind / f"{model}.py" for folder in folders for kind in ("chat", "simple")
    }
    return {kind: file for kind, file in files.items() if file.is_file()}


def check_times(sampling: FrameSampling, known: Collection[str]) -> None:
    """Raise InputError where an adapter of these kinds can't be told a picture's time."""
    if sampling.times == "text" and {*known} == {"simple"}:
        raise InputError(f"frames {sampling}: {NO_TIMES}")


def sends(model: str | None) -> bool:
    """Whether this adapter sends pictures on to a server, whatever was asked for; not where it sends videos on."""
    return of(model).server and not passes_video


def adapt(
    model: str | None, sampling: FrameSampling, row_kind: str, *, chat: bool | None = None
) -> FrameSampling:
    """Return a sampling's form for an adapter: a clip or pictures, and these with their times or not.

    Args:
        model: The adapter, as `--model` names it; None where nobody said.
        sampling: What was asked for.
        row_kind: The kind of the rows: where they are answered with times, a server's pictures
            carry theirs, and so do those of a sampling whose times no clip can tell (frames that
            aren't even, or don't begin with the video).
        chat: Whether it takes messages, in which times can stand; by default as the one that runs.
    """
    adapter = of(model)
    if not sampling.decodes or not adapter.sees:
        return sampling
    chat = task_type == "chat" if chat is None else chat
    if sends(model):
        timed = sampling.with_times(row_kind) if chat else sampling
        return timed if timed.form == "images" else replace(timed, form="images")
    if (
        sampling.form_given is not None
        or sampling.times_given is not None
        or sampling.keeps_sound
        or passes_video
    ):
        return sampling
    pictures = replace(sampling.as_images(), size=sampling.size or PICTURE_SIZE)
    timed = replace(pictures, times="text") if chat and row_kind in TIMED_KINDS else pictures
    if adapter.images or adapter.varies(sampling) or not _has_reader(adapter.needs):
        return timed
    return timed if timed.times == "text" and sampling.kind in {"window", "keyframe"} else sampling


def _has_reader(module: str) -> bool:
    """Whether the module that an adapter reads clips with, if it needs one, is here and found FFmpeg's libraries."""
    if not module or find_spec(module) is None:
        return not module
    try:  # torchcodec before 0.16 can't be imported without these, later ones say so
        return getattr(import_module(module), "ffmpeg_major_version", 0) is not None
    except (ImportError, OSError, RuntimeError):
        return False


def added_arguments(
    model: str | None, given: Mapping[str, str], sampling: FrameSampling
) -> tuple[dict[str, str], list[str]]:
    """Return the arguments to add for an adapter to take each clip whole, and what the user should know.

    `given` are the user's own arguments, and `batch_size`: where one of them chooses frames, none
    is added.
    """
    adapter = of(model)
    costs = [
        f"frames {sampling}: {model} encodes each picture anew: some 0.3 s of the processor for one of 720p"
    ]
    costs = costs if adapter.encodes_anew and sampling.decodes else []
    if not sampling.decodes or sampling.form == "images":
        if sampling.kind == "native" and not _has_reader(adapter.needs):
            return {}, [
                f"{model} reads no video without {adapter.needs}: --frames shows it pictures"
            ]
        return {}, costs
    heard = [
        f"frames {sampling}: {model} hears a video's sound, and these clips have none; audio=keep keeps it"
    ]
    heard = heard if adapter.listens and not sampling.keeps_sound else []
    if not sends(model) and adapt(model, sampling, "", chat=False).form == "images":
        why = (
            "it doesn't take each frame of a clip"
            if adapter.looked_at
            else "how it samples a clip is not known here"
        )
        if not adapter.images and not _has_reader(adapter.needs):
            why = f"it reads no clip without {adapter.needs}"
        size = "" if sampling.size else f", size={PICTURE_SIZE}"
        shown = (
            f"frames {sampling}: {model} is shown pictures{size}: {why}; as=clip hands over a clip"
        )
        return {}, [shown, *costs, *heard]
    if not adapter.looked_at:
        who = f"the adapter {model}" if model else "an adapter that the command line does not name"
        return {}, [
            f"frames {sampling}: {who} takes what it likes of a clip: how is not known here",
            *heard,
        ]
    if not _has_reader(adapter.needs):
        why = f"reads no clip without {adapter.needs}"
        raise InputError(f"frames {sampling.spec(given=True)}: {model} {why}; leave as=clip out")
    if adapter.varies(sampling):
        why = "takes one number of frames of every clip"
        raise InputError(
            f"frames {sampling.spec(given=True)}: {model} {why}; give uniform:N, or leave as=clip out"
        )
    as_it_is = given.get(PASS_VIDEO, "").lower() == "true"
    if not adapter.sees or (
        adapter.server and not as_it_is and not (adapter.video and sampling.form_given == "clip")
    ):
        return {}, []
    frames = sampling.frames or MOST_FRAMES  # no number named: allow for any
    frames += frames % 2 if adapter.even else 0
    by_batch = (
        adapter.batched
        if given.get("batch_size", "1") != "1" and adapter.batched
        else adapter.arguments
    )
    wanted = {name: value.format(n=frames) for name, value in (adapter.video or by_batch).items()}
    notes = [f"frames {sampling}: {model}: {adapter.caveat}"] if adapter.caveat else []
    notes += heard
    own = {
        name: given[name]
        for name in (*wanted, *adapter.others)
        if name in given and name != PASS_VIDEO
    }
    if any(wanted.get(name) != value for name, value in own.items()):
        keeps, would = (
            ",".join(f"{name}={value}" for name, value in some.items()) for some in (own, wanted)
        )
        keeps = f"{model} keeps your {keeps} and may sample the clips again; without it: {would}"
        notes.append(f"frames {sampling}: {keeps}")
    if own:
        wanted = {name: value for name, value in wanted.items() if name == PASS_VIDEO}
    if as_it_is:
        wanted.pop(PASS_VIDEO, None)
    return wanted, notes
