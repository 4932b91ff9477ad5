"""What the records on disk say."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

import reelbench
from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import Result, SettingsRecord
from reelbench.scoring import result_files
from reelbench.scoring.aggregation import reasons

PREDICTIONS = Path(__file__).parents[1] / "fixtures" / "v0_1_0" / "predictions" / "rextime.jsonl"


def scored(folder):
    """The folder of a result on mini data."""
    return reelbench.score("rextime", PREDICTIONS, split="mini").save(folder / "result")


@pytest.mark.parametrize(
    ("frames", "sound"),
    [
        ("uniform:8", "dropped"),
        ("window:1-2,4,size=448", "dropped"),
        ("all,as=images", "dropped"),
        ("native", "unknown"),
        ("unknown", "unknown"),
        ("none", "none"),
    ],
)
def test_sound_that_is_not_stated_follows_from_the_frames(frames, sound):
    assert SettingsRecord(frames=frames).sound == sound


@pytest.mark.parametrize("audio", ["kept", "dropped", "none", "unknown"])
def test_sound_is_as_stated(audio):
    settings = SettingsRecord(frames="native", audio=audio)
    assert settings.sound == audio
    assert settings.model_dump()["audio"] == audio
    assert SettingsRecord.model_validate_json(settings.model_dump_json()) == settings
    with pytest.raises(ValidationError):
        SettingsRecord(audio="loud")


def test_a_result_says_whose_data_it_was_made_on(tmp_path):
    written = json.loads((scored(tmp_path) / "result.json").read_text(encoding="utf-8"))
    written.pop("data", None)
    result = Result.model_validate(written)
    assert result.data == "unstated"
    assert "data" not in result.model_dump(mode="json")
    for data in ("own", "owners"):
        changed_result = Result.model_validate(written | {"data": data})
        assert changed_result.data == changed_result.model_dump(mode="json")["data"] == data
    with pytest.raises(ValidationError):
        Result.model_validate(written | {"data": "mine"})


def test_a_result_of_an_unreleased_version_is_refused_in_one_line(tmp_path):
    folder = scored(tmp_path)
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    del document["statistics"], document["answers"]
    (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")
    line = "result.json: written by an earlier, unreleased version; score it again"
    with pytest.raises(InputError, match=line):
        result_files.read(folder)


@pytest.mark.parametrize("spec", discovery.specs().values(), ids=lambda spec: spec.id)
def test_an_answer_that_was_cut_off_or_refused_is_unscored_and_not_wrong(spec):
    assert {Reason.CUT_OFF, Reason.REFUSED} <= UNANSWERED & reasons(spec, hidden=False)
