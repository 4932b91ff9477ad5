"""`benchmark.yaml`: a benchmark declared in one file, beside its rows, without any Python.

It becomes the same `BenchmarkSpec` as one declared in Python. The parts of the file are read by
`benchmark_block` (its YAML), `benchmark_kinds` (kinds, scoring and metrics), `benchmark_mapping`
(the rows) and `benchmark_judge`.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any

from reelbench.base import settings
from reelbench.base.containment import contained
from reelbench.base.errors import InputError, cut_in_the_middle
from reelbench.base.files import read_json, read_text
from reelbench.base.values import is_object
from reelbench.registry.benchmark_block import Block, parse
from reelbench.registry.benchmark_headline import primary_first
from reelbench.registry.benchmark_judge import DeclaredJudge, read_judge, title_of
from reelbench.registry.benchmark_keys import REQUIRED
from reelbench.registry.benchmark_kinds import read_row_kinds, read_scoring
from reelbench.registry.benchmark_mapping import (
    declares_hidden_answers,
    prompt_placeholders,
    read_mapping,
)
from reelbench.registry.entry_points import our_room
from reelbench.registry.mapping_words import ANSWERS
from reelbench.registry.row_columns import (
    ALSO,
    ASKED,
    GROUP,
    KIND_COLUMNS,
    OPTION_COUNT,
    OPTIONAL,
)
from reelbench.registry.spec import (
    BenchmarkSpec,
    Column,
    Facet,
    FileNextToDeclaration,
    HubFile,
    ImageFolders,
    MediaSource,
    RowMapping,
    Source,
    SplitSpec,
    TaskSpec,
    UrlFile,
)
from reelbench.registry.splits import expected_files

NAME = "benchmark.yaml"
FORMATS = "submissions"
"""The module beside our own benchmarks that writes a submission to one that a file declares."""

_NAMED_WHERE_STATED = {
    "options_are",
    "absent",
    "answers",
    "line",
    "each",
    "join",
    "kinds",
    "kind_column",
    "group",
    "skip",
    "parts",
    "where",
    "constants",
    "words",
    "drawn",
    "span_from",
    "clip_unit",
    "duration_unit",
}
"""Fields of a mapping that are part of its reader's name only where the file states them."""

_TEXTS = ("summary", "homepage", "organisation", "licence", "licence_note", "citation")
_SHOWN_NAME = 60
LAYOUTS = ("videos/{video}", "{video}")
"""Layouts where a file states none."""
_NUMBERED = r"(?i)(?:.*[^0-9])?([0-9]{1,12})[^0-9]*\.(?:jpe?g|png|webp|bmp)"
"""The name of a numbered picture: its last number counts."""

_VARIABLE = re.compile(r"\$(?:\{(REELBENCH_\w+)\}|(REELBENCH_\w+))(/[^$]*)?")


def declaration_file(path: Path | str) -> Path:
    """Return the file that a path names, itself or the `benchmark.yaml` of a folder.

    Raises:
        InputError: There is none.
    """
    path = settings.with_home_expanded(path)
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        what = f"has no {NAME}" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {what}; `reelbench new NAME --from FILE` writes one")
    return file.absolute()


def read(path: Path | str, *, installed: bool = False) -> BenchmarkSpec:
    """Return the benchmark that a `benchmark.yaml`, or the folder with it, declares.

    Args:
        path: The file or its folder.
        installed: It came with a package of the user's choice, and may name any variable of his.

    Raises:
        InputError: It is wrong. The line is named.
    """
    file = declaration_file(path)
    root = parse(contained(file.parent, file))
    for key in REQUIRED:
        if not root.values.get(key):
            raise root.error(f"{key} is missing; a benchmark needs {', '.join(REQUIRED)}")
    return _Declaration(root, installed=installed).spec()


