"""The webhook's server as a real process, against a server that speaks the Hub's protocol to its real client."""

import asyncio
import json
import multiprocessing
import os
import queue
import signal
import socket
import subprocess
import threading
from http.client import HTTPConnection
from tempfile import gettempdir
from typing import Any
from urllib.parse import urlsplit

import pytest
from aiohttp import web
from huggingface_hub import HfApi
from pydantic import ValidationError

import reelbench
from reelbench.base.bounded import Bounds
from reelbench.base.errors import ReelbenchError
from reelbench.leaderboard import publish as publishing
from reelbench.leaderboard import store, webhook
from reelbench.leaderboard.publish import PublishOptions
from reelbench.leaderboard.pull_request import PullRequests
from reelbench.leaderboard.store import Filing
from reelbench.leaderboard.webhook import Payload
from reelbench.registry.records import BASELINE_ADAPTER, About
from tests.alarms import PATIENCE_S
from tests.servers.hub_repos import Token

DATASET, SECRET = "museum/results", "open sesame"
PINNED = PublishOptions(
    install=f"https://example.org/reelbench-1.0-py3-none-any.whl#sha256={'0' * 64}"
)


@pytest.fixture
def table(hub, rextime_run, tmp_path, monkeypatch):
    """Publish a results dataset with one result."""
    store.add(rextime_run("first", model="org/first", right=8), tmp_path / "museum")
    publishing.publish(tmp_path / "museum", dataset=DATASET)
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    return hub.repo(DATASET)


class Served:
    """The process, what it says line by line, and calls to it."""

    def __init__(self, hub, home, program, env=None, options=()):
        command = [program, "leaderboard", "webhook", "--dataset", DATASET, *options]
        told = {"HF_TOKEN": "hf_bot", "WEBHOOK_SECRET": SECRET, "REELBENCH_HOME": str(home / "bot")}
        self._process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", "0"],
            env={**(os.environ if env is None else env), **hub.env(home / "bot-hf"), **told},
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        self._lines = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self.until("listening on").split()[-1]

    def _read(self):
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._lines.put(line)

    def until(self, text):
        """Return the next line that has `text` in it."""
        while text not in (line := self._lines.get(timeout=PATIENCE_S)):
            pass
        return line

    def rest(self):
        """Return the lines that nobody has read yet."""
        return [self._lines.get_nowait() for _ in range(self._lines.qsize())]

    def post(self, body, secret=SECRET):
        headers = {
            "Content-Type": "application/json",
            **({"X-Webhook-Secret": secret} if secret else {}),
        }
        address = urlsplit(self.url)
        connection = HTTPConnection(address.netloc)
        connection.request(
            "POST", address.path, body if isinstance(body, bytes) else json.dumps(body), headers
        )
        status = connection.getresponse().status
        connection.close()
        return status

    def stop(self):
        self._process.terminate()
        self._process.wait()
        self._reader.join()


@pytest.fixture
def served(hub, table, tmp_path, program):  # noqa: ARG001 - published before
    server = Served(hub, tmp_path, program)
    # It has looked for open pull requests, and found none: from now on it knows what it is told.
    server.until("0 open pull requests")
    yield server
    server.stop()


@pytest.fixture
def offer(table, hub, rextime_run, tamper, tmp_path):
    """Offer a result as a pull request, as `publish --create-pr` does; `change` spoils it before."""

    def run(name, *, change=None, organisation=None, model=None, adapter=None, **options):
        scored, about = (
            rextime_run(name, model=model or f"me/{name}", **options),
            About(organisation=organisation),
        )
        if adapter is not None:
            tamper(scored, result=lambda result: result["model"].update(adapter=adapter))
        filing = Filing(account=HfApi(endpoint=hub.url).whoami()["name"])
        [added] = store.add(
            scored, tmp_path / f"{name}-store", about=about if organisation else None, filing=filing
        )
        if change is not None:
            change(added.place)
        HfApi(endpoint=hub.url).upload_folder(
            repo_id=DATASET,
            repo_type="dataset",
            folder_path=tmp_path / f"{name}-store",
            path_in_repo="results",
            ignore_patterns=["ledger.jsonl", ".ledger.lock", ".columns/*"],
            create_pr=True,
            commit_message=name,
        )
        return table.pull_requests[-1]

    return run


