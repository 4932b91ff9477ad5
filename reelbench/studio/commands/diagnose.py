"""`reelbench diagnose`: make evidence graphs, and find the errors of answers in them."""

from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from reelbench.base import settings
from reelbench.base.errors import DataUnavailableError, InputError, ReelbenchError, number_of
from reelbench.studio.data_files import from_papers
from reelbench.terminal import console
from reelbench.terminal.asking_options import (
    Judge,
    Llm,
    LlmBatch,
    RetryUnread,
    by_role,
    shared_budget,
)
from reelbench.terminal.option_groups import (
    Data,
    Frames,
    Json,
    Kind,
    Split,
    choice,
    reports_status,
    task_names,
)

if TYPE_CHECKING:
    from reelbench.llm.ask_options import AskOptions
    from reelbench.studio.diagnosis.asking import RoleModels
    from reelbench.studio.diagnosis.folder import Folder, ReasonedQuestion
    from reelbench.studio.diagnosis.loop import Plan
    from reelbench.studio.evidence.graphs import Graph


Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="Benchmark, task, or a .jsonl file of questions with steps.",
        autocompletion=task_names,
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Output folder.")]
PromptFolder = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="DIR",
        help="Folder of prompts that replace ours: graph.txt, tag.txt, …",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolationOptions:
    """Options of isolating errors, for existing answers and for new ones."""

    out: Out
    graphs: Annotated[
        Path | None,
        typer.Option("--graphs", metavar="FILE", help="graphs.jsonl; missing graphs are made."),
    ] = None
    llm_votes: Annotated[
        int, typer.Option("--llm-votes", metavar="K", min=1, help="Tagger's replies per answer.")
    ] = 3
    prompts: PromptFolder = None
    right: Annotated[
        bool,
        typer.Option(
            "--right", help="Also tag right answers, counted separately: is their reasoning right?"
        ),
    ] = False
    skip_failed: Annotated[
        bool,
        typer.Option(
            "--skip-failed", help="Skip questions that a model failed on, instead of asking again."
        ),
    ] = False
    retry_unread: RetryUnread = False
    as_json: Json = False

    def plan(
        self,
        questions: "list[ReasonedQuestion]",
        models: "RoleModels",
        about: dict[str, Any],
        rounds: int,
    ) -> "Plan":
        """Return the plan of a diagnosis. The folder's settings have `about`."""
        from reelbench.base.files import sha256_of
        from reelbench.studio.diagnosis.loop import Plan
        from reelbench.studio.evidence.graphs import read_graphs

        graphs: dict[str, Graph] = {}
        graphs_hash = None
        if self.graphs is not None:
            graphs = {graph.id: graph for graph in read_graphs(self.graphs)}
            graphs_hash = sha256_of(self.graphs)
        return Plan(
            questions=questions,
            graphs=graphs,
            models=models,
            about={"graphs": graphs_hash, **about},
            votes=self.llm_votes,
            rounds=rounds,
            right=self.right,
            skip_failed=self.skip_failed,
            progress=console.progress,
        )


@reports_status
def graphs(
    name: Name = None,
    *,
    out: Out,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Check and count existing graphs; asks no model."
        ),
    ] = None,
    retry_unread: RetryUnread = False,
    form: Annotated[
        Literal["dot", "mermaid", "svg"] | None,
        typer.Option("--format", help="Also draw each graph, in graphs/."),
        Kind.FORMAT,
    ] = None,
    prompts: PromptFolder = None,
    split: Split = None,
    data: Data = None,
    as_json: Json = False,
    llm: Llm,
) -> None:
    """Make an evidence graph from each question's steps, or check existing graphs, and count them.

    DIR gets graphs.jsonl and statistics.json. Give NAME and --llm MODEL, or --from FILE.
    """
    from reelbench.studio.diagnosis import asking
    from reelbench.studio.diagnosis.folder import read_questions
    from reelbench.studio.evidence.graphs import read_graphs

    questions: list[ReasonedQuestion] = []
    lacking: dict[str, str] = {}
    calls: dict[str, Any] = {}
    if source is not None:
        evidence_graphs = read_graphs(source)
        if name is not None:
            with suppress(DataUnavailableError):  # counting graphs needs none
                questions = read_questions(name, split, data, fetch=False)
    elif name is None:
        raise InputError(
            "give NAME and --llm MODEL to make graphs, or --from FILE to check graphs that exist"
        )
    else:
        models = _role_models(llm, prompts, (asking.GRAPH,), retry_unread=retry_unread)
        questions = read_questions(name, split, data)
        with console.progress("making graphs", len(questions)) as show:
            evidence_graphs, lacking, calls = asking.make(questions, models, show)
    statistics = asking.write(out, evidence_graphs, questions, lacking, calls, form=form)
    if lacking:
        console.note(
            f"no graph: {number_of(len(lacking), 'question')} (graph_invalid), "
            f"first: {next(iter(lacking))}"
        )
    if as_json:
        console.write_json(statistics)
    else:
        _show_graphs(statistics)
    console.note(f"written to {out}")
    if lacking and not evidence_graphs:
        raise ReelbenchError(
            "no reply of the model could be read as a graph; ask again with --retry-unread"
        )


