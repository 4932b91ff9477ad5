"""Run lmms-eval's adapters with tiny models and a local server, and write down which frames reached each model.

    python -m tools.adapters [--models FOLDER] [--ways WAY[:VARIANT],…] [ADAPTER …]

Every frame of the clips has its number burnt in. What arrives is read back at Hugging Face's
processors and at the server, by hooks of this file's own, and held against the record of the run.
`--models` is a folder of checkpoints by adapter's name; those that it lacks are written by
`tools.tiny_families`. The findings go to `docs/adapters.md` and to `tasks/lmms/adapters_seen.json`,
which `reelbench doctor --adapter` shows; of adapters that are not named, they stay.
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
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tests.servers.judge import Answer, JudgeServer
from tests.servers.owners import Owners
from tests.video import clips
from tools.tiny_families import FAMILIES

ROOT = Path(__file__).resolve().parent.parent
SEEN = ROOT / "tasks" / "lmms" / "adapters_seen.json"
PAGE = ROOT / "docs" / "adapters.md"
BEGIN, END = "<!-- written by `make adapters` -->\n", "<!-- to here -->\n"

FPS = 9
LENGTHS = {"v_square00001": 40, "v_square00002": 34, "tide_0.0_12.0": 40, "kite_4.0_10.0": 40}
"""Frames of each clip of the mini split."""

WAYS = {
    "clip": "fps:3,size=64,as=clip",
    "pictures": "fps:3,size=64,as=images",
    "native": None,
    "none": "none",
}
WAYS |= {"failure": WAYS["pictures"], "2 processes": "fps:3,size=64"}
"""3 frames a second: more than the 2 at which some adapters read a clip, and fewer of one clip than of another."""

SERVED = frozenset({"openai", "async_openai", "gpt4v", "litellm", "claude", "gemini"})
"""Adapters that ask a server."""

OPENS = frozenset({"gpt4v", "claude", "gemini"})
"""Those that open pictures: the others send the files on."""

NEEDS = {"litellm": "litellm", "claude": "anthropic", "gemini": "google.genai"}
"""Adapter -> the module that it needs and that the extra lacks: without it the adapter is left as it was."""

ON_CPU = "pretrained={model},device=cpu,device_map=cpu"
PIXELS = f"{ON_CPU},min_pixels=3136,max_pixels=12544"
SERVER = "model_version=m,base_url={server},api_key=x,max_retries=2,retry_backoff_s=0"
ARGUMENTS = {
    "qwen2_5_vl": PIXELS,
    "qwen2_vl": PIXELS,
    "qwen3_vl": PIXELS,
    "qwen3_5": f"{PIXELS},enable_thinking=False",
    "internvl_hf": ON_CPU,
    "gemma3": ON_CPU,
    "gemma4": f"{ON_CPU},max_soft_tokens=70",
    "llava_hf": ON_CPU,
    "idefics2": f"{ON_CPU},dtype=float32",
    "llama_vision": ON_CPU,
    "mistral3_vl": ON_CPU,
    "openai": SERVER,
    "async_openai": SERVER,
    "gpt4v": "model_version=m",
    "litellm": SERVER.replace("=m", "=openai/m"),
    "claude": "model_version=m",
    "gemini": "model_version=m,api_key=x,max_retries=2,retry_backoff_s=0",
    "huggingface": ON_CPU,
    "async_hf_model": ON_CPU,
    "lfm2_5_vl": "pretrained={model},device=cpu",
    "video_llava": "pretrained={model},device=cpu,device_map=auto",
}
"""Adapter -> its --model_args; `{model}` is a checkpoint's folder, `{server}` an address."""

NOT_RUN = {
    "qwen2_5_omni": "needs librosa and moviepy, and loads its processor from the network, by name",
    "qwen3_omni": "needs librosa and moviepy, and no tiny model of its two parts was made",
    "vllm, vllm_generate, sglang": "their engines need an accelerator, and are not in the extra",
    "llava_onevision, longva, llava_onevision1_5": "need a package, or a checkpoint's code, that no registry has",
}


