"""Whose rows a result was made on: the owners' by their bytes or by their rows, somebody's own, or nobody knows."""

import json
from dataclasses import replace

import pytest

from reelbench.base.files import sha256_of
from reelbench.data import loading, ownership
from reelbench.data.rows_on_disk import DataName, RowsOnDisk
from reelbench.registry import benchmark_file, discovery
from reelbench.registry.records import SourceRecord
from reelbench.tasks.submissions import Questions


@pytest.fixture
def spec():
    """MovieCORE, as if its mini file were the owners' test file."""
    moviecore = discovery.get("moviecore")
    path = moviecore.folder / "mini" / "test.json"
    rows = loading.load("moviecore_mini")
    known = ownership.rows_sha256(ownership.entry_of(moviecore, row) for row in rows)
    test = replace(moviecore.splits["test"], owners_files=(sha256_of(path),), owners_rows=known)
    return replace(moviecore, splits={**moviecore.splits, "test": test})


@pytest.fixture
def owners_rows():
    moviecore = discovery.get("moviecore")
    return json.loads((moviecore.folder / "mini" / "test.json").read_text(encoding="utf-8"))


def whose(spec, path):
    asked = Questions(spec, spec.default_split, file=path)
    entries = [(one.id, one.video, one.question, one.target) for one in asked.references()]
    return ownership.rows_owner(spec, asked.split, asked.source, entries)


def write(path, document):
    path.write_text(
        document if isinstance(document, str) else json.dumps(document), encoding="utf-8"
    )
    return path


def as_entries(document):
    """The same questions as a list, with the id that the file's key was."""
    return [{"question_id": key, **entry} for key, entry in document.items()]


class TestWhose:
    def test_the_owners_bytes_are_theirs(self, spec):
        path = spec.folder / "mini" / "test.json"
        assert whose(spec, path) == "owners"

    def test_the_owners_rows_in_another_format_and_order_are_theirs(
        self, spec, owners_rows, tmp_path
    ):
        entries = as_entries(owners_rows)[::-1]
        assert whose(spec, write(tmp_path / "a.json", entries)) == "owners"
        assert (
            whose(spec, write(tmp_path / "b.jsonl", "\n".join(map(json.dumps, entries))))
            == "owners"
        )
        spaced = [{**entry, "question": f" {entry['question']}\u00a0"} for entry in entries]
        assert whose(spec, write(tmp_path / "c.json", spaced)) == "owners"

    @pytest.mark.parametrize("field", ["question", "answer", "video"])
    def test_a_changed_row_makes_them_somebodys_own(self, spec, owners_rows, tmp_path, field):
        entries = as_entries(owners_rows)
        entries[0][field] = "something else"
        assert whose(spec, write(tmp_path / "a.json", entries)) == "own"

    def test_a_row_less_or_more_makes_them_somebodys_own(self, spec, owners_rows, tmp_path):
        entries = as_entries(owners_rows)
        assert whose(spec, write(tmp_path / "a.json", entries[1:])) == "own"
        more = [*entries, {**entries[0], "question_id": "new_1"}]
        assert whose(spec, write(tmp_path / "b.json", more)) == "own"

    def test_where_the_owners_bytes_are_unknown_nothing_is_stated(self):
        for name in ("curve", "dramaqa_cogme"):
            source = SourceRecord(kind="local", location="x", revision=None, fingerprint="0" * 64)
            known = discovery.get(name)
            assert ownership.rows_owner(known, known.default_split, source, []) == "unstated"

    def test_mini_rows_are_known_and_a_part_of_them_is_too(self):
        rextime = discovery.get("rextime")
        rows = [ownership.entry_of(rextime, row) for row in loading.load("rextime_mini")]
        source = SourceRecord(
            kind="files", location="mine.json", revision=None, fingerprint="rextime:0"
        )
        assert ownership.rows_owner(rextime, "mini", source, rows[:3]) == "owners"
        changed = [(name, video, "another question", target) for name, video, _, target in rows]
        assert ownership.rows_owner(rextime, "mini", source, changed) == "own"

    def test_a_run_whose_rows_are_not_here_is_told_by_its_fingerprint(self, spec):
        path = spec.folder / "mini" / "test.json"
        known = loading.fingerprint(spec, [sha256_of(path)])[:16]
        source = SourceRecord(
            kind="samples", location="rows of the run", revision=None, fingerprint=known
        )
        assert ownership.rows_owner(spec, "test", source, []) == "owners"
        other = source.model_copy(update={"fingerprint": "f" * 16})
        assert ownership.rows_owner(spec, "test", other, []) == "unstated"


def test_a_result_says_whose_its_rows_were(reelbench, tmp_path):
    answers = write(tmp_path / "a.csv", "id,prediction\nmini1,A [0 s - 2 s]\n")
    done = reelbench(
        "score", "rextime_mini", "--predictions", answers, "--output", tmp_path / "out"
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "result.json").read_text())["data"] == "owners"


def test_a_run_on_own_rows_says_so_wherever_it_is_scored(tmp_path, monkeypatch, owners_rows):
    mine = write(tmp_path / "test.json", owners_rows)
    monkeypatch.setenv("REELBENCH_DATA_MOVIECORE", str(mine))
    name = str(RowsOnDisk("moviecore"))
    assert name.endswith(";data=own")
    assert DataName.parse(name).data == "own"
    assert "data=" not in str(RowsOnDisk("moviecore_mini"))
    monkeypatch.setenv(
        "REELBENCH_DATA_DRAMAQA_COGME", str(discovery.get("dramaqa_cogme").folder / "mini")
    )
    assert "data=" not in str(RowsOnDisk("dramaqa_cogme")), "the owners' bytes are unknown"


def test_each_of_several_right_texts_is_part_of_what_is_asked(tmp_path):
    file = "id: kitchen\nkind: exact\nanswers: any\nsource: {file: rows.json}\n"
    write(
        tmp_path / "benchmark.yaml",
        f"{file}columns: {{id: id, video: video, question: q, answer: a}}\n",
    )

    def asked(*answers):
        rows = write(
            tmp_path / "rows.json", [{"id": "a", "video": "v", "q": "What colour?", "a": answers}]
        )
        spec = benchmark_file.read(tmp_path)
        rows_here = loading.read_rows(spec, [rows], "test")
        return ownership.rows_questions_sha256(spec, "test", rows_here)

    assert asked("red", "crimson") == asked("red", " Crimson")
    assert len({asked("red", "crimson"), asked("red", "scarlet"), asked("red")}) == 3
