"""A new benchmark's folder: its rows, the `benchmark.yaml` that declares them, a README, and a datasheet to fill in."""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reelbench.base import tables
from reelbench.base.containment import allow
from reelbench.base.errors import InputError, cut_in_the_middle
from reelbench.base.files import LONGEST_NAME, replacing_folder, write_text
from reelbench.data import mapped_rows
from reelbench.registry import benchmark_file, datasheet_form
from reelbench.registry.benchmark_file import FileKind
from reelbench.registry.spec import AnswerForm, BenchmarkSpec, SpanUnit
from reelbench.tasks.column_guess import OPTIONS_SEEN, Column, Guess, guess
from reelbench.video.library import VIDEO_SUFFIXES, has_video_suffix

_YAML_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off"})
_SHOWN_NAME = 40
_LOOKED_AT = 5000
"""Rows that are looked at for a guess."""

_WANTED = (
    '; a row a question is wanted: {"video": "a.mp4", "question": "Who comes in?", "answer": "A guest."}; '
    "in nested JSON, --set 'each={film}/qa/{n}' is the path to its rows: {…} is any key or position"
)


@dataclass(frozen=True, slots=True)
class NewBenchmark:
    """What is asked for: the id, the file with the rows, and what the user knows of them.

    `columns` are ours -> theirs; `media` is the folder with the videos, if there is one; `keys` are
    further keys of the file; the columns `without` are left unused, whatever they hold.
    """

    name: str
    rows: Path
    kind: FileKind | None = None
    media: Path | None = None
    columns: Mapping[str, Column] = field(default_factory=dict[str, Column])
    answer_is: AnswerForm | None = None
    span_unit: SpanUnit | None = None
    fps: str = ""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    without: Sequence[str] = ()

    def further_lines(self) -> list[str]:
        """Return the lines of the further keys, as the file has them."""
        texts = {
            name: key.form in ("text", "task") and not key.words
            for name, key in benchmark_file.KEYS.items()
        }
        return [
            f"{name}: {json.dumps(text) if texts.get(name) else text}"
            for name, text in self.keys.items()
        ]


