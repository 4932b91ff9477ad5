"""Attack what believes others' files: seeded tries at a board of honest rows, and what became of each kind.

    python -m tools.attack --seed 1
    python -m tools.attack --only results --forged 500

A try is refused with a line, or taken and marked (a table of its own, a benchmark of its own, "as
stated", not ranked), or taken and no higher than what it was made of, or it fell: an honest row
changed or went missing, a file outside its folder was read, a bound was passed over, something was
lost or paid twice, or the program failed in a way that it doesn't know. Counts go to
docs/verification.md; ends with 1 where any fell.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from os import environ
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError, first_of
from tests.leaderboard.test_tampering import forge
from tools.attacking import flood, programs, results
from tools.attacking import folders as strangers
from tools.verification import attacks

ROOT = Path(__file__).resolve().parent.parent
HONEST, ITEMS, BATCH = 20, 36, 30
LETTERS = "ABCD"
VALUES = (
    None,
    True,
    0,
    -1,
    99,
    10**400,
    1.5,
    float("nan"),
    "",
    "x" * 20_000,
    "\x1b[2J",
    "\ud800",
    [],
    {},
    ["a"],
)
MARKUP = "<script>alert(1)</script>"
IDS = (
    "con",
    "index",
    "data",
    "__proto__",
    "..",
    "a/b",
    "rextime",
    "curve",
    "Kitchen",
    "kitchen\u202e",
    "kitchen_mini",
)
SPEC = """id: kitchen
title: Kitchen films
kind: choice
source: {file: rows.jsonl}
facets: [topic]
columns: {id: qid, video: clip, question: q, options: choices, answer: gold, topic: topic}
"""


@dataclass
class Kind:
    """What became of the tries of one kind."""

    tried: int = 0
    refused: int = 0
    marked: int = 0
    no_higher: int = 0
    fell: list[str] = field(default_factory=list)

    def count(self, what: str, outcome: str) -> None:
        """Count a try: `refused`, `marked`, `no higher`, `held` (a look that found all as it was), or how it fell."""
        self.tried += 1
        if outcome == "refused":
            self.refused += 1
        elif outcome in ("marked", "no higher"):
            self.marked += outcome == "marked"
            self.no_higher += outcome != "marked"
        elif outcome != "held":
            self.fell.append(f"{what}: {outcome}")


# --- a benchmark of one's own, and twenty honest rows
# ----------------------------------------------------------------


def benchmark(folder: Path) -> Path:
    """Write a benchmark of 36 questions on 12 videos that a file declares."""
    folder.mkdir(parents=True)
    (folder / "benchmark.yaml").write_text(SPEC, encoding="utf-8")
    rows = [
        {
            "qid": f"q{number:02}",
            "clip": f"clip{number // 3}.mp4",
            "q": f"Which of four pans is used in scene {number}?",
            "choices": ["the red one", "the blue one", "the copper one", "the small one"],
            "gold": LETTERS[number % 4],
            "topic": "pots" if number % 2 else "pans",
        }
        for number in range(ITEMS)
    ]
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
    )
    return folder


def honest(folder: Path, out: Path) -> list[Path]:
    """Score twenty models on it, each a little worse than the one before; return their results."""
    import reelbench

    runs: list[Path] = []
    for number in range(HONEST):
        answers = [
            {"id": f"q{at:02}", "prediction": LETTERS[(at + (at < 2 * number)) % 4]}
            for at in range(ITEMS)
        ]
        scored = reelbench.score(str(folder), answers, model=f"held/model{number:02}")
        scored.save(out / f"{number:02}")
        runs.append(out / f"{number:02}")
    return runs


def shown(store: Path) -> dict[str, Any]:
    """Return what the board shows of each honest row, and of the benchmark's own words."""
    from reelbench.leaderboard import board

    made = board.make(store, published=False)
    rows: dict[str, Any] = {
        entry.model: json.dumps(
            [
                {name: value.model_dump() for name, value in entry.metrics.items()},
                {facet: sorted(labels) for facet, labels in entry.breakdowns.items()},
                entry.about.model_dump(),
                entry.unranked,
                entry.group.label,
            ],
            sort_keys=True,
        )
        for entry in made.entries
        if entry.model.startswith("held/")
    }
    spec = made.specs["kitchen"]
    rows["words"] = json.dumps(
        [spec.title, spec.summary, spec.homepage, [metric.title for metric in spec.metrics]]
    )
    rows["left out"] = json.dumps(sorted(key for key in made.left_out if key.startswith("held__")))
    return rows


