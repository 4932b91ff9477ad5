"""The mapping of upstream rows that a `benchmark.yaml` declares."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple, cast

from reelbench.base import bounds
from reelbench.registry.benchmark_block import Block
from reelbench.registry.benchmark_kinds import RowKinds
from reelbench.registry.mapping_words import (
    ANSWERS,
    PLACEHOLDER,
    ROW_NUMBER,
    is_number_text,
    normalised_word,
)
from reelbench.registry.row_columns import (
    ALSO,
    ASKED,
    CLIP,
    DURATION,
    FPS,
    GROUP,
    KIND_COLUMNS,
    OPTION_COUNT,
    OPTIONAL,
    VIDEOS,
)
from reelbench.registry.spec import AnswerSpans, DrawnOptions, Group, Join, RowMapping

_GROUP_RULES = ("all", "quadratic", "chain", "gate")
_ALWAYS = "always"
_COLUMN = "column"
_KINDS_WITH_SPANS = ("span", "grounded_choice")

ColumnMap = dict[str, str | tuple[str, ...]]
"""Our column -> a column of the rows, several, or a template."""


def path_steps(block: Block) -> tuple[str, ...]:
    """Return the steps of `each`."""
    text = block.text("each") or ""
    return tuple(step for step in text.split("/") if step)


def read_join(root: Block) -> Join | None:
    """Read the key `join`. None where it isn't there."""
    block = root.block("join")
    if not block.values:
        return None
    file = block.required_text("file")
    path = PurePosixPath(file)
    columns = block.texts("by")
    if path.is_absolute() or ".." in path.parts or "://" in file:
        raise block.error(
            f"join.file is {file!r}, expected a file beside the first one",
            "file",
        )
    if not columns:
        raise block.error("join.by is missing: columns that name the same row in both files", "by")
    return Join(by=columns, each=path_steps(block))


def declares_hidden_answers(block: Block) -> bool:
    """Return True where a block says `hidden_answers: true`."""
    return block.text("hidden_answers") == "true"


def read_mapping(
    root: Block, row_kinds: RowKinds, facets: Sequence[str], placeholders: Collection[str]
) -> RowMapping:
    """Return the mapping of rows, with every column that the kind needs.

    Args:
        root: The whole file.
        row_kinds: The kinds of its rows.
        facets: Names of its facets.
        placeholders: Names of the places in its prompt.
    """
    kind = row_kinds.kind
    column_words = read_column_words(root.block("columns"))
    columns = _read_columns(root, row_kinds, facets, placeholders, column_words)
    drawn = _read_drawn_options(root, columns)
    separators = root.block("separators")
    separators.only(facets)
    options = root.block("options")
    has_options = kind in ("choice", "grounded_choice", "mixed")
    if options.values and not has_options:
        raise root.error(f"options: a {kind} benchmark has none", "options")
    fps = _read_units(root, row_kinds, columns)
    texts: dict[str, Any] = {}
    if drawn is not None:
        texts["answer_is"] = "text"
    for name in ("answer_is", "answers", "skip", "span_unit", "clip_unit", "duration_unit"):
        text = root.text(name)
        if text is not None:
            texts[name] = text
    return RowMapping(
        columns=columns,
        **texts,
        answer_spans=_read_answer_spans(root, row_kinds),
        separators={name: separators.required_text(name) for name in separators.values},
        fps=fps,
        options_in_question=options.text("in") is not None,
        options_are=options.texts("are"),
        absent=root.texts("absent"),
        line=_read_line(root),
        each=path_steps(root),
        join=read_join(root),
        kinds=dict(row_kinds.by_value),
        kind_column=row_kinds.column,
        group=_read_group(root),
        parts=_read_parts(root),
        where=_read_where(root),
        constants=column_words.constants,
        words=column_words.words,
        drawn=drawn,
        span_from=_read_span_from(root, row_kinds, columns),
    )


class ColumnWords(NamedTuple):
    """The columns that are the same in all rows, or whose words are replaced.

    Attributes:
        sources: Our column -> the column that is read for it.
        constants: Our column -> its text in every row.
        words: Our column -> words of theirs -> ours.
    """

    sources: dict[str, str]
    constants: dict[str, str]
    words: dict[str, dict[str, str]]


def read_column_words(columns: Block) -> ColumnWords:
    """Read the columns whose value is a mapping."""
    column_words = ColumnWords({}, {}, {})
    for name, value in columns.values.items():
        if not isinstance(value, Block):
            continue
        if set(value.values) == {_ALWAYS}:
            column_words.constants[name] = value.required_text(_ALWAYS)
            column_words.sources[name] = ROW_NUMBER
            continue
        words = [word for word in value.values if word != _COLUMN]
        if _COLUMN not in value.values or not words:
            forms = "`{always: TEXT}` or `{column: NAME, WORD: OURS}`"
            raise columns.error(f"columns.{name}: expected {forms}", name)
        column_words.sources[name] = value.required_text(_COLUMN)
        column_words.words[name] = {
            normalised_word(word): value.required_text(word) for word in words
        }
    return column_words


