"""Tags, blind answers, scores: asked in a real browser by keyboard, merged by hand-worked values, settled."""

import csv
import json
import re
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.stats import intervals
from reelbench.studio.review.kinds import summarize
from reelbench.studio.tag_manual import our_manual


def tagged(target="", content="", thinking="Recall", **more):
    return {"target": target.split(), "content": content.split(), "thinking": thinking, **more}


# --- tags
# ----------------------------------------------------------------------------------------------------------


def test_agreement_is_of_what_each_said_before_and_consensus_is_what_all_say(review, tmp_path):
    # CogME, Figure 2, and the fact sheet's three sets: alpha with the MASI distance is .21875.
    ada = {
        "a": tagged("Object"),
        "b": tagged("Object Place", "Context"),
        "c": tagged("Place", note="seen twice"),
    }
    grace = {
        "a": tagged("Object"),
        "b": tagged("Object"),
        "c": tagged("Event", thinking="Reasoning"),
        "d": tagged(),
    }
    about = {"items": {name: {"video": f"v{name}"} for name in "abcd"}}
    files = [
        review(who, said, ask="tags", **about) for who, said in (("Ada", ada), ("Grace", grace))
    ]
    summary = summarize(files)
    found = summary.document()
    (pair,) = found["agreement"]
    assert (pair["a"], pair["b"], pair["both"], pair["only_b"]) == ("Ada", "Grace", 3, 1)
    assert pair["sets"]["target"]["alpha_masi"]["value"] == pytest.approx(0.21875)
    assert pair["sets"]["target"]["exact"]["value"] == pytest.approx(1 / 3)
    assert (found["consensus"], found["disagreements"]) == (2, ["b", "c"])
    line = summary.write(tmp_path / "out")
    assert "2 items written" in line
    rows = [
        json.loads(row) for row in (tmp_path / "out" / "consensus.jsonl").read_text().splitlines()
    ]
    assert rows[0] == {"qid": "a", "target": ["Object"], "content": [], "thinking": "Recall"}
    assert [row["qid"] for row in rows] == ["a", "d"]
    still = [
        json.loads(row)
        for row in (tmp_path / "out" / "disagreements.jsonl").read_text().splitlines()
    ]
    assert still[1]["notes"] == {"Ada": "seen twice"}
    assert still[0]["tags"]["Ada"]["target"] == ["Object", "Place"]


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (tagged("Object Place Event Emotion"), 'marks.a, field "target": 4 labels'),
        (tagged("Thing"), "marks.a, field \"target\": no label 'Thing'; labels are Character"),
        (tagged(thinking="Guessing"), "marks.a, field \"thinking\": no label 'Guessing'"),
    ],
)
def test_tags_that_no_page_gives_are_named(review, said, says):
    with pytest.raises(InputError, match=says):
        summarize([review("Ada", {"a": said}, ask="tags")])


def test_people_and_models_tag_by_one_manual(make, data_of):

    manual = our_manual().text
    asks = data_of(make("dramaqa_cogme_mini", kind="tags").paths[0])["places"][0]["items"][0][
        "asks"
    ]
    shown = {label: meaning for ask in asks for label, meaning in ask.get("labels", ())}
    shown |= dict(
        option["text"].split(" – ", 1) for ask in asks for option in ask.get("options", ())
    )
    assert len(shown) == 8 + 8 + 3  # CogME, Tables 1 to 3
    assert all(f"- {label}: {meaning}\n" in manual for label, meaning in shown.items())
    # The paper's border between the two (Table 2).
    assert "natural or mechanical" in shown["Causality"]


