"""Frames through real lmms-eval runs: what arrives, by the numbers burnt into the pictures, and what is recorded."""

import base64
import contextlib
import io
import json
import os
import re
import sys
import xml.etree.ElementTree as ET

import av
import numpy as np
import pytest
from PIL import Image

import reelbench
from reelbench.base.files import write_text
from reelbench.llm.ask_options import AskOptions
from reelbench.methods import asking
from reelbench.tasks import score_runs
from reelbench.tasks.lmms import adapters, run_logs, worker
from reelbench.tasks.score import Options
from tests.servers.judge import Answer, JudgeServer
from tests.video import clips
from tests.video.test_sound import film, sound_of

pytestmark = pytest.mark.lmms

REPLY = '{"span": [0, 5], "answer": "A"}'
FPS = 8
LENGTHS = {"v_square00001": 40, "v_square00002": 6, "tide_0.0_12.0": 41}
"""Frames of the mini split's first three videos, three questions each; the fourth, kite_4.0_10.0, is no video here."""


def spread(length, count):
    """The convention of lmms-eval's own readers."""
    return np.linspace(0, length - 1, count, dtype=int).tolist()


@pytest.fixture(scope="module")
def numbered_home(tmp_path_factory):
    """A home whose mini clips are numbered frame by frame, before anybody draws them."""
    home = tmp_path_factory.mktemp("numbered")
    folder = home / "mini" / "rextime"
    folder.mkdir(parents=True)
    for video, length in LENGTHS.items():
        clips.encode(
            folder / f"{video}.mp4", codec="libx264", gop=12, ticks=clips.constant(length, FPS)
        )
    (folder / "kite_4.0_10.0.mp4").write_bytes(b"no video at all")
    return home


@pytest.fixture(autouse=True)
def _numbered(numbered_home, monkeypatch):
    monkeypatch.setenv("REELBENCH_HOME", str(numbered_home))
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    # Part of the response cache's key, and read from the repository around lmms-eval: a commit
    # meanwhile changes it.
    monkeypatch.setattr("lmms_eval.utils.get_git_commit_hash", lambda: "a commit")


@pytest.fixture(scope="module")
def managers():
    from lmms_eval.tasks import TaskManager

    made = {}

    def manager(model, **options):
        key = (model, str(options))
        if key not in made:
            made[key] = TaskManager(model_name=model, **options)
        return made[key]

    return manager


@pytest.fixture
def evaluate(managers):
    from lmms_eval.evaluator import simple_evaluate

    def run(model, model_args, *, limit, task_manager=None, **options):
        with contextlib.redirect_stdout(io.StringIO()):
            return simple_evaluate(
                model=model, model_args=model_args, tasks=["rextime_mini"], limit=limit, log_samples=True,
                task_manager=task_manager or managers(model), **options,
            )  # fmt: skip

    return run


@pytest.fixture
def server():
    with JudgeServer(lambda _: Answer(REPLY)) as running:
        yield running


def model_at(server, *more):
    # One request at a time: the calls come in the order of the questions.
    return ",".join(
        ["model=m", f"base_url={server.url}", "num_concurrent=1", "prefix_aware_queue=False", *more]
    )


def numbers(call):
    parts = call.body["messages"][-1]["content"]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    pictures = (
        Image.open(io.BytesIO(base64.b64decode(url.partition("base64,")[2]))) for url in urls
    )
    return [clips.number_in(np.asarray(picture.convert("RGB"))) for picture in pictures]


def prompt(call):
    return "".join(part.get("text", "") for part in call.body["messages"][-1]["content"])


def recorded(done):
    found = [
        next(v for v in s.values() if isinstance(v, dict) and "sample" in v)
        for s in done["samples"]["rextime_mini"]
    ]
    return [detail["sample"] for detail in found]


def score_of(done, folder):
    """Write a run down as lmms-eval does, and score it from there."""
    document = {key: done[key] for key in ("results", "configs", "config")}
    write_text(folder / "1_results.json", json.dumps(document, default=str))
    lines = [json.dumps(sample, default=str) for sample in done["samples"]["rextime_mini"]]
    write_text(folder / "1_samples_rextime_mini.jsonl", "".join(line + "\n" for line in lines))
    (logged,) = run_logs.logged_tasks(folder)
    return score_runs.score_logged(logged, folder / "scores", Options()).result


