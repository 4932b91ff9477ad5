"""`reelbench ask`: a served model over our rows, without lmms-eval; paid once, resumed, in the data's order."""

import json
import re
from pathlib import Path

import pytest

from reelbench.leaderboard.entries import protocol
from reelbench.registry import discovery
from reelbench.registry.records import SettingsRecord
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
GOOD = '{"span": [0, 5], "answer": "A"}'


@pytest.fixture
def ask(reelbench, tmp_path):
    def run(server, *options, names=(MINI,), env=None):
        where = {
            "--llm": "org/model",
            "--llm-url": server.url,
            "--frames": "none",
            "--output": tmp_path / "out",
        }
        own = [
            part
            for option, value in where.items()
            if option not in options
            for part in (option, value)
        ]
        return reelbench("ask", *names, *own, *options, env=env)

    return run


def result(tmp_path, name=MINI):
    folder = tmp_path / "out" / name
    samples = [
        json.loads(line)
        for line in (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return json.loads((folder / "result.json").read_text()), samples


def answering(call):
    return Answer(GOOD, delay=0.05 * (call.number % 3))


def test_a_run_is_scored_recorded_and_paid_for_once(ask, tmp_path, reelbench):
    with JudgeServer(answering) as server:
        done = ask(server)
        assert done.returncode == 0, done.stderr
        first, samples = result(tmp_path)
        assert [sample["id"] for sample in samples] == [
            f"mini{n}" for n in range(1, 13)
        ]  # the data's order
        assert (first["model"]["id"], first["model"]["adapter"]) == ("org/model", "reelbench-ask")
        assert first["counts"]["scored"] == 12
        assert first["settings"]["frames"] == first["settings"]["audio"] == "none"
        assert first["settings"]["generation"] == {"max_tokens": 512, "temperature": 0}
        assert samples[0]["tokens"] == {"prompt": 100, "completion": 10}
        assert 0 < samples[0]["seconds"] < 60
        assert len(server.calls) == 12
        done = ask(server, "--quiet")
        again, _ = result(tmp_path)
        assert (done.returncode, len(server.calls)) == (
            0,
            12 + 8,
        )  # of those kept eight are asked once more
        assert (done.stdout, done.stderr) == ("", "")
        assert again["metrics"] == first["metrics"]
    for outcome in ("added", "same"):
        added = reelbench(
            "leaderboard", "add", tmp_path / "out" / MINI, "--store", tmp_path / "store", "--json"
        )
        assert added.returncode == 0, added.stderr
        (filed,) = json.loads(added.stdout)["results"]
        assert (filed["source"], filed["outcome"]) == (str(tmp_path / "out" / MINI), outcome)
    assert (
        json.loads((Path(filed["place"]) / "result.json").read_text())["model"]["id"] == "org/model"
    )
    built = reelbench(
        "leaderboard", "build", "--store", tmp_path / "store", "--out", tmp_path / "site", "--json"
    )
    page = tmp_path / "site" / "index.html"
    assert json.loads(built.stdout).items() >= {"page": str(page), "runs": 1}.items()
    assert page.is_file()
    (tmp_path / "out" / MINI / "samples.jsonl").write_text("")
    refused = reelbench(
        "leaderboard", "add", tmp_path / "out" / MINI, "--store", tmp_path / "store", "--json"
    )
    assert refused.returncode == 2
    (filed,) = json.loads(refused.stdout)["results"]
    assert (filed["outcome"], filed["place"]) == ("refused", None)
    assert filed["why"] in refused.stderr


def test_questions_without_a_reply_in_time_name_the_options(ask):
    def script(call):
        return Answer("(A)", delay=60 if call.number >= 6 else 0.0)

    with JudgeServer(script) as server:
        done = ask(server, "--llm-timeout", 0.5, "--llm-concurrency", 1, "--no-probe")
    assert done.returncode == 0
    assert (
        "rerun the command to continue; "
        "--llm-timeout S waits longer, --llm-concurrency N sends fewer at once"
    ) in done.stderr


def test_several_benchmarks_share_a_budget_and_a_run_goes_on(ask, tmp_path):
    names = (MINI, "dramaqa_cogme_mini")
    with JudgeServer(lambda _: Answer("(A)")) as server:
        done = ask(server, "--limit", 4, "--llm-budget", 6, "--llm-concurrency", 1, names=names)
        assert (done.returncode, len(server.calls)) == (0, 6)
        assert result(tmp_path, names[1])[0]["counts"]["unscored"] == {"model_failed": 2}
        assert (
            "2 questions are not answered (2 budget); rerun the command to continue" in done.stderr
        )
        done = ask(server, "--limit", 4, names=names)
        assert (done.returncode, len(server.calls)) == (
            0,
            8 + 2,
        )  # those kept that can be read, once more
    whole, samples = result(tmp_path, names[1])
    assert (whole["counts"]["items"], whole["counts"]["scored"], whole["settings"]["limit"]) == (
        4,
        4,
        4,
    )
    assert [sample["prediction"] for sample in samples] == ["(A)"] * 4


@pytest.mark.parametrize(
    ("answer", "prediction"),
    [
        (Answer(GOOD + " is it, I th", finish="length"), GOOD + " is it, I th"),
        (Answer("", finish="stop"), ""),
        (Answer("no idea", finish="stop"), "no idea"),
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
    assert ("`reelbench score NAME --template`" in last) == (line == "sent no whole reply")
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
    assert sent == {
        "response_format": {"type": "text"},
        "max_completion_tokens": 512,
        "reasoning_effort": "low",
    }
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
        "ask",
        "curve_reasoned_mini",
        "--llm",
        "m",
        "--llm-url",
        "http://127.0.0.1:9/v1",
        "--output",
        tmp_path,
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
    for how, line in (
        ("beam:3", "a server gives samples only"),
        ("sample:3", "give beam:K or sample:K,t=T"),
    ):
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
        done = ask(server, "--output", tmp_path / "es" / "out", names=names, env=env)
        assert done.returncode == 0, done.stderr
        record, samples = result(tmp_path / "es", *names)
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


# --- answers that were cut short
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reason", "advice"),
    [
        (Answer("", finish="length"), "cut_off", "--thinking"),
        (Answer(None, finish="length"), "cut_off", "--thinking"),
        (Answer("<think>The man opens the", finish="length"), "cut_off", "--max-tokens N"),
        (Answer("", finish="content_filter"), "refused", "content filter"),
        (Answer("The man opens the", finish="FinishReason.MAX_TOKENS"), "cut_off", "--max-tokens"),
        (Answer("", finish="PROHIBITED_CONTENT"), "refused", "content filter"),
        (Answer(None, message={"refusal": "No."}), "refused", "field for refusals"),
    ],
)
def test_an_answer_that_was_cut_short_is_not_wrong_and_all_of_them_are_a_failure(
    answer, reason, advice, ask, tmp_path
):
    with JudgeServer(lambda _: answer) as server:
        done = ask(server, "--limit", 3, "--json")
        assert (done.returncode, len(server.calls)) == (1, 3), done.stderr
    written, samples = result(tmp_path)
    assert json.loads(done.stdout)["counts"] == written["counts"]
    assert written["counts"]["unscored"] == {reason: 3}
    assert (
        written["counts"]["scored"],
        written["counts"]["parse_failed"],
        written["counts"]["empty"],
    ) == (0, 0, 0)
    assert written["metrics"] == {}
    assert [(sample["state"], sample["reason"], sample["scores"]) for sample in samples] == [
        ("unscored", reason, {})
    ] * 3
    assert advice in done.stderr
    assert "rextime: 3 of 3 answers were" in done.stderr.splitlines()[-1]


def test_some_answers_cut_short_are_one_line_and_no_failure(ask, tmp_path):
    def script(call):
        return Answer("", finish="length") if call.number < 2 else Answer(GOOD)

    with JudgeServer(script) as server:
        done = ask(server, "--limit", 5, "--llm-concurrency", 1)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)[0]["counts"]["unscored"] == {"cut_off": 2}
    (line,) = [line for line in done.stderr.splitlines() if "cut off" in line]
    assert "2 of 5 answers were cut off" in line


def test_an_unknown_end_leaves_what_can_be_read_and_unscores_the_rest(ask, tmp_path):
    def script(call):
        return Answer(GOOD if call.number else "The man opens", finish="by_moonlight")

    with JudgeServer(script) as server:
        done = ask(server, "--limit", 3, "--llm-concurrency", 1)
    assert done.returncode == 0, done.stderr
    counts = result(tmp_path)[0]["counts"]
    assert (counts["scored"], counts["unscored"]) == (2, {"ended_unknown": 1})
    (line,) = [line for line in done.stderr.splitlines() if "'by_moonlight'" in line]
    assert "3 replies of org/model ended by" in line
    assert "1 of 3 answers can't be read" in done.stderr


def test_an_open_answer_that_was_cut_short_is_never_scored(ask, tmp_path):
    with JudgeServer(lambda _: Answer("She leaves because her fa", finish="length")) as server:
        done = ask(server, "--limit", 1, names=("moviecore_mini",))
    assert done.returncode == 1, done.stderr
    assert result(tmp_path, "moviecore_mini")[0]["counts"]["unscored"] == {"cut_off": 1}


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        (("--max-tokens", 9000), {"max_tokens": 9000, "temperature": 0}),
        (("--thinking",), {"max_tokens": 32768}),
        (("--thinking", "--max-tokens", 100), {"max_tokens": 100}),
        (
            ("--thinking", "--candidates", "sample:2,t=0.7"),
            {"max_tokens": 32768, "temperature": 0.7},
        ),
    ],
)
def test_the_limit_is_sent_and_on_record(options, sent, ask, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        done = ask(server, "--limit", 1, *options)
        assert done.returncode == 0, done.stderr
        body = server.calls[0].body
    assert {
        name: value for name, value in body.items() if name not in ("messages", "model")
    } == sent
    assert result(tmp_path)[0]["settings"]["generation"] == sent


NOTHING = [
    {"choices": []},
    {"choices": None},
    {"choices": [{"message": None, "finish_reason": "stop"}]},
    {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]},
    {"choices": [{"message": {"content": 3}, "finish_reason": "stop"}]},
]


