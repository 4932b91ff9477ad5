"""Pages that are sent: small clips in them or beside them, and videos that people choose where they are."""

import json
import re
import shutil
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.studio.review import KindName, pages
from reelbench.studio.review.kinds import KINDS
from reelbench.studio.review.review_items import Place
from reelbench.studio.review.review_kind import Sources
from reelbench.video import mini_clips

PLAYS = "() => document.querySelector('video').currentTime > .4"
READY = "() => document.querySelector('video').readyState >= 2"


@pytest.fixture
def page_of(reelbench, tmp_path):
    """Write a page of MovieCORE's mini rows; returns its file, and what was said."""

    def run(*options):
        output = tmp_path / ("sent" if "folder" in options else "page.html")
        done = reelbench("review", "page", "moviecore_mini", *options, "--output", output)
        assert done.returncode == 0, done.stderr
        return Path(done.stdout.strip()), done.stderr

    return run


@pytest.fixture
def sent(tmp_path, reelbench_home, opened):
    """Open a page, with its folder where it has one, where none of its maker's files are."""

    def run(page):
        there = tmp_path / "elsewhere"
        if page.parent == tmp_path:
            there.mkdir()
            shutil.move(page, there)
        else:
            shutil.move(page.parent, there)
        shutil.move(reelbench_home / "mini", tmp_path / "mine")
        return opened(there / page.name)

    return run


# --- what goes with it
# ----------------------------------------------------------------------------------------------


def test_nothing_of_the_makers_machine_is_in_it_and_whose_the_clips_are(
    page_of, data_of, tmp_path, reelbench_home
):
    page, said = page_of("--embed", "--sample", 2)
    text = page.read_text()
    assert len(re.findall(r'<script type="text/plain" id="clip-\d">', text)) == 2
    assert "only to your reviewers" in said
    assert str(tmp_path) not in text
    assert str(reelbench_home) not in text
    assert "file:///" not in text
    assert "Give them to nobody" in data_of(page)["terms"]
    assert (
        data_of(page_of("--sample", 2)[0])["page"] == data_of(page)["page"]
    )  # clips or none, it is one draw


def test_in_a_folder_the_clips_lie_beside_it(page_of, data_of, tmp_path):
    page, said = page_of("--embed", "--as", "folder")
    assert page == tmp_path / "sent" / "review.html"
    assert "zip the folder" in said
    sources = [video["source"] for video in data_of(page)["videos"].values()]
    assert sorted(sources) == sorted(
        f"clips/{path.name}" for path in (tmp_path / "sent" / "clips").iterdir()
    )
    assert "clip-" not in re.sub(
        "<style>.*</style>|<script>.*</script>", "", page.read_text(), flags=re.DOTALL
    )


def test_more_than_a_mail_holds_is_refused_with_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setattr(pages, "PAGE_BYTES", 1000)
    draw = pages.Draw(sample=2)
    content = KINDS[KindName.RATINGS].content(Sources(name="moviecore_mini"), draw)
    with pytest.raises(InputError, match=r"after 1 of 2 videos the clips take .* add --as folder"):
        pages.write(content, tmp_path / "page.html", draw, clips="page")
    assert not (tmp_path / "page.html").exists()
    assert pages.write(content, tmp_path / "folder", draw, clips="folder").paths[0].is_file()


def test_where_the_owners_forbid_it_none_is_made():
    with pytest.raises(
        InputError, match=r"--embed: clips of DramaQA.*may not be passed on.*agreement"
    ):
        pages.terms(discovery.get("dramaqa_cogme"), "val")
    assert "owners" in pages.terms(discovery.get("dramaqa_cogme"), "mini")  # those are ours


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--as", "folder"), "--as folder goes with --embed"),
        (
            ("--embed", "--as", "label-studio", "--media-url", "http://x/"),
            "Label Studio has its own videos",
        ),
        (("--embed", "--strips"), "--strips and --embed"),
    ],
)
def test_options_that_do_not_go_together(reelbench, options, says):
    done = reelbench("review", "page", "moviecore_mini", *options)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr


def place(*items):
    return Place("v", "v", [{"shows": shows, "asks": asks} for shows, asks in items])


