"""Audits: the page from gate to summary, files put together by hand-worked values, and draws by label."""

import json
import re

import pytest
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.registry import discovery
from reelbench.studio.review import KindName
from reelbench.studio.review.kinds import KINDS, summarize
from tests.program import app
from tests.studio.test_diagnosis_page import diagnosed

STEPS = ["step 1 required", "step 1 time", "step 2 required"]


def run(*command):
    done = CliRunner().invoke(app, ["review", *map(str, command)], catch_exceptions=False)
    assert done.exit_code == 0
    return done


def audited(code, reason="", required="yes", time="yes", **more):
    said = {"clarity": "clear", "own_answer": "x", "revealed": True, "code": code}
    said |= dict(zip(STEPS, (required, time, "yes"), strict=True)) | more
    return said | ({"why": reason} if reason else {})


@pytest.fixture
def files(review):
    items = {
        name: {
            "video": "v",
            "texts": {"question": f"{name}?", "answer": f"{name}!"},
            "steps": STEPS,
        }
        for name in ("mini1", "mini2", "mini3", "mini4")
    }
    about = {"ask": "audit", "benchmark": "curve", "split": "mini", "items": items}
    ada = {
        "mini1": audited("A", required="no"),
        "mini2": audited("B", "a word", answer="two"),
        "mini3": audited("C1", "it goes left"),
        "mini4": {"clarity": "unclear", "why": "which square?"},
    }
    ben = {
        "mini1": audited("A", time="no", answer="left over from another code"),
        "mini2": audited("C2", "I misread"),
        "mini3": audited("C1", "left, not right"),
        "mini4": audited("C3", "two squares"),
    }
    return [review("Ada", ada, **about), review("Ben", ben, **about)], review, about


def test_codes_reasons_and_steps_are_put_together(files):
    figures = json.loads(run("summarize", *files[0], "--json").stdout)
    # Pairs: (A, A), (B, C2), (C1, C1), (C3, C3): what did not pass the gate is C3.
    assert figures["codes"] == {
        "A": {"n": 2, "settled": 1, "agreement": 1},
        "B": {"n": 1, "settled": 0, "agreement": 0},
        "C1": {"n": 2, "settled": 1, "agreement": 1},
        "C2": {"n": 1, "settled": 0, "agreement": 0},
        "C3": {"n": 2, "settled": 1, "agreement": 1},
    }
    # Observed disagreement 2/8; expected, of counts 2 1 2 1 2: (64 - 14) / (8 * 7) = 50/56.
    assert figures["alpha"] == pytest.approx(1 - (2 / 8) / (50 / 56))
    assert (figures["open"], figures["clarity"]) == (["mini2"], {"clear": 7, "unclear": 1})
    assert [(one["id"], one["reviewer"], one["code"]) for one in figures["reasons"]] == [
        ("mini2", "Ada", "B"), ("mini2", "Ben", "C2"), ("mini3", "Ada", "C1"), ("mini3", "Ben", "C1"),
        ("mini4", "Ada", "C3"), ("mini4", "Ben", "C3"),
    ]  # fmt: skip
    assert figures["steps"]["not_required"] == {"judged": 8, "steps": [{"id": "mini1", "step": 1}]}
    assert figures["steps"]["wrong_time"] == {"judged": 4, "steps": [{"id": "mini1", "step": 1}]}
    assert figures["mended"] == {}
    assert {name: one["marked"] for name, one in figures["progress"].items()} == {
        "Ada": 4,
        "Ben": 4,
    }
    printed = run("summarize", *files[0])
    assert "it goes left" in printed.output


def test_one_code_with_two_ways_to_mend_is_open(review, tmp_path):
    about = {"ask": "audit", "benchmark": "curve", "split": "mini"}
    texts = {"texts": {"question": "?", "answer": "!"}, "steps": STEPS}
    about["items"] = {name: {"video": "v", **texts} for name in ("mini1", "mini2", "mini3")}
    said = {"Ada": "two", "Ben": "three"}
    files = [
        review(
            who,
            {
                "mini1": audited("B", "a word", answer=word),
                "mini2": audited("C1", "it goes left", answer=word),
                "mini3": audited("B", "a word", **({"answer": word} if who == "Ada" else {})),
            },
            **about,
        )
        for who, word in said.items()
    ]
    figures = json.loads(
        run("summarize", *files, "--write", tmp_path / "kept.json", "--json").stdout
    )
    assert figures["open"] == ["mini1", "mini2"]
    assert figures["mended"].keys() == {"mini3"}
    rows = {row["key"]: row for row in json.loads((tmp_path / "kept.json").read_text())}
    assert (rows["mini1"]["answer"], rows["mini1"]["verified"]) == ("To the right", False)
    assert (rows["mini2"]["answer"], rows["mini2"]["verified"]) == ("右", False)
    assert (rows["mini3"]["answer"], rows["mini3"]["verified"]) == ("two", True)
    both = [part for path in files for part in ("--consensus", path)]
    assert run("page", "curve_mini", "--ask", "audit", *both, "--output", tmp_path / "settle.html")


