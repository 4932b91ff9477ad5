"""DramaQA with CogME: the user's own folder, pictures as a video, what is said, and the authors' and CogME's rates."""

import json
import shutil
from fractions import Fraction

import av
import numpy as np
import pytest

from reelbench import registry
from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.data import loading
from reelbench.scoring.cognitive_profile import COMPONENTS
from reelbench.tasks.lmms import codegen
from reelbench.video import library as media
from reelbench.video.row_frames import clip_of_row

SPEC = registry.get("dramaqa_cogme")
lmms = codegen.functions("dramaqa_cogme")
EPISODE = "SquarePlay07"
SCENE = f"{EPISODE}_002_0000"


def shot(number):
    return f"{EPISODE}_002_{number:04}"


def entry(qid=1, **fields):
    return {
        "qid": qid,
        "vid": SCENE,
        "videoType": "scene",
        "que": "Where does the square go?",
        "answers": ["left", "right", "up", "down", "nowhere"],
        "correct_idx": 1,
        "shot_contained": [2, 4],
        "q_level_logic": 3,
        "q_level_mem": 3,
        **fields,
    }


def line(start, words, speaker="Quad"):
    return {"speaker": speaker, "st": start, "et": str(float(start) + 1), "utter": words}


def write(path, document):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    """The owners' layout, without pictures yet."""
    root = tmp_path / "data" / "AnotherMissOh"
    write(root / "AnotherMissOh_QA" / "AnotherMissOhQA_val_set.json", [entry()])
    return root


def picture(path, grey):
    """Write a jpg of one grey."""
    path.parent.mkdir(parents=True, exist_ok=True)
    encoder = av.CodecContext.create("mjpeg", "w")
    encoder.width, encoder.height, encoder.pix_fmt, encoder.time_base = (
        64,
        48,
        "yuvj420p",
        Fraction(1, 25),
    )
    frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), grey, np.uint8), "rgb24").reformat(
        format="yuvj420p"
    )
    frame.pts = 0
    path.write_bytes(
        b"".join(bytes(packet) for part in (frame, None) for packet in encoder.encode(part))
    )


def pictures(root, shots):
    """Write `{shot number: {picture number: grey}}` in the owners' layout."""
    for number, greys in shots.items():
        for at, grey in greys.items():
            name = f"IMAGE_{at:010}.jpg"
            picture(root / "AnotherMissOh_images" / EPISODE / "002" / f"{number:04}" / name, grey)


def library(monkeypatch, root):
    monkeypatch.setenv("REELBENCH_DATA_DRAMAQA_COGME", str(root))
    return media.Library(SPEC, "val")


def row(**fields):
    return {"id": "1", "video": SCENE, "shots": [shot(2), shot(3), shot(4)], **fields}