@pytest.mark.parametrize("body", NOTHING)
def test_a_reply_without_an_answer_is_none(body, ask, reelbench, tmp_path):
    def script(call):
        return (
            Answer(GOOD)
            if call.number == 0
            else Answer(raw=json.dumps({"model": "m", **body}).encode())
        )

    with JudgeServer(script) as server:
        done = ask(server, "--limit", 2, "--llm-concurrency", 1)
    assert done.returncode == 0, done.stderr
    written, samples = result(tmp_path)
    assert (written["counts"]["scored"], written["counts"]["unscored"]) == (1, {"model_failed": 1})
    assert {sample["reason"] for sample in samples} == {None, "model_failed"}
    added = reelbench("leaderboard", "add", tmp_path / "out" / MINI, "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr


# --- asked again
# ------------------------------------------------------------------------------------------------------


def again(ask, tmp_path, server, *options, only="cut_off", **more):
    """Ask some questions of the first result again, into tmp_path / "again"."""
    return ask(
        server,
        *options,
        "--only",
        only,
        "--from",
        tmp_path / "out" / MINI,
        "--output",
        tmp_path / "again",
        **more,
    )


def test_what_was_cut_off_is_asked_again_into_a_result_of_its_own(ask, reelbench, tmp_path):
    with JudgeServer(
        lambda call: Answer(GOOD) if call.number % 3 else Answer("", finish="length")
    ) as server:
        assert ask(server, "--limit", 6, "--llm-concurrency", 1).returncode == 0
    first, before = result(tmp_path)
    assert first["counts"]["unscored"] == {"cut_off": 2}
    with JudgeServer(lambda _: Answer(GOOD.replace("5", "7"))) as server:
        done = again(ask, tmp_path, server, "--limit", 6, "--thinking")
        assert (done.returncode, len(server.calls)) == (0, 2), done.stderr
        assert again(ask, tmp_path, server, "--limit", 6, "--thinking", "--kept").returncode == 0
        assert len(server.calls) == 2
    folder = tmp_path / "again" / MINI
    second = json.loads((folder / "result.json").read_text())
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    assert (second["counts"]["scored"], second["counts"]["unscored"]) == (6, {})
    assert second["settings"]["generation"] == {"max_tokens": 32768}
    assert second["settings"]["merged"] == {
        "samples_sha256": first["provenance"]["samples_sha256"],
        "only": "cut_off",
        "asked_again": 2,
        "generation": {"max_tokens": 512, "temperature": 0},
    }
    assert [sample["id"] for sample in samples] == [sample["id"] for sample in before]
    for old, new in zip(before, samples, strict=True):
        assert new["parsed"]["span"] == ([0, 7] if old["reason"] else [0, 5])
        assert new == old or old["reason"] == "cut_off"
    assert "merged" not in first["settings"]
    for place in (tmp_path / "out" / MINI, folder):
        added = reelbench("leaderboard", "add", place, "--store", tmp_path / "store", "--json")
        assert added.returncode == 0, added.stderr
        assert [row["outcome"] for row in json.loads(added.stdout)["results"]] == ["added"]
    assert len(list((tmp_path / "store").rglob("result.json"))) == 2


def test_the_same_question_is_asked_once_more_and_not_answered_from_the_cache(ask, tmp_path):
    with JudgeServer(lambda _: Answer("", finish="length")) as server:
        assert ask(server, "--limit", 2).returncode == 1
        assert again(ask, tmp_path, server, "--limit", 2).returncode == 1
        assert len(server.calls) == 4
        server.script(lambda _: Answer(GOOD))
        assert again(ask, tmp_path, server, "--limit", 2).returncode == 0
        assert len(server.calls) == 6
    assert (
        json.loads((tmp_path / "again" / MINI / "result.json").read_text())["counts"]["scored"] == 2
    )


def test_replies_without_text_are_asked_anew_by_the_option_that_the_line_names(ask):
    with JudgeServer(lambda _: Answer("", message={"reasoning": "It is A."})) as server:
        done = ask(server, "--limit", 1)
        assert (done.returncode, len(server.calls)) == (1, 3), done.stderr
        last = done.stderr.splitlines()[-1]
        assert "it is only in reasoning" in last
        assert last.endswith("; then --fresh asks all again")
        server.script(lambda _: Answer(GOOD))
        done = ask(server, "--limit", 1, "--fresh")
        assert (done.returncode, len(server.calls)) == (0, 4), done.stderr


def test_what_ended_for_an_unknown_reason_is_asked_once_more_where_that_is_asked_for(ask, tmp_path):
    with JudgeServer(lambda _: Answer("The man opens", finish="by_moonlight")) as server:
        assert ask(server, "--limit", 2).returncode == 1
        server.script(lambda _: Answer(GOOD))
        assert again(ask, tmp_path, server, "--limit", 2, only="unscored").returncode == 0
        assert len(server.calls) == 4


@pytest.mark.parametrize(
    ("options", "only", "line"),
    [
        ((), "refused", "none of its 2 questions is refused"),
        ((), "sometimes", "give cut_off, refused, unscored, other-judge"),
        (("--limit", 3), "cut_off", "limit"),
        (("--frames", "uniform:2"), "cut_off", "frames"),
        (("--llm", "org/other"), "cut_off", "model org/model"),
        ((), "other-judge", "none of its 2 questions is other-judge"),
    ],
)
def test_what_cant_be_merged_is_refused_in_a_line(options, only, line, *, ask, reelbench, tmp_path):
    with JudgeServer(lambda _: Answer("", finish="length")) as server:
        assert ask(server, "--limit", 2).returncode == 1
        given = {"--llm": "org/model", "--frames": "none", "--limit": 2} | dict(
            zip(options[::2], options[1::2], strict=True)
        )
        words = [word for pair in given.items() for word in pair]
        where = (
            "--llm-url",
            server.url,
            "--only",
            only,
            "--from",
            tmp_path / "out" / MINI,
            "--output",
            tmp_path / "again",
        )
        done = reelbench("ask", MINI, *words, *where)
        assert (done.returncode, len(server.calls)) == (2, 2), done.stderr
    assert line in done.stderr.splitlines()[-1]


def test_only_the_odd_judge_is_asked_again(ask, reelbench, tmp_path):
    def script(call):
        return (
            Answer("{'score': 4}", model="judge-b")
            if call.number % 8 == 5
            else Answer("{'score': 2}", model="judge-a")
        )

    name = "moviechat_mini"
    with JudgeServer(lambda _: Answer("She leaves.")) as server, JudgeServer(script) as judge:
        judged = ("--judge", f"judge@{judge.url}", "--judge-concurrency", 1, "--no-overlap")
        done = ask(server, *judged, names=(name,))
        assert done.returncode == 0, done.stderr
        first, before = result(tmp_path, name)
        odd = [
            sample["id"] for sample in before if sample["judge_replies"][0]["model"] == "judge-b"
        ]
        asked, answered = len(judge.calls), len(server.calls)
        judge.script(lambda _: Answer("{'score': 3}", model="judge-a"))
        where = (
            "--only",
            "other-judge",
            "--from",
            tmp_path / "out" / name,
            "--output",
            tmp_path / "again",
        )
        done = reelbench("ask", name, "--frames", "none", *judged, *where)
        assert done.returncode == 0, done.stderr
        assert (len(judge.calls) - asked, len(server.calls)) == (len(odd), answered)
    second = json.loads((tmp_path / "again" / name / "result.json").read_text())
    assert set(first["judge"]["returned"]) == {"judge-a", "judge-b"}
    assert set(second["judge"]["returned"]) == {"judge-a"}
    samples = [
        json.loads(line)
        for line in (tmp_path / "again" / name / "samples.jsonl").read_text().splitlines()
    ]
    scores = {sample["id"]: sample["scores"]["accuracy"] for sample in samples}
    assert scores == {sample["id"]: 3 if sample["id"] in odd else 2 for sample in before}
    assert (second["settings"]["merged"]["only"], second["settings"]["merged"]["asked_again"]) == (
        "other-judge",
        len(odd),
    )


# --- times of pictures
# ------------------------------------------------------------------------------------------------


def shown(call):
    """What a request shows, in order: the text of each part, or `image`."""
    return [part.get("text", "image") for part in call.body["messages"][0]["content"]]


@pytest.mark.parametrize(
    ("name", "spec", "timed", "recorded"),
    [
        (MINI, "uniform:3", True, "uniform:3,times=text"),
        (MINI, "uniform:3,times=none", False, "uniform:3"),
        ("moviecore_mini", "uniform:3", False, "uniform:3"),
        ("moviecore_mini", "uniform:3,times=text", True, "uniform:3,times=text"),
    ],
)
def test_pictures_carry_their_times_where_answers_are_times(
    name, spec, timed, recorded, *, ask, tmp_path
):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        done = ask(server, "--frames", spec, "--limit", 1, "--no-overlap", names=(name,))
        assert done.returncode == 0, done.stderr
        (call,) = server.calls
    written, (sample,) = result(tmp_path, name)
    assert written["settings"]["frames"] == recorded
    times = sample["frame_timestamps"]
    assert len(times) == 3
    marked = [part for at in times for part in (f"<{at:.1f} seconds>", "image")]
    assert shown(call)[:-1] == (marked if timed else ["image"] * 3)
    said = [line for line in done.stderr.splitlines() if "times=none" in line]
    assert len(said) == (timed and "times" not in spec)


# --- pictures that the model did not see
# ------------------------------------------------------------------------------------------------


def counting(prompt_tokens, **usage):
    """Return a script whose server counts so many tokens of each prompt."""
    return lambda _: Answer(GOOD, usage={"prompt_tokens": prompt_tokens} | usage)


def test_answers_to_pictures_that_were_not_seen_are_unscored_and_asked_again(ask, tmp_path):
    seen = ("--frames", "uniform:4", "--limit", 2)
    with JudgeServer(counting(3)) as server:
        done = ask(server, *seen)
        assert (done.returncode, len(server.calls)) == (1, 2), done.stderr
        written, samples = result(tmp_path)
        assert written["counts"]["unscored"] == {"media_not_seen": 2}
        assert [sample["scores"] for sample in samples] == [{}, {}]
        (line,) = [line for line in done.stderr.splitlines() if "fewer tokens" in line]
        assert "2 of 2 answers are not scored" in line
        assert "num_ctx" in line
        assert line.endswith("(the first: 4 pictures, 3 tokens)")
        server.script(counting(400))
        done = again(ask, tmp_path, server, *seen, only="unscored")
        assert (done.returncode, len(server.calls)) == (0, 4), done.stderr


@pytest.mark.parametrize(
    ("frames", "script"),
    [
        ("uniform:4", counting(4)),  # a token a picture
        ("uniform:4", counting(0)),  # a server that counts none
        ("uniform:4", counting(3, prompt_tokens_details={"cached_tokens": 900})),
        ("uniform:4,as=clip", counting(1)),
        ("none", counting(1)),
    ],
)
def test_no_server_is_accused_that_may_have_passed_all_on(frames, script, ask, tmp_path):
    with JudgeServer(script) as server:
        done = ask(server, "--frames", frames, "--limit", 1)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)[0]["counts"]["unscored"] == {}


