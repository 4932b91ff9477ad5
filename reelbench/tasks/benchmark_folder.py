"""Write a new benchmark's folder.

It holds the rows, the `benchmark.yaml` that declares them, a README, and a datasheet to fill in.
"""

import json
import re
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from reelbench.base import tables
from reelbench.base.containment import allow_outside_folder
from reelbench.base.errors import InputError, cut_in_the_middle, first_of, number_of
from reelbench.base.files import LONGEST_NAME, replacing_folder, write_text
from reelbench.base.progress import Show, no_show
from reelbench.base.values import is_array, is_object
from reelbench.data import file_patterns, row_cells, row_tables
from reelbench.registry import benchmark_block, benchmark_file, benchmark_mapping, datasheet_form
from reelbench.registry.benchmark_block import Block
from reelbench.registry.benchmark_keys import KEYS
from reelbench.registry.benchmark_kinds import FileKind
from reelbench.registry.mapping_words import PLACEHOLDER, is_mapping_of_words
from reelbench.registry.spec import AnswerFormat, BenchmarkSpec, SpanUnit
from reelbench.tasks.answer_orders import lines_of_orders
from reelbench.tasks.column_guess import OPTIONS_SEEN, Guess, guess
from reelbench.tasks.table_columns import Column
from reelbench.video.file_match import FileMatch
from reelbench.video.folder_layouts import FolderLayouts, VideoFolder
from reelbench.video.folder_listings import FolderListings

STEPS = 4
"""Steps of making a folder, which are shown."""
_YAML_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off"})
_SHOWN_NAME = 40
_MOST_UNUSED = 12
_MOST_NAMES = 100
"""Names of videos that are looked for on the disk."""

_ROW_EXAMPLE = (
    '; one row per question is needed: {"video": "a.mp4", "question": "Who comes in?", '
    '"answer": "A guest."}; in nested JSON, --set \'each={film}/qa/{n}\' is the path to its rows: '
    "{…} is any key or position"
)

Cells = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NewBenchmark:
    """A request for a benchmark: its id and its file of rows.

    The rest is what the user says of the rows. `columns` are ours -> theirs; `media` is the folder
    with the videos, if there is one; `keys` are further keys of the file; the columns `without` are
    left unused, whatever they hold; `sheet` is the one that is meant of a workbook with several.
    """

    name: str
    rows: Path
    kind: FileKind | None = None
    media: Path | None = None
    columns: Mapping[str, Column] = field(default_factory=dict[str, Column])
    answer_is: AnswerFormat | None = None
    span_unit: SpanUnit | None = None
    fps: str = ""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    without: Sequence[str] = ()
    sheet: str = ""

    def further_lines(self) -> list[str]:
        """Return the lines of the further keys, as the file has them."""
        lines: list[str] = []
        for name, text in self.keys.items():
            key = KEYS.get(name)
            is_free_text = key is not None and key.form in ("text", "task") and not key.words
            value = json.dumps(text) if is_free_text else text
            lines.append(f"{name}: {value}")
        return lines


class NewFolder(NamedTuple):
    """The declaration in a new folder, and the guess behind it."""

    spec: BenchmarkSpec
    guess: Guess


class _Source(NamedTuple):
    """The files of the rows, and each readable row with its place."""

    files: list[Path]
    rows: list[tuple[str, Cells]]
    kept_below: Path | None = None
    """Where several files keep their names: the folder that these count from."""