@pytest.mark.parametrize(
    "case",
    [
        ("uniform:8", spread(40, 8), range(6)),
        ("uniform:32", spread(40, 32), range(6)),
        ("uniform:1", [0], [0]),
        ("window:0.5-2,4", [4, 8, 12, 16], [4, 5]),  # the short one ends at 0.75 s
        ("fps:2", range(0, 40, 4), [0, 4]),
        ("keyframe:3", [0, 12, 36], [0]),
        ("all,size=48", range(40), range(6)),
        ("uniform:5,as=images", spread(40, 5), spread(6, 5)),
        ("none", [], []),
    ],
)
def test_a_model_behind_a_server_receives_exactly_the_frames_asked_for(
    case, evaluate, server, monkeypatch
):
    spec, long, short = case
    monkeypatch.setenv("REELBENCH_FRAMES", spec)
    done = evaluate("openai", model_at(server), limit=4)
    assert [numbers(call) for call in server.calls] == [list(long)] * 3 + [list(short)]
    for sample, shown in zip(recorded(done), [long, long, long, short], strict=True):
        assert sample["frame_timestamps"] == pytest.approx([number / FPS for number in shown])
        assert sample["frame_padding"] == 0
        assert (
            not {"frames_arrived", "frame_times_told"} & sample.keys()
        )  # as handed over, and as shown
    # The benchmark asks for times: each picture goes with its own.
    assert [
        re.findall(r"<([0-9.]+) seconds>", prompt(call))[: len(long)] for call in server.calls[:1]
    ] == [[f"{number / FPS:.1f}" for number in long]]


def test_an_adapter_for_simple_models_receives_them_too(evaluate, server, monkeypatch):
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:5,as=images")
    evaluate("openai", model_at(server), limit=1, force_simple=True)
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:6")
    evaluate("openai", model_at(server, "max_frames_num=6"), limit=1, force_simple=True)
    monkeypatch.setenv("REELBENCH_FRAMES", "none")
    evaluate("openai", model_at(server), limit=1, force_simple=True)
    assert [numbers(call) for call in server.calls] == [spread(40, 5), spread(40, 6), []]


@pytest.mark.parametrize(
    "case",
    [
        ("uniform:8", 8, spread(40, 8), spread(6, 6)),
        ("uniform:5", 6, [*spread(40, 5), 39], [*spread(6, 5), 5]),  # pairs: the last is repeated
        ("fps:1", adapters.MOST_FRAMES, [*range(0, 40, 8), 32], [0, 0]),
    ],
)
def test_a_real_vlm_receives_exactly_the_frames_asked_for(case, evaluate, tiny_vlm, monkeypatch):
    from lmms_eval.models.chat import qwen2_5_vl

    spec, most, long, short = case
    real, seen = qwen2_5_vl.process_vision_info, []

    def watched(*args, **kwargs):
        made = real(*args, **kwargs)
        frames, _ = made[1][0]
        seen.append([clips.number_in(frame.permute(1, 2, 0).numpy()) for frame in frames])
        return made

    monkeypatch.setattr(qwen2_5_vl, "process_vision_info", watched)
    monkeypatch.setenv("REELBENCH_FRAMES", spec)
    small = "device=cpu,device_map=cpu,min_pixels=3136,max_pixels=12544"
    done = evaluate(
        "qwen2_5_vl",
        f"pretrained={tiny_vlm},{small},max_num_frames={most}",
        limit=4,
        gen_kwargs="max_new_tokens=2",
    )
    assert sorted(seen) == sorted([long] * 3 + [short])
    assert recorded(done)[0]["frame_timestamps"] == pytest.approx([number / FPS for number in long])
    assert recorded(done)[0]["frame_padding"] == len(long) - len(set(long))


def test_native_leaves_the_video_to_the_model(evaluate, server):
    done = evaluate("openai", model_at(server, "max_frames_num=4"), limit=1)
    assert len(numbers(server.calls[0])) == 4
    assert recorded(done)[0]["frame_timestamps"] is None


def test_answers_to_other_frames_are_never_taken_from_the_response_cache(
    evaluate, server, monkeypatch, tmp_path
):
    def asked(spec):
        if spec is None:
            monkeypatch.delenv("REELBENCH_FRAMES", raising=False)
        else:
            monkeypatch.setenv("REELBENCH_FRAMES", spec)
        before = len(server.calls)
        evaluate("openai", model_at(server), limit=2, use_cache=str(tmp_path))
        return len(server.calls) - before

    # A spec that means the same is the same; each that differs is asked again, and is known
    # afterwards.
    specs = [
        "uniform:4",
        "uniform:04",
        "uniform:6",
        "uniform:4,size=48",
        "uniform:4,as=images",
        "none",
        None,
        "uniform:4",
    ]
    assert [asked(spec) for spec in specs] == [2, 0, 2, 2, 2, 2, 2, 0]