class TestTheUsersFolder:
    @pytest.mark.parametrize("given", [".", "AnotherMissOh", "AnotherMissOh/AnotherMissOh_QA"])
    def test_the_questions_are_found_in_the_owners_layout(self, given, folder):
        (found,) = loading.load("dramaqa_cogme", data=folder.parent / given)
        assert found["id"] == "1"
        assert found["answer"] == "B"  # correct_idx counts from 0
        assert found["options"] == ["left", "right", "up", "down", "nowhere"]
        assert found["difficulty"] == ["3"]
        assert found["shots"] == [shot(2), shot(3), shot(4)]
        assert found["video_type"] == "scene"

    def test_without_one_a_line_says_how_to_get_it_and_nothing_is_fetched(self):
        with pytest.raises(DataUnavailableError) as caught:
            loading.load("dramaqa_cogme")
        said = str(caught.value)
        assert "\n" not in said
        for part in (
            "agreement",
            "https://dramaqa.github.io/Download",
            "REELBENCH_DATA_DRAMAQA_COGME",
        ):
            assert part in said

    def test_the_test_split_keeps_its_answers_hidden(self, folder):
        write(folder / "AnotherMissOh_QA" / "AnotherMissOhQA_test_set.json", [entry(correct_idx=2)])
        (found,) = loading.load("dramaqa_cogme", "test", data=folder)
        assert found["answer"] == ""

    def test_a_shot_is_its_own_video(self, tmp_path):
        path = write(
            tmp_path / "q.json", [entry(vid=shot(3), videoType="shot", shot_contained=[3])]
        )
        assert loading.load("dramaqa_cogme", data=path)[0]["shots"] == [shot(3)]

    @pytest.mark.parametrize(
        ("changed", "said"),
        [
            ({"correct_idx": 5}, r"entry 1: correct_idx is 5, expected a whole number from 0 to 4"),
            ({"correct_idx": True}, r"correct_idx is True"),
            ({"correct_idx": None}, r"has no 'correct_idx'"),
            ({"answers": ["a", "b"]}, r"expected 5 'answers', found 2 of them"),
            ({"que": " "}, r"has no 'que'"),
            ({"vid": "../../etc/passwd"}, r"is not a DramaQA question; expected qid, vid"),
            ({"vid": "../x_001_0001"}, r"is not a DramaQA question"),
            ({"shot_contained": ["a"]}, r"shot_contained is \['a'\], expected \[first, last\]"),
        ],
    )
    def test_a_wrong_question_says_where_and_what(self, changed, said, tmp_path):
        path = write(tmp_path / "q.json", [entry(**changed)])
        with pytest.raises(InputError, match=said) as caught:
            loading.load("dramaqa_cogme", data=path)
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)


SCRIPT = {
    shot(2): {
        "contained_subs": [line("10.5", "Third."), line("9.25", "Second.")],
        "st": "9",
        "et": "12",
    },
    # A line that runs over a cut stands in both shots.
    shot(3): {
        "contained_subs": [line("10.5", "Third."), line("100.1", "Last.", "Tria")],
        "st": "12",
        "et": "15",
    },
    shot(1): {"contained_subs": [line("3.5", "First.")], "st": "2", "et": "9"},
    f"{EPISODE}_003_0001": {
        "contained_subs": [line("200.0", "Elsewhere.")],
        "st": "199",
        "et": "202",
    },
}


class TestWhatIsSaid:
    def test_a_scene_has_each_line_of_its_shots_once_in_order_of_time(self, folder):
        # As the authors merge it: by the scene's prefix, one line per start, sorted by it as a
        # number.
        write(folder / "AnotherMissOh_script.json", SCRIPT)
        (found,) = loading.load("dramaqa_cogme", data=folder)
        assert found["subtitles"].split("\n") == [
            "Quad: First.",
            "Quad: Second.",
            "Quad: Third.",
            "Tria: Last.",
        ]

    def test_a_shot_has_its_own_lines(self, folder):
        write(folder / "AnotherMissOh_script.json", SCRIPT)
        write(folder / "AnotherMissOh_QA" / "AnotherMissOhQA_val_set.json", [entry(vid=shot(2))])
        assert (
            loading.load("dramaqa_cogme", data=folder)[0]["subtitles"]
            == "Quad: Second.\nQuad: Third."
        )

    def test_it_is_shown_on_request_only_and_the_results_can_be_told_apart(self, folder):
        write(folder / "AnotherMissOh_script.json", SCRIPT)
        (found,) = loading.load("dramaqa_cogme", data=folder)
        assert "Second." not in lmms.doc_to_text(found)
        assert "Quad: Second.\nQuad: Third." in lmms.doc_to_text(
            found, {"prompt": "prompt_subtitles.txt"}
        )
        from reelbench.registry.prompts import prompt_sha256

        prompts = {task.name: prompt_sha256(SPEC, task.prompt) for task in SPEC.tasks}
        assert prompts["dramaqa_cogme_subtitles"] != prompts["dramaqa_cogme"]
        assert prompts["dramaqa_cogme_subtitles"] == prompts["dramaqa_cogme_subtitles_mini"]

    def test_without_the_script_the_task_with_subtitles_can_not_be_run(self, folder, monkeypatch):
        pictures(folder, {2: {100: 10}})
        monkeypatch.setenv("REELBENCH_DATA_DRAMAQA_COGME", str(folder))
        assert len(lmms.process_docs(loading.load("dramaqa_cogme"))) == 1
        assert len(lmms.process_docs(loading.load("dramaqa_cogme_subtitles"))) == 0
        assert lmms.data["dramaqa_cogme_subtitles"].problem == (
            "its prompt needs subtitles, and no question has any; put AnotherMissOh_script.json beside the questions"
        )

    def test_a_broken_script_says_where(self, folder):
        write(
            folder / "AnotherMissOh_script.json",
            {shot(2): {"contained_subs": [{"utter": "No time."}]}},
        )
        with pytest.raises(
            InputError, match=rf"script.json: '{shot(2)}' has no 'contained_subs' with speaker, st"
        ):
            loading.load("dramaqa_cogme", data=folder)