SPAN = [{"type": "span", "span": [40.0, 50.0]}]


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([place((SPAN, []))], (25, 65)),
        ([place((SPAN, [])), place(([{"type": "span", "span": [5.0, 6.0]}], []))], (0, 65)),
        (
            [place((SPAN, [{"type": "span"}]))],
            (0, None),
        ),  # asked for: to be looked for in the whole video
        ([place((SPAN, []), ([{"type": "text"}], []))], (0, None)),
    ],
)
def test_a_clip_is_of_what_its_questions_show(places, expected):
    assert pages.window(places) == expected


# --- in the browser
# -------------------------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.parametrize("folder", [False, True])
def test_a_page_that_was_sent_plays_and_is_summarised(page_of, sent, save, reelbench, folder):
    page, _ = page_of("--embed", "--sample", 2, *(("--as", "folder") if folder else ()))
    tab = sent(page)
    tab.wait_for_function(READY)
    tab.evaluate("() => { video.muted = true; }")
    tab.keyboard.press("k")
    tab.wait_for_function(PLAYS)
    tab.get_by_role("button", name="Next open").click()
    for _ in range(200):
        if tab.evaluate("() => done.size === items.length"):
            break
        tab.keyboard.press("4" if tab.evaluate("() => openAsks().length") else "u")
    done = reelbench("review", "summarize", save(tab, "Ada"), "--json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["progress"]["Ada"]["marked"] == summary["progress"]["Ada"]["total"] > 0
    assert summary["table"]["clarity"]["question"]["mean"] == 4


@pytest.mark.browser
def test_a_video_that_is_not_here_is_chosen_and_stays_chosen(make, opened, monkeypatch, tmp_path):
    from playwright.sync_api import expect

    spec = discovery.get("moviecore")
    with monkeypatch.context() as without:
        without.setattr("reelbench.studio.review.pages.clip_of_row", lambda *_: None)
        made = make("moviecore_mini", sample=2, played=False)
    assert len(made.missing) == 2
    tab = opened(made.paths[0])
    expect(tab.locator("#path")).to_contain_text("the page doesn't hold it")
    expect(tab.locator("video")).to_be_hidden()
    videos = tab.evaluate("() => Object.keys(review.videos)")
    clips = [mini_clips.mini_clip(spec.id, video, None) for video in videos]
    files = [
        shutil.copy(clip, tmp_path / f"{Path(video).stem}.mp4")
        for video, clip in zip(videos, clips, strict=True)
    ]
    tab.locator("#replace").set_input_files([*map(str, files), str(made.paths[0])])
    expect(tab.get_by_role("status")).to_contain_text("2 of 3 files are videos of this page")
    for _ in range(2):
        expect(tab.locator("video")).to_be_visible()
        tab.wait_for_function(READY)
        tab.keyboard.press("n")
    tab.locator("#replace").set_input_files(
        str(made.paths[0])
    )  # called like none of them: taken for the one that is shown
    expect(tab.locator("#path")).to_contain_text("page.html can't be played by this browser")


@pytest.mark.browser
def test_questions_of_a_video_are_reached_by_key_and_each_says_how_far_it_is(page_of, opened):
    from playwright.sync_api import expect

    page, _ = page_of()
    tab = opened(page)
    entries = tab.get_by_role("navigation", name="Questions on this page").get_by_role("link")
    count = entries.count()
    assert count > 1
    focused = "() => document.activeElement.closest('section')?.dataset.id"
    first = tab.locator("section").first.get_attribute("data-id")
    tab.keyboard.press("j")
    assert tab.evaluate(focused) == first
    tab.keyboard.press("j")
    second = tab.evaluate(focused)
    assert second != first
    tab.keyboard.press("3")
    expect(entries.nth(1)).to_contain_text(re.compile(r"1 of \d"))
    expect(tab.locator("fieldset.awaited")).to_be_in_viewport()
    tab.keyboard.press("h")
    tab.keyboard.press("h")
    assert tab.evaluate(focused) == first
    entries.last.click()
    expect(tab.locator(f'section[data-id="{tab.evaluate(focused)}"]').first).to_be_in_viewport()
    expect(tab.get_by_label("Done on all of the page")).to_have_attribute(
        "max", str(tab.evaluate("() => items.length"))
    )
