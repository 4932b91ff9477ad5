"""A row's whole life: filed, corrected, renamed, moved, withdrawn and put back, in the store and where it is published."""

import hashlib
import json
import re
import shutil
from itertools import pairwise

import pytest

import reelbench
from reelbench.base.errors import InputError
from reelbench.data.hub_write import Repository
from reelbench.leaderboard import (
    aliases,
    board,
    cloning,
    ledger,
    recheck,
    row_life,
    site,
    store,
    submission,
)
from reelbench.leaderboard import publish as publishing
from reelbench.leaderboard.board_state import BoardState
from reelbench.leaderboard.board_state import read as read_state
from reelbench.leaderboard.ledger import Ledger
from reelbench.leaderboard.publish import PublishOptions
from reelbench.leaderboard.store import Filing
from reelbench.registry import discovery

DATASET, SPACE = "museum/results", "museum/board"


@pytest.fixture
def place(rextime_run, tmp_path):
    """A store with a row of the maintainers and one of `bob`."""
    path = tmp_path / "store"
    store.add(rextime_run("one", model="org/one", right=8), path)
    store.add(rextime_run("two", model="bob/two", right=5), path, filing=Filing("bob"))
    return path


def _key(place, model):
    [row] = [row for row in read_state(place).rows.values() if row.model == model]
    return row.key


