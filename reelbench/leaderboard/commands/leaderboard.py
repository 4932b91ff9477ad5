"""`reelbench leaderboard`: add results to a store, and publish tables, a page and data sets."""

import json
import shutil
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reelbench.base.errors import (
    InputError,
    ReelbenchError,
    failure_in_a_line,
    first_of,
    number_of,
)
from reelbench.base.settings import home
from reelbench.base.text_tables import p_value
from reelbench.leaderboard.commands.rows import Submitter
from reelbench.registry.errata import ErrataChoice
from reelbench.terminal import console
from reelbench.terminal.asking_options import (
    AboutModel,
    AllowHttpKeyOfJudge,
    Judge,
    JudgeBudget,
    JudgeConcurrency,
    JudgeEstimate,
    JudgePrice,
    JudgePrompts,
    JudgeUrl,
    budget_of,
    price_of,
)
from reelbench.terminal.option_groups import (
    Engine,
    Json,
    Kind,
    Per,
    Store,
    reports_status,
    strata,
)

if TYPE_CHECKING:
    from reelbench.base.workers import Workers
    from reelbench.leaderboard.bridge import Bridge
    from reelbench.leaderboard.hidden_test import HiddenTest
    from reelbench.leaderboard.rejudge import Rejudge
    from reelbench.leaderboard.rejudgement import Rejudgement
    from reelbench.leaderboard.store import Added, StoredResult
    from reelbench.pages.chart import Chart
    from reelbench.registry.records import ModelRecord, Result


NumberOfWorkers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        min=1,
        help="Processes at once; default: this machine's cores, at most 8.",
    ),
]
Common = Annotated[
    list[str] | None,
    typer.Option(
        "--common",
        metavar="KEY",
        help="Score these runs only on videos that all of them had; default: all"
        " runs of a table in which some lack videos.",
    ),
]
Answers = Annotated[
    Path | None,
    typer.Option(
        "--answers",
        metavar="FILE",
        help="Your private answers to the hidden split of --benchmark: scores submissions here, "
        "on your machine.",
    ),
]
HiddenBenchmark = Annotated[
    str | None,
    typer.Option(
        "--benchmark", metavar="NAME", help="With --answers: the benchmark, or its folder."
    ),
]
_SHOWN = 20


def workers_options(*, workers: NumberOfWorkers = None, engine: Engine = "pool") -> "Workers":
    """Return the workers for many results."""
    from reelbench.base.workers import Workers

    return Workers(workers, engine, console.progress)


Spread = Annotated["Workers", workers_options]


def _alone_with_bar() -> "Workers":
    """Return this process as the only worker, which shows what it does."""
    from reelbench.base.workers import Workers

    return Workers(1, bar=console.progress)


def rejudge_options(
    *,
    rejudge: Annotated[
        int | None,
        typer.Option(
            "--rejudge",
            metavar="N",
            help="Ask each result's judge again about N items, and report the agreement.",
        ),
    ] = None,
    rejudge_seed: Annotated[
        int, typer.Option("--rejudge-seed", metavar="SEED", help="Seed of the draw.")
    ] = 0,
    judge_url: JudgeUrl = None,
    judge_concurrency: JudgeConcurrency = None,
    judge_prompts: JudgePrompts = "reelbench",
    judge_budget: JudgeBudget = None,
    judge_price: JudgePrice = None,
    allow_http_key: AllowHttpKeyOfJudge = False,
) -> "Rejudge | None":
    """Return the plan to ask the results' judges again, or None without --rejudge."""
    if rejudge is None:
        return None
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.leaderboard.rejudge import Rejudge

    options = JudgeOptions.named(
        "of the result",
        url=judge_url,
        concurrency=judge_concurrency,
        prompts=judge_prompts,
        allow_http_key=allow_http_key,
        **budget_of("--judge-budget", judge_budget),
        **price_of("--judge-price", judge_price),
    )
    return Rejudge(rejudge, options, seed=rejudge_seed, note=console.note)


