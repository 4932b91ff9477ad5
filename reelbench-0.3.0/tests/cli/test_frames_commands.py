"""`reelbench frames` and `reelbench run --frames`: what is printed, the exit status, and one line for an error."""

import shutil

import pytest

from reelbench.base.errors import InputError
from reelbench.data.loading import locate
from reelbench.registry.discovery import get
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms import process
from tests.video import clips

BAD = "reelbench: frames 'uniform:x': 'x' is not a number of frames from 1 to 100000; give uniform:N, "


@pytest.fixture
def video(tmp_path):
    return clips.encode(tmp_path / "a film.mp4", codec="libx264", gop=12, ticks=clips.constant(50))


@pytest.fixture
def junk(tmp_path):
    path = tmp_path / "junk.mp4"
    path.write_text("no video")
    return path


class TestInfo:
    def test_says_what_a_video_holds_and_what_a_sampling_would_give(self, reelbench, video):
        done = reelbench("frames", "info", video, "--frames", "uniform:3")
        assert done.stdout.splitlines() == [
            f"{video}: h264, 128 x 96, 2.000 s, 50 frames (25.000 per second), 5 keyframes",
            "  uniform:3: 3 frames asked, 3 given, at 0.000 0.960 1.960 s",
        ]
        assert (done.returncode, done.stderr) == (0, "")

    def test_one_line_for_each_that_is_no_video(self, reelbench, video, junk, tmp_path):
        done = reelbench("frames", "info", junk, video, tmp_path / "none.mp4")
        assert done.returncode == 1
        assert len(done.stdout.splitlines()) == 1
        first, second = done.stderr.splitlines()
        assert first.startswith(f"{junk}: ")
        assert second.startswith(f"{tmp_path / 'none.mp4'}: can't be read")


