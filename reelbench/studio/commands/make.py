"""`reelbench make`: make a data set with language models."""

import inspect
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from reelbench.base.errors import InputError, number_of
from reelbench.registry.reasons import Reason
from reelbench.studio.chain_rules import Cuts, GateRules, SourceRules
from reelbench.terminal import console
from reelbench.terminal.asking_options import Llm, LlmBatch, RetryUnread, by_role, shared_budget
from reelbench.terminal.option_groups import (
    Data,
    Json,
    Kind,
    Per,
    Split,
    TaskName,
    reports_status,
    strata,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from reelbench.llm.ask_options import AskOptions
    from reelbench.registry.strata import Strata
    from reelbench.studio.benchmark_files import MadeBy, SplitShares
    from reelbench.studio.chain import ChainSetup, Role
    from reelbench.studio.discussion_files import DiscussionVideo


_FAILURES = {"unavailable", "refused", "budget"}
"""Reasons that are the run's, not the item's."""
_HASH = 8  # characters of a prompt's hash that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeOptions:
    """Options of all commands here."""

    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Use the first N entries only."),
        Kind.LIMIT,
    ] = None
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Count calls, tokens and (with prices) dollars; ask and write nothing."
        ),
    ] = False
    prompts: Annotated[
        Path | None,
        typer.Option(
            "--prompts", metavar="DIR", help="Folder of prompts and roles that replace ours."
        ),
    ] = None
    retry_unread: RetryUnread = False
    llm_batch: LlmBatch = False
    as_json: Json = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainOptions(MakeOptions):
    """Options of the chains that make a benchmark, in stages."""

    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Output folder.")] = None
    frames: Annotated[
        str,
        typer.Option(
            "--frames",
            metavar="SPEC",
            help="Frames shown to models that see the video: as images, or with "
            "as=clip as one video.",
        ),
        Kind.FRAMES,
    ] = "uniform:16,size=448,as=images"
    media: Annotated[
        Path | None, typer.Option("--media", metavar="DIR", help="Folder of the videos.")
    ] = None
    split: Annotated[
        list[str] | None,
        typer.Option(
            "--split", metavar="NAME=SHARE", help="Split by videos (test=0.2); the rest is train."
        ),
    ] = None
    until: Annotated[
        str | None,
        typer.Option(
            "--until",
            metavar="STAGE",
            help="Stop after a stage and write DIR/STAGE.jsonl, which you may edit.",
        ),
    ] = None
    start_after: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="STAGE", help="Continue from DIR/STAGE.jsonl, which --until wrote."
        ),
    ] = None

    @property
    def stages(self) -> dict[str, Any]:
        """The fields of `StageOptions`."""
        return {name: getattr(self, name) for name in ("frames", "media", "start_after", "until")}

    def folder(self) -> Path | None:
        """Return the output folder, made where it isn't there. None for a plan."""
        if self.plan:
            return None
        if self.out is None:
            raise InputError("--out: name an output folder, or give --plan, which writes nothing")
        self.out.mkdir(parents=True, exist_ok=True)
        return self.out

    def source(self, path: Path | None, option: str) -> Path:
        """Return the file to start from: the user's, or that of a stage.

        Args:
            path: The user's file.
            option: The option that names it.

        Raises:
            InputError: Neither is named, or the stage's is not there.
        """
        if self.start_after is None:
            if path is None:
                raise InputError(
                    f"{option}: name a file to start from, or a stage to continue from with --from"
                )
            return path
        from reelbench.studio.chain import stage_file

        if self.out is None:
            raise InputError("--from: continues from a file in --out DIR; name that folder")
        path = self.out / stage_file(self.start_after)
        if not path.is_file():
            raise InputError(
                f"--from {self.start_after}: {path} doesn't exist; "
                f"write it with --until {self.start_after}"
            )
        return path

    def declare(self, chain: "MadeBy", shares: "SplitShares", funnel: Mapping[str, Any]) -> None:
        """Declare a chain's questions as a benchmark, unless it stopped before its end."""
        from reelbench.studio import benchmark_files

        folder = self.folder()
        if folder is None or self.until is not None:
            return
        if benchmark_files.write(chain, folder, shares, funnel, self.media) is None:
            console.note("nothing was made, so there is no benchmark.yaml")
        else:
            console.note(
                f"a benchmark now: reelbench eval {folder} --model MODEL --base-url URL, "
                f"or reelbench cards render {folder}"
            )


