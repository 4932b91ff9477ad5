"""An error is one line that a terminal shows as it is, whatever it quotes."""

import pytest

from reelbench.base.errors import InputError, MediaError, visible


@pytest.mark.parametrize(
    "quoted", ["a\nb", "\x1b[2Ja\x07", "\u202etxet", "a\u2028b", "a\ud800", "a\x00b"]
)
def test_no_character_of_what_is_quoted_leaves_the_line(quoted):
    line = str(InputError(f"x.json: the id {quoted} is not known; name another"))
    assert line.isprintable()
    assert line.endswith("is not known; name another")
    line.encode()


def test_a_long_text_is_cut_in_its_middle():
    line = str(MediaError("film.mp4", "9" * 50_000 + "; is it complete?"))
    assert len(line) <= 1003
    assert line.startswith("film.mp4: 999")
    assert line.endswith("999; is it complete?")
    assert str(InputError("x" * 1000)) == "x" * 1000


def test_other_scripts_stay():
    assert str(InputError("答え.json: é “мир”")) == "答え.json: é “мир”"


UNSEEN = ["\u202e", "\u200b", "\u2066", "\x1b", "\u3164", "\u115f", "\u2800", "\u034f", "\ufe0f"]


@pytest.mark.parametrize("char", UNSEEN)
def test_what_is_shown_of_others_hides_no_character(char):
    assert visible(f"a{char}b") == f"a{ascii(char)[1:-1]}b"
    assert visible("答え é мир") == "答え é мир"
