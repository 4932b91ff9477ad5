"""Publishing to a server that speaks the Hub's protocol to its real client."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import pytest
import yaml
from huggingface_hub import snapshot_download

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.leaderboard import publish as publishing
from reelbench.leaderboard import row_life, site, store
from reelbench.leaderboard.publish import PublishOptions
from tests.leaderboard.ledgers import refiled
from tests.leaderboard.packed import unpacked

SPACE, DATASET = "museum/board", "museum/results"


@pytest.fixture
def stored(rextime_run, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    return tmp_path / "store"


def files(server, repo, kind, revision="main"):
    return server.repos[kind, repo].files(revision)


def test_the_space_and_the_dataset_are_made_and_a_second_time_nothing_is_committed(hub, stored):
    done = publishing.publish(stored, space=SPACE, dataset=DATASET)
    assert [one.done for one in done] == ["committed", "committed"]
    site = files(hub, SPACE, "space")
    assert b"sdk: static" in site["README.md"]
    assert b"org/model" in site["data/board.js"]
    assert {"index.html", "page.js", "more.js"} <= site.keys()
    assert b"unsafe-inline" not in site["index.html"]
    data = files(hub, DATASET, "dataset")
    table = pyarrow.parquet.read_table(io.BytesIO(data["data/results.parquet"])).to_pylist()
    [row] = [row for row in table if row["model"] == "org/model" and row["metric"] == "accuracy"]
    assert (row["value"], row["split"], row["rank"], row["ids"]) == (50.0, "mini", 1, "checked")
    [key] = [path for path in data if path.endswith("samples.jsonl")]
    assert key == f"results/{row['key']}/samples.jsonl"
    assert b"reelbench leaderboard check" in data[".github/workflows/check.yaml"]
    assert [one.done for one in publishing.publish(stored, space=SPACE, dataset=DATASET)] == [
        "unchanged"
    ] * 2


def test_the_space_s_card_and_page_have_a_picture_and_its_open_models(
    hub, rextime_run, tamper, tmp_path
):
    def opened(document):
        document["model"]["about"] = {"weights": "open"}

    store.add(tamper(rextime_run("open"), result=opened), tmp_path / "s")
    store.add(rextime_run("unstated", model="org/other"), tmp_path / "s")
    publishing.publish(tmp_path / "s", space=SPACE)
    site = files(hub, SPACE, "space")
    picture = f"{hub.url}/spaces/{SPACE}/resolve/main/link.png"
    card = site["README.md"].decode()
    assert f"thumbnail: {picture}\nmodels:\n- org/model\n---\n" in card.replace(
        "short_description: Video-language models on story and culture\n", ""
    )
    assert f'<meta property="og:image" content="{picture}">' in site["index.html"].decode()
    assert site["link.png"].startswith(b"\x89PNG")


def test_an_update_is_one_commit_of_what_differs_and_keeps_peoples_card(hub, stored, rextime_run):
    publishing.publish(stored, space=SPACE, dataset=DATASET)
    repo = hub.repos["dataset", DATASET]
    repo.commit({"README.md": "our own words"}, "edit by hand")
    before = len(repo.history())
    store.add(rextime_run("other", model="org/other", right=2), stored)
    publishing.publish(stored, space=SPACE, dataset=DATASET)
    assert len(repo.history()) == before + 1
    assert repo.files()["README.md"] == b"our own words"
    assert sum(path.endswith("result.json") for path in repo.files()) == 2
    uploads = len(hub.cdn.asked("PUT .*"))
    publishing.publish(stored, space=SPACE)
    assert len(hub.cdn.asked("PUT .*")) == uploads


def test_what_the_site_no_longer_has_is_deleted_from_the_space(hub, stored):
    publishing.publish(stored, space=SPACE)
    hub.repos["space", SPACE].commit({"data/runs/old.js": "x", "notes.txt": "ours"}, "by hand")
    publishing.publish(stored, space=SPACE)
    left = files(hub, SPACE, "space")
    assert "data/runs/old.js" not in left
    assert left["notes.txt"] == b"ours"


def test_a_dry_run_says_what_would_change_and_changes_nothing(hub, stored):
    told = []
    [one] = publishing.publish(
        stored, dataset=DATASET, options=PublishOptions(dry_run=True), note=told.append
    )
    assert one.done == "would change"
    assert any("add results/org__model/unknown/rextime/" in line for line in told)
    assert any("not there yet, or private and the token may not see it" in line for line in told)
    assert ("dataset", DATASET) not in hub.repos


def test_a_submission_is_a_pull_request_with_the_results_alone(hub, stored, monkeypatch):
    repo = hub.add(
        DATASET, {"README.md": "results", "data/results.parquet": b"PAR1"}, kind="dataset"
    )
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    [one] = publishing.publish(stored, dataset=DATASET, options=PublishOptions(create_pr=True))
    assert one.done == "pull request"
    assert one.url.endswith("/discussions/1")
    assert repo.files().keys() - {".gitattributes"} == {"README.md", "data/results.parquet"}
    offered = repo.files("refs/pr/1")
    assert offered["data/results.parquet"] == b"PAR1"
    assert sum(path.startswith("results/org__model/") for path in offered) == 2


def test_a_pull_request_checks_out_as_it_was_offered(hub, stored, tmp_path):
    hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    publishing.publish(stored, dataset=DATASET, options=PublishOptions(create_pr=True))
    for path, data in files(hub, DATASET, "dataset", "refs/pr/1").items():
        target = tmp_path / "clone" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    assert [one.outcome for one in store.check(tmp_path / "clone" / "results")] == ["same"]
    [result] = (tmp_path / "clone").rglob("result.json")
    found = json.loads(result.read_text())
    found["metrics"]["accuracy"]["value"] += 0.01
    result.write_text(json.dumps(found))
    [one] = store.check(tmp_path / "clone" / "results")
    assert "metrics.accuracy" in one.why


def test_what_others_published_comes_into_the_store_first(hub, stored, rextime_run, tmp_path):
    theirs = tmp_path / "theirs"
    store.add(rextime_run("theirs-run", model="org/theirs"), theirs)
    publishing.publish(theirs, dataset=DATASET)
    told = []
    publishing.publish(stored, dataset=DATASET, note=told.append)
    assert any("2 entries of other maintainers came into the ledger" in line for line in told)
    models = [one.result.model.id for one in store.read(stored)]
    assert models == ["org/model", "org/theirs"]
    data = files(hub, DATASET, "dataset")
    entries = [json.loads(line)["entry"] for line in data["results/ledger.jsonl"].splitlines()]
    filed = [entry["model"] for entry in entries if entry["act"] == "filed"]
    assert filed == ["org/theirs", "org/model"]
    assert [one.done for one in publishing.publish(theirs, dataset=DATASET)] == ["unchanged"]
    assert (theirs / "ledger.jsonl").read_bytes() == (stored / "ledger.jsonl").read_bytes()


def test_a_conflicting_commit_is_not_overwritten(hub, stored):
    publishing.publish(stored, dataset=DATASET)
    repo = hub.repos["dataset", DATASET]
    repo.commit({"data/results.parquet": b"theirs"}, "before")

    def note(_):
        if repo.history()[0].title != "in between":
            repo.commit({"notes.txt": "a word"}, "in between")

    with pytest.raises(
        ReelbenchError,
        match="somebody committed while this ran; nothing was committed, run it again",
    ):
        publishing.publish(stored, dataset=DATASET, note=note)
    assert repo.files()["data/results.parquet"] == b"theirs"
    publishing.publish(stored, dataset=DATASET)
    assert repo.files()["data/results.parquet"] != b"theirs"
    assert repo.files()["notes.txt"] == b"a word"


def test_a_connection_lost_in_mid_upload_commits_nothing_and_the_next_try_does(
    hub, stored, monkeypatch
):
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda _: None)
    repo = hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    before = repo.head
    hub.cdn.fail("PUT /upload/.*", times=None, hang_up=True)
    with pytest.raises(ReelbenchError, match="nothing was committed, run it again"):
        publishing.publish(stored, dataset=DATASET)
    assert repo.head == before
    hub.cdn.mend()
    [one] = publishing.publish(stored, dataset=DATASET)
    assert one.done == "committed"


def test_bad_tokens_none_and_too_few_rights_are_told(hub, stored, monkeypatch):
    repo = hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    before = repo.head
    monkeypatch.setenv("HF_TOKEN", "hf_expired")
    with pytest.raises(ReelbenchError, match="the Hub refused the token; check HF_TOKEN"):
        publishing.publish(stored, dataset=DATASET)
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(ReelbenchError, match=r"HF_TOKEN"):
        publishing.publish(stored, space=SPACE)
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    with pytest.raises(
        ReelbenchError,
        match="your token may not write there; offer a pull request with --create-pr",
    ):
        publishing.publish(stored, dataset=DATASET)
    assert repo.head == before


def test_calls_that_are_wrong(stored, monkeypatch):
    with pytest.raises(InputError, match="nothing to publish to"):
        publishing.publish(stored)
    with pytest.raises(InputError, match="expected ORG/NAME"):
        publishing.publish(stored, space="board")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ReelbenchError, match="HF_HUB_OFFLINE is set"):
        publishing.publish(stored, space=SPACE)


def test_samples_of_data_under_an_agreement_stay_at_home(hub, stored, tamper):
    [source] = stored.glob("*/*/*/*")
    closed = stored / "org__model" / "unknown" / "dramaqa_cogme" / "0123456789ab"
    shutil.copytree(source, closed)

    def of_dramaqa(found):
        found["benchmark"].update(id="dramaqa_cogme", split="val")
        found["metrics"] = {"accuracy": found["metrics"]["accuracy"]}

    tamper(closed, result=of_dramaqa)
    refiled(closed, as_key=source.relative_to(stored).as_posix())
    told = []
    publishing.publish(stored, space=SPACE, dataset=DATASET, note=told.append)
    withheld = [path for path in files(hub, DATASET, "dataset") if "dramaqa" in path]
    assert withheld == ["results/withheld/dramaqa_cogme.json"]
    shown = [
        path
        for path, data in files(hub, SPACE, "space").items()
        if path.startswith("data/runs/") and unpacked(data.decode())
    ]
    assert len(shown) == 1
    [line] = [
        line
        for line in told
        if line.startswith("published as a row alone: 1 result whose samples repeat the data: ")
    ]
    assert "agreement" in line


@pytest.mark.parametrize(
    ("change", "refused", "told"),
    [
        ("adds", False, "| `org/model` | best of the table |"),
        ("replaces another's", True, "0 of 1 result is valid"),
        ("removes", True, "removed, but a submission may remove nothing"),
        ("moves", True, "removed, but a submission may remove nothing"),
    ],
)
def test_the_checks_of_a_git_mirror_take_what_is_added_and_nothing_that_removes(
    rextime_run, tmp_path, change, refused, told
):
    workflow = yaml.safe_load(
        (Path(site.__file__).parent / "assets" / "check_submissions.yaml").read_text()
    )
    steps = {step.get("name"): step.get("run") for step in workflow["jobs"]["check"]["steps"]}
    script, show = steps["Compute every number again"], steps["Show it in the summary"]
    mirror = tmp_path / "mirror"

    def git(*arguments):
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        return subprocess.run(
            ["git", *who, *arguments], cwd=mirror, check=True, capture_output=True, text=True
        ).stdout

    [one] = store.add(rextime_run("one"), mirror / "results")
    git("init", "--quiet")
    git("add", ".")
    git("commit", "--quiet", "--message", "base")
    base = git("rev-parse", "HEAD").strip()
    place = one.place
    assert place is not None
    if change == "adds":
        book = (mirror / "results" / "ledger.jsonl").read_bytes()
        store.add(rextime_run("two", model="org/other"), mirror / "results")
        (mirror / "results" / "ledger.jsonl").write_bytes(book)
    elif change == "removes":
        shutil.rmtree(place)
    elif change == "moves":
        place.rename(place.with_name("elsewhere"))
    else:
        samples = place / "samples.jsonl"
        samples.write_text(samples.read_text().replace('"A"', '"B"'))
    git("add", "--all", ".")
    git("commit", "--quiet", "--message", "change")
    environ = {
        **os.environ,
        "BASE": base,
        "HEAD": git("rev-parse", "HEAD").strip(),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-e", "-c", script], cwd=mirror, env=environ, capture_output=True, check=False
    )
    assert (done.returncode != 0) == refused, done.stderr
    summary = tmp_path / "summary.md"
    subprocess.run(
        ["bash", "-e", "-c", show],
        cwd=mirror,
        env={"GITHUB_STEP_SUMMARY": str(summary)},
        check=True,
    )
    assert told in summary.read_text()


# --- nothing newer, nothing foreign, nothing twice


@pytest.fixture
def redone(rextime_run, tamper, tmp_path):
    """Two stores with one key: the maintainer's of 14:47, and a newer one of 15:00."""

    def made(name, hour, right):
        run = tamper(
            rextime_run(name, right=right),
            result=lambda r: r["provenance"].update(date=f"2026-11-20T{hour}"),
        )
        [added] = store.add(run, tmp_path / f"{name}-store")
        assert added.outcome == "added", added.why
        return tmp_path / f"{name}-store"

    return made("older", "14:47:00+00:00", 6), made("newer", "15:00:00+00:00", 2)