class TestPictures:
    def test_a_scenes_shots_follow_one_another_and_times_are_true(self, folder, monkeypatch):
        # Shot 3 has no folder, as some of the owners' have none; numbers count 25 to the second.
        pictures(folder, {4: {516: 90, 508: 80}, 2: {400: 10, 408: 20, 416: 30}, 9: {900: 200}})
        stray = folder / "AnotherMissOh_images" / EPISODE / "002" / "0002" / "Thumbs.db"
        stray.write_bytes(b"")
        found = library(monkeypatch, folder).pictures(row())
        assert [path.name for path in found.paths] == [
            f"IMAGE_{number:010}.jpg" for number in (400, 408, 416, 508, 516)
        ]
        assert found.timestamps == pytest.approx((0, 0.32, 0.64, 4.32, 4.64))
        assert found.fps == 3

    def test_they_are_one_clip_that_holds_exactly_them(self, folder, monkeypatch):
        greys = [20, 60, 100, 140, 180, 220]
        pictures(
            folder,
            {
                2: dict(zip((400, 408, 416), greys[:3], strict=True)),
                3: {424: 140, 432: 180, 440: 220},
            },
        )
        clip = clip_of_row(library(monkeypatch, folder), row())
        with av.open(str(clip)) as container:
            frames = list(container.decode(video=0))
        shown = [frame.to_ndarray(format="gray").mean() for frame in frames]
        assert shown == pytest.approx(greys, abs=6)
        assert [frame.time for frame in frames] == pytest.approx(
            [n * 0.32 for n in range(6)], abs=1e-3
        )

    @pytest.mark.parametrize(
        "place", ["AnotherMissOh_images", "AnotherMissOh/AnotherMissOh_images", ""]
    )
    def test_they_may_lie_under_a_media_root(self, place, folder, tmp_path, monkeypatch):
        pictures(folder, {2: {400: 10}})
        root = tmp_path / "media"
        shutil.move(folder / "AnotherMissOh_images", root / place)
        monkeypatch.setenv("REELBENCH_MEDIA", str(root))
        assert len(media.Library(SPEC, "val").pictures(row()).paths) == 1

    def test_a_media_key_alone_finds_its_scene(self, folder, monkeypatch):
        pictures(folder, {2: {400: 10}, 3: {408: 20}})
        found = library(monkeypatch, folder)
        assert found.find({"video": SCENE}).name == "IMAGE_0000000400.jpg"
        assert found.find({"video": shot(3)}).name == "IMAGE_0000000408.jpg"

    def test_a_broken_picture_is_left_out_and_said(self, folder, monkeypatch, caplog):
        pictures(folder, {2: {400: 50, 408: 100, 416: 150}})
        first = folder / "AnotherMissOh_images" / EPISODE / "002" / "0002" / "IMAGE_0000000400.jpg"
        first.write_bytes(b"\xff\xd8 not a picture")
        found = library(monkeypatch, folder)
        assert found.missing([row()]) == []
        with av.open(str(clip_of_row(found, row()))) as container:
            assert len(list(container.decode(video=0))) == 2
        assert "a picture of 1 is left out" in caplog.text
        assert str(first) in caplog.text

    def test_only_without_any_picture_is_it_missing(self, folder, monkeypatch):
        assert [gone.broken for gone in library(monkeypatch, folder).missing([row()])] == [None]
        pictures(folder, {2: {400: 50}})
        broken = folder / "AnotherMissOh_images" / EPISODE / "002" / "0002" / "IMAGE_0000000400.jpg"
        broken.write_bytes(b"")
        (gone,) = library(monkeypatch, folder).missing([row()])
        assert (gone.id, gone.broken) == ("1", "the file is empty")


