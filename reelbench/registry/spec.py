"""The specification of a benchmark: all that Reelbench knows of it, declared once.

Data, tasks, scoring, cards and the leaderboard's columns are all read from it. It is frozen, and
refuses unknown fields and values that are not of their field's type, so a typo fails at import.
"""

import re
from collections.abc import Sequence
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import Literal

from reelbench.base.errors import InputError
from reelbench.registry.declared import Declared
from reelbench.registry.metrics import (
    Corpus,  # noqa: F401  # pyright: ignore[reportUnusedImport] - part of this face
    Grouped,
    Macro,
    Mean,
    MeanOf,
    Metric,
)
from reelbench.registry.scoring_kinds import SCORING_KINDS, Kind

Split = str
SpanUnit = Literal["seconds", "milliseconds", "minutes", "frames", "ratio", "percent", "clock"]
LengthUnit = Literal["seconds", "milliseconds", "minutes", "frames"]
AnswerSpans = Literal["first", "stated", "union"]
AnswerFormat = Literal["letter", "index0", "index1", "text"]
"""A row's name of the right option: its letter or key, its number (from 0 or 1), or its words."""


class HubFile(Declared):
    """A file in a dataset repository on the Hugging Face Hub.

    `revision` is a commit of 40 hex digits, or None: then the current commit of `main` is looked up
    once and recorded.
    """

    kind: Literal["hub"] = "hub"
    repo_id: str
    filenames: tuple[str, ...]  # candidates in order of preference; the first that exists is read
    local_names: tuple[str, ...] = ()
    """Names that the same file has elsewhere, looked for in a local folder alone."""
    revision: str | None = None
    gated: bool = False


class UrlFile(Declared):
    """A file at a URL, with its `sha256` if it is known."""

    kind: Literal["url"] = "url"
    url: str
    sha256: str | None = None


class LocalFile(Declared):
    """A file that only the user can provide (data under an agreement)."""

    kind: Literal["local"] = "local"
    filenames: tuple[str, ...]
    form_url: str  # where access is asked for


class FileNextToDeclaration(Declared):
    """A file of the benchmark's own folder, which its `benchmark.yaml` names."""

    kind: Literal["beside"] = "beside"
    path: str


Source = HubFile | UrlFile | LocalFile | FileNextToDeclaration


class SplitSpec(Declared):
    """One split: its source, its size as the owner states it, and its secrecy."""

    source: Source
    rows: int | None = None  # rows as published; None where the sources disagree
    videos: int | None = None
    joined: tuple[str, ...] = ()  # files read too, joined by id, where a local folder has them
    needed: tuple[str, ...] = ()
    """Files that are all read after the source's first, from the same repository or folder."""
    owners_files: tuple[str, ...] = ()  # sha256 of the owners' files, where their bytes are known
    owners_rows: str | None = None
    """sha256 over the owners' rows (`data.ownership.rows_sha256`), in whatever format."""
    hidden_answers: bool = False  # True where only the owners' server can score it
    answers_kept: bool = False
    """True where the rows have the answers, and nothing that tells one is passed on."""
    submit_to: str = ""  # where the owners take submissions of it
    cite: str = ""  # where the counts are stated

    @property
    def secret(self) -> bool:
        """True where its answers are public nowhere."""
        return self.hidden_answers or self.answers_kept


class ImageFolders(Declared):
    """Videos that are stored as folders of numbered pictures, one or more per video."""

    folders: str = ""
    """`package.module:function`: a row -> its folders, in order, for `{video}`.

    By default the one that the media key names.
    """
    number: str  # regular expression on a picture's file name; its group 1 is the number
    numbers_per_second: float  # how far the numbers rise in a second: a picture's true time
    fps: float  # pictures per second, as the owners state it


