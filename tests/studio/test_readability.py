"""Readability and parse depth against sentences worked by hand."""

import json
import sys

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.profile import Extras, profile, read_file
from reelbench.studio.readability import (
    ParserUnavailableError,
    flesch_kincaid,
    load_parser,
    sentences,
    syllables,
    tree_depths,
    words,
)
from tests import spacy_models
from tests.alarms import one_pass


@pytest.fixture(scope="module")
def parser_folder(tmp_path_factory):
    pytest.importorskip("spacy", reason="spaCy is not installed (pip install 'reelbench[profile]')")
    return spacy_models.write_parser(tmp_path_factory.mktemp("spacy") / "parser")


# Syllables counted aloud: words, sentences, syllables -> 0.39 W/S + 11.8 Y/W - 15.59.
@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("The cat sat on the mat.", 0.39 * 6 + 11.8 * 6 / 6 - 15.59),  # -1.45
        ("Why does the woman forgive her brother?", 0.39 * 7 + 11.8 * 10 / 7 - 15.59),  # 4.00
        (
            "The detective hesitates. He remembers everything.",
            0.39 * 3 + 11.8 * 14 / 6 - 15.59,
        ),  # 13.11
        ("Yes", 0.39 + 11.8 - 15.59),  # -3.40, without a full stop
        (
            "Mr. Lee smiled at Mrs. Kay!",
            0.39 * 6 + 11.8 * 6 / 6 - 15.59,
        ),  # one sentence; a title is one syllable
    ],
)
def test_flesch_kincaid_of_hand_worked_sentences(text, grade):
    assert flesch_kincaid(text) == pytest.approx(grade)


@pytest.mark.parametrize("text", ["?" * 200_000 + "A", "\nMr." * 50_000 + " x", 'a."' * 70_000])
def test_sentences_of_a_long_text_are_counted_in_one_pass(text):
    with one_pass():
        assert sentences(text) == 1


@pytest.mark.parametrize("text", ["", "  ", "?!", "—"])
def test_a_text_without_words_has_no_grade(text):
    assert flesch_kincaid(text) is None


def test_words_keep_their_apostrophes_and_hyphens_and_lose_their_punctuation():
    assert words("The hero's well-known 2nd act — isn't it?") == [
        "The",
        "hero's",
        "well-known",
        "2nd",
        "act",
        "isn't",
        "it",
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three?", 3),
        ("No end", 1),
        ("He waits... and waits.", 2),
        ("He said “Go.” She went.", 2),
        ("See e.g. the end, i.e. the fall.", 1),
        ("J. K. Lee wrote it.", 1),
        ("It costs 3.50 now.", 1),
        ("Wait?!", 1),
    ],
)
def test_sentences(text, count):
    assert sentences(text) == count


@pytest.mark.parametrize(
    ("count", "some"),
    [
        (1, "the why moved walked scenes dance through eye does based"),
        (2, "people little wanted woman being playing dances movie quiet something table"),
        (3, "character narrative video audience area beautiful previous"),
        (4, "emotional relationship society experience usually situation"),
        (5, "psychological individual"),
    ],
)
def test_syllables_of_common_words(count, some):
    assert {word: syllables(word) for word in some.split()} == dict.fromkeys(some.split(), count)


def test_depth_follows_the_definition():
    # A leaf is 0; 0 <- 1 <- 2 is a chain of depth 2; two roots are two trees, in order.
    assert tree_depths([0]) == [0]
    assert tree_depths([1, 2, 2]) == [2]
    assert tree_depths([1, 1, 1, 4, 5, 5]) == [1, 2]
    assert tree_depths([]) == []


def test_a_long_chain_needs_no_deep_recursion():
    assert tree_depths([0, *range(2 * sys.getrecursionlimit())]) == [2 * sys.getrecursionlimit()]


def test_depth_of_sentences_drawn_by_hand(parser_folder):
    parser = load_parser(str(parser_folder))
    texts = [
        "It stopped.",
        "The square moved.",
        "She asked why the square moved?",
        "It stopped. The square moved.",
        "",
    ]
    # Several sentences: the mean over their roots.
    assert list(parser.depths(texts)) == [1.0, 2.0, 3.0, 1.5, None]
    assert parser.language == "en"


def test_a_profile_averages_the_depth_over_texts_and_sides(parser_folder, tmp_path):
    rows = [
        {"question": "The square moved.", "answer": "It stopped. The square moved."},
        {"question": "She asked why the square moved?", "answer": "It stopped."},
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    parser = load_parser(str(parser_folder))
    found = profile(read_file(tmp_path / "rows.jsonl"), Extras(parser=parser)).model_dump()
    assert found["parse_depth"] == {"question": 2.5, "answer": 1.25, "average": 1.875}
    assert found["made_with"]["parse_depth"] == parser.name


def test_the_environment_names_the_model(parser_folder, monkeypatch):
    monkeypatch.setenv("REELBENCH_SPACY_MODEL", str(parser_folder))
    assert load_parser().language == "en"


def test_a_folder_named_like_a_model_is_not_taken_for_it(parser_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "no_such_model_sm").symlink_to(parser_folder)
    with pytest.raises(ParserUnavailableError, match="finds no model no_such_model_sm"):
        load_parser("no_such_model_sm")
    assert load_parser("./no_such_model_sm").language == "en"


def test_a_missing_model_gives_the_command_that_installs_it():
    pytest.importorskip("spacy")
    with pytest.raises(ParserUnavailableError, match="python -m spacy download no_such_model_sm"):
        load_parser("no_such_model_sm")


def test_missing_spacy_gives_the_command_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(ParserUnavailableError, match=r"pip install '\.\[profile\]'"):
        load_parser()


def test_a_model_without_a_parser_is_refused(tmp_path):
    spacy = pytest.importorskip("spacy")
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(InputError, match="no dependency parser"):
        load_parser(str(tmp_path / "blank"))