class TestExtractAndClear:
    def test_a_failure_costs_one_video_and_is_listed_at_the_end(
        self, reelbench, video, junk, reelbench_home
    ):
        done = reelbench("frames", "extract", junk, video, "--frames", "uniform:60")
        assert done.returncode == 1
        assert (
            done.stdout == f"50 frames of 1 video (uniform:60) are in {reelbench_home / 'frames'}\n"
        )
        note, failed = done.stderr.splitlines()
        assert note == f"{video}: short: 60 frames asked for, the video has 50"
        assert failed.startswith(f"failed: {junk}: ")
        held = reelbench("frames", "info", video).stdout.splitlines()
        assert held[1:] == ["  in the store: uniform:60: 50 frames"]

    def test_a_folder_stands_for_its_videos(self, reelbench, video, junk, tmp_path, reelbench_home):
        (tmp_path / "deep").mkdir()
        clips.encode(
            tmp_path / "deep" / "other.mkv", codec="libx264", gop=5, ticks=clips.constant(20)
        )
        (tmp_path / "notes.txt").write_text("no video")
        junk.unlink()
        done = reelbench("frames", "extract", tmp_path, video, "--frames", "uniform:3")
        assert (done.returncode, done.stderr) == (0, "")
        assert (
            done.stdout == f"6 frames of 2 videos (uniform:3) are in {reelbench_home / 'frames'}\n"
        )
        assert reelbench("frames", "clear", tmp_path).stdout.startswith("2 entries removed")

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("clips",), "clips: no video in that folder"),
            (("a.mp4", "--split", "val"), "--split and --data are a "),
        ],
    )
    def test_what_stands_for_no_video_is_one_line(self, arguments, said, reelbench, tmp_path):
        (tmp_path / "clips").mkdir()
        done = reelbench("frames", "extract", *arguments, "--frames", "uniform:3", cwd=tmp_path)
        assert done.returncode == 2
        assert done.stderr.startswith(f"reelbench: {said}")
        assert len(done.stderr.splitlines()) == 1

    @pytest.mark.parametrize(
        "arguments", [["rextime_mini"], ["rextime", "--split", "mini"], ["dramaqa_cogme_mini"]]
    )
    def test_a_benchmark_stands_for_its_videos(self, arguments, reelbench, reelbench_home):
        rows = locate(arguments[0], "mini").read()
        number = len({row["video"] for row in rows})
        done = reelbench("frames", "extract", *arguments, "--frames", "uniform:2")
        assert (done.returncode, done.stderr) == (0, "")
        place = reelbench_home / "frames"
        assert done.stdout == f"{2 * number} frames of {number} videos (uniform:2) are in {place}\n"
        assert reelbench("frames", "info").stdout.startswith(f"{place}: {number} entries")

    def test_videos_that_are_not_here_are_named(self, reelbench, tmp_path, monkeypatch):
        rows = locate("rextime", "mini").read()
        there, *others = dict.fromkeys(row["video"] for row in rows)
        shutil.copy(get("rextime").folder / "mini" / "rextime_val.json", tmp_path)
        monkeypatch.setenv("REELBENCH_DATA_REXTIME", str(tmp_path))
        clips.encode(tmp_path / f"{there}.mp4", codec="libx264", gop=5, ticks=clips.constant(20))
        done = reelbench("frames", "extract", "rextime", "--frames", "uniform:2")
        assert done.returncode == 1
        assert done.stdout.startswith("2 frames of 1 video")
        missing = [f"failed: rextime: {name}: its video is not here" for name in sorted(others)]
        assert done.stderr.splitlines() == missing

    def test_one_video_goes_or_everything(self, reelbench, video, tmp_path, reelbench_home):
        other = clips.encode(
            tmp_path / "other.mp4", codec="libx264", gop=5, ticks=clips.constant(20)
        )
        for spec in ("uniform:3", "uniform:4,as=images"):
            assert reelbench("frames", "extract", video, other, "--frames", spec).returncode == 0
        gone = reelbench("frames", "clear", video)
        assert gone.stdout == f"2 entries removed from {reelbench_home / 'frames'}\n"
        assert len(reelbench("frames", "info", video).stdout.splitlines()) == 1
        assert len(reelbench("frames", "info", other).stdout.splitlines()) == 3
        refused = reelbench("frames", "clear")
        assert refused.returncode == 2
        assert (
            refused.stderr
            == "reelbench: frames clear: name videos, or give --all to remove all 2 entries\n"
        )
        assert reelbench("frames", "clear", "--all").stdout.startswith("2 entries removed")
        assert reelbench("frames", "info").stdout.startswith(
            f"{reelbench_home / 'frames'}: 0 entries, 0.000 GB of 20"
        )

    def test_the_environment_names_the_sampling_too(self, reelbench, video):
        done = reelbench("frames", "extract", video, env={"REELBENCH_FRAMES": "keyframe:2"})
        assert done.stdout.startswith("2 frames of 1 video (keyframe:2)")

    @pytest.mark.parametrize("arguments", [(), ("--frames", "native"), ("--frames", "none")])
    def test_nothing_to_extract_is_one_line(self, arguments, reelbench, video):
        done = reelbench("frames", "extract", video, *arguments)
        assert done.returncode == 2
        assert done.stderr.startswith(
            "reelbench: frames extract: no frames are asked for; give --frames"
        )


class TestRun:
    def test_a_wrong_spec_is_one_line_before_anything_runs(self, reelbench):
        wanted = ("--", "--tasks", "rextime_mini", "--model", "dummy")
        for done in (
            reelbench("run", "--frames", "uniform:x", *wanted),
            reelbench("run", *wanted, env={"REELBENCH_FRAMES": "uniform:x"}),
            reelbench("run", "--frames", "uniform:x", "--frames-sweep", "1,2", *wanted),
        ):
            assert done.returncode == 2
            assert done.stderr.startswith(BAD)
            assert len(done.stderr.splitlines()) == 1

    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            (
                ["--model", "qwen2_5_vl"],
                ["--model", "qwen2_5_vl", "--model_args", "max_num_frames=8"],
            ),
            (
                ["--model=qwen2_5_vl", "--model_args=pretrained=x"],
                ["--model=qwen2_5_vl", "--model_args=pretrained=x,max_num_frames=8"],
            ),
            (["--model_args", "a=1,max_num_frames=4", "--model", "qwen2_5_vl"], None),
            (["--model", "openai", "--model_args", "model=m"], None),
        ],
    )
    def test_the_adapters_own_argument_is_set_to_match(self, given, expected):
        arguments = process.with_frames(given, FrameSampling.parse("uniform:8"), lambda _: None)
        assert arguments == (expected or given)


