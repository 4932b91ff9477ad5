"""Every way of tampering that we could think of, each done with care: numbers, counts and hashes fit again.

A tampered result is refused, or it is partial (never ranked), or its row says what nobody but its
submitter vouches for. None of them is ranked as whole and recomputed.
"""

import hashlib
import json
import shutil

import pytest

from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import board, store
from reelbench.registry import discovery, rows
from reelbench.registry.records import Item, ModelRecord, Sample, SettingsRecord, SourceRecord
from reelbench.scoring import aggregation, answers, result_files
from reelbench.scoring.videos import media_record
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files
from tests.servers.judge import Answer, JudgeServer

RIGHT = 6
"""Of the 12 items of each result, the first so many are right, or get the judge's best score."""


# --- honest results, made once ---


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """Honest results by name, in a folder each."""
    root = tmp_path_factory.mktemp("honest")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("REELBENCH_HOME", str(root / "home"))
        return {
            "rextime": of_files(root, "rextime", rextime_lines),
            "dramaqa": of_files(root, "dramaqa_cogme", dramaqa_lines),
            "texts": of_texts(root),
            "moviecore": of_files(root, "moviecore", moviecore_entries, votes=1),
            "votes": of_files(root, "moviecore", moviecore_entries, votes=3),
            "curve": of_files(root, "curve", curve_lines, votes=1),
        }


def of_files(root, name, write, votes=0):
    folder = root / f"{name}{votes or ''}"
    folder.mkdir()
    path = folder / "predictions.json"
    asked = loading.locate(name, "mini").read()
    path.write_text(write(asked))
    best = discovery.get(name).judge.high if votes else 0
    good = {row["question"] for row in asked[:RIGHT]}

    def judge(call):
        return Answer(
            json.dumps({"score": best if any(question in call.user for question in good) else 1})
        )

    with JudgeServer(judge) as server:
        options = JudgeOptions(
            model="judge", url=server.url, cache=folder / "judge.sqlite", votes=votes or 1
        )
        scoring_options = Options(overlap=False, judge=options if votes else None)
        score_files(
            name, Inputs(path, split="mini"), folder / "result", scoring_options, model="org/model"
        )
    return folder / "result"


def wrong(row):
    return "B" if row["answer"] == "A" else "A"