def test_what_is_settled_is_written_and_what_is_wrong_goes_back(files, tmp_path):
    paths, review, about = files
    decided = review(
        "Both", {"mini2": audited("B", "a word", answer="Nach rechts")}, **about, consensus=True
    )
    out = tmp_path / "kept.json"
    figures = json.loads(run("summarize", *paths, decided, "--write", out, "--json").stdout)
    assert figures["mended"] == {"mini2": {"answer": {"before": "mini2!", "after": "Nach rechts"}}}
    rows = {row["key"]: row for row in json.loads(out.read_text())}
    known = {row["id"] for row in loading.locate("curve_mini").read()}
    assert rows.keys() == known - {"mini3", "mini4"}
    assert [name for name, row in rows.items() if row["verified"]] == ["mini1", "mini2"]
    assert (rows["mini1"]["answer"], rows["mini2"]["answer"]) == ("To the right", "Nach rechts")


def test_what_differs_is_settled_on_a_page(files, tmp_path, data_of):
    both = [part for path in files[0] for part in ("--consensus", path)]
    run("page", "curve_mini", "--ask", "audit", *both, "--output", tmp_path / "settle.html")
    place, *others = data_of(tmp_path / "settle.html")["places"]
    assert place["label"] == "mini2"
    assert [other["label"] for other in others] == [
        "mini3",
        "mini4",
    ]  # both auditors sent them back, unmended
    (marks,) = [show["marks"] for show in place["items"][0]["shows"] if show["type"] == "marks"]
    assert [one["who"] for one in marks] == ["Ada", "Ben"]
    assert marks[0]["said"] == (
        "Yes: it can be read in one way only | x | B – They differ slightly, and a small change would settle it | two"
        " | a word"
    )


TEXTS = {"question": "New question?", "answer": "New answer"}
OUTCOMES = {
    # B.2: what both say, or the auditor was wrong about, stays as it is, whatever was typed under
    # another code before.
    ("A", ""): {}, ("A", "question answer"): {}, ("C2", ""): {}, ("C2", "answer"): {},
    # "Work with the rater to agree on the best version. The rater will update it."
    ("B", ""): None, ("B", "question"): {"question"}, ("B", "answer"): {"answer"},
    ("B", "question answer"): {"question", "answer"},
    # "Tell them to update their GT answer": a new question alone leaves the answer wrong.
    ("C1", ""): None, ("C1", "question"): None, ("C1", "answer"): {"answer"}, ("C1", "question answer"): {"answer"},
    # "The rater will update both the question and the GT answer": a new answer alone leaves the
    # question unclear.
    ("C3", ""): None, ("C3", "answer"): None, ("C3", "question"): {"question"},
    ("C3", "question answer"): {"question", "answer"},
    # At the gate: what only its writer can mend goes back; what was mended there keeps its new
    # question.
    ("unclear", "question answer"): None, ("mended A", "question"): {"question"},
    ("mended C1", "question"): None, ("mended C1", "question answer"): {"question", "answer"},
}  # fmt: skip
"""Gate and code, and what was typed -> the texts that the question stays with; None: it goes back."""


@pytest.mark.parametrize(("said", "typed"), OUTCOMES)
def test_every_code_ends_as_the_guidelines_say(said, typed, review, tmp_path, data_of):
    stays = OUTCOMES[said, typed]
    gate, code = (
        ("unclear", None)
        if said == "unclear"
        else ("mended" if " " in said else "clear", said.split()[-1])
    )
    marks = {"clarity": gate, "why": "Because."} | ({"code": code} if code else {})
    marks |= {name: TEXTS[name] for name in typed.split()}
    texts = {"question": "Which way does the square travel?", "answer": "To the right"}
    about = {"ask": "audit", "benchmark": "curve", "split": "mini"}
    about["items"] = {"mini1": {"video": "mini_curve1", "texts": texts, "steps": []}}
    file, out = review("Ada", {"mini1": marks}, **about), tmp_path / "kept.json"
    (tmp_path / "kept.back.json").write_text("[]")  # of an earlier run
    figures = json.loads(run("summarize", file, "--write", out, "--json").stdout)
    rows = {row["key"]: row for row in json.loads(out.read_text())}
    if stays is not None:
        expected = texts | {name: TEXTS[name] for name in stays}
        assert {name: rows["mini1"][name] for name in texts} == expected
        assert (rows["mini1"]["verified"], figures["back"]) == (True, {})
        assert not (tmp_path / "kept.back.json").exists()
        return
    assert "mini1" not in rows
    code = code or "C3"
    assert figures["back"] == {"mini1": code}
    (back,) = json.loads((tmp_path / "kept.back.json").read_text())
    assert (back["key"], back["question"], back["audit"]) == (
        "mini1", texts["question"], {"code": code, "why": {"Ada": "Because."}},
    )  # fmt: skip
    # Both settle it on a page, or its writer mends the file, and an audit takes it again.
    run(
        "page",
        "curve_mini",
        "--ask",
        "audit",
        "--consensus",
        file,
        "--output",
        tmp_path / "settle.html",
    )
    assert [place["label"] for place in data_of(tmp_path / "settle.html")["places"]] == ["mini1"]
    (tmp_path / "kept.back.json").write_text(
        json.dumps([back | {"question": "Mended by its writer?"}])
    )
    again = ("--data", tmp_path / "kept.back.json", "--output", tmp_path / "again.html")
    run("page", "curve", "--ask", "audit", *again)
    (place,) = data_of(tmp_path / "again.html")["places"]
    assert place["items"][0]["shows"][0]["text"] == "Mended by its writer?"


