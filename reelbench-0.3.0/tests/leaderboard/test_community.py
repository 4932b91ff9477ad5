"""The Hub's own boards, read by its real client from a server that speaks its protocol."""

import json

import pytest

from reelbench.base.errors import DataUnavailableError, InputError
from reelbench.leaderboard import board, community, site
from reelbench.registry import discovery

AUTHOR = {"name": "lab", "fullname": "A Lab", "type": "org", "avatarUrl": "https://x/a.png"}
ROWS = [
    {"rank": 1, "modelId": "lab/big", "value": 61.5, "filename": ".eval_results/r.yaml", "verified": True,
     "author": AUTHOR, "source": {"url": "https://example.org/report", "name": "Report", "isExternal": True}},
    {"rank": 2, "modelId": "lab/<script>alert(1)</script>", "value": 12, "filename": "f", "verified": False,
     "author": AUTHOR, "pullRequest": 7, "notes": "four frames"},
]  # fmt: skip


@pytest.fixture
def hub(hub):
    hub.add("ReXTime/ReXTime", {"README.md": ""})
    return hub


def test_rows_of_the_hub_stand_apart_and_are_never_ranked(hub, tmp_path):
    hub.boards["ReXTime/ReXTime"] = ROWS
    made = community.fetch(discovery.get("rextime"), tmp_path / "store")
    assert [(row.model, row.value, row.verified, row.pull_request) for row in made.rows] == [
        ("lab/big", 61.5, True, None),
        ("lab/<script>alert(1)</script>", 12, False, 7),
    ]
    shown = board.make(tmp_path / "store")
    rows = [entry for entry in shown.entries if entry.kind == "community"]
    assert [row.metrics["accuracy_at_iou_0.5"].value for row in rows] == [61.5, 12]
    assert not shown.ranks.keys() & {row.key for row in rows}
    assert all(row.group != shown.main["rextime"] for row in rows)
    assert rows[1].note == "pull request 7 of the model's repository; four frames"
    site.build(tmp_path / "store", tmp_path / "site")
    assert "<script>alert" not in (tmp_path / "site" / "data" / "board.js").read_text()


def test_read_again_it_is_replaced(hub, tmp_path):
    for rows in (ROWS, ROWS[:1]):
        hub.boards["ReXTime/ReXTime"] = rows
        community.fetch(discovery.get("rextime"), tmp_path / "store")
    assert [len(one.rows) for one in community.read(tmp_path / "store")] == [1]


@pytest.mark.parametrize(
    ("benchmark", "dataset", "said"),
    [
        ("rextime", None, "has no leaderboard; its owners make one with eval.yaml"),
        ("rextime", "nobody/nothing", "no such dataset"),
        ("dramaqa_cogme", None, "its data is not on the Hub; name the repository"),
    ],
)
def test_what_has_no_board_is_said_in_one_line(hub, tmp_path, benchmark, dataset, said):  # noqa: ARG001
    with pytest.raises((InputError, DataUnavailableError), match=said):
        community.fetch(discovery.get(benchmark), tmp_path / "store", dataset)
    assert not (tmp_path / "store").exists()


def test_a_board_that_is_none_is_told(hub, tmp_path):
    hub.boards["ReXTime/ReXTime"] = [{"rank": 1}]
    with pytest.raises(DataUnavailableError, match="its leaderboard can't be read"):
        community.fetch(discovery.get("rextime"), tmp_path)
    (tmp_path / "community").mkdir()
    (tmp_path / "community" / "rextime.json").write_text(json.dumps({"rows": []}))
    with pytest.raises(InputError, match="is not a board of the Hub"):
        list(community.read(tmp_path))


def test_the_command(hub, reelbench, tmp_path):
    hub.boards["ReXTime/ReXTime"] = ROWS
    done = reelbench(
        "leaderboard",
        "import-hub",
        "rextime_mini",
        "--store",
        tmp_path / "store",
        env=hub.env(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "2 rows of ReXTime/ReXTime\n"
