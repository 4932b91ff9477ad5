"""A board's history: its main tables as they were published, by the ledger alone."""

import json
from datetime import UTC, datetime, timedelta
from unittest.mock import Mock

import pytest

from reelbench.base.errors import ReelbenchError
from reelbench.data import hub_write
from reelbench.leaderboard import (
    board,
    board_state,
    cloning,
    columns,
    history,
    ledger,
    ledger_merge,
    publish,
    row_life,
    site,
    store,
)
from reelbench.leaderboard.editions import Editions
from reelbench.leaderboard.ledger import Published
from tests.checkers import violations
from tests.leaderboard.ledgers import entries_of

DATASET = "museum/results"
START = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def day(monkeypatch):
    """Set the ledger's clock to so many days after the first."""

    def set_day(number):
        monkeypatch.setattr(ledger, "now", lambda: START + timedelta(days=number))

    set_day(0)
    return set_day


@pytest.fixture
def published_twice(hub, rextime_run, tmp_path, day):
    """A store published on two days: on the second a better model is new."""
    assert hub.url
    place = tmp_path / "store"
    store.add(rextime_run("a", model="org/a", right=6), place)
    store.add(rextime_run("b", model="org/b", right=3), place)
    publish.publish(place, dataset=DATASET)
    day(20)
    store.add(rextime_run("c", model="org/c", right=9), place)
    publish.publish(place, dataset=DATASET)
    return place


def published_entries(place):
    return [entry for entry in entries_of(place) if entry["act"] == "published"]


def test_a_publication_records_what_changed_in_each_main_table(published_twice):
    first, second = published_entries(published_twice)
    assert first["table"] == second["table"] == "rextime/v1/mini"
    assert sorted(first["rows"].values()) == [25.0, 50.0]
    assert list(second["rows"].values()) == [75.0]
    [key] = second["rows"]
    assert key.startswith("org__c/")
    publish.publish(published_twice, dataset=DATASET)
    assert len(published_entries(published_twice)) == 2


def test_a_page_says_what_is_new_and_where_a_model_was(published_twice):
    made = board.make(published_twice, published=False)
    page = site.document(made)
    rows = {row["model"]: row for row in page["rows"]}
    assert [name for name, row in rows.items() if row.get("new")] == ["org/c"]
    assert {name: row.get("rank_before") for name, row in rows.items()} == {
        "org/a": 1,
        "org/b": 2,
        "org/c": None,
    }
    assert rows["org/a"]["first_listed"] == "2026-01-01"
    assert rows["org/c"]["first_listed"] == "2026-01-21"
    [group] = page["groups"]
    assert group["since"] == "2026-01-01"
    [table_history] = made.history.values()
    document = site.history_document(table_history)
    assert document["days"] == ["2026-01-01", "2026-01-21"]
    assert document["models"] == [2, 3]
    assert document["rows"][rows["org/a"]["id"]] == [[1, 50.0], [2, 50.0]]
    assert document["rows"][rows["org/b"]["id"]] == [[2, 25.0], [3, 25.0]]
    assert document["rows"][rows["org/c"]["id"]] == [None, [1, 75.0]]


def test_a_build_of_a_clone_has_the_same_bytes(published_twice, tmp_path):
    cloning.clone(DATASET, tmp_path / "clone", lambda _: None)
    site.build(published_twice, tmp_path / "one")
    site.build(tmp_path / "clone", tmp_path / "two")
    names = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.js"))
    assert any(name.parts[:2] == ("data", "history") for name in names)
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_withdrawn_row_is_in_no_edition_and_counts_for_no_place(published_twice, day):
    [key] = [row.key for row in board.make(published_twice).entries if row.model == "org/a"]
    day(21)
    row_life.remove([key], published_twice, "withdrawn")
    [table_history] = board.make(published_twice, published=False).history.values()
    ranks = [
        {model[0]: place.rank for model, place in table.places.items()}
        for table in table_history.past
    ]
    assert ranks == [{"org/b": 1}, {"org/c": 1, "org/b": 2}]
    assert [table.models for table in table_history.past] == [1, 2]
    row_life.restore(key, published_twice)
    [table_history] = board.make(published_twice, published=False).history.values()
    assert [table.models for table in table_history.past] == [2, 3]


