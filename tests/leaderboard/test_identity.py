"""Whose result it is: names that are taken, and places that stay inside the store."""

import json
import re
import shutil

import pytest

from reelbench.base.errors import InputError
from reelbench.leaderboard import (
    aliases,
    board,
    board_settings,
    community,
    hidden_key,
    identity,
    ledger,
    row_life,
    site,
    store,
)
from tests.leaderboard.ledgers import refiled


@pytest.fixture
def run(rextime_run):
    return rextime_run()


def renamed(tamper, folder, name, revision=None):
    return tamper(folder, result=lambda found: found["model"].update(id=name, revision=revision))


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "model.id is blank"),
        (" ", "model.id is blank"),
        ("org/model ", "remove leading, trailing and double spaces"),
        ("org/a  b", "remove leading, trailing and double spaces"),
        (".", "a part of which is empty or only dots"),
        ("..", "a part of which is empty or only dots"),
        ("../../etc/passwd", "a part of which is empty or only dots"),
        ("/org/model", "a part of which is empty"),
        ("org//model", "a part of which is empty"),
        ("x" * 201, "has 201 characters"),
        ("org/mod\x1b[31mel", "U+001B"),
        ("org/mod\nel", "U+000A"),
        ("org/mod\x00el", "U+0000"),
        ("org/mod\u2028el", "U+2028"),
        ("org/mod\u2029el", "U+2029"),
        ("org/mod\ue000el", "the character U+E000"),  # private use
        ("org/mod\u0378el", "the character U+0378"),  # not assigned
        ("org/mod\u200bel", "U+200B"),
        ("org/mod\u2060el", "U+2060"),
        ("org/\u202eledom", "U+202E"),
        ("org/model\ufe0f", "U+FE0F"),
        ("org/model\u3164", "U+3164"),
        ("org/\ud800", "U+FFFD"),
        ("org/mo\u0501el", "cyrillic, latin"),  # a Cyrillic d
        ("\u043erg/model", "cyrillic, latin"),  # a Cyrillic o
        ("org/gpt\u30fc4", "katakana-hiragana"),  # the mark of a long vowel in Japanese
        ("\u043e\u0440\u0435/model", "looks like Latin letters"),  # all Cyrillic
        ("org/mode\u0131", "looks like another"),  # a dotless i
        ("qwen/Qwen2\u4e00VL", "cjk, latin"),  # one, for a dash
        ("acme\u30cehonest", "katakana, latin"),  # no, for a slash
        ("openai/gpt-\u0417.5", "looks like Latin letters or signs"),  # a Cyrillic z, for a three
        ("\u04c0\u04c0\u04c0", "looks like Latin letters or signs"),  # palochkas, for III
        ("\ua4d6\ua4d1\ua4d4-4V", "lisu"),
        ("\ua4e3\ua4f0\ua4f0\ua4e1\ua4d0\ua4f0\ua4e0\ua4da\ua4e7/random", "lisu"),  # for reelbench
        ("\u13c0\u13e2\u13a2-4", "cherokee"),
        ("gpt-4\u02cd1", "modifier"),  # for an underline
        ("gpt-4\ua4f81", "lisu"),  # for a dot
        ("acme/honest\u1175", "hangul"),  # part of a syllable, for a bar
        ("acme/\u1175\u1175", "looks like Latin letters or signs"),
        ("acme/2\u06401", "arabic"),
        ("acme/1\u0627", "arabic"),  # turns what stands around it
        ("\u2c9f\u2ca3", "coptic"),
        ("\u4e00\u4e00", "looks like Latin letters or signs"),
        ("org/\uff4dodel", "write 'org/model'"),  # full width
        ("org/gpt\u20104", "looks like an ASCII character"),  # a hyphen
        ("org/model\u0337", "that it never has"),
        ("-rf/model", "begins with a hyphen"),
    ],
)
def test_names_that_pass_for_others_or_can_t_be_seen_are_refused(run, tamper, tmp_path, name, told):
    [one] = store.add(renamed(tamper, run, name), tmp_path / "store")
    assert one.outcome == "refused"
    assert told in one.why.encode("utf-8", "backslashreplace").decode()
    assert not list((tmp_path / "store").rglob("*.json")) if (tmp_path / "store").exists() else True


@pytest.mark.parametrize("name", ["language", "candidates", "answering", "label"])
def test_what_a_table_is_called_by_has_no_sign_that_can_t_be_seen(run, tamper, name):
    [checked] = store.check(
        tamper(run, result=lambda result: result["settings"].update({name: "\u202een"}))
    )
    assert f"settings.{name} has the character U+202E" in checked.why


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Qwen/Qwen2.5-VL-7B-Instruct",
            "gpt-4o-mini-2024-07-18",
            "Qwen2.5-VL (7B)",
            "通义千问",
            "Модель",
            "café",
        ),
        *(
            "國語ㄅㄆㄇ",
            "犬のデータ",
            "佐々木",
            "한글-GPT",
            "通义千问2",
        ),  # scripts that are written together
    ],
)
def test_names_that_people_give_are_taken(run, tamper, tmp_path, name):
    [one] = store.add(renamed(tamper, run, name), tmp_path / "store")
    assert one.outcome == "added", one.why


