"""`reelbench view`: the page of one run and of two, its files, and the page in a real browser."""

import base64
import csv
import hashlib
import io
import json
import re
import shutil
import zlib
from pathlib import Path

import pytest

import reelbench as face
from reelbench.base import containment
from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.leaderboard.view import page as pages
from reelbench.leaderboard.view import parts, pictures
from reelbench.leaderboard.view.page import read_groups, wanted_ids
from reelbench.pages.shell_page import in_script
from reelbench.scoring import result_files
from reelbench.video.frame_store import FrameStore
from tests.checkers import invalid, violations
from tests.leaderboard.test_site import EVIL

FRAMES = "uniform:4,size=96"
LIGHT, DARK = re.compile(r"^rgb\(2\d\d, 2\d\d, 2\d\d\)$"), re.compile(r"^rgb\(\d\d, \d\d, \d\d\)$")
METRICS = "table[aria-label=Metrics]"


@pytest.fixture
def asked(tmp_path):
    """Ask a function ReXTime's mini questions, with frames from the store; of row n it says `say(n, row)`."""

    def run(name, say, *, benchmark="rextime_mini", frames=FRAMES, model="org/model"):
        rows = loading.locate(benchmark).read()
        number = {row["id"]: n for n, row in enumerate(rows)}
        scored = face.evaluate(
            lambda _question, _frames, row: say(number[row["id"]], row),
            benchmark,
            frames=frames,
            model=model,
        )
        scored.save(tmp_path / name)
        return tmp_path / name

    return run


def right_below(limit):
    """Right answers with reasoning below a number, then wrong ones; the last but one can't be read."""

    def say(n, row):
        if n == 10:
            return "I see <b>nothing</b> at all."
        letter = row["answer"] if n < limit else "AB"[row["answer"] == "A"]
        start, end = row["span"]
        return f"<think>Thought {n} about it.</think>The answer is {letter}, from {start} to {end} seconds."

    return say


def made(out, *folders, pictures=100):
    [group] = read_groups(folders)
    pages.write(group, out, pictures=pictures)
    return out


def unseen(data):
    """Why the pictures of questions are not on a page."""
    return {
        data["unseen"][run["unseen"]]
        for item in data["items"]
        for run in item["runs"]
        if "unseen" in run
    }


def data_of(folder):
    text = (folder / "index.html").read_text(encoding="utf-8")
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1]
    )


# --- files ---


def test_the_page_holds_its_data_as_plain_json_and_runs_no_other_script(asked, tmp_path):
    folder = made(tmp_path / "view", asked("run", right_below(6)))
    text = (folder / "index.html").read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)[1]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in policy
    data = data_of(folder)
    rows = loading.locate("rextime", "mini").read()
    assert [item["question"] for item in data["items"]] == [row["question"] for row in rows]
    # A line for each item, so that two pages can be compared by their lines.
    assert sum(line.startswith('{"id":"mini') for line in text.splitlines()) == 12
    first = data["items"][0]["runs"][0]
    assert (first["said"].startswith("The answer is"), first["right"]) == (True, True)
    assert first["thoughts"] == "<think>Thought 0 about it.</think>"
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {".html", ".jpg"}


def test_pictures_are_the_stores_own_and_of_the_recorded_times_alone(asked, tmp_path):
    from PIL import Image

    run = asked("run", right_below(6))
    data = data_of(made(tmp_path / "view", run))
    strip = data["strips"][data["items"][0]["runs"][0]["strip"]]
    recorded = next(iter(result_files.read_samples(run))).frame_timestamps
    assert strip["times"] == pytest.approx(recorded, abs=1e-3)
    with Image.open(tmp_path / "view" / strip["files"] / "3.jpg") as picture:
        assert min(picture.size) == 96
    videos = len({row["video"] for row in loading.locate("rextime", "mini").read()})
    assert len(data["strips"]) == videos
    assert data["times"][data["items"][0]["runs"][0]["times"]] == recorded
    assert unseen(data_of(made(tmp_path / "few", run, pictures=4))) == {pictures.NO_ROOM}

    lines = (run / "samples.jsonl").read_text().splitlines()
    other = [json.loads(line) for line in lines]
    for line in other:
        line["frame_timestamps"][1] += 0.5
    (run / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in other))
    assert unseen(data_of(made(tmp_path / "view", run))) == {pictures.NOT_HERE}
    (run / "samples.jsonl").write_text("\n".join(lines))
    FrameStore().clear()
    assert unseen(data_of(made(tmp_path / "view", run))) == {pictures.NOT_HERE}
    assert not (tmp_path / "view" / "frames").exists()


@pytest.mark.parametrize("frames", ["uniform:4", "uniform:4,as=images", "uniform:5,size=64"])
def test_frames_are_found_however_they_were_delivered(asked, tmp_path, frames):
    data = data_of(made(tmp_path / "view", asked("run", right_below(6), frames=frames)))
    assert data["items"][0]["runs"][0]["strip"] == 0


