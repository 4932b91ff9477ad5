"""Have lmms-eval's adapters take a clip's frames as they are: all of them, and no other.

Every adapter samples the video that it gets once more, each by a rule and with arguments of its
own. The facts in `adapters.yaml` were read from lmms-eval 0.7.3 and qwen_vl_utils 0.0.14. An
adapter that is not there may still be exact. Nobody has looked.
"""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from reelbench.base.errors import InputError
from reelbench.base.yaml_text import read_mapping
from reelbench.registry.sampling import MOST_FRAMES, TIMED_KINDS, FrameSampling

PASS_VIDEO = "pass_video_url"  # noqa: S105 - no password
"""The argument with which an adapter sends a video on as it is, for the server to read."""

running: str | None = None
"""The adapter that this process evaluates, as `--model` names it.

None where lmms-eval did not say.
"""

passes_video = False
"""Whether that adapter sends videos on as they are."""

task_type = "simple"
"""The way to ask the model that runs, in lmms-eval's words: `simple` or `chat`."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """One of lmms-eval's adapters.

    An adapter that nobody `looked_at` gets a clip with an even number of frames, to be safe.

    Attributes:
        arguments: The --model_args that make it take a clip whole, with `{n}` for the number of
            frames.
        batched: The same where several questions are asked at once.
        further: Further arguments with which a user chooses frames.
        even: It takes pairs of frames, from 2 up.
        images: It gets pictures unless a clip is asked for.
        server: It sends pictures on to a server whatever was asked for; but with the arguments
            `video` it sends a video as it is, where `as=clip` asks for that.
        video: These arguments.
        needs: The module, with FFmpeg's libraries, without which it reads no clip.
        spreads: It takes one number of frames of every clip, and fails or repeats where there are
            fewer.
        sees: It looks at videos at all.
        caveat: A fault that may happen all the same.
        listens: It gives a model a video's sound by itself (not Qwen's omni models, to which
            lmms-eval hands `use_audio_in_video=False`).
        encodes_anew: It opens pictures and encodes them for its server itself, for each question.
        thinks: Its model thinks unless it is told not to.
        miscounts: It gives one answer too many where a question fails.
    """

    arguments: Mapping[str, str] = field(default_factory=dict)
    batched: Mapping[str, str] = field(default_factory=dict)
    further: tuple[str, ...] = ()
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
        """Return True where clips differ in their frames and it takes one number of them."""
        return self.spreads and sampling.kind in {"fps", "all"}

    def has_reader(self) -> bool:
        """Return True where the module that reads clips for it, if any, can be used."""
        if not self.needs:
            return True
        if find_spec(self.needs) is None:
            return False
        # Without FFmpeg's libraries torchcodec before 0.16 can't be imported; later ones say so.
        try:
            return getattr(import_module(self.needs), "ffmpeg_major_version", 0) is not None
        except (ImportError, OSError, RuntimeError):
            return False


def _read_adapters() -> dict[str, Adapter]:
    text = Path(__file__).with_name("adapters.yaml").read_text(encoding="utf-8")
    table = read_mapping(text, "adapters.yaml")
    adapters: dict[str, Adapter] = {}
    for names, adapter in TypeAdapter(dict[str, Adapter]).validate_python(table).items():
        adapters |= dict.fromkeys(names.split(", "), adapter)
    return adapters


def _frame_counts(adapters: Mapping[str, Adapter]) -> frozenset[str]:
    names: set[str] = set()
    for adapter in adapters.values():
        for arguments in (adapter.arguments, adapter.video):
            names.update(name for name, value in arguments.items() if value == "{n}")
    return frozenset(names)


ADAPTERS = _read_adapters()

FRAME_COUNTS = _frame_counts(ADAPTERS)
"""Arguments that are a number of frames.

An adapter reads them anew for each question, so that a model that is there takes another number.
"""

_UNKNOWN_SAMPLING = "how it samples clips is unknown"
"""Why an adapter that nobody has examined may not show the frames that were asked for."""

PICTURE_SIZE = 448
"""Pixels of the short side of pictures that stand in for a clip, unless `size=` says otherwise.

