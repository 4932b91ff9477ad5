"""The page of a diagnosis in a real browser, and the figures on it held to hand counts."""

import json
import re

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.diagnosis import comparison, report
from reelbench.studio.diagnosis import page as diagnosis_page
from reelbench.studio.diagnosis.folder import (
    ANSWERS,
    Attempt,
    Folder,
    ReasonedQuestion,
    judged_steps,
    write_records,
)
from reelbench.studio.evidence.findings import NodeVerdict
from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.evidence.isolation import NodeTag, Round
from tests.checkers import invalid, violations

LABELS = {"T": "Temporal Localization", "A": "Attribute Misidentification", "R": "Reasoning"}


def tag(sign, settled):
    """Return what a sign stands for: + right, / another path, . not evaluated, ? undecided, or a label's letter."""
    status = {"+": "right", "/": "divergent", ".": "undetermined", "?": "undecided"}.get(
        sign, "wrong"
    )
    return NodeTag(
        status=status,
        label=LABELS.get(sign),
        settled=settled if status not in ("undetermined", "undecided") else None,
    )


def diagnosed(path, rows, benchmark="curve", split="mini"):
    """Write a diagnosis by hand: (id, video, locale, signs by round, stop) of each question."""
    folder = Folder(path)
    folder.begin(
        {
            "benchmark": benchmark,
            "split": split,
            "command": "run",
            "models": {},
            "votes": 3,
            "rounds": 5,
        }
    )
    questions = [
        ReasonedQuestion(
            id=key, video=video, language=locale, locale=locale, question=f"Question {key} </script><b>?", answer="A",
            reasoning_steps="1. steps",
        )
        for key, video, locale, _, _ in rows
    ]  # fmt: skip
    graphs = [
        Graph(
            id=key,
            nodes=(
                Node(id="n1", evidence=f"first of {key} </script>", timestamp="0:02"),
                Node(id="n2", evidence=f"second of {key}", timestamp="0:04", parents=("n1",)),
            ),
        )
        for key, *_ in rows
    ]
    folder.keep(questions, graphs)
    everything = []
    for number in range(1, 1 + max(len(signs) for *_, signs, _ in rows)):
        records, attempts = [], []
        for key, _, _, signs, stop in rows:
            if number > len(signs):
                continue
            settled = {}
            for earlier in range(number):
                for node, sign in zip(("n1", "n2"), signs[earlier], strict=True):
                    if sign not in ".?":
                        settled.setdefault(node, earlier + 1)
            nodes = {
                node: tag(sign, settled.get(node))
                for node, sign in zip(("n1", "n2"), signs[number - 1], strict=True)
            }
            last = number == len(signs)
            records.append(
                Round(
                    id=key,
                    round=number,
                    nodes=nodes,
                    stop=stop if last else None,
                    cue=None if last else f"cue of {key}",
                )
            )
            attempts.append(
                Attempt(
                    id=key,
                    answer=f"answer {number}",
                    output=f"1. wrote {number}\nanswer {number}",
                    right=False,
                )
            )
        write_records(folder.run(number, 1) / ANSWERS, attempts)
        folder.end(number, records, {})
        everything += records
    folder.tell(everything)
    return folder


ROWS = [
    ("q1", "mini_curve1", "en-GB", ["T.", "TR"], "all_evaluated"),
    ("q2", "mini_curve1", "ja-JP", ["A.", "A+"], "answer_right"),
    ("q3", "mini_curve2", "ja-JP", ["+T"], "all_evaluated"),
    ("q4", "mini_curve2", "ja-JP", ["/."], "no_consensus"),
]