class MediaSource(Declared):
    """The source of the videos, and their paths on disk.

    `{video}` in a path is the row's media key. `{name}` in a layout is the key's last part.
    """

    title: str
    kind: Literal["hub", "archive", "youtube", "form"]
    location: str  # repository id, URL, or the form's page
    revision: str | None = None
    gated: bool = False
    path: str = ""  # path of one video inside the repository or archive, with `{video}`
    layouts: tuple[str, ...] = ()  # paths searched under every media root, `{video}` in them
    roots: tuple[str, ...] = ()  # media roots beside the user's; `~` and `$VAR` are expanded
    matches: str | None = None  # regular expression on the media key: which videos are from here
    splits: tuple[Split, ...] = ()  # splits whose videos are here; empty for all
    images: ImageFolders | None = None  # set where the videos are folders of pictures, not files
    note: str = ""


class Facet(Declared):
    """A way to break a result down: a row's column of labels.

    `metrics` are the metrics given per label. Empty means every top-level `Mean` metric. `labels`
    lists a closed vocabulary. None means that the labels come from the data.
    """

    name: str
    title: str
    labels: tuple[str, ...] | None = None
    in_rows: bool = True
    """False where the labels come from a tags file, or are made of other columns."""
    made_of: str = ""
    """The column that its labels are made of, where no column of its own holds them.

    `span length` and `span start` are those of the right span, in the ranges that `labels` names
    (`rows.RANGES`). `option_count` is the number of the row's options.
    """
    metrics: tuple[Metric, ...] = ()


class JudgeSpec(Declared):
    """The LLM judge of a benchmark: criteria, scale, and the owners' choices."""

    criteria: tuple[str, ...]  # one call each; the item's column has the criterion's name
    low: int
    high: int
    default_model: str  # the owners' judge, by which the published numbers were made
    successor: str | None = None  # named by the maker of a judge that is being retired
    prompts: str = "judge"
    """Folder in the benchmark's package, or `package:folder`.

    It has a `<criterion>.txt` for each criterion, and `user.txt`.
    """
    official_temperature: float | None = None  # None: the owners send none
    official_prompts: UrlFile | None = None  # at a pinned commit

    @property
    def suggested(self) -> str:
        """The judge that a hint names: one that still answers, or a placeholder."""
        return self.successor or self.default_model or "MODEL"

    @property
    def suggested_in_words(self) -> str:
        """That judge's relation to the paper's. Empty where no paper names one."""
        if not self.default_model:
            return ""
        if self.successor is None:
            return f"{self.default_model} is the paper's"
        return (
            f"{self.successor} is the successor of the paper's judge, {self.default_model}, which "
            "the published numbers are from"
        )


class Join(Declared):
    """A second file, whose columns are added to the rows that `by` names in both."""

    by: tuple[str, ...]
    each: tuple[str, ...] = ()


class Group(Declared):
    """Items that count together.

    Attributes:
        by: Columns that name a group.
        rules: Value of `column` -> rule. Under "" the rule of all.
        column: Column that names the rule.
        levels: Column with the levels of a chain.
    """

    by: tuple[str, ...]
    rules: dict[str, Literal["all", "quadratic", "chain", "gate"]]
    column: str = ""
    levels: str = ""


class DrawnOptions(Declared):
    """The right option and the wrong ones, in an order drawn for each row."""

    right: str
    wrong: tuple[str, ...]
    seed: int = 0