@dataclass
class Spy:
    """What reached the model in one run: frames' numbers by clip, pictures' one after the other, times told."""

    clips: list[tuple[int, ...]] = field(default_factory=list)
    pictures: list[int] = field(default_factory=list)
    told: list[tuple[float, ...]] = field(default_factory=list)

    def save(self, file: Path) -> None:
        """Write down what was seen, for another process."""
        seen = {"clips": self.shown, "told": self.told}
        file.write_text(json.dumps(seen), encoding="utf-8")

    def add(self, file: Path) -> None:
        """Take what another process saw."""
        seen = json.loads(file.read_text(encoding="utf-8"))
        self.clips += map(tuple, seen["clips"])
        self.told += map(tuple, seen["told"])

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
def watched(spy: Spy, model: Path | None, fails: str = "") -> Iterator[None]:
    """Note what reaches Hugging Face's processors and `generate`; what is named fails, as where memory is out."""
    from PIL.ImageFile import ImageFile
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
        (ImageFile, "load", lambda *_: None),
    )
    originals = [getattr(owner, name) for owner, name, _ in places]
    for (owner, name, note), original in zip(places, originals, strict=True):

        def noting(
            self: Any,
            *args: Any,
            _own: Any = original,
            _note: Any = note,
            _place: str = name,
            **kwargs: Any,
        ) -> Any:
            if fails == _place:
                raise (
                    OSError("image file is truncated")
                    if _place == "load"
                    else RuntimeError("out of memory")
                )
            made = _own(self, *args, **kwargs)
            _note(made, kwargs)
            return made

        setattr(owner, name, noting)
    try:
        yield
    finally:
        for (owner, name, _), original in zip(places, originals, strict=True):
            setattr(owner, name, original)


def sent(calls: Sequence[Any]) -> list[list[bytes]]:
    """Return what chat completions came with: each question's pictures and videos, as files."""
    found: list[list[bytes]] = []
    for call in calls:
        content = call.body["messages"][-1]["content"]
        parts = [
            part.get("image_url") or part.get("video_url")
            for part in content
            if isinstance(part, dict)
        ]
        found.append([base64.b64decode(part["url"].partition(",")[2]) for part in parts if part])
    return found


def at_server(questions: Sequence[Sequence[bytes]], spy: Spy) -> None:
    """Note what reached a server: each question's pictures, or the frames of its video."""
    import av
    from PIL import Image

    for files in questions:
        shown: list[int] = []
        for file in files:
            if file[4:8] == b"ftyp":
                with av.open(io.BytesIO(file)) as video:
                    shown += [
                        number_in(frame.to_ndarray(format="rgb24"))
                        for frame in video.decode(video=0)
                    ]
            else:
                shown.append(number_in(Image.open(io.BytesIO(file)).convert("RGB")))
        spy.clips += [tuple(shown)] if shown else []


def cell(spy: Spy, samples: Sequence[Any], way: str) -> str:
    """Return in words what reached the model, held against what the run's samples say."""
    reasons = Counter(sample.reason for sample in samples if sample.reason)
    if way == "failure":
        scored = sum(sample.state == "scored" for sample in samples)
        return f"**{scored} of {len(samples)} scored**" if scored else "unscored"
    if reasons or not samples:
        return (
            "fails, unscored: "
            f"{', '.join(f'{n} {reason}' for reason, n in reasons.items()) or 'no sample'}"
        )
    if way == "none":
        return "nothing" if not spy.shown else f"**{len(spy.shown)} shown**"
    counts = Counter(map(len, spy.shown))
    if way == "native":
        return " or ".join(map(str, sorted(counts))) + " frames" if counts else "not seen"
    handed = [
        tuple(round(time * FPS) for time in sample.frame_timestamps or ()) for sample in samples
    ]
    times, rest = divmod(len(spy.shown), len(handed))  # a processor may be asked twice
    if not rest and times and Counter(spy.shown) == Counter(handed * times):
        return "exact" + _clock(spy, samples)
    said = [sample.frames_arrived for sample in samples]
    claims = [len(frames) if one is None else one for frames, one in zip(handed, said, strict=True)]
    so = "unknown" in said or (Counter(claims) == counts and any(one is not None for one in said))
    record = "the record says so" if so else "**the record says otherwise**"
    what = " or ".join(map(str, sorted(counts))) or "no"
    return f"{what} of {' or '.join(map(str, sorted(set(map(len, handed)))))} frames, {record}"


