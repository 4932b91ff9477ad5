"""Spans: marked by keyboard in a real browser, and merged by hand-worked values."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.review.kinds import summarize


def item(page):
    return page.locator("section").first


def plays_faster_and_slower(page):
    """Set the speed by keys and by its list."""
    rate = "() => document.querySelector('video').playbackRate"
    for key in ("+", "+", "-", "+"):
        page.keyboard.press(key)
    assert page.get_by_label("speed").input_value() == "1.5"
    assert page.evaluate(rate) == 1.5
    page.get_by_label("speed").select_option("0.5")
    assert page.evaluate(rate) == 0.5


@pytest.mark.browser
@pytest.mark.representative
def test_spans_are_marked_by_keyboard_saved_reloaded_and_merged(opened, save, reelbench, tmp_path):
    from playwright.sync_api import expect

    path = tmp_path / "spans.html"
    done = reelbench("review", "page", "rextime_mini", "--ask", "spans", "--output", path)
    assert done.returncode == 0, done.stderr
    page = opened(path)
    page.wait_for_function("() => document.querySelector('video').readyState >= 1")
    start, end = (
        page.get_by_label("Answer start, in seconds"),
        page.get_by_label("Answer end, in seconds"),
    )
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "i"):  # 2.1 s
        page.keyboard.press(key)
    expect(start).to_have_value("2.1")
    for key in ("ArrowRight", "Shift+ArrowLeft", "o"):  # 3.0 s
        page.keyboard.press(key)
    expect(end).to_have_value("3")
    plays_faster_and_slower(page)
    expect(page.get_by_role("status")).to_contain_text("1 of 12 marked")
    start.fill("1.2")
    end.fill("2.5")
    end.blur()
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="Previous")).to_be_enabled()
    page.keyboard.press("b")
    page.get_by_label("Why is").fill("the <b>question</b> makes no sense")
    page.get_by_label("Your name").fill("Ada")

    page.reload()
    expect(page.get_by_label("Why is")).to_have_value("the <b>question</b> makes no sense")
    expect(page.get_by_role("status")).to_contain_text("2 of 12 marked")
    ada = save(page, "Ada")
    saved = json.loads(ada.read_text())
    first, second = list(saved["marks"])
    assert saved["marks"][first] == {"span": [1.2, 2.5]}
    assert saved["marks"][second] == {
        "verdict": "bad",
        "reason": "the <b>question</b> makes no sense",
    }
    assert saved["total"] == 12

    # Somebody else goes on from the file, on another machine.
    other = opened(path)
    other.locator("#file").set_input_files(str(ada))
    expect(other.get_by_role("status")).to_contain_text("2 of 12 marked")
    expect(other.get_by_label("Answer start, in seconds")).to_have_value("1.2")
    other.get_by_label("Answer start, in seconds").fill("1.5")
    other.get_by_label("Answer end, in seconds").fill("3.5")
    grace = save(other, "Grace")

    done = reelbench("review", "summarize", ada, grace, "--json", "--write", tmp_path / "rows.json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["kind"] == "spans"
    # Medians of two are means; 1.5 to 2.5 is shared of 1.2 to 3.5.
    assert summary["items"][first] == {
        "span": [pytest.approx(1.35), 3.0],
        "n": 2,
        "rejected": 0,
        "pairwise_iou": pytest.approx(1.0 / 2.3),
    }
    assert summary["items"][second] == {"span": None, "n": 0, "rejected": 2, "pairwise_iou": None}
    assert summary["mean_pairwise_iou"] == pytest.approx(1.0 / 2.3)
    assert summary["rejected_share"] == 0.5
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [(row["qid"], row["span"]) for row in rows] == [(first, [pytest.approx(1.35), 3.0])]
    # The rows are the owners' own, and read as such.
    done = reelbench("profile", "rextime", "--data", tmp_path / "rows.json", "--json")
    assert json.loads(done.stdout)["spans"]["length"] == pytest.approx(1.65)


@pytest.mark.browser
def test_question_spans_are_marked_by_keyboard_beside_the_answers_span(
    opened, save, reelbench, tmp_path
):
    from playwright.sync_api import expect

    path = tmp_path / "question-spans.html"
    done = reelbench("review", "page", "rextime_mini", "--ask", "question-spans", "--output", path)
    assert done.returncode == 0, done.stderr
    page = opened(path)
    page.wait_for_function("() => document.querySelector('video').readyState >= 1")
    identifier = page.locator("section").get_attribute("data-id")
    # The answer's own span is there to be played; what is marked is the question's.
    shown = page.get_by_role("button", name="s: play it")
    start, _, end = shown.inner_text().partition(" s:")[0].partition(" to ")
    shown.press("Enter")
    page.wait_for_function(
        "start => document.querySelector('video').currentTime >= start", arg=float(start)
    )
    page.keyboard.press("k")
    page.get_by_label("Question start, in seconds").fill("0")
    page.keyboard.press("Tab")
    page.get_by_label("Question end, in seconds").fill(start)
    page.get_by_label("Question end, in seconds").press("Tab")
    expect(page.get_by_role("status")).to_contain_text("1 of 12 marked")
    page.reload()
    expect(page.get_by_label("Question end, in seconds")).to_have_value(f"{float(start):g}")
    done = reelbench(
        "review", "summarize", save(page, "Ada"), "--json", "--write", tmp_path / "spans.jsonl"
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["items"][identifier]["span"] == [0, float(start)]
    # Touching spans overlap by nothing, and the certificate is both together.
    assert found["qa_miou"]["value"] == 0
    assert found["certificate_length"]["value"] == pytest.approx(float(end))
    (row,) = [json.loads(line) for line in (tmp_path / "spans.jsonl").read_text().splitlines()]
    assert row == {"qid": identifier, "span": [0, float(start)]}


@pytest.mark.browser
def test_ends_are_nudged_typed_and_dragged(opened, make):
    from playwright.sync_api import expect

    page = opened(make("rextime_mini", kind="spans").paths[0])
    page.wait_for_function("() => document.querySelector('video').readyState >= 1")
    start, end = (
        page.get_by_label("Answer start, in seconds"),
        page.get_by_label("Answer end, in seconds"),
    )
    handle = page.get_by_role("slider", name="Answer start")
    start.fill("2.1")
    handle.press("ArrowRight")
    expect(start).to_have_value("2.2")
    handle.press("Shift+ArrowLeft")
    expect(start).to_have_value("1.2")
    fps = page.evaluate("Object.values(review.videos)[0].fps")
    page.get_by_role("button", name="+1 f: Answer start").click()
    expect(start).to_have_value(f"{1.2 + 1 / fps:.3f}".rstrip("0"))
    page.get_by_role("button", name="−0.1: Answer start").click()
    expect(start).to_have_value(f"{1.1 + 1 / fps:.3f}".rstrip("0"))
    end.fill("0:02.5")
    expect(page.get_by_role("slider", name="Answer end")).to_have_attribute("aria-valuenow", "2.5")
    end.fill("0.5")
    expect(page.get_by_role("alert")).to_have_text("The end lies before the start.")
    expect(page.get_by_role("status")).to_contain_text("0 of 12 marked")
    # Half of the bar is half of the video, and the player goes along.
    bar = page.locator(".bar").bounding_box()
    where = page.get_by_role("slider", name="Answer end").bounding_box()
    page.mouse.move(where["x"] + where["width"] / 2, where["y"] + where["height"] / 2)
    page.mouse.down()
    page.mouse.move(bar["x"] + bar["width"] / 2, bar["y"] + 5, steps=3)
    page.mouse.up()
    half = page.evaluate("document.querySelector('video').duration") / 2
    page.wait_for_function(
        f"() => Math.abs(document.querySelector('video').currentTime - {half}) < .05"
    )
    assert float(end.input_value()) == pytest.approx(half, abs=0.05)
    # Looped, the player goes back to the start of the span.
    page.get_by_label("loop over the span").check()
    end.fill(str(float(start.input_value()) + 0.3))
    end.blur()
    page.keyboard.press("l")
    page.wait_for_function(
        """() => {
        (window.times ||= []).push(video.currentTime);
        return window.times.some((time, place) => place && time < window.times[place - 1] - .1);
        }"""
    )


# --- by hand
# -------------------------------------------------------------------------------------------------------


def spans_of(*spans):
    return {f"q{number}": {"span": list(span)} for number, span in enumerate(spans, start=1)}


def test_medians_overlaps_and_rejections(review):
    ada = review(
        "Ada",
        spans_of((0, 10), (0, 4)) | {"q3": {"verdict": "bad", "reason": "Two dogs"}},
        ask="spans",
    )
    grace = review("Grace", spans_of((2, 8), (4, 8)) | {"q3": {"span": [1, 2]}}, ask="spans")
    mary = review(
        "Mary",
        spans_of((1, 9)) | {"q3": {"span": [3, None]}, "q4": {"verdict": "bad", "span": [1, 2]}},
        ask="spans",
    )
    found = summarize([ada, grace, mary]).document()
    # Contained spans: 6/10, 8/10, 6/8. Touching spans don't overlap.
    assert found["items"]["q1"] == {
        "span": [1, 9],
        "n": 3,
        "rejected": 0,
        "pairwise_iou": pytest.approx((0.6 + 0.8 + 0.75) / 3),
    }
    assert found["items"]["q2"] == {"span": [2, 6], "n": 2, "rejected": 0, "pairwise_iou": 0}
    assert found["items"]["q3"] == {"span": [1, 2], "n": 1, "rejected": 1, "pairwise_iou": None}
    assert found["items"]["q4"] == {"span": None, "n": 0, "rejected": 1, "pairwise_iou": None}
    assert found["mean_pairwise_iou"] == pytest.approx((0.6 + 0.8 + 0.75) / 6)
    assert found["rejected_share"] == pytest.approx(2 / 8)
    assert found["ignored"] == {"unfinished": 1}
    assert found["reasons"] == {"q3": ["Ada: Two dogs"]}


def test_certificates_of_question_spans(review, tmp_path):
    answers = {"q1": (10, 20), "q2": (14.9, 20), "q3": (15, 20), "q4": (10, 10)}
    about = {name: {"video": f"v{name}", "answer_span": span} for name, span in answers.items()}
    said = spans_of((0, 10), (0, 10), (0, 10), (10, 10))
    ada = review("Ada", said, ask="question-spans", items=about)
    summary = summarize([ada])
    found = summary.document()
    # Touching: 20. A gap of 4.9 s counts: 20; one of 5.0 s doesn't: 15. Nothing at all is 0.1.
    assert found["certificate_length"]["value"] == pytest.approx((20 + 20 + 15 + 0.1) / 4)
    assert found["certificate_length"]["n"] == 4
    assert found["certificate_length"]["ci95"] is None  # of four videos
    assert found["qa_miou"]["value"] == 0
    summary.write(tmp_path / "q.jsonl")
    assert json.loads((tmp_path / "q.jsonl").read_text().splitlines()[0]) == {
        "qid": "q1",
        "span": [0, 10],
    }


def test_items_that_most_rejected_count_in_no_certificate(review, tmp_path):
    answers = {"q1": (10, 20), "q2": (2, 6), "q3": (1, 3), "q4": (0, 40)}
    about = {
        "ask": "question-spans",
        "items": {n: {"video": f"v{n}", "answer_span": s} for n, s in answers.items()},
    }
    ada = review("Ada", spans_of((0, 10), (0, 4), (1, 3), (0, 40)), **about)
    bad = {f"q{n}": {"verdict": "bad"} for n in (4,)}
    grace = review("Grace", bad, **about)
    mary = review("Mary", bad, **about)
    summary = summarize([ada, grace, mary])
    found = summary.document()
    # Touching: 20 s, overlap 0. [0, 4] and [2, 6]: 6 s, 2 of 6. The same: 2 s, 1. Two of three
    # rejected the fourth.
    assert found["certificate_length"]["n"] == found["qa_miou"]["n"] == 3
    assert found["certificate_length"]["value"] == pytest.approx((20 + 6 + 2) / 3)
    assert found["qa_miou"]["value"] == pytest.approx((0 + 1 / 3 + 1) / 3)
    summary.write(tmp_path / "kept.jsonl")
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 3


def test_what_people_time_counts_across_time_in_the_chains_funnel(review, tmp_path):
    row = {
        "duration": 100,
        "question": "?",
        "answer": "From <s0> to <e0>, x.",
        "category": "sequential",
        "ans": "A",
    }
    row |= {
        "source": "qvhighlights_val",
        "options": ["x", "y", "z", "w"],
        "span": [0, 100],
    }  # until people mark it
    asked = {"q1": [40, 60], "q2": [40, 60], "q3": None}
    rows = [
        {**row, "qid": name, "vid": f"v{name}", "question_span": span}
        for name, span in asked.items()
    ]
    (tmp_path / "rextime.json").write_text(json.dumps(rows))
    counted = {"questions": 3, "known": 0, "identical": 0, "contained": 0, "across_time": 0}
    counted |= {"certificate_length": None, "qa_miou": None}
    funnel = {
        "stages": [],
        "calls": 0,
        "cached": 0,
        "tokens": {"prompt": 0, "completion": 0},
        "models": {},
    }
    funnel |= {"thresholds": {}, "settings": {}, "prompts": {}, "cost_usd": None}
    (tmp_path / "funnel.json").write_text(
        json.dumps({**funnel, "unmarked": list(asked), "across_time": counted})
    )
    ada = review("Ada", spans_of((60, 70), (45, 50)), ask="spans")
    summarize([ada], tmp_path / "rextime.json").write(tmp_path / "kept.json")
    after = json.loads((tmp_path / "funnel.json").read_text())
    # q1's answer follows what it names, q2's lies within: 30 and 20 s, overlaps of 0 and 5 of 20.
    known = {"questions": 2, "known": 2, "identical": 0, "contained": 1, "across_time": 1}
    assert {name: after["across_time"][name] for name in known} == known
    assert after["across_time"]["certificate_length"]["value"] == 25
    assert after["across_time"]["qa_miou"]["value"] == 0.125
    assert after["unmarked"] == []


def test_one_person_with_two_parts_is_not_two_people(review):
    one = review("Ada", spans_of((0, 4)), ask="spans", part=1, name="one")
    two = review(
        "Ada", spans_of((0, 8)), ask="spans", part=2, name="two", saved="2026-11-21T10:00:00Z"
    )
    found = summarize([one, two]).document()
    assert found["reviewers"] == ["Ada"]
    assert found["items"]["q1"]["span"] == [0, 8]


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        ({"span": [1]}, "field marks.q1.span: expected"),
        ({"span": [-1, 2]}, "field marks.q1.span: expected"),
        ({"span": ["1", 2]}, "field marks.q1.span: expected"),
        ({"verdict": "so so"}, "field marks.q1.verdict: expected ok, bad"),
    ],
)
def test_a_mark_that_no_page_makes_is_named(review, marks, says):
    with pytest.raises(InputError, match=says):
        summarize([review("Ada", {"q1": marks}, ask="spans")])


def test_nothing_marked_is_told(review):
    with pytest.raises(InputError, match="no span is marked"):
        summarize([review("Ada", {"q1": {"note": "?"}}, ask="spans")])
