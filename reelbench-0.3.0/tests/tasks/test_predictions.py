"""Tables of ids and texts, from every kind of file and from the Hub, for every benchmark."""

import csv
import json
from pathlib import Path

import openpyxl
import pandas as pd
import pytest

from reelbench import registry
from reelbench.base.errors import InputError
from reelbench.base.files import read_jsonl
from reelbench.data.loading import locate
from reelbench.registry.records import Sample
from reelbench.scoring.cognitive_profile import read_tags
from reelbench.tasks import prediction_template
from reelbench.tasks.predictions import Columns
from reelbench.tasks.score import Options, RunMetadata, resolve_predictions, score_files
from reelbench.tasks.submissions import Inputs

SPECS = registry.specs()
MINIS = [task for spec in SPECS.values() for task in spec.tasks if task.split.startswith("mini")]
each_benchmark = pytest.mark.parametrize("name", SPECS)
KINDS = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".xlsx")
each_kind = pytest.mark.parametrize("suffix", KINDS)
ALONE = {
    "curve": "exact_match",
    "dramaqa_cogme": "accuracy",
    "minerva": "accuracy",
    "rextime": "accuracy_at_iou_0.5",
    "timelens": "miou",
    "video_holmes": "accuracy",
}
"""A metric that needs neither a judge nor the other answers, where there is one."""


def put(path, rows):
    """Write rows as a file of the kind that its suffix says."""
    frame = pd.DataFrame(rows, dtype=object)
    match path.suffix:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".tsv":
            frame.to_csv(path, index=False, sep="\t", quoting=csv.QUOTE_ALL)
        case ".json":
            path.write_text(json.dumps(rows), encoding="utf-8")
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        case ".parquet":
            frame.to_parquet(path)
        case ".xlsx":
            frame.to_excel(path, index=False)
    return path


def scored(name, path, references=None, *, split="mini", columns=None, tags=None):
    inputs = Inputs(path, references, read_tags(tags) if tags else None, split)
    return score_files(name, inputs, Options(overlap=False), columns=columns)


def right(row):
    """What a model says that is right, in the words of one."""
    span = f"from {row['span'][0]} to {row['span'][1]} seconds" if "span" in row else ""
    if "options" in row:
        return f"The answer is ({row['answer']}){span and f', {span}'}."
    return span or row["answer"]


def half_right(name):
    rows = list(locate(name, "mini").read())
    return [
        {"id": row["id"], "prediction": right(row) if n % 2 else "no idea"}
        for n, row in enumerate(rows)
    ]


@pytest.fixture
def asked(tmp_path):
    """CURVE's annotation file with questions of these ids; returns its path."""

    def write(*ids):
        path = tmp_path / "curve.json"
        entries = [
            {
                "key": key,
                "video_id": "abcdefghijk",
                "locale": "en-GB",
                "question": "Which?",
                "answer": "a carp",
            }
            for key in ids
        ]
        path.write_text(json.dumps(entries), encoding="utf-8")
        return path

    return write


# --- every benchmark, every kind
# ------------------------------------------------------------------------------------


@each_benchmark
@each_kind
def test_ids_and_raw_texts_are_enough(name, suffix, tmp_path):
    rows = half_right(name)
    found = scored(name, put(tmp_path / f"p{suffix}", rows))
    assert {item.id: item.prediction for item in found.items} == {
        row["id"]: row["prediction"] for row in rows
    }
    if name in ALONE:
        assert found.scored.numbers.metrics[ALONE[name]].value == 50
    assert not any(found.fits.values())


@each_benchmark
def test_a_judge_is_asked_about_raw_texts_too(name, tmp_path, score):
    from tests.servers.judge import Answer, JudgeServer

    if SPECS[name].judge is None:
        pytest.skip("nothing to judge")
    path = put(tmp_path / "p.csv", half_right(name))
    with JudgeServer(lambda _: Answer("2" if name == "curve" else '{"score": 2}')) as server:
        document = score(
            f"{name}_mini",
            "--predictions",
            path,
            "--no-overlap",
            "--judge",
            "judge-1",
            "--judge-url",
            server.url,
        )
    assert document["metrics"][SPECS[name].primary.name]["value"] == (100 if name == "curve" else 2)


