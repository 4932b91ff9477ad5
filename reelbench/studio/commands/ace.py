"""`reelbench ace`: a small language model chooses among a model's candidates; and what that is worth."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.errors import ReelbenchError, number_of
from reelbench.terminal import console
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

    ranker = Ranker(only_model(llm, retry_unread=retry_unread, batch=llm_batch), mode, llm_votes)  # type: ignore[arg-type] - held to its modes there
    options = Options(overlap=not no_overlap, judge=judge, note=console.note, bar=console.progress)
    sizes = numbers(k)
    run, cases, answers = source.read(metadata, judged=judge is not None)
    documents, outcomes = [], []
    for size in sizes:
        few = limit_candidates(cases, size)
        enhanced = Enhancement(
            few, ranker, rank(few, ranker, note=console.note, bar=console.progress), answers
        )
        document = enhanced.document({} if no_controls else enhanced.controls(options))
        # The folder of a choice: in a run's folder by default; of a file without a benchmark
        # nowhere.
        if output is not None:
            folder = output / f"k{enhanced.k}" if (len(sizes) > 1) else output
        elif run is not None or answers is not None:
            folder = (run or home() / "results") / enhanced.name
        else:
            folder = None
        if folder is not None:
            outcomes += _write(enhanced, document, options, folder)
        documents.append(document)
        if not as_json:
            _show(document, answers)
    if answers is not None and output is not None:
        _plot(documents, answers, output)
    if as_json:
        console.write_json(documents if len(documents) > 1 else documents[0])
    report(
        outcomes, as_json=False, again=["reelbench", "ace", *options_given(context)], quiet=as_json
    )
    check_judged(outcomes)
    if all(document["unparsed"] == document["candidates"] for document in documents):
        raise ReelbenchError(
            f"{ranker.model.model}: no reply of the ranker could be read, so each choice is the first candidate"
        )


def _write(
    enhanced: "Enhancement", document: dict[str, Any], options: "Options", folder: Path
) -> "list[Outcome]":
    from reelbench.base.files import write_json, write_jsonl

    if enhanced.answers is not None:
        outcomes = [enhanced.evaluation(enhanced.answers, options).write(folder)]
        write_json(folder / ACE_FILE, document)
        return outcomes
    texts = {case.id: case.candidates[enhanced.chosen[case.id]] for case in enhanced.cases}
    write_jsonl(
        folder / CHOSEN_FILE, ({"id": name, "prediction": text} for name, text in texts.items())
    )
    write_json(folder / ACE_FILE, document)
    console.note(f"written to {folder}")
    return []


def _show(document: dict[str, Any], answers: "Answers | None") -> None:
    ranker, controls = document["ranker"], document["controls"]
    names = list(
        dict.fromkeys(name for control in controls.values() for name in control["metrics"])
    )
    names = [name for name in names if not name.endswith("_per_question")]
    title = f"{ranker['model']} among {document['k']} candidates ({ranker['mode']}), {document['questions']} questions"
    table = console.table(title, "choice", "#mean words", *(f"#{name}" for name in names))
    for control, figures in controls.items():
        cells = (
            f"{figures['metrics'][name]['value']:.{answers.questions.spec.metric(name).in_unit.long_digits}f}"
            if answers is not None and name in figures["metrics"]
            else ""
            for name in names
        )
        table.add_row(control, f"{figures['mean_words']:.1f}", *cells)
    if controls:
        console.show(table)
    first, ace = (controls.get(name, {"metrics": {}})["metrics"] for name in ("first", "ace"))
    for name in (name for name in names if name in first and name in ace and first[name]["value"]):
        before, gain = first[name]["value"], ace[name]["value"] - first[name]["value"]
        console.write(
            f"{name}: {gain:+.2f} over the first candidate ({100 * gain / before:+.1f} %)"
        )
    alike = (
        ""
        if document["similarity"] is None
        else f"; candidates' similarity {document['similarity']:.2f}"
    )
    share = 100 * document["not_first"] / document["questions"]
    console.write(
        f"not the first: {document['not_first']} of {document['questions']} ({share:.1f} %); ties: {document['ties']}; "
        f"unparsed candidates: {document['unparsed']} of {document['candidates']}{alike}"
    )
    cached = number_of(ranker["cached"], "reply", "replies")
    console.write(f"{number_of(ranker['calls'], 'call')}, {cached} from the cache")


def _plot(documents: Sequence[dict[str, Any]], answers: "Answers", output: Path) -> None:
    """Draw the controls: of several numbers of candidates their first metric, and METEOR against length."""
    from reelbench.base.files import write_text
    from reelbench.pages.figures import scatter
    from reelbench.pages.plots import Mark, lines

    def marks(metric: str, *, by_length: bool) -> dict[str, list[Mark]]:
        """Return each control's marks in a metric, one for each number of candidates."""
        series: dict[str, list[Mark]] = {}
        for k, name, control in (
            (each["k"], *pair) for each in documents for pair in each["controls"].items()
        ):
            if value := control["metrics"].get(metric):
                at = control["mean_words"] if by_length else k
                series.setdefault(name, []).append(
                    Mark(at, str(k), value["value"], value["ci95"], value["n"])
                )
        return series

    spec, title = (
        answers.questions.spec,
        f"{answers.questions.spec.title} · {answers.model.id} + ACE",
    )
    there = {
        name
        for document in documents
        for control in document["controls"].values()
        for name in control["metrics"]
    }
    metrics = [metric for metric in spec.metrics if metric.name in there]
    if metrics and len(documents) > 1:
        first, path = metrics[0], output / "ace.svg"
        series, span = marks(first.name, by_length=False), first.in_unit.high - first.in_unit.low
        name = f"{first.title}, {first.in_unit.label}"
        write_text(path, lines(title, name, series, "candidates of each question", least=span / 10))
        console.note(
            f"written to {path}; a search with 3 beams may find others than the first 3 of 7"
        )
    # A longer answer has more words that may be a reference's: what that alone is worth, `longest`
    # shows.
    if METEOR in there:
        number = ", and of how many candidates" if len(documents) > 1 else ""
        axes = f"mean words of the answers chosen{number}", spec.metric(METEOR).title
        path = output / "ace_length.svg"
        write_text(path, scatter(title, axes, marks(METEOR, by_length=True), least=(1.0, 0.02)))
        console.note(f"written to {path}")
