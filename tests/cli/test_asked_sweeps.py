"""Several numbers of frames in one command: a served model is asked once with each of them."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.registry.sampling import parse_frame_counts
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
GOOD = '{"span": [0, 5], "answer": "A"}'


def pictures(call):
    content = call.body["messages"][-1]["content"]
    if isinstance(content, str):
        return 0
    return sum(part["type"] == "image_url" for part in content)


@pytest.mark.parametrize(
    "words",
    [
        ("eval", MINI, "--model", "m", "--base-url"),
        ("ask", MINI, "--llm", "m", "--llm-url"),
    ],
    ids=["eval", "ask"],
)
def test_each_number_has_a_result_and_all_a_plot_and_a_table(words, reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        limits = ("--frames", "8,0,2", "--limit", 2, "--output", tmp_path / "out")
        done = reelbench(*words, server.url, *limits)
        assert done.returncode == 0, done.stderr
        shown = [pictures(call) for call in server.calls]
    assert shown == [0, 0, 2, 2, 8, 8]
    document = json.loads((tmp_path / "out" / "sweep.json").read_text("utf-8"))
    points = document["points"]
    assert [point["frames"] for point in points] == [0, 2, 8]
    assert [point["sampling"] for point in points] == ["none", "uniform:2", "uniform:8"]
    for point in points:
        result = json.loads((tmp_path / "out" / point["result"]).read_text("utf-8"))
        assert result["metrics"] == point["metrics"]
        assert result["counts"]["scored"] == 2
    assert f"written to {tmp_path / 'out' / 'sweep.json'}" in done.stderr
    assert "frames (log scale)" in done.stdout
    assert (tmp_path / "out" / f"sweep_{MINI}.svg").is_file()


def test_a_sweep_prints_its_points_as_json_and_asks_nothing_twice(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        where = ("--llm", "m", "--llm-url", server.url, "--output", tmp_path / "out")
        words = ("ask", MINI, *where, "--frames", "0,2,size=64", "--limit", 1, "--json")
        planned = reelbench(*words, "--plan")
        assert (planned.returncode, len(server.calls)) == (0, 0), planned.stderr
        frames = [json.loads(line)["frames"] for line in planned.stdout.splitlines()]
        assert frames == ["none", "uniform:2,size=64,times=text"]
        done = reelbench(*words)
        again = reelbench(*words, "--no-recheck")
        assert len(server.calls) == 2
    assert json.loads(done.stdout)["points"] == json.loads(again.stdout)["points"]


def test_a_number_that_fails_costs_the_others_nothing(reelbench, tmp_path):
    def answers(call):
        if pictures(call) > 2:
            return Answer(status=400, error={"message": "at most 2 images"})
        return Answer(GOOD)

    with JudgeServer(answers) as server:
        where = ("--llm", "m", "--llm-url", server.url, "--output", tmp_path / "out")
        done = reelbench("ask", MINI, *where, "--frames", "2,4", "--limit", 1)
    assert done.returncode == 1
    assert "frames uniform:4: the model at" in done.stderr
    document = json.loads((tmp_path / "out" / "sweep.json").read_text("utf-8"))
    assert [point["frames"] for point in document["points"]] == [2]


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--frames", "2,4", "--runs", 2), "leave out --runs"),
        (("--frames", "2,4,x=1"), "'x=1'"),
        (("--frames", "2,4000000"), "is not a number of frames from 1 to"),
        (("--frames", "2,0,as=clip,4"), "'4'"),
    ],
)
def test_what_is_no_sweep_ends_in_a_line_before_a_call(words, line, reelbench):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        done = reelbench("ask", MINI, "--llm", "m", "--llm-url", server.url, *words)
        assert (done.returncode, done.stderr.count("\n"), server.calls) == (2, 1, [])
    assert line in done.stderr


def test_the_words_of_run_are_taken_for_ours_and_a_checkpoint_takes_ours(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        asked = ("--limit", 1, "--output", tmp_path / "out", "--frames-sweep", "0,1")
        done = reelbench("ask", MINI, "--llm", "m", "--llm-url", server.url, *asked)
        told = reelbench("eval", MINI, "--model", "m", "--base-url", server.url, *asked)
    assert done.returncode == 0, done.stderr
    assert "--frames-sweep: taken for --frames" in done.stderr
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "--frames-sweep: a served model takes --frames 0,8,32 instead" in told.stderr
    checkpoint = ("--model", "hf/org/m", "--adapter", "qwen2_vl", "--frames", "0,4", "--plan")
    planned = reelbench("eval", MINI, *checkpoint)
    assert planned.returncode == 0, planned.stderr
    assert "--frames 0,4" in planned.stderr


def test_several_counts_are_numbers_and_options():
    counts = parse_frame_counts("32,0,8,8,size=448,subs=file")
    assert counts is not None
    assert counts.counts == [0, 8, 32]
    assert counts.spec(0) == "none,subs=file"
    assert counts.spec(8) == "uniform:8,size=448,subs=file"
    assert counts.pattern == "uniform:N,size=448,subs=file"
    for single in ("8", "8,size=448", "uniform:8", "window:0-30,8", "none", ""):
        assert parse_frame_counts(single) is None
    with pytest.raises(InputError, match="from 1 to"):
        parse_frame_counts("8,99999999")
