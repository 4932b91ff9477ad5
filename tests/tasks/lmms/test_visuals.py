"""What a row is shown as, without lmms-eval: which adapter gets what, videos in pictures, and what is recorded."""

import shutil
import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

import reelbench
from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.data.rows_on_disk import RowsOnDisk
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks import rextime
from reelbench.tasks.lmms import adapter_patches, adapters
from reelbench.tasks.lmms.task import LmmsTask
from reelbench.video.library import Library
from tests.video import clips


@pytest.fixture
def task():
    return LmmsTask(rextime.SPEC)


@pytest.fixture
def row(reelbench_home):
    """A mini row whose video is 10 numbered frames, 2 per second."""
    row = reelbench.load("rextime_mini")[0]
    path = reelbench_home / "mini" / "rextime" / f"{row['video']}.mp4"
    path.parent.mkdir(parents=True)
    clips.encode(path, codec="libx264", gop=4, ticks=clips.constant(10, 2))
    return row


@pytest.fixture
def shown_to(monkeypatch):
    """Run an adapter with a sampling: shown_to("openai", "uniform:8")."""

    def run(model, spec):
        monkeypatch.setattr(adapters, "running", model)
        monkeypatch.setenv("REELBENCH_FRAMES", spec)

    return run


_watched = None  # the folder and the list of what was opened in it: a hook of Python's can't be taken out again


def _note_opened(event, arguments):
    if event == "open" and _watched is not None and str(arguments[0]).startswith(_watched[0]):
        _watched[1].append(arguments[0])


sys.addaudithook(_note_opened)


@contextmanager
def opened_files(folder):
    """Yield the list of the files that are opened in a folder meanwhile."""
    global _watched  # noqa: PLW0603 - the hook sees nothing else
    _watched = str(folder), []
    try:
        yield _watched[1]
    finally:
        _watched = None


def asked(task, row, kwargs=None):
    """Ask as lmms-eval does: the prompt first, then the message, then the score."""
    task.doc_to_text(row, kwargs)
    (message,) = task.doc_to_messages(row, kwargs)
    sample = task.item(row, "{}")
    return [part for part in message["content"] if part["type"] != "text"], sample


class TestWhatIsShown:
    def test_by_default_the_video_itself_and_nothing_is_known_of_its_frames(
        self, task, row, reelbench_home
    ):
        content, sample = asked(task, row)
        assert content == [
            {"type": "video", "url": str(reelbench_home / "mini/rextime/v_square00001.mp4")}
        ]
        assert sample.frame_timestamps is None
        assert not (reelbench_home / "frames").exists()

    @pytest.mark.parametrize(
        "case",
        [
            ("qwen2_5_vl", "video", [0, 2, 4.5, 4.5], 1),
            ("some_adapter_nobody_looked_at", "image", [0, 2, 4.5], 0),
            ("gemma3", "image", [0, 2, 4.5], 0),
            ("video_llava", "video", [0, 2, 4.5, 4.5], 1),
            (None, "video", [0, 2, 4.5, 4.5], 1),
            ("llava_onevision", "video", [0, 2, 4.5], 0),
            ("openai", "image", [0, 2, 4.5], 0),
        ],
    )
    def test_each_adapter_gets_the_frames_in_the_form_that_it_takes_whole(
        self, case, task, row, shown_to
    ):
        model, kind, times, padding = case
        shown_to(model, "uniform:3")
        content, sample = asked(task, row)
        assert [part["type"] for part in content] == [kind] * (1 if kind == "video" else len(times))
        assert (sample.frame_timestamps, sample.frame_padding) == (times, padding)

    def test_the_kwargs_of_a_yaml_ask_and_the_environment_overrules_them(
        self, task, row, monkeypatch
    ):
        assert asked(task, row, {"frames": "uniform:4"})[1].frame_timestamps == [0, 1.5, 3, 4.5]
        monkeypatch.setenv("REELBENCH_FRAMES", "none")
        again = LmmsTask(rextime.SPEC)
        content, sample = asked(again, row, {"frames": "uniform:4"})
        assert content == []
        assert sample.frame_timestamps == []

    def test_where_two_samplings_were_asked_for_none_is_recorded(self, task, row):
        asked(task, row, {"frames": "uniform:4"})
        _, sample = asked(task, row, {"frames": "uniform:2"})
        assert sample.frame_timestamps is None

    def test_simple_models_get_a_path_or_opened_pictures(self, task, row, monkeypatch):
        (path,) = task.doc_to_visual(row)
        assert path.endswith("v_square00001.mp4")
        monkeypatch.setenv("REELBENCH_FRAMES", "uniform:3,as=images")
        assert [clips.number_in(np.asarray(picture)) for picture in task.doc_to_visual(row)] == [
            0,
            4,
            9,
        ]
        monkeypatch.setenv("REELBENCH_FRAMES", "none")
        assert task.doc_to_visual(row) == []

    def test_nothing_is_decoded_for_a_model_that_does_not_look(
        self, task, row, shown_to, reelbench_home
    ):
        shown_to("reelbench_baseline", "uniform:3")
        task.doc_to_text(row)
        assert task.item(row, "{}").frame_timestamps is None
        assert not (reelbench_home / "frames").exists()

    def test_a_window_behind_the_end_leaves_its_question_unscored(self, task, row, monkeypatch):
        monkeypatch.setenv("REELBENCH_FRAMES", "window:5-9,4")
        content, sample = asked(task, row)
        assert content == []
        assert (sample.reason, sample.frame_timestamps) == ("media_unreadable", None)
        assert task.doc_to_text(row).endswith("(The video can't be shown.)")

    @pytest.mark.parametrize(
        "error", [ValueError("cannot reshape\narray"), ZeroDivisionError(), MemoryError()]
    )
    def test_whatever_a_video_makes_a_library_raise_leaves_its_question_unscored(
        self, error, task, row, shown_to, monkeypatch
    ):
        def fails(*_, **__):
            raise error

        shown_to("qwen2_5_vl", "uniform:3")
        monkeypatch.setattr("reelbench.video.shown_media.frames_of_row", fails)
        content, sample = asked(task, row)
        assert content == []
        assert sample.reason == "media_unreadable"


