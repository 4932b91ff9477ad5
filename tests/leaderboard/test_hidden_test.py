"""A hidden test at the local Hub: answers are handed in, scored on the owner's machine, and shown."""

import json
import posixpath
import shutil
import sys
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

import reelbench
from reelbench.base.errors import InputError, ReelbenchError
from reelbench.cli.main import main
from reelbench.leaderboard import (
    board,
    hidden_key,
    hidden_reveal,
    hidden_rules,
    ledger,
    publish,
    row_life,
    store,
)
from reelbench.leaderboard.ledger import Ledger, Renamed
from reelbench.leaderboard.store import Filing
from reelbench.registry.records import About
from reelbench.scoring import aggregation
from reelbench.tasks.hidden_answers import HiddenAnswers
from tests.leaderboard import hidden_tests
from tests.leaderboard.hidden_tests import DATASET, Hidden
from tests.servers.judge import Answer, JudgeServer


@pytest.fixture
def hidden(tmp_path, hub, monkeypatch):
    test = Hidden(tmp_path, hub, monkeypatch)
    test.read_here()
    return test


def test_answers_go_from_a_pull_request_to_the_board(hidden, reelbench):
    pull_request = hidden.hand_in(
        "ann", hidden_tests.answers(hidden.right, 183), about=About(parameters=7e9)
    )
    [changed] = {
        path.rpartition("/")[0]
        for path in hidden.repo.files(pull_request.ref).keys() - hidden.repo.files().keys()
    }
    assert changed.startswith("results/submissions/cellar/ann__model/")
    hidden.use("bot")
    done = reelbench(
        *("leaderboard", "check", "--answers", hidden.answers, "--benchmark", hidden.folder),
        *("--dataset", DATASET, "--store", hidden.store),
    )
    assert done.returncode == 0, done.stderr
    [comment] = pull_request.comments
    assert comment in done.stdout
    assert comment.startswith("### Reelbench: scored by the owner\n")
    # 100 videos: 51.08 to 70.08 by Wilson (t of 99 degrees, 1.984), rounded outwards.
    assert "| accuracy | % | 61.0 | 51.0 to 70.1 | 300 |" in comment
    assert "of ann: 1 of 2 files left in 7 days" in comment
    assert "of all accounts: 29 of 30 files left in 30 days" in comment
    assert hidden.check(1) == ("unchanged", "")
    [row] = board.make(hidden.store, published=False).entries
    assert (row.model, row.kind, row.metrics["accuracy"].value) == ("ann/model", "owner", 61.0)
    assert row.about.parameters == 7e9
    hidden.use("museum")
    publish.publish(hidden.store, dataset=DATASET, space="museum/board")
    page = hidden.hub.repo("museum/board", "space").files()["data/board.js"].decode()
    assert "ann/model" in page
    assert "scored by the owner" in page
    clone = hidden.tmp_path / "clone"
    done = reelbench("leaderboard", "clone", DATASET, "--store", clone)
    assert done.returncode == 0, done.stderr
    assert board.make(clone).entries == board.make(hidden.store).entries


