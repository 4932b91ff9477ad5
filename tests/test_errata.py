"""Errata: rows left out and answers corrected, by every way in which answers are scored."""

import json
import sys
from dataclasses import replace

import pytest

import reelbench
from reelbench.base.errors import InputError
from reelbench.data import declared_check, loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import board, store
from reelbench.leaderboard.rejudgement import Rejudgement
from reelbench.methods import asking
from reelbench.methods.scored_answers import score_answers
from reelbench.registry import discovery, rows
from reelbench.registry.errata import Errata, Erratum
from reelbench.registry.question_files import QuestionIds
from reelbench.registry.records import ModelRecord
from reelbench.scoring import result_files
from reelbench.tasks.declarations import of_package
from reelbench.tasks.earlier import EarlierResult
from reelbench.tasks.score import Options, RunMetadata, score_files
from reelbench.tasks.submissions import Inputs, Prediction, reference_of
from tests import lmms_runs
from tests.scored import score_run
from tests.servers.judge import Answer, JudgeServer

OPTIONS = ["red", "blue", "green"]
RIGHT = "ABCABCAB"
SAID = "ABCABCAA"  # seven of eight are right, and the last is wrong
WHY = {"reason": "The owners say so.", "source": "https://example.org/1"}
LEFT_OUT = {"id": "q0", "leave_out": True, **WHY}
CORRECTED = {"id": "q7", "answer": "A", **WHY}
"""With both, seven items count, and all of them are right."""

CHOICE = "kind: choice\ncolumns: {id: n, video: film, question: q, options: options, answer: a}\n"


def benchmark(folder, errata=(), *, more="", kind=CHOICE):
    """Write a benchmark of eight questions with its errata."""
    folder.mkdir(exist_ok=True)
    rows = []
    for number, letter in enumerate(RIGHT):
        asked = {"n": f"q{number}", "film": f"{number // 2}.mp4", "q": f"Which is {number}?"}
        rows.append({**asked, "options": OPTIONS, "a": letter, "start": number, "end": number + 2})
    (folder / "rows.json").write_text(json.dumps(rows))
    text = f"id: kit\nsource: {{file: rows.json}}\n{kind}{more}"
    if errata:
        text += "errata: errata.jsonl\n"
        lines = [line if isinstance(line, str) else json.dumps(line) for line in errata]
        (folder / "errata.jsonl").write_text("\n".join(lines))
    (folder / "benchmark.yaml").write_text(text)
    return folder


def answers(said=SAID):
    return [{"id": f"q{number}", "prediction": letter} for number, letter in enumerate(said)]


def test_rows_are_left_out_and_answers_corrected(tmp_path):
    kit = benchmark(tmp_path / "kit", [LEFT_OUT, CORRECTED])
    without = reelbench.score(str(kit), answers(), errata="ignore")
    assert without.metrics["accuracy"].value == pytest.approx(87.5)
    applied = reelbench.score(str(kit), answers())
    assert (applied.metrics["accuracy"].value, applied.metrics["accuracy"].n) == (100, 7)
    assert any("errata: 1 left out, 1 corrected" in note for note in applied.notes)
    applied.save(tmp_path / "with")
    without.save(tmp_path / "without")
    result = result_files.read(tmp_path / "with")
    assert str(result.benchmark.errata).startswith("1 left out, 1 corrected @")
    assert result.counts.unscored == {"left_out": 1}
    without_errata = result_files.read(tmp_path / "without").benchmark
    assert without_errata.errata is None
    # What was asked is the same, whatever is right.
    assert without_errata.questions_sha256 == result.benchmark.questions_sha256


def test_a_span_is_corrected(tmp_path):
    kind = "kind: span\ncolumns: {id: n, video: film, question: q, span: [start, end]}\n"
    line = {"id": "q7", "span": [100, 120], **WHY}
    kit = benchmark(tmp_path / "kit", [line], kind=kind)
    said = [{"id": f"q{n}", "prediction": f"{n} to {n + 2}"} for n in range(7)]
    said.append({"id": "q7", "prediction": "100 to 110 seconds"})
    applied = reelbench.score(str(kit), said)
    without = reelbench.score(str(kit), said, errata="ignore")
    assert applied.metrics["miou"].value == pytest.approx(100 * 7.5 / 8)
    assert without.metrics["miou"].value == pytest.approx(100 * 7 / 8)


