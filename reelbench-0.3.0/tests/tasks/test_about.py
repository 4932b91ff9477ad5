"""What people say of a model: read from YAML, and held to the run."""

import pytest

from reelbench.base.errors import InputError
from reelbench.registry.records import About, ModelRecord, SettingsRecord
from reelbench.tasks import about

WHOLE = """\
setting: fine-tuned
trained_on: [rextime, ActivityNet]
parameters: 8.3B
organisation: Qwen
released: 2025-01-26
licence: Apache-2.0
links: {paper: https://arxiv.org/abs/2502.13923}
frames: uniform:32
revision: cc594898137f460bfe9f0759e9844b3ce807cfb5
"""


@pytest.fixture
def written(tmp_path):
    """Write a model.yaml."""

    def run(text):
        (tmp_path / "model.yaml").write_text(text, encoding="utf-8")
        return tmp_path / "model.yaml"

    return run


def test_all_fields(written):
    said = about.read(written(WHOLE))
    assert said.model_dump(mode="json") == {
        "setting": "fine-tuned",
        "trained_on": ["rextime", "ActivityNet"],
        "parameters": 8.3e9,
        "organisation": "Qwen",
        "released": "2025-01-26",
        "licence": "Apache-2.0",
        "links": {"paper": "https://arxiv.org/abs/2502.13923"},
        "frames": "uniform:32",
        "revision": "cc594898137f460bfe9f0759e9844b3ce807cfb5",
    }


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("parameters: 500M", "parameters", 5e8),
        ("parameters: 7000000000", "parameters", 7e9),
        ("released: 2025", "released", "2025"),
        ("released: 2025-09", "released", "2025-09"),
        ("trained_on: rextime", "trained_on", ("rextime",)),
        (
            "links: [https://www.example.org/a]",
            "links",
            {"example.org": "https://www.example.org/a"},
        ),
        ("frames: uniform:032", "frames", "uniform:32"),
    ],
)
def test_values_as_people_write_them(written, text, field, value):
    assert getattr(about.read(written(text)), field) == value


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("setting: few-shot", "setting: Input should be 'zero-shot'"),
        ("size: 7B", "size: is not known; there are setting, trained_on, parameters"),
        ("parameters: big", "parameters: 'big' is not a number like 7B"),
        (f"parameters: {'9' * 400}B", "is not a number like 7B"),
        ("parameters: 0", "parameters: Input should be greater than 0"),
        ("released: soon", "released: String should match"),
        ("released: '2025-13-40'", "2025-13-40 is not a date"),
        ("links: javascript:alert(1)", "is not an address that begins with https://"),
        ("links: 'https://bob:secret@host/x'", "an address with a user or a key"),
        ("links: {code: 'https://host/x?token=abcdef'}", "an address with a user or a key"),
        ("frames: some", "frames"),
        ("a: &x 1\nb: *x", "line 1: the file about a model has YAML aliases"),
        ("[" * 40, "nested more than 20 deep"),
        ("- a", "is a list, expected keys and values"),
        ("a: [", "line 2: the file about a model is not valid YAML"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(written, text, told):
    with pytest.raises(InputError) as error:
        about.read(written(text))
    assert told in str(error.value)
    assert "model.yaml" in str(error.value)
    assert "\n" not in str(error.value)


SHA = "cc594898137f460bfe9f0759e9844b3ce807cfb5"


@pytest.mark.parametrize(
    ("said", "model", "settings", "told"),
    [
        ({"revision": "main"}, {"revision": SHA}, {}, "about.revision is 'main'"),
        ({"revision": SHA[:8]}, {"revision": SHA}, {}, None),
        ({"frames": "uniform:8"}, {}, {"frames": "uniform:32"}, "about.frames is 'uniform:8'"),
        ({"frames": "uniform:8"}, {}, {"frames": "native"}, None),
        ({"setting": "human"}, {"adapter": "qwen2_5_vl"}, {}, "about.setting is 'human'"),
        (
            {"setting": "zero-shot"},
            {"adapter": "reelbench_people"},
            {},
            "about.setting is 'zero-shot'",
        ),
        ({"setting": "human"}, {}, {}, None),
        (
            {"setting": "zero-shot", "trained_on": ("ReXTime",)},
            {},
            {},
            "about.trained_on has rextime",
        ),
        ({"setting": "zero-shot", "trained_on": ("ActivityNet",)}, {}, {}, None),
    ],
)
def test_what_contradicts_the_run(said, model, settings, told):
    records = ModelRecord(id="m", **model), SettingsRecord(**settings)
    lines = list(about.problems(About(**said), "rextime", *records))
    assert [told in line for line in lines] == ([] if told is None else [True])
    if told is not None:
        with pytest.raises(InputError, match=told.partition("'")[0]):
            about.applied(About(**said), "rextime", *records)


def test_what_the_run_lacks_is_filled_in():
    said = About(revision="v2", frames="uniform:8")
    model, settings = about.applied(
        said, "rextime", ModelRecord(id="m"), SettingsRecord(frames="unknown")
    )
    assert (model.revision, model.about, settings.frames) == ("v2", said, "uniform:8")
    _, settings = about.applied(
        said, "rextime", ModelRecord(id="m"), SettingsRecord(frames="native")
    )
    assert settings.frames == "native"


def test_a_record_without_it_keeps_its_bytes():
    assert "about" not in ModelRecord(id="m").model_dump()
    assert About(setting="tools").model_dump() == {"setting": "tools"}
