# pyright: reportOptionalSubscript=false, reportOptionalMemberAccess=false
"""A panel: three judges of known rules, one of which is stricter; scores, agreement and numbers by hand."""

import json
from pathlib import Path
from statistics import mean

import pytest

from reelbench.base.errors import InputError
from reelbench.judges.judge_options import JudgeOptions
from reelbench.registry import discovery
from reelbench.scoring import panel_agreement, result_files
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
SCORES = {"mild": 5, "fair": 4, "strict": 0}


def by_name(call):
    return Answer(json.dumps({"score": SCORES[call.body["model"]]}))


@pytest.fixture
def judged(reelbench, tmp_path):
    def run(server, judge, *options, folder="out", returncode=0):
        named = (
            "--judge",
            judge,
            "--judge-url",
            server.url,
            "--no-overlap",
            "--output",
            tmp_path / folder,
        )
        done = reelbench(*MOVIECORE, *named, "--json", *options)
        assert done.returncode == returncode, done.stderr
        record = json.loads((tmp_path / folder / "result.json").read_text())
        samples = [
            json.loads(line)
            for line in (tmp_path / folder / "samples.jsonl").read_text().splitlines()
        ]
        return record, samples, done

    return run


@pytest.mark.parametrize(("rule", "score"), [("mean", 3.0), ("median", 4.0)])
def test_three_judges(judged, rule, score):
    with JudgeServer(by_name) as server:
        record, samples, _ = judged(server, "strict,mild,fair", "--judge-vote-rule", rule)
        assert len(server.calls) == 165
        again, _, _ = judged(
            server, "fair, strict ,mild", "--judge-vote-rule", rule, folder="again"
        )
        judged(server, "mild", folder="alone")  # its replies are the same, in a panel or alone
        assert len(server.calls) == 165
    judge = record["judge"]
    assert (judge["requested"], again["judge"]["requested"]) == (
        "fair,mild,strict",
        "fair,mild,strict",
    )
    assert (judge["panel_rule"], judge["calls"]) == (rule, 165)
    answered = [sample for sample in samples if sample["judge_replies"]]
    assert len(answered) == 11
    for sample in answered:
        assert len(sample["judge_replies"]) == 15
        assert {reply["judge"] for reply in sample["judge_replies"]} == set(SCORES)
        assert set(sample["scores"].values()) == {score}
    blank = (
        len([s for s in samples if s["state"] == "scored"]) - 11
    )  # nobody is asked about a blank answer: 0
    n = 11 + blank
    assert record["metrics"]["accuracy_per_question"]["value"] == pytest.approx(score * 11 / n)
    by_judge = {
        member["requested"]: member["metrics"]["accuracy_per_question"]["value"]
        for member in judge["panel"]
    }
    assert by_judge == {name: pytest.approx(given * 11 / n) for name, given in SCORES.items()}


def test_agreement_is_krippendorffs_alpha(judged):
    """Two judges that agree on all items but one; alpha as the package `krippendorff` gives it."""

    def script(call):
        differs = (
            call.body["model"] == "b"
            and call.user.count("?")
            and "Dimension: accuracy" in call.system
        )
        return Answer(
            json.dumps({"score": 1 if differs and not seen.append(1) and len(seen) == 1 else 3})
        )

    seen = []
    with JudgeServer(script) as server:
        record, _, _ = judged(server, "a,b", "--judge-concurrency", "1")
    agreement = record["judge"]["agreement"]
    # 11 units, one of (3, 1): observed disagreement 2 of 22, expected 2*21/21 of 22 -> alpha = 1 -
    # 1/1 = 0.
    assert agreement["accuracy"] == pytest.approx(0.0)
    assert agreement["depth"] is None  # all the same: undefined


def test_what_judges_say_of_a_blank_answer_is_no_agreement(judged, tmp_path):
    with JudgeServer(by_name) as server:
        judged(server, "mild,fair,strict")
    record = result_files.read(tmp_path / "out").judge
    samples = list(result_files.read_samples(tmp_path / "out"))
    at = next(at for at, sample in enumerate(samples) if sample.judge_replies)
    samples[at] = samples[at].model_copy(update={"prediction": " "})
    # 5, 4 and 0 in 10 units: of steps 100, 100 and 400, 200 observed and 2 * 100 * 600 / (30 * 29)
    # expected.
    completed = panel_agreement.with_agreement(discovery.get("moviecore"), samples, record)
    assert completed.agreement["accuracy"] == pytest.approx(1 - 29 / 20)


