"""`benchmark.yaml`: a benchmark declared in one file, beside its rows, for everything that needs no Python.

It becomes the same `BenchmarkSpec` as one declared in Python. All of the file's values are read as
the text that stands there (`7`, `no` and `1e3` too), so that no id, language or revision changes on
the way.
"""

# PyYAML's own types are partial.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path, PurePosixPath
from typing import Any, Literal, NamedTuple, get_args

from reelbench.base import bounds, settings
from reelbench.base.containment import contained
from reelbench.base.errors import InputError, cut_in_the_middle
from reelbench.base.files import read_json, read_text
from reelbench.base.values import is_array, is_object
from reelbench.registry.mapping_words import ANSWERS, PLACE, is_number_text
from reelbench.registry.metrics import Grouped, Mean, MeanOf, Metric, UnitName
from reelbench.registry.rows import (
    ALSO,
    ASKED,
    CLIP,
    DURATION,
    FPS,
    GROUP,
    KIND_COLUMNS,
    OPTIONAL,
    VIDEOS,
)
from reelbench.registry.spec import (
    COLUMNS,
    BenchmarkSpec,
    Column,
    Facet,
    FileBeside,
    Group,
    HubFile,
    Join,
    JudgeSpec,
    MediaSource,
    RowMapping,
    Source,
    SplitSpec,
    TaskSpec,
    UrlFile,
)
from reelbench.registry.splits import expected_files

NAME = "benchmark.yaml"
ENTRY_POINTS = "reelbench.benchmarks"
FORMATS = "submissions"
"""The module beside our own benchmarks that writes a submission to one that a file declares."""

FileKind = Literal["choice", "span", "grounded_choice", "open", "exact"]
REQUIRED = ("id", "kind", "source", "columns")


class Key(NamedTuple):
    """A key of the file, by its path: what stands behind it, what it means, an example, and the words it may be."""

    form: str
    about: str
    example: str
    words: tuple[str, ...]


KEYS: dict[str, Key] = {
    path: Key(form, about, example, tuple(words))
    for path, (form, about, example, *words) in json.loads(
        Path(__file__).with_name("benchmark_keys.json").read_text("utf-8")
    ).items()
}
"""All that a `benchmark.yaml` may say: parsing, the reference in the recipe and the schema are made from it."""

FORMS: dict[str, list[str]] = json.loads(
    Path(__file__).with_name("benchmark_forms.json").read_text("utf-8")
)
"""Form of a key -> the pattern of its text, and what that is in words."""


@cache
def benchmark_entries() -> EntryPoints:
    """Return the entry points of all benchmarks; to look for them is to read the metadata of every package, so once."""
    return entry_points(group=ENTRY_POINTS)


@cache
def our_room() -> str:
    """Return the package that holds our own benchmarks, as their entry points name it."""
    package = __name__.partition(".")[0]
    modules = (entry.module for entry in benchmark_entries())
    return next(
        module.rpartition(".")[0] for module in modules if module.partition(".")[0] == package
    )