def _tree(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def test_a_withdrawn_row_is_gone_at_both_ends_and_comes_back_only_when_restored(
    hub, place, rextime_run, tamper, tmp_path
):
    publishing.publish(place, space=SPACE, dataset=DATASET)
    dataset = hub.repos["dataset", DATASET]
    submitted = {path for path in dataset.files() if "bob__two" in path}
    assert submitted
    key = _key(place, "bob/two")
    row_life.remove([key], place, "wrong frames")
    told = []
    publishing.publish(place, space=SPACE, dataset=DATASET, note=told.append)
    assert not [path for path in dataset.files() if "bob__two" in path]
    pages = hub.repos["space", SPACE].files()
    assert not [path for path, data in pages.items() if b"bob/two" in data]
    assert any("earlier commits still have the withdrawn results" in line for line in told)
    # The same answers under another date and another revision are the same run.
    again = tamper(
        rextime_run("again", model="bob/two", right=5),
        result=lambda found: (
            found["provenance"].update(date="2026-01-01T00:00:00+00:00"),
            found["model"].update(revision="v2"),
        ),
    )
    [added] = store.add(again, place, filing=Filing("bob"))
    assert added.outcome == "refused"
    assert "wrong frames" in added.why
    assert f"leaderboard restore {key}" in added.why
    # A clone obeys, too.
    cloning.clone(DATASET, tmp_path / "clone", told.append)
    [added] = store.add(again, tmp_path / "clone", filing=Filing("bob"))
    assert added.outcome == "refused"
    row_life.restore(key, place)
    publishing.publish(place, space=SPACE, dataset=DATASET)
    assert {path for path in dataset.files() if "bob__two" in path} == submitted


@pytest.mark.parametrize("model", ["bob/three", "eve/mine"])
def test_withdrawn_answers_under_another_name_are_told_to_the_maintainers(
    place, rextime_run, model
):
    key = _key(place, "bob/two")
    row_life.remove([key], place, "leaked")
    again = rextime_run("again", model=model, right=5)
    told = f"the same answers were withdrawn on {ledger.now():%Y-%m-%d} as {key} (leaked)"
    [read] = submission.read(store.check(again), place, account="eve")
    assert told in read.missing
    [added] = store.add(again, place, filing=Filing("eve"))
    assert added.outcome == "added"
    assert told in added.why
    # Other answers are no such run.
    [added] = store.add(rextime_run("other", model="eve/other", right=3), place)
    assert "withdrawn" not in added.why


def test_restored_without_its_files_a_row_stands_again_when_it_is_added(
    hub, place, rextime_run, tmp_path
):
    publishing.publish(place, dataset=DATASET)
    key = _key(place, "bob/two")
    row_life.remove([key], place, "wrong frames")
    publishing.publish(place, dataset=DATASET)
    clone = tmp_path / "clone"
    cloning.clone(DATASET, clone, print)
    assert row_life.restore(key, clone) is False  # its files are in the other store
    publishing.publish(clone, dataset=DATASET)
    assert not [path for path in hub.repos["dataset", DATASET].files() if "bob__two" in path]
    cloning.clone(DATASET, tmp_path / "second", print)
    [added] = store.add(
        rextime_run("again", model="bob/two", right=5), tmp_path / "second", filing=Filing("bob")
    )
    assert added.outcome == "added", added.why


def test_one_commit_of_the_history_has_no_withdrawn_result(hub, place):
    publishing.publish(place, dataset=DATASET)
    row_life.remove([_key(place, "bob/two")], place, "wrong frames")
    publishing.publish(place, dataset=DATASET)
    assert len(hub.repos["dataset", DATASET].history()) > 1
    options = PublishOptions(squash_history=True)
    assert publishing.publish(place, dataset=DATASET, options=options)[0].done == "unchanged"
    [commit] = hub.repos["dataset", DATASET].history()
    assert not [path for path in commit.files if "bob__two" in path]


def test_a_renamed_model_has_its_new_name_everywhere_and_its_old_address(
    place, rextime_run, reelbench, tmp_path
):
    assert row_life.rename("bob/two", "bob/second", place) == 1
    site.build(place, tmp_path / "site", published=False)
    data = (tmp_path / "site" / "data" / "board.js").read_text()
    assert '"renamed":{"bob/two":"bob/second"}' in data
    assert '"model":"bob/two"' not in data
    assert "bob/two" not in (tmp_path / "site" / "downloads" / "leaderboard.json").read_text()
    for command in ("list", "tables"):
        done = reelbench("leaderboard", command, "--store", place)
        assert "bob/second" in done.stdout
    # What comes under the old name is its, and its owner's alone.
    submitted = tmp_path / "two" / "result"
    assert [one.outcome for one in store.add(submitted, place)] == ["same"]
    for name in ("bob/two", "bob/second"):
        run = rextime_run(name.replace("/", "-"), model=name, right=2)
        [added] = store.add(run, place, filing=Filing("evil", replaces=True))
        assert "was filed first by bob" in added.why
    with pytest.raises(InputError, match="two models don't become one"):
        row_life.rename("bob/second", "org/one", place)
    row_life.move("bob/second", "carol", place)
    [added] = store.add(run, place, filing=Filing("carol", replaces=True))
    assert added.outcome in ("added", "replaced"), added.why


def test_a_model_that_was_moved_stays_its_new_owners_under_a_new_name(place, rextime_run):
    row_life.move("bob/two", "carol", place)
    row_life.rename("bob/two", "bob/second", place)
    run = rextime_run("second", model="bob/second", right=2)
    [added] = store.add(run, place, filing=Filing("bob", replaces=True))
    assert "belongs to carol" in added.why
    [row] = [row for row in read_state(place).rows.values() if row.model == "bob/two"]
    assert read_state(place).owner_of(row) == "carol"
    [added] = store.add(run, place, filing=Filing("carol", replaces=True))
    assert added.outcome in ("added", "replaced"), added.why


def test_a_name_whose_rows_are_gone_brings_its_next_model_no_owner(place):
    row_life.move("bob/two", "carol", place)
    row_life.remove([_key(place, "bob/two")], place, "wrong frames")
    row_life.rename("org/one", "bob/two", place)
    [row] = read_state(place).rows.values()
    assert read_state(place).owner_of(row) is None  # the maintainers, who filed it


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "is blank"),
        ("../../x", "only dots"),
        ("-rf", "begins with a hyphen"),
        ("x\x1b[2J", "U+001B"),
        ("a\nb", "U+000A"),
    ],
)
def test_no_model_gets_a_name_that_no_submission_may_have(place, tmp_path, name, told):
    lines = Ledger(place).lines
    with pytest.raises(InputError, match=re.escape(told)):
        row_life.rename("bob/two", name, place)
    assert Ledger(place).lines == lines
    # Nor does whoever clones a stranger's dataset read such a name.
    entry = ledger.Renamed.model_construct(
        at=ledger.now(), who="maintainer", act="renamed", model="bob/two", to=name
    )
    [line] = ledger.chained([(entry, ledger.entry_sha256(entry))], lines[-1].chain)
    shutil.copytree(place, tmp_path / "copy" / "results")
    with (tmp_path / "copy" / "results" / "ledger.jsonl").open("a") as file:
        file.write(line.text)
    with pytest.raises(InputError, match=r"line 3: field entry.renamed.to: "):
        cloning.clone(str(tmp_path / "copy"), tmp_path / "clone", print)