def add(
    run_dirs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="RUN_DIR",
            help="Folders with result.json and samples.jsonl, or folders of such folders.",
        ),
    ] = None,
    *,
    store: Store,
    again: Annotated[
        bool,
        typer.Option(
            "--again",
            help="Check what is filed once more, with the data that is on this machine now.",
        ),
    ] = False,
    account: Submitter = None,
    as_maintainer: Annotated[
        bool,
        typer.Option(
            "--as-maintainer",
            help="Add it even if another account submitted the model first.",
        ),
    ] = False,
    as_json: Json = False,
    spread: Spread,
    about: AboutModel,
    rejudge: Annotated["Rejudge | None", rejudge_options],
) -> None:
    """Recompute every number of a result from its samples, and add it.

    The result is refused if a number differs.

    Other answers of a model in the same setting are refused: `replace` takes a corrected run.

    A judge's replies are taken from the result; --rejudge asks again about some, and costs as many
    calls.
    """
    from reelbench.leaderboard import store as stores

    if again:
        _check_again(store, spread, write=True)
    if not run_dirs:
        if not again:
            raise InputError("add needs the folder of a result, or --again")
        return
    filing = stores.Filing(account, as_maintainer)
    added: list[Added] = []
    for run_dir in run_dirs:
        try:
            added += stores.add(
                run_dir, store, rejudge=rejudge, about=about, filing=filing, workers=spread
            )
        except InputError as error:
            if len(run_dirs) == 1:
                raise
            added.append(stores.Added(run_dir, "refused", why=str(error)))
    _tell_added(added)
    is_stated = about is not None and about.setting is not None
    for each in added[:_SHOWN]:
        if each.place is not None and each.result is not None and each.outcome != "refused":
            _note_if_unjudged(each.source, each.result)
            if each.outcome == "added" and not is_stated:
                _note_unstated_setting(store, each.result.model)
    if as_json:
        console.write_json({"results": [each.as_json() for each in added]})
    # Of several, what was added stays: the work failed in part, and the call was right.
    kind = ReelbenchError if len(run_dirs) > 1 else InputError
    _refuse([each.why for each in added if each.outcome == "refused"], len(added), kind)


def _tell_added(added: "list[Added]") -> None:
    """Say what became of the first results, and how many had which outcome."""
    accepted = [each for each in added if each.outcome != "refused"]
    for each in accepted[:_SHOWN]:
        reason = f" ({each.why})" if each.why else ""
        console.note(f"{each.outcome}: {each.place}{reason}")
    if len(added) > _SHOWN:
        outcomes = Counter(each.outcome for each in added)
        counts = [f"{number} {outcome}" for outcome, number in sorted(outcomes.items())]
        console.note(", ".join(counts))


def _note_unstated_setting(store: Path, model: "ModelRecord") -> None:
    """Say which setting a model's other runs state, where the added one states none."""
    if model.setting_stated is not None:
        return
    settings = _stated_settings(store, model.id)
    if settings:
        says = " and ".join(settings)
        console.note(
            f"{model.id}: no setting is stated, and this model's other runs say {says}; if this "
            f"one is the same, add it with --about setting={settings[0]}"
        )


def _stated_settings(store: Path, model: str) -> list[str]:
    """Return the settings that a model's runs in a store state, without double ones."""
    from reelbench.leaderboard import board_state
    from reelbench.scoring import result_files

    state = board_state.read(store)
    today = state.name_of(model).casefold()
    settings: set[str] = set()
    for row in state.rows.values():
        if state.name_of(row.model).casefold() != today:
            continue
        with suppress(InputError):  # another row that can't be read says nothing
            setting = result_files.read(store / row.key).model.setting_stated
            if setting is not None:
                settings.add(setting)
    return sorted(settings)


def _check_again(store: Path, workers: "Workers", *, write: bool) -> None:
    """Check a store's rows again, and say how many marks rise and fall."""
    from reelbench.leaderboard import missing_columns, recheck

    missing_columns.make(store, workers, console.note)
    changes = recheck.changed_marks(store, workers)
    for change in changes[:_SHOWN]:
        console.note(f"{change.direction}: {change.row.key}: {change.why}")
    if write:
        changed_keys = recheck.write(changes, store)
        for key in changed_keys:
            console.note(f"{key}: got other answers meanwhile, so its mark stays; run it again")
        changes = [change for change in changes if change.row.key not in changed_keys]
    risen = sum(change.direction == "rises" for change in changes)
    fallen = sum(change.direction == "falls" for change in changes)
    if write:
        console.note(f"{number_of(risen, 'mark')} rose, {fallen} fell")
    else:
        console.note(f"{number_of(risen, 'mark')} would rise, {fallen} would fall")


