"""Run lmms-eval's adapters with tiny models and a local server, and write down which frames reached each model.

    python -m tools.adapters [--models FOLDER] [ADAPTER …]

Every frame of the clips has its number burnt in. What arrives is read back at Hugging Face's processors and at the
server, by hooks of this file's own, and held against the record of the run. `--models` is a folder of checkpoints by
adapter's name; those that it lacks are written by `tools.tiny_families`. The findings go to `docs/adapters.md` and to
`tasks/lmms/adapters_seen.json`, which `reelbench doctor --adapter` shows; of adapters that are not named, they stay.
"""
# ruff: noqa: ANN401, PLR2004 - what transformers and lmms-eval hand over; layouts of pictures

import argparse
import base64
import contextlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tests.registry.frames import clips
from tests.servers.judge import Answer, JudgeServer
from tools.tiny_families import FAMILIES

ROOT = Path(__file__).resolve().parent.parent
SEEN = ROOT / "tasks" / "lmms" / "adapters_seen.json"
PAGE = ROOT / "docs" / "adapters.md"
BEGIN, END = "<!-- written by `make adapters` -->\n", "<!-- to here -->\n"

FPS = 9
LENGTHS = {"v_square00001": 40, "v_square00002": 34, "tide_0.0_12.0": 40, "kite_4.0_10.0": 40}
"""Frames of each clip of the mini split."""

WAYS = {"clip": "fps:3,size=64,as=clip", "pictures": "fps:3,size=64,as=images", "native": None, "none": "none"}
WAYS["failure"] = WAYS["pictures"]
"""3 frames a second: more than the 2 at which some adapters read a clip, and fewer of one clip than of another."""

ON_CPU = "pretrained={model},device=cpu,device_map=cpu"
PIXELS = f"{ON_CPU},min_pixels=3136,max_pixels=12544"
ARGUMENTS = {
    "qwen2_5_vl": PIXELS,
    "qwen2_vl": PIXELS,
    "qwen3_vl": PIXELS,
    "gemma3": ON_CPU,
    "llava_hf": ON_CPU,
    "idefics2": f"{ON_CPU},dtype=float32",
    "openai": "model_version=m,base_url={server},api_key=x",
    "async_openai": "model_version=m,base_url={server},api_key=x",
    "gpt4v": "model_version=m",
}
"""Adapter -> its --model_args; `{model}` is a checkpoint's folder, `{server}` an address."""

NOT_RUN = {
    "lfm2_5_vl, video_llava, huggingface, async_hf_model": "fail by themselves with transformers 5",
    "qwen2_5_omni, qwen3_omni": "load their processor from the network, by name",
    "vllm, vllm_generate, sglang": "their engines are not in the extra",
    "gemini, claude": "ask their owners' servers",
}


@dataclass
class Spy:
    """What reached the model in one run: frames' numbers by clip, pictures' one after the other, times told."""

    clips: list[tuple[int, ...]] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    told: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def shown(self) -> list[tuple[int, ...]]:
        """Each question's frames: a clip's, or pictures up to the one whose number falls back."""
        groups: list[list[int]] = []
        for place, number in enumerate(self.pictures):
            if place == 0 or number < self.pictures[place - 1]:
                groups.append([])
            groups[-1].append(number)
        return [*self.clips, *map(tuple, groups)]


def number_in(picture: Any) -> int:
    """Return the number in a picture of any layout: channels first or last, 0 to 1 or to 255."""
    pixels = np.asarray(picture.cpu() if hasattr(picture, "cpu") else picture).astype("float32")
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3) and pixels.shape[2] not in (1, 3):
        pixels = pixels.transpose(1, 2, 0)
    return clips.number_in(pixels * (255 if pixels.max() <= 1.5 else 1))


def _flat(pictures: Any) -> Iterator[Any]:
    for picture in pictures:
        if isinstance(picture, list | tuple):
            yield from _flat(picture)
        else:
            yield picture


