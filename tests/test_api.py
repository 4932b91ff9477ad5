"""The Python face: what a notebook imports gives the numbers that the command line gives."""

import ast
import html
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import datasets
import pandas as pd
import pytest

import reelbench
from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.data.loading import locate
from reelbench.registry.spec import Corpus
from tests.scored import benchmarks
from tests.servers.judge import Answer, JudgeServer, always

ROOT = Path(__file__).resolve().parent.parent
PREDICTIONS = {path.stem: path for path in (ROOT / "tests/fixtures/v0_1_0/predictions").iterdir()}
"""Files in the owners' formats."""


def table(name):
    """A table of ids and texts: half of it right where an answer is a choice."""
    return pd.DataFrame(
        [
            {
                "id": row["id"],
                "prediction": f"({row['answer']}) from 1 to 4"
                if "options" in row and n % 2
                else "a star",
            }
            for n, row in enumerate(locate(name, "mini").read())
        ]
    )


# --- score
# ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", benchmarks(registry.specs()))
def test_a_frame_has_the_numbers_of_the_same_file_on_the_command_line(name, tmp_path, score):
    frame = table(name)
    frame.to_csv(tmp_path / "p.csv", index=False)
    options = {}
    with JudgeServer(lambda _: Answer("1" if name == "curve" else "{'score': 2}")) as server:
        if registry.get(name).judge is not None:
            from reelbench.judges.judge_options import JudgeOptions

            options["judge"] = JudgeOptions(model="judge-1", url=server.url)
        asked = ["--judge", "judge-1", "--judge-url", server.url] if options else []
        document = score(name, "--predictions", tmp_path / "p.csv", "--split", "mini", *asked)
        scored = reelbench.score(f"{name}_mini", frame, **options)
    assert {
        key: value.model_dump(mode="json") for key, value in scored.metrics.items()
    } == document["metrics"]
    assert json.loads(scored.counts.model_dump_json()) == document["counts"]
    facets = {
        facet: {
            label: {key: value.model_dump(mode="json") for key, value in metrics.items()}
            for label, metrics in labels.items()
        }
        for facet, labels in scored.breakdowns.items()
    }
    assert facets == document["breakdowns"]


@pytest.mark.parametrize("name", PREDICTIONS)
def test_the_owners_format_is_taken_as_a_path_and_as_what_is_in_it(name, score):
    document = score(name, "--predictions", PREDICTIONS[name], "--split", "mini", "--no-overlap")
    text = PREDICTIONS[name].read_text(encoding="utf-8")
    lines = PREDICTIONS[name].suffix == ".jsonl"
    inside = [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)
    for given in (PREDICTIONS[name], str(PREDICTIONS[name]), inside):
        scored = reelbench.score(name, given, split="mini", overlap=False)
        assert {
            key: value.model_dump(mode="json") for key, value in scored.metrics.items()
        } == document["metrics"]


def test_every_form_of_one_table_has_the_same_scores():
    frame = table("rextime")
    forms = (
        frame,
        frame.to_dict("records"),
        dict(zip(frame["id"], frame["prediction"], strict=True)),
        datasets.Dataset.from_pandas(frame),
        frame.convert_dtypes(dtype_backend="pyarrow"),
    )
    (value,) = {reelbench.score("rextime_mini", form).metrics["accuracy"].value for form in forms}
    assert value == 50


def test_a_frame_keeps_text_as_text_and_nothing_as_nothing(tmp_path):
    texts = {"007": "NA", "8": "nan", "9": None}
    references = tmp_path / "curve.json"
    entry = {"video_id": "abcdefghijk", "locale": "en-GB", "question": "Which?", "answer": "NA"}
    references.write_text(json.dumps([{"key": key, **entry} for key in texts]), encoding="utf-8")
    scored = reelbench.score(
        "curve", pd.DataFrame(texts.items(), columns=["id", "prediction"]), references
    )
    frame = scored.to_frame().set_index("id")
    assert frame["prediction"].dropna().to_dict() == {"007": "NA", "8": "nan"}
    assert frame["reason"].to_dict() == {
        "007": "judge_unavailable",
        "8": "judge_unavailable",
        "9": "prediction_missing",
    }
    assert frame.loc[["007", "8"], "score.exact_match"].to_list() == [1, 0]
    assert scored.notes == ["1 missing id (first: '9')"]


