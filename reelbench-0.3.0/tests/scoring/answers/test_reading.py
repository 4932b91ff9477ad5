"""Reading a letter and a span: the table of answers, and text that is hostile on purpose."""

import random
import tracemalloc

import pytest

from reelbench.llm.reading import UnreadableError
from reelbench.registry import discovery
from reelbench.scoring.answers import (
    LETTERS,
    flags,
    parse,
    past_reasoning,
    read_option,
    read_span,
    strip_reasoning,
)
from reelbench.scoring.answers.json_literals import Literal, find_literals
from reelbench.scoring.answers.options import ANSWER_KEYS
from reelbench.scoring.answers.spans import BOUNDS, SPAN_KEYS
from tests.scoring.answers.table import MISSED, ROWS, WHY

IDS = [f"{row.form}: {row.text[:40]!r}" for row in ROWS]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_an_answer_is_read_as_what_it_states(row):
    reading = (read_option(row.text, row.options), read_span(row.text))
    assert reading == ((None, None) if row.text in MISSED else (row.letter, row.span))


def test_at_most_two_in_a_hundred_are_missed():
    assert len(MISSED) <= 0.02 * sum(row.letter is not None or row.span is not None for row in ROWS)


# Written out: a key that is misspelt in the readers must not agree with itself.
OPTION_KEYS = (
    "answer", "option", "choice", "ans", "correct_option", "correct_answer", "final_answer", "letter",
    "selected_option",
    "correct_choice", "best_option", "best_answer", "predicted_answer", "prediction", "action_input", "答案", "答え",
    "回答", "정답", "답",
    "respuesta", "réponse", "antwort", "resposta", "ответ", "उत्तर", "الإجابة", "risposta", "jawaban", "คำตอบ",
    "cevap", "odpowiedź", "antwoord", "đáp án", "svar", "απάντηση", "відповідь", "پاسخ", "תשובה", "উত্তর", "பதில்",
    "సమాధానం", "ಉತ್ತರ",
)  # fmt: skip
WINDOW_KEYS = (
    "span", "relevant_span", "window", "time_span", "timestamps", "segment", "relevant_windows", "windows",
    "time", "times",
    "relevant_window", "interval", "time_interval", "time_range", "time_window", "timestamp", "range", "evidence_span",
    "evidence", "spans", "segments", "temporal_span", "clip", "moment", "temporal_window",
)  # fmt: skip
BOUND_KEYS = (
    ("start", "end"), ("start_time", "end_time"), ("from", "to"), ("begin", "end"), ("begin_time", "end_time"),
    ("start_sec", "end_sec"), ("start_seconds", "end_seconds"), ("start_s", "end_s"), ("t_start", "t_end"),
    ("start_timestamp", "end_timestamp"), ("beginning", "end"), ("starts", "ends"), ("time_start", "time_end"),
)  # fmt: skip


@pytest.mark.parametrize("key", OPTION_KEYS)
def test_a_key_that_names_the_answer(key):
    assert read_option(f'{{"{key}": "B", "reason": "A"}}', WHY) == "B"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ('{"answer": "B, from 3 to 10 seconds"}', "B"),
        ('A {"answer": "C, from 3 to 10 seconds"}', "C"),
        ('{"answer": "C: the dog runs from 3 to 10 seconds", "option": "A"}', "C"),
        ('{"answer": "from 3 to 10 seconds", "choice": "B"}', "B"),
        ("D \\boxed{C, from 3 to 10}", "C"),
        ("The answer is D, \\boxed{from 3 to 10 seconds}", "D"),
    ],
)
def test_only_what_is_a_span_and_nothing_else_is_no_letter(text, letter):
    assert read_option(text, ["A walk.", "A run.", "A jump.", "A fall."]) == letter


@pytest.mark.parametrize("key", WINDOW_KEYS)
def test_a_key_that_names_the_span(key):
    assert read_span(f'{{"{key}": [3, 12], "frames": [20, 30]}}') == [3, 12]


@pytest.mark.parametrize(("start", "end"), BOUND_KEYS)
def test_keys_that_name_start_and_end(start, end):
    assert read_span(f'{{"{start}": 3.5, "{end}": "0:12", "frames": [20, 30]}}') == [3.5, 12]


def test_no_key_is_without_a_test():
    assert (set(ANSWER_KEYS), set(SPAN_KEYS), set(BOUNDS)) == (
        set(OPTION_KEYS),
        set(WINDOW_KEYS),
        set(BOUND_KEYS),
    )