@pytest.mark.parametrize("name", ["rextime", "dramaqa_cogme"])
def test_a_letter_alone_is_an_answer(name, tmp_path):
    rows = locate(name, "mini").read()
    path = put(tmp_path / "p.csv", [{"id": row["id"], "prediction": row["answer"]} for row in rows])
    found = scored(name, path)
    assert found.scored.numbers.metrics["accuracy"].value == 100
    if name == "rextime":
        assert found.scored.numbers.metrics["miou"].value == 0
        assert found.fits["notes"] == [
            "no answer contains a span of time; metrics that need one count these as wrong"
        ]


def test_a_tagged_table_has_a_cognitive_profile(tmp_path):
    ids = [row["id"] for row in locate("dramaqa_cogme", "mini").read()]
    tags = tmp_path / "tags.jsonl"
    tags.write_text(
        "".join(
            json.dumps({"qid": i, "target": ["Place"], "content": ["Means"], "thinking": "Recall"})
            + "\n"
            for i in ids
        ),
        encoding="utf-8",
    )
    found = scored("dramaqa_cogme", put(tmp_path / "p.csv", half_right("dramaqa_cogme")), tags=tags)
    assert found.scored.numbers.breakdowns["target"]["Place"]["rate"].value == 50


# --- text stays text
# ------------------------------------------------------------------------------------------------


TEXTS = {
    "007": "NA",
    "NA": "None",
    "None": "nan",
    "nan": "null",
    "1e5": "1.0",
    "a b": 'with, "quotes"\nlines',
    "ü": "鯉",
}


@each_kind
def test_ids_and_texts_stay_as_they_stand(suffix, tmp_path, asked):
    path = put(
        tmp_path / f"p{suffix}", [{"id": key, "prediction": text} for key, text in TEXTS.items()]
    )
    found = scored("curve", path, asked(*TEXTS))
    assert {item.id: item.prediction for item in found.items} == TEXTS


@pytest.mark.parametrize("suffix", [".json", ".parquet", ".xlsx"])
def test_a_number_is_its_digits_and_a_null_is_no_prediction(suffix, tmp_path, asked):
    rows = [{"id": 7, "prediction": 12}, {"id": 8, "prediction": None}, {"id": 9, "prediction": 13}]
    path = tmp_path / f"p{suffix}"
    if suffix == ".parquet":
        pd.DataFrame(rows).to_parquet(path)  # a column with a null in it is one of floats
    else:
        put(path, rows)
    found = scored("curve", path, asked("7", "8", "9"))
    empty = (
        ("", ("empty",), None) if suffix == ".xlsx" else (None, (), "prediction_missing")
    )  # a sheet has no null
    assert [(item.prediction, item.flags, item.reason) for item in found.items] == [
        ("12", (), None),
        empty,
        ("13", (), None),
    ]


def test_a_byte_order_mark_is_not_a_part_of_the_first_column(tmp_path, asked):
    path = tmp_path / "p.csv"
    path.write_text("id,prediction\r\n007,carp\r\n\r\n", encoding="utf-8-sig")
    assert scored("curve", path, asked("007")).items[0].prediction == "carp"


def test_an_object_of_texts_by_id_is_a_table(tmp_path, asked):
    path = tmp_path / "p.json"
    for document in (
        {"007": "carp", "8": "pike"},
        {"007": {"response": "carp"}, "8": {"response": "pike"}},
    ):
        path.write_text(json.dumps(document), encoding="utf-8")
        assert [item.prediction for item in scored("curve", path, asked("007", "8")).items] == [
            "carp",
            "pike",
        ]


