"""Numbers against hand work on a few rows."""

import pytest

from reelbench.base.errors import InputError
from reelbench.hub_cards import card_material, split_counts
from reelbench.registry import discovery


def grounded(number, video, question, *, span, category, duration=100.0):
    return {
        "id": str(number),
        "video": video,
        "question": question,
        "language": "en",
        "options": ["one two", "three"],
        "answer": "A" if span else "",
        "span": span,
        "duration": duration,
        "category": category,
        "source": "",
        "split": "val",
    }


ROWS = [
    grounded(1, "a", "Why  does he run?", span=[10.0, 30.0], category=["sequential"]),
    grounded(2, "a", "And then?", span=[0.0, 50.0], category=["cause-effect"]),
    grounded(3, "b", "What for?", span=[], category=[], duration=40.0),
]


def quantities(found):
    return {one.title: one for one in found.distributions}


def test_lengths_are_counted_in_their_units():
    found = split_counts.of_split(discovery.get("rextime"), ROWS)
    assert (found.rows, found.videos, found.answered) == (3, 2, 2)
    by_title = quantities(found)
    assert by_title["Words per question"].values == (2, 2, 4)
    assert by_title["Words per option"].values == (1, 1, 1, 2, 2, 2)
    assert by_title["Questions per video"].values == (1, 2)
    assert by_title["Length of the answer's span"].values == (20, 50)
    assert by_title["Length of the answer's span"].unit == "s"
    assert by_title["Span, as a share of the video"].values == (20, 50)
    assert by_title["Length of the video"].values == (40, 100), "a video counts once"
    assert "Characters per question" not in by_title


def test_labels_are_counted_per_question_in_the_order_of_a_closed_vocabulary():
    [category] = split_counts.of_split(discovery.get("rextime"), ROWS).labels
    assert category.counts == {"cause-effect": 1, "means-to-an-end": 0, "sequential": 1}
    assert list(category.counts) == ["cause-effect", "means-to-an-end", "sequential"]
    assert (category.labelled, category.rows) == (2, 3)


def test_an_open_vocabulary_is_ordered_by_count_and_a_double_label_counts_once():
    common = {
        "video": "v",
        "question": "Q",
        "language": "en",
        "answer": "A",
        "caption": "",
        "split": "test",
    }
    rows = [
        {"id": "1", **common, "classification": ["Theme", "Emotion", "Theme"]},
        {"id": "2", **common, "classification": ["Theme"]},
        {"id": "3", **common, "classification": ["Character"]},
    ]
    [found] = split_counts.of_split(discovery.get("moviecore"), rows).labels
    assert list(found.counts.items()) == [("Theme", 2), ("Character", 1), ("Emotion", 1)]


def test_scripts_without_spaces_are_measured_in_characters():
    common = {"video": "v", "answer": "二 つ", "locale": [], "category": [], "split": "test"}
    rows = [
        {"id": "1", "question": "何回 ですか", "language": "ja-JP", **common},
        {"id": "2", "question": "How often?", "language": "en-GB", **common},
    ]
    by_title = quantities(split_counts.of_split(discovery.get("curve"), rows))
    assert by_title["Characters per question"].values == (5,)
    assert by_title["Words per question"].values == (2,)
    assert by_title["Characters per answer"].values == (2,)


def test_labels_from_a_tags_file_are_counted():
    common = {
        "video": "v",
        "question": "Q",
        "language": "en",
        "options": ["a"] * 5,
        "answer": "A",
        "split": "val",
    }
    more = {"difficulty": ["1"], "video_type": "shot", "shots": [], "subtitles": ""}
    rows = [{"id": "7", **common, **more}, {"id": "8", **common, **more}]
    tags = {
        "7": {"target": ["Character", "Place"], "content": ["Identity"], "thinking": ["Recall"]}
    }
    spec = discovery.get("dramaqa_cogme")
    by_title = {one.title: one for one in split_counts.of_split(spec, rows, tags).labels}
    assert by_title["Target"].counts["Character"] == 1
    assert by_title["Target"].counts["Object"] == 0
    assert by_title["Thinking"].labelled == 1
    assert [one.title for one in split_counts.of_split(spec, rows).labels] == ["Difficulty"]


def test_a_folder_may_hold_some_of_the_splits_but_not_none(tmp_path):
    spec = discovery.get("moviecore")
    assert set(card_material.locate_splits(spec, spec.folder / "mini")) == {"test"}
    assert set(card_material.locate_splits(spec, None)) == set()
    with pytest.raises(InputError, match=r"expected train.json"):
        card_material.locate_splits(spec, tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        card_material.locate_splits(spec, tmp_path / "nowhere")


def test_a_file_is_the_split_that_has_its_name():
    spec = discovery.get("rextime")
    found = card_material.locate_splits(spec, spec.folder / "mini" / "rextime_test_release.json")
    assert set(found) == {"test"}
