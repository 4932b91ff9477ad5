"""Every form reads every letter, in either case, with every space and dash; and a span behind anybody's sentence."""

import json
import re
import unicodedata

import pytest

from reelbench.scoring.answers import read_option, read_span
from tests.scoring.answers.table import MISSED, ROWS

LETTERS = "ABCDEFGHIJ"
# Ten options that share no word with the templates.
OPTIONS = tuple(
    f"{colour} kites"
    for colour in (
        "red",
        "blue",
        "green",
        "white",
        "black",
        "pink",
        "grey",
        "brown",
        "violet",
        "amber",
    )
)
TEMPLATES = (
    *(
        "{}",
        "{}.",
        "({})",
        "[{}]",
        "**{}**",
        "{})",
        "`{}`",
        "“{}”",
        "Option {}",
        "option: {}",
        "Option: {}",
    ),
    *(
        "Answer: {}",
        "Answer: {}.",
        "answer:{}",
        "Answer {}",
        "ANSWER - {}",
        "Answer → {}",
        "Final answer\n\n{}",
    ),
    *(
        "Answer: {} from 1 to 4",
        "The answer is {} from 1s to 4s.",
        "Option {} from 1 to 4",
        "**{}** from 1 to 4",
    ),
    *(
        "I pick {} for this.",
        "Final answer: {} in the interval 1 s to 4 s",
        "I choose {} because it is dark.",
    ),
    *(
        "Answer: {} between 1 and 4",
        "Answer: {} at 0:01 - 0:04",
        "Answer: {} during 1-4 s",
        "{} from 1 to 4",
    ),
    *(
        "The answer is {}, as it is dark.",
        "The answer is {} as it is dark.",
        "The answer is {} since it is dark.",
    ),
    *(
        "The correct option is {} and it happens from 1 to 4.",
        "So the answer is {} with the span [1, 4].",
    ),
    *(
        "Therefore, {}.",
        "Therefore, the correct answer is {}.",
        "It turns out that the correct answer is {}.",
    ),
    *(
        "{} is correct.",
        "{} is the best answer.",
        "I'd go with {}.",
        "My choice is {} (from 1 to 4).",
    ),
    *(
        "<answer>{}</answer>",
        "\\boxed{{{}}}",
        '{{"answer": "{}", "span": [1, 4]}}',
        "{{'option': '{}'}}",
    ),
    *(
        "<answer>{} from 1 to 4</answer>",
        '{{"answer": "{} from 1 to 4"}}',
        "{} [1, 4]",
        "[1, 4] {}",
        "{} 0:01-0:04",
    ),
    *(
        "【答案】{}",
        "【Answer】{}",
        "[정답] {}",
        "(Answer) {}",
        "[الإجابة] {}",
        "[उत्तर] {}",
        "【正解】：{}",
        "【回答】\n{}",
    ),
    *(
        "A: {}",
        "Q: Why?\nA: {}",
        "A: ({})",
        "\\boxed{{42}}.\n\nAnswer: {}",
        "<answer>unclear</answer>\nAnswer: {}",
    ),
    *(
        "答案是{}",
        "选{}",
        "答えは{}です。",
        "정답은 {}입니다.",
        "Respuesta: {}",
        "La respuesta es {}.",
        "Réponse : {}",
    ),
    *(
        "Antwort: {}",
        "Resposta: {}",
        "Ответ: {}",
        "उत्तर: {}",
        "الإجابة: {}",
        "Risposta: {}",
        "Jawaban: {}",
        "คำตอบ: {}",
    ),
    *(
        "Caption {}",
        "Sentence {}.",
        "**Statement {}**",
        "Image ({})",
        "Answer choice {}",
        "Choice {}",
    ),
    *(
        "The answer is caption {}.",
        "I choose Sentence {}.",
        "Answer: Statement {}",
        "It is night.\n\nAnswer: Image {}",
    ),
    *("Caption {}\nThe sky is dark in it.", "The sky is dark.\nSo the right one is caption {}."),
    *(
        "{}입니다. 하늘이 어둡습니다.",
        "하늘이 어둡다. 따라서 {}번입니다.",
        "{}번이에요.",
        "{}예요.",
        "{}다.",
    ),
    *("정답은 {}다", "답은 {}임", "句子{}", "문장 {}", "選択肢{}になります。空が暗い。"),
    *("{}です。空が暗いから。", "空が暗い。したがって{}です。", "{}だ。", "よって{}だ"),
    *(
        "是{}，因为天黑了。",
        "我觉得是{}。",
        "我认为是{}",
        "我認為是{}。",
        "Es la {}, porque es de noche.",
    ),
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_form_reads_every_letter_in_either_case(template):
    readings = {(letter, case(letter)): read_option(template.format(case(letter)), OPTIONS)
                for letter in LETTERS for case in (str.upper, str.lower)}  # fmt: skip
    assert readings == {key: key[0] for key in readings}


_ALONE = re.compile(r"(?<![^\W_])[A-E](?![^\W_])(?!['’])")


def _templates():
    """Answers of the table that hold their own letter and no other: in each, any letter may stand."""
    for row in ROWS:
        letters = set(_ALONE.findall(row.text))
        if row.letter and letters == {row.letter} and row.text not in MISSED:
            yield row


def test_an_answer_of_the_table_reads_the_same_with_any_letter():
    """The options turn with the letter, so that own words stay its own."""
    misread = []
    for row in _templates():
        shift = ord(row.letter) - ord("A")
        options = (*row.options, "something else entirely")[:5]
        for at, letter in enumerate("ABCDE"[: len(options)]):
            turned = list(options)
            turned[shift], turned[at] = turned[at], turned[shift]
            text = _ALONE.sub(letter, row.text)
            if read_option(text, turned) != letter:
                misread.append((text, letter))
        if read_option(row.text, options) != row.letter:
            misread.append((row.text, row.letter))
    assert misread == []


SPACES = [chr(at) for at in range(0x3001) if unicodedata.category(chr(at)) == "Zs"] + [
    "\t",
    "\v",
    "\f",
]
DASHES = [chr(at) for at in (0x2D, *range(0x2010, 0x2016), 0x2212, 0xFE58, 0xFE63, 0xFF0D)] + list(
    "~〜～"
)
SPANS = (
    *(
        "from 3 s to 12 s",
        "3 seconds to 12 seconds",
        "[3, 12]",
        "0:03 - 0:12",
        "The span is 3 - 12 .",
        "from 3 to 12",
    ),
    *(
        "1 min 5 s - 1 min 30 s",
        "B [3, 12]",
        "start: 3 s, end: 12 s",
        "du 3 s au 12 s",
        "3 秒 - 12 秒",
    ),
)


@pytest.mark.parametrize("text", SPANS)
def test_every_space_separates(text):
    span = read_span(text)
    assert span is not None
    spans = {space: read_span(text.replace(" ", space)) for space in SPACES}
    assert spans == dict.fromkeys(SPACES, span)
    letters = {space: read_option(f"Answer:{space}B{space}{text}", OPTIONS) for space in SPACES}
    assert letters == dict.fromkeys(SPACES, "B")


@pytest.mark.parametrize(
    "text", ["3{}12", "3 s {} 12 s", "[3 {} 12]", "0:03{}0:12", "B, 3 {} 12 s", "3.0s{}12.0s."]
)
def test_every_dash_separates(text):
    spans = {dash: read_span(text.format(dash)) for dash in DASHES}
    assert spans == {dash: [3, 12] for dash in DASHES}


@pytest.mark.parametrize("text", ["Answer {} C", "C {} green kites"])
def test_a_letter_beside_any_dash_is_read(text):
    letters = {dash: read_option(text.format(dash), OPTIONS) for dash in DASHES[:-3]}
    assert letters == dict.fromkeys(DASHES[:-3], "C")


@pytest.mark.parametrize(
    "text", ["1'05\" - 1'30\"", "1′05″ – 1′30″", "1’05” to 1’30”", "1′05″ to 1′30″"]
)
def test_primes_are_minutes_and_seconds(text):
    assert read_span(text) == [65, 90]


STATED = {
    " from 12.0s to 20.5s.": [12, 20.5],
    " [12.0, 20.5]": [12, 20.5],
    " 0:12 - 0:20": [12, 20],
    " (12.0–20.5 seconds)": [12, 20.5],
}
# Events in whose words a span was lost: rooms, people, floors, weights, scores; another, out, over,
# not, either.
EVENTS = (
    *(
        "The people talk",
        "He enters the room",
        "(B) He is not happy",
        "The person looks out",
        "She falls to the floor",
    ),
    *(
        "Another woman joins another man",
        "He lifts the weight over his head and can't hold it",
        "They win the game",
    ),
    *(
        "She takes three steps, and nothing is wrong",
        "He shows a score of 3 to 2",
        "He climbs over and out of the frame",
    ),
    *(
        "The dog jumps in and goes up the stairs again",
        "He waits for another one",
        "She never looks at the camera",
    ),
    *(
        "Why is he unable to rate the page",
        "The man could maybe leave if he tried",
        "The lead changes in the 4th level",
    ),
)


@pytest.mark.parametrize("form", STATED)
@pytest.mark.parametrize("event", EVENTS)
def test_an_explicit_range_is_a_time_whatever_stands_before(event, form):
    assert read_span(event + form) == STATED[form]


@pytest.mark.parametrize(
    "text",
    [
        "Not from 3 s to 12 s.",
        "It is not [3, 12].",
        "It is not in the segment from 3 s to 12 s.",
        "Perhaps from 0:03 to 0:12.",
        "The event might be from 3 s to 12 s.",
        "The answer isn't 0:03 - 0:12.",
        "I don't think that it is from 3 s to 12 s.",
        "It doesn't happen between 3 s and 12 s.",
        "rather than [3, 12]",
        "No es de 3 s a 12 s.",
        "Ce n'est pas de 3 s à 12 s.",
        "不是3秒到12秒",
        "He waits another 3 to 12 seconds.",
        "frames [3, 12]",
        "confidence: [0.3, 0.9]",
        "The score is 3:2 to 4:2.",
    ],
)
def test_what_is_denied_or_no_time_is_no_span(text):
    assert read_span(text) is None


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("[[3, 12], [20, 31]]", None),
        ("[3, 12], [20, 31]", None),
        ('{"spans": [[3, 12], [20, 31]]}', None),
        ("He walks from 3 s to 12 s and runs from 20 s to 31 s.", None),
        ("He walks from 3 s to 12 s, runs from 20 s to 31 s and rests from 40 s to 50 s.", None),
        ("0:03-0:12, 0:20-0:31, 0:40-0:50", None),
        ("He walks from 3 s to 12 s. The answer is 20 s to 31 s.", [20, 31]),
        (
            "He walks from 3 s to 12 s, runs from 20 s to 31 s. So the relevant segment is 0:40 - 0:50.",
            [40, 50],
        ),
        ("He walks from 3 s to 12 s. In short: from 3 s to 12 s.", [3, 12]),
    ],
)
def test_of_several_windows_only_a_stated_one(text, span):
    assert read_span(text) == span


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("It happens in the first 10 seconds.", [0, 10]),
        ("within the first 2 minutes", [0, 120]),
        ("from the beginning to 0:10", [0, 10]),
        ("From the start of the video until 10 s.", [0, 10]),
        ("until the 10th second", [0, 10]),
        ("The first 3 people leave.", None),
        ('{"span": "unknown"}\nThe segment is 3 s to 12 s.', [3, 12]),
        ('{"span": "unknown"}\nHe walks for 3 to 12 s.', None),
        ("The person walks in the room from 3.2 to 9.5.", [3.2, 9.5]),
        ("The room is 3 to 12.", None),
        ("There is no moment from 3 s to 9 s.", None),
    ],
)
def test_a_span_from_the_beginning(text, span):
    assert read_span(text) == span


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: A, D", None),
        ("Answer: a, d", None),
        ("answer: b and c", None),
        ("Answer: B. blue kites and C. green kites", None),
        ("Answer: b. blue kites and c. green kites", None),
        ("a, d", None),
        ("(A) red kites (B) blue kites (C) green kites (D) white kites", None),
        ("A. red kites B. blue kites C. green kites D. white kites", None),
        ("(A) red kites (B) blue kites (C) green kites (D) white kites\nAnswer: C", "C"),
        ("所以D选项是正确的。\n【答案】C", "C"),
        ("The answer is D.\n【Answer】C", "C"),
        ("【答案】C\n【解析】A错误，B正确地描述了他。", "C"),
        ("Answer: C\nExplanation: B is correct about the sky.", "C"),
        ("\\boxed{42}.\n\nAnswer: B", "B"),
        ("\\boxed{42}.\n\nIt rains.", None),
        ("<answer>unclear</answer>", None),
        ("<think>a <think>b A</think><answer>B</answer>", "B"),
        ("<think>A</think>B<think>or C", None),
        ("A is out, so the answer is B.", "B"),
        ("A: no", None),
        ("A. red kites are not shown. B. blue kites are shown.", None),
        ('{"answer": "none"}\nThe answer is B.', "B"),
        ("The man does not leave and the answer is B.", "B"),
        ("It is not the case that the answer is B.", None),
    ],
)
def test_two_letters_are_none_and_what_is_explicit_and_later_counts(text, letter):
    assert read_option(text, OPTIONS[:4]) == letter


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("Answer: (B) 8", ("6", "8", "10"), "B"),
        ("(B) 8", ("6", "8", "10"), "B"),
        ("The answer is 8.", ("6", "8", "10"), "B"),
        ("\\boxed{8}", ("6", "8", "10"), "B"),
        ("(A) C", ("C", "A", "B"), "A"),
        ("Answer: (A) C", ("C", "A", "B"), "A"),
        ("A: C", ("C", "A", "B"), "A"),
        ("Answer: (B) 6", ("6", "8", "10"), None),
        ("Answer: A walk in the park", ("a swim", "a walk in the park"), "B"),
        ("The answer is A man.", ("red", "blue"), None),
        ("A man walks from 1 to 4.", ("red", "blue"), None),
        ("A car passes by.", ("red", "blue"), None),
    ],
)
def test_options_that_are_letters_or_numbers(text, options, letter):
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("Image B", ("Image B", "Image A"), "A"),
        ("The answer is image B.", ("only image B", "Image A"), None),
        (
            "Best:\n\nCaption B: red kites.\n\nThe other one, blue kites, is wrong.",
            ("blue kites", "red kites"),
            "B",
        ),
        ("Image A shows a cat.", OPTIONS[:4], None),
        ("Image A: a cat on a mat.", OPTIONS[:4], None),
        ("Sentence A man walks.", OPTIONS[:4], None),
        ("The video A", OPTIONS[:4], None),
        ("Vitamin C", OPTIONS[:4], None),
        ("Caption A\nCaption B", OPTIONS[:4], None),
        ("Caption A or Caption B", OPTIONS[:4], None),
        ("The answer is not caption A.", OPTIONS[:4], None),
        ("I support statement B or statement C.", OPTIONS[:4], None),
        ("The answer is: image A, image B", OPTIONS[:4], None),
        ("Caption A is wrong.", OPTIONS[:4], None),
        ("A, B입니다", OPTIONS[:4], None),
        ("B가 아닙니다.", OPTIONS[:4], None),
        ("그는 B다운 사람이다.", OPTIONS[:4], None),
        ("그의 혈액형은 B다.", OPTIONS[:4], None),
        ("따라서 B는", OPTIONS[:4], None),
        ("B입니까?", OPTIONS[:4], None),
        ("Bだった", OPTIONS[:4], None),
        ("Bではない。", OPTIONS[:4], None),
        ("是B还是C？", OPTIONS[:4], None),
        ("我不认为是B。", OPTIONS[:4], None),
        ("So B is", OPTIONS[:4], None),
    ],
)
def test_a_noun_or_an_is_beside_a_letter(text, options, letter):
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    ("text", "span"),
    [
        (
            "The start time of the scene from the clip above is 0:04 and the end time is 0:09.",
            [4, 9],
        ),
        (
            'The start time of "He runs. Then he falls! Why?" is 3.0s and its end time is 9.0s.',
            [3, 9],
        ),
        (
            "The start time is about 0:00:04 (4 seconds in) and the end time is about 0:00:09 (9 seconds in).",
            [4, 9],
        ),
        (
            "The start time is 4 s, when 2 men meet. They talk; he laughs! The end time is 9 s.",
            [4, 9],
        ),
        (
            "The end time is 9 s, after 2 men have met; one of them laughs! The start time is 4 s.",
            [4, 9],
        ),
        (
            (
                "It happens at the 0:20 mark. He cries, and nobody comes; not his brother, nor any of the others in "
                "that house. The end time of this scene is at 0:25."
            ),
            [20, 25],
        ),
        ("开始时间是0:03，有2个人。结束时间是0:12。", [3, 12]),
        ("El tiempo de inicio es 0:03. Hay 2 hombres. El tiempo final es 0:12.", [3, 12]),
        ("The start time is about 0:00 - 0:03 and the end time is about 0:06 - 0:09.", None),
        ("Start time: 0:00 to 0:03\nEnd time: 0:09", None),
        ("The start time is 0:02 and the end time is between 0:06 and 0:09.", None),
        ("The start time is 0:02 and the end time is 0:06 to 0:09.", None),
        (
            "The start time is 0:00-0:03, the end time is 0:06-0:09. So the span is 0:01 - 0:08.",
            [1, 8],
        ),
        ("Start time and end time: 0:03 - 0:12", [3, 12]),
        ("End time: 0:03 - 0:12", [3, 12]),
        ("It happens at 0:15 - 0:20. The end time is 0:20.", [15, 20]),
        ("It happens at 0:15 and happens at 0:30. The end time is 0:40.", None),
        (
            "The start time is 3 s. There are 2 men. Another start time is 8 s; they go! The end time is 12 s.",
            None,
        ),
        ("The start time is 0:03.", None),
        ("It is shown at 0:05 and its end time isn't 0:12.", None),
        ("The start time of clip 2 is 0:03; the end time of clip 2 is 0:12!", None),
        ("The end time is 0:12.", None),
        ("The start time is 10% and the end time is 20%.", None),
    ],
)
def test_a_start_and_an_end_each_one_moment(text, span):
    assert read_span(text) == span