def accuracy(repo, revision="main"):
    [text] = [data for path, data in repo.files(revision).items() if path.endswith("result.json")]
    return json.loads(text)["metrics"]["accuracy"]["value"]


def test_two_answers_of_two_maintainers_stop_with_both_named(hub, redone):
    older, newer = redone
    publishing.publish(newer, dataset=DATASET)
    repo = hub.repos["dataset", DATASET]
    head = repo.head
    with pytest.raises(InputError, match="two maintainers did different things: published is"):
        publishing.publish(older, dataset=DATASET)
    assert repo.head == head
    [key] = [one.key for one in store.read(older)]
    row_life.remove([key], older, "the other one is right")
    publishing.publish(older, dataset=DATASET)
    assert accuracy(repo) == pytest.approx(100 / 6)
    assert [one.key for one in store.read(older)] == [key]


def test_a_submitters_request_offers_no_older_result(hub, redone, rextime_run, monkeypatch):
    older, newer = redone
    publishing.publish(newer, dataset=DATASET)
    store.add(rextime_run("mine", model="me/mine"), older)
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    told = []
    publishing.publish(
        older, dataset=DATASET, options=PublishOptions(create_pr=True), note=told.append
    )
    repo = hub.repos["dataset", DATASET]
    changed = {
        path for path, data in repo.files("refs/pr/1").items() if repo.files().get(path) != data
    }
    assert {path.split("/")[1] for path in changed} == {"me__mine"}
    assert any("a newer result is there" in line for line in told)