class RowMapping(Declared):
    """The mapping of upstream rows to ours, where a `benchmark.yaml` declares it."""

    separators: dict[str, str] = field(default_factory=dict[str, str])
    """Facet -> the sign between the labels of a text that holds several."""

    columns: dict[str, str | tuple[str, ...]]
    """Ours -> theirs: a column, several, or a template over columns (`{film}/{clip}.mp4`)."""

    answer_is: AnswerFormat | None = None
    """The name of the right option. None: as all rows allow it to be read."""

    span_unit: SpanUnit = "seconds"
    """The unit of spans, which become seconds. `seconds` reads a clock (`1:02:03.5`), too."""

    answer_spans: AnswerSpans = "stated"
    """The spans of an answer with several that count: the first, the only one stated, or all."""

    fps: str = ""
    """Frames a second, where something is in frames: a number, or the column that has it."""

    options_in_question: bool = False
    """True where the question's text ends in its options, a line each with its letter."""

    options_are: tuple[str, ...] = ()  # the options of every question, where they are the same
    absent: tuple[str, ...] = ()  # texts in place of a missing option
    answers: Literal["any", "all"] | None = None
    """Of several right answers any counts, or all must be named."""

    line: str = ""  # a template by which a line of a text file is parted
    each: tuple[str, ...] = ()
    """Keys that lead to the rows. `{name}` is for all keys of a mapping or places of a list."""

    join: Join | None = None
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    """Value of `kind_column` (name of a split without one) -> kind, where rows are of two kinds."""

    kind_column: str = ""
    group: Group | None = None
    skip: Literal["unreadable"] | None = None  # leave out rows that can't be read
    parts: dict[str, str] = field(default_factory=dict[str, str])
    """Column -> a template that parts its text into further columns."""

    where: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Column -> its words in the rows that are asked."""

    constants: dict[str, str] = field(default_factory=dict[str, str])
    """Our column -> its text in every row."""

    words: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """Our column -> words of theirs -> ours."""

    clip_unit: SpanUnit | None = None
    """The unit of the parts that are shown. None for seconds or a clock."""

    duration_unit: LengthUnit | None = None
    """The unit of the videos' lengths. None for seconds or a clock."""

    drawn: DrawnOptions | None = None
    span_from: Literal["clip"] | None = None