def make(wanted: NewBenchmark, folder: Path) -> tuple[BenchmarkSpec, Guess]:
    """Write a benchmark's folder from a file of rows; return what it declares, and what was guessed.

    InputError where the id can't be one, the folder is there already, the rows can't be read, or
    something about them can't be guessed: nothing is written then.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", wanted.name):
        raise InputError(
            f"{wanted.name}: an id is lower-case letters, digits and _, a letter first"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already; choose another folder with --out")
    if wanted.media is not None and not wanted.media.is_dir():
        raise InputError(f"{wanted.media}: no such folder of videos")
    files, read = _read(wanted)
    rows = [row for _, row in read]
    if not rows:
        raise InputError(f"{wanted.rows}: no rows; expected at least one question")
    given = guess(rows[:_LOOKED_AT], wanted.kind, given=wanted.columns, media=wanted.media)
    _refuse_doubts(wanted, given, rows[0])
    given.answer_is = wanted.answer_is or given.answer_is
    video = given.columns.get("video", ())
    if isinstance(video, str) and "{" not in video:
        for where, row in read:
            name = str(row.get(video))
            if any(len(part.encode(errors="replace")) > LONGEST_NAME for part in name.split("/")):
                raise InputError(
                    f"{where}: {video} is taken for the video, and {cut_in_the_middle(name, _SHOWN_NAME)!r} can't be a "
                    f"file's name ({LONGEST_NAME} bytes at most); name another column with --column video=COLUMN, or "
                    "shorten it"
                )
    copied = f"rows{wanted.rows.suffix.lower() or '.jsonl'}"
    readme = Path(__file__).with_name("benchmark_readme.md").read_text(encoding="utf-8")
    with replacing_folder(folder) as aside:
        shutil.copyfile(wanted.rows, aside / copied)
        for file in files[1:]:
            shutil.copyfile(file, aside / file.name)
        write_text(aside / benchmark_file.NAME, _yaml(wanted, given, copied, rows))
        write_text(
            aside / "README.md",
            readme.format(name=wanted.name, file=benchmark_file.NAME, copied=copied),
        )
        categories = [
            "video-text-to-text",
            *(["multiple-choice"] if given.kind.endswith("choice") else []),
        ]
        sheet = datasheet_form.as_text({}, categories=categories, creators=["other"])
        write_text(aside / datasheet_form.FILE, sheet)
    here = wanted.rows.absolute().parent
    # Videos may lie where the rows do, or in `videos` there.
    names = {str(row.get(video)) for row in rows[:100]} if isinstance(video, str) else set[str]()
    files = [
        f"{part}{name}{suffix}"
        for name in names
        for part in ("", "videos/")
        for suffix in ("", *VIDEO_SUFFIXES)
    ]
    beside = any(has_video_suffix(file) and (here / file).is_file() for file in files)
    if media := wanted.media or (here if beside else None):
        allow(folder, media)
    return benchmark_file.read(folder), given


def _refuse_doubts(wanted: NewBenchmark, given: Guess, row: Mapping[str, object]) -> None:
    """Raise InputError for what could not be guessed, and for what a guess would drop."""
    if held := [line for name, line in given.held.items() if name not in wanted.without]:
        drops = f"taken for `{given.kind}`, which would drop something: {'; '.join(dict.fromkeys(held))}"
        drops = drops.replace("--set each=", f"--set each={tables.outer_steps(wanted.rows)}")
        raise InputError(f"{wanted.rows}: {drops} (--without COLUMN leaves one unused)")
    known = {
        "--answer-is": wanted.answer_is is not None,
        "no column is the options": "options" in wanted.keys,
    }
    known["no column is the answer"] = "hidden_answers" in wanted.keys
    lacking = [
        line
        for line in given.lacking
        if not any(said in line and told for said, told in known.items())
    ]
    if lacking:
        raise InputError(
            f"{wanted.rows}: taken for `{given.kind}` (--kind says another); {'; '.join(lacking)}; say it with "
            f"--column OURS=THEIRS; there are {', '.join(row)}{'' if 'question' in given.columns else _WANTED}"
        )
    if given.units and wanted.span_unit is None:
        raise InputError(
            f"{wanted.rows}: {'; '.join(given.units)}: say what the spans are counted in with --span-unit "
            "seconds|milliseconds|frames|ratio|percent|clock (frames: and --fps NUMBER or --fps COLUMN)"
        )


def _read(wanted: NewBenchmark) -> tuple[list[Path], list[tuple[str, Mapping[str, object]]]]:
    """Return the files that rows are read from, and the rows that can be, each with where it stands."""
    if wanted.rows.suffix.lower() == ".txt" and "line" not in wanted.keys:
        raise InputError(
            f"{wanted.rows}: of lines of text say how they are parted: --set 'line={{clip}} {{start}}##{{words}}'"
        )
    if not wanted.keys.keys() & {"each", "line", "join"}:
        return [wanted.rows], list(tables.read(wanted.rows))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "the keys of --set"
        write_text(file, "\n".join(wanted.further_lines()))
        top = benchmark_file.parse(file)
        join = benchmark_file.join_of(top)
        joined = [wanted.rows.parent / top.block("join").required_text("file")] if join else []
        files = [wanted.rows, *joined]
        entries = mapped_rows.table(files, benchmark_file.steps(top), top.text("line") or "", join)
    rows = [(where, cells) for where, cells in entries if not isinstance(cells, InputError)]
    if faults := [cells for _, cells in entries if isinstance(cells, InputError) and not rows]:
        raise faults[0]
    return files, rows


def _yaml(
    wanted: NewBenchmark, given: Guess, copied: str, rows: Sequence[Mapping[str, object]]
) -> str:
    """Return the file's text; its comments say what was guessed."""
    lines = [
        f"id: {wanted.name}",
        f"title: {_quoted(wanted.name.replace('_', ' ').capitalize())}",
        f"kind: {given.kind}" + ("" if wanted.kind else "  # guessed from the columns"),
        f"source: {{file: {copied}}}",
        "columns:  # ours: theirs",
    ]
    for name, column in given.columns.items():
        text = (
            _quoted(column) if isinstance(column, str) else f"[{', '.join(map(_quoted, column))}]"
        )
        why = "" if name in wanted.columns else f"  # guessed: {given.why.get(name, 'name')}"
        lines.append(f"  {name}: {text}{why}")
    if given.answer_is:
        lines.append(
            f"answer_is: {given.answer_is}"
            + ("" if wanted.answer_is else "  # guessed: what the rows fit")
        )
    if given.options and "options" not in wanted.keys:
        lines.append(f"options: {given.options}  # guessed: {OPTIONS_SEEN[given.options]}")
    if wanted.span_unit:
        lines.append(f"span_unit: {wanted.span_unit}")
    if wanted.fps:
        lines.append(f"fps: {_quoted(wanted.fps)}")
    if given.facets:
        lines.append(
            f"facets: [{', '.join(map(_quoted, given.facets))}]  # guessed: usual names, with few labels"
        )
    if given.kind == "open":
        lines.append(
            "judge: {prompts: curve}  # 0 to 2; or moviecore (five dimensions), or a folder of prompts"
        )
    if wanted.media is not None:
        listed = ", ".join(
            map(_quoted, _layouts(wanted.media, given.columns.get("video", ()), rows))
        )
        lines.append(f"media: {{layouts: [{listed}]}}")
    lines += [
        "languages: [en]",
        "# licence: cc-by-4.0",
        "# citation: who to cite, as BibTeX or in words",
    ]
    guessed = [line for line in lines if line.partition(":")[0] not in wanted.keys]
    return "\n".join([*guessed, *wanted.further_lines(), ""])


def _layouts(folder: Path, video: Column, rows: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the layouts of the videos below their folder, as the first ones lie."""
    layouts = ["{video}"]
    if isinstance(video, str) and "{" not in video:
        names = {str(row.get(video)) for row in rows[:100]}
        for path in sorted(folder.rglob("*")):
            if not has_video_suffix(path.name):
                continue
            below = path.relative_to(folder).parent.as_posix()
            here = path.name if path.name in names else path.stem
            if here in names and below != "." and f"{below}/{{video}}" not in layouts:
                layouts.insert(0, f"{below}/{{video}}")
    return layouts


def _quoted(text: str) -> str:
    """Return a text as YAML has it: bare where nothing in it means anything."""
    bare = re.fullmatch(r"[A-Za-z_][\w.-]*", text) and text.lower() not in _YAML_WORDS
    return text if bare else json.dumps(text, ensure_ascii=False)
