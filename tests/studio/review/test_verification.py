"""Verification that acts: what is rated low is kept, dropped or edited; two versions are chosen between blind."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.chain import ChainPrompts, ChainSetup
from reelbench.studio.discussion import Discussion, DiscussionOptions, run
from reelbench.studio.discussion_files import read_videos
from reelbench.studio.review import preferences
from reelbench.studio.review.kinds import summarize
from tests.servers import roles
from tests.servers.judge import JudgeServer
from tests.studio.conftest import video

QUESTION = ("relevance", "clarity", "depth", "answerability")


@pytest.fixture
def made(tmp_path):
    """What `make discussion` makes of three videos, at $10 per million tokens."""
    from reelbench.llm.ask_options import AskOptions

    videos, out = tmp_path / "videos.jsonl", tmp_path / "made"
    out.mkdir()
    videos.write_text("".join(json.dumps(video(n)) + "\n" for n in range(3)))
    with JudgeServer(roles.play) as server:
        priced = {
            "url": server.url,
            "usd_per_million_prompt": 10.0,
            "usd_per_million_completion": 10.0,
        }
        models = {role: AskOptions(model=role, **priced) for role in roles.DISCUSSION}
        discussion = Discussion(ChainPrompts("discussion"), DiscussionOptions())
        with ThreadPoolExecutor(1) as apart:  # Playwright's own loop runs in this thread
            apart.submit(
                asyncio.run, run(read_videos(videos, 8), discussion, ChainSetup(models, out))
            ).result()
    return out


def ratings(low=()):
    """Ratings of the first video's five questions: 4 throughout, but where `low` says (part, number, dimension)."""
    return {
        part: {
            f"film0_{n}": {name: 2 if (part, n, name) in low else 4 for name in QUESTION}
            for n in range(1, 6)
        }
        for part in ("question", "answer")
    }


LOW = (
    ("question", 2, "answerability"),
    ("answer", 2, "relevance"),
    ("question", 3, "depth"),
    ("answer", 5, "clarity"),
)


@pytest.fixture
def decide(review):
    """A function: decisions -> the files of a rater and of who decided."""

    def decide(marks):
        rated = review(
            "Ada",
            ratings(LOW),
            seconds={"film0": 1800.0},
            comments={"film0_2": "Where is the parade?"},
        )
        return [
            rated,
            review(
                "Meta", {}, name="decided", page="c1", consensus=True, ask="ratings", marks=marks
            ),
        ]

    return decide


def test_what_is_low_comes_up_with_what_raters_said(decide, review, made, reelbench, data_of):
    rated, _ = decide({})
    page = made / "decide.html"
    command = ["review", "page", "moviecore", "--data", made / "annotations.json", "--output", page]
    done = reelbench(*command, "--consensus", rated)
    assert done.returncode == 0, done.stderr
    places = data_of(page)["places"]
    assert [place["id"] for place in places] == ["film0_2", "film0_3", "film0_5"]
    (item,) = places[0]["items"]
    assert item["shows"][-1]["others"] == [
        *(
            "answer, relevance: 2.0 (Ada 2)",
            "question, answerability: 2.0 (Ada 2)",
            "Ada: Where is the parade?",
        )
    ]
    assert [ask["name"] for ask in item["asks"]] == ["decision", "question", "answer", "note"]
    high = review("Ada", ratings())
    refused = reelbench(*command, "--consensus", high)
    assert refused.returncode == 2
    assert "nothing was rated 2 or lower" in refused.stderr


def test_what_a_single_reviewer_rates_low_comes_up_and_is_not_verified(
    review, made, reelbench, data_of, tmp_path
):
    # Figure S3: "from one of our reviewers"; the others thought well of it.
    files = [review("Ada", ratings(LOW[:1])), review("Ben", ratings()), review("Cy", ratings())]
    page, kept = made / "decide.html", tmp_path / "kept.json"
    given = [part for file in files for part in ("--consensus", file)]
    data = ("--data", made / "annotations.json")
    done = reelbench("review", "page", "moviecore", *data, "--output", page, *given)
    assert done.returncode == 0, done.stderr
    (place,) = data_of(page)["places"]
    assert place["items"][0]["shows"][-1]["others"] == [
        "question, answerability: 3.3 (Ada 2, Ben 4, Cy 4)"
    ]
    done = reelbench("review", "summarize", *files, *data, "--write", kept)
    assert done.returncode == 0, done.stderr
    rows = json.loads(kept.read_text())
    assert [rows[f"film0_{n}"]["verified"] for n in range(1, 6)] == [True, False, True, True, True]


