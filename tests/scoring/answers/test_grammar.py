"""Cut, collect, decide: what each step takes away, keeps apart and prefers; the texts are ours."""

import pytest

from reelbench.registry import discovery
from reelbench.scoring.answers import (
    Given,
    parse,
    parse_all,
    read_option,
    read_span,
    read_spans,
    reread,
)
from reelbench.scoring.answers.cut import CUTS
from reelbench.scoring.answers.decide import ORDER, stated_letter
from reelbench.scoring.answers.option_words import option_words

PETS = ("a dog", "a cat", "a fish", "a bird")
COLOURS = ("blue", "red", "green", "white")
COUNTS = ("2人", "3人", "4人", "5人")
ORDERS = ("(1)(2)(3)", "(2)(1)(3)", "(3)(1)(2)")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("We see a bird.", "D"),
        ("We see a bird. (C) a fish", "C"),
        ("C\n\nWe see it on the shelf. I choose B.", "B"),
        ("I choose B. It is small.\n\nC", "C"),
        ("Answer: A\nI choose B.\n\nC", "A"),
        ('Answer: A\n{"answer": "D"}', "D"),
        ("<answer>B</answer>\nAnswer: A", "B"),
        ("Answer: A\nAnswer: C", "C"),
        ("I choose B. No, I choose D.", "D"),
    ],
)
def test_the_first_form_in_the_order_decides_and_in_it_the_last(text, letter):
    assert read_option(text, PETS) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ('It purrs.\n\n```json\n{"correct_answer_key":"b"}\n```', "B"),
        ('It purrs. {"correctAnswerKey": "B"}', "B"),
        ('{"final_answer_text": "a cat", "confidence": 0.9}', "B"),
        ('{"answer_key": "b", "option_a": "a dog"}', "B"),
        # A key that holds no option is passed over.
        ('{"solution": "It purrs.", "selected_answer_letter": "B"}', "B"),
        ('{"answer_time": "0:03", "wrong_answer": "B"}', None),
        ('{"question_id": "b"}', None),
    ],
)
def test_a_key_of_an_answers_names_holds_the_answer(text, letter):
    assert read_option(text, PETS) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Bence doğru cevabın B seçeneği olduğunu düşünüyorum.", "B"),
        ("The wrong answer is: 2. a cat.", "B"),
        ("La respuesta incorrecta es: 2. a cat.", "B"),
        ("That answer is wrong: a cat.", None),
        ("A dog is too tall. So a cat (B) appears to be the appropriate choice.", "B"),
        ("A dog is small. A cat (B) is most similar to it.", "B"),
    ],
)
def test_an_answer_by_what_it_is_called(text, letter):
    assert read_option(text, PETS) == letter


def test_the_examples_of_the_order_are_of_their_forms():
    options = option_words(("because it rains", "because it is late"))
    for form in ORDER[:-1]:
        example = form.example.partition(", ")[0].replace("\\n", "\n")
        assert stated_letter(example, options, (form.name,)) == "B", form.name
    assert stated_letter(ORDER[-1].example, option_words(("3", "4")), (ORDER[-1].name,)) == "B"


