"""`reelbench ask`: a served model over our rows, without lmms-eval; paid once, resumed, in the data's order."""

import json
import re
from pathlib import Path

import pytest

from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"


@pytest.fixture
def ask(reelbench, tmp_path):
    def run(server, *options, names=(MINI,), env=None):
        where = ("--llm", "org/model", "--llm-url", server.url, "--frames", "none", "--output", tmp_path / "out")
        return reelbench("ask", *names, *where, *options, env=env)

    return run


def result(tmp_path, name=MINI):
    folder = tmp_path / "out" / name
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()]
    return json.loads((folder / "result.json").read_text()), samples


def answering(call):
    return Answer('{"span": [0, 5], "answer": "A"}', delay=0.05 * (call.number % 3))


def test_a_run_is_scored_recorded_and_paid_for_once(ask, tmp_path, reelbench):
    with JudgeServer(answering) as server:
        done = ask(server)
        assert done.returncode == 0, done.stderr
        first, samples = result(tmp_path)
        assert [sample["id"] for sample in samples] == [f"mini{n}" for n in range(1, 13)]  # the data's order
        assert (first["model"]["id"], first["model"]["adapter"]) == ("org/model", "reelbench-ask")
        assert first["counts"]["scored"] == 12
        assert first["settings"]["frames"] == first["settings"]["audio"] == "none"
        assert first["settings"]["generation"] == {"max_tokens": 512, "temperature": 0}
        assert samples[0]["tokens"] == {"prompt": 100, "completion": 10}
        assert 0 < samples[0]["seconds"] < 60
        assert len(server.calls) == 12
        done = ask(server, "--quiet")
        again, _ = result(tmp_path)
        assert (done.returncode, len(server.calls)) == (0, 12)
        assert (done.stdout, done.stderr) == ("", "")
        assert again["metrics"] == first["metrics"]
    for outcome in ("added", "same"):
        added = reelbench("leaderboard", "add", tmp_path / "out" / MINI, "--store", tmp_path / "store", "--json")
        assert added.returncode == 0, added.stderr
        (filed,) = json.loads(added.stdout)["results"]
        assert (filed["source"], filed["outcome"]) == (str(tmp_path / "out" / MINI), outcome)
    assert json.loads((Path(filed["place"]) / "result.json").read_text())["model"]["id"] == "org/model"
    built = reelbench("leaderboard", "build", "--store", tmp_path / "store", "--out", tmp_path / "site", "--json")
    page = tmp_path / "site" / "index.html"
    assert json.loads(built.stdout).items() >= {"page": str(page), "runs": 1}.items()
    assert page.is_file()
    (tmp_path / "out" / MINI / "samples.jsonl").write_text("")
    refused = reelbench("leaderboard", "add", tmp_path / "out" / MINI, "--store", tmp_path / "store", "--json")
    assert refused.returncode == 2
    (filed,) = json.loads(refused.stdout)["results"]
    assert (filed["outcome"], filed["place"]) == ("refused", None)
    assert filed["why"] in refused.stderr


def test_several_benchmarks_share_a_budget_and_a_run_goes_on(ask, tmp_path):
    names = (MINI, "dramaqa_cogme_mini")
    with JudgeServer(lambda _: Answer("(A)")) as server:
        done = ask(server, "--limit", 4, "--llm-budget", 6, "--llm-concurrency", 1, names=names)
        assert (done.returncode, len(server.calls)) == (0, 6)
        assert result(tmp_path, names[1])[0]["counts"]["unscored"] == {"model_failed": 2}
        assert "2 questions are not answered (2 budget); run the same command again to go on" in done.stderr
        done = ask(server, "--limit", 4, names=names)
        assert (done.returncode, len(server.calls)) == (0, 8)
    whole, samples = result(tmp_path, names[1])
    assert (whole["counts"]["items"], whole["counts"]["scored"], whole["settings"]["limit"]) == (4, 4, 4)
    assert [sample["prediction"] for sample in samples] == ["(A)"] * 4


@pytest.mark.parametrize(
    ("answer", "prediction"),
    [
        (Answer("(A) is it, I th", finish="length"), "(A) is it, I th"),
        (Answer("", finish="stop"), ""),
        (Answer(None, finish="length"), ""),
    ],
)
def test_a_reply_is_the_answer_as_it_stands(answer, prediction, ask, tmp_path):
    with JudgeServer(lambda _: answer) as server:
        done = ask(server, "--limit", 1)
        assert (done.returncode, len(server.calls)) == (0, 1), done.stderr
    _, (sample,) = result(tmp_path)
    assert (sample["prediction"], sample["state"]) == (prediction, "scored")


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (Answer(status=401, error={"message": "wrong key"}), "answered 401: wrong key"),
        (Answer(status=400, error={"message": "no images here"}), "answered 400: no images here"),
        (Answer(wire=b""), "sent no whole reply"),
    ],
)
def test_where_nothing_is_answered_nothing_is_written(answer, line, ask, tmp_path):
    with JudgeServer(lambda _: answer) as server:
        done = ask(server)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert re.search(r"no question of rextime is answered", last)
    assert line in last
    assert not (tmp_path / "out" / MINI / "result.json").exists()


