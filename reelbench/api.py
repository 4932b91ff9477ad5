"""The Python face of Reelbench: the functions that `import reelbench` offers.

Everything heavy is imported by the function that needs it, so that `import reelbench` stays cheap.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from inspect import signature
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypedDict, Unpack, overload

from reelbench.base.errors import InputError, first_line, number_of
from reelbench.base.progress import line_bar
from reelbench.base.python_guesses import NamedMetrics

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

    from reelbench.base.text_tables import Table
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.pages.plots import Mark
    from reelbench.pages.svg import Svg
    from reelbench.registry.metrics import Metric
    from reelbench.registry.records import (
        About,
        Breakdowns,
        Counts,
        JudgeRecord,
        Metrics,
        ReaderRecord,
        Sample,
    )
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.scoring.comparison import Comparison
    from reelbench.tasks.answer_reader import ReaderOptions
    from reelbench.tasks.score import Evaluation

P = ParamSpec("P")

_NAME = "predictions"


@dataclass(frozen=True, repr=False)
class Scored:
    """A scored benchmark: its numbers and its items. `save` writes it to a folder.

    It prints as a table of its metrics, also in a notebook.

    Attributes:
        benchmark: The benchmark's id.
        version: The benchmark's version: results of different versions are not comparable.
        split: The split that was scored.
        metrics: Name -> an object with `value` (None: not scored), `ci95` (low, high; or None) and
            `n` (items).
        breakdowns: Facet -> label -> metrics.
        counts: The number of items in each state.
        notes: Warnings and failures, one line each.
        judge: The judge and its settings, as in `result.json`. None if there was no judge.
        model: The model that gave the answers. If it is not known, the name of the file.
        reader: The model that read the answers that the grammar left unread, if any.
    """

    benchmark: str
    version: int
    split: str
    metrics: "Metrics"
    breakdowns: "Breakdowns"
    counts: "Counts"
    notes: list[str]
    judge: "JudgeRecord | None"
    _spec: "BenchmarkSpec" = field(repr=False, compare=False)
    _samples: "Sequence[Sample]" = field(repr=False, compare=False)
    _questions: Mapping[str, str] = field(repr=False, compare=False)
    _write: Callable[[Path], object] = field(repr=False, compare=False)
    model: str | None = field(default=None, compare=False)
    reader: "ReaderRecord | None" = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", NamedMetrics(self.metrics))

    def __len__(self) -> int:
        """Return the number of items."""
        return self.counts.items

    def __repr__(self) -> str:
        return self._metric_table().text()

    def _repr_html_(self) -> str:
        return self._metric_table().html()

    def _metric_table(self) -> "Table":
        """Return a row a metric. Below it what lacks, and the notes."""
        from reelbench.base.text_tables import Table
        from reelbench.scoring import metric_table

        without_interval = metric_table.without_interval(self._spec, self.metrics)
        without_answer = metric_table.without_answer(self._spec, self.counts)
        below = [line for line in (without_interval, without_answer) if line]
        below += self.notes
        return Table(
            metric_table.title(self.benchmark, self.split, self.counts),
            metric_table.COLUMNS,
            metric_table.rows(self._spec, self.metrics, self.counts.items),
            below,
        )

    def plot(self, by: str | None = None, *, metric: str | None = None) -> "Svg":
        """Draw a metric over all items, and for each label of a facet.

        The 95 % intervals that exist are drawn.

        Args:
            by: A facet of `breakdowns`; by default the first.
            metric: The metric's name; by default the benchmark's main one, or the first that the
                facet's labels have.

        Returns:
            The picture: SVG as text, which a notebook shows
            (`Path("plot.svg").write_text(scored.plot())`).

        Raises:
            InputError: There is no such facet or metric, or it has no value.
        """
        from reelbench.pages.plots import intervals
        from reelbench.pages.svg import Svg

        facet = by or next(iter(self.breakdowns), None)
        if facet is not None and facet not in self.breakdowns:
            raise InputError(
                f"by {facet}: no such facet; there are {', '.join(self.breakdowns) or 'none'}"
            )
        drawn_metric = self._metric_to_draw(facet, metric)
        name = metric or drawn_metric.name
        marks = self._marks(facet, name)
        if not marks:
            scored = [name for name, value in self.metrics.items() if value.value is not None]
            raise InputError(f"{name}: has no value; there are {', '.join(scored) or 'none'}")
        title = f"{self.benchmark} {self.split}"
        if facet:
            title += f" by {facet.replace('_', ' ')}"
        unit = drawn_metric.in_unit
        axis = name.replace("_", " ")
        if unit.label:
            axis += f" ({unit.label})"
        return Svg(intervals(title, axis, marks, unit.long_digits))

    def _metric_to_draw(self, facet: str | None, name: str | None) -> "Metric":
        """Return the metric of a name, or the main one that the facet's labels have."""
        from reelbench.scoring import metric_table

        spec = self._spec
        facet_metrics: Sequence[Metric] = []
        if facet:
            facet_metrics = metric_table.facet_metrics(spec, self.breakdowns, facet)
        main_metric = spec.primary
        if facet_metrics and spec.primary not in facet_metrics:
            main_metric = facet_metrics[0]
        for candidate in (*facet_metrics, *spec.metrics):
            if candidate.name == (name or main_metric.name):
                return candidate
        return main_metric

    def _marks(self, facet: str | None, name: str) -> "list[Mark]":
        """Return a mark for all items, and one for each label with a value."""
        from reelbench.pages.plots import Mark

        metrics_of_label = {"all": self.metrics}
        if facet:
            metrics_of_label |= self.breakdowns[facet]
        marks: list[Mark] = []
        for label, metrics in metrics_of_label.items():
            value = metrics.get(name)
            if value is not None and value.value is not None:
                shown_label = label.replace("_", " ")
                marks.append(Mark(0, shown_label, value.value, value.ci95, value.n))
        return marks

    if not TYPE_CHECKING:  # to a type checker a misspelt name stays one

        def __getattr__(self, name: str) -> object:
            raise AttributeError(f"Scored has no attribute {name!r}; {self._where_it_is(name)}")

        def __getitem__(self, name: object) -> object:
            raise TypeError(f"Scored has no keys; {self._where_it_is(name)}")

        def _where_it_is(self, name: object) -> str:
            metrics = self.__dict__.get("metrics", {})
            if name in metrics:
                return f"the number is metrics[{name!r}].value, its interval .ci95"
            return "metrics has the numbers, counts what was scored, to_frame() the items"

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per item.

        Columns are `id`, `video`, `question`, `prediction`, `state`, `reason` and `flags`. The
        other columns are the parsed answer (`read.answer`, `read.span`), the reference
        (`target.…`), the facets' labels, and the scores (`score.…`, before scaling). An unscored
        item has no score. `question` is None if it is not known.
        """
        import pandas as pd

        return pd.DataFrame([self._frame_row(sample) for sample in self._samples])

    def _frame_row(self, sample: "Sample") -> dict[str, Any]:
        row: dict[str, Any] = {
            "id": sample.id,
            "video": sample.video,
            "question": self._questions.get(sample.id),
            "prediction": sample.prediction,
            "state": sample.state,
            "reason": sample.reason,
            "flags": list(sample.flags),
        }
        for name, value in (sample.parsed or {}).items():
            row[f"read.{name}"] = value
        for name, value in sample.target.items():
            row[f"target.{name}"] = value
        row.update(sample.facets)
        for name, score in sample.scores.items():
            row[f"score.{name}"] = score
        return row

    to_pandas = to_frame

    def view(self, file: str | Path | None = None) -> "Page":
        """Make one page of every question and answer, as `reelbench view` does.

        A notebook shows it. It contains no videos and no paths of this machine, so you can give the
        notebook to others.

        Args:
            file: The page. Its name ends in .html. Default: a file in a new temporary folder.

        Raises:
            InputError: The board, which has this page, is not installed, or the data may not be
                shared.
        """
        from reelbench.houses import of_house

        write_of_folder = of_house("Scored.view")
        if file is None:
            path = Path(tempfile.mkdtemp(prefix="reelbench-")) / "view.html"
        else:
            path = Path(file)
        with tempfile.TemporaryDirectory() as folder:
            return Page(write_of_folder(self.save(folder), path))

    def save(self, folder: str | Path) -> Path:
        """Write the result, its samples and its questions to a folder.

        The files are those of `reelbench score --output`.

        Returns:
            The folder.
        """
        self._write(Path(folder))
        return Path(folder)


@dataclass(frozen=True, slots=True)
class Page:
    """A page on disk, which prints as its path. A notebook shows it."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def _repr_html_(self) -> str:
        from html import escape

        text = escape(self.path.read_text(encoding="utf-8"))
        style = "width: 100%; height: 640px; border: 1px solid #ccc"
        return f'<iframe srcdoc="{text}" style="{style}"></iframe>'


