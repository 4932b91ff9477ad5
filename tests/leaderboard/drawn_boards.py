"""Boards drawn at random: some models' runs on some benchmarks, in several settings, and papers' numbers."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from reelbench.leaderboard import board, board_state, entries, ledger, store
from reelbench.registry import discovery
from reelbench.registry.reasons import Reason
from reelbench.registry.records import (
    About,
    AskedRecord,
    Item,
    ModelRecord,
    PriceRecord,
    SettingsRecord,
    SourceRecord,
)
from reelbench.scoring import aggregation, result_files

BENCHMARKS = {"rextime": "val", "minerva": "test", "video_holmes": "test"}
MODELS = [f"lab/model-{letter}" for letter in "abcdefgh"]
QUESTIONS = 60
VIDEOS = 20
SKILLS = (0.9, 0.8, 0.78, 0.5, 0.48, 0.3)
TOKENS = {"prompt": 1000, "completion": 20}
"""What every answer took."""
UNSCORED = 4
"""The place among the skills of the run with a question without a score."""


def pool_of_runs(folder):
    """Return benchmark -> stored runs of each skill, none of which is a part of a split."""
    runs = {}
    for name in BENCHMARKS:
        for place, skill in enumerate(SKILLS):
            _write_run(folder / "runs" / f"{name}{place}", name, place, skill)
    added = store.add(folder / "runs", folder / "store")
    assert {each.outcome for each in added} == {"added"}, added
    for stored in store.read(folder / "store"):
        whole = replace(stored, filed_row=stored.filed_row.with_verified(partial=None))
        runs.setdefault(stored.result.benchmark.id, []).append(whole)
    return runs


def _write_run(folder, name, place, skill):
    spec = discovery.get(name)
    chance = random.Random(f"{name}{place}")
    items = []
    for number in range(QUESTIONS):
        answer = "A" if chance.random() < skill else "B"
        has_score = place != UNSCORED or number
        target, prediction, parsed = {"answer": "A"}, answer, {"answer": answer}
        if name == "rextime":
            target["spans"] = [[0.0, 10.0]]
            prediction = {"pred_relevant_windows": [[0, 9]], "ans": answer}
            parsed["span"] = [0.0, 9.0]
        items.append(
            Item(
                id=f"q{number}",
                video=f"video{number % VIDEOS}",
                target=target,
                prediction=prediction if has_score else None,
                parsed=parsed if has_score else None,
                tokens=TOKENS,
                reason=None if has_score else Reason.CUT_OFF,
            )
        )
    result_files.write(
        folder,
        spec,
        aggregation.score(spec, items),
        split=BENCHMARKS[name],
        source=SourceRecord(kind="files", location="references.jsonl", fingerprint="0" * 64),
        model=ModelRecord(id=f"lab/skill-{place}"),
        settings=SettingsRecord(frames="uniform:32"),
    )


def crossed_board(runs):
    """Return a board on which b stands below a and is better on ReXTime, the one benchmark of both."""
    skills = {
        "rextime": {"a": 3, "b": 1, "c": 2, "d": 5},
        "minerva": {"a": 0, "c": 2, "d": 5},
        "video_holmes": {"b": 5, "c": 2, "d": 1},
    }
    rows = []
    for benchmark, places in skills.items():
        for model, place in places.items():
            stored = runs[benchmark][place]
            result = stored.result.model_copy(update={"model": ModelRecord(id=model)})
            key = f"{stored.key}-{model}"
            rows.append(entries.run_entry(replace(stored, key=key, result=result)))
    return board.ranked_board(discovery.specs(), rows)


def drawn_board(runs, seed):
    """Return the board of this seed."""
    chance = random.Random(seed)
    names = chance.sample([*BENCHMARKS], chance.choice((1, 1, 2, 3)))
    models = chance.sample(MODELS, chance.randint(1, len(MODELS)))
    settings = {model: chance.choice(("zero-shot", "reasoning")) for model in models}
    rows = []
    for name in names:
        for model in models:
            if chance.random() < 0.8:
                rows.append(_drawn_row(chance, runs[name], model, settings[model], len(rows)))
            if chance.random() < 0.2:
                rows.append(_drawn_row(chance, runs[name], model, settings[model], len(rows)))
    specs = discovery.specs()
    if chance.random() < 0.5:
        for name in names:
            rows += entries.published_entries(specs[name])
    made = board.ranked_board(specs, rows)
    return board.with_history(made, _drawn_history(random.Random(f"history {seed}"), made))


def _drawn_history(chance, made):
    """Return what a ledger says that has the main tables a few times, with other values and other rows."""
    state = board_state.BoardState()
    for group, table_history in board.with_history(made, state).history.items():
        at = datetime(2026, 1, 1, tzinfo=UTC)
        for _ in range(chance.randint(0, 3)):
            at += timedelta(days=chance.randint(1, 20))
            rows = {"gone/main/x/0": chance.choice((None, 70.0))}
            for key, value in table_history.values.items():
                rows[key] = chance.choice((None, value, value, value - 1))
            published = ledger.Published(
                at=at, who="maintainer", act="published", table=group.id, rows=rows
            )
            state.apply([published])
    return state


def _drawn_row(chance, runs, model, setting, number):
    stored = chance.choice(runs)
    apart = ("fine-tuned", "agent", "ensemble")
    stated = chance.choices((setting, None, *apart), (18, 6, 2, 1, 1))[0]
    frames = chance.choices(("uniform:32", "none", "uniform:8"), (7, 1, 2))[0]
    facts = {"setting": stated} if stated else {}
    price = chance.choice((None, PriceRecord(prompt=chance.randint(1, 9), completion=30)))
    asked_record = AskedRecord(asked=QUESTIONS, kept=0, server="localhost", price=price)
    provenance = stored.result.provenance.model_copy(update={"asked": asked_record})
    result = stored.result.model_copy(
        update={
            "provenance": provenance,
            "model": ModelRecord(id=model, about=About(**facts)),
            "settings": SettingsRecord(frames=frames),
        }
    )
    filed_row = stored.filed_row
    if chance.random() < 0.1:
        filed_row = filed_row.with_verified(partial="30 of 60 items")
    key = f"{stored.key}-{number}"
    return entries.run_entry(replace(stored, key=key, result=result, filed_row=filed_row))
