"""`reelbench ace`: choose among a model's candidates by a small language model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import ReelbenchError, number_of
from reelbench.terminal import console, defaults
from reelbench.terminal.asking_options import (
    AboutAnswers,
    Judge,
    Llm,
    LlmBatch,
    RetryUnread,
    only_model,
)
from reelbench.terminal.candidate_source import ACE_FILE, CandidateSource, numbers
from reelbench.terminal.option_groups import Json, NoOverlap, options_given, reports_status
from reelbench.terminal.report import check_judged, report

if TYPE_CHECKING:
    from reelbench.pages.plots import Mark
    from reelbench.studio.ace import Enhancement
    from reelbench.tasks.score import Answers, Options, Outcome


METEOR = "meteor"
CHOSEN_FILE = "predictions.jsonl"


@reports_status
def ace(
    context: typer.Context,
    *,
    source: CandidateSource,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            help="pointwise: a score from 0 to 10 for each candidate; listwise: one reply chooses.",
        ),
    ] = "pointwise",
    llm_votes: Annotated[
        int, typer.Option("--llm-votes", metavar="K", min=1, help="Replies per request.")
    ] = 1,
    retry_unread: RetryUnread = False,
    llm_batch: LlmBatch = False,
    k: Annotated[
        str | None,
        typer.Option(
            "--k",
            metavar="N,N,…",
            help="Use each question's first N candidates; several N give a plot over N.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", help="Output folder; several N each get a folder in it."),
    ] = None,
    as_json: Json = False,
    no_overlap: NoOverlap = False,
    no_controls: Annotated[
        bool,
        typer.Option(
            "--no-controls", help="Judge only the chosen candidates, without the comparisons."
        ),
    ] = False,
    metadata: AboutAnswers,
    llm: Llm,
    judge: Judge,
) -> None:
    """Choose among candidates with a small language model (ACE).

    The gain is measured too.

    The choice is a result of its own (MODEL + ACE). Beside it stand, from the same candidates: the
    first, one at random, the longest, and with a judge the best one. `--llm hf:MODEL` ranks in this
    process, by transformers.
    """
    from reelbench.base.settings import home
    from reelbench.methods.candidates import limit_candidates
    from reelbench.studio.ace import Enhancement, Ranker, rank
    from reelbench.tasks.score import Options

    model = only_model(llm, retry_unread=retry_unread, batch=llm_batch)
    ranker = Ranker(model, mode, llm_votes)  # type: ignore[arg-type] - it checks the mode
    options = Options(
        overlap=not no_overlap,
        judge=judge,
        note=console.note,
        bar=console.progress,
        defaults=defaults.applied(),
    )
    sizes = numbers(k)
    run, cases, answers = source.read(metadata, judged=judge is not None)
    documents: list[dict[str, Any]] = []
    outcomes: list[Outcome] = []
    for size in sizes:
        limited_cases = limit_candidates(cases, size)
        ranked = rank(limited_cases, ranker, note=console.note, bar=console.progress)
        enhancement = Enhancement(limited_cases, ranker, ranked, answers)
        controls = {} if no_controls else enhancement.controls(options)
        document = enhancement.document(controls)
        documents.append(document)
        # By default the folder is in the run's. Choices of a file without a benchmark have none.
        folder = None
        if output is not None:
            folder = output / f"k{enhancement.k}" if len(sizes) > 1 else output
        elif run is not None:
            folder = run / enhancement.name
        elif answers is not None:
            folder = home() / "results" / enhancement.name
        if folder is not None:
            outcomes += _write_answers_and_document(enhancement, document, options, folder)
        if not as_json:
            _print_controls_and_gain(document, answers)
    if answers is not None and output is not None:
        _draw_controls(documents, answers, output)
    if as_json:
        whole = documents if len(documents) > 1 else documents[0]
        console.write_json(whole)
    again = ["reelbench", "ace", *options_given(context)]
    report(outcomes, as_json=False, again=again, quiet=as_json)
    check_judged(outcomes)
    if all(document["unparsed"] == document["candidates"] for document in documents):
        raise ReelbenchError(
            f"{ranker.model.model}: none of the ranker's replies could be read, so the first "
            "candidate is always the choice"
        )


def _write_answers_and_document(
    enhancement: "Enhancement", document: dict[str, Any], options: "Options", folder: Path
) -> "list[Outcome]":
    """Write the chosen answers, scored where a benchmark is known, and the document."""
    from reelbench.base.files import write_json, write_jsonl

    if enhancement.answers is not None:
        evaluation = enhancement.evaluation(enhancement.answers, options)
        outcomes = [evaluation.write(folder)]
        write_json(folder / ACE_FILE, document)
        return outcomes
    lines: list[dict[str, str]] = []
    for case in enhancement.cases:
        text = case.candidates[enhancement.chosen[case.id]]
        lines.append({"id": case.id, "prediction": text})
    write_jsonl(folder / CHOSEN_FILE, lines)
    write_json(folder / ACE_FILE, document)
    console.note(f"written to {folder}")
    return []


def _print_controls_and_gain(document: dict[str, Any], answers: "Answers | None") -> None:
    """Show the controls, the gain over the first candidate, and the counts."""
    ranker = document["ranker"]
    controls = document["controls"]
    names = [name for name in _metric_names([document]) if not name.endswith("_per_question")]
    if controls:
        title = (
            f"{ranker['model']} among {document['k']} candidates ({ranker['mode']}), "
            f"{document['questions']} questions"
        )
        table = console.table(title, "choice", "#mean words", *(f"#{name}" for name in names))
        for control, figures in controls.items():
            row = [control, f"{figures['mean_words']:.1f}"]
            for name in names:
                cell = ""
                if answers is not None and name in figures["metrics"]:
                    digits = answers.questions.spec.metric(name).in_unit.long_digits
                    cell = f"{figures['metrics'][name]['value']:.{digits}f}"
                row.append(cell)
            table.add_row(*row)
        console.show(table)
        _show_gains(controls, names)
    share = 100 * document["not_first"] / document["questions"]
    summary = (
        f"not the first: {document['not_first']} of {document['questions']} "
        f"({share:.1f} %); ties: {document['ties']}; "
        f"unparsed candidates: {document['unparsed']} of {document['candidates']}"
    )
    if document["similarity"] is not None:
        summary += f"; candidates' similarity {document['similarity']:.2f}"
    console.write(summary)
    calls = number_of(ranker["calls"], "call")
    cached = number_of(ranker["cached"], "reply", "replies")
    console.write(f"{calls}, {cached} from the cache")


def _metric_names(documents: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of the metrics that any control has."""
    names: dict[str, None] = {}
    for document in documents:
        for control in document["controls"].values():
            names |= dict.fromkeys(control["metrics"])
    return list(names)


