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


def faults_of(rule, questions):
    return [
        ([row.id for row in fault.rows], fault.what) for fault in result_of(rule, questions).faults
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
    assert faults_of("equal_options", questions) == [
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
    assert faults_of("two_answers", questions) == [(["a", "b"], "2 rows with 2 answers")]


def test_the_same_answer_twice_is_no_fault():
    questions = [choice("a", "red", "blue"), choice("b", "blue", "red", right=1)]
    assert faults_of("two_answers", questions) == []


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
    assert faults_of("two_answers", questions) == [
        (["a", "b", "c"], "3 rows with 2 answers"),
        (["d", "e"], "2 rows with 2 answers"),
    ]


def test_letters_out_of_balance():
    questions = [replace(question, right=(0,)) for question in made_set(seeded(1), 100)]
    first, second, *_ = result_of("letters", questions).measures
    assert (first.way.what, first.test.value, first.test.chance) == ("always A", 1.0, 0.25)
    assert first.is_finding
    # 20 draws without any B are no wonder: one of them is each video's.
    assert (second.way.what, second.test.value, second.is_finding) == ("always B", 0.0, False)


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
    (measure,) = result_of("longest_option", questions).measures
    assert (measure.test.value, measure.is_finding) == (1.0, True)
    assert len(measure.right_rows) == 100


def test_of_several_longest_options_each_counts_its_part():
    questions = [
        choice(f"q{number}", "aa", f"b{number % 10}", f"c{number % 10}", "d", video=f"v{number}")
        for number in range(30)
    ]
    (measure,) = result_of("longest_option", questions).measures
    assert measure.test.value == pytest.approx(1 / 3)
    assert measure.test.chance == pytest.approx(1 / 4)


def test_options_that_all_questions_share_say_nothing_by_their_length():
    questions = [
        choice(f"q{number}", "yes, it does", "no", video=f"v{number}", text=f"Is {number}?")
        for number in range(40)
    ]
    assert result_of("longest_option", questions).measures == ()
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
        part.way.what for part in result_of("odd_option", questions).measures if part.is_finding
    ]
    assert findings == [f"the odd one out by {name}"]