_KINDS: dict[str, Any] = json.loads(
    Path(__file__).with_name("benchmark_kinds.json").read_text("utf-8")
)
"""Of each kind what it is scored by, and its rows and its prompt where they are called otherwise (of mixed rows without
options the prompt is that of `exact`); metric -> title, the column that it is the mean of, and what it measures."""
_LATER = {
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
}
"""What of a mapping is part of its reader's name only where it is said."""
_TEXTS = ("summary", "homepage", "organisation", "licence", "licence_note", "citation")
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
                raise self.error(f"unknown key {self.full(key)!r}; {advice}", key)

    def full(self, key: str) -> str:
        """Return a key's path in the file."""
        return f"{self.name}.{key}" if self.name else key

    def key_path(self, key: str) -> str:
        """Return a key's path in `KEYS`, where each split is called `*`."""
        return re.sub(r"^splits\.[^.]+", "splits.*", self.full(key))

    def text(self, key: str) -> str | None:
        """Return a key's text, in the form and of the words that `KEYS` says; None where it has none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            what = "mapping" if isinstance(value, Block) else "list"
            raise self.error(f"{self.full(key)} is a {what}, expected text", key)
        if value and (known := KEYS.get(self.key_path(key))):
            pattern, expected = FORMS.get(known.form, (".*", ""))
            if not re.fullmatch(pattern, value, re.DOTALL) or (
                known.words and value not in known.words
            ):
                raise self.error(
                    f"{self.full(key)} is {value!r}, expected {expected or ', '.join(known.words)}",
                    key,
                )
        return value or None

    def required_text(self, key: str) -> str:
        """Return a key's text; InputError where it has none."""
        if (text := self.text(key)) is None:
            raise self.error(f"{self.full(key)} is missing", key)
        return text

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a key's list of texts; a text by itself is a list of one."""
        value = self.values.get(key)
        values: list[Any] = [] if value is None else list(value) if is_array(value) else [value]
        if not all(isinstance(part, str) for part in values):
            raise self.error(f"{self.full(key)} is no list of texts", key)
        return tuple(values)

    def block(self, key: str) -> "Block":
        """Return the mapping under a key; an empty one where there is none."""
        value = self.values.get(key)
        if value is None:
            return Block(self.path, self.full(key), {}, {}, self.lines.get(key, self.line))
        if not isinstance(value, Block):
            raise self.error(f"{self.full(key)} is no mapping; expected `{key}: {{…: …}}`", key)
        return value


def parse(path: Path) -> Block:
    """Read the YAML of a file as a mapping; InputError names the line of what is wrong."""
    import yaml  # here: 20 ms that only who has such files pays

    from reelbench.base.yaml_text import LOADER, check

    bounds.hold(
        f"{path}: bytes", path.stat().st_size if path.is_file() else 0, bounds.SETTINGS_BYTES
    )
    text = read_text(path)
    try:
        check(text, str(path), "the file", 1)
        root: Any = yaml.compose(text, Loader=LOADER)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise InputError(
            f"{path}, line {line}: not valid YAML ({error.problem or error.context})"
        ) from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML ({str(error).splitlines()[0]})") from None
    if not isinstance(root, yaml.MappingNode):
        raise InputError(
            f"{path}: expected `key: value` lines; there must be {', '.join(REQUIRED)}"
        )

    def plain(node: Any, name: str) -> Any:  # noqa: ANN401 - PyYAML has no types
        if not isinstance(node, yaml.ScalarNode):
            what = f"{path}, line {node.start_mark.line + 1}: entries of {name or 'the file'}"
            bounds.hold(what, len(node.value), bounds.ENTRIES)
        if isinstance(node, yaml.SequenceNode):
            return [plain(part, name) for part in node.value]
        if not isinstance(node, yaml.MappingNode):
            return None if node.tag == "tag:yaml.org,2002:null" else node.value
        block = Block(path, name, {}, {}, node.start_mark.line + 1)
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise InputError(
                    f"{path}, line {line}: a key is a list or a mapping; expected `key: value`"
                )
            if key.value in block.values:
                raise InputError(f"{path}, line {line}: the key {key.value!r} occurs twice")
            block.lines[key.value] = line
            block.values[key.value] = plain(value, block.full(key.value))
        paths = [
            path.removeprefix(block.key_path(""))
            for path in KEYS
            if path.startswith(block.key_path(""))
        ]
        if known := [
            path for path in paths if "." not in path
        ]:  # of the others the keys are the file's own names
            block.only(known)
        return block

    return plain(root, "")


# --- as a spec
# ------------------------------------------------------------------------------------------------------


def file_of(path: Path | str) -> Path:
    """Return the file that a path names, itself or the `benchmark.yaml` of a folder; InputError without one."""
    path = settings.expanded(path)
    file = path / NAME if path.is_dir() else path
    if not file.is_file():
        what = f"has no {NAME}" if path.is_dir() else "no such file"
        raise InputError(f"{path}: {what}; `reelbench new NAME --from FILE` writes one")
    return file.absolute()