def test_marks_that_no_page_gives_are_named(files):
    _, review, about = files
    with pytest.raises(
        InputError, match=r"marks\.mini1\.code: expected A, B, C1, C2, C3; found 'D'"
    ):
        summarize([review("Cy", {"mini1": {"code": "D"}}, **about)])


@pytest.mark.parametrize("ask", ["audit", "answers", "ratings"])
def test_advice_on_searching_is_the_benchmarks_own(ask):
    kind = KINDS[KindName(ask)]
    assert any("search the web" in line for line in kind.advise(discovery.get("curve")))
    assert kind.advise(discovery.get("moviecore")) == kind.advice
    assert not any("search" in line for line in kind.advice)


def test_so_many_of_each_label_are_drawn(tmp_path, data_of):
    rows = list(loading.locate("curve_mini").read())
    labels = {row["id"]: row["category"][0] for row in rows}
    many = [label for label in set(labels.values()) if list(labels.values()).count(label) > 1]
    assert many

    def drawn(*options):
        out = tmp_path / "page.html"
        run("page", "curve_mini", "--ask", "answers", *options, "--output", out)
        return {place["label"] for place in data_of(out)["places"]}

    names = drawn("--per", "category=1")
    assert sorted(labels[name] for name in names) == sorted(set(labels.values()))
    assert drawn("--per", "category=1") == names
    assert any(drawn("--per", "category=1", "--seed", seed) != names for seed in range(5))
    assert drawn("--per", "category=99") == labels.keys()
    for wrong, says in (
        ("category", "as in locale=10"),
        ("category=0", "as in locale=10"),
        ("taste=1", "locale, cat"),
    ):
        done = CliRunner().invoke(app, ["review", "page", "curve_mini", "--per", wrong])
        assert says in str(done.exception)


def test_nodes_are_drawn_by_label_too(tmp_path, data_of):
    attempts = [
        ("mini1", "A"),
        ("mini2", "A"),
        ("mini3", "A"),
        ("mini4", "T"),
    ]  # three of Sports, one of Festivals
    diagnosed(
        tmp_path / "errors",
        [(name, "mini_curve1", "en-GB", [f"{sign}."], "no_consensus") for name, sign in attempts],
    )
    out = tmp_path / "nodes.html"
    drawn = ["--diagnosis", tmp_path / "errors", "--per", "category=1", "--output", out]
    for seed in range(6):
        run("page", "curve", "--ask", "nodes", *drawn, "--seed", seed)
        asked = {place["label"].partition(",")[0] for place in data_of(out)["places"]}
        assert len(asked) == 2
        assert "mini4" in asked


