"""`benchmark.yaml`: a benchmark declared in one file, beside its rows, for everything that needs no Python.

It becomes the same `BenchmarkSpec` as one declared in Python. All of the file's values are read as the text that stands
there (`7`, `no` and `1e3` too), so that no id, language or revision changes on the way.
"""

# PyYAML's own types are partial.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from reelbench.registry import bounds, settings
from reelbench.registry.containment import contained
from reelbench.registry.data.mapped_rows import ANSWERS, PLACE, is_number_text
from reelbench.registry.data.sources import expected_files
from reelbench.registry.errors import InputError, cut_in_the_middle
from reelbench.registry.files import read_json, read_text
from reelbench.registry.metrics import Mean, MeanOf, Metric
from reelbench.registry.rows import DURATION, FPS, KIND_COLUMNS
from reelbench.registry.spec import (
    AnswerForm,
    BenchmarkSpec,
    Column,
    Facet,
    FileBeside,
    HubFile,
    JudgeSpec,
    MediaSource,
    RowMapping,
    Source,
    SpanUnit,
    SplitSpec,
    TaskSpec,
    UrlFile,
)
from reelbench.registry.units import UnitName
from reelbench.registry.values import is_array, is_object

NAME = "benchmark.yaml"
ENTRY_POINTS = "reelbench.benchmarks"
FORMATS = "mapped_formats"
"""The module beside our own benchmarks that reads predictions and references of one that a file declares."""

FileKind = Literal["choice", "span", "grounded_choice", "open", "exact"]
KEYS = (
    *("id", "title", "kind", "source", "columns", "answer_is", "facets", "prompt", "judge", "media", "languages"),
    *("licence", "licence_note", "citation", "splits", "task", "twin", "version", "summary", "homepage", "separators"),
    *("organisation", "span_unit", "fps", "options", "hidden_answers"),
)
REQUIRED = ("id", "kind", "source", "columns")


@cache
def our_room() -> str:
    """Return the package that holds our own benchmarks, as their entry points name it."""
    package = __name__.partition(".")[0]
    modules = (entry.module for entry in entry_points(group=ENTRY_POINTS))
    return next(module.rpartition(".")[0] for module in modules if module.partition(".")[0] == package)


_KINDS: dict[str, Any] = json.loads(Path(__file__).with_name("benchmark_kinds.json").read_text("utf-8"))
"""What each kind is scored by, and metric -> title, the column that it is the mean of, and what it measures."""
_ROW_KINDS = {"exact": "open"}  # Kind -> kind of rows, where they are called otherwise

_OPTIONAL = {
    DURATION.name: DURATION,
    FPS.name: FPS,
    "reasoning": Column(name="reasoning", dtype="list<string>", description="Steps that lead to the answer, in order."),
}
"""Columns that rows of any kind may have."""

_DEFAULT_JUDGE = "curve"
_SHOWN_NAME = 60
_LAYOUTS = ("videos/{video}", "{video}")