def test_a_video_that_gives_no_frames_costs_its_own_questions_only(
    evaluate, server, monkeypatch, tmp_path, numbered_home
):
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:4")
    cache = str(tmp_path / "cache")
    done = evaluate("openai", model_at(server), limit=11, use_cache=cache)
    ends = [
        (sample["state"], sample["reason"], sample["scores"] != {}) for sample in recorded(done)
    ]
    assert ends == [("scored", None, True)] * 9 + [("unscored", "media_unreadable", False)] * 2
    assert [len(numbers(call)) for call in server.calls] == [4] * 9 + [0] * 2
    assert done["results"]["rextime_mini"]["accuracy,none"] is not None
    result = score_of(done, tmp_path / "run")
    assert result.counts.unscored == {"media_unreadable": 2}
    assert result.settings.frames_given == {"4": 9}

    # Mended, its questions are asked again: the answers without frames are not taken from the
    # cache.
    broken = numbered_home / "mini" / "rextime" / "kite_4.0_10.0.mp4"
    was = broken.read_bytes()
    try:
        clips.encode(broken, codec="libx264", gop=12, ticks=clips.constant(9, FPS))
        again = evaluate("openai", model_at(server), limit=11, use_cache=cache)
    finally:
        broken.write_bytes(was)
    assert [numbers(call) for call in server.calls[11:]] == [spread(9, 4)] * 2
    assert {sample["state"] for sample in recorded(again)} == {"scored"}


def test_a_task_yaml_may_ask_and_the_environment_overrules_it(
    evaluate, managers, server, monkeypatch, tmp_path
):
    import reelbench.tasks.rextime as benchmark

    included = next(path for path in map(str, benchmark.__path__)) + "/rextime_mini.yaml"
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.yaml").write_text(
        f"include: {included}\ntask: rextime_mini\noutput_type: generate_until\n"
        "lmms_eval_specific_kwargs: {default: {frames: 'uniform:4,size=64'}}\n"
    )
    mine = managers("openai", include_path=str(tmp_path / "mine"))
    done = evaluate("openai", model_at(server), limit=1, task_manager=mine)
    assert score_of(done, tmp_path / "yaml").settings.frames == "uniform:4,size=64,times=text"
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:6")
    done = evaluate("openai", model_at(server), limit=1, task_manager=mine)
    settings = score_of(done, tmp_path / "environment").settings
    assert (settings.frames, settings.frames_given) == ("uniform:6,times=text", {"6": 1})
    assert [numbers(call) for call in server.calls] == [spread(40, 4), spread(40, 6)]
    assert recorded(done)[0]["frame_timestamps"] == pytest.approx(
        [number / FPS for number in spread(40, 6)]
    )


def test_a_wrong_spec_ends_the_run_before_the_model_is_asked_with_one_line(
    evaluate, managers, server, monkeypatch, tmp_path
):
    import reelbench.tasks.rextime as benchmark

    monkeypatch.setenv("REELBENCH_FRAMES", "uniform")
    with pytest.raises(Exception, match="frames 'uniform': '' is not a number of frames from 1"):
        evaluate("openai", model_at(server), limit=1)
    monkeypatch.delenv("REELBENCH_FRAMES")
    included = next(path for path in map(str, benchmark.__path__)) + "/rextime_mini.yaml"
    (tmp_path / "mine.yaml").write_text(
        f"include: {included}\ntask: rextime_mini\noutput_type: generate_until\n"
        "lmms_eval_specific_kwargs: {default: {frames: 'sometimes'}}\n"
    )
    with pytest.raises(
        Exception, match="frames 'sometimes': 'sometimes' is not a kind of sampling"
    ):
        evaluate(
            "openai",
            model_at(server),
            limit=1,
            task_manager=managers("openai", include_path=str(tmp_path)),
        )
    assert server.calls == []