def test_a_model_must_be_named(reelbench):
    done = reelbench("ask", MINI)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--llm MODEL" in done.stderr


def test_a_model_that_takes_no_temperature_is_asked_as_lmms_eval_asks_it(reelbench, tmp_path):
    with JudgeServer(answering) as server:
        done = reelbench(
            "ask", MINI, "--llm", f"gpt-5-mini@{server.url}", "--frames", "none", "--limit", 1, "--llm-extra",
            '{"reasoning_effort": "low"}', "--output", tmp_path / "out",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (call,) = server.calls
    sent = {name: value for name, value in call.body.items() if name not in ("messages", "model")}
    assert sent == {"response_format": {"type": "text"}, "max_completion_tokens": 512, "reasoning_effort": "low"}
    assert result(tmp_path)[0]["settings"]["generation"] == sent


def test_neither_lmms_eval_nor_torch_is_needed(ask, tmp_path):
    blocked = tmp_path / "blocked"
    for name in ("lmms_eval", "torch"):
        (blocked / name).mkdir(parents=True)
        (blocked / name / "__init__.py").write_text("raise ImportError('not here')")
    with JudgeServer(answering) as server:
        done = ask(server, "--limit", 2, env={"PYTHONPATH": str(blocked)})
    assert done.returncode == 0, done.stderr


def test_a_task_that_asks_for_steps_is_refused_in_one_line(reelbench, tmp_path):
    done = reelbench(
        "ask", "curve_reasoned_mini", "--llm", "m", "--llm-url", "http://127.0.0.1:9/v1", "--output", tmp_path
    )
    assert done.returncode == 2
    assert "curve_reasoned_mini: asks for numbered steps" in done.stderr
    assert "Traceback" not in done.stderr


def test_several_answers_are_kept_and_the_first_is_scored(ask, reelbench, tmp_path):
    def answer(call):
        assert call.body["temperature"] == 0.7
        return Answer(f"<think>hm</think> It says {call.number}.")

    names = ("moviecore_mini",)
    with JudgeServer(answer) as server:
        asked = ("--limit", 2, "--candidates", "sample:3,t=0.7", "--no-overlap")
        done = ask(server, *asked, "--llm-budget", 4, names=names)
        assert done.returncode == 0, done.stderr
        record, samples = result(tmp_path, *names)
        assert record["counts"]["unscored"]["model_failed"] >= 1  # lacks some of its answers
        done = ask(server, *asked, names=names)
        assert (done.returncode, len(server.calls)) == (0, 6)
        record, samples = result(tmp_path, *names)
        assert record["settings"]["candidates"] == "sample:3,t=0.7"
        for sample in samples:
            assert len(set(sample["candidates"])) == 3
            assert sample["prediction"] == sample["candidates"][0]
            assert sample["tokens"] == {"prompt": 300, "completion": 30}
        ranked = reelbench(
            "ace", tmp_path / "out" / names[0], "--llm", f"ranker@{server.url}", "--output", tmp_path / "ace",
            "--no-controls", "--no-overlap",
        )  # fmt: skip
        assert ranked.returncode == 1  # that server is no ranker, and the command says so
    for how, line in (("beam:3", "a server gives samples only"), ("sample:3", "give beam:K or sample:K,t=T")):
        done = ask(server, "--candidates", how, names=names)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert line in done.stderr


def test_questions_are_put_in_the_language_that_the_environment_names(ask, tmp_path):
    names = ("curve_mini",)
    with JudgeServer(lambda _: Answer("yes")) as server:
        done = ask(server, names=names)
        assert done.returncode == 0, done.stderr
        _, native = result(tmp_path, *names)
        file = tmp_path / "es.jsonl"
        lines = [{"id": native[0]["id"], "language": "es", "question": "¿Qué pasa?"}]
        file.write_text("\n".join(map(json.dumps, lines)))
        before = len(server.calls)
        env = {"REELBENCH_LANGUAGE": "es", "REELBENCH_TRANSLATIONS": str(file)}
        done = ask(server, names=names, env=env)
        assert done.returncode == 0, done.stderr
        record, samples = result(tmp_path, *names)
        assert [sample["id"] for sample in samples] == [native[0]["id"]]
        assert record["settings"]["language"] == "es"
        assert "¿Qué pasa?" in json.dumps(server.calls[before].body, ensure_ascii=False)
        assert f"{len(native) - 1} of {len(native)} questions are left out" in done.stderr
        done = ask(server, env=env)
        assert done.returncode == 2
        assert "rextime has options, which stay in their language" in done.stderr


def test_a_label_is_a_setting_of_the_row(ask, tmp_path):
    with JudgeServer(answering) as server:
        done = ask(server, "--limit", 1, "--label", "web search")
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)[0]["settings"]["label"] == "web search"