def test_with_and_without_are_two_tables_and_compare_says_so(reelbench, tmp_path):
    kit = benchmark(tmp_path / "kit", [LEFT_OUT, CORRECTED])
    (tmp_path / "answers.json").write_text(json.dumps(answers()))
    for choice in ("apply", "ignore"):
        done = reelbench(
            "score", kit, "--predictions", tmp_path / "answers.json", "--errata", choice,
            "--output", tmp_path / choice, "--strict",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    done = reelbench("compare", tmp_path / "apply", tmp_path / "ignore")
    assert "errata: a = 1 left out, 1 corrected @" in done.stdout
    assert ", b = none" in done.stdout
    for choice in ("apply", "ignore"):
        [added] = store.add(tmp_path / choice, tmp_path / "store")
        assert added.outcome == "added", added.why
    labels = sorted(group.label for group in board.make(tmp_path / "store", published=False).rows)
    assert len(labels) == 2
    assert "errata: 1 left out, 1 corrected @" in labels[1]


def by_table(kit, choice, folder):
    reelbench.score(str(kit), answers(), errata=choice).save(folder)


def by_command(kit, choice, folder):
    spec = discovery.open_file(kit)
    question_set = asking.questions(spec.id, "none")
    predictions = {}
    for row, letter in zip(question_set.rows, SAID, strict=True):
        predictions[row["id"]] = Prediction(letter, {"answer": letter})
    options = Options(errata=choice)
    model = ModelRecord(id="org/model")
    score_answers(question_set, predictions, {}, options, model=model).write(folder)


def by_logged_run(kit, choice, folder):
    spec = discovery.open_file(kit)
    run = folder / "run"
    run.mkdir(parents=True)
    named = f"reelbench:kit@{loading.locate('kit').source.fingerprint[:16]};media_missing=0"
    document = {
        "results": {"kit": {}},
        "configs": {"kit": {"dataset_path": named}},
        "config": {"model": "openai"},
    }
    (run / "1_results.json").write_text(json.dumps(document))
    functions = lmms_runs.functions(spec)
    details = []
    for row, letter in zip(loading.locate("kit").read(), SAID, strict=True):
        details.append(json.dumps(functions.process_results(row, [letter])) + "\n")
    (run / "1_samples_kit.jsonl").write_text("".join(details))
    score_run(run, folder, Options(errata=choice))


def by_package(kit, choice, folder):
    """A benchmark that is installed with its file of errata."""
    (kit / "__init__.py").write_text("")
    sys.path.insert(0, str(kit.parent))
    try:
        spec = of_package(kit.name, str(kit / "__init__.py"))
    finally:
        sys.path.remove(str(kit.parent))
    known = discovery.registry()
    discovery._registry = replace(known, specs={**known.specs, spec.id: spec})
    reelbench.score("kit", answers(), errata=choice).save(folder)


@pytest.mark.parametrize("route", [by_table, by_command, by_logged_run, by_package])
def test_every_route_applies_the_same_errata(route, tmp_path):
    kit = benchmark(tmp_path / "kit", [LEFT_OUT, CORRECTED])
    values = {}
    for choice in ("apply", "ignore"):
        route(kit, choice, tmp_path / choice)
        result = result_files.read(result_files.folder_of_one(tmp_path / choice))
        accuracy = result.metrics["accuracy"]
        values[choice] = (accuracy.value, accuracy.n, str(result.benchmark.errata)[:25])
    assert values["apply"] == (100, 7, "1 left out, 1 corrected @")
    assert values["ignore"] == (pytest.approx(87.5), 8, "None")


def filed(kit, said, choice, folder, board_store):
    reelbench.score(str(kit), said, errata=choice, model="org/model").save(folder)
    [added] = store.add(folder, board_store)
    return added


def test_the_board_computes_results_again_with_their_errata(tmp_path):
    kit = benchmark(tmp_path / "kit", [LEFT_OUT, CORRECTED])
    for choice in ("apply", "ignore"):
        added = filed(kit, answers(), choice, tmp_path / choice, tmp_path / "store")
        assert added.outcome == "added", added.why
        assert added.why.startswith("ids checked") or added.why == ""
    # Rows that the errata don't leave out, and answers that they don't correct, are found out.
    for line, why in (
        ({"id": "q1", "leave_out": True, **WHY}, "the errata leave it out, and the result doesn't"),
        ({"id": "q1", "answer": "C", **WHY}, "its target is not the benchmark's"),
    ):
        forged = tmp_path / f"forged-{len(why)}"
        benchmark(kit, [line])
        reelbench.score(str(kit), answers(), model="org/other").save(forged)
        benchmark(kit, [LEFT_OUT, CORRECTED])
        true_document = json.loads((tmp_path / "apply" / "result.json").read_text())
        document = json.loads((forged / "result.json").read_text())
        document["benchmark"]["errata"] = true_document["benchmark"]["errata"]
        (forged / "result.json").write_text(json.dumps(document))
        [added] = store.add(forged, tmp_path / "store")
        assert added.outcome == "refused"
        assert why in added.why


def test_results_by_earlier_errata_keep_a_table_of_their_own(tmp_path):
    kit = benchmark(tmp_path / "kit", [LEFT_OUT])
    filed(kit, answers(), "apply", tmp_path / "before", tmp_path / "store")
    benchmark(kit, [LEFT_OUT, CORRECTED])
    added = filed(kit, answers(), "apply", tmp_path / "after", tmp_path / "store")
    assert added.outcome == "added", added.why
    assert len(board.make(tmp_path / "store", published=False).rows) == 2


def test_two_totals_of_secret_answers_never_stand_side_by_side(tmp_path):
    secret = {"more": "hidden_answers: true\nlanguages: [en]\nlicence: cc-by-4.0\n"}
    kit = benchmark(tmp_path / "kit", **secret)
    board_store = tmp_path / "store"
    assert filed(kit, answers(), "apply", tmp_path / "first", board_store).outcome == "added"
    benchmark(kit, [CORRECTED], **secret)
    added = filed(kit, answers(), "apply", tmp_path / "second", board_store)
    assert added.outcome == "refused"
    assert "two totals would tell which of them changed" in added.why
    # Other predictions are of the new phase.
    others = answers("ABCABCBB")
    assert filed(kit, others, "apply", tmp_path / "third", board_store).outcome == "added"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"id": "q1", "question": "Which?", **WHY}, "line 1: question has already been asked"),
        ({"id": "q1", "options": ["red"], **WHY}, "options has already been asked"),
        ({"id": "q1", "answer": "D", **WHY}, "answer is 'D', expected the letter of one of"),
        ({"id": "q1", "answer": 2, **WHY}, "answer is 2, expected a letter"),
        ({"id": "q1", "span": [1, 2], **WHY}, "kit asks for no span"),
        ({"id": "q1", **WHY}, 'expected either "leave_out": true, or the right answer'),
        ({"id": "q1", "leave_out": True, "answer": "A", **WHY}, "expected either"),
        ({"id": "q1", "leave_out": "yes", **WHY}, "expected either"),
        ({"id": "q1", "answer": "A", "source": "he"}, "reason is missing or not text"),
        ({"id": "q1", "answer": "A", "reason": "so"}, "source is missing or not text"),
        ({"id": "q9", "answer": "A", **WHY}, "no row of split 'test' has the id 'q9'"),
        ({"id": "q1", "answer": "A", "split": "tset", **WHY}, "split is 'tset'; expected one of"),
        (
            {"id": "q1", "answer": "A", "split": "mini_tset", **WHY},
            "split is 'mini_tset'; expected",
        ),
        ({"id": "q1", "anwser": "A", **WHY}, "unknown key 'anwser'"),
        ("[1]", "line 1: expected an object with id"),
        ("{", "line 1"),
    ],
)
def test_a_bad_erratum_is_one_line_with_its_place(line, why, tmp_path):
    kit = benchmark(tmp_path / "kit", [line])
    with pytest.raises(InputError) as error:
        reelbench.score(str(kit), answers())
    assert "errata.jsonl" in str(error.value)
    assert why in str(error.value)
    assert "\n" not in str(error.value)