@pytest.fixture
def in_this_process(monkeypatch):
    """Let `reelbench run` start lmms-eval's own command in this process, which has imported it already."""
    from lmms_eval.__main__ import cli_evaluate

    ran = []

    def lmms_eval(arguments, environ=None, *_):
        ran.append((list(arguments), dict(environ or {})))
        with monkeypatch.context() as patch, contextlib.redirect_stdout(io.StringIO()):
            for name, value in (environ or {}).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["lmms-eval", *arguments])
            cli_evaluate()

    # A sweep keeps one lmms-eval for all its runs, which here is this process.
    monkeypatch.setattr(worker.Worker, "__call__", lambda _, *given: lmms_eval(*given))
    return ran


@pytest.mark.slow
def test_a_sweep_runs_each_number_of_frames_and_plots_it(in_this_process, server, tmp_path):
    from typer.testing import CliRunner

    from tests.program import app

    # The answer is read off the number of frames: A without, B for one, D for four.
    server.script(
        lambda call: Answer(json.dumps({"answer": "ABCDD"[len(numbers(call))], "span": [0, 5]}))
    )
    done = CliRunner().invoke(
        app,
        [
            "run", "--frames", "uniform:N,size=64", "--frames-sweep", "4,0,1", "--", "--tasks", "rextime_mini",
            "--model", "openai", "--model_args", model_at(server), "--limit", "6", "--output_path", str(tmp_path),
        ],
        catch_exceptions=False,
    )  # fmt: skip
    assert done.exit_code == 0
    specs = ["none", "uniform:1,size=64", "uniform:4,size=64"]
    assert [environ for _, environ in in_this_process] == [
        {"REELBENCH_FRAMES": spec} for spec in specs
    ]
    points = json.loads((tmp_path / "sweep.json").read_text())["points"]
    assert [(point["frames"], point["sampling"], point["frames_given"]) for point in points] == [
        (0, "none", {"0": 6}), (1, specs[1], {"1": 6}), (4, specs[2], {"4": 6}),
    ]  # fmt: skip
    rows = reelbench.load("rextime_mini")["answer"][:6]
    expected = [100 * rows.count(letter) / 6 for letter in "ABD"]
    assert [point["metrics"]["accuracy"]["value"] for point in points] == pytest.approx(expected)
    assert all((tmp_path / point["result"]).is_file() for point in points)
    sent = [numbers(call) for call in server.calls]
    assert sent == [[]] * 6 + [[0]] * 6 + [spread(40, 4)] * 3 + [spread(6, 4)] * 3
    drawn = ET.parse(tmp_path / "sweep_rextime_mini.svg").getroot()  # noqa: S314 - our own file
    labels = {element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")}
    assert {"0 text only", "1", "4", "frames (log scale)"} <= labels
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}circle"))) == 3
    assert "REELBENCH_FRAMES" not in os.environ


# --- as real video, to a server
# --------------------------------------------------------------------------------------


def clip_sent(call):
    """Decode the one video that a server was sent -> numbers burnt into its frames, and their times (s)."""
    (part,) = [part for part in call.body["messages"][-1]["content"] if part["type"] == "video_url"]
    head, _, data = part["video_url"]["url"].partition(";base64,")
    assert head == "data:video/mp4"
    with av.open(io.BytesIO(base64.b64decode(data))) as video:
        frames = list(video.decode(video=0))
    return [clips.number_in(frame.to_ndarray(format="rgb24")) for frame in frames], [
        frame.time for frame in frames
    ]


@pytest.mark.parametrize(
    "case",
    [
        ("uniform:8", ("pass_video_url=True", "max_frames_num=8"), spread(40, 8), range(6)),
        (
            "uniform:5,as=clip",
            ("pass_video_url=True", "max_frames_num=5"),
            spread(40, 5),
            spread(6, 5),
        ),
        ("fps:2", ("pass_video_url=True", "max_frames_num=100000"), range(0, 40, 4), [0, 4]),
    ],
)
def test_a_server_that_reads_videos_gets_our_clip(case, evaluate, server, monkeypatch, tmp_path):
    spec, args, long, short = case
    monkeypatch.setenv("REELBENCH_FRAMES", spec)
    done = evaluate("openai", model_at(server, *args), limit=4)
    sent = [clip_sent(call) for call in server.calls]
    assert [burnt for burnt, _ in sent] == [list(long)] * 3 + [list(short)]
    for (burnt, times), length in zip(sent, [40, 40, 40, 6], strict=True):
        # Its frames stand where they stand in the video, within one frame of that.
        assert times == pytest.approx([number / FPS for number in burnt], abs=1 / FPS)
        assert len(burnt) <= length
    wanted = int(args[1].partition("=")[2])
    assert all(
        call.body["media_io_kwargs"] == {"video": {"num_frames": wanted}} for call in server.calls
    )
    settings = score_of(done, tmp_path).settings
    assert settings.frames.replace(",as=clip", "") == spec.replace(",as=clip", "")
    assert ",as=clip" in settings.frames
    assert settings.audio == "none"