@pytest.mark.parametrize(
    ("name", "field"), [("rextime_val.jsonl", "query"), ("moviecore_test.json", "answer")]
)
@pytest.mark.parametrize("form", STATED)
def test_a_span_behind_the_owners_sentences_is_read(shared_data, name, field, form):
    """Queries of ReXTime and answers of MovieCORE without digits, with and without the sentence's end."""
    text = (shared_data / name).read_text(encoding="utf-8")
    if name.endswith("l"):
        rows = [json.loads(line) for line in text.splitlines()]
    else:
        rows = [
            row
            for rows in json.loads(text).values()
            for row in (rows if isinstance(rows, list) else [rows])
        ]
    sentences = [row[field].strip() for row in rows]
    sentences = [
        sentence
        for sentence in sentences
        if name.startswith("rextime") or not re.search(r"\d", sentence)
    ]
    assert len(sentences) > 800
    told = [sentence + form for sentence in sentences] + [
        sentence.rstrip(".!?") + form for sentence in sentences
    ]
    assert [text for text in told if read_span(text) != STATED[form]] == []


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("frames 30–90", [1.2, 3.6]),
        ("It happens from frame 30 to frame 90.", [1.2, 3.6]),
        ('{"start_frame": 30, "end_frame": 90}', [1.2, 3.6]),
        ("0.1–0.4 of the video", [3, 12]),
        ("The answer is B. It is seen from 0.1 to 0.4 of the video.", [3, 12]),
        ("normalized: [0.1, 0.4]", [3, 12]),
        ("[0.1, 0.4] (fractions of the video's length)", [3, 12]),
        ("from 10% to 40% of the video", [3, 12]),
        ("<t|0.1> <t|0.4>", [3, 12]),
        ("<t|0.10|><t|0.40|>", [3, 12]),
    ],
)
def test_shares_and_frames_are_read_where_the_answer_says_so(text, span):
    assert read_span(text, length=30.0, fps=25.0) == span
    assert read_span(text) is None  # what is no second is never taken for one


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("3000 ms to 12000 ms", [3, 12]),
        ("from 3,000 to 12,000 milliseconds", [3, 12]),
        ('{"start_ms": 3000, "end_ms": 12000}', [3, 12]),
        ("[0.1, 0.4]", [0.1, 0.4]),
        ("I am 10% to 40% sure that it is from 3 s to 12 s.", [3, 12]),
        ("3 s to 12 s of the video", [3, 12]),
        ("from 3 to 12 of the video", [3, 12]),
    ],
)
def test_what_says_no_share_is_seconds_or_milliseconds(text, span):
    assert read_span(text, length=30.0, fps=25.0) == span == read_span(text)


