"""A model that thinks aloud, behind a server: the same numbers from a bare lmms-eval, from Python, and from `run`.

Only lmms-eval's command line strips reasoning, and only `<think>`; the readers do it everywhere.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from reelbench.data import loading
from tests import lmms_runs
from tests.servers.judge import Answer, JudgeServer

pytestmark = [pytest.mark.lmms, pytest.mark.slow]

TASKS = ("moviecore_mini", "curve_mini", "rextime_mini", "dramaqa_cogme_mini")
STYLES = (
    "<think>Option {wrong} looks right at first. ({wrong})? No, it can't be.</think>\n{letter} [{start}, {end}]",
    "The opening shows it.\n</think>\n\n<answer>{letter}</answer> <time>{start} to {end}</time>",
    "◁think▷maybe ({wrong}), from 1 to 2◁/think▷The correct option is \\boxed{{{letter}}}, from {start}s to {end}s.",
    "<think>It must be {wrong}.</think>\n答案是{letter}，从{start}秒到{end}秒。",
    "Option {wrong} is wrong. The answer is {letter}, starting at {start} and ending at {end} seconds.",
    "<think>I would say {letter}, from {start} to {end}, but let me look again at",  # cut off: no answer
)


def rows():
    for task in TASKS:
        for number, row in enumerate(loading.load(task)):
            yield task, number, row


def answer_to(number, row):
    """What the model says, and what of it counts: (text, letter, span, open answer)."""
    style = STYLES[number % len(STYLES)]
    if "options" not in row:
        said = f"It shows {row['answer']}"
        cut = number % 3 == 2
        text = f"<think>Let me see. {said}" if cut else f"<think>Nothing yet.</think>\n{said}"
        return text, None, None, "" if cut else said
    letter = row["answer"]
    wrong = next(other for other in "ABCD" if other != letter)
    start, end = 1 + number % 3, 4 + number % 2
    text = style.format(letter=letter, wrong=wrong, start=start, end=end)
    cut = number % len(STYLES) == len(STYLES) - 1
    return text, None if cut else letter, None if cut else [float(start), float(end)], None


@pytest.fixture(scope="module")
def expected():
    return {(task, row["id"]): answer_to(number, row) for task, number, row in rows()}


@pytest.fixture
def server(expected):
    # Questions repeat within a task; with their options they don't.
    asked = [
        (
            (
                row["question"],
                *(
                    f"({letter}) {text}"
                    for letter, text in zip("ABCDE", row.get("options", ()), strict=False)
                ),
            ),
            said[0],
        )
        for (_, _, row), said in ((key, expected[key[0], key[2]["id"]]) for key in rows())
    ]
    asked.sort(key=lambda pair: -len(pair[0][0]))

    def reply(call):
        content = call.body["messages"][-1]["content"]
        prompt = (
            content
            if isinstance(content, str)
            else "".join(part.get("text", "") for part in content)
        )
        return Answer(next(text for parts, text in asked if all(part in prompt for part in parts)))

    with JudgeServer(reply) as running:
        yield running


def scored(folder):
    """Each task's metrics and samples, from the files that scoring wrote."""
    found = {}
    for path in folder.rglob("result.json"):
        samples = [
            json.loads(line)
            for line in path.with_name("samples.jsonl").read_text("utf-8").splitlines()
        ]
        metrics = json.loads(path.read_text("utf-8"))["metrics"]
        found[path.parent.name] = (
            {name: value["value"] for name, value in metrics.items()},
            samples,
        )
    return found


def test_a_reasoning_model_scores_the_same_every_way(
    server, expected, reelbench, tmp_path, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("REELBENCH_FRAMES", "none")
    model = ["--model", "openai", "--model_args", f"model=m,base_url={server.url},num_concurrent=4"]
    run = [*model, "--tasks", ",".join(TASKS)]

    lmms_runs.run_here(
        monkeypatch, "run", "--frames", "none", "--", *run, "--output_path", tmp_path / "run"
    )
    by_run = scored(tmp_path / "run")
    assert set(by_run) == set(TASKS)

    command = [
        Path(sys.executable).with_name("lmms-eval"),
        *run,
        "--log_samples",
        "--output_path",
        tmp_path / "bare",
    ]
    bare = subprocess.run(
        command, env=os.environ, capture_output=True, text=True, timeout=1800, check=False
    )
    assert bare.returncode == 0, bare.stderr
    done = reelbench("score", "--run", tmp_path / "bare", "--output", tmp_path / "bare-scores")
    assert done.returncode == 0, done.stderr
    by_bare = scored(tmp_path / "bare-scores")

    from lmms_eval.evaluator import simple_evaluate

    with contextlib.redirect_stdout(io.StringIO()):
        by_python = simple_evaluate(
            model="openai", model_args=model[-1], tasks=list(TASKS), log_samples=True
        )

    for task in TASKS:
        metrics, samples = by_run[task]
        assert by_bare[task][0] == metrics
        for name, value in metrics.items():
            if value is not None and f"{name},none" in by_python["results"][task]:
                assert by_python["results"][task][f"{name},none"] == pytest.approx(value), (
                    task,
                    name,
                )
        # The server's usage, by lmms-eval's samples.
        assert {json.dumps(sample["tokens"]) for sample in samples} == {
            '{"prompt": 100, "completion": 10}'
        }
        for sample in samples:
            _, letter, span, text = expected[task, sample["id"]]
            assert "parse_failed" not in sample["flags"]
            if not letter and not text:  # reasoning that never closes: the run's limit cut it off
                assert (sample["state"], sample["reason"]) == ("unscored", "cut_off")
            elif text is not None:
                said = (sample["parsed"] or {}).get("text", sample["prediction"])
                assert said.strip() == text
            else:
                assert sample["parsed"]["answer"] == letter
                assert sample["parsed"].get("span", span) == span
        logged = [
            next(v for v in s.values() if isinstance(v, dict) and "sample" in v)
            for s in by_python["samples"][task]
        ]
        for detail in logged:
            sample = detail["sample"]
            assert (
                sample["prediction"] == expected[task, sample["id"]][0]
            )  # from Python the raw text stays
