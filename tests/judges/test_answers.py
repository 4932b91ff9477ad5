"""Reading an option and a span out of free text: every form that models are known to answer in."""

import pytest

from reelbench.judges.answers import read_option, read_span

OPTIONS = ["because it rains", "because it is late", "because it is late at night", "a walk in the park"]


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ('{"span": [1, 2], "answer": "B"}', "B"),
        ('```json\n{"relevant_span": [0, 4], "answer": "C"}\n```', "C"),
        ('{"answer": "(d)"}', "D"),
        ('{"answer": "because it rains"}', "A"),
        ('{"span": [1, 2], // the part that shows it\n "answer": "B"}', "B"),
        ("(B)", "B"),
        ("B.", "B"),
        ("B", "B"),
        ("b", "B"),
        ("**C**", "C"),
        ("B. because it is late", "B"),
        ("(C) because it is late at night", "C"),
        ("The answer is D.", "D"),
        ("Answer: (A)", "A"),
        ("My answer would be b.", "B"),
        ("From 3 to 12, so the right option is C", "C"),
        ("because it is late", "B"),
        ("I think it is because it is late at night.", "C"),
        ("It rains... (A), clearly", "A"),
        ('First I thought {"answer": "A"} but then {"answer": "D"}', "D"),
    ],
)
def test_an_option_is_read(text, letter):
    assert read_option(text, OPTIONS) == letter


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I can't tell.",
        "E",
        "(A) or (B)",
        "answer: A, no, answer: B",
        "It could answer a question.",
        '{"answer": 3}',
    ],
)
def test_no_option_is_guessed(text):
    assert read_option(text, OPTIONS) is None


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ('{"span": [3, 12.5], "answer": "B"}', [3, 12.5]),
        ('{"span": ["00:03", "01:12"]}', [3, 72]),
        ('{"relevant_windows": [[3, 12, 0.9], [1, 2, 0.1]]}', [3, 12]),
        ('{"start": "3s", "end": "12 seconds"}', [3, 12]),
        ('{"span": {"start": 3, "end": 12}}', [3, 12]),
        ('{"span": "3 - 12"}', [3, 12]),
        ("From 3 to 12, (B).", [3, 12]),
        ("from 3.5s to 12.25s", [3.5, 12.25]),
        ("From second 3 to second 12", [3, 12]),
        ("01:05 - 01:20", [65, 80]),
        ("From 0:01:05 to 1:00:00.5", [65, 3600.5]),
        ("[3, 12]", [3, 12]),
        ("between 3 and 12 seconds", [3, 12]),
        ("3–12", [3, 12]),
        ("From 12 to 3", [12, 3]),
        ("The video shows 1 - 2 cars. From 3 to 12 it rains.", [3, 12]),
    ],
)
def test_a_span_is_read(text, span):
    assert read_span(text) == span


@pytest.mark.parametrize(
    "text", ["", "B", "at second 3", "1-2 or maybe 5-6", '{"span": [3]}', '{"span": [true, false]}']
)
def test_no_span_is_guessed(text):
    assert read_span(text) is None
