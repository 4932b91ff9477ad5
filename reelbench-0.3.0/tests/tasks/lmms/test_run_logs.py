"""What is read from lmms-eval's samples file, whose lines are as 0.7.3 writes them."""

import json

import pytest

from reelbench.tasks.lmms.run_logs import logged_items, model_of, settings_of_twin


def line(name, **logged):
    """A line of a samples file with the keys that lmms-eval adds to a task's metrics."""
    sample = {
        "id": name, "video": "v", "prediction": "A", "parsed": {"answer": "A"}, "target": {"answer": "A"},
        "state": "scored", "scores": {"correct": 1.0},
    }  # fmt: skip
    logged_by_lmms_eval = {
        "doc_id": 0,
        "target": "A",
        "filtered_resps": "A",
        "token_counts": [None],
        "doc_hash": "0",
    }
    candidates = {"candidates": logged.pop("candidates")} if "candidates" in logged else {}
    return (
        logged_by_lmms_eval
        | {"accuracy": {"sample": sample | candidates, "question": "Who?"}, "input": "Who?"}
        | logged
    )


@pytest.mark.parametrize(
    ("counts", "tokens"),
    [
        # openai, of a server that says what it used.
        (
            [{"input_tokens": 812, "output_tokens": 9, "reasoning_tokens": 4}],
            {"prompt": 812, "completion": 9, "reasoning": 4},
        ),
        (
            [{"input_tokens": 812, "output_tokens": 9, "reasoning_tokens": 0}],
            {"prompt": 812, "completion": 9},
        ),
        (
            [{"output_tokens": 9}],
            {"completion": 9},
        ),  # qwen3_vl and others of Hugging Face's count what they wrote
        (
            [{"input_tokens": 0, "output_tokens": 3, "reasoning_tokens": 0}],
            None,
        ),  # openai, of a server that doesn't
        (
            [{"input_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0}],
            None,
        ),  # openai, of a call that failed
        ([{}], None),  # openai beyond the budget of tokens
        ([None], None),  # an adapter that returns plain text, and lmms-eval's cache of answers
        ([], None),
        ("absent", None),  # lmms-eval before 0.7
    ],
)
def test_the_tokens_of_an_answer_are_the_adapters_and_never_a_zero(tmp_path, counts, tokens):
    logged = line("q1", token_counts=counts)
    if counts == "absent":
        del logged["token_counts"]
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(logged) + "\n")
    [item] = logged_items(path).items
    assert (item.tokens, item.seconds) == (tokens, None)


def test_the_first_of_several_answers_does_not_stand_for_all(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text(
        json.dumps(
            line(
                "q1", token_counts=[{"input_tokens": 9, "output_tokens": 2}], candidates=["A", "B"]
            )
        )
        + "\n"
    )
    [item] = logged_items(path).items
    assert (item.candidates, item.tokens) == (["A", "B"], None)


def test_two_parts_of_the_questions_do_not_read_alike():
    part = settings_of_twin({"config": {"limit": 3, "offset": 4}}, "minerva")
    first = settings_of_twin({"config": {"limit": 3, "offset": 0}}, "minerva")
    assert (part.limit, part.offset) == (3, 4)
    assert "offset" not in first.model_dump(mode="json")  # a record as it ever was


@pytest.mark.parametrize(
    ("model_args", "name"),
    [
        ("pretrained=Qwen/Qwen3-VL-8B", "Qwen/Qwen3-VL-8B"),
        ("pretrained=/home/ada/runs/ft/checkpoint-300,device=cpu", "local/ft"),
        ("pretrained=./ft/final", "local/ft"),
        ("model=/models/q,base_url=http://127.0.0.1:8000/v1", "local/q"),
        ("pretrained=/home/ada", "local/unnamed path"),
    ],
)
def test_a_checkpoint_s_path_is_filed_by_the_part_that_names_a_model(model_args, name):
    record = model_of({"config": {"model": "qwen3_vl", "model_args": model_args}})
    assert record.id == name
    assert "/home" not in record.model_dump_json()