def test_decisions_drop_edit_and_keep_and_the_funnel_counts_it(decide, made, reelbench, tmp_path):
    marks = {
        "film0_2": {"decision": "drop", "note": "n"},
        "film0_3": {"decision": "edit", "answer": " Because of the flood. "},
    }
    files, kept = decide(marks), tmp_path / "kept" / "kept.json"
    kept.parent.mkdir()
    command = ["review", "summarize", *files, "--data", made / "annotations.json"]
    done = reelbench(*command, "--write", kept, "--json")
    assert done.returncode == 0, done.stderr
    before, after = (json.loads(path.read_text()) for path in (made / "annotations.json", kept))
    assert list(after) == [name for name in before if name != "film0_2"]
    assert after["film0_3"]["answer"] == "Because of the flood."
    assert after["film0_3"]["question"] == before["film0_3"]["question"]
    # The first video's questions were rated; the fifth is low and undecided, the others were not
    # looked at.
    assert [name for name, entry in after.items() if entry["verified"]] == [
        "film0_1",
        "film0_3",
        "film0_4",
    ]
    document = json.loads(done.stdout)
    assert document["decisions"] == {"film0_2": "drop", "film0_3": "edit"}
    assert document["published"]["means"]["clarity"] == {
        "caption": 4.0,
        "question": 4.3,
        "answer": 4.3,
    }
    funnel = json.loads((kept.parent / "funnel.json").read_text())
    assert funnel["stages"][-1] == {
        "name": "people",
        "in": 15,
        "out": 14,
        "dropped": {"by_people": 1},
    }
    # 18 calls of 110 tokens at $10 a million, and half an hour at $6, for 14 questions.
    cost = funnel["per_1000_kept"]
    assert cost["models_usd"] == pytest.approx(1000 * 18 * 110 * 10 / 1e6 / 14)
    assert cost["people_hours"] == pytest.approx(1000 * 0.5 / 14)
    assert cost["usd"] == pytest.approx(cost["models_usd"] + 3000 / 14)
    again = reelbench(*command, "--write", made / "kept.json", "--wage", 12)
    assert again.returncode == 0, again.stderr
    assert "$12 an hour" in again.stderr
    again = reelbench(*command, "--write", made / "kept.json")
    assert [
        stage["name"] for stage in json.loads((made / "funnel.json").read_text())["stages"]
    ].count("people") == 1


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        ({"decision": "burn"}, "decision: expected keep, drop, edit"),
        ({"decision": "edit"}, "is marked to be edited"),
    ],
)
def test_a_decision_that_is_none_is_named(decide, made, marks, says):
    files = decide({"film0_2": marks})
    with pytest.raises(InputError, match=says):
        summarize(files, made / "annotations.json")


def test_the_papers_table_s1_stands_beside_ours(review, made, reelbench):
    done = reelbench(
        "review", "summarize", review("Ada", ratings()), "--data", made / "annotations.json"
    )
    assert "MovieCORE (arXiv 2508.19026), Table S1" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "answerability" in line]
    assert "3.8" in line
    assert "4.1" in line


# --- preference
# ------------------------------------------------------------------------------------------------------


def test_a_page_of_two_versions_says_nowhere_which_is_whose(made, reelbench, data_of, tmp_path):
    page = tmp_path / "preference.html"
    done = reelbench(
        "review", "page", "moviecore", "--ask", "preference", "--made", made, "--output", page
    )
    assert done.returncode == 0, done.stderr
    first, last = (
        json.loads((made / name).read_text()) for name in ("single_pass.json", "annotations.json")
    )
    orders = set()
    for place in data_of(page)["places"]:
        (item,) = place["items"]
        shown = [show["text"] for show in item["shows"] if show["heading"].startswith("Version")]
        assert sorted(shown) == sorted(entries[item["id"]]["question"] for entries in (first, last))
        orders.add(shown[0] == last[item["id"]]["question"])
        assert item["about"].keys() == {"video"}
    assert orders == {True, False}
    assert "single_pass" not in page.read_text()
    assert "discussion" not in json.dumps(data_of(page)["places"])
    refused = reelbench("review", "page", "moviecore", "--ask", "preference")
    assert "--made names the folder" in refused.stderr


