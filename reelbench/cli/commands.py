"""All commands: the words of each, the function behind it, and what `--help` says of it in a line.

A function is imported when its command is called, so those of board and studio are named here
alone. A second word is a group's command or, where the first word is no group, a part of that
command.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandEntry:
    """A command: its function as `package.module:name`, and the words of its help.

    `summary` is the first sentence of the function's docstring. An example is what follows the
    command's words on the command line. `on_stop` says what stays for the next time where the
    command is stopped. A command without it does no long work. `shown_elsewhere` are options that
    the help only names, by the command whose help explains them.
    """

    place: str
    summary: str
    examples: tuple[str, ...]
    on_stop: str = ""
    shown_elsewhere: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usage: str = "[OPTIONS]"
    takes_any_options: bool = False
    is_listed: bool = True


GROUPS = {
    "data": "Fetch a benchmark's annotations and videos, and check them.",
    "make": "Make a dataset with language models.",
    "diagnose": "Find where answers went wrong: evidence graphs and their errors.",
    "review": "Let people review a dataset on a page, and merge their files.",
    "judge": "Measure how far two judges, or a judge and people, agree.",
    "frames": "Decode videos before a run, and manage the stored frames.",
    "cache": "Manage the stored replies of language models (REELBENCH_CACHE).",
    "cards": "Write and push dataset cards for the Hugging Face Hub.",
    "leaderboard": "Verify results, build the leaderboard's page, publish.",
}
"""Group of commands -> its help."""

SECTIONS = {
    "Measure": ("eval", "run", "ask", "score"),
    "Look": ("view", "compare", "profile"),
    "Compare and publish": ("judge", "leaderboard", "cards"),
    "Make": ("new", "check", "make", "ace"),
    "People": ("review",),
    "Diagnose": ("diagnose",),
    "Manage": ("list", "info", "data", "frames", "cache", "doctor"),
}
"""Heading of `--help` -> commands and groups under it."""

_PAID_ONCE = "nothing is paid for twice"

COMMANDS = {
    "list": CommandEntry(
        place="reelbench.cli.info:list_benchmarks",
        summary="List the benchmarks, their tasks, and the data on this machine",
        examples=("", "--json", "--gallery"),
    ),
    "list path": CommandEntry(
        place="reelbench.cli.info:path",
        summary="Print the folder for lmms-eval's --include-path",
        examples=("",),
    ),
    "info": CommandEntry(
        place="reelbench.cli.info:info",
        summary="Show a benchmark's questions, its scoring, and its data on this machine",
        examples=("rextime", "curve --json"),
    ),
    "doctor settings": CommandEntry(
        place="reelbench.cli.doctor:show_settings",
        summary="Show where each setting comes from: variable, file or default",
        examples=("",),
    ),
    "list presets": CommandEntry(
        place="reelbench.cli.info:show_presets",
        summary="List the presets for --preset of `run` and `ask`",
        examples=("", "qwen3-vl-thinking"),
    ),
    "doctor status": CommandEntry(
        place="reelbench.cli.doctor:show_status",
        summary="Show a command's progress, from its --status-file",
        examples=("status.json", "status.json --json"),
    ),
    "doctor": CommandEntry(
        place="reelbench.cli.doctor:doctor",
        summary="Show versions, tools and folders, for a bug report",
        examples=("", "--json"),
    ),
    "new": CommandEntry(
        place="reelbench.cli.new:new",
        summary="Make a benchmark's folder from a file of questions",
        examples=(
            "kitchen --from rows.jsonl --media videos",
            "kitchen --from rows.csv --kind span --column start=t0 --column end=t1",
            "my_videomme --like videomme",
            "my_tomato --twin tomato --answer-is index0",
        ),
    ),
    "check": CommandEntry(
        place="reelbench.cli.check:check",
        summary="Check a benchmark's file, rows, prompts and videos",
        examples=("kitchen",),
    ),
    "help": CommandEntry(
        place="reelbench.cli.program:show_help",
        summary="Show a family of options, or a command's help",
        examples=("judge", "frames", "score"),
        is_listed=False,
    ),
    "score": CommandEntry(
        place="reelbench.cli.score:score",
        summary="Score a file of predictions, or an lmms-eval run (--run DIR)",
        examples=(
            "rextime --predictions answers.csv --split val --model my-model",
            "moviecore --predictions answers.jsonl --judge gpt-6-luna --judge-budget '$2'",
            (
                "--run out --task moviecore_mini --judge judge-model --judge-url "
                "http://127.0.0.1:8000/v1"
            ),
            ("moviecore --predictions answers.jsonl --judge judge-a,judge-b --judge-estimate"),
            "rextime --template --output answers.csv",
        ),
        on_stop=_PAID_ONCE,
    ),
    "ask": CommandEntry(
        place="reelbench.cli.ask:ask",
        summary="Ask a model behind an OpenAI-compatible server, and score its answers",
        examples=(
            (
                "rextime_mini --llm my-model --llm-url http://127.0.0.1:8000/v1 "
                "--frames uniform:32 --output out"
            ),
            (
                "rextime_mini --llm my-model --only unreadable --from "
                "out/rextime_mini --output again"
            ),
        ),
        on_stop=_PAID_ONCE,
    ),
    "ace": CommandEntry(
        place="reelbench.studio.commands.ace:ace",
        summary="Choose among candidates with a small language model (ACE)",
        examples=(
            (
                "out --llm small-model --llm-url http://127.0.0.1:8000/v1 --judge "
                "judge-model --output chosen"
            ),
            "--candidates candidates.jsonl --llm small-model --k 3,5,7 --output chosen",
        ),
    ),
    "compare candidates": CommandEntry(
        place="reelbench.cli.candidates:show_candidates",
        summary="Score several answers to a question: pass@k, mean@k, majority",
        examples=("out/rextime_mini --k 1,5", "out --judge judge-model"),
    ),
    "compare": CommandEntry(
        place="reelbench.cli.compare:compare",
        summary="Compare two models on the items that both answered",
        examples=(
            "out/first/rextime_mini out/second/rextime_mini",
            "out/first out/second --without-shortcuts out/blind",
        ),
    ),
    "compare shortcuts": CommandEntry(
        place="reelbench.cli.shortcuts:show_shortcuts",
        summary="List questions that need no video",
        examples=("out/blind out/one_frame --write shortcuts.jsonl",),
    ),
    "view": CommandEntry(
        place="reelbench.leaderboard.commands.view:view",
        summary="Make a page of a run, or of several side by side",
        examples=("out/rextime_mini --out page", "out/first out/second"),
    ),
    "profile": CommandEntry(
        place="reelbench.studio.commands.profile:profile",
        summary="Measure datasets: readability, parse depth, words, labels, spans",
        examples=("rextime_mini curve_mini --output profile",),
        on_stop=_PAID_ONCE,
    ),
    "list judges": CommandEntry(
        place="reelbench.cli.info:show_judges",
        summary=(
            "List the open judges with fixed versions: weights, server command, "
            "request settings, sources"
        ),
        examples=("",),
    ),
    "compare power": CommandEntry(
        place="reelbench.cli.power:power",
        summary="Show the smallest detectable difference for N videos",
        examples=("out/rextime_mini --effect 2", "moviecore --icc 0.1"),
    ),
    "run": CommandEntry(
        place="reelbench.cli.run:run",
        summary="Run lmms-eval with the arguments after `--`, then score its log",
        examples=(
            (
                "--frames uniform:32 -- --tasks reelbench_mini --model qwen2_5_vl "
                "--model_args pretrained=Qwen/Qwen2.5-VL-3B-Instruct --output_path "
                "out"
            ),
            (
                "--candidates beam:5 -- --tasks moviecore_mini --model qwen2_5_vl "
                "--model_args pretrained=MODEL --output_path out"
            ),
            (
                "--languages en,es,ja --llm translator=my-model -- --tasks curve_mini"
                " --model qwen2_5_vl --model_args pretrained=MODEL --output_path out"
            ),
            (
                "--frames-sweep 0,8,32 -- --tasks rextime_mini --model openai "
                "--model_args model=my-model,base_url=http://127.0.0.1:8000/v1 "
                "--output_path out"
            ),
        ),
        on_stop=(
            "decoded frames are kept, and nothing is paid for twice; the model's "
            "answers are kept only with lmms-eval's --use_cache"
        ),
        usage="[OPTIONS] -- LMMS_EVAL_ARGUMENTS",
        takes_any_options=True,
    ),
    "eval": CommandEntry(
        place="reelbench.cli.evaluate:evaluate",
        summary="Evaluate models on benchmarks",
        examples=(
            "rextime_mini --model anthropic/claude-opus-4-6 --frames 64",
            "rextime_mini --model my-model --base-url http://127.0.0.1:8000/v1 --limit 10",
            ("rextime_mini --model Qwen/Qwen3-VL-8B-Instruct --model ./my-checkpoint --output out"),
        ),
        on_stop=_PAID_ONCE,
        shown_elsewhere={
            "ask": ("--split", "--data", "--per", "--candidates", "--label", "--no-overlap"),
            "run": ("--answering", "--processes", "--strict"),
        },
    ),
    "data fetch": CommandEntry(
        place="reelbench.cli.data:fetch",
        summary="Fetch annotations, and videos with --media",
        examples=("rextime --split val --media --limit 20",),
        on_stop="what is here is not fetched again",
    ),
    "data check": CommandEntry(
        place="reelbench.cli.data:check",
        summary=(
            "Show which files exist, are missing or broken, and whether the source has changed"
        ),
        examples=("rextime",),
    ),
    "data lint": CommandEntry(
        place="reelbench.cli.lint:lint",
        summary="Find faults in a benchmark's rows, without media, a model or a network",
        examples=("rextime_mini", "rextime --split val --json"),
    ),
    "make page": CommandEntry(
        place="reelbench.studio.commands.make:page",
        summary="Write a page of one video's discussion",
        examples=("questions --video tide --out tide.html",),
    ),
    "make compare": CommandEntry(
        place="reelbench.studio.commands.make:compare",
        summary="Compare two runs of a chain",
        examples=("questions/first questions/second",),
    ),
    "make discussion": CommandEntry(
        place="reelbench.studio.commands.make:discussion",
        summary="Let models discuss and write questions (MovieCORE, 3.2)",
        examples=(
            "--videos videos.jsonl --llm my-model --out questions --plan",
            ("--videos videos.jsonl --llm expert=strong-model --llm my-model --out questions"),
        ),
        on_stop=_PAID_ONCE,
    ),
    "make moments": CommandEntry(
        place="reelbench.studio.commands.make:moments",
        summary="Write questions about how two moments relate (ReXTime, supplement C)",
        examples=("--captions captions.jsonl --llm my-model --out questions --plan",),
        on_stop=_PAID_ONCE,
    ),
    "make tags": CommandEntry(
        place="reelbench.studio.commands.make:tags",
        summary=(
            "Tag questions by the understanding that they need (CogME's TARGET, "
            "CONTENT and THINKING)"
        ),
        examples=("rextime_mini --llm my-model --out tags.jsonl",),
        on_stop=_PAID_ONCE,
    ),
    "diagnose graphs": CommandEntry(
        place="reelbench.studio.commands.diagnose:graphs",
        summary=(
            "Make an evidence graph from each question's steps, or check existing"
            " graphs, and count them"
        ),
        examples=("curve_mini --llm my-model --out graphs",),
        on_stop=_PAID_ONCE,
    ),
    "diagnose errors": CommandEntry(
        place="reelbench.studio.commands.diagnose:errors",
        summary="Find the first error in the evidence behind each wrong answer",
        examples=("out/curve_mini --llm my-model --graphs graphs --out errors",),
        on_stop=_PAID_ONCE,
    ),
    "diagnose run": CommandEntry(
        place="reelbench.studio.commands.diagnose:run",
        summary="Ask, find the first error, give the right fact, and ask again",
        examples=(
            (
                "curve_mini --llm my-model --out errors -- --model qwen2_5_vl "
                "--model_args pretrained=MODEL"
            ),
        ),
        on_stop=(
            "decoded frames are kept, and nothing is paid for twice; the model's "
            "answers are kept only with lmms-eval's --use_cache"
        ),
        takes_any_options=True,
    ),
    "diagnose report": CommandEntry(
        place="reelbench.studio.commands.diagnose:report",
        summary="Count the errors of a diagnosis and write its page",
        examples=("errors",),
    ),
    "review page": CommandEntry(
        place="reelbench.studio.commands.review:page",
        summary="Write a page on which people review a benchmark, or one per rater",
        examples=(
            "rextime_mini --ask spans --sample 20 --output review.html",
            "curve_mini --ask nodes --diagnosis errors --output nodes.html",
            "curve_mini --ask graphs --graphs graphs/graphs.jsonl --output graphs.html",
        ),
    ),
    "review agree": CommandEntry(
        place="reelbench.studio.commands.review:agree",
        summary="Measure the agreement of two taggers, by label and by set",
        examples=("ada.jsonl ben.jsonl --benchmark dramaqa_cogme",),
    ),
    "review summarize": CommandEntry(
        place="reelbench.studio.commands.review:summarize",
        summary="Merge reviewers' files and report their agreement",
        examples=("ada.json ben.json --write merged.jsonl",),
    ),
    "judge agree": CommandEntry(
        place="reelbench.cli.judges:agree",
        summary="Show two judges' scores side by side, and how far they agree",
        examples=("first/samples.jsonl second/samples.jsonl",),
    ),
    "judge calibrate": CommandEntry(
        place="reelbench.cli.judges:calibrate",
        summary="Correct the judge's mean with people's scores, on the judge's scale",
        examples=("out/moviecore people.csv",),
    ),
    "judge anchors": CommandEntry(
        place="reelbench.leaderboard.commands.anchors:anchors",
        summary="Draw a few answers of a result, by quantile of score",
        examples=(
            "out/moviecore --out anchors",
            (
                "out/moviecore --out anchors --judge judge-model --judge-url "
                "http://127.0.0.1:8000/v1"
            ),
        ),
    ),
    "frames info": CommandEntry(
        place="reelbench.cli.frames:info",
        summary="Show what videos contain and which frames are stored",
        examples=("", "film.mp4 --frames uniform:8"),
    ),
    "frames extract": CommandEntry(
        place="reelbench.cli.frames:extract",
        summary="Decode frames into the store before a run",
        examples=("rextime --frames uniform:32", "films/*.mp4 --frames keyframe:8"),
        on_stop="what the store has is not decoded again",
    ),
    "frames clear": CommandEntry(
        place="reelbench.cli.frames:clear",
        summary="Remove the frames of videos from the store, or with --all everything in it",
        examples=("film.mp4", "--all"),
    ),
    "frames serve": CommandEntry(
        place="reelbench.cli.frames:serve_frames",
        summary="Serve videos to an agent: an MCP server on stdin and stdout",
        examples=(
            "rextime_mini --question mini1 --log looks.jsonl",
            "films --log looks.jsonl --size 448",
        ),
    ),
    "cache info": CommandEntry(
        place="reelbench.cli.cache:info",
        summary="Count the stored replies of each model, and show since when",
        examples=("", "postgresql://reelbench@db.example.org/reelbench"),
    ),
    "cache copy": CommandEntry(
        place="reelbench.cli.cache:copy",
        summary="Copy replies from a file into a database, or back",
        examples=(
            ("~/.cache/reelbench/judge.sqlite postgresql://reelbench@db.example.org/reelbench"),
        ),
        on_stop="what is there already isn't copied again",
    ),
    "cache prune": CommandEntry(
        place="reelbench.cli.cache:prune",
        summary="Remove old replies, or a model's",
        examples=("--older-than 365", "--model gpt-6-luna --yes"),
    ),
    "cards render": CommandEntry(
        place="reelbench.hub_cards.command:render",
        summary="Write a dataset card: README.md, eval.yaml, and plots if the data is here",
        examples=("rextime --out card",),
    ),
    "cards push": CommandEntry(
        place="reelbench.hub_cards.command:push",
        summary="Merge a dataset card with the one on the Hub, and push it",
        examples=("rextime --repo ORG/NAME --dry-run",),
    ),
    "leaderboard add": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:add",
        summary="Recompute every number of a result from its samples, and add it",
        examples=("out/rextime_mini --store results",),
    ),
    "leaderboard rejudge": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:rejudge",
        summary="Judge a store's answers with another judge, and relate the two",
        examples=(
            (
                "--store results --judge judge-model --judge-url "
                "http://127.0.0.1:8000/v1 --judge-estimate"
            ),
            (
                "--store results --judge judge-model --judge-url "
                "http://127.0.0.1:8000/v1 --sample 200"
            ),
        ),
    ),
    "leaderboard list": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:list_",
        summary="List the results in a store: each key, and under it what it is",
        examples=("--store results",),
    ),
    "leaderboard remove": CommandEntry(
        place="reelbench.leaderboard.commands.rows:remove",
        summary="Withdraw results",
        examples=('KEY --store results --reason "wrong frames"',),
    ),
    "leaderboard restore": CommandEntry(
        place="reelbench.leaderboard.commands.rows:restore",
        summary="Put a withdrawn result back",
        examples=("KEY --store results",),
    ),
    "leaderboard replace": CommandEntry(
        place="reelbench.leaderboard.commands.rows:replace",
        summary="Put a corrected run in the place of a filed one",
        examples=("out/rextime_mini --store results",),
    ),
    "leaderboard rename": CommandEntry(
        place="reelbench.leaderboard.commands.rows:rename",
        summary="Give a model another name, everywhere on the board",
        examples=("org/old org/new --store results",),
    ),
    "leaderboard move": CommandEntry(
        place="reelbench.leaderboard.commands.rows:move",
        summary="Let a model's results belong to another account",
        examples=("org/model --account NAME --store results",),
    ),
    "leaderboard log": CommandEntry(
        place="reelbench.leaderboard.commands.rows:log",
        summary=("Print a store's ledger: what was done, when, and by whom"),
        examples=("--store results", "KEY --store results"),
    ),
    "leaderboard clone": CommandEntry(
        place="reelbench.leaderboard.commands.rows:clone",
        summary="Make a store of a published results dataset: the same board, byte for byte",
        examples=("ORG/RESULTS --store results",),
    ),
    "leaderboard reveal": CommandEntry(
        place="reelbench.leaderboard.commands.rows:reveal",
        summary="Recompute the rows of a hidden test whose answers are public now",
        examples=("cellar --store results",),
    ),
    "leaderboard import-hub": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:import_hub",
        summary=(
            "Import the Hub's leaderboard of a dataset: shown as a separate source, never ranked"
        ),
        examples=("rextime --store results",),
    ),
    "leaderboard build": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:build",
        summary="Write the leaderboard's page",
        examples=("--store results --out site",),
    ),
    "leaderboard check": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:check",
        summary="Check results as the results dataset's CI does",
        examples=(
            "results",
            "submitted --store results --markdown comment.md",
            "submitted --base dataset",
            "--store results",
        ),
    ),
    "leaderboard tables": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:tables",
        summary="Print a table for each benchmark, split and judge, ready for a paper",
        examples=("--store results --format latex",),
    ),
    "leaderboard figures": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:figures",
        summary="Draw each benchmark's main table, or charts of a page, for a paper",
        examples=("--store results --out figures",),
    ),
    "leaderboard publish": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:publish",
        summary="Publish the page as a static Space, and the results as a dataset",
        examples=("--store results --repo ORG/SPACE --dataset ORG/RESULTS --dry-run",),
    ),
    "leaderboard webhook": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:webhook",
        summary="Serve the Hub's webhook of a results dataset",
        examples=("--dataset ORG/RESULTS",),
    ),
    "leaderboard export": CommandEntry(
        place="reelbench.leaderboard.commands.leaderboard:export",
        summary="Write results for others' leaderboards",
        examples=("results --out export --format eee --organization ORG",),
    ),
}
"""Words of a command -> the command, in the order of `docs/commands.md`."""
