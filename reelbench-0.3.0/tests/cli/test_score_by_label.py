"""CogME's labels on the terminal and as a picture: the numbers of `result.json`, worked by hand."""

import json
from xml.etree import ElementTree as ET

import pytest

import reelbench as package
from reelbench.data import loading
from reelbench.registry import discovery
from reelbench.registry.records import MetricValue
from reelbench.scoring import metric_table


@pytest.fixture
def files(tmp_path):
    """Six tagged questions, the first four answered right: Identity on 1 to 3 and 5, Causality on 4 and 6."""
    rows = list(loading.locate("dramaqa_cogme_mini").read())[:6]
    tags = [
        {"qid": row["id"], "target": ["Character"], "content": [content], "thinking": thinking}
        for row, content, thinking in zip(
            rows,
            ("Identity", "Identity", "Identity", "Causality", "Identity", "Causality"),
            ("Recall", "Grasping", "Reasoning", "Reasoning", "Reasoning", "Recall"),
            strict=True,
        )
    ]
    wrong = {letter: next(other for other in "ABCDE" if other != letter) for letter in "ABCDE"}
    answers = [
        {"id": row["id"], "prediction": row["answer"] if place < 4 else wrong[row["answer"]]}
        for place, row in enumerate(rows)
    ]
    for name, lines in (("tags", tags), ("answers", answers)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


# Identity: 3 of 4 right, points 1 + 2 + 3 of 9; Causality: 1 of 2, points 3 of 4. Reasoning: 2 of
# 3, 6 of 9 points.
BY = {
    "content": {
        "Identity": ("75.00", "66.67", "4", "66.7"),
        "Causality": ("50.00", "75.00", "2", "33.3"),
    },
    "thinking": {
        "Recall": ("50.00", "50.00", "2", "33.3"),
        "Grasping": ("100.00", "100.00", "1", "16.7"),
        "Reasoning": ("66.67", "66.67", "3", "50.0"),
    },
}


@pytest.mark.parametrize("facet", BY)
def test_the_table_has_rate_weighted_rate_n_and_share(facet, files, reelbench):
    words = [
        "score",
        "dramaqa_cogme_mini",
        "--predictions",
        files / "answers.jsonl",
        "--tags",
        files / "tags.jsonl",
    ]
    done = reelbench(*words, "--by", facet, "--output", files / "out")
    assert done.returncode == 0, done.stderr
    head, *lines = done.stdout[done.stdout.index(f"dramaqa_cogme by {facet}") :].splitlines()[1:]
    assert head.split() == [facet, "rate", "weighted_rate", "n", "%", "of", "tagged"]
    shown = {
        line.split()[0]: tuple(line.split()[1:])
        for line in lines
        if line.split()[:1] and line.split()[0] in BY[facet]
    }
    assert shown == BY[facet]
    written = json.loads((files / "out" / "result.json").read_text())["breakdowns"][facet]
    assert {
        label: tuple(f"{values[name]['value']:.2f}" for name in ("rate", "weighted_rate"))
        for label, values in written.items()
    } == {label: cells[:2] for label, cells in BY[facet].items()}


def test_the_picture_has_each_labels_rate(files):
    answers = [json.loads(line) for line in (files / "answers.jsonl").read_text().splitlines()]
    scored = package.score("dramaqa_cogme_mini", answers, tags=files / "tags.jsonl")
    for metric, numbers in (
        (None, {"75.00 (n 4)", "50.00 (n 2)"}),
        ("weighted_rate", {"66.67 (n 4)", "75.00 (n 2)"}),
    ):
        root = ET.fromstring(scored.plot("content", metric=metric))  # noqa: S314 - our own picture
        words = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
        assert {"Identity", "Causality"} | numbers <= words


def test_a_label_is_weak_under_5_per_cent_of_questions_and_50_per_cent_right():
    def values(rate, n):
        return {"rate": MetricValue(value=rate, n=n)}

    labels = {"Identity": values(90.0, 28), "Motivation": values(0.0, 1), "Means": values(50.0, 1)}
    breakdowns = {"content": labels, "tagged": {"all": values(80.0, 30)}}
    _, rows = metric_table.by_label(discovery.get("dramaqa_cogme"), breakdowns, "content")
    # 1 of 30 is 3.3 %: weak at 0 % right, and not at 50 %.
    assert [(row[0], *row[-2:]) for row in rows] == [
        ("Identity", "93.3", ""), ("Motivation", "3.3", "weak"), ("Means", "3.3", ""),
    ]  # fmt: skip
