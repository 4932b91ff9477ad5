"""The name of a run's rows: written into lmms-eval's config, read from what a run left."""

import pytest

from reelbench.base.errors import InputError
from reelbench.data.rows_on_disk import DataName, RowsOnDisk


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "reelbench:curve_ar-EG@0123456789abcdef;media_missing=0",
            DataName("curve_ar-EG", "0123456789abcdef"),
        ),
        ("reelbench:rextime@unavailable;media_missing=3", DataName("rextime", "unavailable", 3)),
        (
            "reelbench:rextime_mini@0123456789abcdef;media_missing=12;frames=window:0.5-2,4,size=48;encoder=1",
            DataName("rextime_mini", "0123456789abcdef", 12, "window:0.5-2,4,size=48", "1"),
        ),
        (
            "reelbench:moviecore@00ff;media_missing=0;frames=none",
            DataName("moviecore", "00ff", 0, "none"),
        ),
    ],
)
def test_a_name_is_read_as_it_was_written(text, name):
    assert DataName.parse(text) == name
    assert str(name) == text


def test_what_a_later_version_adds_is_passed_over():
    assert DataName.parse("reelbench:curve@00ff;colour=blue;media_missing=1") == DataName(
        "curve", "00ff", 1
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/data/rows",
        "reelbench:curve",
        "reelbench:curve@",
        "reelbench:../../etc/passwd@00ff;media_missing=1",
        "reelbench:curve@../../etc/passwd",
        "reelbench:curve@00ff;media_missing=-1",
        "reelbench:curve@00ff;media_missing=1e9",
        "reelbench:curve@00ff;media_missing=99999999999",
    ],
)
def test_another_text_is_refused(text):
    with pytest.raises(InputError, match="does not name rows of ours"):
        DataName.parse(text)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (None, ""),
        ("uniform:4", ";frames=uniform:4;encoder=2"),
        ("none", ";frames=none"),
        ("x", ";frames=invalid"),
    ],
)
def test_rows_name_the_sampling_that_was_asked_for(asked, said, monkeypatch):
    if asked is not None:
        monkeypatch.setenv("REELBENCH_FRAMES", asked)
    rows = RowsOnDisk("moviecore_mini")
    rows.media_missing = 2
    head, _, rest = str(rows).partition(";media_missing=2")
    assert head.startswith("reelbench:moviecore_mini@")
    assert len(head.partition("@")[2]) == 16
    assert rest == said
    assert rows.name.missing_note.name == f"{head.removeprefix('reelbench:')}.json"