def make(request: NewBenchmark, folder: Path, show: Show = no_show) -> NewFolder:
    """Write a benchmark's folder from a file of rows.

    Args:
        request: The benchmark.
        folder: Its folder, which is made.
        show: Shows how many of the `STEPS` are done.

    Raises:
        InputError: The id can't be one, the folder is there already, the rows can't be read, or
            something about them can't be guessed. Nothing is written then.
    """
    _check_request(request, folder)
    keys = _parsed_keys(request)
    show(0, "reading the rows")
    source = _read_source(request, keys)
    rows = [row for _, row in source.rows]
    if not rows:
        raise InputError(f"{request.rows}: no rows; expected at least one question")
    folder_of_videos = VideoFolder(request.media) if request.media else None
    beside = _beside_rows(request, keys)
    show(1, "guessing columns")
    without = _columns_without(request, [*rows, beside.values])
    _refuse_orders(request, rows, without)
    result = guess(
        rows, request.kind, columns=request.columns, media=folder_of_videos, without=without
    )
    _account_for_keys(request, result, beside, rows)
    _count_as_used(keys, result)
    if _draws_options(keys):
        result.columns.pop("answer", None)
        result.answer_is = None
    _refuse_doubts(request, keys, result, rows[0])
    result.answer_is = request.answer_is or result.answer_is
    video = result.columns.get("video", ())
    if isinstance(video, str) and "{" not in video:
        _refuse_long_names(source, video)
    _refuse_double_ids(request, source, result)
    show(2, "looking for videos")
    videos = _videos_of(source, result)
    layouts: FolderLayouts | None = None
    media = request.media
    if folder_of_videos is None:
        media = _folder_beside(request.rows.absolute().parent, videos)
    else:
        layouts = folder_of_videos.layouts(videos)
        result.videos_found = layouts.found
        if layouts.note is not None:
            why = result.why.get("video", "as you say")
            result.why["video"] = f"{why}; {layouts.note}"
    show(3, "writing")
    with _removed_on_failure(folder):
        _write_folder(request, result, source, layouts, folder)
        if media:
            allow_outside_folder(folder, media)
        return NewFolder(benchmark_file.read(folder), result)


@contextmanager
def _removed_on_failure(folder: Path) -> Generator[None]:
    """Remove a new folder if what is done with it fails.

    It is read in its own place: what it may read is kept by its path.
    """
    with ExitStack() as after_failure:
        after_failure.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            yield
        except InputError as error:
            raise InputError(f"{error}; nothing was written") from None
        after_failure.pop_all()


def _refuse_orders(request: NewBenchmark, rows: Sequence[Cells], without: Sequence[str]) -> None:
    """Raise InputError for columns of orders that the user does not name."""
    named_columns: set[str] = set(without)
    for column in request.columns.values():
        for name in _column_list(column):
            top_column, _, _ = name.partition(".")
            named_columns.add(top_column)
    lines = list(lines_of_orders(rows, frozenset(named_columns)))
    if lines:
        shown_lines = "; ".join(lines)
        raise InputError(f"{request.rows}: {shown_lines} (--without COLUMN leaves one unused)")


def _columns_without(request: NewBenchmark, rows: Sequence[Cells]) -> list[str]:
    """Return the columns that are left unused.

    Raises:
        InputError: The table has no such column.
    """
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    columns: list[str] = []
    for text in request.without:
        parts = [text] if text in names else text.split(",")
        for part in parts:
            if part.partition(".")[0] not in names and part not in names:
                raise InputError(
                    f"{request.rows}: has no column {part!r} (--without); it has "
                    f"{first_of(list(names), 12)}"
                )
            columns.append(part)
    return columns


def _beside_rows(request: NewBenchmark, keys: Block) -> tables.Beside:
    """Return the values beside a JSON document's rows that are not joined to them."""
    if "line" in keys.values:
        return tables.Beside("", {})
    if not keys.values.keys() & {"each", "join"}:
        return tables.beside_rows(request.rows)
    steps = benchmark_mapping.path_steps(keys)
    rows_key = steps[0] if steps else ""
    beside = tables.beside_rows(request.rows, rows_key)
    join = benchmark_mapping.read_join(keys)
    values = dict(beside.values)
    if join and join.each and keys.block("join").text("file") == request.rows.name:
        values.pop(join.each[0], None)
    return tables.Beside(beside.rows_key, values)


