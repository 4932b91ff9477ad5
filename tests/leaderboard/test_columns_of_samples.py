"""Boards read columns of a store's samples; they give what the samples give, and nobody can forge them."""

import dataclasses
import random
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from typer.testing import CliRunner

import reelbench
from reelbench.base.workers import Workers
from reelbench.leaderboard import board, rereading, site, store
from reelbench.leaderboard.sample_columns import (
    ItemFacts,
    as_parquet,
    items_on,
    samples_of,
    scores_of,
    usage_in,
    usage_of,
)
from reelbench.leaderboard.store_columns import FOLDER
from reelbench.registry import discovery
from reelbench.registry.metrics import MeanOf
from reelbench.registry.records import Sample
from reelbench.scoring import aggregation, answers, comparison, result_files
from reelbench.scoring.score_columns import columns_at_both_ends
from tests.declared import declared
from tests.forks import KILL_AT
from tests.program import app

KEPT = ("id", "video", "state", "reason", "flags", "facets", "scores", "tokens", "seconds")


def _sample(name, **fields):
    scored = {
        "id": name,
        "video": "v",
        "prediction": "A",
        "target": {"answer": "A"},
        "state": "scored",
    }
    return Sample.model_validate(scored | fields)


def _columns(path):
    return sorted((path / FOLDER).glob("*.parquet"))


