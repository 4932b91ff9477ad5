"""`reelbench profile`: measure datasets as the papers do, and show a table, JSON or plots."""

import re
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from reelbench.base.errors import InputError
from reelbench.base.text_tables import interval, number
from reelbench.terminal import console
from reelbench.terminal.asking_options import Judge
from reelbench.terminal.option_groups import Data, Json, Split, reports_status, task_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reelbench.studio.profile import Label, Measure, Profile, Spans


_SHOWN_LABELS = 30


@reports_status
def profile(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Benchmarks or tasks, shown side by side.", autocompletion=task_names),
    ] = None,
    *,
    input_files: Annotated[
        list[Path] | None,
        typer.Option(
            "--input",
            metavar="FILE",
            help="Your own rows with question and answer (JSON, JSON Lines).",
        ),
    ] = None,
    split: Split = None,
    data: Data = None,
    tags: Annotated[
        Path | None, typer.Option("--tags", help="CogME tags of the questions (JSON Lines).")
    ] = None,
    question_spans: Annotated[
        Path | None,
        typer.Option(
            "--question-spans",
            help="Spans of the events in the questions (JSON Lines: qid, span), for QA-IoU.",
        ),
    ] = None,
    result: Annotated[
        Path | None,
        typer.Option("--result", help="A result's folder: adds the accuracy of each label."),
    ] = None,
    spacy_model: Annotated[
        str | None,
        typer.Option(
            "--spacy-model",
            help="spaCy model, name or folder; default REELBENCH_SPACY_MODEL or en_core_web_sm.",
        ),
    ] = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Show all datasets of MovieCORE's Table 1 beside yours."),
    ] = False,
    as_json: Json = False,
    output: Annotated[
        Path | None, typer.Option("--output", help="Folder for profile.json, profile.md and plots.")
    ] = None,
    judge: Judge,
) -> None:
    """Measure datasets: readability, parse depth, words, labels, spans.

    With --judge also Bloom's levels.
    """
    from reelbench.studio import profile as profiling
    from reelbench.studio.readability import ParserUnavailableError, load_parser

    benchmarks = names or []
    files = input_files or []
    if not benchmarks and not files:
        raise InputError(
            "nothing to profile: give a benchmark's name, "
            "or --input FILE with questions and answers"
        )
    if len(benchmarks) != 1 and (split or data):
        raise InputError("--split and --data belong to one benchmark; name only that one")
    datasets = [profiling.read_benchmark(name, split, data) for name in benchmarks]
    for path, name in zip(files, _file_names(files), strict=True):
        datasets.append(profiling.read_file(path, name))
    if len(datasets) > 1 and (tags or question_spans or result):
        raise InputError(
            "--tags, --question-spans and --result belong to one dataset; name only that one"
        )
    try:
        parser = load_parser(spacy_model)
    except ParserUnavailableError as error:
        console.note(str(error))
        parser = None
    extras = profiling.Extras(
        parser=parser,
        judge=judge,
        tags=tags,
        question_spans=question_spans,
        result=result,
        note=console.note,
        bar=console.progress,
        all_published=published,
    )
    profiles = [profiling.profile(dataset, extras) for dataset in datasets]
    documents = [profile.model_dump() for profile in profiles]
    document = documents[0] if len(documents) == 1 else documents
    if output is not None:
        write(output, document, profiles)
    if as_json:
        console.write_json(document)
        return
    _print_profiles(profiles, judged=extras.judge is not None)
    if output is not None:
        console.write(f"written to {output}")


def _file_names(files: "Sequence[Path]") -> list[str]:
    """Return a name for each file: its stem, or more where another has that."""
    names = [path.stem for path in files]
    paths_without_suffix = [str(path.with_suffix("")) for path in files]
    whole_paths = [str(path) for path in files]
    for longer_names in (paths_without_suffix, whole_paths):
        counts = Counter(names)
        for place, longer_name in enumerate(longer_names):
            if counts[names[place]] > 1:
                names[place] = longer_name
    return names


class _Titles(NamedTuple):
    """The names of a measure of texts."""

    terminal: str
    paper: str
    """In the table for a paper; "" for a measure that is not in it."""
    plot: str
    """Above a plot; "" for a measure without one."""
    unit: str = ""


_MEASURES = {
    "parse_depth": _Titles("parse depth", "Parse depth", "Depth of the parse tree", "steps"),
    "flesch_kincaid": _Titles("Flesch-Kincaid grade", "F-K grade", "Flesch-Kincaid grade", "grade"),
    "bloom": _Titles("Bloom's level", "Bloom", "Level of Bloom's taxonomy", "level"),
    "higher_order": _Titles("higher order, %", "HO-QA %", ""),
    "words": _Titles("words", "", "Words", "words"),
}
_SIDES = ("question", "answer", "average")


