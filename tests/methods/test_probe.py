"""Two small questions with known pictures show what arrives at a served model."""

import json

import pytest

from reelbench.leaderboard import board, store
from reelbench.llm.ask_options import AskOptions
from reelbench.methods import asking
from reelbench.tasks.score import Options
from tests.servers import pictures
from tests.servers.judge import Answer, JudgeServer

MINI = "rextime_mini"
QUESTIONS = 12
GOOD = '{"span": [0, 5], "answer": "A"}'
WORDS = 20
"""Tokens of the small questions' words."""


def seeing(call):
    return Answer(**pictures.seen(call.body))


def reversing(call):
    return Answer(" and ".join(reversed(pictures.colours(call.body))))


def blind(_):
    return Answer("I can't see any picture.", usage={"prompt_tokens": WORDS})


def uncounted(call):
    return Answer(" ".join(pictures.colours(call.body)), usage={"prompt_tokens": 0})


def doctor(server, *more):
    return ("doctor", "--model", "m", "--base-url", server.url, *more)


REFUSED = Answer(status=500, error={"message": "image input is not supported"})


@pytest.mark.parametrize(
    ("script", "seen", "tokens"),
    [
        (seeing, "seen, in their order", "64 for a picture of 224 x 224"),
        (reversing, "seen, in another order", "0 for a picture of 224 x 224"),
        (blind, "not seen", "0 for a picture of 224 x 224"),
        (uncounted, "seen, in their order", "not counted"),
    ],
)
def test_what_arrives_is_said(script, seen, tokens, reelbench):
    with JudgeServer(script, plays_all=True) as server:
        done = reelbench(*doctor(server, "--json"))
        assert (done.returncode, len(server.calls)) == (0, 2), done.stderr
        assert [len(pictures.colours(call.body)) for call in server.calls] == [1, 3]
        facts = json.loads(done.stdout)["m"]
        assert (facts["pictures"], facts["tokens"]) == (seen, tokens)
        again = reelbench(*doctor(server))
        assert (again.returncode, len(server.calls)) == (0, 4)
        assert seen in again.stdout


def test_a_refusal_and_the_servers_own_words_are_shown(reelbench):
    with JudgeServer(lambda _: REFUSED, plays_all=True) as server:
        server.list_models({"id": "/models/q.gguf", "owned_by": "llamacpp"})
        server.show_page("/props", {"total_slots": 2, "default_generation_settings": {}})
        done = reelbench(*doctor(server, "--json"))
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)["m"]
    assert (facts["software"], facts["slots"]) == ("llama.cpp", 2)
    assert "--mmproj" in facts["pictures"]


def test_a_server_without_a_model_is_refused(reelbench):
    done = reelbench("doctor", "--base-url", "http://127.0.0.1:1/v1")
    assert done.returncode == 2
    assert "--model" in done.stderr


# --- the first time that a model is shown frames


def playing(small, counted=lambda number: WORDS + 64 * number, good=GOOD):
    """A server that answers the small questions by `small`, and counts pictures so."""

    def script(call):
        if pictures.is_small_question(call.body):
            return small(call)
        number = sum(piece["type"] != "text" for piece in pictures.pieces(call.body))
        return Answer(good, usage={"prompt_tokens": 60 + counted(number)})

    return script


def wrong(tokens):
    """Answer the small questions wrongly, and count so many tokens for a picture."""

    def small(call):
        number = len(pictures.colours(call.body))
        return Answer("Purple.", usage={"prompt_tokens": WORDS + tokens * number})

    return small


def text_alone(_):
    return WORDS


def of(server, *more, frames="uniform:4"):
    return ("ask", MINI, "--llm", "m", "--llm-url", server.url, "--frames", frames, *more)


def asked(out):
    return json.loads((out / MINI / "result.json").read_text())["provenance"]["asked"]


def kinds(server):
    """What came, in order: `small` questions and benchmark's."""
    small = [pictures.is_small_question(call.body) for call in server.calls]
    return ["small" if is_small else "question" for is_small in small]


