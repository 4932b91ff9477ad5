"""Forged results against a board of twenty honest rows, each on its own and then all that were taken together.

A forger has our code: numbers, counts and hashes fit again, and what was asked may be his own. What
is taken may move places and ranges by Holm's family alone, and `check` has said so of each before.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from reelbench.base.errors import ReelbenchError, first_of
from reelbench.leaderboard import board, store, submission
from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import BoardEntry, metric_value
from reelbench.leaderboard.store import Filing
from tests.leaderboard import test_forged_results as of_mini
from tests.leaderboard import test_tampering as ways
from tests.leaderboard.test_tampering import forge

OWNER, STRANGER = "held", "stranger"
Lines = list[dict[str, Any]]
Stated = dict[str, Any]
Forgery = Callable[[Random, Lines, Stated], None]

WORDS = (
    "<script>alert(1)</script>",
    "Best of all.\x1b[31m",
    "Retracted",
    "=HYPERLINK(1)",
    "| a | b |",
    "\u202eevil",
)
LOOKALIKES = (
    "held/model00",
    "Held/Model00",
    "held/model0\u200b0",
    "h\u0435ld/model00",
    "held//model00",
    "HELD/MODEL00",
)


def answers(rng: Random, lines: Lines, stated: Stated) -> None:
    """Right letters in the place of wrong ones, with the scores and numbers that follow or with the old ones."""
    for line in lines:
        if line["scores"].get("correct") != 1.0 and rng.random() < 0.9:  # noqa: PLR2004
            way = rng.randrange(3)
            if way != 0:
                line["parsed"]["answer"] = line["target"]["answer"]
            if way != 1:
                line["scores"] = dict.fromkeys(line["scores"], 1.0)
    stated["provenance"]["note"] = None


def numbers(rng: Random, _: Lines, stated: Stated) -> None:
    """Numbers in the result alone."""
    name = rng.choice(list(stated["metrics"]))
    change = rng.choice([{"value": 100.0}, {"ci95": [99.0, 100.0]}, {"n": 9999}, {"value": None}])
    stated["metrics"][name] |= change
    if rng.random() < 0.3:  # noqa: PLR2004
        stated["counts"][rng.choice(["items", "scored", "parse_failed"])] = rng.choice(
            [0, 35, 37, 10**6]
        )


def left_out(rng: Random, lines: Lines, stated: Stated) -> None:
    """Wrong answers that nobody gave: dropped, without media, refused, cut off, or not there."""
    wrong = [line for line in lines if line["scores"].get("correct") != 1.0]
    reason = rng.choice(
        [None, "media_missing", "refused", "cut_off", "prediction_missing", "answers_hidden"]
    )
    for line in rng.sample(wrong, rng.randint(1, len(wrong))):
        if reason is None:
            lines.remove(line)
        else:
            line |= {
                "state": "unscored",
                "reason": reason,
                "scores": {},
                "flags": [],
                "parsed": None,
            }
            line["prediction"] = line["prediction"] if reason in ("refused", "cut_off") else None
    if rng.random() < 0.5:  # noqa: PLR2004
        stated["settings"]["limit"] = rng.choice([None, len(lines)])


def questions(rng: Random, lines: Lines, stated: Stated) -> None:
    """Questions of one's own: other answers, ids or videos, with a hash that fits, none, or the honest one."""
    which = rng.randrange(4)
    for line in lines:
        if which == 0:
            line["target"]["answer"] = line["parsed"]["answer"]
            line["scores"] = dict.fromkeys(line["scores"], 1.0)
        elif which == 1:
            line["id"] += rng.choice(["\u200b", "b"])
        elif which == 2:  # noqa: PLR2004
            line["video"] = line["id"]
        else:
            line["facets"] = {"topic": [rng.choice(["pots", "easy"])]}
    stated["benchmark"]["questions_sha256"] = rng.choice(
        [
            stated["benchmark"]["questions_sha256"],
            "0" * 64,
            None,
            stated["benchmark"]["questions_sha256"][::-1],
        ]
    )
    stated["provenance"]["date"] = rng.choice(
        ["1970-01-01T00:00:00+00:00", stated["provenance"]["date"]]
    )


def names(rng: Random, _: Lines, stated: Stated) -> None:
    """Another's name, or one that looks like it."""
    stated["model"]["id"] = rng.choice(LOOKALIKES)
    if rng.random() < 0.5:  # noqa: PLR2004
        stated["model"]["about"] = {"organisation": rng.choice(["Held", "reelbench"])}


def words(rng: Random, _: Lines, stated: Stated) -> None:
    """Words: of the model, its people, a note, a link."""
    place = rng.choice(["note", "citation", "url", "about", "label", "revision"])
    text = rng.choice(WORDS)
    if place in ("note", "citation"):
        stated["provenance"][place] = text
    elif place == "url":
        stated["provenance"]["url"] = rng.choice(
            ["javascript:alert(1)", "https://example.org", "file:///etc/passwd"]
        )
    elif place == "about":
        stated["model"]["about"] = {"organisation": text, "links": {text: "javascript:alert(1)"}}
    elif place == "label":
        stated["settings"]["label"] = text
    else:
        stated["model"]["revision"] = text