def _add_right_option(options: Block, columns: ColumnMap) -> None:
    """Let the right option be the answer, where options are drawn."""
    right = options.text("right")
    if right is None:
        return
    if "answer" in columns:
        raise options.error("options.right is the answer; leave out columns.answer", "right")
    columns["answer"] = right


def _read_drawn_options(root: Block, columns: ColumnMap) -> DrawnOptions | None:
    """Read the columns of drawn options. None where no options are drawn."""
    options = root.block("options")
    drawn_keys = [key for key in ("right", "wrong", "seed") if key in options.values]
    if not drawn_keys:
        return None
    if "in" in options.values or "are" in options.values or "options" in columns:
        raise options.error(
            "options.right and options.wrong are all options; leave out the others", drawn_keys[0]
        )
    if root.text("answer_is") not in {None, "text"}:
        raise root.error("answer_is: with options.right the answer is a text", "answer_is")
    wrong = options.texts("wrong")
    if not wrong:
        raise options.error("options.wrong is missing: columns of the wrong options", "wrong")
    return DrawnOptions(
        right=options.required_text("right"), wrong=wrong, seed=int(options.text("seed") or 0)
    )


def _read_parts(root: Block) -> dict[str, str]:
    """Read the templates that part a column's text."""
    parts = root.block("parts")
    templates: dict[str, str] = {}
    for name in parts.values:
        template = parts.required_text(name)
        placeholders = PLACEHOLDER.findall(template)
        separators_between = PLACEHOLDER.split(template)[2:-1:2]
        if not placeholders or "" in separators_between:
            raise parts.error(
                f"parts.{name} is {template!r}, expected names in {{…}} with something between "
                "them",
                name,
            )
        templates[name] = template
    return templates


def _read_where(root: Block) -> dict[str, tuple[str, ...]]:
    """Read the words by which rows are picked."""
    where = root.block("where")
    words_by_column: dict[str, tuple[str, ...]] = {}
    for name in where.values:
        words = where.texts(name)
        if not words:
            raise where.error(f"where.{name} has no word; say which rows are asked", name)
        words_by_column[name] = tuple(map(normalised_word, words))
    return words_by_column


def _read_span_from(root: Block, row_kinds: RowKinds, columns: ColumnMap) -> Literal["clip"] | None:
    """Read where spans count from. None for the start of the video."""
    if root.text("span_from") is None:
        return None
    if row_kinds.kind not in _KINDS_WITH_SPANS:
        raise root.error(f"span_from: a {row_kinds.kind} benchmark has no spans", "span_from")
    if CLIP.name not in columns:
        raise root.error("span_from: clip needs columns.clip, the part that is shown", "span_from")
    return "clip"


def _read_columns(
    root: Block,
    row_kinds: RowKinds,
    facets: Sequence[str],
    placeholders: Collection[str],
    column_words: ColumnWords,
) -> ColumnMap:
    block = root.block("columns")
    columns: ColumnMap = {}
    for name, value in block.values.items():
        if not value:
            raise block.error(f"columns.{name} is a column, a list of columns, or a template", name)
        if isinstance(value, Block):
            columns[name] = column_words.sources[name]
            continue
        texts = block.texts(name)
        columns[name] = texts[0] if isinstance(value, str) else texts
    _add_right_option(root.block("options"), columns)
    kind_columns = {column.name for column in KIND_COLUMNS[row_kinds.definition.rows]} - {
        "language"
    }
    _check_facets(root, kind_columns, facets)
    if VIDEOS.name in columns and CLIP.name in columns:
        raise block.error("columns.clip is a part of one video; leave out `videos`", CLIP.name)
    expected = _expected_columns(root, row_kinds, kind_columns, columns)
    needed = set(expected)
    ends: set[str] = set()
    if "span" in expected and "span" not in columns:
        ends = {"start", "end"}
        needed = needed - {"span"} | ends
    if VIDEOS.name in columns:
        needed.discard("video")
    for name in sorted(needed - columns.keys()):
        advice = "; give `span`, or `start` and `end`" if name in ends else ""
        raise block.error(
            f"columns.{name} is missing: a {row_kinds.kind} benchmark needs it{advice}"
        )
    optional = OPTIONAL.keys() - {ASKED.name, GROUP.name, ALSO.name}
    block.only(sorted({*expected, "video", *ends, "language", *optional, *facets, *placeholders}))
    return columns


