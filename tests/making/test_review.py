"""The review page in a real browser, and the table made of what reviewers saved."""

import json
from pathlib import Path

import pytest

from reelbench.making.review import make, read_review, summarize
from reelbench.registry.errors import InputError


def data_of(page: Path) -> dict:
    line = next(line for line in page.read_text().splitlines() if line.startswith("const review = "))
    return json.loads(line.removeprefix("const review = ").removesuffix(";"))


# --- drawing -------------------------------------------------------------------------------------------------------


def test_the_draw_is_of_videos_with_all_their_questions_and_the_seed_decides(tmp_path):
    from reelbench.registry.data import loading

    rows = loading.locate("moviecore_mini").read()
    made = make("moviecore_mini", tmp_path / "a.html", sample=2)
    drawn = [video["video"] for video in data_of(made.path)["videos"]]
    assert len(drawn) == made.videos == 2
    assert made.questions == sum(row["video"] in drawn for row in rows)
    again = make("moviecore_mini", tmp_path / "elsewhere" / "b.html", sample=2)
    assert data_of(again.path)["page"] == data_of(made.path)["page"]
    others = {data_of(make("moviecore_mini", tmp_path / "c.html", sample=1, seed=n).path)["page"] for n in range(8)}
    assert len(others) > 1


def test_a_video_that_is_not_here_is_told_and_the_page_is_made(tmp_path, monkeypatch):
    from reelbench.tasks import moviecore

    monkeypatch.setenv("REELBENCH_DATA_MOVIECORE", str(Path(next(iter(moviecore.__path__))) / "mini"))
    made = make("moviecore", tmp_path / "page.html")
    assert len(made.missing) == made.videos > 0
    assert all(video["source"] is None for video in data_of(made.path)["videos"])


def test_a_videos_path_is_relative_where_it_lies_beside_the_page(tmp_path, reelbench_home):
    apart = data_of(make("moviecore_mini", tmp_path / "apart" / "page.html", sample=1).path)
    assert apart["videos"][0]["source"].startswith("file:///")
    beside = data_of(make("moviecore_mini", reelbench_home / "page.html", sample=1).path)
    assert beside["videos"][0]["source"].startswith("mini/moviecore/")


def test_a_choices_page_has_the_right_option_and_the_others(tmp_path):
    (question, *_), *_ = [v["questions"] for v in data_of(make("rextime_mini", tmp_path / "p.html").path)["videos"]]
    assert question["answer"]
    assert len(question["others"]) == 3
    assert question["answer"] not in question["others"]


# --- in the browser ------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(chromium):
    """Open pages from the disk, each reviewer in a browser of their own; nothing may be logged as an error."""
    contexts, errors = [], []

    def run(path, *, picker=False):
        context = chromium.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        if not picker:  # as in browsers without it
            page.add_init_script("delete window.showSaveFilePicker")
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield run
    for context in contexts:
        context.close()
    assert not errors


def rate(page, part, dimension, value, item=0):
    page.locator(f'section[data-part="{part}"]').nth(item).get_by_label(f"{part} {dimension} {value}").check(force=True)


def saved(page, folder, name) -> Path:
    page.get_by_label("Your name").fill(name)
    with page.expect_download() as download:
        page.get_by_role("button", name="Save to a file").click()
    path = folder / f"{name}.json"
    download.value.save_as(path)
    return path


