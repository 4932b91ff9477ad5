"""Which model answered, by the ids that servers return for the name that was asked for."""

import pytest

from reelbench.registry.model_ids import answering_ids, filed_id, other_ids


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


@pytest.mark.parametrize(
    ("returned", "filed"),
    [
        ("/home/ada/models/q.gguf", "q.gguf"),
        ("C:\\models\\q.gguf", "q.gguf"),
        ("~/q", "q"),
        ("org/model", "org/model"),
        ("m", "m"),
    ],
)
def test_a_path_is_filed_without_its_folders(returned, filed):
    assert filed_id(returned) == filed
