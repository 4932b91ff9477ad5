"""What the records on disk say, and how older ones are read."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from reelbench.registry import discovery
from reelbench.registry.reasons import UNANSWERED, Reason
from reelbench.registry.records import Result, SettingsRecord
from reelbench.scoring.aggregation import reasons

OLD = {
    "frames": "uniform:8",
    "frames_given": {"8": 12},
    "prompt_sha256": None,
    "generation": {"temperature": 0},
    "seed": 1,
    "limit": None,
}
"""Settings as the first release wrote them."""


def test_settings_of_an_older_record_are_written_as_they_were():
    assert SettingsRecord.model_validate(OLD).model_dump(mode="json") == OLD
    assert json.loads(
        SettingsRecord.model_validate(OLD).model_dump_json(exclude={"frames_given"})
    ) == {name: value for name, value in OLD.items() if name != "frames_given"}


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
def test_older_records_say_what_became_of_the_sound_by_their_frames(frames, sound):
    assert SettingsRecord(frames=frames).sound == sound


@pytest.mark.parametrize("audio", ["kept", "dropped", "none", "unknown"])
def test_newer_records_say_it_themselves(audio):
    settings = SettingsRecord(frames="native", audio=audio)
    assert settings.sound == audio
    assert settings.model_dump()["audio"] == audio
    assert SettingsRecord.model_validate_json(settings.model_dump_json()) == settings
    with pytest.raises(ValidationError):
        SettingsRecord(audio="loud")


def test_a_result_says_whose_data_it_was_made_on():
    (old, *_) = sorted((Path(__file__).parents[1] / "fixtures" / "v0_1_0").rglob("result.json"))
    written = json.loads(old.read_text(encoding="utf-8"))
    result = Result.model_validate(written)
    assert result.data == "unstated"
    assert "data" not in result.model_dump(mode="json")
    for data in ("own", "owners"):
        stated = Result.model_validate(written | {"data": data})
        assert stated.data == stated.model_dump(mode="json")["data"] == data
    with pytest.raises(ValidationError):
        Result.model_validate(written | {"data": "mine"})


@pytest.mark.parametrize("spec", discovery.specs().values(), ids=lambda spec: spec.id)
def test_an_answer_that_was_cut_off_or_refused_is_unscored_and_not_wrong(spec):
    assert {Reason.CUT_OFF, Reason.REFUSED} <= UNANSWERED & reasons(spec, hidden=False)
