"""Other words for our commands and options, and answers to the words of other tools.

A synonym is taken for our word, and a note says so. None of them deletes, overwrites, or asks a
model again.
"""

from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches

COMMANDS = {
    "path": "list path",
    "presets": "list presets",
    "judge presets": "list judges",
    "settings": "doctor settings",
    "status": "doctor status",
    "candidates": "compare candidates",
    "shortcuts": "compare shortcuts",
    "power": "compare power",
    "evaluate": "eval",
    "ls": "list",
    "tasks": "list",
    "benchmarks": "list",
    "judges": "list judges",
    "diff": "compare",
}
"""Words of a command -> the command that they stand for."""

OPTIONS: dict[str, tuple[str, ...]] = {
    "--model": ("--llm",),
    "--llm": ("--model",),
    "-m": ("--model", "--llm"),
    "--url": ("--base-url", "--llm-url"),
    "--base-url": ("--llm-url",),
    "--llm-url": ("--base-url",),
    "--api-base": ("--base-url", "--llm-url"),
    "--api-url": ("--base-url", "--llm-url"),
    "--endpoint": ("--base-url", "--llm-url"),
    "-n": ("--limit",),
    "--max-samples": ("--limit",),
    "--num-samples": ("--limit",),
    "-o": ("--output", "--out"),
    "--out": ("--output",),
    "--output": ("--out",),
    "--output-path": ("--output",),
    "-p": ("--predictions",),
    "--judge-model": ("--judge",),
    "--max-connections": ("--llm-concurrency",),
    "--max-new-tokens": ("--max-tokens",),
    "--repeats": ("--runs",),
    "--dry-run": ("--plan", "--judge-estimate"),
    "--num-frames": ("--frames",),
    "--nframes": ("--frames",),
    "--frames-sweep": ("--frames",),
    "--silent": ("--quiet",),
}
"""Option -> ours with the same meaning. A command's synonym is the first of them that it has."""

_TASKS = "the tasks are arguments, as in `reelbench eval rextime_mini curve_mini --model MODEL`"
_FOLDER = "--output DIR says where the results are written"
_AGAIN = "the same `reelbench eval` again continues where a run stopped"
_ADDRESS = "--base-url URL is a server's whole address, as http://localhost:8000/v1"
_PROMPT = (
    "the prompt is the benchmark's: `reelbench new NAME --like ID` copies one, with `prompt:` in"
    " its file"
)
_AT_ONCE = "--llm-concurrency N sends N questions at once"
_FRAMES = "--frames N says how many frames are shown"
_ANEW = "no option overwrites: name another --output, or --fresh to ask a model again"

ANSWERS = {
    "--task": _TASKS,
    "--tasks": _TASKS,
    "--datasets": _TASKS,
    "--data": _TASKS,
    "--model-args": "`reelbench eval` has --model-args for a checkpoint; a server needs none",
    "--gen-kwargs": "--max-tokens, --thinking and --llm-extra JSON say how answers are generated",
    "--num-fewshot": "questions are asked without examples; leave it out",
    "--log-samples": "every answer is kept, in samples.jsonl of the output folder; leave it out",
    "--limit": "N is a number of questions; a share of them is not taken",
    "--batch-size": "--llm-concurrency N sends N questions at once; a checkpoint takes"
    " `reelbench run -- --batch_size N`",
    "--fps": "`--frames fps:1` shows one frame a second",
    "--device": "a checkpoint takes --model-args device=cpu; a server has its own",
    "--list-tasks": "`reelbench list` shows all tasks",
    "--work-dir": _FOLDER,
    "--log-dir": "a folder of results is an argument, as in `reelbench view OUT`; --output DIR says"
    " where they are written",
    "--api-key": "set a key in a variable, such as REELBENCH_LLM_API_KEY",
    "--videos": "folders with videos are named in REELBENCH_MEDIA",
    "-M": "--base-url URL is a server's address; a checkpoint takes --model-args KEY=VALUE",
    "-v": "put --verbose before the command, --quiet after it",
    "-k": "questions can't be chosen by name; --limit N asks the first N",
    "--collect-only": "--plan says what would be asked, and asks nothing",
    "--maxfail": "a run stops by itself after 20 failures without an answer;"
    " --keep-going continues",
    "-T": "a task has no arguments of its own; --frames, --limit and the others are options",
    "--epochs": "--runs N asks every question N times",
    "--reuse": "replies are kept, and the same command goes on from them; leave it out",
    "--resume": _AGAIN,
    "--overwrite": _ANEW,
    "--force": _ANEW,
    "--host": _ADDRESS,
    "--port": _ADDRESS,
    "--temperature": """--llm-extra '{"temperature": 0.7}' sets it; it is 0""",
    "--workers": _AT_ONCE,
    "--num-workers": _AT_ONCE,
    "--no-cache": "--fresh asks every question again; saved replies stay",
    "--subset": "--limit N asks the first N questions, --split NAME another split",
    "--max-frames": _FRAMES,
    "--save-dir": _FOLDER,
    "--output-dir": _FOLDER,
    "--blind": "--frames none asks without the video",
    "--provider": "the provider comes before the model's name, as in --model ollama/qwen2.5vl:3b",
    "--cache-dir": "REELBENCH_HOME names the folder of replies, frames and data",
    "--prompt": _PROMPT,
    "--system-prompt": _PROMPT,
    "available-tasks": "`reelbench list` shows all tasks",
    "log": "`reelbench view OUT` shows a run's answers, and OUT/NAME/samples.jsonl has them",
    "eval-retry": _AGAIN,
    "resume": _AGAIN,
    "--eval-type": "a model with --base-url or a provider's name is a served one, and a path is a"
    " checkpoint; leave it out",
}
"""Options and commands of lmms-eval, Inspect, VLMEvalKit and evalscope -> how to say it here."""

