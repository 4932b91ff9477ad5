"""What others write has bounds, which are met before anything is computed, with both figures in the line."""

import json

import pytest

from reelbench.base import bounds
from reelbench.base.errors import InputError
from reelbench.base.workers import Workers
from reelbench.llm.ask_options import AskOptions
from reelbench.registry.declaration import declared_benchmark


def test_the_line_has_both_figures():
    bounds.hold("labels", 300, 300)
    with pytest.raises(InputError, match="labels: 1,301, and at most 300 are taken"):
        bounds.hold("labels", 1301, 300)


def test_no_user_starts_more_processes_or_calls_than_a_machine_bears():
    with pytest.raises(InputError, match="--workers: 3,000, and at most 256 are taken"):
        Workers(3000)
    with pytest.raises(InputError, match="-concurrency: 100,000, and at most 4,096 are taken"):
        AskOptions(model="a", concurrency=100_000)


@pytest.mark.parametrize("part", ["metrics", "facets", "tasks", "splits", "columns"])
def test_a_declaration_with_a_hundred_and_one_of_anything_is_refused_before_it_is_read(part):
    many = {str(number): {} for number in range(101)} if part == "splits" else [{}] * 101
    with pytest.raises(InputError, match=f"{part} of it: 101, and at most 100 are taken"):
        declared_benchmark(json.dumps({"id": "kitchen", part: many}))


def test_the_extent_of_a_value_counts_names_texts_and_entries():
    assert (
        bounds.extent({"ab": "cde", "f": [1, True, None, "g"], "": {}})
        == (1 + 2 + 3) + (1 + 1 + 4 + 1) + 1
    )