REFERENCES = [
    entry(1, q_level_logic=1, correct_idx=0),
    entry(2, q_level_logic=1, correct_idx=1),
    entry(3, q_level_logic=1, correct_idx=2),
    entry(4, q_level_logic=2, correct_idx=3),
    entry(5, q_level_logic=2, correct_idx=4),
    entry(6, q_level_logic=3, correct_idx=0),
    entry(7, q_level_logic=4, correct_idx=1),
]
# Right: 1, 2, 4, 7. By the authors' definition: 1_accuracy 2/3, 2_accuracy 1/2, 3_accuracy 0,
# 4_accuracy 1, total 4/7.
PREDICTIONS = {1: 0, 2: 1, 3: 0, 4: 3, 5: 0, 6: 4, 7: 1}


@pytest.fixture
def references(tmp_path):
    return write(tmp_path / "AnotherMissOhQA_test_set_with_gt.json", REFERENCES)


def as_list(predictions):
    return [{"qid": qid, "correct_idx": index} for qid, index in predictions.items()]


class TestAccuracy:
    @pytest.mark.parametrize(
        "document",
        [
            as_list(PREDICTIONS),
            {str(qid): {"qid": qid, "correct_idx": index} for qid, index in PREDICTIONS.items()},
            {str(qid): index for qid, index in PREDICTIONS.items()},
        ],
        ids=["list", "by qid", "index by qid"],
    )
    def test_it_is_the_authors_in_percent(self, document, references, tmp_path, score):
        result = score(
            "dramaqa_cogme",
            "--predictions",
            write(tmp_path / "p.json", document),
            "--references",
            references,
        )
        assert result["metrics"]["accuracy"]["value"] == pytest.approx(400 / 7)
        levels = {
            label: found["accuracy"]["value"]
            for label, found in result["breakdowns"]["difficulty"].items()
        }
        assert levels == pytest.approx({"1": 200 / 3, "2": 50, "3": 0, "4": 100})
        assert result["metrics"]["difficulty_average"]["value"] == pytest.approx(
            (200 / 3 + 50 + 0 + 100) / 4
        )
        assert set(result["breakdowns"]) == {"difficulty"}

    def test_a_missing_answer_is_counted_where_the_authors_script_gives_up(
        self, references, tmp_path, score
    ):
        found = {qid: index for qid, index in PREDICTIONS.items() if qid != 3}
        path = write(tmp_path / "p.json", [*as_list(found), *as_list({99: 0})])
        counts = score("dramaqa_cogme", "--predictions", path, "--references", references)["counts"]
        assert (counts["items"], counts["scored"], counts["missing"]) == (7, 6, 1)
        assert counts["extra"] == 1

    def test_what_is_no_option_is_wrong_and_counted(self, references, tmp_path, score):
        path = write(tmp_path / "p.json", as_list({**PREDICTIONS, 1: 5, 2: "1", 4: None, 7: -1}))
        result = score("dramaqa_cogme", "--predictions", path, "--references", references)
        assert result["metrics"]["accuracy"] == {"value": 0, "ci95": None, "n": 7}
        assert result["counts"]["parse_failed"] == 4

    def test_references_without_answers_are_refused(self, tmp_path, reelbench):
        hidden = [
            {name: value for name, value in one.items() if name != "correct_idx"}
            for one in REFERENCES
        ]
        done = reelbench(
            "score", "dramaqa_cogme",
            "--predictions", write(tmp_path / "p.json", as_list(PREDICTIONS)),
            "--references", write(tmp_path / "AnotherMissOhQA_test_set.json", hidden),
        )  # fmt: skip
        assert done.returncode == 2
        assert "the answers of this file are hidden" in done.stderr