# --- columns
# --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "columns", [("question_id", "response"), ("QID", "Output"), ("key", "generated_text")]
)
def test_columns_are_told_by_their_usual_names(columns, tmp_path, asked):
    path = put(tmp_path / "p.csv", [dict(zip(columns, ("7", "carp"), strict=True))])
    assert scored("curve", path, asked("7")).items[0].prediction == "carp"


@pytest.mark.parametrize(
    "failure",
    [
        "Failed to obtain answer via API.",
        "\n  Failed to obtain answer via API. ",
        "Failed to obtain answer via API. Error: 429",
        "[LMMS_EVAL_REQUEST_FAILED after 5 tries] timed out",
        "[LMMS_EVAL_BUDGET_EXCEEDED]",
    ],
)
def test_a_sheet_of_vlmevalkit_is_read_and_failures_are_no_answers(failure, tmp_path, asked):
    book = openpyxl.Workbook()
    for row in (
        ["index", "video", "question", "answer", "prediction"],
        [0, "abcdefghijk", "Which?", "a carp", "a pike"],
        [1, "abcdefghijk", "Which?", "a carp", failure],
    ):
        book.active.append(row)
    book.save(tmp_path / "model_curve.xlsx")
    found = scored("curve", tmp_path / "model_curve.xlsx", asked("0", "1"))
    assert found.items[0].prediction == "a pike"
    assert [item.reason for item in found.items] == [None, "model_failed"]
    assert found.scored.numbers.metrics["exact_match"].n == 1


@each_kind
def test_ids_of_several_columns_are_told_by_a_template(suffix, tmp_path, asked):
    rows = [
        {"Film": "f", "no": number, "said": text} for number, text in ((1, "carp"), (2, "pike"))
    ]
    path = put(tmp_path / f"p{suffix}", rows)
    columns = Columns("{film}-{no}", "said")
    found = scored("curve", path, asked("f-1", "f-2"), columns=columns)
    assert [item.prediction for item in found.items] == ["carp", "pike"]
    with pytest.raises(InputError, match=r"no column 'number', which makes the ids; it has Film"):
        scored("curve", path, asked("f-1"), columns=Columns("{film}-{number}", "said"))


def test_an_id_of_several_columns_has_them_all_and_is_there_once(tmp_path, asked):
    columns = Columns("{film}-{no}")
    row = {"film": "f", "no": "1", "prediction": "carp"}
    blank = {"film": "", "no": "", "prediction": ""}
    path = put(tmp_path / "p.csv", [row, blank])
    assert scored("curve", path, asked("f-1"), columns=columns).items[0].prediction == "carp"
    for rows, said in (
        ([row, {**row, "no": ""}], "row 2: no is empty, which the id is made of"),
        ([row, row], "row 2: the id 'f-1' occurs twice, first at"),
    ):
        path = put(tmp_path / "p.json", rows)
        with pytest.raises(InputError, match=said):
            scored("curve", path, asked("f-1"), columns=columns)


def video_holmes_results(rows):
    """Answers as Video-Holmes' evaluate.py writes them: two of three are right, one has no letter."""
    for number, row in enumerate(rows):
        video, question = row["id"].rsplit("-", 1)
        answer = row["answer"] if number % 3 else "WRONG"
        yield {
            "video ID": video,
            "Question ID": question,
            "Question": row["question"],
            "GT": row["answer"],
            "Predicr Answer": answer,
            "Thinking": "I see (B) first.",
            "Correct": answer == row["answer"],
        }


@pytest.mark.parametrize(
    ("suffix", "column"),
    [
        (".json", "Predicr Answer"),
        (".jsonl", "Predicr Answer"),
        (".xlsx", "Predicr Answer"),
        (".json", "Predicted Answer"),  # as the next to spell it will
        (".csv", "predicted_answer"),
    ],
)
def test_a_result_file_of_video_holmes_is_read(tmp_path, suffix, column):
    rows = list(locate("video_holmes", "mini").read())
    results = [
        {name.replace("Predicr Answer", column): value for name, value in result.items()}
        for result in video_holmes_results(rows)
    ]
    found = scored("video_holmes", put(tmp_path / f"Results-x{suffix}", results))
    assert found.scored.numbers.metrics["accuracy"].value == pytest.approx(200 / 3)
    assert [item.reason for item in found.items] == [None] * len(rows)