class _Declaration:
    """The declaration of one benchmark."""

    def __init__(self, root: Block, *, installed: bool) -> None:
        self._root = root
        self._installed = installed
        self._id = root.required_text("id")
        self._folder = root.path.parent
        self._row_kinds = read_row_kinds(root)
        self._facets = root.texts("facets")
        splits = root.block("splits")
        self._split_blocks = {name: splits.block(name) for name in splits.values}
        self._prompt = self._prompt_file()

    def spec(self) -> BenchmarkSpec:
        """Return the benchmark."""
        root = self._root
        mapping = read_mapping(root, self._row_kinds, self._facets, self._prompt_placeholders)
        texts = self._texts_of_spec()
        languages = root.texts("languages") or ("en",)
        columns = self._further_columns(mapping)
        splits = self._read_splits()
        declared_judge = self._read_judge()
        judge = declared_judge.judge if declared_judge else None
        judged_metrics = declared_judge.metrics if declared_judge else ()
        scoring = read_scoring(root, self._row_kinds, mapping, judge, judged_metrics)
        metrics = primary_first(root, scoring.metrics, self._facets)
        column_names = [column.name for column in columns]
        return BenchmarkSpec(
            id=self._id,
            title=" ".join((root.text("title") or "").split()) or title_of(self._id),
            version=int(root.text("version") or "1"),
            **texts,
            languages=languages,
            row_kind=self._row_kinds.definition.rows,
            columns=columns,
            splits=splits,
            default_split=next(iter(splits)),
            file=str(root.path),
            mapping=mapping,
            reader=self._reader_name(mapping, languages, column_names),
            formats=f"{our_room()}.{FORMATS}",
            prompt=str(self._prompt),
            errata=self._errata_file(),
            media=(self._media_sources(),),
            tasks=tuple(self._read_tasks(splits)),
            kinds=scoring.kinds,
            metrics=tuple(metrics),
            facets=self._spec_facets(),
            judge=judge,
        )

    def _prompt_file(self) -> Path:
        name = self._root.text("prompt")
        if name:
            path = self._path_named(self._root, "prompt", name)
        else:
            room = Path(next(iter(import_module(our_room()).__path__)))
            path = room / "prompts" / f"{self._row_kinds.definition.prompt}.txt"
        if not path.is_file():
            shown_name = cut_in_the_middle(name or "", _SHOWN_NAME)
            raise self._root.error(
                f"prompt: {shown_name} is not next to this file; name a file with the prompt",
                "prompt",
            )
        return path

    def _errata_file(self) -> str:
        """Return the file of errata. Empty where there is none."""
        name = self._root.text("errata")
        if not name:
            return ""
        path = self._path_named(self._root, "errata", name)
        if not path.is_file():
            raise self._root.error(f"errata: {name} is not next to this file", "errata")
        return str(path)

    @cached_property
    def _prompt_placeholders(self) -> list[str]:
        """The names of the prompt's places, in order."""
        if self._prompt.suffix == ".json":
            document = read_json(self._prompt)
            languages = {"en", *self._root.texts("languages")}
            if not is_object(document) or languages.isdisjoint(document):
                raise self._root.error(
                    "prompt: a .json prompt needs a text for each language, including `en`",
                    "prompt",
                )
            texts = [text for text in document.values() if isinstance(text, str)]
        else:
            texts = [read_text(self._prompt)]
        placeholders: list[str] = []
        for text in texts:
            placeholders += prompt_placeholders(text)
        return list(dict.fromkeys(placeholders))

    def _texts_of_spec(self) -> dict[str, Any]:
        """Return the texts by the spec's names, each in one line but for BibTeX."""
        texts: dict[str, Any] = {}
        for name in _TEXTS:
            text = self._root.text(name) or ""
            if name != "citation":
                text = " ".join(text.split())
            texts[name.replace("licence", "license")] = text
        return texts

    def _further_columns(self, mapping: RowMapping) -> tuple[Column, ...]:
        """Return the columns beside the kind's: the prompt's places, and optional ones in use."""
        has_texts = self._row_kinds.definition.rows in ("open", "mixed")
        is_made = {
            ASKED.name: self._row_kinds.is_mixed,
            GROUP.name: mapping.group is not None,
            ALSO.name: mapping.answers is not None and has_texts,
        }
        names = list(self._prompt_placeholders)
        for name in OPTIONAL:
            if name in mapping.columns or is_made.get(name):
                names.append(name)
        kind_columns = {column.name for column in KIND_COLUMNS[self._row_kinds.definition.rows]}
        columns: list[Column] = []
        for name in dict.fromkeys(names):
            if name in kind_columns or name in self._facets:
                continue
            column = OPTIONAL.get(name)
            if column is None:
                about = "A column that the prompt names."
                column = Column(name=name, dtype="string", description=about)
            columns.append(column)
        return tuple(columns)

    def _read_splits(self) -> dict[str, SplitSpec]:
        root = self._root
        joined_files = self._joined_files()
        splits: dict[str, SplitSpec] = {}
        for name, block in (self._split_blocks or {"test": root}).items():
            if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name) or name.startswith("mini"):
                raise root.block("splits").error(f"{name!r} can't be the name of a split", name)
            source_owner = block if "source" in block.values else root
            answers_owner = block if "hidden_answers" in block.values else root
            is_secret = declares_hidden_answers(answers_owner)
            # Whoever has the rows has the answers, too, or their owners alone have them.
            has_answers = not ANSWERS.isdisjoint(root.block("columns").values)
            splits[name] = SplitSpec(
                source=self._read_source(source_owner.block("source"), name),
                needed=joined_files,
                answers_kept=is_secret and has_answers,
                hidden_answers=is_secret and not has_answers,
            )
        return splits

    def _joined_files(self) -> tuple[str, ...]:
        """Return the second file's name, which lies beside the first one."""
        join = self._root.block("join")
        source = self._root.block("source")
        files = join.texts("file")
        if files and "file" in source.values and "hub" not in source.values:
            path = Path(source.required_text("file")).parent / files[0]
            self._path_named(join, "file", str(path))
        return files

    def _read_source(self, block: Block, split: str) -> Source:
        if "url" in block.values:
            block.only(("url", "sha256"))
            return UrlFile(url=block.required_text("url"), sha256=block.text("sha256"))
        if "hub" not in block.values:
            block.only(("file", "hub", "url"))
            path = self._path_named(block, "file", block.required_text("file"))
            return FileNextToDeclaration(path=str(path))
        block.only(("hub", "revision", "files", "file"))
        files = block.block("files")
        if "file" not in block.values and split not in files.values:
            raise block.error(f"source.files names no file of the split {split!r}", "files")
        names = files.texts(split) or block.texts("file")
        return HubFile(
            repo_id=block.required_text("hub"), filenames=names, revision=block.text("revision")
        )

    def _read_judge(self) -> DeclaredJudge | None:
        if self._row_kinds.takes_judge:
            return read_judge(self._root.block("judge"), self._path_named)
        if "judge" in self._root.values:
            raise self._root.error(
                f"kind {self._row_kinds.kind} takes no judge; leave it out, or say `kind: open`",
                "judge",
            )
        return None

    def _spec_facets(self) -> tuple[Facet, ...]:
        facets = [Facet(name=name, title=title_of(name)) for name in self._facets]
        if self._row_kinds.is_mixed:
            labels = ("choice", self._row_kinds.in_words)
            facets.append(Facet(name=ASKED.name, title="What is asked for", labels=labels))
        if self._root.text("chance") is not None:
            count_facet = Facet(
                name=OPTION_COUNT,
                title=title_of(OPTION_COUNT),
                in_rows=False,
                made_of=OPTION_COUNT,
            )
            facets.append(count_facet)
        return tuple(facets)

    def _reader_name(
        self, mapping: RowMapping, languages: Sequence[str], column_names: Sequence[str]
    ) -> str:
        """Return the reader's name, which has a hash of all that shapes the rows."""
        shape: list[Any] = [
            self._row_kinds.kind,
            mapping.columns,
            mapping.answer_is,
            mapping.separators,
            self._facets,
            languages,
            column_names,
        ]
        spans_and_options = [mapping.span_unit, mapping.fps, mapping.options_in_question]
        if spans_and_options != ["seconds", "", False]:
            shape.append(spans_and_options)
        fields = asdict(mapping)
        stated_fields = {
            name: fields[name] for name in fields if name in _NAMED_WHERE_STATED and fields[name]
        }
        if stated_fields:
            shape.append(stated_fields)
        return f"mapping:{hashlib.sha256(json.dumps(shape).encode()).hexdigest()}"

    def _media_sources(self) -> MediaSource:
        block = self._root.block("media")
        layouts = block.texts("layouts") or LAYOUTS
        for layout in layouts:
            _check_layout(block, layout)
        roots: list[str] = []
        for root in block.texts("roots"):
            folder = self._media_root(block, root)
            if folder is not None:
                roots.append(folder)
        roots.append(str(self._folder))
        images = _read_frames(block)
        if block.text("youtube") == "true":
            return MediaSource(
                title="YouTube",
                kind="youtube",
                location="https://www.youtube.com/watch?v={video}",
                layouts=layouts,
                roots=tuple(roots),
            )
        return MediaSource(
            title=f"{self._id}'s videos",
            kind="form",
            location="",
            layouts=layouts,
            roots=tuple(roots),
            images=images,
        )

    def _media_root(self, block: Block, root: str) -> str | None:
        """Return a folder of videos. None where its variable is not set.

        A variable is one of our folders: another one's value may be a key, and would be shown.
        """
        if self._installed and root.startswith("$"):
            return root
        if not root.startswith("$"):
            return str(self._path_named(block, "roots", root, media=True))
        variable = _VARIABLE.fullmatch(root)
        folder_names = [setting.name for setting in settings.FOLDERS]
        if variable is not None and ".." not in PurePosixPath(root).parts:
            name = variable[1] or variable[2]
            if name in folder_names:
                value = os.environ.get(name, "").strip()
                if not value:
                    return None
                path = value + (variable[3] or "")
                return str(self._path_named(block, "roots", path, media=True))
        raise block.error(
            f"media.roots: {root!r}: expected a folder, or one below ${', $'.join(folder_names)}",
            "roots",
        )

    def _read_tasks(self, splits: Mapping[str, SplitSpec]) -> Iterator[TaskSpec]:
        """Yield the tasks. The first split's has the benchmark's name by default."""
        split_by_task = self._split_by_task(splits)
        first_task = next(iter(split_by_task))
        for task, split in split_by_task.items():
            twin = self._twin(split)
            yield TaskSpec(name=task, split=split, twin=twin)
            source = splits[split].source
            if self._has_mini_rows(source):
                mini_task = f"{task}_mini"
                mini_split = "mini" if task == first_task else f"mini_{split}"
                yield TaskSpec(name=mini_task, split=mini_split, tags=("reelbench_mini",))

    def _has_mini_rows(self, source: Source) -> bool:
        names = [Path(file).name for file in expected_files(source)]
        return any((self._folder / "mini" / name).is_file() for name in names)

    def _split_by_task(self, splits: Mapping[str, SplitSpec]) -> dict[str, str]:
        """Return the tasks' splits; of several splits the first has a second task, too."""
        first_split = next(iter(splits))
        first_task = self._stated_of_split(first_split, "task") or self._root.text("task")
        first_task = first_task or self._id
        tasks = {first_task: first_split}
        if len(splits) > 1:
            for split in splits:
                task = self._stated_of_split(split, "task") or f"{first_task}_{split}"
                tasks[task] = split
        return tasks

    def _twin(self, split: str) -> str | None:
        twin = self._stated_of_split(split, "twin") or self._root.text("twin")
        return twin.replace("{split}", split) if twin else None

    def _stated_of_split(self, split: str, key: str) -> str | None:
        block = self._split_blocks.get(split)
        return block.text(key) if block is not None else None

    def _path_named(self, block: Block, key: str, name: str, *, media: bool = False) -> Path:
        """Return the file or folder that a key names.

        Raises:
            InputError: It lies neither below this file nor in a folder that the user allows.
        """
        try:
            return contained(
                self._folder, self._folder / settings.with_home_expanded(name), media=media
            )
        except InputError as error:
            raise block.error(f"{key}: {error}", key) from None


def _read_frames(block: Block) -> ImageFolders | None:
    """Read how pictures are numbered. None where videos are files."""
    text = block.text("frames")
    if text is None:
        return None
    if block.text("youtube") == "true":
        raise block.error("media.frames: videos of YouTube are files; leave out one of the two")
    return ImageFolders(number=_NUMBERED, numbers_per_second=float(text), fps=float(text))


def _check_layout(block: Block, layout: str) -> None:
    placeholders = layout.count("{video}") + layout.count("{name}")
    other_signs = set(layout.replace("{video}", "").replace("{name}", ""))
    if placeholders != 1 or not other_signs.isdisjoint("{}"):
        raise block.error(
            f"media.layouts: {layout!r} must name {{video}} once, or {{name}}, and nothing else",
            "layouts",
        )
    if ".." in PurePosixPath(layout).parts or layout.startswith("/"):
        raise block.error(f"media.layouts: {layout!r} leads out of a folder of videos", "layouts")
