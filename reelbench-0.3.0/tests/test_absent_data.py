"""What a run does without a task's data or videos: the task fails alone, and what is left out is counted."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import av
import numpy as np
import pytest

from reelbench.base.errors import DataUnavailableError
from reelbench.video.mini_clips import draw_clip

pytestmark = [pytest.mark.lmms, pytest.mark.slow]


def question(number, video):
    return {
        "qid": f"q{number}",
        "vid": video,
        "duration": 3,
        "question": "what is seen?",
        "options": ["a square", "a circle", "a ring", "a star"],
        "source": "qvhighlights_val",
        "category": "sequential",
        "span": [0, 3],
        "ans": "A",
    }


def sound_only(path):
    with av.open(str(path), "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=16_000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 16_000), np.float32), format="fltp", layout="mono"
        )
        frame.sample_rate = 16_000
        for part in (frame, None):
            container.mux(stream.encode(part))


@pytest.fixture
def rextime(tmp_path, monkeypatch):
    """Six questions: on a video that is here, one that isn't, and four that are no videos."""
    data, videos = tmp_path / "data", tmp_path / "my mkv films"
    data.mkdir()
    videos.mkdir()
    names = ("here", "gone", "corrupt", "silent film", "empty", "cut")
    questions = [question(number, name) for number, name in enumerate(names)]
    (data / "rextime_val.json").write_text(json.dumps(questions), encoding="utf-8")
    draw_clip(videos / "here.mp4", "here", 3)
    (videos / "corrupt.mp4").write_bytes(b"this is no video")
    sound_only(videos / "silent film.mp4")
    (videos / "empty.mp4").write_bytes(b"")
    (videos / "cut.mp4").write_bytes((videos / "here.mp4").read_bytes()[:1000])
    monkeypatch.setenv("REELBENCH_DATA_REXTIME", str(data))
    monkeypatch.setenv("REELBENCH_MEDIA", str(videos))
    return videos


@pytest.fixture(scope="module")
def evaluate():
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    manager = TaskManager(
        include_defaults=False
    )  # only ours: lmms-eval's own take seconds to index

    def run(*tasks):
        with contextlib.redirect_stdout(io.StringIO()):
            done = simple_evaluate(
                "reelbench_baseline", "kind=first_option", tasks=list(tasks), task_manager=manager
            )
        return done["results"]

    return run


def said(caplog, start):
    return [
        record.getMessage() for record in caplog.records if record.getMessage().startswith(start)
    ]


def test_the_others_run_and_what_was_left_out_is_in_the_result(rextime, tmp_path, reelbench):
    out = tmp_path / "out"
    command = [
        Path(sys.executable).with_name("lmms-eval"),
        *(
            "--tasks",
            "rextime,moviecore,dramaqa_cogme,curve_ja-JP,curve_mini",
            "--model",
            "reelbench_baseline",
        ),
        *("--model_args", "kind=whole_video", "--log_samples", "--output_path", out),
    ]
    done = subprocess.run(
        command,
        env=dict(os.environ),
        capture_output=True,
        encoding="utf-8",
        timeout=1800,
        check=False,
    )
    (path,) = out.rglob("*_results.json")
    assert json.loads(path.read_text(encoding="utf-8"))["results"].keys() == {
        "rextime",
        "curve_mini",
    }, done.stderr
    lines = done.stderr.splitlines()
    for task, why in (
        ("moviecore", "HF_HUB_OFFLINE"),
        ("curve_ja-JP", "HF_HUB_OFFLINE"),
        ("dramaqa_cogme", "REELBENCH_DATA_DRAMAQA_COGME"),
    ):
        (line,) = [line for line in lines if line.startswith(f"{task} is left out of this run: ")]
        assert why in line
    (line,) = [line for line in lines if line.startswith("rextime: 5 of 6 questions are left out")]
    assert f"(first: gone; looked in {rextime}, " in line

    scored = reelbench("score", "--run", out, "--output", tmp_path / "scored")
    assert scored.returncode == 0, scored.stderr
    result = json.loads(
        (tmp_path / "scored" / "rextime" / "result.json").read_text(encoding="utf-8")
    )
    assert result["counts"]["unscored"] == {"media_missing": 5}
    assert (result["counts"]["items"], result["counts"]["media_missing"]) == (6, 5)
    # The one question that was asked is answered right, with the whole video as its span: nothing
    # else counts.
    assert result["metrics"]["accuracy"] == {"value": 100, "ci95": None, "n": 1}


