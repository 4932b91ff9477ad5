"""Questions that people write: checks while typing, and a file that the benchmark's own reader takes."""

import json

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.studio.review.kinds import summarize
from tests.program import app

THREE = ["Visual Cultural Understanding", "Counting", "Listening"]


def run(*command):
    done = CliRunner().invoke(app, ["review", *map(str, command)], catch_exceptions=False)
    assert done.exit_code == 0
    return done


def test_finished_questions_make_a_file_that_our_reader_takes(review, tmp_path):
    video = "abcdefghijk"
    items = {
        f"{video} hi-IN {slot}": {
            "video": video,
            "locale": "hi-IN",
            "category": "Rituals",
            "subcategory": "",
        }
        for slot in (1, 2)
    }
    about = {"ask": "write", "benchmark": "curve", "split": "mini", "items": items}
    first, second = items
    whole = {
        "question": "कितने दीये?",
        "answer": "तीन",
        "steps": "1. 00:04 पर दो\n\n2) 00:09 पर एक",
        "skills": THREE,
    }
    files = [
        review(
            "Ada",
            {
                first: whole | {"links": "https://example.org/a"},
                second: whole | {"skills": ["Reading"]},
            },
            **about,
        ),
        review("Ben", {first: whole | {"answer": "चार", "steps": "2. Halbzeit ab 46:00"}}, **about),
    ]
    out = tmp_path / "curve.json"
    figures = json.loads(run("summarize", *files, "--write", out, "--json").stdout)
    assert (figures["questions"], figures["unfinished"], figures["steps"]) == (2, [second], 1.5)
    lacks = ["cultural entity", "skills (1, at least 3 with Visual Cultural Understanding)"]
    assert figures["lacking"] == [{"id": second, "reviewer": "Ada", "lacks": lacks}]
    assert f"left out: {second} of Ada lacks {', '.join(lacks)}" in " ".join(
        run("summarize", *files).output.split()
    )
    assert figures["skills"] == dict.fromkeys(THREE, 2)
    rows = list(loading.locate("curve", data=out).read())
    assert [(row["id"], row["answer"]) for row in rows] == [
        (f"{video}-hi-IN-1", "तीन"),
        (f"{video}-hi-IN-1-2", "चार"),
    ]
    assert (rows[0]["video"], rows[0]["locale"], rows[0]["category"]) == (
        video,
        ["hi-IN"],
        ["Rituals"],
    )
    assert (rows[0]["skills"], rows[0]["external_links"]) == (THREE, ["https://example.org/a"])
    assert rows[0]["reasoning_steps"] == ["1. 00:04 पर दो\n2. 00:09 पर एक"]
    assert rows[1]["reasoning_steps"] == ["1. 2. Halbzeit ab 46:00"]  # an ordinal, no step's number
    for wrong, says in (
        ({"steps": "1:5 x"}, r"steps: 1:5 is not mm:ss"),
        ({"skills": "Luck"}, "skills: expected a list"),
    ):
        with pytest.raises(InputError, match=says):
            summarize([review("Cy", {first: whole | wrong}, **about)])


@pytest.mark.parametrize(
    ("skills", "entity", "steps"),
    [
        # Of the supplement's own questions: B.1.1's, with a step of B.1.2 that names no time; Fig.
        # 8, 9 and 10.
        (
            ["Temporal Event Localization", "Counting", "Visual Cultural Understanding"],
            "Kabaddi",
            "I watched it all.",
        ),
        (
            ["Object Recognition", "Numerical Reasoning"],
            "a vessel of Tamil Nadu",
            "1. 00:10 one\n2. 00:20 two",
        ),
        (
            [
                "Object Recognition",
                "Event Occurrence",
                "Temporal Ordering",
                "Goal Reasoning",
                "Listening",
            ],
            "a Mexican song",
            "1. I listened.",
        ),
        (["Object Recognition", "Reading"], "a college", "1. I read the title at 04:03."),
        (["Object Recognition", "Lip Reading"], "a puppet", "1. I saw it."),  # a skill beside ours
    ],
)
def test_the_supplements_own_questions_can_be_entered(skills, entity, steps, review, tmp_path):
    name = "abcdefghijk en-GB 1"
    about = {"ask": "write", "benchmark": "curve", "split": "mini"}
    about["items"] = {name: {"video": "abcdefghijk", "locale": "en-GB"}}
    marks = {
        "question": "Which?",
        "answer": "That",
        "steps": steps,
        "skills": skills,
        "entity": entity,
    }
    out = tmp_path / "curve.json"
    figures = json.loads(
        run("summarize", review("Ada", {name: marks}, **about), "--write", out, "--json").stdout
    )
    assert (figures["questions"], figures["lacking"]) == (1, [])
    (row,) = loading.locate("curve", data=out).read()
    assert row["skills"] == skills
    assert json.loads(out.read_text())[0]["cultural_entity"] == entity


