"""The command line over what others hand us: each surface is an honest input, what of it is damaged, and its commands.

An honest input is made once a run. `write` copies it, damages one or two of its files and draws a
command; `check` runs that command in this process, and holds it to an exit status, readable lines,
and files inside the input's folder.
"""

import contextlib
import functools
import hashlib
import io
import json
import os
import shlex
import shutil
import sqlite3
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Self
from unittest.mock import patch

import yaml

from reelbench import studio as making
from reelbench.base.files import written_aside
from reelbench.base.settings import home
from reelbench.registry import discovery
from reelbench.video.mini_clips import draw_clip
from tests.servers import diagnosis, ranker, roles
from tests.servers.judge import Answer, Call, JudgeServer
from tools.fuzzing import damage, seeds
from tools.fuzzing.holding import Finding, one_line, require

OLD = Path(__file__).parents[2] / "tests" / "fixtures" / "v0_1_0"
LLM = "--llm m --llm-url {url}"
JUDGE = "--judge judge-v1 --judge-url {url}"
DISCUSS = " ".join(f"--llm {role}={role}@{{url}}" for role in roles.DISCUSSION)
MOMENTS = " ".join(f"--llm {role}={role}@{{url}}" for role in roles.CAPTIONS)
_SAID = "command.txt"


@dataclass(frozen=True)
class Surface:
    """A way in.

    Attributes:
        make: Writes an honest input into the current folder, by commands if need be.
        damaged: Patterns of its files that are damaged.
        commands: Those that take it, run in its folder; `{url}` is a server that plays every model.
        weight: Its share of a run's inputs.
        stdin: A file of the input that the commands read.
    """

    make: Callable[[], None]
    damaged: tuple[str, ...]
    commands: tuple[str, ...]
    weight: int = 3
    stdin: str | None = None


@dataclass(frozen=True)
class Done:
    """What came of a command."""

    status: int
    stdout: str
    stderr: str


def play(call: Call) -> Answer:
    """Play every model: a chain's roles and a diagnosis' by name, a judge, and a model that is asked questions."""
    model = call.body["model"]
    if model.startswith("judge-"):
        return Answer(f'{{"score": {len(call.user) % 3}}}', model=model)
    if model == "m":
        return diagnosis.Models()(call)
    if model == "ranker":
        return ranker.play(call)
    if model == "q":
        return Answer(
            '{"span": [0, 5], "answer": "A"}'
            if hashlib.sha256(str(call.user).encode()).digest()[0] % 4
            else "I do not know."
        )
    return roles.play(call)


def command(words: str, *, url: str = "", stdin: Path | None = None) -> Done:
    """Run a command in this process and folder, as its own process would; Finding where it ends as no command may."""
    from reelbench.cli.main import main

    given = stdin.read_bytes() if stdin else b""
    streams = [io.TextIOWrapper(io.BytesIO(data), encoding="utf-8") for data in (given, b"", b"")]
    before = sys.argv, sys.stdin
    sys.argv, sys.stdin = ["reelbench", *shlex.split(words.format(url=url))], streams[0]
    status: Any = 0
    try:
        with (
            patch.object(discovery, "_registry", discovery.registry()),
            contextlib.redirect_stdout(streams[1]),
            contextlib.redirect_stderr(streams[2]),
        ):
            main()
    except SystemExit as end:
        status = end.code or 0
    finally:
        sys.argv, sys.stdin = before
    for stream in streams[1:]:
        stream.flush()
    out, err = (stream.buffer.getvalue().decode() for stream in streams[1:])  # type: ignore[attr-defined]
    return Done(status, out, err)


