"""What every store of replies keeps to, whether it is a file or a server: one set of tests over both."""

# pyright: reportArgumentType=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportOptionalMemberAccess=false
# pyright: reportUnusedCoroutine=false

import asyncio
import contextlib
import shutil
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from reelbench.base.errors import InputError, ReelbenchError
from reelbench.llm import away_store, postgres_store
from reelbench.llm.ask_options import AskOptions
from reelbench.llm.asker import Asker
from reelbench.llm.batches import Batches
from reelbench.llm.cache import open_store, stored_now
from reelbench.llm.postgres_store import CONNECTIONS
from reelbench.llm.reply import Reply
from reelbench.llm.store import AwayError, Copied, Limit, copy
from tests.llm.by_hand import ReplyCache
from tests.servers.judge import Answer, JudgeServer
from tests.servers.postgres import PASSWORD

OLD = Path(__file__).parents[1] / "fixtures" / "v0_1_0" / "judge.sqlite"


def key(number):
    return sha256(b"%d" % number).digest()


def reply(raw="4", **more):
    return Reply(raw, "stop", "judge-1-0001", 100, 10, "127.0.0.1:1", **more)


@pytest.fixture(params=["file", "server"])
def place(request, tmp_path):
    """Where a cache's replies are."""
    return (
        tmp_path / "judge.sqlite"
        if request.param == "file"
        else request.getfixturevalue("postgres").database()
    )


@pytest.fixture
def opened(place):
    """Opens the same cache again and again, each as a process of its own would."""
    with contextlib.ExitStack() as stack:

        def make(note=print):
            cache = ReplyCache(place, note)
            stack.callback(cache.close)
            return cache

        yield make


def written(place, command):
    """Change what a store holds, past the store."""
    if isinstance(place, Path):
        with contextlib.closing(sqlite3.connect(place)) as file, file:
            file.execute(command)
    else:
        import psycopg

        with psycopg.connect(place) as database:
            database.execute("SET search_path TO reelbench")
            database.execute(command)


def lapse(place):
    """Let all claims lapse, under a server that was there all the time."""
    if isinstance(place, Path):
        written(place, "UPDATE claims SET until = 0")
    else:
        written(
            place,
            "UPDATE claims SET until = 'epoch'; UPDATE pulse SET at = clock_timestamp(), back = 'epoch'",
        )


@pytest.mark.parametrize(
    "kept",
    [
        reply('{"score": 3}', seconds=0.1 + 0.2, reasoning_tokens=3, cached_tokens=0),
        reply("a\0b\x7f 😀 \u2028 é\r\n"),
        reply(""),
        Reply(None, None, None, 0, 1_000_000_000, "höst"),
        reply("x" * 4_000_000, seconds=1e-9),
    ],
    ids=["all fields", "characters", "no text", "nothing", "long"],
)
def test_a_reply_is_kept_as_it_came(opened, kept):
    first = opened()
    first.put(key(1), "mödel\x01", kept)
    assert opened().get(key(1)) == kept
    assert first.get(key(2)) is None
    (stored,) = opened().store.replies()
    assert (stored.key, stored.model, stored.reply, stored.is_damaged) == (
        key(1),
        "mödel\x01",
        kept,
        False,
    )


def test_the_first_reply_stays(opened):
    cache = opened()
    cache.put(key(1), "m", reply("first"))
    cache.put(key(1), "m", reply("second"))
    assert cache.store.put([stored_now(key(n), "m", reply("third")) for n in (1, 2)]) == 1
    assert [cache.get(key(n)).raw for n in (1, 2)] == ["first", "third"]


def test_a_claim_keeps_others_off_until_it_is_given_up_kept_or_lapses(opened, place):
    first, second = opened(), opened()
    assert [cache.claim(key(1)) for cache in (first, first, second)] == ["mine", "mine", "theirs"]
    assert (second.claimed_elsewhere([key(1), key(2)]), first.claimed_elsewhere([key(1)])) == (
        {key(1)},
        set(),
    )
    second.release(key(1))  # not its own
    assert second.claim(key(1)) == "theirs"
    first.release(key(1))
    assert [cache.claim(key(1)) for cache in (second, first)] == ["mine", "theirs"]
    lapse(place)
    assert first.claimed_elsewhere([key(1)]) == set()
    second.renew()  # alive after all
    assert first.claim(key(1)) == "theirs"
    lapse(place)
    assert [cache.claim(key(1)) for cache in (first, second)] == ["mine", "theirs"]
    first.put(key(1), "m", reply())
    assert [cache.claim(key(1)) for cache in (first, second)] == ["stored", "stored"]
    assert second.claimed_elsewhere([key(1)]) == set()


