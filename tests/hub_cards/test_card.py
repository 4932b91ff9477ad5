"""What a card says where the data has something to say."""

import json
from dataclasses import replace

import pytest
import yaml

from reelbench.base.errors import InputError
from reelbench.hub_cards import card, card_material, merge
from reelbench.registry import discovery
from tests.hub_cards.rendering import rendered


@pytest.fixture
def counted(tmp_path):
    """Render MovieCORE's card from annotations in the owners' shape; returns its sections' text by name."""

    def run(questions):
        entries = {
            f"{number}_1": {"question": "Why?", "answer": "So.", **one}
            for number, one in enumerate(questions)
        }
        (tmp_path / "test.json").write_text(json.dumps(entries), encoding="utf-8")
        moviecore = discovery.get("moviecore")
        unknown = replace(moviecore.splits["test"], owners_files=(), owners_rows=None)
        spec = replace(moviecore, splits={**moviecore.splits, "test": unknown})
        return card.render(card_material.gather(spec, tmp_path)).sections

    return run


def test_counted_and_published_numbers_are_told_apart(counted):
    sections = counted([{"classification": "Theme"}] * 3)
    assert (
        "| `train` | 4,080 | 816 | public | as published (MovieCORE §3.4) |" in sections["splits"]
    )
    assert "| `test` (default) | 3 | 3 | public | counted |" in sections["splits"]
    assert (
        "The data has 3 questions in `test`; the published number is 850 (MovieCORE §3.4)."
        in sections["splits"]
    )
    assert "except those of `train`, which are marked *as published*" in sections["about"]


def test_of_many_labels_the_most_frequent_are_shown_and_the_rest_counted(counted):
    names = [f"Class {number:02}" for number in range(25)]
    questions = [{"classification": ", ".join(names[: number + 1])} for number in range(25)]
    text = counted(questions)["statistics"]
    assert "| Class 00 | 25 | 100.0 |" in text
    assert "| Class 19 | 6 | 24.0 |" in text
    assert "Class 20" not in text
    assert "| 5 more labels | 5 labels |  |" in text
    assert "A question may have several labels." in text


def test_questions_without_a_label_are_told(counted):
    text = counted([{"classification": "Theme"}, {}, {}])["statistics"]
    assert "Without a label: 2 of 3 in `test`." in text
    assert "| Theme | 1 | 33.3 |" in text


def test_a_bar_in_a_label_does_not_break_the_table(counted):
    assert (
        "| Love &#124; Hate | 1 | 100.0 |"
        in counted([{"classification": "Love | Hate"}])["statistics"]
    )


def test_labels_that_the_data_has_not_are_told():
    text = rendered("dramaqa_cogme", counted=False)["README.md"].decode()
    assert "### Thinking" not in text
    spec = discovery.get("dramaqa_cogme")
    mini = card_material.gather(spec, spec.folder / "mini")
    statistics = card.render(mini).sections["statistics"]
    assert "Not counted: `target`, `content`, `thinking`." in statistics


def test_eval_yaml_has_the_tasks_that_anybody_can_score():
    def tasks(name):
        found = yaml.safe_load(rendered(name, counted=False)["eval.yaml"])
        assert set(found) == {"name", "description", "evaluation_framework", "tasks"}
        return [task["id"] for task in found["tasks"]]

    assert tasks("rextime") == ["rextime"], "the answers of rextime_test are hidden"
    assert tasks("curve") == ["curve"], "a locale's task is a part"
    assert tasks("moviecore") == ["moviecore"]


def test_a_file_in_the_folder_s_place_is_refused(tmp_path):
    (tmp_path / "card").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is a file, expected a folder"):
        merge.write(card_material.gather(discovery.get("moviecore")), tmp_path / "card")


def test_a_readme_that_is_no_text_is_refused(tmp_path):
    (tmp_path / "README.md").write_bytes(b"caf\xe9")
    with pytest.raises(InputError, match=r"README.md: not UTF-8 text \(byte 3\)"):
        merge.write(card_material.gather(discovery.get("moviecore")), tmp_path)
    assert (tmp_path / "README.md").read_bytes() == b"caf\xe9"


class TestOwnRows:
    """Rows in a benchmark's format that are not its owners'."""

    @pytest.fixture
    def mine(self, tmp_path):
        entries = {
            "v1_1": {"question": "Who waves?", "answer": "The square.", "classification": "Mine"}
        }
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "test.json").write_text(json.dumps(entries), encoding="utf-8")
        return tmp_path / "mine"

    def test_their_card_has_neither_paper_nor_authors_nor_licence(self, mine, tmp_path, reelbench):
        done = reelbench("cards", "render", "moviecore", "--data", mine, "--out", tmp_path / "card")
        assert done.returncode == 0, done.stderr
        text = (tmp_path / "card" / "README.md").read_text(encoding="utf-8")
        moviecore = discovery.get("moviecore")
        for theirs in (
            moviecore.paper.title,
            "Faure",
            "arxiv",
            "2508.19026",
            "license",
            "mit\n",
            "850",
        ):
            assert theirs not in text
        assert "**They are not the owners' rows**" in text
        assert "| Mine | 1 | 100.0 |" in text
        assert not (tmp_path / "card" / "eval.yaml").exists()

    def test_it_never_goes_over_the_owners_card(self, mine, tmp_path):
        moviecore = discovery.get("moviecore")
        merge.write(card_material.gather(moviecore), tmp_path / "card")
        before = (tmp_path / "card" / "README.md").read_bytes()
        with pytest.raises(
            InputError,
            match=r"README.md: is the card of moviecore; write this one to another folder",
        ):
            merge.write(card_material.gather(moviecore, mine), tmp_path / "card")
        assert (tmp_path / "card" / "README.md").read_bytes() == before


def test_a_folder_with_another_benchmark_s_card_is_refused_and_keeps_it(tmp_path, reelbench):
    merge.write(card_material.gather(discovery.get("moviecore")), tmp_path)
    before = (tmp_path / "README.md").read_bytes()
    for name in ("curve", "dramaqa_cogme", "moviechat", "rextime"):
        done = reelbench("cards", "render", name, "--out", tmp_path)
        assert done.returncode == 2
        assert (
            done.stderr.strip()
            .splitlines()[-1]
            .endswith("is the card of moviecore; write this one to another folder")
        )
        assert (tmp_path / "README.md").read_bytes() == before
    merge.write(card_material.gather(discovery.get("moviecore")), tmp_path)
    assert (tmp_path / "README.md").read_bytes() == before
