"""`reelbench power`, on results made by hand, against textbooks and hand work."""

import json

import pytest

from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.registry.records import Item, ModelRecord, Sample, SettingsRecord, SourceRecord
from reelbench.scoring import aggregation, pilots, result_files


@pytest.fixture
def run(tmp_path):
    """A result on DramaQA with one question on each of its videos: `1` is a right answer."""

    def made(model, marks):
        spec = discovery.get("dramaqa_cogme")
        items = [
            Item(
                id=f"q{n:02}",
                video=f"v{n:02}",
                target={"answer": "A"},
                prediction="-",
                parsed={"answer": "A" if mark == "1" else "B"},
            )
            for n, mark in enumerate(marks)
        ]
        source = SourceRecord(kind="files", location="references.jsonl", fingerprint="f")
        folder = tmp_path / model
        scored = aggregation.score(spec, items)
        about = {"source": source, "model": ModelRecord(id=model), "settings": SettingsRecord()}
        result_files.write(folder, spec, scored, split="val", **about)
        return folder

    return made


def asked(reelbench, *arguments):
    done = reelbench("compare", "power", *arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_two_models_on_the_same_videos(reelbench, run):
    # Differences: 2 of 12 videos by 100, so they vary by 38.92 and their mean by 11.24.
    a, b = run("a", "101010101111"), run("b", "101010101010")
    found = asked(reelbench, a, "--paired", b, "--effect", 38.92 / 2)
    assert found["paired"] is True
    assert found["pilot"] == {
        "value": pytest.approx(100 / 6), "error": pytest.approx(11.24, rel=0.05), "videos": 12
    }  # fmt: skip
    # Half of what videos vary by: 34 of them (Cohen 1988, table 2.4.1). One model alone has a sixth
    # right; of the 16.67 points between them 12.31 are beyond the noise (the root of 16.67² -
    # 11.24²), so 19.46 take 0.0715 more: a variance of 0.2382 - 0.0379 in place of 0.1667 - 0.0278:
    # 1.442 times. An error found on 12 takes a few more.
    assert 1.442 * 34 < found["videos_needed"] < 1.3 * 1.442 * 34
    assert found["videos"] == 12
    # 12 would show 0.887 of what they vary by (G*Power), were that known and the same for larger
    # differences.
    assert found["smallest_difference"] > 0.887 * 38.92


def test_one_result_is_a_model_on_videos_of_its_own(reelbench, run):
    found = asked(reelbench, run("a", "10" * 8), "--videos", 64, "--effect", 25)
    assert (found["paired"], found["videos"], found["metric"]) == (False, 64, "accuracy")
    # Halves vary by 50 and, with 16 videos, by sqrt(16/15) more; a score of 75 varies by 43.3.
    assert found["pilot"]["error"] == pytest.approx(50 / 15**0.5, rel=0.05)
    # By z: 25 / sqrt((51.64² + 44.72²) / 64) = 2.93 errors, 0.97 of them beyond 1.98.
    assert found["power"] == pytest.approx(0.83, abs=0.03)


def test_a_benchmark_with_what_is_assumed(reelbench):
    # 850 questions on 170 videos; the median of 21 published scores is 3.35 of 5, share 0.67:
    # 5 · sqrt(0.67 · 0.33 · (1 + 4 · 0.1) / 850) = 0.0954.
    found = asked(reelbench, "moviecore", "--icc", 0.1)
    assert found["assumed"] == {"score": pytest.approx(3.35), "icc": 0.1, "questions": 5}
    assert found["pilot"]["error"] == pytest.approx(0.0954, abs=1e-4)
    said = reelbench("compare", "power", "moviecore", "--icc", 0.1).stdout
    assert "assumed: a score of 3.35, 5 questions to a video, icc 0.1" in said
    independent = asked(
        reelbench, "rextime", "--icc", 0, "--videos", 100, "--questions", 1, "--score", 50
    )
    assert independent["pilot"]["error"] == pytest.approx(5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["moviecore"], "give a result's folder, or assume it, as in --icc 0.1"),
        (["rextime", "--icc", "0.1"], "--videos is missing"),
        (
            ["moviecore", "--icc", "0.1", "--score", "7"],
            "--score: 7 is not strictly within the scale",
        ),
        (["moviecore", "--icc", "0.1", "--effect", "0"], "shows a difference of 0"),
        (["nonesuch", "--icc", "0.1"], "unknown benchmark"),
        (["{a}", "--icc", "0.1"], "a result has its own"),
        (["{a}", "--paired", "{a}"], "doesn't differ between the videos"),
        (["{one}"], "accuracy, or a part of it, is of one video"),
        (["moviecore", "--icc", "0.1", "--paired", "{a}"], "belongs to a result"),
    ],
)
def test_what_can_not_be_said_is_one_line(arguments, message, reelbench, run):
    folders = {"a": run("a", "1010"), "one": run("one", "1")}
    done = reelbench("compare", "power", *(argument.format_map(folders) for argument in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_part_of_a_score_that_one_video_has_shows_no_noise():
    spec = discovery.get("moviecore")
    every = dict.fromkeys(spec.judge.criteria, 3.0)
    lacking = {name: score for name, score in every.items() if name != "depth"}
    samples = [
        Sample(
            id=f"q{n}",
            video=f"v{n}",
            target={},
            prediction="-",
            state="scored",
            scores=lacking if n else every,
        )
        for n in range(12)
    ]
    with pytest.raises(InputError, match="a part of it, is of one video"):
        pilots.of_result(spec, samples)


@pytest.mark.parametrize(
    ("marks", "videos", "promised"), [("10" * 15, 30, True), ("10" * 15, 29, False)]
)
def test_power_is_promised_from_thirty_videos_on(reelbench, run, marks, videos, promised):
    folder = run("a", marks)
    assert asked(reelbench, folder, "--videos", videos)["promised"] is promised
    assert (
        "unreliable, with only 29 videos"
        in reelbench("compare", "power", folder, "--videos", videos).stderr
    ) is not promised


def test_power_is_not_promised_by_a_pilot_of_few_videos(reelbench, run):
    folder = run("a", "1010")
    found = asked(reelbench, folder, "--videos", 170)
    assert found["promised"] is False
    assert found["smallest_difference"] > 0
    assert (
        "unreliable, with only 4 videos"
        in reelbench("compare", "power", folder, "--videos", 170).stderr
    )


def test_power_that_is_assumed_is_promised(reelbench):
    assert asked(reelbench, "moviecore", "--icc", 0.1)["promised"] is True