def _note_if_unjudged(source: Path, result: "Result") -> None:
    """Say how a result without the metric that ranks gets it."""
    from reelbench.leaderboard.entries import metric_value
    from reelbench.methods.asking import ADAPTER as ASK_ADAPTER
    from reelbench.registry import discovery

    spec = discovery.spec_of(result.benchmark)
    if spec.judge is None or metric_value(result.metrics, spec.primary.name) is not None:
        return
    judge = spec.judge.suggested
    command = (
        f"reelbench score {spec.id} --predictions FILE --judge {judge} --judge-prompts official"
    )
    if result.model.adapter == ASK_ADAPTER:
        command = (
            f"the `ask` or `eval` that wrote it, with --judge {judge} --judge-prompts official "
            "(its answers are kept)"
        )
    elif result.model.adapter:
        command = f"reelbench score --run {source} --judge {judge} --judge-prompts official"
    words = ""
    if spec.judge.suggested_in_words:
        words = f", {spec.judge.suggested_in_words}"
    console.note(
        f"{source}: no {spec.primary.name} yet, so no rank; judge it and add it again: {command} "
        f"(the prompts are those of published numbers{words})"
    )


@reports_status
def rejudge(
    *,
    store: Store,
    out: Annotated[
        Path | None, typer.Option("--out", help="Output folder; default: one in Reelbench's home.")
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            help="Judge only N answers of each result: relates the judges, gives no rank.",
        ),
    ] = None,
    per: Per = None,
    errata: Annotated[
        ErrataChoice | None,
        typer.Option(
            "--errata",
            help="apply or ignore the benchmarks' errata, in a table of its own; default: as each "
            "result has them, which relates the judges.",
        ),
    ] = None,
    as_json: Json = False,
    judge_estimate: JudgeEstimate = False,
    judge: Judge,
) -> None:
    """Judge a store's answers with another judge, and relate the two.

    Each new result is filed beside the old one.

    Answers and their judge's replies stay. What the new judge has scored is not asked again: run it
    once more after an interruption.
    """
    from reelbench.leaderboard import bridge
    from reelbench.leaderboard.rejudgement import Rejudgement

    if judge is None:
        raise InputError(
            "rejudge needs --judge MODEL, the judge that is to score the stored answers"
        )
    work = Rejudgement(
        store,
        judge,
        sample=sample,
        per=strata(per, sample=sample),
        errata=errata,
        note=console.note,
        bar=console.progress,
    )
    if judge_estimate:
        from reelbench.terminal.report import show_estimates

        show_estimates(list(work.estimates()), as_json=as_json)
        for line in work.refused:
            console.note(f"left out: {line}")
        return
    failed = _judge_all(work, out or home() / "rejudged")
    _note_skipped(work, judge.name)
    bridges = {name: bridge.bridges(pairs) for name, pairs in work.pairs().items()}
    if as_json:
        console.write_json({name: bridge.as_json(each) for name, each in bridges.items()})
    else:
        for bridges_of_benchmark in bridges.values():
            for each in bridges_of_benchmark:
                show(each)
    if failed:
        raise ReelbenchError(first_of(failed, separator="; "))
    if work.refused:
        raise InputError(first_of(work.refused, separator="; "))


def _judge_all(work: "Rejudgement", out: Path) -> list[str]:
    """Judge the answers, say what came of each result, and return the failures."""
    failed: list[str] = []
    for outcome in work.judge(out):
        if outcome.failed:
            failed.append(f"{outcome.key}: {outcome.why}")
        elif outcome.folder:
            console.note(f"judged: {outcome.folder}")
        else:
            console.note(f"waiting: {outcome.key}: {outcome.why}")
    return failed


