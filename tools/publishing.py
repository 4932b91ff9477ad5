"""A drawn life: add, hand in, check, merge, withdraw, rename, rejudge, publish, clone, with faults and kills.

    python -m tools.publishing --seed 1 --steps 1000

Two maintainers, five submitters and one attacker use our commands, through the real client, on the
local Hub of the tests. Ends with 1 where a row was lost, moved or altered, a withdrawn row stayed,
a word of the attacker's is on the page or in the dataset, a planted word (a secret, an answer that
is withheld) is in a file of any commit or in what a command printed, a command said what isn't so,
or the board of a clone is another than the published one.
"""

import argparse
import hashlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from subprocess import CompletedProcess
from typing import Any

DATASET, SPACE, ROWS = "museum/results", "museum/board", "museum/kitchen"
MAINTAINERS, SUBMITTERS, MODELS = ("ada", "ben"), ("cem", "dia", "eli", "fay", "gus"), 3
ATTACKER = "mal"
JUDGES = ("first-judge", "second-judge", "third-judge")
FORGED = ("results/ledger.jsonl", "results/settings.yaml", "settings.yaml", "results/aliases.yaml")
REQUESTS, FAULTS, PER = 40, 30, 500
"""Pull requests and faults in so many steps."""
QUESTIONS = 24
START = datetime(2026, 1, 1, tzinfo=UTC)
SPEC = """id: {name}
title: {name}
kind: exact
source: {{file: rows.jsonl}}
columns: {{id: id, video: video, question: q, answer: a}}
languages: [en]
{more}"""
BENCHMARKS = {
    "kitchen": "licence: cc-by-4.0\n",
    "pantry": "",
    "larder": "licence: cc-by-4.0\nhidden_answers: true\n",
}
"""Open; without a licence; with answers that are withheld."""
HUB, CDN = "hub", "cdn"
BREAKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    *(
        (HUB, "GET /api/(datasets|spaces)/.*", {"status": status, "headers": {"Retry-After": "0"}})
        for status in (429, 503)
    ),
    *(
        (HUB, "GET /api/(datasets|spaces)/.*", more)
        for more in ({"status": 500}, {"hang_up": True}, {"cut_at": 40})
    ),
    *((HUB, "POST .*/commit/.*", {"status": status}) for status in (403, 409, 412, 429, 500)),
    *(
        (HUB, "POST .*/commit/.*", more)
        for more in ({"hang_up": True}, {"lose": True}, {"lose": True})
    ),
    *(
        (HUB, "POST .*/preupload/.*", more)
        for more in ({"status": 500}, {"hang_up": True}, {"lose": True})
    ),
    *(
        (HUB, "GET .*/resolve/.*", more)
        for more in ({"cut_at": 20}, {"corrupt": True}, {"status": 503}, {"hang_up": True})
    ),
    *((HUB, "POST .*/lfs/objects/.*", more) for more in ({"status": 500}, {"hang_up": True})),
    *((HUB, "POST /api/repos/create", more) for more in ({"lose": True}, {"status": 500})),
    (HUB, "GET /api/whoami-v2", {"status": 500}),
    *(
        (CDN, "PUT /upload/.*", more)
        for more in ({"hang_up": True}, {"lose": True}, {"status": 403}, {"status": 500})
    ),
)
_ENDED = {0, 1, 2}
_KILLED = -9
_OF_OTHERS = (0.15, 0.02)
"""Share of another's models in what a maintainer scores, and in what a submitter scores."""
_KILLS = 0.03
"""Share of the commands that are killed before one of the changes that they make to a disk."""


@dataclass
class Person:
    """Somebody with a token, a store, and runs of their own models."""

    name: str
    token: str
    home: Path

    @property
    def store(self) -> Path:
        """Their results store."""
        return self.home / "store"


