"""Words that no line is long enough for, wherever a page shows what somebody wrote: no page scrolls sideways."""

import json

import pytest
from playwright.sync_api import expect

from reelbench.studio.diagnosis.folder import (
    ANSWERS,
    Attempt,
    Folder,
    ReasonedQuestion,
    write_records,
)
from reelbench.studio.evidence.graphs import Graph, Node
from reelbench.studio.evidence.isolation import NodeTag, Round
from tests.servers import roles
from tests.servers.judge import Answer, JudgeServer
from tests.studio.conftest import video

WORD = "w" * 20_000
NAME = "n" * 190
"""As long as a name on a board may be, nearly."""


@pytest.fixture
def run(reelbench):
    def run(*words):
        done = reelbench(*words)
        assert done.returncode == 0, done.stderr
        return done

    return run


@pytest.fixture
def result(run, tmp_path):
    """A result of a benchmark of one's own: (its folder, the benchmark's)."""
    rows, answers = tmp_path / "rows.jsonl", tmp_path / "answers.jsonl"
    row = {
        "video": "v",
        "question": f"Why {WORD}?",
        "options": [f"{WORD}a", f"{WORD}b"],
        "answer": "B",
    }
    rows.write_text(
        "".join(
            json.dumps({"id": f"{NAME[:100]}{n}", **row, "topic": NAME}) + "\n" for n in range(12)
        )
    )
    given = {"prediction": f"(A) {WORD}"}
    answers.write_text(
        "".join(json.dumps({"id": f"{NAME[:100]}{n}", **given}) + "\n" for n in range(12))
    )
    run("new", "kitchen", "--from", rows, "--out", tmp_path / "kitchen")
    words = [f"organisation={NAME}", f"licence={NAME}", f"revision={NAME}", f"trained_on={NAME}"]
    about = [part for word in words for part in ("--about", word)]
    out = ("--output", tmp_path / "result", "--model", f"org/{NAME}", "--label", NAME, *about)
    run("score", tmp_path / "kitchen", "--predictions", answers, *out)
    return tmp_path / "result", tmp_path / "kitchen"


def board(run, result, tmp_path):
    run("leaderboard", "add", result()[0], "--store", tmp_path / "store")
    run("leaderboard", "build", "--store", tmp_path / "store", "--out", tmp_path / "board")
    return tmp_path / "board" / "index.html"


def viewer(run, result, tmp_path):
    run("view", result()[0], "--out", tmp_path / "page")
    return tmp_path / "page" / "index.html"


def review(run, result, tmp_path):
    run("review", "page", result()[1], "--output", tmp_path / "review.html")
    return tmp_path / "review.html"


def discussion(run, _, tmp_path):
    videos, out = tmp_path / "videos.jsonl", tmp_path / "made"
    wide = video(
        0,
        metadata={"genre": WORD},
        qa=[{"question": f"Who {WORD}?", "answer": WORD}],
        context=[WORD] * 8,
    )
    videos.write_text(json.dumps(wide) + "\n")

    def script(call):
        reply = roles.play(call)
        return Answer(reply.content.replace("Why does", WORD).replace("Because", WORD))

    with JudgeServer(script) as server:
        named = [part for role in roles.DISCUSSION for part in ("--llm", f"{role}={role}")]
        run("make", "discussion", "--videos", videos, "--out", out, "--llm-url", server.url, *named)
    run("make", "page", out, "--video", "film0")
    return out / "film0.html"


def diagnosis(run, _, tmp_path):
    folder = Folder(tmp_path / "diagnosis")
    folder.begin(
        {
            "benchmark": "curve",
            "split": "mini",
            "command": "run",
            "models": {"tagger": NAME},
            "votes": 3,
            "rounds": 2,
            "model": NAME,
        }
    )
    question = ReasonedQuestion(
        id=NAME,
        video="v",
        language="en-GB",
        locale="en-GB",
        question=WORD,
        answer=WORD,
        reasoning_steps=WORD,
    )
    nodes = (
        Node(id="n1", evidence=WORD, timestamp="0:02"),
        Node(id="n2", evidence=WORD, timestamp="0:04", parents=("n1",)),
    )
    folder.keep([question], [Graph(id=NAME, nodes=nodes)])
    wrong = NodeTag(status="wrong", label="Reasoning", settled=1)
    rounds = [
        Round(
            id=NAME,
            round=n,
            nodes={"n1": wrong, "n2": wrong},
            stop="limit" if n == 2 else None,
            cue=None if n == 2 else WORD,
        )
        for n in (1, 2)
    ]
    for record in rounds:
        write_records(
            folder.run(record.round, 1) / ANSWERS,
            [Attempt(id=NAME, answer=WORD, output=WORD, right=False)],
        )
        folder.end(record.round, [record], {})
    folder.tell(rounds)
    run("diagnose", "report", folder.path)
    return folder.path / "report.html"


@pytest.mark.browser
@pytest.mark.parametrize("page", [board, viewer, review, discussion, diagnosis])
def test_no_page_scrolls_sideways(page, run, request, chromium, tmp_path):
    path = page(run, lambda: request.getfixturevalue("result"), tmp_path)
    parts = ("#/kitchen", f"#/model/org%2F{NAME}") if page is board else ("",)
    errors = []
    for width in (1440, 390):
        context = chromium.new_context(viewport={"width": width, "height": 900})
        tab = context.new_page()
        tab.on("pageerror", lambda error: errors.append(str(error)))
        for part in parts:
            tab.goto(f"{path.as_uri()}{part}")
            expect(tab.locator("main")).to_contain_text(NAME[:100] if page is board else WORD[:100])
            expect(tab.locator("html")).to_have_js_property("scrollWidth", width)
        context.close()
    assert errors == []
