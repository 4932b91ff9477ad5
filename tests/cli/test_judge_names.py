"""The names that results have for judges: no path is filed, and what is asked can be added."""

import json

import pytest

from reelbench import registry
from tests.servers.judge import Answer, JudgeServer, always
from tests.tasks.test_score_offline import predictions

MOVIECORE = registry.specs()["moviecore"]
HUB = "/home/xyzzy/.cache/huggingface/hub/models--org--judge/snapshots/" + "0a" * 20


@pytest.fixture
def scoring(reelbench, tmp_path):
    """Score answers by a judge, which returns the name that it is asked by; add the result."""
    path = predictions(tmp_path / "predictions.json", MOVIECORE)

    def run(*judge):
        with JudgeServer(lambda call: Answer('{"score": 1}', model=call.body["model"])) as server:
            words = ("--predictions", path, "--split", "mini", "--no-overlap")
            output = ("--output", tmp_path / "out", "--model", "m")
            url = ("--judge-url", server.url)
            done = reelbench("score", "moviecore", *words, *output, *url, *judge)
            return done, [call.body["model"] for call in server.calls]

    return run


@pytest.mark.parametrize(
    ("judge", "filed"),
    [
        (("--judge", "/xyzzy/judge/final"), "judge"),
        (("--judge", "C:\\xyzzy\\judge"), "judge"),
        (("--judge", HUB), "org/judge"),
        (("--judge", "/home/xyzzy", "--judge-name", "Ours"), "Ours"),
        (("--judge", "/xyzzy/one,/xyzzy/two"), "one,two"),
        (("--judge", "/xyzzy/a/q,/xyzzy/b/q", "--judge-name", "x,y"), "x,y"),
    ],
)
def test_a_judge_named_by_a_path_is_filed_without_it_and_added(
    judge, filed, scoring, reelbench, tmp_path
):
    done, sent = scoring(*judge)
    assert done.returncode == 0, done.stderr
    assert set(sent) == set(judge[1].split(","))
    result = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))
    record = result["judge"]
    members = record.get("panel") or [record]
    assert record["requested"] == filed
    assert [list(member["returned"]) for member in members] == [[name] for name in filed.split(",")]
    assert all(member["renamed"] for member in members)
    added = reelbench("leaderboard", "add", tmp_path / "out", "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr
    built = reelbench(
        "leaderboard", "build", "--store", tmp_path / "store", "--out", tmp_path / "b"
    )
    assert built.returncode == 0, built.stderr
    for place in (tmp_path / "out", tmp_path / "store", tmp_path / "b"):
        for file in place.rglob("*"):
            assert not file.is_file() or b"xyzzy" not in file.read_bytes(), file


def test_a_renamed_judge_is_asked_again_by_the_name_that_was_sent(scoring, reelbench, tmp_path):
    done, _ = scoring("--judge", "/xyzzy/judge/final")
    assert done.returncode == 0, done.stderr
    names = []
    for home in (None, tmp_path / "another machine"):
        with JudgeServer(always('{"score": 1}')) as server:
            again = ("--rejudge", 2, "--judge-url", server.url)
            store = tmp_path / f"store {home is None}"
            env = {} if home is None else {"REELBENCH_HOME": str(home)}
            added = reelbench(
                "leaderboard", "add", tmp_path / "out", "--store", store, *again, env=env
            )
            assert added.returncode == 0, added.stderr
            names.append({call.body["model"] for call in server.calls})
        is_told = "was asked under another name that this machine doesn't have" in added.stderr
        assert is_told == (home is not None)
    assert names == [{"/xyzzy/judge/final"}, {"judge"}]


@pytest.mark.parametrize(
    ("judge", "line"),
    [
        (("--judge", "/home/ada"), "--judge-name NAME"),
        (("--judge", "/a/q,/b/q"), "--judge-name NAME,NAME tells them apart"),
        (("--judge", "a,b", "--judge-name", "x"), "1 for 2 of --judge"),
        (("--judge", "gpt\u0430"), "looks like another letter"),
        (("--judge", "m", "--judge-name", "a + b"), "would make it pass for other judges"),
    ],
)
def test_a_judge_whose_name_does_not_tell_ends_in_a_line_before_a_call(judge, line, scoring):
    done, sent = scoring(*judge)
    assert (done.returncode, done.stderr.count("\n"), sent) == (2, 1, [])
    assert line in done.stderr
