"""What no key of a `benchmark.yaml` can do is refused by a sentence that says so."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.tasks.benchmark_folder import NewBenchmark, make


def made(tmp_path, rows, **request):
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows), encoding="utf-8")
    return make(NewBenchmark("mine", file, **request), tmp_path / "mine")


def turns(*texts):
    return [
        {"from": ["human", "gpt"][place % 2], "value": text} for place, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (
            {"conversations": turns("What?", "Tea.", "And then?", "Milk.")},
            "'conversations' holds conversations of up to 2 questions: no key asks several turns",
        ),
        (
            {
                "messages": [
                    {"role": "user", "content": "What?"},
                    {"role": "assistant", "content": "x"},
                ]
            },
            "'messages' holds chat turns: no key parts them",
        ),
        (
            {"question": "In which order?", "gt": [2, 0, 1]},
            "'gt' holds orders, such as [2, 0, 1]: no key scores an order",
        ),
    ],
)
def test_a_form_that_no_key_reads_is_said(cells, line, tmp_path):
    rows = [{"id": f"q{n}", "video": f"v{n}.mp4", **cells} for n in range(4)]
    with pytest.raises(InputError) as caught:
        made(tmp_path, rows)
    assert line in str(caught.value)
    assert not (tmp_path / "mine").exists()


def test_a_column_that_is_left_unused_or_named_is_not_refused(tmp_path):
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": f"Which {n}?", "options": ["tea", "milk"],
         "answer": "tea", "log": turns("What?", "Tea.")}
        for n in range(4)
    ]  # fmt: skip
    assert made(tmp_path, rows, without=("log",)).spec.id == "mine"


def test_a_column_that_a_key_names_is_used(tmp_path):
    rows = [
        {"id": f"q{n}", "video": f"v{n}.mp4", "question": f"Which {n}?", "options": ["tea", "milk"],
         "answer": "tea", "part": "first", "other": "x"}
        for n in range(4)
    ]  # fmt: skip
    _, guess = made(tmp_path, rows, keys={"facets": "[part]"})
    assert "other" in guess.unused
    assert "part" not in guess.unused