# --- declarations
# ----------------------------------------------------------------------------------------------------


def words(rng: Random, stated: dict[str, Any]) -> None:
    """Other words: titles, summaries, addresses, markup in any of them."""
    whole = stated["benchmark"]["declaration"]
    place = rng.choice([whole, *whole["metrics"], *whole["facets"]])
    name = rng.choice(
        [name for name in ("title", "summary", "homepage", "about", "cite") if name in place]
    )
    place[name] = rng.choice(
        [MARKUP, "Films\x1b[31m", "x" * 4000, "javascript:alert(1)", "held/model00 is best", ""]
    )


def rules(rng: Random, stated: dict[str, Any]) -> None:
    """Other rules: what is measured, in which unit, over which column, by which labels."""
    whole = stated["benchmark"]["declaration"]
    metric = rng.choice(whole["metrics"])
    change = rng.randrange(6)
    if change == 0:
        metric["unit"] = rng.choice(["fraction", "points_0_5", "stars"])
    elif change == 1:
        metric["aggregate"] = metric["aggregate"] | {"scale": rng.choice([1000, -100, 0, 1])}
    elif change == 2:  # noqa: PLR2004
        metric["aggregate"] = metric["aggregate"] | {
            "column": rng.choice(["iou", "wrong", "exact_match"])
        }
    elif change == 3:  # noqa: PLR2004
        whole["facets"] = rng.choice(
            [[], [{"name": "id", "title": "Id", "labels": None}], whole["facets"] * 2]
        )
    elif change == 4:  # noqa: PLR2004
        whole["kinds"] = rng.choice([[], ["exact_match"], ["choice", "llm_judge"], ["moment"]])
    else:
        metric["right_from"] = rng.choice([0, -1, 1e9])


def versions(rng: Random, stated: dict[str, Any]) -> None:
    """Another version, said in the record, in the declaration, or in both."""
    version = rng.choice([0, -1, 2, 99, 10**9, 10**400, "1", None])
    for place in rng.choice([["record"], ["declaration"], ["record", "declaration"]]):
        (stated["benchmark"] if place == "record" else stated["benchmark"]["declaration"])[
            "version"
        ] = version


def names(rng: Random, stated: dict[str, Any]) -> None:
    """Another id, or tasks that are called as somebody else's."""
    whole = stated["benchmark"]["declaration"]
    if rng.random() < 0.5:  # noqa: PLR2004
        stated["benchmark"]["id"] = whole["id"] = rng.choice(IDS)
    for task in whole["tasks"]:
        task["name"] = rng.choice(["kitchen", "rextime", "curve_mini", *IDS])


def splits(rng: Random, stated: dict[str, Any]) -> None:
    """Splits that are called otherwise, are hidden, or are not there."""
    whole = stated["benchmark"]["declaration"]
    whole["splits"] = rng.choice(
        [{}, {"val": {}}, {"test": {"hidden_answers": True}}, {"mini": {}}, {"test": None}]
    )
    if rng.random() < 0.5:  # noqa: PLR2004
        stated["benchmark"]["split"] = rng.choice(["val", "mini", "", "../test"])


def spoiled(rng: Random, stated: dict[str, Any]) -> None:
    """Any value of it is another, its key is gone, or there is one that nobody knows."""
    places: list[tuple[Any, Any]] = []

    def walk(value: Any) -> None:  # noqa: ANN401 - any JSON value
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            places.append((value, key))
            if isinstance(part, dict | list):
                walk(part)

    walk(stated["benchmark"]["declaration"])
    for holder, key in rng.sample(places, rng.choice((1, 1, 2))):
        if isinstance(holder, dict) and rng.random() < 0.3:  # noqa: PLR2004
            holder.pop(key, None)
            holder[rng.choice(["prompt", "file", "reader", "official_prompts", "unheard_of"])] = (
                "/etc/hostname"
            )
        else:
            holder[key] = rng.choice(VALUES)