A model's own limit on a video's pixels doesn't hold for them.
"""

NO_TIMES = "times=text needs a chat adapter, and this one takes pictures alone"


class DecodedForm(NamedTuple):
    """The form in which frames are decoded. `even` where clips are of pairs of them."""

    sampling: FrameSampling
    even: bool


class AddedArguments(NamedTuple):
    """Arguments to add for an adapter, and notes for the user."""

    arguments: dict[str, str]
    notes: list[str]


def adapter_named(model: str | None) -> Adapter:
    """Return the facts on an adapter by name.

    Of one that nobody has looked at it is only known that it takes pictures.
    """
    adapter = ADAPTERS.get(model or "")
    if adapter is not None:
        return adapter
    return Adapter(images=model is not None, even=True, looked_at=False)


def values_in(text: str | None) -> dict[str, str]:
    """Return the values in a list such as `--model_args` has, `name=value` each, by name."""
    values: dict[str, str] = {}
    for part in (text or "").split(","):
        if part:
            name, _, value = part.strip().partition("=")
            values[name.strip()] = value
    return values


def row(model: str) -> dict[str, str]:
    """Return the facts on an adapter: its form of `uniform:4`, and the frames that arrived."""
    adapter = adapter_named(model)
    sampling = FrameSampling.parse("uniform:4")
    added, notes = added_arguments(model, {}, sampling)
    if not adapter.sees:
        form = "no video"
    elif adapt(model, sampling, "", chat=False).form == "images":
        form = "pictures"
    else:
        form = "a clip"
    if not adapter.looked_at:
        form += "; this adapter is untested"
    facts = {"is shown": form}
    if added:
        facts["arguments added"] = _joined(added)
    if notes:
        facts["note"] = "; ".join(notes)
    seen = json.loads(Path(__file__).with_name("adapters_seen.json").read_text(encoding="utf-8"))
    if model in seen["adapters"]:
        for way, counts_by_batch in seen["adapters"][model].items():
            for batch, counts in counts_by_batch.items():
                title = way if batch == "plain" else f"{way}, {batch}"
                facts[title] = counts
        versions = [f"{name} {version}" for name, version in seen["versions"].items()]
        facts["seen with"] = ", ".join(versions)
    return facts


def _joined(arguments: Mapping[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in arguments.items())


def ignores_setting(model: str | None, setting: str) -> bool:
    """Return True where an adapter's code never names a setting of generation.

    Its model never hears of it then.
    """
    names = [str(model)]
    code = ""
    for name in names:  # grows by the adapters of which this one is a subclass
        for path in kinds(name).values():
            text = path.read_text(encoding="utf-8")
            code += text
            for base in re.findall(r"from lmms_eval\.models\.(?:chat|simple)\.(\w+) import", text):
                if base not in names:
                    names.append(base)
    handed_on = re.search(
        r"\b(?:generate|chat|create|SamplingParams)\((?:[^()]|\([^()]*\))*\*\*\w*gen_kwargs", code
    )
    return bool(code) and setting not in code and handed_on is None


def form_for(model: str, sampling: FrameSampling, row_kind: str) -> DecodedForm:
    """Return the form in which frames are decoded for an adapter, or for `ask`.

    Raises:
        InputError: lmms-eval has no such adapter, as far as can be seen.
    """
    if model == "ask":
        if sampling.form_given != "clip":
            sampling = sampling.as_images()
        return DecodedForm(sampling, even=False)
    adapter = adapter_named(model)
    code_files = kinds(model)
    if not adapter.looked_at and not code_files:
        raise InputError(
            f"--for {model}: lmms-eval has no such adapter; `ask` stands for reelbench ask"
        )
    if not adapter.video or sampling.form_given != "clip":
        sampling = adapt(model, sampling, row_kind, chat="chat" in code_files)
    return DecodedForm(sampling.decoded, sampling.form == "clip" and adapter.even)


def kinds(model: str | None) -> dict[str, Path]:
    """Return lmms-eval's code files of an adapter: for "chat" and for "simple" models, if any."""
    package = find_spec("lmms_eval")
    files: dict[str, Path] = {}
    if package is not None:
        for folder in package.submodule_search_locations or ():
            for kind in ("chat", "simple"):
                file = Path(folder, "models", kind, f"{model}.py")
                if file.is_file():
                    files[kind] = file
    return files


def check_times(sampling: FrameSampling, adapter_kinds: Collection[str]) -> None:
    """Raise InputError where an adapter of these kinds can't be told a picture's time."""
    if sampling.times == "text" and set(adapter_kinds) == {"simple"}:
        raise InputError(f"frames {sampling}: {NO_TIMES}")


def sends_pictures(model: str | None) -> bool:
    """Return True where an adapter sends pictures on to a server, whatever was asked for.

    It does not where it sends videos on.
    """
    return adapter_named(model).server and not passes_video


def adapt(
    model: str | None, sampling: FrameSampling, row_kind: str, *, chat: bool | None = None
) -> FrameSampling:
    """Return a sampling in the form that an adapter takes.

    It is a clip or pictures, with their times or without.

    Args:
        model: The adapter, as `--model` names it. None where nobody said.
        sampling: The sampling that was asked for.
        row_kind: The kind of the rows: where they are answered with times, a server's pictures
            carry theirs, and so do those of a sampling whose times no clip can tell (frames that
            aren't even, or don't begin with the video).
        chat: Whether it takes messages, in which times can stand; by default as the one that runs.
    """
    adapter = adapter_named(model)
    if not sampling.decodes or not adapter.sees:
        return sampling
    if chat is None:
        chat = task_type == "chat"
    if sends_pictures(model):
        if chat:
            sampling = sampling.with_times(row_kind)
        return sampling if sampling.form == "images" else replace(sampling, form="images")
    form_is_given = sampling.form_given is not None or sampling.times_given is not None
    if form_is_given or sampling.keeps_sound or passes_video:
        return sampling
    pictures = replace(sampling.as_images(), size=sampling.size or PICTURE_SIZE)
    if chat and row_kind in TIMED_KINDS:
        pictures = replace(pictures, times="text")
    has_odd_times = pictures.times == "text" and sampling.kind in {"window", "keyframe"}
    takes_clip = not adapter.images and not adapter.varies(sampling) and adapter.has_reader()
    return sampling if takes_clip and not has_odd_times else pictures


