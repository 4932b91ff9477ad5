"""An error is one line that a terminal shows as it is, whatever it quotes."""

import pytest

from reelbench.registry.errors import InputError, MediaError


@pytest.mark.parametrize("quoted", ["a\nb", "\x1b[2Ja\x07", "\u202etxet", "a\u2028b", "a\ud800", "a\x00b"])
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
