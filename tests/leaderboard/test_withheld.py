"""Whoever has the dataset alone makes the page that was published: rows without their samples, imported ones, names."""

import io
import json
import re
import shutil

import pytest
from huggingface_hub import snapshot_download
from pyarrow import parquet

from reelbench.base.errors import InputError
from reelbench.leaderboard import board_state, changed_files, row_life, store
from reelbench.leaderboard import publish as publishing
from reelbench.leaderboard.changed_files import ChangedFiles
from reelbench.leaderboard.publish import PublishOptions
from reelbench.leaderboard.store import Filing
from tests.declared import declared

SPACE, DATASET = "museum/reelbench-board", "museum/reelbench-results"
ANSWER = "the secret answer"


def pantry(folder):
    rows = [
        {
            "id": f"q{n}",
            "video": f"v{n}.mp4",
            "q": f"What is on shelf {n}?",
            "a": ANSWER,
            "topic": "top" if n % 2 else "low",
        }
        for n in range(24)
    ]
    text = (
        "id: pantry\ntitle: Pantry\nkind: exact\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q, answer: a}\nfacets: [topic]\nlanguages: [en]\n"
    )
    return declared(folder, text, rows)


@pytest.fixture
def filed(tmp_path, reelbench):
    """File the answers of a model: the first `right` of 24 questions right, the last `missing` without an answer."""

    def one(name, right, *, missing=0, frames=None, into="store"):
        folder, run = pantry(tmp_path / "pantry"), tmp_path / "runs" / f"{name}-{right}"
        predictions = tmp_path / f"{name}.jsonl"
        answers = [ANSWER if n < right else "flour" for n in range(24 - missing)]
        predictions.write_text(
            "".join(
                json.dumps({"id": f"q{n}", "prediction": said}) + "\n"
                for n, said in enumerate(answers)
            )
        )
        given = ["--frames", frames] if frames else []
        done = reelbench(
            "score",
            str(folder),
            "--predictions",
            str(predictions),
            "--model",
            f"org/{name}",
            *given,
            "--output",
            str(run),
        )
        assert done.returncode == 0, done.stderr
        [added] = store.add(run, tmp_path / into)
        assert added.outcome == "added", added.why
        return tmp_path / into

    return one


def rebuilt(tmp_path, reelbench, name="rebuilt"):
    """A store made of nothing but the dataset, as the error tells one to make it."""
    folder = snapshot_download(DATASET, repo_type="dataset", local_dir=tmp_path / f"{name}-clone")
    done = reelbench("leaderboard", "clone", folder, "--store", str(tmp_path / name))
    assert done.returncode == 0, done.stderr
    return tmp_path / name


@pytest.fixture
def published(hub, rextime_run, filed, tmp_path):
    assert not hub.repos
    where = tmp_path / "store"
    store.add(rextime_run(), where)
    for name, right, missing, frames in (
        ("one", 20, 0, None),
        ("two", 8, 0, None),
        ("three", 19, 1, None),
        ("blind", 6, 0, "none"),
    ):
        filed(name, right, missing=missing, frames=frames)
    community = {
        "benchmark": "rextime",
        "dataset": "ReXTime/ReXTime",
        "fetched": "2026-11-01T00:00:00+00:00",
        "rows": [{"model": "lab/stated", "value": 41.5, "verified": False}],
    }
    (where / "community").mkdir()
    (where / "community" / "rextime.json").write_text(json.dumps(community))
    (where / "aliases.yaml").write_text("org/one: [Model One]\n")
    publishing.publish(where, space=SPACE, dataset=DATASET)
    return where


@pytest.mark.usefixtures("published")
def test_a_rebuild_from_the_dataset_gives_the_same_page(hub, tmp_path, reelbench):
    again = rebuilt(tmp_path, reelbench)
    assert not [path for path in again.rglob("*") if "pantry" in path.name and path.is_dir()]
    told = []
    options = PublishOptions(dry_run=True)
    done = publishing.publish(
        again, space=SPACE, dataset=DATASET, options=options, note=told.append
    )
    assert [one.done for one in done] == ["unchanged", "unchanged"], told
    board = hub.repos["space", SPACE].files()["data/board.js"].decode()
    assert "lab/stated" in board
    assert any(path.startswith("data/pairs/") for path in hub.repos["space", SPACE].files())