@dataclass(frozen=True, slots=True)
class Block:
    """A mapping of the file: its values (texts, lists, blocks, None) by key, and the line of each key."""

    path: Path
    name: str
    values: dict[str, Any]
    lines: dict[str, int]
    line: int

    def error(self, what: str, key: str = "") -> InputError:
        """Return the error for a key, or for the whole mapping."""
        return InputError(f"{self.path}, line {self.lines.get(key, self.line)}: {what}")

    def only(self, known: Sequence[str]) -> None:
        """Raise InputError for a key that is not known."""
        for key in self.values:
            if key not in known:
                close = get_close_matches(key, known, n=1)
                advice = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
                raise self.error(f"unknown key {self._full(key)!r}; {advice}", key)

    def _full(self, key: str) -> str:
        return f"{self.name}.{key}" if self.name else key

    def text(self, key: str) -> str | None:
        """Return a key's text, None where it has none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            what = "mapping" if isinstance(value, Block) else "list"
            raise self.error(f"{self._full(key)} is a {what}, expected text", key)
        return value or None

    def required(self, key: str) -> str:
        """Return a key's text; InputError where it has none."""
        if (text := self.text(key)) is None:
            raise self.error(f"{self._full(key)} is missing", key)
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a key's list of texts; a text by itself is a list of one."""
        value = self.values.get(key)
        values: list[Any] = [] if value is None else list(value) if is_array(value) else [value]
        if not all(isinstance(part, str) for part in values):
            raise self.error(f"{self._full(key)} is no list of texts", key)
        return tuple(values)

    def block(self, key: str) -> "Block":
        """Return the mapping under a key; an empty one where there is none."""
        value = self.values.get(key)
        if value is None:
            return Block(self.path, self._full(key), {}, {}, self.lines.get(key, self.line))
        if not isinstance(value, Block):
            raise self.error(f"{self._full(key)} is no mapping; expected `{key}: {{…: …}}`", key)
        return value

    def blocks(self, key: str) -> Iterator[tuple[str, "Block"]]:
        """Yield the mappings of a mapping, by key."""
        outer = self.block(key)
        for name in outer.values:
            yield name, outer.block(name)

    def choice(self, key: str, kind: Any) -> Any:  # noqa: ANN401 - a Literal, and one of its values
        """Return a key's text, which is one of a Literal's; None where it has none."""
        value = self.text(key)
        if value is not None and value not in (known := get_args(kind)):
            raise self.error(f"{self._full(key)} is {value!r}, expected {', '.join(known)}", key)
        return value

    def whole(self, key: str, default: int) -> int:
        """Return a key's whole number."""
        value = self.text(key)
        if value is not None and not re.fullmatch(r"-?\d{1,9}", value):
            raise self.error(f"{self._full(key)} is {value!r}, expected a whole number", key)
        return default if value is None else int(value)


