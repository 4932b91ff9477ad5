"""ReXTime: scores of real ground truth, the authors' rules, and both schemas of their data."""

import json
import random
import re

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.leaderboard.entries import published_entries
from reelbench.registry import discovery
from reelbench.tasks.rextime.formats import check_submission


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def truth(shared_data):
    path = shared_data / "rextime_val.jsonl"
    return path, [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def values(document, digits=2):
    return {name: round(metric["value"], digits) for name, metric in document["metrics"].items()}


class TestRealGroundTruth:
    """The figures are what the authors' evaluator (cb9f484) prints for these submissions, in percent."""

    def test_the_whole_video_and_option_a(self, truth, tmp_path, score):
        path, rows = truth
        whole = [
            {"qid": r["qid"], "pred_relevant_windows": [[0, r["duration"]]], "ans": "A"}
            for r in rows
        ]
        document = score(
            "rextime", "--predictions", write(tmp_path / "whole.jsonl", whole), "--references", path
        )
        figures = {
            "accuracy_at_iou_0.5": 9.01,
            "accuracy": 26.93,
            "miou": 37.25,
            "recall_at_0.3": 43.97,
            "recall_at_0.5": 32.14,
        }
        assert figures.items() <= values(document).items()
        assert document["counts"]["items"] == document["counts"]["scored"] == 921
        low, high = document["metrics"]["miou"]["ci95"]
        assert low < 37.25 < high

    def test_the_truth_itself_misses_its_two_windows_without_length(self, truth, tmp_path, score):
        path, rows = truth
        same = [
            {"qid": r["qid"], "pred_relevant_windows": r["relevant_windows"], "ans": r["ans"]}
            for r in rows
        ]
        document = score(
            "rextime", "--predictions", write(tmp_path / "same.jsonl", same), "--references", path
        )
        assert values(document)["miou"] == 99.78
        assert values(document)["accuracy"] == 100

    def test_the_order_of_the_lines_changes_nothing(self, truth, tmp_path, score):
        path, rows = truth
        lines = [
            {"qid": r["qid"], "pred_relevant_windows": [[1, r["duration"] / 2]], "ans": "B"}
            for r in rows
        ]
        straight = score(
            "rextime", "--predictions", write(tmp_path / "a.jsonl", lines), "--references", path
        )
        random.Random(0).shuffle(lines)
        shuffled = score(
            "rextime", "--predictions", write(tmp_path / "b.jsonl", lines), "--references", path
        )
        assert straight == shuffled


OF_OPTIONS = {"accuracy"}
OF_WINDOWS = {"miou", "recall_at_0.3", "recall_at_0.5"}
OF_BOTH = {"accuracy_at_iou_0.5"}
GROUND_TRUTH = [
    {
        "qid": "q1",
        "query": "?",
        "duration": 20,
        "vid": "v1",
        "relevant_windows": [[0, 10]],
        "ans": "A",
    },
    {
        "qid": "q2",
        "query": "?",
        "duration": 20,
        "vid": "v1",
        "relevant_windows": [[5, 5]],
        "ans": "B",
    },
    {
        "qid": "q3",
        "query": "?",
        "duration": 20,
        "vid": "v2",
        "relevant_windows": [[10, 20]],
        "ans": "C",
    },
    {
        "qid": "q4",
        "query": "?",
        "duration": 20,
        "vid": "v3",
        "relevant_windows": [[0, 4]],
        "ans": "D",
    },
]


@pytest.fixture
def references(tmp_path):
    return write(tmp_path / "truth.jsonl", GROUND_TRUTH)


def predict(tmp_path, **answers):
    rows = [{"qid": qid, **answer} for qid, answer in answers.items()]
    return write(tmp_path / "predictions.jsonl", rows)


def span(start, end, ans="A"):
    return {"pred_relevant_windows": [[start, end]], "ans": ans}


class TestTheAuthorsRules:
    def test_hand_worked(self, references, tmp_path, score):
        # q1: [0,5] in [0,10] = exactly 0.5, right letter. q2: no length: 0. q3: hull of [0,5] and
        # [10,20]: 0. q4: small letter: wrong; [0,8] against [0,4] = 0.5.
        file = predict(
            tmp_path,
            q1={"pred_relevant_windows": [[0, 5, 0.99], [0, 10, 0.5]], "ans": "A"},
            q2=span(5, 5, "B"),
            q3=span(0, 5, "C"),
            q4=span(0, 8, "d"),
        )
        document = score("rextime", "--predictions", file, "--references", references)
        by_hand = {
            "accuracy_at_iou_0.5": 25,
            "accuracy": 75,
            "miou": 25,
            "recall_at_0.3": 50,
            "recall_at_0.5": 50,
        }
        assert by_hand.items() <= values(document).items()

    def test_reversed_windows_score_nothing(self, references, tmp_path, score):
        file = predict(
            tmp_path, q1=span(10, 0), q2=span(9, 1), q3=span(20, 10, "C"), q4=span(4, 0, "D")
        )
        assert (
            values(score("rextime", "--predictions", file, "--references", references))["miou"] == 0
        )

    @pytest.mark.parametrize(
        ("answer", "there"),
        [({"ans": "A"}, OF_OPTIONS), ({"pred_relevant_windows": [[0, 10]]}, OF_WINDOWS)],
    )
    def test_a_metric_that_a_submission_can_not_support_is_absent(
        self, answer, there, references, tmp_path, score
    ):
        file = predict(tmp_path, **{row["qid"]: answer for row in GROUND_TRUTH})
        document = score("rextime", "--predictions", file, "--references", references)
        all_metrics = OF_OPTIONS | OF_WINDOWS | OF_BOTH
        assert all_metrics & document["metrics"].keys() == there

    @pytest.mark.parametrize("windows", [[], None, [[3]], "3-4", [["a", "b"]], [None]])
    def test_an_unreadable_window_is_wrong_and_counted(self, windows, references, tmp_path, score):
        file = predict(
            tmp_path,
            q1={"pred_relevant_windows": windows, "ans": "A"},
            **{
                row["qid"]: span(*row["relevant_windows"][0], row["ans"])
                for row in GROUND_TRUTH[1:]
            },
        )
        document = score("rextime", "--predictions", file, "--references", references)
        assert document["counts"]["parse_failed"] == 1
        assert document["metrics"]["miou"] == {
            "value": 50,
            "ci95": document["metrics"]["miou"]["ci95"],
            "n": 4,
        }


class TestIdsThatDoNotFit:
    @pytest.fixture
    def file(self, tmp_path):
        rows = [
            {"qid": "q1", **span(0, 10, "A")},
            {"qid": "q3", **span(10, 20, "C")},
            {"qid": "q4", **span(0, 4, "D")},
            {"qid": "other", **span(0, 4, "D")},
        ]
        return write(tmp_path / "predictions.jsonl", rows)

    def test_they_are_counted_and_listed(self, file, references, reelbench):
        done = reelbench(
            "score", "rextime", "--predictions", file, "--references", references, "--json"
        )
        document = json.loads(done.stdout)
        assert done.returncode == 0
        counts = document["counts"]
        assert (counts["items"], counts["scored"], counts["unscored"]) == (
            4,
            3,
            {"prediction_missing": 1},
        )
        assert (counts["missing"], counts["extra"], counts["duplicate"]) == (1, 1, 0)
        assert values(document)["accuracy"] == 100  # of the three that were answered
        assert document["metrics"]["accuracy"]["n"] == 3
        assert "1 missing id: q2" in done.stderr
        assert "1 extra id: other" in done.stderr

    def test_strict_makes_them_a_failure_and_still_writes_the_result(
        self, file, references, tmp_path, reelbench
    ):
        out = tmp_path / "a folder" / "out"
        done = reelbench(
            "score",
            "rextime",
            "--predictions",
            file,
            "--references",
            references,
            "--strict",
            "--output",
            out,
        )
        assert done.returncode == 1
        assert (out / "result.json").is_file()

    def test_strict_is_content_with_a_whole_submission(self, references, tmp_path, reelbench):
        file = predict(
            tmp_path, **{r["qid"]: span(*r["relevant_windows"][0], r["ans"]) for r in GROUND_TRUTH}
        )
        done = reelbench(
            "score", "rextime", "--predictions", file, "--references", references, "--strict"
        )
        assert done.returncode == 0, done.stderr


class TestBadInput:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ('{"qid": "q1", "ans": "A"}\n{"qid": "q2", "a', "line 2"),
            ('{"id": "q1", "answer": "A"}\n', 'expected, "qid" with "pred_relevant_windows"'),
            ("", "empty"),
            ("[]", "no predictions"),
            ("[1, 2]", "found int"),
            ('{"qid": "q1"}', "found qid"),
            ('{"qid": "zz", "ans": "A"}', "none of its 1 ids"),
        ],
    )
    def test_one_clear_line(self, text, said, references, tmp_path, reelbench):
        file = tmp_path / "with a space.jsonl"
        file.write_text(text, encoding="utf-8")
        done = reelbench("score", "rextime", "--predictions", file, "--references", references)
        assert done.returncode == 2
        assert len(done.stderr.strip().splitlines()) == 1
        assert said in done.stderr
        assert str(file) in done.stderr
        assert done.stdout == ""

    def test_a_reference_file_of_another_kind_says_what_was_expected_and_found(
        self, tmp_path, reelbench
    ):
        file = predict(tmp_path, q1=span(0, 1))
        wrong = write(tmp_path / "wrong.jsonl", [{"key": "q1", "text": "?"}])
        done = reelbench("score", "rextime", "--predictions", file, "--references", wrong)
        assert done.returncode == 2
        assert "relevant_windows" in done.stderr
        assert "found key, text" in done.stderr

    def test_the_hidden_test_split_is_not_scored(self, tmp_path, reelbench):
        hub = [{"qid": "t1", "vid": "v", "duration": 3, "question": "?", "options": ["a", "b", "c", "d"], "ans": "A",
                "span": [0, 1]}]  # fmt: skip
        (tmp_path / "rextime_test_release.json").write_text(json.dumps(hub), encoding="utf-8")
        file = predict(tmp_path, t1=span(0, 1))
        out = tmp_path / "out"
        command = [
            "score",
            "rextime",
            "--predictions",
            file,
            "--split",
            "test",
            "--data",
            tmp_path,
            "--output",
            out,
        ]
        done = reelbench(*command, "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["metrics"] == {}
        # What was held to the owners' format is what is to be submitted, and where.
        (line,) = (out / "submission.jsonl").read_text().splitlines()
        assert json.loads(line) == {"qid": "t1", **span(0, 1)}
        assert "submit" in done.stderr
        assert "https://codalab.lisn.upsaclay.fr/competitions/19587" in done.stderr

    @pytest.mark.parametrize(
        ("row", "says"),
        [
            ({"qid": "t1"}, "line 2 (t1): this qid occurs twice"),
            ({"pred_relevant_windows": [[0, 1], [2, 3]]}, "line 2 (t2): pred_relevant_windows is"),
            ({"pred_relevant_windows": [[0, float("nan")]]}, "pred_relevant_windows is"),
            ({"ans": "E"}, "ans is 'E', expected one of A, B, C, D"),
        ],
    )
    def test_a_submission_that_the_owners_server_would_refuse_is_not_written(self, row, says):
        good = {"qid": "t1", "pred_relevant_windows": [[0, 1]], "ans": ""}
        check_submission([good, {**good, "qid": "t2"}])
        with pytest.raises(InputError, match=re.escape(says)):
            check_submission([good, {**good, "qid": "t2", **row}])


HUB = [
    {
        "qid": "q1",
        "vid": "v_abcdefghijk",
        "duration": 20,
        "question": "Why?",
        "answer": "From <s0> to <e0>, x.",
        "source": "ActivityNet_val_2",
        "category": "means_end",
        "options": ["w", "x", "y", "z"],
        "span": [0, 10],
        "ans": "B",
    }
]


class TestBothSchemas:
    def test_the_hubs_rows(self, tmp_path):
        (tmp_path / "rextime_val.json").write_text(json.dumps(HUB), encoding="utf-8")
        (row,) = loading.load("rextime", "val", data=tmp_path)
        assert row["category"] == ["means-to-an-end"]
        assert (row["span"], row["answer"], row["options"]) == ([0, 10], "B", ["w", "x", "y", "z"])

    def test_what_the_hubs_rows_lack_is_joined_from_the_evaluators_file(self, tmp_path):
        bare = [{key: value for key, value in HUB[0].items() if key not in ("ans", "span")}]
        (tmp_path / "rextime_val.json").write_text(json.dumps(bare), encoding="utf-8")
        write(tmp_path / "rextime_val.jsonl", [{**GROUND_TRUTH[0], "ans": "B"}])
        (row,) = loading.load("rextime", "val", data=tmp_path)
        assert (row["span"], row["answer"]) == ([0, 10], "B")

    def test_the_evaluators_file_alone_has_no_options_to_ask_with(self, tmp_path):
        write(tmp_path / "rextime_val.jsonl", GROUND_TRUTH)
        with pytest.raises(InputError, match=r"rextime_val\.json"):
            loading.load("rextime", "val", data=tmp_path)

    def test_the_test_splits_answers_stay_hidden_whatever_stands_in_their_place(self, tmp_path):
        (tmp_path / "rextime_test_release.json").write_text(json.dumps(HUB), encoding="utf-8")
        (row,) = loading.load("rextime", "test", data=tmp_path)
        assert (row["span"], row["answer"]) == ([], "")

    def test_breakdowns_by_category_need_the_hubs_rows(self, tmp_path, score):
        second = {**HUB[0], "qid": "q2", "category": "sequential", "ans": "A", "vid": "other"}
        truth = tmp_path / "rextime_val.json"
        truth.write_text(json.dumps([HUB[0], second]), encoding="utf-8")
        file = predict(tmp_path, q1=span(0, 10, "B"), q2=span(0, 10, "B"))
        document = score("rextime", "--predictions", file, "--references", truth)
        by = document["breakdowns"]["category"]
        assert by["means-to-an-end"]["accuracy"]["value"] == 100
        assert by["sequential"]["accuracy"] == {"value": 0, "ci95": None, "n": 1}


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (
            {"relevant_windows": [[float("nan"), 5]]},
            "entry 2: the window is nan, expected a time in seconds",
        ),
        (
            {"relevant_windows": [[0, float("inf")]]},
            "entry 2: the window is inf, expected a time in seconds",
        ),
        ({"relevant_windows": [[0, 10**400]]}, "0, expected a time in seconds"),
        (
            {"relevant_windows": [[True, 5]]},
            "entry 2: the window is True, expected a time in seconds",
        ),
        ({"relevant_windows": [5]}, "entry 2: the window is [5], expected [start, end]"),
        ({"relevant_windows": []}, "entry 2 has no window"),
        (
            {"relevant_windows": [[10, 0]]},
            "entry 2: the window is [[10, 0]], which ends before it starts",
        ),
        (
            {"relevant_windows": [[-5, -1]]},
            "entry 2: the window is [[-5, -1]], which begins before 0",
        ),
        ({"ans": "ABCD"}, "the reference 'q3': answer is 'ABCD'"),
        ({"ans": "a"}, "the reference 'q3': answer is 'a'"),
        (
            {"ans": "E"},
            "the reference 'q3': answer is 'E', expected the letter of one of its options: A, B, C, D",
        ),
        ({"ans": ["A"]}, "entry 2 has no 'ans'"),
    ],
)
def test_damaged_references_are_refused_and_never_a_zero(damage, told, tmp_path, reelbench):
    truth = write(tmp_path / "truth.jsonl", [*GROUND_TRUTH[:1], {**GROUND_TRUTH[2], **damage}])
    file = predict(tmp_path, q1=span(0, 10), q3=span(10, 20, "C"))
    done = reelbench("score", "rextime", "--predictions", file, "--references", truth)
    assert done.returncode == 2
    [line] = done.stderr.strip().splitlines()
    assert f"{truth}: " in line
    assert told in line