def test_a_row_has_one_erratum(tmp_path):
    kit = benchmark(tmp_path / "kit", [CORRECTED, {**LEFT_OUT, "id": "q7"}])
    with pytest.raises(
        InputError, match=r"line 2: the id 'q7' already has an erratum, at .*line 1"
    ):
        reelbench.score(str(kit), answers())


def test_a_file_that_is_not_there_or_lies_elsewhere_is_told(tmp_path):
    kit = benchmark(tmp_path / "kit", more="errata: none.jsonl\n")
    with pytest.raises(InputError, match=r"errata: none.jsonl is not next to this file"):
        reelbench.score(str(kit), answers())
    benchmark(kit, more="errata: ../errata.jsonl\n")
    with pytest.raises(InputError, match="is outside"):
        reelbench.score(str(kit), answers())


def test_answers_in_words_that_a_run_judged_await_the_judge_again(tmp_path):
    kind = "kind: open\ncolumns: {id: n, video: film, question: q, answer: a}\n"
    line = {"id": "q7", "answer": "A red one.", **WHY}
    kit = benchmark(tmp_path / "kit", [line], kind=kind)
    applied = reelbench.score(str(kit), answers())
    targets = dict(zip(applied.to_frame()["id"], applied.to_frame()["target.text"], strict=True))
    assert (targets["q7"], targets["q6"]) == ("A red one.", "A")


class ReferenceJudge:
    """A judge that says 2 where a request has the corrected answer, and else 0."""

    def __call__(self, call):
        score = 2 if "A red one." in call.user else 0
        return Answer(json.dumps({"score": score}), model=call.body["model"])


