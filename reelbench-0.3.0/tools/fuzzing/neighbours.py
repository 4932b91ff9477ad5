"""One item's entry is damaged: the file is refused, or every other item's score is what it was.

Each way in has an honest file of entries. What an entry stands for is seen by leaving it out: the
items that then differ are its own, and all others are its neighbours.
"""

import functools
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import reelbench
from reelbench.base.errors import InputError
from reelbench.registry import discovery
from tests.servers.judge import JudgeServer
from tools.fuzzing import commands, damage, seeds
from tools.fuzzing.commands import inside, play
from tools.fuzzing.holding import hold, require

Scores = dict[str, Any]
"""Item (or row of the board) -> its state and its scores."""


@dataclass(frozen=True)
class Way:
    """A file of entries (JSON, JSON Lines, or replies in SQLite), and the scores that come of the folder it is in."""

    make: Callable[[], None]
    file: str
    scores: Callable[[], Scores]


def _samples(evaluation: Any) -> Scores:  # noqa: ANN401 - an Evaluation, or a Scored
    samples = evaluation.scored.samples if hasattr(evaluation, "scored") else evaluation._samples  # noqa: SLF001
    return {sample.id: (sample.state, sample.reason, dict(sample.scores)) for sample in samples}


def _of_file(
    name: str, predictions: str, *, references: bool = False, judged: bool = False
) -> Scores:
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.scoring.cognitive_profile import read_tags
    from reelbench.tasks.score import Options, RunMetadata, score_files
    from reelbench.tasks.submissions import Inputs

    given = Path(seeds.FILES[name]) if references else None
    tags = read_tags("tags.jsonl") if Path("tags.jsonl").is_file() else None
    inputs = Inputs(Path(predictions), given, tags, split="mini")
    if not judged:
        return _samples(
            score_files(
                name, inputs, Options(overlap=False), metadata=RunMetadata(model="org/model")
            )
        )
    with JudgeServer(play) as server:
        judge = JudgeOptions(
            model="judge-v1", url=server.url, cache=Path("judge.sqlite"), backoff=0.001, tries=2
        )
        return _samples(score_files(name, inputs, Options(overlap=False, judge=judge)))


def _owners(name: str) -> None:
    """The owners' own prediction file, their references, and tags where there are any."""
    Path("predictions.json").write_text(
        json.dumps(seeds.predictions(name, Random(3))),  # noqa: S311
        encoding="utf-8",
    )
    shutil.copy(seeds.REFERENCES[name], ".")
    if name == "dramaqa_cogme":
        shutil.copy(seeds.TAGS, "tags.jsonl")


def _table() -> None:
    commands._answers("table.jsonl")  # noqa: SLF001


def _judged() -> None:
    _owners("curve")
    _of_file("curve", "predictions.json", judged=True)


def _of_python() -> Scores:
    import reelbench

    lines = Path("table.jsonl").read_text(encoding="utf-8").splitlines()
    return _samples(
        reelbench.score(
            "rextime", [json.loads(line) for line in lines], split="mini", overlap=False
        )
    )