def test_who_closes_gives_up_its_claims(opened):
    first, second = opened(), opened()
    assert first.claim(key(1)) == "mine"
    first.close()
    assert second.claim(key(1)) == "mine"
    with pytest.raises(ReelbenchError, match="it is closed"):
        first.get(key(1))


def test_however_many_ask_at_once_each_reply_is_one_caches(opened):
    """Claimed, kept and claimed again by four in a race: nobody may ask for what is kept, or being asked for."""
    caches = [opened() for _ in range(4)]
    asked, errors = [], []

    def work(cache):
        try:
            for number in range(150):
                if cache.claim(key(number)) == "mine":
                    asked.append(number)
                    cache.put(key(number), "m", reply(str(number)))
        except Exception as error:  # noqa: BLE001 - said below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(cache,)) for cache in caches]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, sorted(asked)) == ([], list(range(150)))


@pytest.mark.parametrize("column", ["raw", "finish", "returned", "host"])
def test_a_damaged_reply_is_left_out_said_and_asked_for_again(opened, place, column):
    notes = []
    cache = opened(notes.append)
    for number in range(3):
        cache.put(key(number), "m", reply(seconds=0.25))
    written(
        place,
        f"UPDATE replies SET {column} = '5' WHERE key IN (SELECT key FROM replies ORDER BY key LIMIT 1)",  # noqa: S608
    )
    first = min(key(number) for number in range(3))
    assert sum(cache.get(key(number)) is not None for number in range(3)) == 2
    (note,) = notes
    assert "a reply in it is damaged" in note
    assert cache.claim(first) == "mine"
    cache.put(first, "m", reply("again"))
    assert cache.get(first).raw == "again"


def test_a_damaged_reply_that_another_has_put_right_meanwhile_stays(opened, place):
    opened().put(key(1), "m", reply())
    written(place, "UPDATE replies SET raw = '5'")
    first, second = opened(), opened()
    (damaged,) = second.store.get([key(1)]).values()
    assert first.get(key(1)) is None
    first.put(key(1), "m", reply("asked again"))
    second.store.drop(damaged)
    assert second.get(key(1)).raw == "asked again"


def test_a_key_is_in_one_place_at_a_time(opened):
    first, second = opened(), opened()
    first.put(key(0), "m", reply())
    assert second.claim(key(1)) == "mine"
    store = first.store
    assert store.begin_batch("one", "m", "h", [key(n) for n in range(4)]) == [key(2), key(3)]
    assert store.begin_batch("two", "m", "h", [key(n) for n in range(2, 6)]) == [key(4), key(5)]
    assert store.begin_batch("none", "m", "h", [key(2)]) == []
    assert [second.claim(key(n)) for n in range(5)] == [
        "stored",
        "mine",
        "batched",
        "batched",
        "batched",
    ]
    assert store.batched_keys("m", "h") == {key(n) for n in range(2, 6)}
    assert store.batched_keys("m", "elsewhere") == set()
    assert [(batch.token, batch.id, batch.elsewhere) for batch in store.batches("m", "h")] == [
        ("one", None, False),
        ("two", None, False),
    ]
    store.name_batch("one", "batch_1")
    assert second.store.batches("m", "h")[0].id == "batch_1"
    assert (
        store.put_batched([stored_now(key(n), "m", reply(str(n))) for n in (2, 9)]) == 1
    )  # 9 was never asked for
    assert (first.get(key(2)).raw, first.get(key(9))) == ("2", None)
    assert [store.end_batch("one"), store.end_batch("two")] == [1, 2]
    assert (store.batches("m", "h"), [second.claim(key(n)) for n in (2, 3)]) == (
        [],
        ["stored", "mine"],
    )


def test_the_end_of_a_model_is_kept(opened):
    store = opened().store
    for day in ("2026-01-01", "2026-02-01", None, "2026-03-01"):
        store.put_last_day("m", "h", day)
        assert opened().store.last_day("m", "h") == day
    assert store.last_day("m", "elsewhere") is None