def _clock(spy: Spy, samples: Sequence[Any]) -> str:
    """Say whether the times in the prompt, or the seconds of a step, are the video's, within one of its frames."""
    if not spy.told:
        return ""
    worst = 0.0
    stamps = [list(sample.frame_timestamps) for sample in samples]
    pairs = [[(a + b) / 2 for a, b in zip(row[::2], row[1::2], strict=False)] for row in stamps]
    lasts = [
        len(row) - 1 - sample.frame_padding for row, sample in zip(stamps, samples, strict=True)
    ]
    steps = [
        [2 * (row[last] - row[0]) / max(1, last)] for row, last in zip(stamps, lasts, strict=True)
    ]
    for told in spy.told:
        fitting = [row for row in (*stamps, *pairs, *steps) if len(row) == len(told)]
        worst = max(
            worst,
            min(
                (max(abs(a - b) for a, b in zip(told, row, strict=True)) for row in fitting),
                default=9,
            ),
        )
    if worst <= 1 / FPS + 0.05:  # rounding of what is told
        return ", times right"
    off = f"times off by {worst:.1f} s"
    return (
        f", {off}, the record says so"
        if any(one.frame_times_told for one in samples)
        else f", **{off}**"
    )


def variants(adapter: str, way: str) -> tuple[str, ...]:
    """Return the ways of running that are tried of one way of showing."""
    if way == "failure":
        opens = ("picture unreadable",) if adapter in OPENS else ()
        return ("500s", "dead server", *opens) if adapter in SERVED else (*PLACES,)
    return ("plain", "batch 2") if way in {"clip", "pictures"} else ("plain",)


PLACES = {
    "memory out": "generate",
    "processor fails": "_prepare_image_like_inputs",
    "picture unreadable": "load",
}


def here(arguments: list[str], environ: dict[str, str], *_: Any) -> None:
    """Run lmms-eval in this process; ReelbenchError with its own line where it fails."""
    from lmms_eval.__main__ import cli_evaluate

    from reelbench.base.errors import ReelbenchError

    os.environ.update(environ)
    sys.argv = ["lmms-eval", *arguments]
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            cli_evaluate()
    except SystemExit as stop:
        if stop.code:
            raise ReelbenchError(f"lmms-eval ended with {stop.code}") from None
    finally:
        sys.stderr.write(said.getvalue())
    failed = re.search(r"Error during evaluation: (.*?)\. Please set", said.getvalue(), re.DOTALL)
    if failed:
        raise ReelbenchError(failed[1] or "an assertion, without words")


def in_two(spies: Path, model: Path | None) -> Callable[..., None]:
    """Return what runs lmms-eval in two processes, each of which writes what it saw into a folder."""
    from reelbench.tasks.lmms import process

    def start(arguments: list[str], environ: dict[str, str], *_: Any) -> None:
        module = [
            *process._ACCELERATE,  # noqa: SLF001
            "--num_processes",
            "2",
            "-m",
            "tools.adapters",
            "--child",
            str(spies),
        ]
        paths = {
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        }
        with process.start(
            [*module, str(model), *arguments], {**environ, **paths}, (), 2
        ) as running:
            status = running.wait()
        if status:
            raise process.run_error(status)

    return start


