"""Questions that look like nothing of ours, from `new` to the board, with real clips, servers and processes."""

import json
import re
from pathlib import Path

import pytest

from reelbench.video.mini_clips import draw_clip
from tests.servers.judge import Answer, JudgeServer

OPTIONS = ["a cup", "a tin", "a jar"]
FILES = {
    "choice": [
        {
            "qid": n,
            "clip": f"shelf{n % 2}.mp4",
            "q": f"What is on {n}?",
            "choices": OPTIONS,
            "gold": OPTIONS[n % 3],
        }
        for n in range(6)
    ],
    "span": [
        {
            "nr": n,
            "video_name": f"shelf{n % 2}",
            "sentence": f"hand {n} takes it",
            "moment": [[n / 2, n / 2 + 2]],
        }
        for n in range(4)
    ],
    "open": [
        {
            "key": f"k{n}",
            "film": f"shelf{n % 2}.mp4",
            "ask": f"Why is {n} empty?",
            "ref": "Somebody took it all away.",
        }
        for n in range(3)
    ],
}
# "B" is right for 1 and 4 of 6; [0.5, 2.5] meets [0, 2], [0.5, 2.5], [1, 3] and [1.5, 3.5] at 0.6,
# 1, 0.6, 1/3.
IOUS = (0.6, 1, 0.6, 1 / 3)
SCORED = {
    "choice": ("B", {"accuracy": 100 / 3}),
    "span": (
        "from 0.5 to 2.5 seconds",
        {"miou": 25 * sum(IOUS), "recall_at_0.3": 100, "recall_at_0.7": 25},
    ),
    "open": ("It was stolen.", {"score": 50}),
}


