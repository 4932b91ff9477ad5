"""Words about a result that its submitter writes: a checker refuses each by name, and `add` reads none."""

import json
import shutil

import pytest

from reelbench.base.files import sha256_of
from reelbench.leaderboard import (
    board,
    board_state,
    changed_files,
    ledger,
    row_life,
    store,
    submission,
    submission_page,
)
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
    assert added.place is not None
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


def _submodule(checkout, path):
    """Put another repository into a checkout, which shows it as an empty folder."""
    (checkout / ".git").write_text("gitdir: elsewhere")
    (checkout / path).mkdir()
    return checkout / path


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
    "a submodule": lambda _, offered, __, ___: _submodule(offered, "results/more"),
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
    assert submission_page.markdown(checked).startswith("### Reelbench: refused; ")
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


@pytest.mark.parametrize(
    ("account", "moved_to", "refused"),
    [
        ("held", None, False),
        ("evil", None, True),
        (None, None, True),
        ("heir", "Heir", False),
        ("held", "heir", True),
    ],
)
def test_a_row_is_changed_by_its_own_account_alone(
    dataset, rextime_run, account, moved_to, refused
):
    base, offered, held, own = dataset
    if moved_to is not None:
        row_life.move("held/good", moved_to, base / "results")
        shutil.copy(base / "results" / "ledger.jsonl", offered / "results" / "ledger.jsonl")
    shutil.rmtree(own)
    mended = base.parent / "mended-store"
    [added] = store.add(rextime_run("mended", model="held/good", right=9), mended)
    assert added.place is not None
    shutil.rmtree(held)
    shutil.copytree(added.place, held)
    outcome = changed_files.checked(offered, base, account)
    assert outcome.ended is None
    assert bool(outcome.refusals) == refused, outcome.refusals
    assert outcome.number == 1


WORDS_OF_THE_LEDGER = {
    "account": "maintainer",
    "judged": True,
    "taken": "1970-01-01T00:00:00Z",
    "rejudged": REJUDGED,
    "verified": {"ids": "checked", "subset": None, "partial": None},
}
STATES = {"rejudged": "200 of 200 agree", "checked by": "the maintainers", "owner": "held"}
SERVED = {"asked": 12, "kept": 0, "server": "https://held.example", "served": {"held/good": 12}}


def _every(sample_change):
    return lambda samples: [sample_change(sample) for sample in samples] and None


def _wrong_answers_right(sample):
    sample["target"]["answer"] = sample["parsed"]["answer"]
    sample["scores"] = dict.fromkeys(sample["scores"], 1.0)


def _of(place, **fields):
    return lambda result: result[place].update(fields)


REFUSED = {
    "the ledger's words in the result": (
        None,
        lambda result: result.update(WORDS_OF_THE_LEDGER),
        "field account: Extra inputs are not permitted",
    ),
    "the ledger's words in each answer": (
        _every(lambda sample: sample.update(WORDS_OF_THE_LEDGER)),
        None,
        "field account: Extra inputs are not permitted",
    ),
    "the ledger's words where the run is described": (
        None,
        _of("provenance", **WORDS_OF_THE_LEDGER),
        "field provenance.account: Extra inputs are not permitted",
    ),
    "a date that no later run can pass": (
        None,
        _of("provenance", date="9999-01-01T00:00:00+00:00"),
        "is in the future",
    ),
    "references that the answers meet": (
        _every(_wrong_answers_right),
        None,
        "its target is not the benchmark's",
    ),
    "questions that look like the benchmark's": (
        _every(lambda sample: sample.update(id=sample["id"] + "\u200b")),
        None,
        "are not in split 'mini'",
    ),
    "labels of the questions": (
        _every(lambda sample: sample.update(facets={"category": ["easy"]})),
        None,
        "the benchmark says",
    ),
    "a video for each question": (
        _every(lambda sample: sample.update(video=sample["id"])),
        None,
        "the benchmark says",
    ),
    "a judge of a benchmark without one": (
        None,
        lambda result: result.update(
            judge={"requested": "gpt-4o", "prompt": "official", "prompt_sha256": "0" * 64}
        ),
        "rextime has nothing to judge",
    ),
    "the name of another's model, as it was before": (
        None,
        _of("model", id="held/good"),
        "held/good was filed first by held",
    ),
    "the name of another's model, as it is now": (
        None,
        _of("model", id="HELD/better"),
        "HELD/better was filed first by held",
    ),
    "answers that were withdrawn, as another run": (
        None,
        lambda result: (
            result["model"].update(id="EVIL/Gone", revision="v2"),
            result["provenance"].update(date="2026-01-01T00:00:00+00:00"),
        ),
        "these answers were withdrawn",
    ),
}  # fmt: skip
ONE_MORE_ROW = {
    "states of a server": _of("provenance", asked={**SERVED, "states": STATES}),
    "the first date of all": _of("provenance", date="0001-01-01T00:00:00+00:00"),
    "the owners' word on the data": lambda result: result.update(data="owners"),
    "another's organisation and addresses": _of(
        "model",
        about={
            "organisation": "Held",
            "revision": "held/good",
            "links": {"held/good": "https://evil.example"},
        },
    ),
    "a commit that is another's name": _of("model", revision="held/good"),
    "a note on another's row": _of("provenance", note="held/good was withdrawn: leaked."),
    "a condition that sounds like a check": _of("settings", label="checked by the maintainers"),
    "a preset of the owners'": _of("settings", preset={"name": "official", "values": {}}),
    "a second run": _of("settings", run=2),
    "data from another's place": lambda result: result["benchmark"]["source"].update(
        location="held/good"
    ),
    "a program of before": lambda result: result.update(software={"reelbench": "0.1.0"}),
}


