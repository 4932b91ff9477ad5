"""The gallery: each file by made-up rows in its owners' form; it is read only when it is named."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import reelbench as face
from reelbench.base.errors import InputError
from reelbench.data.loading import locate
from reelbench.registry import benchmark_file, discovery, gallery
from reelbench.tasks.round_trip import round_trip
from tests.program import app
from tests.tasks.gallery_rows import FILES

SCORERS = {"owners' scorer", "lmms-eval's scorer"}
MATERIAL = {"real answers", "real rows", "made rows"}


def written(folder, files):
    """Write an owner's files; a name that a pattern with .parquet stands for gets Parquet."""
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.suffix in {".csv", ".tsv"}:
            delimiter = "," if file.suffix == ".csv" else "\t"
            with file.open("w", encoding="utf-8", newline="") as stream:
                writer = csv.DictWriter(stream, content[0], delimiter=delimiter)
                writer.writeheader()
                writer.writerows(content)
        elif "-of-" in name:
            _write_parquet(file.with_suffix(".parquet"), content)
        elif file.suffix == ".jsonl":
            file.write_text("\n".join(map(json.dumps, content)), encoding="utf-8")
        else:
            file.write_text(json.dumps(content), encoding="utf-8")
    return folder


def _write_parquet(file, rows):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_pylist(rows), file)


@pytest.mark.parametrize("name", gallery.names())
def test_each_reads_its_owners_form_and_a_perfect_answer_is_all_right(name, tmp_path):
    spec = discovery.get(name)
    assert all(task.name.startswith(f"reelbench_{name}") for task in spec.tasks)
    data = written(tmp_path / "data", FILES[name])
    located = locate(name, data=data)
    rows = located.read()
    assert rows
    assert not located.left_out.unreadable
    if spec.judge is not None:
        return
    assert round_trip(spec, located.split, rows).perfect == pytest.approx(100)


@pytest.mark.parametrize("name", ["mvbench", "tvbench"])
def test_the_part_of_a_video_that_owners_show_is_shown(name, tmp_path):
    # MVBench and TVBench (vqa_dataset.py): some tasks show a video from `start` to `end`.
    rows = locate(name, data=written(tmp_path, FILES[name])).read()
    clip_by_task = {row["task"][0]: row["clip"] for row in rows}
    assert sorted(clip_by_task.values()) == [[], [3.5, 9.0]]


def test_every_file_has_rows_here_and_a_line_on_what_it_was_held_against():
    assert set(FILES) == set(gallery.names())
    held = json.loads((gallery.folder() / "held.json").read_text(encoding="utf-8"))
    assert set(held) == set(gallery.names())


@pytest.mark.parametrize("name", gallery.names())
def test_a_scorer_is_named_only_where_its_numbers_are_on_record(name):
    scorer, _, material = gallery.comparison(name).against.rpartition(", ")
    assert material in MATERIAL
    record = gallery.folder() / name / "parity.json"
    assert bool(scorer) == record.is_file()
    if scorer:
        assert scorer in SCORERS
        parity = json.loads(record.read_text(encoding="utf-8"))
        is_of_lmms_eval = parity["repository"] == "EvolvingLMMs-Lab/lmms-eval"
        assert (scorer == "lmms-eval's scorer") == is_of_lmms_eval
        # Made answers are no real ones.
        assert (material == "real answers") != parity["answers"].startswith("made up")


def test_no_file_of_the_gallery_is_read_unless_it_is_named(monkeypatch):
    read_files = []
    read = benchmark_file.read

    def noted(path, **options):
        read_files.append(Path(path))
        return read(path, **options)

    monkeypatch.setattr(gallery, "read", noted)
    discovery.specs()
    assert discovery.find_task("videomme") is None
    with pytest.raises(InputError, match="unknown benchmark 'videomm'"):
        discovery.get("videomm")
    assert not read_files
    assert discovery.find_task("reelbench_videomme").spec.id == "videomme"
    assert [path.name for path in read_files] == ["videomme"]


def test_a_run_of_lmms_evals_own_task_is_read_by_the_gallery():
    assert discovery.find_task("videomme", twins=True).spec.id == "videomme"
    assert discovery.find_task("no_such_task", twins=True) is None


def test_a_copy_has_its_own_id_and_one_of_the_same_id_hides_the_gallerys(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    for name in ("my_eqa", "openeqa"):
        done = CliRunner().invoke(
            app, ["new", name, "--like", "openeqa", "--out", str(folder / name)]
        )
        assert done.exit_code == 0, done.output
    spec = benchmark_file.read(folder / "my_eqa")
    assert (spec.id, [task.name for task in spec.tasks]) == ("my_eqa", ["my_eqa"])
    assert (folder / "my_eqa" / "marks" / "user.txt").is_file()
    done = CliRunner().invoke(app, ["new", "o", "--like", "ovobench", "--out", str(tmp_path / "o")])
    assert done.exit_code == 0, done.output
    assert [file.name for file in (tmp_path / "o").iterdir()] == ["benchmark.yaml"]
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(folder))
    monkeypatch.setattr(discovery, "_registry", None)
    hiding = discovery.get("openeqa")
    assert hiding.folder == folder / "openeqa"
    # `openeqa` may be a task of lmms-eval's own.
    assert [task.name for task in hiding.tasks] == ["reelbench_openeqa"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["x", "--like", "videome"], "did you mean 'videomme'?"),
        (["x", "--like", "videomme", "--from", "rows.csv"], "leave out --from"),
        (["x", "--like", "videomme", "--kind", "span", "--twin", "tomato"], "out --twin, --kind;"),
        (["x"], "--from FILE, --like ID"),
        (["X y", "--like", "videomme"], "an id is lower-case"),
    ],
)
def test_a_copy_of_nothing_is_a_line(arguments, line, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["new", *arguments])
    assert done.exit_code != 0
    assert line in str(done.exception)
    assert not list(tmp_path.iterdir())


def test_the_list_says_what_each_is_ranked_by_and_was_held_against():
    done = CliRunner().invoke(app, ["list", "--gallery", "--json"])
    document = json.loads(done.stdout)
    assert set(document) == set(gallery.names())
    assert document["mlvu"]["ranked_by"] == "accuracy_macro"
    assert document["ovobench"]["pinned"]
    assert not document["videomme"]["pinned"]


def test_the_means_over_tasks_of_the_gallery_by_hand(tmp_path):
    data = written(tmp_path, FILES["mlvu"])
    # Of three counts one is right, and of two others both: the mean is (33.3 + 100) / 2.
    (tmp_path / "answers.json").write_text(
        json.dumps({"1": "A", "2": "A", "3": "A", "4": "D", "5": "A"}), encoding="utf-8"
    )
    scored = face.score("mlvu", tmp_path / "answers.json", data=data)
    assert scored.metrics["accuracy_macro"].value == pytest.approx(200 / 3)