TIMELENS = [
    # Their script compares the first pair of the timestamps.
    ({"timestamps": [[0.0, 1.5], [4.0, 5.0]], "answers": "0.0 - 1.5 seconds, 4.0 - 5.0 seconds"}, [0.0, 1.5]),
    ({"timestamps": [2, 4]}, [2.0, 4.0]),
    ({"timestamps": []}, None),
    ({"answers": "The event happens in 3.5 - 6.5 seconds."}, [3.5, 6.5]),
]  # fmt: skip


@pytest.mark.parametrize("lines", [False, True], ids=["one object", "JSON Lines"])
def test_a_result_file_of_timelens_is_read(tmp_path, lines):
    rows = locate("timelens", "mini").read()
    document = {}
    for number, row in enumerate(rows):
        video = row["video"].rpartition("/")[2]
        name = f"{video}>>>{row['question'].rstrip('.')}>>>{row['span']}"
        document[name] = TIMELENS[number % len(TIMELENS)][0]
    path = tmp_path / "result.json"
    texts = [json.dumps(document)]
    if lines:
        texts = [json.dumps({name: entry}) for name, entry in document.items()]
    path.write_text("\n".join(texts), encoding="utf-8")
    found = scored("timelens", path)
    for number, item in enumerate(found.items):
        assert item.parsed == {"span": TIMELENS[number % len(TIMELENS)][1]}


@pytest.mark.parametrize(
    "text",
    [
        "The event happens in 12.5 - 24.0 seconds, 30.0 - 40.0 seconds.",
        "The event happens in 12.5 - 24.0 seconds, 30.0 - 40.0 seconds, 50.0 - 60.0 seconds.",
        "From 12.5 to 24.0 seconds and from 30 to 40 seconds.",
        "12.5s-24.0s; 30s-40s",
        "[[12.5, 24.0], [30, 40]]",
        '{"span": [12.5, 24]}\n{"span": [30, 40]}',
    ],
)
def test_of_several_windows_timelens_has_the_first(text, tmp_path):
    """As evaluation/compute_metrics.py of TencentARC/TimeLens: it uses the first pair alone."""
    name = next(iter(locate("timelens", "mini").read()))["id"]
    path = put(tmp_path / "p.jsonl", [{"id": name, "prediction": text}])
    found = scored("timelens", path)
    assert found.items[0].parsed == {"span": [12.5, 24.0]}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"span": [0, 1]}, 'expected "timestamps"'),
        ("0 to 1", 'expected "timestamps"'),
        ({"answers": 3}, "answers is"),
    ],
)
def test_an_entry_of_timelens_that_is_wrong_is_one_line(entry, said, tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"a.mp4>>>a cat>>>[0, 1]": entry}), encoding="utf-8")
    with pytest.raises(InputError, match=said):
        scored("timelens", path)


def test_named_columns_win_over_usual_ones_and_over_the_owners_format(tmp_path, asked):
    path = put(tmp_path / "p.json", [{"key": "x", "pred": "pike", "n": "7", "said": "carp"}])
    found = scored("curve", path, asked("7"), columns=Columns("n", "said"))
    assert found.items[0].prediction == "carp"


def test_the_owners_format_wins_where_a_file_is_in_it(tmp_path):
    rows = locate("rextime", "mini").read()
    path = put(
        tmp_path / "p.jsonl",
        [{"qid": row["id"], "ans": row["answer"], "prediction": "(B)"} for row in rows],
    )
    found = scored("rextime", path)
    assert found.scored.numbers.metrics["accuracy"].value == 100
    assert "miou" not in found.scored.numbers.metrics  # answers only are allowed there