def test_two_small_questions_follow_the_first_and_are_kept(reelbench, tmp_path):
    with JudgeServer(playing(seeing), plays_all=True) as server:
        done = reelbench(*of(server, "--output", tmp_path))
        assert done.returncode == 0, done.stderr
        assert "plus 2 test questions" in done.stdout
        assert kinds(server) == ["question", "small", "small", *["question"] * (QUESTIONS - 1)]
        assert (asked(tmp_path)["asked"], asked(tmp_path)["probed"]) == (QUESTIONS, 2)
        other = reelbench(*of(server, "--output", tmp_path / "2", frames="uniform:2"))
        assert other.returncode == 0, other.stderr
        assert kinds(server).count("small") == 2
        assert "probed" not in asked(tmp_path / "2")
        assert "pictures" not in asked(tmp_path / "2")


@pytest.mark.parametrize("words", [("--no-probe",), ("--plan",), ("--frames", "none")])
def test_nobody_is_asked_them_who_did_not_want_it(words, reelbench):
    with JudgeServer(playing(blind, text_alone), plays_all=True) as server:
        reelbench(*of(server, *words))
        assert "small" not in kinds(server)


def test_pictures_that_do_not_arrive_end_the_run_after_one_question(reelbench, tmp_path):
    with JudgeServer(playing(blind, text_alone), plays_all=True) as server:
        done = reelbench(*of(server, "--output", tmp_path))
        assert (done.returncode, kinds(server)) == (1, ["question", "small", "small"])
        for words in ("pictures don't seem to reach m", "--frames none", "--no-probe"):
            assert words in done.stderr
        assert not (tmp_path / MINI / "result.json").exists()
        # Served with its projector now: it is asked anew.
        server.script(playing(seeing))
        done = reelbench(*of(server, "--output", tmp_path, "--no-recheck"))
        assert done.returncode == 0, done.stderr
        assert kinds(server).count("small") == 4


@pytest.mark.parametrize("words", [(), ("--no-recheck",)])
def test_a_resumed_run_whose_pictures_do_not_arrive_ends_by_that(words, reelbench, tmp_path):
    with JudgeServer(playing(seeing), plays_all=True) as server:
        budget = ("--llm-budget", "11", "--llm-concurrency", "1")
        done = reelbench(*of(server, "--output", tmp_path / "1", *budget))
        assert done.returncode == 0, done.stderr
    with JudgeServer(playing(blind, text_alone), plays_all=True) as server:
        done = reelbench(*of(server, "--output", tmp_path / "2", *words))
        assert (done.returncode, kinds(server)) == (1, ["question", "small", "small"])
    assert done.stderr.splitlines()[-1].startswith("reelbench: pictures don't seem to reach")


@pytest.mark.parametrize("status", [403, 404, 429, 500])
def test_a_refusal_of_the_small_questions_ends_nothing(status, reelbench, tmp_path):
    def small(_):
        return Answer(status=status, error={"message": "several images: internal error"})

    with JudgeServer(playing(small), plays_all=True) as server:
        done = reelbench(*of(server, "--output", tmp_path))
        assert done.returncode == 0, done.stderr
        assert kinds(server) == ["question", "small", *["question"] * (QUESTIONS - 1)]
    assert f"answered {status}: several images: internal error); --no-probe" in done.stderr
    assert "asking stopped" not in done.stderr


def test_keep_going_asks_on_and_marks_the_row(reelbench, tmp_path):
    with JudgeServer(playing(blind, text_alone), plays_all=True) as server:
        done = reelbench(*of(server, "--keep-going", "--output", tmp_path))
    assert done.returncode == 0, done.stderr
    assert "pictures don't seem to reach" in done.stderr
    assert asked(tmp_path)["pictures"] == "misnamed"