@dataclass
class World:
    """The Hub, who uses it, and what was seen of it so far."""

    rng: Random
    place: Path
    hub: Any
    forks: Any
    people: dict[str, Person]
    planted: dict[str, str]
    bases: dict[str, list[Path]]
    judge_url: str
    told: Counter[str] = field(default_factory=Counter)
    fell: list[str] = field(default_factory=list)
    step: int = 0
    rows: dict[str, Any] = field(default_factory=dict)
    attacks: set[int] = field(default_factory=set)
    shown: set[str] = field(default_factory=set)
    looked: set[tuple[str, str]] = field(default_factory=set)
    seen: dict[str, int] = field(default_factory=dict)
    history: list[str] = field(default_factory=list)
    cloned: set[str] = field(default_factory=set)
    """Who began with a clone, which has no samples that may not be passed on."""
    merged: set[str] = field(default_factory=set)
    """Keys whose files a merge changed, and that no published ledger has so far."""

    def fall(self, what: str) -> None:
        """Keep what does not hold."""
        self.fell.append(f"step {self.step} ({'; '.join(self.history[-1:])}): {what}")
        print(f"FELL {self.fell[-1]}", flush=True)

    # --- what people do ---

    def chance(self, share: float) -> bool:
        """Draw whether something that happens so often happens now."""
        return self.rng.random() < share

    def run(self, person: Person, *command: str) -> CompletedProcess[str]:
        """Run a command of ours as a person, and hold what it says to the planted words."""
        environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HF_", "REELBENCH_"))
        }
        environ |= self.hub.env(person.home / "hf") | {"HF_TOKEN": person.token, "COLUMNS": "160"}
        environ |= {
            "REELBENCH_HOME": str(person.home / "reelbench"),
            "XDG_CONFIG_HOME": str(person.home),
        }
        environ |= {
            f"{name}_API_KEY": self.planted[f"{name}_API_KEY"]
            for name in ("OPENAI", "REELBENCH_JUDGE")
        }
        environ["WEBHOOK_SECRET"] = self.planted["WEBHOOK_SECRET"]
        if self.chance(_KILLS):
            environ["KILL_AT_CHANGE"] = f"{self.rng.randrange(1, 60)} {person.home / 'changes'}"
        done = self.forks.run(
            [
                "leaderboard" if command[0] != "cards" else "cards",
                *command[command[0] == "cards" :],
            ],
            person.home,
            environ,
            600,
        )
        said = done.stdout + done.stderr
        last = " | ".join(done.stderr.strip().splitlines()[-1:])
        self.history.append(f"{person.name}: {' '.join(command)} -> {done.returncode}: {last}")
        if done.returncode == _KILLED and "KILL_AT_CHANGE" in environ:
            self.told["killed"] += 1
        elif done.returncode not in _ENDED or "Traceback" in said:
            self.fall(f"ended with {done.returncode}: {said[-800:]}")
        for what in self.planted_in(said.encode()):
            self.fall(f"{what} was printed")
        return done

    def score(self, person: Person) -> None:
        """File a result in a store: of one's own models, now and then of another's, new or older than what is there."""
        name = self.rng.choice([*BENCHMARKS, "kitchen", "rextime", "curve"])
        if name in ("pantry", "larder") and person.name in (
            "ben",
            *self.cloned,
        ):  # rows of one such table come from one store
            name = "kitchen"
        owner = person.name
        if self.chance(_OF_OTHERS[person.name in SUBMITTERS]):
            owner = self.rng.choice([*MAINTAINERS, *SUBMITTERS])
        minute = self.step if self.chance(0.8) else self.rng.randrange(self.step + 1)
        run = person.home / "runs" / f"{self.step}"
        shutil.copytree(self.rng.choice(self.bases[name]), run)
        stated = json.loads((run / "result.json").read_text("utf-8"))
        stated["model"] |= {
            "id": f"{owner}/m{self.rng.randrange(MODELS)}",
            "args": {"api_key": self.planted["api_key"]},
        }
        stated["provenance"]["date"] = (
            START + timedelta(minutes=minute, seconds=self.step % 60)
        ).isoformat()
        (run / "result.json").write_text(json.dumps(stated), encoding="utf-8")
        done = self.run(person, "add", str(run), "--store", str(person.store))
        if "add replaces nothing" in done.stderr and self.chance(0.5):
            self.told["replaced"] += 1
            done = self.run(person, "replace", str(run), "--store", str(person.store))
        if done.returncode:
            self.told["score: refused"] += 1

    def withdraw(self, person: Person) -> None:
        """Withdraw a row."""
        rows = sorted(self.state_of_store(person).rows)
        if rows:
            key = self.rng.choice(rows)
            self.run(person, "remove", key, "--reason", "drawn", "--store", str(person.store))
            self.told["withdrawn"] += 1

    def restore(self, person: Person) -> None:
        """Put a withdrawn row back."""
        keys = sorted({key for key, _ in self.state_of_store(person).withdrawn})
        if keys:
            self.run(person, "restore", self.rng.choice(keys), "--store", str(person.store))

    def rename(self, person: Person) -> None:
        """Give a model another name."""
        models = sorted({row.model for row in self.state_of_store(person).rows.values()})
        if models:
            old = self.rng.choice(models)
            self.run(person, "rename", old, f"{old}-{self.step}", "--store", str(person.store))
            self.told["renamed"] += 1

    def rejudge(self, person: Person) -> None:
        """Ask another judge about the judged answers of a store, and file what it says beside them."""
        if not any("/curve/" in key for key in self.state_of_store(person).rows):
            return
        judge = ["--judge", self.rng.choice(JUDGES[1:]), "--judge-url", self.judge_url]
        out = person.home / "rejudged"
        done = self.run(person, "rejudge", "--store", str(person.store), "--out", str(out), *judge)
        self.told[f"rejudge: {done.returncode}"] += 1

    def state_of_store(self, person: Person) -> Any:  # noqa: ANN401 - `BoardState`
        """Return what a person's ledger says."""
        from reelbench.leaderboard import board_state

        return board_state.read(person.store)

    def attack(self, _: Person) -> None:
        """Offer forged words of every kind beside an honest result's files."""
        from huggingface_hub import CommitOperationAdd, HfApi

        main = self.hub.repo(DATASET).files()
        result = self.rng.choice(self.bases["kitchen"])
        stated = json.loads((result / "result.json").read_text("utf-8"))
        stated["model"]["id"] = f"{ATTACKER}/m"
        key = f"results/{ATTACKER}__m/unknown/kitchen/{self.step:012x}"
        files = {
            f"{key}/result.json": json.dumps(stated).encode(),
            f"{key}/samples.jsonl": (result / "samples.jsonl").read_bytes(),
        }
        others = sorted(path for path in main if path.endswith("/result.json"))
        kind = self.rng.randrange(len(FORGED) + 3)
        if kind < len(FORGED):
            files[FORGED[kind]] = f'{{"forged": "{ATTACKER}/"}}\n'.encode()
        elif kind == len(FORGED):
            files[f"{key}/check.json"] = b'{"judged": true, "account": "ada"}'
        elif others and kind == len(FORGED) + 1:
            path = self.rng.choice(others)
            files[path] = main[path].replace(b'"n": ', b'"n":  ')
        elif others:
            folder = self.rng.choice(others).rpartition("/")[0]
            files[f"{folder}/calibration.json"] = b"{}"
        api = HfApi(endpoint=self.hub.url, token=self.people[ATTACKER].token)
        info = api.create_commit(
            DATASET,
            [CommitOperationAdd(path, data) for path, data in files.items()],
            commit_message="my results",
            repo_type="dataset",
            create_pr=True,
        )
        self.attacks.add(int(str(info.pr_url).rpartition("/")[2]))
        self.told["attacks"] += 1

    def downloaded(self, person: Person, revision: str, name: str) -> Path | None:
        """Get the dataset at a revision; None where a fault was ordered."""
        from huggingface_hub import snapshot_download

        folder = person.home / name
        shutil.rmtree(folder, ignore_errors=True)
        try:
            snapshot_download(
                DATASET,
                repo_type="dataset",
                revision=revision,
                local_dir=folder,
                endpoint=self.hub.url,
                token=person.token,
            )
        except Exception as error:  # noqa: BLE001 - a fault was ordered, and the user sees the client's own words
            self.told[f"download: {type(error).__name__}"] += 1
            return None
        shutil.rmtree(folder / ".cache", ignore_errors=True)
        return folder

    def give_way(self, person: Person, said: str) -> None:
        """Do what a contradiction's line says: withdraw one's own, or begin with a clone."""
        named = re.search(r"withdraw your own with `reelbench leaderboard remove ([^\s`]+)", said)
        if named is not None:
            self.told["gave way"] += 1
            self.run(
                person, "remove", named[1], "--reason", "gave way", "--store", str(person.store)
            )
            return
        self.told["began with a clone"] += 1
        self.cloned.add(person.name)
        shutil.rmtree(person.store)
        for _ in range(5):  # a kill or a fault may end it
            done = self.run(person, "clone", DATASET, "--store", str(person.store))
            if done.returncode == 0:
                self.file_merged(person, done.stderr)
                return
            self.told[f"clone: {outcome(done)}"] += 1

    def file_merged(self, person: Person, said: str) -> None:
        """File the corrections that were merged and that no published ledger has, as `clone` says."""
        for command in re.findall(r"is filed with `reelbench leaderboard ([^`]+)`", said):
            self.told["filed a merged correction"] += 1
            self.run(person, *command.split())

    def publish(self, person: Person) -> None:
        """Publish as a maintainer; where the store lacks something, mostly bring it in and go on."""
        which = self.rng.choice([("--dataset", "--repo")] * 4 + [("--dataset",), ("--repo",)])
        names = {"--dataset": DATASET, "--repo": SPACE}
        command = [
            "publish",
            "--store",
            str(person.store),
            *(word for one in which for word in (one, names[one])),
        ]
        if self.chance(0.1):
            heads = self.heads()
            self.run(person, *command, "--dry-run")
            if self.heads() != heads:
                self.fall("a dry run changed something")
        for again in (True, True, False):
            heads = self.heads()
            done = self.run(person, *command)
            self.hold_words(done, heads)
            self.told[f"publish: {outcome(done)}"] += 1
            if done.returncode == 0 or not again or self.chance(0.2):
                return
            if "two maintainers did different things" in done.stderr:
                self.give_way(person, done.stderr)

    def hand_in(self, person: Person) -> None:
        """Offer what a submitter's store has."""
        heads, main = self.heads(), self.dates("main")
        known = len(self.hub.repo(DATASET).pull_requests)
        done = self.run(
            person, "publish", "--store", str(person.store), "--dataset", DATASET, "--create-pr"
        )
        self.hold_words(done, heads)
        self.told[f"hand in: {outcome(done)}"] += 1
        requests = self.hub.repo(DATASET).pull_requests
        self.told["pull requests"] += len(requests) - known
        if [pr.author for pr in requests if pr.status == "open"].count(person.name) > 1:
            self.fall("a second pull request beside an open one")
        for request in requests:
            ref = self.hub.repo(DATASET).refs[request.ref]
            if ref == heads.get(f"{DATASET} {request.ref}"):
                continue
            last_commit = self.hub.repo(DATASET).commits[ref]
            touched = {key_of(path) for path in self.paths_changed(last_commit.parent, request)}
            offered = self.dates(request.ref)
            for key in touched:
                if not key:
                    self.fall(f"pull request {request.num} changes what is no result")
                elif key in main and offered[key] <= main[key]:
                    self.fall(
                        f"pull request {request.num} offers {key} of {offered[key]}, and "
                        f"{main[key]} is there"
                    )

    def end_one(self, person: Person) -> None:
        """Merge an open pull request, or close it."""
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError

        waiting = [pr for pr in self.hub.repo(DATASET).pull_requests if pr.status == "open"]
        if not waiting:
            return
        chosen, api = self.rng.choice(waiting), HfApi(endpoint=self.hub.url, token=person.token)
        # As the webhook and the workflow do: with main as it was when the pull request left it.
        left_main_at = self.left_main_at(chosen)
        base = self.downloaded(person, left_main_at, "base")
        offered = self.downloaded(person, f"refs/pr/{chosen.num}", "offered")
        if base is None or offered is None:
            return
        done = self.run(
            person, "check", str(offered), "--base", str(base), "--account", chosen.author
        )
        what = "closed"
        if chosen.num in self.attacks and done.returncode == 0:
            self.fall(f"pull request {chosen.num} is an attack, and the check says that it holds")
        if done.returncode == 0 and not self.chance(0.15):
            try:
                api.merge_pull_request(DATASET, chosen.num, repo_type="dataset")
                what = "merged"
            except HfHubHTTPError:
                what = "closed for conflicts"
        if what != "merged":
            api.change_discussion_status(DATASET, chosen.num, "closed", repo_type="dataset")
        self.told[what] += 1
        self.history.append(f"{person.name}: {what} {chosen.num}")
        if what == "merged":
            paths = self.paths_changed(left_main_at, chosen)
            self.merged |= {key_of(path) for path in paths}
            command = [str(offered), "--store", str(person.store), "--account", chosen.author]
            done = self.run(person, "add", *command)
            if "add replaces nothing" in done.stderr:
                self.told["merged: replaced"] += 1
                self.run(person, "replace", *command)

    def left_main_at(self, request: Any) -> str:  # noqa: ANN401 - of the local Hub
        """Return the last commit that a pull request has in common with main."""
        repo = self.hub.repo(DATASET)
        main = {commit.oid for commit in repo.history()}
        commit = repo.refs[request.ref]
        while commit not in main:
            commit = repo.commits[commit].parent
        return commit

    def paths_changed(self, base: str, request: Any) -> set[str]:  # noqa: ANN401 - of the local Hub
        """Return the paths that a pull request adds or changes since a commit."""
        repo = self.hub.repo(DATASET)
        new = repo.commits[repo.refs[request.ref]]
        before = repo.commits[base].files
        return {path for path, blob in new.files.items() if before.get(path) != blob}

    def cards(self, person: Person) -> None:
        """Push a card, mostly with its rows, to one's own people's repository or another's."""
        name = self.rng.choice(list(BENCHMARKS))
        repo = f"museum/{name}"
        heads = self.heads()
        done = self.run(
            person,
            "cards",
            "push",
            str(self.place / name),
            "--repo",
            repo,
            *self.rng.choice([["--with-data"], []]),
        )
        self.told[f"cards: {outcome(done)}"] += 1
        own = person.name in MAINTAINERS
        if not own and self.heads().get(f"{repo} main") != heads.get(f"{repo} main"):
            self.fall("a stranger's card stands on main")

    def both(self, _: Person) -> None:
        """Let both maintainers publish at once."""
        with ThreadPoolExecutor(2) as pool:
            people = [self.people[name] for name in MAINTAINERS]
            list(
                pool.map(
                    lambda one: self.run(
                        one,
                        "publish",
                        "--store",
                        str(one.store),
                        "--dataset",
                        DATASET,
                        "--repo",
                        SPACE,
                    ),
                    people,
                )
            )

    # --- what must hold ---

    def heads(self) -> dict[str, str]:
        """Return the commit of each branch and pull request."""
        return {
            f"{repo.id} {ref}": oid
            for repo in self.hub.repos.values()
            for ref, oid in repo.refs.items()
        }

    def hold_words(self, done: CompletedProcess[str], before: dict[str, str]) -> None:
        """Whether what was said to be done was done, and nothing else."""
        moved = {name for name, oid in self.heads().items() if before.get(name) != oid}
        for repo in (DATASET, SPACE):
            ours = [name for name in moved if name.startswith(f"{repo} ")]
            page = rf"/(?:datasets|spaces)/{repo}"
            if re.search(rf"{page}: .*nothing was committed", done.stderr) and [
                n for n in ours if before.get(n)
            ]:
                self.fall(f"'nothing was committed', and {ours} moved")
            if re.search(rf"unchanged: \S+{page}", done.stdout) and ours:
                self.fall(f"'unchanged', and {ours} moved")
            if (
                re.search(rf"^committed: \S+{page}", done.stdout, re.MULTILINE)
                and f"{repo} main" not in moved
            ):
                self.fall("'committed', and main is as it was")
        if done.returncode == 0 and not done.stdout.strip():
            self.fall("ended well and said nothing")

    def dates(self, ref: str) -> dict[str, datetime]:
        """Return when each row of the dataset was made."""
        found: dict[str, datetime] = {}
        for path, data in self.hub.repo(DATASET).files(ref).items():
            if path.endswith("/result.json"):
                found[key_of(path)] = datetime.fromisoformat(json.loads(data)["provenance"]["date"])
            elif path.startswith("results/withheld/"):
                for row in (row for table in json.loads(data)["tables"] for row in table["rows"]):
                    found[row["key"]] = datetime.fromisoformat(row["result"]["provenance"]["date"])
        return found

    def planted_in(self, data: bytes) -> list[str]:
        """Return which planted words some bytes have."""
        return [name for name, word in self.planted.items() if word.encode() in data]

    def published_state(self) -> Any:  # noqa: ANN401 - `BoardState`
        """Return what the published ledger says."""
        from reelbench.leaderboard import ledger
        from reelbench.leaderboard.publish_sync import state_of

        files = self.hub.repo(DATASET).files()
        return state_of(ledger.read_lines(files.get("results/ledger.jsonl", b""), "published"))

    def replaced_keys(self) -> set[str]:
        """Return the keys of the rows that the published ledger calls replaced."""
        lines = self.hub.repo(DATASET).files().get("results/ledger.jsonl", b"").splitlines()
        entries = [json.loads(line)["entry"] or {} for line in lines]
        return {entry["key"] for entry in entries if entry.get("act") == "replaced"}

    def look(self) -> None:
        """Look at every repository: nothing lost, moved, altered, forged or planted."""
        if ("dataset", DATASET) in self.hub.repos:
            self.look_at_rows()
        for repo in (("dataset", DATASET), ("space", SPACE)):
            if repo in self.hub.repos:
                for path, data in self.hub.repos[repo].files().items():
                    if f"{ATTACKER}/".encode() in data or f"{ATTACKER}__" in path:
                        self.fall(f"a word of the attacker's is in {path}")
        if ("space", SPACE) in self.hub.repos:
            runs = {run["key"].partition("#")[0] for run in self.runs_shown()}
            withdrawn = {key for key, _ in self.published_state().withdrawn}
            lost = self.shown - runs - withdrawn - self.withdrawn_anywhere()
            if lost:
                self.fall(f"lost from the page: {min(lost)}")
            self.shown = runs
        for repo in self.hub.repos.values():
            self.look_for_planted(repo)

    def withdrawn_anywhere(self) -> set[str]:
        """Return the keys that a maintainer withdrew and may have published to the page alone."""
        keys: set[str] = set()
        for name in MAINTAINERS:
            keys.update(key for key, _ in self.state_of_store(self.people[name]).withdrawn)
        return keys

    def look_at_rows(self) -> None:
        """Hold the published rows to those of the look before, and to their files."""
        state, files = self.published_state(), self.hub.repo(DATASET).files()
        dates = self.dates("main")
        for key, row in self.rows.items():
            now = state.rows.get(key)
            if now is None:
                if not state.withdrawn_of(key):
                    self.fall(f"lost: {key}")
            elif now.answers != row.answers and not (
                key in self.replaced_keys() or state.withdrawn_of(key)
            ):
                self.fall(f"altered: {key}")
            elif now.answers == row.answers and now.account != row.account:
                self.fall(f"moved: {key} from {row.account} to {now.account}")
        for key, row in state.rows.items():
            if key not in dates:
                self.fall(f"without a file: {key}")
            others: list[str] = []
            for name, digest in row.files.items():
                data = files.get(f"results/{key}/{name}")
                if data is not None and hashlib.sha256(data).hexdigest() != digest:
                    others.append(name)
            if not others:
                self.merged.discard(key)
            elif key not in self.merged:
                self.fall(f"another file than was filed: {key}/{others[0]}")
        self.rows = state.rows

    def look_for_planted(self, repo: Any) -> None:  # noqa: ANN401 - a repository of the local Hub
        """Look through all files, words and requests of a repository that came since the last look."""
        name = f"{repo.kind} {repo.id}"
        texts = [
            (f"pull request {one.num}", json.dumps([one.title, one.events]).encode())
            for one in repo.pull_requests
        ]
        for commit in list(repo.commits.values())[self.seen.get(name, 0) :]:
            texts.append(("a commit's words", f"{commit.title} {commit.description}".encode()))
            new = {(path, blob.etag): blob for path, blob in commit.files.items()}
            texts += [
                (at[0], plain(at[0], blob.data))
                for at, blob in new.items()
                if at not in self.looked
            ]
            self.looked |= new.keys()
        self.seen[name] = len(repo.commits)
        for where, data in texts:
            for what in self.planted_in(data):
                self.fall(f"{what} is in {name}, {where}")

    def runs_shown(self) -> Iterator[dict[str, Any]]:
        """Yield what the page has of each run."""
        for path, data in self.hub.repo(SPACE, "space").files().items():
            if path.startswith("data/runs/"):
                # The run's samples may follow in the same file.
                run, _ = json.JSONDecoder().raw_decode(data.decode().partition(",")[2])
                if "key" in run:
                    yield run

    def rebuild(self) -> None:
        """Publish, and compare the page with the one that a stranger makes of the dataset alone."""
        global _KILLS  # noqa: PLW0603 - here nothing is killed
        kills, _KILLS = _KILLS, 0.0
        ada = self.people["ada"]
        stranger = Person("stranger", ada.token, self.place / f"stranger{self.step}")
        stranger.home.mkdir()
        both = ("--dataset", DATASET, "--repo", SPACE)
        done = self.run(ada, "publish", "--store", str(ada.store), *both)
        for _ in range(20):
            if "two maintainers did different things" not in done.stderr:
                break
            self.give_way(ada, done.stderr)
            done = self.run(ada, "publish", "--store", str(ada.store), *both)
        if done.returncode:
            self.fall(f"publishing fails: {done.stderr[-600:]}")
        else:
            self.run(ada, "clone", DATASET, "--store", str(stranger.store))
            done = self.run(ada, "publish", "--store", str(stranger.store), *both, "--dry-run")
            self.told["boards cloned"] += 1
            if done.stdout.count("unchanged") != len(("dataset", "space")):
                self.fall(f"the board of the clone is another: {done.stderr[-1500:]}")
            state = self.published_state()
            for path in self.hub.repo(DATASET).files():
                key = key_of(path)
                if key and key not in state.rows and state.withdrawn_of(key):
                    self.fall(f"withdrawn, and still there: {path}")
            gone = {run["key"].partition("#")[0] for run in self.runs_shown()} - state.rows.keys()
            if gone:
                self.fall(f"on the page, and in no ledger: {min(gone)}")
        _KILLS = kills