def test_frames_of_a_video_in_pictures(asked, tmp_path):
    data = data_of(
        made(tmp_path / "view", asked("run", lambda *_: "A", benchmark="dramaqa_cogme_mini"))
    )
    assert data["agreed"]
    assert data["items"][0]["runs"][0]["strip"] == 0
    assert (tmp_path / "view" / "frames" / "0" / "3.jpg").is_file()


def test_a_run_names_no_file_outside_the_folders_of_videos(asked, tmp_path, monkeypatch):
    """A run's folder may be a stranger's, and the page may be sent on."""
    run = asked("run", right_below(6))
    lines = [json.loads(line) for line in (run / "questions.jsonl").read_text().splitlines()]
    [_, own, *_], videos, elsewhere = lines, tmp_path / "videos", tmp_path / "private.mp4"
    videos.mkdir()
    elsewhere.write_bytes(Path(own["media"]).read_bytes())
    shutil.copy(elsewhere, videos / "mine.mp4")
    (videos / "link.mp4").symlink_to(elsewhere)
    monkeypatch.setenv("REELBENCH_MEDIA", str(videos))
    outside = [
        str(elsewhere),
        f"{videos}/../private.mp4",
        str(videos / "link.mp4"),
        "/etc/passwd",
        "a\0b",
        "\ud800",
    ]
    for line, media in zip(lines, [*outside, str(videos / "mine.mp4")], strict=False):
        line["media"] = media
    samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    for sample in samples:
        sample["video"] = f"no {sample['video']}"  # none that is found by its name
    for name, changed in (("questions", lines), ("samples", samples)):
        (run / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in changed))
    document = json.loads((run / "result.json").read_text())
    document["benchmark"]["split"] = "val"
    (run / "result.json").write_text(json.dumps(document))
    items = data_of(made(tmp_path / "view", run))["items"]
    assert [item["file"] for item in items if "file" in item] == [(videos / "mine.mp4").as_uri()]