@pytest.fixture
def made(reelbench, tmp_path):
    def make(kind):
        videos = tmp_path / "clips" / "all"
        videos.mkdir(parents=True)
        for name in ("shelf0", "shelf1"):
            draw_clip(videos / f"{name}.mp4", name, 6)
        source = tmp_path / "questions.jsonl"
        source.write_text("".join(json.dumps(row) + "\n" for row in FILES[kind]), encoding="utf-8")
        done = reelbench("new", "shelves", "--from", source, "--media", videos.parent, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"videos found in {videos.parent}: 2 of 2" in done.stdout.splitlines()
        return tmp_path / "shelves"

    return make


def answers(call):
    return Answer('{"score": 1}' if "<answer" in call.user else SCORED[call.body["model"]][0])


@pytest.mark.parametrize("kind", FILES)
def test_a_file_of_questions_goes_all_the_way(kind, made, reelbench, tmp_path):
    folder = made(kind)
    checked = reelbench("check", "shelves", cwd=tmp_path)
    assert (checked.returncode, checked.stderr) == (0, "")
    with JudgeServer(answers) as server:
        where = (
            "--llm",
            kind,
            "--llm-url",
            server.url,
            "--frames",
            "uniform:2",
            "--output",
            tmp_path / "out",
        )
        judge = ("--judge", "judge", "--judge-url", server.url) if kind == "open" else ()
        done = reelbench("ask", folder, *where, *judge, "--json")
    assert done.returncode == 0, done.stderr
    asked = json.loads(done.stdout)
    for name, value in SCORED[kind][1].items():
        assert asked["metrics"][name]["value"] == pytest.approx(value), name
    assert asked["counts"]["scored"] == len(FILES[kind])
    table = tmp_path / "answers.csv"
    ids = [str(next(iter(row.values()))) for row in FILES[kind]]
    lines = [f"{number},{SCORED[kind][0]}" for number in ids]
    table.write_text("\n".join(["id,prediction", *lines]), encoding="utf-8")
    again = reelbench("score", folder / "benchmark.yaml", "--predictions", table, "--json")
    assert again.returncode == 0, again.stderr
    first = next(iter(SCORED[kind][1]))
    if kind != "open":
        assert json.loads(again.stdout)["metrics"][first] == asked["metrics"][first]

    run = tmp_path / "out" / "shelves"
    for command in (
        ("view", run, "--out", tmp_path / "page"),
        ("leaderboard", "add", run, "--store", tmp_path / "store"),
        ("cards", "render", folder, "--out", tmp_path / "card"),
    ):
        done = reelbench(*command)
        assert done.returncode == 0, (command, done.stderr)
    built = reelbench(
        "leaderboard", "build", "--store", tmp_path / "store", "--out", tmp_path / "site", "--json"
    )
    assert json.loads(built.stdout)["runs"] == 1
    card = (tmp_path / "card" / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"\| `test` \|.*\b{len(FILES[kind])}\b", card)
    assert "Not written yet" in card


PAIRS = """\
id: pairs
kind: {column: asks, mc: choice, words: exact}
source: {file: rows.json}
columns: {id: n, video: film, question: q, options: o, answer: a, clip: [start, end]}
group: {by: pair, rule: all}
media: {layouts: ["{video}"]}
"""


def pairs(folder, films):
    """A benchmark with options or words by row, on parts of videos, of pairs that count together."""
    shared = {"start": 2, "end": 4, "pair": 1, "film": "shelf0.mp4"}
    rows = [
        {**shared, "n": 1, "asks": "mc", "q": "Which?", "o": ["a cup", "a tin"], "a": "a cup"},
        {**shared, "n": 2, "asks": "words", "q": "Twelve tins", "o": [], "a": "twelve tins."},
        {
            **shared,
            "n": 3,
            "asks": "mc",
            "q": "Which?",
            "o": ["a cup", "a tin"],
            "a": "a tin",
            "pair": 2,
        },
        {
            **shared,
            "n": 4,
            "asks": "words",
            "q": "Five jars",
            "o": [],
            "a": "five jars.",
            "pair": 2,
            "film": "shelf1.mp4",
        },
    ]
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(
        PAIRS.replace("{video}", f"{films}/{{video}}"), encoding="utf-8"
    )
    (folder / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    return folder


@pytest.mark.lmms
def test_run_takes_its_folder_and_lmms_eval_s_table_has_its_groups(made, reelbench, tmp_path):
    """lmms-eval read the folder's YAML by itself, ran to the end, and no result of ours was found."""
    made("choice")
    folder = pairs(tmp_path / "pairs", "all")
    (folder / "other.yaml").write_text("doc_to_text: !function planted.text\n", encoding="utf-8")
    (folder / "planted.py").write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w').close()\ntext = str\n", encoding="utf-8"
    )
    environ = {"REELBENCH_MEDIA": str(tmp_path / "clips")}
    words = ("--model", "reelbench_baseline", "--output_path", tmp_path / "out")
    run = ("run", "--frames", "uniform:2", "--json", "--", "--tasks", f"{folder}/", *words)
    done = reelbench(*run, cwd=tmp_path, env=environ)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists(), "code beside a declaration was run"
    # The floor says A, and of words the question itself: 1, 2 and 4 of the four are right, and the
    # first pair is.
    metrics = {name: metric["value"] for name, metric in json.loads(done.stdout)["metrics"].items()}
    assert metrics == {"group_accuracy": 50, "accuracy": 50, "exact_match": 100, "right": 75}
    (results,) = (tmp_path / "out").rglob("*_results.json")
    table = json.loads(results.read_text(encoding="utf-8"))["results"]["pairs"]
    assert {name: table[f"{name},none"] for name in metrics} == metrics
    known = environ | {"REELBENCH_BENCHMARKS": str(folder)}
    again = reelbench("score", "--run", results.parent, "--json", cwd=tmp_path, env=known)
    assert again.returncode == 0, again.stderr
    assert {
        name: metric["value"] for name, metric in json.loads(again.stdout)["metrics"].items()
    } == metrics


@pytest.mark.lmms
def test_a_bare_lmms_eval_runs_it_beside_a_broken_one(made, tmp_path, tiny_vlm):
    import os
    import subprocess
    import sys

    made("choice")
    pairs(tmp_path / "pairs", "all")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "benchmark.yaml").write_text("id: broken\nkind: choice\n", encoding="utf-8")
    command = [
        *(
            sys.executable,
            "-m",
            "lmms_eval",
            "--tasks",
            "shelves,pairs,rextime_mini",
            "--model",
            "qwen2_5_vl",
        ),
        *(
            "--model_args",
            f"pretrained={tiny_vlm},device=cpu,device_map=cpu,min_pixels=3136,max_pixels=12544",
        ),
        *(
            "--gen_kwargs",
            "max_new_tokens=4",
            "--limit",
            "2",
            "--log_samples",
            "--output_path",
            str(tmp_path / "out"),
        ),
    ]
    environ = {**os.environ, "REELBENCH_BENCHMARKS": str(tmp_path), "REELBENCH_FRAMES": "uniform:2"}
    environ["REELBENCH_MEDIA"] = str(tmp_path / "clips")
    done = subprocess.run(
        command, env=environ, capture_output=True, text=True, check=False, cwd=tmp_path
    )
    (results,) = (tmp_path / "out").rglob("*_results.json")
    document = json.loads(results.read_text(encoding="utf-8"))["results"]
    assert document["shelves"]["accuracy,none"] is not None, done.stderr[-2000:]
    assert "rextime_mini" in document
    assert done.stderr.count("is left out") == 1
    (logged,) = (tmp_path / "out").rglob("*_samples_pairs.jsonl")
    lines = map(json.loads, logged.read_text(encoding="utf-8").splitlines())
    found = (
        value
        for line in lines
        for value in line.values()
        if isinstance(value, dict) and "sample" in value
    )
    samples = [value["sample"] for value in found]
    assert {sample["id"] for sample in samples} == {"1", "2"}
    assert all(2 <= at <= 4 for sample in samples for at in sample["frame_timestamps"])