def test_what_is_revealed_is_recomputed_from_the_kept_predictions(hidden, reelbench):
    """183 of 300 are right: 61 % was published, and is what anybody computes from the public answers."""
    hidden.hand_in("ann", hidden_tests.answers(hidden.right, 183))
    assert hidden.check(1)[0] == "commented"
    told = reelbench("leaderboard", "reveal", hidden.folder, "--store", hidden.store)
    assert told.returncode == 2
    assert "its version rises above 1" in told.stderr
    hidden_tests.reveal(hidden.folder, ["Z", *hidden.right[1:]])
    told = reelbench("leaderboard", "reveal", hidden.folder, "--store", hidden.store)
    assert (told.returncode, told.stdout) == (2, "")
    assert "line 1 (row 1): the answer 'Z' is not one of its options" in told.stderr
    hidden.reveal()
    done = reelbench("leaderboard", "reveal", hidden.folder, "--store", hidden.store)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-4:] == ["ann/model", "accuracy", "61.0", "61.0"]
    rows = board.make(hidden.store, published=False).entries
    assert {(row.kind, row.group.version) for row in rows} == {("owner", 1), ("run", 2)}
    [run] = [row for row in rows if row.kind == "run"]
    assert run.facts["stated_by"] == "ann"
    # Of an answer that its owner corrected since, the difference shows.
    hidden_tests.reveal(hidden.folder, hidden_tests.answers(hidden.right, 30))
    clone = hidden.tmp_path / "before"
    shutil.copytree(hidden.store / "submissions", clone / "submissions")
    lines = (hidden.store / "ledger.jsonl").read_text().splitlines(keepends=True)
    (clone / "ledger.jsonl").write_text("".join(lines[:2]))
    done = reelbench("leaderboard", "reveal", hidden.folder, "--store", clone)
    assert done.returncode == 1
    assert "1 number unlike what was published" in done.stderr
    assert "differs" in done.stdout


def test_a_file_is_scored_once_and_its_comment_comes_later_where_the_hub_breaks_off(hidden, hub):
    pull_request = hidden.offer("ann", hidden_tests.answers(hidden.right, 183))
    hub.fail("POST .*/discussions/1/comment", status=503)
    with pytest.raises(ReelbenchError, match="503"):
        hidden.check(1)
    assert hidden.acts == [("ann", "received"), ("ann", "scored")]
    assert pull_request.comments == []
    assert hidden.check(1)[0] == "commented"
    assert hidden.check(1) == ("unchanged", "")
    assert hidden.acts == [("ann", "received"), ("ann", "scored")]
    assert "| accuracy | % | 61.0 |" in pull_request.comments[0]


def test_nobody_waits_for_the_store_while_a_file_is_scored(hidden, monkeypatch):
    """Another process appends meanwhile; what can't be scored is scored by the next look."""
    hidden.offer("ann", hidden_tests.answers(hidden.right, 183))
    entry = Renamed(at=ledger.now(), who="maintainer", act="renamed", model="a/b", to="a/c")

    def append_and_fail(*_, **__):
        other = Ledger(hidden.store)
        with other.locked():
            other.append([entry])
        raise ValueError("the answer to q7 is C")

    with monkeypatch.context() as patch:
        patch.setattr(aggregation, "score", append_and_fail)
        with pytest.raises(ReelbenchError, match=r"^could not be scored here; the next look"):
            hidden.check(1)
    assert "| accuracy | % | 61.0 |" in hidden.check(1).comment
    assert hidden.acts == [("ann", "received"), ("maintainer", "renamed"), ("ann", "scored")]


def test_the_row_of_an_account_changes_by_a_standard_error_alone(hidden):
    hidden.rules("{files_per_week: 3, files_per_month: 5}")
    # 50.0, 51.0 (its error is 2.9), 55.0; the fourth waits.
    for number, right in enumerate((150, 153, 165, 200), start=1):
        hidden.offer("ann", hidden_tests.answers(hidden.right, right), f"ann/{number}")
    comments = [hidden.check(number)[1] for number in (1, 2, 3, 4)]
    assert "| accuracy | % | 50.0 |" in comments[0]
    assert "so your row stays" in comments[1]
    assert "| accuracy | % | 50.0 |" in comments[1]
    assert "51.0" not in (hidden.store / "ledger.jsonl").read_text()
    assert "| accuracy | % | 55.0 |" in comments[2]
    assert comments[3].startswith("### Reelbench: waits\n")
    assert "all files of this account's week are used; place 1 in the queue" in comments[3]
    assert "of ann: 0 of 3 files left in 7 days, the next one from " in comments[3]
    [row] = board.make(hidden.store, published=False).entries
    assert (row.model, row.metrics["accuracy"].value) == ("ann/3", 55.0)


