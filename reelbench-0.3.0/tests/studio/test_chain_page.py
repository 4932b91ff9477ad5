"""The page of a chain in a real browser, and the funnel's picture."""

import asyncio
import base64
import hashlib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree as ET

import pytest

from reelbench.base.errors import InputError
from reelbench.studio import chain_page
from reelbench.studio.chain import ChainPrompts, ChainSetup
from reelbench.studio.discussion import Discussion, DiscussionOptions, run
from reelbench.studio.discussion_files import read_videos
from reelbench.studio.funnel import to_svg
from tests.checkers import invalid, violations
from tests.servers import roles
from tests.servers.judge import Answer
from tests.studio.conftest import video

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)> \"' ]]> </pre></section> &amp; <!--"


def outside(coroutine):
    """Run a coroutine in a thread of its own: in this one a browser may be open."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()


@pytest.fixture
def opened(chromium):
    """Return a function that opens a page: its elements, and the words in them as one line."""
    context = chromium.new_context()

    def page(path):
        tab = context.new_page()
        tab.on("pageerror", lambda error: pytest.fail(str(error)))
        tab.goto(path.as_uri())
        main = tab.locator("main")
        return main, " ".join(main.text_content().split())

    yield page
    context.close()


@pytest.fixture
def made(tmp_path, videos, models, server):
    def script(call):
        return roles.play(call) if call.body["model"] != "skeptic" else Answer(f"Not so. {EVIL}")

    server.script(script)
    out = tmp_path / "made"
    out.mkdir()
    known = read_videos(
        videos([video(0), video(1, metadata={"genre": EVIL}), video(2, video="a/b <c>")]), 8
    )
    discussion = Discussion(ChainPrompts("discussion"), DiscussionOptions())
    outside(run(known, discussion, ChainSetup(models(*roles.DISCUSSION), out)))
    return out


@pytest.mark.browser
def test_a_page_tells_who_said_what_and_what_survived(opened, made):
    main, text = opened(chain_page.write(made, "film1"))
    heads = [
        "expert",
        "skeptic · round 1",
        "detective · round 1",
        "meta reviewer · round 1",
        "expert · round 1",
    ]
    assert main.locator(".turn h3").all_text_contents() == [
        *(head for head in heads[:4]), "critic · round 1", heads[4],
    ]  # fmt: skip
    assert text.index("What survived") < text.index(
        "Who said what"
    )  # the result first, the talk after it
    assert text.count("Why does step 5") >= 3
    # Both of the expert's turns are lists of questions, as what survived is.
    assert (main.locator("dl").count(), main.locator("dt").count()) == (3, 15)
    assert f"Not so. {EVIL}" in text
    assert "Who opens door 0?" not in text


@pytest.mark.browser
def test_nothing_that_others_wrote_is_more_than_text(opened, made):
    path = chain_page.write(made, "film1")
    main, _ = opened(path)
    # Two scripts are the page's own: its data, and the one that its policy names by hash.
    assert main.page.locator("script").count() == 2
    assert main.page.locator("img, iframe, form").count() == 0
    assert main.page.evaluate(
        "[...document.querySelectorAll('[href]')].map((one) => one.getAttribute('href')).sort()"
    ) == ["#main", "#said", "#survived", "#videos", "data:,"]
    handlers = "[...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames()).filter((n) => /^on/.test(n))"
    assert main.page.evaluate(handlers) == []
    policy = re.search(
        r'http-equiv="Content-Security-Policy"\s+content="([^"]+)"', path.read_text()
    )
    script = path.read_text().rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert "default-src 'none'" in policy[1]
    assert re.findall(r"script-src ([^;]+)", policy[1]) == [f"'sha256-{digest}'"]


def test_a_video_with_any_name_gets_a_page_in_the_folder(made):
    assert chain_page.write(made, "a/b <c>").parent == made
    assert chain_page.write(made).name == "film0.html"


def test_a_video_or_a_folder_that_is_not_there_is_told(made, tmp_path):
    with pytest.raises(InputError, match="nothing was asked for 'film9'"):
        chain_page.write(made, "film9")
    with pytest.raises(InputError, match="give the folder that a chain wrote"):
        chain_page.write(tmp_path / "nowhere")


def test_the_funnel_is_drawn_with_its_losses():
    stages = [
        {"name": "filters", "in": 10, "out": 4, "dropped": {"long_event": 5, "sparse": 1}},
        {"name": "a < b & c", "in": 0, "out": 0, "dropped": {}},
        {"name": "meta_reviewer", "in": 1, "out": 1, "dropped": {}},
    ]
    root = ET.fromstring(to_svg(stages))  # noqa: S314 - our own picture
    text = " ".join(root.itertext())
    for words in ("4 of 10", "long event 5, sparse 1", "a < b & c", "0 of 0", "meta reviewer"):
        assert words in text
    bars = [element for element in root if element.tag.endswith("rect")][1:]
    assert float(bars[1].get("width")) == pytest.approx(0.4 * float(bars[0].get("width")))
    assert float(bars[3].get("width")) == 0


@pytest.mark.browser
def test_a_refined_question_shows_what_changed(opened, tmp_path, videos, models, server):
    words = {
        1: ("Why does he light the lamp?", "Why does he light the lamp early?"),
        2: ("Who left?", "Who left?"),
    }

    def script(call):
        if call.body["model"] != "expert":
            return Answer("Say when. {}")
        refined = "Say when" in roles.text_of(call)
        return Answer(
            json.dumps(
                {
                    "questions": [
                        {"id": n, "question": pair[refined], "answer": "A."}
                        for n, pair in words.items()
                    ]
                }
            )
        )

    server.script(script)
    discussion = Discussion(ChainPrompts("discussion"), DiscussionOptions(questions=2))
    (tmp_path / "out").mkdir()
    outside(
        run(
            read_videos(videos(1), 8),
            discussion,
            ChainSetup(models(*roles.DISCUSSION), tmp_path / "out"),
        )
    )
    main, page = opened(chain_page.write(tmp_path / "out"))
    text = main.inner_html()
    assert "2 questions came of 6 replies. The discussion changed 1 of 2 drafts." in page
    assert "film0_1 question changed" in page
    assert "film0_2 as drafted" in page
    # Beside its draft, and once more in the turn that changed it.
    assert text.count("light the <del>lamp?</del> <ins>lamp early?</ins>") == 1
    assert text.count("Why does he light the <ins>lamp early?</ins>") == 1
    assert text.count("Why does he light the <del>lamp?</del></p>") == 1


@pytest.mark.browser
def test_what_the_discussion_adds_is_on_the_page_with_its_intervals(opened, made):
    assert "no interval" in opened(chain_page.write(made, "film1"))[1]  # of three videos
    measures = {
        "words_question": {
            "single_pass": 11.0,
            "discussion": 12.5,
            "difference": 1.5,
            "ci95": [-0.5, 3.5],
        },
        "higher_order_question": {
            "single_pass": 60.0,
            "discussion": 40.0,
            "difference": -20.0,
            "ci95": None,
        },
        "words_answer": {"single_pass": 5.0, "discussion": None, "difference": None, "ci95": None},
    }
    orders = {
        "same_in_both_orders": 0.75,
        "single_pass_shown_first": 0.5,
        "discussion_shown_first": 0.75,
    }
    win = {"value": 0.6, "ci95": [0.45, 0.75], "videos": 12, **orders}
    (made / "comparison.json").write_text(
        json.dumps({"videos": 12, "measures": measures, "win_rate": win})
    )
    main, page = opened(chain_page.write(made, "film1"))
    assert (
        "The judge prefers the discussion’s questions on 60 % of 12 videos (95 % interval 45 to 75 %), a tie counting "
        "half; the same in both orders on 75 %." in page
    )
    rows = [
        " ".join(row.locator("th, td").all_text_contents())
        for row in main.locator("#compared tbody tr").all()
    ]
    assert rows == [
        "Words of a question 11.0 12.5 +1.5  −0.5 to +3.5",
        "Higher-order questions, % 60.0 40.0 −20.0 no interval",
        "Words of an answer 5.0 – – –",
    ]
    # Each on an axis of its own, as wide to both sides of zero: 1.5 from −3.5 to 3.5 is 5 of 7.
    dot = main.locator("#compared .dot")
    places = [
        dot.get_attribute(name) for name in ("style", "data-value", "data-ci-low", "data-ci-high")
    ]
    assert places == ["left: 71.43%;", "1.5", "-0.5", "3.5"]


@pytest.fixture
def moments(tmp_path):
    """What `make moments` leaves of one video, written by hand."""
    reply = {
        "event1": "She fills it.",
        "event1_timestamp": [0, 18],
        "event2": "It boils.",
        "Directness": 3,
    }
    line = {
        "role": "relation",
        "video": "v",
        "vote": 0,
        "attempt": 0,
        "read": True,
        "model": "m",
        "key": "k",
    }
    line |= {
        "messages": [{"role": "user", "content": "?"}],
        "tokens": {"prompt": 1, "completion": 1},
    }
    lines = [
        line | {"reply": f"As seen.\n```json\n{json.dumps(reply)}\n```", "vote": vote}
        for vote in (0, 1)
    ]
    lines.insert(0, line | {"reply": "No <idea>.", "read": False})
    (tmp_path / "trace.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    (tmp_path / "funnel.json").write_text(
        '{"stages": [{"name": "pairs", "in": 5, "out": 3, "dropped": {"no_time_left": 1, "unparsable": 1}}]}'
    )
    row = {
        "vid": "v",
        "duration": 3700,
        "question": "What is first?",
        "answer": "From <s0> to <e0>, steam.",
        "ans": "B",
    }
    row |= {
        "span": [61.5, 3610],
        "question_span": [0, 18],
        "options": ["tea", "steam"],
        "category": "cause-effect",
    }
    (tmp_path / "rextime.json").write_text(json.dumps([row]))
    return tmp_path


@pytest.mark.browser
def test_times_are_read_on_a_strip_and_json_is_behind_a_fold(opened, moments):
    main, page = opened(chain_page.write(moments))
    text = main.inner_html()
    assert "From 01:01.5 to 1:00:10, steam." in page
    assert "<s0>" not in page
    marks = re.findall(
        r'data-start="([\d.]+)" data-end="([\d.]+)" style="left: ([\d.]+)%; width: ([\d.]+)%;"',
        text,
    )
    assert marks == [
        ("0", "18", "0", "0.486"),  # 18 of 3,700 s
        ("61.5", "3610", "1.662", "95.905"),
        ("0", "18", "0", "0.486"),
    ]
    assert "B ✓ steam" in page
    # The two votes are the same to the last word: once, with their number; the JSON once, behind
    # its fold.
    assert page.count("As seen.") == 2
    assert "2 times the sameAs seen.event 1: She fills it. 00:00 to 00:18" in page
    assert page.count('"event1_timestamp"') == 1
    assert page.index("The reply as it came") < page.index('"event1_timestamp"')
    assert "No <idea>.m · 1 token read, 1 written could not be used" in page
    assert "1 question came of 3 replies." in page
    assert "3 of 5no time left 1, unreadable reply 1" in page


@pytest.mark.parametrize(
    ("file", "edit", "says"),
    [
        (
            "trace.jsonl",
            lambda line: line["messages"][0].pop("role"),
            "trace.jsonl, line 1, field messages.0.role",
        ),
        (
            "trace.jsonl",
            lambda line: line.update(attempt="x"),
            "trace.jsonl, line 1, field attempt",
        ),
        (
            "annotations.json",
            lambda made: made.update(film0_9="a text"),
            "annotations.json, entry film0_9: not a ques",
        ),
        (
            "annotations.json",
            lambda made: made["film0_1"].pop("answer"),
            "entry film0_1, field answer",
        ),
        (
            "comparison.json",
            lambda one: one["measures"]["words_answer"].pop("ci95"),
            "measures.words_answer.ci95",
        ),
        ("funnel.json", lambda funnel: funnel.pop("stages"), "funnel.json, field stages"),
        (
            "funnel.json",
            lambda funnel: funnel["stages"][0].update(dropped=[1]),
            "funnel.json, field stages.0.dropped",
        ),
        (
            "funnel.json",
            lambda funnel: funnel["stages"][0].update({"out": 10**400}),
            "funnel.json, field stages.0.out",
        ),
    ],
)
def test_a_damaged_file_is_one_line_that_names_the_place(made, file, edit, says):
    first, newline, rest = (made / file).read_text().partition("\n") if file == "trace.jsonl" else (
        (made / file).read_text(), "", "",
    )  # fmt: skip
    document = json.loads(first)
    edit(document)
    (made / file).write_text(json.dumps(document) + newline + rest)
    with pytest.raises(InputError, match=re.escape(says)):
        chain_page.write(made, "film0")


@pytest.mark.browser
def test_half_a_character_in_a_trace_is_shown_as_one_that_is_not_known(opened, moments):
    fields = ("role", "model", "video", "reply")
    lines = (moments / "trace.jsonl").read_text().splitlines()
    lines = [
        json.dumps(json.loads(line) | {field: f"half {field} \ud800" for field in fields})
        for line in lines
    ]
    (moments / "trace.jsonl").write_text("\n".join(lines) + "\n")
    text = opened(chain_page.write(moments))[1].lower()
    assert [field for field in fields if f"half {field} \ufffd" not in text] == []


def test_the_command_writes_it(reelbench, made):
    done = reelbench("make", "page", made, "--video", "film0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(made / "film0.html")


@pytest.mark.browser
def test_axe_and_the_validator_find_nothing_and_nothing_scrolls_sideways(
    chromium, checkers, moments
):
    path = chain_page.write(moments)
    assert invalid([path], checkers, moments) == set()
    for width, scheme in ((1440, "light"), (390, "dark")):
        context = chromium.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme
        )
        tab = context.new_page()
        tab.on("pageerror", lambda error: pytest.fail(str(error)))
        tab.goto(path.as_uri())
        tab.get_by_text("The reply as it came").click()
        assert violations(tab, checkers) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.get_by_role("button", name="Dark mode").press("Enter")
        assert (
            tab.evaluate("document.documentElement.dataset.theme")
            == {"light": "dark", "dark": "light"}[scheme]
        )
        context.close()
