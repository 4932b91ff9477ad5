"""What newcomers type first, and what it is called here."""

GUESSED_COMMANDS = {
    "where": "`reelbench doctor` shows folders and what is in them, `reelbench list` what data is here",
    "env": "`reelbench doctor` shows what is installed, `reelbench settings` the variables",
    "version": "`reelbench --version`",
    "config": "`reelbench settings` shows variables and defaults, and where each comes from",
    "tag": "`reelbench make tags NAME --llm MODEL`, or `review page NAME --ask tags` for people",
    "plot": "`reelbench leaderboard build`, `view`, `profile --output` and `run --frames-sweep` draw",
    "submit": "`reelbench leaderboard add RUN --store STORE`; for the owners' server, `score` writes its file",
    "export": "`reelbench leaderboard export STORE --format FORMAT`; LaTeX: `leaderboard tables`; CSV: `build`",
    "download": "`reelbench data fetch NAME`",
    "fetch": "`reelbench data fetch NAME`",
    "questions": "`reelbench make discussion` or `make moments`; `info NAME` shows one of a benchmark's",
    "evaluate": "`reelbench run` (lmms-eval's models), `ask` (a server) or `score` (a file)",
    "clear": "`reelbench cache prune` removes replies, `frames clear` frames",
    "tables": "`reelbench leaderboard tables --store STORE`, as Markdown or LaTeX",
    "show": "`reelbench view RESULT` makes a page; `info NAME` shows a benchmark, `judge agree` two judges",
    "agree": "`reelbench judge agree A B` (judges), `review agree A B` (taggers)",
    "report": "`reelbench view RESULT`, `leaderboard build`, `diagnose report DIR`",
    "datasets": "`reelbench list` shows the benchmarks, `data fetch NAME` brings one",
    "tasks": "`reelbench list` shows all tasks",
    "eval": "`reelbench run` (lmms-eval's models), `ask` (a server) or `score` (a file)",
    "rescore": "`reelbench score --run DIR`; all of a store by another judge: `leaderboard rejudge`",
    "rejudge": "`reelbench leaderboard rejudge --store STORE --judge MODEL`",
}
"""Word -> what to type."""

_AGAIN = "run the same command again; lmms-eval's answers are kept only with its own --use_cache DIR, behind `--`"
_MEDIA = "folders with videos are named in REELBENCH_MEDIA"
_PROMPT = "a benchmark's prompt is its own, so that scores compare; one of yours is `prompt:` in a benchmark.yaml"

_TABLES = "`reelbench leaderboard tables --store STORE --format latex` (or markdown); `build` writes CSV and JSON"

GUESSED_VALUES = {"leaderboard export": dict.fromkeys(("latex", "tex", "markdown", "csv"), _TABLES)}
"""Command -> value of one of its options -> what to type."""

GUESSED_OPTIONS = {
    "--dry-run": {
        "score": "--judge-estimate counts calls, tokens and dollars, and asks nothing",
        "ask": "`score NAME --judge-estimate` counts a judge's calls; --limit 3 asks three questions",
        "make": "--plan counts calls, tokens and dollars, and asks nothing",
    },
    "--resume": {"": _AGAIN},
    "--media": {"run": _MEDIA, "ask": _MEDIA, "score": _MEDIA, "view": _MEDIA},
    "--prompt": {"run": _PROMPT, "ask": _PROMPT},
    "--model": {"ask": "--llm MODEL", "make": "--llm MODEL", "run": "lmms-eval's --model stands behind `--`"},
    "--url": {"ask": "--llm-url URL", "make": "--llm-url URL"},
    "--wrong": {"view": "the page has a filter for it; `score --only unreadable` and `ask --only` ask some again"},
    "--judge-estimate": {"ask": "`score NAME --judge-estimate` counts a judge's calls"},
    "--frames-sweep": {"ask": "`run --frames-sweep` has it; `ask` takes one --frames"},
    "--tasks": {"run": "lmms-eval's arguments stand behind `--`", "ask": "benchmarks are named first: `ask NAME`"},
}
"""Option -> command ("" is any) -> what to type."""
