"""Which model answered, by the ids that servers return for the name that was asked for."""

from pathlib import PurePosixPath

import pytest

from reelbench.registry.model_ids import UNNAMED, answering_ids, filed_id, filed_name, other_ids


@pytest.mark.parametrize(
    ("asked", "returned", "answering", "others"),
    [
        ("m", {"m": 3}, ["m"], []),
        ("m", {}, [], []),
        # A dated snapshot, alone and beside the name itself.
        ("gpt-4o", {"gpt-4o-2024-08-06": 3}, ["gpt-4o-2024-08-06"], []),
        ("gpt-4o", {"gpt-4o": 1, "gpt-4o-2024-08-06": 2}, ["gpt-4o-2024-08-06"], []),
        # An Azure deployment, and llama.cpp's file: one model each, under another id.
        ("prod-vision", {"gpt-4o-2024-08-06": 3}, ["gpt-4o-2024-08-06"], ["gpt-4o-2024-08-06"]),
        ("m", {"m": 1, "q.gguf": 2}, ["q.gguf"], ["q.gguf"]),
        # OpenRouter's fallback model within a run: two models.
        ("a/big", {"a/big": 9, "b/small": 3}, ["a/big", "b/small"], ["b/small"]),
        (
            "gpt-4o",
            {"gpt-4o-2024-08-06": 1, "gpt-4o-2024-11-20": 1},
            ["gpt-4o-2024-08-06", "gpt-4o-2024-11-20"],
            [],
        ),
    ],
)
def test_several_ids_are_several_models_but_for_snapshots_and_files(
    asked, returned, answering, others
):
    assert answering_ids(asked, returned) == answering
    assert other_ids(asked, returned) == others


SUPERUSERS_HOME = PurePosixPath("/", "root")
HUB = "/home/ada/.cache/huggingface/hub/models--Qwen--Qwen2.5-VL-3B/snapshots/" + "0a" * 20


@pytest.mark.parametrize(
    ("name", "filed"),
    [
        ("/home/ada/models/q.gguf", "q.gguf"),
        ("C:\\models\\q.gguf", "q.gguf"),
        ("C:\\Users\\ada\\q", "q"),
        ("~/q", "q"),
        ("./q", "q"),
        ("../out/q/", "q"),
        ("file:///data/q", "q"),
        ("s3://bucket/q/epoch=3-step=900.ckpt", "q"),
        ("/models/step3", "step3"),
        ("/runs/q/global_step_400", "q"),
        ("/runs/q/checkpoint-400/merged", "q"),
        ("/runs/q/model-00001-of-00002.safetensors", "q"),
        ("/runs/q/output/0123abcd", "q"),
        (HUB, "Qwen/Qwen2.5-VL-3B"),
        ("org/model", "org/model"),
        ("ft/checkpoint-3", "ft/checkpoint-3"),
        ("m", "m"),
        ("team=blue", "team=blue"),
        # Nothing in them names a model, and a user's name is nobody's business.
        ("/home/ada", None),
        ("/Users/ada/", None),
        (str(SUPERUSERS_HOME / "best"), None),
        ("C:\\Users\\ada", None),
        ("models/", None),
        ("/", None),
        ("..", None),
        ("/home", None),
    ],
)
def test_a_path_is_filed_by_its_last_part_that_names_a_model(name, filed):
    assert filed_name(name) == filed


@pytest.mark.parametrize(
    ("returned", "filed"),
    [
        ("/home/ada", "kitchen"),
        ("/models/q.gguf", "q.gguf"),
        ("/home/eve", UNNAMED),
        ("other", "other"),
    ],
)
def test_a_returned_id_is_filed_without_folders_under_the_name_that_results_have(returned, filed):
    assert filed_id(returned, requested="/home/ada", filed="kitchen") == filed


def test_a_dated_id_keeps_its_date():
    filed = filed_id("gpt-4o-2024-08-06", requested="gpt-4o", filed="ours")
    assert filed == "ours-2024-08-06"