class TestTimesOfPictures:
    """`times=text`: each picture's time stands before it, in the language of the prompt."""

    def message(self, task, row):
        task.doc_to_text(row)
        (message,) = task.doc_to_messages(row)
        return [part.get("text", part["type"]) for part in message["content"]]

    def test_they_stand_before_each_picture_and_the_prompt_ends_the_message(
        self, task, row, shown_to
    ):
        shown_to("openai", "uniform:3,times=text")
        *shown, prompt = self.message(task, row)
        assert shown == [
            "<0.0 seconds>",
            "image",
            "<2.0 seconds>",
            "image",
            "<4.5 seconds>",
            "image",
        ]
        assert row["question"] in prompt

    def test_without_them_a_message_is_as_before(self, task, row, shown_to):
        shown_to("openai", "uniform:3,times=none")
        assert self.message(task, row)[:-1] == ["image", "image", "image"]

    def test_they_are_in_the_language_of_the_prompt(self, shown_to):
        shown_to("openai", "uniform:2,times=text")
        rows = {row["language"]: row for row in reelbench.load("curve_mini")}
        task = LmmsTask(registry.get("curve"))
        assert self.message(task, rows["ja-JP"])[0] == "<0.0 秒>"
        assert self.message(task, rows["de-DE"])[0] == "<0.0 Sekunden>"

    def test_the_frames_are_the_same_entry_of_the_store(self, task, row, shown_to, reelbench_home):
        shown_to("openai", "uniform:3")
        self.message(task, row)
        shown_to("openai", "uniform:3,times=text")
        self.message(task, row)
        assert len(list((reelbench_home / "frames").glob("??/*/frames.json"))) == 1

    def test_a_simple_adapter_can_t_be_told_them_so_its_questions_are_unscored(
        self, task, row, shown_to, caplog
    ):
        shown_to("llava_onevision", "uniform:3,times=text")
        task.doc_to_text(row)
        assert task.doc_to_visual(row) == []
        assert task.item(row, "(A)").reason == "media_unreadable"
        assert "times=text needs a chat adapter" in caplog.text