def test_files_wait_for_the_quota_of_all_accounts_in_their_order(hidden):
    hidden.rules("{files_per_month: 1}")
    for account in ("ann", "bob", "eve"):
        hidden.offer(account, hidden_tests.answers(hidden.right, 150))
    test = hidden.test()
    places = []
    for number in test.open():
        comment = test.look_at(number, hidden_tests.BOUNDS, last=True).comment
        places.append(comment.partition("queue")[0][-9:])
    assert "scored by the owner" in hidden.repo.pull_requests[0].comments[0]
    assert [place[:9] for place in places[1:]] == ["1 in the ", "2 in the "]
    assert hidden.acts == [("ann", "received"), ("ann", "scored")]
    hidden.rules("{files_per_month: 2}")
    # The later one leaves the room to the earlier one, whoever is looked at first.
    test.check(3, hidden_tests.BOUNDS, last=True)
    assert "waits" in hidden.repo.pull_requests[2].comments[0]
    test.check(2, hidden_tests.BOUNDS, last=True)
    assert "scored by the owner" in hidden.repo.pull_requests[1].comments[0]


def test_equal_rounded_totals_share_a_place_and_no_pair_is_compared(hidden):
    for number, right in enumerate((150, 183, 183), start=1):
        hidden.offer(f"account{number}", hidden_tests.answers(hidden.right, right))
        hidden.check(number)
    made = board.make(hidden.store, published=False)
    ranks = {row.model: made.ranks[row.key] for row in made.entries}
    assert ranks == {"account1/model": 3, "account2/model": 1, "account3/model": 1}
    [group] = made.rows
    assert made.noise[group].ranges == {}
    assert all(row.breakdowns == {} for row in made.entries)


@pytest.mark.parametrize(
    ("rules", "account", "model", "says"),
    [
        ("{disqualified: [{account: Eve, reason: two accounts}]}", "eve", None, "two accounts"),
        ("{}", "eve", "ann/model", "ann/model was submitted first by ann"),
        ("{}", "eve", "eve/a\u202eb", "U+202E"),
        ("{}", "eve", "reelbench/model", "only reelbench's own people submit under it"),
        ("{phases: [{name: t, split: test, closes: 2026-01-01}]}", "eve", None, "test is closed"),
        ("{phases: [{name: t, split: test, opens: 2999-01-01}]}", "eve", None, "opens on 2999"),
        ("{phases: [{name: t, split: test, results: 2999-01-01}]}", "eve", None, "from 2999-01-01"),
    ],
)
def test_who_is_not_taken_is_told_why(hidden, rules, account, model, says):
    hidden.offer("ann", hidden_tests.answers(hidden.right, 150))
    hidden.check(1)
    hidden.rules(rules)
    hidden.offer(account, hidden_tests.answers(hidden.right, 160), model)
    assert says in hidden.check(2)[1]
    assert (account, "scored") not in hidden.acts


def test_a_kept_file_is_scored_on_the_day_whatever_became_of_its_request_and_of_words(hidden):
    hidden.rules("{phases: [{name: t, split: test, results: 2999-01-01}]}")
    for account in ("ann", "bob"):
        hidden.offer(account, hidden_tests.answers(hidden.right, 150))
    assert "place 1 in the queue" in hidden.check(1).comment
    assert "place 2 in the queue" in hidden.check(2).comment
    hidden.repo.pull_requests[0].status = "closed"
    declared = hidden.folder / "benchmark.yaml"
    declared.write_text(declared.read_text().replace("title: Cellar", "title: The cellar"))
    hidden.rules("{phases: [{name: t, split: test, results: 2026-01-01}]}")
    assert list(hidden.test().open()) == [2]
    assert hidden.acts[2:] == [("ann", "scored"), ("bob", "scored")]
    assert "| accuracy | % | 50.0 |" in hidden.check(2).comment