def rextime_lines(asked):
    lines = [
        {
            "qid": row["id"],
            "pred_relevant_windows": [row["span"]],
            "ans": row["answer"] if n < RIGHT else wrong(row),
        }
        for n, row in enumerate(asked)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


def dramaqa_lines(asked):
    letters = [row["answer"] if n < RIGHT else wrong(row) for n, row in enumerate(asked)]
    return json.dumps(
        [
            {"qid": row["id"], "correct_idx": "ABCDE".index(letter)}
            for row, letter in zip(asked, letters, strict=True)
        ]
    )


def moviecore_entries(asked):
    entries = {}
    for number, row in enumerate(asked):
        entries.setdefault(f"{row['video']}.mp4", []).append(
            {
                "question": row["question"],
                "answer": row["answer"],
                "pred": f"It is answer number {number}.",
                "classification": ", ".join(row["classification"]),
            }
        )
    return json.dumps(entries)


def curve_lines(asked):
    return "".join(
        json.dumps({"key": row["id"], "pred": f"answer {n}"}) + "\n" for n, row in enumerate(asked)
    )


def of_texts(root):
    """A run on ReXTime as lmms-eval gives it: texts, of which letters and spans are read."""
    spec = discovery.get("rextime")
    located = loading.locate("rextime", "mini")
    items = []
    for number, row in enumerate(located.read()):
        letter = row["answer"] if number < RIGHT else wrong(row)
        text = json.dumps({"answer": letter, "span": row["span"]})
        items.append(
            Item(
                id=row["id"],
                video=row["video"],
                target=rows.target(spec, row),
                facets=rows.facets(spec, row),
                prediction=text,
                parsed=answers.parse(spec, text, row["options"]),
            )
        )
    folder = root / "texts"
    scored = aggregation.score(spec, items)
    source = SourceRecord(kind="mini", location="rextime mini", fingerprint="f")
    model = ModelRecord(id="org/model", adapter="openai")
    result_files.write(
        folder, spec, scored, split="mini", source=source, model=model, settings=SettingsRecord()
    )
    return folder


# --- the forger ---


def forge(folder, samples=None, result=None, *, numbers=True):
    """Edit a result in place and make everything else fit again, as somebody who has our code would."""
    path, document = folder / "samples.jsonl", folder / "result.json"
    stated = json.loads(document.read_text())
    if samples is not None:
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        lines = samples(lines) or lines
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        if numbers:
            spec = discovery.get(stated["benchmark"]["id"])
            made = [Sample.model_validate(line) for line in lines]
            metrics, breakdowns = aggregation.aggregate(spec, made, overlap=False)
            stated["metrics"] = {
                name: value.model_dump(mode="json") for name, value in metrics.items()
            }
            stated["breakdowns"] = {
                facet: {
                    label: {name: value.model_dump(mode="json") for name, value in values.items()}
                    for label, values in labels.items()
                }
                for facet, labels in breakdowns.items()
            }
            stated["counts"] = aggregation.ScoredItems(spec, made).counts.model_dump(mode="json")
            stated["media"] = media_record(made).model_dump(mode="json")
    stated["provenance"]["samples_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    if result is not None:
        result(stated)
    document.write_text(json.dumps(stated))


def bad(edit):
    """Edit each of the items that the model got wrong."""

    def run(lines):
        for line in lines[RIGHT:]:
            edit(line)

    return run


def rescored(**fields):
    """Fields of a wrong item's line, with the scores of a right one."""

    def edit(line):
        line.update(fields)
        line["scores"] = dict.fromkeys(line["scores"], 1.0)

    return bad(edit)


def unscored(reason, **fields):
    def edit(line):
        line.update(
            {"state": "unscored", "reason": reason, "scores": {}, "judge_replies": [], "flags": []}
            | fields
        )

    return bad(edit)


def right_letter(line):
    line["parsed"]["answer"] = line["target"]["answer"]
    line["scores"] = dict.fromkeys(line["scores"], 1.0)


def with_prediction(value):
    def edit(line):
        right_letter(line)
        line["prediction"] = value

    return bad(edit)


def settled(line):
    """Give an item the scores that its parsed answer and target come to."""
    spec = discovery.get("rextime" if "spans" in line["target"] else "dramaqa_cogme")
    line["scores"] = aggregation.item_columns(
        spec, Sample.model_validate(line | {"scores": {}}).item("", None)
    )


def field(name, value):
    def edit(stated):
        *folders, last = name.split(".")
        for folder in folders:
            stated = stated[folder]
        stated[last] = value

    return edit


def without(*path):
    def edit(stated):
        for part in path[:-1]:
            stated = stated[part]
        del stated[path[-1]]

    return edit


def target_moved(line):
    line["target"]["answer"] = line["parsed"]["answer"]
    settled(line)


def target_emptied(line):
    line["target"]["answer"] = line["parsed"]["answer"] = ""
    line["prediction"].pop("ans")
    settled(line)


def labels_swapped(lines):
    for line in lines:
        line["facets"] = {name: ["invented"] for name in line["facets"]}


def one_video(lines):
    for line in lines:
        line["video"] = lines[0]["video"]


def each_its_video(lines):
    for line in lines:
        line["video"] = line["id"]


def dropped(key):
    def edit(line):
        del line["parsed"][key]
        settled(line)

    return bad(edit)


def columns_gone(line):
    line.update(parsed={}, scores={})


def invented_facet(stated):
    stated["breakdowns"]["mood"] = {"glad": {"accuracy": {"value": 100.0, "ci95": None, "n": 6}}}


def invented_label(stated):
    stated["breakdowns"]["category"]["easy"] = {"accuracy": {"value": 100.0, "ci95": None, "n": 6}}


REXTIME = {
    # result.json alone
    "a value nudged": (None, field("metrics.miou.value", 99.0), "metrics.miou is 99.0"),
    "a metric invented": (
        None,
        field("metrics.glory", {"value": 1.0, "ci95": None, "n": 12}),
        "metrics.glory",
    ),
    "a metric left out": (None, without("metrics", "miou"), "metrics.miou is absent"),
    "an interval narrowed": (None, field("metrics.accuracy.ci95", [49.9, 50.1]), "ci95"),
    "intervals of a method that it has not": (
        None,
        field("statistics", {"interval": "percentile"}),
        "ci95",
    ),
    "an n raised": (None, field("metrics.accuracy.n", 921), "accuracy.n is 921"),
    "more items": (None, field("counts.items", 921), "counts.items is 921"),
    "fewer scored": (None, field("counts.scored", 11), "counts.scored is 11"),
    "reasons invented": (None, field("counts.unscored", {"model_failed": 1}), "counts.unscored"),
    "extra below nothing": (
        None,
        field("counts.extra", -5),
        "counts.extra: Input should be greater than or equal to 0 (found -5)",
    ),
    "duplicates below nothing": (
        None,
        field("counts.duplicate", -1),
        "counts.duplicate: Input should be greater than or equal to 0 (found -1)",
    ),
    "unreadable answers hidden": (
        None,
        field("counts.parse_failed", 2),
        "counts.parse_failed is 2",
    ),
    "questions without tags": (
        None,
        field("counts.questions_without_tags", 3),
        "counts.questions_without_tags is 3",
    ),
    "tags without a question": (
        None,
        field("counts.tags_without_question", 3),
        "counts.tags_without_question is 3",
    ),
    "a label's value": (
        None,
        field("breakdowns.category.sequential.accuracy.value", 99.0),
        "sequential.accuracy",
    ),
    "a facet invented": (None, invented_facet, "breakdowns.mood.glad.accuracy"),
    "a label invented": (None, invented_label, "breakdowns.category.easy.accuracy"),
    "a facet left out": (None, without("breakdowns", "category"), "breakdowns.category"),
    "a label left out": (
        None,
        without("breakdowns", "category", "sequential"),
        "category.sequential",
    ),
    "another version": (None, field("benchmark.version", 7), "scored by version 7"),
    "a split with hidden answers": (None, field("benchmark.split", "test"), "are hidden"),
    "an unknown split": (None, field("benchmark.split", "easy"), "split"),
    "another benchmark": (None, field("benchmark.id", "dramaqa_cogme"), "dramaqa_cogme"),
    "an unknown benchmark": (None, field("benchmark.id", "../../x"), "x"),
    "published, not run": (None, field("provenance.kind", "published"), "only runs"),
    "another file's hash": (None, field("provenance.samples_sha256", "0" * 64), "sha256"),
    "made tomorrow": (
        None,
        field("provenance.date", "9999-12-31T00:00:00+00:00"),
        "is in the future",
    ),
    "made soon": (None, field("provenance.date", "soon"), "is not an ISO date"),
    "an address that runs": (
        None,
        field("provenance.url", "javascript:alert(1)"),
        "provenance.url",
    ),
    "a judge where there is none": (
        None,
        field("judge", {"requested": "j", "prompt": "reelbench", "prompt_sha256": "0" * 64}),
        "nothing to judge",
    ),
    "a limit": (None, field("settings.limit", 12), "partial"),
    # the answer, and what was read from it
    "nothing predicted, right all the same": (
        with_prediction(None),
        None,
        "scored, but it has no prediction",
    ),
    "an empty prediction, right all the same": (with_prediction({}), None, "prediction reads None"),
    "a number predicted": (with_prediction(42), None, "prediction reads None"),
    "a list predicted": (with_prediction([]), None, "prediction reads None"),
    "what was read edited": (bad(right_letter), None, "the answer was edited"),
    "a reading left out": (dropped("answer"), None, "not scored on correct"),
    "a window's reading left out": (dropped("span"), None, "not scored on"),
    "columns left out": (bad(columns_gone), None, "not scored on"),
    "nothing read": (bad(lambda line: line.update(parsed=None, scores={})), None, "not scored on"),
    "a flag invented": (bad(lambda line: line.update(flags=["empty"])), None, "flags"),
    "a score raised": (
        bad(lambda line: line["scores"].update(correct=1.0)),
        None,
        "scores.correct is 1.0",
    ),
    "a score beyond the scale": (
        bad(lambda line: line["scores"].update(iou=9.0)),
        None,
        "scores.iou is 9.0",
    ),
    "a column invented": (
        bad(lambda line: line["scores"].update(bonus=1.0)),
        None,
        "not scored on bonus",
    ),
    # references
    "targets moved to the answers": (bad(target_moved), None, "its target is not the benchmark's"),
    "targets and answers emptied": (bad(target_emptied), None, "its target is not the benchmark's"),
    "a target that is a number": (
        bad(lambda line: line["target"].update(answer=5)),
        None,
        "target",
    ),
    "a span as wide as the video": (
        bad(lambda line: line["target"].update(spans=[[0.0, 9e9]])),
        None,
        "its target is not the benchmark's",
    ),
    "labels swapped": (labels_swapped, None, "its category is"),
    "one video for all": (one_video, None, "its video is"),
    "a video for each": (each_its_video, None, "its video is"),
    "replies without a judge": (
        lambda lines: lines[0].update(
            judge_replies=[{"criterion": "score", "raw": "5", "score": 5, "key": "0"}]
        ),
        None,
        "names no judge",
    ),
    # items
    "a wrong item left out": (lambda lines: lines[:-1], None, "missing"),
    "wrong items left out, with a limit": (
        lambda lines: lines[:6],
        field("settings.limit", 6),
        "partial",
    ),
    "a right item twice": (lambda lines: [*lines, lines[0]], None, "is there twice"),
    "an item of nobody's": (lambda lines: lines[0].update(id="mini99"), None, "not in split"),
    # states
    "a judge's reason": (unscored("judge_unavailable"), None, "can't have"),
    "hidden answers": (unscored("answers_hidden"), None, "can't have"),
    "missing, with a prediction": (unscored("prediction_missing"), None, "but it has a prediction"),
    "missing": (unscored("prediction_missing", prediction=None, parsed=None), None, "partial"),
    "without a video": (
        unscored("media_missing", prediction=None, parsed=None, target={}),
        None,
        "a table of its own",
    ),
    "failed, with an answer": (unscored("model_failed"), None, "not the mark of a failed request"),
    "failed": (
        unscored("model_failed", prediction="[LMMS_EVAL_REQUEST_FAILED", parsed=None),
        None,
        "partial",
    ),
    "unreadable": (unscored("media_unreadable"), None, "partial"),
    "scored for a reason": (
        bad(lambda line: line.update(reason="model_failed")),
        None,
        "state scored with reason",
    ),
    "unscored for none": (
        bad(lambda line: line.update(state="unscored")),
        None,
        "with reason None",
    ),
    "a state of one's own": (lambda lines: lines[0].update(state="fine"), None, "field state"),
}

TEXTS = {
    "what was read edited": (bad(right_letter), None, "the answer was edited"),
    "a span's reading edited": (
        lambda lines: lines[0]["parsed"].update(span=[0.0, 1.0]),
        None,
        "the answer was edited",
    ),
    "nothing said, right all the same": (with_prediction(""), None, "the answer was edited"),
    "an older reader's": (bad(right_letter), field("answers", 1), "stated answers"),
    "a reader's to come": (bad(right_letter), field("answers", 99), "answers is 99"),
    "a reader's of below zero": (bad(right_letter), field("answers", -7), "answers is -7"),
    "no reader's": (bad(right_letter), field("answers", None), "field answers"),
    "data that is not here": (bad(right_letter), field("benchmark.split", "val"), "partial"),
}


def index_of_a_letter(line):
    right_letter(line)
    line["prediction"] = {"correct_idx": line["target"]["answer"]}


def tags_invented(lines):
    for line in lines:
        line["facets"] |= {"target": ["Character"], "content": ["Identity"], "thinking": ["Recall"]}


DRAMAQA = {
    "what was read edited": (bad(right_letter), None, "the answer was edited"),
    "an index that is a letter": (bad(index_of_a_letter), None, "prediction reads None"),
    "difficulty swapped": (labels_swapped, None, "its difficulty is"),
    "labels of one's own": (tags_invented, None, "stated labels"),
}


def on_replies(edit):
    def samples(lines):
        for line in lines[RIGHT:]:
            for reply in line["judge_replies"]:
                edit(reply)

    return samples


def scored_five(line):
    line["scores"] = dict.fromkeys(line["scores"], 5.0)


def five(lines):
    on_replies(lambda reply: reply.update(raw='{"score": 5}', score=5))(lines)
    bad(scored_five)(lines)


def unread(line, **fields):
    line.update({"state": "unscored", "reason": "judge_unparsable", "scores": {}} | fields)


def replies_unread(line):
    unread(line)
    for reply in line["judge_replies"]:
        reply["score"] = None


def swapped(lines):
    lines[RIGHT]["judge_replies"], lines[RIGHT]["scores"] = (
        lines[0]["judge_replies"],
        lines[0]["scores"],
    )


def another_attempt(lines):
    for line in lines[RIGHT:]:
        first = [{**reply, "raw": "no", "score": None} for reply in line["judge_replies"]]
        line["judge_replies"] = first + [
            {**reply, "attempt": 1, "raw": '{"score": 5}', "score": 5}
            for reply in line["judge_replies"]
        ]
    bad(scored_five)(lines)


def said_twice(lines):
    for line in lines[RIGHT:]:
        line["judge_replies"] = [
            reply
            for old in line["judge_replies"]
            for reply in ({**old, "raw": '{"score": 5}', "score": 5}, old)
        ]


def another_vote(lines):
    for line in lines[RIGHT:]:
        line["judge_replies"] += [{**reply, "vote": 1} for reply in line["judge_replies"]]


def empty_answer(lines):
    for line in lines[RIGHT:]:
        line.update(prediction="", flags=["empty"], judge_replies=[])
    bad(scored_five)(lines)


def a_criterion_gone(lines):
    for line in lines[RIGHT:]:
        line["scores"].pop("depth")
        line["judge_replies"] = [
            reply for reply in line["judge_replies"] if reply["criterion"] != "depth"
        ]


def same_eight_digits(stated):
    digest = stated["judge"]["prompt_sha256"]
    stated["judge"]["prompt_sha256"] = digest[:8] + "0" * 56


def judged_unanswered(lines):
    lines[-1].update(
        state="unscored", reason="model_failed", prediction="[LMMS_EVAL_REQUEST_FAILED"
    )


MOVIECORE = {
    "a reference that is no text": (
        bad(lambda line: line["target"].update(text=5)),
        None,
        "its target is not the benchmark's",
    ),
    "replies that read, recorded as unread": (bad(replies_unread), None, "its text reads 1"),
    "replies left in, item unread": (bad(unread), None, "it has no reply that can't be read"),
    "replies left out, unread": (
        bad(lambda line: unread(line, judge_replies=[])),
        None,
        "no reply that can't be read",
    ),
    "replies left out, not had": (
        bad(lambda line: unread(line, judge_replies=[], reason="judge_unavailable")),
        None,
        "partial",
    ),
    "replies forged": (five, None, "stated judge replies"),
    "a reply's score edited": (
        on_replies(lambda reply: reply.update(score=5)),
        None,
        "recorded as 5",
    ),
    "a reply's text edited": (
        on_replies(lambda reply: reply.update(raw='{"score": 5}')),
        None,
        "reads 5",
    ),
    "another item's replies": (swapped, None, "its key does not fit"),
    "a second attempt put in": (another_attempt, None, "its key does not fit"),
    "a reply said twice": (said_twice, None, "were put in"),
    "a vote too many": (another_vote, None, "a reply for vote 1"),
    "a criterion of one's own": (
        lambda lines: lines[0]["judge_replies"][0].update(criterion="charm"),
        None,
        "which is not a criterion",
    ),
    "an empty answer with the best score": (
        empty_answer,
        None,
        "scores.accuracy is 5.0, recomputed 0.0",
    ),
    "a criterion left out": (a_criterion_gone, None, "4 of 5 criteria"),
    "scores edited": (bad(scored_five), None, "recomputed 1.0"),
    "judged, though it failed": (judged_unanswered, None, "judged, though it is unscored"),
    "no judge named": (None, field("judge", None), "names no judge"),
    "another judge": (None, field("judge.requested", "better-judge"), "its key does not fit"),
    "another temperature": (None, field("judge.temperature", 1.0), "its key does not fit"),
    "something sent beside": (None, field("judge.extra", {"top_p": 0.1}), "its key does not fit"),
    "three votes": (
        None,
        lambda stated: stated["judge"].update(votes=3, vote_rule="majority"),
        "recomputed None",
    ),
    "no votes": (None, field("judge.votes", 0), "judge.votes is 0"),
    "prompts with the same first digits": (None, same_eight_digits, "the reelbench prompts have"),
    "other prompts": (None, field("judge.prompt_sha256", "0" * 64), "stated judge replies"),
    "the owners' prompts": (None, field("judge.prompt", "official"), "the official prompts have"),
    "prompts without a hash": (None, field("judge.prompt_sha256", "none"), "is not a sha256"),
    "labels of wrong items emptied": (
        bad(lambda line: line.update(facets={"classification": []})),
        None,
        "its references lack labels",
    ),
    "another reference": (
        bad(lambda line: line["target"].update(text="It is so.")),
        None,
        "its target is not",
    ),
    "an answer edited": (
        bad(lambda line: line.update(prediction="It is so.")),
        None,
        "its key does not fit",
    ),
}


def one_vote_unread(lines):
    for line in lines[RIGHT:]:
        line["judge_replies"][0]["score"] = None


def two_votes_gone(lines):
    for line in lines[RIGHT:]:
        line["judge_replies"] = [reply for reply in line["judge_replies"] if reply["vote"] == 0]


def votes_gone(lines):
    for line in lines:
        line["judge_replies"] = [reply for reply in line["judge_replies"] if reply["vote"] == 0]


VOTES = {
    "a vote recorded as unread": (one_vote_unread, None, "its text reads 1"),
    "two votes left out": (two_votes_gone, None, "recomputed None"),
    "one vote asked for": (
        votes_gone,
        lambda stated: stated["judge"].update(votes=1, vote_rule="single"),
        "stated judge replies",
    ),
    "the mean of one": (None, field("judge.votes", 1), "judge.votes is 1"),
}
CURVE = {
    "locales swapped": (labels_swapped, None, "its locale is"),
    "exact where it is not": (
        bad(lambda line: line["scores"].update(exact_match=1.0)),
        None,
        "scores.exact_match is 1",
    ),
    "nothing predicted": (
        bad(lambda line: line.update(prediction=None)),
        None,
        "scored, but it has no prediction",
    ),
}
ALL = [
    pytest.param(base, case, id=f"{base}: {name}")
    for base, cases in {
        "rextime": REXTIME,
        "texts": TEXTS,
        "dramaqa": DRAMAQA,
        "moviecore": MOVIECORE,
        "votes": VOTES,
        "curve": CURVE,
    }.items()
    for name, case in cases.items()
]


@pytest.fixture
def tampered(honest, tmp_path):
    """A copy of an honest result."""

    def copy(base):
        return shutil.copytree(honest[base], tmp_path / "run")

    return copy


def test_enough_ways_are_tried():
    assert len(ALL) >= 84


@pytest.mark.parametrize("base", ["rextime", "texts", "dramaqa", "moviecore", "votes", "curve"])
def test_the_honest_ones_are_taken_and_whole(base, tampered, tmp_path):
    [one] = store.add(tampered(base), tmp_path / "store")
    assert one.outcome == "added", one.why
    [stored] = store.read(tmp_path / "store")
    assert (stored.filed_row.ids, stored.filed_row.partial) == ("checked", None)
    judged = ("judge replies",) if stored.result.judge else ()
    assert stored.filed_row.stated == judged


@pytest.mark.parametrize(("base", "case"), ALL)
def test_tampering_is_refused_or_said(base, case, tampered, tmp_path):
    folder, (samples, result, told) = tampered(base), case
    numbers = told != "field state" and "invented" not in told
    forge(folder, samples, result, numbers=numbers)
    [one] = store.add(folder, tmp_path / "store")
    if told == "partial":
        assert one.outcome == "added", one.why
        [entry] = board.make(tmp_path / "store", published=False).entries
        assert entry.unranked
    elif told.startswith("stated "):
        assert one.outcome == "added", one.why
        [entry] = board.make(tmp_path / "store", published=False).entries
        assert told.removeprefix("stated ") in (entry.facts["stated"] or "")
        assert (
            told != "stated answers" or entry.metrics["accuracy"].value == 100 * RIGHT / 12
        )  # as it reads today
    elif told == "a table of its own":
        assert one.outcome == "added", one.why
        [entry] = board.make(tmp_path / "store", published=False).entries
        assert entry.group.subset.startswith("media of 6 of 12 items")
    else:
        assert one.outcome == "refused"
        assert told in one.why
        assert "\n" not in one.why
    made = (
        board.make(tmp_path / "store", published=False) if (tmp_path / "store").is_dir() else None
    )
    whole = (
        [entry for entry in made.entries if entry.key in made.ranks and entry.group.subset is None]
        if made
        else []
    )
    assert not [entry for entry in whole if not entry.facts.get("stated")]