@pytest.mark.parametrize(
    ("frames", "tokens", "unverified"),
    [("uniform:2", 0, 1), ("uniform:2", 100, 0), ("none", 0, 0)],
)
def test_a_server_that_counts_no_tokens_leaves_pictures_unverified(
    frames, tokens, unverified, ask, tmp_path
):
    with JudgeServer(counting(tokens), plays_all=True) as server:
        done = ask(server, "--frames", frames, "--limit", 2)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)[0]["counts"]["scored"] == 2
    assert done.stderr.count("not verified that the model saw its pictures") == unverified


@pytest.mark.parametrize(("tokens_of_more", "told"), [(1000, True), (1001, False), (0, False)])
def test_two_numbers_of_frames_of_equal_tokens_are_named_by_compare(
    tokens_of_more, told, ask, reelbench, tmp_path
):
    def script(call):
        is_more = len(call.body["messages"][0]["content"]) > 5
        return counting(tokens_of_more if is_more else 1000)(call)

    folders = [tmp_path / "few", tmp_path / "many"]
    with JudgeServer(script) as server:
        for frames, folder in zip((2, 8), folders, strict=True):
            more = ("--frames", f"uniform:{frames}", "--output", folder)
            assert ask(server, *more).returncode == 0
    done = reelbench("compare", *(folder / MINI for folder in folders))
    assert done.returncode == 0, done.stderr
    line = "8 frames a question have no more tokens than 2, by the server's count (1,000 and 1,000)"
    assert (line in done.stderr) == told


