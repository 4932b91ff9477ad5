"""Pull requests by the thousand, hostile ones among good ones, through the webhook's real process at a local Hub.

The Hub's webhooks tell of all at once; `huggingface_hub`'s own client brings each. A good one has
its comment in the end, a hostile one has a comment that refuses it, none has two, and nothing that
was in the table changes.
"""

import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from reelbench.leaderboard import publish as publishing
from reelbench.leaderboard import store
from reelbench.leaderboard.identity import key_of
from reelbench.registry.records import Result
from tests.leaderboard.test_webhook import DATASET, Served
from tests.servers.hub import HubServer
from tests.servers.hub_repos import Blob, Repo, Token
from tests.servers.pull_requests import PullRequest

GOOD = "good"
KINDS = (
    *("a number without end", "not finite", "deep", "memory", "many folders", "paths", "a metric"),
    *("an answer without end", "many answers", "our name"),
    *("a checker's word", "the board's files", "files beside results", "a file too many"),
)
HUGE = 10**400
CHECKED = (
    '{"judged": true, "ids": "checked", "stated": [], "account": "held", "taken": "1970-01-01", '
    '"rejudged": {"items": 200, "scores": 200, "agree": 200, "unscored": 0}}'
)
BESIDE = {
    "a checker's word": {"check.json": CHECKED},
    "a file too many": {"evil.html": "<script>alert(1)</script>"},
}
"""Files of a result's folder that are none of a result's."""
FORGED: dict[str, dict[str, str]] = {
    "a checker's word": {},
    "a file too many": {},
    "the board's files": {
        "results/ledger.jsonl": "{}\n",
        "results/settings.yaml": "judges: [evil]\n",
        "results/aliases.yaml": "me/good: [held/good]\n",
        "results/withheld/rextime.json": '{"benchmark": "rextime", "tables": []}',
    },
    "files beside results": {
        "settings.yaml": "judges: [evil]\n",
        "aliases.yaml": "me/good: [held/good]\n",
        "withheld/rextime.json": "{}",
    },
}
"""What no submitter writes, beside a result that holds."""
Files = dict[str, str | bytes | Blob]


@cache
def bomb() -> bytes:
    """Return a line that unpacks to more than a process may have; made once, and not when this is imported."""
    return b"[" + b"[]," * 40_000_000 + b"1]"


def files_of(result: dict[str, Any], samples: str) -> Files:
    """Return the files of a result where they belong in the dataset."""
    place = f"results/{key_of(Result.model_validate(result))}"
    return {f"{place}/result.json": json.dumps(result), f"{place}/samples.jsonl": samples}


def hostile(kind: str, number: int, result: dict[str, Any], samples: str) -> Files:
    """Return files that mean harm, of one of ten kinds."""
    place, result = (
        f"results/evil__{number}/unknown/rextime/{number:012x}",
        json.loads(json.dumps(result)),
    )
    lines = [json.loads(line) for line in samples.splitlines()]
    match kind:
        case "a number without end":
            lines[0]["tokens"] = {"prompt": HUGE, "completion": 1}
        case "not finite":
            lines[0]["seconds"] = float("nan")
        case "deep":
            return {f"{place}/result.json": "[" * 100_000, f"{place}/samples.jsonl": samples}
        case "memory":
            lines = []
        case "many folders":
            return {f"{place[:-4]}{n:04x}/result.json": "{}" for n in range(100)}
        case "paths":
            return {
                f"results/{name}/1/rextime/ab/result.json": "{}"
                for name in ("a\0b", "..\\..\\evil", "x" * 300)
            }
        case "a checker's word" | "the board's files" | "files beside results" | "a file too many":
            return {
                f"{place}/result.json": json.dumps(result),
                f"{place}/samples.jsonl": samples,
                **FORGED[kind],
                **{f"{place}/{name}": text for name, text in BESIDE.get(kind, {}).items()},
            }
        case "a metric":
            result["metrics"]["accuracy"]["value"] = 100.0
        case "an answer without end":
            lines[0]["prediction"] = {"pred_relevant_windows": [[0, 1]], "ans": "A" * 5_000_000}
        case "many answers":
            lines = [line | {"id": f"{n} {line['id']}"} for n in range(2000) for line in lines]
        case _:
            result["model"]["id"] = "reelbench/baseline-random"
    data = "".join(json.dumps(line) + "\n" for line in lines).encode() or bomb()
    result["provenance"]["samples_sha256"] = hashlib.sha256(
        data
    ).hexdigest()  # as a careful forger would
    return {
        f"{place}/result.json": json.dumps(result),
        f"{place}/samples.jsonl": Blob(data, lfs=len(data) > 10**7),
    }


