"""What raters differ on, side by side in Chromium, decided there, and what comes of it."""

import csv
import json

import pytest

from reelbench.data import loading


@pytest.fixture
def settled(opened, save, reelbench, tmp_path):
    """Write the consensus page of these files, take what one rater said of each item, and save."""

    def run(name, files, who, *options):
        path = tmp_path / "settle.html"
        both = [part for file in files for part in ("--consensus", file)]
        done = reelbench("review", "page", name, *both, *options, "--output", path)
        assert done.returncode == 0, done.stderr
        page = opened(path)
        said = [row.inner_text() for row in page.get_by_role("row").all()]
        page.get_by_role("button", name=f"Take what {who} said").click()
        page.get_by_label("Note on").first.fill("talked about it") if page.get_by_label(
            "Note on"
        ).count() else None
        assert "1 of 1 decided" in page.get_by_role("status").inner_text()
        return said, save(page, "Both")

    return run


@pytest.mark.browser
def test_answers_are_settled_without_a_look_at_the_right_one(
    review, settled, reelbench, data_of, tmp_path
):
    rows = loading.locate("rextime_mini").read()[:2]
    right = {row["id"]: {"answer": row["answer"], "span": row["span"]} for row in rows}
    first, second = right
    other = "ABCD"[("ABCD".index(rows[0]["answer"]) + 1) % 4]
    about = {"ask": "answers", "benchmark": "rextime", "split": "mini"}
    ada = review("Ada", right, **about)
    grace = review(
        "Grace", {first: {**right[first], "answer": other}, second: right[second]}, **about
    )
    said, decided = settled("rextime_mini", [ada, grace], "Ada", "--ask", "answers")
    assert [
        f"{rows[0]['answer']}: {rows[0]['options']['ABCD'.index(rows[0]['answer'])]}" in said[0]
    ] == [True]
    assert f"{other}: " in said[1]
    (place,) = data_of(tmp_path / "settle.html")["places"]
    assert place["id"] == first
    assert "answer_span" not in json.dumps(place)
    done = reelbench(
        "review", "summarize", ada, grace, decided, "--json", "--write", tmp_path / "out"
    )
    found = json.loads(done.stdout)
    # Grace has one of two right; what was decided, and what both said, are right.
    assert found["people"]["Grace"]["accuracy"]["value"] == 50
    assert found["metrics"]["accuracy"] == {
        **found["metrics"]["accuracy"],
        "value": 75,
        "n": 4,
        "people": 2,
    }
    assert found["together"]["accuracy"] == {**found["together"]["accuracy"], "value": 100, "n": 2}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "person-1",
        "person-2",
        "together",
    }
    alone = json.loads(reelbench("review", "summarize", ada, grace, "--json").stdout)
    assert "together" not in alone


@pytest.mark.browser
def test_a_decided_score_stands_in_the_place_of_the_mean(
    review, settled, reelbench, judged, tmp_path
):
    first, second = [row["id"] for row in loading.locate("curve_mini").read()[:2]]
    about = {"ask": "scores", "benchmark": "curve", "split": "mini"}
    ada = review("Ada", {first: {"score": 2}, second: {"score": 1}}, **about)
    grace = review("Grace", {first: {"score": 1}, second: {"score": 1}}, **about)
    refused = reelbench(
        "review", "page", "curve_mini", "--ask", "tags", "--consensus", ada, "--consensus", grace
    )
    assert (refused.returncode, "--answers names the result" in refused.stderr) == (2, True)
    said, decided = settled(
        "curve_mini", [ada, grace], "Ada", "--ask", "scores", "--answers", judged
    )
    assert ["score 2" in said[0], "score 1" in said[1]] == [True, True]
    people = tmp_path / "people.csv"
    reelbench("review", "summarize", ada, grace, decided, "--write", people)
    scores = {row["id"]: row["score"] for row in csv.DictReader(people.read_text().splitlines())}
    assert scores == {first: "2", second: "1"}


@pytest.mark.browser
def test_a_nodes_code_is_settled_with_the_attempt_in_view(
    review, settled, reelbench, diagnosis, tmp_path
):
    items = {"q2 n2": {"video": "mini_curve1", "question": "q2", "node": "n2", "round": 2}}
    about = {"ask": "nodes", "benchmark": "curve", "split": "mini", "items": items}
    ada = review("Ada", {"q2 n2": {"code": "right"}}, **about)
    grace = review("Grace", {"q2 n2": {"code": "Reasoning"}}, **about)
    said, decided = settled(
        "curve", [ada, grace], "Ada", "--ask", "nodes", "--diagnosis", diagnosis
    )
    assert ["the model has it" in said[0], "Reasoning" in said[1]] == [True, True]
    assert "wrote 2" in (tmp_path / "settle.html").read_text()
    found = reelbench(
        "diagnose",
        "report",
        diagnosis,
        *(part for f in (ada, grace, decided) for part in ("--people", f)),
        "--json",
    )
    people = json.loads(found.stdout)["people"]
    assert (people["people"], people["open"], people["nodes"], people["same"]["value"]) == (
        2,
        0,
        1,
        1,
    )