@pytest.mark.parametrize(
    ("suffix", "places"),
    [
        (".csv", ("line 3", "line 2")),
        (".tsv", ("line 3", "line 2")),
        (".json", ("row 2", "row 1")),
        (".jsonl", ("row 2", "row 1")),
        (".parquet", ("row 2", "row 1")),
        (".xlsx", ("row 3", "row 2")),
    ],
)
def test_an_id_that_is_there_twice_is_refused_with_both_places(tmp_path, asked, suffix, places):
    path = put(
        tmp_path / f"p{suffix}", [{"id": "7", "prediction": text} for text in ("pike", "carp")]
    )
    with pytest.raises(
        InputError, match=rf"{places[0]}: the id '7' occurs twice, first at .*{places[1]}; keep one"
    ):
        scored("curve", path, asked("7", "8"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rextime", '{"qid": "mini1", "ans": "A"}\n{"qid": "mini1", "ans": "B"}\n'),
        ("dramaqa_cogme", '[{"qid": 1, "correct_idx": 0}, {"qid": 1, "correct_idx": 2}]'),
        ("curve", '[{"key": "k", "pred": "a"}, {"key": "k", "pred": "b"}]'),
        (
            "moviecore",
            '[{"question_id": "v_1", "video": "v", "pred": "a"}, {"question_id": "v_1", "video": "v", "pred": "b"}]',
        ),
        ("rextime", '{"mini1": "A", "mini1": "B"}'),
    ],
)
def test_so_is_one_in_an_owners_format_or_as_a_key(tmp_path, name, text):
    path = tmp_path / "p.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"occurs twice") as caught:
        scored(name, path)
    assert len(str(caught.value).splitlines()) == 1


def test_a_table_is_held_against_the_evaluators_own_ground_truth(tmp_path):
    truth = tmp_path / "gt.jsonl"
    entry = {"query": "Which?", "duration": 20, "vid": "v", "relevant_windows": [[0, 10]]}
    truth.write_text(
        "".join(
            json.dumps({"qid": f"q{n}", "ans": letter, **entry}) + "\n"
            for n, letter in enumerate("AD")
        ),
        "utf-8",
    )
    path = put(tmp_path / "p.csv", [{"id": f"q{n}", "prediction": "(D) [0, 10]"} for n in range(2)])
    found = scored("rextime", path, truth, split=None)
    assert found.scored.numbers.metrics["accuracy"].value == 50
    assert found.scored.numbers.metrics["miou"].value == 100
    assert "list no options" in found.fits["notes"][0]


def test_a_task_that_is_a_part_of_a_split_is_that_part(tmp_path):
    entries = [
        {
            "key": key,
            "video_id": "abcdefghijk",
            "locale": locale,
            "question": "Which?",
            "answer": "a carp",
        }
        for key, locale in (("1", "ja-JP"), ("2", "de-DE"))
    ]
    references = tmp_path / "curve.json"
    references.write_text(json.dumps(entries), encoding="utf-8")
    path = put(
        tmp_path / "p.csv", [{"id": "1", "prediction": "a carp"}, {"id": "2", "prediction": "x"}]
    )
    found = scored("curve_ja-JP", path, references, split=None)
    assert [item.id for item in found.items] == ["1"]
    assert found.scored.numbers.metrics["exact_match"].value == 100
    with pytest.raises(InputError, match="no question with locale th-TH"):
        scored("curve_th-TH", path, references, split=None)


# --- what can't be read
# ---------------------------------------------------------------------------------------------

