"""Each rule on questions whose faults are known, by hand."""

from dataclasses import replace

import pytest

from reelbench.tasks.lint.linter import lint
from reelbench.tasks.lint.questions import Question
from tests.tasks.lint.made_questions import made_set, seeded


def result_of(rule, questions):
    for result in lint(questions):
        if result.rule.name == rule:
            return result
    raise AssertionError(rule)


def issues_of(rule, questions):
    return [
        ([row.id for row in issue.rows], issue.description + issue.answer_note)
        for issue in result_of(rule, questions).issues
    ]


def choice(name, *options, right=0, video="v", text="Which?", **further):
    return Question(
        id=name,
        split="test",
        videos=(video,),
        text=text,
        options=options,
        right=(right,),
        **further,
    )


def test_equal_options_are_named_by_their_letters():
    questions = [
        choice("a", "Red", "blue", " red "),
        choice("b", "red", "blue", "BLUE", "green"),
        choice("c", "x + y", "x - y", "x+y"),  # formulas differ by their signs, and by spaces
        choice("d", "rouge", "Straße", "STRASSE", right=2),
    ]
    assert issues_of("equal_options", questions) == [
        (["a"], "A = C, the right answer among them"),
        (["b"], "B = C"),
        (["d"], "B = C, the right answer among them"),
    ]


def test_one_question_with_two_answers():
    first = choice("a", "red", "blue")
    questions = [
        first,
        choice("b", "Blue", "Red", text=" which? "),  # another order, another answer
        choice("c", "red", "blue", video="w"),
        choice("d", "red", "green", right=1),
        replace(choice("e", "red", "blue", right=1), clip=(0.0, 5.0)),
        replace(choice("f", "red", "blue", right=1), split="val"),
        replace(choice("g", "red", "blue", right=1), language="fr"),
    ]
    assert issues_of("two_answers", questions) == [(["a", "b"], "2 rows with 2 answers")]


def test_the_same_answer_twice_is_no_fault():
    questions = [choice("a", "red", "blue"), choice("b", "blue", "red", right=1)]
    assert issues_of("two_answers", questions) == []


def test_words_and_spans_may_be_two_answers_too():
    words = Question(id="a", split="test", videos=("v",), text="Who?", answer="Ann.")
    span = Question(id="d", split="test", videos=("v",), text="When?", spans=((1.0, 2.0),))
    questions = [
        words,
        replace(words, id="b", answer="ann"),
        replace(words, id="c", answer="Ben"),
        span,
        replace(span, id="e", spans=((1.0, 3.0),)),
        replace(span, id="f", text="And when?", spans=()),  # hidden
    ]
    assert issues_of("two_answers", questions) == [
        (["a", "b", "c"], "3 rows with 2 answers"),
        (["d", "e"], "2 rows with 2 answers"),
    ]


def test_letters_out_of_balance():
    questions = [replace(question, right=(0,)) for question in made_set(seeded(1), 100)]
    first, second, *_ = result_of("letters", questions).shortcut_tests
    assert (first.shortcut.description, first.test.value, first.test.chance) == (
        "always A",
        1.0,
        0.25,
    )
    assert first.is_finding
    # 20 draws without any B are no wonder: one of them is each video's.
    assert (second.shortcut.description, second.test.value, second.is_finding) == (
        "always B",
        0.0,
        False,
    )


def test_one_letter_in_each_of_few_videos_is_no_finding():
    # 200 questions, all A: but on two videos, which may have been drawn so.
    questions = [
        replace(question, videos=(f"v{number % 2}",), right=(0,))
        for number, question in enumerate(made_set(seeded(1), 200))
    ]
    assert not result_of("letters", questions).findings


def test_the_longest_option():
    questions = []
    for number, question in enumerate(made_set(seeded(2), 100)):
        texts = [f"short {place} {number}" for place in range(4)]
        texts[question.right[0]] += " and longer"
        questions.append(replace(question, options=tuple(texts)))
    (shortcut_test,) = result_of("longest_option", questions).shortcut_tests
    assert (shortcut_test.test.value, shortcut_test.is_finding) == (1.0, True)
    assert len(shortcut_test.solved_questions) == 100