@pytest.mark.usefixtures("hub")
def test_a_name_that_another_maintainers_row_has_stops_the_one_who_publishes_later(
    place, rextime_run, tmp_path
):
    publishing.publish(place, dataset=DATASET)
    second = tmp_path / "second"
    cloning.clone(DATASET, second, print)
    store.add(rextime_run("new", model="org/new", right=3), second)
    publishing.publish(second, dataset=DATASET)
    row_life.rename("bob/two", "Org/New", place)
    told = "two maintainers did different things: published is org__new/.*begin with a clone"
    with pytest.raises(InputError, match=told):
        publishing.publish(place, dataset=DATASET)
    row_life.rename("bob/two", "bob/second", second)
    publishing.publish(second, dataset=DATASET)


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize(("account", "is_taken"), [("eve", False), ("bob", True)])
def test_a_model_filed_under_a_name_that_another_one_got_meanwhile_stops_the_publisher(
    place, rextime_run, tmp_path, account, is_taken
):
    publishing.publish(place, dataset=DATASET)
    second = tmp_path / "second"
    cloning.clone(DATASET, second, print)
    row_life.rename("bob/two", "org/new", place)
    publishing.publish(place, dataset=DATASET)
    store.add(rextime_run("new", model="org/new", right=3), second, filing=Filing(account))
    if is_taken:  # it is the same account's
        publishing.publish(second, dataset=DATASET)
        return
    told = "published is .*renamed bob/two to org/new; here is .*begin with a clone"
    with pytest.raises(InputError, match=told):
        publishing.publish(second, dataset=DATASET)


def _move_main_on(second, rextime_run):
    """Let another maintainer publish a row of their own."""
    cloning.clone(DATASET, second, print)
    store.add(rextime_run("other", model="eve/other", right=3), second, filing=Filing("eve"))
    publishing.publish(second, dataset=DATASET)


@pytest.mark.usefixtures("hub")
def test_a_row_that_was_restored_and_added_again_is_published_after_another_maintainers(
    place, rextime_run, tmp_path
):
    key = _key(place, "bob/two")
    row_life.remove([key], place, "wrong frames")
    publishing.publish(place, dataset=DATASET)
    _move_main_on(tmp_path / "second", rextime_run)
    shutil.rmtree(place / store.REMOVED_FOLDER)
    assert row_life.restore(key, place) is False
    [added] = store.add(rextime_run("again", model="bob/two", right=5), place, filing=Filing("bob"))
    assert added.outcome == "added", added.why
    publishing.publish(place, dataset=DATASET)
    assert key in read_state(place).rows
    assert _key(place, "eve/other")


@pytest.mark.usefixtures("hub")
def test_a_name_given_and_taken_back_is_published_after_another_maintainers(
    place, rextime_run, tmp_path
):
    publishing.publish(place, dataset=DATASET)
    _move_main_on(tmp_path / "second", rextime_run)
    row_life.rename("bob/two", "bob/second", place)
    row_life.rename("bob/second", "bob/two", place)
    publishing.publish(place, dataset=DATASET)
    assert read_state(place).name_of("bob/two") == "bob/two"
    assert _key(place, "eve/other")


def test_the_last_of_many_names_is_todays_and_an_old_one_may_come_back():
    names = ["bob/two", *(f"bob/{number}" for number in range(3000)), "bob/two", "Bob/Two"]
    renames = [
        ledger.Renamed(at=ledger.now(), who="maintainer", act="renamed", model=old, to=new)
        for old, new in pairwise(names)
    ]
    state = BoardState()
    state.apply(renames)
    assert state.name_of("bob/17") == "Bob/Two"
    # Each name leads to today's in one step, so that the time does not grow with its square.
    assert len(state.names_of("BOB/2999")) == len({name.casefold() for name in names}) + 1
    assert set(state.names.values()) == {"Bob/Two"}


