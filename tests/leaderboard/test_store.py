"""What the store takes, and what it refuses and why."""

import errno
import shutil
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.base.workers import ALONE, Workers
from reelbench.leaderboard import site, store
from reelbench.leaderboard.recompute import MismatchError, verify
from reelbench.leaderboard.store import Filing
from reelbench.scoring import result_files


@pytest.fixture
def added(tmp_path):
    """Add a folder; returns what came of each result in it."""

    def run(folder):
        return store.add(folder, tmp_path / "store")

    return run


@pytest.fixture
def refusal(added):
    """Add a folder that must be refused; returns the reason."""

    def run(folder):
        [one] = added(folder)
        assert one.outcome == "refused", one
        return one.why

    return run


def test_a_result_is_filed_under_model_revision_benchmark_and_settings_and_a_second_time_is_nothing(
    rextime_run, added, tmp_path
):
    run = rextime_run()
    [first] = added(run)
    assert first.outcome == "added"
    parts = first.place.relative_to(tmp_path / "store").parts
    assert parts[:3] == ("org__model", "unknown", "rextime")
    assert len(parts) == 4
    assert (first.place / "samples.jsonl").read_bytes() == (run / "samples.jsonl").read_bytes()
    assert [one.outcome for one in added(run)] == ["same"]
    [stored] = store.read(tmp_path / "store")
    assert stored.filed_row.ids == "checked"
    assert stored.filed_row.partial is None
    # By hand: 6 of 12 questions right, window and letter.
    assert stored.result.metrics["accuracy_at_iou_0.5"].value == 50


def test_add_never_replaces_other_answers(rextime_run, added, tamper, tmp_path):
    """Of the same answers the newer record stays; two people's runs under one name are two runs."""

    def dated(name, right, date):
        return tamper(
            rextime_run(name, right=right),
            result=lambda found: found["provenance"].update(date=date),
        )

    assert [one.outcome for one in added(dated("b", 6, "2026-05-01T00:00:00+00:00"))] == ["added"]
    [one] = added(dated("a", 6, "2026-04-01T00:00:00+00:00"))
    assert one.outcome == "older"
    assert "2026-05-01" in one.why
    assert [one.outcome for one in added(dated("c", 6, "2026-06-01T00:00:00+00:00"))] == [
        "replaced"
    ]
    other = dated("d", 9, "2026-07-01T00:00:00+00:00")
    [one] = added(other)
    assert one.outcome == "refused"
    assert f"leaderboard replace {other} --store" in one.why
    assert "another --name" in one.why
    [stored] = store.read(tmp_path / "store")
    assert stored.result.metrics["accuracy"].value == 50
    [one] = store.add(other, tmp_path / "store", filing=Filing(replaces=True))
    assert one.outcome == "replaced"
    [stored] = store.read(tmp_path / "store")
    assert stored.result.metrics["accuracy"].value == 75
    earlier = sorted((tmp_path / "store" / "replaced" / stored.key).glob("*/result.json"))
    values = {result_files.read(path.parent).metrics["accuracy"].value for path in earlier}
    assert values == {50}


@pytest.mark.parametrize("full_at", [1, 2])
def test_a_full_disk_leaves_the_old_result_as_it_was(
    rextime_run, added, tamper, monkeypatch, full_at
):
    def dated(name, right, date):
        return tamper(
            rextime_run(name, right=right),
            result=lambda found: found["provenance"].update(date=date),
        )

    [first] = added(dated("a", 6, "2026-05-01T00:00:00+00:00"))
    newer = dated("b", 9, "2026-06-01T00:00:00+00:00")
    written, write = [], Path.write_bytes

    def replaced():
        return store.add(newer, first.place.parents[3], filing=Filing(replaces=True))

    def fills_up(path, data):
        written.append(path)
        if len(written) == full_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", fills_up)
        assert [one.outcome for one in replaced()] == ["refused"]
    [stored] = store.read(first.place.parents[3])
    assert stored.result.metrics["accuracy"].value == 50
    assert not list(stored.folder.glob(".*"))
    assert [one.outcome for one in replaced()] == ["replaced"]