def checked(words: str, **more: Any) -> Done:  # noqa: ANN401 - as `command`
    """Run a command; Finding where it ends as none may."""
    done = command(words, **more)
    require(done.status in (0, 1, 2), f"ends with {done.status!r}")
    require("Traceback (most recent" not in done.stderr, f"a traceback\n{done.stderr}")
    for line in done.stderr.splitlines():
        if line.strip():
            one_line(line)
    require(
        done.status == 0 or done.stderr.strip() or done.stdout.strip(),
        f"ends with {done.status}, without a word",
    )
    if done.status == 0 and "--json" in words.split():
        with contextlib.suppress(ValueError):
            json.loads(done.stdout)
            return done
        raise Finding(f"--json, and what is printed is not JSON: {done.stdout[:300]!r}")
    return done


@contextlib.contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Work in a folder, with the replies kept there."""
    before, place = os.environ.get("REELBENCH_CACHE"), Path.cwd()
    os.environ["REELBENCH_CACHE"] = str(folder / "judge.sqlite")
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(place)
        os.environ.pop("REELBENCH_CACHE")
        if before is not None:
            os.environ["REELBENCH_CACHE"] = before


# --- honest inputs
# ----------------------------------------------------------------------------------------------------


def _jsonl(path: str, entries: Any) -> None:  # noqa: ANN401 - an iterable of JSON values
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")


def _json(path: str, value: Any) -> None:  # noqa: ANN401 - any JSON value
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(json.dumps(value), encoding="utf-8")


def _run(*lines: str) -> None:
    """Run commands that an honest input is made by."""
    with JudgeServer(play) as server:
        for words in lines:
            done = command(words, url=server.url)
            if done.status:
                raise SystemExit(f"{words}: ends with {done.status}\n{done.stderr}")


def _answers(path: str, letters: str = "ABCD") -> None:
    said = [
        f"The answer is {letters[n % len(letters)]}, from {n % 4} to {n + 3} seconds."
        for n in range(20)
    ]
    _jsonl(
        path,
        (
            {"id": row["id"], "prediction": text}
            for row, text in zip(seeds.rows("rextime"), said, strict=False)
        ),
    )


def _results() -> None:
    """Two results without a judge, one of a run without frames, and two judged ones."""
    _answers("a.jsonl")
    _answers("b.jsonl", "BCA")
    _jsonl(
        "curve.jsonl",
        ({"key": row["id"], "pred": "x" * n} for n, row in enumerate(seeds.rows("curve"))),
    )
    score = "score rextime --split mini --predictions"
    _run(
        f"{score} a.jsonl --model org/a --output a",
        f"{score} b.jsonl --model org/b --frames none --output b",
        f"score curve --split mini --predictions curve.jsonl --model org/c --output c {JUDGE}",
        "score curve --split mini --predictions curve.jsonl --model org/c --output d "
        f"{JUDGE.replace('v1', 'v2')}",
    )
    people = (f"{row['id']},{number % 3}" for number, row in enumerate(seeds.rows("curve")))
    Path("people.csv").write_text("\n".join(["id,score", *people]) + "\n", encoding="utf-8")


def _diagnosis() -> None:
    """A diagnosis of a judged result, another one, the graphs that they rest on, and rows with steps."""
    keys = ("mini1", "mini2", "mini6", "mini10")
    _jsonl("given.jsonl", ({"id": key, **diagnosis.graph_of(key)} for key in keys))
    _jsonl("curve.jsonl", ({"key": key, "pred": f"pred {key}"} for key in keys))
    steps = {"question": "Why?", "answer": "So.", "reasoning_steps": ["1. one", "2. two"]}
    _jsonl("rows.jsonl", ({"id": key, **steps} for key in "ab"))
    _run(
        f"score curve --split mini --predictions curve.jsonl --model org/c --output result {JUDGE}",
        f"diagnose errors result --graphs given.jsonl --out errors {LLM}",
        f"diagnose errors result --out other {LLM} --llm-votes 1",
    )


def _looped() -> None:
    """What `diagnose run` leaves after some rounds, by the loop that it drives."""
    from tests.studio.looping import run

    with JudgeServer(play) as server:
        run(server.url, Path("errors"), 3, rounds=2)


def _chain() -> None:
    """A discussion's folder, stopped in its middle and at its end, and its videos; captions and moments of them."""
    _jsonl(
        "videos.jsonl",
        (
            {
                "video": f"film{number}",
                "metadata": {"genre": "drama"},
                "qa": [{"question": f"Who opens door {number}?", "answer": "A guest."}],
                "context": [f"answer {place} on film {number}" for place in range(8)],
            }
            for number in range(2)
        ),
    )
    sentences = [
        "A man opens a door.",
        "The rain comes in.",
        "He closes the door.",
        "The floor is wet.",
    ]
    times = [[0, 2], [2.5, 5], [5.5, 8], [8.5, 11.8]]
    draw_clip(Path("film0.mp4"), "film0", 12)
    draw_clip(Path("film1.mp4"), "film1", 12)
    _json(
        "captions.json", {"film0": {"duration": 12.0, "timestamps": times, "sentences": sentences}}
    )
    shutil.copytree(Path(making.__path__[0]) / "prompts" / "discussion", "prompts")
    _run(
        f"make discussion --videos videos.jsonl --out made {DISCUSS}",
        f"make discussion --videos videos.jsonl --out half --until skeptic {DISCUSS}",
        f"make moments --captions captions.json --out moments --media . {MOMENTS}",
        "make tags rextime_mini --out tags.jsonl --llm tagger@{url} --llm-votes 1",
    )
    for name in ("film0.mp4", "film1.mp4"):
        for place in ("made", "moments"):
            shutil.copy(name, place)