def test_replies_are_told_in_the_order_of_their_keys_from_any_on(opened):
    cache = opened()
    cache.store.put([stored_now(key(number), "m", reply(str(number))) for number in range(2500)])
    every = [stored.key for stored in cache.store.replies()]
    assert every == sorted(key(number) for number in range(2500))
    assert [stored.key for stored in cache.store.replies(every[1999])] == every[2000:]


def test_a_jobs_budget_is_one_for_all_its_processes(opened):
    first, second = opened(), opened()
    calls = Limit(3, None)
    assert [cache.store.reserve("a", calls, 0.0) for cache in (first, second, first, second)] == [
        0.0,
        0.0,
        0.0,
        None,
    ]
    second.store.settle("a", 0.0, 0.0, counts=False)  # brought nothing: given back
    assert [cache.store.reserve("a", calls, 0.0) for cache in (first, second)] == [0.0, None]
    assert second.store.reserve("b", calls, 0.0) == 0.0  # another job's

    dollars = Limit(None, 1.0)
    assert first.store.reserve("c", dollars, 0.25) == 0.25
    first.store.settle("c", 0.25, 0.5, counts=True)
    assert second.store.reserve("c", dollars, 0.25) == 0.5  # as much as the dearest call so far
    assert first.store.reserve("c", dollars, 0.25) is None
    second.store.settle("c", 0.5, 0.125, counts=True)
    assert first.store.reserve("c", dollars, 0.25) is None  # 0.625 spent, and the next may cost 0.5
    assert first.store.reserve("c", Limit(None, 1.125), 0.25) == 0.5


