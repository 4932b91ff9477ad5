"""What a user sees of servers as they really behave: lines, status, reasons, and the board."""

import json

import pytest

from reelbench.leaderboard import board, store
from tests.servers.judge import JudgeServer
from tests.servers.served_models import BEHAVIOURS, GRID, QUESTIONS

MINI = "rextime_mini"
SERVERS = {"Ollama", "LM Studio", "KoboldCpp", "llama.cpp", "vLLM", "SGLang", "Azure", "OpenRouter"}


def name_of(behaviour):
    return f"{behaviour.server} {behaviour.does}"


@pytest.fixture
def ask(reelbench, tmp_path):
    """Ask the mini benchmark of a server that behaves so; returns the process and the calls."""

    def run(behaviour):
        with JudgeServer(behaviour.script, small=behaviour.small) as server:
            if behaviour.listed is not None:
                server.list_models(behaviour.listed)
            for path, page in behaviour.pages.items():
                server.show_page(path, page)
            given = ("--llm", "m", "--llm-url", server.url, "--frames", "uniform:16")
            done = reelbench("ask", MINI, *given, "--output", tmp_path / "out")
            return done, len(server.calls)

    return run


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=name_of)
def test_a_user_sees_what_the_server_did(behaviour, ask, tmp_path):
    check(behaviour, ask, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("behaviour", GRID, ids=name_of)
def test_a_user_sees_it_of_every_server(behaviour, ask, tmp_path):
    check(behaviour, ask, tmp_path)


def check(behaviour, ask, tmp_path):
    """Check the status, the lines, the calls, the reasons and the board."""
    done, calls = ask(behaviour)
    assert done.returncode == behaviour.rc, done.stderr
    assert calls <= behaviour.most_calls
    for words in behaviour.says:
        assert words in done.stderr
    written = tmp_path / "out" / MINI / "result.json"
    if behaviour.unscored is None:
        assert not written.exists()
        return
    assert json.loads(written.read_text())["counts"]["unscored"] == behaviour.unscored
    [added] = store.add(written.parent, tmp_path / "store")
    if sum(behaviour.unscored.values()) == QUESTIONS:
        assert added.outcome == "refused"  # nothing in it is an answer
        return
    assert added.outcome == "added", added.why
    made = board.make(tmp_path / "store", published=False)
    [row] = [row for row in made.entries if row.model == "m"]
    assert (row.unranked is None) == behaviour.ranked, row.unranked


def test_the_table_has_the_servers_that_people_run():
    assert {behaviour.server for behaviour in BEHAVIOURS} >= SERVERS