def _review() -> None:
    """Two people's saved files of ratings and of spans, an export of Label Studio, and two files of tags."""
    about = {
        "kind": "reelbench-review",
        "schema_version": 1,
        "page": "p1",
        "saved": "2026-11-20T10:00:00Z",
    }
    ids = [row["id"] for row in seeds.rows("moviecore")]
    spans = [row["id"] for row in seeds.rows("rextime")]
    for number, name in enumerate(("ada", "ben")):
        who = {**about, "reviewer": name, "comments": {}, "split": "mini"}
        ratings = {"question": {key: {"clarity": 4 - number, "depth": 3} for key in ids}}
        _json(f"{name}.json", {**who, "benchmark": "moviecore", "ratings": ratings})
        marks = {key: {"span": [1.0 + 4.5 * number, 6.0]} for key in spans}
        _json(f"{name}-spans.json", {**who, "benchmark": "rextime", "ask": "spans", "marks": marks})
        shutil.copy(seeds.TAGS, f"{name}.jsonl")
    shutil.copy(OLD.parent / "label_studio" / "question_spans.json", "studio.json")


def _store() -> None:
    """A store of judged results under two judges, with the bridge between them, and a result on its way there."""
    for model, text in (("org/a", "one"), ("org/b", "another"), ("org/c", "a third")):
        name = model[-1]
        _jsonl(
            f"{name}.jsonl",
            ({"key": row["id"], "pred": f"{text} {row['id']}"} for row in seeds.rows("curve")),
        )
        split = f"--split mini --predictions {name}.jsonl --model {model}"
        _run(f"score curve {split} --output runs/{name} {JUDGE}")
    _answers("r.jsonl")
    _run(
        "score rextime --split mini --predictions r.jsonl --model org/r --output submitted/r",
        "leaderboard add runs --store results",
        f"leaderboard rejudge --store results {JUDGE.replace('v1', 'v2')}",
    )


