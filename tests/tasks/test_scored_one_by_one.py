"""A table of predictions scored one by one, and filed as it goes: the same bytes as all at once, and after any end."""

import gc
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from reelbench.base import tables, workers
from reelbench.base.errors import InputError
from reelbench.registry import discovery
from reelbench.registry.question_files import QuestionIds
from reelbench.scoring.answers import scored
from reelbench.tasks import score
from reelbench.tasks.predictions import Columns
from reelbench.tasks.round_trip import right_answer
from reelbench.tasks.score import Options, score_files
from reelbench.tasks.submissions import Inputs, Questions

ANSWERS = ["A", "(B) because [1, 2]", "It ends at 12:30", "", "something else", "[LMMS_EVAL_REQUEST_FAILED x]", None]  # fmt: skip
FILES = ["questions.jsonl", "result.json", "samples.jsonl"]


@pytest.fixture(autouse=True)
def _few_at_a_time(monkeypatch):
    monkeypatch.setattr(score, "BATCH", 2)
    monkeypatch.setattr(workers, "_BATCH", 3)


def predicted(path, name="rextime"):
    """Write predictions for most of a benchmark's mini questions, in another order, and one for none."""
    references = Questions.named(f"{name}_mini", None).references()
    rows = []
    for place, reference in enumerate(references[1:]):
        text = ANSWERS[place % len(ANSWERS)]
        if place % 3 == 0:
            text = right_answer(discovery.find(name), reference)
        rows.append({"id": reference.id, "prediction": text})
    rows += [{"id": "of nobody", "prediction": "A"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in reversed(rows)))
    return path


def outcome(predictions, folder, *, filed=True, name="rextime", only=None):
    """Score predictions into a folder."""
    options = Options(overlap=False, filed=filed, place=folder, only=only)
    evaluation = score_files(
        f"{name}_mini", Inputs(predictions), options, columns=Columns("id", "prediction")
    )
    assert (evaluation.filed is not None) == filed
    return evaluation.name, evaluation.write(folder)


def contents(folder):
    """What a result's folder holds, but the date."""
    assert sorted(path.name for path in folder.iterdir()) == FILES
    texts = {name: (folder / name).read_text() for name in FILES}
    result = json.loads(texts.pop("result.json"))
    del result["provenance"]["date"]
    return texts, result


@pytest.mark.parametrize("name", discovery.specs())
def test_each_benchmark_has_the_same_bytes_as_all_at_once(name, tmp_path):
    predictions = predicted(tmp_path / "model.jsonl", name)
    folder_name, one_by_one = outcome(predictions, tmp_path / "one", name=name)
    other_name, at_once = outcome(predictions, tmp_path / "all", name=name, filed=False)
    assert contents(tmp_path / "one") == contents(tmp_path / "all")
    assert folder_name == other_name
    assert one_by_one.extra == at_once.extra == ["of nobody"]
    assert one_by_one.missing == at_once.missing != []
    assert one_by_one.notes == at_once.notes
    assert [sample.id for sample in one_by_one.unread] == [sample.id for sample in at_once.unread]


def some_ids(name="rextime", extra=()):
    """Every other question of a mini benchmark, the first one without a prediction among them."""
    references = Questions.named(f"{name}_mini", None).references()
    return QuestionIds(frozenset([reference.id for reference in references[::2]] + list(extra)))


@pytest.mark.parametrize("name", discovery.specs())
def test_some_questions_have_the_same_bytes_as_all_at_once(name, tmp_path):
    predictions = predicted(tmp_path / "model.jsonl", name)
    only = some_ids(name)
    _, one_by_one = outcome(predictions, tmp_path / "one", name=name, only=only)
    _, at_once = outcome(predictions, tmp_path / "all", name=name, filed=False, only=only)
    assert contents(tmp_path / "one") == contents(tmp_path / "all")
    assert one_by_one.result.settings.limit == one_by_one.result.counts.items == len(only.ids)
    assert one_by_one.extra == at_once.extra == ["of nobody"]
    assert one_by_one.missing == at_once.missing != []


def test_some_questions_go_on_where_they_ended(tmp_path, monkeypatch):
    predictions = predicted(tmp_path / "model.jsonl")
    only = some_ids()
    outcome(predictions, tmp_path / "whole", only=only)
    with monkeypatch.context() as patch:
        ended_after(patch, 2)
        with pytest.raises(SystemExit):
            outcome(predictions, tmp_path / "ended", only=only)
    outcome(predictions, tmp_path / "ended", only=only)
    assert contents(tmp_path / "ended") == contents(tmp_path / "whole")


def test_all_questions_do_not_go_on_with_some(tmp_path, monkeypatch):
    predictions = predicted(tmp_path / "model.jsonl")
    with monkeypatch.context() as patch:
        ended_after(patch, 2)
        with pytest.raises(SystemExit):
            outcome(predictions, tmp_path / "ended", only=some_ids())
    outcome(predictions, tmp_path / "whole")
    outcome(predictions, tmp_path / "ended")
    for leftover in (tmp_path / "ended").glob(".*.tmp"):
        leftover.unlink()
    assert contents(tmp_path / "ended") == contents(tmp_path / "whole")


def test_a_question_that_is_not_there_leaves_no_file(tmp_path):
    predictions = predicted(tmp_path / "model.jsonl")
    with pytest.raises(InputError, match="rextime mini: has no question 'nine', nor 0 more"):
        outcome(predictions, tmp_path / "one", only=some_ids(extra=["nine"]))
    assert not (tmp_path / "one").exists()


