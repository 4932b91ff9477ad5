"""A prompt that a server cut is told by its count of tokens, and no honest server is accused."""

import itertools
from dataclasses import dataclass

import pytest

from reelbench.base.attachment import Attachment
from reelbench.llm.prompt_counts import PromptCounts
from reelbench.llm.reply import Reply

QUESTIONS = 40
TOKENS_A_WORD = 4 / 3
TEMPLATE = 21
"""Tokens of a chat template."""


@dataclass(frozen=True)
class Sent:
    """A question as it was sent."""

    name: str
    video: str | None
    pictures: int
    text: str

    @property
    def text_tokens(self):
        return int(len(self.text.split()) * TOKENS_A_WORD)

    @property
    def messages(self):
        picture = Attachment("image_url", "image/jpeg", b"\xff\xd8")
        return [{"role": "user", "content": [picture] * self.pictures + [self.text]}]


def text(place, words):
    return " ".join(f"w{place}x{number}" for number in range(words))


# What is asked: five shapes of a benchmark.


def pictured(pictures, questions_a_video=1, words=lambda place: 20 + 7 * place % 60):
    return [
        Sent(str(place), f"v{place // questions_a_video}", pictures, text(place, words(place)))
        for place in range(QUESTIONS)
    ]


def with_subtitles():
    sent = []
    for place in range(QUESTIONS):
        video = place // 4
        subtitles = text(1000 + video, 700 + 180 * video)
        sent.append(Sent(str(place), f"v{video}", 8, f"{subtitles} {text(place, 12 + place)}"))
    return sent


def of_text_alone():
    rules = text(999, 300)
    return [
        Sent(str(place), None, 0, f"{rules} {text(place, 15 + place)}")
        for place in range(QUESTIONS)
    ]


SHAPES = {
    "32 frames": pictured(32),
    "one frame": pictured(1),
    "64 frames, ten questions a video": pictured(64, 10),
    "subtitles": with_subtitles(),
    "text alone": of_text_alone(),
    "one length": pictured(16, words=lambda _: 24),
}


# How honest servers count: pictures and text, and what they kept.


def counting(tokens_of_pictures, *, text_counts=True):
    def count(sent, _):
        tokens = tokens_of_pictures(sent.pictures)
        if text_counts:
            tokens += sent.text_tokens + TEMPLATE
        return tokens, None

    return count


def without_kept_beginnings(sent, earlier):
    """Count as Ollama did up to 0.2, and in 0.30.0: what was read now."""
    for other in reversed(earlier):
        if other.video == sent.video:
            words = zip(other.text.split(), sent.text.split(), strict=False)
            shared = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], words))
            return max(1, sent.text_tokens - int(shared * TOKENS_A_WORD)), None
    return 256 * sent.pictures + sent.text_tokens + TEMPLATE, None


def with_kept_ones_beside(sent, earlier):
    """Count as gateways to Anthropic do: what was kept has a count of its own."""
    tokens, _ = without_kept_beginnings(sent, earlier)
    return tokens, 256 * sent.pictures + sent.text_tokens + TEMPLATE - tokens


SERVERS = {
    "256 a picture": counting(lambda pictures: 256 * pictures),
    "one a picture": counting(lambda pictures: pictures),
    "16 x 16 patches": counting(lambda pictures: 196 * pictures),
    "a budget of pixels for all": counting(lambda pictures: 4096 if pictures else 0),
    "a budget of pixels, 2,048 at most": counting(lambda pictures: min(2048, 300 * pictures)),
    "a budget for each picture": counting(lambda pictures: 4096 // max(1, pictures) * pictures),
    "none": lambda *_: (0, None),
    "the text alone": counting(lambda _: 0),
    "without kept beginnings": without_kept_beginnings,
    "kept ones beside": with_kept_ones_beside,
    "one made-up number": lambda *_: (100, None),
}


def faults(sent_questions, count, *, seconds=2.0):
    """Return the faults of questions sent one after another, four at a time."""
    counts = PromptCounts()
    replies = []
    for place, sent in enumerate(sent_questions):
        tokens, kept = count(sent, sent_questions[:place])
        reply = Reply("A", "stop", "m", tokens, 5, "h", cached_tokens=kept, seconds=seconds)
        replies.append((sent, reply, 1000.0 + place))
    # Of four in flight the last is here first.
    for first in range(0, len(replies), 4):
        for sent, reply, at in reversed(replies[first : first + 4]):
            counts.note(sent.name, sent.messages, reply, at, sent.video)
    return counts.faults()


COMBINATIONS = [
    pytest.param(server, shape)
    for server in SERVERS
    for shape in SHAPES
    # Fewer tokens than pictures are those of a server that drops them.
    if not (server == "the text alone" and shape.startswith("64"))
]


@pytest.mark.parametrize(("server", "shape"), COMBINATIONS)
def test_no_honest_server_is_accused(server, shape):
    assert faults(SHAPES[shape], SERVERS[server]) == {}


def cut(window, left):
    def count(sent, _):
        tokens = 256 * sent.pictures + sent.text_tokens + TEMPLATE
        if tokens > window:
            tokens = left
        return tokens, None

    return count


@pytest.mark.parametrize("left", [4096, 2050, 4098, 2048])
@pytest.mark.parametrize("shape", ["32 frames", "64 frames, ten questions a video"])
def test_one_round_count_whatever_was_sent_is_a_cut(shape, left):
    assert set(faults(SHAPES[shape], cut(4096, left)).values()) == {"prompt_cut"}


def test_half_a_window_for_the_longest_prompts_alone_is_a_cut():
    # By hand: 8 x 256 and 21 and 4/3 a word leave 1,520 words for a window of 4,096.
    sent_questions = with_subtitles()
    long_ones = {sent.name for sent in sent_questions if len(sent.text.split()) > 1_520}
    assert 0 < len(long_ones) < len(sent_questions)
    assert faults(sent_questions, cut(4096, 2050)).keys() == long_ones


def test_more_words_than_tokens_is_a_cut():
    # A window whose halves are cut away in blocks, so that no two counts are alike.
    sent_questions = [
        Sent(str(place), None, 0, text(place, 5_000 + place)) for place in range(QUESTIONS)
    ]
    found = faults(sent_questions, lambda sent, _: (1_100 + int(sent.name), None))
    assert found == dict.fromkeys((sent.name for sent in sent_questions), "prompt_cut")


def test_fewer_tokens_than_pictures_is_said_of_the_first_and_not_of_what_was_kept():
    sent_questions = pictured(64, 4, words=lambda _: 20)
    found = faults(sent_questions, lambda *_: (20, None))
    assert found == dict.fromkeys((sent.name for sent in sent_questions), "media_not_seen")
    assert faults(sent_questions, without_kept_beginnings) == {}