def test_some_answers_that_saw_too_little_are_a_line_and_no_failure(ask, tmp_path):
    def script(call):
        return counting(400 if call.number else 3)(call)

    with JudgeServer(script) as server:
        done = ask(server, "--frames", "uniform:4", "--limit", 3, "--llm-concurrency", 1)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)[0]["counts"]["unscored"] == {"media_not_seen": 1}
    assert "1 of 3 answers are not scored: the server counted fewer tokens" in done.stderr


def counts_of(prompt_tokens):
    """Return a script whose server counts so many tokens of the prompts, in turn."""
    return lambda call: counting(prompt_tokens[call.number % len(prompt_tokens)])(call)


@pytest.mark.parametrize("left", [4096, 2050])
def test_prompts_that_the_server_cut_are_unscored_unranked_and_asked_again(left, ask, tmp_path):
    with JudgeServer(counting(left)) as server:
        done = ask(server, "--frames", "uniform:4")
        assert done.returncode == 1, done.stderr
        written, samples = result(tmp_path)
        assert written["counts"]["unscored"] == {"prompt_cut": 12}
        assert {sample["state"] for sample in samples} == {"unscored"}
        (line,) = [line for line in done.stderr.splitlines() if "cut their prompts" in line]
        assert "12 of 12 answers are not scored" in line
        assert "OLLAMA_CONTEXT_LENGTH" in line
        assert line.endswith(f"(the first: 4 pictures, {left:,} tokens)")
        assert len(server.calls) == 12
        server.script(counts_of(range(1100, 1112)))
        done = again(ask, tmp_path, server, "--frames", "uniform:4", only="unscored")
        assert (done.returncode, len(server.calls)) == (0, 24), done.stderr