class TestWithoutVideos:
    def test_text_only_asks_every_question_and_looks_for_no_video(
        self, task, monkeypatch, reelbench_home
    ):
        rows = reelbench.load("rextime_mini")
        monkeypatch.setenv("REELBENCH_FRAMES", "none")
        kept = task.process_docs(rows)
        assert len(kept) == len(rows)
        assert not (reelbench_home / "mini").exists()
        assert "media_missing=0;frames=none" in str(task.data["rextime_mini"])

    def test_a_wrong_spec_is_the_tasks_problem(self, task, monkeypatch):
        monkeypatch.setenv("REELBENCH_FRAMES", "uniform:0")
        assert len(task.process_docs(reelbench.load("rextime_mini"))) == 0
        problem = task.data["rextime_mini"].problem
        assert problem.startswith("frames 'uniform:0': '0' is not a number of frames from 1")
        with pytest.raises(InputError, match="uniform:0"):
            task.doc_to_text(reelbench.load("rextime_mini")[0])


class TestVideosInPictures:
    """DramaQA's shots are folders of numbered pictures: they go through the same store."""

    @pytest.fixture
    def task(self):
        return LmmsTask(registry.get("dramaqa_cogme"))

    @pytest.fixture
    def row(self):
        return reelbench.load("dramaqa_cogme", "mini")[0]

    def test_frames_are_picked_among_the_pictures(self, task, row, shown_to):
        shown_to("qwen2_5_vl", "uniform:4")
        content, sample = asked(task, row)
        (path,) = [part["url"] for part in content]
        assert len(clips.decoded_in_order(path)) == 4
        every = Library(task.spec, "mini").pictures(row)
        picked = np.linspace(0, len(every.paths) - 1, 4, dtype=int)
        assert sample.frame_timestamps == pytest.approx(
            [every.timestamps[number] for number in picked]
        )

    def test_as_images_they_are_the_owners_own_files(self, task, row, monkeypatch):
        monkeypatch.setenv("REELBENCH_FRAMES", "uniform:2,as=images")
        content, _ = asked(task, row)
        every = Library(task.spec, "mini").pictures(row).paths
        for part, path in zip(content, (every[0], every[-1]), strict=True):
            with Image.open(path) as picture:
                assert part["url"].tobytes() == picture.tobytes()

    def test_each_picture_is_opened_once_however_often_lmms_eval_asks(self, task, row, shown_to):
        shown_to("openai", "uniform:4,as=images")
        pictures = task._frames_of(row).library.pictures(row).paths
        for prompts in (1, 2):
            with opened_files(pictures[0].parents[2]) as opened:
                for _ in range(prompts):
                    task.doc_to_text(row)
                task.doc_to_messages(row)
                task.process_results(row, ["(A)"])
            assert len(opened) == (4 if prompts == 1 else 0)

    def test_a_clip_is_looked_up_once_and_made_anew_where_it_was_evicted_since(
        self, row, shown_to, reelbench_home
    ):
        task = LmmsTask(registry.get("dramaqa_cogme"))
        shown_to("qwen2_5_vl", "uniform:4")
        with opened_files(reelbench_home / "frames") as opened:
            task.doc_to_text(
                row
            )  # all prompts are written before the first question is asked: nothing is decoded
        assert opened == []
        task.doc_to_messages(row)
        with opened_files(reelbench_home / "frames") as opened:
            task.doc_to_messages(row)
            task.process_results(row, ["(A)"])
        assert opened == []
        shutil.rmtree(reelbench_home / "frames")
        (path,) = [
            part["url"]
            for part in task.doc_to_messages(row)[0]["content"]
            if part["type"] == "video"
        ]
        assert len(clips.decoded_in_order(path)) == 4

    def test_an_adapter_that_sends_pictures_on_gets_their_paths(self, task, row, shown_to):
        shown_to("openai", "uniform:2,as=images")
        content, _ = asked(task, row)
        every = Library(task.spec, "mini").pictures(row).paths
        assert [part["url"] for part in content] == [str(every[0]), str(every[-1])]

    def test_a_broken_picture_does_not_reach_the_model(self, task, row, monkeypatch):
        monkeypatch.setenv("REELBENCH_FRAMES", "uniform:2,as=images")
        Library(task.spec, "mini").pictures(row).paths[0].write_bytes(b"no picture")
        content, sample = asked(task, row)
        assert content == []
        assert sample.reason == "media_unreadable"