def _note_skipped(work: "Rejudgement", judge: str) -> None:
    """Say which results there was nothing to judge of."""
    unanswered = 0
    judged_before = 0
    for answers in work.answers:
        if answers.unanswered:
            unanswered += 1
        elif not answers.wanted:
            judged_before += 1
    if unanswered:
        results = number_of(unanswered, "result")
        console.note(f"none of the questions drawn has an answer: {results}")
    if judged_before:
        console.note(f"judged by {judge} already: {number_of(judged_before, 'result')}")


def show(bridge: "Bridge") -> None:
    """Print a bridge: a row for each result, then the agreement of both orders."""
    table = console.table(
        f"{bridge.old.benchmark}: old = {bridge.old.label}; new = {bridge.new.label}",
        "model",
        "#old",
        "#new",
        "#shift",
        "#95 % interval",
        "#equal %",
        "#kappa",
        "#answers",
        "#rank old",
        "#new",
    )
    for each in bridge.results:
        shift = each.shift
        ci95 = ""
        if shift.ci95 is not None:
            low, high = shift.ci95
            ci95 = f"{low:+.2f} to {high:+.2f}"
        kappa = "undefined" if each.kappa is None else f"{each.kappa:.3f}"
        table.add_row(
            each.new.result.model.id,
            *(f"{value:.2f}" for value in each.values),
            f"{shift.difference:+.2f}",
            ci95,
            f"{100 * each.exact:.1f}",
            kappa,
            str(shift.n),
            *map(str, each.ranks),
        )
    console.show(table)
    if len(bridge.results) > 1:
        tau = "undefined" if bridge.tau is None else f"{bridge.tau:.2f}"
        changes = _changed_places(bridge)
        console.write(f"Kendall's tau of the two orders: {tau}; {changes}")
    console.note("shift is new less old, over the answers that both scored; no value is converted")


def _changed_places(bridge: "Bridge") -> str:
    """Return the pairs of results that changed places, in words."""
    if bridge.changed is None:
        return "too many results to compare each with each"
    if not bridge.changed:
        return "no pair changed places beyond chance"
    pairs: list[str] = []
    for a, b, p in bridge.changed:
        pairs.append(f"{a.result.model.id} and {b.result.model.id} (p = {p_value(p)})")
    return f"changed places beyond chance: {', '.join(pairs)}"


def list_(*, store: Store, as_json: Json = False) -> None:
    """List the results in a store: each key, and under it what it is."""
    from reelbench.leaderboard import store as stores

    stored_results = stores.read(store, _alone_with_bar())
    if as_json:
        rows = [
            {"key": stored.key, "result": str(stored.folder / "result.json")}
            for stored in stored_results
        ]
        console.write_json({"results": rows})
        return
    for stored in stored_results:
        # A key stands alone on its line, so that it can be copied from a terminal of any width.
        console.write(stored.key)
        console.write(f"    {_in_a_line(stored)}")


def _in_a_line(stored: "StoredResult") -> str:
    from reelbench.leaderboard.entries import why_reference

    result = stored.result
    row = stored.filed_row
    facts = [result.model.id, f"{result.counts.scored} of {result.counts.items} scored"]
    if result.judge is not None:
        facts.append(f"judge {result.judge.requested}")
    if row.failed or row.partial:
        facts.append(row.failed or row.partial or "")
    if row.stated:
        facts.append(f"as stated: {', '.join(row.stated)}")
    reference = why_reference(stored)
    if reference is not None:
        facts.append(f"not ranked: {reference}")
    facts.append(result.provenance.date)
    return " · ".join(facts)


def import_hub(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Benchmark or task.")],
    *,
    store: Store,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="ORG/NAME",
            help="Dataset on the Hub; default: the benchmark's own.",
        ),
    ] = None,
) -> None:
    """Import the Hub's leaderboard of a dataset: shown as a separate source, never ranked."""
    from reelbench.data.loading import find_split
    from reelbench.leaderboard import community

    spec, *_ = find_split(name)
    board = community.fetch(spec, store, dataset)
    console.note(f"{number_of(len(board.rows), 'row')} of {board.dataset}")