def test_an_item_that_one_judge_refuses_has_no_score(judged):
    def script(call):
        refused = call.body["model"] == "b" and "Dimension: depth" in call.system
        return (
            Answer(status=400, error={"message": "content filter"})
            if refused
            else Answer('{"score": 2}')
        )

    with JudgeServer(script) as server:
        record, samples, _ = judged(server, "a,b", returncode=1)  # no answer has all its scores
    assert record["counts"]["unscored"] == {"judge_rejected": 11}
    assert all(
        "depth" not in sample["scores"] and sample["scores"]["accuracy"] == 2
        for sample in samples[:1]
    )


def test_what_a_panel_spends_is_one_budget(judged):
    with JudgeServer(by_name) as server:
        judged(server, "mild,strict", "--judge-budget", "30", returncode=1)
        assert len(server.calls) == 30


def test_each_judge_at_its_own_server(judged):
    with JudgeServer(by_name) as here, JudgeServer(by_name) as there:
        record, _, _ = judged(here, f"mild,fair@{there.url}")
        assert (len(here.calls), len(there.calls)) == (55, 55)
    assert {member["requested"]: member["url"] for member in record["judge"]["panel"]} == {
        "mild": here.url[7:-3],
        "fair": there.url[7:-3],
    }


def test_a_judge_twice_is_refused(reelbench):
    done = reelbench(*MOVIECORE, "--judge", "a,b,a")
    assert done.returncode == 2
    assert "a is named twice" in done.stderr


def test_two_judges_are_a_panel_and_one_is_none(judged, reelbench, tmp_path):
    with JudgeServer(by_name) as server:
        judged(server, "mild,fair")
    added = reelbench("leaderboard", "add", tmp_path / "out", "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr
    record = json.loads((tmp_path / "out" / "result.json").read_text())
    record["judge"]["panel"].pop()
    record["judge"]["requested"] = "fair"
    (tmp_path / "out" / "result.json").write_text(json.dumps(record))
    refused = reelbench("leaderboard", "add", tmp_path / "out", "--store", tmp_path / "store2")
    assert refused.returncode != 0
    assert "judge.requested is 'fair', its panel is fair" in refused.stderr


def test_the_leaderboard_takes_a_panels_result_and_refuses_one_that_was_turned(
    judged, reelbench, tmp_path
):
    with JudgeServer(by_name) as server:
        judged(server, "mild,fair,strict")
    folder = tmp_path / "out"
    assert mean(SCORES.values()) == 3
    added = reelbench("leaderboard", "add", folder, "--store", tmp_path / "store")
    assert added.returncode == 0, added.stderr
    record = (folder / "result.json").read_text()
    for turn, where in (
        (
            lambda judge: judge["panel"][0]["metrics"]["average"].update(value=5.0),
            "judge.panel.fair.metrics.average",
        ),
        # Of 5, 4 and 0 in 11 units: 14 observed, 121 * 42 / 528 expected, so alpha is 1 - 14 /
        # 9.625.
        (
            lambda judge: judge["agreement"].update(accuracy=0.9),
            "judge.agreement: scores.accuracy is 0.9, recomputed -0.4545",
        ),
    ):
        turned = json.loads(record)
        turn(turned["judge"])
        (folder / "result.json").write_text(json.dumps(turned))
        refused = reelbench("leaderboard", "add", folder, "--store", tmp_path / "store2")
        assert refused.returncode != 0
        assert where in refused.stderr


@pytest.mark.parametrize(
    "text", ["m@http://h/v1?key=a,KEY1", "m@http://h/v1?a=b,KEY1,other@http://h/v1"]
)
def test_what_stands_behind_a_comma_of_a_query_is_no_judge(text):
    with pytest.raises(InputError, match="a comma in a query is %2C") as error:
        JudgeOptions.named(text)
    assert "KEY1" not in str(error.value)
    two = JudgeOptions.named("m@http://h/v1?api-version=1,other@http://i/v1,third")
    assert [judge.model for judge in two.members] == ["m", "other", "third"]
