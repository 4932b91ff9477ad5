"""A received result that is only looked at: its files are its own, of a size, and each id is there once."""

import dataclasses
from types import SimpleNamespace

import pytest

from reelbench.base import bounds
from reelbench.leaderboard import board, kept_values, store
from reelbench.leaderboard.entries import RankingGroup
from tests.leaderboard.test_tampering import forge

LOOKS = (("view", "{}"), ("compare", "{}", "{}"))


def looked_at(reelbench, run):
    return [reelbench(*(word.format(run) for word in words)) for words in LOOKS]


@pytest.mark.parametrize("name", ["samples.jsonl", "result.json", "questions.jsonl"])
def test_a_file_that_leads_out_of_its_folder_is_not_read(name, rextime_run, reelbench, tmp_path):
    run = rextime_run()
    (tmp_path / "secret").write_text((run / name).read_text() if (run / name).is_file() else "{}")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(tmp_path / "secret")
    for done in looked_at(reelbench, run)[: 1 if name == "questions.jsonl" else None]:
        assert done.returncode == 2
        assert f"{name}: points outside its folder" in done.stderr


def test_a_link_within_the_folder_is_read(rextime_run, reelbench):
    run = rextime_run()
    (run / "samples.jsonl").rename(run / "kept.jsonl")
    (run / "samples.jsonl").symlink_to("kept.jsonl")
    assert [done.returncode for done in looked_at(reelbench, run)] == [0, 0]


@pytest.mark.parametrize(("bound", "most"), [("SAMPLES_BYTES", 1000), ("ITEMS", 11)])
def test_samples_beyond_a_bound_are_refused_with_both_figures(
    bound, most, rextime_run, monkeypatch
):
    from reelbench.base.errors import InputError
    from reelbench.scoring import result_files

    run = rextime_run()
    monkeypatch.setattr(bounds, bound, most)
    with pytest.raises(
        InputError, match=rf"samples.jsonl: (bytes|items): [\d,]+, and at most {most:,} are taken"
    ):
        list(result_files.read_samples(run))


def test_an_id_that_is_there_twice_is_no_run_to_look_at(rextime_run, reelbench):
    run = rextime_run()
    forge(run, lambda lines: lines.append(lines[0]))
    for done in looked_at(reelbench, run):
        assert done.returncode == 2
        assert "samples.jsonl, line 13: the id 'mini1' is there twice" in done.stderr


MANY = {f"n{number}": 1 for number in range(bounds.ENTRIES + 1)}


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("provenance", "asked"), {"asked": 1, "kept": 0, "server": "s", "served": MANY}),
        (
            ("settings", "preset"),
            {"name": "p", "values": {name: {"value": 1, "source": "s"} for name in MANY}},
        ),
        (("settings", "frames_unlike"), MANY),
        (
            ("settings", "frames_given"),
            {str(number): 1 for number in range(bounds.FRAMES_GIVEN + 1)},
        ),
        (("counts", "unscored"), MANY),
    ],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_what_a_record_lists_has_an_end(way, value, rextime_run, reelbench):
    def change(stated):
        stated[way[0]][way[1]] = value

    run = rextime_run()
    forge(run, result=change)
    done = reelbench("view", run)
    assert done.returncode == 2
    assert ".".join(way) in done.stderr
    assert "at most" in done.stderr


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("model", "args"), {"a": {"b": ["x" * 1000] * 100}}),
        (("model", "args"), {"a": [0] * 100_000}),
        (("settings", "generation"), {"x" * 100_000: 1}),
        (("provenance", "citation"), "x" * 100_000),
        (("benchmark", "source", "location"), "x" * 100_000),
    ],
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_a_part_of_a_record_has_an_end(way, value, rextime_run, reelbench):
    def change(stated):
        for name in way[:-1]:
            stated = stated[name]
        stated[way[-1]] = value

    run = rextime_run()
    forge(run, result=change)
    done = reelbench("view", run)
    assert done.returncode == 2
    assert f"characters of {way[0]}: 1" in done.stderr
    assert "at most 60,000 are taken" in done.stderr