@pytest.mark.browser
def test_a_review_outlives_a_reload_and_is_saved_resumed_and_summarised(opened, reelbench, tmp_path):
    done = reelbench("review", "page", "moviecore_mini", "--sample", 30, "--output", tmp_path / "page.html")
    assert done.returncode == 0, done.stderr
    assert "all of them are on the page" in done.stderr
    path = tmp_path / "page.html"
    review = data_of(path)
    # The first video with a caption, so that all three parts are rated.
    place = next(number for number, video in enumerate(review["videos"]) if video["caption"])
    video = review["videos"][place]

    page = opened(path)
    page.get_by_label("Video", exact=True).select_option(str(place))
    # The clip plays from the disk.
    page.wait_for_function("document.querySelector('video').readyState >= 1")
    assert page.evaluate("document.querySelector('video').duration") == pytest.approx(6, abs=0.5)
    rate(page, "caption", "accuracy", 4)
    rate(page, "question", "relevance", 5)
    rate(page, "question", "depth", 2)
    page.get_by_label(f"Comment on {video['questions'][0]['id']}").fill("Is <b>it</b> so?")
    page.get_by_label("Your name").fill("Ada")

    page.reload()
    # Where one was, with what one gave.
    assert page.get_by_label("Video", exact=True).input_value() == str(place)
    assert page.get_by_label("Your name").input_value() == "Ada"
    section = page.locator('section[data-part="question"]').first
    assert section.get_by_label("question relevance 5").is_checked()
    assert section.get_by_label("question depth 2").is_checked()
    assert not section.get_by_label("question clarity 3").is_checked()
    rate(page, "question", "clarity", 4)
    rate(page, "question", "answerability", 5)
    assert "1 of " in page.get_by_role("status").inner_text()
    rate(page, "answer", "clarity", 1)
    ada = saved(page, tmp_path, "Ada")

    first = video["questions"][0]["id"]
    found = json.loads(ada.read_text())
    assert found["ratings"]["question"] == {first: {"relevance": 5, "depth": 2, "clarity": 4, "answerability": 5}}
    assert found["ratings"]["caption"] == {video["video"]: {"accuracy": 4}}
    assert found["comments"] == {first: "Is <b>it</b> so?"}

    # Another machine goes on from the file.
    other = opened(path)
    assert other.get_by_label("Your name").input_value() == ""
    other.locator("#file").set_input_files(str(ada))
    other.get_by_label("Video", exact=True).select_option(str(place))
    assert other.locator('section[data-part="question"]').first.get_by_label("question depth 2").is_checked()
    rate(other, "question", "depth", 4)
    rate(other, "answer", "clarity", 2)
    grace = saved(other, tmp_path, "Grace")

    done = reelbench("review", "summarize", ada, grace, "--json")
    assert done.returncode == 0, done.stderr
    table = json.loads(done.stdout)
    assert table["reviewers"] == ["Ada", "Grace"]
    assert table["table"]["depth"]["question"]["mean"] == 3.0
    assert table["table"]["depth"]["question"]["n"] == 2
    assert table["table"]["relevance"]["question"]["mean"] == 5.0
    assert table["table"]["accuracy"]["caption"]["mean"] == 4.0
    assert {"part": "answer", "id": first, "dimension": "clarity", "mean": 1.5} in table["low"]


@pytest.mark.browser
def test_without_a_name_nothing_is_saved(opened, tmp_path):
    page = opened(make("moviecore_mini", tmp_path / "page.html").path)
    page.get_by_role("button", name="Save to a file").click()
    assert "Your name is needed" in page.get_by_role("status").inner_text()


@pytest.mark.browser
def test_a_file_of_another_page_is_refused_and_nothing_is_lost(opened, tmp_path):
    first = opened(make("moviecore_mini", tmp_path / "one.html", sample=1).path)
    theirs = saved(first, tmp_path, "Ada")
    page = opened(make("rextime_mini", tmp_path / "two.html", sample=1).path)
    rate(page, "question", "clarity", 3)
    page.locator("#file").set_input_files(str(theirs))
    page.get_by_text("is a review of another page").wait_for()
    assert page.get_by_label("question clarity 3").first.is_checked()


@pytest.mark.browser
def test_a_file_that_the_browser_may_write_is_kept_up_to_date(opened, tmp_path):
    page = opened(make("moviecore_mini", tmp_path / "page.html").path, picker=True)
    # The browser's own dialogue can't be clicked: the file behind it is played, the page's code is the real one.
    page.evaluate(
        """() => { window.written = [];
        window.showSaveFilePicker = async () => ({ createWritable: async () => ({
            write: async (text) => { window.written.push(text); }, close: async () => {} }) }); }"""
    )
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Save to a file").click()
    page.get_by_text("kept up to date").wait_for()
    rate(page, "question", "clarity", 3)
    page.wait_for_function("window.written.length > 1")
    last = json.loads(page.evaluate("window.written.at(-1)"))
    assert [ratings["clarity"] for ratings in last["ratings"]["question"].values()] == [3]


