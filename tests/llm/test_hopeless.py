"""Work without hope ends early: many failures of any kind, and no answer among them."""

import asyncio

import pytest

from reelbench.judges.judge_options import JudgeOptions
from reelbench.llm.ask_options import AskOptions, NamedModelOptions
from reelbench.llm.asker import Asker
from reelbench.llm.hopeless import ReplyOutcomes
from reelbench.llm.reading import UnreadableError
from tests.servers.judge import Answer, JudgeServer

HELLO = "Hello! How can I help you today?"
MOST = 25
"""Calls of a judge that never gives a score."""


def number(text):
    if not text.isdigit():
        raise UnreadableError("it is no number")
    return int(text)


def ask(server, *, questions=100, accepts_cut_off=False, kind=AskOptions, **options):
    async def go():
        given = kind(model="m", url=server.url, backoff=0.01, **options)
        async with Asker(given, on_note=lambda _: None, accepts_cut_off=accepts_cut_off) as asker:
            asking = [
                asker.ask([{"role": "user", "content": f"{place}?"}], number)
                for place in range(questions)
            ]
            return await asyncio.gather(*asking), asker.notes

    return asyncio.run(go())


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(HELLO), "unreadable"),
        (Answer("", usage={"completion_tokens": 0}), "without text"),
        (Answer(None, finish="content_filter"), "refused"),
        (Answer(None, finish="length"), "cut_off"),
    ],
)
def test_failures_without_exception_end_asking_in_one_line(answer, words):
    with JudgeServer(lambda _: answer) as server:
        results, notes = ask(server)
        assert len(server.calls) <= MOST
        assert server.most_in_flight <= 4
        assert {result.value for result in results} == {None}
        [line] = [note for note in notes if "gave no answer" in note]
        assert "gave no answer in 20 replies" in line
        assert words in line
        assert "--keep-going" in line


@pytest.mark.parametrize(
    ("kind", "finish", "advice"),
    [
        (AskOptions, "stop", "name another model; --keep-going"),
        (JudgeOptions, "stop", "name another model, or try --judge-structured always"),
        (JudgeOptions, "length", "(--judge-max-tokens)"),
        (NamedModelOptions, "length", "(--max-tokens)"),
    ],
)
def test_the_advice_is_one_that_the_command_takes(kind, finish, advice):
    with JudgeServer(lambda _: Answer(HELLO, finish=finish)) as server:
        _, (line,) = ask(server, kind=kind)
    assert advice in line


def test_the_line_shows_what_came_and_keep_going_asks_on():
    with JudgeServer(lambda _: Answer(HELLO)) as server:
        _, (line,) = ask(server)
        assert repr(HELLO) in line
        _, notes = ask(server, questions=20, keep_going=True)
        # Three replies to each of these, and those that were paid for are kept.
        first_questions = {f"{place}?" for place in range(20)}
        assert sum(call.user in first_questions for call in server.calls) == 60
        assert notes == []


def test_one_answer_among_them_is_an_exception():
    with JudgeServer(lambda call: Answer("7" if call.number == 10 else HELLO)) as server:
        results, notes = ask(server)
        assert (len(server.calls), notes) == (3 * 100 - 2, [])
        assert sum(result.value == 7 for result in results) == 1


def test_a_model_that_gave_answers_before_is_asked_many_at_once():
    with JudgeServer(lambda _: Answer("7", delay=0.05)) as server:
        ask(server, questions=1)
        first = len(server.calls)
        ask(server, questions=9)
        assert server.most_in_flight == 8
        assert first == 1


def test_a_model_that_isn_t_there_is_told_with_those_that_are():
    error = {"message": "The model `m` does not exist."}
    with JudgeServer(lambda _: Answer(status=404, error=error)) as server:
        names = [f"model-{place}" for place in range(9)]
        server.list_models(*({"id": name} for name in [*names, "m-4b"]))
        _, (line,) = ask(server)
        assert len(server.calls) <= 4
    assert "does not exist.; it has m-4b, model-0, " in line
    assert " and 2 more; asking stopped" in line


def test_the_finding_that_shows_the_failure_is_named():
    outcomes = ReplyOutcomes()
    outcomes.note_failure("media_not_seen", "A", "the server counted 10 tokens for 32 pictures")
    line = outcomes.line("the model", {})
    assert "the server counted 10 tokens for 32 pictures; the model doesn't see" in line
    assert "`reelbench doctor --model MODEL --base-url URL`" in line