def page(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder that `make discussion` or `make moments` wrote."
        ),
    ],
    *,
    video: Annotated[
        str | None, typer.Option("--video", help="The video to show; default the first one.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="The page's file; default DIR/VIDEO.html.")
    ] = None,
) -> None:
    """Write a page of one video's discussion.

    It shows the turns, the surviving questions, and the funnel of all videos.
    """
    from reelbench.studio import chain_page

    console.write(str(chain_page.write(folder, video, out)))


def compare(
    a: Annotated[
        Path,
        typer.Argument(metavar="A", help="Folder that `make discussion` or `make moments` wrote."),
    ],
    b: Annotated[
        Path,
        typer.Argument(
            metavar="B", help="Another such folder, for example with agents swapped or left out."
        ),
    ],
    *,
    parse_depth: Annotated[
        bool, typer.Option("--parse-depth", help="Compare parse depths too (needs spaCy).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare two runs of a chain.

    It shows both funnels, the questions that are the same, and how the texts differ.
    """
    from reelbench.base.text_tables import interval, number
    from reelbench.studio.question_sets import comparison_of_runs, read_run
    from reelbench.studio.readability import load_parser

    parser = load_parser() if parse_depth else None
    document = comparison_of_runs(read_run(a), read_run(b), parser)
    if as_json:
        console.write_json(document)
        return
    _show_stages(document["a"], document["b"])
    for side in ("a", "b"):
        for part, values in document[side]["differs"].items():
            texts: list[str] = []
            for key, value in values.items():
                text = value[:_HASH] if part == "prompts" else value
                texts.append(f"{key} {text}")
            console.note(f"only in {side}, {part}: {', '.join(texts)}")
    title = f"Questions and answers on the {number_of(document['videos'], 'video')} in both"
    table = console.table(title, "mean", "#a", "#b", "#b - a", "#95 % interval")
    for name, measure in document["measures"].items():
        cells = [number(measure[key], 2) for key in ("a", "b", "difference")]
        table.add_row(name.replace("_", " "), *cells, interval(measure["ci95"], 2))
    console.show(table)
    console.write(
        f"{document['a']['questions']} questions in a, {document['b']['questions']} in b; "
        f"the same in both: {document['same']}, with the same answer: {document['same_answers']}"
    )


def _show_stages(a: Mapping[str, Any], b: Mapping[str, Any]) -> None:
    """Show what came through each stage of two runs, and by which models."""
    counts_a = _stage_counts(a["stages"])
    counts_b = _stage_counts(b["stages"])
    table = console.table("Came through", "stage", "#a", "#b", "model of a", "model of b")
    for name in counts_a | counts_b:
        # A later round's stage has its role's name and the round's number.
        role = name.rstrip(" 0123456789")
        table.add_row(
            name,
            counts_a.get(name, "–"),
            counts_b.get(name, "–"),
            a["models"].get(role, ""),
            b["models"].get(role, ""),
        )
    console.show(table)


def _stage_counts(stages: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    return {stage["name"]: f"{stage['out']} of {stage['in']}" for stage in stages}


def _rule_options(rules: type, panel: str, kind: Kind = Kind.OWN) -> "Callable[..., Any]":
    """Return a dataclass as a group, its fields as options under one heading."""
    hints = get_type_hints(rules)
    defaults = inspect.signature(rules).parameters
    parameters: list[inspect.Parameter] = []
    for part in fields(rules):
        option_name = f"--{part.name.replace('_', '-')}"
        option = typer.Option(option_name, rich_help_panel=panel, **part.metadata)
        annotation = Annotated[hints[part.name], option, kind]
        parameters.append(defaults[part.name].replace(annotation=annotation))
    make = partial(rules)
    make.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return make


Gating = Annotated[GateRules, _rule_options(GateRules, "Gates")]


@reports_status
def discussion(
    *,
    videos: Annotated[
        Path | None,
        typer.Option(
            "--videos",
            metavar="FILE",
            help="The videos: JSON Lines; or MovieChat's JSON, a file or a folder of it.",
        ),
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Rounds of review.")] = 1,
    questions: Annotated[int, typer.Option("--questions", min=1, help="Questions per video.")] = 5,
    per: Annotated[
        str | None,
        typer.Option(
            "--per",
            metavar="FIELD=N",
            help="Use N videos of each value of a field of their metadata (class=5).",
        ),
    ] = None,
    parse_depth: Annotated[
        bool, typer.Option("--parse-depth", help="Compare parse depths too (needs spaCy).")
    ] = False,
    making: ChainOptions,
    gates: Gating,
    llm: Llm,
) -> None:
    """Let models discuss and write questions (MovieCORE, 3.2).

    The roles are expert, skeptic, detective, meta reviewer and critic.
    """
    from reelbench.studio import discussion as discussing
    from reelbench.studio.benchmark_files import SplitShares
    from reelbench.studio.chain import ChainPrompts
    from reelbench.studio.discussion_files import read_videos
    from reelbench.studio.gates import Gates
    from reelbench.studio.readability import load_parser

    folder = making.folder()
    shares = SplitShares.parse(making.split or [])
    parser = load_parser() if parse_depth else None
    options = discussing.DiscussionOptions(questions=questions, rounds=rounds, **making.stages)
    gate = Gates(gates, making.prompts)
    chain = discussing.Discussion(ChainPrompts("discussion", making.prompts), options, gate)
    source = making.source(videos, "--videos")
    file_videos = read_videos(source, len(chain.context_questions))[: making.limit]
    drawn_videos = _drawn_videos(file_videos, source, strata(per, limit=making.limit))
    to_the_end = making.until is None
    optional = {role.name: False for role in chain.roles if role not in chain.speakers}
    optional[discussing.CONTEXT] = any(video.context is None for video in drawn_videos)
    optional[discussing.JUDGE] = to_the_end and discussing.JUDGE in llm
    optional[discussing.BLOOM] = to_the_end and discussing.BLOOM in llm
    for name, is_asked in gate.roles(options=False).items():
        optional[name] = to_the_end and is_asked
    models = _options_by_role(llm, chain.speakers, optional, making=making)
    document = _run_chain(
        "discussing",
        len(drawn_videos),
        models,
        folder,
        lambda setup: discussing.run(drawn_videos, chain, setup, parser),
    )
    making.declare("discussion", shares, document)
    stage = making.until or "questions"
    _print_funnel_or_plan(
        document, folder, stage, as_json=making.as_json, start_after=making.start_after
    )


def _drawn_videos(
    videos: "list[DiscussionVideo]", source: Path, of_each: "Strata | None"
) -> "list[DiscussionVideo]":
    """Return the videos that are drawn by a field of their metadata. All without one."""
    if of_each is None:
        return videos
    fields_by_video: dict[str, dict[str, list[str]]] = {}
    for video in videos:
        fields_by_video[video.name] = {key: [str(value)] for key, value in video.metadata.items()}
    drawn_names = of_each.draw(str(source), fields_by_video)
    return [video for video in videos if video.name in drawn_names]


@reports_status
def moments(
    *,
    captions: Annotated[
        Path,
        typer.Option(
            "--captions", metavar="FILE", help="ActivityNet Captions or QVHighlights queries."
        ),
    ],
    seed: Annotated[int, typer.Option("--seed", help="Seed of the options' order.")] = 0,
    no_options: Annotated[
        bool, typer.Option("--no-options", help="Write no wrong options, as in the training split.")
    ] = False,
    mini_test: Annotated[
        int,
        typer.Option(
            "--mini-test",
            min=0,
            help="Questions of each category for a mini test (mini_test.json).",
        ),
    ] = 0,
    making: ChainOptions,
    rules: Annotated[SourceRules, _rule_options(SourceRules, "Rules for sources", Kind.LIMIT)],
    cuts: Annotated[Cuts, _rule_options(Cuts, "Cuts between ratings", Kind.LIMIT)],
    gates: Gating,
    llm: Llm,
) -> None:
    """Write questions about how two moments relate (ReXTime, supplement C).

    They are made from captions or queries.
    """
    from reelbench.studio import moments as pairing
    from reelbench.studio.benchmark_files import SplitShares
    from reelbench.studio.chain import ChainPrompts
    from reelbench.studio.gates import Gates
    from reelbench.studio.moment_pairs import MomentSource, read_pairs
    from reelbench.studio.moment_sources import read_sources

    folder = making.folder()
    shares = SplitShares.parse(making.split or [])
    if cuts.query_answers is None and no_options:
        cuts = replace(cuts, query_answers="query")
    elif cuts.query_answers is None:
        cuts = replace(cuts, query_answers="any")
    options = pairing.MomentOptions(
        rules=rules,
        cuts=cuts,
        seed=seed,
        with_options=not no_options,
        mini_test=mini_test,
        **making.stages,
    )
    gate = Gates(gates, making.prompts, seed=seed)
    chain = pairing.Moments(ChainPrompts("moments", making.prompts), options, gate)
    file_sources = read_sources(captions)
    sources = [MomentSource(source) for source in file_sources]
    if making.start_after is not None:
        sources = read_pairs(making.source(None, "--captions"), file_sources)
    sources = sources[: making.limit]
    speakers = chain.speakers(file_sources[0])
    optional = {name: False for name, role in chain.roles.items() if role not in speakers}
    for name, is_asked in gate.roles(options=not no_options).items():
        optional[name] = making.until is None and is_asked
    models = _options_by_role(llm, speakers, optional, making=making)
    document = _run_chain(
        "making", len(sources), models, folder, lambda setup: pairing.run(sources, chain, setup)
    )
    making.declare("moments", shares, document)
    _print_funnel_or_plan(
        document, folder, None, as_json=making.as_json, start_after=making.start_after
    )


@reports_status
def tags(
    name: TaskName,
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Output file (JSON Lines).")
    ] = None,
    llm_votes: Annotated[
        int,
        typer.Option(
            "--llm-votes", min=1, help="Replies per question; the majority decides each label."
        ),
    ] = 5,
    frames: Annotated[
        str | None,
        typer.Option(
            "--frames",
            metavar="SPEC",
            help="Frames to show, as images or with as=clip as one video; default none.",
        ),
        Kind.FRAMES,
    ] = None,
    visual: Annotated[
        Path | None,
        typer.Option(
            "--visual", metavar="FILE", help="DramaQA's visual metadata, which says who is in view."
        ),
    ] = None,
    split: Split = None,
    data: Data = None,
    per: Per = None,
    making: MakeOptions,
    llm: Llm,
) -> None:
    """Tag questions by the understanding that they need (CogME's TARGET, CONTENT and THINKING)."""
    from reelbench.data import loading
    from reelbench.studio import tagging
    from reelbench.studio.chain import ChainPrompts
    from reelbench.studio.video_frames import VideoFrames

    if out is None and not making.plan:
        raise InputError("--out: name an output file, or give --plan, which writes nothing")
    located = loading.locate(name, split, data)
    of_each = strata(per, limit=making.limit)
    rows = located.read()[: making.limit]
    if of_each is not None:
        rows = of_each.draw_rows(located.spec, rows)
    pictures = None
    if frames is not None:
        pictures = VideoFrames(located.spec, frames, data, located.split)
    visual_counts = {} if visual is None else tagging.read_visual(visual)
    prompts = ChainPrompts("tags", making.prompts)
    tagger = tagging.Tagger(prompts, llm_votes, pictures, visual_counts)
    if pictures is None:
        console.note(
            "no frames are shown: CogME's tags depend on what is in view, so these are guesses "
            "from the text (recorded as frames: none); for a model that takes pictures, add "
            "--frames uniform:8"
        )
    models = _options_by_role(llm, [tagger.role], {}, making=making)
    target = None if making.plan else out
    document = _run_chain(
        "tagging", len(rows), models, target, lambda setup: tagging.run(rows, tagger, setup)
    )
    _print_funnel_or_plan(document, target, "questions", as_json=making.as_json)


def _options_by_role(
    llm: "Mapping[str, AskOptions]",
    roles: "Sequence[Role]",
    optional: Mapping[str, bool],
    *,
    making: MakeOptions,
) -> "dict[str, AskOptions]":
    """Return each role's model.

    It is the one named for the role, or else the one in the roles' file, or else the one for all.

    Args:
        llm: The models that the user named.
        roles: The roles that are always asked.
        optional: True for each further role that is asked, False for one that is not.
        making: The options of the command.
    """
    names = [role.name for role in roles]
    names += [name for name, is_asked in optional.items() if is_asked]
    options_by_name = {name: options for name, options in llm.items() if optional.get(name, True)}
    models = by_role(options_by_name, names)
    for role in roles:
        if role.model is not None and role.name not in llm:
            models[role.name] = replace(models[role.name], model=role.model)
    for role_name, options in models.items():
        models[role_name] = replace(
            options, retry_unread=making.retry_unread, batch=making.llm_batch
        )
    return models


def _run_chain(
    title: str,
    total: int,
    models: "Mapping[str, AskOptions]",
    out: Path | None,
    run: "Callable[[ChainSetup], Coroutine[Any, Any, dict[str, Any]]]",
) -> dict[str, Any]:
    """Run a chain over `total` items, and return its funnel, or its plan."""
    from reelbench.llm import loop
    from reelbench.studio.chain import ChainSetup

    budget = shared_budget(models) if models else None
    with console.progress(title, total) as show:
        setup = ChainSetup(models, out, budget, console.note, show)
        return loop.run(run(setup))


def _print_funnel_or_plan(
    document: dict[str, Any],
    out: Path | None,
    stage: str | None,
    *,
    as_json: bool,
    start_after: str | None = None,
) -> None:
    """Show the funnel or the plan, and the advice that its reasons call for.

    Args:
        document: The funnel or the plan.
        out: The file or folder that was written. None for a plan.
        stage: The stage whose output the user wants. None for the last one.
        as_json: True to print the document instead of tables.
        start_after: The stage of an earlier run. The losses up to it are none of this run's.

    Raises:
        Exit: With 1 where nothing came out of the stage, and not because rules dropped it all.
    """
    if as_json:
        console.write_json(document)
    else:
        _show_funnel(document)
    if out is None:
        return
    stages = document["stages"]
    names = [entry["name"] for entry in stages]
    if start_after in names:
        stages = stages[names.index(start_after) + 1 :]
    reasons = Counter[str]()
    for entry in stages:
        reasons.update(entry["dropped"])
    is_incomplete = _note_reasons(reasons)
    results = [entry["out"] for entry in stages if stage in (None, entry["name"])]
    if results and results[-1] == 0 and is_incomplete:
        raise typer.Exit(1)
    if not as_json:
        console.write(str(out))


def _note_reasons(reasons: Counter[str]) -> bool:
    """Give advice on items that no rule dropped. Return True for any."""
    failures = sorted(reasons.keys() & _FAILURES)
    if failures:
        console.note(
            f"not everything was asked ({', '.join(failures)}): "
            "rerun the command to continue; no reply is lost"
        )
    missing = reasons[Reason.MEDIA_MISSING]
    if missing:
        console.note(
            f"{number_of(missing, 'video')} not here: "
            "give their folder with --media, or set REELBENCH_MEDIA"
        )
    unread = reasons["unparsable"]
    if unread:
        replies = number_of(unread, "reply", "replies")
        console.note(
            f"unreadable and dropped: {replies} (in the trace file); ask again with --retry-unread"
        )
    return bool(failures or missing or unread)


def _show_funnel(document: Mapping[str, Any]) -> None:
    """Show a funnel or a plan: stages, cost, and figures across time."""
    table = console.table("", "stage", "#in", "#out", "dropped")
    for stage in document["stages"]:
        dropped = [f"{reason} {count}" for reason, count in stage["dropped"].items()]
        table.add_row(stage["name"], str(stage["in"]), str(stage["out"]), ", ".join(dropped))
    console.show(table)
    calls = number_of(document["calls"], "call")
    cached = number_of(document["cached"], "reply", "replies")
    tokens = document["tokens"]
    cost = f"{tokens['prompt']} + {tokens['completion']} tokens"
    if document["cost_usd"] is not None:
        cost += f", ${document['cost_usd']:.2f}"
    console.note(f"{calls}, {cached} from the cache, {cost}")
    per_1000 = document.get("per_1000_kept")
    if per_1000:
        console.note(f"${per_1000['usd']:.2f} for 1,000 questions kept, not counting people's time")
    measured = document.get("across_time")
    if measured and measured["questions"]:
        counts = (
            f"{measured['across_time']} of {measured['known']} questions with both spans "
            f"reason across time ({measured['questions']} in all)"
        )
        length = measured["certificate_length"]
        overlap = measured["qa_miou"]
        if length and overlap:
            counts += f", C.L. {length['value']:.1f} s, QA-mIoU {overlap['value']:.3f}"
        console.note(counts)
