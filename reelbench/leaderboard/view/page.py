"""A page of runs, one HTML file and the pictures beside it: its data, and how it is written."""

import base64
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.files import replacing_folder, write_text
from reelbench.base.settings import home
from reelbench.base.values import as_text
from reelbench.data import loading
from reelbench.data.redistribution import why_withheld
from reelbench.leaderboard import site
from reelbench.leaderboard.exports.tables import sheet
from reelbench.leaderboard.recompute import mismatches
from reelbench.leaderboard.store import public
from reelbench.leaderboard.view.pictures import Strips
from reelbench.pages.shell_page import page_asset, page_head, shell_page
from reelbench.registry import discovery
from reelbench.registry.records import Result, Sample
from reelbench.registry.rows import Row
from reelbench.registry.spec import BenchmarkSpec, Mean
from reelbench.scoring import aggregation, comparison, result_files, side_by_side
from reelbench.scoring.answers import strip_reasoning
from reelbench.scoring.result_files import RESULT_FILE, SAMPLES_FILE, changed_after_scoring
from reelbench.video.library import Library

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FAULTS = 5
"""Lines at most of what is wrong with a run's numbers."""
_HEADING = 3
"""Settings at most in a run's heading."""

_NOT_SETTINGS = "model.about.links."
"""Fields in which results differ that tell nothing of how they were made."""

_PLAIN = frozenset(
    {
        "id",
        "video",
        "prediction",
        "parsed",
        "target",
        "facets",
        "judge_replies",
        "frame_timestamps",
        "frame_padding",
    }
)
"""Fields of a sample that the page has elsewhere, or not as they are."""

_OF_REPLIES = {"criterion", "judge", "vote", "attempt", "score", "raw"}

PAGE = "index.html"
_KIND = "view"
_MARK = f"<!-- reelbench {_KIND} -->".encode()
_SCRIPTS = {
    "assets": ("base.js", "model.js"),
    "view": ("summary.js", "items.js", "sample.js", "view.js"),
}
_STYLES = {"assets": ("board.css",), "view": ("view.css",)}
_KEYS = '<button id="keys" type="button" class="tool" aria-haspopup="dialog">Keys</button>'
_FEW_PICTURES = 200  # of videos at most in a page that a notebook holds
_TOOLS = f'<span class="sub">on this machine only</span>{_KEYS}'
_DATA = 'globalThis.REELBENCH = JSON.parse(document.getElementById("data").textContent);\n'


@dataclass(frozen=True, slots=True)
class ViewedRun:
    """A result as it lies on disk: its items by id, in their order, and their questions.

    These have `question`, `options`, `media`, by id, from the file beside it; empty where there is
    none.
    """

    folder: Path
    result: Result
    samples: Mapping[str, Sample]
    questions: Mapping[str, Mapping[str, Any]]

    @property
    def spec(self) -> BenchmarkSpec:
        """Its benchmark."""
        return discovery.spec_of(self.result.benchmark)


def read_groups(paths: Sequence[Path]) -> list[list[ViewedRun]]:
    """Read every result under the paths, together what is of the same benchmark, version and split.

    InputError where several paths were given, and nothing in them can be compared.
    """
    groups: dict[tuple[str, int, str], list[ViewedRun]] = {}
    for folder in dict.fromkeys(folder for path in paths for folder in result_files.folders(path)):
        result = result_files.read(folder)
        samples = {sample.id: sample for sample in result_files.read_samples(folder)}
        run, about = (
            ViewedRun(folder, result, samples, result_files.read_questions(folder)),
            result.benchmark,
        )
        groups.setdefault((about.id, about.version, about.split), []).append(run)
    if len(paths) > 1 and all(len(runs) == 1 for runs in groups.values()):
        there = ", ".join(
            f"{runs[0].folder} is {name} {split} (version {n})"
            for (name, n, split), runs in groups.items()
        )
        raise InputError(
            f"{there}; only results on the same benchmark, version and split stand side by side"
        )
    return list(groups.values())