def test_two_names_never_share_a_place(run, tamper, tmp_path):
    names = ("org/model", "org__model", "org/model-1", "org model", "Org/Model")
    for name in names:
        [one] = store.add(renamed(tamper, run, name), tmp_path / "store")
        assert one.outcome == "added", one.why
    stored = store.read(tmp_path / "store")
    assert {one.result.model.id for one in stored} == set(names)
    assert len({one.key for one in stored}) == len(names)


def test_what_a_run_merely_came_to_makes_no_other_place(run, tamper, tmp_path):
    [before] = store.add(run, tmp_path / "store")
    tamper(
        run, result=lambda found: found["settings"].update(audio="dropped", frames_given={"8": 12})
    )
    [after] = store.add(run, tmp_path / "store")
    assert (after.outcome, after.place) == ("replaced", before.place), after.why


def test_another_model_behind_the_same_name_has_a_place_of_its_own(run, tamper, tmp_path):
    def answered_by(*names):
        asked = {"asked": 12, "kept": 0, "server": "h", "returned": dict.fromkeys(names, 6)}
        tamper(run, result=lambda found: found["provenance"].update(asked=asked))
        [added] = store.add(run, tmp_path / "store")
        return added

    tamper(run, result=lambda found: found["model"].update(id="org/m"))
    plain = answered_by("org/m")
    assert answered_by("org/m-2026-03-01").place == plain.place
    other = answered_by("b/small")
    assert (other.outcome, other.place == plain.place) == ("added", False)
    several = answered_by("org/m", "b/small")
    assert several.outcome == "added"
    entries = board.make(tmp_path / "store", published=False).entries
    assert {(row.note, row.unranked) for row in entries if row.model == "org/m"} == {
        ("", None),
        ("answered as b/small", None),
        ("answered as b/small", "the model answered under several ids: b/small, org/m"),
    }


def test_another_s_result_is_not_replaced_where_both_come_to_one_place(run, tamper, tmp_path):
    """As on a disk that does not tell `Org` from `org`."""
    [one] = store.add(run, tmp_path / "store")
    place = one.place
    other = renamed(tamper, shutil.copytree(run, tmp_path / "other"), "Org/Model")
    shutil.copy(other / "result.json", place / "result.json")
    [one] = store.add(run, tmp_path / "store")
    assert one.outcome == "refused"
    assert "another's result is not replaced" in one.why


@pytest.mark.parametrize("name", ["\0", "../rextime", "", "a" * 300])
def test_a_benchmark_that_is_none_is_no_part_of_a_path(run, tamper, tmp_path, name):
    tamper(run, result=lambda found: found["benchmark"].update(id=name))
    [one] = store.add(run, tmp_path / "store")
    assert one.outcome == "refused"
    assert f"unknown benchmark {name!r}" in one.why


@pytest.mark.parametrize(
    ("url", "outcome"),
    [
        ("https://a.example/x", "added"),
        ("http://a.example", "added"),
        ("ftp://a.example", "refused"),
    ],
)
def test_where_it_is_from_is_an_address_of_the_web(run, tamper, tmp_path, url, outcome):
    run = tamper(run, result=lambda found: found["provenance"].update(url=url))
    [added] = store.add(run, tmp_path / "store")
    assert added.outcome == outcome, added.why
    if outcome == "refused":
        assert f"provenance.url is {url!r}" in added.why


@pytest.mark.parametrize("what", ["org__model", "org__model/unknown", "org__model/unknown/rextime"])
def test_links_in_a_store_are_not_followed(run, tmp_path, what):
    inside, outside = tmp_path / "store", tmp_path / "outside"
    outside.mkdir()
    link = inside / what
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)
    [one] = store.add(run, inside)
    assert one.outcome == "refused"
    assert "is a link" in one.why
    assert not list(outside.iterdir())


def test_a_store_with_a_link_is_not_read(run, tmp_path):
    [one] = store.add(run, tmp_path / "store")
    moved = tmp_path / "samples.jsonl"
    (one.place / "samples.jsonl").rename(moved)
    (one.place / "samples.jsonl").symlink_to(moved)
    with pytest.raises(InputError, match="is a link"):
        store.read(tmp_path / "store")


