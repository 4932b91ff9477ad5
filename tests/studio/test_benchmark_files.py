"""What a chain made is a benchmark: it is loaded, asked and described as it lies there, and splits share no video."""

import json

import pytest

from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.studio.benchmark_files import SplitShares, write
from tests.servers.judge import Answer, JudgeServer
from tools import demo_models

FUNNEL = {
    "stages": [{"name": "verification", "in": 3, "out": 2, "dropped": {"low_score": 1}}],
    "models": {"judge": {"asked": "m", "returned": {"m-2026": 3}}},
    "prompts": {"judge.txt": "0123456789"},
}


def moment(number, video, **more):
    row = {
        "qid": f"q{number}",
        "vid": video,
        "duration": 20,
        "question": f"Why {number}?",
        "span": [0, 8],
    }
    return {**row, "options": ["a", "b"], "ans": "B", "category": "cause_effect", **more}


def made(folder, rows, *split, by="moments"):
    folder.mkdir()
    name = {"moments": "rextime.json", "discussion": "annotations.json"}[by]
    (folder / name).write_text(json.dumps(rows))
    return write(by, folder, SplitShares.parse(split), FUNNEL, None)


class TestSplits:
    def test_no_video_is_in_two_and_parts_of_a_video_go_together(self):
        videos = (
            [f"v{n}" for n in range(8)]
            + [f"film_{n}.0_{n + 10}.0" for n in range(20)]
            + ["film_0.0_150.0"]
        )
        places = SplitShares.parse(["test=0.25", "val=0.25"]).split_videos(videos)
        assert places.keys() == set(videos)
        films = {places[video] for video in videos if video.startswith("film_")}
        assert len(films) == 1  # parts of one video
        wholes = [places[f"v{n}"] for n in range(8)] + [*films]
        assert sorted(map(wholes.count, ("test", "val", "train"))) == [2, 2, 5]  # of nine videos
        assert SplitShares.parse(["test=0.25", "val=0.25"]).split_videos(videos[::-1]) == places

    @pytest.mark.parametrize(
        ("shares", "videos"),
        [(("test=0.9",), 2), (("test=0.9", "dev=0.1"), 2), (("a=0.34", "b=0.33", "c=0.33"), 3)],
    )
    def test_each_split_has_a_video(self, shares, videos):
        places = SplitShares.parse(shares).split_videos([f"v{n}" for n in range(videos)])
        assert len(set(places.values())) == videos

    @pytest.mark.parametrize(
        "given", ["test", "test=x", "test=0", "a=0.7 b=0.7", "a=0.1 a=0.1", "mini=0.1"]
    )
    def test_what_is_no_share_is_refused(self, given):
        with pytest.raises(InputError, match="--split"):
            SplitShares.parse(given.split())

    def test_one_video_can_not_be_parted(self):
        with pytest.raises(InputError, match="1 video can't be split into 2 splits"):
            SplitShares.parse(["test=0.2"]).split_videos(["v", "v"])


def test_moments_in_splits(tmp_path):
    rows = [moment(n, f"v{n % 5}") for n in range(10)]
    assert made(tmp_path / "Made 2", rows, "test=0.4") == "made_2"
    splits = {split: loading.load(str(tmp_path / "Made 2"), split) for split in ("test", "train")}
    assert {name: len(split) for name, split in splits.items()} == {"test": 4, "train": 6}
    assert not set(splits["test"]["video"]) & set(splits["train"]["video"])
    first = next(row for split in splits.values() for row in split if row["id"] == "q0")
    assert (first["question"], first["options"], first["answer"], first["span"]) == (
        "Why 0?",
        ["a", "b"],
        "B",
        [0, 8],
    )
    assert first["category"] == ["cause_effect"]


def test_moments_without_options_ask_for_a_span_alone(tmp_path):
    made(tmp_path / "spans", [moment(1, "v", options=[], ans="")])
    [row] = loading.load(str(tmp_path / "spans"))
    assert "options" not in row
    assert registry.get("spans").row_kind == "span"


def test_a_discussion_is_judged(tmp_path, reelbench):
    entry = {
        "question_id": "v_1",
        "video": "v",
        "question": "Why does he stay?",
        "answer": "Out of guilt.",
    }
    entry |= {"classification": "Theme, Character", "caption": ""}
    made(tmp_path / "talks", {"v_1": entry}, by="discussion")
    [row] = loading.load(str(tmp_path / "talks"))
    assert (row["answer"], row["classification"]) == ("Out of guilt.", ["Theme", "Character"])
    answers = tmp_path / "answers.csv"
    answers.write_text("id,prediction\nv_1,He feels guilty.\n")
    with JudgeServer(lambda _: Answer('{"score": 4}')) as server:
        done = reelbench(
            "score",
            tmp_path / "talks",
            "--predictions",
            answers,
            "--judge",
            "j",
            "--judge-url",
            server.url,
            "--json",
        )
    assert json.loads(done.stdout)["metrics"]["average"]["value"] == 4, done.stderr


def test_a_name_that_is_taken_is_not_taken_again(tmp_path):
    assert made(tmp_path / "rextime", [moment(1, "v")]) == "made_rextime"
    assert made(tmp_path / "nothing", []) is None
    assert not (tmp_path / "nothing" / "benchmark.yaml").exists()


def test_what_make_moments_writes_is_asked_and_described_with_no_step_between(tmp_path, reelbench):
    (tmp_path / "captions.json").write_text(json.dumps(demo_models.CAPTIONS))
    out = tmp_path / "pairs"
    with JudgeServer(demo_models.reply) as server:
        options = (*demo_models.MADE, "--llm-url", server.url)
        done = reelbench(
            "make", "moments", "--captions", tmp_path / "captions.json", *options, "--out", out
        )
        assert done.returncode == 0, done.stderr
    rows = json.loads((out / "rextime.json").read_text())
    with JudgeServer(lambda _: Answer('{"span": [0, 1], "answer": "A"}')) as server:
        asked = (
            "--llm",
            "m",
            "--llm-url",
            server.url,
            "--frames",
            "none",
            "--output",
            tmp_path / "result",
        )
        done = reelbench("ask", out, *asked, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"]["scored"] == len(rows) > 0
    done = reelbench("cards", "render", out, "--out", tmp_path / "card")
    assert done.returncode == 0, done.stderr
    card = (tmp_path / "card" / "README.md").read_text()
    assert "verification: 6 in, 2 out; 4 low score" in card
    assert all(f"{role}-0001" in card for role in ("relation", "verification", "options"))