def test_every_cut_takes_something_of_its_example():
    for step in CUTS:
        text = step.example.replace("\\n", "\n")
        assert step.apply(text) != text, step.name


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        *((f"Answer: {word}", ("True", word), "B") for word in ("False", "Never", "Nothing")),
        *((f"The answer is {word}.", ("True", word), "B") for word in ("Wrong", "Incorrect")),
        ("Answer: No, there is no dog.", ("Yes", "No"), "B"),
        ("There is no dog.", ("Yes", "No"), None),
        ("答案：否", ("Yes", "No"), "B"),
        ("Sí", ("Yes", "No"), "A"),
        ("Answer: None of the above", ("a dog", "None of the above"), "B"),
        ("Answer: None of the above is right.", PETS, None),
        ("视频中有3人。", COUNTS, "B"),
        ("画面に3人います。", COUNTS, "B"),
        ("The correct order is (2)(1)(3).", ORDERS, "B"),
        ("正确顺序是②①③", ORDERS, "B"),
        ("C) a cat rather than a dog", ("a dog", "a fish", "a cat rather than a dog"), "C"),
        ("B. Why is he late?", ("Who is he?", "Why is he late?"), "B"),
    ],
)
def test_an_option_is_read_by_its_own_kind(text, options, letter):
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("The solution is blue at the start.\n\nB", COLOURS, "B"),
        ("They pick a cat first. Then the girl picks a fish.\n\nD", PETS, "D"),
        ("The contestant's answer was B. The host said it was wrong.\n\nC", PETS, "C"),
        ("The host's answer was B.", PETS, None),
        ("The answer of the host is B.", PETS, None),
        ("他的答案是B。", PETS, None),
        ("They choose B.", PETS, None),
        ("Let's go with B.", PETS, "B"),
    ],
)
def test_an_answer_of_somebody_in_the_film_is_none(text, options, letter):
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The animal that is not shown is (C).", "C"),
        ("The incorrect statement is B.", "B"),
        ("The statement that is least likely is: A", "A"),
        ("错误的是B。", "B"),
        ("登場しない動物はCです。", "C"),
        ("Die falsche Aussage ist B.", "B"),
        ("El animal que no aparece es C.", "C"),
        ("The answer is not B.", None),
        ("La respuesta no es B.", None),
        ("A) a dog - wrong, it never appears.", None),
        ("I look at each option:\n\n**A) a dog**\n- This is incorrect.", None),
        ("Nobody barks, making A incorrect", None),
        ("The cat, on the other hand, is the best choice.", None),
        ("A cat, on the other hand, is the best choice.", "B"),
    ],
)
def test_a_denial_is_of_what_it_stands_by(text, letter):
    assert read_option(text, PETS) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The correct answer is **C**.\n\nWait, I need to provide only the letter.", "C"),
        ("The answer is C. Wait, that's wrong.", None),
        ("The answer is C. Wait, the dog leaves first.", None),
        ("B<eoa>\n<human>: Who barks?\n<bot>: C", "B"),
        ("<human>: Who barks, e.g. Answer: A? <bot>: C", "C"),
        ("Respuesta: B\n\nPregunta: ¿Quién se va?\nRespuesta: C", "B"),
        ("Answer: B\n\nWho leaves?\nAnswer: C", "B"),
        ("Answer: A? Is it dark?\nAnswer: B", "B"),
        ("H^+: 0.1\nC^4-: 0.2", None),
        ("A / B / C / D) B", "B"),
        ("A  / B / C / D) **B** \n", "B"),
        ("Answer: (A/B/C/D) **B**", "B"),
        ("(ক / খ / গ / ঘ) খ)", "B"),
        ("أ / ب / ج / د: ب", "B"),
        ("क/ख/ग/घ) a cat", "B"),
        ("A/B/C/D", None),
        ("- H/C: 0.7-1.0", None),
        (" reply:D", "D"),
        ('submit("B")', "B"),
        ("Action: Finish[B]", "B"),
        ("A) a dog - it barks " + "and barks " * 20 + "\n\nB) a cat sl...", None),
    ],
)
def test_what_is_no_answer_is_cut(text, letter):
    assert read_option(text, PETS) == letter


FORMULAS = (
    r"a=\omega x^{2}",
    r"a=-\omega^{2} x",
    r"a = \gamma x",
    r"\left ( \mu, 0 \right )",
    r"a=\omega^{2} x",
)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        (r"The answer is: a=-\omega^{2} x", "B"),
        (r"The answer is: a=\omega^{2} x", "E"),
        (r"a=\omega x^2", "A"),
        (r"So we get $a = \gamma x$.", "C"),
        (r"The answer is: a=\omega^{3} x", None),
        (r"The answer is \left(\mu, 0\right).", "D"),
        (r"The answer is \left(\gamma, 0\right).", None),
        (r"\[ a = 9 \]", None),
    ],
)
def test_formulas_in_latex_are_options(text, letter):
    assert read_option(text, FORMULAS) == letter