MUTATIONS: dict[str, Callable[[Random, dict[str, Any]], None]] = {
    "declarations: words": words,
    "declarations: rules": rules,
    "declarations: versions": versions,
    "declarations: names": names,
    "declarations: splits": splits,
    "declarations: any value": spoiled,
}


def mutated(rng: Random, base: Path, folder: Path, kind: str, number: int) -> None:
    """Write an honest result with another declaration; hashes are made to fit, as a careful forger's would."""
    from reelbench.registry.declaration import declared_benchmark, scoring_sha256

    shutil.copytree(base, folder)
    stated = json.loads((folder / "result.json").read_text("utf-8"))
    stated["model"]["id"] = f"{rng.choice(['aaa', 'zzz', 'held-by'])}/evil{number:03}"
    stated["provenance"]["date"] = rng.choice(["1970-01-01", "2026-01-01"]) + "T00:00:00+00:00"
    MUTATIONS[kind](rng, stated)
    with suppress(
        ReelbenchError, TypeError, KeyError, AttributeError
    ):  # it is refused for what it is, not for a hash
        declaration = json.dumps(stated["benchmark"]["declaration"])
        stated["benchmark"]["scoring_sha256"] = scoring_sha256(declared_benchmark(declaration))
    (folder / "result.json").write_text(json.dumps(stated), encoding="utf-8")


