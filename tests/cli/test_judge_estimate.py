"""`score --judge-estimate`: what it says before is what a run then asks, counted at the server."""

import json
import re
from pathlib import Path

import pytest

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
PRICES = {
    "openai/judge-2": {
        "input_cost_per_token": 2e-6,
        "output_cost_per_token": 8e-6,
        "cache_read_input_token_cost": 5e-7,
        "output_cost_per_reasoning_token": 1e-5,
    }
}


def tokens(call):
    """A tokeniser that is not ours: words, and marks one by one."""
    return sum(
        len(re.findall(r"\w+|[^\w\s]", message["content"])) for message in call.body["messages"]
    )


def counting(call):
    usage = {"prompt_tokens": tokens(call), "completion_tokens": 20 + call.number % 3}
    return Answer('{"score": 3}', usage=usage)


@pytest.fixture
def command(reelbench, tmp_path):
    def run(server, *options):
        named = (
            "--judge",
            "judge-2",
            "--judge-url",
            server.url,
            "--no-overlap",
            "--output",
            tmp_path / "out",
        )
        return reelbench(*MOVIECORE, *named, "--json", *options)

    return run


def test_the_estimate_is_what_a_run_then_asks(command, tmp_path):
    with JudgeServer(counting) as server:
        (before,) = json.loads(command(server, "--judge-estimate").stdout)
        assert (before["calls"], before["cached"], before["cost_usd"], before["seconds"]) == (
            55,
            0,
            None,
            None,
        )
        assert server.calls == []
        assert not (tmp_path / "out").exists()
        command(server, "--judge-budget", "20", "--judge-concurrency", "1")
        assert len(server.calls) == 20
        (left,) = json.loads(command(server, "--judge-estimate").stdout)
        assert (left["calls"], left["cached"], left["counted_by"]) == (35, 20, 20)
        assert left["seconds"] > 0
        assert command(server).returncode == 0
        assert len(server.calls) == 55
        asked = server.calls[20:]
        assert left["prompt_tokens"] == pytest.approx(sum(map(tokens, asked)), rel=0.1)
        assert left["completion_tokens"] == pytest.approx(
            sum(20 + call.number % 3 for call in asked), rel=0.1
        )
        (after,) = json.loads(command(server, "--judge-estimate").stdout)
        assert (after["calls"], after["cached"]) == (0, 55)


def test_a_judge_that_shuts_down_is_said_once_it_is_paid_and_repeated_offline(
    command, reelbench, tmp_path
):
    """The field is OpenAI's (API reference, models)."""
    with JudgeServer(counting) as server:
        server.list_models(
            {"id": "judge-1", "shutdown_date": None},
            {"id": "judge-2", "shutdown_date": "2027-01-14"},
        )
        (before,) = json.loads(command(server, "--judge-estimate").stdout)
        assert (before["shutdown"], server.listed) == (None, 0)
        said = f"127.0.0.1:{server.port} reports that the judge judge-2 shuts down on 2027-01-14"
        assert command(server).stderr.count(said) == 1
        assert server.listed == 2  # for its window before the first call, for its end after it
        assert said not in command(server).stderr  # all cached
        (after,) = json.loads(command(server, "--judge-estimate").stdout)
        assert (after["shutdown"], server.listed) == ("2027-01-14", 2)
        named = (
            "--judge",
            "judge-2",
            "--judge-url",
            server.url,
            "--no-overlap",
            "--output",
            tmp_path / "out",
        )
        told = reelbench(*MOVIECORE, *named, "--judge-estimate").stderr
        assert "judge-2 shuts down on 2027-01-14, according to its server" in " ".join(told.split())


def test_prices_from_a_file_and_tokens_that_cost_otherwise(command, tmp_path):
    prices = tmp_path / "prices.json"
    prices.write_text(json.dumps(PRICES))
    details = {
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    with JudgeServer(
        lambda _: Answer('{"score": 3}', usage=details)
    ) as server:  # 100 tokens in, 10 out
        assert command(server, "--judge-prices", prices).returncode == 0
        record = json.loads((tmp_path / "out" / "result.json").read_text())["judge"]
    each = 40 * 2e-6 + 60 * 5e-7 + 6 * 8e-6 + 4 * 1e-5  # by hand
    assert record["cost_usd"] == pytest.approx(55 * each)


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ({"other": {}}, "no one price for 'judge-2' (it has none)"),
        ({"a/judge-2": {}, "b/judge-2": {}}, "(it has several: a/judge-2, b/judge-2)"),
        (
            {"judge-2": {"input_cost_per_token": "free", "output_cost_per_token": 0}},
            "is 'free', not dollars per token",
        ),
        (
            {"judge-2": {"output_cost_per_token": 1e-6}},
            "input_cost_per_token is None, not dollars per token",
        ),
        ([], "not one JSON object"),
    ],
)
def test_prices_that_are_none(reelbench, tmp_path, prices, said):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(prices))
    done = reelbench(*MOVIECORE, "--judge", "judge-2", "--judge-prices", file, "--judge-estimate")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_an_estimate_needs_a_judge(reelbench):
    done = reelbench(*MOVIECORE, "--judge-estimate")
    assert done.returncode == 2
    assert "--judge-estimate needs --judge MODEL" in done.stderr


def test_without_a_price_the_option_that_gives_one_is_named(reelbench):
    named = (
        "--judge",
        "judge-2",
        "--judge-url",
        "http://127.0.0.1:9/v1",
        "--no-overlap",
        "--judge-estimate",
    )
    assert "no price known: give --judge-price IN,OUT" in reelbench(*MOVIECORE, *named).stderr
    assert "no price" not in reelbench(*MOVIECORE, *named, "--judge-price", "1,2").stderr