def test_only_the_very_bytes_that_lie_there_are_not_computed_again(
    rextime_run, added, tamper, monkeypatch
):
    run = rextime_run()
    [first] = added(run)
    assert first.as_json()["place"] == str(first.place)
    verified = []
    monkeypatch.setattr(
        store, "verify", lambda folder, **rest: verified.append(folder) or verify(folder, **rest)
    )
    assert [again.outcome for again in added(run)] == ["same"]
    assert verified == []
    tamper(run, samples=lambda lines: lines[:-1], rehash=False)
    [forged] = added(run)
    assert (forged.outcome, verified) == ("refused", [run])
    assert forged.as_json()["place"] is None


def test_other_settings_are_other_results(rextime_run, added, tamper, tmp_path):
    added(rextime_run("a"))
    added(
        tamper(rextime_run("b"), result=lambda found: found["settings"].update(frames="uniform:8"))
    )
    assert len(store.read(tmp_path / "store")) == 2


def test_several_results_in_a_folder_are_added_and_a_refused_one_leaves_the_others(
    rextime_run, added, tamper, tmp_path
):
    for name in "ab":
        shutil.copytree(rextime_run(name, model=f"org/{name}"), tmp_path / "runs" / name)
    tamper(tmp_path / "runs" / "b", result=lambda found: found["counts"].update(items=13))
    assert [one.outcome for one in added(tmp_path / "runs")] == ["added", "refused"]


# --- tampering: each is done with care (the hash fits again) unless it says otherwise ---


def test_a_metric_nudged_by_a_hundredth(rextime_run, refusal, tamper):
    run = tamper(rextime_run(), result=lambda found: found["metrics"]["miou"].update(value=50.01))
    assert "metrics.miou is 50.01, recomputed 50.0" in refusal(run)


def test_an_interval_a_count_and_a_breakdown_nudged(rextime_run, refusal, tamper):
    run = tamper(
        rextime_run("a"),
        result=lambda found: found["metrics"]["accuracy"].update(ci95=[49.0, 51.0]),
    )
    assert "metrics.accuracy.ci95 is (49.0, 51.0), recomputed" in refusal(run)
    run = tamper(rextime_run("b"), result=lambda found: found["counts"].update(parse_failed=3))
    assert "counts.parse_failed is 3, the samples say 0" in refusal(run)
    run = tamper(
        rextime_run("c"),
        result=lambda found: found["breakdowns"]["category"]["sequential"]["accuracy"].update(
            value=99.0
        ),
    )
    assert "breakdowns.category.sequential.accuracy is 99.0, recomputed 50.0" in refusal(run)


def test_an_answer_edited_without_the_hash(rextime_run, refusal, tamper):
    run = tamper(
        rextime_run(), samples=lambda lines: lines[11]["prediction"].update(ans="D"), rehash=False
    )
    assert "samples.jsonl has the sha256" in refusal(run)
    assert "changed after scoring" in refusal(run)


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (
            lambda line: line["prediction"].update(ans="D"),
            "item 'mini12': parsed.answer is 'A', its prediction reads 'D'; the answer was edited",
        ),
        (
            lambda line: (line["prediction"].update(ans="D"), line["parsed"].update(answer="D")),
            "item 'mini12': scores.correct is 0.0, recomputed 1.0",
        ),
        (
            lambda line: line["scores"].update(iou=1.0),
            "item 'mini12': scores.iou is 1.0, recomputed 0.0",
        ),
        (
            lambda line: line["target"].update(answer="A"),
            "item 'mini12': its target is not the benchmark's",
        ),
        (
            lambda line: line.update(facets={"category": ["cause-effect"]}),
            "item 'mini12': its category is",
        ),
    ],
)
def test_an_answer_a_score_a_target_or_a_label_edited(rextime_run, refusal, tamper, edit, reason):
    def samples(lines):
        edit(lines[11])

    assert reason in refusal(tamper(rextime_run(), samples=samples))


def test_a_right_answer_written_in_everywhere_but_in_the_numbers(rextime_run, refusal, tamper):
    def samples(lines):
        lines[11]["prediction"]["ans"] = lines[11]["parsed"]["answer"] = "D"
        lines[11]["scores"]["correct"] = 1.0

    assert "metrics.accuracy is 50.0, recomputed 58.3" in refusal(
        tamper(rextime_run(), samples=samples)
    )