class TestSweep:
    def test_the_numbers_stand_in_for_n(self):
        from reelbench.cli.sweep_steps import of_frames

        def specs(spec, counts):
            return [
                (step.point_fields["frames"], str(step.sampling))
                for step in of_frames(spec, counts)
            ]

        assert specs("uniform:N,size=448", "8,0,1,8") == [
            (0, "none"),
            (1, "uniform:1,size=448"),
            (8, "uniform:8,size=448"),
        ]
        assert specs("window:2-5,N", "4") == [(4, "window:2-5,4")]
        assert specs("keyframe:32", "2") == [(2, "keyframe:2")]
        assert specs(None, "16") == [(16, "uniform:16")]

    @pytest.mark.parametrize(
        ("spec", "counts"),
        [
            ("uniform:N", "1,x"),
            ("uniform:N", ""),
            ("fps:N", "1"),
            ("all", "1"),
            ("uniform:N", "999999"),
        ],
    )
    def test_what_can_not_be_swept_is_refused_before_anything_runs(self, spec, counts):
        from reelbench.cli.sweep_steps import of_frames

        with pytest.raises(InputError):
            of_frames(spec, counts)

    def test_an_argument_takes_each_value_in_the_place_of_its_own(self):
        from reelbench.cli.sweep_steps import of_argument

        key, steps = of_argument("fps=1,0.5", None)
        given = ["--model_args", "pretrained=x,fps=4", "--limit", "2"]
        assert [step.change(given)[1] for step in steps] == [
            "pretrained=x,fps=1",
            "pretrained=x,fps=0.5",
        ]
        assert (key, [step.folder for step in steps]) == ("fps", ["fps-1", "fps-0.5"])
        _, steps = of_argument("gen_kwargs.max_new_tokens=64", None)
        assert steps[0].change(["--model", "m"]) == [
            "--model",
            "m",
            "--gen_kwargs",
            "max_new_tokens=64",
        ]

    @pytest.mark.parametrize("given", ["fps", "fps=", "=1", "fps=1,1", "a b=1"])
    def test_what_is_no_argument_is_refused(self, given):
        from reelbench.cli.sweep_steps import of_argument

        with pytest.raises(InputError, match="not KEY"):
            of_argument(given, None)

    @pytest.mark.parametrize(
        ("options", "line"),
        [
            (("--languages", "en,EN-GB"), "--languages en,EN-GB: 'EN-GB' occurs twice"),
            (("--languages", "en,es", "--sweep", "a=1"), "one of them at a time"),
            (("--languages", "en"), "no model is named for translator"),
            (("--llm", "m"), "are for --languages"),
            (("--translations", "absent.jsonl"), "are for --languages"),
            (("--languages", "en", "--translations", "absent.jsonl"), "absent.jsonl"),
        ],
    )
    def test_languages_that_can_not_be_run_are_refused_before_anything_runs(
        self, options, line, reelbench, tmp_path
    ):
        where = (
            "--",
            "--tasks",
            "curve_mini",
            "--model",
            "dummy",
            "--output_path",
            str(tmp_path / "out"),
        )
        done = reelbench("run", "--frames", "none", *options, *where)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert line in done.stderr

    def test_questions_with_options_stay_in_their_language(self, reelbench):
        options = ("--languages", "es", "--llm", "translator=m@http://127.0.0.1:9/v1")
        done = reelbench("run", *options, "--", "--tasks", "rextime_mini", "--model", "dummy")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "rextime_mini has options" in done.stderr