def _account_for_keys(
    request: NewBenchmark, result: Guess, beside: tables.Beside, rows: Sequence[Cells]
) -> None:
    """Add the values beside a JSON document's rows to the unused ones."""
    for name, value in beside.values.items():
        result.unused[name] = f"beside {beside.rows_key!r}"
        if name in request.without or not _concerns_rows(value, rows):
            continue
        each = f"{name}/{{COLUMN}}" if is_object(value) else name
        result.beside[name] = (
            f"{name!r} is next to {beside.rows_key!r}, and nothing uses it: "
            f"--set each={beside.rows_key} --set 'join={{file: {request.rows.name}, by: COLUMN, "
            f'each: "{each}"}}\' adds it to the rows with the same COLUMN'
        )


def _count_as_used(keys: Block, result: Guess) -> None:
    """Take columns that the keys of `--set` name off the unused ones."""
    for name in set(_names_in(keys)) & result.unused.keys():
        del result.unused[name]
        result.unread.pop(name, None)
    if "span_from" in keys.values:
        for name in ("span", "start"):
            for column in _column_list(result.columns.get(name, ())):
                result.unread.pop(column, None)


def _names_in(value: object) -> Iterator[str]:
    """Yield the names that the value of a key may have for columns."""
    if isinstance(value, str):
        yield value
        yield from PLACEHOLDER.findall(value)
    elif isinstance(value, Block):
        for key, part in value.values.items():
            if value.key_path(key) not in KEYS:  # of such a mapping the keys are names, too
                yield key
            yield from _names_in(part)
    elif is_array(value):
        for part in value:
            yield from _names_in(part)


def _concerns_rows(value: object, rows: Sequence[Cells]) -> bool:
    """Return True for a further table, or an object by texts of the rows."""
    if not is_object(value) or tables.is_further_table(value):
        return tables.is_further_table(value)
    for row in rows:
        if any(isinstance(cell, str) and cell in value for cell in row.values()):
            return True
    return False


def refuse_existing_folder(folder: Path) -> None:
    """Raise InputError where a new benchmark would take the place of something."""
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(
            f"the folder {folder} exists: edit it, or remove it, or choose another with --out"
        )
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; choose a folder with --out")


def _check_request(request: NewBenchmark, folder: Path) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", request.name):
        raise InputError(
            f"{request.name}: an id is lower-case letters, digits and _, beginning with a letter"
        )
    refuse_existing_folder(folder)
    if file_patterns.is_pattern(request.rows.name) and not request.rows.exists():
        _refuse_pattern(request.rows)
    if request.media is not None and not request.media.is_dir():
        raise InputError(f"{request.media}: no such folder of videos")


def _refuse_pattern(rows: Path) -> None:
    """Raise InputError for a name of several files: the key `source` takes it."""
    files = file_patterns.matching_files(rows.parent, rows.name)
    if files:
        raise InputError(
            f"{rows}: stands for {number_of(len(files), 'file')}; --from {files[0]} "
            f"--set 'source={{file: \"{rows.name}\"}}' reads all, and the column `file` has "
            "their names"
        )


def _refuse_long_names(source: _Source, video: str) -> None:
    """Raise InputError for a row whose video can't be a file's name."""
    for where, row in source.rows:
        name = str(row.get(video))
        longest_part = max(len(part.encode(errors="replace")) for part in name.split("/"))
        if longest_part > LONGEST_NAME:
            shortened = cut_in_the_middle(name, _SHOWN_NAME)
            raise InputError(
                f"{where}: {video} is taken for the video, and {shortened!r} can't be a file's "
                f"name ({LONGEST_NAME} bytes at most); name another column with "
                "--column video=COLUMN, or shorten it"
            )


