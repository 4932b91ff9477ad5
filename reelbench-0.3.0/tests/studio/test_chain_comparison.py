"""Two runs of a chain side by side, by hand: funnels, the same questions, and differences of means."""

import json

import pytest


@pytest.fixture
def made(tmp_path):
    """Write what a discussion leaves: video -> (question, answer) of each."""

    def write(name, questions, kept, **models):
        folder = tmp_path / name
        folder.mkdir()
        entries = {
            f"{video}_{n}": {
                "video": video,
                "question_id": f"{video}_{n}",
                "question": asked,
                "answer": answer,
            }
            for video, pairs in questions.items()
            for n, (asked, answer) in enumerate(pairs, start=1)
        }
        (folder / "annotations.json").write_text(json.dumps(entries))
        funnel = {
            "stages": [{"name": "skeptic", "in": 3, "out": kept, "dropped": {"refused": 3 - kept} if kept < 3 else {}}],
            "calls": 1, "cached": 0, "tokens": {"prompt": 1, "completion": 1}, "thresholds": {}, "cost_usd": None,
            "models": {role: {"asked": model, "returned": {model: 1}} for role, model in models.items()},
            "settings": {"rounds": len(models)}, "prompts": {"skeptic.txt": "0" * 64},
        }  # fmt: skip
        (folder / "funnel.json").write_text(json.dumps(funnel))
        return folder

    return write


def test_two_runs_are_compared(made, reelbench):
    first = made(
        "a",
        {"v1": [("Why so?", "One two."), ("Who is it?", "Three.")], "v2": [("What now?", "Four.")]},
        2,
        skeptic="m1",
    )
    second = made(
        "b",
        {"v1": [("why  SO?", "Five."), ("Where did it go then?", "Six.")], "v3": [("?", "x")]},
        3,
        skeptic="m2",
    )
    done = reelbench("make", "compare", first, second, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert (document["videos"], document["same"], document["same_answers"]) == (
        1,
        1,
        0,
    )  # v1 alone is in both
    assert [document[side]["stages"][0]["out"] for side in "ab"] == [2, 3]
    assert [document[side]["models"] for side in "ab"] == [{"skeptic": "m1"}, {"skeptic": "m2"}]
    assert document["a"]["differs"] == {}
    # Words of a question: (2 + 3) / 2 beside (2 + 5) / 2; of an answer (2 + 1) / 2 beside (1 + 1) /
    # 2.
    assert document["measures"]["words_question"] == {
        "a": 2.5,
        "b": 3.5,
        "difference": 1.0,
        "ci95": None,
    }
    assert document["measures"]["words_answer"] == {
        "a": 1.5,
        "b": 1.0,
        "difference": -0.5,
        "ci95": None,
    }
    shown = reelbench("make", "compare", first, second).stdout
    assert "the same in both: 1, with the same answer: 0" in shown
    assert all(words in shown for words in ("2 of 3", "3 of 3", "m1", "m2"))


def test_ten_videos_have_an_interval(made, reelbench):
    """Every question has two words in a and three in b, but for one of four: the difference is 1.1."""
    two, three = [("One two?", "x")], [("One two three?", "x")]
    first = made("a", {f"v{n}": two for n in range(10)}, 3)
    second = made(
        "b", {f"v{n}": three if n else [("One two three four?", "x")] for n in range(10)}, 3
    )
    measure = json.loads(reelbench("make", "compare", first, second, "--json").stdout)["measures"][
        "words_question"
    ]
    assert measure["difference"] == pytest.approx(1.1)
    low, high = measure["ci95"]
    # Student's t over ten videos: 1.1 ± 2.262 · 0.1.
    assert (low, high) == (pytest.approx(0.874, abs=0.03), pytest.approx(1.326, abs=0.03))


def test_what_is_no_run_is_told(made, reelbench, tmp_path):
    first = made("a", {"v1": [("Why?", "So.")]}, 3)
    other = made("b", {"v2": [("Why?", "So.")]}, 3)
    for second, says in (
        (tmp_path, "give a chain's --out"),
        (other, "no video has questions in both"),
    ):
        done = reelbench("make", "compare", first, second)
        assert (done.returncode, says in done.stderr) == (2, True), done.stderr
    (other / "annotations.json").write_text('{"v2_1": {"video": "v2", "question": "Why?"}}')
    assert (
        "annotations.json, entry 1: not a question"
        in reelbench("make", "compare", first, other).stderr
    )