@pytest.mark.parametrize(
    "variables", [{"REELBENCH_JOB": "mine"}, {"SLURM_JOB_ID": "7", "SLURM_ARRAY_JOB_ID": "5"}, {}]
)
def test_processes_of_a_job_spend_one_budget(place, monkeypatch, variables):
    """Two askers, each as a process of its own would: 5 calls together, or 5 each."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    notes = []

    async def ask(url, first):
        options = AskOptions(model="m", url=url, budget_calls=5, cache=place)
        async with Asker(options, on_note=notes.append) as asker:
            for number in range(first, first + 8):
                await asker.ask([{"role": "user", "content": f"{number}?"}], str)

    with JudgeServer(lambda _: Answer("yes")) as server:
        for first in (0, 100):
            asyncio.run(ask(server.url, first))
        assert len(server.calls) == (5 if variables else 10)
    alone = sum("is this process's alone; REELBENCH_JOB" in note for note in notes)
    assert alone == (0 if variables or isinstance(place, Path) else 2)
    name = {"REELBENCH_JOB": " of the job mine", "SLURM_JOB_ID": " of the job slurm-5"}.get(
        next(iter(variables), ""), ""
    )
    assert (
        sum(f"the budget of 5 calls{name} for the model is used up" in note for note in notes) == 2
    )


# --- of one kind alone
# -----------------------------------------------------------------------------------------------


def test_a_batch_is_its_processs_while_it_is_handed_over(postgres):
    place = postgres.database()
    first, second = ReplyCache(place, print), ReplyCache(place, print)
    first.store.begin_batch("one", "m", "h", [key(1)])
    assert [cache.store.batches("m", "h")[0].elsewhere for cache in (first, second)] == [
        False,
        True,
    ]
    first.close()
    assert [batch.elsewhere for batch in second.store.batches("m", "h")] == [False]
    second.close()


def test_claims_outlast_a_server_that_is_stopped_and_replies_that_came_meanwhile_are_kept(
    postgres, reelbench_home
):
    place, notes = postgres.database(), []
    first, second = ReplyCache(place, notes.append), ReplyCache(place, notes.append)
    assert [first.claim(key(n)) for n in (1, 2)] == ["mine", "mine"]
    lapse(place)
    written(place, "UPDATE pulse SET at = 'epoch'")  # nobody could renew anything for long
    postgres.stop("immediate")
    try:
        first.put(key(1), "m", reply("arrived"))
        assert first.get(key(1)).raw == "arrived"
        (spool,) = (reelbench_home / "spool").glob("*.jsonl")
    finally:
        postgres.start()
    assert second.claim(key(2)) == "theirs"  # its owner may still hold the reply
    second.renew()
    assert second.claim(key(2)) == "theirs"
    assert first.claim(key(3)) == "mine"
    assert second.get(key(1)).raw == "arrived"
    assert not spool.exists()
    assert all("waiting for it, 60 s at most" in note for note in notes)
    first.close()
    second.close()
    assert list(spool.parent.iterdir()) == []


def test_what_a_process_could_not_put_down_the_next_one_does(postgres, reelbench_home, monkeypatch):
    monkeypatch.setattr("reelbench.llm.postgres_store._WAIT", 0.2)
    place, notes = postgres.database(), []
    asking = AskOptions(model="m", cache=place, cache_patience=0)
    cache, other = (
        ReplyCache.shared(asking, notes.append) for _ in range(2)
    )  # as it asks two models
    postgres.stop()
    try:
        for number, asked in enumerate((cache, other, cache)):
            asked.put(key(number), "m", reply(str(number)))
        assert len(list((reelbench_home / "spool").glob("*.jsonl"))) == 1
        with pytest.raises(
            ReelbenchError,
            match=r"--cache-patience\); 3 replies are in .*; run again when it is there",
        ):
            cache.claim(key(9))
        for asked in (cache, other, cache):
            asked.close()
        assert ["3 replies are in" in note for note in notes] == [False, True]
        with pytest.raises(
            InputError, match=r"^judge cache postgresql://127.0.0.1:\d+/postgres: .*refused"
        ):
            ReplyCache(place, print)
    finally:
        postgres.start()
    again = ReplyCache(place, notes.append)
    assert [again.get(key(number)).raw for number in range(3)] == ["0", "1", "2"]
    assert "3 replies are in it now, left by an earlier run" in notes[-1]
    again.close()
    assert not any("pass" in note.replace("--cache-patience", "") for note in notes)


def test_a_server_that_stays_away_is_tried_no_more(postgres, monkeypatch):
    """Of many who ask, each would wait for a connection of its own: minutes, after the patience was over."""
    from reelbench.llm.postgres_store import PostgresStore

    monkeypatch.setattr("reelbench.llm.postgres_store._WAIT", 0.2)
    cache = ReplyCache(postgres.database(), lambda _: None, patience=0.5)
    tries = []
    get = PostgresStore.get
    monkeypatch.setattr(
        PostgresStore, "get", lambda self, keys: (tries.append(keys), get(self, keys))[1]
    )
    postgres.stop()
    try:
        with pytest.raises(ReelbenchError, match=r"for 0.5 s \(--cache-patience\)"):
            cache.get(key(1))
        before = len(tries)
        for number in range(50):
            with pytest.raises(ReelbenchError, match=r"for 0.5 s \(--cache-patience\)"):
                cache.get(key(number))
        assert len(tries) == before
        cache.close()
    finally:
        postgres.start()


def test_of_many_who_wait_for_a_server_that_is_gone_none_tries_any_more(postgres, monkeypatch):
    """With replies in the spool each try is made alone, and takes seconds: once it is over, nobody begins another."""
    from reelbench.llm.postgres_store import PostgresStore

    monkeypatch.setattr("reelbench.llm.postgres_store._WAIT", 0.1)
    place = postgres.database()
    cache, tries, ended = ReplyCache(place, lambda _: None, patience=0.3), [], []
    run = PostgresStore._run

    def counted(self, *steps):
        tries.append(len(ended))
        return run(self, *steps)

    def ask(number):
        with pytest.raises(ReelbenchError, match=r"for 0.3 s \(--cache-patience\)"):
            cache.get(key(number))
        ended.append(number)

    monkeypatch.setattr(PostgresStore, "_run", counted)
    postgres.stop()
    try:
        cache.put(key(0), "m", reply("paid"))
        with ThreadPoolExecutor(64) as threads:
            list(threads.map(ask, range(1, 65)))
        cache.close()
    finally:
        postgres.start()
    assert len(ended) == 64
    assert set(tries) == {0}


class _Clock:
    """The seconds that a store which is away takes, and those that are waited for it."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds
        assert self.now < 600, "nobody ends"
        return False


class _AwayStore:
    """A server that is gone: each try takes as long as it may take to get a connection."""

    name = "postgresql://gone"
    is_remote = True

    def __init__(self, clock):
        self.clock = clock

    def get(self, _keys):
        self.clock.now += postgres_store._WAIT
        raise AwayError("gone")

    put = get

    def close(self, *, away):
        assert away


