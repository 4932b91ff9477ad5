"""`reelbench leaderboard`: results into a store, and from there to a table, a page and the Hub."""

import json
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from reelbench.base.errors import InputError, ReelbenchError, first_of, number_of
from reelbench.base.settings import home
from reelbench.base.text_tables import p_value
from reelbench.llm.defaults import CONCURRENCY
from reelbench.terminal import console
from reelbench.terminal.asking_options import (
    AboutModel,
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
    from reelbench.leaderboard.rejudge import Rejudge


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
_SHOWN = 20


def workers_options(*, workers: NumberOfWorkers = None, engine: Engine = "pool") -> "Workers":
    """Return the workers for many results."""
    from reelbench.base.workers import Workers

    return Workers(workers, engine)


Spread = Annotated["Workers", workers_options]


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
    judge_concurrency: JudgeConcurrency = CONCURRENCY,
    judge_prompts: JudgePrompts = "reelbench",
    judge_budget: JudgeBudget = None,
    judge_price: JudgePrice = None,
) -> "Rejudge | None":
    """Return the plan to ask judges again, or None where that is not wanted; the results say which judges."""
    if rejudge is None:
        return None
    from reelbench.judges.judge_options import JudgeOptions
    from reelbench.leaderboard.rejudge import Rejudge

    options = JudgeOptions.named(
        "of the result",
        url=judge_url,
        concurrency=judge_concurrency,
        prompts=judge_prompts,
        **budget_of("--judge-budget", judge_budget),
        **price_of("--judge-price", judge_price),
    )
    return Rejudge(rejudge, options, seed=rejudge_seed, note=console.note)


