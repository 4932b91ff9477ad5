"""What `run` adds for an adapter, and says: pictures or a clip to servers, and what becomes of the sound."""

import subprocess
import sys

import pytest

from reelbench.registry import settings
from reelbench.registry.errors import InputError, ReelbenchError
from reelbench.registry.frames.sampling import FrameSampling
from reelbench.tasks.lmms import adapters, process


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
    assert adapters.matched("openai", given, FrameSampling.parse(spec)) == (added, [])


def test_a_number_of_frames_of_the_users_own_is_kept_and_said():
    given = {"pass_video_url": "True", "max_frames_num": "4"}
    added, (note,) = adapters.matched("openai", given, FrameSampling.parse("uniform:8"))
    assert added == {}
    assert "keeps your max_frames_num=4" in note


@pytest.mark.parametrize("model", sorted(adapters.LISTENERS))
def test_an_adapter_that_listens_is_told_of_silent_clips(model):
    _, notes = adapters.matched(model, {}, FrameSampling.parse("uniform:8"))
    assert sum("hears a video's sound" in note for note in notes) == 1
    for spec in ("uniform:8,audio=keep", "native", "none", "uniform:8,as=images"):
        _, notes = adapters.matched(model, {}, FrameSampling.parse(spec))
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
    assert (str(sampling), sampling.stated) == (canonical, stated)
    assert FrameSampling.parse(stated) == sampling
    assert sampling.form_given == ("clip" if "as=clip" in spec else "images" if "as=images" in spec else None)


@pytest.mark.parametrize("model", ["llava_onevision", "longva", "gpt4v", "claude"])
def test_one_that_takes_a_fixed_number_of_a_clips_frames_gets_pictures_where_the_number_varies(model):
    sampling = FrameSampling.parse("fps:1")
    assert adapters.delivered(model, sampling, "", chat=False).form == "images"
    assert adapters.matched(model, {}, sampling)[0] == {}
    with pytest.raises(InputError, match="give uniform:N"):
        adapters.matched(model, {}, FrameSampling.parse("fps:1,as=clip"))
    assert adapters.matched(model, {}, FrameSampling.parse("uniform:7,as=clip"))[0] == {"max_frames_num": "7"}


def test_a_clip_is_refused_where_what_reads_it_is_not_installed(monkeypatch):
    monkeypatch.setattr(adapters, "find_spec", lambda _: None)
    assert adapters.delivered("internvl_hf", FrameSampling.parse("uniform:4"), "", chat=False).form == "images"
    with pytest.raises(InputError, match="internvl_hf reads no clip without torchcodec"):
        adapters.matched("internvl_hf", {}, FrameSampling.parse("uniform:4,as=clip"))


@pytest.mark.parametrize("spec", ["uniform:4,as=clip", "uniform:4,times=none", "uniform:4,as=images", "fps:1,max=8"])
def test_lmms_eval_is_told_how_frames_were_asked_for(spec, tmp_path):
    told = {}
    wanted = FrameSampling.parse(spec)
    with pytest.raises(ReelbenchError, match="without results"):  # nothing is run here
        process.run([], tmp_path, wanted, print, start=lambda _, environ, *__: told.update(environ))
    read = FrameSampling.parse(told[settings.FRAMES.name])
    assert (read, read.form_given, read.times_given) == (wanted, wanted.form_given, wanted.times_given)


def test_the_plugin_can_be_read_without_lmms_eval():
    """Lmms-eval leaves out a plugin that fails with a warning, and none of our tasks is found."""
    read = "import sys, reelbench.lmms_eval_plugin; sys.exit('lmms_eval' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", read], check=False).returncode == 0


@pytest.mark.parametrize(
    ("model", "model_args", "said"),
    [("qwen3_5", "pretrained=x", 1), ("qwen3_5", "pretrained=x,enable_thinking=False", 0), ("qwen3_vl", "x", 0)],
)
def test_a_model_that_thinks_by_default_is_said_before_it_is_asked(model, model_args, said):
    notes = []
    words = ["--model", model, "--model_args", model_args]
    assert process.with_output_limit(words, None, notes.append) == words
    assert ["thinks before it answers" in note for note in notes] == [True] * said
