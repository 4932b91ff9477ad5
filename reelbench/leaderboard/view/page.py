"""Write a page of runs: one HTML file, and the pictures beside it.

The questions of a large one lie beside it too (`parts`).
"""

import base64
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError, ReelbenchError, first_line
from reelbench.base.files import replacing_folder, write_text
from reelbench.base.settings import home
from reelbench.base.values import as_text
from reelbench.data import loading
from reelbench.data.redistribution import why_withheld
from reelbench.leaderboard import code_words, site
from reelbench.leaderboard.exports.tables import sheet
from reelbench.leaderboard.recompute import mismatches
from reelbench.leaderboard.store import public
from reelbench.leaderboard.view import parts
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
_MOST_FAULTS = 5
"""Lines on a run's wrong numbers."""
_MOST_IN_HEADING = 3
"""Settings in a run's heading."""

_NOT_SETTINGS = "model.about.links."
"""Start of the fields in which results differ that are no settings."""
_NOT_IN_HEADING = ("model.id", "software.", "benchmark.", "model.about.")
"""Starts of the fields that are no part of a run's heading."""

_SHOWN_ELSEWHERE = frozenset(
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
"""Fields of a sample that the page has elsewhere, or in another form."""

_REPLY_FIELDS = {"criterion", "judge", "vote", "attempt", "score", "raw"}

PAGE = "index.html"
_KIND = "view"
_MARK = f"<!-- reelbench {_KIND} -->".encode()
_SCRIPTS = (
    ("leaderboard.assets", "base.js"),
    ("leaderboard.assets", "model.js"),
    ("leaderboard.view", "summary.js"),
    ("leaderboard.view", "items.js"),
    ("leaderboard.view", "sample.js"),
    ("leaderboard.view", "view.js"),
)
_STYLES = (("leaderboard.assets", "board.css"), ("leaderboard.view", "view.css"))
_KEYS = '<button id="keys" type="button" class="tool" aria-haspopup="dialog">Keys</button>'
_FEW_PICTURES = 200  # of videos at most in a page that a notebook holds
_TOOLS = f'<span class="sub">on this machine only</span>{_KEYS}'
_DATA = 'globalThis.REELBENCH = JSON.parse(document.getElementById("data").textContent);\n'

Rows = Mapping[str, Row]
"""The rows of a benchmark by id. Empty where the data is not on this machine."""
ShowItems = Callable[[int], None]
"""Called with the number of items that are done."""


@dataclass(frozen=True, slots=True)
class ViewedRun:
    """A result on disk, with its items and their questions by id.

    A question has `question`, `options` and `media`, from the file beside the result. There are
    none where that file is missing.
    """

    folder: Path
    result: Result
    spec: BenchmarkSpec
    samples: Mapping[str, Sample]
    questions: Mapping[str, Mapping[str, Any]]

    def score(self, item: str) -> float | None:
        """Return the score of its answer to a question. None without one."""
        sample = self.samples.get(item)
        if sample is None:
            return None
        return aggregation.score_of(self.spec, sample)

    def is_right(self, item: str) -> bool | None:
        """Return True where its answer to a question is right. None where nothing tells."""
        return self.spec.primary.is_right(self.score(item))


def read_groups(paths: Sequence[Path]) -> list[list[ViewedRun]]:
    """Read every result under the paths, grouped by benchmark, version and split.

    Raises:
        InputError: Several paths were given, and nothing in them can be compared.
    """
    groups: dict[tuple[str, int, str], list[ViewedRun]] = {}
    folders: list[Path] = []
    for path in paths:
        folders += result_files.folders(path)
    for folder in dict.fromkeys(folders):
        run = _read_run(folder)
        benchmark = run.result.benchmark
        key = (benchmark.id, benchmark.version, benchmark.split)
        groups.setdefault(key, []).append(run)
    if len(paths) > 1 and all(len(runs) == 1 for runs in groups.values()):
        descriptions: list[str] = []
        for (name, version, split), [run] in groups.items():
            descriptions.append(f"{run.folder} is {name} {split} (version {version})")
        raise InputError(
            f"{', '.join(descriptions)}; "
            "only results on the same benchmark, version and split stand side by side"
        )
    return list(groups.values())


def _read_run(folder: Path) -> ViewedRun:
    result = result_files.read(folder)
    samples = {sample.id: sample for sample in result_files.read_samples(folder)}
    spec = discovery.spec_of(result.benchmark)
    return ViewedRun(folder, result, spec, samples, result_files.read_questions(folder))


def document(
    runs: Sequence[ViewedRun],
    folder: Path,
    pictures: int,
    show: ShowItems = lambda _: None,
    only: str | None = None,
) -> dict[str, Any]:
    """Return the page's data, and write its thumbnails.

    Args:
        runs: Runs on the same benchmark, version and split. The others are compared with the first.
        folder: The folder for thumbnails.
        pictures: Maximum number of thumbnails.
        show: Called with the number of items that are done.
        only: The questions, as `wanted_ids` has it. Metrics stay those of all.

    Raises:
        InputError: There are more runs than letters, or no question that `only` names.
    """
    if len(runs) > len(LETTERS):
        raise InputError(
            f"{len(runs)} runs on one page are more than anybody can read; "
            f"give {len(LETTERS)} at most"
        )
    spec = result_files.shared_spec(run.result for run in runs)
    benchmark = runs[0].result.benchmark
    rows = _rows(spec, benchmark.split)
    strips = Strips(Library(spec, benchmark.split, make=False), folder, pictures)
    items: list[dict[str, Any]] = []
    for number, name in enumerate(wanted_ids(runs, only), start=1):
        items.append(_item(runs, name, rows.get(name), strips))
        show(number)
    settings = _differing_settings(runs)
    return {
        "units": site.units(),
        "words": code_words.WORDS,
        "columns": [],
        "benchmarks": [site.benchmark(spec)],
        "faults": [faults(run, rows) for run in runs],
        "split": benchmark.split,
        "version": benchmark.version,
        "only": only,
        "agreed": not spec.open_data,
        "right": spec.primary.right_from,
        "scored": _score_columns(spec),
        "asked": sum("question" in item for item in items),
        "apart": settings,
        "runs": [_run_data(runs, number, settings) for number in range(len(runs))],
        "differences": [_differences(runs[0], run) for run in runs[1:]],
        "strips": strips.all,
        "unseen": list(strips.unseen),
        "times": list(strips.times),
        "items": items,
    }


def _rows(spec: BenchmarkSpec, split: str) -> Rows:
    """Return the rows of a split, none where the data is not on this machine."""
    try:
        located = loading.locate(spec.id, split, fetch=False)
        return {row["id"]: row for row in located.read()}
    except ReelbenchError:
        return {}


def _differing_settings(runs: Sequence[ViewedRun]) -> dict[str, list[Any]]:
    """Return the settings in which runs differ: the field, and the value of each run."""
    settings = side_by_side.settings_apart([run.result for run in runs])
    return {name: values for name, values in settings.items() if not name.startswith(_NOT_SETTINGS)}


def _score_columns(spec: BenchmarkSpec) -> dict[str, tuple[str, str, float, float]]:
    """Return title, unit, scale and lowest score of each column of per-item scores.

    They are those of the first metric that is the column's mean.
    """
    columns: dict[str, tuple[str, str, float, float]] = {}
    for metric in reversed(spec.metrics):
        mean = metric.aggregate
        if isinstance(mean, Mean):
            columns[mean.column] = (metric.title, metric.unit, mean.scale, mean.lowest)
    return columns


def wanted_ids(runs: Sequence[ViewedRun], only: str | None) -> list[str]:
    """Return the ids of questions.

    Args:
        runs: The runs.
        only: None for all questions. `wrong` for those that are wrong in every run, `differ` for
            those whose scores differ, `A-not-B` for those that run A has right and B wrong.

    Raises:
        InputError: `only` is another word, names a letter of no run, or fits no question.
    """
    ids: dict[str, None] = {}
    for run in runs:
        ids |= dict.fromkeys(run.samples)
    if only is None:
        return list(ids)
    fits = _question_filter(runs, only)
    fitting_ids = [name for name in ids if fits(name)]
    if not fitting_ids:
        raise InputError(f"--only {only}: none of {len(ids)} questions is")
    return fitting_ids


def _question_filter(runs: Sequence[ViewedRun], only: str) -> Callable[[str], bool]:
    """Return the function that tells whether a question fits `only`."""

    def is_wrong(item: str) -> bool:
        verdicts = [run.is_right(item) for run in runs]
        return False in verdicts and True not in verdicts

    def differs(item: str) -> bool:
        scores = {run.score(item) for run in runs}
        return len(scores - {None}) > 1

    if only == "wrong":
        return is_wrong
    if only == "differ":
        return differs
    run_by_letter = dict(zip(LETTERS, runs, strict=False))
    match = re.fullmatch(r"([A-Z])-not-([A-Z])", only)
    if match is None or not set(match.groups()) <= run_by_letter.keys():
        letters = ", ".join(run_by_letter)
        raise InputError(
            f"--only {only}: there are wrong, differ, and of the runs {letters} such as A-not-B"
        )
    right_run = run_by_letter[match[1]]
    wrong_run = run_by_letter[match[2]]
    return lambda item: right_run.is_right(item) is True and wrong_run.is_right(item) is False


# --- runs


def _run_data(
    runs: Sequence[ViewedRun], number: int, settings: Mapping[str, Sequence[Any]]
) -> dict[str, Any]:
    """Return the data of one run."""
    run = runs[number]
    result = run.result
    heading = ""
    if len(runs) > 1:
        heading = _heading(number, settings)
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


def _heading(number: int, settings: Mapping[str, Sequence[Any]]) -> str:
    """Return the settings that tell a run from the others, beside the model's name."""
    names: list[str] = []
    for name in settings:
        has_words = "sha256" not in name and name != "judge.url"
        if has_words and not name.startswith(_NOT_IN_HEADING):
            names.append(name)
    if not names and "model.id" not in settings:
        names = list(settings)
    words: list[str] = []
    for name in names[:_MOST_IN_HEADING]:
        value = settings[name][number]
        if value is not None:
            title = name.rpartition(".")[2].replace("_", " ")
            words.append(f"{title} {as_text(value)}")
    return ", ".join(words)


def _differences(first: ViewedRun, second: ViewedRun) -> dict[str, Any]:
    """Return the paired differences of two runs, or why there are none.

    They are by metric, and those of the main metric also by label.
    """
    first_samples = list(first.samples.values())
    second_samples = list(second.samples.values())
    try:
        compared = comparison.compare(first_samples, second_samples, first.spec)
    except InputError as error:
        return {"why": str(error), "metrics": {}}
    metrics: dict[str, dict[str, Any]] = {}
    for name, difference in compared.metrics.items():
        metrics[name] = {
            "difference": difference.difference,
            "ci95": difference.ci95,
            "p": difference.p,
            "n": difference.n,
            "videos": difference.videos,
        }
    return {
        "both": compared.both,
        "metrics": metrics,
        "labels": list(_label_differences(first.spec, first_samples, second_samples)),
    }


def _label_differences(
    spec: BenchmarkSpec, first_samples: Sequence[Sample], second_samples: Sequence[Sample]
) -> Iterator[dict[str, Any]]:
    """Yield the main metric's paired difference on each label's questions.

    Labels without an interval, and labels of all questions, are left out.
    """
    a, b = comparison.on_both(first_samples, second_samples)
    for facet in spec.facets:
        places_by_label: dict[str, list[int]] = {}
        for place, sample in enumerate(a):
            for label in dict.fromkeys(sample.facets.get(facet.name, ())):
                places_by_label.setdefault(label, []).append(place)
        for label, places in places_by_label.items():
            if len(places) == len(a):
                continue
            difference = comparison.metric_difference(
                spec, spec.primary, [a[place] for place in places], [b[place] for place in places]
            )
            if difference is None or difference.ci95 is None:
                continue
            yield {
                "facet": facet.name,
                "label": label,
                "difference": difference.difference,
                "ci95": difference.ci95,
                "n": difference.n,
                "videos": difference.videos,
            }


def faults(run: ViewedRun, rows: Rows) -> list[str]:
    """Return the faults of a run's numbers against its samples, some lines at most.

    There are none where they agree.
    """
    lines: list[str] = []
    if changed_after_scoring(run.folder, run.result):
        lines.append(
            f"{SAMPLES_FILE} was changed after scoring: "
            f"its sha256 is not the one that {RESULT_FILE} states"
        )
    samples = list(run.samples.values())
    try:
        lines += mismatches(run.spec, run.result, samples, rows or None)
    except (ReelbenchError, KeyError) as error:
        lines.append(f"can't be computed again: {first_line(error)}")
    return lines[:_MOST_FAULTS]


# --- items


def _item(runs: Sequence[ViewedRun], name: str, row: Row | None, strips: Strips) -> dict[str, Any]:
    """Return the data of a question, with the answer of each run."""
    samples = [run.samples.get(name) for run in runs]
    first = next(sample for sample in samples if sample is not None)
    fields = _question_fields(runs, name)
    row_fields = row or {}
    item: dict[str, Any] = {
        "id": name,
        "video": first.video,
        "target": first.target,
        "facets": first.facets,
        **_words(fields, row_fields),
    }
    if row_fields.get("duration"):
        item["duration"] = row_fields["duration"]
    media = fields.get("media")
    file = strips.video(media, row or {"video": first.video})
    if file:
        item["file"] = file
    item["runs"] = []
    for run, sample in zip(runs, samples, strict=True):
        answer = None
        if sample is not None:
            frames = strips.frames(sample, run.result.settings.frames, media, row)
            answer = _answer(run, sample) | frames
        item["runs"].append(answer)
    return item


def _question_fields(runs: Sequence[ViewedRun], name: str) -> Mapping[str, Any]:
    """Return a question's fields from the file beside the first result that has it."""
    for run in runs:
        if name in run.questions:
            return run.questions[name]
    return {}


def _words(fields: Mapping[str, Any], row_fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a question and its options. Empty where they are not on this machine."""
    question = fields.get("question") or row_fields.get("question")
    if not question:
        return {}
    options = fields.get("options") or row_fields.get("options") or []
    return {"question": question, "options": options}


def _answer(run: ViewedRun, sample: Sample) -> dict[str, Any]:
    """Return the data of an answer, without its empty fields."""
    raw = ""
    if sample.prediction is not None:
        raw = as_text(sample.prediction)
    # A reply is mostly its thoughts and then its words, which the page holds once.
    words = strip_reasoning(raw)
    answer_text = raw if words is None else words
    thoughts = raw.removesuffix(answer_text)
    in_two_parts = thoughts + answer_text == raw
    # The text that was read of an open answer is in the answer itself.
    parsed = dict(sample.parsed or {})
    parsed.pop("text", None)
    score = aggregation.score_of(run.spec, sample)
    is_right = run.spec.primary.is_right(score)
    fields = {
        # Candidates, option scores and further fields of a record are shown as they are.
        **sample.model_dump(mode="json", exclude=set(_SHOWN_ELSEWHERE)),
        "parsed": parsed,
        "judge_replies": _judge_replies(sample),
        "said": answer_text,
        "cut": words is None,
        "thoughts": thoughts if in_two_parts else None,
        "raw": None if in_two_parts else raw,
        "score": score,
        "right": is_right,
        "disagree": side_by_side.judges_disagree(sample),
    }
    answer: dict[str, Any] = {}
    for name, value in fields.items():
        is_empty = value is None or value is False or value in ([], {}, "")
        if not is_empty or name == "right":
            answer[name] = value
    return answer


def _judge_replies(sample: Sample) -> list[dict[str, Any]]:
    """Return the judges' replies, without their empty fields but the score."""
    replies: list[dict[str, Any]] = []
    for reply in sample.judge_replies:
        fields = reply.model_dump(mode="json", include=_REPLY_FIELDS)
        replies.append({name: value for name, value in fields.items() if value or name == "score"})
    return replies


# --- the file


@dataclass(frozen=True, slots=True)
class View:
    """A written page: its path, its items, and the faults of its runs."""

    path: Path
    items: int
    with_question: int
    """Items whose question is on this machine."""
    faults: tuple[str, ...] = ()


def place_of(runs: Sequence[ViewedRun], out: Path | None, *, several: bool) -> Path:
    """Return a page's folder.

    It is the one named, with a folder of its own in it where there are several pages. By default it
    is one in Reelbench's home, the same for the same runs.
    """
    benchmark = runs[0].result.benchmark
    # A result may state any split.
    name = re.sub(r"[^\w.-]+", "_", f"{benchmark.id}-{benchmark.split}")
    if out is None:
        folders = "\n".join(str(run.folder.absolute()) for run in runs)
        digest = hashlib.sha256(folders.encode()).hexdigest()
        return home() / "views" / f"{name}-{digest[:12]}"
    if several:
        return out / name
    return out


def write(
    runs: Sequence[ViewedRun],
    out: Path,
    *,
    pictures: int,
    show: ShowItems = lambda _: None,
    only: str | None = None,
) -> View:
    """Write the page of some runs of one benchmark.

    Args:
        runs: The runs.
        out: A folder, which then has the page and no other file. Or a path that ends in .html: one
            file to send, without films and paths of this machine.
        pictures: Maximum number of thumbnails.
        show: Called with the number of items that are done.
        only: The questions, as `wanted_ids` has it.

    Raises:
        InputError: The folder has other files in it, or the data may not be passed on.
    """
    if out.suffix == ".html":
        page = out
        data = _write_one_file(runs, out, pictures, show, only)
    else:
        page = out / PAGE
        data = _write_folder(runs, out, pictures, show, only)
    all_faults: list[str] = []
    for lines in data["faults"]:
        all_faults += lines
    return View(page, len(data["items"]), data["asked"], tuple(all_faults))


def _write_folder(
    runs: Sequence[ViewedRun], out: Path, pictures: int, show: ShowItems, only: str | None
) -> dict[str, Any]:
    """Write a folder with the page and its pictures, and return the page's data."""
    if out.exists() and any(out.iterdir()) and not _is_page(out / PAGE):
        raise InputError(f"{out}: has other files in it; name a folder of its own for the page")
    with replacing_folder(out) as place:
        folder = Path(place)
        data = document(runs, folder, pictures, show, only)
        listed_items = parts.written_apart(data["items"], folder)
        in_parts = listed_items is not None
        if in_parts:
            data["items"] = listed_items
        write_text(folder / PAGE, _page_text(runs, data, tools=_TOOLS, in_parts=in_parts))
    return data


def _is_page(path: Path) -> bool:
    """Return True where a file is a page of ours."""
    return path.is_file() and _MARK in path.read_bytes()[:200]


def _write_one_file(
    runs: Sequence[ViewedRun], out: Path, pictures: int, show: ShowItems, only: str | None
) -> dict[str, Any]:
    """Write one file for others, with its pictures in it, and return the page's data."""
    why = why_withheld(runs[0].spec, runs[0].result.benchmark.split)
    if why:
        raise InputError(
            f"{out}: one file is made to be sent on. {why} Name a folder: a page for this machine"
        )
    public_runs = [replace(run, result=public(run.result)) for run in runs]
    with tempfile.TemporaryDirectory() as folder:
        data = document(public_runs, Path(folder), pictures, show, only)
        for strip in data["strips"]:
            strip["files"] = _picture_urls(Path(folder), strip)
    data["sent"] = True
    for part in (*data["runs"], *data["items"]):
        part.pop("folder", None)
        part.pop("file", None)
    write_text(out, _page_text(public_runs, data, tools=_KEYS))
    return data


def _picture_urls(folder: Path, strip: Mapping[str, Any]) -> list[str]:
    """Return the pictures of a strip as URLs that hold them."""
    urls: list[str] = []
    for number in range(len(strip["times"])):
        picture = Path(folder, f"{strip['files']}{number}.jpg").read_bytes()
        urls.append(f"data:image/jpeg;base64,{base64.b64encode(picture).decode()}")
    return urls


def _page_text(
    runs: Sequence[ViewedRun], data: Mapping[str, Any], *, tools: str, in_parts: bool = False
) -> str:
    """Return the HTML of the page."""
    models = " and ".join(dict.fromkeys(run.result.model.id for run in runs))
    return shell_page(
        f"{data['benchmarks'][0]['title']}: {models}",
        page_asset("view.html", "leaderboard.view").rstrip(),
        style=_joined_assets(_STYLES),
        script=_DATA + _joined_assets(_SCRIPTS),
        data=site.line_by_line(data),
        head=page_head(tools=tools),
        kind=_KIND,
        loads_scripts=in_parts,
    )


def _joined_assets(assets: Sequence[tuple[str, str]]) -> str:
    return "\n".join(page_asset(name, room).rstrip() for room, name in assets)


def write_of_folder(folder: Path, out: Path) -> Path:
    """Write the page of one result for a notebook, and return its path."""
    (group,) = read_groups([folder])
    return write(group, out, pictures=_FEW_PICTURES).path


def as_csv(runs: Sequence[ViewedRun], only: str | None = None) -> str:
    """Return a line for each question as CSV.

    It has the id, the video, the question, its options, the right answer and the labels. Then, of
    each run, the model, the answer, what was read of it, the score, the verdict, the reason where
    it is unscored, and each of its scores.
    """
    spec = runs[0].spec
    facets = [facet.name for facet in spec.facets]
    ids = wanted_ids(runs, only)
    rows: Rows = {}
    if not all(_question_fields(runs, name) for name in ids):
        rows = _rows(spec, runs[0].result.benchmark.split)
    heads = ["id", "video", "question", "options", "right_answer", *facets]
    score_names = [_score_names(run) for run in runs]
    for letter, names in zip(LETTERS, score_names, strict=False):
        heads += [f"{letter}_{name}" for name in _OF_EACH_RUN]
        heads += [f"{letter}_scores.{name}" for name in names]
    lines: list[list[object]] = [[*heads]]
    for name in ids:
        samples = [run.samples.get(name) for run in runs]
        first = next(sample for sample in samples if sample is not None)
        words = _words(_question_fields(runs, name), rows.get(name, {}))
        options = words.get("options", [])
        line: list[object] = [
            name,
            first.video,
            words.get("question", ""),
            "\n".join(_lettered(options)),
            _stated(first.target, options),
        ]
        for facet in facets:
            labels = map(str, first.facets.get(facet, ()))
            line.append("; ".join(labels))
        for run, sample, names in zip(runs, samples, score_names, strict=True):
            line += _csv_cells(run, name, sample, options)
            scores: Mapping[str, float] = {}
            if sample is not None:
                scores = sample.scores
            line += [scores.get(score_name) for score_name in names]
        lines.append(line)
    return sheet(lines)


_OF_EACH_RUN = ("model", "answer", "read", "score", "right", "reason")


def _score_names(run: ViewedRun) -> list[str]:
    """Return the names of all scores that a run's answers have, as they come first."""
    names: dict[str, None] = {}
    for sample in run.samples.values():
        names.update(dict.fromkeys(sample.scores))
    return list(names)


def _lettered(options: Sequence[str]) -> list[str]:
    """Return options with their letters."""
    return [f"{letter}. {option}" for letter, option in zip(LETTERS, options, strict=False)]


def _stated(answer: Mapping[str, Any] | None, options: Sequence[str]) -> str:
    """Return an answer as a cell has it: its option, its seconds, its text."""
    fields = answer or {}
    parts: list[str] = []
    letter = fields.get("answer")
    if letter is not None:
        options_of_letter = dict(zip(LETTERS, _lettered(options), strict=False))
        parts.append(options_of_letter.get(str(letter), str(letter)))
    spans = fields.get("spans") or [fields.get("span")]
    parts += [f"{span[0]:g} to {span[1]:g} s" for span in spans if span]
    if fields.get("text") is not None:
        parts.append(str(fields["text"]))
    return "; ".join(parts)


def _csv_cells(
    run: ViewedRun, name: str, sample: Sample | None, options: Sequence[str]
) -> list[object]:
    """Return a run's cells of `_OF_EACH_RUN` on a question."""
    if sample is None:
        return [run.result.model.id, "", "", None, "", None]
    answer = ""
    if sample.prediction is not None:
        answer = as_text(sample.prediction)
    is_right = run.is_right(name)
    verdict = ""
    if is_right is not None:
        verdict = "yes" if is_right else "no"
    read = _stated(sample.parsed, options)
    return [run.result.model.id, answer, read, run.score(name), verdict, sample.reason]