def test_a_submitters_copy_of_the_dataset_is_no_part_of_the_request(
    hub, stored, rextime_run, tmp_path, monkeypatch
):
    """A copy's checks are made anew where it is added, and say another day and another account."""
    publishing.publish(stored, dataset=DATASET)
    mine, copy = tmp_path / "own", tmp_path / "copy"
    snapshot_download(DATASET, repo_type="dataset", local_dir=copy)
    store.add(copy / "results", mine)
    store.add(rextime_run("mine", model="me/mine"), mine)
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    publishing.publish(mine, dataset=DATASET, options=PublishOptions(create_pr=True))
    repo = hub.repos["dataset", DATASET]
    changed = {
        path for path, data in repo.files("refs/pr/1").items() if repo.files().get(path) != data
    }
    assert {path.split("/")[1] for path in changed} == {"me__mine"}


def test_what_only_the_page_has_does_not_vanish_from_it(hub, stored, rextime_run, tmp_path):
    publishing.publish(stored, space=SPACE)
    other = tmp_path / "other"
    store.add(rextime_run("other", model="org/other"), other)
    with pytest.raises(
        InputError, match=r"shows 1 result that the store lacks, the first (org__model/\S+);"
    ) as refused:
        publishing.publish(other, space=SPACE, dataset=DATASET)
    assert ("dataset", DATASET) not in hub.repos  # all are looked at before anything is sent
    key = str(refused.value).partition("the first ")[2].partition(";")[0]
    assert (
        publishing.publish(other, space=SPACE, options=PublishOptions(forget=[key]))[0].done
        == "committed"
    )