@pytest.mark.parametrize(
    ("small", "doubt", "line"),
    [
        (wrong(64), "misnamed", "names the colours of small test pictures wrongly"),
        (reversing, "reordered", "names three small test pictures in the wrong order"),
    ],
)
def test_a_weak_model_is_asked_on_and_its_row_has_a_note(small, doubt, line, reelbench, tmp_path):
    with JudgeServer(playing(small), plays_all=True) as server:
        done = reelbench(*of(server, "--output", tmp_path / "out"))
        assert done.returncode == 0, done.stderr
        assert line in done.stderr
        assert asked(tmp_path / "out")["pictures"] == doubt
        again = reelbench(*of(server, "--output", tmp_path / "2", "--no-recheck"))
        assert again.returncode == 0, again.stderr
        assert asked(tmp_path / "2")["pictures"] == doubt
        assert kinds(server).count("small") == 2
    [added] = store.add(tmp_path / "out" / MINI, tmp_path / "store")
    assert added.outcome == "added", added.why
    made = board.make(tmp_path / "store", published=False)
    [row] = [row for row in made.entries if row.model == "m"]
    assert row.unranked is None
    assert line in row.note


@pytest.mark.parametrize(("small", "doubt"), [(uncounted, None), (wrong(-WORDS), "uncounted")])
def test_colours_that_are_right_verify_a_server_that_counts_nothing(
    small, doubt, reelbench, tmp_path
):
    with JudgeServer(playing(small, lambda _: -60), plays_all=True) as server:
        done = reelbench(*of(server, "--output", tmp_path))
    assert done.returncode == 0, done.stderr
    assert asked(tmp_path).get("pictures") == doubt
    assert ("reports no token counts" in done.stderr) == (doubt is not None)


def test_they_are_within_the_budget(reelbench, tmp_path):
    with JudgeServer(playing(seeing), plays_all=True) as server:
        done = reelbench(*of(server, "--llm-budget", "5", "--output", tmp_path))
        assert "the budget of 5 calls" in done.stderr
        assert kinds(server) == ["question", "small", "small", "question", "question"]


# --- no honest server is accused, however weak its model

COUNTS = {
    "64 a picture": lambda pictures: WORDS + 64 * pictures,
    "one a picture": lambda pictures: WORDS + pictures,
    "16 x 16 patches": lambda pictures: WORDS + 196 * pictures,
    "a budget of pixels for all": lambda _: WORDS + 4096,
    "a budget of pixels, 2,048 at most": lambda pictures: WORDS + min(2048, 300 * pictures),
    "a budget for each picture": lambda pictures: WORDS + 4096 // pictures * pictures,
    "none": lambda _: 0,
    "one made-up number": lambda _: 100,
}
ANSWERS = {
    "right": ", ".join,
    "weak": lambda _: "A man walks to the left.",
    "in sentences": lambda named: f"They are {' and then '.join(named)} pictures.",
    "in another language": lambda _: "Rouge.",
    "nothing": lambda _: "",
}


@pytest.fixture
def ask_one(shared_home, tmp_path, monkeypatch):
    """Ask one question and the small ones, of a server of a script; returns what is said."""
    monkeypatch.setenv("REELBENCH_HOME", str(shared_home))

    def ask(script):
        notes = []
        question_set = asking.questions(MINI, "uniform:2", limit=1)
        with JudgeServer(script, plays_all=True) as server:
            model = AskOptions(model="m", url=server.url, cache=tmp_path / "replies.sqlite")
            asking.ask(question_set, model, Options(note=notes.append))
            assert "small" in kinds(server)
        return [line for line in notes if "small" in line]

    return ask


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("answer", ANSWERS)
def test_no_honest_server_is_accused(count, answer, ask_one):
    def script(call):
        number = sum(piece["type"] != "text" for piece in pictures.pieces(call.body))
        content = GOOD
        if pictures.is_small_question(call.body):
            content = ANSWERS[answer](pictures.colours(call.body))
        return Answer(content, usage={"prompt_tokens": COUNTS[count](number)})

    ask_one(script)


@pytest.mark.parametrize(
    "small",
    [
        Answer("", message={"reasoning_content": "It may be red."}),
        Answer("The first", finish="length", usage={"prompt_tokens": WORDS}),
        Answer(status=400, error={"message": "cannot identify image file"}),
        Answer("", finish="content_filter"),
    ],
)
def test_a_small_question_without_an_answer_says_nothing(small, ask_one):
    assert not ask_one(playing(lambda _: small))