def test_a_table_without_texts_says_so_and_names_no_file_of_ours():
    with pytest.raises(
        InputError,
        match=r"^predictions: no column of predicted texts.*it has id, q; name.*nor is it the owners' format",
    ):
        reelbench.score("rextime_mini", [{"id": "mini1", "q": "A"}])
    with pytest.raises(InputError, match="predictions are a int, expected a path, a list of dicts"):
        reelbench.score("rextime_mini", 7)
    with pytest.raises(TypeError, match="no argument 'colum'"):
        reelbench.score("rextime_mini", [], colum="q")


def test_to_frame_has_a_row_an_item_with_what_was_read_and_scored():
    scored = reelbench.score("rextime_mini", table("rextime"))
    with pytest.raises(AttributeError, match=r"no attribute 'to_df'; .*to_frame"):
        scored.to_df()
    frame = scored.to_frame()
    pd.testing.assert_frame_equal(scored.to_pandas(), frame)
    rows = reelbench.load("rextime", "mini")
    assert frame["id"].to_list() == rows["id"]
    assert frame["question"].to_list() == rows["question"]
    assert frame["target.answer"].to_list() == rows["answer"]
    assert frame["score.correct"].mean() == 0.5
    right = frame["score.correct"] == 1
    assert frame.loc[right, "read.answer"].to_list() == frame.loc[right, "target.answer"].to_list()
    assert set(frame.loc[~right, "flags"].map(tuple)) == {("parse_failed",)}


def test_a_score_prints_as_a_table_and_a_notebook_shows_one_with_nothing_of_others_that_acts():
    rows = reelbench.load("rextime", "mini")

    def sometimes(_question, _frames, row):
        if row["id"] == "mini2":
            raise TimeoutError("<script>alert(1)</script>")
        return f"{row['answer']}, from 1 to 4"

    scored = reelbench.evaluate(sometimes, "rextime_mini", frames="none")
    assert len(scored.notes) == 1
    assert scored.notes[0].endswith("mini2 has no answer: TimeoutError: <script>alert(1)</script>")
    title, head, *lines, note = str(scored).splitlines()
    assert title == f"rextime mini · 11 of {len(rows)} scored (1 model_failed)"
    assert head.split() == ["metric", "value", "unit", "95", "%", "interval", "n"]
    (accuracy,) = [line for line in lines if line.startswith("accuracy ")]
    assert accuracy.split() == ["accuracy", "100.00", "%", "11"]
    assert note == scored.notes[0]
    shown = scored._repr_html_()
    assert "<td style='text-align: right'>100.00</td>" in shown
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_score_of_empty_cells_says_so():
    ids = reelbench.load("video_holmes", "mini")["id"]
    scored = reelbench.score("video_holmes_mini", [{"id": n, "prediction": ""} for n in ids])
    assert str(scored).splitlines()[-1] == "scored as wrong: 0 unreadable, 30 empty"


def test_a_plot_has_each_label_s_value_and_is_shown_by_a_notebook():
    scored = reelbench.score("rextime_mini", table("rextime"))
    plot = scored.plot("category", metric="accuracy")
    words = [
        element.text
        for element in ET.fromstring(plot).iter("{http://www.w3.org/2000/svg}text")  # noqa: S314
    ]
    labels = {
        label: values["accuracy"].value for label, values in scored.breakdowns["category"].items()
    }
    assert {"all", *(label.replace("_", " ") for label in labels)} <= set(words)
    assert [f"{value:.2f}" for value in (50, *labels.values())] == [
        word.split(" (n")[0] for word in words if " (n " in word
    ]
    assert plot._repr_svg_() == plot
    with pytest.raises(InputError, match="by colour: no such facet; there are "):
        scored.plot("colour")
    with pytest.raises(InputError, match="bleu: has no value; there are accuracy"):
        scored.plot(metric="bleu")


