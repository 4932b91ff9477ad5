"""`reelbench diagnose`: evidence graphs, where in them answers went wrong, and what that comes to."""

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
    from reelbench.studio.diagnosis.asking import RoleModels
    from reelbench.studio.diagnosis.folder import Folder, ReasonedQuestion
    from reelbench.studio.diagnosis.loop import Plan


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
    """How errors are found, for answers that are there and for those that are asked for."""

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
            "--right", help="Also tag right answers, counted apart: are their reasons right?"
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
        """Return the plan of a diagnosis; `about` is said of it in the folder's settings."""
        from reelbench.base.files import sha256_of
        from reelbench.studio.diagnosis.loop import Plan
        from reelbench.studio.evidence.graphs import read_graphs

        return Plan(
            questions=questions,
            graphs={}
            if self.graphs is None
            else {graph.id: graph for graph in read_graphs(self.graphs)},
            models=models,
            about={"graphs": None if self.graphs is None else sha256_of(self.graphs), **about},
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
    given: Annotated[
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

    lacking, asked = dict[str, str](), dict[str, Any]()
    if given is not None:
        made, questions = read_graphs(given), []
        if name is not None:
            with suppress(DataUnavailableError):  # counting graphs needs none
                questions = read_questions(name, split, data, fetch=False)
    elif name is None:
        raise InputError(
            "give NAME and --llm MODEL to make graphs, or --from FILE to check graphs that exist"
        )
    else:
        models = _models(llm, prompts, (asking.GRAPH,), retry_unread=retry_unread)
        questions = read_questions(name, split, data)
        with console.progress("making graphs", len(questions)) as show:
            made, lacking, asked = asking.make(questions, models, show)
    counted = asking.write(out, made, questions, lacking, asked, form=form)
    if lacking:
        console.note(
            f"no graph: {number_of(len(lacking), 'question')} (graph_invalid), first: {next(iter(lacking))}"
        )
    if as_json:
        console.write_json(counted)
    else:
        groups = {
            "all": counted,
            **counted.get("locales", {}),
            "CURVE, Tab. 7": from_papers("diagnosis")["graphs"],
        }
        table = console.table(
            "Evidence graphs: mean (sd)", "", "#questions", "#nodes", "#timed", "#edges", "#depth"
        )
        for group, figures in groups.items():
            spreads = (figures[key] for key in ("nodes", "timestamps", "edges", "depth"))
            cells = (
                "–" if one["mean"] is None else f"{one['mean']:.1f} ({one['sd']:.1f})"
                for one in spreads
            )
            table.add_row(group, str(figures["questions"]), *cells)
        console.show(table)
        if warnings := ", ".join(f"{kind} {n}" for kind, n in counted["warnings"].items() if n):
            console.note(f"warnings: {warnings}")
    console.note(f"written to {out}")
    if lacking and not made:
        raise ReelbenchError(
            "no reply of the model could be read as a graph; ask again with --retry-unread"
        )


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
    """Find the first error in the evidence behind each wrong answer; the model is not asked again."""
    from reelbench.base.files import sha256_of
    from reelbench.scoring import result_files
    from reelbench.studio.diagnosis import attempts, loop
    from reelbench.studio.diagnosis.folder import read_questions

    models = _models(llm, options.prompts, retry_unread=options.retry_unread, batch=llm_batch)
    result = result_files.folder_of_one(result)
    name, split, answers = attempts.attempts_of_result(result)
    questions = read_questions(name, split, data)
    known, asked = {question.id for question in questions}, {attempt.id for attempt in answers}
    if unknown := [attempt.id for attempt in answers if attempt.id not in known]:
        without = number_of(len(unknown), "answer")
        console.note(f"left out: {without} without steps in {name} {split} (first: {unknown[0]})")
    record = result_files.read(result)
    about = {"command": "errors", "benchmark": name, "split": split}
    about |= {"result": sha256_of(result_files.samples_of(result)), "model": record.model.id}
    plan = options.plan(
        [question for question in questions if question.id in asked], models, about, rounds=1
    )

    def answered(run: Path, _lock: int) -> list[attempts.Attempt]:
        if record.judge is not None:
            attempts.keep_judge(run, record.judge)
        return [attempt for attempt in answers if attempt.id in known]

    diagnosis = loop.isolate(plan, answered, options.out)
    _finish(diagnosis, as_json=options.as_json)


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
    """Ask, find the first error, give the right fact as a cue, and ask again; lmms-eval's arguments follow `--`.

    Roles of --llm: graph, tagger, translator. Rerun to resume. Answers
    given with cues contain the truth, so they are saved in DIR only, without a score.
    """
    from reelbench.registry.sampling import FrameSampling
    from reelbench.studio.diagnosis import attempts, loop
    from reelbench.studio.diagnosis.folder import read_questions
    from reelbench.tasks.lmms.worker import Worker

    models = _models(llm, options.prompts, retry_unread=options.retry_unread)
    # A model that we run ourselves may need the memory of the one that would be kept between
    # rounds.
    ours = any(
        model.local for model in (*models.options.values(), *(judge.members if judge else ()))
    )
    with Worker() as kept:
        start = None if ours else kept
        sampling = choice(frames, settings.FRAMES, FrameSampling.parse)
        asked = attempts.LmmsEval(
            name,
            context.args,
            judge,
            console.note,
            frames=sampling,
            bar=console.progress,
            start=start,
        )
        split = asked.task.split
        about = {"command": "run", "benchmark": asked.spec.id, "split": split, **asked.about}
        plan = options.plan(read_questions(name, split), models, about, rounds)
        diagnosis = loop.isolate(plan, asked, options.out)
    _finish(diagnosis, as_json=options.as_json)


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
    """Count the errors of a diagnosis and write its page; several are shown side by side.

    Two are compared on the questions that both got wrong.
    """
    from reelbench.studio.diagnosis.folder import Folder

    unique = [Folder(path) for path in dict.fromkeys(folders)]
    if people and len(unique) > 1:
        raise InputError("--people: is compared with one diagnosis; give one DIR")
    if only is not None and len(unique) < 2:  # noqa: PLR2004
        raise InputError("--round: holds two diagnoses against each other; give two DIRs")
    agreement = None
    if people:
        from reelbench.studio.diagnosis.folder import judged_steps
        from reelbench.studio.diagnosis.tagger_agreement import tagger_agreement
        from reelbench.studio.review import evidence, kinds

        reviews = kinds.read(people)
        if reviews.kind != "nodes":
            raise InputError(
                f"{people[0]}: is of a page that asks {reviews.kind}; --people takes files of --ask nodes"
            )
        codes, still_open, alpha = evidence.NODES.settled_codes(reviews)
        measured = asdict(tagger_agreement(judged_steps(unique[0]), codes))
        about = {"people": len(reviews.reviewers), "alpha": alpha, "open": len(still_open)}
        agreement = about | measured  # with the tagger, and with each other
    _report(*unique, as_json=as_json, people=agreement, only=only)


def _models(
    llm: Llm, prompts: Path | None, roles: tuple[str, ...] = (), **changed: bool
) -> "RoleModels":
    from reelbench.studio.diagnosis.asking import ROLES, DiagnosisPrompts, RoleModels

    asked = {
        role: replace(model, **changed) for role, model in by_role(llm, roles or ROLES).items()
    }
    return RoleModels(asked, shared_budget(llm), console.note, DiagnosisPrompts(prompts))


def _finish(diagnosis: "Folder", *, as_json: bool) -> None:
    """Report a diagnosis; ReelbenchError where no reply about any question could be read."""
    from reelbench.studio.diagnosis.loop import UNREAD

    _report(diagnosis, as_json=as_json)
    stops = {step.record.stop for step in diagnosis.steps()}
    if stops and stops <= UNREAD:
        why = ", ".join(sorted(filter(None, stops)))
        raise ReelbenchError(
            f"{diagnosis.path}: no reply could be read ({why}); ask again with --retry-unread"
        )


def _report(
    *folders: "Folder", as_json: bool, people: dict[str, Any] | None = None, only: int | None = None
) -> None:
    from reelbench.studio.diagnosis import report as reports

    documents = {str(folder.path): reports.write(folder) for folder in folders}
    out = folders[0].path / reports.PAGE
    reports.write_page(folders, list(documents.values()), out)
    both: dict[str, dict[str, Any]] = {}
    if len(folders) > 1:
        compared = {"agreement": reports.agreement, "differences": reports.differences}
        both = {name: compare(folders[0], folders[1], only) for name, compare in compared.items()}
    if as_json:
        alone = next(iter(documents.values())) | ({} if people is None else {"people": people})
        console.write_json({"reports": documents, **both} if both else alone)
    else:
        _show_reports([Path(path).name for path in documents], list(documents.values()))
        if both:
            _show_pair(**both)
        if people is not None:
            first, same = people["first_errors"], people["same"]
            kappa = "undefined" if people["kappa"] is None else f"{people['kappa']:.2f}"
            title = f"The tagger beside {people['people']} people, {people['nodes']} nodes"
            rows = [
                ("says the same", _percent(same["value"], same["ci95"]), ""),
                (
                    "the same in CURVE, D.3 (60 questions)",
                    f"{from_papers('diagnosis')['people_agree']:.1%}",
                    "",
                ),
                ("Cohen's kappa", kappa, ""),
                ("first error found", _percent(first["found"]), str(first["erroneous"])),
                ("no error, none seen", _percent(first["cleared"]), str(first["correct"])),
                ("F1 (ProcessBench)", _percent(first["f1"]), ""),
            ]
            console.show(console.table(title, "", "#value", "#n", rows=rows))
    console.note(f"open {out} in a browser; {reports.PICTURE} beside it draws the errors by round")


def _show_reports(names: list[str], documents: list[dict[str, Any]]) -> None:
    table = console.table(
        "Errors: share (95 % interval), n", "label", *(f"#{name}" for name in names)
    )
    by_order = any(figures["labels_by_order"]["changed"] for figures in documents)
    columns = [_column(figures, by_order=by_order) for figures in documents]
    for title in columns[0]:
        table.add_row(title, *(column[title] for column in columns))
    console.show(table)
    first = [figures["consensus_by_round"].get("1", {}) for figures in documents]
    table = console.table(
        "Round 1, nodes with a majority of votes + without",
        *("locale", *(f"#{name}" for name in names), "#CURVE, Tab. 9 (of what is not stated)"),
    )
    for locale in dict.fromkeys(locale for locales in first for locale in locales):
        counted = [
            locales.get(locale) for locales in (*first, from_papers("diagnosis")["consensus"])
        ]
        table.add_row(
            locale,
            *("–" if each is None else "{majority} + {none}".format_map(each) for each in counted),
        )
    if any(first):
        console.show(table)
    for figures in documents:
        # How many first answers were right by size of graph and by skill, and the errors of a
        # skill's questions.
        sizes = figures["sizes"] or {}
        groups = {
            "nodes": sizes.get("nodes", {}),
            "depth": sizes.get("depth", {}),
            "skill": figures["skills"],
        }
        for title, rates in groups.items():
            errors = ("#errors a question", "most of them") if title == "skill" else ()
            table = console.table(
                f"Right at first by {title}", "", "#right", "#95 % interval", "#questions", *errors
            )
            for name, rate in rates.items():
                cells = [_percent(rate["right"]), _between(rate["ci95"]), str(rate["n"])]
                if labels := rate.get("labels"):
                    most, each = max(labels.items(), key=lambda label: label[1])
                    cells += [f"{sum(labels.values()):.2f}", f"{most} {each:.2f}" if each else "–"]
                table.add_row(name, *cells)
            if rates:
                console.show(table)


def _column(figures: dict[str, Any], *, by_order: bool) -> dict[str, str]:
    """Return a diagnosis' column of the table of errors: title of a row -> cell."""
    order, right = figures["labels_by_order"], figures["right_answers"]
    shares = {**figures["labels"], "perception": figures["perception"]}
    if by_order:
        shares |= {
            f"{label}, by the earliest cause": share for label, share in order["labels"].items()
        }
    return {
        **{
            title: "–" if of["share"] is None else f"{_percent(of['share'], of['ci95'])}, {of['n']}"
            for title, of in shares.items()
        },
        "found by later rounds": str(figures["later"]["n"]),
        "questions entered": "{entered} of {asked}".format_map(figures["questions"]),
        "stops": ", ".join(f"{reason} {n}" for reason, n in figures["stops"].items()) or "–",
        "hints ignored": str(figures["nodes"]["hint_ignored"]),
        "labels that the earliest cause changes": "{changed} of {n}".format_map(order),
        "right answers without an error": "{without_error} of {n}".format_map(right)
        if right
        else "not tagged",
        "errors of right answers (in no sum)": str(sum(right["labels"].values())) if right else "–",
    }


def _show_pair(agreement: dict[str, Any], differences: dict[str, Any]) -> None:
    if agreement["nodes"]:
        kappa = "undefined" if agreement["kappa"] is None else f"{agreement['kappa']:.2f}"
        console.note(
            f"the first two agree on {agreement['same']:.0%} of {agreement['nodes']} nodes (kappa {kappa})"
        )
    shared = differences["questions"]
    if differences["shares"] is None:
        console.note(
            f"shares of errors are not compared: of {shared} shared questions one has no error"
        )
        return
    table = console.table(
        f"Shares of errors in the {shared} questions that both lost",
        "label",
        "#a",
        "#b",
        "#a - b",
        "#95 %",
    )
    for label, share in differences["shares"].items():
        ends = _between(share["ci95"], "+")
        table.add_row(
            label, f"{share['a']:.0%}", f"{share['b']:.0%}", f"{share['difference']:+.0%}", ends
        )
    console.show(table)
    console.note(
        f"CURVE, D.3: another tagger changed the shares of perception and reasoning by about "
        f"{from_papers('diagnosis')['other_tagger']:.0%}"
    )


def _percent(share: float | None, ends: list[float] | None = None) -> str:
    if share is None:
        return "–"
    return f"{share:.0%}" + (f" ({_between(ends)})" if ends else "")


def _between(ends: list[float] | None, sign: str = "") -> str:
    return "" if ends is None else f"{ends[0]:{sign}.0%} to {ends[1]:{sign}.0%}"
