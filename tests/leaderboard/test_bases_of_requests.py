"""What a pull request changes is what Git says, where `main` has merges and dates that authors wrote."""

import re
import subprocess
from random import Random

import pytest

from reelbench.leaderboard.pull_request import PullRequests
from tests.servers.hub_repos import Commit
from tests.servers.pull_requests import PullRequest

DATASET = "museum/results"
COMMITS = 12


def git(place, *arguments, stdin=""):
    done = subprocess.run(
        ["git", "-C", place, *arguments], input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


def write_history(place, rng):
    """Write drawn commits, some of which merge two, each with a date that its author made up.

    Returns the files of each commit, in the order in which they were made.
    """
    trees = []
    stream = []
    for number in range(COMMITS):
        parents = sorted(
            rng.sample(range(number), min(number, rng.choice([1, 1, 2]))), reverse=True
        )
        tree = {}
        for parent in parents:
            tree = trees[parent] | tree
        tree[f"f{rng.randrange(5)}"] = f"made by {number}"
        trees.append(tree)
        date = rng.choice([1_700_000_000 + number, rng.randrange(2_000_000_000)])
        stream += ["commit refs/heads/drawn", f"mark :{number + 1}"]
        stream += [f"committer a <a@example.org> {date} +0000", "data 0"]
        for word, parent in zip(("from", "merge"), parents, strict=False):
            stream.append(f"{word} :{parent + 1}")
        stream.append("deleteall")
        for path, text in tree.items():
            stream += [f"M 100644 inline {path}", f"data {len(text)}", text]
    git(place, "init", "--quiet")
    marks = place / "marks"
    git(
        place,
        "fast-import",
        "--quiet",
        "--force",
        f"--export-marks={marks}",
        stdin="\n".join(stream),
    )
    ids = {}
    for line in marks.read_text().splitlines():
        mark, oid = line.split()
        ids[int(mark[1:]) - 1] = oid
    return {ids[number]: trees[number] for number in range(COMMITS)}


@pytest.mark.parametrize("seed", range(96, 106))
def test_the_changes_are_those_since_the_commits_that_git_calls_the_merge_base(hub, tmp_path, seed):
    rng = Random(seed)
    trees = write_history(tmp_path, rng)
    main, offered = rng.sample(list(trees)[-4:], 2)
    table = hub.add(DATASET)
    for oid, tree in trees.items():
        blobs = {path: table.blob(path, text.encode()) for path, text in tree.items()}
        table.commits[oid] = Commit(oid, None, "drawn", "", "me", blobs)
    request = PullRequest(1, "drawn", "", "me")
    request.add_comment("", "me")
    table.pull_requests.append(request)
    table.refs = {"main": main, request.ref: offered}
    table.history = lambda revision="main": [
        table.commits[oid] for oid in git(tmp_path, "log", "--format=%H", table.resolve(revision))
    ]
    changed = set()
    for base in git(tmp_path, "merge-base", "--all", main, offered):
        changed.update(git(tmp_path, "diff", "--name-only", base, offered))
    comment = PullRequests(DATASET, "bot").look(1, tmp_path / "none", tmp_path / "offer", print)
    assert set(re.findall(r"\bf\d\b", comment or "")) == changed
