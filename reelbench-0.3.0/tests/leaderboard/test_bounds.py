"""Numbers that no run has, texts without end: refused where they are read, and never more than their own row's loss."""

import os

import pytest

from reelbench.base import bounds
from reelbench.leaderboard import board, store
from reelbench.scoring import aggregation
from reelbench.stats import ratios
from tests.leaderboard.ledgers import refiled

HUGE = 10**400


def set_in(path, value):
    """Set a value at a path of keys, making the objects on the way."""

    def change(document):
        *way, last = path
        for name in way:
            if document.get(name) is None:
                document[name] = {}
            document = document[name]
        document[last] = value

    return change


IN_RESULT = {
    "extra": (("counts", "extra"), HUGE),
    "parameters": (("model", "about", "parameters"), float("inf")),
    "released": (("model", "about", "released"), "9999-99-99"),
    "args": (("model", "args", "max_pixels"), HUGE),
    "args, nested": (("model", "args", "kwargs"), [{"a": float("nan")}]),
    "generation": (("settings", "generation", "temperature"), float("nan")),
    "note": (("provenance", "note"), "word " * 4_000),
    "links": (("model", "about", "links"), {f"n{n}": "https://a.b" for n in range(1_000)}),
}
IN_SAMPLE = {
    "tokens": (("tokens",), {"prompt": HUGE, "completion": 1}),
    "negative tokens": (("tokens",), {"prompt": -1}),
    "NaN seconds": (("seconds",), float("nan")),
    "negative seconds": (("seconds",), -1),
    "infinite times": (("frame_timestamps",), [0, float("inf")]),
    "a reason of one's own": (("reason",), "because"),
    "long label": (("facets",), {"kind": ["x" * 20_000]}),
}


@pytest.mark.parametrize(("path", "value"), IN_RESULT.values(), ids=IN_RESULT)
def test_a_value_that_no_result_has_is_refused_by_its_name(
    path, value, rextime_run, tamper, tmp_path
):
    folder = tamper(rextime_run(), result=set_in(path, value))
    [added] = store.add(folder, tmp_path / "store")
    assert added.outcome == "refused"
    assert ".".join(path) in added.why
    assert len(added.why) < 600


@pytest.mark.parametrize(("path", "value"), IN_SAMPLE.values(), ids=IN_SAMPLE)
def test_a_value_that_no_sample_has_is_refused_by_its_line(
    path, value, rextime_run, tamper, tmp_path
):
    folder = tamper(rextime_run(), samples=lambda lines: set_in(path, value)(lines[0]))
    [added] = store.add(folder, tmp_path / "store")
    assert added.outcome == "refused"
    assert "line 1" in added.why
    assert path[0] in added.why


@pytest.mark.parametrize("cost", [float("inf"), float("nan"), -1])
def test_what_judging_cost_is_an_amount(cost, moviecore_run, tamper, tmp_path):
    folder = tamper(moviecore_run(), result=set_in(("judge", "cost_usd"), cost))
    [added] = store.add(folder, tmp_path / "store")
    assert (added.outcome, "judge.cost_usd" in added.why) == ("refused", True)


def test_no_item_is_shown_more_frames_than_the_settings_say(rextime_run, tamper, tmp_path):
    folder = tamper(
        rextime_run(),
        samples=lambda lines: set_in(("frame_timestamps",), [n / 10 for n in range(500)])(lines[0]),
        result=set_in(("settings", "frames"), "uniform:1"),
    )
    [added] = store.add(folder, tmp_path / "store")
    assert "was shown 500 frames, and settings.frames is uniform:1" in added.why


@pytest.fixture(params=["tokens", "long label"])
def one_bad(rextime_run, tmp_path, tamper, request):
    """A store with a good row, and one that an earlier version let in."""
    store.add(rextime_run("good", model="org/good"), tmp_path / "store")
    [bad] = store.add(rextime_run("bad", model="org/bad"), tmp_path / "store")
    tamper(bad.place, samples=lambda lines: set_in(*IN_SAMPLE[request.param])(lines[0]))
    refiled(bad.place)
    return tmp_path / "store"


def test_a_bad_row_costs_itself_alone_and_is_listed(one_bad, tmp_path, rextime_run, reelbench):
    made = board.make(one_bad, published=False)
    assert [entry.model for entry in made.entries] == ["org/good"]
    [(key, why)] = made.left_out.items()
    assert key.startswith("org__bad/")
    assert "line 1: field " in why
    new = str(rextime_run("new", model="org/new"))
    for words in (
        ["build", "--store", str(one_bad), "--out", str(tmp_path / "site")],
        ["tables", "--store", str(one_bad)],
        ["check", new, "--store", str(one_bad), "--markdown", str(tmp_path / "report.md")],
    ):
        done = reelbench("leaderboard", *words)
        assert done.returncode == 0, done.stderr
        assert f"left out: {key}" in done.stderr


def _labels(number):
    def change(line):
        line["facets"] = {"category": [f"label {n}" for n in range(number)]}

    return change


BEYOND = {
    "software": (
        lambda result: result.update(software={f"package{n}": "1" for n in range(201)}),
        None,
        "200",
    ),
    "arguments": (
        lambda result: result["model"].update(args={f"a{n}": n for n in range(201)}),
        None,
        "200",
    ),
    "model id": (lambda result: result["model"].update(id="m" * 1001), None, "1000"),
    "note": (lambda result: result["provenance"].update(note="n" * 10_001), None, "10000"),
    "labels": (None, _labels(301), "301, and at most 300"),
    "item id": (None, lambda line: line.update(id="i" * 1001), "1000"),
    "frames": (
        None,
        lambda line: line.update(frame_timestamps=[0.0] * 50_001),
        "50,001, and at most 50,000",
    ),
    "media key": (None, lambda line: line.update(video="v" * 1001), "1000"),
}


