"""What a run is ranked by: lower bounds, whose data, who judged, and answers that are read again."""

import hashlib
import json
from itertools import combinations

import pytest

from reelbench.data import loading
from reelbench.judges.prompting import load_prompts
from reelbench.leaderboard import against_data, board, entries, standing, store
from reelbench.leaderboard.exports import tables
from reelbench.llm.messages import reply_key, request_shape
from reelbench.registry import discovery
from reelbench.registry.records import Sample
from reelbench.scoring import aggregation, value_bounds
from reelbench.scoring.answers import scored
from tests.leaderboard.ledgers import entries_of
from tests.leaderboard.rows import entry
from tests.leaderboard.test_tampering import forge

ONE_OF_TWELVE = 100 / 12


@pytest.fixture
def some_unscored(monkeypatch):
    """Let two of the mini data's twelve items be unscored in a run that is ranked."""
    monkeypatch.setattr(value_bounds, "MOST_UNSCORED", 2 / 12)


def left_out(ids):
    """Take the answers of some items back: the server failed at them."""

    def edit(lines):
        for line in lines:
            if line["id"] in ids:
                failed = {"prediction": "[LMMS_EVAL_REQUEST_FAILED", "parsed": None, "flags": []}
                line.update(state="unscored", reason="model_failed", scores={}, **failed)

    return edit


@pytest.fixture
def resubmitted(rextime_run, tmp_path):
    """File a run of ReXTime's mini data whose samples were edited, with the numbers that follow from them."""

    def run(name, *, right, samples, into="store"):
        folder = rextime_run(name, model=f"org/{name}", right=right)
        forge(folder, samples, None)
        [added] = store.add(folder, tmp_path / into)
        assert added.outcome == "added", added.why
        return board.make(tmp_path / into, published=False)

    return run


def row_of(made, model):
    return next(row for row in made.entries if row.model == model)


@pytest.mark.usefixtures("few_videos", "some_unscored")
def test_a_run_of_which_one_answer_did_not_see_its_pictures_is_listed_unranked(resubmitted):
    def edit(lines):
        for line in lines:
            if line["id"] == "mini1":
                line.update(state="unscored", reason="media_not_seen", scores={}, parsed=None)
                line["flags"] = []

    made = resubmitted("a", right=6, samples=edit)
    row = row_of(made, "org/a")
    assert row.unranked == "the model did not see its pictures, by the tokens: 1 of 12"
    assert row.key not in made.ranks


@pytest.mark.usefixtures("few_videos", "some_unscored")
def test_a_few_unscored_items_make_a_lower_bound(resubmitted):
    made = resubmitted("a", right=6, samples=left_out({"mini1"}))
    row = row_of(made, "org/a")
    metric = row.metrics["accuracy"]
    # By hand: mini1 was right. Of 12 items 5 are right and 1 could be.
    assert metric.value == pytest.approx(5 * ONE_OF_TWELVE)
    assert metric.ci95[0] <= 5 * ONE_OF_TWELVE < 6 * ONE_OF_TWELVE <= metric.ci95[1]
    assert (
        metric.ci95 != row.stored.result.metrics["accuracy"].ci95
    )  # that of the bounds, not of the 11
    assert (row.facts["unscored"], row.facts["scored"], row.unranked) == (1, 11, None)
    assert row.facts["stated_score"] == pytest.approx(100 * 5 / 11)
    assert made.ranks[row.key] == 1
    text = tables.tables(made, "markdown")
    assert "≥ 41.6" in text
    assert "(1 unscored)" in text
    assert r"$\geq$ 41.6" in tables.tables(made, "latex")
    document = tables.as_document(made)["rows"][0]
    assert (document["unscored"], document["partial"]) == (1, None)


