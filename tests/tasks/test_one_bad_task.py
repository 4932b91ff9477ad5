"""One answer or one task that can't be taken costs itself alone."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.registry import discovery
from reelbench.registry.records import Item
from reelbench.registry.splits import upstream_split
from reelbench.scoring import aggregation, text_overlap
from reelbench.tasks import score, score_runs
from tests import lmms_runs


def test_of_an_answer_that_meteor_cannot_take_overlap_reads_the_end_and_it_is_counted(monkeypatch):
    """Left out, the answer that rambles would lift the BLEU of the model that wrote it."""
    asked = {}

    def score(_, predictions, metrics):
        asked.update(predictions)
        return dict.fromkeys(metrics, 0.5)

    monkeypatch.setattr(text_overlap, "compute_score", score)
    texts = {"a": "The cat.", "b": "the " * 10_000 + "cat", "c": "x" * 10_001, "d": "y" * 10_000}
    items = [
        Item(id=name, video="v", prediction=text, target={"text": "The cat sat."})
        for name, text in texts.items()
    ]
    scored = aggregation.score(discovery.get("moviecore"), items)
    assert scored.numbers.metrics["meteor"].n == 4
    # Of "the the … the cat" the last 10,000 characters begin with the space before 2,499 of its
    # words.
    assert asked == {
        "a": "The cat.",
        "b": "the " * 2_499 + "cat",
        "c": "x" * 10_000,
        "d": "y" * 10_000,
    }
    assert sum(map(aggregation.is_too_long, scored.samples)) == 2


@pytest.fixture
def run(tmp_path):
    """What lmms-eval leaves of a run of two tasks, of which one has a line that isn't whole."""
    folder = tmp_path / "run"
    folder.mkdir()
    tasks = {name: {} for name in ("rextime_mini", "dramaqa_cogme_mini")}
    configs = {
        name: {"dataset_path": f"reelbench:{name}@0123456789abcdef;media_missing=0"}
        for name in tasks
    }
    document = {"results": tasks, "configs": configs, "config": {"model": "openai"}}
    (folder / "1_results.json").write_text(json.dumps(document))
    for name in tasks:
        spec, _ = discovery.find_task(name)
        rows = [
            {**row, "split": upstream_split(spec, "mini")} for row in loading.load(spec.id, "mini")
        ]
        details = [lmms_runs.functions(spec).process_results(row, ["(A)"]) for row in rows]
        lines = "".join(json.dumps(detail) + "\n" for detail in details)
        (folder / f"1_samples_{name}.jsonl").write_text(
            lines + ("" if name == "rextime_mini" else '{"doc_id":')
        )
    return folder


def test_a_task_that_cannot_be_scored_leaves_the_others_their_results(run, reelbench):
    done = reelbench("score", "--run", run, "--no-overlap", "--json")
    assert done.returncode == 2
    assert "dramaqa_cogme_mini: not scored: " in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["benchmark"] == "rextime"
    assert (run / "reelbench" / "rextime_mini" / "result.json").is_file()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({"accuracy": {"sample": 5}}, "line 13, field sample: Input should be"),
        ({"accuracy": {"sample": {"id": "x"}}}, "line 13, field sample.video"),
        ([1], "line 13: none of our samples in it"),
    ],
)
def test_a_line_of_a_log_that_is_none_is_told_by_its_number(line, says, run):
    with (run / "1_samples_rextime_mini.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    with pytest.raises(InputError, match=says):
        list(
            score_runs.run_evaluations(
                run, None, score.Options(overlap=False), tasks=["rextime_mini"]
            )
        )


def test_a_facet_that_none_of_its_tasks_has_is_told_before_anything_is_scored(run, reelbench):
    done = reelbench("score", "--run", run, "--task", "rextime_mini", "--by", "colour")
    assert done.returncode == 2
    assert "--by colour: no such facet; rextime is broken down by category" in done.stderr
    assert not (run / "reelbench").exists()