def test_the_figures_are_those_counted_by_hand(tmp_path):
    counted = report.figures(diagnosed(tmp_path, ROWS))
    assert {label: figures["n"] for label, figures in counted["labels"].items() if figures["n"]} == {
        LABELS["T"]: 2, LABELS["A"]: 1, LABELS["R"]: 1,
    }  # fmt: skip
    assert counted["labels"][LABELS["T"]]["share"] == 0.5
    assert counted["labels"][LABELS["T"]]["ci95"] is None  # errors on two videos
    assert counted["perception"]["share"] == 0.75
    assert counted["later"] == {"n": 1, "of_first": 1 / 3, "of_all": 1 / 4, "reasoning": 1}
    assert counted["settled"] == [
        {"round": 1, "n": 1, "share": 0.25},
        {"round": 2, "n": 3, "share": 0.75},
    ]
    assert counted["locales"]["ja-JP"]["n"] == 3
    assert counted["locales"]["ja-JP"]["perception"] == {"n": 2, "share": 1, "ci95": None}
    assert counted["locales"]["en-GB"]["rounds"][1]["labels"][LABELS["R"]] == 1
    assert (
        counted["nodes"]["divergent_share"] == 1 / 6
    )  # q2 was right in the end: nothing of that round counts
    assert counted["questions"] == {"asked": 4, "right": 0, "unjudged": 0, "entered": 4}


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (5, "asked.json"),
        ({"tagger": "m"}, "asked.json, field tagger"),
        ({"tagger": {"model": "m"}}, "tagger.returned"),
    ],
)
def test_what_asking_came_to_is_held_to_its_shape(asked, says, tmp_path):
    folder = diagnosed(tmp_path, ROWS)
    (tmp_path / "rounds" / "1" / "asked.json").write_text(json.dumps(asked))
    with pytest.raises(InputError, match=says):
        report.figures(folder)


def test_a_round_of_a_question_that_is_not_here_is_told_by_its_id(tmp_path):
    folder = diagnosed(tmp_path, ROWS)
    path = tmp_path / "isolation.jsonl"
    path.write_text(path.read_text().replace('"q3"', '"q9"'))
    for read in (judged_steps, report.figures):
        with pytest.raises(
            InputError, match=r"round 1 is on 'q9', which is not in questions.jsonl"
        ):
            read(folder)
    path.write_text(path.read_text().replace('"q9"', '"q3"'))
    graphs = tmp_path / "graphs.jsonl"
    graphs.write_text(graphs.read_text().replace('"id": "q3"', '"id": "q9"'))
    with pytest.raises(InputError, match=r"graphs.jsonl: lacks 'q3', whose nodes were tagged"):
        judged_steps(folder)


def test_a_round_of_no_number_that_a_file_has_is_told_by_its_line(tmp_path):
    folder = diagnosed(tmp_path, ROWS)
    path = tmp_path / "isolation.jsonl"
    path.write_text(path.read_text().replace('"round": 1', f'"round": {10**400}', 1))
    with pytest.raises(InputError, match=r"isolation.jsonl, line 1, field round"):
        report.figures(folder)


def test_a_share_of_errors_is_wilsons_over_videos(tmp_path):
    rows = [
        (f"q{n}", f"v{n}", "en-GB", ["T+" if n < 9 else "R+"], "all_evaluated") for n in range(12)
    ]
    share = report.figures(diagnosed(tmp_path, rows))["labels"][LABELS["T"]]
    # 9 of 12, each on a video of its own, with the error of 11: Wilson's with t(11)² / 11 = 0.4404.
    assert (share["n"], share["share"]) == (9, 0.75)
    assert share["ci95"] == pytest.approx((0.4222, 0.9249), abs=0.02)


def test_two_diagnoses_are_held_against_each_other(tmp_path):
    one = diagnosed(tmp_path / "one", ROWS)
    other = diagnosed(
        tmp_path / "other", [(*ROWS[0][:3], ["T.", "TT"], "all_evaluated"), *ROWS[1:3]]
    )
    # The nodes of q1 to q3: n1 T, n2 R against T; A, what its right answer holds apart; right and
    # T. Four of five are the same.
    assert comparison.agreement(one, other)["nodes"] == 5
    assert comparison.agreement(one, other)["same"] == pytest.approx(4 / 5)


def test_shares_are_compared_where_both_lost_and_of_one_round(tmp_path):
    rows = [(f"q{n}", f"v{n}", "en-GB", ["T."], "all_evaluated") for n in range(12)]
    one = diagnosed(tmp_path / "one", rows)
    # The other lost ten of these, and four of them by an attribute; its own last question is no
    # part of it.
    other = [
        (*row[:3], ["A." if n < 4 else "T.", "AR" if n < 4 else "TR"], "limit")
        for n, row in enumerate(rows[:10])
    ]
    other = diagnosed(tmp_path / "other", [*other, ("q99", "v99", "en-GB", ["R."], "limit")])
    agreement, both = comparison.agreement(one, other, 1), comparison.differences(one, other, 1)
    assert (both["questions"], agreement["nodes"], agreement["same"]) == (
        10,
        10,
        pytest.approx(0.6),
    )
    share = both["shares"][LABELS["T"]]
    assert (share["a"], share["b"], share["difference"]) == (
        1,
        pytest.approx(0.6),
        pytest.approx(0.4),
    )
    # Student's t over ten videos, four of which differ by 1, and 1 and -1 added: their mean is
    # 1/3, its error 0.1851, and t(9) is 2.262.
    assert share["ci95"] == pytest.approx((1 / 3 - 0.4187, 1 / 3 + 0.4187), abs=0.02)
    assert both["shares"]["perception"]["difference"] == 0
    # Over all rounds the other has ten errors more, of reasoning.
    assert comparison.differences(one, other)["shares"][LABELS["R"]]["b"] == 0.5