def test_a_mended_submission_goes_into_the_open_request(hub, stored, rextime_run, monkeypatch):
    repo = hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    request = PublishOptions(create_pr=True)
    publishing.publish(stored, dataset=DATASET, options=request)
    assert publishing.publish(stored, dataset=DATASET, options=request)[0].done == "unchanged"
    store.add(rextime_run("second", model="org/second"), stored)
    [one] = publishing.publish(stored, dataset=DATASET, options=request)
    assert (one.done, one.url.rpartition("/")[2], len(repo.pull_requests)) == (
        "pull request",
        "1",
        1,
    )
    assert sum(path.endswith("result.json") for path in repo.files("refs/pr/1")) == 2


@pytest.mark.parametrize("create_pr", [False, True])
def test_a_commit_whose_reply_was_lost_is_found_and_not_made_twice(hub, stored, create_pr):
    repo = hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    hub.fail("POST .*/commit/.*", lose=True)
    [one] = publishing.publish(stored, dataset=DATASET, options=PublishOptions(create_pr=create_pr))
    assert one.done == ("pull request" if create_pr else "committed")
    assert len(repo.pull_requests) == int(create_pr)
    assert one.url.endswith("/discussions/1" if create_pr else repo.head)


def test_a_lost_reply_that_nobody_can_ask_about_is_called_that(hub, stored, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _: None)  # the client would ask again for 23 s
    hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    hub.fail("POST .*/commit/.*", lose=True)
    hub.fail("GET .*/commits/.*", times=None, status=500)
    with pytest.raises(ReelbenchError, match="may have been committed or not"):
        publishing.publish(stored, dataset=DATASET)