def test_a_result_whose_files_are_links_is_refused(run, tmp_path):
    (run / "samples.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (run / "samples.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    [one] = store.add(run, tmp_path / "store")
    assert one.outcome == "refused"
    assert "is a link" in one.why


DEEP = "[" * 2000 + "]" * 2000


@pytest.mark.parametrize(
    "damage",
    [
        lambda run: (run / "result.json").write_text(DEEP),
        lambda run: (run / "result.json").write_text("1" * 5000),
        lambda run: (run / "result.json").write_text('{"schema_version": 1' + "0" * 5000 + "}"),
        lambda run: (run / "result.json").write_text("null"),
        lambda run: (run / "result.json").write_text(""),
        lambda run: (run / "result.json").write_bytes(b"\xff\xfe"),
        lambda run: (run / "samples.jsonl").write_text(DEEP),
        lambda run: (run / "samples.jsonl").unlink(),
        lambda run: ((run / "samples.jsonl").unlink(), (run / "samples.jsonl").mkdir()),
    ],
)
def test_one_bad_folder_never_stops_the_others(rextime_run, tmp_path, damage):
    for name in "abc":
        shutil.copytree(rextime_run(name, model=f"org/{name}"), tmp_path / "runs" / name)
    damage(tmp_path / "runs" / "b")
    done = store.add(tmp_path / "runs", tmp_path / "store")
    assert [one.outcome for one in done] == ["added", "refused", "added"]
    assert "\n" not in done[1].why
    assert str(tmp_path / "runs" / "b") in done[1].why


@pytest.mark.parametrize(
    "edit",
    [
        lambda line: line["target"].update(answer=5),
        lambda line: line["target"].update(spans=[[1]]),
        lambda line: line["target"].update(spans="x"),
        lambda line: line["target"].clear(),
        lambda line: line["parsed"].update(span="x"),
        lambda line: line["parsed"].update(span=[None, {}]),
        lambda line: line.update(prediction={"pred_relevant_windows": [["a", 10**400]], "ans": []}),
    ],
)
def test_values_that_scorers_can_t_take_are_one_line_with_and_without_the_data(
    run, tamper, tmp_path, edit
):
    tamper(run, samples=lambda lines: edit(lines[3]))
    for split in ("mini", "val"):
        tamper(run, result=lambda found, split=split: found["benchmark"].update(split=split))
        [one] = store.add(run, tmp_path / "store")
        assert one.outcome == "refused"
        assert "item 'mini4'" in one.why or "line 4" in one.why


# --- dates ---


def test_a_date_that_can_t_be_does_not_keep_a_result_out(rextime_run, tamper, tmp_path):
    """A store may hold one from before such dates were refused: whoever comes with a true one replaces it."""
    [one] = store.add(rextime_run("a"), tmp_path / "store")
    for date in ("9999-12-31T00:00:00+00:00", "soon"):
        tamper(one.place, result=lambda found, date=date: found["provenance"].update(date=date))
        refiled(one.place)
        [again] = store.add(rextime_run(f"b{date[:4]}"), tmp_path / "store")
        assert again.outcome == "replaced"


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b'{"tokens": 3}\n', "line 1: field"),
        (b'{"tokens": ', "not valid JSON"),
    ],
)
def test_samples_that_are_none_are_a_line_though_their_hash_holds(
    rextime_run, tmp_path, samples, said
):
    [one] = store.add(rextime_run(), tmp_path / "store")
    (one.place / "samples.jsonl").write_bytes(samples)
    key = one.place.relative_to(tmp_path / "store").as_posix()
    refiled(one.place)
    assert re.search(
        f"samples.jsonl.*{said}", site.build(tmp_path / "store", tmp_path / "site").left_out[key]
    )


# --- list and remove ---


def test_results_are_listed_and_removed(rextime_run, reelbench, tmp_path):
    there = tmp_path / "store"
    keys = [
        store.add(rextime_run(name, model=f"org/{name}"), there)[0]
        .place.relative_to(there)
        .as_posix()
        for name in "ab"
    ]
    listed = reelbench("leaderboard", "list", "--store", there)
    assert listed.returncode == 0, listed.stderr
    lines = listed.stdout.splitlines()
    assert lines[::2] == keys  # whole, alone on their lines, whatever the terminal's width
    assert lines[1].startswith("    org/a · 12 of 12 scored · ")
    listed = reelbench("leaderboard", "list", "--store", there, "--json")
    assert [one["key"] for one in json.loads(listed.stdout)["results"]] == keys
    absent = reelbench("leaderboard", "remove", keys[0], "no/such/key", "--store", there)
    assert absent.returncode == 2
    assert "has no result 'no/such/key'" in absent.stderr
    assert len(store.read(there)) == 2
    removed = reelbench("leaderboard", "remove", keys[0], "--store", there)
    assert removed.returncode == 0, removed.stderr
    assert [one.key for one in store.read(there)] == [keys[1]]
    assert not (there / "org__a").exists()


def judged_by(name):
    return lambda result: result["judge"].update(
        requested=name, returned={name: result["judge"]["calls"] or 1}
    )