def test_the_paper_s_counts_by_round_and_locale_and_right_answers_by_skill(tmp_path, reelbench):
    folder = diagnosed(tmp_path, ROWS)
    right = NodeVerdict(status="right")
    wrong = NodeVerdict(
        status="wrong", label=LABELS["T"], found="yes", time_critical=True, model_time="0:12"
    )
    votes = {"agreed": (wrong, wrong, right), "open": (right, wrong, None)}
    records = [
        Round(
            id=key,
            round=1,
            nodes={
                "n1": NodeTag(status="wrong", label=LABELS["T"], votes=votes["agreed"], settled=1),
                "n2": NodeTag(status="undecided", votes=votes["open"]),
            },
            stop="limit",
        )
        for key in ("q1", "q2", "q3")
    ]
    folder.end(1, records, {})
    folder.tell(records)
    questions = [
        question.model_copy(
            update={
                "skills": ("Counting",) if question.id in ("q1", "q4") else ("Reading", "Counting")
            }
        )
        for question in folder.questions
    ]
    folder.keep(questions, folder.graphs.values())
    attempts = [Attempt(id=key, answer="a", right=key == "q4") for key in ("q1", "q2", "q3", "q4")]
    write_records(folder.run(1, 1) / ANSWERS, attempts)
    counted = report.figures(folder)
    assert counted["consensus_by_round"] == {
        "1": {"en-GB": {"majority": 1, "none": 1}, "ja-JP": {"majority": 2, "none": 2}}
    }
    # 0:12 misses n1's 0:02 by ten seconds and n2's 0:04 by eight: of nine votes with a time three
    # are not beyond 10.
    assert counted["times"] == {"compared": 9, "beyond": {"2": 9, "5": 9, "10": 0, "30": 0}}
    assert {skill: (rate["n"], rate["right"]) for skill, rate in counted["skills"].items()} == {
        "Counting": (4, 0.25),
        "Reading": (2, 0),
    }
    assert counted["skills"]["Counting"]["labels"][LABELS["T"]] == 0.75
    assert counted["sizes"]["nodes"]["1–2"] == {"n": 4, "right": 0.25, "ci95": None}
    done = reelbench("diagnose", "report", tmp_path)
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["Counting", "25%", "4", "0.75", *LABELS["T"].split(), "0.75"] in lines, done.stderr
    assert ["Reading", "0%", "2", "1.00", *LABELS["T"].split(), "1.00"] in lines


def test_a_diagnosis_without_errors_is_one(tmp_path):
    counted = report.write(diagnosed(tmp_path, [("q1", "v", "en-GB", ["++"], "all_evaluated")]))
    assert counted["labels"]["Reasoning"] == {"n": 0, "share": None, "ci95": None}
    assert counted["later"]["of_first"] is None
    diagnosis_page.write_page([Folder(tmp_path)], [counted], tmp_path / "page.html")