def _kitchen() -> None:
    """Somebody's own benchmark: its declaration, its rows, answers, a table that one is made from, and a result."""
    options = ["a cup", "a tin", "a jar"]
    rows = [
        {
            "qid": n,
            "clip": f"shelf{n % 2}",
            "q": f"What is on {n}?",
            "opts": options,
            "gold": options[n % 3],
        }
        for n in range(6)
    ]
    _jsonl("kitchen/rows.jsonl", rows)
    Path("kitchen/benchmark.yaml").write_text(
        "id: kitchen\ntitle: Kitchen\nkind: choice\nsource: {file: rows.jsonl}\nanswer_is: text\n"
        "columns: {id: qid, video: clip, question: q, options: opts, answer: gold}\n",
        encoding="utf-8",
    )
    for name in ("shelf0", "shelf1"):
        draw_clip(Path("kitchen") / f"{name}.mp4", name, 6)
    _jsonl("table.jsonl", rows)
    lines = [f'{n},shelf.mp4,"What, then?",cup;tin;jar,{"ABC"[n % 3]}' for n in range(6)]
    Path("table.csv").write_text(
        "\n".join(["id,video,question,options,answer", *lines]) + "\n", encoding="utf-8"
    )
    _jsonl("answers.jsonl", ({"id": str(n), "prediction": "B"} for n in range(6)))
    _run("score kitchen --predictions answers.jsonl --model org/k --output result")


def _settings() -> None:
    """Defaults in a folder, a preset, a status file, and a file of questions' ids, with what they are used on."""
    _answers("a.jsonl")
    keys = [row["id"] for row in seeds.rows("rextime")]
    Path("ids.txt").write_text("\n".join(keys[:5]) + "\n", encoding="utf-8")
    _json("ids.json", keys[:5])
    Path("reelbench.toml").write_text(
        '[frames]\nframes = "uniform:8"\n\n[score]\nby = "category"\nstrict = '
        "false\n\n[power]\neffect = 2.0\n",
        encoding="utf-8",
    )
    values = {
        "frames": "none",
        "temperature": 0.4,
        "top_k": 5,
        "max_tokens": 77,
        "thinking": True,
        "prompt": "before",
    }
    stated = {
        name: {"value": value, "source": "https://example.org/card"}
        for name, value in values.items()
    }
    Path("own.yaml").write_text(
        yaml.safe_dump({"about": "Of my own", "values": stated}), encoding="utf-8"
    )
    Path("model.yaml").write_text(
        "parameters: 7\nlicence: mit\norganisation: Org\nreleased: 2026-01-02\n"
    )
    _run(
        "score rextime --split mini --predictions a.jsonl --model org/a --output result "
        "--status-file status.json",
        "ask rextime_mini --llm q --llm-url {url} --frames none --output asked",
    )


def _cache() -> None:
    """Paid replies: those that 0.1.0 left, those of today, and the answers that they judge."""
    shutil.copy(OLD / "judge.sqlite", "old.sqlite")
    shutil.copy(OLD / "judge.sqlite", "judge.sqlite")
    shutil.copytree(OLD / "predictions", "predictions")
    _run("cache copy old.sqlite new.sqlite")


def _candidates() -> None:
    """Several answers to each question, in both forms."""
    entries = [
        (row["id"], ["A, worth 1", "B, worth 3", "The answer is B, from 1 to 5 s, worth 2"])
        for row in seeds.rows("rextime")
    ]
    _jsonl("c.jsonl", ({"id": key, "candidates": several} for key, several in entries))
    _json("lavis.json", [{"question_id": key, "answer": several} for key, several in entries])


def _looks() -> None:
    """What an agent sends to the server of frames, and the log that is left."""
    video = seeds.rows("rextime")[0]["video"]
    shown = {"video": video, "start": 2, "end": 5, "n": 3}
    begin = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    calls: list[tuple[str, dict[str, Any]]] = [
        ("initialize", begin),
        ("tools/list", {}),
        ("tools/call", {"name": "info", "arguments": {"video": video}}),
        ("tools/call", {"name": "frames", "arguments": shown}),
    ]
    _jsonl("calls.jsonl", _requests(calls))
    _jsonl(
        "looks.jsonl",
        [{"question": "mini1", "video": video, "start": 2, "end": 5, "times": [2.0, 3.5, 5.0]}],
    )
    _answers("a.jsonl")