def test_films_of_one_s_own_benchmark_are_found_where_new_allowed_them(asked, tmp_path):
    """A result doesn't say where its benchmark's folder is, so the user's home does."""
    run = asked("run", right_below(6))
    lines = [json.loads(line) for line in (run / "questions.jsonl").read_text().splitlines()]
    films, others = tmp_path / "films", tmp_path / "others"
    for folder in (films, others):
        folder.mkdir()
        shutil.copy(lines[0]["media"], folder / "film.mp4")
    (films / "notes.txt").write_text("mine")
    named = [films / "film.mp4", films / "notes.txt", others / "film.mp4"]
    for number, line in enumerate(lines):
        line["media"] = str(named[number]) if number < len(named) else None
    (run / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    document = json.loads((run / "result.json").read_text())
    document["benchmark"]["split"] = "val"
    (run / "result.json").write_text(json.dumps(document))
    samples = [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]
    for sample in samples:
        sample["video"] = f"no {sample['video']}"  # none that is found by its name
    (run / "samples.jsonl").write_text("".join(json.dumps(sample) + "\n" for sample in samples))
    before = data_of(made(tmp_path / "before", run))["items"]
    assert not [item["file"] for item in before if "file" in item]
    containment.allow_outside_folder(tmp_path / "workbench", films)
    items = data_of(made(tmp_path / "view", run))["items"]
    assert [item["file"] for item in items if "file" in item] == [(films / "film.mp4").as_uri()]


def test_a_question_whose_media_is_no_text_is_a_line(asked, tmp_path):
    run = asked("run", right_below(6))
    lines = (run / "questions.jsonl").read_text().splitlines()
    (run / "questions.jsonl").write_text(
        "\n".join([lines[0], json.dumps(json.loads(lines[1]) | {"media": [5]})])
    )
    with pytest.raises(
        InputError, match=r"questions\.jsonl, line 2: expected an object with id, question"
    ):
        made(tmp_path / "view", run)


def test_questions_come_from_beside_the_samples_or_from_the_rows_that_are_here(
    asked, tmp_path, monkeypatch
):
    run = asked("run", right_below(6))
    path = run / "questions.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[0]["question"] = "As it was asked then?"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines[:1]), encoding="utf-8")
    rows = loading.locate("rextime", "mini").read()
    questions = [item["question"] for item in data_of(made(tmp_path / "view", run))["items"]]
    assert questions == ["As it was asked then?", *(row["question"] for row in rows[1:])]
    path.unlink()
    monkeypatch.setattr(loading.sources, "present", lambda *_: None)
    data = data_of(made(tmp_path / "view", run))
    assert data["asked"] == 0
    assert not any("question" in item for item in data["items"])


def test_a_run_is_not_called_by_settings_that_it_lacks(asked, tmp_path):
    first, second = asked("a", right_below(6)), asked("b", right_below(6))
    path = second / "result.json"
    document = json.loads(path.read_text())
    document["model"]["args"] = {"kind": "large"}
    path.write_text(json.dumps(document))
    assert [run["heading"] for run in data_of(made(tmp_path / "view", first, second))["runs"]] == [
        "",
        "kind large",
    ]


def test_a_folder_with_other_files_is_left_alone_and_an_older_page_is_replaced(asked, tmp_path):
    run = asked("run", right_below(6))
    with pytest.raises(InputError, match="has other files in it"):
        made(run, run)
    assert (run / "result.json").is_file()
    folder = made(tmp_path / "view", run)
    (folder / "frames" / "old.jpg").touch()
    made(folder, run)
    assert not (folder / "frames" / "old.jpg").exists()


def test_what_can_not_be_compared_is_refused(asked, tmp_path):
    first = asked("a", right_below(6))
    second = asked("b", lambda *_: "A", benchmark="dramaqa_cogme_mini")
    with pytest.raises(InputError, match="only results on the same benchmark"):
        read_groups([first, second])
    shutil.copytree(second, first / "other")
    assert [len(group) for group in read_groups([tmp_path])] == [1, 2]


@pytest.fixture
def in_parts(monkeypatch):
    """Let a page of any size have its questions in parts, three or so in each."""
    monkeypatch.setattr(parts, "MOST_SIGNS", 0)
    monkeypatch.setattr(parts, "_SIGNS_OF_A_PART", 3000)


def items_of_parts(folder):
    files = sorted((folder / parts.FOLDER).iterdir(), key=lambda path: int(path.stem))
    items = []
    for path in files:
        block = json.loads(re.search(r",(\".*\")\);$", path.read_text())[1])
        items.append(json.loads(zlib.decompress(base64.b64decode(block))))
    return items


def test_a_large_page_has_its_questions_in_parts(asked, tmp_path, monkeypatch):
    run = asked("run", right_below(6))
    whole = made(tmp_path / "whole", run)
    items = data_of(whole)["items"]
    assert not (whole / parts.FOLDER).exists()
    signs = sum(len(in_script(item)) for item in items)
    monkeypatch.setattr(parts, "_SIGNS_OF_A_PART", 3000)
    monkeypatch.setattr(parts, "MOST_SIGNS", signs)
    assert data_of(made(tmp_path / "just", run)) == data_of(whole)
    monkeypatch.setattr(parts, "MOST_SIGNS", signs - 1)
    folder = made(tmp_path / "view", run)
    filed = items_of_parts(folder)
    assert [item for part in filed for item in part] == items
    assert len(filed) > 2
    listed = data_of(folder)["items"]
    assert [item["part"] for item in listed] == [n for n, some in enumerate(filed) for _ in some]
    assert [item["runs"][0]["score"] for item in listed] == [
        item["runs"][0]["score"] for item in items
    ]
    assert "Thought 1 about it." not in (folder / "index.html").read_text(encoding="utf-8")


# --- in the browser ---


@pytest.fixture(scope="module")
def pages_of_two():
    """Folders of pages that are made once: whether few videos had intervals -> the folder."""
    return {}


@pytest.fixture
def two(asked, tmp_path, request, pages_of_two):
    """Two runs of one model: A has the first six right, B the first four, with fewer frames."""
    few = "few_videos" in request.fixturenames
    if few not in pages_of_two:
        first, second = asked("a", right_below(6)), asked("b", right_below(4), frames="uniform:2")
        pages_of_two[few] = made(tmp_path / "view", first, second)
    return pages_of_two[few]


def ids(page):
    return page.locator("#list .id")


@pytest.mark.browser
@pytest.mark.representative
def test_one_run_is_read_searched_filtered_and_gone_through_by_keys(page_of, asked, tmp_path):
    from playwright.sync_api import expect

    folder = made(tmp_path / "view", asked("run", right_below(6)))
    names = [row["id"] for row in loading.locate("rextime", "mini").read()]
    with page_of(folder, f"#sample={names[1]}") as page:
        card = page.locator("#sample article")
        expect(card.locator("h2")).to_have_text(names[1])
        expect(page.locator(f"{METRICS} tr", has_text="mIoU")).to_contain_text("12")
        expect(card.locator(".text").first).to_have_text(re.compile("^The answer is ., from"))
        expect(card.get_by_text("Thought 1 about it.")).to_be_hidden()
        card.locator("summary", has_text="As it came").click()
        expect(card.get_by_text("Thought 1 about it.")).to_be_visible()
        expect(card.locator(".options .true .badge")).to_have_text(["reference", "chosen"])
        expect(card.locator(".read")).to_have_text(
            re.compile(r"^Read: answer ., span \d+ s to [\d.]+ s$")
        )
        expect(card.locator(".lines svg[role=img]")).to_have_count(2)
        frames = card.locator(".strip img")
        expect(frames).to_have_count(4)
        expect(frames.first).to_have_js_property("complete", True)
        assert frames.first.evaluate("image => image.naturalWidth") > 0
        # Keys go through what is listed; the address follows.
        page.keyboard.press("j")
        expect(card.locator("h2")).to_have_text(names[2])
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("k")
        expect(card.locator("h2")).to_have_text(names[0])
        expect(page).to_have_url(re.compile(f"#sample={names[0]}$"))
        page.keyboard.press("/")
        expect(page.locator("#q")).to_be_focused()
        page.keyboard.type("<b>nothing</b>")
        expect(ids(page)).to_have_text([names[10]])
        page.keyboard.press("Escape")
        page.keyboard.press("j")
        expect(card.locator("h2")).to_have_text(names[10])
        expect(card.locator(".answer h3")).to_contain_text("unreadable answer")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        page.locator("#q").fill("")
        page.get_by_role("button", name="Wrong").click()
        expect(ids(page)).to_have_text(names[6:])
        page.get_by_role("button", name="Unreadable").click()
        expect(ids(page)).to_have_text([names[10]])
        page.get_by_role("button", name="All").click()
        label = page.locator("#f-category option").nth(1).get_attribute("value")
        page.locator("#f-category").select_option(label)
        there = [
            row["id"]
            for row in loading.locate("rextime", "mini").read()
            if label in row["category"]
        ]
        expect(ids(page)).to_have_text(there)
        expect(page.locator("#live")).to_have_text(f"{len(there)} questions")
    with page_of(folder, "#show=wrong&sample=never") as page:
        expect(ids(page)).to_have_text(names[6:])
        expect(page.locator("#sample .banner")).to_contain_text("No question has the id never")


@pytest.mark.browser
@pytest.mark.usefixtures("in_parts")
def test_a_page_in_parts_is_read_and_searched_as_a_whole_one(page_of, asked, tmp_path):
    from playwright.sync_api import expect

    folder = made(tmp_path / "view", asked("run", right_below(6)), asked("b", right_below(4)))
    names = [row["id"] for row in loading.locate("rextime", "mini").read()]
    with page_of(folder, f"#sample={names[7]}") as page:
        expect(card_of(page)).to_have_text(names[7])
        expect(page.locator("#sample .text").first).to_have_text(re.compile("^The answer is"))
        loaded = page.locator("head script[src]")
        expect(loaded).to_have_count(1)
        page.keyboard.press("j")
        expect(card_of(page)).to_have_text(names[8])
        page.get_by_role("button", name="Only one is right").click()
        expect(ids(page)).to_have_text(names[4:6])
        expect(card_of(page)).to_have_text(names[4])
        expect(
            page.locator("#sample .answer .badge", has_text=re.compile("^(right|wrong)$"))
        ).to_have_text(["right", "wrong"])
        page.get_by_role("button", name="All", exact=False).first.click()
        # What an answer says is in no part that was loaded so far.
        page.locator("#q").fill("nothing all.")
        expect(ids(page)).to_have_text([names[10]])
        expect(card_of(page)).to_have_text(names[10])
        expect(page.locator("#count")).to_have_text("1 to 1 of 1")
        expect(loaded).to_have_count(len(items_of_parts(folder)))
    with page_of(folder, "#show=one&sample=never") as page:
        expect(ids(page)).to_have_text(names[4:6])
        expect(card_of(page)).to_have_text(names[4])
        expect(page.locator("#sample .banner")).to_contain_text("No question has the id never")


@pytest.mark.browser
def test_two_runs_stand_side_by_side(page_of, two):
    from playwright.sync_api import expect

    names = [row["id"] for row in loading.locate("rextime", "mini").read()]
    with page_of(two, "#show=one") as page:
        # A alone has the fifth and the sixth right.
        expect(ids(page)).to_have_text(names[4:6])
        expect(page.get_by_role("button", name="Only A is right")).to_contain_text("2")
        expect(page.get_by_role("button", name="Only B is right")).to_have_count(0)
        row = page.locator(f"{METRICS} tbody tr").nth(1)
        # 6 and 4 of 12 right: 50 - 33.3.
        expect(row).to_contain_text("+16.7")
        expect(page.locator(f"{METRICS} thead")).to_contain_text("frames uniform:2")
        expect(page.locator("#summary tr", has_text="settings.frames")).to_contain_text(
            f"{FRAMES}uniform:2"
        )
        expect(page.locator(".answer .badge", has_text=re.compile("^(right|wrong)$"))).to_have_text(
            ["right", "wrong"]
        )
        expect(page.locator(".answer .strip")).to_have_count(2)
        expect(page.locator(".answer .pairs").first).to_contain_text("mIoU 100.0")
        expect(page.locator(".lines svg[role=img]")).to_have_count(3)


@pytest.mark.browser
def test_three_answers_stand_side_by_side_and_equal_runs_have_an_axis(page_of, asked, tmp_path):
    from playwright.sync_api import expect

    folders = [asked(name, right_below(6), model=f"org/{name}") for name in "abc"]
    with page_of(made(tmp_path / "view", *folders), width=1440) as page:
        tops = [answer.bounding_box()["y"] for answer in page.locator("#sample .answer").all()]
        assert tops == [tops[0]] * 3
        # The main metric is the badge, then the others as the table has them.
        expect(page.locator(".answer .pairs").first).to_have_text(
            re.compile(r"^Accuracy 100.0mIoU 100.0")
        )
        expect(page.locator(".differences .axis i")).to_have_text(["−1", "0", "1"])


SPANS = """() => [...document.querySelectorAll("[data-start]")].map((span) => {
    const [box, axis] = [span.getBoundingClientRect(), span.parentElement.getBoundingClientRect()];
    return [+span.dataset.start, +span.dataset.end, box.left, box.right, axis.left, axis.right];
})"""


@pytest.fixture
def three(asked, tmp_path):
    """Three runs: B's span is 1/50 s long, C's ends after the video; C's settings name frames without their times."""

    def window(start, end):
        return lambda _n, row: f"The answer is {row['answer']}, from {start} to {end} seconds."

    spans = {"a": window(10, 20), "b": window(12, 12.02), "c": window(5, 400)}
    long = "very" * 40  # breaks nowhere by itself
    folders = [
        asked(name, say, model=f"org/{name}-{long}", frames="none") for name, say in spans.items()
    ]
    path = folders[2] / "result.json"
    document = json.loads(path.read_text())
    document["settings"]["frames"] = "uniform:128"
    path.write_text(json.dumps(document))
    samples = [json.loads(line) for line in (folders[2] / "samples.jsonl").read_text().splitlines()]
    lines = [json.dumps(sample | {"frame_timestamps": None}) + "\n" for sample in samples]
    (folders[2] / "samples.jsonl").write_text("".join(lines))
    return made(tmp_path / "view", *folders)


@pytest.mark.browser
def test_spans_of_reference_and_runs_lie_on_one_linear_axis(page_of, three):
    from playwright.sync_api import expect

    truth = loading.locate("rextime", "mini").read()[0]["span"]
    with page_of(three) as page:
        for width in (390, 768, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            expect(page.locator("html")).to_have_js_property("scrollWidth", width)
            spans = page.evaluate(SPANS)
            assert [span[:2] for span in spans] == [truth, [10, 20], [12, 12.02], [5, 400]]
            ends = {(round(left, 3), round(right, 3)) for *_, left, right in spans}
            [(left, right)] = ends
            for start, end, *box, _, _ in spans:
                # The longest span ends at 400 s, beyond the video, so the axis does.
                assert box == pytest.approx(
                    [left + (right - left) * time / 400 for time in (start, end)], abs=0.05
                )
        evenly = "128 frames, evenly over the video (uniform:128)"
        expect(page.locator("#sample .answer").nth(2)).to_contain_text(evenly)


@pytest.mark.browser
def test_the_open_question_is_one_of_the_list_and_back_restores_everything(page_of, two):
    from playwright.sync_api import expect

    names = [row["id"] for row in loading.locate("rextime", "mini").read()]
    with page_of(two) as page:
        card = card_of(page)

        def shows(name, listed, words="", chip="All"):
            expect(card).to_have_text(name)
            expect(ids(page)).to_have_text(listed)
            expect(page.locator("#list [aria-current] .id")).to_have_text(name)
            expect(page.locator("#q")).to_have_value(words)
            expect(page.locator("#chips [aria-pressed=true]")).to_contain_text(chip)

        shows(names[0], names)
        page.keyboard.press("j")
        expect(page).to_have_url(re.compile(f"#sample={names[1]}$"))
        page.get_by_role("button", name="Only one is right").click()
        shows(names[4], names[4:6], chip="Only one is right")
        page.locator("#list a").nth(1).click()
        shows(names[5], names[4:6], chip="Only one is right")
        page.get_by_role("button", name="All", exact=False).first.click()
        shows(names[5], names)
        expect(page).to_have_url(re.compile(f"#sample={names[5]}$"))
        page.locator("#q").press_sequentially("nothing at all", delay=20)
        shows(names[10], names[10:11], "nothing at all")
        expect(page).to_have_url(re.compile(f"q=nothing\\+at\\+all&sample={names[10]}$"))
        address = page.url
        page.go_back()  # a search is one step, however long it was typed
        shows(names[5], names)
        page.go_back()
        shows(names[5], names[4:6], chip="Only one is right")
        page.go_back()
        shows(names[4], names[4:6], chip="Only one is right")
        page.go_back()
        shows(names[1], names)
        page.go_forward()
        shows(names[4], names[4:6], chip="Only one is right")
        page.locator("#q").fill("no such words")
        expect(page.locator("#sample")).to_have_text("No question to show.")
        page.get_by_text("Breakdowns").click()
        label = page.locator("#results .filters a").first
        kind = label.text_content()
        label.click()
        listed = [
            row["id"] for row in loading.locate("rextime", "mini").read() if kind in row["category"]
        ]
        shows(listed[0], listed)
    with page_of(two, address[address.index("#") :]) as page:
        expect(ids(page)).to_have_text(names[10:11])
    with page_of(two, f"#show=one&sample={names[0]}") as page:
        expect(card_of(page)).to_have_text(names[4])
        page.get_by_role("link", name="Show it among all questions").click()
        expect(card_of(page)).to_have_text(names[0])


@pytest.mark.browser
def test_the_axis_and_the_video_go_together(page_of, asked, tmp_path):
    from playwright.sync_api import expect

    rows = loading.locate("rextime", "mini").read()
    with page_of(made(tmp_path / "view", asked("run", right_below(6)))) as page:
        video = page.locator("#sample video")
        expect(video).to_have_js_property("duration", rows[0]["duration"])
        box = page.locator("#sample .rail").first.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
        expect(video).to_have_js_property("seeking", False)
        assert video.evaluate("video => video.currentTime") == pytest.approx(
            rows[0]["duration"] / 4, abs=0.05
        )
        head = page.locator("#sample .playhead").bounding_box()
        assert head["x"] == pytest.approx(box["x"] + box["width"] / 4, abs=1.5)
        # Pictures lie at the times of their frames: the first and the last at the video's ends.
        first, *_, last = [
            image.bounding_box() for image in page.locator("#sample .thumbs img").all()
        ]
        assert (first["x"], last["x"] + last["width"]) == pytest.approx(
            (box["x"], box["x"] + box["width"]), abs=1
        )
        axis = page.get_by_role("slider", name="Time in the video")
        axis.focus()
        for key, second in (
            ("Home", 0),
            ("ArrowRight", 1),
            ("ArrowRight", 2),
            ("ArrowLeft", 1),
            ("End", 10),
        ):
            page.keyboard.press(key)
            expect(axis).to_have_attribute("aria-valuetext", f"{second} s")
        assert video.evaluate("video => video.currentTime") == rows[0]["duration"] == 10
        expect(card_of(page)).to_have_text(rows[0]["id"])  # the arrows turned no page
        page.keyboard.press(" ")
        expect(video).to_have_js_property("paused", False)


@pytest.mark.browser
def test_a_video_says_how_long_it_is_where_nothing_else_does(page_of, asked, tmp_path):
    from playwright.sync_api import expect

    folder = made(
        tmp_path / "view", asked("run", lambda *_: "A", benchmark="video_holmes_mini")
    )  # no text overlap: no Java
    assert "duration" not in data_of(folder)["items"][0]
    with page_of(folder) as page:
        length = page.locator("#sample video").evaluate("video => video.duration")
        expect(page.locator("#sample .note").first).to_contain_text(
            f"The axis is the video, {length:g} s."
        )
        expect(page.locator("#sample .ruler i").last).to_have_text(f"{length:g} s")


def card_of(page):
    return page.locator("#sample h2")


@pytest.mark.browser
def test_of_a_right_choice_whose_span_misses_it_is_said_what_is_wrong(page_of, asked, tmp_path):
    from playwright.sync_api import expect

    def say(n, row):
        return f"The answer is {row['answer'] if n == 0 else 'AB'[row['answer'] == 'A']}, from 900 to 901 seconds."

    with page_of(made(tmp_path / "view", asked("run", say), pictures=0)) as page:
        expect(page.locator("#sample .answer .badge").first).to_have_text("span missed")
        page.keyboard.press("j")
        expect(page.locator("#sample .answer .badge").first).to_have_text("wrong")


@pytest.mark.browser
def test_candidates_scores_of_options_and_whatever_else_a_record_holds_are_shown(
    page_of, asked, tmp_path
):
    from playwright.sync_api import expect

    folder = made(tmp_path / "view", asked("run", right_below(6), frames="none"))
    path = folder / "index.html"
    data = data_of(folder)
    data["items"][0]["runs"][0] |= {
        "candidates": ["It falls.", "It rises <b>up</b>."],
        "option_scores": [{"mean": -1.25, "sum": -5}, {"mean": -2, "sum": None}],
        "how_sure": {"first": 0.5},
    }
    # What a page by JavaScript might stumble over: `in_script` writes it as it stands.
    odd = {"__proto__": {"answer": "B", "polluted": 1}, "constructor": "x", "span": "from 1 to 2"}
    data["items"][1]["runs"][0] |= {
        "parsed": odd,
        "__proto__": {"said": "B"},
        "toString": {"__proto__": {"a": 1}},
    }
    text = path.read_text(encoding="utf-8")
    start = text.index('id="data">') + len('id="data">')
    path.write_text(
        text[:start] + in_script(data) + text[text.index("</script>", start) :], encoding="utf-8"
    )
    with page_of(folder) as page:
        answer = page.locator("#sample .answer")
        expect(answer.locator("h4")).to_have_text(["Candidates", "Option scores", "How sure"])
        expect(answer.locator("ol .text")).to_have_text(["It falls.", "It rises <b>up</b>."])
        expect(answer.locator("table").nth(0).locator("tr")).to_have_text(
            ["meansum", "A−1.25−5", "B−2–"]
        )
        expect(answer.locator("table").nth(1).locator("tr")).to_have_text(["first0.5"])
        expect(page.locator("#sample")).to_contain_text("The model was shown no frames.")
        page.keyboard.press("j")
        expect(page.locator("#sample .read")).to_contain_text("constructor x, span from 1 to 2")
        expect(page.locator("#sample .answer h4")).to_have_text(["  proto  ", "ToString"])
        assert page.evaluate("[({}).polluted, ({}).said, ({}).answer, ({}).a]") == [None] * 4


@pytest.mark.browser
def test_judges_replies_stand_beside_each_other(page_of, moviecore_run, tmp_path):
    from playwright.sync_api import expect

    runs_ = [moviecore_run("a"), moviecore_run("b", model="org/other", votes=2)]
    with page_of(made(tmp_path / "view", *runs_), "#q=number 5") as page:
        expect(ids(page)).to_have_count(1)
        answers = page.locator("#sample .answer")
        expect(answers.nth(0).locator(".replies > div")).to_have_count(5)
        expect(answers.nth(1).locator(".replies > div")).to_have_count(10)
        expect(answers.nth(1)).to_contain_text("accuracy, vote 2: 5")


@pytest.mark.browser
def test_graded_scores_are_numbers_and_the_reader_says_what_is_right(
    page_of, moviecore_run, tmp_path
):
    from playwright.sync_api import expect

    runs_ = [
        moviecore_run(name, model=f"org/{name}") for name in "abc"
    ]  # question n has the score n % 6
    scores = [n % 6 for n in range(len(loading.locate("moviecore", "mini").read()))]
    with page_of(made(tmp_path / "view", *runs_)) as page:
        expect(page.locator("#runs li").last).to_have_text("judge: judge-0001")
        expect(page.locator("#list li").nth(3).locator(".cell")).to_have_text(["3"] * 3)
        expect(page.locator("#sample .badge", has_text="wrong")).to_have_count(0)
        under = page.locator(".chip[data-name=wrong]")
        expect(under).to_have_text(f"All under 4{sum(score < 4 for score in scores)}")
        page.get_by_label("Counts as right from").fill("2")
        page.get_by_label("Counts as right from").press("Tab")
        expect(under).to_have_text(f"All under 2{sum(score < 2 for score in scores)}")
        expect(page).to_have_url(re.compile("from=2"))
        expect(page.locator("#f-pair option")).to_have_count(
            7
        )  # all, and each of three against each other
        page.reload()
        expect(under).to_have_text(f"All under 2{sum(score < 2 for score in scores)}")


@pytest.mark.browser
@pytest.mark.usefixtures("few_videos")
def test_the_difference_by_label_stands_first_and_leads_to_its_questions(page_of, two):
    from playwright.sync_api import expect

    with page_of(two) as page:
        expect(page.locator("#runs li").last).to_have_text("scored by rule")
        lines = page.locator("#apart li")
        expect(lines.first).to_contain_text("A − B, all")
        expect(lines.first).to_contain_text("+16.7")  # 6 and 4 of 12
        assert page.locator("#apart").bounding_box()["y"] < 300
        label = page.locator("#apart a[href*='category=']").first
        rows = loading.locate("rextime", "mini").read()
        there = [row["id"] for row in rows if label.inner_text() in row["category"]]
        label.click()
        expect(ids(page)).to_have_text(there)


@pytest.mark.browser
def test_hostile_text_of_a_run_is_inert(page_of, asked, tmp_path):
    from playwright.sync_api import expect

    run = asked("run", lambda *_: f"{EVIL} /*DATA*/ </script><!-- <script>", model=f"<title>{EVIL}")
    lines = [json.loads(line) for line in (run / "questions.jsonl").read_text().splitlines()]
    for line in lines:
        line |= {"question": EVIL, "options": [EVIL] * 4}
    (run / "questions.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with page_of(made(tmp_path / "view", run)) as page:
        expect(page.locator("h1")).to_have_text(f"<title>{EVIL}")
        expect(page.locator("#sample .question")).to_have_text(EVIL)
        assert page.evaluate("window.pwned") is None
        expect(page.locator("#main img, #main script")).to_have_count(
            8
        )  # the frames, below each other and on the axis
        assert page.title().endswith(EVIL)


@pytest.mark.browser
@pytest.mark.parametrize(
    "look", [("light", 1280), ("dark", 390)], ids=["light", "dark, on a phone"]
)
def test_axe_and_the_validator_find_nothing(page_of, two, checkers, tmp_path, look):
    from playwright.sync_api import expect

    scheme, width = look
    with page_of(two, width=width, scheme=scheme) as page:
        expect(page.locator("#sample article")).to_be_visible()
        for fold in page.locator("main details").all():
            fold.evaluate("fold => { fold.open = true; }")
        assert violations(page, checkers) == []
        expect(page.locator("html")).to_have_js_property("scrollWidth", width)
        expect(page.locator("body")).to_have_css(
            "background-color", LIGHT if scheme == "light" else DARK
        )
        drawn = tmp_path / "drawn.html"
        drawn.write_text(page.content(), encoding="utf-8")
        page.emulate_media(media="print")
        expect(page.locator("body")).to_have_css("background-color", LIGHT)
        expect(page.locator(".list")).to_be_hidden()
        expect(page.locator("#sample article")).to_be_visible()
    assert invalid([two / "index.html", drawn], checkers, tmp_path) == set()


@pytest.mark.browser
def test_a_run_whose_numbers_are_not_what_its_samples_say_says_so_on_top(
    page_of, rextime_run, reelbench, tmp_path
):
    from playwright.sync_api import expect

    run = rextime_run()
    samples = run / "samples.jsonl"
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    lines[0]["scores"] = dict.fromkeys(lines[0]["scores"], 0.0)  # the first was right
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = reelbench("view", run, "--out", tmp_path / "page")
    assert done.returncode == 0, done.stderr
    assert "samples.jsonl was changed after scoring" in done.stderr
    with page_of(tmp_path / "page") as page:
        banner = page.locator("main > .wrong")
        expect(banner).to_contain_text("The numbers of org/model are not what its samples say.")
        expect(banner).to_contain_text("item 'mini1': scores.correct is 0.0, recomputed 1.0")
    other = rextime_run("other")
    document = json.loads((other / "result.json").read_text())
    document["metrics"]["accuracy"]["value"] = 99.0
    (other / "result.json").write_text(json.dumps(document))
    done = reelbench("view", other, "--out", tmp_path / "other page")
    assert "metrics.accuracy is 99.0, recomputed 50.0" in done.stderr
    whole = reelbench("view", rextime_run("whole"), "--out", tmp_path / "whole page")
    assert "not what" not in whole.stderr


def test_only_the_questions_that_were_asked_for(asked, reelbench, tmp_path):
    a, b = asked("a", right_below(6)), asked("b", right_below(9), model="org/other")
    [group] = read_groups([a, b])
    ids = list(group[0].samples)
    # By hand: A is right on the first 6 of 12, B on the first 9.
    assert wanted_ids(group, "wrong") == ids[9:]
    assert wanted_ids(group, "B-not-A") == wanted_ids(group, "differ") == ids[6:9]
    done = reelbench(
        "view", a, b, "--out", tmp_path / "page", "--only", "B-not-A", "--pictures", "0"
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "page" / "index.html").read_text()
    assert [name in page for name in ids] == [name in ids[6:9] for name in ids]
    for only, why in (("A-not-B", "none of 12 questions is"), ("A-not-C", "such as A-not-B")):
        done = reelbench("view", a, b, "--out", tmp_path / "none", "--only", only)
        assert done.returncode == 2
        assert why in done.stderr


def test_one_file_to_send_has_its_pictures_and_no_path_of_this_machine(asked, reelbench, tmp_path):
    a, b = asked("a", right_below(6)), asked("b", right_below(9), model="org/other")
    file, table = tmp_path / "sent.html", tmp_path / "sent.csv"
    done = reelbench("view", a, b, "--out", file, "--only", "B-not-A", "--csv", table)
    assert done.returncode == 0, done.stderr
    text = file.read_text()
    assert text.count("data:image/jpeg;base64,") == 4  # the three questions are of one video
    assert str(tmp_path) not in text
    assert str(Path.home()) not in text
    assert "file://" not in text.partition("<script")[2]
    assert table.read_bytes().startswith(b"\xef\xbb\xbf")  # or a spreadsheet misreads it
    lines = list(csv.DictReader(io.StringIO(table.read_text(encoding="utf-8-sig"))))
    names = [row["id"] for row in loading.locate("rextime", "mini").read()]
    assert [line["id"] for line in lines] == names[6:9]
    assert {(line["A_right"], line["B_right"], line["B_score"]) for line in lines} == {
        ("no", "yes", "100.0")
    }
    asked_row = loading.load("rextime", "mini")[6]
    [first, *_] = lines
    assert first["question"] == asked_row["question"]
    lettered = [
        f"{letter}. {text}" for letter, text in zip("ABCD", asked_row["options"], strict=True)
    ]
    assert first["options"].splitlines() == lettered
    right = lettered["ABCD".index(asked_row["answer"])]
    assert first["right_answer"].startswith(f"{right}; ")
    assert first["right_answer"].endswith(" s")
    assert first["B_read"].startswith(right)
    assert (first["A_scores.correct"], first["B_scores.correct"]) == ("0.0", "1.0")


def test_data_under_an_agreement_are_not_made_a_file_to_send(asked, tmp_path, monkeypatch):
    from reelbench.leaderboard.view import page

    [group] = read_groups([asked("a", right_below(6))])
    monkeypatch.setattr(page, "why_withheld", lambda *_: "Its data is under an agreement.")
    with pytest.raises(InputError, match=r"made to be sent on\. Its data is under an agreement"):
        pages.write(group, tmp_path / "sent.html", pictures=0)
    assert not (tmp_path / "sent.html").exists()