@pytest.mark.parametrize("at", range(26))
def test_every_letter_is_an_option_where_there_are_so_many(at):
    options = [f"the colour number {n}" for n in range(26)]
    letter = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[at]
    assert LETTERS[at] == letter
    assert read_option(f"({letter})", options) == letter
    assert read_option(f"The answer is ({letter}).", options) == letter
    assert read_option(f"The answer is ({letter}).", options[:at]) is None


class TestReasoning:
    @pytest.mark.parametrize(
        ("text", "rest"),
        [
            ("He smiles.", "He smiles."),
            ("<think>why</think>\nHe smiles.", "He smiles."),
            ("why\n</think>\n\nHe smiles.", "He smiles."),
            ("<think>a <think>b</think> c</think>He smiles.", "He smiles."),
            ("<think>a</think>He <think>b</think>smiles.", "He smiles."),
            ("◁think▷why◁/think▷He smiles.", "He smiles."),
            (
                "<|channel|>analysis<|message|>why<|end|><|channel|>final<|message|>He smiles.<|return|>",
                "He smiles.",
            ),
            ("<think>why", None),
            ("He smiles. <reasoning>because", None),
            ("<|channel|>analysis<|message|>why", None),
            ("I think he smiles < 3 times > 2", "I think he smiles < 3 times > 2"),
        ],
    )
    def test_what_is_left_is_the_answer(self, text, rest):
        assert strip_reasoning(text) == rest


HOSTILE = {
    "digits": "9" * 5_000,
    "a number of 310 digits in JSON": '{"span": ['
    + "9" * 310
    + ', 3], "answer": '
    + "9" * 310
    + "}",
    "a decimal of 5,000 digits": '{"start": 1.' + "9" * 5_000 + ', "end": 2e999999}',
    "not a number": '{"span": [NaN, Infinity]}',
    "deep lists": '{"span": ' + "[" * 50_000 + "]" * 50_000 + "}",
    "deep objects": '{"answer": ' * 20_000 + "1" + "}" * 20_000,
    "open objects": '{"answer": ' * 20_000,
    "surrogates": "\ud800 answer is \udfff \ud83d",
    "escaped surrogates": '{"answer": "\\ud800"}',
    "zeros": "\0" * 1_000,
    "open tags": "<answer>" * 10_000,
    "boxes": "\\boxed{" * 10_000,
    "reasoning": "<think>" * 20_000,
    "marks": "e" + "\u0315\u0300" * 20_000,
    "spaces": " " * 40_000 + "x",
    "spaces on a later line": "x\n" + " " * 15_000 + "y",
    "lines between ranges": "He walks from 1 to 2 s" + "\n" * 15_000 + "and runs from 3 to 4 s",
    "digits of many scripts": "".join(map(chr, range(0x660, 0x66A))) * 500 + "²³①",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_no_answer(text):
    assert read_option(text, WHY) is None
    assert read_span(text) is None


PIECES = (
    [row.text for row in ROWS]
    + list("{}[]()<>\"'\\/:,.;-–—~*_`|$^&%#@!?")
    + ["\n", "\ud800", "９", "\u0300", "<|", "</think>"]
)


@pytest.mark.parametrize("seed", range(20))
def test_any_text_gives_a_letter_a_span_or_nothing(seed):
    """Random cuts of the table's answers and of signs: never an error, never a letter beyond the options."""
    random_pieces = random.Random(seed)
    for _ in range(40):
        parts = random_pieces.choices(PIECES, k=random_pieces.randint(1, 8))
        text = "".join(
            part[random_pieces.randint(0, len(part)) :] if random_pieces.random() < 0.3 else part
            for part in parts
        )
        assert read_option(text, WHY) in ("A", "B", "C", "D", None)
        span = read_span(text)
        assert span is None or (len(span) == 2 and all(isinstance(part, float) for part in span))


def test_an_answer_behind_much_text_is_read_in_little_memory():
    text = (
        "He walks along the road and looks at the sea. " * 20_000
        + "\n\nThe answer is B, from 3 to 12 seconds."
    )
    tracemalloc.start()
    assert (read_option(text, WHY), read_span(text)) == ("B", [3, 12])
    assert tracemalloc.get_traced_memory()[1] < 100 << 20
    tracemalloc.stop()


def test_an_object_that_the_end_cuts_off_behind_a_whole_value_is_read():
    assert find_literals('{"answer": {"letter": "B"}') == [
        Literal({"letter": "B"}, 11, 26, nested=True),
        Literal({"answer": {"letter": "B"}}, 0, 26, nested=False),
    ]


@pytest.mark.parametrize("escape", ["\\n", "\\t", "\\r", "\\b", "\\f", "\\u0020", "\\ "])
def test_an_escape_in_an_object_is_the_sign_that_json_says(escape):
    options = ["a carp", "a heron in the reeds", "a heronbin the reeds", "a heronnin the reeds"]
    assert read_option(f'{{"answer": "a heron{escape}in the reeds"}}', options) == "B"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("不是A，而B", "B"),
        ("答案是A而B", "A"),
        ("不选A而选B", "B"),
        ("Die Antwort wäre B.", "B"),
        ("Wenn er rennt, wäre die Antwort B.", None),  # an answer to another question
        ("B wäre richtig, wenn er liefe.", None),
    ],
)
def test_but_and_would_be_in_other_languages(text, letter):
    assert read_option(text, WHY) == letter