def test_a_task_without_any_video_is_left_out_too(rextime, evaluate, caplog):
    for path in rextime.iterdir():
        path.unlink()
    assert evaluate("rextime", "rextime_mini").keys() == {"rextime_mini"}
    (line,) = said(caplog, "rextime is left out of this run: ")
    assert "none of its 6 videos is here (first: here; looked in " in line
    assert "\n" not in line
    # Once they are here, the same process finds them.
    draw_clip(rextime / "here.mp4", "here", 3)
    assert evaluate("rextime").keys() == {"rextime"}


def test_where_nothing_is_left_the_run_says_why(evaluate):
    with pytest.raises(DataUnavailableError) as caught:
        evaluate("moviecore", "dramaqa_cogme")
    assert str(caught.value).startswith("no task is left to run (")
    assert "moviecore: " in str(caught.value)
    assert "dramaqa_cogme: " in str(caught.value)


def test_a_task_whose_prompt_needs_what_is_not_here_is_left_out(
    evaluate, tmp_path, monkeypatch, caplog
):
    from reelbench.data import loading

    mini = loading.discovery.get("dramaqa_cogme").folder / "mini"
    (tmp_path / "AnotherMissOhQA_val_set.json").write_bytes(
        (mini / "AnotherMissOhQA_val_set.json").read_bytes()
    )
    monkeypatch.setenv("REELBENCH_DATA_DRAMAQA_COGME", str(tmp_path))
    assert evaluate("dramaqa_cogme_subtitles", "curve_mini").keys() == {"curve_mini"}
    (line,) = said(caplog, "dramaqa_cogme_subtitles is left out of this run: ")
    assert line.endswith("put AnotherMissOh_script.json beside the questions")


def test_a_failure_that_is_not_the_datas_is_not_hidden(evaluate, monkeypatch):
    from reelbench.tasks.lmms import codegen

    def broken(_):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(codegen.functions("rextime"), "doc_to_target", broken)
    with pytest.raises(ZeroDivisionError, match="a bug"):
        evaluate("rextime_mini")


class TestTheHook:
    def test_it_is_put_in_once(self):
        from lmms_eval.tasks import TaskManager

        from reelbench import lmms_eval_plugin

        names = ("initialize_tasks", "_load_individual_task_or_group", "load_task_or_group")
        before = [getattr(TaskManager, name) for name in names]
        assert len(lmms_eval_plugin.manifests()) == 1
        assert [getattr(TaskManager, name) for name in names] == before

    def test_an_lmms_eval_that_loads_otherwise_is_left_as_it_is(self, monkeypatch, caplog):
        from lmms_eval.tasks import TaskManager

        from reelbench import lmms_eval_plugin

        def other(self, somehow):
            return self, somehow

        monkeypatch.setattr(TaskManager, "_load_individual_task_or_group", other)
        assert len(lmms_eval_plugin.manifests()) == 1
        assert TaskManager._load_individual_task_or_group is other
        (line,) = said(caplog, "this lmms-eval loads tasks in a way that reelbench does not know")
        assert "\n" not in line

    @pytest.mark.parametrize(
        ("address", "lines"),
        [
            (
                "http://localhost:8000",
                ["http://localhost:8000 has no path", "EMPTY is sent to localhost in its place"],
            ),
            ("http://localhost:8000/v1", ["EMPTY is sent to localhost in its place"]),
        ],
    )
    def test_a_local_server_s_key_and_path_are_looked_at(self, address, lines, monkeypatch, caplog):
        from lmms_eval.api.model import lmms

        from reelbench import lmms_eval_plugin

        class Adapter(lmms):
            def __init__(self, **_):
                self.key = os.environ["OPENAI_API_KEY"]

            generate_until = loglikelihood = generate_until_multi_round = None

        lmms_eval_plugin.manifests()
        monkeypatch.setenv("OPENAI_API_KEY", "")
        monkeypatch.setattr("sys.argv", ["a sweep's own"])  # whoever started lmms-eval
        made = Adapter.create_from_arg_string(f"model=m,base_url={address},timeout=9")
        assert (made.key, os.environ["OPENAI_API_KEY"]) == ("EMPTY", "")
        assert len(caplog.messages) == len(lines)
        assert all(words in line for line, words in zip(caplog.messages, lines, strict=True))

    def test_other_peoples_tasks_load_as_ever(self, tmp_path):
        from lmms_eval.tasks import TaskManager

        (tmp_path / "data.json").write_text('[{"q": "1 + 1"}]', encoding="utf-8")
        (tmp_path / "theirs.yaml").write_text(
            "task: theirs\ndataset_path: json\ndataset_kwargs:\n  data_files: data.json\ntest_split: train\n"
            "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '2'\n"
            "metric_list:\n  - metric: exact_match\n",
            encoding="utf-8",
        )
        manager = TaskManager(include_path=str(tmp_path), include_defaults=False)
        assert list(manager.load_task_or_group(["theirs"])) == ["theirs"]