def test_torn_files_are_replaced_by_the_published_ones_and_never_published(hidden):
    pull_request = hidden.hand_in("ann", hidden_tests.answers(hidden.right, 150))
    hidden.check(1)
    hidden.use("museum")
    publish.publish(hidden.store, dataset=DATASET)
    [file] = (hidden.store / "submissions").rglob("submission.jsonl")
    path = f"results/{file.relative_to(hidden.store).as_posix()}"
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    publish.publish(hidden.store, dataset=DATASET)
    assert file.read_bytes() == hidden.repo.files()[path] == whole
    # What another commit did to the published file comes into no store.
    hidden.repo.commit({path: b"torn"}, "edited")
    file.unlink()
    publish.publish(hidden.store, dataset=DATASET)
    assert not file.is_file()
    assert pull_request.comments


def test_a_run_that_its_own_machine_scored_since_is_filed_as_a_result(hidden):
    run = hidden.submission("ann", hidden_tests.answers(hidden.right, 150), "ann/model")
    hidden.reveal()
    lines = [json.loads(line) for line in (run / "submission.jsonl").read_text().splitlines()]
    reelbench.score(str(hidden.folder), lines, model="ann/model").save(run)
    assert (run / "submission.json").is_file()
    store.add(run, hidden.store)
    assert hidden.acts == [("maintainer", "filed")]


def test_a_row_whose_files_changed_is_not_revealed_and_stops_no_other(hidden):
    for account in ("ann", "bob"):
        hidden.offer(account, hidden_tests.answers(hidden.right, 150))
    hidden.check(1)
    hidden.check(2)
    hidden.reveal()
    [file] = (hidden.store / "submissions" / "cellar" / "ann__model").rglob("submission.jsonl")
    file.write_text(file.read_text().replace('"A"', '"B"'))
    ann, bob = hidden_reveal.reveal(str(hidden.folder), hidden.store)
    assert (ann.recomputed, "not as they were submitted" in ann.why) == (None, True)
    assert (bob.model, bob.recomputed) == ("bob/model", 50.0)


def test_a_submission_is_offered_once_apart_from_results(hidden):
    pull_request = hidden.hand_in("ann", hidden_tests.answers(hidden.right, 150))
    assert not pull_request.title.startswith("Reelbench: ")  # as requests of results begin
    pull_request.status = "closed"
    place = hidden.tmp_path / "stores" / "ann-0"
    [*_, published] = publish.publish(place, dataset=DATASET, options=hidden_tests.OFFER)
    assert (published.done, published.url[-14:]) == ("unchanged", "/discussions/1")


def test_a_fault_of_the_owners_is_told_to_nobody_else(hidden):
    pull_request = hidden.offer("ann", hidden_tests.answers(hidden.right, 150))
    (hidden.store / "aliases.yaml").write_text("[")
    with pytest.raises(InputError, match=r"aliases\.yaml"):
        hidden.check(1)
    assert pull_request.comments == []


def _other_ids(folder):
    path = folder / "submission.jsonl"
    path.write_text(path.read_text().replace('"q7"', '"p7"'))


def _twice(folder):
    path = folder / "submission.jsonl"
    path.write_text(path.read_text().replace('"q7"', '"q8"'))


def _of_all_lines(line):
    def change(folder):
        (folder / "submission.jsonl").write_text(line)

    return change


def _large(folder):
    with (folder / "submission.jsonl").open("wb") as file:
        file.truncate(200_000_000)


def _link(folder):
    path = folder / "submission.jsonl"
    path.rename(folder / "answers")
    path.symlink_to("answers")


def _zip(folder):
    """Hand in an archive that would unpack to 20 MB."""
    with ZipFile(folder / "submission.jsonl", "w", ZIP_DEFLATED) as archive:
        archive.writestr("submission.jsonl", b"0" * 20_000_000)


def _nested_record(folder):
    (folder / "submission.json").write_text('{"a":' * 100_000 + "1" + "}" * 100_000)