def test_a_run_with_cut_prompts_is_listed_and_not_ranked(ask, reelbench, tmp_path):
    prompt_tokens = [*range(1100, 1108), 4096, 4096, 4096, 4096]
    with JudgeServer(counts_of(prompt_tokens)) as server:
        done = ask(server, "--frames", "uniform:4", "--llm-concurrency", 1)
    assert done.returncode == 0, done.stderr
    assert result(tmp_path)[0]["counts"]["unscored"] == {"prompt_cut": 4}
    assert "4 of 12 answers are not scored: the server cut their prompts" in done.stderr
    store = tmp_path / "store"
    added = reelbench("leaderboard", "add", tmp_path / "out" / MINI, "--store", store)
    assert added.returncode == 0, added.stderr
    site = ("leaderboard", "build", "--store", store, "--out", tmp_path / "site")
    assert reelbench(*site).returncode == 0
    board = (tmp_path / "site" / "downloads" / "leaderboard.json").read_text()
    assert "the server cut prompts, by the tokens: 4 of 12" in board


@pytest.fixture
def riddles(tmp_path):
    """A benchmark of 60 questions in words alone, each longer than the one before."""
    folder = tmp_path / "riddles"
    folder.mkdir()
    rows = [
        {"id": f"q{n}", "video": "v", "question": f"What is {'not ' * n}so?", "answer": "It"}
        for n in range(60)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "benchmark.yaml").write_text(
        "id: riddles\ntitle: Riddles\nkind: exact\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: question, answer: answer}\n"
    )
    return folder


