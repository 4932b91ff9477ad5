"""Tagging a diagnosis again: the page in Chromium, blind to the tagger, and what its file says of a known tagger."""

import json

import pytest

from tests.studio.test_diagnosis_page import LABELS


def test_the_page_has_every_attempt_with_what_was_settled_on_it_and_no_label(
    page_of_nodes, data_of
):
    path = page_of_nodes()
    document = data_of(path)
    shown = {
        place["label"]: [item["about"]["node"] for item in place["items"]]
        for place in document["places"]
    }
    # q1 settles n1 at first and n2 once it is told; q2 both n1 and n2 likewise; of q4 n2 is never
    # settled.
    assert shown == {
        "q1, attempt 1": ["n1"], "q1, attempt 2": ["n2"], "q2, attempt 1": ["n1"], "q2, attempt 2": ["n2"],
        "q3, attempt 1": ["n1", "n2"], "q4, attempt 1": ["n1"],
    }  # fmt: skip
    second = next(place for place in document["places"] if place["label"] == "q1, attempt 2")
    texts = {
        show["heading"]: show["text"]
        for show in second["items"][0]["shows"]
        if show["type"] == "text"
    }
    assert texts["The model was told"] == "cue of q1"
    assert "wrote 2" in texts["The model wrote"]
    # What the tagger said is nowhere, not even in the order or the number of options.
    items = [item for place in document["places"] for item in place["items"]]
    assert len({json.dumps(item["asks"]) for item in items}) == 1
    assert not any("settled" in json.dumps(item) or "votes" in json.dumps(item) for item in items)


def test_fewer_questions_are_drawn_by_the_seed(page_of_nodes, data_of):
    labels = {
        seed: [
            place["label"]
            for place in data_of(page_of_nodes("--sample", 1, "--seed", seed))["places"]
        ]
        for seed in range(8)
    }
    assert all(len({label.partition(",")[0] for label in one}) == 1 for one in labels.values())
    assert len({tuple(one) for one in labels.values()}) > 1


@pytest.mark.browser
def test_nodes_are_tagged_by_keyboard_and_the_tagger_is_held_against_it(
    opened, save, page_of_nodes, reelbench, diagnosis
):
    from playwright.sync_api import expect

    page = opened(page_of_nodes())
    keys = {
        "right": "1",
        "Temporal Localization": "2",
        "Attribute Misidentification": "4",
        "Reasoning": "7",
    }
    # The tagger says q1: T, R; q2: A, right; q3: right, T; q4: another path. People say otherwise
    # of q1 n2 and q3 n2.
    said = {
        "q1 n1": LABELS["T"], "q1 n2": LABELS["A"], "q2 n1": LABELS["A"], "q2 n2": "right", "q3 n1": "right",
        "q3 n2": "right", "q4 n1": "right",
    }  # fmt: skip
    done = 0
    for _ in range(6):
        sections = page.locator("section")
        for name in [
            sections.nth(place).get_attribute("data-id") for place in range(sections.count())
        ]:
            page.keyboard.press(keys[said[name]])
            done += 1
            expect(page.get_by_role("status")).to_contain_text(f"{done} of 7 tagged")
        page.keyboard.press("n")
    saved = save(page, "Ada")
    found = reelbench("diagnose", "report", diagnosis, "--people", saved, "--json")
    assert found.returncode == 0, found.stderr
    people = json.loads(found.stdout)["people"]
    # The same on q1 n1, both of q2 and q3 n1: four of seven.
    assert people["nodes"] == 7
    assert people["same"]["value"] == pytest.approx(4 / 7)
    # q1 and q2 have an error, and the first of each is found; q3 and q4 have none: q4's other path
    # is no error.
    assert people["first_errors"] == {
        "erroneous": 2, "found": 1.0, "correct": 2, "cleared": 0.5, "f1": pytest.approx(2 * 0.5 / 1.5)
    }  # fmt: skip
    shown = reelbench("diagnose", "report", diagnosis, "--people", saved)
    assert "67%" in next(line for line in shown.stdout.splitlines() if "ProcessBench" in line)
    summary = reelbench("review", "summarize", saved, "--json")
    assert json.loads(summary.stdout)["codes"]["right"] == 4


def test_people_who_differ_leave_a_node_open(review, reelbench, diagnosis):
    about = {
        f"q2 {node}": {"video": "mini_curve1", "question": "q2", "node": node, "round": 1}
        for node in ("n1", "n2")
    }
    more = {"ask": "nodes", "benchmark": "curve", "split": "mini", "items": about}
    ada = review("Ada", {"q2 n1": {"code": LABELS["A"]}, "q2 n2": {"code": "right"}}, **more)
    grace = review("Grace", {"q2 n1": {"code": LABELS["T"]}, "q2 n2": {"code": "right"}}, **more)
    found = reelbench("diagnose", "report", diagnosis, "--people", ada, "--people", grace, "--json")
    people = json.loads(found.stdout)["people"]
    assert (people["people"], people["open"], people["nodes"], people["same"]["value"]) == (
        2,
        1,
        1,
        1,
    )
    # Three values, each pair of the first node's two: observed 1 of 2 differ, expected 1 - (2 x 1)
    # / (4 x 3) of all.
    assert people["alpha"] == pytest.approx(1 - (1 / 2) / (1 - 2 / 12))
    wrong = review("Ada", {"q2 n1": {"code": "Bad luck"}}, **more)
    refused = reelbench("diagnose", "report", diagnosis, "--people", wrong)
    assert (refused.returncode, "expected right, " in refused.stderr) == (2, True)


@pytest.mark.parametrize(
    ("ask", "options", "says"),
    [("nodes", [], "with --ask nodes"), ("tags", ["--diagnosis", "x"], "and goes with no other")],
)
def test_a_diagnosis_goes_with_nodes(reelbench, ask, options, says):
    done = reelbench("review", "page", "curve_mini", "--ask", ask, *options)
    assert (done.returncode, says in done.stderr) == (2, True)


def test_what_people_say_of_nodes_is_printed(review, reelbench):
    items = {"q2 n1": {"video": "mini_curve1", "question": "q2", "node": "n1", "round": 1}}
    about = {"ask": "nodes", "benchmark": "curve", "split": "mini", "items": items}
    done = reelbench("review", "summarize", review("Ada", {"q2 n1": {"code": "right"}}, **about))
    assert done.returncode == 0, done.stderr
    assert ["right", "1"] in [line.split() for line in done.stdout.splitlines()]