BAD = [
    (_twice, "the id 'q8' occurs twice"),
    (_of_all_lines("<html>"), "submission.jsonl, line 1, column 1: not valid JSON"),
    (_of_all_lines("[" * 100_000), "submission.jsonl, line 1"),
    (_of_all_lines('{"id": "q0", "prediction": "A", "scores": {"correct": 1}}'), "alone"),
    (_of_all_lines('{"id": "q0", "prediction": 1}'), "are texts"),
    (_of_all_lines('{"id": "q0", "prediction": null}'), "are texts"),
    (_of_all_lines('{"id": "q0", "prediction": "A", "reason": "refused"}'), "prediction null"),
    (_of_all_lines('{"id": "q0", "prediction": null, "reason": "tired"}'), "model_failed"),
    (_of_all_lines('{"id": "q0", "prediction": "' + "A" * 30_000 + '"}'), "20,000 are taken"),
    (
        _of_all_lines('{"id": "q0", "prediction": ' + "9" * 100_000 + "}"),
        "submission.jsonl, line 1",
    ),
    (_of_all_lines('{"benchmark": {"id": "cellar"}, "metrics": {"accuracy": 99}}'), "alone"),
    (_zip, "submission.jsonl"),
    (_nested_record, "submission.json"),
    (_large, "50,000,000 are taken"),
    (_link, "submission.jsonl: is not a file of its own"),
    (
        lambda folder: (folder / "submission.json").write_text("{}"),
        "submission.json: field benchmark",
    ),
]


@pytest.mark.parametrize(("change", "says"), BAD)
def test_a_bad_upload_is_refused_in_one_line(change, says, tmp_path):
    folder = tmp_path / "submissions" / "cellar" / "me__model" / ("0" * 16)
    hidden_tests.submitted(tmp_path / "cellar", folder)
    change(folder)
    with pytest.raises(InputError) as refused:
        hidden_key.read_submission(tmp_path, "submissions/cellar/me__model/0000000000000000")
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(tmp_path) not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "data", "says"),
    [
        ("{key}/run.py", b"raise SystemExit", "run.py: not a file of a result"),
        ("results/settings.yaml", b"hidden_tests: {}", "settings.yaml: not a file of a result"),
        ("{key}/../0000000000000000/submission.json", b"{}", "one submission, and nothing else"),
        ("{key}/submission.jsonl", bytes(70_000_000), "bytes of the submission"),
    ],
)
def test_a_request_that_brings_more_than_a_submission_is_refused_in_one_line(
    hidden, path, data, says
):
    request = hidden.offer("eve", hidden_tests.answers(hidden.right, 150))
    offered = hidden.repo.files(request.ref).keys() - hidden.repo.files().keys()
    key = min(offered).rpartition("/")[0]
    hidden.repo.commit({posixpath.normpath(path.format(key=key)): data}, branch=request.ref)
    comment = hidden.check(1).comment
    [line] = comment.rpartition("\n\n")[2].splitlines()
    assert line.startswith("- **refused**: ")
    assert says in line
    assert hidden.acts == []
    assert len(data) < 1_000_000 or not hidden.hub.asked(".*resolve.*submission.jsonl")


def test_answers_to_other_questions_are_refused_without_a_word_on_answers(hidden):
    hidden.offer("ann", hidden_tests.answers(hidden.right, 150), change=_other_ids)
    assert "1 of 300 questions have no line: `q7`" in hidden.check(1)[1].replace("'", "`")
    assert hidden.acts == []


FAILED = "[LMMS_EVAL_REQUEST_FAILED: timeout]"