def _tools_text(made_with: "Mapping[str, str]") -> str:
    return "; ".join(f"{_MEASURES[name].terminal}: {tool}" for name, tool in made_with.items())


def _print_profiles(profiles: "list[Profile]", *, judged: bool) -> None:
    """Show profiles side by side, then each one's spans, steps and labels."""
    _show_measures(profiles)
    for profile in profiles:
        if profile.made_with:
            console.note(f"{profile.name}: {_tools_text(profile.made_with)}")
    if not judged:
        console.note("Bloom's levels need a judge: --judge MODEL")
    for profile in profiles:
        if profile.spans is not None:
            _show_spans(profile.name, profile.spans)
        if profile.reasoning_steps:
            _show_steps(profile)
        for facet, labels in profile.labels.items():
            _show_labels(profile, facet, labels)


def _show_measures(profiles: "list[Profile]") -> None:
    """Show the measures of texts, with published ones beside them."""
    papers: dict[str, Mapping[str, Any]] = {}
    for profile in profiles:
        for row in profile.published:
            papers[row["dataset"]] = row
    table = console.table(
        "",
        "measure",
        "of",
        *(f"#{profile.name}" for profile in profiles),
        *(f"#{name} (paper)" for name in papers),
    )
    table.add_row("rows", "", *(str(profile.rows) for profile in profiles))
    for name, titles in _MEASURES.items():
        columns = [profile.sides(name) for profile in profiles]
        columns += [_published_sides(row.get(name)) for row in papers.values()]
        if all(column == (None, None, None) for column in columns):
            continue
        for place, side in enumerate(_SIDES):
            title = titles.terminal if place == 0 else ""
            table.add_row(title, side, *(number(column[place]) for column in columns))
    table.add_row("vocabulary", "", *(str(len(profile.vocabulary)) for profile in profiles))
    console.show(table)
    if papers:
        from reelbench.studio.data_files import from_papers

        source = from_papers("profiles")
        tools = _tools_text(source["made_with"])
        console.note(f"paper: {source['cite']}, of {source['of']} ({tools})")


def _published_sides(value: Any) -> tuple[float | None, ...]:  # noqa: ANN401 - as in the file
    """Return a paper's figures. A single one is of questions and answers together."""
    if isinstance(value, list):
        return tuple(value)
    return (None, None, value)


def _show_spans(name: str, spans: "Spans") -> None:
    table = console.table(f"{name}: spans", "quantity", "#value", "#questions")
    table.add_row("answer span, s", number(spans.length), str(spans.n))
    table.add_row("share of the video, %", number(spans.share), str(spans.n))
    with_question_span = str(spans.question_spans)
    table.add_row("certificate length, s", number(spans.certificate_length), with_question_span)
    table.add_row("question-answer IoU", number(spans.qa_iou), with_question_span)
    console.show(table)


def _show_steps(profile: "Profile") -> None:
    counts = ", ".join(f"{steps}: {n}" for steps, n in sorted(profile.reasoning_steps.items()))
    console.write(f"{profile.name}: reasoning steps -> questions: {counts}")


def _show_labels(profile: "Profile", facet: str, labels: "Mapping[str, Label]") -> None:
    """Show the most frequent labels of a facet, with accuracy where it is known."""
    title = f"{profile.name}: {facet}"
    link = profile.accuracy_link.get(facet)
    if link is not None:
        title += f" (frequency and accuracy: Spearman's rho {link:.2f})"
    with_accuracy = any(label.accuracy is not None for label in labels.values())
    heads = ["label", "#questions", "#%"]
    if with_accuracy:
        heads += ["#accuracy", "#95 % interval", ""]
    table = console.table(title, *heads)
    for name, label in islice(labels.items(), _SHOWN_LABELS):
        cells = [name, str(label.n), f"{label.share:.1f}"]
        if with_accuracy:
            weak = "weak" if label.weak else ""
            cells += [number(label.accuracy, 1), interval(label.ci95, 1), weak]
        table.add_row(*cells)
    if len(labels) > _SHOWN_LABELS:
        table.add_row(f"and {len(labels) - _SHOWN_LABELS} more")
    console.show(table)


# --- files

_TERMS = 25


def write(folder: Path, document: object, profiles: "Sequence[Profile]") -> None:
    """Write numbers, plots and a table in the shape of MovieCORE's Table 1."""
    from reelbench.base.files import write_json, write_text

    write_json(folder / "profile.json", document)
    write_text(folder / "profile.md", _paper_table(profiles))
    for name, svg in plots(profiles).items():
        write_text(folder / f"{name}.svg", svg)