def _of_function() -> Scores:
    """What `evaluate` makes of a function that returns, or leaves in its row, whatever the file says."""
    import reelbench

    said = {}
    for line in Path("table.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        if isinstance(entry, dict) and isinstance(entry.get("id"), str):
            said[entry["id"]] = entry.get("prediction")

    def answer(_question: str, _frames: object, row: Any) -> Any:  # noqa: ANN401 - a stranger's function
        text = said.get(row["id"])
        row.update(answer=text, span=text)
        return text

    try:
        return _samples(reelbench.evaluate(answer, "rextime_mini", frames="none"))
    except TypeError as error:  # of the function's first answer, that it is no text
        raise InputError(str(error)) from None


def _run_of_lmms_eval() -> None:
    """What lmms-eval leaves of a run of one task."""
    from reelbench.registry.splits import upstream_split
    from tests import lmms_runs

    spec, _ = discovery.find_task("rextime_mini")
    configs = {
        "rextime_mini": {"dataset_path": "reelbench:rextime_mini@0123456789abcdef;media_missing=0"}
    }
    document = {"results": {"rextime_mini": {}}, "configs": configs, "config": {"model": "openai"}}
    commands._json("run/1_results.json", document)  # noqa: SLF001
    rows = [
        {**row, "split": upstream_split(spec, "mini")} for row in reelbench.load(spec.id, "mini")
    ]
    details = [lmms_runs.functions(spec).process_results(row, ["(A) [0.0, 5.0]"]) for row in rows]
    commands._jsonl("run/1_samples_rextime_mini.jsonl", details)  # noqa: SLF001


def _of_run() -> Scores:
    from reelbench.tasks import score_runs
    from reelbench.tasks.score import Options

    [(evaluation, _)] = score_runs.run_evaluations(Path("run"), None, Options(overlap=False))
    return _samples(evaluation)


def _store() -> None:
    """Three results, of which the first lies flat, to be damaged."""
    from reelbench.leaderboard import store

    for model in ("org/a", "org/b", "org/c"):
        store.add(seeds.result("rextime", model=model), Path("results"))
    for name in ("samples.jsonl", "result.json"):
        [path] = Path("results").glob(f"org__a/*/*/*/{name}")
        path.rename(name)
        path.symlink_to(f"../../../../../{name}")


def _of_board() -> Scores:
    from reelbench.leaderboard import board

    entries = board.make(Path("results"), published=False).entries
    return {
        entry.key: {name: metric.value for name, metric in entry.metrics.items()}
        for entry in entries
    }


def _of_kitchen() -> Scores:
    from reelbench.tasks.score import Options, score_files
    from reelbench.tasks.submissions import Inputs

    with patch.object(discovery, "_registry", discovery.registry()):
        return _samples(
            score_files("kitchen", Inputs(Path("answers.jsonl")), Options(overlap=False))
        )


WAYS = {
    **{
        f"{what} of {name}": Way(
            functools.partial(_owners, name),
            "predictions.json" if what == "predictions" else seeds.FILES[name],
            functools.partial(_of_file, name, "predictions.json", references=what == "references"),
        )
        for name in seeds.FILES
        for what in ("predictions", "references")
    },
    "tags": Way(
        functools.partial(_owners, "dramaqa_cogme"),
        "tags.jsonl",
        functools.partial(_of_file, "dramaqa_cogme", "predictions.json"),
    ),
    "a table": Way(_table, "table.jsonl", functools.partial(_of_file, "rextime", "table.jsonl")),
    "a list in Python": Way(_table, "table.jsonl", _of_python),
    "a function in Python": Way(_table, "table.jsonl", _of_function),
    "a run's log": Way(_run_of_lmms_eval, "run/1_samples_rextime_mini.jsonl", _of_run),
    "kept replies": Way(
        _judged,
        "judge.sqlite",
        functools.partial(_of_file, "curve", "predictions.json", judged=True),
    ),
    "answers to one's own": Way(commands._kitchen, "answers.jsonl", _of_kitchen),  # noqa: SLF001
    "rows of one's own": Way(commands._kitchen, "kitchen/rows.jsonl", _of_kitchen),  # noqa: SLF001
    "samples of a store": Way(_store, "samples.jsonl", _of_board),
}


def write(draw: Random, folder: Path) -> None:
    """Write an honest folder, and its file with one entry damaged."""
    name = draw.choice(list(WAYS))
    way, place = WAYS[name], folder / "files"
    shutil.copytree(_honest(name), place, symlinks=True)
    number = draw.randrange(_count(place / way.file))
    _edit(place / way.file, number, lambda entry: damage.of_json(entry, draw))
    if name == "samples of a store":
        seeds.fit_hashes(place)
    (folder / "input.json").write_text(json.dumps({"way": name, "entry": number}), encoding="utf-8")


def check(folder: Path) -> None:
    """Score it: refused, or all items but the damaged entry's have the scores that they have without the damage."""
    said = json.loads((folder / "input.json").read_text(encoding="utf-8"))
    way = WAYS[said["way"]]
    honest, without = _scored(said["way"]), _scored_without(said["way"], said["entry"])
    own = {item for item, score in honest.items() if without is None or without.get(item) != score}
    with inside(folder / "files"):
        scores = hold(way.scores)
    if scores is not None and (without is not None or len(honest) > 1):
        changed = {
            item: (score, scores.get(item))
            for item, score in honest.items()
            if scores.get(item) != score
        }
        require(
            changed.keys() <= own,
            f"{said['way']}: another's score: {[*changed.items()][:3]} by damage to {own}",
        )


@functools.cache
def _honest(name: str) -> Path:
    from reelbench.base.settings import home

    folder = home() / "fuzz" / "neighbours" / name.replace(" ", "_")
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with commands.written_aside(folder) as aside:
            aside.mkdir(exist_ok=True)
            with inside(aside):
                WAYS[name].make()
    return folder


@functools.cache
def _scored(name: str) -> Scores:
    """Return the scores of the honest folder."""
    return _scored_copy(name, lambda _: None) or {}


@functools.cache
def _scored_without(name: str, number: int) -> Scores | None:
    """Return the scores of the folder without one entry; None where that is refused."""
    return _scored_copy(name, lambda path: _edit(path, number, None))


def _scored_copy(name: str, change: Callable[[Path], None]) -> Scores | None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "files"
        shutil.copytree(_honest(name), folder, symlinks=True)
        change(folder / WAYS[name].file)
        if name == "samples of a store":
            seeds.fit_hashes(folder)
        with inside(folder):
            return hold(WAYS[name].scores)


def _count(path: Path) -> int:
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as database:
            return database.execute("SELECT count(*) FROM replies").fetchone()[0]
    text = path.read_text(encoding="utf-8")
    return len(text.splitlines() if path.suffix == ".jsonl" else json.loads(text))


def _edit(path: Path, number: int, change: Callable[[Any], Any] | None) -> None:
    """Change one entry of a file, or take it out; all others keep their bytes where a line is an entry."""
    if path.suffix == ".sqlite":
        with closing(sqlite3.connect(path)) as database, database:
            [(key, raw)] = database.execute(
                "SELECT key, raw FROM replies ORDER BY key LIMIT 1 OFFSET ?", (number,)
            )
            if change is None:
                database.execute("UPDATE replies SET raw = 'nothing' WHERE key = ?", (key,))
            else:
                changed = json.dumps(change(json.loads(raw)))
                database.execute("UPDATE replies SET raw = ? WHERE key = ?", (changed, key))
        return
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".jsonl":
        lines = text.splitlines()
        lines[number : number + 1] = (
            [] if change is None else [json.dumps(change(json.loads(lines[number])))]
        )
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return
    document = json.loads(text)
    key = list(document)[number] if isinstance(document, dict) else number
    if change is None:
        del document[key]
    else:
        document[key] = change(document[key])
    path.write_text(json.dumps(document), encoding="utf-8")