@pytest.mark.parametrize("spooled", [0, 3])
@pytest.mark.parametrize("patience", [0, 5, 60])
@pytest.mark.usefixtures("reelbench_home")
def test_all_end_within_three_seconds_after_the_patience(patience, spooled, monkeypatch):
    """By a clock that only tries and waits move: what a busy machine adds counts for nothing."""
    clock = _Clock()
    store = _AwayStore(clock)
    monkeypatch.setattr(away_store, "time", clock)
    told_at = []
    patient = away_store.PatientStore(store, lambda _: told_at.append(clock.now), patience)
    monkeypatch.setattr(patient._closed, "wait", clock.wait)
    for number in range(spooled):
        patient.put([stored_now(key(number), "m", reply("paid"))])
    for number in range(300):
        with pytest.raises(ReelbenchError, match=r"\(--cache-patience\)"):
            patient.get([key(1000 + number)])
    patient.close()
    assert patience < clock.now - told_at[0] <= patience + 3


def test_what_a_server_refuses_to_keep_is_kept_here(postgres):
    """As where its disk is full: the reply was paid for."""
    place, notes = postgres.database(), []
    cache = ReplyCache(place, notes.append)
    written(place, "ALTER TABLE replies ADD CONSTRAINT full_disk CHECK (false) NOT VALID")
    with pytest.raises(ReelbenchError, match="full_disk"):
        cache.put(key(1), "m", reply("paid"))
    cache.close()
    assert "can't be written; 1 reply is in" in notes[-1]
    written(place, "ALTER TABLE replies DROP CONSTRAINT full_disk")
    again = ReplyCache(place, notes.append)
    assert again.get(key(1)).raw == "paid"
    again.close()


def test_a_server_that_grants_no_more_connections_is_waited_for(postgres, capfd, monkeypatch):
    monkeypatch.setattr("reelbench.llm.postgres_store._WAIT", 0.2)
    import psycopg

    place, notes = postgres.database(), []
    ReplyCache(place, print).close()
    with psycopg.connect(place, autocommit=True) as database:
        database.execute("DROP ROLE IF EXISTS few")
        database.execute("CREATE ROLE few LOGIN PASSWORD 'f' CONNECTION LIMIT 1")
        database.execute("GRANT USAGE ON SCHEMA reelbench TO few")
        database.execute("GRANT ALL ON ALL TABLES IN SCHEMA reelbench TO few")
        few = place.replace("reelbench:a%20pass%2Fword%3A%20%25@", "few:f@")
        cache = ReplyCache(few, print, patience=0)
        other = psycopg.connect(few)
        with pytest.raises(
            ReelbenchError,
            match=r"too many connections for role \"few\", for 0 s \(--cache-patience\)",
        ):
            ReplyCache(few, print, patience=0)
        with pytest.raises(
            ReelbenchError,
            match=r"too many connections for role \"few\", for 0 s \(--cache-patience\)",
        ):
            cache.claim(key(1))
        ending = threading.Timer(1, other.close)
        ending.start()
        late = ReplyCache(few, notes.append)
        (note,) = notes
        assert "waiting for it, 60 s at most" in note
        assert late.claim(key(1)) == "mine"
        ending.join()
        late.close()
        cache.close()
    assert capfd.readouterr().err == ""


def test_a_process_takes_few_connections_however_many_models_it_asks(postgres):
    import psycopg

    place = postgres.database()
    caches = [
        ReplyCache.shared(AskOptions(model=str(number), cache=place), print) for number in range(6)
    ]
    with ThreadPoolExecutor(24) as threads:
        states = list(threads.map(lambda number: caches[number % 6].claim(key(number)), range(400)))
    with psycopg.connect(place) as database:
        (taken,) = database.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reelbench'"
        )
    assert set(states) == {"mine"}
    assert taken[0] <= CONNECTIONS
    for cache in caches:
        cache.close()


def test_batches_too_wait_for_a_server_that_is_away(postgres):
    place, notes = postgres.database(), []
    cache = ReplyCache(place, notes.append)
    batches = Batches(AskOptions(model="m", cache=place), cache.store, notes.append, lambda: None)
    postgres.stop()
    starting = threading.Timer(1, postgres.start)
    starting.start()
    batches.collect()
    starting.join()
    (note,) = notes
    assert "waiting for it, 60 s at most" in note
    cache.close()