def payloads(hub, table, pull_request):
    return pull_request.payloads(table.id, "dataset", hub.url, table.refs[pull_request.ref])


def test_a_pull_request_gets_one_comment_however_often_it_is_told_of(hub, table, served, offer):
    pull_request = offer("mine", right=6)
    opened, pushed = payloads(hub, table, pull_request)
    assert [served.post(opened), served.post(opened, "open sesam"), served.post(pushed, None)] == [
        202,
        403,
        401,
    ]
    assert "commented" in served.until("pull request 1")
    assert served.post(pushed) == 202
    assert "unchanged" in served.until("pull request 1")
    [comment] = pull_request.comments
    assert comment.startswith("### Reelbench: 1 of 1 result is valid")
    assert table.refs["refs/pr/1"] in comment
    assert "| `org/first` | best of the table | 66.67 | -16.67 |" in comment
    assert pull_request.events[-1]["author"]["name"] == "bot"
    # What an older text says of other content, with the commit in a stranger's name, is no check of
    # that commit.
    commit = table.refs["refs/pr/1"]
    [ours] = [event for event in pull_request.events if event["author"]["name"] == "bot"]
    pull_request.edit(
        ours,
        comment.replace(commit, "0" * 40).replace("me/mine", f"me/{commit}`\n\nCommit: `{commit}`"),
    )
    served.post(pushed)
    assert "updated" in served.until("pull request 1")
    assert f"\nCommit: `{commit}`\n" in pull_request.comments[0]


def test_a_merge_of_another_commit_than_was_checked_is_said(hub, table, served, offer):
    checked = offer("checked", right=6)
    served.post(payloads(hub, table, checked)[0])
    assert "commented" in served.until("pull request 1")
    table.merge(checked)
    served.post(payloads(hub, table, checked)[0])
    served.until("pull request 1")
    assert "1 of 1 result is valid" in checked.comments[0]
    changed = offer("changed", right=5)
    served.post(payloads(hub, table, changed)[0])
    assert "commented" in served.until("pull request 2")
    before = table.refs["refs/pr/2"]
    table.commit({"results/settings.yaml": b"judges: [mine]"}, "more", branch=changed.ref)
    table.merge(changed)
    served.post(payloads(hub, table, changed)[0])
    assert "updated" in served.until("pull request 2")
    [comment] = changed.comments
    assert f"it was merged with this commit, and {before[:12]} was checked" in comment
    assert f"Commit: `{table.refs['refs/pr/2']}`" in comment
    assert "is valid" not in comment


def test_a_damaged_submission_is_told_so_and_again_when_it_is_put_right(hub, table, served, offer):
    """Before, the Hub breaks the comment off: that is said, and done when the server is told again."""

    def better(folder):
        path = folder / "result.json"
        path.write_text(path.read_text().replace('"value": 50.0', '"value": 90.0'))

    pull_request = offer("better", right=6, change=better)
    hub.fail("POST .*/discussions/1/comment", status=503)
    opened, pushed = payloads(hub, table, pull_request)
    served.post(opened)
    assert "503" in served.until("pull request 1; ")
    assert pull_request.comments == []
    served.post(pushed)
    assert "commented" in served.until("pull request 1: ")
    [comment] = pull_request.comments
    assert "0 of 1 result is valid" in comment
    assert "metrics.accuracy_at_iou_0.5 is 90.0, recomputed 50.0" in comment
    assert gettempdir() not in comment
    mended = table.files(pull_request.ref)
    mended = {
        p: d.replace(b'"value": 90.0', b'"value": 50.0')
        for p, d in mended.items()
        if p.endswith("result.json")
    }
    table.commit(mended, "put right", branch=pull_request.ref, author="visitor")
    served.post(payloads(hub, table, pull_request)[1])
    assert "updated" in served.until("pull request 1")
    [comment] = pull_request.comments
    assert "1 of 1 result is valid" in comment


