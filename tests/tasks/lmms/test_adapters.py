"""What `run` adds for an adapter, and says: pictures or a clip to servers, and what becomes of the sound."""

import logging
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from reelbench import lmms_eval_plugin
from reelbench.base import settings
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.data.loading import locate
from reelbench.registry.sampling import FrameSampling
from reelbench.tasks.lmms import adapters, process, visuals
from reelbench.video.library import Library
from tests.program import app


@pytest.mark.parametrize(
    ("spec", "given", "added"),
    [
        ("uniform:8", {}, {}),  # pictures are the default
        ("uniform:8,as=images", {}, {}),
        ("uniform:8,as=clip", {}, {"pass_video_url": "True", "max_frames_num": "8"}),
        ("fps:2,as=clip", {}, {"pass_video_url": "True", "max_frames_num": "100000"}),
        ("uniform:8", {"pass_video_url": "True"}, {"max_frames_num": "8"}),
        ("uniform:8,as=clip", {"max_frames_num": "8"}, {"pass_video_url": "True"}),
        ("native", {}, {}),
        ("none", {}, {}),
    ],
)
def test_a_server_gets_a_clip_where_that_is_asked_for(spec, given, added):
    assert adapters.added_arguments("openai", given, FrameSampling.parse(spec)) == (added, [])


@pytest.mark.parametrize(
    "words", [["--model", "gemma3"], ["--model", "qwen2_5_vl", "--force_simple"]]
)
def test_times_are_refused_before_an_adapter_that_takes_pictures_alone_is_loaded(
    words, monkeypatch
):
    times = FrameSampling.parse("uniform:4,times=text")
    with pytest.raises(InputError, match="times=text needs a chat adapter"):
        process.with_frames(words, times, print)
    assert process.with_frames(["--model", "qwen2_5_vl"], times, print) == ["--model", "qwen2_5_vl"]
    monkeypatch.setenv("REELBENCH_FRAMES", str(times))  # a bare lmms-eval's
    monkeypatch.setattr("sys.argv", ["lmms-eval", "--tasks", "rextime_mini"])
    with pytest.raises(InputError, match="times=text needs a chat adapter"):
        lmms_eval_plugin._create_model(
            lambda *_: pytest.fail("it is loaded"), SimpleNamespace(is_simple=True), ""
        )


def test_a_number_of_frames_of_the_users_own_is_kept_and_said():
    given = {"pass_video_url": "True", "max_frames_num": "4"}
    added, (note,) = adapters.added_arguments("openai", given, FrameSampling.parse("uniform:8"))
    assert added == {}
    assert "keeps your max_frames_num=4" in note


@pytest.mark.parametrize("model", ["gemini", "ola", "omnivinci"])
def test_an_adapter_that_listens_is_told_of_silent_clips(model):
    _, notes = adapters.added_arguments(model, {}, FrameSampling.parse("uniform:8"))
    assert sum("hears a video's sound" in note for note in notes) == 1
    for spec in ("uniform:8,audio=keep", "native", "none", "uniform:8,as=images"):
        _, notes = adapters.added_arguments(model, {}, FrameSampling.parse(spec))
        assert not any("hears" in note for note in notes)


@pytest.mark.parametrize(
    ("spec", "canonical", "stated"),
    [
        ("uniform:8", "uniform:8", "uniform:8,as=clip"),
        (
            "uniform:8,audio=keep,as=clip,size=48",
            "uniform:8,size=48,audio=keep",
            "uniform:8,size=48,as=clip,audio=keep",
        ),
        ("uniform:8,as=images", "uniform:8,as=images", "uniform:8,as=images"),
    ],
)
def test_as_clip_is_known_but_changes_no_canonical_spec(spec, canonical, stated):
    sampling = FrameSampling.parse(spec)
    assert (str(sampling), sampling.spec(form=True)) == (canonical, stated)
    assert FrameSampling.parse(stated) == sampling
    assert sampling.form_given == (
        "clip" if "as=clip" in spec else "images" if "as=images" in spec else None
    )


@pytest.mark.parametrize(
    ("model", "argument"),
    [(model, "max_frames_num") for model in ("llava_onevision", "longva", "gpt4v", "claude")]
    + [("internvl_hf", "num_frames")],
)
def test_one_that_takes_a_fixed_number_of_a_clips_frames_gets_pictures_where_the_number_varies(
    monkeypatch, model, argument
):
    monkeypatch.setattr(
        adapters.Adapter, "has_reader", lambda _: True
    )  # torchcodec and FFmpeg's libraries are here
    sampling = FrameSampling.parse("fps:1")
    assert adapters.adapt(model, sampling, "", chat=False).form == "images"
    assert adapters.added_arguments(model, {}, sampling)[0] == {}
    with pytest.raises(InputError, match="give uniform:N"):
        adapters.added_arguments(model, {}, FrameSampling.parse("fps:1,as=clip"))
    assert adapters.added_arguments(model, {}, FrameSampling.parse("uniform:7,as=clip"))[0] == {
        argument: "7"
    }