def test_a_server_that_cuts_every_prompt_is_not_asked_to_the_end(ask, riddles):
    with JudgeServer(counting(2050)) as server:
        done = ask(server, names=(riddles,))
        assert len(server.calls) <= 32  # 20, and those that were on their way
    assert done.returncode == 1, done.stderr
    assert "prompt_cut" in done.stderr
    assert "--keep-going" in done.stderr


@pytest.mark.parametrize(
    ("modalities", "frames", "asked"),
    [
        (["text"], "uniform:2", 0),
        (["text"], "none", 1),
        (["text", "image"], "uniform:2", 1),
        ([], "uniform:2", 1),
        ("text", "uniform:2", 1),
    ],
)
def test_a_model_that_takes_text_alone_by_its_server_is_not_shown_pictures(
    modalities, frames, asked, ask
):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        server.list_models({"id": "org/model", "architecture": {"input_modalities": modalities}})
        done = ask(server, "--frames", frames, "--limit", 1)
        assert len(server.calls) == asked
    assert (done.returncode == 0) == bool(asked), done.stderr
    assert ("reports a text-only model" in done.stderr) == (not asked)
    assert ("--frames none" in done.stderr and "--mmproj" in done.stderr) == (not asked)


# --- subtitles
# --------------------------------------------------------------------------------------------------------