BAD = {
    "no ids": ("p.csv", b"name,prediction\n7,carp\n", r"no column of ids \(id.*it has name, prediction.*--id-col"),
    "no texts": ("p.csv", b"id,question,answer\n7,a,b\n", r"texts.*it has id, question, answer.*--text-column"),
    "unquoted": ("p.csv", b"id,prediction\n7,A, from 1\n", r"line 2: 3 fields where the header has 2.*double quotes"),
    "cut off": ("p.csv", b'id,prediction\n7,"carp\n', r"p.csv, line 2: .*double quotes"),
    "damaged": ("p.csv", b"id,prediction\n\xc3\xbc,M\xfcll\n", r"p.csv, line 2: not UTF-8 text; save it as UTF-8"),
    "empty": ("p.csv", b"", r"no column of ids.*it has no columns"),
    "header alone": ("p.tsv", b"id\tprediction\n", r"no predictions in it"),
    "columns alone": ("p.parquet", pd.DataFrame({"id": [], "prediction": []}).to_parquet(), r"no predictions in it"),
    "no id": ("p.csv", b"id,prediction\n7,carp\n,pike\n", r"p.csv, line 3: the id is empty"),
    "no Parquet": ("p.parquet", b"PAR1junk", r"p.parquet: not a Parquet file that can be read"),
    "no workbook": ("p.xlsx", b"PK\x03\x04junk", r"p.xlsx: not an Excel workbook that can be read"),
    "a list": ("p.json", b'[{"id": "7", "prediction": ["carp"]}]', r"row 1: the prediction is a list, expected text"),
    "no object": ("p.jsonl", b'{"id": "7", "prediction": "x"}\n[]\n', r"row 2 is a list, expected an object"),
    "other ids": ("p.csv", b"id,prediction\n8,carp\n", r"none of its 1 ids \(first: '8'\).*\(first: '7'\).*--id-col"),
    "neither": ("p.json", b'[{"name": "7", "said": "x"}]', r"no column of ids .*it has name, said"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "data", "said"), BAD.values(), ids=BAD)
def test_a_wrong_file_is_one_line(name, data, said, tmp_path, asked):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=said) as caught:
        scored("curve", path, asked("7"))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_what_is_neither_a_table_nor_the_owners_format_is_told_both(tmp_path):
    path = put(tmp_path / "p.json", [{"name": "7", "said": "x"}])
    with pytest.raises(InputError, match=r"no column of ids .*it has name.*; nor is .*: .*qid"):
        scored("rextime", path)


def test_a_named_column_that_is_not_there_says_what_is(tmp_path, reelbench, asked):
    path = put(tmp_path / "p.csv", [{"id": "7", "prediction": "carp"}])
    done = reelbench(
        "score", "curve", "--predictions", path, "--references", asked("7"), "--text-column", "said"
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == f"reelbench: {path}: no column 'said'; it has id, prediction"


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.xlsx", "p.jsonl"])
def test_a_file_that_is_not_there_says_so(name, tmp_path, asked):
    with pytest.raises(InputError, match=r"no such file$"):
        scored("curve", tmp_path / name, asked("7"))


# --- templates and hidden answers
# -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "suffix"),
    [*((task, ".csv") for task in MINIS), *((MINIS[-1], suffix) for suffix in KINDS[1:])],
)
def test_a_filled_template_is_scored(task, suffix, tmp_path):
    path = tmp_path / f"t{suffix}"
    prediction_template.write(prediction_template.rows(task.name), path)
    match suffix:
        case ".csv" | ".tsv":
            rows = pd.read_csv(
                path, sep="," if suffix == ".csv" else "\t", dtype=str, keep_default_na=False
            )
        case ".json" | ".jsonl":
            rows = pd.read_json(path, lines=suffix == ".jsonl", dtype=False)
        case ".parquet":
            rows = pd.read_parquet(path)
        case _:
            rows = pd.read_excel(path, dtype=str, keep_default_na=False)
    assert list(rows.columns) == ["id", "video", "question", "options", "prediction"]
    assert not any(rows["prediction"].fillna(""))
    filled = rows.assign(prediction="(B) from 1 to 2").to_dict("records")
    found = scored(task.name, put(path, filled), split=None)
    assert not found.fits["missing"]
    assert not found.fits["extra"]
    hidden = "answers_hidden" in found.scored.counts.unscored
    assert hidden == task.split.startswith("mini_test")