def test_progress_is_shown_where_somebody_looks(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ipykernel", sys)  # as in a notebook
    reelbench.evaluate(oracle, "rextime_mini", frames="none")
    assert "asking rextime: 12 of 12" in capsys.readouterr().err


def test_what_is_saved_is_a_result_that_a_store_takes_and_shows(tmp_path):
    from reelbench.leaderboard import store

    said = {
        "revision": "r1",
        "frames": "uniform:8, size=448",
        "label": "web search",
        "url": "https://example.org/m",
    }
    scored = reelbench.score("rextime_mini", table("rextime"), model="org/model", about=said)
    assert not list(tmp_path.iterdir())
    scored.save(tmp_path / "out")
    assert [added.outcome for added in store.add(tmp_path / "out", tmp_path / "store")] == ["added"]
    frame = reelbench.results(tmp_path / "store").set_index("metric")
    row = frame.loc["accuracy"]
    assert (row["model"], row["revision"], row["frames"], row["label"]) == (
        "org/model",
        "r1",
        "uniform:8,size=448",
        "web search",
    )
    assert (row["value"], row["n"], row["items"], row["split"]) == (50, 12, 12, "mini")
    assert row["low"] is None  # of four videos there is no interval
    record = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert record["provenance"]["url"] == "https://example.org/m"


def test_a_result_without_a_label_is_written_as_ever(tmp_path):
    reelbench.score("rextime_mini", table("rextime")).save(tmp_path)
    assert (
        "label"
        not in json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["settings"]
    )


def test_a_judge_s_name_means_what_it_means_on_the_command_line():
    answers = [{"id": row["id"], "prediction": "a star"} for row in locate("curve", "mini").read()]
    with JudgeServer(lambda _: Answer("1")) as first, JudgeServer(lambda _: Answer("2")) as second:
        panel = reelbench.score(
            "curve_mini", answers, judge=f"judge-1@{first.url},judge-2@{second.url}"
        )
        alone = reelbench.score("curve_mini", answers, judge=f"judge-2@{second.url}")
    assert panel.metrics["score"].value == 75  # the mean of 1 and 2, of 2 at most
    assert alone.metrics["score"].value == 100
    assert {call.body["model"] for call in first.calls} == {"judge-1"}
    assert {call.body["model"] for call in second.calls} == {"judge-2"}


def test_what_is_said_of_a_model_is_in_the_record(tmp_path):
    about = {"parameters": "7B", "licence": "apache-2.0", "label": "web search"}
    reelbench.score("rextime_mini", table("rextime"), model="org/model", about=about).save(tmp_path)
    record = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert (record["model"]["about"]["parameters"], record["settings"]["label"]) == (
        7e9,
        "web search",
    )
    with pytest.raises(reelbench.InputError, match="about: size: is not known"):
        reelbench.score("rextime_mini", table("rextime"), about={"size": "7B"})


# --- open_result, compare
# -------------------------------------------------------------------------------------------


def test_a_saved_result_is_opened_as_it_was(tmp_path):
    scored = reelbench.score("rextime_mini", table("rextime"), model="org/model")
    opened = reelbench.open_result(scored.save(tmp_path / "a"))
    assert opened == scored
    pd.testing.assert_frame_equal(opened.to_frame(), scored.to_frame())
    again = opened.save(tmp_path / "b")
    names = {path.name for path in (tmp_path / "a").iterdir()}
    assert (
        {path.name for path in again.iterdir()}
        == names
        == {"result.json", "samples.jsonl", "questions.jsonl"}
    )
    assert all(
        (again / name).read_bytes() == (tmp_path / "a" / name).read_bytes() for name in names
    )


def test_samples_that_were_changed_are_told_of(tmp_path):
    folder = reelbench.score("rextime_mini", table("rextime")).save(tmp_path)
    lines = (folder / "samples.jsonl").read_text(encoding="utf-8").splitlines()
    (folder / "samples.jsonl").write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    assert reelbench.open_result(folder).notes == [
        f"{folder / 'samples.jsonl'}: changed since the result was written"
    ]
    with pytest.raises(reelbench.InputError, match=r"result\.json"):
        reelbench.open_result(tmp_path / "nowhere")


def test_a_folder_above_one_result_is_that_result_and_predictions_are_none(tmp_path):
    scored = reelbench.score("rextime_mini", table("rextime"))
    scored.save(tmp_path / "out" / "rextime_mini")
    assert reelbench.open_result(tmp_path / "out") == scored
    scored.save(tmp_path / "out" / "again")
    with pytest.raises(reelbench.InputError, match="out: has 2 results"):
        reelbench.open_result(tmp_path / "out")
    (tmp_path / "a.csv").write_text("id,prediction\n", encoding="utf-8")
    with pytest.raises(reelbench.InputError, match="score it first"):
        reelbench.compare(tmp_path / "a.csv", scored)


def test_two_results_are_compared_as_on_the_command_line(tmp_path, request):
    frame = table("rextime")
    worse = frame.assign(prediction="a star")
    folders = [
        reelbench.score("rextime_mini", answers, model=name).save(tmp_path / name)
        for name, answers in (("a", frame), ("b", worse))
    ]
    compared = reelbench.compare(folders[0], reelbench.open_result(folders[1]))
    command = request.getfixturevalue("reelbench")  # the package's name is taken here
    words = ("compare", *folders)
    document = json.loads(command(*words, "--json").stdout)
    assert compared.both == 12
    assert compared.metrics["accuracy"].difference == 50
    assert document["metrics"]["accuracy"]["difference"] == 50
    title, _, *lines, why = str(compared).splitlines()
    assert title.endswith("12 items answered by both, on 4 videos")
    assert ["accuracy", "50.00", "0.00", "+50.00"] in [line.split()[:4] for line in lines]
    assert why.startswith("no interval for accuracy_at_iou_0.5, accuracy, ")
    assert "<td style='text-align: right'>+50.00</td>" in compared._repr_html_()
    done = command(*words)
    assert done.stdout.startswith(
        "rextime mini: a = a, b = b; 12 items answered by both, on 4 videos"
    )
    assert why in done.stderr
    other = reelbench.score(
        "curve_mini",
        [{"id": row["id"], "prediction": "x"} for row in locate("curve", "mini").read()],
    )
    with pytest.raises(
        reelbench.InputError, match=r"rextime mini .* and curve mini .* can't be compared"
    ):
        reelbench.compare(folders[0], other)


def test_of_three_results_each_two_are_compared_under_their_names():
    scored = {
        name: reelbench.score("rextime_mini", table("rextime"), model=name)
        for name in ("one", "two", "three")
    }
    pairs = reelbench.compare(*scored.values())
    assert [pair.names for pair in pairs] == [("one", "two"), ("one", "three"), ("two", "three")]
    assert {pair.metrics["accuracy"].difference for pair in pairs} == {0}
    assert "a = one, b = three" in repr(pairs[1])


def test_results_of_two_judges_are_compared_only_where_asked_to():
    answers = [{"id": row["id"], "prediction": "a star"} for row in locate("curve", "mini").read()]
    scored = []
    for model in ("judge-1", "judge-2"):
        with JudgeServer(lambda _: Answer("1")) as server:
            scored.append(reelbench.score("curve_mini", answers, judge=f"{model}@{server.url}"))
    apart = r"different judges: a has judge-1-0001, b has judge-2-0001; .* anyway=True"
    with pytest.raises(reelbench.InputError, match=apart):
        reelbench.compare(*scored)
    assert reelbench.compare(*scored, anyway=True).metrics["score"].difference == 0


# --- evaluate
# -------------------------------------------------------------------------------------------------------


def oracle(question, frames, row):
    """Answer from the row, whatever is shown."""
    del frames
    assert row["question"] in question
    assert all(option in question for option in row.get("options", ()))
    if "options" not in row and "span" not in row:
        return row["answer"]
    return json.dumps({part: row[part] for part in ("answer", "span") if part in row})


@pytest.mark.parametrize("name", benchmarks(registry.specs()))
def test_a_function_that_knows_everything_has_the_highest_scores(name):
    scored = reelbench.evaluate(oracle, f"{name}_mini", frames="none")
    spec = registry.get(name)
    for metric in spec.metrics:
        if not metric.judged and not isinstance(metric.aggregate, Corpus):
            assert scored.metrics[metric.name].value == metric.in_unit.high
    assert scored.counts.items == len(locate(f"{name}_mini").read())


@pytest.mark.parametrize("name", ["rextime", "dramaqa_cogme"])
def test_a_function_is_shown_exactly_the_frames_asked_for(name, tmp_path):
    import av

    seen = []

    def counts(_question, frames, _row):
        if isinstance(frames, Path):
            with av.open(str(frames)) as clip:
                seen.append(sum(1 for _ in clip.decode(video=0)))
        else:
            seen.append([frame.size for frame in frames])
        return "A"

    scored = reelbench.evaluate(
        counts, f"{name}_mini", frames="uniform:5", limit=2, model="org/counts"
    )
    assert seen == [5, 5]
    reelbench.evaluate(counts, f"{name}_mini", frames="uniform:3,as=images", limit=1)
    assert seen[2] == [(128, 96)] * 3
    scored.save(tmp_path)
    record = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert record["settings"]["frames"] == "uniform:5"
    assert record["settings"]["frames_given"] == {"5": 2}
    assert record["settings"]["limit"] == 2
    assert len(record["settings"]["prompt_sha256"]) == 64
    assert record["model"]["id"] == "org/counts"


def test_a_function_that_changes_its_row_changes_no_score():
    def rewrites(_question, _frames, row):
        row["answer"] = "A"
        row["span"][:] = [1, 2]
        row["options"][:] = ["x"] * len(row["options"])
        return "(A) [1, 2]"

    honest = reelbench.evaluate(lambda *_: "(A) [1, 2]", "rextime_mini", frames="none")
    assert honest.metrics["accuracy"].value < 100
    assert reelbench.evaluate(rewrites, "rextime_mini", frames="none").metrics == honest.metrics


def test_native_is_the_video_itself_and_none_is_nothing():
    seen = []
    for frames in ("native", "none"):
        reelbench.evaluate(
            lambda _question, shown, _row: seen.append(shown) or "A",
            "rextime_mini",
            frames=frames,
            limit=1,
        )
    assert seen[0].suffix == ".mp4"
    assert seen[1] is None


def test_a_function_that_fails_at_once_is_told_and_one_that_fails_later_loses_one_answer(caplog):
    def fails(_question, _frames, row):
        raise ZeroDivisionError(row["id"])

    with pytest.raises(ZeroDivisionError, match="mini1"):
        reelbench.evaluate(fails, "rextime_mini", frames="none")

    def sometimes(question, frames, row):
        if row["id"] == "mini2":
            raise TimeoutError("the server sleeps")
        return oracle(question, frames, row)

    scored = reelbench.evaluate(sometimes, "rextime_mini", frames="none")
    assert scored.counts.unscored == {"model_failed": 1}
    assert scored.metrics["accuracy"].value == 100
    assert "mini2 has no answer: TimeoutError: the server sleeps" in caplog.text
    with pytest.raises(TypeError, match="returned a int for 'mini1', expected text"):
        reelbench.evaluate(lambda *_: 7, "rextime_mini", frames="none")
    scored = reelbench.evaluate(
        lambda *asked: None if asked[2]["id"] == "mini2" else oracle(*asked),
        "rextime_mini",
        frames="none",
    )
    assert scored.counts.unscored == {"model_failed": 1}
    assert scored.metrics["accuracy"].value == 100


CIRCLE: list = [{"id": "mini1"}]
CIRCLE[0]["prediction"] = CIRCLE
DEEP: list = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    "predictions",
    [
        pd.Series(["A"]),
        CIRCLE,
        [{"id": "mini1", "prediction": DEEP}],
        [{"id": "mini1", "prediction": 10**5000}],
        [{("id",): "mini1"}],
    ],
    ids=["a series", "in itself", "deep", "a long number", "a key that is no text"],
)
def test_predictions_that_no_file_can_hold_are_refused_in_a_line(predictions):
    with pytest.raises(InputError, match=r"^predictions (are|hold)"):
        reelbench.score("rextime", predictions, split="mini")