@pytest.mark.usefixtures("few_videos", "some_unscored")
def test_leaving_out_is_as_answering_wrong_and_never_pays(rextime_run, resubmitted, tmp_path):
    """Each subset that may be ranked, and of the larger ones one of each size: never a better rank than with them."""
    spec = discovery.get("rextime")
    rivals = {"better": 9, "near": 7, "worse": 3}
    for name, right in rivals.items():
        store.add(rextime_run(name, model=f"org/{name}", right=right), tmp_path / "store")
    made = resubmitted("whole", right=6, samples=lambda lines: lines)
    whole = row_of(made, "org/whole")
    others = [row for row in made.entries if row is not whole]
    ids = [row["id"] for row in loading.locate("rextime", "mini").read()]
    lines = [
        json.loads(line)
        for line in (whole.stored.folder / "samples.jsonl").read_text().splitlines()
    ]

    def ranked(edit):
        changed = json.loads(json.dumps(lines))
        edit(changed)
        samples = [Sample.model_validate(line) for line in changed]
        scored = aggregation.ScoredItems(spec, samples, overlap=False)
        update = {"metrics": scored.numbers.metrics, "counts": scored.counts}
        result = whole.stored.result.model_copy(update=update)
        folder = tmp_path / "changed"
        folder.mkdir(exist_ok=True)
        (folder / "samples.jsonl").write_text(
            "".join(sample.model_dump_json() + "\n" for sample in samples)
        )
        check = whole.stored.filed_row.with_verified(partial=against_data.partial(spec, result, 12))
        stored = store.StoredResult("changed", folder, result, check)
        row = entries.run_entry(stored)
        again = board.ranked_board({"rextime": spec}, [*others, row])
        return row, again

    def wrong(names):
        def edit(changed):
            for line in changed:
                if line["id"] in names:
                    line["scores"] = dict.fromkeys(line["scores"], 0.0)

        return edit

    primary = spec.primary.name
    for size in (1, 2):
        for names in combinations(ids, size):
            row, again = ranked(left_out(set(names)))
            worst, as_wrong = ranked(wrong(set(names)))
            assert row.metrics[primary].value == pytest.approx(worst.metrics[primary].value)
            assert row.metrics[primary].value <= whole.metrics[primary].value + 1e-9
            assert again.ranks[row.key] == as_wrong.ranks[worst.key] >= made.ranks[whole.key], names
    for size in range(3, 12):
        row, again = ranked(
            left_out(set(ids[-size:]))
        )  # the wrong ones first: what is left is 100 % right at 6
        assert row.key not in again.ranks
        assert row.unranked == f"{12 - size} of 12 items scored ({size} model_failed)"
        assert again.entries[-1] is row


def test_what_is_not_ranked_stands_below_whatever_its_value():
    rows = [
        entry("partial", 100.0, kind="run", unranked="5 of 921 items"),
        entry("floor", 99.0, kind="baseline"),
        entry("a", 20.0),
        entry("b", 30.0),
    ]
    made = board.ranked_board(discovery.specs(), rows)
    assert [row.model for row in made.entries] == ["b", "a", "partial", "floor"]
    assert [row["model"] for row in tables.as_document(made)["rows"]] == [
        "b",
        "a",
        "partial",
        "floor",
    ]
    text = tables.tables(made, "markdown")
    assert (
        text.index("| b (")
        < text.index("| a (")
        < text.index("| partial (not ranked: 5 of 921 items)")
    )


def test_items_whose_video_was_not_here_make_a_table_of_their_own(resubmitted):
    def without_media(lines):
        for line in lines:
            if line["id"] in ("mini1", "mini2"):
                gone = {"prediction": None, "parsed": None, "target": {}, "facets": {}, "flags": []}
                line.update(state="unscored", reason="media_missing", scores={}, **gone)

    resubmitted("whole", right=6, samples=lambda lines: lines)
    resubmitted("a", right=6, samples=without_media)
    made = resubmitted("b", right=3, samples=without_media)
    a, b = row_of(made, "org/a"), row_of(made, "org/b")
    assert a.group == b.group != row_of(made, "org/whole").group
    assert a.group.subset.startswith("media of 10 of 12 items @")
    assert a.facts["unscored"] is None
    assert a.metrics["accuracy"].value == pytest.approx(40)  # 4 of the 10
    assert not a.group.plain


# --- whose data
# ------------------------------------------------------------------------------------------------------


def test_rows_on_data_of_ones_own_never_share_a_table_with_the_owners(
    rextime_run, tamper, tmp_path
):
    for name in ("own", "owners", "unstated"):
        run = tamper(
            rextime_run(name, model=f"org/{name}"),
            result=lambda found, data=name: found.update(data=data),
        )
        [added] = store.add(run, tmp_path / "store")
        assert added.outcome == "added", added.why
    made = board.make(tmp_path / "store", published=False)
    groups = {row.model: row.group for row in made.entries}
    assert groups["org/owners"] == groups["org/unstated"] != groups["org/own"]
    assert groups["org/own"].label == "mini, data of one's own"
    assert not groups["org/own"].plain
    assert "org/unstated (data unstated)" in tables.tables(made, "markdown")
    assert "org/owners (data" not in tables.tables(made, "markdown")
    assert {row["model"]: row["data"] for row in tables.as_document(made)["rows"]} == {
        "org/own": "own",
        "org/owners": "owners",
        "org/unstated": "unstated",
    }


