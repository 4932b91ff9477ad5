"""Let the ledger of a store say something else of a row, as where an earlier version let it in."""

import hashlib
import json

from reelbench.leaderboard import ledger
from reelbench.leaderboard.board_state import BoardLedger
from reelbench.leaderboard.store import FILES


def refiled(place, *, as_key=None, **verified):
    """File a row's files anew as they lie there, with other facts of what was verified."""
    store = place.parents[3]
    key = place.relative_to(store).as_posix()
    board = BoardLedger(store)
    row = board.state.rows[as_key or key]
    hashes = {}
    for name in FILES:
        if (place / name).is_file():
            hashes[name] = hashlib.sha256((place / name).read_bytes()).hexdigest()
    with board.locked():
        board.append(
            ledger.Filed(
                at=ledger.now(),
                who=ledger.who_is(row.account),
                act="replaced",
                key=key,
                model=row.model,
                files=hashes,
                answers=row.answers,
                verified=row.verified.model_copy(update=verified),
                judged=row.judged,
            )
        )
    return row


def entries_of(store):
    """Return the entries of a store's ledger as plain data."""
    lines = (store / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["entry"] for line in lines]
