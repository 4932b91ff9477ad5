"""Reading takes as many steps as the answer has characters: with twice the answer at most about twice as many.

A step is a character that a reader hands to one of its regular expressions: the whole window of a
search, of a match its length. It is the same on every machine, as no time is. What an expression
does within one such window isn't seen; that has an alarm of its own in `test_exact_match.py`.
"""

import re
from pathlib import Path
from types import ModuleType

import pytest

from reelbench.judges import parsing
from reelbench.llm import reading
from reelbench.scoring import exact_match
from reelbench.scoring.answers import patterns, reasoning, texts
from reelbench.scoring.answers import read_option as letter
from reelbench.scoring.answers import read_span as span

READERS = {
    "letter": lambda text: letter(
        text, ["He left because it is late", "She opened the door", "12 to 15 s"]
    ),
    "span": span,
    "exact_match": lambda text: exact_match.matches(text, "12", "hi-IN"),
    "reasoning": reasoning.strip_reasoning,
    "score": lambda text: parsing.parse_score(text, 0, 5, bare_integer=True),
    "dictionary": reading.last_dictionary,
}
REPEATED = (
    "\\boxed{I'm sorry ", "\\boxed{{12 ", "<answer>A or ", "<answer>12 ", '{"a": ', "[1, ", "(A) ", "the answer is A ",
    "from 1 to 2 ", "1:0", "12", "1.1", "1,", "starts at 3 ", 'end time "a" ', "He left because ", "<think>",
    "</think>", "<|channel|>final<", "~~a", "**", "a\u0300", "'a ", "\\", "option ", "not ", "\n", "\uFDFA ",
    "USER: ", "\nQuestion: ", "</s>", "<t0>", "<12> ", "A = 4 ", "\\frac{1", "(A) She ",
    "{", "[{", "{'a': ", '{"score": 1} ', '"', "```json\n", "<|end|>", "<|channel|>analysis<|message|>",
)  # fmt: skip
MOST = 2.2


class Counting:
    """A compiled expression that counts what it is given."""

    def __init__(self, pattern, count):
        self._pattern, self._count = pattern, count

    def __getattr__(self, name):
        value = getattr(self._pattern, name)
        if name not in {"search", "match", "fullmatch", "finditer", "findall", "sub", "split"}:
            return value

        def counted(*arguments, **named):
            given = arguments[name == "sub" :]
            start, end = given[1] if len(given) > 1 and name != "sub" else 0, len(given[0])
            result = value(*arguments, **named)
            if name in {"search", "match", "fullmatch"}:
                end = result.end() if result else end if name == "search" else start
            self._count[0] += max(1, end - start)
            return result

        return counted


def named():
    """The patterns that the readers name: each is compiled when it is first used."""
    readers = Path(patterns.__file__).parents[1].glob("**/*.py")
    return {
        name
        for file in readers
        for name in re.findall(r"\bpatterns\.([A-Z_]+)\b", file.read_text("utf-8"))
    }


def test_every_pattern_is_there_and_of_use():
    for name in named():
        assert isinstance(getattr(patterns, name), re.Pattern)
    with pytest.raises(AttributeError, match="NOT_ONE"):
        patterns.NOT_ONE  # noqa: B018
    folder = Path(patterns.__file__).parent
    written = (folder / "patterns.txt").read_text("utf-8")
    code = "".join(file.read_text("utf-8") for file in folder.glob("*.py"))
    for name in re.findall(r"^([A-Z_]+) = ", written, re.MULTILINE):
        referred = re.search(rf"\(\?&{name}[12]?\)", written)
        several = re.search(rf'"{name}"', code) or name.endswith("_WINDOW")
        assert name in named() or referred or several, name


@pytest.fixture
def steps(monkeypatch):
    """Count: how many steps a reader takes for a text."""
    count = [0]
    for name in named():
        getattr(patterns, name)
    for module in (patterns, exact_match, parsing, reading):
        assert isinstance(module, ModuleType)
        for name, value in list(vars(module).items()):
            if isinstance(value, re.Pattern):
                monkeypatch.setattr(module, name, Counting(value, count))

    def taken(read, text):
        count[0] = 0
        read(text)
        return count[0]

    return taken


@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize("reader", READERS)
def test_twice_the_answer_takes_at_most_about_twice_the_steps(reader, repeated, steps):
    short, long = (
        steps(READERS[reader], (repeated * size)[:size])
        for size in (texts.TAIL // 4, texts.TAIL // 2)
    )
    assert long <= MOST * short + 1_000


@pytest.mark.parametrize("reader", ["letter", "span", "exact_match"])
def test_beyond_a_stated_length_the_end_is_read(reader, steps):
    text = "The road goes on and on. " * 8_000 + "From 1 to 2 s. (A) 12"
    whole, end = (steps(READERS[reader], part) for part in (text, text[-texts.TAIL - 500 :]))
    assert whole - end <= 3 * len(text)  # for tags of reasoning, which may stand anywhere