def tag(qid, target, content, thinking):
    return {"qid": qid, "target": target, "content": content, "thinking": thinking}


# Worked by hand over PREDICTIONS; question 3 has no tags, and tag 50 no question.
TAGS = [
    tag(1, ["Character"], ["Identity"], "Recall"),  # right
    tag(2, ["Character", "Place"], ["Identity", "Feature"], "Grasping"),  # right
    tag("4", [], ["Causality"], "Reasoning"),  # right
    tag(5, ["Character"], ["Causality"], "Reasoning"),  # wrong
    tag(6, ["Place", "Emotion"], ["Feature"], "Recall"),  # wrong
    tag(7, ["Character", "Object", "Event"], ["Means"], "Recall"),  # right
    tag(50, ["Commonsense"], ["Means"], "Recall"),
]


def tags_file(tmp_path, tags=TAGS):
    path = tmp_path / "tags.jsonl"
    path.write_text(
        "\n".join(one if isinstance(one, str) else json.dumps(one) for one in tags),
        encoding="utf-8",
    )
    return path


RATES = {  # facet, label: share right, share of points won, questions
    ("target", "Character"): (3 / 4, (1 + 2 + 1) / (1 + 2 + 3 + 1), 4),
    ("target", "Place"): (1 / 2, 2 / (2 + 1), 2),
    ("target", "Emotion"): (0, 0, 1),
    ("target", "Object"): (1, 1, 1),
    ("target", "Event"): (1, 1, 1),
    ("content", "Identity"): (1, 1, 2),
    ("content", "Feature"): (1 / 2, 2 / (2 + 1), 2),
    ("content", "Causality"): (1 / 2, 3 / (3 + 3), 2),
    ("content", "Means"): (1, 1, 1),
    ("thinking", "Recall"): (2 / 3, 2 / 3, 3),
    ("thinking", "Grasping"): (1, 1, 1),
    ("thinking", "Reasoning"): (1 / 2, 1 / 2, 2),
}