def add(
    run_dir: Annotated[
        Path,
        typer.Argument(
            help="Folder with result.json and samples.jsonl, or a folder of such folders."
        ),
    ],
    *,
    store: Store,
    account: Annotated[
        str | None,
        typer.Option(
            "--account",
            metavar="NAME",
            help="Who handed it in; default: it is the board's maintainers' own.",
        ),
    ] = None,
    as_maintainer: Annotated[
        bool,
        typer.Option(
            "--as-maintainer",
            help="Add it even if another account submitted the model first. From a "
            "copy of your own results dataset, also copy who submitted what and"
            " when, the rows without samples, and the names.",
        ),
    ] = False,
    as_json: Json = False,
    spread: Spread,
    about: AboutModel,
    rejudge: Annotated["Rejudge | None", rejudge_options],
) -> None:
    """Recompute every number of a result from its samples; add the result, or refuse it if a number differs.

    A judge's replies are taken from the result; --rejudge asks again about some, and costs as many
    calls.
    """
    from reelbench.leaderboard import store as stores
    from reelbench.leaderboard import withheld
    from reelbench.leaderboard.trust import Filing

    brought = list(withheld.bring(run_dir, store, believed=as_maintainer))
    for file in brought:
        console.note(
            f"brought: {file}"
            if as_maintainer
            else f"left: {file} (--as-maintainer brings a board's own)"
        )
    if brought and as_maintainer and not any(run_dir.rglob("result.json")):
        return
    filing = Filing(account, as_maintainer)
    done = stores.add(run_dir, store, rejudge=rejudge, about=about, filing=filing, workers=spread)
    for one in [one for one in done if one.outcome != "refused"][:_SHOWN]:
        console.note(f"{one.outcome}: {one.place}" + (f" ({one.why})" if one.why else ""))
    if len(done) > _SHOWN:
        counted = sorted(Counter(one.outcome for one in done).items())
        console.note(", ".join(f"{number} {outcome}" for outcome, number in counted))
    # Say what was filed without the metric that ranks, and how it gets it.
    from reelbench.leaderboard.entries import metric_value
    from reelbench.registry import discovery

    for one in done[:_SHOWN]:
        if one.place is None or (result := one.result) is None or one.outcome == "refused":
            continue
        spec = discovery.spec_of(result.benchmark)
        if spec.judge is None or metric_value(result.metrics, spec.primary.name) is not None:
            continue
        name = (
            f"score --run {one.source}"
            if result.model.adapter
            else f"score {spec.id} --predictions FILE"
        )
        console.note(
            f"{one.source}: no {spec.primary.name} yet, so no rank; judge it and add it again: reelbench {name} "
            f"--judge {spec.judge.suggested} --judge-prompts official (the prompts of published numbers)"
        )
    if as_json:
        console.write_json({"results": [one.as_json() for one in done]})
    _refuse([one.why for one in done if one.outcome == "refused"], len(done))


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
    as_json: Json = False,
    judge_estimate: JudgeEstimate = False,
    judge: Judge,
) -> None:
    """Judge a store's answers with another judge, file each new result beside the old one, and relate the two.

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
        note=console.note,
        bar=console.progress,
    )
    if judge_estimate:
        from reelbench.terminal.report import show_estimates

        show_estimates(list(work.estimates()), as_json=as_json)
        for line in work.refused:
            console.note(f"left out: {line}")
        return
    failed = []
    for done in work.judge(out or home() / "rejudged"):
        if done.failed:
            failed.append(f"{done.key}: {done.why}")
        else:
            console.note(
                f"judged: {done.folder}" if done.folder else f"waiting: {done.key}: {done.why}"
            )
    if silent := sum(answers.unanswered for answers in work.answers):
        console.note(f"none of the questions drawn has an answer: {number_of(silent, 'result')}")
    if kept := sum(not answers.wanted and not answers.unanswered for answers in work.answers):
        console.note(f"judged by {judge.name} already: {number_of(kept, 'result')}")
    made = {name: bridge.bridges(pairs) for name, pairs in work.pairs().items()}
    if as_json:
        console.write_json({name: bridge.as_json(some) for name, some in made.items()})
    for each in () if as_json else chain.from_iterable(made.values()):
        show(each)
    if failed:
        raise ReelbenchError(first_of(failed, separator="; "))
    if work.refused:
        raise InputError(first_of(work.refused, separator="; "))


def show(made: "Bridge") -> None:
    """Print a bridge: a row a result, then what the two orders have in common."""
    table = console.table(
        f"{made.old.benchmark}: old = {made.old.label}; new = {made.new.label}",
        *(
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
        ),
    )
    for one in made.results:
        shift = one.shift
        ci95 = "" if shift.ci95 is None else f"{shift.ci95[0]:+.2f} to {shift.ci95[1]:+.2f}"
        values = (f"{value:.2f}" for value in one.values)
        kappa = "undefined" if one.kappa is None else f"{one.kappa:.3f}"
        agreement = (f"{100 * one.exact:.1f}", kappa, str(shift.n))
        model = one.new.result.model.id
        table.add_row(
            model, *values, f"{shift.difference:+.2f}", ci95, *agreement, *map(str, one.ranks)
        )
    console.show(table)
    if len(made.results) > 1:
        tau = "undefined" if made.tau is None else f"{made.tau:.2f}"
        changed = "no pair changed places beyond chance"
        if made.changed is None:
            changed = "too many results to compare each with each"
        elif made.changed:
            pairs = (
                f"{a.result.model.id} and {b.result.model.id} (p = {p_value(p)})"
                for a, b, p in made.changed
            )
            changed = f"changed places beyond chance: {', '.join(pairs)}"
        console.write(f"Kendall's tau of the two orders: {tau}; {changed}")
    console.note("shift is new less old, over the answers that both scored; no value is converted")


def list_(*, store: Store, as_json: Json = False) -> None:
    """List the results in a store, a line each with its key."""
    from reelbench.leaderboard import store as stores

    kept = stores.read(store)
    if as_json:
        rows = [{"key": one.key, "result": str(one.folder / "result.json")} for one in kept]
        console.write_json({"results": rows})
        return
    table = console.table("", "key", "model", "#scored", "judge", "partial", "as stated", "date")
    for stored in kept:
        result, partial, stated = (
            stored.result,
            stored.check.partial or "",
            ", ".join(stored.check.stated or ()),
        )
        scored, judge = (
            f"{result.counts.scored}/{result.counts.items}",
            result.judge.requested if result.judge else "",
        )
        table.add_row(
            stored.key, result.model.id, scored, judge, partial, stated, result.provenance.date
        )
    console.show(table)


def remove(
    keys: Annotated[
        list[str], typer.Argument(metavar="KEY...", help="Keys, as `leaderboard list` shows them.")
    ],
    *,
    store: Store,
) -> None:
    """Remove results from a store; if one is missing, nothing is removed."""
    from reelbench.leaderboard import store as stores

    for key in stores.remove(keys, store):
        console.note(f"removed: {key}")


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

    board = community.fetch(find_split(name)[0], store, dataset)
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
    as_json: Json = False,
    spread: Spread,
) -> None:
    """Write the leaderboard's page; it works from disk and on any static host."""
    from reelbench.leaderboard import site

    made = site.build(store, out, published=published, workers=spread, common=common or (), url=url)
    for key, why in made.left_out.items():
        _tell_left_out(key, why)
    runs = sum(entry.stored is not None for entry in made.entries)
    console.note(
        f"{number_of(runs, 'result')} of runs and {len(made.entries) - runs} published ones"
    )
    page = str(out / "index.html")
    counted = {
        "page": page,
        "runs": runs,
        "published": len(made.entries) - runs,
        "left_out": dict(made.left_out),
    }
    console.write(json.dumps(counted, ensure_ascii=False) if as_json else page)