class SourceOptions(TypedDict, total=False):
    """The further keywords of `score`: rows, columns of a table, and who reads unread answers."""

    split: str | None
    data: str | Path | None
    id_column: str | None
    text_column: str | None
    errata: Literal["apply", "ignore"]
    reader: "str | ReaderOptions | None"


def score(
    name: str,
    predictions: "str | Path | Sequence[Mapping[str, Any]] | pd.DataFrame | Dataset",
    references: str | Path | None = None,
    *,
    tags: str | Path | None = None,
    judge: "str | JudgeOptions | None" = None,
    model: str | None = None,
    about: "str | Path | Mapping[str, Any] | None" = None,
    overlap: bool = True,
    **source: Unpack[SourceOptions],
) -> Scored:
    """Score predictions of a benchmark: the numbers of `reelbench score NAME --predictions FILE`.

    Args:
        name: A benchmark, or one of its tasks (`rextime_mini`).
        predictions: A file in the owners' format or a table of ids and texts (CSV, TSV, JSON, JSON
            Lines, Parquet, Excel, `hf://datasets/ORG/NAME`), or a list of dicts, a DataFrame or a
            Dataset with the same columns.
        references: A file of references; by default the benchmark's own data.
        tags: CogME's tags (JSON Lines), for dramaqa_cogme.
        judge: The judge of open answers, as in `--judge`: a model, `MODEL@URL`, or several with
            commas (a panel). `reelbench.JudgeOptions` has more options.
        model: The model that gave the answers, for the record.
        about: Further facts for the record, as a mapping or a `model.yaml`: `frames`
            (`uniform:32`), `label` (a further condition of the run), `url` (a description),
            `revision`, `parameters`, `licence`, and the other facts of `--about`.
        overlap: Whether BLEU, CIDEr and METEOR are computed. They need a Java process.
        **source: `split` (if not the task's or the benchmark's default one), `data` (path of the
            benchmark's data, if it isn't found automatically), `errata` (`apply` or `ignore` those
            of the benchmark), and for a table `id_column` and `text_column`, if their names don't
            show it. `reader` is a model that reads the answers in which no option is read, as in
            `--reader`. Such a result has a table of its own.

    Raises:
        InputError: The predictions can't be read or don't fit.
        DataUnavailableError: The references are not here.
    """
    from reelbench.scoring.cognitive_profile import read_tags
    from reelbench.tasks.predictions import Columns
    from reelbench.tasks.score import Options, RunMetadata, resolve_predictions, score_files
    from reelbench.tasks.submissions import Inputs

    if not isinstance(name, str):
        raise TypeError("score: the name comes first: reelbench.score('rextime_mini', answers)")
    unknown = source.keys() - SourceOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"score() has no argument {min(unknown)!r}")
    of_answers, of_model = _facts_of_answers(about)
    notes: list[str] = []
    options = Options(
        overlap=overlap,
        judge=_judge_options(judge),
        reader=_reader_options(source.get("reader")),
        note=notes.append,
        bar=line_bar,
        about=of_model,
        errata=source.get("errata", "apply"),
    )

    labels = None
    if tags is not None:
        labels = read_tags(tags)
    metadata = RunMetadata(model, **of_answers)
    document = None
    if isinstance(predictions, str | Path):
        path, metadata = resolve_predictions(predictions, metadata)
    else:
        path = Path(_NAME)
        document = _json_of_table(predictions)
    inputs = Inputs(
        path,
        _path_or_none(references),
        labels,
        source.get("split"),
        _path_or_none(source.get("data")),
        document=document,
    )
    columns = Columns(source.get("id_column"), source.get("text_column"))
    evaluation = score_files(name, inputs, options, columns=columns, metadata=metadata)
    return _scored_evaluation(evaluation, notes)


