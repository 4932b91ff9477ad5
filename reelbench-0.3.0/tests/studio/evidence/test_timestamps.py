import pytest

from reelbench.studio.evidence.graphs import read_windows, seconds_apart


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("0:59", [(59, 59)]),
        ("08:04", [(484, 484)]),
        ("125:30", [(7530, 7530)]),
        ("1:02:03", [(3723, 3723)]),
        ("00:05 - 00:10", [(5, 10)]),
        ("0:05–0:10", [(5, 10)]),
        ("0:05—1:00:00", [(5, 3600)]),
        ("0:05~0:10", [(5, 10)]),
        ("0:05～0:10", [(5, 10)]),
        ("0:05 to 0:10", [(5, 10)]),
        ("[0:05]", [(5, 5)]),
        ("0:05.5", [(5.5, 5.5)]),
        ("1:02, 2:03", [(62, 62), (123, 123)]),
        ("0:05-0:10 and 1:00", [(5, 10), (60, 60)]),
        ("٠١:٠٢", [(62, 62)]),  # Arabic-Indic
        ("\u200f۰۱:۰۲\u200f", [(62, 62)]),  # Persian, between marks of direction
        ("०१:०२", [(62, 62)]),  # Devanagari
        ("௦௧:௦௨", [(62, 62)]),  # Tamil
        ("๐๑:๐๒", [(62, 62)]),  # Thai
        ("０１：０２", [(62, 62)]),  # full width
        ("1∶02", [(62, 62)]),  # the sign of a ratio
        ("N/A", []),
        ("n/a", []),
        ("None", []),
        ("NA", []),
        ("null", []),
        ("-", []),
        ("–", []),
        ("—", []),
        ("(-)", []),
        ("", []),
    ],
)
def test_times_of_every_form_and_script(text, windows):
    assert read_windows(text) == tuple(windows)


@pytest.mark.parametrize(
    "text",
    [
        "at the end",
        "1:75",
        "0:60",
        "1:60:00",
        "75",
        "0:10-0:05",
        "1:2",
        "0:05 0:10",
        "0:05-",
        "1:02:03:04",
    ],
)
def test_what_is_not_a_time(text):
    assert read_windows(text) is None


def test_the_gap_between_two_windows():
    assert seconds_apart((5, 10), (15, 15)) == seconds_apart((15, 15), (5, 10)) == 5
    assert seconds_apart((5, 10), (8, 20)) == seconds_apart((5, 10), (10, 10)) == 0