def test_a_request_that_never_arrived_is_said_to_be_none(hub, stored):
    repo = hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    before = repo.head
    hub.fail("POST .*/commit/.*", hang_up=True)
    with pytest.raises(ReelbenchError, match="nothing was committed, run it again"):
        publishing.publish(stored, dataset=DATASET)
    assert repo.head == before


@pytest.mark.parametrize("name", ["visitor/reslts", "museum/secret"])
def test_a_request_never_makes_a_dataset(hub, stored, monkeypatch, name):
    monkeypatch.setenv("HF_TOKEN", "hf_visitor")
    with pytest.raises(InputError, match="not there, or private; a pull request needs one that is"):
        publishing.publish(stored, dataset=name, options=PublishOptions(create_pr=True))
    assert ("dataset", name) not in hub.repos


def test_a_page_made_without_a_datasets_rows_is_refused(hub, stored, rextime_run, tmp_path):
    publishing.publish(stored, space=SPACE, dataset=DATASET)
    assert f"datasets:\n- {DATASET}\n".encode() in files(hub, SPACE, "space")["README.md"]
    assert DATASET.encode() in files(hub, SPACE, "space")["data/board.js"]
    other = tmp_path / "other"
    store.add(rextime_run("other", model="org/other"), other)
    with pytest.raises(
        InputError, match=r"has 1 result that the store lacks, the first (org__model/\S+);"
    ) as refused:
        publishing.publish(other, space=SPACE)
    key = str(refused.value).partition("the first ")[2].partition(";")[0]
    [one] = publishing.publish(other, space=SPACE, options=PublishOptions(forget=[key]))
    assert one.done == "committed"


def test_a_readme_that_keeps_the_page_from_working_is_named_before_anything_is_sent(hub, stored):
    repo = hub.add(SPACE, {"README.md": "---\nsdk: gradio\n---\n"}, kind="space")
    before = repo.head
    with pytest.raises(InputError, match="says `sdk: gradio`, and this needs `sdk: static`"):
        publishing.publish(stored, space=SPACE)
    assert repo.head == before


WHEEL = "https://example.org/reelbench-1.0-py3-none-any.whl"
HASH = f"#sha256={'0' * 64}"
UNPINNED = [
    "",
    "reelbench",
    "reelbench==0.2.0",
    WHEEL,
    f"{WHEEL}#sha256=0",
    f"http{WHEEL.removeprefix('https')}{HASH}",
    f"https://example.org/reelbench.tar.gz{HASH}",
    f"--index-url https://example.org/x.whl{HASH}",
    f"{WHEEL}{HASH}\nRUN id",
]


def test_the_checker_has_no_default_for_what_it_installs(hub, stored):
    with pytest.raises(InputError, match="--webhook needs --install"):
        publishing.publish(stored, dataset=DATASET, webhook="museum/checker")
    assert not hub.repos


@pytest.mark.parametrize("webhook", [None, "museum/checker"])
@pytest.mark.parametrize("install", UNPINNED)
def test_the_checker_installs_nothing_that_is_not_pinned(hub, stored, install, webhook):
    options = PublishOptions(install=install)
    with pytest.raises(InputError, match=r"--install .* expected a wheel's address with its hash"):
        publishing.publish(stored, dataset=DATASET, webhook=webhook, options=options)
    assert not hub.repos


