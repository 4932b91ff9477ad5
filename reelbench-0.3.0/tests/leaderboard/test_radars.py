"""CogME's radars on a benchmark's page, beside the lanes."""

import json

import pytest

from reelbench.data import loading
from reelbench.leaderboard import site, store
from reelbench.scoring.cognitive_profile import read_tags
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files


@pytest.mark.browser
def test_a_polygon_for_each_model_with_tags(tmp_path, page_of):
    from playwright.sync_api import expect

    located = loading.locate("dramaqa_cogme_mini")
    tags = located.spec.folder / "mini" / "cogme_tags.jsonl"
    for name, wrong in (("right", 0), ("wrong", 1)):
        answers = [
            {"qid": int(row["id"]), "correct_idx": ("ABCDE".index(row["answer"]) + wrong) % 5}
            for row in located.read()
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(answers))
        inputs = Inputs(tmp_path / f"{name}.json", None, split="mini", tags=read_tags(tags))
        score_files("dramaqa_cogme", inputs, tmp_path / name, Options(), model=f"org/{name}")
        store.add(tmp_path / name, tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site", published=False)
    with page_of(tmp_path / "site", "#/dramaqa_cogme") as page:
        chart = page.locator("#chart-profiles")
        chart.scroll_into_view_if_needed()
        # Three panels, each with four rings and a polygon for each model; a mark for each label
        # that has questions.
        expect(chart.locator("polygon")).to_have_count(3 * (4 + 2))
        expect(chart.get_by_role("img", name="Recall, right: 100.0")).to_have_count(1)
        expect(chart.get_by_role("img", name="Recall, wrong: 0.0")).to_have_count(1)
