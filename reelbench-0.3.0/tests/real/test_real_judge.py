"""A small language model that judges, tags, draws graphs and ranks: with a schema and without."""

import json
from pathlib import Path

import pytest
from pydantic import BaseModel

from reelbench.data.loading import locate
from reelbench.llm.defaults import ATTEMPTS
from reelbench.llm.structured import schema_of, with_schema
from reelbench.studio.evidence.graphs import Node
from reelbench.studio.tagging import TagVote
from tests.servers.real import llama_cpp

pytestmark = pytest.mark.slow
MODEL = "smollm2"
CURVE = Path(__file__).parents[2] / "reelbench" / "tasks" / "curve" / "mini" / "curve.json"
WAYS = ("never", "retry", "always")


@pytest.fixture
def predictions(tmp_path):
    """Answers to all questions of MovieChat's mini split."""
    path = tmp_path / "predictions.jsonl"
    lines = []
    for number, row in enumerate(locate("moviechat", "mini").read()):
        text = row["answer"] if number % 2 else "I can't tell."
        lines.append(json.dumps({"id": row["id"], "prediction": text}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def judged(predictions, reelbench, tmp_path):
    """Let the model judge all answers; returns the process."""

    def run(server, way):
        return reelbench(
            *("score", "moviechat_mini", "--predictions", predictions, "--no-overlap"),
            *("--judge", MODEL, "--judge-url", server.url, "--judge-structured", way),
            *("--judge-max-tokens", "64", "--output", tmp_path / "out"),
        )

    return run


@pytest.mark.parametrize("way", WAYS)
def test_marks_come_with_a_schema_and_seldom_without(way, judged, text_server, tmp_path, tell):
    done = judged(text_server, way)
    lines = (tmp_path / "out" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [json.loads(line) for line in lines]
    marks = sum(sample["state"] == "scored" for sample in samples)
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    calls = result["judge"]["calls"]
    tell(f"judge, {way}: {calls} calls, {marks} marks of {len(samples)}")
    assert result["counts"]["scored"] == marks
    assert calls <= ATTEMPTS * len(samples)
    assert done.returncode == int(marks == 0), done.stderr
    if way != "never":
        assert marks == len(samples)


def test_a_prompt_that_the_window_does_not_hold_is_told_with_its_way_out(
    folder, judged, tmp_path, tell
):
    """A judge's prompt has about 490 tokens here."""
    log = tmp_path / "log.txt"
    with llama_cpp(folder, log, "--alias", MODEL, "-c", "256", "--parallel", "1") as server:
        done = judged(server, "retry")
    tell_of(tell, "a judge behind 256 tokens", done)
    assert done.returncode == 1
    assert "llama.cpp: -c" in done.stderr


# --- chains of language models


class NodesOfGraph(BaseModel):
    """The reply that a graph is read from."""

    nodes: list[Node]


def settings_of_way(way, reply):
    """Return the settings by which a chain sends its schema never, after a failure, or always.

    Args:
        way: One of `WAYS`.
        reply: The model of the reply.
    """
    settings = {"max_tokens": 96}
    if way == "never":
        settings["response_format"] = None
    if way == "always":
        settings = with_schema(settings, schema_of(reply))
    return json.dumps(settings)


def number_of_lines(path):
    """Return the number of lines in a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize("way", WAYS)
def test_tags_are_counted_as_the_summary_says(way, text_server, reelbench, tmp_path, tell):
    questions = 3
    done = reelbench(
        *("make", "tags", "rextime_mini", "--limit", questions, "--llm-votes", "1"),
        *("--llm", MODEL, "--llm-url", text_server.url),
        *("--llm-extra", settings_of_way(way, TagVote), "--out", tmp_path / "tags.jsonl"),
    )
    funnel = json.loads((tmp_path / "tags.funnel.json").read_text(encoding="utf-8"))
    tagged = number_of_lines(tmp_path / "tags.jsonl")
    tell(f"tags, {way}: {funnel['calls']} calls, {tagged} of {questions} tagged")
    votes, stage = funnel["stages"]
    assert (stage["name"], stage["in"], stage["out"]) == ("questions", questions, tagged)
    assert votes["out"] == tagged  # one vote a question
    assert tagged + sum(stage["dropped"].values()) == questions
    assert questions <= funnel["calls"] <= ATTEMPTS * questions
    assert f"{funnel['calls']} calls, 0 replies from the cache" in done.stderr
    assert done.returncode == int(tagged == 0), done.stderr


@pytest.mark.parametrize("way", WAYS)
def test_graphs_are_counted_as_the_summary_says(way, text_server, reelbench, tmp_path, tell):
    questions = json.loads(CURVE.read_text(encoding="utf-8"))[:1]  # a prompt has 1,500 tokens
    path = tmp_path / "curve.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    done = reelbench(
        *("diagnose", "graphs", "curve", "--data", path, "--out", tmp_path / "graphs"),
        *("--llm", MODEL, "--llm-url", text_server.url),
        *("--llm-extra", settings_of_way(way, NodesOfGraph)),
    )
    counted = json.loads((tmp_path / "graphs" / "statistics.json").read_text(encoding="utf-8"))
    graphs = number_of_lines(tmp_path / "graphs" / "graphs.jsonl")
    calls = counted["models"]["graph"]["replies"]
    tell(f"graphs, {way}: {calls} calls, {graphs} graphs of {len(questions)}")
    assert counted["questions"] == graphs
    assert graphs + counted["graph_invalid"] == len(questions)
    assert len(questions) <= calls <= ATTEMPTS * len(questions)
    assert f"{MODEL}: {calls} asked, 0 kept" in done.stderr
    assert ("no graph: 1 question (graph_invalid)" in done.stderr) == (graphs == 0)
    assert done.returncode == int(graphs == 0), done.stderr


def test_candidates_are_ranked(text_server, reelbench, tmp_path, tell):
    path = tmp_path / "candidates.jsonl"
    lines = []
    for row in locate("moviechat", "mini").read():
        candidates = ["I can't tell.", row["answer"]]
        lines.append(json.dumps({"id": row["id"], "candidates": candidates}) + "\n")
    path.write_text("".join(lines), encoding="utf-8")
    done = reelbench(
        *("ace", "--candidates", path, "--benchmark", "moviechat_mini"),
        *(
            "--llm",
            MODEL,
            "--llm-url",
            text_server.url,
            "--llm-extra",
            json.dumps({"max_tokens": 96}),
        ),
        *("--output", tmp_path / "out"),
    )
    tell_of(tell, "ace", done)
    assert done.returncode == 0, done.stderr


def tell_of(tell, title, done):
    """Tell what a command said at its end."""
    said = " | ".join([*done.stdout.splitlines()[-3:], *done.stderr.splitlines()[-3:]])
    tell(f"{title}: status {done.returncode}: {said}")
