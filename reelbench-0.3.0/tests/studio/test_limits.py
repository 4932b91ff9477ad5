"""How many questions are asked, and how long an answer may be."""

import pytest

import reelbench
from reelbench.base.errors import InputError
from reelbench.tasks.lmms import process


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_a_number_of_questions(limit):
    asked = []
    with pytest.raises(InputError, match=f"limit {limit}: is not a number of questions from 1 up"):
        reelbench.evaluate(
            lambda prompt, *_: asked.append(prompt) or "A",
            "rextime_mini",
            frames="none",
            limit=limit,
        )
    assert asked == []


@pytest.mark.parametrize(
    ("given", "limit", "wanted"),
    [
        ([], (None, False), None),
        ([], (2000, False), "max_new_tokens=2000"),
        ([], (None, True), "max_new_tokens=32768"),
        (["--gen_kwargs", "temperature=0.6,top_p=0.95"], (None, True),
         "temperature=0.6,top_p=0.95,max_new_tokens=32768"),
        (["--gen_kwargs=max_new_tokens=64"], (None, True), "max_new_tokens=64"),
    ],
)  # fmt: skip
def test_lmms_eval_is_told_the_limit_by_its_gen_kwargs(given, limit, wanted):
    arguments = ["--model", "openai", *given]
    assert (
        process.option_value(
            process.with_output_limit(arguments, limit[0], lambda _: None, thinking=limit[1]),
            "--gen_kwargs",
        )
        == wanted
    )


def test_what_was_given_is_kept_and_said():
    told = []
    process.with_output_limit(["--gen_kwargs", "max_new_tokens=64"], 9, told.append)
    assert told == ["--gen_kwargs max_new_tokens=64 stays, and not 9: it was given"]


def test_no_arguments_stay_none():
    assert process.with_output_limit([], None, lambda _: None, thinking=True) == []