@pytest.fixture
def board_of_two(rextime_run, tmp_path):
    """A store with a renamed row of `held` and a withdrawn one of `evil`, and a new run."""
    place = tmp_path / "museum"
    for model, account, right in (("held/good", "held", 8), ("evil/gone", "evil", 3)):
        run = rextime_run(account, model=model, right=right)
        store.add(run, place, filing=Filing(account))
    row_life.rename("held/good", "held/better", place)
    [gone] = [row.key for row in board_state.read(place).rows.values() if row.account == "evil"]
    row_life.remove([gone], place, "copied")
    return place, run


@pytest.mark.parametrize("kind", REFUSED)
def test_a_forged_word_within_a_result_is_refused_with_its_reason(board_of_two, tamper, kind):
    place, run = board_of_two
    samples, result, why = REFUSED[kind]
    tamper(
        run, samples=samples, result=lambda document: None if result is None else result(document)
    )
    before = (place / "ledger.jsonl").read_bytes()
    [checked] = submission.read(store.check(run), place, account="evil")
    [added] = store.add(run, place, filing=Filing("evil"))
    assert (checked.verdict, added.outcome) == ("refused", "refused")
    assert why in added.why
    assert (place / "ledger.jsonl").read_bytes() == before


@pytest.mark.parametrize("kind", ONE_MORE_ROW)
def test_a_forged_word_that_is_taken_vouches_for_nothing(board_of_two, rextime_run, tamper, kind):
    place, _ = board_of_two
    before = board_state.read(place).rows
    [held] = board.make(place, published=False).entries
    run = tamper(rextime_run("more", model="evil/m", right=2), result=ONE_MORE_ROW[kind])
    [added] = store.add(run, place, filing=Filing("evil"))
    assert added.outcome == "added", added.why
    state = board_state.read(place)
    [row] = [row for key, row in state.rows.items() if key not in before]
    assert {key: state.rows[key] for key in before} == before
    assert (row.account, row.judged, row.rejudged, row.vouched) == ("evil", False, None, False)
    assert row.order > max(old_row.order for old_row in before.values())
    made = board.make(place, published=False)
    [same] = [entry for entry in made.entries if entry.model == "held/better"]
    assert (same.about, same.note, same.unranked, same.group) == (
        held.about,
        held.note,
        held.unranked,
        held.group,
    )
    assert made.ranks[same.key] == 1
    [own] = [entry for entry in made.entries if entry.model == "evil/m"]
    assert "held/good" not in own.note or own.note.startswith("as stated by evil: ")
    assert not own.about.organisation or own.facts["stated_by"] == "evil"
    assert made.names["held/better"] == "held/better"