def test_of_several_longest_options_each_counts_its_part():
    questions = [
        choice(f"q{number}", "aa", f"b{number % 10}", f"c{number % 10}", "d", video=f"v{number}")
        for number in range(30)
    ]
    (shortcut_test,) = result_of("longest_option", questions).shortcut_tests
    assert shortcut_test.test.value == pytest.approx(1 / 3)
    assert shortcut_test.test.chance == pytest.approx(1 / 4)


def test_options_that_all_questions_share_say_nothing_by_their_length():
    questions = [
        choice(f"q{number}", "yes, it does", "no", video=f"v{number}", text=f"Is {number}?")
        for number in range(40)
    ]
    assert result_of("longest_option", questions).shortcut_tests == ()
    assert result_of("letters", questions).findings == 2


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("full stop", "a walk {}.", "a walk {}"),
        ("full stop", "散歩{}。", "散歩{}"),
        ("case", "A walk {}", "a walk {}"),
        ("case", "a walk {}", "A walk {}"),  # the only one without counts as well
        ("comma", "a, walk {}", "a walk {}"),
        ("digit", "walk 4 {}", "walk {}"),
    ],
)
def test_the_odd_one_out(name, right, wrong):
    questions = []
    for number, question in enumerate(made_set(seeded(3), 60)):
        letters = "klmnopqrst"
        ends = [letters[number % 10] + letters[number // 10] + letters[place] for place in range(4)]
        texts = [wrong.format(end) for end in ends]
        texts[question.right[0]] = right.format(ends[question.right[0]])
        questions.append(replace(question, options=tuple(texts)))
    findings = [
        part.shortcut.description
        for part in result_of("odd_option", questions).shortcut_tests
        if part.is_finding
    ]
    assert findings == [f"the odd one out by {name}"]


def span(name, *ends, video="v", **further):
    windows = tuple(zip(ends[::2], ends[1::2], strict=True))
    return Question(
        id=name, split="test", videos=(video,), text=f"When {name}?", spans=windows, **further
    )


def test_spans_behind_the_end_of_the_video():
    questions = [
        span("a", 10, 103, duration=100.0),  # within 2 % and a second
        span("b", 10, 103.5, duration=100.0),
        span("c", 10, 500),
        span("d", 1, 2, 90, 200, duration=100.0),
    ]
    assert issues_of("late_span", questions) == [
        (["b"], "ends at 103.5 s, and the video at 100 s"),
        (["d"], "ends at 200 s, and the video at 100 s"),
    ]


def test_spans_without_length():
    questions = [span("a", 4, 4), span("b", 4, 4.5), span("c", 1, 2, 7, 6)]
    assert issues_of("empty_span", questions) == [
        (["a"], "begins at 4 s and ends at 4 s"),
        (["c"], "begins at 7 s and ends at 6 s"),
    ]


def test_spans_that_are_the_whole_video():
    questions = [
        span("a", 0, 94, duration=100.0),
        span("b", 4, 99, duration=100.0),
        span("c", 0, 60, 50, 96, duration=100.0),  # together
        span("d", 0, 60, 0, 60, duration=100.0),
        span("e", 10, 20, duration=100.0, clip=(10.0, 20.0)),
        span("f", 0, 300, duration=100.0),  # something else is wrong
        span("g", 0, 100),
    ]
    assert issues_of("whole_span", questions) == [
        (["b"], "95 % of 100 s"),
        (["c"], "96 % of 100 s"),
        (["e"], "100 % of 10 s"),
    ]


def test_times_in_the_text_behind_the_end_of_the_video():
    texts = {
        "a": "What happens at 00:10 - 00:25?",
        "b": "What happens from 01:10 to 01:25?",
        "c": "It is 20:30 - 21:45 o'clock in the film",
        "d": "They lead 21:19. Who serves?",
        "e": "Between [00:01:00–00:02:10.5], who?",
    }
    questions = [
        choice(name, "red", f"blue {name}", text=text, duration=60.0)
        for name, text in texts.items()
    ]
    questions.append(choice("f", "0:05 - 0:09", "2:05 - 2:09", duration=60.0, text="When?"))
    assert issues_of("late_time", questions) == [
        (["b"], "the question names 85 s, and the video ends at 60 s"),
        (["e"], "the question names 130 s, and the video ends at 60 s"),
        (["f"], "option B names 129 s, and the video ends at 60 s"),
    ]


def test_lengths_of_one_video_that_differ():
    questions = [
        span("a", 1, 2, duration=60.0),
        span("b", 1, 2, duration=60.9),
        span("c", 1, 2, duration=75.5),
        span("d", 1, 2, duration=10.0, clip=(5.0, 15.0)),  # of the part that is shown
        span("e", 1, 2, duration=90.0, video="w"),
    ]
    assert issues_of("lengths", questions) == [
        (["a", "c"], "one video of 60 s and of 75.5 s"),
    ]


def test_questions_and_videos_in_two_splits():
    first = choice("a", "red", "blue")
    questions = [
        first,
        replace(first, id="b", split="train", options=("Blue", "Red", "green"), right=()),
        choice("c", "red", "blue", video="w"),
        choice("d", "red", "blue", video="x"),
        replace(choice("e", "red", "blue", video="x", text="Who?"), split="train"),
    ]
    assert issues_of("question_in_splits", questions) == [
        (["a", "b"], "the same question in test and train"),
    ]
    assert issues_of("video_in_splits", questions) == [
        (["a", "b"], "questions about one video in test and train"),
        (["d", "e"], "questions about one video in test and train"),
    ]


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("a\u200b red", "U+200B"),
        ("re\u00add", "U+00AD"),
        ("\ufeffred", "U+FEFF"),
        ("r\ufffdd", "U+FFFD"),
        ("r\x07d", "U+0007"),
        ("red\u200d", "U+200D"),
        ("Tom &amp; Ann", "&amp;"),
        ("it&#39;s", "&#39;"),
        ("caf\u00c3\u00a9", "UTF-8 read as Windows-1252"),
        ("it\u00e2\u20ac\u2122s", "UTF-8 read as Windows-1252"),
    ],
)
def test_odd_characters(text, description):
    question = choice("a", text, "blue")
    assert issues_of("odd_characters", [question]) == [(["a"], f"{description} in option A")]