def test_only_benchmarks_with_steps_and_skills_have_such_a_page():
    done = CliRunner().invoke(app, ["review", "page", "moviecore_mini", "--ask", "write"])
    assert "moviecore's have none" in str(done.exception)


@pytest.mark.browser
def test_a_question_is_checked_while_it_is_written(opened, save, tmp_path):
    from playwright.sync_api import expect

    path = tmp_path / "write.html"
    run("page", "curve_mini", "--ask", "write", "--per", "locale=1", "--output", path)
    page = opened(path)
    page.get_by_label("Video", exact=True).select_option(
        label=page.locator("option", has_text="hi-IN").inner_text()
    )
    box = page.locator("section").first
    faults = box.get_by_role("alert")
    question, steps = box.get_by_label("Question 1, in hi-IN on"), box.get_by_label("Steps on")
    question.fill("How many lamps?")
    expect(faults.nth(0)).to_have_text("Most letters are not Devanagari.")
    question.fill("कितने दीये?")
    expect(faults.nth(0)).to_have_text("")
    box.get_by_label("Answer on").fill("3")  # no letter, of no script
    expect(faults.nth(1)).to_have_text("")
    for text, says in (
        ("दो दीये", ""),  # a step need not name a time
        ("00:01 पर दो\n००:०५ पर एक", "Step 2: ००:०५ is not mm:ss, as in 06:13."),
        ("00:01 पर दो\n0:5 पर एक", "Step 2: 0:5 is not mm:ss, as in 06:13."),
        ("12:30 पर दो", "Step 1: 12:30 lies behind the video's end."),
        ("00:01 पर दो\n00:05 पर एक", ""),
    ):
        steps.fill(text)
        expect(faults.nth(2)).to_have_text(says)
    box.get_by_label("Cultural entity involved on").fill("दीया")
    least = "Choose at least 2 beside Visual Cultural Understanding."
    for skill in ("Visual Cultural Understanding", "Counting"):
        box.get_by_role("checkbox", name=skill).check()
        expect(faults.nth(3)).to_have_text(least)
        expect(page.get_by_role("status")).to_contain_text("0 of")
    box.get_by_label("Other skills").fill("Lip Reading, ")
    expect(faults.nth(3)).to_have_text("")
    expect(page.get_by_text("Bad: in which order the days of a festival are kept.")).to_be_visible()
    expect(page.get_by_role("status")).to_contain_text("1 of")
    page.screenshot(path=tmp_path / "write.png", full_page=True)
    page.get_by_label("Video", exact=True).select_option(
        label=page.locator("option", has_text="de-DE").inner_text()
    )
    question = box.get_by_label("Question 1, in de-DE on")
    for text, says in (
        (
            "How many men are there when the bell rings?",
            "This reads as English; write it in German.",
        ),
        ("Wie viele Männer stehen in „The Lord of the Rings“ vor der Tür?", ""),
        (
            "¿Cuántos hombres hay después de los fuegos?",
            "This reads as Spanish; write it in German.",
        ),
        ("Wer ruft dreimal „Prosit“?", ""),
    ):
        question.fill(text)
        expect(faults.nth(0)).to_have_text(says)
    figures = json.loads(run("summarize", save(page, "Ada"), "--json").stdout)
    assert (figures["questions"], figures["locales"]) == (1, {"hi-IN": 1})
    assert figures["skills"] == dict.fromkeys(
        ["Visual Cultural Understanding", "Counting", "Lip Reading"], 1
    )
