"""What newcomers type first, and what it is called here."""

_TABLES = "`reelbench leaderboard tables --store STORE --format latex` (or markdown); `build` writes CSV and JSON"

GUESSED_COMMANDS = {
    "where": "`reelbench doctor` shows folders and what is in them, `reelbench list` what data is here",
    "env": "`reelbench doctor` shows what is installed, `reelbench settings` the variables",
    "version": "`reelbench --version`",
    "config": "`reelbench settings` shows variables and defaults; yours stand in reelbench.toml (README, Settings)",
    "tag": "`reelbench make tags NAME --llm MODEL`, or `review page NAME --ask tags` for people",
    "plot": "results: `reelbench leaderboard build` or `view`; Python: `score(…).plot()`; frames: `run --frames-sweep`",
    "submit": "`reelbench leaderboard add RUN --store STORE`; the owners' server takes what `score` writes for it",
    "export": "`reelbench leaderboard export STORE --format FORMAT`; LaTeX: `leaderboard tables`; CSV: `build`",
    "download": "`reelbench data fetch NAME`",
    "fetch": "`reelbench data fetch NAME`",
    "questions": "`reelbench make discussion` (of videos), `make moments` (of captions); `info NAME` shows one",
    "evaluate": "`reelbench run` (lmms-eval's models), `ask` (a server) or `score` (a file)",
    "tables": "`reelbench leaderboard tables --store STORE`, as Markdown or LaTeX",
    "show": "`reelbench view RESULT` makes a page; `info NAME` shows a benchmark, `judge agree` two judges",
    "agree": "`reelbench judge agree A B` (judges), `review agree A B` (taggers)",
    "report": "`reelbench view RESULT`, `leaderboard build`, `diagnose report DIR`",
    "datasets": "`reelbench list` shows the benchmarks, `data fetch NAME` brings one",
    "tasks": "`reelbench list` shows all tasks",
    "eval": "`reelbench run` (lmms-eval's models), `ask` (a server) or `score` (a file)",
    "rescore": "`reelbench score --run DIR`; all of a store by another judge: `leaderboard rejudge`",
    "rejudge": "`reelbench score --run DIR --judge MODEL`; a store's: `leaderboard rejudge --store STORE`",
    **dict.fromkeys(
        ("cost", "estimate"),
        "`reelbench score NAME --predictions FILE --judge MODEL --judge-estimate`; `make … --plan`",
    ),
    **dict.fromkeys(("init", "create"), "`reelbench new NAME --from FILE` makes a benchmark's folder"),
    **dict.fromkeys(("table", "latex"), _TABLES),
    "results": "`reelbench leaderboard list --store STORE`; those without --output lie in the home that `doctor` shows",
    **dict.fromkeys(("clean", "clear"), "`reelbench cache prune` removes replies, `frames clear` frames"),
    "serve": "`reelbench frames serve` (frames to an agent), `leaderboard webhook` (checks); pages open from disk",
    "diff": "`reelbench compare A B`",
    **dict.fromkeys(("merge", "summarize"), "`reelbench review summarize FILE…` merges reviewers' files"),
    "resume": "run the same command again: what is kept is not asked again",
    "demo": "`make demo`, in a clone; without one: `reelbench ask rextime_mini --llm MODEL --llm-url URL`",
    "quickstart": "`reelbench ask rextime_mini --llm MODEL --llm-url URL`, or `score NAME --predictions FILE`",
    "examples": "`reelbench COMMAND --help` ends with examples",
}
"""Word -> what to type."""

_AGAIN = "run the same command again: what was answered or judged is kept"
_AGAIN_RUN = "run the same command again; lmms-eval's answers are kept only with its own --use_cache DIR, behind `--`"
_MEDIA = "folders with videos are named in REELBENCH_MEDIA"
_PROMPT = "a benchmark's prompt is its own, so that scores compare; in a benchmark.yaml of yours it is `prompt: FILE`"
_KEYS = "keys stand in REELBENCH_LLM_API_KEY and REELBENCH_JUDGE_API_KEY, else OPENAI_API_KEY"
_EXTRA = "--llm-extra '{\"temperature\": 0.7}' sends it; a preset sets what a model's owners state"
_PAGE = "the page is a file: open the path that is printed in a browser"

GUESSED_VALUES = {"leaderboard export": dict.fromkeys(("latex", "tex", "markdown", "csv"), _TABLES)}
"""Command -> value of one of its options -> what to type."""

ONE_FILE = "a file of predictions is --predictions FILE; `score` each into an --output of its own, then `compare`"
"""What to do with a second file, or one without its option."""

GUESSED_OPTIONS = {
    "--dry-run": {
        "score": "--judge-estimate counts calls, tokens and dollars, and asks nothing",
        "ask": "`score NAME --judge-estimate` counts a judge's calls; --limit 3 asks three questions",
        "make": "--plan counts calls, tokens and dollars, and asks nothing",
    },
    "--resume": {"run": _AGAIN_RUN, "": _AGAIN},
    **dict.fromkeys(("--media", "--videos", "--video-dir"), dict.fromkeys(("run", "ask", "score", "view"), _MEDIA)),
    **dict.fromkeys(("--prompt", "--prompt-file", "--system-prompt"), dict.fromkeys(("run", "ask"), _PROMPT)),
    "--api-key": {"": _KEYS},
    "--temperature": {"ask": _EXTRA, "run": "lmms-eval's --gen_kwargs temperature=T stands behind `--`"},
    **dict.fromkeys(("--open", "--port"), dict.fromkeys(("view", "leaderboard build"), _PAGE)),
    "--n": {"ask": "--limit N", "review page": "--sample N"},
    "--model": {"ask": "--llm MODEL", "make": "--llm MODEL", "run": "lmms-eval's --model stands behind `--`"},
    "--url": {"ask": "--llm-url URL", "make": "--llm-url URL"},
    **dict.fromkeys(("--latex", "--format"), dict.fromkeys(("compare", "score"), _TABLES)),
    "--diff": {"power": "--effect POINTS"},
    "--wrong": {"view": "the page has a filter for it; `score --only unreadable` and `ask --only` ask some again"},
    "--judge-estimate": {"ask": "`score NAME --judge-estimate` counts a judge's calls"},
    "--frames-sweep": {"ask": "`run --frames-sweep` has it; `ask` takes one --frames"},
    "--tasks": {"run": "lmms-eval's arguments stand behind `--`", "ask": "benchmarks are named first: `ask NAME`"},
}
"""Option -> command ("" is any) -> what to type."""