@pytest.mark.parametrize("window", [[0, 10**400], [0, float("inf")], ["0", 5], [5]])
def test_a_predicted_window_that_is_not_one_is_the_models_error(
    window, references, tmp_path, score
):
    file = predict(tmp_path, q1={"pred_relevant_windows": [window], "ans": "A"})
    document = score("rextime", "--predictions", file, "--references", references)
    assert values(document)["miou"] == 0
    assert document["counts"]["parse_failed"] == 1


@pytest.mark.parametrize("options", [True, False], ids=["with options", "without"])
def test_the_training_split_may_have_options_or_none(tmp_path, options):
    row = {
        "qid": "t1",
        "vid": "v_abcdefghijk",
        "duration": 60,
        "question": "Why does it rain?",
        "span": [3, 9],
        "answer": "From <s0> to <e0>, a cloud comes.",
        "source": "ActivityNet_train",
        "category": "cause_effect",
    }
    if options:
        row |= {"options": ["a cloud comes", "it snows", "a car stops", "he sings"], "ans": "A"}
    path = tmp_path / "rextime_train.json"
    path.write_text(json.dumps([row]))
    (read,) = loading.locate("rextime", "train", path).read()
    assert read["options"] == row.get("options", [])
    assert read["answer"] == row.get("ans", "")
    assert (read["span"], read["sentence"], read["category"]) == (
        [3, 9],
        row["answer"],
        ["cause-effect"],
    )
    if not options:
        with pytest.raises(InputError, match="has no options"):
            loading.locate("rextime", "val", path).read()


class TestPublished:
    """The supplement, C.5: zero-shot accuracies with the true span; fine-tuned models with 100 and 96 frames."""

    def test_accuracies_with_the_true_span_are_listed_and_not_ranked(self):
        rows = [row for row in published_entries(discovery.get("rextime")) if row.unranked]
        assert {row.unranked for row in rows} == {"true span given"}
        assert {(row.model, *row.metrics) for row in rows} == {
            (m, "accuracy") for m in ("VTimeLLM", "TimeChat", "LITA")
        }
        whole = {
            row.model: row.metrics["accuracy"].value for row in rows if row.group.subset is None
        }
        assert whole == {"VTimeLLM": 36.16, "TimeChat": 40.04, "LITA": 34.44}

    def test_fine_tuned_rows_have_their_frames(self):
        rows = [
            row
            for row in discovery.get("rextime").published
            if row.setting == "fine-tuned" and not row.subset
        ]
        assert {row.model: row.frames for row in rows} == {
            "UniVTG": None, "CG-DETR": None, "VTimeLLM": "100", "TimeChat": "96",
        }  # fmt: skip