@pytest.mark.parametrize("spec", ["uniform:4", "uniform:4,as=images"])
def test_what_pictures_cost_that_an_adapter_encodes_anew_is_said(spec):
    said = {
        model: adapters.added_arguments(model, {}, FrameSampling.parse(spec))[1]
        for model in ("gpt4v", "claude", "openai")
    }
    costly = [
        model
        for model, lines in said.items()
        if any("encodes each picture again" in line for line in lines)
    ]
    assert costly == ["gpt4v", "claude"]


@pytest.mark.parametrize(
    ("installed", "ffmpeg", "reads"), [(False, 7, False), (True, None, False), (True, 7, True)]
)
def test_a_clip_is_refused_where_what_reads_it_is_not_here_or_lacks_ffmpeg(
    monkeypatch, installed, ffmpeg, reads
):
    monkeypatch.setattr(adapters, "find_spec", lambda name: name if installed else None)
    monkeypatch.setitem(sys.modules, "torchcodec", SimpleNamespace(ffmpeg_major_version=ffmpeg))
    by_default = adapters.adapt(
        "internvl_hf", FrameSampling.parse("uniform:4"), "", chat=False
    ).form
    assert by_default == ("clip" if reads else "images")
    said = adapters.added_arguments("internvl_hf", {}, FrameSampling())[1]
    assert ["reads no video without torchcodec: --frames" in note for note in said] == [True] * (
        not reads
    )
    refused = pytest.raises(InputError, match="internvl_hf reads no clip without torchcodec")
    with nullcontext() if reads else refused:
        adapters.added_arguments("internvl_hf", {}, FrameSampling.parse("uniform:4,as=clip"))


@pytest.mark.parametrize(
    "spec", ["uniform:4,as=clip", "uniform:4,times=none", "uniform:4,as=images", "fps:1,max=8"]
)
def test_lmms_eval_is_told_how_frames_were_asked_for(spec, tmp_path):
    told = {}
    wanted = FrameSampling.parse(spec)
    with pytest.raises(ReelbenchError, match="without results"):  # nothing is run here
        process.run([], tmp_path, wanted, print, start=lambda _, environ, *__: told.update(environ))
    read = FrameSampling.parse(told[settings.FRAMES.name])
    assert (read, read.form_given, read.times_given) == (
        wanted,
        wanted.form_given,
        wanted.times_given,
    )


def test_the_plugin_can_be_read_without_lmms_eval():
    """Lmms-eval leaves out a plugin that fails with a warning, and none of our tasks is found."""
    read = "import sys, reelbench.lmms_eval_plugin; sys.exit('lmms_eval' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", read], check=False).returncode == 0


@pytest.mark.parametrize(
    ("model", "model_args", "said"),
    [
        ("qwen3_5", "pretrained=x", 1),
        ("qwen3_5", "pretrained=x,enable_thinking=False", 0),
        ("qwen3_vl", "x", 0),
    ],
)
def test_a_model_that_thinks_by_default_is_said_before_it_is_asked(model, model_args, said):
    notes = []
    words = ["--model", model, "--model_args", model_args]
    assert process.with_output_limit(words, None, notes.append) == words
    assert ["thinks before it answers" in note for note in notes] == [True] * said


@pytest.mark.parametrize(
    ("model", "task_type"),
    [
        ("openai", "chat"),
        ("async_openai", "chat"),
        ("qwen2_5_vl", "chat"),
        ("llava_hf", "chat"),
        ("llava_onevision", "simple"),
    ],
)
def test_what_was_extracted_for_an_adapter_is_not_decoded_again(
    model, task_type, monkeypatch, caplog
):
    extracted = CliRunner().invoke(
        app, ["frames", "extract", "rextime_mini", "--frames", "uniform:3", "--for", model]
    )
    assert extracted.exit_code == 0, extracted.output
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:3")
    monkeypatch.setattr(adapters, "running", model)
    monkeypatch.setattr(adapters, "task_type", task_type)
    located = locate("rextime_mini")
    frames = visuals.Frames(Library(located.spec, located.split))
    with caplog.at_level(logging.INFO, "reelbench.video.frame_store"):
        shown = [frames.view(row, None) for row in located.read()]
    assert [one.problem for one in shown] == [None] * len(shown)
    assert not [line for line in caplog.messages if "decoded" in line]