def test_raw_text_on_hidden_answers_becomes_the_owners_file(tmp_path):
    rows = locate("rextime", "mini_test").read()
    path = put(
        tmp_path / "p.csv", [{"id": row["id"], "prediction": "(B) from 1 to 2"} for row in rows]
    )
    outcome = scored("rextime", path, split="mini_test").write(tmp_path / "out")
    lines = [line for _, line in read_jsonl(tmp_path / "out" / "submission.jsonl")]
    ids = sorted(row["id"] for row in rows)
    assert lines == [{"qid": name, "pred_relevant_windows": [[1, 2]], "ans": "B"} for name in ids]
    assert outcome.result.metrics == {}
    assert "shows the form of a submission" in outcome.notes[0]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx"])
def test_a_template_runs_nothing_in_a_spreadsheet(suffix, tmp_path):
    row = {
        "id": "-x7",
        "video": "@film",
        "question": '=HYPERLINK("http://a")\x1b[2J',
        "options": "",
        "prediction": None,
    }
    path = tmp_path / f"t{suffix}"
    prediction_template.write([row], path)
    if suffix == ".xlsx":
        [_, cells] = openpyxl.load_workbook(path).active.iter_rows()
        assert [cell.data_type for cell in cells if cell.value] == ["s"] * 3
        cells = [cell.value for cell in cells]
    else:
        lines = path.read_text(encoding="utf-8").splitlines()
        [_, cells] = csv.reader(lines, delimiter="," if suffix == ".csv" else "\t")
    assert cells[:3] == ["-x7", "'@film", '\'=HYPERLINK("http://a") [2J']
    for formula in ("=1+1", "-2+3", "@SUM(A1)", "a;=1"):  # an id is read again as it stands
        with pytest.raises(
            InputError, match=r"is a formula to a spreadsheet; write the table as .json or .jsonl"
        ):
            prediction_template.write([row | {"id": formula}], path)
        prediction_template.write([row | {"id": formula}], tmp_path / "t.jsonl")


def test_a_template_goes_to_stdout_or_to_a_file(tmp_path, reelbench):
    done = reelbench("score", "rextime_mini", "--template")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines(keepends=True)))
    assert [row["id"] for row in rows] == [row["id"] for row in locate("rextime", "mini").read()]
    done = reelbench("score", "rextime_mini", "--template", "--output", tmp_path / "t.txt")
    assert done.returncode == 2
    assert ".txt is not a kind of table" in done.stderr


# --- the Hub
# --------------------------------------------------------------------------------------------------------


def table(tmp_path, suffix=".parquet", name="rextime"):
    return put(tmp_path / f"t{suffix}", half_right(name)).read_bytes()


def test_predictions_of_a_data_set_on_the_hub_are_fetched_and_named_in_the_record(hub, tmp_path):
    repo = hub.add(
        "museum/answers",
        {"README.md": b"# a", "data/train-00000-of-00001.parquet": table(tmp_path)},
    )
    path, said = resolve_predictions("hf://datasets/museum/answers", RunMetadata())
    outcome = score_files("rextime", Inputs(path, split="mini"), Options(), metadata=said).write(
        tmp_path / "out"
    )
    assert outcome.result.metrics["accuracy"].value == 50
    assert outcome.result.model.id == "museum/answers"
    origin = f"hf://datasets/museum/answers@{repo.head}/data/train-00000-of-00001.parquet"
    assert outcome.result.provenance.note == f"answers from {origin}"