_TABLES = "`reelbench leaderboard tables --store STORE` shows who ranks where"
_PAGE = "`reelbench leaderboard build --store STORE --out site` writes the page, plain files"
_HAND_IN = (
    "`reelbench leaderboard publish --store STORE --dataset ORG/RESULTS --create-pr` submits"
    " what `leaderboard add` added"
)

_PAGE_OF_RUN = "`reelbench view OUT` makes a page of a run"
_NEW = "`reelbench new NAME --from FILE` makes a benchmark's folder"
_LIST = "`reelbench list` shows every benchmark and its tasks"
_ASK = "`reelbench eval NAME --model MODEL` asks a model and scores its answers"
_FETCH = "`reelbench data fetch NAME` brings a benchmark's data"
_OPEN = "the page is a file for a browser, and needs no server"
_FROM = "a file of questions is given by --from FILE"
_DATA = "`reelbench list` shows every benchmark, `reelbench data check NAME` the files of one"

GUESSES = {
    "download": _FETCH,
    "fetch": _FETCH,
    "data download": _FETCH,
    "predict": _ASK,
    "generate": _ASK,
    "inference": _ASK,
    "infer": _ASK,
    "cite": "`reelbench info NAME` ends with the paper to cite for a benchmark; CITATION.cff in"
    " Reelbench's repository says how to cite Reelbench",
    "results": f"{_PAGE_OF_RUN}; {_TABLES}",
    "logs": f"{_PAGE_OF_RUN}; OUT/NAME/samples.jsonl has its answers",
    "stop": "Ctrl-C ends a run, and the same command continues it",
    "board": _PAGE,
    "leaderboard update": _PAGE,
    "leaderboard push": "`reelbench leaderboard publish` sends the page and the results to the Hub",
    "compare --metric": "every metric is compared, and --json has all numbers",
    "compare --format": "--latex prints the table as LaTeX, --json as JSON",
    "view --port": _OPEN,
    "view --open": _OPEN,
    "list --tasks": _LIST,
    "list --mini": _LIST,
    "info --all": _LIST,
    "frames show": "`reelbench frames info VIDEO` shows what a video contains",
    "check --name": "the name comes first, as in `reelbench check kitchen`",
    "validate": "`reelbench check NAME` checks a benchmark",
    "init": _NEW,
    "create": _NEW,
    "import": _NEW,
    "show": f"`reelbench info NAME` describes a benchmark; {_PAGE_OF_RUN}; {_TABLES}",
    "export": f"OUT/NAME/samples.jsonl has a run's answers; {_TABLES}",
    "plot": "`reelbench leaderboard figures --store STORE --out DIR` draws results for a paper",
    "rank": _TABLES,
    "leaderboard show": _TABLES,
    "leaderboard rank": _TABLES,
    "serve": _PAGE,
    "leaderboard serve": _PAGE,
    "report": _PAGE_OF_RUN,
    "summary": f"{_PAGE_OF_RUN}; {_TABLES}",
    "describe": "`reelbench info NAME` describes a benchmark",
    "cache clear": "`reelbench cache prune` removes kept replies",
    "update": "pip installs a newer version; `reelbench --version` shows yours",
    "examples": "README and docs/recipes have them, and so has each command's --help",
    "ui": f"{_PAGE_OF_RUN}; {_PAGE}",
    "leaderboard --store": _PAGE,
    "benchmark": _LIST,
    "datasets": _LIST,
    "metrics": "`reelbench info NAME` says which metrics a benchmark has",
    "models": "any model that a server has, or a checkpoint; docs/keys.md lists the providers",
    "config": "`reelbench doctor settings` shows every setting and its value",
    "test": "`reelbench check NAME` checks a benchmark; `make test` runs the tests of a checkout",
    "login": "keys are set in variables, such as OPENAI_API_KEY: docs/keys.md lists them",
    "score": "answers are given by --predictions FILE",
    "score --benchmark": "the name comes first, as in"
    " `reelbench score rextime_mini --predictions FILE`",
    "submit": _HAND_IN,
    "leaderboard submit": _HAND_IN,
    "lint": "`reelbench data lint NAME` looks for faults in the rows",
    "card": "`reelbench cards render NAME --out DIR` writes a dataset card",
    "version": "`reelbench --version` shows the version",
    "reproduce": "docs/recipes/papers.md says which papers' numbers can be reproduced, and how",
    "judge": "`reelbench score NAME --predictions FILE --judge MODEL` lets a judge score answers",
    "cards": "`reelbench cards render NAME --out DIR` writes a dataset card",
    "list": _LIST,
    "compare --html": "`reelbench view OUT OTHER` makes a page of two runs side by side",
    "eval --benchmark": "the name comes first, as in `reelbench eval rextime_mini --model MODEL`",
    "eval --n-frames": _FRAMES,
    "ask --n-frames": _FRAMES,
    "new": _FROM,
    "new --csv": _FROM,
    "new --data": _FROM,
    "new --name": "the name comes first, as in `reelbench new kitchen --from FILE`",
    "new --videos": "--media DIR names the folder of its videos",
    "new --file": _FROM,
    "new --input": _FROM,
    "new --rows": _FROM,
    "data list": _DATA,
    "data ls": _DATA,
    "data info": _DATA,
    "data show": _DATA,
    "check --media": "--media takes no folder; `--allow-outside DIR` lets the benchmark read one",
}
"""A word that is guessed, behind its command's words -> how to say it here. Nothing is run.

A command's words alone answer a name behind them that it does not take.
"""

