"""A hidden test at the local Hub: answers are handed in, scored on the owner's machine, and shown."""

import shutil

import pytest

import reelbench as bench
from reelbench.base.bounded import Bounds
from reelbench.leaderboard import board, publish, store
from reelbench.leaderboard.hidden_test import HiddenTest
from reelbench.leaderboard.publish import PublishOptions
from reelbench.registry.records import About
from reelbench.tasks import hidden_answers
from tests.leaderboard import hidden_tests
from tests.servers.hub_repos import Token

DATASET = "museum/results"
OFFER = PublishOptions(create_pr=True)
BOUNDS = Bounds(seconds=60)


class Hidden:
    """The owner's machine, and accounts that hand in answers."""

    def __init__(self, tmp_path, hub, monkeypatch, questions=300):
        self.folder = tmp_path / "cellar"
        self.right = hidden_tests.cellar(self.folder, questions)
        self.answers = tmp_path / "answers.jsonl"
        self.store = tmp_path / "museum"
        self.store.mkdir()
        self.tmp_path = tmp_path
        self.hub = hub
        self.monkeypatch = monkeypatch
        self.repo = hub.add(DATASET)

    def use(self, account):
        self.hub.tokens.setdefault(f"hf_{account}", Token(account))
        self.monkeypatch.setenv("HF_TOKEN", f"hf_{account}")

    def rules(self, text):
        (self.store / "settings.yaml").write_text(f"hidden_tests:\n  cellar: {text}\n")

    def submission(self, account, letters, model):
        """Score answers as a participant does; return the folder."""
        run = self.tmp_path / "runs" / account / f"{model.replace('/', '_')}-{hash(tuple(letters))}"
        lines = [{"id": f"q{n}", "prediction": text} for n, text in enumerate(letters)]
        bench.score(str(self.folder), lines, model=model).save(run)
        return run

    def hand_in(self, account, letters, model=None, about=None):
        """Add and offer answers; return the pull request."""
        run = self.submission(account, letters, model or f"{account}/model")
        place = self.tmp_path / "stores" / f"{account}-{len(self.repo.pull_requests)}"
        [added] = store.add(run, place, about=about)
        assert added.outcome == "added", added.why
        self.use(account)
        [*_, published] = publish.publish(place, dataset=DATASET, options=OFFER)
        assert published.done == "pull request"
        return self.repo.pull_requests[-1]

    def test(self):
        self.use("bot")
        answers = hidden_answers.read(str(self.folder), self.answers)
        return HiddenTest(DATASET, answers, self.store)

    def reveal(self):
        hidden_tests.reveal(self.folder, self.right)

    def check(self, number):
        test = self.test()
        done = test.check(number, BOUNDS, last=True)
        return done, test.said


@pytest.fixture
def hidden(tmp_path, hub, monkeypatch):
    return Hidden(tmp_path, hub, monkeypatch)


def test_answers_go_from_a_pull_request_to_the_board(hidden, reelbench):
    pull_request = hidden.hand_in(
        "ann", hidden_tests.answers(hidden.right, 183), about=About(parameters=7e9)
    )
    [changed] = {
        path.rpartition("/")[0]
        for path in hidden.repo.files(pull_request.ref).keys() - hidden.repo.files().keys()
    }
    assert changed.startswith("results/submissions/cellar/ann__model/")
    hidden.use("bot")
    done = reelbench(
        *("leaderboard", "check", "--answers", hidden.answers, "--benchmark", hidden.folder),
        *("--dataset", DATASET, "--store", hidden.store),
    )
    assert done.returncode == 0, done.stderr
    [comment] = pull_request.comments
    assert comment in done.stdout
    assert comment.startswith("### Reelbench: scored by the owner\n")
    # 100 videos: 51.08 to 70.08 by Wilson (t of 99 degrees, 1.984), rounded outwards.
    assert "| accuracy | % | 61.0 | 51.0 to 70.1 | 300 |" in comment
    assert "of ann: 1 of 2 files left in 7 days" in comment
    assert "of all accounts: 29 of 30 files left in 30 days" in comment
    assert hidden.check(1) == ("unchanged", "")
    [row] = board.make(hidden.store, published=False).entries
    assert (row.model, row.kind, row.metrics["accuracy"].value) == ("ann/model", "owner", 61.0)
    assert row.about.parameters == 7e9
    hidden.use("museum")
    publish.publish(hidden.store, dataset=DATASET, space="museum/board")
    page = hidden.hub.repo("museum/board", "space").files()["data/board.js"].decode()
    assert "ann/model" in page
    assert "scored by the owner" in page
    clone = hidden.tmp_path / "clone"
    done = reelbench("leaderboard", "clone", DATASET, "--store", clone)
    assert done.returncode == 0, done.stderr
    assert board.make(clone).entries == board.make(hidden.store).entries


def test_what_is_revealed_is_recomputed_from_the_kept_predictions(hidden, reelbench):
    """183 of 300 are right: 61 % was published, and is what anybody computes from the public answers."""
    hidden.hand_in("ann", hidden_tests.answers(hidden.right, 183))
    assert hidden.check(1)[0] == "commented"
    told = reelbench("leaderboard", "reveal", hidden.folder, "--store", hidden.store)
    assert told.returncode == 2
    assert "its version rises above 1" in told.stderr
    hidden.reveal()
    done = reelbench("leaderboard", "reveal", hidden.folder, "--store", hidden.store)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-4:] == ["ann/model", "accuracy", "61.0", "61.0"]
    rows = board.make(hidden.store, published=False).entries
    assert {(row.kind, row.group.version) for row in rows} == {("owner", 1), ("run", 2)}
    [run] = [row for row in rows if row.kind == "run"]
    assert run.facts["stated_by"] == "ann"
    # Of an answer that its owner corrected since, the difference shows.
    hidden_tests.reveal(hidden.folder, hidden_tests.answers(hidden.right, 30))
    clone = hidden.tmp_path / "before"
    shutil.copytree(hidden.store / "submissions", clone / "submissions")
    lines = (hidden.store / "ledger.jsonl").read_text().splitlines(keepends=True)
    (clone / "ledger.jsonl").write_text("".join(lines[:2]))
    done = reelbench("leaderboard", "reveal", hidden.folder, "--store", clone)
    assert done.returncode == 1
    assert "1 number unlike what was published" in done.stderr
    assert "differs" in done.stdout
