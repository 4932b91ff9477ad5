"""Words about a result that its submitter writes: a checker refuses each by name, and `add` reads none."""

import json
import shutil

import pytest

from reelbench.base.files import sha256_of
from reelbench.leaderboard import board, board_state, changed_files, ledger, store
from reelbench.leaderboard.board_state import BoardLedger
from reelbench.leaderboard.store import Filing

REJUDGED = {"items": 200, "scores": 200, "agree": 200, "unscored": 0, "calls": 200, "cost_usd": 0.5}
CHECK = {"ids": "checked", "subset": None, "partial": None, "stated": [], "judged": True}


@pytest.fixture
def dataset(rextime_run, tmp_path):
    """A results dataset with a row of `held`, and a changed copy with a new row of `evil`."""
    base = tmp_path / "base"
    store.add(
        rextime_run("held", model="held/good", right=8), base / "results", filing=Filing("held")
    )
    offered = tmp_path / "offered"
    shutil.copytree(base, offered)
    evil = tmp_path / "evil-store"
    [added] = store.add(rextime_run("evil", model="evil/m", right=3), evil)
    key = added.place.relative_to(evil)
    shutil.copytree(added.place, offered / "results" / key)
    [held] = [row.key for row in board_state.read(base / "results").rows.values()]
    return base, offered, offered / "results" / held, offered / "results" / key


def _check_json(place, **said):
    digests = {
        f"{name}_sha256": sha256_of(place / file)
        for name, file in (("result", "result.json"), ("samples", "samples.jsonl"))
    }
    (place / "check.json").write_text(json.dumps({**CHECK, **digests, **said}))
    return place / "check.json"


def _own_ledger(offered, *, key, account):
    """Let the offered copy's ledger say that an account's row was filed, checked and judged."""
    book = BoardLedger(offered / "results")
    row = next(iter(book.state.rows.values()))
    verified = row.verified.model_copy(update={"ids": "checked", "stated": ()})
    with book.locked():
        book.append(
            ledger.Filed(
                at=ledger.now(),
                who=account,
                act="filed",
                key=key,
                model="held/good",
                files={},
                answers="0",
                verified=verified,
                judged=True,
            )
        )
    return offered / "results" / "ledger.jsonl"


def _written(path, text="{}"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


FORGED = {
    "a judge asked again": lambda _, __, ___, own: _check_json(own, rejudged=REJUDGED),
    "another's account": lambda _, __, held, ___: _check_json(held, account="evil"),
    "first of all": lambda _, __, ___, own: _check_json(own, taken="1970-01-01T00:00:00Z"),
    "checked ids": lambda _, __, ___, own: _check_json(own, ids="checked", answers_sha256="a" * 64),
    "judged by the maintainers": lambda _, __, ___, own: _check_json(own, judged=True),
    "a ledger that owns another's row": lambda _, offered, held, __: _own_ledger(
        offered, key=held.relative_to(offered / "results").as_posix(), account="evil"
    ),
    "a ledger of nobody's": lambda _, offered, __, ___: _written(
        offered / "results" / "ledger.jsonl", '{"entry": null}\n'
    ),
    "an empty ledger": lambda _, offered, __, ___: _written(
        offered / "results" / "ledger.jsonl", ""
    ),
    "a ledger in a row": lambda _, __, ___, own: _written(own / "ledger.jsonl"),
    "a ledger in another case": lambda _, offered, __, ___: _written(
        offered / "results" / "Ledger.jsonl"
    ),
    "settings": lambda _, offered, __, ___: _written(
        offered / "results" / "settings.yaml", "judges: [zzz]\n"
    ),
    "settings at the top": lambda _, offered, __, ___: _written(
        offered / "settings.yaml", "judges: [zzz]\n"
    ),
    "names": lambda _, offered, __, ___: _written(
        offered / "results" / "aliases.yaml", "evil/m: [held/good]\n"
    ),
    "names at the top": lambda _, offered, __, ___: _written(
        offered / "aliases.yaml", "evil/m: [held/good]\n"
    ),
    "rows without samples": lambda _, offered, __, ___: _written(
        offered / "results" / "withheld" / "kitchen.json"
    ),
    "rows without samples at the top": lambda _, offered, __, ___: _written(
        offered / "withheld" / "kitchen.json"
    ),
    "an imported board": lambda _, offered, __, ___: _written(
        offered / "results" / "community" / "rextime.json"
    ),
    "replaced answers": lambda _, offered, held, __: _written(
        offered / "results" / "replaced" / held.relative_to(offered / "results")
        / ("0" * 12) / "result.json"
    ),
    "people on another's answers": lambda _, __, held, ___: _written(held / "calibration.json"),
    "a page": lambda _, __, ___, own: _written(own / "evil.html", "<script>"),
    "questions": lambda _, __, ___, own: _written(own / "questions.jsonl"),
    "the checker itself": lambda _, offered, __, ___: _written(
        offered / ".github" / "workflows" / "check.yaml"
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", FORGED)
def test_a_word_of_a_submitters_is_refused_by_name_and_read_nowhere(dataset, tmp_path, kind):
    base, offered, held, own = dataset
    file = FORGED[kind](base, offered, held, own)
    path = file.relative_to(offered).as_posix()
    checked = changed_files.report(
        changed_files.between(base, offered), offered, base / "results", account="evil"
    )
    assert not checked.holds
    named = [line for line in checked.problems if line.startswith((path, path.rpartition("/")[0]))]
    assert named, checked.problems
    # Whoever adds the folder all the same has one more row, and knows of the others what he knew.
    place = tmp_path / "museum"
    shutil.copytree(base / "results", place)
    before = board_state.read(place).rows
    store.add(offered, place, filing=Filing("evil"))
    after = board_state.read(place).rows
    assert {key: after[key] for key in before} == before
    [new] = [row for key, row in after.items() if key not in before]
    assert (new.model, new.account, new.judged, new.rejudged) == ("evil/m", "evil", False, None)
    assert new.order > max(row.order for row in before.values())
    made = board.make(place, published=False)
    assert [made.ranks[row.key] for row in made.entries] == [1, 2]
    assert [row.model for row in made.entries] == ["held/good", "evil/m"]


def test_a_link_in_a_submission_is_refused(dataset):
    base, offered, _, own = dataset
    (own / "samples.jsonl").rename(offered / "elsewhere")
    (own / "samples.jsonl").symlink_to(offered / "elsewhere")
    checked = changed_files.report(
        changed_files.between(base, offered), offered, base / "results", account="evil"
    )
    assert any(line.startswith("elsewhere: not a file of a result") for line in checked.problems)
    [submitted] = checked.submissions
    assert "is a link" in submitted.why


@pytest.mark.parametrize(("account", "refused"), [("held", False), ("evil", True), (None, True)])
def test_a_row_is_changed_by_its_own_account_alone(
    dataset, rextime_run, tmp_path, account, refused
):
    base, offered, held, own = dataset
    shutil.rmtree(own)
    mended = tmp_path / "mended-store"
    [added] = store.add(rextime_run("mended", model="held/good", right=9), mended)
    shutil.rmtree(held)
    shutil.copytree(added.place, held)
    outcome = changed_files.checked(offered, base, account)
    assert outcome.ended is None
    assert bool(outcome.refusals) == refused, outcome.refusals
    assert outcome.number == 1
