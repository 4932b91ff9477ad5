"""Frames decoded beside the asking, by whole runs: nothing waits, nothing is read twice, and the result is the same."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.servers.judge import Answer, JudgeServer, always
from tests.servers.prefix_cache import PrefixCache
from tests.video import clips

FILMS, EACH, BROKEN, FRAMES = 16, 2, 5, "uniform:8,size=64"
TOLD = """
import logging, os
logger, handler = logging.getLogger("reelbench.video.frame_store"), logging.FileHandler(os.environ["TOLD"])
logger.addHandler(handler)
handler.setFormatter(logging.Formatter("%(message)s by %(process)d"))
logger.setLevel(logging.INFO)
"""
"""Python's `sitecustomize`: a line in a file for each video that is decoded, and the process that did it."""


@pytest.fixture
def told(tmp_path, monkeypatch):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(TOLD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("TOLD", str(tmp_path / "told.txt"))


@pytest.fixture
def films(tmp_path, reelbench, monkeypatch):
    """A benchmark of 32 questions that go round 16 films, one of which can't be decoded."""
    media = tmp_path / "films"
    media.mkdir()
    for number in range(FILMS):
        ticks = clips.constant(40, 8)
        clips.encode(
            media / f"film{number}.mp4", codec="libx264", gop=12, ticks=ticks, first=50 * number
        )
    (media / f"film{BROKEN}.mp4").write_bytes(b"no film at all")
    source = tmp_path / "rows.jsonl"
    rows = [
        {
            "id": f"q{n:02}",
            "video": f"film{n % FILMS}",
            "question": f"Is it {n}?",
            "options": ["a", "b"],
            "answer": "B",
        }
        for n in range(FILMS * EACH)
    ]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = reelbench("new", "rounds", "--from", source, "--media", media, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("REELBENCH_MEDIA", str(media))
    return tmp_path / "rounds"


@pytest.fixture
def cached():
    """A server that has room for two films' pictures."""
    script = PrefixCache("B", room=2 * 8 * 256 + 500)
    with JudgeServer(script) as server:
        server.cache = script
        yield server


def started(words, out, home, cores=None):
    """Start a module in a process of its own -> it, and the file with the videos that it decoded."""
    told = out.with_suffix(".decoded")
    told.write_text("")
    only = [] if cores is None else ["taskset", "--cpu-list", str(cores)]
    environ = {**os.environ, "REELBENCH_HOME": str(home), "TOLD": str(told)}
    command = [*only, sys.executable, "-m", *map(str, words)]
    return subprocess.Popen(
        command, env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ), told


def ask(films, out, server, *more, home, cores=None):
    words = [
        "ask",
        films,
        "--llm",
        "m",
        "--llm-url",
        server.url,
        "--frames",
        FRAMES,
        "--output",
        out,
        *more,
    ]
    return started(["reelbench", *words], out, home, cores)


def lmms_eval(films, out, server, *, home, cores=None, bare=True):
    """Start lmms-eval's `openai` on the benchmark, by itself or by `run`."""
    model = f"model=m,base_url={server.url},api_key=x,num_concurrent=1,max_retries=1"
    client = [
        "--model",
        "openai",
        "--model_args",
        model,
        "--output_path",
        out,
        "--log_samples",
        "--tasks",
    ]
    words = ["lmms_eval", *client, "rounds"] if bare else ["reelbench", "run", "--", *client, films]
    return started(words, out, home, cores)


def logged(folder):
    """Each of our samples in lmms-eval's log, without what the server stated."""
    (path,) = folder.rglob("*_samples_rounds.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    details = [
        next(value for value in line.values() if isinstance(value, dict) and "sample" in value)
        for line in lines
    ]
    return sorted(without_costs(detail["sample"]) for detail in details)


def samples(folder):
    """Each sample's line, without the seconds and tokens that the server stated."""
    (path,) = folder.rglob("samples.jsonl")
    return [
        without_costs(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()
    ]


def without_costs(sample):
    return json.dumps(
        {name: value for name, value in sample.items() if name not in {"seconds", "tokens"}}
    )


def decoded(*files):
    return sorted(
        line.split()[1]
        for file in files
        for line in file.read_text().splitlines()
        if "decoded" in line
    )


def once_each(films):
    return sorted(
        str(films.parent / "films" / f"film{n}.mp4:") for n in range(FILMS) if n != BROKEN
    )


def asked(calls):
    """The questions' numbers, as they were asked."""
    texts = [call.body["messages"][-1]["content"][-1]["text"] for call in calls]
    return [int(text.partition("Is it ")[2].partition("?")[0]) for text in texts]


def share_read(server):
    """The most of a film's first question that its second one cost the server, where they came one after the other."""
    numbers, read = asked(server.calls), server.cache.read
    assert [number % FILMS for number in numbers[::2]] == [
        number % FILMS for number in numbers[1::2]
    ]
    return max(second[1] / first[1] for first, second in zip(read[::2], read[1::2], strict=True))


@pytest.mark.slow
@pytest.mark.usefixtures("told")
def test_cores_kills_and_company_leave_the_same_samples_and_decode_each_video_once(
    films, cached, tmp_path
):
    def run(name, *more, **options):
        process, told = ask(
            films, tmp_path / name, cached, *more, home=tmp_path / f"home-{name}", **options
        )
        assert process.wait() == 0
        return samples(tmp_path / name), told

    first, told = run("first", "--llm-concurrency", 1, cores=min(os.sched_getaffinity(0)))
    assert decoded(told) == once_each(films)
    assert len(cached.calls) == EACH * (FILMS - 1)
    assert share_read(cached) <= 0.1
    lost = [sample for sample in map(json.loads, first) if sample["state"] == "unscored"]
    assert [(sample["video"], sample["reason"]) for sample in lost] == [
        (f"film{BROKEN}", "media_missing")
    ] * EACH

    cached.script(always("B"))
    assert run("cores")[0] == first

    # Killed in the middle: replies that came are not asked for again, and no film is decoded again.
    before = len(cached.calls)
    cached.script(lambda call: Answer("B", delay=0 if call.number < before + 9 else 600))
    process, told = ask(
        films, tmp_path / "killed", cached, "--llm-concurrency", 2, home=tmp_path / "home-killed"
    )
    while len(cached.calls) < before + 11 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len([*(tmp_path / "home-killed").rglob("frames.json")])
    assert kept
    cached.script(always("B"))
    killed, again = run("killed", "--kept")  # none is asked once more to look who gives them
    assert killed == first
    assert len(decoded(again)) == FILMS - 1 - kept
    assert len(cached.calls) - before == EACH * (FILMS - 1) + 2  # those that were in flight

    # Two at once that share a home: each film is decoded by one of them, each question asked by
    # one.
    before = len(cached.calls)
    pair = [ask(films, tmp_path / name, cached, home=tmp_path / "home-pair") for name in ("a", "b")]
    assert [process.wait() for process, _ in pair] == [0, 0]
    assert decoded(*(told for _, told in pair)) == once_each(films)
    assert samples(tmp_path / "a") == samples(tmp_path / "b") == first
    assert len(cached.calls) - before == EACH * (FILMS - 1)


@pytest.mark.slow
@pytest.mark.usefixtures("told")
def test_lmms_evals_runs_log_the_same_samples_on_one_core_and_on_all_killed_and_beside_each_other(
    films, cached, tmp_path, monkeypatch
):
    monkeypatch.setenv("REELBENCH_FRAMES", FRAMES)
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(films))

    def run(name, **options):
        anew = not (home := tmp_path / f"home-{name}").exists()
        process, told = lmms_eval(films, tmp_path / name, cached, home=home, **options)
        assert process.wait() == 0
        if anew:  # the first film is ready when lmms-eval is
            assert not told.read_text().partition("\n")[0].endswith(f" by {process.pid}")
        return logged(tmp_path / name), decoded(told)

    cached.script(always("B"))
    first = run("first", bare=False, cores=min(os.sched_getaffinity(0)))
    assert len(first[0]) == EACH * (FILMS - 1)
    assert first[1] == once_each(films)
    assert run("cores") == first

    before = len(cached.calls)
    cached.script(lambda call: Answer("B", delay=0 if call.number < before + 9 else 600))
    process, _ = lmms_eval(films, tmp_path / "killed", cached, home=tmp_path / "home-killed")
    while len(cached.calls) < before + 10 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    kept = len([*(tmp_path / "home-killed").rglob("frames.json")])
    cached.script(always("B"))
    samples_again, again = run("killed")
    assert samples_again == first[0]
    assert kept
    assert len(again) == FILMS - 1 - kept

    pair = [
        lmms_eval(films, tmp_path / name, cached, home=tmp_path / "home-pair")
        for name in ("a", "b")
    ]
    assert [process.wait() for process, _ in pair] == [0, 0]
    assert decoded(*(told for _, told in pair)) == first[1]
    assert logged(tmp_path / "a") == logged(tmp_path / "b") == first[0]


@pytest.mark.slow
@pytest.mark.usefixtures("told")
def test_a_run_says_how_far_it_is_and_waits_for_no_film_that_can_not_be_decoded(
    films, cached, reelbench, tmp_path
):
    extracted = reelbench(
        "frames", "extract", films.parent / "films", "--frames", FRAMES, "--for", "openai"
    )
    assert len(decoded(tmp_path / "told.txt")) == FILMS - 1
    assert f"film{BROKEN}.mp4" in extracted.stderr
    last = films.parent / "films" / f"film{FILMS - 1}.mp4"

    def script(call):
        last.write_bytes(b"no film any more")  # found when its question is asked, not before
        return cached.cache(call)

    cached.script(script)
    status = tmp_path / "status.json"
    model = f"model=m,base_url={cached.url},api_key=x,num_concurrent=1,max_retries=1"
    lmms_eval = [
        "--model",
        "openai",
        "--model_args",
        model,
        "--tasks",
        films,
        "--output_path",
        tmp_path / "run",
    ]
    done = reelbench("run", "--frames", FRAMES, "--status-file", status, "--", *lmms_eval)
    assert done.returncode == 0, done.stderr
    assert len(decoded(tmp_path / "told.txt")) == FILMS - 1  # none again
    del (
        cached.calls[-EACH:],
        cached.cache.read[-EACH:],
    )  # the model is asked about it all the same, without pictures
    assert sorted({number % FILMS for number in asked(cached.calls)}) == [
        n for n in range(FILMS - 1) if n != BROKEN
    ]
    assert share_read(cached) <= 0.1
    told = json.loads(status.read_text())
    assert (told["what"], told["done"], told["of"]) == (
        "lmms-eval",
        EACH * (FILMS - 1),
        EACH * (FILMS - 1),
    )
    assert told["line"].startswith(
        f"{FILMS - 1} of {FILMS - 1} videos ready, waiting for the model "
    )
    lost = [
        sample
        for sample in map(json.loads, samples(tmp_path / "run"))
        if sample["state"] == "unscored"
    ]
    assert [
        (sample["video"], sample["reason"]) for sample in lost if sample["video"] != f"film{BROKEN}"
    ] == [(f"film{FILMS - 1}", "media_unreadable")] * EACH