def document(
    runs: Sequence[ViewedRun],
    folder: Path,
    pictures: int,
    show: Callable[[int], None] = lambda _: None,
    only: str | None = None,
) -> dict[str, Any]:
    """Return the page's data; thumbnails, so many `pictures` at most, are written under `folder` on the way.

    The first of `runs`, on the same benchmark, version and split, is what others are compared with.
    `show` is called with the number of items that are done. `only` says which questions, as
    `wanted_ids` has it; numbers stay those of all. InputError where there are more runs than
    letters, or `only` asks for what there isn't.
    """
    if len(runs) > len(LETTERS):
        raise InputError(
            f"{len(runs)} runs on one page are more than anybody can read; give {len(LETTERS)} at most"
        )
    spec, split = (
        result_files.shared_spec(run.result for run in runs),
        runs[0].result.benchmark.split,
    )
    rows: dict[str, Row] = {}
    with suppress(ReelbenchError):  # the data is not on this machine, and nothing is fetched
        rows = {row["id"]: row for row in loading.locate(spec.id, split, fetch=False).read()}
    strips = Strips(Library(spec, split, make=False), folder, pictures)
    items = list(_items(runs, rows, strips, show, wanted_ids(runs, only)))
    apart = side_by_side.settings_apart([run.result for run in runs])
    apart = {name: values for name, values in apart.items() if not name.startswith(_NOT_SETTINGS)}
    return {
        "units": site.units(),
        "columns": [],
        "benchmarks": [site.benchmark(spec)],
        "faults": [faults(run, rows) for run in runs],
        "split": split,
        "version": runs[0].result.benchmark.version,
        "only": only,
        "agreed": not spec.open_data,
        "right": spec.primary.right_from,
        # Title, unit and scale of each column of per-item scores: those of the first metric that is
        # its mean.
        "scored": {
            mean.column: (metric.title, metric.unit, mean.scale)
            for metric in reversed(spec.metrics)
            if isinstance(mean := metric.aggregate, Mean)
        },
        "asked": sum("question" in item for item in items),
        "apart": apart,
        "runs": [_run(run, number, runs, apart) for number, run in enumerate(runs)],
        "differences": [_differences(runs[0], run) for run in runs[1:]],
        "strips": strips.all,
        "unseen": list(strips.unseen),
        "times": list(strips.times),
        "items": items,
    }


def wanted_ids(runs: Sequence[ViewedRun], only: str | None) -> list[str]:
    """Return ids of all questions, or those that are `wrong` in every run, `differ` in score, or `A-not-B`.

    InputError at another word, a letter of no run, or where there is no such question.
    """
    ids = list(dict.fromkeys(name for run in runs for name in run.samples))
    if only is None:
        return ids
    letters = LETTERS[: len(runs)]
    which = re.fullmatch(r"([A-Z])-not-([A-Z])", only)
    if only not in ("wrong", "differ") and not (which and set(which.groups()) <= set(letters)):
        raise InputError(
            f"--only {only}: there are wrong, differ, and of the runs {', '.join(letters)} such as A-not-B"
        )

    def is_wanted(name: str) -> bool:
        there = [run.samples.get(name) for run in runs]
        scores = [
            None if s is None else aggregation.score_of(run.spec, s)
            for run, s in zip(runs, there, strict=True)
        ]
        if only == "differ":
            return len({score for score in scores if score is not None}) > 1
        right = [run.spec.primary.is_right(score) for run, score in zip(runs, scores, strict=True)]
        if which:
            won, lost = (right[letters.index(letter)] for letter in which.groups())
            return won is True and lost is False
        return False in right and True not in right

    if not (found := [name for name in ids if is_wanted(name)]):
        raise InputError(f"--only {only}: none of {len(ids)} questions is")
    return found


# --- runs
# -----------------------------------------------------------------------------------------------------------