ITSELF: dict = {}
ITSELF["label"] = ITSELF


@pytest.mark.parametrize(
    ("about", "says"),
    [
        ([1], "about is a list, expected a path or a mapping"),
        (ITSELF, "about holds what no file can"),
        ({"label": DEEP}, "about holds what no file can"),
        ({"parameters": 10**5000}, "about holds what no file can"),
        ({"parameters": 10**400}, "parameters: .* is not a number like 7B"),
        ({"label": ["x"]}, "about: label is a list, expected a text"),
        ({"url": 5}, "about: url is a int, expected a text"),
    ],
    ids=[
        "a list",
        "in itself",
        "deep",
        "a long number",
        "too many",
        "a label that is a list",
        "a number as address",
    ],
)
def test_what_no_record_says_of_a_model_is_told(about, says):
    with pytest.raises(InputError, match=says):
        reelbench.score("rextime", [{"id": "mini1", "prediction": "A"}], split="mini", about=about)


def test_a_number_that_python_does_not_write_is_a_line_too():
    with pytest.raises(InputError, match=r"the model: field id: .*found int, too long to be shown"):
        reelbench.evaluate(oracle, "rextime_mini", frames="none", model=10**5000)


def test_more_questions_than_any_number_of_a_file_are_all():
    scored = reelbench.evaluate(oracle, "rextime_mini", frames="none", limit=10**5000)
    assert scored.counts.items == 12


