"""The review page in a real browser, and the table made of what reviewers saved."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from reelbench.base.errors import InputError
from reelbench.studio.review.kinds import summarize
from tests.program import app

# --- drawing
# -------------------------------------------------------------------------------------------------------


def test_the_draw_is_of_videos_with_all_their_questions_and_the_seed_decides(data_of, make):
    from reelbench.data import loading

    rows = loading.locate("moviecore_mini").read()
    made = make("moviecore_mini", "a.html", sample=2)
    drawn = list(data_of(made.paths[0])["videos"])
    assert len(drawn) == made.videos == 2
    assert made.questions == sum(row["video"] in drawn for row in rows)
    again = make("moviecore_mini", "elsewhere/b.html", sample=2)
    assert data_of(again.paths[0])["page"] == data_of(made.paths[0])["page"]
    others = {
        data_of(make("moviecore_mini", "c.html", sample=1, seed=n).paths[0])["page"]
        for n in range(8)
    }
    assert len(others) > 1


def test_a_video_that_is_not_here_is_told_and_the_page_is_made(data_of, make, monkeypatch):
    from reelbench.tasks import moviecore

    monkeypatch.setenv(
        "REELBENCH_DATA_MOVIECORE", str(Path(next(iter(moviecore.__path__))) / "mini")
    )
    made = make("moviecore", "page.html", played=False)
    assert len(made.missing) == made.videos > 0
    assert all(video["source"] is None for video in data_of(made.paths[0])["videos"].values())


@pytest.mark.parametrize("kind", ["ratings", "answers"])
def test_no_page_holds_a_path_of_the_machine_that_made_it(
    kind, data_of, make, reelbench_home, tmp_path
):
    """Films lie beside the page, come from an address that is named, or are the reviewer's own; the page says which."""
    apart = make("moviecore_mini", "apart/page.html", kind=kind, sample=1, played=False).paths[0]
    (video,) = data_of(apart)["videos"].values()
    assert (video["source"], video["name"].endswith(".mp4")) == (None, True)
    assert "on your own disk" in data_of(apart)["terms"]
    beside = make(
        "moviecore_mini", reelbench_home / "page.html", kind=kind, sample=1, played=False
    ).paths[0]
    (video,) = data_of(beside)["videos"].values()
    assert video["source"].startswith("mini/moviecore/")
    assert "are next to this page" in data_of(beside)["terms"]
    for path in (apart, beside):
        assert str(reelbench_home) not in path.read_text()
        assert "file:///" not in path.read_text()
    named = ["--media-url", "https://films.example/mini/", "--output", tmp_path / "named.html"]
    assert (
        CliRunner()
        .invoke(app, ["review", "page", "moviecore_mini", "--sample", "1", *map(str, named)])
        .exit_code
        == 0
    )
    (video,) = data_of(tmp_path / "named.html")["videos"].values()
    assert video["source"] == f"https://films.example/mini/{video['name']}"
    assert (
        data_of(tmp_path / "named.html")["terms"]
        == "The films come from https://films.example/mini/"
    )
    assert "media-src 'self' https://films.example " in (tmp_path / "named.html").read_text()


def test_a_choices_page_has_the_right_option_and_the_others(data_of, make):
    place = data_of(make("rextime_mini").paths[0])["places"][0]
    shown = next(item["shows"][0] for item in place["items"] if item["part"] == "answer")
    assert shown["text"]
    assert len(shown["others"]) == 3
    assert shown["text"] not in shown["others"]


# --- in the browser
# ------------------------------------------------------------------------------------------------


def rate(page, part, dimension, value, item=0):
    page.locator(f'section[data-part="{part}"]').nth(item).get_by_label(
        f"{part} {dimension} {value}"
    ).check(force=True)