@pytest.mark.browser
def test_texts_are_shown_as_text(opened, tmp_path, monkeypatch):
    evil = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'><!--"
    rows = [
        {"question": evil, "answer": evil, "video": "clip", "question_id": "q1", "caption": evil, "classification": ""}
    ]
    (tmp_path / "test.json").write_text(json.dumps(rows))
    monkeypatch.setenv("REELBENCH_DATA_MOVIECORE", str(tmp_path))
    page = opened(make("moviecore", tmp_path / "page.html").path)
    assert page.locator(".text").all_inner_texts() == [evil] * 3
    assert page.evaluate("window.pwned") is None
    assert "not on the machine" in page.locator("#path").inner_text()


# --- merging -------------------------------------------------------------------------------------------------------


@pytest.fixture
def review(tmp_path):
    def write(reviewer, ratings, *, page="p1", saved="2026-11-20T10:00:00Z", name=None, **more):
        path = tmp_path / f"{name or reviewer}.json"
        document = {
            "kind": "reelbench-review",
            "schema_version": 1,
            "page": page,
            "benchmark": "moviecore",
            "split": "test",
            "reviewer": reviewer,
            "saved": saved,
            "ratings": ratings,
            "comments": {},
        }
        path.write_text(json.dumps(document | more))
        return path

    return write


def test_table_s1_by_hand(review):
    ada = review("Ada", {"question": {"q1": {"depth": 1}, "q2": {"depth": 2}}, "caption": {"v": {"accuracy": 5}}})
    grace = review("Grace", {"question": {"q1": {"depth": 2}, "q2": {"depth": 1}}})
    found = summarize([ada, grace])
    depth = found.table["depth"]["question"]
    assert depth.mean == 1.5
    assert depth.n == 4
    assert depth.rated_twice == 2
    # As in tests/judges/test_agreement.py: (1, 2) and (2, 1) give -0.5.
    assert depth.alpha == pytest.approx(-0.5)
    assert found.table["accuracy"]["caption"].alpha is None
    assert ("question", "q1", "depth", 1.5) in found.low
    assert list(found.table) == ["accuracy", "depth"]


def test_of_two_files_by_one_reviewer_the_later_one_counts(review):
    late = review("Ada", {"question": {"q1": {"depth": 5}}}, saved="2026-11-20T12:00:00+01:00", name="late")
    early = review("Ada", {"question": {"q1": {"depth": 1}}}, saved="2026-11-20T10:30:00Z", name="early")
    # 12:00 in Paris is 11:00 in Greenwich, after 10:30.
    assert summarize([late, early]).table["depth"]["question"].mean == 5


@pytest.mark.parametrize(
    ("ratings", "says"),
    [
        ({"question": {"q1": {"depth": 6}}}, "ratings.question.q1.depth"),
        ({"question": {"q1": {"beauty": 3}}}, "ratings.question.q1.beauty"),
        ({"plot": {"q1": {"depth": 3}}}, "ratings.plot.q1.depth"),
        ({"question": {"q1": {"depth": "good"}}}, "ratings.question.q1.depth"),
    ],
)
def test_a_rating_that_is_none_is_named(review, ratings, says):
    with pytest.raises(InputError) as error:
        read_review(review("Ada", ratings))
    assert says in str(error.value)


def test_files_that_do_not_belong_together_are_refused(review, tmp_path):
    one = review("Ada", {"question": {"q1": {"depth": 3}}})
    with pytest.raises(InputError, match="another page"):
        summarize([one, review("Grace", {}, page="p2")])
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(InputError, match="is not a review"):
        summarize([tmp_path / "other.json"])
    with pytest.raises(InputError, match="nothing to summarize"):
        summarize([])
    with pytest.raises(InputError, match='"reviewer"'):
        read_review(review(" ", {}, name="nobody"))