@pytest.fixture
def subtitled(reelbench_home):
    """The mini clips' folder with subtitles of one film, on which three questions are."""
    folder = reelbench_home / "mini" / "rextime"
    folder.mkdir(parents=True)
    (folder / "v_square00001.srt").write_text(
        "1\n00:00:01,000 --> 00:00:04,000\nIt moves.\n\n2\n00:00:06,000 --> 00:00:08,500\nIt rests.\n",
        encoding="utf-8",
    )


@pytest.mark.parametrize(
    ("spec", "lines"),
    [
        ("none,subs=file", ["<1.0-4.0 seconds> It moves.", "<6.0-8.5 seconds> It rests."]),
        ("window:3-7,2,subs=file", ["<3.0-4.0 seconds> It moves.", "<6.0-7.0 seconds> It rests."]),
        ("window:4-6,2,subs=file", []),
    ],
)
@pytest.mark.usefixtures("subtitled")
def test_subtitles_stand_before_the_question_and_on_record(spec, lines, ask, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        done = ask(server, "--frames", spec, "--limit", 4, "--llm-concurrency", 1)
        assert done.returncode == 0, done.stderr
        parts = shown(next(call for call in server.calls if "far side" in json.dumps(call.body)))
        others = [shown(call)[-1] for call in server.calls if "square" not in json.dumps(call.body)]
    assert parts[-1].startswith(
        "\n".join(["Subtitles:", *lines, "", ""]) if lines else "The video lasts"
    )
    assert all("Subtitles:" not in text for text in others)
    assert "of 4 questions have no subtitles beside their video" in done.stderr
    written, samples = result(tmp_path)
    assert "subs=file" in written["settings"]["frames"].split(",")
    assert [sample["subtitles"] for sample in samples] == [len(lines)] * 3 + [0]
    settings = SettingsRecord.model_validate(written["settings"])
    assert protocol(discovery.get("rextime"), settings) == "subs=file"


def test_where_no_video_has_subtitles_nothing_is_asked(ask):
    with JudgeServer(lambda _: Answer(GOOD)) as server:
        done = ask(server, "--frames", "uniform:2,subs=file")
        assert (done.returncode, len(server.calls)) == (2, 0)
    assert (
        "subs=file: no video has a .srt or .vtt beside it (first: v_square00001"
        in done.stderr.splitlines()[-1]
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--frames", "uniform:2"), "has a result with frames none, not uniform:2,times=text"),
        (("--label", "web search"), "has a result with label None, not web search"),
        (("--max-tokens", 64), "has a result with max_tokens 512, not 64"),
        (("--limit", 2), "has 12 answers, and this result would have 2"),
    ],
)
def test_a_result_made_otherwise_or_with_more_answers_is_not_overwritten(
    options, said, ask, tmp_path
):
    with JudgeServer(answering) as server:
        assert ask(server).returncode == 0
        kept = result(tmp_path)
        done = ask(server, *options)
        assert (done.returncode, len(server.calls)) == (2, 12)  # nothing is paid for
    assert f"{tmp_path / 'out' / MINI}: {said}; give this one its own --output" in done.stderr
    assert result(tmp_path) == kept