@pytest.mark.browser
def test_an_audit_goes_from_gate_to_summary(opened, save, tmp_path):
    from playwright.sync_api import expect

    path = tmp_path / "audit.html"
    run("page", "curve_mini", "--ask", "audit", "--per", "locale=1", "--output", path)
    page = opened(path)
    first = page.locator("option", has_text=re.compile(": mini1$"))
    page.get_by_label("Question", exact=True).select_option(label=first.inner_text())
    reveal = page.get_by_role("button", name="Show the writer's answer")
    own = page.get_by_label("2. Your answer on mini1")
    expect(page.get_by_text("You may search the web")).to_be_visible()
    expect(page.get_by_text("To the right", exact=True)).to_be_hidden()
    expect(own).to_be_hidden()
    page.get_by_label("only its writer can correct it").check()
    expect(page.get_by_label("Why? on mini1")).to_be_visible()
    expect(reveal).to_be_hidden()
    page.get_by_label("I correct it below").check()
    own.fill("Rightwards")
    expect(reveal).to_be_disabled()  # it is not mended yet
    page.get_by_label("Corrected question on mini1").fill("Which way does the white square travel?")
    reveal.click()
    expect(page.get_by_text("To the right", exact=True)).to_be_visible()
    expect(own).to_be_disabled()
    expect(page.get_by_label("I correct it below")).to_be_disabled()
    page.keyboard.press("2")  # B, the first choice that is open
    page.get_by_label("Why? on mini1").fill("A word more")
    page.get_by_label("Corrected answer on mini1").fill("To the right, slowly")
    for group in page.get_by_role("group", name="Is it required?").all():
        group.get_by_label("Required", exact=True).check()
    times = page.get_by_role("group", name="Is its time right?")
    expect(times).to_have_count(2)  # the third step names none
    times.nth(0).get_by_label("Right", exact=True).check()
    expect(page.get_by_role("status")).to_contain_text("0 of")
    times.nth(1).get_by_label("Wrong").check()
    expect(page.get_by_role("status")).to_contain_text("1 of")
    page.reload()  # what was said stays, and stays locked
    expect(own).to_be_disabled()
    page.screenshot(path=tmp_path / "audit.png", full_page=True)
    figures = json.loads(run("summarize", save(page, "Ada"), "--json").stdout)
    assert figures["codes"]["B"]["settled"] == 1
    assert figures["steps"]["wrong_time"] == {"judged": 2, "steps": [{"id": "mini1", "step": 2}]}
    assert figures["mended"]["mini1"] == {
        "question": {
            "before": "Which way does the square travel?",
            "after": "Which way does the white square travel?",
        },
        "answer": {"before": "To the right", "after": "To the right, slowly"},
    }
    assert figures["progress"]["Ada"]["marked"] == 1


@pytest.mark.browser
def test_twelve_audits_over_all_codes_go_from_page_to_file(opened, save, tmp_path):
    """Two or three of each code, with and without what it asks for; one that the gate sends back, one mended there."""
    path = tmp_path / "audit.html"
    run("page", "curve_mini", "--ask", "audit", "--output", path)
    page = opened(path)
    ends = [  # gate, code, what is entered, whether it stays
        ("clear", "A", {}, True), ("clear", "C2", {}, True), ("clear", "A", {}, True), ("clear", "C2", {}, True),
        ("clear", "B", {"Answer": "b"}, True), ("clear", "B", {}, False), ("clear", "C1", {"Answer": "c"}, True),
        ("clear", "C1", {}, False), ("clear", "C3", {"Question": "d?", "Answer": "d"}, True),
        ("clear", "C3", {}, False),
        ("unclear", "C3", {}, False), ("mended", "A", {"Question": "e?"}, True),
    ]  # fmt: skip
    gates = {
        "clear": "can be read in one way",
        "unclear": "only its writer can",
        "mended": "I correct it below",
    }
    names = []
    for option, (gate, code, texts, _) in zip(
        page.locator("#jump option").all(), ends, strict=True
    ):
        names.append(option.inner_text().rpartition(": ")[2].split(" ")[0])
        page.locator("#jump").select_option(label=option.inner_text())
        page.get_by_label(gates[gate]).check()
        if gate == "unclear":
            page.get_by_label("Why? on").fill("Which one?")
            continue
        if gate == "mended":
            page.get_by_label("Corrected question on").fill(texts["Question"])
        page.get_by_label("2. Your answer on").fill("mine")
        page.get_by_role("button", name="Show the writer's answer").click()
        page.get_by_label(f"{code} –").check()
        for name, text in texts.items():
            page.get_by_label(f"Corrected {name.lower()} on").fill(text)
        if code != "A":
            page.get_by_label("Why? on").fill("So it is.")
        for group in page.get_by_role("group", name="Is it required?").all():
            group.get_by_label("Required", exact=True).check()
        for group in page.get_by_role("group", name="Is its time right?").all():
            group.get_by_label("Right", exact=True).check()
    page.screenshot(path=tmp_path / "audits.png", full_page=True)
    file, out = save(page, "Ada"), tmp_path / "kept.json"
    figures = json.loads(run("summarize", file, "--write", out, "--json").stdout)
    assert figures["progress"]["Ada"]["marked"] == 12
    assert {code: count["n"] for code, count in figures["codes"].items()} == {
        "A": 3,
        "B": 2,
        "C1": 2,
        "C2": 2,
        "C3": 3,
    }
    stay = {name for name, end in zip(names, ends, strict=True) if end[-1]}
    rows = {row["key"]: row for row in json.loads(out.read_text())}
    assert ({name for name, row in rows.items() if row["verified"]}, rows.keys() - stay) == (
        stay,
        set(),
    )
    assert {row["key"] for row in json.loads((tmp_path / "kept.back.json").read_text())} == set(
        names
    ) - stay
    for name, (_, _, texts, stays) in zip(names, ends, strict=True):
        assert not stays or {field: rows[name][field.lower()] for field in texts} == texts
