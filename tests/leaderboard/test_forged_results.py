"""Three hundred forged results, drawn from a seed, in one store: what the board shows of each, read from outside.

A forger here leaves the model's words as they are: whoever writes the right answers into them
claims another model.
"""

import csv
import json
import random
import shutil
import sys

import pytest

from reelbench.base.errors import ReelbenchError
from tests.leaderboard import test_tampering as ways
from tests.leaderboard.test_tampering import forge, honest  # noqa: F401 - the fixture is used by its name

pytestmark = pytest.mark.slow

FORGED, SEED = 300, 20_261_122
BASES = {
    "rextime": ways.REXTIME,
    "texts": ways.TEXTS,
    "dramaqa": ways.DRAMAQA,
    "moviecore": ways.MOVIECORE,
    "votes": ways.VOTES,
    "curve": ways.CURVE,
}
VALUES = (
    None,
    True,
    0,
    1,
    1.0,
    5,
    -1,
    10**400,
    float("nan"),
    "",
    "A",
    "x" * 20_000,
    [],
    {},
    [0.0, 1.0],
    "\ud800",
)
MARKS = ("(not ranked: ", "(as stated: ", " unscored)", " videos)", "(intervals: ")


def leaves(value, path=()):
    """The path of each value in a JSON document that holds no other."""
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    below = [leaf for key, part in parts for leaf in leaves(part, (*path, key))]
    return below or [path]


def spoiled(document, rng, *, but=()):
    """Put some other value in a random place."""
    places = [path for path in leaves(document) if path and path[0] not in but]
    *way, last = rng.choice(places)
    for key in way:
        document = document[key]
    document[last] = rng.choice(VALUES)


def forged(rng, base, folder, model):
    """Do one to three ways of tampering to a result, and perhaps spoil a value or two; everything else fits again."""
    chosen = rng.sample(list(BASES[base].values()), rng.choice((1, 1, 1, 2, 3)))
    spoils = rng.choice((0, 0, 1, 2))
    here = rng.random() < 0.7

    def samples(lines):
        for edit, _, _ in chosen:
            lines = (edit(lines) if edit else None) or lines
        for _ in range(spoils):
            spoiled(rng.choice(lines), rng, but=("prediction", "id"))
        return lines

    def result(stated):
        for _, edit, _ in chosen:
            if edit is not None:
                edit(stated)
        stated["model"]["id"] = model
        if not here:
            stated["benchmark"]["split"] = {
                "moviecore": "test",
                "votes": "test",
                "curve": "test",
            }.get(base, "val")

    for numbers in (True, False):
        try:
            before = rng.getstate()
            forge(folder, samples, result, numbers=numbers)
        except (
            ValueError,
            TypeError,
            KeyError,
            AttributeError,
            IndexError,
            OverflowError,
            ReelbenchError,
        ):
            rng.setstate(before)
        else:
            return
    forge(folder, None, lambda stated: stated["model"].update(id=model))


def test_each_forged_result_is_refused_or_marked_wherever_it_stands(honest, reelbench, tmp_path):  # noqa: F811
    rng, base_of = random.Random(SEED), {}
    for number in range(FORGED):
        model = f"forger/{number:03}"
        base_of[model] = rng.choice(list(BASES))
        folder = shutil.copytree(honest[base_of[model]], tmp_path / "runs" / f"{number:03}")
        forged(rng, base_of[model], folder, model)
    for base, folder in honest.items():
        copy = shutil.copytree(folder, tmp_path / "runs" / base)
        forge(copy, None, lambda stated, base=base: stated["model"].update(id=f"honest/{base}"))
    done = reelbench(
        "leaderboard", "add", tmp_path / "runs", "--store", tmp_path / "store", "--json"
    )
    assert "Traceback" not in done.stderr
    results = json.loads(done.stdout)["results"]
    assert len(results) == FORGED + len(honest)
    assert [one["why"] for one in results if "can't be checked" in one["why"]] == []

    built = reelbench(
        "leaderboard",
        "build",
        "--store",
        tmp_path / "store",
        "--out",
        tmp_path / "site",
        "--no-published",
    )
    printed = reelbench("leaderboard", "tables", "--store", tmp_path / "store", "--no-published")
    assert (built.returncode, printed.returncode) == (0, 0), built.stderr + printed.stderr
    rows = [
        row
        for path in sorted((tmp_path / "site").rglob("*.csv"))
        for row in csv.DictReader(path.read_text("utf-8-sig").splitlines())
    ]
    lines = {
        row["model"]: line
        for row in rows
        for line in printed.stdout.splitlines()
        if f" {row['model']} " in line
    }
    values = {row["model"]: primary(row) for row in rows}
    flattered = [
        row
        for row in rows
        if primary(row) > values[f"honest/{base_of.get(row['model'], 'rextime')}"] + 1e-9
    ]
    flattered = [row for row in flattered if row["model"] in base_of]
    refused = sum(one["outcome"] == "refused" for one in results)
    sys.stdout.write(
        f"of {FORGED} forged results {refused} are refused, {len(flattered)} stand higher, marked\n"
    )
    assert flattered
    for row in flattered:
        marked = row["partial"] or row["stated"] or row["subset"] or row["intervals"]
        assert marked, row
        assert row["subset"] or any(mark in lines[row["model"]] for mark in MARKS), lines[
            row["model"]
        ]


def primary(row):
    """The primary metric of a row of the CSV: the first after `frames`."""
    names = list(row)
    return float(row[names[names.index("frames") + 1]] or "-inf")