def test_a_result_grows_into_more_questions_and_into_a_judged_one_and_not_back(ask, tmp_path):
    film = "moviecore_mini"

    def script(call):
        return Answer('{"score": 3}' if call.body["model"] == "judge" else "A fox.")

    with JudgeServer(script) as server:
        judged = ("--judge", "judge", "--judge-url", server.url, "--no-overlap")
        for options in (("--limit", 2), (), judged, judged):
            done = ask(
                server, *options, "--no-overlap" if options != judged else "--quiet", names=[film]
            )
            assert done.returncode == 0, done.stderr
        kept = result(tmp_path, film)
        assert (kept[0]["judge"]["requested"], kept[0]["counts"]["scored"]) == ("judge", 12)
        paid = len(server.calls)
        done = ask(server, "--no-overlap", names=[film])
        assert (done.returncode, len(server.calls)) == (2, paid)
    assert (
        f"{tmp_path / 'out' / film}: the answers there were judged by judge; name the judge again"
        in done.stderr
    )
    assert result(tmp_path, film) == kept


def test_another_model_s_result_is_not_overwritten(ask, reelbench, tmp_path):
    with JudgeServer(answering) as server:
        assert ask(server, "--limit", 1).returncode == 0
        kept = result(tmp_path)
        other = ("--llm", "org/other", "--llm-url", server.url, "--frames", "none", "--limit", 1)
        done = reelbench("ask", MINI, *other, "--output", tmp_path / "out")
        assert (done.returncode, len(server.calls)) == (2, 1)
    place = tmp_path / "out" / MINI
    assert f"{place}: has the result of org/model; give org/other its own --output" in done.stderr
    assert result(tmp_path) == kept


@pytest.fixture
def without_video(tmp_path, monkeypatch):
    """ReXTime's data, and no video."""
    row = {
        "qid": "1",
        "vid": "gone",
        "duration": 9,
        "question": "Why?",
        "options": list("abcd"),
        "span": [0, 3],
    }
    (tmp_path / "rextime_val.json").write_text(json.dumps([row | {"ans": "A"}]), encoding="utf-8")
    monkeypatch.setenv("REELBENCH_DATA_REXTIME", str(tmp_path))
    return tmp_path


def test_where_no_video_is_here_it_says_where_it_looked_and_asks_nothing(without_video, reelbench):
    with JudgeServer(answering) as server:
        model = ("--llm", "org/model", "--llm-url", server.url)
        done = reelbench(
            "ask", "rextime", *model, "--frames", "uniform:2", "--output", without_video / "out"
        )
        assert (done.returncode, server.calls) == (1, [])
    (line,) = done.stderr.splitlines()
    assert "1 of 1 questions are not asked" in line
    assert f"(first: gone; looked in {without_video}, " in line


def test_run_looks_for_data_and_videos_before_lmms_eval_is_started(without_video, reelbench):
    tasks = (
        "--tasks",
        "rextime,dramaqa_cogme",
        "--model",
        "openai",
        "--output_path",
        without_video / "out",
    )
    done = reelbench("run", "--", *tasks)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("reelbench: nothing to run: dramaqa_cogme: ")
    assert (
        f"; rextime: none of its videos is here (first: gone; looked in {without_video}, " in line
    )


def test_two_models_behind_one_name_are_said_and_recorded(ask, tmp_path):
    """As OpenRouter answers where a model is away: its reply names another."""

    def fallback(call):
        return Answer(GOOD, model="b/small" if call.number < 3 else "org/model")

    with JudgeServer(fallback) as server:
        done = ask(server)
    assert done.returncode == 0, done.stderr
    assert "answered under several ids (3 by b/small, 9 by org/model)" in done.stderr
    recorded = result(tmp_path)[0]["provenance"]["asked"]["returned"]
    assert recorded == {"b/small": 3, "org/model": 9}


@pytest.mark.parametrize("name", ["org/model", "org/model-2026-03-01", "/srv/weights/q.gguf"])
def test_one_model_under_another_id_is_recorded(name, ask, tmp_path):
    with JudgeServer(lambda _: Answer(GOOD, model=name)) as server:
        done = ask(server)
    assert "several ids" not in done.stderr
    recorded = result(tmp_path)[0]["provenance"]["asked"]["returned"]
    assert recorded == {name.removeprefix("/srv/weights/"): 12}