@pytest.mark.parametrize("name", BEYOND)
def test_what_is_beyond_a_bound_is_refused_with_its_figure_before_anything_is_computed(
    name, rextime_run, tamper, monkeypatch
):
    of_result, of_line, figure = BEYOND[name]

    def lines_of(lines):
        for line in lines:
            of_line(line)

    folder = tamper(rextime_run(), result=of_result, samples=lines_of if of_line else None)
    monkeypatch.setattr(aggregation, "aggregate", lambda *_, **__: pytest.fail("computed"))
    [checked] = store.check(folder)
    assert checked.outcome == "refused"
    assert figure in checked.why


@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("calibration.json", 20_000_000),
        ("result.json", 20_000_000),
        ("samples.jsonl", 2_000_000_000),
    ],
)
def test_a_file_of_a_submission_is_measured_before_it_is_read(
    name, most, rextime_run, tmp_path, reelbench
):
    [added] = store.add(rextime_run(), tmp_path / "store")
    with (added.place / name).open("ab") as file:
        file.truncate(20_000_000_000)  # of holes: it takes no room, and would take this memory
    done = reelbench("leaderboard", "check", added.place)
    assert "Traceback" not in done.stderr
    assert f"{name}: bytes: 20,000,000,000, and at most {most:,} are taken" in (
        " ".join((done.stdout + done.stderr).split())
    )


@pytest.mark.parametrize("name", ["settings.yaml", "aliases.yaml"])
def test_a_file_of_a_store_is_measured_before_it_is_read(name, rextime_run, tmp_path, reelbench):
    store.add(rextime_run(), tmp_path / "store")
    (tmp_path / "store" / name).touch()
    os.truncate(tmp_path / "store" / name, 20_000_000_000)
    done = reelbench(
        "leaderboard", "build", "--store", tmp_path / "store", "--out", tmp_path / "site"
    )
    assert done.returncode == 2
    assert f"{name}: bytes: 20,000,000,000, and at most 4,000,000 are taken" in done.stderr


def test_metrics_times_labels_are_bounded_before_anything_is_computed(
    tmp_path, tamper, monkeypatch, reelbench
):
    """0.4 MB of a hundred declared metrics and 900 labels took `check` 6.7 GB and minutes."""
    folder = tmp_path / "films"
    folder.mkdir()
    (folder / "benchmark.yaml").write_text(
        "id: films\nkind: choice\nsource: {file: rows.csv}\nfacets: [topic]\nanswer_is: letter\n"
        "columns: {id: id, video: video, question: q, options: [a, b], answer: answer, "
        "topic: topic}\n",
        encoding="utf-8",
    )
    items = range(250)
    rows = [f"q{number},v{number},Why?,x,y,A,topic {number}" for number in items]
    (folder / "rows.csv").write_text(
        "\n".join(["id,video,q,a,b,answer,topic", *rows]), encoding="utf-8"
    )
    answers = tmp_path / "answers.csv"
    answers.write_text(
        "\n".join(["id,prediction", *(f"q{number},A" for number in items)]), encoding="utf-8"
    )
    run = tmp_path / "run"
    words = ("--predictions", answers, "--output", run, "--model", "a/b")
    assert reelbench("score", folder, *words).returncode == 0
    assert store.check(run)[0].outcome == "same"

    def declare(result):
        metrics = result["benchmark"]["declaration"]["metrics"]
        first = metrics[0]
        metrics += [first | {"name": f"m{number}"} for number in range(20 - len(metrics))]

    tampered = tamper(run, result=declare)
    monkeypatch.setattr(aggregation, "aggregate", lambda *_, **__: pytest.fail("computed"))
    [checked] = store.check(tampered)
    assert checked.outcome == "refused"
    assert "metrics and their labels: 5,020, and at most 5,000 are taken" in checked.why


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda metrics: metrics.pop("accuracy"), "metrics.accuracy is absent, recomputed"),
        (lambda metrics: metrics.update(more=metrics["accuracy"]), "recomputed absent"),
        (lambda metrics: metrics["accuracy"].update(n=3), "metrics.accuracy.n is 3"),
        (lambda metrics: metrics["accuracy"].update(value=99.0), "metrics.accuracy is 99.0"),
    ],
)
def test_of_other_metrics_no_interval_is_computed(change, why, rextime_run, tamper, monkeypatch):
    folder = tamper(rextime_run(), result=lambda result: change(result["metrics"]))
    monkeypatch.setattr(ratios, "with_intervals", lambda *_, **__: pytest.fail("computed"))
    [checked] = store.check(folder)
    assert checked.outcome == "refused"
    assert why in checked.why


def test_of_more_items_than_there_are_questions_nothing_is_computed(
    rextime_run, tamper, monkeypatch
):
    folder = tamper(rextime_run(), samples=lambda lines: [*lines, lines[0] | {"id": "another"}])
    monkeypatch.setattr(aggregation, "aggregate", lambda *_, **__: pytest.fail("computed"))
    [checked] = store.check(folder)
    assert "id 'another' is not in split 'mini'" in checked.why


def test_a_line_without_end_is_not_parsed(rextime_run, monkeypatch):
    folder = rextime_run()
    monkeypatch.setattr(bounds, "LINE", 100)
    [checked] = store.check(folder)
    assert "samples.jsonl, line 1: characters: " in checked.why
    assert checked.why.endswith(", and at most 100 are taken")
