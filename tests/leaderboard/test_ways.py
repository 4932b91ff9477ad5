"""Results of other ways of asking: taken where all follows from the samples, refused where a row hides how it came."""

import re

import pytest

from reelbench import registry
from reelbench.base.base_record import Likelihood, OptionScore
from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.leaderboard import store
from reelbench.leaderboard.entries import protocol, run_entry
from reelbench.registry import rows
from reelbench.registry.decoding import Answering
from reelbench.registry.records import (
    Item,
    ModelRecord,
    PresetRecord,
    RankerRecord,
    SettingsRecord,
)
from reelbench.scoring import option_scores, result_files, side_by_side
from reelbench.tasks import score
from reelbench.tasks.earlier import EarlierResult
from reelbench.tasks.submissions import PredictionSet, Questions

ANSWERING = "options:norm=sum,over=sentence,span=none"


def likely(*totals):
    parts = [Likelihood(sum=total, tokens=3, characters=9) for total in totals]
    return [OptionScore(sentence=part, option=part) for part in parts]


def added(tmp_path, items, **settings):
    """Score items as a run does, and add the result to a store."""
    spec = registry.specs()["dramaqa_cogme"]
    model = ModelRecord(id="org/model", adapter="qwen2_5_vl")
    submission, how = (
        PredictionSet(Questions(spec, "mini"), items),
        SettingsRecord(frames="none", **settings),
    )
    scored = score.evaluation(score.Answers(submission, model, how), score.Options())
    folder = scored.write(tmp_path / "result").folder
    [outcome] = store.add(folder, tmp_path / "store")
    return outcome


def items(**fields):
    spec = registry.specs()["dramaqa_cogme"]
    return [
        Item(
            id=row["id"],
            video=row["video"],
            target=rows.target(spec, row),
            facets=rows.facets(spec, row),
            **fields,
        )
        for row in loading.locate(spec.id, "mini").read()
    ]


def test_candidates_are_taken_with_their_setting(tmp_path):
    several = items(prediction="(A)", parsed={"answer": "A"}, candidates=["(A)", "(B)", "(A)"])
    assert added(tmp_path, several, candidates="beam:3").outcome == "added"
    [stored] = store.read(tmp_path / "store")
    assert stored.result.settings.candidates == "beam:3"


@pytest.mark.parametrize(
    ("candidates", "setting", "why"),
    [
        (["(A)", "(B)"], None, "has candidates, and settings.candidates is absent"),
        (["(B)", "(C)"], "beam:2", "its prediction is none of its candidates"),
    ],
)
def test_candidates_that_do_not_fit_are_refused(tmp_path, candidates, setting, why):
    several = items(prediction="(A)", parsed={"answer": "A"}, candidates=candidates)
    outcome = added(tmp_path, several, candidates=setting)
    assert outcome.outcome == "refused"
    assert why in outcome.why


@pytest.mark.parametrize(
    ("mode", "replies", "why"),
    [
        ("listwise", [["1"]], None),
        (
            "listwise",
            [["1"], ["1"]],
            r"has other replies of the ranker than 1 votes on 2 candidates \(listwise\)",
        ),
        (
            "pointwise",
            [["1"], ["9"]],
            "its prediction is not candidate 1, which the ranker's replies choose",
        ),
        ("pointwise", [["9"], ["1"]], None),
        (
            "pointwise",
            [["9"]],
            r"has other replies of the ranker than 1 votes on 2 candidates \(pointwise\)",
        ),
        (None, [["9"], ["1"]], "has replies of a ranker, and settings.ranker names none"),
        ("pointwise", None, "has no candidates, or none of the ranker's replies"),
    ],
)
def test_what_a_ranker_chose_follows_from_its_replies(tmp_path, mode, replies, why):
    # Listwise, candidates are shown in an order of each question's own: the two are the same.
    texts = ["(A)", "(A)" if mode == "listwise" else "(B)"]
    several = items(
        prediction="(A)", parsed={"answer": "A"}, candidates=texts, ranker_replies=replies
    )
    ranker = mode and RankerRecord(model="small", k=2, mode=mode, prompt_sha256="0123456789abcdef")
    outcome = added(tmp_path, several, candidates="beam:2", ranker=ranker)
    assert (outcome.outcome == "added") == (why is None), outcome.why
    assert why is None or re.search(why, outcome.why)