def test_what_is_ended_is_said_and_not_looked_at_again(hub, table, offer, monkeypatch):
    """The Hub's side ends it here, by the signal of the system's own clock, when the first file is asked for."""
    monkeypatch.setenv("HF_TOKEN", "hf_bot")
    pull_request = offer("endless", right=6)
    ref = table.refs[pull_request.ref]
    resolve = hub._resolve_file
    lock, ending = threading.Lock(), [True]

    def resolve_file(call):
        with lock:  # what a process asked that is ended may come after it
            for child in multiprocessing.active_children() if call.action == ref and ending else ():
                assert child.pid is not None
                os.kill(child.pid, signal.SIGALRM)
        return resolve(call)

    monkeypatch.setattr(hub, "_resolve_file", resolve_file)
    pull_requests, bounds = PullRequests(DATASET), Bounds(seconds=600)
    assert pull_requests.check(1, bounds, last=False) == "not in time"
    assert pull_request.comments == []
    assert pull_requests.check(1, bounds, last=True) == "commented"
    assert pull_request.comments == [
        f"### Reelbench: not checked\n\nCommit: `{ref}`\n\n- **not checked**: it took longer than 600 s\n"
    ]
    with lock:
        ending.clear()
    assert pull_requests.check(1, bounds, last=True) == "unchanged"


@pytest.mark.parametrize(
    ("model", "about", "author", "verdict"),
    [
        ("ReXTime/floor", None, "visitor", "**refused**"),
        ("rextime/floor", None, "visitor", "**refused**"),
        ("me/floor", "ReXTime", "visitor", "**refused**"),
        ("ReXTime/floor", None, "rex", "valid"),
        ("ReXTime/floor", None, "museum", "valid"),
        ("MovieCORE/floor", None, "visitor", "valid"),  # it is no owner of this benchmark's
    ],
)
def test_nobody_else_hands_in_as_the_benchmarks_own_people(
    *, model, about, author, verdict, hub, offer, monkeypatch, tmp_path
):
    hub.tokens |= {"hf_rex": Token("rex", orgs=("ReXTime",))}
    monkeypatch.setenv("HF_TOKEN", f"hf_{author}")  # the museum's are of the dataset's own
    offer("floor", model=model, organisation=about)
    monkeypatch.setenv("HF_TOKEN", "hf_bot")
    (tmp_path / "table").mkdir()
    comment = PullRequests(DATASET).look(
        1, tmp_path / "table", tmp_path / "offered", lambda _: None
    )
    assert comment is not None
    assert f": {verdict}\n" in comment
    assert ("only ReXTime's own people submit results under it" in comment) == (verdict != "valid")