def test_a_copy_that_broke_off_goes_on(postgres, tmp_path):
    file, server = (
        open_store(place, print) for place in (tmp_path / "judge.sqlite", postgres.database())
    )
    file.put([stored_now(key(number), "m", reply(str(number))) for number in range(1200)])

    def stop(done, _):
        if done == 500:
            postgres.stop()

    try:
        with pytest.raises(AwayError, match=r"^judge cache postgresql://127.0.0.1:\d+/postgres: "):
            copy(file, server, stop)
    finally:
        postgres.start()
    assert copy(file, server) == Copied(copied=700, there=500)
    assert list(server.replies()) == list(file.replies())
    for cache in (file, server):
        cache.close()


@pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl, which makes a certificate, is not here"
)
def test_the_way_there_is_as_safe_as_its_address_says(postgres, tmp_path, monkeypatch):
    """TLS, and who the server must be, by libpq's own parameters; the password by its own file or variable."""
    ours, place = postgres.certified(), postgres.database()
    bare = place.replace(":a%20pass%2Fword%3A%20%25@127.0.0.1", "@localhost")
    safe = f"{bare}?sslmode=verify-full&sslrootcert={ours}"
    with pytest.raises(InputError, match="no password supplied"):
        ReplyCache(safe, print)
    passwords = tmp_path / "pgpass"
    passwords.write_text("localhost:*:*:reelbench:a pass/word\\: %\n")
    passwords.chmod(0o600)
    for variable, value in (("PGPASSFILE", str(passwords)), ("PGPASSWORD", PASSWORD)):
        with monkeypatch.context() as environ:
            environ.setenv(variable, value)
            cache = ReplyCache(safe, print)
            assert cache.claim(key(1)) == "mine"
            cache.close()
            with pytest.raises(InputError, match="does not match host name"):
                ReplyCache(safe.replace("localhost", "127.0.0.1"), print)


def test_a_database_of_a_newer_version_is_refused(postgres):
    place = postgres.database()
    ReplyCache(place, print).close()
    written(place, "UPDATE version SET version = 99")
    with pytest.raises(InputError, match="newer Reelbench"):
        ReplyCache(place, print)


def test_a_database_that_many_open_for_the_first_time_is_made_once(postgres):
    place, errors = postgres.database(), []

    def work():
        try:
            ReplyCache(place, print).close()
        except Exception as error:  # noqa: BLE001 - said below
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_user_who_may_only_read_reads(postgres):
    import psycopg

    place = postgres.database()
    cache = ReplyCache(place, print)
    cache.put(key(1), "m", reply())
    cache.close()
    with psycopg.connect(place) as database:
        database.execute("DROP ROLE IF EXISTS reader")
        database.execute("CREATE ROLE reader LOGIN PASSWORD 'r'")
        database.execute("GRANT USAGE ON SCHEMA reelbench TO reader")
        database.execute("GRANT SELECT ON ALL TABLES IN SCHEMA reelbench TO reader")
    reader = ReplyCache(place.replace("reelbench:a%20pass%2Fword%3A%20%25@", "reader:r@"), print)
    assert reader.get(key(1)) == reply()
    with pytest.raises(ReelbenchError, match="permission denied for table"):
        reader.claim(key(2))
    reader.close()


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://[secret",
        "postgresql://u:secret@h/db?no=1",
        "postgresql://u:p@secret@h/d",
        "postgres://u:secret/p@h",
        "postgresql://u:5432/secret@h/d",
        "Postgresql://u:secret@h/d",
        "postgresql+psycopg://u:secret@h/d",
        "postgresql:/u:secret@h/d",
        "mysql://u:secret@h/d",
        Path("postgresql://u:secret@h/d"),
        "host=h user=u password=secret",
    ],
    ids=str,
)
def test_an_address_that_cant_be_read_is_said_without_its_password(
    address,
    postgres,  # noqa: ARG001
    tmp_path,
    monkeypatch,
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="its address can't be read") as caught:
        ReplyCache(address, print)
    assert "secret" not in str(caught.value)
    assert not list(tmp_path.rglob("*secret*"))


def test_replies_that_were_paid_for_move_to_a_server_and_back(postgres, tmp_path):
    shutil.copy(OLD, tmp_path / "old.sqlite")
    old = ReplyCache(tmp_path / "old.sqlite", print)
    server, back = (
        ReplyCache(postgres.database(), print),
        ReplyCache(tmp_path / "back.sqlite", print),
    )
    before = list(old.store.replies())
    assert len(before) > 50
    assert server.store.put(before) == back.store.put(list(server.store.replies())) == len(before)
    assert list(back.store.replies()) == before
    for cache in (old, server, back):
        cache.close()
