"""What the records on disk say, and how older ones are read."""

import json

import pytest
from pydantic import ValidationError

from reelbench.registry.records import SettingsRecord

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
    assert json.loads(SettingsRecord.model_validate(OLD).model_dump_json(exclude={"frames_given"})) == {
        name: value for name, value in OLD.items() if name != "frames_given"
    }


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
