"""MovieCORE: the three shapes its annotations may have, and the authors' prediction file."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading

TURNS = [
    {"role": "user", "content": "Improve it."},
    {"role": "assistant", "content": "The better answer."},
]


def entry(**fields):
    return {"question": "Why?", "answer": "Because.", "classification": "Plot, Mood", **fields}


def write(tmp_path, document, name="test.json"):
    path = tmp_path / name
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return path


BY_QUESTION = {
    "233_1": entry(question_id="233_1", video="233", caption="A day."),
    "AWA-1_1": entry(enhanced_answer=TURNS),
}
BY_VIDEO = {"233.mp4": [entry()], "AWA-1.mp4": [entry(enhanced_answer=TURNS)]}
LISTED = [entry(video="233.mp4", id="233_1"), entry(video_id="AWA-1", enhanced_answer=TURNS)]


@pytest.mark.parametrize(
    "document", [BY_QUESTION, BY_VIDEO, LISTED], ids=["by question", "by video", "listed"]
)
def test_all_three_shapes_give_the_same_rows(document, tmp_path):
    write(tmp_path, document)
    rows = list(loading.load("moviecore", "test", data=tmp_path))
    assert [(row["id"], row["video"], row["answer"]) for row in rows] == [
        ("233_1", "233", "Because."),
        ("AWA-1_1", "AWA-1", "The better answer."),
    ]
    assert rows[0]["classification"] == ["Plot", "Mood"]


def test_json_lines_are_read_too(tmp_path):
    path = tmp_path / "test.json"
    path.write_text("\n".join(json.dumps(row) for row in LISTED) + "\n", encoding="utf-8")
    assert len(loading.load("moviecore", "test", data=path)) == 2


def test_a_question_without_a_class_is_kept(tmp_path):
    write(tmp_path, {"1_1": {"question": "Why?", "answer": "So.", "video": "1"}})
    assert loading.load("moviecore", "test", data=tmp_path)[0]["classification"] == []


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            {"1_1": {"text": "Why?", "video": "1"}},
            r"'1_1'.*no 'question'; expected question, answer .*; found .*text",
        ),
        (
            {"1_1": entry(enhanced_answer="better")},
            r"'1_1'.*enhanced_answer is not a list of turns",
        ),
        ({"1_1": 3}, r"'1_1' holds a int"),
        ([entry()], r"entry 1 names no video"),
        ({}, r"no rows"),
        ([entry(video="1", id="a"), entry(video="2", id="a")], r"'a'.*occurs twice"),
        ("text", r"holds a str"),
    ],
)
def test_a_wrong_file_says_what_was_expected_and_found(document, said, tmp_path):
    path = write(tmp_path, document)
    with pytest.raises(InputError, match=said) as caught:
        loading.load("moviecore", "test", data=path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


class TestScoring:
    @pytest.mark.java
    def test_the_authors_file_holds_its_references(self, tmp_path, score):
        # BLEU-4 and METEOR of a perfect answer are 1, whatever scores it (pycocoevalcap's own
        # figures).
        long = "The man walks home alone because nobody waited for him at the station."
        file = write(
            tmp_path, {"233.mp4": [entry(answer=long, pred=long + "</s>")]}, "predictions.json"
        )
        document = score("moviecore", "--predictions", file)
        assert document["metrics"]["bleu4"]["value"] == pytest.approx(1, abs=1e-6)
        assert document["metrics"]["meteor"]["value"] == pytest.approx(1, abs=1e-6)
        assert document["metrics"]["bleu4"]["ci95"] is None
        assert document["metrics"]["average"] == {"value": None, "ci95": None, "n": 0}
        assert document["counts"]["unscored"] == {"judge_unavailable": 1}
        assert document["breakdowns"] == {}

    def test_the_enhanced_answer_is_the_reference(self, tmp_path, score):
        file = write(
            tmp_path, {"1.mp4": [entry(enhanced_answer=TURNS, pred="x")]}, "predictions.json"
        )
        score("moviecore", "--predictions", file, "--no-overlap", "--output", tmp_path / "out")
        (line,) = (tmp_path / "out" / "samples.jsonl").read_text(encoding="utf-8").splitlines()
        assert json.loads(line)["target"] == {"text": "The better answer."}

    def test_predictions_without_references_are_matched_by_video_and_question(
        self, tmp_path, reelbench
    ):
        truth = write(tmp_path, {"v_1": entry(question="Why?"), "v_2": entry(question="How?")})
        file = write(
            tmp_path, {"v.mp4": [{"question": "How?", "pred": "slowly"}]}, "predictions.json"
        )
        done = reelbench(
            "score",
            "moviecore",
            "--predictions",
            file,
            "--references",
            truth,
            "--no-overlap",
            "--json",
        )
        assert json.loads(done.stdout)["counts"]["unscored"] == {
            "judge_unavailable": 1,
            "prediction_missing": 1,
        }
        assert "1 missing id: v_1" in done.stderr
        assert "--judge gpt-6-luna" in done.stderr  # the authors' own judge shuts down

    def test_no_overlap_leaves_the_three_metrics_out(self, tmp_path, score):
        file = write(tmp_path, {"1.mp4": [entry(pred="x")]}, "predictions.json")
        assert (
            not {"bleu4", "cider", "meteor"}
            & score("moviecore", "--predictions", file, "--no-overlap")["metrics"].keys()
        )

    @pytest.mark.parametrize(
        ("document", "said"),
        [({"1.mp4": [entry()]}, "no 'pred'"), ({"1.mp4": [entry(pred=3)]}, "'pred' is a int")],
    )
    def test_a_file_that_is_not_predictions(self, document, said, tmp_path, reelbench):
        file = write(tmp_path, document, "predictions.json")
        done = reelbench("score", "moviecore", "--predictions", file)
        assert done.returncode == 2
        assert said in done.stderr

    def test_half_an_emoji_in_an_answer_is_no_reason_to_lose_the_rest(self, tmp_path, score):
        # A tokenizer can cut an emoji in two; JSON can spell the half, UTF-8 can't hold it.
        file = tmp_path / "predictions.json"
        file.write_text(json.dumps({"1.mp4": [entry(pred="smiles \ud83d")]}), encoding="utf-8")
        words = ("--predictions", file, "--no-overlap", "--output", tmp_path / "out")
        document = score("moviecore", *words)
        assert document["counts"]["items"] == 1
        sample = json.loads((tmp_path / "out" / "samples.jsonl").read_text(encoding="utf-8"))
        assert sample["prediction"] == "smiles \ufffd"
