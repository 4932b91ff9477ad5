"""The Python face of Reelbench: what `import reelbench` offers, on top of what the command line uses.

Everything heavy is imported by the function that needs it, so that `import reelbench` stays cheap.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from reelbench.registry.errors import InputError, first_line, number_of
from reelbench.registry.progress import line_bar

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset

    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.pages.svg import Svg
    from reelbench.registry.records import About, Breakdowns, Counts, JudgeRecord, Metrics, Sample
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.registry.text_tables import Table
    from reelbench.scoring.comparison import Comparison
    from reelbench.tasks.score import Evaluation

_NAME = "predictions"
_FRAMES = ("to_df", "to_dataframe", "to_pandas")  # what others call `to_frame`


@dataclass(frozen=True, repr=False)
class Scored:
    """A scored benchmark: the numbers, and the items behind them. Nothing of it is written until `save` is called.

    It prints as a table of its metrics, and a notebook shows it as one.

    Attributes:
        benchmark: The benchmark's id.
        version: The benchmark's version: results of different versions are not comparable.
        split: The split that was scored.
        metrics: Name -> an object with `value` (None: not scored), `ci95` (low, high; or None) and `n` (items).
        breakdowns: Facet -> label -> metrics.
        counts: How many items ended how.
        notes: What did not fit, and what failed, a line each.
        judge: Who judged, and how, as `result.json` records it; None where nobody did.
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

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> "Table":
        """Return a row a metric; below it what lacks, and the notes."""
        from reelbench.registry.text_tables import Table
        from reelbench.scoring import metric_table

        title = metric_table.title(self.benchmark, self.split, self.counts)
        below = [*filter(None, [metric_table.without_interval(self._spec, self)]), *self.notes]
        return Table(title, metric_table.COLUMNS, metric_table.rows(self._spec, self), below)

    def plot(self, by: str | None = None, *, metric: str | None = None) -> "Svg":
        """Draw a metric over all items, and for each label of a facet, with 95 % intervals where there are any.

        Args:
            by: A facet of `breakdowns`; by default the first.
            metric: The metric's name; by default the benchmark's main one, or the first that the facet's labels have.

        Returns:
            The picture: SVG as text, which a notebook shows (`Path("plot.svg").write_text(scored.plot())`).

        Raises:
            InputError: There is no such facet or metric, or it has no value.
        """
        from reelbench.pages.plots import Mark, intervals
        from reelbench.pages.svg import Svg
        from reelbench.scoring import metric_table

        spec = self._spec
        facet = by or next(iter(self.breakdowns), None)
        if facet is not None and facet not in self.breakdowns:
            raise InputError(f"by {facet}: no such facet; there are {', '.join(self.breakdowns) or 'none'}")
        known = metric_table.facet_metrics(spec, self.breakdowns, facet) if facet else []
        main = spec.primary if spec.primary in known or not known else known[0]
        drawn = next((one for one in (*known, *spec.metrics) if one.name == (metric or main.name)), main)
        name = metric or drawn.name
        labels = {"all": self.metrics, **(self.breakdowns[facet] if facet else {})}
        marks = [
            Mark(0, label.replace("_", " "), value.value, value.ci95, value.n)
            for label, metrics in labels.items()
            if (value := metrics.get(name)) is not None and value.value is not None
        ]
        if not marks:
            scored = [name for name, value in self.metrics.items() if value.value is not None]
            raise InputError(f"{name}: has no value; there are {', '.join(scored) or 'none'}")
        title = f"{self.benchmark} {self.split}" + (f" by {facet.replace('_', ' ')}" if facet else "")
        unit, shown = drawn.in_unit, name.replace("_", " ")
        return Svg(intervals(title, f"{shown} ({unit.label})" if unit.label else shown, marks, unit.long_digits))

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - there is none
        hint = "; to_frame() returns a pandas DataFrame" if name in _FRAMES else ""
        raise AttributeError(f"Scored has no attribute {name!r}{hint}")

    def to_frame(self) -> "pd.DataFrame":
        """Return a row an item: `id`, `video`, `question`, `prediction`, `state`, `reason`, `flags`, then its own.

        These are what was read (`read.answer`, `read.span`), the reference (`target.…`), the facets' labels, and the
        scores (`score.…`, before scaling); an unscored item has no score. `question` is None where it is not known.
        """
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "id": sample.id,
                    "video": sample.video,
                    "question": self._questions.get(sample.id),
                    "prediction": sample.prediction,
                    "state": sample.state,
                    "reason": sample.reason,
                    "flags": list(sample.flags),
                    **{f"read.{name}": value for name, value in (sample.parsed or {}).items()},
                    **{f"target.{name}": value for name, value in sample.target.items()},
                    **sample.facets,
                    **{f"score.{name}": value for name, value in sample.scores.items()},
                }
                for sample in self._samples
            ]
        )

    def save(self, folder: str | Path) -> Path:
        """Write the result, its samples and its questions to a folder, as `reelbench score --output` does.

        Returns:
            The folder.
        """
        self._write(Path(folder))
        return Path(folder)


