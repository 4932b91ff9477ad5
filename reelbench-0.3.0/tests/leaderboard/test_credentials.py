"""What of a model's arguments is a secret, and never gets into a record."""

import pytest

from reelbench.leaderboard import store
from reelbench.scoring import result_files
from reelbench.tasks.lmms.run_logs import model_of

SECRET = "s3cr3t"  # noqa: S105 - made up
GIVEN = {
    "user and password": "model=m,base_url=https://me:s3cr3t@host/v1",
    "query": "model=m,base_url=https://host/v1?key=s3cr3t&user=me",
    "fragment": "model=m,base_url=https://host/v1#s3cr3t",
    "headers as text": "model=m,default_headers={'Authorization': 'Bearer s3cr3t'}",
    "two headers as text": 'model=m,default_headers={"X-Api-Key": "s3cr3t","Cookie": "s3cr3t"}',
    "headers": {
        "model": "m",
        "default_headers": {"Authorization": "Bearer s3cr3t", "X-Title": "t"},
    },
    "headers in a list": {"model": "m", "clients": [{"extra_headers": {"x-api-key": "s3cr3t"}}]},
    "a scheme by itself": {"model": "m", "default_headers": {"X-Forward": "Basic s3cr3t="}},
    "a password within": {
        "model": "m",
        "client": {"client_secret": "s3cr3t", "db": {"passwd": "s3cr3t"}},
    },
    "an address within": {"model": "m", "proxies": {"https": ["http://me:s3cr3t@proxy:80"]}},
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_no_secret_of_the_models_arguments_gets_into_a_record(given):
    model = model_of({"config": {"model": "openai", "model_args": given}})
    assert SECRET not in model.model_dump_json()
    assert model.id == "m"


def test_what_is_no_secret_stays():
    args = {
        "pretrained": "org/model",
        "attn": {"max_tokens": 5, "sort_by": "keyframe", "url": "https://host/v1"},
    }
    assert model_of({"config": {"model": "openai", "model_args": args}}).args == args


def test_a_store_takes_no_secret_of_a_result_that_has_one(rextime_run, tamper, tmp_path):
    headers = {"Authorization": "Bearer s3cr3t"}
    folder = tamper(
        rextime_run(),
        result=lambda result: result["model"].update(args={"default_headers": headers}),
    )
    [added] = store.add(folder, tmp_path / "store")
    assert added.outcome == "added"
    assert SECRET not in (added.place / "result.json").read_text()
    assert result_files.read(added.place).model.args == {"default_headers": {}}
    assert [again.outcome for again in store.check(added.place)] == ["same"]
    assert SECRET not in (tmp_path / "store" / "ledger.jsonl").read_text()