@contextlib.contextmanager
def watched(spy: Spy, model: Path | None, *, fails: bool) -> Iterator[None]:
    """Note what reaches Hugging Face's processors and `generate`, which fails as where memory is out."""
    from transformers import AutoTokenizer
    from transformers.generation.utils import GenerationMixin
    from transformers.image_processing_utils import BaseImageProcessor
    from transformers.video_processing_utils import BaseVideoProcessor

    words = AutoTokenizer.from_pretrained(model) if model else None

    def videos(made: Any, _: Any) -> None:
        spy.clips += [tuple(number_in(frame) for frame in video) for video in made]

    def pictures(made: Any, _: Any) -> None:
        spy.pictures += [number_in(picture) for picture in _flat(made)]

    def prompts(_: Any, kwargs: dict[str, Any]) -> None:
        steps = kwargs.get("second_per_grid_ts")
        if steps is not None:
            spy.told += [(float(step),) for step in steps]
        for ids in kwargs["input_ids"] if words and kwargs.get("input_ids") is not None else ():
            times = re.findall(r"<(\d+\.\d) seconds>", words.decode(ids))
            spy.told += [tuple(map(float, times))] if times else []

    places = (
        (BaseVideoProcessor, "_prepare_input_videos", videos),
        (BaseImageProcessor, "_prepare_image_like_inputs", pictures),
        (GenerationMixin, "generate", prompts),
    )
    originals = [getattr(owner, name) for owner, name, _ in places]
    for (owner, name, note), original in zip(places, originals, strict=True):

        def noting(self: Any, *args: Any, _own: Any = original, _note: Any = note, **kwargs: Any) -> Any:
            if fails and _note is prompts:
                raise RuntimeError("out of memory")
            made = _own(self, *args, **kwargs)
            _note(made, kwargs)
            return made

        setattr(owner, name, noting)
    try:
        yield
    finally:
        for (owner, name, _), original in zip(places, originals, strict=True):
            setattr(owner, name, original)


def at_server(calls: Sequence[Any], spy: Spy) -> None:
    """Note what reached the server: pictures of a message, frames of a video."""
    import av
    from PIL import Image

    for call in calls:
        shown: list[int] = []
        content = call.body["messages"][-1]["content"]
        for part in content if isinstance(content, list) else ():
            url = (part.get("image_url") or part.get("video_url") or {}).get("url", "")
            data = io.BytesIO(base64.b64decode(url.partition(",")[2]))
            if "image_url" in part:
                shown.append(number_in(Image.open(data).convert("RGB")))
            elif "video_url" in part:
                with av.open(data) as video:
                    shown += [number_in(frame.to_ndarray(format="rgb24")) for frame in video.decode(video=0)]
        spy.clips += [tuple(shown)] if shown else []


def cell(spy: Spy, samples: Sequence[Any], way: str) -> str:
    """Return in words what reached the model, held against what the run's samples say."""
    reasons = Counter(sample.reason for sample in samples if sample.reason)
    if way == "failure":
        scored = sum(sample.state == "scored" for sample in samples)
        return f"**{scored} of {len(samples)} scored**" if scored else "unscored"
    if reasons:
        return f"fails, unscored: {', '.join(f'{n} {reason}' for reason, n in reasons.items())}"
    if way == "none":
        return "nothing" if not spy.shown else f"**{len(spy.shown)} shown**"
    counts = Counter(map(len, spy.shown))
    if way == "native":
        return " or ".join(map(str, sorted(counts))) + " frames" if counts else "not seen"
    handed = [tuple(round(time * FPS) for time in sample.frame_timestamps or ()) for sample in samples]
    times, rest = divmod(len(spy.shown), len(handed))  # a processor may be asked twice
    if not rest and times and Counter(spy.shown) == Counter(handed * times):
        return "exact" + _clock(spy, samples)
    said = [sample.frames_arrived for sample in samples]
    claims = [len(frames) if one is None else one for frames, one in zip(handed, said, strict=True)]
    record = "the record says so" if "unknown" in said or Counter(claims) == counts else "**the record says otherwise**"
    what = " or ".join(map(str, sorted(counts))) or "no"
    return f"{what} of {' or '.join(map(str, sorted(set(map(len, handed)))))} frames, {record}"