def key_of(path: str) -> str:
    """Return the key of the result that a path of the dataset belongs to."""
    found = re.fullmatch(r"results/((?:[^/]+/){3}[^/]+)/[^/]+", path)
    return found[1] if found else ""


def plain(path: str, data: bytes) -> bytes:
    """Return a file's bytes. Those of a table, or of packed samples, are what is in it."""
    if path.endswith(".js"):
        from tests.leaderboard.packed import unpacked

        samples = json.dumps(unpacked(data.decode()), ensure_ascii=False)
        return data + samples.encode()
    if not path.endswith(".parquet"):
        return data
    from pyarrow import parquet

    return json.dumps(
        parquet.read_table(io.BytesIO(data)).to_pylist(), default=str, ensure_ascii=False
    ).encode()


def outcome(done: CompletedProcess[str]) -> str:
    """Return in a word or two what a command did."""
    if done.returncode == 0:
        return (
            ", ".join(sorted(set(re.findall(r"^(\w+(?: \w+)?): http", done.stdout, re.MULTILINE))))
            or "done"
        )
    known = (
        "two maintainers did different things",
        "the store lacks",
        "nothing was committed",
        "may have been committed or not",
    )
    known += (
        "without samples",
        "publish from the store that has it",
        "filed first by",
        "no such dataset",
        "no such store",
        "not there, or private",
        "could not do it now",
        "may not write there",
        "refused what was sent",
        "states no licence",
        "hidden",
    )
    return next(
        (f"refused ({words})" for words in known if words in done.stderr),
        f"refused: {done.stderr[-200:]!r}",
    )