def _check_facets(root: Block, kind_columns: set[str], facets: Sequence[str]) -> None:
    our_columns = {*kind_columns, "split", OPTION_COUNT, *OPTIONAL} - {CLIP.name}
    for name in facets:
        if name in our_columns:
            raise root.error(
                f"facets: {name!r} is one of Reelbench's columns; rename the facet", "facets"
            )


def _expected_columns(
    root: Block, row_kinds: RowKinds, kind_columns: set[str], columns: Mapping[str, object]
) -> set[str]:
    """Return the kind's columns without those that this file's rows need not have."""
    expected = set(kind_columns)
    no_choice = row_kinds.is_mixed and "choice" not in row_kinds.by_value.values()
    if no_choice or root.values.get("options") is not None:
        expected.discard("options")
    has_answers = bool(ANSWERS & columns.keys())
    if declares_hidden_answers(root) and not has_answers:  # the owners' copy has them
        expected -= ANSWERS
    return expected


def _read_units(root: Block, row_kinds: RowKinds, columns: ColumnMap) -> str:
    """Check the keys of units, and return `fps`.

    Where that names a column, it is added to the columns.
    """
    fps = root.text("fps") or ""
    span_unit = root.text("span_unit")
    units = {"span_unit": span_unit, **_units_of_columns(root, columns)}
    in_frames = [key for key, unit in units.items() if unit == "frames"]
    if (span_unit or (fps and not in_frames)) and row_kinds.kind not in _KINDS_WITH_SPANS:
        key = "span_unit" if span_unit else "fps"
        raise root.error(f"span_unit: a {row_kinds.kind} benchmark has no spans", key)
    if bool(in_frames) != bool(fps):
        key = next(iter(in_frames), "span_unit")
        what = f"{key}: frames needs `fps: NUMBER` or `fps: COLUMN`, and nothing else has it"
        raise root.error(what, key)
    for key, unit in units.items():
        if unit in ("ratio", "percent") and DURATION.name not in columns:
            raise root.error(
                f"{key}: {unit} needs columns.duration, the videos' lengths in seconds", key
            )
    if fps and not is_number_text(fps):  # answers in frames are read by it, too
        columns[FPS.name] = fps
    return fps


def _units_of_columns(root: Block, columns: ColumnMap) -> dict[str, str | None]:
    """Return the units of the part that is shown and of the video's length."""
    units: dict[str, str | None] = {}
    for column in (CLIP.name, DURATION.name):
        key = f"{column}_unit"
        units[key] = root.text(key)
        if units[key] is not None and column not in columns:
            raise root.error(f"{key}: columns.{column} is missing", key)
    return units


def _read_answer_spans(root: Block, row_kinds: RowKinds) -> AnswerSpans:
    """Return the rule for an answer with several spans, which `windows: union` decides itself."""
    word = root.text("answer_spans")
    unites = root.text("windows") == "union"
    if word is None:
        return "union" if unites else "stated"
    if row_kinds.kind not in _KINDS_WITH_SPANS:
        raise root.error(f"answer_spans: a {row_kinds.kind} benchmark has no spans", "answer_spans")
    if unites != (word == "union"):
        raise root.error(
            f"answer_spans: {word} goes with `windows: union` only, and `windows: union` with it",
            "answer_spans",
        )
    return cast("AnswerSpans", word)


def _read_line(root: Block) -> str:
    """Return the template of `line`, whose places have something between them."""
    line = root.text("line") or ""
    placeholders = PLACEHOLDER.findall(line)
    bounds.hold(f"{root.path}: places of line", len(placeholders), bounds.PARTS)
    if not line:
        return ""
    separators_between = PLACEHOLDER.split(line)[2:-1:2]
    if not placeholders or "" in separators_between:
        raise root.error(
            f"line is {line!r}, expected names in {{…}} with something between them", "line"
        )
    return line


def _read_group(root: Block) -> Group | None:
    block = root.block("group")
    if not block.values:
        return None
    column = ""
    rules = {"": block.values.get("rule")}
    if isinstance(rules[""], Block):
        rule_block = block.block("rule")
        column = rule_block.required_text("column")
        names = [name for name in rule_block.values if name != "column"]
        rules = {name: rule_block.text(name) for name in names}
    for rule in rules.values():
        if rule not in _GROUP_RULES:
            raise block.error(
                f"group.rule is {rule!r}, expected {', '.join(_GROUP_RULES)} or a column that says",
                "rule",
            )
    columns = block.texts("by")
    if not columns:
        raise block.error("group.by is missing: columns that name a group", "by")
    levels = block.text("levels") or ""
    return Group(by=columns, rules=rules, column=column, levels=levels)  # type: ignore[arg-type] - checked


def prompt_placeholders(text: str) -> list[str]:
    """Return the names of a prompt's places, in order. Doubled braces are none."""
    bare_text = text.replace("{{", "").replace("}}", "")
    return PLACEHOLDER.findall(bare_text)
