# pyright: reportOptionalOperand=false
"""Kept answers of an asked model are said, dated and checked: two checkpoints, one name, one address."""

import json
import re

import pytest

from tests.rooms import ROOT
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
DAY = r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}"


def checkpoint(letter, root=None):
    """What plays one checkpoint: its answers, and its entry in the list of models; without `root` there is no list."""
    listed = {"id": "my-ckpt", "owned_by": "vllm", "root": root, "max_model_len": 4096}
    return (lambda _: Answer(json.dumps({"span": [0, 5], "answer": letter}))), (
        listed if root else None
    )


@pytest.fixture
def asked(reelbench, tmp_path):
    """Ask the checkpoint that is served now, at one address."""

    def run(server, out, *options, url=None):
        where = (
            "--llm",
            "my-ckpt",
            "--llm-url",
            url or server.url,
            "--frames",
            "none",
            "--output",
            tmp_path / out,
        )
        return reelbench("ask", MINI, *where, "--no-overlap", *options)

    return run


def serve(server, script, listed):
    server.script(script)
    if listed is not None:
        # vLLM makes these anew at each request: they say nothing of the weights.
        server.list_models(
            {**listed, "created": len(server.calls), "permission": [{"id": f"p{server.listed}"}]}
        )


def how(tmp_path, out):
    return json.loads((tmp_path / out / MINI / "result.json").read_text())["provenance"]["asked"]