class Sender:
    """An adapter that sends one request after the other, as lmms-eval's `openai` does; `row["video"]` is its answer."""

    rank, batch_size = 0, 1

    def __init__(self, prefix_aware_queue=True):
        self.prefix_aware_queue = prefix_aware_queue
        self.sent = []

    def generate_until(self, requests):
        requests = (
            sorted(requests, key=lambda r: hash(r.args[0])) if self.prefix_aware_queue else requests
        )
        return [self._send(*request.args) for request in requests]

    def _send(self, _, doc_to_messages, __, number, task, split):
        row = self.task_dict[task][split][number]
        self.sent.append((row["id"], doc_to_messages(row)[0]["content"]))
        return row["id"]


def sent_by(task, given, **chosen):
    """Ask questions of ReXTime through an adapter, all prompts first, as lmms-eval does -> the adapter, its answers."""
    adapter = adapter_patches.patched_adapter(Sender)(**chosen)
    adapter.task_dict = {"rextime_mini": {"test": given}}
    prompts = [task.doc_to_text(row) for row in given]
    requests = [
        SimpleNamespace(
            args=(prompt, task.doc_to_messages, {}, n, "rextime_mini", "test"),
            task_name="rextime_mini",
        )
        for n, prompt in enumerate(prompts)
    ]
    return adapter, adapter.generate_until(requests)


class TestOrder:
    @pytest.fixture
    def given(self, row, reelbench_home):
        """Two videos' questions in turn; the one that is longer comes second."""
        other = row | {"id": "other", "video": "longer", "duration": 500.0}
        folder = reelbench_home / "mini" / "rextime"
        clips.encode(folder / "longer.mp4", codec="libx264", gop=4, ticks=clips.constant(20, 2))
        return [row, other, row | {"id": "mini1b"}, other | {"id": "other b"}]

    def test_a_videos_questions_are_asked_together_and_begin_with_the_same_pictures(
        self, task, given, shown_to
    ):
        shown_to("openai", "uniform:4")
        adapter, answers = sent_by(task, given)
        assert [name for name, _ in adapter.sent] == ["other", "other b", "mini1", "mini1b"]
        assert answers == ["mini1", "other", "mini1b", "other b"]
        for (_, first), (_, second) in zip(adapter.sent[::2], adapter.sent[1::2], strict=True):
            assert [part["type"] for part in first[-2:]] == ["image", "text"]
            assert first[:-1] == second[:-1]

    def test_a_queue_that_the_user_asked_for_stays(self, task, given, shown_to):
        shown_to("openai", "uniform:4")
        adapter, _ = sent_by(task, given, prefix_aware_queue=True)
        assert adapter.prefix_aware_queue
        adapter, _ = sent_by(task, given)
        assert adapter.prefix_aware_queue  # other people's tasks get it

    def test_no_answer_is_kept_where_the_video_gave_no_frames(
        self, task, given, shown_to, reelbench_home
    ):
        shown_to("openai", "uniform:4")
        (reelbench_home / "mini" / "rextime" / "longer.mp4").write_bytes(b"no film")
        _, answers = sent_by(task, given)
        assert answers == [
            "mini1",
            "",
            "mini1b",
            "",
        ]  # lmms-eval's response cache keeps no empty one
        assert task.item(given[1], "").reason == "media_unreadable"
        assert task.item(given[0], "{}").reason != "media_unreadable"


@pytest.fixture
def extract_for(monkeypatch):
    """Run `frames extract` for an adapter in this process."""
    from reelbench.cli.frames import extract

    monkeypatch.setattr(
        "reelbench.video.fill_store._in_pool", lambda videos, work, _: map(work, videos)
    )
    return lambda adapter: extract(
        ["rextime_mini"], frames="uniform:5", shown_to=adapter, workers=1
    )


@pytest.mark.parametrize(
    "adapter", ["openai", "qwen2_5_vl", "qwen2_vl", "gemma3", "llava_onevision"]
)
def test_what_was_extracted_for_an_adapter_is_not_decoded_again(
    adapter, row, shown_to, extract_for, caplog
):
    shown_to(adapter, "uniform:5")
    extract_for(adapter)
    caplog.set_level("INFO", logger="reelbench.video.frame_store")
    content, sample = asked(LmmsTask(rextime.SPEC), row)
    assert len(content) in {1, 5}
    assert sample.frame_timestamps[:2] == [0, 1]
    assert not [record for record in caplog.records if record.getMessage().startswith("decoded ")]


@pytest.mark.usefixtures("row")
def test_frames_are_extracted_for_no_adapter_that_lmms_eval_lacks(extract_for):
    with pytest.raises(InputError, match="--for opena: lmms-eval has no such adapter"):
        extract_for("opena")