def test_the_data_stand_in_the_page_as_plain_json(tmp_path):
    folder = diagnosed(tmp_path, ROWS)
    diagnosis_page.write_page([folder], [report.figures(folder)], tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    block = text.partition('<script type="application/json" id="data">')[2].partition("</script>")[
        0
    ]
    data = json.loads(block)
    assert [question["id"] for question in data["questions"]] == ["q1", "q2", "q3", "q4"]
    assert data["questions"][0]["question"] == "Question q1 </script><b>?"
    assert data["questions"][0]["video"].endswith("mini/curve/mini_curve1.mp4")
    rounds = data["questions"][0]["diagnoses"][0]
    assert [one["cue"] for one in rounds] == [None, "cue of q1"]
    assert rounds[1]["nodes"][1]["label"] == "Reasoning"


# --- in the browser
# -------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(chromium, tmp_path):
    """Open the page of one diagnosis or two; fails where a script of it does."""
    contexts = []

    def open_page(*rows, **options):
        folders = [diagnosed(tmp_path / f"diagnosis{n}", some) for n, some in enumerate(rows)]
        path = tmp_path / "page.html"
        diagnosis_page.write_page(folders, [report.figures(folder) for folder in folders], path)
        contexts.append(chromium.new_context(**options))
        tab = contexts[-1].new_page()
        tab.on("pageerror", lambda error: pytest.fail(str(error)))
        tab.goto(path.as_uri())
        tab.locator("#detail .card").first.wait_for()
        return tab

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.browser
def test_rates_by_evidence_and_skill_stand_in_a_table(chromium, tmp_path):
    folder = diagnosed(tmp_path, ROWS)
    questions = [
        question.model_copy(update={"skills": ("Counting",)}) for question in folder.questions
    ]
    folder.keep(questions, folder.graphs.values())
    diagnosis_page.write_page([folder], [report.figures(folder)], tmp_path / "page.html")
    tab = chromium.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    rows = [row.inner_text().split("\t") for row in tab.locator("#by-rate tr").all()]
    tab.close()
    assert [row[0] for row in rows[1:]] == ["1–2 nodes", "1 deep", "Counting"]
    # q1 to q4 have two errors of time, one of an attribute and one of reasoning.
    assert [cell.strip() for cell in rows[3][1:]] == [
        "4",
        "0 %",
        "0.50",
        "0.00",
        "0.25",
        "0.00",
        "0.00",
        "0.25",
    ]


@pytest.mark.browser
@pytest.mark.representative
def test_a_question_is_read_by_keyboard(opened):
    from playwright.sync_api import expect

    tab = opened(ROWS)
    buttons = tab.locator("#list button")
    expect(buttons).to_have_count(4)
    buttons.first.focus()
    tab.keyboard.press("ArrowDown")
    expect(tab.locator("#detail h3").first).to_have_text(
        "Question q2 </script><b>?", use_inner_text=True
    )
    expect(buttons.nth(1)).to_have_attribute("aria-current", "true")
    tab.keyboard.press("ArrowUp")
    expect(tab.locator("#detail .graph [data-node]")).to_have_count(2)
    expect(tab.locator("#detail .graph path.head")).to_have_count(1)
    tab.get_by_role("button", name="Round 2").focus()
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("button", name="Round 2")).to_have_attribute("aria-pressed", "true")
    expect(tab.locator("#detail tbody td:last-child")).to_have_text(
        ["✗ wrong: Temporal Localization, round 1", "✗ wrong: Reasoning, round 2"]
    )
    expect(tab.locator("#detail .beside .said")).to_have_text(["1. wrote 2\nanswer 2", "cue of q1"])


@pytest.mark.browser
def test_a_nodes_time_shows_its_moment(opened):
    tab = opened(ROWS)
    tab.wait_for_function("document.querySelector('video').readyState > 0")
    tab.get_by_role("button", name="Show 0:04 in the video").click()
    tab.wait_for_function("document.querySelector('video').currentTime === 4")


@pytest.mark.browser
def test_filters(opened):
    from playwright.sync_api import expect

    tab = opened(ROWS)
    tab.locator("#label").select_option("Reasoning")
    expect(tab.locator("#list button")).to_have_count(1)
    tab.locator("#label").select_option("")
    tab.locator("#locale").select_option("ja-JP")
    tab.locator("#stop").select_option("no_consensus")
    expect(tab.locator("#list .about")).to_have_text(["q4 · ja-JP · no error found"])
    tab.locator("#search").fill("nothing has this")
    expect(tab.locator("#count")).to_have_text("0 of 4 questions")


@pytest.mark.browser
def test_back_forward_and_links_bring_back_what_was_looked_at(opened):
    from playwright.sync_api import expect

    tab = opened(ROWS)
    heading, pressed = (
        tab.locator("#detail h3").first,
        tab.locator("#detail .rounds [aria-pressed=true]"),
    )

    def looks_at(search, locale, question, number):
        expect(tab.locator("#search")).to_have_value(search)
        expect(tab.locator("#locale")).to_have_value(locale)
        expect(heading).to_contain_text(f"Question {question} ")
        expect(pressed).to_have_text(f"Round {number}")

    tab.locator("#locale").select_option("ja-JP")
    looks_at("", "ja-JP", "q2", 1)
    tab.get_by_role("button", name="Round 2").click()
    tab.locator("#list button").nth(1).click()
    tab.locator("#search").press_sequentially("q3")
    looks_at("q3", "ja-JP", "q3", 1)
    link = tab.url
    tab.go_back()  # what was typed is one step
    looks_at("", "ja-JP", "q3", 1)
    tab.go_back()
    looks_at("", "ja-JP", "q2", 2)
    tab.go_back()
    tab.go_back()
    looks_at("", "", "q1", 1)
    expect(tab.locator("#list button")).to_have_count(4)
    tab.go_forward()
    looks_at("", "ja-JP", "q2", 1)
    tab.goto("about:blank")
    tab.goto(link)
    looks_at("q3", "ja-JP", "q3", 1)
    expect(tab.locator("#list button")).to_have_count(1)
    tab.goto(
        f"{link.partition('#')[0]}#question=q1&round=2&label=nothing"
    )  # what isn't there is left out
    looks_at("", "", "q1", 2)