def _paper_table(profiles: "Sequence[Profile]") -> str:
    """Return a Markdown table in the shape of MovieCORE's Table 1."""
    names = [name for name, titles in _MEASURES.items() if titles.paper]
    heads = ["Dataset", "Rows"]
    for name in names:
        title = _MEASURES[name].paper
        heads += [f"{title} Q", f"{title} A", f"{title} avg"]
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    for profile in profiles:
        cells = [profile.name, str(profile.rows)]
        for name in names:
            cells += map(number, profile.sides(name))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plots(profiles: "Sequence[Profile]") -> dict[str, str]:
    """Return the plots as SVG, by file name.

    There is a histogram for each measure and side, and bars for each facet of labels and for the
    top terms.
    """
    svgs: dict[str, str] = {}
    for measure, titles in _MEASURES.items():
        if titles.plot:
            svgs |= _histogram_by_side(profiles, measure, titles)
    facets: dict[str, None] = {}
    for profile in profiles:
        facets |= dict.fromkeys(profile.labels)
    for facet in facets:
        svgs |= _label_bars(profiles, facet)
    for profile in profiles:
        svgs |= _term_bars(profile)
        radars = _draw_label_accuracies(profile)
        if radars is not None:
            svgs["radars"] = radars
    files: dict[str, str] = {}
    for name, svg in svgs.items():
        files[re.sub(r"[^\w.-]+", "_", name)] = svg
    return files


def _histogram_by_side(
    profiles: "Sequence[Profile]", measure_name: str, titles: _Titles
) -> dict[str, str]:
    """Return a histogram for each side, where its values differ."""
    from reelbench.pages.plots import histogram

    svgs: dict[str, str] = {}
    for side in ("question", "answer"):
        series: dict[str, list[float]] = {}
        for profile in profiles:
            measure: Measure | None = getattr(profile, measure_name)
            if measure is not None and measure.values[side]:
                series[profile.name] = sorted(measure.values[side])
        if any(values[0] < values[-1] for values in series.values()):
            title = f"{titles.plot}, {side}s"
            svgs[f"{measure_name}-{side}"] = histogram(title, series, titles.unit)
    return svgs


def _label_bars(profiles: "Sequence[Profile]", facet: str) -> dict[str, str]:
    """Return the shares of a facet's labels, and where known the accuracy beside them."""
    from reelbench.pages.plots import bars

    svgs: dict[str, str] = {}
    title = facet.replace("_", " ")
    shares: dict[str, dict[str, float]] = {}
    questions: dict[str, int] = {}  # that a profile knows the facet of
    for profile in profiles:
        labels = profile.labels.get(facet)
        if labels is None:
            continue
        shares[profile.name] = {name: label.share for name, label in labels.items()}
        largest = max(labels.values(), key=lambda label: label.n)
        questions[profile.name] = round(100 * largest.n / largest.share)
        # Frequency against rate, the rarest first: CogME's weak labels stand at the top (Figure 4).
        share_bars: dict[str, float] = {}
        rate_bars: dict[str, float] = {}
        for name, label in sorted(labels.items(), key=lambda item: item[1].n):
            if label.accuracy is not None:
                share_bars[name] = label.share
                rate_bars[name] = label.accuracy
        if rate_bars:
            rates = {"share of questions": share_bars, "answered right": rate_bars}
            svgs[f"rates-{facet}"] = bars(f"{profile.name}: {title}, %", rates)
    svgs[f"labels-{facet}"] = bars(f"Questions by {title}", shares, n=questions)
    return svgs


def _term_bars(profile: "Profile") -> dict[str, str]:
    """Return the most frequent words, without English function words."""
    from reelbench.pages.plots import bars
    from reelbench.studio.data_files import studio_data

    joining_words = set(studio_data("words.yaml")["joining"].split())
    counts = {
        word: count
        for word, count in profile.vocabulary.items()
        if len(word) > 1 and word not in joining_words
    }
    words = sorted(counts, key=lambda word: (-counts[word], word))[:_TERMS]
    if not words:
        return {}
    title = f"{profile.name}: the {len(words)} most frequent words"
    terms = {word: counts[word] for word in words}
    return {f"terms-{profile.name}": bars(title, {"": terms}, counts=True)}


def _draw_label_accuracies(profile: "Profile") -> str | None:
    """Draw the accuracy by CogME's labels (Figure 3). None where none is known."""
    from reelbench.pages.figures import radars
    from reelbench.scoring.cognitive_profile import COMPONENTS

    panels: dict[str, dict[str, tuple[float | None]]] = {}
    has_accuracy = False
    for component, names in COMPONENTS.items():
        labels = profile.labels.get(component, {})
        panel: dict[str, tuple[float | None]] = {}
        for name in names:
            accuracy = labels[name].accuracy if name in labels else None
            panel[name] = (accuracy,)
            if accuracy is not None:
                has_accuracy = True
        panels[component.upper()] = panel
    if not has_accuracy:
        return None
    return radars(
        f"{profile.name}: what was understood",
        [""],
        panels,
        unit="answered right, %",
        high=100,
        digits=1,
    )