def _refuse_double_ids(request: NewBenchmark, source: _Source, result: Guess) -> None:
    """Raise InputError where several rows have one id. The message lists the ids and rows."""
    column = result.columns.get("id")
    if not isinstance(column, str) or column == f"{{{row_cells.ROW}}}":
        return
    rows_of_id: dict[str, list[str]] = {}
    for number, (where, cells) in enumerate(source.rows, start=1):
        with suppress(InputError):  # told with the row
            value = row_cells.fill_template({row_cells.ROW: number, **cells}, column, where)
            name = tables.as_text(value, where)
            if name:
                rows_of_id.setdefault(name.strip(), []).append(str(number))
    double_ids: list[str] = []
    for name, numbers in rows_of_id.items():
        if len(numbers) > 1:
            double_ids.append(f"{name!r} (rows {first_of(numbers)})")
    if double_ids:
        raise InputError(
            f"{request.rows}: {column} is taken for the id, and several rows share one: "
            f"{first_of(double_ids)}; keep one row of each, or name other columns with "
            "--column id=COLUMN or --column 'id={a}-{b}' ('id={row}': the row's number)"
        )


def _write_folder(
    request: NewBenchmark,
    result: Guess,
    source: _Source,
    layouts: FolderLayouts | None,
    folder: Path,
) -> None:
    rows_file = f"rows{request.rows.suffix.lower() or '.jsonl'}"
    if request.sheet:
        rows_file = "rows.jsonl"
    names = _names_of_copies(source, rows_file)
    readme = Path(__file__).with_name("benchmark_readme.md").read_text(encoding="utf-8")
    categories = ["video-text-to-text"]
    if result.kind.endswith("choice"):
        categories.append("multiple-choice")
    with replacing_folder(folder) as new_folder:
        if request.sheet:
            lines = [json.dumps(row, ensure_ascii=False, default=str) for _, row in source.rows]
            write_text(new_folder / rows_file, "\n".join([*lines, ""]))
        else:
            _copy_files(source, names, new_folder)
        write_text(
            new_folder / benchmark_file.NAME, _benchmark_yaml(request, result, rows_file, layouts)
        )
        write_text(
            new_folder / "README.md",
            readme.format(name=request.name, file=benchmark_file.NAME, copied=first_of(names)),
        )
        sheet = datasheet_form.as_text({}, categories=categories, creators=["other"])
        write_text(new_folder / datasheet_form.FILE, sheet)


def _names_of_copies(source: _Source, rows_file: str) -> list[str]:
    """Return the names that the copies of a source's files get."""
    if source.kept_below is not None:
        return [file.relative_to(source.kept_below).as_posix() for file in source.files]
    return [rows_file, *(file.name for file in source.files[1:])]


def _copy_files(source: _Source, names: Sequence[str], folder: Path) -> None:
    for file, name in zip(source.files, names, strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / name)


def _videos_of(source: _Source, result: Guess) -> list[str]:
    """Return the distinct videos that the rows name, as they name them."""
    videos: dict[str, None] = {}
    for where, cells in source.rows:
        for name in ("video", "videos"):
            with suppress(InputError):  # told with the row
                for column in _column_list(result.columns.get(name, ())):
                    value = row_cells.fill_template(cells, column, where)
                    texts = row_cells.cell_texts(row_cells.parse_literal(value), where)
                    videos.update(dict.fromkeys(text.strip() for text in texts))
    return list(videos)


def _column_list(column: Column) -> Sequence[str]:
    return [column] if isinstance(column, str) else column


def _folder_beside(folder: Path, videos: Sequence[str]) -> Path | None:
    """Return the folder of the rows where videos lie in it, or in `videos` there."""
    match = FileMatch([folder], benchmark_file.LAYOUTS, FolderListings())
    for video in videos[:_MOST_NAMES]:
        with suppress(InputError):  # no file's name
            if match.find(video) is not None:
                return folder
    return None