class SourceOptions(TypedDict, total=False):
    """Which rows are scored, and how a table of predictions is read: the further keywords of `score`.

    Attributes:
        split: The split, if not the task's or the benchmark's default one.
        data: Path of the benchmark's data, if it isn't found automatically.
        id_column: A table's column of ids, where its name doesn't tell.
        text_column: Its column of texts.
    """

    split: str | None
    data: str | Path | None
    id_column: str | None
    text_column: str | None


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
        predictions: A file in the owners' format or a table of ids and texts (CSV, TSV, JSON, JSON Lines, Parquet,
            Excel, `hf://datasets/ORG/NAME`), or a list of dicts, a DataFrame or a Dataset with the same in it.
        references: A file of references; by default the benchmark's own data.
        tags: CogME's tags (JSON Lines), for dramaqa_cogme.
        judge: Who judges open answers, as `--judge` takes it: a model, `MODEL@URL`, or several with commas between
            them (a panel); or `reelbench.JudgeOptions` for more than that.
        model: Whose answers these are, for the record.
        about: What else the record is to say, as a mapping or a `model.yaml`: `frames` (`uniform:32`), `label` (what
            else shaped the answers), `url` (where they are described), `revision`, `parameters`, `licence`, and what
            else `--about` takes.
        overlap: Whether BLEU, CIDEr and METEOR are computed; they take a Java process.
        **source: `split` (if not the task's or the benchmark's default one), `data` (path of the benchmark's data, if
            it isn't found automatically), and of a table `id_column` and `text_column`, where their names don't tell.

    Raises:
        InputError: The predictions can't be read or don't fit.
        DataUnavailableError: The references are not here.
    """
    from reelbench.tasks.predictions import Columns
    from reelbench.tasks.score import Options, RunMetadata, resolve_predictions, score_files
    from reelbench.tasks.submissions import Inputs

    if unknown := source.keys() - SourceOptions.__annotations__.keys():
        raise TypeError(f"score() has no argument {min(unknown)!r}")
    stated, of_model = _about(about)
    notes: list[str] = []
    options = Options(overlap=overlap, judge=_judge(judge), note=notes.append, bar=line_bar, about=of_model)

    def scored(given: str | Path) -> Scored:
        path, metadata = resolve_predictions(given, RunMetadata(model, **stated))
        inputs = Inputs(path, _path(references), _path(tags), source.get("split"), _path(source.get("data")))
        columns = Columns(source.get("id_column"), source.get("text_column"))
        return _scored(score_files(name, inputs, options, columns=columns, metadata=metadata), notes)

    if isinstance(predictions, str | Path):
        return scored(predictions)
    with tempfile.TemporaryDirectory() as folder:
        # As a file, so that a table and the owners' format are told apart in one way.
        path = Path(folder) / f"{_NAME}.json"
        path.write_text(_written(f"{_NAME} hold", _records(predictions)), encoding="utf-8")
        try:
            return scored(path)
        except InputError as error:
            raise InputError(str(error).replace(str(path), _NAME)) from None


def open_result(folder: str | Path) -> Scored:
    """Return a result that is on disk, as `score` returned it before `save` wrote it.

    Args:
        folder: What `save`, `reelbench score --output` or `reelbench run` wrote: `result.json` and `samples.jsonl`; or
            a folder above that has no other result.

    Returns:
        The result. Questions are known where `questions.jsonl` lies beside it; a note says so where the samples are
        not those that the result was made from.

    Raises:
        InputError: There is no result, or several, or a file of it can't be read.
    """
    from reelbench.registry import discovery
    from reelbench.registry.files import sha256_of
    from reelbench.scoring import result_files

    place = Path(folder)
    if os.path.exists(place):  # noqa: PTH110 - of a name that no file can have it says no
        place = result_files.folder_of_one(place)
    result = result_files.read(place)
    changed = sha256_of(result_files.samples_of(place)) != result.provenance.samples_sha256
    asked = result_files.read_questions(place)
    return Scored(
        result.benchmark.id,
        result.benchmark.version,
        result.benchmark.split,
        result.metrics,
        result.breakdowns,
        result.counts,
        [f"{place / result_files.SAMPLES_FILE}: changed since the result was written"] if changed else [],
        result.judge,
        discovery.spec_of(result.benchmark),
        list(result_files.read_samples(place)),
        {key: line["question"] for key, line in asked.items()},
        partial(result_files.copy, place),
    )


def compare(a: "Scored | str | Path", b: "Scored | str | Path", *, anyway: bool = False) -> "Comparison":
    """Test whether one result is better than another, on the items that both answered: what `reelbench compare` does.

    Args:
        a: A result, or its folder.
        b: Another one of the same benchmark, version and split.
        anyway: Compare them even if different judges, or judges with different prompts, scored them.

    Returns:
        The comparison: `metrics` (name -> the two values, their difference with its 95 % interval over videos, and p),
        `both`, `only_a` and `only_b` (items).

    Raises:
        InputError: They are not of the same benchmark, version and split, or were not judged alike.
    """
    from reelbench.scoring import comparison

    first, second = (given if isinstance(given, Scored) else open_result(given) for given in (a, b))
    of_first, of_second = (f"{one.benchmark} {one.split} (version {one.version})" for one in (first, second))
    if of_first != of_second:
        raise InputError(
            f"compare: {of_first} and {of_second} can't be compared; take two results on the same benchmark, version "
            "and split"
        )
    if not anyway and (apart := comparison.judging_apart(first.judge, second.judge)):
        raise InputError(f"compare: {apart}; to compare them all the same give anyway=True")
    return comparison.compare(first._samples, second._samples, first._spec)  # noqa: SLF001


def evaluate(
    fn: Callable[[str, Any, Mapping[str, Any]], str],
    name: str,
    *,
    split: str | None = None,
    frames: str = "uniform:32",
    limit: int | None = None,
    judge: "str | JudgeOptions | None" = None,
    model: str | None = None,
    data: str | Path | None = None,
) -> Scored:
    """Ask a Python function every question of a benchmark, and score its answers; a terminal or notebook has a bar.

    Args:
        fn: `fn(question, frames, row) -> text`. `question` is the whole prompt as the benchmark's task words it, with
            its options. `frames` is a path to a clip with exactly the frames asked for, a list of PIL images with
            `as=images`, the video itself with `native`, and None with `none`. `row` has the row's columns
            (`reelbench.load`).
        name: A benchmark, or one of its tasks (`rextime_mini`).
        split: The split, if not the task's or the benchmark's default one.
        frames: Which frames, as `reelbench run --frames` takes it.
        limit: Only the first so many questions.
        judge: As `score` takes it.
        model: The model's name, for the record; by default the function's.
        data: Path of the benchmark's data, if it isn't found automatically.

    Returns:
        The scores. A question without its video is unscored (`media_missing`), as is one at which `fn` raised
        (`model_failed`); `notes` say what failed. An exception from the first call of all is raised.
    """
    from reelbench.methods import function
    from reelbench.tasks.score import Options

    notes: list[str] = []
    options = Options(judge=_judge(judge), note=notes.append, bar=line_bar)
    evaluation = function.evaluate(
        fn, name, options, split=split, frames=frames, limit=limit, model=model, data=_path(data)
    )
    return _scored(evaluation, notes)


def results(store: str | Path) -> "pd.DataFrame":
    """Return a results store as a table, a row a metric of a result.

    Columns: `key` (the result's folder in the store); those of the leaderboard, under the names of its downloads
    (`rank`, `model`, `revision`, `benchmark`, `split`, `frames`, `label`, `judge`, `items`, `scored`, `date` …); then
    `metric`, `value`, `low`, `high` (the 95 % interval), `n` and `unit`.

    Raises:
        InputError: There is no store, a file in it was changed, or the board is not installed.
    """
    import pandas as pd

    try:
        from reelbench.leaderboard import board, columns
    except ModuleNotFoundError as error:
        if not f"{error.name}.".startswith("reelbench.leaderboard."):
            raise
        raise InputError(f"reelbench.results: Reelbench's board is not installed here ({error.name})") from None

    made = board.make(Path(store), published=False)
    if made.left_out:
        raise InputError(next(iter(made.left_out.values())))
    rows = columns.metric_records(made)
    return pd.DataFrame([row for row in rows if row["key"] is not None])


def _scored(evaluation: "Evaluation", failures: Sequence[str]) -> Scored:
    from reelbench.scoring import panel_agreement

    scored = evaluation.scored
    fits = ((what, evaluation.fits.get(what)) for what in ("missing", "extra", "duplicate"))
    notes = [
        *evaluation.fits.get("notes", ()),
        *(f"{number_of(len(ids), f'{what} id')} (first: {ids[0]!r})" for what, ids in fits if ids),
        *failures,
        *filter(None, [evaluation.judge_failed]),
    ]
    return Scored(
        evaluation.spec.id,
        evaluation.spec.version,
        evaluation.split,
        scored.metrics,
        scored.breakdowns,
        scored.counts,
        notes,
        panel_agreement.completed(evaluation.spec, scored.samples, scored.judge),
        evaluation.spec,
        scored.samples,
        {sample.id: question for sample, question, _ in evaluation.asked.of_samples(scored.samples)},
        evaluation.write,
    )


def _about(about: "str | Path | Mapping[str, Any] | None") -> "tuple[dict[str, Any], About | None]":
    """Return what is said of the answers, and what is said of the model."""
    from reelbench.registry import about as abouts

    if about is None or isinstance(about, str | Path):
        return {}, None if about is None else abouts.read(Path(about))
    if not isinstance(about, Mapping):
        raise InputError(f"about is a {type(about).__name__}, expected a path or a mapping")
    stated: dict[str, Any] = json.loads(_written("about holds", dict(about)))
    of_answers = {name: stated[name] for name in ("revision", "frames", "label", "url") if name in stated}
    for name, value in of_answers.items():
        if not isinstance(value, str | None):
            raise InputError(f"about: {name} is a {type(value).__name__}, expected a text")
    of_model = {name: value for name, value in stated.items() if name not in of_answers}
    return of_answers, abouts.parse(of_model, "about") if of_model else None


def _judge(judge: "str | JudgeOptions | None") -> "JudgeOptions | None":
    if not isinstance(judge, str):
        return judge
    from reelbench.judges.judge_options import JudgeOptions

    return JudgeOptions.named(judge)


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)


def _records(table: Any) -> Any:  # noqa: ANN401 - a list of dicts, a DataFrame or a Dataset
    if hasattr(table, "to_pandas"):
        table = table.to_pandas()
    if isinstance(table, Mapping):
        return dict(table)
    if hasattr(table, "to_dict") and hasattr(table, "columns"):  # a Series has but one of them
        return table.to_dict("records")
    if isinstance(table, Sequence):
        return list(table)
    raise InputError(
        f"predictions are a {type(table).__name__}, expected a path, a list of dicts, a DataFrame or a Dataset"
    )


def _written(what: str, value: Any) -> str:  # noqa: ANN401 - a list or a dict
    """Return a value as JSON; InputError where it holds what JSON can't: itself, a key that is no text, …."""

    def plain(value: Any) -> Any:  # noqa: ANN401 - whatever a table holds, of numpy's or pandas'
        import pandas as pd

        if hasattr(value, "tolist"):
            return value.tolist()
        return None if pd.api.types.is_scalar(value) and pd.isna(value) else str(value)

    try:
        return json.dumps(value, default=plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} what no file can ({first_line(error)})") from None
