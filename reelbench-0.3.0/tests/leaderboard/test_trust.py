"""Whose word holds on a board: which tables stand for a benchmark, what was first, and who may file a model's rows."""

import json
import shutil
from datetime import UTC, datetime, timedelta

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import board, headline, store, submission
from reelbench.leaderboard.exports import tables
from reelbench.leaderboard.store import Filing
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.scored import score_files
from tests.servers.judge import Answer, JudgeServer

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def judged(tmp_path):
    """Score a model's answers to CURVE's mini split by a judge of that name, who gives this score to each; its run."""

    def run(model, judge, score, prompts="reelbench"):
        folder = tmp_path / "runs" / model
        folder.mkdir(parents=True)
        rows = loading.locate("curve", "mini").read()
        lines = [{"id": row["id"], "prediction": f"{model} says {row['id']}."} for row in rows]
        (folder / "answers.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        with JudgeServer(lambda _: Answer(f'{{"score": {score}}}', model=judge)) as server:
            options = JudgeOptions(
                model=judge, url=server.url, cache=folder / "judge.sqlite", prompts=prompts
            )
            inputs = Inputs(folder / "answers.jsonl", split="mini")
            score_files("curve", inputs, folder / "result", Options(judge=options), model=model)
        return folder / "result"

    return run


@pytest.fixture
def files(tmp_path):
    """File a run for an account, a minute after the one before; return what came of it."""
    times = iter(START + timedelta(minutes=n) for n in range(100))

    def add(run, account=None, **filing):
        [added] = store.add(
            run, tmp_path / "store", filing=Filing(account, at=next(times), **filing)
        )
        return added

    return add


def headline_of(path):
    return "".join(headline.of_board(board.make(path, published=False)))


def test_a_judge_that_nobody_names_stands_for_no_benchmark(judged, files, tmp_path):
    """Two runs by a server that says 2 to all beside one honest run: without settings they take the headline."""
    path = tmp_path / "store"
    files(judged("held/one", "gpt-4o-mini", 1))
    for name in ("evil/m1", "evil/m2"):
        files(judged(name, "zzz-judge", 2), "evil")
    made = board.make(path, published=False)
    assert made.main["curve"].judge == "zzz-judge"
    assert headline_of(path).endswith(". The judge’s replies are as submitters state them.")
    (path / "settings.yaml").write_text("judges: [GPT-4o-mini]\n")
    made = board.make(path, published=False)
    assert made.main["curve"].judge == "gpt-4o-mini"
    assert headline_of(path).startswith("held/one is the only ranked model on CURVE")
    assert [entry.model for entry in made.overall[0].cells.values()] == ["held/one"]
    [listed] = made.listed_only.items()
    assert (listed[0].judge, listed[1]) == ("zzz-judge", "by others' judges")
    assert len([entry for entry in made.entries if entry.group == listed[0]]) == 2
    assert "(by others' judges)" in tables.tables(made, "markdown")


def test_settings_that_are_none_are_one_line(tmp_path):
    (tmp_path / "settings.yaml").write_text("judges: 5\n")
    with pytest.raises(
        InputError, match=r"settings.yaml: field judges: Input should be a valid tuple \(found 5\)"
    ):
        board.make(tmp_path, published=False)


def test_a_model_is_filed_by_who_filed_it_first_or_by_the_maintainers(rextime_run, files, tmp_path):
    assert files(rextime_run("first", model="held/one"), "held").outcome == "added"
    again = rextime_run("again", model="held/one", right=2)
    for account, run in (
        ("evil", again),
        (None, again),
        ("evil", rextime_run("case", model="Held/ONE")),
    ):
        refused = files(run, account)
        assert refused.outcome == "refused"
        assert "was filed first by held, 2026-01-01" in refused.why
    refused = files(again, "HELD")
    assert "add replaces nothing" in refused.why
    assert "--account HELD`" in refused.why
    assert files(again, "HELD", replaces=True).outcome == "replaced"
    theirs = rextime_run("theirs", model="held/one", right=3)
    assert files(theirs, as_maintainer=True, replaces=True).outcome == "replaced"
    (stored,) = store.read(tmp_path / "store")
    assert (stored.filed_row.account, stored.filed_row.taken) == (None, START)


def test_other_names_of_a_model_are_its_owners_too(rextime_run, files, tmp_path):
    files(rextime_run("first", model="held/one"), "held")
    (tmp_path / "store" / "aliases.yaml").write_text("held/one: [One of Held]\n")
    assert "was filed first by held" in files(rextime_run("alias", model="One of Held"), "evil").why


def test_what_a_submitter_says_is_marked_as_his(rextime_run, tamper, files, tmp_path):
    def words(result):
        result["model"]["about"] = {"organisation": "Evil Corp"}
        result["provenance"]["note"] = "Best of all."

    files(tamper(rextime_run(model="me/one"), result=words), "somebody")
    made = board.make(tmp_path / "store", published=False)
    [row] = made.entries
    assert row.note == "as stated by somebody: Best of all."
    assert "(words of somebody)" in tables.tables(made, "markdown")
    assert row.facts["stated_by"] == "somebody"


@pytest.mark.parametrize(
    ("account", "why"),
    [("evil", "held/one was filed first by held, 2026-01-01"), ("held", "")],
)
def test_a_submission_says_nothing_for_the_board(account, why, rextime_run, files, tmp_path):
    files(rextime_run("first", model="held/one"), "held")
    run = rextime_run("again", model="held/one", right=2)
    forged = {"taken": "1970-01-01T00:00:00Z", "judged": True, "account": "held", "ids": "checked"}
    (run / "check.json").write_text(json.dumps(forged))
    [read] = submission.read(store.check(run), tmp_path / "store", account=account)
    assert why in read.why
    assert (read.verdict == "refused") == bool(why)


def test_first_is_what_the_board_took_first_whatever_date_is_stated(kitchens, files, tmp_path):
    files(kitchens("held/one", "2026-03-02", gold="ABCD"))
    files(kitchens("evil/one", "1970-01-01", gold="BCDA"), "evil")
    made = board.make(tmp_path / "store", published=False)
    assert {entry.model: bool(entry.group.differs) for entry in made.entries} == {
        "held/one": False,
        "evil/one": True,
    }
    assert made.main["kitchen"].differs is None


def test_leaving_out_what_was_asked_or_how_it_is_scored_hides_nothing(kitchens, files, tmp_path):
    files(kitchens("held/one", "2026-03-02", gold="ABCD"))
    other = kitchens("evil/one", "2026-03-03", gold="BCDA")
    document = json.loads((other / "result.json").read_text())
    del document["benchmark"]["questions_sha256"]
    (other / "result.json").write_text(json.dumps(document))
    files(other, "evil")
    made = board.make(tmp_path / "store", published=False)
    [row] = [entry for entry in made.entries if entry.model == "evil/one"]
    assert row.group.differs == "36 of 36 answers changed"


@pytest.mark.parametrize("hashed", [True, False])
@pytest.mark.parametrize(
    ("gold", "of", "why"),
    [("BCDA", 36, "36 of 36 answers changed"), ("ABCD", 1, "35 questions fewer")],
)
def test_the_honest_questions_hash_over_other_answers_takes_no_place(
    hashed, gold, of, why, *, kitchens, files, tmp_path
):
    """Nobody here has the data; a stranger's answers are all right, by his own references or on one question."""
    honest = kitchens("held/one", "2026-03-02", gold="ABCD", right=30)
    files(honest)
    evil = kitchens("evil/one", "2026-03-03", gold=gold, of=of)
    document, asked = (json.loads((run / "result.json").read_text()) for run in (evil, honest))
    document["benchmark"]["questions_sha256"] = (
        asked["benchmark"]["questions_sha256"] if hashed else None
    )
    (evil / "result.json").write_text(json.dumps(document))
    assert files(evil, "evil").outcome == "added"
    made = board.make(tmp_path / "store", published=False)
    apart = {entry.model: entry.group.differs for entry in made.entries}
    assert apart == {"held/one": None, "evil/one": why}
    assert [entry.model for entry in made.entries if entry.group == made.main["kitchen"]] == [
        "held/one"
    ]
    assert headline_of(tmp_path / "store").startswith("held/one is the only ranked model")


def test_what_a_stranger_files_says_nothing_of_other_rows(rextime_run, tamper, files, tmp_path):
    """A run that he says showed no frames, a floor, people, and names in capitals."""

    def named(organisation, **more):
        def change(result):
            result["model"] |= {"about": {"organisation": organisation}} | more.pop("model", {})
            result["settings"] |= more

        return change

    files(
        tamper(rextime_run("one", model="Held/one"), result=named("Held", frames="uniform:32")),
        "held",
    )
    before = board.make(tmp_path / "store", published=False)
    blind = named("HELD", frames="none")
    files(tamper(rextime_run("blind", model="HELD/blind", right=12), result=blind), "evil")
    for number, adapter in enumerate(("reelbench_baseline", "reelbench_people")):
        change = named("HELD", model={"adapter": adapter})
        files(
            tamper(rextime_run(adapter, model=f"HELD/floor{number}", right=1), result=change),
            "evil",
        )
    made = board.make(tmp_path / "store", published=False)
    [row, same] = [
        next(one for one in of.entries if one.stored.filed_row.account == "held")
        for of in (made, before)
    ]
    assert (made.without_shortcuts, row.about, made.names[row.model]) == (
        {},
        same.about,
        "Held/one",
    )
    assert {one.kind for one in made.entries} == {"run", "blind"}  # no floor and no people


@pytest.mark.parametrize(
    ("judge", "settings"),
    [
        ("gpt-4o-mini-2", "judges: [gpt-4o-mini]"),  # a name that begins like the named one's
        ("gpt-4o", "judges: [gpt-4o-mini]"),  # that it begins with
        ("gpt-4o-mini-2024-07-18", "judges: [gpt-4o-mini]"),  # a dated one
        ("org/gpt-4o-mini", "judges: [gpt-4o-mini]"),
        ("zzz", "judges: []"),  # none is named
    ],
)
def test_no_judge_but_a_named_one_takes_the_headline(judge, settings, judged, files, tmp_path):
    """Five ways to look like the judge that the maintainers name: two runs each, beside one honest run."""
    path = tmp_path / "store"
    files(judged("held/one", "gpt-4o-mini", 1))
    for name in ("evil/m1", "evil/m2"):
        files(judged(name, judge, 2), "evil")
    (path / "settings.yaml").write_text(settings + "\n")
    made = board.make(path, published=False)
    honest = next(entry for entry in made.entries if entry.model == "held/one").group
    assert made.main == ({} if settings == "judges: []" else {"curve": honest})
    assert all(why == "by others' judges" for why in made.listed_only.values())
    assert "evil" not in headline_of(path)


@pytest.mark.parametrize(
    "change",
    [
        {"model": {"about": {"setting": "fine-tuned", "trained_on": ["rextime"]}}},
        {"provenance": {"note": "Retracted by its authors.", "url": "https://evil.example.org"}},
        {"provenance": {"date": "1970-01-01T00:00:00+00:00"}},
        {"settings": {"label": "leaked"}},
        {"model": {"revision": "v2", "about": {"organisation": "Evil Corp"}}},
    ],
)
def test_words_of_a_model_are_its_owners(change, rextime_run, tamper, files, tmp_path):
    """Five ways to hand in words on another's model, in a row of one's own and by the very answers."""

    def put(result):
        for place, values in change.items():
            result[place] |= values

    files(rextime_run("first", model="held/one"), "held")
    before = board.make(tmp_path / "store", published=False).entries
    for account in ("evil", None):
        refused = files(tamper(rextime_run(f"by {account}", model="held/one"), result=put), account)
        assert (refused.outcome, "was filed first by held" in refused.why) == ("refused", True)
    assert board.make(tmp_path / "store", published=False).entries == before


def test_of_a_benchmark_that_nobody_declares_here_the_maintainers_name_a_row(
    kitchens, files, tmp_path
):
    path = tmp_path / "store"
    files(kitchens("evil/one", "2026-03-01", gold="BCDA"), "evil")
    honest = files(kitchens("held/one", "2026-03-02", gold="ABCD"))
    (path / "settings.yaml").write_text("judges: []\n")
    assert board.make(path, published=False).main == {}
    key = honest.place.relative_to(path).as_posix()
    (path / "settings.yaml").write_text(f"benchmarks: {{kitchen: {key}}}\n")
    made = board.make(path, published=False)
    [(group, why)] = made.listed_only.items()
    assert why == "other declarations"
    assert [entry.model for entry in made.entries if entry.group == group] == ["evil/one"]
    assert [entry.model for entry in made.entries if entry.group == made.main["kitchen"]] == [
        "held/one"
    ]

    # Whoever states a newer version, of the same questions and rules, is not believed either.
    newer = kitchens("evil/newer", "2026-03-03", gold="ABCD")
    document = json.loads((newer / "result.json").read_text())
    document["benchmark"]["version"] = document["benchmark"]["declaration"]["version"] = 99
    (newer / "result.json").write_text(json.dumps(document))
    assert files(newer, "evil").outcome == "added"
    made = board.make(path, published=False)
    assert [entry.model for entry in made.entries if entry.group == made.main["kitchen"]] == [
        "held/one"
    ]
    assert set(made.listed_only.values()) == {"other declarations"}


@pytest.fixture
def kitchens(tmp_path, monkeypatch):
    """Score a model on a benchmark of a folder that is gone afterwards, as a stranger's: right answers by `gold`."""
    import reelbench
    from reelbench.registry import discovery

    def run(model, date, gold, right=36, of=36):
        folder = tmp_path / "kitchen"
        folder.mkdir()
        (folder / "benchmark.yaml").write_text(
            "id: kitchen\ntitle: Kitchen films\nkind: choice\nsource: {file: rows.jsonl}\n"
            "columns: {id: qid, video: clip, question: q, options: choices, answer: gold}\n"
        )
        choices = ["the red one", "the blue one", "the copper one", "the small one"]
        rows = [
            {
                "qid": f"q{n:02}",
                "clip": f"c{n // 3}.mp4",
                "q": f"Which pan {n}?",
                "choices": choices,
                "gold": gold[n % 4],
            }
            for n in range(of)
        ]
        (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        monkeypatch.setattr(discovery, "_registry", None)
        scored = reelbench.score(
            str(folder),
            [
                {"id": row["qid"], "prediction": row["gold"] if n < right else "none"}
                for n, row in enumerate(rows)
            ],
            model=model,
        )
        out = tmp_path / "runs" / model
        scored.save(out)
        document = json.loads((out / "result.json").read_text())
        document["provenance"]["date"] = f"{date}T00:00:00+00:00"
        (out / "result.json").write_text(json.dumps(document))
        shutil.rmtree(folder)
        monkeypatch.setattr(discovery, "_registry", None)
        return out

    return run