@pytest.mark.parametrize("norm", ["sum", "mean", "chars"])
def test_option_scores_are_taken_where_the_answer_follows(tmp_path, norm):
    scores = likely(-4.0, -2.5, -3.0, -9.0, -2.5)
    chosen = items(parsed={"answer": "B"}, option_scores=scores)
    assert added(tmp_path, chosen, answering=ANSWERING.replace("sum", norm)).outcome == "added"


@pytest.mark.parametrize(
    ("letter", "scores", "answering", "why"),
    [
        (
            "C",
            likely(-4.0, -2.5, -3.0),
            ANSWERING,
            "parsed.answer is 'C', its prediction reads 'B'",
        ),
        ("B", likely(-4.0, -2.5, -3.0), None, "has option scores, and settings.answering is None"),
        ("B", None, ANSWERING, "has no option scores, and settings.answering is options:"),
        ("B", likely(-4.0, -2.5, -3.0), "letters", "can't be scored again"),
    ],
)
def test_an_answer_that_does_not_follow_is_refused(tmp_path, letter, scores, answering, why):
    outcome = added(
        tmp_path, items(parsed={"answer": letter}, option_scores=scores), answering=answering
    )
    assert outcome.outcome == "refused"
    assert why in outcome.why


def test_scores_are_kept_exactly(tmp_path):
    scores = likely(-0.1 - 0.2, -2 / 3)
    chosen = items(parsed={"answer": "A"}, option_scores=scores)
    assert added(tmp_path, chosen, answering=ANSWERING).outcome == "added"
    [stored] = store.read(tmp_path / "store")
    assert all(
        sample.option_scores == scores for sample in result_files.read_samples(stored.folder)
    )
    assert option_scores.likeliest(scores, Answering.parse(ANSWERING)) == ["A"]


def asked_again(folder, only="unscored", **changed):
    """Return the settings of a result of which some questions are asked again."""
    samples = list(result_files.read_samples(folder))
    earlier = EarlierResult(folder, only, result_files.read(folder), {}, frozenset())
    how = SettingsRecord(frames="none", generation={"max_tokens": 512}, **changed)
    return earlier.settings(how, len(samples))


def test_questions_asked_again_in_the_same_way_stay_in_the_table(tmp_path):
    unscored = items(reason="model_failed")
    added(tmp_path, unscored, generation={"max_tokens": 512})
    folder = tmp_path / "result"
    spec = registry.specs()["dramaqa_cogme"]
    settings = asked_again(folder)
    first = result_files.read(folder)
    assert protocol(spec, settings) is None
    repaired = first.model_copy(update={"settings": settings})
    assert side_by_side.settings_apart([first, repaired]) == {}
    answered = PredictionSet(
        Questions(spec, "mini"), items(prediction="(A)", parsed={"answer": "A"})
    )
    scored = score.evaluation(score.Answers(answered, first.model, settings), score.Options())
    written = scored.write(tmp_path / "repaired")
    store.add(written.folder, tmp_path / "repaired-store")
    [stored] = store.read(tmp_path / "repaired-store")
    number = first.counts.items
    assert f"{number} of {number} asked again" in run_entry(stored).note


@pytest.mark.parametrize(
    ("only", "changed"),
    [("unreadable", {}), ("unscored", {"preset": PresetRecord(name="p", values={})})],
)
def test_questions_asked_again_in_another_way_stand_apart(only, changed, tmp_path):
    added(tmp_path, items(reason="model_failed"), generation={"max_tokens": 512})
    settings = asked_again(tmp_path / "result", only, **changed)
    shown = protocol(registry.specs()["dramaqa_cogme"], settings)
    assert shown.startswith(f"merged only={only} asked_again=")
    assert "sha256" not in shown


def test_the_folder_of_the_earlier_result_is_refused_with_one_that_is_free(tmp_path):
    added(tmp_path, items(reason="model_failed"))
    folder = tmp_path / "result"
    (tmp_path / "result-2").mkdir()
    earlier = EarlierResult(folder, "unscored", result_files.read(folder), {}, frozenset())
    with pytest.raises(InputError, match=rf"--output {re.escape(str(folder))}-3$"):
        earlier.check_apart(folder)