@pytest.mark.parametrize(
    ("facets", "why"),
    [
        (
            lambda n: {f"f{n % 12}": [f"label {n}-{m}" for m in range(60)]},
            "labels of all facets: 1,0",
        ),
        (
            lambda n: {"f": [f"{n}-{m}-{'x' * 900}" for m in range(5)]},
            "characters of all labels: 5",
        ),
        (lambda n: {f"f{n}-{m}": ["x"] for m in range(9)}, "facets: 1"),
    ],
    ids=["many", "long", "facets"],
)
def test_the_labels_of_all_facets_together_have_an_end(facets, why, rextime_run):
    run = rextime_run()

    def change(lines):
        lines[:] = [lines[n % len(lines)] | {"id": f"q{n}", "facets": facets(n)} for n in range(24)]

    forge(run, change, numbers=False)
    [added] = store.check(run)
    assert (added.outcome, why in added.why) == ("refused", True), added.why


@pytest.mark.parametrize("place", ["samples", "metrics", "interval"])
def test_a_score_that_no_metric_has_is_refused(place, rextime_run, reelbench):
    def metrics(stated):
        first = next(iter(stated["metrics"].values()))
        first["value" if place == "metrics" else "ci95"] = (
            1e300 if place == "metrics" else [0, 1e300]
        )

    run = rextime_run()
    forge(
        run,
        (lambda lines: lines[0]["scores"].update(correct=1e300)) if place == "samples" else None,
        metrics if place != "samples" else None,
        numbers=False,
    )
    done = reelbench("compare", run, run)
    assert (done.returncode, "less than or equal to 1000000000" in done.stderr) == (2, True), (
        done.stderr
    )
    assert "Warning" not in done.stderr


def test_what_is_wrong_is_said_in_a_line_that_can_be_read(rextime_run):
    run = rextime_run()
    forge(run, lambda lines: [line | {"flags": ["x" * 500_000] * 2} for line in lines])
    [added] = store.check(run)
    assert (added.outcome, "its answer has ()" in added.why) == ("refused", True)
    assert len(added.why) < 5_000


def test_check_refuses_what_add_refuses(rextime_run, reelbench, tmp_path):
    run, path = rextime_run(), tmp_path / "store"
    assert (
        reelbench("leaderboard", "add", run, "--store", path, "--account", "owner").returncode == 0
    )
    assert (
        reelbench("leaderboard", "check", run, "--store", path).returncode == 0
    )  # the very same bytes
    forge(run, result=lambda stated: stated["provenance"].update(note="mine"))
    checked, added = (
        reelbench("leaderboard", command, run, "--store", path) for command in ("check", "add")
    )
    assert (checked.returncode, added.returncode) == (2, 2), checked.stdout + added.stdout
    for done in (checked, added):
        assert "was filed first by owner" in done.stderr
        assert "valid" not in done.stdout + done.stderr


def test_a_judge_that_names_two_hundred_models_is_refused(moviecore_run, reelbench):
    run = moviecore_run()
    forge(run, result=lambda stated: stated["judge"].update(returned=MANY))
    done = reelbench("view", run)
    assert (done.returncode, "judge.returned" in done.stderr) == (2, True)


@dataclasses.dataclass
class Filed:
    """As much of a stored result as tables of common videos ask for."""

    key: str
    filed_row: object
    had: frozenset[str]
    at: str
    videos: frozenset[str] | None = None
    withheld: None = None
    columns: None = None
    result: object = None


class Row(SimpleNamespace):
    def with_verified(self, **fields):
        return Row(**vars(self) | fields)