def test_a_model_gets_an_earlier_name_back(place, rextime_run):
    row_life.rename("bob/two", "bob/second", place)
    with pytest.raises(InputError, match="'bob/second' is the model's name already"):
        row_life.rename("bob/two", "Bob/Second", place)
    row_life.rename("bob/second", "bob/two", place)
    shown = {row.model for row in board.make(place, published=False).entries}
    assert shown == {"org/one", "bob/two"}
    again = rextime_run("again", model="bob/second", right=5)
    [added] = store.add(again, place, filing=Filing("bob"))
    assert added.outcome in ("same", "replaced", "older"), added.why


def test_the_log_of_a_key_that_was_never_filed_is_an_error(place, reelbench):
    done = reelbench("leaderboard", "log", "bob/two", "--store", place)
    assert done.returncode == 2
    assert "nothing was ever filed as 'bob/two'; `reelbench leaderboard log" in done.stderr


def test_a_reason_of_several_lines_is_one_line_of_the_log(place):
    row_life.remove([_key(place, "bob/two")], place, "wrong\n9  maintainer: filed")
    assert len(list(row_life.log(place))) == len(Ledger(place).lines)
    assert list(row_life.log(place))[-1].endswith("(wrong 9 maintainer: filed)")
    assert not any("\n" in line for line in row_life.log(place))


def test_files_that_an_ended_command_left_are_no_replaced_answers(
    place, rextime_run, tamper, tmp_path
):
    [first] = store.add(rextime_run("new", model="org/new"), tmp_path / "elsewhere")
    assert first.place is not None
    own_place = place / first.place.relative_to(tmp_path / "elsewhere")
    shutil.copytree(first.place, own_place)
    again = tamper(
        rextime_run("again", model="org/new"),
        result=lambda found: found["provenance"].update(date="2026-01-02T00:00:00+00:00"),
    )
    [added] = store.add(again, place)
    assert (added.outcome, added.place) == ("added", own_place)
    assert not (place / "replaced").exists()
    # Other answers there may be a merged submission that nobody filed: they are kept.
    shutil.copytree(first.place, place / "org__other" / "/".join(first.place.parts[-3:]))
    [other] = store.add(rextime_run("other", model="org/other", right=2), place)
    assert other.outcome == "added"
    assert len(list((place / "replaced" / "org__other").rglob("result.json"))) == 1


def test_more_knowledge_never_refuses_and_what_is_wrong_falls(tmp_path, monkeypatch):
    folder = tmp_path / "kitchen"
    folder.mkdir()
    rows = [{"id": f"q{n}", "video": f"v{n}.mp4", "q": f"Q{n}?", "a": f"a{n}"} for n in range(12)]

    def write(answers):
        lines = [
            json.dumps({**row, "a": answer}) + "\n"
            for row, answer in zip(rows, answers, strict=True)
        ]
        (folder / "rows.jsonl").write_text("".join(lines))

    (folder / "benchmark.yaml").write_text(
        "id: kitchen\nkind: exact\nsource: {file: rows.jsonl}\n"
        "columns: {id: id, video: video, question: q, answer: a}\nlanguages: [en]\n"
    )
    right = [f"a{n}" for n in range(12)]
    for model, truth in (("org/honest", right), ("evil/one", ["a0"] * 12)):
        write(truth)
        monkeypatch.setattr(discovery, "_registry", None)
        answers = [{"id": row["id"], "prediction": "a0"} for row in rows]
        reelbench.score(str(folder), answers, model=model).save(tmp_path / model)
    evil = tmp_path / "evil" / "one" / "result.json"
    honest = json.loads((tmp_path / "org" / "honest" / "result.json").read_text())
    forged = json.loads(evil.read_text())
    forged["benchmark"]["questions_sha256"] = honest["benchmark"]["questions_sha256"]
    evil.write_text(json.dumps(forged))
    write(right)
    # The submitter's machine, and the maintainer's at first, don't have the benchmark.
    monkeypatch.setattr(discovery, "_registry", None)
    place = tmp_path / "store"
    for model in ("org/honest", "evil/one"):
        [added] = store.add(tmp_path / model, place)
        assert added.check is not None
        assert added.check.ids == "unchecked"
    monkeypatch.setenv("REELBENCH_BENCHMARKS", str(tmp_path))
    monkeypatch.setattr(discovery, "_registry", None)
    [checked] = store.check(tmp_path / "org" / "honest")
    assert checked.check is not None
    assert (checked.outcome, checked.check.ids) == ("same", "checked")
    changes = recheck.changed_marks(place, store.ALONE)
    found = {change.row.model: (change.direction, change.why) for change in changes}
    assert found["org/honest"] == ("rises", "verified now: references")
    direction, why = found["evil/one"]
    assert (direction, "its target is not the benchmark's" in why) == ("falls", True)
    recheck.write(changes, place)
    assert recheck.changed_marks(place, store.ALONE) == []
    made = board.make(place, published=False)
    unranked = {row.model: row.unranked for row in made.entries}
    assert unranked["org/honest"] is None
    assert "checked again with the benchmark's data" in str(unranked["evil/one"])