_CLOSE = 0.75  # two letters of four in each other's place


def near(word: str, known_words: Collection[str]) -> str | None:
    """Return the known word of which a typed one is a slip, or None."""
    by_stem: dict[str, str] = {}
    for known_word in known_words:
        if abs(len(known_word) - len(word)) <= 1:
            by_stem[known_word.strip("-")] = known_word
    close = get_close_matches(word.strip("-"), by_stem, n=1, cutoff=_CLOSE)
    if not close:
        return None
    return by_stem[close[0]]


def with_our_command(arguments: Sequence[str], note: Callable[[str], None]) -> list[str]:
    """Return the arguments with a synonym of a command replaced by the command."""
    for length in (2, 1):
        typed = " ".join(arguments[:length])
        ours = COMMANDS.get(typed)
        if ours is not None:
            note(f"`{typed}`: taken for `{ours}`")
            return [*ours.split(), *arguments[length:]]
    return [*arguments]


def with_our_options(
    arguments: Sequence[str], own_options: Collection[str], note: Callable[[str], None]
) -> list[str]:
    """Return the arguments with each synonym of a command's own options replaced by the option."""
    replaced: list[str] = []
    for argument in arguments:
        name, equals_sign, value = argument.partition("=")
        ours = _our_option(name, own_options)
        if ours is None:
            replaced.append(argument)
        else:
            note(f"{name}: taken for {ours}")
            replaced.append(f"{ours}{equals_sign}{value}")
    return replaced


def _our_option(name: str, own_options: Collection[str]) -> str | None:
    if name in own_options:
        return None
    dashed = with_dashes(name)
    if dashed in own_options:
        return dashed
    for option in OPTIONS.get(dashed, ()):
        if option in own_options:
            return option
    return None


def with_dashes(option: str) -> str:
    """Return a long option with dashes for underscores."""
    if option.startswith("--"):
        return option.replace("_", "-")
    return option
