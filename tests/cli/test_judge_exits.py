"""A judge that was named and can't work ends with 1, its reason next to who is asked; what is there is written."""

import json
import re
import shutil
from pathlib import Path

import pytest

from reelbench.llm.pace import FIRST
from tests.servers.judge import Answer, JudgeServer

OLD = Path(__file__).parents[1] / "fixtures" / "v0_1_0"
MOVIECORE = (
    "score",
    "moviecore",
    "--predictions",
    next((OLD / "predictions").glob("moviecore*")),
    "--split",
    "mini",
)


def judged(reelbench, tmp_path, *options, env=None):
    output = tmp_path / "out"
    done = reelbench(*MOVIECORE, "--no-overlap", "--json", "--output", output, *options, env=env)
    document = json.loads(done.stdout)
    assert document["counts"] == json.loads((output / "result.json").read_text())["counts"]
    return done, document, [line for line in done.stderr.splitlines() if line]


def test_without_a_key(reelbench, tmp_path):
    done, document, lines = judged(reelbench, tmp_path, "--judge", "judge-2")
    assert done.returncode == 1
    assert lines[0].startswith("no API key for the judge: set REELBENCH_JUDGE_API_KEY")
    assert lines[-1].startswith(
        "reelbench: moviecore: no API key for the judge: set REELBENCH_JUDGE_API_KEY"
    )
    assert lines[-1].endswith("no answer is judged (11 judge_refused)")
    assert document["counts"]["unscored"] == {"judge_refused": 11}


def test_with_a_dead_server(reelbench, tmp_path):
    with JudgeServer() as server:
        url = server.url
    done, document, lines = judged(reelbench, tmp_path, "--judge", "judge-2", "--judge-url", url)
    assert done.returncode == 1
    assert lines[0] == f"the judge judge-2 is asked at {url[7:-3]}, with no key"
    assert lines[1].startswith(
        f"no connection to the judge at {url[7:-3]} (Connection refused: is it running there?)"
    )
    assert done.stderr.count(" is asked at ") == 1
    assert "did not answer" not in done.stderr
    assert document["counts"]["unscored"] == {"judge_unavailable": 11}
    # The one that was named, and its trouble.
    assert re.search(
        r"11 answers await the judge \(.*Connection refused.*\); "
        r"to finish: reelbench score .* --judge judge-2 ",
        done.stderr,
    )


def test_with_a_model_that_the_server_does_not_serve(reelbench, tmp_path):
    error = {"message": "The model 'judge-2' does not exist."}
    with JudgeServer(lambda _: Answer(status=404, error=error)) as server:
        done, _, lines = judged(
            reelbench, tmp_path, "--judge", "judge-2", "--judge-url", server.url
        )
        assert done.returncode == 1
        assert len(server.calls) <= FIRST
    assert lines[0] == f"the judge judge-2 is asked at {server.url[7:-3]}, with no key"
    assert "The model 'judge-2' does not exist." in lines[1]


def test_with_a_judge_that_says_nothing_readable(reelbench, tmp_path):
    with JudgeServer(lambda _: Answer("Score: 4")) as server:
        done, _, lines = judged(
            reelbench, tmp_path, "--judge", "judge-2", "--judge-url", server.url
        )
        assert len(server.calls) <= 25
    assert done.returncode == 1
    assert "gave no answer in 20 replies (20 unreadable) (the last: 'Score: 4')" in lines[-1]
    assert "; no answer is judged (" in lines[-1]


def test_the_first_three_unreadable_replies_are_shown(reelbench, tmp_path):
    def script(call):
        return Answer('{"score": 3}' if "no reply" in call.user else "\x1b[31mI give it a four")

    with JudgeServer(script) as server:
        path = tmp_path / "p.csv"
        path.write_text(
            "id,prediction\n" + "".join(f"mini{number},a star\n" for number in range(1, 13))
        )
        judge = ("--judge", "judge-2", "--judge-url", server.url)
        done = reelbench(
            *("score", "curve_mini", "--predictions", path, "--output", tmp_path / "out"),
            *(*judge, "--keep-going"),
        )
    lines = [line for line in done.stdout.splitlines() if "reply is unreadable" in line]
    assert lines == [
        f"  the judge's reply is unreadable, mini{number}: [31mI give it a four"
        for number in (1, 2, 3)
    ]


@pytest.mark.parametrize("thinks", ["<think>3 or 4?</think>", ""])
def test_a_fifth_of_the_answers_is_enough(reelbench, tmp_path, thinks):
    def script(call):
        return Answer(f'{thinks}{{"score": 3}}' if call.number < 3 * 5 else "Score: 4")

    with JudgeServer(script) as server:
        options = ("--judge", "judge-2", "--judge-url", server.url, "--judge-concurrency", 1)
        done, _, _ = judged(reelbench, tmp_path, *options)
    assert done.returncode == 0


