"""What is said of a model, from the command line into the store; the columns that stand beside the scores."""

import json
from dataclasses import replace
from typing import get_args

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.leaderboard import against_data, board, columns, entries, store
from reelbench.leaderboard.entries import calibrated_primary
from reelbench.registry import discovery
from reelbench.registry.prompts import prompt_sha256
from reelbench.registry.records import About, RankerRecord, SettingsRecord
from reelbench.scoring.calibration_file import CalibrationRecord, Corrected
from reelbench.stats.calibration import Usefulness
from tests.leaderboard.rows import CURVE, MOVIECORE, entry


def test_add_files_what_is_said_and_keeps_it(rextime_run, tmp_path):
    folder = rextime_run()
    [one] = store.add(folder, tmp_path / "store", about=About(setting="tools", organisation="Lab"))
    assert one.outcome == "added", one.why
    assert "about" not in json.loads((folder / "result.json").read_text())["model"]
    [again] = store.add(folder, tmp_path / "store")
    assert again.outcome == "same"
    [stored] = store.read(tmp_path / "store")
    assert stored.result.model.about == About(setting="tools", organisation="Lab")
    assert entries.run_entry(stored).setting == "tools"
    [other] = store.add(folder, tmp_path / "store", about=About(setting="reasoning"))
    assert other.outcome == "replaced"


def test_add_says_which_setting_the_model_s_other_runs_state(
    rextime_run, moviecore_run, reelbench, tmp_path
):
    first, second = rextime_run("first"), moviecore_run("second")
    add = ("leaderboard", "add", "--store", tmp_path / "store")
    said = "setting=reasoning"
    assert said not in reelbench(*add, first, "--about", said).stderr
    done = reelbench(*add, second)
    assert (
        "org/model: no setting is stated, and this model's other runs say reasoning; if this one "
        f"is the same, add it with --about {said}"
    ) in done.stderr
    assert said not in reelbench(*add, second).stderr  # it is there already


def test_add_goes_on_where_another_run_of_the_model_can_t_be_read(
    rextime_run, moviecore_run, reelbench, tmp_path
):
    first, second = rextime_run("first"), moviecore_run("second")
    [filed] = store.add(first, tmp_path / "store")
    (filed.place / "result.json").write_text("{")
    done = reelbench("leaderboard", "add", "--store", tmp_path / "store", second)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("about", "apart"),
    [
        (About(setting="fine-tuned"), "fine-tuned"),
        (About(trained_on=("ReXTime",)), "fine-tuned"),
        (About(setting="tools"), "tools"),
        (About(setting="zero-shot"), None),
        (About(setting="reasoning"), None),
        (None, None),
    ],
)
def test_what_was_fine_tuned_or_had_tools_has_a_table_of_its_own(
    about, apart, rextime_run, tmp_path
):
    store.add(rextime_run(), tmp_path / "store", about=about)
    [stored] = store.read(tmp_path / "store")
    assert entries.run_entry(stored).group.setting == apart


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"setting": "zero-shot", "trained_on": ["rextime"]}, "about.trained_on has rextime"),
        ({"links": {"x": "javascript:alert(1)"}}, "is not an address"),
        ({"organisation": "La\u202eb"}, "model.about.organisation has the character U+202E"),
        ({"trained_on": ["  ", "b"]}, "model.about.trained_on is blank"),
    ],
)
def test_a_submission_whose_model_can_t_be_so_is_refused(rextime_run, tamper, tmp_path, said, told):
    folder = tamper(rextime_run(), result=lambda result: result["model"].update(about=said))
    [one] = store.add(folder, tmp_path / "store")
    assert one.outcome == "refused"
    assert told in one.why


def test_add_refuses_what_contradicts_the_run(rextime_run, tmp_path):
    folder = rextime_run()
    [one] = store.add(
        folder, tmp_path / "store", about=About(setting="zero-shot", trained_on=("ReXTime",))
    )
    assert one.outcome == "refused"
    assert "about.trained_on has rextime" in one.why


