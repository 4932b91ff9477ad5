"""Many hostile submissions at once, through the webhook's real process: none keeps the good ones from their comment."""

import hashlib
import json
import sys
import time

import pytest

from reelbench.leaderboard import publish as publishing
from reelbench.leaderboard import store
from reelbench.leaderboard.identity import key_of
from reelbench.registry.records import Result
from tests.leaderboard.test_webhook import DATASET, Served
from tests.servers.hub_repos import Blob
from tests.servers.pull_requests import PullRequest

pytestmark = pytest.mark.slow

GOOD, HOSTILE = 20, 40
HUGE = 10**400
BOMB = b"[" + b"[]," * 40_000_000 + b"1]"


def files_of(result, samples):
    """The files of a result where they belong in the dataset."""
    place = f"results/{key_of(Result.model_validate(result))}"
    return {f"{place}/result.json": json.dumps(result), f"{place}/samples.jsonl": samples}


def hostile(kind, number, result, samples):
    """Files that mean harm, of ten kinds, and the name of the kind."""
    place, result = f"results/evil__{number}/unknown/rextime/{number:012x}", json.loads(json.dumps(result))
    lines = [json.loads(line) for line in samples.splitlines()]
    match kind:
        case "a number without end":
            lines[0]["tokens"] = {"prompt": HUGE, "completion": 1}
        case "not finite":
            lines[0]["seconds"] = float("nan")
        case "deep":
            return {f"{place}/result.json": "[" * 100_000, f"{place}/samples.jsonl": samples}
        case "memory":
            samples, lines = BOMB, []
        case "many folders":
            return {f"{place[:-4]}{n:04x}/result.json": "{}" for n in range(100)}
        case "paths":
            return {f"results/{name}/1/rextime/ab/result.json": "{}" for name in ("a\0b", "..\\..\\evil", "x" * 300)}
        case "a metric":
            result["metrics"]["accuracy"]["value"] = 100.0
        case "an answer without end":
            lines[0]["prediction"] = {"pred_relevant_windows": [[0, 1]], "ans": "A" * 5_000_000}
        case "many answers":
            lines = [line | {"id": f"{n} {line['id']}"} for n in range(2000) for line in lines]
        case "our name":
            result["model"]["id"] = "reelbench/baseline-random"
    samples = "".join(json.dumps(line) + "\n" for line in lines).encode() or samples
    result["provenance"]["samples_sha256"] = hashlib.sha256(samples).hexdigest()  # as a careful forger would
    return {
        f"{place}/result.json": json.dumps(result),
        f"{place}/samples.jsonl": Blob(samples, lfs=len(samples) > 10**7),
    }


KINDS = (
    *("a number without end", "not finite", "deep", "memory", "many folders"),
    *("paths", "a metric", "an answer without end", "many answers", "our name"),
)


@pytest.mark.parametrize("submitters", [4, 40])
def test_good_submissions_are_not_kept_waiting_by_hostile_ones(submitters, hub, rextime_run, tmp_path, monkeypatch):
    run = rextime_run("first", model="org/first", right=8)
    store.add(run, tmp_path / "museum")
    publishing.publish(tmp_path / "museum", dataset=DATASET)
    table = hub.repo(DATASET)
    result, samples = json.loads((run / "result.json").read_text()), (run / "samples.jsonl").read_text()

    told, commented, said = {}, {}, {}
    add_comment = PullRequest.add_comment

    def timed(self, text, author):
        commented[self.num] = time.monotonic()
        return add_comment(self, text, author)

    monkeypatch.setattr(PullRequest, "add_comment", timed)

    def offer(author, files):
        pull_request = PullRequest(len(table.pull_requests) + 1, "results", "", author)
        pull_request.add_comment("", author)
        table.pull_requests.append(pull_request)
        table.refs[pull_request.ref] = table.head
        table.commit(files, branch=pull_request.ref, author=author)
        return pull_request

    server = Served(hub, tmp_path)
    try:
        server.until("0 open pull requests")
        bad = [
            offer(f"evil{n % submitters}", hostile(KINDS[n % len(KINDS)], n, result, samples)) for n in range(HOSTILE)
        ]
        good = []
        for n in range(GOOD):
            result["model"]["id"] = f"user{n}/model"
            good.append(offer(f"user{n}", files_of(result, samples)))
        commented.clear()
        for pull_request in (*bad, *good):
            told[pull_request.num] = time.monotonic()
            [_, pushed] = pull_request.payloads(table.id, "dataset", hub.url, table.refs[pull_request.ref])
            assert server.post(pushed) == 202
        left = {pull_request.num for pull_request in (*bad, *good)}
        while left:
            line = server.until("pull request ")
            number = int(line.split("pull request ")[1].split(":")[0].split(";")[0])
            said[number] = line.strip()
            if "not in time" not in line:
                left.discard(number)
    finally:
        server.stop()
    waited = {number: commented[number] - told[number] for number in commented}
    longest = max(waited[one.num] for one in good)
    sys.stdout.write(f"{submitters} hostile submitters: a good submission waited {longest:.1f} s at most\n")
    assert all(one.comments[0].startswith("### Reelbench: 1 of 1 result holds") for one in good)
    for kind, pull_request in zip(KINDS * HOSTILE, bad, strict=False):
        words = " ".join(pull_request.comments[0].split()) if pull_request.comments else said[pull_request.num]
        sys.stdout.write(f"{kind}: {waited.get(pull_request.num, -1):.1f} s: {words:.400}\n")
        assert words.startswith("### Reelbench:"), (kind, words)
        assert not words.startswith("### Reelbench: 1 of 1 result holds"), kind