def build(
    *,
    store: Store,
    out: Annotated[
        Path, typer.Option("--out", help="Output folder; an earlier build there is replaced.")
    ],
    published: Annotated[
        bool, typer.Option("--published/--no-published", help="Also list published results.")
    ] = True,
    common: Common = None,
    url: Annotated[
        str | None,
        typer.Option(
            "--url",
            metavar="ADDRESS",
            help="Address of the published page: links to it then show a picture of "
            "the first five rows.",
        ),
    ] = None,
    samples: Annotated[
        bool,
        typer.Option("--samples/--no-samples", help="Also show each run's questions and answers."),
    ] = True,
    as_json: Json = False,
    spread: Spread,
) -> None:
    """Write the leaderboard's page. It works from disk and on any static host."""
    from reelbench.leaderboard import site_build
    from reelbench.leaderboard.site_state import BuildOptions

    options = BuildOptions(published, tuple(common or ()), url, samples)
    summary = site_build.build_changed(store, out, options, workers=spread, note=console.note)
    for key, why in summary.left_out.items():
        _tell_left_out(key, why)
    runs = number_of(summary.runs, "run")
    published_results = number_of(summary.published, "published result")
    console.note(f"{runs} and {published_results}")
    for reference, number in summary.reference_runs.items():
        console.note(f"not ranked, {reference}: {number_of(number, 'run')}")
    if url is None:
        console.note("shared links will have no preview image; add one with --url ADDRESS")
    page = str(out / "index.html")
    if as_json:
        document = {
            "page": page,
            "runs": summary.runs,
            "published": summary.published,
            "left_out": dict(summary.left_out),
            "reference_points": dict(summary.reference_runs),
        }
        console.write(json.dumps(document, ensure_ascii=False))
    else:
        console.write(page)


def check(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FOLDER...",
            help="Folders of a pull request to the results dataset; default: the store itself.",
        ),
    ] = None,
    *,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Store to compare with: rank, paired differences."),
    ] = None,
    base: Annotated[
        Path | None,
        typer.Option(
            "--base",
            metavar="FOLDER",
            help="Copy of the results dataset of which FOLDER is a changed copy: only the "
            "difference is checked, each path of it.",
        ),
    ] = None,
    account: Annotated[
        str | None,
        typer.Option("--account", metavar="NAME", help="With --base: who hands the change in."),
    ] = None,
    answers: Answers = None,
    benchmark: HiddenBenchmark = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            metavar="ORG/NAME",
            help="With --answers: results dataset whose open pull requests are looked at.",
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a Markdown report.")
    ] = None,
    as_json: Json = False,
    spread: Spread,
) -> None:
    """Check results as the results dataset's CI does.

    Every number is recomputed, and the paths are checked. Without a folder, the rows of --store are
    checked again with the data that is on this machine: `add --again` then writes that down.

    With --answers, submissions to a hidden test are scored that are open pull requests to
    --dataset, and each gets a comment, which is printed.
    """
    if answers is not None:
        _check_hidden(_hidden_test(answers, benchmark, dataset, store))
        return
    if not folders:
        if store is None:
            raise InputError("check needs a folder, or --store")
        _check_again(store, spread, write=False)
        return
    if base is not None:
        _check_change(folders, base, account, markdown, as_json=as_json)
        return
    _check_folders(folders, store, markdown, spread, as_json=as_json)


def _hidden_test(
    answers: Path, benchmark: str | None, dataset: str | None, store: Path | None
) -> "HiddenTest":
    """Return the hidden test of a private file, which is held to the questions first."""
    from reelbench.leaderboard.hidden_test import HiddenTest
    from reelbench.tasks import hidden_answers

    if benchmark is None or dataset is None or store is None:
        raise InputError("--answers needs --benchmark NAME, --dataset ORG/RESULTS and --store")
    return HiddenTest(dataset, hidden_answers.read_hidden_answers(benchmark, answers), store)