@pytest.mark.usefixtures("hub")
def test_a_clone_has_the_same_board_byte_for_byte(place, rextime_run, tmp_path):
    store.add(
        rextime_run("mended", model="bob/two", right=6), place, filing=Filing("bob", replaces=True)
    )
    row_life.rename("org/one", "org/first", place)
    (place / "settings.yaml").write_text("judges: [one]\n")
    (place / "aliases.yaml").write_text("org/first: [First]\n")
    publishing.publish(place, dataset=DATASET)
    assert cloning.clone(DATASET, tmp_path / "clone", lambda _: None) == 2
    site.build(place, tmp_path / "site")
    site.build(tmp_path / "clone", tmp_path / "again")
    assert _tree(tmp_path / "site") == _tree(tmp_path / "again")
    assert (tmp_path / "clone" / "ledger.jsonl").read_bytes() == (
        place / "ledger.jsonl"
    ).read_bytes()
    assert list((tmp_path / "clone" / "replaced").rglob("result.json"))
    assert publishing.publish(tmp_path / "clone", dataset=DATASET)[0].done == "unchanged"
    with pytest.raises(InputError, match="is there already"):
        cloning.clone(DATASET, tmp_path / "clone", lambda _: None)


def test_a_merged_correction_that_nobody_filed_is_named_and_filed_in_a_clone(
    hub, place, rextime_run, tmp_path
):
    publishing.publish(place, dataset=DATASET)
    key = _key(place, "bob/two")
    corrected = tmp_path / "corrected"
    [added] = store.add(rextime_run("mended", model="bob/two", right=6), corrected)
    assert added.place is not None
    merged = {f"results/{key}/{file.name}": file.read_bytes() for file in added.place.iterdir()}
    hub.repos["dataset", DATASET].commit(merged, "Merge pull request 1")
    told = []
    clone = tmp_path / "clone"
    assert cloning.clone(DATASET, clone, told.append) == 2
    [line] = told
    assert line.startswith(f"{key}: its files there are not those that the ledger has")
    assert f"`reelbench leaderboard replace {clone / key} --store {clone} --account bob`" in line
    left_out = {}
    assert [row.result.model.id for row in store.read(clone, left_out=left_out.__setitem__)] == [
        "org/one"
    ]
    assert list(left_out) == [key]
    filing = Filing("bob", replaces=True)
    [filed] = store.add(clone / key, clone, filing=filing)
    assert (filed.outcome, _key(clone, "bob/two")) == ("replaced", key)
    assert len(store.read(clone)) == 2
    assert not (clone / "replaced").exists()  # the answers that it replaced were never here
    # The store that published keeps them.
    [filed] = store.add(corrected / key, place, filing=filing)
    assert filed.outcome == "replaced"
    assert list((place / "replaced" / key).rglob("result.json"))