def test_check_shows_what_is_sent_where_and_what_is_read(made, reelbench, tmp_path):
    folder = made("choice")
    with (folder / "benchmark.yaml").open("a", encoding="utf-8") as file:
        file.write("prompt: ask.txt\n")
    (folder / "ask.txt").write_text("Look!\x1b[2J {question}", encoding="utf-8")
    server = {"REELBENCH_LLM_URL": "https://me:secret@models.example.org/v1"}
    shown = reelbench("check", folder, env=server).stdout
    question = next(value for key, value in FILES["choice"][0].items() if key in ("question", "q"))
    assert f"  | Look!\\x1b[2J {question}" in shown
    assert "`eval` sends it to https://***@models.example.org/v1, or" in shown
    assert all(
        name in shown
        for name in ("benchmark.yaml", "ask.txt", "rows.jsonl", f"in {tmp_path / 'clips' / 'all'}")
    )
    told = json.loads(reelbench("check", folder, "--json").stdout)
    assert [asked["prompt"][:10] for asked in told["prompts"]] == ["Look!\x1b[2J "]
    assert {Path(video).name for video in told["videos"]} == {"shelf0.mp4", "shelf1.mp4"}


def test_a_root_outside_of_the_folder_is_the_user_s_to_allow_once(
    made, reelbench, tmp_path, monkeypatch
):
    folder = made("choice")
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "another home"))
    file = folder / "benchmark.yaml"
    older = f"media: {{roots: [{tmp_path / 'clips'}]}}"
    text = re.sub(r"(?m)^media: .*$", older, file.read_text(encoding="utf-8"))
    file.write_text(text.replace("roots: ", "layouts: ['all/{video}'], roots: "), encoding="utf-8")
    refused = reelbench("check", folder)
    (line,) = refused.stderr.splitlines()
    assert refused.returncode == 2
    words = line[line.index("reelbench check") :].split()[1:]
    allowed = reelbench(*words)
    assert (allowed.returncode, allowed.stderr) == (0, "")
    assert reelbench("check", folder).returncode == 0


def test_a_folder_that_is_named_like_a_task_is_not_asked_in_its_place(made, reelbench, tmp_path):
    """In a stranger's folder: what is installed comes first, and the other is named by its path."""
    (tmp_path / "rextime_mini").symlink_to(made("open"))
    done = reelbench(
        "review", "page", "rextime_mini", "--output", tmp_path / "page.html", cwd=tmp_path
    )
    assert "12 questions" in done.stdout + done.stderr
    done = reelbench(
        "review", "page", "./rextime_mini", "--output", tmp_path / "own.html", cwd=tmp_path
    )
    assert "3 questions" in done.stdout + done.stderr


def test_no_words_of_a_folder_act_on_the_terminal_that_shows_them(made, reelbench):
    folder = made("choice")
    text = (folder / "benchmark.yaml").read_text(encoding="utf-8")
    text = re.sub("(?m)^(title|summary|licence):.*\n", "", text)
    evil = "".join(
        f'{key}: "\\e]0;pwn\\a\\e[2J\\u202e {key}"\n' for key in ("title", "summary", "licence")
    )
    (folder / "benchmark.yaml").write_text(text + evil, encoding="utf-8")
    for words in (["info", folder], ["list"], ["check", folder], ["info", folder, "--json"]):
        done = reelbench(*words, env={"REELBENCH_BENCHMARKS": str(folder)})
        assert done.returncode == 0, done.stderr
        assert "pwn" in done.stdout or words[0] == "check"
        assert not set("\x1b\a\u202e") & set(done.stdout + done.stderr)


def test_check_shows_a_question_of_each_prompt_and_the_subtitles_beside_the_videos(
    made, reelbench, tmp_path
):
    folder = made("choice")
    text = (
        (folder / "benchmark.yaml")
        .read_text(encoding="utf-8")
        .replace("languages: [en]", "languages: [en, de]")
    )
    text = text.replace(
        "columns:  # ours: theirs\n", "prompt: ask.json\ncolumns:\n  language: tongue\n"
    )
    (folder / "benchmark.yaml").write_text(text, encoding="utf-8")
    lines = [
        json.loads(line)
        for line in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    tongues = ["en", "de", *["fr"] * len(lines)]  # of which the last has no prompt of its own
    lines = [line | {"tongue": tongue} for line, tongue in zip(lines, tongues, strict=False)]
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )
    asked = {
        "en": "In English: {question}",
        "de": "Auf Deutsch: {question}",
        "xx": "Nobody's: {question}",
    }
    (folder / "ask.json").write_text(json.dumps(asked), encoding="utf-8")
    said = tmp_path / "clips" / "all" / "shelf0.srt"
    said.write_text("1\n00:00:00,000 --> 00:00:01,000\nHm.\n", encoding="utf-8")
    shown = reelbench("check", folder).stdout
    words = [line.partition(":")[0] for line in shown.splitlines() if line.startswith("  | ")]
    assert words == ["  | In English", "  | Auf Deutsch"]
    assert "a question as it is sent, for the first row in de that is asked otherwise:" in shown
    told = json.loads(reelbench("check", folder, "--json").stdout)
    assert [one["language"] for one in told["prompts"]] == ["en", "de"]
    assert {Path(video).name for video in told["videos"]} == {
        "shelf0.mp4",
        "shelf1.mp4",
        "shelf0.srt",
    }
