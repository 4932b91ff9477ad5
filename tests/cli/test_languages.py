"""What runs in several languages come to: a row for each locale, a column for each language."""

import json
import xml.etree.ElementTree as ET

from reelbench.cli.sweep import write_matrix
from reelbench.pages.svg import INK
from reelbench.terminal import console


def cell(value, n=3):
    return {
        "value": value,
        "ci95": None if value is None else [value - 1, value + 1],
        "n": n if value is not None else 0,
    }


def point(language, score, **locales):
    """Return a sweep's point as it stands in its file; nothing but the score was judged."""
    breakdowns = {
        "locale": {
            name.replace("_", "-"): {"score": cell(value)} for name, value in locales.items()
        }
    }
    metrics = {"score": cell(score, 6), "macro": cell(None)}
    named = {"task": "curve", "benchmark": "curve", "model": "org/vlm", "language": language}
    return {**named, "metrics": metrics, "breakdowns": breakdowns}


def test_a_matrix_of_locales_and_languages(tmp_path, capsys):
    rows = [
        point("native", 50.0, ja_JP=60.0, en_GB=40.0),
        point("es", 25.0, ja_JP=20.0, en_GB=30.0),
        point("en", 45.0, ja_JP=50.0, en_GB=40.0),
    ]
    told = []
    for table in write_matrix(rows, tmp_path, told.append):
        console.show(table)
    assert told == [f"written to {tmp_path / 'languages.json'}; native is a plain run's"]
    (task,) = json.loads((tmp_path / "languages.json").read_text())["tasks"]
    assert (task["task"], task["metric"], task["languages"]) == (
        "curve",
        "score",
        ["native", "es", "en"],
    )
    assert list(task["locales"]) == ["all", "en-GB", "ja-JP"]
    assert task["locales"]["ja-JP"]["es"] == {"value": 20.0, "ci95": [19.0, 21.0], "n": 3}
    drawn = ET.parse(tmp_path / "languages_curve.svg").getroot()  # noqa: S314 - our own file
    assert "ja-JP, es: 20.00 (19.0 to 21.0), n = 3" in {
        title.text for title in drawn.iter() if len(title) == 0
    }
    outlined = {
        cell[0].text.partition(":")[0] for cell in drawn.iter() if cell.get("stroke") == INK
    }
    assert outlined == {"all, native", "ja-JP, native", "en-GB, native", "en-GB, en"}
    printed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["ja-JP", "60.00", "20.00", "50.00"] in printed


def test_a_language_that_nobody_judged_leaves_its_cells_empty(tmp_path):
    write_matrix(
        [point("native", 50.0, en_GB=40.0), point("es", None, en_GB=None)], tmp_path, [].append
    )
    (task,) = json.loads((tmp_path / "languages.json").read_text())["tasks"]
    assert task["locales"]["en-GB"] == {"native": {"value": 40.0, "ci95": [39.0, 41.0], "n": 3}}