@pytest.mark.browser
def test_a_review_outlives_a_reload_and_is_saved_resumed_and_summarised(  # noqa: PLR0915
    data_of, save, opened, reelbench, tmp_path
):
    done = reelbench(
        "review", "page", "moviecore_mini", "--sample", 30, "--output", tmp_path / "page.html"
    )
    assert done.returncode == 0, done.stderr
    assert "all on the page" in done.stderr
    path = tmp_path / "page.html"
    review = data_of(path)
    # The first video with a caption, so that all three parts are rated.
    parts = [[item["part"] for item in place["items"]] for place in review["places"]]
    place = next(number for number, known in enumerate(parts) if "caption" in known)
    caption, question = review["places"][place]["items"][:2]

    page = opened(path)
    page.get_by_label("Video", exact=True).select_option(str(place))
    # The clip plays from the disk.
    page.wait_for_function("() => Math.abs(document.querySelector('video').duration - 6) < .5")
    rate(page, "caption", "accuracy", 4)
    rate(page, "question", "relevance", 5)
    rate(page, "question", "depth", 2)
    page.get_by_label(f"Comment on {question['id']}").fill("Is <b>it</b> so?")
    page.get_by_label("Your name").fill("Ada")

    page.reload()
    # Where one was, with what one gave.
    expect(page.get_by_label("Video", exact=True)).to_have_value(str(place))
    expect(page.get_by_label("Your name")).to_have_value("Ada")
    section = page.locator('section[data-part="question"]').first
    expect(section.get_by_label("question relevance 5")).to_be_checked()
    expect(section.get_by_label("question depth 2")).to_be_checked()
    expect(section.get_by_label("question clarity 3")).not_to_be_checked()
    rate(page, "question", "clarity", 4)
    rate(page, "question", "answerability", 5)
    expect(page.get_by_role("status")).to_contain_text("1 of ")
    rate(page, "answer", "clarity", 1)
    ada = save(page, "Ada")

    first = question["id"]
    found = json.loads(ada.read_text())
    assert found["ratings"]["question"] == {
        first: {"relevance": 5, "depth": 2, "clarity": 4, "answerability": 5}
    }
    assert found["ratings"]["caption"] == {caption["id"]: {"accuracy": 4}}
    assert found["comments"] == {first: "Is <b>it</b> so?"}

    # Another machine goes on from the file.
    other = opened(path)
    expect(other.get_by_label("Your name")).to_have_value("")
    other.locator("#file").set_input_files(str(ada))
    expect(other.get_by_role("status")).to_contain_text("Loaded Ada.json")
    other.get_by_label("Video", exact=True).select_option(str(place))
    depth = other.locator('section[data-part="question"]').first.get_by_label("question depth 2")
    expect(depth).to_be_checked()
    rate(other, "question", "depth", 4)
    rate(other, "answer", "clarity", 2)
    grace = save(other, "Grace")

    done = reelbench("review", "summarize", ada, grace, "--json")
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert table["reviewers"] == ["Ada", "Grace"]
    assert table["table"]["depth"]["question"]["n"] == 2
    means = {
        ("depth", "question"): 3.0,
        ("relevance", "question"): 5.0,
        ("accuracy", "caption"): 4.0,
    }
    assert {place: table["table"][place[0]][place[1]]["mean"] for place in means} == means
    assert {"part": "answer", "id": first, "dimension": "clarity", "mean": 1.5} in table["low"]


@pytest.mark.browser
def test_without_a_name_nothing_is_saved(make, opened):
    page = opened(make("moviecore_mini", "page.html").paths[0])
    page.get_by_role("button", name="Save to a file").click()
    expect(page.get_by_role("status")).to_contain_text("Your name is needed")


@pytest.mark.browser
def test_a_phone_shows_one_question_at_a_time(make, opened, data_of):
    path = make("moviecore_mini", "page.html", sample=2).paths[0]
    places = data_of(path)["places"]
    ids = list(dict.fromkeys(item["id"] for item in places[0]["items"]))
    assert len(ids) > 2
    page = opened(path, width=390)
    sections = page.locator("#items > section:visible")

    def shows(number):
        parts = [item["part"] for item in places[0]["items"] if item["id"] == ids[number]]
        expect(sections).to_have_count(len(parts))
        expect(sections.first).to_have_attribute("data-id", ids[number])
        expect(page.locator("#outline [aria-current]")).to_have_count(1)
        expect(page.locator("#outline li").nth(number).locator("[aria-current]")).to_have_count(1)

    shows(0)
    page.get_by_role("button", name="Next question").click()
    shows(1)
    page.locator("#outline a").nth(2).click()
    shows(2)
    page.get_by_role("button", name="Next open").click()  # of this question
    shows(2)
    for _ in ids[3:]:
        page.get_by_role("button", name="Next question").click()
    page.get_by_role("button", name="Next video").click()
    expect(page.get_by_label("Video", exact=True)).to_have_value("1")
    page.set_viewport_size({"width": 1280, "height": 900})
    expect(sections).to_have_count(len(places[1]["items"]))
    expect(page.locator("#onward")).to_be_hidden()
    expect(page.locator("#shortcuts")).to_contain_text("next, previous question of this page")


@pytest.mark.browser
def test_a_file_of_another_page_is_refused_and_nothing_is_lost(save, make, opened):
    first = opened(make("moviecore_mini", "one.html", sample=1).paths[0])
    theirs = save(first, "Ada")
    page = opened(make("rextime_mini", "two.html", sample=1).paths[0])
    rate(page, "question", "clarity", 3)
    page.locator("#file").set_input_files(str(theirs))
    page.get_by_text("is a review of another page").wait_for()
    expect(page.get_by_label("question clarity 3").first).to_be_checked()


@pytest.mark.browser
def test_a_file_that_the_browser_may_write_is_kept_up_to_date(make, opened):
    page = opened(make("moviecore_mini", "page.html").paths[0], picker=True)
    # The browser's own dialogue can't be clicked: the file behind it is played, the page's code is
    # the real one.
    page.evaluate(
        """() => { window.written = [];
        window.showSaveFilePicker = async () => ({ createWritable: async () => ({
            write: async (text) => { window.written.push(text); }, close: async () => {} }) }); }"""
    )
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Save to a file").click()
    page.get_by_text("kept up to date").wait_for()
    rate(page, "question", "clarity", 3)
    page.wait_for_function("() => window.written.length > 1")
    last = json.loads(page.evaluate("window.written.at(-1)"))
    assert [ratings["clarity"] for ratings in last["ratings"]["question"].values()] == [3]


