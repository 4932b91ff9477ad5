"""A benchmark with options whose rows have the steps to the answer (MINERVA) is diagnosed as CURVE is."""

import json

from tests.servers.diagnosis import Models, material
from tests.servers.judge import Answer, JudgeServer


def test_minervas_traces_become_graphs_and_its_errors_are_found(reelbench, tmp_path):
    models, asked = Models(), []

    def answer(call):
        asked.append(call)
        return models(call)

    with JudgeServer(answer) as server:
        llm = ("--llm", "graph", "--llm-url", server.url)
        done = reelbench(
            "diagnose", "graphs", "minerva", "--split", "mini", *llm, "--out", tmp_path / "graphs"
        )
        assert done.returncode == 0, done.stderr
    assert all("00:06" in call.user for call in asked)  # the time stamps of the traces
    answers = {material(call, "answer").partition(". ")[2] for call in asked}
    assert answers == {"One", "Rightwards", "In the middle"}  # in words, never a letter alone
    graphs = [
        json.loads(line) for line in (tmp_path / "graphs" / "graphs.jsonl").read_text().splitlines()
    ]
    assert sorted(graph["id"] for graph in graphs) == sorted(f"mini{n}" for n in range(1, 13))

    with JudgeServer(lambda _: Answer("At first it stands at the left edge. So (E).")) as server:
        llm = ("--llm", "m", "--llm-url", server.url, "--frames", "none")
        done = reelbench(
            "ask", "reelbench_minerva_mini", *llm, "--output", tmp_path / "asked", "--json"
        )
    counts = json.loads(done.stdout)["counts"]
    [result] = (path.parent for path in (tmp_path / "asked").rglob("result.json"))
    with JudgeServer(models) as server:
        llm = ("--llm", "tagger", "--llm-url", server.url)
        drawn = ("--graphs", tmp_path / "graphs" / "graphs.jsonl", "--out", tmp_path / "errors")
        done = reelbench("diagnose", "errors", result, *drawn, *llm)
        assert done.returncode == 0, done.stderr
    wrong = {
        json.loads(line)["id"]
        for line in (tmp_path / "errors" / "isolation.jsonl").read_text().splitlines()
    }
    right = json.loads((result / "result.json").read_text())["metrics"]["accuracy"]["value"]
    assert len(wrong) == counts["scored"] * (100 - right) / 100 == 9