def parse(path: Path) -> Block:
    """Read the YAML of a file as a mapping; InputError names the line of what is wrong."""
    import yaml  # here: 20 ms that only who has such files pays

    from reelbench.registry.yaml_text import LOADER, check

    bounds.hold(f"{path}: bytes", path.stat().st_size if path.is_file() else 0, bounds.SETTINGS_BYTES)
    text = read_text(path)
    try:
        check(text, str(path), "the file", 1)
        root: Any = yaml.compose(text, Loader=LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(f"{path}, line {line}: not valid YAML ({error.problem or error.context})") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML ({str(error).splitlines()[0]})") from None
    if not isinstance(root, yaml.MappingNode):
        raise InputError(f"{path}: expected `key: value` lines; there must be {', '.join(REQUIRED)}")

    def plain(node: Any, name: str) -> Any:  # noqa: ANN401 - PyYAML has no types
        if isinstance(node, yaml.SequenceNode):
            return [plain(part, name) for part in node.value]
        if not isinstance(node, yaml.MappingNode):
            return None if node.tag == "tag:yaml.org,2002:null" else node.value
        values: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise InputError(f"{path}, line {line}: a key is a list or a mapping; expected `key: value`")
            if key.value in values:
                raise InputError(f"{path}, line {line}: the key {key.value!r} occurs twice")
            lines[key.value] = line
            values[key.value] = plain(value, f"{name}.{key.value}" if name else key.value)
        return Block(path, name, values, lines, node.start_mark.line + 1)

    return plain(root, "")


# --- as a spec ------------------------------------------------------------------------------------------------------


def file_of(path: Path | str) -> Path:
    """Return the file that a path names, itself or the `benchmark.yaml` of a folder; InputError without one."""
    path = Path(path).expanduser()
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        what = f"has no {NAME}" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {what}; `reelbench new NAME --from FILE` writes one")
    return file.absolute()


def read(path: Path | str, *, installed: bool = False) -> BenchmarkSpec:
    """Return the benchmark that a `benchmark.yaml`, or the folder with it, declares; InputError names the line.

    One that is `installed` came with a package of the user's choice, and may name any variable of his.
    """
    file = file_of(path)
    top = parse(contained(file.parent, file))
    top.only(KEYS)
    for key in REQUIRED:
        if not top.values.get(key):
            raise top.error(f"{key} is missing; a benchmark needs {', '.join(REQUIRED)}")
    name = top.required("id")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise top.error(f"id is {name!r}; an id is lower-case letters, digits and _, a letter first", "id")
    return _Declaration(top, name, installed=installed).spec()


class _Declaration:
    """What is said of one benchmark."""

    def __init__(self, top: Block, name: str, *, installed: bool) -> None:
        self._top = top
        self._installed = installed
        self._id = name
        self._folder = top.path.parent
        self._kind: FileKind = top.choice("kind", FileKind)
        self._row_kind = _ROW_KINDS.get(self._kind, self._kind)
        self._facets = top.texts("facets")
        if (given := top.text("prompt")) is None:
            self._prompt = Path(next(iter(import_module(our_room()).__path__))) / "prompts" / f"{self._kind}.txt"
        elif not (path := self._own(top, "prompt", given)).is_file():
            shown = cut_in_the_middle(given, _SHOWN_NAME)
            raise top.error(f"prompt: {shown} is not beside this file; name a file with the prompt", "prompt")
        else:
            self._prompt = path

    def spec(self) -> BenchmarkSpec:
        top = self._top
        mapping = self._mapping()
        languages = top.texts("languages") or ("en",)
        # Beside the kind's columns: what the prompt names, and the optional ones that are mapped.
        given = {column.name for column in KIND_COLUMNS[self._row_kind]} | set(self._facets)
        named = [*self._places(), *(name for name in _OPTIONAL if name in mapping.columns)]
        extras = tuple(
            _OPTIONAL.get(name) or Column(name=name, dtype="string", description="A column that the prompt names.")
            for name in dict.fromkeys(named)
            if name not in given
        )
        splits: dict[str, SplitSpec] = {}
        for name, block in top.blocks("splits"):
            if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name) or name.startswith("mini"):
                raise top.block("splits").error(f"{name!r} can't be a split's name", name)
            block.only(("source", "task", "twin", "hidden_answers"))
            owner = block if "source" in block.values else top
            hidden = self._hides(block if "hidden_answers" in block.values else top)
            splits[name] = SplitSpec(source=self._source(owner.block("source"), name), **hidden)
        splits = splits or {"test": SplitSpec(source=self._source(top.block("source"), "test"), **self._hides(top))}
        if self._kind != "open" and "judge" in top.values:
            raise top.error(f"kind {self._kind} takes no judge; leave it out, or say `kind: open`", "judge")
        judge, judged = self._judge() if self._kind == "open" else (None, ())
        metrics = list(judged)
        for name in (scored := _KINDS[self._kind])["metrics"]:
            metric_title, column, about = _KINDS["metrics"][name]
            mean = Mean(column=column, scale=100)
            metrics.append(Metric(name=name, title=metric_title, unit="percent", aggregate=mean, about=about))
        names = [extra.name for extra in extras]
        shape = [self._kind, mapping.columns, mapping.answer_is, mapping.separators, self._facets, languages, names]
        # What a file says with a later key is no other reader for those that don't.
        more = [mapping.span_unit, mapping.fps, mapping.options_in_question]
        shape += [more] if more != ["seconds", "", False] else []
        return BenchmarkSpec(
            id=self._id,
            title=top.text("title") or self._id.replace("_", " ").capitalize(),
            version=top.whole("version", 1),
            summary=top.text("summary") or "",
            homepage=top.text("homepage") or "",
            organisation=top.text("organisation") or "",
            license=top.text("licence") or "",
            license_note=top.text("licence_note") or "",
            citation=top.text("citation") or "",
            languages=languages,
            row_kind=self._row_kind,  # type: ignore[arg-type] - a Literal, from a Literal
            columns=extras,
            splits=splits,
            default_split=next(iter(splits)),
            file=str(top.path),
            mapping=mapping,
            reader=f"mapping:{hashlib.sha256(json.dumps(shape).encode()).hexdigest()}",
            formats=f"{our_room()}.{FORMATS}",
            prompt=str(self._prompt),
            media=(self._media(),),
            tasks=tuple(self._tasks(splits)),
            kinds=tuple(scored["kinds"]),
            metrics=tuple(metrics),
            facets=tuple(Facet(name=name, title=name.replace("_", " ").capitalize()) for name in self._facets),
            judge=judge,
        )

    def _columns(self) -> dict[str, str | tuple[str, ...]]:
        block = self._top.block("columns")
        columns: dict[str, str | tuple[str, ...]] = {}
        for name, value in block.values.items():
            if isinstance(value, Block) or not value:
                raise block.error(f"columns.{name} is a column, a list of columns, or a template", name)
            texts = block.texts(name)
            columns[name] = texts[0] if isinstance(value, str) else texts
        own = {column.name for column in KIND_COLUMNS[self._row_kind]} - {"language"}
        for name in self._facets:
            if name in {*own, "split", *_OPTIONAL}:
                raise self._top.error(f"facets: {name!r} is a column of ours; map a facet of another name", "facets")
        spans = {"start", "end"} if "span" in own and "span" not in columns else set[str]()
        if self._top.values.get("options") is not None:
            own -= {"options"}
        if self._hides(self._top) and not ANSWERS & columns.keys():  # the owners' copy has them
            own, spans = own - ANSWERS, set[str]()
        for name in sorted((own - {"span"} | spans) if spans else own):
            if name not in columns:
                advice = "; give `span`, or `start` and `end`" if name in spans else ""
                raise block.error(f"columns.{name} is missing: a {self._kind} benchmark needs it{advice}")
        block.only(sorted({*own, *spans, "language", *_OPTIONAL, *self._facets, *self._places()}))
        return columns

    def _mapping(self) -> RowMapping:
        """Return how rows are read, with all that the kind needs of columns."""
        top, columns = self._top, self._columns()
        separators, options = top.block("separators"), top.block("options")
        separators.only(self._facets)
        options.only(("in",))
        if options.values and options.text("in") != "question":
            raise options.error(
                "options.in: expected `question`; options of a column of their own are `columns.options`"
            )
        if options.values and not self._kind.endswith("choice"):
            raise top.error(f"options: a {self._kind} benchmark has none", "options")
        unit, fps = top.choice("span_unit", SpanUnit), top.text("fps") or ""
        if (unit or fps) and self._kind not in ("span", "grounded_choice"):
            raise top.error(f"span_unit: a {self._kind} benchmark has no spans", "span_unit" if unit else "fps")
        if (unit == "frames") != bool(fps):
            what = "span_unit: frames needs `fps: NUMBER` or `fps: COLUMN`, and nothing else has it"
            raise top.error(what, "span_unit")
        if unit in ("ratio", "percent") and DURATION.name not in columns:
            raise top.error(f"span_unit: {unit} needs columns.duration, the videos' lengths in seconds", "span_unit")
        if fps and not is_number_text(fps):  # what answers in frames are read by, too
            columns |= {FPS.name: fps}
        return RowMapping(
            columns=columns,
            answer_is=top.choice("answer_is", AnswerForm),
            separators={name: separators.required(name) for name in separators.values},
            span_unit=unit or "seconds",
            fps=fps,
            options_in_question=bool(options.values),
        )

    def _places(self) -> list[str]:
        """Return the names of the prompt's places."""
        if self._prompt.suffix == ".json":
            document = read_json(self._prompt)
            if not is_object(document) or not {"en", *self._top.texts("languages")} & document.keys():
                raise self._top.error("prompt: a .json prompt has a text per language, `en` among them", "prompt")
            texts = [text for text in document.values() if isinstance(text, str)]
        else:
            texts = [read_text(self._prompt)]
        bare = (text.replace("{{", "").replace("}}", "") for text in texts)
        return list(dict.fromkeys(place for text in bare for place in PLACE.findall(text)))

    def _own(self, block: Block, key: str, named: str, *, media: bool = False) -> Path:
        """Return the file or folder that a key names; InputError where it is neither below this file nor allowed."""
        try:
            return contained(self._folder, self._folder / Path(named).expanduser(), media=media)
        except InputError as error:
            raise block.error(f"{key}: {error}", key) from None

    def _hides(self, block: Block) -> dict[str, Any]:
        """Return what `hidden_answers: true` means: kept by whoever has the rows, or with the owners alone."""
        if block.choice("hidden_answers", Literal["true", "false"]) != "true":
            return {}
        here = ANSWERS & self._top.block("columns").values.keys()
        return {"answers_kept" if here else "hidden_answers": True}

    def _source(self, block: Block, split: str) -> Source:
        if "url" in block.values:
            block.only(("url", "sha256"))
            digest = block.text("sha256")
            if digest is not None and not re.fullmatch(r"[0-9a-f]{64}", digest):
                raise block.error(f"source.sha256 is {digest!r}, expected 64 hex digits", "sha256")
            return UrlFile(url=block.required("url"), sha256=digest)
        if "hub" not in block.values:
            block.only(("file", "hub", "url"))
            return FileBeside(path=str(self._own(block, "file", block.required("file"))))
        block.only(("hub", "revision", "files", "file"))
        files = block.block("files")
        if "file" not in block.values and split not in files.values:
            raise block.error(f"source.files names no file of the split {split!r}", "files")
        names = files.texts(split) or block.texts("file")
        revision = block.text("revision")
        if revision is not None and not re.fullmatch(r"[0-9a-f]{40}", revision):
            what = f"source.revision is {revision!r}, expected a commit of 40 hex digits; left out, it is what main is"
            raise block.error(f"{what} at first, and stays that", "revision")
        return HubFile(repo_id=block.required("hub"), filenames=names, revision=revision)

    def _media(self) -> MediaSource:
        block = self._top.block("media")
        block.only(("layouts", "roots", "youtube"))
        layouts = block.texts("layouts") or _LAYOUTS
        for layout in layouts:
            if PLACE.findall(layout) != ["video"]:
                raise block.error(f"media.layouts: {layout!r} must name {{video}} once, and nothing else", "layouts")
            if ".." in PurePosixPath(layout).parts or layout.startswith("/"):
                raise block.error(f"media.layouts: {layout!r} leads out of a folder of videos", "layouts")
        roots: list[str] = []
        secret = {setting.name for setting in settings.ALL if setting.secret}
        for root in block.texts("roots"):
            if not root.startswith("$"):
                roots.append(str(self._own(block, "roots", root, media=True)))
                continue
            # A variable, which the user sets, is one of ours and holds no secret.
            variable = re.fullmatch(r"\$(?:\{(REELBENCH_\w+)\}|(REELBENCH_\w+))(/.*)?", root)
            out = variable is None or {variable[1], variable[2]} & secret or ".." in PurePosixPath(root).parts
            if out and not self._installed:
                what = f"media.roots: {root!r}: expected a folder, or $REELBENCH_… with folders below it"
                raise block.error(what, "roots")
            roots.append(root)
        youtube = block.choice("youtube", Literal["true", "false"]) == "true"
        return MediaSource(
            title="YouTube" if youtube else f"{self._id}'s videos",
            kind="youtube" if youtube else "form",
            location="https://www.youtube.com/watch?v={video}" if youtube else "",
            layouts=layouts,
            roots=(*roots, str(self._folder)),
        )

    def _tasks(self, splits: dict[str, SplitSpec]) -> Iterator[TaskSpec]:
        """Yield the tasks: the first split's has the benchmark's name, unless the split states one of its own."""
        own = dict(self._top.blocks("splits"))
        stated = {name: block.text("task") for name, block in own.items()}
        first = next(iter(splits))
        name = stated.get(first) or self._top.text("task") or self._id
        tasks = {name: first}
        if len(splits) > 1:
            tasks |= {stated[split] or f"{name}_{split}": split for split in splits}
        for task, split in tasks.items():
            twin = (split in own and own[split].text("twin")) or self._top.text("twin")
            yield TaskSpec(name=task, split=split, twin=twin.replace("{split}", split) if twin else None)
            mini = "mini" if task == name else f"mini_{split}"
            files = expected_files(splits[split].source)
            if any((self._folder / "mini" / Path(file).name).is_file() for file in files):
                yield TaskSpec(name=f"{task}_mini", split=mini, tags=("reelbench_mini",))

    def _judge(self) -> tuple[JudgeSpec, tuple[Metric, ...]]:
        """Return the judge, of a folder of prompts or of a benchmark of ours, and the metrics over its marks."""
        block = self._top.block("judge")
        block.only(("prompts", "scale"))
        named = block.text("prompts") or _DEFAULT_JUDGE
        folder = self._folder / named
        if not folder.is_dir():
            owners = [entry.load() for entry in entry_points(group=ENTRY_POINTS, name=named)]
            owner = next((owner for owner in owners if isinstance(owner, BenchmarkSpec)), None)
            if owner is None or owner.judge is None:
                what = f"judge.prompts is {named!r}, expected moviecore, curve, or a folder of prompts"
                raise block.error(what, "prompts")
            if "scale" in block.values:
                raise block.error(f"judge.scale goes with a folder of prompts; {named}'s scale is its own", "scale")
            package, _, own = owner.judge.prompts.rpartition(":")
            judge = replace(owner.judge, prompts=f"{package or owner.package}:{own}")
            return judge, tuple(_plain_means(owner.metrics))
        for file in (folder, *folder.glob("*.txt")):
            self._own(block, "prompts", str(file))
        criteria = tuple(sorted(file.stem for file in folder.glob("*.txt") if file.stem != "user"))
        if not criteria or not (folder / "user.txt").is_file():
            raise block.error(f"{folder}: expected user.txt, and one <criterion>.txt for each criterion", "prompts")
        scale = block.texts("scale")
        numbers = all(re.fullmatch(r"\d{1,4}", end) for end in scale)
        if len(scale) != 2 or not numbers or int(scale[0]) >= int(scale[1]):  # noqa: PLR2004
            raise block.error("judge.scale is the lowest and the highest mark, such as [0, 5]", "scale")
        low, high = map(int, scale)
        unit, factor = (_POINTS[low, high], 1.0) if (low, high) in _POINTS else ("percent", 100 / high)
        about = f"A judge's marks, {low} to {high}{', as a share of the highest' * (unit == 'percent')}."
        titles = {name: name.replace("_", " ").capitalize() for name in criteria}
        metrics = [
            Metric(
                name=name, title=title, unit=unit, aggregate=Mean(column=name, scale=factor), judged=True, about=about
            )
            for name, title in titles.items()
        ]
        if len(criteria) > 1:
            mean, about = MeanOf(metrics=criteria), f"Mean of the {len(criteria)} criteria that a judge scores."
            metrics.insert(
                0, Metric(name="average", title="Average", unit=unit, aggregate=mean, judged=True, about=about)
            )
        judge = JudgeSpec(criteria=criteria, low=low, high=high, default_model="", prompts=str(folder))
        return judge, tuple(metrics)


_POINTS: dict[tuple[int, int], UnitName] = {(0, 5): "points_0_5", (0, 2): "points_0_2"}


def _plain_means(metrics: Sequence[Metric]) -> Iterator[Metric]:
    """Yield a benchmark's judged metrics as they are over any questions: each column's mean, and means of these."""
    columns: dict[str, Metric] = {}
    for metric in metrics:
        if metric.judged and isinstance(metric.aggregate, Mean):
            columns.setdefault(metric.aggregate.column, metric)
    names = {metric.name for metric in columns.values()}
    means = [metric for metric in metrics if metric.judged and isinstance(metric.aggregate, MeanOf)]
    for metric in (*means, *columns.values()):
        how = metric.aggregate
        if isinstance(how, MeanOf) and not names >= set(how.metrics):
            continue
        yield replace(
            metric,
            title=metric.title.partition(" (")[0],
            aggregate=Mean(column=how.column, scale=how.scale) if isinstance(how, Mean) else how,
            in_breakdowns=True,
            cite="",
            about=f"{metric.about.partition('. ')[0].rstrip('.')}.",
        )
