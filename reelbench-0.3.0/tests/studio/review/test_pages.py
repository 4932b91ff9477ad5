"""Pages: who gets what, what a blind page holds, and that nothing said is lost."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.studio.review import pages
from reelbench.studio.review.review_items import Place

EVIL = "</script><script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'><!-- \u2028 ${1} /*REVIEW*/null"


def places(*sizes):
    return [
        Place(f"v{number}", f"v{number} {item}", [{"id": f"v{number} {item}", "part": ""}])
        for number, size in enumerate(sizes)
        for item in range(size)
    ]


# --- who gets what
# -------------------------------------------------------------------------------------------------


def test_every_video_goes_to_as_many_raters_as_asked_and_loads_are_even():
    given = pages.share_among_raters(places(*[2] * 30), pages.Draw(raters=3, overlap=2, seed=5))
    by_video = [{place.video for place in part} for part in given]
    assert [len(videos) for videos in by_video] == [20, 20, 20]
    assert all(sum(f"v{number}" in videos for videos in by_video) == 2 for number in range(30))
    # A video's questions stay together, and in order.
    assert [place.label for place in given[0]] == [
        p.label for p in places(*[2] * 30) if p.video in by_video[0]
    ]
    again = pages.share_among_raters(places(*[2] * 30), pages.Draw(raters=3, overlap=2, seed=5))
    assert again == given
    assert (
        pages.share_among_raters(places(*[2] * 30), pages.Draw(raters=3, overlap=2, seed=6))
        != given
    )


def test_more_overlap_than_raters_and_more_raters_than_videos_are_refused():
    with pytest.raises(InputError, match="--overlap 3"):
        pages.share_among_raters(places(1, 1, 1), pages.Draw(raters=2, overlap=3))
    with pytest.raises(InputError, match="too few for 3 raters"):
        pages.share_among_raters(places(1, 1), pages.Draw(raters=3))


def test_raters_pages_are_of_one_draw(reelbench, data_of, tmp_path):
    done = reelbench(
        "review",
        "page",
        "rextime_mini",
        "--ask",
        "spans",
        "--raters",
        3,
        "--overlap",
        2,
        "--output",
        tmp_path / "s.html",
    )
    assert done.stdout.split() == [str(tmp_path / f"s-{number}.html") for number in (1, 2, 3)]
    written = [data_of(Path(path)) for path in done.stdout.split()]
    assert len({page["page"] for page in written}) == 1
    assert [page["part"] for page in written] == [1, 2, 3]
    labels = [place["label"] for page in written for place in page["places"]]
    rows = loading.locate("rextime_mini").read()
    assert sorted(labels) == sorted(2 * [row["id"] for row in rows])


# --- the blind page
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("benchmark", ["rextime", "dramaqa_cogme", "moviecore", "curve"])
def test_a_blind_page_holds_nothing_of_the_answer(make, data_of, benchmark):
    spec_rows = {row["id"]: row for row in loading.locate(f"{benchmark}_mini").read()}
    made = make(f"{benchmark}_mini", kind="answers", sample=50)
    held = data_of(made.paths[0])
    # Only what the page shows: the question, the options in the owners' order, ids, and where the
    # video lies.
    allowed = {"key", "id", "part", "language", "shows", "asks", "about"}
    for place in held["places"]:
        assert set(place) == {"id", "label", "video", "items"}
        (item,) = place["items"]
        row = spec_rows[item["id"]]
        assert set(item) == allowed
        assert item["about"] == {"video": row["video"]}
        assert [show["text"] for show in item["shows"]] == [row["question"]]
        for ask in item["asks"]:
            if ask["type"] == "choice":
                assert [(option["value"], option["text"]) for option in ask["options"]] == list(
                    zip("ABCDE", row["options"], strict=False)
                )
                del ask["options"]
            assert set(ask) <= {"type", "name", "title", "rows"}
    for video in held["videos"].values():
        assert set(video) == {"source", "name", "fps", "duration", "strip"}
        assert "#" not in (video["source"] or "")


@pytest.mark.parametrize("benchmark", ["rextime", "dramaqa_cogme", "moviecore"])
def test_other_answers_give_the_same_blind_page_byte_for_byte(make, monkeypatch, benchmark):
    """What doesn't depend on the answers can't tell them, however it is encoded."""
    first = make(f"{benchmark}_mini", kind="answers").paths[0].read_bytes()
    read = loading.SplitData.read

    def others(self):
        changed = []
        for row in read(self):
            answer = (
                "BCDEA"["ABCDE".index(row["answer"])] if "options" in row else "Something else."
            )
            if "options" in row and "ABCDE".index(answer) >= len(row["options"]):
                answer = "A"
            span = {"span": [1.25, 2.5]} if "span" in row else {}
            changed.append({**row, "answer": answer, **span})
        return changed

    monkeypatch.setattr(loading.SplitData, "read", others)
    assert make(f"{benchmark}_mini", kind="answers").paths[0].read_bytes() == first


def test_reference_answers_are_not_on_a_blind_page_plain_or_encoded(make):
    text = make("moviecore_mini", kind="answers").paths[0].read_text()
    for row in loading.locate("moviecore_mini").read():
        for part in (row["answer"], row["answer"][:24]):
            encoded = base64.b64encode(part.encode()).decode().rstrip("=")[:-2]
            for form in (part, part[::-1], encoded, part.encode().hex(), json.dumps(part)[1:-1]):
                assert form not in text


# --- what a page withstands
# ----------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["ratings", "spans", "answers", "tags"])
def test_hostile_text_is_shown_as_text(opened, make, monkeypatch, tmp_path, kind):
    from playwright.sync_api import expect

    rows = [
        {
            "question": EVIL,
            "answer": EVIL,
            "video": "clip",
            "question_id": "q1",
            "caption": EVIL,
            "classification": "",
        }
    ]
    (tmp_path / "test.json").write_text(json.dumps(rows))
    monkeypatch.setenv("REELBENCH_DATA_MOVIECORE", str(tmp_path))
    page = opened(make("moviecore", kind=kind, played=False).paths[0])
    shown = {"ratings": 3, "answers": 1}.get(kind, 2)
    expect(page.locator(".text")).to_have_text([EVIL] * shown, use_inner_text=True)
    assert page.evaluate("window.pwned") is None
    expect(page.locator("#path")).to_contain_text("the page doesn't hold it")


@pytest.mark.browser
def test_two_tabs_show_the_same_and_say_so(opened, make):
    from playwright.sync_api import expect

    path = make("rextime_mini", kind="answers").paths[0]
    first = opened(path)
    first.get_by_role("radio").first.check()
    second = opened(path, context=first.context)
    expect(second.get_by_role("radio").first).to_be_checked()
    second.keyboard.press("n")
    second.get_by_role("radio").nth(1).check()
    first.wait_for_function("() => Object.keys(state.marks).length === 2")
    expect(first.get_by_role("status")).to_contain_text("open in another tab too")
    # The first goes on with both.
    first.get_by_role("radio").nth(2).check()
    said = "() => Object.values(JSON.parse(localStorage.getItem(KEY)).marks).map((marks) => marks.answer).join()"
    second.wait_for_function(f"() => ({said})() === 'C,B'")
    expect(second.get_by_role("status")).to_contain_text("open in another tab too")


@pytest.mark.browser
def test_what_the_browser_loses_of_a_page_its_tab_still_has(opened, make):
    """Chromium 156 does, of about one page in thirty that is reloaded seconds after a start on a busy machine."""
    from playwright.sync_api import expect

    page = opened(make("rextime_mini", kind="answers").paths[0])
    page.get_by_role("radio").first.check()
    page.add_init_script("localStorage.clear()")
    page.reload()
    expect(page.get_by_role("radio").first).to_be_checked()


@pytest.mark.browser
def test_where_the_browser_stores_nothing_that_is_told_and_the_file_has_all(opened, make, save):
    from playwright.sync_api import expect

    full = "Storage.prototype.setItem = () => { throw new Error('full') }"
    page = opened(make("rextime_mini", kind="answers").paths[0], init=full)
    page.get_by_role("radio").first.check()
    expect(page.get_by_role("status")).to_contain_text("NOT kept")
    assert [
        said["answer"] for said in json.loads(save(page, "Ada").read_text())["marks"].values()
    ] == ["A"]


@pytest.mark.browser
def test_a_file_that_can_not_be_written_any_more_is_told_and_nothing_is_lost(opened, make):
    from playwright.sync_api import expect

    page = opened(make("rextime_mini", kind="answers").paths[0], picker=True)
    page.evaluate(
        """() => { window.full = false;
        window.showSaveFilePicker = async () => ({ createWritable: async () => {
            if (window.full) throw new Error('No space left');
            return { write: async () => {}, close: async () => {} }; } }); }"""
    )
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Save to a file").click()
    expect(page.get_by_role("status")).to_contain_text("kept up to date")
    page.evaluate("() => { window.full = true; }")
    page.get_by_role("radio").nth(1).check()
    expect(page.get_by_role("status")).to_contain_text("can't be written any more")
    page.reload()
    expect(page.get_by_role("radio").nth(1)).to_be_checked()


@pytest.mark.browser
def test_another_raters_file_is_refused_with_the_reason(opened, make, save):
    from playwright.sync_api import expect

    paths = make("rextime_mini", kind="spans", raters=2).paths
    one = opened(paths[0])
    theirs = save(one, "Ada")
    two = opened(paths[1])
    two.locator("#file").set_input_files(str(theirs))
    expect(two.get_by_role("status")).to_contain_text("is of rater 1's page, and this is rater 2's")


@pytest.mark.browser
def test_a_video_that_the_browser_can_not_play_is_shown_as_frames(
    opened, make, monkeypatch, data_of, tmp_path
):
    from playwright.sync_api import expect

    from reelbench.video.library import Library

    mini = Library(loading.locate("rextime_mini").spec, "mini").find(
        loading.locate("rextime_mini").read()[0]
    )
    # Not a container that browsers know, and moved where it can't be found as a video.
    video = tmp_path / "clip.avi"
    shutil.copyfile(mini, video)
    monkeypatch.setattr("reelbench.studio.review.pages.clip_of_row", lambda *_: video)
    path = make("rextime_mini", kind="spans", played=False).paths[0]
    video.write_bytes(b"no video any more")
    strips = [known["strip"] for known in data_of(path)["videos"].values()]
    assert all(len(strip) == 48 for strip in strips)
    page = opened(path)
    expect(page.locator("#strip img")).to_have_count(48)
    page.locator("#strip img").nth(10).click()
    page.keyboard.press("i")
    time = data_of(path)["videos"][data_of(path)["places"][0]["video"]]["strip"][10][1]
    expect(page.get_by_label("Answer start, in seconds")).to_have_value(f"{time:g}")
    page.locator("#strip img").nth(10).press("ArrowRight")
    expect(page.locator("#strip img").nth(11)).to_have_attribute("aria-selected", "true")
    near = "[...document.querySelectorAll('#strip img')].slice(8, 12)"
    page.wait_for_function(f"() => {near}.every((picture) => picture.naturalWidth > 0)")


# --- by other people's checkers
# ------------------------------------------------------------------------------------


@pytest.fixture
def page_of_kind(make, request):
    """Write a page of each kind."""

    def run(kind):
        if kind == "nodes":
            return request.getfixturevalue("page_of_nodes")()
        return make("rextime_mini", kind=kind).paths[0]

    return run


@pytest.mark.browser
@pytest.mark.parametrize("kind", ["ratings", "spans", "question-spans", "answers", "tags", "nodes"])
def test_axe_finds_nothing_and_a_phone_is_wide_enough(opened, page_of_kind, checkers, kind):
    path = page_of_kind(kind)
    for width, scheme in ((1280, "light"), (390, "dark")):
        page = opened(path, width=width, scheme=scheme)
        page.locator("summary", has_text="Keys").click()
        # The page's own policy keeps scripts from being made of text; the checker is put in from
        # outside.
        page.evaluate((checkers / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
        found = page.evaluate(
            "axe.run({ preload: false, resultTypes: ['violations'] }).then((all) => all.violations)"
        )
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_the_html_is_valid(make, checkers, tmp_path):
    path = make("rextime_mini", kind="spans").paths[0]
    (tmp_path / ".htmlvalidate.json").write_text(
        json.dumps(
            {
                "root": True,
                "extends": ["html-validate:standard"],
                "rules": {"no-inline-style": "off"},
            }
        )
    )
    command = ["node", checkers / "html-validate" / "bin" / "html-validate.mjs", path]
    if not command[1].exists():
        command[1] = checkers / "html-validate" / "bin" / "html-validate.js"
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, re.sub(r"\s+", " ", done.stdout)[:2000]


def test_the_page_runs_its_own_script_alone(make):
    text = make("rextime_mini").paths[0].read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