def _show_graphs(statistics: dict[str, Any]) -> None:
    """Show the sizes of graphs, of all and by locale, beside CURVE's."""
    groups = {
        "all": statistics,
        **statistics.get("locales", {}),
        "CURVE, Tab. 7": from_papers("diagnosis")["graphs"],
    }
    table = console.table(
        "Evidence graphs: mean (sd)", "", "#questions", "#nodes", "#timed", "#edges", "#depth"
    )
    for group, figures in groups.items():
        cells = [group, str(figures["questions"])]
        for key in ("nodes", "timestamps", "edges", "depth"):
            spread = figures[key]
            cell = "–"
            if spread["mean"] is not None:
                cell = f"{spread['mean']:.1f} ({spread['sd']:.1f})"
            cells.append(cell)
        table.add_row(*cells)
    console.show(table)
    warnings = [f"{kind} {count}" for kind, count in statistics["warnings"].items() if count]
    if warnings:
        console.note(f"warnings: {', '.join(warnings)}")


@reports_status
def errors(
    result: Annotated[
        Path, typer.Argument(metavar="RESULT_DIR", help="A result of `reelbench score` or `run`.")
    ],
    *,
    options: IsolationOptions,
    data: Data = None,
    llm_batch: LlmBatch = False,
    llm: Llm,
) -> None:
    """Find the first error in the evidence behind each wrong answer.

    The model is not asked again.
    """
    from reelbench.base.files import sha256_of
    from reelbench.scoring import result_files
    from reelbench.studio.diagnosis import attempts, loop
    from reelbench.studio.diagnosis.folder import read_questions

    models = _role_models(llm, options.prompts, retry_unread=options.retry_unread, batch=llm_batch)
    result = result_files.folder_of_one(result)
    name, split, answers = attempts.attempts_of_result(result)
    questions = read_questions(name, split, data)
    question_ids = {question.id for question in questions}
    answer_ids = [attempt.id for attempt in answers]
    unknown_ids = [answer for answer in answer_ids if answer not in question_ids]
    if unknown_ids:
        without = number_of(len(unknown_ids), "answer")
        console.note(
            f"left out: {without} without steps in {name} {split} (first: {unknown_ids[0]})"
        )
    record = result_files.read(result)
    about = {
        "command": "errors",
        "benchmark": name,
        "split": split,
        "result": sha256_of(result_files.samples_of(result)),
        "model": record.model.id,
    }
    answered_questions = [question for question in questions if question.id in set(answer_ids)]
    plan = options.plan(answered_questions, models, about, rounds=1)

    def existing_answers(run: Path, _lock: int) -> list[attempts.Attempt]:
        if record.judge is not None:
            attempts.keep_judge(run, record.judge)
        return [attempt for attempt in answers if attempt.id in question_ids]

    diagnosis = loop.isolate(plan, existing_answers, options.out)
    _report_diagnosis(diagnosis, as_json=options.as_json)