def test_a_failure_is_stated_and_counts_at_the_lowest(hidden, reelbench):
    """183 of 300 would be right, and 6 of these got no answer: 177, or 59 %."""
    letters = hidden_tests.answers(hidden.right, 183)
    letters[:6] = [FAILED] * 6
    request = hidden.hand_in("ann", letters)
    lines = hidden.repo.files(request.ref)
    [handed_in] = [data for path, data in lines.items() if path.endswith("submission.jsonl")]
    first = json.loads(handed_in.splitlines()[0])
    assert first == {"id": "q0", "prediction": None, "reason": "model_failed"}
    comment = hidden.check(1)[1]
    assert "| accuracy | % | 59.0 |" in comment
    assert "6 of 300 questions without an answer: counted at the scale's lowest" in comment
    [row] = board.make(hidden.store, published=False).entries
    assert (row.facts["items"], row.facts["scored"], row.unranked) == (300, 294, None)
    assert "6 of 300 questions without an answer" in row.note
    hidden.reveal()
    done = reelbench("leaderboard", "reveal", hidden.folder, "--store", hidden.store)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split()[-2:] == ["59.0", "59.0"]


def test_who_leaves_many_questions_unanswered_is_not_ranked(hidden):
    letters = hidden_tests.answers(hidden.right, 183)
    letters[:7] = [FAILED] * 7
    hidden.hand_in("ann", letters)
    hidden.check(1)
    [row] = board.make(hidden.store, published=False).entries
    assert row.unranked == "7 of 300 items unscored"


MARKS = (
    "[SAFETY_BLOCKED]",
    FAILED,
    "[LMMS_EVAL_BUDGET_EXCEEDED]",
    "Failed to obtain answer via API.",
)


def _with_reason(folder):
    """State each mark by hand as a question without an answer."""
    file = folder / "submission.jsonl"
    for mark in MARKS:
        text = f'"prediction": {json.dumps(mark)}'
        stated = '"prediction": null, "reason": "refused"'
        file.write_text(file.read_text().replace(text, stated))


@pytest.mark.parametrize("change", [None, _with_reason])
def test_a_question_whose_answer_is_a_mark_counts_at_the_lowest(hidden, change):
    """One of 300 is right, and 299 are marked by hand: 0.3 %, last and not ranked."""
    hidden.offer("ann", hidden_tests.answers(hidden.right, 183))
    marked = [MARKS[number % len(MARKS)] for number in range(299)]
    hidden.offer("mallory", [hidden.right[0], *marked], change=change)
    assert "| accuracy | % | 61.0 | 51.0 to 70.1 | 300 |" in hidden.check(1).comment
    comment = hidden.check(2).comment
    assert "| accuracy | % | 0.3 |" in comment
    assert "| 300 |" in comment
    assert "299 of 300 questions without an answer: counted at the scale's lowest" in comment
    rows = board.make(hidden.store, published=False).entries
    unranked = {row.model: row.unranked for row in rows}
    assert unranked == {"ann/model": None, "mallory/model": "299 of 300 items unscored"}


def test_a_mark_beside_a_reason_is_refused(hidden):
    def state_both(folder):
        line = json.dumps({"id": "q0", "prediction": MARKS[0], "reason": "refused"})
        (folder / "submission.jsonl").write_text(line)

    hidden.offer("mallory", hidden.right, change=state_both)
    comment = hidden.check(1).comment
    assert "line 1: a `reason` goes with the prediction null" in comment
    assert hidden.acts == []


def test_who_marks_every_question_has_zero_and_stops_nobody(hidden):
    def mark_all(folder):
        lines = [json.dumps({"id": f"q{n}", "prediction": MARKS[0]}) for n in range(300)]
        (folder / "submission.jsonl").write_text("\n".join(lines))

    hidden.offer("mallory", hidden.right, change=mark_all)
    hidden.offer("ann", hidden_tests.answers(hidden.right, 183))
    assert "| accuracy | % | 0.0 |" in hidden.check(1).comment
    assert list(hidden.test().open()) == [1, 2]
    assert "| accuracy | % | 61.0 |" in hidden.check(2).comment
    scored = [act for act in hidden.acts if act[1] == "scored"]
    assert scored == [("mallory", "scored"), ("ann", "scored")]


def _fail(*_):
    raise ValueError("the answer to q7 is C")