def ways_of_asking(rng: Random, _: Lines, stated: Stated) -> None:
    """Another way of asking than was: frames, a language, candidates, data that is said to be the owners'."""
    name, value = rng.choice(
        [
            *(
                ("frames", "uniform:999999"),
                ("language", "xx"),
                ("candidates", {"how": "beam", "k": 5}),
                ("seed", 2**64),
            ),
            *(
                ("answering", {"norm": "sum"}),
                ("label", "web search"),
                ("limit", 36),
                ("preset", {"name": "x"}),
            ),
        ]
    )
    stated["settings"][name] = value
    stated["data"] = rng.choice(["owners", "own", "unstated"])


def records(rng: Random, lines: Lines, stated: Stated) -> None:
    """Any value of the record, or of an item's, is another."""
    of_mini.spoiled(
        stated if rng.random() < 0.6 else rng.choice(lines),  # noqa: PLR2004
        rng,
        but=("id", "prediction"),
    )


def judges(rng: Random, lines: Lines, stated: Stated) -> None:
    """A judge where there is none, replies that nobody gave, hashes and versions of another's."""
    if rng.random() < 0.5:  # noqa: PLR2004
        stated["judge"] = {"requested": "gpt-4o", "prompt": "official", "prompt_sha256": "0" * 64}
    else:
        line = rng.choice(lines)
        line["judge_replies"] = [{"criterion": "score", "vote": 0, "text": "2"}]
    stated["benchmark"]["version"] = rng.choice([1, 1, 99])


FORGERIES: dict[str, Forgery] = {
    "answers and scores": answers,
    "numbers": numbers,
    "wrong answers left out": left_out,
    "questions of one's own": questions,
    "others' names": names,
    "words": words,
    "ways of asking": ways_of_asking,
    "any value": records,
    "judges and versions": judges,
}
JUDGED = {"rextime": ways.REXTIME, "curve": ways.CURVE}
KINDS = [
    f"forged: {name}"
    for name in (*FORGERIES, *(f"{base}, {len(of)} ways" for base, of in JUDGED.items()))
]
LOOKS = "forged: looks at all that was taken together"


def forged(
    rng: Random, honest: dict[str, list[Path]], folder: Path, number: int
) -> tuple[str, Path]:
    """Write a forged copy of an honest result; return its kind and the honest one."""
    kind = KINDS[number % len(KINDS)]
    name, model = kind.removeprefix("forged: "), f"stranger/{number:03}"
    if name in FORGERIES:
        base = rng.choice(honest["kitchen"][4:])
        shutil.copytree(base, folder)
        lines = [
            json.loads(line) for line in (folder / "samples.jsonl").read_text("utf-8").splitlines()
        ]
        stated = json.loads((folder / "result.json").read_text("utf-8"))
        stated["model"]["id"] = model
        FORGERIES[name](rng, lines, stated)

        def result(document: Stated) -> None:
            made = deepcopy(
                {name: document[name] for name in ("metrics", "breakdowns", "counts", "media")}
            )
            samples = document["provenance"]["samples_sha256"]
            document.clear()
            document.update(stated if name in ("numbers", "any value") else stated | made)
            document["provenance"] = {**stated["provenance"], "samples_sha256": samples}

        for fits in (True, False):
            try:
                forge(folder, lambda _: lines, result, numbers=fits)
                break
            except (
                ValueError,
                TypeError,
                KeyError,
                AttributeError,
                IndexError,
                OverflowError,
                ReelbenchError,
            ):
                continue
    else:
        base = rng.choice(honest[name.partition(",")[0]])
        shutil.copytree(base, folder)
        of_mini.forged(rng, name.partition(",")[0], folder, model)
    return kind, base


def shown(made: Board) -> dict[str, Any]:
    """Return what a board shows of each honest row but its place: presence, numbers, words, table."""
    return {
        row.key: json.dumps(
            [
                {name: value.model_dump() for name, value in row.metrics.items()},
                {
                    facet: {label: len(of) for label, of in labels.items()}
                    for facet, labels in row.breakdowns.items()
                },
                [
                    row.model,
                    row.note,
                    row.cite,
                    row.url,
                    row.unranked,
                    row.group.id,
                    row.about.model_dump(),
                ],
                [
                    made.other_judges.get(row.key),
                    made.blind.get(row.key),
                    made.names[row.model],
                    row.facts["stated"],
                ],
            ],
            sort_keys=True,
        )
        for row in made.entries
        if row.stored is not None and row.stored.filed_row.account == OWNER
    }


def told(made: Board) -> dict[tuple[str, str], bool]:
    """Return which pairs of honest rows are told apart, each in its own table."""
    filed = [row for row in made.entries if row.stored is not None and row.stored.videos is None]
    ours = {
        row.key: row.model for row in filed if row.stored and row.stored.filed_row.account == OWNER
    }
    return {
        tuple(sorted((ours[a], ours[b]))): bool(pair.direction)
        for noise in made.noise.values()
        for (a, b), pair in noise.pairs.items()
        if a in ours and b in ours
    }


