"""Pages in a real browser, and files as pages save them."""

import json
from pathlib import Path

import pytest

from reelbench.data import loading
from reelbench.studio.review import pages
from reelbench.studio.review.kinds import KINDS
from reelbench.studio.review.review_kind import Sources
from tests.studio.test_diagnosis_page import ROWS, diagnosed


@pytest.fixture
def data_of():
    """Return the data that a page holds."""

    def run(page: Path) -> dict:
        line = next(
            line for line in page.read_text().splitlines() if line.startswith("const review = ")
        )
        return json.loads(line.removeprefix("const review = ").removesuffix(";"))

    return run


@pytest.fixture
def make(tmp_path, reelbench_home):
    """Write a page of a benchmark, whose films come from where the mini data's lie; returns what was written."""

    def run(name, file="page.html", *, kind="ratings", data=None, played=True, **draw):
        drawn = pages.Draw(**draw)
        content = KINDS[kind].content(Sources(name=name, data=data), drawn)
        films = (reelbench_home / "mini" / content.spec.id).as_uri() + "/" if played else None
        return pages.write(content, tmp_path / file, drawn, data=data, media_url=films)

    return run


@pytest.fixture
def opened(chromium):
    """Open pages from the disk, each reviewer in a browser of their own; nothing may be logged as an error."""
    contexts, errors, requests = [], [], []

    def run(path, *, picker=False, context=None, width=1280, scheme="light", init=""):
        if context is None:
            viewport = {"width": width, "height": 900}
            context = chromium.new_context(
                viewport=viewport, accept_downloads=True, color_scheme=scheme
            )
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        if not picker:  # as in browsers without it
            page.add_init_script("delete window.showSaveFilePicker")
        if init:
            page.add_init_script(init)
        page.on(
            "console",
            lambda message: errors.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        return page

    yield run
    for context in contexts:
        context.close()
    assert not errors
    assert [url for url in requests if not url.startswith(("file:", "blob:", "data:"))] == []


@pytest.fixture
def save(tmp_path):
    """Save as somebody; returns the file."""

    def run(page, name) -> Path:
        page.get_by_label("Your name").fill(name)
        with page.expect_download() as download:
            page.get_by_role("button", name="Save to a file").click()
        path = tmp_path / f"{name}.json"
        download.value.save_as(path)
        return path

    return run


@pytest.fixture
def review(tmp_path):
    """Write a file as a page saves it."""

    def write(
        reviewer, said, *, ask="ratings", page="p1", saved="2026-11-20T10:00:00Z", name=None, **more
    ):
        path = tmp_path / f"{name or reviewer}.json"
        document = {
            "kind": "reelbench-review",
            "schema_version": 1,
            "page": page,
            "benchmark": "moviecore" if ask == "ratings" else "rextime",
            "split": "test" if ask == "ratings" else "val",
            "reviewer": reviewer,
            "saved": saved,
            "comments": {},
        }
        document |= {"ratings": said} if ask == "ratings" else {"ask": ask, "marks": said}
        path.write_text(json.dumps(document | more))
        return path

    return write


@pytest.fixture
def judged(tmp_path):
    """A judged result on the mini data, made by hand: the judge gives everything the same score."""
    from reelbench.registry import rows
    from reelbench.registry.records import Item, JudgeRecord, ModelRecord, SettingsRecord
    from reelbench.scoring import aggregation, result_files

    located = loading.locate("curve_mini")
    spec = located.spec
    items = [
        Item(
            id=row["id"],
            video=row["video"],
            target=rows.target(spec, row),
            prediction=f"The model says {row['id']}.",
            facets=rows.facets(spec, row),
        )
        for row in located.read()
    ]
    samples = [item.sample(None, {"score": 1.0, "exact_match": 0.0}) for item in items]
    judge = JudgeRecord(requested="judge-x", prompt="reelbench", prompt_sha256="0" * 64)
    scored = aggregation.ScoredItems(spec, samples, judge, overlap=False)
    result_files.write(
        tmp_path / "result", spec, scored, split="mini", source=located.source, model=ModelRecord(id="m"),
        settings=SettingsRecord(),
    )  # fmt: skip
    return tmp_path / "result"


@pytest.fixture
def diagnosis(tmp_path):
    return diagnosed(tmp_path / "diagnosis", ROWS).path


@pytest.fixture
def page_of_nodes(reelbench, diagnosis, tmp_path):
    """Write the page on which the diagnosis' nodes are tagged again."""

    def run(*options, path=tmp_path / "nodes.html"):
        files = ["--diagnosis", diagnosis, "--output", path]
        done = reelbench("review", "page", "curve", "--ask", "nodes", *files, *options)
        assert done.returncode == 0, done.stderr
        return path

    return run