def test_without_being_told_it_gets_pictures_and_the_next_model_too(
    evaluate, server, monkeypatch, tmp_path
):
    monkeypatch.setenv("REELBENCH_FRAMES", "uniform:4")
    evaluate("openai", model_at(server, "pass_video_url=True", "max_frames_num=4"), limit=1)
    done = evaluate("openai", model_at(server), limit=1)
    assert clip_sent(server.calls[0])[0] == numbers(server.calls[1]) == spread(40, 4)
    assert score_of(done, tmp_path).settings.frames == "uniform:4,times=text"


# --- with sound
# -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sounding_home(tmp_path_factory):
    """A home where the first three questions' video has sound and the fourth's has none."""
    home = tmp_path_factory.mktemp("sounding")
    folder = home / "mini" / "rextime"
    folder.mkdir(parents=True)
    film(folder / "v_square00001.mp4", "aac")
    for video in ("v_square00002", "tide_0.0_12.0", "kite_4.0_10.0"):
        clips.encode(folder / f"{video}.mp4", codec="libx264", gop=12, ticks=clips.constant(6, FPS))
    return home


def sound_sent(call, folder):
    (part,) = [part for part in call.body["messages"][-1]["content"] if part["type"] == "video_url"]
    path = folder / "sent.mp4"
    path.write_bytes(base64.b64decode(part["video_url"]["url"].partition(";base64,")[2]))
    return sound_of(path)


@pytest.mark.slow
@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize("became", ["dropped", "kept"])
def test_a_run_says_what_became_of_the_sound(became, server, sounding_home, monkeypatch, tmp_path):
    from typer.testing import CliRunner

    from tests.program import app

    monkeypatch.setenv("REELBENCH_HOME", str(sounding_home))
    spec = "uniform:4,as=clip" + (",audio=keep" if became == "kept" else "")
    command = ["run", "--frames", spec, "--", "--tasks", "rextime_mini", "--model", "openai"]
    command += ["--model_args", model_at(server), "--limit", "4", "--output_path", str(tmp_path)]
    done = CliRunner().invoke(app, command, catch_exceptions=False)
    assert done.exit_code == 0
    source = sound_of(sounding_home / "mini" / "rextime" / "v_square00001.mp4")
    sent = [sound_sent(call, tmp_path) for call in server.calls]
    assert len(source) > 100
    assert sent == ([source] * 3 + [[]] if became == "kept" else [[]] * 4)
    (samples,) = tmp_path.rglob("*_samples_rextime_mini.jsonl")
    details = [list(json.loads(line).values()) for line in samples.read_text().splitlines()]
    heard = [
        next(v["audio"] for v in values if isinstance(v, dict) and "sample" in v)
        for values in details
    ]
    assert heard == [became] * 3 + ["none"]
    (result,) = tmp_path.rglob("reelbench/rextime_mini/result.json")
    assert json.loads(result.read_text())["settings"]["audio"] == became


# --- the same without lmms-eval
# --------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", ["uniform:4", "uniform:4,as=clip", "none", "native"])
def test_ask_sends_what_the_adapter_sends(spec, evaluate, server, monkeypatch):
    monkeypatch.setenv("REELBENCH_FRAMES", spec)
    as_video = spec in {"uniform:4,as=clip", "native"}
    evaluate("openai", model_at(server, f"pass_video_url={as_video}", "max_frames_num=4"), limit=4)
    theirs = [call.body for call in server.calls]
    asking.ask(
        asking.questions("rextime_mini", spec, limit=4),
        AskOptions(model="m", url=server.url, concurrency=1),
        Options(),
    )
    ours = [call.body for call in server.calls[len(theirs) :]]
    assert len(ours) == len(theirs) == 4
    # The same requests; whose video is ready first is asked first.
    for body, other in zip(*(sorted(calls, key=repr) for calls in (ours, theirs)), strict=True):
        if spec == "native":  # the adapter says a number of frames for every video
            other.pop("media_io_kwargs")
        assert body == other