def test_a_row_s_log_names_its_publications(published_twice):
    [key] = [row.key for row in board.make(published_twice).entries if row.model == "org/c"]
    lines = list(row_life.log(published_twice, key))
    assert lines[-1].endswith("published rextime/v1/mini, 1 row new or changed, 0 gone")


@pytest.mark.usefixtures("hub")
def test_a_dry_run_records_nothing(rextime_run, tmp_path):
    place = tmp_path / "store"
    store.add(rextime_run(), place)
    publish.publish(place, dataset=DATASET, options=publish.PublishOptions(dry_run=True))
    assert not published_entries(place)


def places_in_history(place):
    [table] = board.make(place, published=False).history.values()
    return [(past.at, {key[0]: at.rank for key, at in past.places.items()}) for past in table.past]


TARGETS = [{"dataset": DATASET}, {"space": "museum/site"}]


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("targets", TARGETS, ids=["dataset", "space"])
def test_nothing_is_recorded_of_an_upload_that_failed(
    rextime_run, tmp_path, day, monkeypatch, targets
):
    place = tmp_path / "store"
    store.add(rextime_run("a", model="org/a", right=6), place)
    with monkeypatch.context() as patch:
        broken = ReelbenchError("the Hub broke off")
        patch.setattr(hub_write.Repository, "commit", Mock(side_effect=broken))
        with pytest.raises(ReelbenchError, match="broke off"):
            publish.publish(place, **targets)
    assert not published_entries(place)
    day(3)
    store.add(rextime_run("b", model="org/b", right=9), place)
    publish.publish(place, **targets)
    first_day = START + timedelta(days=3)
    assert places_in_history(place) == [(first_day, {"org/b": 1, "org/a": 2})]


