"""What a table is of and who scored it, in words: the same on a page, in files and in figures."""

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import RankingGroup, prompts_in_words
from reelbench.registry.spec import BenchmarkSpec


def split_words(group: RankingGroup) -> str:
    """Return the split, the part of it, and how it was asked where not the plain way."""
    own_data = "data of one’s own" if group.data else None
    parts = (group.split, group.subset, group.setting, group.protocol, group.errata, own_data)
    return ", ".join(part for part in parts if part)


def judge_words(spec: BenchmarkSpec, group: RankingGroup) -> str:
    """Return who judged, and with whose prompts. Empty of a benchmark that needs no judge."""
    if group.judge is None:
        return "not judged" if spec.judge is not None else ""
    is_authors_judge = spec.judge is not None and group.judge == spec.judge.default_model
    if is_authors_judge and group.prompts == "official":
        return f"{group.judge}, the authors’ judge and prompts"
    judge = f"{group.judge} (the authors’ judge)" if is_authors_judge else group.judge
    return f"{judge}, {prompts_in_words(group.prompts)}"


def scoring_words(board: Board, group: RankingGroup) -> str:
    """Return what tells tables of one split apart: the judge, the version, why it isn't ranked."""
    version = f"version {group.version}" if group.version > 1 else None
    parts = (judge_words(board.spec(group), group), version, board.listed_only.get(group))
    return " · ".join(part for part in parts if part)


def table_words(board: Board, group: RankingGroup) -> str:
    """Return what tells a benchmark's tables apart."""
    parts = (split_words(group), scoring_words(board, group))
    return " · ".join(part for part in parts if part)
