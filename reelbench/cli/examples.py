"""Examples of each command: what follows its words on the command line."""

EXAMPLES = {
    "list": ("", "--json"),
    "path": ("",),
    "info": ("rextime", "curve --json"),
    "settings": ("",),
    "presets": ("", "qwen3-vl-thinking"),
    "status": ("status.json", "status.json --json"),
    "doctor": ("", "--json"),
    "new": (
        "kitchen --from rows.jsonl --media videos",
        "kitchen --from rows.csv --kind span --column start=t0 --column end=t1",
    ),
    "check": ("kitchen",),
    "help": ("judge", "frames", "score"),
    "score": (
        "rextime --predictions answers.csv --split val --model my-model",
        "moviecore --predictions answers.jsonl --judge gpt-6-luna --judge-budget '$2'",
        "--run out --task moviecore_mini --judge judge-model --judge-url http://127.0.0.1:8000/v1",
        "moviecore --predictions answers.jsonl --judge judge-a,judge-b --judge-estimate",
        "rextime --template --output answers.csv",
    ),
    "ask": (
        "rextime_mini --llm my-model --llm-url http://127.0.0.1:8000/v1 --frames uniform:32 --output out",
        "rextime_mini --llm my-model --only unreadable --from out/rextime_mini --output again",
    ),
    "cache info": ("", "postgresql://reelbench@db.example.org/reelbench"),
    "cache copy": ("~/.cache/reelbench/judge.sqlite postgresql://reelbench@db.example.org/reelbench",),
    "cache prune": ("--older-than 365", "--model gpt-6-luna --yes"),
    "compare": (
        "out/first/reelbench/rextime_mini out/second/reelbench/rextime_mini",
        "out/first out/second --without-shortcuts out/blind",
    ),
    "shortcuts": ("out/blind out/one_frame --write shortcuts.jsonl",),
    "view": ("out/reelbench/rextime_mini --out page", "out/first out/second"),
    "power": ("out/reelbench/rextime_mini --effect 2", "moviecore --icc 0.1"),
    "ace": (
        "out --llm small-model --llm-url http://127.0.0.1:8000/v1 --judge judge-model --output chosen",
        "--candidates candidates.jsonl --llm small-model --k 3,5,7 --output chosen",
    ),
    "candidates": ("out/reelbench/rextime_mini --k 1,5", "out --judge judge-model"),
    "profile": ("rextime_mini curve_mini --output profile",),
    "run": (
        (
            "--frames uniform:32 -- --tasks reelbench_mini --model qwen2_5_vl "
            "--model_args pretrained=Qwen/Qwen2.5-VL-3B-Instruct --output_path out"
        ),
        (
            "--candidates beam:5 -- --tasks moviecore_mini --model qwen2_5_vl --model_args pretrained=MODEL "
            "--output_path out"
        ),
        (
            "--languages en,es,ja --llm translator=my-model -- --tasks curve_mini --model qwen2_5_vl "
            "--model_args pretrained=MODEL --output_path out"
        ),
        (
            "--frames-sweep 0,8,32 -- --tasks rextime_mini --model openai "
            "--model_args model=my-model,base_url=http://127.0.0.1:8000/v1 --output_path out"
        ),
    ),
    "data fetch": ("rextime --split val --media --limit 20",),
    "data check": ("rextime",),
    "make discussion": (
        "--videos videos.jsonl --llm my-model --out questions --plan",
        "--videos videos.jsonl --llm expert=strong-model --llm my-model --out questions",
    ),
    "make page": ("questions --video tide --out tide.html",),
    "make moments": ("--captions captions.jsonl --llm my-model --out questions --plan",),
    "make tags": ("rextime_mini --llm my-model --out tags.jsonl",),
    "diagnose graphs": ("curve_mini --llm my-model --out graphs",),
    "diagnose errors": ("out/reelbench/curve_mini --llm my-model --graphs graphs --out errors",),
    "diagnose run": ("curve_mini --llm my-model --out errors -- --model qwen2_5_vl --model_args pretrained=MODEL",),
    "diagnose report": ("errors",),
    "review page": (
        "rextime_mini --ask spans --sample 20 --output review.html",
        "curve_mini --ask nodes --diagnosis errors --output nodes.html",
        "curve_mini --ask graphs --graphs graphs/graphs.jsonl --output graphs.html",
    ),
    "review agree": ("ada.jsonl ben.jsonl --benchmark dramaqa_cogme",),
    "review summarize": ("ada.json ben.json --write merged.jsonl",),
    "judge agree": ("first/samples.jsonl second/samples.jsonl",),
    "judge presets": ("",),
    "judge anchors": (
        "out/reelbench/moviecore --out anchors",
        "out/reelbench/moviecore --out anchors --judge judge-model --judge-url http://127.0.0.1:8000/v1",
    ),
    "judge calibrate": ("out/reelbench/moviecore people.csv",),
    "frames info": ("", "film.mp4 --frames uniform:8"),
    "frames extract": ("rextime --frames uniform:32", "films/*.mp4 --frames keyframe:8"),
    "frames clear": ("film.mp4", "--all"),
    "frames serve": ("rextime_mini --question mini1 --log looks.jsonl", "films --log looks.jsonl --size 448"),
    "cards render": ("rextime --out card",),
    "cards push": ("rextime --repo ORG/NAME --dry-run",),
    "leaderboard add": ("out/reelbench/rextime_mini --store results",),
    "leaderboard list": ("--store results",),
    "leaderboard rejudge": (
        "--store results --judge judge-model --judge-url http://127.0.0.1:8000/v1 --judge-estimate",
        "--store results --judge judge-model --judge-url http://127.0.0.1:8000/v1 --sample 200",
    ),
    "leaderboard remove": ("KEY --store results",),
    "leaderboard import-hub": ("rextime --store results",),
    "leaderboard build": ("--store results --out site",),
    "leaderboard check": ("results", "submitted --store results --markdown comment.md"),
    "leaderboard tables": ("--store results --format latex",),
    "leaderboard publish": ("--store results --repo ORG/SPACE --dataset ORG/RESULTS --dry-run",),
    "leaderboard webhook": ("--dataset ORG/RESULTS",),
    "leaderboard export": ("results --out export --format eee --organization ORG",),
}