def test_a_strangers_result_is_no_baseline_of_ours(offer, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    offer(
        "floor", model="Reelbench/baseline-random", adapter=BASELINE_ADAPTER
    )  # as ours say that they were made
    monkeypatch.setenv("HF_TOKEN", "hf_bot")
    (tmp_path / "table").mkdir()
    comment = PullRequests(DATASET).look(
        1, tmp_path / "table", tmp_path / "offered", lambda _: None
    )
    assert comment is not None
    assert ": **refused**\n" in comment
    assert "only reelbench's own people submit results under it" in comment


def test_paths_that_no_disk_or_no_store_has_are_said_and_never_written(
    table, offer, monkeypatch, tmp_path
):
    monkeypatch.setenv("HF_TOKEN", "hf_bot")
    pull_request = offer("honest", right=6)
    strange = ["a\0b", "..\\..\\evil", "C:\\evil", "a\nb", "x" * 300, "\ud83d", "aux ", "..", "é"]
    table.commit(
        {f"results/{name}/1/rextime/ab/result.json": "{}" for name in strange},
        branch=pull_request.ref,
    )
    (tmp_path / "table").mkdir()
    text = PullRequests(DATASET).look(1, tmp_path / "table", tmp_path / "offered", lambda _: None)
    assert text is not None
    assert text.startswith("### Reelbench: refused; 1 of 1 result is valid\n")
    assert text.count("- **refused**: `results/") == len(strange)
    assert {path.name for path in (tmp_path / "offered" / "results").iterdir()} == {"me__honest"}


def test_a_request_that_undoes_what_main_gained_by_an_old_date_is_refused(
    hub, table, served, offer, monkeypatch
):
    undoing = offer("undoing")
    gained = table.commit({"README.md": "the museum's"}, "main goes on")
    history = table.history

    def by_date(revision="main"):
        """As `git log` lists a merge of main's last commit, by a child dated 1971, with the one before."""
        commits = history(revision)
        if revision == undoing.ref:
            commits = [*commits[:2], table.commits[gained], *commits[2:]]
        return commits

    monkeypatch.setattr(table, "history", by_date)
    served.post(payloads(hub, table, undoing)[0])
    assert "commented" in served.until("pull request 1")
    [comment] = undoing.comments
    assert "`README.md: " in comment
    assert "refused" in comment


def test_what_is_no_submission_is_refused_or_left_alone(hub, table, served, offer):
    offer("honest")
    strange = offer("strange")
    stored = next(path for path in table.files() if path.endswith("samples.jsonl"))
    table.commit(
        {"results/note.txt": "x", "README.md": "mine", "results/a/b/rextime/c/result.json": "{"},
        delete=[stored],
        branch=strange.ref,
    )
    table.commit({"README.md": "the museum's"}, "main goes on")
    served.post(payloads(hub, table, strange)[0])
    assert "commented" in served.until("pull request 2")
    [comment] = strange.comments
    for line in (f"{stored}: removed", "results/note.txt: not a file", "README.md: not a file"):
        assert f"- **refused**: `{line}" in comment
    assert "1 of 2 results are valid" in comment
    assert "`results/a/b/rextime/c`: **refused**" in comment
    words = HfApi(endpoint=hub.url).upload_file(
        path_or_fileobj=b"better words",
        path_in_repo="README.md",
        repo_id=DATASET,
        repo_type="dataset",
        create_pr=True,
    )
    served.post(payloads(hub, table, table.pull_requests[-1])[0])
    assert "commented" in served.until(f"pull request {words.pr_num}")
    [comment] = table.pull_requests[-1].comments
    assert "- **refused**: `README.md: not a file of a result" in comment
    talk = {"event": {"action": "create", "scope": "discussion.comment"}}
    assert served.post({**payloads(hub, table, strange)[0], **talk}) == 202
    assert served.post(b"not json") == 400


WORDS = [f"word {number}" for number in range(12)]
"""The right answers of a hidden test. Who hands in knows the first six."""


def _cellar(folder):
    """Write a hidden test, its private file beside it, and a store in which a copy of that lies."""
    folder.mkdir()
    rows = [{"id": f"q{n}", "video": f"v{n}.mp4", "q": "Which word is said?"} for n in range(12)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "benchmark.yaml").write_text(
        "id: cellar\ntitle: Cellar\nkind: exact\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q}\n"
        "languages: [en]\nlicence: cc-by-4.0\nhidden_answers: true\n"
    )
    lines = [json.dumps({"id": f"q{n}", "answer": word}) for n, word in enumerate(WORDS)]
    private = folder.parent / "answers.jsonl"
    private.write_text("\n".join(lines))
    place = folder.parent / "museum"
    place.mkdir()
    (place / "answers.jsonl").write_text("\n".join(lines))
    return private, place


def _get(served, path):
    connection = HTTPConnection(urlsplit(served.url).netloc)
    connection.request("GET", path)
    reply = connection.getresponse()
    body = reply.read().decode()
    connection.close()
    return reply.status, body


@pytest.mark.slow
def test_the_server_scores_a_hidden_test_and_gives_no_answer_away(
    hub, tmp_path, monkeypatch, program
):
    dataset = hub.add(DATASET)
    folder = tmp_path / "cellar"
    private, place = _cellar(folder)
    known = [word if n < 6 else "no idea" for n, word in enumerate(WORDS)]
    rows = [{"id": f"q{n}", "prediction": word} for n, word in enumerate(known)]
    reelbench.score(str(folder), rows, model="me/model").save(tmp_path / "run")
    store.add(tmp_path / "run", tmp_path / "mine")
    options = ["--answers", private, "--benchmark", folder, "--store", place]
    server = Served(hub, tmp_path, program, options=options)
    try:
        server.until("0 open pull requests")
        monkeypatch.setenv("HF_TOKEN", "hf_visitor")
        publishing.publish(
            tmp_path / "mine", dataset=DATASET, options=PublishOptions(create_pr=True)
        )
        [pull_request] = dataset.pull_requests
        opened, pushed = payloads(hub, dataset, pull_request)
        assert server.post(opened, "open sesam") == 403
        assert server.post(opened) == 202
        log = [server.until("pull request 1: commented")]
        assert server.post(pushed) == 202
        log.append(server.until("pull request 1: unchanged"))
        paths = ("/", "/answers.jsonl", "/../answers.jsonl", "/%2e%2e/answers.jsonl", str(private))
        pages = [_get(server, path) for path in paths]
        log += server.rest()
    finally:
        server.stop()
    assert [status for status, _ in pages] == [200, 404, 404, 404, 404]
    [comment] = pull_request.comments
    assert comment.startswith("### Reelbench: scored by the owner\n")
    assert "| exact_match | % | 50.0 |" in comment
    # A Space and a dataset are made of the store, and have no answers either.
    notes = []
    monkeypatch.setenv("HF_TOKEN", "hf_museum")
    publishing.publish(
        place,
        dataset=DATASET,
        space="museum/board",
        webhook="museum/checker",
        options=PINNED,
        note=notes.append,
    )
    assert "answers are never uploaded" in " ".join(notes)
    public = [comment, *log, *(body for _, body in pages)]
    for repo in hub.repos.values():
        for commit in repo.commits.values():
            public += [blob.data.decode("utf-8", "replace") for blob in commit.files.values()]
    for word in WORDS[6:]:
        assert not any(word in text for text in public)


def test_what_is_no_request_is_one_line(served):
    address = urlsplit(served.url)
    for head in (b"X-A: " + b"a" * 9000, b"X-A\x00: b", b"Content-Length: -5"):
        with socket.create_connection((address.hostname, address.port)) as connection:
            connection.sendall(
                b"POST " + address.path.encode() + b" HTTP/1.1\r\nHost: a\r\n" + head + b"\r\n\r\n"
            )
            assert connection.recv(1000).split()[1] == b"400"
        assert len(served.until("Error handling request from 127.0.0.1: 400")) < 400
    served.stop()
    assert served.rest() == []


def test_pull_requests_that_nobody_told_of_are_found_at_the_start(
    hub, table, offer, tmp_path, program
):
    pull_request = offer("early", right=6)
    merged = offer("merged", right=6)
    table.merge(merged)
    server = Served(hub, tmp_path, program)
    try:
        assert "commented" in server.until("pull request 1")
    finally:
        server.stop()
    assert len(pull_request.comments) == 1
    assert merged.comments == []
    # What was merged is in the table when a maintainer files it.
    assert "me/merged" not in pull_request.comments[0]


def test_what_others_send_names_no_pull_request():
    refs = [
        {"ref": "refs/heads/main"},
        {"ref": "refs/pr/7"},
        {"ref": "refs/pr/007"},
        {"ref": "refs/pr/7/../8"},
    ]
    sent = {
        "event": {"scope": "repo.content"},
        "repo": {"type": "dataset", "name": DATASET},
        "updatedRefs": refs,
    }
    assert Payload.model_validate(sent).pull_requests(DATASET) == [7]
    assert Payload.model_validate(sent).pull_requests("museum/other") == []
    talk = {"num": 3, "isPullRequest": False}
    said = {"event": {"scope": "discussion"}, "repo": sent["repo"], "discussion": talk}
    assert Payload.model_validate(said).pull_requests(DATASET) == []


def test_without_a_secret_nothing_is_served(reelbench, hub):
    done = reelbench("leaderboard", "webhook", "--dataset", DATASET, env={"WEBHOOK_SECRET": ""})
    assert done.returncode == 2
    assert "WEBHOOK_SECRET is not set" in done.stderr
    done = reelbench(
        "leaderboard",
        "webhook",
        "--dataset",
        DATASET,
        env={"WEBHOOK_SECRET": "x", "HF_TOKEN": "hf_old"},
    )
    assert done.returncode == 1
    assert "the Hub refused the token" in done.stderr
    assert hub.asked("GET /api/whoami-v2")


def test_publish_writes_the_space(hub, rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    done = publishing.publish(
        tmp_path / "store", dataset=DATASET, webhook="museum/checker", options=PINNED
    )
    assert [one.done for one in done] == ["committed", "committed"]
    written = hub.repo("museum/checker", "space").files()
    assert written.keys() - {".gitattributes"} == {"Dockerfile", "README.md"}
    assert b'"--dataset", "museum/results"]' in written["Dockerfile"]
    assert b"sdk: docker" in written["README.md"]
    [created] = [
        json.loads(r.body) for r in hub.asked("POST /api/repos/create") if b"checker" in r.body
    ]
    assert created["sdk"] == "docker"
    assert [
        one.done
        for one in publishing.publish(
            tmp_path / "store", dataset=DATASET, webhook="museum/checker", options=PINNED
        )
    ] == ["unchanged"] * 2


def test_what_fails_is_looked_at_again_within_minutes(monkeypatch):
    monkeypatch.setattr(webhook, "AGAIN_S", (0, 0, 0))
    said, tries, commented = [], [], asyncio.Event()

    def note(line):
        said.append(line)
        if line == "pull request 1: commented":
            commented.set()

    class Flaky:
        dataset = DATASET

        def open(self):
            return {1: "me"}

        def check(self, number, _bounds, _last):
            tries.append(number)
            if len(tries) < 3:
                raise ReelbenchError("503")
            return "commented"

    async def serve():
        flaky: Any = Flaky()
        runner = web.AppRunner(webhook.Server(flaky, "secret", note).application())
        await runner.setup()
        await commented.wait()
        await runner.cleanup()

    asyncio.run(asyncio.wait_for(serve(), PATIENCE_S))
    assert tries == [1, 1, 1]
    assert said.count("pull request 1; 503") == 2


@pytest.mark.parametrize("number", [-1, 10**9, 10**400])
def test_a_number_that_no_pull_request_has_is_no_payload(number):
    sent: dict[str, Any] = {"event": {"scope": "discussion"}}
    sent["repo"] = {"type": "dataset", "name": DATASET}
    sent["discussion"] = {"num": number, "isPullRequest": True}
    with pytest.raises(ValidationError):
        Payload.model_validate(sent)


@pytest.mark.parametrize("answer", [{}, [], {"name": None}])
def test_a_hub_that_names_no_account_is_said(answer, monkeypatch):
    monkeypatch.setattr(HfApi, "whoami", lambda _self: answer)
    with pytest.raises(ReelbenchError, match="names no account of this token; is it a Hub"):
        PullRequests(DATASET)