def read(path: Path | str, *, installed: bool = False) -> BenchmarkSpec:
    """Return the benchmark that a `benchmark.yaml`, or the folder with it, declares; InputError names the line.

    One that is `installed` came with a package of the user's choice, and may name any variable of
    his.
    """
    file = file_of(path)
    top = parse(contained(file.parent, file))
    for key in REQUIRED:
        if not top.values.get(key):
            raise top.error(f"{key} is missing; a benchmark needs {', '.join(REQUIRED)}")
    return _Declaration(top, installed=installed).spec()


def steps(block: Block) -> tuple[str, ...]:
    """Return the steps of `each`."""
    return tuple(step for step in (block.text("each") or "").split("/") if step)


def join_of(top: Block) -> Join | None:
    """Read the key `join`; None where it isn't there."""
    block = top.block("join")
    if not block.values:
        return None
    name, by = PurePosixPath(block.required_text("file")), block.texts("by")
    if name.is_absolute() or ".." in name.parts or "://" in block.required_text("file"):
        raise block.error(
            f"join.file is {block.required_text('file')!r}, expected a file beside the first one",
            "file",
        )
    if not by:
        raise block.error("join.by is missing: columns that name the same row in both files", "by")
    return Join(by=by, each=steps(block))


class _Declaration:
    """What is said of one benchmark."""

    def __init__(self, top: Block, *, installed: bool) -> None:
        self._top = top
        self._installed = installed
        self._id = top.required_text("id")
        self._folder = top.path.parent
        self._kinds: dict[str, str] = {}
        self._kind_column, self._words = "", ""
        if isinstance(top.values["kind"], Block):  # of rows or splits that are not all alike
            block = top.block("kind")
            by_split = isinstance(block.values.get("split"), Block)
            said = block.block("split") if by_split else block
            self._kind_column = "" if by_split else block.text("column") or ""
            self._kinds = {
                name: said.required_text(name)
                for name in said.values
                if name != "column" or by_split
            }
            if not self._kinds or not (by_split or self._kind_column):
                forms = "`{column: NAME, VALUE: KIND, …}` or `{split: {SPLIT: KIND, …}}`"
                raise top.error(f"kind: expected {forms}", "kind")
            self._words = next((kind for kind in self._kinds.values() if kind != "choice"), "exact")
            for name, kind in self._kinds.items():
                if kind != "choice" and (kind != self._words or kind not in ("exact", "open")):
                    what = "rows of several kinds are choice beside exact, or choice beside open"
                    raise said.error(f"kind.{name} is {kind!r}: {what}", name)
        self._kind = "mixed" if self._kinds else top.required_text("kind")
        self._row_kind = _KINDS[self._kind].get("rows", self._kind)
        self._facets = top.texts("facets")
        own = top.block("splits")
        self._splits = {name: own.block(name) for name in own.values}
        given = top.text("prompt")
        default = Path(next(iter(import_module(our_room()).__path__))) / "prompts"
        default /= f"{_KINDS[self._kind].get('prompt', self._kind)}.txt"
        self._prompt = self._named_path(top, "prompt", given) if given else default
        if not self._prompt.is_file():
            shown = cut_in_the_middle(given or "", _SHOWN_NAME)
            raise top.error(
                f"prompt: {shown} is not beside this file; name a file with the prompt", "prompt"
            )

    def spec(self) -> BenchmarkSpec:
        top = self._top
        mapping = self._mapping()
        texts: dict[str, Any] = {name: top.text(name) or "" for name in _TEXTS}
        texts = {  # each in one line, but for BibTeX
            name.replace("licence", "license"): text
            if name == "citation"
            else " ".join(text.split())
            for name, text in texts.items()
        }
        languages = top.texts("languages") or ("en",)
        # Beside the kind's columns: what the prompt names, and the optional ones that are mapped.
        given = {column.name for column in KIND_COLUMNS[self._row_kind]} | set(self._facets)
        made = {ASKED.name: self._kind == "mixed", GROUP.name: mapping.group is not None}
        made[ALSO.name] = mapping.answers is not None and self._row_kind in ("open", "mixed")
        named = [
            *self._places,
            *(name for name in OPTIONAL if name in mapping.columns or made.get(name)),
        ]
        extras = tuple(
            OPTIONAL.get(name)
            or Column(name=name, dtype="string", description="A column that the prompt names.")
            for name in dict.fromkeys(named)
            if name not in given
        )
        needed, source = top.block("join").texts("file"), top.block("source")
        if needed and "file" in source.values and "hub" not in source.values:
            self._named_path(
                top.block("join"),
                "file",
                str(Path(source.required_text("file")).parent / needed[0]),
            )
        splits: dict[str, SplitSpec] = {}
        for name, block in (self._splits or {"test": top}).items():
            if not re.fullmatch(r"[A-Za-z0-9][\w-]*", name) or name.startswith("mini"):
                raise top.block("splits").error(f"{name!r} can't be a split's name", name)
            owner = block if "source" in block.values else top
            hidden = self._hides(block if "hidden_answers" in block.values else top)
            splits[name] = SplitSpec(
                source=self._source(owner.block("source"), name), needed=needed, **hidden
            )
        judge, judged = self._judge() if "open" in (self._kind, self._words) else (None, ())
        if judge is None and "judge" in top.values:
            raise top.error(
                f"kind {self._kind} takes no judge; leave it out, or say `kind: open`", "judge"
            )
        kinds, metrics = self._scoring_and_metrics(mapping, judge, judged)
        facets = [Facet(name=name, title=_title(name)) for name in self._facets]
        if self._kind == "mixed":
            facets.append(
                Facet(name=ASKED.name, title="What is asked for", labels=("choice", self._words))
            )
        primary, there = top.text("primary"), [metric.name for metric in metrics]
        if primary and primary not in there:
            raise top.error(f"primary is {primary!r}; there are {', '.join(there)}", "primary")
        metrics.sort(key=lambda metric: metric.name != (primary or there[0]))
        names = [extra.name for extra in extras]

        shape = [
            self._kind,
            mapping.columns,
            mapping.answer_is,
            mapping.separators,
            self._facets,
            languages,
            names,
        ]
        # What a file says with a later key is no other reader for those that don't.
        more = [mapping.span_unit, mapping.fps, mapping.options_in_question]
        shape += [more] if more != ["seconds", "", False] else []
        later = {name: value for name, value in asdict(mapping).items() if name in _LATER and value}
        shape += [later] if later else []
        return BenchmarkSpec(
            id=self._id,
            title=" ".join((top.text("title") or "").split()) or _title(self._id),
            version=int(top.text("version") or "1"),
            **texts,
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
            kinds=kinds,
            metrics=tuple(metrics),
            facets=tuple(facets),
            judge=judge,
        )

    def _scoring_and_metrics(
        self, mapping: RowMapping, judge: JudgeSpec | None, judged: Sequence[Metric]
    ) -> tuple[tuple[Any, ...], list[Metric]]:
        """Return the kinds of scoring, and the metrics over what they give and what a judge says."""
        top, declared, mixed = self._top, _KINDS[self._kind], self._kind == "mixed"
        kinds, names = list(declared["kinds"]), list(declared["metrics"])
        given = {
            "answers": mapping.answers,
            "windows": top.text("windows"),
            "overlap": top.text("overlap"),
        }
        for key, word in given.items():
            if word is not None and word not in declared:
                raise top.error(f"{key}: {word}: a {self._kind} benchmark takes no such", key)
            said = declared.get(word, {})
            kinds = [*said.get("kinds", kinds), *said.get("more", ())]
            names = [*said.get("first", ()), *names, *said.get("last", ())]
        if {"union_spans", "covered"} <= set(kinds):
            raise top.error("overlap: iop is of one window; leave out `windows: union`", "overlap")
        if mixed and judge:  # each kind's own; of all only where the judge says right or wrong
            kinds, names = (
                ["choice", "llm_judge"],
                ["accuracy", *["right"] * ("correct" in judge.criteria)],
            )
            judged = [self._metric_of_kind(metric, "open") for metric in judged]
        metrics: list[Metric] = []
        for name in dict.fromkeys(names):
            title, column, about = _KINDS["metrics"][name]
            if "union_spans" in kinds and column in COLUMNS["union_spans"]:
                about += " All windows of the answer and all right ones count, each merged (`windows: union`)."
            how = Mean(column="correct" if mixed else column, scale=100)
            metric = Metric(name=name, title=title, unit="percent", aggregate=how, about=about)
            asked = {"accuracy": "choice", "exact_match": "exact"}.get(name) if mixed else None
            metrics.append(self._metric_of_kind(metric, asked) if asked else metric)
        if mixed and judge:
            if any(
                metric.name == "accuracy" for metric in judged
            ):  # which MovieCORE's judge marks too
                metrics[0] = replace(
                    metrics[0], name="option_accuracy", title="Accuracy of options"
                )
            metrics[1:] = [*judged, *(replace(metric, judged=True) for metric in metrics[1:])]
        if mapping.group is not None:
            how, (title, _, about) = metrics[0].aggregate, _KINDS["metrics"]["group_accuracy"]
            if self._kind == "open" or not isinstance(how, Mean):
                raise top.error("group: of answers that a judge marks there are none", "group")
            column = {"span": "recall_at_0.5"}.get(self._kind, how.column)
            about = (
                f"{about} By `{column}`: {', '.join(dict.fromkeys(mapping.group.rules.values()))}."
            )
            how = Grouped(column=column, scale=100)
            metrics.insert(
                0,
                Metric(
                    name="group_accuracy", title=title, unit="percent", aggregate=how, about=about
                ),
            )
        return tuple(kinds), metrics if mixed else [*judged, *metrics]

    def _metric_of_kind(self, metric: Metric, kind: str) -> Metric:
        """Return a metric as it is over the items of one kind alone, in a benchmark of two."""
        if not isinstance(how := metric.aggregate, Mean):
            return metric
        weights = {"choice": 0.0, self._words: 0.0, kind: 1.0}
        return replace(metric, aggregate=replace(how, weight_by=ASKED.name, weights=weights))

    def _columns(self) -> dict[str, str | tuple[str, ...]]:
        block = self._top.block("columns")
        columns: dict[str, str | tuple[str, ...]] = {}
        for name, value in block.values.items():
            if isinstance(value, Block) or not value:
                raise block.error(
                    f"columns.{name} is a column, a list of columns, or a template", name
                )
            texts = block.texts(name)
            columns[name] = texts[0] if isinstance(value, str) else texts
        own = {column.name for column in KIND_COLUMNS[self._row_kind]} - {"language"}
        for name in self._facets:
            if name in {*own, "split", *OPTIONAL} - {CLIP.name}:
                raise self._top.error(
                    f"facets: {name!r} is a column of ours; map a facet of another name", "facets"
                )
        if {VIDEOS.name, CLIP.name} <= columns.keys():
            raise block.error("columns.clip is a part of one video; leave out `videos`", CLIP.name)
        no_choice = self._kind == "mixed" and "choice" not in self._kinds.values()
        own -= (
            {"options"} if no_choice or self._top.values.get("options") is not None else set[str]()
        )
        if self._hides(self._top) and not ANSWERS & columns.keys():  # the owners' copy has them
            own -= ANSWERS
        ends = {"start", "end"} if "span" in own - columns.keys() else set[str]()
        needed = (
            own
            - ({"span"} if ends else set[str]())
            - ({"video"} if VIDEOS.name in columns else set[str]())
            | ends
        )
        for name in sorted(needed - columns.keys()):
            advice = "; give `span`, or `start` and `end`" if name in ends else ""
            raise block.error(
                f"columns.{name} is missing: a {self._kind} benchmark needs it{advice}"
            )
        optional = OPTIONAL.keys() - {ASKED.name, GROUP.name, ALSO.name}
        block.only(
            sorted({*own, "video", *ends, "language", *optional, *self._facets, *self._places})
        )
        return columns

    def _mapping(self) -> RowMapping:
        """Return the mapping of rows, with every column that the kind needs."""
        top, columns = self._top, self._columns()
        separators, options = top.block("separators"), top.block("options")
        separators.only(self._facets)
        if options.values and not self._kind.endswith("choice") and self._kind != "mixed":
            raise top.error(f"options: a {self._kind} benchmark has none", "options")
        unit, fps = top.text("span_unit"), top.text("fps") or ""
        if (unit or fps) and self._kind not in ("span", "grounded_choice"):
            raise top.error(
                f"span_unit: a {self._kind} benchmark has no spans", "span_unit" if unit else "fps"
            )
        if (unit == "frames") != bool(fps):
            what = "span_unit: frames needs `fps: NUMBER` or `fps: COLUMN`, and nothing else has it"
            raise top.error(what, "span_unit")
        if unit in ("ratio", "percent") and DURATION.name not in columns:
            raise top.error(
                f"span_unit: {unit} needs columns.duration, the videos' lengths in seconds",
                "span_unit",
            )
        if fps and not is_number_text(fps):  # what answers in frames are read by, too
            columns |= {FPS.name: fps}
        line = top.text("line") or ""
        bounds.hold(f"{top.path}: places of line", len(PLACE.findall(line)), bounds.PARTS)
        if line and (not PLACE.findall(line) or "" in PLACE.split(line)[2:-1:2]):
            raise top.error(
                f"line is {line!r}, expected names in {{…}} with something between them", "line"
            )
        stated = ("answer_is", "answers", "skip", "span_unit")
        said: dict[str, Any] = {name: text for name in stated if (text := top.text(name))}
        return RowMapping(
            columns=columns,
            **said,
            separators={name: separators.required_text(name) for name in separators.values},
            fps=fps,
            options_in_question=options.text("in") is not None,
            options_are=options.texts("are"),
            absent=top.texts("absent"),
            line=line,
            each=steps(top),
            join=join_of(top),
            kinds=self._kinds,
            kind_column=self._kind_column,
            group=self._group(),
        )

    def _group(self) -> Group | None:
        block = self._top.block("group")
        if not block.values:
            return None
        rules, column = {"": block.values.get("rule")}, ""
        if isinstance(rules[""], Block):
            said = block.block("rule")
            column = said.required_text("column")
            rules = {name: said.text(name) for name in said.values if name != "column"}
        if wrong := [rule for rule in rules.values() if rule not in ("all", "quadratic", "chain")]:
            what = (
                f"group.rule is {wrong[0]!r}, expected all, quadratic, chain or a column that says"
            )
            raise block.error(what, "rule")
        if not (by := block.texts("by")):
            raise block.error("group.by is missing: columns that name a group", "by")
        return Group(by=by, rules=rules, column=column, levels=block.text("levels") or "")  # type: ignore[arg-type] - checked

    @cached_property
    def _places(self) -> list[str]:
        """The names of the prompt's places."""
        if self._prompt.suffix == ".json":
            document = read_json(self._prompt)
            if (
                not is_object(document)
                or not {"en", *self._top.texts("languages")} & document.keys()
            ):
                raise self._top.error(
                    "prompt: a .json prompt has a text per language, `en` among them", "prompt"
                )
            texts = [text for text in document.values() if isinstance(text, str)]
        else:
            texts = [read_text(self._prompt)]
        bare = (text.replace("{{", "").replace("}}", "") for text in texts)
        return list(dict.fromkeys(place for text in bare for place in PLACE.findall(text)))

    def _named_path(self, block: Block, key: str, named: str, *, media: bool = False) -> Path:
        """Return the file or folder that a key names; InputError where it is neither below this file nor allowed."""
        try:
            return contained(self._folder, self._folder / settings.expanded(named), media=media)
        except InputError as error:
            raise block.error(f"{key}: {error}", key) from None

    def _hides(self, block: Block) -> dict[str, Any]:
        """Return the field that `hidden_answers: true` sets: whoever has the rows has them, or the owners alone."""
        if block.text("hidden_answers") != "true":
            return {}
        here = ANSWERS & self._top.block("columns").values.keys()
        return {"answers_kept" if here else "hidden_answers": True}

    def _source(self, block: Block, split: str) -> Source:
        if "url" in block.values:
            block.only(("url", "sha256"))
            return UrlFile(url=block.required_text("url"), sha256=block.text("sha256"))
        if "hub" not in block.values:
            block.only(("file", "hub", "url"))
            return FileBeside(
                path=str(self._named_path(block, "file", block.required_text("file")))
            )
        block.only(("hub", "revision", "files", "file"))
        files = block.block("files")
        if "file" not in block.values and split not in files.values:
            raise block.error(f"source.files names no file of the split {split!r}", "files")
        names = files.texts(split) or block.texts("file")
        return HubFile(
            repo_id=block.required_text("hub"), filenames=names, revision=block.text("revision")
        )

    def _media(self) -> MediaSource:
        block = self._top.block("media")
        layouts = block.texts("layouts") or _LAYOUTS
        for layout in layouts:
            if layout.count("{video}") != 1 or {"{", "}"} & {*layout.replace("{video}", "")}:
                raise block.error(
                    f"media.layouts: {layout!r} must name {{video}} once, and nothing else",
                    "layouts",
                )
            if ".." in PurePosixPath(layout).parts or layout.startswith("/"):
                raise block.error(
                    f"media.layouts: {layout!r} leads out of a folder of videos", "layouts"
                )
        roots: list[str] = []
        secret = {setting.name for setting in settings.ALL if setting.secret}
        for root in block.texts("roots"):
            if not root.startswith("$"):
                roots.append(str(self._named_path(block, "roots", root, media=True)))
                continue
            # A variable, which the user sets, is one of ours and holds no secret.
            variable = re.fullmatch(r"\$(?:\{(REELBENCH_\w+)\}|(REELBENCH_\w+))(/[^$]*)?", root)
            out = (
                variable is None
                or {variable[1], variable[2]} & secret
                or ".." in PurePosixPath(root).parts
            )
            if out and not self._installed:
                what = f"media.roots: {root!r}: expected a folder, or $REELBENCH_… with folders below it"
                raise block.error(what, "roots")
            roots.append(root)
        youtube = block.text("youtube") == "true"
        return MediaSource(
            title="YouTube" if youtube else f"{self._id}'s videos",
            kind="youtube" if youtube else "form",
            location="https://www.youtube.com/watch?v={video}" if youtube else "",
            layouts=layouts,
            roots=(*roots, str(self._folder)),
        )

    def _tasks(self, splits: dict[str, SplitSpec]) -> Iterator[TaskSpec]:
        """Yield the tasks: the first split's has the benchmark's name, unless the split states one of its own."""
        own, first = self._splits, next(iter(splits))
        name = (own[first].text("task") if own else None) or self._top.text("task") or self._id
        tasks = {name: first}
        if len(splits) > 1:
            tasks |= {own[split].text("task") or f"{name}_{split}": split for split in splits}
        for task, split in tasks.items():
            twin = (split in own and own[split].text("twin")) or self._top.text("twin")
            yield TaskSpec(
                name=task, split=split, twin=twin.replace("{split}", split) if twin else None
            )
            mini = "mini" if task == name else f"mini_{split}"
            files = expected_files(splits[split].source)
            if any((self._folder / "mini" / Path(file).name).is_file() for file in files):
                yield TaskSpec(name=f"{task}_mini", split=mini, tags=("reelbench_mini",))

    def _judge(self) -> tuple[JudgeSpec, tuple[Metric, ...]]:
        """Return the judge, of a folder of prompts or of a benchmark of ours, and the metrics over its marks."""
        block = self._top.block("judge")
        named = block.text("prompts") or _DEFAULT_JUDGE
        folder = self._folder / named
        if not folder.is_dir():
            owners = [entry.load() for entry in benchmark_entries().select(name=named)]
            owner = next((owner for owner in owners if isinstance(owner, BenchmarkSpec)), None)
            if owner is None or owner.judge is None:
                what = (
                    f"judge.prompts is {named!r}, expected moviecore, curve, or a folder of prompts"
                )
                raise block.error(what, "prompts")
            if "scale" in block.values:
                raise block.error(
                    f"judge.scale goes with a folder of prompts; {named}'s scale is its own",
                    "scale",
                )
            package, _, own = owner.judge.prompts.rpartition(":")
            judge = replace(owner.judge, prompts=f"{package or owner.package}:{own}")
            return judge, tuple(_plain_means(owner.metrics))
        for file in (folder, *folder.glob("*.txt")):
            self._named_path(block, "prompts", str(file))
        criteria = tuple(sorted(file.stem for file in folder.glob("*.txt") if file.stem != "user"))
        if not criteria or not (folder / "user.txt").is_file():
            raise block.error(
                f"{folder}: expected user.txt, and one <criterion>.txt for each criterion",
                "prompts",
            )
        scale = block.texts("scale")
        numbers = all(re.fullmatch(r"\d{1,4}", end) for end in scale)
        if len(scale) != 2 or not numbers or int(scale[0]) >= int(scale[1]):  # noqa: PLR2004
            raise block.error(
                "judge.scale is the lowest and the highest mark, such as [0, 5]", "scale"
            )
        low, high = map(int, scale)
        points: Any = f"points_{low}_{high}"
        unit, factor = (points, 1.0) if points in get_args(UnitName) else ("percent", 100 / high)
        about = f"A judge's marks, {low} to {high}{', as a share of the highest' * (unit == 'percent')}."
        how: dict[str, Mean | MeanOf] = {name: Mean(column=name, scale=factor) for name in criteria}
        abouts = dict.fromkeys(criteria, about)
        if len(criteria) > 1:
            how = {"average": MeanOf(metrics=criteria), **how}
            abouts["average"] = f"Mean of the {len(criteria)} criteria that a judge scores."
        metrics = [
            Metric(
                name=name,
                title=_title(name),
                unit=unit,
                aggregate=mean,
                judged=True,
                about=abouts[name],
            )
            for name, mean in how.items()
        ]
        judge = JudgeSpec(
            criteria=criteria, low=low, high=high, default_model="", prompts=str(folder)
        )
        return judge, tuple(metrics)


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _plain_means(metrics: Sequence[Metric]) -> Iterator[Metric]:
    """Yield a benchmark's judged metrics as they are over any questions: each column's mean, and means of these."""
    columns: dict[str, Metric] = {}
    for metric in metrics:
        if metric.judged and isinstance(metric.aggregate, Mean):
            columns.setdefault(metric.aggregate.column, metric)
    names = {metric.name for metric in columns.values()}
    means = (
        m
        for m in metrics
        if m.judged and isinstance(m.aggregate, MeanOf) and names >= set(m.aggregate.metrics)
    )
    for metric in (*means, *columns.values()):
        how = metric.aggregate
        yield replace(
            metric,
            title=metric.title.partition(" (")[0],
            aggregate=Mean(column=how.column, scale=how.scale) if isinstance(how, Mean) else how,
            in_breakdowns=True,
            cite="",
            about=f"{metric.about.partition('. ')[0].rstrip('.')}.",
        )