EFFECTS = ("decrease", "nobody knows", "stay the same", "increase")


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("The angle is 105°.", ("75°", "85°", "95°", "105°"), "D"),
        ("The angle measures 105 degrees.", ("75°", "85°", "95°", "105°"), "D"),
        ("The rope is approximately 2.5 long.", ("1", "2", "2.2", "2.5"), "D"),
        ("The edge has a length of 8.0.", ("10", "8", "6"), "B"),
        ("(F) 22√{2}\n(G) 23√{2}", ("1", "√{3}", "2√{2}"), None),  # no order of 2 and 2
        ("The order is 213.", ("(1)(2)(3)", "(2)(1)(3)"), "B"),
    ],
)
def test_numbers_are_equal_by_value(text, options, letter):
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The eels could increase or stay the same. A decrease of ferns matters.", None),
        ("They may decrease at first. What they do is increase.", "D"),
        ("The eels will increase.", "D"),
    ],
)
def test_beside_an_option_in_doubt_only_is_states_another(text, letter):
    assert read_option(text, EFFECTS) == letter


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What happens to the eels if the ferns die?", "If the ferns die, the eels decrease."),
        ("Wer frisst mehr, wenn es regnet?", "Wenn es regnet, dann: decrease."),
    ],
)
def test_a_condition_of_the_question_denies_no_answer(question, text):
    assert read_option(text, EFFECTS) is None
    assert read_option(text, EFFECTS, question=question) == "A"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The animal with the least fur and teeth is (C) a fish.", "C"),
        ("Die falsche Katze mit Hut und Schal ist C.", "C"),
        ("The wrong animal and the last one are not B.", None),
    ],
)
def test_a_denial_of_the_subject_reaches_over_and(text, letter):
    assert read_option(text, PETS) == letter


def test_what_repeats_the_question_is_no_answer():
    question = "Who barks at the door at night? Write it so: My answer would be A."
    text = "Who barks at the door at night? Write it so: My answer would be A.\nA cat does."
    assert read_option(text, PETS) == "A"
    assert read_option(text, PETS, question=question) == "B"
    assert read_option("My answer would be A.", PETS, question=question) == "A"
    # A question that lists its options takes none of them away.
    listed = f"{question} Choose A: {PETS[0]} as it is, or B: the old cat on the sofa."
    pets = [PETS[0], "the old cat on the sofa"]
    said = "The answer is B: the old cat on the sofa."
    assert read_option(said, pets, question=listed) == "B"
    spoken = "It happens from 3 s to 12 s in the film."
    assert read_span(f"{spoken}\n20 s to 31 s", question=spoken) == [20, 31]


@pytest.mark.parametrize("form", ["A: {}", "Answer: B: {}", "B. {}"])
def test_an_option_of_several_sentences_that_the_question_lists_is_said_again(form):
    options = ("It barks at the door. Then it sleeps.", "It purrs by the fire. Then it eats.")
    place = "B" in form
    listed = f"What does it do? A: {options[0]} B: {options[1]}"
    said = form.format(options[place])
    assert read_option(said, options, question=listed) == "AB"[place]


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: It never barks at the door.", "A"),
        ("它在门口从来不叫。", "C"),
        # Too short, no whole sentence, and what two options say.
        ("Answer: It sleeps.", None),
        ("Answer: It never barks", None),
        ("Answer: It purrs by the fire at night.", None),
    ],
)
def test_the_first_sentence_of_a_long_option_is_that_option(text, letter):
    options = (
        "It never barks at the door. It sleeps in the yard.",
        "It sleeps. Then it barks at the door of the house.",
        "它在门口从来不叫。它在院子里睡觉。",
        "It purrs by the fire at night. Then it eats.",
        "It purrs by the fire at night. Then it sleeps.",
    )
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    "text",
    [
        "It happens in 3.0 - 12.0, 20.0 - 31.0 seconds.",
        "It happens in 3 - 12 and 20 - 31 seconds.",
        "3 - 12 seconds, 20 - 31 seconds",
        "from 3 s to 12 s and from 20 s to 31 s",
        "0:03 - 0:12\n0:20 - 0:31",
        "[[3, 12], [20, 31]]",
        "```json\n[[3, 12], [20, 31]]\n```",
        "[3, 12], [20, 31]",
        '{"span": [3, 12]}\n{"span": [20, 31]}',
        '[{"start": 3, "end": 12}, {"start": 20, "end": 31}]',
        "The answer is 3 - 12 s and 20 - 31 s.",
        "<answer>3.0-12.0 20.0-31.0</answer>",
    ],
)
def test_several_ranges_follow_one_rule_in_whatever_they_stand(text):
    windows = [[3, 12], [20, 31]]
    readings = (read_span(text), read_span(text, rule="first"), read_spans(text))
    assert readings == (None, windows[0], windows)