def test_score_and_add_take_it_from_the_command_line(reelbench, tmp_path):
    rows = loading.locate("rextime", "mini").read()
    lines = [{"id": row["id"], "prediction": f"{row['answer']} {row['span']}"} for row in rows]
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "model.yaml").write_text("setting: reasoning\nparameters: 7B\nframes: uniform:16\n")
    told = [
        "--about",
        tmp_path / "model.yaml",
        "--organisation",
        "Lab",
        "--revision",
        "v2",
        "--setting",
        "tools",
    ]
    score = ["score", "rextime_mini", "--predictions", tmp_path / "p.jsonl", "--model", "lab/m"]
    done = reelbench(*score, "--output", tmp_path / "out", *told)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["model"]["revision"] == "v2"
    assert result["settings"]["frames"] == "uniform:16"
    assert result["model"]["about"] == {
        "setting": "tools",
        "parameters": 7e9,
        "organisation": "Lab",
        "frames": "uniform:16",
        "revision": "v2",
    }
    done = reelbench(
        "leaderboard", "add", tmp_path / "out", "--store", tmp_path / "store", "--licence", "MIT"
    )
    assert done.returncode == 0, done.stderr
    [stored] = store.read(tmp_path / "store")
    assert stored.result.model.about.model_dump()["organisation"] == "Lab"
    assert stored.result.model.about.licence == "MIT"
    done = reelbench(*score, "--output", tmp_path / "other", "--frames", "uniform:8", *told)
    assert done.returncode == 2
    assert "about.frames is 'uniform:16', the run showed 'uniform:8'" in done.stderr
    assert not (tmp_path / "other").exists()


# --- columns ---


def columns_of(path, model):
    made = board.make(path, published=False)
    [row] = [row for row in made.entries if row.model == model]
    return columns.plain_row(made, row)


def test_what_an_item_took_is_a_mean_over_those_that_say_it_and_never_a_zero(
    rextime_run, tamper, tmp_path
):
    def counted(samples):
        samples[0] |= {"tokens": {"prompt": 1000, "completion": 10}, "seconds": 2.0}
        samples[1] |= {"tokens": {"prompt": 3000, "completion": 40}, "seconds": 3.0}

    store.add(tamper(rextime_run(), samples=counted), tmp_path / "store")
    store.add(rextime_run("plain", model="org/plain"), tmp_path / "store")
    row = columns_of(tmp_path / "store", "org/model")
    assert [row[name] for name in ("tokens_in", "tokens_out", "seconds", "judge_cost")] == [
        2000,
        25,
        2.5,
        None,
    ]
    row = columns_of(tmp_path / "store", "org/plain")
    assert [row[name] for name in ("tokens_in", "tokens_out", "seconds", "judge_cost")] == [
        None
    ] * 4


def test_what_judging_an_item_cost_is_the_judges_price_over_the_items(
    moviecore_run, tamper, tmp_path
):
    run = tamper(moviecore_run(), result=lambda found: found["judge"].update(cost_usd=0.6))
    [added] = store.add(run, tmp_path / "store")
    assert added.outcome == "added", added.why
    assert columns_of(tmp_path / "store", "org/model")["judge_cost"] == pytest.approx(
        0.05
    )  # of 12 items