@pytest.mark.browser
def test_texts_are_shown_as_text(make, opened, tmp_path, monkeypatch):
    evil = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'><!--"
    rows = [
        {
            "question": evil,
            "answer": evil,
            "video": "clip",
            "question_id": "q1",
            "caption": evil,
            "classification": "",
        }
    ]
    (tmp_path / "test.json").write_text(json.dumps(rows))
    monkeypatch.setenv("REELBENCH_DATA_MOVIECORE", str(tmp_path))
    page = opened(make("moviecore", "page.html", played=False).paths[0])
    expect(page.locator(".text")).to_have_text([evil] * 3)
    assert page.evaluate("window.pwned") is None
    expect(page.locator("#path")).to_contain_text("the page doesn't hold it")


# --- merging
# -------------------------------------------------------------------------------------------------------


def test_table_s1_by_hand(review):
    ada = review(
        "Ada",
        {"question": {"q1": {"depth": 1}, "q2": {"depth": 2}}, "caption": {"v": {"accuracy": 5}}},
    )
    grace = review("Grace", {"question": {"q1": {"depth": 2}, "q2": {"depth": 1}}})
    found = summarize([ada, grace]).document()
    # As in tests/scoring/test_judge_agreement.py: (1, 2) and (2, 1) give -0.5.
    assert found["table"]["depth"]["question"] == {
        "mean": 1.5,
        "n": 4,
        "alpha": pytest.approx(-0.5),
        "rated_twice": 2,
    }
    assert found["table"]["accuracy"]["caption"]["alpha"] is None
    assert {"part": "question", "id": "q1", "dimension": "depth", "mean": 1.5} in found["low"]
    assert list(found["table"]) == ["accuracy", "depth"]


def test_of_two_files_by_one_reviewer_the_later_one_counts(review):
    late = review(
        "Ada", {"question": {"q1": {"depth": 5}}}, saved="2026-11-20T12:00:00+01:00", name="late"
    )
    early = review(
        "Ada", {"question": {"q1": {"depth": 1}}}, saved="2026-11-20T10:30:00Z", name="early"
    )
    # 12:00 in Paris is 11:00 in Greenwich, after 10:30.
    assert summarize([late, early]).document()["table"]["depth"]["question"]["mean"] == 5


@pytest.mark.parametrize(
    ("ratings", "says"),
    [
        ({"question": {"q1": {"depth": 6}}}, "ratings.question.q1.depth"),
        ({"question": {"q1": {"beauty": 3}}}, "ratings.question.q1.beauty"),
        ({"plot": {"q1": {"depth": 3}}}, "ratings.plot.q1.depth"),
        ({"question": {"q1": {"depth": "good"}}}, "ratings.question.q1.depth"),
        ({"question": {"q1": {"depth": "3"}}}, "ratings.question.q1.depth"),
        ({"question": {"q1": {"depth": True}}}, "ratings.question.q1.depth"),
    ],
)
def test_a_rating_that_is_none_is_named(review, ratings, says):
    with pytest.raises(InputError) as error:
        summarize([review("Ada", ratings)])
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("schema_version", 99),
        ("saved", "2026-11-20T10:00:00"),
        ("benchmark", "/home/me/films"),
        ("benchmark", ".."),
    ],
    ids=["schema", "no time zone", "a path", "up"],
)
def test_what_no_page_writes_is_named(review, field, value):
    path = review("Ada", {})
    path.write_text(json.dumps(json.loads(path.read_text()) | {field: value}))
    with pytest.raises(InputError, match=f"field {field}"):
        summarize([path])


def test_files_that_do_not_belong_together_are_refused(review, tmp_path):
    one = review("Ada", {"question": {"q1": {"depth": 3}}})
    with pytest.raises(InputError, match="a different page"):
        summarize([one, review("Grace", {}, page="p2")])
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(InputError, match="is not a review"):
        summarize([tmp_path / "other.json"])
    with pytest.raises(InputError, match="nothing to summarize"):
        summarize([])
    with pytest.raises(InputError, match='"reviewer"'):
        summarize([review(" ", {}, name="nobody")])


def test_progress_counts_items_as_the_page_does(review, reelbench):
    half = {"clarity": 3, "depth": 3}
    given = {
        "caption": {"v1": {"accuracy": 4, "clarity": 4, "depth": 4}},
        "question": {"q1": {"relevance": 5, "answerability": 5, **half}, "q2": half},
    }
    done = reelbench("review", "summarize", review("Ada", given, total=18))
    assert done.returncode == 0, done.stderr
    # Nine ratings: two items are whole, one is half done.
    assert "Ada: 2 of 18 done" in done.stderr