def test_a_row_removed_and_a_row_duplicated(rextime_run, refusal, tamper):
    run = tamper(rextime_run("a"), samples=lambda lines: lines[:-1])
    assert "id 'mini12' is missing: split 'mini' has 12 items" in refusal(run)
    run = tamper(rextime_run("b"), samples=lambda lines: [*lines, lines[0]])
    assert "the id 'mini1' is there twice" in refusal(run)


def test_another_models_samples(rextime_run, refusal, tamper):
    ours, theirs = rextime_run("a", right=4), rextime_run("b", right=9)
    shutil.copy(theirs / "samples.jsonl", ours / "samples.jsonl")
    assert "sha256" in refusal(ours)
    assert "metrics.accuracy_at_iou_0.5 is 33.3" in refusal(tamper(ours))


def test_another_splits_samples(rextime_run, refusal, tamper):
    def samples(lines):
        for line in lines:
            line["id"] = line["id"].replace("mini", "minitest")

    reason = refusal(tamper(rextime_run(), samples=samples))
    assert "not in split 'mini' of rextime, but in 'mini_test'" in reason


def test_scores_on_a_split_whose_answers_are_hidden(rextime_run, refusal, tamper):
    run = tamper(rextime_run(), result=lambda found: found["benchmark"].update(split="test"))
    assert (
        "the answers of split 'test' are hidden, so no score can be known; items 'mini1'"
        in refusal(run)
    )


def test_an_altered_item_that_is_counted_as_unscored(rextime_run, refusal, tamper):
    def samples(lines):
        lines[11].update(state="unscored", reason="media_missing", scores={})

    assert "metrics.accuracy_at_iou_0.5 is 50.0, recomputed 54.5" in refusal(
        tamper(rextime_run(), samples=samples)
    )


# --- judged ---


def test_judged_scores_are_read_again_from_the_raw_replies(moviecore_run, added, tmp_path):
    [one] = added(moviecore_run())
    assert one.outcome == "added", one.why
    [stored] = store.read(tmp_path / "store")
    # By hand: 12 questions score 0, 1, 2, 3, 4, 5, 0, … on every dimension.
    assert stored.result.metrics["average_per_question"].value == 2.5


def test_judge_replies_swapped(moviecore_run, refusal, tamper):
    def swap(lines, *also):
        for name in ("judge_replies", *also):
            lines[0][name], lines[5][name] = lines[5][name], lines[0][name]

    run = tamper(moviecore_run("a"), samples=swap)
    assert "item 'lantern_1': scores.accuracy is 0.0, recomputed 5.0" in refusal(run)
    # With the scores swapped too the per-question sums agree; the replies' keys don't.
    run = tamper(moviecore_run("b"), samples=lambda lines: swap(lines, "scores"))
    assert "was given to another question or answer" in refusal(run)


def test_a_reply_or_its_score_edited(moviecore_run, refusal, tamper):
    def score(lines):
        lines[0]["judge_replies"][0]["score"] = 4

    def reply(lines):
        lines[0]["judge_replies"][0]["raw"] = '{"score": 4}'

    assert "recorded as 4, its text reads 0" in refusal(tamper(moviecore_run("a"), samples=score))
    assert "recorded as 0, its text reads 4" in refusal(tamper(moviecore_run("b"), samples=reply))


def test_votes_count_by_the_rule(moviecore_run, added, refusal, tamper):
    run = moviecore_run("a", votes=3)

    def one_vote(lines):
        first = lines[5]["judge_replies"][0]
        first.update(raw='{"score": 1}', score=1)

    [one] = added(run)
    assert one.outcome == "added", one.why
    # Two of three votes still say 5: the score stays.
    tampered = tamper(run, samples=one_vote)
    verify(tampered)

    def two_votes(lines):
        one_vote(lines)
        lines[5]["judge_replies"][1].update(raw='{"score": 1}', score=1)

    assert "scores.accuracy is 5.0, recomputed 1.0" in refusal(tamper(run, samples=two_votes))