def test_a_reference_that_no_result_can_hold_is_told_by_its_id(tmp_path):
    entry = {
        "question": "Why?",
        "answer": "Because.",
        "video": "v" * 2000,
        "id": "233_1",
        "classification": "Plot",
    }
    (tmp_path / "test.json").write_text(json.dumps([entry]))
    with pytest.raises(
        InputError, match=r"the question '233_1': field video: .* at most 1000 characters"
    ):
        reelbench.score(
            "moviecore",
            [{"id": "233_1", "prediction": "x"}],
            tmp_path / "test.json",
            split="test",
            overlap=False,
        )


@pytest.mark.parametrize("name", ["half \ud800", "null \0"])
def test_a_name_that_no_file_has_is_no_file(name):
    with pytest.raises(InputError, match="no such file"):
        reelbench.open_result(name)
    with pytest.raises(InputError, match="no such file"):
        reelbench.score("rextime", name, split="mini")
    with pytest.raises(InputError, match="no such file"):
        reelbench.score("rextime", [{"id": "mini1", "prediction": "A"}], split="mini", about=name)


def test_a_models_name_that_no_record_holds_is_told():
    with pytest.raises(InputError, match=r"the model: field id: .* at most 1000 characters"):
        reelbench.evaluate(oracle, "rextime_mini", frames="none", model="m" * 2000)
    with pytest.raises(InputError, match=r"the model: field id: .* at most 1000 characters"):
        reelbench.score(
            "rextime", [{"id": "mini1", "prediction": "A"}], split="mini", model="m" * 2000
        )


