"""Results as `reelbench score` writes them, on the mini data, and ways to tamper with them."""

import hashlib
import json
from contextlib import contextmanager

import pytest

from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import site
from reelbench.stats import intervals, ratios
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files
from tests.servers.judge import Answer, JudgeServer


@pytest.fixture
def few_videos(monkeypatch):
    """Let the mini data, which has four videos, have intervals."""
    monkeypatch.setattr(intervals, "MIN_CLUSTERS", 2)
    monkeypatch.setattr(ratios, "MIN_CLUSTERS_PER_RATIO", 2)


@pytest.fixture
def rextime_run(tmp_path):
    """Score a submission to ReXTime's mini split: `right` questions right, then wrong letters and [0, 0].

    With `first`, only that many questions, held against a file of references.
    """

    def run(name="run", *, model="org/model", right=6, first=None):
        folder = tmp_path / name
        folder.mkdir()
        path = folder / "submission.jsonl"
        lines = []
        rows = loading.locate("rextime", "mini").read()[:first]
        for number, row in enumerate(rows):
            good = number < right
            wrong = "B" if row["answer"] == "A" else "A"
            window = row["span"] if good else [0, 0]
            lines.append(
                {
                    "qid": row["id"],
                    "pred_relevant_windows": [window],
                    "ans": row["answer"] if good else wrong,
                }
            )
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        references = None
        if first is not None:
            references = folder / "references.jsonl"
            truth = [
                {
                    "qid": row["id"],
                    "query": row["question"],
                    "duration": row["duration"],
                    "vid": row["video"],
                    "relevant_windows": [row["span"]],
                    "ans": row["answer"],
                }
                for row in rows
            ]
            references.write_text("".join(json.dumps(line) + "\n" for line in truth))
        inputs = Inputs(path, references, split="mini")
        score_files("rextime", inputs, folder / "result", Options(), model=model)
        return folder / "result"

    return run


@pytest.fixture
def moviecore_run(tmp_path):
    """Score answers to MovieCORE's mini split with a judge that gives each question a score of its own, 0 to 5."""

    def run(name="judged", *, model="org/model", answers=None, votes=1):
        folder = tmp_path / name
        folder.mkdir()
        rows = loading.locate("moviecore", "mini").read()
        scores = {row["question"]: number % 6 for number, row in enumerate(rows)}
        path = folder / "predictions.json"
        entries = {}
        for number, row in enumerate(rows):
            entries.setdefault(f"{row['video']}.mp4", []).append(
                {
                    "question": row["question"],
                    "answer": row["answer"],
                    "pred": (answers or {}).get(row["id"], f"It is answer number {number}."),
                    "classification": ", ".join(row["classification"]),
                }
            )
        path.write_text(json.dumps(entries))

        def judge(call):
            score = next(score for question, score in scores.items() if question in call.user)
            return Answer(json.dumps({"score": score}))

        with JudgeServer(judge) as server:
            options = JudgeOptions(
                model="judge", url=server.url, cache=folder / "judge.sqlite", votes=votes
            )
            inputs, aggregation = Inputs(path, split="mini"), Options(overlap=False, judge=options)
            score_files("moviecore", inputs, folder / "result", aggregation, model=model)
        return folder / "result"

    return run


@pytest.fixture
def tamper():
    """Change a result's files; by default with a hash that fits again, as a careful forger would."""

    def run(folder, *, samples=None, result=None, rehash=True):
        path, document = folder / "samples.jsonl", folder / "result.json"
        found = json.loads(document.read_text())
        if samples is not None:
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            lines = samples(lines) or lines
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        if rehash:
            found["provenance"]["samples_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        if result is not None:
            result(found)
        document.write_text(json.dumps(found))
        return folder

    return run


@pytest.fixture
def page_of(chromium):
    """Open a site from the disk; afterwards asserts that nothing was logged as an error and nothing left the page."""
    opened = []

    @contextmanager
    def run(folder, address="", *, width=1280, scheme="light", file="index.html"):
        context = chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(60_000)
        errors, requests = [], []
        page.on(
            "console",
            lambda message: errors.append(message.text) if message.type == "error" else None,
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"file://{folder / file}{address}")
        opened.append((errors, requests))
        yield page
        context.close()
        assert errors == []
        assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []

    return run


@pytest.fixture(scope="module")
def published_site(tmp_path_factory):
    """The site with published numbers alone."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "store").mkdir()
    site.build(folder / "store", folder / "site")
    return folder / "site"