def tried(adapter: str, way: str, variant: str, model: Path | None, work: Path) -> str:
    """Run an adapter in one way, and say what was seen."""
    from reelbench.base.errors import first_line
    from reelbench.registry.sampling import FrameSampling
    from reelbench.scoring import result_files
    from reelbench.tasks.lmms import adapters, process
    from reelbench.tasks.score import Options

    spy, output = Spy(), work / f"{adapter}-{way}-{variant.replace(' ', '-')}"
    answer = Answer('{"span": [0, 5], "answer": "A"}', status=500 if variant == "500s" else 200)
    with (
        JudgeServer(lambda _: answer) as stub,
        Owners(answer.content or "", answer.status) as owners,
    ):
        dead = "http://127.0.0.1:9" if variant == "dead server" else ""
        server = f"{dead}/v1" if dead else stub.url
        os.environ |= dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_URL"), server)
        os.environ |= dict.fromkeys(
            ("ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), dead or owners.url
        )
        options = {
            "--model": adapter,
            "--model_args": ARGUMENTS[adapter].format(model=model, server=server),
            "--tasks": "rextime_mini,rextime_options_mini" if way == "failure" else "rextime_mini",
            "--limit": "1" if way == "failure" else "4",
            "--gen_kwargs": "max_new_tokens=4",
            "--batch_size": "2" if variant == "batch 2" else "1",
            "--output_path": str(output),
        }
        words = [*(word for pair in options.items() for word in pair), "--log_samples"]
        spec = WAYS[way]
        if way == "clip" and adapter in adapters.ADAPTERS and adapters.ADAPTERS[adapter].spreads:
            spec = "uniform:8,size=64,as=clip"  # a number that varies is refused
        sampling = FrameSampling.parse(spec) if spec else None
        start = in_two(work, model) if way == "2 processes" else here
        os.environ.pop("REELBENCH_FRAMES", None)
        if adapter in {"gpt4v", "claude"}:  # between attempts
            import_module(f"lmms_eval.models.simple.{adapter}").NUM_SECONDS_TO_SLEEP = 0
        try:
            with watched(spy, model, PLACES.get(variant, "")):
                outcomes = process.run_and_score(words, output, sampling, Options(), start=start)
        except Exception as error:  # noqa: BLE001 - what an adapter fails with is the finding
            return (
                f"fails: {first_line(error)[:120]}"
                if way != "failure"
                else "the run ends, unscored"
            )
        at_server(sent(stub.calls) + owners.shown, spy)
    for file in work.glob("spy-*.json"):
        spy.add(file)
        file.unlink()
    return cell(
        spy, [sample for one in outcomes for sample in result_files.read_samples(one.folder)], way
    )


def one(
    adapter: str, model: Path | None, work: Path, ways: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Run an adapter in all ways -> way -> variant -> what was seen; of `way:variant` that variant alone."""
    seen: dict[str, dict[str, str]] = {}
    for way, _, only in (way.partition(":") for way in ways):
        for variant in (one for one in variants(adapter, way) if only in {"", one}):
            found = seen.setdefault(way, {})[variant] = tried(adapter, way, variant, model, work)
            sys.stderr.write(f"\n== {adapter}, {way}, {variant}: {found}\n")
    return seen


def table(seen: dict[str, Any]) -> str:
    """Return what was seen as a table of Markdown."""
    from reelbench.tasks.lmms import adapters

    versions = ", ".join(f"{name} {number}" for name, number in seen["versions"].items())
    lines = [
        (
            f"Seen with {versions}; 3 frames per second of clips of about 5 s. *native*: the adapter "
            "selects the frames.\n"
        ),
        f"| adapter | gets | arguments added for a clip | {' | '.join(WAYS)} |",
        f"|---|---|---|{'---|' * len(WAYS)}",
    ]
    for name in dict.fromkeys(
        [*ARGUMENTS, *(name for names in NOT_RUN for name in names.split(", "))]
    ):
        by_default = adapters.row(name)["is shown"].partition(";")[0]
        known = adapters.ADAPTERS.get(name, adapters.Adapter())
        added = ",".join(
            f"{key}={value}" for key, value in (known.arguments or known.video).items()
        )
        lines.append(
            f"| `{name}` | {by_default} | {f'`{added}`' if added else ''} | {_cells(name, seen)} |"
        )
    return "\n".join(lines) + "\n"


def _cells(name: str, seen: dict[str, Any]) -> str:
    why = next((why for names, why in NOT_RUN.items() if name in names.split(", ")), None)
    if why is not None:
        return f"not run here: {why}" + " |" * (len(WAYS) - 1)
    cells: list[str] = []
    for way in WAYS:
        by_text: dict[str, list[str]] = {}
        for variant, found in seen["adapters"].get(name, {}).get(way, {}).items():
            by_text.setdefault(found, []).append(variant)
        texts = [
            found if "plain" in names else f"{', '.join(names)}: {found}"
            for found, names in by_text.items()
        ]
        cells.append("; ".join(texts if len(texts) != 1 else by_text).replace("|", "\\|") or "–")
    return " | ".join(cells)


def installed(module: str) -> bool:
    """Whether a module, or a module of a package, is here."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def numbered_clips(home: Path) -> Path:
    """Write the mini split's clips, their frames numbered, into a home, and return it."""
    videos = home / "mini" / "rextime"
    videos.mkdir(parents=True)
    for video, length in LENGTHS.items():
        clips.encode(
            videos / f"{video}.mp4", codec="libx264", gop=12, ticks=clips.constant(length, FPS)
        )
    return home


def main(names: Sequence[str], models: Path | None, ways: Sequence[str]) -> None:
    """Run adapters in one process, as long as it lives, and write what was seen; status 1 where it is worse."""
    worse: list[str] = []
    lacking = {
        name: module
        for name, module in NEEDS.items()
        if name in (names or NEEDS) and not installed(module)
    }
    left = [name for name in names or ARGUMENTS if name not in lacking]
    for name, module in lacking.items():
        sys.stderr.write(f"{name} is not run: {module} is not installed\n")
    with tempfile.TemporaryDirectory() as folder:
        home = numbered_clips(Path(folder) / "home")
        environ = {"REELBENCH_HOME": str(home), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        environ |= dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY"), "x") | {
            "LITELLM_LOCAL_MODEL_COST_MAP": "True"
        }
        while left:
            words = [
                sys.executable,
                "-m",
                "tools.adapters",
                "--here",
                *left,
                "--work",
                folder,
                "--ways",
                ",".join(ways),
            ]
            words += ["--models", str(models)] if models else []
            with subprocess.Popen(
                words, stdout=subprocess.PIPE, env=os.environ | environ, text=True
            ) as running:
                for line in running.stdout or ():
                    worse += _write(left.pop(0), json.loads(line))
            if left and running.returncode:
                worse += _write(
                    left.pop(0),
                    {way.partition(":")[0]: {"plain": "fails: the process ended"} for way in ways},
                )
    if worse:
        raise SystemExit("\n".join(["what was exact, or unscored, is so no more:", *worse]))


def _good(found: str) -> bool:
    return (
        found.startswith(("exact", "unscored", "nothing", "the run ends, unscored"))
        and "**" not in found
    )


def _write(name: str, ways: dict[str, dict[str, str]]) -> list[str]:
    """Write down one adapter's findings beside those of the others; return what is worse than it was."""
    seen: dict[str, Any] = (
        json.loads(SEEN.read_text(encoding="utf-8")) if SEEN.is_file() else {"adapters": {}}
    )
    seen["versions"] = {name: version(name) for name in ("lmms-eval", "transformers", "torch")}
    known = seen["adapters"].get(name, {})
    worse = [
        f"{name}, {way}, {variant}: {found}, and was: {before}"
        for way, cells in ways.items()
        for variant, found in cells.items()
        if _good(before := known.get(way, {}).get(variant, "")) and not _good(found)
    ]
    merged = {way: known.get(way, {}) | ways.get(way, {}) for way in WAYS}
    kept = {
        way: {one: merged[way][one] for one in variants(name, way) if one in merged[way]}
        for way in WAYS
    }
    every = seen["adapters"] | {name: {way: cells for way, cells in kept.items() if cells}}
    seen["adapters"] = {name: every[name] for name in ARGUMENTS if name in every}
    SEEN.write_text(json.dumps(seen, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table(seen)}{END}{rest.partition(END)[2]}", encoding="utf-8")
    return worse


def checkpoint(adapter: str, models: Path | None, work: Path) -> Path | None:
    """Return the folder of a model for an adapter, written now where nobody has one; None where it needs none."""
    if models and (models / adapter).is_dir():
        return models / adapter
    if adapter not in FAMILIES:
        return None
    import torch

    torch.manual_seed(0)
    return FAMILIES[adapter](work / "models" / adapter)


def run_here(names: Sequence[str], models: Path | None, work: Path, ways: Sequence[str]) -> None:
    """Run adapters in this process; one line of JSON each."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # tokenizers' trainer writes an empty line there by itself
    for name in names:
        findings = one(name, checkpoint(name, models, work), work, ways)
        out.write(json.dumps(findings) + "\n")
        out.flush()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        folder, model, *arguments = sys.argv[2:]
        seen_here = Spy()
        with watched(seen_here, Path(model) if model != "None" else None):
            here(arguments, {})
        seen_here.save(Path(folder) / f"spy-{os.environ['RANK']}.json")
    else:
        parser = argparse.ArgumentParser()
        parser.add_argument("adapters", nargs="*")
        parser.add_argument("--models", type=Path)
        parser.add_argument("--ways", default=",".join(WAYS))
        parser.add_argument(
            "--here", action="store_true", help="in this process: what the others start"
        )
        parser.add_argument("--work", type=Path)
        given = parser.parse_args()
        if given.here:
            run_here(given.adapters, given.models, given.work, given.ways.split(","))
        else:
            main(given.adapters, given.models, given.ways.split(","))