def test_scoring_reads_an_answer_with_its_question():
    spec = discovery.get("rextime")
    question = "What happens next? Say for example: I choose B."
    text = "Say for example: I choose B.\nThe dog and a cat: [3, 9]"
    options = ["a man", "a woman", "a cat", "a child"]
    unaided = parse(spec, text, options)
    assert unaided
    assert unaided["answer"] == "B"
    assert parse(spec, text, options, question=question) == {"answer": "C", "span": [3, 9]}
    assert reread(spec, text, options, question=question)["answer"] == "C"
    [parsed] = parse_all(spec, [Given(text, options, question=question)])
    assert parsed
    assert parsed["answer"] == "C"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Cevap İ.", None),
        ("Doğru: İzmir İstanbul'a yakındır; cevap: İzmir", "B"),
        ("(B) İzmir", "B"),
    ],
)
def test_a_word_may_be_longer_in_small_letters(text, letter):
    """The small letter of İ is two signs, an i and its dot."""
    assert read_option(text, ["İstanbul", "İzmir", "Ankara"]) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("პასუხი: C", "C"),
        ("პასუხი: C\n\nეს წითელია.", "C"),
        ("ეს წითელია.\n\nსწორი პასუხი: C", "C"),
        ("ეს წითელია.\n\nპასუხი: C) a fish", "C"),
        ("პასუხი: C) წითელი\n\nავტორი: B. B. King", "C"),
        ("პასუხი: A\nპასუხი: C", None),
        ("პასუხი: A, C", None),
    ],
)
def test_a_head_of_an_unknown_language(text, letter):
    assert read_option(text, PETS) == letter


@pytest.mark.parametrize("text", ["Therefore, C6H6 is flat.", "So it is B12 that we see."])
def test_a_letter_that_a_number_hangs_on_is_a_symbol(text):
    assert read_option(text, PETS) is None


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("It grows, so t1 < t2 holds.", "B"),
        ("It sinks, so t1 > t2 holds.", "A"),
        ("We have t1 = t2 + 1 here.", None),
        ("x2\n1y, then we see", None),
    ],
)
def test_formulas_differ_by_their_signs(text, letter):
    assert read_option(text, ("t1 > t2", "t1 < t2", "√2 - 1")) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("What do we see?\nA. a dog", None),
        ("What do we see?\nB. a cat", "B"),
        ("It is small. " * 10 + "To see whether it is a bird, we take \\frac{0.17", None),
    ],
)
def test_what_breaks_off_states_nothing(text, letter):
    assert read_option(text, PETS) == letter


@pytest.mark.parametrize("letter", "ABCD")
def test_a_letter_before_its_noun_is_no_article(letter):
    for noun in ("seçeneğidir", "şıkkıdır", "variantıdır", "varianti"):
        assert read_option(f"Sonuç olarak {letter} {noun}.", PETS) == letter