def predictions(tmp_path, out):
    lines = (tmp_path / out / MINI / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    return {json.loads(line)["parsed"]["answer"] for line in lines}


def test_what_is_asked_and_kept_is_said_dated_and_recorded(asked, tmp_path):
    with JudgeServer() as server:
        serve(server, *checkpoint("A", "/models/step1000"))
        first = asked(server, "ck1")
        assert "my-ckpt: 12 asked, 0 kept\n" in first.stdout
        recorded = how(tmp_path, "ck1")
        assert 4 <= recorded.pop("in_flight") <= 12
        assert recorded.pop("per_second") > 0
        assert recorded.pop("states") == {"context": 4096, "software": "vLLM"}
        assert recorded == {
            "asked": 12,
            "kept": 0,
            "kept_from": None,
            "kept_to": None,
            "server": server.url[7:-3],
            "revision": None,
            "served": {
                "id": "my-ckpt",
                "root": "step1000",
                "owned_by": "vllm",
                "max_model_len": 4096,
            },
            "returned": {"my-ckpt-0001": 12},
            "rechecked": [],
        }
        again = asked(server, "again")
        said = rf"my-ckpt: 0 asked, 12 kept from {DAY}; 8 of these re-checked: the same\n"
        assert re.search(said, again.stdout)
        assert len(server.calls) == 20
        record = how(tmp_path, "again")
        assert (record["asked"], record["kept"]) == (0, 12)
        assert "unlike" not in record
        assert len(set(record["rechecked"])) == 8
        assert record["kept_from"] <= record["kept_to"]
        assert asked(server, "unchecked", "--no-recheck").returncode == 0
        assert len(server.calls) == 20


def test_what_a_server_says_of_its_model_is_recorded_without_the_key_and_within_bounds(
    asked, tmp_path, monkeypatch
):
    monkeypatch.setenv("REELBENCH_LLM_API_KEY", "planted-key-0123456789")
    with JudgeServer() as server:
        script, listed = checkpoint("A", "\x1b" + "x" * 5000)
        serve(
            server,
            script,
            listed | {"owned_by": "Bearer planted-key-0123456789", "max_model_len": float("nan")},
        )
        assert asked(server, "ck1").returncode == 0
        assert asked(server, "again", "--no-recheck").returncode == 0
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or b"planted-key" not in file.read_bytes(), file
    served = how(tmp_path, "ck1")["served"]
    assert set(served) == {"id", "root", "owned_by"}
    assert len(served["root"]) == 200
    assert served["root"].startswith("\\x1bxxx")


@pytest.mark.parametrize("roots", [("/models/step1000", "/models/step2000"), (None, None)])
def test_a_second_checkpoint_under_the_same_name_at_the_same_address_is_not_the_first(
    asked, tmp_path, roots
):
    with JudgeServer() as server:
        serve(server, *checkpoint("A", roots[0]))
        assert asked(server, "ck1").returncode == 0
        serve(server, *checkpoint("B", roots[1]))
        done = asked(server, "ck2")
        assert done.returncode == 1
        assert not (tmp_path / "ck2").exists()
        assert "--fresh asks all again and keeps both, --kept takes the kept answers" in done.stderr
        if roots[0]:
            assert "root was /models/step1000, is /models/step2000" in done.stderr
            assert len(server.calls) == 12
        else:
            assert (
                "answers differently now: 8 of 8 asked again, each with one new answer four times"
                in done.stderr
            )
            assert len(server.calls) == 12 + 8 * 4
        before = len(server.calls)
        fresh = asked(server, "ck2", "--fresh")
        assert "my-ckpt: 12 asked, 0 kept" in fresh.stdout
        assert len(server.calls) == before + 12
        assert (predictions(tmp_path, "ck1"), predictions(tmp_path, "ck2")) == ({"A"}, {"B"})
        assert "0 asked, 12 kept" in asked(server, "ck2 again").stdout
        assert predictions(tmp_path, "ck2 again") == {"B"}
        taken = asked(server, "as they are", "--kept")
        assert "0 asked, 12 kept" in taken.stdout
        assert predictions(tmp_path, "as they are") == {"A"}
        if roots[0]:  # both stay: the first one, served again, is paid for nothing
            serve(server, *checkpoint("A", roots[0]))
            assert "0 asked, 12 kept" in asked(server, "ck1 again").stdout
            assert predictions(tmp_path, "ck1 again") == {"A"}


@pytest.fixture
def checkpoint_wrong_at():
    """A script of a checkpoint that answers rextime's mini questions rightly, but for those at some places."""
    rows = json.loads(
        (ROOT / "reelbench/tasks/rextime/mini/rextime_val.json").read_text(encoding="utf-8")
    )
    asks = [
        re.compile(".*".join(map(re.escape, [row["question"], *row["options"]])), re.DOTALL)
        for row in rows
    ]

    def checkpoint(*places, once=False):
        left = dict.fromkeys(places, 1 if once else 9)

        def script(call):  # the answers are A, B, C, D, A and so on
            text = call.body["messages"][0]["content"][-1]["text"]
            (number,) = (place for place, words in enumerate(asks) if words.search(text))
            wrong = left.get(number, 0) > 0
            left[number] = left.get(number, 0) - wrong
            return Answer(json.dumps({"span": [0, 5], "answer": "ABCD"[(number + wrong) % 4]}))

        return script

    return checkpoint


def test_a_server_that_differs_from_itself_now_and_then_is_no_other_model(
    asked, tmp_path, checkpoint_wrong_at
):
    with JudgeServer() as server:
        serve(server, checkpoint_wrong_at(), None)
        assert asked(server, "ck1").returncode == 0
        serve(server, checkpoint_wrong_at(*range(12), once=True), None)
        done = asked(server, "again")
        assert done.returncode == 0, done.stderr
        assert "8 of these re-checked: 0 the same, 8 otherwise\n" in done.stdout
        assert len(how(tmp_path, "again")["unlike"]) == 8
        # The second time none is as it was the first time, so none is asked a third time.
        assert len(server.calls) == 12 + 8 + 8


def test_one_firm_difference_is_marked_and_ends_nothing(asked, tmp_path, checkpoint_wrong_at):
    with JudgeServer() as server:
        serve(server, checkpoint_wrong_at(), None)
        assert asked(server, "ck1").returncode == 0
        checked = asked(server, "again")
        assert checked.returncode == 0
        [first, *_] = how(tmp_path, "again")["rechecked"]
        serve(server, checkpoint_wrong_at(int(first.removeprefix("mini")) - 1), None)
        done = asked(server, "once more")
        assert done.returncode == 0, done.stderr
        assert "otherwise (1 each time)" in done.stdout
        assert how(tmp_path, "once more")["firmly_unlike"] == [first]


def test_of_a_run_that_goes_on_what_was_kept_is_asked_once_more_not_what_was_asked_now(asked):
    with JudgeServer() as server:
        serve(server, *checkpoint("A"))
        assert asked(server, "ck1", "--llm-budget", 1, "--llm-concurrency", 1).returncode == 0
        serve(server, *checkpoint("B"))
        done = asked(server, "ck2")
        # Under eight kept answers decide nothing: the run goes on, and says what was seen.
        assert done.returncode == 0, done.stderr
        assert "1 of these re-checked: 0 the same, 1 otherwise (1 each" in done.stdout


def test_a_run_that_goes_on_and_ends_by_its_budget_again_writes_what_it_has(asked, tmp_path):
    with JudgeServer() as server:
        serve(server, *checkpoint("A"))
        for out in ("ck1", "ck2"):
            done = asked(server, out, "--llm-budget", 3, "--llm-concurrency", 1)
            assert done.returncode == 0, done.stderr
            assert "rerun the command to continue" in done.stderr
        assert len(server.calls) == 6
        assert (how(tmp_path, "ck2")["asked"], how(tmp_path, "ck2")["kept"]) == (3, 3)


@pytest.mark.parametrize(("kept", "ends"), [(9, True), (7, False)])
def test_half_a_run_of_a_listed_model_is_asked_once_more(asked, tmp_path, kept, ends):
    """Another's weights in the same place: the list says nothing of them."""
    listed = "/models/step1000"
    with JudgeServer() as server:
        serve(server, *checkpoint("A", listed))
        asked(server, "ck1", "--llm-budget", kept, "--llm-concurrency", 1)
        serve(server, *checkpoint("B", listed))
        done = asked(server, "ck2")
        assert done.returncode == int(ends), done.stderr
        if ends:
            assert (
                "answers differently now: 8 of 8 asked again, each with one new answer four times"
                in done.stderr
            )
            assert not (tmp_path / "ck2").exists()
        else:
            assert "7 of these re-checked: 0 the same, 7 otherwise" in done.stdout


def test_a_difference_within_the_noise_of_the_server_is_told(
    asked, reelbench, tmp_path, checkpoint_wrong_at
):
    with JudgeServer() as server:
        serve(server, checkpoint_wrong_at(), None)
        asked(server, "right")
        asked(server, "again")
        [first, *_] = how(tmp_path, "again")["rechecked"]
        serve(server, checkpoint_wrong_at(int(first.removeprefix("mini")) - 1, once=True), None)
        asked(server, "noisy")
        serve(server, checkpoint_wrong_at(*range(11)), None)
        asked(server, "worse", "--fresh")
    told: list[bool] = []
    for other in ("right", "worse"):
        done = reelbench("compare", tmp_path / "noisy" / MINI, tmp_path / other / MINI)
        words = "of a's 8 kept answers that were asked once more 1 gave a different answer"
        told.append(words in done.stderr)
    assert told == [True, False]


def test_a_revision_that_is_stated_parts_answers(asked, tmp_path):
    about = tmp_path / "about.yaml"
    about.write_text("revision: step2000\n")
    with JudgeServer() as server:
        serve(server, *checkpoint("A"))
        assert asked(server, "ck1").returncode == 0
        done = asked(server, "ck2", "--about", about)
        assert (done.returncode, len(server.calls)) == (1, 12)
        assert "revision was not stated, is step2000" in done.stderr
        done = asked(server, "ck2", "--about", about, "--fresh")
        assert (done.returncode, len(server.calls)) == (0, 24)
        assert how(tmp_path, "ck2")["revision"] == "step2000"


def test_where_no_server_can_be_asked_kept_answers_count_only_if_that_is_said(asked, tmp_path):
    with JudgeServer() as server:
        serve(server, *checkpoint("A", "/models/step1000"))
        assert asked(server, "ck1").returncode == 0
        url = server.url
    done = asked(None, "ck2", url=url)
    assert done.returncode == 1
    assert re.search(
        rf"12 kept answers of my-ckpt from {DAY}; the server does not answer", done.stderr
    )
    assert "--kept takes them" in done.stderr
    assert not (tmp_path / "ck2").exists()
    done = asked(None, "ck2", "--kept", url=url)
    assert done.returncode == 0
    assert re.search(rf"my-ckpt: 0 asked, 12 kept from {DAY}\n", done.stdout)


def test_a_run_that_was_stopped_goes_on_and_so_does_one_that_asks_anew(asked, tmp_path):
    with JudgeServer() as server:
        serve(server, *checkpoint("A", "/models/step1000"))
        assert asked(server, "ck1").returncode == 0
        serve(
            server, *checkpoint("B", "/models/step1000")
        )  # another one's weights in the same place
        assert (
            asked(server, "ck2", "--fresh", "--llm-budget", 5, "--llm-concurrency", 1).returncode
            == 0
        )
        done = asked(server, "ck2")
        assert "my-ckpt: 7 asked, 5 kept" in done.stdout
        assert len(server.calls) == 12 + 12 + 5  # what was kept is asked once more
        assert predictions(tmp_path, "ck2") == {"B"}


def test_kept_samples_at_a_temperature_need_a_server_that_says_what_it_serves(asked):
    with JudgeServer() as server:
        warm = ("--llm-extra", '{"temperature": 0.7}')
        serve(server, *checkpoint("A"))
        assert asked(server, "ck1", *warm).returncode == 0
        done = asked(server, "ck2", *warm)
        assert (done.returncode, len(server.calls)) == (1, 12)
        assert "doesn't say what it serves (/v1/models)" in done.stderr
        serve(server, *checkpoint("A", "/models/step1000"))
        assert asked(server, "ck2", *warm).returncode == 0  # nothing says that it is another


def test_two_ways_at_once_are_refused(asked):
    done = asked(None, "out", "--kept", "--fresh", url="http://127.0.0.1:1/v1")
    assert (done.returncode, done.stderr) == (
        2,
        "reelbench: --kept and --fresh: give one of them\n",
    )
