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
    from reelbench.studio.benchmark_files import MadeBy, SplitShares
    from reelbench.studio.chain import ChainSetup, Role


_FAILED = {"unavailable", "refused", "budget"}
"""Reasons that are the run's, not the item's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeOptions:
    """Options that all commands here share."""

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
            help="Stop after a stage and write DIR/STAGE.jsonl, which may be edited.",
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
        """Return the output folder, made where it isn't there; None for a plan."""
        if self.plan:
            return None
        if self.out is None:
            raise InputError("--out: name an output folder, or give --plan, which writes nothing")
        self.out.mkdir(parents=True, exist_ok=True)
        return self.out

    def source(self, given: Path | None, option: str) -> Path:
        """Return the file to start from: the user's, or a stage's of an earlier run; InputError where none is named."""
        if self.start_after is None:
            if given is None:
                raise InputError(
                    f"{option}: name a file to start from, or a stage to go on from with --from"
                )
            return given
        from reelbench.studio.chain import stage_file

        if self.out is None:
            raise InputError("--from: continues from a file in --out DIR; name that folder")
        path = self.out / stage_file(self.start_after)
        if not path.is_file():
            raise InputError(
                f"--from {self.start_after}: {path} doesn't exist; write it with --until {self.start_after}"
            )
        return path

    def declare(self, made: "MadeBy", shares: "SplitShares", funnel: Mapping[str, Any]) -> None:
        """Declare what a chain made as a benchmark, and say what to type next; a plan or a stage is none."""
        from reelbench.studio import benchmark_files

        folder = self.folder()
        if folder is None or self.until is not None:
            return
        if benchmark_files.write(made, folder, shares, funnel, self.media) is None:
            console.note("nothing was made, so there is no benchmark.yaml")
        else:
            console.note(
                f"a benchmark now: reelbench ask {folder} --llm MODEL --llm-url URL, or reelbench cards render {folder}"
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
    """Write a page of one video's discussion: turns, surviving questions, and the funnel of all videos."""
    from reelbench.studio import chain_page

    console.write(str(chain_page.write(folder, video, out)))


def compare(
    a: Annotated[
        Path,
        typer.Argument(metavar="A", help="Folder that `make discussion` or `make moments` wrote."),
    ],
    b: Annotated[
        Path, typer.Argument(metavar="B", help="Another, with agents swapped or left out, say.")
    ],
    *,
    parse_depth: Annotated[
        bool, typer.Option("--parse-depth", help="Compare parse depths too (needs spaCy).")
    ] = False,
    as_json: Json = False,
) -> None:
    """Compare two runs of a chain: funnels, questions that are the same, and how the texts differ."""
    from reelbench.base.text_tables import interval, number
    from reelbench.studio.question_sets import comparison_of_runs, read_run
    from reelbench.studio.readability import load_parser

    document = comparison_of_runs(read_run(a), read_run(b), load_parser() if parse_depth else None)
    if as_json:
        console.write_json(document)
        return
    stages = [{stage["name"]: stage for stage in document[side]["stages"]} for side in "ab"]
    table = console.table("Came through", "stage", "#a", "#b", "model of a", "model of b")
    for name in dict.fromkeys(name for side in stages for name in side):
        shown = (
            f"{side[name]['out']} of {side[name]['in']}" if name in side else "–" for side in stages
        )
        # A later round's stage has its role's name and the round's number.
        table.add_row(
            name,
            *shown,
            *(document[side]["models"].get(name.rstrip(" 0123456789"), "") for side in "ab"),
        )
    console.show(table)
    for side in "ab":
        for part, values in document[side]["differs"].items():
            told = ", ".join(
                f"{key} {value[:8] if part == 'prompts' else value}"
                for key, value in values.items()
            )
            console.note(f"{side} alone, {part}: {told}")
    title = f"Questions and answers on {number_of(document['videos'], 'video')} of both"
    table = console.table(title, "mean", "#a", "#b", "#b - a", "#95 % interval")
    for name, measure in document["measures"].items():
        cells = (number(measure[key], 2) for key in ("a", "b", "difference"))
        table.add_row(name.replace("_", " "), *cells, interval(measure["ci95"], 2))
    console.show(table)
    console.write(
        f"{document['a']['questions']} questions in a, {document['b']['questions']} in b; the same in both: "
        f"{document['same']}, with the same answer: {document['same_answers']}"
    )


def _rules(rules: type, panel: str, kind: Kind = Kind.OWN) -> "Callable[..., Any]":
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


Gating = Annotated[GateRules, _rules(GateRules, "Gates")]


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
    """Let models discuss and write questions: expert, skeptic, detective, meta reviewer, critic (MovieCORE, 3.2)."""
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
    known = read_videos(source, len(chain.context_questions))[: making.limit]
    if (of_each := strata(per, limit=making.limit)) is not None:
        fields = {
            video.name: {key: [str(value)] for key, value in video.metadata.items()}
            for video in known
        }
        drawn = of_each.draw(str(source), fields)
        known = [video for video in known if video.name in drawn]
    optional = {
        discussing.CONTEXT: any(video.context is None for video in known),
        **{role.name: False for role in chain.roles if role not in chain.speakers},
        **{
            role: making.until is None and role in llm
            for role in (discussing.JUDGE, discussing.BLOOM)
        },
        **{name: making.until is None and need for name, need in gate.roles(options=False).items()},
    }
    models = _models(llm, chain.speakers, optional, making=making)
    document = _run_chain(
        "discussing",
        len(known),
        models,
        folder,
        lambda setup: discussing.run(known, chain, setup, parser),
    )
    making.declare("discussion", shares, document)
    stage = making.until or "questions"
    _report(document, folder, stage, as_json=making.as_json, start_after=making.start_after)


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
    rules: Annotated[SourceRules, _rules(SourceRules, "Rules for sources", Kind.LIMIT)],
    cuts: Annotated[Cuts, _rules(Cuts, "Cuts between ratings", Kind.LIMIT)],
    gates: Gating,
    llm: Llm,
) -> None:
    """Write questions about how two moments relate, from captions or queries (ReXTime, supplement C)."""
    from reelbench.studio import moments as pairing
    from reelbench.studio.benchmark_files import SplitShares
    from reelbench.studio.chain import ChainPrompts
    from reelbench.studio.gates import Gates
    from reelbench.studio.moment_pairs import MomentSource, read_pairs
    from reelbench.studio.moment_sources import read_sources

    folder = making.folder()
    shares = SplitShares.parse(making.split or [])
    cuts = replace(cuts, query_answers=cuts.query_answers or ("query" if no_options else "any"))
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
    known = read_sources(captions)
    sources = [MomentSource(source) for source in known]
    if making.start_after is not None:
        sources = read_pairs(making.source(None, "--captions"), known)
    sources = sources[: making.limit]
    speakers = chain.speakers(known[0])
    optional = {name: False for name, role in chain.roles.items() if role not in speakers}
    optional |= {
        name: making.until is None and need
        for name, need in gate.roles(options=not no_options).items()
    }
    models = _models(llm, speakers, optional, making=making)
    document = _run_chain(
        "making", len(sources), models, folder, lambda setup: pairing.run(sources, chain, setup)
    )
    making.declare("moments", shares, document)
    _report(document, folder, None, as_json=making.as_json, start_after=making.start_after)


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
            "--visual", metavar="FILE", help="DramaQA's visual metadata, which says who is seen."
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
    seen = {} if visual is None else tagging.read_visual(visual)
    tagger = tagging.Tagger(ChainPrompts("tags", making.prompts), llm_votes, pictures, seen)
    if pictures is None:
        console.note(
            "no frames are shown: CogME's tags hang on what is in view, so these are a guess from words (on record as "
            "frames: none); give --frames uniform:8, say, for a model that sees"
        )
    models = _models(llm, [tagger.role], {}, making=making)
    target = None if making.plan else out
    document = _run_chain(
        "tagging", len(rows), models, target, lambda setup: tagging.run(rows, tagger, setup)
    )
    _report(document, target, "questions", as_json=making.as_json)