def test_unreadable_answers_are_a_share_and_open_answers_have_none(
    reelbench, moviecore_run, tmp_path
):
    rows = loading.locate("rextime", "mini").read()
    lines = [{"id": row["id"], "prediction": f"{row['answer']} {row['span']}"} for row in rows]
    for line in lines[:3]:
        line["prediction"] = "I can't tell."
    (tmp_path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    told = ["--model", "org/shy", "--output", tmp_path / "out"]
    done = reelbench("score", "rextime_mini", "--predictions", tmp_path / "p.jsonl", *told)
    assert done.returncode == 0, done.stderr
    store.add(tmp_path / "out", tmp_path / "store")
    store.add(moviecore_run(), tmp_path / "store")
    assert columns_of(tmp_path / "store", "org/shy")["unreadable"] == 25.0
    assert columns_of(tmp_path / "store", "org/model")["unreadable"] is None


def test_a_run_without_frames_stands_beside_the_models_others(rextime_run, tamper, tmp_path):
    def shown(frames):
        return lambda result: result["settings"].update(frames=frames)

    store.add(tamper(rextime_run("seeing", right=9), result=shown("uniform:8")), tmp_path / "store")
    store.add(tamper(rextime_run("blind", right=3), result=shown("none")), tmp_path / "store")
    store.add(rextime_run("other", model="org/other"), tmp_path / "store")
    made = board.make(tmp_path / "store", published=False)
    beside = {
        (row.model, row.frames): columns.plain_row(made, row)["blind"] for row in made.entries
    }
    assert beside == {
        ("org/model", "uniform:8"): 25.0,
        ("org/model", "none"): None,
        ("org/other", "unknown"): None,
    }


def test_a_label_and_another_prompt_are_groups_of_their_own(rextime_run, tamper, tmp_path):
    store.add(rextime_run(), tmp_path / "store")
    plain = board.make(tmp_path / "store", published=False)
    labelled = tamper(
        rextime_run("l", right=12), result=lambda r: r["settings"].update(label="web search")
    )
    store.add(labelled, tmp_path / "store")
    made = board.make(tmp_path / "store", published=False)
    assert [(row.group.protocol, made.ranks[row.key]) for row in made.entries] == [
        (None, 1),
        ("label web search", 1),
    ]
    assert made.main == plain.main


@pytest.fixture
def way_of_asking(rextime_run, tmp_path):
    """What sets a stored run of a benchmark apart, by its settings."""

    def run(spec, settings):
        store.add(rextime_run(), tmp_path / "store")
        [stored] = store.read(tmp_path / "store")
        result = stored.result.model_copy(update={"settings": settings})
        return entries.run_entry(replace(stored, result=result, benchmark=spec)).group.protocol

    return run


@pytest.mark.parametrize(("prompt", "way"), [("prompt_subtitles.txt", "subtitles"), (None, None)])
def test_subtitles_are_a_group_of_their_own(way_of_asking, prompt, way):
    spec = discovery.get("dramaqa_cogme")
    assert way_of_asking(spec, SettingsRecord(prompt_sha256=prompt_sha256(spec, prompt))) == way


def test_people_correct_the_judge_beside_its_value(reelbench, moviecore_run, tmp_path, monkeypatch):
    folder = moviecore_run()
    samples = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    lines = [
        f"{s['id']},{name},{score}" for s in samples[:6] for name, score in s["scores"].items()
    ]
    (tmp_path / "people.csv").write_text("\n".join(["id,criterion,score", *lines]) + "\n")
    done = reelbench("judge", "calibrate", folder, tmp_path / "people.csv", "--write")
    assert done.returncode == 0, done.stderr
    [one] = store.add(folder, tmp_path / "store")
    assert one.outcome == "added", one.why
    row = columns_of(tmp_path / "store", "org/model")
    # People say what the judge said, of half the answers: the mean of the judge's scores of all, 0
    # to 5 twice, stays.
    assert row["calibrated"] == pytest.approx(2.5)
    assert "people scored 6 of 12 answers (people.csv)" in row["calibration"]
    [again] = store.add(folder, tmp_path / "store")
    assert again.outcome == "same"
    path = folder / "calibration.json"
    first = path.read_text()
    # Fewer people's scores later, where the data is not: the new calibration stands, and the rest
    # of the check.
    (tmp_path / "people.csv").write_text("\n".join(["id,criterion,score", *lines[: 4 * 5]]) + "\n")
    assert (
        reelbench("judge", "calibrate", folder, tmp_path / "people.csv", "--write").returncode == 0
    )
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(against_data.KnownRows, "rows", lambda *_: None)
        [later] = store.add(folder, tmp_path / "store")
    assert later.outcome == "same", later.why
    assert (
        "people scored 4 of 12 answers"
        in columns_of(tmp_path / "store", "org/model")["calibration"]
    )
    path.write_text(first.replace('"value": 2.5', '"value": 4.5', 1))
    [forged] = store.add(folder, tmp_path / "other")
    assert forged.outcome == "refused"
    assert "is 4.5, interval None, recomputed 2.5, interval None" in forged.why
    unlabelled = json.loads(first)
    unlabelled["criteria"]["accuracy"]["labels"] = {}
    path.write_text(json.dumps(unlabelled))
    [refused] = store.add(folder, tmp_path / "other")
    assert (refused.outcome, "recomputed absent" in refused.why) == ("refused", True)
    kept = one.place / "calibration.json"
    kept.write_text(path.read_text())
    with pytest.raises(InputError, match=r"calibration.json: is not the file that was filed"):
        store.read(tmp_path / "store")


def test_one_criterions_mean_is_in_the_scores_own_unit(tmp_path):
    # People's mean is 1.25 of curve's 2 points: the score counts 50 a point.
    kept = Corrected(
        items=10,
        value=1.25,
        ci95=(1.0, 1.5),
        weight=1.0,
        labels={"a": 1, "b": 2},
        verdict=get_args(Usefulness)[0],
    )
    record = CalibrationRecord(people="people.csv", criteria={"score": kept})
    (tmp_path / "calibration.json").write_text(record.model_dump_json())
    value, how = calibrated_primary(discovery.get("curve"), tmp_path)
    assert (value, "people scored 2 of 10 answers" in how) == (62.5, True)


def test_who_chose_the_answers_is_told_in_words(way_of_asking):
    ranker = RankerRecord(model="small", k=5, mode="pointwise", prompt_sha256="0123456789abcdef")
    asked = way_of_asking(
        discovery.get("moviecore"), SettingsRecord(candidates="beam:5", ranker=ranker)
    )
    assert (
        asked
        == "candidates beam:5, ranker model=small k=5 mode=pointwise votes=1 prompt_sha256=01234567"
    )


def test_what_every_run_has_or_chooses_for_itself_is_no_way_of_asking(way_of_asking):
    spec = discovery.get("moviecore")
    assert (
        way_of_asking(
            spec, SettingsRecord(frames="uniform:8", limit=5, seed=3, generation={"top_k": 5})
        )
        is None
    )


def test_facts_are_given_one_by_one_or_in_a_file(tmp_path, reelbench):
    (tmp_path / "model.yaml").write_text("parameters: 7B\nlicence: MIT\n", encoding="utf-8")
    answers = tmp_path / "answers.csv"
    answers.write_text("id,prediction\nmini1,(A) 1 to 4 s\n", encoding="utf-8")
    common = ["score", "rextime_mini", "--predictions", answers, "--output", tmp_path / "out"]
    facts = [
        "--about",
        tmp_path / "model.yaml",
        "--about",
        "licence=Apache-2.0",
        "--about",
        "trained_on=a=b",
        "--released",
        "2025-09",
    ]
    done = reelbench(*common, *facts)
    assert done.returncode == 0, done.stderr
    about = json.loads((tmp_path / "out" / "result.json").read_text("utf-8"))["model"]["about"]
    assert {name: about[name] for name in ("parameters", "licence", "trained_on", "released")} == {
        "parameters": 7e9,
        "licence": "Apache-2.0",
        "trained_on": ["a=b"],
        "released": "2025-09",
    }
    for wrong, line in (
        (["--about", "size=7B"], "the options: size: is not known"),
        (["--about", "licence=a", "--about", "licence=b"], "--about: licence is given twice"),
        (
            ["--about", "a.yaml", "--about", "b.yaml"],
            "--about: two files, a.yaml and b.yaml; give one",
        ),
    ):
        done = reelbench(*common, *wrong)
        assert (done.returncode, line in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("stated", "shown"), [("open", True), ("closed", False), (None, None)], ids=str
)
def test_weights_are_as_stated_and_else_not_known(rextime_run, tmp_path, stated, shown):
    about = None if stated is None else About(weights=stated)
    store.add(rextime_run(), tmp_path / "store", about=about)
    [row] = board.make(tmp_path / "store", published=False).entries
    assert row.open_weights is shown


def test_a_model_s_rows_share_what_they_agree_on_and_say_what_they_contradict():
    open_run = About(weights="open", licence="Apache-2.0", parameters=7e9, released="2025-09")
    rows = [
        entry("lab/one", 50.0, kind="run", about=open_run, open_weights=True),
        entry("lab/one", 3.0, group=MOVIECORE, kind="run"),
        entry("lab/one", 60.0, group=CURVE, kind="run", about=About(licence="apache-2.0")),
        entry("lab/two", 40.0, kind="run", about=open_run, open_weights=True),
        entry(
            "lab/two",
            2.0,
            group=MOVIECORE,
            kind="run",
            about=About(parameters=8e9, released="2025-09-23"),
            open_weights=False,
        ),
    ]
    made = board.ranked_board(discovery.specs(), rows)
    told = {}
    for row in made.entries:
        columns_of_row = columns.plain_row(made, row)
        told[row.model, row.group.benchmark] = [
            columns_of_row[name]
            for name in ("open_weights", "licence", "parameters", "released", "model_facts")
        ]
    taken = "weights, licence, parameters, released: as the model’s other rows state"
    assert told["lab/one", "rextime"] == [True, "Apache-2.0", 7.0, "2025-09", None]
    assert told["lab/one", "moviecore"] == [True, "Apache-2.0", 7.0, "2025-09", taken]
    assert told["lab/one", "curve"][0] is True
    assert told["lab/one", "curve"][4] == taken.replace("licence, ", "")
    contradicted = "weights: its rows state open and closed; parameters: its rows state 7 B and 8 B"
    assert told["lab/two", "rextime"] == [None, "Apache-2.0", None, "2025-09", contradicted]
    assert told["lab/two", "moviecore"] == [
        None,
        "Apache-2.0",
        None,
        "2025-09-23",  # the same, more precisely
        f"licence: as the model’s other rows state; {contradicted}",
    ]