@pytest.mark.usefixtures("published")
def test_a_row_without_samples_has_an_owner_and_is_not_replaced(filed, tmp_path, reelbench):
    again = rebuilt(tmp_path, reelbench)
    before = board_state.read(again).rows
    [key] = [key for key, row in before.items() if row.model == "org/one"]
    filed("one", 3, into="others")
    run = tmp_path / "runs" / "one-3"
    [added] = store.add(run, again, filing=Filing("eve"))
    assert "org/one was filed first by the maintainers of this board" in added.why
    [added] = store.add(run, again, filing=Filing("eve", as_maintainer=True))
    assert "add replaces nothing" in added.why
    assert board_state.read(again).rows == before
    offered = tmp_path / "offered"
    shutil.copytree(tmp_path / "others" / key, offered / "results" / key)
    files = [f"results/{key}/{name}" for name in ("result.json", "samples.jsonl")]
    changes = ChangedFiles(tuple(files), ())
    report = changed_files.report(changes, offered, again, account="eve")
    assert report.problems[0].startswith(f"results/{key}: belongs to the maintainers")
    assert report.refused == 1


@pytest.mark.usefixtures("published")
def test_nothing_of_a_question_or_an_answer_is_kept(hub):
    for repo in (("space", SPACE), ("dataset", DATASET)):
        for path, data in hub.repos[repo].files().items():
            for word in (ANSWER, "What is on shelf", "v3.mp4", "flour"):
                if "rextime" not in path:
                    assert word.encode() not in data, (path, word)
    kept = json.loads(hub.repos["dataset", DATASET].files()["results/withheld/pantry.json"])
    [table] = kept["tables"]
    assert {row["model"] for row in table["rows"]} == {
        "org/one",
        "org/two",
        "org/three",
        "org/blind",
    }
    # One lacks more answers than a ranked row may, and one saw no frame.
    assert len(table["pairs"]) == 1
    assert "states no licence" in table["why"]


@pytest.mark.usefixtures("published")
def test_kept_rows_are_not_lost_and_not_set_back(filed, tmp_path, reelbench):
    """Another maintainer, with a result of her own on the same questions, can't take the place of what she lacks."""
    other = filed("four", 12, into="other")
    with pytest.raises(InputError, match="that the store lacks"):
        publishing.publish(other, space=SPACE)
    # With the rows brought in, her own result still can't be compared with them: nothing is
    # published in their place.
    told = []
    with pytest.raises(InputError, match=r"has 4 rows without samples.*leaderboard remove KEY"):
        publishing.publish(other, dataset=DATASET, note=told.append)
    assert sum("its samples are not here, so it can't be compared" in line for line in told) == 4
    with pytest.raises(InputError, match="that the store lacks"):
        publishing.publish(other, space=SPACE)
    # A rebuilt store goes on publishing; its own copy of a row that was scored anew since is older,
    # and the newer one comes into it.
    again = rebuilt(tmp_path, reelbench)
    file = again / "withheld" / "pantry.json"
    text = file.read_text()
    year = re.search(r'"date": "(20\d\d)-', text)[1]
    file.write_text(text.replace(f'"date": "{year}-', '"date": "2020-'))
    assert publishing.publish(again, dataset=DATASET)[0].done == "unchanged"
    assert file.read_text() == text


def test_a_row_that_comes_back_is_not_lost_by_another_maintainers_older_copy(
    hub, published, tmp_path, reelbench
):
    [row] = [row for row in store.read(published) if row.result.model.id == "org/three"]
    row_life.remove([row.key], published, "looked at again")
    publishing.publish(published, dataset=DATASET)
    other = rebuilt(tmp_path, reelbench)
    row_life.restore(row.key, published)
    publishing.publish(published, dataset=DATASET)
    kept = "results/withheld/pantry.json"
    with_it = hub.repos["dataset", DATASET].files()[kept]
    assert row.key.encode() in with_it
    publishing.publish(other, dataset=DATASET)
    assert hub.repos["dataset", DATASET].files()[kept] == with_it


def test_a_file_that_is_none_is_one_line(published, reelbench):
    (published / "withheld").mkdir()
    (published / "withheld" / "pantry.json").write_text('{"benchmark": "pantry"}')
    done = reelbench(
        "leaderboard", "build", "--store", str(published), "--out", str(published.parent / "site")
    )
    assert done.returncode == 2
    assert (
        "is not what a results dataset keeps of withheld rows (2 fields are wrong)" in done.stderr
    )


@pytest.mark.usefixtures("published")
def test_the_datasets_card_explains_every_column_of_its_table(hub):
    there = hub.repos["dataset", DATASET].files()
    table = parquet.read_table(io.BytesIO(there["data/results.parquet"]))
    card = there["README.md"].decode()
    assert [name for name in table.column_names if f"`{name}`" not in card] == []
    assert "<!--" not in card
