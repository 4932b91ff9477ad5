"""A hidden test of choices: the folder that everybody has, its owner's file, and answers to it."""

import json
import random

import reelbench as bench
from reelbench.base.bounded import Bounds
from reelbench.leaderboard import hidden_key, hidden_test, publish, store, webhook
from reelbench.leaderboard.hidden_test import HiddenTest
from reelbench.leaderboard.ledger import Ledger
from reelbench.leaderboard.publish import PublishOptions
from reelbench.tasks import hidden_answers
from reelbench.tasks.hidden_submission import Submission
from tests.servers.hub_repos import Token

LETTERS = "ABCD"


def cellar(folder, questions=300, *, more=""):
    """Write a benchmark without answers, and its owner's file beside it; return the right letters."""
    folder.mkdir(parents=True, exist_ok=True)
    right = right_letters(questions)
    rows = []
    for number in range(questions):
        row = {"id": f"q{number}", "video": f"v{number // 3}.mp4", "q": f"What is {number}?"}
        rows.append({**row, "options": ["a cup", "a book", "a dog", "a tree"]})
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "benchmark.yaml").write_text(
        "id: cellar\ntitle: Cellar\nkind: choice\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q, options: options}\nlanguages: [en]\n"
        f"licence: cc-by-4.0\nhidden_answers: true\n{more}"
    )
    write_answers(folder.parent / "answers.jsonl", right)
    return right


def right_letters(questions):
    """Return the right letters of so many questions."""
    draw = random.Random(5)
    return [draw.choice(LETTERS) for _ in range(questions)]


def write_answers(file, right):
    lines = [{"id": f"q{number}", "answer": letter} for number, letter in enumerate(right)]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def answers(right, correct):
    """Return answers of which the first `correct` are right."""
    wrong = {"A": "B", "B": "C", "C": "D", "D": "A"}
    return [letter if n < correct else wrong[letter] for n, letter in enumerate(right)]


def reveal(folder, right):
    """Let the answers join the rows, without `hidden_answers`, as version 2."""
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    lines = [json.dumps({**row, "right": letter}) for row, letter in zip(rows, right, strict=True)]
    (folder / "rows.jsonl").write_text("\n".join(lines) + "\n")
    declared = (folder / "benchmark.yaml").read_text()
    declared = declared.replace("hidden_answers: true\n", "")
    declared = declared.replace("options: options}", "options: options, answer: right}")
    if "version:" not in declared:
        declared += "version: 2\n"
    (folder / "benchmark.yaml").write_text(declared)


def submitted(benchmark, folder):
    """Write a submission of a few answers to a folder."""
    right = cellar(benchmark, 12)
    lines = [{"id": f"q{n}", "prediction": text} for n, text in enumerate(right)]
    run = benchmark.parent / "run"
    bench.score(str(benchmark), lines, model="me/model").save(run)
    folder.mkdir(parents=True)
    for name in ("submission.json", "submission.jsonl"):
        (folder / name).write_bytes((run / name).read_bytes())


DATASET = "museum/results"
OFFER = PublishOptions(create_pr=True)
BOUNDS = Bounds(seconds=60)


_records = {}


class Hidden:
    """The owner's machine, and accounts that hand in answers."""

    def __init__(self, tmp_path, hub, monkeypatch, questions=300):
        self.folder = tmp_path / "cellar"
        self.right = cellar(self.folder, questions)
        self.answers = tmp_path / "answers.jsonl"
        self.store = tmp_path / "museum"
        self.store.mkdir()
        self.tmp_path = tmp_path
        self.hub = hub
        self.monkeypatch = monkeypatch
        # The fork server outlives this test: it would hold a Hub client with the settings of whichever test starts it.
        monkeypatch.setattr(webhook, "prepare_looks", lambda: None)
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

    def _record(self, letters):
        """Return a submission's record; that of a benchmark of these questions is made once for all tests."""
        benchmark = (self.folder / "benchmark.yaml").read_text(), len(self.right)
        if benchmark not in _records:
            run = self.submission("template", letters, "template/model")
            _records[benchmark] = (run / "submission.json").read_text()
        return _records[benchmark]

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
        answers = hidden_answers.read_hidden_answers(str(self.folder), self.answers)
        return HiddenTest(DATASET, answers, self.store)

    def reveal(self):
        """Let the answers be public."""
        reveal(self.folder, self.right)

    def check(self, number):
        return self.test().look_at(number, BOUNDS, last=True)

    def offer(self, account, letters, model=None, *, change=None):
        """Offer answers as a commit of the account's; `change` spoils their folder before."""
        folder = self.tmp_path / "offers" / f"{len(self.repo.pull_requests)}"
        folder.mkdir(parents=True)
        record = json.loads(self._record(letters))
        record["model"]["id"] = model or f"{account}/model"
        (folder / "submission.json").write_text(json.dumps(record))
        lines = [json.dumps({"id": f"q{n}", "prediction": text}) for n, text in enumerate(letters)]
        (folder / "submission.jsonl").write_text("\n".join(lines) + "\n")
        if change is not None:
            change(folder)
        key = hidden_key.key_of(Submission.model_validate(record), folder)
        files = {}
        for file in folder.iterdir():
            files[f"results/{key}/{file.name}"] = file.read_bytes()
        self.hub.tokens.setdefault(f"hf_{account}", Token(account))
        return self.repo.propose(files, "answers", account)

    def read_here(self):
        """Read pull requests in this process, which is quicker than a bounded one for each."""

        def read(work, *arguments, bounds, hear):
            del bounds
            return work(hear, *arguments)

        self.monkeypatch.setattr(hidden_test, "run_bounded", read)

    @property
    def acts(self):
        """What the ledger says, in order: who did what."""
        return [(entry.who, entry.act) for entry in Ledger(self.store).entries]