def test_a_question_without_its_video_is_not_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_DATA_REXTIME", str(tmp_path))
    rows = locate("rextime", "mini").read()
    entries = [
        {
            "qid": row["id"],
            "vid": row["video"],
            "ans": row["answer"],
            **{key: row[key] for key in ("duration", "question", "options", "span")},
        }
        for row in rows
    ]
    (tmp_path / "rextime_val.json").write_text(json.dumps(entries), encoding="utf-8")
    scored = reelbench.evaluate(oracle, "rextime", limit=3)
    assert scored.counts.unscored == {"media_missing": 3}
    (note,) = scored.notes
    assert "3 of 3 questions are not asked, because their video is not here" in note
    assert f"looked in {tmp_path}, " in note
    assert scored.metrics == {}


def test_answers_to_hidden_questions_become_the_owners_file(tmp_path):
    scored = reelbench.evaluate(lambda *_: "(B) [1, 2]", "rextime_test_mini", frames="none")
    submission = scored.save(tmp_path) / "submission.jsonl"
    assert len(submission.read_text(encoding="utf-8").splitlines()) == scored.counts.items


# --- ask
# -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("guess", "hint"),
    [
        (lambda scored: scored["accuracy"], r"metrics\['accuracy'\]\.value, its interval \.ci95"),
        (lambda scored: scored.accuracy, r"metrics\['accuracy'\]\.value"),
        (lambda scored: scored.samples, r"to_frame\(\) the items"),
        (list, r"to_frame\(\) the items"),
        (lambda scored: reelbench.score(scored.to_frame(), "rextime_mini"), "the name comes first"),
        (lambda _: reelbench.list_benchmarks(), r"did you mean benchmarks\?$"),
        (lambda _: reelbench.load_dataset("rextime"), r"did you mean load\?$"),
        (lambda _: reelbench.fetch_everything(), "it has ask, benchmarks, compare, evaluate"),
    ],
)
def test_a_guess_of_another_name_is_told_the_right_one(guess, hint):
    scored = reelbench.score("rextime_mini", [{"id": "mini1", "prediction": "(A)"}])
    with pytest.raises((AttributeError, TypeError), match=hint):
        guess(scored)


