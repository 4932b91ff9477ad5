"""What a stranger does first: the wheel in an empty environment, then README's commands, each as it stands there."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.registry.upstream import MOVIECORE, clip
from tests.servers.hub import HubServer
from tests.servers.judge import Answer, JudgeServer

ROOT = Path(__file__).resolve().parent.parent
UV = [sys.executable, "-m", "uv"]
PYTHON = os.environ.get("REELBENCH_PYTHON", sys.executable)  # of the empty environment
INSTALL = "pip install '.[lmms-eval]'"
HOLMES = ROOT / "reelbench" / "tasks" / "video_holmes" / "mini" / "test_Video-Holmes.json"
RIGHT = {"my-model": 80, "other": 45}
"""Share of the questions that a model of README answers right, in percent."""
OURS = (
    "REELBENCH_",
    "HF_",
    "OPENAI_",
    "PYTHON",
    "VIRTUAL_ENV",
    "FORCE_",
    "TOKENIZERS_",
)  # what a stranger hasn't set
SMALL = "device=cpu,device_map=cpu,min_pixels=3136,max_pixels=12544 --gen_kwargs max_new_tokens=4"


@dataclass(frozen=True)
class Run:
    """How one of README's commands is run here: what is put for its words, and a file that it must leave."""

    swaps: dict[str, str] = field(default_factory=dict)
    leaves: str = ""
    needs_lmms_eval: bool = False


# Models, servers and data that are not here; a command of README that this table lacks fails the
# test.
COMMANDS = {
    "pip install .": Run({"pip install .": "{uv} pip install --quiet --python {python} '{wheel}'"}),
    INSTALL: Run(
        {INSTALL: "{uv} pip install --quiet --python {python} '{wheel}[lmms-eval]'"},
        needs_lmms_eval=True,
    ),
    "reelbench eval video_holmes_mini --model my-model --base-url http://localhost:8000/v1 --output out": Run(
        {"http://localhost:8000/v1": "{server}"}, leaves="out/video_holmes_mini/result.json"
    ),
    "reelbench compare out/video_holmes_mini OTHER/video_holmes_mini": Run(
        {
            "reelbench compare": "reelbench eval video_holmes_mini --model other --base-url {server} --output OTHER >/dev/null && reelbench compare"
        }
    ),
    "reelbench view out/video_holmes_mini --out page": Run(leaves="page/index.html"),
    "reelbench eval rextime_mini --model Qwen/Qwen2.5-VL-7B-Instruct --frames 32 --output out/qwen": Run(
        {
            "Qwen/Qwen2.5-VL-7B-Instruct": f"{{vlm}} --limit 2 --max-tokens 4 --model-args {SMALL.partition(' ')[0]}"
        },
        leaves="out/qwen/*/reelbench/rextime_mini/result.json",
        needs_lmms_eval=True,
    ),
    "lmms-eval --tasks moviecore_mini --model qwen2_5_vl --model_args pretrained=Qwen/Qwen2.5-VL-7B-Instruct": Run(
        {"Qwen/Qwen2.5-VL-7B-Instruct": f"{{vlm}},{SMALL} --limit 2 --output_path qwen"},
        leaves="qwen/**/*_results.json",
        needs_lmms_eval=True,
    ),
    "reelbench data fetch moviecore --media": Run(),
    "reelbench score moviecore --predictions predictions.json --judge gpt-6-luna": Run(
        {"--judge": "--output judged --judge-url {server} --judge"}, leaves="judged/result.json"
    ),
    "reelbench new kitchen --from rows.csv --media videos": Run(leaves="kitchen/benchmark.yaml"),
    "reelbench check kitchen": Run(),
    "reelbench eval kitchen --model my-model --base-url http://localhost:8000/v1 --output out": Run(
        {"http://localhost:8000/v1": "{server}"}, leaves="out/kitchen/result.json"
    ),
    "reelbench leaderboard add out/kitchen --store results": Run(leaves="results/ledger.jsonl"),
    "reelbench leaderboard build --store results --out site": Run(leaves="site/index.html"),
    "reelbench leaderboard tables kitchen --store results --format latex": Run(),
    "reelbench cards render kitchen --out card": Run(leaves="card/README.md"),
}


