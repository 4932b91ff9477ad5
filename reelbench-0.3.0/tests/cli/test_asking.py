"""The options of a language model: models by role, their servers, and what is refused."""

import pytest

from reelbench.base.errors import InputError
from reelbench.terminal.asking_options import (
    RequestOptions,
    by_role,
    extra_of,
    llm_options,
    only_model,
    shared_budget,
)


def test_a_model_for_all_and_one_for_a_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REELBENCH_LLM_API_KEY", "k")
    llm = llm_options(
        llm=["qwen3:8b", "expert=org/Big@v2@https://there:1/v1"],
        llm_url="https://here:2/v1",
        requests=RequestOptions(llm_budget="7"),
    )
    roles = by_role(llm, ("expert", "skeptic"))
    assert (roles["expert"].model, roles["expert"].host) == ("org/Big@v2", "there:1")
    assert (roles["skeptic"].model, roles["skeptic"].host) == ("qwen3:8b", "here:2")
    assert roles["skeptic"].api_key == "k"
    assert shared_budget(llm).limit.calls == 7


def test_the_only_model_takes_its_server_beside_its_name() -> None:
    options = only_model(
        llm_options(
            llm=["m@http://there:1/v1"],
            requests=RequestOptions(llm_extra='{"seed": 1}', llm_timeout=5),
        )
    )
    assert (options.model, options.url, dict(options.extra), options.timeout) == (
        "m",
        "http://there:1/v1",
        {"seed": 1},
        5,
    )


@pytest.mark.parametrize(
    ("llm", "roles", "line"),
    [
        ([], ("",), "no model is named; give --llm MODEL"),
        ([], ("expert", "skeptic"), "no model is named for expert, skeptic"),
        (["expert=m"], ("expert", "skeptic"), "no model is named for skeptic"),
        (["exprt=m", "n"], ("expert",), "no role is called exprt; there are expert"),
        (["team=blue", "m"], ("",), "this command has no roles"),
        (["a", "b"], ("",), "two models for every role"),
        (["a=b", "a=c"], ("a",), "two models for a"),
    ],
)
def test_what_does_not_fit_is_one_line(llm: list[str], roles: tuple[str, ...], line: str) -> None:
    with pytest.raises(InputError) as error:
        by_role(llm_options(llm=llm, llm_url="http://here/v1", requests=RequestOptions()), roles)
    assert line in str(error.value)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[1]", "not one JSON object"),
        ("{", "not JSON"),
        ('{"a": NaN}', "NaN is not a JSON value"),
        ('{"messages": []}', "'messages' is set by Reelbench itself"),
        ('{"stream": true}', "'stream' is set by Reelbench itself"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_what_can_not_be_sent_along_is_refused(text: str, line: str) -> None:
    with pytest.raises(InputError, match="--judge-extra") as error:
        extra_of("--judge-extra", text)
    assert line in str(error.value)