@pytest.fixture
def judged_kit(tmp_path, monkeypatch):
    """A benchmark of open questions, judged once without its errata, and filed."""
    kind = "kind: open\njudge: {prompts: curve}\n"
    kind += "columns: {id: n, video: film, question: q, answer: a}\n"
    line = {"id": "q7", "answer": "A red one.", **WHY}
    benchmark(tmp_path / "kit", [LEFT_OUT, line], kind=kind)
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(tmp_path))
    discovery._registry = None
    (tmp_path / "answers.json").write_text(json.dumps(answers()))
    with JudgeServer(ReferenceJudge()) as server:
        judge = JudgeOptions(model="earlier", url=server.url)
        evaluation = score_files(
            "kit",
            Inputs(tmp_path / "answers.json"),
            Options(judge=judge, errata="ignore"),
            metadata=RunMetadata(model="org/model"),
        )
        evaluation.write(tmp_path / "run")
        [added] = store.add(tmp_path / "run", tmp_path / "store")
        assert added.outcome == "added", added.why
        yield server


@pytest.mark.parametrize(
    ("choice", "errata", "score"),
    [
        (None, "None", (8, 0)),
        ("ignore", "None", (8, 0)),
        ("apply", "1 left out, 1 corrected @", (7, pytest.approx(100 / 7))),
    ],
)
def test_stored_answers_are_judged_again_by_the_errata_that_are_asked_for(
    choice, errata, score, judged_kit, tmp_path
):
    judge = JudgeOptions(model="later", url=judged_kit.url)
    work = Rejudgement(tmp_path / "store", judge, errata=choice)
    [outcome] = work.judge(tmp_path / "out")
    assert not outcome.failed, outcome.why
    result = result_files.read(outcome.folder)
    assert str(result.benchmark.errata).startswith(errata)
    value = result.metrics["score"]
    assert (value.n, value.value) == score
    # Only the same right answers relate two judges.
    assert len(work.pairs().get("kit", [])) == (0 if choice == "apply" else 1)
    # What the new judge has scored is not asked again.
    assert not list(Rejudgement(tmp_path / "store", judge, errata=choice).judge(tmp_path / "again"))


def test_the_range_of_a_corrected_span_follows_in_rows_and_items():
    spec = discovery.get("rextime")
    row = loading.locate("rextime", "mini").read()[0]
    erratum = Erratum("here", row["id"], "mini", {"span": [10.0, 80.0]})
    errata = Errata(spec, spec.folder, {row["id"]: erratum})
    [corrected] = errata.rows([row])
    [item] = errata.items([reference_of(spec, row).item(Prediction("10 to 80"))])
    for labels in (rows.facets(spec, corrected), item.facets):
        assert labels["span_length"] == ["60 s or more"]
    assert item.target == rows.target(spec, corrected)
    assert item.target["spans"] == [[10.0, 80.0]]


def test_questions_are_asked_again_by_the_same_errata_only(tmp_path):
    kit = benchmark(tmp_path / "kit", [LEFT_OUT, CORRECTED])
    (tmp_path / "answers.json").write_text(json.dumps(answers()))
    reelbench.score(str(kit), answers(), model="org/model").save(tmp_path / "first")
    again = EarlierResult.read(tmp_path / "first", QuestionIds(frozenset({"q1"})))
    inputs = Inputs(tmp_path / "answers.json")
    merged = score_files(str(kit), inputs, Options(earlier=again))
    assert merged.scored.numbers.metrics["accuracy"].value == 100
    with pytest.raises(InputError, match=r"was made with errata 1 left out.*now it is None"):
        score_files(str(kit), inputs, Options(earlier=again, errata="ignore"))


def test_questions_asked_again_keep_their_hash_where_the_rows_are_in_a_file(tmp_path):
    kit = benchmark(tmp_path / "kit", [LEFT_OUT, CORRECTED])
    (tmp_path / "answers.json").write_text(json.dumps(answers()))
    inputs = Inputs(tmp_path / "answers.json", references=kit / "rows.json")
    first = score_files(str(kit), inputs, Options()).write(tmp_path / "first").result
    again = EarlierResult.read(tmp_path / "first", QuestionIds(frozenset({"q1"})))
    evaluation = score_files(str(kit), inputs, Options(earlier=again))
    second = evaluation.write(tmp_path / "second").result
    assert second.benchmark.questions_sha256 == first.benchmark.questions_sha256
    assert second.data == first.data


def test_check_holds_errata_to_the_rows(reelbench, tmp_path):
    kit = benchmark(tmp_path / "kit", [CORRECTED, {**LEFT_OUT, "id": "q77"}])
    done = reelbench("check", kit)
    assert done.returncode == 2
    assert "line 2: no row of split 'test' has the id 'q77'" in done.stdout + done.stderr
    (split,) = declared_check.check(discovery.open_file(kit))
    assert any("q77" in problem for problem in split.problems)
    assert any("0.mp4" in problem for problem in split.problems)