def _models(
    llm: "Mapping[str, AskOptions]",
    roles: "Sequence[Role]",
    optional: Mapping[str, bool],
    *,
    making: MakeOptions,
) -> "dict[str, AskOptions]":
    """Return each role's model: the one named for it, else its own in the roles' file, else the one for all."""
    wanted = [role.name for role in roles] + [name for name, needed in optional.items() if needed]
    unneeded = {name for name, needed in optional.items() if not needed}
    models = by_role(
        {name: options for name, options in llm.items() if name not in unneeded}, wanted
    )
    for role in roles:
        if role.model is not None and role.name not in llm:
            models[role.name] = replace(models[role.name], model=role.model)
    changed = {"retry_unread": making.retry_unread, "batch": making.llm_batch}
    return {role: replace(options, **changed) for role, options in models.items()}


def _run_chain(
    title: str,
    total: int,
    models: "Mapping[str, AskOptions]",
    out: Path | None,
    run: "Callable[[ChainSetup], Coroutine[Any, Any, dict[str, Any]]]",
) -> dict[str, Any]:
    """Run a chain over `total` items by the models of its roles; return its funnel, or its plan."""
    from reelbench.llm import loop
    from reelbench.studio.chain import ChainSetup

    with console.progress(title, total) as show:
        return loop.run(
            run(
                ChainSetup(
                    models, out, shared_budget(models) if models else None, console.note, show
                )
            )
        )