def _check_hidden(test: "HiddenTest") -> None:
    """Look at all open pull requests. The status is the same whatever they score."""
    from reelbench.leaderboard import webhook

    webhook.prepare_looks()
    failures: list[str] = []
    for number in test.open():
        try:
            look = test.look_at(number, webhook.LANES[-1].bounds, last=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next one may do
            failures.append(f"pull request {number}: {failure_in_a_line(error)}")
            continue
        console.note(f"pull request {number}: {look.done}")
        if look.comment:
            console.write(look.comment)
    if failures:
        raise ReelbenchError(first_of(failures, separator="; "))


def _check_change(
    folders: list[Path],
    base: Path,
    account: str | None,
    markdown: Path | None,
    *,
    as_json: bool,
) -> None:
    """Check what a folder changes of a results dataset, within the bounds of a checker."""
    from reelbench.base.files import write_text
    from reelbench.leaderboard import changed_files, submission_page

    if len(folders) > 1:
        raise InputError("--base compares one folder with it; give one")
    outcome = changed_files.checked(folders[0], base, account)
    if outcome.ended is not None:
        text = f"{submission_page.TITLE} not checked\n\n{outcome.ended}\n"
        if markdown is not None:
            write_text(markdown, text)
        raise InputError(f"{folders[0]}: not checked: {outcome.ended}")
    if markdown is not None:
        write_text(markdown, outcome.markdown)
    if as_json:
        console.write_json(outcome.document)
    results = number_of(outcome.number, "result")
    for refusal in outcome.refusals[1:_SHOWN]:
        console.note(f"refused: {refusal}")
    if outcome.refusals:
        reasons = number_of(len(outcome.refusals), "reason")
        raise InputError(
            f"refused, of {results} that it changes, for {reasons}: {outcome.refusals[0]}"
        )
    if not as_json:
        console.write(f"{results} checked; nothing else is changed")


def _check_folders(
    folders: list[Path],
    store: Path | None,
    markdown: Path | None,
    spread: "Workers",
    *,
    as_json: bool,
) -> None:
    from reelbench.base.files import write_text
    from reelbench.leaderboard import store as stores
    from reelbench.leaderboard import submission, submission_page

    checked = stores.check(*folders, workers=spread)
    refused: dict[Path, str] = {}
    if as_json or markdown is not None or store is not None:
        report = submission.Report(submission.read(checked, store, left_out=_tell_left_out))
        for each in report.submissions:
            if each.verdict == "refused":
                refused[each.folder] = f"{each.folder}: {each.why}"
            if each.entry and each.entry.group.differs:
                console.note(f"{each.folder}: a table of its own: {each.entry.group.differs}")
        if markdown is not None:
            write_text(markdown, submission_page.markdown(report))
        if as_json:
            console.write_json(report.as_json())
    for result in checked:
        if result.outcome == "refused":
            refused[result.source] = result.why
        elif result.source not in refused:
            reason = f" ({result.why})" if result.why else ""
            console.note(f"valid: {result.source}{reason}")
    _refuse([*refused.values()], len(checked))
    if as_json:
        return
    if len(checked) == 1:
        console.write("1 result is valid")
    else:
        console.write(f"{len(checked)} results are valid")


def tables(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="As --benchmark; or a task.")
    ] = None,
    *,
    store: Store,
    style: Annotated[
        Literal["text", "markdown", "latex"] | None,
        typer.Option("--format", help="What to write; default: text at a terminal, else markdown."),
        Kind.FORMAT,
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", help="One benchmark only.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="Metrics, comma-separated; default: all, or in LaTeX the main one.",
        ),
    ] = None,
    published: Annotated[
        bool, typer.Option("--published/--no-published", help="Also list published results.")
    ] = True,
    common: Common = None,
) -> None:
    """Print a table for each benchmark, split and judge, ready for a paper."""
    from reelbench.data.loading import find_split
    from reelbench.leaderboard import board
    from reelbench.leaderboard.exports import tables as files

    benchmark = benchmark or name
    whole_board = board.make(
        store, published=published, workers=_alone_with_bar(), common=common or ()
    )
    split: str | None = None
    if benchmark is not None and benchmark not in whole_board.specs:
        named_split = find_split(benchmark)
        benchmark = named_split.spec.id
        split = named_split.split
    for key, why in whole_board.left_out.items():
        _tell_left_out(key, why)
    metrics = columns.split(",") if columns else None
    if style is None:
        at_terminal = sys.stdout is not None and sys.stdout.isatty()
        style = "text" if at_terminal else "markdown"
    width = shutil.get_terminal_size((files.NARROW_TERMINAL, 24)).columns
    text = files.tables(
        whole_board, style, benchmark=benchmark, split=split, metrics=metrics, width=width
    )
    console.write(text.rstrip("\n"))


