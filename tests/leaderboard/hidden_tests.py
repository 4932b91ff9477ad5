"""A hidden test of choices: the folder that everybody has, its owner's file, and answers to it."""

import json
import random

LETTERS = "ABCD"


def cellar(folder, questions=300, *, more=""):
    """Write a benchmark without answers, and its owner's file beside it; return the right letters."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(5)
    right = [draw.choice(LETTERS) for _ in range(questions)]
    rows = []
    for number in range(questions):
        row = {"id": f"q{number}", "video": f"v{number // 3}.mp4", "q": f"What is {number}?"}
        rows.append({**row, "options": ["a cup", "a book", "a dog", "a tree"]})
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "benchmark.yaml").write_text(
        "id: cellar\ntitle: Cellar\nkind: choice\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q, options: options}\nlanguages: [en]\n"
        f"licence: cc-by-4.0\nhidden_answers: true\n{more}"
    )
    write_answers(folder.parent / "answers.jsonl", right)
    return right


def write_answers(file, right):
    lines = [{"id": f"q{number}", "answer": letter} for number, letter in enumerate(right)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def answers(right, correct):
    """Return answers of which the first `correct` are right."""
    wrong = {"A": "B", "B": "C", "C": "D", "D": "A"}
    return [letter if n < correct else wrong[letter] for n, letter in enumerate(right)]


def reveal(folder, right):
    """Let the answers join the rows, without `hidden_answers`, as version 2."""
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    lines = [json.dumps({**row, "right": letter}) for row, letter in zip(rows, right, strict=True)]
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    declared = (folder / "benchmark.yaml").read_text()
    declared = declared.replace("hidden_answers: true\n", "")
    declared = declared.replace("options: options}", "options: options, answer: right}")
    if "version:" not in declared:
        declared += "version: 2\n"
    (folder / "benchmark.yaml").write_text(declared)