class Paper(Declared):
    """The paper to cite."""

    key: str  # of BibTeX
    title: str
    authors: tuple[str, ...]
    venue: str
    year: int
    arxiv: str | None = None
    url: str

    @property
    def bibtex(self) -> str:
        """The citation as a BibTeX entry."""
        fields = {
            "title": f"{{{self.title}}}",
            "author": " and ".join(self.authors),
            "booktitle": self.venue,
            "year": str(self.year),
            "eprint": self.arxiv,
            "archivePrefix": "arXiv" if self.arxiv else None,
            "url": self.url,
        }
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@inproceedings{{{self.key},", *lines, "}"])


class Column(Declared):
    """A column of the normalised rows."""

    name: str
    dtype: Literal["string", "float64", "int64", "list<string>", "list<float64>"]
    description: str
    unit: str = ""


class PublishedResult(Declared):
    """A published number. It is marked as one that can't be recomputed."""

    model: str
    split: Split
    setting: Literal["zero-shot", "fine-tuned", "agent", "ensemble", "human", "baseline"]
    metrics: dict[str, float]  # metric of the spec -> value, in its unit
    breakdowns: dict[str, dict[str, dict[str, float]]] = field(
        default_factory=dict[str, dict[str, dict[str, float]]]
    )
    """Facet -> label -> metric -> value."""
    cite: str
    url: str | None = None
    verified: Literal["V", "3P"] = "V"  # read in the owners' own file, or in another's
    judge: str | None = None
    prompts: str | None = None  # the judge's prompt set, as a run's record names it
    frames: str | None = None
    subset: str | None = None  # part of the split that it covers: a column of its own
    label: str = ""
    """The way the model was asked, where that is not the plain one (web search).

    It has a table of its own, as with `--label`.
    """
    open_weights: bool | None = None
    unranked: str | None = None
    """The reason why it is listed and not ranked."""
    note: str = ""  # what a reader must know, such as an inconsistency in the source


class OptionWords(Declared):
    """The texts whose likelihood a task compares: options, alone or in a sentence."""

    alone: str = "{option}"  # template of an answer that names no span
    grounded: str | None = None  # of one that does, with `{start}`, `{end}` (seconds), `{option}`
    locate: str | None = None  # prompt file that asks for the span by itself

    def sentences(self, options: Sequence[str], span: Sequence[float] | None) -> list[str]:
        """Return each option as the answer has it.

        Args:
            options: The options.
            span: Start and end in seconds of the span that the answer names, where it names one.
        """
        template = self.alone
        times: dict[str, float] = {}
        if span is not None and self.grounded is not None:
            template = self.grounded
            times["start"], times["end"] = span
        return [template.format(option=option, **times) for option in options]


class TaskSpec(Declared):
    """One lmms-eval task of a benchmark: its name and the split it runs on."""

    name: str
    split: Split
    only: dict[str, str] = field(default_factory=dict[str, str])
    """Facet -> label: that part of the split."""
    prompt: str | None = None  # prompt file, where it is not the benchmark's own
    twin: str | None = None  # lmms-eval's own task on the same rows, whose runs are read too
    tags: tuple[str, ...] = ()  # lmms-eval's names for groups of tasks that run together
    max_new_tokens: int = 512  # longest answer that is asked for
    options: OptionWords | None = None
    """Set where the options are scored by their likelihood, and no letter is asked for."""
    reasoned: bool = False
    """True where the model writes its steps and, as its last line, the answer.

    It may be given cues, so it is never scored for a table.
    """

    @property
    def plain(self) -> bool:
        """True where it asks once for a written answer, as the benchmark's numbers require."""
        return self.options is None and not self.reasoned


class BenchmarkSpec(Declared):
    """A complete benchmark.

    Results are comparable only with the same `version`: a change of scores raises it.
    """

    id: str
    title: str
    version: int
    summary: str = ""
    homepage: str = ""
    organisation: str = ""
    """The owners' name on the Hub. Nobody else hands in results under it."""
    license: str = ""  # of the annotations, as the Hub writes it; empty where nobody states one
    license_note: str = ""
    open_data: bool = True  # False: agreement-gated; never fetched, never pushed
    languages: tuple[str, ...]  # BCP-47
    row_kind: Literal["open", "grounded_choice", "choice", "span", "mixed"]
    columns: tuple[Column, ...] = ()  # columns beside those of the row kind and the facets
    splits: dict[Split, SplitSpec]
    default_split: Split
    mini_note: str = "a dozen rows written for Reelbench, with clips that are made on first use"
    package: str = ""
    """Import name of the package of its code, prompts and mini data. Empty for a file's."""
    file: str = ""  # the `benchmark.yaml` that declares it; prompts and mini rows lie beside it
    mapping: RowMapping | None = None  # of a file's, in place of a reader
    reader: str = ""
    """`package.module:function`: upstream files -> rows; by default `data:read` in `package`."""
    reader_version: int = 1  # raised when the reader's rows change; part of the cache's key
    formats: str = ""
    """Module that reads the owners' predictions and references; by default `package.formats`."""
    prompt: str = "prompt.txt"  # file in `package`; a .json one has one per language
    errata: str = ""  # file in the benchmark's folder; see `registry.errata`
    media: tuple[MediaSource, ...]
    tasks: tuple[TaskSpec, ...]
    kinds: tuple[Kind, ...]
    metrics: tuple[Metric, ...]
    facets: tuple[Facet, ...] = ()
    judge: JudgeSpec | None = None
    paper: Paper | None = None
    citation: str = ""  # what to cite, as its owner wrote it, where there is no `paper`
    people_search: bool = False
    """True where its paper lets people who answer or check its questions search the web."""
    builds_on: tuple[Paper, ...] = ()  # papers to cite as well: of what the benchmark is made from
    published: tuple[PublishedResult, ...] = ()
    twin: str | None = None
    """Benchmark with other questions on the same videos, judged by one rubric.

    Both are compared video by video, by the metric that ranks here.
    """

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers to cite, the benchmark's own first."""
        if self.paper is None:
            return self.builds_on
        return (self.paper, *self.builds_on)

    @property
    def asks_choice(self) -> bool:
        """True where a question has options, one of which is right."""
        return self.row_kind in {"choice", "grounded_choice"}

    @property
    def asks_span(self) -> bool:
        """True where a question is answered with a part of the video."""
        return self.row_kind in {"span", "grounded_choice"}

    @property
    def folder(self) -> Path:
        """The folder of its prompts, mini rows and datasheet."""
        if self.file:
            return Path(self.file).parent
        if not self.package:
            raise InputError(
                f"{self.id}: only a result declares it here; name its benchmark.yaml, or the "
                "folder in REELBENCH_BENCHMARKS"
            )
        return Path(next(iter(import_module(self.package).__path__)))

    @property
    def primary(self) -> Metric:
        """The metric that ranks."""
        return self.metrics[0]

    def metric(self, name: str) -> Metric:
        """Return the metric called `name`. KeyError where there is none."""
        for metric in self.metrics:
            if metric.name == name:
                return metric
        raise KeyError(name)

    def means_of(self, metric: Metric) -> list[Mean]:
        """Return the means over items that a metric is, or is the mean of.

        There are none where any part of it follows from items otherwise.
        """
        how = metric.aggregate
        if isinstance(how, Mean):
            return [how]
        means: list[Mean] = []
        if isinstance(how, MeanOf):
            for name in how.metrics:
                means_of_part = self.means_of(self.metric(name))
                if not means_of_part:
                    return []
                means += means_of_part
        return means

    def facet(self, name: str) -> Facet:
        """Return the facet called `name`. KeyError where there is none."""
        for facet in self.facets:
            if facet.name == name:
                return facet
        raise KeyError(name)

    def __post_init__(self) -> None:
        if not self.reader:
            object.__setattr__(self, "reader", f"{self.package}.data:read")
        if not self.formats:
            object.__setattr__(self, "formats", f"{self.package}.formats")
        super().__post_init__()
        if not re.fullmatch(r"[a-z][a-z0-9_]*", self.id):
            raise InputError(
                f"{self.id}: an id is lower-case letters, digits and _, beginning with a letter"
            )
        if self.version < 1:
            raise InputError(f"{self.id}: version is {self.version}; versions begin at 1")
        if self.default_split not in self.splits:
            raise InputError(
                f"{self.id}: default split {self.default_split!r} is not among "
                f"{sorted(self.splits)}"
            )
        for task in self.tasks:
            self._check_task(task)
        if (self.judge is None) != ("llm_judge" not in self.kinds):
            raise InputError(f"{self.id}: `judge` and the kind `llm_judge` go together")
        self._check_metrics()

    def _check_task(self, task: TaskSpec) -> None:
        unknown_facets = task.only.keys() - {facet.name for facet in self.facets}
        if unknown_facets:
            raise InputError(
                f"{self.id}: task {task.name} picks by unknown facets {sorted(unknown_facets)}"
            )
        is_mini = task.split == "mini" or task.split.startswith("mini_")
        if not is_mini and task.split not in self.splits:
            raise InputError(f"{self.id}: task {task.name} names an unknown split {task.split!r}")

    def _check_metrics(self) -> None:
        names = [metric.name for metric in self.metrics]
        if len(set(names)) != len(names):
            raise InputError(f"{self.id}: a metric's name occurs twice: {names}")
        if self.metrics and self.primary.in_unit.lower_is_better:
            raise InputError(f"{self.id}: {self.primary.name} is an error, which can't rank")
        columns: list[str] = []
        for kind in self.kinds:
            if kind not in SCORING_KINDS:
                raise InputError(f"{self.id}: there is no kind of scoring {kind!r}")
            columns += SCORING_KINDS[kind].columns
        if self.judge is not None:
            columns += self.judge.criteria
        all_metrics = list(self.metrics)
        for facet in self.facets:
            all_metrics += facet.metrics
        for metric in all_metrics:
            self._check_metric(metric, names, columns)

    def _check_metric(self, metric: Metric, names: Sequence[str], columns: Sequence[str]) -> None:
        aggregate = metric.aggregate
        if isinstance(aggregate, MeanOf) and not set(aggregate.metrics) <= set(names):
            raise InputError(
                f"{self.id}: {metric.name} is the mean of unknown metrics {aggregate.metrics}"
            )
        facet_names: list[str | None] = []
        if isinstance(aggregate, Macro):
            facet_names = [aggregate.facet, aggregate.within]
        elif isinstance(aggregate, Mean):
            facet_names = [aggregate.weight_by]
        known_names = {None, *(facet.name for facet in self.facets)}
        for facet_name in facet_names:
            if facet_name not in known_names:
                raise InputError(f"{self.id}: {metric.name} names an unknown facet {facet_name!r}")
        if isinstance(aggregate, Mean | Macro | Grouped) and aggregate.column not in columns:
            raise InputError(
                f"{self.id}: {metric.name} is over the column {aggregate.column!r}, which nothing "
                f"gives; there are {', '.join(columns)}"
            )