def _json_of_table(table: Any) -> Any:  # noqa: ANN401 - what a user has
    """Return a table of predictions as the JSON value of a file.

    Raises:
        InputError: It is no table, or holds what JSON can't.
    """
    from reelbench.base.files import Decoder

    if hasattr(table, "to_pandas"):
        table = table.to_pandas()
    if isinstance(table, Mapping):
        table = dict(table)
    elif hasattr(table, "to_dict") and hasattr(table, "columns"):  # a Series has but one of them
        table = table.to_dict("records")
    elif isinstance(table, Sequence):
        table = list(table)
    else:
        raise InputError(
            f"predictions are a {type(table).__name__}, expected a path, a list of dicts, a "
            "DataFrame or a Dataset"
        )
    # Through JSON, so that numbers of numpy's and keys are read as a file's.
    text = _as_json(f"{_NAME} hold", table)
    return Decoder(_NAME, unique=True).decode(text)


def open_result(folder: str | Path) -> Scored:
    """Return a result from disk, as `score` returned it.

    Args:
        folder: A folder with `result.json` and `samples.jsonl`, from `save`, `reelbench score
            --output` or `reelbench run`; or a folder above it that has no other result.

    Returns:
        The result. Its questions are known if `questions.jsonl` is in the folder. If the samples
        were changed since the result was made, a note says so.

    Raises:
        InputError: There is no result, or several, or a file of it can't be read.
    """
    from reelbench.base.files import sha256_of
    from reelbench.registry import discovery
    from reelbench.scoring import result_files

    place = Path(folder)
    if os.path.exists(place):  # noqa: PTH110 - of a name that no file can have it says no
        place = result_files.folder_of_one(place)
    result = result_files.read(place)
    notes: list[str] = []
    if sha256_of(result_files.samples_of(place)) != result.provenance.samples_sha256:
        samples_file = place / result_files.SAMPLES_FILE
        notes.append(f"{samples_file}: changed since the result was written")
    questions: dict[str, str] = {}
    for name, line in result_files.read_questions(place).items():
        questions[name] = line["question"]
    return Scored(
        result.benchmark.id,
        result.benchmark.version,
        result.benchmark.split,
        result.metrics,
        result.breakdowns,
        result.counts,
        notes,
        result.judge,
        discovery.spec_of(result.benchmark),
        list(result_files.read_samples(place)),
        questions,
        partial(result_files.copy, place),
        result.model.id,
        result.settings.reader,
    )