@pytest.mark.parametrize("outcome", [_fail, lambda *_: {}])
def test_a_file_that_cannot_be_scored_stops_no_other(hidden, monkeypatch, caplog, outcome):
    """Both wait for a day. On it the first fails; the next look scores it."""
    hidden.rules("{phases: [{name: t, split: test, results: 2999-01-01}]}")
    for number, account in enumerate(("mallory", "ann"), start=1):
        hidden.offer(account, hidden_tests.answers(hidden.right, 150 + number))
        hidden.check(number)
    hidden.rules("{phases: [{name: t, split: test, results: 2026-01-01}]}")
    totals = HiddenAnswers.totals

    def fail_for_the_first(answers, texts):
        if texts["q151"] == hidden.right[151]:
            return totals(answers, texts)
        return outcome()

    with monkeypatch.context() as patch:
        patch.setattr(HiddenAnswers, "totals", fail_for_the_first)
        assert list(hidden.test().open()) == [1, 2]
    assert hidden.acts[2:] == [("ann", "scored")]
    assert "mallory__model" in caplog.text
    assert "not scored: could not be scored here; the next look tries again" in caplog.text
    assert "q7" not in caplog.text
    hidden.test().open()
    assert hidden.acts[3:] == [("mallory", "scored")]


def _fail_for_the_first(metric, total, _):
    """Fail for 151 of 300 right answers."""
    assert metric.name == "accuracy"
    if total.value == 50.3:
        raise KeyError("accuracy")
    return True


@pytest.mark.parametrize("is_kept", [False, True])
def test_a_fault_while_totals_are_held_against_a_row_stops_no_other(
    hidden, monkeypatch, capfd, is_kept
):
    """What comes of a file is a line, whether it is scored at once or was kept for the day."""
    hidden.rules("{phases: [{name: t, split: test, results: 2999-01-01}]}")
    for number, account in enumerate(("mallory", "ann"), start=1):
        hidden.offer(account, hidden_tests.answers(hidden.right, 150 + number))
        if is_kept:
            hidden.check(number)
    hidden.rules("{phases: [{name: t, split: test, results: 2026-01-01}]}")
    hidden.use("bot")
    words = f"leaderboard check --answers {hidden.answers} --benchmark {hidden.folder} "
    words += f"--dataset {DATASET} --store {hidden.store}"
    monkeypatch.setattr(sys, "argv", ["reelbench", *words.split()])
    monkeypatch.setattr(hidden_rules, "takes_the_row", _fail_for_the_first)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    printed = capfd.readouterr()
    assert "| accuracy | % | 50.7 |" in printed.out
    assert "KeyError" in printed.err
    assert "Traceback" not in printed.err
    assert ("ann", "scored") in hidden.acts
    assert ("mallory", "scored") not in hidden.acts


def _with_lines(run, *lines):
    """Add lines to a submission's predictions by hand."""
    file = run / "submission.jsonl"
    file.write_text(file.read_text() + "".join(f"{line}\n" for line in lines))