@pytest.mark.parametrize(
    "text",
    [
        "café, naïve, Übergröße, NÃO",
        "“quoted” – ‘so’ …",
        "नमस्ते क्\u200dष",
        "می\u200cخواهم",
        "👩\u200d👩\u200d👧 family",
        "two\nlines\tand a tab",
        "R&D; AT&T",
        "映画、何？",
        "100 °C, ½ × ¾",
    ],
)
def test_characters_of_languages_are_not_odd(text):
    assert issues_of("odd_characters", [choice("a", text, "blue")]) == []


def test_one_answer_throughout_a_label():
    questions = []
    for number, question in enumerate(made_set(seeded(4), 350)):
        if question.labels == ("part: 3",):
            texts = ["Can't say", *question.options[1:]]
            question = replace(question, options=tuple(texts), right=(0,))  # noqa: PLW2901
        questions.append(replace(question, videos=(f"v{number}",)))
    (shortcut_test,) = result_of("constant_answer", questions).shortcut_tests
    assert shortcut_test.shortcut.description == "shared option 1 of 1 of part: 3"
    assert (shortcut_test.rows, shortcut_test.test.value, shortcut_test.test.chance) == (
        50,
        1.0,
        0.25,
    )
    assert shortcut_test.is_finding


def test_one_answer_in_words_throughout_a_label():
    questions = [
        Question(
            id=f"q{number}",
            split="test",
            videos=(f"v{number}",),
            text=f"Is {number}?",
            answer=f"No{'.' * (number % 2)}" if number == 7 else "No",
            labels=("part: yes or no",) if number < 30 else ("part: numbers",),
        )
        for number in range(30)
    ]
    questions += [
        replace(question, id=f"n{question.id}", answer=question.id, labels=("part: numbers",))
        for question in questions
    ]
    assert [description for _, description in issues_of("constant_answer", questions)] == [
        "29 of 30 questions of part: yes or no have one answer"
    ]
    on_one_video = [replace(question, videos=("v",)) for question in questions]
    assert issues_of("constant_answer", on_one_video) == []