@pytest.mark.parametrize("which", ["edited", "removed", "swapped", "blanked", "torn"])
def test_a_broken_line_ends_and_a_torn_one_is_cut(place, reelbench, rextime_run, which):
    file = place / "ledger.jsonl"
    row_life.remove([_key(place, "bob/two")], place, "a test")
    lines = file.read_text().splitlines(keepends=True)
    assert len(lines) == 3
    if which == "edited":
        lines[1] = lines[1].replace('"who": "bob"', '"who": "evil"')
    elif which == "removed":
        del lines[1]
    elif which == "swapped":
        lines[0], lines[1] = lines[1], lines[0]
    elif which == "blanked":
        lines[2] = json.dumps({**json.loads(lines[2]), "entry": None}) + "\n"
    else:
        lines[2] = lines[2][:-20]
    file.write_text("".join(lines))
    done = reelbench("leaderboard", "log", "--store", place)
    if which in ("edited", "removed", "swapped"):
        assert done.returncode == 2
        assert "ledger.jsonl, line " in done.stderr
        return
    assert done.returncode == 0, done.stderr
    # What the lost entry said is not known any more: the row stands.
    assert len(store.read(place, left_out=lambda *_: None)) == 1
    assert "bob/two" in {row.model for row in read_state(place).rows.values()}
    assert ("torn" in done.stdout) == (which == "torn")
    store.add(rextime_run("three", model="org/three"), place)
    assert len(Ledger(place).lines) == (4 if which == "blanked" else 3)
    assert Ledger(place).torn == 0


@pytest.mark.parametrize(
    "key",
    ["../../../outside/a", "/a/b/c", "a/b/c", "a/b/../c", "a/b/c/..", "a//b/c", "a/b\n/c/d"],
)
def test_a_ledger_whose_keys_lead_elsewhere_is_refused_and_nothing_there_is_deleted(
    place, tmp_path, key
):
    """Whoever clones a stranger's dataset and publishes has its withdrawn rows' folders deleted."""
    outside = tmp_path / "outside" / "a"
    outside.mkdir(parents=True)
    entry = {
        "at": "2026-01-01T00:00:00Z",
        "who": "maintainer",
        "act": "removed",
        "key": key,
        "model": "a/b",
        "answers": "0",
        "reason": "none",
    }
    text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(text.encode()).hexdigest()
    chain = ledger.next_chain(Ledger(place).chain, digest)
    dataset = tmp_path / "dataset"
    shutil.copytree(place, dataset / "results")
    with (dataset / "results" / "ledger.jsonl").open("a") as file:
        file.write(json.dumps({"entry": entry, "sha256": digest, "chain": chain}) + "\n")
    with pytest.raises(InputError, match=r"ledger.jsonl, line 3: field entry.removed.key: "):
        cloning.clone(str(dataset), tmp_path / "clone", print)
    with pytest.raises(InputError, match="line 3"):
        board.make(dataset / "results", published=False)
    assert outside.is_dir()
    assert not (tmp_path / "clone").exists()


@pytest.mark.usefixtures("hub")
def test_a_clone_that_is_refused_names_the_dataset_and_no_folder_that_is_gone(place, tmp_path):
    (place / "settings.yaml").write_text("judges: [one]\n")
    publishing.publish(place, dataset=DATASET)
    copy = tmp_path / "copy"
    shutil.copytree(place, copy / "results")
    (copy / "results" / "settings.yaml").write_text("judges: 5\n")
    with pytest.raises(InputError) as refusal:
        cloning.clone(str(copy), tmp_path / "clone", print)
    assert str(refusal.value).startswith(f"{copy / 'results' / 'settings.yaml'}: ")
    repository = Repository(DATASET, "dataset")
    content = (copy / "results" / "settings.yaml").read_bytes()
    with repository.errors_in_one_line():
        repository.api.upload_file(
            path_or_fileobj=content,
            path_in_repo="results/settings.yaml",
            repo_id=DATASET,
            repo_type="dataset",
        )
    with pytest.raises(InputError) as refusal:
        cloning.clone(DATASET, tmp_path / "clone", print)
    assert f"{DATASET}, results/settings.yaml: field judges" in str(refusal.value)
    assert "reelbench-clone-" not in str(refusal.value)


def test_a_copy_of_a_dataset_is_added_without_the_answers_that_were_replaced(
    hub, place, rextime_run, tmp_path
):
    store.add(rextime_run("mended", model="org/one", right=9), place, filing=Filing(replaces=True))
    publishing.publish(place, dataset=DATASET)
    copy = tmp_path / "copy"
    for path, content in hub.repos["dataset", DATASET].files().items():
        (copy / path).parent.mkdir(parents=True, exist_ok=True)
        (copy / path).write_bytes(content)
    assert list((copy / "results" / "replaced").rglob("result.json"))
    outcomes = store.add(copy, place, filing=Filing("bob"))
    assert [added.outcome for added in outcomes] == ["same", "same"]
    assert [added.outcome for added in store.check(copy)] == ["same", "same"]