# --- what is kept, and what is not a result ---


def test_a_limited_run_is_kept_and_marked_and_one_that_hides_its_limit_is_refused(
    rextime_run, added, refusal, tamper, tmp_path
):
    run = rextime_run(first=4)
    assert "ids 'mini10', 'mini11', 'mini12' and 5 more are missing" in refusal(run)
    [one] = added(tamper(run, result=lambda found: found["settings"].update(limit=4)))
    assert one.outcome == "added", one.why
    [stored] = store.read(tmp_path / "store")
    assert stored.filed_row.partial == "--limit 4: 4 items"


def test_without_the_data_the_ids_are_unchecked(rextime_run, added, tamper, tmp_path):
    [one] = added(
        tamper(rextime_run(), result=lambda found: found["benchmark"].update(split="val"))
    )
    assert one.outcome == "added", one.why
    [stored] = store.read(tmp_path / "store")
    assert stored.filed_row.ids == "unchecked"
    assert stored.filed_row.partial == "12 of 921 items"


def test_a_result_is_three_files_and_knows_its_samples(rextime_run, tamper):
    run = rextime_run()
    assert {path.name for path in run.iterdir()} == {
        "result.json",
        "samples.jsonl",
        "questions.jsonl",
    }
    result = result_files.read(run)
    assert not result_files.changed_after_scoring(run, result)
    tamper(run, samples=lambda lines: lines[:-1], rehash=False)
    assert result_files.changed_after_scoring(run, result)
    unstated = result.provenance.model_copy(
        update={"samples_sha256": None}
    )  # as the first versions wrote it
    assert not result_files.changed_after_scoring(
        run, result.model_copy(update={"provenance": unstated})
    )
    (run / "samples.jsonl").unlink()
    assert not result_files.changed_after_scoring(run, result)


def test_what_is_no_result_is_told(rextime_run, refusal, tamper, tmp_path):
    run = tamper(rextime_run("a"), result=lambda found: found["metrics"]["miou"].update(valeu=1))
    assert "result.json: field metrics.miou.valeu" in refusal(run)
    run = tamper(rextime_run("b"), samples=lambda lines: lines[2].update(state="fine"))
    assert "samples.jsonl, line 3: field state" in refusal(run)
    run = tamper(
        rextime_run("c"), result=lambda found: found["provenance"].update(kind="published")
    )
    assert "only runs can be computed again" in refusal(run)
    run = tamper(rextime_run("d"), result=lambda found: found["benchmark"].update(version=7))
    assert "scored by version 7 of rextime" in refusal(run)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no result.json in it"):
        result_files.folders(tmp_path / "empty")
    with pytest.raises(InputError, match="no such folder"):
        result_files.folders(tmp_path / "nothing")


def test_a_store_that_was_edited_is_not_built_from(rextime_run, added, tamper, tmp_path):
    [one] = added(rextime_run())
    tamper(one.place, result=lambda found: found["metrics"]["miou"].update(value=99.0))
    with pytest.raises(InputError, match="is not the file that was filed"):
        store.read(tmp_path / "store")


def test_check_holds_a_result_to_its_place(rextime_run, added, tmp_path):
    [one] = added(rextime_run())
    right = tmp_path / "results" / one.place.relative_to(tmp_path / "store")
    shutil.copytree(one.place, right)
    assert [found.outcome for found in store.check(tmp_path / "results")] == ["same"]
    wrong = tmp_path / "results" / "someone__else" / "unknown" / "rextime" / "0123456789ab"
    shutil.copytree(one.place, wrong)
    [found] = [found for found in store.check(tmp_path / "results") if found.outcome == "refused"]
    assert "belongs at results/org__model/unknown/rextime/" in found.why