def _clock(spy: Spy, samples: Sequence[Any]) -> str:
    """Say whether the times in the prompt, or the seconds of a step, are the video's, within one of its frames."""
    if not spy.told:
        return ""
    worst = 0.0
    stamps = [list(sample.frame_timestamps) for sample in samples]
    pairs = [[(a + b) / 2 for a, b in zip(row[::2], row[1::2], strict=False)] for row in stamps]
    lasts = [len(row) - 1 - sample.frame_padding for row, sample in zip(stamps, samples, strict=True)]
    steps = [[2 * (row[last] - row[0]) / max(1, last)] for row, last in zip(stamps, lasts, strict=True)]
    for told in spy.told:
        fitting = [row for row in (*stamps, *pairs, *steps) if len(row) == len(told)]
        worst = max(worst, min((max(abs(a - b) for a, b in zip(told, row, strict=True)) for row in fitting), default=9))
    if worst <= 1 / FPS + 0.05:  # rounding of what is told
        return ", times right"
    off = f"times off by {worst:.1f} s"
    return f", {off}, the record says so" if any(one.frame_times_told for one in samples) else f", **{off}**"


def one(adapter: str, model: Path | None, server: str, work: Path) -> dict[str, dict[str, str]]:
    """Run an adapter in all ways -> way -> batch -> what was seen."""
    from lmms_eval.__main__ import cli_evaluate

    from reelbench.registry.errors import ReelbenchError, first_line
    from reelbench.registry.frames.sampling import FrameSampling
    from reelbench.scoring import result_files
    from reelbench.tasks.lmms import process
    from reelbench.tasks.score import Options

    def here(arguments: list[str], environ: dict[str, str], *_: Any) -> None:
        os.environ.pop("REELBENCH_FRAMES", None)
        os.environ.update(environ)
        sys.argv = ["lmms-eval", *arguments]
        try:
            cli_evaluate()
        except SystemExit as stop:
            if stop.code:
                raise ReelbenchError(f"lmms-eval ended with {stop.code}") from None

    seen: dict[str, dict[str, str]] = {}
    for way, spec in WAYS.items():
        for batch in ("plain", "batch 2") if way in ("clip", "pictures") else ("plain",):
            spy, output = Spy(), work / f"{adapter}-{way}-{batch[-1]}"
            words = ["--model", adapter, "--model_args", ARGUMENTS[adapter].format(model=model, server=server)]
            words += ["--tasks", "rextime_mini", "--limit", "4", "--gen_kwargs", "max_new_tokens=4"]
            words += [
                "--batch_size",
                batch[-1] if batch != "plain" else "1",
                "--output_path",
                str(output),
                "--log_samples",
            ]
            sampling = FrameSampling.parse(spec) if spec else None
            answer = Answer('{"span": [0, 5], "answer": "A"}', status=500 if way == "failure" else 200)
            with JudgeServer(lambda _, answer=answer: answer) as stub:
                words = [word.replace("SERVER", stub.url) for word in words]
                os.environ["OPENAI_BASE_URL"] = stub.url
                try:
                    with watched(spy, model, fails=way == "failure"):
                        [outcome] = process.run_and_score(words, output, sampling, Options(), start=here)
                    at_server(stub.calls, spy)
                    found = cell(spy, list(result_files.read_samples(outcome.folder)), way)
                except Exception as error:  # noqa: BLE001 - what an adapter fails with is the finding
                    found = f"fails: {first_line(error)[:120]}"
            seen.setdefault(way, {})[batch] = found
            sys.stderr.write(f"{adapter}, {way}, {batch}: {found}\n")
    return seen