def benchmarks() -> dict[str, list[str]]:
    """Return the tasks of each benchmark, by its id, as in `reelbench list`."""
    from reelbench.registry import discovery

    tasks_of_benchmark: dict[str, list[str]] = {}
    for name, spec in discovery.specs().items():
        tasks_of_benchmark[name] = [task.name for task in spec.tasks]
    return tasks_of_benchmark


@overload
def compare(
    a: "Scored | str | Path", b: "Scored | str | Path", /, *, anyway: bool = False
) -> "Comparison": ...


@overload
def compare(
    a: "Scored | str | Path",
    b: "Scored | str | Path",
    /,
    *more: "Scored | str | Path",
    anyway: bool = False,
) -> "Comparison | list[Comparison]": ...


def compare(
    a: "Scored | str | Path",
    b: "Scored | str | Path",
    /,
    *more: "Scored | str | Path",
    anyway: bool = False,
) -> "Comparison | list[Comparison]":
    """Test whether one result is better than another, as `reelbench compare` does.

    They are compared on the items that both answered.

    Args:
        a: A result, or its folder.
        b: Another one of the same benchmark, version and split.
        *more: Further results; then each pair has its own comparison, in their order. Its p is for
            this pair only. A leaderboard's table corrects for all its pairs.
        anyway: Compare them even if different judges, or judges with different prompts, scored
            them, or different readers read their unread answers.

    Returns:
        The comparison: `metrics` (name -> the two values, their difference with its 95 % interval
        over videos, and p), and the numbers of items `both`, `only_a` and `only_b`.

    Raises:
        InputError: The results differ in benchmark, version, split, judge or reader.
    """
    from reelbench.scoring import comparison

    if more:
        opened = [_open_source(source) for source in (a, b, *more)]
        return [compare(*pair, anyway=anyway) for pair in combinations(opened, 2)]
    first = _open_source(a)
    second = _open_source(b)
    of_first = f"{first.benchmark} {first.split} (version {first.version})"
    of_second = f"{second.benchmark} {second.split} (version {second.version})"
    if of_first != of_second:
        raise InputError(
            f"compare: {of_first} and {of_second} can't be compared; take two results on the same "
            "benchmark, version and split"
        )
    difference = comparison.judging_apart(first.judge, second.judge)
    difference = difference or comparison.reading_apart(first.reader, second.reader)
    if difference and not anyway:
        raise InputError(f"compare: {difference}; to compare them anyway, pass anyway=True")
    compared = comparison.compare(first._samples, second._samples, first._spec)  # noqa: SLF001
    names = (first.model or "a", second.model or "b")
    if names[0] == names[1]:
        return compared
    return replace(compared, names=names)