# --- who judged
# ------------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(moviecore_run, tamper, tmp_path):
    """File MovieCORE's mini results as if their judge's server had returned these ids, in turn; returns what came."""

    runs = []

    def run(model, requested, returned):
        def samples(lines):
            replies = [reply for line in lines for reply in line["judge_replies"]]
            for number, reply in enumerate(replies):
                reply["model"] = returned[number % len(returned)] if returned else None
            counts.update(
                {name: sum(reply["model"] == name for reply in replies) for name in returned}
            )

        counts = {}
        run = moviecore_run(f"run{len(runs)}", model=model)
        runs.append(run)
        tamper(
            run, samples=samples, result=lambda found: found["judge"].update(requested=requested)
        )
        tamper(run, result=lambda found: found["judge"].update(returned=counts))
        # Its replies' keys are of the model that was asked for.
        rekey(run, requested)
        [added] = store.add(run, tmp_path / "store")
        return added

    return run


def rekey(folder, requested):
    """Give each reply the key of a request to this judge."""
    spec = discovery.get("moviecore")
    prompts = load_prompts(spec, "reelbench")
    questions = {row["id"]: row["question"] for row in loading.locate("moviecore", "mini").read()}
    path, document = folder / "samples.jsonl", json.loads((folder / "result.json").read_text())
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        item = Sample.model_validate(line).item(questions[line["id"]], None)
        for reply in line["judge_replies"]:
            temperature = document["judge"]["temperature"]
            sampling = {} if temperature is None else {"temperature": temperature}
            shape = request_shape(requested, prompts.messages(reply["criterion"], item), sampling)
            reply["key"] = reply_key(shape, reply["vote"], reply["attempt"]).hex()
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    document["provenance"]["samples_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "result.json").write_text(json.dumps(document))


def test_a_table_is_headed_by_the_judge_that_answered(judged, tmp_path):
    added = {
        "a": judged("org/a", "gemini-2.5-flash", ["gemini-3.5-flash-lite"]),
        "b": judged("org/b", "gemini-2.5-flash", ["gemini-2.5-flash"]),
        "c": judged("org/c", "gpt-4o-mini", ["gpt-4o-mini-2024-07-18"]),
        "d": judged("org/d", "gpt-4o-mini", ["gpt-4o-mini-2025-01-01"]),
        "e": judged("org/e", "gpt-4o-mini", []),
        "f": judged("org/f", "gpt-4o-mini", ["gpt-4o-mini-2024-07-18", "gpt-4o-mini-2025-01-01"]),
    }
    assert {name: one.outcome for name, one in added.items()} == dict.fromkeys("abcdef", "added"), (
        added
    )
    made = board.make(tmp_path / "store", published=False)
    rows = {row.model: row for row in made.entries}
    assert {model: row.group.judge for model, row in rows.items()} == {
        "org/a": "gemini-3.5-flash-lite",
        "org/b": "gemini-2.5-flash",
        "org/c": "gpt-4o-mini-2024-07-18",
        "org/d": "gpt-4o-mini-2025-01-01",
        "org/e": "gpt-4o-mini (as requested, not stated)",
        "org/f": "gpt-4o-mini-2024-07-18 + gpt-4o-mini-2025-01-01",
    }
    assert {
        model: row.facts["judge_asked"] for model, row in rows.items() if row.facts["judge_asked"]
    } == {"org/a": "gemini-2.5-flash"}
    assert "judge gemini-2.5-flash was asked for, gemini-3.5-flash-lite answered" in added["a"].why
    assert "was asked for" not in added["c"].why
    assert rows["org/f"].unranked == "judge gpt-4o-mini answered under several ids"
    assert "several ids" in added["f"].why
    assert {model for model, row in rows.items() if row.key not in made.ranks} == {"org/f"}


def test_the_same_answers_of_two_judges_are_two_results_and_one_that_answered_as_asked_keeps_its_folder(
    judged,
):
    asked = judged("org/a", "gpt-4o-mini", ["gpt-4o-mini"])
    unsaid = judged("org/b", "gpt-4o-mini", [])
    assert asked.place.name == unsaid.place.name
    first, second = (
        judged("org/c", "gpt-4o-mini", [f"gpt-4o-mini-{date}"])
        for date in ("2024-07-18", "2025-01-01")
    )
    assert first.place != second.place
    assert second.outcome == "added"


def test_a_reply_of_a_model_that_is_not_listed_is_refused(moviecore_run, tamper, tmp_path):
    run = tamper(
        moviecore_run(),
        result=lambda found: found["judge"].update(returned={"gemini-2.5-flash": 60}),
    )
    [added] = store.add(run, tmp_path / "store")
    assert added.outcome == "refused"
    assert "which judge.returned doesn't list" in added.why


# --- answers that an older version read
# -------------------------------------------------------------------------------


@pytest.fixture
def older(tmp_path, reelbench):
    """File a run of texts of which an older version is said to have read this."""

    def run(text, parsed, *, version=1):
        rows = loading.locate("rextime", "mini").read()
        predictions = tmp_path / "predictions.csv"
        predictions.write_text(
            "id,prediction\n" + "".join(f'{row["id"]},"{text(row)}"\n' for row in rows)
        )
        folder = tmp_path / "older"
        done = reelbench(
            "score",
            "rextime_mini",
            "--predictions",
            predictions,
            "--model",
            "org/m",
            "--output",
            folder,
        )
        assert done.returncode == 0, done.stderr

        def samples(lines):
            for line, row in zip(lines, rows, strict=True):
                line["parsed"] = parsed(row)
                if line["parsed"]["answer"] is None:
                    line["flags"] = ["parse_failed"]
                    line["scores"].update({"correct": 0.0, "correct_at_iou_0.5": 0.0})

        forge(folder, samples, lambda found: found.update(answers=version))
        [added] = store.add(folder, tmp_path / "store")
        assert added.outcome == "added", added.why
        return added

    return run


def test_answers_of_an_older_version_are_read_again_and_the_stated_number_stands_beside(
    older, tmp_path
):
    # Today each states its letter and span; the older version is said to have read no letter.
    added = older(
        lambda row: (
            f"The answer is ({row['answer']}), from {row['span'][0]} to {row['span'][1]} s."
        ),
        lambda row: {"answer": None, "span": [float(end) for end in row["span"]]},
    )
    before = (added.place / "result.json").read_bytes()
    [row] = board.make(tmp_path / "store", published=False).entries
    assert row.metrics["accuracy"].value == 100
    assert row.facts["stated_score"] == 0
    assert row.facts["readers"] == 1
    assert row.facts["unreadable"] == 0
    assert row.unranked is None
    assert (added.place / "result.json").read_bytes() == before
    assert "are read again" in added.why


def test_what_an_older_version_filed_holds_where_its_rules_read_other_than_todays(
    older, reelbench, tmp_path
):
    added = older(lambda _: "The answer is (A).", lambda _: {"answer": None, "span": None})
    [entry] = entries_of(tmp_path / "store")
    assert entry["verified"]["stated"] == ["answers"]
    done = reelbench("leaderboard", "check", tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert added.place.is_dir()


def test_what_reads_today_as_it_did_stands_as_stated(older, tmp_path):
    older(
        lambda row: (
            f"The answer is ({row['answer']}), from {row['span'][0]} to {row['span'][1]} s."
        ),
        lambda row: {"answer": row["answer"], "span": [float(end) for end in row["span"]]},
    )
    [row] = board.make(tmp_path / "store", published=False).entries
    assert (row.metrics["accuracy"].value, row.unranked, row.facts["scored"]) == (100, None, 12)


def test_what_can_t_be_read_again_without_the_data_is_listed_and_not_ranked(
    older, tmp_path, monkeypatch
):
    older(
        lambda row: (
            f"The answer is ({row['answer']}), from {row['span'][0]} to {row['span'][1]} s."
        ),
        lambda row: {"answer": row["answer"], "span": [float(end) for end in row["span"]]},
    )
    monkeypatch.setattr(against_data.KnownRows, "rows", lambda *_: None)
    made = board.make(tmp_path / "store", published=False)
    [row] = made.entries
    assert made.ranks == {}
    assert "answers as version 1 of the rules read them" in row.unranked


def test_a_judged_answer_of_which_other_words_count_today_was_never_judged(
    moviecore_run, tmp_path, monkeypatch
):
    with (
        monkeypatch.context() as older
    ):  # a version that handed the judge the reasoning with the answer
        older.setattr(scored, "strip_reasoning", lambda text: text)
        run = moviecore_run(answers={"lantern_1": "<think>A fox, it may be.</think>A heron."})

    def without_media(lines):
        for line in lines[-2:]:
            gone = {
                "prediction": None,
                "parsed": None,
                "target": {},
                "facets": {},
                "flags": [],
                "judge_replies": [],
            }
            line.update(state="unscored", reason="media_missing", scores={}, **gone)

    forge(run, without_media, lambda found: found.update(answers=1))
    [added] = store.add(run, tmp_path / "store")
    assert added.outcome == "added", added.why
    [row] = board.make(tmp_path / "store", published=False).entries
    samples = standing.whole_samples(row.stored)
    [unscored] = [sample for sample in samples if sample.id == "lantern_1"]
    assert (unscored.state, unscored.reason, [*unscored.judge_replies]) == (
        "unscored",
        "judge_unavailable",
        [],
    )
    assert unscored.text == "A heron."
    assert [sample.id for sample in samples[:-2] if sample.state == "unscored"] == ["lantern_1"]
    assert row.unranked == "1 of 10 items unscored"