def common(monkeypatch, had):
    """Model -> videos, in the order in which a board took them -> the models of its common table, and its videos.

    A model is `ACCOUNT/NAME`, or the maintainers' own.
    """
    monkeypatch.setattr(board, "_videos_had", lambda stored: stored.had)
    monkeypatch.setattr(kept_values, "standing", lambda _stored: None)
    monkeypatch.setattr(board, "run_entry", lambda stored, _values: stored)
    monkeypatch.setattr(board, "_filing_order", lambda row: row.stored.at)
    group = RankingGroup("kitchen", 1, "test", judge=None)
    rows = [
        SimpleNamespace(
            key=name,
            unranked=None,
            group=dataclasses.replace(group, subset=f"media of {len(videos)} {sorted(videos)}"),
            stored=Filed(
                name,
                Row(subset=None, account=account or None),
                frozenset(videos),
                f"2026-01-{at:02}",
            ),
        )
        for at, (name, videos) in enumerate(had.items(), start=1)
        for account in [name.rpartition("/")[0]]
    ]
    found = list(board.on_common_videos(rows))
    return [one.key.partition("#")[0] for one in found], len(found[0].videos) if found else 0


VIDEOS = [f"v{number:02}" for number in range(20)]


def test_whoever_files_several_rows_does_not_decide_which_videos_are_common(monkeypatch):
    honest = {"whole": VIDEOS, "most": VIDEOS[1:]}
    three = {f"evil/{number}": VIDEOS[:1] for number in range(3)}
    assert common(monkeypatch, honest | three) == (["whole", "most"], 19)
    assert common(monkeypatch, three | honest) == (["whole", "most"], 19)
    # Five that each have nine tenths, and lack other videos: together they would leave half.
    five = {
        f"evil/{n}": [video for video in VIDEOS if video not in VIDEOS[2 * n + 1 : 2 * n + 3]]
        for n in range(5)
    }
    names, number = common(monkeypatch, honest | five)
    assert names[:2] == ["whole", "most"]
    assert number >= 18


INVENTED = [f"x{number:03}" for number in range(100)]


@pytest.mark.parametrize(
    "most", [VIDEOS, [*VIDEOS, *INVENTED], INVENTED], ids=["all", "and invented", "invented"]
)
@pytest.mark.parametrize(
    "accounts", [("", ""), ("one/", "two/"), ("one/", "one/")], ids=["ours", "two", "one"]
)
def test_a_run_on_more_videos_ends_no_table_of_those_that_others_had(accounts, most, monkeypatch):
    a, b = (f"{account}{name}" for account, name in zip(accounts, ("a", "b"), strict=True))
    honest = {a: VIDEOS[:15], b: VIDEOS[1:15]}
    assert common(monkeypatch, honest) == ([a, b], 14)
    names, number = common(monkeypatch, honest | {f"evil/{n}": most for n in range(3)})
    assert (names[:2], number) == ([a, b], 14)
    if "one/" not in accounts or a[:3] != b[:3]:  # where theirs was taken first, others outvote it
        names, number = common(monkeypatch, {f"evil/{n}": most for n in range(3)} | honest)
        assert ({a, b} <= {*names}, number) == (True, 14)


def test_a_third_account_does_not_outvote_who_was_first(monkeypatch):
    honest = {"one/a": VIDEOS[:15], "two/b": VIDEOS}
    assert common(monkeypatch, honest) == (["one/a", "two/b"], 15)
    assert common(monkeypatch, honest | {"evil/c": VIDEOS})[1] == 15
    assert common(monkeypatch, honest | {"evil/c": VIDEOS[:1]}) == (["one/a", "two/b"], 15)
    # Three accounts of which the first had few: the two others are compared as if it weren't there.
    few = {"evil/c": VIDEOS[:3], "one/a": VIDEOS, "two/b": VIDEOS[1:]}
    assert common(monkeypatch, few) == (["one/a", "two/b"], 19)


def test_of_the_maintainers_own_runs_the_largest_decides(monkeypatch):
    assert common(monkeypatch, {"pilot": VIDEOS[:10], "whole": VIDEOS, "most": VIDEOS[1:]}) == (
        ["whole", "most"],
        19,
    )
