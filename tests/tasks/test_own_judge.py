"""A judge of one's own, in a folder of prompts: what counts as a criterion, and what is told of it."""

import json
import re

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from tests.program import app
from tests.servers.judge import Answer, JudgeServer

ROWS = [
    {
        "id": f"q{n}",
        "video": f"v{n}.mp4",
        "question": f"Why does number {n} leave?",
        "answer": f"Because of storm {n}.",
    }
    for n in range(5)
]
USER = "<question>{question}</question><reference>{reference}</reference><answer>{answer}</answer>"


def own_judge(folder, name, files, judge="{prompts: marks, scale: [1, 4]}", user=USER):
    """Write a benchmark of open answers with the judge's files."""
    marks = folder / "marks"
    marks.mkdir(parents=True)
    (marks / "user.txt").write_text(user)
    for file in files:
        (marks / file).write_text(f"You mark answers by what {file} says, from 1 to 4.")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    columns = "{id: id, video: video, question: question, answer: answer}"
    (folder / "benchmark.yaml").write_text(
        f"id: {name}\nkind: open\nsource: {{file: rows.jsonl}}\ncolumns: {columns}\njudge: {judge}\n"
    )
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_mean_of_criteria_counts_the_answers_that_have_all_of_them(tmp_path):
    folder = own_judge(tmp_path / "own", "own_counts", ["detail.txt", "truth.txt"])
    predictions = tmp_path / "predictions.jsonl"
    lines = [{"id": row["id"], "prediction": row["question"]} for row in ROWS]
    predictions.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def reply(call):
        is_unreadable = "detail.txt" in call.system and re.search("number [34]", call.user)
        return Answer("I can't tell." if is_unreadable else '{"score": 4}')

    with JudgeServer(reply) as server:
        done = run(
            *("score", folder, "--predictions", predictions, "--output", tmp_path / "out"),
            *("--judge", "judge-1", "--judge-url", server.url),
        )
    assert done.exit_code == 0, done.output
    assert "3 of 5 scored (2 judge_unparsable)" in done.output
    assert "100.00 (3 of 5)" in re.search("average.*", done.output)[0]
    assert "100.00 (3 of 5)" in re.search("detail.*", done.output)[0]
    assert re.search("truth .*", done.output)[0].split()[-1] == "5"