def _refuse_doubts(request: NewBenchmark, keys: Block, result: Guess, row: Cells) -> None:
    """Raise InputError for all that could not be guessed, or that a guess would drop."""
    faults = _lines_of_drops(request, result)
    faults += _lines_of_lacks(request, keys, result, row)
    if result.units and request.span_unit is None:
        faults.append(
            f"{'; '.join(result.units)}: say what the spans are counted in with "
            "--span-unit seconds|milliseconds|minutes|frames|ratio|percent|clock (frames: and "
            "--fps NUMBER or --fps COLUMN)"
        )
    if result.several_windows and "windows" not in keys.values:
        faults.append(result.several_windows)
    if not faults:
        return
    example = "" if "question" in result.columns else _ROW_EXAMPLE
    hint = "" if request.kind else " (--kind names another)"
    raise InputError(
        f"{request.rows}: taken for `{result.kind}`{hint}; {'; '.join(faults)}"
        f"{_unused_otherwise(result)}{example}"
    )


def _unused_otherwise(result: Guess) -> str:
    """Return a note on the unused columns that have no line of their own."""
    columns: list[str] = []
    for name, content in result.unused.items():
        if name not in result.unread and name not in result.beside:
            columns.append(f"{name} ({content})")
    return f"; not used either: {first_of(columns, _MOST_UNUSED)}" if columns else ""


def _lines_of_drops(request: NewBenchmark, result: Guess) -> list[str]:
    """Return the lines on columns whose content would be dropped, and how to leave it."""
    each = f"--set each={tables.outer_steps(request.rows)}" if result.unread else ""
    lines = [line.replace("--set each=", each) for line in result.unread.values()]
    lines += result.beside.values()
    if not lines:
        return []
    drops = "; ".join(dict.fromkeys(lines))
    return [f"columns that no key uses yet: {drops} (--without COLUMN leaves one unused)"]


def _lines_of_lacks(request: NewBenchmark, keys: Block, result: Guess, row: Cells) -> list[str]:
    """Return the lines on columns that are lacking, and on the ones that there are."""
    lines = [line for line in result.missing_columns if not _is_answered(request, keys, line)]
    if not lines:
        return []
    return [
        *lines,
        f"name it with --column OURS=THEIRS; the columns are {', '.join(row)}",
    ]


def _is_answered(request: NewBenchmark, keys: Block, line: str) -> bool:
    """Return True where the user says what a line of a guess finds lacking."""
    if "--answer-is" in line:
        return request.answer_is is not None
    if "no column looks like the options" in line:
        return "options" in keys.values
    if "no column looks like the answer" in line:
        return "hidden_answers" in keys.values or _draws_options(keys)
    return False


def _draws_options(keys: Block) -> bool:
    """Return True where `--set options` names the right option's column, which is the answer."""
    return "right" in keys.block("options").values


def _read_source(request: NewBenchmark, keys: Block) -> _Source:
    """Return the rows of the file, and of the file that is joined to it.

    Raises:
        InputError: None of the rows can be read.
    """
    if request.rows.suffix.lower() == ".txt" and "line" not in keys.values:
        raise InputError(
            f"{request.rows}: of lines of text say how they are separated: "
            "--set 'line={clip} {start}##{words}'"
        )
    pattern = _pattern_of_source(keys)
    if not pattern and not keys.values.keys() & {"each", "line", "join"}:
        entries = tables.read(request.rows, sheet_name=request.sheet)
        return _Source([request.rows], list(entries))
    if request.sheet:
        raise InputError(
            f"--sheet {request.sheet}: a sheet's rows take no each, line, join or further files"
        )
    return _read_by_keys(request.rows, keys, pattern)


def _pattern_of_source(keys: Block) -> str:
    """Return the pattern of files that the key `source` names, if any."""
    source = keys.block("source")
    names = source.texts("file")
    if "hub" in source.values or len(names) != 1 or not file_patterns.is_pattern(names[0]):
        return ""
    return names[0]