@pytest.mark.parametrize(
    "name",
    ["gpt-4\u043e", "\u043e\u0440\u0435", "a,b", "a, b", "gpt\u20104", "x" * 201, "a\u200bb"],
)
def test_a_judges_name_is_held_to_the_same_rules(moviecore_run, tamper, tmp_path, name):
    [one] = store.add(tamper(moviecore_run(), result=judged_by(name)), tmp_path / "store")
    assert one.outcome == "refused"
    assert "judge.requested" in one.why


@pytest.mark.parametrize("name", ["\u041epenAI", "Open\u0410I", "Open\u200bAI"])
def test_an_organisations_name_is_held_to_the_same_rules(run, tamper, tmp_path, name):
    folder = tamper(run, result=lambda result: result["model"].update(about={"organisation": name}))
    [one] = store.add(folder, tmp_path / "store")
    assert one.outcome == "refused"
    assert "organisation" in one.why


@pytest.mark.parametrize("name", ["reelbench/baseline-random", "Reelbench/model"])
def test_our_own_name_is_reserved(run, tamper, tmp_path, name):
    [one] = store.add(renamed(tamper, run, name), tmp_path / "store")
    assert one.outcome == "refused"
    assert "is for the baselines and people of Reelbench itself" in one.why


NAMES_OF_STORE = (
    ledger.FILE,
    aliases.FILE,
    board_settings.FILE,
    community.FOLDER,
    hidden_key.FOLDER,
    store.ROWS_FOLDER,
    store.REPLACED_FOLDER,
    store.REMOVED_FOLDER,
)


@pytest.mark.parametrize("name", [*NAMES_OF_STORE, "Ledger.JSONL", "con", "Com1.x"])
def test_no_model_takes_the_place_of_a_file_of_the_store(run, tamper, tmp_path, name):
    [added] = store.add(renamed(tamper, run, name), tmp_path / "store")
    assert added.outcome == "added", added.why
    folders = {path.name for path in (tmp_path / "store").iterdir() if path.is_dir()}
    assert folders == {".columns", identity.model_folder(name)}
    assert re.fullmatch(rf"_{re.escape(name)}-[0-9a-f]{{8}}", identity.model_folder(name))
    assert (tmp_path / "store" / ledger.FILE).is_file()


def stating(tamper, run, setting, folder=None):
    """The run, or a copy of it, of a model whose people state a setting."""
    if folder is not None:
        run = shutil.copytree(run, folder)
    return tamper(run, result=lambda found: found["model"].update(about={"setting": setting}))


@pytest.mark.parametrize("setting", ["agent", "ensemble", "tools", "fine-tuned", "reasoning"])
def test_a_run_in_another_setting_never_takes_a_run_s_place(rextime_run, tamper, tmp_path, setting):
    place = tmp_path / "store"
    plain = rextime_run("plain", right=6)
    more = stating(tamper, rextime_run("more", right=9), setting)
    [first] = store.add(plain, place)
    [second] = store.add(more, place, filing=store.Filing(replaces=True))
    assert (second.outcome, second.place == first.place) == ("added", False), second.why
    for run, added in ((plain, first), (more, second)):
        [again] = store.add(run, place)
        assert (again.outcome, again.place) == ("same", added.place), again.why
    settings = {one.result.model.setting_stated for one in store.read(place)}
    assert settings == {None, setting}


def test_runs_of_two_settings_are_never_one_row_s_repeats(rextime_run, tamper, tmp_path):
    runs = ((1, None, 3), (2, None, 4), (1, "agent", 5), (2, "agent", 6))
    for number, setting, right in runs:
        run = rextime_run(f"run{right}", right=right)
        tamper(run, result=lambda found, run=number: found["settings"].update(run=run))
        if setting is not None:
            stating(tamper, run, setting)
        [added] = store.add(run, tmp_path / "store")
        assert added.outcome == "added", added.why
    rows = board.make(tmp_path / "store", published=False).entries
    assert {(row.setting, row.facts["runs"]) for row in rows} == {("run", 2), ("agent", 2)}


def test_a_setting_that_is_stated_later_moves_the_run(rextime_run, tamper, tmp_path):
    place = tmp_path / "store"
    run = rextime_run("plain", right=6)
    [before] = store.add(run, place)
    [after] = store.add(stating(tamper, run, "agent", tmp_path / "copy"), place)
    assert after.outcome == "replaced", after.why
    assert after.place != before.place
    assert not before.place.exists()
    [row] = board.make(place, published=False).entries
    assert row.setting == "agent"
    # What was said once stays said.
    [again] = store.add(run, place)
    assert (again.outcome, again.place) == ("same", after.place), again.why
    key = before.place.relative_to(place).as_posix()
    assert "its setting is agent now: filed as" in list(row_life.log(place, key))[-1]