def _report(
    document: dict[str, Any],
    made: Path | None,
    stage: str | None,
    *,
    as_json: bool,
    start_after: str | None = None,
) -> None:
    """Show the funnel or the plan; exit with 1 where nothing came out of `stage` and no rule dropped it all.

    None is the last stage. What an earlier run lost, up to `start_after`, is none of this one's.
    """
    if as_json:
        console.write_json(document)
    else:
        table = console.table("", "stage", "#in", "#out", "dropped")
        for stage_of in document["stages"]:
            dropped = ", ".join(
                f"{reason} {count}" for reason, count in stage_of["dropped"].items()
            )
            table.add_row(stage_of["name"], str(stage_of["in"]), str(stage_of["out"]), dropped)
        console.show(table)
        tokens, cost = document["tokens"], document["cost_usd"]
        dollars = "" if cost is None else f", ${cost:.2f}"
        console.note(
            f"{number_of(document['calls'], 'call')}, {number_of(document['cached'], 'reply', 'replies')} from the "
            f"cache, {tokens['prompt']} + {tokens['completion']} tokens{dollars}"
        )
        if per_1000 := document.get("per_1000_kept"):
            console.note(f"${per_1000['usd']:.2f} for 1,000 questions kept, before people's time")
        if (measured := document.get("across_time")) and measured["questions"]:
            length, overlap = (measured[name] for name in ("certificate_length", "qa_miou"))
            figures = (
                f", C.L. {length['value']:.1f} s, QA-mIoU {overlap['value']:.3f}"
                if length and overlap
                else ""
            )
            console.note(
                f"{measured['across_time']} of {measured['known']} questions with both spans reason across time "
                f"({measured['questions']} in all){figures}"
            )
    if made is None:
        return
    stages = document["stages"]
    names = [known["name"] for known in stages]
    own = stages[names.index(start_after) + 1 :] if start_after in names else stages
    reasons = Counter[str]()
    for known in own:
        reasons.update(known["dropped"])
    if failed := sorted(reasons.keys() & _FAILED):
        console.note(
            f"not everything was asked ({', '.join(failed)}): rerun the command to continue; no reply is lost"
        )
    if missing := reasons[Reason.MEDIA_MISSING]:
        console.note(
            f"{number_of(missing, 'video')} not here: give their folder with --media, or set REELBENCH_MEDIA"
        )
    if unread := reasons["unparsable"]:
        replies = number_of(unread, "reply", "replies")
        console.note(
            f"unreadable and dropped: {replies} (in the trace file); ask again with --retry-unread"
        )
    left = next((known["out"] for known in reversed(own) if stage in (None, known["name"])), None)
    if left == 0 and (failed or missing or unread):
        raise typer.Exit(1)
    if not as_json:
        console.write(str(made))