def _requests(calls: list[tuple[str, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    for number, (method, params) in enumerate(calls):
        yield {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        if not number:
            yield {"jsonrpc": "2.0", "method": "notifications/initialized"}


ASKED = "ask rextime_mini --llm q --llm-url {url} --frames none --output out"
DISCUSSED = f"make discussion --videos videos.jsonl {DISCUSS}"
SURFACES = {
    "results": Surface(
        _results,
        ("[abcd]/*.json*", "people.csv"),
        (
            "compare a b --json",
            "compare a b --items items.jsonl",
            "compare c d --anyway --json",
            "view a b --out page",
            "shortcuts a b --write s.jsonl --json",
            "power a --effect 2 --json",
            "power c --json",
            "judge agree c d --json",
            "judge agree c people.csv",
            "judge calibrate c people.csv --write --json",
            "judge anchors c --out anchors",
            f"judge anchors d --out anchors --number 3 {JUDGE}",
            "profile rextime_mini --result a --json",
            "leaderboard add a --store results --json --workers 1",
        ),
        6,
    ),
    "diagnoses": Surface(
        _diagnosis,
        (
            "errors/*.json*",
            "errors/*.json*",
            "errors/rounds/**/*.json*",
            "other/*.json*",
            "given.jsonl",
            "rows.jsonl",
        ),
        (
            "diagnose report errors --json",
            "diagnose report errors other --json",
            "diagnose report errors other --round 1",
            "review page curve_mini --ask nodes --diagnosis errors --output nodes.html",
            "diagnose graphs --from given.jsonl --out graphs --json",
            "diagnose graphs curve_mini --from given.jsonl --out graphs --format svg",
            "review page curve_mini --ask graphs --graphs given.jsonl --output graphs.html",
            f"diagnose graphs rows.jsonl --out graphs {LLM}",
            f"diagnose errors result --graphs given.jsonl --out errors {LLM}",
            f"diagnose errors result --graphs given.jsonl --out fresh {LLM} --json",
        ),
        6,
    ),
    "loops": Surface(
        _looped,
        ("errors/*.json*", "errors/rounds/**/*.json*"),
        ("diagnose report errors --json", "loop"),
        4,
    ),
    "chains": Surface(
        _chain,
        (
            "made/*.json*",
            "made/*.json*",
            "half/*.json*",
            "moments/*.json*",
            "videos.jsonl",
            "captions.json",
            "prompts/*",
        ),
        (
            "make page made",
            "make page made --video film1 --out page.html",
            "make page half",
            "make page moments",
            f"{DISCUSSED} --out half --from skeptic",
            f"{DISCUSSED} --out made --json",
            f"{DISCUSSED} --out fresh --prompts prompts",
            f"{DISCUSSED} --plan --json",
            f"make moments --captions captions.json --out moments --media . {MOMENTS}",
            f"make moments --captions captions.json --plan --json {MOMENTS}",
            "check made",
            "check moments",
            "review agree tags.jsonl tags.jsonl --json",
        ),
        6,
    ),
    "reviews": Surface(
        _review,
        ("*.json", "*.jsonl"),
        (
            "review summarize ada.json ben.json --json",
            "review summarize ada.json ben.json --write merged",
            "review summarize ada-spans.json ben-spans.json --json --write merged.jsonl",
            "review summarize studio.json --json",
            "review agree ada.jsonl ben.jsonl --json",
            "review agree ada.jsonl ben.jsonl --benchmark dramaqa_cogme --split mini --json",
            (
                "review page rextime_mini --ask spans --consensus ada-spans.json --consensus "
                "ben-spans.json --output p"
            ),
            "score dramaqa_cogme --split mini --template --output t.csv --tags ada.jsonl",
        ),
    ),
    "stores": Surface(
        _store,
        ("results/**/*.json*", "results/**/*.json*", "submitted/**/*.json*"),
        (
            "leaderboard build --store results --out site --workers 1",
            "leaderboard build --store results --out site --published --json --workers 1",
            "leaderboard tables --store results --format latex",
            "leaderboard tables --store results --format markdown",
            "leaderboard list --store results --json",
            "leaderboard check results --json --workers 1",
            "leaderboard check submitted --store results --markdown comment.md --workers 1",
            "leaderboard add submitted --store results --json --workers 1",
            f"leaderboard rejudge --store results --json {JUDGE.replace('v1', 'v2')}",
            f"leaderboard rejudge --store results --sample 4 --out out {JUDGE.replace('v1', 'v3')}",
            "leaderboard export results --out export --format eee --organization org",
            (
                "leaderboard export results --out export --format eval-results --dataset "
                "curve=org/data"
            ),
        ),
        6,
    ),
    "own": Surface(
        _kitchen,
        (
            "kitchen/rows.jsonl",
            "kitchen/benchmark.yaml",
            "table.*",
            "answers.jsonl",
            "result/*.json*",
        ),
        (
            "check kitchen",
            "check kitchen --json",
            "info kitchen --json",
            "new shelf --from table.csv --out made",
            "new shelf --from table.jsonl --out made",
            (
                "new shelf --from table.jsonl --kind choice --column answer=gold --answer-is text "
                "--out made"
            ),
            "score kitchen --predictions answers.jsonl --json",
            "ask kitchen --llm q --llm-url {url} --frames none --output asked",
            "leaderboard add result --store results --json --workers 1",
            "cards render kitchen --out card",
            "profile kitchen --json",
            "data check kitchen",
        ),
        6,
    ),
    "settings": Surface(
        _settings,
        (
            "reelbench.toml",
            "reelbench.toml",
            "own.yaml",
            "own.yaml",
            "model.yaml",
            "ids.*",
            "status.json",
            "asked/**/*.json*",
        ),
        (
            "settings",
            "score rextime --split mini --predictions a.jsonl --json",
            "power rextime_mini --icc 0.1 --videos 40 --questions 80 --json",
            "frames info",
            "presets own.yaml --json",
            (
                "ask rextime_mini --preset own.yaml --llm q --llm-url {url} --limit 2 --frames none "
                "--output out"
            ),
            "score rextime --split mini --predictions a.jsonl --about model.yaml --json",
            "score rextime --split mini --predictions a.jsonl --ids ids.txt --json",
            f"{ASKED} --ids ids.txt",
            f"{ASKED} --ids ids.json",
            f"{ASKED} --only unreadable --from asked/rextime_mini",
            f"{ASKED} --only disagree --from asked/rextime_mini --from result",
            "status status.json",
            "status status.json --json",
        ),
        6,
    ),
    "caches": Surface(
        _cache,
        ("judge.sqlite", "old.sqlite", "new.sqlite"),
        (
            "cache info --json",
            "cache info old.sqlite --json",
            "cache copy old.sqlite new.sqlite",
            "cache copy judge.sqlite fresh.sqlite",
            "cache prune --older-than 1 --yes",
            "cache prune new.sqlite --model judge-v1 --yes",
            (
                "score curve --predictions predictions/curve.jsonl --split mini --judge-votes 3 "
                f"--json {JUDGE}"
            ),
            (
                "score moviecore --predictions predictions/moviecore.json --split mini --no-overlap "
                f"--json {JUDGE}"
            ),
        ),
        4,
    ),
    "candidates": Surface(
        _candidates,
        ("c.jsonl", "lavis.json"),
        (
            "candidates --candidates c.jsonl --benchmark rextime --split mini --k 1,3 --json",
            "candidates --candidates lavis.json --benchmark rextime --split mini --json",
            "ace --candidates c.jsonl --llm ranker@{url} --output chosen --json",
            "ace --candidates lavis.json --llm ranker@{url} --output chosen --mode listwise",
        ),
        2,
    ),
    "agents": Surface(
        _looks,
        ("calls.jsonl", "calls.jsonl", "looks.jsonl"),
        (
            "frames serve rextime_mini --question mini1 --log fresh.jsonl",
            "score rextime --split mini --predictions a.jsonl --looked looks.jsonl --json",
        ),
        stdin="calls.jsonl",
    ),
}


# --- damage, and what comes of it
# -------------------------------------------------------------------------------------


@functools.cache
def honest(name: str) -> Path:
    """Return a surface's honest input, made once for all processes of a run."""
    folder = home() / "fuzz" / "surfaces" / name
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with written_aside(folder) as aside:
            aside.mkdir(exist_ok=True)
            with inside(aside):
                SURFACES[name].make()
    return folder


def write(name: str, draw: Random, folder: Path) -> None:
    """Write a surface's input with one or two files damaged, and the command that is to take it."""
    surface, place = SURFACES[name], folder / "files"
    shutil.copytree(honest(name), place)
    for pattern in draw.sample(surface.damaged, min(len(surface.damaged), draw.choice((1, 1, 2)))):
        path = draw.choice(sorted(path for path in place.glob(pattern) if path.is_file()))
        spoil(path, draw)
        if path.name in ("result.json", "samples.jsonl", "check.json") and draw.random() < 0.7:  # noqa: PLR2004
            seeds.fit_hashes(path.parent)
    (folder / _SAID).write_text(draw.choice(surface.commands), encoding="utf-8")


def spoil(path: Path, draw: Random) -> None:
    """Damage a file as what it is (a value of JSON or YAML, rows of a database, lines of text), or as bytes."""
    try:
        _spoil(path, path.suffix if draw.random() < 0.9 else "", draw)  # noqa: PLR2004
    except (ValueError, yaml.YAMLError, sqlite3.Error):  # it was damaged before
        _spoil(path, "", draw)


def _spoil(path: Path, kind: str, draw: Random) -> None:
    if kind in (".json", ".jsonl"):
        text = path.read_text(encoding="utf-8")
        value = (
            [json.loads(line) for line in text.splitlines()]
            if kind == ".jsonl"
            else json.loads(text)
        )
        path.write_bytes(damage.json_text(value, draw, lines=kind == ".jsonl"))
    elif kind == ".yaml" and draw.random() < 0.6:  # noqa: PLR2004
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
        path.write_text(
            json.dumps(damage.of_json(value, draw), default=str),
            encoding="utf-8",
            errors="surrogatepass",
        )
    elif kind == ".toml" and draw.random() < 0.6:  # noqa: PLR2004
        path.write_text(
            _toml(tomllib.loads(path.read_text(encoding="utf-8")), draw), "utf-8", "surrogatepass"
        )
    elif kind == ".sqlite" and draw.random() < 0.7:  # noqa: PLR2004
        _spoil_rows(path, draw)
    elif kind in (".yaml", ".toml", ".csv", ".txt", ".md", ".svg"):
        text = path.read_text(encoding="utf-8")
        text = (
            f"{text}\n{draw.choice(seeds.YAML)}\n"
            if kind == ".yaml" and draw.random() < 0.3  # noqa: PLR2004
            else text
        )
        path.write_bytes(damage.of_text(text, draw).encode("utf-8", "surrogatepass"))
    else:
        path.write_bytes(damage.of_bytes(path.read_bytes(), draw))


def _toml(document: Mapping[str, Any], draw: Random) -> str:
    changed = damage.of_json(document, draw)
    if not isinstance(changed, dict):
        return json.dumps(changed)
    lines = [
        f"{json.dumps(key)} = {json.dumps(value)}"
        for key, value in changed.items()
        if not isinstance(value, dict)
    ]
    for table, entries in changed.items():
        if isinstance(entries, dict):
            lines += [
                f"[{json.dumps(table)}]",
                *(f"{json.dumps(k)} = {json.dumps(v)}" for k, v in entries.items()),
            ]
    return "\n".join(lines) + "\n"


def _spoil_rows(path: Path, draw: Random) -> None:
    """Put something else into a few fields of a database, of whatever kind."""
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        for _ in range(draw.choice((1, 1, 3, 20))):
            table = draw.choice((*tables, *["replies"] * 4))
            column = draw.choice(
                [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            )
            value = draw.choice(
                (*damage.HOSTILE_TEXTS, None, -1, 2**62, 1e308, b"\xff\x00", "{'score': 5}", "5")
            )
            value = (
                value.encode("utf-8", "surrogatepass")
                if isinstance(value, str) and "\ud800" in value
                else value
            )
            keys = [
                key for (key,) in database.execute("SELECT key FROM replies ORDER BY key LIMIT 200")
            ]
            where = " WHERE key = ?" if table == "replies" and draw.random() < 0.7 else ""  # noqa: PLR2004
            given = (value, draw.choice(keys)) if where and keys else (value,)
            with contextlib.suppress(sqlite3.Error):  # what the table itself refuses
                database.execute(f"UPDATE {table} SET {column} = ?{where if keys else ''}", given)  # noqa: S608
        if draw.random() < 0.1:  # noqa: PLR2004
            database.execute(f"DROP TABLE {draw.choice(tables)}")
        if draw.random() < 0.1:  # noqa: PLR2004
            database.execute(f"PRAGMA user_version = {draw.choice((0, 1, 2, 3, 5, 99, -1))}")


def check(name: str, folder: Path) -> None:
    """Run the input's command: an exit status, readable lines, no traceback, and nothing written elsewhere."""
    place, words = folder / "files", (folder / _SAID).read_text(encoding="utf-8")
    stdin = SURFACES[name].stdin if words.startswith("frames serve") else None
    with (
        JudgeServer(play) as server,
        inside(place),
        Writes(folder, home(), Path(os.environ["TMPDIR"])) as writes,
    ):
        if words == "loop":
            _again(server.url)
        else:
            checked(words, url=server.url, stdin=place / stdin if stdin else None)
    require(not writes.elsewhere, f"written elsewhere: {sorted(writes.elsewhere)[:3]}")


def _again(url: str) -> None:
    """Go on with `diagnose run` where its folder says that it stopped."""
    from reelbench.base.errors import ReelbenchError
    from tests.studio.looping import run

    try:
        run(url, Path("errors"), 3, rounds=3)
    except ReelbenchError as error:
        one_line(str(error))


class Writes:
    """Notes what is opened for writing, made, renamed or removed outside some folders while it is entered."""

    _NAMED = (
        "os.mkdir",
        "os.rename",
        "os.remove",
        "os.rmdir",
        "os.symlink",
        "os.link",
        "sqlite3.connect",
    )
    _current: "Writes | None" = None
    _hooked = False

    def __init__(self, *places: Path) -> None:
        self._places = tuple(os.path.realpath(place) for place in places)
        self.elsewhere: set[str] = set()

    def __enter__(self) -> Self:
        if not Writes._hooked:  # a hook can't be taken away
            sys.addaudithook(Writes._heard)
            Writes._hooked = True
        Writes._current = self
        return self

    def __exit__(self, *_: object) -> None:
        Writes._current = None

    @staticmethod
    def _heard(event: str, arguments: tuple[Any, ...]) -> None:
        current = Writes._current
        if current is None or (event != "open" and event not in Writes._NAMED):
            return
        if event == "open" and not (
            isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        ):
            return
        for given in arguments[: 2 if event in ("os.rename", "os.symlink", "os.link") else 1]:
            path = os.fsdecode(given) if isinstance(given, str | bytes | os.PathLike) else ""
            if path and path != ":memory:" and not path.startswith(("/dev/", "file:")):
                real = os.path.realpath(path)
                if not real.startswith(current._places):  # noqa: SLF001
                    current.elsewhere.add(f"{event} {real}")