def commands():
    """Return README's shell commands: the lines that are set in by four spaces, without their comments.

    What `make` does is for a checkout, and not for the wheel.
    """
    lines = re.findall(
        r"^    (\S.*)$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    return [re.sub(r"\s+# .*", "", line) for line in lines if not line.startswith("make ")]


def shown():
    """Return the lines that README shows as printed."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [line for line in block.splitlines() if line != "…"]


def test_every_command_of_the_readme_is_in_the_table_and_no_other():
    assert commands() == list(COMMANDS)
    for command, run in COMMANDS.items():
        assert all(old in command for old in run.swaps), command


def test_the_first_page_of_the_documents_has_commands_of_the_readme():
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [line for line in block.splitlines() if line not in COMMANDS] == []


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """An empty environment with nothing but a Python; it is deleted afterwards, as it may hold gigabytes."""
    path = tmp_path_factory.mktemp("stranger") / "environment"
    subprocess.run([*UV, "venv", "--quiet", "--python", PYTHON, path], check=True)
    yield path
    shutil.rmtree(path)


def predictions(folder):
    """Write what README's `score` commands read: the owners' formats, for a few questions."""
    rows = ["id,video,question,A,B,answer"]
    (folder / "videos").mkdir()
    for name in ("1", "2"):
        rows.append(f"q{name},{name}.mp4,what is in {name}?,salt,sugar,A")
        (folder / "videos" / f"{name}.mp4").write_bytes(clip(folder, name))
    (folder / "rows.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    questions = json.loads(MOVIECORE)
    said = {
        key: {"video": row["video"], "question": row["question"], "pred": "x"}
        for key, row in questions.items()
    }
    (folder / "predictions.json").write_text(json.dumps(said), encoding="utf-8")


def answers(call):
    """Answer README's questions, right so often that its two models differ; judge anything else."""
    parts = call.user if isinstance(call.user, list) else [{"text": call.user}]
    prompt = " ".join(part.get("text", "") for part in parts)
    model = call.body["model"]
    for row in json.loads(HOLMES.read_text(encoding="utf-8")):
        if all(f"({letter}) {text}" in prompt for letter, text in row["Options"].items()):
            draw = zlib.crc32(f"{model} {row['video ID']} {row['Question']}".encode()) % 100
            letter = row["Answer"]
            if draw >= RIGHT[model]:
                letter = "A" if letter == "F" else "F"
            return Answer(f"The answer is ({letter}).", model=model)
    return Answer(model=model)


@pytest.mark.slow
@pytest.mark.parametrize("with_lmms_eval", [False, True], ids=["core", "lmms-eval"])
def test_the_readme_s_commands_in_an_empty_environment(
    with_lmms_eval, built, environment, tmp_path, request
):
    """First what the core does; then, in the same environment, lmms-eval's stack and what needs it."""
    here = tmp_path / "here"
    here.mkdir()
    predictions(here)
    (wheel,) = built.glob("*.whl")
    with HubServer() as hub, JudgeServer(answers) as server:
        hub.add("MovieCORE/MovieCORE", {"test.json": MOVIECORE})
        hub.add(
            "Enxin/MovieChat-1K-test",
            {f"videos/{key}.mp4": clip(tmp_path, key) for key in ("8", "AWA-6")},
        )
        env = {
            **{name: value for name, value in os.environ.items() if not name.startswith(OURS)},
            "PATH": f"{environment / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "REELBENCH_HOME": str(tmp_path / "home"),
            "OPENAI_API_KEY": "x",
            **hub.env(tmp_path / "hf"),
        }
        places = {
            "uv": " ".join(UV),
            "python": environment / "bin" / "python",
            "wheel": wheel,
            "vlm": request.getfixturevalue("tiny_vlm") if with_lmms_eval else None,
            "server": server.url,
            "root": ROOT,
        }
        printed = ""
        for command, run in COMMANDS.items():
            if run.needs_lmms_eval != with_lmms_eval:
                continue
            text = command
            for old, new in run.swaps.items():
                text = text.replace(old, new.format(**places))
            done = in_shell(text, here, env)
            assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
            printed += done.stdout
            # lmms-eval exits with 0 when it has failed.
            assert not run.leaves or list(here.glob(run.leaves)), f"{text}\n{done.stderr[-4000:]}"
        if not with_lmms_eval:
            printed = re.sub(r" +$", "", printed, flags=re.MULTILINE)
            assert [line for line in shown() if line not in printed.splitlines()] == []
            done = in_shell("reelbench run -- --tasks rextime_mini --model qwen2_5_vl", here, env)
            assert (done.returncode, INSTALL in done.stderr) == (2, True), done


def in_shell(command, folder, env):
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=900,
        check=False,
    )


@pytest.mark.slow
def test_the_sdist_can_be_tested(built, tmp_path):
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout: nothing says which files belong to it")
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    files = [name for name in tracked if name and (ROOT / name).is_file()]
    # A room at the top is packed where the link to it stands: as a sub-package.
    there = [
        folder.joinpath(name).is_file() or folder.joinpath("reelbench", name).is_file()
        for name in files
    ]
    assert [name for name, found in zip(files, there, strict=True) if not found] == []
    collect = [
        sys.executable,
        "-m",
        "pytest",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        "--assert=plain",
    ]
    done = subprocess.run(collect, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