class TestTheName:
    def test_it_has_the_canonical_spec_so_that_equal_ones_share_answers(self, monkeypatch):
        data = RowsOnDisk("rextime_mini")
        plain = str(data)
        monkeypatch.setenv("REELBENCH_FRAMES", " uniform:08, size=0448 ")
        assert str(data) == f"{plain};frames=uniform:8,size=448;encoder=2"
        monkeypatch.setenv(
            "REELBENCH_FRAMES", "uniform:8,as=clip"
        )  # to some adapters other than `uniform:8`
        assert str(data) == f"{plain};frames=uniform:8,as=clip;encoder=2"


class TestTheAdaptersOwnArguments:
    @pytest.mark.parametrize(
        ("model", "spec", "added"),
        [
            ("qwen2_5_vl", "uniform:7", {"max_num_frames": "8"}),
            ("qwen2_5_vl", "all", {"max_num_frames": "100000"}),
            ("qwen3_vl", "fps:1,max=64", {"fps": "1000000", "max_num_frames": "64"}),
            ("vllm_generate", "uniform:8", {"fps": "1000000", "max_frame_num": "8"}),
            ("llava_onevision", "uniform:7", {"max_frames_num": "7"}),
            ("openai", "uniform:7", {}),
            ("qwen2_5_vl", "uniform:7,as=images", {}),
            ("qwen2_5_vl", "native", {}),
            ("qwen2_5_vl", "none", {}),
            ("reelbench_baseline", "uniform:7", {}),
        ],
    )
    def test_they_let_it_take_every_frame_of_the_clip(self, model, spec, added):
        assert adapters.added_arguments(model, {}, FrameSampling.parse(spec)) == (added, [])

    def test_of_a_batch_each_clips_own_frames_are_counted(self):
        spec = FrameSampling.parse("fps:1")
        assert adapters.added_arguments("qwen2_5_vl", {"batch_size": "2"}, spec) == (
            {"fps": "1000000"},
            [],
        )
        assert adapters.added_arguments("qwen3_vl", {"batch_size": "2"}, spec)[0].keys() == {
            "fps",
            "max_num_frames",
        }

    def test_the_users_own_stay_and_it_is_said_where_they_differ(self):
        spec = FrameSampling.parse("uniform:8")
        assert adapters.added_arguments(
            "qwen2_5_vl", {"max_num_frames": "8", "device": "cpu"}, spec
        ) == ({}, [])
        added, (note,) = adapters.added_arguments("qwen2_5_vl", {"max_num_frames": "16"}, spec)
        assert added == {}
        assert "keeps your max_num_frames=16" in note
        assert "fps=2" in adapters.added_arguments("qwen2_5_vl", {"fps": "2"}, spec)[1][0]

    @pytest.mark.parametrize("model", ["some_adapter_nobody_looked_at", None])
    def test_one_that_is_not_known_is_said_so(self, model):
        added, (note,) = adapters.added_arguments(model, {}, FrameSampling.parse("uniform:8"))
        assert added == {}
        assert "how it samples clips is unknown" in note
        assert (model or "does not name") in note

    def test_each_is_an_adapter_of_the_installed_lmms_eval_and_takes_these_arguments(self):
        import ast
        from importlib.util import find_spec
        from pathlib import Path

        spec = find_spec("lmms_eval")
        if spec is None:
            pytest.skip("lmms-eval is not installed")
        models = Path(next(iter(spec.submodule_search_locations))) / "models"
        registered = ast.walk(ast.parse((models / "__init__.py").read_text()))
        names = {node.value for node in registered if isinstance(node, ast.Constant)}
        for name, adapter in adapters.ADAPTERS.items():
            if name == "reelbench_baseline" or not adapter.looked_at:
                continue
            assert name in names
            files = [
                path
                for kind in ("chat", "simple")
                if (path := models / kind / f"{name}.py").is_file()
            ]
            if name == "qwen3_5":  # its arguments are handed on to qwen3_vl's
                files.append(models / "simple" / "qwen3_vl.py")
            taken = {
                argument.arg
                for path in files
                for node in ast.walk(ast.parse(path.read_text()))
                if isinstance(node, ast.FunctionDef) and node.name == "__init__"
                for argument in (*node.args.args, *node.args.kwonlyargs)
            }
            assert set(adapter.arguments) <= taken, name