def _show_gains(controls: dict[str, Any], names: Sequence[str]) -> None:
    """Show each metric's gain of the choice over the first candidate."""
    metrics_of_first = controls["first"]["metrics"]
    metrics_of_chosen = controls["ace"]["metrics"]
    for name in names:
        if name not in metrics_of_first or name not in metrics_of_chosen:
            continue
        value_of_first = metrics_of_first[name]["value"]
        if not value_of_first:
            continue
        gain = metrics_of_chosen[name]["value"] - value_of_first
        percent = 100 * gain / value_of_first
        console.write(f"{name}: {gain:+.2f} over the first candidate ({percent:+.1f} %)")


def _draw_controls(documents: Sequence[dict[str, Any]], answers: "Answers", output: Path) -> None:
    """Draw the controls.

    Of several numbers of candidates their first metric, and always METEOR against length.
    """
    from reelbench.base.files import write_text
    from reelbench.pages.figures import scatter
    from reelbench.pages.plots import lines

    spec = answers.questions.spec
    title = f"{spec.title} · {answers.model.id} + ACE"
    names = _metric_names(documents)
    metrics = [metric for metric in spec.metrics if metric.name in names]
    if metrics and len(documents) > 1:
        first = metrics[0]
        unit = first.in_unit
        svg = lines(
            title,
            f"{first.title}, {unit.label}",
            _marks_by_control(documents, first.name, by_length=False),
            "candidates of each question",
            least=(unit.high - unit.low) / 10,
        )
        path = output / "ace.svg"
        write_text(path, svg)
        console.note(
            f"written to {path}; a search with 3 beams may find others than the first 3 of 7"
        )
    # A longer answer has more words that may be a reference's. `longest` shows the gain of that.
    if METEOR in names:
        length_title = "mean words of the answers chosen"
        if len(documents) > 1:
            length_title += ", and of how many candidates"
        axes = (length_title, spec.metric(METEOR).title)
        marks = _marks_by_control(documents, METEOR, by_length=True)
        path = output / "ace_length.svg"
        write_text(path, scatter(title, axes, marks, least=(1.0, 0.02)))
        console.note(f"written to {path}")


def _marks_by_control(
    documents: Sequence[dict[str, Any]], metric: str, *, by_length: bool
) -> "dict[str, list[Mark]]":
    """Return each control's marks in a metric, one for each number of candidates."""
    from reelbench.pages.plots import Mark

    series: dict[str, list[Mark]] = {}
    for document in documents:
        k = document["k"]
        for name, control in document["controls"].items():
            value = control["metrics"].get(metric)
            if not value:
                continue
            x = control["mean_words"] if by_length else k
            mark = Mark(x, str(k), value["value"], value["ci95"], value["n"])
            series.setdefault(name, []).append(mark)
    return series