def _open_source(source: "Scored | str | Path") -> Scored:
    if isinstance(source, Scored):
        return source
    return open_result(source)


def _with_usage_in_errors(call: Callable[P, Scored]) -> Callable[P, Scored]:
    """Return `call`, whose error for a wrong argument shows how it is called."""
    parameters = list(signature(call).parameters)
    takes_function = parameters[0] == "fn"
    known_names = {*parameters, *AskedOptions.__annotations__}

    @wraps(call)
    def checked(*args: P.args, **keywords: P.kwargs) -> Scored:
        wrong = [name for name in keywords if name not in known_names]
        needed = {*parameters[len(args) : 2]}
        names_no_function = takes_function and bool(args) and isinstance(args[0], str)
        if takes_function:
            _refuse_swapped(args, keywords)
        if not wrong and not names_no_function and needed <= keywords.keys():
            return call(*args, **keywords)
        problem = ""
        if wrong:
            problem = f" has no argument {wrong[0]!r}"
        url = keywords.get("url") or keywords.get("base_url") or keywords.get("llm_url", "URL")
        model = keywords.get("model") or keywords.get("llm", "MODEL")
        name = keywords.get("name", [*args, "NAME"][0])
        if names_no_function:
            problem = f": {args[0]!r} is not a function"
            if len(args) > 1:  # which of the texts is the benchmark is not known here
                name = "NAME"
        raise TypeError(
            f"{call.__name__}({', '.join(parameters[:2])}, …){problem}; a served model: "
            f"reelbench.ask({model!r}, {name!r}, url={url!r}); a function: reelbench.evaluate(fn, "
            f"{name!r})"
        )

    return checked


