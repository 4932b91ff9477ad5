"""Files as authors have them: each is read as it is meant, or refused with a line."""

import pytest

from reelbench.base.errors import InputError
from reelbench.data import declared_check
from reelbench.data.loading import locate
from reelbench.registry import discovery
from reelbench.tasks.benchmark_folder import NewBenchmark, make
from reelbench.tasks.column_guess import guess
from reelbench.tasks.round_trip import round_trip
from tests.tasks.author_files import FILES, letter, rows, turned, write


@pytest.mark.parametrize("name", FILES)
def test_a_file_becomes_what_it_is_or_stops_with_a_line(name, tmp_path, monkeypatch):
    monkeypatch.setattr(discovery, "_registry", None)
    file = FILES[name]
    request = NewBenchmark(
        "authors",
        write(file, tmp_path),
        file.kind,
        columns=file.columns,
        keys=file.keys,
        without=file.without,
    )
    folder = tmp_path / "new"
    if file.stops:
        with pytest.raises(InputError) as refused:
            make(request, folder)
        assert file.stops in str(refused.value)
        assert not folder.exists()
        return
    spec, seen = make(request, folder)
    discovery.open_file(folder)
    first_row = locate(spec.id).read()[0]
    assert (seen.kind, first_row.get("span") or first_row["answer"]) == (file.kind_is, file.right)
    (split,) = declared_check.check(spec, media=False)
    assert split.problems == []
    trip = round_trip(spec, split.name, split.rows)
    if trip is not None:
        assert (trip.perfect, trip.empty, trip.misread) == (pytest.approx(100), 0, ())


def test_every_column_is_used_or_named_with_what_it_holds():
    made = guess(
        rows(
            options=turned,
            answer=letter,
            video_path=lambda n: f"videos/clip{n // 3}.mp4",
            answer_text=lambda n: turned(n)["ABCD".index(letter(n))],
            fps=25,
            width=lambda n: 640 + n,
            topic=lambda n: "ab"[n % 2],
            mood=lambda n: ["calm", "loud"][n % 2],
            notes=lambda n: f"seen on day {n}",
            tags=["tea"],
            empty=None,
        )
    )
    assert made.facets == ["topic"]
    assert made.unread == {}
    assert made.unused == {
        "video_path": "the video's name again",
        "answer_text": "the answer again",
        "fps": "the same in all rows",
        "width": "numbers",
        "mood": "labels",
        "notes": "texts",
        "tags": "the same in all rows",
        "empty": "empty",
    }


def test_all_faults_are_told_at_once(tmp_path):
    made = rows(image=lambda n: f"q{n}.jpg", rubric=lambda n: {"a": n}, ask_time=lambda n: 2.5 * n)
    for row in made:
        del row["video"]
    file = FILES["two kinds by a column"]
    path = write(type(file)("rows.json", made), tmp_path)
    with pytest.raises(InputError) as refused:
        make(NewBenchmark("authors", path), tmp_path / "new")
    for words in (
        "'image' names pictures",
        "'rubric' holds",
        "'ask_time' holds times",
        "no column is the video",
    ):
        assert words in str(refused.value)


def test_a_column_to_leave_out_is_not_used_either(tmp_path):
    made = rows(answer=lambda n: f"He pours tea into cup {n} there.", steps=lambda n: [{"a": n}])
    assert guess(made).columns["reasoning"] == "steps"
    assert "reasoning" not in guess(made, without=["steps"]).columns
    path = write(type(FILES["open questions"])("rows.json", made), tmp_path)
    with pytest.raises(InputError, match=r"has no column 'stpes' \(--without\)"):
        make(NewBenchmark("authors", path, without=["stpes"]), tmp_path / "new")