@reports_status
def run(
    context: typer.Context,
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Benchmark or task that asks for steps.", autocompletion=task_names
        ),
    ],
    *,
    options: IsolationOptions,
    frames: Frames = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Maximum number of rounds.")] = 5,
    judge: Judge,
    llm: Llm,
) -> None:
    """Ask, find the first error, give the right fact, and ask again.

    The fact is given as a cue. lmms-eval's arguments follow `--`.

    Roles of --llm: graph, tagger, translator. Rerun to resume. Answers
    given with cues contain the truth, so they are saved in DIR only, without a score.
    """
    from reelbench.registry.sampling import FrameSampling
    from reelbench.studio.diagnosis import attempts, loop
    from reelbench.studio.diagnosis.folder import read_questions
    from reelbench.tasks.lmms.worker import Worker

    models = _role_models(llm, options.prompts, retry_unread=options.retry_unread)
    asked_models: list[Any] = [*models.options.values()]
    if judge is not None:
        asked_models += judge.members
    runs_locally = any(model.local for model in asked_models)
    with Worker() as worker:
        # A model in this process may need the memory of one that stays loaded between rounds.
        start = None if runs_locally else worker
        sampling = choice(frames, settings.FRAMES, FrameSampling.parse)
        lmms_eval = attempts.LmmsEval(
            name,
            context.args,
            judge,
            console.note,
            frames=sampling,
            bar=console.progress,
            start=start,
        )
        split = lmms_eval.task.split
        about = {
            "command": "run",
            "benchmark": lmms_eval.spec.id,
            "split": split,
            **lmms_eval.about,
        }
        plan = options.plan(read_questions(name, split), models, about, rounds)
        diagnosis = loop.isolate(plan, lmms_eval, options.out)
    _report_diagnosis(diagnosis, as_json=options.as_json)


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders that `errors` or `run` wrote.")
    ],
    *,
    people: Annotated[
        list[Path] | None,
        typer.Option(
            "--people",
            metavar="FILE",
            help="A file saved on `review page --ask nodes`, for one DIR (repeat).",
        ),
    ] = None,
    only: Annotated[
        int | None,
        typer.Option(
            "--round", metavar="N", min=1, help="With two DIRs: compare the errors of round N."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Count the errors of a diagnosis and write its page.

    Several diagnoses are shown side by side.

    Two are compared on the questions that both got wrong.
    """
    from reelbench.studio.diagnosis.folder import Folder

    unique = [Folder(path) for path in dict.fromkeys(folders)]
    if people and len(unique) > 1:
        raise InputError("--people compares people with one diagnosis; give one DIR")
    if only is not None and len(unique) < 2:  # noqa: PLR2004
        raise InputError("--round compares two diagnoses; give two DIRs")
    agreement = None
    if people:
        agreement = _agreement_with_people(unique[0], people)
    _write_and_show_reports(*unique, as_json=as_json, people=agreement, only=only)


def _agreement_with_people(diagnosis: "Folder", files: list[Path]) -> dict[str, Any]:
    """Return the agreement of people with the tagger, and with each other."""
    from reelbench.studio.diagnosis.folder import judged_steps
    from reelbench.studio.diagnosis.tagger_agreement import tagger_agreement
    from reelbench.studio.review import evidence, kinds

    reviews = kinds.read(files)
    if reviews.kind != "nodes":
        raise InputError(
            f"{files[0]}: comes from a page of --ask {reviews.kind}; --people takes files of "
            "--ask nodes"
        )
    codes, still_open, alpha = evidence.NODES.settled_codes(reviews)
    with_tagger = tagger_agreement(judged_steps(diagnosis), codes)
    return {
        "people": len(reviews.reviewers),
        "alpha": alpha,
        "open": len(still_open),
        **asdict(with_tagger),
    }


def _role_models(
    llm: Llm,
    prompts: Path | None,
    roles: tuple[str, ...] = (),
    *,
    retry_unread: bool,
    batch: bool = False,
) -> "RoleModels":
    """Return the models of the roles, and how they are asked."""
    from reelbench.studio.diagnosis.asking import ROLES, DiagnosisPrompts, RoleModels

    models: dict[str, AskOptions] = {}
    for role, model in by_role(llm, roles or ROLES).items():
        models[role] = replace(model, retry_unread=retry_unread)
        if batch:
            models[role] = replace(models[role], batch=True)
    return RoleModels(models, shared_budget(llm), console.note, DiagnosisPrompts(prompts))


def _report_diagnosis(diagnosis: "Folder", *, as_json: bool) -> None:
    """Report a diagnosis. ReelbenchError where no reply about any question could be read."""
    from reelbench.studio.diagnosis.loop import UNREAD

    _write_and_show_reports(diagnosis, as_json=as_json)
    stops = {step.record.stop for step in diagnosis.steps()}
    if stops and stops <= UNREAD:
        why = ", ".join(sorted(stop for stop in stops if stop))
        raise ReelbenchError(
            f"{diagnosis.path}: no reply could be read ({why}); ask again with --retry-unread"
        )


def _write_and_show_reports(
    *folders: "Folder", as_json: bool, people: dict[str, Any] | None = None, only: int | None = None
) -> None:
    """Write the pages of diagnoses, and show their reports. Compare the first two."""
    from reelbench.studio.diagnosis import comparison, page
    from reelbench.studio.diagnosis import report as reports

    documents = {str(folder.path): reports.write(folder) for folder in folders}
    figures = list(documents.values())
    out = folders[0].path / page.PAGE
    page.write_page(folders, figures, out)
    pair: dict[str, Any] = {}
    if len(folders) > 1:
        first, second, *_ = folders
        pair["agreement"] = comparison.agreement(first, second, only)
        pair["differences"] = comparison.differences(first, second, only)
    if not as_json:
        _show_reports([folder.path.name for folder in folders], figures)
        if pair:
            _show_pair(**pair)
        if people is not None:
            _show_people(people)
    elif pair:
        console.write_json({"reports": documents, **pair})
    else:
        document = dict(figures[0])
        if people is not None:
            document["people"] = people
        console.write_json(document)
    console.note(f"open {out} in a browser; {reports.PICTURE} next to it shows the errors by round")


def _show_people(people: dict[str, Any]) -> None:
    """Show how the tagger agrees with people."""
    first = people["first_errors"]
    same = people["same"]
    people_of_curve = from_papers("diagnosis")["people_agree"]
    title = f"The tagger and {people['people']} people, {people['nodes']} nodes"
    table = console.table(title, "", "#value", "#n")
    table.add_row("says the same", _percent_with_interval(same["value"], same["ci95"]), "")
    table.add_row("agreement in CURVE, D.3 (60 questions)", f"{people_of_curve:.1%}", "")
    table.add_row("Cohen's kappa", _kappa_text(people["kappa"]), "")
    table.add_row(
        "first error found", _percent_with_interval(first["found"]), str(first["erroneous"])
    )
    table.add_row(
        "no error, none found", _percent_with_interval(first["cleared"]), str(first["correct"])
    )
    table.add_row("F1 (ProcessBench)", _percent_with_interval(first["f1"]), "")
    console.show(table)


def _show_reports(names: list[str], documents: list[dict[str, Any]]) -> None:
    """Show the errors of diagnoses side by side, then the rates of each by group."""
    table = console.table(
        "Errors: share (95 % interval), n", "label", *(f"#{name}" for name in names)
    )
    by_order = any(document["labels_by_order"]["changed"] for document in documents)
    columns = [_error_table_column(document, by_order=by_order) for document in documents]
    for title in columns[0]:
        table.add_row(title, *(column[title] for column in columns))
    console.show(table)
    _show_consensus(names, documents)
    for document in documents:
        # The rate of right first answers by size of graph and by skill, and the errors of a skill's
        # questions.
        sizes = document["sizes"] or {}
        _show_rates("nodes", sizes.get("nodes", {}))
        _show_rates("depth", sizes.get("depth", {}))
        _show_rates("skill", document["skills"])


def _show_consensus(names: list[str], documents: list[dict[str, Any]]) -> None:
    """Show the majorities of votes on the nodes of round 1, by locale."""
    counts_by_locale = [document["consensus_by_round"].get("1", {}) for document in documents]
    if not any(counts_by_locale):
        return
    locales: dict[str, None] = {}
    for counts in counts_by_locale:
        locales |= dict.fromkeys(counts)
    counts_by_locale.append(from_papers("diagnosis")["consensus"])
    table = console.table(
        "Round 1, nodes with a majority of votes + without",
        "locale",
        *(f"#{name}" for name in names),
        "#CURVE, Tab. 9 (unit not stated)",
    )
    for locale in locales:
        cells = [locale]
        for counts in counts_by_locale:
            count = counts.get(locale)
            cell = "–"
            if count is not None:
                cell = f"{count['majority']} + {count['none']}"
            cells.append(cell)
        table.add_row(*cells)
    console.show(table)


def _show_rates(title: str, rates: dict[str, Any]) -> None:
    """Show the rate of right first answers by group; for skills also their errors."""
    if not rates:
        return
    heads = ["", "#right", "#95 % interval", "#questions"]
    if title == "skill":
        heads += ["#errors a question", "most of them"]
    table = console.table(f"Right at first by {title}", *heads)
    for name, rate in rates.items():
        cells = [
            name,
            _percent_with_interval(rate["right"]),
            _interval_text(rate["ci95"]),
            str(rate["n"]),
        ]
        labels = rate.get("labels")
        if labels:
            most_frequent = max(labels, key=labels.__getitem__)
            errors = labels[most_frequent]
            share = f"{most_frequent} {errors:.2f}" if errors else "–"
            cells += [f"{sum(labels.values()):.2f}", share]
        table.add_row(*cells)
    console.show(table)


def _error_table_column(figures: dict[str, Any], *, by_order: bool) -> dict[str, str]:
    """Return a diagnosis' column of the table of errors, by the row's title."""
    order = figures["labels_by_order"]
    shares = {**figures["labels"], "perception": figures["perception"]}
    if by_order:
        for label, share in order["labels"].items():
            shares[f"{label}, by the earliest cause"] = share
    column: dict[str, str] = {}
    for title, share in shares.items():
        column[title] = "–"
        if share["share"] is not None:
            column[title] = f"{_percent_with_interval(share['share'], share['ci95'])}, {share['n']}"
    questions = figures["questions"]
    stops = [f"{reason} {count}" for reason, count in figures["stops"].items()]
    column["found by later rounds"] = str(figures["later"]["n"])
    column["questions entered"] = f"{questions['entered']} of {questions['asked']}"
    column["stops"] = ", ".join(stops) or "–"
    column["hints ignored"] = str(figures["nodes"]["hint_ignored"])
    column["labels that the earliest cause changes"] = f"{order['changed']} of {order['n']}"
    without_error = "not tagged"
    errors = "–"
    right = figures["right_answers"]
    if right:
        without_error = f"{right['without_error']} of {right['n']}"
        errors = str(sum(right["labels"].values()))
    column["right answers without an error"] = without_error
    column["errors of right answers (not counted)"] = errors
    return column


def _show_pair(agreement: dict[str, Any], differences: dict[str, Any]) -> None:
    """Show how two diagnoses agree, and the differences of their shares of errors."""
    if agreement["nodes"]:
        console.note(
            f"the first two agree on {agreement['same']:.0%} of {agreement['nodes']} nodes "
            f"(kappa {_kappa_text(agreement['kappa'])})"
        )
    questions = differences["questions"]
    if differences["shares"] is None:
        console.note(
            f"shares of errors are not compared: one run has no error in the {questions} shared "
            "questions"
        )
        return
    title = f"Shares of errors in the {questions} questions that both got wrong"
    table = console.table(title, "label", "#a", "#b", "#a - b", "#95 %")
    for label, share in differences["shares"].items():
        table.add_row(
            label,
            f"{share['a']:.0%}",
            f"{share['b']:.0%}",
            f"{share['difference']:+.0%}",
            _interval_text(share["ci95"], "+"),
        )
    console.show(table)
    change = from_papers("diagnosis")["other_tagger"]
    console.note(
        "CURVE, D.3: another tagger changed the shares of perception and reasoning "
        f"by about {change:.0%}"
    )


def _kappa_text(kappa: float | None) -> str:
    return "undefined" if kappa is None else f"{kappa:.2f}"


def _percent_with_interval(share: float | None, ends: list[float] | None = None) -> str:
    if share is None:
        return "–"
    if ends is None:
        return f"{share:.0%}"
    return f"{share:.0%} ({_interval_text(ends)})"


def _interval_text(ends: list[float] | None, sign: str = "") -> str:
    if ends is None:
        return ""
    low, high = ends
    return f"{low:{sign}.0%} to {high:{sign}.0%}"