def test_where_all_is_cached_no_server_and_no_key_is_needed(reelbench, tmp_path, reelbench_home):
    reelbench_home.mkdir()
    shutil.copy(OLD / "judge.sqlite", reelbench_home / "judge.sqlite")
    done, document, _ = judged(reelbench, tmp_path, "--judge", "judge-v1")
    assert done.returncode == 0
    assert document["counts"]["scored"] > 0


def test_without_a_judge_the_hint_repeats_what_was_typed(reelbench, tmp_path):
    done, _, _ = judged(reelbench, tmp_path)
    assert done.returncode == 0
    before, hint = done.stderr.split("to finish: ")
    assert (
        "12 answers await a judge, and none was named (gpt-6-luna is the successor of the paper's "
        "judge, gpt-4o-mini-2024-07-18, which the published numbers are from); " in before
    )
    hint = hint.splitlines()[0]
    assert hint.startswith("reelbench score moviecore --predictions")
    assert f"--output {tmp_path}/out" in hint
    assert all(option in hint for option in ("--split mini", "--no-overlap", "--json"))
    assert hint.endswith("--judge gpt-6-luna")  # the authors' own judge shuts down


def test_what_is_sent_along_is_recorded_and_part_of_the_key(reelbench, tmp_path):
    with JudgeServer() as server:
        options = ("--judge", "judge-2", "--judge-url", server.url)
        extra = '{"reasoning_effort": "low", "chat_template_kwargs": {"enable_thinking": false}}'
        for more in (
            (),
            ("--judge-extra", extra),
            ("--judge-extra", extra, "--judge-timeout", "3"),
        ):
            judged(reelbench, tmp_path, *options, *more)
            record = json.loads((tmp_path / "out" / "result.json").read_text())["judge"]
            assert record.get("extra") == (json.loads(extra) if more else None)
        bodies = [call.body for call in server.calls]
    assert len(bodies) == 2 * 55
    assert all(body.items() >= json.loads(extra).items() for body in bodies[55:])
    added = reelbench("leaderboard", "add", tmp_path / "out", "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr
    [line] = (tmp_path / "store" / "ledger.jsonl").read_text().splitlines()
    assert json.loads(line)["entry"]["verified"]["ids"] == "checked"


def test_a_timeout_that_is_none(reelbench):
    done = reelbench(
        *MOVIECORE, "--judge", "m", "--judge-url", "http://127.0.0.1:9/v1", "--judge-timeout", "0"
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--judge-timeout" in done.stderr


def test_a_facet_that_is_none_is_told_before_the_judge_is_asked(reelbench):
    with JudgeServer() as server:
        done = reelbench(
            *MOVIECORE,
            "--no-overlap",
            "--judge",
            "judge-2",
            "--judge-url",
            server.url,
            "--by",
            "colour",
        )
        assert (done.returncode, len(server.calls)) == (2, 0)
    assert "--by colour: no such facet; moviecore is broken down by classification" in done.stderr


def test_a_judge_that_nothing_needs_is_told_of(reelbench, tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("id,prediction\nmini1,A from 1 to 2\n", encoding="utf-8")
    scored = ("score", "rextime_mini", "--predictions", path)
    line = "rextime: no metric of it is judged, so the judge is not asked"
    assert line in reelbench(*scored, "--judge", "judge-2").stderr
    assert (
        line not in reelbench(*scored, env={"REELBENCH_JUDGE": "judge-2"}).stderr
    )  # which is for all benchmarks


@pytest.mark.parametrize(
    ("answered", "strict", "returncode"), [(2, [], 1), (3, [], 0), (3, ["--strict"], 1)]
)
def test_a_judge_that_fails_for_some_is_told_by_its_cause(
    reelbench, tmp_path, answered, strict, returncode
):
    """Of eleven answers two judged ones are under a fifth; a server that hangs says nothing else."""

    def script(call):
        if call.number < 5 * answered:
            return Answer('{"score": 3}')
        return Answer(delay=60)

    options = ["--judge-timeout", "1.5", "--judge-concurrency", "1", *strict]
    with JudgeServer(script) as server:
        options += ["--judge", "judge-2", "--judge-url", server.url]
        done, document, _ = judged(reelbench, tmp_path, *options)
    unavailable = 11 - answered
    assert document["counts"]["unscored"] == {"judge_unavailable": unavailable}
    assert done.returncode == returncode
    assert (
        f"{unavailable} judge_unavailable: nothing finished for 1.5 s; "
        "--judge-timeout S waits longer, --judge-concurrency N sends fewer at once"
    ) in done.stderr
    assert (f"{answered} of 11 answers are judged" in done.stderr) == (answered == 2)