@pytest.mark.browser
def test_tags_are_given_and_what_differs_is_settled_on_a_page(
    opened, save, reelbench, data_of, tmp_path
):
    from playwright.sync_api import expect

    path = tmp_path / "tags.html"
    reelbench("review", "page", "dramaqa_cogme_mini", "--ask", "tags", "--output", path)
    identifier = data_of(path)["places"][0]["id"]
    files = []
    for name, labels in (
        ("Ada", ["Character", "Object", "Identity"]),
        ("Grace", ["Character", "Identity"]),
    ):
        page = opened(path)
        for label in labels:
            page.get_by_role("checkbox", name=re.compile(f"^{label} ")).press("Space")
        expect(page.get_by_role("status")).to_contain_text("0 of 12 tagged")
        page.get_by_role("radio", name="Grasping").focus()
        page.keyboard.press("1")  # the first way of thinking
        expect(page.get_by_role("status")).to_contain_text("1 of 12 tagged")
        if name == "Ada":
            # Three of a kind are enough.
            page.get_by_role("checkbox", name=re.compile("^Place ")).check()
            expect(page.get_by_role("checkbox", name=re.compile("^Emotion "))).to_be_disabled()
            page.get_by_role("checkbox", name=re.compile("^Place ")).uncheck()
            expect(page.get_by_role("checkbox", name=re.compile("^Emotion "))).to_be_enabled()
        files.append(save(page, name))
    settle = tmp_path / "settle.html"
    both = ["--consensus", files[0], "--consensus", files[1]]
    done = reelbench(
        "review", "page", "dramaqa_cogme_mini", "--ask", "tags", *both, "--output", settle
    )
    assert done.returncode == 0, done.stderr
    page = opened(settle)
    expect(page.get_by_role("row")).to_have_text(
        ["AdaCharacter, Object | Identity | RecallTake", "GraceCharacter | Identity | RecallTake"]
    )
    page.get_by_role("button", name="Take what Ada said").click()
    expect(page.get_by_role("checkbox", name=re.compile("^Object "))).to_be_checked()
    page.get_by_label("Note on").fill("it is held in a hand")
    expect(page.get_by_role("status")).to_contain_text("1 of 1 decided")
    decided = save(page, "Both")
    done = reelbench(
        "review", "summarize", *files, decided, "--json", "--write", tmp_path / "final.jsonl"
    )
    assert json.loads(done.stdout)["disagreements"] == []
    assert json.loads(done.stdout)["agreement"][0]["sets"]["target"]["exact"]["value"] == 0
    (row,) = [json.loads(row) for row in (tmp_path / "final.jsonl").read_text().splitlines()]
    assert row == {
        "qid": identifier,
        "target": ["Character", "Object"],
        "content": ["Identity"],
        "thinking": "Recall",
    }