def bytes_of(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.slow
@pytest.mark.parametrize("workers", [Workers(2), Workers(2, "ray")], ids=["pool", "ray"])
def test_several_workers_leave_what_one_leaves(rextime_run, tamper, tmp_path, monkeypatch, workers):
    if workers.engine == "ray":
        pytest.importorskip("ray", reason="Ray is not installed (pip install 'reelbench[ray]')")
    monkeypatch.chdir(tmp_path)
    run, many = rextime_run(), Path("many")
    for number in range(24):
        copy = many / f"{number:03}"
        shutil.copytree(run, copy)
        tamper(
            copy, result=lambda found, n=number: found["model"].update(id=f"org/model-{n // 4}")
        )  # four of each key
        date = f"2026-0{1 + (number * 3) % 4}-01T00:00:00+00:00"
        tamper(copy, result=lambda found, date=date: found["provenance"].update(date=date))
    tamper(many / "007", result=lambda found: found["metrics"]["miou"].update(value=1.0))
    (many / "009" / "result.json").write_text("{")
    several, now = (("one", ALONE), ("several", workers)), Filing()
    told = [store.add(many, tmp_path / name, workers=who, filing=now) for name, who in several]
    kinds = [[(one.source, one.outcome, one.why) for one in done] for done in told]
    assert kinds[0] == kinds[1]
    assert {"added", "replaced", "older", "refused"} <= {kind for _, kind, _ in kinds[0]}
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "several")
    checked = [store.check(tmp_path / "one", workers=who) for who in (ALONE, workers)]
    assert checked[0] == checked[1]
    assert [one.result for one in checked[0]] == [one.result for one in checked[1]]
    for name, who in (("one-site", ALONE), ("several-site", workers)):
        site.build(tmp_path / "one", tmp_path / name, workers=who)
    assert bytes_of(tmp_path / "one-site") == bytes_of(tmp_path / "several-site")


def test_an_engine_that_is_none_is_refused():
    with pytest.raises(InputError, match="give pool or ray"):
        Workers(engine="spark")


def test_refusals_are_input_errors(rextime_run, tamper):
    run = tamper(rextime_run(), result=lambda found: found["counts"].update(items=13))
    with pytest.raises(MismatchError) as caught:
        verify(run)
    assert caught.value.exit_code == 2


def test_what_is_filed_and_shown_names_no_folder_of_the_machine_that_ran_it(
    rextime_run, tamper, tmp_path
):
    def ran(result):
        result["model"]["args"] = {
            "pretrained": "/home/ada/checkpoints/m",
            "tokenizer": "C:\\models\\tok",
            "dtype": "bf16",
        }
        result["settings"]["generation"] = {"processor": "~/p/config.json", "until": ["</s>"]}

    folder = tamper(rextime_run(), result=ran)
    [one] = store.add(folder, tmp_path / "store")
    assert one.outcome == "added", one.why
    [again] = store.add(folder, tmp_path / "store")
    assert again.outcome == "same"
    [stored] = store.read(tmp_path / "store")
    assert stored.result.model.args == {
        "pretrained": "local/m",
        "tokenizer": "local/tok",
        "dtype": "bf16",
    }
    assert stored.result.settings.generation == {
        "processor": "local/config.json",
        "until": ["</s>"],
    }
    site.build(tmp_path / "store", tmp_path / "site")
    for path in (
        *(tmp_path / "store").rglob("*.json"),
        *(tmp_path / "site" / "data").rglob("*.js"),
    ):
        assert [
            word for word in ("/home/ada", "checkpoints", "C:\\", "~/p") if word in path.read_text()
        ] == [], path


@pytest.mark.parametrize("name", ["result.json", "samples.jsonl"])
def test_what_changes_while_it_is_checked_is_not_filed(name, rextime_run, tmp_path, monkeypatch):
    """Its submitter can still write to the folder: numbers that its samples don't give, other answers."""
    run = rextime_run()
    verify = store.verify

    def meanwhile(folder, **options):
        verified = verify(folder, **options)
        text = (run / name).read_text()
        other = (
            text.replace('"value": ', '"value": 1')
            if name == "result.json"
            else text.replace("A", "B")
        )
        assert other != text
        (run / name).write_text(other)
        return verified

    monkeypatch.setattr(store, "verify", meanwhile)
    [added] = store.add(run, tmp_path / "store")
    assert (added.outcome, added.why) == (
        "refused",
        f"{run}: was changed while it was checked; add it again",
    )
    files = [path for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert [path.name for path in files] == [".ledger.lock"]
