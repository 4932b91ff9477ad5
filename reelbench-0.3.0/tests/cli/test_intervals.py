"""What `reelbench score` says of intervals: by which method, and why there is none."""

import json
from pathlib import Path

FIXTURES = Path(__file__).parents[1] / "fixtures" / "v0_1_0"


def test_a_result_says_its_method_and_the_table_why_there_is_no_interval(reelbench, tmp_path):
    (predictions,) = (FIXTURES / "predictions").glob("rextime.*")
    done = reelbench(
        "score",
        "rextime",
        "--predictions",
        predictions,
        "--split",
        "mini",
        "--output",
        tmp_path / "out",
    )
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "out" / "result.json").read_text())
    assert document["statistics"] == {"interval": "wilson"}
    assert {metric["ci95"] for metric in document["metrics"].values()} == {None}  # of four videos
    assert "no interval for accuracy_at_iou_0.5" in done.stdout