def _one(folder: Path, base: Path, path: Path, scratch: Path) -> str:
    """File one forged result in a copy of the store, and say what became of it and of the honest rows."""
    before = board.make(path, published=False)
    [checked] = submission.read(store.check(folder), path, account=STRANGER)
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.copytree(path, scratch)
    [added] = store.add(folder, scratch, filing=Filing(STRANGER))
    made = board.make(scratch, published=False)
    filed = [
        row for row in made.entries if row.stored is not None and row.stored.folder == added.place
    ]
    rows = [row for row in filed if row.stored is not None and row.stored.videos is None]
    refused = added.outcome == "refused" or checked.verdict == "refused"
    if "can't be checked (" in added.why or (not rows and not refused):
        return f"{added.outcome}, as nobody foresaw: {added.why}"
    faults = _changes(before, made) if refused else _changes(before, made, rows[0], checked.missing)
    if (fault := next(faults, None)) is not None or refused:
        return fault or "refused"
    [row] = rows
    name = made.spec(row.group).primary.name
    stated, value = (
        json.loads((base / "result.json").read_text("utf-8"))["metrics"][name]["value"],
        metric_value(row.metrics, name),
    )
    apart = (
        row.unranked or row.facts["stated"] or not row.group.plain or row.group in made.listed_only
    )
    if apart or row.note or row.facts["intervals"]:
        return "marked"
    return "no higher" if value is None or value <= stated + 1e-9 else "stands higher, unmarked"


def _changes(
    before: Board, made: Board, row: BoardEntry | None = None, said: Sequence[str] = ()
) -> Iterator[str]:
    """Yield what is otherwise of the honest rows than `row`, which was taken, and what `check` said of it explain."""
    now = shown(made)
    if changed := [key for key, was in shown(before).items() if now.get(key) != was]:
        yield f"changed {first_of(changed)}"
    if before.main != made.main or before.left_out != made.left_out:
        yield "another table stands for its benchmark, or a row is left out"
    for one in before.entries:
        places = made.ranks.get(one.key), before.ranks.get(one.key)
        ahead = False
        if row is not None and row.key in made.ranks and one.group == row.group:
            name = made.spec(row.group).primary.name
            own, other = (metric_value(entry.metrics, name) for entry in (row, one))
            ahead = own is not None and other is not None and own > other
        if places[1] is not None and places[0] != places[1] + ahead:
            yield f"{one.model} went from place {places[1]} to {places[0]}"
    was, is_ = told(before), told(made)
    for pair in was:
        ways = [f"{a} and {b} " for a, b in (pair, pair[::-1])]
        if (was[pair] != is_[pair]) != any(line.startswith(way) for line in said for way in ways):
            yield f"{ways[0]}are told otherwise, and check says another thing"


def bases(kitchen: list[Path], place: Path) -> dict[str, list[Path]]:
    """Return fourteen results on one's own benchmark, and three each on ReXTime's and CURVE's mini data."""
    place.mkdir()
    made = {
        "rextime": ways.of_files(place, "rextime", ways.rextime_lines),
        "curve": ways.of_files(place, "curve", ways.curve_lines, votes=1),
    }
    honest = {"kitchen": kitchen[:14]}
    for name, base in made.items():
        for number in range(3):
            copy = shutil.copytree(base, place / f"{name}-{number}")
            forge(
                copy,
                None,
                lambda stated, model=f"held/{name}{number}": stated["model"].update(id=model),
            )
            honest.setdefault(name, []).append(copy)
    return honest


def attack(rng: Random, place: Path, tries: int, counted: dict[str, Any]) -> None:
    """File the honest rows, then try forged ones; what was taken is filed together at the end."""
    honest = bases(sorted((place / "honest").iterdir()), place / "mini")
    path, together = place / "board", place / "together"
    for run in (run for runs in honest.values() for run in runs):
        [added] = store.add(run, path, filing=Filing(OWNER))
        if added.outcome != "added":
            raise SystemExit(f"an honest result is {added.outcome}: {added.why}")
    (path / "settings.yaml").write_text("judges: [judge]\n", encoding="utf-8")
    shutil.copytree(path, together)
    for number in range(tries):
        folder = place / "forged" / f"{number:03}"
        kind, base = forged(rng, honest, folder, number)
        outcome = _one(folder, base, path, place / "scratch")
        counted[kind].count(f"{folder.name} of {base.name}", outcome)
        if outcome in ("marked", "no higher"):
            store.add(folder, together, filing=Filing(STRANGER))
    before, after = (board.make(one, published=False) for one in (path, together))
    changed = [key for key, was in shown(before).items() if shown(after).get(key) != was]
    counted[LOOKS].count(
        "numbers, words, presence", f"changed {first_of(changed)}" if changed else "held"
    )
    counted[LOOKS].count(
        "main tables", "held" if before.main == after.main else "others stand for their benchmarks"
    )