def test_the_words_of_two_options_state_neither():
    assert (
        read_option("It is the red house.", ["The red house", "A tree", "the red house.", "A dog"])
        is None
    )


def test_what_has_no_unit_takes_the_others():
    assert read_span("It happens at 1 to 2 hours.") == [3600, 7200]


def test_minutes_may_stand_before_their_number():
    assert read_span("Menit 2 hingga menit 3") == [120, 180]
    assert read_span("Minuto 2 al minuto 3") == [120, 180]


def test_what_can_t_be_read_as_a_whole_is_read_once_more_without_its_reasoning():
    def number(reply):
        if not reply.isdigit():
            raise UnreadableError("no number")
        return int(reply)

    assert [past_reasoning(number)(reply) for reply in ("4", "<think>2, or 4?</think>4")] == [4, 4]
    for reply in (
        "four",
        "<think>4",
        "<think>4</think>four",
    ):  # nothing to leave out, nothing left, nothing there
        with pytest.raises(UnreadableError):
            past_reasoning(number)(reply)


def test_an_open_answer_is_read_without_its_reasoning():
    spec = discovery.get("moviecore")
    assert parse(spec, "<think>He is tired.</think>He left.", ()) == {"text": "He left."}
    assert parse(spec, "He left.", ()) is None
    assert parse(spec, "<think>He is", ()) == {"text": ""}
    assert [flags(text, parse(spec, text, ())) for text in ("He left.", " ", "<think>He is")] == [
        (),
        ("empty",),
        ("parse_failed",),
    ]


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Lincoln (B). The dog runs.", None),
        ("Hello (B)\nIt is dark.", None),
        ("(B)\nIt is dark.", "B"),
    ],
)
def test_a_bracketed_letter_behind_a_word_is_no_answer(text, letter):
    assert read_option(text, WHY) == letter


@pytest.mark.parametrize(
    "text",
    [
        "The answer is B. Maybe it rains.",
        "I choose B, which may be seen.",
        "B is correct (maybe it rains).",
        "The answer is B because it might rain.",
        "The answer is B\nMaybe it rains.",
    ],
)
def test_a_hedge_of_what_follows_is_none_of_the_answer(text):
    assert read_option(text, WHY) == "B"


@pytest.mark.parametrize(("spaces", "letter"), [(8, "B"), (9, "C")])
def test_boxes_within_boxes_are_read_until_they_hold_twice_the_text(spaces, letter):
    # 48 characters and the spaces. From the innermost the boxes hold 0, 7, 14, 21 and 30 characters
    # and the spaces, 112 = 2 x 56 with eight of them; with nine they hold 117, more than 2 x 57,
    # and the outermost is left out.
    text = "Answer: C. \\boxed{B " + "\\boxed{" * 4 + " " * spaces
    assert read_option(text, WHY) == letter


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("1 minute 30 to 2 minutes", [90, 120]),
        ("It happens from 1 minute 30 to 2 minutes 10.", [90, 130]),
        ("de 1 minute 30 à 2 minutes 10", [90, 130]),
        ("2m03 to 2m10.", [123, 130]),
        ("The start time is 1 minute 30; the end time is 2 minutes.", [90, 120]),
        ("From 1 to 2 minutes 3 people run.", [60, 120]),
        ("From 1 to 2 minutes\n3 people run.", [60, 120]),
    ],
)
def test_seconds_behind_minutes_may_lack_their_unit(text, span):
    assert read_span(text) == span