def declarations(rng: Random, place: Path, tries: int, told: dict[str, Kind]) -> None:
    """File mutated declarations beside the honest rows, in any order, and hold those to what they were."""
    from reelbench.base.workers import Workers
    from reelbench.leaderboard import board, store

    runs = honest(benchmark(place / "kitchen"), place / "honest")
    for run in runs[: HONEST // 2]:
        _added(store.add(run, place / "store"))
    offered: list[tuple[str, Path]] = []
    for number in range(tries):
        kind = list(MUTATIONS)[number % len(MUTATIONS)]
        folder = place / "offered" / f"{number:03}"
        mutated(rng, rng.choice(runs), folder, kind, number)
        offered.append((kind, folder))
    # Half of the honest come after the first of the others: who is first must not matter.
    rng.shuffle(offered)
    first, rest = offered[: len(offered) // 4], offered[len(offered) // 4 :]
    for _, folder in first:
        store.add(folder, place / "store", workers=Workers(1))
    for run in runs[HONEST // 2 :]:
        _added(store.add(run, place / "store"))
    alone = place / "alone"
    for run in runs:
        _added(store.add(run, alone))
    before = shown(alone)
    outcomes: dict[Path, str] = {}
    for at in range(0, len(rest), BATCH):
        for _, folder in rest[at : at + BATCH]:
            store.add(folder, place / "store", workers=Workers(1))
        _held(
            before,
            shown(place / "store"),
            [str(folder) for _, folder in rest[at : at + BATCH]],
            told,
        )
    made = board.make(place / "store", published=False)
    rows = {entry.model: entry for entry in made.entries}
    for kind, folder in offered:
        stated = json.loads((folder / "result.json").read_text("utf-8"))
        row = rows.get(stated["model"]["id"])
        where = f"{folder.name} ({stated['model']['id']})"
        if row is None:
            outcomes[folder] = "refused"
        else:
            marked = (
                row.group.differs
                or row.group.benchmark != "kitchen"
                or row.unranked
                or _same_rules(row, made)
            )
            outcomes[folder] = (
                "marked" if marked else "stands among the honest rows, by other rules"
            )
        told[kind].count(where, outcomes[folder])
    several = [folder for _, folder in rng.sample(offered, min(12, len(offered)))]

    def outcomes_of(folders: list[Path], workers: int) -> dict[Path, str]:
        return {
            one.source: f"{one.outcome} {one.why}"
            for one in store.check(*folders, workers=Workers(workers))
        }

    alike = outcomes_of(several, 1)
    orders = told["declarations: order and --workers"]
    for what, folders, workers in (
        ("two workers", several, 2),
        ("from the last on", several[::-1], 1),
    ):
        others = outcomes_of(folders, workers)
        differ = [
            f"{folder.name}: {alike[folder]} | {others[folder]}"
            for folder in several
            if alike[folder] != others[folder]
        ]
        orders.count(what, first_of(differ, 2, "; ") if differ else "held")


def _same_rules(row: Any, made: Any) -> bool:  # noqa: ANN401 - a board and its row
    """Whether a row in the honest rows' own table was scored as they are: only its words differ, and aren't shown."""
    from reelbench.registry.declaration import scoring_sha256

    return scoring_sha256(row.stored.benchmark) == scoring_sha256(made.specs["kitchen"])


def _added(done: list[Any]) -> None:
    for one in done:
        if one.outcome not in ("added", "same"):
            raise SystemExit(f"an honest result is {one.outcome}: {one.why}")


def _held(
    before: dict[str, Any], now: dict[str, Any], tries: list[str], told: dict[str, Kind]
) -> None:
    changed = [what for what, was in before.items() if now.get(what) != was]
    outcome = f"changed after one of {', '.join(tries)}" if changed else "held"
    told["declarations: looks at the honest rows"].count(", ".join(changed), outcome)


# --- what a folder reads
# ---------------------------------------------------------------------------------------------

OUTER = (
    *(
        "/etc/hostname",
        "/proc/self/environ",
        "/",
        "../secret.txt",
        "../../secret.txt",
        "~/secret.txt",
        "..",
        "up",
    ),
    *("link.txt", "up/secret.txt", "$HOME", "$REELBENCH_FILMS"),
)
WITHOUT_SOURCE = SPEC.replace("source: {file: rows.jsonl}\n", "")
OPEN = SPEC.replace("kind: choice", "kind: open").replace("options: choices, ", "")
KEYS: dict[str, Callable[[str], str]] = {
    "prompt": lambda path: f"{SPEC}prompt: {path}\n",
    "source.file": lambda path: f"{WITHOUT_SOURCE}source: {{file: {path}}}\n",
    "judge.prompts": lambda path: f"{OPEN}judge: {{prompts: {path}, scale: [0, 5]}}\n",
    "media.roots": lambda path: f"{SPEC}media: {{roots: [{path}]}}\n",
    "media.layouts": lambda path: f'{SPEC}media: {{layouts: ["{path}/{{video}}"]}}\n',
    "a row's video": lambda path: SPEC.replace("video: clip", f"video: '{path}/{{clip}}'"),
}


def outer_paths(place: Path, told: dict[str, Kind]) -> None:
    """Let a benchmark's file name what lies outside its folder, by every key that names a file."""
    from reelbench.data import mapped_rows
    from reelbench.registry import benchmark_file, prompts
    from reelbench.registry.spec import FileNextToDeclaration
    from reelbench.video.library import Library

    (place / "secret.txt").write_text("the user's own {question}", encoding="utf-8")
    (place / "clip0.mp4").write_bytes(b"the user's own film")
    environ["REELBENCH_FILMS"] = str(place)
    for number, (key, path) in enumerate((key, path) for key in KEYS for path in OUTER):
        folder = benchmark(place / "outer" / f"{number:02}")
        (folder / "link.txt").symlink_to(place / "secret.txt")
        (folder / "up").symlink_to(place)
        (folder / "benchmark.yaml").write_text(KEYS[key](path), encoding="utf-8")
        try:
            spec = benchmark_file.read(folder)
            prompts.check(spec)
            row = next(mapped_rows.read(spec, [folder / "rows.jsonl"], "test"))
            film = Library(spec, "test").find(row)
            source = spec.splits["test"].source
            files = [
                *([film] if film else []),
                *([folder / spec.prompt] if key == "prompt" else []),
            ]
            files += [Path(source.path)] if isinstance(source, FileNextToDeclaration) else []
            out = [
                str(file) for file in files if not file.resolve().is_relative_to(folder.resolve())
            ]
            outcome = f"read {first_of(out)}" if out else "refused"
        except InputError:
            outcome = "refused"
        told["paths out of: benchmark.yaml"].count(f"{key}: {path}", outcome)
    strangers.attack(
        place, SPEC, benchmark, OUTER[1:6:2], lambda kind: told.setdefault(kind, Kind())
    )


# --- bounds
# ----------------------------------------------------------------------------------------------------------


def beyond(place: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield honest results, each with one thing beyond its bound."""
    from reelbench.base import bounds

    stated = json.loads((place / "honest" / "00" / "result.json").read_text("utf-8"))
    many = {f"n{number}": "1" for number in range(bounds.ENTRIES + 1)}
    metrics = stated["benchmark"]["declaration"]["metrics"]
    changes: dict[str, tuple[tuple[str, ...], Any]] = {
        "software": (("software",), many),
        "arguments": (("model", "args"), many),
        "generation": (("settings", "generation"), many),
        "a server's words": (
            ("provenance", "asked"),
            {"asked": 1, "kept": 0, "server": "s", "served": many},
        ),
        "a preset": (
            ("settings", "preset"),
            {"name": "p", "values": {n: {"value": 1, "source": "s"} for n in many}},
        ),
        "frames given": (
            ("settings", "frames_given"),
            {str(n): 1 for n in range(bounds.FRAMES_GIVEN + 1)},
        ),
        "a name": (("model", "id"), "x" * (bounds.NAME + 1)),
        "a revision": (("model", "revision"), "x" * (bounds.NAME + 1)),
        "a note": (("provenance", "note"), "x" * (bounds.NOTE + 1)),
        "a title": (("benchmark", "declaration", "title"), "x" * (bounds.TITLE + 1)),
        "a summary": (("benchmark", "declaration", "summary"), "x" * (bounds.DECLARED_TEXT + 1)),
        "a declaration": (("benchmark", "declaration", "columns"), [{"name": "x" * 1000}] * 300),
        "metrics of a declaration": (
            ("benchmark", "declaration", "metrics"),
            metrics[:1] * (bounds.PARTS + 1),
        ),
        "links": (("model", "about"), {"links": many}),
        "megabytes of arguments": (("model", "args"), {"a": ["x" * 1000] * 1000}),
        "megabytes of generation": (("settings", "generation"), {"x" * 100_000: 1}),
        "a citation": (("provenance", "citation"), "x" * 1_000_000),
        "a source": (("benchmark", "source", "location"), "x" * 1_000_000),
        "a metric": (("metrics",), {"accuracy": {"value": 1e300, "ci95": None, "n": 1}}),
        "depth": (
            ("model", "args", "deep"),
            json.loads("[" * (bounds.DEPTH + 5) + "]" * (bounds.DEPTH + 5)),
        ),
    }
    for name, (way, value) in changes.items():
        changed = deepcopy(stated)
        holder = changed
        for key in way[:-1]:
            holder = holder[key]
        holder[way[-1]] = value
        yield name, changed


def too_much(place: Path, told: dict[str, Kind]) -> None:
    """Hand in results of which one thing is beyond its bound."""
    from reelbench.leaderboard import board, store

    for number, (name, stated) in enumerate(beyond(place)):
        folder = shutil.copytree(place / "honest" / "00", place / "beyond" / f"{number:02}")
        (folder / "result.json").write_text(json.dumps(stated), encoding="utf-8")
        [done] = store.check(folder)
        told["beyond a bound"].count(name, "refused" if done.outcome == "refused" else done.outcome)
    for name in ("calibration.json", "result.json"):
        folder = shutil.copytree(place / "honest" / "00", place / "beyond" / f"large {name}")
        with (folder / name).open("ab") as file:
            file.truncate(6_000_000_000)
        [done] = store.check(folder)
        measured = done.outcome == "refused" and "and at most" in done.why
        told["beyond a bound"].count(f"large {name}", "refused" if measured else done.why)
    items: dict[str, dict[str, Any]] = {
        "labels": {"facets": {"topic": [f"label {number}" for number in range(4000)]}},
        "labels of many facets": {
            "facets": {f"f{of}": [f"label {number}" for number in range(120)] for of in range(99)}
        },
        "long labels": {"facets": {"topic": [f"{number}{'x' * 990}" for number in range(250)]}},
        "facets": {"facets": {f"f{number}": ["x"] for number in range(250)}},
        "a score": {"scores": {"correct": 1e300}},
        "metrics times labels": {"facets": {"topic": [f"label {n}" for n in range(150)]}},
    }
    for name, changed in items.items():
        folder = shutil.copytree(place / "honest" / "00", place / "beyond" / name)
        forge(folder, lambda lines, changed=changed: lines[0].update(changed), numbers=False)
        if name == "metrics times labels":
            _more_metrics(folder, 40)
        [done] = store.check(folder)
        told["beyond a bound"].count(
            name, "refused" if re.search("at most|less than", done.why) else done.why
        )
    for name in ("settings.yaml", "aliases.yaml"):
        path = place / "beyond" / f"store with {name}"
        store.add(place / "honest" / "00", path)
        with (path / name).open("wb") as file:
            file.truncate(20_000_000_000)
        try:
            board.make(path, published=False)
            outcome = "read"
        except InputError as error:
            outcome = "refused" if "at most" in str(error) else str(error)
        told["beyond a bound"].count(f"large {name}", outcome)
    for words in (" " * 30_000, "\n" * 30_000, " \t" * 15_000, "#" * 30_000, "* " * 15_000):
        seconds = _seconds_of_score(place, f"A\n{words}A\n")
        told[BLANKS].count(repr(words[:2]), "held" if seconds < BLANKS_S else f"{seconds:.0f} s")


BLANKS, BLANKS_S = "answers of 30,000 blanks", 5


def _seconds_of_score(place: Path, text: str) -> float:
    """Return how long scoring takes where each answer is that text, in seconds of processor time."""
    import reelbench

    answers = [{"id": f"q{at:02}", "prediction": text} for at in range(ITEMS)]
    began = process_time()
    reelbench.score(str(place / "kitchen"), answers, model="me/loop")
    return process_time() - began


def _more_metrics(folder: Path, number: int) -> None:
    """Let a result declare so many more metrics, each with a value."""
    from reelbench.registry.declaration import declared_benchmark, scoring_sha256

    stated = json.loads((folder / "result.json").read_text("utf-8"))
    declaration = stated["benchmark"]["declaration"]
    metric = declaration["metrics"][0]
    for at in range(number):
        declaration["metrics"].append({**metric, "name": f"m{at}"})
        stated["metrics"][f"m{at}"] = stated["metrics"][metric["name"]]
    stated["benchmark"]["id"] = declaration["id"] = "cellar"
    stated["benchmark"]["scoring_sha256"] = scoring_sha256(
        declared_benchmark(json.dumps(declaration))
    )
    (folder / "result.json").write_text(json.dumps(stated), encoding="utf-8")


DOORS = {
    "planted secrets": ("tests/leaderboard/test_secrets.py", "secret_is or received_result_s"),
    "keys and where they go": ("tests/llm/test_model_names.py", "key"),
    "keys in others' words, words that are no keys": ("tests/base/test_credentials.py", ""),
    "tokens for a stranger's folder": ("tests/registry/test_benchmark_file.py", "token"),
    "names that nobody owns": ("tests/leaderboard/test_publish.py", "pinned or no_default"),
    "tokens that open a turn": ("tests/judges/test_prompting.py", "turn"),
    "defaults of a folder": ("tests/cli/test_defaults.py", ""),
    "words of a submitter": ("tests/leaderboard/test_forged_words.py", ""),
    "rows without samples": ("tests/leaderboard/test_withheld.py", "owner or none_is_one_line"),
    "others' files of a benchmark": ("tests/registry/test_parity_of_strangers.py", ""),
    "words in the checker's comment": ("tests/leaderboard/test_submission.py", "hostile"),
    "rows that were withdrawn": ("tests/leaderboard/test_row_life.py", "withdrawn"),
}
"""What is tried at a door of one command -> the file of tests with the tries, and which of them."""


def doors(told: dict[str, Kind]) -> None:
    """Try each door as its tests do, one try a test."""
    for kind, (file, which) in DOORS.items():
        words = ("-m", "pytest", "-q", "-n0", "--tb=no", "-rA", "-m", "slow or not slow", file)
        done = subprocess.run(
            [sys.executable, *words, "-k", which],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        tries = re.findall(r"^(PASSED|FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        for outcome, name in tries or [("ERROR", file)]:
            told[kind].count(name, "held" if outcome == "PASSED" else "found")


PARTS = ("declarations", "paths", "bounds", "results", "programs", "requests", "doors")


def main() -> int:
    """Attack, print what fell, and write the table."""
    parser = argparse.ArgumentParser(
        description="Attack what believes others' files; counts go to docs/verification.md."
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--declarations", type=int, default=300, help="mutated declarations")
    parser.add_argument("--forged", type=int, default=500, help="forged results")
    parser.add_argument("--kills", type=int, default=210, help="kills, of all commands together")
    parser.add_argument("--requests", type=int, default=1000, help="pull requests to the webhook")
    parser.add_argument(
        "--commands", default="", help="these commands alone are killed, comma-separated"
    )
    parser.add_argument(
        "--only", nargs="+", default=PARTS, choices=PARTS, help="these parts; others' counts stay"
    )
    parser.add_argument("--dry-run", action="store_true", help="write no document")
    options = parser.parse_args()
    kinds: dict[str, tuple[str, ...]] = {
        "declarations": (
            *MUTATIONS,
            "declarations: order and --workers",
            "declarations: looks at the honest rows",
        ),
        "paths": ("paths out of: benchmark.yaml",),
        "bounds": ("beyond a bound", BLANKS),
        "results": (*results.KINDS, results.LOOKS),
        "programs": (),
        "requests": (),
        "doors": tuple(DOORS),
    }
    told: dict[str, Kind] = {name: Kind() for part in options.only for name in kinds[part]}

    def drawn() -> (
        Random
    ):  # each part by itself, so that it is drawn again whatever others are left out
        return Random(options.seed)  # noqa: S311 - to be drawn again

    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        environ.update(
            REELBENCH_HOME=str(place / "home"),
            XDG_CONFIG_HOME=str(place / "config"),
            HF_HUB_OFFLINE="1",
        )
        if {"bounds", "results", "paths"} & set(
            options.only
        ) and "declarations" not in options.only:
            honest(benchmark(place / "kitchen"), place / "honest")
        parts: dict[str, Callable[[], None]] = {
            "declarations": lambda: declarations(drawn(), place, options.declarations, told),
            "paths": lambda: outer_paths(place, told),
            "bounds": lambda: too_much(place, told),
            "results": lambda: results.attack(drawn(), place, options.forged, told),
            "programs": lambda: programs.attack(
                drawn(), place / "programs", options.kills, told, kind=Kind, named=options.commands
            ),
            "requests": lambda: flood.attack(
                drawn(),
                place / "requests",
                options.requests,
                lambda kind: told.setdefault(kind, Kind()),
            ),
            "doors": lambda: doors(told),
        }
        for part in options.only:
            parts[part]()
            sys.stdout.write(
                f"{part}: done, {sum(len(of.fell) for of in told.values())} fell so far\n"
            )
            sys.stdout.flush()
    counts = Counter({kind: len(of.fell) for kind, of in told.items()})
    for kind, of in told.items():
        taken = f"{of.marked} marked, {of.no_higher} no higher"
        sys.stdout.write(
            f"{kind}: {of.tried} tried, {of.refused} refused, {taken}, {len(of.fell)} fell\n"
        )
        for line in of.fell:
            sys.stdout.write(f"    {line}\n")
    if not options.dry_run:
        rows = {
            kind: [of.tried, of.refused, of.marked, of.no_higher, len(of.fell)]
            for kind, of in told.items()
        }
        attacks.write(options.seed, rows)
    return 1 if counts.total() else 0


if __name__ == "__main__":
    sys.exit(main())