def test_what_is_not_handed_in_is_said(hidden, reelbench):
    """A plain `publish` offers no submission: it says so, in place of "unchanged"."""
    run = hidden.submission("ann", hidden_tests.answers(hidden.right, 183), "ann/model")
    place = hidden.tmp_path / "mine"
    added = reelbench("leaderboard", "add", run, "--store", place)
    assert added.returncode == 0, added.stderr
    hidden.use("museum")
    publish.publish(hidden.store, dataset=DATASET)
    command = ("leaderboard", "publish", "--store", place, "--dataset", DATASET)
    hidden.use("museum")
    for _ in range(2):
        told = reelbench(*command)
    assert told.returncode == 0, told.stderr
    assert "1 submission is not submitted: add --create-pr\n" in told.stderr
    assert "unchanged" not in told.stdout
    offered = reelbench(*command, "--create-pr")
    assert "pull request: " in offered.stdout
    told = reelbench(*command)
    assert "handed in" not in told.stderr
    assert "unchanged: " in told.stdout


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["q0", "q2"], "1 of 3 questions have no line: 'q1'; a file has a line for every question"),
        (["q0", "q1", "q2", "q7"], "1 id of no question: 'q7'; take them out"),
    ],
)
def test_a_file_that_the_owner_would_refuse_is_refused_before_it_is_made(
    tmp_path, reelbench, ids, told
):
    hidden_tests.cellar(tmp_path / "cellar", 3)
    file = tmp_path / "p.jsonl"
    file.write_text("".join(json.dumps({"id": name, "prediction": "A"}) + "\n" for name in ids))
    run = tmp_path / "run"
    arguments = ("--predictions", file, "--name", "me/model", "--output", run)
    done = reelbench("score", tmp_path / "cellar", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert not (run / "submission.jsonl").exists()


def test_a_line_without_an_answer_is_a_line(tmp_path, reelbench):
    hidden_tests.cellar(tmp_path / "cellar", 2)
    file = tmp_path / "p.jsonl"
    file.write_text(
        '{"id": "q0", "prediction": "A"}\n'
        '{"id": "q1", "prediction": null, "reason": "model_failed"}\n'
    )
    arguments = ("--predictions", file, "--name", "me/model", "--output", tmp_path / "run")
    done = reelbench("score", tmp_path / "cellar", *arguments)
    assert done.returncode == 0, done.stderr
    handed_in = (tmp_path / "run" / "submission.jsonl").read_text().splitlines()
    assert json.loads(handed_in[1])["prediction"] is None


def test_a_part_of_the_questions_is_not_said_to_be_handed_in(tmp_path, reelbench):
    hidden_tests.cellar(tmp_path / "cellar", 3)
    with JudgeServer(lambda _: Answer("A")) as server:
        model = ("--model", "m", "--base-url", server.url, "--frames", "none", "--limit", 2)
        done = reelbench("eval", tmp_path / "cellar", *model, "--output", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    assert "these are 2 of 3 questions, and the owner accepts complete runs only: " in done.stderr
    assert "to hand them in" not in done.stderr


def test_a_foreign_id_is_refused_when_it_is_added_and_the_others_are_added(hidden, reelbench):
    letters = hidden_tests.answers(hidden.right, 183)
    spoilt = hidden.submission("ann", letters, "ann/model")
    _with_lines(spoilt, '{"id": "q999", "prediction": "A"}')
    whole = hidden.submission("bob", letters, "bob/model")
    nowhere = hidden.tmp_path / "nowhere"
    place = hidden.tmp_path / "mine"
    done = reelbench("leaderboard", "add", spoilt, nowhere, whole, "--store", place)
    assert done.returncode == 1, done.stderr
    assert "1 id of no question: 'q999'; take them out" in done.stderr
    assert str(nowhere) in done.stderr
    assert "refused 2 of 3" in done.stderr
    assert [path.parent.name for path in place.glob("submissions/cellar/*/*")] == ["bob__model"]
    alone = reelbench("leaderboard", "add", spoilt, "--store", place)
    assert alone.returncode == 2


def test_the_name_of_a_model_in_a_hidden_test_is_its_accounts_in_public_tables_too(
    hidden, rextime_run
):
    hidden.offer("ann", hidden_tests.answers(hidden.right, 150))
    hidden.check(1)
    run = rextime_run("m", model="ann/model")
    [added] = store.add(run, hidden.store, filing=Filing("mallory"))
    assert added.outcome == "refused"
    assert "ann/model was submitted first by ann" in added.why
    [added] = store.add(run, hidden.store, filing=Filing("ann"))
    assert added.outcome == "added", added.why
    row_life.remove([added.place.relative_to(hidden.store).as_posix()], hidden.store, "wrong")
    store.add(rextime_run("other", model="org/other", right=3), hidden.store)
    with pytest.raises(InputError, match="has results of 'ann/model' already"):
        row_life.rename("org/other", "ann/model", hidden.store)
