"""Published numbers, spot-checked against the papers' tables."""

import pytest

from reelbench.leaderboard import board
from reelbench.registry import discovery


def found(benchmark, model, **wanted):
    rows = [
        row
        for row in discovery.get(benchmark).published
        if row.model == model and all(getattr(row, name) == value for name, value in wanted.items())
    ]
    assert rows, f"no {model} with {wanted}"
    return rows


@pytest.mark.parametrize("benchmark", ["moviecore", "rextime", "curve", "dramaqa_cogme"])
def test_every_published_row_names_its_source_and_metrics_of_the_benchmark(benchmark):
    spec = discovery.get(benchmark)
    assert spec.published
    names = {metric.name: metric for metric in spec.metrics}
    for row in spec.published:
        assert row.cite
        assert row.url
        assert row.split in spec.splits
        for name, value in row.metrics.items():
            assert names[name].low <= value <= names[name].high
        assert row.breakdowns.keys() <= {facet.name for facet in spec.facets}


def test_moviecore_s_tables():
    [row] = found("moviecore", "InternVL2.5 (8B)", judge="gpt-4o-mini-2024-07-18")
    assert list(row.metrics.values()) == [3.87, 3.54, 3.37, 3.65, 3.65, 3.62]
    [row] = found("moviecore", "HERMES (7B)", setting="zero-shot")
    assert row.metrics["average"] == 1.41
    assert "1.208" in row.note
    assert "1.14" in row.note
    [row] = found("moviecore", "HERMES (7B) + ACE, beam 3")
    assert row.metrics["average"] == 3.45
    rows = found("moviecore", "HERMES (7B) + ACE")
    assert {"bleu4": 0.0654, "cider": 0.1622, "meteor": 0.2138} in [row.metrics for row in rows]


def test_rextime_s_tables_by_split():
    [full] = found("rextime", "VTimeLLM", setting="fine-tuned", subset=None)
    assert full.metrics == {
        "miou": 29.92,
        "recall_at_0.3": 43.96,
        "recall_at_0.5": 26.13,
        "accuracy": 57.58,
        "accuracy_at_iou_0.5": 17.13,
    }
    assert "43.69" in full.note
    [mini] = found("rextime", "LITA", subset="mini-test (300)")
    assert mini.metrics["recall_at_0.3"] == 34.33
    assert {row.split for row in found("rextime", "VideoMind-7B")} == {"val"}


def test_curve_s_locales_by_judge():
    by_judge = {row.judge: row for row in found("curve", "Gemini-2.5-Pro")}
    assert by_judge["gemini-2.5-flash"].breakdowns["locale"]["ko-KR"] == {"score": 64.29}
    assert by_judge["gpt-5-mini"].breakdowns["locale"]["te-IN"] == {"score": 25.60}
    assert len(by_judge["gemini-2.5-flash"].breakdowns["locale"]) == 18
    # The printed macro average is the mean of the 18 printed locales (supplement, Table 3).
    locales = [scores["score"] for scores in by_judge["gemini-2.5-flash"].breakdowns["locale"].values()]
    assert round(sum(locales) / 18, 1) == 45.5


def test_published_rows_say_that_they_are_quoted(tmp_path):
    (tmp_path / "store").mkdir()
    made = board.make(tmp_path / "store")
    assert {row.kind for row in made.entries} == {"published", "baseline", "human"}
    quoted = [row for row in made.entries if row.model == "GPT-5"]
    assert "third party" in quoted[0].cite
    assert all(row.ids is None for row in made.entries)
    assert board.make(tmp_path / "store", published=False).entries == []
