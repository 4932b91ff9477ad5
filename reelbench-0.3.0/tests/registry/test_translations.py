"""Questions in another language, and how a run's name keeps what they were."""

import pytest

from reelbench.base.errors import InputError
from reelbench.data.rows_on_disk import DataName
from reelbench.registry.discovery import get
from reelbench.registry.question_files import Translations, read_translations

ROWS = [
    {"id": "a", "language": "en-GB", "question": "Why?"},
    {"id": "b", "language": "ja-JP", "question": "なぜ?"},
]
LINES = '{"id": "a", "language": "es", "question": "¿Por qué?"}\n{"id": "b", "language": "en", "question": "Why not?"}\n'


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "translations.jsonl"
    path.write_text(LINES, encoding="utf-8")
    monkeypatch.setenv("REELBENCH_TRANSLATIONS", str(path))
    return path


@pytest.mark.parametrize(
    ("language", "questions", "lacking"),
    [("en", ["Why?", "Why not?"], []), ("es", ["¿Por qué?"], ["b"]), ("ja", ["なぜ?"], ["a"])],
)
@pytest.mark.usefixtures("file")
def test_a_question_stays_as_it_is_in_its_own_language(language, questions, lacking, monkeypatch):
    monkeypatch.setenv("REELBENCH_LANGUAGE", language)
    translations = Translations.from_environment()
    assert translations.lacking(get("curve"), ROWS) == set(lacking)
    translated_rows = [translations.translated(row) for row in ROWS if row["id"] not in lacking]
    assert [row["question"] for row in translated_rows] == questions
    assert {row["language"].partition("-")[0] for row in translated_rows} == {language}


@pytest.mark.usefixtures("file")
def test_without_a_language_nothing_is_asked_for():
    assert Translations.from_environment() is None


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "a", "language": "es"}', "line 1: is not"),
        ('{"id": "a", "language": "es", "question": " "}', "line 1: is not"),
        (
            '{"id": "a", "language": "es", "question": "x"}\n' * 2,
            "line 2: the id 'a' in es occurs twice",
        ),
    ],
)
def test_what_is_wrong_in_a_file(line, message, file):
    file.write_text(line, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_translations(file)


def test_a_run_s_name_keeps_a_label_whatever_is_in_it():
    name = DataName("curve", "0a", frames="window:2-5,4", language="es", label="web; 50 %=half, é")
    assert DataName.parse(str(name)) == name
    assert "frames=window:2-5,4;" in str(name)