def test_choices_become_a_win_rate(made, review, tmp_path, data_of, reelbench):
    page = tmp_path / "preference.html"
    reelbench(
        "review", "page", "moviecore", "--ask", "preference", "--made", made, "--output", page
    )
    last = json.loads((made / "annotations.json").read_text())
    letters = {}
    for place in data_of(page)["places"]:
        (item,) = place["items"]
        letters[item["id"]] = "AB"[item["shows"][2]["text"] == last[item["id"]]["question"]]
    other = {"A": "B", "B": "A"}
    # Ada takes the discussion's version of four questions and neither of the fifth; Grace its
    # version of one.
    names = list(letters)[:5]
    ada = {name: {"better": letters[name]} for name in names[:4]} | {names[4]: {"better": "tie"}}
    grace = {
        names[0]: {"better": letters[names[0]]},
        names[1]: {"better": other[letters[names[1]]]},
    }
    about = {"ask": "preference", "benchmark": "moviecore", "split": "test"}
    files = [review("Ada", ada, **about), review("Grace", grace, **about)]
    figures = summarize(files).figures
    assert figures["win_rate"]["value"] == pytest.approx((4 + 0.5 + 1 + 0) / 7)
    assert figures["choices"] == {"discussion": 5, "tie": 1, "single_pass": 1}
    out = tmp_path / "chosen.jsonl"
    done = reelbench("review", "summarize", *files, "--write", out)
    assert done.returncode == 0, done.stderr
    chosen = {line["id"]: line["better"] for line in map(json.loads, out.read_text().splitlines())}
    assert [chosen[name] for name in names[:2]] == ["discussion", "tie"]


def test_either_order_comes_about_as_often():
    first = [
        preferences._maker_of_better_version(f"film{n}_{k}", "A")
        for n in range(200)
        for k in range(5)
    ]
    assert 450 < first.count("discussion") < 550


# --- in a browser
# ----------------------------------------------------------------------------------------------------


@pytest.mark.browser
def test_a_version_is_chosen_in_a_browser(made, reelbench, opened, save):
    page = made / "preference.html"
    reelbench(
        "review", "page", "moviecore", "--ask", "preference", "--made", made, "--output", page
    )
    browser = opened(page)
    browser.get_by_label("Version A").check()
    saved = json.loads(save(browser, "Ada").read_text())
    assert [marks["better"] for marks in saved["marks"].values()] == ["A"]


@pytest.mark.browser
def test_a_low_question_is_edited_in_a_browser(decide, made, reelbench, opened, save):
    rated, _ = decide({})
    page = made / "decide.html"
    command = ["review", "page", "moviecore", "--data", made / "annotations.json", "--output", page]
    reelbench(*command, "--consensus", rated)
    browser = opened(page)
    browser.get_by_label("Edit it below").check()
    box = browser.get_by_label("Answer, edited on film0_2")
    assert (
        box.input_value()
        == json.loads((made / "annotations.json").read_text())["film0_2"]["answer"]
    )
    box.fill("Because of the parade.")
    decided = save(browser, "Meta")
    assert json.loads(decided.read_text())["marks"] == {
        "film0_2": {"decision": "edit", "answer": "Because of the parade."}
    }
    done = reelbench(
        "review",
        "summarize",
        rated,
        decided,
        "--data",
        made / "annotations.json",
        "--write",
        made / "kept.json",
    )
    assert done.returncode == 0, done.stderr
    assert (
        json.loads((made / "kept.json").read_text())["film0_2"]["answer"]
        == "Because of the parade."
    )


# --- ReXTime's span page
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["spans", "question-spans"])
def test_a_span_page_shows_the_type_and_no_wrong_option(data_of, make, kind):
    for place in data_of(make("rextime_mini", kind=kind).paths[0])["places"]:
        shows = {show["heading"].split(" ·")[0]: show for show in place["items"][0]["shows"]}
        assert shows["Type"]["text"] in {
            f"category: {name}" for name in ("sequential", "cause-effect", "means-to-an-end")
        }
        assert shows["Answer"]["others"] == []


def test_what_people_chose_differently_is_decided_on_a_page_of_both(
    made, review, data_of, reelbench
):
    page = made / "preference.html"
    reelbench(
        "review", "page", "moviecore", "--ask", "preference", "--made", made, "--output", page
    )
    about = {"ask": "preference", "benchmark": "moviecore", "split": "test"}
    choices = {"Ada": ("A", "A"), "Grace": ("B", "A")}
    files = [
        review(
            who,
            {f"film0_{n}": {"better": letter} for n, letter in enumerate(letters, start=1)},
            **about,
        )
        for who, letters in choices.items()
    ]
    both = [part for file in files for part in ("--consensus", file)]
    done = reelbench(
        "review",
        "page",
        "moviecore",
        "--made",
        made,
        "--ask",
        "preference",
        "--output",
        page,
        *both,
    )
    assert done.returncode == 0, done.stderr
    (place,) = data_of(page)["places"]
    assert place["id"] == "film0_1"
    assert [row["said"] for row in place["items"][0]["shows"][-1]["marks"]] == [
        "A: Version A",
        "B: Version B",
    ]