def test_a_function_that_stands_in_another_place_is_told_where_it_belongs():
    def fn(*_):
        return "A"

    right = re.escape("the function comes first: reelbench.evaluate(fn, 'rextime_mini')")
    with pytest.raises(TypeError, match=right):
        reelbench.evaluate(model=fn, name="rextime_mini")
    with pytest.raises(TypeError, match=right):
        reelbench.evaluate("rextime_mini", fn)


def test_a_model_asked_by_a_path_has_a_name_of_its_own_in_results():
    with JudgeServer(always("The answer is (A). [0, 5]")) as server:
        where = {"url": server.url, "frames": "none", "limit": 1}
        by_path = reelbench.ask("/models/ft/checkpoint-3", "rextime_mini", **where)
        named = reelbench.ask("/home/ada", "rextime_mini", model_name="ours", **where)
        sent = [call.body["model"] for call in server.calls]
    assert (by_path.model, named.model) == ("ft", "ours")
    assert sent == ["/models/ft/checkpoint-3", "/home/ada"]


def test_a_served_model_is_asked_and_scored_as_on_the_command_line():
    with JudgeServer(always("The answer is (A). [0, 5]")) as server:
        asked = reelbench.ask("m", "rextime_mini", url=server.url, frames=2, limit=3, concurrency=1)
        again = reelbench.ask("vllm/m", "rextime_mini", url=server.url, frames="uniform:2", limit=3)
        calls = server.calls
    pictures = [
        part for part in calls[0].body["messages"][-1]["content"] if part["type"] == "image_url"
    ]
    assert (asked.model, asked.counts.scored, len(pictures)) == ("m", 3, 2)
    assert calls[0].body["model"] == calls[-1].body["model"] == "m"
    assert asked.metrics == again.metrics
    with pytest.raises(TypeError, match="temperatur"):
        reelbench.ask("m", "rextime_mini", url=server.url, temperatur=0.5)
    right = re.escape("reelbench.ask('m', 'rextime_mini', url='http://x/v1')")
    with pytest.raises(TypeError, match=right):
        reelbench.evaluate("rextime_mini", model="m", base_url="http://x/v1")
    with pytest.raises(TypeError, match=right):
        reelbench.ask("rextime_mini", llm="m", llm_url="http://x/v1")
    with pytest.raises(InputError, match="Groq takes at most 5 pictures"):
        reelbench.ask("groq/m", "rextime_mini", frames=8)