def test_a_copy_of_a_dataset_sets_no_newer_row_back(place, rextime_run, tamper, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(place, copy / "results")
    older = copy / "results" / _key(place, "bob/two")
    tamper(older, result=lambda found: found["provenance"].update(date="2026-01-01T00:00:00+00:00"))
    filing = Filing("bob", replaces=True)
    [added] = store.add(rextime_run("newer", model="bob/two", right=9), place, filing=filing)
    assert added.outcome == "replaced"
    outcomes = {added.result.model.id: added for added in store.add(copy, place, filing=filing)}
    assert outcomes["bob/two"].outcome == "older"
    # Whoever names the run itself means it.
    [added] = store.add(older, place, filing=filing)
    assert added.outcome == "replaced"


@pytest.mark.usefixtures("hub")
def test_settings_of_two_maintainers_take_each_others_place_only_when_that_is_said(place, tmp_path):
    told = []

    def publish(store_of_one):
        told.clear()
        return publishing.publish(store_of_one, dataset=DATASET, note=told.append)

    settings = place / "settings.yaml"
    settings.write_text("judges: [first]\n")
    publish(place)
    other = tmp_path / "other"
    cloning.clone(DATASET, other, told.append)
    (other / "settings.yaml").write_text("judges: [second]\n")
    publish(other)
    assert any("yours takes the place of the published one" in line for line in told)
    # Who changed nothing gets the other's.
    publish(place)
    assert settings.read_text() == "judges: [second]\n"
    assert any("brought in as another maintainer published it" in line for line in told)
    # Who changed it too is told once, with the other's file to read.
    settings.write_text("judges: [third]\n")
    publish(place)
    (other / "settings.yaml").write_text("judges: [fourth]\n")
    with pytest.raises(InputError, match="was changed here, and by another maintainer"):
        publish(other)
    assert (other / "published_settings.yaml").read_text() == "judges: [third]\n"
    (other / "settings.yaml").write_text("judges: [third, fourth]\n")
    publish(other)
    publish(place)
    assert settings.read_text() == "judges: [third, fourth]\n"


def test_the_name_of_a_withdrawn_model_stays_its_accounts(place, rextime_run):
    row_life.remove([_key(place, "bob/two")], place, "wrong frames")
    [eve] = store.add(rextime_run("eve", model="bob/two", right=7), place, filing=Filing("eve"))
    assert eve.outcome == "refused"
    assert "bob/two was filed first by bob" in eve.why
    [bob] = store.add(rextime_run("again", model="bob/two", right=6), place, filing=Filing("bob"))
    assert bob.outcome == "added", bob.why


def test_a_withdrawn_models_name_goes_where_it_is_moved(place, rextime_run):
    row_life.remove([_key(place, "bob/two")], place, "not bob's")
    row_life.move("bob/two", "eve", place)
    [eve] = store.add(rextime_run("eve", model="bob/two", right=7), place, filing=Filing("eve"))
    assert eve.outcome == "added", eve.why


@pytest.mark.usefixtures("hub")
def test_two_maintainers_who_filed_a_name_for_two_accounts_are_stopped(
    rextime_run, tamper, tmp_path
):
    one, two = tmp_path / "one", tmp_path / "two"
    store.add(rextime_run("a", model="alice/model"), one, filing=Filing("alice"))
    run = tamper(
        rextime_run("m", model="alice/model", right=7),
        result=lambda found: found["model"].update(revision="v2"),
    )
    [added] = store.add(run, two, filing=Filing("mallory"))
    assert added.outcome == "added", added.why
    publishing.publish(one, dataset=DATASET)
    with pytest.raises(InputError) as stopped:
        publishing.publish(two, dataset=DATASET)
    message = str(stopped.value)
    assert "published, alice/model was filed first by alice" in message
    assert "mallory: filed alice__model/v2/" in message
    row_life.remove([_key(two, "alice/model")], two, "alice's name")
    publishing.publish(two, dataset=DATASET)
    assert [row.account for row in read_state(two).rows.values()] == ["alice"]


def _failed_mark(place, key):
    """A check of a row's answers of today that fails."""
    row = read_state(place).rows[key]
    failed = row.verified.model_copy(update={"failed": "item q1: its target is wrong"})
    return recheck.ChangedMark(row, "falls", "its target is wrong", failed)


def _check_without_hash(place, key):
    """Append a check in the form that names no answers."""
    mark = _failed_mark(place, key)
    entry = ledger.Checked(
        at=ledger.now(), who="maintainer", act="checked", key=key, verified=mark.verified
    )
    book = Ledger(place)
    with book.locked():
        book.append([entry])


def _check_with_hash(place, key):
    assert recheck.write([_failed_mark(place, key)], place) == []


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("check", [_check_with_hash, _check_without_hash])
@pytest.mark.parametrize("is_replaced", [True, False])
def test_a_check_is_of_the_answers_that_it_was_made_of(
    place, rextime_run, tmp_path, check, is_replaced
):
    publishing.publish(place, dataset=DATASET)
    second = tmp_path / "second"
    cloning.clone(DATASET, second, print)
    key = _key(place, "bob/two")
    check(second, key)
    assert read_state(second).rows[key].failed
    if is_replaced:
        run = rextime_run("right", model="bob/two", right=9)
        [added] = store.add(run, place, filing=Filing("bob", replaces=True))
        assert added.outcome == "replaced", added.why
    publishing.publish(place, dataset=DATASET)
    publishing.publish(second, dataset=DATASET)
    assert bool(read_state(second).rows[key].failed) is not is_replaced


def test_a_row_that_got_other_answers_while_it_was_checked_keeps_its_mark(place, rextime_run):
    key = _key(place, "bob/two")
    mark = _failed_mark(place, key)
    run = rextime_run("right", model="bob/two", right=9)
    store.add(run, place, filing=Filing("bob", replaces=True))
    assert recheck.write([mark], place) == [key]
    assert read_state(place).rows[key].failed is None


def test_an_entry_on_other_answers_is_no_check_of_a_row(place):
    key = _key(place, "bob/two")
    mark = _failed_mark(place, key)
    state = read_state(place)
    entry = ledger.Checked(
        at=ledger.now(),
        who="maintainer",
        act="checked",
        key=key,
        answers="0" * 64,
        verified=mark.verified,
    )
    state.apply([entry])
    assert state.rows[key].failed is None


@pytest.fixture
def place_of_aliases(tmp_path):
    """An empty store whose file of names has two names of one model."""
    place = tmp_path / "listed"
    place.mkdir()
    (place / "aliases.yaml").write_text("org/film-7b: [org/film-7b-chat]\n")
    return place


def test_withdrawn_answers_stay_away_under_a_listed_name(place_of_aliases, rextime_run):
    place = place_of_aliases
    store.add(rextime_run("a", model="org/film-7b"), place, filing=Filing("org"))
    row_life.remove([_key(place, "org/film-7b")], place, "trained on the test")
    again = rextime_run("b", model="org/film-7b-chat")
    [read] = submission.read(store.check(again), place, account="org")
    assert "these answers were withdrawn" in read.why
    [added] = store.add(again, place, filing=Filing("org"))
    assert added.outcome == "refused"
    assert "these answers were withdrawn" in added.why
    # Other answers are no such run.
    [added] = store.add(
        rextime_run("c", model="org/film-7b-chat", right=3), place, filing=Filing("org")
    )
    assert added.outcome == "added", added.why


def test_a_model_is_moved_with_its_listed_names(place_of_aliases, rextime_run):
    place = place_of_aliases
    store.add(rextime_run("a", model="org/film-7b-chat"), place, filing=Filing("bob"))
    row_life.move("org/film-7b", "carol", place)
    [row] = read_state(place).rows.values()
    names = aliases.read(place)
    assert read_state(place).owner_of(row, names) == "carol"
    row_life.move("org/film-7b-chat", "dave", place)
    assert read_state(place).owner_of(row, names) == "dave"
    row_life.move("org/film-7b", "erin", place)
    assert read_state(place).owner_of(row, names) == "erin"
    assert "org/film-7b-chat" in read_state(place).refusals({"org/film-7b-chat"}, "bob", names)