def _read_by_keys(rows_file: Path, keys: Block, pattern: str) -> _Source:
    """Return the rows that the keys `each`, `line`, `join` and `source` make of the files.

    A row that can't be read is told by `check`.
    """
    files = [rows_file]
    folder = rows_file.parent
    if pattern:
        files = list(file_patterns.matching_files(folder, pattern))
        if rows_file not in files:
            raise InputError(f"source.file: {pattern} is to match {rows_file.name}, too")
    join = benchmark_mapping.read_join(keys)
    if join:
        files.append(folder / keys.block("join").required_text("file"))
    steps = benchmark_mapping.path_steps(keys)
    line = keys.text("line") or ""
    entries = row_tables.table(files, steps, line, join, names_files=bool(pattern))
    rows: list[tuple[str, Cells]] = []
    faults: list[InputError] = []
    for where, cells in entries:
        if isinstance(cells, InputError):
            faults.append(cells)
        else:
            rows.append((where, cells))
    if faults and not rows:
        raise faults[0]
    if pattern:
        return _Source(files, rows, kept_below=folder)
    return _Source(files, rows)


def _parsed_keys(request: NewBenchmark) -> Block:
    """Return the further keys of the request, as its file will have them."""
    place = Path("the keys of --set")
    if not request.keys:
        return Block(place, "", {}, {}, 1)
    return benchmark_block.parse_text("\n".join(request.further_lines()), place)


def _benchmark_yaml(
    request: NewBenchmark,
    result: Guess,
    rows_file: str,
    layouts: FolderLayouts | None,
) -> str:
    """Return the file's text. Its comments say what was guessed."""
    title = request.name.replace("_", " ").capitalize()
    kind_line = f"kind: {result.kind}"
    if request.kind is None:
        kind_line += "  # guessed from the columns"
    lines = [
        f"id: {request.name}",
        f"title: {_yaml_text(title)}",
        kind_line,
        f"source: {{file: {rows_file}}}",
    ]
    lines += _lines_of_columns(request, result)
    if result.answer_is:
        line = f"answer_is: {result.answer_is}"
        if request.answer_is is None:
            line += "  # guessed: what the rows fit"
        lines.append(line)
    if result.options and "options" not in request.keys:
        lines.append(f"options: {result.options}  # guessed: {OPTIONS_SEEN[result.options]}")
    if request.span_unit:
        lines.append(f"span_unit: {request.span_unit}")
    if request.fps:
        lines.append(f"fps: {_yaml_text(request.fps)}")
    if result.facets:
        facets = _yaml_list(result.facets)
        lines.append(f"facets: {facets}  # guessed: usual names, with few labels")
    if result.kind == "open":
        lines.append(
            "judge: {prompts: curve}  # 0 to 2; or moviecore (five dimensions), "
            "or a folder of prompts"
        )
    if layouts is not None:
        lines.append(f"media: {{layouts: {_yaml_list(layouts.layouts)}}}")
    lines += [
        "languages: [en]",
        "# licence: cc-by-4.0",
        "# citation: who to cite, as BibTeX or in words",
    ]
    # A key that the user states has a line of its own.
    lines = [line for line in lines if line.partition(":")[0] not in request.keys]
    return "\n".join([*lines, *request.further_lines(), ""])


def _lines_of_columns(request: NewBenchmark, result: Guess) -> list[str]:
    """Return the key `columns`, with a comment at each that was guessed."""
    lines = ["columns:  # ours: theirs"]
    for name, column in result.columns.items():
        line = f"  {name}: {_column_in_yaml(column)}"
        if name not in request.columns:
            reason = result.why.get(name, "name")
            line += f"  # guessed: {reason}"
        lines.append(line)
    return lines


def _yaml_list(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_yaml_text, texts))}]"


def _column_in_yaml(column: Column) -> str:
    """Return a column in YAML, a mapping of words as typed."""
    if not isinstance(column, str):
        return _yaml_list(column)
    return column if is_mapping_of_words(column) else _yaml_text(column)


def _yaml_text(text: str) -> str:
    """Return a text as YAML has it, bare where nothing in it has a meaning."""
    is_bare = re.fullmatch(r"[A-Za-z_][\w.-]*", text) and text.lower() not in _YAML_WORDS
    return text if is_bare else json.dumps(text, ensure_ascii=False)