def _run(
    run: ViewedRun, number: int, runs: Sequence[ViewedRun], apart: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    result = run.result
    heading = ""
    if len(runs) > 1:
        # The words that tell a run from the others, beside the model's name.
        beside = ("model.id", "software.", "benchmark.", "model.about.")
        names = [name for name in apart if not name.startswith(beside)]
        names = [name for name in names if "sha256" not in name and name != "judge.url"]
        if not names and "model.id" not in apart:
            names = list(apart)
        named = [
            (name.rpartition(".")[2].replace("_", " "), apart[name][number])
            for name in names[:_HEADING]
        ]
        heading = ", ".join(
            f"{name} {as_text(value)}" for name, value in named if value is not None
        )
    return {
        "letter": LETTERS[number],
        "model": result.model.id,
        "heading": heading,
        "folder": str(run.folder),
        "result": result.model_dump(mode="json", exclude={"metrics", "breakdowns"}),
        "metrics": {name: site.value_and_ends(value) for name, value in result.metrics.items()},
        "n": {name: value.n for name, value in result.metrics.items()},
        "breakdowns": site.breakdowns(result.breakdowns),
    }


def _differences(first: ViewedRun, other: ViewedRun) -> dict[str, Any]:
    """Return the paired differences of two runs: by metric, and of the main one by label; or why there is none."""
    try:
        compared = comparison.compare(
            list(first.samples.values()), list(other.samples.values()), first.spec
        )
    except InputError as error:
        return {"why": str(error), "metrics": {}}
    return {
        "both": compared.both,
        "metrics": {
            name: {
                "difference": d.difference,
                "ci95": d.ci95,
                "p": d.p,
                "n": d.n,
                "videos": d.videos,
            }
            for name, d in compared.metrics.items()
        },
        "labels": list(_by_label(first, other)),
    }


def _by_label(first: ViewedRun, other: ViewedRun) -> Iterator[dict[str, Any]]:
    """Yield the main metric's paired difference on each label's questions, where it has an interval."""
    spec = first.spec
    a, b = comparison.on_both(list(first.samples.values()), list(other.samples.values()))
    pairs = list(zip(a, b, strict=True))
    for facet in spec.facets:
        for label in dict.fromkeys(
            label for sample in a for label in sample.facets.get(facet.name, ())
        ):
            ours = [pair for pair in pairs if label in pair[0].facets.get(facet.name, ())]
            if len(ours) == len(pairs):
                continue
            found = comparison.metric_difference(
                spec, spec.primary, *map(list, zip(*ours, strict=True))
            )
            if found is not None and found.ci95 is not None:
                yield {
                    "facet": facet.name,
                    "label": label,
                    "difference": found.difference,
                    "ci95": found.ci95,
                    "n": found.n,
                    "videos": found.videos,
                }


def faults(run: ViewedRun, rows: Mapping[str, Row]) -> list[str]:
    """Return the faults of a run's numbers against its samples, some lines at most; none where they agree."""
    changed = changed_after_scoring(run.folder, run.result)
    first = [
        f"{SAMPLES_FILE} was changed after scoring: its sha256 is not the one that {RESULT_FILE} states"
    ]
    try:
        lines = mismatches(run.spec, run.result, list(run.samples.values()), rows or None)
    except (ReelbenchError, KeyError) as error:
        lines = [f"can't be computed again: {first_line(error)}"]
    return [*(first if changed else ()), *lines][:_FAULTS]


# --- items
# ----------------------------------------------------------------------------------------------------------


def _items(
    runs: Sequence[ViewedRun],
    rows: Mapping[str, Mapping[str, Any]],
    strips: Strips,
    show: Callable[[int], None],
    ids: Sequence[str],
) -> Iterator[dict[str, Any]]:
    for number, name in enumerate(ids):
        there = [run.samples.get(name) for run in runs]
        first = next(sample for sample in there if sample is not None)
        asked = next((run.questions[name] for run in runs if name in run.questions), None)
        row = rows.get(name)
        item: dict[str, Any] = {
            "id": name,
            "video": first.video,
            "target": first.target,
            "facets": first.facets,
        }
        if question := (asked or {}).get("question") or (row or {}).get("question"):
            item["question"] = question
            item["options"] = (asked or {}).get("options") or (row or {}).get("options") or []
        if row and row.get("duration"):
            item["duration"] = row["duration"]
        media = (asked or {}).get("media")
        if file := strips.video(media, row or {"video": first.video}):
            item["file"] = file
        item["runs"] = [
            None
            if sample is None
            else _answer(run, sample)
            | strips.frames(sample, run.result.settings.frames, media, row)
            for run, sample in zip(runs, there, strict=True)
        ]
        yield item
        show(number + 1)


def _answer(run: ViewedRun, sample: Sample) -> dict[str, Any]:
    score = aggregation.score_of(run.spec, sample)
    raw = "" if sample.prediction is None else as_text(sample.prediction)
    words = strip_reasoning(raw)
    # What came is mostly the thoughts and then what is said, which the page holds once.
    answer_text = raw if words is None else words
    thoughts = raw.removesuffix(answer_text)
    replies = (reply.model_dump(mode="json", include=_OF_REPLIES) for reply in sample.judge_replies)
    answer = {
        # Candidates, option scores and whatever else a record has are shown as they are.
        **sample.model_dump(mode="json", exclude=set(_PLAIN)),
        # Of an open answer the text that was read is what it said.
        "parsed": {name: value for name, value in (sample.parsed or {}).items() if name != "text"},
        "judge_replies": [
            {name: of for name, of in reply.items() if name == "score" or of} for reply in replies
        ],
        "said": answer_text,
        "cut": words is None,
        "thoughts": thoughts if thoughts + answer_text == raw else None,
        "raw": None if thoughts + answer_text == raw else raw,
        "score": score,
        "right": run.spec.primary.is_right(score),
        "disagree": side_by_side.judges_disagree(sample),
    }
    kept = {
        name: value for name, value in answer.items() if value is not None and value is not False
    }
    return {name: value for name, value in kept.items() if value not in ([], {}, "")} | {
        "right": answer["right"]
    }


# --- the file
# --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class View:
    """A written page: where it is, what it shows, and what a user should know of it."""

    path: Path
    items: int
    asked: int
    faults: tuple[str, ...] = ()


def place_of(runs: Sequence[ViewedRun], out: Path | None, *, several: bool) -> Path:
    """Return a page's folder: the one named, or one in Reelbench's home that is the same for the same runs."""
    about = runs[0].result.benchmark
    name = re.sub(r"[^\w.-]+", "_", f"{about.id}-{about.split}")  # a result may state any split
    if out is not None:
        return out / name if several else out
    folders = "\n".join(str(run.folder.absolute()) for run in runs)
    return home() / "views" / f"{name}-{hashlib.sha256(folders.encode()).hexdigest()[:12]}"


def write(
    runs: Sequence[ViewedRun],
    out: Path,
    *,
    pictures: int,
    show: Callable[[int], None] = lambda _: None,
    only: str | None = None,
) -> View:
    """Write the page of some runs of one benchmark to `out`, which becomes exactly that; for `only` see `wanted_ids`.

    Where `out` ends in .html it is one file for others to read, without films and paths of this
    machine. InputError where the folder has other files in it, or the data may not be passed on.
    """
    alone = out.suffix == ".html"
    page = out if alone else out / PAGE
    if alone:
        if why := why_withheld(runs[0].spec, runs[0].result.benchmark.split):
            raise InputError(
                f"{out}: one file is made to be sent on. {why} Name a folder: a page for this machine"
            )
        runs = [replace(run, result=public(run.result)) for run in runs]
    elif (
        out.exists()
        and any(out.iterdir())
        and not (page.is_file() and _MARK in page.read_bytes()[:200])
    ):
        raise InputError(f"{out}: has other files in it; name a folder of its own for the page")
    with tempfile.TemporaryDirectory() if alone else replacing_folder(out) as place:
        made = document(runs, Path(place), pictures, show, only)
        if alone:
            made["sent"] = True
            for strip in made[
                "strips"
            ]:  # its pictures go into the page, and the paths of this machine out of it
                files = [
                    Path(place, f"{strip['files']}{number}.jpg").read_bytes()
                    for number in range(len(strip["times"]))
                ]
                strip["files"] = [
                    f"data:image/jpeg;base64,{base64.b64encode(file).decode()}" for file in files
                ]
            for part in (*made["runs"], *made["items"]):
                part.pop("folder", None)
                part.pop("file", None)
        models = " and ".join(dict.fromkeys(run.result.model.id for run in runs))
        style, script = (
            "\n".join(
                page_asset(name, f"leaderboard.{room}").rstrip()
                for room, names in of.items()
                for name in names
            )
            for of in (_STYLES, _SCRIPTS)
        )
        write_text(
            page if alone else Path(place, PAGE),
            shell_page(
                f"{made['benchmarks'][0]['title']}: {models}",
                page_asset("view.html", "leaderboard.view").rstrip(),
                style=style,
                script=_DATA + script,
                data=site.line_by_line(made),
                head=page_head(tools=_TOOLS if "sent" not in made else _KEYS),
                kind=_KIND,
                skip="sample",
            ),
        )
    faults = tuple(line for lines in made["faults"] for line in lines)
    return View(page, len(made["items"]), made["asked"], faults)


def write_of_folder(folder: Path, out: Path) -> Path:
    """Write the page of one result's folder, and return it: what a notebook shows."""
    (group,) = read_groups([folder])
    return write(group, out, pictures=_FEW_PICTURES).path


def as_csv(runs: Sequence[ViewedRun], only: str | None = None) -> str:
    """Return a line for each question: id, video, labels; of each run its answer, score, and whether it is right."""
    facets = [facet.name for facet in runs[0].spec.facets]
    own = [
        f"{LETTERS[n]}_{name}"
        for n in range(len(runs))
        for name in ("model", "answer", "score", "right", "reason")
    ]
    lines: list[list[object]] = [["id", "video", *facets, *own]]
    for name in wanted_ids(runs, only):
        there = [run.samples.get(name) for run in runs]
        first = next(sample for sample in there if sample is not None)
        labels = ("; ".join(map(str, first.facets.get(facet, ()))) for facet in facets)
        line: list[object] = [name, first.video, *labels]
        for run, sample in zip(runs, there, strict=True):
            score = None if sample is None else aggregation.score_of(run.spec, sample)
            said = "" if sample is None or sample.prediction is None else as_text(sample.prediction)
            right = {None: "", True: "yes", False: "no"}[run.spec.primary.is_right(score)]
            line += [run.result.model.id, said, score, right, sample and sample.reason]
        lines.append(line)
    return sheet(lines)