def figures(
    *,
    store: Annotated[
        Path | None, typer.Option("--store", help="Folder of the results store.")
    ] = None,
    charts: Annotated[
        list[Path] | None,
        typer.Option("--chart", help="Chart that a page saved as JSON; repeat it for more."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="Output folder.")],
    width: Annotated[
        Literal["column", "page"],
        typer.Option(
            "--width", help="column: 84 mm, the main score; page: 174 mm, up to three scores."
        ),
    ] = "column",
    benchmark: Annotated[
        str | None, typer.Option("--benchmark", help="One benchmark only.")
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, help="The first N rows of a table; default: as many as a page holds."
        ),
    ] = None,
) -> None:
    """Draw each benchmark's main table, or charts of a page, for a paper.

    They are PDF, SVG and PNG, 84 or 174 mm wide, with letters of 8 pt; a PDF has its fonts inside.
    """
    if (store is None) == (not charts):
        raise InputError("name what to draw: either --store, or --chart")
    from reelbench.leaderboard.exports import figures as drawing

    described = drawing.read_charts(charts or ())
    if store is not None:
        described = _described_tables(store, benchmark, width, top)
    out.mkdir(parents=True, exist_ok=True)
    for name, chart in described:
        for path in drawing.write(chart, width, out, name):
            console.write(str(path))


def _described_tables(
    store: Path, benchmark: str | None, width: Literal["column", "page"], top: int | None
) -> "list[tuple[str, Chart]]":
    """Return each benchmark's name and its main table as a chart."""
    from reelbench.data.loading import find_split
    from reelbench.leaderboard import board
    from reelbench.leaderboard.exports import figures as drawing

    runs_board = board.make(store, published=False, workers=_alone_with_bar())
    if benchmark is not None and benchmark not in runs_board.specs:
        benchmark = find_split(benchmark).spec.id
    described: list[tuple[str, Chart]] = []
    for name, group in runs_board.main.items():
        if benchmark in (None, name):
            described.append((name, drawing.described(runs_board, group, width, top)))
    if not described:
        which = f" of {benchmark}" if benchmark else ""
        raise InputError(f"{store}: no ranked table{which} to draw")
    return described


def publish(
    *,
    store: Store,
    repo: Annotated[
        str | None,
        typer.Option(
            "--repo", help="Static Space for the page, ORG/NAME; created if you have permission."
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset", help="Dataset for the results, ORG/NAME; created if you have permission."
        ),
    ] = None,
    create_pr: Annotated[
        bool,
        typer.Option("--create-pr", help="Open pull requests; the dataset's has only results."),
    ] = False,
    webhook: Annotated[
        str | None,
        typer.Option(
            "--webhook",
            metavar="ORG/NAME",
            help="Space that checks pull requests to --dataset; created if you have permission.",
        ),
    ] = None,
    install: Annotated[
        str | None,
        typer.Option(
            "--install",
            metavar="URL",
            help="Wheel that --webhook's Space and the dataset's workflow install: its address "
            "with #sha256=….",
        ),
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="Make new repositories private.")
    ] = False,
    forget: Annotated[
        list[str] | None,
        typer.Option(
            "--forget", metavar="KEY", help="Result of the dataset that may vanish from the page."
        ),
    ] = None,
    squash_history: Annotated[
        bool,
        typer.Option(
            "--squash-history",
            help="Make one commit of the dataset's history: withdrawn results are in none then.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; change nothing.")
    ] = False,
) -> None:
    """Publish the page as a static Space, and the results as a dataset.

    What other maintainers published since comes into the store first.

    A further Space checks submissions.
    """
    from reelbench.leaderboard import publish as publishing

    options = publishing.PublishOptions(
        create_pr=create_pr,
        dry_run=dry_run,
        private=private,
        install=install,
        forget=forget or (),
        squash_history=squash_history,
    )
    steps = publishing.publish(
        store,
        space=repo,
        dataset=dataset,
        webhook=webhook,
        options=options,
        workers=_alone_with_bar(),
        note=console.note,
    )
    for step in steps:
        console.write(f"{step.done}: {step.url}")