def planted(rng: Random) -> dict[str, str]:
    """Return 40 words that stand in no repository: secrets by their names, and answers that are withheld."""
    words = {
        name: f"{rng.randrange(16**16):016x}"
        for name in ("OPENAI_API_KEY", "REELBENCH_JUDGE_API_KEY")
    }
    words |= {name: f"{rng.randrange(16**16):016x}" for name in ("WEBHOOK_SECRET", "api_key")}
    words |= {
        f"token of {name}": f"hf_{rng.randrange(16**16):016x}"
        for name in (*MAINTAINERS, *SUBMITTERS, ATTACKER)
    }
    for name, number in (("answer of pantry", 8), ("question of pantry", 5), ("said of pantry", 4)):
        words |= {f"{name} {n}": f"{rng.randrange(16**12):012x}" for n in range(number)}
    for name, number in (("answer of larder", 8), ("said of larder", 4)):
        words |= {f"{name} {n}": f"{rng.randrange(16**12):012x}" for n in range(number)}
    return words


def scored(place: Path, words: dict[str, str], judge_url: str) -> dict[str, list[Path]]:
    """Write three benchmarks, and score three models on each and on CURVE's and ReXTime's mini data."""
    import reelbench
    from reelbench.data import loading
    from reelbench.judges.judge_options import JudgeOptions

    bases: dict[str, list[Path]] = {}
    for name, more in BENCHMARKS.items():
        folder = place / name
        folder.mkdir()
        rows = [
            {
                "id": f"q{n}",
                "video": f"v{n}.mp4",
                "q": f"What is on shelf {n}? {words.get(f'question of {name} {n}', '')}",
                "a": words.get(f"answer of {name} {n}", f"jar {n}"),
            }
            for n in range(QUESTIONS)
        ]
        (folder / "rows.jsonl").write_text(
            "".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        (folder / "benchmark.yaml").write_text(SPEC.format(name=name, more=more), encoding="utf-8")
        for right in (6, 12, 18):
            answers = [
                {
                    "id": row["id"],
                    "prediction": row["a"]
                    if n < right
                    else words.get(f"said of {name} {QUESTIONS - 1 - n}", "flour"),
                }
                for n, row in enumerate(rows)
            ]
            reelbench.score(str(folder), answers, model="of/nobody").save(
                place / "bases" / name / str(right)
            )
            bases.setdefault(name, []).append(place / "bases" / name / str(right))
    judge = JudgeOptions(model=JUDGES[0], url=judge_url, cache=place / "judge.sqlite")
    for number in range(MODELS):
        answers = [
            {"id": row["id"], "prediction": f"Answer {number} to {row['id']}"}
            for row in loading.locate("curve", "mini").read()
        ]
        folder = place / "bases" / "curve" / str(number)
        reelbench.score("curve_mini", answers, model="of/nobody", judge=judge).save(folder)
        bases.setdefault("curve", []).append(folder)
    rows = loading.locate("rextime", "mini").read()
    for right in (2, 5, 9):
        answers = [
            {"id": row["id"], "prediction": f"{row['answer'] if n < right else 'Z'} [0, 1]"}
            for n, row in enumerate(rows)
        ]
        reelbench.score("rextime_mini", answers, model="of/nobody").save(
            place / "bases" / "rextime" / str(right)
        )
        bases.setdefault("rextime", []).append(place / "bases" / "rextime" / str(right))
    return bases


def drive(world: World, steps: int) -> None:
    """Draw the steps, and the faults among them."""
    faults = set(world.rng.sample(range(1, steps), max(1, FAULTS * steps // PER)))
    ways: list[tuple[int, Callable[[Person], None], tuple[str, ...]]] = [
        (9, world.score, MAINTAINERS),
        (20, world.score, SUBMITTERS),
        (18, world.publish, MAINTAINERS),
        (22, world.hand_in, SUBMITTERS),
        (24, world.end_one, MAINTAINERS),
        (3, world.withdraw, MAINTAINERS),
        (2, world.restore, MAINTAINERS),
        (2, world.rename, MAINTAINERS),
        (2, world.rejudge, MAINTAINERS),
        (5, world.attack, (ATTACKER,)),
        (2, world.cards, (*MAINTAINERS, *SUBMITTERS)),
        (1, world.both, MAINTAINERS),
    ]
    for person in world.people.values():
        if person.name != ATTACKER:
            world.score(person)
    ada = world.people["ada"]
    world.run(ada, "publish", "--store", str(ada.store), "--dataset", DATASET, "--repo", SPACE)
    for world.step in range(1, steps + 1):
        _, way, who = world.rng.choices(ways, [weight for weight, _, _ in ways])[0]
        if world.step in faults:
            _, way, who = world.rng.choice(ways[2:4])
            where, pattern, more = world.rng.choice(BREAKS)
            times = world.rng.choice((1, 1, 2, 3))
            (world.hub if where == HUB else world.hub.cdn).fail(pattern, times=times, **more)
            world.told["faults"] += 1
            world.history.append(f"fault: {pattern} {more} x {times}")
        world.told[f"step: {way.__name__}"] += 1
        way(world.people[world.rng.choice(who)])
        world.hub.mend()
        world.hub.cdn.mend()
        world.look()
        if world.step % 25 == 0:
            print(f"step {world.step}: {len(world.rows)} rows, {dict(world.told)}", flush=True)
        if world.step % (PER // 4) == 0 or world.step == steps:
            world.rebuild()
            world.look()


def main() -> int:
    """Drive it, and say what was seen."""
    parser = argparse.ArgumentParser(
        description="Publish, hand in and merge at random against the local Hub."
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=PER)
    parser.add_argument("--log", type=Path, help="write what was done, a line a command")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        os.environ.update(REELBENCH_HOME=str(place / "home"), XDG_CONFIG_HOME=str(place / "config"))
        os.environ.update(
            HF_HUB_OFFLINE="0", HF_HUB_DISABLE_PROGRESS_BARS="1", HF_HUB_DISABLE_XET="1"
        )
        from tests.forks import Forks
        from tests.servers.hub import HubServer, Token
        from tests.servers.judge import Answer, JudgeServer

        rng = Random(options.seed)  # noqa: S311 - to be drawn again
        words = planted(rng)

        def judged(call: Any) -> Any:  # noqa: ANN401 - of the local judge
            score = int(hashlib.sha256(call.user.encode()).hexdigest(), 16) % 3
            return Answer(f'{{"score": {score}}}', model=call.body["model"])

        with HubServer() as hub, JudgeServer(judged) as judge:
            people = {
                one: Person(one, words[f"token of {one}"], place / one)
                for one in (*MAINTAINERS, *SUBMITTERS, ATTACKER)
            }
            for one in people.values():
                one.home.mkdir()
                hub.tokens[one.token] = Token(
                    one.name, orgs=("museum",) if one.name in MAINTAINERS else ()
                )
            (place / "forks").mkdir()
            forks = Forks(place / "forks")
            bases = scored(place, words, judge.url)
            world = World(rng, place, hub, forks, people, words, bases, judge.url)
            try:
                drive(world, options.steps)
            finally:
                forks.close()
        if options.log:
            options.log.write_text("\n".join(world.history) + "\n", encoding="utf-8")
        files = len(world.looked)
    for what, count in sorted(world.told.items()):
        sys.stdout.write(f"{what}: {count}\n")
    sys.stdout.write(
        f"seed {options.seed}, {options.steps} steps: {len(world.rows)} rows, {files} files "
        "looked through for "
        f"{len(words)} planted words, {len(world.fell)} fell\n"
    )
    return int(bool(world.fell))


if __name__ == "__main__":
    sys.exit(main())