def check(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Folders of a pull request to the results dataset."
        ),
    ],
    *,
    store: Annotated[
        Path | None,
        typer.Option("--store", help="Store to compare with: rank, paired differences."),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write a Markdown report.")
    ] = None,
    as_json: Json = False,
    spread: Spread,
) -> None:
    """Check results as the results dataset's CI does: recompute every number, and check the paths."""
    from reelbench.base.files import write_text
    from reelbench.leaderboard import store as stores
    from reelbench.leaderboard import submission, submission_page

    checked = stores.check(*folders, workers=spread)
    refused = {one.source: one.why for one in checked if one.outcome == "refused"}
    if as_json or markdown is not None or store is not None:
        report = submission.Report(submission.read(checked, store, left_out=_tell_left_out))
        of_store = {
            one.folder: f"{one.folder}: {one.why}"
            for one in report.submissions
            if one.verdict == "refused"
        }
        refused = of_store | refused
        for one in report.submissions:
            if one.entry and one.entry.group.differs:
                console.note(f"{one.folder}: a table of its own: {one.entry.group.differs}")
        if markdown is not None:
            write_text(markdown, submission_page.markdown(report))
        if as_json:
            console.write_json(report.as_json())
    for one in checked:
        if one.source not in refused:
            console.note(f"holds: {one.source}" + (f" ({one.why})" if one.why else ""))
    _refuse([*refused.values()], len(checked))
    if not as_json:
        console.write("1 result holds" if len(checked) == 1 else f"{len(checked)} results hold")


def tables(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="As --benchmark.")] = None,
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
    from reelbench.leaderboard import board
    from reelbench.leaderboard.exports import tables as files
    from reelbench.registry import discovery

    benchmark = benchmark or name
    made = board.make(store, published=published, common=common or ())
    if benchmark is not None and benchmark not in made.specs:
        discovery.get(benchmark)
    for key, why in made.left_out.items():
        _tell_left_out(key, why)
    metrics = columns.split(",") if columns else None
    style = style or ("text" if sys.stdout is not None and sys.stdout.isatty() else "markdown")
    console.write(files.tables(made, style, benchmark=benchmark, metrics=metrics).rstrip("\n"))


def figures(
    *,
    store: Store,
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
) -> None:
    """Draw each benchmark's main table for a paper: PDF and SVG, 84 or 174 mm wide, letters of 8 pt, fonts inside."""
    from reelbench.leaderboard import board
    from reelbench.leaderboard.exports import figures as drawn

    made = board.make(store, published=False)
    wanted = [group for name, group in made.main.items() if benchmark in (None, name)]
    if not wanted:
        raise InputError(
            f"{store}: no ranked table{f' of {benchmark}' if benchmark else ''} to draw"
        )
    out.mkdir(parents=True, exist_ok=True)
    for group in wanted:
        for path in drawn.write(made, group, width, out):
            console.write(str(path))


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
        typer.Option("--create-pr", help="Open pull requests; the dataset's holds only results."),
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
            metavar="WHAT",
            help="Package for --webhook's Space: an archive's address with "
            "#sha256=…, or a version.",
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
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; change nothing.")
    ] = False,
) -> None:
    """Publish the page as a static Space, the results as a dataset, and a Space that checks submissions."""
    from reelbench.leaderboard import publish as publishing

    options = publishing.PublishOptions(
        create_pr=create_pr, dry_run=dry_run, private=private, install=install, forget=forget or ()
    )
    done = publishing.publish(
        store, space=repo, dataset=dataset, webhook=webhook, options=options, note=console.note
    )
    for one in done:
        console.write(f"{one.done}: {one.url}")


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
) -> None:
    """Serve the Hub's webhook of a results dataset: check each pull request and comment with the outcome.

    It comments as the owner of HF_TOKEN; WEBHOOK_SECRET is the webhook's secret. `publish
    --webhook` makes a Space that runs it.
    """
    from reelbench.base.settings import WEBHOOK_SECRET
    from reelbench.leaderboard import webhook as webhooks
    from reelbench.leaderboard.pull_request import PullRequests

    if not WEBHOOK_SECRET.is_set:
        raise InputError(
            "WEBHOOK_SECRET is not set: without it anybody could call; set it here and at the Hub's webhook"
        )
    webhooks.serve(
        PullRequests(dataset), WEBHOOK_SECRET.get(), host=host, port=port, note=console.note
    )


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
    """Write results for others' leaderboards; unsupported results are skipped and listed."""
    from reelbench.leaderboard import store as stores_
    from reelbench.leaderboard.exports import every_eval_ever, hub_results

    pairs = [pair.partition("=") for pair in dataset or ()]
    if not all(name and repository for name, _, repository in pairs):
        raise InputError("--dataset: expected BENCHMARK=ORG/NAME, like rextime=ReXTime/ReXTime")
    stored = [one for store in stores for one in stores_.read(store)]
    if style == "eee":
        done = every_eval_ever.export(
            stored, out, organization=organization, relationship=relationship
        )
    else:
        done = hub_results.export(stored, out, {name: repository for name, _, repository in pairs})
    for one in done:
        if one.why:
            console.note(f"left out: {one.key}: {one.why}")
        for path in one.files:
            console.write(str(path))


def _tell_left_out(key: str, why: str) -> None:
    console.note(f"left out: {key}: {why}")


def _refuse(reasons: list[str], of: int) -> None:
    for reason in reasons[1:_SHOWN]:
        console.note(f"refused: {reason}")
    if reasons:
        raise InputError(f"refused {len(reasons)} of {of}: {reasons[0]}")