def table(seen: dict[str, Any]) -> str:
    """Return what was seen as a table of Markdown."""
    versions = ", ".join(f"{name} {number}" for name, number in seen["versions"].items())
    lines = [
        f"Seen with {versions}; 3 frames a second of clips of about 5 s. *native*: the adapter samples.\n",
        f"| adapter | {' | '.join(WAYS)} |",
        f"|---|{'---|' * len(WAYS)}",
    ]
    for name, ways in seen["adapters"].items():
        cells: list[str] = []
        for way in WAYS:
            plain = ways.get(way, {}).get("plain", "–")
            batch = ways.get(way, {}).get("batch 2", plain)
            cells.append(plain if plain == batch else f"{plain}; `--batch_size 2`: {batch}")
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    lines += [
        f"| {', '.join(f'`{part}`' for part in names.split(', '))} | not run here: {why} |{' |' * (len(WAYS) - 1)}"
        for names, why in NOT_RUN.items()
    ]
    return "\n".join(lines) + "\n"


def main(names: Sequence[str], models: Path | None) -> None:
    """Run adapters, each in a process of its own, and write what was seen; status 1 where it is worse than it was."""
    worse: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        videos = home / "mini" / "rextime"
        videos.mkdir(parents=True)
        for video, length in LENGTHS.items():
            clips.encode(videos / f"{video}.mp4", codec="libx264", gop=12, ticks=clips.constant(length, FPS))
        for name in names or ARGUMENTS:
            words = [sys.executable, "-m", "tools.adapters", "--one", name, "--work", folder]
            words += ["--models", str(models)] if models else []
            environ = {"REELBENCH_HOME": str(home), "OPENAI_API_KEY": "x", "HF_HUB_OFFLINE": "1"}
            done = subprocess.run(words, stdout=subprocess.PIPE, env=os.environ | environ, check=False, text=True)
            ended = {way: {"plain": "fails: the process ended"} for way in WAYS}
            worse += _write(name, json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else ended)
    if worse:
        raise SystemExit("\n".join(["what was exact, or unscored, is so no more:", *worse]))


def _write(name: str, ways: dict[str, dict[str, str]]) -> list[str]:
    """Write down one adapter's findings beside those of the others; return what is worse than it was."""
    seen: dict[str, Any] = json.loads(SEEN.read_text(encoding="utf-8")) if SEEN.is_file() else {"adapters": {}}
    seen["versions"] = {name: version(name) for name in ("lmms-eval", "transformers", "torch")}
    worse = [
        f"{name}, {way}, {batch}: {found}, and was: {before}"
        for way, cells in seen["adapters"].get(name, {}).items()
        for batch, before in cells.items()
        if (found := ways.get(way, {}).get(batch, "")) != before and before.startswith(("exact", "unscored", "nothing"))
    ]
    every = seen["adapters"] | {name: ways}
    seen["adapters"] = {name: every[name] for name in ARGUMENTS if name in every}
    SEEN.write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table(seen)}{END}{rest.partition(END)[2]}", encoding="utf-8")
    return worse


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("adapters", nargs="*")
    parser.add_argument("--models", type=Path)
    parser.add_argument("--one")
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    if not given.one:
        main(given.adapters, given.models)
    else:
        made: Callable[[Path], Path] | None = FAMILIES.get(given.one)
        checkpoint = given.models / given.one if given.models and (given.models / given.one).is_dir() else None
        if checkpoint is None and made is not None:
            import torch

            torch.manual_seed(0)
            checkpoint = made(given.work / "models" / given.one)
        with contextlib.redirect_stdout(sys.stderr):
            findings = one(given.one, checkpoint, "SERVER", given.work)
        sys.stdout.write(json.dumps(findings) + "\n")