def test_a_file_at_a_revision_is_that_file(hub, tmp_path, reelbench):
    repo = hub.add(
        "museum/answers", {"a.csv": table(tmp_path, ".csv"), "b.csv": b"id,prediction\nx,y\n"}
    )
    old = repo.head
    repo.commit({"a.csv": b"id,prediction\nx,y\n"}, "spoil it")
    done = reelbench(
        "score",
        "rextime_mini",
        "--predictions",
        f"hf://datasets/museum/answers@{old}/a.csv",
        "--json",
        "--quiet",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["metrics"]["accuracy"]["value"] == 50


@pytest.mark.parametrize(
    ("address", "said"),
    [
        (
            "hf://datasets/museum/answers",
            r"2 files could be meant \(a.csv, b.csv\); end the address with one",
        ),
        ("hf://datasets/museum/empty", r"no file that can hold predictions \(.csv"),
        ("hf://museum/answers", r"expected hf://datasets/ORG/NAME"),
    ],
)
def test_an_address_that_names_no_one_file_says_what_to_do(hub, address, said):
    hub.add("museum/answers", {"a.csv": b"", "b.csv": b""})
    hub.add("museum/empty", {"README.md": b"# nothing"})
    with pytest.raises(InputError, match=said):
        resolve_predictions(address, RunMetadata())


def test_without_a_network_the_hub_is_one_line(reelbench):
    done = reelbench("score", "rextime_mini", "--predictions", "hf://datasets/museum/answers")
    assert done.returncode == 1
    (line,) = done.stderr.strip().splitlines()
    assert "HF_HUB_OFFLINE" in line


# --- beside the samples
# ---------------------------------------------------------------------------------------------


@each_benchmark
def test_questions_lie_beside_samples_that_are_free_of_them(name, tmp_path):
    rows = locate(name, "mini").read()
    scored(name, put(tmp_path / "p.csv", half_right(name))).write(tmp_path / "out")
    lines = [line for _, line in read_jsonl(tmp_path / "out" / "questions.jsonl")]
    assert [(line["id"], line["question"], line["options"]) for line in lines] == [
        (row["id"], row["question"], row.get("options", [])) for row in rows
    ]
    assert all(line.keys() == {"id", "question", "options", "media"} for line in lines)
    samples = (tmp_path / "out" / "samples.jsonl").read_text(encoding="utf-8")
    assert not any(json.dumps(row["question"], ensure_ascii=False) in samples for row in rows)
    assert [
        Sample.model_validate(line).id for _, line in read_jsonl(tmp_path / "out" / "samples.jsonl")
    ]


def test_a_question_says_where_its_video_is_once_it_is_here(tmp_path):
    from reelbench.video.library import Library

    rows = locate("rextime", "mini").read()
    path = put(tmp_path / "p.csv", half_right("rextime"))
    scored("rextime", path).write(tmp_path / "before")
    assert {line["media"] for _, line in read_jsonl(tmp_path / "before" / "questions.jsonl")} == {
        None
    }
    clip = Library(SPECS["rextime"], "mini").find(rows[0])
    scored("rextime", path).write(tmp_path / "after")
    media = {
        line["id"]: line["media"] for _, line in read_jsonl(tmp_path / "after" / "questions.jsonl")
    }
    assert Path(media[rows[0]["id"]]) == clip


def test_the_leaderboard_files_no_questions(tmp_path):
    from reelbench.leaderboard import store

    scored("rextime", put(tmp_path / "p.csv", half_right("rextime"))).write(tmp_path / "out")
    [added] = store.add(tmp_path / "out", tmp_path / "store")
    assert added.outcome == "added", added.why
    files = {path for path in (tmp_path / "store").rglob("*") if path.is_file()}
    columns = {path for path in files if path.parent.name == ".columns"}  # numbers, no texts
    assert {path.name for path in files - columns} == {
        ".ledger.lock",
        "ledger.jsonl",
        "result.json",
        "samples.jsonl",
    }


def test_more_items_than_a_board_takes_are_told_of_when_they_are_scored(tmp_path, monkeypatch):
    rows = locate("rextime", "mini").read()
    path = put(
        tmp_path / "p.csv", [{"id": row["id"], "prediction": "(B) from 1 to 2"} for row in rows]
    )
    for most, told in ((len(rows), 0), (len(rows) - 1, 1)):
        monkeypatch.setattr("reelbench.base.bounds.ITEMS", most)
        notes = scored("rextime", path).write(tmp_path / "out").notes
        line = f"{len(rows):,} items: boards, comparisons and pages take results of up to {most:,}"
        assert sum(line in note for note in notes) == told