class TestTheProfile:
    def test_rates_are_those_worked_by_hand(self, references, tmp_path, score):
        predictions = write(tmp_path / "p.json", as_list(PREDICTIONS))
        files = (
            "--predictions",
            predictions,
            "--references",
            references,
            "--tags",
            tags_file(tmp_path),
        )
        result = score("dramaqa_cogme", *files)
        found = {
            (facet, label): (
                metrics["rate"]["value"],
                metrics["weighted_rate"]["value"],
                metrics["rate"]["n"],
            )
            for facet, labels in result["breakdowns"].items()
            for label, metrics in labels.items()
            if facet in COMPONENTS
        }
        assert found.keys() == RATES.keys()  # no label of the tag that has no question
        for where, (rate, weighted, n) in RATES.items():
            assert found[where] == pytest.approx((100 * rate, 100 * weighted, n)), where
        tagged = result["breakdowns"]["tagged"]["all"]["accuracy"]
        assert (tagged["value"], tagged["n"]) == (pytest.approx(100 * 4 / 6), 6)
        counts = result["counts"]
        assert (counts["tags_without_question"], counts["questions_without_tags"]) == (1, 1)
        assert counts["scored"] == 7  # a question without tags is scored like any other

    @pytest.mark.parametrize(
        ("bad", "said"),
        [
            (
                tag(2, ["Charakter"], [], "Recall"),
                "line 2, field \"target\": no label 'Charakter'; labels are",
            ),
            (
                tag(2, [], ["Identity", "Feature", "Means", "Context"], "Recall"),
                'line 2, field "content": 4 labels',
            ),
            (
                tag(2, ["Character", "Object", "Place", "Event"], [], "Recall"),
                'line 2, field "target": 4 labels',
            ),
            (
                tag(2, [], [], ["Recall", "Reasoning"]),
                'line 2, field "thinking": a list of 2 labels; expected exactly',
            ),
            (tag(2, [], [], "Analysing"), "line 2, field \"thinking\": no label 'Analysing'"),
            (tag(1, [], [], "Recall"), "line 2, field \"qid\": '1' has its tags in line 1 already"),
            ('{"qid": 2', "line 2, column"),
        ],
    )
    def test_bad_tags_are_one_line_and_exit_2(self, bad, said, references, tmp_path, reelbench):
        predictions = write(tmp_path / "p.json", as_list(PREDICTIONS))
        path = tags_file(tmp_path, [TAGS[0], bad])
        done = reelbench(
            "score",
            "dramaqa_cogme",
            "--predictions",
            predictions,
            "--references",
            references,
            "--tags",
            path,
            "--json",
        )
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.strip().splitlines()
        assert str(path) in line
        assert said in line

    def test_tags_of_another_release_are_refused(self, references, tmp_path, reelbench):
        predictions = write(tmp_path / "p.json", as_list(PREDICTIONS))
        path = tags_file(tmp_path, [tag(9001, [], [], "Recall")])
        done = reelbench(
            "score",
            "dramaqa_cogme",
            "--predictions",
            predictions,
            "--references",
            references,
            "--tags",
            path,
        )
        assert done.returncode == 2
        assert (
            "none of its 1 qids (first: '9001') is among the 7 questions (first: '1')"
            in done.stderr
        )


def test_a_submission_is_read_back_as_it_was_written(tmp_path):
    from reelbench.registry.records import Sample
    from reelbench.tasks.dramaqa_cogme.formats import read
    from reelbench.tasks.submissions import Questions, write_submission

    answers = {"8": "E", "9": None}
    samples = [
        Sample(
            id=qid,
            video=SCENE,
            prediction="",
            parsed={"answer": letter},
            target={},
            state="unscored",
        )
        for qid, letter in answers.items()
    ]
    path = tmp_path / "submission.json"
    write_submission(SPEC, samples, path)
    assert json.loads(path.read_text(encoding="utf-8")) == as_list({8: 4, 9: -1})
    document = json.loads(path.read_text(encoding="utf-8"))
    predictions = read(Questions(SPEC, "mini"), path, document)
    assert {qid: prediction.parsed["answer"] for qid, prediction in predictions.items()} == answers


def test_nothing_of_the_drama_is_shipped():
    for path in (SPEC.folder / "mini").iterdir():
        assert "AnotherMissOh" not in path.read_text(encoding="utf-8")


@pytest.mark.lmms
@pytest.mark.parametrize("kind", ["chat", "simple"])
def test_lmms_eval_shows_what_is_said_where_the_tasks_name_says_so(kind):
    import lmms_eval.models  # noqa: F401 - its entry points register our tasks
    from lmms_eval.tasks import TaskManager

    names = ["dramaqa_cogme_mini", "dramaqa_cogme_subtitles_mini"]
    tasks = TaskManager(include_defaults=False, model_name="openai").load_task_or_group(names, kind)
    for name, task in tasks.items():
        row = task.task_docs[0]
        prompts = [task.doc_to_text(row)]
        if kind == "chat":
            prompts.append(task.doc_to_messages(row)[0]["content"][1]["text"])
        assert all(
            ("Quad: The way is long." in prompt) == ("subtitles" in name) for prompt in prompts
        )