def test_agreement_of_two_files_has_intervals_where_the_data_is(reelbench, tmp_path):
    from reelbench.tasks.dramaqa_cogme import SPEC

    tags = SPEC.folder / "mini" / "cogme_tags.jsonl"
    rows = [json.loads(row) for row in tags.read_text().splitlines()]
    rows[0]["thinking"] = "Reasoning" if rows[0]["thinking"] != "Reasoning" else "Recall"
    other = tmp_path / "b.jsonl"
    other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = reelbench("review", "agree", tags, other, "--split", "mini", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["sets"]["target"] == {
        name: found["sets"]["target"][name] for name in ("exact", "jaccard", "alpha_masi")
    }
    assert found["sets"]["target"]["exact"]["value"] == 1
    assert found["thinking"]["kappa"]["value"] < 1
    assert "no intervals" not in done.stderr
    done = reelbench("review", "agree", tags, other, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["thinking"]["kappa"]["ci95"] is None
    assert done.stderr.count("no intervals") == 1


def test_the_same_answers_are_counted_under_both_files_and_a_machine_is_tested(reelbench, tmp_path):
    from reelbench.tasks.dramaqa_cogme import SPEC

    folder = SPEC.folder / "mini"
    questions = json.loads((folder / "AnotherMissOhQA_val_set.json").read_text())
    predictions = tmp_path / "predictions.json"
    # Every question is answered right but the first.
    indices = [
        row["correct_idx"] if number else (row["correct_idx"] + 1) % 5
        for number, row in enumerate(questions)
    ]
    said = [
        {"qid": row["qid"], "correct_idx": index}
        for row, index in zip(questions, indices, strict=True)
    ]
    predictions.write_text(json.dumps(said))
    references = folder / "AnotherMissOhQA_val_set.json"
    scored = reelbench(
        "score",
        "dramaqa_cogme",
        "--predictions",
        predictions,
        "--references",
        references,
        "--output",
        tmp_path / "result",
    )
    assert scored.returncode == 0, scored.stderr
    ids = [str(row["qid"]) for row in questions]
    for name, first in (("a", "Place"), ("b", "Event")):
        # The wrong answer alone has the label that the two differ on.
        rows = [
            {
                "qid": qid,
                "target": ["Character" if number else first],
                "content": ["Identity"],
                "thinking": "Recall",
            }
            for number, qid in enumerate(ids)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = [
        "review",
        "agree",
        tmp_path / "a.jsonl",
        tmp_path / "b.jsonl",
        "--result",
        tmp_path / "result",
    ]
    done = reelbench(*arguments, "--machine", tmp_path / "a.jsonl", "--split", "mini", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    profile = found["profile"]
    assert profile["answers"] == len(ids)
    assert profile["labels"]["target.Place"] == {
        **profile["labels"]["target.Place"], "n_a": 1, "n_b": 0, "a": {"value": 0.0, "ci95": None}
    }  # fmt: skip
    assert profile["labels"]["target.Character"]["a"]["value"] == 100
    assert profile["labels"]["content.Identity"]["difference"]["value"] == 0
    # The machine says what a says: as near to b as a is on every item, but there are too few items
    # for a test.
    test = found["alternative_annotator"]["thinking"]
    assert [(one["advantage_model"], one["n"]) for one in test["people"].values()] == [
        (1.0, len(ids))
    ] * 2
    assert (test["winning_rate"], test["passes"]) == (None, False)
    shown = reelbench(*arguments, "--machine", tmp_path / "a.jsonl", "--split", "mini")
    assert "too few items" in shown.stdout
    assert "mean absolute difference" in shown.stdout
    refused = reelbench(*arguments, "--person", tmp_path / "b.jsonl")
    assert (refused.returncode, "give --machine FILE too" in refused.stderr) == (2, True)


# --- answers
# -------------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_blind_test_is_answered_by_keyboard_and_scored(opened, save, reelbench, score, tmp_path):
    from playwright.sync_api import expect

    path = tmp_path / "answers.html"
    reelbench("review", "page", "rextime_mini", "--ask", "answers", "--output", path)
    rows = {row["id"]: row for row in loading.locate("rextime_mini").read()}
    page = opened(path)
    for number in range(1, 4):  # two right with the true span, one wrong without a span
        identifier = page.locator("section").get_attribute("data-id")
        row = rows[identifier]
        right = "ABCD".index(row["answer"]) + 1
        page.keyboard.press(str(right if number < 3 else right % 4 + 1))
        if number < 3:
            page.get_by_label("Span start, in seconds").fill(str(row["span"][0]))
            page.get_by_label("Span end, in seconds").fill(str(row["span"][1]))
            page.get_by_label("Span end, in seconds").blur()
            expect(page.get_by_role("status")).to_contain_text(f"{number} of 12 answered")
        page.keyboard.press("n")
        expect(page.locator("section")).not_to_have_attribute("data-id", identifier)
    saved = save(page, "Ada")
    done = reelbench("review", "summarize", saved, "--json", "--write", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["setting"] == "human"
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(200 / 3)
    assert found["metrics"]["miou"]["value"] == pytest.approx(200 / 3)
    assert found["metrics"]["accuracy"]["n"] == 3
    # The owners' own file, and a row for the board.
    submission = tmp_path / "out" / "person-1" / "submission.jsonl"
    lines = [json.loads(line) for line in submission.read_text().splitlines()]
    assert set(lines[0]) == {"qid", "pred_relevant_windows", "ans"}
    again = score("rextime", "--split", "mini", "--predictions", submission)
    assert again["counts"]["scored"] == 3
    assert again["metrics"]["accuracy"]["value"] == pytest.approx(200 / 3)
    reelbench("leaderboard", "add", tmp_path / "out" / "person-1", "--store", tmp_path / "store")
    from reelbench.leaderboard import entries, store

    (stored,) = store.read(tmp_path / "store")
    row = entries.run_entry(stored)
    assert (row.kind, row.setting) == ("human", "human")


def test_people_are_pooled_over_all_their_answers(review, monkeypatch):
    monkeypatch.setattr(intervals, "MIN_CLUSTERS", 2)  # the mini data has few videos
    rows = loading.locate("dramaqa_cogme_mini").read()[:4]
    right = {row["id"]: {"answer": row["answer"]} for row in rows}
    wrong = {
        row["id"]: {"answer": "ABCDE"[("ABCDE".index(row["answer"]) + 1) % 5]} for row in rows[:2]
    }
    about = {"ask": "answers", "benchmark": "dramaqa_cogme", "split": "mini"}
    found = summarize([review("Ada", right, **about), review("Grace", wrong, **about)]).document()
    assert found["metrics"]["accuracy"]["value"] == pytest.approx(100 * 4 / 6)
    assert found["people"]["Ada"]["accuracy"]["value"] == 100
    assert found["people"]["Grace"]["accuracy"]["value"] == 0
    low, high = found["metrics"]["accuracy"]["ci95"]
    assert low < 100 * 4 / 6 < high
    with pytest.raises(InputError, match="has no such question"):
        summarize([review("Ada", {"gone": {"answer": "A"}}, **about)])


@pytest.mark.parametrize("benchmark", ["curve", "moviechat", "moviecore"])
def test_what_people_wrote_is_a_file_of_predictions_where_the_owners_have_no_form_of_their_own(
    benchmark, review, tmp_path
):
    first, *_ = loading.locate(f"{benchmark}_mini").read()
    about = {"ask": "answers", "benchmark": benchmark, "split": "mini"}
    summarize([review("Ada", {first["id"]: {"answer": "a kettle"}}, **about)]).write(
        tmp_path / "out"
    )
    written = tmp_path / "out" / "person-1" / "submission.jsonl"
    assert json.loads(written.read_text()) == {"id": first["id"], "prediction": "a kettle"}


# --- scores
# --------------------------------------------------------------------------------------------------------


def test_each_dimension_is_scored_by_the_words_that_its_judge_is_given():
    """Coherence is about coherence: every score of every dimension is named in the judge's file, and no other."""
    from reelbench.judges.prompting import load_prompts
    from reelbench.registry import discovery
    from reelbench.studio.review.ratings import score_item

    spec = discovery.get("moviecore")
    row = next(iter(loading.locate("moviecore_mini").read()))
    asks = score_item(spec.judge, load_prompts(spec, "reelbench"), row, "x")["asks"]
    asked = {ask["name"]: ask["anchors"] for ask in asks}
    assert asked["coherence"] == {
        "5": "clearer and better ordered than the reference",
        "4": "as clear and well ordered as the reference",
        "3": "clear in the main, with small flaws",
        "2": "flaws in order or wording that get in the way",
        "1": "hard to follow",
        "0": "cannot be followed at all, or no answer",
    }
    assert len({json.dumps(words) for words in asked.values()}) == len(asked) == 5
    for name, words in asked.items():
        prompt = (Path(spec.folder) / "judge" / f"{name}.txt").read_text()
        assert all(f"\n{score} - {meaning}\n" in f"{prompt}\n" for score, meaning in words.items())


@pytest.mark.browser
def test_answers_are_scored_blind_and_calibrate_the_judge(opened, save, reelbench, judged, data_of):
    from playwright.sync_api import expect

    tmp_path = judged.parent
    path = tmp_path / "scores.html"
    done = reelbench(
        "review", "page", "curve_mini", "--ask", "scores", "--answers", judged, "--output", path
    )
    assert done.returncode == 0, done.stderr
    text = path.read_text()
    assert "judge-x" not in text
    places = [place["id"] for place in data_of(path)["places"]]
    rows = [row["id"] for row in loading.locate("curve_mini").read()]
    assert sorted(places) == sorted(rows)
    assert places != rows
    other = tmp_path / "other.html"
    reelbench(
        "review",
        "page",
        "curve_mini",
        "--ask",
        "scores",
        "--answers",
        judged,
        "--seed",
        1,
        "--output",
        other,
    )
    assert [place["id"] for place in data_of(other)["places"]] != places
    page = opened(path)
    for number, value in enumerate("0212", start=1):
        page.keyboard.press(value)
        expect(page.get_by_role("status")).to_contain_text(f"{number} of {len(rows)} scored")
        page.keyboard.press("n")
    saved = save(page, "Ada")
    people = tmp_path / "people.csv"
    done = reelbench("review", "summarize", saved, "--json", "--write", people)
    assert json.loads(done.stdout)["criteria"]["score"] == {
        "mean": 1.25,
        "n": 4,
        "alpha": None,
        "scored_twice": 0,
    }
    assert [
        (row["id"], row["score"]) for row in csv.DictReader(people.read_text().splitlines())
    ] == sorted(zip(places[:4], ("0", "2", "1", "2"), strict=True))
    done = reelbench("judge", "calibrate", judged, people, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["criteria"]["score"]
    # A judge that says the same of everything adds nothing: what remains is people's own mean.
    assert found["judge"]["value"] == 1
    assert found["people"]["value"] == found["corrected"]["value"] == 1.25
    assert found["weight"] == 0
    assert found["confusion"]["2"] == {"0": 0, "1": 2, "2": 0}
    shown = reelbench("judge", "calibrate", judged, people, "--write")
    kept = json.loads((judged / "calibration.json").read_text())
    assert kept["people"] == "people.csv"
    of_score = kept["criteria"]["score"]
    assert (of_score["value"], of_score["items"]) == (1.25, len(rows))
    assert of_score["labels"] == dict(zip(places[:4], (0, 2, 1, 2), strict=True))
    assert "calibrated (prediction-powered" in shown.stdout
    assert reelbench("judge", "agree", judged, people).returncode == 0


def test_calibration_refuses_other_peoples_answers(reelbench, judged, tmp_path):
    (tmp_path / "p.csv").write_text("id,score\ngone,1\n")
    done = reelbench("judge", "calibrate", judged, tmp_path / "p.csv")
    assert done.returncode == 2
    assert "none of its 1 scores is of an answer" in done.stderr