class Offered(NamedTuple):
    """A pull request: its kind, and what became of it."""

    kind: str
    waited: float
    said: str
    comments: list[str]

    def outcome(self) -> str:
        """Return `held` of a good one that was commented, `refused` of a hostile one, or how it fell."""
        words = " ".join(self.comments[0].split()) if self.comments else ""
        if len(self.comments) != 1 or not words.startswith("### Reelbench:"):
            return f"{len(self.comments)} comments; the webhook says {self.said!r}"
        holds = words.startswith("### Reelbench: 1 of 1 result is valid")
        if holds != (self.kind == GOOD):
            return words[:300]
        return "held" if holds else "refused"


def flood(hub: HubServer, place: Path, run: Path, kinds: list[tuple[str, str]]) -> list[Offered]:
    """Publish a scored run, offer pull requests (kind, submitter), tell the webhook of all; return what became of them.

    The process's Hub token has to be one who may write the dataset.
    """
    store.add(run, place / "museum")
    publishing.publish(place / "museum", dataset=DATASET)
    table = hub.repo(DATASET)
    result, samples = (
        json.loads((run / "result.json").read_text("utf-8")),
        (run / "samples.jsonl").read_text("utf-8"),
    )
    program = Path(sys.executable).with_name("reelbench")
    server = Served(hub, place, program)
    try:
        server.until("0 open pull requests")
        offers = []
        for number, (kind, author) in enumerate(kinds):
            if kind == GOOD:
                result["model"]["id"] = f"{author}/model{number}"
            files = (
                files_of(result, samples)
                if kind == GOOD
                else hostile(kind, number, result, samples)
            )
            offers.append(_offer(table, author, files))
        head, told = table.head, time.monotonic()
        for one in offers:
            [_, pushed] = one.payloads(table.id, "dataset", hub.url, table.refs[one.ref])
            if server.post(pushed) != 202:  # noqa: PLR2004
                raise SystemExit(f"pull request {one.num}: the webhook didn't take the call")
        said, waited, left = dict[int, str](), dict[int, float](), {one.num for one in offers}
        while left:
            line = server.until("pull request ").strip()
            number = int(line.split("pull request ")[1].split(":")[0].split(";")[0])
            said[number], waited[number] = line, time.monotonic() - told
            if "not in time" not in line:
                left.discard(number)
    finally:
        server.stop()
    if table.head != head:
        raise SystemExit("the table has changed")
    return [
        Offered(kind, waited[one.num], said[one.num], one.comments)
        for (kind, _), one in zip(kinds, offers, strict=True)
    ]


def _offer(table: Repo, author: str, files: Files) -> PullRequest:
    """Open a pull request, as the Hub does for whoever uploads with `create_pr`."""
    made = PullRequest(len(table.pull_requests) + 1, "results", "", author)
    made.add_comment("", author)
    table.pull_requests.append(made)
    table.refs[made.ref] = table.head
    table.commit(files, branch=made.ref, author=author)
    return made


@contextmanager
def local_hub(place: Path) -> Iterator[HubServer]:
    """Yield a local Hub to which this process's client speaks as the museum's curator."""
    with HubServer() as hub, pytest.MonkeyPatch.context() as patch:
        hub.use(patch, place / "hf")
        hub.tokens |= {"hf_museum": Token("curator", orgs=("museum",)), "hf_bot": Token("bot")}
        patch.setenv("HF_TOKEN", "hf_museum")
        yield hub


def attack(rng: Random, place: Path, number: int, told: Callable[[str], Any]) -> None:
    """Offer that many, half of them good, in any order; say how long they took."""
    import reelbench
    from reelbench.data import loading

    place.mkdir()
    rows = loading.locate("rextime", "mini").read()
    answers = [
        {"id": row["id"], "prediction": f"{row['answer'] if at % 3 else 'Z'} [0, 1]"}
        for at, row in enumerate(rows)
    ]
    reelbench.score("rextime_mini", answers, model="org/first").save(place / "run")
    kinds = [(GOOD, f"user{at}") for at in range(number // 2)]
    kinds += [(KINDS[at % len(KINDS)], f"evil{at % 40}") for at in range(number - number // 2)]
    rng.shuffle(kinds)
    with local_hub(place) as hub:
        done = flood(hub, place, place / "run", kinds)
    for at, one in enumerate(done):
        told(f"pull requests: {one.kind}").count(f"pull request {at + 1}", one.outcome())
    seconds = max(one.waited for one in done)
    comments = Counter(len(one.comments) for one in done)
    print(
        f"{number} pull requests in {seconds:.0f} s, {seconds / number:.2f} s each; comments: "
        f"{dict(comments)}"
    )