def test_the_benchmarks_and_their_tasks_are_listed():
    listed = reelbench.benchmarks()
    assert {"moviecore", "curve", "rextime", "dramaqa_cogme"} <= listed.keys()
    assert {"rextime", "rextime_mini", "rextime_test"} <= set(listed["rextime"])
    assert "curve_ja-JP" in listed["curve"]


def test_a_result_has_a_page_that_a_notebook_shows(tmp_path):
    shown = reelbench.score("rextime_mini", table("rextime")).view(tmp_path / "view.html")
    assert str(shown) == str(tmp_path / "view.html")
    drawn = shown._repr_html_()
    assert drawn.startswith("<iframe srcdoc=")
    assert html.unescape(re.match(r'<iframe srcdoc="([^"]*)" ', drawn)[1]) == shown.path.read_text(
        "utf-8"
    )
    assert str(tmp_path) not in drawn


# --- the module itself
# ----------------------------------------------------------------------------------------------


def test_what_there_is_is_listed_documented_and_light():
    names = {
        "compare",
        "evaluate",
        "load",
        "open_result",
        "read_option",
        "read_span",
        "results",
        "score",
    }
    names |= {
        "DataUnavailableError",
        "InputError",
        "JudgeOptions",
        "MediaError",
        "ReelbenchError",
        "Scored",
    }
    assert names | {"ask", "benchmarks"} <= set(dir(reelbench))
    assert {"get", "specs"} <= set(dir(registry))
    assert all(getattr(reelbench, name).__doc__ for name in names)
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        reelbench.scores  # noqa: B018
    heavy = "{'numpy', 'pandas', 'pydantic', 'torch', 'datasets'}"
    code = f"import sys, reelbench; dir(reelbench); print(sorted({heavy} & set(sys.modules)))"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "[]\n"
    )


def test_the_readers_are_the_judges_own():
    assert reelbench.read_option("The answer is (B).", ["a star", "a ring"]) == "B"
    assert reelbench.read_span("From 3 to 12 seconds") == [3, 12]


def run_notebook(name, swaps=()):
    """Run a notebook's cells as Jupyter would, each in the names of those before it -> the names, the last results."""
    notebook = json.loads((ROOT / "docs" / name).read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    scope, results = {}, []
    for number, cell in enumerate(
        cell for cell in notebook["cells"] if cell["cell_type"] == "code"
    ):
        text = "".join(cell["source"])
        for old, new in swaps:
            text = text.replace(old, new)
        *statements, last = ast.parse(text, f"cell {number}").body
        ends = isinstance(last, ast.Expr)
        exec(  # noqa: S102
            compile(
                ast.Module([*statements, *([] if ends else [last])], []), f"cell {number}", "exec"
            ),
            scope,
        )
        results += (
            [eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), scope)]  # noqa: S307
            if ends
            else []
        )
    return scope, results


def test_the_first_hour_s_notebook_runs_as_it_stands_and_draws(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with JudgeServer(always("The answer is (A). [0, 5]")) as server:
        scope, results = run_notebook(
            "first_hour.ipynb", [("http://localhost:8000/v1", server.url)]
        )
    drawn = [result._repr_html_() for result in results if hasattr(result, "_repr_html_")]
    assert sum("<iframe" in shown for shown in drawn) == 1
    assert sum("<table>" in shown for shown in drawn) >= 3
    assert scope["asked"].counts.scored == 12
    assert (tmp_path / "out" / "result.json").is_file()


def test_the_notebook_runs_as_it_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope, _ = run_notebook("predictions.ipynb")
    assert scope["scored"].metrics["accuracy"].value == 50
    assert (tmp_path / "result" / "result.json").is_file()
