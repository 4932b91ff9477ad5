"""A judge of one's own, in a folder of prompts: what counts as a criterion, and what is told of it."""

import json
import re

from typer.testing import CliRunner

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
TWO = "{prompts: marks, scale: [1, 4], criteria: [detail, truth]}"


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
    folder = own_judge(tmp_path / "own", "own_counts", ["detail.txt", "truth.txt"], judge=TWO)
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


def test_several_files_of_a_judge_are_criteria_only_where_the_file_names_them(tmp_path):
    files = ["rating.txt", "NOTES.txt", "system.txt"]
    folder = own_judge(tmp_path / "own", "own_several", files)
    refused = run("check", folder, "--no-media")
    assert (refused.exit_code, refused.exception.exit_code) == (1, 2)
    assert "has NOTES.txt, rating.txt, system.txt besides user.txt" in str(refused.exception)
    assert "name the criteria, such as criteria: [rating]" in str(refused.exception)
    file = folder / "benchmark.yaml"
    file.write_text(file.read_text().replace("[1, 4]", "[1, 4], criteria: [rating]"))
    done = run("check", folder, "--no-media")
    assert done.exit_code == 0, done.output
    line = "judge: prompts marks, criteria rating, marks from 1 to 4 (1 is 0 %, 4 is 100 %)"
    assert f"{line}; rating ranks\n" in done.output
    assert "NOTES.txt" not in done.output
    assert "system.txt" not in done.output
    file.write_text(file.read_text().replace("[1, 4]", "[0, 5]"))
    assert "marks from 0 to 5 (points); rating" in run("check", folder, "--no-media").output
    file.write_text(file.read_text().replace("[rating]", "[ratings]"))
    refused = run("check", folder, "--no-media")
    assert "judge.criteria: 'ratings' has no file in " in str(refused.exception)


def test_a_system_prompt_alone_is_no_criterion_of_that_name(tmp_path):
    folder = own_judge(tmp_path / "own", "own_system", ["system.txt"])
    assert "name the criteria" in str(run("check", folder, "--no-media").exception)


def test_check_notes_a_judge_that_does_not_see_the_right_answer(tmp_path):
    user = "Question: {question} Answer: {answer}"
    folder = own_judge(tmp_path / "own", "own_blind", ["rating.txt"], user=user)
    done = run("check", folder, "--no-media")
    assert done.exit_code == 0, done.output
    line = "the judge's user.txt has no {reference}: it doesn't see the right answer"
    assert line in done.output
    assert "has no {question}" not in done.output


def test_new_says_which_judge_s_prompts_it_writes(tmp_path):
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps([{**row, "answer": row["answer"] * 3} for row in ROWS]))
    done = run("new", "own_new", "--from", rows, "--kind", "open", "--out", tmp_path / "made")
    assert done.exit_code == 0, done.output
    line = "judge: prompts curve, criteria score, marks from 0 to 2 (0 is 0 %, 2 is 100 %)"
    assert f"{line}; score ranks\n" in done.output