def _files(folder):
    return {
        path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


@pytest.fixture
def two_runs(rextime_run, tmp_path):
    """A store of two models, one of them without an answer to a question."""
    for name, right in (("one", 6), ("two", 3)):
        store.add(rextime_run(name, model=f"org/{name}", right=right), tmp_path / "store")
    return tmp_path / "store"


def test_columns_have_every_number_of_the_samples_to_the_bit():
    samples = [
        _sample("ä \u202e\x00", scores={"iou": 0.1 + 0.2, "right": -0.0, "tiny": 5e-324}),
        _sample("b", scores={"iou": 2 / 3}, facets={"topic": ["x", "y"], "level": ["1"]}),
        _sample("c", flags=["parse_failed"], scores={"right": 0.0}, tokens={"prompt": 2**53 - 1}),
        _sample("d", state="unscored", reason="media_missing", prediction=None, seconds=0.1),
    ]
    read = samples_of(as_parquet(samples))
    for before, after in zip(samples, read, strict=True):
        for name in KEPT:
            assert repr(getattr(after, name)) == repr(getattr(before, name))
    assert usage_in(as_parquet(samples)) == usage_of(samples)
    assert samples_of(as_parquet([])) == []


def _some_samples(spec, draw):
    """Return 120 samples in no order; one in ten of them lacks a score, for any reason."""
    names = sorted({mean.column for mean in spec.means_of(spec.primary)})
    samples = []
    for place in range(120):
        fields = {"video": f"v{place % 13}", "scores": {}}
        if draw.random() < 0.1:
            fields["state"] = "unscored"
            fields["reason"] = draw.choice(["cut_off", "media_missing", "refused"])
        else:
            fields["scores"] = {name: draw.random() for name in names}
            if draw.random() < 0.1:
                fields["scores"].pop(names[-1])
        samples.append(_sample(f"q{draw.random()}", **fields))
    return samples


def _same_to_the_bit(first, second):
    assert first.items == second.items
    assert (first.lowest is first.highest) == (second.lowest is second.highest)
    for one, other in ((first.lowest, second.lowest), (first.highest, second.highest)):
        assert repr(one.value) == repr(other.value)
        assert one.draws.tobytes() == other.draws.tobytes()
        assert one.parts.added.tobytes() == other.parts.added.tobytes()
        assert one.parts.deviations.tobytes() == other.parts.deviations.tobytes()
        assert (one.n, one.clusters, one.bounds) == (other.n, other.clusters, other.bounds)


def _mean_of_two():
    """Return ReXTime, ranked by the mean of two of its metrics."""
    spec = discovery.get("rextime")
    how = MeanOf(metrics=("accuracy", "miou"))
    mean = dataclasses.replace(spec.primary, name="mean", aggregate=how)
    return dataclasses.replace(spec, metrics=(mean, *spec.metrics))


def _from_the_lowest_mark():
    """Return CURVE with a judge whose lowest mark is 0.3, and worth 0."""
    spec = discovery.get("curve")
    how = dataclasses.replace(spec.primary.aggregate, lowest=0.3)
    metric = dataclasses.replace(spec.primary, aggregate=how)
    return dataclasses.replace(spec, metrics=(metric, *spec.metrics[1:]))


MADE = {"mean of two": _mean_of_two, "from the lowest mark": _from_the_lowest_mark}


@pytest.mark.parametrize("name", ["rextime", "moviechat", "curve", *MADE])
def test_a_run_is_compared_by_its_columns_as_by_its_samples_to_the_bit(name):
    spec = MADE[name]() if name in MADE else discovery.get(name)
    samples = _some_samples(spec, random.Random(name))
    columns = scores_of(as_parquet(samples))
    of_columns = columns_at_both_ends(spec, columns)
    assert of_columns is not None
    _same_to_the_bit(of_columns, comparison.at_both_ends(spec, samples))
    ids = {sample.id for sample in samples[20:90]}
    of_columns = columns_at_both_ends(spec, columns, ids)
    _same_to_the_bit(of_columns, comparison.at_both_ends(spec, samples, ids))


@pytest.mark.parametrize("name", ["rextime", "moviecore", "curve", *MADE])
def test_values_on_some_videos_are_those_of_the_samples_to_the_bit(name):
    spec = MADE[name]() if name in MADE else discovery.get(name)
    samples = _some_samples(spec, random.Random(name))
    facets = [{"category": ["x"]}, {"category": ["y"], "level": ["2"]}, {}]
    for place, sample in enumerate(samples):
        samples[place] = sample.model_copy(
            update={
                "facets": facets[place % 3],
                "flags": ("parse_failed",) if place % 7 == 0 else (),
            }
        )
    for videos in (
        frozenset(f"v{number}" for number in range(12)),
        frozenset({"v3", "no such"}),
        frozenset({""}),
    ):
        on_videos = [sample for sample in samples if sample.video in videos]
        items = items_on(as_parquet(samples), videos)
        assert items.facts == ItemFacts.of(on_videos)
        of_columns = aggregation.aggregate_columns(spec, items.columns)
        of_samples = aggregation.aggregate(spec, on_videos, overlap=False)
        assert repr(of_columns) == repr(of_samples)


def test_a_metric_that_is_no_plain_mean_is_not_made_of_columns():
    spec = discovery.get("moviecore")  # weighted by a facet
    samples = _some_samples(spec, random.Random(1))
    assert columns_at_both_ends(spec, scores_of(as_parquet(samples))) is None


def test_a_field_that_columns_lack_is_an_error_and_no_empty_value():
    [sample] = samples_of(as_parquet([_sample("a")]))
    with pytest.raises(AttributeError):
        _ = sample.prediction


@pytest.mark.usefixtures("few_videos")
def test_a_site_is_the_same_from_columns_and_from_samples(two_runs, tmp_path):
    added = _columns(two_runs)
    assert len(added) == 2
    site.build(two_runs, tmp_path / "from_columns")
    for path in added:
        path.unlink()
    (two_runs / FOLDER).rmdir()
    (two_runs / FOLDER).write_text("no folder can be made here")
    site.build(two_runs, tmp_path / "from_samples")
    assert _files(tmp_path / "from_columns") == _files(tmp_path / "from_samples")


@pytest.mark.usefixtures("few_videos")
@pytest.mark.parametrize("otherwise", [False, True])
def test_answers_that_another_version_read_are_read_again_once(
    two_runs, tmp_path, monkeypatch, otherwise
):
    monkeypatch.setattr(answers, "VERSION", answers.VERSION + 1)
    read_ids = []
    read_again = rereading.read_again

    def noted(spec, settings, sample, row):
        read_ids.append(sample.id)
        reading = dict(read_again(spec, settings, sample, row))
        if otherwise and sample.id == "mini1":
            reading["answer"] = None
        return reading

    monkeypatch.setattr(rereading, "read_again", noted)
    site.build(two_runs, tmp_path / "first")
    assert len(read_ids) == 24  # of two runs
    site.build(two_runs, tmp_path / "again")
    assert len(read_ids) == 24
    filed = _columns(two_runs)
    assert len(filed) == 4  # those by the other version's reading go an hour later
    for path in filed:
        path.unlink()
    (two_runs / FOLDER).rmdir()
    (two_runs / FOLDER).write_text("no folder can be made here")
    site.build(two_runs, tmp_path / "from_samples")
    assert _files(tmp_path / "again") == _files(tmp_path / "first")
    assert _files(tmp_path / "from_samples") == _files(tmp_path / "first")
    rows = [row for row in board.make(two_runs).entries if row.stored]
    # Of 12 answers 6 and 3 are right; the first of them can't be read any more.
    right = (5, 2) if otherwise else (6, 3)
    shown = sorted((row.metrics["accuracy"].value for row in rows), reverse=True)
    assert shown == pytest.approx([100 * number / 12 for number in right])


def test_columns_that_are_missing_are_made_with_the_same_bytes_by_one_process_and_by_two(two_runs):
    before = _files(two_runs / FOLDER)
    for workers in (Workers(1), Workers(2)):
        for path in _columns(two_runs):
            path.unlink()
        said = []
        board.make(two_runs, workers=workers, note=said.append)
        assert said == [f"{two_runs / FOLDER}: columns of 2 results made"]
        assert _files(two_runs / FOLDER) == before
    board.make(two_runs, note=said.append)
    assert len(said) == 1


@pytest.mark.parametrize("forge", ["bit", "scores", "home"])
def test_columns_that_this_machine_did_not_write_are_not_read(two_runs, monkeypatch, forge):
    before = _files(two_runs / FOLDER)
    metrics = [entry.metrics for entry in board.make(two_runs, published=False).entries]
    path = _columns(two_runs)[0]
    data = path.read_bytes()
    if forge == "bit":
        path.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    else:
        better = [
            sample.model_copy(update={"scores": dict.fromkeys(sample.scores, 1.0)})
            for sample in samples_of(data)
        ]
        path.write_bytes(as_parquet(better))
    if forge == "home":
        # A store that came from elsewhere brings columns, and no word of this machine on them.
        monkeypatch.setenv("REELBENCH_HOME", str(two_runs.parent / "another_home"))
    said = []
    after = board.make(two_runs, published=False, note=said.append)
    assert [entry.metrics for entry in after.entries] == metrics
    assert _files(two_runs / FOLDER) == before
    made = 2 if forge == "home" else 1
    assert said[-1].endswith(f"columns of {made} result{'s' * (made > 1)} made")
    if forge != "home":
        assert said[0].startswith(f"{path}: it is not as it was written")


def test_check_names_columns_that_were_changed(two_runs):
    path = _columns(two_runs)[0]
    data = path.read_bytes()
    path.write_bytes(data + b"!")
    done = CliRunner().invoke(app, ["leaderboard", "check", "--store", str(two_runs)])
    assert f"{path}: it is not as it was written; it is rebuilt" in done.stderr
    assert path.read_bytes() == data


def test_columns_of_samples_that_changed_hands_go_with_the_samples(two_runs, rextime_run):
    better = rextime_run("better", model="org/two", right=5)
    [added] = store.add(better, two_runs, filing=store.Filing(replaces=True))
    assert added.outcome == "replaced"
    rows = board.make(two_runs, published=False).entries
    of_two = next(row for row in rows if row.model == "org/two")
    samples = list(result_files.read_samples(added.place))
    recomputed = aggregation.aggregate(of_two.stored.spec, samples).metrics
    assert of_two.metrics == recomputed


def test_secret_answers_have_no_columns(tmp_path):
    rows = [
        {
            "id": f"q{number}",
            "video": f"v{number}",
            "q": f"What is {number}?",
            "a": f"word {number}",
        }
        for number in range(12)
    ]
    text = (
        "id: cellar\ntitle: Cellar\nkind: exact\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q, answer: a}\n"
        "languages: [en]\nlicence: cc-by-4.0\nhidden_answers: true\n"
    )
    folder = declared(tmp_path / "cellar", text, rows)
    answers = [{"id": row["id"], "prediction": row["a"]} for row in rows]
    reelbench.score(str(folder), answers, model="org/one").save(tmp_path / "run")
    [added] = store.add(tmp_path / "run", tmp_path / "store")
    assert added.outcome == "added", added.why
    site.build(tmp_path / "store", tmp_path / "site")
    assert not _columns(tmp_path / "store")


def test_a_link_in_the_place_of_the_columns_is_not_followed(two_runs, tmp_path):
    folder = two_runs / FOLDER
    folder.rename(tmp_path / "elsewhere")
    before = _files(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    for path in (tmp_path / "elsewhere").iterdir():
        path.write_bytes(b"no columns")
    results = store.read(two_runs)
    assert [result.columns for result in results] == [None, None]
    board.make(two_runs)
    assert _files(tmp_path / "elsewhere") == dict.fromkeys(before, b"no columns")


@pytest.mark.slow
def test_two_adds_and_a_build_at_once_leave_a_whole_board(rextime_run, reelbench, tmp_path):
    place = tmp_path / "store"
    store.add(rextime_run("first", model="org/first"), place)
    for name, right in (("a", 3), ("b", 4), ("c", 5), ("d", 2)):
        folder = tmp_path / ("ab" if name in "ab" else "cd")
        shutil.copytree(rextime_run(name, model=f"org/{name}", right=right), folder / name)
    commands = [("add", tmp_path / folder, "--store", place) for folder in ("ab", "cd")]
    commands.append(("build", "--store", place, "--out", tmp_path / "site"))
    with ThreadPoolExecutor(3) as pool:
        processes = [pool.submit(reelbench, "leaderboard", *command) for command in commands]
    for process in processes:
        assert process.result().returncode == 0, process.result().stderr
    said = []
    rows = board.make(place, published=False, note=said.append).entries
    assert sorted(row.model for row in rows) == ["org/a", "org/b", "org/c", "org/d", "org/first"]
    assert said == []  # no process lost what another one wrote
    assert len(_columns(place)) == len(rows)


@pytest.mark.slow
def test_an_add_that_is_ended_at_any_write_leaves_a_store_of_which_the_same_site_is_made(
    rextime_run, reelbench, tmp_path
):
    folder = rextime_run("one")
    add = ("leaderboard", "add", folder, "--store", tmp_path / "whole")
    assert reelbench(*add, env={KILL_AT: f"0 {tmp_path / 'changes'}"}).returncode == 0
    changes = int((tmp_path / "changes").read_text())
    site.build(tmp_path / "whole", tmp_path / "site")
    for moment in range(1, changes + 1):
        place = tmp_path / f"store{moment}"
        words = ("leaderboard", "add", folder, "--store", place)
        reelbench(*words, env={KILL_AT: f"{moment} {tmp_path / 'changes'}"})
        [added] = store.add(folder, place)
        assert added.outcome in {"added", "same"}, added.why
        site.build(place, tmp_path / f"site{moment}")
        columns = [path.read_bytes() for path in _columns(place)]
        assert columns == [path.read_bytes() for path in _columns(tmp_path / "whole")]
        assert _files(tmp_path / f"site{moment}") == _files(tmp_path / "site")


@pytest.mark.slow
def test_a_build_that_is_ended_at_any_of_twenty_writes_is_made_whole_by_the_next(
    two_runs, reelbench, tmp_path
):
    shutil.rmtree(two_runs / FOLDER)  # so that the build makes the columns too

    def build(name, kill_at):
        place = shutil.copytree(two_runs, tmp_path / name / "store", dirs_exist_ok=True)
        words = ("leaderboard", "build", "--store", place, "--out", tmp_path / name / "site")
        home = {"REELBENCH_HOME": str(tmp_path / name / "home")}
        killed = reelbench(*words, env={KILL_AT: f"{kill_at} {tmp_path / 'changes'}", **home})
        again = reelbench(*words, env=home)
        assert again.returncode == 0, again.stderr
        return killed.returncode, _files(place), _files(tmp_path / name / "site")

    status, *whole = build("whole", 0)
    assert status == 0
    changes = int((tmp_path / "changes").read_text())
    for moment in random.Random(1).sample(range(1, changes + 1), 20):
        status, *after = build(f"moment{moment}", moment)
        assert status == -signal.SIGKILL
        assert after == whole, f"killed at change {moment} of {changes}"