# simplescaling/s1.1-32B, as lmms-eval's harness for texts logs it (its template's turns are named so).
S1_REPLY = "<|im_start|>think\nMaybe A? So the answer is A.\n<|im_start|>answer\nAnswer: {}"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        (S1_REPLY.format("B. blue kites"), "B"),
        (S1_REPLY.partition("<|im_start|>answer")[0], None),  # cut off in its reasoning
        ("The first two fail, making option B the correct answer.", "B"),
        ("Option B, blue kites, is the most reasonable.", "B"),
        ('The toy of the title is "B. blue kites". A flies away.', "B"),
    ],
)
def test_replies_of_later_models(text, letter):
    assert read_option(text, ("red kites", "blue kites", "green kites")) == letter


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("blue kites", "They see blue, kites everywhere."),
        ("blue kites", "BLUE  KITES, they say."),
        ("気球", "赤い気球が見える。"),
        ("3人の子供", "画面に3人の子供が写る。"),
        ("l'été", "On voit l’été dans le parc."),
        ("a (red) kite", "It is a red kite."),
    ],
)
def test_own_words_are_whole_whatever_stands_between(option, text):
    assert read_option(text, (option, "an unrelated house")) == "A"
    assert read_option(text, (option + "x", "an unrelated house")) is None


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("Answer: 🍎", ("🍌", "🍎"), "B"),
        ("🍌", ("🍌", "🍎"), "A"),
        ("She feels 😢.", ("🙂", "😢"), "B"),
        ("He means I am fine 😢", ("I am fine 🙂", "I am fine 😢"), "B"),
        ("I am fine", ("I am fine 🙂", "I am fine 😢"), None),
        ("Fire station", ("🔥 Fire station", "🏥 Hospital"), "A"),
    ],
)
def test_options_that_differ_by_a_picture_are_said_with_it(text, options, letter):
    assert read_option(text, options) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The plant that is shown is **B. *Blue kite***", "B"),
        ("Another possibility is **B. *Blue kite***.", None),
        ("It is not **B. *Blue kite***.", None),
        ("Is it **B. *Blue kite***?", None),
    ],
)
def test_a_label_that_stands_out_behind_is_states_an_answer(text, letter):
    assert read_option(text, ("A red one", "A blue one", "A green one")) == letter


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("<think>\nIt is late.\n\n**Answer**: B", "B"),
        ('<think>\nIt is late.\n\n**Jibu:** "B"', "B"),
        ("<think>\nIt is late.\n\n### Final Answer\n\n$$\n\\boxed{B}\n$$", "B"),
        ('<think>\nIt is late.\n```json\n{\n  "answer": "B"\n}\n```', "B"),
        ("<think>\nIt is late. So the answer is:\n\n**B. A blue one**", "B"),
        ("<think>\nThe answer is B.\n\nBut wait, the kite is", None),
        ("<think>\nThe answer is B.", None),
        ("<think>\nThe form is \\boxed{B}, as it was asked for", None),
        ("<think>\nThe options are:\n\nB. A blue one", None),
    ],
)
def test_reasoning_that_never_ends_may_close_with_an_answer(text, letter):
    assert read_option(text, ("A red one", "A blue one", "A green one")) == letter


@pytest.mark.parametrize("text", ["The final answer is ###B###", "@@B@@", "==B==", "%% B %%"])
def test_a_letter_may_be_dressed_in_signs(text):
    assert read_option(text, ("A red one", "A blue one", "A green one")) == "B"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The options are:\na) A red one.\nb) A bl", None),
        ("A. A red one\nB. A blue one is wrong.", "A"),
        ("[Answer]: [B] Both are late.\n\nExplanation:\nThe two", "B"),
        ("**Answer:**\n\nQuestion: who is late\n\nAnswer: B", "B"),
    ],
)
def test_what_stands_around_an_answer_is_none(text, letter):
    assert read_option(text, ("A red one", "A blue one", "A green one")) == letter