def _refuse_swapped(args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    """Raise TypeError where a function to ask stands in another argument's place."""
    texts = [value for value in (*args, keywords.get("name")) if isinstance(value, str)]
    name = [*texts, "NAME"][0]
    in_first_place = bool(args) and callable(args[0])
    elsewhere = [*args[1:], keywords.get("model"), keywords.get("name")]
    if not in_first_place and any(callable(value) for value in elsewhere):
        raise TypeError(
            f"evaluate: the function comes first: reelbench.evaluate(fn, {name!r}); model= is a "
            "name for the record"
        )


class AskedOptions(TypedDict, total=False):
    """The further keywords of `ask`, which are options of `reelbench ask`.

    Attributes:
        concurrency: Maximum concurrent calls; without it, 64.
        extra: Sent with every request as it is.
        max_tokens: Most tokens of an answer.
        thinking: The model thinks before it answers.
        budget_calls: Replies paid for at most.
        timeout: Seconds for one call.
        model_name: The model's name in results. Default: `model`, of a path the part that names it.
        reader: As in `score`.
    """

    concurrency: int
    extra: Mapping[str, Any]
    max_tokens: int | None
    thinking: bool
    budget_calls: int | None
    timeout: float
    model_name: str | None
    reader: "str | ReaderOptions | None"


@_with_usage_in_errors
def ask(
    model: str,
    name: str,
    *,
    url: str | None = None,
    frames: str | int = "uniform:32",
    split: str | None = None,
    limit: int | None = None,
    judge: "str | JudgeOptions | None" = None,
    data: str | Path | None = None,
    **options: Unpack[AskedOptions],
) -> Scored:
    """Ask a served model all questions of a benchmark, and score its answers.

    `reelbench ask` does the same.

    Args:
        model: `provider/model`, or the model's name on the server at `url`.
        name: A benchmark, or one of its tasks (`rextime_mini`).
        url: Base URL of an OpenAI-compatible server. Default: the provider's, otherwise
            `REELBENCH_LLM_URL`.
        frames: The frames, as in `reelbench ask --frames`. A number N means N equally spaced
            frames.
        split: The split, if not the task's or the benchmark's default one.
        limit: Maximum number of questions. The first ones are asked.
        judge: As in `score`.
        data: Path of the benchmark's data, if it isn't found automatically.
        **options: Options of the requests (`AskedOptions`).

    Returns:
        The scores. Answers are saved: the same call again sends no question a second time.

    Raises:
        InputError: A name or a value can't be used, or the provider doesn't support the request.
        ReelbenchError: No question was answered.
    """
    from reelbench.base import settings
    from reelbench.llm.ask_options import NamedModelOptions
    from reelbench.llm.model_names import read_model_name
    from reelbench.methods import asking
    from reelbench.tasks.score import Options

    where = url or settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL)
    whose = read_model_name("model", model, where, settings.LLM_API_KEY, settings.OPENAI_API_KEY)
    notes: list[str] = []
    questions = asking.questions(
        name, str(frames), split=split, limit=limit, data=_path_or_none(data)
    )
    request_options: dict[str, Any] = dict(options)
    model_name = request_options.pop("model_name", None)
    reader = _reader_options(request_options.pop("reader", None))
    scoring = Options(judge=_judge_options(judge), reader=reader, note=notes.append, bar=line_bar)
    asked_model = NamedModelOptions(**whose, file_as=model_name, **request_options)
    return _scored_evaluation(asking.ask(questions, asked_model, scoring), notes)


@_with_usage_in_errors
def evaluate(
    fn: Callable[[str, Any, dict[str, Any]], str],
    name: str,
    *,
    split: str | None = None,
    frames: str | int = "uniform:32",
    limit: int | None = None,
    judge: "str | JudgeOptions | None" = None,
    model: str | None = None,
    data: str | Path | None = None,
) -> Scored:
    """Ask a Python function all questions of a benchmark, and score its answers.

    A progress bar shows how far it has come.

    Args:
        fn: `fn(question, frames, row) -> text`. `question` is the whole prompt of the benchmark's
            task, with the options. `frames` is the path of a clip with exactly the frames that you
            chose, a list of PIL images with `as=images`, the video itself with `native`, or None
            with `none`. `row` has the row's columns (`reelbench.load`).
        name: A benchmark, or one of its tasks (`rextime_mini`).
        split: The split, if not the task's or the benchmark's default one.
        frames: The frames, as in `reelbench run --frames`.
        limit: Maximum number of questions. The first ones are asked.
        judge: As in `score`.
        model: The model's name, for the record. Default: the function's name.
        data: Path of the benchmark's data, if it isn't found automatically.

    Returns:
        The scores. A question is unscored if its video is missing (`media_missing`), or if `fn`
        raised an exception (`model_failed`). `notes` has the errors. If the first call of all
        raises an exception, it is raised.
    """
    from reelbench.methods import function
    from reelbench.tasks.score import Options

    notes: list[str] = []
    options = Options(judge=_judge_options(judge), note=notes.append, bar=line_bar)
    evaluation = function.evaluate(
        fn,
        name,
        options,
        split=split,
        frames=str(frames),
        limit=limit,
        model=model,
        data=_path_or_none(data),
    )
    return _scored_evaluation(evaluation, notes)