def ended_after(monkeypatch, batches):
    """Let the process end behind so many batches, in the middle of a line."""
    extend = score.FiledAnswers.extend
    seen = []

    def extend_or_end(filed, *arguments):
        extend(filed, *arguments)
        seen.append(arguments)
        if len(seen) == batches:
            filed.samples.lines.close()
            with filed.samples.lines.path.open("a") as file:
                file.write('{"id": "half')
            raise SystemExit

    monkeypatch.setattr(score.FiledAnswers, "extend", extend_or_end)


@pytest.mark.parametrize("batches", [1, 2, 4])
def test_a_scoring_that_ended_goes_on_with_the_answers_that_are_not_read_yet(
    batches, tmp_path, monkeypatch
):
    predictions = predicted(tmp_path / "model.jsonl")
    outcome(predictions, tmp_path / "whole")
    with monkeypatch.context() as patch:
        ended_after(patch, batches)
        with pytest.raises(SystemExit):
            outcome(predictions, tmp_path / "ended")
    [filed] = (tmp_path / "ended").glob(".samples.*.tmp")
    written = [json.loads(line) for line in filed.read_text().splitlines()[:-1]]
    assert len(written) == 2 * batches
    read = []
    parse = scored.parse
    monkeypatch.setattr(scored, "parse", lambda *given: read.append(given) or parse(*given))
    outcome(predictions, tmp_path / "ended")
    assert contents(tmp_path / "ended") == contents(tmp_path / "whole")
    rows = map(json.loads, predictions.read_text().splitlines())
    texts = {row["id"]: row["prediction"] for row in rows}
    references = Questions.named("rextime_mini", None).references()
    unread = [name.id for name in references[2 * batches :] if texts.get(name.id) is not None]
    assert len(read) == len(unread)


def test_other_answers_do_not_go_on_with_these(tmp_path, monkeypatch):
    predictions = predicted(tmp_path / "model.jsonl")
    with monkeypatch.context() as patch:
        ended_after(patch, 2)
        with pytest.raises(SystemExit):
            outcome(predictions, tmp_path / "ended")
    predictions.write_text(predictions.read_text().replace('"A"', '"C"'))
    outcome(predictions, tmp_path / "whole")
    outcome(predictions, tmp_path / "ended")
    for leftover in (tmp_path / "ended").glob(".*.tmp"):
        leftover.unlink()
    assert contents(tmp_path / "ended") == contents(tmp_path / "whole")


def test_a_parquet_of_more_rows_than_may_be_held(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "MOST_ROWS", 2)
    predictions = predicted(tmp_path / "model.jsonl")
    rows = map(json.loads, predictions.read_text().splitlines())
    packed = tmp_path / "model.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), packed)
    outcome(predictions, tmp_path / "lines")
    outcome(packed, tmp_path / "packed")
    assert contents(tmp_path / "packed") == contents(tmp_path / "lines")


def test_two_at_once_do_not_share_a_file(tmp_path):
    predictions = predicted(tmp_path / "model.jsonl")
    options = Options(overlap=False, filed=True, place=tmp_path / "both")
    evaluations = [
        score_files(
            "rextime_mini", Inputs(predictions), options, columns=Columns("id", "prediction")
        )
        for _ in range(2)
    ]
    for evaluation in evaluations:
        evaluation.write(tmp_path / "both")
    outcome(predictions, tmp_path / "alone")
    assert contents(tmp_path / "both") == contents(tmp_path / "alone")


def test_what_one_of_two_at_once_leaves_when_it_ends_is_removed(tmp_path, monkeypatch):
    predictions = predicted(tmp_path / "model.jsonl")
    options = Options(overlap=False, filed=True, place=tmp_path / "both")
    first = score_files(
        "rextime_mini", Inputs(predictions), options, columns=Columns("id", "prediction")
    )
    with monkeypatch.context() as patch:
        ended_after(patch, 2)
        with pytest.raises(SystemExit):
            outcome(predictions, tmp_path / "both")
    gc.collect()  # the lock goes with the process
    first.write(tmp_path / "both")
    assert len(list((tmp_path / "both").glob(".*.tmp"))) == 2
    outcome(predictions, tmp_path / "both")
    outcome(predictions, tmp_path / "alone")
    assert contents(tmp_path / "both") == contents(tmp_path / "alone")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"id": "of nobody", "prediction": "B"}', "the id 'of nobody' occurs twice, first at"),
        ('{"id": "cut', "is the line complete?"),
        ('{"prediction": "B"}', "the id is empty"),
        ("3", "is a int, expected an object with an id and a text"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_stays(line, why, tmp_path):
    predictions = predicted(tmp_path / "model.jsonl")
    predictions.write_text(predictions.read_text() + line + "\n")
    with pytest.raises(InputError, match=why):
        outcome(predictions, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_ids_of_another_split_leave_nothing(tmp_path):
    predictions = tmp_path / "model.jsonl"
    predictions.write_text('{"id": "x", "prediction": "A"}\n{"id": "y", "prediction": "A"}\n')
    with pytest.raises(InputError, match="none of its 2 ids"):
        outcome(predictions, tmp_path / "out")
    assert not (tmp_path / "out").exists()