@pytest.mark.parametrize("install", UNPINNED)
def test_the_step_of_a_git_mirror_installs_nothing_that_is_not_pinned(
    hub, stored, tmp_path, install
):
    publishing.publish(stored, dataset=DATASET, options=PublishOptions(install=f"{WHEEL}{HASH}"))
    workflow = yaml.safe_load(files(hub, DATASET, "dataset")[".github/workflows/check.yaml"])
    steps = {step.get("name"): step for step in workflow["jobs"]["check"]["steps"]}
    step = steps["Install Reelbench"]
    assert step["env"]["REELBENCH"] == f"${{{{ vars.REELBENCH || '{WHEEL}{HASH}' }}}}"
    for action in [step["uses"] for step in steps.values() if "uses" in step]:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", action)
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]],
        cwd=tmp_path,
        env={"REELBENCH": install, "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "set this repository's variable REELBENCH" in done.stderr


def test_an_own_benchmarks_answers_go_nowhere_without_a_licence(
    hub, own_benchmark, tmp_path, reelbench
):
    """A folder as `reelbench new` writes it states none: 40 right answers were public, and no word was said."""
    folder, predictions = own_benchmark
    run = [
        "score",
        folder,
        "--predictions",
        predictions,
        "--model",
        "org/one",
        "--output",
        tmp_path / "run",
    ]
    assert reelbench(*map(str, run)).returncode == 0
    [added] = store.add(tmp_path / "run", tmp_path / "store")
    assert added.outcome == "added", added.why
    told = []
    publishing.publish(tmp_path / "store", space=SPACE, dataset=DATASET, note=told.append)
    for repo, kind in ((SPACE, "space"), (DATASET, "dataset")):
        assert not [
            path for path, data in files(hub, repo, kind).items() if b"the secret answer" in data
        ]
    assert any("states no licence" in line for line in told)
    private = PublishOptions(private=True)
    publishing.publish(tmp_path / "store", dataset="museum/inside", options=private)
    assert hub.repos["dataset", "museum/inside"].private
    assert any(
        b"the secret answer" in data for data in files(hub, "museum/inside", "dataset").values()
    )


def test_hidden_answers_are_scored_with_here_and_passed_on_nowhere(
    hub, own_benchmark, tmp_path, reelbench
):
    """A licence lets rows be passed on, and `hidden_answers` keeps the answers: not even a private page has them."""
    folder, predictions = own_benchmark
    declared = (folder / "benchmark.yaml").read_text() + "licence: cc-by-4.0\n"
    (folder / "benchmark.yaml").write_text(declared + "hidden_answers: true\n")
    run = [
        "score",
        folder,
        "--predictions",
        predictions,
        "--model",
        "org/one",
        "--output",
        tmp_path / "run",
    ]
    assert "12 of 12 scored" in (done := reelbench(*run)).stdout + done.stderr
    [added] = store.add(tmp_path / "run", tmp_path / "store")
    assert added.outcome == "added", added.why
    for private in (False, True):
        publishing.publish(
            tmp_path / "store",
            space=SPACE,
            dataset=DATASET,
            options=PublishOptions(private=private),
        )
    card = reelbench(
        "cards", "push", folder, "--repo", "museum/pantry", "--eval-yaml", "--no-create-pr"
    )
    assert card.returncode == 0, card.stderr
    with_data = reelbench("cards", "push", folder, "--repo", "museum/pantry", "--with-data")
    assert (
        "Pantry's answers are hidden (hidden_answers). Push the card without --with-data."
        in with_data.stderr
    )
    export = (
        "leaderboard",
        "export",
        tmp_path / "store",
        "--format",
        "eee",
        "--organization",
        "museum",
    )
    assert "its samples: Pantry's answers" in reelbench(*export, "--out", tmp_path / "eee").stderr
    for repo in hub.repos.values():
        assert [path for path, data in repo.files().items() if b"the secret answer" in data] == []
    assert {path.suffix for path in (tmp_path / "eee").rglob("*.*")} == {".json"}
    assert yaml.safe_load(files(hub, "museum/pantry", "dataset")["eval.yaml"])["tasks"] == []

    # Who is given the folder without the answers asks and hands in; who has them scores that.
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    (folder / "rows.jsonl").write_text(
        "".join(json.dumps({**row, "a": None}) + "\n" for row in rows)
    )
    (folder / "benchmark.yaml").write_text(declared.replace(", answer: a", ""))
    refused = reelbench("check", folder, "--no-media")
    assert "columns.answer is missing: a exact benchmark needs it" in refused.stderr
    (folder / "benchmark.yaml").write_text(
        declared.replace(", answer: a", "") + "hidden_answers: true\n"
    )
    assert reelbench("check", folder, "--no-media").returncode == 0
    blind = reelbench(*run[:-1], tmp_path / "blind")
    assert "0 of 12 scored (12 answers_hidden)" in blind.stdout + blind.stderr
    handed_in = [
        json.loads(line)
        for line in (tmp_path / "blind" / "submission.jsonl").read_text().splitlines()
    ]
    assert handed_in[0] == {"id": "q0", "prediction": "flour"}
    (folder / "benchmark.yaml").write_text(declared + "hidden_answers: perhaps\n")
    assert "hidden_answers is 'perhaps', expected true, false" in reelbench("check", folder).stderr


@pytest.fixture
def own_benchmark(tmp_path):
    """A benchmark's folder and a file of predictions."""
    folder = tmp_path / "pantry"
    folder.mkdir()
    rows = [
        {
            "id": f"q{n}",
            "video": f"v{n}.mp4",
            "q": f"What is on shelf {n}?",
            "a": "the secret answer",
        }
        for n in range(12)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "benchmark.yaml").write_text(
        "id: pantry\ntitle: Pantry\nkind: exact\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q, answer: a}\nlanguages: [en]\n"
    )
    predictions = tmp_path / "predictions.jsonl"
    predictions.write_text(
        "".join(json.dumps({"id": row["id"], "prediction": "flour"}) + "\n" for row in rows)
    )
    return folder, predictions


@pytest.mark.parametrize("status", [429, 503])
def test_a_busy_hub_is_waited_for_as_long_as_it_says(hub, stored, status):
    hub.add(DATASET, {"README.md": "results"}, kind="dataset")
    for pattern in ("GET /api/datasets/museum/results.*", "POST .*/commit/.*"):
        hub.fail(pattern, status=status, headers={"Retry-After": "0"})
    done = publishing.publish(stored, space=SPACE, dataset=DATASET)
    assert [one.done for one in done] == ["committed"] * 2


def test_a_space_whose_making_was_not_answered_gets_its_own_readme(hub, stored):
    hub.fail("POST /api/repos/create", lose=True)
    [one] = publishing.publish(stored, space=SPACE)
    assert one.done == "committed"
    assert b"sdk: static" in files(hub, SPACE, "space")["README.md"]


@pytest.mark.parametrize(
    ("pattern", "where", "status", "said"),
    [
        ("PUT /upload/.*", "cdn", 403, "an address expired; run it again"),
        ("POST .*/commit/.*", "hub", 403, "your token may not write there"),
        ("POST /api/validate-yaml", "hub", 500, "the Hub could not do it now, run it again"),
    ],
)
def test_what_the_hub_refuses_is_called_what_it_is(hub, stored, *, pattern, where, status, said):
    hub.add(DATASET, {"README.md": "---\nconfigs: []\n---\n"}, kind="dataset")
    (hub if where == "hub" else hub.cdn).fail(pattern, status=status, times=None)
    with pytest.raises(ReelbenchError, match=said):
        publishing.publish(stored, space=SPACE, dataset=DATASET)


def test_what_was_done_before_a_failure_is_said(hub, stored):
    hub.fail("POST .*/spaces/.*/commit/.*", status=500, times=None)
    told = []
    with pytest.raises(ReelbenchError, match="run it again"):
        publishing.publish(stored, space=SPACE, dataset=DATASET, note=told.append)
    assert told[-1].startswith("committed: ")
    assert "the same command goes on from here" in told[-1]


def test_a_page_and_a_dataset_that_do_not_name_each_other_are_told_the_line(hub, stored):
    told = []
    publishing.publish(stored, dataset=DATASET)
    publishing.publish(stored, space=SPACE)
    publishing.publish(stored, space=SPACE, dataset=DATASET, note=told.append)
    lines = [line for line in told if "does not name" in line]
    assert len(lines) == 2
    assert any(
        f"`They are shown at [{SPACE}]({hub.url}/spaces/{SPACE}).`" in line for line in lines
    )
    assert any(f"`datasets: [{DATASET}]`" in line for line in lines)