def added_arguments(
    model: str | None, user_arguments: Mapping[str, str], sampling: FrameSampling
) -> AddedArguments:
    """Return the arguments with which an adapter takes each clip whole.

    Where one of the user's own arguments, or `batch_size`, chooses frames, none is added.

    Raises:
        InputError: The adapter can't take the clips that were asked for.
    """
    adapter = adapter_named(model)
    cost_notes: list[str] = []
    if adapter.encodes_anew and sampling.decodes:
        cost_notes.append(
            f"frames {sampling}: {model} encodes each picture again: "
            "some 0.3 s of the processor for one of 720p"
        )
    if not sampling.decodes or sampling.form == "images":
        if sampling.kind == "native" and not adapter.has_reader():
            cost_notes = [
                f"{model} reads no video without {adapter.needs}: --frames shows it pictures"
            ]
        return AddedArguments({}, cost_notes)
    sound_notes: list[str] = []
    if adapter.listens and not sampling.keeps_sound:
        sound_notes.append(
            f"frames {sampling}: {model} hears a video's sound, and these clips have none; "
            "audio=keep keeps it"
        )
    if not sends_pictures(model) and adapt(model, sampling, "", chat=False).form == "images":
        note = _note_on_pictures(model, adapter, sampling)
        return AddedArguments({}, [note, *cost_notes, *sound_notes])
    if not adapter.looked_at:
        name = f"the adapter {model}" if model else "an adapter that the command line does not name"
        note = f"frames {sampling}: {name} gets a clip, but {_UNKNOWN_SAMPLING}"
        return AddedArguments({}, [note, *sound_notes])
    _refuse_clip(model, adapter, sampling)
    passes = user_arguments.get(PASS_VIDEO, "").lower() == "true"
    sends_clip = passes or (adapter.video and sampling.form_given == "clip")
    if not adapter.sees or (adapter.server and not sends_clip):
        return AddedArguments({}, [])
    arguments = _arguments_of_clips(adapter, user_arguments, sampling)
    notes = list(sound_notes)
    if adapter.caveat:
        notes.insert(0, f"frames {sampling}: {model}: {adapter.caveat}")
    user_choice = _frame_arguments(adapter, user_arguments, arguments)
    if any(arguments.get(name) != value for name, value in user_choice.items()):
        notes.append(
            f"frames {sampling}: {model} keeps your {_joined(user_choice)} and may sample the "
            f"clips again; without it: {_joined(arguments)}"
        )
    if user_choice:
        arguments = {name: value for name, value in arguments.items() if name == PASS_VIDEO}
    if passes:
        arguments.pop(PASS_VIDEO, None)
    return AddedArguments(arguments, notes)


def _note_on_pictures(model: str | None, adapter: Adapter, sampling: FrameSampling) -> str:
    """Return the note that an adapter gets pictures in place of a clip, and why."""
    if not adapter.images and not adapter.has_reader():
        why = f"it reads no clip without {adapter.needs}"
    elif adapter.looked_at:
        why = "it doesn't take each frame of a clip"
    else:
        why = _UNKNOWN_SAMPLING
    size = "" if sampling.size else f", size={PICTURE_SIZE}"
    return f"frames {sampling}: {model} is shown pictures{size}: {why}; as=clip hands over a clip"


def _refuse_clip(model: str | None, adapter: Adapter, sampling: FrameSampling) -> None:
    """Raise InputError where an adapter can't take the clips that `as=clip` asks for."""
    where = f"frames {sampling.spec(words=True)}: {model}"
    if not adapter.has_reader():
        raise InputError(f"{where} reads no clip without {adapter.needs}; leave as=clip out")
    if adapter.varies(sampling):
        raise InputError(
            f"{where} takes one number of frames of every clip; "
            "give uniform:N, or leave as=clip out"
        )


def _arguments_of_clips(
    adapter: Adapter, user_arguments: Mapping[str, str], sampling: FrameSampling
) -> dict[str, str]:
    frames = sampling.frames or MOST_FRAMES  # no number named: allow for any
    if adapter.even and frames % 2:
        frames += 1
    arguments = adapter.arguments
    if adapter.video:
        arguments = adapter.video
    elif adapter.batched and user_arguments.get("batch_size", "1") != "1":
        arguments = adapter.batched
    return {name: value.format(n=frames) for name, value in arguments.items()}


def _frame_arguments(
    adapter: Adapter, user_arguments: Mapping[str, str], arguments: Mapping[str, str]
) -> dict[str, str]:
    """Return the arguments with which the user chooses frames."""
    values: dict[str, str] = {}
    for name in (*arguments, *adapter.further):
        if name in user_arguments and name != PASS_VIDEO:
            values[name] = user_arguments[name]
    return values
