"""The recipes of docs/recipes do what they say: each page's files are written and its shell blocks run, in order.

A page is one terminal: what a block exports is set in those after it, and nothing is set that no
block exports. What a block of `text` shows behind a command is what the command printed; `…` stands
for what differs or is left out. A page whose first line says *not run* is held to the commands and
options that there are (test_docs.py), no more.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.servers import ranker, roles
from tests.servers.batches import BatchServer, answered
from tests.servers.diagnosis import Models
from tests.servers.hub import HubServer
from tests.servers.judge import Answer, Call, JudgeServer, always

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs" / "recipes").glob("*.md"))
MORE = r"(?:.*\n)*?"  # a line that is `…` alone
NOT_RUN = "*Not run*"
PIECE = re.compile(r"^```(\S*)\n(.*?)^```$|`([^`\n]+\.\w+)`", re.DOTALL | re.MULTILINE)
SMALL = "device=cpu,device_map=cpu,min_pixels=3136,max_pixels=12544 --gen_kwargs max_new_tokens=4 --limit 2"
PLAYED = " ".join(f"--llm {role}={role}" for role in (*roles.DISCUSSION, "judge"))
SERVER = {"http://localhost:8000/v1": "{server}"}  # the one that is not here on any page
TAKEN = '{"span": [0, 5], "answer": "A"}'


def served(call: Call) -> Answer:
    """Answer as vLLM does, under the very name that was asked."""
    return Answer(TAKEN, model=call.body["model"])


def ranks_or_answers(call: Call) -> Answer:
    """Be the ranker of ACE, and the model under test."""
    return ranker.play(call) if call.body["model"].startswith("llama") else served(call)


def fails_once(call: Call) -> Answer:
    """Judge, and let the job fail as if its node did, when it has asked a few questions."""
    if call.number == 10:
        subprocess.Popen(
            ["bash", "-c", "scontrol requeue $(squeue --noheader --format=%A --name=score)"]
        )
    return Answer('{"score": 3}', delay=0.5)


def went_on(server: JudgeServer) -> None:
    """Slurm began the job again, and nothing was paid for twice but what was in flight then: two calls on two nodes."""
    jobs = subprocess.run(
        ["scontrol", "--oneliner", "show", "job"], capture_output=True, text=True, check=True
    ).stdout
    (scoring,) = (job for job in jobs.splitlines() if "JobName=score " in job)
    assert " Restarts=1 " in scoring
    assert " NodeList=n[1-2] " in scoring
    asked = Counter((call.system, call.user) for call in server.calls)
    assert len(asked) == 12 * 5
    assert asked.total() - len(asked) <= 2 * 2


@dataclass(frozen=True)
class Recipe:
    """How a page is run here: what its server answers, what is put for its words, and files that it must leave."""

    leaves: tuple[str, ...]
    script: Callable[[Call], Answer] = served
    swaps: dict[str, str] = field(default_factory=dict)
    marks: tuple[pytest.MarkDecorator, ...] = ()
    needs: tuple[str, ...] = ()  # fixtures
    holds: Callable[[JudgeServer], None] = lambda _: None  # what is looked at in the end


# The servers and models that are not here; a page that neither stands in this table nor says that
# it isn't run fails.
RECIPES = {
    "your_model": Recipe(
        (
            "out/hf/**/result.json",
            "out/served/**/result.json",
            "out/openai/**/result.json",
            "out/function/result.json",
        ),
        swaps={
            "Qwen/Qwen2.5-VL-7B-Instruct": f"{{vlm}},{SMALL}",
            "base_url=http://localhost:8000/v1": "base_url={server} --limit 2",
        },
        marks=(pytest.mark.lmms,),
    ),
    "local_judge": Recipe(
        (),
        script=always("2"),
        swaps={
            # tests/test_local_judge.py starts it; here its place is taken by a server that is there
            # already.
            "transformers serve FOLDER_OR_MODEL --host 127.0.0.1 --port 8123": "transformers serve --help",
            "curve --predictions FILE": "curve_mini --predictions {root}/tests/fixtures/v0_1_0/predictions/curve.jsonl",
            "http://127.0.0.1:8123/v1": "{server}",
        },
        marks=(pytest.mark.lmms,),
    ),
    "judging": Recipe(
        ("judged/result.json", "batched/result.json", "panel/result.json"),
        script=always("2"),
        swaps={"--judge batch-model": "--judge batch-model --judge-url {batches}"},
    ),
    "open_judge": Recipe(
        ("official/result.json", "open/**/result.json"),
        script=always("2"),
    ),
    "papers": Recipe(
        ("run/result.json", "results/ledger.jsonl"),
        script=always('{"score": 3}'),
        swaps={"export OPENAI_API_KEY=…": "export OPENAI_BASE_URL={server}"},
    ),
    "leaderboard": Recipe(("site/index.html", "results/ledger.jsonl")),
    "add_benchmark": Recipe(
        ("card/README.md", "page/*.html", "store/ledger.jsonl", "out/hall/result.json"),
        script=lambda call: Answer(
            '{"score": 4}' if "<answer" in call.user else "B", model=call.body["model"]
        ),
    ),
    "hidden_test": Recipe(("board/ledger.jsonl", "mine/submissions/pantry/*/*/submission.json")),
    "lint": Recipe(("faults.html", "kitchen/lint.json", "card/README.md")),
    "make_benchmark": Recipe(
        ("discussed/funnel.json", "tide.html", "moments/rextime.json", "tags.jsonl", "profile/*"),
        script=roles.play,
        swaps={
            "videos.jsonl --llm my-model": f"videos.jsonl {PLAYED}",
            "--from expert --llm my-model": f"--from expert {PLAYED}",
            "captions.json --llm my-model": "captions.json "
            + " ".join(f"--llm {role}={role}" for role in roles.CAPTIONS),
            "--llm my-model --limit": "--llm tagger --limit",
        },
    ),
    "agents": Recipe(("looks.jsonl", "run/result.json", "results/ledger.jsonl")),
    "people": Recipe(("review.html", "spans*.html")),
    "diagnose": Recipe(
        ("graphs/graphs.jsonl", "errors/report.html"),
        script=Models(scripted=lambda _, role: Answer("0") if role == "judge" else None),
    ),
    "lmms_eval": Recipe(
        ("out/**/reelbench/moviecore_mini/result.json", "page/index.html"),
        script=always('{"score": 3}'),
        swaps={"pretrained=Qwen/Qwen2.5-VL-7B-Instruct \\\n": f"pretrained={{vlm}},{SMALL} \\\n"},
        marks=(pytest.mark.lmms,),
    ),
    "own_server": Recipe(
        ("out/*/video_holmes_mini/result.json", "page/index.html"),
        script=lambda call: Answer("B", model=call.body["model"]),
        swaps={
            "http://localhost:8080/v1": "{server}",
            "http://localhost:1234/v1": "{server}",
            "--model ollama/qwen2.5vl:3b": "--model qwen2.5vl:3b --base-url {server}",
            "--model vllm/Qwen/Qwen2.5-VL-7B-Instruct": "--model Qwen/Qwen2.5-VL-7B-Instruct --base-url {server}",
        },
    ),
    "several_gpus": Recipe(
        ("out/reelbench/**/result.json",),
        swaps={
            "--processes 8": "--processes 2",
            "uniform:32": "uniform:4",
            "--tasks rextime": "--tasks rextime_mini",
            "qwen2_5_vl": "reelbench_baseline",
            "pretrained=Qwen/Qwen2.5-VL-7B-Instruct,max_num_frames=32": "kind=random",
        },
        marks=(pytest.mark.lmms,),
    ),
    "slurm": Recipe(
        (
            "out/rextime_mini/reelbench/**/result.json",
            "out/moviecore_mini/reelbench/**/result.json",
        ),
        script=fails_once,
        swaps={
            "export OPENAI_API_KEY=…": "export OPENAI_BASE_URL={server}",
            "postgresql://reelbench@db.example.org/reelbench": "{database}",
            "rextime moviecore": "rextime_mini moviecore_mini",
            "uniform:32": "uniform:4",
            "--cpus-per-task=16": "--cpus-per-task=1",
            "--gpus-per-node=8 --cpus-per-task=64": "--cpus-per-task=1",
            "--processes 8": "--processes 2",
            "qwen2_5_vl": "reelbench_baseline",
            "pretrained=Qwen/Qwen2.5-VL-7B-Instruct,max_num_frames=32": "kind=random",
            "out/moviecore ": "out/moviecore_mini ",
            "--judge-concurrency 64": "--judge-concurrency 2",
        },
        marks=(pytest.mark.lmms,),
        needs=("slurm", "postgres"),
        holds=went_on,
    ),
    "ways_of_asking": Recipe(
        ("blind/**/result.json", "seeing/**/result.json", "chosen/result.json"),
        script=ranks_or_answers,
    ),
}


def is_run(page: Path) -> bool:
    _title, _blank, first, *_ = page.read_text(encoding="utf-8").split("\n")
    return not first.startswith(NOT_RUN)


def test_every_recipe_is_in_the_table_or_says_that_it_is_not_run():
    assert [page.stem for page in PAGES if is_run(page)] == sorted(RECIPES)
    for name, recipe in RECIPES.items():
        text = (ROOT / "docs" / "recipes" / f"{name}.md").read_text(encoding="utf-8")
        assert all(old in text for old in recipe.swaps), name


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=recipe.marks) for name, recipe in RECIPES.items()]
)
def test_a_recipe_runs_as_it_stands(name, tmp_path, request, forks):
    recipe = RECIPES[name]
    here, programs = tmp_path / "here", tmp_path / "programs"
    here.mkdir()
    programs.mkdir()
    forks.program(programs)
    with ExitStack() as stack:
        server = stack.enter_context(JudgeServer(recipe.script))
        batches = stack.enter_context(BatchServer())
        batches.on_create = lambda: batches.finish("completed", lambda _, line: answered(line, "2"))
        hub = stack.enter_context(HubServer())
        places = {"server": server.url, "batches": batches.url, "root": ROOT}
        if any("{vlm}" in new for new in recipe.swaps.values()):
            places["vlm"] = request.getfixturevalue("tiny_vlm")
        fixtures = {name: request.getfixturevalue(name) for name in recipe.needs}
        if "postgres" in fixtures:
            places["database"] = fixtures["postgres"].database()
        env = {
            **os.environ,
            **hub.env(tmp_path / "hf"),
            "HF_HUB_OFFLINE": "0",
            "HF_TOKEN": "hf_owner",
            "PATH": f"{programs}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        for name_of_ours in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
            env.pop(name_of_ours, None)
        printed = ""
        for language, text in pieces(
            name, here, lambda text: swapped(text, {**recipe.swaps, **SERVER}, places)
        ):
            if language == "bash":
                printed = run(text, here, env)
            else:
                lines = text.replace("localhost:8000", server.url[7:-3]).splitlines(keepends=True)
                shown = "".join(
                    MORE if line == "…\n" else re.escape(line).replace("…", ".*") for line in lines
                )
                assert re.search(shown, printed), (
                    f"{name}: is not what was printed:\n{text}\nbut:\n{printed}"
                )
        recipe.holds(server)
    assert [pattern for pattern in recipe.leaves if not list(here.glob(pattern))] == []


def pieces(name: str, folder: Path, swap: Callable[[str], str]):
    """Yield a page's shell blocks and what they show; any other is first written to the file last named before it."""
    named, last = None, ""
    for language, text, mentioned in PIECE.findall(
        (ROOT / "docs" / "recipes" / f"{name}.md").read_text("utf-8")
    ):
        if mentioned:
            named = mentioned
            continue
        if language == "bash":
            yield language, swap(text)
        elif language == "text":
            assert last == "bash", f"{name}: a block of text that no command stands before"
            yield language, text
        else:
            assert language in ("json", "python", "sh", "yaml"), (
                f"{name}: a block of {language or 'nothing'}"
            )
            assert named, f"{name}: a block that no file is named for"
            (folder / named).write_text(swap(text) if language == "sh" else text, encoding="utf-8")
            named = None
        last = language


def swapped(command: str, swaps: dict[str, str], places: dict[str, object]) -> str:
    for old, new in swaps.items():
        command = command.replace(old, new.format(**places))
    return command


def run(command: str, folder: Path, env: dict[str, str]) -> str:
    """Run a block where the one before it left its variables, and return what it printed."""
    kept = folder.parent / "exported"
    done = subprocess.run(
        [
            "bash",
            "-euo",
            "pipefail",
            "-c",
            f"[ ! -f {kept} ] || . {kept}\n{command}\nexport -p > {kept}",
        ],
        cwd=folder,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}"
    return re.sub(r" +$", "", done.stdout, flags=re.MULTILINE)