def results(store: str | Path) -> "pd.DataFrame":
    """Return a results store as a table, one row a metric of a result.

    Columns: `key` (the result's folder in the store); the leaderboard's columns, with the names of
    its downloads (`rank`, `model`, `revision`, `benchmark`, `split`, `frames`, `label`, `judge`,
    `items`, `scored`, `date` …); then `metric`, `value`, `low`, `high` (the 95 % interval), `n` and
    `unit`.

    Raises:
        InputError: There is no store, a file in it was changed, or the board is not installed.
    """
    import pandas as pd

    from reelbench.houses import of_house

    return pd.DataFrame(of_house("reelbench.results")(Path(store)))


def _scored_evaluation(evaluation: "Evaluation", failures: Sequence[str]) -> Scored:
    from reelbench.scoring import panel_agreement

    scored = evaluation.scored
    notes = [*evaluation.fits.get("notes", ())]
    for what in ("missing", "extra", "duplicate"):
        ids = evaluation.fits.get(what)
        if ids:
            notes.append(f"{number_of(len(ids), f'{what} id')} (first: {ids[0]!r})")
    notes += failures
    if evaluation.judge_failed:
        notes.append(evaluation.judge_failed)
    questions: dict[str, str] = {}
    for sample, (question, _) in zip(scored.samples, evaluation.asked, strict=True):
        questions[sample.id] = question
    return Scored(
        evaluation.spec.id,
        evaluation.spec.version,
        evaluation.questions.split,
        *scored.numbers,
        scored.counts,
        notes,
        panel_agreement.with_agreement(evaluation.spec, scored.samples, scored.judge),
        evaluation.spec,
        scored.samples,
        questions,
        evaluation.write,
        evaluation.model.id,
        evaluation.settings.reader,
    )


_OF_ANSWERS = ("revision", "frames", "label", "url")
"""Facts that are of the answers, and not of the model."""


def _facts_of_answers(
    about: "str | Path | Mapping[str, Any] | None",
) -> "tuple[dict[str, Any], About | None]":
    """Return the facts of the answers, and those of the model."""
    from reelbench.tasks import about as abouts

    if about is None:
        return {}, None
    if isinstance(about, str | Path):
        return {}, abouts.read(Path(about))
    if not isinstance(about, Mapping):
        raise InputError(f"about is a {type(about).__name__}, expected a path or a mapping")
    of_model: dict[str, Any] = json.loads(_as_json("about holds", dict(about)))
    of_answers: dict[str, Any] = {}
    for name in _OF_ANSWERS:
        if name not in of_model:
            continue
        value = of_model.pop(name)
        if not isinstance(value, str | None):
            raise InputError(f"about: {name} is a {type(value).__name__}, expected a text")
        of_answers[name] = value
    if not of_model:
        return of_answers, None
    return of_answers, abouts.parse(of_model, "about")


def _judge_options(judge: "str | JudgeOptions | None") -> "JudgeOptions | None":
    if not isinstance(judge, str):
        return judge
    from reelbench.judges.judge_options import JudgeOptions

    return JudgeOptions.named(judge)


def _reader_options(reader: "str | ReaderOptions | None") -> "ReaderOptions | None":
    if not isinstance(reader, str):
        return reader
    from reelbench.tasks.answer_reader import ReaderOptions

    return ReaderOptions.named(reader)


def _path_or_none(source: str | Path | None) -> Path | None:
    if source is None:
        return None
    return Path(source)


def _as_json(what: str, value: Any) -> str:  # noqa: ANN401 - a list or a dict
    """Return a value as JSON.

    Raises:
        InputError: It holds what JSON can't: itself, a key that is no text, and the like.
    """
    try:
        return json.dumps(value, default=_json_value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} what no file can ({first_line(error)})") from None


def _json_value(value: Any) -> Any:  # noqa: ANN401 - whatever a table holds, of numpy's or pandas'
    """Return a value of numpy's or pandas' as JSON has it."""
    import pandas as pd

    if hasattr(value, "tolist"):
        return value.tolist()
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return None
    return str(value)
