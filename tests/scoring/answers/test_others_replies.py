"""Forms of models' replies that nobody here made, in words of our own: what states one answer, and what none."""

import pytest

from reelbench.scoring.answers import read_option, read_span

FOUR = ("a dog", "a cat", "a bird", "a fish")
YES_NO = ("Yes", "No")
LETTERS = ("A", "B", "C", "D")
COUNTS = ("2", "3", "4", "5")
TEN = tuple(f"thing {number}" for number in range(10))
VERBS = ("run", "jump", "wait", "stop")


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        # A full stop behind a number ends its sentence.
        ("He may come in at 0:15. The answer is B.", FOUR, "B"),
        ("It takes less than 12. The answer is B.", FOUR, "B"),
        ("It was not filmed in 1961. The answer is (C).", FOUR, "C"),
        ("If I count the cups there are 3. The answer is B.", FOUR, "B"),
        ("可能在0:15. 答案是B", FOUR, "B"),
        # The last words, or what says them again, name an option.
        ("The cage we have looked for is **option B**, which is: (small + (red) + (old))'", FOUR, "B"),
        ("The most suitable choice that correctly says it in words is **Option A**.", FOUR, "A"),
        ("Response: D) it swims", FOUR, "D"),
        ("Her response was B.", FOUR, None),
        # A small "e" before "o" is "and the".
        ("A resposta correta é D. A minha resposta e o gabarito diferem.", (*LETTERS, "E"), "D"),
        ("a o b", LETTERS, None),
        # A condition within what is asked for.
        ("What fits, if we use both for this, is (A).", FOUR, "A"),
        ("If we use both for this, it is (A).", FOUR, None),
        # A conclusion names an option by its letter and its words.
        ("All of them bark. Based on this, (B) a cat shares the style of the first.", FOUR, "B"),
        ("Therefore, (B) a cat is wrong here.", FOUR, None),
        ("Based on this, (B) a cat may be in it.", FOUR, None),
        # What is made up after an answer.
        ("B.\n\nQuestion: Who leaves?\nAnswer: C.", FOUR, "B"),
        ("The answer is B.\nHuman: and next?\nAI: The answer is C.", FOUR, "B"),
        ("B</s>USER: and next ASSISTANT: C", FOUR, "B"),
        ("B\n\nQ: more?\nA: C", FOUR, "B"),
        ("B<|im_end|>\n<|im_start|>user\nA or C?<|im_end|>\n<|im_start|>assistant\nC", FOUR, "B"),
        ("I cannot tell.\n\nQuestion: Who left?\nAnswer: C", FOUR, None),
        ("Question: Who left?\nAnswer: B", FOUR, "B"),
        ("Let me say it again:\nQuestion: Who left?\nAnswer: B", FOUR, "B"),
        ("Yes.\n\nIs she sad?\nAnswering with yes or no:\nSad.", YES_NO, "A"),
        ("No. The light fades. Is it dark?\nPlease answer yes or no:", YES_NO, "B"),
        # "No" before a noun, an article, the left side of an equation.
        ("I have no idea.", YES_NO, None),
        ("The clip has no sound, so I cannot tell.", YES_NO, None),
        ("There is no clear view of the man.", YES_NO, None),
        ("I would rather select no answer at all.", YES_NO, None),
        ("No, he does not.", YES_NO, "B"),
        ("no he stays", YES_NO, "B"),
        ("No, the steps are too short, which comes of a 2x speed setting.", YES_NO, "B"),
        ("No. This is from a 3D film.", YES_NO, "B"),
        ("a 3s to 5s", YES_NO, "A"),
        ("A person is seen; the answer cannot be determined.", LETTERS, None),
        ("Team a wins", LETTERS, None),
        ("The answer is C.", LETTERS, "C"),
        ("we get h = 2.0 W/m²", TEN, None),
        ("We get A = 7.", TEN, None),
        ("$E = 5 kg$ follows", TEN, None),
        ("The closest option is B, which is not the correct answer.", FOUR, None),
        ("The answer is B, which is shown clearly.", FOUR, "B"),
        # A letter, and in brackets why, where that is all; an article does not stand so.
        ("C (what the man holds up)", FOUR, "C"),
        ("b (they say so (twice) at 0:15).", FOUR, "B"),
        ("A (grey) animal is seen.", FOUR, None),
        ("C (I'm not sure of it)", FOUR, None),
        ("C (maybe)", FOUR, None),
        ("B (or C)", FOUR, None),
        ("C (what he holds)\nD (what she holds)", FOUR, None),
        # On the last line, unless the brackets rule it out.
        ("Let me see.\nC (what he holds)", FOUR, "C"),
        ("Let me see.\nB (wrong)", FOUR, None),
        ("The man\n\nC (incorrect).", FOUR, None),
        ("I think\nB (not a dog)", FOUR, None),
        ("I think\nB (unlikely)", FOUR, None),
        ("I think\nB (but see above)", FOUR, None),
        ("Cが最も可能性が高いです。", FOUR, "C"),
        ("Cの可能性があります。", FOUR, None),
        # Counts.
        ("There are 4 people in the video.", COUNTS, "C"),
        ("It is 4", COUNTS, "C"),
        ("Four", COUNTS, "C"),
        ("The number of cups is (C) 4.", COUNTS, "C"),
        ("The angle there is (B) 60°", ("30°", "60°", "90°"), "B"),
        ("I see 3 men and 2 women.", COUNTS, None),
        ("The video is 4 minutes long.", COUNTS, None),
        ("Option 4", COUNTS, None),
        ("There are 7 people.", COUNTS, None),
        ("The answer is 2.5", ("2", "4"), None),
        # Boxes and LaTeX.
        ("The correct answer is **(C).** So x is \\boxed{110^\\circ}", ("a b", "c d", "e f"), "C"),
        ("\\boxed{\\frac{2}{3}}", ("$\\frac{1}{3}$", "$\\frac{2}{3}$", "1"), "B"),
        ("\\boxed{9 km}", ("$5 km$", "$9 km$"), "B"),
        ("\\boxed{65}", ("$65 \\mathrm{~cm}^2$", "$13 \\mathrm{~cm}^2$"), "A"),
        ("\\boxed{-2\\pi}", ("$2$", "$-2\\pi$", "$\\pi$"), "B"),
        ("\\boxed{-2\\pi}", ("$2$", "$3$"), None),
        ("\\boxed{-2}", ("2", "4"), None),
        # An option's own words that look like something else.
        ("The answer is (C) wait.", VERBS, "C"),
        ("we cannot say that, and the right letter is (B) No.", YES_NO, "B"),
        ("The answer is (A) No, it will not grow back.", ("No, it stays.", "Yes, it grows."), "A"),
        ("Answer: (B) B > A", ("A > B", "B > A"), "B"),
        ("Answer: (C) B to A.", ("A to B.", "B to C.", "B to A."), "C"),
        ("the answer is (A) a dog or (B) a cat.", FOUR, None),
        # "is" before a letter with its words, whatever else is named.
        ("The likeliest guest is (D) a fish, also known as carp. A cat and a dog are seldom seen.", FOUR, "D"),
        ("It is a cat (B). A dog (A) and a bird (C) may also be there.", FOUR, "B"),
        ("Sentence B: The girl practices.\n\nSentence A is incorrect.", ("She swims.", "The girl practises."), "B"),
        ("The correct caption is:\n\n- Caption A: The man rolls.", ("The man rolls on.", "The man swims."), "A"),
        ("a dog, a cat and a bird are all there", FOUR, None),
        ("A dog.\nA cat.", FOUR, None),
        # A heading that says that there is none.
        ("选项B是正确的。\n【答案】无正确答案", FOUR, None),
        # The answer's own tag at the end closes a block of reasoning that nothing closes.
        ("<think>It looks like a fish. The\n<answer>D</answer>", FOUR, "D"),
        ("<think>I should use <answer>B</answer> for that, but first", FOUR, None),
        ("정답은 ②", FOUR, "B"),
    ],
)  # fmt: skip
def test_a_reply_is_read_as_what_it_states(text, options, letter):
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("B [20.238202947699822, 169.8839939864295]", [20.238202947699822, 169.8839939864295]),
        (f"A [{10 / 3!r}, {38 / 3!r}]", [10 / 3, 38 / 3]),
        ("From 20.2382029476 to 169.9", [20.2382029476, 169.9]),
        ("From <131> to <192>.", None),
        ("12″–24″", [12, 24]),
        ("12'' - 24''", [12, 24]),
        ("1′02″–1′10″", [62, 70]),
        ("It is at 10 seconds. Their saliency scores are 3.1, 3.1, 3.0, 2.9, 2.6", None),
        ("12.5 sec. to 24 sec.", [12.5, 24]),
        ("<time>12.5</time><time>24</time>", [12.5, 24]),
        ("12s\n24s", [12, 24]),
        ("12-25. saniyeler", [12, 25]),
        ("từ giây 12 đến giây 25", [12, 25]),
        ('{"00:23.00 - 00:48.00": "she runs"}', [23, 48]),
        ("from <t0><t0><t1><t2><tdot><t5> to <t0><t0><t2><t4><tdot><t0> seconds", [12.5, 24]),
        ("From <t0><t7>.<t1> to <t1><t2>.<t9>.", [7.1, 12.9]),
        ("from -3 to 5 seconds", None),
        ("The answer is 12 to 24.\nHuman: and next? AI: 30 to 40", [12, 24]),
    ],
)
def test_a_span_is_read_as_what_it_states(text, span):
    assert read_span(text) == span