def webhook(
    *,
    dataset: Annotated[
        str,
        typer.Option(
            "--dataset", metavar="ORG/NAME", help="Results dataset whose pull requests are checked."
        ),
    ],
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "0.0.0.0",  # noqa: S104 - it is to be reached
    port: Annotated[
        int, typer.Option("--port", metavar="N", help="Port to listen on; 0 takes a free one.")
    ] = 7860,
    answers: Answers = None,
    benchmark: HiddenBenchmark = None,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="With --answers: your store, whose ledger has the scores."),
    ] = None,
) -> None:
    """Serve the Hub's webhook of a results dataset.

    It checks each pull request, and comments with the outcome. With --answers it also scores
    submissions to a hidden test.

    It comments as the owner of HF_TOKEN. WEBHOOK_SECRET is the webhook's secret. `publish
    --webhook` makes a Space that runs it.
    """
    from reelbench.base.settings import WEBHOOK_SECRET
    from reelbench.leaderboard import webhook as webhooks
    from reelbench.leaderboard.pull_request import PullRequests

    if not WEBHOOK_SECRET.is_set:
        raise InputError(
            "WEBHOOK_SECRET is not set: without it anybody could call; "
            "set it here and at the Hub's webhook"
        )
    if answers is None:
        pull_requests = PullRequests(dataset)
    else:
        pull_requests = _hidden_test(answers, benchmark, dataset, store)
    webhooks.serve(pull_requests, WEBHOOK_SECRET.get(), host=host, port=port, note=console.note)


def export(
    stores: Annotated[list[Path], typer.Argument(metavar="STORE...", help="Results stores.")],
    *,
    out: Annotated[Path, typer.Option("--out", help="Output folder.")],
    style: Annotated[
        Literal["eval-results", "eee"],
        typer.Option(
            "--format",
            help="eval-results: for models' repositories on the Hub; eee: Every Eval Ever 0.3.0.",
        ),
    ],
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset", metavar="BENCHMARK=ORG/NAME", help="Dataset repository with the eval.yaml."
        ),
    ] = None,
    organization: Annotated[
        str | None, typer.Option("--organization", help="Who ran the evaluations (eee).")
    ] = None,
    relationship: Annotated[
        str,
        typer.Option(
            "--relationship",
            help="Evaluator's relationship to the models: first_party, third_party, "
            "collaborative or other (eee).",
        ),
    ] = "other",
) -> None:
    """Write results for others' leaderboards. Unsupported results are skipped and listed."""
    from reelbench.leaderboard import store as stores_
    from reelbench.leaderboard.exports import every_eval_ever, hub_results

    repositories: dict[str, str] = {}
    for pair in dataset or ():
        name, _, repository = pair.partition("=")
        if not name or not repository:
            raise InputError("--dataset: expected BENCHMARK=ORG/NAME, like rextime=ReXTime/ReXTime")
        repositories[name] = repository
    stored: list[StoredResult] = []
    for store in stores:
        stored += stores_.read(store)
    if style == "eee":
        exports = every_eval_ever.export(
            stored, out, organization=organization, relationship=relationship
        )
    else:
        exports = hub_results.export(stored, out, repositories)
    for exported in exports:
        if exported.why:
            console.note(f"left out: {exported.key}: {exported.why}")
        for path in exported.files:
            console.write(str(path))


def _tell_left_out(key: str, why: str) -> None:
    console.note(f"left out: {key}: {why}")


def _refuse(reasons: list[str], of: int, kind: type[ReelbenchError] = InputError) -> None:
    for reason in reasons[1:_SHOWN]:
        console.note(f"refused: {reason}")
    if reasons:
        raise kind(f"refused {len(reasons)} of {of}: {reasons[0]}")