@pytest.mark.usefixtures("hub")
@pytest.mark.parametrize("targets", TARGETS, ids=["dataset", "space"])
def test_a_command_that_is_ended_after_sending_records_it_the_next_time(
    rextime_run, tmp_path, day, monkeypatch, targets
):
    # The dataset has the entry; of a page alone the next command dates it.
    recorded_on = 0 if "dataset" in targets else 3
    place = tmp_path / "store"
    store.add(rextime_run("a", model="org/a", right=6), place)
    with monkeypatch.context() as patch:
        patch.setattr(ledger.Ledger, "append", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            publish.publish(place, **targets)
    assert not published_entries(place)
    day(3)
    publish.publish(place, **targets)
    assert places_in_history(place) == [(START + timedelta(days=recorded_on), {"org/a": 1})]


@pytest.mark.usefixtures("hub")
def test_a_page_that_failed_after_its_dataset_has_the_dataset_s_history(
    rextime_run, tmp_path, day, monkeypatch
):
    place = tmp_path / "store"
    store.add(rextime_run("a", model="org/a", right=6), place)
    commit = hub_write.Repository.commit

    def refuse_pages(repository, *args, **options):
        if repository.kind == "space":
            raise ReelbenchError("the Hub broke off")
        return commit(repository, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(hub_write.Repository, "commit", refuse_pages)
        with pytest.raises(ReelbenchError, match="broke off"):
            publish.publish(place, dataset=DATASET, space="museum/site")
    day(3)
    publish.publish(place, dataset=DATASET, space="museum/site")
    assert places_in_history(place) == [(START, {"org/a": 1})]
    assert len(published_entries(place)) == 1


def entry_of(number, rows, table="rextime/v1/val"):
    at = START + timedelta(days=number)
    return Published(at=at, who="maintainer", act="published", table=table, rows=rows)


def test_the_marks_are_against_the_last_edition_that_is_two_weeks_older():
    editions = Editions()
    models = {"a": ("a", None, "zero-shot"), "b": ("b", None, "zero-shot")}
    for number, rows in ((0, {"a": 1.0}), (5, {"a": 2.0}), (19, {"a": 3.0}), (30, {"a": 4.0})):
        editions.add(entry_of(number, rows), {})
    table_history = history.history_of_table(
        editions.without((), "rextime/v1/val"), {"a": 4.0, "b": 5.0}, models
    )
    assert table_history.base.at == START + timedelta(days=5)
    assert table_history.is_new("b")
    assert not table_history.is_new("a")


def test_a_replaced_answer_s_place_goes_with_its_withdrawal_alone():
    editions = Editions()
    editions.add(entry_of(0, {"a": 1.0, "b": 2.0}), {"a": "first", "b": "b"})
    editions.add(entry_of(1, {"a": 3.0}), {"a": "second", "b": "b"})
    values = [edition.values for edition in editions.without({("a", "first")}, "rextime/v1/val")]
    assert values == [{"b": 2.0}, {"b": 2.0, "a": 3.0}]


def test_a_long_publication_is_parted_and_is_one_edition():
    values = {f"org__{'m' * 900}{number}/main/rextime/0": float(number) for number in range(100)}
    entries = history.new_entries({"t": values}, board_state.BoardState(), START)
    lines = ledger.chained([(entry, ledger.entry_sha256(entry)) for entry in entries])
    assert len(lines) > 1
    assert len(ledger.read_lines(ledger.as_bytes(lines), "ledger")) == len(lines)
    state = board_state.state_of(lines)
    [edition] = state.editions_of("T")
    assert edition.values == values


def test_a_table_that_lacked_what_others_published_is_no_edition():
    def lines(entries, before=()):
        chain = before[-1].chain if before else ledger.START
        hashed = [(entry, ledger.entry_sha256(entry)) for entry in entries]
        return [*before, *ledger.chained(hashed, chain)]

    shared = lines([entry_of(0, {"a": 1.0})])
    own = lines([entry_of(2, {"b": 2.0})], shared)
    theirs = lines([entry_of(1, {"c": 3.0})], shared)
    assert ledger_merge.merge(own, theirs) == theirs
    assert ledger_merge.merge(own, shared) == own


def test_new_columns_stand_in_every_file(published_twice):
    made = board.make(published_twice, published=False)
    rows = {row.model: columns.plain_row(made, row) for row in made.entries}
    assert rows["org/c"]["first_listed"] == "2026-01-21"
    assert rows["org/c"]["rank_before"] is None
    assert json.dumps(rows["org/b"]["rank_before"]) == "2"


@pytest.mark.browser
def test_the_page_marks_what_is_new_and_lists_what_changed(
    page_of, published_twice, checkers, tmp_path
):
    from playwright.sync_api import expect

    site.build(published_twice, tmp_path / "site", published=False)
    with page_of(tmp_path / "site", "#/rextime", width=1440) as page:
        badges = page.locator("table.rows .badge")
        expect(badges.filter(has_text="new")).to_have_count(1)
        expect(badges.filter(has_text="▼ 1")).to_have_count(2)
        expect(badges.filter(has_text="new")).to_have_attribute(
            "title", "Not in this table on 1 Jan 2026"
        )
        page.locator("summary", has_text="What changed: marked since 1 Jan 2026").click()
        days = page.locator(".changes > li")
        expect(days).to_have_text(
            [
                "21 Jan 2026New: c (1)Rank: a 1 → 2, b 2 → 3",
                "1 Jan 2026 first published, 2 models",
            ]
        )
        assert violations(page, checkers) == []
        page.locator("table.rows .name", has_text="b").first.click()
        lines = page.get_by_label("Rank and score over time, scrolls sideways").locator("tbody tr")
        expect(lines).to_have_text(["21 Jan 20263 of 325.0", "1 Jan 20262 of 225.0"])
        assert violations(page, checkers) == []


@pytest.mark.browser
def test_an_address_opens_the_page_at_one_answer(page_of, rextime_run, checkers, tmp_path):
    from playwright.sync_api import expect

    store.add(rextime_run(), tmp_path / "store")
    site.build(tmp_path / "store", tmp_path / "site", published=False)
    with page_of(tmp_path / "site", "#/model/org%2Fmodel", width=1440) as page:
        page.locator("summary", has_text="Samples").click()
        ids = page.locator(".sample h3 bdi")
        expect(ids).to_have_count(12)
        third = ids.nth(2).text_content()
        page.locator(".sample").nth(2).get_by_role("button", name="Copy link").click()
        page.wait_for_function("() => location.hash.includes('&answer=')")
        address = page.evaluate("() => location.hash")
    with page_of(tmp_path / "site", address, width=1440) as page:
        expect(page.locator(".sample h3 bdi")).to_have_text([third])
        expect(page.locator(".sample")).to_be_in_viewport()
        assert violations(page, checkers) == []
    with page_of(tmp_path / "site", address.replace(f"={third}", "=none"), width=1440) as page:
        expect(page.get_by_text("This run has no answer to none.")).to_be_visible()