@pytest.mark.browser
def test_two_diagnoses_stand_side_by_side(opened):
    from playwright.sync_api import expect

    tab = opened(ROWS, ROWS[:2])
    expect(tab.locator("#labels thead")).to_contain_text("diagnosis0: share")
    expect(tab.locator("#detail .card h3")).to_have_text(
        [re.compile("."), "diagnosis0", "diagnosis1"]
    )


@pytest.mark.browser
@pytest.mark.parametrize(
    "options",
    [{}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}],
    ids=["light", "dark, on a phone"],
)
def test_axe_and_the_validator_find_nothing(opened, checkers, tmp_path, options):
    from playwright.sync_api import expect

    tab = opened(ROWS, ROWS[:2], **options)
    assert violations(tab, checkers) == []
    tab.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    # The colours that all pages share.
    expect(tab.locator("body")).to_have_css(
        "background-color", "rgb(15, 16, 21)" if "color_scheme" in options else "rgb(251, 251, 253)"
    )
    drawn = tmp_path / "drawn.html"
    drawn.write_text(tab.content(), encoding="utf-8")
    assert invalid([tmp_path / "page.html", drawn], checkers, tmp_path) == set()


@pytest.mark.browser
def test_an_answer_that_nobody_judged_is_none_of_those_that_may_be_wrong(chromium, tmp_path):
    from playwright.sync_api import expect

    folder = diagnosed(tmp_path / "diagnosis", ROWS)
    counted = report.figures(folder)
    counted["questions"] |= {"asked": 12, "unjudged": 8}
    diagnosis_page.write_page([folder], [counted], tmp_path / "page.html")
    tab = chromium.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    expect(tab.locator("#result")).to_contain_text(
        "4 of 4 judged answers were wrong; 8 of 12 were not judged."
    )
    tab.close()


@pytest.mark.browser
def test_an_interval_is_claimed_where_it_is_drawn_and_the_graph_fits_its_frame(opened):
    from playwright.sync_api import expect

    tab = opened(ROWS, viewport={"width": 390, "height": 844})
    expect(tab.locator("#result")).to_have_text(
        "4 of 4 answers were wrong. In 1 of these no error was found. "
        "Of 4 errors, 50 % are Temporal Localization; 75 % are errors of perception, the first four kinds."
    )
    expect(tab.locator("#kinds")).to_contain_text(
        "no interval, as the errors are on fewer than ten videos; n = 4"
    )
    expect(tab.locator("#labels thead")).not_to_contain_text("95 %")
    assert tab.locator("[data-ci-low], #kinds line.ends").count() == 0
    expect(tab.locator("#facts")).to_contain_text("1 of them is of reasoning")
    boxes = [box.bounding_box() for box in tab.locator("#detail .graph, #detail [data-node]").all()]
    assert all(
        box["x"] >= boxes[0]["x"] and box["x"] + box["width"] <= boxes[0]["x"] + boxes[0]["width"]
        for box in boxes
    )

    tab = opened(
        [(f"q{n}", f"v{n}", "en-GB", ["T+" if n < 9 else "R+"], "all_evaluated") for n in range(12)]
    )
    expect(tab.locator("#result")).to_contain_text(
        re.compile(r"75 % \(95 % interval 4[0-4] to 9[0-4] %\) are Temporal")
    )
    expect(tab.locator("#kinds")).to_contain_text("with its 95 % interval over videos; n = 12")
    expect(tab.locator("#kinds line.ends")).to_have_count(3 * 6)  # six labels, each with two caps
    ends = tab.locator("#labels tbody tr").first.locator("[data-ci-low]")
    assert float(ends.get_attribute("data-ci-low")) == pytest.approx(0.4222, abs=0.02)
